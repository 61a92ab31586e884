"""Reading the answers of models beside those of people."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.ratings.told import facts, holds, kinds

from affectlab import InputError, Ratings, read_ratings
from affectlab.ratings import Scale, Step, StepKind, read_models


@pytest.fixture
def people() -> Ratings:
    return Ratings(
        {
            "stimulus": ["a", "a", "b", "b"],
            "rater": ["r1", "r1", "r1", "r1"],
            "label": ["joy", "fear"] * 2,
            "value": [1, 2, 3, 4],
        },
        scale="0-7",
    )


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_wide_file_of_one_model(people: Ratings, tmp_path: Path) -> None:
    (found,) = read_models(write(tmp_path, "net.csv", "stimulus,joy,fear\na,3,1\nb,0,6\n"), people)
    assert found.rater_names == ("net",)
    assert found.rater_kinds == ("model",)
    assert found.scale == people.scale
    assert sorted(found.value.tolist()) == [0, 1, 3, 6]


def test_answers_between_the_steps_keep_the_bounds(people: Ratings, tmp_path: Path) -> None:
    (found,) = read_models(
        write(tmp_path, "net.csv", "stimulus,joy,fear\na,3.5,1\nb,0,6\n"), people
    )
    assert found.scale == Scale("interval", 0.0, 7.0)
    assert holds(found.history[-1], StepKind.MODEL_SCALE, way="bounds", scale="interval 0 to 7")


def test_a_scale_that_nobody_declared_is_taken_as_that_of_people_and_said(
    people: Ratings, tmp_path: Path
) -> None:
    (found,) = read_models(write(tmp_path, "net.csv", "stimulus,joy,fear\na,3,1\nb,0,6\n"), people)
    assert holds(found.history[-1], StepKind.MODEL_SCALE, way="people")
    (said,) = read_models(write(tmp_path, "n.csv", "stimulus,joy\na,3\nb,0\n"), people, scale="0-7")
    assert StepKind.MODEL_SCALE not in kinds(said)


@pytest.mark.parametrize("answers", ["0.5,0.25\nb,0,1", "0,1\nb,0,0"])
def test_answers_from_0_to_1_may_be_shares_and_are_not_taken_for_a_longer_scale(
    people: Ratings, tmp_path: Path, answers: str
) -> None:
    path = write(tmp_path, "net.csv", f"stimulus,joy,fear\na,{answers}\n")
    (found,) = read_models(path, people)
    assert not found.scale.declared
    assert (found.scale.low, found.scale.high) == (0, 1)
    # A model that answered higher says nothing of the scale of another.
    other = write(tmp_path, "other.csv", "stimulus,joy,fear\na,5,1\nb,0,2\n")
    alone, high = read_models([path, other], people)
    assert alone.scale == found.scale
    assert (high.scale.low, high.scale.high, high.scale.declared) == (0, 7, True)


def test_answers_beyond_the_bounds_get_a_scale_of_their_own(
    people: Ratings, tmp_path: Path
) -> None:
    (found,) = read_models(
        write(tmp_path, "net.csv", "stimulus,joy,fear\na,-3.5,1\nb,0,9\n"), people
    )
    assert (found.scale.low, found.scale.high) == (-3.5, 9.0)


def test_files_with_and_without_steps_keep_their_scales(people: Ratings, tmp_path: Path) -> None:
    whole = write(tmp_path, "whole.csv", "stimulus,joy,fear\na,3,1\nb,0,6\n")
    parts = write(tmp_path, "parts.csv", "stimulus,label,score\na,joy,2.25\n")
    found = read_models([whole, parts], people)
    assert [table.rater_names for table in found] == [("whole",), ("parts",)]
    assert [table.scale for table in found] == [people.scale, Scale("interval", 0.0, 7.0)]


def test_files_that_say_their_scale_keep_it(people: Ratings, tmp_path: Path) -> None:
    paths = []
    for name, scale, value in (("heads", "0-7 interval", 2.25), ("vlm", "0-7", 3.0)):
        answers = {"stimulus": ["a"], "rater": [name], "label": ["joy"], "value": [value]}
        paths.append(Ratings(answers, scale=scale).write(tmp_path / f"{name}.parquet"))
    found = read_models(paths, people)
    assert [str(table.scale) for table in found] == ["interval 0 to 7", "ordinal 0 to 7, step 1"]
    assert [table.value.tolist() for table in found] == [[2.25], [3.0]]


def test_files_of_different_scales_stand_in_tables_of_their_own(
    people: Ratings, tmp_path: Path
) -> None:
    whole = write(tmp_path, "whole.csv", "stimulus,joy,fear\na,3,1\nb,0,6\n")
    far = write(tmp_path, "far.csv", "stimulus,joy,fear\na,300,1\nb,0,6\n")
    near, other = read_models([whole, far], people)
    assert near.scale == people.scale
    assert (other.scale.high, other.scale.declared) == (300, False)


THREE = "stimulus,rater,joy,fear\na,fer,.5,1\nb,fer,0,.25\na,vlm,5,1\nb,vlm,0,7\n"


def test_models_inside_a_file_have_scales_of_their_own(people: Ratings, tmp_path: Path) -> None:
    """As the answers of each alone say, and as they are named."""
    path = write(tmp_path, "both.csv", THREE)
    found = {table.rater_names[0]: table.scale for table in read_models(path, people)}
    assert found["vlm"] == people.scale
    assert (found["fer"].low, found["fer"].high, found["fer"].declared) == (0, 1, False)
    for said in ("fer=0-1 interval", {"fer": "0-1 interval"}, "fer=0-1 interval,vlm=0-7"):
        named = {t.rater_names[0]: t.scale for t in read_models(path, people, scale=said)}
        assert named == {"vlm": people.scale, "fer": Scale("interval", 0.0, 1.0)}
    rest = read_models(path, people, scale="0-7, fer=0-1 interval")
    assert {table.rater_names[0]: str(table.scale) for table in rest} == {
        "fer": "interval 0 to 1",
        "vlm": "ordinal 0 to 7, step 1",
    }


def test_a_scale_is_named_by_file_by_model_and_by_label(people: Ratings, tmp_path: Path) -> None:
    rows = "a,joy,.5\na,fear,1\na,calm,3\nb,joy,0\nb,fear,.25\nb,calm,9\n"
    net = write(tmp_path, "net.csv", f"stimulus,label,value\n{rows}")
    vlm = write(tmp_path, "vlm.csv", "stimulus,joy,fear\na,5,1\nb,0,7\n")
    by_label = {"joy": "0-1 interval", "fear": "0-1 interval", "calm": "0-9"}
    for name in ("net", "net.csv", str(net)):
        first, second = read_models([net, vlm], people, scale={name: by_label})
        assert [str(scale) for scale in first.scales.values()] == [
            "interval 0 to 1",
            "interval 0 to 1",
            "ordinal 0 to 9, step 1",
        ]
        assert second.scale == people.scale
    # Names of labels hold for all models, also those that only models know.
    (alone,) = read_models(net, people, scale="0-1 interval, calm=0-9")
    assert alone.scales == first.scales
    with pytest.raises(InputError, match=r"scale of models: unknown model or label 'nett'.*'net'"):
        read_models([net, vlm], people, scale="nett=0-1 interval")
    with pytest.raises(InputError, match=r"scale of 'fer': .* is off interval 0 to 0.5"):
        read_models(write(tmp_path, "b.csv", THREE), people, scale="fer=0-0.5 interval")


def test_kinds_a_baseline_stays_one_and_the_rest_are_models(
    people: Ratings, tmp_path: Path
) -> None:
    text = "stimulus,rater,rater_kind,label,value\na,chance,baseline,joy,3\na,net,human,joy,2\n"
    (found,) = read_models(write(tmp_path, "both.csv", text), people)
    assert dict(zip(found.rater_names, found.rater_kinds, strict=True)) == {
        "chance": "baseline",
        "net": "model",
    }


def test_a_declared_scale_holds(people: Ratings, tmp_path: Path) -> None:
    path = write(tmp_path, "net.csv", "stimulus,joy,fear\na,.5,.1\nb,0,.6\n")
    (found,) = read_models(path, people, scale="0-1 interval")
    assert found.scale == Scale("interval", 0.0, 1.0)


def test_names_of_categories(tmp_path: Path) -> None:
    people = Ratings(
        {"stimulus": ["a", "b"], "rater": ["r", "r"], "value": ["joy", "fear"]},
        scale="nominal:joy,fear",
    )
    (found,) = read_models(write(tmp_path, "net.csv", "id,predicted\na,fear\nb,fear\n"), people)
    assert found.value.tolist() == [1.0, 1.0]
    with pytest.raises(InputError, match="rage"):
        read_models(write(tmp_path, "bad.csv", "id,predicted\na,rage\n"), people)


def test_a_model_may_name_what_nobody_named_unless_categories_are_declared(tmp_path: Path) -> None:
    people = Ratings({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": ["joy", "fear"]})
    first = write(tmp_path, "net.csv", "id,predicted\na,bliss\nb,fear\n")
    second = write(tmp_path, "other.csv", "id,predicted\na,joy\nb,rage\n")
    (found,) = read_models([first, second], people)
    assert set(found.scale.categories) == {"bliss", "fear", "joy", "rage"}


def words(found: Ratings) -> list[str]:
    """Name the category of each answer."""
    return [found.scale.categories[int(value)] for value in found.value]


EMOTIONS = {
    "a": ("joy", "joy"),
    "b": ("anger", "anger"),
    "c": ("fear", "fear"),
    "d": ("anger", "joy"),
}


@pytest.fixture
def named() -> Ratings:
    """People who named one emotion each; nobody declared which there are."""
    return Ratings(
        {
            "stimulus": [name for name in EMOTIONS for _ in "12"],
            "rater": ["r1", "r2"] * len(EMOTIONS),
            "value": [word for pair in EMOTIONS.values() for word in pair],
        }
    )


@pytest.mark.parametrize("codes", ["1 2 3 2", "0 1 2 1", "1.0 0.0 2.0 0.0"])
def test_numbers_of_classes_whose_order_nobody_declared_are_refused(
    named: Ratings, tmp_path: Path, codes: str
) -> None:
    rows = "".join(f"{name},{code}\n" for name, code in zip("abcd", codes.split(), strict=True))
    path = write(tmp_path, "net.csv", f"image,prediction\n{rows}")
    with pytest.raises(InputError, match="order nobody declared") as error:
        read_models(path, named)
    assert "scale='nominal:anger,fear,joy'" in str(error.value)
    # The remedy, followed literally.
    people = Ratings(named.frame, scale="nominal:anger,fear,joy")
    if "3" in codes:
        with pytest.raises(InputError, match=r"value 3 is off the scale.*0 to 2"):
            read_models(path, people)
    else:
        values = list(map(float, codes.split()))
        assert read_models(path, people)[0].value.tolist() == values


@pytest.mark.parametrize("given", [3.0, -1.0])
def test_no_value_beyond_categories_becomes_ratings(named: Ratings, given: float) -> None:
    columns = {"stimulus": ["a", "b"], "rater": ["m", "m"], "value": [0.0, given]}
    with pytest.raises(InputError, match="order nobody declared"):
        Ratings(columns, scale=named.scale)
    with pytest.raises(InputError, match="off the scale"):
        Ratings(columns, scale="nominal:joy,anger,fear")


def test_a_scale_of_others_that_answers_outgrow_is_inferred_again() -> None:
    others = Ratings({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [1, 5]}).scale
    found = Ratings({"stimulus": ["a", "b"], "rater": ["m", "m"], "value": [2, 9]}, scale=others)
    assert (found.scale.low, found.scale.high, found.scale.declared) == (2, 9, False)


@pytest.mark.parametrize(
    "header",
    [
        *("image,net,confidence", "image,top1,score", "image,label,score", "image,label,prob"),
        *("image,emotion_of_net,logprob", "image,gold,net,confidence", "image,net"),
        "image,label,value",
    ],
)
def test_words_of_people_are_the_answer_beside_numbers(
    named: Ratings, tmp_path: Path, header: str
) -> None:
    cells = {"gold": ("joy", "anger"), "image": ("a", "b")}
    names = header.split(",")
    called = next(n for n in names if n not in cells)
    cells |= {
        n: ("fear", "joy") if n == called else ("0.7", "0.55") for n in names if n not in cells
    }
    rows = "".join(",".join(cells[name][row] for name in names) + "\n" for row in (0, 1))
    (found,) = read_models(write(tmp_path, "net.csv", f"{header}\n{rows}"), named)
    assert words(found) == ["fear", "joy"]
    assert not found.has_labels


def test_several_columns_of_words_of_people_are_told(named: Ratings, tmp_path: Path) -> None:
    text = "image,first,second,conf\na,joy,fear,0.5\nb,anger,joy,0.5\n"
    with pytest.raises(InputError, match="call the column of the answers 'prediction'"):
        read_models(write(tmp_path, "net.csv", text), named)
    renamed = write(tmp_path, "net.csv", text.replace("first", "prediction"))
    assert words(read_models(renamed, named)[0]) == ["joy", "anger"]


SCORES = "image,joy,anger,fear\na,0.7,0.2,0.1\nb,0.1,0.6,0.3\nc,0.2,0.1,0.7\n"


def joined(columns: str, cells: str) -> str:
    """Write further columns behind the scores."""
    head, *rows = SCORES.splitlines()
    return "".join(
        f"{line},{more}\n"
        for line, more in zip([head, *rows], [columns, *[cells] * 3], strict=True)
    )


@pytest.mark.parametrize(
    ("columns", "cells"),
    [
        *[("confidence", "0.71"), ("loss", "0.9"), ("fold", "1"), ("latency_ms", "830")],
        *[("gold", "joy"), ("label", "0.5"), ("conf,gold,fold", "0.5,joy,2"), ("score", "0.5")],
        ("entropy,temperature,seed", "0.25,0.5,1"),
    ],
)
def test_only_columns_called_like_people_s_classes_are_scores(
    named: Ratings, tmp_path: Path, columns: str, cells: str
) -> None:
    (found,) = read_models(write(tmp_path, "net.csv", joined(columns, cells)), named)
    assert found.label_names == ("joy", "anger", "fear")
    assert found.scale == Scale("interval", 0.0, 1.0)
    assert columns.split(",")[0] in facts(found, StepKind.SCORE_COLUMNS)["left"]


def test_a_column_with_which_scores_sum_to_1_is_a_class(named: Ratings, tmp_path: Path) -> None:
    text = "image,joy,anger,fear,bliss,conf\na,0.5,0.2,0.1,0.2,0.5\nb,0.1,0.6,0.1,0.2,0.6\n"
    (found,) = read_models(write(tmp_path, "net.csv", text), named)
    assert found.label_names == ("joy", "anger", "fear", "bliss")


@pytest.mark.parametrize(
    "header",
    [
        "prob_joy,prob_anger,prob_fear,prob_bliss",
        "joy_score,anger_score,fear_score,bliss_score",
        "P(x) Joy,P(x) Anger,P(x) Fear,P(x) bliss",
    ],
)
def test_what_scores_are_called_is_stripped(named: Ratings, tmp_path: Path, header: str) -> None:
    text = f"image,{header},conf\na,-1.5,2,1,0,0.2\nb,3,1,0,0,0.2\n"
    (found,) = read_models(write(tmp_path, "net.csv", text), named)
    assert found.label_names == ("joy", "anger", "fear", "bliss")
    assert kinds(found).count(StepKind.AFFIXED_SCORES) == 1
    assert found.frame.filter(pl.col("stimulus") == "a")["value"].to_list() == [-1.5, 2, 1, 0]


ROWS = [
    {"image": "a", "prediction": "joy", "confidence": 0.7},
    {"image": "b", "prediction": "fear", "confidence": 0.6},
]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [row | {"model": "gpt"} for row in ROWS],
        [{"ID": row["image"], "labels": [row["prediction"]]} for row in ROWS],
        [{"image": row["image"], "answer": {"net": row["prediction"], "p": 0.25}} for row in ROWS],
    ],
)
@pytest.mark.parametrize("name", ["m.jsonl", "m.json"])
def test_json_is_read_as_the_same_table_is(
    named: Ratings, tmp_path: Path, rows: list[dict[str, object]], name: str
) -> None:
    listed = json.dumps(rows) if name.endswith("json") else "\n".join(map(json.dumps, rows))
    (found,) = read_models(write(tmp_path, name, listed), named)
    assert found.rater_names == (("gpt",) if "model" in rows[0] else ("m",))
    chosen = found.to_frame().filter(pl.col("value") == 1)
    answers = chosen["label"].to_list() if found.has_labels else words(found)
    assert answers == ["joy", "fear"]


def test_scores_of_a_pipeline_for_each_label(named: Ratings, tmp_path: Path) -> None:
    def scores(*values: float) -> list[dict[str, object]]:
        names = ("joy", "anger", "fear")
        return [{"label": n, "score": s} for n, s in zip(names, values, strict=True)]

    rows = [
        {"id": "a", "predictions": scores(0.7, 0.2, 0.1)},
        {"id": "b", "predictions": scores(0.1, 0.6, 0.3)},
    ]
    path = write(tmp_path, "m.jsonl", "\n".join(map(json.dumps, rows)))
    (found,) = read_models(path, named)
    assert found.label_names == ("joy", "anger", "fear")
    assert found.scale == Scale("interval", 0.0, 1.0)


def test_one_rater_by_name(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "stimulus,value\na,1\nb,2\n")
    assert read_ratings(path, scale="0-7", rater="Ann").rater_names == ("Ann",)
    named = write(tmp_path, "y.csv", "stimulus,rater,value\na,r1,1\n")
    with pytest.raises(InputError, match="column 'rater' names the raters"):
        read_ratings(named, scale="0-7", rater="Ann")


class TestWithValues:
    def test_replaces_values_and_says_so(self, people: Ratings) -> None:
        found = people.with_values(people.value / 7, "0-1 interval", step="spread")
        assert np.allclose(found.value, people.value / 7)
        assert found.history[-1] == Step.note("spread")
        assert people.value.tolist() == [1, 2, 3, 4]

    def test_refuses_values_off_the_scale_and_other_shapes(self, people: Ratings) -> None:
        with pytest.raises(InputError, match="row 2 is 9"):
            people.with_values([1, 9, 2, 3], step="x")
        with pytest.raises(InputError, match="one for each of 4 rows"):
            people.with_values([1, 2], step="x")


@pytest.mark.parametrize("name", ["net.parquet", "net.csv"])
def test_what_affectlab_wrote_says_itself_what_it_holds(
    people: Ratings, tmp_path: Path, name: str
) -> None:
    """Scale, rater and taxonomy are those of the file, and not guessed from the people's."""
    written = Ratings(
        {"stimulus": ["a", "b"], "rater": ["m", "m"], "label": ["awe", "anger"],
         "value": [0.25, 0.5]},
        scale="0-1 interval",
        raters={"rater": ["m"], "rater_kind": ["model"]},
        taxonomy="mikels",
    )  # fmt: skip
    (found,) = read_models(written.write(tmp_path / name), people)
    assert found.equals(written)
    assert found.taxonomy == written.taxonomy


