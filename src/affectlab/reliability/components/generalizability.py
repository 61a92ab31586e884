r"""Generalizability and decision studies: the reliability of means over raters, sessions, labels.

Everything but the stimuli that ratings are meant to generalise over is a facet. A component counts
divided by the number of levels of its facets that a mean is taken over, and of the facets in which
these are nested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats
from affectlab.reliability.components.designs import RATER, STIMULUS, Components, MixedDesign

_SURE = 1e12
"""Ratios from here on are what rounding leaves of no noise."""


def facets_of(factors: Sequence[str]) -> tuple[str, ...]:
    """Give the facets: raters, whose ratings are averaged, and all other parts of factors."""
    parts = [part for factor in factors for part in factor.split(":")]
    return tuple(dict.fromkeys([RATER, *(part for part in parts if part != STIMULUS)]))


def column_of(facet: str) -> str:
    """Name the column that has the number of levels of a facet."""
    return f"{facet}s"


def decision_studies(
    k: Sequence[int] | Mapping[str, Sequence[int]], facets: Sequence[str]
) -> list[dict[str, int]]:
    """Give every combination of numbers of levels; 1 of the facets that are not named.

    Raises
    ------
    InputError
        When a facet is unknown, or a number below 1.
    """
    given = k if isinstance(k, Mapping) else {RATER: k}
    for name, sizes in given.items():
        check_choice("facet", name, facets, "k")
        if not sizes or min(sizes) < 1:
            raise InputError(f"k {list(sizes)}: expected numbers of {name}s, 1 or more")
    every = [given.get(name, (1,)) for name in facets]
    return [dict(zip(facets, sizes, strict=True)) for sizes in product(*every)]


@dataclass(frozen=True)
class Coefficient:
    """The reliability of a mean: variance of stimuli over that and weighted others."""

    kind: str
    """Agreement or consistency."""
    sizes: Mapping[str, int]
    """Levels of each facet."""
    weights: Mapping[str, float]
    """How much of each component counts relative to the residual, which all levels divide."""

    @property
    def over(self) -> int:
        """Answers that the mean is taken of."""
        return prod(self.sizes.values())

    @property
    def row(self) -> dict[str, str]:
        """What its row of a table is about."""
        sizes = {column_of(facet): str(n) for facet, n in self.sizes.items()}
        return {"coefficient": self.kind, **sizes}


def coefficients_of(
    design: MixedDesign, factors: Sequence[str], studies: Sequence[Mapping[str, int]]
) -> list[Coefficient]:
    """Give the coefficients of each decision study.

    There are none without stimuli, nor where these are nested in a facet other than raters:
    differences between its levels are differences between stimuli, too.
    """
    if STIMULUS not in factors:
        return []
    facets = facets_of(factors)
    inside = {one: _outer(design, one, facets) for one in (STIMULUS, *facets)}
    if design.reason is None and inside[STIMULUS] - {RATER}:
        return []
    made = []
    for kind in ("agreement", "consistency"):
        noise = [
            one
            for one in factors
            if one != STIMULUS and (kind == "agreement" or STIMULUS in one.split(":"))
        ]
        for sizes in studies:
            over = prod(sizes.values())
            weights = {
                one: over / prod(sizes[facet] for facet in _closure(one, inside)) for one in noise
            }
            made.append(Coefficient(kind, sizes, weights))
    return made


def reliability_rows(
    fit: Components | None, coefficients: Sequence[Coefficient], confidence: float | None
) -> Iterator[dict[str, Any]]:
    """Give the coefficients, with the intervals that the fit has."""
    ratios: dict[tuple[tuple[str, float], ...], Floats] = {}
    for one in coefficients:
        place = tuple(one.weights.items())
        if place not in ratios:
            ratios[place] = signal_to_noise(fit, one.weights, confidence)
        value, low, high = share_of_signal(one.over * ratios[place])
        yield {**one.row, "value": value, "low": low, "high": high}


def signal_to_noise(
    fit: Components | None, weights: Mapping[str, float], confidence: float | None
) -> Floats:
    """Variance of stimuli over that of the residual and weighted others, with its interval.

    Parameters
    ----------
    fit
        The fitted model; ``nan`` without.
    weights
        How much of each other component counts.
    confidence
        Coverage of the interval; ``None`` for no interval.

    Returns
    -------
    Ratio and both ends, shape (3,).
    """
    if fit is None:
        return np.full(3, np.nan)
    ratio = fit.ratio(STIMULUS, weights)
    if confidence is None or not ratio < _SURE:
        return np.array([ratio, np.nan, np.nan])
    return np.array([ratio, *fit.ratio_interval(STIMULUS, weights, confidence)])


def share_of_signal(odds: Floats) -> Floats:
    """Signal over signal and noise, from signal over noise; 1 where there is no noise."""
    with np.errstate(invalid="ignore"):
        share: Floats = np.where(np.isinf(odds), 1.0, odds / (1 + odds))
    return share


def _outer(design: MixedDesign, inner: str, facets: Sequence[str]) -> set[str]:
    """Facets in which another is nested: each of its levels meets one of theirs."""
    others = [one for one in facets if one != inner]
    alone = design.frame.group_by(inner).agg(pl.col(others).min() == pl.col(others).max())
    return {one for one in others if alone[one].all()}


def _closure(component: str, inside: Mapping[str, set[str]]) -> set[str]:
    """Facets of a component, and those in which they are nested."""
    own = set(component.split(":")) - {STIMULUS}
    return own.union(*(inside[one] for one in own))
