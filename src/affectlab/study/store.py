"""The data of one study: its folder, its database and its key."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import random
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, RowMapping, delete, exists, insert, select, update

from affectlab.core.errors import AffectlabError, InputError, unknown_name
from affectlab.protocols import Protocol
from affectlab.study.database import SCHEMA, TASKS, Database, hold, now_ms
from affectlab.study.design import (
    FRAMES,
    Stimulus,
    Study,
    bundles_of,
    check_consent,
    content_of,
    draw_faces,
    files_of,
    frame_fingerprint,
    nothing_to_ask,
    set_wanted,
    stimuli_of,
)
from affectlab.study.tables import bundles, events, stimuli, studies, tasks, trials

__all__ = [
    "Store",
    "adopt_known_answers",
    "hashed",
    "log",
    "open_store",
    "pseudonym",
]

# Known answers that come to a study after it was laid out, as those of a pilot do.


_LATE = ("golden", "training")
"""Keys of the stimuli that may be set once the pilot is done."""


def adopt_known_answers(
    connection: Connection, study: Study, before: Mapping[str, Any], now: Mapping[str, Any]
) -> bool:
    """Make stimuli golden or for training in a study of which only the pilot has begun.

    Parameters
    ----------
    before, now
        What the study file said and says that decides about its data.

    Returns
    -------
    False, and nothing is changed, when anything else was changed too, or when somebody was given a
    trial of the main study.
    """
    if _without(before) != _without(now):
        return False
    main = exists().where(trials.c.task_id == tasks.c.id, tasks.c.batch != "pilot")
    if connection.execute(select(main)).scalar_one():
        return False
    found = stimuli_of(study)
    # None may be left with nothing to ask about.
    bundles_of(study, found)
    for one in found:
        expected = None if one.expected is None else json.dumps(one.expected)
        number = connection.execute(
            update(stimuli)
            .where(stimuli.c.name == one.name)
            .values(kind=one.kind, expected=expected)
            .returning(stimuli.c.id)
        ).scalar_one()
        if one.kind != "main":
            connection.execute(
                delete(tasks).where(tasks.c.stimulus_id == number, tasks.c.batch != "pilot")
            )
    return True


def _without(decisive: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in decisive["stimuli"].items() if key not in _LATE}
    return {**decisive, "stimuli": own}


_BLOCK = 1000
"""Rows that one statement inserts."""
_HAPPENED = insert(events)


@dataclass(frozen=True)
class Store:
    """An open study.

    Use :func:`open_store`, and close it with :meth:`close`.
    """

    study: Study
    database: Database
    key: bytes = field(repr=False)
    """Secret of this study: pseudonyms, addresses of pictures and form tokens hang on it."""

    def digest(self, purpose: str, text: str, length: int = 32) -> str:
        """Give a keyed digest, in hexadecimal digits, which nobody without the key can compute."""
        made = hmac.new(self.key, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()
        return made[:length]

    @property
    def status(self) -> str:
        """``open``, ``paused`` or ``closed``."""
        with self.database.read() as connection:
            return str(connection.execute(select(studies.c.status)).scalar_one())

    def set_status(self, status: str, *, by: str = "command line") -> None:
        """Open, pause or close the study."""
        with self.database.write() as connection:
            connection.execute(update(studies).values(status=status))
            log(connection, "study_status", body={"by": by, "status": status})

    @cached_property
    def content(self) -> dict[int, dict[str, Any]]:
        """What is shown of every stimulus: ``files``, ``texts``, ``name``, ``kind``, ``expected``.

        Stimuli never change once a study has begun, so they are read once.
        """
        with self.database.read() as connection:
            rows = connection.execute(select(stimuli)).mappings().all()
        return {
            row["id"]: {
                **json.loads(row["content"]),
                "attributes": row["attributes"],
                "name": row["name"],
                "kind": row["kind"],
                "expected": None if row["expected"] is None else json.loads(row["expected"]),
            }
            for row in rows
        }

    @cached_property
    def intended(self) -> dict[int, str]:
        """Label that each stimulus is meant to show, as far as the study says it."""
        if self.study.design.stimuli.intended is None:
            return {}
        found = {}
        for number, content in self.content.items():
            attributes = json.loads(content["attributes"])
            # That of a golden stimulus, which nothing is asked about but its known answer, may be
            # anything.
            with suppress(InputError):
                found[number] = _intended_label(self.study, attributes)
        return found

    @cached_property
    def media(self) -> dict[str, Path]:
        """Picture by the digest under which the dashboard asks for it."""
        return {
            self.media_key(file): self.study.path.parent / file
            for content in self.content.values()
            for file in files_of(content)
        }

    @cached_property
    def frame_address(self) -> str:
        """Address of the study's own page, which nobody can guess; it changes with its files."""
        return f"{FRAMES}{self.digest('frame', frame_fingerprint(self.study))}/"

    def media_key(self, file: str) -> str:
        """Give the digest that stands for a picture on the dashboard."""
        return self.digest("media", file)

    def close(self) -> None:
        """Close the connections to the database."""
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(study: Study, database: str | None = None) -> Store:
    """Open the data of a study, and begin it when there is none yet.

    Parameters
    ----------
    study
        See :func:`affectlab.study.load_study`.
    database
        Address of a database; None: SQLite in the study's folder.

    Raises
    ------
    InputError
        When the stimuli cannot be used, the study file was changed after the study had begun in
        what decides about the data, or the consent text is not the one that people have agreed to
        under its version.
    AffectlabError
        When the database cannot be opened.
    """
    study.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = _key(study.state / "secret.key")
    draw_faces(study)
    opened = Database.in_folder(study.state) if database is None else Database(database)
    try:
        opened.upgrade()
        with opened.write() as connection:
            hold(connection, SCHEMA)
            begun = connection.execute(select(studies)).mappings().one_or_none()
            if begun is None:
                _begin(connection, study)
            else:
                study = _go_on(connection, study, begun)
                if study.design.sessions.batch is not None:
                    # Pictures that were missing may be there now.
                    hold(connection, TASKS)
                    set_wanted(connection, study)
    except BaseException:
        opened.close()
        raise
    return Store(study, opened, key)


