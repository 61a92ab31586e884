"""From the database to a table of ratings; people appear under pseudonyms only."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, func, select

from affectlab.core.errors import InputError
from affectlab.core.types import pl
from affectlab.protocols import entry_rows
from affectlab.ratings import Ratings
from affectlab.study.dataset.bonus import write_bonuses
from affectlab.study.dataset.codebook import write_codebook
from affectlab.study.dataset.sessions import guard_csv, withdrawn, write_sessions, write_staircases
from affectlab.study.delivery import option_columns, travelled, which_left
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import answers, participants, sessions, stimuli, tasks, trials

__all__ = [
    "PLANTED",
    "Exported",
    "WrittenTrials",
    "answer_rows",
    "collect",
    "export",
    "pseudonym",
    "ratings_of",
    "write_trials",
]

# What pages of a study's own recorded: one row per trial of theirs.


_COLUMNS = (
    *("stimulus", "rater", "session", "batch", "trial", "trial_kind", "run_ms", "at", "step"),
)
"""Columns of the table, before what the page recorded."""
_DATA = "data."
"""Before the names that the page gave its values, so that they do not meet with ours."""


@dataclass(frozen=True)
class WrittenTrials:
    """Files of recorded trials."""

    files: tuple[Path, ...]
    n_trials: int
    n_rejected: int
    """Recorded trials of answers that do not count."""
    raters: set[str]


def write_trials(store: Store, folder: Path) -> WrittenTrials:
    """Write the recorded trials as JSON Lines, as they came, and as a table.

    ``jspsych.jsonl`` has one object per recorded trial, whose ``data`` is what the page recorded.
    ``jspsych.csv`` has the same rows, every value in a column ``data.NAME``, and what is no single
    value as JSON. Those of answers that do not count stand in ``rejected.jsonl`` and
    ``rejected.csv``. Without any, the files have no rows.
    """
    rows = list(_rows(store, valid=True))
    rejected = list(_rows(store, valid=False))
    files = [
        write(folder / f"{name}{suffix}", part)
        for name, part in (("jspsych", rows), ("rejected", rejected))
        for suffix, write in ((".jsonl", _lines), (".csv", _table))
    ]
    return WrittenTrials(tuple(files), len(rows), len(rejected), {row["rater"] for row in rows})


def _rows(store: Store, *, valid: bool) -> Iterator[dict[str, Any]]:
    wanted = (
        select(trials, sessions.c.batch, answers.c.value, answers.c.rt_ms, answers.c.submitted_at)
        .join(answers, answers.c.trial_id == trials.c.id)
        .join(sessions, sessions.c.id == trials.c.session_id)
        .where(answers.c.valid.is_(valid), ~withdrawn())
        .order_by(trials.c.session_id, trials.c.position)
    )
    with store.database.read() as connection:
        for row in connection.execute(wanted).mappings():
            for place, recorded in enumerate(json.loads(row["value"])["trials"], start=1):
                yield {
                    "stimulus": store.content[row["stimulus_id"]]["name"],
                    "rater": pseudonym(store, row["participant_id"]),
                    "session": str(row["session_id"]),
                    "batch": row["batch"],
                    "trial": row["position"],
                    "trial_kind": row["kind"],
                    "run_ms": row["rt_ms"],
                    "at": datetime.fromtimestamp(row["submitted_at"] / 1000, UTC).isoformat(),
                    "step": place,
                    "data": recorded,
                }


def _lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def _table(path: Path, rows: list[dict[str, Any]]) -> Path:
    import polars as pl

    if not rows:
        pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.String)).write_csv(path)
        return path
    names = dict.fromkeys(name for row in rows for name in row["data"])
    flat = [
        {
            **{name: value for name, value in row.items() if name != "data"},
            **{f"{_DATA}{name}": _cell(row["data"].get(name)) for name in names},
        }
        for row in rows
    ]
    pl.DataFrame(flat, infer_schema_length=None, strict=False).write_csv(path)
    return guard_csv(path)


def _cell(value: object) -> str | None:
    """Give a value as the text of a cell; what is no single value as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


