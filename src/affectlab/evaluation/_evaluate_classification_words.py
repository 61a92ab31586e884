"""What a classification result says, in one sentence per model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from affectlab._words import number, percent, plural
from affectlab.estimates import NO_INTERVAL
from affectlab.evaluation._classes_costs import NO_ANSWER
from affectlab.evaluation._confusion import Confusion
from affectlab.evaluation._evaluate_classification_work import PEOPLE

if TYPE_CHECKING:
    from affectlab.estimates import Estimate
    from affectlab.evaluation._evaluate_classification_result import ClassificationResult

__all__ = ["sentence_on"]


def sentence_on(result: ClassificationResult, model: str) -> str:
    """Say how often a model is right, how bad its mistakes are, and what that compares with."""
    if model not in result.confusions:
        return f"{model} answered no stimulus that has a true class, and is not judged."
    words = _Words(result, model)
    parts = words.sets() if result.classes.multilabel else words.single()
    return f"{model} {'; '.join(part for part in parts if part)}."


class _Words:
    """The parts of a sentence; empty where there is nothing to say."""

    def __init__(self, result: ClassificationResult, model: str) -> None:
        self.result = result
        self.model = model
        self.known = dict(iter(result.estimates))

    def single(self) -> list[str]:
        seen = self.result.confusions[self.model]
        assert isinstance(seen, Confusion)
        right = self.known.get((self.model, "accuracy"))
        parts = [] if right is None else [self._right(right)]
        if seen.n == np.trace(seen.counts):
            parts.append("it makes no mistake")
        else:
            parts += [self._severity(), self._confusion(seen)]
        people = self.known.get((PEOPLE, "accuracy"))
        if people is not None and people.ok:
            of = plural(people.n_ratings, "answer")
            parts.append(f"people{self._by_others()} are right on {self._share(people)} of {of}")
        return parts

    def sets(self) -> list[str]:
        exact, macro, micro = (
            self.known[self.model, name] for name in ("exact_match", "macro_f1", "micro_f1")
        )
        parts = [
            f"gives exactly the true classes of {self._share(exact)} of "
            f"{plural(exact.n_items, 'stimulus', 'stimuli')}",
            f"its macro F1 is {self._interval(macro)} and its micro F1 {self._interval(micro)}",
        ]
        people = self.known.get((PEOPLE, "macro_f1"))
        if people is not None and people.ok:
            parts.append(f"people{self._by_others()} have a macro F1 of {self._interval(people)}")
        return parts

    def _by_others(self) -> str:
        people = self.result.classes.people
        return ", each judged by the others," if people is not None and people.left_out else ""

    def _coverage(self) -> str:
        return f"{100 * self.result.confidence:g}\u00a0%"

    def _share(self, estimate: Estimate, more: str = "") -> str:
        """Write a share with its interval, and what else belongs in brackets."""
        parts = [more] if more else []
        if not np.isnan(estimate.low):
            low, high = percent(estimate.low, 1), percent(estimate.high, 1)
            parts.insert(0, f"{self._coverage()} interval {low} to {high}")
        value = percent(estimate.value, 1)
        return f"{value} ({'; '.join(parts)})" if parts else value

    def _interval(self, estimate: Estimate) -> str:
        if not estimate.ok:
            return estimate.status
        if np.isnan(estimate.low):
            return number(estimate.value)
        return f"{number(estimate.value)} ({number(estimate.low)} to {number(estimate.high)})"

    def _right(self, right: Estimate) -> str:
        frame = self.result.estimates.frame
        rows = frame.filter((frame["role"] == "baseline") & (frame["metric"] == "accuracy"))
        stimuli = plural(right.n_items, "stimulus", "stimuli")
        text = f"is right on {self._share(right)} of {stimuli}"
        if rows.is_empty():
            return text
        names, values = rows["rater"].to_list(), rows["value"].to_list()
        above = "beside"
        if not np.isnan(right.low):
            above = "above" if right.low > max(values) else "not shown to be above"
        return (
            f"{text}, {above} the {percent(values[0], 1)} of answering always "
            f"{names[0].removeprefix('always ')} and the {percent(values[1], 1)} of guessing"
        )

    def _severity(self) -> str:
        ecc, emc = (self.known.get((self.model, name)) for name in ("ecc", "emc"))
        if ecc is None or emc is None or not (ecc.ok and emc.ok):
            return ""
        text = f"ECC is {self._interval(ecc)}"
        guess = self.known.get(("guessing", "emc"))
        if guess is None or not guess.ok:
            return f"{text}; its mistakes have EMC {self._interval(emc)}"
        said = f"EMC {self._interval(emc)} against {number(guess.value)}"
        if np.isnan(emc.low):
            value, other = number(emc.value), number(guess.value)
            why = emc.method.partition(NO_INTERVAL)[2]
            known = f" ({NO_INTERVAL}{why})" if why else ""
            return f"{text}; its mistakes have EMC {value}{known}, those of guessing {other}"
        beside = "not clearly milder or worse"
        if emc.low > guess.value:
            beside = "milder"
        elif emc.high < guess.value:
            beside = "worse"
        return f"{text}; its mistakes are {beside} than those of guessing ({said})"

    def _confusion(self, seen: Confusion) -> str:
        mistakes = seen.mistakes().sort("count", descending=True, maintain_order=True)
        first = mistakes.row(0, named=True)
        row = seen.counts[seen.labels.index(first["true"])].sum()
        if first["predicted"] == NO_ANSWER:
            return (
                f"most often it does not answer where {first['true']} is true "
                f"({first['count']:,} of {row:,})"
            )
        text = (
            f"most often it takes {first['true']} for {first['predicted']} "
            f"({first['count']:,} of {row:,}"
        )
        costs = self.result.costs
        if costs is None:
            return text + ")"
        off = costs.matrix[~np.eye(len(costs.labels), dtype=bool)]
        reach = f"{off.min():.3g} to {off.max():.3g}"
        return text + f", at a cost of {first['cost']:.3g} on a range from {reach})"
