"""``affectlab analyze map``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["label_map"]


@reads_ratings("analyze map")
def label_map(
    ratings: Ratings,
    out: Output,
    page: Annotated[
        Path, Option("--out", help="The page to write, ending in .html.", metavar="FILE")
    ] = Path("map.html"),
    method: Annotated[
        Literal["tsne", "umap", "pca"], Option(help="How places are found.")
    ] = "tsne",
    images: Annotated[
        Path | None,
        Option(help="Folder with a picture of each stimulus, named like it.", show_default=False),
    ] = None,
    most: Annotated[
        int, Option(help="With more stimuli, so many are drawn at random.", min=1)
    ] = 5000,
    features: Annotated[
        Path | None,
        Option(
            help="Find places from these numbers, such as embeddings, and not from the labels: a "
            ".npy file with one row per stimulus, in order of first use.",
            show_default=False,
        ),
    ] = None,
    neutral: Annotated[bool, Option("--neutral", help="Take the neutral label in, too.")] = False,
    text: Annotated[str, Option("--text", help="Column of the stimuli that holds texts.")] = "text",
    title: Annotated[str, Option(help="Heading of the page.")] = "Map of stimuli",
    to: Annotated[
        Path | None,
        Option("--table", help="Write places to this CSV file.", show_default=False),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for a still picture (PNG, SVG).", show_default=False),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Draw an interactive map of the stimuli, coloured by the labels that people chose.

    Example: affectlab analyze map comments.csv --out map.html --most 5000
    """
    from affectlab.analysis import label_map as place
    from affectlab.core.words import plural
    from affectlab.report import fig_label_map, save_figure, write_label_map

    panel = out.panel(ratings)
    with out.progress(f"{method} of the stimuli"):
        found = place(
            panel,
            features=None if features is None else _array(features),
            method=method,
            exclude_neutral=not neutral,
            most=most,
            text=text,
            seed=seed,
        )
        written = write_label_map(found, page, images=images, title=title)
    stimuli = plural(len(found), "stimulus", "stimuli")
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        write_csv(found.to_frame(), to)
    if figures is not None:
        figure = fig_label_map(
            found.places, found.colours, chosen=found.chosen, labels=found.labels
        )
        words = f"{stimuli}: {found.method}."
        save_figure(figure, figures, "label_map", title="Map of stimuli", description=words)
    out.show(f"{stimuli}, {plural(len(found.labels), 'label')}: {found.method}.")
    for note in found.notes:
        out.show(f"{note[0].upper()}{note[1:]}.")
    out.show(f"map: {written} ({written.stat().st_size / 1e6:.1f} MB, opens in any browser)")
    if to is not None:
        out.show(f"places written to {to}")
    if figures is not None:
        out.show(f"figures: {figures}")
    out.finish(
        {
            "panel": out.who,
            "map": written,
            "n_stimuli": len(found),
            "labels": found.labels,
            "label_colours": found.label_colours,
            "method": found.method,
            "notes": found.notes,
        },
        ratings.warnings,
    )


def _array(path: Path) -> Any:
    """Read an array of numbers, and nothing that could run code."""
    import numpy as np

    from affectlab.core.errors import InputError

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as problem:
        raise InputError(f"{path}: not an array of numbers in a .npy file ({problem})") from None