PLANTED = "truth.csv"
"""Name of the table of what simulated people answered from."""
_ALWAYS = (
    *("stimulus", "rater", "value", "session", "trial", "trial_kind", "outcome", "rt_ms", "at"),
    "widget",
)
"""Columns of a table of answers that has none."""
_OPTIONAL = (
    *("label", "text", "step", "batch_kind", "left", "swapped", "anchor", "frame", "movement"),
)
"""Columns that are left out where no answer has them."""
_OF_ANSWERS = (
    *("widget", "batch", "step", "batch_kind", "left", "swapped", "anchor", "frame", "movement"),
    *("entry", "intended"),
)
"""Columns of answers, and of what the study says of a stimulus; an attribute of a stimulus that is
called so becomes ``stimulus_…``."""


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
        steps = _steps(connection, store)
        rows = list(answer_rows(connection, store, valid=valid, batch=batch, steps=steps))
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


def export(store: Store, path: str | Path) -> Exported:
    """Write the answers of a study to a folder.

    Returns
    -------
    Exported
        ``ratings.parquet`` and ``ratings.csv`` with the answers that count, ``rejected.csv`` with
        those that do not, ``sessions.csv`` with how each session went and what was decided about
        it, and ``codebook.csv`` with what columns, labels and values mean and what was asked: these
        always, without rows where there are none. Where there are any, ``pilot.parquet`` and
        ``pilot.csv`` with the answers of the pilot, ``suggestions.csv`` with labels that were
        suggested and notes that were written, ``bonuses.csv`` with the bonuses earned,
        ``truth.csv`` with what simulated people answered from, and ``staircases.csv`` and
        ``.parquet`` with the frames 1 JND away. Of a page of one's own there are no ratings but
        ``jspsych.jsonl`` and ``.csv`` with the trials that it recorded, and ``raters.csv``.

        Answers that were withdrawn stand in none of them. In CSV files a cell that a spreadsheet
        would take for a formula begins with an apostrophe.

    Raises
    ------
    InputError
        When `path` is a file.
    """
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: expected a folder for the export, found a file")
    path.mkdir(parents=True, exist_ok=True)
    if store.study.protocol.answer == "trials":
        return _of_trials(store, path)
    found = collect(store)
    rejected = collect(store, valid=False, batch=None)
    pilot = collect(store, batch="pilot")
    files = [
        _write(part, path / f"{name}{suffix}")
        for name, part in (("ratings", found), ("pilot", pilot))
        if part is not None or name == "ratings"
        for suffix in (".parquet", ".csv")
    ]
    files.append(_write(rejected, path / "rejected.csv"))
    for file in files:
        if file.suffix == ".csv":
            guard_csv(file)
    suggested = _suggestions(store)
    if suggested is not None:
        written = path / "suggestions.csv"
        suggested.write_csv(written)
        files.append(guard_csv(written))
    files += [write_sessions(store, path), *write_staircases(store, path)]
    files += write_bonuses(store, path)
    truth = store.study.state / PLANTED
    if truth.exists() and found is not None and "simulated" in found.rater_kinds:
        # Of a rehearsal: a report says how well it came back out of the answers.
        files.append(Path(shutil.copyfile(truth, path / PLANTED)))
    files.append(_codebook(store, path, files, found or pilot or rejected))
    return Exported(
        path,
        tuple(files),
        0 if found is None else found.n_ratings,
        0 if found is None else found.n_raters,
        0 if rejected is None else rejected.n_rows,
        0 if pilot is None else pilot.n_ratings,
    )


def _write(part: Ratings | None, path: Path) -> Path:
    """Write ratings; where there are none, the names of their columns alone."""
    if part is not None:
        return part.write(path)
    import polars as pl

    empty = pl.DataFrame(schema=dict.fromkeys(_ALWAYS, pl.String))
    if path.suffix == ".parquet":
        empty.write_parquet(path)
        return path
    from affectlab.ratings import sidecar

    empty.write_csv(path)
    # Of an earlier export, whose rows are gone.
    sidecar(path).unlink(missing_ok=True)
    return path


