"""The folder of a loop: who works on it, the prompts of each round, and every answer."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from affectlab._version import __version__
from affectlab.core.errors import InputError
from affectlab.core.files.csv import write_data_csv
from affectlab.evaluation import OUTCOMES
from affectlab.models.ask import LineFile
from affectlab.models.hinted.plan import LATER, HintedPlan
from affectlab.stimuli.generation import read_prompts

__all__ = ["DECOY", "FAILURES", "MAIN", "Answered", "Store"]

SCHEMA = "affectlab/hinted/1"
_LEDGER_SCHEMA = "affectlab/hinted-ledger/1"
STATE, LEDGER, PROMPTS, PICTURES = "state.json", "ledger.jsonl", "prompts", "pictures"
FAILURES = frozenset({"transport", "rejected"})
"""Outcomes that are no answers: nobody has looked at the picture."""
_QUESTION = ("role", "stimulus", "sha256", "hint")
"""What names a question in the ledger."""
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

    @classmethod
    def read(cls, told: Mapping[str, Any], labels: Collection[str]) -> Answered:
        """Read a line of the ledger; raises TypeError or ValueError for what was not written here.

        Parameters
        ----------
        labels
            Of the taxonomy.
        """
        found = cls(**told)
        texts = (found.stimulus, found.sha256, found.hint, found.target, found.problem)
        values = found.values
        if not (
            all(isinstance(one, str) for one in texts)
            and found.role in (MAIN, DECOY)
            and found.outcome in OUTCOMES
            and isinstance(found.round, int)
            and isinstance(values, dict)
            and all(name in labels and isinstance(one, int | float) for name, one in values.items())
        ):
            raise ValueError("not an answer")
        return found


class Store:
    """What a loop has done, on disk; everything else is computed from it.

    A prompt is written before its picture is made, a picture before it is asked about, a question
    before the annotator has it, and an answer as soon as it is there, so that a run that is killed
    at any moment goes on, and knows what was in flight: that alone is asked about again. Nobody
    else writes there meanwhile.

    Parameters
    ----------
    again
        Outcomes that are asked about again although they were answers.
    """

    def __init__(
        self,
        folder: Path,
        plan: HintedPlan,
        annotator: Mapping[str, str],
        again: Collection[str] = (),
    ) -> None:
        self.folder = folder
        self.plan = plan
        self.annotator = dict(annotator)
        self.answers: dict[tuple[str, str], Answered] = {}
        """Last answer by role and stimulus."""
        self._again = frozenset(again)
        self._failures: Counter[tuple[str, str]] = Counter()
        self._new: set[tuple[str, str]] = set()
        self._refuse_other_files()
        self._ledger = LineFile(folder / LEDGER, _LEDGER_SCHEMA, _QUESTION)
        try:
            self._check()
            self.n_broken = self._ledger.n_broken
            """Lines that could not be read; what they held is asked about again."""
            self.in_flight = tuple(str(one.get("stimulus")) for one in self._ledger.in_flight)
            """Stimuli that the annotator had when the run before ended, without an answer."""
            labels = set(plan.known().labels)
            for line in self._ledger.lines():
                try:
                    self._count(Answered.read(line, labels))
                except (TypeError, ValueError):
                    self.n_broken += 1
        except BaseException:
            self._ledger.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._ledger.close()

    @property
    def pictures(self) -> Path:
        """Folder of the pictures that were made."""
        return self.folder / PICTURES

    def _refuse_other_files(self) -> None:
        """Leave a folder alone that was not made for a run."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file; expected a folder for the run")
        if (self.folder / STATE).exists() or not self.folder.is_dir():
            return
        # A run that was killed at once left its ledger, or the beginning of its state.
        left = (LEDGER, f".{LEDGER}.lock", f".{STATE}.part")
        if any(one.name not in left for one in self.folder.iterdir()):
            raise InputError(
                f"{self.folder} holds other files; expected a new folder, an empty one, or "
                "that of an earlier run"
            )

    def _check(self) -> None:
        """Begin, or find that an earlier run did the same with the folder."""
        if not (self.folder / STATE).exists():
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
        text = json.dumps(told, ensure_ascii=False, indent=2) + "\n"
        replace_file(self.folder / STATE, text.encode())

    def _count(self, answer: Answered) -> None:
        key = (answer.role, answer.stimulus)
        self.answers[key] = answer
        self._failures[key] += answer.outcome in FAILURES

    def ask(self, questions: Iterable[Mapping[str, Any]]) -> None:
        """Write down what the annotator is about to be asked: role, stimulus, sha256 and hint."""
        self._ledger.ask(*questions)

    def withdraw(self, questions: Iterable[Mapping[str, Any]]) -> None:
        """Write down that nobody was asked these questions after all."""
        self._ledger.withdraw(*questions)

    def add(self, answers: Iterable[Answered]) -> None:
        """Write answers down, safe against a loss of power."""
        new = list(answers)
        self._ledger.add(*(asdict(one) for one in new))
        for one in new:
            self._count(one)
            self._new.add((one.role, one.stimulus))

    def holds(self, role: str, stimulus: str, sha256: str, hint: str) -> bool:
        """Whether a picture, as it is now, was answered about with that hint.

        A failure of the transport is no answer, and neither is a rejection: every run asks again.
        """
        key = (role, stimulus)
        found = self.answers.get(key)
        if found is None or (found.sha256, found.hint) != (sha256, hint):
            return False
        # Once in a run, whatever comes of it.
        return found.outcome not in FAILURES | self._again or key in self._new

    def n_failures(self, role: str, stimulus: str) -> int:
        """How often there was no answer about a picture, in all runs."""
        return self._failures[role, stimulus]

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
