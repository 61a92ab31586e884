"""Comments that are nearly the same as another one: MinHash, bands, exact similarity, groups."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns
from affectlab.core.remote.runner import import_daft
from affectlab.stimuli.curation.texts.words import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray


__all__ = [
    "bands_named",
    "bytes_of",
    "look_at",
    "looked_at",
    "near_duplicates",
    "normalised",
]

# Texts as the search for near-duplicates sees them: normalised, hashed, cut into n-grams.


def bands_named(n_bands: int) -> list[str]:
    """Names of the columns with bands."""
    return [f"band{number}" for number in range(n_bands)]


def look_at(texts: Any, salts: NDArray[np.uint32], n_bands: int, ngram: int) -> Any:
    """Normalise Arrow texts; give them with their hash, their n-grams in short, and their bands."""
    import pyarrow as pa

    from affectlab.stimuli.curation.texts.minhash_kernels import sign

    plain = normalised(pl.Series(texts))
    data, offsets = bytes_of(plain)
    keys, sizes = np.empty(len(plain), np.uint64), np.empty(len(plain), np.uint32)
    bits = np.empty((len(plain), 2), np.uint64)
    bands = np.empty((len(plain), n_bands), np.uint32)
    sign(data, offsets, ngram, salts, keys, sizes, bits, bands)
    numbers = [keys, sizes, *bits.T, *bands.T]
    columns = [plain.to_arrow(), *(pa.array(np.ascontiguousarray(one)) for one in numbers)]
    return pa.StructArray.from_arrays(columns, ["plain", *looked_at(n_bands)])


def looked_at(n_bands: int) -> dict[str, str]:
    """Columns with numbers that :func:`look_at` gives, and their Daft types."""
    bands = dict.fromkeys(bands_named(n_bands), "uint32")
    return {"key": "uint64", "size": "uint32", "bits0": "uint64", "bits1": "uint64", **bands}


def normalised(texts: pl.Series) -> pl.Series:
    """Write texts as :func:`fold` does, with single spaces."""
    return fold(texts).str.replace_all(r"\s+", " ").str.strip_chars()


def bytes_of(texts: pl.Series) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """UTF-8 of all texts in one array, and where each begins and ends."""
    import pyarrow as pa

    array = texts.to_arrow().cast(pa.large_string())
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(data or b"", np.uint8), ends


_WINDOW = 64
"""With how many others of the same band a text is compared."""
_AT_ONCE = 4_000_000
"""Comments that are compared at once, about 150 bytes each; more are taken in ranges of bands."""


def near_duplicates(
    frame: Any,
    *,
    threshold: float = 0.8,
    n_hashes: int = 64,
    n_bands: int = 16,
    ngram: int = 4,
    seed: int = 0,
    path: str | Path | None = None,
) -> pl.DataFrame:
    r"""Find comments that repeat another one, nearly or wholly, and are to be dropped.

    Texts are compared in lower case, in one Unicode form, without marks that are not seen and with
    single spaces. The similarity of two texts is :math:`J = |A \cap B| / |A \cup B|`, where
    :math:`A` and :math:`B` are their sets of n-grams of characters. Texts with :math:`J` of at
    least the threshold are linked, links make groups, and the comment with the smallest id of each
    group is kept: so what is kept says nothing about a later draw by hash.

    Which pairs are looked at is decided by MinHash: a text has ``n_hashes`` least n-grams in
    random orders, cut into ``n_bands`` bands of :math:`r` each, and two texts are compared where
    all of one band are equal, which happens with probability :math:`1 - (1 - J^r)^{n_bands}`:
    0.9997 at the threshold for the defaults. Texts with the same hash of 64 bits count as one, and
    a text is compared with 64 others of its band at most, those that share the next band first. So
    the work grows with the number of comments, however often one text was sent, and memory with
    that of the comments that are linked. Links are similarities that were computed, not estimated.

    The result depends on neither the order of the comments nor the parts of the data frame.

    Parameters
    ----------
    frame
        Daft data frame with the columns ``id`` (text, no id twice) and ``text``. Comments without
        text are left alone.
    threshold
        Least similarity of two texts that are linked, above 0, at most 1.
    n_hashes, n_bands
        Number of random orders, and of bands; the first is a multiple of the second.
    ngram
        Characters of an n-gram. A shorter text is itself its only n-gram.
    seed
        Draws the random orders.
    path
        Where the hashes of all comments are kept meanwhile, about 150 bytes for each; a temporary
        folder by default. All machines of a Ray cluster must see it.

    Returns
    -------
    polars.DataFrame
        One row for each comment to drop, sorted by id: ``id``, ``kept_id`` and ``similarity``, of
        both texts in [0, 1]. It is below the threshold where a chain of texts links the two.

    Raises
    ------
    InputError
        When a column is absent, a number is out of its range, or Daft is not installed.

    References
    ----------
    A. Z. Broder (1997), On the resemblance and containment of documents, Compression and
    Complexity of Sequences. J. Leskovec, A. Rajaraman and J. D. Ullman (2020), Mining of Massive
    Datasets, 3rd edition, section 3.4.

    Examples
    --------
    >>> import daft
    >>> texts = ["You made my whole day, thank you!", "you made my  whole day, thank you!!", "No."]
    >>> near_duplicates(daft.from_pydict({"id": ["a", "b", "c"], "text": texts})).rows()
    [('b', 'a', 0.96...)]
    """
    _check(frame, threshold, n_hashes, n_bands, ngram)
    with _folder(path) as place:
        signed = _signed(frame, place, n_hashes, n_bands, ngram, seed)
        if signed is None:
            return _nothing()
        groups = _groups(_links(signed, n_bands, ngram, threshold))
        repeated = _repeated(signed, groups)
        linked = _having(signed.select("key", "plain"), groups.select("key"))
        texts = _collected(linked.distinct("key")).sort("key")
    if repeated.is_empty():
        return _nothing()
    kept = repeated.group_by("group").agg(pl.col("id").min().alias("kept_id"))
    own_key = repeated.select(kept_id="id", kept_key="key")
    dropped = (
        repeated.join(kept, on="group")
        .filter(pl.col("id") != pl.col("kept_id"))
        .join(own_key, on="kept_id")
        .sort("id")
    )
    return dropped.select("id", "kept_id", _similarity(dropped, texts, ngram))


def _check(frame: Any, threshold: float, n_hashes: int, n_bands: int, ngram: int) -> None:
    require_columns(frame.column_names, ("id", "text"), "near_duplicates: ")
    if not 0 < threshold <= 1:
        raise InputError(f"near_duplicates: threshold = {threshold}: expected above 0, at most 1")
    if n_bands < 1 or n_hashes < 1 or n_hashes % n_bands:
        raise InputError(
            f"near_duplicates: n_hashes = {n_hashes} and n_bands = {n_bands}: expected at least 1 "
            "band and a multiple of it"
        )
    if ngram < 1:
        raise InputError(f"near_duplicates: ngram = {ngram}: expected at least 1 character")


@contextmanager
def _folder(given: str | Path | None) -> Iterator[Path]:
    """A new folder inside the given or the system's one, which is removed in the end."""
    if given is not None:
        Path(given).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="near-duplicates-", dir=given) as name:
        yield Path(name)


