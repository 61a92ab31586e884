"""Wide files with a row per participant, raters that are models, and which columns were taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.ratings.told import facts, guessing, holds, kinds

from affectlab.core.errors import InputError
from affectlab.ratings import GuessedColumnsWarning, Ratings, StepKind, read_ratings
from affectlab.ratings.steps import step

Read = Callable[..., Ratings]
SHEET = "participant,img1,img2,img3\np1,1,2,3\np2,2,,4\n"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def write_and_read(content: str, name: str = "r.csv", **options: object) -> Ratings:
        (tmp_path / name).write_text(content)
        return read_ratings(tmp_path / name, **options)  # type: ignore[arg-type]

    return write_and_read


@pytest.mark.parametrize("wide", ["stimuli", "auto"])
@pytest.mark.parametrize("name", ["participant", "ResponseId", "Response ID", "worker_id"])
def test_a_column_per_stimulus(read: Read, wide: str, name: str) -> None:
    r = read(SHEET.replace("participant", name), wide=wide)
    assert r.stimulus_names == ("img1", "img2", "img3")
    assert r.rater_names == ("p1", "p2")
    assert r.matrix().tolist()[0] == [1, 2, 3]
    assert r.value.tolist() == [1, 2, 2, 3, 4]
    assert r.set_aside[0].places == ("line 3, column 'img2'",)
    assert facts(r, StepKind.RATED_COLUMNS)["columns"] == ("img1", "img2", "img3")
    if wide == "auto":
        assert holds(r.history[0], StepKind.WIDE_KIND, why="rater alone", column=name)


def test_what_is_said_of_participants_stays_with_them(read: Read) -> None:
    r = read(
        "id,age,group,remark,img1,img2\np1,30,A,ok,1,2\np2,31,A,,2,3\n",
        wide="stimuli",
        scale="0-7",
        attributes=["age", "group", "remark"],
        raters={"rater": ["p2"], "age": [40], "keen": [True]},
    )
    assert r.raters.select("rater", "age", "group", "remark", "keen").rows() == [
        ("p1", 30, "A", "ok", None),
        ("p2", 40, "A", None, True),
    ]
    assert r.stimuli.columns == ["stimulus"]
    assert r.n_ratings == 4
    assert step(StepKind.ROLE_TAKEN, column="id", role="rater") in r.history
    assert step(StepKind.ATTRIBUTE_REPLACED, name="age", n=1, unit="rater") in r.history
    told = read("participant,age,remark,img1\np1,30,ok,1\np2,31,no,2\n", wide="stimuli")
    assert told.stimulus_names == ("img1",)
    assert facts(told, StepKind.ATTRIBUTE_COLUMNS)["columns"] == ("age", "remark")


def test_sheets_of_several_sessions(read: Read) -> None:
    text = "participant,session,mood,img1\np1,1,good,1\np1,2,bad,3\np2,1,good,2\n"
    r = read(text, wide="stimuli")
    assert r.frame["session"].to_list() == ["1", "2", "1"]
    assert r.frame["mood"].to_list() == ["good", "bad", "good"]
    with pytest.raises(InputError, match="a second answer for stimulus 'img1', rater 'p1'"):
        read(text.replace("session", "week"), wide="stimuli", attributes=["mood", "week"])
    with pytest.raises(InputError, match="column 'text' differs within a rater"):
        read(text.replace("mood", "text"), wide="stimuli")


@pytest.mark.parametrize("wide", ["raters", "labels"])
@pytest.mark.parametrize("name", ["participant", "ResponseId"])
def test_values_of_the_first_image_never_become_stimuli(read: Read, wide: str, name: str) -> None:
    with pytest.raises(InputError, match=r"\(wide='stimuli'") as caught:
        read(SHEET.replace("participant", name), wide=wide)
    assert "columns={'stimulus': 'NAME'}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_labels_without_a_stimulus_are_no_stimuli(read: Read) -> None:
    with pytest.raises(InputError, match="one column per label needs a column for the stimulus"):
        read("participant,anger,fear,joy\np1,1,2,3\n", wide="auto", taxonomy="ekman")
    with pytest.raises(InputError, match="one column per label needs a column for the stimulus"):
        read("participant,age,anger,fear\np1,30,2,3\n", wide="auto")
    named = read(
        "participant,clip,anger,fear\np1,c1,2,3\n", wide="auto", columns={"stimulus": "clip"}
    )
    assert named.label_names == ("anger", "fear")
    forced = read("participant,anger,fear\np1,2,3\n", wide="stimuli")
    assert forced.stimulus_names == ("anger", "fear")


def test_a_column_per_stimulus_needs_participants(read: Read) -> None:
    with pytest.raises(
        InputError,
        match=r"one column per stimulus needs a column for the rater; found: x, img1; name it "
        r"\(columns=\{'rater': 'NAME'\}\)$",
    ):
        read("x,img1\np1,1\n", wide="stimuli")
    r = read("x,img1,img2\np1,1,2\n", wide="stimuli", columns={"rater": "x"})
    assert r.rater_names == ("p1",)
    with pytest.raises(InputError, match="attribute column 'value' has the name of a role"):
        read("participant,img1,value\np1,1,x\n", wide="stimuli")


def test_which_columns_are_raters_is_said(read: Read) -> None:
    r = read("image,r1,r2,valence_norm\na,1,2,0.35\nb,2,2,0.77\n", wide="raters")
    assert facts(r, StepKind.RATED_COLUMNS)["columns"] == ("r1", "r2", "valence_norm")
    many = ",".join(f"r{k}" for k in range(40))
    r = read(f"image,{many}\na,{','.join(['1'] * 40)}\n", wide="raters")
    assert len(facts(r, StepKind.RATED_COLUMNS)["columns"]) == 40


def test_a_response_id_is_a_rater_on_sheets_only(read: Read) -> None:
    with pytest.raises(InputError, match="no column for the rater"):
        read("response_id,image,rating\n1,a,2\n")
    with pytest.raises(InputError, match="needs a column for the rater"):
        read("response_id,image,joy,fear\n1,a,2,3\n", wide="labels")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("image,model,rating\na,gpt,1\na,qwen,2\n", {}),
        ("image,Model,rating\na,gpt,1\na,qwen,2\n", {}),
        ("image,model,joy,fear\na,gpt,1,2\na,qwen,2,3\n", {"wide": "labels"}),
        ("model,img1,img2\ngpt,1,2\nqwen,2,3\n", {"wide": "auto"}),
        ("image,model,points\na,gpt,1\na,qwen,2\n", {"columns": {"value": "points"}}),
    ],
)
def test_raters_in_a_column_called_model_are_models(read: Read, text: str, options: dict) -> None:
    r = read(text, **options)
    assert dict(zip(r.rater_names, r.rater_kinds, strict=True)) == {"gpt": "model", "qwen": "model"}
    assert StepKind.MODELS_BY_COLUMN in kinds(r)
    assert "No rater is human: agreement here is agreement among models." in r.warnings


def test_who_is_a_model_can_be_said_otherwise(read: Read) -> None:
    text = "image,model,rating\na,gpt,1\na,ann,2\n"
    r = read(text, raters={"rater": ["ann"], "rater_kind": ["human"]})
    assert dict(zip(r.rater_names, r.rater_kinds, strict=True)) == {"gpt": "model", "ann": "human"}
    r = read("image,model,rating,rater_kind\na,gpt,1,baseline\na,ann,2,human\n")
    assert r.rater_kinds == ("baseline", "human")
    assert r.history == ()
    assert read("image,rater,rating\na,gpt,1\na,ann,2\n").rater_kinds == ("human", "human")
    blank = read("image,model,rating\na,gpt,1\na, ,2\n", on_bad="set_aside")
    assert blank.rater_kinds == ("model",)
    assert StepKind.UNUSED_ATTRIBUTES not in kinds(blank)


def test_models_that_sit_in_sheets_keep_what_is_said_of_them(read: Read) -> None:
    r = read("model,vendor,img1\ngpt,x,1\nqwen,y,2\n", wide="stimuli")
    assert r.raters.select("rater", "rater_kind", "vendor").rows() == [
        ("gpt", "model", "x"),
        ("qwen", "model", "y"),
    ]


WORDS = ("Disagree", "Neutral", "Agree")


def exported(
    path: Path, n_people: int = 12, n_questions: int = 60, *, page: str = "lastpage"
) -> Path:
    """Write a questionnaire as LimeSurvey exports it, with answers in words."""
    questions = [f"G01Q{number:02d}" for number in range(n_questions)]
    header = ["id", "submitdate", page, "startlanguage", *questions]
    rows = [
        [
            str(one),
            "2026-01-01 10:00:00",
            "3",
            "en",
            *(WORDS[(one * q) % 3] for q in range(n_questions)),
        ]
        for one in range(1, n_people + 1)
    ]
    path.write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in [header, *rows]))
    return path


def test_answers_in_words_are_not_lost_beside_a_number(tmp_path: Path) -> None:
    """720 answers became descriptions of 12 people, and the page count the one stimulus."""
    file = exported(tmp_path / "survey.csv", page="visit")
    with pytest.raises(InputError) as caught:
        read_ratings(file, wide="stimuli")
    said = caught.value.sentence
    assert "62 of 63 columns hold only words" in said
    assert "'id' (the rater); attributes: 'submitdate', 'startlanguage', 'G01Q00'" in said
    assert "stimuli: 'visit'; say which columns describe" in said
    assert said.endswith("(attributes=['NAME', 'NAME'])")
    told = ["submitdate", "visit", "startlanguage"]
    r = read_ratings(file, wide="stimuli", attributes=told, scale="ordinal:" + ",".join(WORDS))
    assert (r.n_ratings, r.n_stimuli, r.n_raters, r.set_aside) == (720, 60, 12, ())


@pytest.mark.parametrize("wide", ["stimuli", "auto"])
def test_what_platforms_write_is_no_answer(tmp_path: Path, wide: str) -> None:
    """Page numbers, seeds and times became stimuli, and with ``wide="auto"`` raters."""
    with guessing(StepKind.ORDERED_WORDS):
        words = read_ratings(exported(tmp_path / "words.csv"), wide=wide)  # type: ignore[arg-type]
    assert (words.n_ratings, words.n_stimuli, words.n_raters) == (720, 60, 12)
    numbers = tmp_path / "numbers.csv"
    numbers.write_text(
        "id,submitdate,lastpage,startlanguage,seed,startdate,q1,q2,interviewtime\n"
        "1,2026-01-01,3,en,511,2026-01-01,4,5,61.5\n2,2026-01-02,3,en,99,2026-01-02,2,1,80.25\n"
    )
    r = read_ratings(numbers, wide=wide, scale="1-5")  # type: ignore[arg-type]
    assert r.stimulus_names == ("q1", "q2")
    assert r.rater_names == ("1", "2")
    assert {"lastpage", "seed", "interviewtime"} <= set(r.raters.columns)
    sheets = tmp_path / "sheets.csv"
    sheets.write_text(
        "StartDate,Progress,Duration (in seconds),Finished,ResponseId,LocationLatitude,Q1,Q2\n"
        "2026-01-01,100,63,1,R_1,50.1,4,5\n2026-01-01,100,75,1,R_2,48.2,2,1\n"
    )
    r = read_ratings(sheets, wide=wide, scale="1-5")  # type: ignore[arg-type]
    assert r.stimulus_names == ("Q1", "Q2")
    named = read_ratings(sheets, wide=wide, attributes=["StartDate"])  # type: ignore[arg-type]
    assert "Progress" in named.stimulus_names


def test_what_was_computed_of_a_row_is_no_rater(tmp_path: Path) -> None:
    file = tmp_path / "w.csv"
    file.write_text("stimulus,r1,r2,Mean,SD,seed\na,1,2,1.5,0.5,11\nb,4,5,4.5,0.5,12\n")
    r = read_ratings(file, wide="raters", scale="1-5")
    assert r.rater_names == ("r1", "r2")
    assert facts(r, StepKind.ATTRIBUTE_COLUMNS)["columns"] == ("Mean", "SD", "seed")
    assert r.stimuli["Mean"].to_list() == [1.5, 4.5]


def test_some_words_beside_numbers_still_describe(tmp_path: Path) -> None:
    file = tmp_path / "w.csv"
    file.write_text("image,path,source,ann,bo\na,x/a.png,web,1,2\nb,x/b.png,own,3,4\n")
    r = read_ratings(file, wide="raters")
    assert r.rater_names == ("ann", "bo")
    assert {"path", "source"} <= set(r.stimuli.columns)


def test_a_reading_that_leaves_less_than_half_stops(tmp_path: Path) -> None:
    file = tmp_path / "w.csv"
    file.write_text("id,a,b,c\n" + "".join(f"p{k},1,77,88\n" for k in range(4)))
    with pytest.raises(
        InputError, match=r"4 answers could be read, and 8 cells could not"
    ) as caught:
        read_ratings(file, wide="stimuli", scale="1-5", on_bad="set_aside")
    assert "'a', 'b', 'c'" in str(caught.value)
    # Half may go, when they are counted; and gaps are no loss.
    file.write_text("id,a,b,c\n" + "".join(f"p{k},1,77,\n" for k in range(4)))
    r = read_ratings(file, wide="stimuli", scale="1-5", on_bad="set_aside")
    assert [(part.count, part.unit) for part in r.set_aside] == [
        (4, "cell"),
        (4, "cell"),
        (2, "stimulus"),
    ]


def test_row_numbers_without_a_name_are_no_stimulus(tmp_path: Path) -> None:
    file = tmp_path / "w.csv"
    file.write_text(",id,a,b\n0,p,1,2\n1,q,3,4\n")
    for on_bad in ("raise", "set_aside"):
        r = read_ratings(file, wide="stimuli", on_bad=on_bad)  # type: ignore[arg-type]
        assert r.stimulus_names == ("a", "b")
        assert StepKind.ROW_NUMBERS in kinds(r)
    file.write_text(",id,a,b\nx,p,1,2\n,q,3,4\n")
    for on_bad in ("raise", "set_aside"):
        with pytest.raises(InputError, match="column 1 has no name; expected one"):
            read_ratings(file, wide="stimuli", on_bad=on_bad)  # type: ignore[arg-type]


def test_who_answered_nothing_is_named(tmp_path: Path) -> None:
    file = tmp_path / "w.csv"
    file.write_text(
        "id,a,b\n" + "".join(f"p{k},{'' if k % 5 == 0 else k % 4},\n" for k in range(20))
    )
    r = read_ratings(file, wide="stimuli")
    silent = ("p0", "p5", "p10", "p15")
    assert r.n_raters == 16
    assert r.summary().silent_raters == silent
    said = "4 raters of the source have no answer that can be used and are not counted: 'p0', 'p5'"
    assert any(said in warning for warning in r.warnings)
    again = read_ratings(r.write(tmp_path / "again.parquet"))
    assert again.summary().silent_raters == silent
    assert again.equals(r)
    # They are silent no more where another file has their answers.
    more = Ratings({"stimulus": ["a"], "rater": ["p5"], "value": [1]}, scale=r.scale)
    assert r.merge(more).summary().silent_raters == ("p0", "p10", "p15")


def test_stimuli_that_nobody_answered_are_named(tmp_path: Path) -> None:
    file = tmp_path / "w.csv"
    file.write_text("stimulus,r1,r2\na,1,2\nb,,\nc,3,\nd,,\n")
    r = read_ratings(file, wide="raters", scale="1-5")
    assert r.n_stimuli == 2
    assert r.summary().silent_stimuli == ("b", "d")
    said = "2 stimuli of the source have no answer that can be used and are not counted: 'b', 'd'."
    assert said in r.warnings
    assert "2 stimuli: without any answer that can be used (b, d)" in map(str, r.set_aside)
    again = read_ratings(r.write(tmp_path / "again.parquet"))
    assert again.summary().silent_stimuli == ("b", "d")
    more = Ratings({"stimulus": ["b"], "rater": ["r1"], "value": [1]}, scale=r.scale)
    assert r.merge(more).summary().silent_stimuli == ("d",)


def test_choices_beside_reaction_times_are_no_descriptions(tmp_path: Path) -> None:
    text = "participant,pic1,pic1_rt,pic2,pic2_rt\n" + "".join(
        f"p{k},{choice},{500 + k},{other},{700 + k}\n"
        for k, (choice, other) in enumerate([("joy", "fear"), ("fear", "joy"), ("joy", "joy")])
    )
    path = tmp_path / "choices.csv"
    path.write_text(text)
    with pytest.warns(GuessedColumnsWarning, match="'pic1_rt', 'pic2_rt'"):
        ratings = read_ratings(path, wide="stimuli")
    assert (ratings.n_stimuli, ratings.n_raters, ratings.scale.categories) == (
        2,
        3,
        ("joy", "fear"),
    )


def test_conditions_and_comments_beside_two_scales_are_read(tmp_path: Path) -> None:
    path = tmp_path / "scales.csv"
    path.write_text(
        "participant,stimulus,condition,block,valence,arousal,comment\n"
        "p1,a,slow,first,3,4,calm one\np1,b,slow,second,5,6,loud\n"
        "p2,a,fast,first,2,4,nothing\np2,b,fast,second,7,8,too short\n"
    )
    r = read_ratings(path, wide="labels", scale="1-9")
    assert r.label_names == ("valence", "arousal")
    assert r.n_ratings == 8


def test_a_code_for_missing_answers_may_be_set_aside_where_every_column_has_answers(
    tmp_path: Path,
) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("participant,a,b,c,d\np1,1,99,99,99\np2,99,2,99,99\np3,99,99,3,4\n")
    r = read_ratings(path, wide="stimuli", scale="1-5", on_bad="set_aside")
    assert r.n_ratings == 4
    assert [part.count for part in r.set_aside] == [8]


def test_an_index_with_gaps_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "index.csv"
    path.write_text(",stimulus,r1,r2\n1,a,1,2\n5,b,3,4\n6,c,5,5\n")
    r = read_ratings(path, wide="raters", scale="1-5")
    assert (r.n_stimuli, r.n_raters, r.n_ratings) == (3, 2, 6)
    assert StepKind.ROW_NUMBERS in kinds(r)


def test_a_code_and_a_scale_are_not_advised_against_each_other(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    rows = [
        f"s{k},r{j},{99 if (k + j) % 7 == 0 else 1 + (k * j) % 5}"
        for k in range(12)
        for j in range(4)
    ]
    path.write_text("stimulus,rater,value\n" + "\n".join(rows) + "\n")
    notes = " ".join(read_ratings(path).warnings)
    assert "if 99 stands for a missing answer, say so when reading (missing_codes=['99'])" in notes
    assert "1-99" not in notes
