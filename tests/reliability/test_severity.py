"""Severity of raters: printed answers, other ways to compute it, recovered truth, and refusals."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import brentq, minimize
from scipy.special import logsumexp
from statsmodels.discrete.conditional_models import ConditionalLogit

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.ratings import Ratings
from affectlab.reliability import rater_severity
from affectlab.reliability.wording import (
    NO_GROUPS,
    misfit_text,
    models_unused,
    no_infit,
    not_an_attribute,
)

LSAT6 = (
    "00000:3 00001:6 00010:2 00011:11 00100:1 00101:1 00110:3 00111:4 01000:1 01001:8 01011:16 "
    "01101:3 01110:2 01111:15 10000:10 10001:29 10010:14 10011:81 10100:3 10101:28 10110:15 "
    "10111:80 11000:16 11001:56 11010:21 11011:173 11100:11 11101:61 11110:28 11111:298"
)
"""Answers of 1,000 people to five questions (Bock and Lieberman 1970), here as raters' answers."""
DIFFICULTY = 0.7551 * np.array([-3.6153, -1.3224, -0.3176, -1.7301, -2.7802])
"""Rasch model of these by marginal maximum likelihood, as printed by Rizopoulos (2006), Journal of
Statistical Software 17(5): difficulties times the common discrimination."""


def table(answers: np.ndarray, scale: str, **columns: np.ndarray) -> Ratings:
    """Make ratings of an array (stimuli, raters) with columns by stimulus."""
    stimulus, rater = np.nonzero(~np.isnan(answers))
    return Ratings(
        {
            "stimulus": [f"s{k:04}" for k in stimulus],
            "rater": [f"r{k:02}" for k in rater],
            "value": answers[stimulus, rater],
            **{name: np.asarray(values)[stimulus] for name, values in columns.items()},
        },
        scale=scale,
    )


def simulate(
    n: int,
    severity: np.ndarray,
    thresholds: np.ndarray,
    seed: int,
    *,
    gaps: float = 0.0,
    slope: np.ndarray | float = 1.0,
) -> np.ndarray:
    """Draw answers of the model, shape (stimuli, raters); severities may be by stimulus, too."""
    rng = np.random.default_rng(seed)
    severity = np.broadcast_to(severity, (n, np.shape(severity)[-1]))
    apart = rng.normal(0, 1.5, n)[:, None, None] - severity[:, :, None] - thresholds
    apart = np.broadcast_to(slope, severity.shape[1])[:, None] * apart
    weight = np.cumsum(np.pad(apart, ((0, 0), (0, 0), (1, 0))), axis=2)
    chance = np.exp(weight - logsumexp(weight, axis=2, keepdims=True))
    answers = (rng.random((*severity.shape, 1)) > chance.cumsum(axis=2)).sum(axis=2).astype(float)
    answers[rng.random(answers.shape) < gaps] = np.nan
    return answers


def severities(result: object) -> np.ndarray:
    return result.to_frame("severities").sort("rater")["value"].to_numpy()  # type: ignore[attr-defined]


def test_lsat6_is_as_printed_and_as_conditional_logistic_regression() -> None:
    rows = [
        [int(one) for one in pattern]
        for pattern, n in (part.split(":") for part in LSAT6.split())
        for _ in range(int(n))
    ]
    answers = np.array(rows, dtype=float)
    assert answers.shape == (1000, 5)
    mixed = (answers.min(axis=1) == 0) & (answers.max(axis=1) == 1)
    result = rater_severity(table(answers, "binary"))
    found = result.to_frame("severities").sort("rater")
    np.testing.assert_allclose(found["value"], DIFFICULTY - DIFFICULTY.mean(), atol=0.004)

    stimulus, rater = (part.ravel() for part in np.indices(answers[mixed].shape))
    columns = -np.eye(5)[:, :4][rater]
    peer = ConditionalLogit(answers[mixed].ravel(), columns, groups=stimulus).fit(disp=0)
    other = np.append(peer.params, 0.0)
    np.testing.assert_allclose(found["value"], other - other.mean(), atol=1e-4)
    rows_of_mean = np.eye(5)[:, :4] - np.eye(5)[:4].sum(axis=0)[:4] / 5
    error = np.sqrt(np.diagonal(rows_of_mean @ peer.cov_params() @ rows_of_mean.T))
    np.testing.assert_allclose(found["se"], error, rtol=1e-3)


