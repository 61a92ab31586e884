"""What a table of ratings holds, in counts and in words."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.arrays import distinct_codes
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Key, Number, Table, Text
from affectlab.core.words import plural, sentence_case, shown
from affectlab.ratings import wording
from affectlab.ratings.codes import pack
from affectlab.ratings.derived import RatingsBase, has_traces, n_later, used_rows
from affectlab.ratings.response_words import in_order
from affectlab.ratings.scale import Scale, difference, folded
from affectlab.ratings.scales import (
    GuessedColumnsWarning,
    GuessedScalesWarning,
    by_scale,
    format_by_label,
    shared_scale,
)
from affectlab.ratings.schema import (
    HIGH_CODES,
    HUMAN_KINDS,
    LOW_CODES,
    MODEL_KINDS,
    RATER_KINDS,
    StepKind,
    is_far_code,
)
from affectlab.ratings.steps import History

# Scales to suggest: what a user could declare, judged by the answers that occur.


_MOST_SHOWN = 7


def suggested_scale(scale: Scale) -> str:
    """Give the short form of a scale of numbers or of named levels that fits an inferred one.

    Examples
    --------
    >>> suggested_scale(Scale.infer([1, 2, 5])), suggested_scale(Scale.infer([0.02, 0.97]))
    ('1-5', '0-1 interval')
    """
    if scale.categories:
        return f"{scale.kind}:{','.join(scale.categories)}"
    if scale.low is None or scale.high is None:
        return "0-7"
    low, high = scale.low, scale.high
    if scale.step is None and math.isfinite(high - low):
        # Bounds of a question are round numbers, unlike the lowest and highest answer.
        unit = 10.0 ** math.floor(math.log10(high - low))
        low, high = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    to = ".." if low < 0 else "-"
    return f"{low:.12g}{to}{high:.12g}" + (" interval" if scale.kind == "interval" else "")


def suggested_words(categories: tuple[str, ...]) -> str:
    """Give the short form of an ordinal scale of these words: in order where they are well known.

    Examples
    --------
    >>> suggested_words(("Agree", "Neutral", "Disagree"))
    'ordinal:Disagree,Neutral,Agree'
    >>> suggested_words(("joy", "fear"))
    'ordinal:disagree,neutral,agree'
    """
    return "ordinal:" + ",".join(in_order(categories) or ("disagree", "neutral", "agree"))


def suggested_names(categories: tuple[str, ...]) -> str:
    """Give the short form of a nominal scale of these words."""
    if len(categories) > _MOST_SHOWN or any("," in name for name in categories):
        return "nominal:yes,no,unsure"
    return "nominal:" + ",".join(categories)


# What a reader of results should know of the data, in words.


_REPEATABLE = {"session", "trial", "trial_kind", "text"}
"""Columns whose presence lets a rater answer the same question twice."""

_WHOLE = re.compile(r"0*([0-9]+)(?:[.]0+)?")
"""A whole number as a name, with zeros that say nothing: ``001``, ``1.0``."""

Mask = NDArray[np.bool_]


def pair_counts(ratings: RatingsBase, rows: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Count the raters of each stimulus and the stimuli of each rater, over some rows."""
    body = ratings._body
    stimulus, rater = body.stimulus.code, body.rater.code
    once = body.label is None and not body.extras.keys() & _REPEATABLE
    if not once:
        size = body.stimulus.n * body.rater.n
        pairs = distinct_codes(pack([body.stimulus, body.rater])[rows], size)
        stimulus, rater = (part.astype(np.int32) for part in np.divmod(pairs, body.rater.n))
    elif not rows.all():
        stimulus, rater = stimulus[rows], rater[rows]
    return (
        np.bincount(stimulus, minlength=ratings.n_stimuli),
        np.bincount(rater, minlength=ratings.n_raters),
    )


def _of_several(ratings: RatingsBase, rows: NDArray[np.bool_]) -> list[str]:
    """Say which of several answers of a rater to one question count."""
    if has_traces(ratings):
        return [wording.answers_are_traces()]
    n, later = int(rows.sum()), n_later(ratings, rows)
    if not later:
        return []
    if "answers_as" in ratings._body.extras:
        return [wording.answered_as_people()]
    return [wording.repeated_answers(n, later, sessions="session" in ratings._body.extras)]


