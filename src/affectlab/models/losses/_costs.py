"""Costs of mistakes among the labels of a data set, in its order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from affectlab.errors import InputError
from affectlab.taxonomy import CostMatrix, Taxonomy, load_taxonomy

__all__ = ["Costs", "costs_among"]

Costs: TypeAlias = CostMatrix | Taxonomy | str | Path
"""A cost matrix, or a taxonomy (its name or file) whose own costs are taken."""


def costs_among(costs: Costs, labels: Sequence[str]) -> CostMatrix:
    """Give the costs of some labels, rows and columns in the order given.

    Parameters
    ----------
    costs
        A cost matrix, or a taxonomy, its name or its file.
    labels
        The C labels as a data set orders them; two at least.

    Returns
    -------
    CostMatrix
        Its labels are named as `costs` names them.

    Raises
    ------
    InputError
        When a label is not known or has no costs, or fewer than two are given.

    Examples
    --------
    >>> costs_among("mikels", ["fear", "amusement"]).matrix.tolist()
    [[1.0, 8.0], [8.0, 1.0]]
    """
    if isinstance(labels, str):
        raise InputError(f"labels: expected a list of names, not the one text {labels!r}")
    if len(labels) < 2:
        raise InputError(f"labels: {len(labels)} given; expected two at least, to be mistaken")
    if isinstance(costs, CostMatrix):
        return costs.reorder(labels)
    taxonomy = load_taxonomy(costs)
    return taxonomy.cost_matrix().reorder([taxonomy.name_of(name) for name in labels])
