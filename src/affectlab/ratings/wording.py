"""Sentences about tables of ratings: one template for each kind of fact."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Any

from affectlab.core.words import joined, listing, option, plural, quoted, sentence_case, shown
from affectlab.ratings.schema import StepKind

Names = Sequence[str]

STEPS: dict[StepKind, str | Callable[..., str]] = {
    StepKind.NOTE: "{text}",
    StepKind.NOTHING_ABSENT: "no rating was absent, to be filled with 0, as {by}",
    StepKind.ROWS_KEPT: "{n:,} of {of:,} rows were kept",
    StepKind.CONTROLS_LEFT_OUT: "left out {n:control run} of models",
    StepKind.NEUTRAL_SUBTRACTED: (
        "answers are differences from the mean of {n:stimulus} (neutral) of the same rater and "
        "label; {beyond:answer} beyond the scale {beyond:was} set to its bound"
    ),
    StepKind.SCREENED: (
        "screening by policy '{policy}' left out {n:,} of {of:{unit}} ({rows:,} of {of_rows:row})"
    ),
    StepKind.AVERAGED: (
        "averaged {n:,} answers to {to:,}, the mean of each rater's answers to a question"
    ),
    StepKind.LABELS_JOINED: "labels were grouped at level '{level}' by {how}",
    StepKind.TAXONOMY_DROPPED: "taxonomy {taxonomy} was dropped: label '{label}' is not in it",
    StepKind.UNUSED_ATTRIBUTES: (
        "{names:row} of the {unit} table {names:was} not used: no answer names {names}"
    ),
    StepKind.PERSONAL_LEFT_OUT: "columns that may identify people were left out: {columns:,}",
    StepKind.SCALE_GIVEN: "the scale of {raters} was given",
    StepKind.POSITIONS: (
        "numbers are positions of the categories: {low:g} is '{first}', {high:g} is '{last}'"
    ),
    StepKind.NO_ANSWER_WORDS: (
        "{words} {words:is} no answer: {n:cell} (<scale|nominal:NAME,NAME> keeps the words)"
    ),
    StepKind.NONE_IS_CATEGORY: (
        "'none' is a category ({n:answer}); <missing_codes|none> makes it a missing answer"
    ),
    StepKind.TICKS: "marks ({marks}) mean yes, since cells hold nothing else",
    StepKind.DECIMAL_COMMAS: "commas in {columns:columns} are decimal commas",
    StepKind.ANSWER_CODES: "codes of answers, such as A1, were read as their numbers in {n:column}",
    StepKind.CUT: "yes from {value:g} on",
    StepKind.NAMED_CATEGORIES: (
        "values are categories in {columns:columns}; <format|{format},categories=['NAME']> names "
        "others"
    ),
    StepKind.GUESSED_CATEGORIES: (
        "values are categories without an order in {columns:columns}: {names}; "
        "<format|{format},categories=['NAME']> names others"
    ),
    StepKind.GUESSED_LEVELS: (
        "named values are levels in order in {columns:columns}: {names}; "
        "<format|{format},categories=['NAME']> takes them without an order"
    ),
    StepKind.NAMED_LEVELS: (
        "named values are levels in order in {columns:columns}; "
        "<format|{format},categories=['NAME']> takes them without an order"
    ),
    StepKind.DECLARED_MISSING: "the file declares values as missing: {n:cell} of {columns}",
    StepKind.ENCODING: (
        "the text is not UTF-8, and was read as {encoding} (<encoding|NAME> names another encoding)"
    ),
    StepKind.NO_HEADER: (
        "the first row looks like those below it, so columns are called by their numbers "
        "(<format|{format}> takes it as their names)"
    ),
    StepKind.LISTS_LEFT_OUT: "columns of lists were left out: {columns}",
    StepKind.LISTS_BY_PLACE: (
        "lists of {n} numbers in {columns} answer {n} labels, called by their places"
    ),
    StepKind.LISTS_OF_UNKNOWN: (
        "lists in {columns} hold answers of unnamed raters, each counted as a new one"
    ),
    StepKind.LISTS_BY_RATER: (
        "lists in column '{rater}' name who gave the answers listed in {columns}"
    ),
    StepKind.LISTS_WITH_RATERS: (
        "lists in column '{column}' hold the answers, as they name raters; those in {left} were "
        "left out"
    ),
    StepKind.KEYS_ARE_ENTRIES: "each key in {columns} names an entry, as in a list",
    StepKind.FIELD_NAMES: "'{field}' names each of the {of} (<columns|rater=NAME> names another)",
    StepKind.KEYS_ARE_COLUMNS: (
        "the keys of the file are columns, and those below them number the rows"
    ),
    StepKind.TWO_KEYS: (
        "each key of the file names a stimulus (<columns|stimulus=NAME> names another), and each "
        "below it a rater"
    ),
    StepKind.IN_SOME_FILES: "columns that only some files of the folder have: {columns}",
    StepKind.NO_NAMES: (
        "the file names nothing: rows are {rows}, columns are {columns} (<wide|{other}> turns it)"
    ),
    StepKind.HUB_NOT_ASKED: "the hub could not be asked for a newer commit ({reason})",
    StepKind.COLUMNS_NOT_HELD: "columns that a table of ratings cannot hold: {columns:,}",
    StepKind.MAPPING_BESIDE: "read as the mapping {file} says",
    StepKind.WITHOUT_DESCRIPTION: (
        "scales and kinds of raters come from columns; attributes, taxonomy and history stood in "
        "a file .meta.json, which is not there"
    ),
    StepKind.AGGREGATED_BY_AUTHORS: "aggregated by the authors: {rule}",
    StepKind.STIMULUS_NOT_FIRST: (
        "column '{stimulus}' is the stimulus and '{other}' is not, as no rater has it twice"
    ),
    StepKind.FREE_TEXT: (
        "column '{column}' holds free answers, since no column holds values (<scale|text> "
        "confirms it, <columns|value=NAME> names values)"
    ),
    StepKind.STRENGTHS: (
        "raters have several rows about a stimulus, so '{label}' says what the numbers of "
        "'{value}' are about"
    ),
    StepKind.TIMES_COLUMN: (
        "column '{column}' says when a rater answered again, so answers are traces"
    ),
    StepKind.OCCASION_COLUMN: (
        "column '{column}' is the {role}, as it tells repeated answers of a rater apart"
    ),
    StepKind.LABEL_COLUMN: (
        "column '{column}' is the label, as raters have a row for each of its values"
    ),
    StepKind.ONLY_ANSWERS: (
        "only column '{column}' holds answers; if {others} do so too, give <wide|labels>, "
        "<scale|{column}=nominal:NAME,NAME>"
    ),
    StepKind.PRACTICE_COUNTS: (
        "{n:row} of practice by column '{column}' {n:counts} as answers; if not, call the others "
        "main, and give <columns|trial_kind={column}>"
    ),
    StepKind.TEXTS_RATED: "column '{column}' has one text for each stimulus, and is what was rated",
    StepKind.CATEGORY_AND_DIMENSIONS: (
        "a category and dimensions were asked for, one label each: {columns}"
    ),
    StepKind.VOTES: "{n:vote} of unknown raters: each counts as a rater of its own",
    StepKind.MODELS_BY_COLUMN: "raters are models, since they stand in column '{column}'",
    StepKind.ROWS_ARE_RATERS: "no column names {who}, so each row counts as a new one",
    StepKind.SIDES: "columns '{left}' and '{right}' name what was compared",
    StepKind.TURNS: (
        "each turn in column '{column}' is an item, as a judge compares a pair in several"
    ),
    StepKind.ASKED_BEFORE: "{n:answer} to a question asked before (see 'trial')",
    StepKind.SHOWN_BEFORE: (
        "a question without a picture or clip is about the one shown before it "
        "(<format|{format},stimulus=stimulus> rates what the trial itself showed)"
    ),
    StepKind.LARGEST_FACE: (
        "the largest of several faces counts: {n_left:,} left out ({keep} keeps them)"
    ),
    StepKind.NOT_OF_FACE: "{n:column} without ratings of the face",
    StepKind.SEPARATORS_JOINED: "texts that held the separator '|' were joined again: {n:,}",
    StepKind.QUOTES_REMOVED: "stray quotation marks were removed from column {column}: {n:,}",
    StepKind.MULTIPLIED: (
        "ratings of '{rater}', published from 0 to 1, were multiplied by {factor:g}: {n:,}"
    ),
    StepKind.NO_LABEL_NAMED: "{n:entry} named no emotion: {label} = 0, the others absent",
    StepKind.TASK_COLUMNS: (
        "columns of answers: {answers:,}; columns that describe tasks: {others:,}"
    ),
    StepKind.NUMBERED_QUESTIONS: (
        "questions are repeated, as '{question}2' repeats '{question}', and their number stands "
        "for what was shown (<format|{format},questions=[NAME]> names other questions)"
    ),
    StepKind.INSTANCE_FIELD: (
        "field '{field}' names what each instance is about (<format|{format},stimulus=NAME> "
        "names another)"
    ),
    StepKind.QUESTIONS_NAME_STIMULI: "stimuli are called as the words of the questions name them",
    StepKind.QUESTIONS_CROSS: (
        "the words of the questions name what was shown, and what was asked of it "
        "(<format|{format},rows=labels> takes questions as stimuli)"
    ),
    StepKind.SETS_IN_CELLS: (
        "cells of {columns} hold several choices, each yes or no (<separator|> keeps them)"
    ),
    StepKind.RATER_COLUMNS: "{columns:column} about the raters: {columns}",
    StepKind.AFFIXED_SCORES: (
        "columns called {affix} hold the scores of what the rest of the name says"
    ),
    StepKind.SHARES: "scores of each stimulus add up to 1, and are probabilities ({scale})",
    StepKind.DIVIDED: (
        "scores of each stimulus add up to {total:g}, as votes or percent do, and were divided "
        "by it (<models_scale|0-{total:g} interval> keeps the numbers)"
    ),
    StepKind.PEOPLE_LEFT_OUT: "{n:person} beside models left out",
    StepKind.QUESTION_DROPPED: "the one label of models, '{label}', is what people were asked",
    StepKind.QUESTION_TAKEN: "the answers of models are to people's one label, '{label}'",
    StepKind.WHOLE_STEPS: (
        "answers of people have steps of 1, since all are whole numbers, unlike those of models"
    ),
    StepKind.OPTION_NUMBERS: "'{question}': options are numbers, and were read as such",
    StepKind.FREE_ANSWERS: "'{question}': texts differ too much for categories, and are free text",
    StepKind.ATTRIBUTE_REPLACED: (
        "{name} of {n:{unit}} comes from the table given, not from the file"
    ),
    StepKind.ATTRIBUTE_VARIES: "{n:{unit}} {n:has} more than one {name}; the first is used",
}
"""The template of each kind of step: a sentence, or a function where parts depend on facts.