CautionAbout: TypeAlias = Literal["", "scale", "categories", "no people"]


class Caution(str):
    """What a reader should know, in words, and what it is about where a verb may leave it out."""

    __slots__ = ("about",)

    about: CautionAbout

    def __new__(cls, text: str, about: CautionAbout = "") -> Caution:
        made = super().__new__(cls, text)
        made.about = getattr(text, "about", about)
        return made


def warnings_of(ratings: RatingsBase) -> tuple[Caution, ...]:
    """Say in words what a reader of results should know of the data."""
    rows = used_rows(ratings)
    found = [*_of_steps(ratings, StepKind.MAPPING_BESIDE), *guesses_of_columns(ratings)]
    found += _of_steps(ratings, StepKind.ONE_SPELLING)
    found += [*_of_scale(ratings, rows), *_of_people(ratings, rows)]
    found += _of_kinds(ratings)
    found += _of_spelling("rater", ratings.rater_names)
    # Of texts, other letters and spaces are other texts.
    found += _of_spelling(
        "stimulus", tuple(n for n in ratings.stimulus_names if len(n.split()) < 2)
    )
    if ratings.has_labels:
        found += _of_spelling("label", ratings.label_names)
    for categories in dict.fromkeys(scale.categories for scale in ratings.scales.values()):
        found += _of_spelling("category", categories)
    found += _of_several(ratings, rows)
    if ratings.n_stimuli == 1:
        found.append(wording.one_stimulus())
    answers = ratings.value[rows]
    answers = answers[~np.isnan(answers)]
    scale = shared_scale(ratings.scales)
    if scale is not None and len(answers) > 1 and answers.min() == answers.max():
        answer = scale.name_of(float(answers[0]))
        if scale.kind == "binary":
            answer = "yes" if answers[0] else "no"
        shared = bool((pair_counts(ratings, rows)[0] > 1).any())
        fill = shared and ratings.has_labels and scale.numeric and scale.kind != "nominal"
        found.append(wording.one_value(answer, fill=fill))
    found += [
        wording.filled_as_published(one.text)
        for one in ratings.history
        if one.kind is StepKind.FILLED and one.get("by") == "published"
    ]
    found += _of_outcomes(ratings)
    found += _of_set_aside(ratings)
    return tuple(map(Caution, found))


def _of_set_aside(ratings: RatingsBase) -> list[str]:
    """Count what could not be used, and name the raters of whom nothing could."""
    found = []
    for unit in ("row", "cell"):
        count = sum(
            part.count
            for part in ratings.set_aside
            if part.unit == unit and part.kind != "no_answer"
        )
        if count:
            found.append(wording.set_aside(count, unit))
    if raters := silent_raters(ratings):
        found.append(wording.silent(raters, "rater"))
    if stimuli := silent_stimuli(ratings):
        found.append(wording.silent(stimuli, "stimulus"))
    return found


def silent_raters(ratings: RatingsBase) -> list[str]:
    """Name the raters of the source who have no answer in the table."""
    return _left_out(ratings, "rater", ratings.rater_names)


def silent_stimuli(ratings: RatingsBase) -> list[str]:
    """Name the stimuli of the source that have no answer in the table."""
    return _left_out(ratings, "stimulus", ratings.stimulus_names)


def _left_out(ratings: RatingsBase, unit: str, there: Collection[str]) -> list[str]:
    named = [name for part in ratings.set_aside if part.unit == unit for name in part.places]
    known = set(there)
    return [name for name in dict.fromkeys(named) if name not in known]


def guess_of_scales(ratings: RatingsBase) -> str:
    """Say how scales were inferred where labels are on different ones; empty where none was."""
    guessed = {name: scale for name, scale in ratings.scales.items() if not scale.declared}
    if not guessed or shared_scale(ratings.scales) is not None:
        return ""
    said = format_by_label({name: replace(scale, declared=True) for name, scale in guessed.items()})
    return wording.scales_inferred(len(guessed), said, _suggested_by_label(guessed))


