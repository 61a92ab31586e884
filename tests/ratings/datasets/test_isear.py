"""ISEAR: texts that hold the separator."""

from __future__ import annotations

import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import StepKind, read_ratings
from affectlab.ratings.steps import step

NAMES = [
    "ID",
    "CITY",
    "COUN",
    "SUBJ",
    "SEX",
    "AGE",
    "RELI",
    "PRAC",
    "FOCC",
    "MOCC",
    "FIEL",
    "EMOT",
    "INTS",
    "Field1",
    "MYKEY",
    "SIT",
    "STATE",
]


def report(text, key="0110011", code="2", emotion="fear", person="11001"):
    cells = [
        person,
        *["1", "1", "1", "1", "33", "1", "2", "6", "1", "2"],
        code,
        "3",
        emotion,
        key,
        text,
        "1",
        "",
    ]
    return "|".join(cells)


def write(path, *lines, encoding="utf-8"):
    path.write_bytes("\n".join(["|".join(NAMES) + "|", *lines, ""]).encode(encoding))
    return path


def test_texts_are_joined_again(tmp_path):
    file = write(
        tmp_path / "isear.csv",
        report("plain"),
        report("one|two", "0110012", "1", "joy"),
        report('"a|b||c" said', "0110013", "7", "guilt", person="11002"),
    )
    r = read_ratings(file)
    assert r.stimuli["text"].to_list() == ["plain", "one|two", '"a|b||c" said']
    assert r.history == (step(StepKind.SEPARATORS_JOINED, n=2),)
    assert r.frame.select("stimulus", "rater", "label", "value").rows() == [
        ("0110011", "11001", "fear", 1.0),
        ("0110012", "11001", "joy", 1.0),
        ("0110013", "11002", "guilt", 1.0),
    ]
    assert r.stimulus_names[0] == "0110011"
    assert r.raters.row(0, named=True)["AGE"] == 33
    assert r.stimuli["INTS"].to_list() == [3, 3, 3]
    assert r.taxonomy.labels == ("joy", "fear", "anger", "sadness", "disgust", "shame", "guilt")


def test_encodings(tmp_path):
    line = report("in Málaga")
    assert read_ratings(write(tmp_path / "u.csv", line)).history == ()
    r = read_ratings(write(tmp_path / "l.csv", line, encoding="latin-1"))
    assert r.stimuli["text"].to_list() == ["in Málaga"]
    assert r.history == (step(StepKind.ENCODING, encoding="latin-1"),)
    named = read_ratings(tmp_path / "l.csv", encoding="latin-1", format="isear")
    assert (named.stimuli["text"][0], named.history) == ("in Málaga", ())


NO_ANSWERS = [
    "[ No response.]",
    " [ No response.]",
    "NO RESPONSE.",
    "[ No reponse.]",
    "None.",
    "[ Never experienced.]",
    "[ I have never felt this emotion.]",
    "Doesn't apply.",
    "[ Not applicable.]",
    "[ Do not remember any incident.]",
    "Can't remember that feeling.",
    "[ Honestly, I have never felt disgust at any situation in my á life.]",
]
ELSEWHERE = ["[ The same as in shame.]", 'The same as in \\shame\\"."', "As for disgust."]
ANSWERS = [
    "When I was at home alone.",
    "Nothing went well that day.",
    "I did not remember my mother's birthday.",
    "I had no answer to the question of my teacher.",
    "I could not remember the words I had to say.",
    "I have never felt so happy as when my son was born.",
    "I never had the courage to tell my father.",
    "I have never felt fear like when the dog came at me.",
    "[ Same as above - friends who torture animals.]",
    "[ I can not remember anything in particular.  What I can remember á is being late.]",
    "The same as for SHAME and DISGUST. I was asked to resign.",
    "Not doing well in the examn.",
]


