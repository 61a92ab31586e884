"""Planning against theory where there is one, and against studies run as planned."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from benchmarks import _planning_recovery as recovery
from rich.console import Console
from scipy import stats

from affectlab.core.errors import InputError
from affectlab.core.inference import wilson_interval
from affectlab.ratings import Ratings, Scale
from affectlab.reliability import (
    PlanModel,
    krippendorff_alpha,
    mean_opinion_scores,
    plan,
    plan_model,
    split_half,
)
from affectlab.reliability.planning.wording import recommended_raters
from affectlab.simulate import simulate_raters, simulate_truth
from affectlab.simulate.raters import RaterProfile

ALIKE = PlanModel(stimulus_sd=20, rater_bias_sd=6, inconsistency=12)
SLIDER = PlanModel(20, 6, 12, 4, scale="0-100 interval")


def table(found):
    return {row["raters"]: row for row in found.to_frame().iter_rows(named=True)}


def close(row, expected, slack=0.0):
    """Whether a simulated value is right, up to four Monte Carlo standard errors and a slack."""
    error = (row["high"] - row["low"]) / (2 * 1.96)
    return abs(row["value"] - expected) <= 4 * error + slack


class TestTheory:
    @pytest.mark.parametrize("missing", [0.0, 0.3])
    def test_width_of_the_interval(self, missing):
        """Student's width of normal answers; gaps make the number of raters binomial."""
        model = PlanModel(20, 6, 12, missing=missing)
        found = table(plan(model, quantity="interval", goal=10, n_raters=[4, 9, 16, 32, 64]))
        sd = math.hypot(6, 12)

        def width(n):
            c4 = math.sqrt(2 / (n - 1)) * math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2))
            return 2 * stats.t.ppf(0.975, n - 1) * c4 * sd / math.sqrt(n)

        for n, row in found.items():
            share = stats.binom.pmf(np.arange(2, n + 1), n, 1 - missing)
            expected = sum(p * width(k) for k, p in zip(range(2, n + 1), share, strict=True))
            assert close(row, expected / share.sum())
        if not missing:
            assert found[64]["value"] == pytest.approx(2 * 1.96 * sd / 8, rel=0.03)

    def test_split_half_follows_spearman_brown(self):
        """Raters of their own for every stimulus: two halves of n/2 raters each."""
        found = table(
            plan(ALIKE, quantity="split_half", goal=0.9, n_raters=[2, 4, 8, 16, 32],
                 stimuli_per_rater=1)
        )  # fmt: skip
        one = 20**2 / (20**2 + 6**2 + 12**2)
        for n, row in found.items():
            half = n // 2
            pearson = half * one / (1 + (half - 1) * one)
            # Of normal scores; the sample coefficient of 200 pairs is lower by less than 0.005.
            assert close(row, 6 / math.pi * math.asin(pearson / 2), slack=0.005)
            assert row["corrected"] == pytest.approx(2 * row["value"] / (1 + row["value"]))

    def test_power_of_the_paired_test(self):
        """The raters' biases cancel; the rest is the noncentral t distribution."""
        found = table(
            plan(ALIKE, quantity="power", goal=0.8, difference=10, n_raters=[5, 10, 20, 40])
        )
        for n, row in found.items():
            shift = 10 * math.sqrt(n) / (12 * math.sqrt(2))
            limit = stats.t.ppf(0.975, n - 1)
            expected = stats.nct.sf(limit, n - 1, shift) + stats.nct.cdf(-limit, n - 1, shift)
            assert close(row, expected)

    def test_a_power_has_the_interval_of_a_share(self):
        found = plan(
            ALIKE, quantity="power", goal=0.8, difference=10, n_raters=[5, 20], n_sim=400
        ).to_frame()
        low, high = wilson_interval(found["value"].to_numpy() * 400, 400)
        assert found["low"].to_numpy() == pytest.approx(low)
        assert found["high"].to_numpy() == pytest.approx(high)

    def test_power_with_different_raters(self):
        found = table(
            plan(ALIKE, quantity="power", goal=0.8, difference=-10, paired=False, n_raters=[20, 40])
        )
        for n, row in found.items():
            shift = 10 * math.sqrt(n / 2) / math.hypot(6, 12)
            limit = stats.t.ppf(0.975, 2 * n - 2)
            # Welch's degrees of freedom are a little fewer.
            assert close(row, stats.nct.sf(limit, 2 * n - 2, shift), slack=0.005)

    @pytest.mark.parametrize(
        ("quantity", "noise", "missing"),
        [("icc", 6**2 + 12**2, 0.0), ("icc", 6**2 + 12**2, 0.3), ("reliability", 12**2, 0.0)],
    )
    def test_agreement_and_reliability_of_means(self, quantity, noise, missing):
        found = table(
            plan(replace(ALIKE, missing=missing), quantity=quantity, goal=0.9, n_raters=[4, 8, 16])
        )
        for n, row in found.items():
            # The mean of as many as remain, of whom there are some.
            share = stats.binom.pmf(np.arange(1, n + 1), n, 1 - missing)
            inverse = float((share / np.arange(1, n + 1)).sum() / share.sum())
            assert close(row, 20**2 / (20**2 + noise * inverse), slack=0.004)

    def test_width_of_the_interval_of_alpha(self):
        """The spread of alpha over studies with other raters and other stimuli."""
        found = table(plan(ALIKE, quantity="alpha", goal=0.1, n_stimuli=60, n_raters=[3, 8]))
        rng = np.random.default_rng(0)
        for n, row in found.items():
            alphas = [
                krippendorff_alpha(
                    rng.normal(0, 20, 60) + rng.normal(0, 6, (n, 1)) + rng.normal(0, 12, (n, 60)),
                    level="interval",
                    interval="jackknife",
                ).value
                for _ in range(150)
            ]
            assert row["value"] == pytest.approx(2 * 1.96 * np.std(alphas, ddof=1), rel=0.25)

    def test_power_between_groups_of_stimuli(self):
        """Raters judge both groups, so that their biases cancel."""
        options = {"quantity": "groups", "goal": 0.8, "n_stimuli": 80, "n_raters": [3, 12]}
        for correlation, difference in ((0.0, 12), (0.8, 6)):
            found = table(plan(ALIKE, difference=difference, correlation=correlation, **options))
            for n, row in found.items():
                error = math.sqrt((2 * 20**2 * (1 - correlation) + 2 * 12**2 / n) / 40)
                freedom = 39 if correlation else 78
                shift, limit = difference / error, stats.t.ppf(0.975, freedom)
                assert close(row, stats.nct.sf(limit, freedom, shift), slack=0.01)

    def test_no_difference_no_power_but_the_size_of_the_test(self):
        found = table(plan(ALIKE, quantity="power", goal=0.8, difference=1e-9, n_raters=[8, 30]))
        assert all(close(row, 0.05) for row in found.values())

    def test_raters_without_noise(self):
        sure = PlanModel(20, 0, 0)
        assert plan(sure, quantity="interval", goal=1).recommended == 2
        power = plan(sure, quantity="power", goal=0.9, difference=1, n_raters=[2, 3])
        assert power.to_frame()["value"].to_list() == [1.0, 1.0]


