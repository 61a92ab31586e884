"""How likely reactions are, given image, caption and emotion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from affectlab._types import Floats, Ints

__all__ = ["Likelihoods"]


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """Log-likelihoods of reactions; made by :meth:`ReactionGenerator.log_likelihood`.

    Examples
    --------
    >>> import numpy as np
    >>> Likelihoods(np.array([-6.0, -2.0]), np.array([3, 4])).mean.tolist()
    [-2.0, -0.5]
    """

    total: Floats
    """Natural logarithm of eq. 1 for each reaction, of shape (n,); at most 0."""
    n_tokens: Ints
    """Tokens of each reaction, that of its end included; of shape (n,)."""
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The model, how it was asked, and its hash."""

    @property
    def mean(self) -> Floats:
        """Mean per token, which does not favour short reactions; of shape (n,)."""
        found: Floats = self.total / self.n_tokens
        return found

    def __len__(self) -> int:
        return len(self.total)
