"""One run of curation: what is finished is found again, and the rest is done in order."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from affectlab._words import joined
from affectlab.errors import InputError
from affectlab.stimuli.curation._distributions import counted, distribution_rows
from affectlab.stimuli.curation._features import FeatureWork, small_groups
from affectlab.stimuli.curation._groups import BigGroupsStep
from affectlab.stimuli.curation._ledger import Entry
from affectlab.stimuli.curation._plan import CurationPlan
from affectlab.stimuli.curation._plugs import has_name, plug_name
from affectlab.stimuli.curation._pool import Pool
from affectlab.stimuli.curation._predict import Predict, PredictionWork
from affectlab.stimuli.curation._repeated import Repeated
from affectlab.stimuli.curation._state import (
    Stage,
    begin_stage,
    changed,
    read_stage,
    signature,
    write_stage,
)
from affectlab.stimuli.curation._step import Step
from affectlab.stimuli.curation._take import KEPT, take_step
from affectlab.taxonomy import load_taxonomy

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation._staging import StagedPool
    from affectlab.stimuli.curation._tasks import Place

__all__ = ["Run"]

_STEP_FOLDER = re.compile(r"\d\d-[a-z_0-9]+")
_NAMELESS = "a function without a name"


class Run:
    """The pool on its way through the steps.

    Parameters
    ----------
    work
        Folder of what is finished.
    plan, steps
        What is to be done.
    where
        Where it is done.
    """

    def __init__(self, work: Path, plan: CurationPlan, steps: Sequence[Step], where: Place) -> None:
        self.work = work
        self.plan = plan
        self.steps = steps
        self.where = where
        self.entries: list[Entry] = []
        self.folders: list[Path] = []
        self.distributions: list[pl.DataFrame] = []
        self.notes: list[str] = []
        self.pool: Pool
        self._signature = ""
        self._has_predictions = False

    def look(self, staged: StagedPool) -> None:
        """Look at all texts once, unless that is finished."""
        has_column = "emotions" in staged.columns
        taxonomy = self.plan.taxonomy if has_column else None
        texts = self.plan.texts
        if not any(step.speaks for step in self.steps):
            texts = texts.model_copy(update={"language": "none"})
        least = self._least()
        settings = {
            "input": staged.digest,
            # Names are only looked for when the corpus is written.
            "texts": texts.model_dump(mode="json", exclude={"names"}),
            "taxonomy": None if taxonomy is None else _content(taxonomy),
            "least": least,
        }
        plugs = {"tokenizer": texts.tokenizer, "language": texts.language}
        nameless = [f"{part} is {_NAMELESS}" for part, plug in plugs.items() if not has_name(plug)]
        folder = self.work / "features"
        # Parts of an interrupted pass are used again, so that its settings are written first.
        if self._stale(folder, settings, ", ".join(nameless)):
            begin_stage(folder)
            write_stage(Stage(folder, self._signature, settings, {}))
        work = FeatureWork(staged.parts, folder, texts, taxonomy, small_groups(staged.parts, least))
        found = self.where.run(len(staged.parts), work, "looking at texts")
        n = sum(one["rows"] for one in found)
        self._has_predictions = has_column
        self.pool = Pool(folder, n, staged.parts, self.work / "scratch", self.where)
        grouped = [step.name for step in self.steps if step.grouped]
        if n and grouped and not any(one["grouped"] for one in found):
            raise InputError(
                f"the input has no groups, which {joined(grouped)} need; name their column in "
                "[columns] as group, or leave these steps out"
            )
        self._show("start", "after", ("sentiment", "emotion", "group_size"))

    def _least(self) -> int:
        """Comments that a group must have for its texts to be looked at at all."""
        for step in self.steps:
            if isinstance(step, BigGroupsStep):
                return step.given.least
            if not isinstance(step, Repeated):
                break
        return 0

    def take(self, step: Step, predict: Predict | None) -> None:
        """Take the next step, unless it is finished."""
        if step.predicted and not self._has_predictions and self.pool.n:
            self._predict(step, predict)
        number = len(self.entries) + 1
        folder = self.work / f"{number:02d}-{step.name}"
        if not self.pool.n:
            self.entries.append(Entry(step.name, 0, 0, step.reasons))
            return
        told = step.settings()
        settings = {**(told or {}), "step": f"{type(step).__module__}.{type(step).__qualname__}"}
        if self._stale(folder, settings, "it has no settings to go by" if told is None else ""):
            begin_stage(folder)
            entry = take_step(step, self.pool, folder)
            write_stage(Stage(folder, self._signature, settings, entry.to_dict()))
        else:
            stage = read_stage(folder)
            assert stage is not None
            entry = Entry.from_dict(stage.result)
        self.entries.append(entry)
        self.folders.append(folder)
        if step.shows:
            # Only now, since the step may have counted the same.
            self._show(step.name, "before", (step.shows,))
        self.pool = replace(self.pool, folder=folder / KEPT, n=entry.kept, _counts={})
        if step.shows:
            self._show(step.name, "after", (step.shows,))

    def clear(self) -> None:
        """Remove what was left by steps that are no longer taken."""
        present = {f"{at:02d}-{step.name}" for at, step in enumerate(self.steps, start=1)}
        for folder in self.work.iterdir():
            if _STEP_FOLDER.fullmatch(folder.name) and folder.name not in present:
                shutil.rmtree(folder)

    def end(self) -> None:
        """Count what is left."""
        self._show("end", "after", ("length", "sentiment", "emotion", "group_size"))

    def _predict(self, step: Step, predict: Predict | None) -> None:
        """Predict the emotions of the comments that are left, unless that is finished."""
        if predict is None:
            raise InputError(
                f"step {step.name} needs predicted emotions: name a column that holds them as "
                "emotions in [columns]; or let a pilot predict them, --pilot on the command line, "
                "the argument predict in Python; or leave the steps out that need them. What is "
                "finished so far is used again"
            )
        named = has_name(predict)
        settings = {
            "taxonomy": _content(self.plan.taxonomy),
            "predict": plug_name(predict) if named else _NAMELESS,
        }
        folder = self.work / "predictions"
        if self._stale(folder, settings, "" if named else f"predict is {_NAMELESS}"):
            begin_stage(folder)
            write_stage(Stage(folder, self._signature, settings, {}))
        work = PredictionWork(
            self.pool.parts, self.pool.folder, folder, predict, self.plan.taxonomy
        )
        self.where.run(len(self.pool.parts), work, "predicting emotions")
        self._has_predictions = True
        self.pool = replace(self.pool, folder=folder, _counts={})

    def _stale(self, folder: Path, settings: dict[str, Any], unknown: str = "") -> bool:
        """Tell whether a stage has to be done; note what changed where it was done before.

        Where it is not known what the stage depends on, as `unknown` says, it is done again, and
        so is what follows: no other run has its signature.
        """
        name = folder.name.partition("-")[2] or folder.name
        once = {"once": uuid4().hex} if unknown else {}
        self._signature = signature(self._signature, name, {**settings, **once})
        done = read_stage(folder)
        if done is None:
            return True
        if done.signature == self._signature:
            return False
        told = ", ".join(one for one in (changed(done.settings, settings), unknown) if one)
        if told:
            self.notes.append(f"{name} and what follows is done again: {told}")
        return True

    def _show(self, step: str, when: str, kinds: Sequence[str]) -> None:
        for kind in kinds:
            known = self._has_predictions or kind not in ("sentiment", "emotion")
            if self.pool.n and known:
                rows = distribution_rows(counted(self.pool, kind), kind, step, when)
                self.distributions.append(rows)


def _content(taxonomy: str) -> str:
    """Hash what a taxonomy says, since its file may change and keep its name."""
    return sha256(load_taxonomy(taxonomy).to_toml().encode()).hexdigest()[:16]
