"""Simulated answers: who sees what in which order, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError, check_choices, check_number, check_once
from affectlab.ratings import Ratings, Scale
from affectlab.simulate.raters.profiles import RaterProfile
from affectlab.simulate.raters.truth import Truth, bounds

_KINDS = ("main", "golden", "repeat")


@dataclass(frozen=True, eq=False)
class Simulation:
    """Answers together with the truth they came from."""

    ratings: Ratings
    truth: Truth
    profiles: tuple[RaterProfile, ...]
    golden: pl.DataFrame
    """Known answers of the golden trials: ``stimulus, label, value`` (no rows without golden)."""

    def __repr__(self) -> str:
        return f"Simulation({self.ratings!r})"

    def profiles_frame(self) -> pl.DataFrame:
        """Give one row per rater with what makes them."""
        fields = (
            "bias", "inconsistency", "laziness", "reversed", "straight_lining", "missing",
            "scale_use", "attentive",
        )  # fmt: skip
        rows = [
            {"rater": rater.name, "rater_kind": rater.kind}
            | {field: getattr(rater, field) for field in fields}
            for rater in self.profiles
        ]
        return pl.DataFrame(rows)


@dataclass(frozen=True, slots=True)
class _Trials:
    """Who sees what: one entry per trial, sorted by rater and order."""

    rater: NDArray[np.intp]
    stimulus: NDArray[np.intp]
    kind: NDArray[np.intp]
    number: NDArray[np.intp]


def simulate_raters(
    truth: Truth,
    raters: Sequence[RaterProfile],
    *,
    seed: int | np.random.Generator = 0,
    golden: int = 0,
    repeats: int = 0,
    raters_per_stimulus: int | None = None,
    stimuli: pl.DataFrame | None = None,
    source: str = "simulated",
) -> Simulation:
    """Let raters answer about stimuli whose truth is known.

    Parameters
    ----------
    truth
        See :func:`simulate_truth`; its scale is the scale of the answers.
    raters
        See :func:`panel` and :func:`rater_profile`; names differ.
    seed
        Same seed, same bytes.
    golden
        Number of golden trials per rater, on clear stimuli that all raters get; models get none.
    repeats
        Number of stimuli that each rater sees again later; models get none.
    raters_per_stimulus
        How many of the people see each stimulus; all when not given. Models always see all.
    stimuli
        Attributes of the stimuli, with a column ``stimulus``.
    source
        Kept with the ratings, for reports.

    Returns
    -------
    Simulation
        Answers with ``trial_kind`` main, golden or repeat, ``trial`` (order of showing, from 1) and
        ``rt_ms``. Missing answers are absent rows.

        ``ratings``, ``truth``, ``profiles`` and ``golden`` (the known answers);
        ``profiles_frame()`` has a row per rater.

    Raises
    ------
    InputError
        When no rater or two of the same name are given, a count is out of range, a confusion or
        label bias names a label that is not there, or every answer is missing.

    Examples
    --------
    >>> from affectlab.simulate import panel, simulate_truth
    >>> truth = simulate_truth(20, "mikels", "0-7", seed=0)
    >>> simulate_raters(truth, panel(5, seed=0), seed=0).ratings.n_raters
    5
    """
    raters = tuple(raters)
    _check(truth, raters, golden, repeats, raters_per_stimulus)
    rng = np.random.default_rng(seed)
    people = np.array([rater.kind in ("human", "simulated") for rater in raters])
    clear = _clear_stimuli(truth, golden, rng)
    trials = _schedule(len(truth.stimuli), people, clear, repeats, raters_per_stimulus, rng)
    lazy = rng.random(len(trials.rater)) < _each(raters, "laziness")[trials.rater]
    values = _answers(truth, raters, trials, lazy, rng)
    hasty = np.where(lazy, 0.15, 1.0) * rng.lognormal(0.0, 0.35, len(lazy))
    rt_ms = np.round(1000.0 * _each(raters, "seconds")[trials.rater] * hasty)
    given = rng.random(values.shape) >= _each(raters, "missing")[trials.rater, None]
    if not given.any():
        raise InputError("every simulated answer is missing; expected a lower probability")

    n_labels = len(truth.labels)
    row, label = np.nonzero(given)

    def names(codes: NDArray[np.intp], known: Sequence[str]) -> pl.Series:
        return pl.Series(known, dtype=pl.Enum(known)).gather(codes)

    frame = pl.DataFrame(
        {
            "stimulus": names(trials.stimulus[row], truth.stimuli),
            "rater": names(trials.rater[row], [rater.name for rater in raters]),
            "label": names(label, truth.labels),
            "value": values[given],
            "trial": trials.number[row],
            "trial_kind": names(trials.kind[row], _KINDS),
            "rt_ms": rt_ms[row],
        }
    )
    answers = Ratings(
        frame,
        scale=truth.scale,
        raters=_rater_table(raters),
        stimuli=stimuli,
        source=source,
    )
    known = pl.DataFrame(
        {
            "stimulus": np.repeat(np.array(truth.stimuli, dtype=object)[clear], n_labels),
            "label": np.tile(np.array(truth.labels, dtype=object), len(clear)),
            "value": _on_scale(truth.value[clear], truth.scale).ravel(),
        },
        schema={"stimulus": pl.String, "label": pl.String, "value": pl.Float64},
    )
    return Simulation(answers, truth, raters, known)


def _check(
    truth: Truth,
    raters: tuple[RaterProfile, ...],
    golden: int,
    repeats: int,
    raters_per_stimulus: int | None,
) -> None:
    names = [rater.name for rater in raters]
    if not raters:
        raise InputError("no rater given; expected at least one")
    check_once("rater", names)
    n_people = sum(rater.kind in ("human", "simulated") for rater in raters)
    check_number("golden", golden, 0, len(truth.stimuli), whole=True)
    check_number("repeats", repeats, 0, len(truth.stimuli), whole=True)
    if raters_per_stimulus is not None:
        check_number("raters_per_stimulus", raters_per_stimulus, 1, n_people, whole=True)
    for rater in raters:
        mentioned = [*rater.label_bias, *rater.confusions]
        mentioned += [taken for taken, _ in rater.confusions.values()]
        check_choices("label", mentioned, truth.labels, f"rater {rater.name!r}")


def _each(raters: tuple[RaterProfile, ...], field: str) -> NDArray[np.float64]:
    return np.array([getattr(rater, field) for rater in raters], dtype=np.float64)


def _clear_stimuli(truth: Truth, golden: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Choose golden stimuli among the clearest: the gap between the two strongest labels."""
    ordered = np.sort(truth.value, axis=1)
    gap = ordered[:, -1] - (ordered[:, -2] if ordered.shape[1] > 1 else 0.0)
    pool = np.argsort(-gap, kind="stable")[: max(golden, -(-len(gap) // 4))]
    return np.sort(rng.choice(pool, golden, replace=False))


def _schedule(
    n_stimuli: int,
    people: NDArray[np.bool_],
    clear: NDArray[np.intp],
    repeats: int,
    raters_per_stimulus: int | None,
    rng: np.random.Generator,
) -> _Trials:
    """Give every rater their stimuli in an order of their own, repeats after the first showing."""
    n_raters = len(people)
    shown = np.ones((n_raters, n_stimuli), dtype=bool)
    if raters_per_stimulus is not None:
        rank = rng.random((int(people.sum()), n_stimuli)).argsort(axis=0).argsort(axis=0)
        shown[people] = rank < raters_per_stimulus
    when = rng.random((n_raters, n_stimuli))
    rater, stimulus = np.nonzero(shown)
    parts = [(rater, stimulus, np.zeros_like(rater), when[rater, stimulus])]
    human = np.flatnonzero(people)
    if len(clear):
        who, what = (grid.ravel() for grid in np.meshgrid(human, clear, indexing="ij"))
        parts.append((who, what, np.ones_like(who), rng.random(len(who))))
    if repeats:
        chance = np.where(shown[human], rng.random((len(human), n_stimuli)), np.inf)
        first = np.argsort(chance, axis=1)[:, :repeats]
        who, what = np.repeat(human, repeats), first.ravel()
        seen = shown[who, what]
        who, what = who[seen], what[seen]
        begun = when[who, what]
        parts.append((who, what, np.full_like(who, 2), rng.uniform(begun, 1.0)))
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.lexsort((joined[2], joined[3], joined[0]))
    rater, stimulus, kind = (joined[column][order] for column in range(3))
    number = np.arange(len(rater)) - np.searchsorted(rater, rater) + 1
    return _Trials(rater, stimulus, kind, number)


def _answers(
    truth: Truth,
    raters: tuple[RaterProfile, ...],
    trials: _Trials,
    lazy: NDArray[np.bool_],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Answers of shape (n_trials, n_labels), before any are left out."""
    low, high = bounds(truth.scale)
    middle = 0.5 * (low + high)
    value = truth.value[trials.stimulus]
    edges = np.searchsorted(trials.rater, np.arange(len(raters) + 1))
    for index, rater in enumerate(raters):
        if rater.confusions:
            own = slice(edges[index], edges[index + 1])
            value[own] = _confused(value[own], rater, truth.labels, low)
    upside_down = _each(raters, "reversed").astype(bool)[trials.rater]
    value[upside_down] = low + high - value[upside_down]
    value = middle + _each(raters, "scale_use")[trials.rater, None] * (value - middle)
    bias = np.array(
        [
            [rater.bias + rater.label_bias.get(label, 0.0) for label in truth.labels]
            for rater in raters
        ]
    )
    value += bias[trials.rater]
    value += _each(raters, "inconsistency")[trials.rater, None] * rng.standard_normal(value.shape)
    value[lazy] = low
    constant = rng.uniform(low + 0.3 * (high - low), low + 0.7 * (high - low), len(raters))
    straight = _each(raters, "straight_lining").astype(bool)[trials.rater]
    value[straight] = constant[trials.rater[straight], None]
    return _on_scale(value, truth.scale)


def _confused(
    value: NDArray[np.float64], rater: RaterProfile, labels: tuple[str, ...], low: float
) -> NDArray[np.float64]:
    """Move intensity from true labels to those they are taken for, all at the same time."""
    moved = np.eye(len(labels))
    for label, (taken, share) in rater.confusions.items():
        moved[labels.index(label), labels.index(label)] -= share
        moved[labels.index(label), labels.index(taken)] += share
    return low + (value - low) @ moved


def _on_scale(value: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    """Round to the steps of a scale and keep within its ends."""
    low, high = bounds(scale)
    if scale.step is not None:
        value = low + scale.step * np.round((value - low) / scale.step)
    return np.clip(value, low, high)


def _rater_table(raters: tuple[RaterProfile, ...]) -> pl.DataFrame:
    return pl.DataFrame(
        [{"rater": rater.name, "rater_kind": rater.kind, **rater.attributes} for rater in raters],
        infer_schema_length=None,
    )
