"""Where the true class of a stimulus comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.words import option, plural
from affectlab.evaluation.classes.score_rows import ScoreRows, score_rows
from affectlab.ratings import HUMAN_KINDS, ModelRatings, Ratings, folded, model_tables, read_ratings
from affectlab.ratings.files import Peek, read_columns
from affectlab.ratings.formats import find_format
from affectlab.ratings.formats.table import (
    TRUTHS,
    PlainTable,
    called_after_raters,
    find_chosen,
    find_one,
)
from affectlab.taxonomy import Taxonomy

Truth: TypeAlias = str | Path | Ratings | Mapping[str, str | Sequence[str]]

_SEPARATORS = re.compile(r"[;,|]")


@dataclass(frozen=True, eq=False)
class TruthSource:
    """What the truth is made of."""

    kind: str
    """people, rater, attribute, table or given."""
    said: str
    """What it is, in words that a sentence can take."""
    panel: ScoreRows | None = None
    """The answers that make it; none yet for people."""
    taxonomy: Taxonomy | None = None

    @property
    def is_named(self) -> bool:
        """Whether classes are named for each stimulus, rather than answered by somebody."""
        return self.kind in ("attribute", "given")


def _named(kind: str, said: str, names: Mapping[str, tuple[str, ...]]) -> TruthSource:
    """Take the names of classes by stimulus; several, or none, only where classes are sets."""
    labels = tuple(dict.fromkeys(name for given in names.values() for name in given))
    scores = np.zeros((len(names), len(labels)))
    for row, given in zip(scores, names.values(), strict=True):
        row[[labels.index(name) for name in given]] = 1.0
    nobody = np.zeros(len(names), dtype=np.int64)
    rows, unmapped = np.arange(len(names)), nobody.astype(bool)
    panel = ScoreRows(
        (said,), ("truth",), tuple(names), labels, nobody, rows, scores, "nominal", unmapped, False
    )
    return TruthSource(kind, said, panel)


def read_truth(path: str | Path, **options: Any) -> Ratings:
    """Read the truth from a file.

    Parameters
    ----------
    path
        A table with one row per stimulus: two columns, the stimulus and its class; or a column
        called ``truth`` or ``class``, or as one of answers is, beside others that describe the
        stimulus; or a column for each class. Or a table of ratings, whose raters are pooled.
    options
        Further options of :func:`affectlab.ratings.read_ratings`.

    Raises
    ------
    InputError
        When the file cannot be read as either.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "truth.csv"
    >>> _ = file.write_text("image,expression\\n007,happy\\n008,sad\\n")
    >>> read_truth(file).scale.categories
    ('happy', 'sad')
    """
    peek = Peek.open(path)
    header = peek.columns or tuple(read_columns(peek).columns)
    classes = [name for name in header if folded(name) in ("truth", "class", *TRUTHS)]
    columns = dict(options.pop("columns", None) or {})
    if classes:
        columns.setdefault("value", classes[0])
    elif len(header) == 2:
        columns = {"stimulus": header[0], "value": header[1], **columns}
    elif (
        find_one("rater", header) is not None
        or {"rater", "wide"} & options.keys()
        or "rater" in columns
        or not isinstance(find_format(peek), PlainTable)
        or len(called_after_raters(header)) > 1
    ):
        return read_ratings(path, columns=columns or None, **options)
    elif not {"value", "label"} & columns.keys() and not (
        find_one("value", header) or find_chosen(header)
    ):
        # A column for each class.
        options["wide"] = "labels"
    return read_ratings(path, columns=columns or None, rater="truth", **options)


def truth_source(
    truth: Truth, ratings: Ratings, models: ModelRatings | None, *, multilabel: bool | None
) -> TruthSource:
    """Find what the truth is made of.

    Raises
    ------
    InputError
        When there are no such people, rater or attribute.
    """
    if isinstance(truth, Ratings):
        name = truth.source or "the table of truth"
        return TruthSource("table", name, panel=score_rows(truth), taxonomy=truth.taxonomy)
    if isinstance(truth, Mapping):
        names = {
            str(stimulus): (given.strip(),) if isinstance(given, str) else tuple(given)
            for stimulus, given in truth.items()
        }
        for stimulus, given in names.items():
            if multilabel is False and len(given) != 1:
                raise InputError(
                    f"truth: stimulus {stimulus!r} has {plural(len(given), 'class', 'classes')}; "
                    "expected one, or multilabel=True"
                )
        return _named("given", "the truth", names)
    if not isinstance(truth, str | Path):
        raise InputError(f"truth: expected text, ratings or a mapping, not {type(truth).__name__}")
    kind, _, name = str(truth).partition(":")
    if kind == "people" and not name:
        return TruthSource("people", "people")
    if kind == "attribute" and name:
        return _attribute(name, ratings, models, multilabel)
    if kind == "rater" and name:
        return _rater(name, ratings, models)
    if not Path(truth).is_file():
        raise InputError(
            f"{option('truth', str(truth))}: no such file; expected people, attribute:NAME, "
            "rater:NAME or a file"
        )
    return truth_source(read_truth(truth), ratings, models, multilabel=multilabel)


def _attribute(
    name: str, ratings: Ratings, models: ModelRatings | None, multilabel: bool | None
) -> TruthSource:
    tables = [ratings, *model_tables(models)]
    known = [column for table in tables for column in table.stimuli.columns if column != "stimulus"]
    holders = [table for table in tables if name in table.stimuli.columns and name != "stimulus"]
    if not holders:
        raise unknown_name("attribute of stimuli", name, dict.fromkeys(known), ratings.source)
    texts: dict[str, str] = {}
    for table in holders:
        for stimulus, value in table.stimuli.select("stimulus", name).iter_rows():
            if value is not None and value == value:
                texts.setdefault(stimulus, str(value).strip())
    if multilabel is None:
        multilabel = _names_several(set(texts.values()))
    names: dict[str, tuple[str, ...]] = {}
    for stimulus, text in texts.items():
        parts = _SEPARATORS.split(text) if multilabel else [text]
        names[stimulus] = tuple(part.strip() for part in parts if part.strip())
    if not multilabel:
        names = {stimulus: given for stimulus, given in names.items() if given}
    if not names:
        raise InputError(f"{ratings.source or 'the ratings'}: attribute {name!r} has no value")
    return _named("attribute", f"the attribute {name!r}", names)


def _names_several(texts: set[str]) -> bool:
    """Whether some name several classes, each of which others name alone: ``joy, fear``."""
    split = [[part.strip() for part in _SEPARATORS.split(text)] for text in texts]
    return any(len(parts) > 1 and set(parts) <= texts for parts in split)


def _rater(name: str, ratings: Ratings, models: ModelRatings | None) -> TruthSource:
    tables = [ratings, *model_tables(models)]
    for table in tables:
        if name in table.rater_names:
            panel = score_rows(table.select(raters=name))
            return TruthSource("rater", f"rater {name!r}", panel=panel, taxonomy=table.taxonomy)
    kinds = {
        rater: kind
        for table in tables
        for rater, kind in zip(table.rater_names, table.rater_kinds, strict=True)
    }
    # A truth is told by a person more often than by a model: people come first.
    known = sorted(kinds, key=lambda rater: kinds[rater] not in HUMAN_KINDS)
    raise unknown_name("rater", name, known, "truth")
