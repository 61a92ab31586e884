"""TOML files of users: every problem is one sentence that names file, key, value, expectation."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from affectlab.core.errors import InputError
from affectlab.core.files.toml import parse_toml, read_toml


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    count: int


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    parts: list[Inner] = []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "x.toml: key 'name' is missing"),
        (
            "name = 'a'\nnmae = 'b'",
            "x.toml: key 'nmae' is not known here; did you mean 'name'?",
        ),
        (
            "name = 'a'\n[[parts]]\ncount = 1\n[[parts]]\ncuont = 1",
            "x.toml: key 'parts.1.count' is missing (and 1 more problem)",
        ),
        (
            "name = 'a'\n[[parts]]\ncount = 1\ncolour = 1",
            "x.toml: key 'parts.0.colour' is not known here; expected one of: count",
        ),
        ("name = 3", "x.toml: name = 3: input should be a valid string"),
        (
            "name = 'a'\n[[parts]]\ncount = 'many'",
            "x.toml: parts.0.count = 'many': input should be a valid integer, "
            "unable to parse string as an integer",
        ),
        (
            "x = 1\ny = 2",
            "x.toml: key 'name' is missing (and 2 more problems)",
        ),
    ],
)
def test_problems_in_words(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_toml(text, Outer, where="x.toml")
    assert str(caught.value) == sentence


def test_not_toml_names_the_line() -> None:
    with pytest.raises(InputError, match=r"x\.toml: not valid TOML: .*line 2"):
        parse_toml("name = 'a'\nparts = = 3", Outer, where="x.toml")


def test_long_values_are_cut() -> None:
    with pytest.raises(InputError) as caught:
        parse_toml(f"name = {list(range(100))}", Outer, where="x.toml")
    assert len(str(caught.value)) < 160


def test_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_toml(tmp_path / "none.toml", Outer)
    with pytest.raises(InputError, match="is a folder"):
        read_toml(tmp_path, Outer)
    latin = tmp_path / "latin.toml"
    latin.write_bytes("name = 'é'".encode("latin-1"))
    with pytest.raises(InputError, match="is not UTF-8"):
        read_toml(latin, Outer)
    marked = tmp_path / "marked.toml"
    marked.write_text("name = 'é'", encoding="utf-8-sig")
    assert read_toml(marked, Outer).name == "é"
