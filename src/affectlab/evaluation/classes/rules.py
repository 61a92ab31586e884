"""How pooled answers become the truth, and single answers a prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StrictStr

from affectlab.core.arrays import ratio, sums_of_groups
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.files.toml import read_toml
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import option
from affectlab.evaluation.classes.class_map import ClassMap
from affectlab.evaluation.classes.score_rows import ScoreRows
from affectlab.taxonomy import Taxonomy

# Which class the answers of several people amount to, with and without one of them.


Rule: TypeAlias = Literal["plurality", "majority", "mean", "median"]
Ties: TypeAlias = Literal["leave_out", "first", "random"]
AnswerTies: TypeAlias = Literal["random", "first", "missing"]
_DIGITS = 12
"""Pooled scores are rounded here, so that rounding noise makes and breaks no tie."""


def highest(
    scores: Floats,
    ties: Ties | AnswerTies,
    rng: np.random.Generator | None = None,
    order: Sequence[int] | None = None,
) -> tuple[Ints, Bools]:
    """Take the class with the highest score of each row, shape (n, k).

    ``nan`` takes no part; a row without any score has no class. Of several highest classes
    ``first`` takes the first in order, ``random`` any of them, and the others none. `order` holds
    the places of the k classes in the order in which they come first, and take random numbers; by
    default that of the columns.
    """
    n = len(scores)
    if scores.shape[1] == 0 or n == 0:
        return np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=bool)
    empty = np.isnan(scores).all(axis=1)
    top = _tops(scores)
    tied = top.sum(axis=1) > 1
    places = np.arange(scores.shape[1]) if order is None else np.asarray(order)
    code = np.where(empty, -1, places[top[:, places].argmax(axis=1)]).astype(np.int64)
    if ties == "random" and tied.any():
        draws = np.empty((int(tied.sum()), scores.shape[1]))
        draws[:, places] = (rng or np.random.default_rng()).random(draws.shape)
        code[tied] = np.where(top[tied], draws, -1.0).argmax(axis=1)
    elif ties in ("leave_out", "missing"):
        code[tied] = -1
    return code, tied


def _tops(scores: Floats) -> Bools:
    """Mark the highest scores of each row."""
    filled = np.where(np.isnan(scores), -np.inf, scores)
    return np.asarray((filled == filled.max(axis=1, keepdims=True)) & ~np.isnan(scores))


def require_majority(scores: Floats) -> Floats:
    """Take away what half the votes or fewer are for, of shares of shape (n, k)."""
    return np.where((np.nanmax(scores, axis=1, initial=0.0) > 0.5)[:, None], scores, np.nan)


def pooled(scores: Floats, stimulus: Ints, n_stimuli: int, rule: Rule) -> tuple[Floats, Ints]:
    """Pool the answers to each stimulus.

    Parameters
    ----------
    scores
        Shape (m, k), ``nan`` where a label has no answer.
    stimulus
        Shape (m,), 0 to `n_stimuli` - 1.

    Returns
    -------
    tuple
        Means (which are shares for zeros and ones) or medians over answers, shape (n_stimuli, k),
        ``nan`` where there is none; and the number of rows of each stimulus.
    """
    size = np.bincount(stimulus, minlength=n_stimuli)
    if rule == "median":
        return _median(*_spread(scores, stimulus, n_stimuli)[:2]), size
    total, answers = sums_of_groups(scores, stimulus, n_stimuli)
    return ratio(total, answers).round(_DIGITS), size


def leave_one_out(
    scores: Floats, stimulus: Ints, n_stimuli: int, rule: Rule
) -> tuple[Floats, Ints]:
    """Pool, for each row, the answers of all *other* rows to its stimulus.

    Returns
    -------
    tuple
        As :func:`pooled`, with shape (m, k) and (m,): one row for each row of `scores`.
    """
    others = np.bincount(stimulus, minlength=n_stimuli)[stimulus] - 1
    if rule == "median":
        ranked, count, rank = _spread(scores, stimulus, n_stimuli)
        return _median(ranked[stimulus], count[stimulus], rank), others
    total, answers = sums_of_groups(scores, stimulus, n_stimuli)
    own = ~np.isnan(scores)
    rest = total[stimulus] - np.where(own, scores, 0.0)
    return ratio(rest, answers[stimulus] - own).round(_DIGITS), others


def _spread(scores: Floats, stimulus: Ints, n_stimuli: int) -> tuple[Floats, Ints, Ints]:
    """Sort the answers of each stimulus and label.

    Returns
    -------
    tuple
        Answers in rising order, shape (n_stimuli, most rows, k), ``nan`` behind the last; their
        number (n_stimuli, k); and the place of each row's answer in that order, shape (m, k), -1
        where it has none.
    """
    m, k = scores.shape
    order = np.argsort(stimulus, kind="stable")
    first = np.searchsorted(stimulus[order], np.arange(n_stimuli))
    seat = np.empty(m, dtype=np.int64)
    seat[order] = np.arange(m) - first[stimulus[order]]
    wide = np.full((n_stimuli, int(seat.max(initial=0)) + 1, k), np.nan)
    wide[stimulus, seat] = scores
    by_value = np.argsort(wide, axis=1, kind="stable")
    rank = np.empty_like(by_value)
    np.put_along_axis(rank, by_value, np.arange(wide.shape[1])[None, :, None], axis=1)
    place = np.where(np.isnan(scores), -1, rank[stimulus, seat])
    return np.take_along_axis(wide, by_value, axis=1), (~np.isnan(wide)).sum(axis=1), place


def _median(ranked: Floats, count: Ints, without: Ints | None = None) -> Floats:
    """Median along axis 1 of sorted answers, one of them left out where `without` is not -1."""
    left_out = np.full(count.shape, -1) if without is None else without
    n = count - (left_out >= 0)
    middle = []
    for place in ((n - 1) // 2, n // 2):
        # Behind the one that is left out, every answer stands one place further.
        shifted = place + ((left_out >= 0) & (place >= left_out))
        index = np.clip(shifted, 0, ranked.shape[1] - 1)[:, None, :]
        middle.append(np.take_along_axis(ranked, index, axis=1)[:, 0, :])
    return np.where(n > 0, np.round((middle[0] + middle[1]) / 2, _DIGITS), np.nan)


# What makes a class the truth, or the answer of one rater.


class Thresholds(BaseModel):
    """Scores from which on a label counts as present: one for all, or one for each label."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default: float | None = None
    labels: dict[StrictStr, float] = Field(default_factory=dict)

    @property
    def of_shares(self) -> bool:
        """Whether all lie where probabilities do."""
        return all(0 < one <= 1 for one in self._all)

    @property
    def said(self) -> str:
        """The lowest and the highest."""
        return " to ".join(dict.fromkeys(f"{one:g}" for one in (min(self._all), max(self._all))))

    @property
    def _all(self) -> list[float]:
        given = (self.default, *self.labels.values())
        return [one for one in given if one is not None and one == one]

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
            check_choice("rule", self.rule, get_args(Rule))
        check_choice("ties", self.ties, get_args(Ties))
        check_number("min_people", self.min_people, 1, whole=True)
        count = isinstance(self.agree, int)
        if not (self.agree >= 1 if count else 0 < self.agree <= 1):
            raise InputError(
                f"agree = {self.agree!r}: expected a share above 0 and up to 1.0, or a whole "
                "number of people"
            )

    def said(self, panel: ScoreRows) -> str:
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

    def _rule_for(self, panel: ScoreRows) -> Rule:
        scored = panel.form == "scale"
        rule: Rule = self.rule or ("mean" if scored else "plurality")
        if rule == "median" and not scored:
            raise InputError(f"rule 'median' needs scores; the answers are {panel.form}")
        return rule

    def decide(
        self, panel: ScoreRows, classes: ClassMap, rng: np.random.Generator, *, others: bool = False
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
        code, tied = highest(scores, self.ties, rng, classes.order)
        return Decided(code, code >= 0, tied, size)

    def _sets(self, panel: ScoreRows, classes: ClassMap, scores: Floats, size: Ints) -> Decided:
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
        check_choice("answer_ties", self.ties, get_args(AnswerTies))

    def decide(self, panel: ScoreRows, classes: ClassMap, rng: np.random.Generator) -> Decided:
        """Give the class, or the set of classes, that each row of a panel of classes answers.

        Raises
        ------
        InputError
            When sets are wanted of scores, and there is no threshold.
        """
        size = np.ones(len(panel.scores), dtype=np.int64)
        if not self.multilabel:
            scores = panel.scores if panel.form == "scale" else _without_empty(panel.scores)
            code, tied = highest(scores, self.ties, rng, classes.order)
            return Decided(code, code >= 0, tied, size)
        if panel.form != "scale":
            return _sets(panel.scores, 1.0, size > 0, size)
        if self.threshold is None:
            one = option("multilabel", False, cli="--no-multilabel")
            raise InputError(
                "the answers are scores: sets of classes need a threshold "
                f"({option('threshold', 0.5)}), or one class of each stimulus ({one})"
            )
        limits = self.threshold.row(classes.labels, classes.taxonomy)
        return _sets(panel.scores, limits, size > 0, size)


def _sets(scores: Floats, limits: Floats | float, enough: Bools, size: Ints) -> Decided:
    """Take the classes whose scores reach a limit; nothing is known where there is no score."""
    known = np.asarray(enough & ~np.isnan(scores).all(axis=1))
    sets = np.where(np.isnan(scores), -np.inf, scores) >= limits
    return Decided(sets & known[:, None], known, np.zeros(len(size), dtype=bool), size)


def no_offsets(panel: ScoreRows) -> Floats:
    """Offsets of people: what a model's heads say of neutral stimuli is none of theirs."""
    return np.zeros(len(panel.labels))


def _as_votes(scores: Floats) -> Floats:
    """Give one vote to the highest class of each row, shared among those that tie."""
    top = _tops(scores)
    votes: Floats = top / np.maximum(top.sum(axis=1, keepdims=True), 1)
    return votes


def _without_empty(scores: Floats) -> Floats:
    """Take away rows in which no class has a vote: they name none, rather than all alike."""
    empty = np.nanmax(scores, axis=1, initial=0.0) <= 0
    return np.where(empty[:, None], np.nan, scores)