def _suggested_by_label(scales: Mapping[str, Scale]) -> str:
    parts = []
    for name, scale in scales.items():
        if scale.kind == "nominal":
            said = suggested_names(scale.categories)
        else:
            said = "binary" if scale.kind == "binary" else suggested_scale(scale)
        label = f'"{name}"' if "," in name else name
        parts.append(f"{label}={said}")
    return ", ".join(parts[:_MOST_SHOWN]) + (", …" if len(parts) > _MOST_SHOWN else "")


def guesses_of_columns(ratings: RatingsBase) -> tuple[str, ...]:
    """Say what was guessed of the columns of a file, one sentence each."""
    return tuple(f"Guessed: {one.text}." for one in ratings.history if one.guessed)


def _of_steps(ratings: RatingsBase, kind: StepKind) -> list[str]:
    """Give the steps of a kind as sentences."""
    return [f"{sentence_case(one.text)}." for one in ratings.history if one.kind is kind]


def warn_of_guess(ratings: RatingsBase, *, columns: bool = False) -> None:
    """Warn whoever made a table in Python of what was guessed.

    That is that labels were taken to be on different scales; with `columns`, also what columns of
    a file were taken for.
    """
    said = guess_of_scales(ratings)
    if said:
        warnings.warn(said, GuessedScalesWarning, stacklevel=3)
    if columns and (guesses := [one for one in ratings.history if one.guessed]):
        warnings.warn(GuessedColumnsWarning(*guesses), stacklevel=3)


def _of_scale(ratings: RatingsBase, rows: Mask) -> list[str]:
    scale = shared_scale(ratings.scales)
    if scale is None:
        guess = guess_of_scales(ratings)
        codes = []
        for scale in dict.fromkeys(one for one in ratings.scales.values() if not one.declared):
            own = [code for code, n in enumerate(ratings.label_names) if ratings.scales[n] == scale]
            value = ratings.value[rows & np.isin(ratings.label_code, own)]
            if scale.kind in ("ordinal", "interval"):
                codes += _of_codes(value, [ratings.label_names[c] for c in own])
        return [*([guess] if guess else []), *_of_ends(ratings, rows), *codes]
    if scale.declared:
        return []
    if scale.kind == "nominal":
        return [
            Caution(wording.no_order(suggested_words(scale.categories)), "categories"),
            Caution(wording.categories_met(suggested_names(scale.categories)), "categories"),
        ]
    inferred = "" if scale.low is None else str(replace(scale, declared=True))
    codes = _of_codes(ratings.value[rows])
    if scale.kind == "binary":
        text = wording.scale_inferred(inferred, "binary", binary=True)
        return [Caution(text, "scale"), *codes]
    # Where a value may be a code for a missing answer, the scale to declare is said there.
    declare = "" if codes else suggested_scale(scale)
    text = wording.scale_inferred(inferred, declare)
    return [Caution(text, "scale"), *_of_ends(ratings, rows), *codes]


def _of_ends(ratings: RatingsBase, rows: Mask) -> list[str]:
    """Say that labels whose answers all begin at 1 end differently, as 1 to 7 and 1 to 9 do."""
    answers = pl.DataFrame({"label": ratings.label_code[rows], "value": ratings.value[rows]})
    ends = (
        answers.filter(pl.col("value").is_not_nan())
        .group_by("label", maintain_order=True)
        .agg(low=pl.col("value").min(), high=pl.col("value").max(), n=pl.col("value").n_unique())
        .sort("label")
    )
    found = []
    for scale in dict.fromkeys(ratings.scales.values()):
        if scale.declared or scale.kind != "ordinal":
            continue
        # One answer to a label, whatever was asked, is on no scale.
        named = [(ratings.label_names[code], *own) for code, *own in ends.rows() if own[2] > 1]
        names = [name for name, *_ in named if ratings.scales[name] == scale]
        used = {
            name: int(high)
            for name, low, high, n in named
            if low == 1 and n == high and name in names
        }
        if len(used) == len(names) and len(set(used.values())) > 1:
            first = {high: name for name, high in reversed(used.items())}
            each = ", ".join(f"{name}=1-{high}" for name, high in used.items())
            found.append(wording.ends_differ({high: first[high] for high in sorted(first)}, each))
    return found


