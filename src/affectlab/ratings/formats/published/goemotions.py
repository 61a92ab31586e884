"""GoEmotions: 58 thousand comments, 27 emotions and neutral."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.ratings.build import parse_values
from affectlab.ratings.codes import Coded, encode
from affectlab.ratings.files import Columns, Peek, first_rows, read_columns, read_frame
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, Unusable, attributes, lines_of, shown
from affectlab.ratings.formats.texts import Text, Texts
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale
from affectlab.taxonomy import load_taxonomy

_EMOTIONS = load_taxonomy("goemotions").labels
_UNCLEAR = "example_very_unclear"
_OF_COMMENT = ("text", "subreddit", "author", "link_id", "parent_id", "created_utc")
_BINARY = Scale.binary()


@file_format(
    "goemotions-raw",
    "GoEmotions, the answers of each rater (CSV or Parquet with 28 label columns)",
)
class GoEmotionsRaw(Format):
    """A raw part of GoEmotions: one row per rater and comment, 28 columns of 0 and 1.

    CSV with a header, or the Parquet file of the Hugging Face hub, which
    :func:`affectlab.ratings.load_dataset` fetches. Answers are yes or no to each of the 28
    labels of the taxonomy ``goemotions``; stimuli are comments, with their text, subreddit, time,
    author, link and parent.

    A rater who ticked *example very unclear* chose no label. That says nothing about the labels, so
    these rows have no value and the outcome ``refused``; statistics leave them out, and the column
    ``unclear`` keeps them countable. The answers are the pairs of stimulus and rater.

    Notes
    -----
    Source: D. Demszky et al. (2020), GoEmotions: a dataset of fine-grained emotions, section 3.
    """

    taxonomy = "goemotions"
    layout = Layout(
        {"stimulus": "id", "rater": "rater_id"},
        labels=_EMOTIONS,
        stimuli=_OF_COMMENT,
        others=(_UNCLEAR,),
    )

    def recognise(self, head: Peek) -> Sure:
        """Look for the columns beside the labels, so that a missing label is told."""
        return Sure.if_({"id", "rater_id", _UNCLEAR} <= set(head.columns))

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Give each label of each row a row; those that were not understood are no answers."""
        self.layout.check(head)
        labels = _EMOTIONS
        names = ("rater_id", "subreddit", _UNCLEAR, *labels)
        read = read_columns(head, names=names, on_bad=options.on_bad)
        unclear = _zero_or_one(read, _UNCLEAR, rejects) == 1.0
        value = np.column_stack([_zero_or_one(read, label, rejects) for label in labels])
        stimulus, stated = _names(read, "id", "stimulus", rejects)
        rater, known = _names(read, "rater_id", "rater", rejects)
        # An unclear answer ticks nothing: its zeros are no statements about the labels.
        declined = unclear & ~(value == 1.0).any(axis=1)
        value[declined] = np.nan
        usable = (~np.isnan(value) | declined[:, None]) & (stated & known)[:, None]
        cells = np.flatnonzero(usable.ravel())
        if not len(cells):
            raise InputError(f"{head.path}: no row can be used; expected 0 or 1 for each label")
        row, label = np.divmod(cells, len(labels))
        columns = {
            "stimulus": Coded(stimulus.names, stimulus.code[row]).to_series("stimulus"),
            "rater": Coded(rater.names, rater.code[row]).to_series("rater"),
            "label": Coded(pl.Series(labels), label.astype(np.int32)).to_series("label"),
            "value": pl.Series("value", value.ravel()[cells]),
            "unclear": pl.Series("unclear", unclear[row]),
        }
        if declined.any():
            outcome = Coded(pl.Series(["ok", "refused"]), declined[row].astype(np.int32))
            columns["outcome"] = outcome.to_series("outcome").cast(pl.Categorical)
        if "src" in read.columns:
            columns["src"] = read.columns["src"].cast(pl.Categorical).gather(row)
        of_comment = {name: read.columns[name] for name in _OF_COMMENT if name in read.columns}
        stimuli, steps = attributes("stimulus", stimulus, of_comment)
        return Contents(
            columns,
            lambda at: read.locate(int(row[at])).then(f" (column '{labels[label[at]]}')"),
            scale=_BINARY,
            taxonomy=self.taxonomy,
            stimuli=stimuli,
            set_aside=read.set_aside,
            history=steps,
            split=False,
            unit="cell",
        )


def _zero_or_one(read: Columns, name: str, rejects: Rejects) -> NDArray[np.float64]:
    """Numbers of a column of zeros and ones; ``nan`` where a cell is neither."""
    column = read.columns[name]
    parsed = parse_values(column, _BINARY)
    bad = np.flatnonzero(~_BINARY.contains(parsed.value))
    for row in bad:
        rejects.reject(
            f"{read.place(row)} (column '{name}')",
            f"{name} is not 0 or 1" if name == _UNCLEAR else "label not 0 or 1",
            f"{shown(column[int(row)] or '')} is not understood; expected 0 or 1",
            unit="cell",
        )
    parsed.value[bad] = np.nan
    return parsed.value


