"""What ``affectlab evaluate text`` prints and writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.cli._output import write_csv

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from affectlab.models.text_metrics import TextMetric, TextScores
    from affectlab.models.text_metrics.items import TextTable

__all__ = ["check_target", "frame_of", "part_of", "told_of", "write_scores"]


def part_of(of: TextScores, name: str) -> TextScores:
    """Give what a score is made of as the scores of a metric of its own."""
    from dataclasses import replace

    return replace(of, metric=name, scores=of.parts[name], parts={})


def frame_of(
    scores: Sequence[TextScores], table: TextTable, groups: Sequence[str], *, parts: bool
) -> pl.DataFrame:
    """One row per item and metric, with the groups of the item."""
    import polars as pl

    own = pl.DataFrame(
        {
            "item": list(scores[0].items),
            **{name: table.column(name, "") for name in groups if name not in ("item", "metric")},
        }
    )
    found = pl.concat([one.to_frame(parts=parts) for one in scores])
    return found.join(own, on="item", how="left", maintain_order="left")


def check_target(to: Path | None) -> None:
    """Refuse a file of another kind, or one that cannot be made, before hours of scoring."""
    from affectlab.core.errors import InputError

    if to is None:
        return
    if to.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{to}: expected a file that ends in .csv or .parquet")
    if to.is_dir():
        raise InputError(f"{to} cannot be written: it is a folder")
    if not to.parent.is_dir():
        raise InputError(f"{to} cannot be written: the folder {to.parent} does not exist")


def write_scores(frame: pl.DataFrame, to: Path) -> None:
    if to.suffix.lower() == ".csv":
        write_csv(frame, to)
        return
    from affectlab.core.errors import InputError

    try:
        frame.write_parquet(to)
    except OSError as error:
        raise InputError(f"{to} cannot be written: {error.strerror or error}") from None


def told_of(scores: TextScores, metric: TextMetric) -> dict[str, Any]:
    """Give what is needed to read a metric's scores."""
    known = getattr(metric, "fingerprint", None)
    return {
        "metric": scores.metric,
        "model": scores.settings.get("model", scores.model),
        "direction": scores.direction,
        "settings": dict(scores.settings),
        "weights": known() if callable(known) else None,
        "mean": scores.mean,
        "limit": scores.limit,
        "n_truncated": int(scores.truncated.sum()),
        "most_tokens": int(scores.n_tokens.max(initial=0)),
    }
