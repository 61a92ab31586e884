"""From the database to a table of ratings; people appear under pseudonyms only."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection, RowMapping, select

from affectlab.errors import InputError
from affectlab.study._bonus import write_bonuses
from affectlab.study._entries import entry_rows
from affectlab.study._export_frames import write_trials
from affectlab.study._export_tables import (
    guard_csv,
    pseudonym,
    withdrawn,
    write_sessions,
    write_staircases,
)
from affectlab.study._movement import travelled
from affectlab.study._options_of import option_columns, which_left
from affectlab.study._store import Store
from affectlab.study._tables import answers, participants, sessions, stimuli, trials

if TYPE_CHECKING:
    import polars as pl

    from affectlab.ratings import Ratings

__all__ = ["PLANTED", "Exported", "answer_rows", "collect", "export", "pseudonym", "ratings_of"]

PLANTED = "truth.csv"
"""Name of the table of what simulated people answered from."""
_OPTIONAL = ("label", "text", "left", "swapped", "anchor", "frame", "movement")
"""Columns that are left out where no answer has them."""
_OF_ANSWERS = ("widget", "batch", "left", "swapped", "anchor", "frame", "movement", "entry")
"""Columns of answers; an attribute of a stimulus that is called so becomes ``stimulus_…``."""


@dataclass(frozen=True)
class Exported:
    """What an export wrote."""

    folder: Path
    files: tuple[Path, ...]
    n_ratings: int
    n_raters: int
    n_rejected: int
    """Answers that do not count, which stand in a file of their own."""
    n_pilot: int = 0
    """Ratings of the pilot, which stand in files of their own."""
    what: str = "rating"
    """What the rows are: ratings, or trials that a page of one's own recorded."""


def collect(
    store: Store, *, valid: bool = True, batch: Literal["main", "pilot"] | None = "main"
) -> Ratings | None:
    """Collect the answers of a study as ratings; None when there are none.

    A label that a rater left unrated has no row, which is not the same as a row with 0. A rater
    who chose an exclusive option such as "unclear" has rows without values, whose outcome is
    ``refused``, and a column of that name.

    Parameters
    ----------
    valid
        The answers that count, or those that do not.
    batch
        The answers of the main study, of the pilot, or of both (None); a column ``batch`` tells
        them apart.
    """
    with store.database.read() as connection:
        rows = list(answer_rows(connection, store, valid=valid, batch=batch))
        if not rows:
            return None
        raters = _raters(connection, store, {row["rater"] for row in rows})
        shown = _stimuli(connection, store, {row["stimulus"] for row in rows})
    return ratings_of(store, rows, raters=raters, stimuli=shown)


def ratings_of(
    store: Store,
    rows: list[dict[str, Any]],
    *,
    raters: pl.DataFrame | None = None,
    stimuli: pl.DataFrame | None = None,
) -> Ratings:
    """Make ratings of rows of answers, with what is known of raters and stimuli."""
    import polars as pl

    from affectlab.ratings import Ratings

    frame = pl.DataFrame(rows, infer_schema_length=None)
    empty = [name for name in _OPTIONAL if frame[name].null_count() == frame.height]
    if not (frame["batch"] == "pilot").any():
        empty.append("batch")
    protocol = store.study.protocol
    return Ratings(
        frame.drop(empty),
        scale=protocol.scale.spec,
        raters=raters,
        stimuli=stimuli,
        taxonomy=protocol.taxonomy(),
        source=store.study.design.study.name,
    )


