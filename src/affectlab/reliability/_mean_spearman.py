"""How well raters, such as models, rank stimuli as a reference does, averaged over labels."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from affectlab._resampling import INTERVALS, Uncertainty, by_name, check_confidence, summarise
from affectlab._types import Floats
from affectlab.errors import InputError, unknown_name
from affectlab.estimates import Estimates
from affectlab.ratings import Ratings
from affectlab.ratings._order import canonical
from affectlab.ratings.arrays import require_order
from affectlab.reliability._spearman_panel import (
    Aggregate,
    Panel,
    correlations,
    panel_of,
    replicates_over_units,
)

__all__ = ["mean_spearman"]

Over: TypeAlias = Literal["units", "labels"]


def mean_spearman(
    reference: Ratings | ArrayLike,
    others: Ratings | ArrayLike,
    *,
    aggregate: Aggregate = "median",
    exclude: Collection[str] = (),
    by_label: bool = False,
    n_boot: int = 1000,
    resample: Over = "units",
    interval: str = "percentile",
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    r"""Correlate the ratings of each rater with a reference, and average over labels.

    With :math:`y_{je}` the median of the reference ratings of stimulus j on label e,

    .. math:: \rho_r = \frac{1}{|E_r|} \sum_{e \in E_r}
        \mathrm{Spearman}_j (x_{rje}, y_{je}),

    over the stimuli that r rated, and the labels :math:`E_r` on which the correlation is defined.
    The bootstrap draws stimuli, once for all raters and labels, and **recomputes the ranks** in
    every replicate; keeping the ranks of the full sample is another statistic, with too small a
    spread.

    Parameters
    ----------
    reference
        Ratings, of people for example, which are aggregated; or an array of shape (labels, units).
    others
        Ratings, of models for example, each rater by itself; or an array of shape
        (raters, labels, units). ``nan`` where there is no rating.
    aggregate
        ``"median"`` or ``"mean"`` of the reference ratings of a stimulus and label.
    exclude
        Labels that are left out.
    by_label
        Give the correlation of every rater on every label in place of the means.
    n_boot
        Bootstrap replicates; 0 for no interval.
    resample
        ``"units"`` draws stimuli. ``"labels"`` draws labels, and is about the mean over a larger
        population of labels; it needs ``by_label=False``.
    interval
        Kind of bootstrap interval.
    confidence
        Coverage of the interval, in (0, 1).
    seed
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    Estimates in [-1, 1], by ``rater``, or by ``rater`` and ``label``. ``n_items`` counts stimuli
    that the rater and the reference share (on any label), ``n_ratings`` the pairs, ``n_raters``
    the raters behind the reference. By ``rater`` the extra columns ``n_labels`` and
    ``n_undefined`` count the labels in the mean and those left out. The value is ``nan`` with a
    status where a side is constant or fewer than two stimuli are shared.

    Raises
    ------
    InputError
        If the two share no label or no stimulus, or an option cannot be used.

    Notes
    -----
    A replicate costs one pass over the stimuli for every rater and label: ranks follow from
    cumulative weights along an order that is sorted once.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, section 4, which reports such means with bootstrap
    intervals.

    Examples
    --------
    >>> people = [[1, 2, 3, 4, 5], [5, 3, 3, 1, 0]]
    >>> model = [[[1, 2, 3, 5, 4], [6, 2, 3, 0, 1]]]
    >>> table = mean_spearman(people, model, n_boot=200, seed=1)
    >>> round(table["0"].value, 4)
    0.886
    >>> mean_spearman(people, model, by_label=True)["0", "0"].value
    0.9
    """
    reference, others = canonical(reference), canonical(others, listed="raters")
    _check(n_boot, resample, interval, by_label, confidence)
    require_order(reference, "the mean Spearman correlation")
    panel = panel_of(reference, others, aggregate, exclude)
    point = correlations(panel)
    rng = np.random.default_rng(seed)
    if by_label:
        spread = None
        if n_boot:
            replicates = replicates_over_units(panel, n_boot, rng)
            spread = summarise(point.ravel(), replicates.reshape(n_boot, -1), confidence, interval)
        return _by_label(panel, point, spread, _method(aggregate, interval, n_boot, "units"))
    mean = _mean_of_defined(point)
    spread = None
    if n_boot and resample == "units":
        replicates = _mean_of_defined(replicates_over_units(panel, n_boot, rng))
        spread = summarise(mean, replicates, confidence, interval)
    elif n_boot:
        n_labels = len(panel.labels)
        places = np.array(by_name(panel.labels))
        drawn = places[rng.integers(0, n_labels, size=(n_boot, n_labels))]
        replicates = np.stack([_mean_of_defined(point[:, rows]) for rows in drawn])
        spread = summarise(mean, replicates, confidence, interval)
    return _by_rater(panel, point, mean, spread, _method(aggregate, interval, n_boot, resample))


def _check(n_boot: int, resample: str, interval: str, by_label: bool, confidence: float) -> None:
    if resample not in ("units", "labels"):
        raise unknown_name("resample", str(resample), ("units", "labels"))
    if by_label and resample == "labels":
        raise InputError(
            "resample 'labels': a single label cannot be resampled; use by_label=False"
        )
    if interval not in INTERVALS:
        raise unknown_name("interval", str(interval), INTERVALS)
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap replicates")
    check_confidence(confidence)


def _mean_of_defined(values: Floats) -> Floats:
    """Mean over the last axis of the values that are defined."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=-1)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    mean: Floats = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
    return mean


