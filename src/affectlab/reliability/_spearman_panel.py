"""Raters beside a reference, sorted once, and their Spearman correlations in every replicate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab._resampling import draw_weights
from affectlab._types import Floats, Ints
from affectlab.errors import InputError, unknown_name
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import Answers, answers_of
from affectlab.reliability._ranks import grouped_spearman

__all__ = ["Aggregate", "Panel", "correlations", "panel_of", "replicates_over_units"]

Aggregate: TypeAlias = Literal["median", "mean"]

_BLOCK = 16
"""Groups of lanes that are drawn at once."""
_ITEMS_PER_CELL = 4
"""Items per cell of a table of counts from which on tables are faster than ranking each item."""


@dataclass(frozen=True)
class Panel:
    """Raters and a reference on the same labels and units."""

    reference: Floats
    """Shape (labels, units), ``nan`` where there is none."""
    others: Floats
    """Shape (raters, labels, units), ``nan`` where there is none."""
    labels: tuple[str, ...]
    raters: tuple[str, ...]
    n_reference_raters: int

    @property
    def n_units(self) -> int:
        """Units that are resampled."""
        return int(self.reference.shape[1])

    @property
    def _shared(self) -> NDArray[np.bool_]:
        shared: NDArray[np.bool_] = ~np.isnan(self.others) & ~np.isnan(self.reference)
        return shared

    @property
    def n_pairs(self) -> Ints:
        """Units that a rater and the reference share, by rater and label."""
        n: Ints = self._shared.sum(axis=2).astype(np.int64)
        return n

    @property
    def n_items(self) -> Ints:
        """Units that a rater and the reference share on any label."""
        n: Ints = self._shared.any(axis=1).sum(axis=1).astype(np.int64)
        return n


def panel_of(
    reference: Ratings | ArrayLike,
    others: Ratings | ArrayLike,
    aggregate: Aggregate,
    exclude: Collection[str],
) -> Panel:
    """Align raters with a reference by the names of labels and stimuli.

    Raises
    ------
    InputError
        If the shapes do not fit, or there is no common label or stimulus.
    """
    if aggregate not in ("median", "mean"):
        raise unknown_name("aggregate", str(aggregate), ("median", "mean"))
    if isinstance(reference, Ratings) != isinstance(others, Ratings):
        raise InputError("expected ratings twice or arrays twice, got ratings and an array")
    if isinstance(reference, Ratings) and isinstance(others, Ratings):
        return _from_ratings(answers_of(reference), others, aggregate, exclude)
    y, x = (np.asarray(side, dtype=np.float64) for side in (reference, others))
    if y.ndim != 2 or x.ndim != 3 or x.shape[1:] != y.shape:
        raise InputError(
            "expected arrays of shape (labels, units) and (raters, labels, units), "
            f"got shapes {y.shape} and {x.shape}"
        )
    if np.isinf(y).any() or np.isinf(x).any():
        raise InputError("a rating is infinite; expected a number, or nan where there is none")
    labels, raters = (tuple(map(str, range(size))) for size in (y.shape[0], x.shape[0]))
    keep = _kept(labels, exclude)
    return Panel(y[keep], x[:, keep], tuple(labels[k] for k in keep), raters, 1)


def _kept(labels: tuple[str, ...], exclude: Collection[str]) -> list[int]:
    for name in exclude:
        if name not in labels:
            raise unknown_name("label", name, labels, "exclude")
    return [k for k, name in enumerate(labels) if name not in exclude]


def _from_ratings(
    reference: Answers, others: Ratings, aggregate: Aggregate, exclude: Collection[str]
) -> Panel:
    if others.scale.kind == "text":
        raise InputError("expected numeric ratings, got ratings on a text scale")
    used = others.answers()
    keep = [reference.labels[k] for k in _kept(reference.labels, exclude)]
    answered = set(used.stimulus_names)
    units = tuple(name for name in reference.units if name in answered)
    labels = tuple(name for name in keep if name in set(used.label_names))
    if not labels:
        raise InputError("the reference and the other raters share no label")
    if not units:
        raise InputError("the reference and the other raters share no stimulus")
    y = np.full((len(labels), len(units)), np.nan)
    label = _places(reference.labels, labels)[reference.label]
    unit = _places(reference.units, units)[reference.unit]
    rows = (label >= 0) & (unit >= 0)
    cell, value = (label * len(units) + unit)[rows], reference.value[rows]
    filled, middle = _aggregated(cell, value, aggregate)
    y.ravel()[filled] = middle
    # One place more for labels and stimuli that the reference lacks: they get the index -1.
    x = np.full((len(used.rater_names), len(labels) + 1, len(units) + 1), np.nan)
    label = _places(used.label_names, labels)[used.label_code]
    unit = _places(used.stimulus_names, units)[used.stimulus_code]
    # Of repeated answers the first counts: written last.
    backwards = slice(None, None, -1)
    x[used.rater_code[backwards], label[backwards], unit[backwards]] = used.value[backwards]
    x[np.isinf(x)] = np.nan
    n_raters = np.unique(reference.rater).size
    return Panel(y, np.ascontiguousarray(x[:, :-1, :-1]), labels, tuple(used.rater_names), n_raters)


def _places(own: Sequence[str], wanted: tuple[str, ...]) -> NDArray[np.int32]:
    """Place of every name among the wanted ones, -1 where it is not wanted."""
    place = {name: k for k, name in enumerate(wanted)}
    return np.array([place.get(name, -1) for name in own], dtype=np.int32)


def _aggregated(cell: Ints, value: Floats, aggregate: Aggregate) -> tuple[Ints, Floats]:
    """Median or mean of the values of each cell that has any."""
    order = np.lexsort((value, cell))
    cell, value = cell[order], value[order]
    start = np.flatnonzero(np.diff(cell, prepend=-1))
    size = np.diff(np.append(start, cell.size))
    if aggregate == "mean":
        middle = np.add.reduceat(value, start) / size if start.size else value
        # Equal means must tie exactly, whatever the order of summation.
        return cell[start], np.round(middle, 12)
    return cell[start], (value[start + (size - 1) // 2] + value[start + size // 2]) / 2


def correlations(panel: Panel) -> Floats:
    """Compute all correlations of the ratings as they are, shape (raters, labels)."""
    n_raters, n_labels, _ = panel.others.shape
    out = np.empty((n_raters, n_labels))
    for r, shared in enumerate(panel._shared):
        label, unit = np.nonzero(shared)
        x, y = panel.others[r, label, unit], panel.reference[label, unit]
        out[r] = grouped_spearman(x, y, label, n_labels)[0]
    return out


@dataclass(frozen=True)
class _Order:
    """The items of a variable by rising value."""

    items: NDArray[np.int32]
    last: NDArray[np.bool_]
    """Whether the next item has a larger value."""

    @property
    def n_levels(self) -> int:
        """Number of different values."""
        return int(self.last.sum())

    def levels(self, n_items: int) -> NDArray[np.int32]:
        """Place of each item's value among the different values, shape (items,); 0 for others."""
        found = np.zeros(n_items, dtype=np.int32)
        found[self.items[1:]] = np.cumsum(self.last[:-1])
        return found


