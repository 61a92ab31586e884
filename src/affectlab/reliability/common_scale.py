"""Labels on different scales, brought to one where a question is asked over all of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from affectlab.ratings import Ratings, one_scale


def in_percent(ratings: Ratings) -> tuple[Ratings, Mapping[str, tuple[float, float]]]:
    """Bring labels on different scales to percent of the width of each.

    Labels without an order or without two ends have no such percent, and are left out. Where all
    labels share a scale, nothing is done.

    Returns
    -------
    tuple
        The ratings, and the ends of the scale of each label; empty where all share one.

    Raises
    ------
    InputError
        When no label has an order and two ends.
    """
    if len(set(ratings.scales.values())) == 1:
        return ratings, {}
    ends = {
        name: (scale.low, scale.high)
        for name, scale in ratings.scales.items()
        if scale.kind not in ("nominal", "text")
        and scale.low is not None
        and scale.high is not None
    }
    if not ends:
        one_scale(ratings.scales)
    kept = ratings.select(labels=list(ends))
    low, high = np.array([ends[name] for name in kept.label_names]).T[:, kept.label_code]
    value = 100 * (kept.value - low) / (high - low)
    return kept.with_values(value, "0-100 interval", step="percent of each scale's width"), ends
