"""Head banks: training, scores, calibration, and two stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from affectlab.errors import InputError
from affectlab.models.embedding import Embeddings, EncoderCard
from affectlab.models.heads import (
    CalibrationDroppedWarning,
    HeadBank,
    HeadShape,
    NotCalibratedWarning,
    NotTrainedWarning,
    Stage,
    head_agreement,
)
from affectlab.models.text import SeenInTrainingWarning
from affectlab.ratings import Ratings
from affectlab.taxonomy import load_taxonomy

nan = np.nan
WIDTH = 12
LABELS = ["joy", "fear", "awe"]
SHAPE = HeadShape((16,), dropout=0.05)
QUICK = Stage(epochs=40, learning_rate=5e-3, batch=32)
CARD = EncoderCard("made up", "image", WIDTH, "0ab1")


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def world(n: int, seed: int, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings, and ratings 0 to 7 that are mostly 0, as ratings of emotions are."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, WIDTH)).astype(np.float16)
    slopes = np.random.default_rng(99).normal(size=(WIDTH, len(LABELS))) / np.sqrt(WIDTH)
    strength = 4 * (X.astype(np.float64) @ slopes) + noise * rng.normal(size=(n, len(LABELS)))
    return X, np.clip(np.rint(strength), 0, 7)


def bank(**settings: Any) -> HeadBank:
    return HeadBank.make(LABELS, shape=SHAPE, **settings)


@pytest.fixture(scope="module")
def trained() -> HeadBank:
    return bank(name="heads").fit(*world(1200, 0), stage=QUICK, cap=None)


def embeddings(X: np.ndarray, card: EncoderCard = CARD) -> Embeddings:
    names = tuple(f"face {row}" for row in range(len(X)))
    return Embeddings(X, names, ("0" * 64,) * len(X), card)


def ratings(Y: np.ndarray, names: tuple[str, ...], labels: list[str]) -> Ratings:
    rows = [
        (name, label, Y[row, column])
        for column, label in enumerate(labels)
        for row, name in enumerate(names)
        if not np.isnan(Y[row, column])
    ]
    stimulus, label, value = map(list, zip(*rows, strict=True))
    return Ratings(
        {"stimulus": stimulus, "rater": ["r"] * len(rows), "label": label, "value": value},
        scale="0-7",
    )


def spearman(model: HeadBank, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return head_agreement(model.predict(X), Y, model.labels)["spearman"].to_numpy()


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
        if done >= 9:
            raise Stopped

    stopped = bank()
    with pytest.raises(Stopped):
        stopped.fit(X, Y, stage=stage, checkpoints=tmp_path / "run", report=stop)
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
    cases: list[tuple[Any, Any, str]] = [
        (X, Y[:50], r"Y has shape \(50, 3\); expected \(60, 3\)"),
        (X, Y[:, :2], r"Y has shape \(60, 2\); expected \(60, 3\)"),
        (X, Y + 1, "off the scale 0 to 7"),
        (X[0], Y, r"X: float16 of shape \(12,\); expected embeddings"),
        (np.array([["a"]]), Y, "expected embeddings"),
        (broken, Y, "row 5: a number is not finite"),
        (X, idle, "label 'fear': no rating"),
        (X, alike, "label 'awe': all 60 ratings are alike"),
        (X, (Y > 0).astype(float), "nothing but 0 and 1, and these heads learn ratings"),
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
    with pytest.raises(InputError, match="'joy' occurs twice"):
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


# -- binarised heads and the scale ---------------------------------------------------------------


@pytest.fixture(scope="module")
def binarised() -> HeadBank:
    return bank(binarised=True).fit(*world(1200, 0), stage=QUICK)


def test_binarised_heads_are_on_the_scale_by_times_7(binarised: HeadBank) -> None:
    X, Y = world(600, 1)
    scores = binarised.scores(X)
    assert np.abs(scores[Y > 0].mean() - 1) < 0.25
    assert np.abs(scores[Y == 0].mean()) < 0.35
    assert np.allclose(binarised.predict(X), np.clip(7.0 * scores, 0, 7))
    assert binarised.steps == "scores times 7"
    # Yes/no answers are as good as ratings to learn from.
    yes_no = bank(binarised=True).fit(
        world(1200, 0)[0], np.minimum(world(1200, 0)[1], 1), stage=QUICK
    )
    assert np.array_equal(yes_no.scores(X), scores)


def test_a_fitted_map_brings_them_nearer(binarised: HeadBank) -> None:
    X, Y = world(600, 1)
    held, truth = world(600, 2)
    before = head_agreement(binarised.predict(held), truth, LABELS)
    binarised.calibrate_scale(X, Y, source="people.csv")
    after = head_agreement(binarised.predict(held), truth, LABELS)
    assert (after["mae"].to_numpy() < 0.6 * before["mae"].to_numpy()).all()
    assert np.abs(after["bias"].to_numpy()).max() < 0.25
    assert (after["spearman"].to_numpy() > before["spearman"].to_numpy() - 0.02).all()
    assert binarised.steps == "scores by rising maps fitted to people.csv"
    grid = np.linspace(-1, 2, 50)[:, None] @ np.ones((1, 3))
    assert (np.diff(binarised.on_scale(grid), axis=0) >= 0).all()


def test_neutral_stimuli_become_0_whatever_the_map(binarised: HeadBank) -> None:
    X, Y = world(600, 1)
    neutral = X[(Y == 0).all(axis=1)]
    for fitted in (False, True):
        made = bank(binarised=True).fit(*world(400, 0), stage=Stage(epochs=5, learning_rate=5e-3))
        if fitted:
            made.calibrate_scale(X, Y)
        before = made.predict(neutral, clip=False)
        assert np.abs(before.mean(axis=0)).min() > 0.05
        made.calibrate_neutral(neutral, source="calm")
        after = made.predict(neutral, clip=False)
        assert np.abs(after.mean(axis=0)).max() < 1e-6
        # The offset is in points of the scale: every prediction moves by as much.
        assert np.allclose(before - after, before.mean(axis=0))
        clipped = made.predict(neutral)
        assert clipped.min() == 0
        assert np.array_equal(clipped, np.clip(after, 0, 7))
        assert made.neutral is not None
        assert made.neutral.n == len(neutral)
        assert "neutral stimuli of calm" in made.said


def test_doing_a_step_again_drops_what_hung_on_it() -> None:
    X, Y = world(400, 1)
    made = bank().fit(*world(400, 0), stage=Stage(epochs=2, learning_rate=5e-3))
    made.calibrate_neutral(X[:50]).calibrate_intervals(X, Y)
    with pytest.warns(CalibrationDroppedWarning, match="the intervals hung on it"):
        made.calibrate_neutral(X[:60])
    assert made.intervals is None
    made.calibrate_intervals(X, Y)
    with pytest.warns(CalibrationDroppedWarning, match="the neutral mean and the intervals hung"):
        made.calibrate_scale(*world(300, 5))
    assert made.neutral is None
    assert made.intervals is None
    # Training anew begins without any calibration.
    made.calibrate_neutral(X[:50])
    made.fit(*world(400, 0), stage=Stage(epochs=1))
    assert made.neutral is None
    assert made.steps == "scores as they are"


def test_intervals_hold_new_ratings(trained: HeadBank) -> None:
    made = bank().fit(*world(1200, 0, noise=1), stage=QUICK, cap=None)
    with pytest.raises(InputError, match="no intervals yet"):
        made.predict_intervals(world(2, 0)[0])
    made.calibrate_intervals(*world(800, 3, noise=1), level=0.8)
    X, Y = world(4000, 4, noise=1)
    low, high = made.predict_intervals(X)
    predicted = made.predict(X)
    assert ((low <= predicted) & (predicted <= high)).all()
    inside = ((low <= Y) & (high >= Y)).mean(axis=0)
    assert (inside > 0.77).all()
    assert (high - low).mean() < 4


def test_calibrating_on_what_was_trained_on_warns(trained: HeadBank) -> None:
    X, Y = world(1200, 0)
    made = bank().fit(X, Y, stage=Stage(epochs=1))
    with pytest.warns(SeenInTrainingWarning, match="on 100 stimuli, of which 100 were used"):
        made.calibrate_intervals(X[:100], Y[:100])
    other = world(300, 8)
    made.intervals = None
    made.calibrate_scale(*other)
    with pytest.warns(SeenInTrainingWarning, match="in an earlier calibration"):
        made.calibrate_intervals(*other)


def test_calibration_data_that_cannot_be_used() -> None:
    X, Y = world(300, 1)
    made = bank().fit(*world(300, 0), stage=Stage(epochs=1))
    with pytest.raises(InputError, match="maps to the scale need ratings from 0 to 7"):
        made.calibrate_scale(X, np.minimum(Y, 1))
    with pytest.raises(InputError, match="intervals need ratings from 0 to 7"):
        made.calibrate_intervals(X, np.minimum(Y, 1))
    with pytest.raises(InputError, match="no label has a rating"):
        made.calibrate_intervals(X, np.full_like(Y, nan))
    with pytest.raises(InputError, match="no head has 10 ratings"):
        made.calibrate_scale(X[:9], Y[:9])
    sparse = Y.copy()
    sparse[5:, 1] = nan
    with pytest.warns(
        NotCalibratedWarning, match="fear: fewer than 10 ratings: the scores stay as"
    ):
        made.calibrate_scale(X, sparse)
    assert made.scale_map.knots[1] is None
    with pytest.warns(NotCalibratedWarning, match="joy.*: the map is the mean rating"):
        bank().fit(*world(300, 0), stage=Stage(epochs=1)).calibrate_scale(
            X, 7 - np.argsort(np.argsort(spun(X, Y), axis=0), axis=0) * 7 / 300
        )


def spun(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Scores of the heads above, to make ratings that fall with them."""
    return bank().fit(*world(300, 0), stage=Stage(epochs=1)).scores(X)


