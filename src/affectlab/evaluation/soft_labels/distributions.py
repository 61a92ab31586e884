"""What people, or one rater, say of each stimulus: amounts of labels, and their distribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.arrays import as_floats, places_in, ratio, sums_of_groups
from affectlab.core.errors import (
    InputError,
    check_choice,
    check_choices,
    check_number,
    check_once,
    unknown_name,
)
from affectlab.core.types import Bools, Floats, Ints
from affectlab.ratings import Answers, Ratings, Scale, answers_of

ONE_PERSON = "a person against the others"
HALVES = "half the people against half"
"""What people reach when they are judged as models are."""

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
class Reading:
    """How answers become amounts; see :func:`~affectlab.evaluation.label_distributions`."""

    rule: Rule | None = None
    labels: Sequence[str] | None = None
    absent: Absent = "auto"
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        check_choice("absent", self.absent, ("auto", "missing", "zero"))
        check_number("smoothing", self.smoothing, 0)


@dataclass(frozen=True, eq=False)
class Votes:
    """Amounts in [0, 1] that raters gave to labels; a *ballot* is one rater's of one stimulus.

    Examples
    --------
    >>> votes = votes_of(Ratings({"stimulus": ["a", "a"], "rater": ["r", "s"],
    ...                           "value": ["joy", "awe"]}, scale="nominal:joy,awe"), Reading())
    >>> votes.pooled()[0].tolist(), votes.n_raters.tolist()
    ([[0.5, 0.5]], [2])
    """

    unit: Ints
    """Code of the stimulus of each ballot, shape (m,)."""
    rater: Ints
    """Code of the rater of each ballot, shape (m,)."""
    amount: Floats
    """Shape (m, k), ``nan`` for a label that the rater left out."""
    units: tuple[str, ...]
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    rule: str
    of_all: bool
    """Whether a label that a rater left out counts as not chosen."""
    ordered: bool
    """Whether the labels are the levels of an ordered scale."""

    @cached_property
    def n_raters(self) -> Ints:
        """Raters who answered, by stimulus, shape (n,)."""
        return np.bincount(self.unit, minlength=len(self.units)).astype(np.int64)

    def _sums(self, rows: Bools | slice = slice(None)) -> tuple[Floats, Ints]:
        """Sum amounts and count answers by stimulus and label, shape (n, k) each."""
        return sums_of_groups(self.amount[rows], self.unit[rows], len(self.units))

    def _shares(self, total: Floats, count: Ints, n_raters: Ints) -> Floats:
        """Divide sums by the raters who were asked."""
        asked = np.broadcast_to(n_raters[:, None], total.shape) if self.of_all else count
        return ratio(total, asked, 0.0)

    def pooled(self) -> tuple[Floats, Ints]:
        """Share of raters, or mean intensity, by stimulus and label; and raters by stimulus."""
        return self._shares(*self._sums(), self.n_raters), self.n_raters

    def alone(self) -> Floats:
        """What each ballot says by itself, shape (m, k)."""
        known = ~np.isnan(self.amount)
        one = np.ones(len(known), dtype=np.int64)
        return self._shares(np.where(known, self.amount, 0.0), known.astype(np.int64), one)

    def rows_of(self, stimuli: Sequence[str], units: Ints) -> Ints:
        """Places among `stimuli` of the stimuli with these codes."""
        return places_in(stimuli, self.units)[units]

    def against_others(self, smoothing: float) -> tuple[Ints, Ints, Floats, Floats]:
        """Each person's own distribution, and that of the other people, at every shared stimulus.

        Returns
        -------
        Unit and rater of m ballots, then own and the others' distributions, shape (m, k) each;
        ``nan`` where there is none.
        """
        kept = np.flatnonzero(self.n_raters[self.unit] > 1)
        unit, mine = self.unit[kept], self.amount[kept]
        total, count = self._sums()
        own = normalised(self.alone()[kept], np.ones(kept.size, dtype=np.int64))
        # Differences of sums leave rounding noise where nobody else chose a label.
        rest = np.maximum(total[unit] - np.nan_to_num(mine), 0.0)
        rest[rest < 1e-12] = 0.0
        n_others = self.n_raters[unit] - 1
        others = self._shares(rest, count[unit] - ~np.isnan(mine), n_others)
        return unit, self.rater[kept], own, normalised(others, n_others, smoothing)

    def halves(
        self, n_splits: int, smoothing: float, rng: np.random.Generator
    ) -> Iterator[tuple[Ints, Floats, Floats]]:
        """Split the people of every stimulus at random, again and again.

        Of an odd number of people one is left out.

        Yields
        ------
        Units with two people or more, and the distributions of the halves, shape (units, k) each.
        """
        if n_splits < 0:
            raise InputError(f"n_splits {n_splits}: expected 0 or more random splits")
        units = np.flatnonzero(self.n_raters > 1)
        size = self.n_raters // 2
        start = np.cumsum(self.n_raters) - self.n_raters
        for _ in range(n_splits if units.size else 0):
            order = np.lexsort((rng.random(self.unit.size), self.unit))
            rank = np.empty(self.unit.size, dtype=np.int64)
            rank[order] = np.arange(self.unit.size) - start[self.unit[order]]
            half = rank // np.maximum(size[self.unit], 1)
            first, second = (
                normalised(self._shares(*self._sums(half == one), size), size, smoothing)[units]
                for one in range(2)
            )
            yield units, first, second


def normalised(amount: Floats, n_raters: Ints, smoothing: float = 0.0) -> Floats:
    """Make amounts of so many raters sum to 1, shape (n, k); ``nan`` where nobody chose a label."""
    people = amount * n_raters[:, None]
    total = people.sum(axis=1, keepdims=True)
    raised = total + smoothing * people.shape[1]
    empty = np.full_like(people, np.nan)
    shares: Floats = np.divide(people + smoothing, raised, out=empty, where=total > 0)
    return shares


def votes_of(ratings: Ratings, reading: Reading) -> Votes:
    """Read the answers as amounts."""
    scale = ratings.scale
    chosen = reading.rule or _usual_rule(ratings)
    check_choice("rule", chosen, RULES)
    answers = answers_of(ratings)
    said = _choices(answers, scale) if chosen == "choices" else _intensity(answers, scale, chosen)
    ballots, names = said.ballots(), said.labels
    unit, rater, amount = ballots.unit, ballots.rater, ballots.value
    if reading.labels is not None:
        places, names = _select(names, reading.labels)
        amount = amount[:, places]
        answered = ~np.isnan(amount).all(axis=1)
        unit, rater, amount = unit[answered], rater[answered], amount[answered]
    if chosen == "top":
        # The strongest labels of a ballot share one vote; there is none where all are zero.
        highest = np.fmax.reduce(amount, axis=1, initial=0.0)[:, None]
        top = (amount > 0) & (amount >= highest - _TIED)
        shared = top / np.maximum(top.sum(axis=1, keepdims=True), 1)
        amount = np.where(np.isnan(amount), np.nan, shared)
    # A list of what was seen holds no zeros: there, a label that is not listed was not chosen.
    no_zero = reading.absent == "auto" and not bool((amount == 0).any())
    listed = reading.absent == "zero" or no_zero
    of_all = chosen in ("choices", "top") or listed
    return Votes(
        unit=unit,
        rater=rater,
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


def _choices(answers: Answers, scale: Scale) -> Answers:
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
    places = replace(answers, value=np.rint((answers.value - low) / step))
    return places.of_categories(scale.categories or [f"{level:g}" for level in levels])


def _intensity(answers: Answers, scale: Scale, rule: str) -> Answers:
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
    return replace(answers, value=(answers.value - scale.low) / (scale.high - scale.low))


def _select(names: tuple[str, ...], wanted: Sequence[str]) -> tuple[list[int], tuple[str, ...]]:
    """Give the places of some labels, in the order asked for."""
    chosen = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    check_choices("label", chosen, names)
    check_once("label", chosen)
    return [names.index(name) for name in chosen], chosen


_TIED = 1e-9
_SUM = 1e-6
"""How far the sum of a distribution may lie from 1."""


@dataclass(frozen=True, eq=False, repr=False)
class LabelDistributions:
    """A distribution over k labels for each of n stimuli.

    Examples
    --------
    >>> found = LabelDistributions.of([[0.5, 0.5, 0], [1, 0, 0]], ["joy", "awe", "fear"])
    >>> found
    LabelDistributions(2 stimuli, 3 labels)
    >>> found.entropy().round(4).tolist()
    [0.6931, 0.0]
    >>> found.top()
    (None, 'joy')
    """

    stimuli: tuple[str, ...]
    labels: tuple[str, ...]
    values: Floats
    """Shape (n, k); rows sum to 1, or are ``nan`` where nobody chose a label."""
    n_raters: Ints
    """Raters behind each row, shape (n,)."""
    mass: Floats
    """Sum of the amounts before they were normalised, shape (n,): for votes, the number of labels
    that a rater chose on average."""
    rule: str = "given"
    """How answers became amounts, in words."""
    ordered: bool = False
    """Whether the labels are the levels of an ordered scale."""

    @classmethod
    def of(
        cls,
        values: ArrayLike,
        labels: Sequence[str],
        stimuli: Sequence[str] | None = None,
        n_raters: ArrayLike | None = None,
    ) -> LabelDistributions:
        """Take distributions from an array of shape (n, k).

        Parameters
        ----------
        values
            Rows that sum to 1, or that are all ``nan``.
        labels, stimuli
            Names of the columns and of the rows; rows are numbered when not named.
        n_raters
            Raters behind each row; 1 when not given.

        Raises
        ------
        InputError
            When the shape does not fit, a value is negative, or a row does not sum to 1.
        """
        names = tuple(labels)
        rows = checked_rows(values, len(names))
        n = rows.shape[0]
        known = tuple(map(str, range(n))) if stimuli is None else tuple(map(str, stimuli))
        if len(known) != n:
            raise InputError(f"stimuli: {len(known)} names; expected {n}, one per row")
        check_once("stimulus", known)
        check_once("label", names)
        count = np.ones(n) if n_raters is None else np.broadcast_to(np.asarray(n_raters), (n,))
        return cls(known, names, rows, count.astype(np.int64), rows.sum(axis=1))

    @classmethod
    def _of_votes(
        cls, votes: Votes, units: Ints, amount: Floats, n_raters: Ints, smoothing: float
    ) -> LabelDistributions:
        """Make amounts of each stimulus into distributions."""
        return cls(
            tuple(votes.units[unit] for unit in units.tolist()),
            votes.labels,
            normalised(amount, n_raters, smoothing),
            n_raters,
            amount.sum(axis=1),
            f"{votes.rule}; {smoothing:g} added to each label" if smoothing else votes.rule,
            votes.ordered,
        )

    @property
    def status(self) -> tuple[str, ...]:
        """Of each stimulus: ``ok``, or ``undefined`` where nobody chose a label."""
        empty = np.isnan(self.values).any(axis=1)
        return tuple(np.where(empty, "undefined", "ok").tolist())

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.stimuli)}

    def entropy(self) -> Floats:
        """Entropy of each distribution in nats, shape (n,), in [0, ln k]."""
        from scipy.special import entr

        total: Floats = entr(self.values).sum(axis=1)
        return total

    def top(self) -> tuple[str | None, ...]:
        """Most frequent label of each stimulus; None on a tie or where nothing is known."""
        known = np.where(np.isnan(self.values), -1.0, self.values)
        highest = known.max(axis=1, keepdims=True)
        unsure = ((known >= highest - _TIED).sum(axis=1) > 1) | (highest[:, 0] < 0)
        places = zip(known.argmax(axis=1).tolist(), unsure.tolist(), strict=True)
        return tuple(None if tied else self.labels[at] for at, tied in places)

    def mean(self) -> Floats:
        """Mean distribution over the stimuli that have one, shape (k,)."""
        known = ~np.isnan(self.values).any(axis=1)
        if not known.any():
            return np.full(len(self.labels), np.nan)
        mean: Floats = self.values[known].mean(axis=0)
        return mean

    def take(self, stimuli: Sequence[str]) -> LabelDistributions:
        """Keep some stimuli, in the order asked for.

        Raises
        ------
        InputError
            When a stimulus is not known.
        """
        for name in stimuli:
            if name not in self._place:
                raise unknown_name("stimulus", str(name), self.stimuli)
        rows = np.array([self._place[name] for name in stimuli], dtype=np.int64)
        return replace(
            self,
            stimuli=tuple(stimuli),
            values=self.values[rows],
            n_raters=self.n_raters[rows],
            mass=self.mass[rows],
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per stimulus and label: stimulus, label, share, n_raters, mass, status."""
        n, k = self.values.shape
        row = np.repeat(np.arange(n), k)
        return pl.DataFrame(
            {
                "stimulus": pl.Series(self.stimuli, dtype=pl.String).gather(row),
                "label": list(self.labels) * n,
                "share": self.values.ravel(),
                "n_raters": self.n_raters[row],
                "mass": self.mass[row],
                "status": pl.Series(self.status, dtype=pl.String).gather(row),
            }
        )

    def __len__(self) -> int:
        return len(self.stimuli)

    def __repr__(self) -> str:
        rule = "" if self.rule == "given" else f", {self.rule}"
        return f"LabelDistributions({len(self)} stimuli, {len(self.labels)} labels{rule})"

    def _repr_html_(self) -> Any:
        return self.to_frame()._repr_html_()


