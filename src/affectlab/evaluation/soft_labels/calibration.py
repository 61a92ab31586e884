"""Does a model know when it is right: calibration errors, their parts, and reliability diagrams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import Estimates, side_by_side
from affectlab.core.inference import by_name, check_confidence, draw_weights, summarise
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Figure, Interval, Key, Number, Table, Value
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import file_part, number, percent, plural, shown
from affectlab.evaluation.soft_labels.sides import SoftSides, soft_sides
from affectlab.evaluation.soft_labels.votes import Absent, Reading, Rule
from affectlab.evaluation.wilson import wilson_interval
from affectlab.ratings import Ratings
from affectlab.ratings.order import canonical

if TYPE_CHECKING:
    from scipy.sparse import csr_array


__all__ = [
    "BinSums",
    "Bins",
    "Calibration",
    "Claims",
    "ModelCalibration",
    "Truth",
    "calibration",
    "calibrations",
    "claims_of",
    "equal_mass_bins",
    "equal_width_bins",
    "model_calibration",
    "names_one_label",
    "of_models",
]

# Binning of confidences, and what calibration errors follow from sums over bins.


@dataclass(frozen=True)
class BinSums:
    """Weighted sums over the items of each bin, arrays of shape (..., bins).

    With confidence c and outcome y in [0, 1]: the weight, and the sums of c, y, c², y² and c y.
    """

    n: Floats
    c: Floats
    y: Floats
    cc: Floats
    yy: Floats
    cy: Floats

    def _mean(self, total: Floats) -> Floats:
        mean: Floats = np.divide(total, self.n, out=np.zeros_like(total), where=self.n > 0)
        return mean

    @property
    def share(self) -> Floats:
        """Share of the items in each bin."""
        total: Floats = self.n / self.n.sum(axis=-1, keepdims=True)
        return total

    @property
    def gap(self) -> Floats:
        """Mean confidence less mean outcome, 0 in empty bins."""
        return self._mean(self.c - self.y)

    def expected_error(self) -> Floats:
        """Mean absolute gap, weighted by items."""
        total: Floats = (self.share * np.abs(self.gap)).sum(axis=-1)
        return total

    def largest_error(self) -> Floats:
        """Largest absolute gap of a bin."""
        largest: Floats = np.abs(self.gap).max(axis=-1)
        return largest

    def mean_squared_error(self, debias: int = 0) -> Floats:
        """Mean squared gap, weighted by items, less `debias` times what chance adds to it.

        Chance adds the variance of a bin's mean outcome: once in a sample, twice in a bootstrap
        replicate. Bins with one item tell nothing of it and are left out when debiasing.
        """
        if not debias:
            total: Floats = (self.share * self.gap**2).sum(axis=-1)
            return total
        several = self.n > 1
        spread = np.maximum(self._mean(self.yy) - self._mean(self.y) ** 2, 0.0)
        noise = np.divide(spread, self.n - 1, out=np.zeros_like(spread), where=several)
        return np.asarray(
            (self.share * np.where(several, self.gap**2 - debias * noise, 0.0)).sum(axis=-1)
        )

    def brier_parts(self) -> dict[str, Floats]:
        """Split the mean of (c - y)² into parts that add up to it exactly."""
        share, mean_y = self.share, self._mean(self.y)
        overall = (share * mean_y).sum(axis=-1, keepdims=True)
        within_c = self._mean(self.cc) - self._mean(self.c) ** 2
        within_cy = self._mean(self.cy) - self._mean(self.c) * mean_y
        total_yy = self.yy.sum(axis=-1) / self.n.sum(axis=-1)
        return {
            "reliability": self.mean_squared_error(),
            "resolution": (share * (mean_y - overall) ** 2).sum(axis=-1),
            "uncertainty": total_yy - overall[..., 0] ** 2,
            "within_bins": (share * (within_c - 2 * within_cy)).sum(axis=-1),
        }


@dataclass(frozen=True)
class Bins:
    """Bins of n items by confidence; bin b covers [edges[b], edges[b + 1])."""

    edges: Floats
    """Shape (bins + 1,); the last bin holds its upper end, too."""
    place: Ints
    """Bin of each item, shape (n,)."""

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return self.edges.size - 1

    def matrix(self, values: Floats) -> csr_array:
        """Give the sparse array, shape (bins, n), that sums `values` over each bin."""
        from scipy.sparse import csr_array

        items = np.arange(self.place.size)
        return csr_array((values, (self.place, items)), shape=(self.n_bins, self.place.size))

    def sums(self, c: Floats, y: Floats, weights: Floats | None = None) -> BinSums:
        """Sum over bins; with weights, shape (replicates, n), once per replicate."""
        given = np.ones((1, c.size)) if weights is None else weights
        across = np.ascontiguousarray(given.T)
        parts = [
            np.ascontiguousarray((self.matrix(values) @ across).T)
            for values in (np.ones_like(c), c, y, c * c, y * y, c * y)
        ]
        return BinSums(*(parts if weights is not None else [part[0] for part in parts]))

    def table(self, c: Floats, y: Floats, confidence: float) -> pl.DataFrame:
        """One row per bin: ends, items, mean confidence, mean outcome with Wilson's interval."""
        found = self.sums(c, y)
        empty = found.n == 0
        low, high = wilson_interval(np.clip(found.y, 0, found.n), found.n, confidence)
        unknown = np.where(empty, np.nan, 0.0)
        return pl.DataFrame(
            {
                "low": self.edges[:-1],
                "high": self.edges[1:],
                "n": found.n.astype(np.int64),
                "confidence": found._mean(found.c) + unknown,
                "share": found._mean(found.y) + unknown,
                "share_low": low,
                "share_high": high,
                "status": np.where(empty, "no item", "ok").tolist(),
            }
        )


