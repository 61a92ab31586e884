"""Prolific's demographic export: what is known of participants, by their identifier."""

from __future__ import annotations

import polars as pl

from affectlab.ratings.files.frames import typed_column

_PERSON = "Participant id"
_NEEDED = {_PERSON, "Submission id", "Status"}
_OF_SUBMISSION = {
    "Submission id", "Custom study tncs accepted at", "Started at", "Completed at", "Reviewed at",
    "Archived at", "Time taken", "Completion code",
}  # fmt: skip
_GONE = ("DATA_EXPIRED", "CONSENT_REVOKED", "")
_LAST = ("RETURNED", "TIMED-OUT", "REJECTED")


def is_prolific(frame: pl.DataFrame) -> bool:
    """Whether a table has the columns of Prolific's export."""
    return set(frame.columns) >= _NEEDED


def prolific_raters(frame: pl.DataFrame) -> pl.DataFrame:
    """Make a table of raters of Prolific's demographic export.

    Names of columns become lower case with underscores. What expired or was revoked is a gap.
    Of a participant with several submissions, the first that counts is taken: one that was
    returned, timed out or was rejected comes last. Times and codes of submissions are left out.

    Examples
    --------
    >>> prolific_raters(pl.DataFrame({
    ...     "Submission id": ["s1", "s2"], "Participant id": ["p1", "p1"],
    ...     "Status": ["RETURNED", "APPROVED"], "Age": ["DATA_EXPIRED", "31"],
    ... })).rows(named=True)
    [{'rater': 'p1', 'status': 'APPROVED', 'age': 31}]
    """
    frame = frame.sort(pl.col("Status").cast(pl.String).is_in(_LAST), maintain_order=True)
    frame = frame.unique(_PERSON, keep="first", maintain_order=True)
    columns = [frame[_PERSON].cast(pl.String).alias("rater")]
    for name in frame.columns:
        if name == _PERSON or name in _OF_SUBMISSION:
            continue
        column = frame[name]
        if column.dtype == pl.String:
            column = typed_column(column.set(column.is_in(_GONE), None))
        columns.append(column.alias(name.strip().lower().replace(" ", "_")))
    return pl.DataFrame(columns)
