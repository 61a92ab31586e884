"""Parts of the semi-supervised loop by hand: average, switch, batches, sums of an epoch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import nn

from affectlab.core.errors import InputError
from affectlab.evaluation import ecc, emc
from affectlab.models.semi import SemiTraining, Switch
from affectlab.models.semi.loop import Average, Cycle, Learner, Tally, statistics_held
from affectlab.models.training.steps import seed_device
from affectlab.models.vision import VisionTraining
from affectlab.taxonomy import load_taxonomy


def test_the_average_by_hand() -> None:
    network = nn.Sequential(nn.Linear(1, 1, bias=False), nn.BatchNorm1d(1))
    nn.init.constant_(network[0].weight, 0.0)  # type: ignore[arg-type]
    average = Average(network, decay=0.5)
    expected = 0.0
    # (1 + t) / (10 + t) until it would be more than .5, which is from step 8 on.
    for step, kept in [(0, 0.1), (1, 2 / 11), (7, 8 / 17), (8, 0.5), (500, 0.5)]:
        nn.init.constant_(network[0].weight, float(step + 1))  # type: ignore[arg-type]
        network[1].running_mean.fill_(step)  # type: ignore[operator]
        average.update(network, step)
        expected = kept * expected + (1 - kept) * (step + 1)
        assert average.network[0].weight.item() == pytest.approx(expected)  # type: ignore[index]
        assert average.network[1].running_mean.item() == step  # type: ignore[index]
    assert not any(part.requires_grad for part in average.parameters())
    assert not average.network.training


def test_a_seed_for_one_device_is_that_for_all() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    seed_device(5, torch.device("cpu"))
    assert torch.equal(torch.rand(3), expected)


def test_the_switch_by_hand() -> None:
    switch = Switch("converging", window=2, tolerance=0.1)
    # Means over two epochs: 3.5, then 1.5 two epochs later, then 1.1, then 1.05.
    losses = [4.0, 3.0, 2.0, 1.0, 1.1, 1.1, 1.0]
    # After 4: 3.5 -> 1.5; after 5: 2.5 -> 1.05; after 6: 1.5 -> 1.1; after 7: 1.05 -> 1.05.
    assert [switch.after(losses[:n]) for n in range(8)] == [*[False] * 7, True]
    # A loss that rises has stopped to fall.
    assert Switch("converging", window=1).after([1.0, 2.0])
    # At exactly the tolerance it still falls enough.
    assert not Switch("converging", window=1, tolerance=0.5).after([1.0, 0.5])
    assert Switch("start").after([])
    assert not Switch("never").after([1.0] * 50)
    assert [Switch(3).after([1.0] * n) for n in range(4)] == [False, False, True, True]
    for wrong in (
        *({"when": 0}, {"when": "soon"}, {"when": True}, {"window": 0}, {"window": True}),
        *({"tolerance": 1}, {"tolerance": "5 %"}, {"tolerance": float("nan")}),
    ):
        with pytest.raises(InputError):
            Switch(**wrong)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 5))
def test_a_cycle_shows_each_row_once_a_pass(n: int, size: int, seed: int) -> None:
    cycle = Cycle(n, size, (seed, 1))
    for turn in range(3):
        steps = range(turn * cycle.batches, (turn + 1) * cycle.batches)
        found = [cycle.batch(step) for step in steps]
        assert {which for which, _ in found} == {turn}
        assert sorted(np.concatenate([rows for _, rows in found]).tolist()) == list(range(n))
        assert all(1 <= len(rows) <= size for _, rows in found)
    # Any step by itself is the same.
    step = 2 * cycle.batches
    assert np.array_equal(Cycle(n, size, (seed, 1)).batch(step)[1], cycle.batch(step)[1])


def test_sums_of_an_epoch_by_hand() -> None:
    labels = ("awe", "fear", "anger")
    taxonomy = load_taxonomy("mikels")
    truth = np.array([0, 1, 2, 0, 1])
    tally = Tally(labels, taxonomy, None, truth, 5)
    assert tally.entry() == {}
    one_hot = torch.eye(3)
    tally.add(torch.tensor([0, 1, 2]), one_hot[[0, 2, 2]], torch.tensor([1.0, 1.0, 0.0]))
    tally.add(torch.tensor([3, 4]), one_hot[[1, 1]], torch.tensor([0.5, 0.5]))
    found = tally.entry()
    assert found["utilisation"] == pytest.approx(3 / 5)
    # Weights 1 and .5 are right, 1 and .5 wrong.
    assert found["pseudo_accuracy"] == pytest.approx(0.5)
    # A weight of 1 is two items, one of .5 is one.
    true = ["awe", "awe", "fear", "fear", "awe", "fear"]
    said = ["awe", "awe", "anger", "anger", "fear", "fear"]
    assert found["pseudo_ecc"] == pytest.approx(ecc(true, said, "mikels"))
    assert found["pseudo_emc"] == pytest.approx(emc(true, said, "mikels"))
    assert np.isnan(found["confirmed"])
    tally.clear()
    # Rows 1 and 3 were wrong: one stays wrong in the same way, the other in another way; row 0
    # becomes wrong, which confirms nothing.
    tally.add(torch.tensor([0, 1, 3]), one_hot[[1, 2, 2]], torch.ones(3))
    assert tally.entry()["confirmed"] == pytest.approx(0.5)
    assert tally.entry()["pseudo_accuracy"] == 0
    blind = Tally(labels, taxonomy, None, None, 5)
    blind.add(torch.tensor([0]), one_hot[[1]], torch.tensor([0.25]))
    assert blind.entry() == {"utilisation": 0.25}


def test_features_are_what_goes_into_the_last_layer() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
    output = network[2]
    assert isinstance(output, nn.Linear)
    learner = Learner(network, lambda part, inputs: part(inputs["x"]), output, 5)
    rows = torch.randn(7, 4)
    logits, features = learner({"x": rows}, "fp32")
    assert torch.equal(logits, network(rows))
    assert features is not None
    inner = learner.projection(network[:2](rows))
    assert torch.allclose(features, inner / inner.norm(dim=1, keepdim=True))
    assert torch.allclose(features.norm(dim=1), torch.ones(7))
    features.sum().backward()
    assert network[0].weight.grad is not None
    # Nothing stays on the network.
    assert not output._forward_pre_hooks
    plain = Learner(network, lambda part, inputs: part(inputs["x"]), output, 0)
    assert plain({"x": rows}, "fp32")[1] is None
    assert [name for name, _ in plain.named_parameters() if "network" not in name] == []


def test_batch_norms_do_not_take_in_what_they_should_not() -> None:
    norm = nn.BatchNorm1d(2)
    before = {name: part.clone() for name, part in norm.state_dict().items()}
    rows = torch.randn(8, 2) + 5
    with statistics_held(norm):
        held = norm(rows)
    assert all(torch.equal(part, before[name]) for name, part in norm.state_dict().items())
    assert torch.equal(held, norm(rows).detach())
    assert not torch.equal(norm.running_mean, before["running_mean"])  # type: ignore[arg-type]


def test_settings_are_those_of_vision_and_more() -> None:
    found = SemiTraining(epochs=3, batch_size=4, ratio=2, steps=None)
    assert found.base() == VisionTraining(epochs=3, batch_size=4)
    assert set(found.added()) == {"ratio", "lam_u", "ema", "strong", "features", "steps"}
    # As many steps as it takes to see every example: labelled or unlabelled ones.
    assert [found.steps_of(n, m) for n, m in [(4, 8), (5, 8), (4, 9), (40, 8)]] == [1, 2, 2, 10]
    assert SemiTraining(steps=5).steps_of(1000, 1000) == 5
    for wrong in (
        {"ratio": 0},
        {"ratio": 1.5},
        {"ema": 1},
        {"ema": -0.1},
        {"lam_u": -1},
        {"lam_u": float("inf")},
        {"strong": "stronger"},
        {"features": 0},
        {"steps": 0},
        {"micro_batch": 3},
        {"epochs": 0},
    ):
        with pytest.raises(InputError):
            SemiTraining(**wrong)
