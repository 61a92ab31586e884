"""A review after an earlier one: what was settled stays, the rest is decided anew."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from affectlab.core.files.columns import require_columns, require_distinct
from affectlab.core.files.csv import read_table
from affectlab.stimuli.review.decisions import (
    DECISIONS,
    DIGEST,
    ReviewRule,
    about,
    read_decisions,
    review_decisions,
)

__all__ = ["decisions_about", "items_to_review", "settled_decisions"]


def items_to_review(path: Path) -> pl.DataFrame:
    """Read the table of what is reviewed; an item stands in it once."""
    table = read_table(path, "items to review")
    if "stimulus" not in table.columns and "id" in table.columns:
        table = table.rename({"id": "stimulus"})
    require_columns(table, ["stimulus"], f"{path}: ")
    table = table.with_columns(pl.col("stimulus").cast(pl.String))
    require_distinct(table, ["stimulus"], f"{path}: ")
    return table


def settled_decisions(path: Path | None, table: pl.DataFrame) -> pl.DataFrame:
    """Give what an earlier review decided about items that are as they were then."""
    if path is None:
        return pl.DataFrame(schema=DECISIONS)
    found = read_decisions(path)
    require_columns(found, list(DECISIONS), f"{path}: ", "give the decisions of a review")
    return about(found, table).filter(pl.col("keep").is_not_null()).select(list(DECISIONS))


def decisions_about(
    table: pl.DataFrame,
    settled: pl.DataFrame,
    answers: Path,
    rule: ReviewRule,
    raters: int,
    to: Path,
) -> pl.DataFrame:
    """Decide about what was not settled, in the order of the items."""
    asked = table.filter(~table["stimulus"].is_in(settled["stimulus"].implode()))
    written = to / "review.csv"
    new = review_decisions(
        answers,
        rule=rule,
        raters=raters,
        items=asked,
        reviewed=read_table(written, "reviewed items") if written.exists() else None,
    ).select(list(DECISIONS))
    order = table.select("stimulus", *([DIGEST] if DIGEST in table.columns else []))
    both = pl.concat([settled, new])
    found = order.join(both, on="stimulus", how="left", maintain_order="left")
    return found.select(*DECISIONS, *order.columns[1:])