def conditional(answers: np.ndarray, log_weight: np.ndarray) -> float:
    """Give the conditional log-likelihood by adding up all answers with the same sum."""
    total = 0.0
    for row in answers:
        here = np.flatnonzero(~np.isnan(row))
        given = row[here].astype(int)
        alike = [
            log_weight[here, list(others)].sum()
            for others in product(range(log_weight.shape[1]), repeat=here.size)
            if sum(others) == given.sum()
        ]
        total += log_weight[here, given].sum() - logsumexp(alike)
    return total


@pytest.mark.parametrize("own", [False, True])
def test_ordered_answers_are_fitted_as_by_adding_up_all_that_could_have_been(own: bool) -> None:
    n = 3
    answers = simulate(40, np.array([-0.6, 0.1, 0.5]), np.array([-0.7, 0.7]), 4, gaps=0.1)
    result = rater_severity(table(answers, "0-2"), thresholds="own" if own else "common")

    def log_weight(free: np.ndarray) -> np.ndarray:
        severity = np.append(free[: n - 1], -free[: n - 1].sum())
        first = free[n - 1 :] if own else np.repeat(free[n - 1], n)
        cut = np.stack([first, -first], axis=1)
        steps = np.cumsum(-severity[:, None] - cut, axis=1)
        return np.pad(steps, ((0, 0), (1, 0)))

    def loss(free: np.ndarray) -> float:
        return -conditional(answers, log_weight(free))

    start = np.zeros(n - 1 + (n if own else 1))
    best = minimize(loss, start, method="BFGS", options={"gtol": 1e-5})
    expected = np.append(best.x[: n - 1], -best.x[: n - 1].sum())
    found = result.to_frame("severities").sort("rater")
    np.testing.assert_allclose(found["value"], expected, atol=2e-4)
    cut = result.to_frame("thresholds").filter(between="0 | 1").sort("rater")["value"]
    np.testing.assert_allclose(cut, best.x[n - 1 :], atol=2e-4)
    # Errors of the first rater from second differences of this likelihood.
    step, size = 1e-3, start.size
    moves = step * np.eye(size)
    curvature = np.array(
        [
            [
                loss(best.x + a + b)
                - loss(best.x + a - b)
                - loss(best.x - a + b)
                + loss(best.x - a - b)
                for b in moves
            ]
            for a in moves
        ]
    ) / (4 * step**2)
    error = np.sqrt(np.diagonal(np.linalg.inv(curvature))[: n - 1])
    np.testing.assert_allclose(found["se"][: n - 1], error, rtol=2e-3)
    assert result.to_frame("severities")["value"].sum() == pytest.approx(0, abs=1e-9)


def test_many_raters_have_errors_as_few_do() -> None:
    """Beyond 20 raters of a stimulus covariances take the sum as normal: beside the exact ones."""
    n = 22
    severity = np.linspace(-1, 1, n)
    answers = simulate(60, severity, np.zeros(1), 2)
    found = rater_severity(table(answers, "binary")).to_frame("severities").sort("rater")
    weight = np.exp(-found["value"].to_numpy())

    def sums(left_out: tuple[int, ...]) -> np.ndarray:
        made = np.ones(1)
        for rater in range(n):
            if rater not in left_out:
                made = np.convolve(made, [1.0, weight[rater]])
        return np.pad(made, (0, n + 2))

    whole, one = sums(()), [sums((r,)) for r in range(n)]
    two = {(r, q): sums((r, q)) for r in range(n) for q in range(r)}
    information = np.zeros((n, n))
    totals = answers.sum(axis=1).astype(int)
    told = totals[(totals > 0) & (totals < n)]
    for s, times in zip(*np.unique(told, return_counts=True), strict=True):
        p = weight * [one[r][s - 1] for r in range(n)] / whole[s]
        both = np.diag(p)
        for (r, q), rest in two.items():
            chance = weight[r] * weight[q] * rest[s - 2] / whole[s] if s > 1 else 0.0
            both[r, q] = both[q, r] = chance
        information += times * (both - np.outer(p, p))
    centre = np.eye(n) - 1 / n
    error = np.sqrt(np.diagonal(centre @ np.linalg.pinv(information, hermitian=True) @ centre))
    np.testing.assert_allclose(found["se"], error, rtol=0.002)


