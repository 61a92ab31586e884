"""Contrast of two graphs of examples: one by pseudo-labels, one by features."""

from __future__ import annotations

from torch import Tensor

from affectlab.models.semi._tensors import full, normalised, product

__all__ = ["graph_contrast", "label_graph"]


def label_graph(labels: Tensor, threshold: float) -> Tensor:
    r"""Join examples whose pseudo-labels agree.

    .. math:: W_{ij} = 1 \text{ if } i = j, \quad q_i \cdot q_j \text{ if it is at least } T,
        \quad 0 \text{ otherwise}

    Parameters
    ----------
    labels
        Pseudo-labels q, shape (u, C).
    threshold
        T.

    Returns
    -------
    Tensor
        Shape (u, u), rows sum to 1.

    Examples
    --------
    >>> import torch
    >>> label_graph(torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 0.8).tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """
    joined = product(labels, labels.T)
    joined.fill_diagonal_(1.0)
    return normalised(joined * (joined >= threshold))


def graph_contrast(one: Tensor, other: Tensor, graph: Tensor, temperature: float) -> Tensor:
    r"""Ask features of two views to be alike where the graph joins them.

    .. math:: \ell = -\frac1u \sum_{ij} W_{ij} \log
        \frac{e^{z_i \cdot z'_j / t}}{\sum_k e^{z_i \cdot z'_k / t}}

    Parameters
    ----------
    one, other
        Features z and z' of two strongly augmented views, shape (u, F), of length 1.
    graph
        W of :func:`label_graph`, shape (u, u).
    temperature
        t.

    Returns
    -------
    Tensor
        One number, at least 0.

    Examples
    --------
    >>> import torch
    >>> z, same = torch.eye(2), torch.eye(2)
    >>> bool(graph_contrast(z, z, same, 0.2) < graph_contrast(z, z.flip(0), same, 0.2))
    True
    """
    told = product(full(one), full(other).T) / temperature
    loss: Tensor = -(graph.to(told.dtype) * told.log_softmax(dim=1)).sum(dim=1).mean()
    return loss
