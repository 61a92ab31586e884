"""PsychoPy and Pavlovia: the trials of one or more participants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.build import MISSING, words_of
from affectlab.ratings.files import Peek, read_columns
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
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.options import ReadOptions

_ENDINGS = (".response", ".rating", ".keys", ".clicked_name")
"""Ends of the columns in which components leave an answer."""
_OF_PROGRAM = {
    "date", "expname", "expstart", "psychopyversion", "framerate", "os", "notes", "thisn",
    "thistrialn", "thisrepn", "thisindex", "trials", "",
}  # fmt: skip
_INFO = {"participant", "session", "date", "expname"}
"""Names among what was asked at the start, which stands behind the conditions."""
_LOOP = ".thisN"


@file_format("psychopy", "PsychoPy or Pavlovia, trials (CSV with participant, slider.response, …)")
class PsychoPy(Trials):
    """The trials that PsychoPy and PsychoJS write, of one participant or of many put together.

    Each component with an answer is a label (``slider.response``, ``key_resp.keys``,
    ``mouse.clicked_name``); ``rt_ms`` is its time. The stimulus stands in a column of the
    conditions file. Other columns of it, and what was asked of the participant at the start,
    are attributes. Loops called practice or training give training trials. Keys that only go on
    and trials without a stimulus are left out and counted; when things were drawn is not kept.

    Parameters
    ----------
    stimulus
        Column of the conditions that names what was shown; by default the one that holds names of
        files, or is called like one. Where a column says by name which of several columns of
        files was shown, as for ``$eval(shown)``, it is that.
    answers
        Names of the components that hold answers; by default all that do.

    Notes
    -----
    Source: PsychoPy's documentation, "Data outputs" (wide CSV; names of columns).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "p1_faces_2026.csv"
    >>> _ = file.write_text("image,trials.thisN,slider.response,slider.rt,participant,"
    ...                     "psychopyVersion\\na.png,0,4,1.5,p1,2026.1\\n")
    >>> read_ratings(file, scale="1-7").frame.select("stimulus", "rater", "value", "rt_ms").rows()
    [('a.png', 'p1', 4.0, 1500.0)]
    """

    layout = Layout({"rater": "participant"}, others=("psychopyVersion",))

    def recognise(self, head: Peek) -> Sure:
        names = set(head.columns)
        answers = any(name.endswith(_ENDINGS) for name in names)
        return Sure.if_({"participant", "psychopyVersion"} <= names and answers)

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:  # noqa: ARG002
        """Say which columns hold answers and times, and which says what was shown."""
        columns = read_columns(head, on_bad="set_aside").columns
        loops = _loops(columns)
        components = _components(columns, loops)
        conditions = _conditions(columns)[1]
        try:
            shown = self.shown_column(conditions, head)
        except InputError:
            # Reading says that none was found.
            return self.layout
        one = len(components) == 1
        times = [f"{name}.rt" for name in components if f"{name}.rt" in columns]
        practice = [f"{loop}{_LOOP}" for loop in loops]
        pointing = self.pointing_column(conditions)
        return replace(
            self.layout,
            roles={
                **self.layout.roles,
                "stimulus": shown,
                **({"value": next(iter(components.values()))} if one else {}),
                **dict(zip(["rt_ms"], times, strict=False)),
                **dict(zip(["trial_kind"], practice, strict=False)),
            },
            labels=() if one else tuple(components.values()),
            others=(
                *self.layout.others,
                *times[1:],
                *practice[1:],
                *([] if pointing is None else [pointing]),
            ),
        )

    def trials(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Iterator[Answer]:
        read = read_columns(head, on_bad=options.on_bad)
        columns = read.columns
        self.layout.check(head)
        loops = _loops(columns)
        components = _components(columns, loops)
        if not components:
            raise InputError(
                f"{head.path}: no component has answers; expected columns such as slider.response"
            )
        plain, conditions = _conditions(columns)
        info = plain.keys() - conditions.keys()
        shown, pointing = self.shown_column(conditions, head), self.pointing_column(conditions)
        cells = cells_of(columns)
        go_on = {name for name, of in components.items() if _only_go_on(cells, of, shown)}
        practice = [loop for loop in loops if PRACTICE.search(loop)]
        for row in range(len(columns[shown])):
            of = shown if pointing is None else cell(cells, pointing, row) or shown
            stimulus, place = cell(cells, of, row), read.place(row)
            values = {name: _value(cell(cells, of, row)) for name, of in components.items()}
            values = {name: value for name, value in values.items() if value}
            for name in go_on & values.keys():
                del values[name]
                rejects.skip(place, "key that only goes on", unit="cell")
            if not values:
                rejects.skip(place, "without an answer")
                continue
            if not stimulus:
                rejects.skip(place, "answer without a stimulus, as in instructions")
                continue
            said = {name: cell(cells, name, row) or None for name in plain if name != shown}
            rater = said.pop("participant", None) or head.path.stem
            person = {name: said.pop(name) for name in info & said.keys() - {"session"}}
            training = any(cell(cells, f"{loop}{_LOOP}", row) for loop in practice)
            for name, value in values.items():
                time = milliseconds(cell(cells, f"{name}.rt", row), seconds=True)
                yield Answer(place, rater, stimulus, name, value, time, training, said, person)


def _loops(columns: Iterable[str]) -> list[str]:
    return [name.removesuffix(_LOOP) for name in columns if name.endswith(_LOOP)]


def _conditions(
    columns: Mapping[str, pl.Series],
) -> tuple[dict[str, pl.Series], dict[str, pl.Series]]:
    """Give the columns that are not PsychoPy's own, and of these those of the conditions."""
    plain = {
        name: column
        for name, column in columns.items()
        if "." not in name and name.casefold() not in _OF_PROGRAM and len(words_of(column))
    }
    of_info = (at for at, name in enumerate(columns) if name.casefold() in _INFO)
    first = next(of_info, len(columns))
    asked = set(list(columns)[first:])
    return plain, {name: column for name, column in plain.items() if name not in asked}


def _components(columns: Mapping[str, pl.Series], loops: list[str]) -> dict[str, str]:
    """Give the column of answers of each component; loops repeat them under their own name."""
    found = {}
    for name, column in columns.items():
        component, _, ending = name.rpartition(".")
        inner = component.partition(".")[2]
        repeats = any(component.startswith(f"{loop}.") for loop in loops) and (
            f"{inner}.{ending}" in columns
        )
        if f".{ending}" in _ENDINGS and component and not repeats and len(words_of(column)):
            found[component] = name
    return found


def _only_go_on(columns: Cells, of: str, shown: str) -> bool:
    """Whether the keys or buttons of a component lead on, rather than answer."""
    if of.endswith((".response", ".rating")):
        return False
    rows = range(len(columns[of]))
    values = {_value(cell(columns, of, row)) for row in rows if cell(columns, shown, row)} - {""}
    return bool(values) and {one.casefold() for one in values} <= GO_ON


def _value(text: str) -> str:
    """Give an answer: what was clicked stands in brackets, and keys of numbers have a prefix."""
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].split(",")[-1].strip(" '\"")
    text = text.removeprefix("num_")
    return "" if text.casefold() in MISSING else text
