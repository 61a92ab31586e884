from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.reliability import (
    mean_opinion_scores,
    opinion_histogram,
    percent_agreement,
    self_consistency,
)

NAN = math.nan

tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 10)),
    elements=st.sampled_from([NAN, NAN, 1.0, 2.0, 4.5, 1e6]),
)


class TestMeanOpinionScores:
    @given(tables)
    @settings(max_examples=80, deadline=None)
    def test_equals_numpy_and_scipy(self, matrix):
        table = mean_opinion_scores(matrix)
        frame = {row["stimulus"]: row for row in table.to_frame().iter_rows(named=True)}
        for unit in range(matrix.shape[1]):
            given_ = matrix[~np.isnan(matrix[:, unit]), unit]
            if given_.size == 0:
                assert str(unit) not in frame
                continue
            row = frame[str(unit)]
            assert row["value"] == pytest.approx(given_.mean())
            assert row["n_ratings"] == row["n_raters"] == given_.size
            if given_.size == 1:
                assert math.isnan(row["sd"])
                assert math.isnan(row["low"])
                assert row["status"] == "ok"
                continue
            assert row["sd"] == pytest.approx(given_.std(ddof=1), abs=1e-9)
            if np.ptp(given_) == 0:
                assert math.isnan(row["se"])
                assert math.isnan(row["low"])
            else:
                assert row["se"] == pytest.approx(stats.sem(given_), abs=1e-9)
                low, high = stats.t.interval(0.95, given_.size - 1, given_.mean(), row["se"])
                assert (row["low"], row["high"]) == pytest.approx((low, high))

    def test_labels_and_repeats(self):
        frame = pl.DataFrame(
            {
                "stimulus": ["a", "a", "a", "b"],
                "rater": ["p", "p", "q", "q"],
                "label": ["joy", "joy", "joy", "awe"],
                "value": [1.0, 3.0, 5.0, 2.0],
                "session": ["1", "2", "1", "1"],
            }
        )
        table = mean_opinion_scores(Ratings(frame, scale="0-7"))
        assert len(table) == 2
        score = table["joy", "a"]
        assert (score.value, score.n_ratings, score.n_raters) == (3.0, 3, 2)

    def test_interval_covers(self):
        rng = np.random.default_rng(0)
        frame = mean_opinion_scores(rng.normal(2, 1, (5, 2000))).to_frame()
        covered = ((frame["low"] <= 2) & (frame["high"] >= 2)).mean()
        assert 0.93 <= covered <= 0.97

    def test_no_ratings(self):
        assert len(mean_opinion_scores(np.full((2, 2), NAN))) == 0


class TestOpinionHistogram:
    def test_every_level_is_there(self):
        table = opinion_histogram([[1, 5], [1, NAN], [3, NAN]], scale="1-5")
        first = table.filter(pl.col("stimulus") == "0")
        assert first["low"].to_list() == [1, 2, 3, 4, 5]
        assert first["count"].to_list() == [2, 0, 1, 0, 0]
        assert first["share"].sum() == pytest.approx(1)
        assert table["count"].sum() == 4

    def test_bins_of_a_scale_without_steps(self):
        matrix = np.array([[0.0, 9.99, 10.0, 55.0, 100.0]])
        table = opinion_histogram(matrix, scale="0-100 interval", by_stimulus=False)
        assert table["count"].to_list() == [2, 1, 0, 0, 0, 1, 0, 0, 0, 1]
        assert table["high"].to_list()[-1] == 100
        expected = np.histogram(matrix, bins=4, range=(0, 100))[0]
        coarse = opinion_histogram(matrix, scale="0-100 interval", bins=4, by_stimulus=False)
        assert coarse["count"].to_list() == expected.tolist()

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({}, "scale"),
            ({"scale": "interval"}, "low and a high"),
            ({"scale": "1-3"}, "rater '0', stimulus '1': value 5 is off"),
            ({"scale": "0-9 interval", "bins": 0}, "bins = 0"),
        ],
    )
    def test_bad_arguments_are_named(self, options, words):
        with pytest.raises(InputError, match=words):
            opinion_histogram([[1, 5]], **options)


