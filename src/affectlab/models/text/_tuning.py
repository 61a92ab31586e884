"""What is chosen on a dev split, and what it reaches there on texts it was not chosen on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._types import Bools, Floats
from affectlab.models.text._decide import DecisionKind, DecisionRule, fit_decision
from affectlab.models.text._scaling import Scaling, ScalingKind, fit_scaling, sigmoid

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LevelTuning", "tune_level"]

_SPLITS = 10


@dataclass(frozen=True)
class LevelTuning:
    """Results of one level on a dev split, cross-fitted.

    The split is cut into halves at random; calibration and thresholds are fitted on one half and
    judged on the other, both ways, so that every text is judged by rules that have not seen it.
    All numbers are means over several cuts.
    """

    level: str
    """Name of the level; empty for the labels themselves."""
    labels: tuple[str, ...]
    precision: tuple[float, ...]
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
    """Expected calibration error of all probabilities after calibration, 15 bins of equal width."""
    ece_before: float
    """The same without calibration."""
    n_texts: int
    n_splits: int

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
        """One row per label: label, precision, recall, f1, support."""
        import polars as pl

        names = ("precision", "recall", "f1", "support")
        return pl.DataFrame({"label": self.labels, **{n: getattr(self, n) for n in names}})

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return {
            name: list(value) if isinstance(value, tuple) else None if value != value else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> LevelTuning:
        """Read what :meth:`to_dict` gives."""
        known: dict[str, Any] = {
            name: tuple(value)
            if isinstance(value, list)
            else float("nan")
            if value is None
            else value
            for name, value in given.items()
        }
        return cls(**known)


def tune_level(
    logits: Floats,
    truth: Bools,
    labels: Sequence[str],
    *,
    level: str = "",
    calibrate: ScalingKind = "temperature",
    decision: DecisionKind = "per_label",
    at_least_one: bool = False,
    fitted_on: str = "",
    seed: int = 0,
) -> tuple[Scaling, DecisionRule, LevelTuning]:
    """Fit calibration and decision to all texts, and cross-fit them to know what they are worth."""
    scaling = fit_scaling(logits, truth, calibrate)
    rule = fit_decision(
        scaling.apply(logits),
        truth,
        labels,
        decision,
        at_least_one=at_least_one,
        fitted_on=fitted_on,
    )
    return scaling, rule, _cross_fitted(logits, truth, rule, level, calibrate, seed)


def _cross_fitted(
    logits: Floats, truth: Bools, rule: DecisionRule, level: str, calibrate: ScalingKind, seed: int
) -> LevelTuning:
    rng = np.random.default_rng(seed)
    n, k = truth.shape
    counts = np.zeros((_SPLITS, 3, k))
    exact = np.zeros(_SPLITS)
    error = np.zeros(_SPLITS)
    for cut in range(_SPLITS):
        order = rng.permutation(n)
        halves = order[: n // 2], order[n // 2 :]
        chosen = np.zeros_like(truth)
        probabilities = np.zeros(logits.shape)
        for fit, judge in (halves, halves[::-1]):
            # One text alone has nothing to be fitted to beside it.
            if not len(fit):
                fit = judge
            scaling = fit_scaling(logits[fit], truth[fit], calibrate)
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
        exact[cut] = (chosen == truth).all(axis=1).mean()
        error[cut] = _calibration_error(probabilities, truth)
    hits, answered, true = counts.transpose(1, 0, 2)
    precision, recall = (hits / np.maximum(part, 1) for part in (answered, true))
    f1 = 2 * hits / np.maximum(answered + true, 1)
    seen = truth.any(axis=0)
    macro = f1[:, seen].mean(axis=1) if seen.any() else np.full(_SPLITS, np.nan)
    whole = counts.sum(axis=2)
    micro = 2 * whole[:, 0] / np.maximum(whole[:, 1] + whole[:, 2], 1)

    def mean(values: Floats) -> tuple[float, ...]:
        return tuple(values.mean(axis=0).tolist())

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
        _calibration_error(sigmoid(logits), truth),
        n,
        _SPLITS,
    )


def _calibration_error(probabilities: Floats, truth: Bools, n_bins: int = 15) -> float:
    """Mean gap between probability and outcome over bins, as in :func:`calibration`."""
    flat = probabilities.ravel()
    place = np.minimum((flat * n_bins).astype(np.int64), n_bins - 1)
    gap = np.bincount(place, flat - truth.ravel(), n_bins)
    return float(np.abs(gap).sum() / flat.size)