class TestShape:
    @pytest.mark.parametrize(
        ("options", "sign"),
        [
            ({"quantity": "interval", "goal": 8}, -1),
            ({"quantity": "interval", "goal": 8, "assurance": 0.9}, -1),
            ({"quantity": "split_half", "goal": 0.9}, 1),
            ({"quantity": "power", "goal": 0.8, "difference": 8}, 1),
        ],
    )
    def test_more_raters_are_better(self, options, sign):
        found = plan(SLIDER, **options)
        frame = found.to_frame()
        steps = sign * np.diff(frame["value"].to_numpy())
        error = (frame["high"] - frame["low"]).to_numpy() / 2
        assert (steps > -error[1:]).all()
        reached = frame.filter(pl.col("reached"))["raters"]
        assert found.recommended == reached[0]
        assert found.to_frame().filter(pl.col("raters") < found.recommended)["reached"].any() is (
            False
        )

    def test_assurance_asks_for_more_than_the_mean(self):
        mean = plan(SLIDER, quantity="interval", goal=10).recommended
        most = plan(SLIDER, quantity="interval", goal=10, assurance=0.9).recommended
        assert most > mean

    @pytest.mark.long
    def test_larger_sets_are_tried_when_64_do_not_suffice(self):
        found = plan(SLIDER, quantity="interval", goal=5)
        assert 64 < found.recommended <= 256
        assert found.to_frame()["raters"].is_sorted()
        assert found.to_frame()["raters"].is_unique().all()

    def test_out_of_reach(self):
        found = plan(SLIDER, quantity="split_half", goal=0.99, n_raters=[4, 8])
        assert found.recommended is None

    def test_the_same_seed_gives_the_same_plan(self):
        options = {"quantity": "split_half", "goal": 0.9, "n_raters": [4, 8, 16]}
        first, second = (plan(SLIDER, **options) for _ in range(2))
        assert first.to_frame().equals(second.to_frame())
        other = plan(SLIDER, **options, seed=1)
        assert not first.to_frame().equals(other.to_frame())

    def test_cost_and_people(self):
        found = plan(
            SLIDER, quantity="interval", goal=10, n_stimuli=250, stimuli_per_rater=100, price=0.1,
            n_raters=[32],
        )  # fmt: skip
        row = found.to_frame().row(0, named=True)
        assert (row["ratings"], row["people"], row["cost"]) == (8000, 96, 800.0)
        alone = plan(SLIDER, quantity="interval", goal=10, n_raters=[32]).to_frame()
        assert alone["ratings"].to_list() == alone["cost"].to_list() == [None]

    def test_a_budget_is_split_between_raters_and_stimuli(self):
        """With one price for both, variances say how many raters a stimulus is worth."""
        options = {"goal": 0.1, "budget": 240, "price": 0.2, "stimulus_price": 1, "n_sim": 100}
        found = plan(SLIDER, quantity="alpha", n_raters=[2, 8, 40], **options)
        rows = table(found)
        assert [row["stimuli"] for row in rows.values()] == [171, 92, 26]
        assert all(230 < row["cost"] <= 240 for row in rows.values())
        assert found.recommended == 8
        groups = plan(
            SLIDER, quantity="groups", difference=8, n_raters=[2, 8, 40], **options | {"goal": 0.5}
        )
        assert groups.recommended == 2
        # Where the number of stimuli changes nothing, what raters leave pays for stimuli.
        scores = plan(SLIDER, quantity="icc", n_raters=[2, 4, 8], **options | {"goal": 0.85})
        assert scores.recommended == 4
        assert table(scores)[4]["stimuli"] == 133
        few = plan(SLIDER, quantity="alpha", n_raters=[2], n_stimuli=50, **options)
        assert few.to_frame()["stimuli"].to_list() == [50]

    def test_results_for_programs(self):
        found = plan(SLIDER, quantity="power", goal=0.8, difference=10)
        row = found.to_frame().filter(pl.col("raters") == found.recommended)
        assert row["low"].item() <= row["value"].item() <= row["high"].item()
        assert row["reached"].item()
        assert repr(found).startswith("Plan(")
        console = Console(width=100, record=True, file=io.StringIO())
        console.print(found)
        text = console.export_text()
        assert recommended_raters(found.recommended) in text
        assert len(text.splitlines()) <= 24


