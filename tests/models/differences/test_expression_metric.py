"""The metric as a whole: learned, saved, loaded, and used as any other metric."""

from __future__ import annotations

import json
import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone

from affectlab.core.errors import InputError
from affectlab.models.differences import (
    DifferenceMetric,
    ExpressionMetric,
    RidgeDistance,
    SiameseDistance,
    SvrDistance,
    load_difference_metric,
)
from affectlab.models.embedding import Embeddings, load_encoder
from affectlab.models.embedding.card import EncoderCard
from affectlab.ratings import Ratings
from affectlab.reliability import subject_model
from affectlab.simulate import draw_face

from .drawn_pairs import planted

LEARNERS: dict[str, Any] = {
    "ridge": "ridge",
    "svr": SvrDistance(strength=0.1),
    "siamese": SiameseDistance(width=4, epochs=2, seed=3),
}
NUMBERS = hnp.arrays(np.float32, (3, 6), elements=st.floats(-20, 20, width=32))


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def metrics() -> dict[str, ExpressionMetric]:
    world = planted(noise=4.0)
    found = {}
    for name, chosen in LEARNERS.items():
        found[name] = ExpressionMetric(chosen, name=f"mine {name}").fit(*world)
        found[name].cross_validate(*world, n_splits=2, n_boot=50)
    return found


@pytest.mark.parametrize("learner", LEARNERS)
@settings(max_examples=25)
@given(a=NUMBERS, b=NUMBERS)
def test_order_does_not_matter(metrics, learner: str, a: np.ndarray, b: np.ndarray) -> None:
    metric = metrics[learner]
    there, back = metric.predict_embeddings(a, b), metric.predict_embeddings(b, a)
    np.testing.assert_array_equal(there, back)
    same = metric.predict_embeddings(a, a)
    np.testing.assert_allclose(same, metric.distance.identical_, atol=1e-4)
    clipped = metric.predict_embeddings(a, b, clip=True)
    np.testing.assert_array_equal(clipped, np.clip(there, 0, 100))


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_is_loaded_is_what_was_saved(metrics, learner: str, tmp_path: Path) -> None:
    metric = metrics[learner]
    folder = metric.save(tmp_path / "metric")
    again = ExpressionMetric.load(folder)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50, 6))
    np.testing.assert_array_equal(metric.predict_embeddings(a, b), again.predict_embeddings(a, b))
    for name in ("name", "version", "settings", "is_distance", "width", "details_"):
        assert getattr(again, name) == getattr(metric, name), name
    assert again.validation == json.loads(json.dumps(metric.validation))
    assert again.validation["sentences"]
    card = (folder / "README.md").read_text("utf-8")
    assert f"learner: {learner}" in card
    assert all(sentence in card for sentence in again.validation["sentences"])
    # The card and what was found go with it when it is written again.
    again.save(tmp_path / "again")
    assert (tmp_path / "again" / "README.md").read_text("utf-8") == card
    assert str(clone(again)) == str(again)
    # Nothing that could be executed: JSON, text and plain arrays.
    assert {path.name for path in folder.iterdir()} == {
        "README.md", "cross_validation.json", "model.json", "weights.npz",
    }  # fmt: skip


def test_another_learner_replaces_all_of_the_first(metrics, tmp_path: Path) -> None:
    metrics["siamese"].save(tmp_path / "metric")
    fresh = ExpressionMetric("ridge").fit(*planted())
    fresh.save(tmp_path / "metric")
    assert {path.name for path in (tmp_path / "metric").iterdir()} == {
        "README.md", "model.json", "weights.npz",
    }  # fmt: skip
    assert ExpressionMetric.load(tmp_path / "metric").validation is None


def test_the_version_says_what_was_learned(metrics) -> None:
    pairs, scores, frames = planted(noise=4.0)
    again = ExpressionMetric("ridge").fit(pairs, scores, frames)
    assert again.version == metrics["ridge"].version
    assert ExpressionMetric("ridge").fit(pairs, scores / 2, frames).version != again.version


def drawn_frames(tmp_path: Path) -> tuple[pl.DataFrame, Path]:
    folder = tmp_path / "frames"
    rows = []
    for person in (0, 1, 2):
        names = []
        (folder / f"p{person}").mkdir(parents=True)
        for expression in ("joy", "anger", "neutral"):
            name = f"p{person}/{expression}.png"
            draw_face(expression, 1.0, person, size=64).save(folder / name)
            names.append(name)
        rows += [
            {"stimulus": f"{a}__{b}", "actor": f"p{person}", "file_a": a, "file_b": b}
            for a, b in combinations(names, 2)
        ]
    values = [70.0, 60.0, 55.0, 66.0, 61.0, 50.0, 72.0, 57.0, 49.0]
    return pl.DataFrame(rows).with_columns(pl.Series("value", values)), folder


