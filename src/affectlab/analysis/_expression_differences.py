"""How different expressions are from each other: matrix, clusters, and which need most care."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab._resampling import check_confidence
from affectlab._types import Floats, Ints
from affectlab._words import joined, plural
from affectlab.analysis._clusters import LabelClusters
from affectlab.analysis._expression_cells import Cells, adjusted, cells_of, square
from affectlab.analysis._expression_clusters import (
    LINKAGES,
    MISSING,
    Linkage,
    Missing,
    elbow_of,
    expression_tree,
)
from affectlab.analysis._expression_priority import priority_of
from affectlab.analysis._pair_scores import PairSource, pair_scores
from affectlab.analysis._tree import Choice
from affectlab.errors import InputError, unknown_name

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["ExpressionDifferences", "expression_differences"]

Resample: TypeAlias = Literal["actors", "pairs"]
RESAMPLES = ("actors", "pairs")
_FEWEST = 6
"""Expressions below which a tree has too few heights to say that it shows no groups."""


@dataclass(frozen=True, eq=False, repr=False)
class ExpressionDifferences:
    """Mean differences of expressions; see :func:`expression_differences`.

    Everything of shape (n, n) is in the order of ``expressions``.
    """

    expressions: tuple[str, ...]
    actors: tuple[str, ...]
    matrix: Floats
    """Mean difference of two expressions, shape (n, n), ``nan`` on the diagonal and where they were
    not compared."""
    n_actors: Ints
    """Actors behind each mean, shape (n, n)."""
    n_pairs: Ints
    """Pairs of frames behind each mean, shape (n, n)."""
    clusters: LabelClusters
    """Tree and clusters of the expressions; ``stability`` is over the bootstrap replicates."""
    priority: pl.DataFrame
    """One row per expression, the one that needs most care first: ``rank``, ``expression``,
    ``value`` (mean difference from the others) with ``se``, ``low`` and ``high``; ``relative``
    (the same less its mean over expressions) with ``relative_low`` and ``relative_high``, which
    tell expressions apart: how high actors are in general does not count there; ``rank_low``,
    ``rank_high``, ``cluster``, ``n_others``, ``n_actors``, ``n_pairs``, ``method``, ``resampled``,
    ``status``."""
    actor_effects: dict[str, float]
    """How much higher each actor is than the mean actor on the same pairs; empty when means were
    not adjusted."""
    role_effects: dict[str, float]
    """The same for the role of a frame."""
    method: str
    unit: str
    notes: tuple[str, ...] = ()

    @property
    def elbow(self) -> pl.DataFrame:
        """Heights of the tree and their bends: ``n_clusters``, ``height``, ``bend``."""
        return elbow_of(self.clusters)

    def to_frame(self) -> pl.DataFrame:
        """Give one row per pair of expressions that was compared."""
        first, second = np.triu_indices(len(self.expressions), 1)
        names = np.array(self.expressions, dtype=object)
        frame = pl.DataFrame(
            {
                "expression_a": names[first].tolist(),
                "expression_b": names[second].tolist(),
                "value": self.matrix[first, second],
                "n_actors": self.n_actors[first, second],
                "n_pairs": self.n_pairs[first, second],
            },
            schema_overrides={"expression_a": pl.String, "expression_b": pl.String},
        )
        return frame.filter(pl.col("n_actors") > 0)

    def __repr__(self) -> str:
        return (
            f"ExpressionDifferences({plural(len(self.expressions), 'expression')}, "
            f"{plural(len(self.actors), 'actor')}, {plural(self.clusters.k, 'cluster')})"
        )

    def __rich__(self) -> Table:
        return self.clusters.__rich__()


def expression_differences(
    scores: PairSource,
    *,
    adjust: bool = True,
    linkage: Linkage = "average",
    k: int | Choice = "elbow",
    missing: Missing = "leave-out",
    resample: Resample = "actors",
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> ExpressionDifferences:
    r"""Average differences of two expressions, cluster expressions, and rank them by care needed.

    Scores of the pairs of frames of one actor and two expressions are averaged, then these cells
    over actors. In the design of the paper each pair of expressions is shown on half of the actors
    and with three of four frames drawn anew, so that a plain mean also depends on who and what was
    drawn. With `adjust` the means are those of

    .. math:: y = \mu_{ef} + \alpha_\mathrm{actor} + \rho_\mathrm{role\,a} + \rho_\mathrm{role\,b}

    by least squares, effects with mean 0: first the roles, within cells, then the actors, between
    cells. Where every actor has every pair with the same frames both means are the same.

    An expression that differs little from the others on average is easily taken for another, so
    it needs most care in rendering (appendix A.5).

    Parameters
    ----------
    scores
        Ratings or scores of pairs; see :func:`pair_scores`. Pairs of kind inter count.
    adjust
        Take out effects of actors and roles; False for the plain means of the paper.
    linkage
        How clusters are joined. The paper does not say; Ward's needs Euclidean distances, which
        mean scores are not.
    k
        Number of clusters, or how it is found: ``"elbow"``, as in the paper, where the heights of
        the tree sag farthest below a straight line (see ``elbow``; a note says where they hardly
        show groups); ``"silhouette"``, at the highest mean silhouette.
    missing
        What becomes of expressions that were not compared with all others in the tree:
        ``"leave-out"`` leaves out those with most missing cells until none is missing; ``"fill"``
        puts the sum of an effect of either expression, from least squares, into missing cells. The
        matrix keeps its gaps.
    resample
        What the Bayesian bootstrap draws weights for: ``"actors"`` (how far the result is that of
        these actors, errors of the scores included), or ``"pairs"`` (cells of an actor and two
        expressions, for these actors). All keep a positive weight, so that no replicate loses a
        pair of expressions that only some actors were shown in. Intervals are Student's, with the
        bootstrap's standard error made wider by what it understates for a handful of actors.
    n_boot
        Bootstrap replicates; 0: no intervals and no stability.
    confidence
        Coverage of the intervals.
    seed
        Same seed, same result.

    Returns
    -------
    ExpressionDifferences
        The mean difference of an expression is over the others that it was compared with
        (``n_others``), each of which counts once. Effects of roles are estimated once, not in each
        replicate.

    Raises
    ------
    InputError
        When there are no inter-expression pairs, or an option is not known or out of range.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 3.5.3, appendix A.5, figures 10 and 21. Rubin
    (1981), The Bayesian bootstrap.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "actor": ["ann"] * 3, "expression_a": ["joy", "joy", "awe"], "role_a": ["peak"] * 3,
    ...     "expression_b": ["awe", "fear", "fear"], "role_b": ["peak"] * 3,
    ...     "value": [20.0, 80.0, 70.0],
    ... })
    >>> found = expression_differences(table, n_boot=0)
    >>> found.clusters.members(), found.priority["expression"].to_list()
    ({1: ('fear',), 2: ('awe', 'joy')}, ['awe', 'joy', 'fear'])
    """
    _check(linkage, missing, resample, n_boot, confidence)
    pairs = pair_scores(scores)
    inter = pairs.inter()
    if not len(inter):
        raise InputError(
            "there are no pairs of two expressions; expected pairs of kind inter, whose "
            "expression_a and expression_b differ"
        )
    cells = cells_of(inter, adjust=adjust)
    asked = cells.asked
    ones = np.ones(len(cells.actors)) if adjust else None
    mean, effect = adjusted(cells, asked, ones)
    matrix = square(cells, mean, np.nan)
    drawn = [
        square(cells, adjusted(cells, weights, who if adjust else None)[0], np.nan)
        for weights, who in _replicates(cells, resample, n_boot, np.random.default_rng(seed))
    ]
    clusters = expression_tree(
        cells.expressions, matrix, drawn, linkage=linkage, k=k, missing=missing
    )
    method = "mean over actors" + (", adjusted for actors and roles" if adjust else "")
    n_actors = square(cells, asked.sum(axis=1), 0).astype(np.int64)
    n_pairs = square(cells, cells.n_pairs.sum(axis=1), 0).astype(np.int64)
    priority = priority_of(
        cells, matrix, np.array(drawn), clusters, resample, confidence, method, n_pairs
    )
    return ExpressionDifferences(
        cells.expressions,
        cells.actors,
        matrix,
        n_actors,
        n_pairs,
        clusters,
        priority,
        dict(zip(cells.actors, effect.tolist(), strict=True)) if adjust else {},
        cells.role_effects,
        method,
        pairs.unit,
        (*cells.notes(), *_gaps(cells, clusters, missing), *_groups(clusters, k), *pairs.notes),
    )


def _check(linkage: str, missing: str, resample: str, n_boot: int, confidence: float) -> None:
    for kind, name, known in (
        ("linkage", linkage, LINKAGES),
        ("way to treat missing cells", missing, MISSING),
        ("kind of resampling", resample, RESAMPLES),
    ):
        if name not in known:
            raise unknown_name(kind, name, known)
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or more replicates")
    check_confidence(confidence)


def _replicates(
    cells: Cells, resample: Resample, n_boot: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Draw how much each cell and each actor counts; all keep some weight."""
    asked = cells.asked
    places = np.nonzero(asked)
    who = np.ones(len(cells.actors))
    for _ in range(n_boot):
        if resample == "actors":
            who = _weights(rng, who.size)
            weights = asked * who
        else:
            weights = np.zeros_like(asked)
            weights[places] = _weights(rng, places[0].size)
        yield weights, who


