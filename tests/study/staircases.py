"""A study of staircases, and an observer without chance."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import select

from affectlab.analysis import FrameStaircase
from affectlab.study.delivery.answers import Submission
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.tables import answers, staircases, trials

N_FRAMES = 13
TRIALS, CATCH = 8, 2
BLOCK = 2 * (TRIALS + CATCH)
STUDY = f"""
[study]
name = "jnd"
title = "Can you see a difference?"
[protocol]
name = "staircase"
change = {{ staircase = {{ trials = {TRIALS}, catch = {CATCH} }} }}
[stimuli]
folder = "transitions"
[sessions]
trials = {2 * BLOCK}
raters = 1
"""
JND = {"peak": 3, "neutral": 5}
Maker = Callable[..., Store]
Begin = Callable[..., tuple[Service, str, dict[str, Any]]]


def draw(folder: Path, names: tuple[str, ...] = ("ann-joy", "bob-awe"), n: int = N_FRAMES) -> None:
    """Frames whose order is that of their numbers, and not of their names."""
    for place, name in enumerate(names):
        (folder / name).mkdir(parents=True)
        for frame in range(n):
            shade = (frame * 7, place * 80, 120)
            Image.new("RGB", (8, 8), shade).save(folder / name / f"secret{frame}.png")


@pytest.fixture
def transitions(tmp_path: Path) -> Path:
    draw(tmp_path / "transitions")
    return tmp_path


def shown(store: Store, trial: str) -> dict[str, Any]:
    with store.database.read() as connection:
        row = connection.execute(select(trials).where(trials.c.id == int(trial))).mappings().one()
    return {**row, "name": store.content[row["stimulus_id"]]["name"], **json.loads(row["layout"])}


def saw(store: Store, state: dict[str, Any]) -> Submission:
    """Answer as an observer without chance would: it sees what is its JND away, or more."""
    one = shown(store, state["trial"]["id"])
    fixed, frame = one["frames"]
    value = "different" if abs(fixed - frame) >= JND[one["anchor"]] else "same"
    return said(state, value)


def said(state: dict[str, Any], value: str) -> Submission:
    return Submission(int(state["trial"]["id"]), {"value": value}, uuid.uuid4().hex, "buttons", 700)


def runs(store: Store) -> dict[tuple[int, int, str], FrameStaircase]:
    """Stored runs by session, task and anchor."""
    with store.database.read() as connection:
        return {
            (row["session_id"], row["task_id"], row["anchor"]): FrameStaircase.from_dict(
                json.loads(row["state"])
            )
            for row in connection.execute(select(staircases)).mappings()
        }


def history(store: Store, session: int) -> dict[tuple[str, str], list[tuple[int, bool]]]:
    """Frames shown beside the anchor and whether each was called different, from the answers."""
    found: dict[tuple[str, str], list[tuple[int, bool]]] = {}
    with store.database.read() as connection:
        rows = connection.execute(
            select(trials.c.layout, trials.c.stimulus_id, answers.c.value)
            .join(answers, answers.c.trial_id == trials.c.id)
            .where(trials.c.session_id == session)
            .order_by(trials.c.position)
        ).all()
    for layout, stimulus, value in rows:
        one = json.loads(layout)
        key = (store.content[stimulus]["name"], one["anchor"])
        answer = json.loads(value)["value"] == "different"
        found.setdefault(key, []).append((one["frames"][1], answer))
    return found


def finish(store: Store, service: Service, token: str, state: dict[str, Any]) -> dict[str, Any]:
    while state["stage"] == "trials":
        state = service.answer(token, saw(store, state))
    return state
