"""Published layouts in Parquet and Feather files, as the hub holds them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from tests.ratings.datasets import hub_rows as rows

from affectlab.core.errors import InputError
from affectlab.models.text import read_labelled_texts
from affectlab.ratings import read_ratings
from affectlab.ratings.datasets import find_dataset, list_datasets
from affectlab.ratings.files.parquet import class_names, with_class_names

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)
_ANSWER = st.tuples(
    _TEXT,
    st.sampled_from(["eew5j0j", "eemcysk", "ed00q6i"]),
    st.integers(0, 3),
    st.booleans(),
    st.sets(st.sampled_from(rows.LABELS), max_size=3),
)


def put(path: Path, frame: pl.DataFrame, features: dict[str, object] | None = None) -> Path:
    path.write_bytes(rows.parquet(frame, features))
    return path


@settings(max_examples=25, deadline=None)
@given(st.lists(_ANSWER, min_size=1, max_size=8, unique_by=lambda row: (row[1], row[2])))
def test_raw_parquet_and_csv_are_the_same(tmp_path_factory, answers):
    # One text per comment: which of several is kept is another question.
    told = {row[1]: f"x{row[0]}x" for row in answers}
    answers = [(told[row[1]], *row[1:]) for row in answers]
    folder = tmp_path_factory.mktemp("raw")
    of_table = read_ratings(put(folder / "part.parquet", rows.raw_table(answers)))
    of_csv = read_ratings(rows.raw_csv(folder / "part.csv", answers))
    assert of_table.equals(of_csv)
    assert of_table.history == of_csv.history


def test_feather_is_recognised_as_well(tmp_path):
    rows.raw_table().write_ipc(tmp_path / "part.feather")
    assert read_ratings(tmp_path / "part.feather").equals(
        read_ratings(rows.raw_csv(tmp_path / "part.csv"))
    )


def test_raw_says_which_row_is_wrong(tmp_path):
    wrong = rows.raw_table().with_columns(joy=pl.Series([0, 2, 0, 0], dtype=pl.Int32))
    file = put(tmp_path / "part.parquet", wrong)
    with pytest.raises(InputError, match=r"part\.parquet, row 2 \(column 'joy'\): '?2"):
        read_ratings(file)
    kept = read_ratings(file, on_bad="set_aside")
    assert [(part.count, part.places) for part in kept.set_aside] == [
        (1, ("row 2 (column 'joy')",))
    ]
    with pytest.raises(InputError, match=r"part\.parquet: column 'joy' is missing"):
        read_ratings(put(tmp_path / "part.parquet", wrong.drop("joy")))


def test_simplified_parquet_and_tsv_are_the_same(tmp_path):
    file = put(tmp_path / "train.parquet", rows.simplified_table())
    assert read_ratings(file).equals(read_ratings(rows.simplified_tsv(tmp_path / "train.tsv")))
    texts = read_labelled_texts(file)
    assert texts.targets.sum(axis=1).tolist() == [2.0, 1.0]


def test_a_label_number_above_27_is_wrong(tmp_path):
    table = rows.simplified_table([*rows.SIMPLIFIED, ("x", [28], "ed00q6j")])
    file = put(tmp_path / "train.parquet", table)
    with pytest.raises(InputError, match=r"row 3: labels '28' are not understood"):
        read_ratings(file, format="goemotions-simplified")
    assert read_ratings(file, format="goemotions-simplified", on_bad="set_aside").n_stimuli == 2


@pytest.mark.parametrize(
    "frame",
    [
        {"text": ["so happy"], "labels": ["joy"], "id": ["eebbqej"]},
        {"text": ["so happy"], "labels": [[3]], "id": ["comment 1"]},
        {"text": ["so happy"], "labels": [[3]], "id": ["eebbqej"], "more": [1]},
    ],
)
def test_other_tables_of_texts_are_not_taken_for_goemotions(tmp_path, frame):
    file = put(tmp_path / "texts.parquet", pl.DataFrame(frame))
    with pytest.raises(InputError) as caught:
        read_ratings(file)
    assert "label number" not in str(caught.value)
    if frame["labels"] == ["joy"]:
        assert read_labelled_texts(file).targets.sum() == 1


def test_binary_parquet_and_csv_are_the_same(tmp_path):
    same = read_ratings(rows.binary_csv(tmp_path / "binary.csv"))
    frame, features = rows.binary_table()
    assert read_ratings(put(tmp_path / "hub.parquet", frame, features)).equals(same)
    plain = pl.read_csv(tmp_path / "binary.csv", infer_schema=False)
    assert read_ratings(put(tmp_path / "plain.parquet", plain)).equals(same)


def test_hq_parquet_and_csv_are_the_same(tmp_path):
    same = read_ratings(rows.hq_csv(tmp_path / "hq.csv"))
    assert read_ratings(put(tmp_path / "hub.parquet", rows.hq_table())).equals(same)
    plain = pl.read_csv(tmp_path / "hq.csv", infer_schema=False)
    assert read_ratings(put(tmp_path / "plain.parquet", plain)).equals(same)


def test_pictures_without_a_name_are_numbered(tmp_path):
    frame = rows.hq_table().with_columns(path=rows.pictures([None, "b.png"]))
    found = read_ratings(put(tmp_path / "hub.parquet", frame))
    assert found.stimulus_names == ("row 1", "b.png")


def test_an_answer_that_is_none_is_named_by_its_row(tmp_path):
    frame = rows.hq_table()
    frame = pl.concat([frame, frame[:1].with_columns(label=pl.lit("[human-1]"))])
    file = put(tmp_path / "hub.parquet", frame)
    with pytest.raises(InputError, match=r"row 3: label '\[human-1\]' is no list of annotators"):
        read_ratings(file, format="emonet-face-hq")
    kept = read_ratings(file, format="emonet-face-hq", on_bad="set_aside")
    assert kept.n_stimuli == 2
    assert [part.places for part in kept.set_aside] == [("row 3",)]


def test_a_broken_table_is_named(tmp_path):
    file = tmp_path / "part.parquet"
    file.write_bytes(rows.parquet(rows.raw_table())[:-20])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_ratings(file)


# -- classes by name -----------------------------------------------------------------------------


@given(
    st.lists(st.text(max_size=3), min_size=1, max_size=5),
    st.lists(st.one_of(st.none(), st.integers(-3, 6)), max_size=6),
)
def test_classes_get_their_names(names, numbers):
    frame = pl.DataFrame({"c": pl.Series(numbers, dtype=pl.Int16), "other": list(numbers)})
    wrong = [number for number in numbers if number is not None and not -1 <= number < len(names)]
    if wrong:
        with pytest.raises(InputError, match=f"holds class {wrong[0]}; expected 0 to"):
            with_class_names(frame, {"c": names}, where="x")
        return
    found = with_class_names(frame, {"c": names, "absent": names}, where="x")
    slow = [None if number in (None, -1) else names[number] for number in numbers]
    assert found["c"].to_list() == slow
    assert found["other"].to_list() == numbers


def test_only_classes_have_names():
    features = {"a": {"_type": "ClassLabel", "names": ["x"]}, "b": {"_type": "Value"}, "c": [{}]}
    assert class_names(json.dumps({"info": {"features": features}})) == {"a": ["x"]}
    assert class_names("{}") == {}


def test_other_words_beside_a_schema_are_no_harm(tmp_path):
    frame = pl.DataFrame({"stimulus": ["a"], "rater": ["r"], "value": [1]})
    file = tmp_path / "a.parquet"
    for words in ("no json", "[]", '{"info": {"features": {"value": {"_type": "ClassLabel"}}}}'):
        frame.write_parquet(file, metadata={"huggingface": words})
        assert read_ratings(file).value.tolist() == [1.0]


# -- the list ------------------------------------------------------------------------------------


def test_every_set_of_the_hub_names_a_reader():
    from affectlab.ratings import list_formats

    formats = {entry.name for entry in list_formats()}
    for entry in list_datasets():
        assert entry.reader in formats or entry.reader.startswith("affectlab.")
        assert (entry.hub is None) == (entry.columns == ())
        assert entry.licence
        assert entry.citation.endswith(".")
        assert find_dataset(entry.name.upper()) is entry
    assert len({entry.name for entry in list_datasets()}) == len(list_datasets())