def _of_codes(value: NDArray[np.float64], labels: Sequence[str] = ()) -> list[str]:
    """Warn of numbers that often stand for a missing answer: a lone -1, or 9 after 1 to 5."""
    levels, counts = np.unique(value[~np.isnan(value)], return_counts=True)
    codes: list[float] = []
    answers = levels
    while len(answers) > 2 and _is_low_code(answers):
        codes.append(answers[0])
        answers = answers[1:]
    while len(answers) > 2 and _is_high_code(answers):
        codes.append(answers[-1])
        answers = answers[:-1]
    if not codes:
        return []
    count = int(counts[np.isin(levels, codes)].sum())
    return [wording.likely_codes(count, codes, answers[0], answers[-1], labels)]


def _is_low_code(levels: NDArray[np.float64]) -> bool:
    """Whether the lowest answer is a code: below answers from 0 or 1 on, or far below others."""
    lowest = levels[0]
    answers = levels[~np.isin(levels, LOW_CODES)]
    if lowest not in LOW_CODES or answers.size < 2:
        return False
    answers = answers[: -1 if _is_high_code(answers) else None]
    return is_far_code(lowest, answers) or bool(answers[0] >= 0 and answers[-1] > 1)


def _is_high_code(levels: NDArray[np.float64]) -> bool:
    """Whether the highest answer is a code; a 9 only after a scale that was used end to end."""
    top = levels[-1]
    rest = levels[:-1]
    while len(rest) > 2 and rest[-1] > 9 and rest[-1] in HIGH_CODES:
        rest = rest[:-1]
    complete = top > 9 or bool((np.diff(rest) == 1).all())
    near = np.abs(rest).max() <= 7.0 or is_far_code(top, rest)
    return bool(top in HIGH_CODES and top - rest[-1] >= 2 and near and complete)


def _of_people(ratings: RatingsBase, rows: Mask) -> list[str]:
    kinds = ratings.rater_kinds
    human = np.array([kind in HUMAN_KINDS for kind in kinds], dtype=bool)
    if not human.any():
        return [Caution(wording.no_human(several=len(kinds) > 1), "no people")]
    found = []
    aggregated = human & aggregated_raters(ratings)
    if aggregated.any():
        who = [ratings.rater_names[code] for code in np.flatnonzero(aggregated)]
        human &= ~aggregated
        found.append(wording.aggregated(who, alone=not human.any()))
        if not human.any():
            return found
    # Only those who answered a main trial count as raters of it.
    of_people = rows if human.all() else rows & human[ratings.rater_code]
    per_stimulus, per_rater = pair_counts(ratings, of_people)
    n_people = int(np.count_nonzero(per_rater))
    rated = per_stimulus[per_stimulus > 0]
    if n_people == 1:
        found.append(wording.one_person())
    elif n_people > 1:
        median = float(np.median(rated))
        lone = int((rated == 1).sum())
        if lone == len(rated) or median < 2:
            found.append(wording.one_person_each(lone, len(rated)))
    if n_simulated := kinds.count("simulated"):
        found.append(wording.simulated(n_simulated, len(kinds)))
    return found


def _of_kinds(ratings: RatingsBase) -> list[str]:
    """Warn of a column of the raters that says who is a model, under another name."""
    if set(ratings.rater_kinds) != {"human"}:
        return []
    table = ratings.raters.drop("rater", "rater_kind")
    for column in table.select(pl.col(pl.String)):
        words = set(column.drop_nulls().str.strip_chars().str.to_lowercase())
        if words <= set(RATER_KINDS) and words & set(MODEL_KINDS):
            return [wording.kinds_elsewhere(column.name)]
    return []


