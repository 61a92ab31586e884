"""FaceExpressions-70k: how different two facial expressions look, from 0 to 100."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.words import option
from affectlab.ratings.build import parse_values
from affectlab.ratings.datasets.common import Rejects, refuse_layout, shown
from affectlab.ratings.files import Delimited, OnBad, Peek, read_delimited
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.scale import Scale
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "face_expressions"]

_NAME = "face-expressions"
_NEEDED = ("pair", "worker", "score")
_OF_PAIR = ("kind", "actor", "expression_a", "expression_b", "frame_a", "frame_b")
_FLAGS = ("golden", "repeat")
_COLUMNS = (*_NEEDED, "session", "batch", "trial", *_FLAGS, *_OF_PAIR)
_KINDS = ("intra", "inter")
_SCALE = Scale("interval", 0.0, 100.0, 1.0)


def _sniff(peek: Peek) -> bool:
    wanted = {*_NEEDED, *_FLAGS, "expression_a", "expression_b"}
    return not peek.is_binary and wanted <= set(peek.header)


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, replace(options, columns=None), _NAME)
    names = _column_names(peek, options)
    read = read_delimited(
        peek, names=[names[role] for role in ("pair", "worker")], on_bad=options.on_bad
    )
    given = {
        role: read.columns[name].alias(role) for role, name in names.items() if name in read.columns
    }
    rejects = Rejects(peek.path, options.on_bad)
    kinds, usable = _trial_kinds(given, read, rejects)
    if "kind" in given:
        usable &= _known_kinds(given["kind"], read, rejects)
    kept = np.flatnonzero(usable)
    if not len(kept):
        raise InputError(f"{peek.path}: no row can be used; expected flags of 0 or 1")
    columns = {
        "stimulus": given.pop("pair"),
        "rater": given.pop("worker"),
        "value": given.pop("score"),
        "trial_kind": kinds,
    }
    if "session" not in given and "batch" in given:
        # A worker rates a batch once, so the batch tells that worker's sessions apart.
        given["session"] = given["batch"].alias("session")
    if "kind" not in given and "expression_a" in given and "expression_b" in given:
        same = given["expression_a"] == given["expression_b"]
        given["kind"] = pl.select(
            pl.when(same).then(pl.lit("intra")).when(~same).then(pl.lit("inter"))
        ).to_series()
    for name, column in read.columns.items():
        if name in names.values():
            continue
        if name in columns or name in given or name == "label":
            raise InputError(
                f"{peek.path}, line 1: column '{name}' would stand beside the '{name}' of the "
                "layout; rename it or leave it out"
            )
        given[name] = column
    columns |= {name: column for name, column in given.items() if name not in _FLAGS}
    if len(kept) < len(usable):
        columns = {name: column.gather(kept) for name, column in columns.items()}
    return assemble(
        columns,
        options,
        source=str(peek.path),
        locate=lambda row: read.locate(int(kept[row])),
        scale=_SCALE,
        set_aside=(*read.set_aside, *rejects.set_aside),
    )


def _column_names(peek: Peek, options: ReadOptions) -> dict[str, str]:
    """Column of the file for each column of the layout; the user may say that it is another."""
    given = dict(options.columns or {})
    for role, name in given.items():
        if role not in _COLUMNS:
            raise unknown_name("column of the layout", role, _COLUMNS, str(peek.path))
        if name not in peek.header:
            raise unknown_name("column", name, peek.header, f"{peek.path}, line 1")
    names = {role: role for role in _COLUMNS} | given
    for role in _NEEDED:
        if names[role] not in peek.header:
            raise InputError(
                f"{peek.path}, line 1: column '{role}' is missing; expected {', '.join(_NEEDED)} "
                f"or its name ({option('columns', {role: 'NAME'})}), found: "
                f"{', '.join(peek.header[:10])}"
            )
    return names


def _trial_kinds(
    given: dict[str, pl.Series], read: Delimited, rejects: Rejects
) -> tuple[pl.Series, NDArray[np.bool_]]:
    """Kind of each trial from its flags, and which rows have flags that can be read."""
    n_rows = len(given["pair"])
    kind = np.full(n_rows, "main", dtype=object)
    usable = np.ones(n_rows, dtype=bool)
    for flag in _FLAGS:
        if flag not in given:
            continue
        parsed = parse_values(given[flag], Scale.binary())
        raised = parsed.value == 1.0
        off = ~np.isnan(parsed.value) & ~Scale.binary().contains(parsed.value)
        off[parsed.bad] = True
        both = raised & (kind != "main")
        for row in np.flatnonzero(off | both):
            line = read.locate(int(row)).rpartition(", ")[2]
            if both[row]:
                sentence = "the trial is both golden and a repeat; expected one at most"
                rejects.reject(line, "both golden and a repeat", sentence)
            else:
                text = shown(given[flag][int(row)])
                rejects.reject(line, f"{flag} is not 0 or 1", f"{flag} is {text}; expected 0 or 1")
        usable &= ~(off | both)
        kind[raised & usable] = flag
    return pl.Series("trial_kind", kind, dtype=pl.String), usable


def _known_kinds(kind: pl.Series, read: Delimited, rejects: Rejects) -> NDArray[np.bool_]:
    """Say which rows name a kind of comparison that exists."""
    known = kind.is_in(_KINDS).fill_null(False).to_numpy()
    for row in np.flatnonzero(~known):
        line = read.locate(int(row)).rpartition(", ")[2]
        sentence = str(unknown_name("kind", str(kind[int(row)] or ""), _KINDS))
        rejects.reject(line, "kind not known", sentence)
    return known


def face_expressions(
    path: str | Path, *, columns: dict[str, str] | None = None, on_bad: OnBad = "raise"
) -> Ratings:
    """Read expression differences in the terms of FaceExpressions-70k, one row per judgement.

    The authors published a score for each pair, and no judgements (read scores with
    :func:`affectlab.analysis.pair_scores`). This reads judgements of your own in a layout that
    holds the quantities of the paper; `columns` says where a file names them otherwise.

    Parameters
    ----------
    path
        CSV with the columns ``pair``, ``worker`` and ``score`` (0 identical to 100), and
        optionally ``session`` (one sitting of a worker; the batch when not given), ``batch``,
        ``trial`` (position in the session), ``golden`` and ``repeat`` (0 or 1), ``actor``,
        ``expression_a``, ``expression_b``, ``frame_a``, ``frame_b`` and ``kind`` (intra or inter;
        by default intra when both expressions are the same). Other columns are kept.
    columns
        Column of the layout to column of the file: ``{"worker": "WorkerId"}``.
    on_bad
        ``"raise"`` or ``"set_aside"``, as in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        Stimuli are pairs of images, raters are workers, the scale is 0 to 100 in steps of 1.
        Golden trials (known difference) and repeats (a pair shown again in the same session) have
        their ``trial_kind`` and are no answers about the pair. Actor, expressions, frames and kind
        are stimulus attributes.

    Raises
    ------
    InputError
        For a missing column, a score off the scale, or a flag that is not 0 or 1.

    Notes
    -----
    Source: A. Saha et al. (2025), FaceExpressions-70k, sections 3.3 and 3.4.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("pair,worker,score,golden\\np1,w1,80,0\\np2,w1,3,1\\n")
    >>> r = face_expressions(file)
    >>> r.frame["trial_kind"].to_list(), r.answers().value.tolist()
    (['main', 'golden'], [80.0])
    """
    options: dict[str, Any] = {} if columns is None else {"columns": columns}
    return read_ratings(path, format=_NAME, on_bad=on_bad, **options)


FORMAT = Format(
    name=_NAME,
    title="expression differences after FaceExpressions-70k (CSV: pair, worker, score, …)",
    sniff=_sniff,
    read=_read,
)
