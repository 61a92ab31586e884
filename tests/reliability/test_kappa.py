from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from polars.testing import assert_frame_equal

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.ratings import Ratings, Scale
from affectlab.reliability import pairwise_kappa, random_pair_kappa, weighted_kappa
from affectlab.reliability.agreement import kappa_matrix

NAN = math.nan
WEIGHTS = {
    "quadratic": lambda i, j: (i - j) ** 2,
    "linear": lambda i, j: abs(i - j),
    "nominal": lambda i, j: float(i != j),
}


def plain_kappa(a, b, weights):
    """Kappa from the definition, by loops."""
    both = [(x, y) for x, y in zip(a, b, strict=True) if not (math.isnan(x) or math.isnan(y))]
    n = len(both)
    if n == 0:
        return NAN
    w = WEIGHTS[weights]
    observed = sum(w(x, y) for x, y in both) / n
    expected = sum(w(x, y) for x, _ in both for _, y in both) / n**2
    return NAN if expected == 0 else 1 - observed / expected


tables = arrays(
    np.float64,
    st.tuples(st.integers(2, 5), st.integers(1, 15)),
    elements=st.sampled_from([NAN, 0.0, 1.0, 3.0, 7.0]),
)


def panel() -> Ratings:
    rng = np.random.default_rng(0)
    names = ["m1", "h1", "h2", "m2", "h3"]
    rows = []
    for u in range(40):
        for label in ("joy", "awe"):
            truth = rng.integers(0, 8)
            rows += [
                (f"s{u}", name, label, float(np.clip(truth + rng.integers(-2, 3), 0, 7)))
                for name in names
                if rng.random() < 0.8
            ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    kinds = {"m1": "model", "m2": "baseline", "h1": "human", "h2": "simulated", "h3": "human"}
    raters = pl.DataFrame({"rater": names, "rater_kind": [kinds[name] for name in names]})
    return Ratings(frame, scale="0-7", raters=raters)


class TestWeightedKappa:
    @given(tables, st.sampled_from(list(WEIGHTS)))
    @settings(max_examples=150, deadline=None)
    def test_every_pair_equals_the_definition(self, matrix, weights):
        table = pairwise_kappa(matrix, weights=weights, scale="0-7")
        for (_, first, second), estimate in table:
            expected = plain_kappa(matrix[int(first)], matrix[int(second)], weights)
            assert estimate.value == pytest.approx(expected, abs=1e-10, nan_ok=True)
            assert estimate.ok == (not math.isnan(expected))

    def test_the_scale_is_the_declared_one(self):
        # On three levels the same answers are 0, 1 and 2, and the weights another.
        a, b = [0, 3, 7, 0, 3, 7], [0, 3, 3, 0, 7, 7]
        declared = weighted_kappa(a, b, scale="0-7").value
        occurring = weighted_kappa(a, b, scale=[0, 3, 7]).value
        assert declared == pytest.approx(25 / 37)
        assert occurring != pytest.approx(declared, abs=0.01)

    @given(tables)
    @settings(max_examples=50, deadline=None)
    def test_symmetric(self, matrix):
        first = weighted_kappa(matrix[0], matrix[1], scale="0-7")
        second = weighted_kappa(matrix[1], matrix[0], scale="0-7")
        assert second.value == pytest.approx(first.value, abs=1e-12, nan_ok=True)
        assert second.se == pytest.approx(first.se, abs=1e-9, nan_ok=True)

    def test_perfect_and_reversed(self):
        same = weighted_kappa([0, 1, 2, 3], [0, 1, 2, 3], scale="0-3")
        assert same.value == 1.0
        # The large-sample standard error is 0 here, which is no knowledge about other items.
        assert math.isnan(same.se)
        assert math.isnan(same.low)
        turned = weighted_kappa([0, 3, 0, 3], [3, 0, 3, 0], scale="0-3")
        assert turned.value == -1.0

    def test_undefined(self):
        apart = weighted_kappa([1, NAN], [NAN, 2], scale="0-7")
        assert apart.reason == Reason(Cause.NONE, of="common stimuli")
        assert (apart.n_items, apart.n_ratings) == (0, 0)
        one = weighted_kappa([2, 2], [2, 2], scale="0-7")
        assert one.reason == Reason(Cause.ONE_CATEGORY)
        assert math.isnan(one.value)
        # One rater constant, the other not: agreement is what chance gives.
        assert weighted_kappa([2, 2, 2], [1, 2, 3], scale="0-7").value == 0.0

    @pytest.mark.parametrize("n", [15, 150])
    def test_interval_covers(self, n):
        rng = np.random.default_rng(1)
        big = rng.normal(size=200_000)
        noise = rng.normal(size=(2, big.size))
        coded = np.clip(np.rint(3.5 + 1.5 * (big + 0.7 * noise)), 0, 7)
        truth = weighted_kappa(*coded, scale="0-7").value
        covered = 0
        for start in range(0, 300 * n, n):
            part = weighted_kappa(*coded[:, start : start + n], scale="0-7")
            covered += part.low <= truth <= part.high
        assert 0.925 <= covered / 300 <= 0.99

    def test_where_nobody_shares_the_rarer_answer_the_interval_says_so(self):
        first, second = np.zeros((2, 40))
        first[:5] = second[5:15] = 1
        apart = weighted_kappa(first, second, scale="0-1")
        # Of the ten of the one, 0 shared speaks against more than 3.08 (Clopper and Pearson).
        shared = 10 * (1 - 0.025**0.1)
        most = 1 - 40 * (15 - 2 * shared) / (5 * 30 + 10 * 35)
        assert apart.high == pytest.approx(most, abs=1e-12)
        assert apart.low < apart.value < 0 < apart.high
        wide = pairwise_kappa(np.stack([first, second, first]), scale="0-1")
        assert wide["rating", "0", "1"].high == pytest.approx(most, abs=1e-12)
        few = weighted_kappa([1, 1, 0], [1, 1, 0], scale="0-1")
        assert few.reason == Reason(Cause.UNDEFINED_WITHOUT_ONE, of="items")

    def test_rare_answers_of_two_are_held(self):
        rng, covered = np.random.default_rng(3), 0
        big = rng.normal(size=400_000)
        seen = (big + rng.normal(size=(2, big.size)) > 2.6).astype(float)
        truth = weighted_kappa(*seen, scale="0-1").value
        for start in range(0, 400 * 250, 250):
            part = weighted_kappa(*seen[:, start : start + 250], scale="0-1")
            covered += part.low <= truth <= part.high
        assert covered / 400 > 0.93

    def test_scores_between_levels_are_rounded_or_cut(self):
        human, model = [0, 2, 5, 7], [0.4, 2.5, 4.9, 6.7]
        rounded = weighted_kappa(human, model, scale="0-7")
        assert rounded.value == weighted_kappa(human, [0, 3, 5, 7], scale="0-7").value
        cut = pairwise_kappa([human, model], scale="0-7", truncate=True)["rating", "0", "1"]
        assert cut.value == weighted_kappa(human, [0, 2, 4, 6], scale="0-7").value
        assert cut.options[-1] == "fractions dropped"

    @pytest.mark.parametrize("scale", ["0-7", Scale.parse("0-7"), list(range(8))])
    def test_scale_forms(self, scale):
        assert weighted_kappa([0, 3], [0, 4], scale=scale).ok


class TestBadInput:
    def test_off_scale_names_rater_and_value(self):
        with pytest.raises(
            InputError, match=r"rater '1', stimulus '2': value 7.4 is off .* 0\.\.7"
        ):
            pairwise_kappa([[0, 1, 2], [0, 1, 7.4]], scale="0-7")

    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (lambda: weighted_kappa([1, 2], [1], scale="0-7"), "one length"),
            (lambda: weighted_kappa([[1]], [[1]], scale="0-7"), "one length"),
            (lambda: weighted_kappa([1], [1], scale="interval"), "levels"),
            (lambda: weighted_kappa([1], [1], scale=[2, 1]), "rising"),
            (lambda: weighted_kappa([1], [1], scale="0-7", weights="cubic"), "'cubic'"),
            (lambda: weighted_kappa([1], [1], scale="0-7", confidence=0), "confidence"),
            (lambda: pairwise_kappa([[1], [1]]), "scale"),
        ],
    )
    def test_bad_arguments_are_named(self, call, words):
        with pytest.raises(InputError, match=words):
            call()


