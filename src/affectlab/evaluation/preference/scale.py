"""A scale of systems from choices between two of them at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice
from affectlab.core.estimates import Estimates
from affectlab.core.inference import (
    DrawnTarget,
    Uncertainty,
    check_confidence,
    check_n_boot,
    crossing_p,
    summarise,
)
from affectlab.core.tables import Count, Figure, Interval, Number, PValue, Share, Value
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import joined, percent, plural
from affectlab.evaluation.preference.choices import Comparisons, comparisons_of
from affectlab.evaluation.preference.tally import ENOUGH_JUDGES, crossed_weights, target_of
from affectlab.ratings import Ratings, canonical

Model: TypeAlias = Literal["bradley-terry", "thurstone"]
Ties: TypeAlias = Literal["half", "drop"]

_NAMES = {"bradley-terry": "Bradley-Terry", "thurstone": "Thurstone"}
_ROUNDS = 100
_SMALL = 1e-10
_AT_ONCE = 1 << 22
"""Weights that are held at once."""


# Strengths of systems from counts of wins, by Newton steps.


def fit_strengths(wins: Floats, model: Model) -> Floats:
    """Give the strengths of largest likelihood, with mean 0; ``nan`` where the search fails.

    The likelihood is concave, so that damped Newton steps find its maximum from anywhere.

    Parameters
    ----------
    wins
        How often the row was chosen over the column, shape (tables, k, k); need not be whole.
        Everyone has to have won and lost, directly or through others, for there to be a maximum.
    model
        Which chance of a win follows from a difference of strengths.

    Returns
    -------
    Shape (tables, k).
    """
    n_tables, k = wins.shape[:2]
    found = np.full((n_tables, k), np.nan)
    open_tables, strength = np.arange(n_tables), np.zeros((n_tables, k))

    def loss(at: Floats) -> Floats:
        total: Floats = -(wins * _log_chance(_differences(at), model)).sum(axis=(1, 2))
        return total

    now = loss(strength)
    for _ in range(_ROUNDS):
        slope, bend = _derivatives(_differences(strength), model)
        slope, bend = wins * slope, wins * bend
        bend += bend.transpose(0, 2, 1)
        gradient = slope.sum(axis=2) - slope.sum(axis=1)
        # Strengths have no zero of their own: the ones fix their mean.
        hessian = bend.sum(axis=2)[:, :, None] * np.eye(k) - bend + 1.0 / k
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        size = np.ones(len(step))
        after = loss(strength + step)
        while (worse := (size > _SMALL) & ~(after <= now + 1e-14 * np.abs(now))).any():
            size[worse] /= 2
            after = loss(strength + size[:, None] * step)
        strength = strength + size[:, None] * step
        strength -= strength.mean(axis=1, keepdims=True)
        reach = np.maximum(1.0, np.abs(strength).max(axis=1))
        done = np.abs(step).max(axis=1) * size < _SMALL * reach
        found[open_tables[done]] = strength[done]
        if done.all():
            break
        wins, strength, now, open_tables = (
            part[~done] for part in (wins, strength, after, open_tables)
        )
    return found


def _differences(strength: Floats) -> Floats:
    apart: Floats = strength[..., :, None] - strength[..., None, :]
    return apart


def chance_of_win(difference: Floats, model: Model) -> Floats:
    """Give the chance that the first wins from the difference of strengths."""
    return np.asarray(np.exp(_log_chance(difference, model)))


def _log_chance(difference: Floats, model: Model) -> Floats:
    from scipy.special import log_expit, log_ndtr

    log: Floats = (log_expit if model == "bradley-terry" else log_ndtr)(difference)
    return log


def _derivatives(difference: Floats, model: Model) -> tuple[Floats, Floats]:
    """First and negative second derivative of the logarithm of the chance of a win."""
    from scipy.special import expit

    if model == "bradley-terry":
        slope = expit(-difference)
        return slope, slope * (1 - slope)
    # phi / Phi, by logarithms, so that it holds far out in the tail.
    log_phi = -0.5 * difference**2 - 0.5 * np.log(2 * np.pi)
    slope = np.exp(log_phi - _log_chance(difference, model))
    return slope, slope * (slope + difference)


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


def connected(wins: Floats) -> Bools:
    """Say of tables, shape (..., k, k), whether each system has a chain of wins over every other.

    :func:`why_undefined` says it of one table, with the reason.
    """
    k = wins.shape[-1]
    reach = (wins > 0) | np.eye(k, dtype=bool)
    for _ in range(max(k - 1, 1).bit_length()):
        steps = reach.astype(np.float32)
        reach = steps @ steps > 0
    return np.asarray(reach.all(axis=(-2, -1)))


@dataclass(frozen=True, eq=False)
class _Wins:
    """The wins of each vote, and which votes are drawn together."""

    of_vote: Any
    """Sparse, shape (votes, k * k): 1 in the cell winner x k + loser, or 1/2 for both of a tie."""
    item: Ints
    judge: Ints
    """Of each vote, without gaps."""
    systems: tuple[str, ...]
    ties: Floats
    """Ties of each system, shape (k,)."""
    ties_count: bool = False
    """Whether a tie is half a win for both."""
    n_judges: int = 0
    """0 where they are not known."""

    @property
    def matrix(self) -> Floats:
        """Wins of the row over the column, shape (k, k)."""
        k = len(self.systems)
        return np.asarray(self.of_vote.sum(axis=0), dtype=np.float64).reshape(k, k)


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
) -> Estimates:
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
        Scale of strengths: Bradley-Terry, or Thurstone, case V.
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
    Strengths by ``system``, strongest first, with mean 0 and extra columns ``wins``, ``losses``,
    ``ties``, ``rank``, and ``first``: the share of replicates in which the system is the strongest.
    Where there is no scale, because systems were never compared or one never lost, values are
    ``nan`` and the status says which. Replicates without a scale are left out and counted in
    ``method``.

    The table ``pairs`` compares every two systems, by ``system`` and ``other``: the chance that the
    first is chosen, as the scale has it, in [0, 1]; ``difference`` of strengths; ``observed``, the
    share of their comparisons that the first won (ties counting half); and ``p``, from the
    replicates, for no difference.

    Raises
    ------
    InputError
        If the answers do not compare systems, or an option cannot be used.

    References
    ----------
    Bradley and Terry (1952); Thurstone (1927); Ford (1957) for when there is a scale.

    Examples
    --------
    >>> wins = [[0, 12, 18], [8, 0, 13], [2, 7, 0]]
    >>> scale = preference_scale(wins, systems=["human", "large", "small"])
    >>> [round(value, 2) for value in scale.to_frame()["value"]]
    [0.77, 0.08, -0.85]
    >>> round(scale.to_frame("pairs")["value"][0], 2)
    0.67
    """
    ratings = canonical(ratings)
    check_confidence(confidence)
    check_choice("model", model, get_args(Model))
    check_choice("ties", ties, get_args(Ties))
    if not 0 <= prior < np.inf:
        raise InputError(f"prior {prior!r}: expected a number of wins from 0")
    check_n_boot(n_boot)
    notes: tuple[str, ...] = ()
    if isinstance(ratings, Ratings):
        if systems is not None:
            raise InputError("systems goes with an array; ratings name their systems themselves")
        wins = _from_comparisons(comparisons_of(ratings), ties)
        if target is None and wins.n_judges < ENOUGH_JUDGES and n_boot:
            few = plural(wins.n_judges, "judge")
            notes = (f"{few}: intervals are about other items, not about other judges",)
    else:
        wins = _from_matrix(ratings, systems)
    over = target_of(target, wins.n_judges) or "stimuli"
    before = prior * (1 - np.eye(len(wins.systems)))
    status = "" if prior > 0 else why_undefined(wins.matrix, wins.systems)
    strength = np.full(len(wins.systems), np.nan)
    if not status:
        strength = fit_strengths(wins.matrix[None] + before, model)[0]
        if np.isnan(strength).any():
            status = "undefined: the search for the strengths did not converge"
    drawn = np.empty((0, strength.size))
    if n_boot:
        drawn = _replicates(wins, over, model, before, n_boot, np.random.default_rng(seed))
    said = f"{_NAMES[model]} strength" + (f", {prior:g} wins beforehand" if prior else "")
    shared = {
        "resampled": ("units" if over == "stimuli" else over) if n_boot else "none",
        "n_items": int(wins.item.max()) + 1,
        "n_raters": wins.n_judges,
        "status": status or "ok",
    }
    table = _strengths(wins, strength, drawn, said, confidence, shared)
    made = replace(
        table,
        notes=notes,
        settings={"model": model, "ties": ties, "prior": prior, "confidence": confidence},
        replicates=drawn,
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
    shared["method"] = f"chance of being chosen; {strongest['method']}"
    pairs = _pairs(wins, strength, drawn, model, confidence, shared)
    return replace(made, tables=(*made.tables, *pairs.tables), sentences=(said,), figures=(figure,))


def _from_comparisons(found: Comparisons, ties: Ties) -> _Wins:
    from scipy.sparse import coo_array

    k, n = len(found.systems), found.item.size
    tied = found.choice > 1
    forth, back = found.first * k + found.second, found.second * k + found.first
    vote = np.arange(n)
    cells = [(vote[~tied], np.where(found.choice == 0, forth, back)[~tied], 1.0)]
    if ties == "half":
        cells += [(vote[tied], way[tied], 0.5) for way in (forth, back)]
    rows, columns = (np.concatenate([cell[at] for cell in cells]) for at in (0, 1))
    share = np.concatenate([np.full(cell[0].size, cell[2]) for cell in cells])
    _, item = np.unique(found.item, return_inverse=True)
    judges, judge = np.unique(found.judge, return_inverse=True)
    sides = np.concatenate([found.first[tied], found.second[tied]])
    return _Wins(
        of_vote=coo_array((share, (rows, columns)), shape=(n, k * k)).tocsr(),
        item=item.astype(np.int64),
        judge=judge.astype(np.int64),
        systems=found.systems,
        ties=np.bincount(sides, minlength=k).astype(np.float64),
        ties_count=ties == "half",
        n_judges=judges.size,
    )


def _from_matrix(data: ArrayLike, systems: Sequence[str] | None) -> _Wins:
    from scipy.sparse import coo_array

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
    vote = np.arange(cell.size)
    of_vote = coo_array((np.ones(cell.size), (vote, cell)), shape=(cell.size, k * k)).tocsr()
    return _Wins(of_vote, vote, np.zeros_like(vote), names, np.zeros(k))


def _replicates(
    wins: _Wins,
    over: DrawnTarget,
    model: Model,
    before: Floats,
    n_boot: int,
    rng: np.random.Generator,
) -> Floats:
    """Fit the scale to every replicate; ``nan`` where there is none."""
    n_items, n_judges = int(wins.item.max()) + 1, int(wins.judge.max()) + 1
    size = max(1, _AT_ONCE // max(n_items, n_judges))
    tables = []
    for items, judges in crossed_weights(rng, over, n_items, n_judges, n_boot, size):
        step = max(1, _AT_ONCE // wins.item.size)
        for start in range(0, len(items), step):
            rows = slice(start, start + step)
            counts = items[rows][:, wins.item] * judges[rows][:, wins.judge]
            tables.append((wins.of_vote.T @ counts.T).T)
    drawn = np.concatenate(tables).reshape(n_boot, *before.shape) + before
    found = np.full(drawn.shape[:2], np.nan)
    whole = connected(drawn)
    found[whole] = fit_strengths(drawn[whole], model)
    return found


def _strengths(
    wins: _Wins,
    strength: Floats,
    drawn: Floats,
    text: str,
    confidence: float,
    shared: dict[str, Any],
) -> Estimates:
    """Lay out the strengths, the strongest first."""
    k = strength.size
    spread, first, caption = Uncertainty.none(k), np.full(k, np.nan), f"{text}."
    if len(drawn):
        spread = summarise(strength, drawn, confidence)
        known = drawn[~np.isnan(drawn).any(axis=1)]
        if len(known):
            first = np.bincount(known.argmax(axis=1), minlength=k) / len(known)
        text += f"; percentile bootstrap, {len(drawn)} replicates"
        lost = len(drawn) - len(known)
        text += f", {lost} without a scale" if lost else ""
    order = np.argsort(-strength, kind="stable")
    matrix = wins.matrix
    # Of a tie that counts, either side has half a win that it did not win.
    halves = wins.ties / 2 if wins.ties_count else 0.0
    won, lost_to = matrix.sum(axis=1) - halves, matrix.sum(axis=0) - halves
    rank = np.where(np.isnan(strength[order]), 0, np.arange(1, k + 1))
    table = Estimates.build(
        {"system": [wins.systems[s] for s in order.tolist()]},
        value=strength[order],
        **{name: end[order] for name, end in spread.ends.items()},
        method=[
            text + (f"; {spread.missing[s]}" if spread.missing[s] else "") for s in order.tolist()
        ],
        n_ratings=np.rint((matrix + matrix.T).sum(axis=1)[order]).astype(np.int64),
        **shared,
        extra={
            "wins": np.rint(won[order]).astype(np.int64),
            "losses": np.rint(lost_to[order]).astype(np.int64),
            "ties": wins.ties[order].astype(np.int64),
            "rank": rank,
            "first": first[order],
        },
    )
    return table.laid_out(
        Value(head="strength"),
        Interval(),
        *(Count(name) for name in ("wins", "losses", "ties")),
        Share("first", decimals=1),
        name="scale",
        caption=caption,
    )


def _pairs(
    wins: _Wins,
    strength: Floats,
    drawn: Floats,
    model: Model,
    confidence: float,
    shared: dict[str, Any],
) -> Estimates:
    """Compare every two systems, the stronger one with the weaker."""
    order = np.argsort(-strength, kind="stable")
    a, b = np.array(list(combinations(order, 2))).T
    apart, n = strength[a] - strength[b], wins.matrix[a, b] + wins.matrix[b, a]
    with np.errstate(invalid="ignore"):
        observed = wins.matrix[a, b] / n
    chance = chance_of_win(apart, model)
    spread, p = Uncertainty.none(apart.size), np.full(apart.size, np.nan)
    if len(drawn):
        differences = drawn[:, a] - drawn[:, b]
        spread = summarise(chance, chance_of_win(differences, model), confidence)
        p = np.where(np.isnan(spread.low), np.nan, crossing_p(differences))
    names = np.array(wins.systems, dtype=object)
    table = Estimates.build(
        {"system": names[a].tolist(), "other": names[b].tolist()},
        value=chance,
        **spread.ends,
        n_ratings=np.rint(n).astype(np.int64),
        **shared,
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
