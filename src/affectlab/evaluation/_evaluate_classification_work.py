"""The tables of a classification result, made rater by rater."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from affectlab._resampling import by_name
from affectlab._types import Floats, Ints
from affectlab.errors import InputError
from affectlab.estimates import ESTIMATE_COLUMNS, Estimates
from affectlab.evaluation._classes import Classes
from affectlab.evaluation._classes_costs import NO_ANSWER, Judging
from affectlab.evaluation._confusion import Confusion, confusion
from affectlab.evaluation._confusion_multilabel import MultilabelConfusion, multilabel_confusion
from affectlab.evaluation._evaluate_classification_rows import Judged
from affectlab.evaluation._metrics_kinds import CLASSIFICATION_METRICS
from affectlab.evaluation._metrics_prf import PrecisionRecallF1, precision_recall_f1
from affectlab.evaluation._metrics_table import classification_metrics, metrics_of_confusion

__all__ = ["PEOPLE", "Work", "facts_of"]

PEOPLE = "people"
"""Name, and role, of the rows in which the answers of all people are taken together."""
_KEYS = ("rater", "metric")


class Work:
    """Collects the parts of the result, rater by rater."""

    def __init__(self, n_boot: int, confidence: float, rng: np.random.Generator) -> None:
        self.options: dict[str, Any] = {"n_boot": n_boot, "confidence": confidence}
        self.rng = rng
        self.frames: list[pl.DataFrame] = []
        self.per_class: list[pl.DataFrame] = []
        self.confusions: dict[str, Confusion | MultilabelConfusion] = {}

    def estimates(self) -> Estimates:
        """All rows.

        Raises
        ------
        InputError
            When a rater is called as a row that stands for no rater.
        """
        frame = pl.concat(self.frames)
        twice = frame.filter(frame.select(_KEYS).is_duplicated())
        if twice.height:
            raise InputError(
                f"rater {twice['rater'][0]!r} is called as a row of the result that stands for no "
                "rater; expected another name"
            )
        return Estimates(frame, _KEYS)

    def single(self, classes: Classes, judged: Judged, metrics: tuple[str, ...]) -> None:
        """One class per stimulus."""
        facts = facts_of(judged.judging)
        truth = np.asarray(classes.truth)
        models = [rater for rater in classes.raters if judged.rows[rater].any()]
        if models and judged.shared:
            rows = judged.rows[models[0]]
            answers = {rater: judged.predicted[rater][rows] for rater in models}
            table = classification_metrics(
                truth[rows], answers, metrics=metrics, seed=self.rng, **self.options, **facts
            )
            self._add(table.frame.rename({"model": "rater"}), "model")
        for rater in models:
            rows = judged.rows[rater]
            if not judged.shared:
                self._metrics(
                    rater, "model", truth[rows], judged.predicted[rater][rows], metrics, facts
                )
            self._details(rater, "model", truth[rows], judged.predicted[rater][rows], facts)
        silent = [rater for rater in classes.raters if rater not in models]
        for rater in silent:
            self._nothing(rater, metrics)
        people = classes.people
        if people is not None and len(people.rater):
            own = facts_of(_without_no_answer(classes, judged.judging))
            # Answers to one stimulus hang together: it is drawn with all of them.
            self._metrics(
                PEOPLE, PEOPLE, people.truth, people.predicted, metrics, own, people.stimulus
            )
            self.confusions[PEOPLE] = confusion(people.truth, people.predicted, **own)
            for rater in people.raters:
                beside, said = people.of(rater)
                if len(said):
                    self._metrics(rater, "person", beside, said, metrics, own)
                    self._details(rater, "person", beside, said, own)
        rows = judged.rows[models[0]] if models and judged.shared else np.ones(len(truth), bool)
        self._baselines(np.asarray(truth[rows], dtype=np.int64), judged.judging, metrics, facts)

    def _metrics(
        self,
        rater: str,
        role: str,
        truth: Any,
        answers: Any,
        metrics: tuple[str, ...],
        facts: dict[str, Any],
        clusters: Any = None,
    ) -> None:
        table = classification_metrics(
            truth,
            answers,
            metrics=metrics,
            clusters=clusters,
            seed=self.rng,
            **self.options,
            **facts,
        )
        named = table.frame.with_columns(pl.lit(rater, dtype=pl.String).alias("rater"))
        self._add(named, role)

    def _details(
        self, rater: str, role: str, truth: Any, answers: Any, facts: dict[str, Any]
    ) -> None:
        self.confusions[rater] = confusion(truth, answers, **facts)
        found = precision_recall_f1(
            truth, answers, facts["taxonomy"], labels=facts["labels"], n_boot=0
        )
        self._add_classes(rater, role, found)

    def _nothing(self, rater: str, metrics: tuple[str, ...]) -> None:
        known = [CLASSIFICATION_METRICS[name] for name in metrics]
        table = Estimates.build(
            {"rater": [rater] * len(metrics), "metric": list(metrics)},
            value=np.nan,
            method=[metric.title for metric in known],
            status="undefined: no stimulus with a true class was answered",
        )
        better = pl.Series("better", [metric.better for metric in known], dtype=pl.String)
        self._add(table.frame.with_columns(better), "model")

    def _baselines(
        self, truth: Ints, judging: Judging, metrics: tuple[str, ...], facts: dict[str, Any]
    ) -> None:
        """Always the most frequent class, and guessing: what any model should beat."""
        k = len(judging.labels)
        counts = np.bincount(truth, minlength=k).astype(np.float64)
        most = _first_of_most(counts, judging.labels)
        always = np.zeros((k, k))
        always[:, most] = counts
        real = np.array([label != NO_ANSWER for label in judging.labels], dtype=np.float64)
        guess = counts[:, None] * real[None, :] / real.sum()
        values = metrics_of_confusion(
            np.stack([always, guess]), judging.labels, facts["taxonomy"], metrics=metrics,
            costs=facts["costs"], groups=facts["groups"],
        )  # fmt: skip
        names = (f"always {judging.labels[most]}", "guessing")
        how = ("the most frequent class throughout", "each class equally often, expected value")
        for place, (name, method) in enumerate(zip(names, how, strict=True)):
            number = [float(values[metric][place]) for metric in metrics]
            table = Estimates.build(
                {"rater": [name] * len(metrics), "metric": list(metrics)},
                value=number,
                method=method,
                n_items=int(counts.sum()),
                status=["ok" if one == one else "undefined" for one in number],
            )
            better = [CLASSIFICATION_METRICS[metric].better for metric in metrics]
            self._add(
                table.frame.with_columns(pl.Series("better", better, dtype=pl.String)), "baseline"
            )

    def sets(self, classes: Classes, judged: Judged) -> None:
        """A set of classes per stimulus."""
        truth = np.asarray(classes.truth)
        for rater in classes.raters:
            rows = judged.rows[rater]
            if rows.any():
                self._sets(rater, "model", truth[rows], judged.predicted[rater][rows], classes)
        people = classes.people
        if people is not None and len(people.rater):
            # No interval: drawing answers one by one would take those to one stimulus as unrelated.
            self._sets(PEOPLE, PEOPLE, people.truth, people.predicted, classes)
            for rater in people.raters:
                beside, said = people.of(rater)
                if len(said):
                    self._sets(rater, "person", beside, said, classes)
        most = truth.mean(axis=0)
        best = np.zeros_like(truth)
        place = _first_of_most(most, classes.labels)
        best[:, place] = True
        self._sets(f"always {classes.labels[place]}", "baseline", truth, best, classes)

    def _sets(self, rater: str, role: str, truth: Any, answers: Any, classes: Classes) -> None:
        options = {"n_boot": 0} if role in ("baseline", PEOPLE) else self.options
        found = precision_recall_f1(
            truth,
            answers,
            labels=classes.labels,
            seed=self.rng,
            **options,
        )
        exact = Estimates.build(
            {"metric": ["exact_match"]},
            **{name: [getattr(found.exact_match, name)] for name in ESTIMATE_COLUMNS},
        )
        averages = found.averages.frame.with_columns(
            (pl.col("average") + "_" + pl.col("metric")).alias("metric")
        ).select("metric", *ESTIMATE_COLUMNS)
        frame = pl.concat([exact.frame, averages]).with_columns(
            pl.lit(rater, dtype=pl.String).alias("rater"), pl.lit("higher").alias("better")
        )
        self._add(frame, role)
        if role != "baseline":
            self.confusions[rater] = multilabel_confusion(truth, answers, labels=classes.labels)
        if role in ("model", "person"):
            self._add_classes(rater, role, found)

    def _add(self, frame: pl.DataFrame, role: str) -> None:
        self.frames.append(
            frame.select(
                *_KEYS, *ESTIMATE_COLUMNS, pl.lit(role, dtype=pl.String).alias("role"), "better"
            )
        )

    def _add_classes(self, rater: str, role: str, found: PrecisionRecallF1) -> None:
        frame = found.to_frame().filter(pl.col("label") != NO_ANSWER)
        self.per_class.append(
            frame.select(
                pl.lit(rater, dtype=pl.String).alias("rater"),
                pl.lit(role, dtype=pl.String).alias("role"),
                pl.all(),
            )
        )


def _first_of_most(counts: Floats, labels: Sequence[str]) -> int:
    """Place of the most frequent label, of several the first by name."""
    order = by_name(labels)
    return order[int(counts[order].argmax())]


def facts_of(judging: Judging) -> dict[str, Any]:
    """What the metrics of this room are told of the classes."""
    return {
        "taxonomy": judging.taxonomy,
        "costs": judging.costs,
        "groups": judging.groups,
        "labels": judging.labels,
    }


def _without_no_answer(classes: Classes, judging: Judging) -> Judging:
    """The classes without the one of no answer."""
    costs, groups = judging.costs, judging.groups
    if costs is not None:
        costs = costs.reorder(classes.labels)
    if groups is not None:
        groups = {label: group for label, group in groups.items() if label != NO_ANSWER}
    return Judging(classes.labels, costs, groups)
