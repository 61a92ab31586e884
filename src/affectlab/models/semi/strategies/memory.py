"""What a strategy remembers of earlier steps: the latest rows, or one row per labelled example."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from affectlab.core.errors import InputError

__all__ = ["Bank", "Queue"]


class Queue(nn.Module):
    """The latest rows, the oldest given up for new ones.

    Parameters
    ----------
    size
        Rows that are kept.
    width
        Numbers in a row.
    device
        Where they are kept, in single precision.

    Examples
    --------
    >>> latest = Queue(2, 1)
    >>> latest.push(torch.tensor([[1.0], [2.0], [3.0]]))
    >>> sorted(latest.kept.flatten().tolist()), latest.filled().tolist()
    ([2.0, 3.0], [True, True])
    """

    kept: Tensor
    """Shape (size, width); 0 where nothing was kept yet."""
    place: Tensor
    """Where the next row goes."""
    count: Tensor
    """Rows kept so far, at most `size`."""

    def __init__(self, size: int, width: int, device: torch.device | None = None) -> None:
        super().__init__()
        self.size = size
        try:
            rows = torch.zeros(size, width, device=device)
        # Torch tells of too little memory, and of too large numbers, by a RuntimeError.
        except RuntimeError:
            raise InputError(
                f"memory of {size:,} rows of {width} numbers: there is not as much; expected fewer"
            ) from None
        self.register_buffer("kept", rows)
        self.register_buffer("place", torch.zeros((), dtype=torch.int64, device=device))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64, device=device))

    def push(self, rows: Tensor) -> None:
        """Keep rows, shape (n, width), in their order; of more than `size` the last ones."""
        rows = rows.detach()[-self.size :]
        steps = torch.arange(len(rows), device=self.kept.device)
        self.kept[(self.place + steps) % self.size] = rows.to(self.kept.dtype)
        self.place.add_(len(rows)).remainder_(self.size)
        self.count.add_(len(rows)).clamp_(max=self.size)

    def filled(self) -> Tensor:
        """Say of each place whether something is kept there, shape (size,)."""
        return torch.arange(self.size, device=self.kept.device) < self.count

    def mean(self) -> Tensor:
        """Give the mean of the rows kept, shape (width,); 0 while there are none."""
        return self.kept.sum(dim=0) / self.count.clamp(min=1)


class Bank(nn.Module):
    r"""One feature per labelled example, gliding along with what the network makes of it.

    .. math:: m_k \leftarrow \frac{\mu m_k + (1 - \mu) z_k}{\lVert\cdot\rVert}

    An example that is seen for the first time is taken as it is.

    Parameters
    ----------
    size
        Labelled examples.
    width
        Width of the features.
    momentum
        Share :math:`\mu` of the old feature, 0 to 1.
    device
        Where they are kept, in single precision.

    Examples
    --------
    >>> bank = Bank(3, 2, 0.5)
    >>> rows, labels = torch.tensor([2]), torch.tensor([1])
    >>> bank.update(rows, torch.tensor([[1.0, 0.0]]), labels)
    >>> bank.update(rows, torch.tensor([[0.0, 1.0]]), labels)
    >>> bank.features[2].tolist(), bank.seen.tolist(), bank.labels[2].item()
    ([0.7071..., 0.7071...], [False, False, True], 1)
    """

    features: Tensor
    """Shape (size, width), of length 1 where seen."""
    labels: Tensor
    """Classes, shape (size,)."""
    seen: Tensor
    """Shape (size,)."""

    def __init__(
        self, size: int, width: int, momentum: float, device: torch.device | None = None
    ) -> None:
        super().__init__()
        self.momentum = momentum
        self.register_buffer("features", torch.zeros(size, width, device=device))
        self.register_buffer("labels", torch.zeros(size, dtype=torch.int64, device=device))
        self.register_buffer("seen", torch.zeros(size, dtype=torch.bool, device=device))

    def update(self, rows: Tensor, features: Tensor, labels: Tensor) -> None:
        """Take in features, shape (b, width), of the examples at `rows` with their classes."""
        new = features.detach().to(self.features.dtype)
        mixed = self.momentum * self.features[rows] + (1 - self.momentum) * new
        kept = torch.where(self.seen[rows, None], mixed, new)
        self.features[rows] = nn.functional.normalize(kept, dim=1)
        self.labels[rows] = labels
        self.seen[rows] = True
