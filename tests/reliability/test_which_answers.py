"""Scores, reliability, agreement and page one use the same answers, whatever the table holds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, read_ratings
from affectlab.ratings.wording import answers_are_traces, repeated_answers
from affectlab.reliability import (
    interrater_correlation,
    intraclass_correlation,
    krippendorff_alpha,
    mean_opinion_scores,
    percent_agreement,
    subject_model,
    traces,
    variance_components,
)
from affectlab.reliability.agreement.wording import unpaired_text
from affectlab.report.statistics import Study

STIMULI, RATERS = [f"s{k}" for k in range(12)], [f"r{k}" for k in range(5)]


def rows(
    *facets: tuple[str, list], seed: int = 0, answer: Callable | None = None
) -> dict[str, list]:
    """Answer every question once per combination of facets; raters and stimuli differ."""
    rng = np.random.default_rng(seed)
    level = dict(zip(STIMULI, rng.uniform(1, 6, 12), strict=True))
    names = ["stimulus", "rater", *(name for name, _ in facets)]
    held: dict[str, list] = {name: [] for name in (*names, "value")}
    for one in itertools.product(STIMULI, RATERS, *(values for _, values in facets)):
        for name, value in zip(names, one, strict=True):
            held[name].append(value)
        raw = level[one[0]] + rng.normal(0, 1)
        held["value"].append((answer or whole)(raw))
    return held


def whole(raw: float) -> float:
    return float(np.clip(np.round(raw), 0, 7))


def tables() -> Iterator[tuple[str, Ratings, int]]:
    """Name a table, and say how many answers of it count."""
    yield "ordinal", Ratings(rows(), scale="0-7"), 60
    yield "yes or no", Ratings(rows(answer=lambda x: float(x > 4)), scale="binary"), 60
    chosen = rows(answer=lambda x: "abc"[int(np.clip(x / 2, 0, 2))])
    yield "categories", Ratings(chosen, scale="nominal:a,b,c"), 60
    sets = rows(("label", ["joy", "fear", "awe"]), answer=lambda x: float(x > 3))
    yield "label sets", Ratings(sets, scale="binary"), 180
    several = rows(("label", ["joy", "fear"]))
    scale = "joy=0-7, fear=0-10 interval"
    yield "several scales", Ratings(several, scale=scale), 120
    yield "trials", Ratings(rows(("trial", [1, 2])), scale="0-7"), 60
    yield "sessions", Ratings(rows(("session", ["1", "2", "3"])), scale="0-7"), 60
    for kind in ("golden", "training", "repeat"):
        yield kind, Ratings(rows(("trial_kind", ["main", kind])), scale="0-7"), 60
    yield "pairs", Ratings(rows(answer=lambda x: "AB"[int(x > 4)]), scale="nominal:A,B"), 60
    gaps = pl.DataFrame(rows())
    gaps = gaps.filter((pl.int_range(pl.len()) * 7 % 10 > 2) | (pl.col("rater") == "r0"))
    yield "gaps", Ratings(gaps, scale="0-7"), gaps.height


REPEATED = {
    "trials": (repeated_answers(120, 60, sessions=False),),
    "sessions": (repeated_answers(180, 120, sessions=True),),
}
TABLES = {name: (ratings, n) for name, ratings, n in tables()}


def n_of(result: Any) -> int:
    frame = result if isinstance(result, pl.DataFrame) else result.to_frame()
    return int(frame["n_ratings"].sum())


@pytest.mark.parametrize("name", TABLES)
def test_scores_reliability_agreement_and_page_one_count_the_same_answers(name: str) -> None:
    ratings, n = TABLES[name]
    study = Study(ratings, n_boot=0)
    assert ratings.answers().n_ratings == n
    counts = {
        "alpha": n_of(krippendorff_alpha(ratings, target="sample").to_frame()),
        "percent": n_of(percent_agreement(ratings, target="sample").to_frame()),
        "page one, scores": n_of(study.scores),
        "page one, reliability": n_of(study.reliability),
    }
    if "nominal" not in {scale.kind for scale in ratings.scales.values()}:
        counts |= {
            "mean": n_of(mean_opinion_scores(ratings).to_frame()),
            "subject model": n_of(subject_model(ratings).to_frame()),
            "icc": n_of(intraclass_correlation(ratings, forms=("2,1",)).to_frame()),
            "correlation": n_of(interrater_correlation(ratings, exclude=()).to_frame()),
        }
    assert counts == dict.fromkeys(counts, n)
    # What is left out is said.
    assert ratings.warnings == REPEATED.get(name, ())


def test_stimuli_with_one_answer_have_a_score_and_tell_nothing_of_agreement() -> None:
    held = pl.DataFrame(rows()).filter((pl.col("stimulus") != "s0") | (pl.col("rater") == "r0"))
    ratings = Ratings(held, scale="0-7")
    alpha = krippendorff_alpha(ratings, target="sample").to_frame()
    assert alpha.select("n_items", "n_ratings").row(0) == (11, 55)
    scores = mean_opinion_scores(ratings).to_frame()
    assert (scores.height, n_of(scores)) == (12, 56)


def test_sessions_are_a_facet_or_averaged() -> None:
    """Components see all answers; of means over sessions the reliability is that of ANOVA."""
    held = rows(("session", ["1", "2", "3"]), answer=float)
    ratings = Ratings(held, scale="-9-15 interval")
    parts = variance_components(ratings)
    assert parts.to_frame("components")["factor"].to_list()[:3] == ["stimulus", "rater", "session"]
    assert parts.to_frame("components")["n_ratings"].unique().to_list() == [180]
    means = np.array(held["value"]).reshape(12, 5, 3).mean(axis=2)
    rest = means - means.mean(0) - means.mean(1, keepdims=True) + means.mean()
    of_stimuli = 5 * means.mean(1).var(ddof=1)
    of_raters = 12 * means.mean(0).var(ddof=1)
    of_rest = (rest**2).sum() / 44
    expected = (of_stimuli - of_rest) / (of_stimuli + (of_raters - of_rest) / 12)
    page = Study(ratings.averaged(), n_boot=0)
    assert page.reliability.to_frame()["value"][0] == pytest.approx(expected)
    assert n_of(page.scores) == page.reliability.to_frame()["n_ratings"][0] == 60
    np.testing.assert_allclose(
        np.sort(page.scores.to_frame()["value"]), np.sort(means.mean(axis=1))
    )


@pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedColumnsWarning")
class TestTraces:
    @pytest.fixture
    def file(self, tmp_path):
        at = np.arange(0, 20, 0.5)
        held = [
            (film, rater, float(t), 5 + np.sin(t / 3 + k) + 0.1 * r * t)
            for k, film in enumerate(("v1", "v2", "v3"))
            for r, rater in enumerate(("r1", "r2", "r3"))
            for t in at
        ]
        path = tmp_path / "traces.csv"
        names = ["video", "rater", "time", "valence"]
        pl.DataFrame(held, schema=names, orient="row").write_csv(path)
        return path

    def test_a_column_of_seconds_makes_traces(self, file) -> None:
        ratings = read_ratings(file, scale="0-12 interval")
        assert "at" in ratings.frame.columns
        assert "session" not in ratings.frame.columns
        assert traces(ratings).to_frame("agreement")["value"][0] > 0.2
        assert answers_are_traces() in ratings.warnings

    def test_few_times_are_occasions(self, file, tmp_path) -> None:
        few = pl.read_csv(file).filter(pl.col("time") < 1)
        few.write_csv(tmp_path / "few.csv")
        ratings = read_ratings(tmp_path / "few.csv", scale="0-12 interval")
        assert "session" in ratings.frame.columns
        assert mean_opinion_scores(ratings).to_frame()["n_ratings"].to_list() == [3, 3, 3]

    @pytest.mark.parametrize(
        "statistic",
        [
            mean_opinion_scores,
            subject_model,
            krippendorff_alpha,
            intraclass_correlation,
            variance_components,
        ],
    )
    def test_the_first_moment_of_a_trace_is_no_answer(self, file, statistic) -> None:
        ratings = read_ratings(file, scale="0-12 interval")
        with pytest.raises(InputError, match=r"the answers are traces.*averaged"):
            statistic(ratings)

    def test_each_may_count_by_its_mean(self, file) -> None:
        ratings = read_ratings(file, scale="0-12 interval").averaged()
        page = Study(ratings, n_boot=0)
        assert n_of(page.scores) == page.reliability.to_frame()["n_ratings"][0] == 9
        expected = pl.read_csv(file).group_by("video").agg(pl.col("valence").mean()).sort("video")
        np.testing.assert_allclose(page.scores.to_frame()["value"], expected["valence"])
        assert dict(ratings.history[-1].facts) == {"n": 360, "to": 9}


def test_categories_have_no_mean() -> None:
    held = rows(("session", ["1", "2"]), answer=lambda x: "ab"[int(x > 4)])
    with pytest.raises(InputError, match="no mean"):
        Ratings(held, scale="nominal:a,b").averaged()


def test_ratings_that_have_no_second_one_are_said_beside_agreement() -> None:
    table = pl.DataFrame(rows(("label", ["joy", "fear"])))
    table = table.filter((pl.col("stimulus") != "s3") | (pl.col("rater") == "r0"))
    ratings = Ratings(table, scale="0-7")
    for coefficient in (krippendorff_alpha, percent_agreement):
        found = coefficient(ratings, target="sample")
        assert n_of(found.to_frame()) == n_of(mean_opinion_scores(ratings).to_frame()) - 2
        assert found.notes[0] == unpaired_text(2, 112, by_label=True)
