"""Batches of Mechanical Turk: every form of answer, rejected work, and names that are not kept."""

from __future__ import annotations

import csv
import json

import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.ratings import StepKind, read_ratings
from affectlab.ratings.formats.mturk import MechanicalTurk
from affectlab.ratings.steps import step

# Answers of several kinds are on several scales, of which not all are known; that is then said.
pytestmark = pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedScalesWarning")

HEAD = {
    "HITId": "3W8CV64QJ2Y0JB",
    "HITTypeId": "3TYPE",
    "Title": "Judge a face",
    "Reward": "$0.05",
    "CreationTime": "Thu Oct 09 07:00:00 UTC 2025",
    "AssignmentId": "",
    "WorkerId": "",
    "AssignmentStatus": "Approved",
    "SubmitTime": "Thu Oct 09 07:30:20 UTC 2025",
    "WorkTimeInSeconds": "31",
    "LifetimeApprovalRate": "100% (12/12)",
}


def mturk(file, *, stimulus=None, scale=None, on_bad="raise", answers=None, **settings):
    """Read a batch with settings of its format."""
    chosen = MechanicalTurk(answers=None if answers is None else tuple(answers), **settings)
    columns = None if stimulus is None else {"stimulus": stimulus}
    return read_ratings(file, format=chosen, columns=columns, scale=scale, on_bad=on_bad)


def batch(path, *rows, **common):
    """Write rows as Mechanical Turk does: all cells in quotes, Approve and Reject at the end."""
    full = [
        HEAD | {"AssignmentId": f"A{n}", "WorkerId": f"W{n}"} | common | row
        for n, row in enumerate(rows, start=1)
    ]
    names = [*dict.fromkeys(name for row in full for name in row), "Approve", "Reject"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, quoting=csv.QUOTE_ALL, restval="")
        writer.writeheader()
        writer.writerows(full)
    return path


@pytest.fixture
def file(tmp_path):
    return tmp_path / "Batch_123_batch_results.csv"


def rows(ratings, *columns):
    return ratings.frame.select(columns or ("stimulus", "rater", "label", "value")).rows()


def test_numbers(file):
    batch(
        file,
        {"Answer.joy": "7", "Answer.fear": "0"},
        {"Answer.joy": "6", "Answer.fear": ""},
        **{"Input.image_url": "a.jpg"},
    )
    r = mturk(file, scale="0-7")
    assert rows(r) == [
        ("a.jpg", "worker-01", "joy", 7.0),
        ("a.jpg", "worker-01", "fear", 0.0),
        # An empty answer is none, which is not 0.
        ("a.jpg", "worker-02", "joy", 6.0),
    ]
    assert rows(r, "rt_ms", "session", "at")[0] == (31_000, "A1", "2025-10-09T07:30:20+00:00")
    assert read_ratings(file, scale="0-7").equals(r)


def test_check_boxes(file):
    batch(
        file,
        {"Answer.joy.on": "true", "Answer.fear.on": "false", "Answer.awe.on": "false"},
        {"Answer.joy.on": "false", "Answer.fear.on": "true", "Answer.awe.on": "true"},
        **{"Input.url": "a.jpg"},
    )
    r = mturk(file)
    assert r.scale.kind == "binary"
    assert rows(r, "rater", "label", "value") == [
        ("worker-01", "joy", 1.0),
        ("worker-01", "fear", 0.0),
        ("worker-01", "awe", 0.0),
        ("worker-02", "joy", 0.0),
        ("worker-02", "fear", 1.0),
        ("worker-02", "awe", 1.0),
    ]


def test_radio_buttons(file):
    batch(
        file,
        {"Answer.feel.good": "true", "Answer.feel.bad": "false"},
        {"Answer.feel.good": "false", "Answer.feel.bad": "true"},
        **{"Input.url": "a.jpg"},
    )
    assert rows(mturk(file), "label", "value") == [
        ("good", 1.0),
        ("bad", 0.0),
        ("good", 0.0),
        ("bad", 1.0),
    ]
    batch(
        file,
        {"Answer.feel.good": "true", "Answer.sure.good": "false", "Answer.sure.very": "true"},
        **{"Input.url": "a.jpg"},
    )
    assert rows(mturk(file), "label") == [("feel.good",), ("sure.good",), ("sure.very",)]


def test_buttons_with_numbers_are_a_number(file):
    batch(
        file,
        {"Answer.joy.1": "false", "Answer.joy.2": "true", "Answer.joy.3": "false"},
        {"Answer.joy.1": "true", "Answer.joy.2": "false", "Answer.joy.3": "false"},
        {"Answer.joy.1": "false", "Answer.joy.2": "false", "Answer.joy.3": "false"},
        **{"Input.url": "a.jpg"},
    )
    r = mturk(file, scale="1-3")
    assert rows(r, "rater", "label", "value") == [
        ("worker-01", "joy", 2.0),
        ("worker-02", "joy", 1.0),
    ]
    assert r.history[0] == step(StepKind.OPTION_NUMBERS, question="joy")


