"""Tables as a lab has them after a year: each is read rightly, or refused in one sentence."""

from __future__ import annotations

import io
import json
import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.ratings.told import facts, guessing, kinds

from affectlab.cli import main
from affectlab.core.errors import InputError
from affectlab.ratings import (
    Ratings,
    StepKind,
    describe_ratings,
    read_models,
    read_ratings,
)
from affectlab.ratings.steps import step
from affectlab.reliability import krippendorff_alpha

Read = Callable[..., Ratings]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def write_and_read(content: str, name: str = "r.csv", **options: Any) -> Ratings:
        (tmp_path / name).write_text(content, encoding="utf-8")
        return read_ratings(tmp_path / name, **options)

    return write_and_read


TEXTS = (
    "id,text,annotator,emotion\n1,so glad,x,joy\n1,so glad,y,joy\n2,oh no,x,fear\n2,oh no,y,joy\n"
)
NAMES = "task,worker,label\n1,x,joy\n1,y,joy\n2,x,fear\n2,y,joy\n"
ITEMS = "item,rater,value\n1,x,joy\n1,y,joy\n2,x,fear\n2,y,joy\n"
SENTENCES = "sentence,user,category\n1,x,joy\n1,y,joy\n2,x,fear\n2,y,joy\n"


@pytest.mark.parametrize("content", [TEXTS, NAMES, ITEMS, SENTENCES])
def test_one_category_per_annotator_is_nominal(read: Read, content: str) -> None:
    r = read(content)
    assert r.scale.kind == "nominal"
    assert r.scale.categories == ("joy", "fear")
    assert r.value.tolist() == [0, 0, 1, 0]
    assert r.stimulus_names == ("1", "2")
    assert not r.has_labels
    assert ("text" in r.stimuli.columns) == (content == TEXTS)


def test_alpha_of_chosen_categories_is_that_of_the_package(read: Read) -> None:
    rng = np.random.default_rng(7)
    words = np.array(["joy", "fear", "anger", ""])
    chosen = words[rng.integers(0, 4, size=(30, 4))]
    rows = [f"{s},{r},{chosen[s, r]}" for s in range(30) for r in range(4)]
    r = read("stimulus,rater,label\n" + "\n".join(rows) + "\n")
    codes = np.array([[np.nan if w == "" else list(words).index(w) for w in row] for row in chosen])
    expected = krippendorff.alpha(codes.T, level_of_measurement="nominal")
    assert krippendorff_alpha(r, target="sample").to_frame()["value"][0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        (("joy;fear", "joy", "fear;anger", "anger"), "r.csv"),
        (('"joy, fear"', "joy", '"fear,anger"', "anger"), "r.csv"),
        (("joy|fear", "joy", "fear | anger", "Anger"), "r.csv"),
        (("\"['joy', 'fear']\"", "['joy']", "\"['fear', 'anger']\"", "['anger']"), "r.csv"),
        ((["joy", "fear"], ["joy"], ["fear", "anger"], ["anger"]), "r.jsonl"),
    ],
)
@pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedColumnsWarning")
def test_several_categories_are_yes_or_no_to_each(
    read: Read, cells: tuple[Any, ...], name: str
) -> None:
    keys = [("s1", "x"), ("s1", "y"), ("s2", "x"), ("s2", "y")]
    if name.endswith(".csv"):
        rows = [f"{s},{r},{cell}" for (s, r), cell in zip(keys, cells, strict=True)]
        content = "stimulus,rater,label\n" + "\n".join(rows)
    else:
        content = "\n".join(
            json.dumps({"stimulus": s, "rater": r, "label": cell})
            for (s, r), cell in zip(keys, cells, strict=True)
        )
    r = read(content, name)
    assert set(map(str, r.scales.values())) == {"binary, 0 or 1"}
    wide = r.pivot(index="stimulus", columns="label", aggregate="sum")
    assert wide.select("stimulus", "joy", "fear", "anger").rows() == [
        ("s1", 2.0, 1.0, 0.0),
        ("s2", 0.0, 1.0, 2.0),
    ]
    assert StepKind.SEVERAL_CHOSEN in kinds(r)


