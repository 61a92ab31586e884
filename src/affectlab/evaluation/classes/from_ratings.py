"""From ratings to classes: the truth, and what models and people answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import joined, option, plural
from affectlab.evaluation.classes import wording
from affectlab.evaluation.classes.class_map import ClassMap, class_map
from affectlab.evaluation.classes.classes import Classes, PeopleAnswers
from affectlab.evaluation.classes.rules import (
    AnswerRule,
    AnswerTies,
    Decided,
    Rule,
    Threshold,
    Thresholds,
    Ties,
    TruthRule,
    agreeing,
    load_thresholds,
    no_offsets,
)
from affectlab.evaluation.classes.score_mapping import ScoreMapping, load_score_mapping
from affectlab.evaluation.classes.score_rows import ScoreRows, score_rows, score_variants
from affectlab.evaluation.classes.truth import Truth, TruthSource, truth_source
from affectlab.evaluation.people_and_models import (
    check_level,
    check_shares,
    no_shared_class,
    notes_of_repeats,
    of_training,
    unknown_classes,
    unknown_stimuli,
)
from affectlab.ratings import (
    HUMAN_KINDS,
    MODEL_KINDS,
    ModelRatings,
    Ratings,
    aggregated_raters,
    canonical,
    model_tables,
)
from affectlab.taxonomy import LabelMapping, Taxonomy

# Who is judged, and what is taken off the scores first.


CHOSEN = "chosen"
"""Column in which a model says 1 for each label that its own thresholds choose."""


def split_tables(
    ratings: Ratings, models: ModelRatings | None, told_by: str | None
) -> tuple[ScoreRows | None, list[Ratings]]:
    """Panel of the people and tables of the models, without the rater who tells the truth.

    People may be absent, and may have answered in another form than models; so this asks less of
    the two than ``sides`` does.
    """
    kinds = set(ratings.rater_kinds)
    people = None
    if kinds & set(HUMAN_KINDS):
        people = _without(ratings.humans() if kinds & set(MODEL_KINDS) else ratings, told_by)
    tables = [ratings.models()] if kinds & set(MODEL_KINDS) else []
    tables += model_tables(models, None if people is None else ratings)
    judged = [
        table for table in (_without(table, told_by) for table in tables) if table is not None
    ]
    names = [rater for table in judged for rater in table.rater_names]
    names += people.rater_names if people is not None else ()
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"rater {twice!r} is in both tables; expected a name of its own for each")
    return None if people is None else score_rows(people), judged


def judged_panels(
    tables: Sequence[Ratings],
    scores: str | Sequence[str] | None,
    limits: Thresholds | None,
    *,
    multilabel: bool,
) -> list[ScoreRows]:
    """Panels of the models.

    For sets without thresholds, models that say which labels they choose (column ``chosen``)
    answer these, and not scores.
    """
    if scores not in (None, "value"):
        columns = [scores] if isinstance(scores, str) else list(scores or ())
        tables = [score_variants(table, columns) for table in tables]
    elif multilabel and limits is None and scores is None:
        tables = [_chosen_sets(table) for table in tables]
    elif multilabel and limits is not None and limits.of_shares:
        for table in tables:
            check_shares(table, f"a threshold of {limits.said} is for probabilities")
    return [score_rows(table) for table in tables]


def _chosen_sets(table: Ratings) -> Ratings:
    """Take the labels that a model chose by thresholds of its own, where it says so."""
    frame = table.coded_frame
    if table.scale.kind == "binary" or CHOSEN not in frame.columns:
        return table
    chosen = frame[CHOSEN]
    if not chosen.dtype.is_integer() or chosen.null_count() or not chosen.is_in([0, 1]).all():
        return table
    return table.with_values(
        chosen.to_numpy(), "binary", step=f"labels as the model chose them (column {CHOSEN!r})"
    )


def _without(table: Ratings, rater: str | None) -> Ratings | None:
    if rater is None or rater not in table.rater_names:
        return table
    others = [name for name in table.rater_names if name != rater]
    return table.select(raters=others) if others else None


def neutral_offsets(
    panel: ScoreRows, classes: ClassMap, truth: Ints | Bools, multilabel: bool
) -> Floats | None:
    """What the mapping takes off the scores of each row, where it looks at neutral stimuli.

    Raises
    ------
    InputError
        When a model answered fewer than two neutral stimuli.
    """
    mapping = classes.mapping
    if mapping is None or mapping.subtract != "neutral" or not classes.is_mapped(panel.labels):
        return None
    if panel.form != "scale":
        return None
    neutral = classes.labels.index(str(mapping.neutral_class))
    is_neutral = truth[:, neutral].astype(bool) if multilabel else truth == neutral
    chosen = is_neutral[panel.stimulus]
    offsets = np.zeros_like(panel.scores)
    for place, rater in enumerate(panel.raters):
        rows = panel.rater == place
        own = rows & chosen
        if own.sum() < 2:
            answered = plural(int(own.sum()), "neutral stimulus", "neutral stimuli")
            raise InputError(
                f"rater {rater!r} answered {answered}; taking neutral means off needs two or more"
            )
        known = ~np.isnan(panel.scores[own])
        total = np.nansum(panel.scores[own], axis=0)
        number = known.sum(axis=0)
        offsets[rows] = total / np.maximum(number, 1)
        # A stimulus has no part in the mean that is taken off its own scores.
        offsets[own] = (total - np.nan_to_num(panel.scores[own])) / np.maximum(number - known, 1)
    return offsets


# What was left out on the way from answers to classes, in words.


def truth_notes(decided: Decided, settings: TruthRule, *, of_people: bool) -> list[str]:
    notes = []
    tied = int(decided.tied.sum())
    if tied:
        notes.append(wording.tied_truth(tied, settings.ties))
    scarce = int((decided.size < settings.min_people).sum())
    if scarce:
        notes.append(wording.few_people(scarce, settings.min_people))
    gone = ~decided.known & ~decided.tied & (decided.size >= settings.min_people)
    if gone.any():
        notes.append(wording.no_truth(int(gone.sum()), settings.rule == "majority"))
    alone = int((decided.known & (decided.size == 1)).sum())
    if of_people and alone:
        notes.append(wording.one_person(alone, int(decided.known.sum())))
    return notes


def answer_notes(
    tied: Mapping[str, int], outside: Mapping[str, int], partly: Mapping[str, int], ties: AnswerTies
) -> list[str]:
    """Put what was counted into words, one note for all raters.

    Parameters
    ----------
    tied
        By rater: stimuli with several highest classes.
    outside
        Answers that name a label of no class.
    partly
        Stimuli of which some label was not answered.
    ties
        What was done with ties.
    """
    kinds = (
        (wording.tied_answers(ties), tied),
        (wording.OUTSIDE, outside),
        (wording.partly_answered(), partly),
    )
    notes = []
    for text, counts in kinds:
        shown = [
            f"{rater} ({plural(n, 'stimulus', 'stimuli')})" for rater, n in counts.items() if n
        ]
        more = [f"{len(shown) - 3} others"] if len(shown) > 4 else []
        if shown:
            notes.append(f"{text}: {joined([*(shown[:3] if more else shown), *more])}")
    return notes


def _n_partly(panel: ScoreRows, given: Decided, rows: Bools) -> int:
    """Count the stimuli of a rater of which some label was not answered."""
    if panel.form == "nominal" or not rows.any():
        return 0
    reachable = ~np.isnan(panel.scores).all(axis=0)
    gaps = np.isnan(panel.scores[rows][:, reachable]).any(axis=1)
    return int((gaps & given.known[rows]).sum())


def _grouped(table: Ratings, taxonomy: Taxonomy | None) -> str:
    """Name the mapping by which labels become the groups that a table has."""
    if taxonomy is None or table.taxonomy is None:
        return ""
    name = table.taxonomy.name.removeprefix(f"{taxonomy.name}-")
    return option("label_map", f"{taxonomy.name}:{name}")


_DEFAULTS = {"agree": 0.5, "min_people": 1, "ties": "leave_out", "answer_ties": "random"}


def _check_effects(multilabel: bool, source: TruthSource, **given: Any) -> None:
    """Refuse options that would change nothing.

    Raises
    ------
    InputError
        When one is for sets and each stimulus has one class, or the other way round, or it is for
        a truth that is pooled over people.
    """
    asked = [name for name, value in given.items() if value != _DEFAULTS.get(name)]
    for name in asked:
        flag = option(name, given[name])
        if name in ("threshold", "truth_threshold", "agree") and not multilabel:
            sets = option("multilabel", True, cli="--multilabel")
            raise InputError(
                f"{flag} is for sets of classes, and each stimulus has one class here; expected "
                f"{sets} with it, or neither"
            )
        if name in ("rule", "ties", "answer_ties") and multilabel:
            one = option("multilabel", False, cli="--no-multilabel")
            raise InputError(
                f"{flag} is for one class of each stimulus, and sets are judged here; expected "
                f"{one} with it, or neither"
            )
        pooled = name in ("rule", "agree", "min_people", "truth_threshold")
        if pooled and (source.is_named or (name == "min_people" and source.kind == "rater")):
            raise InputError(f"{flag} is for a truth of several people; {source.said} is none")


def classes_of(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    truth: Truth = "people",
    taxonomy: str | Taxonomy | None = None,
    label_map: str | Path | ScoreMapping | LabelMapping | None = None,
    scores: str | Sequence[str] | None = None,
    multilabel: bool | None = None,
    threshold: Threshold | None = None,
    truth_threshold: Threshold | None = None,
    rule: Rule | None = None,
    agree: float | str = 0.5,
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
        - another table of ratings, whose raters are pooled; its file (see :func:`read_truth`); or
          a class (or several) by stimulus.
    taxonomy
        Taxonomy of the classes; by default that of the mapping, or of the ratings.
    label_map
        How many labels become few classes: a ``ScoreMapping``, its name or file, or a
        :class:`~affectlab.taxonomy.taxonomy.LabelMapping`. Tables whose labels are classes already
        are left as they are.
    scores
        Columns of scores of the models to be used in place of ``value``; with several, each model
        is judged once for each (see ``score_variants``).
    multilabel
        Whether a stimulus has a set of classes, rather than one; None: where the truth names
        several of a stimulus (one rater says yes to two labels, or a cell holds two classes).
    threshold
        For sets: scores from which on a class counts as answered. Not needed for yes and no, nor
        for models that say which labels they choose (a column ``chosen`` of 0 and 1). Scores of a
        scale that nobody declared are probabilities for a threshold of 0 to 1: others, such as
        logits, are refused.
    truth_threshold
        The same for pooled scores of people; by default `threshold`.
    rule
        For one class: ``"plurality"`` of votes, ``"majority"`` (more than half of them), or the
        class with the highest ``"mean"`` or ``"median"`` rating. By default the mean for ratings,
        and the plurality otherwise.
    agree
        For sets: share of people (a float), or their number (an int), that makes a class true; as
        text, ``"0.5"`` or ``"2"``.
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
        When there is no such truth, no stimulus has one, a label is not known, truth and
        answers share no class or no stimulus, models answer groups of the labels of the truth, or
        an option has no effect.

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
    model_tables(models)
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    rng = np.random.default_rng(seed)
    limits = None if threshold is None else load_thresholds(threshold)
    pooled = limits if truth_threshold is None else load_thresholds(truth_threshold)
    used = None if label_map is None else load_score_mapping(label_map)
    source = truth_source(truth, ratings, models, multilabel=multilabel)
    told_by = truth.partition(":")[2] if source.kind == "rater" and isinstance(truth, str) else None
    people, tables = split_tables(ratings, models, told_by)
    notes = []
    if multilabel is None:
        told = people if source.kind == "people" else source.panel
        multilabel = told is not None and told.names_sets
        if multilabel:
            one = option("multilabel", False, cli="--no-multilabel")
            notes.append(
                f"the truth names several classes of a stimulus: sets are judged ({one} "
                "for one class each)"
            )
    settings = TruthRule(rule, agreeing(agree), min_people, ties, pooled, multilabel)
    reading = AnswerRule(limits, answer_ties, multilabel)
    _check_effects(
        multilabel,
        source,
        threshold=threshold,
        truth_threshold=truth_threshold,
        rule=rule,
        agree=agree,
        min_people=min_people,
        ties=ties,
        answer_ties=answer_ties,
    )
    if source.is_named:
        settings = TruthRule(None, 0.5, 1, ties, None, multilabel)
    elif source.kind == "rater":
        settings = replace(settings, min_people=1)
    if used is None:
        for table in tables:
            known = source.taxonomy or ratings.taxonomy
            check_level(table, known, source.said, _grouped(table, known))
    judged = judged_panels(tables, scores, limits, multilabel=multilabel)
    if source.kind == "people":
        if people is None:
            said = [name for name in ratings.stimuli.columns if name not in ("stimulus", "text")]
            others = [f"attribute:{name}" for name in said[:3] or ["NAME"]]
            raise InputError(
                f"{ratings.source or 'the ratings'}: no rater is human, so people cannot be the "
                f"truth; name another ({option('truth', *others, 'rater:NAME')}), or a table"
            )
        source = replace(source, panel=people)
    if people is None and not judged:
        raise InputError(f"{ratings.source or 'the ratings'}: there is nobody left to be judged")
    told = source.panel
    assert told is not None
    answering = [*judged, people, None if source.is_named else told]
    names_of = [panel.labels for panel in answering if panel is not None]
    classes = class_map(
        list(dict.fromkeys(label.strip() for labels in names_of for label in labels)),
        told.labels if source.is_named else (),
        taxonomy=taxonomy,
        known=[
            ratings.taxonomy,
            *(table.taxonomy for table in model_tables(models)),
            source.taxonomy,
        ],
        mapping=used,
        where=source.said,
    )
    decided = settings.decide(told, classes, rng)
    kept = np.flatnonzero(decided.known)
    names = tuple(told.stimuli[place] for place in kept)
    # An aggregate of several people is called so where it is read.
    single = source.kind == "people" and not any(aggregated_raters(ratings))
    said = truth_notes(decided, settings, of_people=single)
    if not names:
        raise InputError(f"no stimulus has a true class: {'; '.join(said) or 'there is none'}")
    notes += said
    values = decided.code[kept]
    raters: list[str] = []
    parts: list[tuple[NDArray[Any], Bools]] = []
    tied: dict[str, int] = {}
    outside: dict[str, int] = {}
    partly: dict[str, int] = {}
    release = None if used is None or multilabel else used.release
    by_release: dict[str, float] = {}
    for panel in judged:
        placed = panel.on_stimuli(names)
        if release is not None and placed.form == "scale":
            for place, rater in enumerate(placed.raters):
                rows = placed.rater == place
                true = [classes.labels[code] for code in values[placed.stimulus[rows]]]
                by_release[rater] = release.accuracy(placed.scores[rows], placed.labels, true)
        offsets = neutral_offsets(placed, classes, values, multilabel)
        mapped = classes.panel(placed, offsets)
        given = reading.decide(mapped, classes, rng)
        if offsets is not None and classes.mapping is not None:
            notes.append(wording.neutral_means(classes.mapping.neutral_class, placed.raters))
        for place, rater in enumerate(panel.raters):
            rows = mapped.rater == place
            raters.append(rater)
            parts.append(_spread(given, mapped.stimulus, rows, len(names), len(classes.labels)))
            tied[rater] = int(given.tied[rows].sum())
            outside[rater] = int((mapped.unmapped & rows).sum())
            partly[rater] = _n_partly(mapped, given, rows)
    if judged and not any(known.any() for _, known in parts):
        raise InputError(
            f"no model answered a stimulus that has a true class: the truth has {names[0]!r}, …, "
            f"the models {judged[0].stimuli[0]!r}, …; expected the same names"
        )
    for table in model_tables(models):
        notes += notes_of_repeats(table)
    notes += _notes_of_names(judged, told, classes, parts, source.said)
    notes += answer_notes(tied, outside, partly, answer_ties)
    if release is not None and (known_rates := {k: v for k, v in by_release.items() if v == v}):
        notes.append(release.words(known_rates))
    tied = {"truth": int(decided.tied.sum()), **tied}
    beside = None
    if people is not None:
        alone = None if source.kind == "people" else values
        beside, of_people = _people(people, alone, settings, classes, names, reading, rng)
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
        truth_said=_said(source, settings, told, decided),
        multilabel=multilabel,
        ties=tied,
        notes=tuple(dict.fromkeys(notes)),
        trained=of_training(tables, names),
    )


def _notes_of_names(
    judged: Sequence[ScoreRows],
    told: ScoreRows,
    classes: ClassMap,
    parts: Sequence[tuple[NDArray[Any], Bools]],
    whose: str,
) -> list[str]:
    """Say which classes and stimuli only models name; stop where they share no class.

    Raises
    ------
    InputError
        When no model can name a class of the truth.
    """
    if classes.mapping is not None:
        return _notes_of_stimuli(judged, told, whose)
    theirs = classes.offered(told)
    names = [classes.labels[place] for place in sorted(theirs)]
    notes, at, sharing = [], 0, not judged
    for panel in judged:
        for place, rater in enumerate(panel.raters):
            rows = panel.rater == place
            own = classes.offered(replace(panel, scores=panel.scores[rows]))
            sharing |= bool(own & theirs)
            outside = sorted(own - theirs)
            code, known = parts[at]
            at += 1
            said = code[known] if code.ndim == 1 else code[known].argmax(axis=1)
            new = [classes.labels[one] for one in outside]
            if outside and len(said) and own & theirs:
                share = float(np.isin(said, outside).mean())
                notes.append(unknown_classes(rater, new, share, whose))
            elif outside:
                notes.append(str(no_shared_class(whose, names, rater, new)))
    if not sharing:
        panel = judged[0]
        own = classes.offered(panel)
        raise no_shared_class(
            whose, names, panel.raters[0], [classes.labels[one] for one in sorted(own)]
        )
    return [*notes, *_notes_of_stimuli(judged, told, whose)]


def _notes_of_stimuli(judged: Sequence[ScoreRows], told: ScoreRows, whose: str) -> list[str]:
    found = []
    for panel in judged:
        for place, rater in enumerate(panel.raters):
            own = np.unique(panel.stimulus[panel.rater == place])
            answered = [panel.stimuli[one] for one in own]
            found.append(unknown_stimuli(rater, answered, told.stimuli, whose))
    return list(filter(None, found))


def _said(source: TruthSource, settings: TruthRule, panel: ScoreRows, decided: Decided) -> str:
    """Say what the truth is, in words."""
    if source.kind != "people" and len(panel.raters) == 1:
        return source.said
    sizes = decided.size[decided.known]
    low, high = int(sizes.min()), int(sizes.max())
    of = f"{low}" if low == high else f"{low} to {high}"
    return f"{source.said} ({settings.said(panel)} of {of})"


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
    people: ScoreRows,
    truth: Ints | Bools | None,
    settings: TruthRule,
    classes: ClassMap,
    names: tuple[str, ...],
    reading: AnswerRule,
    rng: np.random.Generator,
) -> tuple[PeopleAnswers, dict[str, int]]:
    """Answers of people beside the truth; where they are the truth, beside that of the others."""
    if truth is None:
        panel = people
        other = settings.decide(panel, classes, rng, others=True)
        beside, known = other.code, other.known
    else:
        panel = people.on_stimuli(names)
        beside, known = truth[panel.stimulus], np.ones(len(panel.stimulus), dtype=bool)
    mapped = classes.panel(panel, no_offsets(panel))
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
        truth is None,
    )
    return found, dict(zip(panel.raters, tied.tolist(), strict=True))
