"""What a hinted annotation loop gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
from affectlab.core.files.csv import write_data_csv
from affectlab.core.words import percent, plural
from affectlab.models.ask import in_flight_sentence
from affectlab.models.hinted.annotator import DECOY, MAIN, Answered
from affectlab.models.hinted.coverage import acceptance_table, lowest
from affectlab.models.hinted.plan import HintedPlan
from affectlab.ratings import Ratings

__all__ = ["HintedRun", "ratings_of", "write_results"]

RATINGS, COVERAGE, ACCEPTANCE = "ratings.parquet", "coverage.csv", "acceptance.csv"


@dataclass(frozen=True, eq=False)
class HintedRun:
    """What a loop has annotated so far; made by :func:`annotate_until`."""

    folder: Path
    """``state.json``, ``prompts/``, ``pictures/``, ``ledger.jsonl``, and what is read from them:
    ``ratings.parquet``, ``coverage.csv`` and ``acceptance.csv``."""
    plan: HintedPlan
    rater: str
    """Name of the annotator."""
    version: str
    answers: Mapping[tuple[str, str], Answered]
    """Answer by role (``main`` or ``decoy``) and stimulus."""
    history: pl.DataFrame
    """A row for each round and label; see :attr:`coverage` for the columns."""
    stopped: str
    """Why the loop ended."""
    n_made: int
    """Pictures that were asked of the generator, in all rounds."""
    n_broken: int = 0
    """Lines of the ledger that could not be read, as a run that was killed may leave one; what they
    held was asked about again."""
    in_flight: tuple[str, ...] = ()
    """Stimuli that the annotator was asked about when an earlier run ended, before it answered."""

    @property
    def hints_followed(self) -> tuple[str, ...]:
        """How often the annotator followed hints, right ones and wrong ones, in words."""
        said = []
        words = {"hinted": "hints followed", "decoy": "wrong hints followed"}
        for quantity, text in words.items():
            found = self.acceptance["all", quantity]
            if found.ok:
                said.append(
                    f"{text}: {percent(found.value)} of {plural(found.n_items, 'picture')} "
                    f"({percent(found.low)} to {percent(found.high)})"
                )
        unprompted = self.acceptance["all", "unprompted"]
        if unprompted.ok:
            said.append(f"the same labels without the wrong hint: {percent(unprompted.value)}")
        return tuple(said)

    @property
    def n_rounds(self) -> int:
        """Rounds of hints."""
        return int(self.history["round"].to_numpy().max(initial=0))

    @property
    def coverage(self) -> pl.DataFrame:
        """A row for each label after the last round.

        Columns: ``round``, ``label``, ``n`` (ratings above the lowest value), ``n_hinted`` (those
        that a hint named), ``target``, ``lacking``, ``made``, ``asked``, ``accepted``,
        ``acceptance`` and ``status`` (``met``, ``lacking`` or ``given up``).
        """
        return self.history.filter(pl.col("round") == self.n_rounds)

    @property
    def given_up(self) -> tuple[str, ...]:
        """Labels for which hints brought too little."""
        return tuple(self.coverage.filter(pl.col("status") == "given up")["label"])

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a reader should know: what was asked about again, and what was given up."""
        told = []
        if self.n_broken:
            told.append(
                f"{plural(self.n_broken, 'line')} of the ledger could not be read; what they held "
                "was asked about again"
            )
        if self.in_flight:
            told.append(
                f"{in_flight_sentence(self.in_flight, 'picture')}; the annotator was asked about "
                "them again"
            )
        if self.given_up:
            told.append(f"given up, since hints were rarely followed: {', '.join(self.given_up)}")
        return tuple(told)

    @cached_property
    def acceptance(self) -> Estimates:
        """How often hints were followed, by ``label`` (``all`` for all together) and ``quantity``.

        Quantities: ``hinted``, ``decoy`` (wrong hints) and ``unprompted`` (the label of the wrong
        hint, on the same pictures without it). Shares with Wilson intervals.
        """
        return acceptance_table(self.plan, self.answers)

    @cached_property
    def ratings(self) -> Ratings:
        """All answers, a row for each picture and label.

        Labels that an answer left out have the lowest value. Columns beside: ``hinted``, ``hint``,
        ``target`` (label that the picture was made for) and ``round``. Answers to wrong hints
        belong to a rater of their own with the attributes ``control`` (``decoy_hint``) and ``of``,
        as :func:`affectlab.evaluation.control_checks` reads them.
        """
        return ratings_of(self.plan, self.answers, self.rater, self.version)

    def as_dict(self) -> dict[str, Any]:
        """Give the result as plain data (for JSON)."""
        return {
            "folder": self.folder,
            "rater": self.rater,
            "stopped": self.stopped,
            "n_rounds": self.n_rounds,
            "n_made": self.n_made,
            "n_answers": len(self.answers),
            "given_up": list(self.given_up),
            "coverage": self.coverage.to_dicts(),
            "acceptance": self.acceptance.to_frame().to_dicts(),
        }

    def __repr__(self) -> str:
        met = self.coverage.filter(pl.col("status") == "met").height
        return (
            f"HintedRun({met} of {self.coverage.height} labels covered after {self.n_rounds} "
            f"rounds, {self.n_made} pictures; {self.stopped})"
        )


