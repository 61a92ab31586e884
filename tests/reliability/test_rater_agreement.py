"""Agreement of raters: every coefficient that suits, in one result."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.reliability import (
    fleiss_kappa,
    intraclass_correlation,
    krippendorff_alpha,
    list_coefficients,
    pairwise_kappa,
    rater_agreement,
    self_consistency,
)
from affectlab.reliability.wording import below_chance, models_only_in_pairs, not_correlated


def study(scale: str = "0-7", *, models: int = 1, repeats: bool = False) -> Ratings:
    rng = np.random.default_rng(2)
    shape = (30, 3 + models, 2)
    stimulus, rater, label = (part.ravel() for part in np.indices(shape))
    felt = rng.integers(0, 6, (30, 1, 2)) + rng.integers(0, 3, shape)
    frame = pl.DataFrame(
        {
            "stimulus": [f"s{code:02}" for code in stimulus],
            "rater": [f"p{code}" if code < 3 else f"m{code}" for code in rater],
            "rater_kind": ["human" if code < 3 else "model" for code in rater],
            "label": ["joy" if code else "neutral" for code in label],
            "value": felt.ravel().astype(float),
            "trial_kind": "main",
        }
    )
    if repeats:
        again = frame.head(60).with_columns(trial_kind=pl.lit("repeat"))
        frame = pl.concat([frame, again.with_columns((pl.col("value") - 1).clip(0))])
    return Ratings(frame, scale=scale)


def test_numbers_are_those_of_the_functions() -> None:
    ratings = study(repeats=True)
    people = ratings.humans()
    found = rater_agreement(ratings, more=True)
    alpha = krippendorff_alpha(people)
    assert found.table().frame.equals(alpha.frame)
    own = fleiss_kappa(people, weights="quadratic")
    assert found.table("fleiss_kappa").frame.equals(own.frame)
    assert found.table("intraclass_correlation").frame.equals(intraclass_correlation(people).frame)
    assert found.table("self_consistency").frame.equals(self_consistency(people).frame)
    assert set(list_coefficients()) <= {table.name for table in found.tables}


def test_kappa_is_of_all_pairs_and_the_others_of_people() -> None:
    ratings = study()
    found = rater_agreement(ratings, n_boot=0)
    kinds = dict(found.to_frame("kappa").select("pair_kind", "n_pairs_by_label").iter_rows())
    assert kinds == {"human-human": 6, "human-model": 6}
    assert set(found.to_frame()["n_raters"]) == {3}
    assert models_only_in_pairs(1) in found.notes
    pairs = pairwise_kappa(ratings).frame
    assert found.to_frame("pairs").height == 6
    mean = pairs.filter(rater_a="p0", rater_b="p1")["value"].mean()
    row = found.to_frame("pairs").filter(rater_a="p0", rater_b="p1")
    assert row["value"][0] == pytest.approx(mean)
    everyone = rater_agreement(ratings, everyone=True, n_boot=0)
    assert set(everyone.to_frame()["n_raters"]) == {4}


def test_the_finding_comes_first_and_notes_say_what_is_left_out() -> None:
    found = rater_agreement(study(models=0), n_boot=0)
    assert found.notes == (not_correlated("neutral", nominal=False),)
    assert [figure.name for figure in found.figures] == [
        "krippendorff_alpha",
        "kappa_by_kind",
        "kappa_heatmap",
    ]
    for figure in found.figures:
        assert found.plot(figure.name) is not None


def test_answers_without_an_order_or_a_value_in_common() -> None:
    nominal = Ratings(
        {"stimulus": ["a", "a", "b", "b"], "rater": ["r", "s", "r", "s"], "value": [0, 0, 1, 0]},
        scale="nominal:joy,fear",
    )
    found = rater_agreement(nominal, more=True, n_boot=0)
    names = {table.name for table in found.tables}
    assert "interrater_correlation" not in names
    assert "intraclass_correlation" not in names
    assert {"fleiss_kappa", "kappa"} <= names
    alone = Ratings({"stimulus": ["a", "b"], "rater": ["r", "s"], "value": [1, 2]}, scale="1-5")
    nothing = rater_agreement(alone, n_boot=0)
    assert nothing.sentences == ()
    assert [figure.name for figure in nothing.figures] == ["krippendorff_alpha"]


def test_what_cannot_be_asked() -> None:
    with pytest.raises(InputError, match="is about the ICC, which only more=True shows"):
        rater_agreement(study(), missing="listwise")
    texts = Ratings({"stimulus": ["a"], "rater": ["r"], "text": ["well"]}, scale="text")
    with pytest.raises(InputError, match="text"):
        rater_agreement(texts)


def test_raters_who_were_asked_on_after_a_yes_are_said_to_agree_less_than_by_chance() -> None:
    rng = np.random.default_rng(3)
    # A stimulus goes on to the next of three people until one says no.
    rows = [
        (f"{label}{item}", f"r{place}", label, float(place < says_yes))
        for label in "abcdefg"
        for item, says_yes in enumerate(rng.integers(0, 3, 60).tolist())
        for place in range(says_yes + 1)
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    assert below_chance(7, 7) in rater_agreement(Ratings(frame, scale="binary")).notes
