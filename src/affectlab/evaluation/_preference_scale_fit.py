"""Strengths of systems from counts of wins: Bradley-Terry by choix, Thurstone by Newton steps."""

from __future__ import annotations

import warnings

import numpy as np

from affectlab._types import Floats
from affectlab._words import joined
from affectlab.errors import unknown_name

__all__ = ["MODELS", "chance_of_win", "fit_strengths", "why_undefined"]

MODELS = ("bradley-terry", "thurstone")

_ROUNDS = 1000
_NEWTON_ROUNDS = 100
_SMALL = 1e-10
_NOT_CONVERGED = "not converged"


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
    if model == "bradley-terry":
        return _bradley_terry(wins)
    if model == "thurstone":
        return _thurstone(wins)
    raise unknown_name("model", str(model), MODELS)


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
