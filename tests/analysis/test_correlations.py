"""Correlations of labels: known answers, weighted moments beside repeated rows, bad input."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as npst

from affectlab.analysis import label_correlations
from affectlab.analysis.labels.correlations import pearson, spearman
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.ratings import Ratings


def table(rows, **options) -> Ratings:
    columns = ["stimulus", "rater", "label", "value"]
    return Ratings(pl.DataFrame(rows, schema=columns, orient="row"), **options)


@pytest.fixture
def answers() -> Ratings:
    """Three people and a model on two labels and neutral."""
    rows = []
    for j, (joy, fear) in enumerate([(1, 0), (1, 0), (0, 1), (0, 1), (1, 1), (0, 0)]):
        for r in ("anna", "ben", "cleo", "gpt"):
            flip = r == "cleo" and j == 0
            own = (0, 1) if flip else (joy, fear)
            if r == "gpt":
                own = (1 - joy, 1 - fear)
            rows += [
                (f"s{j}", r, "joy", own[0]),
                (f"s{j}", r, "fear", own[1]),
                (f"s{j}", r, "neutral", int(own == (0, 0))),
            ]
    raters = {"rater": ["anna", "ben", "cleo", "gpt"], "rater_kind": [*["human"] * 3, "model"]}
    return table(rows, scale="binary", taxonomy="goemotions", raters=raters)


def test_people_are_averaged_and_neutral_is_left_out(answers) -> None:
    found = label_correlations(answers, n_boot=0)
    joy, fear = [2 / 3, 1, 0, 0, 1, 0], [1 / 3, 0, 1, 1, 1, 0]
    assert found.labels == ("fear", "joy")
    assert found.excluded == ("neutral",)
    assert found.matrix[0, 1] == pytest.approx(np.corrcoef(joy, fear)[0, 1])
    assert found.groups == ("negative", "positive")
    row = found["fear", "joy"]
    assert (row.n_items, row.n_raters, row.status) == (6, 3, "ok")
    assert np.isnan([row.se, row.low, row.high]).all()
    assert "neutral" in label_correlations(answers, exclude_neutral=False).labels


def test_categories_of_a_nominal_scale_are_labels() -> None:
    frame = {"stimulus": ["a", "b", "c", "d"], "rater": ["r"] * 4, "value": ["x", "x", "y", "z"]}
    found = label_correlations(Ratings(frame, scale="nominal:x,y,z"))
    assert found.labels == ("x", "y", "z")
    expected = np.corrcoef([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    np.testing.assert_allclose(found.matrix, expected)


@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_pandas_gives_the_same(method: str, missing: float) -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    values = rng.integers(0, 4, (60, 6)) + 0.5 * rng.integers(0, 2, (60, 1))
    values[rng.random(values.shape) < missing] = np.nan
    found = label_correlations(values, method=method)
    expected = pd.DataFrame(values).corr(method, min_periods=3).to_numpy()
    np.testing.assert_allclose(found.matrix, expected, atol=1e-12)


values = npst.arrays(
    np.float64,
    st.tuples(st.integers(3, 9), st.just(3)),
    elements=st.sampled_from([0.0, 0.25, 1.0, 3.0, float("nan")]),
)


@given(values, st.data())
def test_weights_are_repeated_rows(values, data) -> None:
    n = len(values)
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), float)
    first, second = np.triu_indices(3, 1)
    from scipy.stats import rankdata

    for method, correlate in (("pearson", pearson), ("spearman", spearman)):
        found = correlate(values, weights[None, :], first, second)[0]
        repeated = np.repeat(values, weights.astype(int), axis=0)
        for k, (a, b) in enumerate(zip(first, second, strict=True)):
            both = repeated[~np.isnan(repeated[:, [a, b]]).any(axis=1)][:, [a, b]]
            x = rankdata(both, axis=0) if method == "spearman" else both
            defined = len(x) > 1 and (np.ptp(x, axis=0) > 0).all()
            expected = np.corrcoef(x.T)[0, 1] if defined else np.nan
            np.testing.assert_allclose(found[k], expected, atol=1e-9)


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_equal_stimuli_joined_are_the_same_bootstrap(method: str) -> None:
    rng = np.random.default_rng(2)
    shared = rng.integers(0, 2, (400, 1))
    values = np.clip(shared + rng.integers(0, 2, (400, 3)), 0, 2).astype(float)
    joined = label_correlations(values, method=method, n_boot=4000, seed=1)
    # A thousandth more makes all rows different, and no rank or moment differ much.
    apart = values + 1e-6 * rng.random(values.shape) * (method == "pearson")
    single = label_correlations(apart, method=method, n_boot=4000, seed=2)
    for name in ("se", "low", "high"):
        np.testing.assert_allclose(
            joined.to_frame()[name], single.to_frame()[name], atol=0.012 if name != "se" else 0.003
        )


def test_intervals_cover_the_truth() -> None:
    rng = np.random.default_rng(3)
    truth, n_studies = 0.5, 300
    covered = 0
    for study in range(n_studies):
        x = rng.normal(size=(80, 2))
        x[:, 1] = truth * x[:, 0] + np.sqrt(1 - truth**2) * x[:, 1]
        row = label_correlations(x, n_boot=200, seed=study).to_frame().row(0, named=True)
        covered += row["low"] <= truth <= row["high"]
    assert 0.89 <= covered / n_studies <= 0.98


def test_same_seed_same_result() -> None:
    values = np.random.default_rng(4).random((50, 4))
    one, two = (label_correlations(values, n_boot=50, seed=7) for _ in range(2))
    assert one.to_frame().equals(two.to_frame())
    assert not one.to_frame().equals(label_correlations(values, n_boot=50, seed=8).to_frame())


def test_what_is_not_defined_says_why() -> None:
    nan = float("nan")
    found = label_correlations(
        [[1, 0, 2, nan], [2, 0, 1, nan], [3, 0, 3, 1], [1, 0, 2, 2]],
        labels=["a", "never", "c", "rare"],
        n_boot=20,
        seed=1,
    )
    assert found["a", "never"].reason == Reason(Cause.CONSTANT, of="answers to a label")
    assert found["a", "rare"].reason == Reason(Cause.FEWER, least=3, of="stimuli in common")
    assert found["a", "c"].ok
    assert np.isnan(found.matrix[1]).all()
    assert found.matrix[0, 0] == 1
    assert found.n[0].tolist() == [4, 4, 4, 2]


def test_a_label_of_every_stimulus_does_not_vary() -> None:
    found = label_correlations([[0.1, 1], [0.1, 0], [0.1, 0]], n_boot=10, seed=1)
    (reason,) = found.frame["reason"]
    assert Reason.of_row(reason) == Reason(Cause.CONSTANT, of="answers to a label")


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        ([[1.0], [2.0]], {}, "1 label is left"),
        ([[1.0, 2.0]], {"labels": ["a"]}, "2 different names"),
        ([[1.0, 2.0]], {"labels": ["a", "a"]}, "different names"),
        ([1.0, 2.0], {}, "shape \\(stimuli, labels\\)"),
        (np.empty((0, 3)), {}, "shape \\(stimuli, labels\\)"),
        ([["a", "b"]], {}, "array of numbers"),
        ([[1.0, np.inf]], {}, "infinite"),
        ([[1.0, 2.0]], {"method": "kendal"}, "unknown method"),
        ([[1.0, 2.0]], {"n_boot": -1}, "n_boot"),
        ([[1.0, 2.0]], {"confidence": 95}, "confidence"),
    ],
)
def test_bad_input(data, options, words: str) -> None:
    with pytest.raises(InputError, match=words):
        label_correlations(data, **options)


def test_texts_and_categories_per_label_are_refused() -> None:
    text = Ratings({"stimulus": ["a"], "rater": ["r"], "text": ["so"]}, scale="text")
    with pytest.raises(InputError, match="text"):
        label_correlations(text)
    rows = [("a", "r", "joy", "x"), ("b", "r", "joy", "y")]
    with pytest.raises(InputError, match="categories"):
        label_correlations(table(rows, scale="nominal:x,y"))


def test_it_prints(answers) -> None:
    from rich.console import Console

    console = Console(width=100, record=True)
    console.print(label_correlations(answers, n_boot=20, seed=1))
    assert "fear" in console.export_text()
    assert label_correlations(answers).strongest(1).height == 1


def test_stimuli_of_a_cluster_are_drawn_together() -> None:
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(8), 6)
    values = rng.normal(size=(8, 2))[cluster] + rng.normal(size=(48, 2))
    apart = label_correlations(values, n_boot=200)
    together = label_correlations(values, n_boot=200, cluster=cluster.tolist())
    draws = np.random.default_rng(0).integers(0, 8, (200, 8), dtype=np.int32)
    rows = [np.concatenate([np.flatnonzero(cluster == k) for k in one]) for one in draws]
    slow = [np.corrcoef(values[one].T)[0, 1] for one in rows]
    np.testing.assert_allclose(together.replicates[:, 0], slow)
    assert set(together.frame["target"]) == {"clusters"}
    assert set(apart.frame["target"]) == {"stimuli"}
    assert together.matrix.tolist() == apart.matrix.tolist()
    few = label_correlations(values, n_boot=50, cluster=(cluster % 4).tolist())
    assert Reason.of_row(few.frame["reason"][0]) == Reason(Cause.FEW_UNITS, 4, 5, "clusters")
