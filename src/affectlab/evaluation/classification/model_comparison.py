"""Which model is better on what, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.inference import holm
from affectlab.core.tables import Key, Table, Text
from affectlab.core.words import file_part, joined, number
from affectlab.evaluation.classes import (
    AnswerTies,
    Classes,
    Costs,
    Rule,
    ScoreMapping,
    Ties,
    Truth,
    judging_of,
)
from affectlab.evaluation.classification.evaluation import (
    Missing,
    classes_from,
    judged_on,
    wanted_metrics,
)
from affectlab.evaluation.classification.metrics import CLASSIFICATION_METRICS
from affectlab.evaluation.classification.prediction_comparison import (
    Comparison,
    better_side,
    compare_predictions,
    difference_columns,
)
from affectlab.evaluation.classification.result import about, settings_of
from affectlab.ratings import Ratings
from affectlab.ratings.order import canonical
from affectlab.taxonomy import CostMatrix, LabelMapping, Taxonomy

__all__ = ["ModelComparison", "compare_models"]

_DEFAULT = ("accuracy", "acc2", "ecc", "emc", "macro_f1")
_KEYS = ("model_a", "model_b", "metric")


_MOST_PAIRS = 10
"""Pairs up to which each has a table and a sentence of its own."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelComparison(Estimates):
    """Differences of models, pair by pair; made by :func:`compare_models`.

    By ``model_a``, ``model_b`` and ``metric``: the value of the first minus that of the second,
    with the extra columns ``value_a``, ``value_b``, ``p_value``, ``p_adjusted`` (Holm, over all
    pairs and metrics), ``test``, ``better`` (a name; empty where no difference is shown) and
    ``equivalent`` (null without a margin). The first sentence says which model is better than
    which.
    """

    classes: Classes
    """Truth and answers, stimulus by stimulus."""
    pairs: Mapping[tuple[str, str], Comparison]
    """Each pair by itself, adjusted over its own metrics only."""
    alpha: float
    """Level of the tests."""

    @property
    def verdicts(self) -> dict[tuple[str, str], str]:
        """One sentence per pair, by the p values adjusted over all pairs and metrics."""
        return {(a, b): said for a, b, said in self.to_frame("verdicts").iter_rows()}


def _result(
    frame: pl.DataFrame,
    classes: Classes,
    costs: CostMatrix | None,
    pairs: Mapping[tuple[str, str], Comparison],
    alpha: float,
    notes: Sequence[str],
) -> ModelComparison:
    """Lay the differences out, each pair in a table of its own where they are few."""
    few = len(pairs) <= _MOST_PAIRS
    titles = {name: metric.title for name, metric in CLASSIFICATION_METRICS.items()}
    caption = "Differences, the first model minus the second."
    columns = difference_columns(frame, [Key(name) for name in _KEYS], ("First", "Second"))
    tables = [Table("differences", caption, frame, columns, limit=0 if few else 60)]
    verdicts = []
    for pair in pairs:
        rows = frame.filter(model_a=pair[0], model_b=pair[1]).with_columns(
            pl.col("metric").replace_strict(titles).alias("title")
        )
        verdicts.append(_verdict(rows, *pair))
        if few:
            columns = difference_columns(rows, [Key("title", "metric")], pair)
            name = file_part(f"differences_{'_'.join(pair)}")
            tables.append(Table(name, f"{' and '.join(pair)}.", rows, columns))
    said = pl.DataFrame(
        [(*pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True)],
        dict.fromkeys(("model_a", "model_b", "verdict"), pl.String),
        orient="row",
    )
    columns = (Key("model_a"), Key("model_b"), Text("verdict"))
    tables.append(Table("verdicts", "What is shown of each pair.", said, columns, limit=0))
    each = verdicts if few and len(pairs) > 1 else ()
    return ModelComparison(
        tuple(tables),
        (_together_in_words(frame, verdicts), *each, about(classes, costs)),
        notes=tuple(notes),
        settings=settings_of(classes, costs) | {"alpha": alpha},
        classes=classes,
        pairs=pairs,
        alpha=alpha,
    )