def run_study(n_raters, n_stimuli, seed, *, bias=6.0, noise=12.0, careful=0.3):
    """Run a study with the room for simulation, which shares nothing with the planner."""
    rng = np.random.default_rng(seed)
    raters = [
        RaterProfile(
            f"r{k}",
            bias=float(rng.normal(0, bias)),
            inconsistency=noise * float(rng.lognormal(-(careful**2) / 2, careful)),
        )
        for k in range(n_raters)
    ]
    truth = simulate_truth(n_stimuli, ["difference"], "0-100 interval", seed=rng)
    return simulate_raters(truth, raters, seed=rng).ratings


def run_crowd(n_raters, n_stimuli, seed):
    """Raters of their own for every stimulus, taken from a large study."""
    ratings = run_study(n_raters * 10, n_stimuli, seed)
    values = ratings.matrix(ratings.label_names[0])
    rng = np.random.default_rng(seed)
    keep = np.argsort(rng.random(values.shape), axis=0)[:n_raters]
    sparse = np.full(values.shape, np.nan)
    np.put_along_axis(sparse, keep, np.take_along_axis(values, keep, axis=0), axis=0)
    return sparse


@pytest.fixture(scope="module")
def model():
    """What a pilot says that is so large that it adds no error of its own."""
    return plan_model(run_study(400, 200, 1))