def export(store: Store, folder: str | Path) -> Exported:
    """Write the answers of a study to a folder.

    Returns
    -------
    Exported
        ``ratings.parquet`` and ``ratings.csv`` with the answers that count, ``sessions.csv`` with
        how each session went and what was decided about it; where there are any,
        ``rejected.csv`` with those that do not, ``pilot.parquet`` and ``pilot.csv`` with those of
        the pilot, ``suggestions.csv`` with labels that were suggested and notes that were written,
        ``bonuses.csv`` with the bonuses earned, ``truth.csv`` with what simulated people answered
        from, and ``staircases.csv`` and ``.parquet`` with the frames 1 JND away. Of a page of one's
        own there are no ratings but ``jspsych.jsonl`` and ``.csv`` with the trials that it
        recorded, and ``raters.csv``.

        Answers that were withdrawn stand in none of them. In CSV files a cell that a spreadsheet
        would take for a formula begins with an apostrophe.

    Raises
    ------
    InputError
        When nobody has answered yet, or `folder` is a file.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected a folder for the export, found a file")
    if store.study.protocol.answer == "trials":
        return _of_trials(store, folder)
    found = collect(store)
    rejected = collect(store, valid=False, batch=None)
    pilot = collect(store, batch="pilot")
    if found is None and pilot is None:
        count = 0 if rejected is None else rejected.n_rows
        why = f"; {count} answers were rejected" if count else ""
        raise InputError(f"{store.study.path}: there is no answer to export yet{why}")
    folder.mkdir(parents=True, exist_ok=True)
    files = [
        part.write(folder / f"{name}{suffix}")
        for name, part in (("ratings", found), ("pilot", pilot))
        if part is not None
        for suffix in (".parquet", ".csv")
    ]
    if rejected is not None:
        files.append(rejected.write(folder / "rejected.csv"))
    for file in files:
        if file.suffix == ".csv":
            guard_csv(file)
    suggested = _suggestions(store)
    if suggested is not None:
        path = folder / "suggestions.csv"
        suggested.write_csv(path)
        files.append(guard_csv(path))
    files += [write_sessions(store, folder), *write_staircases(store, folder)]
    files += write_bonuses(store, folder)
    truth = store.study.state / PLANTED
    if truth.exists() and found is not None and "simulated" in found.rater_kinds:
        # Of a rehearsal: a report says how well it came back out of the answers.
        files.append(Path(shutil.copyfile(truth, folder / PLANTED)))
    return Exported(
        folder,
        tuple(files),
        0 if found is None else found.n_ratings,
        0 if found is None else found.n_raters,
        0 if rejected is None else rejected.n_rows,
        0 if pilot is None else pilot.n_ratings,
    )


def _of_trials(store: Store, folder: Path) -> Exported:
    """Write what a page of the study's own recorded."""
    found = write_trials(store, folder)
    with store.database.read() as connection:
        raters = _raters(connection, store, found.raters)
    path = folder / "raters.csv"
    raters.write_csv(path)
    files = [*found.files, guard_csv(path), write_sessions(store, folder)]
    return Exported(
        folder,
        tuple(files),
        found.n_trials,
        len(found.raters),
        found.n_rejected,
        what="recorded trial",
    )


