"""Does a model know when it is right: calibration errors, their parts, and reliability diagrams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.arrays import as_floats, names_of, ratio
from affectlab.core.errors import InputError, check_choice, check_number, unknown_name
from affectlab.core.estimates import Estimates, side_by_side
from affectlab.core.facts import Cause, Formula, IntervalFact, Reason, fact_column, reason_type
from affectlab.core.inference import by_name, check_n_boot, infer, wilson_interval
from affectlab.core.jackknife import too_few
from affectlab.core.result import Result
from affectlab.core.statistic import FEWEST_CLUSTERS, Clusters, clusters_of, from_weights
from affectlab.core.tables import Column, Count, Figure, Interval, Key, Number, Table, Value
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import file_part, shown
from affectlab.evaluation.soft_labels import wording
from affectlab.evaluation.soft_labels.distributions import Absent, Reading, Rule
from affectlab.evaluation.soft_labels.sides import SoftSides, soft_sides
from affectlab.ratings import ClusterLike, ModelRatings, Ratings, StimulusClusters, canonical

_DIGITS = 12
"""Decimals from which on confidences differ by rounding alone."""


@dataclass(frozen=True)
class Bins:
    """Bins of n items by confidence; bin b covers [edges[b], edges[b + 1])."""

    edges: Floats
    """Shape (bins + 1,); the last bin holds its upper end, too."""
    place: Ints
    """Bin of each item, shape (n,)."""

    @classmethod
    def of(cls, c: Floats, edges: Floats) -> Bins:
        """Find the bin of each confidence."""
        place = np.searchsorted(np.round(edges, _DIGITS), np.round(c, _DIGITS), side="right") - 1
        return cls(edges, np.clip(place, 0, edges.size - 2).astype(np.int64))

    def sums(self, values: Floats, weights: Floats) -> Floats:
        """Sum weighted values over each bin, shape (replicates, bins)."""
        from scipy.sparse import csr_array

        shape = self.edges.size - 1, self.place.size
        matrix = csr_array((values, (self.place, np.arange(self.place.size))), shape=shape)
        return np.asarray((matrix @ np.ascontiguousarray(weights.T)).T)

    def errors(self, values: Floats, code: Ints) -> tuple[Ints, Ints, Floats]:
        """Give items and clusters of each bin, and the covariance of its means.

        Bins with one cluster have the variance of single items, as if it were of one piece.

        Parameters
        ----------
        values, code
            Value and cluster of each item, shape (n,).

        Returns
        -------
        Shapes (bins,), (bins,) and (bins, bins).
        """
        from scipy.sparse import csr_array

        size, groups = self.edges.size - 1, int(code.max(initial=0)) + 1
        n = np.bincount(self.place, minlength=size)
        mean = np.bincount(self.place, values, size) / np.maximum(n, 1)
        apart = values - mean[self.place]
        share = csr_array((apart / n[self.place], (code, self.place)), shape=(groups, size))
        members = np.unique(code * size + self.place) % size
        units = np.bincount(members, minlength=size)
        pooled = float((apart**2).sum()) / max(int(np.maximum(n - 1, 0).sum()), 1)
        few = np.maximum(units, 2)
        covariance = np.asarray((share.T @ share).toarray()) * np.sqrt(
            np.outer(few / (few - 1), few / (few - 1))
        )
        alone = np.flatnonzero(units == 1)
        covariance[alone, alone] = pooled
        return n, units, covariance

    def table(self, code: Ints, claims: Claims, confidence: float) -> pl.DataFrame:
        """One row per bin: ends, items, mean confidence, mean outcome with Wilson's interval.

        The interval counts as many items as independent ones would make its error.
        """
        c, y = claims.confidence, claims.outcome
        once = np.ones((1, c.size))
        n, sum_c, sum_y = (self.sums(part, once)[0] for part in (once[0], c, y))
        _, units, covariance = self.errors(y, code)
        right = np.clip(ratio(sum_y, n, 0.0), 0.0, 1.0)
        carry = np.clip(ratio(right * (1 - right), covariance.diagonal(), 0.0), units, n)
        low, high = wilson_interval(right * carry, carry, confidence)
        empty = n == 0
        unknown = np.where(empty, np.nan, np.maximum(n, 1.0))
        return pl.DataFrame(
            {
                "low": self.edges[:-1],
                "high": self.edges[1:],
                "n": n.astype(np.int64),
                "confidence": sum_c / unknown,
                "share": sum_y / unknown,
                "share_low": low,
                "share_high": high,
                "status": np.where(empty, "undefined", "ok").tolist(),
                "reason": fact_column(
                    "reason", [_NO_ITEM if none else None for none in empty], reason_type()
                ),
            }
        )


_NO_ITEM = Reason(Cause.NONE, of="item")
_ANY_ERRORS = IntervalFact("analytic", formula=Formula.ANY_BIN_ERRORS)


def equal_width_bins(c: Floats, n_bins: int) -> Bins:
    """Cut [0, 1] into bins of one width."""
    return Bins.of(c, np.arange(n_bins + 1) / n_bins)


def equal_mass_bins(c: Floats, n_bins: int) -> Bins:
    """Cut at the quantiles of the confidences; equal ones share a bin, so there may be fewer."""
    # Sums that a row order rounds differently are one confidence.
    c = np.round(c, _DIGITS)
    inner = np.quantile(c, np.linspace(0.0, 1.0, n_bins + 1)[1:-1], method="higher")
    return Bins.of(c, np.unique(np.concatenate([[0.0], inner[inner > c.min()], [1.0]])))


# What calibration is measured on: a confidence and an outcome per item, and per label.


_SUM = 1e-4
"""How far the sum of the probabilities of an item may lie from 1: they come as float32, too."""


@dataclass(frozen=True)
class Claims:
    """Confidences with what came true."""

    confidence: Floats
    """Of the answer given, shape (n,)."""
    outcome: Floats
    """1 where the answer was right, or the share of people who gave it, shape (n,)."""
    probabilities: Floats
    """Shape (n, k), rows sum to 1; no labels, k = 0, for one confidence per item."""
    truth: Floats
    """Distribution that is aimed at, shape (n, k), one 1 per row when there is one truth."""
    labels: tuple[str, ...]


def claims_of(
    probabilities: ArrayLike, truth: ArrayLike, labels: Sequence[str] | None = None
) -> Claims:
    """Check both sides and bring them into one form; see ``calibration``."""
    given = _numbers(probabilities, "probabilities")
    if given.ndim == 1:
        if labels is not None:
            raise InputError(
                "labels belong to probabilities of shape (n, k); got one confidence per item"
            )
        outcome = _numbers(truth, "truth")
        if outcome.shape != given.shape:
            raise InputError(
                f"probabilities have shape {given.shape}, truth {outcome.shape}; expected the same"
            )
        nothing = np.empty((given.size, 0))
        return Claims(given, outcome, nothing, nothing, ())
    if given.ndim != 2 or given.shape[1] < 2:
        raise InputError(
            f"probabilities have shape {given.shape}; expected (n,), or (n, k) for k labels"
        )
    n, k = given.shape
    names = names_of("labels", labels, k, "one per column")
    total = _sums_to_one(
        given,
        "probabilities",
        "For labels that are judged apart, give one array per label, or all flattened",
    )
    given = given / total[:, None]
    aimed = _distribution(truth, n, names)
    # Of labels with the same probability the first by name, in whatever order they are listed.
    places = np.array(range(k) if labels is None else by_name(names))
    top = places[given[:, places].argmax(axis=1)]
    rows = np.arange(n)
    return Claims(given[rows, top], aimed[rows, top], given, aimed, names)


def _numbers(given: ArrayLike, what: str) -> Floats:
    values = as_floats(given, f"{what}: expected numbers from 0 to 1")
    if values.size == 0:
        raise InputError(f"{what}: nothing is given; expected at least one item")
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        place = ", ".join(map(str, np.argwhere(wrong)[0].tolist()))
        raise InputError(f"{what}, item {place}: {values[wrong][0]:g}; expected 0 to 1")
    return values


def _sums_to_one(rows: Floats, what: str, hint: str = "") -> Floats:
    """Give the sums of distributions, shape (n,), which must be 1 but for rounding."""
    total: Floats = rows.sum(axis=1)
    row = int(np.argmax(np.abs(total - 1)))
    if abs(total[row] - 1) > _SUM:
        they = "they sum" if hint else "it sums"
        more = f". {hint}" if hint else ""
        raise InputError(f"{what}, row {row}: {they} to {total[row]:.4g}; expected 1{more}")
    return total


def _distribution(truth: ArrayLike, n: int, names: tuple[str, ...]) -> Floats:
    """Truth as one distribution per item, from label names, positions or distributions."""
    array = np.asarray(truth)
    k = len(names)
    if array.ndim == 2:
        aimed = _numbers(array, "truth")
        if aimed.shape != (n, k):
            raise InputError(f"truth has shape {aimed.shape}; expected ({n}, {k})")
        _sums_to_one(aimed, "truth")
        return aimed
    if array.shape != (n,):
        raise InputError(f"truth has shape {array.shape}; expected one label per item, ({n},)")
    if array.dtype.kind in "iu":
        wrong = (array < 0) | (array >= k)
        if wrong.any():
            raise InputError(f"truth: position {array[wrong][0]}; expected 0 to {k - 1}")
        place = array.astype(np.int64)
    else:
        position = {name: at for at, name in enumerate(names)}
        for label in array.tolist():
            if label not in position:
                raise unknown_name("label", str(label), names, "truth")
        place = np.array([position[label] for label in array.tolist()], dtype=np.int64)
    aimed = np.zeros((n, k))
    aimed[np.arange(n), place] = 1.0
    return aimed


_METHODS = {
    "ece": "expected calibration error, {width} bins of equal width",
    "ece_equal_mass": "expected calibration error, {mass} bins of equal mass",
    "max_calibration_error": "largest error of a bin, {width} bins of equal width",
    "rms_calibration_error": "root mean squared error, {mass} bins of equal mass",
    "rms_calibration_error_debiased": "root mean squared error, {mass} bins of equal mass, "
    "debiased",
    "classwise_ece": "expected calibration error, mean over labels, {width} bins of equal width",
    "brier": "Brier score{labels}",
    "brier_top_label": "Brier score of the top label",
    "brier_reliability": "Brier score{top}: squared error of bins, {width} of equal width",
    "brier_resolution": "Brier score{top}: spread of outcomes between bins (taken off)",
    "brier_uncertainty": "Brier score{top}: variance of the outcome",
    "brier_within_bins": "Brier score{top}: spread inside of bins",
    "accuracy": "mean outcome",
    "mean_confidence": "mean confidence",
    "overconfidence": "mean confidence less mean outcome",
}
_SQUARED = ("rms_calibration_error", "rms_calibration_error_debiased")
"""Measures that are left out of in turn as squares, which are smooth."""
_BOUNDS = {
    "accuracy": (0.0, 1.0),
    "mean_confidence": (0.0, 1.0),
    "overconfidence": (-1.0, 1.0),
    "brier": (0.0, 2.0),
    "brier_top_label": (0.0, 1.0),
    "brier_within_bins": (-np.inf, np.inf),
}
"""Least and largest values; parts of errors may be 0, and are left on their own scale."""
_FEW_PER_BIN = 5
"""Items, or clusters of them, per bin, on average, below which errors of bins have no interval."""
_GROUPS = 1000
"""Items that are left out by themselves; more are left out in so many groups."""
_BINS = (
    Key("low", "from"),
    Key("high", "to"),
    Count("n", "items"),
    Number("confidence"),
    Number("share", "came true"),
    Interval("share", "interval"),
)
_CLASSES = (
    Key("label"),
    Number("ece", "ECE", decimals=3),
    Number("probability", "mean probability"),
    Number("share", "share of truth"),
    Count("n", "items"),
)


@dataclass(frozen=True, repr=False)
class Calibration(Estimates):
    """Calibration of one model, by ``metric``.

    Examples
    --------
    >>> found = calibration([0.9, 0.9, 0.6, 0.6], [1, 1, 1, 0], n_bins=5)
    >>> round(found["ece"].value, 3)
    0.1
    >>> found.bins["n"].to_list()
    [0, 0, 0, 2, 2]
    """

    @property
    def bins(self) -> pl.DataFrame:
        """The reliability diagram, bins of equal width: low, high, n, confidence, share, share_low,
        share_high, status."""
        return self.to_frame("bins")

    @property
    def bins_equal_mass(self) -> pl.DataFrame:
        """The same with bins of about equal numbers of items."""
        return self.to_frame("bins_equal_mass")

    @property
    def classes(self) -> pl.DataFrame:
        """Of each label: ece, mean probability, share of truth, n; empty for one confidence."""
        return self.to_frame("classes")


def calibration(
    probabilities: ArrayLike,
    truth: ArrayLike,
    *,
    labels: Sequence[str] | None = None,
    n_bins: int = 15,
    n_raters: int = 0,
    clusters: ArrayLike | Clusters | None = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Calibration:
    r"""Measure whether probabilities mean what they say.

    Items are put into B bins by their confidence c; with :math:`\bar c_b, \bar y_b` the mean
    confidence and outcome of the :math:`n_b` items of bin b,

    .. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n} \lvert \bar c_b - \bar y_b \rvert .

    All estimates, by ``metric``:

    - ``ece`` (bins of equal width, :math:`[a, b)`) and ``ece_equal_mass`` (bins of equal numbers,
      cut at quantiles; also called adaptive), in [0, 1];
    - ``max_calibration_error``: the largest error of a bin, without an interval;
    - ``rms_calibration_error``, and ``rms_calibration_error_debiased``, which takes off what chance
      adds to the squared error of each bin, :math:`s_b^2 / n_b` (Kumar et al. 2019), and is cut
      at 0. Equal mass;
    - ``classwise_ece`` for (n, k): the mean over labels of the error of each label's probability;
    - ``brier``: :math:`(c - y)^2`, or for (n, k) summed over labels, in [0, 2];
      ``brier_reliability`` less ``brier_resolution`` plus ``brier_uncertainty`` plus
      ``brier_within_bins`` is exactly ``brier``, or for (n, k) ``brier_top_label`` (Murphy 1973;
      the last part is that of Stephenson et al. 2008);
    - ``accuracy`` (mean outcome), ``mean_confidence`` and ``overconfidence``, their difference.

    Parameters
    ----------
    probabilities
        Confidence in the answer given, shape (n,), or probabilities of all labels, shape (n, k),
        rows summing to 1: the confidence is then that of the most probable label (the first of
        equals), and every label is judged as well.
    truth
        For (n,): outcomes, 1 for right and 0 for wrong, or the share of people who gave the same
        answer. For (n, k): the true label of each item, by name or position, or a distribution of
        people's answers, shape (n, k): the outcome is then the share of people who chose the most
        probable label (soft labels), and a model should be as sure as people are united.
    labels
        Names of the k columns.
    n_bins
        B, for both kinds of bins.
    n_raters
        Raters behind the truth, for the result.
    clusters
        Cluster of each item, shape (n,), such as the actor of a face: clusters are left out whole.
        Fewer than five give no interval.
    n_boot
        0 gives no interval; intervals for other items, in the same bins, need no replicates.
    confidence
        Coverage of the intervals.
    seed
        For the groups in which more than 1,000 items, or clusters, are left out.

    Returns
    -------
    Calibration, whose estimates have the ``metric`` named above.

    Binned errors are biased upwards: chance alone makes bins miss. How much depends on errors that
    are not known, so the interval of ``ece``, ``ece_equal_mass`` and ``classwise_ece`` holds for
    whatever they are: it begins where all of the error but chance's largest part would, may lie
    below the value, and holds more often than it says. There is none with fewer than 5 items, or
    clusters of them, in a bin on average, where the noise of bins is not known. Noise of clusters
    is taken to go together between bins as far as it may. All other intervals come from leaving out
    items, those of root mean squared errors and of parts of the Brier score less their bias.

    Raises
    ------
    InputError
        When shapes do not fit, a value lies outside [0, 1], or a row does not sum to 1.

    References
    ----------
    Guo et al. (2017), On calibration of modern neural networks. Kumar, Liang and Ma (2019),
    Verified uncertainty calibration. Kull et al. (2019), Beyond temperature scaling (classwise).
    Murphy (1973), Journal of Applied Meteorology 12. Stephenson, Coelho and Jolliffe (2008),
    Weather and Forecasting 23.

    Examples
    --------
    >>> sure = calibration([[0.8, 0.2], [0.6, 0.4]], ["joy", "fear"], labels=["joy", "fear"])
    >>> round(sure["ece"].value, 3), round(sure["brier"].value, 3)
    (0.4, 0.4)
    >>> people = [[0.8, 0.2], [0.6, 0.4]]
    >>> round(calibration([[0.8, 0.2], [0.6, 0.4]], people)["ece"].value, 3)
    0.0
    """
    check_n_boot(n_boot)
    check_number("n_bins", n_bins, 1, whole=True)
    claims = claims_of(probabilities, truth, labels)
    together = clusters_of(clusters, claims.confidence.size)
    parts = _Parts(claims, n_bins, together)
    n = claims.confidence.size
    names = tuple(parts.measures(np.ones((1, n))))
    words = {
        "width": n_bins,
        "mass": parts.mass.edges.size - 1,
        "labels": ", sum over labels" if claims.labels else "",
        "top": " of the top label" if claims.labels else "",
    }

    statistic = from_weights(
        {"metric": names},
        n,
        lambda weights: np.stack([*parts.measures(weights).values()], axis=1),
        method=[_METHODS[name].format(**words) for name in names],
        undefined="",
        n_items=n,
        n_raters=n_raters,
        n_ratings=n,
        n_groups=_GROUPS,
    )
    least, most = np.array([_BOUNDS.get(name, (0.0, np.inf)) for name in names]).T
    table = infer(
        replace(statistic, bounds=(least, most)),
        interval="jackknife",
        target="stimuli" if n_boot else "sample",
        confidence=confidence,
        seed=seed,
        clusters=together,
    )
    table = table.with_frame(_rooted(table.frame))
    if n_boot:
        table = _bounded(table, parts, confidence)
    bins = {
        "bins": ("Bins of equal width.", parts.width),
        "bins_equal_mass": ("Bins of about equal numbers of items.", parts.mass),
    }
    tables = [
        Table(name, said, cut.table(parts.code, claims, confidence), _BINS, limit=0)
        for name, (said, cut) in bins.items()
    ]
    classes = Table("classes", "Labels.", parts.classes(), _CLASSES, limit=0)
    ece, sure, right = (table[name] for name in ("ece", "mean_confidence", "accuracy"))
    said = wording.calibration(ece.value, n, sure.value, right.value)
    figure = Figure(
        "reliability",
        "reliability",
        "bins",
        "Confidence and what came true",
        description=said,
        options={"ece": ece.value},
    )
    return Calibration((*table.tables, *tables, classes), (said,), (figure,))


def _rooted(frame: pl.DataFrame) -> pl.DataFrame:
    """Give root mean squares in place of mean squares, which chance can make negative."""
    squared = pl.col("metric").is_in(_SQUARED)
    roots = [
        pl.when(squared).then(pl.col(name).clip(lower_bound=0).sqrt()).otherwise(name).alias(name)
        for name in ("value", "low", "high")
    ]
    error = pl.when(squared).then(np.nan).otherwise("se").alias("se")
    return frame.with_columns(*roots, error)


def _bounded(table: Estimates, parts: _Parts, confidence: float) -> Estimates:
    """Put intervals that hold for whatever errors of bins there are in place of the jackknife's."""
    known = parts.noise()
    columns = {name: table.frame[name].to_list() for name in ("se", "low", "high", "target")}
    intervals = [one.interval for _, one in table]
    reasons = [one.reason for _, one in table]
    for row, (metric, value) in enumerate(table.frame.select("metric", "value").rows()):
        if metric not in (*known, "max_calibration_error"):
            continue
        noise = known.get(metric)
        why = Reason(Cause.LARGEST_ERROR) if noise is None else noise.why
        ends = (np.nan, np.nan) if why or noise is None else noise.interval(value, confidence)
        intervals[row], reasons[row] = None if why else _ANY_ERRORS, why
        entries = (np.nan, *ends, "none" if why else parts.units)
        for column, entry in zip(columns.values(), entries, strict=True):
            column[row] = entry
    frame = table.frame.with_columns(pl.Series(name, column) for name, column in columns.items())
    return table.with_frame(frame).with_intervals(intervals, reasons)


