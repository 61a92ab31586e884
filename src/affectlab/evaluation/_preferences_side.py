"""Did judges choose a side, whatever stood there?"""

from __future__ import annotations

import numpy as np

from affectlab._types import Bools
from affectlab.estimates import Estimates
from affectlab.evaluation._preferences_tally import Tally, exact_interval

__all__ = ["side_check"]


def side_check(tally: Tally, confidence: float) -> Estimates | None:
    """Give the share of decided votes for one side, and a test that does not mind the design.

    Where one system stood on the left more often, the better one draws votes to the left without
    any bias. So the test asks whether a system is chosen more often on one side than on the other:
    Fisher's exact test of side by choice.

    Returns
    -------
    One row, keyed and with extra columns as the table of :func:`preferences`; ``None`` where sides
    are not known.
    """
    import polars as pl

    votes, choice = tally.votes, tally.choice
    if votes is None or choice is None or not votes.side:
        return None
    a_first = votes.first == votes.systems.index(tally.choices[0])
    rows: Bools = (votes.first_left >= 0) & (choice < 2)
    a_left = np.where(a_first, votes.first_left, 1 - votes.first_left)[rows] == 1
    chose_a = choice[rows] == 0
    k, n = int((a_left == chose_a).sum()), int(rows.sum())
    value = k / n if n else np.nan
    low, high = exact_interval(np.array([k]), np.array([n]), confidence)
    p = np.nan
    if a_left.any() and not a_left.all():
        from scipy.stats import fisher_exact

        table = [[(chose_a & side).sum(), (~chose_a & side).sum()] for side in (a_left, ~a_left)]
        p = float(fisher_exact(table).pvalue)
    made = Estimates.build(
        {"about": ["side"], "choice": [votes.side]},
        value=[value],
        se=[np.sqrt(value * (1 - value) / n) if n else np.nan],
        low=low,
        high=high,
        method="share of decided votes for the side; exact interval, p from Fisher's test of side "
        "by choice, votes as independent",
        n_items=np.unique(votes.item[rows]).size,
        n_raters=np.unique(votes.judge[rows]).size,
        n_ratings=n,
        status=["ok" if n else "undefined: nothing was decided"],
    )
    extra = [
        pl.Series("count", [k], dtype=pl.Int64),
        pl.Series("of", [n], dtype=pl.Int64),
        pl.Series("p", [p], dtype=pl.Float64),
    ]
    return Estimates(made.frame.with_columns(extra), made.keys)
