"""How different expressions are from each other: matrix, clusters, and which need most care."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from affectlab.analysis.expressions import wording
from affectlab.analysis.labels import (
    Choice,
    LabelClusters,
    bends,
    chosen_text,
    complete,
    label_tree,
)
from affectlab.analysis.pairs import PairScores, PairSource, pair_scores
from affectlab.core.arrays import mean_of_defined, ratio
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.facts import Cause, Reason, fact_column, reason_type
from affectlab.core.inference import Uncertainty, check_confidence, summarise, tails
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table, Value
from affectlab.core.types import Floats, Ints
from affectlab.core.words import plural

# Mean differences of two expressions over actors who were not all asked about the same ones.


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

    def notes(self) -> tuple[str, ...]:
        """Say what limits the comparison: actors that no pair of expressions links."""
        group = np.arange(len(self.actors))
        for row in self.n_pairs > 0:
            linked = group[row]
            group[np.isin(group, linked)] = linked.min()
        groups = np.unique(group).size
        if groups < 2:
            return ()
        return (wording.not_linked(groups),)


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
    columns = {"expression_a": place, "expression_b": place, "actor": actor}
    a, b, who = (
        frame[column].replace_strict(codes, return_dtype=pl.Int64).to_numpy()
        for column, codes in columns.items()
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
    mean = ratio(total, count, 0.0)
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
    frame: pl.DataFrame, cell: Ints, value: Floats
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


def _centred(column: Floats, cell: Ints) -> Floats:
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


# A tree of expressions over their mean differences, and how stable its clusters are.


Linkage: TypeAlias = Literal["average", "complete", "single", "ward"]
Missing: TypeAlias = Literal["leave-out", "fill"]


def expression_tree(
    cells: Cells,
    matrix: Floats,
    replicates: Iterable[Floats],
    linkage: Linkage,
    k: int | Choice,
    missing: Missing,
) -> LabelClusters:
    """Cluster expressions by their mean differences, and those of bootstrap replicates.

    Expressions with missing cells are left out, or the cells filled.
    """
    names = cells.expressions
    lacking = np.isnan(matrix) & (missing == "leave-out")
    np.fill_diagonal(lacking, False)
    rest = complete(lacking)
    return label_tree(
        tuple(names[at] for at in rest.tolist()),
        _distances(matrix, rest),
        (_distances(replicate, rest) for replicate in replicates),
        linkage=linkage,
        k=k,
        method=wording.tree_method(linkage),
        undefined=Reason(Cause.FEWER, least=3, of="expressions compared with all others"),
        left_out=tuple(name for at, name in enumerate(names) if at not in set(rest.tolist())),
    )


def elbow_of(clusters: LabelClusters) -> pl.DataFrame:
    r"""Give the heights of a tree by number of clusters, and how much they bend there.

    With :math:`h_k` the mean difference at which k clusters become k - 1, and n expressions, the
    bend at k is :math:`1 - (k - 1) / (n - 1) - h_{k+1} / h_2`: how far k clusters are below a
    straight line from one cluster to n. The elbow is the k where it is largest.
    """
    heights = clusters.linkage[::-1, 2]
    bend = np.full(heights.size, np.nan)
    if heights.size:
        bend[:-1] = bends(clusters.linkage)
    return pl.DataFrame(
        {"n_clusters": np.arange(2, heights.size + 2), "height": heights, "bend": bend}
    )


def _distances(matrix: Floats, kept: Ints) -> Floats:
    """Take the part of a matrix that is clustered; missing cells are the sum of two effects."""
    distance = np.array(matrix[np.ix_(kept, kept)])
    first, second = np.triu_indices(kept.size, 1)
    cells = distance[first, second]
    known = ~np.isnan(cells)
    if not known.all():
        # The mean of a cell is the sum of one half-effect of either expression.
        design = np.zeros((cells.size, kept.size))
        rows = np.arange(cells.size)
        design[rows, first] = design[rows, second] = 1.0
        effect = np.linalg.lstsq(design[known], cells[known], rcond=None)[0]
        cells = np.where(known, cells, design @ effect)
        distance[first, second] = distance[second, first] = cells
    # Scores of a subject model may lie below the scale; a distance may not.
    distance = np.maximum(distance, 0.0)
    np.fill_diagonal(distance, 0.0)
    return distance


# Mean difference of each expression from all others, and its place among them.


_ONE_ACTOR = Reason(Cause.SINGLE_UNIT, of="actors")


def priority_of(
    cells: Cells,
    matrix: Floats,
    drawn: Floats,
    clusters: LabelClusters,
    resample: str,
    confidence: float,
    method: str,
    n_pairs: Ints,
) -> pl.DataFrame:
    """Rank expressions by their mean difference from the others, the smallest first.

    Parameters
    ----------
    matrix
        Mean differences, shape (n, n), ``nan`` where there is none.
    drawn
        Bootstrap replicates of it, shape (B, n, n).
    """
    n, n_actors = len(cells.expressions), len(cells.actors)
    value = mean_of_defined(matrix[None], 2)[0]
    apart = value - np.nanmean(value)
    plain = relative = Uncertainty.none(n)
    rank_low = rank_high = np.full(n, np.nan)
    reasons: Sequence[Reason | None] = [None] * n
    if drawn.size and resample == "actors" and n_actors < 2:
        reasons = [_ONE_ACTOR] * n
    elif drawn.size:
        means = mean_of_defined(drawn, 2)
        few = _few_actors(n_actors) if resample == "actors" else _few_cells(cells)
        plain = _spread(value, means, confidence, *few)
        # How high the drawn actors are in general moves all expressions alike.
        relative = _spread(apart, means - np.nanmean(means, axis=1)[:, None], confidence, *few)
        reasons = plain.missing
        rank_low, rank_high = _rank_ends(value, means, confidence, *few)
    of_cluster = dict(zip(clusters.labels, clusters.cluster.tolist(), strict=True))
    shows = np.zeros((n, n_actors), dtype=bool)
    for side in (cells.first, cells.second):
        np.logical_or.at(shows, side, cells.n_pairs > 0)
    whole = ("rank_low", "rank_high")
    frame = pl.DataFrame(
        {
            "expression": cells.expressions,
            "value": value,
            "se": plain.se,
            "low": plain.low,
            "high": plain.high,
            "relative": apart,
            "relative_low": relative.low,
            "relative_high": relative.high,
            "rank_low": rank_low,
            "rank_high": rank_high,
            # Where there is no tree all are in cluster 0, which is none.
            "cluster": [of_cluster.get(name) or None for name in cells.expressions],
            "n_others": (~np.isnan(matrix)).sum(axis=1),
            "n_actors": shows.sum(axis=1),
            "n_pairs": n_pairs.sum(axis=1),
            "method": wording.priority_method(method),
            "target": resample if drawn.size else "none",
            "reason": fact_column("reason", reasons, reason_type()),
        },
        schema_overrides={"cluster": pl.Int64},
    )
    ordered = frame[np.argsort(value, kind="stable")]
    return ordered.with_columns(pl.col(whole).fill_nan(None).cast(pl.Int64)).insert_column(
        0, pl.Series("rank", np.arange(1, n + 1))
    )


def _spread(
    point: Floats, means: Floats, confidence: float, wider: Floats, df: Floats
) -> Uncertainty:
    """Take Student's intervals with the standard errors of replicates, made wider as told."""
    from scipy.special import stdtrit

    found = summarise(point, means, confidence)
    se = found.se * wider
    half = stdtrit(df, (1 + confidence) / 2) * se
    return replace(found, se=se, low=point - half, high=point + half)


