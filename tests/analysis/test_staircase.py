"""The staircase over the frames of a transition: runs, results, pooling, and its figure."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from affectlab.analysis import (
    FrameStaircase,
    pooled_jnd,
    pooled_jnds,
    psychometric_function,
    simulate_observer,
    staircase_runs,
    transition_jnd,
)
from affectlab.analysis.jnd.staircase import JndStatus
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.core.render.figure import figure_of
from affectlab.core.render.svg import to_png
from affectlab.report import draw_figure

JNDS = (5, 9, 16, 28, 40)
METHODS = ("mean", "mode", "quantile", "entropy")


def simulated(jnd: float, seed: int, anchor: str = "peak", n_frames: int = 90, **begin):
    observer = simulate_observer(math.log10(jnd), guess_rate=0.1, seed=seed)
    return FrameStaircase.begin(n_frames, anchor, **begin).simulate(observer)


@pytest.mark.parametrize("method", METHODS)
def test_the_planted_jnd_is_found(method: str) -> None:
    """50 trials, JNDs of 5 to 40 frames: hardly any bias, 6 % error, intervals that hold."""
    error, held, sd = [], [], []
    for seed in range(12):
        for jnd in JNDS:
            found = simulated(jnd, 100 * seed + jnd, method=method).result()
            assert found.ok
            error.append(math.log10(found.distance / jnd))
            held.append(found.low <= jnd <= found.high)
            sd.append(found.sd)
    # Unbiased within 2 %; bounds of the spread are four standard errors from .026 of 600 observers.
    assert abs(np.mean(error)) < math.log10(1.02)
    assert 0.018 < np.std(error) < 0.036
    assert np.mean(sd) == pytest.approx(np.std(error), rel=0.4)
    assert np.sum(held) >= 51


def test_both_ends_give_the_same_distance() -> None:
    for seed in range(5):
        peak, neutral = simulated(14, seed), simulated(14, seed, "neutral")
        assert peak.distances == neutral.distances
        assert [89 - frame for frame in peak.frames] == list(neutral.frames)
        assert peak.result().distance == neutral.result().distance
        assert neutral.result().frame == 89 - peak.result().frame


@given(
    st.integers(2, 300),
    st.sampled_from(["peak", "neutral"]),
    st.sampled_from(METHODS),
    st.lists(st.booleans(), max_size=12),
)
@settings(max_examples=60)
def test_suggested_frames_are_frames(n_frames, anchor, method, answers) -> None:
    run = FrameStaircase.begin(n_frames, anchor, method=method)
    for different in answers:
        frame = run.next_frame()
        assert 0 <= frame < n_frames
        assert frame != run.anchor_frame
        run = run.update(frame, different)
    if method != "entropy":
        wanted = run.quest.next_intensity(method)
        away = [abs(math.log10(d) - wanted) for d in range(1, n_frames)]
        shown = abs(run.next_frame() - run.anchor_frame)
        assert away[shown - 1] == pytest.approx(min(away))
    assert FrameStaircase.from_dict(json.loads(json.dumps(run.to_dict()))).next_frame() == (
        run.next_frame()
    )


@given(
    st.lists(st.tuples(st.integers(0, 29), st.booleans()), max_size=40),
    st.sampled_from(["peak", "neutral"]),
)
def test_stored_runs_come_back_exactly(trials, anchor) -> None:
    run = FrameStaircase.begin(30, anchor, ends=("peak", "neutral"))
    for frame, different in trials:
        run = run.update(frame, different)
    text = json.dumps(run.to_dict(), allow_nan=False)
    again = FrameStaircase.from_dict(json.loads(text))
    assert again == run
    assert again.quest.posterior.tobytes() == run.quest.posterior.tobytes()
    assert repr(again.result()) == repr(run.result())
    json.dumps(run.result().to_dict(), allow_nan=False)


def test_an_update_leaves_the_old_run() -> None:
    run = FrameStaircase.begin(90)
    new = run.update(np.int64(20), np.True_)
    assert (run.n_trials, new.n_trials, new.frames) == (0, 1, (20,))
    assert all(type(frame) is int for frame in new.frames)
    assert all(type(different) is bool for different in new.different)


def test_always_different_is_within() -> None:
    run = FrameStaircase.begin(90).simulate(lambda _: True)
    found = run.result()
    assert run.frames[-1] == 1
    assert found.status is JndStatus.WITHIN
    assert found.reason == Reason(Cause.NEAREST_BEYOND_JND)
    assert found.frame is None
    assert math.isnan(found.distance)
    assert math.isnan(found.high)
    assert found.within > 0.95
    assert not found.estimate.ok


@pytest.mark.parametrize("anchor", ["peak", "neutral"])
def test_never_different_is_beyond(anchor: str) -> None:
    run = FrameStaircase.begin(90, anchor).simulate(lambda _: False)
    found = run.result()
    assert abs(run.frames[-1] - run.anchor_frame) == 89
    assert found.status is JndStatus.BEYOND
    assert found.reason == Reason(Cause.FARTHEST_WITHIN_JND, n=89)
    assert found.frame is None
    assert math.isnan(found.distance)
    assert math.isnan(found.low)
    assert found.beyond > 0.95


def test_a_jnd_beyond_the_sequence_is_no_frame() -> None:
    """130 of 89 frames: answers still bound it, and the interval says where."""
    found = [simulated(130, seed).result() for seed in range(12)]
    assert sum(result.status is JndStatus.BEYOND for result in found) >= 11
    bounded = [result for result in found if not math.isnan(result.low)]
    assert len(bounded) >= 9
    assert sum(result.low <= 130 <= result.high for result in bounded) >= len(bounded) - 2


def test_lapses_widen_little_and_hardly_shift() -> None:
    error = []
    for seed in range(40):
        observer = simulate_observer(math.log10(15), guess_rate=0.1, lapse=0.05, seed=seed)
        found = FrameStaircase.begin(90, lapse=0.05).simulate(observer).result()
        error.append(math.log10(found.distance / 15))
        assert found.low < found.distance < found.high
    assert abs(np.mean(error)) < 0.025
    assert np.std(error) < 0.05


def test_catch_trials_are_counted_apart() -> None:
    run = FrameStaircase.begin(90, "neutral", trials=3)
    run = run.update(89, True).update(60, True).update(89, False).update(80, False)
    plain = FrameStaircase.begin(90, "neutral", trials=3).update(60, True).update(80, False)
    assert run.n_trials == 2
    assert not run.done
    assert run.quest == plain.quest
    found = run.result()
    assert (found.n_trials, found.n_different) == (2, 1)
    assert (found.n_catch, found.n_false_alarms) == (2, 1)
    assert found.status is JndStatus.UNFINISHED
    assert found.reason == Reason(Cause.UNFINISHED, n=2, least=3, of="trials")
    done = run.update(70, True)
    assert done.done
    with pytest.raises(InputError, match="the run is done after 3 trials"):
        done.next_frame()
    with pytest.raises(InputError, match="the run is done after 3 trials"):
        done.update(3, True)


def test_before_the_first_answer() -> None:
    found = FrameStaircase.begin(90).result()
    assert found.status is JndStatus.UNDEFINED
    assert found.reason == Reason(Cause.NONE, of="answers yet")
    assert math.isnan(found.low)
    assert math.isnan(found.sd)
    assert "no frame" in repr(found)


def test_two_frames_are_enough_to_begin() -> None:
    run = FrameStaircase.begin(2)
    assert run.next_frame() == 1
    assert run.simulate(lambda _: False).result().status is JndStatus.BEYOND


def test_runs_follow_the_names_of_the_ends() -> None:
    runs = FrameStaircase.runs(40, ends=("apex", "rest"), trials=7)
    assert list(runs) == ["apex", "rest"]
    assert [run.anchor_frame for run in runs.values()] == [0, 39]
    assert all(run.trials == 7 for run in runs.values())
    assert list(FrameStaircase.runs(40, ["neutral"])) == ["neutral"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: FrameStaircase.begin(1), "n_frames = 1: expected a whole number from 2 on"),
        (lambda: FrameStaircase.begin(9.0), "n_frames = 9.0"),
        (lambda: FrameStaircase.begin(9, trials=0), "trials = 0"),
        (lambda: FrameStaircase.begin(9, "apex"), "unknown anchor 'apex'"),
        (lambda: FrameStaircase.begin(9, "a", ends=("a", "a")), "expected two names"),
        (lambda: FrameStaircase.begin(9, "a", ends="ab"), "expected two names"),
        (lambda: FrameStaircase.begin(9, guess=0), "guess = 0.0: expected a number from 0.1 to 80"),
        (lambda: FrameStaircase.begin(9, guess=900), "guess = 900"),
        (lambda: FrameStaircase.begin(9, method="best"), "unknown method 'best'"),
        (lambda: FrameStaircase.begin(9, threshold=0.05), "threshold is 0.05"),
        (lambda: FrameStaircase.begin(9).update(9, True), "frame = 9: expected a whole number"),
        (lambda: FrameStaircase.begin(9).update(-1, True), "frame = -1"),
        (lambda: FrameStaircase.begin(9).update(True, True), "frame = True"),
        (lambda: FrameStaircase.begin(9).update(1, None), "different is None"),
        (lambda: pooled_jnd([]), "there are no runs"),
        (lambda: pooled_jnd([1]), "runs hold int; expected FrameStaircase"),
        (lambda: pooled_jnd([FrameStaircase.begin(9)], spread=0), "spread = 0"),
        (lambda: pooled_jnds([FrameStaircase.begin(9)], {}), "by is empty"),
        (lambda: pooled_jnds([FrameStaircase.begin(9)], {"a": []}), "expected 1 values"),
        (lambda: transition_jnd([FrameStaircase.begin(9)]), "expected one FrameStaircase from"),
        (lambda: transition_jnd([FrameStaircase.begin(9)] * 2), "once from each end"),
    ],
)
def test_bad_input_is_refused(make, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "x"}, "schema 'x'"),
        ({"frames": [3]}, "do not fit the answers"),
        ({"frames": [3, 30]}, "frame = 30"),
        ({"frames": [3, 1.5]}, "frame = 1.5"),
        ({"frames": 3}, "do not fit the answers"),
        ({"different": [True, 1]}, "expected true and false"),
        ({"ends": "ab"}, "expected two names"),
        ({"ends": ["peak"]}, "expected two names"),
        ({"anchor": None}, "unknown anchor 'None'"),
        ({"method": "x"}, "unknown method 'x'"),
        ({"trials": 1}, "2 answers; expected at most 1"),
        ({"n_frames": "20"}, "n_frames = '20'"),
        ({"settings": {}}, "schema None"),
    ],
)
def test_damaged_runs_are_refused(change, said: str) -> None:
    stored = FrameStaircase.begin(20).update(3, True).update(2, False).to_dict()
    with pytest.raises(InputError, match=said):
        FrameStaircase.from_dict(stored | change)
    with pytest.raises(InputError, match="lacks 'frames'"):
        FrameStaircase.from_dict({name: stored[name] for name in stored if name != "frames"})


def slowly_pooled(runs, scale: float) -> tuple[float, float]:
    """Posterior mean and SD of the common log10 distance, by plain sums over a wide grid."""
    theta = np.linspace(-2.5, 4.5, 701)
    step = theta[1] - theta[0]
    likelihoods = []
    for run in runs:
        one = np.ones(theta.size)
        for frame, different in zip(run.frames, run.different, strict=True):
            known = run.settings
            p = psychometric_function(
                run.intensity(frame),
                theta,
                slope=known.slope,
                lapse=known.lapse,
                guess_rate=known.guess_rate,
                at=known.threshold,
            )
            one = one * (p if different else 1 - p)
        likelihoods.append(one / one.max())
    mu = np.linspace(-1, 2.95, 200)
    height = np.zeros(mu.size)
    for tau in np.arange(0.005, 5 * scale, 0.01):
        kernel = np.exp(-0.5 * ((theta - mu[:, None]) / tau) ** 2) * step / tau
        seen = np.prod([kernel @ one for one in likelihoods], axis=0)
        height += seen * stats.halfnorm.pdf(tau, scale=scale)
    share = height / height.sum()
    mean = float(share @ mu)
    return mean, math.sqrt(float(share @ (mu - mean) ** 2))


@pytest.mark.parametrize("jnds", [(8, 30), (14, 14, 15), (20, 28, 200)])
def test_pooling_is_the_integral(jnds) -> None:
    runs = [simulated(jnd, seed) for seed, jnd in enumerate(jnds)]
    found = pooled_jnd(runs)
    mean, sd = slowly_pooled(runs, 0.2)
    assert math.log10(found.distance) == pytest.approx(mean, abs=0.01)
    assert found.sd == pytest.approx(sd, rel=0.05)


def test_one_run_pooled_is_that_run() -> None:
    run = simulated(12, 3)
    found, alone = pooled_jnd([run]), run.result()
    for name in ("distance", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(alone, name), rel=0.01)
    assert math.isnan(found.spread)
    assert found.estimate.n_items == 1


@pytest.mark.long
def test_pooling_holds_the_truth_and_finds_the_spread() -> None:
    """30 groups of 6 runs around 15 frames, 0.1 log10 units apart."""
    held, error, spreads = [], [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        runs = [
            simulated(15 * 10 ** (0.1 * rng.standard_normal()), 50 * seed + k) for k in range(6)
        ]
        found = pooled_jnd(runs)
        held.append(found.low <= 15 <= found.high)
        error.append(math.log10(found.distance / 15))
        spreads.append(found.spread)
    assert np.sum(held) >= 25
    assert abs(np.mean(error)) < 0.035
    assert 0.08 < np.mean(spreads) < 0.16


def test_runs_beyond_the_sequence_count() -> None:
    """Around 70 of 89 frames some runs find none: without them the distance would be too short."""
    pooled, kept = [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        runs = [
            simulated(70 * 10 ** (0.2 * rng.standard_normal()), 50 * seed + k) for k in range(8)
        ]
        found = pooled_jnd(runs)
        if found.ok:
            pooled.append(math.log10(found.distance / 70))
            alone = [run.result().distance for run in runs if run.result().ok]
            assert found.n_found == len(alone) <= found.n_runs == 8
            kept.append(math.log10(stats.gmean(alone) / 70))
    assert len(pooled) >= 10
    assert np.mean(kept) < np.mean(pooled) - 0.03
    assert abs(np.mean(pooled)) < 0.08


def test_pooling_without_a_bound() -> None:
    never = [FrameStaircase.begin(90).simulate(lambda _: False)] * 3
    assert pooled_jnd(never).status is JndStatus.BEYOND
    always = [FrameStaircase.begin(90).simulate(lambda _: True)] * 3
    assert pooled_jnd(always).status is JndStatus.WITHIN
    empty = pooled_jnd([FrameStaircase.begin(90)] * 2)
    assert empty.estimate.reason == empty.reason == Reason(Cause.NONE, of="answers yet")
    assert math.isnan(empty.estimate.value)
    stored = json.loads(json.dumps(empty.to_dict(), allow_nan=False))
    assert stored["distance"] is None
    assert stored["n_runs"] == 2


def test_pooled_by_group() -> None:
    actors = ["Ada", "Ada", "Ben", "Ben"]
    runs = [simulated(jnd, k) for k, jnd in enumerate((8, 9, 25, 27))]
    table = pooled_jnds(runs, {"actor": actors, "anchor": [run.anchor for run in runs]})
    assert table.keys == ("actor", "anchor")
    frame = table.to_frame()
    assert frame["actor"].to_list() == ["Ada", "Ben"]
    assert frame["n_items"].to_list() == [2, 2]
    assert frame["n_ratings"].to_list() == [100, 100]
    assert table["Ben", "peak"].value == pooled_jnd(runs[2:]).distance


def test_five_frames_and_the_number_of_jnds() -> None:
    runs = [simulated(15, seed, anchor) for seed, anchor in enumerate(("peak", "neutral"))]
    found = transition_jnd(reversed(runs))
    assert found.frames is not None
    near, far = (run.result().frame for run in runs)
    assert found.frames == (0, near, (near + far) // 2, far, 89)
    # Both ends at 15 of 89 frames, the same rate all the way: 89 / 15.
    assert found.low < 89 / 15 < found.high
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["frames"] == list(found.frames)
    assert [result["anchor"] for result in stored["results"]] == ["peak", "neutral"]
    a, b = (run.result().distance for run in runs)
    assert found.n_jnds == pytest.approx(2 + (89 - a - b) * (1 / a + 1 / b) / 2, rel=0.02)


def test_transitions_too_short_for_five_frames() -> None:
    crossing = [simulated(12, 1, a, n_frames=20) for a in ("peak", "neutral")]
    found = transition_jnd(crossing)
    assert (found.status, found.reason) == (JndStatus.CLOSE, Reason(Cause.NO_FRAME_BETWEEN))
    assert found.frames is None
    assert found.low < 19 / 12 < found.high
    never = [FrameStaircase.begin(20, a).simulate(lambda _: False) for a in ("peak", "neutral")]
    found = transition_jnd(never)
    assert found.frames is None
    assert math.isnan(found.n_jnds)
    assert [end.status for end in found.results] == [JndStatus.BEYOND] * 2
    assert found.status is JndStatus.UNDEFINED
    begun = transition_jnd(FrameStaircase.runs(20).values())
    assert begun.results[0].reason == Reason(Cause.NONE, of="answers yet")


def test_figure_shows_every_trial() -> None:
    run = FrameStaircase.begin(90, "neutral", trials=12)
    observer = simulate_observer(1.1, guess_rate=0.1, seed=1)
    while not run.done:
        frame = run.next_frame()
        run = run.update(frame, observer(run.intensity(frame)))
        if run.n_trials == 6:
            run = run.update(run.anchor_frame, True)
    found = staircase_runs([run])
    figure = figure_of(found.figures[0], found.table())
    trials, beside = figure.axes
    shown = np.concatenate([marks.get_offsets() for marks in trials.collections])
    assert len(shown) == 13
    real = shown[np.argsort(shown[:, 0])]
    away = np.array(run.distances)
    np.testing.assert_allclose(real[away > 0, 1], away[away > 0])
    filled = trials.collections[0].get_offsets()
    different = [k + 1 for k, d in enumerate(run.different) if d and away[k]]
    assert filled[:, 0].tolist() == different
    curve = beside.lines[0]
    peak = curve.get_ydata()[np.nanargmax(curve.get_xdata())]
    assert math.log10(peak) == pytest.approx(run.quest.mode, abs=0.011)
    key = [text.get_text() for text in figure.legends[0].get_texts()]
    assert key == ["different", "same", "catch trial (two equal pictures)"]
    assert to_png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "run",
    [
        FrameStaircase.begin(90),
        FrameStaircase.begin(2).simulate(lambda _: True),
        FrameStaircase.begin(90).simulate(lambda _: False),
        FrameStaircase.begin(90).update(0, True),
    ],
)
def test_figures_without_a_result(run) -> None:
    found = staircase_runs([run, run])
    figure = figure_of(found.figures[0], found.table())
    assert len(figure.axes) == 4
    assert figure.axes[0].get_title(loc="right") in found.sentences[0]
    assert to_png(figure)


def test_figures_refuse_arrays_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="there is no run"):
        staircase_runs([])
    columns = {"run": [0], "distance": [1], "different": [True]}
    found = {"title": "a", "grid": [1, 2], "posterior": [0.5, 0.5]}
    with pytest.raises(InputError, match=r"posterior have shapes \(2,\) and \(1,\)"):
        draw_figure("staircases", columns, thresholds=[found | {"posterior": [1]}])
    with pytest.raises(InputError, match="out of range"):
        draw_figure("staircases", columns, thresholds=[found | {"grid": [0, 2]}])
