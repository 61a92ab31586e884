"""What an export says of itself."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from affectlab import read_ratings
from affectlab.study import load_study, open_store, release, simulate_study, write_template
from affectlab.study.dataset.codebook import _OF_TABLES, ABOUT
from affectlab.study.dataset.ratings import export

from .answering import Begin, Maker, complete
from .conftest import FACES, VERIFY


def _codebook(folder: Path) -> list[dict[str, str]]:
    with (folder / "codebook.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _texts(rows: list[dict[str, str]], **wanted: str) -> list[str]:
    return [row["text"] for row in rows if wanted.items() <= row.items()]


def described(folder: Path) -> None:
    """Every column of every table has a row that says what it holds."""
    rows = _codebook(folder)
    known = {(row["table"], row["column"]) for row in rows if row["kind"] == "column"}
    for file in folder.glob("*.csv"):
        main = "jspsych" if (folder / "jspsych.csv").exists() else "ratings"
        table = main if file.stem in ("rejected", "pilot") else file.stem
        if table != "codebook":
            for column in pl.read_csv(file, n_rows=0).columns:
                assert (table, column) in known, (file.name, column)


def test_what_was_asked_and_what_values_stand_for(
    make_study: Maker, begin: Begin, tmp_path: Path
) -> None:
    asked = '[demographics]\nquestions = [{ name = "gender", question = "What is your gender?", '
    asked += 'choices = ["woman", "man"] }]\n'
    store = make_study(FACES.replace("[protocol]", 'languages = ["en", "de"]\n[protocol]') + asked)
    service, token, state = begin(store)
    if state["stage"] == "demographics":
        state = service.advance(token, "demographics", {"answers": {"gender": "woman"}})
        state = service.advance(token, "instructions", {})
    complete(service, token, state)
    export(store, tmp_path / "out")
    described(tmp_path / "out")
    rows = _codebook(tmp_path / "out")
    assert _texts(rows, kind="question", value="awe", language="en") == [
        "How strongly does this face show awe?"
    ]
    assert _texts(rows, kind="question", value="awe", language="de") == [
        "Wie stark zeigt dieses Gesicht awe?"
    ]
    ends = {(row["language"], row["value"]): row["text"] for row in rows if row["kind"] == "code"}
    assert ends["en", "0"] == "not at all"
    assert ends["de", "7"] == "so stark wie möglich"
    assert _texts(rows, table="raters", column="gender", kind="question") == [
        "What is your gender?"
    ]
    assert _texts(rows, column="gender", kind="code") == ["woman", "man"]
    # Labels are those of the protocol, in its order.
    labels = [r["value"] for r in rows if r["kind"] == "question" and r["language"] == "en"]
    assert [one for one in labels if one] == list(store.study.protocol.labels())


@pytest.mark.long
def test_nominal_answers_stand_by_name_in_every_file(tmp_path: Path) -> None:
    path, *_ = write_template(tmp_path / "p.toml", "preference")
    simulate_study(path, people=3, careless=0, seed=1)
    with open_store(load_study(path)) as store:
        export(store, tmp_path / "out")
        release(store, tmp_path / "set")
        names = store.study.protocol.scale.categories
    rows = _codebook(tmp_path / "out")
    codes = [
        (r["value"], r["code"]) for r in rows if r["column"] == "value" and r["kind"] == "code"
    ]
    assert codes == [(name, str(code)) for code, name in enumerate(names)]
    tables = {
        file.relative_to(tmp_path).as_posix(): read(file)["value"].to_list()
        for folder in ("out", "set")
        for read, suffix in ((pl.read_csv, "csv"), (pl.read_parquet, "parquet"))
        for file in [tmp_path / folder / f"ratings.{suffix}"]
    }
    first = tables["out/ratings.csv"]
    assert set(first) <= set(names)
    assert len(set(first)) > 1
    assert all(values == first for values in tables.values())
    again = [read_ratings(tmp_path / "out" / f"ratings.{end}") for end in ("csv", "parquet")]
    assert again[0].equals(again[1])
    for folder in ("out", "set"):
        described(tmp_path / folder)


def test_a_contrastive_study(make_study: Maker, begin: Begin, tmp_path: Path) -> None:
    store = make_study(VERIFY)
    service, token, state = begin(store)
    complete(service, token, state, answer=None)
    export(store, tmp_path / "out")
    described(tmp_path / "out")
    rows = _codebook(tmp_path / "out")
    assert _texts(rows, column="value", kind="code") == ["no", "yes"]


def test_phrases_are_phrases() -> None:
    for about in (ABOUT, *_OF_TABLES.values()):
        for text in about.values():
            assert text[0].islower()
            assert not text.endswith(".")
