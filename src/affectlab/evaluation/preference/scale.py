"""A scale of systems from choices between two of them at a time."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.inference import (
    DrawnTarget,
    Uncertainty,
    check_confidence,
    check_n_boot,
    crossing_p,
    draw_weights,
    summarise,
)
from affectlab.core.tables import Count, Figure, Interval, Number, PValue, Share, Value
from affectlab.core.types import Floats, Ints
from affectlab.core.words import joined, percent, plural
from affectlab.evaluation.preference.choices import Comparisons, comparisons_of
from affectlab.ratings import Ratings
from affectlab.ratings.order import canonical

__all__ = [
    "MODELS",
    "PreferenceScale",
    "chance_of_win",
    "fit_strengths",
    "preference_scale",
    "why_undefined",
]

# Strengths of systems from counts of wins: Bradley-Terry by choix, Thurstone by Newton steps.


MODELS = ("bradley-terry", "thurstone")

_ROUNDS = 1000
_NEWTON_ROUNDS = 100
_SMALL = 1e-10


def fit_strengths(wins: Floats, model: str) -> Floats | None:
    """Give the strengths of largest likelihood, with mean 0; None where the search fails.

    Parameters
    ----------
    wins
        How often the row was chosen over the column, shape (k, k); need not be whole. Everyone has
        to have won and lost, directly or through others, for there to be a maximum.
    model
        A name of :data:`MODELS`.
    """
    return _bradley_terry(wins) if model == "bradley-terry" else _thurstone(wins)


def chance_of_win(difference: Floats, model: str) -> Floats:
    """Give the chance that the first wins from the difference of strengths."""
    from scipy.special import expit, ndtr

    chance: Floats = expit(difference) if model == "bradley-terry" else ndtr(difference)
    return chance


def _bradley_terry(wins: Floats) -> Floats | None:
    from choix import ilsr_pairwise_dense

    try:
        with warnings.catch_warnings():
            # Strengths that run away are told by the result, not by how it came about.
            warnings.simplefilter("ignore", RuntimeWarning)
            found = np.asarray(ilsr_pairwise_dense(wins, alpha=0.0, max_iter=_ROUNDS))
    except (RuntimeError, ValueError):
        return None
    return found - found.mean() if np.isfinite(found).all() else None


def _thurstone(wins: Floats) -> Floats | None:
    """Maximise sum wins_ij log Phi(s_i - s_j), which is concave."""
    from scipy.special import log_ndtr

    k = wins.shape[0]
    strength = np.zeros(k)

    def loss(at: Floats) -> float:
        return -float((wins * log_ndtr(at[:, None] - at)).sum())

    now = loss(strength)
    for _ in range(_NEWTON_ROUNDS):
        apart = strength[:, None] - strength
        # phi / Phi, by logarithms, so that it holds far out in the tail.
        ratio = np.exp(-0.5 * apart**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(apart))
        slope = wins * ratio
        bend = wins * ratio * (ratio + apart)
        bend = bend + bend.T
        gradient = slope.sum(axis=1) - slope.sum(axis=0)
        # Strengths have no zero of their own: the ones fix their mean.
        hessian = np.diag(bend.sum(axis=1)) - bend + 1.0 / k
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > _SMALL and not loss(strength + size * step) <= now:
            size /= 2
        strength = strength + size * step
        strength -= strength.mean()
        now = loss(strength)
        if np.abs(step).max() * size < _SMALL * max(1.0, np.abs(strength).max()):
            return strength
    return None


def why_undefined(wins: Floats, systems: tuple[str, ...]) -> str:
    """Say why there is no finite scale; empty where there is one.

    There is one when every system has a chain of wins over every other one (Ford 1957).
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    won = csr_matrix(wins > 0)
    groups, _ = connected_components(won, connection="weak")
    if groups > 1:
        return f"undefined: {groups} groups of systems were never compared with each other"
    parts, of = connected_components(won, connection="strong")
    if parts == 1:
        return ""
    # Of a part that no other wins over, nobody knows how far ahead it is.
    for part in range(parts):
        inside = of == part
        name = joined(np.array(systems, dtype=object)[inside][:5].tolist())
        if not (wins[np.ix_(~inside, inside)] > 0).any():
            return f"undefined: {name} never lost to the others (prior gives a finite scale)"
    return "undefined: no chain of wins over all (prior gives a finite scale)"


