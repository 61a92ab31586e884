"""Reactions that are nearly the same text as others, or as the caption."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from affectlab.analysis.reactions import wording
from affectlab.core.errors import InputError, check_number
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Number, Table, Text
from affectlab.core.types import Floats, Ints

# Which texts are alike: all pairs above a threshold, without comparing all pairs.


_PRODUCT = 2_000_000
"""Pairs that a block of texts may at most have in common with all others, about."""
_EDGE = 1e-9
"""What rounding may add to a product that must just reach a whole number."""


def runs(text: str, n: int) -> frozenset[str]:
    """Give the runs of n characters of a text with a space at both ends."""
    padded = f" {text} "
    return frozenset(padded[k : k + n] for k in range(max(len(padded) - n + 1, 1)))


def _table(texts: Sequence[frozenset[str]]) -> Any:
    """Give a sparse table of 0 and 1: texts by runs, the rarest run first."""
    from scipy.sparse import csr_array

    codes: dict[str, int] = {}
    indices = [codes.setdefault(run, len(codes)) for found in texts for run in sorted(found)]
    ends = np.concatenate([[0], np.cumsum([len(found) for found in texts], dtype=np.int64)])
    # Columns from the rarest run on, so that the first entries of a row are its rarest ones.
    rank = np.empty(len(codes), dtype=np.int64)
    order = np.argsort(np.bincount(indices, minlength=len(codes)), kind="stable")
    rank[order] = np.arange(len(codes))
    table = csr_array(
        (np.ones(len(indices), dtype=np.int32), rank[indices].astype(np.int32), ends),
        shape=(len(texts), max(len(codes), 1)),
    )
    table.sort_indices()
    return table


def alike(texts: Sequence[frozenset[str]], threshold: float) -> tuple[Ints, Ints, Ints, Floats]:
    r"""Find which sets are joined by pairs whose similarity reaches a threshold.

    With :math:`|A| \le |B|` and :math:`|A \cap B| / |A \cup B| \ge t` the two share one of the
    :math:`|A| - \lceil 2 t |A| / (1 + t) \rceil + 1` rarest runs of A and of the
    :math:`|B| - \lceil t |B| \rceil + 1` rarest of B, and :math:`|A| \ge t |B|`. Only pairs that
    pass both, and are not joined yet by others, are compared: none that would join two groups is
    lost.

    Returns
    -------
    tuple of arrays
        Group of each set, shape (n,); then pairs that join the groups, as few as can be: places of
        the two, the earlier one first, and their similarity, shape (p,).
    """
    from affectlab.analysis.reactions.kernels import join_alike

    group = np.arange(len(texts), dtype=np.int64)
    parts = [(group[:0], group[:0], np.empty(0))]
    # From the smallest set on, so that those that may be alike stand in one stretch.
    order = np.argsort([len(own) for own in texts], kind="stable")
    table = _table([texts[k] for k in order])
    sizes = np.diff(table.indptr).astype(np.int64)
    asked = _rarest(table, sizes, np.ceil(threshold * sizes - _EDGE))
    kept = _rarest(table, sizes, np.ceil(2 * threshold / (1 + threshold) * sizes - _EDGE))
    for start, end in _blocks(asked, kept):
        small, large = _candidates(sizes, asked, kept, start, end, threshold)
        least = threshold - 1e-12
        similarity = join_alike(table.indices, table.indptr, small, large, least, group)
        joins = similarity > 0
        parts.append((order[small[joins]], order[large[joins]], similarity[joins]))
    while (group != group[group]).any():
        group = group[group]
    of_text = np.empty_like(group)
    of_text[order] = group
    ones, others, similarity = (np.concatenate(part) for part in zip(*parts, strict=True))
    return of_text, np.minimum(ones, others), np.maximum(ones, others), similarity


def _rarest(table: Any, sizes: Ints, shared: Floats) -> Any:
    """The first entries of each row, of which two must have one in common to share so many."""
    from scipy.sparse import csr_array

    wanted = sizes - shared.astype(np.int64) + 1
    place = np.arange(table.nnz) - np.repeat(table.indptr[:-1], sizes)
    first = place < np.repeat(wanted, sizes)
    ends = np.concatenate([[0], np.cumsum(wanted)])
    return csr_array((table.data[first], table.indices[first], ends), shape=table.shape)


def _blocks(asked: Any, kept: Any) -> list[tuple[int, int]]:
    """Stretches of rows, each of which meets a bounded number of others."""
    holders = np.bincount(kept.indices, minlength=kept.shape[1])
    met = np.concatenate([[0], np.cumsum(holders[asked.indices])])[asked.indptr]
    blocks, start = [], 0
    while start < asked.shape[0]:
        end = int(np.searchsorted(met, met[start] + _PRODUCT, side="right")) - 1
        end = max(end, start + 1)
        blocks.append((start, end))
        start = end
    return blocks


def _candidates(
    sizes: Ints, asked: Any, kept: Any, start: int, end: int, threshold: float
) -> tuple[Ints, Ints]:
    """Pairs that may be alike, whose larger set is in a stretch of rows."""
    first = int(np.searchsorted(sizes, threshold * sizes[start] - _EDGE))
    shared = (asked[start:end] @ kept[first:end].T).tocoo()
    large = shared.row.astype(np.int64) + start
    small = shared.col.astype(np.int64) + first
    may = (small < large) & (sizes[small] >= threshold * sizes[large] - _EDGE)
    return small[may], large[may]


_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NearCopies(Result):
    """Groups of reactions with nearly the same text; made by :func:`near_copies`."""

    n_texts: int
    """Reactions that were long enough to be compared."""


_COPIES = (Key("row"), Count("group"), Count("n"), Count("n_raters"), Text("kind"))


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
    texts that share one of their rarest runs, and are of like length, can be that alike, and these
    are compared. Short texts are left out: *it is sad* is written by many.

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

    Returns
    -------
    NearCopies
        Its tables: ``copies``, a row per reaction that is nearly a copy of another, with its
        ``group`` (numbered from 1, the largest first), ``n`` and ``n_raters`` of the group, and
        ``kind`` (``same person`` where a copy in the group is by the same person, else ``same
        pair``, else ``other pair``); ``links``, pairs of rows with different texts that are alike,
        enough of them to join each group; and ``captions``, reactions taken from their caption.

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
    >>> found.to_frame().rows()
    [(0, 1, 2, 2, 'other pair'), (1, 1, 2, 2, 'other pair')]
    """
    n = len(texts)
    if not n == len(raters) == len(stimuli) or (captions is not None and len(captions) != n):
        raise InputError("texts, raters, stimuli and captions differ in length; expected one each")
    check_number("threshold", threshold, 0, 1, above=True)
    for name, value in (("ngram", ngram), ("min_words", min_words)):
        check_number(name, value, 1, whole=True)
    plain = [_plain(text) for text in texts]
    compared = [k for k, text in enumerate(plain) if len(text.split()) >= min_words]
    first: dict[str, int] = {}
    for k in compared:
        first.setdefault(plain[k], k)
    different = list(first)
    held = {text: runs(text, ngram) for text in different}
    groups, ones, others, similarity = alike(list(held.values()), threshold)
    group = dict(zip(different, groups.tolist(), strict=True))
    rows = _rows(compared, [group[plain[k]] for k in compared], raters, stimuli)
    links = pl.DataFrame(
        {
            "one": [first[different[k]] for k in ones],
            "other": [first[different[k]] for k in others],
            "similarity": similarity,
        },
        schema={"one": pl.Int64, "other": pl.Int64, "similarity": pl.Float64},
    ).sort("one", "other")
    taken = _from_captions(plain, held, compared, captions, threshold, ngram)
    alike_to = Number("similarity")
    return NearCopies(
        (
            Table("copies", "Near copies of reasons.", rows, _COPIES),
            Table(
                "links",
                "Pairs of near copies.",
                links,
                (Key("one"), Key("other"), alike_to),
                limit=0,
            ),
            Table("captions", "Near copies of captions.", taken, (Key("row"), alike_to)),
        ),
        (wording.copies_text(rows.height, len(compared), min_words, taken.height),),
        n_texts=len(compared),
    )


def _plain(text: str) -> str:
    return _SIGNS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _rows(
    compared: Sequence[int], groups: Sequence[int], raters: Sequence[str], stimuli: Sequence[str]
) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "row": compared,
            "found": groups,
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


def _from_captions(
    plain: Sequence[str],
    held: dict[str, frozenset[str]],
    compared: Sequence[int],
    captions: Sequence[str | None] | None,
    threshold: float,
    ngram: int,
) -> pl.DataFrame:
    given = {} if captions is None else {k: captions[k] for k in compared}
    of_caption = {
        text: runs(_plain(text), ngram) for text in set(given.values()) if text is not None
    }
    found: list[tuple[int, float]] = []
    for k, caption in given.items():
        own = held[plain[k]]
        share = len(own & of_caption.get(caption or "", frozenset())) / len(own)
        if share >= threshold - 1e-12:
            found.append((k, share))
    return pl.DataFrame(found, schema={"row": pl.Int64, "similarity": pl.Float64}, orient="row")