@dataclass(frozen=True)
class _Noise:
    r"""What chance adds to a mean absolute error over bins, whatever the errors are.

    With :math:`w_b` the share and :math:`s_b` the standard error of bin b, the mean of
    :math:`|\hat g_b|` lies above :math:`|g_b|`: by :math:`\sqrt{2/\pi}\,s_b` where there is no
    error, and by less the larger it is. The interval begins where this is all taken off; it ends
    with the largest error that would show so little, of which each bin has its part by
    :math:`s_b`, since the bias is then least. The standard deviation is at most
    :math:`\sqrt{\sum_b w_b^2 s_b^2}`.
    """

    mean: float
    r""":math:`\sum_b w_b s_b`."""
    error: float
    """The largest standard deviation."""
    freedom: int
    why: Reason | None

    @classmethod
    def of(cls, bins: Bins, gap: Floats, code: Ints, clusters: Clusters | None) -> _Noise:
        """Estimate the noise of bins from the spread of gaps within each.

        Parameters
        ----------
        bins, gap
            Of n items.
        code
            Cluster of each item, shape (n,), or its place.
        clusters
            What these are, where there are any.
        """
        n, units, covariance = bins.errors(gap, code)
        why = None
        if units.sum() < _FEW_PER_BIN * (n > 0).sum():
            what = "items" if clusters is None else clusters.units
            why = Reason(Cause.FEWER, least=_FEW_PER_BIN, of=f"{what} in a bin on average")
        if clusters is not None and clusters.n < FEWEST_CLUSTERS:
            (why,) = too_few(np.array([clusters.n]), FEWEST_CLUSTERS, clusters.units)
        share, s = n / gap.size, np.sqrt(covariance.diagonal())
        # Of bins that share clusters errors go together with whatever signs.
        most = float(np.sqrt(share @ np.abs(covariance) @ share))
        freedom = min(int(np.maximum(units - 1, 0).sum()), int(np.unique(code).size) - 1)
        return cls(float(share @ s), most, max(freedom, 1), why)

    def interval(self, value: float, confidence: float) -> tuple[float, float]:
        """Give the ends around a value."""
        from scipy.optimize import brentq
        from scipy.special import ndtr, stdtrit

        none = np.sqrt(2 / np.pi)
        half = float(stdtrit(self.freedom, (1 + confidence) / 2)) * self.error
        low = max(0.0, value - none * self.mean - half)
        if self.mean == 0:
            return low, value

        def over(t: float) -> float:
            """By how much a value exceeds the one seen, were errors t times their noise."""
            mean = none * np.exp(-(t**2) / 2) + t * (2 * ndtr(t) - 1)
            spread = np.sqrt(max(1 + t**2 - mean**2, 0.0))
            return float(self.mean * mean - half * spread - value)

        if over(0.0) >= 0:
            return 0.0, value
        most = float(brentq(over, 0.0, (value + half) / self.mean + 1)) * self.mean
        return low, max(most, value)