_DIGITS = 12
"""Decimals from which on confidences differ by rounding alone."""


def equal_width_bins(c: Floats, n_bins: int) -> Bins:
    """Cut [0, 1] into bins of one width."""
    edges = np.arange(n_bins + 1) / n_bins
    return Bins(edges, _places(c, edges))


def equal_mass_bins(c: Floats, n_bins: int) -> Bins:
    """Cut at the quantiles of the confidences; equal ones share a bin, so there may be fewer."""
    # Sums that a row order rounds differently are one confidence.
    c = np.round(c, _DIGITS)
    inner = np.quantile(c, np.linspace(0.0, 1.0, n_bins + 1)[1:-1], method="higher")
    edges = np.unique(np.concatenate([[0.0], inner[inner > c.min()], [1.0]]))
    return Bins(edges, _places(c, edges))


def _places(c: Floats, edges: Floats) -> Ints:
    place = np.searchsorted(np.round(edges, _DIGITS), np.round(c, _DIGITS), side="right") - 1
    return np.clip(place, 0, edges.size - 2).astype(np.int64)


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
    names = tuple(map(str, range(k))) if labels is None else tuple(labels)
    if len(names) != k or len(set(names)) != k:
        raise InputError(f"labels: {len(set(names))} different names; expected {k}, one per column")
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
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected numbers from 0 to 1") from None
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
_UPWARD = {
    "ece",
    "ece_equal_mass",
    "rms_calibration_error",
    "classwise_ece",
    "brier_reliability",
    "brier_resolution",
}
"""Measures that noise can only raise, so that replicates lie above what they replicate."""


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
    - ``max_calibration_error``: the largest error of a bin, without an interval, since resampling
      does not give a fair one;
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
    n_boot
        Bootstrap replicates over items, bins kept as they are; 0 gives no interval.
    confidence
        Coverage of the intervals.
    seed
        For the replicates.

    Returns
    -------
    Calibration, whose estimates have the ``metric`` named above.

    Binned errors are biased upwards: chance alone makes bins miss. Their intervals are basic
    bootstrap intervals, which take most of the bias off, so they may lie below the value; for a
    model that is all but perfect they still lie too high, and the debiased error tells more. All
    others are percentile intervals, for the debiased error of replicates that are debiased twice.

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
    check_confidence(confidence)
    if n_bins < 1:
        raise InputError(f"n_bins {n_bins}: expected at least 1")
    claims = claims_of(probabilities, truth, labels)
    parts = _Parts(claims, n_bins)
    n = claims.confidence.size
    point = {name: value[0] for name, value in parts.measures(np.ones((1, n)), 1).items()}
    names = tuple(point)
    values = np.array([point[name] for name in names])
    se = low = high = np.full(values.size, np.nan)
    status = ["ok"] * values.size
    rng = np.random.default_rng(seed)
    drawn = [parts.measures(weights, 2) for weights in draw_weights(rng, n, n_boot)]
    if drawn:
        replicates = np.stack(
            [np.concatenate([block[name] for block in drawn]) for name in names], axis=1
        )
        spread = summarise(values, replicates, confidence)
        upward = np.array([name in _UPWARD for name in names])
        se = spread.se
        low = np.where(upward, np.maximum(2 * values - spread.high, 0.0), spread.low)
        high = np.where(upward, np.maximum(2 * values - spread.low, 0.0), spread.high)
        status = [why or "ok" for why in spread.missing]
        largest = names.index("max_calibration_error")
        se[largest] = low[largest] = high[largest] = np.nan
        status[largest] = "no interval: resampling says little about a largest value"
    words = {
        "width": n_bins,
        "mass": parts.mass.n_bins,
        "labels": ", sum over labels" if claims.labels else "",
        "top": " of the top label" if claims.labels else "",
    }
    table = Estimates.build(
        {"metric": names},
        value=values,
        se=se,
        low=low,
        high=high,
        method=[_METHODS[name].format(**words) for name in names],
        resampled="units" if n_boot else "none",
        n_items=n,
        n_raters=n_raters,
        n_ratings=n,
        status=status,
    )
    bins = {
        "bins": ("Bins of equal width.", parts.width),
        "bins_equal_mass": ("Bins of about equal numbers of items.", parts.mass),
    }
    tables = [
        Table(name, said, cut.table(claims.confidence, claims.outcome, confidence), _BINS, limit=0)
        for name, (said, cut) in bins.items()
    ]
    classes = Table("classes", "Labels.", parts.classes(), _CLASSES, limit=0)
    ece, sure, right = (table[name] for name in ("ece", "mean_confidence", "accuracy"))
    said = (
        f"Calibration error (ECE) {number(ece.value, 3)} over {plural(n, 'item')}: the mean "
        f"confidence is {number(sure.value)}, the mean outcome {number(right.value)}."
    )
    figure = Figure(
        "reliability",
        "reliability",
        "bins",
        "Confidence and what came true",
        description=said,
        options={"ece": ece.value},
    )
    return Calibration((*table.tables, *tables, classes), (said,), (figure,))


