"""From ratings to classes: the truth, and what models and people answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab._types import Bools, Ints
from affectlab.errors import InputError
from affectlab.evaluation._classes import Classes, PeopleAnswers
from affectlab.evaluation._classes_map import ClassMap, class_map
from affectlab.evaluation._classes_notes import (
    Counted,
    answer_notes,
    counted,
    offset_note,
    truth_notes,
)
from affectlab.evaluation._classes_panel import Panel
from affectlab.evaluation._classes_rule import (
    AnswerRule,
    Decided,
    Threshold,
    TruthRule,
    load_thresholds,
)
from affectlab.evaluation._classes_sides import neutral_offsets, split_panels
from affectlab.evaluation._classes_truth import Truth, TruthSource, truth_source
from affectlab.evaluation._classes_votes import AnswerTies, Rule, Ties
from affectlab.evaluation._score_mapping import ScoreMapping
from affectlab.evaluation._score_mapping_file import load_score_mapping
from affectlab.ratings import Ratings
from affectlab.ratings._order import canonical
from affectlab.taxonomy import LabelMapping, Taxonomy

__all__ = ["classes_of"]


def classes_of(
    ratings: Ratings,
    models: Ratings | None = None,
    *,
    truth: Truth = "people",
    taxonomy: str | Taxonomy | None = None,
    mapping: str | Path | ScoreMapping | LabelMapping | None = None,
    scores: str | Sequence[str] | None = None,
    multilabel: bool = False,
    threshold: Threshold | None = None,
    truth_threshold: Threshold | None = None,
    rule: Rule | None = None,
    agree: float = 0.5,
    min_people: int = 1,
    ties: Ties = "leave_out",
    answer_ties: AnswerTies = "random",
    seed: int | np.random.Generator | None = 0,
) -> Classes:
    """Say which class each stimulus has, and which one each model and person saw in it.

    Answers may be names of classes (a nominal scale), yes or no to each label, or a score for each
    label; people, models and truth may differ in this.

    Parameters
    ----------
    ratings
        Answers of people, of models, or of both.
    models
        Answers of models in a table of their own; every rater in it is judged.
    truth
        - ``"people"``: what the people of `ratings` say; each person is judged by the *others*.
        - ``"rater:NAME"``: what one rater says, who is not judged.
        - ``"attribute:NAME"``: an attribute of the stimuli; several classes are separated by comma,
          semicolon or ``|`` where classes are sets.
        - another table of ratings, whose raters are pooled; or a class (or several) by stimulus.
    taxonomy
        Taxonomy of the classes; by default that of the mapping, or of the ratings.
    mapping
        How many labels become few classes: a :class:`ScoreMapping`, its name or file, or a
        :class:`~affectlab.taxonomy.LabelMapping`. Tables whose labels are classes already are left
        as they are.
    scores
        Columns of scores of the models to be used in place of ``value``; with several, each model
        is judged once for each (see :func:`score_variants`).
    multilabel
        Whether a stimulus has a set of classes, rather than one.
    threshold
        For sets: scores from which on a class counts as answered. Not needed for yes and no, nor
        for models that say which labels they choose (a column ``chosen`` of 0 and 1).
    truth_threshold
        The same for pooled scores of people.
    rule
        For one class: ``"plurality"`` of votes, ``"majority"`` (more than half of them), or the
        class with the highest ``"mean"`` or ``"median"`` rating. By default the mean for ratings,
        and the plurality otherwise.
    agree
        For sets: share of people (a float), or their number (an int), that makes a class true.
    min_people
        Raters below which pooled answers make no truth.
    ties
        Several classes highest in the truth: ``"leave_out"``, ``"first"`` in the order of the
        taxonomy (without one, by name), or ``"random"``.
    answer_ties
        The same in an answer, where ``"missing"`` takes it as none.
    seed
        For random choices among ties.

    Raises
    ------
    InputError
        When there is no such truth, no stimulus has one, a label is not known, or truth and
        answers share no class or no stimulus.

    Examples
    --------
    >>> table = Ratings({"stimulus": ["a"] * 3 + ["b"] * 3, "rater": ["r1", "r2", "net"] * 2,
    ...                  "value": ["joy", "joy", "joy", "fear", "fear", "joy"]},
    ...                 raters={"rater": ["net"], "rater_kind": ["model"]})
    >>> found = classes_of(table)
    >>> found.to_frame().rows()
    [('a', 'joy', 'joy'), ('b', 'fear', 'joy')]
    >>> found.truth_said
    'people (plurality of 2)'
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    rng = np.random.default_rng(seed)
    settings = TruthRule(
        rule,
        agree,
        min_people,
        ties,
        None if truth_threshold is None else load_thresholds(truth_threshold),
        multilabel,
    )
    reading = AnswerRule(
        None if threshold is None else load_thresholds(threshold), answer_ties, multilabel
    )
    used = None if mapping is None else load_score_mapping(mapping)
    source = truth_source(truth, ratings, models, multilabel=multilabel)
    told_by = truth.partition(":")[2] if source.kind == "rater" and isinstance(truth, str) else None
    if source.kind == "rater":
        settings = replace(settings, min_people=1)
    people, judged = split_panels(
        ratings, models, scores, told_by, own_sets=multilabel and threshold is None
    )
    if source.kind == "people":
        if people is None:
            raise InputError(
                f"{ratings.source or 'the ratings'}: no rater is human, so people cannot be the "
                "truth; name another (truth 'attribute:NAME', 'rater:NAME' or a table)"
            )
        source = replace(source, panel=people)
    if people is None and not judged:
        raise InputError(f"{ratings.source or 'the ratings'}: there is nobody left to be judged")
    panels = [*judged, *([people] if people is not None else [])]
    if source.panel is not None:
        panels.append(source.panel)
    classes = class_map(
        list(dict.fromkeys(label.strip() for panel in panels for label in panel.labels)),
        [] if source.panel is not None else source.labels,
        taxonomy=taxonomy,
        known=[ratings.taxonomy, None if models is None else models.taxonomy, source.taxonomy],
        mapping=used,
        where=source.said,
    )
    stimuli, decided, said = _truth(source, settings, classes, rng)
    kept = np.flatnonzero(decided.known)
    names = tuple(stimuli[place] for place in kept)
    notes = truth_notes(decided, settings, of_people=source.kind == "people")
    if not names:
        raise InputError(f"no stimulus has a true class: {'; '.join(notes) or 'there is none'}")
    values = decided.code[kept]
    raters: list[str] = []
    parts: list[tuple[NDArray[Any], Bools]] = []
    tied = {"truth": int(decided.tied.sum())}
    worth: list[Counted] = []
    for panel in judged:
        placed = panel.on_stimuli(names)
        offsets = neutral_offsets(placed, classes, values, multilabel)
        mapped = classes.panel(placed, offsets)
        given = reading.decide(mapped, classes, rng)
        if offsets is not None and classes.mapping is not None:
            notes.append(offset_note(classes.mapping.neutral_class, placed.raters))
        for place, rater in enumerate(panel.raters):
            rows = mapped.rater == place
            raters.append(rater)
            parts.append(_spread(given, mapped.stimulus, rows, len(names), len(classes.labels)))
            worth.append(counted(rater, mapped, given, rows))
            tied[rater] = worth[-1].tied
    if judged and not any(known.any() for _, known in parts):
        raise InputError(
            f"no model answered a stimulus that has a true class: the truth has {names[0]!r}, …, "
            f"the models {judged[0].stimuli[0]!r}, …; expected the same names"
        )
    notes += answer_notes(worth, answer_ties)
    beside = None
    if people is not None:
        beside, of_people = _people(people, source, settings, classes, names, values, reading, rng)
        tied |= of_people
    shape = (0, len(names), len(classes.labels)) if multilabel else (0, len(names))
    predicted: NDArray[Any] = np.zeros(shape, dtype=bool if multilabel else np.int64)
    answered = np.zeros((0, len(names)), dtype=bool)
    if parts:
        predicted = np.stack([part for part, _ in parts])
        answered = np.stack([known for _, known in parts])
    return Classes(
        labels=classes.labels,
        taxonomy=classes.taxonomy,
        stimuli=names,
        truth=values,
        raters=tuple(raters),
        predicted=predicted,
        answered=answered,
        people=beside,
        truth_said=said,
        multilabel=multilabel,
        ties=tied,
        notes=tuple(dict.fromkeys(notes)),
    )


