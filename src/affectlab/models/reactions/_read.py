"""Reading pairs, and what people said of them, from tables and from ratings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab._csv import text_of_sheet
from affectlab._words import shown
from affectlab.errors import InputError, unknown_name
from affectlab.models.images._within import image_within
from affectlab.models.reactions._items import PersonReaction, ReactionItem

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_items", "read_reactions"]

_STIMULUS = ("stimulus", "pair", "unique_id", "id")
_IMAGE = ("image", "file", "path")
_EMOTION = ("emotion", "label")
_TEXT = ("reaction", "explanation", "reason", "text")
_PEOPLE = ("human", "simulated")


def read_items(
    path: str | Path,
    *,
    emotion: str | None = None,
    images: str | Path | None = None,
    text_only: bool = False,
) -> tuple[ReactionItem, ...]:
    """Read pairs with their emotions, one a row.

    Parameters
    ----------
    path
        A table (CSV or Parquet) with ``stimulus`` (or ``pair``, ``unique_id``, ``id``),
        ``caption`` (or ``text``, where no rater and no caption stand beside it), ``emotion`` (or
        ``label``) and ``image`` (or ``file``, ``path``); or ratings of any format that
        :func:`affectlab.ratings.read_ratings` knows, such as the published JSON of Socratis, whose
        stimuli have a caption and an image.
    emotion
        The column with the emotion.
    images
        Folder of the image files; by default that of the table.
    text_only
        Images are not needed; a table without them will do.

    Raises
    ------
    InputError
        When a column is missing, a cell that is needed is empty, or an image lies outside the
        folder.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "pairs.csv"
    ...     _ = table.write_text("stimulus,caption,emotion\\na,Storm hits coast,awe\\n")
    ...     read_items(table, text_only=True)[0].caption
    'Storm hits coast'
    """
    table = _Table(path)
    columns = {
        "stimulus": table.column(_STIMULUS),
        "caption": table.caption(),
        "emotion": table.column(_EMOTION if emotion is None else (emotion,)),
    }
    image = table.column(_IMAGE, needed=not text_only)
    folder = Path(path).parent if images is None else Path(images)
    found = []
    for number, row in enumerate(table.frame.iter_rows(named=True), start=1):
        cells = {name: table.cell(row, column, number, name) for name, column in columns.items()}
        place, name = None, ""
        if image is not None and not text_only:
            name = table.cell(row, image, number, "image")
            place = image_within(folder, name, f"{table.path}, row {number}")
        found.append(ReactionItem(**cells, image=place, file=name))
    if not found:
        raise InputError(f"{table.path} has no rows; expected pairs with an emotion each")
    return tuple(found)


def read_reactions(
    path: str | Path,
    *,
    pairs: Mapping[str, str] | None = None,
    people: bool = False,
    emotion: str | None = None,
) -> tuple[PersonReaction, ...]:
    """Read reactions that were written, one a row.

    Parameters
    ----------
    path
        A table or ratings, as :func:`read_items` takes them, with the text in ``reaction`` (or
        ``explanation``, ``reason``, ``text``). Ratings that :func:`ReactionGenerator.rate` made are
        such a table.
    pairs
        Caption by stimulus, for tables without captions.
    people
        Leave out what models wrote, where the table says who wrote it.
    emotion
        The column with the emotion, where it has another name.

    Raises
    ------
    InputError
        When a column is missing, a cell that is needed is empty, or a stimulus has no caption.
    """
    table = _Table(path)
    frame = table.frame
    text = table.column(tuple(name for name in _TEXT if name != "text" or table.answers))
    stimulus = table.column(_STIMULUS)
    label = table.column(_EMOTION if emotion is None else (emotion, *_EMOTION))
    caption = "caption" if "caption" in frame.columns else None
    if caption is None and pairs is None:
        caption = table.caption()
    found = []
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        if people and row.get("rater_kind") not in (None, "", *_PEOPLE):
            continue
        if row.get("outcome") not in (None, "", "ok"):
            continue
        name = table.cell(row, stimulus, number, "stimulus")
        if caption is not None:
            said = table.cell(row, caption, number, "caption")
        elif pairs is not None and name in pairs:
            said = pairs[name]
        else:
            raise InputError(
                f"{table.path}, row {number}: stimulus {shown(name, 40)!r} is not among the pairs; "
                "expected reactions to these pairs, or a column caption"
            )
        found.append(
            PersonReaction(
                name,
                said,
                table.cell(row, label, number, "emotion"),
                table.cell(row, text, number, "reaction"),
                str(row.get("rater") or ""),
            )
        )
    if not found:
        raise InputError(
            f"{table.path} has no reactions{' of people' if people else ''}; expected at least one"
        )
    return tuple(found)


class _Table:
    """A table, or ratings with the attributes of stimuli and raters beside each answer."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.frame = _frame(self.path)
        self.answers = bool({"rater", "caption"} & set(self.frame.columns))
        """Whether a column ``text`` holds reactions, and not captions."""

    def column(self, names: tuple[str, ...], *, needed: bool = True) -> Any:
        """Find the column of one of these names; None where there is none and none is needed."""
        for name in names:
            if name in self.frame.columns:
                return name
        if not needed:
            return None
        if len(names) == 1:
            raise unknown_name("column", names[0], self.frame.columns, str(self.path))
        known = ", ".join(shown(name, 40) for name in self.frame.columns)
        raise InputError(
            f"{self.path} has no column {names[0]!r} (or {', '.join(names[1:])}); its columns are: "
            f"{known}"
        )

    def caption(self) -> str:
        """Find the column of captions."""
        found: str = self.column(("caption",) if self.answers else ("caption", "text"))
        return found

    def cell(self, row: Mapping[str, Any], column: str, number: int, what: str) -> str:
        """Give the text of a cell that must have one."""
        found = row[column]
        text = "" if found is None else str(found).strip()
        if not text:
            raise InputError(f"{self.path}, row {number}: the {what} is empty; expected text")
        return text


def _frame(path: Path) -> pl.DataFrame:
    import polars as pl

    from affectlab.ratings import read_ratings
    from affectlab.stimuli._tables import read_table

    with_attributes = path.with_name(f"{path.name}.meta.json").exists()
    if path.suffix.lower() == ".csv" and not with_attributes:
        frame = read_table(path, "pairs and emotions")
        return frame.with_columns(text_of_sheet(pl.col(pl.String)))
    if path.suffix.lower() == ".parquet":
        frame = read_table(path, "pairs and emotions")
        if "rater" not in frame.columns:
            return frame
    ratings = read_ratings(path)
    frame = ratings.to_frame()
    for key, known in (("stimulus", ratings.stimuli), ("rater", ratings.raters)):
        if known is not None:
            new = [key, *(name for name in known.columns if name not in frame.columns)]
            frame = frame.join(known.select(new), on=key, how="left", maintain_order="left")
    return frame