def _weights(rng: np.random.Generator, n: int) -> Floats:
    drawn = rng.standard_exponential(n)
    return np.asarray(drawn / drawn.mean(), dtype=np.float64)


def _gaps(cells: Cells, clusters: LabelClusters, missing: Missing) -> tuple[str, ...]:
    n = len(cells.expressions)
    lacking = n * (n - 1) // 2 - cells.first.size
    if not lacking:
        return ()
    said = f"{plural(lacking, 'pair')} of expressions of {n * (n - 1) // 2:,} not compared"
    if missing == "fill":
        return (f"{said}; filled from the effects of both expressions for the clusters",)
    if clusters.left_out:
        return (f"{said}; not clustered for want of them: {joined(clusters.left_out)}",)
    return (said,)


def _groups(clusters: LabelClusters, k: int | Choice) -> tuple[str, ...]:
    """Say where an elbow was asked for and the tree has none to speak of."""
    of = len(clusters.labels)
    if k != "elbow" or clusters.status != "ok" or of < _FEWEST:
        return ()
    elbow = elbow_of(clusters)
    bend = elbow.filter(n_clusters=clusters.k)["bend"].to_list()
    if 2 * clusters.k <= of and bend and bend[0] > 0:
        return ()
    return (
        f"the heights of the tree sag most at {plural(clusters.k, 'cluster')} of "
        f"{plural(of, 'expression')}: they show no groups",
    )
