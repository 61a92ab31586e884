"""Gorilla Experiment Builder: tasks and questionnaires, one row an event."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.attributes import PERSONAL
from affectlab.ratings.build import is_number
from affectlab.ratings.files import Columns, Peek, read_columns
from affectlab.ratings.formats.experiments.trials import (
    GO_ON,
    PRACTICE,
    Answer,
    Cells,
    Trials,
    cell,
    cells_of,
    milliseconds,
)
from affectlab.ratings.formats.format import Layout, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.options import ReadOptions

_PERSON = "Participant Private ID"
_END = "END OF FILE"
_SPREADSHEET = "Spreadsheet: "
_OF_PROGRAM = {
    "Event Index", "UTC Timestamp", "UTC Date", "UTC Date and Time", "Local Timestamp",
    "Local Timezone", "Local Date", "Local Date and Time", "Experiment ID", "Experiment Version",
    "Tree Node Key", "Repeat Key", "Schedule ID", "Participant Public ID", _PERSON,
    "Participant Starting Group", "Participant Status", "Participant Completion Code",
    "Participant External Session ID", "Participant Device Type", "Participant Device",
    "Participant OS", "Participant Browser", "Participant Monitor Size",
    "Participant Viewport Size", "Checkpoint", "Room ID", "Room Order", "Task Name",
    "Task Version", "Spreadsheet Name", "Spreadsheet", "Spreadsheet Row", "Current Spreadsheet",
    "Trial Number", "Screen Number", "Screen Name", "Screen", "Screen ID", "Screen Counter",
    "Screen Counter Per Trial", "Component Name", "Object Name", "Object Number", "Object ID",
    "Tag", "Zone Name", "Zone Type", "Zone Counter", "Reaction Time", "Reaction Onset",
    "Response Type", "Response", "Response Onset", "Response Offset", "Response Duration",
    "Attempt", "Correct", "Incorrect", "Correct Answer", "Dishonest", "Timed Out", "Absolute Time",
    "X Coordinate", "Y Coordinate", "Onset Time", "Clock Time", "Display", "display", "ANSWER",
    "answer", "Manipulation", "Store", "Randomise Blocks", "Randomise Trials", "randomise_blocks",
    "randomise_trials", "randomise_screens", "Branch", "Counterbalance", "Randomiser",
    "Proportion", "Question Key", "Question", "Key", "Quantised", "Page",
}  # fmt: skip
"""Columns of Gorilla itself; others come from the spreadsheet of the task."""
_NO_ANSWERS = ("continue", "timelimit", "fixation", "content", "response_slider_startvalue")
_TYPED = ("text_entry", "paragraph_entry", "text_area")


@file_format("gorilla", "Gorilla, a task or a questionnaire (CSV with Participant Private ID, …)")
class Gorilla(Trials):
    """A task or a questionnaire of Gorilla Experiment Builder, in long form.

    Of a task, each response of a rating scale, slider, button or key is an answer; its label is
    the screen, and the zone or object where a screen has several. The stimulus stands in a column
    of the task's spreadsheet. Of a questionnaire, each question is a stimulus; where Gorilla
    quantised an answer, the number is taken. Events that are no answers, further attempts, and
    texts that were typed in are left out and counted; public identifiers are not kept.

    Parameters
    ----------
    stimulus
        Column of the spreadsheet that names what was shown; by default the one that holds names of
        files, or is called like one.
    answers
        Names of the labels to take; by default all.

    Notes
    -----
    Source: Gorilla support, "Data columns" (task builders 1 and 2, questionnaire builders 1 and 2).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "data_exp_1-v1_task-abcd.csv"
    >>> _ = file.write_text("Event Index,Participant Private ID,Screen Name,Zone Type,"
    ...                     "Reaction Time,Response,image\\n"
    ...                     "1,77,face,response_rating_scale_likert,812.5,4,a.png\\n"
    ...                     "END OF FILE,,,,,,\\n")
    >>> read_ratings(file, scale="1-7").frame.select("stimulus", "rater", "value", "rt_ms").rows()
    [('a.png', '77', 4.0, 812.5)]
    """

    layout = Layout({"rater": _PERSON, "value": "Response"}, others=("Event Index",))

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:  # noqa: ARG002
        """Say which column has the answers, the labels and the times, and what was shown."""
        columns = read_columns(head, on_bad="set_aside").columns
        asked = [name for name in ("Question Key", "Question") if name in columns]
        if asked and "Zone Type" not in columns:
            roles = {**self.layout.roles, "stimulus": asked[0]}
            others = ("Event Index", *asked[1:], "Key", "Quantised")
        else:
            screen, part = _label_columns(columns)
            roles = {**self.layout.roles, "rt_ms": "Reaction Time", "label": screen or part}
            others = (*self.layout.others, "Zone Type", "Response Type", "Attempt")
            others = (*others, "display", "Display", *([part] if screen else []))
            try:
                roles["stimulus"] = self.shown_column(_sheet(columns), head)
            except InputError:
                # Reading says that none was found.
                roles.pop("stimulus", None)
        return replace(
            self.layout,
            roles={role: name for role, name in roles.items() if name in columns},
            others=tuple(name for name in others if name in columns),
        )

    def trials(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Iterator[Answer]:
        self.layout.check(head)
        read = read_columns(head, on_bad=options.on_bad)
        end = read.columns["Event Index"].cast(pl.String).eq_missing(_END)
        rows = [row for row, ended in enumerate(end) if not ended]
        cells = cells_of(read.columns)
        asked = {"Question Key", "Question"} & read.columns.keys()
        if asked and "Zone Type" not in read.columns:
            yield from _questions(read, cells, rows, rejects)
            return
        used = [row for row in rows if self._is_answer(cells, row, read.place(row), rejects)]
        if not used:
            raise InputError(f"{head.path}: no row has a response; expected some")
        sheet = _sheet(read.columns)
        shown = self.shown_column(
            {name: column.gather(pl.Series(used)) for name, column in sheet.items()}, head
        )
        label = _labels(cells, used)
        for row in used:
            stimulus, place = cell(cells, shown, row), read.place(row)
            if not stimulus:
                rejects.skip(place, "answer without a stimulus, as in instructions")
                continue
            beside = {
                name.removeprefix(_SPREADSHEET): cell(cells, name, row) or None
                for name in sheet
                if name != shown
            }
            display = cell(cells, "display", row) or cell(cells, "Display", row)
            yield Answer(
                place,
                cell(cells, _PERSON, row),
                stimulus,
                label[row],
                cell(cells, "Response", row),
                milliseconds(cell(cells, "Reaction Time", row)),
                bool(PRACTICE.search(display)),
                beside,
            )

    def _is_answer(self, columns: Cells, row: int, place: str, rejects: Rejects) -> bool:
        """Whether an event is an answer to what was shown."""
        zone = cell(columns, "Zone Type", row).casefold()
        kind = cell(columns, "Response Type", row).casefold()
        response = cell(columns, "Response", row)
        is_response = zone.startswith("response") if zone else kind in ("", "response")
        if not response or not is_response or zone.startswith(_NO_ANSWERS):
            rejects.skip(place, "event that is no answer")
        elif response.casefold() in GO_ON:
            rejects.skip(place, "key or button that only goes on")
        elif any(word in zone for word in _TYPED):
            rejects.skip(place, "text that was typed in")
        elif cell(columns, "Attempt", row) not in ("", "0", "1"):
            rejects.skip(place, "further attempt")
        else:
            return True
        return False


def _sheet(columns: Mapping[str, pl.Series]) -> dict[str, pl.Series]:
    """Give the columns of the spreadsheet of the task."""
    return {n: column for n, column in columns.items() if n not in _OF_PROGRAM and n.strip()}


def _label_columns(columns: Container[str]) -> tuple[str, str]:
    """Name the columns of the screen and of its parts; empty where there is none."""
    screen = next((name for name in ("Screen Name", "Screen") if name in columns), "")
    part = next((name for name in ("Zone Name", "Object Name", "Tag") if name in columns), "")
    return screen, part


def _labels(columns: Cells, rows: list[int]) -> dict[int, str]:
    """Name answers by their screen, and by the part of the screen where it has several."""
    screen, part = _label_columns(columns)
    pairs = {row: (cell(columns, screen, row), cell(columns, part, row)) for row in rows}
    parts: dict[str, set[str]] = {}
    for one, zone in pairs.values():
        parts.setdefault(one, set()).add(zone)
    labels = {}
    for row, (one, zone) in pairs.items():
        several = len(parts[one]) > 1
        of_part = zone if len(parts) == 1 else f"{one}: {zone}"
        labels[row] = (of_part if several and zone else one) or zone or "response"
    return labels


def _questions(
    read: Columns, columns: Cells, rows: list[int], rejects: Rejects
) -> Iterator[Answer]:
    """Give the answers of a questionnaire: numbers where the words were quantised."""
    found: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for row in rows:
        key = cell(columns, "Question Key", row) or cell(columns, "Question", row)
        kind = cell(columns, "Key", row).casefold()
        if not key or key.upper() in ("BEGIN QUESTIONNAIRE", "END QUESTIONNAIRE"):
            rejects.skip(read.place(row), "event that is no answer")
            continue
        if key.endswith("-quantised") or cell(columns, "Quantised", row):
            kind = "quantised"
        person = cell(columns, _PERSON, row)
        found.setdefault((person, key.removesuffix("-quantised")), []).append((kind, row))
    about: dict[str, dict[str, str | None]] = {}
    for (person, key), given in found.items():
        if key.casefold() in PERSONAL:
            about.setdefault(person, {})[key] = cell(columns, "Response", given[0][1])
    for (person, key), given in found.items():
        if key.casefold() in PERSONAL:
            continue
        kind, row = max(given, key=lambda one: (one[0] == "quantised", one[0] in ("value", "")))
        response = cell(columns, "Quantised", row) or cell(columns, "Response", row)
        place = read.place(row)
        if not response:
            rejects.skip(place, "event that is no answer")
        elif kind != "quantised" and not is_number(response):
            rejects.skip(place, "text that was typed in")
        else:
            yield Answer(place, person, key, None, response, person=about.get(person, {}))