def connected(wins: Floats) -> bool:
    """Say whether every system has a chain of wins over every other one."""
    reach = wins > 0
    np.fill_diagonal(reach, True)
    steps = 1
    while steps < wins.shape[0]:
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
        steps *= 2
    return bool(reach.all())


Model: TypeAlias = Literal["bradley-terry", "thurstone"]
Ties: TypeAlias = Literal["half", "drop"]

_ENOUGH_JUDGES = 5
_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class _Wins:
    """Wins one by one, each in the cell winner x k + loser of a vote."""

    vote: Ints
    cell: Ints
    weight: Floats
    """1, or 1/2 for either side of a tie."""
    item: Ints
    judge: Ints
    """Of each vote."""
    systems: tuple[str, ...]
    ties: Floats
    """Ties between every two, shape (k, k)."""

    @property
    def matrix(self) -> Floats:
        """Wins of the row over the column, shape (k, k)."""
        k = len(self.systems)
        wins: Floats = np.bincount(self.cell, self.weight, minlength=k * k).astype(np.float64)
        return wins.reshape(k, k)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class PreferenceScale(Estimates):
    """Strengths of systems on one scale, by ``system``, strongest first, with mean 0.

    Made by :func:`preference_scale`.
    """

    systems: tuple[str, ...]
    """In the order of the arrays, which is that of the names."""
    wins: Floats
    """How often the row was chosen over the column, ties counting half, shape (k, k)."""
    model: Model
    replicates: Floats | None  # type: ignore[assignment]
    """Strengths, shape (n_boot, k), ``nan`` where a replicate has no scale."""
    confidence: float

    def pairs(self) -> Estimates:
        """Compare every two systems.

        Returns
        -------
        Chance that a system is chosen over the other, as the scale has it, by ``system`` and
        ``other``, in [0, 1], with extra columns ``difference`` of strengths, ``observed``, the
        share of their comparisons that the first won (ties counting half), and ``p``, from the
        replicates, for no difference.

        Examples
        --------
        >>> wins = [[0, 30], [10, 0]]
        >>> round(preference_scale(wins, systems=["a", "b"]).pairs()["a", "b"].value, 2)
        0.75
        """
        place = {name: k for k, name in enumerate(self.systems)}
        frame = self.frame
        order = [place[name] for name in frame["system"].to_list()]
        strength = dict(zip(order, frame["value"].to_list(), strict=True))
        two = list(combinations(order, 2))
        apart = np.array([strength[a] - strength[b] for a, b in two])
        n = np.array([self.wins[a, b] + self.wins[b, a] for a, b in two])
        with np.errstate(invalid="ignore"):
            observed = np.array([self.wins[a, b] for a, b in two]) / n
        spread, p = Uncertainty.none(len(two)), np.full(len(two), np.nan)
        chance = chance_of_win(apart, self.model)
        if self.replicates is not None:
            drawn = np.stack(
                [self.replicates[:, a] - self.replicates[:, b] for a, b in two], axis=1
            )
            spread = summarise(chance, chance_of_win(drawn, self.model), self.confidence)
            p = np.where(np.isnan(spread.low), np.nan, crossing_p(drawn))
        first = frame.row(0, named=True)
        table = Estimates.build(
            {
                "system": [self.systems[a] for a, _ in two],
                "other": [self.systems[b] for _, b in two],
            },
            value=chance,
            **spread.ends,
            method=f"chance of being chosen; {first['method']}",
            resampled=first["resampled"],
            n_items=first["n_items"],
            n_raters=first["n_raters"],
            n_ratings=np.rint(n).astype(np.int64),
            status=first["status"],
            extra={"difference": apart, "observed": observed, "p": p},
        )
        return table.laid_out(
            Value(head="chance"),
            Interval(),
            Number("observed"),
            PValue("p", "p"),
            name="pairs",
            caption="Chance that the first is chosen over the other.",
        )


