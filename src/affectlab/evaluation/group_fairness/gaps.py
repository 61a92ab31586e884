"""Gaps between groups: bootstrap intervals, permutation tests, and correction for many tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from affectlab.core.arrays import blocks_of
from affectlab.core.inference import benjamini_hochberg, holm
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.jackknife import contributions, spread_of, t_test
from affectlab.evaluation.paired_tests import permutation_p

Correction: TypeAlias = Literal["holm", "bh", "none"]

_MOST_BLOCKS = 500
"""Parts of a group of which one is left out at a time."""
_SMALL = 1e-12
"""Standard errors up to here are rounding noise."""

Evaluate: TypeAlias = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Contrast:
    """Two sets of groups that are compared: the value of the first less that of the second."""

    group: str
    against: str
    first: Bools
    """Which groups are on the first side, shape (groups,)."""
    second: Bools
    pool: Bools
    """Which groups are shuffled for the test."""
    largest: bool = False
    """Whether the two were chosen as those that are furthest apart; the test allows for it."""


@dataclass(frozen=True)
class Judged:
    """Values of groups and gaps, with their replicates; G groups and C contrasts."""

    values: Floats
    """Shape (G,)."""
    replicates: Floats
    """Shape (n_boot, G)."""
    contrasts: tuple[Contrast, ...]
    gaps: Floats
    """Shape (C,)."""
    gap_replicates: Floats
    """Shape (n_boot, C)."""
    p: Floats
    """P values, shape (C,); ``nan`` where nothing was permuted."""


@dataclass
class _Values:
    """Values of sets of groups under the same weights, each computed once."""

    evaluate: Evaluate
    group: Ints
    weights: Floats
    _known: dict[bytes, Floats] = field(default_factory=dict)

    def of(self, groups: Bools) -> Floats:
        key = groups.tobytes()
        if key not in self._known:
            # Units without a group have the place -1, which no set holds.
            inside = np.append(groups, False)[self.group]
            self._known[key] = self.evaluate(self.weights * inside)
        return self._known[key]

    def gap(self, contrast: Contrast) -> Floats:
        gap: Floats = self.of(contrast.first) - self.of(contrast.second)
        return gap


def judge_groups(
    evaluate: Evaluate,
    group: Ints,
    n_groups: int,
    contrasts: Callable[[Floats], tuple[Contrast, ...]],
    rng: np.random.Generator,
    *,
    n_boot: int,
    n_permutations: int,
) -> Judged:
    """Compute the value of every group, and gaps with replicates and p values.

    Parameters
    ----------
    evaluate
        From weights of U units, shape (b, U), to values, shape (b,).
    group
        Group of each unit, shape (U,); -1 for a unit that has no answer.
    n_groups
        G.
    contrasts
        From the values of the groups to the gaps that are wanted.
    rng
        Draws replicates first, then permutations.
    n_boot
        Replicates; units are drawn anew within each group.
    n_permutations
        Permutations of the groups over the units of both sides of a gap. A p value is the larger
        one of the permutation test, which is exact for groups that could trade places, and of a
        t test that lets each side have its own spread.
    """
    single = np.eye(n_groups, dtype=np.bool_)
    plain = _Values(evaluate, group, np.ones((1, group.size)))
    values = np.array([plain.of(one)[0] for one in single])
    wanted = contrasts(values)
    gaps = np.array([plain.gap(contrast)[0] for contrast in wanted])
    replicates, gap_replicates = [np.empty((0, n_groups))], [np.empty((0, len(wanted)))]
    for weights in _stratified(group, n_groups, n_boot, rng):
        drawn = _Values(evaluate, group, weights)
        replicates.append(np.stack([drawn.of(one) for one in single], axis=1))
        if wanted:
            gap_replicates.append(np.stack([drawn.gap(c) for c in wanted], axis=1))
    p = _permutation_tests(evaluate, group, wanted, gaps, n_permutations, rng)
    if n_permutations:
        p = np.maximum(p, _welch_tests(evaluate, group, wanted, gaps, rng))
    return Judged(
        values, np.concatenate(replicates), wanted, gaps, np.concatenate(gap_replicates), p
    )


def _stratified(
    group: Ints, n_groups: int, n_boot: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Draw units with replacement within each group, shape (b, U); n_boot rows in all."""
    members = [np.flatnonzero(group == place) for place in range(n_groups)]
    for size in blocks_of(n_boot, group.size):
        weights = np.zeros((size, group.size))
        for units in members:
            n = units.size
            if n == 0:
                continue
            drawn = rng.integers(0, n, size=(size, n)) + np.arange(size)[:, None] * n
            weights[:, units] = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        yield weights


