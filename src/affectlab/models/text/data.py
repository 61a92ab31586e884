"""Texts with labels, from ratings of texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.core.words import count, joined, plural, shown
from affectlab.models.text.labels import check_texts, label_matrix
from affectlab.ratings import Ratings, read_ratings, read_table
from affectlab.ratings.files import Peek
from affectlab.ratings.formats import find_format
from affectlab.taxonomy import Taxonomy, load_taxonomy, match_taxonomy

if TYPE_CHECKING:
    import polars as pl


__all__ = [
    "LabelledTexts",
    "OnBad",
    "labelled_texts",
    "read_labelled_texts",
    "read_texts",
    "split_of",
]

_NAMED = re.compile(r"[^a-z]+")
OnBad = Literal["raise", "set_aside"]


@dataclass(frozen=True, eq=False, repr=False)
class LabelledTexts:
    """Texts with what they are known to express."""

    texts: tuple[str, ...]
    targets: Floats
    """Shape (n, labels): 0/1, or the share of raters who chose the label."""
    stimuli: tuple[str, ...]
    taxonomy: Taxonomy
    source: str
    """Name of the file."""
    split: str
    """train, dev or test, where the name of the file says so."""
    notes: tuple[str, ...]
    """How labels were made, and what was left out."""

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return (
            f"LabelledTexts({count(len(self))} texts, {len(self.taxonomy)} labels, {self.source})"
        )


def labelled_texts(
    ratings: Ratings,
    *,
    soft: bool = False,
    agree: float | None = None,
    on_bad: OnBad = "raise",
    source: str = "",
) -> LabelledTexts:
    """Make texts with labels of ratings whose stimuli have the attribute ``text``.

    Parameters
    ----------
    ratings
        Yes or no to labels, or one named label per answer. A label that a rater was not asked of a
        text counts as not chosen.
    soft, agree, on_bad
        As for :func:`read_labelled_texts`.
    source
        Name of the data, by default that of the ratings.

    Raises
    ------
    InputError
        As :func:`read_labelled_texts`, and when the answers are scores.
    """
    said = source or ratings.source or "the ratings"
    if "text" not in ratings.stimuli.columns:
        raise InputError(f"{said}: the stimuli have no attribute 'text'; expected their texts")
    shares, raters, labels = _chosen(ratings, said)
    taxonomy = ratings.taxonomy or match_taxonomy(labels) or Taxonomy.from_labels(labels)
    table = dict(ratings.stimuli.select("stimulus", "text").iter_rows())
    stimuli = tuple(ratings.answers().stimulus_names)
    texts = [table[name] or "" for name in stimuli]
    place = [taxonomy.index(label) for label in labels]
    whole = np.zeros((len(stimuli), len(taxonomy)))
    whole[:, place] = shares
    notes = [f"set aside: {part}" for part in ratings.set_aside]
    if soft:
        targets = whole
        notes.append(f"targets: shares of {_several(raters)} per text")
    else:
        least = (2 if np.median(raters) > 1 else 1) if agree is None else agree
        targets, words = _agreed(whole, raters, least)
        if raters.max(initial=1) > 1:
            notes.append(words)
    kept = np.ones(len(stimuli), dtype=bool) if soft else targets.any(axis=1)
    if not kept.all():
        notes.append(f"left out: {plural(int((~kept).sum()), 'text')} without a label")
    if on_bad == "set_aside":
        good = np.array([isinstance(text, str) and bool(text.strip()) for text in texts])
        if not good.all():
            notes.append(f"set aside: {plural(int((~good).sum()), 'empty text')}")
        kept &= good
    rows = np.flatnonzero(kept)
    if not rows.size:
        raise InputError(f"{said}: no text has a label; expected at least one")
    return LabelledTexts(
        check_texts([texts[row] for row in rows], said),
        targets[rows],
        tuple(stimuli[row] for row in rows),
        taxonomy,
        said,
        split_of(said),
        tuple(notes),
    )


def _chosen(ratings: Ratings, said: str) -> tuple[Floats, np.ndarray, tuple[str, ...]]:
    """Share of raters who chose each label of each text, and their number, (n, labels) and (n,)."""
    from affectlab.ratings import answers_of

    scale = ratings.scale
    answers = answers_of(ratings)
    if scale.kind == "nominal":
        answers = answers.of_categories(scale.categories)
    elif not (scale.kind == "binary" and ratings.has_labels):
        raise InputError(
            f"{said}: the answers are on the scale {scale}; expected yes or no to each label, or "
            "named labels"
        )
    raters, yes = answers.raters_per_unit(), answers.value > 0
    votes = np.zeros((len(answers.units), len(answers.labels)))
    np.add.at(votes, (answers.unit[yes], answers.label[yes]), 1.0)
    shares: Floats = votes / np.maximum(raters, 1)[:, None]
    return shares, raters, answers.labels


def _agreed(shares: Floats, raters: np.ndarray, least: float) -> tuple[Floats, str]:
    if isinstance(least, int) and not isinstance(least, bool):
        if least < 1:
            raise InputError(f"agree = {least}: expected 1 person or more, or a share such as 0.5")
        votes = np.rint(shares * raters[:, None])
        return (votes >= least).astype(np.float64), f"a label is true when {least} chose it"
    if not 0 < least <= 1:
        raise InputError(f"agree = {least}: expected a share above 0 and up to 1, or a number")
    true = (shares >= least - 1e-9).astype(np.float64)
    return true, f"a label is true when {100 * least:g} % chose it"


def _several(raters: np.ndarray) -> str:
    low, high = int(raters.min()), int(raters.max())
    return plural(low, "rater") if low == high else f"{low} to {high} raters"


def split_of(name: str) -> str:
    """Split that the name of a file speaks of: train, dev, test, or none."""
    words = set(_NAMED.split(Path(name).stem.lower()))
    for split, names in (
        ("test", {"test"}),
        ("dev", {"dev", "val", "valid", "validation"}),
        ("train", {"train", "training"}),
    ):
        if words & names:
            return split
    return ""


# Reading texts from files: GoEmotions, any ratings of texts, or a plain table.


_SEPARATORS = re.compile(r"[,;|]")
_NAMES = ("stimulus", "id")
"""Columns that name texts, the first that is there."""


def read_labelled_texts(
    path: str | Path,
    *,
    taxonomy: str | Path | Taxonomy | None = None,
    soft: bool = False,
    agree: float | None = None,
    on_bad: OnBad = "raise",
) -> LabelledTexts:
    """Read texts with labels.

    Parameters
    ----------
    path
        A table with the columns ``text`` and ``labels`` (names, or numbers in the order of the
        taxonomy, separated by comma, semicolon or ``|``; and optionally ``stimulus``); or anything
        that :func:`affectlab.ratings.read_ratings` reads whose stimuli have the attribute ``text``,
        such as GoEmotions (raw or simplified) and ISEAR.
    taxonomy
        Of the labels. None: that of the ratings, or a built-in one with exactly these labels, or
        one of the labels that occur.
    soft
        Targets are the shares of raters who chose each label, rather than 0 and 1.
    agree
        Share of raters (0.5), or number of them (2), that makes a label true; by default 2 people
        where most texts have several, as GoEmotions was prepared, and 1 otherwise.
    on_bad
        ``"raise"`` or ``"set_aside"``: what happens with empty texts. Texts without a label are
        left out and counted either way, unless `soft`.

    Raises
    ------
    InputError
        When there is no text, a label is not known, or no text has a label.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "train.csv"
    >>> _ = file.write_text('text,labels\\nso happy,joy\\n"scared, and angry","fear, anger"\\n')
    >>> found = read_labelled_texts(file, taxonomy="ekman")
    >>> found.split, found.targets.sum(axis=1).tolist()
    ('train', [1.0, 2.0])
    """
    place = Path(path)
    known = None if taxonomy is None else load_taxonomy(taxonomy)
    frame = _plain_table(place, ("text", "labels"))
    if frame is not None:
        return _of_table(place, frame, known, on_bad)
    with _told_of_columns(place, ("text", "labels")):
        ratings = read_ratings(place, taxonomy=known, on_bad=on_bad)
    return labelled_texts(ratings, soft=soft, agree=agree, on_bad=on_bad, source=place.name)


def _of_table(
    path: Path, frame: pl.DataFrame, taxonomy: Taxonomy | None, on_bad: OnBad
) -> LabelledTexts:
    notes: list[str] = []
    if on_bad == "set_aside":
        frame = _without_empty(frame, notes)
    named = [
        [part.strip() for part in _SEPARATORS.split(entry or "") if part.strip()]
        for entry in frame["labels"].to_list()
    ]
    kept = [row for row, parts in enumerate(named) if parts]
    if len(kept) < len(named):
        notes.append(f"left out: {plural(len(named) - len(kept), 'text')} without a label")
    if not kept:
        raise InputError(f"{path}: no text has a label; expected names in column 'labels'")
    if taxonomy is None:
        names = list(dict.fromkeys(part for row in kept for part in named[row]))
        taxonomy = _taxonomy_of(path, names)
    # Checked before rows are left out, so that errors count rows as the file does.
    texts = check_texts(frame["text"].to_list(), str(path))
    targets = label_matrix(named, taxonomy, len(named), where=str(path))
    stimuli = _names(frame)
    return LabelledTexts(
        tuple(texts[row] for row in kept),
        targets[kept],
        tuple(stimuli[row] for row in kept),
        taxonomy,
        path.name,
        split_of(path.name),
        tuple(notes),
    )


def _taxonomy_of(path: Path, names: Sequence[str]) -> Taxonomy:
    if all(name.isdecimal() for name in names):
        raise InputError(
            f"{path}: labels are numbers such as {names[0]!r}; name the taxonomy they count in"
        )
    for built_in in (match_taxonomy(names), load_taxonomy("goemotions")):
        if built_in is not None and all(name in built_in for name in names):
            return built_in
    return Taxonomy.from_labels(sorted(names))


def read_texts(
    path: str | Path, *, on_bad: OnBad = "raise"
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Read texts to be rated, with their names.

    Parameters
    ----------
    path
        A table with a column ``text`` (and optionally ``stimulus``), ratings of texts such as
        GoEmotions, a plain text file (``.txt``) with one text per line, a shard of webdataset
        (``.tar``) with texts, or a folder of ``datasets.Dataset.save_to_disk``.
    on_bad
        Whether an empty text stops reading or is left out and counted.

    Returns
    -------
    tuple
        Texts, stimuli, and notes.

    Raises
    ------
    InputError
        When there are no texts, or one is empty.
    """
    place = Path(path)
    notes: list[str] = []
    rows: list[tuple[str, str]]
    if place.suffix.lower() == ".txt":
        lines = Peek.open(place).decode().splitlines()
        rows = [(f"line {number}", line) for number, line in enumerate(lines, 1)]
    elif place.suffix.lower() == ".tar" or place.is_dir():
        rows = _packed(place)
    elif (frame := _plain_table(place, ("text",))) is not None:
        rows = list(zip(_names(frame), frame["text"].to_list(), strict=True))
    else:
        with _told_of_columns(place, ("text",)):
            ratings = read_ratings(place, on_bad=on_bad)
        if "text" not in ratings.stimuli.columns:
            raise InputError(f"{place}: there is no column 'text'; expected one with the texts")
        table = ratings.stimuli.select("stimulus", "text")
        rows = [(name, text or "") for name, text in table.iter_rows()]
    if on_bad == "set_aside":
        good = [(name, text) for name, text in rows if isinstance(text, str) and text.strip()]
        if len(good) < len(rows):
            notes.append(f"set aside: {plural(len(rows) - len(good), 'empty text')}")
        rows = good
    texts = check_texts([text for _, text in rows], str(place))
    return texts, tuple(name for name, _ in rows), tuple(notes)


