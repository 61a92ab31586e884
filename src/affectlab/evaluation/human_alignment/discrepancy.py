"""By how much people rate higher than a model, label by label."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Target, infer
from affectlab.core.statistic import (
    MAX_JACKKNIFE_GROUPS,
    STIMULI_AND_RATERS,
    Design,
    Draws,
    Statistic,
)
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table, Value
from affectlab.core.types import Floats
from affectlab.evaluation.human_alignment import wording
from affectlab.evaluation.human_alignment.panel import NO_SCALE, Copies, LabelPanel, panel_of
from affectlab.ratings import (
    ClusterLike,
    ModelRatings,
    Ratings,
    of_known_raters,
    require_order,
    stimulus_clusters,
)

_DENSE = 1 << 24
"""Places of a table of people by stimuli above which it is kept as a list."""
_ROWS = 64
"""Rows of draws that are summed at once: few, so that they stay in the cache."""


@of_known_raters
def discrepancy(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    exclude: Collection[str] = (),
    target: Target = "both",
    cluster: ClusterLike = None,
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
    target, cluster, confidence, seed
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
    import polars as pl

    require_order(ratings, "a difference of means")
    panel = panel_of(ratings, models, exclude=exclude)
    if panel.ranks_only:
        raise InputError(panel.no_scale)
    if not panel.ordered:
        raise InputError(f"a difference of means needs numbers; the answers are {panel.scale}")
    n_models, n_stimuli, n_people = len(panel.models), len(panel.stimuli), panel.n_people
    n_rows = n_models * len(panel.labels)
    means = [_means(part) for part in panel.parts]

    def of_parts(each: Sequence[Any]) -> Any:
        """Put what there is of every label together: one entry for each model and label."""
        by_label = np.stack(each, axis=1)
        return by_label.reshape(n_rows, *by_label.shape[2:])

    def evaluate(draws: Draws) -> Floats:
        copies = Copies.of(draws, n_stimuli, n_people)
        rows: Floats = of_parts(panel.of_each_label(lambda part: _differences(part, copies))).T
        return rows if draws.columns is None else rows[:, draws.columns]

    shared = [~np.isnan(part.exact) & part.rated for part in panel.parts]
    people = [
        np.reshape([part.people_on(one) for one in here], (n_models, n_people))
        for part, here in zip(panel.parts, shared, strict=True)
    ]
    statistic = Statistic(
        keys={
            "rater": [name for name in panel.models for _ in panel.labels],
            "label": list(panel.labels) * n_models,
        },
        design=Design(of_parts(shared), of_parts(people)),
        evaluate=evaluate,
        method=["mean of people less that of the model"] * n_rows,
        n_items=of_parts([here.sum(axis=1) for here in shared]),
        n_raters=[n_people] * n_rows,
        n_ratings=of_parts([one["n_answers"] for one in means]),
        undefined=[
            NO_SCALE if name in panel.unmapped else Reason(Cause.NONE, of="common stimuli")
            for name in panel.models
            for _ in panel.labels
        ],
        bounds=(-np.inf, np.inf),
        targets=STIMULI_AND_RATERS,
        n_groups=MAX_JACKKNIFE_GROUPS,
        answers_once=True,
        columns=[
            pl.Series(name, of_parts([one[name] for one in means]))
            for name in ("mean_people", "mean_model")
        ],
    )
    clusters = stimulus_clusters(ratings, cluster)
    found = infer(
        statistic,
        interval="jackknife",
        target=target,
        clusters=clusters.on(panel.stimuli),
        confidence=confidence,
        seed=seed,
    )
    frame = found.frame
    known = frame.filter(pl.col("value").is_not_nan()).sort(
        pl.col("value").abs(), descending=True, maintain_order=True
    )
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
        (Table("discrepancy", caption, frame, columns),),
        () if not known.height else (wording.largest_discrepancy(known.row(0, named=True)),),
        figures=(figure,),
        notes=clusters.notes_for(frame["target"].unique()),
    )


def _differences(part: LabelPanel, copies: Copies) -> Floats:
    """Compare people with each model on one label, in every row of the draws.

    Sums of what the drawn people say of each stimulus are made once, for all models.

    Returns
    -------
    Shape (models, rows).
    """
    answered = (~np.isnan(part.exact)).astype(np.float64)
    own = np.nan_to_num(part.exact)
    shape = (part.n_people, part.n_items)
    said = csr_array((part.value, (part.person, part.item)), shape=shape)
    present = csr_array((np.ones(part.item.size), (part.person, part.item)), shape=shape)
    dense = part.n_people * part.n_items <= _DENSE
    values, counts = (table.toarray() if dense else table for table in (said, present))
    out = np.empty((len(own), copies.n_rows))
    for first in range(0, copies.n_rows, _ROWS):
        rows = slice(first, first + _ROWS)
        drawn, weights = copies.raters[rows].astype(np.float64), copies.stimuli[rows]
        total, n_drawn = drawn @ values, drawn @ counts
        total *= weights
        n_drawn *= weights
        summed = total @ answered.T - n_drawn @ own.T
        out[:, rows] = ratio(summed, n_drawn @ answered.T).T
    return out


def _means(part: LabelPanel) -> dict[str, Any]:
    """Means of people and of each model over what both answered, and how many answers these are."""
    answered = (~np.isnan(part.exact)).astype(np.float64)
    size = np.bincount(part.item, minlength=part.n_items).astype(np.float64)
    total = np.bincount(part.item, weights=part.value, minlength=part.n_items)
    n_answers = answered @ size
    with np.errstate(invalid="ignore"):
        mean_people = answered @ total / n_answers
        mean_model = np.nan_to_num(part.exact) @ size / n_answers
    return {
        "mean_people": mean_people,
        "mean_model": mean_model,
        "n_answers": n_answers.astype(np.int64),
    }
