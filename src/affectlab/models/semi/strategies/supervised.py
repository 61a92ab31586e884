"""No pseudo-labels: the labelled examples alone."""

from __future__ import annotations

from affectlab.models.semi.strategies.tensors import softmax
from affectlab.models.semi.strategy import Step, Strategy, View

__all__ = ["Supervised"]


class Supervised(Strategy):
    """Learn from labelled examples alone: every pseudo-label weighs 0.

    The line that other strategies are held against. It asks for no strongly augmented view.

    Examples
    --------
    >>> Supervised().settings(), Supervised().strong_views
    ({}, 0)
    """

    name = "supervised"
    strong_views = 0

    def step(self, view: View) -> Step:
        """Weigh nothing; see :meth:`Strategy.step`."""
        probabilities = softmax(view.weak_logits)
        return Step(probabilities, probabilities.new_zeros(len(probabilities)), None, {})
