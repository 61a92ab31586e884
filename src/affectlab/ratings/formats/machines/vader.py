"""VADER: the valence of texts by a lexicon."""

from __future__ import annotations

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings.files import Peek, read_columns
from affectlab.ratings.formats.format import (
    Contents,
    Format,
    Layout,
    Sure,
    column_names,
    file_format,
)
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.table import find_one
from affectlab.ratings.options import ReadOptions

_SHARES = ("neg", "neu", "pos")
_COMPOUND = "compound"
_NAMES = ("text", "sentence", "key")


@file_format("vader", "polarity scores of VADER (neg, neu, pos, compound)")
class Vader(Format):
    """What ``polarity_scores`` of VADER gives for texts, in a table or as JSON by text.

    The answer is ``compound``, from -1 to 1, to the label ``valence``; the shares of negative,
    neutral and positive words are no answers about a text. The rater is called VADER.

    Notes
    -----
    Source: the documentation of vaderSentiment, "About the Scoring".

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("id,neg,neu,pos,compound\\na,0.0,0.3,0.7,0.64\\nb,0.5,0.5,0.0,-0.5\\n")
    >>> r = read_ratings(file)
    >>> r.rater_names, r.rater_kinds, r.label_names, r.value.tolist()
    (('VADER',), ('model',), ('valence',), [0.64, -0.5])
    """

    roles = ("stimulus",)
    layout = Layout(
        {"stimulus": "id", "rater": "VADER", "value": _COMPOUND},
        unused=dict.fromkeys(_SHARES, "shares of words"),
    )

    def recognise(self, head: Peek) -> Sure:
        nested = head.is_json and f'"{_COMPOUND}"' in head.text
        names = column_names(head) if nested else head.columns
        return Sure.if_({*_SHARES, _COMPOUND} <= {*names} and find_one("rater", names) is None)

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:  # noqa: ARG002
        """Take the compound score as the answer."""
        read = read_columns(head, on_bad=options.on_bad)
        names = list(read.columns)
        if missing := [name for name in (*_SHARES, _COMPOUND) if name not in names]:
            raise InputError(
                f"{head.path}: column '{missing[0]}' is missing; expected {self.title}"
            )
        stimulus = (options.columns or {}).get("stimulus") or find_one("stimulus", names)
        stimulus = stimulus or next((name for name in _NAMES if name in names), None)
        if stimulus not in names:
            raise InputError(
                f"{head.path}: no column for the stimulus; expected its name "
                f"({option('columns', {'stimulus': 'NAME'})}); found: {', '.join(names)}"
            )
        rater = options.rater or "VADER"
        same = pl.Series([rater, "valence"]).new_from_index
        height = len(read.columns[stimulus])
        columns = {
            "stimulus": read.columns[stimulus].cast(pl.String),
            "rater": same(0, height),
            "label": same(1, height),
            "value": read.columns[_COMPOUND],
        }
        texts = [read.columns[name] for name in _NAMES[:2] if name in names and name != stimulus]
        about = pl.DataFrame([columns["stimulus"].alias("stimulus"), *texts[:1]])
        return Contents(
            columns,
            read.locate,
            scale="-1..1 interval",
            raters=pl.DataFrame({"rater": [rater], "rater_kind": ["model"]}),
            stimuli=about.unique("stimulus", keep="first", maintain_order=True) if texts else None,
            set_aside=read.set_aside,
        )
