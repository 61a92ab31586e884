"""How well differences are predicted on the actors tested, beside what needs no learning."""

from __future__ import annotations

import numpy as np

from affectlab._types import Floats, Ints
from affectlab.models.differences._distances import cosine
from affectlab.models.differences._learned_data import BLOCK, PairSamples

__all__ = ["MEASURES", "Ranked", "zero_shot"]

MEASURES = ("srocc", "plcc")
"""Spearman's rank correlation, and Pearson's."""
_EQUAL = 1e-9


class Ranked:
    """Scores whose ranks are taken once, for all that predict them."""

    def __init__(self, scores: Floats) -> None:
        self.scores = scores
        self._ranks = _ranks(scores)

    def measure(self, predicted: Floats) -> tuple[float, float, float, str]:
        """Give SROCC, PLCC, root mean squared error, and a status."""
        if self.scores.size < 3:
            return np.nan, np.nan, np.nan, "undefined: fewer than three pairs"
        for what, values in (("scores", self.scores), ("predictions", predicted)):
            if not np.isfinite(values).all():
                return np.nan, np.nan, np.nan, f"undefined: {what} are not finite"
            if np.ptp(values) <= _EQUAL * max(float(np.abs(values).max()), 1e-300):
                return np.nan, np.nan, np.nan, f"undefined: all {what} are equal"
        rmse = float(np.sqrt(np.mean((predicted - self.scores) ** 2)))
        srocc = _pearson(_ranks(predicted), self._ranks)
        return srocc, _pearson(predicted, self.scores), rmse, "ok"


def _ranks(values: Floats) -> Floats:
    from scipy.stats import rankdata

    return np.asarray(rankdata(values), dtype=np.float64)


def _pearson(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def zero_shot(data: PairSamples) -> dict[str, Floats]:
    """Give what embeddings say by themselves: mean absolute difference, and 1 less the cosine.

    Examples
    --------
    >>> from affectlab.models.differences._learned_data import samples_of
    >>> pairs = {"actor": ["a"], "file_a": ["x"], "file_b": ["y"], "value": [50.0]}
    >>> found = zero_shot(samples_of(pairs, None, {"x": [1.0, 0.0], "y": [0.0, 1.0]}))
    >>> {name: values.tolist() for name, values in found.items()}
    {'L1': [1.0], 'cosine': [1.0]}
    """
    found = {"L1": np.empty(len(data)), "cosine": np.empty(len(data))}
    rows: Ints = np.arange(len(data), dtype=np.int64)
    for part, block in data.blocks(rows):
        found["L1"][part] = block.mean(axis=1, dtype=np.float64)
    for start in range(0, len(data), BLOCK):
        part = slice(start, start + BLOCK)
        one, other = (
            data.values[side[part]].astype(np.float64) for side in (data.first, data.second)
        )
        apart = cosine(one, other)
        # No direction on one side: as far as can be told, neither alike nor opposite.
        found["cosine"][part] = np.where(np.isnan(apart), 1.0, apart)
    return found
