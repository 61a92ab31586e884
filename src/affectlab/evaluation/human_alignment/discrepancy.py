"""By how much people rate higher than a model, label by label."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.inference import (
    CrossedDraws,
    DrawnTarget,
    check_confidence,
    crossed_spread,
    draw_crossed,
)
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table, Value
from affectlab.core.types import pl
from affectlab.core.words import number, shown
from affectlab.evaluation.human_alignment.measures import method_of
from affectlab.evaluation.human_alignment.panel import NO_SCALE, LabelPanel, panel_of
from affectlab.ratings import ModelRatings, Ratings, require_order

_DENSE = 1 << 24
"""Places of a table of people by stimuli above which it is kept as a list."""
_ROWS = 64
"""Replicates that are summed at once: few, so that they stay in the cache."""


def discrepancy(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    exclude: Collection[str] = (),
    n_boot: int = 1000,
    target: DrawnTarget = "both",
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    """Compute the mean of people less that of each model, per label.

    The mean runs over all answers of people to stimuli that the model answered, too: above 0 people
    see more of an emotion than the model does. A difference of means says nothing about which
    stimuli: a model may be right on average and wrong on each.

    Parameters
    ----------
    ratings, models, exclude
        As for :func:`alignment`; models keep their fractions.
    n_boot
        Bootstrap replicates; 0 for no interval.
    target, confidence, seed
        As for :func:`alignment`.

    Returns
    -------
    Estimates by ``rater`` and ``label`` in units of the scale, with ``mean_people`` and
    ``mean_model``. ``nan`` with a status where nothing is shared.

    Raises
    ------
    InputError
        When a side is missing, the answers have no order, or models cannot be put on the people's
        scale (see ``on_scale``).

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, Figure 10.

    Examples
    --------
    >>> people = Ratings({"stimulus": list("abcd") * 2, "rater": list("xxxxyyyy"),
    ...                   "value": [0, 3, 7, 1, 0, 3, 6, 2]}, scale="0-7")
    >>> model = Ratings({"stimulus": list("ab"), "rater": ["m"] * 2, "value": [0.5, 1.5]},
    ...                 scale="0-7 interval")
    >>> discrepancy(people, model)["m", "rating"].value
    0.5
    """
    check_confidence(confidence)
    require_order(ratings, "a difference of means")
    panel = panel_of(ratings, models, exclude=exclude)
    if panel.ranks_only:
        raise InputError(panel.no_scale)
    if not panel.ordered:
        raise InputError(f"a difference of means needs numbers; the answers are {panel.scale}")
    draws = draw_crossed(panel.stimuli, panel.people, n_boot, target, seed)
    parts = panel.of_each_label(lambda part: _of_label(part, draws))

    def of_parts(name: str) -> Any:
        """Put what there is of every label together: one entry for each model and label."""
        each = np.stack([part[name] for part in parts], axis=1)
        return each.reshape(len(panel.models) * len(parts), *each.shape[2:])

    spread = crossed_spread(of_parts("rows"), draws, confidence)
    shared = of_parts("n_items")
    frame = Estimates.build(
        {
            "rater": [name for name in panel.models for _ in panel.labels],
            "label": list(panel.labels) * len(panel.models),
        },
        **spread.columns,
        method=f"mean of people less that of the model{method_of(draws)}",
        target=spread.target,
        n_items=shared,
        n_raters=panel.n_people,
        n_ratings=of_parts("n_answers"),
        status=[
            "ok" if n else NO_SCALE if name in panel.unmapped else "undefined: no common stimuli"
            for name, n in zip(
                (name for name in panel.models for _ in panel.labels), shared, strict=True
            )
        ],
        extra={name: of_parts(name) for name in ("mean_people", "mean_model")},
    ).frame
    columns = (
        Key("rater", "model"),
        Key("label"),
        Value(),
        Interval(),
        Number("mean_people", "people"),
        Number("mean_model", "model"),
        Count("n_items", "stimuli"),
    )
    caption = "Mean of people less that of each model, in points of the scale."
    figure = Figure(
        "discrepancy",
        "discrepancies",
        of="discrepancy",
        title="By how much people rate higher than models, per label",
        description=f"{len(panel.labels)} labels, {len(panel.models)} models.",
        options={"value_name": "people less model"},
    )
    return Estimates(
        (Table("discrepancy", caption, frame, columns),), _largest(frame), figures=(figure,)
    )


def _largest(frame: pl.DataFrame) -> tuple[str, ...]:
    """Say where people and a model are furthest apart."""
    import polars as pl

    known = frame.filter(pl.col("value").is_not_nan())
    if not known.height:
        return ()
    ordered = known.sort(pl.col("value").abs(), descending=True, maintain_order=True)
    row = ordered.row(0, named=True)
    more = "more" if row["value"] > 0 else "less"
    return (
        f"The largest difference of means: people see {number(abs(row['value']))} points {more} "
        f"{shown(row['label'], 40)} than {shown(row['rater'], 40)} does.",
    )


def _of_label(part: LabelPanel, draws: CrossedDraws) -> dict[str, Any]:
    """Compare people with each model on one label.

    Sums of what the drawn people say of each stimulus are made once, for all models.

    Returns
    -------
    Differences in every row of the draws, ``rows``, shape (models, rows); and, of the stimuli that
    people and a model answered, means of both, ``n_items`` and people's ``n_answers``, shape
    (models,) each.
    """
    answered = (~np.isnan(part.exact)).astype(np.float64)
    own = np.nan_to_num(part.exact)
    shape = (part.n_people, part.n_items)
    said = csr_array((part.value, (part.person, part.item)), shape=shape)
    present = csr_array((np.ones(part.item.size), (part.person, part.item)), shape=shape)
    dense = part.n_people * part.n_items <= _DENSE
    values, counts = (table.toarray() if dense else table for table in (said, present))
    out = np.empty((len(own), draws.n_rows))
    for first in range(0, draws.n_rows, _ROWS):
        rows = slice(first, first + _ROWS)
        copies, weights = draws.raters[rows].astype(np.float64), draws.stimuli[rows]
        total, n_drawn = copies @ values, copies @ counts
        total *= weights
        n_drawn *= weights
        summed = total @ answered.T - n_drawn @ own.T
        n = n_drawn @ answered.T
        out[:, rows] = ratio(summed, n).T
    size = np.bincount(part.item, minlength=part.n_items).astype(np.float64)
    total = np.bincount(part.item, weights=part.value, minlength=part.n_items)
    n_answers = answered @ size
    with np.errstate(invalid="ignore"):
        mean_people, mean_model = answered @ total / n_answers, own @ size / n_answers
    n_items = (answered * part.rated).sum(axis=1)
    return {
        "rows": out,
        "mean_people": mean_people,
        "mean_model": mean_model,
        "n_items": n_items.astype(np.int64),
        "n_answers": n_answers.astype(np.int64),
    }
