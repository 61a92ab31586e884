"""Figures of ``affectlab analyze jnd``: boxes, shares over delays, and strips of frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from affectlab.core.errors import InputError

if TYPE_CHECKING:
    from affectlab.analysis import JndTimes, SamplingInterval
    from affectlab.report import JndStrip

__all__ = ["draw_figures"]

_STRIPS = 2
_SIZE = 320
"""Longer side of a picture of a strip, in pixels."""
_POINTS = 81


def draw_figures(
    times: JndTimes,
    interval: SamplingInterval,
    folder: Path,
    *,
    latency: Sequence[float],
    films: Path | None,
    rate: float | None,
    seed: int,
) -> dict[str, Any]:
    """Draw all figures; give the strips that were drawn, with their frames at 1 JND."""
    from affectlab.report.pictures import picture_of_jnd_times, save_pictures

    # A film that does not fit stops before anything is drawn.
    strips = [] if films is None else _strips(times, films, rate)
    save_pictures([picture_of_jnd_times(times, interval)], folder)
    _shares(times, interval, folder, latency, seed)
    if not strips:
        return {}
    from affectlab.report import fig_jnd_strip, save_figure

    save_figure(
        fig_jnd_strip([strip for strip, _ in strips]),
        folder,
        "jnd_strip",
        title="Frames up to 1 JND",
        description="; ".join(f"{strip.title}: {strip.note}" for strip, _ in strips),
    )
    return {strip.title: told for strip, told in strips}


def _shares(
    times: JndTimes,
    interval: SamplingInterval,
    folder: Path,
    latency: Sequence[float],
    seed: int,
) -> None:
    import numpy as np

    from affectlab.analysis import latency_budget
    from affectlab.core.words import percent
    from affectlab.report import fig_latency, save_figure

    known = times.sequences["time_ms"].drop_nans()
    if not known.len():
        return
    median = float(known.median())  # type: ignore[arg-type]
    until = max(2 * median, *(1.25 * one for one in latency), 1.0)
    delays = np.linspace(0, until, _POINTS)
    budget = latency_budget(times, delays.tolist(), n_boot=400, seed=seed).frame
    whole = budget.filter(pl.col("group") == "all")
    groups = {
        str(key[0]): part["below"].to_numpy()
        for key, part in budget.filter(pl.col("group") != "all")
        .partition_by("group", as_dict=True, maintain_order=True)
        .items()
    }
    exact = latency_budget(times, list(latency) or [interval.overall.value], n_boot=1, seed=seed)
    said = [
        f"{row['latency_ms']:.3g} ms {percent(row['below'])}"
        for row in exact.frame.filter(pl.col("group") == "all").iter_rows(named=True)
    ]
    save_figure(
        fig_latency(
            delays,
            *(whole[name].to_numpy() for name in ("below", "low", "high")),
            groups=groups,
            marked=latency,
        ),
        folder,
        "jnd_latency",
        title="Expressions below 1 JND by delay",
        description=f"Share of expressions: {', '.join(said)}.",
    )


def _strips(
    times: JndTimes, films: Path, rate: float | None
) -> list[tuple[JndStrip, dict[str, Any]]]:
    from affectlab.analysis import jnd_strip, strip_choices
    from affectlab.report import JndStrip
    from affectlab.stimuli.frames import View, find_transitions

    step = math.nan if rate is None else 1000 / rate if rate > 0 else 0.0
    fps = None if math.isnan(times.frame_ms) else 1000 / times.frame_ms
    found = find_transitions(films, fps=fps)
    by_name = {(one.actor, one.expression): one for one in found.transitions}
    chosen = strip_choices(times, _STRIPS, step_ms=step)
    strips = []
    for row in chosen.iter_rows(named=True):
        name = row["actor"], row["expression"]
        if name not in by_name:
            raise InputError(
                f"--films {films}: no film of actor {name[0]!r}, expression {name[1]!r}; expected "
                "the films that the frames were taken from"
            )
        film = by_name[name]
        filmed = [math.nan if one is None else one for one in film.frames.times_ms]
        numbers, since, change = jnd_strip(times, *name, filmed, rate_hz=rate)
        images = list(film.images(numbers.tolist(), View(None, _SIZE)))
        at = int((change < 1).sum())
        told = {
            "frame_ms": since.tolist(),
            "jnds": change.tolist(),
            "marked": at if at < change.size else None,
        }
        note = f"1 JND after {row['time_ms']:.0f} ms"
        strips.append((JndStrip(f"{name[0]}, {name[1]}", images, since, change, note), told))
    return strips