def test_words(file):
    batch(
        file,
        {"Answer.category.label": "Joy"},
        {"Answer.category.label": "Fear"},
        {"Answer.category.label": "Joy"},
        **{"Input.text": 'Hello, "you"\nthere'},
    )
    r = mturk(file)
    assert "label" not in r.frame.columns
    assert r.scale.categories == ("Fear", "Joy")
    assert r.value.tolist() == [1.0, 0.0, 1.0]
    assert r.stimulus_names == ('Hello, "you"\nthere',)


def test_crowd_forms(file):
    forms = [
        {"joy": 3, "fear": "5", "comment": "hm", "done": {"on": True}},
        {"joy": 2.0, "fear": "0", "done": {"on": True}},
    ]
    batch(
        file,
        *({"Answer.taskAnswers": json.dumps([form])} for form in forms),
        **{"Input.url": "a.jpg"},
    )
    r = mturk(file)
    assert {label: scale.kind for label, scale in r.scales.items()} == {
        "joy": "ordinal",
        "fear": "ordinal",
        "done": "binary",
    }
    r = mturk(file, answers=["joy", "fear"], scale="0-7")
    assert rows(r, "label", "value") == [
        ("joy", 3.0),
        ("fear", 5.0),
        ("joy", 2.0),
        ("fear", 0.0),
    ]
    assert "answer_comment" in r.frame.columns or "answer_comment" in r.raters.columns


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"feel": {"label": "Joy"}}, [(None, 0.0)]),
        ({"feel": {"labels": ["joy", "awe"]}}, [("joy", 1.0), ("awe", 1.0)]),
        ({"feel": {"joy": True, "awe": False}}, [("joy", 1.0), ("awe", 0.0)]),
        ({"joy": {"on": True}, "awe": {"on": False}}, [("joy", 1.0), ("awe", 0.0)]),
        ({"joy": True}, [("joy", 1.0)]),
        ({"feel": {"1": False, "2": True}}, [("feel", 2.0)]),
        ({"joy": 4}, [("joy", 4.0)]),
    ],
)
def test_crowd_elements(file, form, expected):
    batch(file, {"Answer.taskAnswers": json.dumps([form])}, **{"Input.url": "a.jpg"})
    r = mturk(file, scale="1-5 interval" if expected[0][1] > 1 else None)
    found = [
        (row.get("label"), value)
        for row, value in zip(r.to_frame().to_dicts(), r.value.tolist(), strict=True)
    ]
    assert found == expected


def test_options_that_somebody_else_was_shown(file):
    """A multi-select names what was chosen alone; the rest is what others chose."""
    forms = [{"feel": {"labels": ["joy"]}}, {"feel": {"labels": ["awe"]}}]
    batch(
        file,
        *({"Answer.taskAnswers": json.dumps([form])} for form in forms),
        **{"Input.url": "a.jpg"},
    )
    assert rows(mturk(file), "rater", "label", "value") == [
        ("worker-01", "joy", 1.0),
        ("worker-01", "awe", 0.0),
        ("worker-02", "joy", 0.0),
        ("worker-02", "awe", 1.0),
    ]


class TestRejected:
    def test_left_out_and_counted(self, file):
        batch(
            file,
            {"Answer.joy": "1"},
            {"Answer.joy": "7", "AssignmentStatus": "Rejected"},
            {"Answer.joy": "2", "AssignmentStatus": "Submitted"},
            **{"Input.url": "a.jpg"},
        )
        r = mturk(file, scale="0-7")
        assert r.value.tolist() == [1.0, 2.0]
        assert [str(one) for one in r.set_aside] == ["1 row: the assignment was rejected (line 3)"]
        assert mturk(file, scale="0-7", keep_rejected=True).value.tolist() == [1.0, 7.0, 2.0]

    def test_nothing_is_left(self, file):
        batch(file, {"Answer.joy": "1"}, AssignmentStatus="Rejected")
        with pytest.raises(InputError, match="no assignment can be used"):
            mturk(file)

    def test_other_states(self, file):
        batch(file, {"Answer.joy": "1"}, {"Answer.joy": "2", "AssignmentStatus": "Expired"})
        with pytest.raises(InputError, match="line 3: AssignmentStatus is 'Expired'; expected App"):
            mturk(file)
        r = mturk(file, scale="0-7", on_bad="set_aside")
        assert (r.n_rows, r.set_aside[0].reason) == (1, "status not known")


