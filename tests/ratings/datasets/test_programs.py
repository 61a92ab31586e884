"""Workbooks, and files of SPSS and Stata, made by xlsxwriter and pyreadstat."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.ratings.datasets.survey_samples import SURVEYS, cells
from tests.ratings.test_fuzz import damaged
from tests.ratings.told import facts, guessing, holds

from affectlab.core.errors import InputError
from affectlab.ratings import (
    Ratings,
    StepKind,
    describe_ratings,
    list_formats,
    read_models,
    read_ratings,
    read_table,
)
from affectlab.ratings.files import Peek
from affectlab.ratings.formats import find_format
from affectlab.ratings.steps import step

pytestmark = pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedScalesWarning")


def workbook(path: Path, sheets: dict[str, Sequence[Sequence[object]]]) -> Path:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("python_calamine")
    book = xlsxwriter.Workbook(path)
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    book.close()
    return path


ANSWERS = [
    ["image", "annotator", "rating", "age"],
    ["007", "ann", 3, 31],
    ["007", 2, 4.5, "32"],
]


def test_a_sheet_is_a_table(tmp_path: Path) -> None:
    empty: list[list[object]] = [[], ["", "", ""]]
    shifted = [["", *row] for row in ANSWERS]
    file = workbook(
        tmp_path / "a.xlsx", {"Empty": [], "Answers": [*empty, *shifted], "Codes": [["x"]]}
    )
    r = read_ratings(file)
    assert r.stimulus_names == ("007",)
    assert r.rater_names == ("ann", "2")
    assert r.value.tolist() == [3, 4.5]
    assert r.raters["age"].to_list() == [31, 32]
    assert holds(*r.history, StepKind.SHEETS_LEFT, sheets=("Answers",), left=("Codes",))
    assert not r.history[0].guessed
    assert read_ratings(file, columns={"value": "age"}).value.tolist() == [31, 32]
    with pytest.raises(InputError, match="unknown sheet 'Code'; did you mean 'Codes'"):
        read_ratings(file, format="excel,sheet=Code")
    with pytest.raises(InputError, match=r"sheet 'Empty' is empty|unknown sheet"):
        read_ratings(file, format="excel,sheet=Empty")


def test_a_sheet_says_where_an_answer_stands(tmp_path: Path) -> None:
    rows = [["stimulus", "rater", "value"], ["a", "x", 1], [], ["b", "x", 9]]
    file = workbook(tmp_path / "a.xlsx", {"One": rows})
    with pytest.raises(InputError, match=r"a\.xlsx, sheet 'One', row 4: value 9 is off the scale"):
        read_ratings(file, scale="1-7")
    twice = workbook(tmp_path / "b.xlsx", {"One": [["a", "a"], [1, 2]]})
    with pytest.raises(InputError, match="sheet 'One', row 1: column 'a' stands twice"):
        read_ratings(twice, wide="raters")


def test_wide_sheets_and_answers_of_models(tmp_path: Path) -> None:
    rows = [["image", "ann", "bo"], ["a", 1, 2], ["b", "", 3]]
    r = read_ratings(workbook(tmp_path / "w.xlsx", {"S": rows}), wide="raters")
    assert r.value.tolist() == [1, 2, 3]
    assert r.rater_names == ("ann", "bo")
    people = Ratings({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [3, 7]}, scale="0-7")
    model = workbook(
        tmp_path / "tiny.xlsx", {"S": [["stimulus", "prediction"], ["a", 2.5], ["b", 6]]}
    )
    assert read_models(model, people)[0].rater_names == ("tiny",)
    assert read_table(model).columns == ["stimulus", "prediction"]


@pytest.mark.parametrize("name", [name for name in SURVEYS if cells(name) is not None])
def test_exports_opened_and_saved_in_a_spreadsheet(tmp_path: Path, name: str) -> None:
    text = tmp_path / "a.csv"
    text.write_text(SURVEYS[name], encoding="utf-8")
    rows = cells(name)
    assert rows is not None
    book = workbook(tmp_path / "a.xlsx", {"Sheet1": rows})
    assert find_format(Peek.open(book)).name == name
    assert read_ratings(book).frame.equals(read_ratings(text).frame)


def sav(path: Path, columns: dict[str, Any], **said: Any) -> Path:
    pyreadstat = pytest.importorskip("pyreadstat")
    write = pyreadstat.write_sav if path.suffix == ".sav" else pyreadstat.write_dta
    write(pl.DataFrame(columns), str(path), **said)
    return path


SHEETS = {
    "participant": ["p1", "p2", "p3"],
    "sex": [1.0, 2.0, 1.0],
    "img1": [1.0, 5.0, 9.0],
    "img2": [3.0, 6.0, 2.0],
}
LEVELS = {1: "not at all", 7: "very"}


def test_names_of_values_are_scales(tmp_path: Path) -> None:
    file = sav(
        tmp_path / "a.sav",
        SHEETS,
        variable_value_labels={
            "sex": {1: "f", 2: "m"}, "img1": {**LEVELS, 9: "no answer"}, "img2": LEVELS,
        },
        missing_ranges={"img1": [9]},
        variable_measure={"sex": "nominal", "img1": "ordinal", "img2": "scale"},
    )  # fmt: skip
    r = read_ratings(file, wide="stimuli")
    assert str(r.scale) == "ordinal 1 to 7, step 1"
    assert r.raters["sex"].to_list() == ["f", "m", "f"]
    assert r.n_rows == 5
    assert str(r.set_aside[0]) == "1 cell: no answer (row 3, column 'img1')"
    assert r.history[-2:] == (
        step(StepKind.NAMED_LEVELS, columns=["img1", "img2"], format="spss"),
        step(StepKind.DECLARED_MISSING, columns=["img1"], n=1),
    )
    # What was declared goes first.
    assert str(read_ratings(file, wide="stimuli", scale="0-10").scale) == "ordinal 0 to 10, step 1"


LONG = {"image": ["a", "a"], "rater": ["x", "y"], "emotion": [1.0, 2.0]}
NAMES = {"emotion": {1: "joy", 2: "fear", 3: "awe"}}


def test_nominal_values_are_their_names(tmp_path: Path) -> None:
    file = sav(
        tmp_path / "a.sav", LONG, variable_value_labels=NAMES,
        variable_measure={"emotion": "nominal"},
    )  # fmt: skip
    r = read_ratings(file, columns={"value": "emotion"})
    assert r.scale.categories == ("joy", "fear", "awe")
    assert r.value.tolist() == [0, 1]
    levels = read_ratings(file, columns={"value": "emotion"}, format="spss,categories=[]")
    assert str(levels.scale) == "ordinal 1 to 3, step 1"


def test_stata_is_told_what_are_categories(tmp_path: Path) -> None:
    columns = {**LONG, "arousal": [3.0, 4.0]}
    file = sav(tmp_path / "a.dta", columns, variable_value_labels=NAMES)
    with guessing(StepKind.GUESSED_LEVELS, columns=("emotion",)):
        levels = read_ratings(file, wide="labels")
    assert str(levels.scales["emotion"]) == "ordinal 1 to 3, step 1"
    r = read_ratings(file, wide="labels", format="stata,categories=['emotion']")
    assert r.scales["emotion"].categories == ("joy", "fear", "awe")
    assert r.value.tolist() == [0, 1, 3, 4]
    with pytest.raises(InputError, match="unknown column 'emotions'"):
        read_ratings(file, wide="labels", format="stata,categories=['emotions']")
    with pytest.raises(InputError, match="not all values of column 'arousal' have names"):
        read_ratings(file, wide="labels", format="stata,categories=['arousal']")


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_names_of_emotions_are_categories_as_a_guess(tmp_path: Path, suffix: str) -> None:
    def read(name: str, *names: str, **options: Any) -> Ratings:
        columns = {"image": ["a", "a", "b"], "rater": [*"xyx"], name: [1.0, 2.0, 3.0]}
        labels = {name: dict(enumerate(names, 1))}
        return read_ratings(
            sav(tmp_path / f"a{suffix}", columns, variable_value_labels=labels), **options
        )

    for name, names in (
        ("rating", ("joy", "Fear", "anger")),
        ("emotion", ("Freude", "Wut", "Angst")),
    ):
        with guessing(StepKind.GUESSED_CATEGORIES):
            assert read(name, *names).scale.categories == names
    # Where names may be steps of a scale, numbers count, and that they do is said.
    for names in (
        ("low", "medium", "high"),
        ("Freude", "Wut", "Angst"),
        ("gar nicht", "etwas", "sehr"),
    ):
        with guessing(StepKind.GUESSED_LEVELS, columns=("rating",)):
            assert str(read("rating", *names).scale) == "ordinal 1 to 3, step 1"
    for names in (("low", "medium", "high"), ("negativ", "neutral", "positiv")):
        with guessing(StepKind.GUESSED_LEVELS, columns=("emotion",)):
            read("emotion", *names)
    read("rating", "Freude", "Wut", "Angst", scale="1-4")


def test_named_values_far_outside_are_no_answers(tmp_path: Path) -> None:
    columns = {"participant": [*"xyz"], "img1": [1.0, -77.0, 5.0], "img2": [6.0, 3.0, 99.0]}
    labels = {
        "img1": {1: "gar nicht", 5: "sehr", -77: "x", -99: "Designausfall"},
        "img2": {1: "gar nicht", 5: "sehr", 6: "keine Angabe", 99: "y"},
    }
    file = sav(tmp_path / "a.sav", columns, variable_value_labels=labels)
    with guessing(StepKind.GUESSED_MISSING, columns=("img1", "img2"), n=3):
        r = read_ratings(file, wide="stimuli")
    assert (str(r.scale), r.value.tolist()) == ("ordinal 1 to 5, step 1", [1, 5, 3])
    # Two ends of a scale are no codes, and neither are steps that reach as far.
    for names in (
        {-99: "cold", 99: "hot"},
        {-1: "no", 0: "even", 1: "yes"},
        {1: "a", 5: "b", 9: "c"},
    ):
        given = {
            **columns,
            "img1": [float(min(names)), float(max(names)), None],
            "img2": [None] * 3,
        }
        file = sav(tmp_path / "b.sav", given, variable_value_labels={"img1": names})
        low, high = min(names), max(names)
        r = read_ratings(file, wide="stimuli", scale="interval")
        assert r.value.tolist() == [low, high]


def test_sheets_with_the_same_columns_are_one_table(tmp_path: Path) -> None:
    own = [("image", "rating"), ("a", 3), ("b", 5)]
    file = workbook(tmp_path / "a.xlsx", {"ann": own, "bo": own, "Notes": [("what", "why")]})
    with guessing(StepKind.SHEETS_JOINED, sheets=("ann", "bo")):
        r = read_ratings(file)
    assert (r.rater_names, r.value.tolist()) == (("ann", "bo"), [3, 5, 3, 5])
    assert facts(r, StepKind.SHEETS_LEFT)["left"] == ("Notes",)
    assert read_ratings(file, format="excel,sheet=bo", rater="bo").n_rows == 2
    mapping = describe_ratings(file).save(tmp_path / "a.xlsx.mapping.toml")
    assert 'rater = "sheet"' in mapping.read_text()
    assert read_ratings(file).rater_names == ("ann", "bo")
    with pytest.raises(InputError, match=r"sheet 'bo', row 3: value 'x' is not understood"):
        read_ratings(workbook(tmp_path / "b.xlsx", {"ann": own, "bo": [*own[:2], ("b", "x")]}))
    # Sheets of sessions, in which raters come back, differ in nothing but the session.
    rows = [("image", "rater", "rating"), ("a", "x", 3)]
    twice = workbook(tmp_path / "c.xlsx", {"one": rows, "two": rows})
    with pytest.raises(InputError, match="sheet 'two', row 2: a second answer"):
        read_ratings(twice)
    assert read_ratings(twice, columns={"session": "sheet"}).frame["session"].to_list() == [
        *("one", "two")
    ]


def test_sheets_and_files_called_after_emotions_are_labels(tmp_path: Path) -> None:
    rows = [("image", "Ann", "Bo"), ("a", 3, 4), ("b", 5, 6)]
    file = workbook(tmp_path / "a.xlsx", {"Joy": rows, "anger": rows})
    described = describe_ratings(file)
    why = {name: (kind, why) for name, kind, why, _ in described.to_frame().rows()}
    assert why["sheet"] == ("the label", "sheets are called after emotions")
    assert why["Ann"] == ("ratings of one rater", "guessed: one column per rater")
    with guessing(StepKind.SHEETS_JOINED, over_raters=True):
        assert read_ratings(file).rater_names == ("Ann", "Bo")
    long = [("image", "rater", "rating"), ("a", "x", 3), ("b", "x", 5)]
    with guessing(StepKind.SHEETS_JOINED, role="label", why="emotions"):
        labels = read_ratings(workbook(file, {"joy": long, "anger": long})).label_names
    assert labels == ("joy", "anger")
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("joy", "anger"):
        (folder / f"{name}.csv").write_text(f"clip,rater,rating\na,x,{len(name)}\n")
    r = read_ratings(folder)
    assert (r.stimulus_names, r.label_names) == (("a",), ("anger", "joy"))


def test_a_file_of_a_folder_is_no_stimulus_where_a_column_is(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text(f"clip,rater,rating\na,x{name},3\nb,x{name},5\n")
    r = read_ratings(tmp_path)
    assert (r.stimulus_names, r.rater_names) == (("a", "b"), ("xone", "xtwo"))
    assert r.raters["from_file"].to_list() == ["one", "two"]


def test_sheets_differ_in_columns_where_raters_are_named(tmp_path: Path) -> None:
    own = [("image", "rating"), ("a", 3), ("b", 5)]
    means = [("image", "rating", "sd"), ("a", 3.5, 1)]
    file = workbook(tmp_path / "a.xlsx", {"ann": own, "bo": own, "Means": means})
    with guessing(StepKind.SHEETS_LEFT, sheets=("ann", "bo"), left=("Means",)):
        assert read_ratings(file).rater_names == ("ann", "bo")
    rows = [("image", "rater", "rating"), ("a", "x", 3)]
    sheets = {"Data": rows, "Means": own, "Twice": [(*rows[0], "Rating"), ("b", "x", 3, 4)]}
    with guessing(StepKind.SHEETS_LEFT, sheets=("Data",), left=("Means", "Twice")):
        assert read_ratings(workbook(file, sheets)).n_ratings == 1
    described = describe_ratings(file, format="excel,sheet=Twice", columns={"value": "Rating"})
    assert described.to_frame()["column"].to_list() == ["image", "rater", "rating", "Rating"]
    assert not any("Guessed" in note for note in described.notes)


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_what_columns_ask_is_shown_and_kept(tmp_path: Path, suffix: str) -> None:
    words = ["", "", "How glad is the first face?", "How glad is the second face?"]
    sheets = sav(tmp_path / f"a{suffix}", SHEETS, column_labels=words)
    described = describe_ratings(sheets, wide="stimuli")
    asked = dict(described.to_frame().select("column", "question").rows())
    assert (asked["sex"], asked["img2"]) == ("", words[3])
    assert read_ratings(sheets, wide="stimuli").stimuli["question"].to_list() == words[2:]
    columns = {**LONG, "arousal": [3.0, 4.0]}
    labels = sav(tmp_path / f"b{suffix}", columns, column_labels=["", "", "Which?", "How awake?"])
    r = read_ratings(labels, wide="labels")
    assert facts(r, StepKind.QUESTIONS)["texts"] == ("Which?", "How awake?")
    plain = sav(tmp_path / f"c{suffix}", columns)
    assert "question" not in describe_ratings(plain, wide="labels").to_frame().columns


@pytest.mark.parametrize("name", ["excel", "spss", "stata"])
def test_other_files_are_none_of_these(tmp_path: Path, name: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text("stimulus,rater,label\na,b,c\n")
    with pytest.raises(InputError, match=r"a\.csv"):
        read_ratings(file, format=name)
    assert name in [one.name for one in list_formats()]


@pytest.mark.parametrize("suffix", [".xlsx", ".sav", ".dta"])
def test_damaged_files_give_ratings_or_one_sentence(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"a{suffix}"
    if suffix == ".xlsx":
        workbook(file, {"S": ANSWERS})
    else:
        sav(file, {**LONG, "rating": [3.0, 4.0]}, variable_value_labels=NAMES)
    content = file.read_bytes()
    for turn in range(60):
        file.write_bytes(damaged(content, random.Random(turn)))
        said = ""
        try:
            read_ratings(file)
        except InputError as error:
            said = str(error)
        assert "\n" not in said, turn
