"""Twenty looks at a study that grows: how often intervals of alpha hold where one stops.

``python -m benchmarks._looks [--studies 400]`` simulates stimuli that come in, all of them judged
by the same raters or each by some of a pool, and looks twenty times. Stopped is at the first look
at which the interval is no wider than wanted: the plain one of 95 %, or the one for any number of
looks of :func:`affectlab.reliability.enough_ratings`. Stimuli have variance 1, raters 0.25, the
rest 1.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from affectlab.reliability import confidence_at_any_look, krippendorff_alpha

WORKLOADS = ()
_VARIANCE = 2.25


class Design(NamedTuple):
    """What grows, and what is asked of it."""

    kind: str
    target: str
    stimuli: int
    """In the end."""
    raters: int
    pool: int
    """Raters of whom each stimulus has some."""
    width: float


DESIGNS = (
    Design("normal", "stimuli", 600, 6, 6, 0.12),
    Design("normal", "both", 600, 6, 6, 0.3),
    Design("79 % zeros", "both", 1200, 6, 6, 0.3),
    Design("79 % zeros", "both", 600, 12, 12, 0.2),
    Design("79 % zeros", "both", 600, 12, 12, 0.3),
    Design("20 % yes", "both", 600, 5, 20, 0.2),
    Design("79 % zeros", "stimuli", 600, 6, 6, 0.2),
)


def _answers(kind: str, felt: np.ndarray) -> np.ndarray:
    spread = math.sqrt(_VARIANCE)
    if kind == "20 % yes":
        return (felt > -ndtri(0.2) * spread).astype(float)
    if kind == "79 % zeros":
        cuts = (-ndtri(0.21) + np.arange(7) * 0.25) * spread
        return np.searchsorted(cuts, felt).astype(float)
    return felt


def draw(design: Design, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Give answers, shape (pool, stimuli), and levels of raters."""
    stimulus, rater = rng.normal(size=design.stimuli), rng.normal(0, 0.5, design.pool)
    noise = rng.normal(size=(design.pool, design.stimuli))
    answers = _answers(design.kind, stimulus + rater[:, None] + noise)
    if design.raters < design.pool:
        answers[rng.random(answers.shape).argsort(axis=0).argsort(axis=0) >= design.raters] = np.nan
    return answers, rater


def _agreement(answers: np.ndarray) -> float:
    return float(1 - answers.var(axis=0, ddof=1).mean() / answers.var(ddof=1))


@cache
def _of_populations(kind: str) -> float:
    large = (draw(Design(kind, "", 6000, 400, 400, 0), np.random.default_rng(s)) for s in range(3))
    return float(np.mean([_agreement(answers) for answers, _ in large]))


def _of_raters(kind: str, rater: np.ndarray, rng: np.random.Generator) -> float:
    stimulus = rng.normal(size=20_000)
    noise = rng.normal(size=(rater.size, stimulus.size))
    return _agreement(_answers(kind, stimulus + rater[:, None] + noise))


def study(design: Design, number: int) -> dict[str, tuple[bool | None, bool, int]]:
    """Look until it is enough.

    Returns
    -------
    For the plain interval and the one for any look: whether it held at the stop, None where there
    was none; whether all held up to it; and the stimuli at the stop.
    """
    rng = np.random.default_rng([7, number])
    answers, rater = draw(design, rng)
    both = design.target == "both"
    truth = _of_populations(design.kind) if both else _of_raters(design.kind, rater, rng)
    once = confidence_at_any_look(0.95)

    def plain(part: np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
        found = krippendorff_alpha(
            part, level="interval", target=design.target, confidence=confidence
        )
        return found.low, found.high

    def at_any_look(part: np.ndarray) -> tuple[float, float]:
        low, high = plain(part, once)
        if high - low <= design.width:
            return low, high
        times = (high - low) / design.width
        wider = 1 - 2 * float(ndtr(-times * ndtri((1 + once) / 2)))
        return plain(part, min(wider, 1 - 1e-12))

    def stopped(
        interval: Callable[[np.ndarray], tuple[float, float]],
    ) -> tuple[bool | None, bool, int]:
        every = True
        for n in np.linspace(design.stimuli / 20, design.stimuli, 20).astype(int):
            low, high = interval(answers[:, :n])
            if math.isnan(low):
                continue
            holds = bool(low <= truth <= high)
            every &= holds
            if high - low <= design.width:
                return holds, every, int(n)
        return None, every, design.stimuli

    return {"plain": stopped(plain), "any look": stopped(at_any_look)}


def main() -> None:
    """Print a row of the table for each design."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--studies", type=int, default=400)
    n = parser.parse_args().studies
    print(
        "| answers, raters, about | width | interval | stopped | holds | all looks hold | stimuli |"
    )
    print("|---|---|---|---|---|---|---|")
    for design in DESIGNS:
        found = [study(design, k) for k in range(n)]
        for name in ("plain", "any look"):
            held, every, stimuli = zip(*(one[name] for one in found), strict=True)
            ends = [one for one in held if one is not None]
            at = np.mean([k for k, one in zip(stimuli, held, strict=True) if one is not None])
            of = f" of {design.pool}" if design.pool > design.raters else ""
            who = f"{design.kind}, {design.raters}{of}, {design.target}"
            print(
                f"| {who} | {design.width:g} | {name} | "
                f"{len(ends) / n:.2f} | {np.mean(ends):.3f} | {np.mean(every):.3f} | {at:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
