"""Augmentation of embeddings: numbers are shaken, and some are forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from affectlab.core.errors import InputError
from affectlab.core.types import torch

__all__ = ["StrongNumbers", "WeakNumbers"]


@dataclass(frozen=True)
class WeakNumbers:
    """Add a little noise to embeddings, in proportion to how much each number varies.

    Examples
    --------
    >>> import torch
    >>> rows, one = torch.zeros(2, 3), torch.ones(3)
    >>> WeakNumbers(noise=0.0)(rows, torch.tensor([4, 9]), (0, 1), 0 * one, one).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """

    noise: float = 0.05
    """Standard deviation of the noise, in those of each number over the pool; 0: none."""

    def __post_init__(self) -> None:
        """Check the settings; raises an InputError."""
        _check_noise(self.noise)

    def __call__(
        self,
        rows: torch.Tensor,
        places: torch.Tensor,
        draw: Sequence[int],
        mean: torch.Tensor,
        spread: torch.Tensor,
    ) -> torch.Tensor:
        """Change rows.

        Parameters
        ----------
        rows
            Shape (n, width).
        places
            Which rows of the pool they are, shape (n,): with `draw`, all that chance hangs on.
        draw
            Seeds.
        mean, spread
            Of each number over the pool, shape (width,).
        """
        from affectlab.models.augment.random_numbers import keys_of, normal

        del mean
        if not self.noise:
            return rows
        return rows + self.noise * spread * normal(keys_of(draw, places), rows.shape[1])


@dataclass(frozen=True)
class StrongNumbers:
    """Add noise to embeddings, and put the mean of the pool in the place of some numbers.

    Examples
    --------
    >>> import torch
    >>> rows, one = torch.ones(1, 1000), torch.ones(1000)
    >>> found = StrongNumbers(noise=0.0, dropout=0.2)(rows, torch.tensor([4]), (0,), 5 * one, one)
    >>> bool(150 < (found == 5).sum() < 250) and bool(((found == 5) | (found == 1)).all())
    True
    """

    noise: float = 0.5
    """Standard deviation of the noise, in those of each number over the pool."""
    dropout: float = 0.2
    """Share of numbers that are forgotten."""

    def __post_init__(self) -> None:
        """Check the settings; raises an InputError."""
        _check_noise(self.noise)
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout = {self.dropout}: expected a share from 0 to below 1")

    def __call__(
        self,
        rows: torch.Tensor,
        places: torch.Tensor,
        draw: Sequence[int],
        mean: torch.Tensor,
        spread: torch.Tensor,
    ) -> torch.Tensor:
        """Change rows; see :class:`WeakNumbers`."""
        from affectlab.models.augment.random_numbers import keys_of, normal, uniform

        keys, width = keys_of(draw, places), rows.shape[1]
        found = rows
        if self.noise:
            found = found + self.noise * spread * normal(keys, width)
        if self.dropout:
            found = found.where(uniform(keys, width, stream=1) >= self.dropout, mean)
        return found


def _check_noise(noise: float) -> None:
    if not 0 <= noise < float("inf"):
        raise InputError(f"noise = {noise}: expected a number from 0 on")
