"""How pooled answers become the truth, and single answers a prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StrictStr

from affectlab.core.errors import InputError
from affectlab.core.toml import read_toml
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import option
from affectlab.evaluation.classes.class_map import ClassMap
from affectlab.evaluation.classes.panel import Panel
from affectlab.evaluation.classes.votes import (
    ANSWER_TIES,
    RULES,
    TIES,
    AnswerTies,
    Rule,
    Ties,
    check_choice,
    highest,
    leave_one_out,
    pooled,
    require_majority,
)
from affectlab.taxonomy import Taxonomy

__all__ = [
    "AnswerRule",
    "Decided",
    "Threshold",
    "Thresholds",
    "TruthRule",
    "agreeing",
    "load_thresholds",
    "no_offsets",
]


class Thresholds(BaseModel):
    """Scores from which on a label counts as present: one for all, or one for each label."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default: float | None = None
    labels: dict[StrictStr, float] = Field(default_factory=dict)

    def row(self, labels: Sequence[str], taxonomy: Taxonomy) -> Floats:
        """Threshold of each label, in this order.

        Raises
        ------
        InputError
            When a name is not known, or a label has no threshold.
        """
        named = {taxonomy.name_of(label): value for label, value in self.labels.items()}
        found = [named.get(label, self.default) for label in labels]
        for label, value in zip(labels, found, strict=True):
            if value is None or value != value:
                raise InputError(f"thresholds: label {label!r} has none; give it one, or a default")
        return np.array(found, dtype=np.float64)


Threshold: TypeAlias = float | Mapping[str, float] | Thresholds | str | Path


def load_thresholds(given: Threshold) -> Thresholds:
    """Bring thresholds into one form.

    Parameters
    ----------
    given
        One number, perhaps as text; a number for each label; or a TOML file with ``default = 0.5``
        and a table ``[labels]``, either of which may be absent.

    Raises
    ------
    InputError
        When the file cannot be used.

    Examples
    --------
    >>> load_thresholds({"joy": 0.4}).labels
    {'joy': 0.4}
    """
    if isinstance(given, Thresholds):
        return given
    if isinstance(given, str):
        try:
            return Thresholds(default=float(given))
        except ValueError:
            given = Path(given)
    if isinstance(given, Path):
        return read_toml(given, Thresholds)
    if isinstance(given, Mapping):
        return Thresholds(labels=dict(given))
    return Thresholds(default=float(given))


def agreeing(given: float | str) -> float:
    """Read a share of people, or, without a point, their number."""
    if not isinstance(given, str):
        return given
    try:
        return int(given) if given.strip().isdigit() else float(given)
    except ValueError:
        raise InputError(
            f"{option('agree')}: {given!r} is not understood; expected a share such as 0.5, or a "
            "number of people such as 2"
        ) from None


@dataclass(frozen=True, eq=False)
class Decided:
    """Classes of several stimuli, or of several rows."""

    code: Ints | Bools
    """Class of each, -1 for none, shape (n,); or 0/1 for each class, shape (n, k)."""
    known: Bools
    """Whether there is a class, or a set of classes, shape (n,)."""
    tied: Bools
    size: Ints
    """Raters behind each."""