class TestPairwise:
    def test_keys_counts_and_kinds(self):
        ratings = panel()
        table = pairwise_kappa(ratings)
        assert table.keys == ("label", "rater_a", "rater_b")
        assert len(table) == 2 * 10
        frame = table.to_frame()
        assert frame.columns[-1] == "pair_kind"
        counts = dict(frame["pair_kind"].value_counts().iter_rows())
        assert counts == {"human-human": 6, "human-model": 12, "model-model": 2}
        assert table.of_kind("model-model").height == 2
        joy = ratings.matrix("joy")
        rows = [ratings.rater_names.index(name) for name in ("h1", "m2")]
        names = [ratings.rater_names[k] for k in sorted(rows)]
        both = ~np.isnan(joy[rows]).any(axis=0)
        estimate = table["joy", names[0], names[1]]
        assert estimate.n_items == both.sum()
        assert estimate.n_ratings == 2 * both.sum()
        expected = weighted_kappa(*joy[rows], scale="0-7")
        assert estimate.value == pytest.approx(expected.value, abs=1e-12)

    @pytest.mark.parametrize("weights", ["quadratic", "linear", "nominal"])
    def test_kappas_alone(self, weights):
        ratings = panel()
        alone = pairwise_kappa(ratings, weights=weights, target="sample").frame
        whole = pairwise_kappa(ratings, weights=weights).frame
        ends = ("se", "low", "high")
        others = (*ends, "target", "interval", "method")
        assert alone.drop(others).equals(whole.drop(others))
        assert all(alone[end].is_nan().all() for end in ends)
        assert set(alone["target"]) == {"none"}
        assert alone["interval"].is_null().all()
        assert whole["low"].is_not_nan().all()
        with pytest.raises(InputError, match="unknown target 'both'"):
            pairwise_kappa(ratings, target="both")

    def test_matrix_is_symmetric_with_humans_first(self):
        ratings = panel()
        table = pairwise_kappa(ratings)
        matrix = kappa_matrix(table)
        assert set(matrix.raters[:3]) == {"h1", "h2", "h3"}
        np.testing.assert_array_equal(matrix.values, matrix.values.T)
        assert np.isnan(np.diagonal(matrix.values)).all()
        at = {name: k for k, name in enumerate(matrix.raters)}
        for row in table.to_frame().filter(pl.col("label") == "joy").iter_rows(named=True):
            pair = row["rater_a"], row["rater_b"]
            mean = (row["value"] + table["awe", pair[0], pair[1]].value) / 2
            assert matrix.values[at[pair[0]], at[pair[1]]] == pytest.approx(mean)
        only = kappa_matrix(table, labels=("joy",))
        first, second = matrix.raters[:2]
        direct = table.to_frame().filter(
            (pl.col("label") == "joy")
            & pl.col("rater_a").is_in([first, second])
            & pl.col("rater_b").is_in([first, second])
        )
        assert only.values[0, 1] == direct["value"][0]
        assert matrix.to_frame().columns == ["rater", *matrix.raters]

    def test_first_answer_counts(self):
        frame = pl.DataFrame(
            {
                "stimulus": ["a", "b", "a", "b", "a"],
                "rater": ["p", "p", "q", "q", "p"],
                "value": [1.0, 5.0, 1.0, 5.0, 7.0],
                "session": ["1", "1", "1", "1", "2"],
            }
        )
        table = pairwise_kappa(Ratings(frame, scale="0-7"))
        assert table["rating", "p", "q"].value == 1.0
        assert table["rating", "p", "q"].n_items == 2

    def test_blocks_of_pairs_equal_one_table(self, monkeypatch):
        ratings = panel()
        whole = pairwise_kappa(ratings, weights="linear").to_frame()
        monkeypatch.setattr("affectlab.reliability.agreement.chance_corrected.kappa._BLOCK", 200)
        assert_frame_equal(pairwise_kappa(ratings, weights="linear").to_frame(), whole)

    def test_pairs_without_common_items_stay_in_the_table(self):
        table = pairwise_kappa([[1, 2, NAN], [2, 2, NAN], [NAN, NAN, 4]], scale="0-7")
        assert len(table) == 3
        assert table["rating", "0", "2"].reason == Reason(Cause.NONE, of="common stimuli")

    def test_one_rater_makes_an_empty_table(self):
        assert len(pairwise_kappa([[1, 2, 3]], scale="0-7")) == 0


