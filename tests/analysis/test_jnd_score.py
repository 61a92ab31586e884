"""1 JND in units of the score: which pairs count, the median, and what its interval is about."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from benchmarks._jnd_simulation import JND, SLIDERS, floor_runs, scored, world
from hypothesis import given, settings, strategies as st
from tests.analysis.jnd_tables import scores_of

from affectlab.analysis import jnd_scores
from affectlab.analysis.jnd import jnd_score
from affectlab.core.arrays import weighted_quantile
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason

TWO = {("ann", "joy"): [18, 40, 50, 21], ("ann", "awe"): [24, 30, 30, 20]}


def test_median_of_the_pairs_one_jnd_apart() -> None:
    one = jnd_score(scores_of(TWO), n_boot=0)
    assert one.value == 20.5  # of 18, 21, 24, 20; 40, 50, 30 and 30 are something else
    assert (one.n_items, one.target) == (4, "none")
    assert math.isnan(one.low)


def test_ends_actors_and_expressions() -> None:
    scores = scores_of({**TWO, ("ben", "joy"): [30, 1, 1, 10]})
    ends = jnd_scores(scores, "end", n_boot=0)
    assert (ends["peak"].value, ends["neutral"].value) == (24, 20)
    assert jnd_scores(scores, "actor", n_boot=0)["ben"].value == 20
    assert jnd_scores(scores, "expression", n_boot=0)["awe"].value == 22


def test_sides_may_be_swapped_and_steps_do_not_count() -> None:
    scores = scores_of(TWO)
    turned = scores.rename({"role_a": "role_b", "role_b": "role_a"})
    assert jnd_score(turned, n_boot=0).value == 20.5
    steps = scores.with_columns(pl.col("role_a", "role_b").replace("near_peak", "step_2"))
    assert jnd_score(steps, n_boot=0).value == 20.5  # of 21 and 20 only
    assert jnd_score(steps, n_boot=0).n_items == 2


def test_both_pairs_of_a_sequence_are_drawn_together() -> None:
    """Two sequences, each with equal ends: replicates are one, the other or the mean of both."""
    scores = scores_of({("ann", "joy"): [10, 9, 9, 10], ("ann", "awe"): [30, 9, 9, 30]})
    one = jnd_score(scores, n_boot=400)
    # Were pairs drawn alone, most replicates would be 20; here half of them are 10 or 30.
    assert one.se == pytest.approx(math.sqrt(0.5) * 10, rel=0.1)
    # Both are hardly ever on one side of the median of others.
    assert math.isnan(one.low)
    assert one.reason == Reason(Cause.FEW_UNITS, 2, 5, "sequences")


def test_nothing_to_draw_from_is_no_interval() -> None:
    one = jnd_score(scores_of({("ann", "joy"): [10, 9, 9, 12]}))
    assert math.isnan(one.low)
    assert one.reason == Reason(Cause.FEW_UNITS, 1, 5, "sequences")
    assert math.isnan(jnd_score(scores_of(TWO), resample="actors").low)


def test_the_error_of_the_scores_alone() -> None:
    rng = np.random.default_rng(0)
    names = [("ann", f"e{k}") for k in range(100)]
    scores = scores_of({name: [20, 9, 9, 20] for name in names}, se=4.0)
    one = jnd_score(scores, resample="scores")
    # The median of 200 normal values with an SD of 4.
    assert one.se == pytest.approx(4 * math.sqrt(math.pi / 2 / 200), rel=0.15)
    unknown = scores.with_columns(pl.lit(None).alias("se"))
    assert math.isnan(jnd_score(unknown, resample="scores").low)
    del rng


@pytest.mark.long
def test_interval_holds() -> None:
    """In 200 studies of 24 sequences the interval holds as often as it says."""
    held = []
    for run in range(200):
        rng = np.random.default_rng(run)
        scores, _ = scored(world("scores alike", 24, rng), rng)
        one = jnd_score(scores, n_boot=300, seed=run)
        held.append(one.low <= JND <= one.high)
    assert 0.91 <= np.mean(held) <= 0.985


@pytest.mark.long
def test_a_slider_that_ends_at_0_makes_it_too_large() -> None:
    """What the docstring says of noise: about 5 % too large, and the interval does not cover it."""
    free, ended = (
        floor_runs(40, 3, 24, ends, n_boot=200).mean(axis=0) for ends in SLIDERS.values()
    )
    assert abs(free[1]) < 0.02
    assert 0.03 < ended[1] < 0.08
    assert free[0] >= 0.85
    assert ended[0] < free[0]
    # Times are too long by it, and so is the sampling interval.
    assert ended[5] > free[5] + 0.02


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"resample": "people"}, "unknown resampling"),
        ({"n_boot": -1}, "n_boot = -1"),
        ({"confidence": 1.0}, "confidence 1.0"),
    ],
)
def test_options_out_of_range(change: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        jnd_score(scores_of(TWO), **change)  # type: ignore[arg-type]


def test_hostile_tables() -> None:
    scores = scores_of(TWO)
    with pytest.raises(InputError, match="no pair has the roles peak and near_peak"):
        jnd_score(scores.filter(pl.col("role_a") == "middle"))
    with pytest.raises(InputError, match="column 'role_b' is missing"):
        jnd_score(scores.drop("role_b"))
    with pytest.raises(InputError, match="unknown grouping 'actors'"):
        jnd_scores(scores, "actors")  # type: ignore[arg-type]


@settings(max_examples=80, deadline=None)
@given(
    values=st.lists(st.integers(-50, 50), min_size=1, max_size=9),
    data=st.data(),
    share=st.sampled_from([0.05, 0.25, 0.5, 0.9]),
)
def test_weighted_quantile_is_that_of_repeated_values(
    values: list[int], data: st.DataObject, share: float
) -> None:
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(values), max_size=len(values)))
    (found,) = weighted_quantile(
        np.array(values, dtype=float), np.array([weights], dtype=float), share
    )
    repeated = np.repeat(values, weights)
    if not repeated.size:
        assert math.isnan(found)
        return
    ordered = np.sort(repeated)
    at = share * ordered.size
    whole = abs(at - round(at)) < 1e-9
    first = ordered[max(round(at) - 1, 0) if whole else math.floor(at)]
    second = ordered[min(round(at), ordered.size - 1) if whole else math.floor(at)]
    assert found == (first + second) / 2
