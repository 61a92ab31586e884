"""A metric learned from people's preferences: logistic regression on the scores of metrics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab._version import __version__
from affectlab.core.errors import InputError
from affectlab.core.inference import check_confidence
from affectlab.core.words import count, in_brackets, joined, number, plural
from affectlab.evaluation import metric_scores
from affectlab.evaluation.preference import MetricScores, area_verdict
from affectlab.models.preference_metric.cross_validation import (
    Logistic,
    Progress,
    area_table,
    check_folds,
    cross_validate,
    fit_logistic,
)
from affectlab.models.preference_metric.data import PreferenceFeatures
from affectlab.models.runs import META, HubModel, read_meta, replacing, write_json

__all__ = [
    "SCHEMA",
    "PreferenceMetric",
    "PreferenceReport",
]

# What cross-validation says of a learned metric, as a table and in words.


@dataclass(frozen=True, eq=False)
class PreferenceReport:
    """A learned metric on items that it did not learn from.

    Made by :meth:`PreferenceMetric.cross_validate`.
    """

    areas: pl.DataFrame
    """``method`` (``learned``, ``best single metric``, ``difference``), ``value``, ``se``, ``low``,
    ``high``, ``sd_of_repeats``."""
    chosen: Mapping[str, int]
    """How often each metric was the best single one in training."""
    cs: Mapping[str, int]
    """How often each C was chosen."""
    n_good: int
    n_poor: int
    n_clusters: int
    n_left_out: int
    """Decided items that lack a score of some metric."""
    folds: int
    repeats: int
    n_boot: int
    confidence: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in plain words."""
        rows = {row["method"]: row for row in self.areas.to_dicts()}
        learned, single, ahead = (
            rows[name] for name in ("learned", "best single metric", "difference")
        )
        verdict = area_verdict(learned["low"], learned["high"], None)
        words = {
            "sees": "it sees what people prefer in items that it did not learn from",
            "sees the wrong way round": "it scores what people prefer lower, which is a sign that "
            "there is nothing to learn",
            "does not show that it sees": "it does not show that it sees what people prefer",
            "no interval": "there is no interval",
        }[verdict]
        said = [f"Learned: AUC {_with_ends(learned)}; {words}."]
        names = sorted(self.chosen, key=lambda name: (-self.chosen[name], name))
        total = sum(self.chosen.values())
        those = joined(f"{name} {self.chosen[name]} of {total}" for name in names[:3])
        said.append(
            f"Best single metric, chosen in each training part ({those}): AUC {_with_ends(single)}."
        )
        if ahead["low"] == ahead["low"]:
            better = (
                "learning helps"
                if ahead["low"] > 0
                else "learning does worse"
                if ahead["high"] < 0
                else "no gain from learning is shown"
            )
            said.append(f"Difference: {_with_ends(ahead)}; {better}.")
        said.append(
            f"{plural(self.n_good, 'good item')} and {count(self.n_poor)} poor in "
            f"{plural(self.n_clusters, 'group')}; {self.folds} folds that part no group, "
            f"{plural(self.repeats, 'time')}"
            + (
                f"; {plural(self.n_left_out, 'item')} without all scores left out."
                if self.n_left_out
                else "."
            )
        )
        return tuple(said)

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as plain values, ``nan`` as None."""
        plain = [
            {key: None if value != value else value for key, value in row.items()}
            for row in self.areas.to_dicts()
        ]
        return {
            "areas": plain,
            "chosen": dict(self.chosen),
            "cs": dict(self.cs),
            "n_good": self.n_good,
            "n_poor": self.n_poor,
            "n_clusters": self.n_clusters,
            "n_left_out": self.n_left_out,
            "folds": self.folds,
            "repeats": self.repeats,
            "n_boot": self.n_boot,
            "confidence": self.confidence,
        }


def _with_ends(row: Mapping[str, Any]) -> str:
    return number(row["value"]) + in_brackets(row["low"], row["high"])


SCHEMA = "affectlab/preference-metric/1"
_KEYS = ("name", "metrics", "settings", "system", "mean", "sd", "weights", "intercept", "c")
CS = (0.01, 0.1, 1.0, 10.0)


class PreferenceMetric(HubModel):
    """Weighs metrics so that what people accept scores above what they reject.

    Parameters
    ----------
    name
        Name as a metric.
    cs
        Inverse strengths of the penalty to choose from, inside every training part.
    folds
        Folds of cross-validation; a group of items is never parted.
    inner_folds
        Folds within the training part by which C is chosen.
    repeats
        Times that folds are drawn anew.
    seed
        Seed; the same seed gives the same metric and the same report.

    Notes
    -----
    References: Socratis (2023), section 5, asks whether a metric can be learned from a few
    examples.

    Examples
    --------
    >>> import numpy as np
    >>> from affectlab.models.preference_metric import preference_features
    >>> rng = np.random.default_rng(0)
    >>> said = {f"i{k}": "model" if k % 3 == 0 else "human" for k in range(60)}
    >>> table = {"item": list(said), "metric": ["clip"] * 60,
    ...          "score": [2.0 * (verdict == "model") + rng.normal() for verdict in said.values()]}
    >>> data = preference_features(said, table)
    >>> metric = PreferenceMetric(folds=3, repeats=1).fit(data)
    >>> metric.score(table)["score"].len()
    60
    """

    def __init__(
        self,
        name: str = "learned",
        *,
        cs: Sequence[float] = CS,
        folds: int = 5,
        inner_folds: int = 4,
        repeats: int = 5,
        seed: int = 0,
    ) -> None:
        self.name = name
        self.cs = tuple(float(c) for c in cs)
        self.folds = folds
        self.inner_folds = inner_folds
        self.repeats = repeats
        self.seed = seed
        self.metrics: tuple[str, ...] = ()
        self.system = ""
        self.fitted: Logistic | None = None
        self.report: PreferenceReport | None = None

    def _check(self) -> None:
        if not self.cs or any(not (math.isfinite(c) and c > 0) for c in self.cs):
            raise InputError(f"cs {list(self.cs)!r}: expected numbers above 0")
        for name, least in (("folds", 2), ("inner_folds", 2), ("repeats", 1)):
            if getattr(self, name) < least:
                raise InputError(f"{name} {getattr(self, name)}: expected at least {least}")
        if self.seed < 0:
            raise InputError(f"seed {self.seed}: expected 0 or more")
        if not self.name.strip():
            raise InputError("name is empty; expected the name of the metric")

    def fit(self, data: PreferenceFeatures) -> PreferenceMetric:
        """Learn from all items; C is chosen in grouped folds of them.

        Raises
        ------
        InputError
            If there are too few groups of items, or a setting is out of range.
        """
        self._check()
        check_folds(data.good, data.clusters, 2)
        self.fitted = fit_logistic(
            data.x, data.good, data.clusters, self.cs, self.inner_folds, self.seed
        )
        self.metrics, self.system = data.metrics, data.system
        return self

    def cross_validate(
        self,
        data: PreferenceFeatures,
        *,
        n_boot: int = 1000,
        confidence: float = 0.95,
        progress: Progress | None = None,
    ) -> PreferenceReport:
        """Judge learning by items that were kept aside, beside the best single metric.

        Scores are standardised, C is chosen and the single metric is chosen without the items of
        the test. Groups of items are never parted. Items are compared within a fold only.

        Parameters
        ----------
        n_boot
            0 for no intervals; these are about other items, keep the fitted models, and need no
            replicates.
        confidence
            Coverage of the intervals, in (0, 1).

        Raises
        ------
        InputError
            As :meth:`fit`, or if there are fewer groups than folds.
        """
        self._check()
        check_confidence(confidence)
        if n_boot < 0:
            raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap replicates")
        out = cross_validate(
            data.x,
            data.good,
            data.clusters,
            cs=self.cs,
            folds=self.folds,
            inner_folds=self.inner_folds,
            repeats=self.repeats,
            seed=self.seed,
            progress=progress,
        )
        self.report = PreferenceReport(
            areas=area_table(out, data.good, data.clusters, confidence, with_intervals=n_boot > 0),
            chosen=dict(Counter(data.metrics[k] for k in out.chosen)),
            cs=dict(Counter(f"{c:g}" for c in out.cs)),
            n_good=int(data.good.sum()),
            n_poor=int((~data.good).sum()),
            n_clusters=int(np.unique(data.clusters).size),
            n_left_out=data.n_left_out,
            folds=self.folds,
            repeats=self.repeats,
            n_boot=n_boot,
            confidence=confidence,
        )
        return self.report

    def _learned(self) -> Logistic:
        if self.fitted is None:
            raise InputError("the metric has learned nothing yet; expected fit or load before")
        return self.fitted

    def score(
        self, scores: MetricScores | str | Path | pl.DataFrame | Mapping[str, Any]
    ) -> pl.DataFrame:
        """Score items from the scores of the metrics that it weighs.

        Returns
        -------
        ``item``, ``metric`` (the name of this one) and ``score`` (log odds of being good; ``nan``
        where a metric says nothing of an item), as other metrics give theirs.

        Raises
        ------
        InputError
            If a metric is missing.
        """
        fitted = self._learned()
        read = scores if isinstance(scores, MetricScores) else metric_scores(scores)
        missing = [name for name in self.metrics if name not in read.metrics]
        if missing:
            raise InputError(
                f"no score of {missing[0]!r}; the metric weighs {', '.join(self.metrics)}"
            )
        columns = [read.metrics.index(name) for name in self.metrics]
        return pl.DataFrame(
            {
                "item": list(read.items),
                "metric": [self.name] * len(read.items),
                "score": fitted.score(read.values[:, columns]),
            }
        )

    def weights(self) -> pl.DataFrame:
        """Give ``metric`` and ``weight``: log odds per standard deviation of its scores."""
        fitted = self._learned()
        return pl.DataFrame({"metric": list(self.metrics), "weight": fitted.weights})

    def save(self, path: str | Path) -> Path:
        """Write the metric to a folder, as JSON.

        Raises
        ------
        InputError
            If it has learned nothing, or the folder cannot be written.
        """
        fitted, place = self._learned(), Path(path)
        settings = {
            "cs": list(self.cs),
            "folds": self.folds,
            "inner_folds": self.inner_folds,
            "repeats": self.repeats,
            "seed": self.seed,
        }
        content = {
            "schema": SCHEMA,
            "affectlab": __version__,
            "name": self.name,
            "metrics": list(self.metrics),
            "system": self.system,
            "settings": settings,
            "mean": fitted.mean.tolist(),
            "sd": fitted.sd.tolist(),
            "weights": fitted.weights.tolist(),
            "intercept": fitted.intercept,
            "c": fitted.c,
            "report": None if self.report is None else self.report.to_dict(),
        }
        try:
            with replacing(place) as inner:
                write_json(inner / META, content)
        except OSError as error:
            raise InputError(f"{place} cannot be written: {error.strerror or error}") from None
        return place

    @classmethod
    def load(cls, path: str | Path) -> PreferenceMetric:
        """Read a metric that :meth:`save` has written.

        Raises
        ------
        InputError
            If the folder is missing, incomplete, or holds something else.
        """
        place = Path(path)
        meta = read_meta(place, SCHEMA, _KEYS, "metric learned from preferences")
        where = place / META
        names, settings = meta["metrics"], meta["settings"]
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            raise InputError(f"{where}: metrics is {names!r}; expected names")
        arrays = {key: _numbers(meta[key], len(names), f"{where}: {key}") for key in _ARRAYS}
        intercept, c = (
            _numbers([meta[key]], 1, f"{where}: {key}")[0] for key in ("intercept", "c")
        )
        if not (arrays["sd"] > 0).all():
            raise InputError(
                f"{where}: a standard deviation is not above 0; expected what save wrote"
            )
        try:
            metric = cls(str(meta["name"]), **settings)
            metric._check()
        except (TypeError, ValueError, InputError) as error:
            raise InputError(f"{where}: settings cannot be used ({error})") from None
        metric.metrics, metric.system = tuple(names), str(meta["system"])
        metric.fitted = Logistic(**arrays, intercept=float(intercept), c=float(c))
        return metric


_ARRAYS = ("mean", "sd", "weights")


def _numbers(given: Any, n: int, where: str) -> np.ndarray:
    if (
        not isinstance(given, list)
        or len(given) != n
        or any(isinstance(v, bool) or not isinstance(v, int | float) for v in given)
        or not np.isfinite(given).all()
    ):
        raise InputError(f"{where}: expected {n} finite numbers")
    return np.array(given, dtype=np.float64)
