"""Estimators of scikit-learn as raters: skops files, and pickles where they are trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from affectlab import InputError
from affectlab.models import rate

io = pytest.importorskip("skops.io")
TEXTS = ["so happy for you", "what a joy", "oh no, how sad", "I hate this", "happy and sad", "rage"]
LABELS = ["joy", "joy", "sadness", "anger", "sadness", "anger"]
SETS = np.array([[0, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1], [1, 0, 0]])


def words(text: str) -> str:
    return text.upper()


def texts_of(kind: str) -> Any:
    """A pipeline that was fitted on texts."""
    model = LogisticRegression(C=10)
    if kind == "sets":
        return make_pipeline(TfidfVectorizer(), OneVsRestClassifier(model)).fit(TEXTS, SETS)
    if kind == "numbers":
        numbers = [["anger", "joy", "sadness"].index(label) for label in LABELS]
        return make_pipeline(TfidfVectorizer(), model).fit(TEXTS, numbers)
    if kind == "no probabilities":
        return make_pipeline(TfidfVectorizer(), LinearSVC()).fit(TEXTS, LABELS)
    if kind == "code":
        return make_pipeline(TfidfVectorizer(preprocessor=words), model).fit(TEXTS, LABELS)
    return make_pipeline(TfidfVectorizer(), model).fit(TEXTS, LABELS)


def rows(found: Any, n: int = 3) -> Any:
    return found.to_frame()["value"].to_numpy().reshape(-1, n)


def test_ratings_are_the_probabilities_of_the_estimator(tmp_path: Path) -> None:
    model = texts_of("one label")
    io.dump(model, tmp_path / "model.skops")
    found = rate(str(tmp_path / "model.skops"), TEXTS)
    assert found.label_names == ("anger", "joy", "sadness")
    np.testing.assert_array_equal(rows(found), model.predict_proba(TEXTS))
    assert found.rater_names == ("model",)


@pytest.mark.parametrize("kind", ["sets", "numbers"])
def test_outputs_without_names_are_given_them(tmp_path: Path, kind: str) -> None:
    model = texts_of(kind)
    io.dump(model, tmp_path / "model.skops")
    place = str(tmp_path / "model.skops")
    with pytest.raises(InputError, match=r"does not name its 3 outputs; .*--set labels="):
        rate(place, TEXTS)
    with pytest.raises(InputError, match="3 outputs, and 2 labels were given"):
        rate(place, TEXTS, labels=["anger", "joy"])
    found = rate(place, TEXTS, labels=["anger", "joy", "sadness"])
    np.testing.assert_array_equal(rows(found), model.predict_proba(TEXTS))


@pytest.mark.parametrize("suffix", [".joblib", ".pkl", ".pickle"])
def test_a_pickle_is_read_where_it_is_trusted_alone(tmp_path: Path, suffix: str) -> None:
    model = texts_of("one label")
    place = tmp_path / f"model{suffix}"
    joblib.dump(model, place)
    with pytest.raises(InputError, match=r"reading it runs the code in it; .*--trust-pickle"):
        rate(str(place), TEXTS)
    found = rate(str(place), TEXTS, trust_pickle=True)
    np.testing.assert_array_equal(rows(found), model.predict_proba(TEXTS))


def test_types_that_skops_does_not_know_are_refused(tmp_path: Path) -> None:
    io.dump(texts_of("code"), tmp_path / "model.skops")
    with pytest.raises(InputError, match=r"words, which skops does not know to be harmless"):
        rate(str(tmp_path / "model.skops"), TEXTS)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "there is no such file"), (b"none", "cannot be read as a file of skops")],
)
def test_files_that_hold_nothing(tmp_path: Path, content: bytes | None, said: str) -> None:
    place = tmp_path / "model.skops"
    if content is not None:
        place.write_bytes(content)
    with pytest.raises(InputError, match=said):
        rate(str(place), TEXTS)


def test_an_estimator_without_probabilities(tmp_path: Path) -> None:
    io.dump(texts_of("no probabilities"), tmp_path / "model.skops")
    with pytest.raises(InputError, match="expected an estimator with predict_proba"):
        rate(str(tmp_path / "model.skops"), TEXTS)
