"""A study of the images that two models get wrong in different ways."""

from __future__ import annotations

import json
import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns, require_distinct, require_filled
from affectlab.core.files.csv import read_table
from affectlab.core.types import pl
from affectlab.core.words import plural
from affectlab.stimuli.review import about, read_decisions
from affectlab.study.design.stimulus import picture_in
from affectlab.study.design.templates.template import study_name, template_text

__all__ = ["ErrorStudy", "kept_items", "reviewed_items", "write_error_study"]

_PROTOCOL = "preference_errors"
_NEEDED = ("stimulus", "file", "labels_a", "labels_b", "system_a", "system_b")
_MOST_TRIALS = 50
"""Images that a session shows at most: 30 take about a quarter of an hour, as published."""


@dataclass(frozen=True)
class ErrorStudy:
    """A study that waits for people, as :func:`write_error_study` writes it."""

    study: Path
    """The study file, which ``affectlab study serve`` opens."""
    table: Path
    """Its images, the two labels of each, and whose they are."""
    images: Path
    """The folder that files of the table are in."""
    n_items: int
    raters: int
    """People who are to answer each image."""


def write_error_study(
    path: str | Path,
    items: pl.DataFrame,
    images: str | Path,
    *,
    raters: int = 30,
    seed: int = 0,
) -> ErrorStudy:
    """Write a study in which people choose between two wrong labels, or say they cannot tell.

    Parameters
    ----------
    path
        Study file to write, which must not exist. Its table is written beside it.
    items
        ``stimulus``, ``file``, ``labels_a``, ``labels_b``, ``system_a``, ``system_b``, and further
        columns that participants do not see: see ``BothWrong.items``.
    images
        Folder that the files are in.
    raters
        People who are to answer each image.
    seed
        Order of the images.

    Raises
    ------
    InputError
        When a column is missing or a cell of it is empty, an image is not in the folder or none
        that browsers show, a stimulus comes twice, both labels or both models are the same, there
        is no item, or a file is there already.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, user study: 30 people, 30 images, three choices.
    """
    import polars as pl

    path = Path(path)
    if path.suffix != ".toml":
        raise InputError(f"{path}: expected a name that ends in .toml")
    if raters < 1:
        raise InputError(f"raters = {raters}: expected 1 or more")
    name = study_name(path)
    table = path.parent / f"{name}-errors.csv"
    for file in (path, table):
        if file.exists():
            raise InputError(f"{file} is there already; expected a new name")
    _check(items, Path(images))
    items = items.with_columns(pl.col("stimulus", "file").cast(pl.String))
    items, folder = _beside(items, Path(images), path.parent)
    trials = min(items.height, _MOST_TRIALS)
    text = template_text(_PROTOCOL, path)
    sessions = [f"trials = {trials}", f"raters = {raters}"]
    if trials < items.height:
        sessions.append(f"most_per_rater = {-(-items.height // trials)}")
    lines = {
        f'folder = "{name}-pictures"': f"folder = {_quoted(_relative(folder, path.parent))}",
        "trials = 4\nraters = 30": "\n".join(sessions),
        " the one beside this file is made up.": " the one beside this file was made so.",
        f'[study]\nname = "{name}"\n': f'[study]\nname = "{name}"\nseed = {seed}\n',
    }
    for old, new in lines.items():
        if text.count(old) != 1:
            raise RuntimeError(f"the template has {old!r} {text.count(old)} times")
        text = text.replace(old, new)
    path.parent.mkdir(parents=True, exist_ok=True)
    items.write_csv(table)
    path.write_text(text, encoding="utf-8")
    return ErrorStudy(path, table, folder, items.height, raters)