# -- two stages ----------------------------------------------------------------------------------

TWO = {"big_stage": Stage(epochs=5, learning_rate=5e-3, batch=64)}
HUMAN = Stage(epochs=60, learning_rate=5e-3, batch=16)
"""Either alone does not come further with more epochs."""


def noisy_and_clean(seed: int) -> tuple[Any, Any, Any]:
    """Many noisy and biased ratings, few clean ones, and a test."""
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=(40, len(LABELS))) / np.sqrt(40)

    def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.normal(size=(n, 40)).astype(np.float16)
        return X, 3.5 + 2.5 * np.tanh(X.astype(np.float64) @ slopes * 1.5)

    X, Y = drawn(1500)
    # Another bias for each direction, and noise: a machine that sees part of the truth.
    wrong = X.astype(np.float64) @ rng.normal(size=(40, len(LABELS))) / np.sqrt(40)
    big = X, np.clip(np.rint(Y + 1.2 * wrong + rng.normal(0, 1.5, Y.shape)), 0, 7)
    clean = drawn(90)
    return big, (clean[0], np.rint(clean[1])), drawn(800)


@pytest.fixture(scope="module")
def sweep() -> np.ndarray:
    """Mean Spearman of big alone, human alone and both, by seed."""
    found = []
    for seed in range(4):
        big, human, (X, Y) = noisy_and_clean(seed)
        banks = [bank(seed=seed) for _ in range(3)]
        banks[0].fit(*big, stage=Stage(epochs=20, learning_rate=5e-3, batch=64), cap=None)
        banks[1].fit(*human, stage=HUMAN, cap=None, validation=0.15)
        banks[2].fit_two_stage(
            big, human, human_stage=HUMAN, big_cap=None, human_cap=None, validation=0.15, **TWO
        )
        found.append([spearman(one, X, Y).mean() for one in banks])
    return np.array(found)


