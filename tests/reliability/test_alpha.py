from __future__ import annotations

import json
import math
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.ratings import Ratings
from affectlab.reliability import krippendorff_alpha
from affectlab.reliability.agreement.wording import PAIRED_UNIT

LEVELS = ("nominal", "ordinal", "interval", "ratio")
KNOWN = json.loads((Path(__file__).parents[1] / "data" / "krippendorff_alpha.json").read_text())
NAN = math.nan

tables = arrays(
    np.float64,
    st.tuples(st.integers(2, 5), st.integers(1, 12)),
    elements=st.sampled_from([NAN, NAN, 0.0, 1.0, 2.0, 3.0, 7.0]),
)


def known_table(k: int) -> np.ndarray:
    return np.array(KNOWN["tables"][k]["ratings"], dtype=float)


def full_panel(seed: int, raters: int = 5, units: int = 9, share: float = 0.3) -> np.ndarray:
    """Ratings 0..4 with gaps, at least two ratings in every unit."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 5, (raters, units)).astype(float)
    gaps = rng.random((raters, units)) < share
    gaps[:2] = False
    matrix[gaps] = NAN
    return matrix


class TestKnownAnswers:
    @pytest.mark.parametrize("level", LEVELS)
    @pytest.mark.parametrize("table", KNOWN["tables"], ids=lambda t: t["name"])
    def test_printed_values(self, table, level):
        result = krippendorff_alpha(
            np.array(table["ratings"], dtype=float), level=level, target="sample"
        )
        assert result.value == pytest.approx(table["alpha"][level], abs=1e-6)
        assert (result.statistic, result.options) == ("Krippendorff's alpha", (level,))
        assert (result.n_items, result.n_ratings) == (table["n_items"], table["n_ratings"])
        assert result.target == "none"

    def test_counts_cover_pairable_units_only(self):
        result = krippendorff_alpha(
            [[1, 2, NAN, 3], [1, 3, NAN, NAN], [NAN, NAN, 4, NAN]], level="nominal"
        )
        assert (result.n_items, result.n_raters, result.n_ratings) == (2, 2, 4)


class TestUndefined:
    @pytest.mark.parametrize("level", LEVELS)
    def test_one_category(self, level):
        result = krippendorff_alpha(
            [[3, 3, 3], [3, 3, 3]],
            level=level,
            n_boot=20,
            seed=1,
            interval="percentile",
            target="stimuli",
        )
        assert math.isnan(result.value)
        assert math.isnan(result.low)
        assert result.reason == Reason(Cause.ONE_CATEGORY)

    @pytest.mark.parametrize("level", LEVELS)
    def test_no_unit_with_two_ratings(self, level):
        result = krippendorff_alpha(
            [[1, NAN], [NAN, 2]],
            level=level,
            n_boot=20,
            seed=1,
            interval="percentile",
            target="stimuli",
        )
        assert math.isnan(result.value)
        assert result.reason == Reason(Cause.NONE, of=PAIRED_UNIT)
        assert (result.n_items, result.n_raters, result.n_ratings) == (0, 0, 0)

    def test_nothing_at_all(self):
        assert not krippendorff_alpha(np.empty((3, 0)), level="nominal").ok
        assert not krippendorff_alpha(
            np.full((3, 4), NAN), level="ordinal", n_boot=5, interval="percentile", target="stimuli"
        ).ok

    @pytest.mark.parametrize("level", LEVELS)
    def test_replicates_without_a_second_category_are_counted(self, level):
        matrix = [[1, 1, 1, 2], [1, 1, 1, 1]]
        result = krippendorff_alpha(
            matrix, level=level, n_boot=200, seed=3, interval="percentile", target="stimuli"
        )
        # A replicate misses the one informative unit with probability (3/4)^4 = .316: those left
        # are no fair sample, so they carry no interval.
        assert 40 <= result.interval.undefined <= 90
        assert math.isnan(result.low)
        assert result.reason == Reason(Cause.UNDEFINED_REPLICATES)

    @pytest.mark.parametrize("level", LEVELS)
    def test_few_undefined_replicates_leave_an_interval(self, level):
        matrix = [[1, 1, 1, 2, 2, 2, 1, 2], [1, 1, 2, 2, 2, 2, 1, 1]]
        result = krippendorff_alpha(
            matrix, level=level, n_boot=2000, seed=3, interval="percentile", target="stimuli"
        )
        assert math.isfinite(result.low)
        assert result.low < result.value < result.high


class TestHostileInput:
    def test_unsigned_integers_do_not_wrap_around(self):
        signed = np.array([[0, 5, 250, 3], [2, 4, 255, 0]])
        for level in LEVELS:
            expected = krippendorff_alpha(signed.astype(float), level=level).value
            assert krippendorff_alpha(signed.astype(np.uint8), level=level).value == expected

    def test_minus_one_is_a_value(self):
        matrix = np.array([[-1, 0, 1, 1], [-1, 0, 1, 0]])
        result = krippendorff_alpha(matrix, level="interval")
        assert result.n_ratings == 8
        assert result.value == pytest.approx(krippendorff_alpha(matrix + 1, level="interval").value)

    @pytest.mark.parametrize("level", LEVELS)
    def test_memory_is_not_quadratic_in_distinct_values(self, level):
        rng = np.random.default_rng(0)
        matrix = np.rint(rng.normal(500, 120, 3000) + rng.normal(0, 40, (4, 3000)))
        assert np.unique(matrix).size > 300
        krippendorff_alpha(matrix[:, :50], level=level)
        tracemalloc.start()
        result = krippendorff_alpha(
            matrix, level=level, n_boot=50, seed=1, interval="percentile", target="stimuli"
        )
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert 0 < result.value < 1
        assert peak < 150e6  # units x values x values would be 2 GB and more

    def test_masked_arrays_keep_their_gaps(self):
        data = np.array([[1, 2, 3], [1, 9, 3]])
        masked = np.ma.masked_array(data, data == 9)
        assert krippendorff_alpha(masked, level="nominal").n_ratings == 4

    @pytest.mark.parametrize(
        ("data", "options", "words"),
        [
            ([1, 2, 3], {"level": "nominal"}, "shape"),
            ([["a", "b"], ["a", "c"]], {"level": "nominal"}, "numbers"),
            ([[1, math.inf], [1, 2]], {"level": "nominal"}, "infinite"),
            ([[1, 2], [1, 2]], {}, "level"),
            ([[1, 2], [1, 2]], {"level": "ordnal"}, "did you mean 'ordinal'"),
            ([[1, 2], [1, 2]], {"level": "nominal", "target": "rater"}, "'raters'"),
            ([[1, 2], [1, 2]], {"level": "nominal", "n_boot": -1}, "n_boot -1"),
            ([[1, 2], [1, 2]], {"level": "nominal", "confidence": 95}, "confidence 95"),
            ([[1, 2], [1, 2]], {"level": "nominal", "interval": "percentil"}, "percentile"),
            ([[1, 2], [1, 2]], {"level": "nominal", "distance": [[0.0]]}, "not both"),
            ([[0, 2], [1, 2]], {"distance": [[0, 1], [1, 0]]}, "value 2"),
            ([[0, 1], [1, 1]], {"distance": [[1, 2], [2, 1]]}, "diagonal"),
            ([[0, 1], [1, 1]], {"distance": [[0, 2], [1, 0]]}, "symmetric"),
            ([[0, 1], [1, 1]], {"distance": [[0, 2, 1], [1, 0, 1]]}, "square"),
        ],
    )
    def test_bad_arguments_are_named(self, data, options, words):
        with pytest.raises(InputError, match=words):
            krippendorff_alpha(data, **options)


class TestDistance:
    @given(tables)
    @settings(max_examples=50, deadline=None)
    def test_a_matrix_gives_the_levels_back(self, matrix):
        grid = np.arange(8.0)
        square = np.subtract.outer(grid, grid) ** 2
        for level, distance in (("nominal", (square > 0) * 1.0), ("interval", square)):
            expected = krippendorff_alpha(matrix, level=level).value
            result = krippendorff_alpha(matrix, distance=distance)
            assert result.value == pytest.approx(expected, abs=1e-10, nan_ok=True)

    def test_a_function_is_a_distance(self):
        matrix = known_table(1)
        result = krippendorff_alpha(
            matrix,
            distance=lambda c, k: np.abs(c - k),
            n_boot=50,
            seed=1,
            interval="percentile",
            target="stimuli",
        )
        assert krippendorff_alpha(matrix, level="nominal").value < result.value < 0.849107
        assert result.options == ("given distance",)

    def test_over_the_categories_of_a_nominal_scale(self):
        frame = pl.DataFrame(
            {
                "stimulus": ["a", "a", "b", "b", "c", "c"],
                "rater": ["p", "q"] * 3,
                "value": [0.0, 1.0, 2.0, 2.0, 1.0, 0.0],
            }
        )
        ratings = Ratings(frame, scale="nominal:joy,awe,fear")
        near = krippendorff_alpha(ratings, distance=[[0, 1, 5], [1, 0, 5], [5, 5, 0]])
        far = krippendorff_alpha(ratings, distance=[[0, 5, 1], [5, 0, 1], [1, 1, 0]])
        assert near["rating"].value > far["rating"].value
        with pytest.raises(InputError, match="3 values of the scale, got 2"):
            krippendorff_alpha(ratings, distance=[[0, 1], [1, 0]])

    def test_a_linear_pair_of_labels_follows_the_scale(self):
        frame = pl.DataFrame(
            {
                "stimulus": ["a", "a", "b", "b"],
                "rater": ["p", "q"] * 2,
                "value": [0.1, 0.3, 0.2, 0.2],
            }
        )
        ratings = Ratings(frame, scale="0-0.3 step 0.1")
        grid = np.arange(4.0)
        result = krippendorff_alpha(ratings, distance=np.subtract.outer(grid, grid) ** 2)["rating"]
        assert result.value == pytest.approx(
            krippendorff_alpha(ratings, level="interval")["rating"].value, abs=1e-9
        )


def panel(seed: int = 0, labels: int = 3, units: int = 60, raters: int = 6) -> Ratings:
    """Ratings 0..7 of some raters per stimulus, with a true value behind each."""
    rng = np.random.default_rng(seed)
    rows = []
    for u in range(units):
        truth = rng.normal(3.5, 1.5, labels)
        for r in rng.permutation(raters)[:4]:
            given = np.clip(np.rint(truth + rng.normal(0, 1, labels)), 0, 7)
            rows += [(f"s{u}", f"r{r}", f"label {k}", given[k]) for k in range(labels)]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    return Ratings(frame, scale="0-7")


class TestBootstrap:
    @pytest.mark.parametrize("target", ["stimuli", "raters", "both"])
    def test_same_seed_same_bytes(self, target):
        ratings = panel()
        first, second = (
            krippendorff_alpha(
                ratings, n_boot=50, target=target, seed=11, interval="percentile"
            ).to_frame()
            for _ in range(2)
        )
        assert first.equals(second)
        other = krippendorff_alpha(
            ratings, n_boot=50, target=target, seed=12, interval="percentile"
        ).to_frame()
        assert not first.equals(other)
        assert set(first["target"]) == {target.replace("stimuli", "stimuli")}

    @pytest.mark.long
    @pytest.mark.parametrize("level", LEVELS)
    def test_replicates_are_those_of_explicit_resampling(self, level):
        matrix = full_panel(5, raters=4, units=30)
        spread = krippendorff_alpha(
            matrix, level=level, n_boot=3000, seed=1, interval="percentile", target="stimuli"
        )
        rng = np.random.default_rng(2)
        plain = [
            krippendorff_alpha(matrix[:, rng.integers(0, 30, 30)], level=level).value
            for _ in range(600)
        ]
        assert spread.se == pytest.approx(np.std(plain), rel=0.12)
        assert spread.low == pytest.approx(np.quantile(plain, 0.025), abs=0.04)
        assert spread.high == pytest.approx(np.quantile(plain, 0.975), abs=0.04)

    def test_the_point_lies_within_and_confidence_widens(self):
        ratings = panel()
        narrow = krippendorff_alpha(
            ratings, n_boot=400, seed=1, confidence=0.5, interval="percentile", target="stimuli"
        )["label 0"]
        wide = krippendorff_alpha(
            ratings, n_boot=400, seed=1, confidence=0.99, interval="percentile", target="stimuli"
        )["label 0"]
        assert wide.low < narrow.low < narrow.value < narrow.high < wide.high
        assert wide.se == narrow.se

    def test_joint_replicates_share_units_across_labels(self):
        ratings = panel(labels=1)
        doubled = Ratings(
            pl.concat(
                [
                    ratings.to_frame().with_columns(pl.lit(name).alias("label"))
                    for name in ("one", "two")
                ]
            ),
            scale="0-7",
        )
        joint = krippendorff_alpha(
            doubled, n_boot=100, seed=1, interval="percentile", target="stimuli"
        )
        assert joint["one"].low == joint["two"].low
        apart = krippendorff_alpha(
            doubled, n_boot=100, seed=1, joint=False, interval="percentile", target="stimuli"
        )
        assert apart["one"].low != apart["two"].low

    def test_raters_and_units_are_wider_than_either(self):
        ratings = panel(seed=4, labels=1, units=150, raters=5)
        se = {
            name: krippendorff_alpha(
                ratings, n_boot=400, target=name, seed=1, interval="percentile"
            )["label 0"].se
            for name in ("stimuli", "raters", "both")
        }
        assert se["both"] > max(se["stimuli"], se["raters"])

    def test_intervals_over_units_cover(self):
        rng = np.random.default_rng(0)
        covered = 0
        for _ in range(200):
            truth = rng.normal(size=60)
            matrix = truth + rng.normal(size=(3, 60))
            spread = krippendorff_alpha(
                matrix,
                level="interval",
                n_boot=300,
                seed=rng,
                interval="percentile",
                target="stimuli",
            )
            covered += spread.low <= 0.5 <= spread.high
        # Variance 1 of truth and 1 of error: alpha is 1/2. Percentile intervals run a little short.
        assert 0.87 <= covered / 200 <= 0.99

    @pytest.mark.parametrize("level", LEVELS)
    def test_wide_statistics_equal_narrow_ones(self, level, monkeypatch):
        ratings = panel(seed=9)
        dense = krippendorff_alpha(
            ratings, level=level, n_boot=60, seed=1, interval="percentile", target="stimuli"
        ).to_frame()
        monkeypatch.setattr("affectlab.reliability.agreement.alpha_levels._DENSE_COLUMNS", 0)
        monkeypatch.setattr("affectlab.reliability.agreement.alpha_levels._MOST_ORDINAL_VALUES", 0)
        monkeypatch.setattr("affectlab.reliability.agreement.alpha._BLOCK", 500)
        thin = krippendorff_alpha(
            ratings, level=level, n_boot=60, seed=1, interval="percentile", target="stimuli"
        ).to_frame()
        for column in ("value", "se", "low", "high"):
            np.testing.assert_allclose(thin[column], dense[column], rtol=1e-9)


def test_raters_that_share_no_unit_of_a_label_can_be_left_out():
    rng = np.random.default_rng(5)
    labels = {"joy": "abcd", "fear": "ab", "anger": "abc"}
    rows = [
        (f"{label}{item}", rater, label, float(rng.integers(2)))
        for label, raters in labels.items()
        for item in range(12)
        for rater in raters
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    together = krippendorff_alpha(Ratings(frame, scale="binary"), target="raters")
    for label in ("joy", "anger"):
        alone = Ratings(frame.filter(pl.col("label") == label), scale="binary")
        assert krippendorff_alpha(alone, target="raters")[label].low == together[label].low


class TestRatings:
    def test_level_follows_the_scale(self):
        ratings = panel()
        ordinal = krippendorff_alpha(ratings, target="sample")["label 1"]
        assert ordinal.options == ("ordinal",)
        binary = Ratings(
            pl.DataFrame({"stimulus": ["a", "a"], "rater": ["p", "q"], "value": [0, 1]}),
            scale="binary",
        )
        assert krippendorff_alpha(binary, target="sample")["rating"].options == ("nominal",)

    def test_a_label_equals_its_matrix(self):
        ratings = panel()
        for level in LEVELS:
            result = krippendorff_alpha(ratings, level=level)
            for name in ratings.label_names:
                expected = krippendorff_alpha(ratings.matrix(name), level=level)
                assert result[name].value == pytest.approx(expected.value, abs=1e-12)
                assert result[name].n_ratings == expected.n_ratings

    def test_pooled_units_are_stimulus_and_label(self):
        ratings = panel()
        pooled = krippendorff_alpha(
            ratings,
            level="interval",
            by_label=False,
            n_boot=100,
            seed=1,
            interval="percentile",
            target="stimuli",
        )["pooled"]
        matrix = np.concatenate([ratings.matrix(name) for name in ratings.label_names], axis=1)
        assert pooled.value == pytest.approx(
            krippendorff_alpha(matrix, level="interval").value, abs=1e-12
        )
        assert (pooled.n_items, pooled.n_ratings) == (180, 720)
        assert "pooled over labels" in pooled.options
        assert pooled.low < pooled.value < pooled.high

    def test_only_first_main_answers_count(self):
        frame = pl.DataFrame(
            {
                "stimulus": ["a", "a", "b", "b", "a", "b", "b"],
                "rater": ["p", "q", "p", "q", "p", "q", "p"],
                "value": [1.0, 1.0, 2.0, 2.0, 7.0, 0.0, None],
                "trial_kind": ["main"] * 5 + ["repeat", "golden"],
                "session": ["1"] * 4 + ["2"] * 3,
            }
        )
        result = krippendorff_alpha(Ratings(frame, scale="0-7"))["rating"]
        assert result.value == 1.0
        assert result.n_ratings == 4

    def test_a_label_without_pairs_says_so_among_others(self):
        frame = pl.DataFrame(
            {
                "stimulus": ["a", "a", "b", "b", "a", "b"],
                "rater": ["p", "q", "p", "q", "p", "q"],
                "label": ["joy"] * 4 + ["awe"] * 2,
                "value": [1, 2, 5, 5, 3, 4],
            }
        )
        result = krippendorff_alpha(
            Ratings(frame, scale="0-7"), n_boot=30, seed=1, interval="percentile", target="stimuli"
        )
        assert result["joy"].ok
        assert result["awe"].reason == Reason(Cause.NONE, of=PAIRED_UNIT)

    def test_text_is_refused(self):
        frame = pl.DataFrame({"stimulus": ["a"], "rater": ["p"], "text": ["oh"]})
        with pytest.raises(InputError, match="text"):
            krippendorff_alpha(Ratings(frame, scale="text"))