def kept_items(
    items: pl.DataFrame, decisions: pl.DataFrame, most: int | None = None
) -> tuple[pl.DataFrame, int]:
    """Keep the items that a review let pass.

    Parameters
    ----------
    items
        The reviewed table; their order is one of chance where they were drawn.
    decisions
        ``stimulus`` and ``keep``, as :func:`affectlab.stimuli.review_decisions` gives them.
    most
        How many are kept at most, the first ones; None: all.

    Returns
    -------
    The items that are kept, and how many no review has settled.

    Raises
    ------
    InputError
        When none is left, or `most` is below 1.

    Examples
    --------
    >>> import polars as pl
    >>> items = pl.DataFrame({"stimulus": ["a", "b", "c"]})
    >>> decided = pl.DataFrame({"stimulus": ["a", "b"], "keep": [False, True]})
    >>> kept, open = kept_items(items, decided)
    >>> kept["stimulus"].to_list(), open
    (['b'], 1)
    """
    import polars as pl

    if most is not None and most < 1:
        raise InputError(f"most = {most}: expected 1 or more")
    keep = dict(decisions.select(pl.col("stimulus").cast(pl.String), "keep").iter_rows())
    said = [keep.get(str(name)) for name in items["stimulus"].to_list()]
    kept = items.filter(pl.Series([one is True for one in said], dtype=pl.Boolean))
    if not kept.height:
        raise InputError(
            f"the review keeps none of {plural(items.height, 'image')} "
            f"({sum(one is None for one in said):,} not settled); expected one at least"
        )
    return kept if most is None else kept.head(most), sum(one is None for one in said)


def _check(items: pl.DataFrame, images: Path) -> None:
    require_columns(items, _NEEDED, "the items: ")
    if not items.height:
        raise InputError("there is no item to ask about; expected one or more")
    require_filled(items, _NEEDED, "the items: ")
    require_distinct(items, ["stimulus"], "the items: ", "one row for each")
    for row, cells in enumerate(items.select(_NEEDED).iter_rows(), start=1):
        for column, cell in zip(_NEEDED, cells, strict=True):
            if any(unicodedata.category(letter) == "Cc" for letter in str(cell)):
                raise InputError(
                    f"the items, row {row}: {column} {str(cell)!r} holds a control character; "
                    "expected plain text"
                )
    for stimulus, file, *pairs in items.select(_NEEDED).iter_rows():
        where = f"the items, stimulus {str(stimulus)!r}"
        # Two labels that read the same would tell nobody apart, and count as a choice all the same.
        for what, one, other in (("labels", *pairs[:2]), ("systems", *pairs[2:])):
            if " ".join(str(one).casefold().split()) == " ".join(str(other).casefold().split()):
                raise InputError(f"{where}: both {what} are {one!r}; expected two different ones")
        picture_in(images, str(file), where)


def _beside(items: pl.DataFrame, images: Path, place: Path) -> tuple[pl.DataFrame, Path]:
    """Name files from the folder of the study where they are within it."""
    import polars as pl

    here, there = place.resolve(), images.resolve()
    if here == there or not there.is_relative_to(here):
        return items, images
    way = there.relative_to(here).as_posix()
    return items.with_columns(pl.format("{}/{}", pl.lit(way), "file").alias("file")), place


def _relative(folder: Path, place: Path) -> str:
    try:
        return Path(os.path.relpath(folder.resolve(), place.resolve())).as_posix()
    except ValueError:
        # On Windows there is no way from one drive to another.
        return folder.resolve().as_posix()


def _quoted(text: str) -> str:
    """Write a TOML string: JSON's escapes are TOML's, except that TOML wants one for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def reviewed_items(
    table: Path, decisions: Path | None = None, most: int | None = None
) -> tuple[pl.DataFrame, int, int]:
    """Read the items of a study, and keep those that a review let pass.

    Parameters
    ----------
    table
        Table of the items.
    decisions
        Decisions of the review. None: all items pass.
    most
        Keep so many at most.

    Returns
    -------
    The items, how many there were, and how many the review has not settled.
    """
    items = read_table(table, "items")
    if decisions is None:
        return items if most is None else items.head(most), items.height, 0
    kept, unsettled = kept_items(items, about(read_decisions(decisions), items), most)
    return kept, items.height, unsettled
