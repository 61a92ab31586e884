"""Targets that give mild mistakes a share."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from affectlab._types import Floats
from affectlab.errors import InputError
from affectlab.models.losses._costs import Costs, costs_among

__all__ = ["soft_labels"]


def soft_labels(costs: Costs, labels: Sequence[str], temperature: float = 1.0) -> Floats:
    r"""Make a distribution over labels for each true label: the cheaper a mistake, the larger.

    .. math:: q_{yk} = \exp(-W_{yk} / T) \Big/ \sum_j \exp(-W_{yj} / T)

    Parameters
    ----------
    costs
        A cost matrix, or a taxonomy, its name or its file.
    labels
        The C labels, in the order of rows and columns wanted. Costs are found by name.
    temperature
        T, above 0: small values leave nearly all to the true label.

    Returns
    -------
    ndarray
        Shape (C, C), true labels in rows, which sum to 1.

    Raises
    ------
    InputError
        When a label is not known or has no costs, or `temperature` is not above 0.

    References
    ----------
    The form is that of Bertinetto et al. (2020), Making Better Mistakes, section 3.2, with the
    costs of Zhao et al. (2024), To Err Like Human, equation 1.

    Examples
    --------
    >>> soft_labels("mikels", ["awe", "excitement", "anger"]).round(3).tolist()[0]
    [0.73, 0.268, 0.002]
    """
    if not (isinstance(temperature, int | float) and 0 < temperature < math.inf):
        raise InputError(f"temperature = {temperature}: expected a finite number above 0")
    # The true label costs 1, the least: no exponent is above 0.
    shares = np.exp((1.0 - costs_among(costs, labels).matrix) / temperature)
    found: Floats = shares / shares.sum(axis=1, keepdims=True)
    return found
