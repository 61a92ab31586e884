"""``affectlab analyze map``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import check_folder
from affectlab.cli.operations import FiguresOption, show_result
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
        Path, Option(help="The page to write, ending in .html.", metavar="FILE")
    ] = Path("map.html"),
    method: Annotated[
        Literal["tsne", "umap", "pca"], Option(help="How places are found.")
    ] = "tsne",
    images: Annotated[
        Path | None, Option(help="Folder with a picture of each stimulus, named like it.")
    ] = None,
    most: Annotated[
        int, Option(help="With more stimuli, so many are drawn at random.", min=1)
    ] = 5000,
    features: Annotated[
        Path | None,
        Option(
            help="Find places from these numbers, such as embeddings, and not from the labels: a "
            ".npy file with one row per stimulus, in order of first use.",
        ),
    ] = None,
    exclude_neutral: Annotated[
        bool,
        Option(
            "--exclude-neutral/--no-exclude-neutral",
            help="Leave out the label that stands for no emotion.",
        ),
    ] = True,
    text: Annotated[str, Option("--text", help="Column of the stimuli that holds texts.")] = "text",
    title: Annotated[str, Option(help="Heading of the page.")] = "Map of stimuli",
    to: Annotated[
        Path | None, Option("--out", help="Write places to this file (.csv, .parquet) or folder.")
    ] = None,
    figures: FiguresOption = None,
    seed: SeedOption = 0,
) -> None:
    """Draw an interactive map of the stimuli, coloured by the labels that people chose.

    Example: affectlab analyze map comments.csv --page map.html --most 5000
    """
    from affectlab.analysis import label_map as place
    from affectlab.report import write_label_map

    check_folder(figures, "--figures")
    with out.progress(f"{method} of the stimuli"):
        found = place(
            out.panel(ratings, hint=""),
            features=None if features is None else _array(features),
            method=method,
            exclude_neutral=exclude_neutral,
            most=most,
            text=text,
            seed=seed,
        )
        written = write_label_map(found, page, images=images, title=title)
    out.show(f"map: {written} ({written.stat().st_size / 1e6:.1f} MB, opens in any browser)")
    show_result(found, out, to=to, figures=figures, warnings=ratings.warnings)


def _array(path: Path) -> Any:
    """Read an array of numbers, and nothing that could run code."""
    import numpy as np

    from affectlab.core.errors import InputError

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as problem:
        raise InputError(f"{path}: not an array of numbers in a .npy file ({problem})") from None
