"""A report on faces of a few actors is about other actors."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from affectlab.ratings import Ratings
from affectlab.reliability import intraclass_correlation, krippendorff_alpha
from affectlab.report import write_report
from affectlab.report.cautions import cautions
from affectlab.report.statistics.study import Study


def faces(n_actors: int, n_faces: int = 6) -> Ratings:
    """Six people rate faces of some actors."""
    rng = np.random.default_rng(4)
    actor = np.repeat(np.arange(n_actors), n_faces)
    level = 3.5 + rng.normal(size=n_actors)[actor] + rng.normal(0, 0.5, actor.size)
    value = np.clip(np.rint(level[:, None] + rng.normal(0, 0.7, (actor.size, 6))), 0, 7)
    stimulus, rater = (part.ravel() for part in np.indices(value.shape))
    return Ratings(
        {
            "stimulus": [f"s{k:03d}" for k in stimulus],
            "rater": [f"r{k}" for k in rater],
            "value": value.ravel(),
            "actor": [f"a{k}" for k in actor[stimulus]],
        },
        scale="0-7",
    )


def test_a_page_and_verbs_say_the_same(tmp_path) -> None:
    ratings = faces(10)
    page = write_report(ratings, tmp_path / "page", n_boot=20).html.read_text()
    assert "for other raters and actors" in page
    assert "95 % intervals for other actors and other raters" in page
    assert "other actors, whose stimuli are drawn together, and other raters" in page
    study = Study(ratings)
    assert study.alpha["rating"].low == krippendorff_alpha(ratings)["rating"].low
    found = intraclass_correlation(ratings, forms=("2,1",)).frame.row(0, named=True)
    row = study.reliability.to_frame().row(0, named=True)
    assert (row["single_low"], row["single_high"]) == (found["low"], found["high"])
    assert "over actors and raters" in study.alpha["rating"].method


def test_single_stimuli_where_that_is_asked_for(tmp_path) -> None:
    ratings = faces(10)
    study = Study(ratings, cluster="none")
    assert study.alpha["rating"].low == krippendorff_alpha(ratings, cluster="none")["rating"].low
    assert (study.clusters.units, study.n_clusters) == ("stimuli", None)


def test_few_actors_are_no_sample_of_actors() -> None:
    study = Study(faces(4, 12))
    assert np.isnan(study.alpha["rating"].low)
    (said,) = [text for text in cautions(study) if "4 actors" in text]
    assert "too few for intervals about other actors (five or more)" in said
    assert study.agreement.ungraded == "no interval"


def test_columns_that_cross_are_pointed_out() -> None:
    ratings = faces(10)
    film = [f"f{k % 6}" for k in range(ratings.n_stimuli)]
    crossed = ratings.with_stimuli(ratings.stimuli.with_columns(pl.Series("film", film)))
    (said,) = [text for text in cautions(Study(crossed)) if "'film'" in text]
    assert said.startswith("Stimuli are drawn one by one in intervals, though they belong to")
    named = Study(crossed, cluster="film")
    assert named.clusters.units == "films"
    assert not [text for text in cautions(named) if "'film'" in text]


@pytest.mark.parametrize("cluster", [None, "none"])
def test_pages_without_such_a_column_are_what_they_were(cluster) -> None:
    ratings = faces(10)
    plain = ratings.with_stimuli(ratings.stimuli.drop("actor"))
    study = Study(plain, cluster=cluster)
    assert study.alpha["rating"].low == krippendorff_alpha(ratings, cluster="none")["rating"].low


def test_groups_of_actors_are_compared_with_the_error_of_actors() -> None:
    """Ten actors, five of each gender: 60 faces tell of ten, not of 60."""
    ratings = faces(10)
    gender = ["m" if int(name[1:]) // 6 % 2 else "f" for name in ratings.stimulus_names]
    told = ratings.with_stimuli(ratings.stimuli.with_columns(pl.Series("gender", gender)))
    single, whole = (Study(told, cluster=of, n_boot=0) for of in ("none", None))
    of_faces, of_actors = (one.differences.to_frame() for one in (single, whole))
    assert of_actors["value"][0] == pytest.approx(of_faces["value"][0])
    assert of_actors["se"][0] > 1.5 * of_faces["se"][0]
    assert of_actors["df"][0] <= 8.01
