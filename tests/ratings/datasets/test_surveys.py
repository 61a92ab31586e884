"""Exports of survey tools: what is rated, what describes the person, what is left out.

The files are written by hand from the documentation of each tool.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.ratings.datasets.survey_samples import qualtrics, table
from tests.ratings.told import guessing, holds

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, Scale, StepKind, read_ratings
from affectlab.ratings.files import Peek
from affectlab.ratings.formats import find_format, load_format
from affectlab.ratings.formats.surveys.sheets import crossed_names
from affectlab.ratings.steps import step

Read = Callable[..., Ratings]
pytestmark = pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedScalesWarning")
META = {
    "StartDate": ("Start Date", "startDate"),
    "Status": ("Response Type", "status"),
    "IPAddress": ("IP Address", "ipAddress"),
    "ResponseId": ("Response ID", "_recordId"),
    "RecipientEmail": ("Recipient Email", "recipientEmail"),
}


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def write_and_read(content: str, name: str = "r.csv", **options: object) -> Ratings:
        (tmp_path / name).write_text(content, encoding="utf-8")
        return read_ratings(tmp_path / name, **options)  # type: ignore[arg-type]

    return write_and_read


def sheet(name: str, *answers: object) -> list[object]:
    return ["2026-01-01 10:00:00", "IP Address", "10.0.0.1", name, "a@b.c", *answers]


def rows(r: Ratings) -> list[tuple[object, ...]]:
    names = [name for name in ("stimulus", "rater", "label", "value") if name in r.frame.columns]
    return sorted(r.frame.select(names).rows(), key=str)


LOOPS = {
    **META,
    "Q1": ("I agree to participate in this study", "QID1"),
    "Q2": ("What is your gender?", "QID2"),
    "1_Q3": ("How happy is Anna?", "1_QID3"),
    "1_Q4_1": ("Which does Anna show? - Joy", "1_QID4_1"),
    "1_Q4_2": ("Which does Anna show? - Fear", "1_QID4_2"),
    "1_Q8": ("Remarks", "1_QID8_TEXT"),
    "2_Q3": ("How happy is Bo?", "2_QID3"),
    "2_Q4_1": ("Which does Bo show? - Joy", "2_QID4_1"),
    "2_Q4_2": ("Which does Bo show? - Fear", "2_QID4_2"),
    "2_Q8": ("Remarks", "2_QID8_TEXT"),
    "2_Q9_First Click": ("Timing - First Click", "2_QID9_FIRST_CLICK"),
    "Q10": ("How hard was it?", "QID10"),
    "FL_3_DO": ("FL_3 - Block Randomizer", "FL_3_DO"),
    "PROLIFIC_PID": ("PROLIFIC_PID", "PROLIFIC_PID"),
}


def test_loops_of_qualtrics_are_stimuli(read: Read) -> None:
    r = read(
        qualtrics(
            LOOPS,
            sheet("R_1", 1, "f", 1, 2, 3, "a smile", 4, 5, 6, "", 0.3, 5, "1|2", "P1"),
            sheet("R_2", 1, "m", 7, "", 3, "", 4, 5, 1, "none at all", 0.3, 2, "2|1", "P2"),
            ["2026", "Survey Preview", "", "R_3", "", *[1] * 13, ""],
        )
    )
    assert r.stimulus_names == ("Anna", "Bo")
    assert r.label_names == ("Q3", "Joy", "Fear")
    assert r.rater_names == ("P1", "P2")
    assert ("Anna", "P2", "Q3", 7.0) in rows(r)
    assert r.raters.select("rater", "Q2", "Q10").rows() == [("P1", "f", 5), ("P2", "m", 2)]
    assert [str(part) for part in r.set_aside] == [
        "1 row: a preview of the survey, not of a participant (line 6)",
        "1 cell: no answer (line 5, column '1_Q4_1')",
    ]
    columns = step(StepKind.SURVEY_COLUMNS, n=6, n_stimuli=2, n_labels=3, stimulus="")
    about = step(StepKind.RATER_COLUMNS, columns=["Q2", "Q10"])
    assert r.history[:2] == (columns, about)
    assert r.history[2]["counts"] == (5, 1, 1, 1, 2)
    everything = str(r.raters.rows()) + str(r.frame.rows())
    assert "10.0.0.1" not in everything
    assert "a@b.c" not in everything


def test_persons_who_came_twice_are_two_sheets(read: Read) -> None:
    answers = [1, "f", 1, 2, 3, "", 4, 5, 6, "", 0.3, 5, "", "P1"]
    r = read(qualtrics(LOOPS, sheet("R_1", *answers), sheet("R_2", *answers)))
    assert r.rater_names == ("R_1", "R_2")
    assert r.raters["PROLIFIC_PID"].to_list() == ["P1", "P1"]


MATRIX = {
    **META,
    "Q5_1": ("How much of each? - Joy", "QID5_1"),
    "Q5_2": ("How much of each? - Fear", "QID5_2"),
    "Q6_1": ("How much of each? - Joy", "QID6_1"),
    "Q6_2": ("How much of each? - Fear", "QID6_2"),
}


def test_matrices_of_stimuli_by_labels(read: Read) -> None:
    text = qualtrics(MATRIX, sheet("R_1", 1, 5, 2, 3), sheet("R_2", 1, 4, 2, 3))
    r = read(text)
    assert r.label_names == ("Joy", "Fear")
    assert r.stimulus_names == ("Q5", "Q6")
    assert holds(r.history[0], StepKind.MATRIX_ROWS, rows="labels", format="qualtrics")
    turned = read(text, format="qualtrics,rows=stimuli")
    assert turned.stimulus_names == ("Joy", "Fear")
    assert turned.label_names == ("Q5", "Q6")
    faces = text.replace("Joy", "a.jpg").replace("Fear", "b.jpg")
    one = faces.replace('How much of each? - a.jpg,"', 'How sad? - a.jpg,"')
    assert read(one, format="qualtrics,questions=['Q5']").stimulus_names == ("a.jpg", "b.jpg")
    with pytest.raises(InputError, match="unknown question 'Q7'"):
        read(text, format="qualtrics,questions=['Q7']")


def test_several_choices_are_yes_or_no_to_each(read: Read) -> None:
    columns = {
        name: (text.replace("How much of each?", "Which? - Selected Choice"), one)
        for name, (text, one) in MATRIX.items()
    }
    r = read(
        qualtrics(columns, sheet("R_1", "Joy", "", "Joy", "Fear"), sheet("R_2", "", "Fear", "", ""))
    )
    assert rows(r) == [
        ("Q5", "R_1", "Fear", 0.0),
        ("Q5", "R_1", "Joy", 1.0),
        ("Q5", "R_2", "Fear", 1.0),
        ("Q5", "R_2", "Joy", 0.0),
        ("Q6", "R_1", "Fear", 1.0),
        ("Q6", "R_1", "Joy", 1.0),
    ]
    coded = qualtrics(columns, sheet("R_1", 1, "", 1, 1), sheet("R_2", "", 1, "", ""))
    assert rows(read(coded)) == rows(r)


def test_questions_asked_once_are_stimuli_where_nothing_is_repeated(read: Read) -> None:
    columns = {
        **META,
        "age": ("How old are you?", "QID1_TEXT"),
        "face1": ("Look at this.", "QID2"),
        "face2": ("And at this.", "QID3"),
        "Q4": ("Tell us more", "QID4_TEXT"),
    }
    r = read(qualtrics(columns, sheet("R_1", 31, 1, 5, "no"), sheet("R_2", 44, 2, 3, "")))
    assert r.stimulus_names == ("face1", "face2")
    assert r.stimuli["question"].to_list() == ["Look at this.", "And at this."]
    assert r.raters["age"].to_list() == [31, 44]
    words = qualtrics(
        columns, sheet("R_1", 31, "joy", "fear", ""), sheet("R_2", 4, "joy", "joy", "")
    )
    assert read(words).scale.categories == ("joy", "fear")


def test_what_qualtrics_calls_its_columns_is_said_before_reading(tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    file.write_text(qualtrics(MATRIX, sheet("R_1", 1, 5, 2, 3)))
    layout = load_format("qualtrics").describe(Peek.open(file))
    assert layout.roles == {"rater": "ResponseId"}
    assert layout.labels == ("Q5_1", "Q5_2", "Q6_1", "Q6_2")
    assert layout.unused["IPAddress"] == "of the platform"


def test_only_previews_are_no_answers(read: Read) -> None:
    preview = sheet("R_1", 1, 5, 2, 3)
    preview[1] = "Survey Preview"
    with pytest.raises(InputError, match="no sheet of a participant"):
        read(qualtrics(MATRIX, preview))


FORM = [
    ["Timestamp", "Username", "Your participant ID", "How old are you?", "Face 1", "Face 2"],
    ["11/27/2026 9:00:00", "a@b.c", "p1", 31, "Joy;Awe", "Fear"],
    ["11/27/2026 9:05:00", "d@e.f", "p2", 40, "Awe", "Joy"],
]


def test_checkboxes_of_google_forms(read: Read) -> None:
    r = read(table(*FORM), format="google-forms,questions=['Face 1']")
    assert rows(r) == [
        ("Face 1", "p1", "Awe", 1.0),
        ("Face 1", "p1", "Joy", 1.0),
        ("Face 1", "p2", "Awe", 1.0),
        ("Face 1", "p2", "Joy", 0.0),
    ]
    assert r.raters["How old are you?"].to_list() == [31, 40]
    assert "a@b.c" not in str(r.raters.rows())


def test_grids_of_google_forms(read: Read) -> None:
    german = [["Zeitstempel", "Wie froh? [a.png]", "Wie froh? [b.png]"]]
    r = read(table(*german, ["27.11.2026 09:00:00", 1, 5], ["27.11.2026 09:10:00", 2, 4]))
    assert r.stimulus_names == ("a.png", "b.png")
    assert r.rater_names == ("participant-01", "participant-02")


def test_a_time_alone_makes_no_form(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    for text in (
        "Timestamp,stimulus,rater,value\n2026/11/27 9:00:00,a,x,1\n",
        "Timestamp,Face [Joy]\nyesterday,1\n",
        "Time,How happy is it?\n2026/11/27 9:00:00,1\n",
    ):
        file.write_text(text)
        assert find_format(Peek.open(file)).name == "table"


LIME = {"id": 4, "submitdate": "2026-11-27", "lastpage": 2}


def test_arrays_of_limesurvey(read: Read) -> None:
    columns = {
        **LIME, "ipaddr": "10.0.0.1", "G1Q1[a_joy]": 3, "G1Q1[a_fear]": 1, "G1Q1[b_joy]": 5,
        "G1Q1[b_fear]": 2, "groupTime12": 4.5,
    }  # fmt: skip
    r = read(table(list(columns), list(columns.values()), delimiter=";"))
    assert rows(r) == [
        ("a", "4", "fear", 1.0),
        ("a", "4", "joy", 3.0),
        ("b", "4", "fear", 2.0),
        ("b", "4", "joy", 5.0),
    ]
    assert r.history[-1]["counts"] == (4, 1)


def test_words_of_limesurvey_as_headers(read: Read) -> None:
    columns = {
        "Response ID": 4, "Date submitted": "2026-11-27", "Last page": 2, "Start language": "en",
        "What is your gender?": "f", "How happy is this? [a.png]": "A3",
        "How happy is this? [b.png]": "A5", "Remarks [Other]": "none", "Total time": 9,
    }  # fmt: skip
    r = read(table(list(columns), list(columns.values())))
    assert rows(r) == [("a.png", "4", 3.0), ("b.png", "4", 5.0)]
    assert r.raters["What is your gender?"].to_list() == ["f"]
    assert r.history[0] == step(StepKind.ANSWER_CODES, n=2)


def test_choices_of_limesurvey(read: Read) -> None:
    header = [*LIME, "f1[joy]", "f1[awe]", "f2[joy]", "f2[awe]"]
    r = read(table(header, [*LIME.values(), "Y", "", "", "Y"], [5, "", 2, "", "", "Y", "Y"]))
    assert ("f1", "4", "awe", 0.0) in rows(r)
    assert r.n_rows == 6


def test_sessions_of_redcap(read: Read) -> None:
    text = table(
        ["record_id", "redcap_event_name", "age", "consent", "face1", "face2", "base_complete"],
        [1, "base_arm_1", 31, 1, "", "", 2],
        [1, "week1_arm_1", "", "", 4, 2, 2],
        [1, "week2_arm_1", "", "", 5, 3, 2],
    )
    r = read(text)
    assert rows(r) == [("face1", "1", 4.0), ("face1", "1", 5.0), ("face2", "1", 2.0),
                       ("face2", "1", 3.0)]  # fmt: skip
    assert set(r.frame["session"]) == {"week1_arm_1", "week2_arm_1"}
    assert r.raters["age"].to_list() == [31]


def test_labels_of_redcap(read: Read) -> None:
    header = [
        "Record ID", "Face 1 (choice=Joy)", "Face 1 (choice=Awe)", "Face 2 (choice=Joy)",
        "Face 2 (choice=Awe)", "How hard was it?", "Complete?",
    ]  # fmt: skip
    r = read(table(header, [1, "Checked", "Unchecked", "Unchecked", "Checked", 4, "Complete"]))
    assert rows(r) == [
        ("Face 1", "1", "Awe", 0.0),
        ("Face 1", "1", "Joy", 1.0),
        ("Face 2", "1", "Awe", 1.0),
        ("Face 2", "1", "Joy", 0.0),
    ]
    assert r.raters["How hard was it?"].to_list() == [4]


def test_sliders_of_one_row_are_single_questions(read: Read) -> None:
    """Each as a stimulus, on one scale, not as a label with a stimulus of its own."""
    text = (
        "ResponseId,Competence_1,Honesty_1\n"
        "Response ID,How competent? - most scientists,How honest? - most scientists\n"
        '"{""ImportId"":""_recordId""}","{""ImportId"":""QID1_1""}","{""ImportId"":""QID2_1""}"\n'
        "R_1,72,40\nR_2,86,55\n"
    )
    r = read(text, scale="0-100")
    assert (r.stimulus_names, r.has_labels) == (("Competence", "Honesty"), False)
    assert r.value.tolist() == [72, 86, 40, 55]
    turned = read(text, scale="0-100", format="qualtrics,rows=stimuli")
    assert (turned.stimulus_names, turned.label_names) == (
        ("most scientists",),
        ("Competence", "Honesty"),
    )


TICKS = {**META, "Q5": ("Which does a.jpg show?", "QID5"), "Q6": ("Which does b.jpg show?", "QID6")}


def test_several_choices_in_a_cell(read: Read) -> None:
    text = qualtrics(TICKS, sheet("R_1", "1,4", "2"), sheet("R_2", "4", "1,2"))
    with guessing(StepKind.SETS_IN_CELLS, columns=("Q5", "Q6")):
        r = read(text)
    assert r.label_names == ("1", "2", "4")
    assert ("a.jpg", "R_1", "2", 0.0) in rows(r)
    whole = read(text, separator="", scale=Scale.nominal(("1,4", "2", "4", "1,2")))
    assert (whole.n_ratings, whole.has_labels) == (4, False)
    bars = read(text.replace("1,4", "1|4").replace("1,2", "1|2"), separator="|")
    assert rows(bars) == rows(r)


def test_numbers_with_commas_and_texts_with_commas_are_no_choices(read: Read) -> None:
    with pytest.raises(InputError, match=r"'3,5' is not understood"):
        read(qualtrics(TICKS, sheet("R_1", "3,5", "4,5"), sheet("R_2", "4", "3")))
    header = ["Timestamp", "Email Address", "Face 1", "Face 2"]
    time = "2026/11/27 9:00:00 AM GMT+1"
    said = read(table(header, [time, "", "Yes, very", "No"], [time, "", "No", "Yes, very"]))
    assert said.scale.categories == ("Yes, very", "No")


def test_words_that_name_nothing_name_no_stimulus() -> None:
    assert crossed_names(["How tall is Anna?", "How wide is Anna?", "How tall is Bo?"]) is None
    assert crossed_names(["How much joy?", "How much fear?", "How much anger?"]) is None
    parts = [
        "a.png - How much joy? - joy",
        "a.png - How much awe? - awe",
        "b.png - How much joy? - joy",
    ]
    assert crossed_names(parts) == [("a.png", "joy"), ("a.png", "awe"), ("b.png", "joy")]


def test_fields_of_redcap_that_name_what_was_shown(read: Read) -> None:
    header = ["pid", "redcap_repeat_instance", "sex", "photo", "mood_item", "joy", "form_complete"]
    body = [
        [1, "", "f", "", "", "", 2],
        [1, 1, "", "x", "u", 4, 2],
        [1, 2, "", "y", "v", 2, 2],
        [1, 3, "", "", "w", 5, 2],
    ]
    with guessing(StepKind.INSTANCE_FIELD, field="photo"):
        r = read(table(header, *body), format="redcap,questions=['joy']")
    assert rows(r) == [("x", "1", "joy", 4.0), ("y", "1", "joy", 2.0)]
    assert r.raters["sex"].to_list() == ["f"]
    assert "1 row: answers without a name in 'photo' (line 5)" in map(str, r.set_aside)
    named = read(table(header, *body), format="redcap,stimulus=mood_item,questions=['joy']")
    assert named.stimulus_names == ("u", "v", "w")
    with pytest.raises(InputError, match="unknown field 'foto'; did you mean 'photo'"):
        read(table(header, *body), format="redcap,stimulus=foto")


MONKEY = [
    ["Respondent ID", "Collector ID", "How much?", "", "How much?", "", "Sex"],
    ["", "", "Joy", "Awe", "Joy", "Awe", "Response"],
    [118, 4, 5, 1, 2, 2, "f"],
]


def test_questions_of_surveymonkey_may_have_the_same_words(read: Read) -> None:
    r = read(table(*MONKEY))
    assert r.stimulus_names == ("How much?", "How much? (2)")
    assert r.raters["Sex"].to_list() == ["f"]
    with pytest.raises(InputError, match="line 4: 2 fields, expected 7"):
        read(table(*MONKEY, [119, 4]))
    with pytest.raises(InputError, match="no sheet of a participant"):
        read(table(*MONKEY[:2]))


def test_items_with_numbers_are_not_repeated_questions(read: Read) -> None:
    first = ["ID", "Start time", "Completion time", "Email", "Name"]
    items = [f"Item {n}" for n in range(1, 13)]
    r = read(table([*first, *items], [1, "", "", "", "", *[k % 5 for k in range(12)]]))
    assert (r.stimulus_names, r.has_labels) == (tuple(items), False)


def test_no_answer_in_words_beside_numbers(read: Read) -> None:
    text = qualtrics(MATRIX, sheet("R_1", 1, 5, 2, "Prefer not to say"), sheet("R_2", 1, 5, 2, 1))
    with guessing(StepKind.NO_ANSWER_WORDS, words=("Prefer not to say",), n=1):
        assert read(text).n_ratings == 7
    assert read(text, scale="nominal:1,2,5,Prefer not to say").n_ratings == 8
