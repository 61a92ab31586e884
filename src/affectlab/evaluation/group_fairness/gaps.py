"""Gaps between groups: their errors, permutation tests, and correction for many tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from affectlab.core.arrays import blocks_of
from affectlab.core.inference import benjamini_hochberg, holm, infer
from affectlab.core.jackknife import Jackknife, differences
from affectlab.core.statistic import from_weights
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.paired_tests import permutation_p, t_test

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
    """Values of G groups and C gaps, and what becomes of them without each unit."""

    contrasts: tuple[Contrast, ...]
    groups: Jackknife
    """Rows of the groups, then of other sides of gaps."""
    gaps: Jackknife
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
    bounds: tuple[float, float],
    units: str,
    fewest: int,
    n_permutations: int,
) -> Judged:
    """Compute the value of every group, and gaps with p values.

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
        Draws permutations, and blocks of very many units.
    bounds
        Least and largest value.
    units, fewest
        What units are, and how many of them give an interval.
    n_permutations
        Permutations of the groups over the units of both sides of a gap. A p value is the larger
        one of the permutation test, which is exact for groups that could trade places, and of a
        t test that lets each side have its own spread.
    """
    single = list(np.eye(n_groups, dtype=np.bool_))
    plain = _Values(evaluate, group, np.ones((1, group.size)))
    wanted = contrasts(np.array([plain.of(one)[0] for one in single]))
    sides = [side for contrast in wanted for side in (contrast.first, contrast.second)]
    place: dict[bytes, int] = {}
    for one in (*single, *sides):
        place.setdefault(one.tobytes(), len(place))
    sets = np.array([np.frombuffer(key, dtype=np.bool_) for key in place])
    inside = np.column_stack([sets, np.zeros(len(sets), np.bool_)])[:, group]

    def of_sets(weights: Floats) -> Floats:
        """Values of all sets; one that loses nothing needs no second look."""
        values = np.empty((len(weights), len(sets)))
        for column, units in zip(values.T, inside, strict=True):
            column[:] = evaluate(units[None].astype(np.float64))
            changed = np.flatnonzero((weights[:, units] != 1).any(axis=1))
            if changed.size:
                column[changed] = evaluate(weights[changed] * units)
        return values

    statistic = from_weights(
        {"set": [str(at) for at in range(len(sets))]},
        group.size,
        of_sets,
        method=["value"] * len(sets),
        undefined="",
        n_items=inside.sum(axis=1),
        n_raters=0,
        n_ratings=0,
        bounds=bounds,
        units=units,
        fewest=fewest,
        n_groups=_MOST_BLOCKS,
    )
    statistic = replace(statistic, design=replace(statistic.design, stimulus=inside))
    found = infer(statistic, interval="jackknife", seed=rng).jackknife
    assert found is not None
    first, second = (
        np.array([place[side.tobytes()] for side in sides[at::2]], dtype=np.int64) for at in (0, 1)
    )
    width = bounds[1] - bounds[0]
    # Both sides tell how much units vary: each needs half as many.
    half = -(-fewest // 2)
    gaps = differences(found, first, second, bounds=(-width, width), fewest=half)
    p = _permutation_tests(evaluate, group, wanted, gaps.value, n_permutations, rng)
    if n_permutations:
        p = np.maximum(p, _welch_tests(wanted, gaps))
    return Judged(wanted, found, gaps, p)


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


def _welch_tests(contrasts: tuple[Contrast, ...], of_gaps: Jackknife) -> Floats:
    """Two-sided p values of the gaps over jackknife standard errors, each side with its own.

    0 where no unit makes a difference, so that only the permutation can tell; 1 where a value is
    not defined without one of the units.
    """
    p = np.zeros(len(contrasts))
    gaps, (se, df) = np.abs(of_gaps.value), of_gaps.spread()
    tested = 2 * t_test(gaps, se, df)
    for place, contrast in enumerate(contrasts):
        if np.isnan(se[place]) or np.isnan(gaps[place]):
            p[place] = np.nan if np.isnan(gaps[place]) else 1.0
        elif se[place] <= _SMALL * max(gaps[place], 1.0):
            continue
        elif contrast.largest:
            t = float(gaps[place] / se[place])
            p[place] = _tukey(t, int(contrast.pool.sum()), float(df[place]))
        else:
            p[place] = tested[place]
    return p


def _tukey(t: float, n_groups: int, df: float) -> float:
    """P value of the largest of all differences of groups (Games and Howell 1976)."""
    from scipy.stats import studentized_range

    return float(studentized_range.sf(np.sqrt(2) * t, n_groups, df))


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
