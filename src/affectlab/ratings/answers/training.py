"""Which stimuli a model was trained on: said beside its answers by those who know it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import polars as pl

from affectlab.ratings.answers.arrays import row_column
from affectlab.ratings.table import Ratings

IN_TRAINING = "in_training"
"""Column of answers: whether the model was trained on the stimulus."""
N_SEEN, SHARE_SEEN = "n_seen", "share_seen"
"""Attributes of a rater: stimuli, of those that it rated, that it was trained on."""


def mark_training(ratings: Ratings, seen: Collection[str]) -> Ratings:
    """Say of the answers of one model to which stimuli it was trained on.

    Parameters
    ----------
    ratings
        Answers of one model.
    seen
        Names of the stimuli that it was trained on.

    Returns
    -------
    The same answers. The table of raters counts these stimuli in ``n_seen``, and as a share of all
    that it rated in ``share_seen``; where there are any, the column ``in_training`` of the answers
    says which.

    Examples
    --------
    >>> net = Ratings({"stimulus": ["a", "b"], "rater": ["net"] * 2, "value": [1, 0]})
    >>> found = mark_training(net, {"b"})
    >>> found.raters.select("n_seen", "share_seen").row(0), found.frame["in_training"].to_list()
    ((1, 0.5), [False, True])
    """
    known = set(seen)
    marked = np.array([name in known for name in ratings.stimulus_names], dtype=np.bool_)
    n = int(marked.sum())
    raters = ratings.raters.with_columns(
        pl.lit(n, pl.Int64).alias(N_SEEN), pl.lit(n / max(marked.size, 1)).alias(SHARE_SEEN)
    )
    body = ratings._body
    if n:
        column = pl.Series(IN_TRAINING, marked[ratings.stimulus_code])
        body = replace(body, extras={**body.extras, IN_TRAINING: column})
    return ratings._derive(body, raters=raters)


def training_counts(ratings: Ratings, stimuli: Collection[str]) -> dict[str, tuple[int, int]]:
    """Count, for each rater who was trained on some, how many of these stimuli, and of how many.

    Parameters
    ----------
    ratings
        Answers of models.
    stimuli
        Those on which they are judged. Where a table says of a rater only how many it was trained
        on, these are of all that it rated.
    """
    names = set(stimuli)
    judged = np.array([name in names for name in ratings.stimulus_names], dtype=np.bool_)
    code = ratings.rater_code.astype(np.int64) * ratings.n_stimuli + ratings.stimulus_code
    column = row_column(ratings, IN_TRAINING)
    if IN_TRAINING in ratings.stimuli.columns and ratings.n_raters > 1:
        # It does not say which of them was trained.
        column = None
    found: dict[str, tuple[int, int]] = {}
    if column is not None:
        is_true = column.cast(pl.String).str.to_lowercase().is_in(["true", "1"])
        seen, of = (
            np.bincount(
                np.unique(code[rows & judged[ratings.stimulus_code]]) // ratings.n_stimuli,
                minlength=ratings.n_raters,
            )
            for rows in (is_true.fill_null(value=False).to_numpy(), np.True_)
        )
        counts = zip(ratings.rater_names, seen.tolist(), of.tolist(), strict=True)
        return {name: (n, total) for name, n, total in counts if n}
    if N_SEEN not in ratings.raters.columns:
        return found
    of = np.bincount(np.unique(code) // ratings.n_stimuli, minlength=ratings.n_raters)
    told = dict(ratings.raters.select("rater", pl.col(N_SEEN).cast(pl.Int64)).iter_rows())
    for name, total in zip(ratings.rater_names, of.tolist(), strict=True):
        if told.get(name):
            found[name] = (int(told[name]), total)
    return found