def test_categories_in_rows_of_their_own(read: Read) -> None:
    content = "id,annotator,label\na,x,joy\na,x,fear\na,y,joy\nb,x,fear\nb,y,fear\n"
    with guessing(StepKind.SEVERAL_CHOSEN, separator="row"):
        r = read(content)
    assert r.n_ratings == 8
    assert r.matrix("joy").tolist() == [[1, 0], [1, 0]]
    with pytest.raises(InputError, match="line 4: a second answer for the same question"):
        read(content.replace("a,y,joy", "a,x,joy"), separator="row")
    # One rater who answered one of many twice did not choose several.
    many = "".join(f"s{k},x,joy\n" for k in range(30))
    with pytest.raises(InputError, match="second answer for stimulus 's0'"):
        read(f"id,annotator,label\n{many}s0,x,fear\n")


def test_an_empty_list_is_an_answer_and_an_empty_cell_is_none(read: Read) -> None:
    lines = [
        {"id": 1, "annotator": "x", "labels": ["joy"]},
        {"id": 1, "annotator": "y", "labels": []},
        {"id": 2, "annotator": "x", "labels": None},
    ]
    r = read("\n".join(map(json.dumps, lines)), "r.jsonl")
    assert r.value.tolist() == [1, 0]
    assert str(r.set_aside[0]).startswith("1 row: no answer")


def test_free_text_is_an_answer_where_it_has_that_shape(read: Read) -> None:
    own = "clip,rater,text\na,x,he smiles\na,y,a glad man\n"
    with guessing(StepKind.FREE_TEXT, column="text"):
        r = read(own)
    assert r.scale.kind == "text"
    assert kinds(read(own, scale="text")) == []
    with pytest.raises(InputError, match="no column for the value"):
        read("clip,rater,text\na,x,he smiles\na,y,he smiles\n")


def test_texts_are_the_stimuli_where_nothing_else_is(read: Read) -> None:
    assert read("text,annotator,label\nhi,x,joy\nhi,y,fear\nho,x,joy\n").stimulus_names == (
        "hi",
        "ho",
    )
    numbered = "id,text,annotator,label\n1,hi,x,joy\n2,hi,y,fear\n3,ho,x,joy\n4,ho,y,joy\n"
    with guessing(StepKind.ROWS_NUMBERED, number="id", stimulus="text"):
        assert read(numbered).stimulus_names == ("hi", "ho")


# A lab's year.


def test_semicolons_commas_and_a_byte_order_mark(read: Read) -> None:
    r = read(
        "\ufeffBild;Urteiler;Wert\n007;A;3,5\n007;B;4\n",
        columns={"stimulus": "Bild", "rater": "Urteiler", "value": "Wert"},
    )
    assert r.value.tolist() == [3.5, 4]
    assert r.stimulus_names == ("007",)


@pytest.mark.parametrize("word", ["n/a", "N/A", "NA", "", "-", "null"])
def test_words_for_no_answer(read: Read, word: str) -> None:
    r = read(f"image,coder,rating\na,x,3\na,y,{word}\nb,x,4\n")
    assert r.n_ratings == 2
    assert r.set_aside[0].count == 1


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("codes", [-99, "-99", ["-99", 88], [-99.0]])
def test_codes_for_no_answer(read: Read, codes: Any, wide: bool) -> None:
    if wide:
        r = read("image,x,y\na,3,-99\nb,4,5\n", wide="raters", missing_codes=codes)
    else:
        content = "image,coder,rating\na,x,3\na,y,-99\nb,x,4\nb,y,5\n"
        r = read(content, missing_codes=codes)
    assert str(r.scale) == "ordinal 3 to 5, step 1 (inferred)"
    assert sum(part.count for part in r.set_aside if part.unit != "rater") == 1


