"""Socratis: free reactions to images with captions."""

from __future__ import annotations

import json

import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import read_ratings


def entry(emotions, explanations, *who, image="bbc/1.jpg", caption="Storm hits the coast"):
    return [image, caption, emotions, explanations, *who]


def write(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_one_row_per_reaction(tmp_path):
    content = {
        "17": [
            entry(
                ["sad", "awe"], ["homes lost", "its power"], {"age": "30-40", "gender": "female"}
            ),
            entry(["sad"], ["homes lost"], None),
        ],
        "18": [entry("calm", "blue sea", image="cc/2.jpg", caption="A beach")],
    }
    r = read_ratings(write(tmp_path / "reactions.json", content))
    assert r.scale.kind == "text"
    assert not r.has_labels
    assert r.frame.select("stimulus", "rater", "trial", "emotion", "text").rows() == [
        ("17", "17/1", 1, "sad", "homes lost"),
        ("17", "17/1", 2, "awe", "its power"),
        ("17", "17/2", 1, "sad", "homes lost"),
        ("18", "18/1", 1, "calm", "blue sea"),
    ]
    assert r.n_ratings == 4
    assert r.stimuli.rows() == [
        ("17", "bbc/1.jpg", "Storm hits the coast"),
        ("18", "cc/2.jpg", "A beach"),
    ]
    assert r.raters["age"].to_list() == ["30-40", None, None]


def test_same_reaction_twice_is_kept(tmp_path):
    r = read_ratings(
        write(tmp_path / "r.json", {"1": [entry(["sad", "sad"], ["why", "why"])]}),
        format="socratis",
    )
    assert r.n_ratings == 2


def test_worker_in_the_demographics_links_pairs(tmp_path):
    content = {
        "1": [entry(["sad"], ["a"], {"worker_id": 7, "age": "20-30"})],
        "2": [entry(["sad"], ["b"], {"worker_id": 7, "location": "Europe"})],
    }
    r = read_ratings(write(tmp_path / "r.json", content), format="socratis")
    assert r.rater_names == ("7",)
    assert r.raters.row(0, named=True) == {
        "rater": "7",
        "rater_kind": "human",
        "age": "20-30",
        "location": "Europe",
    }


@pytest.mark.parametrize(
    ("who", "found"), [("F, 30", "F, 30"), (["F", "30"], "F, 30"), ([], None), ("", None)]
)
def test_demographics_of_any_form(tmp_path, who, found):
    content = {"1": [entry(["sad"], ["a"], who), entry(["sad"], ["a"], "M, 40")]}
    r = read_ratings(write(tmp_path / "r.json", content), format="socratis")
    assert r.raters["demographics"].to_list() == [found, "M, 40"]


def test_word_without_explanation_is_counted(tmp_path):
    r = read_ratings(
        write(tmp_path / "r.json", {"1": [entry(["sad", "awe", ""], ["a", "", ""])]}),
        format="socratis",
    )
    assert r.n_ratings == 1
    assert [(part.count, part.reason) for part in r.set_aside] == [(2, "no answer")]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (entry([3], ["a"]), "key '1' entry 2: emotions is [3]; expected a list of texts"),
        (entry(["a"], 4), "key '1' entry 2: explanations is 4; expected a list of texts"),
        (["a.jpg", "caption"], "key '1' entry 2: ['a.jpg', 'caption'] is no reaction; expected"),
        (
            entry(["a", "b"], ["c"]),
            "key '1' entry 2: 2 emotions and 1 explanation; expected as many of one",
        ),
        (entry([], ["c"]), "key '1' entry 2: 0 emotions and 1 explanation"),
        (entry(["a"], ["b"], image=None), "key '1' entry 2: image is None; expected text"),
        ("text", "key '1' entry 2: 'text' is no reaction"),
    ],
)
def test_bad_entries(tmp_path, bad, said):
    file = write(tmp_path / "r.json", {"1": [entry(["sad"], ["a"]), bad]})
    with pytest.raises(InputError) as error:
        read_ratings(file)
    assert str(error.value).startswith(f"{file}, {said}")
    r = read_ratings(file, on_bad="set_aside")
    assert r.n_ratings == 1
    assert [part.count for part in r.set_aside] == [1]


def test_cut_file_and_wrong_pair(tmp_path):
    file = write(tmp_path / "r.json", {"1": [entry(["sad"], ["a"])], "2": [entry(["b"], ["c"])]})
    file.write_text(file.read_text()[:-20])
    with pytest.raises(InputError, match=r"r\.json, line 1: not valid JSON"):
        read_ratings(file)
    with pytest.raises(InputError, match="key '2': 5 is no list of reactions"):
        read_ratings(write(tmp_path / "s.json", {"1": [entry(["sad"], ["a"])], "2": 5}))


def test_other_json_is_not_taken(tmp_path):
    file = write(tmp_path / "x.json", {"scale": [[1, 2, 3, 4]]})
    with pytest.raises(InputError, match="column 'scale' holds lists"):
        read_ratings(file)


def test_annotators_without_emotions_are_counted(tmp_path):
    content = {"1": [entry([], [], {"age": "30"}), entry(["sad"], ["a"]), entry([], [])]}
    r = read_ratings(write(tmp_path / "r.json", content), format="socratis")
    assert r.n_ratings == 1
    assert [(part.count, part.reason) for part in r.set_aside] == [(2, "no emotion named")]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_round_trip(tmp_path, suffix):
    content = {
        "17": [
            entry(["Sad", "a bit, lost"], ['it\'s "gone"', "line\nbreak é 😀"], {"age": "30-40"})
        ],
        "18": [
            entry(["sad"], ["x y"], image="b.jpg", caption="Other, caption"),
            entry(["=1+1"], ["-"]),
        ],
    }
    r = read_ratings(write(tmp_path / "r.json", content), format="socratis")
    again = read_ratings(r.write(tmp_path / f"r.{suffix}"))
    assert again.to_frame().select(r.to_frame().columns).equals(r.to_frame())
    assert again.stimuli["caption"].to_list() == r.stimuli["caption"].to_list()
