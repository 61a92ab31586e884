"""Votes counted by item, and their shares in every replicate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, unknown_name
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Target
from affectlab.core.statistic import STIMULI_AND_RATERS, Design, Draws, Statistic
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.preference.choices import Comparisons
from affectlab.evaluation.preference.clusters import without_each

Rule: TypeAlias = Literal["majority", "plurality"]

ENOUGH_JUDGES = 5
"""Fewest judges whose differences are taken into intervals unless the caller says so."""


def no_verdict(rule: Rule) -> str:
    """Name what an item is whose votes give no verdict."""
    return "no majority" if rule == "majority" else "tied"


_BLOCK = 1 << 22
"""Weights of votes that are held at once."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Votes for each choice on each item; the first two choices are the systems."""

    counts: Floats
    """Shape (items, choices)."""
    choices: tuple[str, ...]
    items: tuple[str, ...] = ()
    """Empty where only totals are known, as one row of counts."""
    votes: Comparisons | None = None
    """The votes one by one, where judges are known."""
    clusters: tuple[Ints, Ints] | None = None
    """What the item, and the judge, of each vote belong to, where judges are known."""

    @classmethod
    def of(cls, votes: Comparisons, clusters: tuple[Ints, Ints]) -> Tally:
        """Count votes between two systems, by item."""
        choices = (*(votes.systems[code[0]] for code in (votes.first, votes.second)), *votes.others)
        counts = np.zeros((len(votes.items), len(choices)))
        np.add.at(counts, (votes.item, votes.choice), 1.0)
        return cls(counts, choices, votes.items, votes, clusters)

    @property
    def repeated(self) -> bool:
        """Whether any item has more than one vote."""
        return bool(self.items) and bool((self.counts.sum(axis=1) > 1).any())

    @property
    def n_judges(self) -> int:
        """Judges; 0 where they are not known."""
        return 0 if self.votes is None else len(self.votes.judges)

    @cached_property
    def single(self) -> tuple[Ints, Ints, Ints]:
        """Clusters of the item and of the judge of each vote, and what was chosen."""
        if self.votes is not None and self.clusters is not None:
            return *self.clusters, self.votes.choice
        item, choice = (
            np.repeat(at, self.counts[self.counts > 0].astype(np.int64))
            for at in np.nonzero(self.counts)
        )
        return item, np.zeros_like(item), choice

    @property
    def n_clusters(self) -> tuple[int, int]:
        """Clusters of items, and of judges: 0 where judges are not known."""
        if self.clusters is None:
            return len(self.items), 0
        n_items, n_judges = (int(code.max(initial=-1)) + 1 for code in self.clusters)
        return n_items, n_judges

    @property
    def apart(self) -> bool:
        """Whether each vote is on an item that has no other, and that belongs to no other."""
        return not self.items or self.n_clusters[0] == int(self.counts.sum())

    def of_clusters(self, cluster: Ints) -> Floats:
        """Votes of every cluster for each choice, from the cluster of each vote."""
        counts = np.zeros((int(cluster.max(initial=-1)) + 1, len(self.choices)))
        np.add.at(counts, (cluster, self.single[2]), 1.0)
        return counts

    def parts(self, rule: Rule) -> dict[str, tuple[tuple[str, ...], Floats]]:
        """Give what shares are of: the names of what was counted, and how often."""
        systems, votes = self.choices[:2], self.counts.sum(axis=0)
        parts = {"votes": (self.choices, votes)}
        if self.repeated:
            lead = np.sign(self.counts[:, 0] - self.counts[:, 1])
            parts["items"] = ((*systems, "tied"), np.array([(lead == k).sum() for k in (1, -1, 0)]))
            names = (*self.choices, no_verdict(rule))
            decided = np.bincount(self.verdicts(rule), minlength=len(names))
            parts["verdicts"] = (names, decided)
        return {
            about: part
            for name, (names, counts) in parts.items()
            for about, part in (
                (name, (names, counts.astype(np.float64))),
                (f"decided {name}", (systems, counts[:2].astype(np.float64))),
            )
        }

    def verdicts(self, rule: Rule) -> Ints:
        """Verdict of every item, a code into the choices; their number where there is none."""
        most = self.counts.max(axis=1)
        if rule == "majority":
            clear = 2 * most > self.counts.sum(axis=1)
        else:
            clear = (self.counts == most[:, None]).sum(axis=1) == 1
        winner: Ints = np.where(clear, self.counts.argmax(axis=1), self.counts.shape[1])
        return winner