In a sentence ``{n:row}`` counts, ``{names}`` lists names, ``{names:is}`` agrees with their number,
and ``<name|value>`` names an option as the reader has to write it.
"""


class _Words(Formatter):
    """Puts facts into a sentence."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if isinstance(value, str | float) or format_spec in (",", ""):
            several = isinstance(value, tuple)
            listed = ", ".join if format_spec == "," else quoted
            return listed(value) if several else super().format_field(value, format_spec)
        n = len(value) if isinstance(value, tuple) else value
        if format_spec == "columns":
            return _columns(value)
        if format_spec in _AGREE:
            return _AGREE[format_spec] if n != 1 else format_spec
        return plural(n, format_spec, _MANY.get(format_spec, ""))


_AGREE = {"is": "are", "was": "were", "has": "have", "counts": "count"}
_MANY = {"stimulus": "stimuli", "person": "people", "entry": "entries", "category": "categories"}
_OPTION = re.compile(r"<(\w+)\|([^>]*)>")
_IN_WORDS = _Words()


def _option(name: str, value: str) -> str:
    if name == "columns":
        role, column = value.split("=", 1)
        return option(name, {role: column})
    return option(name, [value] if name == "missing_codes" else value)


def step_text(kind: StepKind, facts: Mapping[str, Any]) -> str:
    """Word a step of its facts.

    Raises
    ------
    TypeError, KeyError
        When a fact is missing, or there is one too many.
    """
    template = STEPS[kind]
    if callable(template):
        return template(**facts)
    if more := facts.keys() - facts_of(template):
        raise TypeError(f"got an unexpected fact {min(more)!r}")

    def named(found: re.Match[str]) -> str:
        # Facts may hold any signs, so that what is put in is not looked at again.
        words = _option(found[1], _IN_WORDS.vformat(found[2], (), facts))
        return words.replace("{", "{{").replace("}", "}}")

    return _IN_WORDS.vformat(_OPTION.sub(named, template), (), facts)


