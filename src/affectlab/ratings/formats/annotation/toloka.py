"""Toloka: the assignments of a pool, one row per task and performer."""

from __future__ import annotations

from typing import get_args

import polars as pl

from affectlab.ratings.files import Peek, read_columns
from affectlab.ratings.formats.format import Sure, file_format
from affectlab.ratings.formats.table import PlainTable, find_one
from affectlab.ratings.options import ReadOptions, Wide

_RATER = "ASSIGNMENT:worker_id"
_KEPT = ("ASSIGNMENT:status",)


@file_format(
    "toloka",
    "Toloka, assignments of a pool (TSV: INPUT:…, OUTPUT:…, ASSIGNMENT:…)",
    wide=get_args(Wide),
)
class Toloka(PlainTable):
    """The assignments of a pool of Toloka.

    What the columns ``OUTPUT:…`` hold was answered, what ``INPUT:…`` hold was shown, and the rater
    is the performer. Of several inputs the stimulus is the one called so, or the first. Control
    answers (``GOLDEN:``), hints and further columns of assignments are not kept.

    Notes
    -----
    Source: Toloka's documentation, "Get results", and files of its exports.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "assignments.tsv"
    >>> _ = file.write_text("INPUT:image\\tOUTPUT:emotion\\tASSIGNMENT:worker_id\\n"
    ...                     "a.png\\tjoy\\tw1\\na.png\\tfear\\tw2\\n")
    >>> r = read_ratings(file)
    >>> r.rater_names, r.scale.categories
    (('w1', 'w2'), ('joy', 'fear'))
    """

    def recognise(self, head: Peek) -> Sure:
        names = head.columns
        return Sure.if_(
            _RATER in names and all(_called(names, part) for part in ("INPUT:", "OUTPUT:"))
        )

    def opened(self, head: Peek, options: ReadOptions) -> Peek:
        """Keep what was shown, what was answered and by whom, under names without prefixes."""
        if head.frame is not None or not self.recognise(head):
            return head
        read = read_columns(head, on_bad=options.on_bad)
        inputs, outputs = (_called([*read.columns], part) for part in ("INPUT:", "OUTPUT:"))
        shown = find_one("stimulus", list(inputs.values())) or next(iter(inputs.values()))
        names = {
            old: "stimulus" if new == shown else new if new == "text" else f"input_{new}"
            for old, new in inputs.items()
        }
        names |= {_RATER: "rater", **outputs} | dict.fromkeys(_KEPT, "status")
        columns = [
            read.columns[old].alias(new) for old, new in names.items() if old in read.columns
        ]
        return Peek.of_frame(pl.DataFrame(columns), str(head.path), head.steps)


def _called(names: list[str] | tuple[str, ...], part: str) -> dict[str, str]:
    """Names of columns that begin so, and what stands behind."""
    return {name: name.removeprefix(part) for name in names if name.startswith(part)}