def target_of(target: Target | None, n_judges: int) -> Target | None:
    """Say what intervals are about; by default judges, too, where there are enough of them."""
    known = get_args(Target)
    if target not in (None, *known):
        raise unknown_name("target", str(target), known)
    if target in ("raters", "both") and n_judges < 2:
        given = "one judge" if n_judges else "the judges are not known"
        raise InputError(
            f"target {target!r}: {given}; expected two or more judges, or target='stimuli'"
        )
    return target or ("both" if n_judges >= ENOUGH_JUDGES else None)


def clustered_spread(tally: Tally, over: Target) -> tuple[Floats, Floats]:
    """Leave out clusters of items, of judges, or both, one after the other.

    Returns
    -------
    Standard errors and degrees of freedom of the shares of votes, in the order of
    :func:`statistic_of`.
    """
    item, judge, _ = tally.single
    value = _shares(tally.of_clusters(item).sum(axis=0, keepdims=True))[0]

    def without(cluster: Ints) -> tuple[Floats, Ints]:
        counts = tally.of_clusters(cluster)
        counts = counts[counts.any(axis=1)]
        return _shares(counts.sum(axis=0) - counts), np.ones(len(counts), dtype=np.int64)

    return without_each(over, item, judge, value, without).spread()


def _shares(counts: Floats) -> Floats:
    """Shares of votes, and of votes for a system, ``nan`` where a share is of nothing."""
    out = np.empty((len(counts), counts.shape[1] + 2))
    for part, place in ((counts, slice(0, -2)), (counts[:, :2], slice(-2, None))):
        total = part.sum(axis=1, keepdims=True)
        out[:, place] = ratio(part, total)
    return out


def statistic_of(tally: Tally, drawn: str) -> Statistic:
    """Make a statistic of the shares of votes, and of decided votes.

    A vote counts as often as its item times its judge.

    Parameters
    ----------
    drawn
        What is drawn, in words.
    """
    item, judge, choice = tally.single
    chosen = np.eye(len(tally.choices))[choice]
    n_rows = len(tally.choices) + 2

    def evaluate(draws: Draws) -> Floats:
        if draws.rater is None:
            return _shares(draws.totals(tally.of_clusters(item)))
        counts = []
        for _, part in draws.blocks(max(1, _BLOCK // max(choice.size, 1))):
            assert part.rater is not None
            weights = part.rater[:, judge]
            if part.stimulus is not None:
                weights = weights * part.stimulus[:, item]
            counts.append(weights @ chosen)
        return _shares(np.concatenate(counts))

    items, judges = (np.ones((n_rows, n), dtype=np.bool_) for n in tally.n_clusters)
    return Statistic(
        keys={"choice": [*tally.choices, *tally.choices[:2]]},
        design=Design(items, judges),
        evaluate=evaluate,
        method=["share"] * n_rows,
        n_items=[len(tally.items)] * n_rows,
        n_raters=[tally.n_judges] * n_rows,
        n_ratings=[choice.size] * n_rows,
        undefined=Reason(Cause.NONE, of="decided votes"),
        bounds=(0.0, 1.0),
        targets=STIMULI_AND_RATERS,
        redrawn=f"{drawn} drawn",
    )


def exact_interval(k: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Give the interval of Clopper and Pearson for ``k`` of ``n``; ``nan`` where n is 0."""
    from scipy.special import betaincinv

    count, total = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    tail = (1 - confidence) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(count > 0, betaincinv(np.maximum(count, 1e-9), total - count + 1, tail), 0.0)
        high = np.where(
            count < total,
            betaincinv(count + 1, np.maximum(total - count, 1e-9), 1 - tail),
            1.0,
        )
    return np.where(total > 0, low, np.nan), np.where(total > 0, high, np.nan)