def ratings_of(
    plan: HintedPlan, answers: Mapping[tuple[str, str], Answered], rater: str, version: str
) -> Ratings:
    """Make ratings of answers; see :attr:`HintedRun.ratings`."""
    labels = plan.known().labels
    place = {label: k for k, label in enumerate(labels)}
    rows = list(answers.values())
    matrix = np.full((len(rows), len(labels)), np.nan)
    low = lowest(plan)
    for row, answer in enumerate(rows):
        if answer.outcome == "ok":
            matrix[row] = low
            for label, value in answer.values.items():
                matrix[row, place[label]] = value
    names = {MAIN: rater, DECOY: f"{rater} (decoy hints)"}
    each = pl.DataFrame(
        {
            "stimulus": [answer.stimulus for answer in rows],
            "rater": [names[answer.role] for answer in rows],
            "outcome": [answer.outcome for answer in rows],
            "hinted": [bool(answer.hint) for answer in rows],
            "hint": [answer.hint or None for answer in rows],
            "target": [answer.target or None for answer in rows],
            "round": [answer.round for answer in rows],
        },
        schema_overrides={"hint": pl.String, "target": pl.String},
    )
    code = np.repeat(np.arange(len(rows)), len(labels))
    frame = each[code].with_columns(
        label=pl.Series(np.tile(np.array(labels, dtype=object), len(rows)).tolist()),
        value=pl.Series(matrix.ravel()),
    )
    used = [role for role in (MAIN, DECOY) if any(answer.role == role for answer in rows)]
    raters = pl.DataFrame(
        {
            "rater": [names[role] for role in used],
            "rater_kind": ["model"] * len(used),
            "version": [version] * len(used),
            "control": [None if role == MAIN else "decoy_hint" for role in used],
            "of": [None if role == MAIN else rater for role in used],
        },
        schema_overrides={"control": pl.String, "of": pl.String},
    )
    return Ratings(
        frame,
        scale=plan.scale,
        raters=raters,
        taxonomy=plan.known(),
        source="hinted annotation",
    )


def write_results(run: HintedRun) -> None:
    """Write the tables of a run, each whole or not at all."""
    part = run.folder / f".part.{RATINGS}"
    run.ratings.write(part)
    part.replace(run.folder / RATINGS)
    for name, table in ((COVERAGE, run.history), (ACCEPTANCE, run.acceptance.to_frame())):
        part = run.folder / f".{name}.part"
        write_data_csv(table, part)
        part.replace(run.folder / name)