def label_distributions(
    ratings: Ratings,
    *,
    rule: Rule | None = None,
    labels: Sequence[str] | None = None,
    absent: Absent = "auto",
    smoothing: float = 0.0,
) -> LabelDistributions:
    r"""Compute the distribution of the answers over labels, per stimulus.

    With :math:`a_{jl}` the amount of label l at stimulus j that `rule` gives, :math:`n_j` raters
    and s the `smoothing`,

    .. math:: p_{jl} = \frac{n_j a_{jl} + s}{\sum_m n_j a_{jm} + k s}.

    Parameters
    ----------
    ratings
        The answers of those who are to be described; all raters count.
    rule
        ``"choices"``: share of raters who gave each answer to the one question, whose categories
        or levels are then the labels. ``"votes"``: share of raters who chose the label; a rater
        may choose several or none. ``"intensity"``: mean of the answers, spread from 0 at the low
        end of the scale to 1 at its high end. ``"top"``: each rater's strongest labels share one
        vote. By default choices for one question, votes for binary answers to labels, intensity
        otherwise.
    labels
        Labels to keep, in this order; all when not given.
    absent
        A label that a rater left out at a stimulus is ``"missing"`` (the others' mean stands) or
        ``"zero"`` (not chosen). ``"auto"``: zero where the answers hold no zero at all, since then
        they list what was chosen; missing otherwise.
    smoothing
        Votes added to every label (additive smoothing), in raters.

    Returns
    -------
    Distributions of the stimuli that have an answer. Where all amounts are zero the row is ``nan``
    with a status: nobody chose a label, which no smoothing makes known.

    Raises
    ------
    InputError
        When the scale does not fit the rule, a label is not known, or `smoothing` is negative.

    Examples
    --------
    >>> votes = Ratings({"stimulus": ["a"] * 6, "rater": ["r", "r", "s", "s", "t", "t"],
    ...                  "label": ["joy", "awe"] * 3, "value": [1, 1, 1, 0, 1, 0]}, scale="binary")
    >>> found = label_distributions(votes)
    >>> found.values.tolist(), found.mass.round(3).tolist(), found.n_raters.tolist()
    ([[0.75, 0.25]], [1.333], [3])
    """
    return pooled_distributions(ratings, Reading(rule, labels, absent, smoothing))


