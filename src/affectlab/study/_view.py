"""What a participant's browser is told: the state of its session as plain data."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, RowMapping, select

from affectlab.study._claims import left_over
from affectlab.study._database import now_ms
from affectlab.study._session import count_trials
from affectlab.study._store import Store
from affectlab.study._tables import participants, trials

__all__ = ["PRELOAD", "media_of", "paragraphs", "pending", "view"]

PRELOAD = 3
"""Trials ahead whose pictures are named for loading early."""

_SHOWN_KIND = {"training": "training"}
"""Kinds that participants may tell apart; golden and repeated trials look like any other."""


def view(connection: Connection, store: Store, session: RowMapping) -> dict[str, Any]:
    """Describe a session to its participant.

    Returns
    -------
    ``study``, ``language``, ``stage``, ``progress`` and, for the stage that it is at, the content
    of that stage; everything else is None.
    """
    design = store.study.design
    language = connection.execute(
        select(participants.c.language).where(participants.c.id == session["participant_id"])
    ).scalar_one()
    stage = session["stage"]
    done, total = count_trials(connection, session["id"])
    state: dict[str, Any] = {
        "study": {
            "title": design.study.title,
            "contact": design.study.contact,
            "languages": list(design.study.languages),
        },
        "language": language or design.study.languages[0],
        "stage": stage,
        "progress": {"done": done, "total": total},
    }
    parts = dict.fromkeys(
        ("consent", "demographics", "instructions", "quiz", "trial", "complete", "waiting", "ended")
    )
    state |= parts | {"preload": [], "break": False, "feedback": None}
    if stage == "consent" and design.consent is not None:
        state["consent"] = {
            "paragraphs": paragraphs(design.consent.text),
            "version": design.consent.version,
        }
    elif stage == "demographics":
        state["demographics"] = {
            "questions": [one.model_dump(mode="json") for one in design.demographics.questions]
        }
    elif stage == "trials":
        _add_trial(connection, store, session, state)
    elif stage == "waiting":
        _, until = left_over(connection, session["participant_id"])
        minutes = 1.0 if until is None else max(1.0, (until - now_ms()) / 60_000)
        state["waiting"] = {"minutes": round(minutes)}
    elif stage == "complete":
        code = session["completion_code"]
        state["complete"] = {
            "code": code,
            "return_url": design.recruitment.return_url.replace("{code}", code),
            "thanks": paragraphs(design.thanks),
        }
    elif stage == "ended":
        state["ended"] = {"reason": session["verdict"], "paragraphs": []}
    if stage in ("instructions", "quiz", "trials"):
        state["instructions"] = {"paragraphs": paragraphs(store.study.instructions)}
    if stage == "quiz":
        state["quiz"] = {
            "questions": [
                {"question": one.question, "choices": list(one.choices)}
                for one in design.quiz.questions
            ],
            "attempts_left": design.quiz.attempts - session["quiz_attempts"],
            "wrong": [],
        }
    return state


def paragraphs(text: str) -> list[str]:
    """Split a text at its empty lines."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def pending(connection: Connection, session: int, n: int) -> list[RowMapping]:
    """Give the next trials that a session has still to answer."""
    found = connection.execute(
        select(trials)
        .where(trials.c.session_id == session, trials.c.state.in_(("open", "expired")))
        .order_by(trials.c.position)
        .limit(n)
    )
    return list(found.mappings())


def media_of(connection: Connection, store: Store, session: int) -> set[str]:
    """Give the digests of the pictures that a session may see: those of all its trials."""
    rows = connection.execute(
        select(trials.c.stimulus_id).where(trials.c.session_id == session).distinct()
    )
    return {store.media_key(file) for row in rows for file in store.content[row[0]]["files"]}


def _add_trial(
    connection: Connection, store: Store, session: RowMapping, state: dict[str, Any]
) -> None:
    ahead = pending(connection, session["id"], 1 + PRELOAD)
    if not ahead:
        return
    state["trial"] = _trial(store, ahead[0])
    state["preload"] = [image for one in ahead[1:] for image in _images(store, one)]
    every = store.study.design.sessions.breaks_every
    done = state["progress"]["done"]
    state["break"] = bool(every and done and done % every == 0)


def _images(store: Store, trial: RowMapping) -> list[str]:
    files = store.content[trial["stimulus_id"]]["files"]
    shown = [f"/media/{store.media_key(file)}" for file in files]
    return shown[::-1] if json.loads(trial["layout"]).get("swapped") else shown


def _trial(store: Store, trial: RowMapping) -> dict[str, Any]:
    study, protocol = store.study, store.study.protocol
    asked = [
        question
        for question in study.questions
        if not trial["label"] or question.label == trial["label"]
    ]
    scale = protocol.scale
    levels: list[float] = []
    if scale.kind == "binary":
        levels = [0, 1]
    elif scale.low is not None and scale.high is not None and scale.step:
        steps = round((scale.high - scale.low) / scale.step)
        levels = [_plain(scale.low + k * scale.step) for k in range(steps + 1)]
    show = set(protocol.asks.show)
    texts = store.content[trial["stimulus_id"]]["texts"]
    swapped = json.loads(trial["layout"]).get("swapped")
    return {
        "id": str(trial["id"]),
        "position": trial["position"],
        "kind": _SHOWN_KIND.get(trial["kind"], "main"),
        "protocol": protocol.name,
        "answer": protocol.answer,
        "widget": study.widget,
        "question": _heading(store, [question.text for question in asked]),
        "stimulus": {"images": _images(store, trial), "texts": texts[::-1] if swapped else texts},
        "labels": [
            {
                "name": question.label,
                "question": question.text,
                "shown": "label" in show,
                "definition": question.definition if "definition" in show else "",
                "words": list(question.words) if "words" in show else [],
                "emoji": question.emoji if "emoji" in show else "",
                "groups": list(question.groups),
            }
            for question in asked
            if question.label is not None
        ],
        "options": list(protocol.rules.options),
        "exclusive": list(protocol.rules.exclusive),
        "scale": {
            "kind": scale.kind,
            "low": scale.low,
            "high": scale.high,
            "step": scale.step,
            "levels": levels,
            "categories": list(scale.categories),
        },
        "anchors": None if protocol.anchors is None else list(protocol.anchors),
        "rules": {
            "min_labels": protocol.rules.min_labels,
            "max_labels": protocol.rules.max_labels,
            "max_nonzero": protocol.rules.max_nonzero,
            "suggestions": protocol.rules.suggestions,
        },
        "not_rated": protocol.not_rated,
        "per_trial": protocol.asks.per_trial,
    }


def _heading(store: Store, texts: list[str]) -> str:
    """Give the wording over a trial: that of its questions, where they have one in common."""
    protocol = store.study.protocol
    return texts[0] if len(set(texts)) == 1 else protocol.prompt or protocol.title


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() else number
