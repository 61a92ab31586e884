"""From ratings, or a plain matrix, to the arrays that every statistic works on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from itertools import pairwise
from threading import RLock
from typing import Any, Literal, ParamSpec

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.arrays import as_floats, distinct, places_in
from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import option
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import format_by_label, one_scale
from affectlab.ratings.schema import HUMAN_KINDS, MODEL_KINDS
from affectlab.ratings.table import Ratings

_Asked = ParamSpec("_Asked")

_MOST_GAPS = 4
"""Possible answers per answer up to which a table of all possible ones beats sorting."""

_SORTED_BY_DIGITS = 1 << 16
"""Codes below which numpy sorts in a time that is linear in the number of rows."""


@dataclass(frozen=True, eq=False)
class Ballots:
    """Answers with a row for all that one rater says of one unit, sorted by unit, then rater."""

    unit: Ints
    """Shape (ballots,)."""
    rater: Ints
    value: Floats
    """Shape (ballots, labels), ``nan`` where there is no answer."""
    binary: bool = False
    """Whether answers are yes or no."""

    @cached_property
    def listed(self) -> bool:
        """Whether ballots list the labels that were chosen, as no answer is 0."""
        return self.binary and not (self.value == 0).any()

    @property
    def complete(self) -> Bools:
        """Which ballots answer every label that anybody answered, shape (ballots,).

        Where they list what was chosen, all do: a label that is not listed was not chosen.
        """
        if self.listed:
            return np.ones(len(self.value), dtype=np.bool_)
        asked = ~np.isnan(self.value).all(axis=0)
        complete: Bools = ~np.isnan(self.value[:, asked]).any(axis=1)
        return complete


@dataclass(frozen=True)
class Answers:
    """Answers as parallel arrays, sorted by label, then unit, then rater.

    ``unit``, ``rater`` and ``label`` are codes into ``units``, ``raters`` and ``labels``; ``value``
    is finite. A rater occurs once per unit and label.
    """

    unit: Ints
    rater: Ints
    label: Ints
    value: Floats
    units: tuple[str, ...]
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    rater_kinds: tuple[str, ...]
    scales: tuple[Scale, ...] | None = None
    """Scale of each label; ``None`` for a plain matrix."""

    @property
    def scale(self) -> Scale | None:
        """The scale that all labels with answers share, ``None`` for a plain matrix.

        Raises
        ------
        InputError
            When labels are on different scales, as of ``Ratings.scale``.
        """
        if self.scales is None:
            return None
        scales = dict(zip(self.labels, self.scales, strict=True))
        if len(set(self.scales)) > 1 and self.label.size:
            there = np.bincount(self.label, minlength=len(self.labels)) > 0
            scales = {name: scales[name] for name, has in zip(scales, there, strict=True) if has}
        return one_scale(scales)

    def take(self, rows: Bools | Ints | slice) -> Answers:
        """Keep some of the answers and all of the names."""
        return replace(
            self,
            unit=self.unit[rows],
            rater=self.rater[rows],
            label=self.label[rows],
            value=self.value[rows],
        )

    def by_label(self) -> Iterator[Answers]:
        """Give the answers of each label in turn, labels without answers included."""
        ends = np.searchsorted(self.label, np.arange(len(self.labels) + 1))
        for start, end in pairwise(ends.tolist()):
            yield self.take(slice(start, end))

    def by_scale(self) -> Iterator[Answers]:
        """Give the answers to the labels of each scale in turn, with the names of these labels."""
        if self.scales is None or len(set(self.scales)) < 2:
            yield self
            return
        for scale in dict.fromkeys(self.scales):
            chosen = np.array([own == scale for own in self.scales])
            rows = chosen[self.label]
            yield replace(
                self.take(rows),
                label=(np.cumsum(chosen) - 1)[self.label[rows]],
                labels=tuple(
                    n for n, own in zip(self.labels, self.scales, strict=True) if own == scale
                ),
                scales=(scale,) * int(chosen.sum()),
            )

    def on(self, units: Sequence[str], labels: Sequence[str] | None = None) -> Answers:
        """Keep the answers about some units and labels, coded by their places among these.

        Parameters
        ----------
        units, labels
            What is wanted, in this order; it may be without answers. By default all labels.

        Returns
        -------
        Answers of all raters. They have no scales where a label is not known.

        Examples
        --------
        >>> answers_of([[1, 2], [3, 4]]).on(["1", "2"]).grid()[:, 0]
        array([[ 2., nan],
               [ 4., nan]])
        """
        names = self.labels if labels is None else tuple(labels)
        if tuple(units) == self.units and names == self.labels:
            return self
        unit = places_in(units, self.units)[self.unit]
        label = places_in(names, self.labels)[self.label]
        rows = np.flatnonzero((unit >= 0) & (label >= 0))
        cell = label[rows] * len(units) + unit[rows]
        if (np.diff(cell) < 0).any():
            order = np.argsort(cell, kind="stable")  # raters stay in order
            rows = rows[order]
        scales = dict(zip(self.labels, self.scales or (), strict=False))
        return replace(
            self.take(rows),
            unit=unit[rows],
            label=label[rows],
            units=tuple(units),
            labels=names,
            scales=tuple(scales[name] for name in names) if scales.keys() >= {*names} else None,
        )

    def beside(self, others: Answers) -> Answers:
        """Put other raters beside these, by the names of units, on the labels of these."""
        units = tuple(dict.fromkeys((*self.units, *others.units)))
        sides = self.on(units), others.on(units, self.labels)
        rater = np.concatenate([sides[0].rater, sides[1].rater + len(self.raters)])
        unit, label, value = (
            np.concatenate([getattr(side, name) for side in sides])
            for name in ("unit", "label", "value")
        )
        order = np.lexsort((rater, unit, label))
        return Answers(
            unit=unit[order],
            rater=rater[order],
            label=label[order],
            value=value[order],
            units=units,
            raters=(*self.raters, *others.raters),
            labels=self.labels,
            rater_kinds=(*self.rater_kinds, *others.rater_kinds),
            scales=self.scales,
        )

    def grid(self) -> Floats:
        """Lay the answers out by rater, label and unit, ``nan`` where there is none.

        Returns
        -------
        Shape (raters, labels, units).
        """
        grid = np.full((len(self.raters), len(self.labels), len(self.units)), np.nan)
        grid[self.rater, self.label, self.unit] = self.value
        return grid

    def ballots(self) -> Ballots:
        """Bring what each rater says of each unit into one row.

        Examples
        --------
        >>> answers_of([[1, 2], [3, np.nan]]).ballots().value.ravel()
        array([1., 3., 2.])
        """
        sizes = len(self.units), len(self.raters), len(self.labels)
        binary = bool(self.scales) and {one.kind for one in self.scales or ()} == {"binary"}
        return replace(_ballots(self.pair, self.label, self.value, sizes), binary=binary)

    def middle(self, aggregate: Literal["median", "mean"] = "median") -> Floats:
        """Take the median, or the mean, of all raters, ``nan`` where nobody answered.

        Returns
        -------
        Shape (labels, units).

        Examples
        --------
        >>> answers_of([[1, 2], [5, np.nan], [2, np.nan]]).middle()
        array([[2., 2.]])
        """
        if aggregate == "median":
            levels, level = distinct(self.value)
            n_cells = len(self.labels) * len(self.units)
            if 0 < n_cells * levels.size <= _MOST_GAPS * self.value.size:
                return self._middle_of_levels(levels, level)
        order = np.lexsort((self.value, self.cell))
        cell, value = self.cell[order], self.value[order]
        start = np.flatnonzero(np.diff(cell, prepend=-1))
        size = np.diff(np.append(start, cell.size))
        if aggregate == "median":
            found = (value[start + (size - 1) // 2] + value[start + size // 2]) / 2
        else:
            # Equal means must tie exactly, whatever the order of summation.
            found = np.round(np.add.reduceat(value, start) / size, 12) if start.size else value
        middle = np.full((len(self.labels), len(self.units)), np.nan)
        middle.ravel()[cell[start]] = found
        return middle

    def _middle_of_levels(self, levels: Floats, level: Ints) -> Floats:
        """Take the median from how often each of a few values was given."""
        shape = len(self.labels) * len(self.units), levels.size
        counts = np.bincount(self.cell * levels.size + level, minlength=shape[0] * shape[1])
        reached = np.cumsum(counts.reshape(shape), axis=1)
        size = reached[:, -1:]
        lower, upper = (
            levels[np.minimum((reached <= place).sum(axis=1), levels.size - 1)]
            for place in ((size - 1) // 2, size // 2)
        )
        middle: Floats = np.where(size[:, 0] > 0, (lower + upper) / 2, np.nan)
        return middle.reshape(len(self.labels), len(self.units))

    def of_categories(self, categories: Sequence[str]) -> Answers:
        """Take the categories that a single question names as labels, chosen with 1."""
        order = np.argsort(self.value, kind="stable")
        chosen = self.take(order)
        return replace(
            chosen,
            label=chosen.value.astype(np.int64),
            value=np.ones(chosen.value.size),
            labels=tuple(categories),
            scales=None,
        )

    @property
    def cell(self) -> Ints:
        """Code of the (label, unit) of every answer."""
        return self.label * len(self.units) + self.unit

    @property
    def pair(self) -> Ints:
        """Code of the (unit, rater) of every answer."""
        return self.unit * len(self.raters) + self.rater

    def raters_per_unit(self) -> Ints:
        """Count who answered about each unit, on whichever label, shape (units,).

        Examples
        --------
        >>> answers_of([[1, 2], [3, np.nan]]).raters_per_unit()
        array([2, 1])
        """
        units = np.unique(self.pair) // max(len(self.raters), 1)
        return np.bincount(units, minlength=len(self.units))

    def cell_sizes(self) -> Ints:
        """Answers in the (label, unit) of every answer, that answer included."""
        cell = self.cell
        counts: Ints = np.bincount(cell, minlength=len(self.labels) * len(self.units))[cell]
        return counts


def people_or_all(ratings: Ratings) -> Ratings:
    """Keep people where there are both people and models, otherwise everyone."""
    kinds = set(ratings.rater_kinds)
    mixed = kinds & set(HUMAN_KINDS) and kinds & set(MODEL_KINDS)
    return ratings.humans() if mixed else ratings


def require_order(ratings: Ratings | Answers | Scale | ArrayLike | None, what: str) -> None:
    """Refuse ratings, or a scale, whose categories have no order, where a statistic needs one.

    Raises
    ------
    InputError
        If the scale is nominal. An array has no scale, and passes.
    """
    scales: Mapping[str, Any] = {"": ratings}
    if isinstance(ratings, Ratings):
        scales = ratings.scales
    elif isinstance(ratings, Answers):
        scales = dict(zip(ratings.labels, ratings.scales, strict=True)) if ratings.scales else {}
    unordered = {
        name: scale
        for name, scale in scales.items()
        if isinstance(scale, Scale) and scale.kind == "nominal"
    }
    if not unordered:
        return
    if len(unordered) == len(scales):
        scale = next(iter(unordered.values()))
        raise InputError(
            f"{what} needs answers in an order; these are on a scale without one ({scale})"
        )
    raise InputError(
        f"{what} needs answers in an order; leave out the labels on a scale without one "
        f"({format_by_label(unordered)}): choose the others with "
        f"{option('select(labels=…)', cli='--keep-labels')}"
    )


def in_label_order(frame: pl.DataFrame, labels: tuple[str, ...]) -> pl.DataFrame:
    """Put rows of labels, which were computed scale by scale, into the order of the labels."""
    place = {name: k for k, name in enumerate(labels)}
    order = frame["label"].replace_strict(place, return_dtype=pl.Int64).to_numpy()
    return frame[np.argsort(order, kind="stable")]


def numeric_part(ratings: Ratings) -> Ratings:
    """Leave out the labels on a text scale.

    Raises
    ------
    InputError
        If all labels are on a text scale.
    """
    labels = [name for name, scale in ratings.scales.items() if scale.numeric]
    if not labels:
        raise InputError("expected numeric ratings, got ratings on a text scale")
    return ratings if len(labels) == ratings.n_labels else ratings.select(labels=labels)


def of_one_label(ratings: Ratings, label: str | None) -> Ratings:
    """Keep the answers to one label, which need not be named where it is the only one.

    Raises
    ------
    InputError
        If there are several labels and none is named, or one is named and there are none.
    """
    if label is not None and not ratings.has_labels:
        raise InputError(f"label {label!r}: the ratings have no labels")
    if label is None and ratings.has_labels and ratings.n_labels > 1:
        names = ", ".join(ratings.label_names[:8])
        more = ", …" if ratings.n_labels > 8 else ""
        raise InputError(
            f"the ratings have {ratings.n_labels} labels; expected label to be one of: "
            f"{names}{more}"
        )
    return ratings if label is None else ratings.select(labels=label)


_ARRANGING = RLock()
"""Of two threads that need the answers of a table, the second waits for what the first makes."""


def _arranged_once(arrange: Callable[_Asked, Answers]) -> Callable[_Asked, Answers]:
    """Arrange the answers of a table once where it keeps what is arranged."""

    @wraps(arrange)
    def arranged(*data: _Asked.args, **how: _Asked.kwargs) -> Answers:
        held = data[0]._held if data and isinstance(data[0], Ratings) else None
        if held is None:
            return arrange(*data, **how)
        key = frozenset(name for name, asked in how.items() if asked)
        with _ARRANGING:
            if key not in held:
                held[key] = arrange(*data, **how)
        found: Answers = held[key]
        return found

    return arranged


@_arranged_once
def answers_of(ratings: Ratings | ArrayLike, *, by_names: bool = False) -> Answers:
    """Read the answers that a statistic uses.

    Of ratings these are those of :meth:`~affectlab.ratings.Ratings.answers`.

    Parameters
    ----------
    ratings
        Ratings, or an array of shape (raters, units) with ``nan`` where there is no rating.
    by_names
        Number stimuli and raters of ratings in the order of their names, as ``canonical`` does.

    Raises
    ------
    InputError
        If the values are not numbers, or the array is not two-dimensional.
    """
    if not isinstance(ratings, Ratings):
        return _from_matrix(matrix_of(ratings))
    used = numeric_part(ratings).answers()
    unit, units = _numbered(used.stimulus_code, used.stimulus_names, by_names)
    rater, raters = _numbered(used.rater_code, used.rater_names, by_names)
    kinds = dict(zip(used.rater_names, used.rater_kinds, strict=True))
    pair, label = unit * np.int64(len(raters)) + rater, used.label_code
    if (pair[1:] >= pair[:-1]).all() and used.n_labels <= _SORTED_BY_DIGITS:
        # Rows stand by unit and rater already, as a table in canonical order has them.
        order = np.argsort(label.astype(np.uint16), kind="stable")
    else:
        n_pairs = used.n_stimuli * used.n_raters
        order = in_order(label * np.int64(n_pairs) + pair, used.n_labels * n_pairs)
    value = np.asarray(used.value, dtype=np.float64)[order]
    finite = np.isfinite(value)
    if not finite.all():
        order, value = order[finite], value[finite]
    return Answers(
        unit=unit[order].astype(np.int64),
        rater=rater[order].astype(np.int64),
        label=label[order].astype(np.int64),
        value=value,
        units=units,
        raters=raters,
        labels=tuple(used.label_names),
        rater_kinds=tuple(kinds[name] for name in raters),
        scales=tuple(used.scales.values()),
    )


def _numbered(
    code: NDArray[Any], names: tuple[str, ...], by_names: bool
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Codes and what they stand for, as they are or in the order of the names."""
    ordered = tuple(sorted(names)) if by_names else names
    if ordered == names:
        return code, names
    return places_in(ordered, names)[code], ordered