def aggregated_raters(ratings: RatingsBase) -> Mask:
    """Say for each rater whether it stands for several people (attribute ``aggregated``)."""
    table = ratings.raters
    if "aggregated" not in table.columns:
        return np.zeros(ratings.n_raters, dtype=bool)
    words = table["aggregated"].cast(pl.String).str.strip_chars().str.to_lowercase()
    mask: Mask = words.is_in(["true", "yes", "1", "1.0"]).fill_null(False).to_numpy()
    return mask


def _of_spelling(kind: str, names: tuple[str, ...]) -> list[str]:
    """Warn of names that differ in nothing but how they are written: they may be one."""
    first: dict[str, str] = {}
    alike = []
    for name in names:
        key = folded(name)
        if kind in ("rater", "stimulus") and (number := _WHOLE.fullmatch(key)):
            key = number[1]
        other = first.setdefault(key, name)
        if other != name:
            alike.append((other, name))
    if not alike:
        return []
    one, two = alike[0]
    way = difference(one, two) if folded(one) == folded(two) else ""
    return [wording.similar_names(kind, (one, two), len(alike), way)]


def outcome_counts(ratings: RatingsBase) -> dict[str, int]:
    """Count the cells of each outcome, those of a rater who found the stimulus unclear apart.

    Who chose that option has answered and refused nothing, although no label has a value.
    """
    extras = ratings._body.extras
    column = extras.get("outcome")
    if column is None:
        return {}
    name = column.cast(pl.String)
    unclear = extras.get("unclear")
    if unclear is not None and unclear.dtype == pl.Boolean:
        said = unclear.fill_null(value=False) & (name != "ok")
        name = pl.select(pl.when(said).then(pl.lit("unclear")).otherwise(name)).to_series()
    return {str(key): int(n) for key, n in name.value_counts(sort=True).rows()}


def _of_outcomes(ratings: RatingsBase) -> list[str]:
    column = ratings._body.extras.get("outcome")
    if column is None:
        return []
    counts = outcome_counts(ratings)
    failed = {name: n for name, n in counts.items() if name not in ("ok", "unclear")}
    found = []
    if "unclear" in counts:
        found.append(wording.unclear(counts["unclear"], len(column)))
    if failed:
        found.append(wording.failed(failed, len(column)))
    return found


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RatingsSummary(Result):
    """Counts over a table of ratings; its notes are the warnings of the table.

    The table ``descriptives`` has a row for each label, and for each kind of raters where there are
    several: ``n`` answers, ``missing`` (a rater answered about the stimulus, and not this),
    ``mean``, ``sd``, ``median``, ``min``, ``max``, ``skewness`` and ``kurtosis`` (of a sample, the
    latter less 3), and ``mode``, the most frequent category where categories have no order.
    """

    n_ratings: int
    n_stimuli: int
    n_raters: int
    n_labels: int
    scales: dict[str, str]
    """The scale of each label in words."""
    source: str
    taxonomy: str | None
    labels: tuple[str, ...]
    rater_kinds: dict[str, int]
    """Number of raters of each kind."""
    trial_kinds: dict[str, int]
    """Number of rows of each trial kind, empty when the table has no trial kinds."""
    outcomes: dict[str, int]
    """Number of rows of each outcome, empty when the table has no outcomes; ``unclear`` where a
    rater said that of the stimulus and chose no label."""
    raters_per_stimulus: tuple[int, float, int]
    """Smallest, median and largest number of raters of a stimulus (main trials, answered)."""
    stimuli_per_rater: tuple[int, float, int]
    """Smallest, median and largest number of stimuli of a rater (main trials, answered)."""
    set_aside: tuple[dict[str, Any], ...]
    """What was not taken: reason, count, the first places, and what is counted."""
    silent_raters: tuple[str, ...]
    """Raters of the source of whom no answer can be used; they are not among `n_raters`."""
    silent_stimuli: tuple[str, ...]
    """Stimuli of the source about which no answer can be used; they are not among `n_stimuli`."""
    history: History

    @property
    def counts(self) -> dict[str, Any]:
        """What was counted, by name, as JSON has it."""
        own = {field.name for field in fields(self)} - {field.name for field in fields(Result)}
        found = {name: value for name, value in vars(self).items() if name in own}
        return {**found, "history": [one.to_dict() for one in self.history]}


