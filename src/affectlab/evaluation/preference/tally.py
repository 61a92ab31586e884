"""Votes counted by item, the shares that follow from them, and these shares in every replicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from affectlab.core.inference import DrawnTarget, draw_weights
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.preference.choices import Comparisons

__all__ = [
    "Rule",
    "Tally",
    "clustered_variance",
    "exact_interval",
    "no_verdict",
    "replicates",
    "shares",
    "tally_of",
    "verdicts",
]

Rule: TypeAlias = Literal["majority", "plurality"]

_CELLS = 1 << 22
"""Tallies that are held at once."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Votes for each choice on each item; the first two choices are the systems."""

    counts: Floats
    """Shape (items, choices)."""
    choices: tuple[str, ...]
    items: tuple[str, ...]
    votes: Comparisons | None = None
    """The votes one by one, where judges are known."""
    choice: Ints | None = None
    """Choice of each vote, a code into ``choices``."""
    single: bool = False
    """Whether only totals are known: one row of counts, and no items."""

    @property
    def repeated(self) -> bool:
        """Whether any item has more than one vote."""
        return not self.single and bool((self.counts.sum(axis=1) > 1).any())

    def rows(self, rule: Rule) -> list[tuple[str, str]]:
        """Name the shares, in the order of :func:`shares`."""
        systems = self.choices[:2]
        rows = [("votes", choice) for choice in self.choices]
        rows += [("decided votes", system) for system in systems]
        if not self.repeated:
            return rows
        rows += [("items", name) for name in (*systems, "tied")]
        rows += [("decided items", system) for system in systems]
        rows += [("verdicts", name) for name in (*self.choices, no_verdict(rule))]
        return rows + [("decided verdicts", system) for system in systems]


def no_verdict(rule: Rule) -> str:
    """Name what an item is whose votes give no verdict."""
    return "no majority" if rule == "majority" else "tied"


def tally_of(found: Comparisons, systems: tuple[str, str]) -> Tally:
    """Count the votes between two systems, whichever of them came first."""
    a, b = (found.systems.index(name) for name in systems)
    kept = found.take(
        ((found.first == a) & (found.second == b)) | ((found.first == b) & (found.second == a))
    )
    present, item = np.unique(kept.item, return_inverse=True)
    # The choice of the first or second becomes the choice of system a or b.
    turned = (kept.first == b) & (kept.choice < 2)
    choice = np.where(turned, 1 - kept.choice, kept.choice)
    order = np.argsort(item, kind="stable")
    kept = _reordered(kept, item.astype(np.int64), order)
    choice = choice[order]
    counts = np.zeros((present.size, 2 + len(found.others)))
    np.add.at(counts, (kept.item, choice), 1.0)
    return Tally(
        counts=counts,
        choices=(*systems, *found.others),
        items=tuple(found.items[k] for k in present.tolist()),
        votes=kept,
        choice=choice,
    )


def _reordered(kept: Comparisons, item: Ints, order: Ints) -> Comparisons:
    judges, judge = np.unique(kept.judge, return_inverse=True)
    names = tuple(kept.judges[k] for k in judges.tolist())
    parts = {
        name: getattr(kept, name)[order] for name in ("first", "second", "choice", "first_left")
    }
    return replace(
        kept, item=item[order], judge=judge.astype(np.int64)[order], judges=names, **parts
    )


def verdicts(counts: Floats, rule: Rule) -> Ints:
    """Verdict of every item, a code into the choices; the number of choices where there is none.

    Parameters
    ----------
    counts
        Votes, shape (items, choices).
    """
    most = counts.max(axis=1)
    if rule == "majority":
        clear = 2 * most > counts.sum(axis=1)
    else:
        clear = (counts == most[:, None]).sum(axis=1) == 1
    winner: Ints = np.where(clear, counts.argmax(axis=1), counts.shape[1])
    return winner


def shares(tally: Tally, rule: Rule) -> tuple[Floats, Floats]:
    """Count every row of the table, and out of how many; both of shape (rows,)."""
    votes = tally.counts.sum(axis=0)
    parts = [votes, votes[:2]]
    if tally.repeated:
        lead = tally.counts[:, 0] - tally.counts[:, 1]
        preferred = np.array([(lead > 0).sum(), (lead < 0).sum(), (lead == 0).sum()], dtype=float)
        n_choices = len(tally.choices)
        decided = np.bincount(verdicts(tally.counts, rule), minlength=n_choices + 1).astype(float)
        parts += [preferred, preferred[:2], decided, decided[:2]]
    return np.concatenate(parts), np.concatenate([np.full(p.size, p.sum()) for p in parts])


