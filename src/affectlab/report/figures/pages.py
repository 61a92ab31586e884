"""Figures of several panels, or with a key of their own, that results declare by kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.tables import Table
from affectlab.core.types import Figure, Floats
from affectlab.core.words import number
from affectlab.report.figures.expressions import (
    CurvePanel,
    HistogramPanel,
    fig_expression_elbow,
    fig_expression_heatmap,
    fig_expression_histograms,
    fig_expression_priority,
    fig_transition_curves,
    fig_transition_ranges,
)
from affectlab.report.figures.jnd import JndStrip, fig_jnd_strip, fig_jnd_times, fig_latency
from affectlab.report.figures.labels import fig_label_clusters, fig_label_map, fig_words
from affectlab.report.figures.reactions import fig_emotion_words, fig_pair_emotions

__all__ = [
    "page_of_emotion_words",
    "page_of_expression_elbow",
    "page_of_expression_heatmap",
    "page_of_expression_priority",
    "page_of_first_words",
    "page_of_histograms",
    "page_of_jnd_strips",
    "page_of_jnd_times",
    "page_of_label_heatmap",
    "page_of_label_map",
    "page_of_latency",
    "page_of_pair_emotions",
    "page_of_ranges",
    "page_of_transition_curves",
]

_CROWD = 25
"""Emotions of which one figure is readable."""
_FIVE = {1: "peak", 2: "1 JND", 3: "mid", 4: "1 JND", 5: "neutral"}
_SIZE = 320
"""Longer side of a picture of a strip, in pixels."""


def _square(table: Table, first: str, second: str, names: Sequence[str]) -> Floats:
    """Spread the values of pairs of names over a matrix; ``nan`` where there is none."""
    place = {name: k for k, name in enumerate(names)}
    matrix = np.full((len(names), len(names)), math.nan)
    for a, b, value in table.frame.select(first, second, "value").iter_rows():
        if a in place and b in place and value is not None:
            matrix[place[a], place[b]] = matrix[place[b], place[a]] = value
    return matrix


# Transitions of faces.


def page_of_ranges(
    table: Table,
    *,
    by: str,
    value: str,
    value_name: str,
    kind: str | None = None,
    line: float | None = None,
) -> Figure:
    """Draw the values of each group, one mark each, with their range and median."""
    rows = table.frame if kind is None else table.frame.filter(pl.col("kind") == kind)
    groups = rows.group_by(by, maintain_order=True).agg(pl.col(value))
    values = [np.asarray(own, dtype=np.float64) for own in groups[value].to_list()]
    return fig_transition_ranges(groups[by].to_list(), values, value_name=value_name, line=line)


def page_of_transition_curves(
    table: Table, *, by: str, value: str, x_name: str, y_name: str, names_frames: bool
) -> Figure:
    """Draw curves from peak to neutral, a panel per actor or per expression."""
    frame = table.frame.filter(pl.col("half").is_not_nan())
    second = "expression" if by == "actor" else "actor"
    panels = []
    for (name,), own in frame.sort(by, second, "place").group_by(by, maintain_order=True):
        curves = {
            str(key[0]): (part["x"].to_numpy(), part[value].to_numpy())
            for key, part in own.group_by(second, maintain_order=True)
        }
        by_half = own.sort("half", maintain_order=True)[second].to_list()
        panels.append(CurvePanel(str(name), curves, (by_half[0], by_half[-1])))
    return fig_transition_curves(
        panels,
        x_name=x_name,
        y_name=y_name,
        ticks=_ticks(table.frame) if names_frames else (),
        named_as=("first to lose half", "last to lose half"),
    )


def _ticks(points: pl.DataFrame) -> list[tuple[float, str]]:
    """Name the five frames, where there are no others."""
    places = sorted(points["place"].unique().to_list())
    if not set(places) <= set(_FIVE):
        return []
    near = "near_peak" in points["role"].to_list()
    return [(float(at), _FIVE[at] if near or at not in (2, 4) else str(at)) for at in places]


# Expressions.


def page_of_expression_heatmap(
    table: Table,
    *,
    names: Sequence[str],
    linkage: Sequence[Sequence[float]] | None,
    cluster: Mapping[str, int],
    value_name: str,
) -> Figure:
    """Draw mean differences of expressions in the order of their tree."""
    return fig_expression_heatmap(
        _square(table, "expression_a", "expression_b", names),
        names,
        linkage,
        cluster=[cluster.get(name) for name in names],
        value_name=value_name,
    )


def page_of_expression_elbow(table: Table, *, chosen: int, value_name: str) -> Figure:
    """Draw the heights of a tree by number of clusters."""
    frame = table.frame
    count, height = (frame[name].to_numpy() for name in ("n_clusters", "height"))
    return fig_expression_elbow(count, height, chosen, value_name=value_name)


def page_of_expression_priority(
    table: Table, *, has_clusters: bool, value_name: str, interval_name: str
) -> Figure:
    """Draw mean differences from all others, the smallest at the top."""
    rows = table.frame
    centre = (rows["value"] - rows["relative"]).to_numpy()
    return fig_expression_priority(
        rows["expression"].to_list(),
        rows["value"].to_numpy(),
        centre + rows["relative_low"].to_numpy(),
        centre + rows["relative_high"].to_numpy(),
        cluster=rows["cluster"].to_list() if has_clusters else None,
        value_name=value_name,
        interval_name=interval_name,
    )


def page_of_histograms(
    table: Table, *, histogram: str, notes: Mapping[str, str], value_name: str
) -> Figure:
    """Draw the histograms of one kind, a panel per group."""
    own = table.frame.filter(pl.col("histogram") == histogram)
    panels = []
    for (group,), bins in own.group_by("group", maintain_order=True):
        name = str(group)
        role = name if name in ("intra", "inter") else "all"
        low, high, share = (bins[one].to_numpy() for one in ("low", "high", "share"))
        panels.append(HistogramPanel(name, low, high, share, note=notes[name], role=role))
    return fig_expression_histograms(panels, value_name=value_name)


# Just noticeable differences.


def page_of_jnd_times(
    table: Table,
    *,
    chosen: float = math.nan,
    interval: tuple[float, float] = (math.nan, math.nan),
    own: Mapping[str, tuple[float, float, float]] | None = None,
) -> Figure:
    """Draw the times to 1 JND of each actor, and the sampling interval where it is told."""
    groups = table.frame.group_by("actor", maintain_order=True)
    times = {str(key[0]): part["time_ms"].to_numpy() for key, part in groups}
    return fig_jnd_times(times, chosen, interval, own=own)


def page_of_latency(table: Table, *, marked: Sequence[float], group_name: str) -> Figure:
    """Draw the share of expressions below 1 JND by delay."""
    whole = table.frame.filter(pl.col("group") == "all").sort("latency_ms")
    groups = table.frame.filter(pl.col("group") != "all").sort("latency_ms")
    return fig_latency(
        *(whole[name].to_numpy() for name in ("latency_ms", "below", "low", "high")),
        groups={
            str(key[0]): part["below"].to_numpy()
            for key, part in groups.group_by("group", maintain_order=True)
        },
        marked=marked,
        group_name=group_name,
    )


def page_of_jnd_strips(table: Table, *, films: str, fps: float | None) -> Figure:
    """Draw the frames up to 1 JND, taken from their films."""
    from affectlab.stimuli.frames import View, find_transitions

    found = find_transitions(Path(films), fps=fps)
    by_name = {(one.actor, one.expression): one for one in found.transitions}
    strips = []
    for name, own in table.frame.group_by("actor", "expression", maintain_order=True):
        film = by_name[str(name[0]), str(name[1])]
        images = list(film.images(own["frame"].to_list(), View(None, _SIZE)))
        note = f"1 JND after {number(own['time_ms'][0], 0)} ms"
        times, change = own["since_ms"].to_numpy(), own["jnds"].to_numpy()
        strips.append(JndStrip(f"{name[0]}, {name[1]}", images, times, change, note))
    return fig_jnd_strip(strips)


# Labels, words and reactions.


def page_of_label_heatmap(
    table: Table,
    *,
    names: Sequence[str],
    linkage: Sequence[Sequence[float]] | None = None,
    cluster: Sequence[int] | None = None,
    groups: Sequence[str] | None = None,
) -> Figure:
    """Draw correlations of labels, in the order of their tree where there is one."""
    matrix = _square(table, "label_a", "label_b", names)
    return fig_label_clusters(matrix, names, linkage, cluster=cluster, groups=groups)


def page_of_first_words(
    table: Table, *, labels: Sequence[str], n: int, groups: Mapping[str, str] | None = None
) -> Figure:
    """Draw the first words of each label as bars."""
    known = table.frame.filter(pl.col("word") != "")
    words = {
        label: known.filter(pl.col("label") == label).head(n).select("word", "z").rows()
        for label in labels
    }
    return fig_words(words, groups=groups)


def page_of_label_map(table: Table, *, labels: Sequence[str]) -> Figure:
    """Draw stimuli as dots in the colours of their labels."""
    frame = table.frame
    listed = pl.format(", {}, ", pl.col("labels"))
    chosen = frame.select(
        listed.str.contains(f", {name}, ", literal=True).alias(name) for name in labels
    )
    places = frame.select("x", "y").to_numpy()
    colours = frame["colour"].to_list()
    return fig_label_map(places, colours, chosen=chosen.to_numpy(), labels=labels)


def page_of_emotion_words(
    table: Table, *, polarity: Mapping[str, str], taxonomy: str, n: int = _CROWD
) -> Figure:
    """Draw the emotions that people name most, with the label of each."""
    rows = table.frame.head(n)
    labels: list[Any] = rows["label"].to_list()
    return fig_emotion_words(
        rows["word"].to_list(),
        rows["n"].to_list(),
        labels=labels,
        polarities=[polarity.get(label) for label in labels],
        taxonomy=taxonomy,
    )


def page_of_pair_emotions(table: Table) -> Figure:
    """Draw how many emotions a pair has, and how often people's poles are opposed."""
    frame = table.frame
    return fig_pair_emotions(frame["n_emotions"].to_list(), frame["conflict"].to_list())