def _order(values: Floats, items: NDArray[np.intp]) -> _Order:
    order = items[np.argsort(values[items])]
    ordered = values[order]
    last = np.append(ordered[1:] > ordered[:-1], True) if order.size else np.zeros(0, dtype=bool)
    return _Order(order.astype(np.int32), last)


def _table(
    reference: _Order, rater: _Order, n_items: int
) -> tuple[NDArray[np.int32], tuple[int, int]] | None:
    """Give each item's cell in a table of counts, and its shape; None where it has many cells."""
    shape = reference.n_levels, rater.n_levels
    if shape[0] * shape[1] * _ITEMS_PER_CELL > rater.items.size:
        return None
    cell = reference.levels(n_items) * shape[1] + rater.levels(n_items)
    return cell[rater.items], shape


def replicates_over_units(
    panel: Panel, draws: int | Floats, rng: np.random.Generator | None = None
) -> Floats:
    """Compute all correlations in every replicate.

    Parameters
    ----------
    panel
        Raters and reference.
    draws
        Number of replicates to draw, or weights of the units, shape (replicates, units).
    rng
        Generator, to draw with.

    Returns
    -------
    Shape (replicates, raters, labels), ``nan`` where a side is constant in a replicate.
    """
    from affectlab._compiled import LANES, in_threads
    from affectlab.reliability._kernels._spearman import (
        rank_lanes,
        spearman_lanes,
        spearman_table_lanes,
    )

    n_raters, n_labels, n_units = panel.others.shape
    n_boot = draws if isinstance(draws, int) else draws.shape[0]
    given = None if isinstance(draws, int) else draws
    generator = np.random.default_rng(rng)
    out = np.full((n_boot, n_raters, n_labels), np.nan)
    shared = panel._shared
    orders: list[tuple[_Order, list[_Order]]] = [None] * n_labels  # type: ignore[list-item]

    def sort_label(k: int) -> None:
        of_reference = _order(panel.reference[k], np.flatnonzero(~np.isnan(panel.reference[k])))
        of_raters = [
            _order(panel.others[r, k], np.flatnonzero(shared[r, k])) for r in range(n_raters)
        ]
        orders[k] = of_reference, of_raters

    in_threads(sort_label, range(n_labels))
    for start in range(0, n_boot, _BLOCK * LANES):
        size = min(_BLOCK * LANES, n_boot - start)
        weights = (
            np.concatenate(list(draw_weights(generator, n_units, size)))
            if given is None
            else given[start : start + size]
        )
        lanes = [
            np.ascontiguousarray(weights[first : first + LANES].T)
            for first in range(0, size, LANES)
        ]

        def one_label(k: int, lanes: list[Floats] = lanes, start: int = start) -> None:
            of_reference, of_raters = orders[k]
            tables = [_table(of_reference, order, n_units) for order in of_raters]
            for place, weight in enumerate(lanes):
                width = weight.shape[1]
                first = start + place * LANES
                both = np.empty((n_units, 2 * width))
                squares, rho = np.empty(width), np.empty(width)
                if None in tables:
                    rank_lanes(of_reference.items, of_reference.last, weight, both, squares)
                for r, (order, table) in enumerate(zip(of_raters, tables, strict=True)):
                    if table is not None:
                        spearman_table_lanes(order.items, *table, weight, rho)
                    elif order.items.size == of_reference.items.size:
                        spearman_lanes(order.items, order.last, both, squares, rho)
                    else:
                        present = weight * shared[r, k][:, None]
                        own, of_own = np.empty_like(both), np.empty(width)
                        rank_lanes(of_reference.items, of_reference.last, present, own, of_own)
                        spearman_lanes(order.items, order.last, own, of_own, rho)
                    out[first : first + width, r, k] = rho

        in_threads(one_label, range(n_labels))
    return out
