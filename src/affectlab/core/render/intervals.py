"""What is said below a table of estimates: what its intervals are about, or why there are none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from affectlab.core.tables import Table

if TYPE_CHECKING:
    import polars as pl

NO_INTERVAL = "no interval: "
"""How ``method`` begins to say why there is none."""
NO_VARIATION = f"{NO_INTERVAL}no variation to estimate an error from"
"""What ``method`` says where certainty is withheld."""
COVERAGE = "95 % intervals "
"""How ``method`` begins to say that intervals hold too rarely."""
_ABOUT = {
    "stimuli": "other items, the same raters",
    "raters": "the same items, other raters",
    "both": "other items and other raters",
}
"""What intervals are about, in words, by their target."""
_BY_FORMULA = "from a formula, nothing resampled"
_FEW_NAMES = 4
"""Rows up to which they are named in a note."""


_DRAWN = re.compile(
    r"(?:(?:jackknife|linearised) over|bootstrap of) (.+?)(?: and raters)?(?=[,;]|$)"
)
"""What ``method`` says is left out, or drawn, in place of stimuli."""


def clusters_named(target: str, method: str) -> str:
    """Say what was drawn whole in place of stimuli, such as ``actors``; nothing where they were.

    Parameters
    ----------
    target, method
        Those of an estimate.

    Examples
    --------
    >>> clusters_named("both", "alpha, jackknife over actors and raters")
    'actors'
    >>> clusters_named("both", "alpha, jackknife over stimuli and raters")
    ''
    """
    drawn = _DRAWN.search(method)
    if drawn is None or drawn[1] in ("stimuli", "raters"):
        return ""
    both = target == "both" and " and raters" in drawn[0]
    return drawn[1] if both or target == drawn[1] else ""


def _about(target: str, method: str) -> str:
    units = clusters_named(target, method)
    if not units:
        return _ABOUT.get(target, "")
    return f"other {units}" + (" and other raters" if target == "both" else ", the same raters")


def _few_named(rows: Sequence[str]) -> str:
    return "; ".join(rows) if len(rows) <= _FEW_NAMES else f"{len(rows):,} rows"


def interval_notes(frame: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """Say what the intervals are about, and why some rows have none."""
    import polars as pl

    with_interval = frame.filter(pl.col("low").is_not_nan() & pl.col("low").is_not_null())
    over = with_interval["target"].unique().sort().to_list()
    names = pl.concat_str(keys, separator=", ")
    notes = []
    for name in over if over != ["none"] else ():
        # Rows are named only where not all intervals are about the same.
        alike = with_interval.filter(pl.col("target") == name)
        others = with_interval.filter(pl.col("target") != name)[keys[0]].unique()
        whole = alike[keys[0]].unique(maintain_order=True)
        # A label whose rows are all alike stands for them.
        apart = not whole.is_in(others.implode()).any()
        whose = whole.to_list() if apart else alike.select(rows=names)["rows"].to_list()
        who = f" of {_few_named(whose)}" if len(over) > 1 else ""
        said = f"{name} resampled" if name != "none" else _BY_FORMULA
        about = _about(name, alike["method"][0])
        about = f" are about {about}" if about else f": {said}"
        notes.append(f"intervals{who}{about}")
    reason = pl.col("method").str.extract(f"((?:{NO_INTERVAL}|{COVERAGE}).*)$")
    without = frame.group_by(reason.alias("reason"), maintain_order=True).agg(names.alias("rows"))
    for why, rows in without.drop_nulls("reason").iter_rows():
        notes.append(f"{_few_named(rows)}: {why}")
    return notes


def notes_of(table: Table) -> list[str]:
    """Give the notes of a table, and what its intervals are about where it holds estimates."""
    estimates = any(column.kind == "value" for column in table.columns)
    about = interval_notes(table.frame, table.keys) if estimates else []
    return [*table.notes, *about]
