"""Cohen's kappa: of two raters, of all pairs of raters, and of two ratings drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab._resampling import check_confidence
from affectlab._types import Floats, Ints
from affectlab.errors import InputError
from affectlab.estimates import Estimate, Estimates
from affectlab.ratings import Ratings, Scale
from affectlab.ratings._order import canonical
from affectlab.ratings.arrays import Answers, answers_of, require_order
from affectlab.reliability._coefficient import coefficient
from affectlab.reliability._kappa_dense import dense_kappas, dense_panel
from affectlab.reliability._kappa_results import KappaResult, side_of
from affectlab.reliability._kappa_tables import (
    KappaTable,
    Weights,
    kappa_of_tables,
    levels_of,
    pairwise_tables,
    to_levels,
)

__all__ = [
    "declared_levels",
    "pairwise_kappa",
    "positions_of",
    "random_pair_kappa",
    "scale_text",
    "weighted_kappa",
]


def weighted_kappa(
    a: ArrayLike,
    b: ArrayLike,
    *,
    weights: Weights = "quadratic",
    scale: Scale | str | ArrayLike,
    confidence: float = 0.95,
) -> Estimate:
    r"""Compute the weighted kappa of two raters on a declared scale.

    .. math:: \kappa = 1 - \sum_{ij} w_{ij} o_{ij} / \sum_{ij} w_{ij} e_{ij}

    with :math:`w_{ij} = (i - j)^2`, :math:`|i - j|` or :math:`[i \ne j]` over *all* levels of the
    scale, so the result does not hang on which values happen to occur.

    Parameters
    ----------
    a, b
        Ratings of the same items, shape (n,), ``nan`` where there is none; items that lack one are
        left out. Values between levels are rounded to the nearest.
    weights
        ``"quadratic"``, ``"linear"`` or ``"nominal"`` (unweighted).
    scale
        A :class:`~affectlab.ratings.Scale`, its short form such as ``"0-7"``, or its levels.
    confidence
        Coverage of the interval, from the standard error of Fleiss, Cohen and Everitt (1969).

    Returns
    -------
    Estimate in [-1, 1]; ``nan`` with a status when there are no common items, or both raters give
    one and the same value throughout.

    Raises
    ------
    InputError
        If the lengths differ or a value is off the scale.

    References
    ----------
    Cohen (1968), Psychological Bulletin 70.

    Examples
    --------
    >>> a, b = [0, 3, 7, 0, 3, 7], [0, 3, 3, 0, 7, 7]
    >>> weighted_kappa(a, b, scale="0-7")
    Estimate(0.676 [0.255, 1.000], Cohen's kappa, quadratic weights, ordinal 0 to 7, step 1; ...)
    """
    matrix = [np.asarray(side, dtype=np.float64) for side in (a, b)]
    if matrix[0].ndim != 1 or matrix[0].shape != matrix[1].shape:
        raise InputError(
            "expected two arrays of one length, one rating per item, "
            f"got shapes {matrix[0].shape} and {matrix[1].shape}"
        )
    result = pairwise_kappa(np.vstack(matrix), weights=weights, scale=scale, confidence=confidence)
    return result["rating", "0", "1"]


def pairwise_kappa(
    ratings: Ratings | ArrayLike,
    *,
    weights: Weights | None = None,
    scale: Scale | str | ArrayLike | None = None,
    truncate: bool = False,
    confidence: float = 0.95,
) -> KappaResult:
    """Compute the weighted kappa of every pair of raters on every label.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating.
    weights
        ``"quadratic"``, ``"linear"`` or ``"nominal"``; see :func:`weighted_kappa`. By default
        quadratic, and nominal for ratings on a nominal scale, whose categories have no order.
    scale
        The declared scale; by default that of the ratings. An array needs it said.
    truncate
        Drop fractions as ``int()`` does, in place of rounding to the nearest level. Only for
        reproducing tables that were computed so.
    confidence
        Coverage of the intervals.

    Returns
    -------
    One row per label and pair, by ``label``, ``rater_a`` and ``rater_b`` in the order of the
    raters, with ``pair_kind``. ``n_items`` counts the items that both rated. Kappa is ``nan`` with
    a status where a pair has no common items or one category. Where nothing varies (perfect
    agreement, two items) the large-sample formula gives 0, and there is no interval
    (:mod:`affectlab.estimates`).

    Raises
    ------
    InputError
        If a value is off the scale, or the scale has no levels.

    Examples
    --------
    >>> table = pairwise_kappa([[0, 3, 7, 0], [0, 3, 3, 0], [1, 4, 7, 0]], scale="0-7")
    >>> round(table["rating", "0", "2"].value, 3)
    0.969
    """
    check_confidence(confidence)
    if weights is None:
        nominal = scale is None and isinstance(ratings, Ratings) and ratings.scale.kind == "nominal"
        weights = "nominal" if nominal else "quadratic"
    elif weights != "nominal" and scale is None:
        require_order(ratings, f"kappa with {weights} weights")
    declared = scale
    if declared is None and isinstance(ratings, Ratings) and ratings.scale.kind != "text":
        declared = ratings.scale
    if declared is not None:
        panel = dense_panel(ratings, levels_of(declared), truncate=truncate)
        if panel is not None:
            table = dense_kappas(panel, weights, confidence)
            return _kappa_result(
                panel.labels,
                panel.raters,
                panel.rater_kinds,
                table,
                _method(weights, declared, truncate),
            )
    answers = answers_of(ratings)
    levels = declared_levels(answers, scale)
    position = positions_of(answers, levels, truncate=truncate)
    kept = answers.cell_sizes() >= 2
    answers, position = answers.take(kept), position[kept]
    table = pairwise_tables(answers, position, levels.size, weights, confidence)
    return _kappa_result(
        answers.labels,
        answers.raters,
        answers.rater_kinds,
        table,
        _method(weights, scale if scale is not None else answers.scale, truncate),
    )


@coefficient
def random_pair_kappa(
    ratings: Ratings | ArrayLike,
    *,
    weights: Weights = "nominal",
    scale: Scale | str | ArrayLike | None = None,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimate | Estimates:
    """Compute Cohen's kappa between two ratings drawn at random for every example.

    Parameters
    ----------
    ratings, weights, scale, confidence
        As for :func:`pairwise_kappa`; by default unweighted.
    seed
        Seed or generator of the draw. Two raters are drawn per stimulus, in random order, and
        serve all labels that both rated.

    Returns
    -------
    Estimates by ``label``, or one :class:`~affectlab.estimates.Estimate` for an array. The standard
    error does not cover the draw.

    References
    ----------
    Demszky et al. (2020), GoEmotions, appendix C.

    Examples
    --------
    >>> yes_no = [[1, 0, 1, 0], [1, 0, 0, 0], [1, 0, 1, 0]]
    >>> random_pair_kappa(yes_no, scale="binary", seed=1).n_items
    4
    """
    ratings = canonical(ratings)
    check_confidence(confidence)
    answers = answers_of(ratings)
    levels = declared_levels(answers, scale)
    position = positions_of(answers, levels, truncate=False)
    first, second = _drawn_pairs(answers, np.random.default_rng(seed))
    n_labels, size = len(answers.labels), levels.size
    key = (answers.label[first] * size + position[first]) * size + position[second]
    counts = np.bincount(key, minlength=n_labels * size**2).reshape(n_labels, size, size)
    table = kappa_of_tables(counts, weights, confidence)
    drawn = np.concatenate([first, second])
    seen = np.unique(answers.label[drawn] * len(answers.raters) + answers.rater[drawn])
    return Estimates.build(
        {"label": answers.labels},
        **_values(table),
        method="two ratings drawn at random; "
        + _method(weights, scale if scale is not None else answers.scale, False),
        n_raters=np.bincount(seen // max(len(answers.raters), 1), minlength=n_labels).tolist(),
        n_ratings=2 * table.n,
    )


def _drawn_pairs(answers: Answers, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw two answers of every (label, unit): those whose raters come first in a random order."""
    seen, place = np.unique(answers.unit * len(answers.raters) + answers.rater, return_inverse=True)
    order = np.lexsort((rng.random(seen.size)[place], answers.cell))
    cell = answers.cell[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1) != 0)
    first = first[first + 1 < cell.size]
    first = first[cell[first] == cell[first + 1]]
    return order[first], order[first + 1]


