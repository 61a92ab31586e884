"""Figures of semi-supervised runs: every value that is drawn is one of the history."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.report import draw_figure

HISTORY: list[dict[str, float]] = [
    {
        "epoch": at + 1.0,
        "threshold": 0.9 - 0.1 * at,
        "utilisation": 0.2 * at,
        "pseudo_accuracy": math.nan if at == 0 else 0.5 + 0.1 * at,
        "pseudo_ecc": 0.6 + 0.1 * at,
        "pseudo_emc": 0.3,
        "switched": float(at >= 2),
    }
    for at in range(4)
]
PLAIN = [{"epoch": 1.0, "loss": 1.0, "switched": 1.0}]


QUALITY = {"pseudo_accuracy": "ACC", "pseudo_ecc": "ECC", "pseudo_emc": "EMC"}


def epochs(histories: Mapping[str, Sequence[Mapping[str, float]]], **values: str) -> Any:
    rows = [{"run": run, **entry} for run, entries in histories.items() for entry in entries]
    return draw_figure("epochs", pl.DataFrame(rows, infer_schema_length=None), values=values)


def curves(axes: Any) -> list[tuple[list[float], list[float]]]:
    """Lines that run over epochs, without single marks and vertical lines."""
    return [
        (list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.lines
        if line.get_linestyle() != "None" and len(set(line.get_xdata())) > 1
    ]


@pytest.mark.parametrize("name", ["threshold", "utilisation"])
def test_one_line_a_run(name: str) -> None:
    drawn = epochs({"emc": HISTORY, "supervised": PLAIN}, **{name: "what it is"})
    (axes,) = drawn.axes
    assert curves(axes) == [([1, 2, 3, 4], [entry[name] for entry in HISTORY])]
    # Where the loss changed, which the run of the key's second entry says.
    marks = [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1]
    assert 3 in marks
    said = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert said == ["emc", "another loss on labelled ones from here"]
    with pytest.raises(InputError, match=f"no history has '{name}'"):
        epochs({"supervised": PLAIN}, **{name: "what it is"})


def test_quality_leaves_gaps() -> None:
    drawn = epochs({"emc": HISTORY, "again": HISTORY}, **QUALITY)
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == ["ACC", "ECC", "EMC"]
    for axes, name in zip(drawn.axes, ("pseudo_accuracy", "pseudo_ecc", "pseudo_emc"), strict=True):
        found = curves(axes)
        assert len(found) == 2
        assert np.array_equal(found[0][1], [e[name] for e in HISTORY], equal_nan=True)
        assert axes.get_ylim() == drawn.axes[0].get_ylim()
    # Two runs that do the same are both seen.
    dashes = {
        line.get_linestyle()
        for line in drawn.axes[1].lines
        if len(np.asarray(line.get_xdata())) == 4
    }
    assert len(dashes) == 2


def test_an_epoch_between_gaps_is_a_mark() -> None:
    history = [
        {"epoch": at + 1.0, "threshold": value}
        for at, value in enumerate((math.nan, 0.5, math.nan, 0.6, 0.7))
    ]
    (axes,) = epochs({"run": history}, threshold="threshold").axes
    marks = [line for line in axes.lines if line.get_marker() == "o"]
    assert [np.asarray(line.get_ydata()).tolist() for line in marks] == [[0.5]]


def test_too_many_runs() -> None:
    with pytest.raises(InputError, match="25 runs; expected 24 at most"):
        epochs({str(at): HISTORY for at in range(25)}, threshold="threshold")
    drawn: list[Any] = list(
        epochs({str(at): HISTORY for at in range(24)}, threshold="threshold").axes[0].lines
    )
    styles = {
        (line.get_color(), str(line._dash_pattern)) for line in drawn if len(line.get_xdata()) == 4
    }
    assert len(styles) == 24
