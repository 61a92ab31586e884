"""The ledger: how many comments each step was given, kept and dropped, and for which reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from affectlab.stimuli.curation.input import KINDS, LEFT_OUT

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Entry", "explained", "ledger_frame", "reading_entry"]


@dataclass(frozen=True)
class Entry:
    """What one step did."""

    step: str
    rows_in: int
    kept: int
    reasons: Mapping[str, str]
    """Each reason with its threshold in words."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Comments dropped for each reason."""
    found: str = ""
    """What the step found when it looked at all comments."""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        seconds = round(self.seconds, 3)
        return {
            "step": self.step,
            "rows_in": self.rows_in,
            "kept": self.kept,
            "dropped": self.rows_in - self.kept,
            "reasons": [
                {"reason": reason, "n": self.dropped.get(reason, 0), "threshold": threshold}
                for reason, threshold in self.reasons.items()
            ],
            "found": self.found,
            "seconds": seconds,
            "rows_per_s": round(self.rows_in / seconds) if seconds else None,
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Entry:
        """Read what :meth:`to_dict` gave."""
        return cls(
            told["step"],
            told["rows_in"],
            told["kept"],
            {each["reason"]: each["threshold"] for each in told["reasons"]},
            {each["reason"]: each["n"] for each in told["reasons"]},
            told["found"],
            told["seconds"],
        )


def reading_entry(n_read: int, n_rows: int, counts: Mapping[str, int]) -> Entry:
    """Write reading as if it were the first step: what was read, and could not be used.

    Examples
    --------
    >>> entry = reading_entry(10, 8, {"broken_line": 2, "empty_text": 3})
    >>> entry.kept, entry.reasons, entry.dropped
    (8, {'broken_line': 'a line that cannot be read'}, {'broken_line': 2})
    """
    dropped = {kind: counts[kind] for kind in LEFT_OUT if counts.get(kind)}
    reasons = {kind: KINDS[kind].partition(";")[0] for kind in dropped}
    return Entry("reading", n_read, n_rows, reasons, dropped)


def ledger_frame(entries: Sequence[Entry]) -> pl.DataFrame:
    """Write the ledger as a table: a row for each reason of a step, one for a step without any.

    Columns: ``step``, ``rows_in``, ``kept``, ``dropped`` (of the step), ``reason``, ``n`` (dropped
    for it), ``threshold``, ``found``, ``seconds``, ``rows_per_s``.
    """
    import polars as pl

    rows = []
    for entry in entries:
        told = entry.to_dict()
        reasons = told.pop("reasons") or [{"n": 0}]
        rows += [{**told, **reason} for reason in reasons]
    schema = {
        "step": pl.String,
        "rows_in": pl.Int64,
        "kept": pl.Int64,
        "dropped": pl.Int64,
        "reason": pl.String,
        "n": pl.Int64,
        "threshold": pl.String,
        "found": pl.String,
        "seconds": pl.Float64,
        "rows_per_s": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema)


def explained(entries: Sequence[Entry]) -> str:
    """Say in a sentence why nothing is left; empty where something is."""
    if not entries or entries[-1].kept:
        return ""
    if not entries[0].rows_in:
        return "nothing is left: no comment was read"
    last = next(entry for entry in entries if not entry.kept)
    reason, n = max(last.dropped.items(), key=lambda item: item[1])
    of_all = "all" if n == last.rows_in else f"{n:,} of"
    found = f" ({last.found})" if last.found else ""
    return (
        f"nothing is left after {last.step}, which dropped {of_all} {last.rows_in:,} comments as "
        f"{reason}: {last.reasons[reason]}{found}"
    )