def facts_of(template: str) -> set[str]:
    """Name the facts that a sentence holds."""
    parsed = [part for part in _IN_WORDS.parse(template) if part[1]]
    return {str(name) for _, name, _, _ in parsed} | {
        inner for _, _, spec, _ in parsed if spec for inner in facts_of(spec)
    }


_MOST = 30
_FEW = 5
_LONGEST = 60


def _is(names: Names) -> str:
    return "is" if len(names) == 1 else "are"


def _step(template: Callable[..., str]) -> Callable[..., str]:
    STEPS[StepKind(template.__name__)] = template
    return template


def _columns(names: Names) -> str:
    return f"column{'' if len(names) == 1 else 's'} {quoted(names, _MOST)}"


def _were(n: float) -> str:
    return "was" if n == 1 else "were"


def _by(by: str) -> str:
    return f", as {by}" if by else ""


def missing_ratings(filled: Sequence[Mapping[str, Any]]) -> str:
    """Say what was done with missing ratings, for a paper."""
    if not filled:
        return "Missing ratings were not replaced by other values."
    ways = [
        f"taken as {one['value']:g}{_by(one['by'])} "
        f"({'up to ' if one['at_most'] else ''}{plural(one['n'], 'rating')})"
        for one in filled
    ]
    return f"Missing ratings were {joined(list(dict.fromkeys(ways)))}."


# -- steps: what was done to a table ------------------------------------------------------------


