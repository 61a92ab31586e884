"""What the controls say, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affectlab._words import count, number, percent, shown

if TYPE_CHECKING:
    from rich.console import Group

    from affectlab._terminal import Table
    from affectlab.evaluation._controls import ControlChecks

__all__ = ["rich_controls"]


def rich_controls(checks: ControlChecks) -> Group:
    """Show the sentences, then the tables behind them."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Text | Table] = [Text(f"- {shown(said)}") for said in checks.sentences]
    parts += [Text(), Text("Repeated answers", style="bold"), _duplicates_table(checks)]
    if len(checks.runs):
        parts += [Text(), Text("Agreement with people", style="bold"), _runs_table(checks)]
    if len(checks.hints):
        parts += [Text(), Text("Wrong hints", style="bold"), _hints_table(checks)]
    return Group(*parts)


def _table(left: list[str], right: list[str]) -> Table:
    from affectlab._terminal import Table

    table = Table(box=None, header_style="bold")
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right")
    return table


def _interval(low: float, high: float) -> str:
    return "–" if low != low else f"{number(100 * low, 0)} – {_percent(high)}"


def _percent(share: float) -> str:
    return percent(share).replace("-", "−")


def _duplicates_table(checks: ControlChecks) -> Table:
    from rich.text import Text

    heads = ["stimuli", "repeated", "interval", "chance", "people", "most often"]
    table = _table(["rater"], heads)
    table.columns[-1].justify = "left"
    table.columns[-1].overflow = "fold"
    for row in checks.duplicates.to_frame().iter_rows(named=True):
        often = f"{row['n_most_repeated']:,} x {shown(row['most_repeated'])}"
        table.add_row(
            Text(shown(row["rater"])),
            count(row["n_items"]),
            percent(row["value"]),
            _interval(row["low"], row["high"]),
            percent(row["chance"]),
            percent(row["people"]),
            Text(often if row["n_most_repeated"] > 1 else "–"),
        )
    return table


def _runs_table(checks: ControlChecks) -> Table:
    from rich.text import Text

    heads = ["with image", "control", "kept", "interval", "same answers"]
    table = _table(["rater", "run", "over"], heads)
    frame = checks.runs.to_frame()
    for key in frame.select("rater", "run", "measure").unique(maintain_order=True).rows():
        found = {
            quantity: checks.runs[(*key, quantity)] for quantity in ("main", "control", "same")
        }
        kept = checks.runs[(*key, "kept")]
        table.add_row(
            *(Text(shown(name)) for name in key),
            number(found["main"].value),
            number(found["control"].value),
            _percent(kept.value),
            _interval(kept.low, kept.high),
            number(found["same"].value),
        )
    return table


def _hints_table(checks: ControlChecks) -> Table:
    from rich.text import Text

    table = _table(["rater", "run"], ["hints", "followed", "interval", "without hint"])
    frame = checks.hints.to_frame()
    for rater, run in frame.select("rater", "run").unique(maintain_order=True).rows():
        accepted = checks.hints[rater, run, "accepted"]
        table.add_row(
            Text(shown(rater)),
            Text(shown(run)),
            count(accepted.n_items),
            percent(accepted.value),
            _interval(accepted.low, accepted.high),
            percent(checks.hints[rater, run, "unprompted"].value),
        )
    return table
