"""Folds that never part what belongs together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from affectlab._types import Bools, Ints
from affectlab.errors import InputError

__all__ = ["check_folds", "grouped_folds"]


def check_folds(good: Bools, clusters: Ints, folds: int) -> None:
    """Refuse data that cannot be split so often.

    Raises
    ------
    InputError
        If there are fewer clusters with good, or with poor items than folds.
    """
    if folds < 2:
        raise InputError(f"folds {folds}: expected at least 2")
    for side, name in ((good, "good"), (~good, "poor")):
        n = int(np.unique(clusters[side]).size)
        if n < folds:
            raise InputError(
                f"{n} groups of items with a {name} one are too few for {folds} folds; expected at "
                "least one for each fold"
            )


def grouped_folds(
    good: Bools, clusters: Ints, folds: int, seed: int
) -> Iterator[tuple[Ints, Ints]]:
    """Split items, clusters as a whole and shares of good ones alike; yields training and test.

    Parameters
    ----------
    good, clusters
        Shape (n,).
    """
    from sklearn.model_selection import StratifiedGroupKFold

    # Fewer folds where a class is scarce, as happens within the training part of a fold.
    most = min(
        folds,
        *(int(np.unique(clusters[side]).size) for side in (good, ~good)),
    )
    if most < 2:
        raise InputError(
            "a training part holds good or poor items of one group only; expected more data, or "
            "fewer folds"
        )
    cut = StratifiedGroupKFold(n_splits=most, shuffle=True, random_state=seed)
    for train, test in cut.split(np.zeros((good.size, 1)), good, clusters):
        if good[train].all() or not good[train].any():
            raise InputError(
                "a training part would hold good or poor items only; expected more groups of items"
            )
        yield train.astype(np.int64), test.astype(np.int64)
