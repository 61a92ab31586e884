"""FreeMatch: thresholds that follow the network's own confidence, and a fairness term."""

from __future__ import annotations

import torch
from torch import Tensor

from affectlab.models.semi.strategies.tensors import (
    check_at_least,
    check_share,
    full,
    gliding,
    hard,
    normalised,
    softmax,
)
from affectlab.models.semi.strategy import Problem, Step, Strategy, View

__all__ = ["FreeMatch", "fairness"]


class FreeMatch(Strategy):
    r"""Let the threshold follow the mean confidence, scaled for each class.

    With probabilities p of the weak views of a step, of which the means glide,

    .. math:: \tau \leftarrow m \tau + (1 - m) \frac1u \sum_i \max_c p_{ic}, \quad
        \tilde p \leftarrow m \tilde p + (1 - m) \frac1u \sum_i p_i, \quad
        \tilde h \leftarrow m \tilde h + (1 - m) \frac1u \sum_i \mathbf 1_{\arg\max p_i},

    all 1 / C at first, the threshold of class c is
    :math:`\tau(c) = \tau\,\tilde p(c) / \max_{c'} \tilde p(c')`, and a weak view counts where
    :math:`\max_c p_c \ge \tau(\arg\max_c p_c)`. :func:`fairness` is added, times `fairness`.

    Parameters
    ----------
    momentum
        m; .999 in the source.
    fairness
        Weight of the fairness term; .05 or .01 in the source, by data set.

    Notes
    -----
    The three means take in a step before its examples are judged, as in the published code.
    They remember some 1 / (1 - m) steps: a run of a few hundred wants a smaller momentum, such as
    .9, or its thresholds stay near 1 / C, where nearly everything counts.

    References
    ----------
    Wang et al. (2023), FreeMatch: self-adaptive thresholding for semi-supervised learning,
    section 4.

    Examples
    --------
    >>> FreeMatch().settings()
    {'momentum': 0.999, 'fairness': 0.05}
    """

    name = "freematch"
    confidence: Tensor
    r"""The global threshold :math:`\tau`."""
    mean: Tensor
    r"""Mean probabilities :math:`\tilde p`, shape (C,)."""
    histogram: Tensor
    r"""Shares of guessed classes :math:`\tilde h`, shape (C,)."""

    def __init__(self, momentum: float = 0.999, fairness: float = 0.05) -> None:
        super().__init__()
        self.momentum = check_share("momentum", momentum)
        self.fairness = check_at_least("fairness", fairness, 0)

    def begin(self, problem: Problem) -> None:
        """Start all means at 1 / C; see :meth:`Strategy.begin`."""
        super().begin(problem)
        even = torch.full((self.classes,), 1 / self.classes, device=problem.device)
        self.register_buffer("confidence", even[0].clone())
        self.register_buffer("mean", even.clone())
        self.register_buffer("histogram", even.clone())

    def thresholds(self) -> Tensor:
        r"""Give :math:`\tau(c)`, shape (C,)."""
        return self.confidence * self.mean / self.mean.max()

    def step(self, view: View) -> Step:
        """Count what is confident for its class; see :meth:`Strategy.step`."""
        probabilities = softmax(view.weak_logits)
        confidence, label = probabilities.max(dim=1)
        targets = hard(label, self.classes, probabilities.dtype)
        gliding(self.confidence, confidence.mean(), self.momentum)
        gliding(self.mean, probabilities.mean(dim=0), self.momentum)
        gliding(self.histogram, targets.mean(dim=0), self.momentum)
        thresholds = self.thresholds()
        weights = (confidence >= thresholds[label]).to(probabilities.dtype)
        extra = None
        if self.fairness:
            terms = [
                fairness(strong, weights, self.mean, self.histogram)
                for strong in view.strong_logits
            ]
            extra = self.fairness * torch.stack(terms).mean()
        return Step(targets, weights, extra, {"threshold": float(thresholds.mean())})


def fairness(logits: Tensor, weights: Tensor, mean: Tensor, histogram: Tensor) -> Tensor:
    r"""Ask predictions of the strong views not to favour classes beyond what is expected.

    .. math:: \ell_f = \sum_c a_c \log b_c, \qquad a \propto \tilde p / \tilde h, \quad
        b \propto \bar p / \bar h

    with :math:`\bar p` the mean prediction over the strong views that count, and :math:`\bar h` the
    shares of the classes that they guess. It is the negative cross-entropy of the source.

    Parameters
    ----------
    logits
        Of the strong views, shape (u, C).
    weights
        1 for those that count, else 0, shape (u,).
    mean, histogram
        The gliding means :math:`\tilde p` and :math:`\tilde h`, shape (C,).

    Returns
    -------
    Tensor
        One number, at most 0; 0 where nothing counts.

    Notes
    -----
    A class that no strong view guesses has no ratio, and is left out of the sum: the published
    code adds a constant there, which has no gradient.

    Examples
    --------
    >>> logits = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
    >>> even = torch.tensor([0.5, 0.5])
    >>> round(fairness(logits, torch.ones(2), even, even).item(), 4)  # log of 1 / 2
    -0.6931
    """
    said = full(logits).softmax(dim=1)
    weights = weights.to(said.dtype)
    count = weights.sum().clamp(min=1)
    guessed = hard(said.detach().argmax(dim=1), said.shape[1], said.dtype)
    bar = (weights[:, None] * said).sum(dim=0) / count
    shares = (weights[:, None] * guessed).sum(dim=0) / count
    there = shares > 0
    tiny = torch.finfo(said.dtype).tiny
    wanted = normalised(_ratio(mean.to(said.dtype), histogram.to(said.dtype)))
    found = normalised(_ratio(bar, shares)).clamp(min=tiny)
    return torch.where(there, wanted * found.log(), 0.0).sum()


def _ratio(one: Tensor, other: Tensor) -> Tensor:
    """Divide; 0 where there is nothing to divide by."""
    return torch.where(other > 0, one / torch.where(other > 0, other, 1.0), 0.0)