_COLUMNS = (Column("what", "", "name", is_key=True), Column("value", ""))
_SHOWN_LABELS = 12
_LONGEST_NAME = 40
_LONGEST_TEXT = 300


def summarise(ratings: RatingsBase, *, describe: bool = True) -> RatingsSummary:
    """Count what a table holds, and describe the answers to each label, which takes longer."""
    per_stimulus, per_rater = pair_counts(ratings, used_rows(ratings))
    trials = ratings._body.extras.get("trial_kind")
    kinds = [] if trials is None else trials.value_counts(sort=True).rows()
    counts: dict[str, Any] = {
        "n_ratings": ratings.n_ratings,
        "n_stimuli": ratings.n_stimuli,
        "n_raters": ratings.n_raters,
        "n_labels": ratings.n_labels,
        "scales": {name: str(scale) for name, scale in ratings.scales.items()},
        "source": ratings.source,
        "taxonomy": None if ratings.taxonomy is None else ratings.taxonomy.name,
        "labels": ratings.label_names if ratings.has_labels else (),
        "rater_kinds": dict(Counter(ratings.rater_kinds)),
        "trial_kinds": {str(kind): int(n) for kind, n in kinds},
        "outcomes": outcome_counts(ratings),
        "raters_per_stimulus": _spread(per_stimulus),
        "stimuli_per_rater": _spread(per_rater),
        "set_aside": tuple(part.to_dict() for part in ratings.set_aside),
        "silent_raters": tuple(silent_raters(ratings)),
        "silent_stimuli": tuple(silent_stimuli(ratings)),
        "history": ratings.history,
    }
    frame = pl.DataFrame(
        _rows(ratings, counts), dict.fromkeys(("what", "value"), pl.String), orient="row"
    )
    counted = Table("summary", wording.CAPTIONS["summary"], frame, _COLUMNS)
    return RatingsSummary(
        (counted, _descriptives(ratings)) if describe else (counted,),
        (headline(ratings),),
        notes=warnings_of(ratings),
        **counts,
    )


_DESCRIPTIVES = (
    *(Key("label"), Key("rater_kind", "raters"), Count("n"), Count("missing")),
    *(Number("mean", decimals=2), Number("sd", "SD", decimals=2)),
    *(Number(name, decimals=2) for name in ("median", "min", "max")),
    Number("skewness", decimals=2, spare=True),
    Text("mode", "most frequent"),
)


def _descriptives(ratings: RatingsBase) -> Table:
    """Describe the answers to each label: main trials, answered."""
    rows = used_rows(ratings)
    kinds = pl.Series(ratings.rater_kinds, dtype=pl.String)
    answers = pl.DataFrame(
        {
            "label": ratings.label_code[rows],
            "rater_kind": kinds.gather(ratings.rater_code[rows]),
            "pair": ratings.stimulus_code[rows] * np.int64(ratings.n_raters)
            + ratings.rater_code[rows],
            "value": ratings.value[rows],
        }
    ).with_columns(pl.col("value").fill_nan(None))
    pair, value = pl.col("pair").n_unique(), pl.col("value")
    asked = answers.group_by("rater_kind").agg(pair.alias("asked"))
    found = (
        answers.group_by("label", "rater_kind")
        .agg(
            n=pl.len(),
            pairs=pair,
            mean=value.mean(),
            sd=value.std(),
            median=value.median(),
            min=value.min(),
            max=value.max(),
            skewness=value.skew(bias=False),
            kurtosis=value.kurtosis(bias=False),
            mode=value.mode().min(),
        )
        .join(asked, on="rater_kind")
        .sort("label", "rater_kind")
        .with_columns(missing=pl.col("asked") - pl.col("pairs"))
    )
    scales = [ratings.scales[name] for name in ratings.label_names]
    scale_of = [scales[code] for code in found["label"].to_list()]
    ordered = pl.Series(
        [scale.kind not in ("nominal", "text") for scale in scale_of], dtype=pl.Boolean
    )
    modes = [
        scale.categories[int(code)] if scale.kind == "nominal" and code is not None else ""
        for scale, code in zip(scale_of, found["mode"].to_list(), strict=True)
    ]
    numbers = [pl.when(ordered).then(pl.col(name)).alias(name) for name in _NUMBERS]
    names = [ratings.label_names[code] for code in found["label"].to_list()]
    frame = found.select(
        pl.Series("label", names, dtype=pl.String),
        "rater_kind",
        pl.col("n", "missing").cast(pl.Int64),
        *numbers,
        pl.Series("mode", modes, dtype=pl.String),
    )
    hidden = {"mode"} if not any(modes) else set()
    if frame["rater_kind"].n_unique() < 2:
        hidden |= {"rater_kind"}
    if not ordered.any():
        hidden |= set(_NUMBERS)
    columns = tuple(column for column in _DESCRIPTIVES if column.key not in hidden)
    return Table("descriptives", wording.CAPTIONS["descriptives"], frame, columns)


