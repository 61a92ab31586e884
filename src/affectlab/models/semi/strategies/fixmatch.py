"""FixMatch: one fixed threshold of confidence."""

from __future__ import annotations

from affectlab.models.semi.strategies.tensors import check_share, hard, softmax
from affectlab.models.semi.strategy import Step, Strategy, View

__all__ = ["FixMatch"]


class FixMatch(Strategy):
    r"""Take the label of the weak view where it is confident.

    With p the probabilities of the weak view, the label is :math:`\arg\max_c p_c` and it counts
    where

    .. math:: \max_c p_c \ge \tau .

    Parameters
    ----------
    tau
        Threshold; .95 in the source.

    References
    ----------
    Sohn et al. (2020), FixMatch: simplifying semi-supervised learning with consistency and
    confidence, section 2.

    Examples
    --------
    >>> FixMatch().settings()
    {'tau': 0.95}
    """

    name = "fixmatch"

    def __init__(self, tau: float = 0.95) -> None:
        super().__init__()
        self.tau = check_share("tau", tau)

    def step(self, view: View) -> Step:
        """Count what is confident; see :meth:`Strategy.step`."""
        probabilities = softmax(view.weak_logits)
        confidence, label = probabilities.max(dim=1)
        weights = (confidence >= self.tau).to(probabilities.dtype)
        targets = hard(label, probabilities.shape[1], probabilities.dtype)
        return Step(targets, weights, None, {"threshold": self.tau})