def _together_in_words(frame: pl.DataFrame, said: Sequence[str]) -> str:
    """Say which model is better than which; of one pair, on what."""
    if len(said) == 1:
        return said[0]
    wins: dict[str, list[str]] = {}
    for (a, b), group in frame.group_by("model_a", "model_b", maintain_order=True):
        better = [name for name in group["better"].unique(maintain_order=True) if name]
        if len(better) == 1:
            wins.setdefault(better[0], []).append(str(b if better[0] == a else a))
    if not wins:
        return (
            f"No model is shown to be better than another in {len(said)} pairs (p values "
            "adjusted for all pairs and metrics)."
        )
    parts = [
        f"{winner} is better than {joined(losers)}"
        for winner, losers in sorted(wins.items(), key=lambda entry: -len(entry[1]))
    ]
    rest = len(said) - sum(map(len, wins.values()))
    tail = "" if not rest else f"; {rest} of {len(said)} pairs are not decided one way"
    return f"{joined(parts)} on at least one measure and worse on none{tail}."


def compare_models(
    ratings: Ratings | Classes,
    models: Ratings | None = None,
    *,
    a: str | None = None,
    b: str | None = None,
    truth: Truth = "people",
    taxonomy: str | Taxonomy | None = None,
    costs: Costs | None = None,
    groups: Mapping[str, str] | str | None = None,
    mapping: str | Path | ScoreMapping | LabelMapping | None = None,
    scores: str | list[str] | None = None,
    missing: Missing = "common",
    metrics: Iterable[str] | None = None,
    margin: float | None = None,
    alpha: float = 0.05,
    rule: Rule | None = None,
    min_people: int = 1,
    ties: Ties = "leave_out",
    answer_ties: AnswerTies = "random",
    n_boot: int = 1000,
    n_permutations: int = 9999,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> ModelComparison:
    """Say which model is better on what, with intervals and paired tests.

    Parameters
    ----------
    ratings, models
        Answers of people, of models, or of both; or ``Classes`` made before.
    a
        A model; without one, all are compared with all.
    b
        Another; without one, all others.
    truth
        ``people``, each judged by the others; ``attribute:NAME`` of the stimuli; ``rater:NAME``; or
        a file with ratings, or with stimulus and class.

        In Python also what :func:`classes_of` takes.
    taxonomy
        Taxonomy of the classes, where it is neither that of the labels nor of the mapping.
    costs
        What mistakes cost: ``ring``, ``groups``, ``reference`` (of the taxonomy), ``people`` (how
        they confuse the classes), or a file with a matrix; by default what the taxonomy has.
    groups
        Group of each class, or a level of the taxonomy, for ACC2; by default polarity.
    mapping
        How many labels become few classes: a TOML file, a level such as ``goemotions:ekman``, or a
        name such as ``emonet_face--ferd``.
    scores
        Columns of scores to use in place of ``value``; each is judged.
    missing
        Stimuli that a model did not answer: compare on those common to all models (``common``) or
        to the two (``own``), or count them as mistakes (``wrong``).
    metrics
        By default accuracy, ACC2, ECC, EMC and macro F1, as far as the classes allow; every metric
        is one more test to adjust for.
    margin
        Difference up to which two models count as equivalent.
    alpha
        Level of the tests.
    rule
        How people make the truth; by default plurality, and for ratings the highest mean.
    min_people
        People needed for a truth.
    ties
        Ties in the truth of people.
    answer_ties
        Ties in the answers of models.
    n_boot
        Bootstrap replicates over stimuli; 0 gives no interval.
    n_permutations, confidence, seed
        As for :func:`compare_predictions`.

    Raises
    ------
    InputError
        When a name is no model, there are fewer than two models, or two have no stimulus in
        common.

    Examples
    --------
    >>> stimuli = [f"s{i}" for i in range(40)]
    >>> gold = ["awe", "fear", "anger", "sadness"] * 10
    >>> far = ["fear" if label == "awe" else label for label in gold]
    >>> near = ["sadness" if label == "fear" else label for label in gold]
    >>> table = Ratings({"stimulus": stimuli * 2, "rater": ["far"] * 40 + ["near"] * 40,
    ...                  "value": far + near}, taxonomy="mikels",
    ...                 raters={"rater": ["far", "near"], "rater_kind": ["model", "model"]})
    >>> found = compare_models(table, truth=dict(zip(stimuli, gold)), n_boot=0)
    >>> found["far", "near", "accuracy"].value
    0.0
    >>> found.to_frame().filter(found.to_frame()["metric"] == "emc")["better"][0]
    'near'
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    of_ties, of_draws = np.random.default_rng(seed).spawn(2)
    classes = classes_from(
        ratings,
        models,
        of_ties,
        truth=truth,
        taxonomy=taxonomy,
        mapping=mapping,
        scores=scores,
        rule=rule,
        min_people=min_people,
        ties=ties,
        answer_ties=answer_ties,
    )
    if classes.multilabel:
        raise InputError("models are compared on one class per stimulus; these are sets of classes")
    pairs = _pairs(classes, a, b)
    judging = judging_of(classes, costs, groups)
    judged = judged_on(classes, judging, missing)
    allowed = wanted_metrics(None, judged.judging)
    chosen = tuple(metrics) if metrics is not None else tuple(m for m in _DEFAULT if m in allowed)
    truth_codes = np.asarray(classes.truth)
    found: dict[tuple[str, str], Comparison] = {}
    for one, other in pairs:
        rows = judged.rows[one] & judged.rows[other]
        if not rows.any():
            raise InputError(
                f"{one} and {other} answered no stimulus with a true class in common; they cannot "
                "be compared"
            )
        found[one, other] = compare_predictions(
            truth_codes[rows],
            judged.predicted[one][rows],
            judged.predicted[other][rows],
            names=(one, other),
            metrics=chosen,
            margin=margin,
            alpha=alpha,
            n_boot=n_boot,
            n_permutations=n_permutations,
            confidence=confidence,
            seed=of_draws,
            **judged.judging.facts,
        )
    notes = (*classes.notes, *judged.notes)
    return _result(_together(found, alpha), classes, judging.costs, found, alpha, notes)


def _pairs(classes: Classes, a: str | None, b: str | None) -> list[tuple[str, str]]:
    known = classes.raters
    people = () if classes.people is None else classes.people.raters
    for name in (a, b):
        if name is not None and name not in known:
            if name in people:
                raise InputError(
                    f"{name!r} is a person; models are compared here (alignment compares a model "
                    "with people)"
                )
            raise unknown_name("model", name, known)
    if a is not None and a == b:
        raise InputError(f"{a!r} is compared with itself; expected two different models")
    if len(known) < 2:
        held = f"only {known[0]!r}" if known else "none"
        raise InputError(f"expected two models or more to compare; there is {held}")
    if a is None and b is None:
        return list(combinations(known, 2))
    first = a if a is not None else b
    assert first is not None
    others = [b] if a is not None and b is not None else [name for name in known if name != first]
    return [(first, other) for other in others]


def _together(found: Mapping[tuple[str, str], Comparison], alpha: float) -> pl.DataFrame:
    """All pairs in one table, p values adjusted over all of it."""
    frame = pl.concat(
        [
            comparison.frame.select(
                pl.lit(one, dtype=pl.String).alias("model_a"),
                pl.lit(other, dtype=pl.String).alias("model_b"),
                pl.all(),
            )
            for (one, other), comparison in found.items()
        ]
    )
    adjusted = holm(frame["p_value"].to_numpy())
    rows = frame.select("metric", "value", "model_a", "model_b").rows()
    better = [
        better_side(*row) if shown else ""
        for row, shown in zip(rows, (adjusted < alpha).tolist(), strict=True)
    ]
    return frame.with_columns(
        pl.Series("p_adjusted", adjusted), pl.Series("better", better, dtype=pl.String)
    )


def _verdict(rows: pl.DataFrame, a: str, b: str) -> str:
    """Say on what one of two models is better."""
    shown: dict[str, list[str]] = {}
    for row in rows.filter(pl.col("better") != "").iter_rows(named=True):
        values = [number(row["value_a"]), number(row["value_b"])]
        first, second = values if row["better"] == a else reversed(values)
        shown.setdefault(row["better"], []).append(f"{row['title']} ({first} against {second})")
    stimuli = f"({rows['n_items'][0]:,} stimuli)"
    if not shown:
        return f"Neither {a} nor {b} is shown to be better on {joined(rows['title'])} {stimuli}."
    parts = [
        f"{winner} is better than {b if winner == a else a} on {joined(titles)}"
        for winner, titles in shown.items()
    ]
    return f"{joined(parts)} {stimuli}."
