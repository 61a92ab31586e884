"""Results of pairwise kappa: the table with the kinds of pairs, and the matrix of raters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from affectlab._types import Floats
from affectlab.errors import unknown_name
from affectlab.estimates import Estimates
from affectlab.ratings import HUMAN_KINDS

__all__ = ["KappaResult", "RaterMatrix", "kappa_matrix", "side_of"]


@dataclass(frozen=True, repr=False)
class KappaResult(Estimates):
    """Kappa by label, rater_a and rater_b, with the kind of every pair.

    After the columns of every result stands ``pair_kind``: ``human-human``, ``human-model`` or
    ``model-model``. Simulated raters count as human, baselines as models.
    """

    raters: tuple[str, ...] = ()
    """All raters, in the order of the ratings."""
    rater_kinds: tuple[str, ...] = ()
    """The kind of each rater."""

    @property
    def pair_kind(self) -> pl.Series:
        """The kind of pair of each row."""
        return self.frame["pair_kind"]

    def of_kind(self, pair_kind: str) -> pl.DataFrame:
        """Give the rows of one kind of pair."""
        return self.frame.filter(pl.col("pair_kind") == pair_kind)


@dataclass(frozen=True)
class RaterMatrix:
    """A square table of raters, humans first."""

    raters: tuple[str, ...]
    rater_kinds: tuple[str, ...]
    values: Floats
    """Shape (raters, raters), symmetric, ``nan`` on the diagonal and where nothing is defined."""

    def to_frame(self) -> pl.DataFrame:
        """Give a column ``rater`` and one column per rater."""
        columns = {name: self.values[:, k] for k, name in enumerate(self.raters)}
        return pl.DataFrame({"rater": list(self.raters), **columns})


def side_of(rater_kind: str) -> str:
    return "human" if rater_kind in HUMAN_KINDS else "model"


def kappa_matrix(result: KappaResult, *, labels: tuple[str, ...] | None = None) -> RaterMatrix:
    """Average kappa over labels for every pair of raters, humans first.

    Parameters
    ----------
    result
        What :func:`pairwise_kappa` gave.
    labels
        Labels to average over; by default all.

    Returns
    -------
    A symmetric matrix; labels on which a pair is not defined are left out of its mean.

    Raises
    ------
    InputError
        If a label is not in the table.

    Examples
    --------
    >>> from affectlab.reliability import pairwise_kappa
    >>> table = pairwise_kappa([[0, 3, 7, 0], [0, 3, 3, 0], [1, 4, 7, 0]], scale="0-7")
    >>> matrix = kappa_matrix(table)
    >>> matrix.raters, matrix.values[0].round(3).tolist()
    (('0', '1', '2'), [nan, 0.652, 0.969])
    """
    frame = result.frame
    if labels is not None:
        known = frame["label"].unique(maintain_order=True).to_list()
        for name in labels:
            if name not in known:
                raise unknown_name("label", name, known)
        frame = frame.filter(pl.col("label").is_in(list(labels)))
    index = {name: k for k, name in enumerate(result.raters)}
    values = np.full((len(index), len(index)), np.nan)
    means = frame.group_by("rater_a", "rater_b", maintain_order=True).agg(
        pl.col("value").drop_nans().mean()
    )
    for rater_a, rater_b, mean in means.iter_rows():
        if mean is not None:
            values[index[rater_a], index[rater_b]] = values[index[rater_b], index[rater_a]] = mean
    human = np.array([side_of(kind) == "human" for kind in result.rater_kinds], dtype=bool)
    order = np.argsort(~human, kind="stable")
    return RaterMatrix(
        tuple(result.raters[k] for k in order),
        tuple(result.rater_kinds[k] for k in order),
        values[np.ix_(order, order)],
    )
