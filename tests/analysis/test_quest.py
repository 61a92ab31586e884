"""QUEST: what Watson and Pelli's method has to give, however the state was reached."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import integrate, stats

from affectlab.analysis import psychometric_function, quest, simulate_observer
from affectlab.analysis.jnd import Quest, QuestSettings
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason

answers = st.lists(st.tuples(st.floats(-3, 3), st.booleans()), max_size=25)
shapes = st.fixed_dictionaries(
    {
        "slope": st.floats(0.5, 10),
        "lapse": st.floats(0.001, 0.1),
        "guess_rate": st.floats(0.01, 0.5),
        "threshold": st.floats(0.6, 0.85),
    }
)


def weibull(x: float, t: float, slope: float, lapse: float, guess_rate: float, at: float) -> float:
    """Probability of success, in the plainest form: find k, then read the curve."""
    top = 1 - lapse * (1 - guess_rate)
    k = -math.log((top - at) / (top - guess_rate))
    return top - (top - guess_rate) * math.exp(-k * 10 ** (slope * (x - t)))


def slow_posterior(state: Quest) -> np.ndarray:
    """Bayes' rule on the grid, threshold by threshold and answer by answer, in probabilities."""
    known = state.settings
    share = []
    for t in state.grid.tolist():
        p = stats.norm.pdf(t, known.guess, known.sd)
        for x, correct in zip(state.intensities, state.correct, strict=True):
            seen = weibull(x, t, known.slope, known.lapse, known.guess_rate, known.threshold)
            p *= seen if correct else 1 - seen
        share.append(p)
    return np.array(share) / np.sum(share)


@given(st.floats(-3, 3), shapes)
def test_the_function_passes_through_the_threshold(t: float, shape: dict[str, float]) -> None:
    at = shape.pop("threshold")
    assert psychometric_function(t, t, at=at, **shape) == pytest.approx(at, abs=1e-12)
    floor, near, far, ceiling = psychometric_function(
        [-np.inf, t - 0.1, t + 0.1, 99], t, at=at, **shape
    )
    assert floor == pytest.approx(shape["guess_rate"])
    assert ceiling == pytest.approx(1 - shape["lapse"] * (1 - shape["guess_rate"]))
    assert floor <= near < at < far <= ceiling


@given(st.floats(-2, 2), st.floats(-2, 2), shapes)
def test_the_function_is_the_plain_one(x: float, t: float, shape: dict[str, float]) -> None:
    at = shape.pop("threshold")
    expected = weibull(x, t, shape["slope"], shape["lapse"], shape["guess_rate"], at)
    assert psychometric_function(x, t, at=at, **shape) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(answers, shapes, st.floats(-1, 1), st.floats(0.1, 3))
def test_posterior_is_bayes_rule(trials, shape, guess: float, sd: float) -> None:
    state = quest(guess, sd, grain=0.1, **shape)
    for x, correct in trials:
        state = state.update(x, correct)
    expected = slow_posterior(state)
    np.testing.assert_allclose(state.posterior, expected, atol=1e-10)
    mean = float(expected @ state.grid)
    assert state.mean == pytest.approx(mean, abs=1e-9)
    assert state.sd == pytest.approx(math.sqrt(expected @ (state.grid - mean) ** 2), abs=1e-7)
    assert expected[int(np.argmin(np.abs(state.grid - state.mode)))] >= expected.max() - 1e-10


