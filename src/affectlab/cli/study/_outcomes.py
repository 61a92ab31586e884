"""Showing what came of decisions and bonuses at the platform."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.study.recruit import Outcome

__all__ = ["DryRunOption", "finish_outcomes"]

DryRunOption = Annotated[
    bool, Option("--dry-run", help="Read the state at the platform; send nothing.")
]

_SAID = {
    "done": "done",
    "before": "done before",
    "to do": "would be sent",
    "refused": "refused",
    "unclear": "not clear yet",
    "undecided": "not decided",
}


def finish_outcomes(
    out: Output, found: tuple[Outcome, ...], *, dry_run: bool, currency: str
) -> None:
    """Print one line per decision or bonus, and their sums.

    Raises
    ------
    SystemExit
        With 1 when something was refused or is not clear, so that scripts notice.
    """
    from rich.text import Text

    from affectlab.core.terminal import Table
    from affectlab.core.words import plural, shown

    money = any(one.cents is not None for one in found)
    table = Table(box=None, header_style="bold")
    for name in ("session", "action", "state", *(["amount"] if money else []), "note"):
        right = name in ("session", "amount")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for one in found:
        amount = [f"{(one.cents or 0) / 100:.2f}"] if money else []
        cells = (str(one.session), one.action, _SAID[one.state], *amount, one.note)
        table.add_row(*(Text(shown(cell)) for cell in cells))
    counts = Counter(one.state for one in found)
    if found:
        out.show(table, "")
        parts = [f"{count} {_SAID[state]}" for state, count in counts.items()]
        out.show(f"{plural(len(found), 'session')}: {', '.join(parts)}.")
    else:
        out.show("There is nothing to send.")
    cents = {state: sum(one.cents or 0 for one in found if one.state == state) for state in counts}
    if money:
        told = "would be paid" if dry_run else "paid now"
        total = cents.get("to do" if dry_run else "done", 0) / 100
        out.show(f"{total:,.2f} {currency} {told}, Prolific's fees not counted.")
    if dry_run:
        out.show("Nothing was sent: this was a dry run.")
    out.finish(
        {
            "dry_run": dry_run,
            "currency": currency,
            "outcomes": [asdict(one) for one in found],
            "counts": dict(counts),
        }
    )
    if counts["refused"] or counts["unclear"]:
        raise SystemExit(1)
