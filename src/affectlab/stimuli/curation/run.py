"""One run of curation: what is finished is found again, and the rest is done in order."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from affectlab.core.errors import InputError
from affectlab.core.words import joined
from affectlab.stimuli.curation.distributions import counted, distribution_rows
from affectlab.stimuli.curation.emotions import prediction_columns
from affectlab.stimuli.curation.hashing import id_keys
from affectlab.stimuli.curation.ledger import Entry
from affectlab.stimuli.curation.plan import CurationPlan
from affectlab.stimuli.curation.pool import (
    PLACE_BITS,
    Pool,
    Stage,
    base_of,
    begin_masks,
    begin_stage,
    changed,
    daft_parts,
    mask_of,
    narrow_columns,
    needed,
    part_name,
    read_narrow,
    read_part,
    read_stage,
    signature,
    write_mask,
    write_part,
    write_stage,
)
from affectlab.stimuli.curation.steps import BigGroupsStep, Repeated, Step
from affectlab.stimuli.curation.texts import TextSettings, has_name, plug_name, text_features
from affectlab.taxonomy import load_taxonomy

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation.input import StagedPool
    from affectlab.stimuli.curation.pool import Place


__all__ = [
    "DROPPED",
    "KEPT",
    "LEARNED",
    "FeatureWork",
    "Predict",
    "PredictionWork",
    "Run",
    "small_groups",
    "take_step",
]

# Taking one step: look at all comments, judge each, write down what became of them.


KEPT, DROPPED, LEARNED = "kept", "dropped", "learned.parquet"
"""What a step writes into its folder: two folders with a file for each part, and a table."""


@dataclass(frozen=True)
class JudgeWork:
    """Judges the comments of a part."""

    step: Step
    learned: pl.DataFrame | None
    pool: Path
    """Narrow tables of the comments that are left."""
    folder: Path
    """Where is written which ones are kept, and why others are dropped."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Judge one part; give the number of comments kept, and dropped for each reason."""
        import polars as pl

        reason = self.step.reason().cast(pl.String).alias("reason")
        names = narrow_columns(self.pool)
        on = [] if self.step.on is None else [self.step.on]
        columns = needed([reason, *map(pl.col, ["place", *on])], names)
        table = read_part(base_of(self.pool) / part_name(part), columns)
        mask = mask_of(self.pool, part)
        if mask is None:
            mask = pl.repeat(True, table.height, dtype=pl.Boolean, eager=True)
        else:
            table = table.filter(mask)
        if self.learned is not None:
            learned = self.learned.select(needed([reason, *map(pl.col, on)], self.learned.columns))
            table = _joined(table, learned, self.step.on)
        told = table.select("place", reason)
        gone = told["reason"].is_not_null()
        if gone.any():
            mask = mask.scatter(mask.arg_true().filter(gone), False)
            dropped = told.filter(gone)
            write_part(dropped, self.folder / DROPPED / part_name(part), passing=True)
        write_mask(mask, self.folder / KEPT, part)
        return dict(told["reason"].drop_nulls().value_counts().iter_rows())


def take_step(step: Step, pool: Pool, folder: Path) -> Entry:
    """Take one step, write what became of the comments into its folder, and say what it did."""
    started = perf_counter()
    learned = step.learn(pool)
    if learned is not None:
        learned.write_parquet(folder / LEARNED)
        _check(step, learned, pool)
    (folder / DROPPED).mkdir()
    begin_masks(folder / KEPT, pool.folder)
    work = JudgeWork(step, learned, pool.folder, folder)
    told: Counter[str] = Counter()
    for found in pool.where.run(len(pool.parts), work, step.name):
        told.update(found)
    reasons = {**step.reasons, **dict.fromkeys(sorted({*told} - {*step.reasons}), "")}
    seconds = perf_counter() - started
    kept = pool.n - told.total()
    words = step.found(learned) or ""
    return Entry(step.name, pool.n, kept, reasons, dict(told), words, seconds)


def _joined(table: pl.DataFrame, learned: pl.DataFrame, on: str | None) -> pl.DataFrame:
    """Join what was learned to comments."""
    import polars as pl

    if on is not None:
        return table.join(learned, on=on, how="left", maintain_order="left")
    row = learned.row(0, named=True) if learned.height else dict.fromkeys(learned.columns)
    return table.with_columns(
        pl.lit(value, learned.schema[name]).alias(name) for name, value in row.items()
    )


def _check(step: Step, learned: pl.DataFrame, pool: Pool) -> None:
    """Check that what a step learned can be joined to the comments."""
    name = step.on
    columns = narrow_columns(pool.folder)
    if name is None:
        if learned.height > 1:
            raise InputError(f"step {step.name}: what was learned has {learned.height} rows, not 1")
    elif name not in learned.columns or name not in columns:
        raise InputError(f"step {step.name}: there is no column {name} to join by")
    elif learned[name].is_duplicated().any():
        raise InputError(f"step {step.name}: what was learned has a value of {name} twice")
    taken = sorted({*learned.columns} & {*columns} - {name})
    if taken:
        raise InputError(f"step {step.name}: the comments have a column {taken[0]} already")


# The first pass: each part of the staged texts becomes a narrow table, one row per comment.


