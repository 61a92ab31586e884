"""Reactions that are nearly the same text as others, or as the caption."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._types import Floats, Ints
from affectlab._words import plural
from affectlab.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NearCopies", "near_copies"]

_AT_ONCE = 20_000
"""Pairs of texts that are compared at once."""
_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, repr=False)
class NearCopies:
    """Groups of reactions with nearly the same text; made by :func:`near_copies`."""

    rows: pl.DataFrame
    """One row per reaction that is nearly a copy of another: ``row``, ``group`` (numbered from 1,
    the largest first), ``n`` and ``n_raters`` of the group, ``kind`` (``same person`` where a copy
    in the group is by the same person, else ``same pair``, else ``other pair``)."""
    links: pl.DataFrame
    """The different texts that are alike: ``one``, ``other`` (rows) and ``similarity``."""
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
    letters and without signs, :math:`J = |A \cap B| / |A \cup B|`. All pairs from `threshold` on
    are found, none by chance: only texts that share one of their rarest runs can be that alike,
    and these are compared. Short texts are left out: *it is sad* is written by many.

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
    Texts that share a run among the :math:`|A| - \lceil t |A| \rceil + 1` rarest of each are the
    only ones that can reach t: S. Chaudhuri, V. Ganti and R. Kaushik (2006), A primitive operator
    for similarity joins in data cleaning, ICDE.

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
    ones, others, similarity = _alike(different, threshold, ngram)
    rows = _rows(plain, compared, first, ones, others, raters, stimuli)
    return NearCopies(
        rows,
        _links(
            [first[different[k]] for k in ones], [first[different[k]] for k in others], similarity
        ),
        _from_captions(plain, compared, captions, threshold, ngram),
        len(compared),
    )


def _plain(text: str) -> str:
    return _SIGNS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _grams(texts: Sequence[str], ngram: int) -> Any:
    """Which runs of characters each text holds: a sparse table of 0 and 1."""
    from scipy.sparse import csr_array

    codes: dict[str, int] = {}
    indices: list[int] = []
    ends = [0]
    for text in texts:
        padded = f" {text} "
        found = {padded[k : k + ngram] for k in range(max(len(padded) - ngram + 1, 1))}
        indices += sorted(codes.setdefault(gram, len(codes)) for gram in found)
        ends.append(len(indices))
    shape = (len(texts), max(len(codes), 1))
    return csr_array((np.ones(len(indices), dtype=np.int32), indices, ends), shape=shape)


def _alike(texts: Sequence[str], threshold: float, ngram: int) -> tuple[Ints, Ints, Floats]:
    """Pairs of different texts whose similarity reaches the threshold."""
    from scipy.sparse import csr_array

    nothing = np.empty(0, dtype=np.int64)
    if len(texts) < 2:
        return nothing, nothing, np.empty(0)
    table = _grams(texts, ngram)
    sizes = np.diff(table.indptr)
    # Columns from the rarest run on, so that the first entries of a row are its rarest ones.
    rank = np.empty(table.shape[1], dtype=np.int64)
    rank[np.argsort(np.bincount(table.indices, minlength=table.shape[1]), kind="stable")] = (
        np.arange(table.shape[1])
    )
    table = csr_array((table.data, rank[table.indices], table.indptr), shape=table.shape)
    table.sort_indices()
    # The rounding of a product must not leave out a pair that just reaches the threshold.
    wanted = sizes - np.ceil(threshold * sizes - 1e-9).astype(np.int64) + 1
    place = np.arange(table.nnz) - np.repeat(table.indptr[:-1], sizes)
    kept = place < np.repeat(wanted, sizes)
    prefix = csr_array(
        (table.data[kept], table.indices[kept], np.concatenate([[0], np.cumsum(wanted)])),
        shape=table.shape,
    )
    shared = (prefix @ prefix.T).tocoo()
    near = shared.row < shared.col
    ones, others = shared.row[near].astype(np.int64), shared.col[near].astype(np.int64)
    small, large = np.minimum(sizes[ones], sizes[others]), np.maximum(sizes[ones], sizes[others])
    near = small >= threshold * large - 1e-9
    ones, others = ones[near], others[near]
    both = _in_common(table, ones, others)
    similarity = both / (sizes[ones] + sizes[others] - both)
    alike = similarity >= threshold - 1e-12
    return ones[alike], others[alike], similarity[alike]


def _in_common(table: Any, ones: Ints, others: Ints) -> Floats:
    parts = [
        np.asarray(table[ones[k : k + _AT_ONCE]].multiply(table[others[k : k + _AT_ONCE]]).sum(1))
        for k in range(0, len(ones), _AT_ONCE)
    ]
    return np.concatenate(parts).astype(np.float64) if parts else np.empty(0)


def _rows(
    plain: Sequence[str],
    compared: Sequence[int],
    first: dict[str, int],
    ones: Ints,
    others: Ints,
    raters: Sequence[str],
    stimuli: Sequence[str],
) -> pl.DataFrame:
    import polars as pl
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
    import polars as pl

    return pl.DataFrame(
        {"one": ones, "other": others, "similarity": similarity},
        schema={"one": pl.Int64, "other": pl.Int64, "similarity": pl.Float64},
    ).sort("one", "other")


def _from_captions(
    plain: Sequence[str],
    compared: Sequence[int],
    captions: Sequence[str | None] | None,
    threshold: float,
    ngram: int,
) -> pl.DataFrame:
    import polars as pl

    schema = {"row": pl.Int64, "similarity": pl.Float64}
    told = {} if captions is None else {k: _plain(captions[k] or "") for k in compared}
    rows = [k for k in compared if told.get(k)]
    if not rows:
        return pl.DataFrame(schema=schema)
    table = _grams([*(plain[k] for k in rows), *(told[k] for k in rows)], ngram)
    own = np.arange(len(rows), dtype=np.int64)
    share = _in_common(table, own, own + len(rows)) / np.diff(table.indptr)[: len(rows)]
    taken = np.flatnonzero(share >= threshold - 1e-12)
    return pl.DataFrame(
        {"row": [rows[k] for k in taken], "similarity": share[taken]}, schema=schema
    )
