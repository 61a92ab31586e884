"""Difference metrics as models of ``affectlab rate``: they rate pairs of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from rich.text import Text

from affectlab.cli._output import Output, caught_warnings
from affectlab.core.errors import InputError
from affectlab.core.render.grid import Table
from affectlab.core.words import count, plural, shown
from affectlab.models.differences import (
    holds_answers,
    list_difference_metrics,
    medians_by_kind,
    rate_differences,
    value_ranges,
)
from affectlab.models.runs import model_kind
from affectlab.ratings import Ratings, read_table


def metrics_of(model: str, stimuli: Path) -> list[str]:
    """Give the metrics that a model names, ``mse+ssim``; none where it names none.

    A function, ``module:function``, is a metric where the stimuli are pairs.
    """
    if Path(model).is_dir():
        return [model] if model_kind(Path(model)) == "expression-metric" else []
    names, parts = list_difference_metrics(), model.split("+")
    if any(part.partition(",")[0].partition(":")[0] in names for part in parts):
        return parts
    return parts if ":" in model and _are_pairs(stimuli) else []


def _are_pairs(stimuli: Path) -> bool:
    try:
        return {"file_a", "file_b"} <= set(read_table(stimuli).columns)
    except InputError:
        return False


def rate_pairs(
    out: Output, pairs: Path, metrics: Sequence[str], to: Path, reading: dict[str, Any]
) -> None:
    """Let metrics say how different two pictures are, pair by pair, to put them beside people."""
    with caught_warnings() as doubts, out.progress(f"reading {pairs}") as progress:
        ratings = rate_differences(pairs, metrics, progress=progress, **reading)
        ratings.write(to)
    table, by_kind = value_ranges(ratings), medians_by_kind(ratings)
    _show_difference(out, ratings, table, by_kind)
    out.show(f"ratings: {to}")
    people = pairs if holds_answers(pairs) else "RATINGS"
    groups = [name for name in ("kind", "actor") if name in ratings.stimuli.columns]
    by = f" --by {','.join(groups)}" if groups else ""
    out.show_line(f"next: affectlab evaluate difference {people} --models {to}{by}")
    out.finish(
        {
            "ratings": to,
            "n_pairs": ratings.n_stimuli,
            "metrics": table.join(
                ratings.raters.drop("rater_kind").rename({"rater": "metric"}),
                on="metric",
                maintain_order="left",
            ).to_dicts(),
            "medians_by_kind": None if by_kind is None else by_kind.to_dicts(),
        },
        doubts=doubts,
    )


def _show_difference(
    out: Output, ratings: Ratings, table: pl.DataFrame, by_kind: pl.DataFrame | None
) -> None:
    metrics = plural(ratings.n_raters, "metric")
    out.head(f"{metrics} compared the two pictures of {plural(ratings.n_stimuli, 'pair')}")
    kinds = [] if by_kind is None else by_kind["kind"].unique(maintain_order=True).to_list()[:4]
    medians: dict[tuple[str, str], Any] = {}
    if by_kind is not None:
        medians = {(row[0], row[1]): row[2] for row in by_kind.iter_rows()}
    grid = Table(box=None, header_style="bold")
    grid.add_column("metric", no_wrap=True)
    lacking = bool(table["n_without"].sum())
    names = ["pairs", *(["without"] if lacking else []), "lowest", "median", "highest"]
    for name in (*names, *(f"median {kind}" for kind in kinds)):
        grid.add_column(name, justify="right")
    for row in table.iter_rows(named=True):
        cells = [count(row["n_pairs"]), *([count(row["n_without"])] if lacking else [])]
        cells += [_number(row[name]) for name in ("lowest", "median", "highest")]
        cells += [_number(medians.get((row["metric"], kind))) for kind in kinds]
        grid.add_row(Text(shown(row["metric"], 34)), *cells)
    out.show(grid)
    alike = ratings.raters.filter(ratings.raters["direction"] != "higher is more different")
    if alike.height:
        said = ", ".join(shown(name, 34) for name in alike["rater"].to_list())
        out.show(f"higher is more alike: {said}")


def _number(value: float | None) -> str:
    """Write a number in four significant digits: metrics have units of all sizes."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    return f"{value:.4g}".replace("-", "−")
