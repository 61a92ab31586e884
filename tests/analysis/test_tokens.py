"""Texts cut into words."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.analysis import tokenize
from affectlab.analysis.words import Tokens
from affectlab.core.errors import InputError


def words_of(tokens: Tokens) -> list[list[str]]:
    ends = tokens.end.tolist()
    starts = [0, *ends][: len(ends)]
    texts = [[tokens.words[w] for w in tokens.word[a:b]] for a, b in zip(starts, ends, strict=True)]
    return [texts[at] for at in tokens.text]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don’t. I DON'T!", ["i", "don't", "i", "don't"]),
        ("'quoted' rock'n'roll'", ["quoted", "rock'n'roll"]),
        ("naïve Ärger ярость 怒り", ["naïve", "ärger", "ярость", "怒り"]),
        ("so😂😂 ❤️ 👩‍👩‍👧 👍🏽 🇫🇷", ["so", "😂", "😂", "❤️", "👩‍👩‍👧", "👍🏽", "🇫🇷"]),
        ("snake_case 3.14 a-b", ["snake", "case", "3", "14", "a", "b"]),
        ("", []),
        (" \n\t…", []),
        (None, []),
        (float("nan"), []),
    ],
)
def test_words(text, words: list[str]) -> None:
    assert words_of(tokenize([text])) == [words]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don’t know", ["don", "know"]),
        ("see http://a.b/c or www.x.org, not me.com/x", ["see", "not"]),
        ("hey @someone #metoo lol", ["hey", "#metoo", "lol"]),
        ("[NAME] is 14th", ["name", "14th"]),
    ],
)
def test_words_of_the_published_table(text: str, words: list[str]) -> None:
    assert words_of(tokenize([text], paper_compat=True)) == [words]


@given(st.lists(st.text("ab' Ü1-", max_size=12), max_size=8))
def test_the_same_as_a_plain_pattern(texts: list[str]) -> None:
    pattern = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
    assert words_of(tokenize(texts)) == [pattern.findall(text.lower()) for text in texts]


@given(st.lists(st.text(max_size=20), max_size=6))
def test_any_text_is_cut(texts: list[str]) -> None:
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    found = tokenize(texts)
    assert len(found) == len(texts)
    assert all(word == word.lower() or not word.islower() for word in found.words)


def test_equal_texts_are_held_once() -> None:
    found = tokenize(["a b", "c", "a b"])
    assert found.text.tolist() == [0, 1, 0]
    assert found.word.size == 3
    assert repr(found) == "Tokens(3 texts, 3 words)"


def test_many_texts_are_cut_on_several_cores() -> None:
    texts = [f"word{k} and word{k % 7}" for k in range(20_000)]
    assert words_of(tokenize(texts)) == [text.split() for text in texts]


def test_first_of_a_word_in_its_text() -> None:
    assert tokenize(["a b a", "a a"]).first.tolist() == [True, True, False, True, False]


def test_a_tokenizer_of_ones_own() -> None:
    found = tokenize(["A-B", "C"], str.split)
    assert words_of(found) == [["A-B"], ["C"]]
    assert found.rule == "tokenizer split"


@pytest.mark.parametrize(
    ("texts", "tokenizer", "message"),
    [
        ("one text", None, "a list of texts"),
        (["a", 3], None, r"texts\[1\] is 3"),
        ([["a"]], None, r"texts\[0\]"),
        (["a"], lambda text: text, "list of words"),
        (["a"], lambda text: [1], "the word 1"),
        (["a"], lambda text: None, "list of words"),
    ],
)
def test_bad_input(texts, tokenizer, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tokenize(texts, tokenizer)


def test_columns_of_data_frames() -> None:
    import polars as pl

    pd = pytest.importorskip("pandas")
    for column in (pl.Series(["a b", None]), pd.Series(["a b", np.nan])):
        assert words_of(tokenize(column)) == [["a", "b"], []]