def test_intervals_hold_the_severities_of_raters() -> None:
    severity = np.array([-0.9, -0.3, 0.0, 0.4, 0.8])
    cuts = np.array([-1.5, -0.5, 0.5, 1.5])
    held = []
    for seed in range(60):
        answers = simulate(100, severity, cuts, seed, gaps=0.2)
        found = rater_severity(table(answers, "0-4")).to_frame("severities").sort("rater")
        low, high = found.select("low", "high").to_numpy().T
        held.append((low <= severity) & (severity <= high))
    # 300 intervals of which 95 % hold: fewer than 91 % in one of some 500 runs.
    assert 0.91 <= np.mean(held) <= 0.985


def test_own_thresholds_and_measures_of_stimuli_are_recovered() -> None:
    cuts = np.array([[-1.5, 0.0, 1.5], [-0.5, 0.0, 0.5], [-2.0, 1.5, 0.5], [-1.0, -0.5, 1.5]])
    answers = simulate(3000, np.array([-0.5, 0.0, 0.0, 0.5]), cuts, 3)
    result = rater_severity(table(answers, "0-3"), thresholds="own")
    np.testing.assert_allclose(severities(result), [-0.5, 0, 0, 0.5], atol=0.12)
    found = result.to_frame("thresholds").sort("rater", "between")
    assert (np.abs(found["value"] - cuts.ravel()) / found["se"] < 3.5).all()


def test_a_measure_solves_the_equation_of_warm_and_a_fair_mean_undoes_severity() -> None:
    severity, cuts = np.array([-1.2, 0.0, 1.2]), np.array([-1.0, 1.0])
    answers = simulate(400, severity, cuts, 5)
    whole = answers.mean(axis=1)
    truth = whole[:200].mean() - whole[200:].mean()
    # Half of the stimuli were judged by the two lenient raters, half by the two severe ones.
    answers[:200, 2] = np.nan
    answers[200:, 0] = np.nan
    result = rater_severity(table(answers, "0-2"))
    cut = result.to_frame("thresholds").sort("between")["value"].to_numpy()
    own = severities(result)
    weight = np.array([[0, *np.cumsum(-one - cut)] for one in own])
    k = np.arange(3)

    def moments(theta: float, rater: int) -> tuple[float, float, float]:
        p = np.exp(weight[rater] + k * theta - logsumexp(weight[rater] + k * theta))
        mean = p @ k
        return mean, p @ (k - mean) ** 2, p @ (k - mean) ** 3

    stimuli = result.to_frame("stimuli").sort("stimulus")
    for place in (0, 17, 399):
        here = np.flatnonzero(~np.isnan(answers[place]))

        def warm(theta: float, place: int = place, here: np.ndarray = here) -> float:
            mean, variance, third = np.sum([moments(theta, r) for r in here], axis=0)
            return np.nansum(answers[place]) - mean + third / (2 * variance)

        assert stimuli["value"][place] == pytest.approx(brentq(warm, -20, 20), abs=1e-6)
        fair = np.mean([moments(stimuli["value"][place], r)[0] for r in range(3)])
        assert stimuli["fair"][place] == pytest.approx(fair, abs=1e-6)
    means = stimuli.select("mean", "fair").to_numpy()
    gap = means[:200].mean(axis=0) - means[200:].mean(axis=0)
    assert gap[0] - truth > 0.25
    assert abs(gap[1] - truth) < 0.12


