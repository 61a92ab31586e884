"""What a participant's browser is told: the state of its session as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, select

from affectlab.protocols import Protocol, entry_rows, label_field, reason_field
from affectlab.study.database import now_ms
from affectlab.study.delivery.claims import left_over
from affectlab.study.delivery.options import choices_shown, option_rows, options_shown
from affectlab.study.delivery.picture_addresses import picture_address
from affectlab.study.delivery.session import count_trials
from affectlab.study.delivery.staircases import planned, upcoming
from affectlab.study.design import asks_for_options, drops_on_withdrawal
from affectlab.study.store import Store
from affectlab.study.tables import participants, trials

__all__ = [
    "PRELOAD",
    "Known",
    "entry_rows",
    "fields_shown",
    "frame_shown",
    "label_field",
    "paragraphs",
    "pending",
    "reason_field",
    "view",
]

# Answers in people's own words: what a page asks for, and how they are exported.


_ONE_LINE = 80
"""Most characters of a field that is asked for in one line."""


def fields_shown(protocol: Protocol) -> list[dict[str, Any]]:
    """Give what a page shows of the fields of an entry."""
    return [
        {**field.model_dump(mode="json"), "lines": 1 if field.max_length <= _ONE_LINE else 3}
        for field in protocol.fields
    ]


PRELOAD = 3
"""Trials ahead whose pictures are named for loading early."""

_SHOWN_KIND = {"training": "training"}
"""Kinds that participants may tell apart; golden and repeated trials look like any other."""

_LANGUAGE = select(participants.c.language).where(participants.c.id == bindparam("participant"))
_PENDING = (
    select(trials)
    .where(trials.c.session_id == bindparam("session"), trials.c.state.in_(("open", "expired")))
    .order_by(trials.c.position)
    .limit(bindparam("n"))
)


@dataclass(frozen=True)
class Known:
    """What a session's description needs beside its row, where it was read already."""

    language: str
    done: int
    """Trials that are behind."""
    total: int


def view(
    connection: Connection,
    store: Store,
    session: Mapping[Any, Any],
    ahead: list[RowMapping] | None = None,
    known: Known | None = None,
) -> dict[str, Any]:
    """Describe a session to its participant.

    Parameters
    ----------
    ahead
        The session's next trials, where they are known already.
    known
        What else is known already.

    Returns
    -------
    ``study``, ``language``, ``stage``, ``progress`` and, for the stage that it is at, the content
    of that stage; everything else is None.
    """
    design = store.study.design
    known = known or _known(connection, store, session)
    stage, done = session["stage"], known.done
    state: dict[str, Any] = {
        "study": {
            "title": design.study.title,
            "contact": design.study.contact,
            "languages": list(design.study.languages),
            "drops_on_withdrawal": drops_on_withdrawal(store.study),
        },
        "language": known.language or design.study.languages[0],
        "stage": stage,
        "progress": {"done": done, "total": known.total},
    }
    parts = dict.fromkeys(
        ("consent", "demographics", "instructions", "quiz", "trial", "complete", "waiting", "ended")
    )
    state |= parts | {"preload": [], "break": False, "feedback": None}
    if stage == "consent" and design.consent is not None:
        state["consent"] = {
            "paragraphs": paragraphs(design.consent.text),
            **design.consent.agreed_to,
        }
    elif stage == "demographics":
        state["demographics"] = {
            "questions": [one.model_dump(mode="json") for one in design.demographics.questions]
        }
    elif stage == "trials":
        _add_trial(connection, store, session, state, ahead)
    elif stage == "waiting":
        _, until = left_over(connection, store, session["participant_id"], session["batch"])
        minutes = 1.0 if until is None else max(1.0, (until - now_ms()) / 60_000)
        state["waiting"] = {"minutes": round(minutes)}
    elif stage == "complete":
        code = session["completion_code"]
        state["complete"] = {
            "code": code,
            "return_url": design.recruitment.return_url.replace("{code}", code),
            "thanks": paragraphs(design.thanks),
            "withdrawn": session["verdict"] == "withdrawn",
        }
    elif stage == "ended":
        away = session["verdict"] in ("full", "ineligible", "closed")
        begun = session["verdict"] == "closed" and done > 0
        state["ended"] = {
            "reason": session["verdict"],
            "paragraphs": [],
            "return_url": design.recruitment.screened_out_url if away else "",
            "code": design.recruitment.stopped_code if begun else "",
        }
    if stage in ("instructions", "quiz", "trials"):
        state["instructions"] = {
            "paragraphs": paragraphs(store.study.worded(state["language"]).instructions)
        }
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