def test_pictures_are_compared_as_their_embeddings_are(tmp_path: Path) -> None:
    pairs, folder = drawn_frames(tmp_path)
    metric = ExpressionMetric(encoder="faces", name="learned").fit(pairs, None, folder)
    assert isinstance(metric, DifferenceMetric)
    assert metric.higher_is_more_different
    assert metric.encoder_ == EncoderCard.of(load_encoder("faces"))
    people = [draw_face(name, 1.0, 2, size=64) for name in ("joy", "anger", "neutral")]
    found = metric.differences([people[0], people[0]], [people[1], people[0]])
    # The very pair it was learned from, through files and float16. Alone, in twos and on another
    # processor the encoder adds in another order, which may turn the last bit of float16 (1e-3).
    rows = [load_encoder("faces").encode([face]).astype(np.float16) for face in people]
    embedded = metric.predict_embeddings(rows[0], rows[1])[0]
    np.testing.assert_allclose(found[0], embedded, rtol=1e-3)
    assert found[1] == pytest.approx(metric.distance.identical_)
    metric.save(tmp_path / "metric")
    loaded = load_difference_metric(str(tmp_path / "metric"))
    alone = loaded.differences([people[0]], [people[1]])
    np.testing.assert_allclose(alone, found[:1], rtol=1e-3)
    # The same operations in the same order: what was saved is what was fitted.
    np.testing.assert_array_equal(alone, metric.differences([people[0]], [people[1]]))
    assert loaded.name == "learned"
    assert loaded.version == metric.version


def test_ratings_of_people_become_scores(tmp_path: Path) -> None:
    pairs, folder = drawn_frames(tmp_path)
    rng = np.random.default_rng(0)
    answers = pl.concat(
        pairs.select(
            "stimulus",
            pl.lit(f"r{k}").alias("rater"),
            (pl.col("value") + rng.normal(0, 6, 9) + 2 * k).clip(0, 100).alias("value"),
        )
        for k in range(6)
    )
    ratings = Ratings(answers, scale="0-100 interval", stimuli=pairs.drop("value"))
    metric = ExpressionMetric(RidgeDistance(1.0), encoder="faces").fit(ratings, None, folder)
    scores = subject_model(ratings).to_frame().select("stimulus", "value")
    other = ExpressionMetric(RidgeDistance(1.0), encoder="faces").fit(
        pairs.drop("value"), scores, folder
    )
    assert metric.version == other.version