class TestRecovery:
    """A pilot is planned from, and the study is run as recommended."""

    def test_interval(self, model):
        found = plan(model, quantity="interval", goal=10)
        widths = []
        for seed in range(10):
            scores = mean_opinion_scores(
                run_study(found.recommended, 200, 100 + seed), interval="student"
            )
            widths.append((scores.frame["high"] - scores.frame["low"]).mean())
        assert np.mean(widths) == pytest.approx(10, rel=0.06)

    @pytest.mark.parametrize("stimuli_per_rater", [None, 1])
    def test_split_half(self, model, stimuli_per_rater):
        """The function that will judge the study gives what was planned."""
        found = plan(
            model,
            quantity="split_half",
            goal=0.9,
            n_stimuli=200,
            stimuli_per_rater=stimuli_per_rater,
        )
        reached = []
        for seed in range(12):
            if stimuli_per_rater is None:
                values = run_study(found.recommended, 200, 200 + seed)
            else:
                values = run_crowd(found.recommended, 200, 200 + seed)
            reached.extend(split_half(values, scorer="mean", n_splits=10, seed=seed).frame["value"])
        planned = found.to_frame().filter(pl.col("raters") == found.recommended)["value"][0]
        assert np.mean(reached) == pytest.approx(planned, abs=0.012)
        assert np.mean(reached) > 0.89

    def test_power(self, model):
        found = plan(model, quantity="power", goal=0.8, difference=12)
        rng = np.random.default_rng(3)
        hits = []
        for _ in range(3000):
            noise = 12 * rng.lognormal(-(0.3**2) / 2, 0.3, found.recommended)
            bias = rng.normal(0, 6, found.recommended)
            pair = [
                np.clip(np.rint(s + bias + noise * rng.standard_normal(noise.size)), 0, 100)
                for s in (44, 56)
            ]
            hits.append(stats.ttest_rel(*pair).pvalue < 0.05)
        assert np.mean(hits) == pytest.approx(0.8, abs=0.06)


@pytest.mark.long
class TestRangeThatThePilotLeavesOpen:
    def test_smaller_pilots_leave_more_open(self):
        ranges = []
        for n_raters, n_stimuli in ((10, 30), (60, 200)):
            pilot = run_study(n_raters, n_stimuli, 5)
            found = plan(pilot, quantity="interval", goal=10)
            low, high = found.recommended_range
            assert low <= found.recommended <= high
            ranges.append(high / low)
        assert ranges[0] > ranges[1] > 1

    def test_covers_what_other_pilots_recommend(self):
        """The 80 % range of one pilot against pilots that are really drawn anew."""
        # Pilots differ by far more than what so few simulated studies leave open.
        options = {"quantity": "interval", "goal": 10, "n_sim": 40}
        found = plan(run_study(25, 100, 7), **options)
        others = [
            plan(run_study(25, 100, seed), **options, n_pilots=0).recommended
            for seed in range(20, 36)
        ]
        spread = np.log(found.recommended_range[1] / found.recommended_range[0])
        assert spread == pytest.approx(2 * 1.28 * np.std(np.log(others)), rel=0.5)

    @pytest.mark.parametrize(
        "options", [{"quantity": "split_half", "goal": 0.9},
                    {"quantity": "power", "goal": 0.8, "difference": 12}]
    )  # fmt: skip
    def test_every_quantity_has_one(self, options):
        found = plan(run_study(25, 60, 8), **options)
        low, high = found.recommended_range
        assert low <= found.recommended <= high

    def test_none_for_a_model_or_when_it_is_turned_off(self):
        assert plan(SLIDER, quantity="interval", goal=10).recommended_range is None
        pilot = run_study(10, 30, 5)
        assert plan(pilot, quantity="interval", goal=10, n_pilots=0).recommended_range is None


