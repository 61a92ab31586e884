"""Cutting posts into tokens, and the features made of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab import InputError
from affectlab.models.text import FeatureSettings
from affectlab.models.text.features import cut, learn_features, pieces_of, token_ids

TEXTS = [
    "I am so so happy!!!",
    "happy days, [NAME]",
    "don’t cry 😢",
    "so sad 😢 don't",
    "a b",
]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("[NAME] and [RELIGION]", ["[name]", "and", "[religion]"]),
        ("Don’t, can't", ["don't", ",", "can't"]),
        ("noooooo", ["nooo"]),
        ("nooo", ["nooo"]),
        ("noo", ["noo"]),
        ("What?!?!??", ["what", "?", "!", "?", "!", "??"]),
        ("ok.....", ["ok", "..."]),
        (":) :-( xD <3", [":)", ":-(", "xd", "<3"]),
        (
            "see r/aww and https://a.b/c?d=1 now",
            ["see", "r/aww", "and", "https://a.b/c?d=1", "now"],
        ),
        ("👍🏽👨‍👩‍👧", ["👍🏽", "👨‍👩‍👧"]),
        ("at 10:30, 3.5 %", ["at", "10:30", ",", "3.5", "%"]),
        ("日本 été", ["日本", "été"]),
        ("\u200d\ufe0f", []),
    ],
)
def test_tokens(text, tokens):
    assert cut(text) == tokens


@given(st.text())
def test_no_visible_sign_is_lost(text):
    """Between the tokens there is nothing but space, signs that join, and repeats."""
    kept = "".join(cut(text))
    for sign in set(text.lower()) - set("\u200d\ufe0f\u2019_"):
        assert sign.isspace() or sign in kept or not sign.isprintable() or sign == "\u0307", sign


@given(st.lists(st.text(max_size=20), max_size=6))
def test_numbers_stand_for_the_tokens(texts):
    ids = token_ids(texts)
    for place, text in enumerate(texts):
        own = ids.token[ids.end[place] : ids.end[place + 1]]
        assert [ids.types[token] for token in own] == cut(text)


def test_pieces_have_edges_and_masks_have_none():
    assert pieces_of("sad", (3, 4)) == [" sa", "sad", "ad ", " sad", "sad "]
    assert pieces_of("a", (3, 5)) == [" a "]
    assert pieces_of("[name]", (3, 5)) == []


def slow_features(texts, settings):
    """The definition written as loops: names and weighted counts of every text."""
    counted = []
    for text in texts:
        tokens = cut(text)
        chain = ["<s>", *tokens, "</s>"]
        words = list(tokens)
        if settings.pairs and tokens:
            words += [f"{a} {b}" for a, b in pairwise(chain)]
        pieces = []
        if settings.pieces:
            for token in tokens:
                padded = f" {token} "
                for size in range(settings.pieces[0], settings.pieces[1] + 1):
                    pieces += [padded[i : i + size] for i in range(len(padded) - size + 1)]
        pieces = [piece for piece in pieces if piece != " "]
        counted.append((words, pieces))
    rows = []
    n = len(texts)
    for words, pieces in counted:
        row = {}
        for block, least, own in (
            (0, settings.min_texts, words),
            (1, settings.min_texts_piece, pieces),
        ):
            value = {}
            for name in own:
                held = sum(name in other[block] for other in counted)
                if held >= least:
                    value[name] = (1 + np.log(own.count(name))) * (1 + np.log((1 + n) / (1 + held)))
            length = np.sqrt(sum(v * v for v in value.values()))
            row |= {(block, name): v / length for name, v in value.items()}
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    "settings",
    [
        FeatureSettings(min_texts=1, min_texts_piece=1),
        FeatureSettings(min_texts=2, min_texts_piece=2, pieces=(1, 3)),
        FeatureSettings(pairs=False, pieces=None, min_texts=1),
    ],
    ids=repr,
)
def test_features_are_those_of_a_slow_twin(settings):
    texts = [text.replace("[NAME]", "you") for text in TEXTS]
    features, matrix = learn_features(texts, settings)
    names = [(0, name) for name in features.tokens] + [(1, name) for name in features.pieces]
    expected = slow_features(texts, settings)
    assert set(names) == set().union(*expected)
    dense = matrix.toarray()
    for row, own in zip(dense, expected, strict=True):
        assert np.allclose(row, [own.get(name, 0.0) for name in names], atol=1e-6)
    # What was learned gives the same features again, and none for words it does not know.
    assert np.allclose(features.transform(texts).toarray(), dense, atol=1e-7)
    assert features.transform(["zzz qqq"]).nnz == 0


def test_most_frequent_features_come_first():
    features, matrix = learn_features(TEXTS, FeatureSettings(min_texts=1, min_texts_piece=1))
    held = np.diff(matrix.tocsc().indptr)
    words = len(features.tokens)
    assert (np.diff(held[:words]) <= 0).all()
    assert (np.diff(held[words:]) <= 0).all()


def test_bad_settings_are_one_sentence():
    with pytest.raises(InputError, match="min_texts = 0"):
        FeatureSettings(min_texts=0)
    with pytest.raises(InputError, match="pieces = "):
        FeatureSettings(pieces=(5, 3))
    with pytest.raises(InputError, match="no word occurs in 2 of the 2 texts"):
        learn_features(["one", "two"], FeatureSettings())
