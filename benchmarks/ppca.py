"""Leave-one-rater-out PPCA of a large text corpus, beside a loop over raters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._goemotions import Comments, comments
from benchmarks._harness import Workload, require_close


def ours(data: Comments) -> Any:
    """One random split, all raters, with tests and loadings."""
    from affectlab.reliability import ppca

    return ppca(data.ratings, n_splits=1, min_items=2, seed=1)


def theirs(data: Comments) -> NDArray[np.float64]:
    """Loop over raters, examples and components; least squares for every component."""
    import pandas as pd
    from scipy.stats import spearmanr

    code = pd.factorize(data.rater)[0]
    kept = (data.chosen[:, -1] == 0) & data.chosen[:, :-1].any(axis=1)
    # Draws go by the order of names, which is that of the codes; results by that of the table.
    order = np.lexsort((data.rater, data.comment))
    order = order[kept[order]]
    panel = np.bincount(data.comment[order])
    order = order[panel[data.comment[order]] >= 3]
    comment, rater, values = data.comment[order], code[order], data.chosen[order, :-1]
    # The same random orders as ours, so that the results can be compared.
    shuffled = np.lexsort((np.random.default_rng(1).random(order.size), comment))
    rows_of = dict(pd.Series(shuffled).groupby(comment[shuffled]).apply(list))
    found = []
    for left_out in np.unique(rater):
        first, second, mean = [], [], []
        mine = np.flatnonzero(rater == left_out)
        for row in mine:
            others = [other for other in rows_of[comment[row]] if other != row]
            half = len(others) // 2
            first.append(values[others[:half]].mean(axis=0))
            second.append(values[others[half:]].mean(axis=0))
            mean.append(values[others].mean(axis=0))
        x, y, m, own = (
            part - part.mean(axis=0) for part in map(np.array, (first, second, mean, values[mine]))
        )
        vectors = np.linalg.eigh(x.T @ y + y.T @ x)[1][:, ::-1]
        a, b = own @ vectors, m @ vectors
        rho = []
        for k in range(a.shape[1]):
            left, right = a[:, k], b[:, k]
            if k:
                before = b[:, :k]
                left = left - before @ np.linalg.lstsq(before, left, rcond=None)[0]
                right = right - before @ np.linalg.lstsq(before, right, rcond=None)[0]
            rho.append(abs(spearmanr(left.round(9), right.round(9))[0]))
        found.append(rho)
    return np.array(found)


def check(_: Comments, mine: Any, peer: NDArray[np.float64]) -> str:
    """Compare the correlation of every rater on every component."""
    return require_close(np.abs(mine.by_rater), peer, 1e-6, "correlations by rater and component")


WORKLOADS = (
    Workload(
        name="leave-one-rater-out PPCA, 58,009 comments x 82 raters x 28 labels",
        peer="numpy and scipy, a loop over raters",
        make=comments,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=6,
        packages=("scipy", "pandas"),
        best="Products of matrices for each rater; means over the others are a loop over answers.",
        rounds=3,
    ),
)
