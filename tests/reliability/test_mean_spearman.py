from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import draw_weights
from affectlab.ratings import Ratings
from affectlab.reliability import mean_spearman
from affectlab.reliability.correlation.mean_spearman import rank_panel, replicates_over_units
from affectlab.reliability.wording import DEFINED_LABEL


def study(seed: int, gaps: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Reference (labels, units) and three raters: whole numbers, fractions, few answers."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(2, 2, (4, 50))
    others = truth + rng.normal(0, 1.5, (3, 4, 50))
    others[0] = np.rint(others[0])
    others[2][rng.random((4, 50)) < gaps] = np.nan
    reference = np.rint(truth)
    reference[0, :5] = np.nan
    return reference, others


def plain(reference: np.ndarray, others: np.ndarray, items: np.ndarray) -> np.ndarray:
    """The correlations of a drawn sample, (raters, labels), by scipy."""
    out = np.full(others.shape[:2], np.nan)
    for r, label in np.ndindex(out.shape):
        x, y = others[r, label, items], reference[label, items]
        both = ~np.isnan(x) & ~np.isnan(y)
        if np.unique(x[both]).size > 1 and np.unique(y[both]).size > 1:
            out[r, label] = spearmanr(x[both], y[both])[0]
    return out


def test_the_very_same_replicates_as_a_loop_over_scipy() -> None:
    reference, others = study(1)
    panel = rank_panel(reference, others, "median", ())
    weights = np.concatenate(list(draw_weights(np.random.default_rng(2), 50, 40)))
    found = replicates_over_units(panel, weights)
    for row, weight in zip(found, weights, strict=True):
        items = np.repeat(np.arange(50), weight.astype(int))
        np.testing.assert_allclose(row, plain(reference, others, items), atol=1e-12)


def test_few_levels_are_counted_into_tables_to_the_same_end() -> None:
    rng = np.random.default_rng(5)
    truth = rng.normal(0, 1, (3, 120))
    reference = np.clip(np.rint(truth), -1, 1)
    # Three levels, two levels with gaps, many levels, and one answer throughout.
    others = truth + rng.normal(0, 1, (4, 3, 120))
    others[0] = np.clip(np.rint(others[0]), -1, 1)
    others[1] = others[1] > 0
    others[1][rng.random((3, 120)) < 0.3] = np.nan
    others[3] = 2.0
    reference[0, :9] = np.nan
    panel = rank_panel(reference, others, "median", ())
    weights = np.concatenate(list(draw_weights(np.random.default_rng(2), 120, 30)))
    found = replicates_over_units(panel, weights)
    for row, weight in zip(found, weights, strict=True):
        items = np.repeat(np.arange(120), weight.astype(int))
        np.testing.assert_allclose(row, plain(reference, others, items), atol=1e-12)


def test_means_intervals_and_counts() -> None:
    reference, others = study(3)
    table = mean_spearman(reference, others, n_boot=300, seed=1)
    point = plain(reference, others, np.arange(50))
    np.testing.assert_allclose(table.frame["value"], point.mean(axis=1), atol=1e-12)
    panel = rank_panel(reference, others, "median", ())
    weights = np.concatenate(list(draw_weights(np.random.default_rng(1), 50, 256)))
    first = replicates_over_units(panel, weights).mean(axis=2)
    drawn = mean_spearman(reference, others, n_boot=300, interval="percentile", seed=1)
    assert drawn.frame["se"].to_numpy() == pytest.approx(first.std(axis=0, ddof=1), rel=0.15)
    each = np.delete(np.arange(50)[None].repeat(50, axis=0).ravel(), np.arange(50) * 51)
    left_out = [plain(reference, others, items).mean(axis=1) for items in each.reshape(50, 49)]
    error = np.std(left_out, axis=0) * np.sqrt(49)
    assert table.frame["se"].to_numpy() == pytest.approx(error)
    assert (table.frame["low"] < table.frame["value"]).all()
    assert (table.frame["high"] > table.frame["value"]).all()
    assert table["0"].n_items == 50
    assert table["0"].n_ratings == 195
    assert table["0"].target == "stimuli"
    by_label = mean_spearman(reference, others, by_label=True, n_boot=50, seed=1)
    assert by_label["1", "2"].value == pytest.approx(point[1, 2], abs=1e-12)
    assert by_label["2", "3"].n_items == (~np.isnan(others[2, 3])).sum()


def test_same_seed_same_bytes() -> None:
    reference, others = study(4)
    first, second, other = (
        mean_spearman(reference, others, n_boot=60, interval="percentile", seed=seed).frame
        for seed in (9, 9, 8)
    )
    assert first.equals(second)
    assert not first.equals(other)


def test_labels_can_be_resampled() -> None:
    reference, others = study(5)
    table = mean_spearman(
        reference, others, n_boot=400, target="labels", interval="percentile", seed=1
    )
    point = plain(reference, others, np.arange(50))
    expected = point.std(axis=1) / 2  # four labels drawn: SD of the mean is SD / sqrt(4)
    assert table.frame["se"].to_numpy() == pytest.approx(expected, rel=0.15)
    with pytest.raises(InputError, match="cannot be drawn"):
        mean_spearman(reference, others, n_boot=5, target="labels", by_label=True)


def long(values: np.ndarray, kind: str, labels: str = "abcd") -> Ratings:
    rater, label, unit = np.nonzero(~np.isnan(values))
    return Ratings(
        pl.DataFrame(
            {
                "stimulus": [f"s{k}" for k in unit],
                "rater": [f"{kind}{k}" for k in rater],
                "label": [labels[k] for k in label],
                "value": values[rater, label, unit],
            }
        ),
        scale="-20-20 interval",
    )


def test_ratings_are_matched_by_name_and_aggregated() -> None:
    rng = np.random.default_rng(6)
    people = rng.integers(0, 6, (3, 4, 30)).astype(float)
    people[2, :, 10:] = np.nan
    models = rng.normal(size=(2, 4, 30))
    backwards = long(models[:, ::-1, :], "model", "dcba")
    for aggregate, center in (("median", np.nanmedian), ("mean", np.nanmean)):
        table = mean_spearman(long(people, "person"), backwards, aggregate=aggregate, exclude=["c"])
        point = plain(center(people, axis=0), models, np.arange(30))[:, [0, 1, 3]]
        np.testing.assert_allclose(table.frame["value"], point.mean(axis=1), atol=1e-12)
        assert table.frame["n_raters"].to_list() == [3, 3]
        assert table.frame["n_labels"].to_list() == [3, 3]


def test_undefined_correlations_are_said() -> None:
    table = mean_spearman([[1, 2, 3], [1, 1, 1]], [[[1, 2, 4], [1, 2, 3]], [[5, 5, 5], [1, 2, 3]]])
    assert table["0"].value == pytest.approx(1)
    assert table.frame["n_undefined"].to_list() == [1, 2]
    assert table["1"].reason == Reason(Cause.NONE, of=DEFINED_LABEL)
    few = mean_spearman([[1, 2, 3]], [[[1, np.nan, np.nan]]], by_label=True)
    assert few["0", "0"].reason == Reason(Cause.FEWER, least=2, of="shared stimuli")


@pytest.mark.parametrize(
    ("reference", "others", "message"),
    [
        ([[1, 2]], [[1, 2]], "shape"),
        ([[1, 2]], [[[1, np.inf]]], "infinite"),
    ],
)
def test_bad_input(reference: object, others: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        mean_spearman(reference, others)


def test_bad_options() -> None:
    reference, others = study(7)
    for options, message in (
        ({"target": "raters"}, "target"),
        ({"aggregate": "mode"}, "aggregate"),
        ({"interval": "basic"}, "interval"),
        ({"n_boot": -1}, "n_boot"),
        ({"exclude": ["z"]}, "label"),
    ):
        with pytest.raises(InputError, match=message):
            mean_spearman(reference, others, **options)
    with pytest.raises(InputError, match="no label"):
        mean_spearman(long(others, "a", "wxyz"), long(others, "b", "abcd"))
