"""How often a model follows a hint that is wrong."""

from __future__ import annotations

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import infer, streams, wilson_interval
from affectlab.core.statistic import from_weights
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.people_and_models import Control, ControlledRuns
from affectlab.ratings import Ratings, row_column

_METHODS = {
    "accepted": "share of stimuli that got the label hinted at, Wilson interval",
    "unprompted": "share of stimuli that got that label without the hint, Wilson interval",
    "difference": "share with the hint less share without",
}


def hints_of(ratings: Ratings, run: str) -> dict[str, str]:
    """Find the label that was hinted at for each stimulus of a run.

    Raises
    ------
    InputError
        When there is no column ``hint``, or a stimulus has two.
    """
    column = row_column(ratings, "hint")
    if column is None:
        raise InputError(
            f"rater {run!r} is a decoy_hint run, but there is no column 'hint'; expected the label "
            "that was hinted at, for each answer or stimulus"
        )
    rows = np.flatnonzero(ratings.rater_code == ratings.rater_names.index(run))
    found: dict[str, str] = {}
    stimuli = ratings.stimulus_code[rows]
    given = column.gather(rows).cast(pl.String).to_list()
    for code, hint in zip(stimuli.tolist(), given, strict=True):
        if hint is None or not hint.strip():
            continue
        name = ratings.stimulus_names[code]
        if found.setdefault(name, hint.strip()) != hint.strip():
            raise InputError(
                f"rater {run!r}, stimulus {name!r}: hints {found[name]!r} and {hint.strip()!r}; "
                "expected one"
            )
    return found


def hint_acceptance(
    panel: ControlledRuns,
    hints: dict[str, dict[str, str]],
    n_boot: int,
    confidence: float,
    rng: np.random.Generator,
) -> Estimates:
    """Compute how often a hinted label is given with the hint and without it.

    Parameters
    ----------
    panel
        Runs and people.
    hints
        Run to stimulus to the label hinted at.
    """
    own = streams(rng, (control.run for control in panel.controls))
    runs = [control for control in panel.controls if control.kind == "decoy_hint"]
    taken, confirmed = [], []
    for control in runs:
        of_run, n_confirmed = _taken(panel, control, hints[control.run])
        taken.append(of_run)
        confirmed += [n_confirmed] * len(_METHODS)
    spread = [
        _with_interval(of_run, n_boot, confidence, own[control.run])
        for of_run, control in zip(taken, runs, strict=True)
    ]
    value, se, low, high = np.concatenate([np.empty((4, 0)), *spread], axis=1)
    n_items = [len(of_run) for of_run in taken for _ in _METHODS]
    quantities = list(_METHODS) * len(runs)
    table = Estimates.build(
        {
            "rater": [control.of for control in runs for _ in _METHODS],
            "run": [control.run for control in runs for _ in _METHODS],
            "quantity": quantities,
        },
        value=value,
        se=se,
        low=low,
        high=high,
        statistic=[_METHODS[quantity] for quantity in quantities],
        target=["stimuli" if n_boot and q == "difference" else "none" for q in quantities],
        n_items=n_items,
        n_raters=1,
        n_ratings=n_items,
        reason=[
            Reason(Cause.NONE, of="stimulus with a hint") if none else None
            for none in np.isnan(value)
        ],
    )
    return table.with_columns(pl.Series("n_confirmed", confirmed, dtype=pl.Int64))


def _taken(panel: ControlledRuns, control: Control, hints: dict[str, str]) -> tuple[Floats, int]:
    """Say for each stimulus whether the hinted label was given; and how many hints were true.

    Returns
    -------
    Shape (stimuli, 3): with the hint, without it, difference; and the hints that people confirm,
    which are no decoys and are left out.
    """
    stimulus, label = _cells(panel, control, hints)
    ground = _ground(panel)
    target = panel.target[stimulus, label]
    with np.errstate(invalid="ignore"):
        true = target > ground
    run, main = panel.matrix(control.run), panel.matrix(control.of)
    with_hint, without = run[stimulus, label], main[stimulus, label]
    # A label that was left out of an answer was not given; a stimulus without an answer is unknown.
    asked = ~np.isnan(run[stimulus]).all(axis=1) & ~np.isnan(main[stimulus]).all(axis=1)
    used = asked & ~true
    given = np.stack(
        [np.nan_to_num(part[used], nan=-np.inf) > ground for part in (with_hint, without)], axis=1
    ).astype(np.float64)
    taken = np.column_stack([given, given[:, 0] - given[:, 1]])
    return taken, int((asked & true).sum())


def _cells(panel: ControlledRuns, control: Control, hints: dict[str, str]) -> tuple[Ints, Ints]:
    stimuli = {name: k for k, name in enumerate(panel.stimuli)}
    labels = {name.casefold(): k for k, name in enumerate(panel.labels)}
    pairs = []
    for stimulus, hint in hints.items():
        if hint.casefold() not in labels:
            raise unknown_name(
                "label", hint, panel.labels, f"rater {control.run!r}, stimulus {stimulus!r}, hint"
            )
        if stimulus in stimuli:
            pairs.append((stimuli[stimulus], labels[hint.casefold()]))
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _ground(panel: ControlledRuns) -> float:
    """Give the value that says that a label does not apply."""
    if panel.scale.kind == "nominal" or panel.scale.low is None or panel.scale.low < 0:
        raise InputError(
            f"hints need labels on a scale whose lowest value says 'not at all', such as 0-7; "
            f"this is {panel.scale}"
        )
    return panel.scale.low


def _with_interval(
    taken: Floats, n_boot: int, confidence: float, rng: np.random.Generator
) -> Floats:
    """Give the two shares with Wilson intervals, and their difference with a bootstrap's.

    Returns
    -------
    Values, standard errors, lower and upper ends, shape (4, 3).
    """
    n = len(taken)
    if not n:
        return np.full((4, len(_METHODS)), np.nan)
    statistic = from_weights(
        {"quantity": list(_METHODS)},
        n,
        lambda weights: weights @ taken / weights.sum(axis=1, keepdims=True),
        method=list(_METHODS.values()),
        undefined="",
        n_items=n,
        n_raters=1,
        n_ratings=n,
    )
    several = n_boot if n > 1 else 0
    frame = infer(statistic, n_boot=several, confidence=confidence, seed=rng).frame
    value, se, low, high = frame.select("value", "se", "low", "high").to_numpy().T.copy()
    if several:
        low[:2], high[:2] = wilson_interval(taken[:, :2].sum(axis=0), n, confidence)
    return np.stack([value, se, low, high])
