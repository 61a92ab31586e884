"""Problems and steps drawn at random, for all strategies alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as nnf

from affectlab.models.semi.registry import list_strategies, load_strategy
from affectlab.models.semi.strategy import Problem, Strategy, View
from affectlab.taxonomy import load_taxonomy

LABELS = ("amusement", "anger", "awe", "fear")
"""Of Mikels' wheel, in an order of their own."""
POLARITY = (1, -1, 1, -1)
NAMES = list_strategies()


def a_problem(**changed: Any) -> Problem:
    """Four labels, six labelled examples, twenty others, five features."""
    costs = load_taxonomy("mikels").cost_matrix().reorder(LABELS).matrix
    own: dict[str, Any] = {
        "labels": LABELS,
        "counts": torch.tensor([2, 2, 1, 1]),
        "n_labelled": 6,
        "n_unlabelled": 20,
        "costs": costs,
        "polarity": POLARITY,
        "features": 5,
    }
    return Problem(**{**own, **changed})


def a_strategy(name: str, problem: Problem | None = None, **settings: Any) -> Strategy:
    """A strategy that has begun."""
    strategy = load_strategy(name, **settings)
    strategy.begin(problem or a_problem())
    return strategy


def a_view(
    seed: int,
    *,
    b: int = 4,
    u: int = 7,
    views: int = 2,
    spread: float = 3.0,
    dtype: torch.dtype = torch.float64,
    device: str = "cpu",
    step: int = 0,
) -> View:
    """One step; rows differ, and features have length 1."""
    rng = np.random.default_rng(seed)
    classes, width, labelled, pool = len(LABELS), 5, 6, 20

    def numbers(n: int, m: int, by: float = 1.0) -> Tensor:
        return torch.tensor(rng.normal(0, by, (n, m)), dtype=dtype, device=device)

    def unit(n: int) -> Tensor:
        return nnf.normalize(numbers(n, width), dim=1)

    def whole(values: Any) -> Tensor:
        return torch.tensor(values, dtype=torch.int64, device=device)

    rows, truth = rng.permutation(labelled)[:b], np.array([0, 0, 1, 1, 2, 3])
    return View(
        step=step,
        epoch=0,
        labelled_rows=whole(rows),
        targets=whole(truth[rows]),
        labelled_logits=numbers(b, classes, spread).requires_grad_(),
        labelled_features=unit(b).requires_grad_(),
        rows=whole(rng.permutation(pool)[:u]),
        weak_logits=numbers(u, classes, spread),
        weak_features=unit(u),
        strong_logits=tuple(numbers(u, classes, spread).requires_grad_() for _ in range(views)),
        strong_features=tuple(unit(u).requires_grad_() for _ in range(views)),
    )


def reordered(view: View, order: Tensor) -> View:
    """The same step with unlabelled examples in another order."""
    assert view.weak_features is not None
    return replace(
        view,
        rows=view.rows[order],
        weak_logits=view.weak_logits[order],
        weak_features=view.weak_features[order],
        strong_logits=tuple(one[order] for one in view.strong_logits),
        strong_features=tuple(one[order] for one in view.strong_features),
    )
