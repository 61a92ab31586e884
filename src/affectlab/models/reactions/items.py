"""What a generator is asked about: a pair of image and caption, and an emotion."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.files.csv import text_of_sheet
from affectlab.core.words import shown
from affectlab.models.images import image_within

if TYPE_CHECKING:
    import polars as pl


__all__ = [
    "PersonReaction",
    "ReactionItem",
    "check_items",
    "image_hashes",
    "key_of",
    "read_items",
    "read_reactions",
    "same_pair",
    "tidy",
]


@dataclass(frozen=True)
class ReactionItem:
    """An image with its caption, and the emotion whose reason is asked for.

    Examples
    --------
    >>> ReactionItem("cake", "The oldest woman in the valley turns 108.", "Happy").label
    'happy'
    """

    stimulus: str
    """Name of the pair."""
    caption: str
    emotion: str
    """As it was written."""
    image: Path | None = None
    """Not needed, and never opened, where a model reads texts alone."""
    file: str = field(default="", compare=False)
    """The image as a table names it, for tables beside it; empty: the whole path."""

    @property
    def label(self) -> str:
        """The emotion in small letters and single spaces, as tables of reactions hold it."""
        return tidy(self.emotion).casefold()


@dataclass(frozen=True)
class PersonReaction:
    """What somebody wrote, for examples in prompts and for likelihoods."""

    stimulus: str
    caption: str
    emotion: str
    text: str
    rater: str = ""
    """Who wrote it, where that is known."""


def tidy(text: str) -> str:
    """Give a text in single spaces."""
    return " ".join(text.split())


def same_pair(item: ReactionItem | PersonReaction, reaction: PersonReaction) -> bool:
    """Say whether a reaction is to the pair of an item, or of another one, under whatever name.

    Captions alone decide beside names: one pair that stands in a table twice has one caption.
    """
    return (
        item.stimulus == reaction.stimulus
        or tidy(item.caption).casefold() == tidy(reaction.caption).casefold()
    )


def check_items(items: Iterable[ReactionItem], *, images: bool) -> tuple[ReactionItem, ...]:
    """Check items, and leave out those that ask for the same again.

    Raises
    ------
    InputError
        When there are none, one lacks a name, caption or emotion, or, with `images`, its image;
        when two hold different captions or images for one stimulus.
    """
    found: dict[tuple[str, str], ReactionItem] = {}
    pairs: dict[str, ReactionItem] = {}
    for number, item in enumerate(items, start=1):
        if not isinstance(item, ReactionItem):
            raise InputError(f"item {number} is a {type(item).__name__}; expected a ReactionItem")
        where = f"item {number} ({shown(item.stimulus, 40)!r})"
        for name in ("stimulus", "caption", "emotion"):
            if not tidy(getattr(item, name)):
                raise InputError(f"{where}: the {name} is empty; expected text")
        if images and item.image is None:
            raise InputError(
                f"{where} names no image; expected one, or a model of texts alone (--text-only, "
                "text_only=True)"
            )
        known = pairs.setdefault(item.stimulus, item)
        if (known.caption, known.image) != (item.caption, item.image):
            what = "caption" if known.caption != item.caption else "image"
            raise InputError(
                f"{where} has another {what} than an item of the same name before it; expected "
                "one image and one caption for each stimulus"
            )
        found.setdefault((item.stimulus, item.label), item)
    if not found:
        raise InputError("no pair is given; expected at least one with a caption and an emotion")
    return tuple(found.values())


def image_hashes(items: Sequence[ReactionItem]) -> dict[Path, str]:
    """Hash the image files of items, each once.

    Raises
    ------
    InputError
        When one is missing or cannot be read; the sentence names the stimulus.
    """
    from affectlab.models.images import content_hash, read_bytes

    found: dict[Path, str] = {}
    for item in items:
        if item.image is None or item.image in found:
            continue
        try:
            found[item.image] = content_hash(read_bytes(item.image))
        except InputError as error:
            raise InputError(f"stimulus {shown(item.stimulus, 40)!r}: {error}") from None
    return found


def key_of(*parts: str) -> str:
    """Hash texts that together name one thing."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass")
        found.update(len(data).to_bytes(8, "big") + data)
    return found.hexdigest()


# Reading pairs, and what people said of them, from tables and from ratings.


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

    from affectlab.core.files.csv import read_table
    from affectlab.ratings import read_ratings

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
