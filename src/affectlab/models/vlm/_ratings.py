"""From answers of a model to a table of ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affectlab.errors import InputError

if TYPE_CHECKING:
    from affectlab.models.vlm._run import Entry, VlmRun
    from affectlab.ratings import Ratings

__all__ = ["ratings_of"]

_OWN = (
    *("stimulus", "rater", "label", "value", "text", "outcome", "trial", "trial_kind"),
    *("retries", "hint"),
)


def ratings_of(run: VlmRun) -> Ratings:
    """Make ratings of a run: rows with values for usable answers, rows with outcomes for others.

    Raises
    ------
    InputError
        When nothing was answered.
    """
    import polars as pl

    from affectlab.ratings import Ratings, Scale
    from affectlab.ratings._build import check_columns

    if not run.entries:
        raise InputError(f"{run.model} has answered nothing; there are no ratings")
    protocol = run.entries[0].question.design.protocol
    rows = [row for entry in run.entries for row in _rows(entry, run.rater_row(entry)["rater"])]
    if not rows:
        raise InputError(f"no answer of {run.model} rates anything; there are no ratings")
    labelled = any(row["label"] is not None for row in rows)
    if labelled:
        # An entry without a name says nothing that a table of labels can hold.
        rows = [row for row in rows if row["label"] is not None]
    columns: dict[str, Any] = {
        "stimulus": [row["stimulus"] for row in rows],
        "rater": [row["rater"] for row in rows],
    }
    if labelled:
        columns["label"] = [row["label"] for row in rows]
    columns["value"] = pl.Series("value", [row["value"] for row in rows], strict=False)
    if any(row["text"] is not None for row in rows):
        columns["text"] = [row["text"] for row in rows]
    if columns["value"].null_count() == len(rows):
        # Without any value the type of the column is not known from its cells.
        categories = protocol.scale.kind in ("nominal", "text")
        columns["value"] = columns["value"].cast(pl.String if categories else pl.Float64)
    columns["outcome"] = [row["outcome"] for row in rows]
    if any(entry.question.repeat > 1 for entry in run.entries) or protocol.answer == "entries":
        columns["trial"] = [row["trial"] for row in rows]
        columns["trial_kind"] = [row["trial_kind"] for row in rows]
    if any(row["retries"] for row in rows):
        columns["retries"] = [row["retries"] for row in rows]
    if any(row["hint"] for row in rows):
        columns["hint"] = [row["hint"] for row in rows]
    beside = dict.fromkeys(name for row in rows for name in row if name not in _OWN)
    for name in beside:
        columns[name] = [row.get(name) for row in rows]
    shown = {entry.question.control for entry in run.entries}
    raters = [dict(row) for row in run.raters if row["control"] in shown]
    checked = check_columns(
        {name: pl.Series(name, column) for name, column in columns.items()},
        scale=Scale.parse(protocol.scale.spec),
        taxonomy=protocol.taxonomy() if labelled else None,
    )
    # Retries and hints belong to answers, also where they happen to be the same for a stimulus:
    # as its attributes they would contradict those of other models.
    return Ratings._from_checked(checked, _rater_table(raters), source=run.rater, split=False)


def _rows(entry: Entry, rater: str) -> list[dict[str, Any]]:
    """Rows of one answer of a rater."""
    question = entry.question
    common: dict[str, Any] = {
        "stimulus": question.stimulus,
        "rater": rater,
        "label": None,
        "value": None,
        "text": None,
        "outcome": entry.judged.outcome,
        "trial": question.repeat,
        "trial_kind": "main" if question.repeat == 1 else "repeat",
        "retries": entry.record.retries,
        "hint": question.hint or None,
    }
    if entry.judged.outcome == "ok":
        return [{**common, **row} for row in entry.judged.read.rows]
    # A row for each label says that none of them has a value, and why.
    labels = question.blank().labels or (None,)
    return [{**common, "label": label} for label in labels]


def _rater_table(rows: list[dict[str, Any]]) -> Any:
    """One row per rater; what is the same nothing for all is left out."""
    import polars as pl

    for row in rows:
        row["control"] = None if row["control"] == "none" else row["control"]
    names = [
        name for name in rows[0] if name != "other" and any(row[name] is not None for row in rows)
    ]
    return pl.DataFrame([{name: row[name] for name in names} for row in rows])