def test_a_noisy_rater_has_a_large_infit_and_the_others_none() -> None:
    slope = np.array([0.3, 1, 1, 1, 1, 1])
    answers = simulate(300, np.zeros(6), np.array([-1.0, 0.0, 1.0]), 6, slope=slope)
    result = rater_severity(table(answers, "0-3"))
    found = result.to_frame("severities").sort("rater")
    assert found["infit"][0] > 1.3
    assert found["infit_p"][0] < 1e-4
    assert (found["infit"][1:] < 1.1).all()
    assert result.sentences[1] == misfit_text("rating", ["r00"], noisier=True)


def test_fit_is_as_large_as_chance_allows() -> None:
    rejected = []
    for seed in range(40):
        answers = simulate(150, np.linspace(-1, 1, 5), np.array([-1.0, 0.0, 1.0]), seed)
        found = rater_severity(table(answers, "0-3")).to_frame("severities")
        rejected.append(found.select(pl.col("infit_p", "outfit_p") < 0.05).to_numpy().mean())
        assert (found["infit"] - 1).abs().max() < 0.6
    assert 0.005 <= np.mean(rejected) <= 0.08


@pytest.mark.parametrize("thresholds", ["common", "own"])
def test_severity_with_a_group_is_found(thresholds: str) -> None:
    n = 400
    group = np.where(np.arange(n) % 2, "women", "men")
    severity = np.tile([0.0, 0.5, -0.5, 0.0], (n, 1))
    severity[group == "women", 0] += 0.8
    answers = simulate(n, severity, np.array([-1.0, 1.0]), 7)
    result = rater_severity(
        table(answers, "0-2", gender=group),
        thresholds=thresholds,  # type: ignore[arg-type]
        group="gender",
    )
    test = result.to_frame("tests").filter(term="rater:gender").row(0, named=True)
    assert test["df"] == 3
    assert test["p"] < 1e-3
    rows = result.to_frame("differences").filter(group="women").sort("rater")
    # 0.8 in one group is 0.4 beyond the mean of both, of which a quarter is in the mean of all.
    assert (
        np.abs(rows["value"].to_numpy() - [0.3, -0.1, -0.1, -0.1]) / rows["se"].to_numpy() < 3
    ).all()
    assert rows["p_holm"][0] < 0.01


def test_without_a_difference_the_test_of_groups_is_as_chance() -> None:
    below, separate = [], []
    for seed in range(80):
        answers = simulate(80, np.array([-0.5, 0, 0.5]), np.array([-1.0, 1.0]), seed)
        ratings = table(answers, "0-2", kind=np.where(np.arange(80) % 2, "a", "b"))
        result = rater_severity(ratings, group="kind")
        below.append(result.to_frame("tests")["p"][1] < 0.2)
        separate.append(result.to_frame("tests")["p"][0] < 0.2)
    assert 0.08 <= np.mean(below) <= 0.34
    assert np.mean(separate) > 0.95


def test_the_test_of_groups_is_that_of_fits_apart() -> None:
    """With own thresholds of two categories the likelihood is that of each group by itself."""
    answers = simulate(120, np.array([-0.5, 0.2, 0.3]), np.zeros(1), 8)
    kind = np.where(np.arange(120) % 3, "a", "b")
    result = rater_severity(table(answers, "binary", kind=kind), group="kind")

    def best(part: np.ndarray) -> float:
        def loss(free: np.ndarray) -> float:
            weight = np.pad(-np.append(free, -free.sum())[:, None], ((0, 0), (1, 0)))
            return -conditional(part, weight)

        return -minimize(loss, np.zeros(2), method="BFGS").fun

    apart = best(answers[kind == "a"]) + best(answers[kind == "b"])
    expected = 2 * (apart - best(answers))
    assert result.to_frame("tests")["value"][1] == pytest.approx(expected, abs=1e-5)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(4)))
def test_reversing_the_scale_reverses_severities_and_names_change_nothing(
    seed: int, order: list[int]
) -> None:
    answers = simulate(50, np.array([-1, 0, 0, 1.0]), np.array([-0.5, 0.5]), seed, gaps=0.2)
    own = severities(rater_severity(table(answers, "0-2")))
    np.testing.assert_allclose(
        severities(rater_severity(table(2 - answers, "0-2"))), -own, atol=1e-6
    )
    moved = severities(rater_severity(table(answers[:, order], "0-2")))
    np.testing.assert_allclose(moved, own[order], atol=1e-6)