def _codebook(store: Store, folder: Path, files: list[Path], ratings: Ratings | None) -> Path:
    """Describe the columns of all tables, each once."""
    import polars as pl

    # Answers that count and those that do not have about the same columns.
    main = "jspsych" if store.study.protocol.answer == "trials" else "ratings"
    tables: dict[str, list[str]] = {main: []}
    if ratings is not None:
        tables |= {"raters": ratings.raters.columns, "stimuli": ratings.stimuli.columns}
    for file in files:
        if file.suffix == ".csv":
            name = main if file.stem in ("rejected", "pilot") else file.stem
            there = tables.setdefault(name, [])
            columns = pl.read_csv(file, n_rows=0, infer_schema=False).columns
            there += [column for column in columns if column not in there]
    return write_codebook(store, folder / "codebook.csv", tables)


def _of_trials(store: Store, folder: Path) -> Exported:
    """Write what a page of the study's own recorded."""
    found = write_trials(store, folder)
    with store.database.read() as connection:
        raters = _raters(connection, store, found.raters)
    path = folder / "raters.csv"
    raters.write_csv(path)
    files = [*found.files, guard_csv(path), write_sessions(store, folder)]
    files.append(_codebook(store, folder, files, None))
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
    steps: Mapping[int, int] | None = None,
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
    steps
        Batch of a sequential protocol in which the answer to a trial was given, where it is known.
    """
    wanted = (
        select(
            trials.c.id.label("trial_id"),
            trials.c.participant_id,
            trials.c.session_id,
            trials.c.position,
            trials.c.kind,
            trials.c.stimulus_id,
            trials.c.label,
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
            "step": None if steps is None else steps.get(row["trial_id"]),
            "batch_kind": _batch_kind(store, row),
            **_how(store, row),
        }
        for part in _parts(store, json.loads(row["value"])):
            yield {**base, **part}


def _steps(connection: Connection, store: Store) -> dict[int, int]:
    """Count, for every answer that counts, which one to its task it is, in a chain of raters.

    That is the order in which the server goes through them to decide whether it asks on.
    """
    if store.study.protocol.routing.confirmations is None:
        return {}
    nth = func.row_number().over(
        partition_by=trials.c.task_id, order_by=(answers.c.submitted_at, answers.c.trial_id)
    )
    found = connection.execute(
        select(trials.c.id, nth)
        .join(answers, answers.c.trial_id == trials.c.id)
        .join(tasks, tasks.c.id == trials.c.task_id)
        # A pilot asks as many people as it says, one beside the other.
        .where(answers.c.valid.is_(True), tasks.c.batch != "pilot")
    )
    return {int(trial): int(step) for trial, step in found}


def _batch_kind(store: Store, row: RowMapping) -> str | None:
    """Say whether a trial asks about the label that its stimulus is meant to show."""
    protocol = store.study.protocol
    if protocol.asks.per_trial != "one" or row["kind"] != "main":
        return None
    intended = store.intended.get(row["stimulus_id"])
    if intended is None:
        # Without intended labels, every label is asked about as one that may be there.
        return "affirmative" if protocol.routing.confirmations is not None else None
    return "affirmative" if row["label"] == intended else "contrastive"


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
    if not kept:
        return pl.DataFrame(schema=dict.fromkeys(("rater", "rater_kind", "language"), pl.String))
    return pl.DataFrame(kept, infer_schema_length=None)


def _stimuli(connection: Connection, store: Store, wanted: set[str]) -> pl.DataFrame:
    import polars as pl

    found = connection.execute(
        select(stimuli.c.id, stimuli.c.name, stimuli.c.content, stimuli.c.attributes).order_by(
            stimuli.c.id
        )
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
        intended = store.intended.get(row["id"])
        if intended is not None:
            shown["intended"] = intended
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