def _packed(place: Path) -> list[tuple[str, str]]:
    from affectlab.models.images import is_packed, packed_texts

    if not is_packed(place):
        raise InputError(
            f"{shown(place)}: expected a file of texts: a table with a column text, ratings of "
            "texts, a .txt or .tar file, or a folder that datasets has saved"
        )
    return packed_texts(place)


def _plain_table(path: Path, needed: tuple[str, ...]) -> pl.DataFrame | None:
    """Read a table of texts that is no table of ratings; None where the file is one."""
    peek = Peek.open(path)
    published = find_format(peek).name not in ("table", "affectlab")
    if published or (not peek.is_binary and not set(needed) <= set(peek.header)):
        return None
    if peek.is_binary and path.suffix.lower() not in (".parquet", ".feather"):
        return None
    frame = read_table(path, names=())
    columns = set(frame.columns)
    if not set(needed) <= columns or {"rater", "value"} & columns:
        return None
    exact = read_table(path, names=[*needed, *sorted(columns & set(_NAMES))])
    # An empty cell is an empty text.
    return exact.with_columns(exact["text"].fill_null(""))


@contextmanager
def _told_of_columns(path: Path, needed: tuple[str, ...]) -> Iterator[None]:
    """Name the columns that were looked for, where a file is neither such a table nor ratings."""
    try:
        yield
    except InputError:
        peek = Peek.open(path)
        header = () if peek.is_binary else peek.header
        missing = [name for name in needed if name not in header]
        if (
            not header
            or not missing
            or {"rater", "value"} & set(header)
            or find_format(peek).name not in ("table", "affectlab")
        ):
            raise
        found = joined([repr(shown(name, 30)) for name in header[:6]])
        raise InputError(
            f"{path}: there is no column {joined([repr(name) for name in missing])}, only {found}"
            f"{', …' if len(header) > 6 else ''}; expected the columns "
            f"{joined([repr(name) for name in needed])}, or ratings of texts"
        ) from None


def _without_empty(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    import polars as pl

    good = frame.filter(pl.col("text").fill_null("").str.strip_chars() != "")
    if good.height < frame.height:
        notes.append(f"set aside: {plural(frame.height - good.height, 'empty text')}")
    return good


def _names(frame: pl.DataFrame) -> list[str]:
    """Names of stimuli: a column, or the rows counted."""
    for column in _NAMES:
        if column in frame.columns:
            return [str(name) for name in frame[column].to_list()]
    return [f"text {row}" for row in range(1, frame.height + 1)]