def _truth(
    source: TruthSource, settings: TruthRule, classes: ClassMap, rng: np.random.Generator
) -> tuple[tuple[str, ...], Decided, str]:
    """Stimuli, their truth, and what it is in words."""
    if source.panel is not None:
        panel = source.panel
        decided = settings.decide(panel, len(panel.stimuli), classes, rng)
        said = source.said
        if source.kind == "people" or len(panel.raters) > 1:
            sizes = decided.size[decided.known]
            low, high = (int(sizes.min()), int(sizes.max())) if sizes.size else (0, 0)
            of = f"{low}" if low == high else f"{low} to {high}"
            said = f"{said} ({settings.said(panel)} of {of})"
        return panel.stimuli, decided, said
    assert source.names is not None
    n = len(source.names)
    size = np.ones(n, dtype=np.int64)
    if settings.multilabel:
        sets = np.zeros((n, len(classes.labels)), dtype=bool)
        for row, names in enumerate(source.names.values()):
            for name in names:
                place = classes.code(name, source.said)
                if place >= 0:
                    sets[row, place] = True
        known = np.ones(n, dtype=bool)
        return tuple(source.names), Decided(sets, known, ~known, size), source.said
    found = {name: classes.code(name, source.said) for name in source.labels}
    code = np.array([found[names[0]] for names in source.names.values()], dtype=np.int64)
    decided = Decided(code, code >= 0, np.zeros(n, dtype=bool), size)
    return tuple(source.names), decided, source.said


