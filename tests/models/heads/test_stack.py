"""Heads in stacks of any size, and modules of torch, learn the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
import torch

from affectlab.models.heads.fit import train_stage
from affectlab.models.heads.sampling import balanced_rows
from affectlab.models.heads.shape import BIG, SMALL, HeadShape
from affectlab.models.heads.training import stack as _stack
from affectlab.models.heads.training.progress import HeadPart
from affectlab.models.heads.training.stack import (
    Plan,
    batches,
    dropout_keys,
    dropout_mask,
    groups_of,
    predict_heads,
)
from affectlab.models.heads.training.stage import Stage, StageResult
from affectlab.models.heads.weights import StackedWeights

from .planted import plain_head, planted, rows_of, threads

SHAPE = HeadShape((16, 9), dropout=0.3)
X, Y = planted()
ROWS = rows_of(Y)
# Heads with different numbers of batches, of different sizes.
UNEQUAL = [
    replace(ROWS[0], train=ROWS[0].train[:70], validation=ROWS[0].validation[:5]),
    ROWS[1],
    replace(ROWS[2], train=ROWS[2].train[:201]),
]


def trained(
    stack: int | None = None, shape: HeadShape = SHAPE, rows: object = None, **settings: object
) -> StageResult:
    given = {"epochs": 8, "learning_rate": 3e-3, "batch": 48, "precision": "fp32", **settings}
    return train_stage(
        StackedWeights.initial(shape, width=12, heads=3, seed=1),
        X,
        Y,
        rows or UNEQUAL,  # type: ignore[arg-type]
        Stage(dropout=shape.dropout, **given),  # type: ignore[arg-type]
        device="cpu",
        seed=4,
        stack=stack,
    )


def same_history(one: StageResult, other: StageResult, places: Iterable[int]) -> None:
    for place in places:
        mine, history = one.history[place], other.history[place]
        assert len(mine) == len(history)
        for name in ("train_loss", "validation_loss", "learning_rate"):
            np.testing.assert_allclose(
                [epoch[name] for epoch in mine], [epoch[name] for epoch in history], rtol=1e-5
            )


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("shape", [SHAPE, HeadShape((), 0.0), HeadShape((11,), 0.2)])
def test_stacks_of_any_size(shape: HeadShape, precision: str) -> None:
    settings = {"learning_rate": 0.03, "early_stopping": 1, "epochs": 12, "precision": precision}
    one, *others = (trained(size, shape, **settings) for size in (1, 2, None))
    for other in others:
        assert other.best_epoch == one.best_epoch
        torch.testing.assert_close(other.weights.flat, one.weights.flat, atol=1e-6, rtol=1e-5)
        same_history(other, one, range(3))


def test_a_head_depends_on_no_other() -> None:
    settings = {"epochs": 15, "learning_rate": 0.05, "early_stopping": 1}
    bank = trained(**settings)
    # They stop one after another, and leave the stack.
    assert len({len(history) for history in bank.history}) > 1
    idle = balanced_rows([np.nan])
    for place in range(3):
        rows = [own if k == place else idle for k, own in enumerate(UNEQUAL)]
        alone = trained(rows=rows, **settings)
        same_history(alone, bank, [place])
        torch.testing.assert_close(
            alone.weights.flat[place], bank.weights.flat[place], atol=1e-6, rtol=1e-5
        )


def plan(shape: HeadShape, rows: list[int], device: str = "cpu") -> Plan:
    """Give a plan for heads that have so many rows; nothing of it is trained."""
    parts = tuple(
        HeadPart(k, str(k), np.arange(n), np.arange(n, n + 9), np.zeros(n + 9))
        for k, n in enumerate(rows)
    )
    weights = StackedWeights.initial(shape, 1152, len(rows))
    stage, where = Stage(epochs=1, batch=256), torch.device(device)
    return Plan(weights, np.zeros((9, 1152)), parts, stage, 0, where, "fp32")


def test_how_heads_are_put_together() -> None:
    def places(*given: object) -> list[list[int]]:
        return [[part.place for part in group] for group in groups_of(plan(*given))]  # type: ignore[arg-type]

    rows = [2560, 2550, 30, 1300, 2300, 29]
    # Batches of 256, 255, 30, 217, 256 and 29 rows; those with more batches stand first.
    assert places(SMALL, rows) == [[0, 1], [4], [3], [2, 5]]
    assert places(BIG, rows[:2]) == [[0], [1]]
    assert places(HeadShape((4,)), rows) == [[0, 1, 4], [3], [2, 5]]
    assert places(SMALL, rows, "cuda") == [[0, 1, 4, 3, 2, 5]]


def test_bf16_is_near_float32() -> None:
    exact, found = trained(), trained(precision="bf16")
    assert (found.precision, exact.precision) == ("bf16", "fp32")
    assert found.weights.flat.dtype == torch.float32
    np.testing.assert_allclose(found.best_loss, exact.best_loss, rtol=0.05)
    scores, wanted = (
        predict_heads(result.weights, X, device="cpu", precision="fp32")
        for result in (found, exact)
    )
    assert 0 < np.abs(scores - wanted).max() < 0.3
    assert np.abs(scores - wanted).mean() < 0.03


@pytest.mark.parametrize("bf16", [False, True])
def test_as_modules_and_autograd_learn(bf16: bool) -> None:
    stage = Stage(
        epochs=5, learning_rate=3e-3, batch=32, dropout=0.3, precision="bf16" if bf16 else "fp32"
    )
    weights = StackedWeights.initial(SHAPE, width=12, heads=3, seed=1)
    found = train_stage(weights, X, Y, ROWS, stage, device="cpu", seed=4)
    for place in range(3):
        network, learned, kept = plain_head(
            weights, place, X, Y[:, place], ROWS[place], stage, 4, bf16
        )
        close = 2e-2 if bf16 else 1e-5
        history = found.history[place]
        np.testing.assert_allclose([e["train_loss"] for e in history], learned, rtol=close)
        np.testing.assert_allclose([e["validation_loss"] for e in history], kept, rtol=close)
        assert found.best_epoch[place] == 5
        linear = network[0]
        apart = (found.weights.weight[0][place] - linear.weight.T).abs()
        assert apart.max() < (2e-2 if bf16 else 1e-5)
        assert (weights.weight[0][place] - linear.weight.T).abs().max() > 2e-2


@pytest.mark.parametrize("dropout", [0.0, 0.1, 0.2, 0.5])
def test_what_is_left_out_is_random(dropout: float) -> None:
    rows, width = 200, 101
    keys = np.concatenate([dropout_keys(1, head, epoch, 4) for head in (0, 1) for epoch in (0, 1)])
    kept = dropout_mask(torch.from_numpy(keys), rows, width, dropout).float()
    assert kept.shape == (len(keys), rows, width)
    if not dropout:
        assert kept.all()
        return
    n, variance = rows * width, dropout * (1 - dropout)
    # Heads, epochs and steps do not know of each other, nor do rows, columns and pairs.
    flat = kept.reshape(len(keys), -1)
    assert (flat.mean(dim=1) - (1 - dropout)).abs().max() < 4 * np.sqrt(variance / n)
    together = torch.corrcoef(flat) - torch.eye(len(keys))
    assert together.abs().max() < 5 / np.sqrt(n)
    spread = np.sqrt(variance / (rows * len(keys)))
    assert (kept.mean(dim=(0, 1)) - (1 - dropout)).abs().max() < 5 * spread
    one = flat[0] - flat[0].mean()
    for shift in (1, 2, 50, 51, 101, 102):
        assert abs(float((one[:-shift] * one[shift:]).mean()) / variance) < 5 / np.sqrt(n)


def test_what_is_left_out_does_not_depend_on_how_many_rows_there_are() -> None:
    keys = torch.tensor([7, -3], dtype=torch.int32)
    whole = dropout_mask(keys, 64, 25, 0.4)
    assert torch.equal(dropout_mask(keys[1:], 40, 25, 0.4), whole[1:, :40])


def test_batches_hold_every_row_once() -> None:
    found = batches(1, 2, 3, 100, 32)
    assert sorted(np.concatenate(found).tolist()) == list(range(100))
    assert [len(batch) for batch in found] == [25, 25, 25, 25]
    other = np.concatenate(batches(1, 2, 4, 100, 32)).tolist()
    assert other != np.concatenate(found).tolist()


def test_threads_change_nothing() -> None:
    with threads(2):
        two = trained(1)
        assert torch.get_num_threads() == 2
    with threads(1):
        one = trained(1)
    assert torch.equal(two.weights.flat, one.weights.flat)
    assert two.history == one.history


def test_rows_that_are_read_batch_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    together = trained()
    monkeypatch.setattr(_stack, "_HELD_BYTES", 0)
    assert torch.equal(trained().weights.flat, together.weights.flat)
