"""Cohen's kappa: of two raters, of all pairs of raters, and of two ratings drawn at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, check_choice, check_choices, unknown_name
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, IntervalFact, Reason
from affectlab.core.inference import check_confidence, infer
from affectlab.core.jackknife import LEAST_EFFECTIVE, LeaveOneOut, around, too_few
from affectlab.core.statistic import FEWEST_CLUSTERS, Clusters, Ends, Statistic, by_formula
from affectlab.core.types import Floats, Ints
from affectlab.ratings import (
    HUMAN_KINDS,
    Answers,
    ClusterLike,
    Ratings,
    Scale,
    answers_of,
    canonical,
    matrix_of,
    numeric_part,
    of_known_raters,
    require_order,
    stimulus_clusters,
)
from affectlab.reliability.agreement.coefficient import (
    concatenate_estimates,
    scalar_if_array,
)
from affectlab.reliability.agreement.wording import RANDOM_PAIRS, kappa_name

# Results of pairwise kappa: the table with the kinds of pairs, and the matrix of raters.


@dataclass(frozen=True, repr=False)
class KappaResult(Estimates):
    """Kappa by label, rater_a and rater_b, with the kind of every pair.

    After the columns of every result stands ``pair_kind``: ``human-human``, ``human-model`` or
    ``model-model``. Simulated raters count as human, baselines as models.
    """

    raters: tuple[str, ...] = ()
    """All raters, in the order of the ratings."""
    rater_kinds: tuple[str, ...] = ()
    """The kind of each rater."""

    @property
    def pair_kind(self) -> pl.Series:
        """The kind of pair of each row."""
        return self.frame["pair_kind"]

    @classmethod
    def of_pairs(
        cls,
        labels: Sequence[str],
        raters: tuple[str, ...],
        rater_kinds: tuple[str, ...],
        *,
        n: Ints,
        **columns: Any,
    ) -> KappaResult:
        """Make the table of all pairs of raters, label by label, first rater by first rater.

        `n` counts the items of each row; `columns` are those of
        :meth:`~affectlab.core.estimates.Estimates.build`.
        """
        first, second = np.triu_indices(len(raters), 1)
        human = np.array([side_of(kind) == "human" for kind in rater_kinds], dtype=bool)
        kinds = pl.Series(["model-model", "human-model", "human-human"])
        kind = human[first].astype(int) + human[second]
        names, label = pl.Series(raters, dtype=pl.String), np.arange(len(labels))
        table = Estimates.build(
            {
                "label": pl.Series(labels, dtype=pl.String)[np.repeat(label, first.size)],
                "rater_a": names[np.tile(first, label.size)],
                "rater_b": names[np.tile(second, label.size)],
            },
            n_items=n,
            n_raters=2,
            n_ratings=2 * n,
            **columns,
            extra={"pair_kind": kinds[np.tile(kind, label.size)]},
        )
        return cls(table.tables, raters=raters, rater_kinds=rater_kinds)

    def of_kind(self, pair_kind: str) -> pl.DataFrame:
        """Give the rows of one kind of pair."""
        return self.frame.filter(pl.col("pair_kind") == pair_kind)

    @property
    def people(self) -> list[str]:
        """The raters who are human."""
        kinds = zip(self.raters, self.rater_kinds, strict=True)
        return [name for name, kind in kinds if side_of(kind) == "human"]

    def with_people(self) -> pl.DataFrame:
        """List what is defined of every rater with every (other) person.

        Columns ``label``, ``rater``, ``other`` (the person) and ``value``.
        """
        known = self.frame.filter(pl.col("status") == "ok")
        sides = (("rater_a", "rater_b"), ("rater_b", "rater_a"))
        both = pl.concat(
            known.select("label", rater=rater, other=other, value="value") for rater, other in sides
        )
        return both.filter(pl.col("other").is_in(self.people))


@dataclass(frozen=True)
class RaterMatrix:
    """A square table of raters, humans first."""

    raters: tuple[str, ...]
    rater_kinds: tuple[str, ...]
    values: Floats
    """Shape (raters, raters), symmetric, ``nan`` on the diagonal and where nothing is defined."""

    def to_frame(self) -> pl.DataFrame:
        """Give a column ``rater`` and one column per rater."""
        columns = {name: self.values[:, k] for k, name in enumerate(self.raters)}
        return pl.DataFrame({"rater": list(self.raters), **columns})


def side_of(rater_kind: str) -> str:
    return "human" if rater_kind in HUMAN_KINDS else "model"


def kappa_matrix(result: KappaResult, *, labels: tuple[str, ...] | None = None) -> RaterMatrix:
    """Average kappa over labels for every pair of raters, humans first.

    Parameters
    ----------
    result
        What :func:`pairwise_kappa` gave.
    labels
        Labels to average over; by default all.

    Returns
    -------
    A symmetric matrix; labels on which a pair is not defined are left out of its mean.

    Raises
    ------
    InputError
        If a label is not in the table.

    Examples
    --------
    >>> from affectlab.reliability import pairwise_kappa
    >>> table = pairwise_kappa([[0, 3, 7, 0], [0, 3, 3, 0], [1, 4, 7, 0]], scale="0-7")
    >>> matrix = kappa_matrix(table)
    >>> matrix.raters, matrix.values[0].round(3).tolist()
    (('0', '1', '2'), [nan, 0.652, 0.969])
    """
    frame = result.frame
    if labels is not None:
        known = frame["label"].unique(maintain_order=True).to_list()
        check_choices("label", labels, known)
        frame = frame.filter(pl.col("label").is_in(list(labels)))
    index = {name: k for k, name in enumerate(result.raters)}
    values = np.full((len(index), len(index)), np.nan)
    means = frame.group_by("rater_a", "rater_b", maintain_order=True).agg(
        pl.col("value").drop_nans().mean()
    )
    for rater_a, rater_b, mean in means.iter_rows():
        if mean is not None:
            values[index[rater_a], index[rater_b]] = values[index[rater_b], index[rater_a]] = mean
    human = np.array([side_of(kind) == "human" for kind in result.rater_kinds], dtype=bool)
    order = np.argsort(~human, kind="stable")
    return RaterMatrix(
        tuple(result.raters[k] for k in order),
        tuple(result.rater_kinds[k] for k in order),
        values[np.ix_(order, order)],
    )


# Weighted kappa from tables of paired answers, and such tables for all pairs of raters at once.


Weights: TypeAlias = Literal["quadratic", "linear", "nominal"]


_BLOCK = 1 << 22
"""Cells of tables that are held at once."""


class Kappas(NamedTuple):
    """Kappas of pairs of raters with what their intervals rest on; fields have one shape."""

    value: Floats
    """``nan`` where not defined."""
    se: Floats
    """Standard errors by leaving out items, ``nan`` where there is none."""
    freedom: Floats
    """Degrees of freedom: one less than the items that in effect carry the error, but at least four
    where there are as many items."""
    unshared: Ints
    """Where most answers are one and the same, and no item has another one from both: how many
    others the rater gave who gave more of them; 0 elsewhere."""
    gain: Floats
    """By how much kappa would rise with every item on which both gave the same other answer."""
    n: Ints
    """Common items."""
    drawn: Drawn | None = None
    """What items were drawn with, where they were; nothing where each was drawn by itself."""

    @classmethod
    def none(cls, size: int) -> Kappas:
        """Make room for so many pairs, without items so far."""
        value, se, freedom = np.full((3, size), np.nan)
        unshared, n = np.zeros((2, size), np.int64)
        return cls(value, se, freedom, unshared, np.zeros(size), n)

    @property
    def undefined(self) -> NDArray[np.object_]:
        """Why there is no kappa, ``None`` where there is."""
        why = np.full(self.value.shape, None, dtype=object)
        none = np.isnan(self.value)
        why[none] = Reason(Cause.ONE_CATEGORY)
        why[none & (self.n == 0)] = Reason(Cause.NONE, of="common stimuli")
        return why

    @property
    def missing(self) -> NDArray[np.object_]:
        """Why there is a kappa without an interval, ``None`` where that is not so."""
        units = "items" if self.drawn is None else self.drawn.units
        why = np.full(self.value.shape, None, dtype=object)
        why[np.isnan(self.se)] = Reason(Cause.UNDEFINED_WITHOUT_ONE, of=units)
        if self.drawn is not None:
            few = np.array(too_few(self.drawn.count, FEWEST_CLUSTERS, units), dtype=object)
            why = np.where(few != None, few, why)  # noqa: E711
            why[self.unshared > 0] = Reason(Cause.RARER_NEVER_SHARED)
        why[np.isnan(self.value)] = None
        return why

    def ends(self, confidence: float) -> Ends:
        """Give standard errors and intervals, Student's on the scale of Fisher's z.

        Where most answers are the same one, and two raters never share another, leaving out items
        cannot tell how often they might. The upper end is then kappa with as many shared answers as
        none of those that the one gave more of speaks against (Clopper and Pearson 1934).
        """
        unshared, se = self.unshared > 0, self.se
        if self.drawn is not None:
            se = np.where(unshared | (self.drawn.count < FEWEST_CLUSTERS), np.nan, se)
        se, low, high = around(self.value, se, self.freedom, confidence, (-1.0, 1.0))
        many = np.maximum(self.unshared, 1)
        most = self.value + self.gain * many * (1 - ((1 - confidence) / 2) ** (1 / many))
        high = np.where(unshared & ~np.isnan(se), np.fmax(high, np.minimum(most, 1.0)), high)
        return se, low, high


@dataclass(frozen=True, eq=False)
class Drawn:
    """Clusters that items were drawn with."""

    units: str
    """What they are."""
    count: Ints
    """How many of them each kappa rests on."""

    @property
    def interval(self) -> IntervalFact:
        """How the interval comes about."""
        return IntervalFact("jackknife", (self.units,))


def disagreement_weights(weights: str, n_levels: int) -> Floats:
    """Build w: 0 on the diagonal, [i != j], |i - j| or (i - j)^2 off it."""
    steps = np.abs(np.subtract.outer(np.arange(n_levels), np.arange(n_levels))).astype(np.float64)
    if weights == "quadratic":
        return steps**2
    if weights == "linear":
        return steps
    if weights == "nominal":
        return (steps > 0).astype(np.float64)
    raise unknown_name("weights", str(weights), ("quadratic", "linear", "nominal"))


def kappa_of_tables(tables: NDArray[np.integer[Any]], weights: str) -> Kappas:
    r"""Compute weighted kappa and what it is without each item.

    .. math:: \kappa = 1 - n \sum_{ij} w_{ij} o_{ij} / \sum_{ij} w_{ij} r_i c_j

    With counts o, their sums over rows r and over columns c, an item in the cell (i, j) leaves
    :math:`\sum w o - w_{ij}` above, and :math:`\sum w r c - (w c)_i - (r w)_j + w_{ij}` below.

    Parameters
    ----------
    tables
        Counts o, shape (k, levels, levels): first rater in rows, second in columns.
    weights
        ``"quadratic"``, ``"linear"`` or ``"nominal"``.

    Returns
    -------
    Kappa is ``nan`` where there are no common items or where both raters gave one and the same
    value throughout.
    """
    w = disagreement_weights(weights, tables.shape[-1])
    value, observed, expected = _values(tables, w)
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    n = rows.sum(axis=1)
    size, less = n[:, None, None], np.maximum(n - 1, 1)[:, None, None]
    below = expected[:, None, None] - (columns @ w)[:, :, None] - (rows @ w)[:, None, :] + w
    without = 1 - ratio(less * (observed[:, None, None] - w), below)
    there = tables > 0
    known = np.where(there, without, 0.0)
    middle = (tables * known).sum(axis=(1, 2), keepdims=True) / np.maximum(size, 1)
    squares = np.where(there, (known - middle) ** 2, 0.0)
    total, fourth = (np.einsum("kij,kij->k", tables, part) for part in (squares, squares**2))
    scarce = np.isnan(np.where(there, without, 0.0)).any(axis=(1, 2)) | (n < 2) | np.isnan(value)
    se = np.where(scarce, np.nan, np.sqrt(total * (n - 1) / np.maximum(n, 1)))
    carried = np.maximum(ratio(total**2, fourth, 0.0) - 1, LEAST_EFFECTIVE)
    place = np.arange(len(tables))
    modal = (rows + columns).argmax(axis=1)
    others = np.stack([n - rows[place, modal], n - columns[place, modal]])
    both = n - rows[place, modal] - columns[place, modal] + tables[place, modal, modal]
    lone = (both == 0) & (others.sum(axis=0) <= n) & ~np.isnan(value)
    apart = np.stack([np.einsum("ki,ik->k", part, w[:, modal]) for part in (rows, columns)])
    apart = ratio(apart, others, 0.0).sum(axis=0) * np.where((others == 0).any(axis=0), 2.0, 1.0)
    unshared = np.where(lone, others.max(axis=0), 0).astype(np.int64)
    gain = np.where(lone, ratio(n * apart, expected), 0.0)
    freedom = np.minimum(carried, np.maximum(n - 1, 1))
    return Kappas(value, se, freedom, unshared, gain, n.astype(np.int64))


def _values(tables: NDArray[np.integer[Any]], w: Floats) -> tuple[Floats, Floats, Floats]:
    """Kappa of tables, with the sums of observed and of expected disagreement."""
    # Products of matrices, which are exact for counts, and many times as fast as sums of integers.
    counts, ones = tables.astype(np.float64), np.ones(len(w))
    rows, columns = counts @ ones, ones @ counts
    observed = counts.reshape(len(counts), w.size) @ w.ravel()
    expected = np.einsum("kj,kj->k", rows @ w, columns)
    return 1 - ratio((rows @ ones) * observed, expected), observed, expected


def of_clusters(
    kappas: Kappas,
    code: Ints,
    unit: Ints,
    clusters: Clusters,
    n_levels: int,
    weights: str,
) -> Kappas:
    """Give kappas the errors of leaving out clusters of items in place of items.

    Parameters
    ----------
    kappas
        Of the tables that `code` counts.
    code
        Table, level of the first and level of the second answer of every pair of answers, as one
        number, shape (pairs of answers,).
    unit
        The unit that each pair of answers is about.
    clusters
        Of the units.
    n_levels, weights
        As for :func:`kappa_of_tables`.
    """
    w, cells = disagreement_weights(weights, n_levels), n_levels**2
    order = np.argsort(code // cells, kind="stable")
    code, cluster = code[order], clusters.code[unit[order]]
    se, freedom = np.full((2, kappas.n.size), np.nan)
    count = np.zeros(kappas.n.size, dtype=np.int64)
    rows = max(1, _BLOCK // (cells * max(clusters.n, 1)))
    for start in range(0, count.size, rows):
        at = slice(start, min(start + rows, count.size))
        size = at.stop - start
        first, last = np.searchsorted(code, [start * cells, at.stop * cells])
        place = cluster[first:last] * (size * cells) + code[first:last] - start * cells
        each = np.bincount(place, minlength=clusters.n * size * cells)
        each = each.reshape(clusters.n, size, n_levels, n_levels)
        without = (each.sum(axis=0) - each).reshape(-1, n_levels, n_levels)
        values, present = _values(without, w)[0].reshape(-1, size), np.any(each, axis=(2, 3))
        left_out = LeaveOneOut(
            "stimuli", np.where(present, values, np.nan), present, effective=True
        )
        se[at], freedom[at], count[at] = left_out.error(), left_out.degrees(), left_out.count
    return kappas._replace(se=se, freedom=freedom, drawn=Drawn(clusters.units, count))


def levels_of(scale: Scale | str | ArrayLike) -> Floats:
    """Give the values of a declared scale, ascending: from a scale, its short form, or a list."""
    if isinstance(scale, str):
        scale = Scale.parse(scale)
    if isinstance(scale, Scale):
        return np.asarray(scale.levels(), dtype=np.float64)
    levels = np.asarray(scale, dtype=np.float64)
    if levels.ndim != 1 or levels.size < 2 or not (np.diff(levels) > 0).all():
        raise InputError(f"levels {scale!r}: expected at least two values in rising order")
    return levels


def to_levels(values: Floats, levels: Floats, *, truncate: bool = False) -> tuple[Ints, Ints]:
    """Place values on the levels of the scale.

    Parameters
    ----------
    values
        Shape (n,), finite.
    levels
        Shape (levels,), ascending.
    truncate
        Drop the fraction, as ``int()`` does, in place of taking the nearest level (a value half way
        goes to the higher one).

    Returns
    -------
    The position of each value on the scale, and the indices of the values that are off it.
    """
    if truncate:
        values = np.trunc(values)
    position = np.searchsorted((levels[1:] + levels[:-1]) / 2, values, side="right")
    off = np.flatnonzero((values < levels[0] - 1e-9) | (values > levels[-1] + 1e-9))
    return position.astype(np.int64), off


def pairwise_tables(
    answers: Answers,
    position: Ints,
    n_levels: int,
    weights: str,
    clusters: Clusters | None = None,
) -> Kappas:
    """Compute kappa of all pairs of raters on all labels.

    Parameters
    ----------
    answers, position
        The answers, and the level of each.
    n_levels, weights
        As for :func:`kappa_of_tables`.
    clusters
        What units were drawn with.

    Returns
    -------
    Shape (labels x pairs,), label after label, with the pairs of a label in the order of
    ``np.triu_indices(n_raters, 1)``.
    """
    n_raters = len(answers.raters)
    n_pairs = n_raters * (n_raters - 1) // 2
    size = len(answers.labels) * n_pairs
    kappas = Kappas.none(size)
    start, codes, units = 0, [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for label, part in enumerate(answers.by_label()):
        at = position[start : start + part.unit.size]
        start += part.unit.size
        for pairs, counts in _pair_tables(part, at, n_levels, n_pairs):
            found = kappa_of_tables(counts, weights)
            for whole, own in zip(kappas[:-1], found[:-1], strict=True):
                whole[label * n_pairs + pairs] = own
        if clusters is not None:
            for code, unit in _pair_codes(part, at, n_levels):
                codes.append(code + label * n_pairs * n_levels**2)
                units.append(unit)
    if clusters is None:
        return kappas
    code, unit = np.concatenate(codes), np.concatenate(units)
    return of_clusters(kappas, code, unit, clusters, n_levels, weights)


def _pair_tables(
    part: Answers, position: Ints, n_levels: int, n_pairs: int
) -> Iterator[tuple[Ints, Ints]]:
    """Count the paired answers to one label, for every pair of raters.

    Answers to one unit that are k apart (sorted by rater) make one vector of pairs, and counting is
    one bincount over (pair, level of the first, level of the second). Work grows with the pairs
    that exist, so a sparse panel costs no more than its common ratings. Where the tables would not
    fit, the codes are sorted and counted in blocks of the pairs that have common items.

    Yields
    ------
    Pairs, shape (k,), and their tables, shape (k, levels, levels).
    """
    codes = (code for code, _ in _pair_codes(part, position, n_levels))
    cells = n_levels**2
    rows = max(1, _BLOCK // cells)
    if n_pairs <= rows:
        counts = np.zeros(n_pairs * cells, dtype=np.int64)
        for code in codes:
            counts += np.bincount(code, minlength=counts.size)
        yield np.arange(n_pairs), counts.reshape(n_pairs, n_levels, n_levels)
        return
    ordered = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *codes]))
    pair = ordered // cells
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    ends = np.append(first, ordered.size)
    for start in range(0, first.size, rows):
        stop = min(start + rows, first.size)
        block = slice(ends[start], ends[stop])
        place = np.repeat(np.arange(stop - start), np.diff(ends[start : stop + 1]))
        counts = np.bincount(
            ordered[block] + (place - pair[block]) * cells, minlength=(stop - start) * cells
        )
        yield pair[first[start:stop]], counts.reshape(stop - start, n_levels, n_levels)


def _pair_codes(part: Answers, position: Ints, n_levels: int) -> Iterator[tuple[Ints, Ints]]:
    """Give (pair, level, level) as one integer for every two answers to a unit, and the unit."""
    n_raters = len(part.raters)
    codes = np.arange(n_raters)
    before = codes * (2 * n_raters - codes - 3) // 2 - 1
    first = before[part.rater] * n_levels**2 + position * n_levels
    second = part.rater * n_levels**2 + position
    for lag in range(1, part.unit.size):
        same = part.unit[lag:] == part.unit[:-lag]
        if not same.any():
            return
        code, unit = first[:-lag] + second[lag:], part.unit[lag:]
        yield (code, unit) if same.all() else (code[same], unit[same])


# Kappa of all pairs of raters on a panel where most raters answered most units.
#
# The answers become levels in a dense array of shape (labels, units, raters), from which pairs are
# counted and kappas computed by compiled loops, one label per task. Sparse panels go through
# sorted answers instead; the results are the same.


_MOST_TABLE_CELLS = 1 << 22
"""Cells of the pair tables of one label."""
_MOST_SPARSE = 8
"""Places of the dense array per answer."""
_MOST_LEVELS = 127
_FEW_ANSWERS = 1 << 15
"""Below this, loading compiled code takes longer than the work."""
_MANY_ANSWERS = 1 << 20
"""Above this they are arranged on all cores."""
_FEW_LEVELS = 16
"""Up to here counting shared bits is faster than counting units."""


@dataclass(frozen=True)
class DensePanel:
    """Levels of the scale by label, unit and rater, -1 where there is no answer."""

    cube: NDArray[np.int8]
    labels: tuple[str, ...]
    raters: tuple[str, ...]
    rater_kinds: tuple[str, ...]
    n_levels: int


def dense_panel(data: Ratings | ArrayLike, levels: Floats, *, truncate: bool) -> DensePanel | None:
    """Arrange the answers densely.

    Returns
    -------
    ``None`` where a dense array would waste memory, and where a value is off the scale: the way
    through sorted answers finds and names it; and for little data.
    """
    if isinstance(data, Ratings):
        used = data.answers()
        shape = (len(used.label_names), len(used.stimulus_names), len(used.rater_names))
        codes = used.label_code, used.stimulus_code, used.rater_code
        values = np.asarray(used.value, dtype=np.float64)
        names = (used.label_names, used.rater_names, used.rater_kinds)
    else:
        matrix = matrix_of(data)
        n_raters, n_units = matrix.shape
        shape = (1, n_units, n_raters)
        rater, unit = (place.ravel() for place in np.indices(matrix.shape, dtype=np.int32))
        codes, values = (np.zeros(unit.size, dtype=np.int32), unit, rater), matrix.ravel()
        names = (("rating",), tuple(map(str, range(n_raters))), ("human",) * n_raters)
    n_labels, n_units, n_raters = shape
    n_cells = n_raters * (n_raters - 1) // 2 * levels.size**2
    wasteful = n_labels * n_units * n_raters > _MOST_SPARSE * values.size
    too_large = n_cells > _MOST_TABLE_CELLS or levels.size > _MOST_LEVELS
    if values.size < _FEW_ANSWERS or wasteful or too_large:
        return None
    from affectlab.core.compiled import in_threads, n_threads
    from affectlab.reliability.agreement.chance_corrected.kappa_kernels import fill_cube

    middles, ends = (levels[1:] + levels[:-1]) / 2, (levels[0] - 1e-9, levels[-1] + 1e-9)

    def filled(n_parts: int) -> tuple[NDArray[np.int8], list[int]]:
        cube, counts = np.full(shape, -1, dtype=np.int8), list[int]()
        bounds = np.linspace(0, values.size, n_parts + 1).astype(int).tolist()

        def fill(rows: slice) -> None:
            label, unit, rater = (code[rows] for code in codes)
            counts.append(
                fill_cube(label, unit, rater, values[rows], middles, *ends, truncate, cube)
            )

        in_threads(fill, map(slice, bounds, bounds[1:]))
        return cube, counts

    n_parts = n_threads() if values.size > _MANY_ANSWERS else 1
    cube, counts = filled(n_parts)
    if n_parts > 1 and sum(counts) != np.count_nonzero(cube >= 0):
        # Two parts have an answer of a rater to one and the same: the first is to stay.
        cube, counts = filled(1)
    if min(counts) < 0:
        return None
    labels, raters, kinds = (tuple(part) for part in names)
    return DensePanel(cube, labels, raters, kinds, levels.size)


def dense_kappas(panel: DensePanel, weights: str, *, errors: bool = True) -> Kappas:
    """Compute kappa of all pairs of raters on all labels, with or without errors.

    Returns
    -------
    Shape (labels x pairs,), label after label, with the pairs of a label in the order of
    ``np.triu_indices(n_raters, 1)``.
    """
    from affectlab.core.compiled import in_threads
    from affectlab.reliability.agreement.chance_corrected.kappa_kernels import (
        count_pairs,
        count_pairs_by_bits,
        kappa_of_counts,
    )

    size = panel.n_levels
    count = count_pairs_by_bits if size <= _FEW_LEVELS else count_pairs
    w = disagreement_weights(weights, size)
    n_pairs = len(panel.raters) * (len(panel.raters) - 1) // 2
    kappas = Kappas.none(len(panel.labels) * n_pairs)

    def one_label(k: int) -> None:
        counts = np.zeros(n_pairs * size**2, dtype=np.int32)
        count(panel.cube[k], size, counts)
        at = slice(k * n_pairs, (k + 1) * n_pairs)
        value, se, freedom, n = kappas.value[at], kappas.se[at], kappas.freedom[at], kappas.n[at]
        tables = counts.reshape(n_pairs, size, size)
        if not errors:
            value[:], n[:] = _values(tables, w)[0], counts.reshape(n_pairs, w.size).sum(axis=1)
            return
        of_others = kappas.unshared[at], kappas.gain[at]
        kappa_of_counts(tables, w, LEAST_EFFECTIVE, value, se, freedom, *of_others, n)

    in_threads(one_label, range(len(panel.labels)))
    return kappas


def weighted_kappa(
    a: ArrayLike,
    b: ArrayLike,
    *,
    weights: Weights = "quadratic",
    scale: Scale | str | ArrayLike,
    confidence: float = 0.95,
    cluster: Sequence[Any] | Literal["none"] | None = None,
) -> Estimate:
    r"""Compute the weighted kappa of two raters on a declared scale.

    .. math:: \kappa = 1 - \sum_{ij} w_{ij} o_{ij} / \sum_{ij} w_{ij} e_{ij}

    with :math:`w_{ij} = (i - j)^2`, :math:`|i - j|` or :math:`[i \ne j]` over *all* levels of the
    scale, so the result does not hang on which values happen to occur.

    Parameters
    ----------
    a, b
        Ratings of the same items, shape (n,), ``nan`` where there is none; items that lack one are
        left out. Values between levels are rounded to the nearest.
    weights
        ``"quadratic"``, ``"linear"`` or ``"nominal"`` (unweighted).
    scale
        A :class:`~affectlab.ratings.Scale`, its short form such as ``"0-7"``, or its levels.
    confidence
        Coverage of the interval: Student's on the scale of Fisher's z, from leaving out items.
        Where most answers are one and the same and the two never share another, its upper end is
        exact (Clopper and Pearson 1934).
    cluster
        What each item belongs to, such as the actor of a face, shape (n,): items of one cluster are
        left out together.

    Returns
    -------
    Estimate in [-1, 1]; ``nan`` with a status when there are no common items, or both raters give
    one and the same value throughout.

    Raises
    ------
    InputError
        If the lengths differ or a value is off the scale.

    References
    ----------
    Cohen (1968), Psychological Bulletin 70.

    Examples
    --------
    >>> a, b = [0, 3, 7, 0, 3, 7], [0, 3, 3, 0, 7, 7]
    >>> weighted_kappa(a, b, scale="0-7")
    Estimate(0.676 [-0.515, 0.976], Cohen's kappa, quadratic weights, ordinal 0 to 7, step 1; ...)
    """
    matrix = [np.asarray(side, dtype=np.float64) for side in (a, b)]
    if matrix[0].ndim != 1 or matrix[0].shape != matrix[1].shape:
        raise InputError(
            "expected two arrays of one length, one rating per item, "
            f"got shapes {matrix[0].shape} and {matrix[1].shape}"
        )
    result = pairwise_kappa(
        np.vstack(matrix), weights=weights, scale=scale, confidence=confidence, cluster=cluster
    )
    return result["rating", "0", "1"]


@of_known_raters
def pairwise_kappa(
    ratings: Ratings | ArrayLike,
    *,
    weights: Weights | None = None,
    scale: Scale | str | ArrayLike | None = None,
    truncate: bool = False,
    target: Literal["stimuli", "sample"] = "stimuli",
    confidence: float = 0.95,
    cluster: ClusterLike = None,
) -> KappaResult:
    """Compute the weighted kappa of every pair of raters on every label.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating.
    weights
        ``"quadratic"``, ``"linear"`` or ``"nominal"``; see :func:`weighted_kappa`. By default
        quadratic, and nominal for ratings on a nominal scale, whose categories have no order.
    scale
        The declared scale; by default that of the ratings. An array needs it said.
    truncate
        Drop fractions as ``int()`` does, in place of rounding to the nearest level. Only for
        reproducing tables that were computed so.
    target
        What intervals are about: other stimuli, or this sample, which leaves nothing to be
        uncertain of: kappas alone, in less time.
    confidence
        Coverage of the intervals.
    cluster
        What stimuli belong to, and are left out with: a column of the stimulus table, a mapping
        from stimulus to cluster, or of an array the cluster of each unit; ``"none"`` for stimuli
        drawn one by one. By default a column like ``actor``, ``speaker`` or ``film``.

    Returns
    -------
    One row per label and pair, by ``label``, ``rater_a`` and ``rater_b`` in the order of the
    raters, with ``pair_kind``. ``n_items`` counts the items that both rated. Kappa is ``nan`` with
    a status where a pair has no common items or one category. There is no interval where nothing
    varies (:mod:`affectlab.core.estimates`), where kappa is not defined without one of the items,
    and where, of two answers, nobody shares the rarer one; ``method`` says why.

    Raises
    ------
    InputError
        If a value is off the scale, or the scale has no levels, or an option is not known.

    Examples
    --------
    >>> table = pairwise_kappa([[0, 3, 7, 0], [0, 3, 3, 0], [1, 4, 7, 0]], scale="0-7")
    >>> round(table["rating", "0", "2"].value, 3)
    0.969
    """
    check_confidence(confidence)
    check_choice("target", target, ("stimuli", "sample"))
    errors = target == "stimuli"
    if weights not in (None, "nominal") and scale is None:
        require_order(ratings, kappa_name(weights))
    drawn = stimulus_clusters(ratings, cluster if errors else "none")
    one: Scale | str | ArrayLike | None = scale
    if scale is None and isinstance(ratings, Ratings):
        ratings = numeric_part(ratings)
        scales = set(ratings.scales.values())
        one = next(iter(scales)) if len(scales) == 1 else None
    if one is not None and drawn.of is None:
        panel = dense_panel(ratings, levels_of(one), truncate=truncate)
        if panel is not None:
            own = weights or _usual_weights(scale, one)
            kappas = dense_kappas(panel, own, errors=errors)
            how = _method(own, one, truncate)
            return _kappa_result(panel, kappas, how, confidence if errors else None)
    answers = answers_of(ratings)
    # A scale that is said holds for all labels.
    parts = [answers] if scale is not None else list(answers.by_scale())
    found = []
    for part in parts:
        (declared, *_) = declared_scales(part, scale)
        own = weights or _usual_weights(scale, declared)
        levels = levels_of(declared)
        position = positions_of(part, levels, truncate=truncate)
        kept = part.cell_sizes() >= 2
        clusters = drawn.on(part.units)
        kappas = pairwise_tables(part.take(kept), position[kept], levels.size, own, clusters)
        how = _method(own, declared, truncate)
        found.append(_kappa_result(part, kappas, how, confidence if errors else None))
    return concatenate_estimates(found, answers.labels)


def _usual_weights(scale: Scale | str | ArrayLike | None, of_label: Any) -> Weights:
    """Give the weights that go with the scale of the ratings: none where it has no order."""
    nominal = scale is None and isinstance(of_label, Scale) and of_label.kind == "nominal"
    return "nominal" if nominal else "quadratic"


@overload
def random_pair_kappa(
    ratings: Ratings,
    *,
    weights: Weights = "nominal",
    scale: Scale | str | ArrayLike | None = None,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Estimates: ...
@overload
def random_pair_kappa(
    ratings: ArrayLike,
    *,
    weights: Weights = "nominal",
    scale: Scale | str | ArrayLike | None = None,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Estimate: ...
def random_pair_kappa(
    ratings: Ratings | ArrayLike,
    *,
    weights: Weights = "nominal",
    scale: Scale | str | ArrayLike | None = None,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Estimate | Estimates:
    """Compute Cohen's kappa between two ratings drawn at random for every example.

    Parameters
    ----------
    ratings, weights, scale, confidence, cluster
        As for :func:`pairwise_kappa`; by default unweighted.
    seed
        Seed or generator of the draw. Two raters are drawn per stimulus, in random order, and
        serve all labels that both rated.

    Returns
    -------
    Estimates by ``label``, or one :class:`~affectlab.core.estimates.Estimate` for an array. The
    standard error does not cover the draw.

    References
    ----------
    Demszky et al. (2020), GoEmotions, appendix C.

    Examples
    --------
    >>> yes_no = [[1, 0, 1, 0], [1, 0, 0, 0], [1, 0, 1, 0]]
    >>> random_pair_kappa(yes_no, scale="binary", seed=1).n_items
    4
    """
    ratings = canonical(ratings)
    answers = answers_of(ratings)
    parts = [answers] if scale is not None else list(answers.by_scale())
    clusters = stimulus_clusters(ratings, cluster).on(answers.units)
    tables = [
        infer(
            _random_pairs(part, weights, scale, clusters, seed),
            interval="analytic",
            confidence=confidence,
        )
        for part in parts
    ]
    return scalar_if_array(concatenate_estimates(tables, answers.labels), ratings)


def _random_pairs(
    answers: Answers,
    weights: Weights,
    scale: Scale | str | ArrayLike | None,
    clusters: Clusters | None,
    seed: int | np.random.Generator | None,
) -> Statistic:
    """Draw two answers of every cell of the labels that share a scale."""
    (declared, *_) = declared_scales(answers, scale)
    levels = levels_of(declared)
    position = positions_of(answers, levels, truncate=False)
    first, second = _drawn_pairs(answers, np.random.default_rng(seed))
    n_labels, size = len(answers.labels), levels.size
    key = (answers.label[first] * size + position[first]) * size + position[second]
    counts = np.bincount(key, minlength=n_labels * size**2).reshape(n_labels, size, size)
    drawn = np.concatenate([first, second])
    seen = np.unique(answers.label[drawn] * len(answers.raters) + answers.rater[drawn])
    kappas = kappa_of_tables(counts, weights)
    if clusters is not None:
        kappas = of_clusters(kappas, key, answers.unit[first], clusters, size, weights)
    return by_formula(
        kappas.value,
        lambda _, level: kappas.ends(level),
        keys={"label": answers.labels},
        method=[(*_method(weights, declared, False), RANDOM_PAIRS)] * n_labels,
        n_items=kappas.n,
        n_raters=np.bincount(seen // max(len(answers.raters), 1), minlength=n_labels),
        n_ratings=2 * kappas.n,
        undefined=kappas.undefined.tolist(),
        no_interval=kappas.missing.tolist(),
        formula=None if kappas.drawn is None else kappas.drawn.interval,
        over="stimuli" if kappas.drawn is None else kappas.drawn.units,
    )


def _drawn_pairs(answers: Answers, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw two answers of every (label, unit): those whose raters come first in a random order."""
    seen, place = np.unique(answers.pair, return_inverse=True)
    order = np.lexsort((rng.random(seen.size)[place], answers.cell))
    cell = answers.cell[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1) != 0)
    first = first[first + 1 < cell.size]
    first = first[cell[first] == cell[first + 1]]
    return order[first], order[first + 1]