def log(
    connection: Connection,
    kind: str,
    *,
    participant: int | None = None,
    session: int | None = None,
    trial: int | None = None,
    body: dict[str, Any] | None = None,
) -> None:
    """Append to what happened, in the transaction that made it happen."""
    row = {
        "at": now_ms(),
        "kind": kind,
        "participant_id": participant,
        "session_id": session,
        "trial_id": trial,
        "body": json.dumps(body or {}, ensure_ascii=False),
    }
    connection.execute(_HAPPENED, row)


def _key(path: Path) -> bytes:
    """Read the study's key, or make one that only its owner can read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
        if len(key) < 32:
            raise AffectlabError(f"{path}: the key of the study is damaged") from None
        return key
    with os.fdopen(handle, "w", encoding="ascii") as file:
        made = secrets.token_bytes(32)
        file.write(made.hex())
    return made


def _decisive(study: Study) -> dict[str, Any]:
    """Give what a study file says that decides about its data."""
    design = study.design
    named = design.protocol.name
    own = study.place(named).read_text(encoding="utf-8-sig") if named.endswith(".toml") else ""
    return {
        "protocol": design.protocol.model_dump(mode="json"),
        "protocol_file": hashlib.sha256(own.encode()).hexdigest() if own else "",
        "raters": design.sessions.raters,
        "stimuli": design.stimuli.model_dump(mode="json"),
        "seed": design.study.seed,
        "frame": None
        if design.frame is None
        else {**design.frame.model_dump(mode="json"), "files": frame_fingerprint(study)},
        # Not there in studies that were begun before it could be said.
        **({} if design.sessions.batch is None else {"batch": design.sessions.batch}),
    }


def _begin(connection: Connection, study: Study) -> None:
    found = stimuli_of(study)
    connection.execute(
        insert(studies).values(
            id=1,
            name=study.design.study.name,
            design=json.dumps(
                {
                    "decisive": _decisive(study),
                    "protocol": study.protocol.model_dump(mode="json", exclude_unset=True),
                },
                ensure_ascii=False,
            ),
            fingerprint=study.fingerprint,
            status="open",
            created_at=now_ms(),
        )
    )
    rows = [_row(study, number, one) for number, one in enumerate(found, start=1)]
    _insert(connection, stimuli, rows)
    whole = bundles_of(study, found)
    if whole:
        raters = study.protocol.routing.wanted([])
        named = [{"id": k, "name": name, "wanted": raters} for k, name in enumerate(whole, start=1)]
        _insert(connection, bundles, named)
    of = {number: k for k, own in enumerate(whole.values(), start=1) for number in own}
    with_layout = [{**row, "bundle_id": of.get(row["stimulus_id"])} for row in _tasks(study, found)]
    _insert(connection, tasks, with_layout)
    log(connection, "study_begun", body={"file": study.text})


def _go_on(connection: Connection, study: Study, begun: RowMapping) -> Study:
    """Check that a study is still the one that was begun; give it with the protocol it began with.

    A newer version of this package may word a built-in protocol in another way; those who answer
    later are asked what those before them were asked.
    """
    stored = json.loads(begun["design"])
    decisive = _decisive(study)
    changed = stored["decisive"] != decisive
    if changed and adopt_known_answers(connection, study, stored["decisive"], decisive):
        changed = False
        # The study asks for the golden trials that it names now.
        golden = {"golden": study.protocol.checks.golden}
        checks = {"checks": {**stored["protocol"].get("checks", {}), **golden}}
        stored = {**stored, "decisive": decisive, "protocol": {**stored["protocol"], **checks}}
        design = json.dumps(stored, ensure_ascii=False)
        connection.execute(update(studies).values(design=design))
        log(connection, "golden_adopted", body={"golden": study.design.stimuli.golden})
    if changed:
        raise InputError(
            f"{study.path}: the protocol, the stimuli or the seed were changed after the study had "
            f"begun, so its answers would no longer belong together; undo that, or copy the file "
            "to start another study"
        )
    check_consent(connection, study)
    if begun["fingerprint"] != study.fingerprint:
        connection.execute(update(studies).values(fingerprint=study.fingerprint))
        log(connection, "study_changed", body={"file": study.text})
    try:
        protocol = Protocol.model_validate(stored["protocol"])
    except ValidationError:
        raise AffectlabError(
            f"{study.path}: the study was begun with another version of affectlab, which had a "
            "protocol that this one cannot read"
        ) from None
    return replace(study, protocol=protocol)


def _row(study: Study, number: int, one: Stimulus) -> dict[str, Any]:
    base = study.path.parent.absolute()
    files = [_relative(file, base) for file in one.files]
    options = content_of(one.options, lambda file: _relative(file, base))
    content = {"files": files, "texts": list(one.texts), **options}
    return {
        "id": number,
        "name": one.name,
        "content": json.dumps(content, ensure_ascii=False),
        "attributes": json.dumps(one.attributes, ensure_ascii=False, default=str),
        "kind": one.kind,
        "expected": None if one.expected is None else json.dumps(one.expected),
    }


def _relative(file: Path, base: Path) -> str:
    return Path(os.path.relpath(file.absolute(), base)).as_posix()


def _tasks(study: Study, found: list[Stimulus]) -> list[dict[str, Any]]:
    """Make one task per stimulus; where a trial asks for one label, one per cell to ask about."""
    shuffled = random.Random(study.design.study.seed)
    rows = [
        {"stimulus_id": number, "label": label, "batch": batch}
        for number, one in enumerate(found, start=1)
        if one.kind == "main"
        for label, batch in _cells(study, one, shuffled)
    ]
    if not rows:
        raise nothing_to_ask(study)
    ranks = list(range(len(rows)))
    shuffled.shuffle(ranks)
    wanted = study.protocol.routing.wanted([])
    return [{**row, "rank": rank, "wanted": wanted} for row, rank in zip(rows, ranks, strict=True)]


def _cells(study: Study, one: Stimulus, shuffled: random.Random) -> list[tuple[str, str]]:
    """Labels to ask one stimulus about, each with its batch."""
    protocol, intended = study.protocol, study.design.stimuli.intended
    if protocol.asks.per_trial != "one":
        return [("", "main")]
    labels = protocol.labels()
    if intended is None:
        return [(label, "main") for label in labels]
    try:
        own = _intended_label(study, one.attributes)
    except InputError as error:
        raise InputError(
            f"{study.path}: stimulus {one.name!r}: column {intended!r} (stimuli.intended): {error}"
        ) from None
    others = [label for label in labels if label != own]
    contrast = [(shuffled.choice(others), "contrast")] if protocol.routing.contrastive else []
    return [(own, "main"), *contrast]


def _intended_label(study: Study, attributes: Mapping[str, Any]) -> str:
    """Give the label that a stimulus is meant to show, as the protocol's taxonomy names it.

    Raises
    ------
    InputError
        When it is not one of the labels that are asked about.
    """
    protocol = study.protocol
    named = str(attributes.get(study.design.stimuli.intended or "") or "")
    taxonomy = protocol.taxonomy()
    own = named if taxonomy is None else taxonomy.name_of(named)
    if own not in protocol.labels():
        raise unknown_name("label", named, protocol.labels())
    return own


def _insert(connection: Connection, table: Any, rows: list[dict[str, Any]]) -> None:
    for start in range(0, len(rows), _BLOCK):
        connection.execute(insert(table), rows[start : start + _BLOCK])


def hashed(secret: str) -> str:
    """Give the digest under which a secret is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()


def pseudonym(store: Store, participant: int) -> str:
    """Give the name under which a participant appears in all data that leave the study.

    It is a keyed digest: without the study's key nobody can tell who it is, and the same person has
    the same name in every export.
    """
    return "r" + store.digest("rater", str(participant), 12)
