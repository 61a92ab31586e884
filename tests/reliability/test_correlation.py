from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.ratings import Ratings
from affectlab.reliability import interrater_correlation
from affectlab.reliability.wording import DEFINED_RATER

NAN = math.nan


def panel(seed: int = 0) -> Ratings:
    rng = np.random.default_rng(seed)
    rows = []
    for u in range(60):
        truth = {"joy": rng.normal(), "neutral": rng.normal(), "awe": 0.0}
        for r in rng.permutation(5)[:3]:
            rows += [(f"s{u}", f"r{r}", label, t + rng.normal()) for label, t in truth.items()]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    return Ratings(frame, scale="interval")


def test_mean_over_raters_of_leave_one_out_spearman():
    ratings = panel()
    matrix = ratings.matrix("joy")
    expected = []
    for r in range(5):
        shared = ~np.isnan(matrix[r])
        others = np.nanmean(np.delete(matrix, r, axis=0)[:, shared], axis=0)
        expected.append(spearmanr(matrix[r, shared], others).statistic)
    result = interrater_correlation(ratings)["joy"]
    assert result.value == pytest.approx(np.mean(expected), abs=1e-12)
    without = [
        interrater_correlation(np.delete(matrix, r, axis=0), target="sample")["rating"].value
        for r in range(5)
    ]
    of_raters = interrater_correlation(ratings, target="raters")["joy"]
    assert of_raters.se == pytest.approx(math.sqrt(4) * np.std(without))
    of_stimuli = interrater_correlation(ratings, target="stimuli")["joy"]
    assert result.se == pytest.approx(math.hypot(of_raters.se, of_stimuli.se))
    assert result.low < result.value < result.high
    assert (result.n_items, result.n_raters, result.n_ratings) == (60, 5, 180)


def test_neutral_is_left_out_by_default():
    ratings = panel()
    assert interrater_correlation(ratings).frame["label"].to_list() == ["joy", "awe"]
    everything = interrater_correlation(ratings, exclude=())
    assert everything.frame["label"].to_list() == ["joy", "neutral", "awe"]
    with pytest.raises(InputError, match="did you mean 'awe'"):
        interrater_correlation(ratings, exclude=("aweh",))


def test_raters_without_a_correlation_are_counted():
    matrix = [[1, 2, 3, 4, NAN], [1, 2, 4, 3, NAN], [5, 5, 5, 5, NAN], [NAN, NAN, NAN, 2, 3]]
    table = interrater_correlation(matrix)
    result = table["rating"]
    assert result.n_raters == 2
    assert table.frame["n_undefined"].to_list() == [2]
    by_rater = interrater_correlation(matrix, by_rater=True)
    assert by_rater["rating", "2"].reason == Reason(Cause.CONSTANT, of="ratings")
    assert by_rater["rating", "3"].reason == Reason(Cause.FEWER, least=2, of="shared examples")
    assert result.value == pytest.approx(
        np.mean([by_rater["rating", "0"].value, by_rater["rating", "1"].value])
    )


def test_equal_means_tie_in_spite_of_rounding():
    # (0.1 + 0.2) / 2 and 0.3 / 2 differ in the last bit.
    matrix = np.array([[1.0, 2.0, 3.0], [0.1, 0.3, 0.5], [0.2, 0.0, 0.5]])
    value = interrater_correlation(matrix, by_rater=True)["rating", "0"].value
    assert value == pytest.approx(spearmanr([1, 2, 3], [1.5, 1.5, 3]).statistic)


def test_few_items_can_be_left_out():
    matrix = [[1, 2, 3, 4], [1, 2, 3, 5], [NAN, NAN, 2, 1]]
    assert interrater_correlation(matrix)["rating"].n_raters == 3
    assert interrater_correlation(matrix, min_items=3)["rating"].n_raters == 2


def test_fisher_interval_covers():
    rng = np.random.default_rng(0)
    rho = 6 / math.pi * math.asin(0.5 / 2)
    covered = 0
    for _ in range(300):
        x, noise = rng.normal(size=(2, 80))
        pair = np.stack([x, 0.5 * x + math.sqrt(0.75) * noise])
        result = interrater_correlation(pair, by_rater=True)["rating", "0"]
        covered += result.low <= rho <= result.high
    assert 0.91 <= covered / 300 <= 0.985


def test_nothing_to_correlate():
    result = interrater_correlation([[1, NAN], [NAN, 2]])["rating"]
    assert math.isnan(result.value)
    assert result.reason == Reason(Cause.NONE, of=DEFINED_RATER)
    assert len(interrater_correlation(np.full((2, 3), NAN), by_rater=True)) == 0
