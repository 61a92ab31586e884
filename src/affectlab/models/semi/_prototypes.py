"""Prototypes of classes: gliding means of features, and how classes relate by them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from affectlab.models.semi._tensors import full, gliding, hard, product

__all__ = ["Prototypes"]


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
