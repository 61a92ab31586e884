"""FixMatch with a threshold that follows how mildly the two views of the pool disagree."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from affectlab.core.errors import InputError, unknown_name
from affectlab.evaluation.classification import Confusion
from affectlab.models.semi.strategies.tensors import check_at_least, check_share, hard, softmax
from affectlab.models.semi.strategy import PoolLabels, Problem, Step, Strategy, View
from affectlab.taxonomy import CostMatrix

__all__ = ["EmcThreshold", "emc_threshold"]

CONSTANTS = {"fi": 0.5, "emoset": 0.4}
"""The constant e of each data set of the paper: the EMC at which the threshold is tau."""


class EmcThreshold(Strategy):
    r"""FixMatch, with a threshold set before each epoch by the EMC between two views.

    The classes of the weak views of all unlabelled examples are taken for the truth, those of
    their strong views for predictions. Mild disagreement, a high EMC, lowers the threshold
    :math:`\tau_t`: see :func:`emc_threshold`. Where the views never disagree EMC is not defined,
    and counts as 1.

    Parameters
    ----------
    tau
        Threshold :math:`\tau` at an EMC of `e`; .95 in the source.
    e
        The constant of a data set, 0 to 1, or its name: ``"fi"`` for .5, ``"emoset"`` for .4.
    low, high
        Bounds of the threshold; .70 and .98 in the source.

    Notes
    -----
    Until the first epoch's pool is seen the threshold is `tau`. Costs are found by label name.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, section 4.2.1, equation 5; Sohn et al. (2020), FixMatch.

    Examples
    --------
    >>> EmcThreshold(e="emoset").settings()
    {'tau': 0.95, 'e': 'emoset', 'low': 0.7, 'high': 0.98}
    """

    name = "emc"
    wants_pool = True
    needs = ("costs",)
    threshold: Tensor
    r""":math:`\tau_t`, one number."""
    costs: CostMatrix

    def __init__(
        self,
        tau: float = 0.95,
        e: float | str = 0.5,
        low: float = 0.70,
        high: float = 0.98,
    ) -> None:
        super().__init__()
        if isinstance(e, str) and e not in CONSTANTS:
            raise unknown_name("data set", e, CONSTANTS, "e")
        if not isinstance(e, str):
            e = check_at_least("e", check_share("e", e), 0, above=True)
        self.tau, self.e = check_share("tau", tau), e
        self.low, self.high = check_share("low", low), check_share("high", high)
        if low > high:
            raise InputError(f"low = {low}, high = {high}: expected low to be at most high")

    def begin(self, problem: Problem) -> None:
        """Take the costs; see :meth:`Strategy.begin`."""
        super().begin(problem)
        if problem.costs is not None:
            self.costs = CostMatrix(problem.labels, problem.costs)
        self.register_buffer("threshold", torch.tensor(self.tau, device=problem.device))

    def before_epoch(
        self,
        epoch: int,  # noqa: ARG002
        pool: PoolLabels | None,
    ) -> dict[str, float]:
        """Set the threshold by the EMC of the pool.

        Returns
        -------
        dict
            ``emc``, 1 where it is not defined, and ``threshold``.

        Raises
        ------
        InputError
            When there is no pool, or its labels do not fit.
        """
        emc = self.emc(pool)
        constant = CONSTANTS[self.e] if isinstance(self.e, str) else self.e
        threshold = emc_threshold(emc, self.tau, constant, low=self.low, high=self.high)
        self.threshold.fill_(threshold)
        return {"emc": 1.0 if math.isnan(emc) else emc, "threshold": threshold}

    def emc(self, pool: PoolLabels | None) -> float:
        """Give the EMC of strong against weak labels; ``nan`` where they never disagree."""
        if pool is None:
            raise InputError("strategy 'emc' needs the labels of the pool before each epoch")
        weak, strong = pool.weak.long(), pool.strong.long()
        if weak.shape != strong.shape or weak.ndim != 1 or not len(weak):
            raise InputError(
                f"pool: labels of shapes {tuple(weak.shape)} and {tuple(strong.shape)}; expected "
                "two of shape (N,), with an example"
            )
        k = self.classes
        low = int(torch.minimum(weak.min(), strong.min()))
        high = int(torch.maximum(weak.max(), strong.max()))
        if low < 0 or high >= k:
            raise InputError(f"pool: classes from {low} to {high}; expected 0 to {k - 1}")
        counts = torch.bincount(weak * k + strong, minlength=k * k).reshape(k, k).cpu().numpy()
        return Confusion.from_counts(counts, self.costs.labels, costs=self.costs).emc

    def step(self, view: View) -> Step:
        """Count what is confident; see :meth:`Strategy.step`."""
        probabilities = softmax(view.weak_logits)
        confidence, label = probabilities.max(dim=1)
        weights = (confidence >= self.threshold).to(probabilities.dtype)
        targets = hard(label, self.classes, probabilities.dtype)
        return Step(targets, weights, None, {"threshold": float(self.threshold)})


def emc_threshold(
    emc: float, tau: float = 0.95, e: float = 0.5, *, low: float = 0.70, high: float = 0.98
) -> float:
    r"""Set a threshold of confidence by EMC.

    .. math:: \tau_t = \mathrm{clip}\Big(\frac{\tau e}{\mathrm{EMC}_t},\, .70,\, .98\Big)

    Parameters
    ----------
    emc
        EMC, 0 to 1; ``nan``, where it is not defined, counts as 1.
    tau, e
        The threshold, and the constant of a data set: the EMC at which it is `tau`.
    low, high
        Bounds.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, equation 5.

    Examples
    --------
    >>> emc_threshold(0.5), round(emc_threshold(0.6), 4), emc_threshold(0.1)
    (0.95, 0.7917, 0.98)
    >>> emc_threshold(float("nan"))
    0.7
    """
    emc = 1.0 if math.isnan(emc) else emc
    return min(max(tau * e / emc if emc > 0 else high, low), high)
