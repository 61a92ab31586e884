"""Duplicate raters: pairs that agree far beyond what their agreement with others allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.arrays import counted
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Number, Table, Text
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Answers, Ratings, answers_of, of_known_raters
from affectlab.reliability.common_scale import in_percent
from affectlab.reliability.wording import (
    ALIKE_PAIRS,
    alike_evidence,
    alike_pair,
    alike_pairs,
    alike_rater,
    equal_shares,
    equal_up_to_shift,
    few_alike,
)

_FEWEST = 10
"""Common stimuli below which a pair is not judged."""
_RATIO = 0.2
"""Differences of a pair that vary no more than this share of what is expected are those of
duplicates: an error in common makes up four fifths of the errors of both."""
_LEVEL = 0.001
"""Chance of one false accusation in a whole panel, at most."""


@dataclass(frozen=True)
class _Rule:
    """When two raters are alike."""

    below: float
    """Ratio below which a pair is tested."""
    against: float
    """Ratio by which the test supposes that differences are smaller."""
    level: float
    """Expected number of pairs so alike by chance in a whole panel, at most."""


_DUPLICATES = _Rule(_RATIO, _RATIO, _LEVEL)
_ONE_SOURCE = _Rule(0.3, 1.0, 0.5)
"""Where a model counts two raters as one: that accuses nobody."""
_MOST_SUMS = 4_000_000
"""Numbers that sums over pairs may hold at a time, so that memory does not grow with the panel."""
_SURE = 0.999
"""No two raters are expected to correlate higher than this."""
_ROUNDS = 10
_MOST_ANSWERS = 10_000
"""Answers of others that the test looks at."""
_MOST_LEVELS = 1_000
"""Different answers above which a scale has no steps."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DuplicateRaters(Result):
    """Pairs of raters who answer alike beyond what their agreement with others allows.

    Made by :func:`duplicate_raters`.
    """

    n_pairs: int
    """Pairs that could be judged."""
    n_unjudged: int
    """Pairs with a common stimulus that could not: too few of them, or no others to compare
    with."""
    closest: Mapping[str, tuple[str, int, float]]
    """For each rater of a pair that was judged: the rater who answers most like it, their common
    stimuli, and R of the pair."""
    nominal: bool = False
    """Whether answers have no order, so that they are equal or not."""

    @property
    def frame(self) -> pl.DataFrame:
        """One row per pair of duplicates, the most alike first; see the function."""
        return self.to_frame()

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Both raters of each pair, the most alike first."""
        return tuple(self.frame.select("rater", "other").iter_rows())

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Raters who are linked by such pairs: each group is likely one source."""
        linked: dict[str, set[str]] = {}
        for one, other in self.pairs:
            together = linked.get(one, {one}) | linked.get(other, {other})
            linked.update(dict.fromkeys(together, together))
        groups = {tuple(sorted(members)) for members in linked.values()}
        return tuple(sorted(groups))

    @property
    def evidence(self) -> tuple[str, ...]:
        """Each pair with its evidence, in a sentence without a full stop."""
        return tuple(
            alike_pair(row["rater"], row["other"], row["evidence"])
            for row in self.frame.iter_rows(named=True)
        )

    def by_rater(self) -> dict[str, str]:
        """Say of each rater of a pair, with the evidence, whom it answers like."""
        closest: dict[str, str] = {}
        for row in self.frame.iter_rows(named=True):
            for one, other in ((row["rater"], row["other"]), (row["other"], row["rater"])):
                closest.setdefault(one, alike_rater(other, row["evidence"]))
        return closest

    def __len__(self) -> int:
        return self.frame.height


_COLUMNS = (
    Key("rater"),
    Key("other"),
    Count("n_items", "stimuli", spare=True),
    Number("ratio", spare=True),
    Text("evidence"),
)


def _evidence(row: dict[str, Any], *, nominal: bool) -> str:
    if nominal:
        shares = (row["share_equal"], 1 - row["expected_sd"] ** 2)
        return equal_shares(*shares, row["n_items"], row["p"])
    sds = (row["sd"], row["expected_sd"])
    return alike_evidence(row["n_items"], row["share_equal"], row["shift"], *sds, row["p"])


