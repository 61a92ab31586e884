"""The printed figures of GoEmotions, and what contradicts what among them."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.recipes import Finding, load_published
from affectlab.recipes.goemotions.agreement import printed_agreement
from affectlab.recipes.goemotions.data import KEPT
from affectlab.recipes.goemotions.words import PRINTED
from affectlab.recipes.reproduction import Comparison

pytestmark = pytest.mark.long

PUBLISHED = load_published("goemotions")
FIGURE = {one.key: one for one in PUBLISHED.figure}
VALUE = {key: one.value for key, one in FIGURE.items()}


def of_table(table: str) -> list[float]:
    """F1 of the rows of a table, its averages left out."""
    cells = [key for key in VALUE if key.startswith(f"{table}.") and key.endswith(".f1")]
    return [VALUE[key] for key in cells if key.split(".")[1] not in ("macro", "std")]


# -- printed ---------------------------------------------------------------------------------------


def test_printed_figures_are_those_of_the_paper() -> None:
    names = ("examples", "emotions", "raters", "agree2", "agree3")
    assert [VALUE[f"data.{name}"] for name in names] == [58009, 27, 82, 54263, 17763]
    assert VALUE["data.agree2"] == KEPT
    assert VALUE["data.agree3"] / VALUE["data.examples"] == pytest.approx(0.31, abs=0.005)
    assert [VALUE[f"data.answers.{number}"] for number in ("1", "2", "3", "4")] == [
        0.83,
        0.15,
        0.02,
        0.002,
    ]


@pytest.mark.parametrize(("table", "rows"), [("table4", 28), ("table5", 4), ("table6", 6)])
def test_printed_averages_are_those_of_the_rows(table: str, rows: int) -> None:
    f1 = of_table(table)
    assert len(f1) == rows
    # Rows and average are rounded.
    assert np.mean(f1) == pytest.approx(VALUE[f"{table}.macro.f1"], abs=0.01)
    assert np.std(f1, ddof=1) == pytest.approx(VALUE[f"{table}.std.f1"], abs=0.01)


def test_what_the_paper_contradicts_is_marked() -> None:
    marked = {key for key, one in FIGURE.items() if one.is_marked}
    assert marked == {
        "data.neutral_share",
        "split.kept",
        "ppca.alpha",
        "words.listed_z",
        "table4.realization.f1",
    }
    assert round(100 * VALUE["data.agree2"] / VALUE["data.examples"]) != 93
    assert round(0.05 / 27, 4) != VALUE["ppca.alpha"]
    assert FIGURE["table6.macro.f1"].note.startswith("lost")


def test_table_7_orders_emotions_almost_as_the_text_does() -> None:
    printed = printed_agreement()
    order = sorted(zip(printed.correlation, printed.labels, strict=True))
    assert [name for _, name in order[-3:]] == ["amusement", "admiration", "gratitude"]
    # The text says grief and nervousness.
    assert [name for _, name in order[:3]] == ["grief", "pride", "nervousness"]
    assert printed.pearson == pytest.approx(0.852, abs=5e-4)


def test_table_3_is_the_same_in_both_places() -> None:
    assert set(PRINTED) == {key.split(".")[1] for key in VALUE if key.endswith(".kappa")}
    assert sum(map(len, PRINTED.values())) == VALUE["words.listed"] == 129
    for label, words in PRINTED.items():
        assert VALUE[f"words.{label}.found"] == len(words)
        first, z = next(iter(words.items()))
        assert VALUE[f"words.{label}.z"] == z == max(words.values())
        assert f"'{first}'" in FIGURE[f"words.{label}.z"].name


def test_a_doubt_about_one_figure_leaves_it_without_verdict() -> None:
    figure = FIGURE["data.emotions"]
    assert Comparison(figure, Finding(27.0), own_data=True).verdict == "reproduced"
    assert Comparison(figure, Finding(26.0), own_data=True).verdict == "differs"
    doubtful = Finding(26.0, doubt="half of the data")
    assert Comparison(figure, doubtful, own_data=True).verdict == "no verdict: half of the data"
    both = Comparison(figure, doubtful, own_data=True, doubt="other data")
    assert both.verdict == "no verdict: other data"
