"""A study of pairs of pictures, and raters who say how different they are."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import select

from affectlab.study.delivery.answers import Submission
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.tables import trials

STUDY = """
[study]
name = "pairs"
title = "How different are these faces?"
[protocol]
name = "difference"
change = { checks = { training = 2 } }
[stimuli]
table = "pairs.csv"
golden = "known.csv"
training = ["train0", "train1"]
[sessions]
trials = 12
raters = 2
"""
N_MAIN = 12
KNOWN = {
    "gold0": 0,
    "gold1": 30,
    "gold2": 60,
    "gold3": 80,
    "gold4": 100,
    "train0": 20,
    "train1": 90,
}
Maker = Callable[..., Store]
Begin = Callable[..., tuple[Service, str, dict[str, Any]]]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Pictures, the table of pairs and that of known answers."""
    names = [*(f"pair{k:02d}" for k in range(N_MAIN)), *KNOWN]
    rows = ["stimulus,file_a,file_b,actor"]
    for number, name in enumerate(names):
        for side in "ab":
            shade = (number * 5, 0 if side == "a" else 255, 90)
            Image.new("RGB", (8, 8), shade).save(tmp_path / f"secret-{name}-{side}.png")
        rows.append(f"{name},secret-{name}-a.png,secret-{name}-b.png,actor{number % 3}")
    (tmp_path / "pairs.csv").write_text("\n".join(rows), encoding="utf-8")
    known = "\n".join(f"{name},{value}" for name, value in KNOWN.items())
    (tmp_path / "known.csv").write_text(f"stimulus,value\n{known}", encoding="utf-8")
    return tmp_path


def truth(name: str) -> float:
    """What a careful rater says of a pair."""
    return float(KNOWN[name] if name in KNOWN else 8 * int(name.removeprefix("pair")))


def shown(store: Store, trial: str) -> dict[str, Any]:
    with store.database.read() as connection:
        row = connection.execute(select(trials).where(trials.c.id == int(trial))).mappings().one()
    return {
        "name": store.content[row["stimulus_id"]]["name"],
        "files": store.content[row["stimulus_id"]]["files"],
        "kind": row["kind"],
        **json.loads(row["layout"]),
    }


def rated(state: dict[str, Any], value: float, movement: Any = None) -> Submission:
    way = [[100, value / 2], [250, value]] if movement is None else movement
    return Submission(
        int(state["trial"]["id"]), {"value": value}, uuid.uuid4().hex, "slider", 900, way
    )


Say = Callable[[dict[str, Any]], float]


def complete(
    store: Store,
    service: Service,
    token: str,
    state: dict[str, Any],
    say: Say = lambda one: truth(one["name"]),
) -> dict[str, Any]:
    """Answer all trials of a session."""
    while state["stage"] == "trials":
        one = shown(store, state["trial"]["id"])
        state = service.answer(token, rated(state, say(one)))
    return state
