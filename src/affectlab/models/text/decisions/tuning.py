"""What is chosen on a dev split, and what it reaches there on texts it was not chosen on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats
from affectlab.core.words import number
from affectlab.models.text.decisions.rules import DecisionKind, DecisionRule, fit_decision
from affectlab.models.text.decisions.scaling import Scaling, ScalingKind, fit_scaling, sigmoid

__all__ = ["LevelTuning", "tune_level"]

_SPLITS = 10


@dataclass(frozen=True)
class LevelTuning:
    """Results of one level on a dev split, cross-fitted.

    The split is cut into halves at random; calibration and thresholds are fitted on one half and
    judged on the other, both ways, so that every text is judged by rules that have not seen it.
    All numbers are means over several cuts.

    Calibration errors are gaps between probabilities and the share of texts with the label (of
    raters who chose it, where the split has shares), over 15 bins of equal width. Pooled over all
    labels they prove little where most probabilities are near 0: a model that gives every label of
    every text the same share has none. Classwise each label is measured for itself.

    Raises
    ------
    InputError
        When there is not one number per label.
    """

    level: str
    """Name of the level; empty for the labels themselves."""
    labels: tuple[str, ...]
    precision: tuple[float, ...]
    """Not a number for labels that no text has; so are `recall` and `f1`."""
    recall: tuple[float, ...]
    f1: tuple[float, ...]
    support: tuple[int, ...]
    """Texts with each label."""
    macro_f1: float
    """Mean over labels that some text has."""
    macro_f1_low: float
    """Lowest of the cuts."""
    macro_f1_high: float
    micro_f1: float
    exact_match: float
    """Share of texts whose labels are all right."""
    ece: float
    """Expected calibration error after calibration, pooled: all probabilities of all labels."""
    ece_before: float
    """The same without calibration, on the same texts and targets."""
    n_texts: int
    n_splits: int
    confusion: tuple[tuple[float, ...], ...] = ()
    """Texts with the true label of the row and the chosen label of the column, shape (L, L): each
    true label counts once for each chosen one. Empty in models that were saved without it."""
    classwise_ece: tuple[float, ...] = ()
    """Expected calibration error of each label's probability after calibration. Empty in models
    that were saved without it, as are those before."""
    classwise_ece_before: tuple[float, ...] = ()
    """The same without calibration."""
    shares: bool = False
    """Whether the split has shares of raters: they are what calibration is fitted to and measured
    by; for thresholds and F1 a label is true from one half on."""

    def __post_init__(self) -> None:
        n = len(self.labels)
        for name in ("precision", "recall", "f1", "support"):
            values = getattr(self, name)
            if len(values) != n:
                raise InputError(f"{name}: {len(values)} values; expected one for each label, {n}")
            # The same nan everywhere, so that equal results are equal.
            same = tuple(math.nan if value != value else value for value in values)
            object.__setattr__(self, name, same)
        for name in ("classwise_ece", "classwise_ece_before"):
            if len(getattr(self, name)) not in (0, n):
                raise InputError(f"{name}: expected one value for each of {n} labels, or none")
        if self.confusion and {len(self.confusion), *map(len, self.confusion)} != {n}:
            raise InputError(f"confusion: expected one row and column for each of {n} labels")

    @property
    def mean_classwise_ece(self) -> float:
        """Mean over labels of the calibration error of each; nan where it was not measured."""
        return float(np.mean(self.classwise_ece)) if self.classwise_ece else math.nan

    @property
    def mean_classwise_ece_before(self) -> float:
        """The same without calibration."""
        return float(np.mean(self.classwise_ece_before)) if self.classwise_ece_before else math.nan

    @property
    def largest_classwise_ece(self) -> tuple[str, float]:
        """The label with the largest calibration error, and this error; of equals the first."""
        if not self.classwise_ece:
            return "", math.nan
        place = int(np.argmax(self.classwise_ece))
        return self.labels[place], self.classwise_ece[place]

    @property
    def worst_said(self) -> str:
        """The label with the largest calibration error, and this error, in words."""
        label, error = self.largest_classwise_ece
        return f"{label} {number(error, 3)}" if label else "–"

    @property
    def truth_said(self) -> str:
        """When a label is true where the split has shares of raters, in words; else empty."""
        if not self.shares:
            return ""
        return (
            "Shares of raters are what calibration is fitted to and measured by; for thresholds "
            "and F1 a label is true where half of the raters or more chose it (without --soft: two "
            "raters, or as agree says), so that F1 is not comparable with that of such labels."
        )

    @property
    def macro_precision(self) -> float:
        """Mean precision over labels that some text has."""
        return self._mean(self.precision)

    @property
    def macro_recall(self) -> float:
        """Mean recall over labels that some text has."""
        return self._mean(self.recall)

    def _mean(self, values: Sequence[float]) -> float:
        seen = [value for value, n in zip(values, self.support, strict=True) if n]
        return float(np.mean(seen)) if seen else float("nan")

    def to_frame(self) -> pl.DataFrame:
        """One row per label: label, precision, recall, f1, support and ece, where it is known."""
        names = ("precision", "recall", "f1", "support")
        found = pl.DataFrame({"label": self.labels, **{n: getattr(self, n) for n in names}})
        if self.classwise_ece:
            found = found.with_columns(ece=pl.Series(self.classwise_ece))
        return found

    def summary(self) -> dict[str, Any]:
        """Give the results as plain values, with what follows from them."""
        label, largest = self.largest_classwise_ece
        return {
            **self.to_dict(),
            "mean_classwise_ece": self.mean_classwise_ece,
            "mean_classwise_ece_before": self.mean_classwise_ece_before,
            "largest_classwise_ece": {"label": label, "ece": largest},
        }

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""

        def plain(value: Any) -> Any:
            if isinstance(value, tuple):
                return [plain(entry) for entry in value]
            return None if value != value else value

        return {name: plain(value) for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> LevelTuning:
        """Read what :meth:`to_dict` gives.

        Raises
        ------
        InputError
            When a part is missing or is of another kind.
        """

        def read(value: Any, kind: str) -> Any:
            if isinstance(value, list):
                return tuple(read(entry, kind) for entry in value)
            expected = str if kind in ("level", "labels") else int | float
            if value is None and expected is not str:
                return math.nan
            if not isinstance(value, expected):
                raise InputError(f"results, {kind}: {value!r} is of another kind")
            return value

        known = {field.name for field in fields(cls)}
        if not isinstance(given, Mapping) or not given.keys() <= known:
            raise InputError("results: expected what to_dict gives")
        try:
            return cls(**{name: read(value, name) for name, value in given.items()})
        except TypeError as error:
            raise InputError(f"results cannot be read ({error})") from None


def tune_level(
    logits: Floats,
    targets: Floats | Bools,
    labels: Sequence[str],
    *,
    level: str = "",
    calibrate: ScalingKind = "temperature",
    decision: DecisionKind = "per_label",
    at_least_one: bool = False,
    fitted_on: str = "",
    seed: int = 0,
) -> tuple[Scaling, DecisionRule, LevelTuning]:
    """Fit calibration and decision to all texts, and cross-fit them to know what they are worth.

    Calibration is fitted to `targets` as they are, 0/1 or shares of raters, and its errors are
    measured by them; decisions are fitted to the labels that one half of the raters chose.
    """
    shares = np.asarray(targets, dtype=np.float64)
    truth: Bools = shares >= 0.5
    scaling = fit_scaling(logits, shares, calibrate)
    rule = fit_decision(
        scaling.apply(logits),
        truth,
        labels,
        decision,
        at_least_one=at_least_one,
        fitted_on=fitted_on,
    )
    return scaling, rule, _cross_fitted(logits, shares, truth, rule, level, calibrate, seed)


def _cross_fitted(
    logits: Floats,
    shares: Floats,
    truth: Bools,
    rule: DecisionRule,
    level: str,
    calibrate: ScalingKind,
    seed: int,
) -> LevelTuning:
    rng = np.random.default_rng(seed)
    n, k = truth.shape
    counts = np.zeros((_SPLITS, 3, k))
    together = np.zeros((k, k))
    true = truth.astype(np.float64)
    exact = np.zeros(_SPLITS)
    error = np.zeros(_SPLITS)
    errors = np.zeros((_SPLITS, k))
    for cut in range(_SPLITS):
        order = rng.permutation(n)
        halves = order[: n // 2], order[n // 2 :]
        chosen = np.zeros_like(truth)
        probabilities = np.zeros(logits.shape)
        for fit, judge in (halves, halves[::-1]):
            # One text alone has nothing to be fitted to beside it.
            if not len(fit):
                fit = judge
            scaling = fit_scaling(logits[fit], shares[fit], calibrate)
            own = fit_decision(
                scaling.apply(logits[fit]),
                truth[fit],
                rule.labels,
                rule.kind,
                at_least_one=rule.at_least_one,
            )
            probabilities[judge] = scaling.apply(logits[judge])
            chosen[judge] = own.decide(probabilities[judge])
        counts[cut] = (chosen & truth).sum(axis=0), chosen.sum(axis=0), truth.sum(axis=0)
        together += true.T @ chosen
        exact[cut] = (chosen == truth).all(axis=1).mean()
        error[cut] = _calibration_error(probabilities.ravel(), shares.ravel())
        errors[cut] = _classwise_errors(probabilities, shares)
    hits, answered, there = counts.transpose(1, 0, 2)
    precision, recall = (hits / np.maximum(part, 1) for part in (answered, there))
    f1 = 2 * hits / np.maximum(answered + there, 1)
    seen = truth.any(axis=0)
    raw = sigmoid(logits)
    macro = f1[:, seen].mean(axis=1) if seen.any() else np.full(_SPLITS, np.nan)
    whole = counts.sum(axis=2)
    micro = 2 * whole[:, 0] / np.maximum(whole[:, 1] + whole[:, 2], 1)

    def mean(values: Floats) -> tuple[float, ...]:
        return tuple(np.where(seen, values.mean(axis=0), np.nan).tolist())

    return LevelTuning(
        level,
        rule.labels,
        mean(precision),
        mean(recall),
        mean(f1),
        tuple(truth.sum(axis=0).tolist()),
        float(macro.mean()),
        float(macro.min()),
        float(macro.max()),
        float(micro.mean()),
        float(exact.mean()),
        float(error.mean()),
        _calibration_error(raw.ravel(), shares.ravel()),
        n,
        _SPLITS,
        tuple(tuple(row) for row in (together / _SPLITS).tolist()),
        tuple(errors.mean(axis=0).tolist()),
        tuple(_classwise_errors(raw, shares)),
        bool(((shares > 0) & (shares < 1)).any()),
    )


def _calibration_error(probabilities: Floats, shares: Floats, n_bins: int = 15) -> float:
    """Mean gap of probability and outcome over bins, as in :func:`calibration`; shapes (n,)."""
    place = np.minimum((probabilities * n_bins).astype(np.int64), n_bins - 1)
    gap = np.bincount(place, probabilities - shares, n_bins)
    return float(np.abs(gap).sum() / probabilities.size)


def _classwise_errors(probabilities: Floats, shares: Floats) -> list[float]:
    """Give the calibration error of each column."""
    return [_calibration_error(*pair) for pair in zip(probabilities.T, shares.T, strict=True)]
