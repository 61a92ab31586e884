from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr, wilcoxon

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.ratings.answers.order import canonical
from affectlab.reliability import ppca
from affectlab.reliability.correlation import PPCA
from affectlab.reliability.correlation.ppca import _partial_spearman, judgements_of, split_raters
from affectlab.reliability.correlation.ppca_kernels import cross_products, partial_out, project


def long(values: np.ndarray, scale: str = "-50-50 interval", labels: list[str] | None = None):
    """Ratings from an array (examples, raters, labels), ``nan`` where there is none."""
    names = labels or [f"e{k}" for k in range(values.shape[2])]
    item, rater, label = np.nonzero(~np.isnan(values))
    return Ratings(
        pl.DataFrame(
            {
                "stimulus": [f"s{k}" for k in item],
                "rater": [f"r{k}" for k in rater],
                "label": [names[k] for k in label],
                "value": values[item, rater, label],
            }
        ),
        scale=scale,
    )


def planted(n_dimensions: int, seed: int, n_labels: int = 8, n_raters: int = 14) -> np.ndarray:
    """Judgements that share ``n_dimensions`` between raters; the rest is each rater's own."""
    rng = np.random.default_rng(seed)
    loadings = np.linalg.qr(rng.normal(size=(n_labels, n_labels)))[0][:, :n_dimensions]
    strength = np.linspace(2.0, 1.0, n_dimensions)
    shared = rng.normal(size=(300, n_dimensions)) * strength @ loadings.T
    values = shared[:, None, :] + rng.normal(0, 0.8, (300, n_raters, n_labels))
    seen = np.argsort(rng.random((300, n_raters)), axis=1) < 5
    values[~seen] = np.nan
    return values


def plain(ratings: Ratings, seed: int, min_raters: int = 3) -> np.ndarray:
    """Algorithm 1 as it is written, one rater, example and component at a time; one split."""
    # Draws go by the order of names (r10 before r2), results by that of the table.
    data = judgements_of(canonical(ratings), ("neutral",), min_raters)
    n = data.example.size
    key = np.random.default_rng(seed).random(n)
    found = []
    for name in ratings.rater_names:
        left_out = data.raters.index(name)
        first, second, mean, own = [], [], [], []
        for row in np.flatnonzero(data.rater == left_out):
            others = [k for k in range(n) if data.example[k] == data.example[row] and k != row]
            others.sort(key=lambda k: key[k])
            half = len(others) // 2
            first.append(data.values[others[:half]].mean(axis=0))
            second.append(data.values[others[half:]].mean(axis=0))
            mean.append(data.values[others].mean(axis=0))
            own.append(data.values[row])
        x, y, m, v = (np.array(side) - np.mean(side, axis=0) for side in (first, second, mean, own))
        vectors = np.linalg.eigh(x.T @ y + y.T @ x)[1][:, ::-1]
        a, b = v @ vectors, m @ vectors
        rho = []
        for k in range(a.shape[1]):
            left, right = a[:, k], b[:, k]
            if k:
                left = left - b[:, :k] @ np.linalg.lstsq(b[:, :k], left, rcond=None)[0]
                right = right - b[:, :k] @ np.linalg.lstsq(b[:, :k], right, rcond=None)[0]
            rho.append(spearmanr(left.round(9), right.round(9))[0])
        found.append(rho)
    return np.array(found)


def test_equals_the_algorithm_as_written() -> None:
    rng = np.random.default_rng(1)
    values = (planted(2, 1, n_labels=5, n_raters=6)[:80] > 0.5).astype(float)
    values[rng.random((80, 6)) < 0.3] = np.nan
    ratings = long(values, "binary")
    result = ppca(ratings, n_splits=1, seed=3)
    # The sign of a component is arbitrary, and turns both sides: the correlation keeps its sign.
    np.testing.assert_allclose(result.by_rater, plain(ratings, 3), atol=1e-10)
    table = result.components.frame
    mean = result.by_rater.mean(axis=0)
    np.testing.assert_allclose(table["value"], mean, atol=1e-12)
    p = np.array([wilcoxon(column).pvalue for column in result.by_rater.T])
    np.testing.assert_allclose(table["p"], p)
    np.testing.assert_allclose(table["p_bonferroni"], np.minimum(p * 5, 1))
    assert table["significant"].to_list() == ((p * 5 < 0.05) & (mean > 0)).tolist()


@pytest.mark.parametrize("n_dimensions", [1, 3, 5])
def test_recovers_the_planted_dimensionality(n_dimensions: int) -> None:
    found = [ppca(long(planted(n_dimensions, seed)), seed=seed) for seed in range(3)]
    assert [result.n_significant for result in found] == [n_dimensions] * 3
    flags = found[0].components.frame["significant"].to_list()
    assert flags == [True] * n_dimensions + [False] * (8 - n_dimensions)


def test_nothing_shared_gives_no_component() -> None:
    noise = np.random.default_rng(5).normal(size=(200, 8, 6))
    assert ppca(long(noise), seed=1).n_significant == 0


