"""Parts that other packages add, and sentences about libraries that are absent."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError
from affectlab.stimuli.curation.texts.features import TextSettings, text_features
from affectlab.stimuli.curation.texts.languages import in_languages
from affectlab.stimuli.curation.texts.masking import mask_texts
from affectlab.stimuli.curation.texts.plugs import has_name, plug_name, wanted_library

ADDED = """
def letters(text):
    return list(text)

def all_german(texts):
    return ["de"] * len(texts)

def first_letter(texts):
    return [[(0, 1)] if text else [] for text in texts]
"""
POINTS = """
[affectlab.tokenizers]
added-letters = affectlab_added_parts:letters

[affectlab.language_detectors]
added-german = affectlab_added_parts:all_german

[affectlab.name_finders]
added-first = affectlab_added_parts:first_letter
"""


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that adds parts."""
    (tmp_path / "affectlab_added_parts.py").write_text(ADDED)
    told = tmp_path / "affectlab_added_parts-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: affectlab-added-parts\n")
    (told / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("added")
def test_parts_of_another_package() -> None:
    settings = TextSettings(tokenizer="added-letters", language="added-german", names="added-first")
    looked = text_features(pl.Series(["A long enough text."]), settings)
    assert looked.select("english", "tokens").rows() == [(False, 19)]
    assert mask_texts(["A long text"], settings) == ["[NAME] long text"]
    # Words at sight are for the detector "fast"; another one is asked about every text.
    assert in_languages(pl.Series(["I think that's it"]), "added-german").to_list() == [False]


def test_absent_library() -> None:
    with pytest.raises(InputError) as found:
        wanted_library("no_such_module_anywhere", "no-such", "the tokenizer 'x'")
    assert str(found.value) == (
        f"the tokenizer 'x' needs no-such; install it with: {install_line('scale')}"
    )


class Named:
    name = "own v2"

    def __call__(self, text: str) -> list[str]:
        return [text]


def test_names_in_records() -> None:
    assert plug_name("words") == "words"
    assert plug_name(Named()) == "own v2"
    assert plug_name(str.split) == "builtins:str.split"
    assert [has_name(one) for one in ("words", Named(), str.split)] == [True, True, False]
    assert plug_name(test_absent_library).endswith("test_plugs:test_absent_library")


def test_packaged_files() -> None:
    """Each list is what it is read as: lower case, each term once, no name in both files."""
    folder = files("affectlab.stimuli.curation") / "data"
    terms = {}
    for path in folder.iterdir():
        if path.name.endswith(".txt"):
            lines = path.read_text(encoding="utf-8").splitlines()
            found = [line for line in lines if line and not line.startswith("#")]
            assert found == [line.strip().lower() for line in found], path.name
            assert len(found) == len(set(found)), path.name
            terms[path.name] = set(found)
    assert not terms["name_words.txt"] & terms["name_places.txt"]
    assert len(terms) == 7
