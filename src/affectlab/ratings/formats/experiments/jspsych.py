"""jsPsych: the trials of participants, as JSON, as CSV, or as JATOS stores them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns
from affectlab.ratings.attributes import PERSONAL
from affectlab.ratings.build import is_number
from affectlab.ratings.files import (
    BadJson,
    Columns,
    OnBad,
    Peek,
    Place,
    json_sequence,
    read_columns,
)
from affectlab.ratings.formats.experiments.trials import (
    GO_ON,
    PRACTICE,
    Answer,
    Trials,
    milliseconds,
)
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, numbered
from affectlab.ratings.formats.shown import is_media
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import guess

_NEEDED = ("trial_type", "trial_index", "time_elapsed")
_OF_PROGRAM = {
    *_NEEDED, "internal_node_id", "rt", "stimulus", "response", "responses", "button_pressed",
    "key_press", "question_order", "plugin_version", "success", "timeout", "failed_images",
    "failed_audio", "failed_video", "view_history", "slider_start", "accuracy", "correct",
    "webgazer_data", "webgazer_targets", "mouse_tracking_data", "mouse_tracking_targets",
    "recording", "record_id", "url", "value", "save_trial_parameters", "node_id",
}  # fmt: skip
_PERSON = (
    "participant", "participant_id", "participantid", "subject", "subject_id", "subjectid",
    "rater", "rater_id", "prolific_pid", "prolific_id", "worker_id", "workerid", "run_id",
)  # fmt: skip
_LABEL = ("label", "dimension", "question", "scale")
_RESPONSES = ("response", "responses", "button_pressed", "key_press")
"""Keys of the answer, in the order of the versions that write them, from the newest."""
_SOURCE = re.compile(
    r"""<(?:img|source|video|audio)\b[^>]*?\bsrc\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE
)
_TAG = re.compile(r"<[^>]*>")

Trial = Mapping[str, Any]


@dataclass(frozen=True)
class _Run:
    """Trials of one participant, with their places."""

    person: str
    trials: tuple[tuple[str, Trial], ...]


@dataclass(frozen=True)
class _Asked:
    """A trial with an answer, or several by their names."""

    person: str
    place: str
    trial: Trial
    parts: tuple[tuple[str | None, Any], ...]
    stimulus: str
    """What it showed: a file, else its text."""
    before: str = ""
    """The file that was shown last before it."""
    question: str = ""
    """Its text, where what it asks about was shown before."""


