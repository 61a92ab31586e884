"""Figures of JND times: what is drawn where, and input that does not fit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.core.render.drawing.svg import to_png, to_svg
from affectlab.report import JndStrip, fig_jnd_strip, fig_jnd_times, fig_latency
from affectlab.simulate import draw_face

FACES = [draw_face("joy", 1 - k / 12, size=48) for k in range(12)]


def test_the_line_is_the_chosen_interval() -> None:
    figure = fig_jnd_times({"Ada": [20, 40, 90], "Ben": [35, 60, 80]}, 20, (17, 24))
    axes = figure.axes[0]
    lines = [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1]
    assert 20 in lines
    assert axes.get_xscale() == "log"
    assert axes.get_xlim()[0] < 17
    assert any("20.0 ms, 50 Hz" in text.get_text() for text in axes.texts)


def test_expressions_without_change_are_counted() -> None:
    figure = fig_jnd_times({"Ada": [20, math.nan, math.inf], "Ben": [math.nan]}, 20)
    said = [text.get_text() for text in figure.axes[0].texts]
    assert "+ 2 without change" in said
    assert "no expression changes" in said
    assert to_png(figure).startswith(b"\x89PNG")


def test_nothing_changes_at_all() -> None:
    figure = fig_jnd_times({"Ada": [math.nan]}, math.nan)
    assert "no expression changes" in [text.get_text() for text in figure.axes[0].texts]
    assert to_svg(figure)


@pytest.mark.parametrize("actors", [1, 13])
def test_few_and_many_actors(actors: int) -> None:
    rng = np.random.default_rng(0)
    times = {f"a rather long name of actor {k}": rng.lognormal(4, 1, 61) for k in range(actors)}
    own = {name: (one.min(), 0.9 * one.min(), math.inf) for name, one in times.items()}
    figure = fig_jnd_times(times, 11, (9, math.inf), own=own)
    assert len(figure.axes[0].get_yticklabels()) == actors
    assert to_png(figure)


def test_hostile_times() -> None:
    with pytest.raises(InputError, match="there is no actor"):
        fig_jnd_times({}, 20)
    with pytest.raises(InputError, match="Ada: a time of -3 ms"):
        fig_jnd_times({"Ada": [-3.0, 5.0]}, 20)
    with pytest.raises(InputError, match="expected as many"):
        fig_latency([0, 10], [1.0], [1.0], [1.0])


def test_a_marked_delay_says_its_share() -> None:
    figure = fig_latency(
        [0, 20, 40], [1, 0.9, 0.5], [1, 0.8, 0.4], [1, 0.95, 0.6], groups={"Ada": [1, 1, 0]},
        marked=[10, 40],
    )  # fmt: skip
    said = [text.get_text() for text in figure.axes[0].texts]
    assert said == ["10 ms: 95 %", "40 ms: 50 %"]
    assert to_png(figure)


def test_the_first_frame_at_one_jnd_is_marked() -> None:
    strip = JndStrip("Ada, joy", FACES[:4], [0, 33, 67, 100], [0, 0.6, 1.0, 1.8])
    figure = fig_jnd_strip([strip])
    framed = [axes.spines["left"].get_visible() for axes in figure.axes]
    assert framed == [False, False, True, False]
    assert to_png(figure).startswith(b"\x89PNG")


def test_a_long_strip_keeps_the_first_and_those_around_the_mark() -> None:
    strip = JndStrip("Ada", FACES, np.arange(12) * 10.0, np.arange(12) / 11)
    never = JndStrip("Ben", FACES[:2], [0, 10], [0, 0.2])
    figure = fig_jnd_strip([strip, never])
    shown = [axes.texts[0].get_text() for axes in figure.axes]
    assert shown == ["0 ms", *(f"{10 * k} ms" for k in range(3, 12)), "0 ms", "10 ms"]
    assert [axes.spines["left"].get_visible() for axes in figure.axes].index(True) == 9


def test_hostile_strips() -> None:
    with pytest.raises(InputError, match="there is no strip"):
        fig_jnd_strip([])
    with pytest.raises(InputError, match="2 frames with 3 times"):
        fig_jnd_strip([JndStrip("Ada", FACES[:2], [0, 1, 2], [0, 1, 2])])
    with pytest.raises(InputError, match="0 frames"):
        fig_jnd_strip([JndStrip("Ada", [], [], [])])
