"""Which column is the stimulus, which the rater: recognised by name, or as the user says."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from affectlab.core.errors import InputError, check_choice
from affectlab.core.words import option
from affectlab.ratings.schema import ROW_COLUMNS

_SHOWN = ("image", "picture", "photo", "img", "video", "clip", "audio", "song", "text_id")
"""Names of what was shown, beside which others may number trials or name files of raters."""
CORE = ("stimulus", "rater", "label", "value")
ROLES = (*CORE, *ROW_COLUMNS)

_ALIASES = {
    "stimulus": (
        *("stimulus", "stimulus_id", "stim", "stim_id", "item", "item_id", "image", "image_id"),
        *("image_name", "image_path", "img", "path", "file", "file_name", "video"),
        *("example_id", "unit", "unit_id", "text_id", "comment_id", "stimulus_name"),
        *("stimulus_file", "task", "task_id", "sentence_id", "utterance_id", "tweet_id", "post_id"),
        *("doc_id", "document_id", "sample_id", "video_id", "audio_id", "clip_id", "clip"),
        *("picture", "photo", "source_ref", "id"),
    ),
    "rater": (
        *("rater", "rater_id", "annotator", "annotator_id", "worker", "worker_id"),
        *("participant", "participant_id", "subject", "subject_id", "subj", "subj_id"),
        *("judge", "judge_id", "coder", "coder_id", "user", "user_id", "username"),
        *("labeler", "labeller", "observer", "evaluator", "assessor", "turker", "crowdworker"),
        *("prolific_id", "prolific_pid", "vp", "vp_nr", "proband", "model"),
    ),
    "label": ("label", "emotion", "dimension", "category", "attribute", "question", "aspect"),
    "value": (
        *("value", "rating", "score", "answer", "response", "judgement", "judgment", "vote"),
        *("prediction", "predicted"),
    ),
}

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_CHOSEN = (
    *("label", "labels", "emotion", "emotions", "category", "categories", "class", "classes"),
    *("choice", "choices", "chosen", "annotation", "annotations", "tag", "tags", "sentiment"),
    "expression",
)
"""Names of a column of chosen categories, in a table without a column of values."""
_TEXTS = ("text", "sentence", "utterance", "comment", "tweet", "post", "document")
"""Names of a column of texts, which are the stimuli where no other column names these."""

DIMENSIONS = {
    *("activation", "arousal", "confidence", "dominance", "familiarity", "intensity", "liking"),
    *("pleasantness", "pleasure", "strength", "valence"),
}
"""Names of what raters are asked for in numbers, and never of what a stimulus shows."""
TRUTHS = {
    *("actual", "gold", "gold_label", "gold_standard", "gt", "ground_truth", "groundtruth"),
    *("reference", "target", "true", "true_class", "true_label", "truth", "y", "y_true"),
}
"""Names of a column of what is right, and never of what a model says."""
SUMMARIES = {
    "average", "avg", "mean", "median", "mos", "sd", "sem", "standard deviation", "std", "stddev",
    "stdev", "sum", "total", "variance",
}  # fmt: skip
"""Columns computed from the others of their row."""
_NO_RATINGS = SUMMARIES | {
    *("", "block", "condition", "date", "group", "list", "part", "position", "row"),
    *("run", "seconds", "unnamed:_0", "version", "week", "year"),
}
"""Names of columns of numbers that are no ratings beside those of other labels."""
_NEVER_RATED = {
    *("acc", "catch", "correct", "duration", "expected", "id", "index", "latency", "ms", "nr"),
    *("number", "offset", "onset", "order", "rt", "sec", "session", "time", "timestamp", "trial"),
}
"""Last words in names of columns of numbers that are no ratings either."""
_RESPONDENT = ("respondent", "respondent_id", "responseid", "response_id")
"""Names of the rater where each row is the sheet of one rater, and only there."""


class NoColumn(InputError):
    """No column is found for a role that a table needs.

    Parameters
    ----------
    where
        The file.
    role
        The role.
    header
        The columns there are.
    why
        What the file seems to hold instead.
    """

    def __init__(self, where: str, role: str, header: Sequence[str], why: str = "") -> None:
        one = f", or one for all rows ({option('rater', 'NAME')})" if role == "rater" else ""
        # What most likely helps comes first: a file may have a hundred columns to list.
        super().__init__(
            f"{where}: no column for the {role}; expected '{role}', or its name "
            f"({option('columns', {role: 'NAME'})}){one}{f'; {why}' if why else ''}; "
            f"found: {', '.join(header)}"
        )
        self.where, self.role, self.header = where, role, header

    def because(self, why: str) -> NoColumn:
        """Say what the file seems to hold instead."""
        return NoColumn(self.where, self.role, self.header, why)


def find_columns(
    header: Sequence[str],
    named: Mapping[str, str] | None,
    *,
    where: str,
    needed: Sequence[str] = ("stimulus", "rater", "value"),
    delimiter: str | None = None,
) -> dict[str, str]:
    """Say which column of a file plays which role.

    Parameters
    ----------
    header
        The column names of the file.
    named
        What the user says: role to column name. Roles are ``stimulus``, ``rater``, ``label``,
        ``value`` and the optional columns of a table of ratings.
    where
        The file, for errors.
    needed
        Roles that must be found.
    delimiter
        What the user says that divides the columns.

    Returns
    -------
    dict
        Role to column name; columns that play no role are not in it.

    Raises
    ------
    InputError
        When a needed role is not found, or a named column does not exist.

    Examples
    --------
    >>> find_columns(["path", "annotator", "value", "emotion"], None, where="x.csv")
    {'stimulus': 'path', 'rater': 'annotator', 'label': 'emotion', 'value': 'value'}
    """
    found: dict[str, str] = {}
    for role, column in (named or {}).items():
        check_choice("role", role, ROLES, where)
        check_choice("column", column, header, where)
        found[role] = column
    for role in CORE:
        if role not in found:
            column_found = find_one(role, header, taken=set(found.values()))
            if column_found is not None:
                found[role] = column_found
    for role in ROW_COLUMNS:
        column_found = find_rows(role, header, taken=set(found.values()))
        if role not in found and column_found is not None:
            found[role] = column_found
    if "value" not in found:
        chosen = find_chosen(header, taken=set((named or {}).values()))
        if chosen is not None and "text" not in (named or {}):
            # Whether it is one beside a text, the values have to say.
            found = {role: name for role, name in found.items() if name != chosen}
            found["value"] = chosen
    if "stimulus" not in found and "value" in found:
        texts = _first(_TEXTS, header, set(found.values()) - {found.get("text")})
        if texts is not None:
            found.pop("text", None)
            found["stimulus"] = texts
    if "text" in found and "value" not in found:
        needed = [role for role in needed if role != "value"]
    missing = [role for role in needed if role not in found]
    if missing:
        role = missing[0]
        if len(header) == 1:
            way = (
                f"or another delimiter ({option('delimiter', ';')})"
                if delimiter is None
                else f"divided by the delimiter {delimiter!r} as given "
                f"({option('delimiter', delimiter)})"
            )
            raise InputError(
                f"{where}: there is only one column, {header[0]!r}; expected at least "
                f"{', '.join(needed)}, {way}"
            )
        raise NoColumn(where, role, header)
    return {role: found[role] for role in ROLES if role in found}


def find_one(role: str, header: Sequence[str], *, taken: Collection[str] = ()) -> str | None:
    """Find the column for a role by name; earlier aliases count for more than later ones."""
    return _first(_ALIASES[role], header, taken)


def find_shown(header: Sequence[str], *, taken: Collection[str] = ()) -> str | None:
    """Find a column that names what was shown."""
    return _first(_SHOWN, header, taken)


def find_chosen(header: Sequence[str], *, taken: Collection[str] = ()) -> str | None:
    """Find the column of chosen categories, where none is called like one of values."""
    return _first(_CHOSEN, header, taken)


def find_respondent(header: Sequence[str], *, taken: Collection[str] = ()) -> str | None:
    """Find the column that tells the sheets of a questionnaire apart."""
    return _first(_RESPONDENT, header, taken)


def names_models(column: str) -> bool:
    """Whether the name of the rater column says that the raters are models."""
    return folded_name(column) == "model"


def folded_name(name: str) -> str:
    """Write the name of a column as tables of names have it."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def is_no_label(name: str) -> bool:
    """Whether a column of numbers is called like one that describes answers and is none.

    Examples
    --------
    >>> is_no_label("Rate.RT"), is_no_label("mean"), is_no_label("joy")
    (True, True, False)
    """
    return folded_name(name) in _NO_RATINGS or bool(_NEVER_RATED & {*words_in(name)[-1:]})


def words_in(name: str) -> tuple[str, ...]:
    """Give the words of which the name of a column is made, in small letters.

    Examples
    --------
    >>> words_in("RateValence.RT"), words_in("is_catch")
    (('rate', 'valence', 'rt'), ('is', 'catch'))
    """
    return tuple(word.casefold() for word in _WORD.findall(name))


def find_rows(role: str, header: Sequence[str], *, taken: Collection[str] = ()) -> str | None:
    """Find an optional column of answers; sessions and trials may be written in any case."""
    spelt = header if role in ("session", "trial") else {role} & {*header}
    return _first((role,), spelt, taken)


def _first(aliases: Sequence[str], header: Collection[str], taken: Collection[str]) -> str | None:
    """Find the column of the first of these names; marks between words do not count."""
    found = {_joined(name): name for name in reversed(list(header)) if name not in taken}
    return next((found[_joined(alias)] for alias in aliases if _joined(alias) in found), None)


def _joined(name: str) -> str:
    return re.sub(r"[\s_.-]", "", name.casefold())
