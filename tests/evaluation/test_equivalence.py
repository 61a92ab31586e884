"""Two one-sided tests, beside pingouin and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab import InputError
from affectlab.evaluation import equivalence

finite = st.floats(-1, 1, allow_nan=False)


@pytest.mark.parametrize("seed", range(4))
def test_paired_differences_as_pingouin_and_statsmodels(seed: int) -> None:
    import pingouin
    from statsmodels.stats.weightstats import ttost_paired

    rng = np.random.default_rng(seed)
    x, y = rng.normal(0.02, 0.1, 30), rng.normal(0, 0.1, 30)
    found = equivalence(x - y, margin=0.06)
    theirs = pingouin.tost(x, y, bound=0.06, paired=True)
    column = next(name for name in theirs.columns if name.lower().startswith("p"))
    assert found.p == pytest.approx(float(theirs[column].iloc[0]), abs=1e-9)
    p, lower, upper = ttost_paired(x, y, -0.06, 0.06)
    assert found.p == pytest.approx(p, abs=1e-12)
    assert found.p_lower == pytest.approx(lower[1], abs=1e-12)
    assert found.p_upper == pytest.approx(upper[1], abs=1e-12)


def test_verdicts() -> None:
    assert equivalence(0.0, 0.01, margin=0.05).verdict == "inside"
    assert equivalence(-0.2, 0.01, margin=0.05).verdict == "below"
    assert equivalence(0.2, 0.01, margin=0.05).verdict == "above"
    assert equivalence(0.0, 0.1, margin=0.05).verdict == "not shown"
    assert equivalence(-0.06, 0.01, margin=0.05).verdict == "not shown"
    assert equivalence(math.nan, 0.1, margin=0.05).verdict == "undefined"
    assert equivalence(0.0, math.nan, margin=0.05).verdict == "not shown"
    assert equivalence(0.01, 0.0, margin=0.05).verdict == "inside"
    assert equivalence(0.05, 0.0, margin=0.05).verdict == "above"
    assert equivalence(-0.05, 0.0, margin=0.05).verdict == "below"


def test_better_than_people_may_be_shown_to_be_no_worse_though_not_equal() -> None:
    found = equivalence(0.06, 0.02, margin=0.05)
    assert found.verdict == "not shown"
    assert found.at_least


def test_few_values() -> None:
    assert equivalence([0.01], margin=0.05).verdict == "not shown"
    assert equivalence([], margin=0.05).verdict == "undefined"
    assert equivalence([0.01, math.nan, 0.01, 0.01], margin=0.05).verdict == "inside"


@given(finite, st.floats(1e-6, 1), st.floats(1e-3, 1), st.floats(1, 200), st.floats(0.001, 0.4))
def test_inside_means_that_the_interval_lies_within_the_margin(
    value: float, se: float, margin: float, df: float, alpha: float
) -> None:
    found = equivalence(value, se, margin=margin, df=df, alpha=alpha)
    inside = -margin < found.low and found.high < margin
    edge = min(abs(found.low + margin), abs(found.high - margin)) < 1e-9
    assert edge or (found.verdict == "inside") == inside
    mirrored = equivalence(-value, se, margin=margin, df=df, alpha=alpha)
    opposite = {"below": "above", "above": "below"}
    assert mirrored.verdict == opposite.get(found.verdict, found.verdict)
    assert mirrored.p == pytest.approx(found.p)


@given(finite, st.floats(1e-3, 1), st.floats(1e-3, 1))
def test_a_wider_margin_never_makes_it_harder(value: float, se: float, margin: float) -> None:
    narrow, wide = (equivalence(value, se, margin=m) for m in (margin, 2 * margin))
    assert wide.p <= narrow.p + 1e-12


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"margin": 0}, "margin = 0"),
        ({"margin": -0.1}, "above 0"),
        ({"margin": math.nan}, "margin"),
        ({"margin": math.inf}, "margin"),
        ({"margin": 0.05, "alpha": 0.5}, "alpha"),
        ({"margin": 0.05, "se": -1.0}, "standard error"),
    ],
)
def test_bad_input(options: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        equivalence(0.0, **{"se": 0.1, **options})
