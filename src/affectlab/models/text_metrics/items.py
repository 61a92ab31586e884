"""What a text metric looks at: a candidate, references, an image, and where they are from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.errors import InputError, check_choice, check_choices, unknown_name
from affectlab.core.files.csv import read_table, text_of_sheet
from affectlab.core.words import shown
from affectlab.models.images import image_within
from affectlab.ratings import Ratings

__all__ = [
    "TextItem",
    "TextTable",
    "check_items",
    "image_of",
    "items_of_ratings",
    "name_of",
    "read_text_items",
    "text_items",
]


@dataclass(frozen=True)
class TextItem:
    """One text to be scored, and what it is scored against.

    Examples
    --------
    >>> TextItem("They won.", references=("The team has won.",)).references
    ('The team has won.',)
    """

    candidate: str
    """The text that is scored."""
    references: tuple[str, ...] = ()
    """What people wrote in its place."""
    image: Any = None
    """What it is about: a file, or an image of Pillow."""
    item: str = ""
    """Its name in tables."""
    emotion: str = ""
    """The emotion that it explains, for metrics that build a sentence."""
    caption: str = ""
    """The caption of the image, for metrics that build a sentence."""
    where: str = ""
    """How errors name it, such as ``"pairs.csv, row 7"``."""


def text_items(
    candidates: Sequence[str] | Sequence[TextItem],
    references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    images: Sequence[Any] | None = None,
) -> tuple[TextItem, ...]:
    """Put candidates beside their references and images.

    Parameters
    ----------
    candidates
        n texts; or n items, which have all else already.
    references
        n texts, or n lists of texts.
    images
        n files, or n images of Pillow.

    Raises
    ------
    InputError
        When the lengths differ, or an entry is of another kind.

    Examples
    --------
    >>> [item.references for item in text_items(["a", "b"], ["x", ["y", "z"]])]
    [('x',), ('y', 'z')]
    """
    for name, given in (("candidates", candidates), ("references", references)):
        if isinstance(given, str | bytes):
            raise InputError(f"{name}: expected a list of texts, not one text")
    if len(candidates) and isinstance(candidates[0], TextItem):
        if references is not None or images is not None:
            raise InputError("items have their references and images; expected none beside them")
        for place, one in enumerate(candidates):
            if not isinstance(one, TextItem):
                raise InputError(f"item {place}: expected a TextItem, not {type(one).__name__}")
        return tuple(candidates)  # type: ignore[arg-type]
    for name, other in (("references", references), ("images", images)):
        if other is not None and len(other) != len(candidates):
            raise InputError(
                f"{len(candidates)} candidates and {len(other)} {name}; expected as many of each"
            )
    return tuple(
        TextItem(
            candidate,  # type: ignore[arg-type]
            () if references is None else _references_of(references[place], place),
            None if images is None else images[place],
        )
        for place, candidate in enumerate(candidates)
    )


def _references_of(given: Any, place: int) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Sequence) and not isinstance(given, bytes):
        return tuple(given)
    raise InputError(
        f"item {place}: references are of type {type(given).__name__}; expected a text, or a list "
        "of texts"
    )


def name_of(item: TextItem, place: int) -> str:
    """Give how errors name an item."""
    if item.where:
        return item.where
    return f"item {place}" + (f" ({shown(item.item, 60)})" if item.item else "")


def check_items(
    items: Sequence[TextItem], metric: str, *, references: bool = False, image: bool = False
) -> None:
    """Refuse items that lack what a metric looks at.

    Parameters
    ----------
    references, image
        Whether the metric looks at them.

    Raises
    ------
    InputError
        When a candidate or a reference is empty or no text, or references or the image are missing.

    Examples
    --------
    >>> check_items([TextItem(" ")], "BARTScore")
    Traceback (most recent call last):
    affectlab.InputError: item 0: the candidate is empty; expected a text for BARTScore
    """
    for place, item in enumerate(items):
        texts = [("candidate", item.candidate)]
        if references:
            texts += [("reference", text) for text in item.references]
        for what, text in texts:
            if not isinstance(text, str):
                raise InputError(
                    f"{name_of(item, place)}: the {what} is of type {type(text).__name__}; "
                    f"expected a text for {metric}"
                )
            if not text.strip():
                raise InputError(
                    f"{name_of(item, place)}: the {what} is empty; expected a text for {metric}"
                )
        if references and not item.references:
            raise InputError(
                f"{name_of(item, place)}: there is no reference; expected one or more for {metric}"
            )
        if image and (item.image is None or item.image == ""):
            raise InputError(f"{name_of(item, place)}: there is no image; {metric} needs one")


# Tables of candidates, references and images.


_IMAGES = ("image", "file", "path")
_ITEMS = ("item", "stimulus", "id")


@dataclass(frozen=True, eq=False)
class TextTable:
    """Items, and the table they are from."""

    items: tuple[TextItem, ...]
    frame: pl.DataFrame
    """One row per item."""
    set_aside: tuple[str, ...] = ()
    """What was left out, a sentence each."""

    def column(self, name: str, what: str) -> list[str | None]:
        """Give a column as text.

        Raises
        ------
        InputError
            When there is none of that name.
        """
        check_choice("column", name, self.frame.columns, what)
        return self.frame[name].cast(pl.String).to_list()

    def keep(self, rows: Sequence[int], why: Sequence[str]) -> TextTable:
        """Keep these rows; say why the others go."""
        return TextTable(
            tuple(self.items[row] for row in rows),
            self.frame[list(rows)],
            (*self.set_aside, *why),
        )


def read_text_items(
    path: str | Path,
    *,
    candidate: str = "candidate",
    references: Sequence[str] | None = None,
    image: str | None = None,
    item: str | None = None,
    images: str | Path | None = None,
) -> TextTable:
    """Read candidates with their references and images from a table.

    Parameters
    ----------
    path
        CSV, Parquet or JSON Lines. Columns ``emotion`` and ``caption`` are read where they are.
    candidate
        Column of the texts that are scored.
    references
        Columns of references; in Parquet and JSON Lines one may hold lists. None: all columns whose
        names begin with ``reference``. Empty cells are no reference.
    image
        Column of image files; None: ``image``, ``file`` or ``path``, where there is one.
    images
        Folder of the images; None: that of the table.

    Other Parameters
    ----------------
    item
        Column of names, each once; None: ``item``, ``stimulus`` or ``id`` where its names differ,
        else rows are numbered from 1.

    Raises
    ------
    InputError
        When the table cannot be read, a column is missing, a name stands twice, or an image lies
        outside the folder.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "texts.csv"
    ...     _ = file.write_text("item,candidate,reference\\na,They won.,A win!\\n")
    ...     read_text_items(file).items[0].references
    ('A win!',)
    """
    place = Path(path)
    frame = _read(place)
    said = shown(place)
    _need(frame, [candidate, *(references or ()), *((image,) if image else ())], said)
    of_references = references or [name for name in frame.columns if name.startswith("reference")]
    of_image = image or next((name for name in _IMAGES if name in frame.columns), None)
    names = _names(frame, item, said)
    folder = place.parent if images is None else Path(images)
    found = [
        TextItem(
            candidate=_text(row[candidate]),
            references=tuple(text for name in of_references for text in _texts_of_cell(row[name])),
            image=None
            if of_image is None
            else image_of(row[of_image], folder, f"{said}, row {number}"),
            item=name,
            emotion=_text(row.get("emotion")),
            caption=_text(row.get("caption")),
            where=f"{said}, row {number}",
        )
        for number, (name, row) in enumerate(
            zip(names, frame.iter_rows(named=True), strict=True), start=1
        )
    ]
    if not found:
        raise InputError(f"{said} has no row; expected a text in each")
    return TextTable(tuple(found), frame)


def image_of(name: Any, folder: Path | None, where: str) -> Path | None:
    """Give the image that a table names, within a folder if there is one; None where it has none.

    Raises
    ------
    InputError
        When it lies outside the folder.
    """
    said = _text(name).strip()
    if not said or folder is None:
        return Path(said) if said else None
    return image_within(folder, said, where)


def _read(place: Path) -> pl.DataFrame:
    if place.suffix.lower() not in (".jsonl", ".ndjson"):
        frame = read_table(place, "texts")
        # Tables that affectlab writes for sheets have a mark before what a sheet would compute.
        return frame.with_columns(text_of_sheet(pl.col(pl.String)))
    try:
        return pl.read_ndjson(place, infer_schema_length=None)
    except FileNotFoundError:
        raise InputError(f"{shown(place)}: there is no such file") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        first = " ".join(str(error).split())[:120]
        raise InputError(f"{shown(place)}: not a table of texts ({first})") from None


def _need(frame: pl.DataFrame, columns: Sequence[str], said: str) -> None:
    check_choices("column", columns, frame.columns, said)


def _names(frame: pl.DataFrame, item: str | None, said: str) -> list[str]:
    if item is None:
        for name in _ITEMS:
            if name in frame.columns:
                column = frame[name].cast(pl.String)
                if column.null_count() == 0 and column.is_unique().all():
                    return column.to_list()
        return [str(number) for number in range(1, frame.height + 1)]
    _need(frame, [item], said)
    names = frame[item].cast(pl.String).to_list()
    first: dict[str | None, int] = {}
    for row, name in enumerate(names, start=1):
        if name is None or name == "":
            raise InputError(f"{said}, row {row}: column {item!r} is empty; expected a name")
        if first.setdefault(name, row) != row:
            raise InputError(
                f"{said}, row {row}: {shown(name, 60)!r} stands in row {first[name]} already; "
                f"expected each name once in column {item!r}"
            )
    return names


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _texts_of_cell(value: Any) -> list[str]:
    given = value if isinstance(value, list) else [value]
    return [str(one) for one in given if one is not None and str(one).strip()]


# Reactions of machines beside those of people, as items for text metrics.


_MACHINES = ("model", "baseline")
_PEOPLE = ("human", "simulated")


def items_of_ratings(
    ratings: Ratings, *, rater: str | None = None, images: str | Path | None = None
) -> TextTable:
    """Put each reaction of a machine beside those of people to the same pair and emotion.

    Emotions are compared without regard to case and to spaces around them. A reaction of a machine
    to which no person has one is left out, and told.

    Parameters
    ----------
    ratings
        Of the protocol ``reaction``: a column ``text``, and the emotion as the label or in a
        column ``emotion``; stimuli may have ``image`` and ``caption``.
    rater
        The machine; None: all of them.
    images
        Folder of the images; None: paths are taken as they are.

    Returns
    -------
    TextTable
        Its frame has stimulus, rater, emotion, and the attributes of stimuli.

    Raises
    ------
    InputError
        When there are no texts, no such machine, no reaction of a machine has a reference, or an
        image lies outside the folder.

    References
    ----------
    Deng et al. (2023), Socratis, section 4.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.ratings import read_ratings
    >>> rows = "p,ann,Proud,They won.\\np,bob,proud,A win.\\np,blip,proud,It is gold.\\n"
    >>> kinds = pl.DataFrame({"rater": ["blip"], "rater_kind": ["model"]})
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "reactions.csv"
    ...     _ = file.write_text("stimulus,rater,emotion,text\\n" + rows)
    ...     found = items_of_ratings(read_ratings(file, scale="text", raters=kinds))
    >>> found.items[0].candidate, found.items[0].references
    ('It is gold.', ('They won.', 'A win.'))
    """
    frame = ratings.to_frame()
    emotion = next((name for name in ("emotion", "label") if name in frame.columns), None)
    if "text" not in frame.columns or emotion is None:
        raise InputError(
            f"{ratings.source}: columns {', '.join(frame.columns)}; expected reactions, with the "
            "columns 'text' and 'emotion'"
        )
    kinds = dict(zip(ratings.rater_names, ratings.rater_kinds, strict=True))
    rows = frame.select(
        pl.col("stimulus").cast(pl.String),
        pl.col("rater").cast(pl.String),
        pl.col(emotion).cast(pl.String).fill_null("").alias("emotion"),
        pl.col("text").cast(pl.String).fill_null(""),
    ).filter(pl.col("text").str.strip_chars() != "")
    rows = rows.with_columns(
        pl.col("emotion").str.strip_chars().str.to_lowercase().alias("key"),
        pl.col("rater").replace_strict(kinds, default="human").alias("kind"),
    )
    machines = [name for name, kind in kinds.items() if kind in _MACHINES]
    if rater is not None and rater not in kinds:
        raise unknown_name("rater", rater, machines or list(kinds), str(ratings.source))
    chosen = machines if rater is None else [rater]
    if not chosen:
        raise InputError(
            f"{ratings.source}: all raters are people; expected reactions of a model, and people "
            "(the table of raters says who is which)"
        )
    people = rows.filter(pl.col("kind").is_in(_PEOPLE) & ~pl.col("rater").is_in(chosen))
    references: dict[tuple[str, str], list[str]] = {}
    for stimulus, key, text in people.select("stimulus", "key", "text").iter_rows():
        references.setdefault((stimulus, key), []).append(text)
    stimuli = ratings.stimuli
    known = {row["stimulus"]: row for row in stimuli.iter_rows(named=True)}
    items, kept, without = [], [], 0
    seen: dict[str, int] = {}
    candidates = rows.filter(pl.col("rater").is_in(chosen))
    for row in candidates.iter_rows(named=True):
        own = references.get((row["stimulus"], row["key"]), [])
        if not own:
            without += 1
            continue
        about = known.get(row["stimulus"], {})
        name = f"{row['stimulus']}/{row['emotion'].strip()}/{row['rater']}"
        seen[name] = seen.get(name, 0) + 1
        where = (
            f"{shown(ratings.source)}, reaction of {shown(row['rater'], 40)!r} to "
            f"{shown(row['stimulus'], 40)!r}"
        )
        items.append(
            TextItem(
                candidate=row["text"],
                references=tuple(own),
                image=image_of(
                    about.get("image") or about.get("file"),
                    None if images is None else Path(images),
                    where,
                ),
                item=name if seen[name] == 1 else f"{name}/{seen[name]}",
                emotion=row["emotion"].strip(),
                caption=str(about.get("caption") or ""),
                where=where,
            )
        )
        kept.append({**about, **{key: row[key] for key in ("stimulus", "rater", "emotion")}})
    if not items:
        raise InputError(
            f"{ratings.source}: no reaction of {', '.join(map(repr, chosen[:3]))} is to a pair and "
            "an emotion that a person has reacted to, too; expected some"
        )
    said = (
        [
            f"{without:,} of {candidates.height:,} reactions of machines are left out: nobody has "
            "reacted to the same pair and emotion"
        ]
        if without
        else []
    )
    return TextTable(tuple(items), pl.DataFrame(kept, infer_schema_length=None), tuple(said))