@of_known_raters
def duplicate_raters(ratings: Ratings | ArrayLike) -> DuplicateRaters:
    r"""Find pairs of raters who answer alike far beyond their agreement with others.

    A copied account, one person under two names, or one model asked twice.

    Two raters who err on
    their own differ by as much as each of them differs from anybody else: with the variances
    :math:`s_i^2`, :math:`s_j^2` of their answers to the stimuli they have in common, and
    correlations with a common score :math:`\lambda_i, \lambda_j` that are estimated **from their
    agreement with all others** (one factor, least squares, the pair itself left out),

    .. math::

        R_{ij} = \frac{\mathrm{var}(x_i - x_j)}
                      {s_i^2 + s_j^2 - 2 \lambda_i \lambda_j s_i s_j}

    is about 1. A constant shift does not count, and the correlations make that raters of whom both
    use little of the scale are not alike for that. Where errors correlate by :math:`\rho`,
    :math:`R_{ij}` is about :math:`1 - \rho`; for a copy it is 0. On a nominal scale the variance
    is the share of unequal answers, and correlations are Cohen's kappa.

    A pair is a duplicate where :math:`R_{ij}` is below 0.2 and would not be found that low by
    chance even if it were 0.2: how large differences of that size are on each stimulus is taken
    from the differences :math:`d` between the two and all others there, shrunk to
    :math:`R = 0.2` and rounded to the points of the scale at random (up or down, as those of
    answers that are rounded separately). With squares :math:`X_s` of these on n stimuli, a sum
    as small as the observed one :math:`O_{ij}` has a probability of at most

    .. math:: p_{ij} = \min_{t > 0} e^{t O_{ij}} \Big( \frac{1}{n} \sum_s E\, e^{-t X_s} \Big)^n

    (Chernoff). So answers on which everybody agrees (easy stimuli, few points) are evidence
    against nobody. :math:`p_{ij}` times the number of pairs that were judged has to be below
    0.001. As the distribution is that of the sample, the level is approximate; decision 6 has
    the false alarms in simulated and real panels.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer, of repeats the first; all labels count, and on a
        nominal scale answers are equal or not), or an array of shape (raters, units) with ``nan``
        where there is no rating.

    Returns
    -------
    One row per pair of duplicates: ``rater``, ``other``, ``n_items`` (common stimuli), ``shift``
    (mean of rater - other, in the unit of the scale, 0 where it is less than half a step),
    ``share_equal`` of the answers that are equal up to the shift, in [0, 1]; ``sd`` of the
    differences and ``expected_sd`` (on a nominal scale their squares are shares of unequal
    answers), ``ratio`` :math:`R_{ij}`; ``p``, for all pairs that were judged
    together (Bonferroni), in [0, 1]; and ``evidence``, these numbers in words. Who copied from whom
    does not show.

    Not judged are pairs with fewer than 10 common stimuli, pairs of which one has 10 stimuli in
    common with fewer than two others, and raters who always answer the same. Where copies are
    most of the panel they *are* its agreement, and nothing shows.

    Raises
    ------
    InputError
        If the ratings are text.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ratings = rng.uniform(0, 100, 60) + rng.normal(0, 9, (5, 60))
    >>> alike = duplicate_raters(np.vstack([ratings, ratings[1] + 3]))
    >>> alike.groups
    (('1', '5'),)
    >>> alike.frame.select("n_items", "share_equal", "shift").row(0)
    (60, 1.0, -3.0)
    >>> len(duplicate_raters(ratings))
    0
    """
    (duplicates,) = _alike(_compare(ratings), (_DUPLICATES,))
    return duplicates


@dataclass(frozen=True, eq=False)
class Likeness:
    """Pairs of raters by how much a model may lean on both."""

    duplicates: DuplicateRaters
    similar: DuplicateRaters
    """Duplicates, and pairs too alike to be on their own; p is that of raters on their own."""
    open: tuple[tuple[str, str, str], ...]
    """Pairs that answer alike and of which nothing is certain, each with the evidence: few
    answers, easy stimuli, or no others to compare with."""


