"""From answers to amounts: how much of each label a rater's answer says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Bools, Floats, Ints
from affectlab.ratings import Ratings, Scale
from affectlab.ratings.arrays import Answers, answers_of

__all__ = ["RULES", "Absent", "Rule", "Shares", "Votes", "votes_of"]

Rule: TypeAlias = Literal["choices", "votes", "intensity", "top"]
Absent: TypeAlias = Literal["auto", "missing", "zero"]

RULES: dict[str, str] = {
    "choices": "share of the raters who chose the answer",
    "votes": "share of the raters who chose the label",
    "intensity": "mean intensity, from 0 at the low end of the scale to 1 at its high end",
    "top": "share of the raters for whom the label was the strongest, ties shared",
}
"""How answers become a distribution over labels."""

_TIED = 1e-9
"""Intensities that lie closer together are equal."""
_MOST_LEVELS = 64


@dataclass(frozen=True)
class Shares:
    """What a group of raters says of each stimulus, before it is normalised."""

    amount: Floats
    """Share of raters, or mean intensity, shape (n, k)."""
    n_raters: Ints
    """Raters who answered, shape (n,)."""

    @property
    def mass(self) -> Floats:
        """Sum of the amounts, shape (n,): labels that a rater chose on average."""
        total: Floats = self.amount.sum(axis=1)
        return total

    def normalised(self, smoothing: float = 0.0) -> Floats:
        """Make the amounts sum to 1, shape (n, k); ``nan`` where nobody chose a label."""
        people = self.amount * self.n_raters[:, None]
        total = people.sum(axis=1, keepdims=True)
        raised = total + smoothing * people.shape[1]
        empty = np.full_like(people, np.nan)
        shares: Floats = np.divide(people + smoothing, raised, out=empty, where=total > 0)
        return shares


@dataclass(frozen=True)
class Votes:
    """Amounts in [0, 1] that raters gave to labels, one entry per answer.

    ``unit``, ``rater`` and ``label`` are codes into ``units``, ``raters`` and ``labels``. Every
    (unit, rater) is a *ballot*, numbered by ``ballot``.
    """

    unit: Ints
    rater: Ints
    label: Ints
    amount: Floats
    units: tuple[str, ...]
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    rule: str
    of_all: bool
    """Whether a label that a rater left out counts as not chosen."""
    ordered: bool
    """Whether the labels are the levels of an ordered scale."""

    @property
    def ballot(self) -> tuple[Ints, Ints, Ints]:
        """Ballot of every answer, then the unit and the rater of every ballot."""
        key, ballot = np.unique(self.unit * len(self.raters) + self.rater, return_inverse=True)
        return ballot.astype(np.int64), key // len(self.raters), key % len(self.raters)

    def sums(self, group: Ints, n_groups: int) -> tuple[Floats, Floats]:
        """Sum amounts and count answers per group of answers and label, shape (groups, k) each."""
        k = len(self.labels)
        cell = group * k + self.label
        amount = np.bincount(cell, weights=self.amount, minlength=n_groups * k)
        count: Floats = np.bincount(cell, minlength=n_groups * k).astype(np.float64)
        shape = (n_groups, k)
        sums: Floats = np.asarray(amount, dtype=np.float64).reshape(shape)
        return sums, count.reshape(shape)

    def shares(self, amount: Floats, count: Floats, n_raters: Ints) -> Shares:
        """Divide sums by the raters who were asked."""
        asked = np.broadcast_to(n_raters[:, None], amount.shape) if self.of_all else count
        share = np.divide(amount, asked, out=np.zeros_like(amount), where=asked > 0)
        return Shares(share, n_raters)

    def take(self, rows: Bools) -> Votes:
        """Keep some of the answers and all of the names."""
        from dataclasses import replace

        return replace(
            self,
            unit=self.unit[rows],
            rater=self.rater[rows],
            label=self.label[rows],
            amount=self.amount[rows],
        )


def votes_of(
    ratings: Ratings,
    rule: Rule | None = None,
    labels: Sequence[str] | None = None,
    absent: Absent = "auto",
) -> Votes:
    """Read the answers as amounts; see :func:`~affectlab.evaluation.label_distributions`."""
    scale = ratings.scale
    chosen = rule or _usual_rule(ratings)
    if chosen not in RULES:
        raise unknown_name("rule", chosen, RULES)
    if absent not in ("auto", "missing", "zero"):
        raise unknown_name("absent", absent, ("auto", "missing", "zero"))
    answers = answers_of(ratings)
    if chosen == "choices":
        label, amount, names = _choices(answers, scale)
    else:
        label, names = answers.label, answers.labels
        amount = _intensity(answers, scale, chosen)
    unit, rater = answers.unit, answers.rater
    if labels is not None:
        kept, label, names = _select(label, names, labels)
        unit, rater, label, amount = unit[kept], rater[kept], label[kept], amount[kept]
    if chosen == "top":
        amount = _strongest(unit * len(answers.raters) + rater, amount)
    # A list of what was seen holds no zeros: there, a label that is not listed was not chosen.
    listed = absent == "zero" or (absent == "auto" and not bool((amount == 0).any()))
    of_all = chosen in ("choices", "top") or listed
    return Votes(
        unit=unit,
        rater=rater,
        label=label,
        amount=amount,
        units=answers.units,
        raters=answers.raters,
        labels=names,
        rule=RULES[chosen] + ("" if of_all else ", of those who answered it"),
        of_all=of_all,
        ordered=chosen == "choices" and scale.kind != "nominal",
    )


def _usual_rule(ratings: Ratings) -> Rule:
    kind = ratings.scale.kind
    if kind == "nominal" or ratings.n_labels == 1:
        return "choices"
    return "votes" if kind == "binary" else "intensity"


def _choices(answers: Answers, scale: Scale) -> tuple[Ints, Floats, tuple[str, ...]]:
    """Take the values of the one question as labels."""
    if len(answers.labels) > 1:
        raise InputError(
            f"rule 'choices' is for one question; these ratings have {len(answers.labels)} labels "
            f"({answers.labels[0]!r}, …)"
        )
    levels = scale.levels()
    if levels.size > _MOST_LEVELS:
        raise InputError(
            f"the scale ({scale}) has {levels.size} levels; expected at most {_MOST_LEVELS} for a "
            "distribution of answers"
        )
    step, low = scale.step or 1.0, float(levels[0])
    label = np.rint((answers.value - low) / step).astype(np.int64)
    names = scale.categories or tuple(f"{level:g}" for level in levels)
    return label, np.ones(label.size), names


def _intensity(answers: Answers, scale: Scale, rule: str) -> Floats:
    if scale.kind == "nominal":
        raise InputError(f"rule {rule!r} needs amounts; these answers have no order ({scale})")
    if rule == "votes" and scale.kind != "binary":
        raise InputError(f"rule 'votes' needs answers of 0 and 1; the scale is {scale}")
    if scale.low is None or scale.high is None:
        raise InputError(f"the scale ({scale}) has no bounds; declare it, as in '0-7'")
    if scale.low < 0 < scale.high:
        raise InputError(
            f"the scale ({scale}) goes both ways from 0, so its answers are no amounts of a label"
        )
    return (answers.value - scale.low) / (scale.high - scale.low)


def _select(
    label: Ints, names: tuple[str, ...], wanted: Sequence[str]
) -> tuple[Bools, Ints, tuple[str, ...]]:
    """Keep some labels, in the order asked for."""
    chosen = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    place = np.full(len(names), -1, dtype=np.int64)
    for position, name in enumerate(chosen):
        if name not in names:
            raise unknown_name("label", name, names)
        if place[names.index(name)] >= 0:
            raise InputError(f"labels: {name!r} is named twice; expected different names")
        place[names.index(name)] = position
    found = place[label]
    return found >= 0, found, chosen


def _strongest(ballot: Ints, amount: Floats) -> Floats:
    """Share one vote among the strongest labels of each ballot; none where all are zero."""
    _, group = np.unique(ballot, return_inverse=True)
    highest = np.zeros(int(group.max(initial=-1)) + 1)
    np.maximum.at(highest, group, amount)
    top = (amount > 0) & (amount >= highest[group] - _TIED)
    count = np.bincount(group, weights=top, minlength=highest.size)[group]
    return np.where(top, 1.0 / np.maximum(count, 1.0), 0.0)
