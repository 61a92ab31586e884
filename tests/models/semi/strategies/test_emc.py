"""The threshold that follows EMC: equation 5, and costs by name."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.models.semi.strategies.emc import EmcThreshold, emc_threshold
from affectlab.models.semi.strategy import PoolLabels, Problem
from affectlab.taxonomy import load_taxonomy

from .drawn import LABELS, a_problem, a_strategy, a_view

COSTS = {
    ("amusement", "awe"): 3,
    ("amusement", "anger"): 5,
    ("amusement", "fear"): 8,
    ("anger", "awe"): 7,
    ("anger", "fear"): 4,
    ("awe", "fear"): 6,
}
"""Of Mikels' wheel, by name."""


def cost(one: str, other: str) -> int:
    return COSTS.get((one, other)) or COSTS[other, one]


def slow_emc(weak: list[int], strong: list[int], labels: tuple[str, ...]) -> float:
    """EMC, one disagreement after another; nan where there is none."""
    lost = [
        1 / (cost(labels[a], labels[b]) - 1) for a, b in zip(weak, strong, strict=True) if a != b
    ]
    return sum(lost) / len(lost) if lost else math.nan


def pool(weak: list[int], strong: list[int]) -> PoolLabels:
    return PoolLabels(torch.tensor(weak), torch.tensor(strong))


def test_known_thresholds() -> None:
    # Equation 5 as printed, tau * e / EMC, gives tau where EMC is e: .5 for FI, .4 for EmoSet.
    assert emc_threshold(0.5, e=0.5) == pytest.approx(0.95)
    assert emc_threshold(0.4, e=0.4) == pytest.approx(0.95)
    assert emc_threshold(0.6, e=0.5) == pytest.approx(0.95 * 0.5 / 0.6)
    assert emc_threshold(0.8, tau=0.9, e=0.7) == pytest.approx(0.9 * 0.7 / 0.8)


@pytest.mark.parametrize(
    ("emc", "e", "threshold"),
    [
        (0.0, 0.5, 0.98),
        (1 / 7, 0.5, 0.98),
        (0.4846, 0.5, 0.98),
        (0.4848, 0.5, 0.95 * 0.5 / 0.4848),
        (0.678, 0.5, 0.95 * 0.5 / 0.678),
        (0.679, 0.5, 0.70),
        (0.5, 0.4, 0.76),
        (0.55, 0.4, 0.70),
        (1.0, 0.5, 0.70),
        (1.0, 0.4, 0.70),
        (math.nan, 0.5, 0.70),
    ],
)
def test_bounds(emc: float, e: float, threshold: float) -> None:
    assert emc_threshold(emc, e=e) == pytest.approx(threshold)
    assert 0.70 <= emc_threshold(emc, e=e) <= 0.98


@given(st.floats(0, 1), st.floats(0, 1))
def test_milder_disagreement_never_raises_the_threshold(a: float, b: float) -> None:
    assert emc_threshold(max(a, b)) <= emc_threshold(min(a, b))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_emc_is_the_slow_one_of_weak_against_strong(pairs: list[tuple[int, int]]) -> None:
    weak, strong = [a for a, _ in pairs], [b for _, b in pairs]
    strategy = a_strategy("emc")
    said = strategy.before_epoch(0, pool(weak, strong))
    emc = slow_emc(weak, strong, LABELS)
    assert said["emc"] == pytest.approx(1.0 if math.isnan(emc) else emc)
    assert said["threshold"] == pytest.approx(emc_threshold(emc))
    assert strategy.step(a_view(0)).told["threshold"] == pytest.approx(said["threshold"])


@given(st.permutations(range(4)), st.integers(0, 1000))
def test_costs_are_found_by_name(order: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    weak, strong = rng.integers(0, 4, 12), rng.integers(0, 4, 12)
    names = tuple(LABELS[place] for place in order)
    matrix = load_taxonomy("mikels").cost_matrix().reorder(names).matrix
    place = np.argsort(order)
    one = a_strategy("emc").before_epoch(0, pool(weak.tolist(), strong.tolist()))
    other = a_strategy("emc", a_problem(labels=names, costs=matrix)).before_epoch(
        0, pool(place[weak].tolist(), place[strong].tolist())
    )
    assert one == pytest.approx(other)


def test_the_threshold_decides() -> None:
    strategy, view = a_strategy("emc", e="emoset"), a_view(0, u=12, spread=4.0)
    sure = view.weak_logits.softmax(dim=1).amax(dim=1)
    assert strategy.step(view).weights.tolist() == (sure >= 0.95).tolist()
    # One disagreement between amusement and fear costs 8: EMC 1 / 7, and the upper bound.
    weak = [LABELS.index("amusement"), 1]
    said = strategy.before_epoch(1, pool(weak, [LABELS.index("fear"), 1]))
    assert said == {"emc": pytest.approx(1 / 7), "threshold": 0.98}
    assert strategy.step(view).weights.tolist() == (sure >= 0.98).tolist()
    # The views agree: EMC is not defined, counts as 1, and the lower bound holds.
    assert strategy.before_epoch(2, pool([1, 2], [1, 2])) == {"emc": 1.0, "threshold": 0.70}
    weights = strategy.step(view).weights
    assert weights.tolist() == (sure >= 0.70).tolist()
    assert 0 < weights.mean() < 1


def test_data_sets_differ() -> None:
    # Amusement for awe, 3: EMC 1 / 2.
    labels = pool([0, 1], [2, 1])
    assert LABELS[2] == "awe"
    thresholds = {
        e: a_strategy("emc", e=e).before_epoch(0, labels)["threshold"] for e in ("fi", "emoset")
    }
    assert thresholds == {"fi": pytest.approx(0.95), "emoset": pytest.approx(0.76)}


@pytest.mark.parametrize(
    ("given_pool", "words"),
    [
        (None, "needs the labels of the pool before each epoch"),
        (PoolLabels(torch.tensor([0, 1]), torch.tensor([0])), r"shapes \(2,\) and \(1,\)"),
        (PoolLabels(torch.tensor([]), torch.tensor([])), "with an example"),
        (PoolLabels(torch.tensor([0, 4]), torch.tensor([0, 1])), "classes from 0 to 4; expected"),
        (PoolLabels(torch.tensor([0, 1]), torch.tensor([-1, 1])), "classes from -1 to 1"),
    ],
)
def test_a_pool_that_does_not_fit_is_refused(given_pool: PoolLabels | None, words: str) -> None:
    with pytest.raises(InputError, match=words):
        a_strategy("emc").before_epoch(0, given_pool)


def test_costs_that_cannot_be_are_refused() -> None:
    problem = Problem(("awe", "fear"), torch.ones(2), 2, 4, costs=np.ones((2, 2)))
    with pytest.raises(InputError, match="costs"):
        EmcThreshold().begin(problem)