def test_prior_is_normal_and_fine_grids_agree_with_integrals() -> None:
    prior = quest(0.3, 0.4)
    assert prior.mean == pytest.approx(0.3, abs=1e-6)
    assert prior.sd == pytest.approx(0.4, abs=1e-4)
    for p in (0.025, 0.5, 0.9):
        assert prior.quantile(p) == pytest.approx(stats.norm.ppf(p, 0.3, 0.4), abs=1e-3)
    state = prior.update(0.1, True).update(0.2, False).update(0.6, True)

    def height(t: float) -> float:
        p = stats.norm.pdf(t, 0.3, 0.4)
        for x, correct in ((0.1, True), (0.2, False), (0.6, True)):
            seen = weibull(x, t, 3.5, 0.01, 0.5, 0.75)
            p *= seen if correct else 1 - seen
        return p

    whole = integrate.quad(height, -2.2, 2.8, limit=200)[0]
    mean = integrate.quad(lambda t: t * height(t), -2.2, 2.8, limit=200)[0] / whole
    assert state.mean == pytest.approx(mean, abs=1e-6)
    below = integrate.quad(height, -2.2, 0.4, limit=200)[0] / whole
    assert state.cumulative(0.4) == pytest.approx(below, abs=1e-4)
    assert state.quantile(below) == pytest.approx(0.4, abs=1e-3)


@pytest.mark.parametrize("p", [0.0, 0.025, 0.5, 0.975, 1.0])
def test_quantiles_of_a_posterior_on_one_point(p: float) -> None:
    """Nearly all of the grid has a probability of exactly 0 here."""
    state = quest(0.5, 1e-5)
    assert (state.posterior > 0).sum() == 1
    assert state.quantile(p) == pytest.approx(0.5 + 0.01 * (p - 0.5), abs=1e-9)


@given(answers)
def test_order_of_answers_means_nothing(trials) -> None:
    forward = backward = quest(0, 1, grain=0.05)
    for x, correct in trials:
        forward = forward.update(x, correct)
    for x, correct in reversed(trials):
        backward = backward.update(x, correct)
    np.testing.assert_allclose(forward.posterior, backward.posterior, atol=1e-12)


@given(answers, st.sampled_from([1.0, 2.5, math.inf]))
def test_stored_state_comes_back_to_the_bit(trials, sd: float) -> None:
    state = quest(0, sd)
    for x, correct in [*trials, (-math.inf, True)]:
        state = state.update(x, correct)
    text = json.dumps(state.to_dict(), allow_nan=False)
    again = Quest.from_dict(json.loads(text))
    assert again == state
    assert hash(again) == hash(state)
    assert again.posterior.tobytes() == state.posterior.tobytes()
    for method in ("mean", "mode", "quantile"):
        assert again.next_intensity(method) == state.next_intensity(method)


def test_an_update_leaves_the_old_state() -> None:
    old = quest(0, 1)
    before = old.posterior.tobytes(), old.mean
    new = old.update(0.0, True)
    assert (old.posterior.tobytes(), old.mean, old.n_trials) == (*before, 0)
    assert new.n_trials == 1
    with pytest.raises(AttributeError):
        old.correct = (True,)  # type: ignore[misc]
    for array in (old.posterior, old.grid, old.settings.log_prior, old.settings.edges):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_trial_without_signal_says_nothing() -> None:
    state = quest(0, 1).update(0.2, False)
    for correct in (True, False):
        np.testing.assert_allclose(
            state.update(-math.inf, correct).posterior, state.posterior, atol=1e-14
        )


def test_thousands_of_answers_do_not_run_to_zero() -> None:
    observer = simulate_observer(0.5, seed=0)
    shown = np.random.default_rng(1).uniform(0, 1, 5000)
    state = Quest(
        quest(0, 1).settings, tuple(shown.tolist()), tuple(observer.answers(shown).tolist())
    )
    assert state.posterior.sum() == pytest.approx(1)
    assert state.mean == pytest.approx(0.5, abs=0.03)
    assert 0.001 < state.sd < 0.02


