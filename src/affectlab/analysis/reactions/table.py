"""Reactions as a plain table: who named which emotion for what, and why."""

from __future__ import annotations

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, with_attributes


def reaction_table(ratings: Ratings) -> pl.DataFrame:
    """Give the reactions of a table of ratings, one per row.

    Parameters
    ----------
    ratings
        Answers to the protocol ``reaction`` or the published Socratis file: the emotion is the
        column ``emotion`` as it was written, or else the label; the reason is ``text``.

    Returns
    -------
    polars.DataFrame
        ``row`` (its place in the table of ratings), ``stimulus``, ``rater``, ``emotion`` (never
        empty), ``text`` (the reason, empty where there is none) and ``caption`` (null where the
        stimuli have none), in the order of the ratings. Rows without an emotion are left out.

    Raises
    ------
    InputError
        When the ratings have no emotions, or no row has one.

    Notes
    -----
    Source: Socratis (2023), section 2.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> rows = {"stimulus": ["a"], "rater": ["r"], "emotion": ["Sad "], "text": ["It broke."]}
    >>> reaction_table(Ratings(rows, scale="text")).rows()
    [(0, 'a', 'r', 'Sad', 'It broke.', None)]
    """
    frame = with_attributes(ratings, "emotion", "text", "caption")
    name = next((c for c in ("emotion", "label") if _told(frame, c)), None)
    if name is None:
        raise InputError(
            "the ratings have no emotion words; expected a column 'emotion', or labels, as in "
            "answers to the protocol 'reaction' or the Socratis data set"
        )
    absent = pl.lit(None, dtype=pl.String)
    text = pl.col("text") if "text" in frame.columns else absent
    caption = pl.col("caption") if "caption" in frame.columns else absent
    return (
        frame.with_row_index("row")
        .select(
            pl.col("row").cast(pl.Int64),
            pl.col("stimulus").cast(pl.String),
            pl.col("rater").cast(pl.String),
            pl.col(name).cast(pl.String).str.strip_chars().alias("emotion"),
            text.cast(pl.String).fill_null("").str.strip_chars().alias("text"),
            caption.cast(pl.String).alias("caption"),
        )
        .filter(pl.col("emotion").fill_null("") != "")
    )


def _told(frame: pl.DataFrame, column: str) -> bool:
    if column not in frame.columns:
        return False
    texts = frame[column].cast(str).drop_nulls()
    return bool((texts.str.strip_chars() != "").any())