def test_loadings_are_the_planted_directions() -> None:
    rng = np.random.default_rng(6)
    direction = np.array([2.0, -1.0, 0.0, 0.5])
    values = rng.normal(size=(400, 1, 1)) * direction + rng.normal(0, 0.5, (400, 6, 4))
    result = ppca(long(values), seed=1)
    loading = result.loadings["1"].to_numpy()
    assert result.loadings["label"].to_list() == ["e0", "e1", "e2", "e3"]
    np.testing.assert_allclose(loading, direction / np.linalg.norm(direction), atol=0.03)
    assert result.components["1"].value > 0.8
    eigenvalue = result.components.frame["eigenvalue"].to_numpy()
    assert eigenvalue[0] == pytest.approx(direction @ direction, rel=0.2)
    assert (np.diff(eigenvalue) <= 0).all()


def test_rows_that_do_not_count_are_dropped_and_counted() -> None:
    values = np.zeros((12, 5, 4))
    rng = np.random.default_rng(7)
    values[:, :, :3] = rng.integers(0, 2, (12, 5, 3))
    values[:, :, 0] = 1 - values[:, :, 1] * values[:, :, 2]
    values[0, 0, 3] = 1  # neutral
    values[1, 0] = 0  # empty
    values[2, 0, 1] = np.nan  # incomplete
    values[3, :3] = 0  # example 3 keeps two judgements
    ratings = long(values, "binary", ["a", "b", "c", "neutral"])
    data = judgements_of(ratings, ("neutral",), 3)
    empty = int((values[:, :, :3] == 0).all(axis=2).sum())
    assert data.dropped == {
        "incomplete": 1,
        "excluded label": 1,
        "empty": empty,
        "few raters": 2,
    }
    assert data.labels == ("a", "b", "c")
    assert data.example.max() == 10


def test_halves_are_equal_and_leave_the_rater_out() -> None:
    values = np.arange(4 * 5 * 2, dtype=float).reshape(4, 5, 2)
    data = judgements_of(long(values + 1), (), 3)
    split = split_raters(data, np.random.default_rng(8))
    rows = np.arange(data.example.size)
    x, y, others = split.without(rows)
    for row in rows:
        same = np.flatnonzero((data.example == data.example[row]) & (rows != row))
        np.testing.assert_allclose(others[row], data.values[same].mean(axis=0))
        # Two of four in each half: the halves average to the mean of the others.
        np.testing.assert_allclose((x[row] + y[row]) / 2, others[row])
        pairs = [data.values[[a, b]].mean(axis=0) for a in same for b in same if a < b]
        assert any(np.allclose(x[row], pair) for pair in pairs)
    first, second = split.halves()
    whole = data.values.reshape(4, 5, 2).mean(axis=1)
    np.testing.assert_allclose((2 * first + 3 * second) / 5, whole)


def test_scores_that_add_no_direction_are_undefined_and_harmless() -> None:
    rng = np.random.default_rng(9)
    b = rng.normal(size=(3, 40))
    b[1] = 2 * b[0]
    a = rng.normal(size=(3, 40))
    rho = _partial_spearman(a.copy(), b.copy(), 9)
    assert np.isnan(rho[1])
    q = b[0] / np.linalg.norm(b[0])
    rest = [side - (side @ q) * q for side in (a[2], b[2])]
    assert rho[2] == pytest.approx(spearmanr(*rest)[0], abs=1e-12)


def test_compiled_algebra_equals_numpy() -> None:
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=(2, 41, 5))
    product = np.empty((5, 5))
    cross_products(x, y, product)
    left, right = x - x.mean(axis=0), y - y.mean(axis=0)
    np.testing.assert_allclose(product, left.T @ right + right.T @ left, atol=1e-12)
    vectors, scores = rng.normal(size=(5, 5)), np.empty((5, 41))
    project(x, vectors, scores)
    np.testing.assert_allclose(scores, (left @ vectors).T, atol=1e-12)
    a, b = scores.copy(), (right @ vectors).T.copy()
    expected = [
        [side[k] - before.T @ np.linalg.lstsq(before.T, side[k], rcond=None)[0] for side in (a, b)]
        for k, before in ((k, b[:k].copy()) for k in range(5))
    ]
    partial_out(a, b)
    np.testing.assert_allclose(np.stack([a, b], axis=1), expected, atol=1e-12)


def test_same_seed_same_bytes_and_more_splits_agree() -> None:
    ratings = long(planted(2, 10))
    first, second = (ppca(ratings, n_splits=3, seed=1) for _ in range(2))
    assert first.by_rater.tobytes() == second.by_rater.tobytes()
    other = ppca(ratings, n_splits=3, seed=2)
    assert first.by_rater.tobytes() != other.by_rater.tobytes()
    assert isinstance(first, PPCA)
    assert (first.n_significant, first.components.frame.height) == (2, 8)


def test_bad_input() -> None:
    ratings = long(planted(1, 11))
    for options, message in (
        ({"min_raters": 2}, "min_raters"),
        ({"n_splits": 0}, "n_splits"),
        ({"alpha": 1.0}, "alpha"),
        ({"exclude": ["nothing"]}, "label"),
        ({"exclude": [f"e{k}" for k in range(7)]}, "two or more"),
        ({"min_raters": 9}, "no example has 9"),
    ):
        with pytest.raises(InputError, match=message):
            ppca(ratings, **options)
