"""One answer and the next stimulus of an adaptive staircase, beside questplus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Mismatch, Size, Workload, require_close

_RUNS = {"tiny": 1, "quick": 4, "full": 12}
_TRIALS = 50
_LOWEST, _HIGHEST = -40, 0
"""Ends of stimuli and thresholds in steps of 1 dB, as in example 1 of Watson (2017)."""
_SLOPE, _GUESS, _LAPSE = 3.5, 0.5, 0.02


@dataclass(frozen=True)
class _Data:
    correct: NDArray[np.bool_]
    """Answers of every run, shape (runs, trials); in both programs the same, whatever is shown."""


@dataclass(frozen=True)
class _Found:
    shown: NDArray[np.float64]
    mean: NDArray[np.float64]
    posterior: NDArray[np.float64]


def make(size: Size) -> _Data:
    """Draw answers, of which 80 % are right."""
    rng = np.random.default_rng(3)
    return _Data(rng.random((_RUNS[size], _TRIALS)) < 0.8)


def ours(data: _Data) -> _Found:
    """Take each answer, and look for the stimulus that tells most."""
    from affectlab.analysis import quest

    shown, mean, posterior = [], [], []
    stimuli = (np.arange(_LOWEST, _HIGHEST + 1) / 20).tolist()
    for answers in data.correct.tolist():
        state = quest(
            -1,
            np.inf,
            threshold=1 - _LAPSE - (1 - _GUESS - _LAPSE) / np.e,
            slope=_SLOPE,
            lapse=_LAPSE / (1 - _GUESS),
            guess_rate=_GUESS,
            low=_LOWEST / 20,
            high=_HIGHEST / 20,
            grain=1 / 20,
        )
        for correct in answers:
            stimulus = state.next_intensity("entropy", stimuli)
            shown.append(20 * stimulus)
            state = state.update(stimulus, correct)
        mean.append(20 * state.mean)
        posterior.append(state.posterior)
    return _Found(np.array(shown), np.array(mean), np.array(posterior))


def theirs(data: _Data) -> _Found:
    """Do the same with questplus."""
    from questplus import QuestPlus

    shown, mean, posterior = [], [], []
    decibel = np.arange(_LOWEST, _HIGHEST + 1)
    for answers in data.correct.tolist():
        state = QuestPlus(
            stim_domain={"intensity": decibel},
            param_domain={
                "threshold": decibel,
                "slope": _SLOPE,
                "lower_asymptote": _GUESS,
                "lapse_rate": _LAPSE,
            },
            outcome_domain={"response": ["yes", "no"]},
            func="weibull",
            stim_scale="dB",
        )
        for correct in answers:
            stimulus = state.next_stim
            shown.append(stimulus["intensity"])
            state.update(stim=stimulus, outcome={"response": "yes" if correct else "no"})
        mean.append(state.param_estimate["threshold"])
        posterior.append(state.marginal_posterior["threshold"])
    return _Found(np.array(shown, dtype=float), np.array(mean), np.array(posterior))


def check(_: _Data, mine: Any, peer: Any) -> str:
    """Compare every stimulus, the posterior at the end, and its mean."""
    said = [
        require_close(mine.shown, peer.shown, 1e-9, "stimuli"),
        require_close(mine.posterior, peer.posterior, 1e-12, "posteriors"),
        require_close(mine.mean, peer.mean, 1e-9, "means"),
    ]
    return "; ".join(said)


_KNOWN_RUNS = {"tiny": 1, "quick": 6, "full": 60}
_ENOUGH = 50
"""Runs from which on a mean is known well enough to be judged."""
_MOST_BIAS = 0.02


@dataclass(frozen=True)
class _Known:
    thresholds: NDArray[np.float64]
    """True threshold of every run, in dB, shape (runs,)."""
    chances: NDArray[np.float64]
    """What decides each answer, uniform, shape (runs, trials)."""


def make_known(size: Size) -> _Known:
    """Draw people of known thresholds."""
    rng = np.random.default_rng(4)
    runs = _KNOWN_RUNS[size]
    return _Known(rng.uniform(-30, -10, runs), rng.random((runs, _TRIALS)))


def _correct(stimulus: float, threshold: float, chance: float) -> bool:
    """Answer as a person with a Weibull function in dB does."""
    detected = 1 - np.exp(-(10 ** (_SLOPE * (stimulus - threshold) / 20)))
    return bool(chance < _GUESS + (1 - _GUESS - _LAPSE) * detected)


def our_thresholds(data: _Known) -> NDArray[np.float64]:
    """Run a staircase by entropy for each person, and give the mean thresholds in dB."""
    from affectlab.analysis import quest

    stimuli = (np.arange(_LOWEST, _HIGHEST + 1) / 20).tolist()
    found = []
    for threshold, chances in zip(data.thresholds, data.chances, strict=True):
        state = quest(
            -1,
            np.inf,
            threshold=1 - _LAPSE - (1 - _GUESS - _LAPSE) / np.e,
            slope=_SLOPE,
            lapse=_LAPSE / (1 - _GUESS),
            guess_rate=_GUESS,
            low=_LOWEST / 20,
            high=_HIGHEST / 20,
            grain=1 / 20,
        )
        for chance in chances:
            stimulus = state.next_intensity("entropy", stimuli)
            state = state.update(stimulus, _correct(20 * stimulus, threshold, chance))
        found.append(20 * state.mean)
    return np.array(found)


def their_thresholds(data: _Known) -> NDArray[np.float64]:
    """Do the same with questplus."""
    from questplus import QuestPlus

    decibel = np.arange(_LOWEST, _HIGHEST + 1)
    found = []
    for threshold, chances in zip(data.thresholds, data.chances, strict=True):
        state = QuestPlus(
            stim_domain={"intensity": decibel},
            param_domain={
                "threshold": decibel,
                "slope": _SLOPE,
                "lower_asymptote": _GUESS,
                "lapse_rate": _LAPSE,
            },
            outcome_domain={"response": ["yes", "no"]},
            func="weibull",
            stim_scale="dB",
        )
        for chance in chances:
            stimulus = state.next_stim
            correct = _correct(float(stimulus["intensity"]), threshold, chance)
            state.update(stim=stimulus, outcome={"response": "yes" if correct else "no"})
        found.append(state.param_estimate["threshold"])
    return np.array(found)


def check_known(data: _Known, mine: Any, peer: Any) -> str:
    """Compare thresholds run by run, and their mean with the truth."""
    said = require_close(mine, peer, 1e-9, "thresholds")
    bias = 10 ** float(np.mean(mine - data.thresholds) / 20) - 1
    if mine.size >= _ENOUGH and abs(bias) > _MOST_BIAS:
        raise Mismatch(f"mean threshold {bias:+.1%} from the truth; expected at most 2 %")
    return f"{said}; mean threshold {bias:+.1%} from the truth"


WORKLOADS = (
    Workload(
        name="QUEST, 12 runs of 50 trials: next stimulus by entropy, and update",
        peer="questplus",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=40,
        packages=("questplus",),
        best="It has one way, on numpy's arrays.",
        note="41 stimuli and 41 thresholds; ours gives a new state with every answer.",
    ),
    Workload(
        name="QUEST, 60 people of known threshold, 50 trials each: mean threshold",
        peer="questplus",
        make=make_known,
        ours=our_thresholds,
        theirs=their_thresholds,
        check=check_known,
        faster=25,
        packages=("questplus",),
        best="It has one way, on numpy's arrays.",
        note="The mean threshold is within 2 % of the truth, in both.",
    ),
)
