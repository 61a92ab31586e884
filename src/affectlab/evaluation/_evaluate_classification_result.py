"""The result of judging classifiers: tables, and a sentence for each model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from affectlab.estimates import Estimates
from affectlab.evaluation._classes import Classes
from affectlab.evaluation._confusion import Confusion
from affectlab.evaluation._confusion_multilabel import MultilabelConfusion
from affectlab.taxonomy import CostMatrix

__all__ = ["ClassificationResult"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationResult:
    """How models, and people, do as classifiers; made by :func:`evaluate_classification`."""

    classes: Classes
    """Truth and answers, stimulus by stimulus."""
    costs: CostMatrix | None
    """Costs of mistakes, where they are known."""
    estimates: Estimates
    """By ``rater`` and ``metric``; extra columns ``role`` (model, person, people for all of them
    together, or baseline) and ``better`` (higher or lower)."""
    per_class: pl.DataFrame
    """One row per rater and class: ``rater``, ``role``, ``label``, ``precision``, ``recall``,
    ``f1``, ``support``, ``predicted``, ``status``."""
    confusions: Mapping[str, Confusion | MultilabelConfusion]
    """Confusion matrix of each model and person, and of ``people`` together."""
    missing: str
    """What was done with stimuli that a model did not answer."""
    confidence: float
    """Coverage of the intervals."""
    n_common: int
    """Stimuli with a truth that all models answered."""
    notes: tuple[str, ...]
    """What was left out or assumed, in words."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the table."""
        return self.classes.raters

    @property
    def coverage(self) -> pl.DataFrame:
        """How many stimuli each model and person answered; see :meth:`Classes.coverage`."""
        return self.classes.coverage()

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """One sentence per model: how often it is right, how bad its mistakes are, beside whom."""
        from affectlab.evaluation._evaluate_classification_words import sentence_on

        return tuple(sentence_on(self, model) for model in self.models)

    def people_frame(self) -> pl.DataFrame:
        """Metrics of people: ``metric``, ``mean``, ``sd``, ``lowest``, ``highest``, ``people``.

        Each person counts once, however many stimuli they answered. Empty without people.
        """
        number = pl.col("value").fill_nan(None)
        return (
            self.estimates.frame.filter(pl.col("role") == "person")
            .group_by("metric", maintain_order=True)
            .agg(
                number.mean().alias("mean"),
                number.std().alias("sd"),
                number.min().alias("lowest"),
                number.max().alias("highest"),
                number.count().alias("people"),
            )
        )

    def wide_frame(self) -> pl.DataFrame:
        """One row per rater: ``rater``, ``role``, ``n_items`` and the value of each metric."""
        return self.estimates.frame.pivot(
            "metric", index=["rater", "role", "n_items"], values="value", maintain_order=True
        )

    def to_frame(self) -> pl.DataFrame:
        """Give the estimates: one row per rater and metric."""
        return self.estimates.to_frame()

    def __repr__(self) -> str:
        return (
            f"ClassificationResult({len(self.models)} models, {self.classes.n_stimuli} stimuli, "
            f"{len(self.classes.labels)} classes)"
        )