def _few_actors(n: int) -> tuple[Floats, Floats]:
    """By how much weights drawn for a handful of things understate errors; degrees of freedom.

    Dirichlet weights of m things give (m - 1) / (m + 1) of the variance of their mean.
    """
    return np.array(np.sqrt((n + 1) / (n - 1))), np.array(n - 1.0)


def _few_cells(cells: Cells) -> tuple[Floats, Floats]:
    """The same where each pair of an expression is the mean of m cells, all of one variance."""
    m = cells.asked.sum(axis=1)
    parts = np.zeros((3, len(cells.expressions)))
    for side in (cells.first, cells.second):
        for row, part in enumerate((1 / m, (m - 1) / (m * (m + 1)), m - 1)):
            np.add.at(parts[row], side, part)
    full, seen, df = parts
    known = seen > 0
    ratio = np.divide(full, seen, out=np.full(full.size, np.nan), where=known)
    return np.sqrt(ratio), np.where(known, df, 1.0)


def _rank_ends(
    point: Floats, means: Floats, confidence: float, wider: Floats, df: Floats
) -> tuple[Floats, Floats]:
    """Give the percentiles of the rank of each expression over whole replicates.

    These are stretched about the point as the intervals of the means are: with a handful of actors
    they lie too close to it.
    """
    from scipy.special import ndtri, stdtrit

    share = (1 + confidence) / 2
    stretch = wider * stdtrit(df, share) / ndtri(share)
    whole = point + stretch * (means - point)
    whole = whole[~np.isnan(whole).any(axis=1)]
    if not whole.size:
        unknown = np.full(means.shape[1], np.nan)
        return unknown, unknown
    ranks = 1 + np.argsort(np.argsort(whole, axis=1, kind="stable"), axis=1, kind="stable")
    low, high = np.quantile(ranks, tails(confidence), axis=0, method="nearest")
    return low.astype(np.float64), high.astype(np.float64)