def answer_rows(
    connection: Connection,
    store: Store,
    *,
    valid: bool | None = None,
    participant: int | None = None,
    batch: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Give the answers as rows of ratings, in the order of sessions and trials.

    Parameters
    ----------
    valid
        Those that count, those that do not, or all.
    participant
        Those of one person; by default of all.
    batch
        Those of the main study, or of the pilot; by default of both.
    """
    wanted = (
        select(
            trials.c.participant_id,
            trials.c.session_id,
            trials.c.position,
            trials.c.kind,
            trials.c.stimulus_id,
            answers.c.value,
            answers.c.widget,
            answers.c.rt_ms,
            answers.c.submitted_at,
            answers.c.movement,
            trials.c.layout,
            sessions.c.batch,
        )
        .join(answers, answers.c.trial_id == trials.c.id)
        .join(sessions, sessions.c.id == trials.c.session_id)
        .where(~withdrawn())
        .order_by(trials.c.session_id, trials.c.position)
    )
    if valid is not None:
        wanted = wanted.where(answers.c.valid.is_(valid))
    if participant is not None:
        wanted = wanted.where(trials.c.participant_id == participant)
    if batch is not None:
        wanted = wanted.where(sessions.c.batch == batch)
    found = connection.execute(wanted)
    names: dict[int, str] = {}
    for row in found.mappings():
        person = row["participant_id"]
        if person not in names:
            names[person] = pseudonym(store, person)
        base = {
            "stimulus": store.content[row["stimulus_id"]]["name"],
            "rater": names[person],
            "session": str(row["session_id"]),
            "trial": row["position"],
            "trial_kind": row["kind"],
            "rt_ms": row["rt_ms"],
            "at": datetime.fromtimestamp(row["submitted_at"] / 1000, UTC).isoformat(),
            "widget": row["widget"],
            "batch": row["batch"],
            **_how(store, row),
        }
        for part in _parts(store, json.loads(row["value"])):
            yield {**base, **part}


def _how(store: Store, row: RowMapping) -> dict[str, Any]:
    """Say how a trial was laid out, and how far its slider went, where there is such a thing."""
    layout = json.loads(row["layout"])
    moved = None if row["movement"] is None else json.loads(row["movement"])
    start = store.study.protocol.input.start or 0.0
    return {
        "swapped": layout.get("swapped"),
        "left": which_left(store, row),
        "anchor": layout.get("anchor"),
        "frame": layout["frames"][1] if "frames" in layout else None,
        "movement": None if moved is None else travelled(moved, start),
    }


def _parts(store: Store, answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Spread one answer over rows, one per label."""
    protocol = store.study.protocol
    if "ratings" in answer:
        for label, value in answer["ratings"].items():
            if value is not None:
                yield {"label": label, "value": float(value), "text": None, "outcome": "ok"}
    elif "chosen" in answer:
        chosen = set(answer["chosen"])
        options = {name: name in chosen for name in protocol.rules.options}
        declined = bool(chosen) and chosen <= set(protocol.rules.options)
        for label in protocol.labels():
            yield {
                "label": label,
                "value": None if declined else float(label in chosen),
                "text": None,
                "outcome": "refused" if declined else "ok",
                **options,
            }
    elif "value" in answer:
        yield {"label": None, "value": answer["value"], "text": None, "outcome": "ok"}
    elif "entries" in answer:
        yield from entry_rows(protocol, answer["entries"])


def _raters(connection: Connection, store: Store, wanted: set[str]) -> pl.DataFrame:
    import polars as pl

    found = connection.execute(
        select(
            participants.c.id,
            participants.c.kind,
            participants.c.language,
            participants.c.demographics,
        )
    )
    rows = [
        {
            "rater": pseudonym(store, row["id"]),
            "rater_kind": row["kind"],
            "language": row["language"],
            **json.loads(row["demographics"]),
        }
        for row in found.mappings()
    ]
    kept = [row for row in rows if row["rater"] in wanted]
    return pl.DataFrame(kept, infer_schema_length=None)


def _stimuli(connection: Connection, store: Store, wanted: set[str]) -> pl.DataFrame:
    import polars as pl

    found = connection.execute(
        select(stimuli.c.name, stimuli.c.content, stimuli.c.attributes).order_by(stimuli.c.id)
    )
    rows = []
    for row in found.mappings():
        if row["name"] not in wanted:
            continue
        content = json.loads(row["content"])
        attributes = {
            f"stimulus_{name}" if name in _OF_ANSWERS else name: value
            for name, value in json.loads(row["attributes"]).items()
            if name not in ("stimulus", "file", "text")
        }
        shown: dict[str, Any] = {}
        files = [Path(file).name for file in content["files"]]
        if len(files) == 2:
            shown["file_a"], shown["file_b"] = files
        elif len(files) > 2:
            shown["frames"] = len(files)
        elif files:
            shown["file"] = files[0]
        if content["texts"]:
            shown["text"] = content["texts"][0]
        shown |= option_columns(store, content)
        rows.append({"stimulus": row["name"], **shown, **attributes})
    return pl.DataFrame(rows, infer_schema_length=None)


def _suggestions(store: Store) -> pl.DataFrame | None:
    """Labels and notes that raters wrote beside answers that count."""
    import polars as pl

    with store.database.read() as connection:
        found = connection.execute(
            select(trials.c.participant_id, trials.c.stimulus_id, answers.c.value)
            .join(answers, answers.c.trial_id == trials.c.id)
            .join(sessions, sessions.c.id == trials.c.session_id)
            .where(answers.c.value.like('%"suggestion"%'), answers.c.valid.is_(True), ~withdrawn())
        ).all()
    rows = [
        {
            "stimulus": store.content[stimulus]["name"],
            "rater": pseudonym(store, participant),
            "suggestion": suggestion,
        }
        for participant, stimulus, value in found
        if (suggestion := json.loads(value).get("suggestion"))
    ]
    return pl.DataFrame(rows) if rows else None
