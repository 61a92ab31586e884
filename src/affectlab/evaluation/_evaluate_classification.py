"""How often models see the right class, and how bad their mistakes are, beside people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.errors import InputError
from affectlab.evaluation._classes import Classes
from affectlab.evaluation._classes_costs import Costs, Judging, judging_of
from affectlab.evaluation._classes_of import classes_of
from affectlab.evaluation._classes_truth import Truth
from affectlab.evaluation._classes_votes import check_choice
from affectlab.evaluation._evaluate_classification_result import ClassificationResult
from affectlab.evaluation._evaluate_classification_rows import (
    MISSING,
    Missing,
    judged_on,
    wanted_metrics,
)
from affectlab.evaluation._evaluate_classification_work import Work
from affectlab.evaluation._score_mapping import ScoreMapping
from affectlab.ratings import Ratings
from affectlab.ratings._order import as_listed, canonical, rows_as_listed
from affectlab.taxonomy import LabelMapping, Taxonomy

__all__ = ["evaluate_classification"]


def evaluate_classification(
    ratings: Ratings | Classes,
    models: Ratings | None = None,
    *,
    truth: Truth = "people",
    taxonomy: str | Taxonomy | None = None,
    costs: Costs | None = None,
    groups: Mapping[str, str] | str | None = None,
    mapping: str | Path | ScoreMapping | LabelMapping | None = None,
    scores: str | list[str] | None = None,
    multilabel: bool = False,
    missing: Missing = "common",
    metrics: Iterable[str] | None = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
    **options: Any,
) -> ClassificationResult:
    """Judge models as classifiers, and by how bad their mistakes are.

    Parameters
    ----------
    ratings, models
        Answers of people, of models, or of both; or :class:`Classes` made before.
    truth, taxonomy, mapping, scores, multilabel, options
        As for :func:`classes_of`, which also takes ``threshold``, ``truth_threshold``, ``rule``,
        ``agree``, ``min_people``, ``ties`` and ``answer_ties``.
    costs
        Costs of mistakes: a :class:`~affectlab.taxonomy.CostMatrix`; a kind that the taxonomy
        makes (``"ring"``, ``"groups"``, ``"reference"``); ``"people"``, for how people confuse the
        classes; or a file. By default what the taxonomy has; without any, severity is not judged.
    groups
        Group of each class, or a level of the taxonomy, for ACC2; by default polarity.
    missing
        What happens with stimuli that a model did not answer. ``"common"``: models are judged on
        the stimuli that all of them answered. ``"own"``: each on those it answered.
        ``"wrong"``: they count as mistakes, as costly as the worst one. People are always judged
        on what they answered.
    metrics
        Names among :data:`CLASSIFICATION_METRICS`; by default all that the classes allow. For sets
        of classes these are not used: there are ``exact_match`` and averages of precision, recall
        and F1.
    n_boot, confidence
        Bootstrap replicates over stimuli (models share the draws where they share the stimuli),
        and the coverage of intervals; 0 for no interval.
    seed
        Seed or generator, for the bootstrap and for ties; the same seed gives the same bytes.

    Raises
    ------
    InputError
        As :func:`classes_of`; when there are no such costs; or when models have no stimulus in
        common, where that is what they are judged on.

    Notes
    -----
    Where people are the truth, each person is judged by the *other* people, so that a model's
    number can be read beside numbers of people. The people's truth that models are judged by is
    made of one person more, and leaves out stimuli on which people tie. The row ``people`` takes
    the answers of all people together, with bootstrap draws of whole stimuli.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, equations 1 to 4.

    Examples
    --------
    >>> table = Ratings({"stimulus": ["a", "b", "c"] * 2, "rater": ["gold"] * 3 + ["net"] * 3,
    ...                  "value": ["awe", "fear", "anger", "awe", "sadness", "awe"]},
    ...                 raters={"rater": ["net"], "rater_kind": ["model"]}, taxonomy="mikels")
    >>> found = evaluate_classification(table, truth="rater:gold", n_boot=0)
    >>> [round(found.estimates["net", metric].value, 3) for metric in ("accuracy", "ecc", "emc")]
    [0.333, 0.548, 0.583]
    >>> found.confusions["net"].mistakes().select("true", "predicted", "cost").rows()
    [('anger', 'awe', 7.0), ('fear', 'sadness', 2.0)]
    """
    listed = ratings
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    check_choice("missing", missing, MISSING)
    of_ties, of_draws = np.random.default_rng(seed).spawn(2)
    if isinstance(ratings, Classes):
        given = (models, taxonomy, mapping, scores, *options.values())
        if truth != "people" or multilabel or any(value is not None for value in given):
            raise InputError(
                "the classes are made already; truth, models, taxonomy, mapping, scores and "
                "multilabel are for classes_of"
            )
        classes = ratings
    else:
        classes = classes_of(
            ratings,
            models,
            truth=truth,
            taxonomy=taxonomy,
            mapping=mapping,
            scores=scores,
            multilabel=multilabel,
            seed=of_ties,
            **options,
        )
    judging = judging_of(classes, costs, groups)
    judged = judged_on(classes, judging, missing)
    work = Work(n_boot, confidence, of_draws)
    if classes.multilabel:
        work.sets(classes, judged)
    else:
        work.single(classes, judged, wanted_metrics(metrics, judged.judging))
    estimates = work.estimates()
    per_class = pl.concat(work.per_class) if work.per_class else pl.DataFrame()
    confused = list(work.confusions)
    return ClassificationResult(
        classes=classes,
        costs=judging.costs,
        estimates=replace(estimates, frame=rows_as_listed(estimates.frame, listed)),
        per_class=rows_as_listed(per_class, listed),
        confusions={confused[k]: work.confusions[confused[k]] for k in as_listed(confused, listed)},
        missing=missing,
        confidence=confidence,
        n_common=int(classes.common.sum()) if classes.raters else 0,
        notes=(*classes.notes, *judged.notes, *_judging_notes(classes, judging)),
    )


def _judging_notes(classes: Classes, judging: Judging) -> list[str]:
    notes = []
    if judging.costs is None and not classes.multilabel:
        notes.append(
            "no costs of mistakes are known for these classes, so severity is not judged; name a "
            "taxonomy with a wheel or groups, or costs"
        )
    if classes.people is not None and classes.people.left_out and classes.raters:
        notes.append(
            "each person is judged by the other people, where these agree on a class; models by all"
        )
    return notes
