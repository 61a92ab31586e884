"""Votes counted by item, and their shares in every replicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.inference import DrawnTarget, draw_weights
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.preference.choices import Comparisons

Rule: TypeAlias = Literal["majority", "plurality"]

ENOUGH_JUDGES = 5
"""Fewest judges whose differences are taken into intervals unless the caller says so."""
_CELLS = 1 << 22
"""Tallies that are held at once."""


def no_verdict(rule: Rule) -> str:
    """Name what an item is whose votes give no verdict."""
    return "no majority" if rule == "majority" else "tied"


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

    @classmethod
    def of(cls, votes: Comparisons) -> Tally:
        """Count votes between two systems, by item."""
        choices = (*(votes.systems[code[0]] for code in (votes.first, votes.second)), *votes.others)
        counts = np.zeros((len(votes.items), len(choices)))
        np.add.at(counts, (votes.item, votes.choice), 1.0)
        return cls(counts, choices, votes.items, votes)

    @property
    def repeated(self) -> bool:
        """Whether any item has more than one vote."""
        return bool(self.items) and bool((self.counts.sum(axis=1) > 1).any())

    @property
    def n_judges(self) -> int:
        """Judges; 0 where they are not known."""
        return 0 if self.votes is None else len(self.votes.judges)

    @property
    def by_judge(self) -> Floats:
        """Votes of every judge for each choice, shape (judges, choices)."""
        counts = np.zeros((self.n_judges, len(self.choices)))
        if self.votes is not None:
            np.add.at(counts, (self.votes.judge, self.votes.choice), 1.0)
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


def target_of(target: DrawnTarget | None, n_judges: int) -> DrawnTarget | None:
    """Say what intervals are about; by default judges, too, where there are enough of them."""
    known = get_args(DrawnTarget)
    if target not in (None, *known):
        raise unknown_name("target", str(target), known)
    if target in ("raters", "both") and n_judges < 2:
        given = "one judge" if n_judges else "the judges are not known"
        raise InputError(
            f"target {target!r}: {given}; expected two or more judges, or target='stimuli'"
        )
    return target or ("both" if n_judges >= ENOUGH_JUDGES else None)


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
    of_items, of_judges = _between(tally.counts), _between(tally.by_judge)
    if over != "both":
        return of_items if over == "stimuli" else of_judges
    single = []
    for votes in (tally.counts.sum(axis=0), tally.counts[:, :2].sum(axis=0)):
        total = max(votes.sum(), 1.0)
        single.append(votes / total * (1 - votes / total) / total)
    larger = np.maximum(of_items, of_judges)
    both: Floats = np.maximum(of_items + of_judges - np.concatenate(single), larger)
    return both


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


def crossed_weights(
    rng: np.random.Generator,
    target: DrawnTarget,
    n_items: int,
    n_judges: int,
    n_boot: int,
    size: int,
) -> Iterator[tuple[Floats, Floats]]:
    """Draw items, judges or both, in blocks of at most `size` replicates: how often each counts."""
    for start in range(0, n_boot, size):
        n = min(size, n_boot - start)
        items, judges = (np.broadcast_to(1.0, (n, of)) for of in (n_items, n_judges))
        if target != "raters":
            items = np.concatenate(list(draw_weights(rng, n_items, n)))
        if target != "stimuli":
            judges = np.concatenate(list(draw_weights(rng, n_judges, n)))
        yield items, judges


def replicates(tally: Tally, target: DrawnTarget, n_boot: int, rng: np.random.Generator) -> Floats:
    """Compute the shares of votes, and of decided votes, in every replicate.

    Items are drawn, or judges, or both; then a vote counts as often as its item times its judge.

    Returns
    -------
    Shape (n_boot, choices + 2), ``nan`` where a share is of nothing.
    """
    votes, chosen, wide = tally.votes, np.zeros((0, 0)), max(len(tally.items), tally.n_judges)
    if target == "both" and votes is not None:
        chosen, wide = np.eye(len(tally.choices))[votes.choice], votes.choice.size
    drawn = []
    for items, judges in crossed_weights(
        rng, target, len(tally.items), tally.n_judges, n_boot, max(1, _CELLS // wide)
    ):
        if target == "both" and votes is not None:
            drawn.append((items[:, votes.item] * judges[:, votes.judge]) @ chosen)
        else:
            drawn.append(items @ tally.counts if target == "stimuli" else judges @ tally.by_judge)
    counts = np.concatenate(drawn)
    out = np.empty((n_boot, counts.shape[1] + 2))
    for part, place in ((counts, slice(0, -2)), (counts[:, :2], slice(-2, None))):
        total = part.sum(axis=1, keepdims=True)
        out[:, place] = np.divide(part, total, out=np.full(part.shape, np.nan), where=total > 0)
    return out


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
