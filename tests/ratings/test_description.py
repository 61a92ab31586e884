"""What is stored beside a table: hostile descriptions, sources, and tables of the user."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, StepKind, read_ratings
from affectlab.ratings.steps import step

JUNK: list[Any] = [
    None, 1, -1, 1e308, 10**30, True, "x", "", "\x1b[31m", [], {}, [1, 2], ["a", "a"], [None],
    {"a": 1}, [[]], {"rater": []}, {"type": "Int64", "values": [10**30, 1]},
    {"type": "Float64", "values": ["x", "y"]}, {"type": "String", "values": ["x", "y"]},
    {"type": "String", "values": ["x", "x"]}, {"type": "Boolean", "values": [1, 2]},
    {"type": "Object", "values": []}, {"reason": 1, "count": "x", "places": 3},
    {"kind": "nominal", "low": 0, "high": 1, "step": 1, "categories": [1, 2], "declared": True},
    {"kind": "ordinal", "low": 0, "high": 1e300, "step": 1e-9, "categories": []},
    {"kind": "ordinal", "low": 5, "high": 6, "step": 1, "categories": ["a", "b"]},
]  # fmt: skip


def places(node: Any, path: tuple = ()) -> Iterator[tuple]:
    yield path
    items = node.items() if isinstance(node, dict) else ()
    for key, value in enumerate(node) if isinstance(node, list) else items:
        yield from places(value, (*path, key))


def changed(meta: Any, path: tuple, change: Callable[[Any, Any], None]) -> Any:
    made = copy.deepcopy(meta)
    node = made
    for key in path[:-1]:
        node = node[key]
    change(node, path[-1])
    return made


def put(junk: Any, node: Any, key: Any) -> None:
    node[key] = junk


def remove(node: Any, key: Any) -> None:
    del node[key]


def said_of(file: Path) -> str:
    """Read and use a table; give the sentence that refuses it, empty when there is none."""
    try:
        made = read_ratings(file)
        _ = made.summary(), made.warnings, repr(made), made.write(file.parent / "o.jsonl")
    except InputError as error:
        return str(error)
    return ""


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    table = Ratings(
        {
            "stimulus": ["a", "b", "b"],
            "rater": ["x", "x", "y"],
            "label": ["joy", "joy", "anger"],
            "value": ["no", "yes", "yes"],
            "trial": [1, 2, 3],
        },
        scale="nominal:no,yes",
        taxonomy="ekman",
        raters={"rater": ["x", "y"], "age": [30, None], "weight": [1.5, 2.5], "keen": [True, None]},
    )
    return table.write(tmp_path / "r.csv")


def test_any_change_of_the_description_reads_or_is_one_sentence(stored: Path) -> None:
    side = stored.with_name("r.csv.meta.json")
    meta = json.loads(side.read_text())
    outcomes = {"read": 0, "refused": 0}
    # The first entry of a list stands for all.
    firsts = [path for path in places(meta) if path and not any(key in (1, 2, 3) for key in path)]
    for path in firsts:
        variants = [changed(meta, path, remove)]
        variants += [changed(meta, path, partial(put, junk)) for junk in JUNK]
        for variant in variants:
            side.write_text(json.dumps(variant))
            sentence = said_of(stored)
            assert "\n" not in sentence
            outcomes["refused" if sentence else "read"] += 1
    assert min(outcomes.values()) > 100


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("labels", 1, "labels: input should be a valid list"),
        ("types", [], "types: input should be a valid dictionary"),
        ("history", [1, 2], "history.0: input should be a valid dictionary"),
        (
            "history",
            [{"kind": "filed", "facts": {}, "guessed": False}],
            "history.0: unknown step 'filed'; did you mean 'filled'",
        ),
        (
            "history",
            [{"kind": "filled", "facts": {"m": 1}, "guessed": False}],
            "history.0: step 'filled': ",
        ),
        ("raters", {}, "the rater table has no column of names 'rater'"),
        ("scale", {"kind": "nominal", "categories": [1, 2]}, "scale.categories.0: input should"),
        ("taxonomy", "name = 1", "taxonomy"),
    ],
)
def test_a_wrong_description_names_the_key(
    stored: Path, key: str, value: Any, sentence: str
) -> None:
    side = stored.with_name("r.csv.meta.json")
    side.write_text(json.dumps({**json.loads(side.read_text()), key: value}))
    with pytest.raises(InputError, match=rf"r\.csv\.meta\.json: .*{sentence}"):
        read_ratings(stored)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_folders_of_the_source_are_not_stored(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / "of somebody"
    folder.mkdir()
    (folder / "first.csv").write_text("stimulus,rater,value\na,x,1\n")
    read = read_ratings(folder / "first.csv")
    assert str(folder) in read.source
    file = read.write(tmp_path / f"r{suffix}")
    assert read_ratings(file).source == "first.csv"
    for part in tmp_path.glob("r.*"):
        assert b"of somebody" not in part.read_bytes()
    frame = {"stimulus": ["a"], "rater": ["x"], "value": [1]}
    for source, kept in {
        "C:\\data\\x.csv; ../up/y.csv": "x.csv; y.csv",
        "Study A/B of 2024": "Study A/B of 2024",
        "": "",
    }.items():
        written = Ratings(frame, source=source).write(tmp_path / f"s{suffix}")
        assert read_ratings(written).source == kept


def test_a_table_of_raters_is_joined_with_the_stored_one(stored: Path) -> None:
    again = read_ratings(
        stored, raters={"rater": ["x", "zz"], "age": [31, 1], "team": ["red", "blue"]}
    )
    columns = ["rater", "rater_kind", "age", "weight", "keen", "team"]
    assert again.raters.columns == columns
    assert again.raters.rows()[0] == ("x", "human", 31, 1.5, True, "red")
    assert again.history == (
        step(StepKind.ATTRIBUTE_REPLACED, name="age", n=1, unit="rater"),
        step(StepKind.UNUSED_ATTRIBUTES, unit="rater", names=["zz"]),
    )


def test_models_of_a_stored_table_stay_models(tmp_path: Path) -> None:
    table = Ratings(
        {"stimulus": ["a", "a"], "rater": ["ann", "gpt"], "value": [1, 2]},
        raters={"rater": ["gpt"], "rater_kind": ["model"]},
        stimuli={"stimulus": ["a"], "actor": ["f1"]},
    )
    again = read_ratings(
        table.write(tmp_path / "r.csv"),
        raters={"rater": ["gpt"], "size": ["7B"]},
        stimuli={"stimulus": ["a"], "lit": [False]},
    )
    assert again.rater_kinds == ("human", "model")
    assert again.stimuli.rows() == [("a", "f1", False)]


def test_a_table_of_the_user_is_joined_with_that_of_a_published_format(tmp_path: Path) -> None:
    file = tmp_path / "test.json"
    file.write_text(
        json.dumps(
            {
                "ref_score": 5,
                "ref_videos": [{"content_id": 0, "content_name": "park", "path": "a.yuv"}],
                "dis_videos": [
                    {"content_id": 0, "asset_id": 0, "path": "a.yuv", "os": [5, 4]},
                    {"content_id": 0, "asset_id": 1, "path": "b.yuv", "os": [2, 1]},
                ],
                "subjects": [{"name": "ann", "age": 30}, {"name": "bo", "age": 31}],
            }
        )
    )
    given = tmp_path / "raters.csv"
    given.write_text("rater,age,rater_kind\nbo,40,simulated\n")
    r = read_ratings(
        file, raters=given, stimuli=pl.DataFrame({"stimulus": ["b"], "codec": ["av1"]})
    )
    assert r.raters.select("rater", "rater_kind", "age").rows() == [
        ("ann", "human", 30),
        ("bo", "simulated", 40),
    ]
    assert r.stimuli["content_name"].to_list() == ["park", "park"]
    assert r.stimuli["codec"].to_list() == [None, "av1"]
    assert step(StepKind.ATTRIBUTE_REPLACED, name="age", n=1, unit="rater") in r.history


def test_types_of_both_tables_need_not_agree(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("stimulus,rater,value,age,keen\na,x,1,30,yes\na,y,2,31,no\n")
    r = read_ratings(
        file, raters={"rater": ["x", "y"], "age": ["young", None], "keen": [True, None]}
    )
    assert r.raters["age"].to_list() == ["young", "31"]
    assert r.raters["keen"].to_list() == ["true", "no"]
