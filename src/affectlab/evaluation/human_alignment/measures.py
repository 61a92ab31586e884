"""Agreement in every row of the draws, averaged over labels, for each measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from affectlab.core.arrays import mean_of_defined
from affectlab.core.estimates import NO_INTERVAL, Estimates
from affectlab.core.inference import CrossedDraws, Spread
from affectlab.core.types import Bools, Floats
from affectlab.evaluation.human_alignment.kappa import (
    LEAST_SHARED,
    Agreements,
    kappas,
    pooled_kappas,
    shares_little,
)
from affectlab.evaluation.human_alignment.panel import Panel
from affectlab.evaluation.human_alignment.spearman import spearman_of_label

MeasureName: TypeAlias = Literal["kappa", "concordance", "spearman"]


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

    def status(self, value: Floats, n_people: int) -> list[str]:
        """Say why values are not defined."""
        why = "undefined: no label with varied answers"
        if self.pooled:
            why += f", and {LEAST_SHARED} stimuli that two people answered"
        if n_people < 2:
            why = "undefined: one person agrees with nobody else"
        return ["ok" if known else why for known in ~np.isnan(value)]

    @property
    def of_a_person(self) -> str:
        """Its name where a person is left out."""
        return "Spearman with the median of the others" if self.name == "spearman" else self.words

    @property
    def both(self) -> Bools:
        """Labels on which a model, and people, are defined: shape (models, labels)."""
        defined: Bools = ~np.isnan(self.models[:, :, 0]) & ~np.isnan(self.among[:, :, 0])
        return defined

    def over_labels(self) -> tuple[Floats, Floats]:
        """Average models, and people beside them, over the same labels: shape (models, rows)."""
        missing = np.isnan(self.models) | np.isnan(self.among) | ~self.both[:, :, None]
        return (
            mean_of_defined(np.where(missing, np.nan, self.models), axis=1),
            mean_of_defined(np.where(missing, np.nan, self.among), axis=1),
        )

    def persons_beside(self) -> Floats:
        """Average each person over the labels of each model: shape (models, people)."""
        kept = np.where(self.both[:, None, :], self.beside, np.nan)
        return mean_of_defined(kept, axis=2)


def measures_of(panel: Panel, draws: CrossedDraws) -> tuple[Measure, ...]:
    """Compute every measure that the scale allows, the one that decides first.

    Kappa where the scale has steps (unweighted where they have no order), Lin's concordance where
    it has none, and Spearman's correlation where there is an order, on the models' own values.
    Where people share few stimuli with one another, disagreement is pooled over pairs; see
    :mod:`affectlab.evaluation.human_alignment.kappa`. Of a model whose answers cannot be put on
    the scale of people ranks alone can be compared.
    """
    if panel.ranks_only:
        return (_spearman(panel, draws),)
    kind = panel.scale.kind
    name: MeasureName = "kappa" if panel.has_steps or not panel.ordered else "concordance"
    words = "quadratic kappa" if kind == "ordinal" or name == "kappa" else "concordance"
    if kind in ("nominal", "binary"):
        words = "kappa"
    if shares_little(panel):
        found = [_measure(name, f"pooled {words}", pooled_kappas(panel, draws), pooled=True)]
    else:
        found = [_measure(name, words, kappas(panel, draws))]
    if panel.ordered:
        found.append(_spearman(panel, draws))
    return tuple(found)


def _spearman(panel: Panel, draws: CrossedDraws) -> Measure:
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


def method_of(draws: CrossedDraws, target: str | None = None) -> str:
    """Say how intervals were found; those of a `target` that was not drawn rest on two people."""
    if not draws.n_boot:
        return ""
    if target == "none":
        few = "two people tell nothing of others" if draws.target == "raters" else "one stimulus"
        return f"; {NO_INTERVAL}{few}"
    if target not in (None, draws.target):
        return "; groups of stimuli left out, since two people tell nothing of others, t interval"
    what = {"both": "stimuli and people", "stimuli": "stimuli", "raters": "people"}[draws.target]
    return f"; bootstrap of {what}, {draws.n_boot} replicates, t interval"


def spread_table(
    measures: Sequence[Measure],
    spreads: Sequence[Spread],
    draws: CrossedDraws,
    keys: Mapping[str, Sequence[str]],
    method: Callable[[Measure], str],
    *,
    n_people: int,
    n_raters: int,
    status: Callable[[Measure, Spread], Sequence[str]] | None = None,
    **counts: Any,
) -> Estimates:
    """Put the values of several measures into one table.

    Parameters
    ----------
    spreads
        Of each measure, with one value for each row of `keys`.
    method
        What a measure computed, in words; how its interval came about follows.
    status
        Why values are not defined; by default as the measure says, of so many people.
    counts
        Items and ratings of each row, the same for all measures.
    """
    size = spreads[0].value.size
    n = len(measures)
    if status is None:

        def status(measure: Measure, spread: Spread) -> Sequence[str]:
            return measure.status(spread.value, n_people)

    both = list(zip(measures, spreads, strict=True))
    return Estimates.build(
        {"measure": [measure.name for measure in measures for _ in range(size)]}
        | {name: list(given) * n for name, given in keys.items()},
        **{
            name: np.concatenate([one.columns[name] for one in spreads])
            for name in spreads[0].columns
        },
        method=[
            f"{method(one)}{method_of(draws, spread.target)}"
            for one, spread in zip(measures, spreads, strict=True)
            for _ in range(size)
        ],
        target=spreads[0].target,
        n_raters=n_raters,
        status=[text for measure, spread in both for text in status(measure, spread)],
        **{name: np.tile(given, n) if np.ndim(given) else given for name, given in counts.items()},
    )
