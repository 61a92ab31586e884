"""What tools of annotation export: which answers are kept, which are left out and counted.

Samples of Label Studio (JSON-MIN, CSV) and Argilla have the shape of exports that were made with
label-studio-sdk 2.1 and argilla 2.8; those of doccano, Prodigy and Potato were written by hand from
the documentation and the exporters of these tools.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.ratings.datasets.samples_of_tools import (
    ARGILLA,
    DOCCANO,
    LABEL_STUDIO,
    PRODIGY,
    TOOLS,
    choice,
    lines,
)

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, StepKind, read_ratings
from affectlab.ratings.steps import step

pytestmark = pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedScalesWarning")


def read(folder: Path, content: str, name: str = "ann.jsonl", **options: Any) -> Ratings:
    """Read a text as a file."""
    file = folder / name
    file.write_text(content, encoding="utf-8")
    return read_ratings(file, **options)


def answers(ratings: Ratings) -> set[tuple[str, str, str, float | str]]:
    """Give stimulus, rater, label and answer, in words where the scale has words."""
    found = set()
    for row in ratings.frame.iter_rows(named=True):
        label = row.get("label", "")
        scale = ratings.scales[label] if label else ratings.scale
        value: float | str = row["value"]
        if scale.kind == "nominal":
            value = scale.categories[int(row["value"])]
        elif scale.kind == "text":
            value = row["text"]
        found.add((row["stimulus"], row["rater"], label, value))
    return found


def left_out(ratings: Ratings) -> dict[str, int]:
    """Give what was left out, by reason."""
    return {part.reason: part.count for part in ratings.set_aside}


def test_label_studio_has_people_and_models(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["label-studio"])
    assert answers(r) == {
        ("1", "1", "emotion", "joy"),
        ("1", "1", "intensity", 6.0),
        ("1", "bo@lab", "emotion", "fear"),
        ("1", "m", "emotion", "joy"),
        ("2", "1", "emotion", "fear"),
        ("2", "1", "intensity", 2.0),
    }
    assert dict(zip(r.rater_names, r.rater_kinds, strict=True)) == {
        "1": "human",
        "bo@lab": "human",
        "m": "model",
    }
    assert left_out(r) == {
        "labels: about a part of the stimulus": 1,
        "the annotation was cancelled": 1,
    }
    assert r.frame["rt_ms"].max() == 4250
    assert r.stimuli["text"].to_list() == ["such a day!", "still dark"]


def test_a_choice_of_several_is_yes_or_no_to_each_option(tmp_path: Path) -> None:
    tasks = [
        {
            "id": 1,
            "data": {},
            "annotations": [{"result": [choice("e", *chosen)], "completed_by": 1}],
        }
        for chosen in (["joy", "awe"],)
    ]
    tasks.append(
        {**tasks[0], "id": 2, "annotations": [{"result": [choice("e")], "completed_by": 1}]}
    )
    r = read(tmp_path, json.dumps(tasks))
    assert {label: str(scale) for label, scale in r.scales.items()} == dict.fromkeys(
        ("joy", "awe"), "binary, 0 or 1"
    )
    assert r.value.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_options_called_by_numbers_are_numbers(tmp_path: Path) -> None:
    tasks = [
        {"id": k, "data": {}, "annotations": [{"result": [choice("e", str(k))], "completed_by": 1}]}
        for k in (1, 3, 5)
    ]
    r = read(tmp_path, json.dumps(tasks))
    assert r.value.tolist() == [1.0, 3.0, 5.0]
    assert r.history == (step(StepKind.OPTION_NUMBERS, question="e"),)


def test_a_model_with_the_name_of_a_person_is_another_rater(tmp_path: Path) -> None:
    result = [choice("emotion", "joy")]
    task = {
        "id": 1,
        "data": {},
        "annotations": [{"result": result, "completed_by": 1}],
        "predictions": [{"result": result, "model_version": "1"}],
    }
    assert read(tmp_path, json.dumps([task])).rater_names == ("1", "1 (model)")


def test_the_user_names_what_a_stimulus_is(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["label-studio"], columns={"stimulus": "text"})
    assert r.stimulus_names == ("such a day!", "still dark")
    with pytest.raises(InputError, match=r"entry 1: no 'image' for the stimulus; found: text$"):
        read(tmp_path, TOOLS["label-studio"], columns={"stimulus": "image"})


def test_label_studio_min_tells_answers_from_data(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["label-studio-min"], "project.csv")
    rows = [("1", "1", 1, 0), ("1", "2", 1, 1), ("2", "1", 0, 1)]
    assert answers(r) == {
        ("1", "1", "emotion", "joy"),
        ("1", "2", "emotion", "fear"),
        ("2", "1", "emotion", "fear"),
        *(("1", rater, "intensity", value) for rater, value in (("1", 6.0), ("2", 2.0))),
        ("2", "1", "intensity", 5.0),
        *((task, rater, "signs.smile", float(smile)) for task, rater, smile, _ in rows),
        *((task, rater, "signs.tears", float(tears)) for task, rater, _, tears in rows),
    }
    assert r.history[0] == step(
        StepKind.TASK_COLUMNS, answers=["emotion", "intensity", "signs", "span"], others=["text"]
    )
    assert left_out(r) == {"span: regions or spans": 1}
    entry = {
        "id": 1,
        "annotator": "a",
        "annotation_id": 1,
        "lead_time": 2,
        "e": "joy",
        "image": "/x",
    }
    as_json = read(tmp_path, json.dumps([entry]), "project.json")
    assert answers(as_json) == {("1", "a", "", "joy")}
    said = "no column holds answers.*questions"
    with pytest.raises(InputError, match=said):
        read(tmp_path, json.dumps([{**entry, "e": "http://x"}]), "project.json")


@pytest.mark.parametrize("form", ["rows", "nested", "parquet"])
def test_argilla_has_responses_and_suggestions(tmp_path: Path, form: str) -> None:
    if form == "parquet":
        pl.DataFrame(ARGILLA, infer_schema_length=None).write_parquet(tmp_path / "rows.parquet")
        r = read_ratings(tmp_path / "rows.parquet")
    elif form == "nested":
        record = {
            "id": "r1",
            "fields": {"text": "such a day!"},
            "metadata": {"source": "web"},
            "responses": {
                "emotion": [{"value": "joy", "user_id": "u1"}],
                "signs": [
                    {"value": ["smile"], "user_id": "u1"},
                    {"value": ["smile", "tears"], "user_id": "u2"},
                ],
                "span": [{"value": [{"start": 0, "end": 3, "label": "cue"}], "user_id": "u1"}],
            },
            "suggestions": {"emotion": {"value": "joy", "agent": "tiny", "score": 0.8}},
        }
        other = {
            "id": "r2",
            "fields": {"text": "still dark"},
            "responses": {"emotion": [{"value": "fear", "user_id": "u1"}]},
            "suggestions": {},
        }
        r = read(tmp_path, json.dumps([record, other]))
    else:
        r = read(tmp_path, lines(*ARGILLA))
    assert answers(r) == {
        ("r1", "u1", "emotion", "joy"),
        ("r2", "u1", "emotion", "fear"),
        ("r1", "tiny", "emotion", "joy"),
        ("r1", "u1", "signs.smile", 1.0),
        ("r1", "u1", "signs.tears", 0.0),
        ("r1", "u2", "signs.smile", 1.0),
        ("r1", "u2", "signs.tears", 1.0),
    }
    assert dict(zip(r.rater_names, r.rater_kinds, strict=True))["tiny"] == "model"
    assert left_out(r)["span: spans or ranks"] == 1
    assert form == "nested" or left_out(r)["the response was draft"] == 1
    assert r.stimuli["source"].to_list() == ["web", None]


FEEDBACK = [
    {
        "text": "such a day!",
        "emotion": [
            {"user_id": "u1", "value": "joy", "status": "submitted"},
            {"user_id": "u2", "value": "fear", "status": "discarded"},
        ],
        "emotion-suggestion": "fear",
        "emotion-suggestion-metadata": {"type": None, "score": 0.75, "agent": "tiny"},
        "force": [{"user_id": "u1", "value": 4, "status": "submitted"}],
        "force-suggestion": None,
        "force-suggestion-metadata": {"type": None, "score": None, "agent": None},
        "external_id": "7",
        "metadata": '{"batch": "a"}',
    }
]


@pytest.mark.parametrize("form", ["a list of responses", "a list of each part"])
def test_argilla_1_feedback(tmp_path: Path, form: str) -> None:
    """By hand from the exporter of Argilla 1.29, and from data sets on the hub of earlier ones."""
    rows = json.loads(json.dumps(FEEDBACK))
    if form == "a list of each part":
        for name in ("emotion", "force"):
            given = rows[0][name]
            rows[0][name] = {part: [one[part] for one in given] for part in given[0]}
    pl.DataFrame(rows).write_parquet(tmp_path / "train.parquet")
    for r in (read(tmp_path, lines(*rows)), read_ratings(tmp_path / "train.parquet")):
        assert answers(r) == {
            ("7", "u1", "emotion", "joy"),
            ("7", "tiny", "emotion", "fear"),
            ("7", "u1", "force", 4.0),
        }
        assert dict(zip(r.rater_names, r.rater_kinds, strict=True))["tiny"] == "model"
        assert left_out(r)["the response was discarded"] == 1
        assert r.stimuli.select("stimulus", "batch", "text").rows() == [("7", "a", "such a day!")]


def test_argilla_1_text_classification(tmp_path: Path) -> None:
    """By hand from the data model of Argilla 1.8 and data sets on the hub."""
    record = {
        "text": None,
        "inputs": {"text": "such a day!"},
        "prediction": [{"label": "fear", "score": 0.25}, {"label": "joy", "score": 0.75}],
        "prediction_agent": "tiny",
        "annotation": "joy",
        "annotation_agent": "ann",
        "multi_label": False,
        "id": "7",
        "metadata": {"batch": "a"},
        "status": "Validated",
    }
    other = {**record, "id": "8", "annotation": "fear", "status": "Discarded", "prediction": None}
    r = read(tmp_path, lines(record, other))
    assert answers(r) == {("7", "ann", "", "joy"), ("7", "tiny", "", "joy")}
    assert r.frame["score"].to_list() == [None, 0.75]
    assert left_out(r)["the response was discarded"] == 1
    several = {**record, "annotation": ["joy", "fear"], "multi_label": True}
    chosen = read(tmp_path, lines(several, {**several, "id": "9", "annotation": ["joy"]}))
    assert ("7", "ann", "fear", 1.0) in answers(chosen)


def test_long_answers_are_free_text(tmp_path: Path) -> None:
    said = "because the sun shone all day long"
    record = {"id": "r1", "status": "completed", "why.responses": [said], "text": "x"}
    r = read(tmp_path, lines({**record, "why.responses.users": ["u1"]}))
    assert r.scale.kind == "text"
    assert r.frame["text"].to_list() == [said]


def test_doccano_names_raters_by_file(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["doccano"])
    assert r.rater_names == ("ann",)
    assert r.label_names == ("joy", "fear", "sadness")
    assert r.value.tolist() == [1.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    assert left_out(r) == {"no label was given": 1, "label: spans are no ratings": 1}
    assert read(tmp_path, TOOLS["doccano"], "all.jsonl").rater_names == ("consensus",)
    texts = read(tmp_path, TOOLS["doccano"], format="doccano,texts=true")
    assert texts.frame["text"].to_list() == ["joy", "fear\nsadness"]


def test_doccano_zip_has_a_file_for_each_person(tmp_path: Path) -> None:
    file = tmp_path / "project.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("ann.jsonl", lines(DOCCANO[0]))
        archive.writestr("bo.jsonl", lines({**DOCCANO[0], "label": ["fear"]}, "broken"))
    with pytest.raises(InputError, match=r"project.zip, bo.jsonl, line 2: the entry: "):
        read_ratings(file)
    r = read_ratings(file, on_bad="set_aside")
    assert answers(r) == {("1", "ann", "", "joy"), ("1", "bo", "", "fear")}
    assert left_out(r) == {"entry not understood": 1}
    content = file.read_bytes()
    for size in range(40, len(content), 23):
        file.write_bytes(content[:size])
        with pytest.raises(InputError, match="zip"):
            read_ratings(file)


def test_doccano_writes_tables(tmp_path: Path) -> None:
    """By hand from the exporter of doccano: labels of a document are joined."""
    table = "id,text,batch,label,Comments\n1,such a day!,a,joy,\n2,still dark,b,fear#sad,hm\n"
    r = read(tmp_path, table, "ann.csv")
    assert answers(r) == {
        *(("1", "ann", label, float(label == "joy")) for label in ("joy", "fear", "sad")),
        *(("2", "ann", label, float(label != "joy")) for label in ("joy", "fear", "sad")),
    }
    assert r.stimuli["batch"].to_list() == ["a", "b"]
    with zipfile.ZipFile(tmp_path / "project.zip", "w") as archive:
        archive.writestr("ann.csv", table)
        archive.writestr("bo.csv", table)
    assert read_ratings(tmp_path / "project.zip").rater_names == ("ann", "bo")


def test_prodigy_choices(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["prodigy"])
    assert answers(r) == {("1", "ann", "", "joy"), ("1", "bo", "", "fear")}
    assert str(r.scale) == "nominal: joy, fear"
    assert left_out(r) == {"the task was answered with 'ignore'": 1}
    assert r.stimuli.row(0, named=True) == {
        "stimulus": "1",
        "source": "web",
        "text": "such a day!",
    }
    several = [{**task, "config": {"choice_style": "multiple"}} for task in PRODIGY]
    assert read(tmp_path, lines(*several)).value.tolist() == [1.0, 0.0, 0.0, 1.0]


def test_prodigy_labels_accepted_or_rejected(tmp_path: Path) -> None:
    tasks = [
        {"text": "a", "_input_hash": number, "label": label, "answer": answer}
        for number, label, answer in (
            (1, "joy", "accept"),
            (1, "fear", "reject"),
            (2, "joy", "reject"),
            (2, "fear", "ignore"),
        )
    ]
    tasks.append({"text": "a", "_input_hash": 3, "answer": "accept", "spans": [{"start": 0}]})
    r = read(tmp_path, lines(*tasks))
    assert answers(r) == {
        ("1", "ann", "joy", 1.0),
        ("1", "ann", "fear", 0.0),
        ("2", "ann", "joy", 0.0),
    }
    assert str(r.scale) == "binary, 0 or 1"
    assert left_out(r) == {
        "the task was answered with 'ignore'": 1,
        "spans: no ratings of the whole stimulus": 1,
        "no choice and no label: nothing that is a rating": 1,
    }


def test_crowd_kit_table(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["crowd-kit"], "crowd.csv")
    assert answers(r) == {
        ("t1", "w1", "", "joy"),
        ("t1", "w2", "", "fear"),
        ("t2", "w1", "", "joy"),
    }


def test_an_entry_that_is_none_is_named(tmp_path: Path) -> None:
    broken = [LABEL_STUDIO[0], {"id": 2, "data": {}, "annotations": 3}]
    with pytest.raises(InputError, match=r"entry 2: annotations: Input should be a valid list$"):
        read(tmp_path, json.dumps(broken))
    spans = [{"id": 1, "text": "x", "label": [[0, 1, "cue"]]}]
    with pytest.raises(InputError, match=r"no answer can be used \(left out: 1 cell: label: spans"):
        read(tmp_path, lines(*spans))


def test_potato_schemas(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["potato"])
    assert {one for one in answers(r) if one[:2] == ("i1", "ann")} == {
        ("i1", "ann", "emotion", "joy"),
        ("i1", "ann", "signs.smile", 1.0),
        ("i1", "ann", "signs.tears", 1.0),
        ("i1", "ann", "intensity", 5.0),
        ("i1", "ann", "why", "the sun"),
    }
    assert left_out(r) == {"spans: no ratings of the whole instance": 1}
    many = {"handling": {"urgency": "low", "tone": "high"}, "budget": {"A": 40, "B": 60}}
    r = read(tmp_path, lines({"instance_id": 1, "user_id": "ann", "labels": many}))
    assert answers(r) == {
        ("1", "ann", "handling.urgency", "low"),
        ("1", "ann", "handling.tone", "high"),
        ("1", "ann", "budget.A", 40.0),
        ("1", "ann", "budget.B", 60.0),
    }


def test_potato_writes_three_kinds_of_json(tmp_path: Path) -> None:
    labels = {"emotion": {"joy": "1"}}
    folder = tmp_path / "ann"
    folder.mkdir()
    old = {"id": "i1", "displayed_text": "x", "label_annotations": labels, "span_annotations": {}}
    state = {"user_id": "ann", "instance_id_to_label_to_value": {"i1": labels}}
    machine = {"instance_id": "i1", "user_id": "tiny", "labels": labels, "annotator_origin": "llm"}
    assert answers(read(folder, lines(old), "annotated_instances.jsonl")) == {
        ("i1", "ann", "", "joy")
    }
    r = read(tmp_path, json.dumps(state, indent=1), "user_state.json")
    assert answers(r) == {("i1", "ann", "", "joy")}
    assert read(tmp_path, lines(machine)).rater_kinds == ("model",)


def test_potato_tables(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["potato-table"], "annotations.csv")
    assert answers(r) == {
        ("i1", "ann", "emotion", "joy"),
        ("i1", "bo", "emotion", "fear"),
        ("i2", "ann", "emotion", "joy"),
        ("i1", "ann", "intensity", 5.0),
        ("i1", "bo", "intensity", 2.0),
        ("i2", "ann", "intensity", 2.0),
    }
    assert left_out(r) == {"spans: no ratings of the whole instance": 1}
    old = "user\tinstance_id\temotion:::joy\temotion:::fear\nann\ti1\t1\t\nbo\ti1\t\t1\n"
    r = read(tmp_path, old, "annotated_instances.tsv")
    assert answers(r) == {("i1", "ann", "", "joy"), ("i1", "bo", "", "fear")}


def test_potato_writes_parquet(tmp_path: Path) -> None:
    """By hand from the exporter of Potato: a column for each schema."""
    columns = {
        "instance_id": ["1", "1", "2"],
        "user_id": ["ann", "bo", "ann"],
        "emotion": ["joy", "fear", "joy"],
        "force": [4.0, None, 2.0],
        "signs": [["smile", "tears"], ["smile"], []],
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "annotations.parquet")
    r = read_ratings(tmp_path / "annotations.parquet")
    assert answers(r) == {
        ("1", "ann", "emotion", "joy"),
        ("1", "bo", "emotion", "fear"),
        ("2", "ann", "emotion", "joy"),
        ("1", "ann", "force", 4.0),
        ("2", "ann", "force", 2.0),
        *(("1", "ann", f"signs.{sign}", 1.0) for sign in ("smile", "tears")),
        *(("1", "bo", f"signs.{sign}", float(sign == "smile")) for sign in ("smile", "tears")),
        *(("2", "ann", f"signs.{sign}", 0.0) for sign in ("smile", "tears")),
    }


def test_a_task_may_hold_a_whole_picture(tmp_path: Path) -> None:
    picture = {"image": "data:image/png;base64," + "A" * 400_000}
    task = {"id": 1, "data": picture, "annotations": LABEL_STUDIO[0]["annotations"]}
    assert ("1", "1", "emotion", "joy") in answers(read(tmp_path, json.dumps([task])))
