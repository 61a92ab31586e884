"""Which columns of the input hold the text, its id, its group and the predicted emotions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.emotions import unknown_labels
from affectlab.stimuli.curation.input.problems import Problems

__all__ = [
    "LINE",
    "Columns",
    "Parsed",
    "staged_rows",
]

_USUAL = {
    "id": ("id", "comment_id"),
    "text": ("body", "text", "comment"),
    "group": ("subreddit", "group"),
}
"""Names that are looked for, in this order: those of Reddit dumps and of GoEmotions first."""
_STAGED = ("id", "text", "group", "emotions")


@dataclass(frozen=True)
class Columns:
    """Names of the input's columns, or of the keys of its JSON lines.

    ``None`` takes the first usual name that a file has; ``""`` says that there is no such column.

    Examples
    --------
    >>> Columns().found_in(["id", "body", "subreddit", "score"])
    Columns(id='id', text='body', group='subreddit', emotions=None, keep=(), taxonomy=None)
    >>> Columns(group="", keep=("score",)).found_in(["text", "subreddit", "score"])
    Columns(id=None, text='text', group=None, emotions=None, keep=('score',), taxonomy=None)
    """

    id: str | None = None
    """Names the comment; None: ``id`` or ``comment_id``. Without one, the id is file and line."""
    text: str | None = None
    """The comment itself; None: ``body``, ``text`` or ``comment``."""
    group: str | None = None
    """Where it was posted; None: ``subreddit`` or ``group``."""
    emotions: str | None = None
    """Emotions that a pilot model predicted: a label, labels joined by ``;`` or ``,``, or a list of
    them. None: there are none."""
    keep: tuple[str, ...] = ()
    """Further columns that are carried along, as text."""
    taxonomy: str | None = None
    """Name or TOML file of the taxonomy that `emotions` are from: labels that it does not have are
    counted as problems. None: labels are not looked at."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", tuple(self.keep))
        for name in self.keep:
            if name in _STAGED:
                raise InputError(
                    f"columns: keep = {name!r}: this name is taken by the staged column {name}"
                )
        if len(set(self.keep)) != len(self.keep):
            raise InputError("columns: keep names a column twice")
        if self.text == "":
            raise InputError("columns: text is empty; expected the name of the column with texts")

    @property
    def staged(self) -> tuple[str, ...]:
        """Names of the columns that staging writes."""
        return (*(name for name in _STAGED if name != "emotions" or self.emotions), *self.keep)

    def found_in(self, names: Sequence[str]) -> Columns:
        """Name the columns that a file with these names has; None stands for an absent one.

        A name that was asked for is given back as it is, be it there or not.
        """
        present = set(names)

        def find(part: str) -> str | None:
            asked: str | None = getattr(self, part)
            usual = (name for name in _USUAL.get(part, ()) if name in present)
            return next(usual, None) if asked is None else asked or None

        return replace(
            self,
            id=find("id"),
            text=find("text"),
            group=find("group"),
            emotions=find("emotions"),
        )

    def needed(self) -> dict[str, str]:
        """Name of each column that is read, by the name under which it is staged.

        Examples
        --------
        >>> Columns(id="id", text="body", keep=("score",)).needed()
        {'id': 'id', 'text': 'body', 'score': 'score'}
        """
        given = {part: getattr(self, part) for part in _STAGED if getattr(self, part)}
        return {**given, **{name: name for name in self.keep}}


# Rows of one part of a file, brought into the columns that staging writes.


LINE = "__line__"
"""Column with the line on which a row begins, until the rows are staged."""
_NAMED = 5
"""Rows with the same problem that are looked up, to be named."""


@dataclass(frozen=True, eq=False)
class Parsed:
    """What became of one part of a file."""

    frame: pl.DataFrame
    """The rows, in the columns that staging writes."""
    n_read: int
    """Lines or records that were read, whether they could be used or not."""
    problems: Problems
    """What was wrong with them."""


