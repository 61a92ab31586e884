"""The losses that strategies add: gradients checked in double precision, and where they vanish."""

from __future__ import annotations

from math import exp, log

import pytest
import torch
from torch import Tensor
from torch.nn import functional as nnf

from affectlab.models.semi.strategies.freematch import fairness
from affectlab.models.semi.strategies.simmatch import instance_loss
from affectlab.models.semi.strategies.tensors import graph_contrast, label_graph

from .drawn import a_strategy, a_view


def drawn(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def test_gradients_of_fairness() -> None:
    logits = drawn(6, 3).requires_grad_()
    weights = torch.tensor([1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    mean, histogram = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.4, 0.4, 0.2])
    assert torch.autograd.gradcheck(
        lambda x: fairness(x, weights, mean, histogram), (logits,), atol=1e-7
    )
    # Where nothing counts there is nothing to learn, and no gradient that is not finite.
    nothing = fairness(logits, torch.zeros(6), mean, histogram)
    (gradient,) = torch.autograd.grad(nothing, logits)
    assert nothing.item() == 0
    assert gradient.abs().max() == 0


def test_fairness_falls_as_predictions_even_out() -> None:
    """What the strong views favour beyond their own guesses is pushed down."""
    logits = drawn(40, 4, seed=2).requires_grad_()
    even, weights = torch.full((4,), 0.25), torch.ones(40)
    before = fairness(logits, weights, even, even)
    (gradient,) = torch.autograd.grad(before, logits)
    after = fairness(logits.detach() - 0.5 * gradient, weights, even, even)
    assert after < before


def test_gradients_of_the_contrast() -> None:
    one, other = (nnf.normalize(drawn(5, 3, seed=seed)).requires_grad_() for seed in (1, 2))
    graph = label_graph(drawn(5, 4, seed=3).softmax(dim=1), 0.2)
    assert torch.autograd.gradcheck(
        lambda a, b: graph_contrast(a, b, graph, 0.2), (one, other), atol=1e-7
    )


def test_the_contrast_by_hand() -> None:
    labels = torch.tensor([[0.9, 0.1], [0.8, 0.2], [0.0, 1.0]], dtype=torch.float64)
    # Products .74, .1 and .2: at .7 the first two are joined, and each with itself by 1.
    graph = label_graph(labels, 0.7)
    rows = [[1 / 1.74, 0.74 / 1.74, 0], [0.74 / 1.74, 1 / 1.74, 0], [0, 0, 1]]
    assert [pytest.approx(row) for row in rows] == graph.tolist()
    assert torch.equal(label_graph(labels, 1.0), torch.eye(3, dtype=torch.float64))
    z = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    # Each is like itself by 1 / t = 2, and like the other by 0.
    found = graph_contrast(z, z, torch.eye(2), 0.5)
    assert found.item() == pytest.approx(-log(exp(2) / (exp(2) + 1)))


def test_gradients_of_the_instance_loss() -> None:
    near, wanted = drawn(4, 6, seed=4).requires_grad_(), drawn(4, 6, seed=5).softmax(dim=1)
    assert torch.autograd.gradcheck(lambda x: instance_loss(x, wanted), (near,), atol=1e-7)


@pytest.mark.parametrize("name", ["freematch", "comatch", "simmatch", "s2ver"])
def test_gradients_of_whole_strategies(name: str) -> None:
    """What a strategy adds, as a function of all strong views at once."""

    def added(*strong: Tensor) -> Tensor:
        strategy = a_strategy(name)
        strategy.step(a_view(1))
        view = a_view(2, u=4)
        changed = {"strong_logits": strong[:2], "strong_features": strong[2:]}
        extra = strategy.step(type(view)(**{**view.__dict__, **changed})).extra
        assert extra is not None
        return extra

    view = a_view(2, u=4)
    assert torch.autograd.gradcheck(added, (*view.strong_logits, *view.strong_features), atol=1e-6)


def test_simmatch_adds_nothing_before_an_example_was_seen() -> None:
    strategy, view = a_strategy("simmatch"), a_view(0)
    first = strategy.step(view)
    assert first.extra is not None
    assert first.extra.item() == 0
    first.extra.backward()
    assert all(one.grad is not None and one.grad.abs().max() == 0 for one in view.strong_features)
    second = strategy.step(a_view(1)).extra
    assert second is not None
    assert second.item() > 0


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("freematch", {"fairness": 0}),
        ("comatch", {"contrast": 0}),
        ("simmatch", {"instance": 0}),
        ("s2ver", {"contrast": 0, "distribution": 0}),
    ],
)
def test_a_loss_without_weight_is_left_out(name: str, settings: dict[str, float]) -> None:
    assert a_strategy(name, **settings).step(a_view(0)).extra is None


@pytest.mark.parametrize("name", ["comatch", "simmatch", "s2ver"])
def test_half_precision_around_a_step_does_not_round_anything(name: str) -> None:
    plain, mixed = a_strategy(name), a_strategy(name)
    for step in range(3):
        view = a_view(step, dtype=torch.float32)
        one = plain.step(view)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            other = mixed.step(view)
        assert torch.allclose(one.targets, other.targets, atol=1e-6)
        assert one.extra is not None
        assert other.extra is not None
        assert torch.allclose(one.extra, other.extra, atol=1e-5)
