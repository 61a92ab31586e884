"""Bootstrap replicates of alpha for all labels at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from affectlab._resampling import by_name, draw_weights
from affectlab._types import Floats
from affectlab.reliability._alpha_lanes import alphas_by_lanes, worth_compiling
from affectlab.reliability._alpha_levels import Level
from affectlab.reliability._pairable import Sums

__all__ = ["Resample", "bootstrap_alpha"]

Resample: TypeAlias = Literal["units", "raters", "both"]

_BLOCK = 1 << 20
_STACK = 1 << 23


def bootstrap_alpha(
    levels: Sequence[Level | None],
    sums: Sequence[Sums | None],
    n_units: int,
    n_raters: int,
    n_boot: int,
    *,
    labels: Sequence[str],
    resample: Resample,
    joint: bool,
    rng: np.random.Generator,
) -> Floats:
    """Draw replicates of alpha, shape (n_boot, labels); ``nan`` where alpha is not defined.

    ``sums`` are the ``statistics`` of the levels, which only replicates over units need. ``joint``:
    every replicate draws units and raters once, for all labels.
    """
    out = np.full((n_boot, len(levels)), np.nan)
    present = [(k, level) for k in by_name(labels) if (level := levels[k]) is not None]
    groups = [present] if joint else [[one] for one in present]
    for group in groups:
        if not group:
            continue
        columns = [k for k, _ in group]
        bound = [level for _, level in group]
        if resample == "units":
            out[:, columns] = _over_units(bound, [sums[k] for k in columns], n_units, n_boot, rng)
        else:
            both = resample == "both"
            out[:, columns] = _over_raters(bound, n_units, n_raters, n_boot, both, rng)
    return out


def _over_units(
    levels: Sequence[Level],
    tables: Sequence[Sums | None],
    n_units: int,
    n_boot: int,
    rng: np.random.Generator,
) -> Floats:
    """Weights times sums per unit. Narrow sums are put side by side, for one large product."""
    out = np.empty((n_boot, len(levels)))
    stacks = list(_stack({k: t for k, t in enumerate(tables) if isinstance(t, np.ndarray)}))
    alone = [k for k, table in enumerate(tables) if not isinstance(table, np.ndarray)]
    start = 0
    for weights in draw_weights(rng, n_units, n_boot):
        rows = slice(start, start + weights.shape[0])
        start = rows.stop
        for columns, sums in stacks:
            totals = weights @ sums
            left = 0
            for column, width in columns:
                out[rows, column] = levels[column].from_totals(totals[:, left : left + width])
                left += width
        for column in alone:
            out[rows, column] = _alone(levels[column], tables[column], weights)
    return out


def _stack(tables: Mapping[int, Floats]) -> Iterator[tuple[list[tuple[int, int]], Floats]]:
    """Put tables side by side up to a size; give (column, width) of each, and the whole."""
    waiting: dict[int, Floats] = {}
    for column, table in tables.items():
        waiting[column] = table
        if sum(held.size for held in waiting.values()) >= _STACK or column == max(tables):
            widths = [(k, held.shape[1]) for k, held in waiting.items()]
            yield widths, np.hstack(list(waiting.values()))
            waiting = {}


def _alone(level: Level, sums: Sums | None, weights: Floats) -> Floats:
    """Alpha of one label whose sums are sparse, or too many to be kept, in blocks of replicates."""
    part = level.data
    rows = max(1, _BLOCK // (part.value.size if sums is None else sums.shape[1]))
    found = []
    for start in range(0, weights.shape[0], rows):
        block = weights[start : start + rows]
        if sums is None:
            ones = np.ones((block.shape[0], part.value.size))
            found.append(level.weighted(ones, block[:, part.unit]))
        else:
            found.append(level.from_totals(np.asarray((sums.T @ block.T).T)))
    return np.concatenate(found)


def _over_raters(
    levels: Sequence[Level],
    n_units: int,
    n_raters: int,
    n_boot: int,
    both: bool,
    rng: np.random.Generator,
) -> Floats:
    """Weights on ratings, in blocks of replicates that fit in the cache."""
    out = np.empty((n_boot, len(levels)))
    of_raters, of_units = rng.spawn(2)
    widest = max(level.data.value.size for level in levels)
    compiled = [k for k, level in enumerate(levels) if worth_compiling(level, n_boot)]
    rows = max(1, _BLOCK // widest)
    for start in range(0, n_boot, rows):
        size = min(rows, n_boot - start)
        rater_weights = np.concatenate(list(draw_weights(of_raters, n_raters, size)))
        unit_weights = (
            np.concatenate(list(draw_weights(of_units, n_units, size)))
            if both
            else np.ones((size, n_units))
        )
        if compiled:
            units = unit_weights if both else None
            fast = alphas_by_lanes([levels[k] for k in compiled], rater_weights, units)
            out[start : start + size, compiled] = fast
        for column, level in enumerate(levels):
            if column in compiled:
                continue
            part = level.data
            out[start : start + size, column] = level.weighted(
                rater_weights[:, part.rater], unit_weights[:, part.unit]
            )
    return out
