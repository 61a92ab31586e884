"""Distributions of answers that depend on who answers, fitted by maximum penalised likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor
from torch.nn import functional as nnf

from affectlab.core.types import Floats, Ints

__all__ = ["AVERAGED", "HOWS", "Answered", "Shape", "Weights", "fit_network", "log_probabilities"]

AVERAGED = ("majority", "soft")
"""Ways of learning that do not ask who answered."""
HOWS = (*AVERAGED, "crowd_layer", "rater_embedding", "per_rater")
"""Ways of learning from raters."""
_START = 0.1
"""Standard deviation of weights that cannot start at 0, where nothing would pull at them."""
_CHANGE = 1e-7
"""Relative change of the mean loss at which fitting stops."""
_SLOPE = 1e-5
"""Largest entry of the gradient of the mean loss at which fitting stops."""

Weights = Mapping[str, Floats]
"""Weights by name."""


@dataclass(frozen=True)
class Shape:
    """What is predicted from what."""

    how: str
    n_features: int
    n_labels: int
    n_classes: int
    n_raters: int
    hidden: int
    """Units of a hidden layer; 0: none."""
    width: int
    """Numbers in the embedding of a rater."""

    @property
    def of_raters(self) -> bool:
        """Whether raters have weights of their own."""
        return self.how not in AVERAGED


@dataclass(frozen=True, eq=False)
class Answered:
    """Answers, sorted by rater."""

    item: Ints
    """Row of the features, shape (n,)."""
    rater: Ints
    """Place of the rater, shape (n,); rising."""
    code: Ints
    """Place of the class, shape (n, labels); -1 where a label was not answered."""


def fit_network(
    shape: Shape,
    features: Floats,
    answers: Answered,
    *,
    penalty: float,
    shrinkage: float,
    max_iter: int,
    seed: int,
) -> tuple[Weights, int]:
    """Fit the weights; give them, and the number of steps.

    Parameters
    ----------
    features
        Shape (items, features).
    """
    counts = _counts(answers, len(features), shape)
    if shape.how == "majority":
        most = counts == counts.max(axis=2, keepdims=True)
        # Each stimulus counts by its answers, as in all other ways; ties share.
        counts = most / most.sum(axis=2, keepdims=True) * counts.sum(axis=2, keepdims=True)
    x, target = torch.from_numpy(features), torch.from_numpy(counts)
    item, rater = torch.from_numpy(answers.item), torch.from_numpy(answers.rater)
    code = torch.from_numpy(answers.code)
    known = code >= 0
    place = code.clamp(min=0)[..., None]
    base, start = _start(shape, counts, seed)
    sizes = [one.size for one in start.values()]

    def weights(flat: Tensor) -> dict[str, Tensor]:
        parts = zip(start.items(), torch.split(flat, sizes), strict=True)
        return {"base": base, **{name: part.reshape(one.shape) for (name, one), part in parts}}

    def loss(given: Floats) -> tuple[float, Floats]:
        flat = torch.from_numpy(given).requires_grad_()
        held = weights(flat)
        if shape.of_raters:
            found = _log_p(shape, held, x, item, rater)
            fit = -(found.gather(2, place)[..., 0] * known).sum()
        else:
            fit = -(target * _log_p(shape, held, x, None, None)).sum()
        value = (fit + _penalties(held, penalty, shrinkage)) / len(answers.item)
        (slope,) = torch.autograd.grad(value, flat)
        return float(value.detach()), slope.numpy()

    options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": _CHANGE, "gtol": _SLOPE}
    first = np.concatenate([one.ravel() for one in start.values()])
    done = minimize(loss, first, jac=True, method="L-BFGS-B", options=options)
    made = weights(torch.from_numpy(np.asarray(done.x, dtype=np.float64)))
    return {name: one.numpy() for name, one in made.items()}, int(done.nit)


def log_probabilities(
    shape: Shape, weights: Weights, features: Floats, rater: Ints | None
) -> NDArray[np.float64]:
    """Give log probabilities, shape (n, labels, classes).

    Parameters
    ----------
    rater
        Place of the rater who is asked about each row, rising; None: nobody in particular.
    """
    held = {name: torch.from_numpy(one) for name, one in weights.items()}
    row = None if rater is None else torch.arange(len(features))
    who = None if rater is None else torch.from_numpy(rater)
    with torch.no_grad():
        found: NDArray[np.float64] = _log_p(
            shape, held, torch.from_numpy(features), row, who
        ).numpy()
    return found


def _counts(answers: Answered, n_items: int, shape: Shape) -> Floats:
    """Count the answers, shape (items, labels, classes)."""
    row, label = np.nonzero(answers.code >= 0)
    place = (answers.item[row] * shape.n_labels + label) * shape.n_classes
    size = n_items * shape.n_labels * shape.n_classes
    found = np.bincount(place + answers.code[row, label], minlength=size)
    return found.reshape(n_items, shape.n_labels, shape.n_classes).astype(np.float64)


def _start(shape: Shape, counts: Floats, seed: int) -> tuple[Tensor, dict[str, Floats]]:
    """Give log shares of all answers, and the weights at which fitting starts."""
    draw = np.random.default_rng(seed)
    k, c = shape.n_labels, shape.n_classes
    inner = shape.hidden or shape.n_features
    total = counts.sum(axis=0) + 1 / c
    share = np.log(total / total.sum(axis=1, keepdims=True))
    made: dict[str, Floats] = {
        "bias": np.zeros(k * c),
        "weight": np.zeros((inner, k * c)),
    }
    if shape.hidden:
        made["hidden"] = draw.normal(0.0, 1.0, (shape.n_features + 1, shape.hidden))
        made["weight"] = draw.normal(0.0, _START, (inner, k * c))
    if shape.how == "per_rater":
        made["own"] = np.zeros((shape.n_raters, inner + 1, k * c))
    if shape.how == "rater_embedding":
        made["embedding"] = draw.normal(0.0, _START, (shape.n_raters, shape.width))
        made["directions"] = draw.normal(0.0, _START, (inner + 1, shape.width * k * c))
    if shape.how == "crowd_layer":
        made["own"] = np.zeros((shape.n_raters, k, c + 1, c))
    return torch.from_numpy(share.ravel()), made


def _penalties(weights: Mapping[str, Tensor], penalty: float, shrinkage: float) -> Tensor:
    """Normal priors: of weights that all share, and of what raters have of their own."""
    own = ("own", "embedding", "directions")
    found = torch.zeros((), dtype=torch.float64)
    for name, one in weights.items():
        if name != "base":
            found = found + 0.5 * (shrinkage if name in own else penalty) * one.square().sum()
    return found


def _log_p(
    shape: Shape,
    weights: Mapping[str, Tensor],
    x: Tensor,
    item: Tensor | None,
    rater: Tensor | None,
) -> Tensor:
    """Log probabilities of answers of raters about items; of nobody in particular without them."""
    size = shape.n_labels, shape.n_classes
    if shape.hidden:
        x = torch.tanh(_with_one(x) @ weights["hidden"])
    logits = weights["base"] + weights["bias"] + x @ weights["weight"]
    if item is not None and rater is not None:
        logits = logits[item]
        if shape.how == "crowd_layer":
            # Of log probabilities, so that without differences between raters it is soft labels.
            known = nnf.log_softmax(logits.reshape(-1, *size), dim=2)
            ones = torch.ones((*known.shape[:2], 1), dtype=known.dtype)
            turned = torch.cat([known, ones], dim=2)[:, :, None, :] @ weights["own"][rater]
            return nnf.log_softmax(known + turned[:, :, 0], dim=2)
        if shape.how == "per_rater":
            ends = torch.bincount(rater, minlength=shape.n_raters).tolist()
            rows = torch.split(_with_one(x)[item], ends)
            own = [row @ one for row, one in zip(rows, weights["own"], strict=True)]
            logits = logits + torch.cat(own)
        elif shape.how == "rater_embedding":
            turned = (_with_one(x) @ weights["directions"]).reshape(len(x), shape.width, -1)
            who = weights["embedding"][rater]
            logits = logits + torch.einsum("nw,nwk->nk", who, turned[item])
    return nnf.log_softmax(logits.reshape(-1, *size), dim=2)


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x, torch.ones((len(x), 1), dtype=x.dtype)], dim=1)
