"""Verdicts, and metrics beside them, for the verb on preferences: read, shown and drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from affectlab.cli._output import Output
    from affectlab.core.estimates import Estimates
    from affectlab.evaluation import MetricPreferences, Preferences
    from affectlab.ratings import Ratings

__all__ = [
    "cluster_of",
    "columns_said",
    "item_table",
    "show_metrics",
    "show_verdicts",
    "verdict_table",
]

PAIR = "pair"
"""Column that says which image and caption an item is about."""


def columns_said(text: str | None) -> tuple[str, ...]:
    """Read names between commas."""
    names = [] if text is None else [name.strip() for name in text.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))


def item_table(ratings: Ratings) -> pl.DataFrame:
    """Say what is known of every item: columns of its stimulus, and its emotion.

    Where answers have labels, an item is a stimulus with a label; then ``pair`` is the stimulus and
    ``emotion`` the label, unless the table of stimuli says otherwise.
    """
    import polars as pl

    stimuli = ratings.stimuli
    if ratings.n_labels == 1 or not ratings.has_labels:
        return stimuli.rename({"stimulus": "item"})
    names = ratings.stimulus_names
    made = pl.DataFrame(
        {
            "item": [f"{name}: {label}" for name in names for label in ratings.label_names],
            "stimulus": [name for name in names for _ in ratings.label_names],
            PAIR: [name for name in names for _ in ratings.label_names],
            "emotion": [label for _ in names for label in ratings.label_names],
        },
        schema_overrides={"item": pl.String, "stimulus": pl.String, PAIR: pl.String},
    )
    said = [name for name in (PAIR, "emotion") if name in stimuli.columns]
    return made.drop(said).join(stimuli, on="stimulus", how="left")


def cluster_of(items: pl.DataFrame, scores: Any, cluster: str | None) -> str | None:
    """Take the column that is asked for, or ``pair`` where there is one."""
    if cluster is not None:
        return cluster
    known = PAIR in items.columns or (scores is not None and PAIR in scores.columns)
    return PAIR if known else None


def verdict_table(
    found: Preferences,
    items: pl.DataFrame | None,
    cluster: str | None,
    *,
    system: str | None,
    sampled: int | None,
    n_boot: int,
    seed: int,
) -> Estimates | None:
    """Count the verdicts of items; None where there are none, or no choice but the two systems."""
    from affectlab.evaluation import preference_verdicts

    others = any(name not in found.systems for name in found.choices)
    if sampled is None and not others:
        return None
    if found.items and not found.verdicts()["verdict"].is_in(list(found.choices)).any():
        # The table of shares says that no item has a verdict.
        return None
    of_item = None
    if cluster is not None and items is not None and cluster in items.columns:
        names = items["item"].cast(str).to_list()
        of_item = dict(zip(names, items[cluster].cast(str).fill_null("").to_list(), strict=True))
    return preference_verdicts(
        found, system=system, sampled=sampled, cluster=of_item, n_boot=n_boot, seed=seed
    )


def show_verdicts(table: Estimates, out: Output, rule: str) -> None:
    """Print what the verdicts are, and their shares."""
    from affectlab.core.words import number, percent
    from affectlab.evaluation import verdict_sentences

    out.head("\nVerdicts of the items")
    out.show(*(f"- {sentence}" for sentence in verdict_sentences(table, rule)))
    frame = table.to_frame()
    rows = []
    for row in frame.to_dicts():
        share = row["statistic"] != "ratio"
        rows.append(
            {
                "what": row["statistic"],
                "of": row["of_what"],
                "count": f"{row['count']:,} {'of' if share else 'to'} {row['of']:,}",
                "value": percent(row["value"], 1) if share else number(row["value"]),
                "interval": _ends(row["low"], row["high"], share),
                "all at once": _ends(row["all_low"], row["all_high"], share),
            }
        )
    import polars as pl

    out.show_frame(pl.DataFrame(rows), ["what", "of", "count", "value", "interval", "all at once"])
    how = dict(zip(frame["statistic"].to_list(), frame["method"].to_list(), strict=True))
    drawn = how["ratio"].partition("; ")[2]
    if "bootstrap" in drawn:
        out.show("", f"Verdicts, ratio and good: {drawn}; decided: Wilson interval.")
    else:
        out.show(
            "", "Shares: Wilson intervals; ratio: from the exact interval of the share of two."
        )


def _ends(low: float, high: float, share: bool) -> str:
    """Write an interval so that it stays on one line."""
    from affectlab.core.words import number, percent

    if low != low:
        return "–"
    text = f"{100 * low:.1f} – {percent(high, 1)}" if share else f"{number(low)} – {number(high)}"
    return text.replace(" ", "\u00a0")


def show_metrics(seen: MetricPreferences, out: Output) -> None:
    """Print which metric sees what people prefer, with the tables that say so."""
    from affectlab.core.words import percent, plural

    judged = seen.judged
    out.head("\nWhich metric sees what people prefer?")
    drawn = f"{plural(seen.n_clusters, 'group')} of items that share a {seen.cluster}"
    if seen.cluster is None:
        drawn = plural(seen.n_clusters, "item")
    about = f"; {percent(seen.confidence)} intervals from draws of {drawn}" if seen.n_boot else ""
    unit = "verdicts of items" if judged.unit == "item" else "votes of judges"
    out.show(
        f"AUC: the chance that a good {judged.system} text scores above a poor one, from "
        f"{unit}; 0.5 is blind{about}.",
        *(f"- {sentence}" for sentence in seen.sentences),
    )
    import polars as pl

    overall = seen.areas.filter(pl.col("by") == "").rename({"value": "AUC"})
    out.show_frame(overall, ["metric", "AUC", ("low", "high"), "n_good", "n_poor", "verdict"])
    out.head("\nMeans")
    means = seen.means.rename({"value": "mean"})
    out.show_frame(means, ["metric", "group", "mean", ("low", "high"), "n"], most=60)
    if seen.differences.height:
        out.head("\nDifferences of areas; the intervals hold for all of them at once")
        out.show_frame(
            seen.differences, ["metric", "other", "value", ("all_low", "all_high"), "n", "verdict"]
        )
    for by in dict.fromkeys(seen.areas["by"].to_list()):
        if not by:
            continue
        rows = seen.areas.filter((pl.col("by") == by) & (pl.col("status") == "ok"))
        if not rows.height:
            continue
        out.head(f"\nBy {by}; the interval holds for all {rows['n_together'][0]} areas at once")
        out.show_frame(
            rows.rename({"value": "AUC", "group": by}),
            ["metric", by, "AUC", ("all_low", "all_high"), "n_good", "n_poor", "verdict"],
            more="--areas writes all of them to a file",
        )