def test_severity_does_not_depend_on_which_stimuli_are_judged() -> None:
    """Means of answers do: a rater of weak stimuli seems severe."""
    severity, cuts = np.zeros(3), np.array([-1.0, 1.0])
    answers = simulate(900, severity, cuts, 9)
    strong = np.nanmean(answers, axis=1) > 1
    answers[strong, 0] = np.nan
    found = rater_severity(table(answers, "0-2")).to_frame("severities").sort("rater")
    means = np.nanmean(answers, axis=0)
    assert means[0] < means[1] - 0.3
    assert (found["value"].abs() / found["se"] < 3.5).all()


def test_what_cannot_be_told_is_said() -> None:
    rng = np.random.default_rng(1)
    whole = rng.integers(0, 4, (40, 4)).astype(float)

    def causes(answers: np.ndarray, **options: object) -> list[str | None]:
        result = rater_severity(table(answers, "0-3"), **options)  # type: ignore[arg-type]
        frame = result.to_frame("severities").sort("rater")
        assert (frame["status"] == "undefined").equals(frame["reason"].is_not_null())
        return frame["reason"].to_list()

    apart = whole.copy()
    apart[:20, 2:], apart[20:, :2] = np.nan, np.nan
    assert causes(apart) == [Cause.SEPARATE_GROUPS] * 4
    low = whole.copy()
    low[:, 0] = 0
    assert causes(low) == [Cause.ONE_END, None, None, None]
    middle = whole.copy()
    middle[:, 0] = 1
    assert causes(middle) == [None] * 4
    assert causes(middle, thresholds="own")[0] == Cause.ONE_END_WHERE_INFORMATIVE
    short = whole.copy()
    short[:, 1] = np.minimum(short[:, 1], 2)
    assert causes(short, thresholds="own")[1] == Cause.ENDS_UNUSED
    above = np.tile([[0.0, 3.0], [0.0, 3.0], [1.0, 3.0], [0.0, 2.0]], (5, 1))
    assert causes(above)[0] == Cause.INFINITE_DISTANCE
    assert causes(np.full((6, 3), 2.0)) == [Cause.ALIKE_ANSWERS] * 3
    alike = np.repeat(whole[:, :1], 3, axis=1)
    assert causes(alike)[0] == Cause.RATERS_AGREE
    constant = np.tile([0.0, 1.0, 2.0], (10, 1))
    assert causes(constant)[0] == Cause.ONE_ANSWER_EACH
    assert causes(whole[:, :1]) == [Cause.ONLY_ONE]
    assert causes(whole[:1])[0] == Cause.ONLY_ONE
    distance = np.stack([np.tile([0.0, 1.0, 2.0], 10), np.tile([1.0, 2.0, 3.0], 10)], axis=1)
    assert causes(distance)[0] == Cause.NO_FINITE_SEVERITIES


def test_bad_input_is_one_sentence() -> None:
    rng = np.random.default_rng(2)
    ratings = table(rng.integers(0, 4, (30, 3)).astype(float), "0-3", kind=np.arange(30) // 15)
    with pytest.raises(InputError, match="thresholds 'each'"):
        rater_severity(ratings, thresholds="each")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="group: unknown attribute 'gender'"):
        rater_severity(ratings, group="gender")
    numbers = table(rng.normal(size=(30, 3)), "interval")
    with pytest.raises(InputError, match="90 different answers; expected at most 20"):
        rater_severity(numbers)
    many = table(rng.integers(0, 4, (60, 3)).astype(float), "0-3", kind=np.arange(60))
    with pytest.raises(InputError, match=r"group 'kind' has 60 values .* expected 2 to 20 groups"):
        rater_severity(many, group="kind")
    people = Ratings(
        {
            "stimulus": np.repeat(np.arange(10), 2),
            "rater": ["a", "b"] * 10,
            "value": rng.integers(0, 2, 20),
            "sex": ["m", "f"] * 10,
        },
        scale="0-3",
    )
    with pytest.raises(InputError, match="mixed-model --fixed sex"):
        rater_severity(people, group="sex")


