"""A rule that answers each label as often as people do, for weak labels of a whole pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Bools, Floats
from affectlab.errors import InputError
from affectlab.models.text._decide import DecisionRule

__all__ = ["cross_fitted_f1", "f1_by_chance", "f1_scores", "rule_by_shares"]

_FACTORS = np.linspace(1.0, 0.5, 51)
"""By these the shares are made smaller, for what texts below all thresholds add to them."""
_SHUFFLES = 400
_APART = 1e-9
"""Probabilities of a label that differ by less do not tell texts apart."""


def rule_by_shares(
    probabilities: ArrayLike, shares: ArrayLike, labels: Sequence[str], *, fitted_on: str = ""
) -> DecisionRule:
    """Choose a threshold for each label so that as many texts get it as should have it.

    Thresholds that are best for F1 answer a label that is hard to tell far too often: what is
    counted with them, such as the share of neutral texts in a group, is then about the threshold
    and not about the texts. Every text gets one label at least.

    Parameters
    ----------
    probabilities
        Of texts that the model has not learned from, shape (n, labels).
    shares
        Of texts that have each label, shape (labels,), in [0, 1].
    labels
        Names of the columns.
    fitted_on
        The texts, in words.

    Raises
    ------
    InputError
        When there are no texts, or not one column and one share for each label.

    Examples
    --------
    >>> sure = [[0.9, 0.2], [0.8, 0.1], [0.3, 0.4], [0.2, 0.1]]
    >>> rule = rule_by_shares(sure, [0.5, 0.5], ("joy", "fear"))
    >>> rule.decide(sure).mean(axis=0).tolist()
    [0.5, 0.5]
    """
    given = np.asarray(probabilities, dtype=np.float64)
    wanted = np.asarray(shares, dtype=np.float64)
    if given.ndim != 2 or not len(given) or given.shape[1] != len(labels) or not labels:
        raise InputError(
            f"probabilities: shape {given.shape}; expected texts, and a column for each of "
            f"{len(labels)} labels"
        )
    if wanted.shape != (len(labels),) or not ((wanted >= 0) & (wanted <= 1)).all():
        raise InputError(f"shares: expected a number from 0 to 1 for each of {len(labels)} labels")
    falling = -np.sort(-given, axis=0)
    rules = (
        DecisionRule(
            "per_label",
            tuple(labels),
            tuple(_limit(column, share) for column, share in zip(falling.T, part, strict=True)),
            at_least_one=True,
            fitted_on=fitted_on,
            unseen=tuple(np.asarray(labels)[wanted == 0].tolist()),
        )
        for part in (wanted * factor for factor in _FACTORS)
    )
    return min(rules, key=lambda rule: abs(rule.decide(given).mean() - wanted.mean()))


def _limit(falling: Floats, share: float) -> float:
    """Threshold that a share of texts reaches, whose probabilities are given in falling order."""
    if not share or falling[0] - falling[-1] < _APART:
        # Nothing was learned of the label: it is not guessed.
        return 1.0
    n = round(share * len(falling))
    if n >= len(falling):
        return float(falling[-1])
    above = falling[falling > falling[n]]
    if not above.size:
        # Fewer than one of these texts should have it: only what is likelier than in all of them.
        return float(np.nextafter(falling[0], 1.0))
    return float((above[-1] + falling[n]) / 2)


def f1_scores(chosen: Bools, truth: Bools) -> tuple[float, float]:
    """Macro F1, over labels that some text has, and micro F1; arrays of shape (n, labels).

    Examples
    --------
    >>> chosen, truth = np.array([[1, 0], [1, 0]], bool), np.array([[1, 0], [0, 1]], bool)
    >>> f1_scores(chosen, truth)
    (0.3333333333333333, 0.5)
    """
    right = (chosen & truth).sum(axis=0)
    total = chosen.sum(axis=0) + truth.sum(axis=0)
    present = truth.any(axis=0)
    each = 2 * right / np.maximum(total, 1)
    macro = float(each[present].mean()) if present.any() else float("nan")
    return macro, float(2 * right.sum() / max(int(total.sum()), 1))


def cross_fitted_f1(
    probabilities: Floats, truth: Bools, shares: ArrayLike, labels: Sequence[str], seed: int = 0
) -> tuple[float, float, Bools]:
    """Judge :func:`rule_by_shares` on halves of the texts that it was not fitted to.

    Parameters
    ----------
    probabilities, truth
        Shape (n, labels), of 2 texts at least.
    shares, labels
        As for :func:`rule_by_shares`.
    seed
        Draws the halves.

    Returns
    -------
    Macro F1, micro F1, and what was chosen, shape (n, labels).

    Examples
    --------
    >>> sure = np.tile([[0.9, 0.1], [0.2, 0.8]], (10, 1))
    >>> cross_fitted_f1(sure, sure > 0.5, [0.5, 0.5], ("joy", "fear"))[:2]
    (1.0, 1.0)
    """
    order = np.random.default_rng(seed).permutation(len(probabilities))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    chosen = np.zeros(truth.shape, dtype=np.bool_)
    for fitted, judged in (halves, halves[::-1]):
        rule = rule_by_shares(probabilities[fitted], shares, labels)
        chosen[judged] = rule.decide(probabilities[judged])
    return *f1_scores(chosen, truth), chosen


def f1_by_chance(chosen: Bools, truth: Bools, seed: int = 0) -> float:
    """Micro F1 that answers given to the wrong texts exceed in one of twenty shuffles.

    Parameters
    ----------
    chosen, truth
        Shape (n, labels).
    seed
        Draws the shuffles.

    Examples
    --------
    >>> told = np.eye(2, dtype=bool)[np.arange(40) % 2]
    >>> 0.5 < f1_by_chance(told, told) < 0.8
    True
    """
    rng = np.random.default_rng(seed)
    return float(
        np.quantile([f1_scores(rng.permutation(chosen), truth)[1] for _ in range(_SHUFFLES)], 0.95)
    )
