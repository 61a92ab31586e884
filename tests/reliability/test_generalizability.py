"""Decision studies against tables in print, and against formulas written out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from affectlab import InputError, Ratings
from affectlab.core.facts import Formula
from affectlab.reliability import variance_components

# Brennan (2001), Generalizability Theory: synthetic data sets 1 (persons by 12 items), 3 (persons
# by 2 occasions by 4 items) and 4 (persons by 12 raters, 4 for each of 3 tasks). A row is a person.
BRENNAN_1 = (
    "101000000000 111001000000 111110000000 110110010000 111110100000 "
    "111011100000 111111100000 111101111100 111111111110 111111111111"
)
BRENNAN_3 = (
    "26752555 45676757 55465455 59865776 43564564 44476478 26652775 34456664 05455553 68766886"
)
BRENNAN_4 = (
    "565553456733 937775557752 343353356516 755331435335 929777372753 "
    "343533634512 737775575554 585775543211 998866655811 444335655711"
)

# Shavelson and Webb (1991), Generalizability Theory: A Primer, Table 1.1: persons by 8 items.
SHAVELSON_WEBB_1 = (
    "01000101 10100001 11100000 11001001 11110001 11111111 10100110 10100011 10000111 01001100 "
    "00011100 00100000 11111111 00000111 00100001 11100100 01000000 10000111 00000110 01000000"
)


def table(text: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
    return np.array([[int(digit) for digit in row] for row in text.split()]).reshape(shape)


def ratings_of(values: NDArray[np.int64], *names: str) -> Ratings:
    """Answers of a complete table; its axes are stimuli and facets."""
    codes = dict(zip(("stimulus", *names), map(np.ravel, np.indices(values.shape)), strict=True))
    frame = pl.DataFrame({name: code.astype(str) for name, code in codes.items()})
    return Ratings(frame.with_columns(value=values.ravel().astype(float)), scale="interval")


def variances(found) -> dict[str, float]:
    frame = found.to_frame()
    return dict(frame.select("factor", "value").iter_rows())


def coefficients(found, **sizes: int) -> tuple[float, float]:
    """The relative and the absolute coefficient."""
    rows = found.to_frame("reliability").filter(
        **{f"{facet}s": str(n) for facet, n in sizes.items()}
    )
    by_kind = dict(rows.select("coefficient", "value").iter_rows())
    return by_kind["consistency"], by_kind["agreement"]


def test_persons_by_items() -> None:
    """Synthetic data set 1: components, and coefficients of the mean of 12 items."""
    ratings = ratings_of(table(BRENNAN_1, (10, 12)), "rater")
    found = variance_components(ratings, k=[1, 12])
    printed = {"stimulus": 0.0574, "rater": 0.0754, "residual": 0.1269}
    assert variances(found) == pytest.approx(printed, abs=6e-5)
    assert coefficients(found, rater=12) == pytest.approx((0.844, 0.773), abs=6e-4)


def test_a_test_of_eight_items() -> None:
    """Components are those of mean squares, and of lme4; the relative coefficient is KR-20."""
    values = table(SHAVELSON_WEBB_1, (20, 8))
    found = variance_components(ratings_of(values, "rater"), k=[1, 8])
    assert variances(found) == pytest.approx(
        {"stimulus": 0.0304511, "rater": 0.0093045, "residual": 0.2103383}, abs=5e-7
    )
    by_item = values.mean(0)
    kr_20 = 8 / 7 * (1 - (by_item * (1 - by_item)).sum() / values.sum(1).var())
    assert coefficients(found, rater=8)[0] == pytest.approx(kr_20, abs=1e-6)
    # Of relative error variance .2103 / 8, and of absolute error variance (.0093 + .2103) / 8.
    assert coefficients(found, rater=8) == pytest.approx((0.53665, 0.52587), abs=6e-6)


CROSSED = ("stimulus", "rater", "session", "stimulus:rater", "stimulus:session", "rater:session")


def test_persons_by_items_by_occasions() -> None:
    """Synthetic data set 3, in which everything is crossed."""
    values = np.moveaxis(table(BRENNAN_3, (10, 2, 4)), 1, 2)
    found = variance_components(
        ratings_of(values, "rater", "session"),
        factors=CROSSED,
        k={"rater": [4, 8], "session": [1, 2]},
    )
    p, i, o, pi, po, io, pio = printed = (0.5528, 0.4417, 0.0074, 0.5750, 0.1009, 0.1565, 0.9352)
    assert list(variances(found).values()) == pytest.approx(printed, abs=6e-5)
    assert coefficients(found, rater=4, session=2) == pytest.approx((0.64, 0.55), abs=5e-3)
    for n_i in (4, 8):
        for n_o in (1, 2):
            relative = pi / n_i + po / n_o + pio / (n_i * n_o)
            absolute = relative + i / n_i + o / n_o + io / (n_i * n_o)
            expected = (p / (p + relative), p / (p + absolute))
            assert coefficients(found, rater=n_i, session=n_o) == pytest.approx(expected, abs=2e-4)


def test_raters_nested_in_tasks() -> None:
    """Synthetic data set 4: each rater judged one task, so that tasks divide raters, too."""
    ratings = ratings_of(table(BRENNAN_4, (10, 12)), "rater")
    task = (ratings.to_frame()["rater"].cast(pl.Int64) // 4).cast(pl.String)
    ratings = Ratings(ratings.to_frame().with_columns(task=task), scale="interval")
    found = variance_components(
        ratings,
        factors=("stimulus", "rater", "task", "stimulus:task"),
        k={"rater": [1, 4], "task": [3]},
    )
    printed = {
        "stimulus": 0.4731,
        "rater": 0.6475,
        "task": 0.3252,
        "stimulus:task": 0.5596,
        "residual": 2.3802,
    }
    assert variances(found) == pytest.approx(printed, abs=6e-5)
    assert coefficients(found, rater=4, task=3) == pytest.approx((0.55, 0.46), abs=5e-3)
    rows = found.table("reliability").frame
    assert (rows["low"] < rows["value"]).all()
    assert (rows["value"] < rows["high"]).all()


def test_a_negative_component_is_0() -> None:
    """Then the others are not those of the analysis of variance either."""
    rng = np.random.default_rng(4)
    values = rng.normal(0, 1, (20, 1)) + rng.normal(0, 1, (20, 4))
    values -= values.mean(axis=0)
    s, r = (part.ravel() for part in np.indices(values.shape))
    ratings = Ratings({"stimulus": s, "rater": r, "value": values.ravel()}, scale="interval")
    found = variance_components(ratings)
    assert variances(found)["rater"] == 0
    between = 4 * values.mean(axis=1).var(ddof=1)
    left = values - values.mean(axis=1, keepdims=True)
    # All that is within stimuli is one residual, with the degrees of freedom of raters.
    residual = (left**2).sum() / 60
    assert variances(found)["residual"] == pytest.approx(residual, rel=1e-4)
    assert variances(found)["stimulus"] == pytest.approx((between - residual) / 4, rel=1e-4)


def test_ordered_categories_have_decision_studies_on_the_latent_scale() -> None:
    values = np.moveaxis(table(BRENNAN_3, (10, 2, 4)), 1, 2)
    found = variance_components(
        ratings_of(values, "rater", "session"),
        factors=("stimulus", "rater", "session", "stimulus:rater"),
        k={"rater": [1, 4], "session": [2]},
        link="probit",
    )
    of = variances(found)
    assert of["residual"] == 1
    relative = of["stimulus:rater"] / 4 + 1 / 8
    absolute = relative + of["rater"] / 4 + of["session"] / 2
    expected = tuple(of["stimulus"] / (of["stimulus"] + noise) for noise in (relative, absolute))
    assert coefficients(found, rater=4, session=2) == pytest.approx(expected)
    rows = found.table("reliability").frame
    assert (rows["low"] < rows["value"]).all()
    assert (rows["value"] < rows["high"]).all()
    assert (rows["interval"].struct.field("formula") == Formula.DELTA).all()


def test_the_interval_of_one_facet_follows_from_that_of_one_rating() -> None:
    found = variance_components(ratings_of(table(BRENNAN_1, (10, 12)), "rater"), k=[1, 12])
    one, twelve = found.to_frame("reliability").filter(coefficient="agreement").rows(named=True)
    for end in ("value", "low", "high"):
        assert twelve[end] == pytest.approx(12 * one[end] / (1 + 11 * one[end]))


def test_cells_beside_other_factors_are_an_interaction() -> None:
    """Not every combination of stimulus, rater and session."""
    values = np.moveaxis(table(BRENNAN_3, (10, 2, 4)), 1, 2)
    found = variance_components(
        ratings_of(values, "rater", "session"),
        factors=("stimulus", "rater", "session", "stimulus:rater"),
    )
    levels = dict(found.to_frame().select("factor", "n_levels").iter_rows())
    assert levels["stimulus:rater"] == 40
    assert found.to_frame()["status"].unique().to_list() == ["ok"]


def test_stimuli_that_belong_to_levels_have_no_reliability_here() -> None:
    ratings = ratings_of(table(BRENNAN_1, (10, 12)), "rater")
    kind = (ratings.to_frame()["stimulus"].cast(pl.Int64) // 5).cast(pl.String)
    ratings = Ratings(ratings.to_frame().with_columns(kind=kind), scale="interval")
    found = variance_components(ratings, factors=("stimulus", "rater", "kind"))
    assert found.to_frame("reliability").is_empty()


def test_bad_sizes_are_one_sentence() -> None:
    ratings = ratings_of(table(BRENNAN_1, (10, 12)), "rater")
    with pytest.raises(InputError, match=r"unknown facet 'raters'; did you mean 'rater'"):
        variance_components(ratings, k={"raters": [1]})
    with pytest.raises(InputError, match=r"k \[0\]: expected numbers of raters, 1 or more"):
        variance_components(ratings, k={"rater": [0]})