class TestRandomPairs:
    def test_two_raters_leave_no_choice(self):
        a, b = [1, 0, 1, 0, 1, 1], [1, 0, 0, 0, 1, 0]
        drawn = random_pair_kappa([a, b], scale="binary", seed=5)
        # The order within a pair is random, so only what order cannot change is fixed.
        assert drawn.n_items == 6
        assert drawn.n_ratings == 12
        assert drawn.n_raters == 2

    def test_seed(self):
        rng = np.random.default_rng(0)
        votes = rng.integers(0, 2, (6, 60)).astype(float)
        first, second, other = (
            random_pair_kappa(votes, scale="binary", seed=seed).value for seed in (1, 1, 2)
        )
        assert first == second
        assert first != other

    def test_recovers_the_agreement_of_exchangeable_raters(self):
        rng = np.random.default_rng(0)
        truth = rng.random(20_000) < 0.4
        votes = np.where(rng.random((4, truth.size)) < 0.15, ~truth, truth).astype(float)
        votes[rng.random(votes.shape) < 0.3] = NAN
        drawn = random_pair_kappa(votes, scale="binary", seed=1)
        p = 0.4 * 0.85 + 0.6 * 0.15
        same = 0.85**2 + 0.15**2
        chance = p**2 + (1 - p) ** 2
        assert drawn.value == pytest.approx((same - chance) / (1 - chance), abs=4 * drawn.se)
        assert drawn.n_items == ((~np.isnan(votes)).sum(axis=0) >= 2).sum()

    def test_one_pair_of_raters_serves_all_labels(self):
        rng = np.random.default_rng(2)
        rows = []
        for u in range(50):
            for r in range(4):
                vote = float(rng.integers(0, 2))
                rows += [(f"s{u}", f"r{r}", label, vote) for label in ("joy", "awe")]
        frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
        table = random_pair_kappa(Ratings(frame, scale="binary"), seed=3)
        assert table["joy"].value == table["awe"].value

    def test_undefined(self):
        found = random_pair_kappa([[1, NAN], [NAN, 0]], scale="binary", seed=1)
        assert found.reason == Reason(Cause.NONE, of="common stimuli")
