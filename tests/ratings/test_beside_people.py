"""Stimuli and labels of models are called as people's: by one rule, said, and refused in doubt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.ratings.told import facts, holds

from affectlab.core.errors import InputError
from affectlab.evaluation import alignment
from affectlab.ratings import Ratings, Scale, StepKind, read_models
from affectlab.ratings.beside.people import bare_name, beside_people, load_label_map

FACES = tuple(f"img{k}" for k in range(4))


def people(labels: tuple[str, ...] = ("joy", "anger"), stimuli: tuple[str, ...] = FACES) -> Ratings:
    rows = [
        (stimulus, rater, label, float((3 * s + 2 * r + k) % 8))
        for s, stimulus in enumerate(stimuli)
        for r, rater in enumerate(("ann", "bo", "cy"))
        for k, label in enumerate(labels)
    ]
    names = ("stimulus", "rater", "label", "value")
    return Ratings(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), scale="0-7")


def net(stimuli: tuple[str, ...], **more: Any) -> Ratings:
    n = len(stimuli)
    return Ratings(
        {
            "stimulus": list(stimuli) * 2,
            "rater": ["net"] * 2 * n,
            "label": ["joy"] * n + ["anger"] * n,
            "value": [float(k % 8) for k in range(2 * n)],
            **more,
        },
        scale="0-7",
    )


def test_the_same_names_are_joined_without_a_word() -> None:
    table = net((*FACES, "other/img0.jpg"))
    assert beside_people(table, people()) is table


def test_names_are_joined_without_folder_and_suffix() -> None:
    found = beside_people(net(tuple(f"faces\\\\{name}.JPG" for name in FACES)), people())
    assert found.stimulus_names == FACES
    assert holds(found.history[-1], StepKind.STIMULI_JOINED, by="name", n=4, of=4)
    result = alignment(people(), net(tuple(f"{name}.png" for name in FACES)))
    assert any("without folder and suffix: 4 of 4" in note for note in result.notes)


def test_names_that_would_become_one_are_refused() -> None:
    both = net(("a/img0.jpg", "b/img0.jpg"))
    with pytest.raises(InputError, match=r"'a/img0\.jpg', 'b/img0\.jpg' share"):
        beside_people(both, people())
    with pytest.raises(InputError, match=r"'x/img0\.png', 'y/img0\.png' share"):
        beside_people(net(("img0",)), people(stimuli=("x/img0.png", "y/img0.png")))


def test_texts_are_joined_where_names_are_not() -> None:
    texts = ("What a day.", "He left. Then he came back", "no", "Yes!")
    asked = people().with_stimuli({"stimulus": list(FACES), "text": list(texts)})
    found = beside_people(net(tuple(text.upper() for text in texts)), asked)
    assert found.stimulus_names == FACES
    assert holds(found.history[-1], StepKind.STIMULI_JOINED, by="text", n=4, of=4)


def test_what_is_no_file_keeps_its_name() -> None:
    for name in ("He left. Then", "v1.2", "and/or it is", "a / b", "Hm..."):
        assert bare_name(name) in (name, "or it is")


def test_words_that_mean_the_same_are_one_label_and_a_map_goes_first(tmp_path: Path) -> None:
    file = tmp_path / "net.csv"
    file.write_text("image,happy,mad\n" + "".join(f"{name}.png,.5,.25\n" for name in FACES))
    (found,) = read_models(file, people(), scale="0-1 interval")
    assert (found.label_names, found.stimulus_names) == (("joy", "anger"), FACES)
    pairs = {"words": ("happy", "mad"), "labels": ("joy", "anger")}
    assert any(holds(one, StepKind.LABELS_MATCHED, **pairs) for one in found.history)
    (found,) = read_models(file, people(), scale="0-1 interval", label_map="happy=anger,mad=joy")
    assert found.label_names == ("anger", "joy")
    with pytest.raises(InputError, match="unknown label of people 'angr'; did you mean 'anger'"):
        read_models(file, people(), label_map={"mad": "angr"})
    with pytest.raises(InputError, match="unknown label of models 'hapy'; did you mean 'happy'"):
        read_models(file, people(), label_map={"hapy": "joy"})
    with pytest.raises(InputError, match="expected pairs such as"):
        load_label_map("happy=")


def test_two_words_for_one_label_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "net.csv"
    file.write_text(
        "image,happy,happiness,anger\n" + "".join(f"{n},{k},2,3\n" for k, n in enumerate(FACES))
    )
    (found,) = read_models(file, people())
    assert "joy" not in found.label_names


def test_further_labels_of_models_are_no_error(tmp_path: Path) -> None:
    asked = people(("amusement", "contentment", "awe", "fear"))
    file = tmp_path / "net.csv"
    file.write_text("image,fear,awe,neutral\n" + "".join(f"{n},.1,.2,.7\n" for n in FACES))
    (found,) = read_models(file, asked)
    assert {"fear", "awe"} <= {*found.label_names}


def test_one_label_is_the_one_question() -> None:
    asked = Ratings({"stimulus": FACES, "rater": ["ann"] * 4, "value": [1, 2, 3, 4]}, scale="1-5")
    one = net(FACES).select(labels="joy")
    assert not beside_people(one, asked).has_labels
    unlabelled = beside_people(asked, one)
    assert unlabelled.label_names == ("joy",)
    assert beside_people(net(FACES), asked).has_labels


def test_counts_of_votes_are_shares(tmp_path: Path) -> None:
    words = ["joy", "anger", "fear", "joy"] * 3
    asked = Ratings(
        {
            "stimulus": [s for s in FACES for _ in range(3)],
            "rater": ["a", "b", "c"] * 4,
            "value": words,
        }
    )
    file = tmp_path / "vlm.csv"
    file.write_text("image,joy,anger,fear\nimg0,7,2,1\nimg1,0,10,0\nimg2,3,3,4\nimg3,5,0,5\n")
    (found,) = read_models(file, asked)
    assert found.scale == Scale("interval", 0.0, 1.0)
    assert found.matrix("joy").ravel().tolist() == [0.7, 0.0, 0.3, 0.5]
    assert facts(found, StepKind.DIVIDED) == {"total": 10.0}
    (found,) = read_models(file, asked, scale="0-10 interval")
    assert found.matrix("joy").ravel().tolist() == [7, 0, 3, 5]


def test_a_face_model_as_it_writes_stands_beside_people(tmp_path: Path) -> None:
    rows = [
        {
            "image": f"faces/{name}.jpg",
            "expressions": {"happy": 0.7, "angry": 0.1, "surprised": 0.1, "fearful": 0.1},
        }
        for name in FACES
    ]
    (tmp_path / "faces.json").write_text(json.dumps(rows))
    (found,) = read_models(tmp_path / "faces.json", people())
    assert (found.rater_names, found.stimulus_names) == (("face-api",), FACES)
    assert {"joy", "anger"} <= {*found.label_names}
    vader = "text,neg,neu,pos,compound\n" + "".join(f"{name},0,.5,.5,.25\n" for name in FACES)
    (tmp_path / "scores.csv").write_text(vader)
    (found,) = read_models(tmp_path / "scores.csv", people(("valence",)))
    assert (found.label_names, str(found.scale)) == (("valence",), "interval -1 to 1")


def test_a_scale_may_be_said_of_what_a_program_wrote(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    rows = "".join(f"{name},0,.5,.5,.25\n" for name in FACES)
    file.write_text(f"id,neg,neu,pos,compound\n{rows}")
    (found,) = read_models(file, people(("valence",)), scale="-2..2 interval")
    assert (str(found.scale), found.rater_names) == ("interval -2 to 2", ("VADER",))


def test_two_files_of_one_program_need_names(tmp_path: Path) -> None:
    rows = "".join(f"{name},0,.5,.5,.25\n" for name in FACES)
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file in files:
        file.write_text(f"id,neg,neu,pos,compound\n{rows}")
    with pytest.raises(InputError, match=r"both hold answers of 'VADER' about 'img0'"):
        read_models(files, people(("valence",)))
