"""ListMLE: the likelihood of a ranking, label after label, as the scores give it."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor

from affectlab.core.errors import InputError, check_choice

__all__ = [
    "Reduction",
    "Ties",
    "averaged_weights",
    "check_choices",
    "list_mle",
    "list_mle_averaged",
    "reduced",
]

Ties: TypeAlias = Literal["random", "averaged"]
Reduction: TypeAlias = Literal["mean", "sum", "none"]


def list_mle(
    logits: Tensor,
    relevance: Tensor,
    target: Tensor | None = None,
    *,
    ties: Ties = "random",
    generator: torch.Generator | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Compute how unlikely scores make the ranking that relevance asks for.

    With the labels sorted by relevance, highest first,

    .. math:: \ell = \sum_{k=1}^{C} \Big[ \log \sum_{j \ge k} e^{x_j} - x_k \Big]

    Parameters
    ----------
    logits
        Scores x, shape (n, C).
    relevance
        Shape (n, C), one row per sample; or, with `target`, a table of shape (C, C) with one row
        per true label, such as that of :func:`rank_relevance`. Only the order within rows counts.
    target
        True labels, whole numbers of shape (n,), that choose rows of the table.
    ties
        Labels of the same relevance have no order of their own. ``"random"``: one is drawn for each
        sample anew. ``"averaged"``: nothing is random; where l of m tied labels have been placed,
        each tied label weighs 1 - l/m, its mean over all orders. The sums under the logarithm are
        then means over orders, so that the loss is that of any order where tied scores are equal,
        and never below the mean loss over orders elsewhere.
    generator
        Draws the orders; torch's own by default. On the device of `logits`.
    reduction
        ``"mean"`` or ``"sum"`` over samples, or ``"none"``: shape (n,).

    Returns
    -------
    Tensor
        At least 0; in single precision where `logits` are in half.

    Raises
    ------
    InputError
        When shapes do not fit, there is no sample, or a choice is not known.

    References
    ----------
    Xia et al. (2008), Listwise approach to learning to rank; used in Zhao et al. (2024), To Err
    Like Human, section 4.2.2 and appendix A. Averaged ties are Efron's (1977) for the partial
    likelihood, which is the same formula.

    Examples
    --------
    >>> scores = torch.tensor([[2.0, 1.0, 0.0]])
    >>> round(list_mle(scores, torch.tensor([[3.0, 2.0, 1.0]])).item(), 4)
    0.7209
    >>> round(list_mle(scores, torch.tensor([[1.0, 2.0, 3.0]])).item(), 4)
    3.7209
    """
    check_choices(ties, reduction)
    _check_shapes(logits, relevance, target)
    scores = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    if ties == "averaged":
        weights = averaged_weights(relevance, scores.dtype)
        return list_mle_averaged(scores, weights if target is None else weights[target], reduction)
    rows = relevance if target is None else relevance[target]
    return reduced(_random_ties(scores, rows, generator), reduction)


def _random_ties(scores: Tensor, relevance: Tensor, generator: torch.Generator | None) -> Tensor:
    drawn = torch.rand(scores.shape, generator=generator, device=scores.device)
    shuffled = drawn.argsort(dim=1)
    # A stable sort of shuffled labels leaves those of one relevance in their random order.
    ranked = relevance.gather(1, shuffled).argsort(dim=1, descending=True, stable=True)
    ordered = scores.gather(1, shuffled.gather(1, ranked))
    below = ordered.flip(1).logcumsumexp(dim=1).flip(1)
    return (below - ordered).sum(dim=1)


def averaged_weights(relevance: Tensor, dtype: torch.dtype) -> Tensor:
    """Give how much each label weighs where each is placed, ties averaged.

    Parameters
    ----------
    relevance
        Shape (n, C).

    Returns
    -------
    Tensor
        Logarithms, shape (n, C, C): entry (n, k, j) is that of label j where label k is placed, 0
        below k, ``-inf`` above it, and log(1 - l/m) for m labels of the same relevance of which k
        is number l, from 0 on.
    """
    one, other = relevance[:, :, None], relevance[:, None, :]
    tied = one == other
    before = torch.tril(tied, diagonal=-1).sum(dim=2, keepdim=True)
    left = 1 - before.to(dtype) / tied.sum(dim=2, keepdim=True)
    shares = torch.where(tied, left, (other < one).to(dtype))
    return shares.log()


def list_mle_averaged(scores: Tensor, weights: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Compute ListMLE with averaged ties, from the weights of :func:`averaged_weights`.

    Parameters
    ----------
    scores
        Shape (n, C).
    weights
        Logarithms, shape (n, C, C).
    """
    below = torch.logsumexp(scores[:, None, :] + weights, dim=2)
    return reduced((below - scores).sum(dim=1), reduction)


def reduced(losses: Tensor, reduction: Reduction) -> Tensor:
    """Make one number of the losses of samples, or leave them."""
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


def check_choices(ties: str, reduction: str) -> None:
    """Refuse names that are not known."""
    check_choice("way with ties", ties, get_args(Ties))
    check_choice("reduction", reduction, get_args(Reduction))


def _check_shapes(logits: Tensor, relevance: Tensor, target: Tensor | None) -> None:
    if logits.ndim != 2 or not logits.numel() or not logits.is_floating_point():
        raise InputError(
            f"logits: {logits.dtype} of shape {tuple(logits.shape)}; expected real numbers of "
            "shape (n, C), with a sample"
        )
    n, c = logits.shape
    wanted = (n, c) if target is None else (c, c)
    if tuple(relevance.shape) != wanted:
        raise InputError(
            f"relevance: shape {tuple(relevance.shape)}; expected {wanted}, "
            f"{'a row for each sample' if target is None else 'a row for each true label'}"
        )
    if target is not None and (tuple(target.shape) != (n,) or target.is_floating_point()):
        raise InputError(
            f"target: {target.dtype} of shape {tuple(target.shape)}; expected whole numbers of "
            f"shape {(n,)}"
        )