@pytest.mark.parametrize("name", ["rater", "value", "stimulus", "label", "rt_ms"])
def test_what_is_no_attribute_of_stimuli_is_no_group(name: str) -> None:
    rng = np.random.default_rng(3)
    stimulus, rater = (part.ravel() for part in np.indices((30, 3)))
    columns = {
        "stimulus": stimulus,
        "rater": [f"r{k}" for k in rater],
        "label": ["joy"] * 90,
        "value": rng.integers(0, 4, 90),
        "rt_ms": rng.integers(300, 900, 90),
    }
    ratings = Ratings({**columns, "gender": np.array(["f", "m"])[stimulus % 2]}, scale="0-3")
    with pytest.raises(InputError) as found:
        rater_severity(ratings, group=name)
    assert not_an_attribute(name) in str(found.value)
    with pytest.raises(InputError) as found:
        rater_severity(ratings, group="stimulus:rater")
    assert str(found.value) == (
        "group: unknown attribute 'stimulus:rater'; expected one of: gender"
    )
    with pytest.raises(InputError, match=re.escape(NO_GROUPS)):
        rater_severity(Ratings(columns, scale="0-3"), group=name)


def test_sessions_can_be_a_group() -> None:
    answers = simulate(60, np.array([-0.5, 0.0, 0.5]), np.array([-1.0, 1.0]), 3)
    ratings = table(answers, "0-2", session=np.arange(60) % 2)
    assert rater_severity(ratings, group="session").to_frame("differences").height == 6


def test_where_the_model_fits_any_answers_there_is_no_fit() -> None:
    """Severities of raters in pairs, who say yes or no, reproduce what each pair does."""
    answers = simulate(90, np.array([-0.5, 0.0, 0.5]), np.zeros(1), 3)
    two = rater_severity(table(answers[:, :2], "binary"))
    found = two.to_frame()
    assert found["status"].to_list() == ["ok", "ok"]
    assert found["fit_reason"].to_list() == [Cause.ALWAYS_FITS] * 2
    for name in ("infit", "infit_p", "outfit", "outfit_p"):
        assert found[name].is_nan().all()
    assert len(two.notes) == 1
    # Here a fourth rater has answers beside the first one's only.
    fourth = np.full((180, 4), np.nan)
    fourth[:90, :3] = answers
    fourth[90:, [0, 3]] = simulate(90, np.array([-0.5, 0.5]), np.zeros(1), 4)
    one = rater_severity(table(fourth, "binary"))
    fit = one.to_frame().sort("rater")
    assert fit["fit_reason"].to_list() == [None, None, None, Cause.ALWAYS_FITS]
    assert fit["infit"].is_nan().to_list() == [False, False, False, True]
    assert one.notes[0] == no_infit("rating", "r03", str(Reason(Cause.ALWAYS_FITS)))


def test_without_severities_tables_have_all_their_columns() -> None:
    answers = simulate(40, np.array([-0.5, 0.0, 0.5]), np.array([-1.0, 1.0]), 3)
    kind = np.arange(40) % 2
    full = rater_severity(table(answers, "0-2", kind=kind), group="kind")
    none = rater_severity(table(answers[:, :1], "0-2", kind=kind), group="kind")
    for one, other in zip(full.tables, none.tables, strict=True):
        assert dict(one.frame.schema) == dict(other.frame.schema)
    assert none.to_frame("stimuli").is_empty()


def test_models_that_are_not_used_are_noted() -> None:
    answers = simulate(60, np.array([-0.5, 0.0, 0.5, 0.0]), np.array([-1.0, 1.0]), 3)
    stimulus, rater = (part.ravel() for part in np.indices(answers.shape))
    ratings = Ratings(
        {"stimulus": stimulus, "rater": [f"r{k}" for k in rater], "value": answers.ravel()},
        scale="0-2",
        raters={"rater": ["r3"], "rater_kind": ["model"]},
    )
    assert rater_severity(ratings).notes == (models_unused(1),)
    assert rater_severity(ratings, everyone=True).notes == ()
