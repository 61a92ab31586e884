"""Heads one at a time, heads as a stack, and modules of torch learn the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from affectlab.models.heads.fit import train_stage
from affectlab.models.heads.shape import HeadShape
from affectlab.models.heads.training import single as _train_single
from affectlab.models.heads.training.single import relu_dropout
from affectlab.models.heads.training.stacked import back, forward, predict_heads
from affectlab.models.heads.training.stage import Stage, StageResult
from affectlab.models.heads.training.training_plan import (
    as_int32,
    batches,
    dropout_keys,
    keep_mask,
    scale_of,
    threshold_of,
)
from affectlab.models.heads.weights import StackedWeights

from .planted import plain_head, planted, rows_of, threads

# An odd width: its two halves differ.
SHAPE = HeadShape((16, 9), dropout=0.3)
X, Y = planted()
ROWS = rows_of(Y)
# Heads with different numbers of batches.
UNEQUAL = [
    (ROWS[0].train[:70], ROWS[0].validation[:5]),
    ROWS[1],
    (ROWS[2].train[:201], ROWS[2].validation),
]


def trained(stacked: bool, shape: HeadShape = SHAPE, **settings: object) -> StageResult:
    given = {"epochs": 8, "learning_rate": 3e-3, "batch": 32, "precision": "fp32", **settings}
    return train_stage(
        StackedWeights.initial(shape, width=12, heads=3, seed=1),
        X,
        Y,
        UNEQUAL,
        Stage(dropout=shape.dropout, **given),  # type: ignore[arg-type]
        device="cpu",
        seed=4,
        stacked=stacked,
    )


@pytest.mark.parametrize("shape", [SHAPE, HeadShape((), 0.0), HeadShape((11,), 0.0)])
def test_one_at_a_time_and_stacked(shape: HeadShape) -> None:
    one, all_together = trained(False, shape), trained(True, shape)
    assert (one.stacked, all_together.stacked) == (False, True)
    assert one.best_epoch == all_together.best_epoch
    for mine, other in zip(one.history, all_together.history, strict=True):
        for name in ("train_loss", "validation_loss", "learning_rate"):
            np.testing.assert_allclose(
                [epoch[name] for epoch in mine], [epoch[name] for epoch in other], rtol=1e-4
            )
    torch.testing.assert_close(one.weights.flat, all_together.weights.flat, atol=1e-5, rtol=1e-3)


def test_one_at_a_time_and_stacked_in_bf16() -> None:
    one, all_together = trained(False, precision="bf16"), trained(True, precision="bf16")
    exact = trained(False)
    assert (one.precision, exact.precision) == ("bf16", "fp32")
    for result in (one, all_together):
        assert result.weights.flat.dtype == torch.float32
        np.testing.assert_allclose(result.best_loss, exact.best_loss, rtol=0.05)
        scores = predict_heads(result.weights, X, device="cpu", precision="fp32")
        wanted = predict_heads(exact.weights, X, device="cpu", precision="fp32")
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


@pytest.mark.parametrize("sizes", [(6, 5, 4, 1), (6, 1), (6, 3, 1)])
def test_gradients_by_hand_are_those_of_autograd(sizes: tuple[int, ...]) -> None:
    # Not relu'(0): no output of a layer is 0 with random numbers.
    weights = StackedWeights.initial(HeadShape(sizes[1:-1]), sizes[0], heads=2, seed=3)
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(2, 7, sizes[0], generator=rng)
    upstream = torch.randn(2, 7, generator=rng)
    keys = as_int32(np.array([[3, 4], [9, 2]], dtype=np.uint32)[:, : len(sizes) - 2], "cpu")
    threshold = threshold_of(0.4)
    gradient = StackedWeights.zeros(sizes, 2)
    h, said = forward(weights, weights, x, keys, threshold)
    back(weights, weights, h, upstream, threshold, gradient)
    learned = StackedWeights(sizes, weights.flat.clone().requires_grad_())
    out = x
    for k in range(len(sizes) - 2):
        mask = keep_mask(keys[:, k], 7, sizes[k + 1], threshold) * scale_of(threshold)
        out = torch.relu(out @ learned.weight[k] + learned.bias[k]) * mask
    wanted = (out @ learned.weight[-1] + learned.bias[-1])[..., 0]
    wanted.backward(upstream)
    torch.testing.assert_close(said, wanted)
    torch.testing.assert_close(gradient.flat, learned.flat.grad)


@pytest.mark.parametrize("width", [1, 2, 31, 64])
def test_the_same_units_are_left_out(width: int) -> None:
    threshold, key = threshold_of(0.3), np.array([0xDEADBEEF], dtype=np.uint32)
    kept = keep_mask(as_int32(key, "cpu"), 50, width, threshold)[0].numpy()
    h = np.ones((50, width), dtype=np.float32)
    relu_dropout(h, key[0], np.uint32(threshold), np.float32(scale_of(threshold)))
    np.testing.assert_array_equal(h, kept * np.float32(scale_of(threshold)))
    low = torch.ones((50, width), dtype=torch.bfloat16)
    relu_dropout(low.view(torch.uint16).numpy(), key[0], np.uint32(threshold), np.float32(1.5))
    np.testing.assert_array_equal(low.float().numpy(), kept * np.float32(1.5))


def test_what_is_left_out_is_random() -> None:
    dropout, rows, width = 0.2, 200, 101
    keys = np.concatenate([dropout_keys(1, head, [0, 1], 2).ravel() for head in (0, 1)])
    kept = keep_mask(as_int32(keys, "cpu"), rows, width, threshold_of(dropout)).float()
    n = rows * width
    # Heads, steps and layers do not know of each other, nor do rows, columns and halves.
    flat = kept.reshape(len(keys), -1)
    assert (flat.mean(dim=1) - (1 - dropout)).abs().max() < 4 * np.sqrt(0.16 / n)
    together = torch.corrcoef(flat) - torch.eye(len(keys))
    assert together.abs().max() < 5 / np.sqrt(n)
    spread = np.sqrt(0.16 / (rows * len(keys)))
    assert (kept.mean(dim=(0, 1)) - (1 - dropout)).abs().max() < 5 * spread
    one = flat[0] - flat[0].mean()
    for shift in (1, 50, 51, 101):
        assert abs(float((one[:-shift] * one[shift:]).mean()) / 0.16) < 4 / np.sqrt(n)


def test_kept_units_make_up_for_those_left_out() -> None:
    for dropout in (0.0, 0.1, 0.2, 0.5, 0.999):
        threshold = threshold_of(dropout)
        assert threshold / 65536 == pytest.approx(dropout, abs=1e-5)
        assert scale_of(threshold) * (1 - threshold / 65536) == pytest.approx(1)


def test_bits_of_bf16_are_rounded_as_by_torch() -> None:
    numbers = torch.randn(4000, generator=torch.Generator().manual_seed(0)).abs()
    # Halfway between two numbers of bf16, to even: both ways.
    halfway = (torch.arange(0x3F80, 0x3FC0, dtype=torch.int32) << 16 | 0x8000).view(torch.float32)
    low = numbers.bfloat16()
    scale = np.float32(1.3)
    wanted = (low.float() * scale).bfloat16()
    relu_dropout(low.view(torch.uint16).numpy()[None], np.uint32(1), np.uint32(0), scale)
    assert torch.equal(low, wanted)
    ones = torch.ones(len(halfway), dtype=torch.bfloat16)
    for place, number in enumerate(halfway.numpy()):
        bits = ones[place : place + 1].view(torch.uint16).numpy()[None]
        relu_dropout(bits, np.uint32(1), np.uint32(0), number)
    assert torch.equal(ones, halfway.bfloat16())


def test_batches_hold_every_row_once() -> None:
    found = batches(1, 2, 3, 100, 32)
    assert sorted(np.concatenate(found).tolist()) == list(range(100))
    assert [len(batch) for batch in found] == [25, 25, 25, 25]
    other = np.concatenate(batches(1, 2, 4, 100, 32)).tolist()
    assert other != np.concatenate(found).tolist()


def test_threads_change_nothing() -> None:
    with threads(2):
        two = trained(False)
        assert torch.get_num_threads() == 2
    with threads(1):
        one = trained(False)
    assert torch.equal(two.weights.flat, one.weights.flat)
    assert two.history == one.history


def test_rows_that_are_read_batch_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    together = trained(False)
    monkeypatch.setattr(_train_single, "_GATHERED_BYTES", 0)
    assert torch.equal(trained(False).weights.flat, together.weights.flat)


@pytest.mark.parametrize("stacked", [False, True])
def test_a_head_depends_on_no_other(stacked: bool) -> None:
    stage = Stage(epochs=6, learning_rate=0.02, batch=32, early_stopping=1, precision="fp32")
    weights = StackedWeights.initial(SHAPE, width=12, heads=3, seed=1)
    bank = train_stage(weights, X, Y, UNEQUAL, stage, device="cpu", seed=4, stacked=stacked)
    # They leave the stack one after another.
    assert len({len(history) for history in bank.history}) > 1
    for place in range(3):
        alone = train_stage(
            weights.select([place]),
            X,
            Y[:, [place]],
            [UNEQUAL[place]],
            stage,
            device="cpu",
            seed=4,
            heads=[place],
            stacked=stacked,
        )
        assert len(alone.history[0]) == len(bank.history[place])
        torch.testing.assert_close(
            alone.weights.flat[0], bank.weights.flat[place], atol=1e-5, rtol=1e-3
        )


def test_heads_that_are_done_leave_a_stack_that_is_not_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from affectlab.models.heads.training import stacked

    made: list[int] = []
    before = stacked._Stack.of.__func__  # type: ignore[attr-defined]

    def counted(cls: type, plan: object, progress: object, data: object) -> object:
        made.append(1)
        return before(cls, plan, progress, data)

    monkeypatch.setattr(stacked._Stack, "of", classmethod(counted))
    X, Y = planted()
    weights = StackedWeights.initial(HeadShape((16,)), 12, 3)
    stage = Stage(epochs=40, learning_rate=0.02, batch=32, early_stopping=2)
    found = train_stage(weights, X, Y, rows_of(Y), stage, device="cpu", stacked=True)
    # They stop one after the other.
    assert len({len(epochs) for epochs in found.history}) > 1
    assert len(made) == 1