class TestNames:
    def test_worker_ids_are_not_kept(self, file, tmp_path):
        batch(
            file,
            {"Answer.joy": "1", "WorkerId": "A2SUAM1J3GNN3B"},
            {"Answer.joy": "2", "WorkerId": "A1XYZ"},
            {"Answer.joy": "3", "WorkerId": "A2SUAM1J3GNN3B", "Input.url": "b.jpg"},
            **{"Input.url": "a.jpg"},
        )
        for key in (None, "secret"):
            r = mturk(file, scale="0-7", key=key)
            assert r.n_raters == 2
            assert rows(r, "rater")[0] == rows(r, "rater")[2]
            r.write(tmp_path / "out.parquet")
            r.write(tmp_path / "out.csv")
            content = b"".join(one.read_bytes() for one in tmp_path.glob("out*"))
            assert b"A2SUAM1J3GNN3B" not in content
            assert b"A1XYZ" not in content

    def test_a_key_names_the_same_in_every_file(self, tmp_path):
        names = []
        for number, order in enumerate((["W1", "W2"], ["W2", "W3", "W1"])):
            path = tmp_path / f"{number}.csv"
            batch(path, *({"Answer.joy": "1", "WorkerId": worker} for worker in order))
            found = mturk(path, key="k")
            names.append(dict(zip(order, [row[0] for row in rows(found, "rater")], strict=True)))
            other = [row[0] for row in rows(mturk(path, key="other"), "rater")]
            assert not set(other) & set(names[-1].values())
        assert names[0]["W1"] == names[1]["W1"]
        assert names[0]["W2"] == names[1]["W2"]
        with pytest.raises(InputError, match="key is empty"):
            mturk(tmp_path / "0.csv", key="")

    def test_a_worker_without_a_name(self, file):
        batch(file, {"Answer.joy": "1", "WorkerId": " "})
        with pytest.raises(InputError, match="line 2: WorkerId is empty"):
            mturk(file)


class TestStimulus:
    ROWS = (
        {"HITId": "H1", "Input.url": "a.jpg", "Input.caption": "Storm", "Answer.joy": "1"},
        {"HITId": "H2", "Input.url": "b.jpg", "Input.caption": "Sun", "Answer.joy": "2"},
    )

    def test_the_hit_where_there_are_several_inputs(self, file):
        r = mturk(batch(file, *self.ROWS))
        assert r.stimulus_names == ("H1", "H2")
        assert r.stimuli.select("url", "caption").rows() == [("a.jpg", "Storm"), ("b.jpg", "Sun")]

    @pytest.mark.parametrize("name", ["Input.url", "url"])
    def test_a_named_input(self, file, name):
        r = mturk(batch(file, *self.ROWS), stimulus=name)
        assert r.stimulus_names == ("a.jpg", "b.jpg")
        assert "url" not in r.stimuli.columns
        again = read_ratings(file, format="mturk-batch", columns={"stimulus": name})
        assert again.equals(r)

    def test_one_that_is_not_there(self, file):
        with pytest.raises(InputError, match=r"no column 'x'.*Input.url, Input.caption, HITId"):
            mturk(batch(file, *self.ROWS), stimulus="x")

    def test_nothing_else_can_be_named(self, file):
        batch(file, *self.ROWS)
        with pytest.raises(InputError, match="unknown role 'rater'; expected one of: stimulus"):
            read_ratings(file, format="mturk-batch", columns={"rater": "WorkerId"})
        with pytest.raises(InputError, match="wide cannot be given"):
            read_ratings(file, format="mturk-batch", wide="labels")


def test_answers_that_are_no_json(file):
    batch(file, {"Answer.taskAnswers": '[{"joy": 1}]'}, {"Answer.taskAnswers": "[{"})
    with pytest.raises(InputError, match=r"line 3: Answer\.taskAnswers is '\[{'; expected JSON"):
        mturk(file)
    assert mturk(file, on_bad="set_aside").n_rows == 1
    batch(file, {"Answer.taskAnswers": "[1, 2]"})
    with pytest.raises(InputError, match="expected a list of objects"):
        mturk(file)


def test_several_questions_of_words(file):
    batch(file, {"Answer.a": "yes", "Answer.b": "why"})
    r = mturk(file)
    assert {label: str(scale) for label, scale in r.scales.items()} == {
        "a": "nominal: yes",
        "b": "nominal: why",
    }
    r = mturk(file, answers=["a"])
    assert list(r.scale.categories) == ["yes"]
    with pytest.raises(InputError, match="no answer 'c'; found: a, b"):
        mturk(file, answers=["c"])


def test_no_answers(file):
    batch(file, {"Input.url": "a.jpg"})
    with pytest.raises(InputError, match="no assignment has an answer"):
        mturk(file)


def test_another_file(file):
    file.write_text("stimulus,rater,value\na,r,1\n")
    with pytest.raises(InputError, match="no batch of Mechanical Turk"):
        mturk(file)


@given(
    forms=st.lists(
        st.dictionaries(
            st.text(max_size=5),
            st.one_of(
                st.none(),
                st.booleans(),
                st.floats(),
                st.text(max_size=5),
                st.lists(st.integers(), max_size=2),
                st.dictionaries(st.text(max_size=3), st.booleans(), max_size=3),
            ),
            max_size=4,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_whatever_a_form_holds(tmp_path_factory, forms):
    """Strange answers are read, or refused in one sentence."""
    path = tmp_path_factory.mktemp("forms") / "batch.csv"
    batch(path, *({"Answer.taskAnswers": json.dumps([form])} for form in forms))
    said = ""
    try:
        found = mturk(path).n_rows
    except InputError as error:
        found, said = 0, str(error)
    assert found >= 1 or said.startswith(str(path))
