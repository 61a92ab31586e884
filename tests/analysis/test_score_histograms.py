"""Histograms of scores and their errors, against NumPy and by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy.stats import skew
from tests.analysis.pair_tables import designed, inter_pair, intra_pair, table_of

from affectlab.analysis import pair_scores, score_histograms
from affectlab.analysis.expressions.wording import NO_ERRORS, Errors, errors_text, shared_errors
from affectlab.core.errors import InputError
from affectlab.ratings import Ratings


def test_groups_are_counted_as_numpy_counts() -> None:
    truth = designed(4, 8, 2, noise=5, common=5, per_actor={1: 6, 2: 7})
    found = score_histograms(truth.table)
    kinds = {
        "intra": pl.col("kind") == "intra",
        "inter": pl.col("kind") == "inter",
        "intra and inter": pl.lit(True),
    }
    for histogram, column in (("scores", "value"), ("errors", "se")):
        assert list(found.of(histogram)) == list(kinds)
        for name, mask in kinds.items():
            bins = found.of(histogram)[name]
            values = truth.table.filter(mask)[column].to_numpy()
            edges = [*bins["low"], bins["high"][-1]]
            np.testing.assert_array_equal(bins["count"], np.histogram(values, edges)[0])
            assert bins["count"].sum() == values.size
            assert bins["share"].sum() == pytest.approx(1)
            row = found.summary.filter(histogram=histogram, group=name).row(0, named=True)
            assert row["skew"] == pytest.approx(skew(values))
            assert (row["n"], row["mean"]) == (values.size, pytest.approx(values.mean()))
            assert row["sd"] == pytest.approx(values.std(ddof=1))
    se = truth.table["se"].to_numpy()
    assert found.quartiles == pytest.approx(np.quantile(se, [0.25, 0.5, 0.75]))
    assert found.mean_error == pytest.approx(se.mean())


def test_quartile_groups_hold_their_lower_bound() -> None:
    rows = [intra_pair("a", f"e{k}", "peak", "neutral", 10.0 * k, se=float(k)) for k in range(1, 6)]
    found = score_histograms(table_of(rows), bins=[0, 15, 25, 35, 45, 55])
    assert found.quartiles == (2, 3, 4)
    groups = {name: bins["count"].to_list() for name, bins in found.of("scores by error").items()}
    assert groups == {
        "error < 2.00": [1, 0, 0, 0, 0],
        "2.00 ≤ error < 3.00": [0, 1, 0, 0, 0],
        "3.00 ≤ error < 4.00": [0, 0, 1, 0, 0],
        "error ≥ 4.00": [0, 0, 0, 1, 1],
    }


def test_actors_are_compared_on_transitions_that_all_have() -> None:
    """Pairs of two expressions differ from actor to actor, and do not count here."""
    rows = [
        intra_pair("a", "joy", "peak", "neutral", 10.0),
        intra_pair("a", "fear", "peak", "neutral", 90.0),
        inter_pair("a", "joy", "awe", 90.0),
        inter_pair("b", "awe", "joy", 5.0),
        intra_pair("b", "joy", "peak", "neutral", 30.0),
    ]
    found = score_histograms(table_of(rows), bins=[0, 20, 100])
    assert found.shared == ("joy",)
    counts = {name: bins["count"].to_list() for name, bins in found.of("scores by actor").items()}
    assert counts == {"a": [1, 0], "b": [0, 1]}
    assert found.notes == (NO_ERRORS,)
    assert found.of("errors") == {}
    assert math.isnan(found.mean_error)
    assert found.sentences == (errors_text(5, math.nan, (math.nan,) * 3, None),)


def test_errors_are_those_of_each_pair() -> None:
    """Pairs in the middle of the scale are ambiguous: those with small errors are extreme.

    The error of the subject model follows from the raters, so it is the same for all pairs here.
    """
    rng = np.random.default_rng(0)
    truth = rng.uniform(2, 98, 300)
    sd = np.where(np.abs(truth - 50) < 24, 20.0, 5.0)
    answers = np.clip(truth + rng.normal(0, sd, (20, 300)) + rng.normal(0, 3, (20, 1)), 0, 100)
    pairs = [intra_pair("a", f"e{k}", "peak", "neutral", float(v)) for k, v in enumerate(truth)]
    table = table_of(pairs)
    long = [table.with_columns(value=one, rater=pl.lit(f"r{k}")) for k, one in enumerate(answers)]
    scores = pair_scores(Ratings(pl.concat(long), scale="0-100 interval"))
    assert scores.frame["se"].n_unique() == 1
    found = score_histograms(scores)
    assert found.errors is Errors.OF_PAIRS
    joined = scores.frame.join(table.select("stimulus", truth="value"), on="stimulus")
    groups = list(found.of("scores by error").values())
    extreme = []
    for bins in groups:
        middle = (bins["low"] + bins["high"]) / 2
        extreme.append(float((bins["share"] * (middle - 50).abs()).sum()))
    assert extreme[0] > 30 > 20 > extreme[-1]
    assert found.mean_error == pytest.approx(joined["se_stimulus"].to_numpy().mean())
    # A table that has nothing but the model's errors is told that they are no pairs' own.
    alone = score_histograms(scores.frame.drop("se_stimulus"))
    assert alone.errors is Errors.GIVEN
    assert shared_errors(1, 300) in alone.notes


@given(st.lists(st.floats(-50, 150), min_size=1, max_size=30), st.integers(1, 12))
@example([1.9999999999999716], 1)
@example([0.1, 0.30000000000000004], 3)
@settings(max_examples=40)
def test_no_value_is_lost(values: list[float], bins: int) -> None:
    table = table_of([intra_pair("a", f"e{k}", "peak", "neutral", v) for k, v in enumerate(values)])
    for given_bins in (None, bins):
        own = score_histograms(table, bins=given_bins).of("scores")["intra"]
        assert own["count"].sum() == len(values)
        assert (own["low"][1:] == own["high"][:-1]).all()
    assert score_histograms(table).of("scores")["intra"].height <= 23


def test_round_edges() -> None:
    rows = [intra_pair("a", f"e{k}", "peak", "neutral", v) for k, v in enumerate((1.88, 87.5))]
    bins = score_histograms(table_of(rows)).of("scores")["intra"]
    assert (bins["low"][0], bins["high"][-1]) == (0, 90)
    assert set(np.round(bins["high"] - bins["low"], 9)) == {5.0}


@pytest.mark.parametrize(
    ("bins", "sentence"),
    [
        (0, "bins 0: expected 1 to 1,000 bins"),
        ([0, 50], "90 lies outside the edges 0 to 50"),
        ([0, 0, 100], "the edges do not rise"),
        ([5], "the edges do not rise"),
        ("many", "expected a number of bins, or their edges"),
        ([0, math.nan, 100], "the edges do not rise"),
    ],
)
def test_bad_bins(bins, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        score_histograms(table_of([inter_pair("a", "joy", "awe", 90.0)]), bins=bins)
