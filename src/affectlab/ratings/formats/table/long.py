"""Tables with one row per answer: what each column is taken for, and the columns of the ratings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import quoted
from affectlab.ratings.attributes import PERSONAL, rated_texts
from affectlab.ratings.build import MISSING, is_number, words_of
from affectlab.ratings.files import Columns, commas_step, with_points
from affectlab.ratings.formats.format import Contents, Layout
from affectlab.ratings.formats.table.chosen import (
    ROWS,
    choices,
    find_separator,
    none_chosen,
    several_rows,
)
from affectlab.ratings.formats.table.columns import (
    DIMENSIONS,
    NoColumn,
    find_chosen,
    find_columns,
    find_one,
    find_rows,
    folded_name,
    is_no_label,
    words_in,
)
from affectlab.ratings.formats.table.lexicon import meant
from affectlab.ratings.formats.table.repeats import find_repeats, find_stimulus
from affectlab.ratings.options import ReadOptions, Wide
from affectlab.ratings.scale import Scale, folded
from affectlab.ratings.schema import PRACTICE, ROW_COLUMNS, StepKind
from affectlab.ratings.steps import History, Step, guess, step
from affectlab.ratings.wording import WHY
from affectlab.taxonomy import list_taxonomies, load_taxonomy

_NUMBERS = ("value", "rt_ms")
_MOST_CATEGORIES = 30
_OF_ONE_ANSWER = ("stimulus", "rater", "session", "trial", "trial_kind")
_ABOUT_THE_ANSWER = {"confidence"}
"""Dimensions that say something of a chosen category, and nothing of the stimulus."""
_MOST_AGREED, _SEVERAL_ROWS = 3, 3
_STRENGTHS = {"intensity", "strength"}
_CHANCES = {"confidence", "p", "prob", "proba", "probability"}
"""Names of a number that may belong to one of several categories, or to a whole answer."""
_STRETCHES = {"onset", "offset", "start", "end", "begin", "stop"}
"""Words in names of columns that say from when to when something was seen in a film."""
_POINT = re.compile(r"[(\[]\s*-?[\d.]+\s*[,;]\s*-?[\d.]+\s*[)\]]")
_WEIGHED = re.compile(r"[^:=]*[^:=\d\s][^:=]*[:=]\s*-?[\d.]+\s*")
_PHASES = {"block", "block_type", "part", "phase", "stage", "trial_type", "type"}
"""Names of columns that may tell trials of practice from others."""
_PRACTICE = {*PRACTICE, "training"}
_YES = ("1", "1.0", "true", "yes", "y")
_NUMBERED = re.compile(
    r"(?:r|rater|annotator|coder|judge|worker|participant|subject|sub|s|p|vp|observer|user|person)"
    r"[ _.-]?[0-9]+",
    re.IGNORECASE,
)
"""Columns that are called after raters: ``R1``, ``rater_02``."""


@dataclass(frozen=True, kw_only=True)
class LongLayout(Layout):
    """What the columns of a table with one row per answer are taken for."""

    separator: str | None = None
    """What parts several chosen categories; None: each answer is one."""
    free_text: bool = False
    """Whether texts are the answers although nobody said so."""
    steps: History = ()
    """What was decided without the user, for the history."""


def describe_long(
    columns: Mapping[str, pl.Series],
    options: ReadOptions,
    source: str,
    delimiter: str | None = None,
) -> LongLayout:
    """Say what each column is taken for: as the user says, by its name, and by its values.

    Raises
    ------
    InputError
        When a column that is needed is not found, or nothing shows which of two it is.
    """
    roles = _roles(columns, options, source, delimiter)
    named = options.columns or {}
    why = {
        column: WHY["user" if named.get(role) == column else "name"]
        for role, column in roles.items()
    }
    steps = _giving_way(roles["stimulus"], list(columns), named)
    free_text = False
    of_texts = any(scale.kind == "text" for scale in options.scale.all)
    label = roles.get("label", "")
    roles, intended = _without_intended(columns, roles, named)
    steps += intended
    if intended:
        why[label] = WHY["intended"]
    told = {"text", "label"} & named.keys() or of_texts
    by_name = find_one("value", list(columns)) or named.get("value")
    if of_texts and by_name is None and {"text", "value"} <= roles.keys() and "label" not in roles:
        # Categories beside texts that are the answers say what the texts are about.
        roles["label"] = roles.pop("value")
    if not told and by_name is None:
        roles, free_text = _answers(columns, roles, source)
        if free_text:
            steps.append(guess(StepKind.FREE_TEXT, column=roles["text"]))
            why[roles["text"]] = WHY["text"]
        else:
            why[roles["value"]] = WHY["no value"]
    roles, rated = _rated(columns, roles, named)
    if rated:
        steps.append(rated)
        why[roles["stimulus"]] = rated.text
    if not {"session", "trial"} & roles.keys() and "value" in roles:
        keys = [roles[role] for role in (*_OF_ONE_ANSWER, "label") if role in roles]
        repeats = find_repeats(
            columns,
            keys,
            roles.values(),
            asked_in_rows="label" not in roles and by_name is not None,
            sessions=by_name is not None,
        )
        if repeats is not None:
            role, name, again = repeats
            roles[role], why[name] = name, again.text
            steps.append(again)
    if not told and by_name is None and options.separator is None:
        roles, strong = _strengths(columns, roles)
        if strong:
            steps.append(strong)
            why[roles["label"]] = why[roles["value"]] = strong.text
    separator = options.separator
    if "value" in roles and separator is None and "label" not in roles and not options.scale:
        separator = _separator(columns, roles)
        _check_chosen(columns, roles, separator, source)
        if separator is not None:
            facts = {"column": roles["value"], "separator": separator}
            certain = separator in ("list", ";", "|")
            steps.append(step(StepKind.SEVERAL_CHOSEN, guessed=not certain, **facts))
            why[roles["value"]] = steps[-1].text
    steps += _practice(columns, roles)
    if separator is None and "value" in roles:
        if by_name is None:
            steps += _left_over(columns, roles)
        elif "value" not in named:
            steps += _other_values(columns, roles)
    return LongLayout(
        roles,
        why=why,
        stimuli=(label,) if intended else (),
        separator=separator or None,
        free_text=free_text,
        steps=tuple(steps),
    )


def _giving_way(stimulus: str, header: Sequence[str], named: Mapping[str, str]) -> list[Step]:
    """Say where the column of stimuli is not the one that its name alone would tell."""
    first = find_one("stimulus", header, taken=named.values())
    if "stimulus" in named or first in (None, stimulus):
        return []
    return [guess(StepKind.STIMULUS_NOT_FIRST, stimulus=stimulus, other=first)]


def _strengths(
    columns: Mapping[str, pl.Series], roles: dict[str, str]
) -> tuple[dict[str, str], Step | None]:
    """Take how strong a category is as the answer, where raters have a row for each of several."""
    if "value" not in roles or "label" in roles:
        return roles, None
    keys = [columns[roles[role]].cast(pl.String) for role in _OF_ONE_ANSWER if role in roles]
    strong = [
        name
        for name, column in columns.items()
        if name not in roles.values()
        and folded_name(name) in _STRENGTHS | _CHANCES
        and is_of_numbers(column)
        and (folded_name(name) in _STRENGTHS or _differs(column, *keys))
    ]
    if len(strong) != 1 or _separator(columns, roles) != ROWS:
        return roles, None
    changed = {"label": roles["value"], "value": strong[0]}
    return {**roles, **changed}, guess(StepKind.STRENGTHS, **changed)


def _without_intended(
    columns: Mapping[str, pl.Series], roles: dict[str, str], named: Mapping[str, str]
) -> tuple[dict[str, str], list[Step]]:
    """Take what a stimulus was meant to show out of the labels, where answers say it, too.

    It is where each stimulus has one, and answers are words among which these words are.
    """
    if not {"stimulus", "label", "value"} <= roles.keys() or {"label"} & named.keys():
        return roles, []
    label, value = columns[roles["label"]], columns[roles["value"]]
    if not (_is_of_words(label) and _is_of_words(value)):
        return roles, []
    asked, answered = (
        set(map(folded, one.drop_nulls().cast(pl.String).unique())) - MISSING
        for one in (label, value)
    )
    pairs = pl.DataFrame([columns[roles["stimulus"]].alias("s"), label.alias("l")])
    per_stimulus = pairs.group_by("s").agg(pl.col("l").n_unique())["l"]
    if len(asked) < 2 or not asked & answered or (per_stimulus > 1).any():
        return roles, []
    renamed = {"label", "intended"} & {*columns} == {"label"}
    done = guess(StepKind.INTENDED, column=roles["label"], renamed=renamed)
    return {role: name for role, name in roles.items() if role != "label"}, [done]


def _left_over(columns: Mapping[str, pl.Series], roles: Mapping[str, str]) -> list[Step]:
    """Say which columns look like ratings beside the chosen category, and are not taken as such."""
    others = [
        name
        for name, column in columns.items()
        if name not in roles.values()
        and (
            (folded_name(name) in DIMENSIONS and is_of_numbers(column))
            or (find_chosen([name]) and _differs(column, columns[roles["stimulus"]]))
        )
    ]
    return [guess(StepKind.ONLY_ANSWERS, column=roles["value"], others=others)] if others else []


def _other_values(columns: Mapping[str, pl.Series], roles: Mapping[str, str]) -> list[Step]:
    """Say which other columns are called like answers."""
    others = [
        name
        for name in columns
        if name not in roles.values()
        and find_one("value", [name.strip().rstrip("0123456789").rstrip(" _.-")])
    ]
    if not others:
        return []
    return [guess(StepKind.ANSWERS_DESCRIBED, column=roles["value"], others=others)]


def _check_chosen(
    columns: Mapping[str, pl.Series], roles: Mapping[str, str], separator: str | None, source: str
) -> None:
    """Refuse cells of two numbers, categories with numbers behind, and stretches of films."""
    name = roles["value"]
    if not _is_of_words(columns[name]):
        return
    words = words_of(columns[name].unique()).to_list()
    if words and all(map(_POINT.fullmatch, words)):
        raise InputError(
            f"{source}: a cell of column '{name}' holds two numbers, such as {words[0]!r}; "
            "expected a column for each of them"
        )
    parts = [part for word in words for part in re.split("[;|,]", word)]
    if len(parts) > len(words) and all(map(_WEIGHED.fullmatch, parts)):
        raise InputError(
            f"{source}: a cell of column '{name}' holds categories and a number of each, such as "
            f"{words[0]!r}; expected a column for each category, or a row"
        )
    stretches = [
        other
        for other, column in columns.items()
        if _STRETCHES & {*words_in(other)} and is_of_numbers(column)
    ]
    if separator == ROWS and len(stretches) > 1:
        raise InputError(
            f"{source}: rows of a rater are about stretches of a stimulus ({quoted(stretches)}); "
            "expected a name for each stretch in the column of the stimulus"
        )


def _practice(columns: Mapping[str, pl.Series], roles: Mapping[str, str]) -> list[Step]:
    """Say which column tells trials of practice from others, and is not taken to do so."""
    for name, column in columns.items():
        if "trial_kind" in roles or name in roles.values():
            continue
        flag = bool(_PRACTICE & {*words_in(name)})
        if not flag and folded_name(name) not in _PHASES:
            continue
        words = column.cast(pl.String).str.strip_chars().str.to_lowercase()
        count = int(words.is_in(_YES if flag else [*_PRACTICE]).sum())
        if 0 < count < len(words):
            return [guess(StepKind.PRACTICE_COUNTS, n=count, column=name)]
    return []


def _differs(column: pl.Series, *keys: pl.Series) -> bool:
    """Whether a column has several values for a stimulus, or for whatever the keys are."""
    named = [key.alias(f"\0{place}") for place, key in enumerate(keys)]
    table = pl.DataFrame([*named, column.alias("c")]).drop_nulls()
    by = [key.name for key in named]
    return bool((table.group_by(by).agg(pl.col("c").n_unique())["c"] > 1).any())


def _describing(
    columns: Mapping[str, pl.Series], names: Sequence[str], stimulus: str, rater: str
) -> list[str]:
    """Find the columns of numbers that belong to raters or to stimuli: each has one of its own.

    Raters may agree about all stimuli on two or three levels, and do not on more of them. What is
    called after a dimension or a label of a taxonomy is rated.
    """
    known = [load_taxonomy(name) for name in list_taxonomies()]
    free = [
        name
        for name in names
        if folded_name(name) not in DIMENSIONS and not any(name in one for one in known)
    ]
    of_raters, of_stimuli = (_of_each(columns, free, key) for key in (rater, stimulus))
    distinct = {name: columns[name].drop_nulls().n_unique() for name in (*of_raters, *of_stimuli)}
    return [
        name
        for name in free
        if (name in of_raters and distinct[name] > 1)
        or (name in of_stimuli and distinct[name] > _MOST_AGREED)
    ]


def _of_each(columns: Mapping[str, pl.Series], names: Sequence[str], key: str) -> list[str]:
    """Columns of which nearly each of several of these has several rows, and all of one value."""
    table = pl.DataFrame([columns[key].alias("\0"), *(columns[name].alias(name) for name in names)])
    of = pl.col(names)
    values = (
        table.drop_nulls("\0")
        .group_by("\0")
        .agg(of.min().name.suffix("\0low"), of.max().name.suffix("\0high"), of.count())
    )
    return [
        name
        for name in names
        if values.height > 1
        and int((values[name] >= _SEVERAL_ROWS).sum()) >= 0.8 * values.height
        and (values[f"{name}\0low"] == values[f"{name}\0high"]).all()
    ]


def _roles(
    columns: Mapping[str, pl.Series], options: ReadOptions, source: str, delimiter: str | None
) -> dict[str, str]:
    header = list(columns)
    try:
        named = dict(options.columns or {})
        stimulus = None if "stimulus" in named else find_stimulus(columns, named.values())
        told = named if stimulus is None else {"stimulus": stimulus, **named}
        found = find_columns(header, told, where=source, delimiter=delimiter)
    except NoColumn as error:
        deviations = {"sd", "std", "stdev"}
        if not any(deviations & {*words_in(re.sub(r"[A-Z]+\d+", "", name))} for name in header):
            # Questionnaires number variables: SD01.
            raise
        raise error.because(
            "it seems to hold means and standard deviations, where the answers of single raters "
            "are needed"
        ) from None
    if "text" in found and "value" not in found and _asks_for_values(options):
        # Without values a column of texts is taken as the answers; here it cannot be.
        raise NoColumn(source, "value", header)
    return found


def _answers(
    columns: Mapping[str, pl.Series], roles: dict[str, str], source: str
) -> tuple[dict[str, str], bool]:
    """Say whether categories or texts are the answers, and whether the latter is a guess.

    Texts are where raters wrote different ones about a stimulus, or each stimulus has one rater.
    """
    if "text" not in roles:
        return roles, False
    texts = [columns[roles[role]].cast(pl.String) for role in ("stimulus", "rater", "text")]
    table = pl.DataFrame(
        [one.alias(name) for one, name in zip(texts, "srt", strict=True)]
    ).drop_nulls()
    per_stimulus = table.group_by("s").agg(pl.col("t").n_unique(), pl.col("r").n_unique())
    differ = bool((per_stimulus["t"] > 1).any())
    shared = bool((per_stimulus["r"] > 1).any())
    if "value" in roles:
        # A column of labels, which may be questions that everybody was asked.
        label = columns[roles["value"]].cast(pl.String).alias("l")
        asked = pl.DataFrame([*(t.alias(n) for t, n in zip(texts, "srt", strict=True)), label])
        sets = asked.group_by("s", "r").agg(pl.col("l").unique().sort().str.join("\0"), pl.len())
        crossed = sets["l"].n_unique() == 1 and (sets["len"] > 1).all() and len(sets) > 1
        if not (differ and crossed):
            return roles, False
        others = {role: column for role, column in roles.items() if role != "value"}
        return {**others, "label": roles["value"]}, True
    if shared and not differ:
        raise NoColumn(source, "value", list(columns))
    return roles, True


def _rated(
    columns: Mapping[str, pl.Series], roles: dict[str, str], named: Mapping[str, str]
) -> tuple[dict[str, str], Step | None]:
    """Take what comes back as the stimulus where the identifier numbers the rows.

    It is the text, or the one column of words of which each rater has no value twice.
    """
    if "value" not in roles or {"stimulus", "text"} & named.keys():
        return roles, None
    numbering = folded_name(roles["stimulus"]) == "id" and "label" not in roles
    stimulus = columns[roles["stimulus"]]
    if not (numbering or "text" in roles) or stimulus.n_unique() < len(stimulus):
        return roles, None
    if "text" in roles:
        back = [roles["text"]]
    else:
        rater = columns[roles["rater"]].cast(pl.String).alias("r")
        if rater.n_unique() == len(rater):
            return roles, None
        words = (name for name in columns if name not in roles.values())
        back = [
            name
            for name in words
            if _is_of_words(columns[name])
            and columns[name].null_count() == 0
            and not pl.DataFrame([rater, columns[name].alias("c")]).is_duplicated().any()
        ]
    if len(back) != 1:
        return roles, None
    given = columns[back[0]].drop_nulls()
    if given.n_unique() > 0.9 * len(given):
        return roles, None
    of_texts = "text" in roles
    done = guess(StepKind.ROWS_NUMBERED, number=roles["stimulus"], stimulus=back[0], texts=of_texts)
    others = {role: column for role, column in roles.items() if role not in ("stimulus", "text")}
    return {"stimulus": back[0], **others}, done


def _separator(columns: Mapping[str, pl.Series], roles: Mapping[str, str]) -> str | None:
    value = columns[roles["value"]]
    found = find_separator(value)
    if found is not None or not _is_of_words(value):
        return found
    keys = [roles[role] for role in _OF_ONE_ANSWER if role in roles]
    return ROWS if several_rows(columns, roles["value"], keys) else None


def _is_of_words(column: pl.Series) -> bool:
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return False
    return not any(map(is_number, words_of(column.unique())))


def _asks_for_values(options: ReadOptions) -> bool:
    """Whether a scale is declared that texts cannot be on."""
    return any(scale.kind != "text" for scale in options.scale.all)


def read_long(
    given: Columns,
    layout: LongLayout,
    options: ReadOptions,
    source: str,
    *,
    decimal_commas: bool,
) -> Contents:
    """Give columns the names of their roles, and chosen categories a row for each category."""
    columns = _renamed(given.columns, layout.roles, source)
    columns = blanked(columns, ("value", "text"), options.missing_codes)
    texts, steps = _rated_texts(columns, options)
    if decimal_commas:
        steps += _read_commas(columns)
    contents = Contents(columns, given.locate, stimuli=texts, history=(*layout.steps, *steps))
    if layout.free_text:
        contents.scale = Scale("text", declared=False)
    chosen = None
    if layout.separator is None and not options.scale and "value" in columns:
        chosen = none_chosen(columns["value"])
    if chosen is not None:
        contents.scale = chosen[0]
        contents.history = (*contents.history, chosen[1])
    if layout.separator is not None:
        keys = [role for role in _OF_ONE_ANSWER if role in layout.roles]
        made = choices(columns, layout.separator, keys, given.locate, options.on_bad)
        contents.columns, contents.locate = made.columns, made.locate
        contents.set_aside = made.set_aside
        contents.history = (*contents.history, *made.history)
        contents.scale = "binary"
    return contents


def blanked(
    columns: Mapping[str, pl.Series], names: Sequence[str], missing: Sequence[str]
) -> dict[str, pl.Series]:
    """Empty the cells that hold what the user says stands for a missing answer."""
    made = dict(columns)
    if not missing:
        return made
    words = pl.Series([word.strip() for word in missing]).implode()
    numbers = pl.Series([float(word) for word in missing if is_number(word)], dtype=pl.Float64)
    for name in names:
        if name not in made:
            continue
        column = made[name]
        if column.dtype.is_numeric():
            made[name] = column.set(column.cast(pl.Float64).is_in(numbers.implode()), None)
            continue
        text = column.cast(pl.String)
        stripped = text.str.strip_chars()
        number = stripped.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        gone = stripped.is_in(words) | number.is_in(numbers.implode()).fill_null(value=False)
        made[name] = text.set(gone.fill_null(value=False), None)
    return made


def _rated_texts(
    columns: dict[str, pl.Series], options: ReadOptions
) -> tuple[pl.DataFrame | None, History]:
    """Take texts out of the columns when they are what was rated and not what was answered.

    They are when there are values, and all answers about a stimulus come with the same text.
    """
    if not {"text", "value"} <= columns.keys() or "text" in (options.columns or {}):
        return None, ()
    texts = rated_texts(columns["stimulus"], columns["text"])
    if texts is None or texts.height == len(columns["stimulus"]):
        return None, ()
    del columns["text"]
    return texts, (step(StepKind.TEXTS_RATED, column="text"),)


def _read_commas(columns: dict[str, pl.Series]) -> History:
    """Put points in the place of decimal commas, and say where."""
    found = {name: with_points(columns[name]) for name in _NUMBERS if name in columns}
    pointed = {name: column for name, column in found.items() if column is not None}
    columns |= pointed
    return commas_step(list(pointed))


def _renamed(
    columns: Mapping[str, pl.Series], found: Mapping[str, str], source: str
) -> dict[str, pl.Series]:
    """Give the columns the names of their roles."""
    roles = {column: role for role, column in found.items()}
    renamed: dict[str, pl.Series] = {}
    for name, column in columns.items():
        # Data frames are often written with a nameless column of row numbers in front, and a label
        # that is not what was asked about is what stimuli were meant to show.
        intended = name == "label" and "intended" not in columns
        plain = "intended" if intended else name if name.strip() else "index"
        target = roles.get(name, plain)
        if target in renamed or (name not in roles and target in found):
            other = found.get(target, target)
            raise InputError(
                f"{source}: column '{name}' would stand beside '{other}' as '{target}'; "
                "rename one of them"
            )
        renamed[target] = column.alias(target)
    return renamed


def called_after_raters(header: Sequence[str]) -> list[str]:
    """Find the columns that are called after raters, such as ``R1`` and ``R2``."""
    return [name for name in header if _NUMBERED.fullmatch(name.strip())]


def guess_wide(
    columns: Mapping[str, pl.Series], options: ReadOptions
) -> tuple[ReadOptions, Step] | None:
    """Tell that a table is wide where its columns plainly say so, and which of them describe.

    Either columns name both stimulus and rater, and what is left are columns of numbers, one for
    each label, or a category and dimensions; or columns are called after raters, as ``R1`` and
    ``R2``, or after stimuli.
    """
    header = list(columns)
    named = dict(options.columns or {})
    if {"value", "label", "text"} & named.keys() or not {*named.values()} <= {*header}:
        return None
    chosen = find_chosen(header)
    if find_one("value", header) or (chosen is None and find_one("label", header)):
        return None
    if "text" in header and any(s.kind == "text" for s in options.scale.all):
        return None
    stimulus = named.get("stimulus") or find_stimulus(columns, named.values())
    rater = named.get("rater") or find_one("rater", header, taken={stimulus or ""})
    used = {stimulus, rater, *named.values(), *(find_rows(one, header) for one in ROW_COLUMNS)}
    rest = [name for name in header if name not in used]
    text = ["text"] if "text" in header and "text" not in named.values() else []
    if chosen is not None:
        roles = {"stimulus": stimulus or "", "rater": rater or "", "value": chosen}
        return _category_and_dimensions(columns, options, roles, [*text, *rest])
    if stimulus is None or rater is None:
        return None
    repeats = find_repeats(columns, [stimulus, rater], {name for name in used if name})
    rest = [name for name in rest if repeats is None or name != repeats[1]]
    numbers = [
        name
        for name in rest
        if not is_no_label(name)
        and not {"moment", "measure"} & meant(name)
        and folded_name(name) not in PERSONAL
        and find_one("stimulus", [name]) is None
        and is_of_numbers(columns[name])
    ]
    free = [name for name in numbers if name not in options.scale.by_label]
    described = _describing(columns, free, stimulus, rater)
    rated = [name for name in numbers if name not in described]
    if not rated:
        return None
    others = [*text, *(name for name in rest if name not in rated)]
    words = [
        name
        for name in others
        if name != "text"
        and _is_of_words(columns[name])
        and columns[name].n_unique() <= _MOST_CATEGORIES
        and _differs(columns[name], columns[stimulus])
        and _differs(columns[name], columns[rater])
    ]
    facts: dict[str, Any] = {"columns": rated, "described": described, "varying": words}
    for one in _giving_way(stimulus, header, named):
        facts |= dict(one.facts)
    return _read_over("labels", options, others), guess(StepKind.NUMBERS_ARE_LABELS, **facts)


def _read_over(wide: Wide, options: ReadOptions, attributes: Sequence[str]) -> ReadOptions:
    described = tuple(name for name in attributes if name.strip())
    return replace(options, wide=wide, attributes=described)


def _category_and_dimensions(
    columns: Mapping[str, pl.Series],
    options: ReadOptions,
    roles: Mapping[str, str],
    rest: Sequence[str],
) -> tuple[ReadOptions, Step] | None:
    """Take a chosen category and dimensions that differ within stimuli as answers, one label each.

    A column of numbers that is called after a dimension is no answer where each stimulus has one.
    """
    chosen, scales = roles["value"], options.scale
    if not (roles["stimulus"] and roles["rater"]) or scales.default is not None:
        return None
    asked = [
        name
        for name in rest
        if folded_name(name) in DIMENSIONS - _ABOUT_THE_ANSWER
        and is_of_numbers(columns[name])
        and _differs(columns[name], columns[roles["stimulus"]])
    ]
    if not asked or not _is_of_words(columns[chosen]) or _separator(columns, roles) is not None:
        return None
    if chosen not in scales.by_label:
        names = words_of(columns[chosen]).unique(maintain_order=True)
        known = replace(Scale.nominal(tuple(names)), declared=False)
        scales = replace(scales, by_label={**scales.by_label, chosen: known})
    others = [name for name in rest if name not in (chosen, *asked)]
    read = replace(_read_over("labels", options, others), scale=scales)
    return read, guess(StepKind.CATEGORY_AND_DIMENSIONS, columns=[chosen, *asked])


def is_of_numbers(column: pl.Series) -> bool:
    """Whether all answers of a column are numbers, with points or decimal commas."""
    if column.dtype == pl.Boolean:
        return False
    if column.dtype.is_numeric():
        return column.null_count() < len(column)
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return False
    words = words_of(column.unique())
    return len(words) > 0 and all(is_number(word.replace(",", ".")) for word in words)
