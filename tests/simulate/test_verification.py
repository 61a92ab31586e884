"""Simulated sequential verification: the protocol holds, and its probabilities come back."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.simulate import simulate_verification


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return simulate_verification(4000, seed=2).to_frame()


def test_same_seed_same_answers() -> None:
    first, second = (simulate_verification(200, seed=5) for _ in range(2))
    assert first.equals(second)
    assert not first.equals(simulate_verification(200, seed=6))


def test_only_affirmed_items_go_on(frame: pl.DataFrame) -> None:
    votes = frame.group_by("stimulus", "label").agg(
        n=pl.len(), yes=pl.col("value").sum(), raters=pl.col("rater").n_unique()
    )
    assert votes["n"].max() == 3
    assert (votes["raters"] == votes["n"]).all()
    # A second vote needs a yes, a third needs two; so at most the last vote is a no.
    assert (votes["yes"] >= votes["n"] - 1).all()


def test_probabilities_come_back(frame: pl.DataFrame) -> None:
    votes = frame.group_by("stimulus", "label").agg(n=pl.len(), yes=pl.col("value").sum())
    n = votes.height
    assert n == 8000
    # present * hit + absent * false alarm, the share of the 4,000 affirmative items that go on.
    went_on = (votes["n"] >= 2).sum() / 4000
    expected = 0.8 * 0.9 + 0.2 * 0.1
    assert went_on == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 4000))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_stimuli": 0}, "n_stimuli = 0"),
        ({"rounds": 7}, "expected a whole number from 1 to 6"),
        ({"hit": 1.2}, "hit = 1.2"),
    ],
)
def test_bad_numbers(options: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        simulate_verification(**options)
