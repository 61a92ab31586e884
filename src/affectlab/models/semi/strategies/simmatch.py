"""SimMatch: pseudo-labels and likeness to labelled examples correct each other."""

from __future__ import annotations

import torch
from torch import Tensor

from affectlab.models.semi.strategies.alignment import WindowAlignment
from affectlab.models.semi.strategies.memory import Bank
from affectlab.models.semi.strategies.tensors import (
    check_at_least,
    check_count,
    check_share,
    full,
    product,
    softmax,
)
from affectlab.models.semi.strategy import Problem, Step, Strategy, View

__all__ = ["SimMatch", "instance_loss"]


class SimMatch(Strategy):
    r"""Match what the classifier says with likeness to labelled examples.

    With aligned probabilities :math:`p = \mathrm{DA}(p^w)` of a weak view, its feature z, and the
    remembered features :math:`m_k` of labelled examples of class :math:`y_k`,

    .. math:: r_k = \frac{e^{z \cdot m_k / t}}{\sum_{k'} e^{z \cdot m_{k'} / t}}, \qquad
        \hat r_k = \frac{r_k\, p_{y_k}}{\sum_{k'} r_{k'}\, p_{y_{k'}}}, \qquad
        \hat p_c = \alpha p_c + (1 - \alpha) \sum_{k:\, y_k = c} r_k .

    Probabilities are unfolded over examples in :math:`\hat r`, and likeness is gathered by class
    in :math:`\hat p`. The latter is the pseudo-label, soft, and counts where its largest share is
    at least :math:`\tau`; the former is held against the strong view by :func:`instance_loss`,
    times `instance`.

    Parameters
    ----------
    tau
        Threshold; .95 in the source.
    alpha
        Share of the classifier's own probabilities; .9 in the source.
    temperature
        t of both views, above 0; .1 in the source.
    momentum
        Share of the old feature when a labelled example is seen again; .7 in the published code
        without an averaged teacher.
    instance
        Weight of the instance loss; 1 in the source for small data sets.
    window
        Steps over which predictions are aligned; 256 in the published code.

    Notes
    -----
    The features of a step's labelled examples are remembered after its unlabelled ones are judged,
    as in the published code. The code begins with random features and leaves the memory aside for
    an epoch; here examples that were not seen yet have no part, and nothing is left aside.

    References
    ----------
    Zheng et al. (2022), SimMatch: semi-supervised learning with similarity matching, section 3.

    Examples
    --------
    >>> SimMatch().settings()["momentum"], SimMatch().wants_features
    (0.7, True)
    """

    name = "simmatch"
    wants_features = True
    alignment: WindowAlignment
    bank: Bank

    def __init__(
        self,
        tau: float = 0.95,
        alpha: float = 0.9,
        temperature: float = 0.1,
        momentum: float = 0.7,
        instance: float = 1.0,
        window: int = 256,
    ) -> None:
        super().__init__()
        self.tau, self.alpha = check_share("tau", tau), check_share("alpha", alpha)
        self.temperature = check_at_least("temperature", temperature, 0, above=True)
        self.momentum = check_share("momentum", momentum)
        self.instance = check_at_least("instance", instance, 0)
        self.window = check_count("window", window)

    def begin(self, problem: Problem) -> None:
        """Start with an empty memory; see :meth:`Strategy.begin`."""
        super().begin(problem)
        device = problem.device
        self.alignment = WindowAlignment(self.classes, self.window, device)
        self.bank = Bank(problem.n_labelled, problem.features, self.momentum, device)

    def step(self, view: View) -> Step:
        """Gather, count and match; see :meth:`Strategy.step`."""
        labelled, weak, strong = self.features_of(view)
        own = self.alignment(softmax(view.weak_logits))
        # A copy, since the bank changes below, before gradients are taken.
        bank = self.bank.features.to(own.dtype, copy=True)
        near = self._near(full(weak.detach()).to(own.dtype), bank)
        shares = near.softmax(dim=1)
        any_seen = self.bank.seen.any()
        gathered = torch.zeros_like(own).index_add_(1, self.bank.labels, shares)
        mixed = self.alpha * own + (1 - self.alpha) * gathered
        targets = torch.where(any_seen, mixed, own)
        weights = (targets.amax(dim=1) >= self.tau).to(targets.dtype)
        extra = None
        if self.instance:
            # Logarithms keep products apart from 0 that would leave no row to divide by.
            unfolded = own.clamp(min=torch.finfo(own.dtype).tiny).log()[:, self.bank.labels]
            wanted = (near + unfolded).masked_fill(~self.bank.seen, _lowest(near)).softmax(dim=1)
            terms = [instance_loss(self._near(full(one), bank), wanted) for one in strong]
            extra = self.instance * any_seen * torch.stack(terms).mean()
        self.bank.update(view.labelled_rows, labelled, view.targets)
        return Step(targets, weights, extra, {"threshold": self.tau})

    def _near(self, features: Tensor, bank: Tensor) -> Tensor:
        told = product(features, bank.T.to(features.dtype)) / self.temperature
        return told.masked_fill(~self.bank.seen, _lowest(told))


def instance_loss(near: Tensor, wanted: Tensor) -> Tensor:
    r"""Ask a strong view to be as like labelled examples as the weak view was.

    .. math:: \ell_{in} = -\frac1u \sum_{ik} \hat r_{ik} \log r^s_{ik}

    Parameters
    ----------
    near
        Likeness of the strong views over temperature, shape (u, K): :math:`r^s` is its softmax.
    wanted
        :math:`\hat r` of the weak views, shape (u, K), rows sum to 1.

    Returns
    -------
    Tensor
        One number, at least 0.

    Examples
    --------
    >>> round(instance_loss(torch.zeros(1, 2), torch.tensor([[0.3, 0.7]])).item(), 4)  # log 2
    0.6931
    """
    loss: Tensor = -(wanted * near.log_softmax(dim=1)).sum(dim=1).mean()
    return loss


def _lowest(like: Tensor) -> float:
    """Give what stands for no likeness at all; a row of nothing else still has a softmax."""
    return torch.finfo(like.dtype).min
