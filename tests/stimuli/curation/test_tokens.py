"""Counts of tokens: what NLTK's word tokenizer gives, and tokenizers of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, strategies as st

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.texts.tokens import count_tokens

SENTENCES = [
    "",
    " ",
    "Yes.",
    "Good muffins cost $3.88 in New York.  Please buy me two of them.\nThanks.",
    "I don't know, do you?! They'll say it's mine...",
    "We're gonna win; I cannot believe it, gimme that (now).",
    "It's 5:30, not 17:30: take 1,000 of those 50% off things",
    "See https://www.example.com/a/b?q=1&x=2 for more",
    "\"Quoted,\" she said. 'Single' too.",
    "well-known and/or state-of-the-art - or not -- who knows",
    "wow!!! :) ;) <3 xD ^^ &gt; #tag @user r/pics",
    "That “curly” one isn’t the same… or is it",
    "o'clock 'tis the dogs' bone, rock'n'roll",
    "😂😂 so funny 👍🏽!",
    "*emphasis* and **strong** [link](http://a.b) `code`",
    "Ellipsis ... in the middle.... and at the end..",
    "wanna go? I've been, she'd not. YOU'RE LOUD, DON'T!",
    "Ça va très bien, merci beaucoup!",
]


def test_counted_by_hand() -> None:
    texts = pl.Series(["a b c", "a, b.", "don't", "it's", "cannot", "...", "1,000", None, "?!"])
    assert count_tokens(texts).to_list() == [3, 4, 2, 2, 2, 1, 1, 0, 2]
    assert count_tokens(texts).dtype == pl.UInt16


@pytest.mark.parametrize("text", SENTENCES)
def test_as_nltk(text: str) -> None:
    pytest.importorskip("nltk")
    texts = pl.Series([text])
    assert count_tokens(texts)[0] == count_tokens(texts, "treebank")[0]


def test_abbreviations_keep_their_stop() -> None:
    """As with sentences found by a trained model, which the published counts had."""
    texts = pl.Series(["Mr. Smith saw the U.S. and e.g. Dr. Who", "No. Really. Yes."])
    assert count_tokens(texts).to_list() == [9, 6]


def test_messages() -> None:
    pytest.importorskip("nltk")
    assert count_tokens(pl.Series(["@user so :) #happy"]), "tweet").to_list() == [4]
    assert count_tokens(pl.Series(["@user so :) #happy"])).to_list() == [7]


@example(["\x1f", "\x85"], "\u3000")
@given(st.lists(st.text(max_size=30), max_size=5), st.text(max_size=10))
def test_any_text(texts: list[str], other: str) -> None:
    """Something is counted where something stands, and texts do not change each other's counts."""
    series = pl.Series([*texts, other], dtype=pl.String)
    counts = count_tokens(series).to_list()
    assert counts[-1] == count_tokens(pl.Series([other]))[0]
    for text, n in zip(series, counts, strict=True):
        visible = bool(text.split())
        assert (n > 0) == visible
        assert n <= 2 * len(text)


def test_very_long_text() -> None:
    assert count_tokens(pl.Series(["a " * 70_000])).to_list() == [65_535]


def test_own_tokenizer() -> None:
    texts = pl.Series(["a b", None, "a-b c d"])
    assert count_tokens(texts, str.split).to_list() == [2, 0, 3]
    assert count_tokens(texts, iter).to_list() == [3, 0, 7]


@pytest.mark.parametrize("wrong", [len, str.upper])
def test_no_tokens(wrong: Callable[[str], Any]) -> None:
    with pytest.raises(InputError, match=r"tokenizer: gave .*; expected a list of tokens"):
        count_tokens(pl.Series(["a b"]), wrong)


def test_unknown_tokenizer() -> None:
    with pytest.raises(InputError, match="unknown tokenizer 'treebnk'; did you mean 'treebank'"):
        count_tokens(pl.Series(["a b"]), "treebnk")
