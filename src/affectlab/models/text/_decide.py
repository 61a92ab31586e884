"""Rules that turn probabilities into sets of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Bools, Floats
from affectlab.errors import InputError, unknown_name
from affectlab.evaluation import Thresholds
from affectlab.models.text._leaks import warn_of_test
from affectlab.models.text._search import best_global_threshold, best_thresholds, best_top_k

__all__ = ["DecisionKind", "DecisionRule", "fit_decision"]

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
        if self.kind not in get_args(DecisionKind):
            raise unknown_name("decision", self.kind, get_args(DecisionKind))
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
    if kind not in get_args(DecisionKind):
        raise unknown_name("decision", kind, get_args(DecisionKind))
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