class _Parts:
    """All measures of the same items, for any weights of the items."""

    def __init__(self, claims: Claims, n_bins: int, clusters: Clusters | None) -> None:
        self._claims = claims
        self._clusters = clusters
        self.code = np.arange(claims.confidence.size) if clusters is None else clusters.code
        self.width = equal_width_bins(claims.confidence, n_bins)
        self.mass = equal_mass_bins(claims.confidence, n_bins)
        self._of_label = [equal_width_bins(c, n_bins) for c in claims.probabilities.T]

    def _label_errors(self, weights: Floats) -> Floats:
        """Calibration error of every label, shape (replicates, k)."""
        gaps = (self._claims.probabilities - self._claims.truth).T
        missed = [
            np.abs(bins.sums(gap, weights)).sum(axis=1)
            for bins, gap in zip(self._of_label, gaps, strict=True)
        ]
        error: Floats = np.reshape(missed, (-1, len(weights))).T / weights.sum(axis=1)[:, None]
        return error

    def noise(self) -> dict[str, _Noise]:
        """What chance adds to each mean absolute error."""
        claims = self._claims
        gap = claims.confidence - claims.outcome
        found = {"ece": self._noise(self.width, gap), "ece_equal_mass": self._noise(self.mass, gap)}
        if claims.labels:
            gaps = (claims.probabilities - claims.truth).T
            each = [self._noise(bins, gap) for bins, gap in zip(self._of_label, gaps, strict=True)]
            # Errors of labels go together in ways that are not known, at most wholly.
            found["classwise_ece"] = _Noise(
                float(np.mean([one.mean for one in each])),
                float(np.mean([one.error for one in each])),
                min(one.freedom for one in each),
                next((one.why for one in each if one.why), None),
            )
        return found

    def _noise(self, bins: Bins, gap: Floats) -> _Noise:
        return _Noise.of(bins, gap, self.code, self._clusters)

    @property
    def units(self) -> str:
        """What an interval is about."""
        return "stimuli" if self._clusters is None else self._clusters.units

    def measures(self, weights: Floats) -> Mapping[str, Floats]:
        """Give every measure for every row of weights, shape (rows,) each; mean squares for roots.

        Of the debiased error what chance adds to the squared error of each bin is taken off.
        """
        claims = self._claims
        c, y = claims.confidence, claims.outcome
        total = weights.sum(axis=1)
        total = np.where(total > 0, total, np.nan)

        def mean(values: Floats) -> Floats:
            return np.asarray(weights @ values / total)

        n, gap, mean_y, _ = self._of_bins(self.mass, weights)
        share = n / total[:, None]
        several = n > 1
        spread = np.maximum(self._means(self.mass, y * y, weights, n) - mean_y**2, 0.0)
        noise = ratio(spread, n - 1, 0.0)
        debiased = (share * np.where(several, gap**2 - noise, 0.0)).sum(axis=1)
        found = {
            "ece_equal_mass": (share * np.abs(gap)).sum(axis=1),
            "rms_calibration_error": (share * gap**2).sum(axis=1),
            "rms_calibration_error_debiased": debiased,
        }
        n, gap, mean_y, mean_c = self._of_bins(self.width, weights)
        share = n / total[:, None]
        overall = (share * mean_y).sum(axis=1, keepdims=True)
        squares, products = (
            self._means(self.width, values, weights, n) for values in (c * c, c * y)
        )
        within = squares - mean_c**2 - 2 * (products - mean_c * mean_y)
        found = {
            "ece": (share * np.abs(gap)).sum(axis=1),
            "ece_equal_mass": found["ece_equal_mass"],
            "max_calibration_error": np.abs(gap).max(axis=1),
            **found,
        }
        if claims.labels:
            found["classwise_ece"] = self._label_errors(weights).mean(axis=1)
            found["brier"] = mean(((claims.probabilities - claims.truth) ** 2).sum(axis=1))
        found["brier_top_label" if claims.labels else "brier"] = mean((c - y) ** 2)
        found |= {
            "brier_reliability": (share * gap**2).sum(axis=1),
            "brier_resolution": (share * (mean_y - overall) ** 2).sum(axis=1),
            "brier_uncertainty": mean(y * y) - overall[:, 0] ** 2,
            "brier_within_bins": (share * within).sum(axis=1),
            "accuracy": mean(y),
            "mean_confidence": mean(c),
        }
        found["overconfidence"] = found["mean_confidence"] - found["accuracy"]
        return found

    @staticmethod
    def _means(bins: Bins, values: Floats, weights: Floats, n: Floats) -> Floats:
        """Means in each bin, 0 in empty ones, shape (replicates, bins)."""
        total = bins.sums(values, weights)
        return ratio(total, n, 0.0)

    def _of_bins(self, bins: Bins, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Items, mean gap, outcome and confidence of each bin, shape (replicates, bins)."""
        c, y = self._claims.confidence, self._claims.outcome
        n = bins.sums(np.ones_like(c), weights)
        gap, mean_y, mean_c = (self._means(bins, part, weights, n) for part in (c - y, y, c))
        return n, gap, mean_y, mean_c

    def classes(self) -> pl.DataFrame:
        """One row per label."""
        claims = self._claims
        n = claims.confidence.size
        return pl.DataFrame(
            {
                "label": pl.Series(list(claims.labels), dtype=pl.String),
                "ece": self._label_errors(np.ones((1, n)))[0],
                "probability": claims.probabilities.mean(axis=0),
                "share": claims.truth.mean(axis=0),
                "n": np.full(len(claims.labels), n, dtype=np.int64),
            }
        )


# Calibration of models against the answers of people.

Truth: TypeAlias = Literal["distribution", "majority"]
_AIMS: dict[str, tuple[str, str, str, str]] = {
    "distribution": (
        "share of people who agree",
        "surer than people",
        "people agree",
        "the share of people who say the same",
    ),
    "majority": (
        "share that is right",
        "surer than right",
        "right",
        "whether most people say the same",
    ),
}
"""The outcome, the heads of how much surer a model is and of what it is held against, and that in
a caption."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class ModelCalibration(Result):
    """Calibration of every model that gives probabilities; see ``model_calibration``."""

    models: Mapping[str, Calibration]

    def __getitem__(self, model: str) -> Calibration:
        """Look the calibration of a model up by its name."""
        return self.models[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)


def of_models(found: Mapping[str, Calibration], truth: Truth) -> ModelCalibration:
    """Put what was measured of each model into one row, and draw its diagram."""
    outcome, surer, right, aim = _AIMS[truth]
    heads = {
        "ece": "ECE",
        "overconfidence": surer,
        "mean_confidence": "confidence",
        "accuracy": right,
        "brier": "Brier",
    }
    first, *parts = next(iter(found.values())).tables
    long, *frames = (
        pl.concat(
            one.to_frame(table.name).select(pl.lit(name).alias("rater"), pl.all())
            for name, one in found.items()
        )
        for table in (first, *parts)
    )
    wide = side_by_side(long, ["rater"], heads).join(
        long.filter(metric="ece").select("rater", "n_items"), on="rater", maintain_order="left"
    )
    columns: list[Column] = [Key("rater")]
    for name, head in heads.items():
        columns += [Number(name, head), Interval(name, "interval")]
    columns.append(Count("n_items", "stimuli"))
    best = wide.sort("ece", maintain_order=True).row(0, named=True)
    said = wording.best_calibrated(best["rater"], best["ece"], len(found) > 1)
    return ModelCalibration(
        tables=(
            Table("calibration", f"Calibration: confidence beside {aim}.", wide, tuple(columns)),
            Table("calibration_metrics", "All measures.", long, _LONG, limit=0),
            *(
                replace(table, frame=frame, columns=(Key("rater"), *table.columns))
                for table, frame in zip(parts, frames, strict=True)
            ),
        ),
        sentences=(said,),
        figures=_diagrams(found, outcome),
        models=found,
    )


_LONG = (Key("rater"), Key("metric"), Value(), Interval(), Count("n_items"))


def _diagrams(found: Mapping[str, Calibration], outcome: str) -> tuple[Figure, ...]:
    return tuple(
        Figure(
            f"reliability_{file_part(name)}",
            "reliability",
            "bins",
            f"Calibration of {shown(name, 40)}",
            wording.diagram_caption(outcome),
            wording.diagram(one["ece"].value, one["ece"].n_items),
            {
                "rows": {"rater": name},
                "ece": one["ece"].value,
                "outcome_name": outcome,
                "title": name,
            },
        )
        for name, one in found.items()
    )


def model_calibration(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    truth: Literal["distribution", "majority"] = "distribution",
    rule: Rule | None = None,
    labels: Sequence[str] | None = None,
    absent: Absent = "auto",
    n_bins: int = 15,
    cluster: ClusterLike = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> ModelCalibration:
    """Measure the calibration of every model against people.

    Parameters
    ----------
    ratings, models
        People and models, in one table or two. A model scores labels; per stimulus its scores are
        made to sum to 1. Runs that control another are not judged.
    truth
        ``"distribution"``: the outcome is the share of people who chose the model's most probable
        label, so a model should be as sure as people are united. ``"majority"``: the outcome is
        whether it is the label that most people chose; stimuli on which people are tied are left
        out.
    rule, labels, absent
        As for :func:`~affectlab.evaluation.label_distributions`.
    cluster
        What stimuli belong to, which are then left out together: a column of the stimulus table, a
        mapping from stimulus to cluster, or ``"none"``; see :func:`stimulus_clusters`. By default
        a column like ``actor`` that several stimuli share in most of its values.
    n_bins, n_boot, confidence, seed
        As for :func:`~affectlab.evaluation.calibration`; every model gets the same draws.

    Returns
    -------
    Calibration of each model, by its name. A model that gives one label all the mass everywhere
    claims no probability and is left out.

    Raises
    ------
    InputError
        When no model gives probabilities, or a model shares no stimulus with people.

    Examples
    --------
    >>> given = {"stimulus": list("aabb"), "rater": ["m"] * 4, "label": ["joy", "fear"] * 2,
    ...          "value": [0.9, 0.1, 0.5, 0.5]}
    >>> model = Ratings(given, scale="0-1 interval")
    >>> people = Ratings({"stimulus": list("aabb") * 2, "rater": list("rsrs") * 2,
    ...                   "label": ["joy"] * 4 + ["fear"] * 4, "value": [1, 1, 1, 0, 0, 0, 0, 1]},
    ...                  scale="binary")
    >>> round(model_calibration(people, model)["m"]["overconfidence"].value, 3)
    -0.05
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    check_choice("truth", truth, ("distribution", "majority"))
    both = soft_sides(ratings, models, Reading(rule, labels, absent))
    for name, rows in both.shared.items():
        if not rows.any():
            raise InputError(f"model {name!r} answers no stimulus that people answered")
    drawn = both.drawn(cluster)
    found = calibrations(
        both, truth, drawn, n_bins=n_bins, n_boot=n_boot, confidence=confidence, seed=seed
    )
    if not found:
        raise InputError(
            "no model gives probabilities: each puts everything on one label; expected scores of "
            "several labels per stimulus"
        )
    made = of_models(found, truth)
    notes = drawn.notes_for({"stimuli"} if n_boot else ())
    return replace(made, sentences=(*both.trained, *made.sentences), notes=notes)


def calibrations(
    both: SoftSides,
    truth: Truth,
    drawn: StimulusClusters,
    *,
    seed: int | np.random.Generator | None,
    **options: Any,
) -> dict[str, Calibration]:
    """Measure every model that claims probabilities, on the same draws.

    Parameters
    ----------
    both, truth
        See ``model_calibration``.
    drawn
        What stimuli are left out with.
    seed, options
        Of :func:`calibration`.
    """
    people = both.people
    draws = seed if not isinstance(seed, np.random.Generator) else int(seed.integers(2**63))
    n_raters = 0 if both.source is None else int(both.source.n_raters)
    together = drawn.on(people.stimuli)
    found = {}
    for name, predicted in both.predicted.items():
        rows = both.shared[name]
        if not rows.any() or names_one_label(predicted[rows]):
            continue
        aim, rows = (people.values, rows) if truth == "distribution" else _one(people.values, rows)
        if not rows.any():
            raise InputError("people are tied on every stimulus; expected some with a majority")
        found[name] = calibration(
            predicted[rows],
            aim[rows],
            labels=people.labels,
            n_raters=n_raters,
            clusters=None if together is None else replace(together, code=together.code[rows]),
            seed=draws,
            **options,
        )
    return found


def names_one_label(predicted: Floats) -> bool:
    """Whether every distribution has all its mass on one label, so that nothing is claimed."""
    return bool((predicted.max(axis=1) == 1).all())


def _one(people: Floats, rows: Bools) -> tuple[Floats, Bools]:
    """Put everything on the label that most people chose, where there is one."""
    known = np.nan_to_num(people, nan=-1.0)
    highest = known.max(axis=1, keepdims=True)
    first = known >= highest - 1e-9
    return first.astype(np.float64), rows & (first.sum(axis=1) == 1)