def test_people_beside_models_are_left_out_and_said(people: Ratings, tmp_path: Path) -> None:
    def choice(word: str) -> list[dict[str, object]]:
        value = {"choices": [word]}
        return [{"from_name": "emotion", "to_name": "t", "type": "choices", "value": value}]

    task = {
        "id": 1,
        "data": {"text": "a"},
        "annotations": [{"result": choice("joy"), "completed_by": 7}],
        "predictions": [{"result": choice("fear"), "model_version": "net"}],
    }
    asked = Ratings({"stimulus": ["a"], "rater": ["r"], "value": ["joy"]}, scale="nominal:joy,fear")
    export = write(tmp_path, "export.json", json.dumps([task]))
    (found,) = read_models(export, asked, columns={"stimulus": "text"})
    assert (found.stimulus_names, found.rater_names) == (("a",), ("net",))
    assert found.rater_kinds == ("model",)
    assert facts(found, StepKind.PEOPLE_LEFT_OUT) == {"n": 1}
    alone = write(tmp_path, "people.json", json.dumps([{**task, "predictions": []}]))
    with pytest.raises(InputError, match=r"all raters are people, as .* says; expected answers of"):
        read_models(alone, asked)
    kinds = pl.DataFrame({"rater": ["7"], "rater_kind": ["model"]})
    assert read_models(alone, asked, raters=kinds)[0].rater_names == ("7",)