@dataclass(frozen=True)
class TruthRule:
    """What makes a class the truth; see :func:`classes_of`."""

    rule: Rule | None
    agree: float
    min_people: int
    ties: Ties
    threshold: Thresholds | None
    multilabel: bool

    def __post_init__(self) -> None:
        if self.rule is not None:
            check_choice("rule", self.rule, RULES)
        check_choice("ties", self.ties, TIES)
        if self.min_people < 1:
            raise InputError(f"min_people = {self.min_people}: expected 1 or more")
        count = isinstance(self.agree, int)
        if not (self.agree >= 1 if count else 0 < self.agree <= 1):
            raise InputError(
                f"agree = {self.agree!r}: expected a share above 0 and up to 1.0, or a whole "
                "number of people"
            )

    def said(self, panel: Panel) -> str:
        """What the rule does, in words."""
        if self.multilabel:
            if panel.form == "scale":
                return "rated at least as high as the threshold on average"
            if isinstance(self.agree, int):
                return f"chosen by at least {self.agree}"
            return f"chosen by at least {100 * self.agree:g} %"
        return {
            "plurality": "plurality",
            "majority": "majority",
            "mean": "highest mean" if panel.form == "scale" else "plurality",
            "median": "highest median",
        }[self._rule_for(panel)]

    def _rule_for(self, panel: Panel) -> Rule:
        scored = panel.form == "scale"
        rule: Rule = self.rule or ("mean" if scored else "plurality")
        if rule == "median" and not scored:
            raise InputError(f"rule 'median' needs scores; the answers are {panel.form}")
        return rule

    def decide(
        self, panel: Panel, classes: ClassMap, rng: np.random.Generator, *, others: bool = False
    ) -> Decided:
        """Give the truth of each stimulus; or, for each row, what all `others` of it make."""
        n_stimuli = len(panel.stimuli)
        rule = self._rule_for(panel)
        pool = leave_one_out if others else pooled
        if panel.form != "scale" or rule in ("plurality", "majority"):
            votes = classes.panel(panel, no_offsets(panel))
            given = votes.scores
            if panel.form == "scale" and not self.multilabel:
                given = _as_votes(given)
            scores, size = pool(given, votes.stimulus, n_stimuli, "mean")
        else:
            # Pooled before they are mapped, so that a neutral rule looks at means, not at people.
            means, size = pool(panel.scores, panel.stimulus, n_stimuli, rule)
            scores = classes.scores(panel.labels, means, no_offsets(panel))
        if self.multilabel:
            return self._sets(panel, classes, scores, size)
        if rule == "majority":
            scores = require_majority(scores)
        if panel.form != "scale":
            scores = _without_empty(scores)
        scores = np.where((size >= self.min_people)[:, None], scores, np.nan)
        chosen = highest(scores, self.ties, rng, classes.order)
        return Decided(chosen.code, chosen.code >= 0, chosen.tied, size)

    def _sets(self, panel: Panel, classes: ClassMap, scores: Floats, size: Ints) -> Decided:
        enough = size >= self.min_people
        if panel.form == "scale":
            if self.threshold is None:
                raise InputError(
                    "the truth is made of scores: sets of classes need a threshold for them "
                    "(truth_threshold)"
                )
            return _sets(scores, self.threshold.row(classes.labels, classes.taxonomy), enough, size)
        if isinstance(self.agree, int):
            return _sets(scores * size[:, None], self.agree - 1e-9, enough, size)
        return _sets(scores, self.agree - 1e-9, enough, size)


@dataclass(frozen=True)
class AnswerRule:
    """What makes a class the answer of one rater; see :func:`classes_of`."""

    threshold: Thresholds | None
    ties: AnswerTies
    multilabel: bool

    def __post_init__(self) -> None:
        check_choice("answer_ties", self.ties, ANSWER_TIES)

    def decide(self, panel: Panel, classes: ClassMap, rng: np.random.Generator) -> Decided:
        """Give the class, or the set of classes, that each row of a panel of classes answers.

        Raises
        ------
        InputError
            When sets are wanted of scores, and there is no threshold.
        """
        size = np.ones(len(panel.scores), dtype=np.int64)
        if not self.multilabel:
            scores = panel.scores if panel.form == "scale" else _without_empty(panel.scores)
            chosen = highest(scores, self.ties, rng, classes.order)
            return Decided(chosen.code, chosen.code >= 0, chosen.tied, size)
        if panel.form != "scale":
            return _sets(panel.scores, 1.0, size > 0, size)
        if self.threshold is None:
            raise InputError("the answers are scores: sets of classes need a threshold")
        limits = self.threshold.row(classes.labels, classes.taxonomy)
        return _sets(panel.scores, limits, size > 0, size)


def _sets(scores: Floats, limits: Floats | float, enough: Bools, size: Ints) -> Decided:
    """Take the classes whose scores reach a limit; nothing is known where there is no score."""
    known = np.asarray(enough & ~np.isnan(scores).all(axis=1))
    sets = np.where(np.isnan(scores), -np.inf, scores) >= limits
    return Decided(sets & known[:, None], known, np.zeros(len(size), dtype=bool), size)


def no_offsets(panel: Panel) -> Floats:
    """Offsets of people: what a model's heads say of neutral stimuli is none of theirs."""
    return np.zeros(len(panel.labels))


def _as_votes(scores: Floats) -> Floats:
    """Give one vote to the highest class of each row, shared among those that tie."""
    filled = np.where(np.isnan(scores), -np.inf, scores)
    top = (filled == filled.max(axis=1, keepdims=True)) & ~np.isnan(scores)
    votes: Floats = top / np.maximum(top.sum(axis=1, keepdims=True), 1)
    return votes


def _without_empty(scores: Floats) -> Floats:
    """Take away rows in which no class has a vote: they name none, rather than all alike."""
    empty = np.nanmax(scores, axis=1, initial=0.0) <= 0
    return np.where(empty[:, None], np.nan, scores)
