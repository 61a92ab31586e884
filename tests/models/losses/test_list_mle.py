"""ListMLE against a slow twin, by hand, and its gradients; the losses that hold it."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import exp, log

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch.nn import functional as nnf

from affectlab.core.errors import InputError
from affectlab.models.losses import EmotionRankLoss, SoftLabelLoss, list_mle
from affectlab.models.losses.costs import rank_relevance

WHEEL = ["amusement", "contentment", "awe", "excitement", "fear", "sadness", "disgust", "anger"]


def twin(scores: np.ndarray, order: tuple[int, ...]) -> float:
    """The loss of one ranking, one label after another."""
    left, total = list(order), 0.0
    for label in order:
        total += np.logaddexp.reduce([scores[other] for other in left]) - scores[label]
        left.remove(label)
    return float(total)


def orders(relevance: np.ndarray) -> list[tuple[int, ...]]:
    """All rankings that relevance allows."""
    return [
        order
        for order in permutations(range(len(relevance)))
        if all(relevance[a] >= relevance[b] for a, b in pairwise(order))
    ]


def random_case(seed: int, n: int, c: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 3, (n, c)), rng.integers(0, levels, (n, c)).astype(float)


def test_by_hand() -> None:
    x = torch.tensor([[0.0, log(2.0), log(4.0)]], dtype=torch.float64)
    falling = torch.tensor([[2.0, 1.0, 0.0]], dtype=torch.float64)
    # The first of 1, 2, 4 is drawn first, then the first of 2, 4.
    assert list_mle(x, falling).item() == pytest.approx(-log(1 / 7) - log(2 / 6))
    assert list_mle(x, -falling).item() == pytest.approx(-log(4 / 7) - log(2 / 3))
    # The last two tie: the mean of 2 and 4 weighs 3 when one of them is left.
    tied = torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)
    averaged = list_mle(x, tied, ties="averaged").item()
    assert averaged == pytest.approx(-log(1 / 7) + log(6 / 2) + log(3 / 4))
    drawn = {round(list_mle(x, tied).item(), 9) for _ in range(40)}
    assert drawn == {round(-log(1 / 7) - log(part), 9) for part in (2 / 6, 4 / 6)}


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 6), st.sampled_from(["random", "averaged"]))
def test_without_ties_both_ways_are_the_slow_twin(seed: int, c: int, ties: str) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 5, (4, c))
    relevance = np.array([rng.permutation(c) for _ in range(4)], dtype=float)
    wanted = [twin(x, tuple(np.argsort(-r))) for x, r in zip(scores, relevance, strict=True)]
    given_as = torch.tensor(scores), torch.tensor(relevance)
    found = list_mle(*given_as, ties=ties, reduction="none")  # type: ignore[arg-type]
    assert np.allclose(found.numpy(), wanted)
    assert list_mle(*given_as, reduction="sum").item() == pytest.approx(sum(wanted))
    assert list_mle(*given_as).item() == pytest.approx(np.mean(wanted))


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 3))
def test_ties_are_broken_within_what_relevance_allows(seed: int, c: int, levels: int) -> None:
    scores, relevance = random_case(seed, 3, c, levels)
    torch.manual_seed(seed)
    drawn = list_mle(torch.tensor(scores), torch.tensor(relevance), reduction="none").numpy()
    averaged = list_mle(
        torch.tensor(scores), torch.tensor(relevance), ties="averaged", reduction="none"
    ).numpy()
    for row in range(3):
        allowed = np.array([twin(scores[row], order) for order in orders(relevance[row])])
        assert np.isclose(allowed, drawn[row]).any()
        # Means under a logarithm: never below the mean of the logarithms, nor above the largest.
        assert allowed.mean() - 1e-9 <= averaged[row] <= allowed.max() + 1e-9


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 3))
def test_averaged_ties_against_a_slow_twin(seed: int, c: int, levels: int) -> None:
    scores, relevance = random_case(seed, 1, c, levels)
    x, r = scores[0], relevance[0]
    wanted = 0.0
    for level in np.unique(r):
        tied, below = np.exp(x[r == level]).sum(), np.exp(x[r < level]).sum()
        m = int((r == level).sum())
        wanted += sum(log(below + tied * (1 - place / m)) for place in range(m))
    found = list_mle(torch.tensor(scores), torch.tensor(relevance), ties="averaged").item()
    assert found == pytest.approx(wanted - x.sum(), abs=1e-9)
    # Tied labels are alike: their order among the columns changes nothing.
    moved = np.random.default_rng(seed).permutation(c)
    again = list_mle(
        torch.tensor(scores[:, moved]), torch.tensor(relevance[:, moved]), ties="averaged"
    )
    assert again.item() == pytest.approx(found)


def test_random_ties_are_fair_and_follow_the_generator() -> None:
    scores = torch.tensor([[0.0, 1.0, 3.0]], dtype=torch.float64).expand(6000, 3)
    relevance = torch.zeros(6000, 3)
    runs = [
        list_mle(scores, relevance, generator=torch.Generator().manual_seed(seed), reduction="none")
        for seed in (1, 1, 2)
    ]
    assert torch.equal(runs[0], runs[1])
    assert not torch.equal(runs[0], runs[2])
    mean = np.mean([twin(scores[0].numpy(), order) for order in permutations(range(3))])
    assert runs[0].mean().item() == pytest.approx(mean, abs=0.06)


@pytest.mark.parametrize("ties", ["random", "averaged"])
def test_gradients(ties: str) -> None:
    scores, relevance = random_case(3, 4, 5, 3)
    x = torch.tensor(scores, requires_grad=True)

    def loss(given_scores: torch.Tensor) -> torch.Tensor:
        order = torch.Generator().manual_seed(7)
        return list_mle(
            given_scores,
            torch.tensor(relevance),
            ties=ties,  # type: ignore[arg-type]
            generator=order,
            reduction="none",
        )

    assert torch.autograd.gradcheck(loss, (x,))


@pytest.mark.parametrize("ties", ["random", "averaged"])
def test_gradients_of_the_modules(ties: str) -> None:
    target = torch.tensor([0, 7, 3])
    x = torch.randn(3, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    x.requires_grad_()
    rank = EmotionRankLoss("mikels", WHEEL, ties=ties).double()  # type: ignore[arg-type]
    soft = SoftLabelLoss("mikels", WHEEL).double()
    fixed = torch.Generator()
    assert torch.autograd.gradcheck(lambda s: rank(s, target, fixed.manual_seed(3)), (x,))
    assert torch.autograd.gradcheck(lambda s: soft(s, target), (x,))


@pytest.mark.parametrize("ties", ["random", "averaged"])
def test_large_scores_stay_finite(ties: str) -> None:
    x = torch.tensor([[1e4, -1e4, 0.0], [-3e38, 3e38, 0.0]], requires_grad=True)
    found = list_mle(
        x[:1],
        torch.tensor([[0.0, 1.0, 1.0]]),
        ties=ties,  # type: ignore[arg-type]
    )
    torch.autograd.backward(found)
    assert torch.isfinite(found)
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()


def test_half_precision_is_computed_in_single() -> None:
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(0)).bfloat16()
    table = torch.tensor(rank_relevance("mikels", WHEEL), dtype=torch.float32)
    target = torch.arange(5)
    found = list_mle(x, table, target, ties="averaged")
    assert found.dtype == torch.float32
    assert torch.equal(found, list_mle(x.float(), table, target, ties="averaged"))


@pytest.mark.parametrize("ties", ["random", "averaged"])
def test_a_table_and_targets_choose_rows(ties: str) -> None:
    x = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
    table = torch.tensor(rank_relevance("mikels", WHEEL, "reversed"), dtype=torch.float32)
    target = torch.tensor([0, 5, 5, 2, 7, 1])

    def run(*given_as: torch.Tensor) -> torch.Tensor:
        order = torch.Generator().manual_seed(4)
        return list_mle(x, *given_as, ties=ties, generator=order)  # type: ignore[arg-type]

    assert torch.equal(run(table, target), run(table[target]))


@pytest.mark.parametrize("ties", ["random", "averaged"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_the_rank_loss_is_the_sum_of_both(ties: str, reduction: str) -> None:
    x = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
    target = torch.tensor([0, 5, 5, 2, 7, 1])
    options = {"ties": ties, "reduction": reduction}
    own = nnf.cross_entropy(x, target, reduction=reduction)
    fixed = torch.Generator()
    found = EmotionRankLoss("mikels", WHEEL, lam=0.2, **options)(  # type: ignore[arg-type]
        x, target, fixed.manual_seed(2)
    )
    table = torch.tensor(rank_relevance("mikels", WHEEL), dtype=torch.float32)
    ranked = list_mle(x, table, target, generator=fixed.manual_seed(2), **options)  # type: ignore[arg-type]
    assert torch.allclose(found, own + 0.2 * ranked)
    # Nothing is added at 0, nor is a random number drawn.
    before = torch.random.get_rng_state()
    alone = EmotionRankLoss("mikels", WHEEL, lam=0, **options)(x, target)  # type: ignore[arg-type]
    assert torch.equal(alone, own)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_right_order_is_learned_and_not_its_reverse() -> None:
    """Descending the loss of one label puts all scores into the order of the wheel."""
    target = torch.zeros(1, dtype=torch.int64)
    for order in ("true", "reversed"):
        x = torch.zeros(1, 8, requires_grad=True)
        loss = EmotionRankLoss("mikels", WHEEL, order=order, ties="averaged")
        descent = torch.optim.SGD([x], lr=0.5)
        for _ in range(100):
            descent.zero_grad()
            loss(x, target).backward()
            descent.step()
        wanted = rank_relevance("mikels", WHEEL, order)[0]
        assert np.array_equal(np.argsort(-x.detach().numpy()[0]), np.argsort(-wanted))


def test_a_soft_loss_at_low_temperature_is_cross_entropy() -> None:
    x = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
    target = torch.tensor([0, 5, 5, 2, 7, 1])
    found = SoftLabelLoss("mikels", WHEEL, temperature=0.01)(x, target)
    assert torch.allclose(found, nnf.cross_entropy(x, target))
    soft = SoftLabelLoss("mikels", WHEEL, temperature=2.0, reduction="none")(x, target)
    costs = 8 - rank_relevance("mikels", WHEEL)[target.numpy()]
    share = np.array([[exp(-w / 2) for w in row] for row in costs])
    share /= share.sum(axis=1, keepdims=True)
    wanted = -(share * torch.log_softmax(x.double(), 1).numpy()).sum(axis=1)
    assert np.allclose(soft.numpy(), wanted, rtol=1e-5)


def test_modules_move_and_save_nothing() -> None:
    loss = EmotionRankLoss("mikels", WHEEL, ties="averaged").double()
    assert loss.relevance.dtype == loss.weights.dtype == torch.float64
    assert not loss.state_dict()
    assert "lam=1, order=true, ties=averaged" in repr(loss)
    assert "temperature=0.5" in repr(SoftLabelLoss("mikels", WHEEL, temperature=0.5))


def test_bad_input() -> None:
    x, table = torch.zeros(2, 3), torch.zeros(3, 3)
    target = torch.tensor([0, 1])
    for given_as, said in [
        ((torch.zeros(3), table), "logits"),
        ((torch.zeros(0, 3), torch.zeros(0, 3)), "with a sample"),
        ((x.long(), table), "real numbers"),
        ((x, table), "a row for each sample"),
        ((x, torch.zeros(2, 3), target), "a row for each true label"),
        ((x, table, torch.tensor([0])), "target"),
        ((x, table, torch.tensor([0.0, 1.0])), "whole numbers"),
    ]:
        with pytest.raises(InputError, match=said):
            list_mle(*given_as)
    with pytest.raises(InputError, match="unknown way with ties"):
        list_mle(x, table, target, ties="first")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown reduction"):
        list_mle(x, table, target, reduction="men")  # type: ignore[arg-type]
    for lam in (-0.1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="lam"):
            EmotionRankLoss("mikels", WHEEL, lam=lam)