def _known(connection: Connection, store: Store, session: Mapping[Any, Any]) -> Known:
    of = {"participant": session["participant_id"]}
    language = connection.execute(_LANGUAGE, of).scalar_one()
    adaptive = store.study.protocol.staircase is not None
    done, total = (planned if adaptive else count_trials)(connection, session["id"])
    return Known(language or "", done, total)


def paragraphs(text: str) -> list[str]:
    """Split a text at its empty lines."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def pending(connection: Connection, session: int, n: int) -> list[RowMapping]:
    """Give the next trials that a session has still to answer."""
    return list(connection.execute(_PENDING, {"session": session, "n": n}).mappings())


def _add_trial(
    connection: Connection,
    store: Store,
    session: Mapping[Any, Any],
    state: dict[str, Any],
    ahead: list[RowMapping] | None,
) -> None:
    if ahead is None:
        ahead = pending(connection, session["id"], 1 + PRELOAD)
    if not ahead:
        return
    state["trial"] = _trial(store, ahead[0], state["language"])
    if store.study.protocol.staircase is not None:
        state["preload"] = [
            picture_address(store, session["id"], *shown)
            for shown in upcoming(connection, store, session["seed"], ahead[0])
        ]
    else:
        later = ahead[1 : 1 + PRELOAD]
        state["preload"] = [image for one in later for image in _images(store, one)]
    every = store.study.design.sessions.breaks_every
    done = state["progress"]["done"]
    state["break"] = bool(every and done and done % every == 0)


def _images(store: Store, trial: RowMapping) -> list[str]:
    layout = json.loads(trial["layout"])
    content = store.content[trial["stimulus_id"]]
    files = content["files"]
    if "frames" in layout:
        files = [files[number] for number in layout["frames"]]
    swapped = bool(layout.get("swapped"))
    if "options" in content:
        files = option_rows(content, swapped=swapped)
    elif swapped:
        files = files[::-1]
    return [
        picture_address(store, trial["session_id"], trial["position"], place, file)
        for place, file in enumerate(files)
    ]


def _trial(store: Store, trial: RowMapping, language: str) -> dict[str, Any]:
    study = store.study.worded(language)
    protocol = study.protocol
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
    content = store.content[trial["stimulus_id"]]
    texts = content["texts"]
    swapped = json.loads(trial["layout"]).get("swapped")
    return {
        "id": str(trial["id"]),
        "position": trial["position"],
        "kind": _SHOWN_KIND.get(trial["kind"], "main"),
        "protocol": protocol.name,
        "answer": protocol.answer,
        "widget": study.widget,
        "question": _heading(protocol, [question.text for question in asked]),
        "stimulus": {
            "images": _images(store, trial),
            "texts": texts[::-1] if swapped and "options" not in content else texts,
            "options": options_shown(content, swapped=bool(swapped)),
        },
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
        "legend": protocol.legend,
        "note": protocol.note,
        "rules": {
            "min_labels": protocol.rules.min_labels,
            "max_labels": protocol.rules.max_labels,
            "max_nonzero": protocol.rules.max_nonzero,
            "suggestions": protocol.rules.suggestions,
            "distinct": protocol.rules.distinct,
        },
        "not_rated": protocol.not_rated,
        "per_trial": protocol.asks.per_trial,
        "staircase": protocol.staircase is not None,
        "start": protocol.input.start,
        "must_touch": protocol.input.must_touch,
        "log_movement": protocol.input.log_movement,
        "fields": fields_shown(protocol),
        "choices": choices_shown(protocol) if asks_for_options(protocol) else [],
        "frame": frame_shown(store, trial["stimulus_id"]),
    }


def _heading(protocol: Protocol, texts: list[str]) -> str:
    """Give the wording over a trial: that of its questions, where they have one in common."""
    return texts[0] if len(set(texts)) == 1 else protocol.prompt or protocol.title


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() else number


def frame_shown(store: Store, stimulus: int) -> dict[str, Any] | None:
    """Give what a page needs to run the study's own page in a frame; None without one."""
    frame = store.study.design.frame
    if frame is None:
        return None
    known = json.loads(store.content[stimulus]["attributes"])
    return {
        "address": store.frame_address,
        "largest_kb": frame.largest_kb,
        "parameters": {name: known.get(name) for name in frame.columns},
    }
