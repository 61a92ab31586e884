"""Losses by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from torch import nn

from affectlab.errors import unknown_name
from affectlab.models.losses import EmotionRankLoss, Order, SoftLabelLoss, Ties
from affectlab.models.vision._training import LossName
from affectlab.taxonomy import CostMatrix, Taxonomy

__all__ = ["loss_of"]


def loss_of(
    loss: LossName | nn.Module,
    costs: CostMatrix | Taxonomy,
    labels: Sequence[str],
    *,
    lam: float,
    order: Order,
    ties: Ties,
    temperature: float,
    seed: int,
) -> tuple[nn.Module, dict[str, Any]]:
    """Make a loss, and say which it is, in plain values.

    Parameters
    ----------
    loss
        A name, or a module, which is given back.
    lam, order, ties, seed
        Of :class:`EmotionRankLoss`.
    temperature
        Of :class:`SoftLabelLoss`.

    Raises
    ------
    InputError
        When the name is not known, or the labels have no costs and the loss needs them.
    """
    if isinstance(loss, nn.Module):
        return loss, {"loss": type(loss).__name__}
    if loss == "cross-entropy":
        return nn.CrossEntropyLoss(), {"loss": loss}
    if loss == "rank":
        made = EmotionRankLoss(costs, labels, lam=lam, order=order, ties=ties, seed=seed)
        return made, {"loss": loss, "lam": float(lam), "order": order, "ties": ties}
    if loss == "soft":
        soft = SoftLabelLoss(costs, labels, temperature=temperature)
        return soft, {"loss": loss, "temperature": float(temperature)}
    raise unknown_name("loss", str(loss), get_args(LossName))
