"""``affectlab rate difference``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.cli._warned import caught_warnings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["difference"]


def difference(
    out: Output,
    pairs: Path,
    *,
    to: Path,
    metric: Sequence[str] = ("mse", "mae", "ssim", "deep:faces"),
    images: Path | None = None,
    cache: Path | None = None,
    set_aside: bool = False,
) -> None:
    """Let metrics say how different two pictures are, pair by pair, to put them beside people.

    lpips needs its weights (lpips,trunk=FILE,linear=FILE); blendshapes and landmarks need a model
    of MediaPipe (blendshapes,model=FILE); deep and blendshapes take distance=l1 or distance=cosine.

    Parameters
    ----------
    pairs
        Pairs: a table with stimulus, file_a and file_b, or ratings of such pairs.
    to
        Ratings: .parquet, .csv or .jsonl.
    metric
        mse, mae, ssim, lpips, deep:ENCODER, blendshapes, landmarks, the folder of a learned metric,
        or module:function; settings after commas: NAME,SETTING=VALUE. May be given again.
    images
        Folder of the pictures; without it that of PAIRS.
    cache
        Folder that keeps embeddings and readings of faces from run to run.
    set_aside
        Give no value to pairs that cannot be compared, and count them.
    """
    from affectlab.models.differences import rate_differences
    from affectlab.models.differences.pairs import holds_answers
    from affectlab.ratings import check_ratings_path

    check_ratings_path(to)
    with caught_warnings() as doubts, out.progress(f"reading {pairs}") as progress:
        ratings = rate_differences(
            pairs,
            metric,
            images=images,
            cache=cache,
            on_bad="set_aside" if set_aside else "raise",
            progress=progress,
        )
        ratings.write(to)
    table, by_kind = _table(ratings), _by_kind(ratings)
    _show(out, ratings, table, by_kind)
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


def _table(ratings: Ratings) -> pl.DataFrame:
    """One row per metric: how many pairs have a value, and how far values go."""
    import polars as pl

    value = pl.col("value")
    return (
        ratings.to_frame()
        .group_by(pl.col("rater").alias("metric"), maintain_order=True)
        .agg(
            value.count().alias("n_pairs"),
            value.null_count().alias("n_without"),
            value.min().alias("lowest"),
            value.median().alias("median"),
            value.max().alias("highest"),
        )
    )


def _by_kind(ratings: Ratings) -> pl.DataFrame | None:
    """Median of each metric by kind of pair, where pairs are of some kinds."""
    import polars as pl

    if "kind" not in ratings.stimuli.columns or ratings.stimuli["kind"].drop_nulls().is_empty():
        return None
    kinds = ratings.stimuli.select("stimulus", pl.col("kind").cast(pl.String))
    return (
        ratings.to_frame()
        .select("stimulus", "rater", "value")
        .join(kinds, on="stimulus")
        .drop_nulls("kind")
        .group_by(pl.col("rater").alias("metric"), "kind", maintain_order=True)
        .agg(pl.col("value").median().alias("median"))
    )


def _show(out: Output, ratings: Ratings, table: pl.DataFrame, by_kind: pl.DataFrame | None) -> None:
    from rich.text import Text

    from affectlab.core.render.grid import Table
    from affectlab.core.words import count, plural, shown

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
