"""Texts, and blocks of words."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.stimuli.taxonomy import read_texts, text_blocks

WORDS = st.lists(st.sampled_from(["one", "two\n", "three,"]), max_size=23)


@given(st.lists(WORDS, min_size=1, max_size=6).filter(any), st.integers(1, 9), st.booleans())
def test_no_word_is_lost(texts: list[list[str]], words: int, pack: bool) -> None:
    given_texts = {f"t{k}": " ".join(text) for k, text in enumerate(texts)}
    blocks = text_blocks(given_texts, words=words, pack=pack)
    for name, text in given_texts.items():
        pieces = [
            piece
            for block in blocks
            for source, piece in zip(block.sources, block.texts, strict=True)
            if source == name
        ]
        assert " ".join(pieces).split() == text.split()
        if pack and len(text.split()) <= words:
            assert len(pieces) <= 1
    assert [block.number for block in blocks] == list(range(1, len(blocks) + 1))
    for block in blocks:
        assert block.n_words == len(block.text.split()) <= words
    if not pack:
        assert len(blocks) == sum(-(-len(text) // words) for text in texts)


def test_a_book_as_in_the_paper() -> None:
    blocks = text_blocks({"handbook": "word " * 1234})
    assert [block.n_words for block in blocks] == [500, 500, 234]


def test_what_cannot_be_cut() -> None:
    with pytest.raises(InputError, match="words = 0"):
        text_blocks(["a"], words=0)
    with pytest.raises(InputError, match="2 texts without a single word"):
        text_blocks(["", " \n"])
    with pytest.raises(InputError, match="not one text"):
        text_blocks("a text")


def test_files_of_texts(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("B", "utf-8")
    (tmp_path / "a.md").write_text("\ufeffA", "utf-8")
    (tmp_path / "other.pdf").write_text("no", "utf-8")
    pl.DataFrame({"id": ["x", "y", "z"], "text": ["X", None, " "]}).write_csv(tmp_path / "t.csv")
    pl.DataFrame({"words": ["P"]}).write_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.jsonl").write_text('{"text": "J", "id": "j"}\n\n{"text": "K"}\n', "utf-8")
    assert read_texts([tmp_path]) == {"a.md": "A", "b.txt": "B"}
    # Breaks of lines that JSON does not escape are part of a text.
    (tmp_path / "u.jsonl").write_text('{"text": "J\u2028o\x85y"}\r\n{"text": "K"}\n', "utf-8")
    assert read_texts([tmp_path / "u.jsonl"]) == {"u.jsonl:1": "J\u2028o\x85y", "u.jsonl:2": "K"}
    assert read_texts([tmp_path / "t.csv", tmp_path / "t.jsonl"]) == {
        "x": "X",
        "j": "J",
        "t.jsonl:3": "K",
    }
    assert read_texts([tmp_path / "t.parquet"], column="words") == {"t.parquet:1": "P"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.txt", None, "there is no such file"),
        ("a.docx", b"x", "expected a .txt, .md"),
        ("a.txt", b"\xff\xfe", "byte 0 is not UTF-8"),
        ("a.csv", b"id,body\n1,x\n", "unknown column 'text'"),
        ("a.csv", b"id,text\n1,x\n1,y\n", "the name '1' stands twice"),
        ("a.csv", b"id,text\n1,\n", "no text was found"),
        ("a.jsonl", b'{"text": "x"}\n{"text":\n', "line 2: not JSON"),
        ("a.jsonl", b'{"text": 3}\n', "line 1: expected an object"),
    ],
)
def test_hostile_files(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_texts([tmp_path / name])
    assert said in str(raised.value)


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no \.txt or \.md file"):
        read_texts([tmp_path])
