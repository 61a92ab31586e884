"""Figures of JND times: what is drawn where, and input that does not fit."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.core.render.svg import to_png, to_svg
from affectlab.report import draw_figure
from affectlab.simulate import draw_face

FACES = [draw_face("joy", 1 - k / 12, size=48) for k in range(12)]


def times_of(times, chosen=math.nan, interval=(math.nan, math.nan), **options):
    columns = {
        "actor": [name for name, own in times.items() for _ in own],
        "time_ms": [float(one) for own in times.values() for one in own],
    }
    return draw_figure("jnd_times", columns, chosen=chosen, interval=interval, **options)


def strips(*given):
    columns = ("actor", "expression", "time_ms", "frame", "since_ms", "jnds")
    rows = [
        (actor, "joy", None, k, since, jnds)
        for actor, times, changes in given
        for k, (since, jnds) in enumerate(zip(times, changes, strict=True))
    ]
    images = [FACES[row[3]] for row in rows]
    frame = pl.DataFrame(rows, schema=columns, orient="row", strict=False)
    return draw_figure("jnd_strips", frame, images=images)


def test_the_line_is_the_chosen_interval() -> None:
    figure = times_of({"Ada": [20, 40, 90], "Ben": [35, 60, 80]}, 20, (17, 24))
    axes = figure.axes[0]
    lines = [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1]
    assert 20 in lines
    assert axes.get_xscale() == "log"
    assert axes.get_xlim()[0] < 17
    assert any("20.0 ms, 50 Hz" in text.get_text() for text in axes.texts)


def test_expressions_without_change_are_counted() -> None:
    figure = times_of({"Ada": [20, math.nan, math.inf], "Ben": [math.nan]}, 20)
    said = [text.get_text() for text in figure.axes[0].texts]
    assert "+ 2 without change" in said
    assert "no expression changes" in said
    assert to_png(figure).startswith(b"\x89PNG")


def test_nothing_changes_at_all() -> None:
    figure = times_of({"Ada": [math.nan]}, math.nan)
    assert "no expression changes" in [text.get_text() for text in figure.axes[0].texts]
    assert to_svg(figure)


@pytest.mark.parametrize("actors", [1, 13])
def test_few_and_many_actors(actors: int) -> None:
    rng = np.random.default_rng(0)
    times = {f"a rather long name of actor {k}": rng.lognormal(4, 1, 61) for k in range(actors)}
    own = {name: (one.min(), 0.9 * one.min(), math.inf) for name, one in times.items()}
    figure = times_of(times, 11, (9, math.inf), own=own)
    assert len(figure.axes[0].get_yticklabels()) == actors
    assert to_png(figure)


def test_hostile_times() -> None:
    with pytest.raises(InputError, match="there is no actor"):
        times_of({}, 20)
    with pytest.raises(InputError, match="Ada: a time of -3 ms"):
        times_of({"Ada": [-3.0, 5.0]}, 20)
    nothing = {key: [1.0] for key in ("latency_ms", "below", "low", "high")}
    with pytest.raises(InputError, match="expected the group 'all'"):
        draw_figure("latency", {"group": ["Ada"], **nothing})


def test_a_marked_delay_says_its_share() -> None:
    columns = {
        "group": ["all"] * 3 + ["Ada"] * 3,
        "latency_ms": [0, 20, 40] * 2,
        "below": [1, 0.9, 0.5, 1, 1, 0],
        "low": [1, 0.8, 0.4, None, None, None],
        "high": [1, 0.95, 0.6, None, None, None],
    }
    figure = draw_figure("latency", columns, marked=[10, 40])
    said = [text.get_text() for text in figure.axes[0].texts]
    assert said == ["10 ms: 95 %", "40 ms: 50 %"]
    assert to_png(figure)


def test_the_first_frame_at_one_jnd_is_marked() -> None:
    figure = strips(("Ada", [0, 33, 67, 100], [0, 0.6, 1.0, 1.8]))
    framed = [axes.spines["left"].get_visible() for axes in figure.axes]
    assert framed == [False, False, True, False]
    assert to_png(figure).startswith(b"\x89PNG")


def test_a_long_strip_keeps_the_first_and_those_around_the_mark() -> None:
    figure = strips(
        ("Ada", np.arange(12) * 10.0, np.arange(12) / 11), ("Ben", [0.0, 10.0], [0, 0.2])
    )
    shown = [axes.texts[0].get_text() for axes in figure.axes]
    assert shown == ["0 ms", *(f"{10 * k} ms" for k in range(3, 12)), "0 ms", "10 ms"]
    assert [axes.spines["left"].get_visible() for axes in figure.axes].index(True) == 9


def test_hostile_strips() -> None:
    with pytest.raises(InputError, match="0 pictures for 0 frames"):
        strips()
    columns = {"actor": ["Ada"], "expression": ["joy"], "since_ms": [0], "jnds": [0]}
    with pytest.raises(InputError, match="2 pictures for 1 frames"):
        draw_figure("jnd_strips", columns | {"time_ms": [1]}, images=FACES[:2])
