"""What was agreed to: a text that somebody has agreed to stays what it is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from affectlab.core.errors import AffectlabError, InputError
from affectlab.study.database import Database, first_line
from affectlab.study.tables import events, participants

if TYPE_CHECKING:
    from affectlab.study.design.study_file import Study

__all__ = ["begun_data", "check_consent"]

_AGREED = (
    select(events.c.body)
    .select_from(events.join(participants, participants.c.id == events.c.participant_id))
    .where(events.c.kind == "consented", participants.c.kind == "human")
    .distinct()
)
"""What people agreed to; simulated ones, of a rehearsal, hold nobody to a text."""


def check_consent(connection: Connection, study: Study) -> None:
    """Make sure that what people agreed to is what the study file says under that version.

    Raises
    ------
    InputError
        When somebody agreed to another text, or to another fate of withdrawn answers, under the
        version that the study file names, or the study file asks for no consent any more: it could
        no longer be said what people have agreed to.
    """
    for (body,) in connection.execute(_AGREED):
        problem = _contradiction(study, json.loads(body))
        if problem:
            raise InputError(
                f"{study.path}: {problem}, or delete {study.state} if these are only your own tries"
            )


def _contradiction(study: Study, told: dict[str, Any]) -> str:
    """Say in what a study file contradicts an agreement; empty where it does not."""
    consent = study.design.consent
    # The log entries of people who were erased are empty.
    if "version" not in told:
        return ""
    if consent is None:
        return "[consent] was removed, and people have agreed to its text; undo that"
    if told["version"] != consent.version:
        return ""
    under = f"under consent.version = {consent.version!r}; undo that, or give the new text another"
    if told.get("text", consent.digest) != consent.digest:
        return (
            "consent.text was changed, and people have agreed to the text that stood there "
            f"{under} version"
        )
    if told.get("on_withdrawal", consent.on_withdrawal) != consent.on_withdrawal:
        return (
            "consent.on_withdrawal was changed, and people have agreed to what stood there "
            f"{under} version"
        )
    return ""


@contextmanager
def begun_data(study: Study, database: str | None = None) -> Iterator[Connection | None]:
    """Look at the data of a study without beginning it; None when it has none yet.

    Raises
    ------
    InputError
        When the address of the database is not understood.
    AffectlabError
        When the database cannot be opened.
    """
    file = study.state / "study.sqlite" if database is None else _sqlite_file(database)
    if file is not None and not file.exists():
        yield None
        return
    with ExitStack() as closing:
        if file is None:
            assert database is not None
            engine = Database(database).engine
        else:
            engine = _read_only(file)
        closing.callback(engine.dispose)
        try:
            connection = closing.enter_context(engine.connect())
            there = inspect(connection).has_table(events.name)
        except SQLAlchemyError as error:
            raise AffectlabError(f"the database cannot be opened: {first_line(error)}") from None
        yield connection if there else None


def _sqlite_file(database: str) -> Path | None:
    """Give the file that an address names; None where it names none."""
    try:
        address = make_url(database)
    except ArgumentError:
        return None
    name = address.database or ""
    if address.get_backend_name() != "sqlite" or name in ("", ":memory:"):
        return None
    return None if name.startswith("file:") else Path(name)


def _read_only(file: Path) -> Engine:
    # Not by an address of SQLAlchemy's, which would read the escapes of the file's name again and
    # open, or make, another one.
    address = f"{file.absolute().as_uri()}?mode=ro"
    return create_engine("sqlite://", creator=lambda: sqlite3.connect(address, uri=True))
