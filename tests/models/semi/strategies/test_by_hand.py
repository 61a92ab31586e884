"""Thresholds and weights of every strategy, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import pytest
import torch

from affectlab.core.errors import InputError
from affectlab.models.semi.strategies.flexmatch import FlexMatch
from affectlab.models.semi.strategies.freematch import FreeMatch, fairness
from affectlab.models.semi.strategies.memory import Bank, Queue
from affectlab.models.semi.strategies.s2ver import Prototypes, S2ver, ambiguity_threshold
from affectlab.models.semi.strategies.softmatch import SoftMatch, gaussian_weights
from affectlab.models.semi.strategy import Problem, View

from .drawn import a_problem, a_view

TWO = ("awe", "fear")
H_OF_FOUR = -0.8 * log(0.4) - 0.2 * log(0.1)
"""Entropy of .4, .1, .4, .1."""


def two(n: int = 10, features: int = 2) -> Problem:
    """Two classes, n unlabelled examples."""
    counts = torch.tensor([1, 1])
    return Problem(TWO, counts, 2, n, polarity=(1, -1), features=features)


def saying(probabilities: list[list[float]], rows: list[int] | None = None) -> View:
    """A step whose weak views have these probabilities, in single precision."""
    said = torch.tensor(probabilities, dtype=torch.float64).log()
    u = len(said)
    unit = torch.eye(2, dtype=torch.float64)
    return View(
        step=0,
        epoch=0,
        labelled_rows=torch.tensor([0, 1]),
        targets=torch.tensor([0, 1]),
        labelled_logits=4 * unit,
        labelled_features=unit,
        rows=torch.arange(u) if rows is None else torch.tensor(rows),
        weak_logits=said,
        weak_features=unit[[0] * u],
        strong_logits=(torch.zeros(u, 2, dtype=torch.float64),) * 2,
        strong_features=(unit[[0] * u], unit[[0] * u]),
    )


def test_flexmatch_counts_what_was_confident() -> None:
    strategy = FlexMatch(tau=0.9)
    strategy.begin(two())
    assert strategy.thresholds().tolist() == [0, 0]
    # Four examples become class 0, one class 1, and one is not confident; 5 of 10 are unused.
    said = [[0.95, 0.05]] * 4 + [[0.08, 0.92], [0.8, 0.2]]
    found = strategy.step(saying(said))
    assert found.weights.tolist() == [1] * 6
    assert strategy.given.tolist() == [0, 0, 0, 0, 1, -1, -1, -1, -1, -1]
    # beta = 4 / 5 and 1 / 5; beta / (2 - beta) = 2 / 3 and 1 / 9.
    assert strategy.thresholds().tolist() == pytest.approx([0.9 * 2 / 3, 0.9 / 9])
    found = strategy.step(saying([[0.55, 0.45], [0.61, 0.39], [0.45, 0.55]], rows=[6, 7, 8]))
    assert found.weights.tolist() == [0, 1, 1]
    assert found.told["threshold"] == pytest.approx((0.6 + 0.1) / 2)
    # An example that is confident of another class changes sides: 3 and 2, still 5 unused.
    strategy.step(saying([[0.02, 0.98]], rows=[0]))
    assert strategy.thresholds().tolist() == pytest.approx([0.9 * 0.6 / 1.4, 0.9 * 0.4 / 1.6])


def test_flexmatch_without_warm_up_and_with_the_linear_mapping() -> None:
    strategy = FlexMatch(tau=0.9, warm_up=False, mapping="linear")
    strategy.begin(two())
    assert strategy.thresholds().tolist() == [0, 0]
    strategy.step(saying([[0.95, 0.05]] * 4 + [[0.05, 0.95]]))
    assert strategy.thresholds().tolist() == pytest.approx([0.9, 0.9 / 4])


def test_freematch_by_hand() -> None:
    strategy = FreeMatch(momentum=0.5, fairness=0)
    strategy.begin(two())
    found = strategy.step(saying([[0.9, 0.1], [0.55, 0.45], [0.75, 0.25], [0.4, 0.6]]))
    # Confidence .7 on average, so tau = (.5 + .7) / 2; means (.65, .35), so p = (.575, .425).
    tau, mean = 0.6, [0.575, 0.425]
    assert strategy.confidence.item() == pytest.approx(tau)
    assert strategy.mean.tolist() == pytest.approx(mean)
    assert strategy.histogram.tolist() == pytest.approx([0.625, 0.375])
    assert strategy.thresholds().tolist() == pytest.approx([tau, tau * 0.425 / 0.575])
    assert found.weights.tolist() == [1, 0, 1, 1]
    assert found.extra is None


def test_fairness_by_hand() -> None:
    said = torch.tensor([[0.8, 0.2], [0.6, 0.4], [0.1, 0.9], [0.5, 0.5]], dtype=torch.float64)
    weights = torch.tensor([1.0, 1.0, 1.0, 0.0])
    mean, histogram = torch.tensor([0.6, 0.4]), torch.tensor([0.75, 0.25])
    # a: .8 and 1.6; b: (1.5 / 3) / (2 / 3) = .75, (1.5 / 3) / (1 / 3) = 1.5.
    wanted = log(1 / 3) / 3 + log(2 / 3) * 2 / 3
    assert fairness(said.log(), weights, mean, histogram).item() == pytest.approx(wanted)
    # A class that nobody guesses is left out, and the other's share is then 1.
    assert fairness(said[:2].log(), weights[:2], mean, histogram).item() == pytest.approx(0)
    assert fairness(said.log(), torch.zeros(4), mean, histogram).item() == 0


def test_softmatch_by_hand() -> None:
    strategy = SoftMatch(momentum=0.5, align=False)
    strategy.begin(two())
    found = strategy.step(saying([[0.9, 0.1], [0.7, 0.3]]))
    # Centre (.5 + .8) / 2; variance (1 + .02) / 2.
    assert strategy.centre.item() == pytest.approx(0.65)
    assert strategy.variance.item() == pytest.approx(0.51)
    assert found.weights.tolist() == [1, 1]
    found = strategy.step(saying([[0.5, 0.5], [0.3, 0.7]]))
    centre, variance = (0.65 + 0.6) / 2, (0.51 + 0.02) / 2
    assert found.told["threshold"] == pytest.approx(centre)
    low = exp(-((centre - 0.5) ** 2) / (2 * variance / 4))
    assert found.weights.tolist() == pytest.approx([low, 1])
    assert found.targets.tolist() == [[1, 0], [0, 1]]


def test_softmatch_weighs_aligned_predictions_and_labels_those_that_are_not() -> None:
    strategy = SoftMatch(momentum=0.0)
    strategy.begin(two())
    found = strategy.step(saying([[0.9, 0.1], [0.7, 0.3]]))
    # The mean is (.8, .2): 1.125 to .5, and .875 to 1.5.
    sure = [1.125 / 1.625, 1.5 / 2.375]
    mean = sum(sure) / 2
    variance = sum((one - mean) ** 2 for one in sure)
    weights = [1.0, exp(-((sure[1] - mean) ** 2) / (2 * variance / 4))]
    assert found.weights.tolist() == pytest.approx(weights, rel=1e-4)
    assert found.targets.tolist() == [[1, 0], [1, 0]]


def test_a_gaussian_without_width_is_a_step() -> None:
    sure = torch.tensor([0.5, 0.6, 0.7])
    weights = gaussian_weights(sure, torch.tensor(0.6), torch.tensor(0.0), 2.0)
    assert weights.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("labels", "same", "wanted"),
    [
        # Certain: H = 0, kappa = 1, theta = 1: .7 + .3 is cut at .95.
        ([1.0, 0.0, 0.0, 0.0], [1, 0, 1, 0], 0.95),
        # Even over four: H = log 4, kappa = 1 / 2: theta = 1 / 1.193, and .951 is cut.
        ([0.25] * 4, [1, 0, 1, 0], 0.95),
        # Even over two of each side and certain of none: kappa = .8.
        ([0.4, 0.1, 0.4, 0.1], [1, 0, 1, 0], 0.7 + 0.3 / ((1 + H_OF_FOUR) * 0.8)),
        # All on one side and even there: kappa = 1.
        ([0.5, 0.0, 0.5, 0.0], [1, 0, 1, 0], 0.7 + 0.3 / (1 + log(2))),
        # Little of the guessed polarity: theta is cut at 1.
        ([0.3, 0.3, 0.1, 0.3], [0, 0, 1, 0], 0.95),
        # Nothing at all of it.
        ([0.5, 0.5, 0.0, 0.0], [0, 0, 1, 0], 0.95),
    ],
)
def test_the_threshold_of_s2ver_by_hand(
    labels: list[float], same: list[int], wanted: float
) -> None:
    rows = torch.tensor([labels], dtype=torch.float64)
    found = ambiguity_threshold(rows, torch.tensor([same], dtype=torch.float64))
    assert found.item() == pytest.approx(wanted)


def test_prototypes_move_with_the_means_of_their_class() -> None:
    known = Prototypes(3, 2, momentum=0.9, scale=0.5)
    features = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    labels, use = torch.tensor([0, 0, 1, 2]), torch.tensor([True, True, True, False])
    known.update(features, labels, use)
    centres = [[0.05, 0.05], [0.1, 0.0], [0.0, 0.0]]
    assert [pytest.approx(row) for row in centres] == known.centres.tolist()
    # Distances 0, sqrt(.005) twice and .1; the relation was 1 / 3 before.
    near, far = exp(-(0.005**0.5) / 0.5), exp(-0.1 / 0.5)
    first = [1 / (1 + 2 * near), near / (1 + 2 * near), near / (1 + 2 * near)]
    second = [near, 1, far]
    assert known.relation[0].tolist() == pytest.approx([0.3 + 0.1 * one for one in first])
    assert known.relation[1].tolist() == pytest.approx(
        [0.3 + 0.1 * one / sum(second) for one in second]
    )
    assert known.relation.sum(dim=1).tolist() == pytest.approx([1, 1, 1])
    nearness = known.nearness(torch.tensor([[1.0, 0.0]]), 0.1)
    parts = [exp(0.5), exp(1.0), 1.0]
    assert nearness[0].tolist() == pytest.approx([part / sum(parts) for part in parts])


def test_a_queue_gives_up_the_oldest() -> None:
    latest = Queue(3, 1)
    assert latest.mean().tolist() == [0]
    for batch, kept in (([1.0, 2.0], {1, 2}), ([3.0, 4.0], {2, 3, 4}), ([5.0], {3, 4, 5})):
        latest.push(torch.tensor(batch)[:, None])
        assert set(latest.kept[latest.filled()].flatten().tolist()) == kept
        assert latest.mean().item() == pytest.approx(sum(kept) / len(kept))
    latest.push(torch.arange(6.0, 16.0)[:, None])
    assert set(latest.kept.flatten().tolist()) == {13, 14, 15}


def test_a_queue_that_no_machine_could_hold_is_refused() -> None:
    with pytest.raises(InputError, match="10,000,000,000,000 rows of 64 numbers"):
        Queue(10**13, 64)


def test_a_bank_takes_the_first_feature_as_it_is() -> None:
    bank = Bank(2, 2, momentum=0.75)
    row, label = torch.tensor([1]), torch.tensor([3])
    bank.update(row, torch.tensor([[0.0, 1.0]]), label)
    assert bank.features.tolist() == [[0, 0], [0, 1]]
    bank.update(row, torch.tensor([[1.0, 0.0]]), label)
    length = (0.75**2 + 0.25**2) ** 0.5
    assert bank.features[1].tolist() == pytest.approx([0.25 / length, 0.75 / length])
    assert bank.seen.tolist() == [False, True]
    assert bank.labels.tolist() == [0, 3]


def test_neutral_labels_are_a_polarity_of_their_own() -> None:
    strategy = S2ver()
    strategy.begin(a_problem(polarity=(1, 0, 0, -1)))
    same = [[1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]]
    assert strategy.same.tolist() == same


def test_s2ver_learns_prototypes_from_what_the_network_gets_right() -> None:
    right, wrong = S2ver(), S2ver()
    for strategy in (right, wrong):
        strategy.begin(a_problem())
    view = a_view(0)
    truth = torch.nn.functional.one_hot(view.targets, 4).double()
    right.step(replace(view, labelled_logits=truth))
    wrong.step(replace(view, labelled_logits=-truth))
    assert right.prototypes.centres.abs().sum() > 0
    assert wrong.prototypes.centres.abs().sum() == 0


def test_a_bank_that_never_moves_keeps_the_first_feature() -> None:
    bank = Bank(1, 2, momentum=1.0)
    row, label = torch.tensor([0]), torch.tensor([0])
    for feature in ([0.6, 0.8], [1.0, 0.0]):
        bank.update(row, torch.tensor([feature]), label)
        assert bank.features[0].tolist() == pytest.approx([0.6, 0.8])