@given(
    hnp.arrays(np.float64, st.integers(1, 12), elements=st.floats(-2, 2)),
    answers,
)
def test_information_is_the_expected_fall_of_entropy(intensities, trials) -> None:
    state = quest(0, 1, grain=0.1)
    for x, correct in trials[:8]:
        state = state.update(x, correct)

    def entropy(share: np.ndarray) -> float:
        return float(stats.entropy(share))

    found = state.information(intensities)
    known = state.settings
    for x, gain in zip(intensities.tolist(), found.tolist(), strict=True):
        after = 0.0
        for correct in (True, False):
            seen = np.array(
                [
                    weibull(x, t, known.slope, known.lapse, known.guess_rate, 0.75)
                    for t in state.grid
                ]
            )
            chance = float((seen if correct else 1 - seen) @ state.posterior)
            after += chance * entropy(state.update(x, correct).posterior)
        assert gain == pytest.approx(entropy(state.posterior) - after, abs=1e-9)
    best = state.next_intensity("entropy", intensities)
    assert best == intensities[int(np.argmax(found))]


@given(
    st.lists(st.floats(-2, 2), min_size=1, max_size=9),
    st.sampled_from(["mean", "mode", "quantile"]),
)
def test_the_nearest_that_can_be_shown(among, method) -> None:
    state = quest(0.2, 1).update(0.1, True).update(-0.3, False)
    wanted = state.next_intensity(method)
    assert abs(state.next_intensity(method, among) - wanted) == min(abs(x - wanted) for x in among)


def test_entropy_looks_at_the_whole_grid_by_default() -> None:
    state = quest(0.2, 0.5, grain=0.05).update(0.1, True)
    best = state.next_intensity("entropy")
    assert best in state.grid
    gain = [state.information([x])[0] for x in state.grid]
    assert state.information([best])[0] == pytest.approx(max(gain), abs=1e-12)
    with pytest.raises(InputError, match="too many to compare"):
        quest(0, 1, grain=0.0005).next_intensity("entropy")


@pytest.mark.parametrize("method", ["mean", "mode", "quantile", "entropy"])
def test_every_method_finds_the_truth(method) -> None:
    """Bias and coverage over 60 observers; the intervals are about 0.2 wide.

    Trials at the mode are known to tell less where half of all answers are right by guessing
    (King-Smith et al. 1994): there the spread is about .14 instead of .05, and the bias .05.
    """
    error, held = [], []
    for seed in range(60):
        truth = -1.4 + 0.8 * seed / 60
        observer = simulate_observer(truth, seed=seed)
        state = quest(-1, 1, grain=0.02)
        for _ in range(50):
            shown = state.next_intensity(method)
            state = state.update(shown, observer(shown))
        low, high = state.interval()
        error.append(state.mean - truth)
        held.append(low <= truth <= high)
    assert abs(np.mean(error)) < (0.12 if method == "mode" else 0.025)
    # 60 draws at .95: fewer than 51 or so have a chance of about 1 in 1,000.
    assert np.sum(held) >= 51
    assert np.std(error) < (0.25 if method == "mode" else 0.07)