def staged_rows(
    frame: pl.DataFrame, columns: Columns, label: str, problems: Problems
) -> pl.DataFrame:
    """Bring rows into the staged columns; count empty texts, absent ids and unknown labels.

    Parameters
    ----------
    frame
        The columns of :meth:`Columns.needed` under their staged names, as far as the file has them,
        and :data:`LINE`. An empty value counts as absent, in all columns but the text.
    label
        Name of the file in the ids of rows that have none.
    """
    present = set(frame.columns)
    empty = frame.filter(~pl.col("text").fill_null("").str.contains(r"\S"))
    problems.add_lines("empty_text", empty[LINE].head(_NAMED), "the text is empty", empty.height)
    place = pl.format("{}:{}", pl.lit(label), pl.col(LINE))
    given = _or_null("id", present)
    if columns.id:
        absent = frame.filter(given.is_null())
        named = absent[LINE].head(_NAMED)
        problems.add_lines("absent_id", named, f"no value of {columns.id!r}", absent.height)
    parts = {
        "id": pl.coalesce(given, place) if columns.id else place,
        "text": pl.col("text").fill_null(""),
        "group": _or_null("group", present),
    }
    if columns.emotions:
        frame = _with_labels(frame)
        parts["emotions"] = pl.col("emotions")
    parts |= {name: _or_null(name, present) for name in columns.keep}
    staged = frame.select(**parts)
    if columns.emotions and columns.taxonomy is not None:
        _count_unknown(staged["emotions"], frame[LINE], columns.taxonomy, problems)
    return staged


def _count_unknown(labels: pl.Series, lines: pl.Series, taxonomy: str, problems: Problems) -> None:
    """Count the rows with labels that the taxonomy does not have; the labels stay as they are."""
    unknown = unknown_labels(labels.explode().drop_nulls().unique(), taxonomy)
    if not unknown:
        return
    told = pl.DataFrame({"line": lines, "label": labels}).explode("label")
    told = told.filter(pl.col("label").is_in(list(unknown))).unique("line", keep="first")
    told = told.sort("line")
    for line, label in told.head(_NAMED).iter_rows():
        problems.add("unknown_label", line, unknown[label])
    rest = max(0, told.height - _NAMED)
    problems.add_lines("unknown_label", [], "", rest)


def _or_null(name: str, present: set[str]) -> pl.Expr:
    """The values of a column of text, of which empty ones are absent."""
    if name not in present:
        return pl.lit(None, dtype=pl.String)
    return pl.when(pl.col(name) != "").then(pl.col(name))


def _with_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn the emotions of rows into lists; texts come in few kinds, and each is cut up once."""
    kind = frame.schema.get("emotions")
    if kind != pl.String:
        return frame.with_columns(_emotions(kind).alias("emotions"))
    written = frame.select("emotions").unique()
    lists = written.with_columns(_emotions(kind).alias("labels"))
    joined = frame.join(lists, on="emotions", how="left", nulls_equal=True, maintain_order="left")
    return joined.drop("emotions").rename({"labels": "emotions"})


def _emotions(kind: pl.DataType | None) -> pl.Expr:
    """Labels as a list: from a list, one label, or labels joined by ``;`` or ``,``.

    A list that was written as text, ``["joy", "love"]``, is read as well.
    """
    if kind is None:
        return pl.lit(None, dtype=pl.List(pl.String))
    column = pl.col("emotions")
    if isinstance(kind, pl.List):
        labels = column.cast(pl.List(pl.String))
    else:
        plain = column.str.strip_chars().str.replace_all(r"""^\[|\]$|["']""", "")
        labels = plain.str.replace_all(",", ";", literal=True).str.split(";")
        labels = pl.when(column.str.contains(r"\S")).then(labels)
    trimmed = labels.list.eval(pl.element().str.strip_chars())
    return trimmed.list.eval(pl.element().filter(pl.element() != ""))
