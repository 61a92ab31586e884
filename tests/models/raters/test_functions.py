"""``module:function`` as a rater: of texts, of pictures, with settings, ready-made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.models.raters.conftest import pictures

from affectlab import InputError
from affectlab.models import rate
from affectlab.models.raters.rate import RaterNote

MODULE = """
from affectlab.models.raters import Rater

def glad(texts):
    return [{"joy": float("happy" in text), "anger": 0.25} for text in texts]

def red(images):
    return [{"anger": image.getpixel((0, 0))[0] / 255} for image in images]

def tuned(word="happy", strength=1.0):
    def rate(texts):
        return [{"joy": strength * (word in text)} for text in texts]
    return rate

READY = Rater("ready", glad, ("joy", "anger"), takes="text", version="3")

def open_to_all(**settings):
    return lambda texts: [{"joy": settings["share"]} for _ in texts]

def a_rater(level=0.5):
    return Rater("made", lambda texts: [{"joy": level} for _ in texts], ("joy",), takes="text")

def number():
    return 7

def not_scores(texts):
    return ["joy" for _ in texts]

VALUE = 7
"""
TEXTS = ["so happy", "oh no"]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any) -> str:
    """A module in the working folder, under a name that no other test has."""
    name = f"functions_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return name


def values(found: Any) -> list[float]:
    return found.to_frame().filter(label="joy")["value"].to_list()


@pytest.mark.parametrize(
    ("function", "settings", "joy"),
    [
        ("glad", {}, [1.0, 0.0]),
        ("tuned", {}, [1.0, 0.0]),
        ("tuned", {"word": "no", "strength": 0.5}, [0.0, 0.5]),
        ("open_to_all", {"share": 0.5}, [0.5, 0.5]),
        ("READY", {}, [1.0, 0.0]),
        ("a_rater", {"level": 0.75}, [0.75, 0.75]),
    ],
)
def test_texts(module: str, function: str, settings: dict[str, Any], joy: list[float]) -> None:
    found = rate(f"{module}:{function}", TEXTS, **settings)
    assert values(found) == joy
    assert found.rater_kinds == ("model",)
    assert found.stimuli["text"].to_list() == TEXTS


def test_pictures(module: str, tmp_path: Path) -> None:
    found = rate(f"{module}:red", pictures(tmp_path / "p", 51, 102))
    values = dict(found.to_frame().select("stimulus", "value").iter_rows())
    assert values == pytest.approx({"w51": 0.2, "w102": 0.4})


def test_labels_go_to_a_taxonomy(module: str) -> None:
    found = rate(f"{module}:READY", TEXTS, "goemotions")
    assert (found.taxonomy.name, set(found.label_names)) == ("goemotions", {"joy", "anger"})


@pytest.mark.parametrize(
    ("function", "settings", "said"),
    [
        ("none", {}, "none"),
        ("VALUE", {}, "int"),
        ("number", {}, "gives int; expected a Rater or a function from stimuli to scores"),
        ("not_scores", {}, "gave str; expected scores or faces"),
        ("glad", {"word": "x"}, "rates stimuli and takes no settings"),
        ("tuned", {"wrod": "x"}, "unknown setting 'wrod'"),
        ("tuned", {"strength": 7}, "expected interval 0 to 1"),
    ],
)
def test_what_is_no_rater(module: str, function: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        rate(f"{module}:{function}", TEXTS, patience=1, **settings)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_module_that_is_not_there(module: str) -> None:
    with pytest.raises(InputError, match="no_such_module_here"):
        rate("no_such_module_here:rate", TEXTS)


def test_texts_that_were_set_aside_are_told(tmp_path: Path) -> None:
    table = tmp_path / "texts.csv"
    table.write_text('stimulus,text\na,so happy\nb,""\n')

    def glad(texts: Any) -> list[dict[str, float]]:
        return [{"joy": float("happy" in text)} for text in texts]

    with pytest.warns(RaterNote, match="set aside: 1 empty text"):
        found = rate(glad, table, on_bad="set_aside")
    assert found.stimulus_names == ("a",)