def test_names_of_embeddings_may_lack_folder_or_suffix() -> None:
    values = np.arange(8, dtype=np.float16).reshape(4, 2) ** 2
    card = EncoderCard("mine", "image", 2, "0ab1")
    pairs = {
        "actor": ["a", "a"],
        "file_a": ["x/1.png", "x/1.png"],
        "file_b": ["x/2.png", "x/3.png"],
    }

    def learned(names: tuple[str, ...], files: tuple[str, ...] = ()) -> ExpressionMetric:
        held = Embeddings(values, names, tuple("abcd"), card, files)
        return ExpressionMetric(RidgeDistance(0.1)).fit(pairs, [10.0, 60.0], held)

    exact = learned(("x/1.png", "x/2.png", "x/3.png", "y"))
    for names in (("x/1", "x/2", "x/3", "y"), ("1", "2", "3", "y")):
        assert learned(names).version == exact.version
    by_file = learned(("p", "q", "r", "s"), ("x/1.png", "x/2.png", "x/3.png", ""))
    assert by_file.version == exact.version
    # A file of the same name in another folder is another picture.
    with pytest.raises(InputError, match="have no embedding"):
        learned(("y/1", "y/2", "y/3", "y"))


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda m: ExpressionMetric("ridge").predict_embeddings([[1]], [[2]]), "is not fitted"),
        (lambda m: ExpressionMetric("ridge").save("x"), "is not fitted; expected fit or load"),
        (lambda m: ExpressionMetric("forest").fit(*planted()), "unknown learner 'forest'"),
        (lambda m: m.predict_embeddings(np.zeros((2, 5)), np.zeros((2, 5))), "shape (n, 6)"),
        (lambda m: m.predict_embeddings(np.zeros((2, 6)), np.zeros((1, 6))), "as many of both"),
        (lambda m: m.predict_embeddings([["a"] * 6], [["b"] * 6]), "expected embeddings of shape"),
        (lambda m: m.predict_embeddings(np.full((1, 6), np.inf), np.zeros((1, 6))), "not finite"),
        (
            lambda m: m.differences([draw_face("joy")], [draw_face("joy")]),
            "fitted on plain numbers",
        ),
        (lambda m: ExpressionMetric.load("nowhere"), "nowhere: no such folder"),
        (lambda m: m.fit(*planted()[:2], "nowhere"), "nowhere holds no embeddings"),
    ],
)
def test_what_is_refused(metrics, act: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        act(metrics["ridge"])
    assert said in str(caught.value)


def spoilt(folder: Path, file: str, change: Any) -> None:
    path = folder / file
    if file.endswith(".json"):
        held = json.loads(path.read_text("utf-8"))
        change(held)
        path.write_text(json.dumps(held), "utf-8")
    else:
        path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize("learner", ["ridge", "siamese"])
@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("model.json", lambda m: m.update(schema="affectlab/head-bank/1"), "reads 'affectlab/expr"),
        ("model.json", lambda m: m.pop("learner"), "key 'learner' is missing"),
        ("model.json", lambda m: m.update(learner="forest"), "unknown learner 'forest'"),
        ("model.json", lambda m: m.update(learner=["ridge"]), "expected what save wrote"),
        ("model.json", lambda m: m.update(settings={"x": 1}), "unknown setting 'x'"),
        ("model.json", lambda m: m.update(settings=3), "settings is 3; expected what save wrote"),
        ("model.json", lambda m: m.update(name=3), "name is 3; expected what save wrote"),
        ("model.json", lambda m: m.update(encoder={}), "encoder: name is None"),
        ("model.json", lambda m: m["details"].update(n_pairs="many"), "details are"),
        ("model.json", lambda m: m["details"].update(actors=3), "details are"),
        ("cross_validation.json", lambda m: m.pop("sentences"), "is not the file that save wrote"),
        ("weights.npz", lambda held: held[:-3], "is not the file that save wrote"),
        (
            "weights.npz",
            lambda held: held[:-9] + b"\x01" + held[-8:],
            "is not the file that save wrote",
        ),
    ],
)
def test_damaged_folders_are_refused_in_one_sentence(
    metrics, learner: str, file: str, change: Any, said: str, tmp_path: Path
) -> None:
    folder = metrics[learner].save(tmp_path / "metric")
    spoilt(folder, file, change)
    with pytest.raises(InputError) as caught:
        ExpressionMetric.load(folder)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_report_about_other_data_is_dropped_or_says_so(tmp_path: Path) -> None:
    pairs, scores, frames = planted(noise=4.0)
    others = planted(noise=4.0, seed=9)
    metric = ExpressionMetric(RidgeDistance(0.1))
    metric.cross_validate(pairs, scores, frames, n_boot=0)
    metric.fit(pairs, scores, frames)
    assert metric.validation is not None
    assert metric.learned_actors == tuple(f"actor {k}" for k in range(5))
    text = (metric.save(tmp_path / "same") / "README.md").read_text("utf-8")
    assert "## On actors that were not learned from" in text
    assert ExpressionMetric.load(tmp_path / "same").learned_actors == metric.learned_actors
    metric.fit(*others)
    assert metric.validation is None
    metric.cross_validate(pairs, scores, frames, n_boot=0)
    text = (metric.save(tmp_path / "other") / "README.md").read_text("utf-8")
    assert "## This learner on other pairs, by actor" in text
    assert "not learned from" not in text


def test_weights_of_another_folder_are_refused(metrics, tmp_path: Path) -> None:
    one = metrics["ridge"].save(tmp_path / "one")
    other = ExpressionMetric().fit(*planted(seed=9)).save(tmp_path / "other")
    shutil.copy(other / "weights.npz", one / "weights.npz")
    with pytest.raises(InputError, match="is not the file that save wrote"):
        ExpressionMetric.load(one)
    (one / "weights.npz").unlink()
    with pytest.raises(InputError, match="no such file; the model folder is not complete"):
        ExpressionMetric.load(one)


def test_other_folders_stay_as_they_are(metrics, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        metrics["ridge"].save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