@dataclass(frozen=True)
class FeatureWork:
    """Looks at the texts of a part; a part that an interrupted run has written stays."""

    parts: Sequence[Path]
    """Staged files: ``id``, ``text``, ``group``, and with a taxonomy ``emotions``."""
    folder: Path
    """Where the narrow tables are written."""
    settings: TextSettings
    """How texts are looked at."""
    taxonomy: str | None
    """Taxonomy of the column ``emotions``; None where there is none."""
    small: pl.Series
    """Groups whose texts are not looked at, since the first step drops them; sorted."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Write the narrow table of one part; give its rows, and how many have a group."""
        import polars as pl

        target = self.folder / part_name(part)
        if not target.exists():
            write_part(self.table(part), target, passing=True)
        found = pl.scan_parquet(target, glob=False).select(
            pl.len().alias("rows"), (pl.col("group") != "").sum().alias("grouped")
        )
        return found.collect().to_dicts()[0]

    def table(self, part: int) -> pl.DataFrame:
        """Look at the texts of one part."""
        import polars as pl

        columns = ["id", "text", "group", *(["emotions"] if self.taxonomy is not None else [])]
        table = read_part(self.parts[part], columns=columns)
        place = pl.int_range(table.height, dtype=pl.Int64, eager=True) + (part << PLACE_BITS)
        key = pl.Series("key", id_keys(table["id"]))
        features = self._features(table)
        found = pl.DataFrame([place.alias("place"), key, table["group"].fill_null(""), *features])
        if self.taxonomy is None:
            return found
        told = prediction_columns(table["emotions"], self.taxonomy, pass_over_unknown=True)
        return found.hstack(told)

    def _features(self, table: pl.DataFrame) -> pl.DataFrame:
        """Look at the texts of all but small groups, which get nulls."""
        import polars as pl

        texts = table["text"].fill_null("")
        if self.small.is_empty():
            return text_features(texts, self.settings)
        seen = ~table["group"].fill_null("").is_in(self.small.implode())
        features = text_features(texts.filter(seen), self.settings)
        if features.height == len(texts):
            return features
        told = pl.DataFrame({"seen": seen}).select(
            pl.when("seen").then(pl.col("seen").cum_sum() - 1).alias("row")
        )
        return features.select(pl.all().gather(told["row"]))


def small_groups(parts: Sequence[Path], least: int) -> pl.Series:
    """Find the groups with fewer rows than `least`; a cheap look at one column."""
    import daft
    import polars as pl

    if least <= 1 or not parts:
        return pl.Series(dtype=pl.String)
    groups = daft_parts(parts).select(daft.col("group").fill_null(daft.lit("")))
    counted = groups.with_column("one", daft.lit(1)).groupby("group").agg(daft.col("one").count())
    found = pl.DataFrame(counted.to_arrow())
    return found.filter(pl.col("one") < least)["group"].sort()


# Predicted emotions of the comments that are left, by a user's function.


Predict = Callable[[list[str]], Sequence[Sequence[str]]]
"""Takes texts and gives the labels of each, the most likely first."""
_AT_ONCE = 4096
"""Texts that are given to the function at once."""
_one_at_a_time = Lock()


@dataclass(frozen=True)
class PredictionWork:
    """Predicts the emotions of the comments of a part; a part that is written already stays."""

    parts: Sequence[Path]
    """Staged files."""
    pool: Path
    """Narrow tables of the comments that are left."""
    folder: Path
    """Where the narrow tables are written anew, with predictions."""
    predict: Predict
    taxonomy: str

    def __call__(self, part: int) -> dict[str, Any]:
        """Write the narrow table of one part with its predictions."""
        import polars as pl

        target = self.folder / part_name(part)
        if target.exists():
            return {}
        narrow = read_narrow(self.pool, part)
        rows = (narrow["place"] & ((1 << PLACE_BITS) - 1)).to_numpy()
        texts = read_part(self.parts[part], columns=["text"])["text"].gather(rows)
        labels: list[list[str]] = []
        for start in range(0, len(texts), _AT_ONCE):
            batch = texts[start : start + _AT_ONCE].fill_null("").to_list()
            # Parts are worked on side by side, and few models bear to be asked by two threads.
            with _one_at_a_time:
                answer = self.predict(batch)
            labels.extend(_checked(answer, len(batch)))
        told = pl.Series("labels", labels, pl.List(pl.String))
        table = narrow.hstack(prediction_columns(told, self.taxonomy)).with_columns(told)
        write_part(table, target, passing=True)
        return {}


def _checked(told: Any, n: int) -> list[list[str]]:
    """Check what a user's function gave: labels for each text."""
    if isinstance(told, str) or not isinstance(told, Iterable):
        raise InputError(
            f"predict: expected a list of labels for each text, got {type(told).__name__}"
        )
    found = list(told)
    if len(found) != n:
        raise InputError(f"predict: expected labels for {n:,} texts, got {len(found):,}")
    for labels in found:
        wrong = isinstance(labels, str) or not isinstance(labels, Iterable)
        if wrong or not all(isinstance(label, str) for label in labels):
            raise InputError(f"predict: expected a list of labels for each text, got {labels!r}")
    return [list(labels) for labels in found]


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
