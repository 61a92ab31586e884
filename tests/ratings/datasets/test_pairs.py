"""Comparisons of pairs, as they lie in tables, go to the statistics of preference."""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl
import pytest
from tests.ratings.datasets.test_annotation_tools import left_out, read
from tests.ratings.told import guessing

from affectlab.core.errors import InputError
from affectlab.evaluation.preference import (
    item_table,
    preference_scale,
    preference_verdicts,
    preferences,
)
from affectlab.ratings import GuessedColumnsWarning, StepKind, read_ratings
from affectlab.ratings.files import Peek
from affectlab.ratings.formats import load_format
from affectlab.ratings.steps import step

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
    assert r.history == (step(StepKind.ROWS_ARE_RATERS, who="judges"),)
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


SHAPES = {
    "systems": "item,judge,system_a,system_b,preference\ni1,j,x,y,A\ni2,j,y,x,B\ni3,j,x,y,tie\n",
    "models": (
        "question_id,model_a,model_b,winner,judge,turn,tstamp\n"
        "i1,x,y,model_a,j,1,10.5\ni2,y,x,model_b,j,3,11.5\ni3,x,y,tie,j,1,12.5\n"
    ),
    "winners": (
        "prompt,model_a,model_b,response_a,response_b,winner_model_a,winner_model_b,winner_tie,judge"
        "\ni1,x,y,hi,ho,1,0,0,j\ni2,y,x,ha,he,0,1,0,j\ni3,x,y,hu,hi,0,0,1,j\n"
    ),
    "responses": (
        "prompt_id,annotator,response_a,response_b,choice\ni1,j,x,y,response_a\ni2,j,y,x,B\n"
        "i3,j,x,y,tie\n"
    ),
    "letters": "item,judge,a,b,winner\ni1,j,x,y,x\ni2,j,y,x,b\ni3,j,x,y,draw\n",
    "first": "item,judge,first,second,choice\ni1,j,x,y,x\ni2,j,y,x,second\ni3,j,x,y,same\n",
    "numbers": "item,judge,option1,option2,answer\ni1,j,x,y,1\ni2,j,y,x,2\ni3,j,x,y,tie\n",
}


@pytest.mark.parametrize("name", SHAPES)
def test_sides_by_any_name(tmp_path: Path, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuessedColumnsWarning)
        r = read(tmp_path, SHAPES[name], "pairs.csv")
    assert r.stimulus_names == ("i1", "i2", "i3")
    assert r.rater_names == ("j",)
    assert set(r.frame.columns) == {"stimulus", "rater", "value", "left"}
    assert preferences(r).choices == ("x", "y", "tie")
    assert preferences(r).votes.sum(axis=0).tolist() == [2.0, 0.0, 1.0]
    # The same columns in a table of objects, with what no table of ratings can hold beside them.
    frame = pl.read_csv(SHAPES[name].encode()).with_columns(talk_a=[["x"]] * 3, talk_b=[[1]] * 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuessedColumnsWarning)
        assert read_ratings(frame).value.tolist() == r.value.tolist()
        frame.write_ndjson(tmp_path / "pairs.jsonl")
        assert read_ratings(tmp_path / "pairs.jsonl").value.tolist() == r.value.tolist()


def test_a_guess_of_the_sides_is_told(tmp_path: Path) -> None:
    with guessing(StepKind.SIDES, left="a", right="b"):
        read(tmp_path, SHAPES["letters"], "pairs.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, SHAPES["models"], "pairs.csv")


def test_both_bad_is_neither(tmp_path: Path) -> None:
    text = "model_a,model_b,winner,judge\nx,y,model_a,j\nx,z,tie (bothbad),j\ny,z,both_bad,j\n"
    r = read(tmp_path, text, "pairs.csv")
    assert r.scale.categories == ("A", "B", "neither")
    assert r.value.tolist() == [0.0, 2.0, 2.0]


def test_more_than_one_winner_is_named(tmp_path: Path) -> None:
    text = SHAPES["winners"].replace("0,1,0,j", "1,1,0,j")
    said = "line 3: 2 of winner_model_a, winner_model_b, winner_tie are 1; expected one of them"
    with pytest.raises(InputError, match=said):
        read(tmp_path, text, "pairs.csv", format="pairs")


def test_turns_of_a_conversation_are_items(tmp_path: Path) -> None:
    text = (
        "question_id,model_a,model_b,winner,judge,turn\n"
        "81,x,y,model_a,j,1\n81,x,y,tie,j,2\n82,x,y,model_b,j,1\n"
    )
    with guessing(StepKind.TURNS, column="turn"):
        r = read(tmp_path, text, "pairs.csv")
    assert r.stimulus_names == ("81 turn 1", "81 turn 2", "82 turn 1")


@pytest.mark.parametrize("column", ["session", "trial", "trial_kind"])
def test_what_tells_answers_apart_is_read(tmp_path: Path, column: str) -> None:
    first, second = ("main", "repeat") if column == "trial_kind" else ("1", "2")
    text = f"left,right,choice,judge,{column}\nx,y,x,j,{first}\nx,y,y,j,{second}\n"
    r = read(tmp_path, text, "pairs.csv")
    assert r.n_rows == 2
    assert [str(cell) for cell in r.frame[column].to_list()] == [first, second]
    plain = text.replace(f",{column}", "").replace(f",{first}", "").replace(f",{second}", "")
    with pytest.raises(InputError, match="a second answer"):
        read(tmp_path, plain, "pairs.csv")


@pytest.mark.parametrize(
    "text",
    [
        # Two models that name emotions, beside what people chose.
        "item,choice,model_a,model_b\n1,joy,joy,joy\n2,fear,joy,fear\n3,joy,joy,joy\n",
        "item,label,model_a,model_b\n1,joy,joy,fear\n2,fear,joy,fear\n",
        # Ratings of two options, and which is liked more.
        "item,rater,a,b,choice\n1,r,3,5,b\n2,r,4,2,a\n",
        # Attributes of stimuli, which preferences understand, with others beside them.
        "item,judge,answer,A,B,topic\n1,j,A,x,y,sea\n1,k,both,x,y,sea\n2,j,B,y,x,sky\n",
        # Texts that come but once: no system is named.
        "item,judge,response_a,response_b,choice\n1,j,hi,ho,A\n2,j,ha,he,B\n",
    ],
)
def test_what_are_no_pairs(tmp_path: Path, text: str) -> None:
    file = tmp_path / "table.csv"
    file.write_text(text)
    assert not load_format("pairs").recognise(Peek.open(file))
