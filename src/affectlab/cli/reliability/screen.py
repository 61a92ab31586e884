"""``affectlab reliability screen``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from affectlab.cli._options import AllOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["screen"]


@reads_ratings("reliability screen")
def screen(
    ratings: Ratings,
    out: Output,
    policy: Annotated[
        str,
        Option(help="Policy by name (correlation, bt500, p913, faceexpressions) or TOML file."),
    ] = "correlation",
    golden: Annotated[
        Path | None,
        Option(help="Expected answers: stimulus, (label,) value.", show_default=False),
    ] = None,
    kept: Annotated[
        Path | None,
        Option(
            "--kept", help="Write the ratings that may be used to this file.", show_default=False
        ),
    ] = None,
    to: Annotated[
        Path | None,
        Option("--out", help="Write verdicts to this CSV file.", show_default=False),
    ] = None,
    everyone: AllOption = False,
) -> None:
    """Judge raters by a policy: whom to pay, whose answers to use, and the evidence in words.

    Example: affectlab reliability screen ratings.csv --policy bt500 --kept kept.csv
    """
    import polars as pl

    from affectlab.ratings import read_table
    from affectlab.reliability import screen as compute

    panel = ratings if everyone else out.panel(ratings)
    with out.progress("screening"):
        found = compute(panel, policy=policy, golden=None if golden is None else read_table(golden))
    verdicts = found.to_frame()
    session = ["session"] if "session" in verdicts.columns else []
    shown = verdicts.with_columns(
        pl.col("pay", "use", "block").replace_strict({True: "yes", False: "no"}, default=None)
    ).sort("use", "rater")
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        write_csv(verdicts.with_columns(pl.col("rules").list.join("; ")), to)
    written = None if kept is None else found.apply(ratings).write(kept)
    out.show_frame(shown, ["rater", *session, "n_ratings", "pay", "use", "block", "evidence"])
    unpaid = verdicts.filter(~pl.col("pay")).height
    out.show(
        f"Policy {found.policy.name}: {len(found.raters_to_drop())} of "
        f"{verdicts['rater'].n_unique()} raters not used, {unpaid} {found.per}s not paid, "
        f"{len(found.blocked())} raters blocked.",
        *(f"- {note}" for note in found.notes),
    )
    if to is not None:
        out.show(f"verdicts written to {to}")
    if written is not None:
        out.show(f"ratings that may be used: {written}")
    out.finish(
        {
            "panel": out.who,
            "verdicts": verdicts,
            "evidence": found.evidence_frame(),
            "blocked": found.blocked(),
            "notes": found.notes,
        },
        ratings.warnings,
    )
