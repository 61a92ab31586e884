"""Expression differences in the layout after FaceExpressions-70k."""

from __future__ import annotations

import csv

import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import read_ratings

HEADER = (
    *("pair", "worker", "batch", "trial", "score", "golden", "repeat"),
    *("actor", "expression_a", "expression_b", "frame_a", "frame_b"),
)


def write(path, rows, header=HEADER):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def row(pair="p1", worker="w1", trial=1, score=50, golden=0, repeat=0, second="E041"):
    return (pair, worker, "17", trial, score, golden, repeat, "m1", "E041", second, 0, 12)


def test_trial_kinds_and_attributes(tmp_path):
    rows = [
        row(),
        row(trial=2, score=60, repeat=1),
        row("p2", trial=3, score=99, second="E003"),
        row("g1", trial=4, score=2, golden=1),
        row("p2", "w2", score=100, second="E003"),
    ]
    r = read_ratings(write(tmp_path / "scores.csv", rows))
    assert r.frame["trial_kind"].to_list() == ["main", "repeat", "main", "golden", "main"]
    assert str(r.scale) == "interval 0 to 100, step 1"
    assert r.answers().n_ratings == 3
    stimuli = {found["stimulus"]: found for found in r.stimuli.iter_rows(named=True)}
    assert stimuli["p1"]["kind"] == "intra"
    assert stimuli["p2"]["kind"] == "inter"
    assert (stimuli["p2"]["expression_a"], stimuli["p2"]["expression_b"]) == ("E041", "E003")
    assert r.frame["session"].to_list() == ["17"] * 5


def test_a_pair_may_come_again_in_another_session(tmp_path):
    header = ("pair", "worker", "session", "score", "golden")
    rows = [("g1", "w1", "a", 5, 1), ("g1", "w1", "b", 7, 1), ("p1", "w1", "a", 7, 0)]
    r = read_ratings(write(tmp_path / "s.csv", rows, header), format="face-expressions")
    assert r.n_ratings == 3


def test_columns_under_other_names(tmp_path):
    file = write(
        tmp_path / "s.csv", [("p1", "A1", 30, "x")], ("hit", "WorkerId", "Answer.score", "note")
    )
    names = {"pair": "hit", "worker": "WorkerId", "score": "Answer.score"}
    r = read_ratings(file, columns=names, format="face-expressions")
    assert (r.stimulus_names, r.rater_names, r.value.tolist()) == (("p1",), ("A1",), [30.0])
    assert r.stimuli["note"].to_list() == ["x"]
    with pytest.raises(InputError, match="unknown role 'wroker'; did you mean"):
        read_ratings(file, columns={"wroker": "WorkerId"}, format="face-expressions")
    with pytest.raises(InputError, match="line 1: unknown column 'Worker'; did you mean"):
        read_ratings(file, columns={"worker": "Worker"}, format="face-expressions")
    with pytest.raises(InputError, match="line 1: column 'pair' is missing; expected pair, worker"):
        read_ratings(file, format="face-expressions")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (row("p2", score=101), "line 3: value 101 is off the scale; expected interval 0 to 100"),
        (row("p2", score=33.5), "line 3: value 33.5 is off the scale"),
        (row("p2", score="very"), "line 3: value 'very' is not understood"),
        (row("p2", golden=2), "line 3: golden is '2'; expected 0 or 1"),
        (row("p2", golden="x"), "line 3: golden is 'x'; expected 0 or 1"),
        (row("p2", golden=1, repeat=1), "line 3: the trial is both golden and a repeat"),
        (row("p2")[:-1], "line 3: 11 fields, expected 12"),
    ],
)
def test_bad_rows(tmp_path, bad, said):
    file = write(tmp_path / "s.csv", [row(), bad])
    with pytest.raises(InputError) as error:
        read_ratings(file)
    assert str(error.value).startswith(f"{file}, {said}")
    r = read_ratings(file, on_bad="set_aside")
    assert r.n_ratings == 1
    assert sum(part.count for part in r.set_aside if part.unit in ("row", "cell")) == 1


def test_kind_is_checked(tmp_path):
    header = ("pair", "worker", "score", "kind")
    with pytest.raises(InputError, match="line 2: unknown kind 'intr'; did you mean 'intra'"):
        read_ratings(
            write(tmp_path / "s.csv", [("p", "w", 3, "intr")], header), format="face-expressions"
        )


@pytest.mark.parametrize("name", ["stimulus", "rater", "value", "label", "trial_kind"])
def test_other_columns_do_not_replace_those_of_the_layout(tmp_path, name):
    file = write(tmp_path / "s.csv", [("p", "w", 3, 99)], ("pair", "worker", "score", name))
    with pytest.raises(InputError, match=f"line 1: column '{name}' would stand beside"):
        read_ratings(file, format="face-expressions")


def test_wrong_kind_can_be_set_aside(tmp_path):
    rows = [("p", "w", 3, "intr"), ("q", "w", 3, "inter")]
    file = write(tmp_path / "s.csv", rows, ("pair", "worker", "score", "kind"))
    r = read_ratings(file, on_bad="set_aside", format="face-expressions")
    assert r.stimulus_names == ("q",)
    assert [(part.count, part.places) for part in r.set_aside] == [(1, ("line 2",))]
