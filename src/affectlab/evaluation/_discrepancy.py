"""By how much people rate higher than a model, label by label."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.sparse import csr_array

from affectlab._resampling import check_confidence
from affectlab._types import Floats
from affectlab.errors import InputError
from affectlab.estimates import Estimates
from affectlab.evaluation._alignment_draws import Draws, Resample, draw
from affectlab.evaluation._alignment_panel import LabelPanel, panel_of
from affectlab.evaluation._alignment_spread import spread_of
from affectlab.evaluation._ceiling import method_of
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import require_order

__all__ = ["discrepancy"]

_DENSE = 1 << 24
"""Places of a table of people by stimuli above which it is kept as a list."""


def discrepancy(
    ratings: Ratings,
    models: Ratings | None = None,
    *,
    exclude: Collection[str] = (),
    rescale: bool = False,
    n_boot: int = 0,
    resample: Resample = "both",
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = None,
) -> Estimates:
    """Compute the mean of people less that of each model, per label.

    The mean runs over all answers of people to stimuli that the model answered, too: above 0 people
    see more of an emotion than the model does. A difference of means says nothing about which
    stimuli: a model may be right on average and wrong on each.

    Parameters
    ----------
    ratings, models, exclude, rescale
        As for :func:`alignment`; models keep their fractions.
    n_boot
        Bootstrap replicates; 0 for no interval.
    resample, confidence, seed
        As for :func:`alignment`.

    Returns
    -------
    Estimates by ``rater`` and ``label`` in units of the scale, with ``mean_people`` and
    ``mean_model``. ``nan`` with a status where nothing is shared.

    Raises
    ------
    InputError
        When a side is missing or the answers have no order.

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
    panel = panel_of(ratings, models, exclude=exclude, rescale=rescale)
    if not panel.ordered:
        raise InputError(f"a difference of means needs numbers; the answers are {panel.scale}")
    draws = draw(len(panel.stimuli), panel.n_people, n_boot, resample, seed)
    rows = [_rows(part, f, draws) for f in range(len(panel.models)) for part in panel.parts]
    spread = spread_of(np.stack([row[0] for row in rows]), draws, len(panel.stimuli), confidence)
    import polars as pl

    table = Estimates.build(
        {
            "rater": [name for name in panel.models for _ in panel.labels],
            "label": list(panel.labels) * len(panel.models),
        },
        value=spread.value,
        se=spread.se,
        low=spread.low,
        high=spread.high,
        method=f"mean of people less that of the model{method_of(draws)}",
        resampled=spread.resampled,
        n_items=[row[3] for row in rows],
        n_raters=panel.n_people,
        n_ratings=[row[4] for row in rows],
        status=["ok" if row[3] else "undefined: no common stimuli" for row in rows],
    )
    frame = table.frame.with_columns(
        pl.Series("mean_people", [row[1] for row in rows], dtype=pl.Float64),
        pl.Series("mean_model", [row[2] for row in rows], dtype=pl.Float64),
    )
    return Estimates(frame, table.keys)


def _rows(part: LabelPanel, f: int, draws: Draws) -> tuple[Floats, float, float, int, int]:
    """Difference in every row of the draws, both means, common stimuli and answers of people."""
    own = part.models[f][part.item]
    kept = ~np.isnan(own)
    if not kept.any():
        return np.full(draws.n_rows, np.nan), np.nan, np.nan, 0, 0
    item, person, value, own = part.item[kept], part.person[kept], part.value[kept], own[kept]
    shape = (part.n_people, part.n_items)
    total = csr_array((value - own, (person, item)), shape=shape)
    present = csr_array((np.ones(item.size), (person, item)), shape=shape)
    dense = part.n_people * part.n_items <= _DENSE
    sums, sizes = (table.toarray() if dense else table for table in (total, present))
    out = np.empty(draws.n_rows)
    for where, weights in draws.blocks():
        copies = draws.people[where].T.astype(np.float64)
        w = weights.astype(np.float64)
        summed = (copies * (sums @ w)).sum(axis=0)
        n = (copies * (sizes @ w)).sum(axis=0)
        out[where] = np.divide(summed, n, out=np.full(n.shape, np.nan), where=n > 0)
    return out, float(value.mean()), float(own.mean()), int(np.unique(item).size), item.size
