"""Who is judged, and what is taken off the scores first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from affectlab._types import Bools, Floats, Ints
from affectlab._words import plural
from affectlab.errors import InputError
from affectlab.evaluation._classes_map import ClassMap
from affectlab.evaluation._classes_panel import Panel, panel_of, score_variants
from affectlab.ratings import HUMAN_KINDS, MODEL_KINDS, Ratings

__all__ = ["CHOSEN", "neutral_offsets", "split_panels"]

CHOSEN = "chosen"
"""Column in which a model says 1 for each label that its own thresholds choose."""


def split_panels(
    ratings: Ratings,
    models: Ratings | None,
    scores: str | Sequence[str] | None,
    told_by: str | None,
    *,
    own_sets: bool = False,
) -> tuple[Panel | None, list[Panel]]:
    """Panels of the people and of the models, without the rater who tells the truth.

    People may be absent, and may have answered in another form than models; so this asks less of
    the two than :func:`affectlab.evaluation.sides` does. With `own_sets`, models that say which
    labels they choose (column ``chosen``) answer these, and not scores.
    """
    kinds = set(ratings.rater_kinds)
    people = None
    if kinds & set(HUMAN_KINDS):
        people = _without(ratings.humans() if kinds & set(MODEL_KINDS) else ratings, told_by)
    tables = [ratings.models()] if kinds & set(MODEL_KINDS) else []
    tables += [models] if models is not None else []
    judged = [
        table for table in (_without(table, told_by) for table in tables) if table is not None
    ]
    if scores is not None:
        columns = [scores] if isinstance(scores, str) else list(scores)
        judged = [score_variants(table, columns) for table in judged]
    elif own_sets:
        judged = [_chosen_sets(table) for table in judged]
    panels = [panel_of(table) for table in judged]
    names = [rater for panel in panels for rater in panel.raters]
    names += people.rater_names if people is not None else ()
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"rater {twice!r} is in both tables; expected a name of its own for each")
    return None if people is None else panel_of(people), panels


def _chosen_sets(table: Ratings) -> Ratings:
    """Take the labels that a model chose by thresholds of its own, where it says so."""
    frame = table.frame
    if table.scale.kind == "binary" or CHOSEN not in frame.columns:
        return table
    chosen = frame[CHOSEN]
    if not chosen.dtype.is_integer() or chosen.null_count() or not chosen.is_in([0, 1]).all():
        return table
    return table.with_values(
        chosen.to_numpy(), "binary", step=f"labels as the model chose them (column {CHOSEN!r})"
    )


def _without(table: Ratings, rater: str | None) -> Ratings | None:
    if rater is None or rater not in table.rater_names:
        return table
    others = [name for name in table.rater_names if name != rater]
    return table.select(raters=others) if others else None


def neutral_offsets(
    panel: Panel, classes: ClassMap, truth: Ints | Bools, multilabel: bool
) -> Floats | None:
    """What the mapping takes off the scores of each row, where it looks at neutral stimuli.

    Raises
    ------
    InputError
        When a model answered fewer than two neutral stimuli.
    """
    mapping = classes.mapping
    if mapping is None or mapping.subtract != "neutral" or not classes.is_mapped(panel.labels):
        return None
    if panel.form != "scale":
        return None
    neutral = classes.labels.index(str(mapping.neutral_class))
    is_neutral = truth[:, neutral].astype(bool) if multilabel else truth == neutral
    chosen = is_neutral[panel.stimulus]
    offsets = np.zeros_like(panel.scores)
    for place, rater in enumerate(panel.raters):
        rows = panel.rater == place
        own = rows & chosen
        if own.sum() < 2:
            answered = plural(int(own.sum()), "neutral stimulus", "neutral stimuli")
            raise InputError(
                f"rater {rater!r} answered {answered}; taking neutral means off needs two or more"
            )
        known = ~np.isnan(panel.scores[own])
        total = np.nansum(panel.scores[own], axis=0)
        number = known.sum(axis=0)
        offsets[rows] = total / np.maximum(number, 1)
        # A stimulus has no part in the mean that is taken off its own scores.
        offsets[own] = (total - np.nan_to_num(panel.scores[own])) / np.maximum(number - known, 1)
    return offsets
