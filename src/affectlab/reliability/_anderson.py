"""Anderson acceleration: reach the fixed point of a map in fewer evaluations."""

from __future__ import annotations

import numpy as np

from affectlab._types import Floats

__all__ = ["Anderson"]


class Anderson:
    """Combine the last steps of a fixed-point iteration so that their residuals cancel.

    Where plain iteration converges slowly, as between groups of raters that hardly share a
    stimulus, this needs a tenth of the rounds.

    Parameters
    ----------
    memory
        Number of differences of earlier steps that are used.
    plain
        Evaluations before acceleration starts.
    limit
        No entry moves further than this from the plain step; ``inf`` where it may. Shape (k,).

    References
    ----------
    Walker and Ni (2011), "Anderson acceleration for fixed-point iterations".

    Examples
    --------
    >>> matrix = np.array([[0.9, 0.09], [0.0, 0.99]])
    >>> x, anderson = np.ones(2), Anderson(memory=2, plain=1, limit=np.full(2, np.inf))
    >>> for _ in range(6):
    ...     x = anderson.next(x, matrix @ x + 1)
    >>> np.allclose(x, np.linalg.solve(np.eye(2) - matrix, np.ones(2)))
    True
    """

    def __init__(self, memory: int, plain: int, limit: Floats) -> None:
        self._memory, self._plain, self._limit = memory, plain, limit
        self._residuals: list[Floats] = []
        self._mapped: list[Floats] = []
        self._count = 0

    def next(self, given: Floats, mapped: Floats, unit: Floats | float = 1.0) -> Floats:
        """Choose the next point.

        Parameters
        ----------
        given, mapped
            A point and its image, shape (k,). A point whose image is not finite is not used.
        unit
            Size of a change that matters, by entry.
        """
        self._count += 1
        if self._count <= self._plain:
            return mapped
        residual = (mapped - given) / unit
        if not np.isfinite(residual).all():
            return mapped
        self._residuals = [*self._residuals[-self._memory :], residual]
        self._mapped = [*self._mapped[-self._memory :], mapped]
        if len(self._mapped) < 2:
            return mapped
        residuals = np.diff(np.array(self._residuals), axis=0).T
        steps = np.diff(np.array(self._mapped), axis=0).T
        share = np.linalg.lstsq(residuals, self._residuals[-1], rcond=1e-10)[0]
        return np.clip(mapped - steps @ share, mapped - self._limit, mapped + self._limit)
