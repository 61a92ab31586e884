"""Pictures of what people prefer, and of the metrics that are to see it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl

from affectlab.core.words import file_part
from affectlab.report.figures import fig_intervals, fig_item_votes, fig_preferences
from affectlab.report.pictures.picture import Picture

if TYPE_CHECKING:
    from affectlab.evaluation import MetricPreferences, Preferences

__all__ = ["pictures_of_areas", "pictures_of_preferences"]

_MOST_GROUPS = 30
"""Groups up to which a figure is readable."""


def pictures_of_preferences(found: Preferences) -> tuple[Picture, ...]:
    """Draw the shares of votes, and the votes on every item where they are known."""
    frame = found.to_frame()
    votes = frame.filter(frame["about"] == "votes")
    said = " ".join(found.sentences)
    shares = Picture(
        "preference",
        f"{found.systems[0]} or {found.systems[1]}",
        said,
        partial(
            fig_preferences,
            votes["choice"].to_list(),
            *(votes[name].to_numpy() for name in ("value", "low", "high", "count")),
        ),
    )
    if ("items", "tied") not in {(row["about"], row["choice"]) for row in frame.to_dicts()}:
        return (shares,)
    items = partial(fig_item_votes, found.votes, found.choices, items=found.items)
    return (shares, Picture("preference_by_item", "Votes on every item", said, items))


def pictures_of_areas(
    seen: MetricPreferences, short: Mapping[str, str] = MappingProxyType({})
) -> tuple[Picture, ...]:
    """Draw areas under the curve with intervals: over all items, and by each column.

    `short` has other names for metrics, where their own are long.
    """
    drawn = []
    for by in dict.fromkeys(seen.areas["by"].to_list()):
        rows = seen.areas.filter((pl.col("by") == by) & (pl.col("status") == "ok"))
        if not rows.height:
            continue
        if by:
            most = rows["group"].unique(maintain_order=True).to_list()
            size = {name: int(rows.filter(pl.col("group") == name)["n_good"][0]) for name in most}
            kept = sorted(most, key=lambda name: (-size[name], name))[:_MOST_GROUPS]
            rows = rows.filter(pl.col("group").is_in(kept))
        names = [short.get(name, name) for name in rows["metric"].to_list()]
        if by:
            groups = rows["group"].to_list()
            names = [f"{group}: {name}" for group, name in zip(groups, names, strict=True)]
        prefix = "all_" if by else ""
        drawn.append(
            Picture(
                "preference_metrics" + (f"_by_{file_part(by)}" if by else ""),
                "Which metric sees what people prefer" + (f", by {by}" if by else ""),
                " ".join(seen.sentences),
                partial(
                    fig_intervals,
                    names,
                    rows["value"].to_numpy(),
                    rows[f"{prefix}low"].to_numpy(),
                    rows[f"{prefix}high"].to_numpy(),
                    value_name="area under the curve",
                    lines=((0.5, "blind"),),
                    groups=rows["metric"].to_list()
                    if by and rows["metric"].n_unique() > 1
                    else None,
                    limits=_limits(rows[f"{prefix}low"], rows[f"{prefix}high"], rows["value"]),
                ),
            )
        )
    return tuple(drawn)


def _limits(*columns: pl.Series) -> tuple[float, float]:
    """Ends of the axis that hold one half and every interval."""
    known = [value for column in columns for value in column.to_list() if value == value]
    low, high = min([0.4, *known]), max([0.6, *known])
    return max(0.0, low - 0.03), min(1.0, high + 0.03)
