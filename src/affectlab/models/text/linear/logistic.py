"""Logistic regression of many labels at once on sparse features, with an L2 penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from affectlab.core.errors import InputError
from affectlab.core.types import Floats

__all__ = ["Logistic", "fit_logistic_labels"]

_START = 1e-3
"""Distance from 0 and 1 at which the dual variables of hard labels start."""
_PULL = 100.0
"""How firmly each bias is held, in units of the curvature of the loss along it: looser, what it is
drawn to would creep; firmer, texts would hinder one another."""
_FIRMEST = 4.0
"""Most of it by a single text: the least curvature of the entropy of p."""
_CALM = 3e-3
"""Mean change of a dual variable below which the gradient is looked at, and the bias set free."""

Report = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Logistic:
    """Weights of K labels over D features."""

    weights: NDArray[np.float32]
    """Shape (D, K)."""
    bias: Floats
    """Shape (K,)."""
    n_epochs: int
    """Epochs of the block of labels that needed most."""
    slope: float
    """Largest absolute entry of the gradient of the mean objective."""
    converged: bool


def fit_logistic_labels(
    features: csr_array,
    targets: NDArray[Any],
    *,
    cost: float = 1.0,
    tolerance: float = 1e-4,
    max_epochs: int = 100,
    coupling: Floats | None = None,
    seed: int = 0,
    progress: Report | None = None,
) -> Logistic:
    r"""Fit all labels together, each against the rest.

    Minimised over weights W and biases b is

    .. math:: \tfrac12 \operatorname{tr}(W M W^\top)
        + C \sum_{il} \log(1 + e^{z_{il}}) - y_{il} z_{il}, \quad z = X W + b ,

    with M = I, or I + `coupling`. The dual is ascended one text at a time (Yu, Huang and Lin 2011;
    here for fractional y as well, where the dual variable of a text and a label is simply its
    probability, and 16 labels share one reading of the text). The bias has no penalty: it is drawn
    towards a value that follows it. Texts take ten epochs or so; few dense features and a large C
    take many more, and ``converged`` says whether there were enough. Blocks of labels run in
    threads of their own; the result does not depend on how many there are.

    A label that no text has, or every text, has no finite minimum: its weights are 0, and its
    probability is half a text in n, or all but half a text.

    Parameters
    ----------
    features
        X, shape (n, D).
    targets
        y in [0, 1], shape (n, K).
    cost
        C, above 0.
    tolerance
        Largest absolute entry of the gradient of the objective over C n at which to stop.
    coupling
        Positive semi-definite, shape (K, K): pulls the weights of labels together. All labels are
        then one block.
    seed
        For the order of texts.

    Raises
    ------
    InputError
        When shapes do not fit, C is not above 0, or a target lies outside [0, 1].

    References
    ----------
    Yu, Huang and Lin (2011), Dual coordinate descent methods for logistic regression and maximum
    entropy models, Machine Learning 85.
    """
    from affectlab.core.compiled import LANES, in_threads

    n, k = targets.shape
    if features.shape[0] != n:
        raise InputError(f"targets: {n} rows; expected one per text, {features.shape[0]}")
    if not cost > 0:
        raise InputError(f"cost = {cost}: expected a number above 0")
    if not (np.isfinite(targets).all() and ((targets >= 0) & (targets <= 1)).all()):
        raise InputError("targets: a value lies outside 0 to 1; expected shares or 0/1")
    rows = features.tocsr()
    matrix = _Rows(
        np.ascontiguousarray(rows.indptr, dtype=np.int32),
        np.ascontiguousarray(rows.indices, dtype=np.int32),
        np.ascontiguousarray(rows.data, dtype=np.float32),
        rows.shape[1],
    )
    # A label that no text has, or all, has no finite bias: it gets the share of half a text.
    share = targets.mean(axis=0)
    fitted = np.flatnonzero((share > 0) & (share < 1))
    edge = np.clip(share, 0.5 / n, 1 - 0.5 / n)
    bias = np.log(edge / (1 - edge))
    weights = np.zeros((matrix.width, k), dtype=np.float32)
    if not fitted.size:
        return Logistic(weights, bias, 0, 0.0, True)
    mix = None
    blocks = [fitted]
    if coupling is None:
        blocks = np.array_split(fitted, -(-fitted.size // LANES))
    else:
        inner = (np.eye(k) + coupling)[np.ix_(fitted, fitted)]
        mix = np.linalg.inv(inner).astype(np.float32)
    said: list[tuple[int, float]] = []

    def work(block: NDArray[np.intp]) -> None:
        ascent = _Ascent(matrix, targets[:, block], cost, mix, seed)
        told = progress if block[0] == fitted[0] else None
        said.append(ascent.run(tolerance, max_epochs, told))
        weights[:, block] = ascent.weights[:, : block.size]
        bias[block] = ascent.bias[: block.size]

    in_threads(work, blocks)
    epochs, slope = (max(part) for part in zip(*said, strict=True))
    return Logistic(weights, bias, int(epochs), float(slope), bool(slope <= tolerance))


@dataclass(frozen=True, eq=False)
class _Rows:
    pointer: NDArray[np.int32]
    column: NDArray[np.int32]
    data: NDArray[np.float32]
    width: int

    @property
    def lengths(self) -> NDArray[np.float32]:
        """Sum of squares of every row."""
        row = np.repeat(np.arange(self.pointer.size - 1), np.diff(self.pointer))
        squares = np.bincount(row, self.data.astype(np.float64) ** 2, self.pointer.size - 1)
        return squares.astype(np.float32)

    def sums(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """X' times values, shape (features, columns)."""
        shape = (self.pointer.size - 1, self.width)
        matrix = csr_array((self.data, self.column, self.pointer), shape=shape)
        return np.ascontiguousarray(matrix.T @ values, dtype=np.float32)


