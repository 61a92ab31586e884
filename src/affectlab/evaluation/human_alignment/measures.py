"""Agreement in every row of the draws, averaged over labels, for each measure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.arrays import mean_of_defined
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Target, infer
from affectlab.core.statistic import (
    MAX_JACKKNIFE_GROUPS,
    STIMULI_AND_RATERS,
    Clusters,
    Design,
    Draws,
    Statistic,
)
from affectlab.core.types import Bools, Floats
from affectlab.evaluation.human_alignment.kappa import (
    LEAST_SHARED,
    Agreements,
    kappas,
    pooled_kappas,
    shares_little,
)
from affectlab.evaluation.human_alignment.panel import NO_SCALE, AlignmentPanel, Copies
from affectlab.evaluation.human_alignment.spearman import spearman_of_label

MeasureName: TypeAlias = Literal["kappa", "concordance", "spearman"]
Part: TypeAlias = Literal["agreement", "difference", "by_label", "ceiling", "people"]
"""Models with people; the same - people with one another, and this by label; people with the
other people, and each of them."""
_OF_MODELS: tuple[Part, ...] = ("agreement", "difference", "by_label")
_PARTS: tuple[Part, ...] = (*_OF_MODELS, "ceiling", "people")
_MEANS: dict[Part, str] = {
    "agreement": "mean over people and labels",
    "difference": "models - people",
    "by_label": "models - people",
    "ceiling": "mean over people and labels",
    "people": "mean over labels",
}
_MOST_UNDEFINED = 0.1
"""Share of the labels of a mean that may be undefined without a stimulus or person: they then stay
as they are. With more of them the mean has no interval."""


@dataclass(frozen=True)
class Measure:
    """One measure of agreement, by model, label and row of the draws."""

    name: MeasureName
    words: str
    """Its name in a sentence."""
    models: Floats
    """Of each model with people, shape (models, labels, rows)."""
    among: Floats
    """Of people with other people on the stimuli of each model, shape (models, labels, rows)."""
    people: Floats
    """Of people with other people on all stimuli, shape (labels, rows)."""
    persons: Floats
    """Of each person with the others on all stimuli, shape (people, labels, rows)."""
    beside: Floats
    """The same on the stimuli of each model, as the data are, shape (models, people, labels)."""
    pooled: bool = False
    """Whether disagreement is pooled over pairs; else the values of pairs are averaged."""

    def method(self, who: str, others: str) -> str:
        """Say what was computed of whom with whom, such as ``""`` with ``"person"``."""
        if self.name == "spearman":
            return f"Spearman{who} with the median of {others}"
        name = "Lin's concordance" if self.name == "concordance" else "kappa"
        pooled = ", disagreement pooled over pairs" if self.pooled else ""
        return f"{name}{who} with each of {others}{pooled}"

    def of_whom(self, part: Part) -> str:
        """Say who is compared with whom."""
        if part in _OF_MODELS:
            return self.method(
                "", "all people but one" if self.name == "spearman" else "the people"
            )
        return self.method(" of a person", "the other people")

    def undefined(self, n_people: int) -> Reason:
        """Give the reason why values are not defined, where they are not."""
        if n_people < 2:
            return Reason(Cause.ONE_PERSON)
        shared = f", and {LEAST_SHARED} stimuli that two people answered" if self.pooled else ""
        return Reason(Cause.NONE, of=f"label with varied answers{shared}")

    @property
    def of_a_person(self) -> str:
        """Its name where a person is left out."""
        return "Spearman with the median of the others" if self.name == "spearman" else self.words

    @property
    def both(self) -> Bools:
        """Labels on which a model, and people, are defined: shape (models, labels)."""
        defined: Bools = ~np.isnan(self.models[:, :, 0]) & ~np.isnan(self.among[:, :, 0])
        return defined

    def over_labels(self, point: Measure | None = None) -> tuple[Floats, Floats]:
        """Average models, and people beside them, over the same labels: shape (models, rows).

        Parameters
        ----------
        point
            The measure of the data as they are, where this one is not.
        """
        whole = point or self
        missing = np.isnan(self.models) | np.isnan(self.among)
        models, among = (
            _over_labels(np.where(missing, np.nan, own), np.where(whole.both, of[:, :, 0], np.nan))
            for own, of in ((self.models, whole.models), (self.among, whole.among))
        )
        return models, among

    def of_part(self, part: Part, point: Measure) -> Floats:
        """Give the values of a part in all rows, shape (values, rows)."""
        if part == "by_label":
            return (self.models - self.among).reshape(-1, self.models.shape[-1])
        if part == "ceiling":
            return _over_labels(self.people[None], point.people[None, :, 0])
        if part == "people":
            return _over_labels(self.persons, point.persons[:, :, 0])
        if len(self.persons) < 2 and part == "agreement":
            # A single person has no others; a model may still agree with that person.
            return _over_labels(self.models, point.models[:, :, 0])
        models, among = self.over_labels(point)
        return models if part == "agreement" else models - among

    def persons_beside(self) -> Floats:
        """Average each person over the labels of each model: shape (models, people)."""
        kept = np.where(self.both[:, None, :], self.beside, np.nan)
        return mean_of_defined(kept, axis=2)


def _over_labels(values: Floats, point: Floats) -> Floats:
    """Average over the labels on which the data as they are have a value.

    Without a stimulus that alone makes a rare label vary, that label says nothing; if it were left
    out of the mean, the mean would jump by how much it differs from the others.

    Parameters
    ----------
    values
        Shape (things, labels, rows).
    point
        Values of the data as they are, shape (things, labels).

    Returns
    -------
    Shape (things, rows).
    """
    counted = ~np.isnan(point)
    lost = np.isnan(values) & counted[:, :, None]
    filled = np.where(lost, point[:, :, None], np.where(counted[:, :, None], values, np.nan))
    mean = mean_of_defined(filled, axis=1)
    too_many = lost.sum(axis=1) > _MOST_UNDEFINED * counted.sum(axis=1)[:, None]
    return np.where(too_many, np.nan, mean)


def measures_of(
    panel: AlignmentPanel, draws: Copies, wanted: Collection[str] | None = None, *, pooled: bool
) -> tuple[Measure, ...]:
    """Compute every measure that the scale allows, or those wanted, the one that decides first.

    Kappa where the scale has steps (unweighted where they have no order), Lin's concordance where
    it has none, and Spearman's correlation where there is an order, on the models' own values.
    Where people share few stimuli with one another, disagreement is pooled over pairs; see
    :mod:`affectlab.evaluation.human_alignment.kappa`. Of a model whose answers cannot be put on
    the scale of people ranks alone can be compared.

    Parameters
    ----------
    pooled
        Whether people share few stimuli, see :func:`shares_little`.
    """
    if panel.ranks_only:
        return (_spearman(panel, draws),)
    kind = panel.scale.kind
    name: MeasureName = "kappa" if panel.has_steps or not panel.ordered else "concordance"
    words = "quadratic kappa" if kind == "ordinal" or name == "kappa" else "concordance"
    if kind in ("nominal", "binary"):
        words = "kappa"
    found: list[Measure] = []
    if wanted is None or name in wanted:
        parts = pooled_kappas(panel, draws) if pooled else kappas(panel, draws)
        found.append(_measure(name, f"pooled {words}" if pooled else words, parts, pooled=pooled))
    if panel.ordered and (wanted is None or "spearman" in wanted):
        found.append(_spearman(panel, draws))
    return tuple(found)


def _spearman(panel: AlignmentPanel, draws: Copies) -> Measure:
    from threadpoolctl import threadpool_limits

    # Replicates are computed side by side already, each with a small matrix product.
    with threadpool_limits(1, user_api="blas"):
        parts = [spearman_of_label(part, draws) for part in panel.parts]
    return _measure("spearman", "Spearman correlation", parts)


def _measure(
    name: MeasureName, words: str, parts: list[Agreements], *, pooled: bool = False
) -> Measure:
    return Measure(
        name,
        words,
        models=np.stack([part.models for part in parts], axis=1),
        among=np.stack([part.among for part in parts], axis=1),
        people=np.stack([part.people for part in parts]),
        persons=np.stack([part.persons for part in parts], axis=1),
        beside=np.stack([part.beside for part in parts], axis=2),
        pooled=pooled,
    )


@dataclass(frozen=True, eq=False)
class Measured:
    """All measures of a panel, and how sure they are."""

    panel: AlignmentPanel

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of the data as they are."""
        return self._measured(Draws(1))

    @cached_property
    def _pooled(self) -> bool:
        return not self.panel.ranks_only and shares_little(self.panel)

    def _measured(self, draws: Draws, wanted: Collection[str] | None = None) -> tuple[Measure, ...]:
        copies = Copies.of(draws, len(self.panel.stimuli), self.panel.n_people)
        return measures_of(self.panel, copies, wanted, pooled=self._pooled)

    @property
    def _parts(self) -> tuple[Part, ...]:
        return _PARTS if self.panel.models else _PARTS[len(_OF_MODELS) :]

    def infer(
        self, target: Target, clusters: Clusters | None, confidence: float, seed: Any
    ) -> Estimates:
        """Give all values by ``part``, ``measure``, ``rater`` and ``label``, with intervals."""
        return infer(
            self.statistic,
            interval="jackknife",
            target=target,
            clusters=clusters,
            confidence=confidence,
            seed=seed,
        )

    def _rows(self, part: Part) -> list[dict[str, Any]]:
        """Say of each value of a part what it rests on, whichever the measure is."""
        panel = self.panel
        everyone = np.ones(panel.n_people, dtype=np.bool_)
        if part in _OF_MODELS:
            shared = np.array([~np.isnan(one.models) & one.rated for one in panel.parts])
            met = [one.people_of_models for one in panel.parts]
        if part == "by_label":
            return [
                {
                    "rater": model,
                    "label": label,
                    "stimulus": shared[k, f],
                    "person": met[k][f],
                    "n_items": int(shared[k, f].sum()),
                    "n_raters": panel.n_people,
                    "n_ratings": int(shared[k, f].sum()),
                    "undefined": Reason(Cause.CONSTANT, of="answers"),
                }
                for f, model in enumerate(panel.models)
                for k, label in enumerate(panel.labels)
            ]
        if part in _OF_MODELS:
            return [
                {
                    "rater": model,
                    "label": "",
                    "stimulus": shared[:, f].any(axis=0),
                    "person": np.any([own[f] for own in met], axis=0),
                    "n_items": int(shared[:, f].any(axis=0).sum()),
                    "n_raters": panel.n_people,
                    "n_ratings": int(shared[:, f].sum()),
                }
                for f, model in enumerate(panel.models)
            ]
        each = [np.bincount(one.person, minlength=panel.n_people) for one in panel.parts]
        own = np.sum(each, axis=0)
        rated = np.any([one.rated for one in panel.parts], axis=0)
        shared_row = {"label": "", "stimulus": rated, "n_items": len(panel.stimuli)}
        if part == "ceiling":
            n = int(np.sum(own))
            more = {"rater": "", "person": everyone, "n_raters": panel.n_people, "n_ratings": n}
            return [shared_row | more]
        return [
            shared_row
            | {
                "rater": name,
                # What a person reaches rests on the others.
                "person": everyone & (np.arange(panel.n_people) != p),
                "n_raters": panel.n_people - 1,
                "n_ratings": int(own[p]),
            }
            for p, name in enumerate(panel.people)
        ]

    @property
    def statistic(self) -> Statistic:
        """All values of all measures, of models, labels and people."""
        panel = self.panel
        rows = {part: self._rows(part) for part in self._parts}

        def off_scale(row: dict[str, Any], part: Part, measure: Measure) -> bool:
            of_model = part in _OF_MODELS and measure.name != "spearman"
            return of_model and row["rater"] in panel.unmapped

        every = [
            {"undefined": one.undefined(panel.n_people)}
            | row
            | {"part": part, "measure": one.name, "method": (one.of_whom(part), _MEANS[part])}
            | ({"undefined": NO_SCALE} if off_scale(row, part, one) else {})
            for part in self._parts
            for one in self.measures
            for row in rows[part]
        ]

        def column(name: str) -> list[Any]:
            return [row[name] for row in every]

        def evaluate(draws: Draws) -> Floats:
            of_row = np.array(column("measure"))
            wanted = set(of_row if draws.columns is None else of_row[draws.columns])
            found = self.measures
            if not draws.is_point:
                found = self._measured(draws, wanted)
            by_name = {one.name: one for one in found}
            values = np.full((draws.n_rows, len(every)), np.nan)
            first = 0
            for part in self._parts:
                for point in self.measures:
                    here = slice(first, first + len(rows[part]))
                    if point.name in by_name:
                        values[:, here] = by_name[point.name].of_part(part, point).T
                    first = here.stop
            return values if draws.columns is None else values[:, draws.columns]

        apart = np.array([part in ("difference", "by_label") for part in column("part")])
        pooled = {one.name for one in self.measures if one.pooled}
        sparse = np.array([name in pooled for name in column("measure")])
        by_rank = np.array([name == "spearman" for name in column("measure")])
        return Statistic(
            keys={name: column(name) for name in ("part", "measure", "rater", "label")},
            design=Design(
                np.array(column("stimulus"), dtype=np.bool_).reshape(len(every), -1),
                np.array(column("person"), dtype=np.bool_).reshape(len(every), -1),
            ),
            evaluate=evaluate,
            method=column("method"),
            n_items=column("n_items"),
            n_raters=column("n_raters"),
            n_ratings=column("n_ratings"),
            undefined=column("undefined"),
            bounds=(np.where(apart, -np.inf, -1.0), np.where(apart, np.inf, 1.0)),
            targets=STIMULI_AND_RATERS,
            n_groups=MAX_JACKKNIFE_GROUPS,
            corrects_raters=False,
            # Kappas of complete tables are skewed where most answers are 0, and need that width.
            answers_once=by_rank | sparse,
            # Of 60 stimuli that people mostly leave at 0 a handful carry the error.
            by_kurtosis=~(by_rank | sparse),
        )


def part_of(
    found: Estimates, part: Part, keys: Sequence[str], more: pl.DataFrame | None = None
) -> Estimates:
    """Take the rows of one part.

    Parameters
    ----------
    keys
        What tells its rows apart.
    more
        Columns that are particular to it.
    """
    frame = found.frame.filter(part=part)
    frame = frame.select(*keys, pl.exclude("part", "measure", "rater", "label", *keys))
    return Estimates.of(frame if more is None else frame.hstack(more), keys)
