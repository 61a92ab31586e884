"""What a run of curation gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.pool import Pool, cutoffs, daft_draw, read_part, texts_at

__all__ = [
    "Curation",
    "drawn_texts",
]


@dataclass(frozen=True, eq=False)
class Curation:
    """The comments that are left, and how it came to that; see :func:`curate`."""

    out: Path
    """Folder with all that was written."""
    n_read: int
    """Rows that were read."""
    n_kept: int
    """Comments that are left."""
    ledger: pl.DataFrame
    """One row per reason of each step, the first of which is ``reading``: ``step``, ``rows_in``,
    ``kept``, ``dropped`` (of the step), ``reason``, ``n`` (dropped for it), ``threshold``,
    ``found``, ``seconds``, ``rows_per_s``."""
    distributions: pl.DataFrame
    """Before and after steps: ``step``, ``when``, ``distribution``, ``value``, ``n``, ``share``,
    ``mean``, ``sd`` and ``groups``."""
    groups: pl.DataFrame
    """One row per group: ``group``, ``n_read``, ``n_kept``, and the ``step`` and ``reason`` for
    which it was dropped as a whole."""
    problems: pl.DataFrame
    """First problems of each kind that were met when reading."""
    counts: dict[str, int]
    """Number of problems of each kind."""
    explained: str
    """Why nothing is left; empty where something is."""
    notes: tuple[str, ...]
    """What was redone, and why."""
    corpus: Path | None
    """Folder of Parquet files with the comments; None where the run was stopped before its end."""
    review: Path | None
    """CSV file of the comments that await review; None where there are none."""
    n_review: int
    """Number of comments that await review."""
    stopped_after: str | None
    """The last step, where `until` stopped the run; None where it went to its end."""
    _pool: Pool = field(repr=False)

    def __len__(self) -> int:
        return self.n_kept

    def to_frame(self) -> pl.DataFrame:
        """Read the corpus: ``id``, ``text``, ``masked``, ``group``, ``tokens``, and so on.

        Raises
        ------
        InputError
            When the run was stopped before its end; :meth:`draw` gives texts also then.
        """
        if self.corpus is None:
            raise InputError(
                f"{self.out}: there is no corpus yet: {self.stopped_after} was the end"
            )
        files = sorted(self.corpus.glob("*.parquet"))
        return read_part(files) if files else pl.DataFrame()

    def reasons(self) -> pl.DataFrame:
        """Read why each comment was dropped: ``id``, ``step``, ``reason``, in the order read."""
        schema = {"id": pl.String, "step": pl.String, "reason": pl.String}
        files = sorted((self.out / "reasons").glob("*.parquet"))
        return read_part(files) if files else pl.DataFrame(schema=schema)

    def draw(self, n: int, *, seed: int = 0) -> pl.DataFrame:
        """Draw some of the comments that are left, such as a pilot to annotate.

        Parameters
        ----------
        n
            How many; all where there are fewer.
        seed
            Another seed draws others.

        Returns
        -------
        polars.DataFrame
            ``id``, ``text``, ``group``, in random order.

        Raises
        ------
        InputError
            When `n` is below 1.
        """

        if n < 1:
            raise InputError(f"n = {n}: expected 1 or more comments to draw")
        return drawn_texts(self._pool, n, seed)


# Some of the comments that are left, with their texts.


_NAME = "draw"


def drawn_texts(pool: Pool, n: int, seed: int) -> pl.DataFrame:
    """Draw comments of a pool: ``id``, ``text``, ``group``, in the order of the draw."""
    import daft

    if not pool.n:
        return texts_at(pool.parts, pl.Series("place", [], pl.Int64)).drop("place")
    cuts = cutoffs(pool, None, pl.DataFrame({"n": [pool.n], "cap": [n]}), _NAME, seed)
    frame = pool.frame.select("place", daft_draw(_NAME, seed).alias("draw"))
    if cuts.height:
        frame = frame.where(daft.col("draw") <= daft.lit(int(cuts["cut"][0])))
    rows = pool.collect(frame).sort("draw", "place").head(n)
    found = texts_at(pool.parts, rows["place"])
    return rows.join(found, on="place", how="left", maintain_order="left").select(
        "id", "text", "group"
    )