def test_what_is_no_answer_is_set_aside_and_counted(tmp_path):
    texts = [*NO_ANSWERS, *ELSEWHERE, *ANSWERS]
    lines = [report(text, str(row)) for row, text in enumerate(texts)]
    file = write(tmp_path / "isear.csv", *lines)
    for r in (read_ratings(file, format="isear"), read_ratings(file)):
        assert r.stimuli["text"].to_list() == ANSWERS
        assert {part.reason: part.count for part in r.set_aside} == {
            "no answer, such as '[ No response.]'": len(NO_ANSWERS),
            "no answer but the name of another, such as 'The same as in shame.'": len(ELSEWHERE),
        }
    kept = read_ratings(file, format="isear,keep_non_answers=true")
    assert kept.stimuli["text"].to_list() == texts
    assert kept.set_aside == ()
    with pytest.raises(InputError, match="unknown on_bad 'skip'"):
        read_ratings(file, on_bad="skip", format="isear,keep_non_answers=true")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("11001|1|1", "line 3: 3 fields; expected 18, or more where the text holds '|'"),
        (report("x", "1", "2", "fera"), "line 3: Field1 is 'fera'; expected one of joy, fear"),
        (report("x", "1", "3", "fear"), "line 3: EMOT is '3'; expected 2 for fear"),
        (report("x", ""), "line 3: stimulus is empty"),
        (report("x", person=" "), "line 3: rater is empty"),
    ],
)
def test_bad_lines(tmp_path, line, said):
    file = write(tmp_path / "isear.csv", report("fine"), line)
    with pytest.raises(InputError) as error:
        read_ratings(file, format="isear")
    assert str(error.value).startswith(f"{file}, {said}")


def test_bad_lines_can_be_set_aside(tmp_path):
    file = write(tmp_path / "isear.csv", report("fine"), "1|2", report("x", "1", "3", "fear"))
    r = read_ratings(file, on_bad="set_aside", format="isear")
    assert r.n_ratings == 1
    assert {part.reason: (part.count, part.places) for part in r.set_aside} == {
        "fewer than 18 fields": (1, ("line 3",)),
        "EMOT and Field1 disagree": (1, ("line 4",)),
    }


def test_missing_column(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("ID|MYKEY|SIT|\n1|2|text|\n")
    with pytest.raises(InputError, match="line 1: column 'Field1' is missing; expected MYKEY"):
        read_ratings(file, format="isear")


def test_published_file(shared_data):
    file = shared_data / "isear" / "isear.csv"
    r = read_ratings(file)
    assert (r.n_ratings, r.n_stimuli, r.n_raters, r.n_labels) == (7_506, 7_506, 1_096, 7)
    assert sorted(part.count for part in r.set_aside) == [8, 152]
    whole = read_ratings(file, format="isear,keep_non_answers=true")
    assert (whole.n_ratings, whole.n_raters, whole.set_aside) == (7_666, 1_096, ())
    gone = set(whole.stimuli["text"]) - set(r.stimuli["text"])
    # What describes something is longer than what says that there is nothing.
    assert len(gone) == 61
    assert max(map(len, gone)) < 75
    assert r.history == (
        step(StepKind.SEPARATORS_JOINED, n=163),
        step(StepKind.QUOTES_REMOVED, column="STATE", n=2),
    )
    counts = dict(r.frame["label"].value_counts().rows())
    assert counts == {
        "joy": 1_088,
        "fear": 1_079,
        "anger": 1_083,
        "sadness": 1_080,
        "disgust": 1_065,
        "shame": 1_050,
        "guilt": 1_061,
    }
    # Nothing is lost: fields joined with the separator give the text of the file again.
    content = file.read_text("utf-8")
    assert all(f"|{text}|1" in content for text in r.stimuli["text"])


def test_published_file_read_as_a_plain_table(shared_data):
    file = shared_data / "isear" / "isear.csv"
    roles = {"stimulus": "MYKEY", "rater": "ID", "label": "Field1", "value": "INTS"}
    with pytest.raises(InputError, match=r"isear\.csv, line \d+: 4\d fields, expected 4\d"):
        read_ratings(file, format="table", columns=roles)
    r = read_ratings(file, format="table", columns=roles, on_bad="set_aside")
    ragged = [part for part in r.set_aside if "fields" in part.reason]
    assert sum(part.count for part in ragged) == 163
    assert all(place.startswith("line ") for place in ragged[0].places)
    assert r.n_rows == 7_666 - 163
