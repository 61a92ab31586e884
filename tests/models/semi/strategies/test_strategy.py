"""Strategies by name, those of other packages, and what a problem may be."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest
import torch

from affectlab.core.errors import InputError
from affectlab.models.semi.registry import load_strategy
from affectlab.models.semi.strategies.fixmatch import FixMatch
from affectlab.models.semi.strategy import Step, Strategy, View

from .drawn import NAMES, a_problem, a_view


class Everything(Strategy):
    """A strategy of another package: all count alike."""

    name = "everything"

    def __init__(self, weight: float = 1.0) -> None:
        super().__init__()
        self.weight = weight

    def step(self, view: View) -> Step:
        said = view.weak_logits.softmax(dim=1)
        return Step(said, torch.full((len(said),), self.weight), None, {})


@pytest.mark.parametrize("name", NAMES)
def test_settings_make_the_same_strategy_again(name: str) -> None:
    strategy = load_strategy(name)
    again = load_strategy(name, **strategy.settings())
    assert again.settings() == strategy.settings()
    assert type(again) is type(strategy)
    assert all(str(value) in repr(strategy) for value in strategy.settings().values())


def test_a_strategy_is_given_back() -> None:
    strategy = FixMatch()
    assert load_strategy(strategy) is strategy
    with pytest.raises(InputError, match="is given ready; expected no settings beside it"):
        load_strategy(strategy, tau=0.5)


def test_what_is_not_known_is_named() -> None:
    with pytest.raises(InputError, match="strategy 'fixmatch': unknown setting 'taw'; did you"):
        load_strategy("fixmatch", taw=0.5)
    with pytest.raises(InputError, match="strategy 'supervised': unknown setting 'tau'"):
        load_strategy("supervised", tau=0.5)


def test_a_strategy_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("everything", f"{__name__}:Everything", "affectlab.strategies")
    monkeypatch.setattr("affectlab.core.registry.entry_points", lambda group: [point])
    strategy = load_strategy("everything", weight=0.5)
    strategy.begin(a_problem())
    assert strategy.step(a_view(0)).weights.tolist() == [0.5] * 7
    assert strategy.settings() == {"weight": 0.5}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"labels": ("awe",)}, "labels: 1 given; expected two at least"),
        ({"counts": torch.ones(3)}, r"counts: shape \(3,\); expected \(4,\)"),
        ({"n_labelled": 0}, "n_labelled = 0: expected one example"),
        ({"n_unlabelled": -1}, "n_unlabelled = -1: expected 0 or more"),
        ({"costs": np.ones((3, 3))}, r"costs: shape \(3, 3\); expected \(4, 4\)"),
        ({"polarity": (1, 1, 0)}, "polarity: .* expected -1, 0 or "),
        ({"polarity": (1, 1, 0, 2)}, "polarity: .* expected -1, 0 or "),
    ],
)
def test_a_problem_that_does_not_fit_is_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        a_problem(**changed)


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("fixmatch", {"tau": 1.5}, "tau = 1.5: expected a number from 0 to 1"),
        ("fixmatch", {"tau": "high"}, "tau = high: expected a number"),
        ("fixmatch", {"tau": True}, "tau = True: expected a number"),
        ("fixmatch", {"tau": float("nan")}, "tau = nan: expected a number"),
        ("flexmatch", {"mapping": "concave"}, "unknown mapping 'concave'"),
        ("freematch", {"momentum": -0.1}, "momentum = -0.1"),
        ("freematch", {"fairness": -1}, "fairness = -1: expected a finite number of at least 0"),
        ("softmatch", {"n_sigma": 0}, "n_sigma = 0: expected a finite number above 0"),
        ("emc", {"reading": "sum"}, "unknown setting 'reading'"),
        ("emc", {"e": "fy"}, "e: unknown data set 'fy'; expected one of: fi, emoset"),
        ("emc", {"e": 0}, "e = 0"),
        ("emc", {"low": 0.9, "high": 0.8}, "expected low to be at most high"),
        ("comatch", {"memory": 0}, "memory = 0: expected a whole number of at least 1"),
        ("comatch", {"temperature": 0.0}, "temperature = 0.0"),
        ("simmatch", {"window": 2.5}, "window = 2.5: expected a whole number"),
        ("simmatch", {"instance": float("inf")}, "instance = inf"),
        ("s2ver", {"scale": 0}, "scale = 0"),
        ("s2ver", {"share": 2}, "share = 2"),
        # The text would count as true.
        ("softmatch", {"align": "False"}, "align = False: expected true or false"),
        ("flexmatch", {"warm_up": 0}, "warm_up = 0: expected true or false"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    name: str, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        load_strategy(name, **settings)
