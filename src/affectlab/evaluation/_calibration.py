"""Does a model know when it is right: calibration errors, their parts, and reliability diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab._resampling import check_confidence, draw_weights, summarise
from affectlab._types import Floats
from affectlab.errors import InputError
from affectlab.estimates import Estimate, Estimates
from affectlab.evaluation._calibration_bins import Bins, equal_mass_bins, equal_width_bins
from affectlab.evaluation._calibration_inputs import Claims, claims_of

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["Calibration", "calibration"]

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


@dataclass(frozen=True)
class Calibration:
    """Calibration of one model.

    Examples
    --------
    >>> found = calibration([0.9, 0.9, 0.6, 0.6], [1, 1, 1, 0], n_bins=5)
    >>> round(found["ece"].value, 3)
    0.1
    >>> found.bins["n"].to_list()
    [0, 0, 0, 2, 2]
    """

    estimates: Estimates
    """By ``metric``."""
    bins: pl.DataFrame
    """The reliability diagram, bins of equal width: low, high, n, confidence, share, share_low,
    share_high, status."""
    bins_equal_mass: pl.DataFrame
    """The same with bins of about equal numbers of items."""
    classes: pl.DataFrame
    """Of each label: ece, mean probability, share of truth, n; empty for one confidence."""

    def __getitem__(self, metric: str) -> Estimate:
        """Look an estimate up by its name."""
        return self.estimates[metric]

    def to_frame(self) -> pl.DataFrame:
        """Give the estimates as a polars data frame."""
        return self.estimates.to_frame()

    def __repr__(self) -> str:
        ece = self.estimates["ece"]
        return f"Calibration(ece {ece.value:.3f}, {ece.n_items} items)"

    def __rich__(self) -> Table:
        return self.estimates.__rich__()


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
        "labels": "" if claims.probabilities is None else ", sum over labels",
        "top": "" if claims.probabilities is None else " of the top label",
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
    return Calibration(
        table,
        parts.width.table(claims.confidence, claims.outcome, confidence),
        parts.mass.table(claims.confidence, claims.outcome, confidence),
        parts.classes(),
    )


class _Parts:
    """All measures of the same items, for any weights of the items."""

    def __init__(self, claims: Claims, n_bins: int) -> None:
        self._claims = claims
        self.width = equal_width_bins(claims.confidence, n_bins)
        self.mass = equal_mass_bins(claims.confidence, n_bins)
        self._of_label: list[Bins] = []
        if claims.probabilities is not None:
            self._of_label = [equal_width_bins(c, n_bins) for c in claims.probabilities.T]

    def _label_errors(self, weights: Floats) -> Floats:
        """Calibration error of every label, shape (replicates, k)."""
        probabilities, truth = self._claims.probabilities, self._claims.truth
        if probabilities is None or truth is None:
            return np.empty((weights.shape[0], 0))
        across = np.ascontiguousarray(weights.T)
        missed = [
            np.abs(bins.matrix(probabilities[:, at] - truth[:, at]) @ across).sum(axis=0)
            for at, bins in enumerate(self._of_label)
        ]
        error: Floats = np.stack(missed, axis=1) / weights.sum(axis=1, keepdims=True)
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
        if claims.probabilities is not None and claims.truth is not None:
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
        given = claims.probabilities
        truth = claims.truth
        none = given is None or truth is None
        n = claims.confidence.size
        return pl.DataFrame(
            {
                "label": pl.Series(list(claims.labels), dtype=pl.String),
                "ece": self._label_errors(np.ones((1, n)))[0],
                "probability": np.empty(0) if given is None else given.mean(axis=0),
                "share": np.empty(0) if truth is None else truth.mean(axis=0),
                "n": np.full(0 if none else len(claims.labels), n, dtype=np.int64),
            }
        )
