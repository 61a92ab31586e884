"""A baseline covers what people answered, on their scale, and knows nothing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.simulate import random_baseline


def people(scale: str = "0-7", high: int = 7, n: int = 400) -> Ratings:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "stimulus": [f"s{k}" for k in range(n)] * 2,
            "label": ["joy"] * n + ["awe"] * n,
            "rater": "r",
            "value": np.concatenate([rng.integers(high - 1, high + 1, n), np.zeros(n, int)]),
        }
    )
    return Ratings(frame, scale=scale)


def test_every_step_is_as_likely() -> None:
    given = people()
    drawn = random_baseline(given, seed=3)
    assert drawn.rater_kinds == ("baseline",)
    assert drawn.scale == given.scale
    cells = ["stimulus", "label"]
    assert (
        drawn.to_frame()
        .select(cells)
        .sort(cells)
        .equals(given.to_frame().select(cells).sort(cells))
    )
    counts = np.bincount(drawn.value.astype(int), minlength=8)
    assert counts.size == 8
    # 800 answers over 8 steps: 100 each, with a deviation of 9.4.
    assert np.abs(counts - 100).max() < 40
    assert random_baseline(given, seed=3).value.tolist() == drawn.value.tolist()
    assert random_baseline(given, seed=4).value.tolist() != drawn.value.tolist()


def test_shuffled_answers_are_those_of_the_label() -> None:
    drawn = random_baseline(people(), seed=0, how="shuffled").to_frame()
    found = {k: set(v) for k, v in drawn.group_by("label").agg("value").iter_rows()}
    assert found == {"joy": {6.0, 7.0}, "awe": {0.0}}


def test_scales() -> None:
    assert set(random_baseline(people("binary", 1), seed=0).value.tolist()) == {0.0, 1.0}
    drawn = random_baseline(people("0-100"), seed=0).value
    assert 0 <= drawn.min() < 20
    assert 80 < drawn.max() <= 100


def test_one_sentence() -> None:
    with pytest.raises(InputError, match="baseline 'dice'"):
        random_baseline(people(), seed=0, how="dice")  # type: ignore[arg-type]
    endless = Ratings(
        pl.DataFrame({"stimulus": ["a"], "rater": ["r"], "value": [3.5]}), scale="interval"
    )
    with pytest.raises(InputError, match="no ends to draw between"):
        random_baseline(endless, seed=0)