@_step
def filled(n: int, value: float, by: str = "", labels: Names = ()) -> str:
    where = f" (labels whose scale holds it: {', '.join(labels)})" if labels else ""
    return f"{plural(n, 'absent rating')} {_were(n)} filled with {value:g}{_by(by)}{where}"


@_step
def cells_filled(n: int, value: float, by: str = "") -> str:
    return f"{plural(n, 'empty cell')} {_were(n)} filled with {value:g}{_by(by)}"


@_step
def left_missing(published_zero: bool) -> str:
    published = " (0 as published)" if published_zero else ""
    return f"absent ratings stay missing, as asked{published}"


# -- steps: what values mean --------------------------------------------------------------------


@_step
def one_spelling(words: Names, categories: Names, differences: Names) -> str:
    pairs = [f"{word!r} is {own!r}" for word, own in zip(words, categories, strict=True)]
    ways = " or ".join(differences)
    return f"categories that differ only in {ways} were joined: {listing(pairs, _FEW)}"


@_step
def read_as_numbers(words: Names, numbers: Sequence[float]) -> str:
    pairs = [f"{word!r} as {number:g}" for word, number in zip(words, numbers, strict=True)]
    return f"words were read as numbers: {listing(pairs, _FEW)}"


@_step
def taxonomy_names(words: Names, labels: Names) -> str:
    pairs = [f"{word} is {own}" for word, own in zip(words, labels, strict=True)]
    return f"labels have another name in the taxonomy: {', '.join(pairs)}"


@_step
def ordered_words(words: Names) -> str:
    unordered = option("scale", "nominal:" + ",".join(words))
    return f"answers have an order, from {words[0]!r} to {words[-1]!r} ({unordered} drops it)"


@_step
def guessed_missing(columns: Names, codes: Sequence[float], names: Names, n: int) -> str:
    named = [f"{code:g} '{name}'" for code, name in zip(codes, names, strict=True)]
    return (
        f"values are missing by their names, or lie far outside ({listing(named, 8)}): "
        f"{plural(n, 'cell')} of {quoted(columns)}"
    )


@_step
def questions(labels: Names, texts: Names) -> str:
    asked = [
        f"'{label}': {shown(text, _LONGEST)}" for label, text in zip(labels, texts, strict=True)
    ]
    return f"questions of the file: {listing(asked, 8, '; ')}"


# -- steps: where answers stand in a file ----------------------------------------------------------


@_step
def above_header(lines: Names) -> str:
    texts = ", ".join(map(repr, lines[:3]))
    return f"{plural(len(lines), 'row')} above the header left out: {texts}"


@_step
def answers_in(key: str, joined: Names, left: Names) -> str:
    text = f"the answers stand in '{key}'"
    if joined:
        text += f", joined by id with {quoted(joined)}"
    return f"{text}; {quoted(left)} {_is(left)} left out" if left else text


@_step
def keys_name(what: str, of: str = "", role: str = "") -> str:
    means = {
        "rater": "a rater",
        "stimulus": "a stimulus, as raters are named below it",
        "row": "a row, those below it columns",
    }[what]
    return f"each key of {repr(of) if of else 'the file'} names {means}{_or_other(role)}"


def _or_other(role: str) -> str:
    return f" ({option('columns', {role: 'NAME'})} names another)" if role else ""


SHEETS = {
    "raters": "columns hold raters",
    "emotions": "sheets are called after emotions",
    "unnamed": "no column names the rater",
}
"""Why the name of a sheet is a label or a rater."""


@_step
def sheets_joined(
    sheets: Names, partial: Names = (), role: str = "", why: str = "", over_raters: bool = False
) -> str:
    but = f", but for {quoted(partial)}" if partial else ""
    spread = ", with a column for each rater" if over_raters else ""
    way = f"one {role} each{spread}, since {SHEETS[why]}" if role else "one below the other"
    return f"sheets {quoted(sheets)} have the same columns{but}, and were read as {way}"


@_step
def sheets_left(sheets: Names, left: Names, format: str, answers: bool) -> str:
    name = option("format", f"{format},sheet=NAME")
    which = f"sheets {quoted(sheets)} were" if len(sheets) > 1 else f"sheet {sheets[0]!r} was"
    text = f"{which} read, and not {quoted(left)}"
    if not answers:
        return f"{text} ({name} reads another)"
    return f"{text}, with other columns ({name} reads one; sheets of the same columns are joined)"


@_step
def from_hub(name: str, split: str, commit: str, licence: str = "", configuration: str = "") -> str:
    parts = [name, *([configuration] if configuration else []), f"split {split}"]
    terms = licence or "its card names none"
    where = ", ".join([*parts, f"commit {commit}"])
    return f"loaded from the Hugging Face hub: {where}; licence: {terms}"


# -- steps: what columns hold ----------------------------------------------------------------------


