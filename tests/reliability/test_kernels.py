"""Every compiled loop beside a plain twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import spearmanr

from affectlab.core import compiled, inference as resampling
from affectlab.core.compiled import LANES, in_threads
from affectlab.core.compiled.correlation import rank_lanes, spearman_lanes
from affectlab.core.jackknife import LEAST_EFFECTIVE
from affectlab.ratings import Ratings
from affectlab.reliability import interrater_correlation, krippendorff_alpha, pairwise_kappa
from affectlab.reliability.agreement.chance_corrected import kappa as kappa_dense
from affectlab.reliability.agreement.chance_corrected.kappa import (
    Kappas,
    disagreement_weights,
    kappa_of_tables,
    weighted_kappa,
)
from affectlab.reliability.agreement.chance_corrected.kappa_kernels import (
    count_pairs,
    count_pairs_by_bits,
    kappa_of_counts,
)
from affectlab.reliability.correlation import interrater as counts
from affectlab.reliability.correlation.mean_spearman import _order
from affectlab.reliability.rank_correlation import spearman_of_counts

seeds = st.integers(0, 2**32 - 1)


def plain_pair_counts(answers: np.ndarray, n_levels: int) -> np.ndarray:
    n_raters = answers.shape[1]
    tables = []
    for a in range(n_raters):
        for b in range(a + 1, n_raters):
            table = np.zeros((n_levels, n_levels), dtype=int)
            for first, second in answers[:, [a, b]]:
                if first >= 0 and second >= 0:
                    table[first, second] += 1
            tables.append(table)
    return np.array(tables)


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 150), st.integers(2, 6), st.integers(2, 9))
def test_pair_counts_equal_a_double_loop(
    seed: int, n_units: int, n_raters: int, n_levels: int
) -> None:
    rng = np.random.default_rng(seed)
    answers = rng.integers(-1, n_levels, (n_units, n_raters)).astype(np.int8)
    expected = plain_pair_counts(answers, n_levels)
    for count in (count_pairs, count_pairs_by_bits):
        found = np.zeros(expected.size, dtype=np.int32)
        count(answers, n_levels, found)
        np.testing.assert_array_equal(found.reshape(expected.shape), expected)


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 8), st.sampled_from(["quadratic", "linear", "nominal"]))
def test_kappa_of_counts_equals_the_array_form_and_plain_deletion(
    seed: int, n_levels: int, weights: str
) -> None:
    rng = np.random.default_rng(seed)
    tables = rng.integers(0, 5, (7, n_levels, n_levels))
    tables[0] = 0
    tables[1] = 0
    tables[1, 0, 0] = 3
    tables[2] = 0
    tables[2, [0, 1, 1], [1, 0, 1]] = 1, 2, 3
    expected = kappa_of_tables(tables, weights)
    found = Kappas.none(7)
    disagreement = disagreement_weights(weights, n_levels)
    kappa_of_counts(tables.astype(np.int32), disagreement, LEAST_EFFECTIVE, *found[:-1])
    for one, other in zip(found[:5], expected[:5], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    for k in range(7):
        apart = np.repeat(np.stack(np.nonzero(tables[k])), tables[k][tables[k] > 0], axis=1)
        plain = [
            weighted_kappa(*np.delete(apart, at, axis=1), weights=weights, scale=range(n_levels))
            for at in range(apart.shape[1])
        ]
        left_out = np.array([one.value for one in plain])
        n = left_out.size
        se = math.sqrt((n - 1) * left_out.var()) if n > 1 else math.nan
        assert found.se[k] == pytest.approx(se, abs=1e-9, nan_ok=True)
        if se > 1e-6:
            squares = (left_out - left_out.mean()) ** 2
            carried = squares.sum() ** 2 / (squares**2).sum() - 1
            freedom = min(max(carried, LEAST_EFFECTIVE), n - 1)
            assert found.freedom[k] == pytest.approx(freedom, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 60), st.integers(1, 6), st.integers(1, LANES))
def test_weighted_spearman_equals_spearman_of_repeated_items(
    seed: int, n: int, n_values: int, lanes: int
) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, n_values, n).astype(float), rng.normal(size=n).round(1)
    weights = rng.integers(0, 4, (n, lanes)).astype(np.float32)
    ranks, squares, rho = np.empty_like(weights), np.empty(lanes), np.empty(lanes)
    by_x, by_y = (_order(side, np.arange(n)) for side in (x, y))
    rank_lanes(by_y.items, by_y.last, weights, ranks, squares)
    spearman_lanes(by_x.items, by_x.last, weights, ranks, squares, rho)
    for lane in range(lanes):
        drawn = np.repeat(np.arange(n), weights[:, lane].astype(int))
        if np.unique(x[drawn]).size < 2 or np.unique(y[drawn]).size < 2:
            assert np.isnan(rho[lane])
        else:
            assert rho[lane] == pytest.approx(spearmanr(x[drawn], y[drawn])[0], abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 4), st.integers(1, 5))
def test_spearman_of_counts_equals_scipy(seed: int, n_x: int, n_y: int) -> None:
    tables = np.random.default_rng(seed).integers(0, 4, (5, n_x, n_y)).astype(np.int32)
    rho, n = spearman_of_counts(tables.transpose(1, 2, 0))
    for table, found, size in zip(tables, rho, n, strict=True):
        x, y = (np.repeat(place.ravel(), table.ravel()) for place in np.indices(table.shape))
        assert size == x.size
        if np.unique(x).size < 2 or np.unique(y).size < 2:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(spearmanr(x, y)[0], abs=1e-12)


def long_ratings(values: np.ndarray, scale: str, *, repeats: int = 0, seed: int = 0) -> Ratings:
    """Ratings from an array (raters, stimuli, labels), rows shuffled, some answered again."""
    import polars as pl

    rng = np.random.default_rng(seed)
    rater, stimulus, label = np.nonzero(~np.isnan(values))
    value = values[rater, stimulus, label]
    order = rng.permutation(value.size)
    order = np.concatenate([order, order[:repeats]])
    value = value[order]
    if repeats:
        value[-repeats:] = np.nanmin(values)
    return Ratings(
        pl.DataFrame(
            {
                "stimulus": [f"s{k}" for k in stimulus[order]],
                "rater": [f"r{k}" for k in rater[order]],
                "label": [f"e{k}" for k in label[order]],
                "value": value,
                "trial": np.arange(value.size) >= value.size - repeats,
            }
        ),
        scale=scale,
    )


def panel(seed: int, gaps: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    truth = rng.normal(2, 2, (1, 60, 3))
    values = np.clip(np.rint(truth + rng.normal(0, 1.5, (7, 60, 3))), 0, 7)
    values[rng.random(values.shape) < gaps] = np.nan
    return values


@pytest.mark.parametrize("most", [7, 20])
@pytest.mark.parametrize("truncate", [False, True])
def test_dense_kappa_equals_the_sorted_way(
    monkeypatch: pytest.MonkeyPatch, truncate: bool, most: int
) -> None:
    """Few levels are counted by bits, more of them by units."""
    ratings = long_ratings(np.rint(panel(1) * most / 7), f"0-{most}", repeats=9)
    sorted_way = pairwise_kappa(ratings, truncate=truncate).frame
    monkeypatch.setattr(kappa_dense, "_FEW_ANSWERS", 0)
    assert kappa_dense.dense_panel(ratings, np.arange(most + 1.0), truncate=truncate) is not None
    dense = pairwise_kappa(ratings, truncate=truncate).frame
    assert dense.drop("value", "se", "low", "high").equals(
        sorted_way.drop("value", "se", "low", "high")
    )
    for column in ("value", "se", "low", "high"):
        np.testing.assert_allclose(
            dense[column].to_numpy(), sorted_way[column].to_numpy(), atol=1e-12
        )
    # In parts, with repeated answers in the last one; the first answer stays.
    monkeypatch.setattr(kappa_dense, "_MANY_ANSWERS", 0)
    monkeypatch.setattr(compiled, "n_threads", lambda: 3)
    assert pairwise_kappa(ratings, truncate=truncate).frame.equals(dense)
    points = pairwise_kappa(ratings, truncate=truncate, target="sample").frame
    of_intervals = ("se", "low", "high", "target", "interval", "method")
    assert points.drop("value", *of_intervals).equals(dense.drop("value", *of_intervals))
    np.testing.assert_allclose(points["value"].to_numpy(), dense["value"].to_numpy(), atol=1e-12)
    assert points["low"].is_nan().all()
    assert set(points["target"]) == {"none"}
    assert points["interval"].is_null().all()


@pytest.mark.parametrize("by_rater", [False, True])
def test_correlation_by_counting_equals_the_sorted_way(
    monkeypatch: pytest.MonkeyPatch, by_rater: bool
) -> None:
    ratings = long_ratings(panel(2), "0-7", repeats=9)
    options = {"exclude": ("e1",), "by_rater": by_rater}
    sorted_way = interrater_correlation(ratings, **options).frame
    monkeypatch.setattr(counts, "_FEW_ANSWERS", 0)
    # Where sorting fails, counting has served.
    monkeypatch.setattr(counts, "_by_rater", None)
    counted = interrater_correlation(ratings, **options).frame
    numbers = [name for name in counted.columns if counted[name].dtype.is_float()]
    assert counted.drop(numbers).equals(sorted_way.drop(numbers))
    for column in numbers:
        np.testing.assert_allclose(
            counted[column].to_numpy(), sorted_way[column].to_numpy(), atol=1e-12
        )


def test_counting_gives_way_to_sorting_when_values_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(3).normal(size=(5, 400, 1))
    ratings = long_ratings(values, "-9-9 interval")
    monkeypatch.setattr(counts, "_FEW_ANSWERS", 0)
    codes = ratings.label_code, ratings.stimulus_code, ratings.rater_code
    names = ratings.label_names, ratings.rater_names
    value = np.asarray(ratings.value, dtype=np.float64)
    assert counts.Counting.of(codes, value, names, ratings.n_stimuli, np.array([True])) is None
    found = interrater_correlation(ratings)
    others = (values.sum(0) - values)[:, :, 0]
    expected = np.mean(
        [spearmanr(own, rest)[0] for own, rest in zip(values[:, :, 0], others, strict=True)]
    )
    assert found["e0"].value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", ["interval", "ordinal", "nominal", "ratio"])
def test_rows_of_rater_weights_are_computed_one_by_one(
    monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    ratings = long_ratings(panel(4, gaps=0.5), "0-7")
    options = {"level": level, "target": "both", "n_boot": 37, "seed": 5}
    together = krippendorff_alpha(ratings, **options).frame
    monkeypatch.setattr("affectlab.reliability.agreement.alpha._BLOCK", 1)
    monkeypatch.setattr("affectlab.reliability.agreement.alpha_levels._SPARSE", 0)
    single = krippendorff_alpha(ratings, **options).frame
    for column in ("value", "se", "low", "high"):
        np.testing.assert_allclose(
            single[column].to_numpy(), together[column].to_numpy(), atol=1e-12
        )


def test_threads_raise_what_a_part_raises() -> None:
    def work(k: int) -> None:
        if k == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match="three"):
        in_threads(work, range(6))


def test_compiled_draws_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = long_ratings(panel(8), "0-7")
    options = {"level": "ordinal", "n_boot": 50, "seed": 3}
    arrays = krippendorff_alpha(ratings, **options).frame
    monkeypatch.setattr(resampling, "_MANY", 0)
    assert krippendorff_alpha(ratings, **options).frame.equals(arrays)