def declared_scales(
    answers: Answers, scale: Scale | str | ArrayLike | None
) -> tuple[Scale | str | ArrayLike, ...]:
    """Give the scale of each label: the one that is said, or else that of the ratings."""
    if scale is not None:
        return (scale,) * len(answers.labels)
    if answers.scales is None:
        raise InputError("an array of ratings has no scale: scale is expected, such as '0-7'")
    return answers.scales


def positions_of(answers: Answers, levels: Floats, *, truncate: bool) -> Ints:
    """Place every answer on the levels; raise for the first value that is off the scale."""
    position, off = to_levels(answers.value, levels, truncate=truncate)
    if off.size:
        row = off[0]
        raise InputError(
            f"rater {answers.raters[answers.rater[row]]!r}, "
            f"stimulus {answers.units[answers.unit[row]]!r}: value {answers.value[row]:g} is off "
            f"the scale {levels[0]:g}..{levels[-1]:g}"
        )
    return position


def scale_text(scale: Any) -> str:
    """Name a declared scale, given in any of the ways that are allowed."""
    named = Scale.parse(scale) if isinstance(scale, str) else scale
    return str(named) if isinstance(named, Scale) else f"levels {levels_of(named).tolist()}"


def _method(weights: str, scale: Any, truncate: bool) -> tuple[str, ...]:
    how = "unweighted" if weights == "nominal" else f"{weights} weights"
    text = scale_text(scale)
    return "Cohen's kappa", how, text, *(["fractions dropped"] if truncate else [])


def _kappa_result(
    panel: Answers | DensePanel, kappas: Kappas, method: tuple[str, ...], confidence: float | None
) -> KappaResult:
    """Make the table, without intervals where no confidence is asked for."""
    about: dict[str, Any] = {}
    reason = kappas.undefined
    if confidence is not None:
        drawn = kappas.drawn
        about = {
            **dict(zip(("se", "low", "high"), kappas.ends(confidence), strict=True)),
            "interval": IntervalFact("jackknife", ("stimuli",))
            if drawn is None
            else drawn.interval,
            "target": "stimuli" if drawn is None else drawn.units,
        }
        reason = np.where(np.isnan(kappas.value), reason, kappas.missing)
    return KappaResult.of_pairs(
        panel.labels,
        panel.raters,
        panel.rater_kinds,
        n=kappas.n,
        value=kappas.value,
        statistic=method,
        reason=reason.tolist(),
        **about,
    )
