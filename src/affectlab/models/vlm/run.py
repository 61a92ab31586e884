"""What a run brought: ratings, outcomes, tokens and money."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import joined, plural
from affectlab.evaluation import OUTCOMES, OutcomeTable
from affectlab.models.vlm.asking import (
    Charge,
    Halt,
    Judged,
    Prices,
    Record,
    Usage,
    problem_of,
    total_usage,
)
from affectlab.models.vlm.questions import Design, Question
from affectlab.ratings import Ratings, Scale

__all__ = [
    "Entry",
    "VlmRun",
    "ratings_of",
]


@dataclass(frozen=True)
class Entry:
    """One question that was answered, now or before."""

    question: Question
    record: Record
    judged: Judged
    kept: bool
    """Whether it was in the ledger already."""


@dataclass(frozen=True, eq=False)
class VlmRun:
    """What became of the questions of a run.

    Made by :func:`rate_vlm`.
    """

    model: str
    rater: str
    """Name of the rater; control runs have their control behind it, and other models that answered
    in its place have their name."""
    entries: Sequence[Entry] = field(repr=False)
    raters: Sequence[Mapping[str, Any]] = field(repr=False)
    """Attributes of the main run and of each control; a row more for each other model that
    answered."""
    prices: Prices | None
    folder: Path
    """Where the ledger is."""
    n_questions: int
    """All of the run, asked or not."""
    halt: Halt | None = None
    """Why it stopped before its end, if it did."""
    left: str = ""
    """What is left of the budget."""
    spent: Charge = field(default_factory=Charge)
    """All that the ledger counts against the budget."""
    notes: tuple[str, ...] = ()
    """What a reader should know, in sentences."""
    others: tuple[str, ...] = ()
    """Sentences about other models that answered than the one that was asked."""
    leaves: str = ""
    """What left this machine in this run, and to whom; "" where nothing did."""
    earlier: Mapping[str, Sequence[Record]] = field(default_factory=dict, repr=False)
    """Answers that could not be read, of questions that were asked again for it, by key."""

    @property
    def n_answered(self) -> int:
        """Questions of which something became."""
        return len(self.entries)

    @property
    def n_left(self) -> int:
        """Questions that were not asked."""
        return self.n_questions - self.n_answered

    @property
    def n_kept(self) -> int:
        """Answers that were in the ledger already."""
        return sum(entry.kept for entry in self.entries)

    @property
    def n_usable(self) -> int:
        """Answers that can be used."""
        return sum(OUTCOMES[entry.judged.outcome].usable for entry in self.entries)

    @property
    def usage(self) -> Usage:
        """Tokens of all answers; kinds that no provider spoke of are None."""
        return total_usage(record.usage for record in self._paid())

    @property
    def n_uncounted(self) -> int:
        """Attempts of which the provider did not say what they took."""
        return sum(record.n_unbilled for record in self._paid())

    @property
    def cost(self) -> float | None:
        """Dollars of all answers whose tokens are known; None when prices are not."""
        if self.prices is None:
            return None
        costs = [record.cost(self.prices) for record in self._paid()]
        return sum(cost for cost in costs if cost is not None)

    @property
    def asks(self) -> dict[int, int]:
        """Number of questions by how often they were asked for an answer that can be read."""
        counts = Counter(entry.record.ask for entry in self._once())
        return dict(sorted(counts.items()))

    def _once(self) -> list[Entry]:
        """Each question once: two stimuli with one content share an answer."""
        return list({entry.question.key: entry for entry in self.entries}.values())

    def _paid(self) -> list[Record]:
        """All answers of each question."""
        return [record for entry in self._once() for record in self._asked(entry)]

    def _asked(self, entry: Entry) -> list[Record]:
        return [*self.earlier.get(entry.question.key, ()), entry.record]

    @property
    def ratings(self) -> Ratings:
        """All answers as ratings; those that cannot be used have an outcome and no value.

        Raises
        ------
        InputError
            When nothing was answered.
        """

        return ratings_of(self)

    @property
    def outcomes(self) -> pl.DataFrame:
        """One row per question: ``rater``, ``prompt``, ``stimulus``, ``control``, ``repeat``,
        ``outcome`` and ``retries``, as :func:`affectlab.evaluation.outcome_table` reads it."""
        names = ["rater", "prompt", "stimulus", "control", "repeat", "outcome", "retries"]
        return self.to_frame().select(names)

    def outcome_table(self, confidence: float = 0.95) -> OutcomeTable:
        """Count the outcomes of each control and of the main run, with Wilson intervals."""
        from affectlab.evaluation import outcome_table

        return outcome_table(self.outcomes, confidence=confidence)

    def to_frame(self) -> pl.DataFrame:
        """Give one row per question: what was asked, the text, its outcome, tokens and cost."""
        rows = [self._row(entry, self.rater_row(entry)) for entry in self.entries]
        return pl.DataFrame(rows, schema=_SCHEMA)

    def rater_row(self, entry: Entry) -> Mapping[str, Any]:
        """Give the attributes of the rater whose answer an entry is."""
        control, served = entry.question.control, entry.record.served
        return self._raters.get((control, served)) or self._raters[control, None]

    @cached_property
    def _raters(self) -> dict[tuple[str, str | None], Mapping[str, Any]]:
        return {(row["control"], row["other"]): row for row in self.raters}

    def _row(self, entry: Entry, rater: Mapping[str, Any]) -> dict[str, Any]:
        question, record, read = entry.question, entry.record, entry.judged.read
        asked = self._asked(entry)
        usage = total_usage(one.usage for one in asked)
        costs = [cost for one in asked if (cost := one.cost(self.prices)) is not None]
        return {
            "stimulus": question.stimulus,
            "rater": rater["rater"],
            "prompt": rater["prompt"],
            "control": question.control,
            "repeat": question.repeat,
            "label": question.label,
            "hint": question.hint or None,
            "prompt_version": question.version,
            "outcome": entry.judged.outcome,
            "problem": problem_of(record, entry.judged) or None,
            "retries": record.retries,
            "asks": record.ask,
            "text": record.text,
            "reasons": json.dumps(dict(read.reasons), ensure_ascii=False) if read.reasons else None,
            "repairs": ", ".join(read.repairs) or None,
            "stop_reason": record.stop_reason or None,
            "http_status": record.http_status,
            "input_tokens": usage.input,
            "cached_tokens": usage.cached,
            "output_tokens": usage.output,
            "reasoning_tokens": usage.reasoning,
            "cost": sum(costs) if costs else None,
            "seconds": record.seconds,
            "served": record.served or None,
            "at": record.at or None,
            "kept": entry.kept,
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a reader should know: what stopped it, what is not counted, what was left."""
        told = [*self.others, *self.notes]
        if self.halt is not None and self.n_left:
            rest = plural(self.n_left, "question is", "questions are")
            budget = f" ({self.left})" if self.halt.kind == "budget" else ""
            told.insert(
                0,
                f"stopped: {self.halt.reason}{budget}; {rest} not asked, and the same command "
                "goes on from there",
            )
        again = {asks: n for asks, n in self.asks.items() if asks > 1}
        if again:
            told.append(
                f"{plural(sum(again.values()), 'question was', 'questions were')} asked more than "
                f"once for an answer that can be read, {max(again)} times at most"
            )
        silent = sum(
            entry.judged.outcome == "ok" and not entry.judged.read.rows for entry in self.entries
        )
        if silent:
            told.append(f"{plural(silent, 'answer')} rated nothing; there are no rows of them")
        left_out = {name for entry in self.entries for name in entry.record.not_sent}
        if left_out:
            are = "were" if len(left_out) > 1 else "was"
            told.append(
                f"{joined(sorted(left_out))} {are} not sent: {self.model} does not take "
                f"{'them' if len(left_out) > 1 else 'it'}"
            )
        if self.n_uncounted:
            attempts = plural(self.n_uncounted, "attempt")
            told.append(
                f"the provider did not say what {attempts} took; their tokens and cost are not in "
                "the sums"
            )
        return tuple(told)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"VlmRun({self.rater!r}, {self.n_usable} usable of {self.n_answered} answers" + (
            f", {self.n_left} not asked)" if self.n_left else ")"
        )