def declared_levels(answers: Answers, scale: Scale | str | ArrayLike | None) -> Floats:
    """Give the levels of the scale that is said, or else of the ratings."""
    if scale is not None:
        return levels_of(scale)
    if answers.scale is None:
        raise InputError("an array of ratings has no scale: scale is expected, such as '0-7'")
    return levels_of(answers.scale)


def positions_of(answers: Answers, levels: Floats, *, truncate: bool) -> Ints:
    """Place every answer on the levels; raise for the first value that is off the scale."""
    position, off = to_levels(answers.value, levels, truncate=truncate)
    if off.size:
        row = off[0]
        raise InputError(
            f"rater {answers.raters[answers.rater[row]]!r}, "
            f"stimulus {answers.units[answers.unit[row]]!r}: value {answers.value[row]:g} is off "
            f"the scale {levels[0]:g}..{levels[-1]:g}"
        )
    return position


def scale_text(scale: Any) -> str:
    """Name a declared scale, given in any of the ways that are allowed."""
    named = Scale.parse(scale) if isinstance(scale, str) else scale
    return str(named) if isinstance(named, Scale) else f"levels {levels_of(named).tolist()}"


def _method(weights: str, scale: Any, truncate: bool) -> str:
    how = "unweighted" if weights == "nominal" else f"{weights} weights"
    text = scale_text(scale)
    return f"Cohen's kappa, {how}, {text}" + (", fractions dropped" if truncate else "")


def _values(table: KappaTable) -> dict[str, Any]:
    return {
        "value": table.value,
        "se": table.se,
        "low": table.low,
        "high": table.high,
        "n_items": table.n,
        "status": table.status,
    }


def _kappa_result(
    labels: tuple[str, ...],
    rater_names: tuple[str, ...],
    rater_kinds: tuple[str, ...],
    kappas: KappaTable,
    method: str,
) -> KappaResult:
    import polars as pl

    n_labels, n_raters = len(labels), len(rater_names)
    first, second = np.triu_indices(n_raters, 1)
    raters = np.array(rater_names, dtype=object)
    human = np.array([side_of(kind) == "human" for kind in rater_kinds], dtype=bool)
    names = np.array(["model-model", "human-model", "human-human"], dtype=object)
    kinds = names[human[first].astype(int) + human[second]]
    table = Estimates.build(
        {
            "label": np.repeat(np.array(labels, dtype=object), first.size).tolist(),
            "rater_a": np.tile(raters[first], n_labels).tolist(),
            "rater_b": np.tile(raters[second], n_labels).tolist(),
        },
        **_values(kappas),
        method=method,
        n_raters=2,
        n_ratings=2 * kappas.n,
    )
    kind_column = pl.Series("pair_kind", np.tile(kinds, n_labels).tolist(), dtype=pl.String)
    return KappaResult(
        table.frame.with_columns(kind_column),
        table.keys,
        raters=rater_names,
        rater_kinds=rater_kinds,
    )
