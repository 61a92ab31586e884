"""What people, or one rater, say of each stimulus: a distribution over labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.soft_labels.votes import (
    Absent,
    Reading,
    Rule,
    Votes,
    normalised,
    votes_of,
)
from affectlab.ratings import Ratings

__all__ = ["LabelDistributions", "label_distributions", "rater_distributions"]

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
        if len(set(known)) != n:
            raise InputError("stimuli: a name stands twice; expected one row per stimulus")
        if len(set(names)) != len(names):
            raise InputError("labels: a name stands twice; expected one column per label")
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
        """Of each stimulus: ``ok``, or why it has no distribution."""
        empty = np.isnan(self.values).any(axis=1)
        return tuple(np.where(empty, "undefined: nobody chose a label", "ok").tolist())

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
    try:
        rows = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("expected an array of shares, one row per stimulus") from None
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