def ballots_of(ratings: Ratings) -> Ballots:
    """Read what :func:`answers_of` reads, and bring what each rater says of a stimulus into a row.

    Raises
    ------
    InputError
        If the values are not numbers.
    """
    used = numeric_part(ratings).answers()
    value = np.asarray(used.value, dtype=np.float64)
    sizes = used.n_stimuli, used.n_raters, used.n_labels
    pair = used.stimulus_code * np.int64(used.n_raters) + used.rater_code
    return _ballots(pair, used.label_code, value, sizes)


def _ballots(pair: Ints, label: NDArray[Any], value: Floats, sizes: Sequence[int]) -> Ballots:
    """Lay answers out by (unit, rater) and label; of several to the same the first counts."""
    n_units, n_raters, n_labels = sizes
    if n_units * n_raters > _MOST_GAPS * pair.size:
        pairs, row = np.unique(pair, return_inverse=True)
    else:
        present = np.zeros(n_units * n_raters, dtype=np.bool_)
        present[pair] = True
        pairs, row = np.flatnonzero(present), (np.cumsum(present) - 1)[pair]
    laid = np.full((pairs.size, n_labels), np.nan)
    # Written last to first. In copies: numpy may go through reversed views in either direction.
    back = np.arange(pair.size - 1, -1, -1)
    laid[row[back], label[back]] = value[back]
    return Ballots(*np.divmod(pairs, max(n_raters, 1)), laid)


