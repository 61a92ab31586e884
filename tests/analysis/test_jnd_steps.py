"""JNDs from peak to neutral, counted along the way and at its ends."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from benchmarks._jnd_simulation import JND, scored, world
from tests.analysis.jnd_tables import scores_of

from affectlab.analysis import jnd_steps
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate

STEPS = {
    ("ann", "joy"): [20, 30, 35, 20],
    ("ann", "awe"): [20, 40, 50, 20],
    ("ben", "joy"): [20, 10, 10, 20],
}
ENDS = {("ann", "joy"): 80, ("ann", "awe"): 90, ("ben", "joy"): 50}


def test_by_hand() -> None:
    found = jnd_steps(scores_of(STEPS, ends=ENDS), n_boot=0)
    assert found.jnd.value == 20
    assert found["steps"].value == pytest.approx(105 / 20)
    assert found["ends"].value == pytest.approx(80 / 20)
    assert found.additivity == pytest.approx(80 / 105)
    rows = {(row["actor"], row["expression"]): row for row in found.to_frame().to_dicts()}
    assert rows["ann", "awe"]["steps"] == pytest.approx(6.5)
    # Four scores with an error of 2 each; 1 JND has none here.
    assert rows["ann", "awe"]["steps_se"] == pytest.approx(4 / 20)
    assert rows["ann", "awe"]["ends_se"] == pytest.approx(2 / 20)


def test_what_is_missing_does_not_count() -> None:
    scores = scores_of(STEPS, ends={("ann", "joy"): 80})
    lacking = (pl.col("actor") == "ben") & (pl.col("role_a") == "middle")
    found = jnd_steps(scores.filter(~lacking), n_boot=0)
    assert (found["steps"].n_items, found["ends"].n_items) == (2, 1)
    alone = jnd_steps(scores_of(STEPS), n_boot=20)
    assert not alone["ends"].ok
    assert math.isnan(alone.additivity)


def test_a_given_jnd() -> None:
    found = jnd_steps(scores_of(STEPS, ends=ENDS), jnd=Estimate(10.0, se=1.0), n_boot=300)
    assert found["steps"].value == 10.5
    rows = found.to_frame().row(0, named=True)
    # Relative errors of the sum and of 1 JND, by their squares.
    assert rows["steps_se"] == pytest.approx(rows["steps"] * math.hypot(4 / 130, 0.1))
    exact = jnd_steps(scores_of(STEPS, ends=ENDS), jnd=10, n_boot=300)
    assert exact["steps"].se < found["steps"].se


@pytest.mark.long
def test_interval_holds() -> None:
    many = world("scores alike", 100_000, np.random.default_rng(0))
    truth = float(np.median(many.steps.sum(axis=1))) / JND
    held = []
    for run in range(200):
        rng = np.random.default_rng([9, run])
        scores, _ = scored(world("scores alike", 30, rng), rng)
        one = jnd_steps(scores, n_boot=300, seed=run)["steps"]
        held.append(one.low <= truth <= one.high)
    assert 0.91 <= np.mean(held) <= 0.985


def test_scores_alone_are_surer_than_sequences() -> None:
    rng = np.random.default_rng(3)
    scores, _ = scored(world("scores alike", 40, rng), rng)
    of_scores = jnd_steps(scores, resample="scores")["steps"]
    of_sequences = jnd_steps(scores)["steps"]
    assert of_scores.value == of_sequences.value
    assert of_scores.se < 0.7 * of_sequences.se


def test_hostile_tables() -> None:
    scores = scores_of(STEPS)
    with pytest.raises(InputError, match="no sequence has a score for peak and neutral"):
        jnd_steps(scores.filter(pl.col("role_a") == "peak"), n_boot=0)
    with pytest.raises(InputError, match="1 JND is 0"):
        jnd_steps(scores, jnd=0)
    with pytest.raises(InputError, match="unknown resampling"):
        jnd_steps(scores, resample="films")  # type: ignore[arg-type]