_NUMBERS = ("mean", "sd", "median", "min", "max", "skewness", "kurtosis")
"""What describes answers that have an order."""


def headline(ratings: RatingsBase) -> str:
    """Give what a table holds in one line."""
    parts = [
        plural(ratings.n_ratings, "answer"),
        plural(ratings.n_stimuli, "stimulus", "stimuli"),
        plural(ratings.n_raters, "rater"),
    ]
    if ratings.has_labels:
        parts.append(plural(ratings.n_labels, "label"))
    scales = dict.fromkeys(map(str, ratings.scales.values()))
    return ", ".join([*parts, shown(" and ".join(scales), 2 * _LONGEST_NAME)])


def _rows(ratings: RatingsBase, counts: dict[str, Any]) -> list[tuple[str, str]]:
    """Give pairs of a name and a text."""
    kinds = _counted(counts["rater_kinds"])
    several = len(counts["rater_kinds"]) > 1
    rows = [
        ("answers", f"{ratings.n_ratings:,}"),
        ("stimuli", f"{ratings.n_stimuli:,}"),
        (
            "raters",
            "not known"
            if not ratings.raters_known
            else f"{ratings.n_raters:,}: {kinds}"
            if several
            else kinds,
        ),
    ]
    if ratings.has_labels:
        rows.append(("labels", f"{ratings.n_labels}: {_listed(ratings.label_names)}"))
    if counts["taxonomy"]:
        rows.append(("taxonomy", counts["taxonomy"]))
    for names, scale in by_scale(ratings.scales):
        of = "" if len(names) == ratings.n_labels else f" ({_listed(names)})"
        rows.append(("scale", scale + of))
    rows.append(("raters per stimulus", _range(counts["raters_per_stimulus"])))
    rows.append(("stimuli per rater", _range(counts["stimuli_per_rater"])))
    for name, found in (("trials", counts["trial_kinds"]), ("outcomes", counts["outcomes"])):
        if found:
            rows.append((name, _counted(found)))
    rows += [("set aside", str(part)) for part in ratings.set_aside] or [("set aside", "none")]
    rows += [("step", str(one)) for one in ratings.history]
    return [(name, shown(text, _LONGEST_TEXT)) for name, text in rows]


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(shown(name, _LONGEST_NAME) for name in names[:_SHOWN_LABELS])
    return listed + (", …" if len(names) > _SHOWN_LABELS else "")


def _range(spread: tuple[int, float, int]) -> str:
    low, median, high = spread
    return f"{low:,}" if low == high else f"{low:,} to {high:,}, median {median:,g}"


def _spread(counts: NDArray[np.intp]) -> tuple[int, float, int]:
    """Smallest, median and largest count of those that occur."""
    counts = counts[counts > 0]
    if len(counts) == 0:
        return 0, 0.0, 0
    return int(counts.min()), float(np.median(counts)), int(counts.max())
