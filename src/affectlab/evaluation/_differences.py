"""How well metrics predict scores, such as how different two expressions look."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._resampling import Uncertainty, check_confidence, summarise
from affectlab._types import Floats
from affectlab._words import joined, plural
from affectlab.errors import InputError, unknown_name
from affectlab.estimates import Estimates
from affectlab.evaluation._differences_bootstrap import METRICS, Measured, measure, replicate
from affectlab.evaluation._differences_compare import counts_of, resampled_name
from affectlab.evaluation._differences_data import SCORES, Attributes, Pairs, Score, pairs_of
from affectlab.evaluation._differences_result import Differences
from affectlab.ratings import Ratings
from affectlab.ratings._order import canonical

__all__ = ["difference_metrics"]

_IN_WORDS = {
    "srocc": "Spearman's rank correlation",
    "plcc": "Pearson's correlation",
    "plcc_fit": "Pearson's correlation after a logistic fit",
    "kendall": "Kendall's tau-b",
    "rmse": "root mean squared error",
    "rmse_fit": "root mean squared error after a logistic fit",
    "mae": "mean absolute error",
}
_FEW_CLUSTERS = 20
_MOST_STIMULI = 1 << 23


def difference_metrics(
    scores: Ratings | ArrayLike,
    predictions: Ratings | ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    by: Attributes = (),
    clusters: str | ArrayLike | None = None,
    score: Score = "mean",
    label: str | None = None,
    metrics: Collection[str] = METRICS,
    ceiling: bool = False,
    n_splits: int = 50,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Differences:
    r"""Correlate what metrics predict with the scores that people gave, and measure the errors.

    ``srocc`` is Spearman's rank correlation, ``plcc`` Pearson's, ``kendall`` Kendall's
    :math:`\tau_b`; ``rmse`` and ``mae`` are errors in the unit of the scores, which say something
    where the metric predicts on their scale. ``plcc_fit`` and ``rmse_fit`` come after the monotone
    curve of :func:`logistic_fit`, fitted on the same pairs, so they flatter a metric a little; they
    stand beside the others and never in their place. A metric that falls as the scores rise, as
    similarities do, has negative correlations, ``plcc_fit`` too: it has the sign of the curve.

    Parameters
    ----------
    scores
        Ratings of people, such as how different two faces look, or of people and metrics; or
        scores of shape (n,).
    predictions
        Ratings of which each rater is a metric (or each label, where the scores have no labels), or
        an array of shape (n,) or (metrics, n), ``nan`` where a metric says nothing. Metrics are
        judged on the stimuli that they predict; ``coverage`` says on how many. Runs that control
        another (:func:`~affectlab.evaluation.main_runs`) are left out.
    names
        Names of the metrics, with arrays.
    by
        Stimulus attributes, such as ``["kind", "actor"]``, whose values make groups beside
        ``"all"``; with arrays a mapping from names to n values.
    clusters
        A stimulus attribute (or n values) whose stimuli are drawn together by the bootstrap, such
        as the actor: intervals are then about other actors, not only about other pairs of these.
    score
        ``"mean"`` (mean opinion score), or ``"reml"``, ``"p910"`` or ``"mle"``, see
        :func:`~affectlab.reliability.subject_model`.
    label
        The label that is scored, where the ratings have several.
    metrics
        Which of the seven to compute.
    ceiling
        Also compute how well two halves of the people agree on each group.
    n_splits
        Random halves for the ceiling.
    n_boot
        Bootstrap replicates; 0 for no interval.
    confidence
        Coverage of the intervals, in (0, 1).
    seed
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    Differences, whose ``estimates`` are by ``rater``, ``group`` and ``metric``.

    Raises
    ------
    InputError
        If scores and predictions do not fit each other, or an option cannot be used.

    Notes
    -----
    Stimuli are drawn once for all metrics and groups. In each replicate ranks are recomputed, from
    cumulative weights along an order that is sorted once; tau-b is computed in full, by a Fenwick
    tree over the scores in n log n steps; and the curve is fitted anew, to at most 256 bins of
    neighbouring predictions, from the curve of all pairs.

    References
    ----------
    FaceExpressions-70k (2025), section 4 and appendix A.6.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.uniform(0, 100, 200)
    >>> found = difference_metrics(scores, scores / 100 + rng.normal(0, 0.1, 200), names=["L1"],
    ...                            metrics=["srocc", "plcc"], n_boot=200, seed=0)
    >>> found["L1", "all", "srocc"]
    Estimate(0.942 [0.923, 0.953], Spearman's rank correlation with the scores given; ...)
    """
    scores, predictions = canonical(scores), canonical(predictions, listed="raters")
    chosen = _check(metrics, score, n_boot, confidence)
    pairs, people = pairs_of(
        scores, predictions, names=names, by=by, clusters=clusters, score=score, label=label
    )
    if pairs.scores.size > _MOST_STIMULI:
        raise InputError(f"{pairs.scores.size:,} stimuli; expected at most {_MOST_STIMULI:,}")
    rng = np.random.default_rng(seed)
    halves, bits = (int(part) for part in rng.integers(0, 2**63, size=2))
    measured = measure(pairs, chosen)
    drawn = replicate(pairs, measured, n_boot, bits) if n_boot else None
    found = None
    if ceiling:
        if people is None:
            raise InputError("the ceiling needs the ratings of people, not their scores")
        found = _ceiling(people, pairs, score, n_splits, halves, confidence)
    return Differences(
        estimates=_estimates(pairs, measured, drawn, confidence),
        ceiling=found,
        fits={
            (pairs.raters[rater], pairs.groups[group].name): fit
            for (rater, group), fit in sorted(measured.fits.items())
        },
        pairs=pairs,
        measured=measured,
        replicates=drawn,
        confidence=confidence,
        draws=bits,
        notes=(*pairs.notes, *_notes(pairs, measured, n_boot)),
    )


def _check(metrics: Collection[str], score: str, n_boot: int, confidence: float) -> tuple[str, ...]:
    chosen = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    for name in chosen:
        if name not in METRICS:
            raise unknown_name("metric", str(name), METRICS)
    if not chosen:
        raise InputError(f"metrics is empty; expected some of: {', '.join(METRICS)}")
    if score not in SCORES:
        raise unknown_name("score", str(score), SCORES)
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap replicates")
    check_confidence(confidence)
    return chosen


def _estimates(
    pairs: Pairs, measured: Measured, drawn: Floats | None, confidence: float
) -> Estimates:
    import polars as pl

    shape = measured.value.shape
    point = measured.value.ravel()
    spread = Uncertainty.none(point.size)
    if drawn is not None:
        spread = summarise(point, drawn.reshape(drawn.shape[0], -1), confidence)
    keys = [
        (rater, group, metric)
        for rater in pairs.raters
        for group in pairs.groups
        for metric in measured.metrics
    ]
    boot = "" if drawn is None else f"; percentile bootstrap, {drawn.shape[0]} replicates"
    methods = [
        f"{_IN_WORDS[metric]} with {pairs.score_name}{boot}"
        + (f", {undefined} undefined" if undefined else "")
        + (f"; {reason}" if reason else "")
        for (_, _, metric), undefined, reason in zip(
            keys, spread.undefined.tolist(), spread.missing, strict=True
        )
    ]
    n = np.repeat(measured.n, shape[2])
    sizes = np.array([group.items.size for group in pairs.groups])
    table = Estimates.build(
        {
            "rater": [rater for rater, _, _ in keys],
            "group": [group.name for _, group, _ in keys],
            "metric": [metric for _, _, metric in keys],
        },
        value=point,
        se=spread.se,
        low=spread.low,
        high=spread.high,
        method=methods,
        resampled=resampled_name(pairs) if drawn is not None else "none",
        n_items=n,
        n_raters=pairs.n_people,
        n_ratings=np.repeat(counts_of(pairs), shape[2]),
        status=measured.status.ravel().tolist(),
    )
    extra = [
        pl.Series("attribute", [group.attribute for _, group, _ in keys], dtype=pl.String),
        pl.Series("level", [group.level for _, group, _ in keys], dtype=pl.String),
        pl.Series("coverage", n / np.repeat(np.tile(np.maximum(sizes, 1), shape[0]), shape[2])),
    ]
    return Estimates(table.frame.with_columns(extra), table.keys)


def _ceiling(
    people: Ratings, pairs: Pairs, score: Score, n_splits: int, seed: int, confidence: float
) -> Estimates:
    import polars as pl

    from affectlab.reliability import split_half

    place = {name: k for k, name in enumerate(pairs.stimuli)}
    at = np.array([place.get(name, -1) for name in people.stimulus_names])[people.stimulus_code]
    tables = []
    for group in pairs.groups:
        inside = np.zeros(len(pairs.stimuli) + 1, dtype=bool)
        inside[group.items] = True
        half = split_half(
            people.where(inside[at]),
            scorer=score,
            n_splits=n_splits,
            seed=seed,
            confidence=confidence,
        )
        tables.append(half.to_frame().with_columns(pl.lit(group.name).alias("label")))
    frame = pl.concat(tables).rename({"label": "group"})
    # A score of reliability r correlates at most sqrt(r) with anything that lacks its errors.
    corrected = pl.col("corrected").clip(lower_bound=0).sqrt()
    return Estimates(frame.with_columns(corrected.alias("ceiling")), ("group",))


def _notes(pairs: Pairs, measured: Measured, n_boot: int) -> list[str]:
    notes = [
        f"{pairs.raters[rater]} predicts {measured.n[rater, 0]:,} of {pairs.scores.size:,} "
        "stimuli and is judged on these"
        for rater in np.flatnonzero(measured.n[:, 0] < pairs.scores.size).tolist()
    ]
    if n_boot and pairs.clusters is not None and pairs.clusters.n < _FEW_CLUSTERS:
        notes.append(
            f"{plural(pairs.clusters.n, 'cluster')} ({pairs.clusters.name}) are few to resample: "
            "intervals are rough, and too narrow rather than too wide"
        )
    if (
        n_boot
        and pairs.clusters is not None
        and any(group.attribute == pairs.clusters.name for group in pairs.groups)
    ):
        notes.append(
            f"a group of one {pairs.clusters.name} is one cluster, so that it has no interval"
        )
    bent = [
        pairs.raters[rater]
        for (rater, group), fit in measured.fits.items()
        if not group and fit.at_bound
    ]
    if bent:
        shown = joined([*bent[:5], f"{len(bent) - 5} more"] if len(bent) > 6 else bent)
        notes.append(
            f"{shown}: the fitted curve has no full S shape; predictions meet the scores as a "
            "straight line, a step or one bend"
        )
    return notes