def in_order(key: Ints, n_keys: int) -> Ints:
    """Sort rows by their key, below ``n_keys``; rows of one key stay in their order."""
    if n_keys <= _MOST_GAPS * key.size:
        # Most keys occur: each row goes straight to its place.
        place = np.full(n_keys, -1, dtype=np.int64)
        place[key] = np.arange(key.size)
        order = place[place >= 0]
        if order.size == key.size:
            return order
    return np.argsort(key, kind="stable")


def matrix_of(data: ArrayLike) -> Floats:
    """Read a matrix of shape (raters, units) as floats, ``nan`` where there is no rating."""
    array = (
        np.ma.filled(np.ma.asarray(data, dtype=np.float64), np.nan) if np.ma.isMA(data) else data
    )
    matrix = as_floats(
        array, "expected an array of numbers of shape (raters, units), nan where there is no rating"
    )
    if matrix.ndim != 2:
        raise InputError(f"expected an array of shape (raters, units), got shape {matrix.shape}")
    if np.isinf(matrix).any():
        rater, unit = np.argwhere(np.isinf(matrix))[0]
        raise InputError(f"rater {rater}, unit {unit}: the rating is infinite; expected a number")
    return matrix


def _from_matrix(matrix: Floats) -> Answers:
    n_raters, n_units = matrix.shape
    unit, rater = np.nonzero(~np.isnan(matrix.T))
    return Answers(
        unit=unit.astype(np.int64),
        rater=rater.astype(np.int64),
        label=np.zeros(unit.size, dtype=np.int64),
        value=matrix.T[unit, rater],
        units=tuple(map(str, range(n_units))),
        raters=tuple(map(str, range(n_raters))),
        labels=("rating",),
        rater_kinds=("human",) * n_raters,
    )


def row_column(ratings: Ratings, name: str, *, stimuli_first: bool = False) -> pl.Series | None:
    """Find a column of the answers, or an attribute of raters or stimuli, one entry per row.

    Parameters
    ----------
    stimuli_first
        Whether an attribute that both have is that of stimuli, as of columns that say the same of
        every answer to a stimulus.
    """
    body = ratings._body
    own = {"stimulus", "rater", "value", *body.extras} | ({"label"} if body.label else set())
    if name in own:
        return ratings.coded_frame[name]
    tables = [(ratings.raters, ratings.rater_code), (ratings.stimuli, ratings.stimulus_code)]
    for table, code in reversed(tables) if stimuli_first else tables:
        if name in table.columns:
            return table[name].gather(code.astype(np.int64))
    return None


def with_attributes(ratings: Ratings, *names: str) -> pl.DataFrame:
    """Give the frame of ratings with attributes of its stimuli, or of its raters, as columns.

    A column with one value per stimulus or rater is held as an attribute of these.
    """
    frame = ratings.to_frame()
    for name in names:
        column = row_column(ratings, name, stimuli_first=True)
        if column is not None and name not in frame.columns:
            frame = frame.with_columns(column.alias(name))
    return frame
