"""How labels go together: correlations over stimuli."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.analysis.labels import wording
from affectlab.analysis.profiles import label_groups, neutral_label, vectors_of
from affectlab.core.arrays import blocks_of
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import infer
from affectlab.core.render.notes import row_status_text
from affectlab.core.statistic import Draws, from_weights
from affectlab.core.tables import Count, Figure, Interval, Key, Table, Value
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import plural
from affectlab.ratings import ClusterLike, Ratings, canonical, require_order, stimulus_clusters

# Correlations of the columns of a table, and of its bootstrap samples, from weighted moments.


_TOLERANCE = 1e-12
"""Mean square, relative to that of the largest deviation, below which a column is constant."""
_ROUNDING = 1e-13
"""What rounding may leave of a constant column, relative to its size."""
_BLOCK = 1 << 22
"""Entries of a matrix of products that are held at once."""


def pearson(values: Floats, weights: Floats, first: Ints, second: Ints) -> Floats:
    """Correlate pairs of columns over the rows that both have, for each row of weights.

    Parameters
    ----------
    values
        Shape (n, L), ``nan`` where missing.
    weights
        How often each row counts, shape (B, n).
    first, second
        Columns of each pair, shape (P,).

    Returns
    -------
    Shape (B, P), ``nan`` where a column is constant or fewer than two rows are shared.
    """
    present = ~np.isnan(values)
    sizes = np.nanmax(np.abs(values), axis=0, initial=0.0, where=present)
    centre = np.where(present, values, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    x = np.where(present, values - centre, 0.0)
    limit = _TOLERANCE * np.abs(x).max(axis=0, initial=0.0) ** 2 + (_ROUNDING * sizes) ** 2
    limit_a, limit_b = limit[first], limit[second]
    if present.all():
        n = np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
        own = weights @ x
        squares = weights @ (x * x) - own**2 / n
        mean_a, mean_b = own[:, first], own[:, second]
        both = _products(weights, x, x, first, second) - mean_a * mean_b / n
        return _ratio(both, squares[:, first], squares[:, second], n, limit_a, limit_b)
    m = present.astype(np.float64)
    n = _products(weights, m, m, first, second)
    safe = np.maximum(n, 1.0)
    mean_a = _products(weights, x, m, first, second)
    mean_b = _products(weights, m, x, first, second)
    both = _products(weights, x, x, first, second) - mean_a * mean_b / safe
    square_a = _products(weights, x * x, m, first, second) - mean_a**2 / safe
    square_b = _products(weights, m, x * x, first, second) - mean_b**2 / safe
    return _ratio(both, square_a, square_b, n, limit_a, limit_b)


def _ratio(
    both: Floats, square_a: Floats, square_b: Floats, n: Floats, limit_a: Floats, limit_b: Floats
) -> Floats:
    defined = (square_a > limit_a * n) & (square_b > limit_b * n) & (n > 1.5)
    scale = np.sqrt(np.where(defined, square_a, 1.0)) * np.sqrt(np.where(defined, square_b, 1.0))
    return np.where(defined, np.clip(both / scale, -1, 1), np.nan)


def _products(weights: Floats, a: Floats, b: Floats, first: Ints, second: Ints) -> Floats:
    """Weighted sums of products of columns, a block of rows at a time."""
    total = np.zeros((weights.shape[0], first.size))
    rows = max(1, _BLOCK // max(first.size, 1))
    for start in range(0, a.shape[0], rows):
        part = slice(start, start + rows)
        total += weights[:, part] @ (a[part][:, first] * b[part][:, second])
    return total


def spearman(values: Floats, weights: Floats, first: Ints, second: Ints) -> Floats:
    """Correlate the ranks of pairs of columns, ranked anew for each row of weights.

    Takes and gives what :func:`pearson` does. Rows that a pair does not share are left out before
    ranking.
    """
    present = ~np.isnan(values)
    if present.all():
        return _rank_correlations(values, weights)[:, first, second]
    found = np.full((weights.shape[0], first.size), np.nan)
    for k in range(first.size):
        shared = present[:, first[k]] & present[:, second[k]]
        if shared.sum() > 1:
            pair = values[shared][:, [first[k], second[k]]]
            found[:, k] = _rank_correlations(pair, weights[:, shared])[:, 0, 1]
    return found


def _rank_correlations(values: Floats, weights: Floats) -> Floats:
    from affectlab.analysis.labels.kernels import weighted_ranks
    from affectlab.core.compiled import in_threads, n_threads

    n, n_labels = values.shape
    order = np.ascontiguousarray(np.argsort(values, axis=0, kind="stable").T)
    rising = np.take_along_axis(values.T, order, axis=1)
    last: Bools = np.ones(order.shape, dtype=np.bool_)
    last[:, :-1] = rising[:, 1:] != rising[:, :-1]
    found = np.empty((weights.shape[0], n_labels, n_labels))

    def some(rows: slice) -> None:
        rank = np.empty((n, n_labels))
        for replicate in range(*rows.indices(weights.shape[0])):
            weight = np.ascontiguousarray(weights[replicate])
            weighted_ranks(order, last, weight, rank)
            product = (rank * weight[:, None]).T @ rank
            spread = np.sqrt(np.maximum(np.diagonal(product), 0.0))
            # Ranks are multiples of one half, so equal ranks give exactly no spread.
            spread = np.where(spread > 0, spread, np.nan)
            found[replicate] = np.clip(product / spread / spread[:, None], -1, 1)

    step = -(-weights.shape[0] // n_threads())
    in_threads(some, [slice(k, k + step) for k in range(0, weights.shape[0], step)])
    return found


_METHODS = {"pearson": pearson, "spearman": spearman}

_FEW = Reason(Cause.FEWER, least=3, of="stimuli in common")
_CONSTANT = Reason(Cause.CONSTANT, of="answers to a label")


@dataclass(frozen=True, repr=False, kw_only=True)
class LabelCorrelations(Estimates):
    """Correlations of every pair of labels over stimuli, by ``label_a`` and ``label_b``.

    Everything of shape (L, L) is in the order of ``labels``.
    """

    labels: tuple[str, ...]
    matrix: Floats
    """Correlations in [-1, 1], shape (L, L); 1 on the diagonal, ``nan`` where not defined."""
    low: Floats
    """Lower ends of the intervals, shape (L, L)."""
    high: Floats
    """Upper ends of the intervals, shape (L, L)."""
    n: Ints
    """Stimuli that both labels were asked about, shape (L, L)."""
    groups: tuple[str, ...] | None = None
    """Sentiment of each label, where the taxonomy says."""
    excluded: tuple[str, ...] = ()
    """Labels that were left out on request."""

    def strongest(self, n: int = 5) -> pl.DataFrame:
        """Give the n highest and the n lowest of the defined correlations, highest first."""
        return _strongest(self.frame, n)


def _strongest(frame: pl.DataFrame, n: int = 5) -> pl.DataFrame:
    known = frame.filter(pl.col("value").is_not_nan())
    ordered = known.sort("value", descending=True, maintain_order=True)
    if ordered.height <= 2 * n:
        return ordered
    return pl.concat([ordered.head(n), ordered.tail(n)])


def _tables(pairs: Estimates) -> tuple[Table, Table]:
    columns = (
        Key("label_a", "label"),
        Key("label_b", "label"),
        Value(head="correlation"),
        Interval(),
        Count("n_items", "stimuli"),
    )
    return (
        Table("correlations", "Correlations of all pairs.", pairs.frame, columns, limit=0),
        Table("strongest", wording.STRONGEST, _strongest(pairs.frame), columns),
    )


def _sentences(
    frame: pl.DataFrame, names: Sequence[str], method: str, excluded: Sequence[str]
) -> tuple[str, ...]:
    """Say how many labels there are, which pairs have no correlation, and what was left out."""
    lacking = frame.filter(pl.col("status") != "ok")
    reasons = sorted({row_status_text(row) for row in lacking.iter_rows(named=True)})
    return (
        wording.correlations_text(method, len(names)),
        *([wording.lacking_text(lacking.height, frame.height, reasons)] if reasons else []),
        *([wording.excluded_text(excluded)] if excluded else []),
    )


def label_correlations(
    ratings: Ratings | ArrayLike,
    *,
    labels: Sequence[str] | None = None,
    method: Literal["pearson", "spearman"] = "pearson",
    exclude_neutral: bool = True,
    n_boot: int = 1000,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> LabelCorrelations:
    """Correlate labels over stimuli, after averaging the people's answers per stimulus.

    Parameters
    ----------
    ratings
        Ratings (people where there are both people and models; main trials; of a rater's repeats
        the first; on a nominal scale without labels the categories are the labels), or an array of
        shape (stimuli, labels), ``nan`` where a label was not asked about.
    labels
        Names of the columns of an array.
    method
        ``"pearson"``, as in the paper, or ``"spearman"``.
    exclude_neutral
        Leave out the label that stands for no emotion.
    n_boot
        Bootstrap replicates over stimuli for the intervals; 0: no intervals.
    confidence
        Coverage of the (percentile) intervals.
    cluster
        What stimuli belong to, and are drawn with: a column of the stimulus table, a mapping from
        stimulus to cluster, or, for an array, the cluster of each row; ``"none"`` for stimuli drawn
        one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share. Fewer than five clusters give no interval.
    seed
        Same seed, same result.

    Returns
    -------
    LabelCorrelations
        A pair is correlated over the stimuli that both labels were asked about; it is ``nan``,
        with a status, where these are fewer than three or a label does not vary over them. A label
        that was not asked about is missing, not 0: see :meth:`affectlab.Ratings.fill_absent`.

        ``matrix``, ``low``, ``high`` and ``n`` are squares of shape (L, L) in the order of
        ``labels``; ``found["joy", "awe"]`` is one estimate, ``strongest(n)`` a table of the
        highest and lowest.

    Raises
    ------
    InputError
        If the answers are no numbers, or fewer than two labels are left.

    References
    ----------
    Demszky et al. (2020), GoEmotions, section 4.2.

    Examples
    --------
    >>> found = label_correlations([[0, 0, 5], [1, 2, 4], [3, 3, 1]], labels=["joy", "awe", "fear"])
    >>> found.matrix.round(2).tolist()
    [[1.0, 0.93, -1.0], [0.93, 1.0, -0.89], [-1.0, -0.89, 1.0]]
    >>> found["joy", "awe"].n_items
    3
    """
    ratings = canonical(ratings)
    check_choice("method", method, _METHODS)
    check_number("n_boot", n_boot, 0, whole=True)
    if not (isinstance(ratings, Ratings) and ratings.scale.kind == "nominal"):
        require_order(ratings, "the correlation of labels")
    profiles = vectors_of(ratings, labels)
    neutral = neutral_label(ratings, profiles.labels) if exclude_neutral else None
    used = [k for k, name in enumerate(profiles.labels) if name != neutral]
    if len(used) < 2:
        raise InputError(f"{len(used)} label is left; expected two or more to correlate")
    names = tuple(profiles.labels[k] for k in used)
    values = profiles.mean[:, used]
    first, second = (part.astype(np.int64) for part in np.triu_indices(len(used), 1))
    shared = _shared(values, first, second)
    several, correlate = np.flatnonzero(shared >= 3), _METHODS[method]
    found = stimulus_clusters(ratings if isinstance(ratings, Ratings) else values.T, cluster)
    kinds, counts = _kinds(values) if found.of is None else (values, None)

    def evaluate(weights: Floats) -> Floats:
        known = np.full((len(weights), first.size), np.nan)
        known[:, several] = correlate(kinds, weights, first[several], second[several])
        return known

    def draw(rng: np.random.Generator, n_boot: int) -> Iterator[Draws]:
        """Draw how many stimuli of each kind there are, which is the same as drawing stimuli."""
        assert counts is not None
        n = int(counts.sum())
        for size in blocks_of(n_boot, counts.size):
            drawn = rng.multinomial(n, counts / n, size=size)
            yield Draws(size, drawn.astype(np.float64))

    statistic = from_weights(
        {"label_a": [names[k] for k in first], "label_b": [names[k] for k in second]},
        len(kinds),
        evaluate,
        method=[wording.correlation_method(method)] * first.size,
        undefined=[_FEW if few else _CONSTANT for few in shared < 3],
        n_items=shared,
        n_raters=profiles.n_raters,
        n_ratings=profiles.n_ratings,
        times=counts,
        draw=None if counts is None else draw,
    )
    pairs = infer(
        statistic,
        n_boot=n_boot,
        confidence=confidence,
        seed=seed,
        clusters=found.on(profiles.stimuli),
    )
    point, low, high = (pairs.frame[name].to_numpy() for name in ("value", "low", "high"))
    excluded = () if neutral is None else (neutral,)
    groups = label_groups(ratings, names)
    return LabelCorrelations(
        _tables(pairs),
        _sentences(pairs.frame, names, method, excluded),
        (
            Figure(
                "label_correlations",
                "label_heatmap",
                "correlations",
                "Correlations of labels",
                description=f"{plural(len(names), 'label')}.",
                options={"names": list(names), "groups": None if groups is None else list(groups)},
            ),
        ),
        labels=names,
        matrix=_square(point, first, second, len(used), _diagonal(values)),
        low=_square(low, first, second, len(used)),
        high=_square(high, first, second, len(used)),
        n=_square(shared, first, second, len(used), (~np.isnan(values)).sum(axis=0)).astype(
            np.int64
        ),
        groups=groups,
        excluded=excluded,
        notes=found.notes_for(pairs.frame["target"]),
        replicates=pairs.replicates,
    )


def _kinds(values: Floats) -> tuple[Floats, Ints | None]:
    """Join stimuli whose answers are the same, where that makes far fewer of them; and count them.

    A bootstrap sample of stimuli is then drawn as counts of their kinds, which is the same draw.
    """
    if np.isnan(values).any():
        return values, None
    kinds, counts = np.unique(values, axis=0, return_counts=True)
    return (kinds, counts.astype(np.int64)) if 4 * len(counts) < len(values) else (values, None)


def _shared(values: Floats, first: Ints, second: Ints) -> Ints:
    present = (~np.isnan(values)).astype(np.float64)
    both: Ints = np.rint(present.T @ present).astype(np.int64)[first, second]
    return both


def _diagonal(values: Floats) -> Floats:
    """1 for a label that varies, ``nan`` for one that does not."""
    known = ~np.isnan(values)
    spread = np.where(known, values, -np.inf).max(axis=0) > np.where(known, values, np.inf).min(
        axis=0
    )
    return np.where(spread, 1.0, np.nan)


def _square(
    pairs: Floats | Ints, first: Ints, second: Ints, n: int, diagonal: Floats | Ints | None = None
) -> Floats:
    """Spread values of pairs over both halves of a square."""
    square = np.full((n, n), np.nan)
    square[first, second] = square[second, first] = pairs
    if diagonal is not None:
        np.fill_diagonal(square, diagonal)
    return square