@_step
def rows_numbered(number: str, stimulus: str, texts: bool) -> str:
    what = "the texts" if texts else f"the values of '{stimulus}'"
    return f"column '{number}' numbers rows and {what} recur, so '{stimulus}' is the stimulus"


@_step
def intended(column: str, renamed: bool) -> str:
    name = " as 'intended'" if renamed else ""
    return (
        f"column '{column}' has one word for each stimulus, and describes it{name} "
        f"({option('columns', {'label': column})} takes it as the label)"
    )


@_step
def several_chosen(column: str, separator: str) -> str:
    return f"column '{column}' holds several chosen categories: {chosen_how(separator)}"


def chosen_how(separator: str) -> str:
    """Say how several categories of one answer stand in a column."""
    ways = {"list": "cells are lists", "row": "each has a row of its own"}
    return ways.get(separator, f"{separator!r} separates them")


@_step
def cells_hold_sets(separator: str) -> str:
    return (
        f"cells hold several categories: {chosen_how(separator)} "
        f"({option('separator', '')} takes each cell as one)"
    )


@_step
def answers_described(column: str, others: Names) -> str:
    return (
        f"column '{column}' holds the answers, and {quoted(others)} describe them "
        f"({option('columns', {'value': others[0]})} takes another)"
    )


@_step
def numbers_are_labels(
    columns: Names,
    stimulus: str = "",
    other: str = "",
    described: Names = (),
    varying: Names = (),
) -> str:
    text = f"columns of numbers hold ratings, one label each: {quoted(columns)}"
    if other:
        text += f"; column '{stimulus}' is the stimulus and '{other}' is not"
    if described:
        verb = "describes" if len(described) == 1 else "describe"
        text += f"; {quoted(described)} {verb}, as each rater or stimulus has one value"
    if varying:
        verb = "varies" if len(varying) == 1 else "vary"
        text += f"; {quoted(varying)} {verb} as answers do, and describe them here"
    return text


@_step
def wide_kind(across: str, why: str, column: str = "") -> str:
    because = {
        "survey": f"column '{column}' says that each row is the sheet of one rater",
        "no rater": "no column names the rater",
        "rater": f"column '{column}' names the rater",
        "taxonomy": "the columns are labels of a taxonomy",
        "rater alone": f"column '{column}' names the rater and none the stimulus",
    }
    return f"read as one column per {across}: {because[why]}"


@_step
def row_numbers(column: str) -> str:
    which = f"'{column}'" if column.strip() else "has no name and"
    return f"the first column {which} only numbers the rows, and was left out"


@_step
def names_cross(across: str, names: Names, labels: Names) -> str:
    ones = plural(len(names), across, "stimuli" if across == "stimulus" else "")
    return (
        f"names of columns cross {ones} ({quoted(names, _MOST)}) with "
        f"{plural(len(labels), 'label')} ({quoted(labels, _MOST)})"
    )


@_step
def attribute_columns(columns: Names, across: str) -> str:
    if len(columns) == 1:
        return f"column {quoted(columns)} is an attribute, not a {across}"
    return f"{_columns(columns)} are attributes, not {_many(across)}"


@_step
def rated_columns(columns: Names, across: str) -> str:
    if len(columns) == 1:
        return f"one column is a {across}: {quoted(columns)}"
    return f"{len(columns):,} columns are {_many(across)}: {quoted(columns, _MOST)}"


def _many(across: str) -> str:
    return {"stimulus": "stimuli", "category": "categories"}.get(across, f"{across}s")


@_step
def role_taken(column: str, role: str) -> str:
    which = f"column '{column}'" if column.strip() else "the column without a name"
    return f"{which} is the {role}"


@_step
def models_by_name(names: Names) -> str:
    what = "is a model" if len(names) == 1 else "are models"
    return f"{quoted(names)} {what}, by name ({option('raters', 'FILE')} says otherwise)"


RULES = {
    "row per answer": "no two rows have the same rater, stimulus and label",
    "names that cross": "names of columns have two parts that cross",
    "rows of nobody": "one column names what comes back, and none who answered",
    "one rater": "each row is about something else, and none says who answered",
    "column per rater": "columns are called after raters, or share words",
    "column per stimulus": "each row is a sheet, and columns are called alike",
    "counts of votes": "columns of counts add up to the same, or to another one",
}
"""What tells that a rule of reading holds."""


@_step
def shape(holds: str, how: str, rule: str, other: str, varying: Names = ()) -> str:
    left = (
        f"; {quoted(varying)} also {'varies' if len(varying) == 1 else 'vary'}" if varying else ""
    )
    return f"read as {holds} ({how}), since {RULES[rule]}{left} ({other} reads it otherwise)"


# -- steps: what formats of tools need ------------------------------------------------------------


@_step
def score_used(score: str, unused: Names) -> str:
    rest = f"; {joined(map(repr, unused))} not used as answers" if unused else ""
    return f"the value is the score {score!r}{rest}"


