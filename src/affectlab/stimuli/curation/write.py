"""Writing the results of a run into its folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from affectlab.core.files.csv import write_data_csv, write_sheet_csv
from affectlab.stimuli.curation.distributions import counted
from affectlab.stimuli.curation.input import without_password
from affectlab.stimuli.curation.ledger import explained, ledger_frame, reading_entry
from affectlab.stimuli.curation.pool import (
    begin_stage,
    part_name,
    read_narrow,
    read_part,
    rows_within,
    texts_at,
    write_part,
)
from affectlab.stimuli.curation.run import DROPPED, LEARNED
from affectlab.stimuli.curation.texts import TextSettings, mask_texts

if TYPE_CHECKING:
    from affectlab.stimuli.curation.input import StagedPool
    from affectlab.stimuli.curation.pool import Pool
    from affectlab.stimuli.curation.run import Run


__all__ = [
    "CorpusWork",
    "DroppedWork",
    "gather_corpus",
    "gather_reasons",
    "gather_review",
    "group_table",
    "remove_corpus",
    "write_corpus",
    "write_dropped",
    "write_tables",
]

# What a finished run writes: the corpus, why each other comment went, and the review queue.


_FILE_ROWS = 250_000
"""Comments in one file of the corpus."""


@dataclass(frozen=True)
class CorpusWork:
    """Writes the comments of a part that are kept, in the order in which they were read."""

    parts: Sequence[Path]
    """Staged files."""
    pool: Path
    """Narrow tables of the comments that are kept."""
    columns: tuple[str, ...]
    """Staged columns that the corpus has beside id, text and group."""
    masking: TextSettings | None
    """How names and religion are masked; None: not at all."""
    folder: Path
    """Where the pieces are written."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Write the piece of one part."""
        narrow = read_narrow(self.pool, part)
        if narrow.is_empty():
            return {}
        columns = ["id", "text", "group", *self.columns]
        staged = read_part(self.parts[part], columns=columns)[rows_within(narrow["place"])]
        masked = []
        if self.masking is not None:
            texts = staged["text"].fill_null("").to_list()
            masked = [pl.Series("masked", mask_texts(texts, self.masking), pl.String)]
        told = [narrow["labels"].alias("emotions")] if "labels" in narrow.columns else []
        table = pl.DataFrame(
            [
                *staged.select("id", "text"),
                *masked,
                staged["group"],
                narrow["tokens"],
                *told,
                *staged.select(self.columns),
            ]
        )
        write_part(table, self.folder / f"corpus-{part_name(part)}")
        return {}


@dataclass(frozen=True)
class DroppedWork:
    """Writes why comments of a part were dropped, and which of them await review."""

    parts: Sequence[Path]
    """Staged files."""
    steps: Sequence[tuple[str, Path]]
    """Steps that were taken, and the folders with what they dropped."""
    review: tuple[str, str]
    """Step and reason of comments that await review."""
    folder: Path
    """Where the pieces are written."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Write the pieces of one part."""
        name = part_name(part)
        tables = [
            read_part(folder / name).with_columns(pl.lit(step).alias("step"))
            for step, folder in self.steps
            if (folder / name).exists()
        ]
        if not tables:
            return {}
        dropped = pl.concat(tables).sort("place")
        staged = read_part(self.parts[part], columns=["id"])
        ids = staged["id"].gather(rows_within(dropped["place"]))
        write_part(
            pl.DataFrame([ids, dropped["step"], dropped["reason"]]), self.folder / f"reasons-{name}"
        )
        step, reason = self.review
        queued = dropped.filter(step=step, reason=reason)
        if queued.height:
            texts = texts_at(self.parts, queued["place"]).drop("place")
            write_part(texts, self.folder / f"review-{name}")
        return {}


def gather_corpus(pieces: Path, target: Path) -> None:
    """Put the pieces of the corpus together to files of a handy size."""
    for number, table in enumerate(_gathered(sorted(pieces.glob("corpus-*.parquet")))):
        write_part(table, target / part_name(number))


def gather_reasons(pieces: Path, target: Path) -> None:
    """Move the pieces that say why comments went to their folder."""
    for piece in sorted(pieces.glob("reasons-*.parquet")):
        shutil.move(piece, target / piece.name.removeprefix("reasons-"))


def gather_review(pieces: Path, target: Path) -> None:
    """Write the comments that await review to one sheet: ``id``, ``text``, ``group``."""
    write_sheet_csv(read_part(sorted(pieces.glob("review-*.parquet"))), target)


def _gathered(pieces: Sequence[Path]) -> Iterator[pl.DataFrame]:
    held: list[pl.DataFrame] = []
    for piece in pieces:
        held.append(read_part(piece))
        if sum(table.height for table in held) >= _FILE_ROWS:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)


_REVIEW = ("identity", "for_review")
_DISTRIBUTIONS = {
    "step": pl.String,
    "when": pl.String,
    "distribution": pl.String,
    "value": pl.String,
    "n": pl.Int64,
    "share": pl.Float64,
    "mean": pl.Float64,
    "sd": pl.Float64,
    "groups": pl.Int64,
}
_STUDY = "stimuli.csv"
_STUDY_ROWS = 250_000
"""Comments up to which a table of a study is written, too."""


