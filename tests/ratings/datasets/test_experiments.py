"""Trials of experiments: which are ratings, and what the others are.

The first file of PsychoPy was made by PsychoPy 2026.2.5, the others by hand from the documentation
of the tools.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.ratings.datasets.survey_samples import PSYCHOPY, table, trial
from tests.ratings.told import guessing

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, StepKind, read_ratings
from affectlab.ratings.steps import step

Read = Callable[..., Ratings]
pytestmark = pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedScalesWarning")


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def write_and_read(content: str, name: str = "r.csv", **options: object) -> Ratings:
        (tmp_path / name).write_text(content, encoding="utf-8")
        return read_ratings(tmp_path / name, **options)  # type: ignore[arg-type]

    return write_and_read


def rows(r: Ratings) -> list[tuple[object, ...]]:
    names = [name for name in ("stimulus", "rater", "label", "value") if name in r.frame.columns]
    return r.frame.select(names).rows()


def test_components_of_psychopy_are_labels(read: Read) -> None:
    r = read(PSYCHOPY)
    assert rows(r) == [("a.jpg", "p1", "slider", 2.0), ("b.jpg", "p1", "slider", 3.0)]
    assert r.frame["rt_ms"].to_list() == [500, 700]
    assert r.stimuli["emotion"].to_list() == ["joy", "fear"]
    assert r.raters["age"].to_list() == [31]
    assert [str(part) for part in r.set_aside] == [
        "1 row: answer without a stimulus, as in instructions (line 2)",
        "2 cells: key that only goes on (line 3, line 4)",
    ]


def test_a_column_of_psychopy_may_say_which_file_was_shown(read: Read) -> None:
    """Files are the same in all trials of a person, and ``$eval(shown)`` takes one of them."""
    text = (
        "threat,safe,shown,trials.thisN,slider.response,participant,psychopyVersion\n"
        "a.png,b.png,threat,0,5,p1,2023.1\n"
        "a.png,b.png,safe,1,2,p1,2023.1\n"
        "b.png,a.png,threat,0,6,p2,2023.1\n"
    )
    assert [row[:2] for row in rows(read(text, scale="1-7"))] == [
        ("a.png", "p1"),
        ("b.png", "p1"),
        ("b.png", "p2"),
    ]
    named = read(text, format="psychopy,stimulus=shown", scale="1-7")
    assert named.stimulus_names == ("threat", "safe")


def test_keys_clicks_and_practice_of_psychopy(read: Read) -> None:
    text = table(
        ["word", "key_resp.keys", "mouse.clicked_name", "practice.thisN", "trials.thisN",
         "participant", "psychopyVersion"],
        ["one", "num_3", "['joy']", 0, "", "", "2026.1"],
        ["one", "num_4", "['sad', 'joy']", "", 0, "", "2026.1"],
        ["two", "None", "", "", 1, "", "2026.1"],
    )  # fmt: skip
    r = read(text, "ann_faces.csv", format="psychopy,answers=['key_resp']")
    assert rows(r) == [("one", "ann_faces", "key_resp", 3.0), ("one", "ann_faces", "key_resp", 4.0)]
    assert r.frame["trial_kind"].to_list() == ["training", "main"]
    assert str(r.set_aside[0]) == "1 row: without an answer (line 4)"
    clicks = read(text, format="psychopy,answers=['mouse']")
    assert clicks.scale.categories == ("joy",)
    with pytest.raises(InputError, match="unknown answer 'keys'; did you mean 'key_resp'"):
        read(text, format="psychopy,answers=['keys']")


def test_what_was_shown_can_be_named(read: Read) -> None:
    text = table(
        ["a1", "b1", "slider.response", "participant", "psychopyVersion"],
        ["x", "p", 1, "p1", "2026.1"],
        ["x", "q", 2, "p1", "2026.1"],
    )
    with pytest.raises(InputError, match=r"no column says what was shown; name it .*stimulus=NAME"):
        read(text)
    assert read(text, format="psychopy,stimulus=b1").stimulus_names == ("p", "q")
    again = read(text, format="psychopy,stimulus=a1")
    assert again.frame["trial"].to_list() == [1, 2]
    assert again.history == (step(StepKind.ASKED_BEFORE, n=1),)


HEAD = ["Event Index", "Participant Public ID", "Participant Private ID"]


def test_screens_and_zones_of_gorilla_are_labels(read: Read) -> None:
    header = [*HEAD, "Screen Name", "Zone Name", "Zone Type", "Response", "Attempt", "display",
              "image"]  # fmt: skip
    scale = "response_rating_scale_likert"
    r = read(
        table(
            header,
            [1, "PUB", 7, "face", "joy", scale, 4, "", "practice", "p.png"],
            [2, "PUB", 7, "face", "joy", scale, 4, 1, "trial", "a.png"],
            [3, "PUB", 7, "face", "joy", scale, 5, 2, "trial", "a.png"],
            [4, "PUB", 7, "face", "fear", "response_slider_startValue", 50, "", "trial", "a.png"],
            [5, "PUB", 7, "face", "fear", "response_slider_endValue", 2, "", "trial", "a.png"],
            [6, "PUB", 7, "face", "why", "response_text_entry", "hm", "", "trial", "a.png"],
            [7, "PUB", 7, "face", "pic", "content_image", "a.png", "", "trial", "a.png"],
            ["END OF FILE", *[""] * 9],
        )
    )
    assert rows(r) == [
        ("p.png", "7", "joy", 4.0),
        ("a.png", "7", "joy", 4.0),
        ("a.png", "7", "fear", 2.0),
    ]
    assert r.frame["trial_kind"].to_list() == ["training", "main", "main"]
    assert {part.reason: part.count for part in r.set_aside} == {
        "further attempt": 1,
        "event that is no answer": 2,
        "text that was typed in": 1,
    }
    assert "PUB" not in str(r.frame.rows()) + str(r.raters.rows())


def test_task_builder_two_and_questionnaires_of_gorilla(read: Read) -> None:
    task = table(
        [*HEAD, "Screen", "Object Name", "Response Type", "Response", "Spreadsheet: face"],
        [1, "PUB", 7, "rate", "Slider", "response", 62, "a.png"],
        [2, "PUB", 7, "rate", "Slider", "info", "", "a.png"],
        [3, "PUB", 7, "rate", "Next", "continue", "x", "a.png"],
    )
    assert rows(read(task)) == [("a.png", "7", "rate", 62.0)]
    questions = table(
        [*HEAD, "Question Key", "Response"],
        ["BEGIN", "PUB", 7, "BEGIN QUESTIONNAIRE", ""],
        [1, "PUB", 7, "calm", "Very"],
        [2, "PUB", 7, "calm-quantised", 5],
        [3, "PUB", 7, "awake", 3],
        [4, "PUB", 7, "age", 31],
        [5, "PUB", 7, "remark", "none at all"],
    )
    r = read(questions)
    assert rows(r) == [("calm", "7", 5.0), ("awake", "7", 3.0)]
    assert r.raters["age"].to_list() == [31]


RUN = [
    trial("preload", 0, success=True, rt=None),
    trial("html-keyboard-response", 1, stimulus="<p>Press a key</p>", response=" "),
    trial("survey-text", 2, response={"age": "31", "comment": "hi"}),
    trial("image-slider-response", 3, stimulus="img/a.png", response=62, label="joy"),
    trial("html-button-response", 4, stimulus="<p>How?</p><img src='img/a.png'>", response=2),
    trial("html-button-response", 5, stimulus="Have a break", response=0),
    trial("survey-likert", 6, response={"Q0": 3}, question_order=[0]),
    trial("survey-likert", 7, response={"sad": 4}, stimulus="img/b.png"),
    trial("survey-multi-select", 8, response={"felt": ["joy", "awe"]}, stimulus="img/b.png"),
    trial("survey-multi-select", 9, response={"felt": []}, stimulus="img/a.png"),
    trial("video-slider-response", 10, stimulus=["c.mp4"], response=7, phase="practice"),
]
ANSWERS = [
    ("img/a.png", "joy", 62.0),
    ("img/a.png", "button", 2.0),
    ("img/b.png", "sad", 4.0),
    ("img/b.png", "felt: joy", 1.0),
    ("img/b.png", "felt: awe", 1.0),
    ("img/a.png", "felt: joy", 0.0),
    ("img/a.png", "felt: awe", 0.0),
    ("c.mp4", "slider", 7.0),
]


def as_csv() -> str:
    names = list(dict.fromkeys(name for one in RUN for name in one))

    def cell(value: object) -> object:
        return json.dumps(value) if isinstance(value, list | dict) else value

    return table(names, *[[cell(one.get(name)) for name in names] for one in RUN])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p1.json", json.dumps(RUN, indent=1)),
        ("p1.csv", as_csv()),
        ("p1.jsonl", "\n".join(map(json.dumps, RUN))),
    ],
)
def test_trials_of_jspsych(read: Read, name: str, content: str) -> None:
    r = read(content, name)
    assert [(stimulus, label, value) for stimulus, _, label, value in rows(r)] == ANSWERS
    assert r.rater_names == ("p1",)
    assert r.raters.select("age", "Q0").rows() == [(31, 3)]
    assert r.frame["trial_kind"].to_list() == ["main"] * 7 + ["training"]
    assert {part.reason: part.count for part in r.set_aside} == {
        "trial without an answer: preload": 1,
        "trial without an answer: html-keyboard-response": 1,
        "answer to text alone, as in instructions": 1,
    }


def test_jatos_stores_a_list_a_line(read: Read) -> None:
    named = [{**one, "PROLIFIC_PID": "P9"} for one in RUN]
    text = "\n".join([json.dumps(RUN), json.dumps(named), json.dumps([{"sum": 3}])])
    r = read(text, "jatos_results.txt")
    assert r.rater_names == ("participant-01", "P9")
    assert r.n_rows == 2 * len(ANSWERS)
    assert str(r.set_aside[0]) == "1 row: list without trials of jsPsych (line 3)"


def test_words_are_what_is_rated_where_no_files_are_shown(read: Read) -> None:
    words = [
        trial("html-button-response", 0, stimulus="<b>sunny</b>", response=1, subject=4),
        trial("html-button-response", 1, stimulus="<b>grim</b>", response="0", subject=4),
    ]
    assert rows(read(json.dumps(words), "w.json")) == [
        ("sunny", "4", "button", 1.0),
        ("grim", "4", "button", 0.0),
    ]
    with pytest.raises(InputError, match="no trial of jsPsych has an answer"):
        read(json.dumps(RUN[:1]), "w.json")
    with pytest.raises(InputError, match=r"w\.json, line 1: not valid JSON: .* \(column \d+\)"):
        read(json.dumps(RUN)[:-9], "w.json")


def test_a_button_that_goes_on_rates_nothing(read: Read) -> None:
    trials = [
        one
        for k in range(3)
        for one in (
            trial("image-slider-response", k, stimulus=f"{k}.png", response=k),
            trial("html-button-response", k, stimulus="Go on", response=0),
        )
    ]
    r = read(json.dumps(trials), "p.json")
    assert [row[2] for row in rows(r)] == ["slider"] * 3
    assert str(r.set_aside[0]).startswith("3 cells: answer to text alone, as in instructions")


def test_what_the_trial_before_showed_may_not_be_meant(read: Read) -> None:
    shown = ("a.png", "b.png")
    shows = [trial("image-keyboard-response", 0, stimulus=one, response=None) for one in shown]
    asks = [trial("html-slider-response", 1, stimulus="How?", response=7 * k) for k in (1, 2)]
    text = json.dumps([one for pair in zip(shows, asks, strict=True) for one in pair])
    with guessing(StepKind.SHOWN_BEFORE):
        assert read(text, "p.json").stimulus_names == ("a.png", "b.png")
    assert read(text, "p.json", format="jspsych,stimulus=stimulus").stimulus_names == ("How?",)


def test_files_of_a_folder_may_differ_where_one_program_wrote_them(tmp_path: Path) -> None:
    (tmp_path / "p1.csv").write_text(
        "image,slider.response,participant,psychopyVersion\na.png,4,p1,1\n"
    )
    (tmp_path / "p2.csv").write_text(
        "image,level,slider.response,participant,psychopyVersion\na.png,high,5,p2,2\n"
    )
    r = read_ratings(tmp_path, scale="1-7")
    assert rows(r) == [("a.png", "p1", "slider", 4.0), ("a.png", "p2", "slider", 5.0)]
    assert r.history[0] == step(StepKind.IN_SOME_FILES, columns=["level"])
    (tmp_path / "stimuli.csv").write_text("name,source\na.png,web\n")
    with pytest.raises(InputError, match=r"stimuli\.csv has other columns than p1\.csv \(name, so"):
        read_ratings(tmp_path)