def likeness(data: Ratings | ArrayLike) -> Likeness:
    """Find duplicates, and with a milder rule pairs that should not count twice.

    Counting two raters as one accuses nobody, and costs little where they are that alike: with
    R = 0.3 two are worth 1.2 of one. So it takes less evidence: R below 0.3, and by chance
    at most half a pair of that kind expected in the whole panel if all were on their own, R = 1.
    """
    compared = _compare(data)
    duplicates, similar = _alike(compared, (_DUPLICATES, _ONE_SOURCE))
    raters, pairs, ratio = compared.raters, compared.pairs, compared.ratio
    settled = {frozenset(pair) for pair in similar.pairs}
    unknown = np.isnan(ratio) & (pairs.related > 0) & (pairs.observed == 0)
    doubts = []
    for k in np.flatnonzero(unknown | (ratio < _ONE_SOURCE.below)).tolist():
        one, other = raters[pairs.first[k]], raters[pairs.second[k]]
        if frozenset((one, other)) in settled:
            continue
        n = int(pairs.n_items[k])
        evidence = equal_up_to_shift(n) if unknown[k] else few_alike(n, float(ratio[k]))
        doubts.append((one, other, evidence))
    return Likeness(duplicates, similar, tuple(doubts))


@dataclass(frozen=True, eq=False)
class _Compared:
    """A panel, its pairs, and how alike each is."""

    raters: tuple[str, ...]
    panel: _PairSearch
    pairs: _Pairs
    n_shared: int
    """Pairs that share anything."""
    expected: Floats
    ratio: Floats
    """nan where a pair cannot be judged."""


def _compare(data: Ratings | ArrayLike) -> _Compared:
    # Labels on different scales count alike: in percent of the width of each.
    answers = answers_of(in_percent(data)[0] if isinstance(data, Ratings) else data)
    panel = _PairSearch(answers)
    pairs, n_shared = panel.pairs()
    expected = _expected(pairs, len(answers.raters))
    judged = expected > 0
    ratio = np.divide(pairs.observed, expected, out=np.full(judged.size, np.nan), where=judged)
    return _Compared(answers.raters, panel, pairs, n_shared, expected, ratio)


