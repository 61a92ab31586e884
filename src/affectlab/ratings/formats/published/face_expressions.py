"""FaceExpressions-70k: how different two facial expressions look, from 0 to 100."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError, check_choices, unknown_name
from affectlab.core.words import option
from affectlab.ratings.build import parse_values
from affectlab.ratings.files import Columns, Peek, read_delimited
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, shown
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale

_NEEDED = ("pair", "worker", "score")
_OF_PAIR = ("kind", "actor", "expression_a", "expression_b", "frame_a", "frame_b")
_FLAGS = ("golden", "repeat")
_COLUMNS = (*_NEEDED, "session", "batch", "trial", *_FLAGS, *_OF_PAIR)
_KINDS = ("intra", "inter")


@file_format(
    "face-expressions",
    "expression differences after FaceExpressions-70k (CSV: pair, worker, score, …)",
)
class FaceExpressions(Format):
    """Expression differences in the terms of FaceExpressions-70k, one row per judgement.

    CSV with the columns ``pair``, ``worker`` and ``score`` (0 identical to 100), and
    optionally ``session`` (one sitting of a worker; the batch when not given), ``batch``,
    ``trial`` (position in the session), ``golden`` and ``repeat`` (0 or 1), ``actor``,
    ``expression_a``, ``expression_b``, ``frame_a``, ``frame_b`` and ``kind`` (intra or inter;
    by default intra when both expressions are the same). Other columns are kept.

    Stimuli are pairs of images, raters are workers, the scale is 0 to 100 in steps of 1.
    Golden trials (known difference) and repeats (a pair shown again in the same session) have
    their ``trial_kind`` and are no answers about the pair. Actor, expressions, frames and kind
    are stimulus attributes.

    Notes
    -----
    Source: A. Saha et al. (2025), FaceExpressions-70k, sections 3.3 and 3.4.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("pair,worker,score,golden\\np1,w1,80,0\\np2,w1,3,1\\n")
    >>> r = read_ratings(file, format="face-expressions")
    >>> r.frame["trial_kind"].to_list(), r.answers().value.tolist()
    (['main', 'golden'], [80.0])
    """

    roles = _COLUMNS
    layout = Layout(
        {"stimulus": "pair", "rater": "worker", "value": "score"}, stimuli=_OF_PAIR, others=_FLAGS
    )

    def recognise(self, head: Peek) -> Sure:
        wanted = {*self.layout.needed, "expression_a", "expression_b"}
        return Sure.if_(not head.is_binary and wanted <= set(head.header))

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Take flags of golden and repeated trials as kinds of trials."""
        names = _column_names(head, options)
        few = [names[role] for role in ("pair", "worker")]
        read = read_delimited(head, names=few, on_bad=options.on_bad)
        given = {role: read.columns[name] for role, name in names.items() if name in read.columns}
        kinds, usable = _trial_kinds(given, read, rejects)
        if "kind" in given:
            usable &= _known_kinds(given["kind"], read, rejects)
        rows = np.flatnonzero(usable)
        if not len(rows):
            raise InputError(f"{head.path}: no row can be used; expected flags of 0 or 1")
        if "session" not in given and "batch" in given:
            # A worker rates a batch once, so the batch tells that worker's sessions apart.
            given["session"] = given["batch"]
        if "kind" not in given and "expression_a" in given and "expression_b" in given:
            same = given["expression_a"] == given["expression_b"]
            given["kind"] = pl.select(
                pl.when(same).then(pl.lit("intra")).when(~same).then(pl.lit("inter"))
            ).to_series()
        columns = {"trial_kind": kinds} | self.layout.renamed(given)
        for name, column in read.columns.items():
            if name in names.values():
                continue
            if name in columns or name in given or name == "label":
                raise InputError(
                    f"{head.path}, line 1: column '{name}' would stand beside the '{name}' of the "
                    "layout; rename it or leave it out"
                )
            columns[name] = column
        return Contents(
            {name: one.gather(rows) for name, one in columns.items() if name not in _FLAGS},
            lambda row: read.locate(int(rows[row])),
            scale=Scale("interval", 0.0, 100.0, 1.0),
            set_aside=read.set_aside,
        )


def _column_names(head: Peek, options: ReadOptions) -> dict[str, str]:
    """Column of the file for each column of the layout; the user may say that it is another."""
    given = dict(options.columns or {})
    check_choices("column", given.values(), head.header, f"{head.path}, line 1")
    names = {role: role for role in _COLUMNS} | given
    for role in _NEEDED:
        if names[role] not in head.header:
            raise InputError(
                f"{head.path}, line 1: column '{role}' is missing; expected {', '.join(_NEEDED)} "
                f"or its name ({option('columns', {role: 'NAME'})}), found: "
                f"{', '.join(head.header[:10])}"
            )
    return names


def _trial_kinds(
    given: dict[str, pl.Series], read: Columns, rejects: Rejects
) -> tuple[pl.Series, NDArray[np.bool_]]:
    """Kind of each trial from its flags, and which rows have flags that can be read."""
    kind = np.full(len(given["pair"]), "main", dtype=object)
    usable = np.ones(len(kind), dtype=bool)
    for flag in _FLAGS:
        if flag not in given:
            continue
        parsed = parse_values(given[flag], Scale.binary())
        raised = parsed.value == 1.0
        off = ~np.isnan(parsed.value) & ~Scale.binary().contains(parsed.value)
        off[parsed.bad] = True
        both = raised & (kind != "main")
        for row in np.flatnonzero(off | both):
            reason = "both golden and a repeat" if both[row] else f"{flag} is not 0 or 1"
            sentence = f"{flag} is {shown(given[flag][int(row)])}; expected 0 or 1"
            if both[row]:
                sentence = "the trial is both golden and a repeat; expected one at most"
            rejects.reject(read.place(row), reason, sentence)
        usable &= ~(off | both)
        kind[raised & usable] = flag
    return pl.Series("trial_kind", kind, dtype=pl.String), usable


def _known_kinds(kind: pl.Series, read: Columns, rejects: Rejects) -> NDArray[np.bool_]:
    """Say which rows name a kind of comparison that exists."""
    known = kind.is_in(_KINDS).fill_null(value=False).to_numpy()
    for row in np.flatnonzero(~known):
        sentence = str(unknown_name("kind", str(kind[int(row)] or ""), _KINDS))
        rejects.reject(read.place(row), "kind not known", sentence)
    return known
