"""A metric learned from people's preferences: logistic regression on the scores of metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from affectlab._version import __version__
from affectlab.core.errors import InputError
from affectlab.core.inference import check_confidence, left_out_uncertainty
from affectlab.core.result import Result
from affectlab.core.tables import Interval as Ends, Key, Number, Table
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import count, in_brackets, joined, number, plural
from affectlab.evaluation import metric_scores
from affectlab.evaluation.preference import (
    MetricScores,
    area_ends,
    area_verdict,
    fold_areas,
    without_clusters,
)
from affectlab.models.estimators import check_parameters
from affectlab.models.preference_metric.data import PreferenceFeatures
from affectlab.models.runs import META, HubModel, read_meta, replacing, write_json

__all__ = ["SCHEMA", "BestSingleMetric", "PreferenceMetric"]

SCHEMA = "affectlab/preference-metric/1"
_KEYS = ("name", "metrics", "settings", "mean", "scale", "weights", "intercept", "C")
_ARRAYS = ("mean", "scale", "weights")
CS = (0.01, 0.1, 1.0, 10.0)

Progress = Callable[[str, int, int], None]


class _OfTwo(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of two kinds of items by the scores of metrics."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def __sklearn_tags__(self) -> Any:
        """Say that there are two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _read(self, X: Any, y: Any) -> tuple[Floats, Bools]:
        check_parameters(self)
        x, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        if self.classes_.size != 2:
            raise InputError(
                "Only binary classification is supported. The items have "
                f"{plural(self.classes_.size, 'class', 'classes')}; expected 2, good and poor"
            )
        return x, labels == self.classes_[1]

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False, dtype=np.float64))

    def predict(self, X: Any) -> Any:
        """Give the likelier class of each item."""
        above = self.decision_function(X) > 0
        return self.classes_[above.astype(int)]