def _names(
    read: Columns, column: str, what: str, rejects: Rejects
) -> tuple[Coded, NDArray[np.bool_]]:
    """Code a column of names, and say which rows have one."""
    given = read.columns[column]
    if given.dtype == pl.String:
        given = given.set(given.str.strip_chars() == "", None)
    present = given.is_not_null().to_numpy()
    for row in np.flatnonzero(~present):
        rejects.reject(read.place(row), f"{column} is empty", f"{column} is empty; expected a name")
    if not present.all():
        # The placeholder only keeps rows aligned; rows that have it are left out.
        given = given.cast(pl.String).fill_null("")
    return encode(given, what=what), present


_LABELS = re.compile(r"(?:\d|1\d|2[0-7])(?:,(?:\d|1\d|2[0-7]))*")
_COMMENT = re.compile(r"[a-z0-9]{7}")
_EXPECTED = "expected text, label numbers such as '3,10', and a comment id, separated by tabs"


@file_format(
    "goemotions-simplified",
    "GoEmotions, the labels agreed on (TSV or Parquet: text, label numbers, comment)",
)
class GoEmotionsSimplified(Texts):
    """A simplified split of GoEmotions: text, label numbers, comment.

    ``train.tsv``, ``dev.tsv`` or ``test.tsv``, or the Parquet file of the Hugging Face hub, which
    :func:`affectlab.ratings.load_dataset` fetches. The one rater ``consensus`` (attribute
    ``aggregated``) stands for all people who read the comment: labels that at least two of them
    chose are 1. Agreement between raters cannot be computed from these files.

    Notes
    -----
    Source: D. Demszky et al. (2020), GoEmotions: a dataset of fine-grained emotions, section 3.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "train.tsv"
    >>> _ = file.write_text('He said "wow"\\t0,26\\teebbqej\\n')
    >>> r = read_ratings(file)
    >>> r.frame.filter(r.frame["value"] == 1)["label"].to_list(), r.stimuli["text"][0]
    (['admiration', 'surprise'], 'He said "wow"')
    """

    emotions = _EMOTIONS
    layout = Layout({"stimulus": "id", "text": "text", "value": "labels"})
    scale = "binary"
    taxonomy = "goemotions"
    rule = "a label is 1 when at least two raters chose it"

    def recognise(self, head: Peek) -> Sure:
        if head.is_table:
            if set(head.columns) != {"text", "labels", "id"}:
                return Sure.NO
            rows = [_fields(row) for row in first_rows(head, ("text", "labels", "id"))]
        else:
            lines = [] if head.is_binary else head.text.split("\n")
            # The last line may be cut.
            lines = [line.removesuffix("\r") for line in lines[:-1] or lines]
            rows = [line.split("\t") for line in lines[:50] if line]
        return Sure.if_(
            rows
            and all(
                len(row) == 3 and _LABELS.fullmatch(row[1]) and _COMMENT.fullmatch(row[2])
                for row in rows
            )
        )

    def records(self, head: Peek, rejects: Rejects) -> Iterator[tuple[int, list[str]]]:  # noqa: ARG002
        """Give fields of lines, or of the rows of the hub's copy."""
        if head.is_table:
            self.layout.check(head)
            rows = read_frame(head).select("text", "labels", "id").iter_rows()
            return ((number, _fields(row)) for number, row in enumerate(rows, start=1))
        # Quotation marks in the texts are part of the texts, so this is not read as CSV.
        return ((number, line.split("\t")) for number, line in lines_of(head))

    def entry(self, head: Peek, number: int, record: list[str]) -> Text:  # noqa: ARG002
        if len(record) != 3:
            noun = "field" if len(record) == 1 else "fields"
            raise Unusable("not 3 fields", f"{len(record)} {noun}; {_EXPECTED}")
        text, numbers, comment = record
        if not _LABELS.fullmatch(numbers):
            raise Unusable(
                "label number not understood",
                f"labels {shown(numbers)} are not understood; expected numbers from 0 to 27, "
                "separated by commas",
            )
        return Text(comment, text, _ticked(numbers))


def _fields(row: tuple[Any, ...]) -> list[str]:
    """Give the fields of a row of the hub's copy as they stand in a line."""
    text, numbers, comment = row
    listed = ",".join(map(str, numbers)) if isinstance(numbers, list) else str(numbers)
    return [str(text or ""), listed, str(comment or "")]


@cache
def _ticked(numbers: str) -> NDArray[np.float64]:
    """Zeros and ones of one set of label numbers."""
    ticked = np.zeros(28)
    ticked[[int(number) for number in numbers.split(",")]] = 1.0
    return ticked
