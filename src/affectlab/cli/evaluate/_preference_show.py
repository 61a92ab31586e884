"""What the verb on preferences prints, draws and writes of shares, strengths and one metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._output import Output, write_csv

if TYPE_CHECKING:
    from affectlab.core.estimates import Estimates
    from affectlab.evaluation import Preferences, PreferenceScale
    from affectlab.ratings import Ratings

__all__ = ["show_scale", "show_seen", "show_shares", "values_of", "write_shares"]


def show_shares(found: Preferences, out: Output) -> None:
    from rich.text import Text

    from affectlab.core.terminal import Table
    from affectlab.core.words import percent, shown

    out.head(f"{found.systems[0]} or {found.systems[1]}?")
    out.show(*found.sentences, "")
    table = Table(box=None, header_style="bold")
    for name in ("of the", "choice"):
        table.add_column(name)
    for name in ("count", "of", "share", "interval", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.to_frame().to_dicts():
        if row["about"].startswith("decided") and row["choice"] == found.systems[1]:
            # What is left to 100 %.
            continue
        p = row["p"]
        interval = "–"
        if row["low"] == row["low"]:
            interval = f"{percent(row['low'], 1)} – {percent(row['high'], 1)}"
        cells = (row["about"], shown(row["choice"], 40), f"{row['count']:,}", f"{row['of']:,}")
        tested = "" if p != p else "< 0.001" if p < 0.001 else f"{p:.3f}"
        table.add_row(*map(Text, cells), percent(row["value"], 1), interval, tested)
    out.show(table)
    how = dict(
        zip(*(found.to_frame()[name].to_list() for name in ("about", "method")), strict=True)
    )
    votes, two = (how[about].partition("; ")[2] for about in ("votes", "decided votes"))
    out.show("", f"Votes: {votes}{'' if votes == two else f'; share of two: {two}'}.")
    if "items" in how:
        out.show(
            "Items and verdicts: Wilson interval, and exact for the share of two; about other "
            "items, judged by the same judges."
        )


def show_scale(scale: PreferenceScale, out: Output, to: Path | None, figures: Path | None) -> None:
    from affectlab.core.words import percent

    frame = scale.to_frame()
    if to is not None:
        write_csv(frame, to)
    if figures is not None:
        from affectlab.report import fig_intervals, save_figure

        columns_of = (frame[name].to_list() for name in ("system", "value", "low", "high"))
        save_figure(
            fig_intervals(*columns_of, value_name="strength", lines=((0.0, "mean"),)),
            figures,
            "preference_scale",
            title="Strength in pairwise choices",
            description=f"Strongest: {frame['system'][0]}.",
        )
    out.head(frame["method"][0].partition(";")[0])
    columns: list[str | tuple[str, str]] = ["system", "value", ("low", "high")]
    columns += ["wins", "losses", "ties", "first", "status"]
    out.show_frame(frame, columns)
    if scale[frame["system"][0]].ok:
        first = frame.row(0, named=True)
        sure = f", and is first in {percent(first['first'], 1)} of replicates"
        known = first["first"] == first["first"]
        out.show("", f"{first['system']} is strongest{sure if known else ''}.")
        out.head("\nChance that the first is chosen over the other")
        pairs = scale.pairs().to_frame()
        out.show_frame(pairs, ["system", "other", "value", ("low", "high"), "observed", "p"])
    if to is not None:
        out.show("", f"strengths written to {to}")
    if figures is not None:
        out.show("", f"figure: {figures}")


def values_of(
    files: list[Path],
    judged: Ratings,
    found: Preferences,
    system: str | None,
    n_boot: int,
    seed: int,
) -> Estimates:
    """Read the values of metrics and compare them with the verdicts."""
    from affectlab.evaluation import metric_sees_preference
    from affectlab.ratings import read_models

    values = read_models([*files], judged, scale="interval")
    return metric_sees_preference(values, found, system=system, n_boot=n_boot, seed=seed)


def show_seen(seen: Estimates, out: Output) -> None:
    from affectlab.core.words import number

    frame = seen.to_frame()
    one = frame.row(0, named=True)
    out.head("\nDoes the metric see it?")
    out.show(
        f"AUC: {one['method'].partition(', area')[0]}; 0.5 is blind. {one['n_good']:,} good items, "
        f"{one['n_poor']:,} poor, {one['n_left_out']:,} left out."
    )
    for row in frame.filter(frame["statistic"] == "auc").to_dicts():
        if row["low"] != row["low"]:
            verdict = "there is no interval"
        elif row["low"] > 0.5:
            verdict = "it scores what people accept higher"
        elif row["high"] < 0.5:
            verdict = "it scores what people accept lower"
        else:
            verdict = "it is not shown to tell what people accept from what they reject"
        ends = (
            f" ({number(row['low'])} to {number(row['high'])})" if row["low"] == row["low"] else ""
        )
        out.show(f"- {row['metric']}: AUC {number(row['value'])}{ends}; {verdict}.")
    out.show_frame(frame, ["metric", "statistic", "value", ("low", "high"), "p", "status"])


def write_shares(found: Preferences, to: Path | None, figures: Path | None) -> None:
    if to is not None:
        write_csv(found.to_frame(), to)
    if figures is None:
        return
    from affectlab.report.pictures import pictures_of_preferences, save_pictures

    save_pictures(pictures_of_preferences(found), figures)
