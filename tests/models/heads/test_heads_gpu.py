"""The measurement for GPUs runs on a processor, where it is small."""

from __future__ import annotations

import re

import numpy as np
import pytest
from benchmarks.heads_gpu import TINY, Sizes, main, make


def test_it_runs_on_a_processor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tiny", "--device", "cpu"]) == 0
    said = capsys.readouterr().out
    rates = re.findall(r"\| (?:head-samples per second|large copy.*?) \| ([\d,]+)", said)
    assert len(rates) == 2
    assert all(int(rate.replace(",", "")) > 0 for rate in rates)
    one, two = map(float, re.search(r"loss of the stages \| ([\d.]+), ([\d.]+)", said).groups())  # type: ignore[union-attr]
    # Yes or no, half of each: a head that says one half is wrong by a quarter.
    assert 0 < one < 0.6
    assert 0 < two < 0.6


def test_ratings_are_as_many_as_in_the_paper() -> None:
    (big, ratings), (human, answers) = make(TINY)
    assert big.shape == (600, 16)
    assert ((ratings > 0).sum(axis=0) == 60).all()
    assert set(np.unique(ratings)) <= set(range(8))
    assert human.shape == (400, 16)
    assert (np.isfinite(answers).sum(axis=1) == 1).all()
    full = Sizes()
    assert (full.big_rows, full.human_rows, full.epochs) == (203_201, 65_686, (5, 200))
