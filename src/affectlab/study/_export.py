"""From the database to a table of ratings; people appear under pseudonyms only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from affectlab.errors import InputError
from affectlab.study._store import Store
from affectlab.study._tables import answers, participants, stimuli, trials

if TYPE_CHECKING:
    import polars as pl

    from affectlab.ratings import Ratings

__all__ = ["Exported", "collect", "export", "pseudonym"]


@dataclass(frozen=True)
class Exported:
    """What an export wrote."""

    folder: Path
    files: tuple[Path, ...]
    n_ratings: int
    n_raters: int
    n_rejected: int
    """Answers that do not count, which stand in a file of their own."""


def pseudonym(store: Store, participant: int) -> str:
    """Give the name under which a participant appears in all data that leave the study.

    It is a keyed digest: without the study's key nobody can tell who it is, and the same person has
    the same name in every export.
    """
    return "r" + store.digest("rater", str(participant), 12)


def collect(store: Store, *, valid: bool = True) -> Ratings | None:
    """Collect the answers of a study as ratings; None when there are none.

    A label that a rater left unrated has no row, which is not the same as a row with 0. A rater
    who chose an exclusive option such as "unclear" has rows without values, whose outcome is
    ``refused``, and a column of that name.

    Parameters
    ----------
    valid
        The answers that count, or those that do not.
    """
    import polars as pl

    from affectlab.ratings import Ratings

    with store.database.read() as connection:
        rows = list(_rows(connection, store, valid))
        if not rows:
            return None
        raters = _raters(connection, store, {row["rater"] for row in rows})
        shown = _stimuli(connection, {row["stimulus"] for row in rows})
    frame = pl.DataFrame(rows, infer_schema_length=None)
    protocol = store.study.protocol
    if frame["label"].null_count() == frame.height:
        frame = frame.drop("label")
    if frame["text"].null_count() == frame.height:
        frame = frame.drop("text")
    return Ratings(
        frame,
        scale=protocol.scale.spec,
        raters=raters,
        stimuli=shown,
        taxonomy=protocol.taxonomy(),
        source=store.study.design.study.name,
    )


def export(store: Store, folder: str | Path) -> Exported:
    """Write the answers of a study to a folder.

    Returns
    -------
    Exported
        ``ratings.parquet`` and ``ratings.csv`` with the answers that count; ``rejected.csv`` with
        those that do not, and ``suggestions.csv`` with suggested labels, where there are any.

    Raises
    ------
    InputError
        When nobody has answered yet, or `folder` is a file.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected a folder for the export, found a file")
    found = collect(store)
    rejected = collect(store, valid=False)
    if found is None:
        count = 0 if rejected is None else rejected.n_rows
        why = f"; {count} answers were rejected" if count else ""
        raise InputError(f"{store.study.path}: there is no answer to export yet{why}")
    folder.mkdir(parents=True, exist_ok=True)
    files = [found.write(folder / "ratings.parquet"), found.write(folder / "ratings.csv")]
    if rejected is not None:
        files.append(rejected.write(folder / "rejected.csv"))
    suggested = _suggestions(store)
    if suggested is not None:
        path = folder / "suggestions.csv"
        suggested.write_csv(path)
        files.append(path)
    return Exported(
        folder,
        tuple(files),
        found.n_ratings,
        found.n_raters,
        0 if rejected is None else rejected.n_rows,
    )


def _rows(connection: Connection, store: Store, valid: bool) -> Iterator[dict[str, Any]]:
    found = connection.execute(
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
        )
        .join(answers, answers.c.trial_id == trials.c.id)
        .where(answers.c.valid.is_(valid))
        .order_by(trials.c.session_id, trials.c.position)
    )
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
        }
        for part in _parts(store, json.loads(row["value"])):
            yield {**base, **part}


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
    else:
        for entry in answer.get("entries", ()):
            yield {
                "label": entry.get("emotion"),
                "value": None,
                "text": entry.get("reason"),
                "outcome": "ok",
            }


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


def _stimuli(connection: Connection, wanted: set[str]) -> pl.DataFrame:
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
            name: value
            for name, value in json.loads(row["attributes"]).items()
            if name not in ("stimulus", "file", "text")
        }
        shown: dict[str, Any] = {}
        if content["files"]:
            shown["file"] = Path(content["files"][0]).name
        if content["texts"]:
            shown["text"] = content["texts"][0]
        rows.append({"stimulus": row["name"], **shown, **attributes})
    return pl.DataFrame(rows, infer_schema_length=None)


def _suggestions(store: Store) -> pl.DataFrame | None:
    """Labels that raters of a pilot suggested."""
    import polars as pl

    with store.database.read() as connection:
        found = connection.execute(
            select(trials.c.participant_id, trials.c.stimulus_id, answers.c.value)
            .join(answers, answers.c.trial_id == trials.c.id)
            .where(answers.c.value.like('%"suggestion"%'))
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
