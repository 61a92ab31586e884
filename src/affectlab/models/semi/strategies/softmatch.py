"""SoftMatch: every example counts, less the further its confidence lies below the mean."""

from __future__ import annotations

import torch
from torch import Tensor

from affectlab.models.semi.strategies.alignment import GlidingAlignment
from affectlab.models.semi.strategies.tensors import (
    check_at_least,
    check_flag,
    check_share,
    gliding,
    hard,
    softmax,
)
from affectlab.models.semi.strategy import Problem, Step, Strategy, View

__all__ = ["SoftMatch", "gaussian_weights"]


class SoftMatch(Strategy):
    r"""Weigh examples by a Gaussian of their confidence, cut off at its mean.

    With the confidence :math:`k_i = \max_c \mathrm{UA}(p_i)_c` of weak views that were aligned to
    the uniform distribution, of which mean and variance glide,

    .. math:: \mu \leftarrow m \mu + (1 - m)\, \bar k, \quad
        \sigma^2 \leftarrow m \sigma^2 + (1 - m) \frac{1}{u - 1} \sum_i (k_i - \bar k)^2, \quad
        w_i = \exp\!\Big(-\frac{\min(k_i - \mu, 0)^2}{2 \sigma^2 / n^2}\Big).

    The pseudo-label is the most probable class before alignment.

    Parameters
    ----------
    momentum
        m, of both and of the alignment; .999 in the source.
    n_sigma
        n, how narrow the Gaussian is, above 0; 2 in the source.
    align
        Whether confidence is that of aligned probabilities, as in the source.

    Notes
    -----
    At first :math:`\mu` is 1 / C and :math:`\sigma^2` is 1, and both take in a step before its
    examples are weighed, as in the published code. Where a step has one example its variance is
    taken as 0, which is our choice. Both remember some 1 / (1 - m) steps: a run of a few hundred
    wants a smaller momentum, such as .9, or the Gaussian stays so wide that nearly all weigh 1.

    References
    ----------
    Chen et al. (2023), SoftMatch: addressing the quantity-quality trade-off in semi-supervised
    learning, section 3.

    Examples
    --------
    >>> SoftMatch().settings()
    {'momentum': 0.999, 'n_sigma': 2.0, 'align': True}
    """

    name = "softmatch"
    centre: Tensor
    r"""Mean confidence :math:`\mu`."""
    variance: Tensor
    r"""Variance of confidence :math:`\sigma^2`."""
    alignment: GlidingAlignment

    def __init__(self, momentum: float = 0.999, n_sigma: float = 2.0, align: bool = True) -> None:
        super().__init__()
        self.momentum = check_share("momentum", momentum)
        self.n_sigma = check_at_least("n_sigma", n_sigma, 0, above=True)
        self.align = check_flag("align", align)

    def begin(self, problem: Problem) -> None:
        """Start from even predictions; see :meth:`Strategy.begin`."""
        super().begin(problem)
        self.register_buffer("centre", torch.tensor(1 / self.classes, device=problem.device))
        self.register_buffer("variance", torch.tensor(1.0, device=problem.device))
        self.alignment = GlidingAlignment(self.classes, self.momentum, problem.device)

    def step(self, view: View) -> Step:
        """Weigh all by confidence; see :meth:`Strategy.step`."""
        probabilities = softmax(view.weak_logits)
        confidence = (self.alignment(probabilities) if self.align else probabilities).amax(dim=1)
        gliding(self.centre, confidence.mean(), self.momentum)
        spread = confidence.var(correction=min(1, len(confidence) - 1))
        gliding(self.variance, spread, self.momentum)
        weights = gaussian_weights(confidence, self.centre, self.variance, self.n_sigma)
        targets = hard(probabilities.argmax(dim=1), self.classes, probabilities.dtype)
        return Step(targets, weights, None, {"threshold": float(self.centre)})


def gaussian_weights(
    confidence: Tensor, centre: Tensor, variance: Tensor, n_sigma: float
) -> Tensor:
    r"""Weigh confidence by a Gaussian below its centre, and by 1 above.

    Parameters
    ----------
    confidence
        Shape (u,).
    centre, variance
        :math:`\mu` and :math:`\sigma^2`, one number each.
    n_sigma
        n, above 0.

    Returns
    -------
    Tensor
        Shape (u,), 0 to 1.

    Examples
    --------
    >>> low_and_high = torch.tensor([0.5, 0.9])
    >>> weights = gaussian_weights(low_and_high, torch.tensor(0.7), torch.tensor(0.04), 2)
    >>> [round(weight, 4) for weight in weights.tolist()]  # exp(-.04 / .02), and 1
    [0.1353, 1.0]
    """
    below = (confidence - centre).clamp(max=0.0)
    narrow = (variance / n_sigma**2).clamp(min=torch.finfo(variance.dtype).tiny)
    return (-(below**2) / (2 * narrow)).exp()