def test_two_stages_beat_either_alone(sweep: np.ndarray) -> None:
    big, human, both = sweep.T
    assert (both > big).all(), sweep
    assert (both > human).all(), sweep
    assert both.mean() > max(big.mean(), human.mean()) + 0.02


def test_both_stages_are_recorded_and_the_first_is_where_the_second_begins() -> None:
    big, human, _ = noisy_and_clean(0)
    made = bank()
    made.fit_two_stage(big, human, human_stage=Stage(epochs=1, learning_rate=1e-12), **TWO)
    assert [stage["name"] for stage in made.stages] == ["big", "human"]
    assert [stage["epochs"] for stage in made.stages] == [5, 1]
    assert made.stages[1]["learning_rate"] == 1e-12
    assert [len(stage["best_epoch"]) for stage in made.stages] == [3, 3]
    # A second stage that does not move leaves the best heads of the first.
    alone = bank().fit(*big, stage=TWO["big_stage"])
    X = human[0]
    assert np.allclose(made.scores(X), alone.scores(X), atol=1e-5)


def test_labels_that_a_stage_lacks() -> None:
    big, human, _ = noisy_and_clean(0)
    partly = human[1].copy()
    partly[:, 2] = nan
    made = bank()
    with pytest.warns(NotTrainedWarning, match="stage 'human': nothing to learn from for awe"):
        made.fit_two_stage(big, (human[0], partly), human_stage=Stage(epochs=1), **TWO)
    alone = bank().fit(*big, stage=TWO["big_stage"])
    assert np.array_equal(made.scores(human[0])[:, 2], alone.scores(human[0])[:, 2])
    neither = big[1].copy()
    neither[:, 2] = nan
    with pytest.raises(InputError, match="label 'awe': no rating"):
        bank().fit_two_stage((big[0], neither), (human[0], partly))


def test_defaults_are_those_of_the_paper() -> None:
    big, human, _ = noisy_and_clean(0)
    seen: list[tuple[str, int]] = []
    made = bank()
    made.fit_two_stage(
        (big[0][:200], big[1][:200]),
        (human[0][:60], human[1][:60]),
        report=lambda what, done, total: seen.append((what.split(":")[0], total)),
    )
    assert [stage["epochs"] for stage in made.stages] == [5, 200]
    assert {stage["learning_rate"] for stage in made.stages} == {5e-5}
    assert {stage["factor"] for stage in made.stages} == {0.2}
    assert {stage["patience"] for stage in made.stages} == {10}
    assert {stage["cap"] for stage in made.stages} == {0.25}
    assert {stage["dropout"] for stage in made.stages} == {SHAPE.dropout}
    assert {stage["early_stopping"] for stage in made.stages} == {None}
    assert [len(losses) for losses in made.stages[1]["validation_loss"]] == [200] * 3
    assert set(seen) == {("stage big", 15), ("stage human", 600)}