@file_format("jspsych", "jsPsych, trials (JSON or CSV with trial_type; text of JATOS)")
class JsPsych(Trials):
    """The trials of jsPsych: a JSON list, its CSV, or the text of JATOS with a list a person.

    Sliders, buttons, keys, Likert scales and choices are answers; a label is the name of the
    question in a survey, else what the column ``label``, ``dimension`` or ``question`` says, else
    the kind of the answer. The stimulus is the file that is shown, also inside HTML; of a question
    that is asked after different files, the file that was shown before it. Other answers to text
    alone, where files are shown, are those of instructions. Buttons and Likert scales are
    numbers from 0, as jsPsych writes them. Other columns are attributes. The participant stands in
    a column such as ``subject`` or ``PROLIFIC_PID``; without one, each list is a participant.

    Parameters
    ----------
    stimulus
        Column that names what was shown; by default ``stimulus``.
    answers
        Names of the labels to take; by default all.

    Notes
    -----
    Source: jsPsych's documentation of its plugins and of ``jsPsych.data`` (versions 6 to 8), and
    that of JATOS on exported result data.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "data.json"
    >>> _ = file.write_text('[{"trial_type": "html-slider-response", "trial_index": 0, '
    ...                     '"time_elapsed": 900, "rt": 812, "stimulus": "<img src=\\'a.png\\'>", '
    ...                     '"response": 62, "subject": "p1"}]')
    >>> read_ratings(file, scale="0-100").frame.select("stimulus", "rater", "value").rows()
    [('a.png', 'p1', 62.0)]
    """

    layout = Layout({"value": "response", "stimulus": "stimulus"}, others=_NEEDED)

    def recognise(self, head: Peek) -> Sure:
        if head.is_binary or not head.starts_with_json():
            return Sure.if_(set(_NEEDED) <= set(head.columns))
        return Sure.if_(all(re.search(rf'"{name}"\s*:', head.text) for name in _NEEDED))

    def columns(self, head: Peek, on_bad: OnBad) -> Columns:
        """Give trials as rows, in which lists and objects are JSON, as in CSV of jsPsych."""
        if head.is_binary or not head.starts_with_json():
            return super().columns(head, on_bad)
        groups = _groups(head, ReadOptions(on_bad=on_bad), Rejects(head.path, on_bad))
        trials = [one for group in groups for one in group]
        cells = {
            name: [_cell(trial.get(name)) for _, trial in trials]
            for name in dict.fromkeys(name for _, trial in trials for name in trial)
        }
        return Columns(
            {name: pl.Series(name, own, dtype=pl.String) for name, own in cells.items()},
            lambda row: Place(trials[row][0], head.path),
            typed=False,
        )

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:
        """Say which keys hold the answer and its time, and which name what was shown and whom."""
        options = options or ReadOptions(on_bad="set_aside")
        try:
            runs = list(_runs(head, options, Rejects(head.path, "set_aside")))
        except InputError:
            # Reading says why it cannot be read.
            return self.layout
        trials = [trial for run in runs for _, trial in run.trials]
        names = dict.fromkeys(name for trial in trials for name in trial)
        folded = {name.casefold(): name for name in names}
        wanted = {
            "stimulus": (self.stimulus or "stimulus",),
            "value": _RESPONSES,
            "rt_ms": ("rt",),
            "label": _LABEL,
        }
        roles = {role: [n for n in names if n in own] for role, own in wanted.items()}
        roles["rater"] = [folded[name] for name in _PERSON if name in folded]
        return replace(
            self.layout,
            roles={role: of[0] for role, of in roles.items() if of},
            others=(*_NEEDED, *(name for of in roles.values() for name in of[1:])),
        )

    def trials(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Iterator[Answer]:
        asked = list(self._asked(_runs(head, options, rejects), rejects))
        if not asked:
            raise InputError(f"{head.path}: no trial of jsPsych has an answer; expected some")
        if self.stimulus is None:
            asked = _of_what_was_shown(asked, rejects)
        shown = any(one.stimulus for one in asked)
        media = any(is_media(one.stimulus) for one in asked)
        about: dict[str, dict[str, str]] = {}
        options_of = _options(part for one in asked for part in one.parts)
        given = []
        for one in asked:
            for name, value in one.parts:
                words = isinstance(value, str) and not is_number(value)
                if (name or "").casefold() in PERSONAL or (shown and not one.stimulus and name):
                    about.setdefault(one.person, {})[str(name)] = _text(value)
                elif words and "text" in one.trial["trial_type"]:
                    rejects.skip(one.place, "text that was typed in", unit="cell")
                elif media and not is_media(one.stimulus):
                    rejects.skip(one.place, "answer to text alone, as in instructions", unit="cell")
                else:
                    given.append((one, name, value))
        several = len(options_of) > 1 or not all(isinstance(value, list) for *_, value in given)
        for one, name, value in given:
            trial = one.trial
            beside, person = _beside(trial, self.stimulus), about.get(one.person, {})
            training = any(
                PRACTICE.search(str(trial.get(said, ""))) for said in ("task", "phase", "block")
            )
            time = milliseconds(str(trial.get("rt")))
            label = (name or _label(trial, one.question)) if one.stimulus else None
            who, what = one.person, one.stimulus or name or trial["trial_type"]
            if isinstance(value, list):
                for choice in options_of[name]:
                    label = f"{name}: {choice}" if several else choice
                    yes = "1" if choice in value else "0"
                    yield Answer(one.place, who, what, label, yes, time, training, beside, person)
            else:
                yield Answer(
                    one.place, who, what, label, _text(value), time, training, beside, person
                )

    def _asked(self, runs: Iterator[_Run], rejects: Rejects) -> Iterator[_Asked]:
        """Give the trials that ask for something; others are counted."""
        for run in runs:
            before = ""
            for place, trial in run.trials:
                shown = self._shown(trial)
                if parts := tuple(_parts(trial)):
                    yield _Asked(run.person, place, trial, parts, shown, before)
                else:
                    rejects.skip(place, _why_not(trial))
                before = shown if is_media(shown) else before

    def _shown(self, trial: Trial) -> str:
        """Name what a trial showed: the file of a picture or clip, also in HTML; else its text."""
        given = trial.get(self.stimulus or "stimulus")
        if isinstance(given, list):
            given = given[0] if given else None
        text = "" if given is None else str(given)
        if not text and self.stimulus is None:
            # A property of the trial names the file that a plugin for questions does not.
            files = (own for own in trial.values() if isinstance(own, str) and is_media(own))
            text = next(files, "")
        source = _SOURCE.search(text)
        return source[1] if source else " ".join(_TAG.sub(" ", text).split())


def _of_what_was_shown(asked: Sequence[_Asked], rejects: Rejects) -> list[_Asked]:
    """Take questions that show no file as those about the file that was shown before them.

    One is about it where it is answered after different files in a run, and not always in the same
    way, as a button that goes on is.
    """
    after: dict[tuple[Any, ...], set[str]] = {}
    given: dict[tuple[Any, ...], set[str]] = {}
    for one in asked:
        if one.before and not is_media(one.stimulus):
            after.setdefault((one.person, *_question(one)), set()).add(one.before)
            given.setdefault(_question(one), set()).update(_text(value) for _, value in one.parts)
    repeated = {tuple(question) for (_, *question), files in after.items() if len(files) > 1}
    questions = {one for one in repeated if len(given[one]) > 1}
    if not questions:
        return list(asked)
    rejects.steps.append(guess(StepKind.SHOWN_BEFORE, format="jspsych"))
    several = len({text for *_, text in questions}) > 1
    return [
        replace(one, stimulus=one.before, question=one.stimulus if several else "")
        if one.before and not is_media(one.stimulus) and _question(one) in questions
        else one
        for one in asked
    ]


def _question(one: _Asked) -> tuple[Any, ...]:
    """Tell questions apart: by the kind of trial, the names of its parts, and its text."""
    return one.trial["trial_type"], tuple(name for name, _ in one.parts), one.stimulus


def _runs(head: Peek, options: ReadOptions, rejects: Rejects) -> Iterator[_Run]:
    """Give the trials of each participant."""
    groups = list(_groups(head, options, rejects))
    if not groups:
        raise InputError(f"{head.path}: no trial of jsPsych; expected a list of trials")
    names = numbered("participant", len(groups)) if len(groups) > 1 else [head.path.stem]
    people: dict[str, list[tuple[str, Trial]]] = {}
    for name, group in zip(names, groups, strict=True):
        fallback = next((one for _, trial in group if (one := _person(trial))), name)
        for place, trial in group:
            people.setdefault(_person(trial) or fallback, []).append((place, trial))
    for person, trials in people.items():
        yield _Run(person, tuple(trials))


def _groups(
    head: Peek, options: ReadOptions, rejects: Rejects
) -> Iterator[list[tuple[str, Trial]]]:
    """Give the lists of trials of a file: one, or several one behind the other."""
    if head.is_binary or not head.starts_with_json():
        read = read_columns(head, on_bad=options.on_bad)
        require_columns(read.columns, _NEEDED, f"{head.path}: ", "give the data of jsPsych")
        names = list(read.columns)
        rows = zip(*(column.to_list() for column in read.columns.values()), strict=True)
        yield [
            (read.place(number), {n: _parsed(one) for n, one in zip(names, row, strict=True)})
            for number, row in enumerate(rows)
        ]
        return
    whole = list(json_sequence(head.decode()))
    lines = {line for line, _ in whole}
    single: list[tuple[str, Trial]] = []
    for number, (line, content) in enumerate(whole, 1):
        place = f"line {line}" if len(lines) == len(whole) > 1 else f"list {number}"
        place = place if len(whole) > 1 else ""
        if isinstance(content, BadJson):
            rejects.reject(f"line {content.line or line}", content.reason, str(content))
            continue
        lists = content if isinstance(content, list) else [content]
        if not all(isinstance(one, list) for one in lists) or not lists:
            lists = [lists]
        for part in lists:
            trials: list[tuple[str, Trial]] = [
                (f"{place}{', ' if place else ''}trial {number}", one)
                for number, one in enumerate(part, 1)
                if isinstance(one, dict) and isinstance(one.get("trial_type"), str)
            ]
            if isinstance(content, dict):
                single += trials
            elif trials:
                yield trials
            else:
                rejects.skip(place or "list 1", "list without trials of jsPsych")
    if single:
        yield single


def _cell(value: Any) -> str | None:
    """Write a value as a cell of jsPsych's CSV."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _parsed(value: Any) -> Any:
    """Read a cell of jsPsych's CSV, in which lists and objects are JSON."""
    if not isinstance(value, str) or not value.startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _person(trial: Trial) -> str | None:
    folded = {name.casefold(): one for name, one in trial.items() if isinstance(one, str | int)}
    return next((str(folded[name]) for name in _PERSON if folded.get(name) not in (None, "")), None)


def _parts(trial: Trial) -> Iterator[tuple[str | None, Any]]:
    """Give name and value of each answer of a trial; none where it asks for nothing."""
    kind = trial.get("trial_type")
    if not isinstance(kind, str):
        return
    given = trial.get("response")
    for older in _RESPONSES[1:]:
        given = _parsed(trial.get(older)) if given is None else given
    if isinstance(given, dict):
        for name, value in given.items():
            if isinstance(value, dict):
                yield from ((f"{name}.{row}", one) for row, one in value.items() if _holds(one))
            elif _holds(value) or isinstance(value, list):
                yield str(name), value
    elif _holds(given) and kind.endswith("-response"):
        goes_on = "keyboard" in kind and str(given).casefold() in GO_ON
        if not goes_on:
            yield None, given


def _holds(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and bool(value.strip()))


def _why_not(trial: Trial) -> str:
    kind = trial.get("trial_type")
    return f"trial without an answer: {kind}" if isinstance(kind, str) else "row without a trial"


def _options(parts: Iterator[tuple[str | None, Any]]) -> dict[str | None, list[str]]:
    """Give the options of questions with several choices, as far as anybody chose them."""
    found: dict[str | None, dict[str, None]] = {}
    for name, value in parts:
        if isinstance(value, list):
            found.setdefault(name, {}).update(dict.fromkeys(map(_text, value)))
    return {name: list(options) for name, options in found.items()}


def _label(trial: Trial, question: str) -> str:
    named = (str(trial[name]) for name in _LABEL if isinstance(trial.get(name), str))
    kind = str(trial["trial_type"]).removesuffix("-response")
    return next((one for one in named if one), question or kind.rpartition("-")[2])


def _beside(trial: Trial, shown: str | None) -> dict[str, str | None]:
    """Give what the study added to a trial."""
    skipped = {*_OF_PROGRAM, *_LABEL, shown}
    return {
        name: _text(value)
        for name, value in trial.items()
        if name not in skipped and name.casefold() not in _PERSON and _holds(value)
    }


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