def test_a_column_for_each_of_nine_raters(read: Read) -> None:
    head = ",".join(f"R{k}" for k in range(1, 10))
    content = (
        f"picture,set,{head}\np1,one,{','.join('123412341')}\np2,one,{','.join('543215432')}\n"
    )
    with guessing(StepKind.SHAPE, rule="column per rater"):
        r = read(content)
    assert (r.n_raters, r.n_stimuli, r.n_ratings) == (9, 2, 18)
    assert r.stimuli["set"].to_list() == ["one", "one"]
    assert r.equals(read(content, wide="raters", attributes=["set"])) is True


def test_columns_of_dimensions(read: Read) -> None:
    content = (
        "photo,participant,age,rt,valence,arousal\na,x,20,1.5,3,4\nb,x,20,2,5,6\na,y,31,1,7,1\n"
    )
    with guessing(StepKind.NUMBERS_ARE_LABELS, columns=("valence", "arousal")):
        r = read(content)
    assert r.label_names == ("valence", "arousal")
    assert r.raters["age"].to_list() == [20, 31]


def test_categories_in_several_spellings(read: Read) -> None:
    r = read("item,rater,label\na,x,Joy\na,y,joy \nb,x,FEAR\nb,y,fear\n")
    assert r.scale.categories == ("Joy", "FEAR")
    assert r.value.tolist() == [0, 0, 1, 1]
    assert facts(r, StepKind.ONE_SPELLING)["categories"] == ("Joy", "FEAR")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("item,rater,value\na,x,3\na,x,3\nb,x,4\n", "line 3: a second answer for stimulus 'a'"),
        ("Rater,,Part\nitem,rater,value\na,x,3\n", "line 1: column 2 has no name"),
        ("item,rater,value\nwhich,who,1 to 7\na,x,3\n", "line 2: value '1 to 7' is not understood"),
        ("Export of 3 May\n\nitem,rater,value\na,x,3,4\n", "expected 1"),
        ("item,rater,value\na,x\nb,y,4\n", "line 2: 2 fields, expected 3"),
        ("item,value\na,3\nb,4\n", "no column for the rater"),
        ("item,rater,value\n", "has a header but no rows"),
    ],
)
def test_what_cannot_be_read_says_why(read: Read, content: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        read(content)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_row_names_of_r_and_dates(read: Read) -> None:
    day = "2025-03-0"
    dated = [f'"1","a","x",3,"{day}1"', f'"2","a","y",4,"{day}2"', f'"3","b","x",5,"{day}3"']
    r = read("\n".join(['"","item","rater","value","date"', *dated]))
    assert r.value.tolist() == [3, 4, 5]
    assert r.frame["date"].to_list() == ["2025-03-01", "2025-03-02", "2025-03-03"]


# Sources.


COLUMNS = {"id": ["1", "1", "2", "2"], "annotator": ["x", "y"] * 2, "label": ["a", "a", "b", "a"]}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


class Stream:
    """What offers a stream of Arrow and nothing else."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)


class Relation:
    """What gives itself as polars, as relations of DuckDB do."""

    def pl(self) -> pl.DataFrame:
        return pl.DataFrame(COLUMNS)


@pytest.mark.parametrize(
    "make",
    [
        lambda: COLUMNS,
        lambda: ROWS,
        lambda: pd.DataFrame(COLUMNS),
        lambda: pl.DataFrame(COLUMNS),
        lambda: pl.LazyFrame(COLUMNS),
        lambda: pa.table(COLUMNS),
        lambda: pa.table(COLUMNS).to_reader(),
        lambda: pa.table(COLUMNS).to_batches()[0],
        Stream,
        Relation,
    ],
)
def test_tables_in_memory_are_read_as_files(make: Callable[[], Any], read: Read) -> None:
    r = read_ratings(make())
    assert r.source == "the table"
    assert r._from("f").equals(read(pl.DataFrame(COLUMNS).write_csv())._from("f"))


def test_a_data_set_of_the_hub_library() -> None:
    datasets = pytest.importorskip("datasets")
    names = datasets.ClassLabel(names=["a", "b"])
    features = {
        "id": datasets.Value("string"),
        "annotator": datasets.Value("string"),
        "label": names,
    }
    given = datasets.Dataset.from_dict(
        {**COLUMNS, "label": [0, 0, 1, 0]}, features=datasets.Features(features)
    )
    assert read_ratings(given).equals(read_ratings(COLUMNS))
    with pytest.raises(InputError, match=r"several splits \(train\)"):
        read_ratings(datasets.DatasetDict({"train": given}))


def test_ratings_are_a_stream_of_arrow(read: Read) -> None:
    r = read(TEXTS)
    assert pl.DataFrame(r)["value"].to_list() == ["joy", "joy", "fear", "joy"]
    assert pa.table(r).column_names == ["stimulus", "rater", "value"]
    assert read_ratings(pl.DataFrame(r)).scale.categories == r.scale.categories
    with pytest.raises(InputError, match="these are ratings already"):
        read_ratings(r)


def test_wide_tables_in_memory() -> None:
    frame = {"clip": ["a", "b"], "who": ["u", "u"], "joy": [1, 2], "fear": [2, 3]}
    r = read_ratings(frame, wide="labels", columns={"rater": "who"}, scale="1-3")
    assert r.label_names == ("joy", "fear")


def test_a_folder_of_tables(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        (tmp_path / f"{name}.csv").write_text("stimulus,rating\na,3\nb,4\n")
    r = read_ratings(tmp_path, scale="1-7")
    assert r.rater_names == ("ann", "bob")
    assert r.n_ratings == 4
    (tmp_path / "cy.csv").write_text("stimulus,points\na,3\n")
    with pytest.raises(InputError, match=r"cy\.csv has other columns than ann\.csv"):
        read_ratings(tmp_path)
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="is a folder without a table"):
        read_ratings(tmp_path / "none")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(tmp_path))

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_addresses(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r.csv").write_text(TEXTS)
    r = read_ratings(f"{address}/r.csv")
    assert (r.n_ratings, r.source) == (4, f"{address}/r.csv")
    with pytest.raises(InputError, match=r"no\.csv cannot be fetched: 404"):
        read_ratings(f"{address}/no.csv")
    (tmp_path / "bad.csv").write_text("a,b\n1\n")
    with pytest.raises(InputError, match=f"^{address}/bad.csv, line 2: 1 field, expected 2"):
        read_ratings(f"{address}/bad.csv")
    place = tmp_path / "datasets" / "anna" / "set" / "resolve" / "main"
    place.mkdir(parents=True)
    (place / "r.csv").write_text(NAMES)
    monkeypatch.setenv("HF_ENDPOINT", address)
    assert read_ratings("hf://datasets/anna/set/r.csv").n_ratings == 4
    with pytest.raises(InputError, match="is no data set of the hub"):
        read_ratings("hf://anna")


@pytest.mark.parametrize("turn", range(20))
@pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedColumnsWarning")
@pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedScalesWarning")
def test_odd_tables_give_ratings_or_one_sentence(turn: int, read: Read) -> None:
    rng = random.Random(turn)
    names = ["id", "text", "annotator", "label", "emotion", "rater", "value", "R1", "R2", "joy"]
    cells = [
        "joy",
        "Joy ",
        "joy;fear",
        "fear",
        "[]",
        "['joy']",
        "3",
        "-99",
        "2,5",
        "",
        "n/a",
        "a,b",
    ]
    for _ in range(25):
        head = rng.sample(names, rng.randrange(2, 6))
        frame = pl.DataFrame(
            {name: [rng.choice(cells) for _ in range(5)] for name in head}
        ).with_columns(pl.Series(head[0], list("vwxyz")))
        for options in ({}, {"missing_codes": -99, "on_bad": "set_aside"}):
            described = describe_ratings(frame, **options)
            if described.problem is None:
                assert read(frame.write_csv(), **options).n_ratings > 0
            else:
                assert "\n" not in described.problem
            assert described.to_frame()["column"].to_list() == head


# What was understood, and mappings.


def test_each_column_is_described(tmp_path: Path) -> None:
    file = tmp_path / "lab.csv"
    file.write_text(
        ",image,annotator,age,rt_ms,emotion\n1,a,x,20,900,joy\n2,a,y,31,800,\n3,b,x,20,700,Fear\n"
    )
    found = describe_ratings(file)
    taken = dict(found.to_frame().select("column", "taken_for").rows())
    assert taken == {
        "": "tells rows apart",
        "image": "the stimulus",
        "annotator": "the rater",
        "age": "describes the rater",
        "rt_ms": "the response time",
        "emotion": "the answer",
    }
    assert found.table("scales").frame.rows() == [("rating", "nominal: joy, Fear (inferred)")]
    assert found.table("not_used").frame["what"][0] == "1 row"
    assert found.problem is None


def test_what_is_guessed_is_not_called_said(tmp_path: Path) -> None:
    file = tmp_path / "lab.csv"
    file.write_text("clip,rater,valence,arousal\na,x,-3,1\na,y,2,5\nb,x,1,4\nb,y,0,2\n")
    guessed, told = (
        dict(describe_ratings(file, wide=wide).to_frame().select("column", "why").rows())
        for wide in (None, "labels")
    )
    assert guessed["valence"] == guessed["arousal"] == "guessed: one column per label"
    assert told["valence"] == "you say: one column per label"


def test_what_cannot_be_read_is_described_too(tmp_path: Path) -> None:
    file = tmp_path / "lab.csv"
    file.write_text("Bild,Person,Wert\na,x,3\n")
    found = describe_ratings(file)
    assert found.problem is not None
    assert "no column for the stimulus" in found.problem
    assert found.to_frame()["examples"].to_list() == ["a", "x", "3"]
    # With the blanks filled in, the mapping reads the file.
    text = found.mapping.replace('stimulus = ""', 'stimulus = "Bild"')
    text = text.replace('rater = ""', 'rater = "Person"').replace('value = ""', 'value = "Wert"')
    (tmp_path / "m.toml").write_text(text)
    assert read_ratings(file, mapping=tmp_path / "m.toml").value.tolist() == [3]


FILES = {
    "texts": TEXTS,
    "names": NAMES,
    "dimensions": "clip,rater,emotion,valence\na,x,joy,3\na,y,joy,2\nb,x,fear,1\nb,y,joy,4\n",
    "intensities": "clip,rater,emotion,intensity\na,x,joy,3\na,x,fear,0\na,y,joy,2\na,y,fear,1\n",
    "several": "id,rater,label\na,x,joy;fear\na,y,joy\nb,x,fear\nb,y,anger\n",
    "rows": "id,rater,label\na,x,joy\na,x,fear\na,y,joy\nb,x,fear\n",
    "raters": "picture,R1,R2\na,1,2\nb,3,4\n",
    "labels": "photo,participant,age,valence\na,x,20,3\nb,x,20,5\n",
    "free": "clip,rater,text\na,x,he smiles\na,y,a glad man\n",
    "numbers": "clip,rater,value\na,x,1\na,y,5\n",
    "scales": "clip,rater,label,value\na,x,mood,1\na,x,word,joy\nb,x,mood,4\nb,x,word,fear\n"
    "a,y,mood,5\na,y,word,joy\nb,y,mood,3\nb,y,word,joy\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_saved_mapping_reads_the_same_without_a_guess(name: str, tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text(FILES[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = read_ratings(file)
    found = describe_ratings(file)
    found.save(tmp_path / "m.toml")
    after = read_ratings(file, mapping=tmp_path / "m.toml")
    assert after.to_frame().equals(before.to_frame())
    assert after.stimuli.equals(before.stimuli)
    assert after.raters.equals(before.raters)
    assert not [one for one in after.history if one.guessed]
    found.save(tmp_path / "r.csv.mapping.toml")
    beside = read_ratings(file)
    assert beside.to_frame().equals(before.to_frame())
    assert beside.history[-1] == step(StepKind.MAPPING_BESIDE, file="r.csv.mapping.toml")
    assert any("r.csv.mapping.toml" in warning for warning in beside.warnings)


def test_what_is_said_goes_before_a_mapping(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("clip,rater,first,second\na,x,1,9\nb,x,2,8\n")
    (tmp_path / "r.csv.mapping.toml").write_text('scale = "1-9"\n[columns]\nvalue = "first"\n')
    assert read_ratings(file).value.tolist() == [1, 2]
    assert read_ratings(file, columns={"value": "second"}).value.tolist() == [9, 8]
    assert str(read_ratings(file).scale) == "ordinal 1 to 9, step 1"
    people = read_ratings(file)
    (model,) = read_models(file, people, mapping={"columns": {"value": "second"}})
    assert model.value.tolist() == [9, 8]
    left = read_ratings(file, mapping={"columns": {"value": "first"}, "unused": ["second"]})
    assert "second" not in left.frame.columns
    with pytest.raises(InputError, match="unknown setting 'colums'; did you mean 'columns'"):
        read_ratings(file, mapping={"colums": {}})
    (tmp_path / "r.csv.mapping.toml").write_text("[column]\nvalue = 'first'\n")
    with pytest.raises(InputError, match=r"r\.csv\.mapping\.toml: key 'column' is not known"):
        read_ratings(file)


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(str(ended.value.code))


def test_the_verb(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lab.csv"
    file.write_text(FILES["labels"])
    mapping = tmp_path / "m.toml"
    assert run("ratings", "describe", file, "--save", mapping) == 0
    said = capsys.readouterr()
    assert "describes the rater" in said.out
    assert "Guessed: columns of numbers hold ratings" in said.err + said.out
    assert max(map(len, said.out.replace(str(tmp_path), "").splitlines())) <= 80
    assert run("ratings", "describe", file, "--mapping", mapping, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["result"]["summary"]["labels"] == ["valence"]
    content = io.TextIOWrapper(io.BytesIO(TEXTS.encode()))
    monkeypatch.setattr(sys, "stdin", content)
    assert run("ratings", "describe", "-", "--json") == 0
    summary = json.loads(capsys.readouterr().out)["result"]["summary"]
    assert (summary["n_ratings"], summary["source"]) == (4, "standard input")
    file.write_text("clip,rater,value\na,x,1\na,y,-99\nb,x,3\n")
    assert run("ratings", "describe", file, "--missing-codes", "-99", "--json") == 0
    assert json.loads(capsys.readouterr().out)["result"]["summary"]["n_ratings"] == 2


def test_several_labels_without_any_answer_are_said() -> None:
    frame = {"stimulus": ["a", "b"], "rater": ["x", "y"], "label": ["u", "v"], "value": ["", ""]}
    with pytest.raises(InputError, match="no row can be used: 2 rows: no answer"):
        Ratings(frame, on_bad="set_aside")


def test_objects_of_objects_are_rows_or_columns(tmp_path: Path) -> None:
    """As ``DataFrame.to_json`` writes tables, with the index or the columns outside."""
    file = tmp_path / "r.json"
    columns = {"stimulus": ["a", "b"], "rater": ["x", "x"], "rating": [3, 5]}
    file.write_text(json.dumps({n: dict(enumerate(own)) for n, own in columns.items()}))
    r = read_ratings(file)
    assert (r.stimulus_names, r.value.tolist()) == (("a", "b"), [3, 5])
    index = {k: {name: own[k] for name, own in columns.items()} for k in range(2)}
    file.write_text(json.dumps(index))
    with guessing(StepKind.KEYS_NAME, what="row"):
        assert read_ratings(file).value.tolist() == [3, 5]
    file.write_text(json.dumps({"a": {"ann": 3, "bo": 4}, "b": {"ann": 2}}))
    with pytest.raises(InputError, match="no column for the stimulus"):
        read_ratings(file)
    with guessing(StepKind.KEYS_NAME, what="row"):
        r = read_ratings(file, wide="raters")
    assert (r.stimulus_names, r.rater_names, r.n_ratings) == (("a", "b"), ("ann", "bo"), 3)