class _Parts:
    """All measures of the same items, for any weights of the items."""

    def __init__(self, claims: Claims, n_bins: int) -> None:
        self._claims = claims
        self.width = equal_width_bins(claims.confidence, n_bins)
        self.mass = equal_mass_bins(claims.confidence, n_bins)
        self._of_label = [equal_width_bins(c, n_bins) for c in claims.probabilities.T]

    def _label_errors(self, weights: Floats) -> Floats:
        """Calibration error of every label, shape (replicates, k)."""
        gaps = self._claims.probabilities - self._claims.truth
        across = np.ascontiguousarray(weights.T)
        missed = np.empty((gaps.shape[1], len(weights)))
        for row, bins, gap in zip(missed, self._of_label, gaps.T, strict=True):
            row[:] = np.abs(bins.matrix(gap) @ across).sum(axis=0)
        error: Floats = missed.T / weights.sum(axis=1, keepdims=True)
        return error

    def measures(self, weights: Floats, debias: int) -> Mapping[str, Floats]:
        """Give every measure for every row of weights, shape (replicates,) each."""
        claims = self._claims
        c, y = claims.confidence, claims.outcome
        width, mass = self.width.sums(c, y, weights), self.mass.sums(c, y, weights)
        total = weights.sum(axis=1)
        top = weights @ (c - y) ** 2 / total
        found = {
            "ece": width.expected_error(),
            "ece_equal_mass": mass.expected_error(),
            "max_calibration_error": width.largest_error(),
            "rms_calibration_error": np.sqrt(mass.mean_squared_error()),
            "rms_calibration_error_debiased": np.sqrt(
                np.maximum(mass.mean_squared_error(debias), 0.0)
            ),
        }
        if claims.labels:
            squares = ((claims.probabilities - claims.truth) ** 2).sum(axis=1)
            found["classwise_ece"] = self._label_errors(weights).mean(axis=1)
            found["brier"] = weights @ squares / total
            found["brier_top_label"] = top
        else:
            found["brier"] = top
        found |= {f"brier_{name}": part for name, part in width.brier_parts().items()}
        found["accuracy"] = weights @ y / total
        found["mean_confidence"] = weights @ c / total
        found["overconfidence"] = found["mean_confidence"] - found["accuracy"]
        return found

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
    with_ends = bool(long["low"].is_not_nan().any())
    columns: list[Column] = [Key("rater")]
    for name, head in heads.items():
        columns += [Number(name, head), *([Interval(name, "interval")] if with_ends else ())]
    columns.append(Count("n_items", "stimuli"))
    best = wide.sort("ece", maintain_order=True).row(0, named=True)
    said = (
        f"The most probable label of {shown(best['rater'], 40)} is off by "
        f"{percent(best['ece'], 1)} on average (expected calibration error)"
    )
    return ModelCalibration(
        tables=(
            Table("calibration", f"Calibration: confidence beside {aim}.", wide, tuple(columns)),
            Table("calibration_metrics", "All measures.", long, _LONG, limit=0),
            *(
                replace(table, frame=frame, columns=(Key("rater"), *table.columns))
                for table, frame in zip(parts, frames, strict=True)
            ),
        ),
        sentences=(f"{said}{', the least of the models' if len(found) > 1 else ''}.",),
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
            f"{outcome[0].upper()}{outcome[1:]}, for the model's most probable label, against the "
            "probability that the model gave it. Below the line the model is too sure.",
            f"Expected calibration error {number(one['ece'].value, 3)} over "
            f"{one['ece'].n_items:,} stimuli.",
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
    models: Ratings | None = None,
    *,
    truth: Literal["distribution", "majority"] = "distribution",
    rule: Rule | None = None,
    labels: Sequence[str] | None = None,
    absent: Absent = "auto",
    n_bins: int = 15,
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
    if truth not in ("distribution", "majority"):
        raise unknown_name("truth", truth, ("distribution", "majority"))
    both = soft_sides(ratings, models, Reading(rule, labels, absent))
    for name, rows in both.shared.items():
        if not rows.any():
            raise InputError(f"model {name!r} answers no stimulus that people answered")
    found = calibrations(
        both, truth, n_bins=n_bins, n_boot=n_boot, confidence=confidence, seed=seed
    )
    if not found:
        raise InputError(
            "no model gives probabilities: each puts everything on one label; expected scores of "
            "several labels per stimulus"
        )
    return of_models(found, truth)


def calibrations(
    both: SoftSides, truth: Truth, *, seed: int | np.random.Generator | None, **options: Any
) -> dict[str, Calibration]:
    """Measure every model that claims probabilities, on the same draws.

    Parameters
    ----------
    both, truth
        See ``model_calibration``.
    seed, options
        Of :func:`calibration`.
    """
    people = both.people
    draws = seed if not isinstance(seed, np.random.Generator) else int(seed.integers(2**63))
    n_raters = 0 if both.source is None else int(both.source.n_raters)
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
