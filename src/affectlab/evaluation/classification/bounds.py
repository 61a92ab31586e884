"""Are published figures possible: bounds of ECC and EMC, and a check of a whole row of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab.core.errors import InputError, check_number
from affectlab.core.types import Bools, Floats
from affectlab.core.words import joined
from affectlab.evaluation.label_facts import CostsLike, GroupsLike, TaxonomyLike, label_facts

_SLACK = 1e-6
"""More than a linear program is off by."""


@dataclass(frozen=True)
class SeverityBounds:
    """The values that ECC and EMC can take."""

    ecc: tuple[float, float]
    emc: tuple[float, float]
    """``nan`` when there are no mistakes."""


@dataclass(frozen=True)
class Possibility:
    """Whether figures can come from one confusion matrix; true when they can."""

    possible: bool
    reason: str
    """One sentence."""

    def __bool__(self) -> bool:
        return self.possible


def severity_bounds(
    acc: float,
    acc2: float | None = None,
    taxonomy: TaxonomyLike = "mikels",
    *,
    costs: CostsLike | None = None,
    groups: GroupsLike | None = None,
) -> SeverityBounds:
    r"""Bound ECC and EMC by what accuracy and ACC2 leave open.

    With W from a to b within a polarity, and from c to d between polarities,

    .. math:: \mathrm{ACC} + \frac{\mathrm{ACC2} - \mathrm{ACC}}{b} + \frac{1 - \mathrm{ACC2}}{d}
        \le \mathrm{ECC} \le
        \mathrm{ACC} + \frac{\mathrm{ACC2} - \mathrm{ACC}}{a} + \frac{1 - \mathrm{ACC2}}{c}

    and likewise for EMC with W - 1 and the shares of mistakes. On Mikels' wheel a, b, c, d are 2,
    4, 5 and 8.

    Parameters
    ----------
    acc, acc2
        Shares in [0, 1], accuracy not above ACC2; without ACC2 any mistake is possible.
    taxonomy, costs, groups
        As for :func:`classification_metrics`.

    Raises
    ------
    InputError
        When a share is off [0, 1], ACC2 is below the accuracy, or the labels have no costs.

    Notes
    -----
    Derived here from equations 2 to 4 of Zhao et al. (2024), To Err Like Human.

    Examples
    --------
    >>> bounds = severity_bounds(0.6, 0.9)
    >>> [round(end, 4) for end in (*bounds.ecc, *bounds.emc)]
    [0.6875, 0.77, 0.2857, 0.8125]
    """
    shares = {"acc": acc, "acc2": acc2}
    for name, share in shares.items():
        if share is not None:
            check_number(name, share, 0, 1)
    if acc2 is not None and acc2 < acc:
        raise InputError(f"acc2 = {acc2:g}: expected no less than the accuracy, {acc:g}")
    cost, same = _mistake_costs(taxonomy, costs, groups, need_sides=acc2 is not None)
    parts = [(1 - acc, cost)]
    if acc2 is not None:
        parts = [(acc2 - acc, cost[same]), (1 - acc2, cost[~same])]
    ecc_low = ecc_high = acc
    emc_low = emc_high = 0.0
    for share, of_part in parts:
        if share <= 0:
            continue
        if not of_part.size:
            raise InputError("acc2: the labels have no pair of this kind to be mistaken for")
        ecc_low += share / of_part.max()
        ecc_high += share / of_part.min()
        emc_low += share / (of_part.max() - 1)
        emc_high += share / (of_part.min() - 1)
    wrong = 1 - acc
    emc = (emc_low / wrong, emc_high / wrong) if wrong > 0 else (np.nan, np.nan)
    return SeverityBounds((float(ecc_low), float(ecc_high)), (float(emc[0]), float(emc[1])))


def figures_possible(
    *,
    acc: float,
    acc2: float | None = None,
    ecc: float | None = None,
    emc: float | None = None,
    taxonomy: TaxonomyLike = "mikels",
    decimals: int = 3,
    costs: CostsLike | None = None,
    groups: GroupsLike | None = None,
) -> Possibility:
    """Say whether any confusion matrix can have these figures at once.

    Parameters
    ----------
    acc, acc2, ecc, emc
        Shares in [0, 1], rounded to `decimals`; those that are not given are left open.
    taxonomy, costs, groups
        As for :func:`classification_metrics`.
    decimals
        Digits behind the point that are given: 3 for a percentage such as 65.8.

    Raises
    ------
    InputError
        When a figure is off [0, 1], or the labels have no costs.

    Notes
    -----
    Each figure in turn is bounded by a linear program over the shares of mistakes at each cost,
    given the figures before it up to their rounding. The number of items is taken as large.

    Examples
    --------
    >>> figures_possible(acc=0.658, acc2=0.790, ecc=0.761, emc=0.501).possible
    True
    >>> figures_possible(acc=0.612, ecc=0.715, emc=0.486).reason
    'EMC 0.486 is not possible: with accuracy 0.612 and ECC 0.715 it is from 0.360 to 0.469'
    """
    given = {"accuracy": acc, "ACC2": acc2, "ECC": ecc, "EMC": emc}
    figures = {name: figure for name, figure in given.items() if figure is not None}
    for name, figure in figures.items():
        if not 0 <= figure <= 1:
            raise InputError(f"{name} = {figure:g}: expected a share from 0 to 1, not a percentage")
    cost, same = _mistake_costs(taxonomy, costs, groups, need_sides=acc2 is not None)
    known: dict[str, float] = {}
    for name, figure in figures.items():
        low, high = _range(name, known, cost, same, decimals)
        half = 0.5 * 10.0**-decimals
        if not low - half - _SLACK <= figure <= high + half + _SLACK:
            given_others = joined(f"{other} {value:.{decimals}f}" for other, value in known.items())
            return Possibility(
                False,
                f"{name} {figure:.{decimals}f} is not possible: with {given_others} "
                f"it is from {low:.{decimals}f} to {high:.{decimals}f}",
            )
        known[name] = figure
    listed = joined(f"{name} {figure:.{decimals}f}" for name, figure in figures.items())
    return Possibility(True, f"a confusion matrix can have {listed} at once")


def _range(
    name: str, known: dict[str, float], cost: Floats, same: Bools, decimals: int
) -> tuple[float, float]:
    """The least and the greatest value of a figure, given others up to their rounding.

    Unknown are the share of hits and the share of mistakes of each kind. Every figure is a sum of
    them over a base: all items, or, for EMC, the mistakes. Only the ratios count, so the base of
    the figure that is sought is set to 1.
    """
    from scipy.optimize import linprog

    hits = np.eye(cost.size + 1)[0]
    whole = np.ones(cost.size + 1)
    sums = {
        "accuracy": (hits, whole),
        "ACC2": (hits + np.append(0.0, same), whole),
        "ECC": (hits + np.append(0.0, 1 / cost), whole),
        "EMC": (np.append(0.0, 1 / (cost - 1)), whole - hits),
    }
    half = 0.5 * 10.0**-decimals + _SLACK
    rows = [
        row
        for other, value in known.items()
        for above, base in [sums[other]]
        for row in (above - (value + half) * base, (value - half) * base - above)
    ]
    sought, base = sums[name]
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(
            sign * sought,
            A_ub=np.array(rows) if rows else None,
            b_ub=np.zeros(len(rows)) if rows else None,
            A_eq=base[None, :],
            b_eq=[1.0],
            method="highs",
        )
        # Without room for mistakes (accuracy 1 to many digits) EMC may still be anything.
        ends.append(sign * found.fun if found.status == 0 else sign * -np.inf)
    return float(ends[0]), float(ends[1])


def _mistake_costs(
    taxonomy: TaxonomyLike,
    costs: CostsLike | None,
    groups: GroupsLike | None,
    *,
    need_sides: bool,
) -> tuple[Floats, Bools]:
    """The different costs of mistakes, within a polarity and between; and which are within."""
    facts = label_facts(taxonomy, costs=costs, groups=groups)
    if facts is None or facts.costs is None:
        raise InputError("the labels have no costs; pass a taxonomy with costs, or a cost matrix")
    known = ~np.isnan(np.diagonal(facts.costs))
    places = np.flatnonzero(known)
    why = facts.without_sides(places) if need_sides else None
    if why is not None:
        raise InputError(f"ACC2: {why}")
    sides = facts.sides if facts.sides is not None else np.zeros(len(facts.labels), dtype=np.int64)
    one, other = np.nonzero(~np.eye(places.size, dtype=bool))
    one, other = places[one], places[other]
    kinds = np.stack([facts.costs[one, other], sides[one] == sides[other]], axis=1)
    kinds = np.unique(kinds, axis=0)
    if not len(kinds):
        raise InputError("expected at least two labels with costs")
    return kinds[:, 0], kinds[:, 1].astype(bool)