def _permutation_tests(
    evaluate: Evaluate,
    group: Ints,
    contrasts: tuple[Contrast, ...],
    gaps: Floats,
    n_permutations: int,
    rng: np.random.Generator,
) -> Floats:
    """Two-sided p values; contrasts over the same groups share their permutations."""
    p = np.full(len(contrasts), np.nan)
    if n_permutations == 0 or not contrasts:
        return p
    pools: dict[bytes, list[int]] = {}
    for place, contrast in enumerate(contrasts):
        pools.setdefault(contrast.pool.tobytes(), []).append(place)
    for key, places in pools.items():
        inside = np.frombuffer(key, dtype=np.bool_)
        units = np.flatnonzero(np.append(inside, False)[group])
        permuted = []
        for size in blocks_of(n_permutations, group.size):
            shuffled = np.full((size, group.size), -1, dtype=np.int64)
            shuffled[:, units] = rng.permuted(np.tile(group[units], (size, 1)), axis=1)
            drawn = _Values(evaluate, shuffled, np.ones(1))
            columns = [
                _range(drawn, contrasts[place])
                if contrasts[place].largest
                else drawn.gap(contrasts[place])
                for place in places
            ]
            permuted.append(np.stack(columns, axis=1))
        p[places] = permutation_p(gaps[places], np.concatenate(permuted))
    return p


def _welch_tests(
    evaluate: Evaluate,
    group: Ints,
    contrasts: tuple[Contrast, ...],
    gaps: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Two-sided p values of the gaps over jackknife standard errors, each side with its own.

    0 where no unit makes a difference, so that only the permutation can tell; 1 where a value is
    not defined without one of the units.
    """
    p = np.zeros(len(contrasts))
    known: dict[bytes, Floats] = {}
    for place, contrast in enumerate(contrasts):
        parts = []
        for groups in (contrast.first, contrast.second):
            key = groups.tobytes()
            if key not in known:
                known[key] = contributions(_without_each(evaluate, group, groups, rng)[:, None])
            parts.append(known[key])
        se, df = (float(one[0]) for one in spread_of(np.concatenate(parts)))
        gap = abs(float(gaps[place]))
        if np.isnan(se) or np.isnan(gap):
            p[place] = np.nan if np.isnan(gap) else 1.0
        elif se <= _SMALL * max(gap, 1.0):
            continue
        elif contrast.largest:
            p[place] = _tukey(gap / se, int(contrast.pool.sum()), df)
        else:
            p[place] = 2 * float(t_test(np.array([gap]), np.array([se]), np.array([df]))[0])
    return p


def _tukey(t: float, n_groups: int, df: float) -> float:
    """P value of the largest of all differences of groups (Games and Howell 1976)."""
    from scipy.stats import studentized_range

    return float(studentized_range.sf(np.sqrt(2) * t, n_groups, df))


def _without_each(
    evaluate: Evaluate, group: Ints, groups: Bools, rng: np.random.Generator
) -> Floats:
    """Values of a set of groups without one unit after the other; of many units, without blocks."""
    inside = np.append(groups, False)[group]
    members = np.flatnonzero(inside)
    blocks = min(members.size, _MOST_BLOCKS)
    if blocks < 2:
        return np.full(1, np.nan)
    gone = np.arange(members.size) * blocks // members.size
    if blocks < members.size:
        # Neighbours in a file may be alike: blocks are drawn at random.
        gone = rng.permutation(gone)
    weights = np.tile(inside.astype(np.float64), (blocks, 1))
    weights[gone, members] = 0.0
    return evaluate(weights)


def _range(drawn: _Values, contrast: Contrast) -> Floats:
    """Largest less smallest value of the groups of a contrast."""
    places = np.flatnonzero(contrast.pool)
    single = np.zeros((places.size, contrast.first.size), dtype=np.bool_)
    single[np.arange(places.size), places] = True
    values = np.stack([drawn.of(one) for one in single], axis=1)
    width: Floats = values.max(axis=1) - values.min(axis=1)
    return width


def corrected(p_values: Floats, correction: Correction) -> Floats:
    """Correct p values for being many."""
    if correction == "none":
        return p_values.copy()
    return holm(p_values) if correction == "holm" else benjamini_hochberg(p_values)
