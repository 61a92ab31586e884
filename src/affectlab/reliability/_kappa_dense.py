"""Kappa of all pairs of raters on a panel where most raters answered most units.

The answers become levels in a dense array of shape (labels, units, raters), from which pairs are
counted and kappas computed by compiled loops, one label per task. Sparse panels go through sorted
answers instead; the results are the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from affectlab._types import Floats
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import matrix_of
from affectlab.reliability._kappa_tables import KappaTable, disagreement_weights, kappa_status

__all__ = ["DensePanel", "dense_kappas", "dense_panel"]

_MOST_TABLE_CELLS = 1 << 22
"""Cells of the pair tables of one label."""
_MOST_SPARSE = 8
"""Places of the dense array per answer."""
_MOST_LEVELS = 127
_FEW_ANSWERS = 1 << 15
"""Below this, loading compiled code takes longer than the work."""
_FEW_LEVELS = 16
"""Up to here counting shared bits is faster than counting units."""


@dataclass(frozen=True)
class DensePanel:
    """Levels of the scale by label, unit and rater, -1 where there is no answer."""

    cube: NDArray[np.int8]
    labels: tuple[str, ...]
    raters: tuple[str, ...]
    rater_kinds: tuple[str, ...]
    n_levels: int


def dense_panel(data: Ratings | ArrayLike, levels: Floats, *, truncate: bool) -> DensePanel | None:
    """Arrange the answers densely.

    Returns
    -------
    ``None`` where a dense array would waste memory, and where a value is off the scale: the way
    through sorted answers finds and names it; and for little data.
    """
    if isinstance(data, Ratings):
        used = data.answers()
        shape = (len(used.label_names), len(used.stimulus_names), len(used.rater_names))
        codes = used.label_code, used.stimulus_code, used.rater_code
        values = np.asarray(used.value, dtype=np.float64)
        names = (used.label_names, used.rater_names, used.rater_kinds)
    else:
        matrix = matrix_of(data)
        n_raters, n_units = matrix.shape
        shape = (1, n_units, n_raters)
        rater, unit = (place.ravel() for place in np.indices(matrix.shape, dtype=np.int32))
        codes, values = (np.zeros(unit.size, dtype=np.int32), unit, rater), matrix.ravel()
        names = (("rating",), tuple(map(str, range(n_raters))), ("human",) * n_raters)
    n_labels, n_units, n_raters = shape
    n_cells = n_raters * (n_raters - 1) // 2 * levels.size**2
    wasteful = n_labels * n_units * n_raters > _MOST_SPARSE * values.size
    too_large = n_cells > _MOST_TABLE_CELLS or levels.size > _MOST_LEVELS
    if values.size < _FEW_ANSWERS or wasteful or too_large:
        return None
    from affectlab.reliability._kernels._kappa import fill_cube

    cube = np.full(shape, -1, dtype=np.int8)
    middles = (levels[1:] + levels[:-1]) / 2
    low, high = levels[0] - 1e-9, levels[-1] + 1e-9
    if not fill_cube(*codes, values, middles, low, high, truncate, cube):
        return None
    labels, raters, kinds = (tuple(part) for part in names)
    return DensePanel(cube, labels, raters, kinds, levels.size)


def dense_kappas(panel: DensePanel, weights: str, confidence: float) -> KappaTable:
    """Compute kappa of all pairs of raters on all labels.

    Returns
    -------
    Shape (labels x pairs,), label after label, with the pairs of a label in the order of
    ``np.triu_indices(n_raters, 1)``.
    """
    from affectlab._compiled import in_threads
    from affectlab.reliability._kernels._kappa import (
        count_pairs,
        count_pairs_by_bits,
        kappa_of_counts,
    )

    size = panel.n_levels
    count = count_pairs_by_bits if size <= _FEW_LEVELS else count_pairs
    w = disagreement_weights(weights, size)
    n_pairs = len(panel.raters) * (len(panel.raters) - 1) // 2
    value, se = (np.empty((len(panel.labels), n_pairs)) for _ in range(2))
    n = np.zeros((len(panel.labels), n_pairs), dtype=np.int64)

    def one_label(k: int) -> None:
        counts = np.zeros(n_pairs * size**2, dtype=np.int32)
        count(panel.cube[k], size, counts)
        kappa_of_counts(counts.reshape(n_pairs, size, size), w, value[k], se[k], n[k])

    in_threads(one_label, range(len(panel.labels)))
    flat, spread = value.ravel(), se.ravel()
    half = ndtri((1 + confidence) / 2) * spread
    return KappaTable(
        flat,
        spread,
        np.maximum(flat - half, -1),
        np.minimum(flat + half, 1),
        n.ravel(),
        kappa_status(n.ravel(), ~np.isnan(flat)),
    )
