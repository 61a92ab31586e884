"""Every strategy against its slow twin, over several steps of drawn data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from affectlab.models.semi.strategy import Strategy

from . import twins
from .drawn import POLARITY, a_strategy, a_view

shares = st.sampled_from([0.3, 0.5, 0.7, 0.9])
temperatures = st.sampled_from([0.1, 0.2, 1.0])
counts = st.integers(1, 12)
CHOICES: dict[str, dict[str, Any]] = {
    "supervised": {},
    "fixmatch": {"tau": shares},
    "flexmatch": {
        "tau": shares,
        "mapping": st.sampled_from(["convex", "linear"]),
        "warm_up": st.booleans(),
    },
    "freematch": {"momentum": shares, "fairness": shares},
    "softmatch": {
        "momentum": shares,
        "n_sigma": st.sampled_from([1.0, 2.0]),
        "align": st.booleans(),
    },
    "comatch": {
        "tau": shares,
        "alpha": shares,
        "temperature": temperatures,
        "graph": shares,
        "contrast": shares,
        "memory": st.integers(1, 40),
        "window": counts,
    },
    "simmatch": {
        "tau": shares,
        "alpha": shares,
        "temperature": temperatures,
        "momentum": shares,
        "instance": shares,
        "window": counts,
    },
    "s2ver": {
        "tau": shares,
        "floor": st.sampled_from([0.3, 0.7]),
        "share": shares,
        "temperature": temperatures,
        "momentum": shares,
        "scale": st.sampled_from([0.5, 1.0]),
        "graph": shares,
        "contrast": shares,
        "distribution": shares,
    },
}
TWINS: dict[str, Any] = {
    "supervised": twins.Supervised,
    "fixmatch": twins.FixMatch,
    "flexmatch": twins.FlexMatch,
    "freematch": twins.FreeMatch,
    "softmatch": twins.SoftMatch,
    "comatch": twins.CoMatch,
    "simmatch": twins.SimMatch,
    "s2ver": lambda **chosen: twins.S2ver(**chosen, polarity=POLARITY),
}


def agree(strategy: Strategy, twin: Any, seed: int, spread: float, steps: int) -> None:
    """Go several steps with both, and compare all they say."""
    for step in range(steps):
        u = 1 + (seed + 3 * step) % 8
        view = a_view(seed * 11 + step, u=u, spread=spread, step=step)
        found = strategy.step(view)
        targets, weights, extra = twin.step(twins.Seen.of(view))
        assert np.allclose(found.targets.numpy(), targets, atol=2e-6)
        assert np.allclose(found.weights.numpy(), weights, atol=1e-5)
        if extra is None:
            assert found.extra is None
        else:
            assert found.extra is not None
            assert found.extra.item() == pytest.approx(extra, rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("name", CHOICES)
@settings(max_examples=20)
@given(st.data(), st.integers(0, 100_000), st.sampled_from([0.5, 2.0, 4.0]))
def test_a_strategy_is_its_slow_twin(
    name: str, data: st.DataObject, seed: int, spread: float
) -> None:
    chosen = {key: data.draw(drawn, label=key) for key, drawn in CHOICES[name].items()}
    agree(a_strategy(name, **chosen), TWINS[name](**chosen), seed, spread, steps=4)


QUICK: dict[str, dict[str, Any]] = {
    "flexmatch": {"tau": 0.6, "warm_up": False},
    "freematch": {"momentum": 0.5},
    "softmatch": {"momentum": 0.5},
}
"""Settings that tell examples apart within few steps."""


@pytest.mark.parametrize("name", CHOICES)
def test_the_steps_drawn_hold_examples_of_both_kinds(name: str) -> None:
    strategy = a_strategy(name, **QUICK.get(name, {}))
    views = [a_view(step, u=12, spread=4.0, step=step) for step in range(6)]
    found = torch.cat([strategy.step(view).weights for view in views])
    assert found.min() < 0.9
    assert (found.max() > 0.9) == (name != "supervised")