class BestSingleMetric(_OfTwo):
    """The metric that tells good from poor best, turned round where it must be.

    Examples
    --------
    >>> BestSingleMetric().fit([[1.0, 3.0], [2.0, 1.0], [1.0, 2.0]], [0, 1, 0]).column_
    0
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Choose a column by its area under the ROC curve."""
        x, good = self._read(X, y)
        areas = np.array([roc_auc_score(good, column) for column in x.T])
        self.column_ = int(np.argmax(np.abs(areas - 0.5)))
        self.sign_ = 1.0 if areas[self.column_] >= 0.5 else -1.0
        # Between the middle of the good and that of the poor ones.
        middles = [float(np.median(x[side, self.column_])) for side in (good, ~good)]
        self.threshold_ = sum(middles) / 2
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Give what that metric says, less what lies between good and poor, shape (items,)."""
        scores = self._scores(X)
        return self.sign_ * (scores[:, self.column_] - self.threshold_)


class PreferenceMetric(_OfTwo, HubModel):
    """Weighs metrics so that what people accept scores above what they reject.

    Logistic regression on standardised scores, whose penalty is chosen in folds that part no group
    of items.

    Parameters
    ----------
    name
        Name as a metric.
    cs
        Inverse strengths of the penalty to choose from.
    inner_folds
        Folds of the items by which C is chosen.
    seed
        Of the folds.

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
    >>> metric = PreferenceMetric().fit(data.table, data.good, groups=data.clusters)
    >>> metric.score_items(table)["score"].len()
    60
    """

    validation: Mapping[str, Any] | None = None
    """What :meth:`cross_validate` found, as plain values; None before."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "name": [str],
        "cs": ["array-like"],
        "inner_folds": [Interval(Integral, 2, None, closed="left")],
        "seed": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        name: str = "learned",
        *,
        cs: Sequence[float] = CS,
        inner_folds: int = 4,
        seed: int = 0,
    ) -> None:
        self.name = name
        self.cs = cs
        self.inner_folds = inner_folds
        self.seed = seed

    def fit(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Learn from all items; C is chosen in grouped folds of them.

        Parameters
        ----------
        X
            Scores of metrics, shape (items, metrics); the columns of a table are their names.
        y
            Whether each item is good, shape (items,).
        groups
            What each item belongs to; by default each is by itself.

        Raises
        ------
        InputError
            If there are too few groups of items, or a setting is out of range.
        """
        x, good = self._read(X, y)
        clusters = np.arange(good.size) if groups is None else np.asarray(groups)
        chain = make_pipeline(
            # Few features: Newton's steps get to the optimum in a handful.
            StandardScaler(),
            LogisticRegression(solver="newton-cholesky", tol=1e-8, max_iter=200),
        )
        cs = [float(c) for c in self.cs]
        if not cs or not all(0 < c < np.inf for c in cs):
            raise InputError(f"cs {cs!r}: expected numbers above 0")
        if len(cs) == 1:
            chosen = chain.set_params(logisticregression__C=cs[0]).fit(x, good)
        else:
            chosen = (
                GridSearchCV(
                    chain,
                    {"logisticregression__C": cs},
                    scoring="neg_log_loss",
                    cv=grouped_folds(good, clusters, self.inner_folds, self.seed, fewer=True),
                )
                .fit(x, good)
                .best_estimator_
            )
        self.mean_, self.scale_ = chosen[0].mean_, chosen[0].scale_
        self.coef_, self.intercept_ = chosen[1].coef_[0], float(chosen[1].intercept_[0])
        self.C_ = float(chosen[1].C)
        self.n_iter_ = chosen[1].n_iter_
        return self

    def decision_function(self, X: Any) -> Floats:
        """Give log odds of being good, shape (items,)."""
        x = self._scores(X)
        return np.asarray(((x - self.mean_) / self.scale_) @ self.coef_ + self.intercept_)

    def predict_proba(self, X: Any) -> Floats:
        """Give the probability of being poor and of being good, shape (items, 2)."""
        good = 1 / (1 + np.exp(-self.decision_function(X)))
        return np.column_stack([1 - good, good])

    def cross_validate(
        self,
        data: PreferenceFeatures,
        *,
        folds: int = 5,
        repeats: int = 5,
        n_boot: int = 1000,
        confidence: float = 0.95,
        progress: Progress | None = None,
    ) -> Result:
        """Judge learning by items that were kept aside, beside the best single metric.

        Scores are standardised, C is chosen and the single metric is chosen without the items of
        the test. Groups of items are never parted. Items are compared within a fold only, since
        each fold has a model of its own.

        Parameters
        ----------
        folds
            Folds of the items.
        repeats
            Times that folds are drawn anew.
        n_boot
            0 for no intervals; these are about other items, keep the fitted models, and need no
            replicates.
        confidence
            Coverage of the intervals, in (0, 1).

        Returns
        -------
        Result
            Table ``areas``: ``method`` (``learned``, ``best single metric``, ``difference``),
            ``value``, ``se``, ``low``, ``high``, ``sd_of_repeats``.

        Raises
        ------
        InputError
            As :meth:`fit`, or if there are fewer groups than folds.
        """
        check_confidence(confidence)
        for name, value, least in (("repeats", repeats, 1), ("n_boot", n_boot, 0)):
            if value < least:
                raise InputError(f"{name} {value}: expected at least {least}")
        scores = np.full((2, repeats, data.good.size), np.nan)
        fold_of: list[Ints] = []
        chosen: Counter[str] = Counter()
        cs: Counter[str] = Counter()
        seeds = np.random.SeedSequence(self.seed).generate_state(2 * repeats)
        for r in range(repeats):
            parts = grouped_folds(data.good, data.clusters, folds, int(seeds[2 * r]))
            learner = clone(self).set_params(seed=int(seeds[2 * r + 1]) % 2**31)
            learned = _fitted(learner, data, parts, {"groups": data.clusters})
            single = _fitted(BestSingleMetric(), data, parts)
            at = np.zeros(data.good.size, dtype=np.int64)
            for k, ((_, test), ours, best) in enumerate(zip(parts, learned, single, strict=True)):
                scores[0, r, test] = ours.decision_function(data.x[test])
                scores[1, r, test] = best.decision_function(data.x[test])
                at[test] = k
                chosen[data.metrics[best.column_]] += 1
                cs[f"{ours.C_:g}"] += 1
            fold_of.append(at)
            if progress is not None:
                progress("cross-validation", r + 1, repeats)
        areas = _area_table(scores, fold_of, data, confidence, with_intervals=n_boot > 0)
        columns = (Key("method"), Number("value", "AUC"), Ends(), Number("sd_of_repeats"))
        found = Result(
            (Table("areas", "Areas on items kept aside.", areas, columns),),
            sentences=_sentences(areas, chosen),
            notes=(
                f"{plural(int(data.good.sum()), 'good item')} and "
                f"{count(int((~data.good).sum()))} poor in "
                f"{plural(int(np.unique(data.clusters).size), 'group')}; {folds} folds that part "
                f"no group, {plural(repeats, 'time')}; {plural(data.n_left_out, 'item')} without "
                "all scores left out. Intervals are about other items and keep the fitted models.",
            ),
            settings={
                "folds": folds, "repeats": repeats, "n_boot": n_boot, "confidence": confidence,
                "chosen": dict(chosen), "cs": dict(cs),
            },
        )  # fmt: skip
        self.validation = found.to_dict()
        return found

    def score_items(
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
        names = self._metrics()
        read = scores if isinstance(scores, MetricScores) else metric_scores(scores)
        missing = [name for name in names if name not in read.metrics]
        if missing:
            raise InputError(f"no score of {missing[0]!r}; the metric weighs {', '.join(names)}")
        x = read.values[:, [read.metrics.index(name) for name in names]]
        whole = ~np.isnan(x).any(axis=1)
        values = np.full(len(x), np.nan)
        if whole.any():
            values[whole] = self.decision_function(pl.DataFrame(x[whole], schema=names))
        return pl.DataFrame(
            {"item": list(read.items), "metric": [self.name] * len(x), "score": values}
        )

    def weights(self) -> pl.DataFrame:
        """Give ``metric`` and ``weight``: log odds per standard deviation of its scores."""
        return pl.DataFrame({"metric": self._metrics(), "weight": self.coef_})

    def _metrics(self) -> list[str]:
        if not hasattr(self, "coef_"):
            raise InputError("the metric has learned nothing yet; expected fit or load before")
        if not hasattr(self, "feature_names_in_"):
            raise InputError(
                "the metric was fitted to numbers without names; expected a table with a column "
                "for each metric"
            )
        return [str(name) for name in self.feature_names_in_]

    def save(self, path: str | Path) -> Path:
        """Write the metric to a folder, as JSON.

        Raises
        ------
        InputError
            If it has learned nothing, or the folder cannot be written.
        """
        names, place = self._metrics(), Path(path)
        content = {
            "schema": SCHEMA,
            "affectlab": __version__,
            "name": self.name,
            "metrics": names,
            "settings": {
                "cs": list(self.cs), "inner_folds": self.inner_folds, "seed": self.seed,
            },
            "mean": self.mean_.tolist(),
            "scale": self.scale_.tolist(),
            "weights": self.coef_.tolist(),
            "intercept": self.intercept_,
            "C": self.C_,
            "validation": self.validation,
        }  # fmt: skip
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
        names = meta["metrics"]
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            raise InputError(f"{where}: metrics is {names!r}; expected names")
        mean, scale, weights = (
            _numbers(meta[key], len(names), f"{where}: {key}") for key in _ARRAYS
        )
        if not (scale > 0).all():
            raise InputError(
                f"{where}: a standard deviation is not above 0; expected what save wrote"
            )
        try:
            metric = cls(meta["name"], **meta["settings"])
            check_parameters(metric)
        except (TypeError, InputError) as error:
            raise InputError(f"{where}: settings cannot be used ({error})") from None
        metric.mean_, metric.scale_, metric.coef_ = mean, scale, weights
        metric.intercept_, metric.C_ = (
            float(_numbers([meta[key]], 1, f"{where}: {key}")[0]) for key in ("intercept", "C")
        )
        metric.classes_ = np.array([False, True])
        metric.feature_names_in_ = np.array(names, dtype=object)
        metric.n_features_in_ = len(names)
        metric.validation = meta.get("validation")
        return metric


def _fitted(
    learner: Any,
    data: PreferenceFeatures,
    parts: list[tuple[Ints, Ints]],
    params: dict[str, Any] | None = None,
) -> list[Any]:
    """Fit to the training part of each fold; areas are taken over folds, not within each."""
    found = cross_validate(
        learner, data.x, data.good, cv=parts, params=params, return_estimator=True,
        error_score="raise",
    )  # fmt: skip
    return list(found["estimator"])


def grouped_folds(
    good: Bools, clusters: Any, folds: int, seed: int, *, fewer: bool = False
) -> list[tuple[Ints, Ints]]:
    """Split items, clusters as a whole and shares of good ones alike; gives training and test.

    Parameters
    ----------
    good, clusters
        Shape (n,).
    fewer
        Take fewer folds where a class is scarce, as happens within the training part of a fold.

    Raises
    ------
    InputError
        If there are too few groups.
    """
    if folds < 2:
        raise InputError(f"folds {folds}: expected at least 2")
    for side, name in ((good, "good"), (~good, "poor")):
        n = int(np.unique(clusters[side]).size)
        if n < (2 if fewer else folds):
            raise InputError(
                f"{n} groups of items with a {name} one are too few for "
                f"{plural(2 if fewer else folds, 'fold')}; expected at least one for each fold"
            )
        folds = min(folds, n)
    cut = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    parts = list(cut.split(np.zeros((good.size, 1)), good, clusters))
    if any(good[train].all() or not good[train].any() for train, _ in parts):
        raise InputError(
            "a training part would hold good or poor items only; expected more groups of items"
        )
    return parts


def _area_table(
    scores: Floats,
    fold_of: list[Ints],
    data: PreferenceFeatures,
    confidence: float,
    *,
    with_intervals: bool,
) -> pl.DataFrame:
    """Give the areas of both, and their difference, with intervals.

    Items are compared with items of the same fold only; the area is the mean over repeats.
    Intervals leave clusters out and keep the fitted models.
    """

    def each(weights: Floats) -> list[Floats]:
        return [fold_areas(values.T, data.good, weights, fold_of) for values in scores]

    def means(weights: Floats) -> Floats:
        return np.column_stack([areas.mean(axis=1) for areas in each(weights)])

    whole = np.ones((1, data.good.size))
    spread = [a.std(ddof=1) if a.size > 1 else np.nan for (a,) in each(whole)]
    point = means(whole)[0]
    se, low, high = np.full((3, 3), np.nan)
    if with_intervals:
        left_out = without_clusters(means, data.clusters)
        gap = replace(left_out.of_all(lambda areas: areas[:, 0] - areas[:, 1]), bounds=(-1.0, 1.0))
        told = left_out_uncertainty(gap, confidence)
        ends = area_ends(left_out, data.good, data.clusters, confidence)
        parts = ends, (told.se, told.low, told.high)
        se, low, high = (np.concatenate(both) for both in zip(*parts, strict=True))
    return pl.DataFrame(
        {
            "method": ["learned", "best single metric", "difference"],
            "value": [*point, point[0] - point[1]],
            "se": se,
            "low": low,
            "high": high,
            "sd_of_repeats": [*spread, np.nan],
        }
    )


_VERDICTS = {
    "sees": "it sees what people prefer in items that it did not learn from",
    "sees the wrong way round": "it scores what people prefer lower, which is a sign that there is "
    "nothing to learn",
    "does not show that it sees": "it does not show that it sees what people prefer",
    "no interval": "there is no interval",
}


def _sentences(areas: pl.DataFrame, chosen: Counter[str]) -> tuple[str, ...]:
    """Say what was found."""
    learned, single, ahead = (
        (number(row["value"]) + in_brackets(row["low"], row["high"]), row)
        for row in areas.iter_rows(named=True)
    )
    verdict = area_verdict(learned[1]["low"], learned[1]["high"], None)
    names = joined(f"{name} {n} of {chosen.total()}" for name, n in chosen.most_common(3))
    said = [
        f"Learned: AUC {learned[0]}; {_VERDICTS[verdict]}.",
        f"Best single metric, chosen in each training part ({names}): AUC {single[0]}.",
    ]
    if verdict != "no interval":
        low, high = ahead[1]["low"], ahead[1]["high"]
        gain = "no gain from learning is shown"
        if low > 0 or high < 0:
            gain = "learning helps" if low > 0 else "learning does worse"
        said.append(f"Difference: {ahead[0]}; {gain}.")
    return tuple(said)


def _numbers(given: Any, n: int, where: str) -> Floats:
    if (
        not isinstance(given, list)
        or len(given) != n
        or any(isinstance(v, bool) or not isinstance(v, int | float) for v in given)
        or not np.isfinite(given).all()
    ):
        raise InputError(f"{where}: expected {n} finite numbers")
    return np.array(given, dtype=np.float64)