@_step
def matrix_rows(rows: str, several: bool, format: str = "") -> str:
    other = "stimuli" if rows == "labels" else "labels"
    beside = f", and questions are {other}" if several or rows == "labels" else ""
    turned = option("format", f"{format},rows={other}") if format else ""
    return f"rows of matrices are {rows}{beside}{f' ({turned} turns them)' if turned else ''}"


@_step
def survey_columns(n: int, n_stimuli: int, n_labels: int, stimulus: str = "") -> str:
    about = f"stimuli in '{stimulus}'" if stimulus else plural(n_stimuli, "stimulus", "stimuli")
    labels = f", {plural(n_labels, 'label')}" if n_labels else ""
    return f"{plural(n, 'column')} with answers: {about}{labels}"


@_step
def unused_columns(reasons: Names, counts: Sequence[int]) -> str:
    each = ", ".join(f"{n} {reason}" for reason, n in zip(reasons, counts, strict=True))
    return f"{plural(sum(counts), 'column')} without ratings: {each}"


# -- steps: models beside people -------------------------------------------------------------------


@_step
def model_column(column: str, why: str, beside: str = "") -> str:
    because = {
        "words": "it alone holds words of people",
        "fractions": f"column '{beside}' holds fractions, and each stimulus has one row",
    }
    return f"column '{column}' is the model's answer: {because[why]}"


@_step
def score_columns(columns: Names, left: Names, categories: bool) -> str:
    of = "categories" if categories else "labels"
    verb = "describes" if len(left) == 1 else "describe"
    other = option("scale", "nominal:NAME,NAME")
    way = f" ({other} declares the classes of people)" if categories else ""
    return (
        f"columns {quoted(columns)} are scores, as people's {of} are among them; {quoted(left)} "
        f"{verb} the answer{way}"
    )


@_step
def labels_given(words: Names, labels: Names) -> str:
    return f"labels of models as given: {_pairs(words, labels)}"


@_step
def labels_matched(words: Names, labels: Names, given: str) -> str:
    return f"labels of models mean those of people: {_pairs(words, labels)} ({given} says so)"


def _pairs(words: Names, labels: Names) -> str:
    pairs = zip(words, labels, strict=True)
    return ", ".join(f"'{own}' is '{people}'" for own, people in pairs)


@_step
def stimuli_joined(by: str, n: int, of: int, model: str, people: str) -> str:
    way = {"name": "name without folder and suffix", "text": "text"}[by]
    return (
        f"stimuli are joined with people's by {way}: {n:,} of {of:,}, such as {model!r} with "
        f"{people!r} (the same names in both files need no guess)"
    )


@_step
def model_scale(way: str, scale: str, labels: Names = ()) -> str:
    ways = {
        "own": "scale inferred from the answers of each model",
        "people": "the scale of people",
        "bounds": "the bounds of people's scale, with answers between its steps",
    }
    where = f": {', '.join(labels)}" if labels else ""
    return f"answers of models without a declared scale: {ways[way]} ({scale}){where}"


@_step
def scale_mapped(
    whose: str, target: str, guess: str = "", ends: Sequence[float] = (), rounding: str = ""
) -> str:
    parts = [guess] if guess else []
    if ends:
        parts.append("{:g}–{:g} mapped to {:g}–{:g}, linearly".format(*ends))
    if rounding:
        parts.append(f"{rounding} to steps")
    return f"answers of {whose}: {'; '.join(parts) or 'on the scale of people'} ({target})"


# -- what a reader of results should know of a table --------------------------------------------


def answers_are_traces() -> str:
    averaged = option("averaged()", cli="--averaged")
    traces = option("traces", cli="affectlab reliability traces")
    return (
        "Answers are traces: raters answered a question at several times (column 'at'). "
        f"{traces} judges them; {averaged} takes their means."
    )


def answered_as_people() -> str:
    verb = option("disagreement_metrics", cli="affectlab evaluate soft-labels --show lewidi")
    return f"Models answer as people (column 'answers_as'), as {verb} judges them."


def repeated_answers(n: int, later: int, *, sessions: bool) -> str:
    averaged = option("averaged()", cli="--averaged")
    components = option("variance_components", cli="affectlab reliability components")
    facet = f", and {components} takes sessions as a facet" if sessions else ""
    return (
        f"{later:,} of {n:,} answers repeat a question to a rater: the first counts; "
        f"{averaged} takes the mean of all{facet}."
    )


def one_stimulus() -> str:
    return "There is one stimulus: most measures of agreement are not defined."


def one_value(answer: str, *, fill: bool) -> str:
    zero = option("absent", "zero")
    hint = f"; if a label left out means 0, fill those in ({zero})" if fill else ""
    return f"All answers are {answer}: agreement beyond chance is not defined{hint}."