def _method(aggregate: str, interval: str, n_boot: int, resample: str) -> tuple[str, str]:
    text = f"Spearman with the {aggregate} of the reference"
    if not n_boot:
        return text, "none"
    return f"{text}; {interval} bootstrap, ranks recomputed, {n_boot} replicates", resample


def _by_label(
    panel: Panel, point: Floats, spread: Uncertainty | None, method: tuple[str, str]
) -> Estimates:
    n_labels = len(panel.labels)
    n = panel.n_pairs.ravel()
    value = point.ravel()
    status = np.where(np.isnan(value), "undefined: constant ratings", "ok")
    status = np.where(n < 2, "undefined: fewer than two stimuli shared", status)
    return Estimates.build(
        {
            "rater": [name for name in panel.raters for _ in range(n_labels)],
            "label": list(panel.labels) * len(panel.raters),
        },
        value=value,
        **_ends(spread),
        method=_with_reasons(method[0], spread, value.size),
        resampled=method[1],
        n_items=n,
        n_raters=panel.n_reference_raters,
        n_ratings=n,
        status=status.tolist(),
    )


def _by_rater(
    panel: Panel,
    point: Floats,
    mean: Floats,
    spread: Uncertainty | None,
    method: tuple[str, str],
) -> Estimates:
    import polars as pl

    defined = (~np.isnan(point)).sum(axis=1)
    status = np.where(defined > 0, "ok", "undefined: no label with a defined correlation")
    table = Estimates.build(
        {"rater": panel.raters},
        value=mean,
        **_ends(spread),
        method=_with_reasons(f"mean over labels; {method[0]}", spread, mean.size),
        resampled=method[1],
        n_items=panel.n_items,
        n_raters=panel.n_reference_raters,
        n_ratings=panel.n_pairs.sum(axis=1),
        status=status.tolist(),
    )
    return Estimates(
        table.frame.with_columns(
            pl.Series("n_labels", defined, dtype=pl.Int64),
            pl.Series("n_undefined", len(panel.labels) - defined, dtype=pl.Int64),
        ),
        table.keys,
    )


def _with_reasons(method: str, spread: Uncertainty | None, n: int) -> list[str]:
    """Say why rows have no interval."""
    missing = ("",) * n if spread is None else spread.missing
    return ["; ".join(filter(None, (method, reason))) for reason in missing]


def _ends(spread: Uncertainty | None) -> dict[str, Floats]:
    return {} if spread is None else {"se": spread.se, "low": spread.low, "high": spread.high}
