"""Interrater correlation of a large text corpus, beside pandas and scipy in a loop."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._goemotions import Comments, comments
from benchmarks._harness import Workload, require_close


def ours(data: Comments) -> Any:
    """Means over raters with intervals."""
    from affectlab.reliability import interrater_correlation

    return interrater_correlation(data.ratings, target="sample")


def theirs(data: Comments) -> NDArray[np.float64]:
    """Means of the others by a group sum, then Spearman for every rater and label."""
    import pandas as pd
    from scipy.stats import spearmanr

    labels = list(data.labels[:-1])
    frame = pd.DataFrame(data.chosen[:, :-1], columns=labels)
    grouped = frame.groupby(data.comment)
    size = grouped[labels[0]].transform("size").to_numpy()[:, None]
    others = ((grouped.transform("sum") - frame) / (size - 1)).round(12)
    found = []
    with warnings.catch_warnings():
        # A rater who never chose a label has no correlation: not a number, and left out.
        warnings.simplefilter("ignore")
        for rater in np.unique(data.rater):
            rows = data.rater == rater
            mine, mean = frame[rows], others[rows]
            found.append([spearmanr(mine[label], mean[label])[0] for label in labels])
    return np.nanmean(found, axis=0)


def check(_: Comments, mine: Any, peer: NDArray[np.float64]) -> str:
    """Compare the means."""
    return require_close(mine.to_frame()["value"].to_numpy(), peer, 1e-8, "correlations")


WORKLOADS = (
    Workload(
        name="interrater correlation, 58,009 comments x 82 raters x 28 labels",
        peer="pandas and scipy.stats.spearmanr in a loop",
        make=comments,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=10,
        packages=("pandas", "scipy"),
        best="Ranks by group in pandas, all labels at once, take as long as the loop.",
    ),
)
