r"""Variance components by moments: how far apart are answers to one stimulus, or of one rater.

Half the squared difference of two answers is on average the sum of the variances in which they
differ. Means over all pairs that share a stimulus, a rater or neither therefore give the components
in closed form, whatever the distribution of answers, and for any weights of stimuli and raters:
this is what a jackknife of estimates by restricted likelihood needs, whose own values would take a
fit for each stimulus left out. On complete tables they are those of the analysis of variance.

References
----------
Koch (1967), A general approach to the estimation of variance components, Technometrics 9. Searle,
Casella and McCulloch (1992), Variance Components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from affectlab.core.arrays import ratio
from affectlab.core.facts import Cause, Reason
from affectlab.core.statistic import Draws
from affectlab.core.types import Floats, Ints

_HELD = 1 << 22
"""Numbers that one array holds at once."""
_CHUNK = 1 << 17
"""Answers that are taken at once, in whole labels."""


class PairVariances(NamedTuple):
    """Mean half squared differences of pairs of answers, each of the same shape."""

    same_stimulus: Floats
    """Of a stimulus: what raters differ by, and the residual."""
    same_rater: Floats
    """Of a rater: what stimuli differ by, and the residual."""
    other_stimulus: Floats
    """Of different stimuli, whoever answered: all there is where raters are not told apart."""
    neither: Floats
    """Of different stimuli and raters: all components."""

    @property
    def components(self) -> tuple[Floats, Floats, Floats]:
        """Variances of stimuli, of raters and of the residual; they may be below 0."""
        within, own, _, whole = self
        return whole - within, whole - own, within + own - whole


class _Side(NamedTuple):
    """Sums over the levels of stimuli, or of raters, for each label."""

    squares: Floats
    """Squared differences of its pairs, each level by its answers."""
    answers: Floats
    """Answers of levels that have pairs."""
    pairs: Floats
    """Squared differences of all its pairs."""
    n_squared: Floats


def _variances(
    stimulus: _Side, rater: _Side, n: Floats, total: Floats, squares: Floats, cells: Floats
) -> PairVariances:
    """Put sums together; `n`, `total` and `squares` are of all answers, `cells` of pairs of one."""
    apart = n * squares - total**2
    return PairVariances(
        ratio(stimulus.squares, stimulus.answers),
        ratio(rater.squares, rater.answers),
        ratio(apart - stimulus.pairs, n**2 - stimulus.n_squared),
        ratio(
            apart - stimulus.pairs - rater.pairs,
            n**2 - stimulus.n_squared - rater.n_squared + cells,
        ),
    )


@dataclass(frozen=True, eq=False)
class CrossedSums:
    """Answers of raters to stimuli on some labels, from which pair variances follow.

    A rater occurs once per stimulus and label.

    Examples
    --------
    >>> sums = CrossedSums.of([np.repeat(np.arange(3), 2)], [np.tile(np.arange(2), 3)],
    ...                       [np.array([1.0, 2.0, 3.0, 4.0, 7.0, 6.0])], 3, 2)
    >>> [part.round(3).tolist() for part in sums.whole.components]
    [[6.0], [-0.167], [0.667]]
    """

    label: Ints
    stimulus: Ints
    rater: Ints
    value: Floats
    """Answers less the mean of their label."""
    n_labels: int
    n_stimuli: int
    n_raters: int

    @classmethod
    def of(
        cls,
        stimuli: list[Ints],
        raters: list[Ints],
        values: list[Floats],
        n_stimuli: int,
        n_raters: int,
    ) -> CrossedSums:
        """Arrange the answers of each label."""
        sizes = [value.size for value in values]
        centred = [value - value.mean() if value.size else value for value in values]
        return cls(
            np.repeat(np.arange(len(sizes)), sizes),
            np.concatenate(stimuli).astype(np.int64),
            np.concatenate(raters).astype(np.int64),
            np.concatenate(centred),
            len(sizes),
            n_stimuli,
            n_raters,
        )

    def __call__(self, draws: Draws) -> PairVariances:
        """Compute them in all rows of draws, shape (rows, labels) each.

        Neither a stimulus nor a rater that is drawn several times is paired with itself.
        """
        if draws.is_point:
            return PairVariances(*(part[None].repeat(draws.n_rows, 0) for part in self.whole))
        if draws.without is not None and draws.rater is None:
            return PairVariances(*(part[draws.without] for part in self._without_stimuli))
        if draws.stimulus is None and draws.without is None and _leaves_out_one(draws.rater):
            out = np.argmin(draws.rater, axis=1)  # type: ignore[arg-type]
            return PairVariances(*(part[out] for part in self._without_raters))
        size = max(1, _HELD // max(self.n_stimuli, self.n_raters))
        parts = [self._weighted(block) for _, block in draws.blocks(size)]
        return PairVariances(*map(np.concatenate, zip(*parts, strict=True)))

    @cached_property
    def whole(self) -> PairVariances:
        """Pair variances of all answers, shape (labels,)."""
        return PairVariances(*(one[0] for one in self._in_chunks(CrossedSums._of_all, 1)))

    def _of_all(self) -> PairVariances:
        """Pair variances of all answers as the only row, shape (1, labels)."""
        first, second = self._codes
        n, total, squares = (self._by(of) for of in (self.value**0, self.value, self.value**2))
        stimulus, rater = (_side(*self._levels(*code)) for code in (first, second))
        found = _variances(stimulus, rater, n, total, squares, n)
        return PairVariances(*(part[None] for part in found))

    @property
    def _codes(self) -> tuple[tuple[Ints, int], tuple[Ints, int]]:
        """Levels of stimuli, and of raters, told apart by label, and how many each label has."""
        return (
            (self.label * self.n_stimuli + self.stimulus, self.n_stimuli),
            (self.label * self.n_raters + self.rater, self.n_raters),
        )

    def _by(self, amount: Floats) -> Floats:
        """Sum over the answers of each label."""
        return np.bincount(self.label, amount, self.n_labels).astype(np.float64)

    def _levels(self, code: Ints, n: int) -> tuple[Floats, Floats, Floats]:
        """Count and sum the answers of each level, and their squares; shape (labels, n)."""
        shape, size = (self.n_labels, n), self.n_labels * n
        count, total, squares = (
            np.bincount(code, amount, size).reshape(shape).astype(np.float64)
            for amount in (None, self.value, self.value**2)
        )
        return count, total, squares

    @cached_property
    def _without_stimuli(self) -> PairVariances:
        return self._in_chunks(lambda part: part._without_each(*part._codes), self.n_stimuli)

    @cached_property
    def _without_raters(self) -> PairVariances:
        return self._in_chunks(
            lambda part: part._without_each(*part._codes[::-1], of_raters=True), self.n_raters
        )

    def _in_chunks(
        self, work: Callable[[CrossedSums], PairVariances], n_rows: int
    ) -> PairVariances:
        """Take some labels at a time, whose arrays then stay in the cache; (rows, labels) each."""
        found = np.empty((4, n_rows, self.n_labels))
        for labels, part in self._chunks:
            found[:, :, labels] = work(part)
        return PairVariances(*found)

    @property
    def _chunks(self) -> Iterator[tuple[slice, CrossedSums]]:
        ends = np.searchsorted(self.label, np.arange(self.n_labels + 1)).tolist()
        first = 0
        for label in range(1, self.n_labels + 1):
            if label < self.n_labels and ends[label + 1] - ends[first] <= _CHUNK:
                continue
            rows = slice(ends[first], ends[label])
            own = self.label[rows] - first, self.stimulus[rows], self.rater[rows], self.value[rows]
            part = CrossedSums(*own, label - first, self.n_stimuli, self.n_raters)
            yield slice(first, label), part
            first = label

    def _without_each(
        self, own: tuple[Ints, int], other: tuple[Ints, int], *, of_raters: bool = False
    ) -> PairVariances:
        """Pair variances without each level of one side in turn, shape (levels, labels)."""
        code, n_levels = own
        shape, size = (self.n_labels, n_levels), self.n_labels * n_levels
        n, s, e = self._levels(*own)
        theirs = self._levels(*other)
        # Levels of the other side lose one answer each, of which none loses two.
        changes = _one_less(self.value, *(part.ravel()[other[0]] for part in theirs))

        def left(whole: Floats, gone: Floats) -> Floats:
            rest: Floats = (whole.sum(axis=-1, keepdims=True) - gone.reshape(shape)).T
            return rest

        own_side = _Side(*(left(part, part) for part in _by_level(n, s, e)))
        gone = (np.bincount(code, amount, size).astype(np.float64) for amount in changes)
        other_side = _Side(
            *(left(part, of) for part, of in zip(_by_level(*theirs), gone, strict=True))
        )
        sides = (other_side, own_side) if of_raters else (own_side, other_side)
        counts = left(n, n)
        return _variances(*sides, counts, left(s, s), left(e, e), counts)

    @cached_property
    def _tables(self) -> list[tuple[Any, Any, Any]]:
        """Whether there is an answer, the answer and its square, (stimuli, raters) each."""
        from scipy.sparse import csr_array

        ends = np.searchsorted(self.label, np.arange(self.n_labels + 1))
        made = []
        for start, end in pairwise(ends.tolist()):
            place = (self.stimulus[start:end], self.rater[start:end])
            y = self.value[start:end]
            shape = (self.n_stimuli, self.n_raters)
            made.append(tuple(csr_array((of, place), shape) for of in (np.ones(y.size), y, y * y)))
        return made

    def _weighted(self, draws: Draws) -> PairVariances:
        """Compute them for any weights, shape (rows, labels)."""
        from affectlab.core.compiled import in_threads

        w = draws.weights(self.n_stimuli).T
        v = np.ones((self.n_raters, draws.n_rows)) if draws.rater is None else draws.rater.T
        found = np.empty((4, draws.n_rows, self.n_labels))

        def one_label(k: int) -> None:
            found[:, :, k] = _of_table(self._tables[k], w, v)

        in_threads(one_label, range(self.n_labels))
        return PairVariances(*found)


def _of_table(tables: tuple[Any, Any, Any], w: Floats, v: Floats) -> PairVariances:
    """Pair variances of one label, for weights of stimuli, (stimuli, rows), and raters, alike."""
    there, y, squares = tables
    n, s, e = (np.asarray(part @ v) for part in (there, y, squares))
    own_n = np.asarray(there @ v**2)
    m, c, q = (np.asarray(part.T @ w) for part in (there, y, squares))
    own_m = np.asarray(there.T @ w**2)
    stimulus = _weighted_side(n, s, e, own_n, w)
    rater = _weighted_side(m, c, q, own_m, v)
    total, of_answers, of_squares = ((w * part).sum(axis=0) for part in (n, s, e))
    cells = (w**2 * own_n).sum(axis=0)
    return _variances(stimulus, rater, total, of_answers, of_squares, cells)


def _weighted_side(n: Floats, s: Floats, e: Floats, own: Floats, weight: Floats) -> _Side:
    """Sum over levels that count `weight` times; `own` is what pairs of a thing with itself are."""
    apart = n * e - s**2
    pairs = n**2 - own
    return _Side(
        (weight * ratio(n * apart, pairs, 0.0)).sum(axis=0),
        (weight * n * (pairs > 0)).sum(axis=0),
        (weight**2 * apart).sum(axis=0),
        (weight**2 * n**2).sum(axis=0),
    )


def _by_level(n: Floats, s: Floats, e: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    apart = n * e - s**2
    return ratio(apart, n - 1, 0.0), np.where(n > 1, n, 0.0), apart, n**2


def _one_less(y: Floats, n: Floats, s: Floats, e: Floats) -> tuple[Floats, ...]:
    """What a level, of which each answer is, loses without that answer."""
    pairs = n * e - s**2
    lost = e + n * y**2 - 2 * s * y
    squares = ratio(pairs, n - 1, 0.0) - ratio(pairs - lost, n - 2, 0.0)
    return squares, np.where(n > 2, 1.0, np.where(n > 1, 2.0, 0.0)), lost, 2 * n - 1


def _side(n: Floats, s: Floats, e: Floats) -> _Side:
    return _Side(*(part.sum(axis=-1) for part in _by_level(n, s, e)))


def _leaves_out_one(weights: Floats | None) -> bool:
    """Whether each row leaves out one thing, and all others count once."""
    assert weights is not None
    zeros = weights == 0
    return bool((zeros.sum(axis=1) == 1).all() and ((weights == 1) | zeros).all())


@dataclass(frozen=True, eq=False)
class FacetSums:
    """Answers with any random factors, whose variances follow from pairs that share a level.

    Of the pairs that share a level of one factor, the mean half squared difference is the residual
    and each other variance by the share of these pairs that differ in it: as many equations as
    there are variances, with that of all pairs.
    """

    levels: Mapping[str, Ints]
    """Level of each factor for each answer."""
    value: Floats
    """Answers less their mean."""
    stimulus: Ints
    rater: Ints

    def __call__(self, draws: Draws, n_stimuli: int) -> Floats:
        """Compute the variances of all factors and the residual, shape (rows, factors + 1)."""
        size = max(1, _HELD // max(self.value.size, 1))
        return np.concatenate([self._of(part, n_stimuli) for _, part in draws.blocks(size)])

    def _of(self, draws: Draws, n_stimuli: int) -> Floats:
        weight = np.ones((self.value.size, draws.n_rows))
        if draws.stimulus is not None or draws.without is not None:
            weight *= draws.weights(n_stimuli).T[self.stimulus]
        if draws.rater is not None:
            weight *= draws.rater.T[self.rater]
        y, n_factors = self.value[:, None], len(self.levels)
        itself = (weight**2).sum(axis=0)
        counts = np.empty((n_factors + 1, n_factors + 1, draws.n_rows))
        apart = np.empty((n_factors + 1, draws.n_rows))
        for place, group, second in self._groups:
            n = np.asarray(group @ weight)
            counts[place, second] = counts[second, place] = (n**2).sum(axis=0) - itself
            if place == second:
                e, s = group @ (weight * y**2), group @ (weight * y)
                apart[place] = (n * e - s**2).sum(axis=0)
        # The last is all pairs, which share nothing, and count once.
        pairs = np.diagonal(counts).T
        with np.errstate(divide="ignore", invalid="ignore"):
            matrix = 1 - counts / pairs[:, None]
            matrix[:, -1] = 1.0
            wanted = apart / pairs
        return np.array(
            [_solved(*row) for row in zip(matrix.transpose(2, 0, 1), wanted.T, strict=True)]
        )

    @cached_property
    def _groups(self) -> list[tuple[int, Any, int]]:
        """Sums over the levels of each factor, of pairs of them, and over all answers."""
        from scipy.sparse import csr_array

        codes = [*self.levels.values(), np.zeros(self.value.size, dtype=np.int64)]
        both: Iterator[tuple[int, int]] = combinations(range(len(codes)), 2)
        made = []
        for first, second in [*((k, k) for k in range(len(codes))), *both]:
            code = codes[first] * (int(codes[second].max(initial=0)) + 1) + codes[second]
            code = np.unique(code if first != second else codes[first], return_inverse=True)[1]
            ones = np.ones(code.size)
            made.append((first, csr_array((ones, (code, np.arange(code.size)))), second))
        return made


def _solved(matrix: Floats, wanted: Floats) -> Floats:
    """Solve for variances; ``nan`` where answers do not tell them apart."""
    none = np.full(wanted.size, np.nan)
    if not (np.isfinite(matrix).all() and np.isfinite(wanted).all()):
        return none
    if np.linalg.cond(matrix) > 1e10:
        return none
    return np.asarray(np.linalg.solve(matrix, wanted), dtype=np.float64)


_SKEWED, _MOST_ALIKE = 1.0, 0.6
"""Skewness, and share of one answer, from which on answers are far from normal."""


def far_from_normal(value: Floats) -> Reason | None:
    """Say how answers are far from normal, which intervals by formula or likelihood assume."""
    if value.size < 2 or np.ptp(value) == 0:
        return None
    known, count = np.unique(value, return_counts=True)
    most = count.max() / value.size
    apart = (value - value.mean()) / value.std()
    skewness = float((apart**3).mean())
    if most < _MOST_ALIKE and abs(skewness) < _SKEWED:
        return None
    what = (
        f"{most:.0%} are {known[count.argmax()]:g}"
        if most >= _MOST_ALIKE
        else f"skewness {skewness:.1f}"
    )
    return Reason(Cause.FAR_FROM_NORMAL, of=what)
