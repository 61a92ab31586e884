"""True categories and the errors of raters, estimated from each other (Dawid and Skene)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_number
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Formula, IntervalFact, Reason
from affectlab.core.inference import by_name, check_confidence, streams
from affectlab.core.result import Result
from affectlab.core.tables import (
    Column,
    Count,
    Figure,
    Interval,
    Key,
    Number,
    Share,
    Table,
    Text,
    Value,
)
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import plural
from affectlab.ratings import Answers, Ratings, answers_of, of_known_raters
from affectlab.reliability.wording import (
    ACCURACY,
    ACCURACY_FIGURE,
    ACCURACY_TITLE,
    CONFUSION,
    LIKELIEST,
    POSTERIOR,
    PREVALENCE,
    SHARED_ANSWERS,
    against_majority,
    gibbs,
    least_accurate,
    not_converged,
    nothing_shared,
    sure_text,
)

_ROUNDS = 5000
_SMALL = 1e-9
_NEAR = 0.01
"""Largest change of a probability in a step of EM from which on steps are extrapolated; before,
they could end at another of several optima."""
_GROWTH = 4.0
"""How much longer an extrapolation may become at a time."""
_LEAST = 0.01
"""Least share after an extrapolation, as part of what EM gives."""
_BURN_IN = 100
_MOST_CLASSES = 30
_SURE = 0.95
_FEWEST_SHARED = 2
"""Answers of a rater to what others answered, too, from which on errors show."""
_ALONE = Reason(Cause.FEWER, least=2, of=SHARED_ANSWERS)


@dataclass(frozen=True, eq=False)
class _Votes:
    """Answers to the items of one model, sorted by item, then by rater, both in the order of their
    names: so draws do not depend on how the table is sorted."""

    item: Ints
    rater: Ints
    answer: Ints
    item_place: Ints
    """Place among these of each item of the table, in its order."""
    rater_place: Ints
    n_classes: int

    @property
    def n_items(self) -> int:
        """Items that have answers."""
        return self.item_place.size

    @property
    def n_raters(self) -> int:
        """Raters who have answered."""
        return self.rater_place.size

    @cached_property
    def shared(self) -> Bools:
        """Answers to items that others answered, too, shape (answers,)."""
        return np.asarray(np.bincount(self.item)[self.item] > 1)

    @cached_property
    def alone(self) -> Bools:
        """Raters of whose errors nothing is seen, shape (raters,)."""
        return np.bincount(self.rater[self.shared], minlength=self.n_raters) < _FEWEST_SHARED

    @cached_property
    def unknown(self) -> Bools:
        """Items that only such raters answered, shape (items,)."""
        told = ~self.alone[self.rater]
        return np.asarray(np.bincount(self.item[told], minlength=self.n_items) == 0)

    @cached_property
    def counts(self) -> Any:
        """Sparse, shape (raters x classes, items): who gave which answer to what."""
        from scipy.sparse import csr_array

        rows = self.rater * self.n_classes + self.answer
        shape = (self.n_raters * self.n_classes, self.n_items)
        return csr_array((np.ones(rows.size), (rows, self.item)), shape=shape)

    @cached_property
    def by_item(self) -> Any:
        """The same, shape (items, raters x classes)."""
        return self.counts.T.tocsr()

    def confusion_counts(self, classes: Floats) -> Floats:
        """Answers by rater, class and answer, from the weights of classes, (items, classes)."""
        k = self.n_classes
        counts = np.asarray(self.counts @ classes).reshape(self.n_raters, k, k)
        return counts.transpose(0, 2, 1)

    def classify(self, prevalence: Floats, confusion: Floats) -> tuple[Floats, float]:
        """Chance of each class by item, (items, classes); and the log-likelihood of all answers."""
        with np.errstate(divide="ignore"):
            log = np.log(confusion.transpose(0, 2, 1)).reshape(-1, self.n_classes)
            prior: Floats = np.log(prevalence)
        # Items in rows of memory: many times as fast as along the few classes.
        joint = np.ascontiguousarray((self.by_item @ log).T) + prior[:, None]
        largest = joint.max(axis=0)
        chance = np.exp(joint - largest)
        total = chance.sum(axis=0)
        chance /= total
        return np.ascontiguousarray(chance.T), float((largest + np.log(total)).sum())

    def shares(self) -> Floats:
        """Share of the answers to each item that are for each class, shape (items, classes)."""
        votes = np.zeros((self.n_items, self.n_classes))
        np.add.at(votes, (self.item, self.answer), 1.0)
        shares: Floats = votes / votes.sum(axis=1, keepdims=True)
        return shares


@dataclass(frozen=True)
class _Prior:
    """Items and answers that count beforehand."""

    of_classes: float
    right: float
    wrong: float

    def prevalence(self, k: int) -> Floats:
        """Items beforehand of each class, shape (classes,)."""
        return np.full(k, self.of_classes / k)

    def confusion(self, k: int) -> Floats:
        """Answers of each rater beforehand, by class and answer, shape (classes, classes)."""
        return np.where(np.eye(k, dtype=bool), self.right, self.wrong / max(k - 1, 1))

    def log_density(self, prevalence: Floats, confusion: Floats) -> float:
        """What the log-likelihood gains by these, up to a constant."""
        from scipy.special import xlogy

        k = prevalence.size
        of_classes = xlogy(self.prevalence(k), prevalence).sum()
        return float(of_classes + xlogy(self.confusion(k), confusion).sum())


@dataclass(frozen=True, eq=False)
class _Quantities:
    """What is estimated; of draws, each with a row for every draw."""

    prevalence: Floats
    """Share of each class, shape (classes,)."""
    confusion: Floats
    """Chance of each answer by rater and true class, shape (raters, classes, answers)."""
    right: Floats
    """Share of the answers of each rater that are right, shape (raters,)."""
    beyond_chance: Floats
    """The same beyond chance, shape (raters,)."""
    posterior: Floats
    """Chance of each class by item, shape (items, classes); of draws their mean."""


@dataclass(frozen=True, eq=False)
class _FittedClasses:
    """What was estimated for one set of items."""

    votes: _Votes
    estimates: _Quantities
    n_of_class: Floats
    """Answers of each rater to items of each class that are to be expected, (raters, classes)."""
    converged: bool
    draws: _Quantities | None


@of_known_raters
def dawid_skene(
    ratings: Ratings | ArrayLike,
    *,
    by_label: bool = True,
    class_prior: float = 1.0,
    prior_right: float = 2.0,
    prior_wrong: float = 1.0,
    n_draws: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Result:
    r"""Estimate the true category of each stimulus, and how each rater takes one for another.

    With :math:`\pi_k` the share of class k among stimuli and :math:`\theta_{rkv}` the chance that
    rater r answers v where k is true, raters answering independently of each other given the
    class,

    .. math:: P(k \mid \text{answers to } i) \propto
        \pi_k \prod_{r} \theta_{r\,k\,v_{ri}} .

    Both are estimated from the answers alone. What they say of raters is worth more than the
    consensus: with five answers to a stimulus and errors at random it is hardly better than the
    majority.

    Parameters
    ----------
    ratings
        Answers on a scale of categories or few levels, one of each rater to a stimulus; or an array
        of shape (raters, units) with ``nan`` where there is none.
    by_label
        Estimate each label for itself; else labels on one scale share the errors of raters.
    class_prior
        Stimuli that count beforehand, spread over all classes.
    prior_right, prior_wrong
        Answers of each rater to each class that count beforehand as right, and as wrong, spread
        over the wrong classes.

        With 0 for all three and `n_draws` the estimates are of largest likelihood, as Dawid and
        Skene have them: of few answers many are then 0 or 1.
    n_draws
        Draws from the posterior distribution; 0 for estimates by EM, without intervals.
    confidence
        Probability of the intervals, in (0, 1).
    seed
        Seed or generator of the draws.

    Returns
    -------
    Result
        Nothing is told of a rater with fewer than two answers to what others answered, nor of items
        that only such raters answered: what the model says of them is its prior.

        - ``raters``, by ``label`` and ``rater``: ``value``, the share of the rater's answers that
          are right, in [0, 1]; ``beyond_chance``, :math:`(p_o - p_e)/(1 - p_e)` for this share
          :math:`p_o` and :math:`p_e = \sum_k \pi_k \cdot` (share of answers k): 1 for who is always
          right, 0 for who answers alike whatever is true, below 0 for who answers against it.
        - ``confusion``, by ``label``, ``rater``, ``true`` and ``answer``: ``value``, the chance of
          that answer, with ``n``, the answers to that class that are to be expected.
        - ``consensus``, by ``label`` and ``stimulus``: ``category``, the likeliest class, its
          ``probability``, ``majority``, what most raters answered, and ``n_ratings``.
        - ``posterior``, by ``label``, ``stimulus`` and ``category``: ``probability``.
        - ``classes``, by ``label`` and ``category``: ``value``, the share of stimuli.

        Values are means of the posterior distribution, by Gibbs sampling that starts from the
        estimates of EM, and intervals hold so much of it; they are about these raters on other
        stimuli of the same kind. In simulations those at 95 % cover 92 to 97 %, and stimuli with a
        probability of 90 % have that category some nine times in ten. Without draws, values are
        those of EM, whose probabilities are surer than they should be.

    Raises
    ------
    InputError
        If the scale has no or too many levels, a prior is negative, or there is no answer.

    References
    ----------
    Dawid and Skene (1979), Applied Statistics 28; Passonneau and Carpenter (2014), "The benefits
    of a model of annotation", for priors and draws.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(0, 3, 60)
    >>> skill = np.array([0.9, 0.8, 0.8, 0.1])[:, None]
    >>> answers = np.where(rng.random((4, 60)) < skill, truth, rng.integers(0, 3, (4, 60)))
    >>> found = dawid_skene(answers, n_draws=0)
    >>> found.to_frame().select("rater", pl.col("beyond_chance").round(1)).rows()
    [('0', 0.9), ('1', 0.9), ('2', 0.8), ('3', 0.2)]
    """
    check_confidence(confidence)
    given = {"class_prior": class_prior, "prior_right": prior_right, "prior_wrong": prior_wrong}
    for name, number_of in {**given, "n_draws": n_draws}.items():
        check_number(name, number_of, 0)
    prior, answers = _Prior(*given.values()), answers_of(ratings, by_names=True)
    if not answers.value.size:
        raise InputError("there is no answer on a scale of categories; expected some")
    wanted = answers.by_label() if by_label else answers.by_scale()
    used = [part for part in wanted if part.value.size]
    rngs = streams(np.random.default_rng(seed), map(_first_label, used))
    parts = list[_LabelVotes]()
    for part in used:
        levels, rng = _levels(part), rngs[_first_label(part)]
        parts.append(
            _LabelVotes(part, levels, _fitted(_votes_of(part, levels), prior, n_draws, rng))
        )
    tables = _tables(parts, confidence)
    return Result(
        tables,
        tuple(_sentences(tables)),
        (
            Figure(
                "rater_accuracy",
                "intervals",
                "raters",
                ACCURACY_TITLE,
                ACCURACY_FIGURE,
                options={
                    "value": "beyond_chance",
                    "low": "beyond_chance_low",
                    "high": "beyond_chance_high",
                    "value_name": "right beyond chance",
                    "lines": [(0.0, "chance")],
                },
            ),
        ),
        notes=tuple(_notes(parts, tables)),
        settings={**given, "by_label": by_label, "n_draws": n_draws, "confidence": confidence},
    )


_MOST_OTHERS = 0.2
"""Share of the items of a label with another category than most answers up to which that is told
of raters, and not of the model."""


def _notes(parts: list[_LabelVotes], tables: tuple[Table, ...]) -> Iterator[str]:
    """Say where the model may not be believed."""
    if not all(part.fit.converged for part in parts):
        yield not_converged(_ROUNDS)
    items = next(table.frame for table in tables if table.name == "consensus")
    others = items.group_by("label", maintain_order=True).agg(_has_other.mean().alias("share"))
    odd = others.filter(pl.col("share") > _MOST_OTHERS)["label"].to_list()
    if odd:
        yield against_majority(odd, _MOST_OTHERS)


_has_other = (pl.col("category") != pl.col("majority")) & (pl.col("majority") != "tied")
"""Whether an item has another category than most of its answers."""


@dataclass(frozen=True, eq=False)
class _LabelVotes:
    """The answers that one fit is about: to a label, or to all labels on a scale."""

    answers: Answers
    levels: Floats
    fit: _FittedClasses

    @property
    def label(self) -> str:
        """The label, or all of them."""
        there = np.unique(self.answers.label)
        return self.answers.labels[there[0]] if there.size == 1 else "all"

    @property
    def categories(self) -> list[str]:
        """Names of the classes."""
        scale = None if self.answers.scales is None else self.answers.scales[self.answers.label[0]]
        names = [f"{level:g}" if scale is None else scale.name_of(level) for level in self.levels]
        return [name.strip("'") for name in names]

    @property
    def items(self) -> tuple[list[str], list[str]]:
        """Label and stimulus of each item."""
        names = [_item_of(self.answers, code) for code in np.unique(self.answers.cell).tolist()]
        return [label for label, _ in names], [unit for _, unit in names]


def _item_of(part: Answers, cell: int) -> tuple[str, str]:
    """Label and stimulus of a cell."""
    label, unit = divmod(cell, len(part.units))
    return part.labels[label], part.units[unit]


def _first_label(part: Answers) -> str:
    """The first of its labels in the order of their names, which no other part has."""
    first: str = min(part.labels[code] for code in np.unique(part.label).tolist())
    return first


def _levels(part: Answers) -> Floats:
    """Give the values that answers can have."""
    scale = None if part.scales is None else part.scales[part.label[0]]
    levels = np.unique(part.value) if scale is None else scale.levels()
    if not 2 <= levels.size <= _MOST_CLASSES:
        raise InputError(
            f"{plural(levels.size, 'category', 'categories')}: expected a scale of 2 to "
            f"{_MOST_CLASSES}, such as 'nominal:joy,fear' or 'binary'"
        )
    return levels


def _votes_of(part: Answers, levels: Floats) -> _Votes:
    item, item_place = _by_name(part.cell, lambda code: _item_of(part, code))
    rater, rater_place = _by_name(part.rater, lambda code: part.raters[code])
    order = np.lexsort((rater, item))
    answer = np.abs(part.value[:, None] - levels).argmin(axis=1)
    return _Votes(item[order], rater[order], answer[order], item_place, rater_place, levels.size)


def _by_name(codes: Ints, name_of: Callable[[int], Any]) -> tuple[Ints, Ints]:
    """Number what occurs in the order of names; and give the number of each in its own order."""
    there, at = np.unique(codes, return_inverse=True)
    names = [name_of(code) for code in there.tolist()]
    place = np.empty(there.size, dtype=np.int64)
    place[by_name(names)] = np.arange(there.size)
    return place[at], place


@dataclass(frozen=True, eq=False)
class _Point:
    """Shares of classes and errors of raters, and what follows from them."""

    prevalence: Floats
    confusion: Floats
    posterior: Floats
    objective: float
    """Log-likelihood of the answers, and of what counts beforehand."""

    @property
    def shares(self) -> tuple[Floats, Floats]:
        """Shares of classes, and errors of raters."""
        return self.prevalence, self.confusion

    @classmethod
    def at(cls, votes: _Votes, prior: _Prior, prevalence: Floats, confusion: Floats) -> _Point:
        """Find the classes (the E step)."""
        posterior, log = votes.classify(prevalence, confusion)
        log += prior.log_density(prevalence, confusion)
        return cls(prevalence, confusion, posterior, log)


def _maximised(votes: _Votes, prior: _Prior, posterior: Floats) -> tuple[Floats, Floats]:
    """Shares of classes, and errors of raters, from the classes of items (the M step)."""
    k = votes.n_classes
    confusion = _normalised(votes.confusion_counts(posterior) + prior.confusion(k))
    return _normalised(posterior.sum(axis=0) + prior.prevalence(k)), confusion


def _largest(votes: _Votes, prior: _Prior) -> tuple[_Point, bool]:
    """Alternate between classes and errors (EM) until classes do not change.

    Near an optimum, two steps of EM are extrapolated by the change from the first to the second,
    unless this leads to a smaller likelihood than that of the first.

    References
    ----------
    Varadhan and Roland (2008), "Simple and globally convergent methods for accelerating the
    convergence of any EM algorithm", Scandinavian Journal of Statistics 35: SQUAREM, S3.
    """
    now = _Point.at(votes, prior, *_maximised(votes, prior, votes.shares()))
    rounds, longest = 1, _GROWTH
    while rounds < _ROUNDS:
        one = _Point.at(votes, prior, *_maximised(votes, prior, now.posterior))
        rounds += 1
        change = np.abs(one.posterior - now.posterior).max()
        if change < _SMALL:
            return one, True
        two = _maximised(votes, prior, one.posterior)
        if change < _NEAR:
            steps = [
                (b - a, c - 2 * b + a) for a, b, c in zip(now.shares, one.shares, two, strict=True)
            ]
            first, turned = (
                sum(np.vdot(part, part) for part in parts) for parts in zip(*steps, strict=True)
            )
            length = np.sqrt(first / turned) if turned > 0 else 1.0
            length = min(max(length, 1.0), longest)
            # A share of 0 would stay so.
            far = (
                _normalised(np.maximum(a + 2 * length * step + length**2 * turn, _LEAST * c))
                for a, c, (step, turn) in zip(now.shares, two, steps, strict=True)
            )
            beyond = _Point.at(votes, prior, *far)
            rounds += 1
            if beyond.objective >= one.objective:
                now = beyond
                longest *= _GROWTH if length == longest else 1.0
                continue
            longest = max(longest / _GROWTH, _GROWTH)
        now = _Point.at(votes, prior, *two)
        rounds += 1
    return now, False


def _fitted(votes: _Votes, prior: _Prior, n_draws: int, rng: np.random.Generator) -> _FittedClasses:
    """Estimate classes and errors by EM; then draw."""
    point, converged = _largest(votes, prior)
    prevalence, confusion, posterior = point.prevalence, point.confusion, point.posterior
    counts = votes.confusion_counts(posterior)
    n = counts.sum(axis=(1, 2))
    right = _right(counts) + prior.right, n + prior.right + prior.wrong
    estimates = _Quantities(
        prevalence, confusion, *_beyond(votes, right[0] / right[1], prevalence), posterior
    )
    draws = None
    if n_draws:
        draws = _drawn(votes, estimates, prior, n_draws, rng)
        estimates = _Quantities(
            draws.prevalence.mean(axis=0),
            draws.confusion.mean(axis=0),
            draws.right.mean(axis=0),
            # A ratio has no mean where chance alone may be right nearly always.
            np.median(draws.beyond_chance, axis=0),
            draws.posterior,
        )
        counts = votes.confusion_counts(estimates.posterior)
    return _FittedClasses(votes, estimates, counts.sum(axis=2), converged, draws)


def _normalised(counts: Floats) -> Floats:
    """Shares along the last axis; equal ones where nothing was counted."""
    total = counts.sum(axis=-1, keepdims=True)
    equal = np.full(counts.shape, 1 / counts.shape[-1])
    shares: Floats = np.divide(counts, total, out=equal, where=total > 0)
    return shares


def _right(counts: Floats) -> Floats:
    return np.asarray(np.trace(counts, axis1=1, axis2=2))


def _beyond(votes: _Votes, right: Floats, prevalence: Floats) -> tuple[Floats, Floats]:
    """Shares of right answers, and the same beyond what answers would get by chance."""
    answers = np.zeros((votes.n_raters, votes.n_classes))
    np.add.at(answers, (votes.rater, votes.answer), 1.0)
    chance = _normalised(answers) @ prevalence
    with np.errstate(invalid="ignore", divide="ignore"):
        return right, np.where(chance < 1, (right - chance) / (1 - chance), np.nan)


def _drawn(
    votes: _Votes, start: _Quantities, prior: _Prior, n_draws: int, rng: np.random.Generator
) -> _Quantities:
    """Sample classes, then shares and errors given the classes, in turn (Gibbs)."""
    k, posterior = votes.n_classes, start.posterior
    before, mean = prior.confusion(k), np.zeros_like(posterior)
    n = np.bincount(votes.rater, minlength=votes.n_raters)
    # Where nothing counts beforehand, a prior of next to nothing keeps the draws defined.
    tiny, drawn = 1e-6, []
    for step in range(n_draws + _BURN_IN):
        above = rng.random((votes.n_items, 1)) > posterior.cumsum(axis=1)
        classes = np.eye(k)[np.minimum(above.sum(axis=1), k - 1)]
        counts = votes.confusion_counts(classes)
        confusion = _normalised(rng.standard_gamma(counts + before + tiny))
        prevalence = rng.dirichlet(classes.sum(axis=0) + prior.prevalence(k) + tiny)
        posterior, _ = votes.classify(prevalence, confusion)
        if step < _BURN_IN:
            continue
        mean += posterior / n_draws
        correct = _right(counts)
        right = rng.beta(correct + prior.right + tiny, n - correct + prior.wrong + tiny)
        drawn.append((prevalence, confusion, *_beyond(votes, right, prevalence)))
    prevalences, confusions, rights, beyond = map(np.array, zip(*drawn, strict=True))
    return _Quantities(prevalences, confusions, rights, beyond, mean)


# What is shown.


def _ends(draws: Floats | None, like: Floats, confidence: float) -> tuple[Floats, Floats, Floats]:
    """Standard deviation, lower and upper ends of draws; ``nan`` where there are none."""
    if draws is None:
        return (np.full(like.shape, np.nan),) * 3
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(draws, tails, axis=0)
    return draws.std(axis=0), low, high


def _estimates(
    part: _LabelVotes, name: str, keys: dict[str, list[str]], **more: Any
) -> pl.DataFrame:
    """Lay out one of the quantities with its intervals, raters in the order of the table."""
    fit, confidence = part.fit, more.pop("confidence")
    rows: Any = slice(None) if name == "prevalence" else fit.votes.rater_place
    value = getattr(fit.estimates, name)[rows]
    draws = None if fit.draws is None else getattr(fit.draws, name)[:, rows]
    se, low, high = (end.ravel() for end in _ends(draws, value, confidence))
    of_raters = fit.votes.alone
    own = np.full(len(value), of_raters.all()) if name == "prevalence" else of_raters[rows]
    alone = np.repeat(own, value.size // own.size)
    value, se, low, high = (np.where(alone, np.nan, end) for end in (value.ravel(), se, low, high))
    how = "EM" if draws is None else gibbs(len(draws))
    no_draws = Reason(Cause.NO_DRAWS) if draws is None else None
    return Estimates.build(
        {"label": [part.label] * value.size, **keys},
        value=value,
        se=se,
        low=low,
        high=high,
        statistic=("Dawid and Skene", how),
        interval=None if draws is None else IntervalFact("analytic", formula=Formula.POSTERIOR),
        reason=[_ALONE if one else no_draws for one in alone.tolist()],
        target="none" if draws is None else "stimuli",
        n_items=fit.votes.n_items,
        **more,
    ).frame


def _of_part(part: _LabelVotes, confidence: float) -> dict[str, pl.DataFrame]:
    fit, votes, names = part.fit, part.fit.votes, part.categories
    found, k = fit.estimates, len(part.levels)
    raters = [part.answers.raters[code] for code in np.unique(part.answers.rater)]
    who = votes.rater_place
    n, above = np.bincount(votes.rater, minlength=votes.n_raters)[who], found.beyond_chance[who]
    drawn = None if fit.draws is None else fit.draws.beyond_chance[:, who]
    alone, unknown = votes.alone[who], votes.unknown[votes.item_place]
    ends = (np.where(alone, np.nan, end) for end in _ends(drawn, above, confidence)[1:])
    beyond = dict(zip(("low", "high"), ends, strict=True))
    by_answer = [name for name in names for _ in names], names * k
    posterior, shares = (part[votes.item_place] for part in (found.posterior, votes.shares()))
    label, stimulus = part.items
    best, most = posterior.argmax(axis=1), shares.argmax(axis=1)
    tied = (shares == shares.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return {
        "raters": _estimates(
            part,
            "right",
            {"rater": raters},
            confidence=confidence,
            n_raters=votes.n_raters,
            n_ratings=n,
            extra={
                "beyond_chance": np.where(alone, np.nan, above),
                **{f"beyond_chance_{name}": end for name, end in beyond.items()},
            },
        ),
        "confusion": _estimates(
            part,
            "confusion",
            {
                "rater": [name for name in raters for _ in range(k * k)],
                "true": by_answer[0] * len(raters),
                "answer": by_answer[1] * len(raters),
            },
            confidence=confidence,
            n_raters=1,
            n_ratings=np.repeat(n, k * k),
            extra={"n": np.repeat(fit.n_of_class[who].ravel(), k)},
        ),
        "consensus": pl.DataFrame(
            {
                "label": label,
                "stimulus": stimulus,
                "category": pl.Series(
                    [
                        None if none else names[code]
                        for code, none in zip(best.tolist(), unknown.tolist(), strict=True)
                    ],
                    dtype=pl.String,
                ),
                "probability": np.where(unknown, np.nan, posterior[np.arange(best.size), best]),
                "majority": [
                    "tied" if tie else names[code]
                    for code, tie in zip(most.tolist(), tied.tolist(), strict=True)
                ],
                "n_ratings": np.bincount(votes.item)[votes.item_place],
            }
        ),
        "posterior": pl.DataFrame(
            {
                "label": [name for name in label for _ in names],
                "stimulus": [name for name in stimulus for _ in names],
                "category": names * len(stimulus),
                "probability": np.where(unknown[:, None], np.nan, posterior).ravel(),
            }
        ),
        "classes": _estimates(
            part,
            "prevalence",
            {"category": names},
            confidence=confidence,
            n_raters=votes.n_raters,
            n_ratings=votes.item.size,
        ),
    }


_SHOWN: dict[str, tuple[str, tuple[Column, ...]]] = {
    "raters": (
        ACCURACY,
        (
            Key("rater"),
            Value(head="right"),
            Interval(),
            Number("beyond_chance"),
            Interval("beyond_chance", "interval"),
            Count("n_ratings"),
        ),
    ),
    "confusion": (
        CONFUSION,
        (
            Key("rater"),
            Key("true"),
            Key("answer"),
            Value(head="chance"),
            Interval(),
            Number("n", "answers", decimals=1),
        ),
    ),
    "consensus": (
        LIKELIEST,
        (
            Key("stimulus"),
            Text("category"),
            Share("probability", decimals=1),
            Text("majority"),
            Count("n_ratings"),
        ),
    ),
    "posterior": (
        POSTERIOR,
        (Key("stimulus"), Key("category"), Share("probability", decimals=1)),
    ),
    "classes": (PREVALENCE, (Key("category"), Value(head="share"), Interval())),
}


def _tables(parts: list[_LabelVotes], confidence: float) -> tuple[Table, ...]:
    frames = [_of_part(part, confidence) for part in parts]
    labelled = len(parts) > 1 or len(np.unique(parts[0].answers.label)) > 1
    return tuple(
        Table(
            name,
            caption,
            pl.concat(frame[name] for frame in frames),
            (Key("label"), *columns) if labelled else columns,
            limit=60 if name == "raters" else 0,
        )
        for name, (caption, columns) in _SHOWN.items()
    )


def _sentences(tables: tuple[Table, ...]) -> Iterator[str]:
    by_name = {table.name: table.frame for table in tables}
    raters, items = by_name["raters"], by_name["consensus"]
    known = raters.drop_nans("beyond_chance").sort("beyond_chance", maintain_order=True)
    if known.height:
        worst = known.row(0, named=True)
        median = float(np.median(known["beyond_chance"].to_numpy()))
        label = worst["label"] if raters["label"].n_unique() > 1 else ""
        values = (worst["beyond_chance"], worst["value"], median)
        yield least_accurate(worst["rater"], label, *values)
    items = items.drop_nans("probability")
    if items.is_empty():
        yield nothing_shared(str(_ALONE))
        return
    sure = items.filter(pl.col("probability") >= _SURE).height
    other = items.filter(_has_other).height
    yield sure_text(sure, items.height, _SURE, other)
