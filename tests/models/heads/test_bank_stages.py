"""Head banks: two stages."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from tests.models.heads.banks import (
    LABELS,
    SHAPE,
    bank,
    nan,
    spearman,
)

from affectlab.core.errors import InputError
from affectlab.models.heads import Stage
from affectlab.models.heads.fit import NotTrainedWarning

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
        with warnings.catch_warnings():
            # A head that people's few ratings make no better is as good as the first stage left it.
            warnings.simplefilter("ignore", NotTrainedWarning)
            banks[2].fit_two_stage(
                big, human, human_stage=HUMAN, big_cap=None, human_cap=None, validation=0.15, **TWO
            )
        found.append([spearman(one, X, Y).mean() for one in banks])
    return np.array(found)


@pytest.mark.long
def test_two_stages_beat_either_alone(sweep: np.ndarray) -> None:
    big, human, both = sweep.T
    assert (both > big).all(), sweep
    assert (both > human).all(), sweep
    assert both.mean() > max(big.mean(), human.mean()) + 0.02


def test_both_stages_are_recorded_and_the_first_is_where_the_second_begins() -> None:
    big, human, _ = noisy_and_clean(0)
    made = bank()
    with pytest.warns(NotTrainedWarning, match="no epoch was better .* for joy"):
        made.fit_two_stage(big, human, human_stage=Stage(epochs=1, learning_rate=1e-12), **TWO)
    assert [stage["name"] for stage in made.stages] == ["big", "human"]
    assert [stage["epochs"] for stage in made.stages] == [5, 1]
    assert made.stages[1]["learning_rate"] == 1e-12
    assert [len(stage["best_epoch"]) for stage in made.stages] == [3, 3]
    # A second stage that does not move leaves the best heads of the first.
    alone = bank().fit(*big, stage=TWO["big_stage"])
    X = human[0]
    assert np.allclose(made.scores(X), alone.scores(X), atol=1e-5)


def test_a_second_stage_that_hurts_leaves_the_heads_of_the_first() -> None:
    big, human, _ = noisy_and_clean(0)
    harsh = Stage(epochs=8, learning_rate=2.0, batch=32)
    made = bank()
    with pytest.warns(NotTrainedWarning, match="for joy, fear and awe; they stay what the stage"):
        made.fit_two_stage(big, human, human_stage=harsh, **TWO)
    alone = bank().fit(*big, stage=TWO["big_stage"])
    assert np.array_equal(made.scores(human[0]), alone.scores(human[0]))
    assert made.stages[1]["best_epoch"] == [0] * 3
    assert made.stages[1]["best_loss"] == made.stages[1]["start_loss"]
    assert made.stages[0]["start_loss"] == [None] * 3


def test_labels_that_a_stage_lacks() -> None:
    big, human, _ = noisy_and_clean(0)
    partly = human[1].copy()
    partly[:, 2] = nan
    made = bank()
    gentle = Stage(epochs=20, learning_rate=1e-3)
    with pytest.warns(NotTrainedWarning, match="stage 'human': nothing to learn from for awe"):
        made.fit_two_stage(big, (human[0], partly), human_stage=gentle, **TWO)
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
        progress=lambda what, done, total: seen.append((what.split(":")[0], total)),
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