def _spread(
    given: Decided, stimulus: Ints, rows: Bools, n: int, k: int
) -> tuple[Ints | Bools, Bools]:
    """Put the answers of one rater at the places of their stimuli."""
    known = np.zeros(n, dtype=bool)
    known[stimulus[rows]] = given.known[rows]
    if given.code.ndim == 2:
        sets = np.zeros((n, k), dtype=bool)
        sets[stimulus[rows]] = given.code[rows]
        return sets, known
    code = np.full(n, -1, dtype=np.int64)
    code[stimulus[rows]] = given.code[rows]
    return code, known


def _people(
    people: Panel,
    source: TruthSource,
    settings: TruthRule,
    classes: ClassMap,
    names: tuple[str, ...],
    truth: Ints | Bools,
    reading: AnswerRule,
    rng: np.random.Generator,
) -> tuple[PeopleAnswers, dict[str, int]]:
    """Answers of people beside the truth; where they are the truth, beside that of the others."""
    if source.kind == "people":
        panel = people
        other = settings.decide_without(panel, len(panel.stimuli), classes, rng)
        beside, known = other.code, other.known
    else:
        panel = people.on_stimuli(names)
        beside, known = truth[panel.stimulus], np.ones(len(panel.stimulus), dtype=bool)
    mapped = classes.panel(panel, np.zeros(len(panel.labels)))
    given = reading.decide(mapped, classes, rng)
    rows = known & given.known
    tied = np.bincount(panel.rater[given.tied], minlength=len(panel.raters))
    found = PeopleAnswers(
        panel.raters,
        panel.stimuli,
        panel.rater[rows],
        panel.stimulus[rows],
        beside[rows],
        given.code[rows],
        source.kind == "people",
    )
    return found, dict(zip(panel.raters, tied.tolist(), strict=True))
