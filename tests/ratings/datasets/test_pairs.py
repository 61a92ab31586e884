"""Comparisons of pairs, as they lie in tables, go to the statistics of preference."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.ratings.datasets.test_annotation_tools import left_out, read

from affectlab.core.errors import InputError
from affectlab.evaluation.preference import (
    item_table,
    preference_scale,
    preference_verdicts,
    preferences,
)

LEFT_RIGHT = "left,right,choice,judge\nx,y,x,ann\ny,x,left,bo\nx,y,tie,cy\nx,y,Left,di\n"


def test_left_and_right(tmp_path: Path) -> None:
    r = read(tmp_path, LEFT_RIGHT, "pairs.csv")
    assert r.scale.categories == ("A", "B", "tie")
    assert r.frame.select("rater", "value", "left").rows() == [
        ("ann", 0.0, "x"),
        ("bo", 1.0, "y"),
        ("cy", 2.0, "x"),
        ("di", 0.0, "x"),
    ]
    found = preferences(r)
    assert found.choices == ("x", "y", "tie")
    assert found.votes.tolist() == [[2.0, 1.0, 1.0]]
    # Three of three decided votes were for what stood on the left.
    side = found.frame.filter(found.frame["about"] == "side")
    assert side["count"].to_list() == [3]


@pytest.mark.parametrize(
    "text",
    [
        "winner,loser,judge\nx,y,ann\ny,z,ann\nz,x,ann\nx,z,bo\n",
        "worker,left,right,label\nann,x,y,x\nann,z,y,y\nann,z,x,z\nbo,x,z,x\n",
        "Left,Right,Winner,Annotator\nx,y,left,ann\nz,y,right,ann\nz,x,a,ann\nx,z,left,bo\n",
    ],
)
def test_three_forms_of_one_table(tmp_path: Path, text: str) -> None:
    r = read(tmp_path, text, "pairs.csv")
    assert r.stimuli.select("stimulus", "A", "B").sort("stimulus").rows() == [
        ("x | y", "x", "y"),
        ("x | z", "x", "z"),
        ("y | z", "y", "z"),
    ]
    said = {
        (s, who): value for s, who, value in r.frame.select("stimulus", "rater", "value").rows()
    }
    assert said == {
        ("x | y", "ann"): 0.0,
        ("y | z", "ann"): 0.0,
        ("x | z", "ann"): 1.0,
        ("x | z", "bo"): 0.0,
    }
    assert set(preference_scale(r, target="sample").frame["system"]) == {"x", "y", "z"}


def test_items_stand_apart(tmp_path: Path) -> None:
    text = "prompt,left,right,choice,judge\np1,x,y,x,ann\np2,y,x,x,ann\np2,y,z,z,ann\n"
    r = read(tmp_path, text, "pairs.csv")
    assert r.stimulus_names == ("p1", "p2: x | y", "p2: y | z")
    assert r.stimuli["item"].to_list() == ["p1", "p2", "p2"]


def test_rows_without_judges_are_judges_of_their_own(tmp_path: Path) -> None:
    r = read(tmp_path, "winner,loser\nx,y\nx,y\ny,x\n", "pairs.csv")
    assert r.n_raters == 3
    assert r.history == ("no column names judges: each row is taken as a judge of its own",)
    assert preferences(r).votes.tolist() == [[2.0, 1.0]]


def test_what_is_no_comparison_is_named(tmp_path: Path) -> None:
    text = LEFT_RIGHT + "x,y,z,ev\nx,x,x,fi\nx,,x,gu\n"
    with pytest.raises(InputError, match="line 6: 'z' is neither 'x' nor 'y'; expected one of"):
        read(tmp_path, text, "pairs.csv")
    r = read(tmp_path, text, "pairs.csv", on_bad="set_aside")
    assert left_out(r) == {
        "choice not understood": 1,
        "compared with itself": 1,
        "right is empty": 1,
    }


QUESTIONS = (
    "item,left,right,choice,judge\nq1,x,y,left,j1\nq2,y,x,left,j1\nq3,x,y,right,j2\n"
    "q4,y,x,tie,j2\nq4,y,z,left,j2\n"
)


def test_pairs_with_items_are_compared(tmp_path: Path) -> None:
    r = read(tmp_path, QUESTIONS, "pairs.csv")
    found = preferences(r, systems=["x", "y"])
    assert found.choices == ("x", "y", "tie")
    assert found.votes.sum(axis=0).tolist() == [1.0, 2.0, 1.0]
    assert len(preference_verdicts(r, systems=["x", "y"]).frame)
    scale = preference_scale(r)
    assert set(scale.frame["system"]) == {"x", "y", "z"}
    # Items may be what belongs together.
    assert preference_scale(r, cluster="item").frame["value"].equals(scale.frame["value"])


def test_the_table_of_items_names_stimuli(tmp_path: Path) -> None:
    r = read(tmp_path, QUESTIONS, "pairs.csv")
    assert item_table(r)["item"].to_list() == list(r.stimulus_names)
