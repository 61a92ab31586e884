"""``affectlab stimuli coverage``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._output import Output, write_csv

if TYPE_CHECKING:
    from affectlab.core.types import Count
    from affectlab.stimuli.prompts import CoverageMap

__all__ = ["coverage"]


def coverage(
    out: Output,
    manifest: Path,
    *,
    to: Path = Path("coverage"),
    decisions: Path | None = None,
    target: Count | None = None,
    least: float = 0.8,
    plan: Path | None = None,
) -> None:
    """Count prompts and accepted pictures of each label by ethnicity, age and gender.

    Writes coverage.csv, and maps of prompts and of accepted pictures as PNG and SVG. Cells with too
    few pictures are named; `stimuli prompts --fill` makes prompts for them.

    Parameters
    ----------
    manifest
        Manifest of pictures, or its folder.
    to
        Folder of the table and the figures.
    decisions
        What a review decided; only pictures that it kept count.
    target
        Accepted pictures wanted of each label; without it their mean.
    least
        Share of what is due below which a cell is under-covered.
    plan
        Plan whose shares say what is due; without it shares among all prompts.
    """
    import polars as pl

    from affectlab.core.words import plural
    from affectlab.stimuli import load_prompt_plan
    from affectlab.stimuli.generation import read_manifest
    from affectlab.stimuli.generation.manifest import read_failed
    from affectlab.stimuli.prompts import ATTRIBUTES, awaiting_review, coverage_map
    from affectlab.stimuli.review import read_decisions

    images = read_manifest(manifest)
    failed = read_failed(manifest)
    asked = images
    if failed is not None:
        # A picture that could not be made again stands in both tables, and is one prompt.
        lost = failed.join(images, on="stimulus", how="anti")
        asked = pl.concat([images, lost], how="diagonal_relaxed")
    decided = None if decisions is None else read_decisions(decisions)
    found = coverage_map(
        asked,
        images,
        decisions=decided,
        target=target,
        least=least,
        attributes=[name for name in ATTRIBUTES if name in images.columns],
        plan=None if plan is None else load_prompt_plan(plan),
    )
    to.mkdir(parents=True, exist_ok=True)
    write_csv(found.counts, to / "coverage.csv")
    with out.progress("figures"):
        files = [*_draw(found, "n_prompts", to), *_draw(found, "n_accepted", to)]
    whole = found.counts.filter(attribute="all")
    short = found.under_covered()
    out.show(
        f"{whole['n_prompts'].sum():,} prompts, {whole['n_images'].sum():,} pictures, "
        f"{whole['n_accepted'].sum():,} accepted, of {plural(whole.height, 'label')}"
    )
    waiting = awaiting_review(images, decided).height
    if waiting:
        out.show(f"{plural(waiting, 'picture')} not yet settled by the review")
    out.show(f"{plural(short.height, 'cell')} under-covered")
    if short.height:
        columns = ["label", "attribute", "value", "n_prompts", "n_accepted", "due"]
        out.show_frame(short, columns, most=20, more=f"see {to / 'coverage.csv'}")
    out.show(f"tables and figures written to {to}")
    out.finish(
        {
            "n_prompts": int(whole["n_prompts"].sum()),
            "n_images": int(whole["n_images"].sum()),
            "n_accepted": int(whole["n_accepted"].sum()),
            "n_awaiting_review": waiting,
            "target": found.target,
            "under_covered": short,
            "files": [to / "coverage.csv", *files],
        }
    )


def _draw(found: CoverageMap, count: str, folder: Path) -> tuple[Path, Path]:
    """Draw one count against all attributes."""
    from affectlab.core.words import percent
    from affectlab.report import draw_figure, save_figure
    from affectlab.stimuli.prompts import WHOLE

    cells = found.counts.filter(found.counts["attribute"] != WHOLE)
    accepted = count == "n_accepted"
    what = "accepted pictures" if accepted else "prompts"
    figure = draw_figure(
        "coverage",
        cells,
        counted=count,
        count_name=what,
        short="under_covered" if accepted else None,
        short_name=f"fewer than {percent(found.least)} of what is due",
    )
    n_short = found.under_covered().height
    return save_figure(
        figure,
        folder,
        what.replace(" ", "-"),
        title=f"Labels by {', '.join(cells['attribute'].unique(maintain_order=True))}: {what}",
        description=f"Counts of {what} for {cells['label'].n_unique()} labels"
        + (f"; {n_short} cells have too few." if accepted else "."),
    )
