"""Mean differences of two expressions over actors who were not all asked about the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab._types import Floats, Ints
from affectlab._words import plural
from affectlab.analysis._pair_scores import PairScores

__all__ = ["Cells", "adjusted", "cells_of", "square"]

_Codes: TypeAlias = NDArray[np.int64]
_TOLERANCE = 1e-9
"""Eigenvalues so far below the largest count as 0: what the design cannot tell."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Mean scores of P pairs of n expressions by A actors."""

    expressions: tuple[str, ...]
    actors: tuple[str, ...]
    first: Ints
    """Place of the first expression of each pair, shape (P,)."""
    second: Ints
    """Place of the second one, always behind the first."""
    value: Floats
    """Mean score over the pairs of frames, shape (P, A); 0 where there are none."""
    n_pairs: Ints
    """Pairs of frames, shape (P, A)."""
    role_effects: dict[str, float]
    """How much the role of a frame adds to a score, beside the mean role; empty without
    adjustment."""

    @property
    def asked(self) -> Floats:
        """1 where an actor has pairs, else 0, shape (P, A)."""
        return (self.n_pairs > 0).astype(np.float64)

    def groups_of_actors(self) -> int:
        """Count the groups of actors that no pair of expressions links."""
        asked = self.n_pairs > 0
        group = np.arange(len(self.actors))
        for row in asked:
            joined = group[row]
            group[np.isin(group, joined)] = joined.min()
        return int(np.unique(group).size)

    def notes(self) -> tuple[str, ...]:
        """Say what of the design limits the comparison."""
        groups = self.groups_of_actors()
        if groups < 2:
            return ()
        return (
            f"actors fall into {plural(groups, 'group')} without a pair of expressions in common; "
            "differences of level between these groups cannot be told from those of the pairs",
        )


def cells_of(inter: PairScores, *, adjust: bool) -> Cells:
    """Average the scores of each actor on each pair of expressions.

    With `adjust`, the roles of the frames are taken out first. Their effects are those of least
    squares within cells (an actor and two expressions), so that they are free of whom and what was
    asked about.
    """
    names = inter.expressions
    place = {name: k for k, name in enumerate(names)}
    actor = {name: k for k, name in enumerate(inter.actors)}
    frame = inter.frame
    a, b, who = (
        frame[column].replace_strict(codes, return_dtype=pl.Int64).to_numpy()
        for column, codes in (
            ("expression_a", place),
            ("expression_b", place),
            ("actor", actor),
        )
    )
    n, n_actors = len(names), len(actor)
    key = np.minimum(a, b) * n + np.maximum(a, b)
    found, pair = np.unique(key, return_inverse=True)
    cell, value = pair * n_actors + who, frame["value"].to_numpy()
    effects: dict[str, float] = {}
    if adjust:
        effects, value = _without_roles(frame, cell, value)
    size = found.size * n_actors
    count = np.bincount(cell, minlength=size)
    total = np.bincount(cell, value, minlength=size)
    mean = np.divide(total, count, out=np.zeros(size), where=count > 0)
    return Cells(
        names,
        inter.actors,
        found // n,
        found % n,
        mean.reshape(found.size, n_actors),
        count.reshape(found.size, n_actors),
        effects,
    )


def _without_roles(
    frame: pl.DataFrame, cell: _Codes, value: Floats
) -> tuple[dict[str, float], Floats]:
    """Estimate what each role adds within cells, and take it from the scores."""
    roles = pl.concat([frame["role_a"], frame["role_b"]]).unique().sort().to_list()
    codes = {role: k for k, role in enumerate(roles)}
    shown = np.zeros((frame.height, len(roles)))
    rows = np.arange(frame.height)
    for side in "ab":
        at = frame[f"role_{side}"].replace_strict(codes, return_dtype=pl.Int64).to_numpy()
        np.add.at(shown, (rows, at), 1.0)
    within = np.column_stack([_centred(column, cell) for column in [*shown.T, value]])
    x, y = within[:, :-1], within[:, -1]
    effect = _solve(x.T @ x, x.T @ y)
    effect -= effect.mean()
    return dict(zip(roles, effect.tolist(), strict=True)), value - shown @ effect


def _centred(column: Floats, cell: _Codes) -> Floats:
    count = np.bincount(cell)
    mean = np.bincount(cell, column) / np.maximum(count, 1)
    return np.asarray(column - mean[cell], dtype=np.float64)


def adjusted(cells: Cells, weights: Floats, of_actors: Floats | None) -> tuple[Floats, Floats]:
    r"""Average cells over actors, each freed of how high its actor is on what was asked about.

    Least squares on :math:`y_{pa} = \mu_p + \alpha_a` with the weights of the cells, where the
    weighted mean of the :math:`\alpha_a` is 0.

    Parameters
    ----------
    weights
        How often each cell counts, shape (P, A); 0 where there is none.
    of_actors
        How often each actor counts in the mean effect, shape (A,). None: no adjustment.

    Returns
    -------
    Means of the pairs, shape (P,), ``nan`` where no cell counts, and effects of the actors.
    """
    total = weights.sum(axis=1)
    known = total > 0
    share = np.divide(weights, total[:, None], out=np.zeros_like(weights), where=known[:, None])
    effect = np.zeros(weights.shape[1])
    if of_actors is not None:
        here = (weights.sum(axis=0) > 0) * of_actors
        left = np.diag(weights.sum(axis=0)) - weights.T @ share
        of_pair = (share * cells.value).sum(axis=1)
        right = (weights * cells.value).sum(axis=0) - weights.T @ of_pair
        effect = _solve(left, right)
        effect -= (effect * here).sum() / here.sum()
    mean = (share * (cells.value - effect)).sum(axis=1)
    return np.where(known, mean, np.nan), effect


def _solve(left: Floats, right: Floats) -> Floats:
    """Solve normal equations; what the design cannot tell is left at the shortest solution."""
    values, vectors = np.linalg.eigh(left)
    kept = values > _TOLERANCE * max(float(values.max(initial=0.0)), 1e-300)
    part = vectors[:, kept]
    return np.asarray(part @ ((part.T @ right) / values[kept]), dtype=np.float64)


def square(cells: Cells, values: Floats | Ints, empty: float) -> Floats:
    """Spread values of pairs over both halves of a square, shape (n, n)."""
    n = len(cells.expressions)
    whole = np.full((n, n), empty)
    whole[cells.first, cells.second] = whole[cells.second, cells.first] = values
    return whole
