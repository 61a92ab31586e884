"""Whom a report points out, by what they answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from affectlab.reliability import interrater_correlation
from affectlab.report._apart import LEVEL, Apart, agreement_with_others
from affectlab.report._equal_trials import EqualTrials, equal_trials

if TYPE_CHECKING:
    from affectlab.ratings import Ratings
    from affectlab.report._study import Study

__all__ = ["PointedOut", "pointed_out"]

_FEW_ITEMS = 10


@dataclass(frozen=True)
class PointedOut:
    """People who are unlike the rest, each under the first reason that holds."""

    constant: tuple[str, ...] = ()
    """One and the same answer throughout."""
    equal: tuple[EqualTrials, ...] = ()
    """No difference between the labels of a trial, far more often than others."""
    against: tuple[str, ...] = ()
    """Answers against the others."""
    agreement: tuple[Apart, ...] = ()
    """Everybody's agreement with the others."""

    @property
    def apart(self) -> tuple[Apart, ...]:
        """Those who agree less than can be expected, and stand under no other reason."""
        named = {*self.constant, *(one.rater for one in self.equal), *self.against}
        return tuple(one for one in self.agreement if one.flagged and one.rater not in named)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        equal, apart = (tuple(one.rater for one in found) for found in (self.equal, self.apart))
        return (*self.constant, *equal, *self.against, *apart)


def pointed_out(study: Study) -> PointedOut:
    """Find the people who are unlike the rest by what they answered; nobody where few can tell."""
    people = study.people
    if people is None or people.n_raters < 3 or study.flow is not None:
        return PointedOut()
    constant = tuple(name for name in study.constant if name in people.rater_names)
    equal = tuple(one for one in equal_trials(people, level=LEVEL) if one.rater not in constant)
    named = {*constant, *(one.rater for one in equal)}
    against = tuple(name for name in _against_others(people) if name not in named)
    return PointedOut(
        constant, equal, against, tuple(agreement_with_others(people, without={*named, *against}))
    )


def _against_others(people: Ratings) -> list[str]:
    """People whose mean correlation with the others is clearly below 0."""
    if people.scale.kind == "nominal":
        return []
    table = interrater_correlation(people, exclude=(), by_rater=True, min_items=_FEW_ITEMS)
    means = (
        table.to_frame()
        .filter(pl.col("value").is_not_nan())
        .group_by("rater", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    return means.filter(pl.col("value") < -0.2)["rater"].to_list()