class TestPlanModel:
    def test_a_negative_variance_of_raters_is_pooled_with_the_noise(self):
        x = np.random.default_rng(0).normal(0, 1, (6, 40)) + np.arange(40) / 10
        x -= x.mean(axis=1, keepdims=True)
        found = plan_model(x)
        assert found.rater_bias_sd == 0
        within = ((x - x.mean(axis=0)) ** 2).sum() / (40 * 5)
        assert found.residual_sd == pytest.approx(math.sqrt(within), rel=5e-3)

    @pytest.mark.parametrize("per_stimulus", [3, 5, 30])
    def test_how_much_raters_differ_in_noise_does_not_grow_with_gaps(self, per_stimulus):
        """Raters of whom little is known do not look more different than they are."""
        rng = np.random.default_rng(1)
        truth = PlanModel(20, 6, 12, 4)
        found = []
        for _ in range(40):
            noise = truth.draw_noise_sd(rng, (30, 1))
            x = truth.draw_stimuli(rng, (80,)) + truth.draw_bias(rng, (30, 1))
            x = x + noise * rng.standard_normal(x.shape)
            x[np.argsort(rng.random(x.shape), axis=0) >= per_stimulus] = np.nan
            found.append(plan_model(x).inconsistency_sd)
        assert np.mean(found) == pytest.approx(4, rel=0.3)

    @pytest.mark.parametrize("gaps", [0.0, 0.6])
    def test_recovers_numbers_without_ends(self, gaps):
        rng = np.random.default_rng(2)
        found = []
        for _ in range(20):
            truth = PlanModel(20, 6, 12, 4)
            noise = truth.draw_noise_sd(rng, (25, 1))
            x = truth.draw_stimuli(rng, (200,)) + truth.draw_bias(rng, (25, 1))
            x = x + noise * rng.standard_normal(x.shape)
            x[rng.random(x.shape) < gaps] = np.nan
            model = plan_model(x)
            found.append([model.stimulus_sd, model.rater_bias_sd, model.inconsistency,
                          model.inconsistency_sd])  # fmt: skip
        assert np.mean(found, axis=0) == pytest.approx([20, 6, 12, 4], rel=0.12)

    @pytest.mark.parametrize("scale", ["0-7", "1-5", "0-100 interval"])
    def test_simulated_answers_look_like_the_pilot(self, scale):
        """Also where the ends of the scale cut much off."""
        low, high = Scale.parse(scale).low, Scale.parse(scale).high
        width = high - low
        truth = PlanModel(0.3 * width, 0.08 * width, 0.2 * width, scale=scale, mean=low + width / 4)
        rng = np.random.default_rng(3)

        def study(model, raters, stimuli):
            felt = model.draw_stimuli(rng, (stimuli,)) + model.draw_bias(rng, (raters, 1))
            felt = felt + model.draw_noise_sd(rng, (raters, 1)) * rng.standard_normal(felt.shape)
            return model.answer(felt)

        x = study(truth, 25, 400)
        rater, stimulus = np.indices(x.shape)
        frame = pl.DataFrame(
            {
                "stimulus": stimulus.ravel().astype(str),
                "rater": rater.ravel().astype(str),
                "value": x.ravel(),
            }
        )
        model = plan_model(Ratings(frame, scale=scale))
        # Without a scale, the model has the components of the answers themselves.
        wanted, got = plan_model(x), plan_model(study(model, 200, 1000))
        assert got.mean == pytest.approx(wanted.mean, abs=0.03 * width)
        assert got.residual_sd == pytest.approx(wanted.residual_sd, rel=0.06)
        assert got.stimulus_sd == pytest.approx(wanted.stimulus_sd, rel=0.08)
        assert got.rater_bias_sd == pytest.approx(wanted.rater_bias_sd, rel=0.2)

    def test_a_skewed_pilot_stays_skewed(self):
        rng = np.random.default_rng(4)
        x = rng.exponential(10, 300) + rng.normal(0, 3, (25, 300))
        drawn = plan_model(x).draw_stimuli(rng, (20_000,))
        assert stats.skew(drawn) > 1.2
        assert drawn.std() == pytest.approx(10, rel=0.15)

    def test_label_has_to_be_chosen(self):
        rng = np.random.default_rng(5)
        frame = pl.DataFrame(
            {
                "stimulus": np.tile(np.arange(10), 10).astype(str),
                "rater": np.repeat(np.arange(5), 20).astype(str),
                "label": np.tile(np.repeat(["joy", "fear"], 10), 5),
                "value": rng.integers(0, 8, 100).astype(float),
            }
        )
        ratings = Ratings(frame, scale="0-7")
        with pytest.raises(
            InputError, match=r"2 labels: expected one of them as label .--label.: joy, fear"
        ):
            plan_model(ratings)
        assert plan_model(ratings, label="fear").scale == ratings.scale
        with pytest.raises(InputError, match=r"unknown label 'jo'; did you mean 'joy'"):
            plan(ratings, quantity="interval", goal=2, label="jo")

    def test_constant_ratings(self):
        model = plan_model(np.ones((5, 20)))
        assert (model.stimulus_sd, model.rater_bias_sd, model.inconsistency) == (0, 0, 0)


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"quantity": "widht", "goal": 3}, r"unknown quantity 'widht'"),
            ({"quantity": "interval", "goal": 0}, r"goal 0 for interval: expected a width above 0"),
            ({"quantity": "interval", "goal": math.nan}, r"goal nan for interval"),
            ({"quantity": "split_half", "goal": 90}, r"goal 90 for split_half.*between 0 and 1"),
            (
                {"quantity": "power", "goal": 0.8},
                r"difference None: quantity power needs a difference",
            ),
            ({"quantity": "power", "goal": 0.8, "difference": 200}, r"the scale is only 100 wide"),
            ({"quantity": "interval", "goal": 5, "difference": 2}, r"only power has one"),
            ({"quantity": "split_half", "goal": 0.9, "assurance": 0.9}, r"assurance 0.9"),
            (
                {"quantity": "interval", "goal": 5, "n_stimuli": 0},
                r"n_stimuli = 0: expected a whole number from 1",
            ),
            ({"quantity": "interval", "goal": 5, "price": 1}, r"price without n_stimuli"),
            ({"quantity": "interval", "goal": 5, "price": -1, "n_stimuli": 3}, r"price = -1"),
            ({"quantity": "interval", "goal": 5, "budget": 9}, r"budget 9: .* price of a rating"),
            ({"quantity": "alpha", "goal": 0.1}, r"quantity alpha needs 2 stimuli"),
            ({"quantity": "alpha", "goal": 0.1, "budget": 1, "price": 3}, r"fewer than 2 stimuli"),
            ({"quantity": "icc", "goal": 0.9, "correlation": 0.5}, r"correlation 0.5"),
            ({"quantity": "interval", "goal": 5, "n_raters": []}, r"n_raters none"),
            ({"quantity": "interval", "goal": 5, "n_raters": [1, 4]}, r"n_raters 1: expected"),
            (
                {"quantity": "interval", "goal": 5, "n_raters": [2.5]},
                r"n_raters 2.5: expected whole",
            ),
            (
                {"quantity": "interval", "goal": 5, "n_sim": 1},
                r"n_sim = 1: expected a whole number from 2",
            ),
            (
                {"quantity": "interval", "goal": 5, "n_pilots": -1},
                r"n_pilots = -1: expected a whole number from 0",
            ),
            ({"quantity": "interval", "goal": 5, "confidence": 95}, r"confidence 95"),
        ],
    )
    def test_plan(self, options, message):
        with pytest.raises(InputError, match=message):
            plan(SLIDER, **options)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"stimulus_sd": -1}, r"stimulus_sd = -1: expected a number from 0"),
            ({"inconsistency": math.nan}, r"inconsistency = nan"),
            ({"missing": 1}, r"missing 1: expected a share"),
            ({"inconsistency": 0, "inconsistency_sd": 2}, r"expected both or none"),
            ({"scale": "nominal:a,b"}, r"expected one on which means make sense"),
            ({"mean": math.inf}, r"mean inf"),
            ({"shape": (1.0, 1.0)}, r"shape: expected qualities that differ"),
        ],
    )
    def test_model(self, options, message):
        given = {"stimulus_sd": 1, "rater_bias_sd": 1, "inconsistency": 1} | options
        with pytest.raises(InputError, match=message):
            PlanModel(**given)

    @pytest.mark.parametrize(
        "pilot", [[[1, 2, 3]], [[1], [2]], np.full((3, 3), np.nan), [[1, math.nan], [math.nan, 2]]]
    )
    def test_a_pilot_that_tells_nothing(self, pilot):
        with pytest.raises(InputError, match="cannot tell raters, stimuli and noise apart"):
            plan_model(pilot)


