"""Reliability diagrams say what was measured: places, gaps, counts and words."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.core.render.svg import to_png, to_svg
from affectlab.evaluation import calibration
from affectlab.report import draw_figure


@pytest.fixture
def measured():
    rng = np.random.default_rng(0)
    sure = rng.uniform(0.3, 1, 400)
    return calibration(sure, rng.random(400) < sure**2, n_bins=10)


def draw(found, **options):
    return draw_figure("reliability", found.bins, **options)


def test_dots_stand_where_the_bins_are(measured):
    figure = draw(measured, ece=measured["ece"].value, title="net")
    above, below = figure.axes
    dots = above.collections[-1].get_offsets()
    known = measured.bins.drop_nans(["confidence"])
    assert np.allclose(dots, known.select("confidence", "share").to_numpy())
    heights = [bar.get_height() for bar in below.patches]
    assert heights == measured.bins["n"].to_list()
    assert sum(heights) == 400
    assert above.get_title(loc="right") == f"ECE {measured['ece'].value:.3f}"


def test_gaps_join_confidence_and_outcome(measured):
    above = draw(measured).axes[0]
    gaps = np.array([path.vertices[:, 1] for path in above.collections[0].get_paths()])
    known = measured.bins.drop_nans(["confidence"])
    assert np.allclose(gaps, known.select("confidence", "share").to_numpy())
    assert np.abs(np.diff(gaps)).max() == pytest.approx(measured["max_calibration_error"].value)


def test_the_key_names_what_came_true(measured):
    figure = draw(measured, outcome_name="share of people who agree")
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["share of people who agree", "gap to the confidence"]
    assert figure.axes[0].get_ylabel() == "share of people who agree"
    empty = {key: [np.nan] for key in ("confidence", "share", "share_low", "share_high")}
    nothing = draw_figure("reliability", {"low": [0], "high": [1], "n": [0], **empty})
    assert not nothing.legends


def test_drawn_alike_twice_and_names_are_text(measured):
    first, second = (draw(measured, title="<b>net</b> & co") for _ in range(2))
    assert to_svg(first) == to_svg(second)
    assert to_png(first) == to_png(second)
    assert "&lt;b&gt;net" in to_svg(first)