def clustered_variance(tally: Tally, over: DrawnTarget) -> Floats:
    r"""Compute the variance of the shares of votes, votes on one item (or by a judge) belonging
    together.

    With :math:`e_v` the part that vote v has in the error of a share, and sums over the votes of
    an item or judge squared, :math:`V = V_{items} + V_{judges} - V_{votes}`, at least the larger
    of the first two (Cameron, Gelbach and Miller 2011).

    Returns
    -------
    Shape (choices + 2,), in the order of :func:`replicates`.
    """
    of_items = _between(tally.counts)
    if over == "stimuli":
        return of_items
    of_judges = _between(_votes_of_judges(tally))
    if over == "raters":
        return of_judges
    votes = tally.counts.sum(axis=0)
    single = np.concatenate([_binomial(votes), _binomial(votes[:2])])
    both: Floats = np.maximum(of_items + of_judges - single, np.maximum(of_items, of_judges))
    return both


def _binomial(votes: Floats) -> Floats:
    total = votes.sum()
    share = votes / max(total, 1.0)
    variance: Floats = share * (1 - share) / max(total, 1.0)
    return variance


def _between(counts: Floats) -> Floats:
    """Variance from sums over clusters, the rows of ``counts``."""
    out = []
    for part in (counts, counts[:, :2]):
        of_cluster = part.sum(axis=1, keepdims=True)
        total = max(float(of_cluster.sum()), 1.0)
        n = int((of_cluster > 0).sum())
        error = part - of_cluster * (part.sum(axis=0) / total)
        out.append((error**2).sum(axis=0) / total**2 * n / max(n - 1, 1))
    return np.concatenate(out)


def _votes_of_judges(tally: Tally) -> Floats:
    """Votes of every judge for each choice, shape (judges, choices)."""
    votes, choice = tally.votes, tally.choice
    if votes is None or choice is None:
        return np.zeros((0, len(tally.choices)))
    of_judge = np.zeros((len(votes.judges), len(tally.choices)))
    np.add.at(of_judge, (votes.judge, choice), 1.0)
    return of_judge


def replicates(tally: Tally, target: DrawnTarget, n_boot: int, rng: np.random.Generator) -> Floats:
    """Compute the shares of votes, and of decided votes, in every replicate.

    Items are drawn, or judges, or both; then a vote counts as often as its item times its judge.

    Returns
    -------
    Shape (n_boot, choices + 2), ``nan`` where a share is of nothing.
    """
    votes = np.concatenate(list(_drawn(tally, target, n_boot, rng)))
    out = np.empty((n_boot, votes.shape[1] + 2))
    for part, place in ((votes, slice(0, -2)), (votes[:, :2], slice(-2, None))):
        total = part.sum(axis=1, keepdims=True)
        out[:, place] = np.divide(part, total, out=np.full(part.shape, np.nan), where=total > 0)
    return out


def _drawn(
    tally: Tally, target: DrawnTarget, n_boot: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Votes for each choice, shape (replicates, choices), in blocks of replicates."""
    n_items, n_choices = tally.counts.shape
    votes, choice = tally.votes, tally.choice
    if target == "stimuli" or votes is None or choice is None:
        for items in draw_weights(rng, n_items, n_boot):
            yield items @ tally.counts
        return
    n_judges = len(votes.judges)
    of_judge = _votes_of_judges(tally)
    if target == "raters":
        for judges in draw_weights(rng, n_judges, n_boot):
            yield judges @ of_judge
        return
    chosen = np.zeros((choice.size, n_choices))
    chosen[np.arange(choice.size), choice] = 1.0
    size = max(1, _CELLS // choice.size)
    for first in range(0, n_boot, size):
        n = min(size, n_boot - first)
        items = np.concatenate(list(draw_weights(rng, n_items, n)))
        judges = np.concatenate(list(draw_weights(rng, n_judges, n)))
        yield (items[:, votes.item] * judges[:, votes.judge]) @ chosen


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
