"""CoMatch: pseudo-labels smoothed by memory, and graphs of labels and of features that agree."""

from __future__ import annotations

import torch
from torch import Tensor

from affectlab.models.semi.strategies.alignment import WindowAlignment
from affectlab.models.semi.strategies.memory import Queue
from affectlab.models.semi.strategies.tensors import (
    check_at_least,
    check_count,
    check_share,
    full,
    graph_contrast,
    hard,
    label_graph,
    product,
    softmax,
)
from affectlab.models.semi.strategy import Problem, Step, Strategy, View

__all__ = ["CoMatch"]


class CoMatch(Strategy):
    r"""Smooth pseudo-labels over near examples, and ask features to be as near as labels are.

    With aligned probabilities :math:`p_i = \mathrm{DA}(p_i^w)` and features :math:`z_i` of weak
    views, and a memory of the latest probabilities :math:`p_k` and features :math:`z_k`,

    .. math:: q_i = \alpha p_i + (1 - \alpha) \sum_k a_{ik} p_k, \qquad
        a_{ik} = \frac{e^{z_i \cdot z_k / t}}{\sum_{k'} e^{z_i \cdot z_{k'} / t}} .

    The pseudo-label is q, soft, and counts where :math:`\max_c q_c \ge \tau`. The graph of
    pseudo-labels, cut off at T, is held against that of two strong views, times `contrast`.

    Parameters
    ----------
    tau
        Threshold; .95 in the source.
    alpha
        Share of an example's own probabilities; .9 in the source.
    temperature
        t, above 0; .2 in the source.
    graph
        T, below which labels are not joined; .8 in the source.
    contrast
        Weight of the contrast of graphs; 1 in the source.
    memory
        Examples remembered; 2560 in the source.
    window
        Steps over which predictions are aligned; 32 in the published code.

    Notes
    -----
    Labelled examples are remembered with their true labels, and features of all pairs of strong
    views are compared across the two views, as in the published code. The code begins to smooth
    when its memory is full; here it begins with what there is, after the first step, and empty
    places have no part. The training loop holds the pseudo-labels against both strong views, the
    source against the first.

    References
    ----------
    Li, Xiong and Hoi (2021), CoMatch: semi-supervised learning with contrastive graph
    regularization, section 3.

    Examples
    --------
    >>> CoMatch().strong_views, CoMatch().settings()["alpha"]
    (2, 0.9)
    """

    name = "comatch"
    strong_views = 2
    wants_features = True
    alignment: WindowAlignment
    past_features: Queue
    past_labels: Queue

    def __init__(
        self,
        tau: float = 0.95,
        alpha: float = 0.9,
        temperature: float = 0.2,
        graph: float = 0.8,
        contrast: float = 1.0,
        memory: int = 2560,
        window: int = 32,
    ) -> None:
        super().__init__()
        self.tau, self.alpha = check_share("tau", tau), check_share("alpha", alpha)
        self.temperature = check_at_least("temperature", temperature, 0, above=True)
        self.graph = check_share("graph", graph)
        self.contrast = check_at_least("contrast", contrast, 0)
        self.memory, self.window = check_count("memory", memory), check_count("window", window)

    def begin(self, problem: Problem) -> None:
        """Start with an empty memory; see :meth:`Strategy.begin`."""
        super().begin(problem)
        self.alignment = WindowAlignment(self.classes, self.window, problem.device)
        self.past_features = Queue(self.memory, problem.features, problem.device)
        self.past_labels = Queue(self.memory, self.classes, problem.device)

    def step(self, view: View) -> Step:
        """Smooth, count and contrast; see :meth:`Strategy.step`."""
        labelled, weak, strong = self.features_of(view)
        own = self.alignment(softmax(view.weak_logits))
        targets = self._smoothed(own, full(weak.detach()))
        weights = (targets.amax(dim=1) >= self.tau).to(targets.dtype)
        true = hard(view.targets, self.classes, own.dtype)
        self.past_features.push(torch.cat([full(weak), full(labelled)]))
        self.past_labels.push(torch.cat([own, true]))
        graph = label_graph(targets, self.graph)
        told = {"threshold": self.tau, "joined": float((graph > 0).sum(dim=1).float().mean() - 1)}
        extra = None
        if self.contrast:
            extra = self.contrast * graph_contrast(strong[0], strong[1], graph, self.temperature)
        return Step(targets, weights, extra, told)

    def _smoothed(self, own: Tensor, features: Tensor) -> Tensor:
        near = product(features, self.past_features.kept.T.to(features.dtype))
        # An empty memory has no largest place; the lowest number keeps softmax defined there.
        near = (near / self.temperature).masked_fill(
            ~self.past_features.filled(), torch.finfo(near.dtype).min
        )
        others = product(near.softmax(dim=1).to(own.dtype), self.past_labels.kept.to(own.dtype))
        mixed = self.alpha * own + (1 - self.alpha) * others
        return torch.where(self.past_labels.count > 0, mixed, own)
