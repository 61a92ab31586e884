"""Areas under the curve of bootstrap replicates, from one sort per metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Bools, Floats


@kernel
def auc_lanes(order: NDArray[Any], last: Bools, good: Bools, weights: Floats, area: Floats) -> None:
    """Give the chance that a good item has a larger value than a poor one, once per lane.

    Parameters
    ----------
    order
        Items by rising value, shape (n,).
    last
        Whether the next item of ``order`` has a larger value, or there is none, shape (n,).
    good
        Whether an item is good, shape (items,).
    weights
        How often each item counts, shape (items, lanes).
    area
        Overwritten, shape (lanes,), ties counting half; ``nan`` without a good or a poor item.
    """
    lanes = area.size
    below = np.zeros(lanes)
    high = np.zeros(lanes)
    won = np.zeros(lanes)
    tied_good = np.zeros(lanes)
    tied_poor = np.zeros(lanes)
    for k in range(order.size):
        row = weights[order[k]]
        if good[order[k]]:
            for b in range(lanes):
                tied_good[b] += row[b]
        else:
            for b in range(lanes):
                tied_poor[b] += row[b]
        if last[k]:
            for b in range(lanes):
                won[b] += tied_good[b] * (below[b] + 0.5 * tied_poor[b])
                below[b] += tied_poor[b]
                high[b] += tied_good[b]
                tied_good[b] = 0.0
                tied_poor[b] = 0.0
    for b in range(lanes):
        pairs = high[b] * below[b]
        area[b] = won[b] / pairs if pairs > 0.0 else np.nan
