"""Calibration of models against the answers of people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from affectlab._types import Bools, Floats
from affectlab.errors import InputError, unknown_name
from affectlab.evaluation._calibration import Calibration, calibration
from affectlab.evaluation._soft_sides import SoftSides, aligned, soft_sides
from affectlab.evaluation._soft_votes import Absent, Rule
from affectlab.ratings import Ratings
from affectlab.ratings._order import canonical

__all__ = ["calibrations", "model_calibration", "names_one_label"]


def model_calibration(
    ratings: Ratings,
    models: Ratings | None = None,
    *,
    truth: Literal["distribution", "majority"] = "distribution",
    rule: Rule | None = None,
    labels: Sequence[str] | None = None,
    absent: Absent = "auto",
    n_bins: int = 15,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> dict[str, Calibration]:
    """Measure the calibration of every model against people.

    Parameters
    ----------
    ratings, models
        People and models, in one table or two. A model scores labels; per stimulus its scores are
        made to sum to 1. Runs that control another are not judged.
    truth
        ``"distribution"``: the outcome is the share of people who chose the model's most probable
        label, so a model should be as sure as people are united. ``"majority"``: the outcome is
        whether it is the label that most people chose; stimuli on which people are tied are left
        out.
    rule, labels, absent
        As for :func:`~affectlab.evaluation.label_distributions`.
    n_bins, n_boot, confidence, seed
        As for :func:`~affectlab.evaluation.calibration`; every model gets the same draws.

    Returns
    -------
    Calibration by model. A model that gives one label all the mass everywhere claims no
    probability and is left out.

    Raises
    ------
    InputError
        When no model gives probabilities, or a model shares no stimulus with people.

    Examples
    --------
    >>> given = {"stimulus": list("aabb"), "rater": ["m"] * 4, "label": ["joy", "fear"] * 2,
    ...          "value": [0.9, 0.1, 0.5, 0.5]}
    >>> model = Ratings(given, scale="0-1 interval")
    >>> people = Ratings({"stimulus": list("aabb") * 2, "rater": list("rsrs") * 2,
    ...                   "label": ["joy"] * 4 + ["fear"] * 4, "value": [1, 1, 1, 0, 0, 0, 0, 1]},
    ...                  scale="binary")
    >>> round(model_calibration(people, model)["m"]["overconfidence"].value, 3)
    -0.05
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    if truth not in ("distribution", "majority"):
        raise unknown_name("truth", truth, ("distribution", "majority"))
    both = soft_sides(ratings, models, rule=rule, labels=labels, absent=absent)
    for name, given in both.predictions.items():
        if np.isnan(aligned(name, both.people, given) + both.people.values).any(axis=1).all():
            raise InputError(f"model {name!r} answers no stimulus that people answered")
    found = calibrations(
        both,
        truth=truth,
        n_bins=n_bins,
        n_boot=n_boot,
        confidence=confidence,
        seed=seed,
    )
    if not found:
        raise InputError(
            "no model gives probabilities: each puts everything on one label; expected scores of "
            "several labels per stimulus"
        )
    return found


def calibrations(
    both: SoftSides,
    *,
    truth: Literal["distribution", "majority"],
    n_bins: int,
    n_boot: int,
    confidence: float,
    seed: int | np.random.Generator | None,
) -> dict[str, Calibration]:
    """Measure every model that claims probabilities; see :func:`model_calibration`."""
    people = both.people
    draws = seed if not isinstance(seed, np.random.Generator) else int(seed.integers(2**63))
    found = {}
    for name, given in both.predictions.items():
        predicted = aligned(name, people, given)
        rows = np.logical_not(np.isnan(predicted + people.values).any(axis=1))
        if not rows.any() or names_one_label(predicted[rows]):
            continue
        aim, rows = (people.values, rows) if truth == "distribution" else _one(people.values, rows)
        if not rows.any():
            raise InputError("people are tied on every stimulus; expected some with a majority")
        found[name] = calibration(
            predicted[rows],
            aim[rows],
            labels=people.labels,
            n_bins=n_bins,
            n_raters=0 if both.source is None else int(both.source.n_raters),
            n_boot=n_boot,
            confidence=confidence,
            seed=draws,
        )
    return found


def names_one_label(predicted: Floats) -> bool:
    """Whether every distribution has all its mass on one label, so that nothing is claimed."""
    return bool((predicted.max(axis=1) == 1).all())


def _one(people: Floats, rows: Bools) -> tuple[Floats, Bools]:
    """Put everything on the label that most people chose, where there is one."""
    known = np.nan_to_num(people, nan=-1.0)
    highest = known.max(axis=1, keepdims=True)
    first = known >= highest - 1e-9
    return first.astype(np.float64), rows & (first.sum(axis=1) == 1)
