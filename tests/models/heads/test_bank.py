"""Head banks: training, scores, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.models.heads.banks import (
    CARD,
    LABELS,
    QUICK,
    WIDTH,
    bank,
    embeddings,
    nan,
    ratings,
    spearman,
    world,
)

from affectlab.core.errors import InputError
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.heads import HeadBank, Stage
from affectlab.taxonomy import load_taxonomy

# -- training ------------------------------------------------------------------------------------


def test_heads_recover_what_is_planted(trained: HeadBank) -> None:
    X, Y = world(600, 1)
    assert (spearman(trained, X, Y) > 0.8).all()
    found = trained.predict(X)
    assert found.shape == (600, 3)
    assert found.min() >= 0
    assert found.max() <= 7
    assert np.abs(found - Y).mean() < 0.6


def test_default_labels_and_shapes() -> None:
    big = HeadBank.make(shape="big", binarised=True)
    assert big.labels == load_taxonomy("emonet_face").labels
    assert len(big.labels) == 40
    assert big.shape.n_parameters(1152) == 1_837_057
    assert HeadBank.make(shape="small").shape.n_parameters(1152) == 151_745


@pytest.mark.long
def test_missing_ratings_are_left_out(trained: HeadBank) -> None:
    """A head that lacks some ratings learns from the others; other heads do not change."""
    X, Y = world(1200, 0)
    holes = Y.copy()
    holes[::3, 1] = nan
    found = bank().fit(X, holes, stage=QUICK, cap=None)
    test, truth = world(600, 1)
    assert (spearman(found, test, truth) > 0.75).all()
    kept = [0, 2]
    assert np.array_equal(found.scores(test)[:, kept], trained.scores(test)[:, kept])
    assert found.stages[0]["n_rated"] == [1200, 800, 1200]
    # Noise in rows without a rating changes nothing at all.
    other = X.copy()
    other[::3] = 0
    mean = bank().fit(other[1::3], holes[1::3], stage=QUICK, cap=None)
    same = bank().fit(X[1::3], Y[1::3], stage=QUICK, cap=None)
    assert np.array_equal(mean.scores(test), same.scores(test))


def test_ratings_are_aligned_by_stimulus_and_label(trained: HeadBank) -> None:
    X, Y = world(1200, 0)
    made = embeddings(X)
    order = np.random.default_rng(5).permutation(len(X))
    table = ratings(
        Y[order][:, [2, 0, 1]], tuple(made.stimuli[i] for i in order), ["awe", *LABELS[:2]]
    )
    found = bank().fit(made, table, stage=QUICK, cap=None)
    test, _ = world(50, 1)
    assert np.array_equal(found.scores(test), trained.scores(test))
    assert found.encoder == CARD
    frame = pl.DataFrame(dict(zip(["awe", "joy", "fear"], Y[:, [2, 0, 1]].T, strict=True)))
    again = bank().fit(X, frame, stage=QUICK, cap=None)
    assert np.array_equal(again.scores(test), trained.scores(test))


def test_the_same_seed_gives_the_same_heads_and_another_one_others() -> None:
    X, Y = world(300, 0)
    stage = Stage(epochs=2, learning_rate=1e-3)
    first, same, other = (bank(seed=seed).fit(X, Y, stage=stage).scores(X) for seed in (3, 3, 4))
    assert np.array_equal(first, same)
    assert not np.allclose(first, other)


def test_memory_maps_are_read_in_parts(tmp_path: Path, trained: HeadBank) -> None:
    X, Y = world(1200, 0)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = bank().fit(mapped, Y, stage=QUICK, cap=None)
    assert np.array_equal(found.scores(mapped), trained.scores(X))


def test_bf16_scores_are_near() -> None:
    X, Y = world(300, 0)
    found = bank().fit(X, Y, stage=Stage(epochs=5, learning_rate=5e-3))
    exact = found.scores(X)
    rounded = found.scores(X, precision="bf16")
    assert 0 < np.abs(exact - rounded).max() < 0.1
    assert np.array_equal(found.scores(X, batch=7), found.scores(X, batch=7))
    assert np.allclose(found.scores(X, batch=7), exact, atol=1e-5)


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    X, Y = world(300, 0)
    stage = Stage(epochs=6, learning_rate=1e-3)
    whole = bank().fit(X, Y, stage=stage)

    class Stopped(Exception):
        pass

    def stop(_: str, done: int, __: int) -> None:
        # Heads are trained together, and those that are done are written.
        if done >= 18:
            raise Stopped

    stopped = bank()
    with pytest.raises(Stopped):
        stopped.fit(X, Y, stage=stage, checkpoints=tmp_path / "run", progress=stop)
    assert stopped.weights is None
    assert stopped.stages == []
    assert any((tmp_path / "run" / "training").iterdir())
    stopped.fit(X, Y, stage=stage, checkpoints=tmp_path / "run")
    assert np.array_equal(stopped.scores(X), whole.scores(X))
    with pytest.raises(InputError, match="another run"):
        bank(seed=1).fit(X, Y, stage=stage, checkpoints=tmp_path / "run")


# -- what is refused -----------------------------------------------------------------------------


def test_training_data_that_does_not_fit() -> None:
    X, Y = world(60, 0)
    broken = X.copy()
    broken[5, 2] = nan
    idle = Y.copy()
    idle[:, 1] = nan
    alike = Y.copy()
    alike[:, 2] = 0
    hopeless = alike.copy()
    hopeless[:, 1] = nan
    cases: list[tuple[Any, Any, str]] = [
        (X, Y[:50], r"Y has shape \(50, 3\); expected \(60, 3\)"),
        (X, Y[:, :2], r"Y has shape \(60, 2\); expected \(60, 3\)"),
        (X, Y + 1, "off the scale 0 to 7"),
        (X[0], Y, r"X: float16 of shape \(12,\); expected embeddings"),
        (np.array([["a"]]), Y, "expected embeddings"),
        (broken, Y, "row 5: a number is not finite"),
        (X, idle, "label 'fear': no rating"),
        (X, alike, "label 'awe': all 60 ratings are alike .*; leave it out .--labels joy,fear.,"),
        (
            X,
            hopeless,
            "label 'fear': no rating.* as little for 'awe'; leave them out .--labels joy",
        ),
        (X, (Y > 0).astype(float), r"nothing but 0 and 1 .* and these heads learn ratings"),
    ]
    for x, y, said in cases:
        made = bank()
        with pytest.raises(InputError, match=said):
            made.fit(x, y, stage=Stage(epochs=1), cap=None)
        assert made.weights is None


def test_names_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="unknown taxonomy"):
        HeadBank.make("emonet_fase")
    with pytest.raises(InputError, match="unknown head shape"):
        HeadBank.make(LABELS, shape="huge")
    with pytest.raises(InputError, match="'joy' stands twice"):
        HeadBank(load_taxonomy("ekman"), ["joy", "joy"])
    with pytest.raises(InputError, match="unknown label"):
        HeadBank(load_taxonomy("ekman"), ["jo"])
    with pytest.raises(InputError, match="seed = -1"):
        bank(seed=-1)


def test_untrained_heads_answer_nothing() -> None:
    with pytest.raises(InputError, match="not trained yet"):
        bank().predict(np.zeros((1, WIDTH), dtype=np.float32))


def test_embeddings_of_another_encoder_are_refused() -> None:
    X, Y = world(200, 0)
    found = bank().fit(embeddings(X), Y, stage=Stage(epochs=1))
    assert found.predict(embeddings(X[:3])).shape == (3, 3)
    other = EncoderCard("made up", "image", WIDTH, "ffff")
    with pytest.raises(InputError, match=r"X come from encoder 'made up' .*ffff.*trained on"):
        found.predict(embeddings(X[:3], other))
    with pytest.raises(InputError, match="X has 5 numbers per row; the heads take 12"):
        found.predict(X[:, :5])
    with pytest.raises(InputError, match="X of stage 'human' come from encoder"):
        bank().fit_two_stage((embeddings(X), Y), (embeddings(X, other), Y))
