"""The table of outcomes for a terminal: one line per model and prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affectlab._words import count, percent, shown
from affectlab.evaluation._outcomes import OUTCOMES

if TYPE_CHECKING:
    from affectlab._terminal import Table
    from affectlab.evaluation._outcomes_table import OutcomeTable

__all__ = ["rich_outcomes"]


_MOST_COLUMNS = 4
"""Kinds of failure above which they are listed in words instead of in columns."""


def rich_outcomes(table: OutcomeTable) -> Table:
    """Show the usable share with its interval, and the count of each outcome that occurs."""
    from rich.text import Text

    from affectlab._terminal import Table

    counts = table.counts()
    failed = [name for name in OUTCOMES if not OUTCOMES[name].usable and counts[name].sum()]
    listed = len(failed) > _MOST_COLUMNS
    usable = table.usable.to_frame()
    covered = bool((usable["coverage"] < 1).any())
    made = Table(box=None, header_style="bold", pad_edge=False)
    for name in table.by:
        made.add_column(name.replace("_", " "), overflow="fold")
    heads = ["asked", "usable", "interval", *([] if listed else map(_said, failed))]
    heads += ["retries"] * bool(usable["retries"].sum()) + ["stimuli"] * covered
    for head in heads:
        made.add_column(head, justify="right", no_wrap=head == "interval")
    if listed:
        made.add_column("not usable")
    for row, found in zip(usable.iter_rows(named=True), counts.iter_rows(named=True), strict=True):
        cells = [count(found["n"]), percent(row["value"], 1)]
        cells.append(f"{100 * row['low']:.1f} – {percent(row['high'], 1)}")
        if not listed:
            cells += [count(found[name]) if found[name] else "·" for name in failed]
        cells += [count(row["retries"])] * ("retries" in heads)
        cells += [count(row["n_items"])] * covered
        if listed:
            most = sorted(failed, key=lambda name: -found[name])
            cells.append(", ".join(f"{_said(n)} {count(found[n])}" for n in most if found[n]))
        made.add_row(*(Text(shown(row[name])) for name in table.by), *cells)
    return made


def _said(outcome: str) -> str:
    return outcome.replace("_", " ")