def filled_as_published(text: str) -> str:
    missing = option("absent", "missing")
    return f"{sentence_case(text)} ({missing} leaves them missing)."


def set_aside(n: int, unit: str) -> str:
    return f"{plural(n, unit)} of the source {_were(n)} set aside; the summary says why."


def silent(names: Names, unit: str) -> str:
    counted = plural(len(names), unit, "stimuli" if unit == "stimulus" else "")
    verb = "has" if len(names) == 1 else "have"
    return (
        f"{counted} of the source {verb} no answer that can be used and {_is(names)} not counted: "
        f"{_some(names, 8)}."
    )


def _some(names: Names, most: int) -> str:
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")


def scales_inferred(n: int, scales: str, declare: str) -> str:
    noun = "scale" if n == 1 else "scales"
    return (
        f"The {noun} of {plural(n, 'label')} {_were(n)} inferred from the answers ({scales}): "
        f"declare the scale of each label ({option('scale', declare)})."
    )


def no_order(words: str) -> str:
    return (
        "The categories count as unordered; if they have an order, declare them from low to high "
        f"({option('scale', words)})."
    )


def categories_met(names: str) -> str:
    return (
        "The categories are those among the answers; declare them if some were never chosen "
        f"({option('scale', names)})."
    )


def scale_inferred(scale: str, declare: str, *, binary: bool = False) -> str:
    """Say how a scale was inferred (empty: it was not), and what to declare (empty: nothing)."""
    text = (
        f"The scale was inferred from the answers as {scale}"
        if scale
        else "The scale is not known, and the answers do not tell it"
    )
    if binary:
        return f"{text}; declare it ({option('scale', 'binary')}), or a longer one if asked."
    example = f", for example with {option('scale', declare)}" if declare else ""
    return f"{text}; weighted agreement depends on it, so declare it{example}."


def ends_differ(highest: Mapping[int, str], declare: str) -> str:
    ends = ", ".join(f"{name!r} at {high}" for high, name in highest.items())
    return (
        f"The answers to labels end differently ({ends}), and share one scale here; declare each "
        f"scale if they differ ({option('scale', declare)})."
    )


def likely_codes(
    n: int, codes: Sequence[float], low: float, high: float, labels: Names = ()
) -> str:
    named = " or ".join(f"{code:g}" for code in codes)
    to = f" to {quoted(labels)}" if labels else ""
    given = option("missing_codes", [f"{code:g}" for code in codes])
    verb = "is" if n == 1 else "are"
    return (
        f"{plural(n, 'answer')}{to} {verb} {named} and all others lie between {low:g} and "
        f"{high:g}: if {named} stands for a missing answer, say so when reading ({given})."
    )


def no_human(*, several: bool) -> str:
    among = ": agreement here is agreement among models" if several else ""
    return f"No rater is human{among}."


def aggregated(names: Names, *, alone: bool) -> str:
    if alone:
        return (
            f"The answers are already aggregated (rater {_some(names, 3)}): agreement between "
            "people cannot be computed."
        )
    return (
        f"The answers of rater {_some(names, 3)} are aggregated from those of several people; "
        "leave them out where raters are counted or compared."
    )


def one_person() -> str:
    return "There is one human rater: agreement between people is not defined."


def one_person_each(lone: int, of: int) -> str:
    if lone == of:
        return "Every stimulus has one human rater: agreement between people is not defined."
    verb = "has" if lone == 1 else "have"
    return (
        f"{lone:,} of {of:,} stimuli {verb} one human rater: agreement between people rests on "
        "the others."
    )


def simulated(n: int, of: int) -> str:
    return f"{n:,} of {of:,} raters {'is' if n == 1 else 'are'} simulated."


def kinds_elsewhere(column: str) -> str:
    return (
        f"The column {column!r} of the raters speaks of models, but kinds are read from "
        "'rater_kind' alone: all raters count as people unless it gets that name."
    )


def similar_names(unit: str, pair: tuple[str, str], n: int, difference: str) -> str:
    more = f" (and {n - 1:,} more such)" if n > 1 else ""
    many = {"category": "categories", "stimulus": "stimuli"}.get(unit, f"{unit}s")
    way = difference or "how a number is written"
    return f"The {many} {pair[0]!r} and {pair[1]!r}{more} differ in {way} only: are they one?"


def unclear(n: int, of: int) -> str:
    return (
        f"{n:,} of {of:,} values are missing because a rater found the stimulus unclear; "
        "statistics leave them out."
    )


def failed(counts: Mapping[str, int], of: int) -> str:
    parts = ", ".join(f"{n:,} {outcome}" for outcome, n in counts.items())
    return (
        f"{sum(counts.values()):,} of {of:,} answers cannot be used ({parts}); statistics leave "
        "them out."
    )


