"""The folder of a loop: who works on it, the prompts of each round, and every answer."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from affectlab._csv import write_data_csv
from affectlab._version import __version__
from affectlab.errors import InputError
from affectlab.models.hinted._plan import LATER, HintedPlan
from affectlab.stimuli.generation import read_prompts

__all__ = ["DECOY", "MAIN", "Answered", "Store"]

SCHEMA = "affectlab/hinted/1"
STATE, LEDGER, PROMPTS, PICTURES = "state.json", "ledger.jsonl", "prompts", "pictures"
_TRIES = 3
"""Failures of the transport after which a picture is passed over, so that it holds up no other."""
MAIN, DECOY = "main", "decoy"
"""Who is asked: the annotator as it is used, or as it is audited with wrong hints."""


@dataclass(frozen=True)
class Answered:
    """One answer about one picture."""

    role: str
    stimulus: str
    sha256: str
    """Hash of the picture that it is about."""
    round: int
    hint: str
    """Label that was hinted at, ``""`` for none."""
    target: str
    """Label that the picture was made for, ``""`` where it was made for none."""
    outcome: str
    values: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""


class Store:
    """What a loop has done, on disk; everything else is computed from it.

    A prompt is written before its picture is made, a picture before it is asked about, and an
    answer as soon as it is there, so that a run that is killed at any moment goes on without doing
    anything twice but what was under way.
    """

    def __init__(self, folder: Path, plan: HintedPlan, annotator: Mapping[str, str]) -> None:
        self.folder = folder
        self.plan = plan
        self.annotator = dict(annotator)
        self.answers: dict[tuple[str, str], Answered] = {}
        """Last answer by role and stimulus."""
        self._failures: Counter[tuple[str, str]] = Counter()
        self._check()
        self._read()

    @property
    def pictures(self) -> Path:
        """Folder of the pictures that were made."""
        return self.folder / PICTURES

    def _check(self) -> None:
        """Make the folder, or find that an earlier run did the same with it."""
        place = self.folder / STATE
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file; expected a folder for the run")
        if not place.exists():
            there = self.folder.iterdir() if self.folder.is_dir() else ()
            # A run that was killed at once left the beginning of its state.
            if any(not one.name.endswith(".part") for one in there):
                raise InputError(
                    f"{self.folder} holds other files; expected a new folder, an empty one, or "
                    "that of an earlier run"
                )
            self.say(round=0, step="begun", stopped="")
            (self.folder / PROMPTS).mkdir(exist_ok=True)
            return
        told = read_state(self.folder)
        if told["fingerprint"] != self.plan.fingerprint:
            names = [
                name
                for name, value in self.plan.model_dump(mode="json").items()
                if told["plan"].get(name) != value and name not in LATER
            ]
            raise InputError(
                f"{self.folder} was begun with another plan ({', '.join(names)}); expected the "
                "plan of the earlier run, in which how far to go may change, or a new folder"
            )
        for name, was in told["annotator"].items():
            if self.annotator[name] != was:
                raise InputError(
                    f"{self.folder} was begun with an annotator whose {name} is {was!r}, not "
                    f"{self.annotator[name]!r}; expected the same one, or a new folder"
                )
        (self.folder / PROMPTS).mkdir(exist_ok=True)

    def say(self, *, round: int, step: str, stopped: str) -> None:
        """Write down where the run is, for people and for the check of the next run."""
        told = {
            "schema": SCHEMA,
            "affectlab": __version__,
            "fingerprint": self.plan.fingerprint,
            "plan": self.plan.model_dump(mode="json"),
            "annotator": self.annotator,
            "round": round,
            "step": step,
            "stopped": stopped,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(told, ensure_ascii=False, indent=2) + "\n"
        replace_file(self.folder / STATE, text.encode())

    def _read(self) -> None:
        place = self.folder / LEDGER
        if not place.exists():
            return
        *lines, rest = place.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            try:
                self._count(Answered(**json.loads(line)))
            except (ValueError, TypeError):
                raise InputError(
                    f"{place}, line {number}: not an answer; expected the ledger of an earlier run"
                ) from None
        if rest:
            # A run that was killed left half a line; its picture is asked about again.
            replace_file(place, b"".join(line + b"\n" for line in lines))

    def _count(self, answer: Answered) -> None:
        key = (answer.role, answer.stimulus)
        self.answers[key] = answer
        self._failures[key] += answer.outcome == "transport"

    def add(self, answers: Iterable[Answered]) -> None:
        """Write answers down, safe against a loss of power."""
        new = list(answers)
        with (self.folder / LEDGER).open("ab") as file:
            lines = (json.dumps(asdict(one), ensure_ascii=False).encode() for one in new)
            file.write(b"".join(line + b"\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())
        for one in new:
            self._count(one)

    def holds(self, role: str, stimulus: str, sha256: str, hint: str) -> bool:
        """Whether a picture, as it is now, was answered about with that hint.

        A failure of the transport is no answer, until it has come about too often.
        """
        found = self.answers.get((role, stimulus))
        if found is None or (found.sha256, found.hint) != (sha256, hint):
            return False
        return found.outcome != "transport" or self._failures[role, stimulus] >= _TRIES

    def prompts(self, round: int) -> pl.DataFrame | None:
        """Read the prompts of a round, with their decoys; None where there are none yet."""
        place = self._of_round(round)
        if not place.exists():
            return None
        table = read_prompts(place)
        return table.with_columns(pl.col("decoy").cast(pl.String).fill_null(""))

    def keep_prompts(self, round: int, table: pl.DataFrame) -> None:
        """Write the prompts of a round, whole or not at all."""
        place = self._of_round(round)
        part = place.with_name(f".{place.name}.part")
        write_data_csv(table, part)
        part.replace(place)

    def _of_round(self, round: int) -> Path:
        return self.folder / PROMPTS / f"round-{round:03d}.csv"

    def all_prompts(self) -> list[pl.DataFrame]:
        """Read the prompts of all rounds that were begun, each with its number."""
        found: list[pl.DataFrame] = []
        names = sorted((self.folder / PROMPTS).glob("round-*.csv"))
        for place in names:
            round = int(place.stem.removeprefix("round-"))
            table = self.prompts(round)
            if table is not None:
                found.append(table.with_columns(round=pl.lit(round, dtype=pl.Int64)))
        return found


def read_state(folder: Path) -> dict[str, Any]:
    """Read what a folder says of its run.

    Raises
    ------
    InputError
        When it is none of a run, or of another version.
    """
    place = folder / STATE
    try:
        told = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder} holds no {STATE}; expected the folder of a run") from None
    except (OSError, ValueError) as problem:
        raise InputError(f"{place} cannot be read ({problem})") from None
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        raise InputError(f"{place}: expected the schema {SCHEMA}")
    for name in ("fingerprint", "plan", "annotator", "round", "stopped"):
        if name not in told:
            raise InputError(f"{place}: key {name!r} is missing")
    return told


def replace_file(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