class TestPercentAgreement:
    @given(tables, st.sampled_from([0.0, 1.0, 3.0]))
    @settings(max_examples=80, deadline=None)
    def test_equals_loops(self, matrix, tolerance):
        shares = []
        for unit in matrix.T:
            x = unit[~np.isnan(unit)]
            pairs = [abs(a - b) <= tolerance for i, a in enumerate(x) for b in x[i + 1 :]]
            if pairs:
                shares.append(np.mean(pairs))
        result = percent_agreement(
            matrix, tolerance=tolerance, interval="analytic", target="stimuli"
        )
        assert result.n_items == len(shares)
        if shares:
            assert result.value == pytest.approx(np.mean(shares))
        else:
            assert result.status == "undefined: no unit with two ratings"
        if len(shares) > 1 and np.ptp(shares) < 1e-9:
            assert math.isnan(result.se)
            assert math.isnan(result.low)
        elif len(shares) > 1:
            assert result.se == pytest.approx(stats.sem(shares), abs=1e-12)
            assert 0 <= result.low <= result.value <= result.high <= 1

    def test_negative_tolerance(self):
        with pytest.raises(InputError, match="tolerance = -1"):
            percent_agreement([[1], [1]], tolerance=-1)


def repeated(values: dict[str, list[tuple[float, float | None]]]) -> Ratings:
    rows = []
    for rater, pairs in values.items():
        for k, (main, repeat) in enumerate(pairs):
            rows.append((f"s{k}", rater, main, "main"))
            if repeat is not None:
                rows.append((f"s{k}", rater, repeat, "repeat"))
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "value", "trial_kind"], orient="row")
    return Ratings(frame, scale="0-100 interval")


class TestSelfConsistency:
    def test_equals_scipy(self):
        rng = np.random.default_rng(0)
        main = rng.uniform(20, 80, 30)
        again = main + rng.normal(0, 8, 30)
        table = self_consistency(repeated({"p": list(zip(main, again, strict=True))}))
        difference = table["p", "absolute difference"]
        assert difference.value == pytest.approx(np.abs(main - again).mean())
        assert difference.se == pytest.approx(stats.sem(np.abs(main - again)))
        assert (difference.n_items, difference.n_ratings) == (30, 60)
        correlation = table["p", "correlation"]
        assert correlation.value == pytest.approx(stats.spearmanr(main, again).statistic)
        assert correlation.low < correlation.value < correlation.high

    def test_undefined(self):
        table = self_consistency(
            repeated({"p": [(10, None)], "q": [(10, 14), (20, None)], "r": [(5, 6), (5, 7)]})
        )
        assert table["p", "absolute difference"].status == "undefined: no repeats"
        assert table["p", "correlation"].status == "undefined: no repeats"
        assert table["q", "absolute difference"].value == 4
        assert table["q", "correlation"].status == "undefined: one repeat"
        assert table["r", "correlation"].status == "undefined: constant ratings"

    def test_labels_are_kept_apart(self):
        frame = pl.DataFrame(
            {
                "stimulus": ["a"] * 4,
                "rater": ["p"] * 4,
                "label": ["joy", "awe", "joy", "awe"],
                "value": [1.0, 6.0, 2.0, 4.0],
                "trial_kind": ["main", "main", "repeat", "repeat"],
            }
        )
        table = self_consistency(Ratings(frame, scale="0-7"))
        assert table["p", "absolute difference"].value == 1.5

    def test_ratings_without_repeats(self):
        frame = pl.DataFrame({"stimulus": ["a"], "rater": ["p"], "value": [1.0]})
        table = self_consistency(Ratings(frame, scale="0-7"))
        assert set(table.to_frame()["status"]) == {"undefined: no repeats"}

    def test_text_is_refused(self):
        frame = pl.DataFrame({"stimulus": ["a"], "rater": ["p"], "text": ["oh"]})
        with pytest.raises(InputError, match="text"):
            self_consistency(Ratings(frame, scale="text"))
