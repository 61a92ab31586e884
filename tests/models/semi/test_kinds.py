"""Images and texts are learned, each from few labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.models.semi.data import alike, coloured, three
from tests.models.text.tiny import WORDS

from affectlab.core.errors import InputError
from affectlab.evaluation import accuracy
from affectlab.models.semi import train_semi
from affectlab.models.text import TextClassifier
from affectlab.models.vision import VisionClassifier


@pytest.mark.parametrize("strategy", ["fixmatch", "simmatch"])
def test_images_are_learned(resnet: Path, tmp_path: Path, strategy: str) -> None:
    images, labels = coloured(9, 0)
    pool, truth = coloured(36, 1)
    dev = coloured(12, 2)
    model = VisionClassifier("mikels", backbone=resnet, seed=1)
    run = train_semi(
        *(model, images, labels, pool),
        dev=dev,
        truth=truth,
        strategy=strategy,
        select="ecc",
        epochs=6,
        batch_size=6,
        ratio=2,
        learning_rate=0.01,
        workers=1,
    )
    assert run.history[run.best_epoch - 1]["dev ecc"] == max(e["dev ecc"] for e in run.history)
    assert model.evaluate(*dev)["acc"] >= 2 / 3
    assert model.evaluate(*dev)["ecc"] == pytest.approx(
        run.history[run.best_epoch - 1]["dev ecc"], abs=1e-6
    )
    again = VisionClassifier.load(model.save(tmp_path / "model"))
    assert np.allclose(again.predict_proba(dev[0]), model.predict_proba(dev[0]), atol=1e-5)
    assert again.loss["strategy"] == strategy
    assert alike(
        [{k: round(v, 5) for k, v in e.items()} for e in again.history],
        [{k: round(v, 5) for k, v in e.items()} for e in run.history],
    )
    # What it learned from, and what chose the epoch, is counted; pictures without a label are not.
    names = [f"{part}{at}" for part, n in (("own", 9), ("dev", 12), ("pool", 3)) for at in range(n)]
    rated = again.rate(dict(zip(names, [*images, *dev[0], *pool[:3]], strict=True)))
    assert rated.raters.row(0, named=True)["n_seen"] == 21
    one = again.rate({"one": pool[0]})
    assert one.stimulus_names == ("one",)
    assert one.raters["n_seen"].to_list() == [0]


def emotional(n: int, seed: int) -> tuple[list[str], list[str]]:
    """Texts with one emotion word among fillers."""
    rng = np.random.default_rng(seed)
    names = [list(WORDS)[at % 3] for at in range(n)]
    texts = []
    for name in names:
        words = list(rng.choice(("the", "a", "day", "was", "it", "so"), size=4))
        words.insert(int(rng.integers(5)), str(rng.choice(WORDS[name])))
        words.insert(int(rng.integers(6)), str(rng.choice(WORDS[name])))
        texts.append(" ".join(words))
    return texts, names


@pytest.mark.parametrize("backend", ["choice", "choice-embedding"])
def test_texts_are_learned(bert: str, tmp_path: Path, backend: str) -> None:
    texts, labels = emotional(24, 0)
    pool, truth = emotional(48, 1)
    dev = emotional(24, 2)
    model = TextClassifier.make(backend, encoder=bert, taxonomy=three())
    run = train_semi(
        *(model, texts, labels, pool),
        dev=dev,
        truth=truth,
        strategy="fixmatch",
        strategy_settings={"tau": 0.8},
        epochs=12,
        batch_size=8,
        ratio=2,
        learning_rate=0.01 if backend == "choice" else 0.03,
        ema=0.9,
    )
    assert accuracy(dev[1], [names[0] for names in model.predict_labels(dev[0])]) > 0.7
    proba = model.predict_proba(dev[0])
    assert np.allclose(proba.sum(axis=1), 1, atol=1e-5)
    assert (model.predict(dev[0]).sum(axis=1) == 1).all()
    kept = run.history[run.best_epoch - 1]
    assert kept["dev acc"] == pytest.approx(
        np.mean([three().labels[row.argmax()] == t for row, t in zip(proba, dev[1], strict=True)])
    )
    again = TextClassifier.load(model.save(tmp_path / "model"))
    assert np.allclose(again.predict_proba(dev[0]), proba, atol=1e-4)
    assert again.training["texts_per_label"] == dict.fromkeys(WORDS, 8)
    ratings = again.rate(dev[0][:3])
    assert ratings.frame.filter(ratings.frame["chosen"] == 1)["label"].to_list() == [
        names[0] for names in model.predict_labels(dev[0][:3])
    ]


def test_a_choice_is_fitted_by_itself_as_well(bert: str) -> None:
    texts, labels = emotional(60, 0)
    model = TextClassifier.make(
        "choice-embedding", encoder=bert, taxonomy=three(), epochs=20, batch_size=16, head="linear"
    )
    model.fit(texts, labels)
    assert np.allclose(model.predict_proba(texts).sum(axis=1), 1, atol=1e-5)
    with pytest.raises(InputError, match="levels"):
        TextClassifier.make("choice", encoder=bert, taxonomy="goemotions", levels=["ekman"])
