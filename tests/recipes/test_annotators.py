"""Raters of a pilot that are no persons: models, and functions of other packages."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.models.text import TextClassifier
from affectlab.ratings import Ratings
from affectlab.recipes.goemotions.pilot import annotate_texts, list_annotators

ADDED = """
from affectlab.core.errors import InputError
from affectlab.ratings import Ratings


def cheerful(texts):
    rows = [(name, "added", "joy", 1) for name in texts["stimulus"]]
    names = ("stimulus", "rater", "label", "value")
    return Ratings(dict(zip(names, map(list, zip(*rows)))), scale="binary",
                   raters={"rater": ["added"], "rater_kind": ["model"]})


def failing(texts):
    raise RuntimeError("no connection")


def refusing(texts):
    raise InputError("no key was given")


def numbers(texts):
    return [1, 2]

"""
POINTS = """
[affectlab.annotators]
added-cheerful = affectlab_added_annotators:cheerful
added-failing = affectlab_added_annotators:failing
added-refusing = affectlab_added_annotators:refusing
added-numbers = affectlab_added_annotators:numbers
"""
TEXTS = pl.DataFrame({"stimulus": ["1", "2"], "text": ["so happy", "so afraid"]})


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that adds annotators."""
    (tmp_path / "affectlab_added_annotators.py").write_text(ADDED)
    told = tmp_path / "affectlab_added_annotators-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: affectlab-added-annotators\n")
    (told / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("added")
def test_an_annotator_of_another_package() -> None:
    assert "added-cheerful" in list_annotators()
    answers = annotate_texts("added-cheerful", TEXTS)
    assert answers.stimuli.select("stimulus", "text").rows() == TEXTS.rows()
    assert answers.rater_kinds == ("model",)
    assert answers.frame["value"].to_list() == [1, 1]


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("added-failing", r"'added-failing' failed \(RuntimeError: no connection\)"),
        ("added-refusing", "'added-refusing': no key was given"),
        ("added-numbers", "gives list; expected Ratings"),
        ("added-chearful", r"did you mean 'added-cheerful'.*; the folder of a model may"),
    ],
)
def test_annotators_that_do_not_serve(name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        annotate_texts(name, TEXTS)


def test_a_model_says_yes_or_no_to_each_of_its_labels(tmp_path: Path) -> None:
    model = TextClassifier.make("linear", taxonomy="ekman", name="small")
    model.fit(["so happy today", "so afraid today"] * 10, ["joy", "fear"] * 10)
    model.save(tmp_path / "model")
    answers = annotate_texts(tmp_path / "model", TEXTS)
    assert answers.rater_names == ("small",)
    assert answers.rater_kinds == ("model",)
    assert answers.frame.height == 2 * len(model.labels)
    chosen = answers.frame.filter(value=1).select("stimulus", "label").cast(pl.String)
    assert sorted(chosen.rows()) == [("1", "joy"), ("2", "fear")]


def test_answers_about_other_texts_are_refused() -> None:
    def strange(texts: pl.DataFrame) -> Ratings:
        return Ratings(
            {"stimulus": ["3"], "rater": ["r"], "label": ["joy"], "value": [1]}, scale="binary"
        )

    with pytest.raises(InputError, match="'3', which it was not asked about"):
        annotate_texts(strange, TEXTS)


def test_answers_on_another_scale_are_refused() -> None:
    def scores(texts: pl.DataFrame) -> Ratings:
        return Ratings(
            {"stimulus": ["1", "2"], "rater": ["r", "r"], "value": [0.5, 7]}, scale="interval"
        )

    with pytest.raises(InputError, match="annotator scores: gives interval"):
        annotate_texts(scores, TEXTS)
