"""What holds for every strategy, whatever it does."""

from __future__ import annotations

import io
from copy import deepcopy
from dataclasses import replace

import pytest
import torch

from affectlab.core.errors import InputError
from affectlab.models.semi.strategy import PoolLabels, Step, Strategy, View

from .drawn import NAMES, a_problem, a_strategy, a_view, reordered

QUICK = {"freematch": {"momentum": 0.5}, "softmatch": {"momentum": 0.5}}
WITH_FEATURES = ("comatch", "simmatch", "s2ver")
DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
    ),
]


def begun(name: str, device: str = "cpu") -> Strategy:
    return a_strategy(name, a_problem(device=torch.device(device)), **QUICK.get(name, {}))


def pool(seed: int, device: str = "cpu") -> PoolLabels:
    drawn = torch.Generator().manual_seed(seed)
    weak, strong = (torch.randint(0, 4, (20,), generator=drawn).to(device) for _ in range(2))
    return PoolLabels(weak, strong)


def same(one: Step, other: Step, order: torch.Tensor | None = None, *, near: float = 0.0) -> None:
    rows = slice(None) if order is None else order
    assert torch.allclose(one.targets[rows], other.targets, rtol=near, atol=near)
    assert torch.allclose(one.weights[rows], other.weights, rtol=near, atol=near)
    assert (one.extra is None) == (other.extra is None)
    if one.extra is not None and other.extra is not None:
        assert torch.allclose(one.extra, other.extra, rtol=near, atol=near)
    assert one.told == pytest.approx(other.told, rel=near or 1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_labels_are_distributions_and_weights_shares(
    name: str, device: str, dtype: torch.dtype
) -> None:
    strategy = begun(name, device)
    for step in range(3):
        if strategy.wants_pool:
            strategy.before_epoch(step, pool(step, device))
        view = a_view(step, dtype=dtype, device=device, step=step)
        found = strategy.step(view)
        exact = torch.float64 if dtype == torch.float64 else torch.float32
        for part, shape in ((found.targets, (7, 4)), (found.weights, (7,))):
            assert tuple(part.shape) == shape
            assert part.dtype == exact
            assert part.device.type == device
            assert not part.requires_grad
            assert part.min() >= 0
            assert part.max() <= 1
        assert torch.allclose(found.targets.sum(dim=1), torch.ones(7, dtype=exact, device=device))
        assert all(type(value) is float for value in found.told.values())
        if found.extra is not None:
            assert found.extra.ndim == 0
            found.extra.backward()
            reached = [*view.strong_logits, *view.strong_features]
            gradients = [one.grad for one in reached if one.grad is not None]
            assert gradients
            assert all(bool(torch.isfinite(one).all()) for one in gradients)
            # Pseudo-labels are what is learned from; labelled examples have a loss of their own.
            assert view.labelled_logits.grad is None
            assert view.labelled_features is not None
            assert view.labelled_features.grad is None
    assert not list(strategy.parameters())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("name", NAMES)
def test_a_gpu_gives_what_a_cpu_gives(name: str) -> None:
    here, there = begun(name), begun(name, "cuda")
    for step in range(4):
        if here.wants_pool:
            assert here.before_epoch(step, pool(step)) == there.before_epoch(
                step, pool(step, "cuda")
            )
        one = here.step(a_view(step, dtype=torch.float32, step=step))
        other = there.step(a_view(step, dtype=torch.float32, device="cuda", step=step))
        extra = None if other.extra is None else other.extra.cpu()
        moved = Step(other.targets.cpu(), other.weights.cpu(), extra, other.told)
        same(one, moved, near=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_examples_does_not_matter(name: str) -> None:
    one, other = begun(name), begun(name)
    for step in range(3):
        view = a_view(step, step=step)
        order = torch.randperm(7, generator=torch.Generator().manual_seed(step))
        same(one.step(view), other.step(reordered(view, order)), order, near=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_strategy_goes_on_as_if_it_had_not_stopped(name: str) -> None:
    whole, first = begun(name), begun(name)
    for step in range(3):
        if whole.wants_pool:
            for one in (whole, first):
                one.before_epoch(step, pool(step))
        same(whole.step(a_view(step)), first.step(a_view(step)))
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second = begun(name)
    second.load_state_dict(torch.load(file, weights_only=True))
    fresh = begun(name)
    differs = False
    for step in range(3, 6):
        found = second.step(a_view(step))
        same(whole.step(a_view(step)), found)
        new = fresh.step(a_view(step))
        differs |= not torch.equal(found.weights, new.weights) or found.told != new.told
        differs |= not torch.equal(found.targets, new.targets)
        differs |= found.extra is not None and not torch.equal(found.extra, new.extra)
    # Where there is a state, it is seen.
    assert differs == bool(whole.state_dict())


@pytest.mark.parametrize("name", NAMES)
def test_a_step_leaves_what_it_is_given(name: str) -> None:
    strategy, view = begun(name), a_view(3)
    before = deepcopy(
        [view.weak_logits, view.rows, view.labelled_rows, view.targets, view.weak_features]
    )
    strategy.step(view)
    after = [view.weak_logits, view.rows, view.labelled_rows, view.targets, view.weak_features]
    assert all(torch.equal(*pair) for pair in zip(before, after, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_to_begin_again_forgets(name: str) -> None:
    strategy, fresh = begun(name), begun(name)
    for step in range(2):
        strategy.step(a_view(step))
    strategy.begin(a_problem())
    same(fresh.step(a_view(5)), strategy.step(a_view(5)))


@pytest.mark.parametrize("name", NAMES)
def test_logits_without_end_are_still_labels(name: str) -> None:
    strategy, view = begun(name), a_view(1)
    sharp = replace(view, weak_logits=view.weak_logits * 1e6)
    for step in (sharp, a_view(2)):
        found = strategy.step(step)
        assert torch.allclose(found.targets.sum(dim=1), torch.ones(7, dtype=torch.float64))
        assert bool(torch.isfinite(found.weights).all())
        assert found.extra is None or bool(torch.isfinite(found.extra))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "supervised"])
def test_one_example_is_enough(name: str) -> None:
    strategy = begun(name)
    for step in range(2):
        found = strategy.step(a_view(step, b=1, u=1))
        assert bool(torch.isfinite(found.weights).all())
        assert found.targets.sum().item() == pytest.approx(1)
        assert found.extra is None or bool(torch.isfinite(found.extra))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "supervised"])
def test_unlabelled_examples_are_needed(name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' needs unlabelled examples"):
        a_strategy(name, a_problem(n_unlabelled=0))


def test_without_pseudo_labels_no_unlabelled_example_is_needed() -> None:
    strategy = a_strategy("supervised", a_problem(n_unlabelled=0))
    found = strategy.step(a_view(0, u=0, views=0))
    assert tuple(found.targets.shape) == (0, 4)
    assert tuple(found.weights.shape) == (0,)


@pytest.mark.parametrize("name", WITH_FEATURES)
@pytest.mark.parametrize("missing", ["labelled_features", "weak_features", "strong_features"])
def test_features_that_are_missing_are_named(name: str, missing: str) -> None:
    view = a_view(0)
    holed: View = replace(view, **{missing: () if missing == "strong_features" else None})
    with pytest.raises(InputError, match=f"strategy '{name}' needs features of labelled examples"):
        begun(name).step(holed)
    with pytest.raises(InputError, match=f"strategy '{name}' needs features; expected a width"):
        a_strategy(name, a_problem(features=0))


@pytest.mark.parametrize(("name", "what"), [("emc", "costs"), ("s2ver", "polarity")])
def test_what_the_labels_lack_is_named(name: str, what: str) -> None:
    with pytest.raises(InputError) as error:
        a_strategy(name, a_problem(**{what: None}))
    assert str(error.value) == (
        f"strategy '{name}' needs {what} of the labels; expected a taxonomy, or another strategy"
    )
