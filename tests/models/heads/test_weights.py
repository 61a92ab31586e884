"""Weights of many heads in one tensor."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks.heads import module_of
from safetensors.torch import load_file, save_file

from affectlab.core.errors import InputError
from affectlab.models.heads.shape import HeadShape
from affectlab.models.heads.training.stack import predict_heads
from affectlab.models.heads.weights import StackedWeights, layers_of, padded_size

SHAPE = HeadShape((7, 5))


def weights(heads: int = 3, seed: int = 0) -> StackedWeights:
    return StackedWeights.initial(SHAPE, width=6, heads=heads, seed=seed)


def test_a_head_depends_on_seed_and_number_alone() -> None:
    bank = weights(4)
    assert torch.equal(bank.flat[:3], weights(3).flat)
    assert not torch.equal(bank.flat[0], bank.flat[1])
    assert not torch.equal(bank.flat, weights(4, seed=1).flat)


def test_weights_are_drawn_as_by_torch() -> None:
    drawn = StackedWeights.initial(HeadShape((200,)), width=100, heads=5)
    held = drawn.weight[0].flatten().numpy()
    edge = 1 / np.sqrt(100)
    assert np.abs(held).max() <= edge
    # The standard deviation of a uniform number; 100,000 of them.
    assert held.std() == pytest.approx(edge / np.sqrt(3), rel=0.01)
    assert drawn.bias[0].abs().max() <= edge
    assert drawn.bias[0].std() > 0


def test_layers_share_numbers_with_the_stack() -> None:
    bank = weights()
    bank.weight[1][2, 0, 0] = 9.0
    assert (bank.flat == 9).sum() == 1
    assert bank.select([2]).weight[1][0, 0, 0] == 9.0
    assert bank.select([2]).flat.data_ptr() != bank.flat[2].data_ptr()
    copy = bank.clone()
    copy.flat.add_(1)
    assert bank.weight[1][2, 0, 0] == 9.0


def test_layers_are_aligned_and_apart() -> None:
    places = [part for layer in layers_of((6, 7, 5, 1)) for part in (layer.weight, layer.bias)]
    assert all(part.start % 64 == 0 for part in places)
    assert all(a.stop <= b.start for a, b in pairwise(places))
    assert places[-1].stop <= padded_size((6, 7, 5, 1)) == weights().flat.shape[1]


def test_modules_of_torch_say_the_same() -> None:
    bank = weights()
    x = torch.randn(11, 6, generator=torch.Generator().manual_seed(0))
    before = torch.random.get_rng_state()
    modules = [module_of(bank, k, 0.5) for k in range(3)]
    assert torch.equal(before, torch.random.get_rng_state())
    with torch.no_grad():
        wanted = torch.cat([network(x) for network in modules], dim=1)
    found = predict_heads(bank, x.numpy(), device="cpu", precision="fp32", batch=4)
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    modules[0][0].weight.data += 1
    assert torch.equal(bank.flat, weights().flat)


def test_scores_in_bf16() -> None:
    bank = weights()
    X = np.random.default_rng(0).normal(size=(50, 6))
    exact = predict_heads(bank, X, device="cpu", precision="fp32")
    rough = predict_heads(bank, X.astype(np.float16), device="cpu", precision="bf16")
    assert 0 < np.abs(rough - exact).max() < 0.02
    # The last layer is not rounded: scores fall together no more than they do in float32.
    assert len(np.unique(rough)) == len(np.unique(exact))


def test_stored_and_taken_up(tmp_path: Path) -> None:
    bank = weights()
    save_file(bank.state(), tmp_path / "heads.safetensors")
    found = StackedWeights.from_state(load_file(tmp_path / "heads.safetensors"))
    assert found.sizes == bank.sizes == (6, 7, 5, 1)
    assert torch.equal(found.flat, bank.flat)
    assert sum(part.numel() for part in bank.state().values()) == 3 * SHAPE.n_parameters(6)


def test_state_that_does_not_fit() -> None:
    def broken(**parts: torch.Tensor | None) -> dict[str, torch.Tensor]:
        state = {**weights().state(), **{k.replace("_", "."): v for k, v in parts.items()}}
        return {name: part for name, part in state.items() if part is not None}

    for state, said in (
        ({}, "parts none"),
        (broken(layers_1_bias=None), r"expected weight and bias of layers\.0"),
        (broken(extra=torch.zeros(1)), "extra"),
        (broken(layers_1_weight=torch.zeros(3, 8, 5)), r"layers\.0\.weight: shape \(3, 6, 7\)"),
        (broken(layers_0_bias=torch.zeros(2, 7)), r"layers\.0\.bias: shape \(2, 7\)"),
        (broken(layers_0_bias=torch.zeros(3, 1, 7)), "2 axes"),
        (broken(layers_0_bias=torch.zeros(3, 7).int()), "floating-point"),
        (broken(layers_0_bias=torch.full((3, 7), torch.nan)), "finite"),
        (broken(layers_2_weight=torch.zeros(3, 5, 2)), "one output"),
    ):
        with pytest.raises(InputError, match=said):
            StackedWeights.from_state(state, "heads.safetensors")


def test_heads_that_are_not_there() -> None:
    for heads, seed in ((0, 0), (1, -1)):
        with pytest.raises(InputError, match="expected one or more"):
            weights(heads, seed)


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (np.zeros((3, 5)), "5 numbers per row; the heads take 6"),
        (np.zeros(6), "expected"),
        (np.zeros((0, 6)), r"shape \(0, 6\)"),
        (np.array([[0.0] * 6, [np.inf] + [0.0] * 5]), "row 1: a number is not finite"),
        (np.array([[0.0] * 6, [np.nan] + [0.0] * 5]), "row 1: a number is not finite"),
    ],
)
def test_embeddings_that_cannot_be_scored(X: np.ndarray, said: str) -> None:
    with pytest.raises(InputError, match=said):
        predict_heads(weights(), X, device="cpu")