def write_corpus(out: Path, run: Run, staged: StagedPool) -> Path:
    """Write the comments that are left, masked where the plan says so; give their folder."""
    target, pieces = out / "corpus", run.work / "pieces"
    begin_stage(target)
    begin_stage(pieces)
    if run.pool.n:
        columns = tuple(name for name in staged.columns if name not in ("id", "text", "group"))
        masking = run.plan.texts if run.plan.mask else None
        work = CorpusWork(staged.parts, run.pool.folder, columns, masking, pieces)
        run.where.run(len(staged.parts), work, "writing the corpus")
        gather_corpus(pieces, target)
    shutil.rmtree(pieces)
    (out / _STUDY).unlink(missing_ok=True)
    if 0 < run.pool.n <= _STUDY_ROWS:
        found = read_part(sorted(target.glob("*.parquet")), columns=["id", "text", "group"])
        write_data_csv(found.rename({"id": "stimulus"}), out / _STUDY)
    return target


def remove_corpus(out: Path) -> list[str]:
    """Remove the corpus of an earlier run, which what is written now would not explain.

    Gives the names of what was there.
    """
    found = [name for name in ("corpus", _STUDY) if (out / name).exists()]
    shutil.rmtree(out / "corpus", ignore_errors=True)
    (out / _STUDY).unlink(missing_ok=True)
    return found


def write_dropped(out: Path, run: Run, staged: StagedPool) -> tuple[Path | None, int]:
    """Write why comments were dropped, and the review queue; give its file and size."""
    target, pieces, review = out / "reasons", run.work / "pieces", out / "review" / "comments.csv"
    begin_stage(target)
    begin_stage(pieces)
    steps = [
        (entry.step, folder / DROPPED)
        for entry, folder in zip(run.entries, run.folders, strict=False)
    ]
    work = DroppedWork(staged.parts, steps, _REVIEW, pieces)
    if staged.parts:
        run.where.run(len(staged.parts), work, "writing the reasons")
    gather_reasons(pieces, target)
    step, reason = _REVIEW
    waiting = sum(entry.dropped.get(reason, 0) for entry in run.entries if entry.step == step)
    review.unlink(missing_ok=True)
    if waiting:
        review.parent.mkdir(exist_ok=True)
        gather_review(pieces, review)
    shutil.rmtree(pieces)
    return (review if waiting else None), waiting


def write_tables(out: Path, run: Run, staged: StagedPool, start: Pool) -> dict[str, pl.DataFrame]:
    """Write the ledger and the other tables; give them by name."""
    told = [*run.distributions]
    entries = [reading_entry(staged.n_read, staged.n_rows, staged.counts), *run.entries]
    plan = run.plan.model_dump(mode="json")
    plan["sources"] = [without_password(source) for source in plan["sources"]]
    tables = {
        "ledger": ledger_frame(entries),
        "distributions": pl.concat(told) if told else pl.DataFrame(schema=_DISTRIBUTIONS),
        "groups": group_table(run, start),
        "problems": staged.problems,
    }
    for name, table in tables.items():
        write_sheet_csv(table, out / f"{name}.csv")
    ledger: dict[str, Any] = {
        "schema": "affectlab/curation-ledger/1",
        "plan": plan,
        "n_read": staged.n_read,
        "n_rows": staged.n_rows,
        "n_kept": run.pool.n,
        "problems": staged.counts,
        "steps": [entry.to_dict() for entry in entries],
        "explained": explained(run.entries),
    }
    text = json.dumps(ledger, ensure_ascii=False, indent=1)
    (out / "ledger.json").write_text(text + "\n", encoding="utf-8")
    return tables


def group_table(run: Run, start: Pool) -> pl.DataFrame:
    """Count each group at the start and at the end, with the step that dropped it as a whole."""
    names = {"group": pl.String, "n_read": pl.Int64, "n_kept": pl.Int64}
    if not start.n:
        return pl.DataFrame(schema={**names, "step": pl.String, "reason": pl.String})
    end = (
        counted(run.pool, "group_size")
        if run.pool.n
        else pl.DataFrame(schema={"group": pl.String, "n": pl.Int64})
    )
    told = [pl.DataFrame(schema={"group": pl.String, "reason": pl.String, "step": pl.String})]
    for entry, folder in zip(run.entries, run.folders, strict=False):
        learned = folder / LEARNED
        if learned.exists() and "group_reason" in _columns(learned):
            table = read_part(learned, columns=["group", "group_reason"]).drop_nulls()
            told.append(
                table.rename({"group_reason": "reason"}).with_columns(
                    pl.lit(entry.step).alias("step")
                )
            )
    return (
        counted(start, "group_size")
        .rename({"n": "n_read"})
        .join(end.rename({"n": "n_kept"}), on="group", how="left")
        .with_columns(pl.col("n_kept").fill_null(0))
        .join(pl.concat(told), on="group", how="left")
        .select("group", "n_read", "n_kept", "step", "reason")
        .sort("n_read", "group", descending=[True, False])
    )


def _columns(file: Path) -> list[str]:
    """Names of the columns of a Parquet file."""
    return pl.scan_parquet(file, glob=False).collect_schema().names()