def test_what_is_not_defined_says_why() -> None:
    assert quest(0, 1).estimate().reason == Reason(Cause.NONE, of="answers yet")
    state = quest(0, 1)
    for _ in range(40):
        state = state.update(0.0, False)
    found = state.estimate()
    assert math.isnan(found.value)
    assert found.reason == Reason(Cause.CUT_OFF, of="2.5")
    assert state.cut_off == (False, True)
    rightly = quest(0, 0.3).update(0.0, True).estimate()
    assert rightly.ok
    assert rightly.low < rightly.value < rightly.high


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: quest("a", 1), "guess = 'a': expected a number"),
        (lambda: quest(math.nan, 1), "guess = nan"),
        (lambda: quest(0, 0), "sd = 0.0: expected a number above 0"),
        (lambda: quest(0, -math.inf), "sd = -inf"),
        (lambda: quest(0, 1, grain=0), "grain = 0.0"),
        (lambda: quest(0, 1, grain=1e-9), "at most 1,000,000 steps"),
        (lambda: quest(0, 1, low=2), "guess is 0; expected a log10 intensity from low, 2"),
        (lambda: quest(0, 1, low=2, high=1), "low is 2; expected less than high, 1"),
        (lambda: quest(0, 1, threshold=0.5), "threshold is 0.5; expected a share between"),
        (lambda: quest(0, 1, threshold=0.999, lapse=0.1), "the ceiling that lapses leave, 0.95"),
        (lambda: quest(0, 1, slope=0), "slope = 0"),
        (lambda: quest(0, 1, lapse=1), "lapse = 1.0: expected a number from 0 to below 1"),
        (lambda: quest(0, 1, guess_rate=-0.1), "guess_rate = -0.1"),
        (lambda: quest(0, 1).update(math.inf, True), "intensity = inf"),
        (lambda: quest(0, 1).update(True, True), "intensity = True"),
        (lambda: quest(0, 1).update(0, 1), "correct is 1; expected True or False"),
        (lambda: quest(0, 1).next_intensity("median"), "unknown method 'median'"),
        (lambda: quest(0, 1).next_intensity("mean", []), "among holds no list"),
        (lambda: quest(0, 1).next_intensity("mean", [math.nan]), "among holds no list"),
        (lambda: quest(0, 1).quantile(1.1), "p = 1.1"),
        (lambda: quest(0, 1).interval(1), "confidence 1"),
        (lambda: quest(0, 1).cumulative(math.nan), "intensity = nan"),
        (lambda: quest(0, 1, guess_rate=0).update(-math.inf, True), "trial 1: no threshold"),
        (lambda: psychometric_function(math.nan, 0), "no number"),
        (lambda: psychometric_function(0, 0, at=0.4), "at is 0.4"),
        (lambda: simulate_observer(math.inf), "threshold = inf"),
        (lambda: Quest.from_dict({}), "schema None"),
        (lambda: Quest.from_dict([]), r"schema \[\]"),
    ],
)
def test_bad_input_is_refused(make, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "affectlab/quest/0"}, "expected 'affectlab/quest/1'"),
        ({"extra": 1}, "holds unknown 'extra'"),
        ({"correct": [True]}, "2 intensities and 1 answers"),
        ({"correct": [1, 0]}, "expected true and false"),
        ({"intensities": [math.nan, 1]}, "stored intensities: value 1 = nan"),
        ({"intensities": "12"}, "expected a list"),
        ({"settings": None}, "schema None"),
    ],
)
def test_damaged_states_are_refused(change, said: str) -> None:
    stored = quest(0, 1).update(0, True).update(1, False).to_dict()
    with pytest.raises(InputError, match=said):
        Quest.from_dict(stored | change)
    assert Quest.from_dict(stored).n_trials == 2
    with pytest.raises(InputError, match="lacks 'slope'"):
        QuestSettings.from_dict({k: v for k, v in stored["settings"].items() if k != "slope"})


def test_an_impossible_stored_answer_is_refused_when_used() -> None:
    stored = quest(0, 1, guess_rate=0, lapse=0).to_dict()
    state = Quest.from_dict(stored | {"intensities": [None], "correct": [True]})
    with pytest.raises(InputError, match="1 trial: no threshold of the grid explains"):
        state.next_intensity()


def test_observers_answer_as_their_function_says() -> None:
    observer = simulate_observer(0.3, slope=2, lapse=0.05, guess_rate=0.25, at=0.7, seed=3)
    shown = np.array([-np.inf, -1, 0, 0.3, 1, 3])
    share = np.array([observer.answers(np.full(4000, x)).mean() for x in shown])
    expected = [0.25 if x == -np.inf else weibull(x, 0.3, 2, 0.05, 0.25, 0.7) for x in shown]
    np.testing.assert_allclose(observer.probability(shown), expected, atol=1e-12)
    assert (np.abs(share - expected) < 4 * np.sqrt(0.25 / 4000)).all()
    one, two = (simulate_observer(0.3, seed=5) for _ in range(2))
    assert [one(0.3) for _ in range(30)] == [two(0.3) for _ in range(30)]