def _nothing() -> pl.DataFrame:
    return pl.DataFrame(schema={"id": pl.String, "kept_id": pl.String, "similarity": pl.Float64})


def _signed(
    frame: Any, place: Path, n_hashes: int, n_bands: int, ngram: int, seed: int
) -> Any | None:
    """Write id, text as compared, its hash and its bands; give the frame that reads them again."""
    daft = import_daft()
    from daft import DataType, col

    salts = np.random.default_rng(seed).integers(2**32, size=n_hashes, dtype=np.uint32)
    fields = {name: getattr(DataType, kind)() for name, kind in looked_at(n_bands).items()}
    fields["plain"] = DataType.string()

    def look(texts: Any) -> Any:
        return look_at(texts.to_arrow(), salts, n_bands, ngram)

    look = daft.func.batch(return_dtype=DataType.struct(fields), unnest=True)(look)
    looked = frame.where(col("text").not_null()).select("id", look(col("text")))
    written = looked.where(col("plain") != "").write_parquet(str(place), compression="zstd")
    files = written.to_pydict()["path"]
    return daft.read_parquet(files) if files else None


def _links(signed: Any, n_bands: int, ngram: int, threshold: float) -> pl.DataFrame:
    """Hashes of texts, ``one`` and ``other``, that are as similar as the threshold."""
    from daft import col

    ranges = max(1, -(-signed.count_rows() // _AT_ONCE))
    edges = [part * 2**32 // ranges for part in range(ranges + 1)]
    names = bands_named(n_bands)
    found = []
    for number, band in enumerate(names):
        following = names[(number + 1) % n_bands]
        seen = dict.fromkeys(["key", "size", "bits0", "bits1", "plain", band, following])
        for first, last in pairwise(edges):
            part = signed.select(*seen)
            if ranges > 1:
                part = part.where((col(band) >= first) & (col(band) < last))
            found.append(_linked(_collected(part), band, following, ngram, threshold))
    return pl.concat(found).unique()


def _linked(
    texts: pl.DataFrame, band: str, following: str, ngram: int, threshold: float
) -> pl.DataFrame:
    """Compare texts of the same band; links join all that are similar, and are no more than needed.

    Texts that share the next band too come next to each other.
    """
    from affectlab.stimuli.curation.texts.minhash_kernels import join_similar

    texts = texts.sort(band, following, "key")
    texts = texts.filter(pl.col("key") != pl.col("key").shift(1).fill_null(~pl.col("key")))
    data, offsets = bytes_of(texts["plain"])
    keys, parent = texts["key"].to_numpy(), np.arange(texts.height)
    bits = texts.select("bits0", "bits1").to_numpy(order="c")
    sizes, own_band = texts["size"].to_numpy(), texts[band].to_numpy()
    join_similar(data, offsets, ngram, sizes, bits, own_band, _WINDOW, threshold, parent)
    joined = np.flatnonzero(parent != np.arange(texts.height))
    return pl.DataFrame({"one": keys[joined], "other": keys[parent[joined]]})


def _groups(links: pl.DataFrame) -> pl.DataFrame:
    """Follow the links: ``key`` of each linked text, and ``group``, the least key of its group."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = links.select("one", "other").to_numpy()
    keys, places = np.unique(ends, return_inverse=True)
    one, other = places.reshape(ends.shape).T
    graph = coo_array((np.ones(len(one), bool), (one, other)), shape=(len(keys), len(keys)))
    _, group = connected_components(graph, directed=False)
    found = pl.DataFrame({"key": keys, "group": group}, schema_overrides={"key": pl.UInt64})
    return found.with_columns(pl.col("key").min().over("group").alias("group"))


def _having(signed: Any, keys: pl.DataFrame) -> Any:
    return signed.join(import_daft().from_arrow(keys.to_arrow()), on="key", how="semi")


def _collected(frame: Any) -> pl.DataFrame:
    return pl.DataFrame(frame.to_arrow())


def _repeated(signed: Any, groups: pl.DataFrame) -> pl.DataFrame:
    """Comments whose text is not the only one of its group: ``id``, ``key`` and ``group``."""
    from daft import col, lit

    counts = signed.groupby("key").agg(col("key").count().alias("n"))
    equal = _collected(counts.where(col("n") > lit(1)).select("key"))
    wanted = pl.concat([equal, groups.select("key")]).unique()
    rows = _collected(_having(signed.select("id", "key"), wanted))
    found = rows.join(groups, on="key", how="left")
    return found.with_columns(pl.col("group").fill_null(pl.col("key")))


def _similarity(dropped: pl.DataFrame, texts: pl.DataFrame, ngram: int) -> pl.Series:
    """Similarity of each dropped comment and the one that is kept for it."""
    from affectlab.stimuli.curation.texts.minhash_kernels import jaccard_of_pairs

    similarity = np.ones(len(dropped))
    other = (dropped["key"] != dropped["kept_key"]).to_numpy()
    place = texts["key"].to_numpy()
    ones, others = (
        np.searchsorted(place, dropped[name].to_numpy()[other]) for name in ("key", "kept_key")
    )
    found = np.empty(len(ones))
    jaccard_of_pairs(*bytes_of(texts["plain"]), ngram, ones, others, found)
    similarity[other] = found
    return pl.Series("similarity", similarity)
