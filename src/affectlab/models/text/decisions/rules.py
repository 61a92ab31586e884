"""Rules that turn probabilities into sets of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Bools, Floats
from affectlab.evaluation.classes import Thresholds
from affectlab.models.text.decisions.thresholds import (
    best_global_threshold,
    best_thresholds,
    best_top_k,
)
from affectlab.models.text.warnings import warn_of_test

__all__ = [
    "DecisionKind",
    "DecisionRule",
    "cross_fitted_f1",
    "f1_by_chance",
    "f1_scores",
    "fit_decision",
    "rule_by_shares",
]

DecisionKind: TypeAlias = Literal["per_label", "global", "top_k"]


@dataclass(frozen=True)
class DecisionRule:
    """Which labels a text gets, given their probabilities.

    Raises
    ------
    InputError
        When there is not one threshold per label, one is no probability, or `k` is no number of
        labels.

    Examples
    --------
    >>> rule = DecisionRule("global", ("joy", "fear"), thresholds=(0.5, 0.5), at_least_one=True)
    >>> rule.decide([[0.7, 0.6], [0.2, 0.4]]).tolist()
    [[True, True], [False, True]]
    """

    kind: DecisionKind
    labels: tuple[str, ...]
    thresholds: tuple[float, ...] = ()
    """Probability from which on each label is answered; empty for ``top_k``."""
    k: int = 0
    """Labels that every text gets; 0 unless ``top_k``."""
    at_least_one: bool = False
    """Give a text below all thresholds the label whose probability is the largest part of its
    threshold."""
    fitted_on: str = ""
    """The texts it was fitted on, in words."""
    f1: float = float("nan")
    """Macro F1 on these texts; higher than on new ones."""
    unseen: tuple[str, ...] = field(default=())
    """Labels that none of these texts had: their threshold is 0.5, or the common one."""

    def __post_init__(self) -> None:
        check_choice("decision", self.kind, get_args(DecisionKind))
        if self.kind == "top_k":
            if not 1 <= self.k <= len(self.labels):
                raise InputError(f"k = {self.k}: expected 1 to {len(self.labels)}, the labels")
        elif len(self.thresholds) != len(self.labels):
            raise InputError(
                f"thresholds: {len(self.thresholds)}; expected one for each of "
                f"{len(self.labels)} labels"
            )
        for label, limit in zip(self.labels, self.thresholds, strict=False):
            if not 0 <= limit <= 1:
                raise InputError(f"threshold of {label!r} = {limit}: expected a probability")
        # A mean of ones may round to a little more.
        if self.f1 == self.f1 and not 0 <= self.f1 <= 1 + 1e-9:
            raise InputError(f"f1 = {self.f1}: expected a number from 0 to 1")

    def decide(self, probabilities: ArrayLike) -> Bools:
        """Choose labels, shape (n, labels).

        Raises
        ------
        InputError
            When the columns are not the labels of the rule.
        """
        given = np.asarray(probabilities, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != len(self.labels):
            raise InputError(
                f"probabilities: shape {given.shape}; expected one column for each of "
                f"{len(self.labels)} labels"
            )
        chosen: Bools = np.zeros(given.shape, dtype=bool)
        if self.kind == "top_k":
            order = np.argsort(-given, axis=1, kind="stable")[:, : self.k]
            np.put_along_axis(chosen, order, True, axis=1)
            return chosen
        limits = np.array(self.thresholds)
        chosen = given >= limits
        if self.at_least_one and len(given):
            part = given / np.maximum(limits, np.finfo(float).tiny)
            none = ~chosen.any(axis=1)
            chosen[none, part[none].argmax(axis=1)] = True
        return chosen

    def to_thresholds(self) -> Thresholds | None:
        """Give thresholds as the functions of :mod:`affectlab.evaluation` take them.

        None for ``top_k``, which has none; `at_least_one` is not part of them.
        """
        if self.kind == "top_k":
            return None
        if self.kind == "global":
            return Thresholds(default=self.thresholds[0])
        return Thresholds(labels=dict(zip(self.labels, self.thresholds, strict=True)))

    def said(self) -> str:
        """What the rule does, in words."""
        more = ", at least one label" if self.at_least_one else ""
        if self.kind == "top_k":
            return f"the {self.k} most probable label{'s' if self.k > 1 else ''}"
        if self.kind == "global":
            return f"probability from {self.thresholds[0]:.3f}{more}"
        return f"a threshold for each label{more}"

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return {
            "kind": self.kind,
            "labels": list(self.labels),
            "thresholds": list(self.thresholds),
            "k": self.k,
            "at_least_one": self.at_least_one,
            "fitted_on": self.fitted_on,
            "f1": None if np.isnan(self.f1) else self.f1,
            "unseen": list(self.unseen),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> DecisionRule:
        """Read what :meth:`to_dict` gives.

        Raises
        ------
        InputError
            When a part is missing or is of another kind.
        """
        try:
            return cls(
                given["kind"],
                tuple(given["labels"]),
                tuple(float(value) for value in given["thresholds"]),
                int(given["k"]),
                bool(given["at_least_one"]),
                str(given["fitted_on"]),
                float("nan") if given["f1"] is None else float(given["f1"]),
                tuple(given["unseen"]),
            )
        except InputError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"a rule cannot be read ({error!r}); expected what to_dict gives"
            ) from None


def fit_decision(
    probabilities: ArrayLike,
    truth: ArrayLike,
    labels: Sequence[str],
    kind: DecisionKind = "per_label",
    *,
    at_least_one: bool = False,
    fitted_on: str = "",
    split: str = "",
) -> DecisionRule:
    """Fit a rule to texts with known labels, for the highest macro F1.

    The search is exact: every threshold that makes a difference is looked at, by a sort and a
    cumulative sum. Thresholds are those of the rule without `at_least_one`, which is added to them.

    Parameters
    ----------
    probabilities
        Shape (n, labels).
    truth
        0 and 1, the same shape.
    kind
        ``"per_label"``, ``"global"`` (one threshold for all) or ``"top_k"``.
    at_least_one
        Whether a text below all thresholds gets a label all the same.
    fitted_on
        The texts in words, kept with the rule.
    split
        Name of the split they belong to. A rule fitted to a test split is no longer tested by it:
        a :class:`TestSplitWarning` says so.

    Raises
    ------
    InputError
        When the shapes do not fit, or the kind is not known.

    Examples
    --------
    >>> rule = fit_decision([[0.9, 0.2], [0.6, 0.1]], [[1, 1], [0, 0]], ["joy", "fear"])
    >>> rule.thresholds, rule.f1
    ((0.75, 0.15000000000000002), 1.0)
    """
    warn_of_test(split, "thresholds")
    check_choice("decision", kind, get_args(DecisionKind))
    names = tuple(labels)
    true = np.asarray(truth)
    limits: Floats | None = None
    k = 0
    if kind == "per_label":
        limits, reached = best_thresholds(probabilities, truth)
        f1 = float(np.nanmean(reached)) if not np.isnan(reached).all() else float("nan")
    elif kind == "global":
        limit, f1 = best_global_threshold(probabilities, truth)
        limits = np.full(len(names), limit)
    else:
        k, f1 = best_top_k(probabilities, truth)
    rule = DecisionRule(
        kind,
        names,
        () if limits is None else tuple(limits.tolist()),
        k,
        at_least_one and kind != "top_k",
        fitted_on,
        f1,
        tuple(
            name
            for name, any_ in zip(names, np.atleast_1d(true.any(axis=0)), strict=True)
            if not any_
        ),
    )
    if rule.at_least_one:
        chosen = rule.decide(probabilities)
        hits = (chosen & true.astype(bool)).sum(axis=0)
        count = chosen.sum(axis=0) + true.sum(axis=0)
        seen = true.any(axis=0)
        value = float((2 * hits[seen] / count[seen]).mean()) if seen.any() else float("nan")
        rule = replace(rule, f1=value)
    return rule


# A rule that answers each label as often as people do, for weak labels of a whole pool.


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