def _schema() -> dict[str, Any]:
    texts = (
        *("stimulus", "rater", "prompt", "control", "label", "hint", "prompt_version", "outcome"),
        *("problem", "text", "reasons", "repairs", "stop_reason", "served", "at"),
    )
    whole = (
        *(
            "repeat",
            "retries",
            "asks",
            "http_status",
            "input_tokens",
            "cached_tokens",
            "output_tokens",
        ),
        "reasoning_tokens",
    )
    kinds: dict[str, Any] = dict.fromkeys(texts, pl.String) | dict.fromkeys(whole, pl.Int64)
    kinds |= {"cost": pl.Float64, "seconds": pl.Float64, "kept": pl.Boolean}
    order = (
        *("stimulus", "rater", "prompt", "control", "repeat", "label", "hint", "prompt_version"),
        *("outcome", "problem", "retries", "asks", "text", "reasons", "repairs", "stop_reason"),
        *("http_status", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens"),
        *("cost", "seconds", "served", "at", "kept"),
    )
    return {name: kinds[name] for name in order}


_SCHEMA = _schema()

# From answers of a model to a table of ratings.


_OWN = (
    *("stimulus", "rater", "label", "value", "text", "outcome", "trial", "trial_kind"),
    *("retries", "asks", "hint"),
)


def ratings_of(run: VlmRun) -> Ratings:
    """Make ratings of a run: rows with values for usable answers, rows with outcomes for others.

    Raises
    ------
    InputError
        When nothing was answered.
    """
    from affectlab.ratings import check_columns

    if not run.entries:
        raise InputError(f"{run.model} has answered nothing; there are no ratings")
    protocol = run.entries[0].question.design.protocol
    rows = [row for entry in run.entries for row in _rows(entry, run.rater_row(entry)["rater"])]
    if not rows:
        raise InputError(f"no answer of {run.model} rates anything; there are no ratings")
    labelled = any(row["label"] is not None for row in rows)
    if labelled:
        # An entry without a name says nothing that a table of labels can hold.
        rows = [row for row in rows if row["label"] is not None]
    columns: dict[str, Any] = {
        "stimulus": [row["stimulus"] for row in rows],
        "rater": [row["rater"] for row in rows],
    }
    if labelled:
        columns["label"] = [row["label"] for row in rows]
    columns["value"] = pl.Series("value", [row["value"] for row in rows], strict=False)
    if any(row["text"] is not None for row in rows):
        columns["text"] = [row["text"] for row in rows]
    if columns["value"].null_count() == len(rows):
        # Without any value the type of the column is not known from its cells.
        categories = protocol.scale.kind in ("nominal", "text")
        columns["value"] = columns["value"].cast(pl.String if categories else pl.Float64)
    columns["outcome"] = [row["outcome"] for row in rows]
    if any(entry.question.repeat > 1 for entry in run.entries) or protocol.answer == "entries":
        columns["trial"] = [row["trial"] for row in rows]
        columns["trial_kind"] = [row["trial_kind"] for row in rows]
    if any(row["retries"] for row in rows):
        columns["retries"] = [row["retries"] for row in rows]
    if any(row["asks"] > 1 for row in rows):
        columns["asks"] = [row["asks"] for row in rows]
    if any(row["hint"] for row in rows):
        columns["hint"] = [row["hint"] for row in rows]
    beside = dict.fromkeys(name for row in rows for name in row if name not in _OWN)
    for name in beside:
        columns[name] = [row.get(name) for row in rows]
    shown = {entry.question.control for entry in run.entries}
    raters = [dict(row) for row in run.raters if row["control"] in shown]
    checked = check_columns(
        {name: pl.Series(name, column) for name, column in columns.items()},
        scale=_scale(run.entries[0].question.design),
        taxonomy=protocol.taxonomy() if labelled else None,
    )
    # Retries and hints belong to answers, also where they happen to be the same for a stimulus:
    # as its attributes they would contradict those of other models.
    return Ratings._from_checked(checked, _rater_table(raters), source=run.rater, split=False)


def _scale(design: Design) -> Scale:
    """Scale of the answers: means of log-probabilities lie between its numbers."""
    scale = design.protocol.scale
    if design.readout != "logprob":
        return Scale.parse(scale.spec)
    low, high = (0, 1) if scale.kind == "binary" else (scale.low, scale.high)
    return Scale.parse(f"{low:g}-{high:g} interval")


def _rows(entry: Entry, rater: str) -> list[dict[str, Any]]:
    """Rows of one answer of a rater."""
    question = entry.question
    common: dict[str, Any] = {
        "stimulus": question.stimulus,
        "rater": rater,
        "label": None,
        "value": None,
        "text": None,
        "outcome": entry.judged.outcome,
        "trial": question.repeat,
        "trial_kind": "main" if question.repeat == 1 else "repeat",
        "retries": entry.record.retries,
        "asks": entry.record.ask,
        "hint": question.hint or None,
    }
    if entry.judged.outcome == "ok":
        return [{**common, **row} for row in entry.judged.read.rows]
    # A row for each label says that none of them has a value, and why.
    labels = question.blank().labels or (None,)
    return [{**common, "label": label} for label in labels]


def _rater_table(rows: list[dict[str, Any]]) -> Any:
    """One row per rater; what is the same nothing for all is left out."""
    for row in rows:
        row["control"] = None if row["control"] == "none" else row["control"]
    names = [
        name for name in rows[0] if name != "other" and any(row[name] is not None for row in rows)
    ]
    return pl.DataFrame([{name: row[name] for name in names} for row in rows])
