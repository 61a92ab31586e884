from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import wilson_interval
from affectlab.core.words import option
from affectlab.ratings import Ratings
from affectlab.reliability import (
    mean_opinion_scores,
    opinion_histogram,
    percent_agreement,
    self_consistency,
    subject_model,
)
from affectlab.reliability.agreement.wording import PAIRED_UNIT
from affectlab.reliability.stimulus_scores import stimulus_scores
from affectlab.reliability.wording import careless_included
from affectlab.simulate import demo_study, simulate_raters

NAN = math.nan

tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 10)),
    elements=st.sampled_from([NAN, NAN, 1.0, 2.0, 4.5, 1e6]),
)


class TestMeanOpinionScores:
    @given(tables)
    @settings(max_examples=80, deadline=None)
    def test_of_single_stimuli_equals_numpy_and_scipy(self, matrix):
        table = mean_opinion_scores(matrix, interval="student")
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

    def test_of_one_stimulus_alone_is_students(self):
        pooled = mean_opinion_scores([[1.0], [2.0], [4.0], [7.0]])["rating", "0"]
        alone = mean_opinion_scores([[1.0], [2.0], [4.0], [7.0]], interval="student")["rating", "0"]
        assert (pooled.low, pooled.high) == pytest.approx((alone.low, alone.high))

    def test_of_yes_and_no_is_wilsons(self):
        rng = np.random.default_rng(1)
        answers = (rng.random((6, 40)) < 0.1).astype(float)
        answers[rng.random((6, 40)) < 0.3] = NAN
        answers[0] = np.nan_to_num(answers[0])
        frame = mean_opinion_scores(long(answers, "binary")).to_frame()
        for row in frame.iter_rows(named=True):
            own = answers[~np.isnan(answers[:, int(row["stimulus"])]), int(row["stimulus"])]
            expected = wilson_interval(own.sum(), own.size)
            assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-12)

    @given(
        arrays(np.float64, (4, 6), elements=st.sampled_from([NAN, 0.0, 0.0, 0.0, 1.0, 6.0, 7.0])),
        st.sampled_from([0.8, 0.95, 0.99]),
    )
    @settings(max_examples=60, deadline=None)
    def test_stays_on_the_scale_and_holds_the_mean(self, answers, confidence):
        if np.isnan(answers).all():
            return
        frame = mean_opinion_scores(long(answers, "0-7"), confidence=confidence).to_frame()
        known = frame.filter(pl.col("low").is_not_nan())
        assert ((known["low"] >= 0) & (known["high"] <= 7)).all()
        assert ((known["low"] <= known["value"]) & (known["value"] <= known["high"])).all()
        assert known["se"].is_finite().all()

    def test_where_all_said_zero_the_interval_is_one_sided(self):
        answers = np.zeros((4, 30))
        answers[0, :6] = [5, 3, 7, 2, 6, 1]
        frame = mean_opinion_scores(long(answers, "0-7")).to_frame()
        silent = frame.filter(pl.col("value") == 0)
        assert silent.height == 24
        assert (silent["low"] == 0).all()
        assert ((silent["high"] > 0.5) & (silent["high"] < 5)).all()
        assert (silent["target"] == "raters").all()

    def test_a_single_answer_has_the_error_of_its_label(self):
        answers = np.array([[1.0, 5.0, 3.0, 4.0], [2.0, 6.0, 2.0, NAN], [4.0, 4.0, 3.0, NAN]])
        row = mean_opinion_scores(long(answers, "0-7"))["rating", "3"]
        assert row.n_ratings == 1
        assert 0 <= row.low < 4 < row.high <= 7

    def test_units_do_not_matter(self):
        rng = np.random.default_rng(3)
        answers = np.clip(np.round(rng.normal(2, 2, (4, 20))), 0, 7)
        one = mean_opinion_scores(long(answers, "0-7 interval")).to_frame()
        for unit in (1e-6, 1e6):
            scale = f"0-{7 * unit:.10f} interval"
            other = mean_opinion_scores(long(answers * unit, scale)).to_frame()
            for name in ("value", "se", "low", "high"):
                np.testing.assert_allclose(other[name] / unit, one[name], rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("kind", ["normal", "zeros", "yes", "slopes", "bias"])
    @pytest.mark.parametrize(("n_raters", "gaps"), [(3, 0.0), (12, 0.3)])
    def test_covers_the_mean_of_all_raters(self, kind, n_raters, gaps):
        """Coverage averaged over stimuli, where the t interval of each covers as little as .14."""
        rng = np.random.default_rng(11)
        scale = "binary" if kind == "yes" else "0-7"
        covered, widths = [], []
        for _ in range(12):
            answer = population(kind, 60, rng)
            target = np.mean([answer(500).mean(axis=0) for _ in range(4)], axis=0)
            for _ in range(5):
                answers = answer(n_raters)
                answers[rng.random(answers.shape) < gaps] = NAN
                for table in (mean_opinion_scores, subject_model):
                    frame = table(long(answers, scale)).to_frame()
                    true = target[frame["stimulus"].cast(pl.Int64).to_numpy()]
                    low, high = frame["low"].to_numpy(), frame["high"].to_numpy()
                    covered.append(((low - 1e-9 <= true) & (true <= high + 1e-9)).mean())
                    widths.append((high - low).mean())
        of_mean, of_model = np.reshape(covered, (-1, 2)).mean(axis=0)
        assert 0.92 <= of_mean <= 0.99
        assert 0.91 <= of_model <= 0.995
        assert np.mean(widths) < (3.6 if scale == "0-7" else 0.7)

    def test_the_first_of_several_answers_counts(self):
        frame = pl.DataFrame(
            {
                "stimulus": ["a", "a", "a", "b"],
                "rater": ["p", "p", "q", "q"],
                "label": ["joy", "joy", "joy", "awe"],
                "value": [1.0, 3.0, 5.0, 2.0],
                "session": ["1", "2", "1", "1"],
            }
        )
        ratings = Ratings(frame, scale="0-7")
        score = mean_opinion_scores(ratings)["joy", "a"]
        assert (score.value, score.n_ratings, score.n_raters) == (3.0, 2, 2)
        assert mean_opinion_scores(ratings.averaged())["joy", "a"].value == 3.5

    def test_no_ratings(self):
        assert len(mean_opinion_scores(np.full((2, 2), NAN))) == 0

    def test_an_unknown_interval_is_named(self):
        with pytest.raises(InputError, match="unknown interval 'students'"):
            mean_opinion_scores([[1, 2], [2, 3]], interval="students")


@pytest.mark.long
def test_scores_of_demonstrations_cover_the_mean_of_all_attentive_raters() -> None:
    covered = []
    for seed in range(8):
        simulation = demo_study(seed + 100, identities=1, repeats=0, golden=0).simulation
        careful = [one for one in simulation.profiles if one.kind == "simulated" and one.attentive]
        many = [
            replace(one, name=f"{one.name} {k}", missing=0.0) for one in careful for k in range(40)
        ]
        everyone = simulate_raters(simulation.truth, many, seed=seed).ratings.to_frame()
        target = everyone.group_by("stimulus", "label").agg(
            true=pl.col("value").cast(pl.Float64).mean()
        )
        panel = simulation.ratings.select(raters=[one.name for one in careful])
        for table in (mean_opinion_scores, subject_model):
            frame = table(panel).to_frame().join(target, on=["stimulus", "label"])
            assert frame["value"].is_between(0, 7).all()
            assert frame["low"].is_between(0, 7).all()
            assert frame["high"].is_between(0, 7).all()
            assert (frame["target"] == "raters").all()
            slack = pl.col("true").is_between(pl.col("low") - 1e-9, pl.col("high") + 1e-9)
            covered.append(frame.select(slack.mean()).item())
    of_mean, of_model = np.reshape(covered, (-1, 2)).mean(axis=0)
    assert 0.93 <= of_mean <= 0.995
    assert 0.93 <= of_model <= 0.995


def long(answers: np.ndarray, scale: str) -> Ratings:
    unit, rater = np.nonzero(~np.isnan(answers.T))
    frame = {
        "stimulus": [str(k) for k in unit],
        "rater": [f"r{k}" for k in rater],
        "value": answers.T[unit, rater],
    }
    return Ratings(frame, scale=scale)


def population(kind: str, n: int, rng: np.random.Generator):
    """Give a function that lets so many raters drawn at random answer about n stimuli."""
    level = rng.normal(
        {"zeros": -2.6, "yes": -2.6}.get(kind, 3.5), 1.0 if kind == "yes" else 1.2, n
    )

    def answer(n_raters: int) -> np.ndarray:
        bias, noise = rng.normal(0, 1, (n_raters, 1)), rng.normal(0, 1, (n_raters, n))
        if kind == "yes":
            return (level + 0.5 * bias + noise > 0).astype(float)
        if kind == "zeros":
            raw = np.exp(0.3 * rng.normal(0, 1, (n_raters, 1))) * (level + 0.7 * bias + 2 * noise)
        elif kind == "slopes":
            raw = 3.5 + np.exp(0.4 * bias) * (level - 3.5 + noise)
        else:
            raw = level + (1.0 if kind == "bias" else 0.5) * bias + noise
        return np.clip(np.round(raw), 0, 7)

    return answer


@pytest.mark.parametrize("method", ["mean", "reml"])
def test_careless_people_are_named(method):
    rng = np.random.default_rng(0)
    answers = np.clip(np.rint(4 + rng.normal(0, 1.5, 40) + rng.normal(0, 0.8, (8, 40))), 1, 7)
    honest = stimulus_scores(long(answers, "1-7"), method=method)
    note = careless_included(["r7"], option("screen", cli="affectlab reliability screen"))
    assert note not in honest.notes
    answers[7] = 4
    assert note in stimulus_scores(long(answers, "1-7"), method=method).notes


def test_categories_have_the_answer_of_most_and_wilsons_interval():
    columns = {
        "stimulus": ["a"] * 5 + ["b"] * 5,
        "rater": list("vwxyz") * 2,
        "value": ["joy"] * 4 + ["fear"] + ["fear"] * 3 + ["joy", "awe"],
    }
    found = stimulus_scores(Ratings(columns, scale="nominal:awe,fear,joy"))
    assert found.to_frame("scores").select("answer", "value", "answers").rows() == [
        ("joy", 0.8, "joy ×4, fear"),
        ("fear", 0.6, "fear ×3, awe, joy"),
    ]
    low, high = wilson_interval([4, 3], 5)
    np.testing.assert_allclose(found.to_frame().select("low", "high").to_numpy().T, [low, high])
    assert found.to_frame("disputed")["stimulus"].to_list() == ["b", "a"]


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
            assert result.reason == Reason(Cause.NONE, of=PAIRED_UNIT)
        if 0 < len(shares) < 3:
            assert result.reason == Reason(Cause.FEW_UNITS, len(shares), 3, "stimuli")
            assert math.isnan(result.low)
        elif len(shares) > 2 and np.ptp(shares) < 1e-9:
            assert math.isnan(result.se)
            assert math.isnan(result.low)
        elif len(shares) > 2:
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
        none = Reason(Cause.NONE, of="repeats")
        assert table["p", "absolute difference"].reason == none
        assert table["p", "correlation"].reason == none
        assert table["q", "absolute difference"].value == 4
        assert table["q", "correlation"].reason == Reason(Cause.FEWER, least=2, of="repeats")
        assert table["r", "correlation"].reason == Reason(Cause.CONSTANT, of="ratings")

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
        assert set(table.to_frame()["reason"]) == {Cause.NONE}

    def test_text_is_refused(self):
        frame = pl.DataFrame({"stimulus": ["a"], "rater": ["p"], "text": ["oh"]})
        with pytest.raises(InputError, match="text"):
            self_consistency(Ratings(frame, scale="text"))