def pooled_distributions(ratings: Ratings, reading: Reading) -> LabelDistributions:
    """See :func:`label_distributions`."""
    votes = votes_of(ratings, reading)
    amount, n_raters = votes.pooled()
    units = np.flatnonzero(n_raters > 0)
    return LabelDistributions._of_votes(
        votes, units, amount[units], n_raters[units], reading.smoothing
    )


def rater_distributions(
    ratings: Ratings,
    *,
    rule: Rule | None = None,
    labels: Sequence[str] | None = None,
    absent: Absent = "auto",
    smoothing: float = 0.0,
) -> dict[str, LabelDistributions]:
    """Compute the distribution that each rater alone gives, per stimulus.

    One answer per stimulus becomes a distribution with all mass on it; scores of labels, such as
    the probabilities of a classifier, are made to sum to 1.

    Parameters
    ----------
    ratings, rule, labels, absent, smoothing
        As for :func:`label_distributions`.

    Returns
    -------
    Distributions by rater.

    Examples
    --------
    >>> model = Ratings({"stimulus": ["a", "b"], "rater": ["m", "m"], "value": ["joy", "fear"]},
    ...                 scale="nominal:joy,fear")
    >>> rater_distributions(model)["m"].values.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return own_distributions(ratings, Reading(rule, labels, absent, smoothing))


def own_distributions(ratings: Ratings, reading: Reading) -> dict[str, LabelDistributions]:
    """See ``rater_distributions``."""
    votes = votes_of(ratings, reading)
    amount = votes.alone()
    found = {}
    for code, name in enumerate(votes.raters):
        rows = np.flatnonzero(votes.rater == code)
        if rows.size:
            one = np.ones(rows.size, dtype=np.int64)
            found[name] = LabelDistributions._of_votes(
                votes, votes.unit[rows], amount[rows], one, reading.smoothing
            )
    return found


def checked_rows(values: ArrayLike, k: int | None = None) -> Floats:
    """Distributions as an array of shape (n, k), each row summing to 1 or all ``nan``."""
    rows = as_floats(values, "expected an array of shares, one row per stimulus").copy()
    if rows.ndim != 2 or (k is not None and rows.shape[1] != k):
        wanted = "one row per stimulus" + ("" if k is None else f", {k} columns")
        raise InputError(f"expected an array with {wanted}, got shape {rows.shape}")
    known = ~np.isnan(rows).all(axis=1)
    with np.errstate(invalid="ignore"):
        wrong = known & ~((rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1) <= _SUM))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"row {row}: the shares sum to {rows[row].sum():.4g}, the smallest is "
            f"{rows[row].min():.4g}; expected shares of at least 0 that sum to 1"
        )
    rows[known] /= rows[known].sum(axis=1, keepdims=True)
    return rows
