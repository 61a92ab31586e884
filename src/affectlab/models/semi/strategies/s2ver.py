"""S2-VER: thresholds by prototypes of emotions, ambiguity and polarity."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from affectlab.models.semi.strategies.tensors import (
    check_at_least,
    check_share,
    full,
    gliding,
    graph_contrast,
    hard,
    label_graph,
    product,
    softmax,
)
from affectlab.models.semi.strategy import Problem, Step, Strategy, View

__all__ = [
    "Prototypes",
    "S2ver",
    "ambiguity_threshold",
]

# Prototypes of classes: gliding means of features, and how classes relate by them.


class Prototypes(nn.Module):
    r"""Gliding means of the features of each class.

    A class c whose mean feature over a batch is :math:`\bar z_c` moves its prototype,

    .. math:: \mu_c \leftarrow m \mu_c + (1 - m) \bar z_c ,

    and a class that the batch does not hold leaves it. The relation of classes glides likewise,

    .. math:: R \leftarrow m R + (1 - m) \hat R, \qquad
        \hat R_{cd} = \frac{e^{-\lVert\mu_c - \mu_d\rVert / s}}
                           {\sum_{d'} e^{-\lVert\mu_c - \mu_{d'}\rVert / s}} .

    Prototypes begin at 0 and relations at 1 / C.

    Parameters
    ----------
    classes, width
        How many classes C and features there are.
    momentum
        Share m of the old values, 0 to 1.
    scale
        Distance s over which relation fades, above 0.
    device
        Where they are kept, in single precision.

    References
    ----------
    Jia and Yang (2022), S2-VER: semi-supervised visual emotion recognition, and its published code.

    Examples
    --------
    >>> centres = Prototypes(2, 2, momentum=0.5, scale=0.5)
    >>> centres.update(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 0]))
    >>> centres.centres.tolist()
    [[0.25, 0.25], [0.0, 0.0]]
    """

    centres: Tensor
    """Shape (C, width)."""
    relation: Tensor
    """Shape (C, C), rows sum to 1."""

    def __init__(
        self,
        classes: int,
        width: int,
        *,
        momentum: float,
        scale: float,
        device: torch.device | None = None,
    ) -> None:
        super().__init__()
        self.momentum, self.scale = momentum, scale
        self.register_buffer("centres", torch.zeros(classes, width, device=device))
        even = torch.full((classes, classes), 1 / classes, device=device)
        self.register_buffer("relation", even)

    def update(self, features: Tensor, labels: Tensor, use: Tensor | None = None) -> None:
        """Take in features, shape (b, width), with their classes, shape (b,).

        `use`, shape (b,), says which of them count; all by default.
        """
        new = features.detach().to(self.centres.dtype)
        member = hard(labels, len(self.centres), new.dtype)
        if use is not None:
            member = member * use[:, None]
        count = member.sum(dim=0)
        mean = product(member.T, new) / count.clamp(min=1)[:, None]
        moved = self.momentum * self.centres + (1 - self.momentum) * mean
        self.centres.copy_(torch.where(count[:, None] > 0, moved, self.centres))
        # Differences, and not the products of cdist's fast path, which loses short distances.
        distance = (self.centres[:, None] - self.centres).norm(dim=2)
        gliding(self.relation, (-distance / self.scale).softmax(dim=1), self.momentum)

    def nearness(self, features: Tensor, temperature: float) -> Tensor:
        """Give softmax of features times prototypes, by `temperature`: shape (u, C)."""
        rows = full(features.detach())
        return (product(rows, self.centres.T.to(rows.dtype)) / temperature).softmax(dim=1)


class S2ver(Strategy):
    r"""Ask less confidence where the emotion is ambiguous and its polarity is uncertain.

    With probabilities p and feature z of a weak view, prototypes :math:`\mu_c` of classes and
    their relation R (see :class:`Prototypes`), its distribution of labels is

    .. math:: q = (1 - \lambda)\, p + \lambda\, \mathrm{softmax}_c(z \cdot \mu_c / t)\, R .

    The pseudo-label is the most probable class g of p, and counts where :math:`p_g \ge \tau`, the
    threshold being that of :func:`ambiguity_threshold` by q and the classes of the polarity of g.
    Beside the pseudo-labels there are, both as weights of their own, the contrast of the graph of
    q, cut off at `graph`, with that of two strong views; and the cross-entropy of the second
    strong view with q, over examples that count.

    Parameters
    ----------
    tau
        Largest threshold; .95 in the source.
    floor
        Least threshold; .7 in the source.
    share
        :math:`\lambda`, of prototypes in q; .2 in the source.
    temperature
        t, above 0; .2 in the source.
    momentum
        Share of old prototypes and relations; .9 in the published code.
    scale
        Distance over which relation fades, above 0; .5 in the published code.
    graph
        Least agreement of two q that joins them; .3 in the published code.
    contrast, distribution
        Weights of the contrast and of the distribution of labels; 3 and 3 in the published code.

    Notes
    -----
    Prototypes take in the labelled examples of a step that the network gets right, before its
    unlabelled ones are judged, as in the published code. Two losses are divergences there; here
    they are cross-entropies, which have the same gradient. The training loop holds hard
    pseudo-labels against both strong views, the published code against the first.

    References
    ----------
    Jia and Yang (2022), S2-VER: semi-supervised visual emotion recognition, with its published
    code; used in Zhao et al. (2024), To Err Like Human, section 4.2.2.

    Examples
    --------
    >>> S2ver().needs, S2ver().strong_views, S2ver().settings()["share"]
    (('polarity',), 2, 0.2)
    """

    name = "s2ver"
    strong_views = 2
    wants_features = True
    needs = ("polarity",)
    prototypes: Prototypes
    same: Tensor
    """1 where two classes have the same polarity, else 0, shape (C, C)."""

    def __init__(
        self,
        tau: float = 0.95,
        floor: float = 0.7,
        share: float = 0.2,
        temperature: float = 0.2,
        momentum: float = 0.9,
        scale: float = 0.5,
        graph: float = 0.3,
        contrast: float = 3.0,
        distribution: float = 3.0,
    ) -> None:
        super().__init__()
        self.tau, self.floor = check_share("tau", tau), check_share("floor", floor)
        self.share, self.momentum = check_share("share", share), check_share("momentum", momentum)
        self.temperature = check_at_least("temperature", temperature, 0, above=True)
        self.scale = check_at_least("scale", scale, 0, above=True)
        self.graph = check_share("graph", graph)
        self.contrast = check_at_least("contrast", contrast, 0)
        self.distribution = check_at_least("distribution", distribution, 0)

    def begin(self, problem: Problem) -> None:
        """Take polarity, and start prototypes at 0; see :meth:`Strategy.begin`."""
        super().begin(problem)
        side = torch.tensor(problem.polarity, device=problem.device)
        self.register_buffer("same", (side[:, None] == side).float(), persistent=False)
        self.prototypes = Prototypes(
            self.classes,
            problem.features,
            momentum=self.momentum,
            scale=self.scale,
            device=problem.device,
        )

    def step(self, view: View) -> Step:
        """Judge by ambiguity and polarity; see :meth:`Strategy.step`."""
        labelled, weak, strong = self.features_of(view)
        right = view.labelled_logits.detach().argmax(dim=1) == view.targets
        self.prototypes.update(full(labelled), view.targets, right)
        own = softmax(view.weak_logits)
        near = self.prototypes.nearness(weak, self.temperature).to(own.dtype)
        related = product(near, self.prototypes.relation.to(own.dtype))
        blurred = (1 - self.share) * own + self.share * related
        confidence, guess = own.max(dim=1)
        thresholds = ambiguity_threshold(
            blurred, self.same.to(own.dtype)[guess], self.tau, self.floor
        )
        weights = (confidence >= thresholds).to(own.dtype)
        terms = []
        if self.contrast:
            graph = label_graph(blurred, self.graph)
            found = graph_contrast(strong[0], strong[1], graph, self.temperature)
            terms.append(self.contrast * found)
        if self.distribution:
            said = full(view.strong_logits[1]).log_softmax(dim=1)
            terms.append(self.distribution * (-(blurred * said).sum(dim=1) * weights).mean())
        extra = torch.stack(terms).sum() if terms else None
        told = {"threshold": float(thresholds.mean())}
        return Step(hard(guess, self.classes, own.dtype), weights, extra, told)


def ambiguity_threshold(
    labels: Tensor, same: Tensor, tau: float = 0.95, floor: float = 0.7
) -> Tensor:
    r"""Set thresholds by how ambiguous distributions of labels are, and of which polarity.

    .. math:: H = -\sum_c q_c \log q_c, \quad \kappa = \sum_{c \sim g} q_c, \quad
        \theta = \min\Big(1, \frac{1}{(1 + H)\, \kappa}\Big), \quad
        \tau = \min\big(.95,\; .7 + .3\, \theta\big)

    Parameters
    ----------
    labels
        Distributions q, shape (u, C).
    same
        1 for classes of the polarity of the guess g, else 0, shape (u, C).
    tau, floor
        Largest and least threshold: .95 and .7.

    Returns
    -------
    Tensor
        Shape (u,).

    References
    ----------
    Jia and Yang (2022), S2-VER: semi-supervised visual emotion recognition.

    Examples
    --------
    >>> even, both = torch.tensor([[0.5, 0.5]]), torch.tensor([[1.0, 1.0]])
    >>> round(ambiguity_threshold(even, both).item(), 4)  # .7 + .3 / (1 + log 2)
    0.8772
    >>> round(ambiguity_threshold(even, torch.tensor([[1.0, 0.0]])).item(), 4)
    0.95
    """
    ambiguity = torch.special.entr(labels).sum(dim=1)
    mass = (labels * same).sum(dim=1)
    bottom = ((1 + ambiguity) * mass).clamp(min=torch.finfo(labels.dtype).tiny)
    thresholds: Tensor = floor + (1 - floor) * (1 / bottom).clamp(max=1.0)
    return thresholds.clamp(max=tau)