class _Ascent:
    """Dual ascent of one block of labels, padded to full lanes unless labels are coupled."""

    def __init__(
        self,
        rows: _Rows,
        targets: NDArray[Any],
        cost: float,
        mix: NDArray[np.float32] | None,
        seed: int,
    ) -> None:
        from affectlab.core.compiled import LANES

        n, k = targets.shape
        lanes = LANES if mix is None else k
        self._rows, self._mix, self._cost = rows, mix, np.float32(cost)
        self._rng = np.random.default_rng(seed)
        self._lengths = rows.lengths
        # Lanes without a label have a dual at its maximum: they stay where they are.
        self._targets = np.full((n, lanes), 0.5, dtype=np.float32)
        self._targets[:, :k] = targets
        start = np.clip(self._targets, np.float32(_START), np.float32(1 - _START))
        self._logit = np.log(start / (1 - start)).astype(np.float32)
        share = self._targets.mean(axis=0, dtype=np.float64)
        self._drawn_to = np.log(share / (1 - share)).astype(np.float32)
        pull = _PULL / (n * share * (1 - share))
        self._pull = np.minimum(pull, _FIRMEST).astype(np.float32)
        self._restore()

    def _restore(self) -> None:
        """Compute weights and biases from the dual variables."""
        held = 1 / (1 + np.exp(-self._logit))
        off = self._targets - held
        self.weights = self._rows.sums(self._cost * off)
        if self._mix is not None:
            self.weights = np.ascontiguousarray(self.weights @ self._mix)
        self.bias = self._drawn_to + self._pull * off.sum(axis=0, dtype=np.float64).astype(
            np.float32
        )

    def run(self, tolerance: float, max_epochs: int, progress: Report | None) -> tuple[int, float]:
        """Ascend until the gradient is small; give the number of epochs and the gradient."""
        from affectlab.models.text.linear import kernels as _kernels

        rows = self._rows
        matrix = (rows.pointer, rows.column, rows.data)
        slope = float("inf")
        for done in range(1, max_epochs + 1):
            state: tuple[Any, ...] = (
                *(self.weights, self._logit, self.bias, self._lengths),
                *(self._cost, self._pull),
                self._rng.permutation(len(self._targets)),
            )
            if self._mix is None:
                moved = _kernels.epoch(*matrix, *state)
            else:
                state = (*state, self._mix)
                moved = _kernels.coupled_epoch(*matrix, *state)
            if progress is not None:
                progress("training", done, 0)
            if moved / self._targets.size > _CALM:
                continue
            slope = self._slope(matrix)
            if slope <= tolerance:
                break
            # What pulls at the bias becomes part of what it is drawn to: in the end nothing pulls.
            self.bias, self._drawn_to = 2 * self.bias - self._drawn_to, self.bias.copy()
        else:
            slope = self._slope(matrix)
        return done, slope

    def _slope(self, matrix: tuple[Any, Any, Any]) -> float:
        from affectlab.models.text.linear import kernels as _kernels

        of_weights = np.empty_like(self.weights)
        of_bias = np.empty(self.bias.size)
        _kernels.gradient(*matrix, self.weights, self._logit, self.bias, of_weights, of_bias)
        # The bias has no penalty: what draws at it is not part of the objective.
        of_bias -= (self.bias - self._drawn_to) / self._pull
        largest = max(float(np.abs(of_weights).max()), float(np.abs(of_bias).max()))
        return largest / len(self._targets)
