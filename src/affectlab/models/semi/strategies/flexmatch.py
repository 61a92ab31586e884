"""FlexMatch: one threshold per class, by how well it is learnt."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from affectlab.core.errors import check_choice
from affectlab.models.semi.strategies.tensors import check_flag, check_share, hard, softmax
from affectlab.models.semi.strategy import Problem, Step, Strategy, View

__all__ = ["FlexMatch", "Mapping"]

Mapping = Literal["convex", "linear"]


class FlexMatch(Strategy):
    r"""Ask less confidence of classes that few examples were given yet.

    An example is given class c for good when its weak view was last confident, by at least
    :math:`\tau`, of c. With :math:`\sigma(c)` examples given class c among :math:`N_u`,

    .. math:: \beta(c) = \frac{\sigma(c)}
        {\max\{\max_{c'} \sigma(c'),\; N_u - \sum_{c'} \sigma(c')\}}, \qquad
        \tau(c) = \tau\,\frac{\beta(c)}{2 - \beta(c)},

    and a weak view p counts where :math:`\max_c p_c \ge \tau(\arg\max_c p_c)`. The examples that
    were given no class stand in the denominator while they are many: this is the warm-up.

    Parameters
    ----------
    tau
        Threshold :math:`\tau` of a class that is learnt; .95 in the source.
    mapping
        ``"convex"``: :math:`\beta / (2 - \beta)`, as in the source; ``"linear"``: :math:`\beta`.
    warm_up
        Whether examples without a class count in the denominator, as in the source.

    Notes
    -----
    Thresholds are those before the examples of a step are given classes, as in the published code.
    They begin at 0, so that everything counts at first; warm-up keeps them low for as long as most
    examples have no class.

    References
    ----------
    Zhang et al. (2021), FlexMatch: boosting semi-supervised learning with curriculum pseudo
    labeling, section 3.

    Examples
    --------
    >>> FlexMatch().settings()
    {'tau': 0.95, 'mapping': 'convex', 'warm_up': True}
    """

    name = "flexmatch"
    given: Tensor
    """Class that each unlabelled example was last given, shape (N,); -1 for none."""

    def __init__(
        self, tau: float = 0.95, mapping: Mapping = "convex", warm_up: bool = True
    ) -> None:
        super().__init__()
        check_choice("mapping", mapping, get_args(Mapping))
        self.tau, self.mapping = check_share("tau", tau), mapping
        self.warm_up = check_flag("warm_up", warm_up)

    def begin(self, problem: Problem) -> None:
        """Give no example a class; see :meth:`Strategy.begin`."""
        super().begin(problem)
        none = torch.full((problem.n_unlabelled,), -1, dtype=torch.int64, device=problem.device)
        self.register_buffer("given", none)

    def thresholds(self) -> Tensor:
        r"""Give :math:`\tau(c)`, shape (C,)."""
        # A sum over classes is needed once a step; bincount would wait for the GPU.
        counts = torch.zeros(self.classes + 1, dtype=torch.int64, device=self.given.device)
        counts.scatter_add_(0, self.given + 1, torch.ones_like(self.given))
        most = counts.max() if self.warm_up else counts[1:].max()
        learnt = counts[1:].float() / most.clamp(min=1)
        return self.tau * (learnt / (2 - learnt) if self.mapping == "convex" else learnt)

    def step(self, view: View) -> Step:
        """Count what is confident for its class; see :meth:`Strategy.step`."""
        probabilities = softmax(view.weak_logits)
        confidence, label = probabilities.max(dim=1)
        thresholds = self.thresholds()
        weights = (confidence >= thresholds[label]).to(probabilities.dtype)
        self.given[view.rows] = torch.where(confidence >= self.tau, label, self.given[view.rows])
        targets = hard(label, self.classes, probabilities.dtype)
        return Step(targets, weights, None, {"threshold": float(thresholds.mean())})
