"""Calibration and thresholds of all levels of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from affectlab._types import Floats
from affectlab._words import count
from affectlab.models.text._decide import DecisionKind
from affectlab.models.text._leaks import warn_of_seen, warn_of_test
from affectlab.models.text._levels import group_targets, level_logits, membership
from affectlab.models.text._scaling import ScalingKind
from affectlab.models.text._tuning import tune_level

if TYPE_CHECKING:
    from affectlab.models.text._base import TextClassifier

__all__ = ["note_tuning", "tune_levels"]


def note_tuning(model: TextClassifier, texts: Sequence[str], split: str, what: str) -> None:
    """Warn of texts that cannot serve, and keep with the model what their results suffer from."""
    warned = warn_of_test(split, what) + warn_of_seen(texts, model.seen, what)
    model.training["warnings"] = warned
    model.training["early_stopping"] = model._stopped_on(texts)


def tune_levels(
    model: TextClassifier,
    outputs: Floats,
    targets: Floats,
    *,
    judged: Floats | None = None,
    calibrate: ScalingKind,
    decision: DecisionKind,
    at_least_one: bool,
    source: str,
) -> None:
    """Fit calibration and thresholds of every level, and keep them with what they reach.

    Parameters
    ----------
    outputs
        Logits of all outputs, shape (n, outputs).
    targets
        Of the labels, 0/1 or shares of raters, shape (n, labels).
    judged
        Other logits of the same texts for what is reached, by default `outputs`.
    """
    model.decisions, model.scalings, model.tuning = {}, {}, {}
    for level in (None, *model.tuned_levels):
        wanted = targets
        if level is not None:
            wanted = group_targets(targets, membership(model.taxonomy, level))
        key = level or ""
        for held in (outputs,) if judged is None else (outputs, judged):
            scaling, rule, model.tuning[key] = tune_level(
                level_logits(model.plan, held, level, model.group_scores),
                wanted,
                model.labels_at(level),
                level=key,
                calibrate=calibrate,
                decision=decision,
                at_least_one=at_least_one,
                fitted_on=f"{source or 'texts kept aside'} ({count(len(targets))} texts)",
                seed=model.seed,
            )
            if held is outputs:
                model.scalings[key], model.decisions[key] = scaling, rule