def preference_scale(
    ratings: Ratings | ArrayLike,
    *,
    systems: Sequence[str] | None = None,
    model: Model = "bradley-terry",
    ties: Ties = "half",
    prior: float = 0.0,
    target: DrawnTarget | None = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> PreferenceScale:
    r"""Put systems on one scale, from choices between two of them at a time.

    With strengths :math:`s`, system i is chosen over j with the chance

    .. math:: P(i \succ j) = \frac{1}{1 + e^{-(s_i - s_j)}} \;\text{(Bradley-Terry)}, \qquad
        P(i \succ j) = \Phi(s_i - s_j) \;\text{(Thurstone, case V)}.

    Parameters
    ----------
    ratings
        Ratings on a nominal scale whose stimuli say in columns named like two choices (``A`` and
        ``B``) which systems stood there, as for :func:`preferences`; or wins of shape (k, k), how
        often the row was chosen over the column, with `systems`.
    systems
        Names of the rows of an array.
    model
        Scale of strengths: Bradley-Terry, fitted by the library choix, or Thurstone, case V.
    ties
        Answers for neither side: half a win for both, or left out.
    prior
        Wins that every system is given over every other beforehand; 0.5 makes the scale finite
        where one never lost.

        With 0 a system that never lost is infinitely strong, and there is no scale; any prior draws
        all strengths together.
    target
        What intervals are about: other items, other judges, or both (rather too wide than too
        narrow); by default both with five or more judges, and items otherwise.

        Wins of an array are drawn one by one.
    n_boot
        Bootstrap replicates; 0 for no interval.
    confidence
        Coverage of the intervals, in (0, 1).
    seed
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    PreferenceScale by ``system``, with extra columns ``wins``, ``losses``, ``ties``, ``rank``, and
    ``first``: the share of replicates in which the system is the strongest. Where there is no
    scale, because systems were never compared or one never lost, values are ``nan`` and the status
    says which. Replicates without a scale are left out and counted in ``method``.

    Raises
    ------
    InputError
        If the answers do not compare systems, or an option cannot be used.

    References
    ----------
    Bradley and Terry (1952); Thurstone (1927); Ford (1957) for when there is a scale; Maystre and
    Grossglauser (2015) for the algorithm of choix.

    Examples
    --------
    >>> wins = [[0, 12, 18], [8, 0, 13], [2, 7, 0]]
    >>> scale = preference_scale(wins, systems=["human", "large", "small"])
    >>> [round(value, 2) for value in scale.to_frame()["value"]]
    [0.77, 0.08, -0.85]
    """
    ratings = canonical(ratings)
    check_confidence(confidence)
    _check(model, ties, prior, target, n_boot)
    if isinstance(ratings, Ratings):
        if systems is not None:
            raise InputError("systems goes with an array; ratings name their systems themselves")
        found = comparisons_of(ratings)
        wins = _from_comparisons(found, ties)
        items, judges = (np.unique(codes).size for codes in (found.item, found.judge))
    else:
        wins, items, judges = _from_matrix(ratings, systems), 0, 0
    over = _drawn(target, judges)
    matrix = wins.matrix
    status = "" if prior > 0 else why_undefined(matrix, wins.systems)
    strength = None if status else fit_strengths(_with_prior(matrix, prior), model)
    if strength is None:
        status = status or "undefined: the search for the strengths did not converge"
        strength = np.full(len(wins.systems), np.nan)
    drawn = None
    if n_boot:
        rng = np.random.default_rng(seed)
        drawn = _replicates(wins, over, model, prior, n_boot, rng)
    notes = []
    if isinstance(ratings, Ratings) and target is None and judges < _ENOUGH_JUDGES and n_boot:
        notes.append(
            f"{plural(judges, 'judge')}: intervals are about other items, not about other judges"
        )
    table = _table(wins, strength, drawn, model, prior, over, status, confidence, (items, judges))
    made = PreferenceScale(
        tables=table.tables,
        notes=tuple(notes),
        settings={"model": model, "ties": ties, "prior": prior, "confidence": confidence},
        systems=wins.systems,
        wins=matrix,
        model=model,
        replicates=drawn,
        confidence=confidence,
    )
    if status:
        return replace(made, sentences=(f"There is no scale ({status}).",))
    strongest = table.frame.row(0, named=True)
    sure = f", and is first in {percent(strongest['first'], 1)} of replicates" if n_boot else ""
    said = f"{strongest['system']} is strongest{sure}."
    figure = Figure(
        "preference_scale",
        "intervals",
        "scale",
        "Strength in pairwise choices",
        description=said,
        options={"value_name": "strength", "lines": [(0.0, "mean")]},
    )
    tables = (*made.tables, *made.pairs().tables)
    return replace(made, tables=tables, sentences=(said,), figures=(figure,))


def _check(model: str, ties: str, prior: float, target: str | None, n_boot: int) -> None:
    check_choice("model", model, MODELS)
    check_choice("ties", ties, ("half", "drop"))
    if not 0 <= prior < np.inf:
        raise InputError(f"prior {prior!r}: expected a number of wins from 0")
    if target not in (None, *get_args(DrawnTarget)):
        raise unknown_name("target", str(target), get_args(DrawnTarget))
    check_n_boot(n_boot)


def _drawn(target: DrawnTarget | None, judges: int) -> DrawnTarget:
    if target in ("raters", "both") and judges < 2:
        raise InputError(f"target {target!r}: expected two or more judges; the data name {judges}")
    return target or ("both" if judges >= _ENOUGH_JUDGES else "stimuli")


def _from_comparisons(found: Comparisons, ties: Ties) -> _Wins:
    k = len(found.systems)
    tied = found.choice > 1
    forth, back = found.first * k + found.second, found.second * k + found.first
    votes = np.arange(found.item.size)
    decided = np.where(found.choice == 0, forth, back)
    parts = [(votes[~tied], decided[~tied], 1.0)]
    if ties == "half":
        parts += [(votes[tied], forth[tied], 0.5), (votes[tied], back[tied], 0.5)]
    return _Wins(
        vote=np.concatenate([vote for vote, _, _ in parts]),
        cell=np.concatenate([cell for _, cell, _ in parts]),
        weight=np.concatenate([np.full(vote.size, weight) for vote, _, weight in parts]),
        item=np.unique(found.item, return_inverse=True)[1].astype(np.int64),
        judge=np.unique(found.judge, return_inverse=True)[1].astype(np.int64),
        systems=found.systems,
        ties=_symmetric(np.concatenate([forth[tied], back[tied]]), k),
    )


def _symmetric(cell: Ints, k: int) -> Floats:
    return np.bincount(cell, minlength=k * k).reshape(k, k).astype(np.float64)


def _from_matrix(data: ArrayLike, systems: Sequence[str] | None) -> _Wins:
    try:
        wins = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("expected wins as an array of numbers of shape (k, k)") from None
    if wins.ndim != 2 or wins.shape[0] != wins.shape[1] or wins.shape[0] < 2:
        raise InputError(f"expected wins of shape (k, k) for k systems, got shape {wins.shape}")
    if not ((wins >= 0) & (wins == np.rint(wins))).all() or np.diag(wins).any():
        raise InputError("wins: expected whole numbers from 0, and 0 on the diagonal")
    if not wins.any():
        raise InputError("there is no win; expected at least one")
    k = wins.shape[0]
    names = tuple(map(str, range(k))) if systems is None else tuple(map(str, systems))
    if len(names) != k or len(set(names)) != k:
        raise InputError(f"systems {list(names)!r}: expected {k} different names")
    cell = np.repeat(np.arange(k * k), wins.astype(np.int64).ravel())
    votes = np.arange(cell.size)
    return _Wins(
        votes, cell, np.ones(cell.size), votes, np.zeros_like(votes), names, np.zeros((k, k))
    )


def _with_prior(wins: Floats, prior: float) -> Floats:
    return wins + prior * (1 - np.eye(wins.shape[0]))


def _replicates(
    wins: _Wins,
    over: DrawnTarget,
    model: Model,
    prior: float,
    n_boot: int,
    rng: np.random.Generator,
) -> Floats:
    """Fit the scale to every replicate; ``nan`` where there is none."""
    k = len(wins.systems)
    out = np.full((n_boot, k), np.nan)
    n_items, n_judges = int(wins.item.max()) + 1, int(wins.judge.max()) + 1
    size = max(1, _AT_ONCE // max(n_items, n_judges))
    for start in range(0, n_boot, size):
        n = min(size, n_boot - start)
        items = judges = None
        if over in ("stimuli", "both"):
            items = np.concatenate(list(draw_weights(rng, n_items, n)))
        if over in ("raters", "both"):
            judges = np.concatenate(list(draw_weights(rng, n_judges, n)))
        for b in range(n):
            counts = np.ones(wins.item.size) if items is None else items[b, wins.item]
            if judges is not None:
                counts = counts * judges[b, wins.judge]
            drawn = np.bincount(wins.cell, wins.weight * counts[wins.vote], minlength=k * k)
            matrix = _with_prior(drawn.reshape(k, k).astype(np.float64), prior)
            if connected(matrix):
                found = fit_strengths(matrix, model)
                if found is not None:
                    out[start + b] = found
    return out


def _table(
    wins: _Wins,
    strength: Floats,
    drawn: Floats | None,
    model: Model,
    prior: float,
    over: DrawnTarget,
    status: str,
    confidence: float,
    counts: tuple[int, int],
) -> Estimates:
    k = len(wins.systems)
    spread, first = Uncertainty.none(k), np.full(k, np.nan)
    text = f"{_NAMES[model]} strength" + (f", {prior:g} wins beforehand" if prior else "")
    method = [text] * k
    if drawn is not None:
        spread = summarise(strength, drawn, confidence)
        known = drawn[~np.isnan(drawn).any(axis=1)]
        if known.shape[0]:
            first = np.bincount(known.argmax(axis=1), minlength=k) / known.shape[0]
        text += f"; percentile bootstrap, {drawn.shape[0]} replicates"
        lost = drawn.shape[0] - known.shape[0]
        text += f", {lost} without a scale" if lost else ""
        method = [text + (f"; {reason}" if reason else "") for reason in spread.missing]
    order = np.argsort(-strength, kind="stable")
    matrix = wins.matrix - (wins.ties / 2 if np.any(wins.weight == 0.5) else 0)
    rank = np.empty(k, dtype=np.int64)
    rank[order] = np.arange(1, k + 1)
    n = (wins.matrix + wins.matrix.T).sum(axis=1)
    items, judges = counts
    table = Estimates.build(
        {"system": [wins.systems[s] for s in order.tolist()]},
        value=strength[order],
        **{name: end[order] for name, end in spread.ends.items()},
        method=[method[s] for s in order.tolist()],
        resampled="none" if drawn is None else "units" if over == "stimuli" else over,
        n_items=items or int(wins.item.size),
        n_raters=judges,
        n_ratings=np.rint(n[order]).astype(np.int64),
        status=status or "ok",
        extra={
            "wins": np.rint(matrix.sum(axis=1)[order]).astype(np.int64),
            "losses": np.rint(matrix.sum(axis=0)[order]).astype(np.int64),
            "ties": wins.ties.sum(axis=1)[order].astype(np.int64),
            "rank": np.where(np.isnan(strength), 0, rank)[order],
            "first": first[order],
        },
    )
    return table.laid_out(
        Value(head="strength"),
        Interval(),
        *(Count(name) for name in ("wins", "losses", "ties")),
        Share("first", decimals=1),
        name="scale",
        caption=f"{method[0].partition(';')[0]}.",
    )


_NAMES = {"bradley-terry": "Bradley-Terry", "thurstone": "Thurstone"}
