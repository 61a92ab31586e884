"""The first pass: each part of the staged texts becomes a narrow table, one row per comment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.stimuli.curation._hashing import id_keys
from affectlab.stimuli.curation._predictions import prediction_columns
from affectlab.stimuli.curation._tasks import (
    PLACE_BITS,
    daft_parts,
    part_name,
    read_part,
    write_part,
)
from affectlab.stimuli.curation._texts import TextSettings, text_features

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FeatureWork", "small_groups"]


@dataclass(frozen=True)
class FeatureWork:
    """Looks at the texts of a part; a part that an interrupted run has written stays."""

    parts: Sequence[Path]
    """Staged files: ``id``, ``text``, ``group``, and with a taxonomy ``emotions``."""
    folder: Path
    """Where the narrow tables are written."""
    settings: TextSettings
    """How texts are looked at."""
    taxonomy: str | None
    """Taxonomy of the column ``emotions``; None where there is none."""
    small: pl.Series
    """Groups whose texts are not looked at, since the first step drops them; sorted."""

    def __call__(self, part: int) -> dict[str, Any]:
        """Write the narrow table of one part; give its rows, and how many have a group."""
        import polars as pl

        target = self.folder / part_name(part)
        if not target.exists():
            write_part(self.table(part), target, passing=True)
        found = pl.scan_parquet(target, glob=False).select(
            pl.len().alias("rows"), (pl.col("group") != "").sum().alias("grouped")
        )
        return found.collect().to_dicts()[0]

    def table(self, part: int) -> pl.DataFrame:
        """Look at the texts of one part."""
        import polars as pl

        columns = ["id", "text", "group", *(["emotions"] if self.taxonomy is not None else [])]
        table = read_part(self.parts[part], columns=columns)
        place = pl.int_range(table.height, dtype=pl.Int64, eager=True) + (part << PLACE_BITS)
        key = pl.Series("key", id_keys(table["id"]))
        features = self._features(table)
        found = pl.DataFrame([place.alias("place"), key, table["group"].fill_null(""), *features])
        if self.taxonomy is None:
            return found
        told = prediction_columns(table["emotions"], self.taxonomy, pass_over_unknown=True)
        return found.hstack(told)

    def _features(self, table: pl.DataFrame) -> pl.DataFrame:
        """Look at the texts of all but small groups, which get nulls."""
        import polars as pl

        texts = table["text"].fill_null("")
        if self.small.is_empty():
            return text_features(texts, self.settings)
        seen = ~table["group"].fill_null("").is_in(self.small.implode())
        features = text_features(texts.filter(seen), self.settings)
        if features.height == len(texts):
            return features
        told = pl.DataFrame({"seen": seen}).select(
            pl.when("seen").then(pl.col("seen").cum_sum() - 1).alias("row")
        )
        return features.select(pl.all().gather(told["row"]))


def small_groups(parts: Sequence[Path], least: int) -> pl.Series:
    """Find the groups with fewer rows than `least`; a cheap look at one column."""
    import daft
    import polars as pl

    if least <= 1 or not parts:
        return pl.Series(dtype=pl.String)
    groups = daft_parts(parts).select(daft.col("group").fill_null(daft.lit("")))
    counted = groups.with_column("one", daft.lit(1)).groupby("group").agg(daft.col("one").count())
    found = pl.DataFrame(counted.to_arrow())
    return found.filter(pl.col("one") < least)["group"].sort()
