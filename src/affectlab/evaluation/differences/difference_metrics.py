"""How well metrics predict scores, such as how different two expressions look."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.inference import Uncertainty, check_confidence, summarise
from affectlab.core.types import Floats, Ints
from affectlab.core.words import joined, plural
from affectlab.evaluation.differences.bootstrap import METRICS, Measured, measure, replicate
from affectlab.evaluation.differences.comparison import Drawn, compared, counts_of, resampled_name
from affectlab.evaluation.differences.logistic import LogisticFit
from affectlab.evaluation.differences.pairs import SCORES, Attributes, Pairs, Score, pairs_of
from affectlab.ratings import Ratings
from affectlab.ratings.order import canonical

if TYPE_CHECKING:
    from rich.console import RenderableType


__all__ = [
    "Differences",
    "difference_metrics",
]

# What difference metrics were found, and how far metrics or groups are apart.


@dataclass(frozen=True, eq=False)
class Differences:
    """Difference metrics by rater, group and metric.

    Made by :func:`difference_metrics`.
    """

    estimates: Estimates
    """By ``rater``, ``group`` (``all``, ``actor=3``) and ``metric``, with extra columns
    ``attribute`` and ``level`` (of the group) and ``coverage`` (share of the group's stimuli that
    the rater predicts)."""
    ceiling: Estimates | None
    """How well people predict people, by ``group``: Spearman's correlation of two halves, with
    ``corrected`` (Spearman-Brown, for all people) and ``ceiling``, its square root: what a
    prediction without errors would reach."""
    fits: dict[tuple[str, str], LogisticFit]
    """The fitted curve of every (rater, group)."""
    pairs: Pairs
    measured: Measured
    replicates: Floats | None
    """Shape (n_boot, raters, groups, metrics)."""
    confidence: float
    draws: int
    """Seed of the draws of stimuli."""
    notes: tuple[str, ...]
    """What a reader should know, in sentences."""

    @property
    def raters(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return self.pairs.raters

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, ``all`` first."""
        return tuple(group.name for group in self.pairs.groups)

    @property
    def stimuli(self) -> tuple[str, ...]:
        """Names of the stimuli, in the order of the arrays."""
        return self.pairs.stimuli

    @property
    def scores(self) -> Floats:
        """Scores, shape (n,)."""
        return self.pairs.scores

    @property
    def predictions(self) -> Floats:
        """Predictions, shape (raters, n), ``nan`` where there is none."""
        return self.pairs.predictions

    def items_of(self, group: str) -> Ints:
        """Give the places of the stimuli of a group."""
        return self.pairs.groups[self._group(group)].items

    def to_frame(self) -> pl.DataFrame:
        """Give the estimates as a polars data frame."""
        return self.estimates.to_frame()

    def __getitem__(self, key: tuple[str, str, str]) -> Estimate:
        """Look an estimate up by rater, group and metric."""
        return self.estimates[key]

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], Estimate]]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def compare(
        self, over: Literal["rater", "group"] = "rater", *, absolute: bool = False
    ) -> Estimates:
        """Subtract metrics from one another (or groups), with intervals from shared draws.

        Two raters are compared on the stimuli that both predict.

        Parameters
        ----------
        over
            ``"rater"``: every two raters in every group; ``"group"``: every two groups of one
            attribute, such as intra and inter, for every rater.
        absolute
            Compare the sizes of correlations, for metrics of which some rise and some fall as the
            scores rise.

        Returns
        -------
        Estimates of the first minus the second, by ``rater``, ``other``, ``group`` and ``metric``
        (or ``rater``, ``group``, ``other``, ``metric``), with extra columns ``p`` (two-sided, from
        the replicates; at least 2 / (replicates + 1)), ``p_holm`` (over the pairs of one metric;
        for raters within a group) and ``better`` (which of the two, empty where the interval
        holds 0, or one correlation is above and one below 0 and sizes are not compared).

        Raises
        ------
        InputError
            If there are no replicates, or nothing to compare.

        Examples
        --------
        >>> import numpy as np
        >>> from affectlab.evaluation import difference_metrics
        >>> rng = np.random.default_rng(0)
        >>> scores = rng.normal(size=300)
        >>> predictions = scores + rng.normal(0, [[0.5], [1.0]], (2, 300))
        >>> found = difference_metrics(scores, predictions, names=["L1", "SSIM"], n_boot=200,
        ...                            metrics=["srocc"], seed=0)
        >>> found.compare().to_frame()["better"].to_list()
        ['L1']
        """
        if self.replicates is None:
            raise InputError("there are no replicates to compare; expected n_boot above 0")
        if over not in ("rater", "group"):
            raise unknown_name("over", str(over), ("rater", "group"))
        drawn = Drawn(self.pairs, self.measured, self.replicates, self.draws, self.confidence)
        return compared(drawn, over, absolute=absolute)

    def _group(self, name: str) -> int:
        if name not in self.groups:
            raise unknown_name("group", name, self.groups)
        return self.groups.index(name)

    def __repr__(self) -> str:
        return (
            f"Differences({len(self.raters)} raters, {len(self.groups)} groups, "
            f"{self.scores.size:,} stimuli)"
        )

    def _repr_html_(self) -> str:
        return self.to_frame()._repr_html_()

    def __rich__(self) -> RenderableType:
        return self.estimates.__rich__()


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
"""Up to so many twice a rank is exact in single precision."""


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
    return table.with_columns(extra)


def _ceiling(
    people: Ratings, pairs: Pairs, score: Score, n_splits: int, seed: int, confidence: float
) -> Estimates:

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
    return Estimates.of(frame.with_columns(corrected.alias("ceiling")), ("group",))


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
