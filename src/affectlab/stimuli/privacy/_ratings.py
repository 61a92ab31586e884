"""Personal data taken out of the answers of a table of ratings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from affectlab._words import joined, plural
from affectlab.errors import InputError
from affectlab.ratings import Ratings
from affectlab.ratings._regroup import with_texts
from affectlab.stimuli.curation._names import NameFinder
from affectlab.stimuli.privacy._scrub import Scrubbed, scrub_texts

__all__ = ["scrub_ratings"]


def scrub_ratings(
    ratings: Ratings,
    *,
    columns: Sequence[str] = ("text",),
    kinds: Iterable[str] | None = None,
    names: str | NameFinder = "gazetteer",
    keep: Iterable[str] = (),
) -> tuple[Ratings, dict[str, Scrubbed]]:
    """Give a new table whose free texts are without personal data; the old one stays as it is.

    Parameters
    ----------
    ratings
        Answers with free texts, such as reactions.
    columns
        Columns of texts that belong to the rows.
    kinds, names, keep
        As in :func:`scrub_texts`.

    Returns
    -------
    tuple
        The new table, whose history says what was masked, and what was found in each column.

    Raises
    ------
    InputError
        When a column is absent or holds no texts, and as in :func:`scrub_texts`.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> rows = {"stimulus": ["a", "a"], "rater": ["r", "s"], "text": ["Ask 212-555-0142.", "No."]}
    >>> clean, found = scrub_ratings(Ratings(rows, scale="text"))
    >>> clean.frame["text"].to_list()
    ['Ask [PHONE].', 'No.']
    """
    if not columns:
        raise InputError("columns: expected at least one column of texts")
    found: dict[str, Scrubbed] = {}
    asked = None if kinds is None else tuple(kinds)
    public = tuple(keep)
    for column in dict.fromkeys(columns):
        frame = ratings.frame
        if column not in frame.columns or column in ("stimulus", "rater", "label", "value"):
            raise InputError(f"the ratings have no column {column!r} of texts to look through")
        texts = frame[column].cast(str).to_list()
        done = scrub_texts(texts, kinds=asked, names=names, keep=public)
        found[column] = done
        n = sum(done.changed)
        if n:
            told = joined([row["kind"] for row in done.counts.to_dicts() if row["n_found"]])
            step = f"{column}: masked {told} in {plural(n, 'text', 'texts')}"
            # Missing texts stay missing.
            clean = [
                None if old is None else new for old, new in zip(texts, done.texts, strict=True)
            ]
            ratings = with_texts(ratings, clean, step, column=column)
    return ratings, found