@pytest.mark.data
def test_a_published_study_is_foreseen(shared_data):
    """79 videos, 26 raters, 5 steps with many answers at the top: panels drawn from the study."""
    source = json.loads(
        (shared_data / "subjective_quality" / "netflix_public.json").read_text(encoding="utf-8")
    )
    matrix = np.array([video["os"] for video in source["dis_videos"]]).T
    n_raters, n_stimuli = matrix.shape
    rater, stimulus = np.indices(matrix.shape)
    frame = pl.DataFrame(
        {
            "stimulus": stimulus.ravel().astype(str),
            "rater": rater.ravel().astype(str),
            "value": matrix.ravel(),
        }
    )
    model = plan_model(Ratings(frame, scale="1-5"))
    sizes = [8, 16, n_raters]
    halves = table(
        plan(model, quantity="split_half", goal=0.9, n_raters=sizes, n_stimuli=n_stimuli)
    )
    widths = table(plan(model, quantity="interval", goal=1, n_raters=sizes))
    rng = np.random.default_rng(0)
    for size in sizes:
        panels = [matrix[rng.choice(n_raters, size, replace=False)] for _ in range(30)]
        correlations = [
            split_half(panel, scorer="mean", n_splits=10)["rating"].value for panel in panels
        ]
        assert halves[size]["value"] == pytest.approx(np.mean(correlations), abs=0.015)
        found = [mean_opinion_scores(panel, interval="student").frame for panel in panels]
        # A panel that agrees on a video has no interval there; the plan counts a width of 0.
        width = np.mean([(scores["high"] - scores["low"]).fill_nan(0).mean() for scores in found])
        assert widths[size]["value"] == pytest.approx(width, rel=0.04)


@pytest.mark.data
@pytest.mark.long
@pytest.mark.parametrize(
    ("whole", "sizes", "n_pilots"), [(True, (2,), 325), (False, recovery.PILOTS, 60)]
)
def test_few_people_foretell_a_published_study(shared_data, whole, sizes, n_pilots):
    """On average over all pairs of the 26 people, or over pilots with 2 to 10 for each video."""
    panel = recovery.videos(shared_data / "subjective_quality")
    for kind, ratio in recovery.ratios(panel, n_pilots, 0, sizes, (whole,)).items():
        assert ratio.mean(axis=0) == pytest.approx(np.ones(3), abs=0.05), kind
