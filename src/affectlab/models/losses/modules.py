"""Losses as modules, for any training loop."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as nnf

from affectlab.core.errors import InputError
from affectlab.models.losses.costs import Costs, Order, rank_relevance, soft_labels
from affectlab.models.losses.ranking import (
    Reduction,
    Ties,
    averaged_weights,
    check_choices,
    list_mle,
    list_mle_averaged,
    reduced,
)

__all__ = ["EmotionRankLoss", "SoftLabelLoss"]


class EmotionRankLoss(nn.Module):
    """Cross-entropy plus `lam` times ListMLE on the order that emotional distance gives.

    Parameters
    ----------
    costs
        A cost matrix, or a taxonomy, its name or its file.
    labels
        The C labels, in the order of the columns of logits. Costs are found by name.
    lam
        Weight of ListMLE, at least 0; at 0 the loss is cross-entropy itself, bit by bit.
    order, seed
        As for :func:`rank_relevance`.
    ties, reduction
        As for :func:`list_mle`.

    Raises
    ------
    InputError
        When a label is not known or has no costs, `lam` is negative, or a choice is not known.

    References
    ----------
    Zhao et al. (2024), To Err Like Human: `lam` is 1 in sections 4.2.2 and 4.5, .2 for the user
    study.

    Examples
    --------
    >>> loss = EmotionRankLoss("mikels", ["awe", "anger", "excitement"])
    >>> near, far = torch.tensor([[1.0, 0.0, 2.0]]), torch.tensor([[1.0, 2.0, 0.0]])
    >>> truth = torch.tensor([0])
    >>> bool(loss(near, truth) < loss(far, truth))
    True
    """

    relevance: Tensor
    """Shape (C, C)."""
    weights: Tensor
    """Logarithms, shape (C, C, C); empty where ties are random."""

    def __init__(
        self,
        costs: Costs,
        labels: Sequence[str],
        *,
        lam: float = 1.0,
        order: Order = "true",
        ties: Ties = "random",
        seed: int = 0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__()
        check_choices(ties, reduction)
        if not (isinstance(lam, int | float) and 0 <= lam < math.inf):
            raise InputError(f"lam = {lam}: expected a finite number of at least 0")
        self.lam, self.ties, self.reduction = float(lam), ties, reduction
        self.labels, self.order = tuple(labels), order
        table = torch.tensor(
            rank_relevance(costs, labels, order, seed=seed), dtype=torch.get_default_dtype()
        )
        averaged = averaged_weights(table, table.dtype) if ties == "averaged" else torch.empty(0)
        # Made anew from the settings; no part of what a network that holds the loss saves.
        self.register_buffer("relevance", table, persistent=False)
        self.register_buffer("weights", averaged, persistent=False)

    def extra_repr(self) -> str:
        """Say the settings."""
        return f"{', '.join(self.labels)}; lam={self.lam:g}, order={self.order}, ties={self.ties}"

    def forward(
        self, logits: Tensor, target: Tensor, generator: torch.Generator | None = None
    ) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        logits
            Shape (n, C).
        target
            True labels, whole numbers of shape (n,).
        generator
            Draws the order of ties; torch's own by default.
        """
        own: Tensor = nnf.cross_entropy(logits, target, reduction=self.reduction)
        if not self.lam:
            return own
        if self.ties == "random":
            ranked = list_mle(
                logits,
                self.relevance,
                target,
                generator=generator,
                reduction=self.reduction,
            )
        else:
            half = logits.dtype in (torch.float16, torch.bfloat16)
            scores = logits.float() if half else logits
            ranked = list_mle_averaged(scores, self.weights[target], self.reduction)
        return own + self.lam * ranked


class SoftLabelLoss(nn.Module):
    """Cross-entropy with targets that give mild mistakes a share; see :func:`soft_labels`.

    Parameters
    ----------
    costs, labels, temperature
        As for :func:`soft_labels`.
    reduction
        ``"mean"`` or ``"sum"`` over samples, or ``"none"``.

    Raises
    ------
    InputError
        As :func:`soft_labels`.

    Examples
    --------
    >>> loss = SoftLabelLoss("mikels", ["awe", "anger"], temperature=0.1)
    >>> round(loss(torch.tensor([[0.0, 0.0]]), torch.tensor([1])).item(), 4)
    0.6931
    """

    shares: Tensor
    """Shape (C, C)."""

    def __init__(
        self,
        costs: Costs,
        labels: Sequence[str],
        *,
        temperature: float = 1.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__()
        check_choices("random", reduction)
        self.reduction = reduction
        self.labels, self.temperature = tuple(labels), float(temperature)
        table = torch.tensor(
            soft_labels(costs, labels, temperature), dtype=torch.get_default_dtype()
        )
        self.register_buffer("shares", table, persistent=False)

    def extra_repr(self) -> str:
        """Say the settings."""
        return f"{', '.join(self.labels)}; temperature={self.temperature:g}"

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of logits, shape (n, C), for true labels, shape (n,)."""
        half = logits.dtype in (torch.float16, torch.bfloat16)
        said = torch.log_softmax(logits.float() if half else logits, dim=1)
        return reduced(-(self.shares[target] * said).sum(dim=1), self.reduction)
