"""One answer and the next stimulus of an adaptive staircase, beside questplus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Size, Workload, require_close

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
        note="41 stimuli and 41 thresholds; ours gives a new state with every answer.",
    ),
)