# -- what columns are taken for ------------------------------------------------------------------


def one_column_per(how: str, across: str) -> str:
    """Say how it is known that there is a column for each of something."""
    return f"{how}: one column per {across}"


ROLES = {
    "stimulus": "the stimulus",
    "rater": "the rater",
    "label": "the label",
    "value": "the answer",
    "text": "a text",
    "session": "the session",
    "trial": "the trial",
    "trial_kind": "the kind of trial",
    "outcome": "the outcome",
    "rt_ms": "the response time",
    "at": "the time",
    "answers_as": "as whom a model answers",
}
"""What a column is that has a role."""

TAKEN = {
    "words": "the answer, in words",
    "rated text": "the text that was rated",
    "unused": "not used",
    "number": "tells rows apart",
    "unknown": "not known",
    "of rater": "describes the rater",
    "of stimulus": "describes the stimulus",
    "of answer": "describes the answer",
    "needed": "needed to understand an answer",
}
"""What a column is taken for that has no role."""

WHY = {
    "user": "you say so",
    "name": "its name",
    "nameless": "it has no name",
    "stimulus": "it has one value for each stimulus",
    "each": "it has one value for each",
    "answers": "it differs between answers",
    "format": "it is no part of the format",
    "rows": "it only tells rows apart",
    "intended": "each stimulus has one, and answers are such words",
    "text": "no column holds values, and its texts differ within a stimulus",
    "no value": "no column is called like one of values",
}
"""Why a column is taken for what it is."""

CAPTIONS = {
    "columns": "What each column is taken for.",
    "readings": "Other readings that use every row.",
    "scales": "Scale of each label.",
    "not_used": "What was not used.",
    "summary": "What the ratings hold.",
    "descriptives": "Answers by label.",
}

COMMENTS = {
    "separator": "What separates several chosen categories in a cell.",
    "attributes": "Columns that describe the rater or the stimulus.",
    "unused": "Columns to leave out.",
    "missing_codes": 'What stands for a missing answer, beside empty cells and NA: ["-99"].',
    "scale": "The scale of each label; write down what was asked.",
}
"""Comments of a mapping."""


def comment_on_labels(columns: Names) -> str:
    return (
        "What there is a column for each of. All columns hold ratings that are not named below; "
        f"so do {shown(', '.join(columns), 200)}."
    )


def comment_on_columns() -> str:
    return f"Which column is what: {', '.join(ROLES)}."


def head_of_mapping(name: str) -> str:
    return (
        f"What the columns of {name} hold, as affectlab understands them. Change what is wrong, "
        f"and give this file with {option('mapping', 'FILE')}, or keep it beside the data under "
        "their name with .mapping.toml added."
    )


def one_of(across: str) -> str:
    return f"ratings of one {across}"


def read_as(source: str, format: str, title: str) -> str:
    return f"{source} is read as {format}: {title}."


def holds(n: int, raters: int, stimuli: int) -> str:
    about = plural(stimuli, "stimulus", "stimuli")
    return f"It holds {plural(n, 'answer')} of {plural(raters, 'rater')} about {about}."


def not_readable(problem: str | None) -> str:
    return f"As it stands it cannot be read: {problem}"


def column_shape(
    kind: str, n: int, bounds: Sequence[float] = (), *, owner: str = "", own: bool = False
) -> str:
    """Say what a column holds by its values alone; `own`: each row has another value."""
    if kind == "none":
        return "it is empty"
    text = f"{n:,} {kind}" if n > 1 else "the same in all rows"
    if bounds:
        text += " from {:g} to {:g}".format(*bounds)
    if own:
        return f"{text}, another in each row"
    return f"{text}, one for each '{owner}'" if owner else text


def other_readings(n: int, *, readable: bool) -> str:
    if readable:
        return "Read another way, it would hold:"
    if n > 1:
        return "These read every row, and nothing in the file decides between them:"
    return "This reads the file:"


def two_people(rater: str, about: str, values: Names, column: str) -> str:
    return (
        f"rater {rater!r} has {about} {' and '.join(values)}, and column '{column}' tells them "
        f"apart; expected one {about} of each rater"
    )


ABOUT = {
    "stimulus": "name of what was judged",
    "rater": "who answered",
    "rater_kind": "human, simulated, model or baseline",
    "label": "what the value is about",
    "value": "the answer, on the scale of its label; categories stand there by name",
    "text": "what was written, or the text that was judged",
    "session": "session of the rater",
    "trial": "position of the trial in its session",
    "trial_kind": "main; golden, with a known answer; repeat, asked again; or training",
    "outcome": "ok, or why there is no value",
    "rt_ms": "time from seeing to answering, in milliseconds",
    "at": "when the answer came",
    "answers_as": "the person as whom a model answers",
    "scale": "scale of the answers about the label",
}
"""What the columns of a table of ratings hold, in phrases."""
