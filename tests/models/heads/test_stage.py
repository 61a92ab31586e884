"""A stage of training a bank of heads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks.heads import module_of
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

from affectlab.core.errors import InputError
from affectlab.models.heads.fit import train_stage
from affectlab.models.heads.sampling import balanced_rows
from affectlab.models.heads.shape import HeadShape
from affectlab.models.heads.training.stack import head_precision, predict_heads
from affectlab.models.heads.training.stage import Stage, StageResult
from affectlab.models.heads.weights import StackedWeights

from .planted import planted, rows_of

SHAPE = HeadShape((24,), dropout=0.1)
X, Y = planted()
ROWS = rows_of(Y)


def weights(heads: int = 3) -> StackedWeights:
    return StackedWeights.initial(SHAPE, width=12, heads=heads)


def settings(**given: object) -> Stage:
    return Stage(**{"epochs": 20, "learning_rate": 0.01, "batch": 32, "precision": "fp32", **given})  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_heads_learn_what_was_planted(precision: str) -> None:
    stage = settings(epochs=60, dropout=0.1, precision=precision)
    found = train_stage(weights(), X, Y, ROWS, stage, device="cpu")
    fresh, wanted = planted(n=300, seed=9)
    said = predict_heads(found.weights, fresh, device="cpu", precision="fp32")
    for k in range(3):
        assert np.corrcoef(said[:, k], wanted[:, k])[0, 1] > 0.94
    assert (found.device, found.precision) == ("cpu", precision)


def test_the_best_epoch_is_kept() -> None:
    # A rate so high that losses go up and down.
    stage = settings(learning_rate=0.05)
    found = train_stage(weights(), X, Y, ROWS, stage, device="cpu")
    said = predict_heads(found.weights, X, device="cpu", precision="fp32")
    for k in range(3):
        losses = [epoch["validation_loss"] for epoch in found.history[k]]
        assert found.best_loss[k] == min(losses)
        assert found.best_epoch[k] == 1 + int(np.argmin(losses))
        validation = ROWS[k].validation
        error = ((said[validation, k] - Y[validation, k]) ** 2).mean()
        assert error == pytest.approx(found.best_loss[k], rel=1e-5)
        assert [epoch["epoch"] for epoch in found.history[k]] == list(range(1, 21))
    assert any(epoch < 20 for epoch in found.best_epoch)


def test_rates_fall_for_each_head_alone() -> None:
    noise = Y.copy()
    # Nothing can be learned of head 1: its plateau comes at once.
    noise[:, 1] = np.random.default_rng(5).permutation(noise[:, 1])
    stage = settings(epochs=25, patience=1)
    found = train_stage(weights(), X, noise, ROWS, stage, device="cpu")
    for history in found.history:
        rate = torch.optim.SGD([torch.zeros(1)], lr=0.01)
        schedule = ReduceLROnPlateau(rate, factor=0.2, patience=1)
        for epoch in history:
            assert epoch["learning_rate"] == pytest.approx(rate.param_groups[0]["lr"], rel=1e-9)
            schedule.step(epoch["validation_loss"])
    assert found.history[1][-1]["learning_rate"] <= 0.01 * 0.2**3
    assert found.history[0][12]["learning_rate"] > found.history[1][12]["learning_rate"]


def test_early_stopping() -> None:
    stage = settings(learning_rate=0.05, early_stopping=3, epochs=60)
    found = train_stage(weights(), X, Y, ROWS, stage, device="cpu")
    for k in range(3):
        assert len(found.history[k]) == min(found.best_epoch[k] + 3, 60)
    assert any(len(history) < 60 for history in found.history)


def test_yes_and_no() -> None:
    rows = rows_of(Y, binarised=True)
    stage = settings(binarised=True)
    found = train_stage(weights(), X, Y, rows, stage, device="cpu")
    said = predict_heads(found.weights, X, device="cpu", precision="fp32")
    yes = Y >= 0.5
    assert abs(said[yes].mean() - 1) < 0.2
    assert abs(said[~yes].mean()) < 0.3
    assert max(found.best_loss) < 0.1


def test_a_label_with_nothing_to_learn_from() -> None:
    ratings = Y.copy()
    ratings[:, 1] = np.nan
    ratings[:, 2] = 0
    rows = [balanced_rows(ratings[:, k], cap=None, label=k) for k in range(3)]
    before = weights()
    found = train_stage(before, X, ratings, rows, settings(), device="cpu")
    assert dict(found.not_trained) == {1: rows[1].problem, 2: rows[2].problem}
    assert "no rating" in found.not_trained[1]
    assert "alike (0)" in found.not_trained[2]
    assert torch.equal(found.weights.flat[1:], before.flat[1:])
    assert not torch.equal(found.weights.flat[0], before.flat[0])
    assert found.history[1] == ()
    assert found.best_epoch[1:] == (0, 0)
    assert np.isnan(found.best_loss[1:]).all()
    nothing = train_stage(before, X, ratings, [rows[1]] * 3, settings(), device="cpu")
    assert torch.equal(nothing.weights.flat, before.flat)


def test_what_was_not_rated_has_no_part() -> None:
    ratings = Y.copy()
    unseen = np.setdiff1d(np.arange(400), np.concatenate([ROWS[0].train, ROWS[0].validation]))
    assert not unseen.size
    rows = [replace(ROWS[0], train=ROWS[0].train[:200])]
    ratings[ROWS[0].train[200:], 0] = np.nan
    found, other = (
        train_stage(weights(1), X, given[:, :1], rows, settings(), device="cpu")
        for given in (ratings, Y)
    )
    assert torch.equal(found.weights.flat, other.weights.flat)


def test_the_second_stage_begins_with_the_first() -> None:
    first = train_stage(weights(), X, Y, ROWS, settings(epochs=30), device="cpu")
    second = train_stage(
        first.weights, X, Y, ROWS, settings(epochs=1, learning_rate=1e-5), device="cpu", seed=1
    )
    np.testing.assert_allclose(second.best_loss, first.best_loss, rtol=0.02)


def test_float16_maps_are_read_in_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X.astype(np.float16))
    held = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = train_stage(weights(), held, Y, ROWS, settings(), device="cpu")
    whole = train_stage(weights(), np.array(held, dtype=float), Y, ROWS, settings(), device="cpu")
    assert torch.equal(found.weights.flat, whole.weights.flat)


def test_neither_inputs_nor_the_callers_numbers_change() -> None:
    before, copies, threads = weights(), (X.copy(), Y.copy()), torch.get_num_threads()
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002
    states = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    train_stage(before, X, Y, ROWS, settings(dropout=0.2), device="cpu")
    assert torch.equal(before.flat, weights().flat)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(Y, copies[1])
    assert torch.equal(torch.random.get_rng_state(), states[0])
    assert (np.random.get_state()[1] == states[1]).all()  # noqa: NPY002
    assert torch.get_num_threads() == threads


def test_same_seed_same_heads() -> None:
    stage = settings(dropout=0.2)
    first, again, other = (
        train_stage(weights(), X, Y, ROWS, stage, device="cpu", seed=seed) for seed in (1, 1, 2)
    )
    assert torch.equal(first.weights.flat, again.weights.flat)
    assert first.history == again.history
    assert not torch.equal(first.weights.flat, other.weights.flat)


def test_reports() -> None:
    for stack, wanted in ((1, list(range(1, 10))), (None, [3, 6, 9])):
        said: list[tuple[str, int, int]] = []
        train_stage(
            weights(),
            X,
            Y,
            ROWS,
            settings(epochs=3),
            device="cpu",
            stack=stack,
            progress=lambda *what, said=said: said.append(what),  # type: ignore[misc]
        )
        assert [done for _, done, _ in said] == wanted
        assert {total for *_, total in said} == {9}
        assert "validation loss" in said[-1][0]


def test_weights_in_bf16_do_not_learn_at_this_rate() -> None:
    """Weights stay in float32 for a reason: updates of 5e-5 round away in bf16."""
    stage = Stage(epochs=25, batch=32, precision="bf16")
    found = train_stage(weights(1), X, Y[:, :1], ROWS[:1], stage, device="cpu")
    pure = module_of(weights(1), 0).bfloat16()
    before = pure[0].weight.detach().clone()
    optimiser = torch.optim.Adam(pure.parameters(), lr=5e-5)
    x, y = torch.from_numpy(X).bfloat16(), torch.from_numpy(Y[:, :1]).bfloat16()
    train, validation = (torch.from_numpy(rows) for rows in ROWS[0])
    rng = torch.Generator().manual_seed(0)
    for _ in range(25):
        order = train[torch.randperm(len(train), generator=rng)]
        for rows in order.tensor_split(-(-len(order) // 32)):
            optimiser.zero_grad()
            nn.functional.mse_loss(pure(x[rows]), y[rows]).backward()
            optimiser.step()
    with torch.no_grad():
        untrained = module_of(weights(1), 0)(torch.from_numpy(X)[validation])
        start = float(((untrained - y[validation].float()) ** 2).mean())
        end = float(((pure(x[validation]).float() - y[validation].float()) ** 2).mean())
    large = before.abs() > 0.05
    assert torch.equal(pure[0].weight[large], before[large])
    ours = found.weights.weight[0][0].T
    moved = (ours - before.float()).abs()[large]
    assert moved.median() > 2e-3
    assert start - end < 0.5 * (start - found.best_loss[0])


def test_training_that_runs_away() -> None:
    with pytest.raises(InputError, match=r"head \d: training diverged in epoch \d+ at learning"):
        train_stage(
            weights(),
            X * np.float32(1e18),
            Y,
            ROWS,
            settings(learning_rate=1e18),
            device="cpu",
        )


def test_embeddings_that_do_not_fit() -> None:
    broken = X.copy()
    broken[ROWS[0].train[3], 2] = np.inf
    for embeddings, said in (
        (X[:, :5], "X has 5 numbers per row; the heads take 12"),
        (broken, rf"row {ROWS[0].train[3]}: a number is not finite"),
    ):
        with pytest.raises(InputError, match=said):
            train_stage(weights(1), embeddings, Y[:, :1], ROWS[:1], settings())


def test_a_device_that_is_not_there() -> None:
    with pytest.raises(InputError, match="device"):
        train_stage(weights(), X, Y, ROWS, settings(), device="tpu")


@pytest.mark.parametrize(
    "given",
    [
        {"epochs": 0},
        {"epochs": 1.5},
        {"batch": 0},
        {"patience": -1},
        {"early_stopping": 0},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"factor": 1.0},
        {"dropout": 1.0},
        {"precision": "fp16"},
    ],
)
def test_settings_off_their_range(given: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(given))):
        settings(**given)


def test_defaults_are_those_of_the_paper() -> None:
    stage = Stage(epochs=5)
    assert (stage.learning_rate, stage.factor, stage.patience) == (5e-5, 0.2, 10)
    assert Stage(**stage.to_dict()) == stage


def test_precision_that_fits_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = torch.device("cpu")
    for held, wanted in (
        ({"avx512_bf16": True}, "bf16"),
        ({"bf16": True}, "bf16"),
        ({"avx512_f": True}, "fp32"),
        ({}, "fp32"),
    ):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda held=held: held, raising=False)
        assert head_precision("auto", cpu) == wanted
    assert head_precision("fp32", cpu) == "fp32"
    assert head_precision("auto", torch.device("mps")) == "fp32"


def before_and_after(**settings: object) -> tuple[StackedWeights, StageResult]:
    """Train heads well, and then much too fast."""
    X, Y = planted()
    rows = rows_of(Y)
    weights = StackedWeights.initial(HeadShape((16,)), 12, 3)
    good = train_stage(
        weights, X, Y, rows, Stage(epochs=20, learning_rate=0.01, batch=32), device="cpu"
    )
    harsh = Stage(epochs=3, learning_rate=3.0, batch=32)
    given = {"seed": 1, "device": "cpu", **settings}
    return good.weights, train_stage(good.weights, X, Y, rows, harsh, **given)  # type: ignore[arg-type]


def test_what_a_stage_begins_with_may_be_kept(tmp_path: Path) -> None:
    start, lost = before_and_after()
    assert min(lost.best_epoch) >= 1
    assert np.isnan(lost.start_loss).all()
    _, kept = before_and_after(keep_start=True, checkpoint=tmp_path)
    assert kept.best_epoch == (0, 0, 0)
    assert torch.equal(kept.weights.flat, start.flat)
    assert kept.best_loss == kept.start_loss
    assert (np.array(kept.start_loss) < lost.best_loss).all()
    # The states on disk know it, too.
    _, again = before_and_after(keep_start=True, checkpoint=tmp_path)
    assert (again.best_epoch, again.start_loss) == (kept.best_epoch, kept.start_loss)
    _, one = before_and_after(keep_start=[False, True, False])
    assert one.best_epoch[0] >= 1 == one.best_epoch[1] + 1


def test_a_head_that_diverges_is_named() -> None:
    X, Y = planted()
    weights = StackedWeights.initial(HeadShape((16,)), 12, 3)
    wild = Stage(epochs=3, learning_rate=1e30, batch=32)
    with pytest.raises(InputError, match=r"'joy': training diverged .*learning_rate="):
        train_stage(weights, X, Y, rows_of(Y), wild, device="cpu", labels=("joy", "fear", "awe"))
