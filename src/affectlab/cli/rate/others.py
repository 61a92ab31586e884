"""``affectlab rate others`` and ``difference``: installed models, services, metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
from rich.text import Text

from affectlab.cli._output import Output, caught_warnings, collected
from affectlab.cli.manifest import OptionsOf
from affectlab.cli.parameters import read_settings
from affectlab.core.errors import InputError
from affectlab.core.render.grid import Table
from affectlab.core.words import count, plural, shown
from affectlab.evaluation import OUTCOMES, outcome_table
from affectlab.models.differences import (
    holds_answers,
    medians_by_kind,
    rate_differences,
    value_ranges,
)
from affectlab.models.raters import rate
from affectlab.ratings import Ratings, check_ratings_path

if TYPE_CHECKING:
    import polars as pl


def others(
    out: Output,
    images: Path,
    *,
    rater: str,
    to: Path,
    taxonomy: str | None = None,
    label_map: Path | None = None,
    settings: Sequence[str] = (),
    running: Annotated[dict[str, Any], OptionsOf("models.raters.rate:rate")],
) -> None:
    """Let a model that is installed, or a service, rate faces, to put it beside others.

    Keys of services are taken from the environment, such as HUME_API_KEY, and written nowhere.
    A picture without a face, or without a usable answer, is recorded as such, never as 0. A run
    that was stopped goes on with the same command; a picture that a service had when the run was
    killed is named and sent again, since its answer never came. The exit code is 2 when it stopped,
    or no answer can be used.

    Parameters
    ----------
    images
        A folder of images, a table with columns stimulus and file, or one image.
    rater
        pyfeat, hsemotion, deepface, hume, or a rater that a package adds.
    to
        Folder for ratings.parquet, answers.csv and the ledger, from which a run goes on.
    taxonomy
        Bring the rater's labels to those of this taxonomy: a name or a TOML file.
    label_map
        TOML file: what the rater's labels become. Without it, what affectlab knows.
    settings
        Setting of the rater, such as detector=v1; may be given again.
    patience
        Pictures in a row without a usable answer after which to stop.
    again
        Outcomes to ask about again although they are in the folder, such as schema_invalid.
    on_bad
        Leave out broken images, and count them.
    """
    with collected(out, "pictures", to) as (progress, doubts):
        ratings = rate(
            images,
            rater,
            taxonomy,
            label_map,
            to,
            progress=progress,
            **running,
            **read_settings(settings),
        )
    counts = outcome_table(ratings).to_frame("usable").row(0, named=True)
    outcomes = {name: counts[name] for name in OUTCOMES if counts[name]}
    if not set(outcomes) & {"ok", "empty"}:
        many = ", ".join(f"{n:,} {name}" for name, n in outcomes.items())
        raise InputError(
            f"{ratings.rater_names[0]} has no usable answer: {many}; {to / 'answers.csv'} says why"
        )
    _show_others(out, ratings, outcomes, counts["n_ratings"])
    about = ratings.raters.row(0, named=True)
    if about["left_out"]:
        out.note(f"labels left out: {about['left_out']}")
    out.show(f"ratings: {to / 'ratings.parquet'}")
    out.finish(
        {
            "ratings": to / "ratings.parquet",
            "answers": to / "answers.csv",
            "rater": ratings.rater_names[0],
            "version": about["version"],
            "n_images": ratings.n_stimuli,
            "labels": ratings.label_names,
            "outcomes": outcomes,
            "several_faces": _several(ratings),
            "left_out": about["left_out"],
        },
        doubts=doubts,
    )


def _several(ratings: Ratings) -> int:
    """Pictures with more faces than one."""
    table = ratings.stimuli if "faces" in ratings.stimuli.columns else ratings.to_frame()
    return table.filter(pl.col("faces") > 1)["stimulus"].n_unique()


def _show_others(out: Output, ratings: Ratings, outcomes: dict[str, int], n: int) -> None:
    out.head(
        f"{ratings.rater_names[0]} rated {plural(outcomes.get('ok', 0), 'picture')} of {count(n)} "
        f"on {plural(len(ratings.label_names), 'label')}"
    )
    said = {"empty": "no face found"}
    for name, times in outcomes.items():
        if name != "ok":
            out.show(f"{plural(times, 'picture')}: {said.get(name, name.replace('_', ' '))}")
    several = _several(ratings)
    if several:
        out.show(f"{plural(several, 'picture')} with several faces: the largest was rated")


def difference(
    out: Output,
    pairs: Path,
    *,
    to: Path,
    metric: Sequence[str] = ("mse", "mae", "ssim", "deep:faces"),
    reading: Annotated[dict[str, Any], OptionsOf("models.differences.rate:rate_differences")],
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
    on_bad
        Give no value to pairs that cannot be compared, and count them.
    """
    check_ratings_path(to)
    with caught_warnings() as doubts, out.progress(f"reading {pairs}") as progress:
        ratings = rate_differences(pairs, metric, progress=progress, **reading)
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