def _alike(compared: _Compared, rules: tuple[_Rule, ...]) -> tuple[DuplicateRaters, ...]:
    """Give the pairs that each rule takes as alike."""
    raters, panel, pairs, ratio = (
        compared.raters,
        compared.panel,
        compared.pairs,
        compared.ratio,
    )
    n_judged = int(np.isfinite(ratio).sum())
    close = np.flatnonzero(ratio < _RATIO)
    alike: dict[int, set[int]] = {}
    for one, other in zip(pairs.first[close].tolist(), pairs.second[close].tolist(), strict=True):
        alike.setdefault(one, set()).add(other)
        alike.setdefault(other, set()).add(one)
    rows: list[list[dict[str, Any]]] = [[] for _ in rules]
    for k in np.flatnonzero(ratio < max(rule.below for rule in rules)).tolist():
        one, other = int(pairs.first[k]), int(pairs.second[k])
        left_out = sorted(alike.get(one, set()) | alike.get(other, set()) | {one, other})
        tests = [
            (rule.against, rule.level / n_judged if ratio[k] < rule.below else 0.0)
            for rule in rules
        ]
        evidence = panel.test(one, other, float(compared.expected[k]), left_out, tests)
        for own, rule, p in zip(rows, rules, evidence.p, strict=True):
            if ratio[k] >= rule.below or p * n_judged >= rule.level:
                continue
            row = {
                "rater": raters[one],
                "other": raters[other],
                "n_items": evidence.n_items,
                "shift": evidence.shift,
                "share_equal": evidence.share_equal,
                "sd": float(np.sqrt(pairs.observed[k])),
                "expected_sd": float(np.sqrt(compared.expected[k])),
                "ratio": float(ratio[k]),
                "p": p * n_judged,
            }
            own.append({**row, "evidence": _evidence(row, nominal=panel.nominal)})
    schema = {
        "rater": pl.String,
        "other": pl.String,
        "n_items": pl.Int64,
        **dict.fromkeys(("shift", "share_equal", "sd", "expected_sd", "ratio", "p"), pl.Float64),
        "evidence": pl.String,
    }
    closest = _closest(pairs, ratio, raters)
    return tuple(
        DuplicateRaters(
            (
                Table(
                    "duplicates",
                    ALIKE_PAIRS,
                    pl.DataFrame(own, schema=schema).sort("ratio", "rater", "other"),
                    _COLUMNS,
                ),
            ),
            (alike_pairs(len(own), n_judged),),
            n_pairs=n_judged,
            n_unjudged=compared.n_shared - n_judged,
            closest=closest,
            nominal=panel.nominal,
        )
        for own in rows
    )


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of raters with enough common stimuli; arrays with one entry per pair."""

    first: Ints
    second: Ints
    n_items: Ints
    observed: Floats
    """Mean squared difference, net of a shift; on a nominal scale the share of unequal answers."""
    unrelated: Floats
    """What it would be if the two had nothing in common but their distributions."""
    related: Floats
    """How much less it is for raters who correlate by 1."""


@dataclass(frozen=True)
class _Evidence:
    """How unlikely a pair is to be that alike by chance."""

    p: tuple[float, ...]
    """By test."""
    n_items: int
    shift: float
    share_equal: float


class _PairSearch:
    """Answers by cell (a stimulus and label) and by rater."""

    def __init__(self, answers: Answers) -> None:
        self.nominal = answers.scale is not None and answers.scale.kind == "nominal"
        self.n_raters = len(answers.raters)
        self.rater = answers.rater
        # Answers are sorted by cell.
        new = np.diff(answers.cell, prepend=-1) != 0
        self.cell = np.cumsum(new) - 1
        self.start = np.append(np.flatnonzero(new), new.size)
        self.unit = answers.unit[new]
        """Stimulus of each cell."""
        self.several = bool((answers.label != 0).any())
        """Whether stimuli have several cells."""
        size = np.maximum(np.diff(self.start), 1)
        apart = answers.value - (np.bincount(self.cell, answers.value) / size)[self.cell]
        made = np.bincount(self.rater, minlength=self.n_raters)
        self.bias = np.bincount(self.rater, apart, self.n_raters) / np.maximum(made, 1)
        # Sums of squares are exact enough around a middle that all raters share.
        self.value = answers.value - (0.0 if self.nominal or not new.size else answers.value.mean())
        self.step = _step(answers)
        self._ends = np.append(0, np.cumsum(made))

    @cached_property
    def _by_rater(self) -> Ints:
        """Rows rater by rater, for the few pairs that are looked at closely."""
        return np.argsort(self.rater, kind="stable")

    def pairs(self) -> tuple[_Pairs, int]:
        """Sum over what each pair has in common; give the pairs, and how many share anything."""
        from affectlab.core.compiled import in_threads
        from affectlab.reliability.duplicates_kernels import pair_categories, pair_moments

        # The loop that sums over answers counts stimuli as well, so that only one is compiled.
        summed: Any = pair_categories if self.nominal else pair_moments
        starts, of_unit = self._by_unit() if self.several else (self.start, self.rater)
        levels, value = (
            np.unique(self.value, return_inverse=True) if self.nominal else (self.start, self.value)
        )
        nothing = np.zeros(of_unit.size, dtype=value.dtype)
        width = 2 + 2 * levels.size if self.nominal else 6
        n_rows = max(1, _MOST_SUMS // (width * max(self.n_raters, 1)))
        begins = range(0, self.n_raters, n_rows)
        parts: list[tuple[Ints | Floats, ...]] = [()] * len(begins)
        n_shared = np.zeros(len(begins), dtype=np.int64)

        def block(part: int) -> None:
            begin = begins[part]
            sums = np.zeros((min(n_rows, self.n_raters - begin), self.n_raters, width))
            summed(self.start, self.rater, value, begin, sums)
            common = sums[..., 0]
            n_shared[part] = np.count_nonzero(common)
            if self.several:
                of_units = np.zeros((*common.shape, 2 if self.nominal else width))
                summed(starts, of_unit, nothing, begin, of_units)
                # Two may have rated other labels of a stimulus.
                common = np.minimum(common, of_units[..., 0])
            first, second = np.nonzero(common >= _FEWEST)
            found = self._differences(sums[first, second].T)
            parts[part] = (first + begin, second, common[first, second], *found)

        in_threads(block, range(len(begins)))
        columns = [np.concatenate(part) for part in zip(*parts, strict=True)]
        first, second, n_items, *differences = columns or [np.zeros(0)] * 6
        pairs = _Pairs(
            first.astype(np.int64), second.astype(np.int64), n_items.astype(np.int64), *differences
        )
        return pairs, int(n_shared.sum())

    def _by_unit(self) -> tuple[Ints, Ints]:
        """Give start and raters of each stimulus, each rater once."""
        n_units = int(self.unit.max(initial=-1)) + 1
        keys, _ = counted(
            self.unit[self.cell] * self.n_raters + self.rater, n_units * self.n_raters
        )
        unit, rater = np.divmod(keys, self.n_raters)
        start = np.append(np.flatnonzero(np.diff(unit, prepend=-1)), unit.size)
        return start, rater

    def _differences(self, sums: Floats) -> tuple[Floats, Floats, Floats]:
        """Give the observed mean squared difference, and what it is held against."""
        n = sums[0]
        if self.nominal:
            # Observed and expected disagreement, as in Cohen's kappa.
            first, second = np.split(sums[2:], 2)
            by_chance = 1 - (first * second).sum(axis=0) / n**2
            by_chance = np.where(by_chance > 1e-12, by_chance, 0)
            return 1 - sums[1] / n, by_chance, by_chance
        x, y, xx, yy, xy = sums[1:] / n
        xx, yy, xy = xx - x**2, yy - y**2, xy - x * y
        # A constant answer leaves rounding errors where a variance would be.
        tiny = 1e-12 * float(np.max(self.value**2, initial=0))
        xx, yy = (np.where(variance > tiny, variance, 0) for variance in (xx, yy))
        apart = xx + yy - 2 * xy
        unbiased = n / np.maximum(n - 1, 1)
        related = 2 * np.sqrt(xx * yy) * unbiased
        return np.where(apart > tiny, apart, 0) * unbiased, (xx + yy) * unbiased, related

    def test(
        self,
        one: int,
        other: int,
        expected: float,
        left_out: list[int],
        tests: list[tuple[float, float]],
    ) -> _Evidence:
        """Bound the probability of differences as small as those of two raters.

        They are held against the differences of both to all others but those ``left_out``, scaled
        to each of the ratios in ``tests``. Where the bound cannot be below the level that goes
        with the ratio it is 1.
        """
        (cells_1, values_1), (cells_2, values_2) = self._of(one), self._of(other)
        cells, at_1, at_2 = np.intersect1d(cells_1, cells_2, return_indices=True)
        both = np.stack([values_1[at_1], values_2[at_2]])
        apart = self._apart(both[0], both[1])
        shift = 0.0 if self.nominal else self._on_steps(apart.mean())
        rest = np.abs(apart - shift)
        equal = float((rest <= 1e-9 * max(float(np.ptp(self.value)), 1e-300)).mean())
        clear = abs(shift) > max(4 * float(rest.std()) / np.sqrt(rest.size), 1e-9)
        size = np.diff(self.start)[cells]
        rows = np.repeat(self.start[cells], size) + np.arange(size.sum())
        rows -= np.repeat(np.cumsum(size) - size, size)
        where = np.repeat(np.arange(cells.size), size)
        among_others = np.ones(self.n_raters, dtype=bool)
        among_others[left_out] = False
        keep = among_others[self.rater[rows]]
        thin = int(np.ceil(keep.sum() / _MOST_ANSWERS))
        if thin > 1:
            keep &= self.rater[rows] % thin == int(self.rater[rows][keep][0]) % thin
        rows, where = rows[keep], where[keep]
        who = self.rater[rows]
        gap = self._apart(self.value[rows], both[:, where])
        if not self.nominal:
            gap = gap - self._on_steps(self.bias[who] - self.bias[[[one], [other]]])
        if self.several:
            # Answers of one rater to several labels of a stimulus belong together.
            unit = self.unit[cells[where]]
            key = ((unit * 2 + np.array([[0], [1]])) * self.n_raters + who).ravel()
            keys, group = np.unique(key, return_inverse=True)
            units, of_group = np.unique(keys // (2 * self.n_raters), return_inverse=True)
        else:
            group = np.arange(gap.size)
            compared = np.bincount(where, minlength=cells.size) > 0
            units = self.unit[cells[compared]]
            of_group = np.tile((np.cumsum(compared) - 1)[where], 2)
        square = float(np.mean(gap**2)) if gap.size else 0.0
        p = (1.0,) * len(tests)
        if units.size >= _FEWEST and square > 0:
            total = float((rest[np.isin(self.unit[cells], units)] ** 2).sum())
            gap = np.abs(gap.ravel()) * np.sqrt(expected / square)
            p = tuple(
                _chernoff(total, gap * np.sqrt(ratio), self.step, group, of_group, level)
                if level
                else 1.0
                for ratio, level in tests
            )
        n_items = np.unique(self.unit[cells]).size
        return _Evidence(p, n_items, float(shift) if clear else 0.0, equal)

    def _of(self, rater: int) -> tuple[Ints, Floats]:
        """Cells and values of a rater."""
        rows = self._by_rater[self._ends[rater] : self._ends[rater + 1]]
        return self.cell[rows], self.value[rows]

    def _apart(self, values: Floats, others: Floats) -> Floats:
        return np.asarray(values != others if self.nominal else values - others, dtype=np.float64)

    def _on_steps(self, differences: Floats) -> Floats:
        """Round shifts to the points of the scale, so that equal answers stay equal."""
        if not self.step:
            return differences
        return np.asarray(self.step * np.round(differences / self.step), dtype=np.float64)


def _closest(
    pairs: _Pairs, ratio: Floats, raters: tuple[str, ...]
) -> dict[str, tuple[str, int, float]]:
    """For each rater of a judged pair its partner with the lowest ratio."""
    judged = np.flatnonzero(np.isfinite(ratio))
    judged = judged[np.argsort(ratio[judged], kind="stable")]
    both = np.stack([pairs.first[judged], pairs.second[judged]])
    who, place = np.unique(both.T.ravel(), return_index=True)
    pair = judged[place // 2]
    other = pairs.first[pair] + pairs.second[pair] - who
    return {
        raters[a]: (raters[b], n, r)
        for a, b, n, r in zip(
            who.tolist(),
            other.tolist(),
            pairs.n_items[pair].tolist(),
            ratio[pair].tolist(),
            strict=True,
        )
    }


def _step(answers: Answers) -> float:
    """Distance of the points of the scale; 0 without points."""
    scale = answers.scale
    if scale is not None and scale.kind == "nominal":
        return 1.0
    if scale is not None and scale.step is not None:
        return float(scale.step)
    levels = np.sort(answers.value)
    gaps = np.diff(levels)
    gaps = gaps[gaps > 1e-9 * (levels[-1] - levels[0])] if levels.size else gaps
    if not 0 < gaps.size < _MOST_LEVELS:
        return 0.0
    step = float(gaps.min())
    on_steps = np.abs(gaps / step - np.round(gaps / step)).max() < 1e-3
    return step if on_steps else 0.0


def _expected(pairs: _Pairs, n_raters: int) -> Floats:
    """Mean squared difference that the agreement of both with others allows; nan if unknown.

    Pairs that are too alike would make their raters look reliable, and all others less so. They
    are left out, and the agreement is estimated again, until no more pairs are.
    """
    related = pairs.related > 0
    gain = np.where(related, pairs.related, 1)
    r = np.clip((pairs.unrelated - pairs.observed) / gain, -1, 1)
    used = related.copy()
    expected = np.full(r.size, np.nan)
    for _ in range(_ROUNDS):
        both = _both_with_others(pairs, r, used, n_raters)
        expected = pairs.unrelated - pairs.related * np.minimum(both, _SURE)
        expected = np.where(related & (expected > 0), expected, np.nan)
        known = np.isfinite(expected)
        new = np.where(known, related & ~(pairs.observed < _RATIO * expected), used)
        if (new == used).all():
            break
        used = new
    return expected


def _both_with_others(pairs: _Pairs, r: Floats, used: NDArray[np.bool_], n_raters: int) -> Floats:
    """Give lambda_i lambda_j of each pair from the other pairs; nan with fewer than two others."""
    first, second = pairs.first, pairs.second
    weight = np.where(used, pairs.n_items, 0).astype(np.float64)

    def summed(of_first: Floats, of_second: Floats) -> Floats:
        total: Floats = np.bincount(first, of_first, n_raters).astype(np.float64)
        total += np.bincount(second, of_second, n_raters)
        return total

    mean = summed(weight * r, weight * r) / np.maximum(summed(weight, weight), 1)
    factor = np.sqrt(np.clip(mean, 0.05, 0.95))
    for _ in range(200):
        a, b = factor[first], factor[second]
        above, below = summed(weight * r * b, weight * r * a), summed(weight * b**2, weight * a**2)
        new = np.divide(above, below, out=factor.copy(), where=below > 0)
        # Halfway, because two raters who take turns would never settle.
        new = np.clip((new + factor) / 2, -1, 1)
        done = np.abs(new - factor).max(initial=0) < 1e-6
        factor = new
        if done:
            break
    a, b = factor[first], factor[second]
    above, below = summed(weight * r * b, weight * r * a), summed(weight * b**2, weight * a**2)
    n_others = summed(used.astype(float), used.astype(float))
    product = np.ones(first.size)
    for rater, partner in ((first, b), (second, a)):
        left = below[rater] - weight * partner**2
        enough = (n_others[rater] - used >= 2) & (left > 1e-12)
        own = above[rater] - weight * r * partner
        alone = np.divide(own, left, out=np.full(first.size, np.nan), where=enough)
        product *= np.clip(alone, -1, 1)
    return product


def _chernoff(
    total: float, gap: Floats, step: float, group: Ints, of_group: Ints, level: float
) -> float:
    """Bound the probability that squares of gaps, rounded to the scale, add up to so little.

    1 where even a sum of 0 would be no less likely than ``level``: people agree there.

    Parameters
    ----------
    total
        Sum of the squared differences of the pair.
    gap
        Absolute differences of either rater to another one, shrunk.
    step
        Distance of the points of the scale; differences are rounded up or down at random, as those
        of answers that are rounded separately.
    group, of_group
        Rater and stimulus of each gap, as one code; and the stimulus of each such code.
    """
    low = np.floor(gap / step) if step else gap
    up = gap / step - low if step else np.zeros(gap.size)
    near, far = (low * step) ** 2 if step else gap**2, ((low + 1) * step) ** 2
    n_groups = np.bincount(of_group)
    n = n_groups.size
    unit = float(np.mean(gap**2)) * gap.size / of_group.size
    with np.errstate(divide="ignore"):
        none = np.log(np.where(low == 0, 1 - up, 0.0) if step else (gap == 0).astype(np.float64))
    # The mean below falls as t grows, and never beyond this.
    ties = np.bincount(of_group, np.exp(np.bincount(group, none))) / n_groups
    if n * np.log((ties.sum() + 1) / (n + 1)) > np.log(level):
        return 1.0
    best = 0.0
    for t in np.logspace(-2, 9, 56) / unit:
        # What underflows is a gap that no such total allows.
        with np.errstate(divide="ignore", under="ignore"):
            each = (1 - up) * np.exp(-t * near) + up * np.exp(-t * far)
            together = np.exp(np.bincount(group, np.log(each)))
        of_unit = np.bincount(of_group, together) / n_groups
        # One more stimulus on which everybody agrees: no bound rests on never having seen one.
        best = min(best, t * total + n * float(np.log((of_unit.sum() + 1) / (n + 1))))
    return float(np.exp(best))
