"""Reactions that are nearly the same text as others, or as the caption."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from affectlab._types import Floats, Ints
from affectlab._words import plural
from affectlab.analysis.reactions._alike import alike, runs
from affectlab.errors import InputError

__all__ = ["NearCopies", "near_copies"]

_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, repr=False)
class NearCopies:
    """Groups of reactions with nearly the same text; made by :func:`near_copies`."""

    rows: pl.DataFrame
    """One row per reaction that is nearly a copy of another: ``row``, ``group`` (numbered from 1,
    the largest first), ``n`` and ``n_raters`` of the group, ``kind`` (``same person`` where a copy
    in the group is by the same person, else ``same pair``, else ``other pair``)."""
    links: pl.DataFrame
    """Pairs of different texts that are alike, enough of them to join each group: ``one``,
    ``other`` (rows) and ``similarity``."""
    captions: pl.DataFrame
    """Reactions that are taken from their caption: ``row`` and ``similarity``."""
    n_texts: int
    """Reactions that were long enough to be compared."""

    def __repr__(self) -> str:
        return (
            f"NearCopies({plural(self.rows.height, 'reaction', 'reactions')} of {self.n_texts:,}, "
            f"{self.captions.height:,} from captions)"
        )


def near_copies(
    texts: Sequence[str],
    raters: Sequence[str],
    stimuli: Sequence[str],
    *,
    captions: Sequence[str | None] | None = None,
    threshold: float = 0.8,
    ngram: int = 4,
    min_words: int = 5,
) -> NearCopies:
    r"""Find reactions with nearly the same text, by one person or by several.

    Two texts are compared by the sets of runs of `ngram` characters that they hold, in small
    letters and without signs, :math:`J = |A \cap B| / |A \cup B|`. Texts that are joined by pairs
    from `threshold` on, be it through others, are a group. None is found or missed by chance: only
    texts that share one of their rarest runs, and are of like length and with like signatures,
    can be that alike, and these are compared. Short texts are left out: *it is sad* is written by
    many.

    Parameters
    ----------
    texts, raters, stimuli
        Reason, person and pair of each reaction, shape (n,).
    captions
        Caption of each; a reaction whose runs of characters are in it, from `threshold` on, is one
        that was taken from it.
    threshold
        Least similarity, above 0, at most 1.
    ngram
        Characters of a run.
    min_words
        Words of the shortest text that is compared.

    Raises
    ------
    InputError
        When the lengths differ or a setting is out of range.

    Notes
    -----
    Which texts need not be compared: S. Chaudhuri, V. Ganti and R. Kaushik (2006), A primitive
    operator for similarity joins in data cleaning, ICDE; C. Xiao, W. Wang, X. Lin and J. X. Yu
    (2008), Efficient similarity joins for near duplicate detection, WWW.

    Examples
    --------
    >>> found = near_copies(
    ...     ["It makes me sad to see them go.", "It makes me sad to see them go!", "I love it"],
    ...     ["r", "s", "t"], ["a", "b", "a"])
    >>> found.rows.rows()
    [(0, 1, 2, 2, 'other pair'), (1, 1, 2, 2, 'other pair')]
    """
    n = len(texts)
    if not n == len(raters) == len(stimuli) or (captions is not None and len(captions) != n):
        raise InputError("texts, raters, stimuli and captions differ in length; expected one each")
    if not 0 < threshold <= 1:
        raise InputError(f"threshold = {threshold!r}: expected above 0, at most 1")
    for name, value in (("ngram", ngram), ("min_words", min_words)):
        if value < 1:
            raise InputError(f"{name} = {value!r}: expected at least 1")
    plain = [_plain(text) for text in texts]
    compared = [k for k, text in enumerate(plain) if len(text.split()) >= min_words]
    first: dict[str, int] = {}
    for k in compared:
        first.setdefault(plain[k], k)
    different = list(first)
    held = {text: runs(text, ngram) for text in different}
    ones, others, similarity = alike(list(held.values()), threshold)
    rows = _rows(plain, compared, first, ones, others, raters, stimuli)
    return NearCopies(
        rows,
        _links(
            [first[different[k]] for k in ones], [first[different[k]] for k in others], similarity
        ),
        _from_captions(plain, held, compared, captions, threshold, ngram),
        len(compared),
    )


def _plain(text: str) -> str:
    return _SIGNS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _rows(
    plain: Sequence[str],
    compared: Sequence[int],
    first: dict[str, int],
    ones: Ints,
    others: Ints,
    raters: Sequence[str],
    stimuli: Sequence[str],
) -> pl.DataFrame:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    number = {text: k for k, text in enumerate(first)}
    shape = (len(number), len(number))
    graph = coo_array((np.ones(len(ones), dtype=bool), (ones, others)), shape=shape)
    group = connected_components(graph, directed=False)[1] if number else np.empty(0, dtype=int)
    frame = pl.DataFrame(
        {
            "row": list(compared),
            "found": [int(group[number[plain[k]]]) for k in compared],
            "rater": [raters[k] for k in compared],
            "stimulus": [stimuli[k] for k in compared],
        },
        schema={"row": pl.Int64, "found": pl.Int64, "rater": pl.String, "stimulus": pl.String},
    )
    by_person = pl.len().over("found", "rater") > 1
    by_pair = pl.len().over("found", "stimulus") > 1
    frame = frame.with_columns(
        pl.len().over("found").cast(pl.Int64).alias("n"),
        pl.col("rater").n_unique().over("found").cast(pl.Int64).alias("n_raters"),
        pl.when(by_person)
        .then(pl.lit("same person"))
        .when(by_pair)
        .then(pl.lit("same pair"))
        .otherwise(pl.lit("other pair"))
        .alias("kind"),
    ).filter(pl.col("n") > 1)
    order = frame.group_by("found").agg(pl.col("n").first(), pl.col("row").min().alias("first"))
    order = order.sort("n", "first", descending=[True, False]).with_row_index("group", offset=1)
    return (
        frame.join(order.select("found", pl.col("group").cast(pl.Int64)), on="found")
        .select("row", "group", "n", "n_raters", "kind")
        .sort("group", "row")
    )


def _links(ones: list[int], others: list[int], similarity: Floats) -> pl.DataFrame:
    return pl.DataFrame(
        {"one": ones, "other": others, "similarity": similarity},
        schema={"one": pl.Int64, "other": pl.Int64, "similarity": pl.Float64},
    ).sort("one", "other")


def _from_captions(
    plain: Sequence[str],
    held: dict[str, frozenset[str]],
    compared: Sequence[int],
    captions: Sequence[str | None] | None,
    threshold: float,
    ngram: int,
) -> pl.DataFrame:
    told: dict[str, frozenset[str]] = {}
    found: list[tuple[int, float]] = []
    for k in compared if captions is not None else ():
        caption = captions[k] if captions is not None else None
        if caption is None:
            continue
        if caption not in told:
            told[caption] = runs(_plain(caption), ngram)
        own = held[plain[k]]
        share = len(own & told[caption]) / len(own)
        if share >= threshold - 1e-12:
            found.append((k, share))
    return pl.DataFrame(found, schema={"row": pl.Int64, "similarity": pl.Float64}, orient="row")