Resample: TypeAlias = Literal["actors", "pairs"]
_MOST = 12
"""Expressions that people are shown the priority of."""
_FEWEST = 6
"""Expressions below which a tree has too few heights to say that it shows no groups."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExpressionDifferences(Result):
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
    actor_effects: dict[str, float]
    """How much higher each actor is than the mean actor on the same pairs; empty when means were
    not adjusted."""
    role_effects: dict[str, float]
    """The same for the role of a frame."""
    method: str
    unit: str

    @property
    def priority(self) -> pl.DataFrame:
        """One row per expression, the one that needs most care first.

        ``rank``, ``expression``, ``value`` (mean difference from the others) with ``se``, ``low``
        and ``high``; ``relative`` (the same less its mean over expressions) with ``relative_low``
        and ``relative_high``, which tell expressions apart: how high actors are in general does not
        count there; ``rank_low``, ``rank_high``, ``cluster``, ``n_others``, ``n_actors``,
        ``n_pairs``, ``method``, ``target``, and ``reason``, why there is no interval.
        """
        return self.to_frame("priority")

    @property
    def elbow(self) -> pl.DataFrame:
        """Heights of the tree and their bends: ``n_clusters``, ``height``, ``bend``."""
        return self.to_frame("elbow")


def _compared(cells: Cells, matrix: Floats, n_actors: Ints, n_pairs: Ints) -> pl.DataFrame:
    """Give one row per pair of expressions that was compared."""
    first, second = np.triu_indices(len(cells.expressions), 1)
    names = np.array(cells.expressions, dtype=object)
    frame = pl.DataFrame(
        {
            "expression_a": names[first].tolist(),
            "expression_b": names[second].tolist(),
            "value": matrix[first, second],
            "n_actors": n_actors[first, second],
            "n_pairs": n_pairs[first, second],
        },
        schema_overrides={"expression_a": pl.String, "expression_b": pl.String},
    )
    return frame.filter(pl.col("n_actors") > 0)


_COUNTS = (Count("n_actors"), Count("n_pairs"))
_PAIRS = (
    Key("expression_a", "expression"),
    Key("expression_b", "expression"),
    Number("value", "difference"),
    *_COUNTS,
)
_PRIORITY = (
    Count("rank"),
    Key("expression"),
    Value(head="difference", decimals=1),
    Interval(decimals=1),
    Count("rank_low", "rank from", spare=True),
    Count("rank_high", "rank to", spare=True),
    Count("n_others", spare=True),
    Count("n_actors", spare=True),
)
_ELBOW = (Key("n_clusters", "clusters"), Number("height"), Number("bend"))
_EFFECTS = (Key("of"), Key("name"), Number("effect"))
_EFFECT_TYPES = {"of": pl.String, "name": pl.String, "effect": pl.Float64}


def _sentences(
    cells: Cells, compared: pl.DataFrame, clusters: LabelClusters, method: str
) -> tuple[str, ...]:
    """Say how much was compared, and which expressions differ least and most."""
    ordered = compared.sort("value")
    columns = ("expression_a", "expression_b", "value", "n_actors")
    extremes = (
        wording.extreme_text(most, *ordered.select(columns).row(row))
        for most, row in (("Least", 0), ("Most", -1))
    )
    chosen = chosen_text(clusters.chosen)
    return (
        wording.differences_text(len(cells.expressions), len(cells.actors), method),
        *extremes,
        wording.clusters_text(clusters.k, chosen, clusters.method, clusters.reason),
    )


def _figures(
    cells: Cells, clusters: LabelClusters, priority: pl.DataFrame, unit: str
) -> tuple[Figure, ...]:
    """Declare the differences in the order of their tree, its heights, and the priority."""
    ok = clusters.ok
    # Expressions that are not in the tree stand behind it.
    names = [*clusters.labels, *clusters.left_out] if ok else list(cells.expressions)
    numbers = clusters.cluster.tolist()
    of_cluster = dict(zip(clusters.labels, numbers, strict=True)) if ok else {}
    members = list(clusters.members().values())
    heat = Figure(
        "expression_differences",
        "expression_heatmap",
        "pairs",
        "Mean differences of expressions",
        description=wording.heatmap_text(len(names), members, clusters.reason),
        options={
            "names": names,
            "linkage": clusters.linkage.tolist() if ok else None,
            "cluster": of_cluster,
            "value_name": wording.difference_axis(unit),
        },
    )
    elbow = Figure(
        "expression_elbow",
        "expression_elbow",
        "elbow",
        "Heights of the tree of expressions",
        description=f"{plural(clusters.k, 'cluster')} ({chosen_text(clusters.chosen)}).",
        options={"chosen": clusters.k, "value_name": wording.difference_axis(unit)},
    )
    names = priority["expression"].to_list()
    care = Figure(
        "rendering_priority",
        "expression_priority",
        "priority",
        "Rendering priority",
        description=wording.care_text(names[0], names[-1]),
        options={
            "has_clusters": ok,
            "value_name": wording.difference_axis(unit, from_others=True),
            "interval_name": wording.RANK_INTERVAL,
        },
    )
    return (heat, elbow, care) if ok else (heat, care)


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

        ``matrix``, ``n_actors`` and ``n_pairs`` are squares of shape (n, n) in the order of
        ``expressions``; ``priority`` and ``elbow`` are tables, ``clusters`` the tree as
        :func:`cluster_labels` gives it, ``actor_effects`` and ``role_effects`` what was
        taken out.

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
    check_choice("linkage", linkage, get_args(Linkage))
    check_choice("way to treat missing cells", missing, get_args(Missing))
    check_choice("kind of resampling", resample, get_args(Resample))
    check_number("n_boot", n_boot, 0, whole=True)
    check_confidence(confidence)
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
    clusters = expression_tree(cells, matrix, drawn, linkage, k, missing)
    method = wording.averaging(adjusted=adjust)
    n_actors = square(cells, asked.sum(axis=1), 0).astype(np.int64)
    n_pairs = square(cells, cells.n_pairs.sum(axis=1), 0).astype(np.int64)
    priority = priority_of(
        cells, matrix, np.array(drawn), clusters, resample, confidence, method, n_pairs
    )
    compared = _compared(cells, matrix, n_actors, n_pairs)
    of_actors = dict(zip(cells.actors, effect.tolist(), strict=True)) if adjust else {}
    effects = [("actor", *pair) for pair in of_actors.items()]
    effects += [("role", *pair) for pair in cells.role_effects.items()]
    elbow = elbow_of(clusters)
    return ExpressionDifferences(
        (
            Table("pairs", "Pairs of expressions.", compared, _PAIRS, limit=0),
            clusters.table("clusters"),
            Table(
                "priority",
                wording.PRIORITY,
                priority,
                _PRIORITY,
                limit=_MOST,
            ),
            Table("elbow", wording.HEIGHTS, elbow, _ELBOW, limit=0),
            replace(clusters.table("labels"), name="expressions"),
            Table(
                "effects",
                wording.EFFECTS,
                pl.DataFrame(effects, _EFFECT_TYPES, orient="row"),
                _EFFECTS,
                limit=0,
            ),
        ),
        _sentences(cells, compared, clusters, f"{method} ({pairs.unit})"),
        _figures(cells, clusters, priority, pairs.unit),
        notes=(
            *cells.notes(),
            *_gaps(cells, clusters, missing),
            *_groups(clusters, elbow, k),
            *pairs.notes,
        ),
        expressions=cells.expressions,
        actors=cells.actors,
        matrix=matrix,
        n_actors=n_actors,
        n_pairs=n_pairs,
        clusters=clusters,
        actor_effects=of_actors,
        role_effects=cells.role_effects,
        method=method,
        unit=pairs.unit,
    )


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
    of = n * (n - 1) // 2
    lacking = of - cells.first.size
    if not lacking:
        return ()
    return (wording.not_compared(lacking, of, clusters.left_out, filled=missing == "fill"),)


def _groups(clusters: LabelClusters, elbow: pl.DataFrame, k: int | Choice) -> tuple[str, ...]:
    """Say where an elbow was asked for and the tree has none to speak of."""
    of = len(clusters.labels)
    if k != "elbow" or not clusters.ok or of < _FEWEST:
        return ()
    bend = elbow.filter(n_clusters=clusters.k)["bend"].to_list()
    if 2 * clusters.k <= of and bend and bend[0] > 0:
        return ()
    return (wording.no_elbow(clusters.k, of),)
