"""Studies whose truth is known, and the intervals of the package that are held to it.

Studies of ratings have stimuli and raters drawn from normal populations,

    answer = stimulus + rater + rest,

with variances 1, that of raters, and 1; answers are cut into levels where the scale has some, and a
share of them is missing at random. Other statistics have studies of their own kind: choices between
systems, predicted classes, confidences, and the trials of a staircase. True values are integrals
over the populations where these are drawn anew, sums over those of the study where an interval is
about these, and means over very large studies where there is no formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from affectlab import evaluation, reliability
from affectlab.analysis import jnd
from affectlab.evaluation.soft_labels import LabelDistributions, calibration, soft_label_metrics
from affectlab.ratings import Ratings
from affectlab.reliability.components import variance_components
from affectlab.reliability.subject_models import stimulus_scores
from affectlab.taxonomy import load_taxonomy

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Target: TypeAlias = Literal["sample", "stimuli", "raters", "both"]

ITEMS = (10, 20, 30, 100, 300, 1000)
RATERS = (3, 5, 10, 30, 100)
GAPS = (0.0, 0.3, 0.6, 0.9)
RATER_SDS = (0.0, 0.7, 2.0)
_REST = 1.0
_SHARES = (0.05, 0.2, 0.5)
_CUTS = {"5 levels": (-1.2, -0.4, 0.4, 1.2), "8 levels": (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)}
"""Where answers are cut, in their standard deviations."""
_LARGE_STUDIES = 100
_N_BOOT = 400
"""Replicates of intervals that have no other way."""


class Interval(Protocol):
    """A value with its interval."""

    @property
    def value(self) -> float:
        """The estimate."""

    @property
    def low(self) -> float:
        """Lower end, ``nan`` where there is no interval."""

    @property
    def high(self) -> float:
        """Upper end."""


class _Found(NamedTuple):
    value: float
    low: float
    high: float

    @classmethod
    def in_table(cls, frame: pl.DataFrame, **keys: str) -> _Found:
        """Take the row of these keys; no interval where there is none."""
        rows = frame.filter(**keys).select("value", "low", "high").rows()
        return cls(*rows[0]) if rows else cls(math.nan, math.nan, math.nan)


class Simulated(Protocol):
    """A study of any kind."""

    @property
    def cell(self) -> Cell:
        """Its design."""


@dataclass(frozen=True, order=True)
class Cell:
    """A design, and what an interval is about."""

    target: Target
    items: int
    raters: int
    gaps: float
    rater_sd: float
    """Standard deviation of the level of raters, in that of stimuli."""
    scale: str
    """``continuous``, ``5 levels``, ``8 levels``, or ``yes/no, 20 %`` with the share of yes; what
    else a statistic says of what it simulates."""
    clusters: int = 0
    """Clusters of items, 0 where each is by itself."""

    @property
    def cuts(self) -> Floats | None:
        """Where answers are cut, None where they are not."""
        spread = math.sqrt(1 + self.rater_sd**2 + _REST)
        if self.scale.startswith("yes"):
            share = float(self.scale.rpartition(", ")[2].removesuffix(" %")) / 100
            return np.array([ndtri(1 - share) * spread])
        return np.array(_CUTS[self.scale]) * spread if self.scale in _CUTS else None

    @property
    def declared(self) -> str:
        """The scale in words that affectlab reads."""
        cuts = self.cuts
        return "interval" if cuts is None else f"0-{cuts.size}"


@dataclass(frozen=True, eq=False)
class Study:
    """The answers of one simulated study, and the populations behind them."""

    cell: Cell
    answers: Floats
    """Shape (raters, items), ``nan`` where there is none."""
    stimulus: Floats
    rater: Floats

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> Study:
        """Draw stimuli, raters and answers."""
        stimulus, rater = rng.normal(size=cell.items), rng.normal(0, cell.rater_sd, cell.raters)
        answers = rng.normal(0, math.sqrt(_REST), (cell.raters, cell.items))
        answers += stimulus + rater[:, None]
        if cell.cuts is not None:
            answers = np.searchsorted(cell.cuts, answers).astype(np.float64)
        answers[rng.random(answers.shape) < cell.gaps] = np.nan
        return cls(cell, answers, stimulus, rater)

    def ratings(self, **models: Floats) -> Ratings:
        """Answers in long form, and those of models, one to each stimulus."""
        rater, stimulus = np.nonzero(~np.isnan(self.answers))
        people = [f"r{k}" for k in range(self.cell.raters)]
        every = np.arange(self.cell.items)
        return Ratings(
            {
                "stimulus": np.concatenate([stimulus, *(every for _ in models)]),
                "rater": [people[k] for k in rater] + [name for name in models for _ in every],
                "value": np.concatenate([self.answers[rater, stimulus], *models.values()]),
            },
            scale=self.cell.declared,
            raters={
                "rater": [*people, *models],
                "rater_kind": ["human"] * len(people) + ["model"] * len(models),
            },
        )


# True values.


@dataclass(frozen=True, eq=False)
class _Truth:
    """What infinitely many answers would show of the population that an interval is about."""

    pairs: Floats
    """Probability that two raters answer one stimulus with two levels, shape (q, q)."""
    shares: Floats
    """Shares of levels, shape (q,)."""

    @classmethod
    def of(cls, study: Study) -> _Truth:
        """Integrate over what is drawn anew, and sum over what is not."""
        cell = study.cell
        if cell.target == "both":
            return _of_populations(cell)
        if cell.target == "raters":
            chance = _levels(cell, study.stimulus, cell.rater_sd**2 + _REST)
            return cls(chance.T @ chance / len(chance), chance.mean(axis=0))
        node, weight = _nodes()
        # Shape (raters, nodes, levels).
        chance = np.stack([_levels(cell, node + level, _REST) for level in study.rater])
        total = chance.sum(axis=0)
        pairs = np.einsum("n,nk,nl->kl", weight, total, total)
        pairs -= np.einsum("n,rnk,rnl->kl", weight, chance, chance)
        n = len(study.rater)
        return cls(pairs / (n * (n - 1)), weight @ total / n)

    @property
    def observed(self) -> float:
        """Probability that two raters answer alike."""
        return float(np.trace(self.pairs))


@cache
def _nodes() -> tuple[Floats, Floats]:
    node, weight = np.polynomial.hermite_e.hermegauss(80)
    return node, weight / weight.sum()


def _levels(cell: Cell, mean: Floats, variance: float) -> Floats:
    """Probabilities of levels around each mean, shape (means, levels)."""
    assert cell.cuts is not None
    below = ndtr((cell.cuts - mean[:, None]) / math.sqrt(variance))
    return np.diff(np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))), axis=1)


@cache
def _of_populations(cell: Cell) -> _Truth:
    node, weight = _nodes()
    chance = _levels(cell, node, cell.rater_sd**2 + _REST)
    return _Truth(np.einsum("n,nk,nl->kl", weight, chance, chance), weight @ chance)


def _alpha(study: Study) -> float:
    if study.cell.cuts is None:
        return _alpha_of_numbers(study)
    truth = _Truth.of(study)
    level = np.arange(truth.shares.size)
    if study.cell.scale.startswith("yes"):
        distance = (level[:, None] != level).astype(np.float64)
    else:
        rank = np.cumsum(truth.shares) - truth.shares / 2
        distance = np.subtract.outer(rank, rank) ** 2
    return 1 - float((truth.pairs * distance).sum() / (truth.shares @ distance @ truth.shares))


def _alpha_of_numbers(study: Study) -> float:
    """Alpha of uncut answers at the interval level: of variances."""
    of_raters, of_stimuli = study.cell.rater_sd**2, 1.0
    within = of_raters + _REST
    if study.cell.target == "stimuli":
        # Two different ones of these raters; and any two answers, of the same rater or not.
        of_raters, within = study.rater.var(), study.rater.var(ddof=1) + _REST
    if study.cell.target == "raters":
        of_stimuli = study.stimulus.var()
    return 1 - within / (of_stimuli + of_raters + _REST)


def _fleiss(study: Study) -> float:
    truth = _Truth.of(study)
    chance = float(truth.shares @ truth.shares)
    return (truth.observed - chance) / (1 - chance)


def _gwet(study: Study) -> float:
    truth = _Truth.of(study)
    chance = float(truth.shares @ (1 - truth.shares)) / (truth.shares.size - 1)
    return (truth.observed - chance) / (1 - chance)


def _brennan(study: Study) -> float:
    truth = _Truth.of(study)
    chance = 1 / truth.shares.size
    return (truth.observed - chance) / (1 - chance)


def _percent(study: Study) -> float:
    return _Truth.of(study).observed


@cache
def _variances(cell: Cell) -> tuple[float, float, float]:
    """Variances of stimuli and of raters, and of all answers."""
    if cell.cuts is None:
        return 1.0, cell.rater_sd**2, 1 + cell.rater_sd**2 + _REST
    truth, level = _of_populations(cell), np.arange(cell.cuts.size + 1.0)
    mean = float(truth.shares @ level)
    node, weight = _nodes()
    of_raters = _levels(cell, cell.rater_sd * node, 1 + _REST) @ level
    return (
        float(level @ truth.pairs @ level) - mean**2,
        float(weight @ of_raters**2) - mean**2,
        float(truth.shares @ level**2) - mean**2,
    )


def _single(study: Study) -> float:
    of_stimuli, _, whole = _variances(study.cell)
    return of_stimuli / whole


def _of_mean(study: Study) -> float:
    """Reliability of a mean of as many ratings as a stimulus has, harmonic mean."""
    one, count = _single(study), (~np.isnan(study.answers)).sum(axis=0)
    k = 1 / (1 / count[count > 0]).mean()
    return float(k * one / (1 + (k - 1) * one))


def _opinion(study: Study) -> float:
    """Mean answer of all raters there are to the first stimulus."""
    cell, first = study.cell, study.stimulus[:1]
    if cell.cuts is None:
        return float(first[0])
    return float(_levels(cell, first, cell.rater_sd**2 + _REST)[0] @ np.arange(cell.cuts.size + 1))


def _score(study: Study) -> float:
    """Mean answer of these raters to the first stimulus, were each to answer it often."""
    return float(study.stimulus[0] + study.rater.mean())


@cache
def _of_large_studies(name: str, cell: Cell) -> float:
    """Mean of a statistic over studies of many stimuli, with other raters in each."""
    per_item = cell.raters * (1 - cell.gaps)
    items = max(cell.items, int(20_000 / per_item))
    wide = replace(cell, items=items, clusters=cell.clusters * items // cell.items)
    one = STATISTICS[name]
    values = []
    for run in range(_LARGE_STUDIES):
        study = one.draw(wide, np.random.default_rng([run, 9]))
        values.append(one.estimate(replace(study, cell=replace(study.cell, target="sample"))))
    return float(np.nanmean([one.value for one in values]))


def _large(name: str) -> Callable[[Any], float]:
    return lambda study: _of_large_studies(name, study.cell)


# Intervals of ratings.


def _by(function: Callable[..., Any], *, scaled: bool = True) -> Callable[[Study], Interval]:
    """Call a coefficient as people do."""

    def estimate(study: Study) -> Interval:
        options: dict[str, Any] = {"scale": study.cell.declared} if scaled else {}
        found: Interval = function(study.answers, target=study.cell.target, **options)
        return found

    return estimate


def _of_alpha(study: Study) -> Interval:
    scale = study.cell.scale
    level = "interval" if scale == "continuous" else "ordinal"
    found: Interval = reliability.krippendorff_alpha(
        study.answers,
        level="nominal" if scale.startswith("yes") else level,
        target=study.cell.target,
    )
    return found


def _of_correlation(study: Study) -> Interval:
    found = reliability.interrater_correlation(study.answers, target=study.cell.target)
    return found["rating"]


def _of_concordance(study: Study) -> Interval:
    found = reliability.concordance(study.answers, target=study.cell.target)
    return _Found.in_table(found.to_frame(), label="rating")


def _of_halves(study: Study) -> Interval:
    found = reliability.split_half(study.answers, scorer="mean", target=study.cell.target)
    return found["rating"]


def _of_form(form: str) -> Callable[[Study], Interval]:
    return lambda study: reliability.intraclass_correlation(study.answers, forms=[form])[
        "rating", form
    ]


def _of_factor(factor: str) -> Callable[[Study], Interval]:
    def estimate(study: Study) -> Interval:
        return _Found.in_table(variance_components(study.ratings()).to_frame(), factor=factor)

    return estimate


def _of_first_score(method: str) -> Callable[[Study], Interval]:
    def estimate(study: Study) -> Interval:
        scores = stimulus_scores(study.answers, method=method)  # type: ignore[arg-type]
        return _Found.in_table(scores.to_frame("scores"), stimulus="0")

    return estimate


@dataclass(frozen=True, eq=False)
class WithModel(Study):
    """A study that a model took part in, which answers as a person does."""

    model: Floats
    """Shape (items,)."""

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> WithModel:
        """Draw stimuli, raters, answers, and those of the model, whose errors are a person's."""
        study = Study.draw(cell, rng)
        model = study.stimulus + rng.normal(0, math.sqrt(_REST), cell.items)
        if cell.cuts is not None:
            model = np.searchsorted(cell.cuts, model).astype(np.float64)
        return cls(cell, study.answers, study.stimulus, study.rater, model)


def _n_boot(study: Simulated) -> int:
    return 0 if study.cell.target == "sample" else _N_BOOT


def _of_alignment(study: WithModel) -> Interval:
    target = "both" if study.cell.target == "sample" else study.cell.target
    found = evaluation.alignment(
        study.ratings(model=study.model), n_boot=_n_boot(study), target=target
    )
    return found.difference["kappa", "model"]


def _of_mean_spearman(study: WithModel) -> Interval:
    found = reliability.mean_spearman(
        study.stimulus[None], study.model[None, None], n_boot=_n_boot(study)
    )
    return found["0"]


# Choices between systems.


_SYSTEMS = ("first", "second", "third")
_STRENGTHS = np.array([0.5, 0.0, -0.5])
_ITEM_SD = 0.5
"""Standard deviation of what an item does for a system."""


@dataclass(frozen=True, eq=False)
class Choices:
    """Judges choose between two of three systems, which differ in appeal by item and by judge."""

    cell: Cell
    pair: Ints
    """Systems compared on each item, shape (items, 2)."""
    chosen: Floats
    """1 for the first of the pair, 0 for the second, ``nan`` for no answer; (judges, items)."""

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator, systems: int = 3) -> Choices:
        """Draw what appeals to judges, and the choices."""
        pair = np.array([(0, 1), (0, 2), (1, 2)])[: 1 if systems == 2 else 3]
        pair = pair[np.arange(cell.items) % len(pair)]
        of_item = rng.normal(0, _ITEM_SD, (cell.items, 3)) + _STRENGTHS
        of_judge = rng.normal(0, cell.rater_sd, (cell.raters, 3))
        appeal = of_item + of_judge[:, None]
        one, other = (appeal[:, np.arange(cell.items), pair[:, side]] for side in (0, 1))
        chosen = (one - other + rng.normal(size=one.shape) > 0).astype(np.float64)
        chosen[rng.random(chosen.shape) < cell.gaps] = np.nan
        return cls(cell, pair, chosen)

    @classmethod
    def of_two(cls, cell: Cell, rng: np.random.Generator) -> Choices:
        """Draw choices between the first and the second."""
        return cls.draw(cell, rng, 2)

    @property
    def ratings(self) -> Ratings:
        """The choices in long form."""
        judge, item = np.nonzero(~np.isnan(self.chosen))
        names = [f"i{k}" for k in range(self.cell.items)]
        return Ratings(
            {
                "stimulus": [names[k] for k in item],
                "rater": [f"j{k}" for k in judge],
                "value": ["A" if one else "B" for one in self.chosen[judge, item]],
            },
            scale="nominal:A,B",
            stimuli={
                "stimulus": names,
                **{
                    name: [_SYSTEMS[k] for k in self.pair[:, side]]
                    for side, name in enumerate(("A", "B"))
                },
            },
        )


def _chances(cell: Cell) -> Floats:
    """Share of all choices of each system over each other."""
    spread = math.sqrt(1 + 2 * cell.rater_sd**2 + 2 * _ITEM_SD**2)
    return np.asarray(ndtr(np.subtract.outer(_STRENGTHS, _STRENGTHS) / spread))


@cache
def _strength(cell: Cell) -> float:
    """Strength that the chances of all have, were as many choices made as can be counted."""
    wins = np.rint(1e4 * _chances(cell))
    np.fill_diagonal(wins, 0)
    return evaluation.preference_scale(wins, systems=_SYSTEMS, target="sample")["first"].value


def _of_choice(study: Choices) -> Interval:
    found = evaluation.preferences(study.ratings, target=study.cell.target)
    return found["votes", "first"]


def _of_strength(study: Choices) -> Interval:
    return evaluation.preference_scale(study.ratings, target=study.cell.target)["first"]


# Predicted classes.


_CLASSES = np.array(load_taxonomy("mikels").labels)
_NEAR = 0.6
"""Share of mistakes that name the next class."""
_CLUSTER_SD = 0.15
"""Standard deviation of the accuracy of clusters."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Classes that two models predict for items, which may come in clusters."""

    cell: Cell
    true: NDArray[np.str_]
    predicted: tuple[NDArray[np.str_], NDArray[np.str_]]
    cluster: Ints | None

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> Predictions:
        """Draw classes, equally frequent or as one over their rank, and what models make of them.

        The scale says the accuracy: ``60 % right``, or ``90 % right, unequal classes``.
        """
        n, k = cell.items, _CLASSES.size
        accuracy = float(cell.scale.partition(" ")[0]) / 100
        share = 1.0 / np.arange(1, k + 1) if cell.scale.endswith("classes") else np.ones(k)
        share /= share.sum()
        true = rng.choice(k, n, p=share)
        cluster = np.arange(n) % cell.clusters if cell.clusters else None
        right = np.full(n, accuracy)
        if cluster is not None:
            right = np.clip(accuracy + rng.normal(0, _CLUSTER_SD, cell.clusters), 0, 1)[cluster]
        said = []
        for worse in (0.0, 0.1):
            wrong = np.where(rng.random(n) < _NEAR, (true + 1) % k, rng.choice(k, n, p=share))
            said.append(_CLASSES[np.where(rng.random(n) < right - worse, true, wrong)])
        return cls(cell, _CLASSES[true], (said[0], said[1]), cluster)


def _of_metric(metric: str) -> Callable[[Predictions], Interval]:
    return lambda study: evaluation.classification_metrics(
        study.true,
        study.predicted[0],
        "mikels",
        metrics=(metric,),
        clusters=study.cluster,
        n_boot=_n_boot(study),
    )[metric]


def _of_difference(metric: str) -> Callable[[Predictions], Interval]:
    return lambda study: evaluation.compare_predictions(
        study.true,
        *study.predicted,
        "mikels",
        metrics=(metric,),
        clusters=study.cluster,
        n_boot=_n_boot(study),
        n_permutations=1,
    )[metric]


# Confidences, distributions of answers, and staircases.


_TOO_SURE = 0.4


@dataclass(frozen=True, eq=False)
class Confidences:
    """How sure a model is of each item, and whether it is right."""

    cell: Cell
    confidence: Floats
    right: Floats

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> Confidences:
        """Draw confidences from .5 to 1; a model that is too sure is right less often."""
        sure = rng.uniform(0.5, 1, cell.items)
        less = _TOO_SURE if cell.scale == "too sure" else 0.0
        right = rng.random(cell.items) < sure - less * (sure - 0.5)
        return cls(cell, sure, right.astype(np.float64))


def _of_calibration(metric: str) -> Callable[[Confidences], Interval]:
    return lambda study: calibration(study.confidence, study.right, n_boot=_n_boot(study))[metric]


def _gap(study: Confidences) -> float:
    """Mean distance of confidence and share of right answers."""
    return 0.25 * _TOO_SURE if study.cell.scale == "too sure" else 0.0


@dataclass(frozen=True, eq=False)
class Shares:
    """Answers of people that name one of some labels, and a model that predicts their shares."""

    cell: Cell
    people: Floats
    """Shape (items, labels)."""
    model: Floats

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> Shares:
        """Draw shares of labels, people who answer by them, and a model that is near them."""
        share = rng.dirichlet(np.ones(4), cell.items)
        people = rng.multinomial(cell.raters, share) / cell.raters
        return cls(cell, people, 0.8 * share + 0.2 * rng.dirichlet(np.ones(4), cell.items))


def _of_shares(metric: str) -> Callable[[Shares], Interval]:
    def estimate(study: Shares) -> Interval:
        names = ["a", "b", "c", "d"]
        people, model = (
            LabelDistributions.of(values, names) for values in (study.people, study.model)
        )
        found = soft_label_metrics(
            people, {"model": model}, metrics=[metric], n_boot=_n_boot(study)
        )
        return found["model", metric]

    return estimate


@dataclass(frozen=True, eq=False)
class Trials:
    """A staircase that looks for the threshold of one observer."""

    cell: Cell
    threshold: float
    staircase: jnd.Quest

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> Trials:
        """Draw an observer, and as many trials as the cell has items."""
        threshold = rng.normal(-1, 0.5)
        observer = jnd.simulate_observer(threshold, seed=rng)
        state = jnd.quest(guess=-1, sd=1)
        for _ in range(cell.items):
            shown = state.next_intensity()
            state = state.update(shown, observer(shown))
        return cls(cell, threshold, state)


# The table of statistics.


_YES = tuple(f"yes/no, {round(100 * share)} %" for share in _SHARES)
_LEVELS = ("5 levels", "8 levels")
_PREDICTED = ("60 % right", "90 % right, unequal classes")
_TARGETS: tuple[Target, ...] = ("stimuli", "raters", "both")


@dataclass(frozen=True)
class Statistic:
    """An interval of the package, the true value that it is to hold, and where it is used."""

    estimate: Callable[[Any], Interval]
    truth: Callable[[Any], float]
    scales: tuple[str, ...]
    targets: tuple[Target, ...] = _TARGETS
    most_gaps: float = 0.9
    draw: Callable[[Cell, np.random.Generator], Any] = Study.draw
    items: tuple[int, ...] = ITEMS
    raters: tuple[int, ...] = RATERS
    rater_sds: tuple[float, ...] = RATER_SDS
    clusters: tuple[int, ...] = (0,)
    warns: bool = False
    """Whether results say where their data are like a design that failed."""


def _of_items(
    estimate: Callable[[Any], Interval], truth: Callable[[Any], float], *scales: str, **more: Any
) -> Statistic:
    """Describe a statistic of items, which no raters but one stand behind."""
    given = {"raters": (1,), "rater_sds": (0.0,), "most_gaps": 0.0, "targets": ("stimuli",)}
    return Statistic(estimate, truth, scales, **given | more)


def _of_predictions(
    name: str, estimate: Callable[[Predictions], Interval], items: tuple[int, ...] = ITEMS[3:]
) -> Statistic:
    """Describe a metric of predicted classes, of items that may come in clusters."""
    return _of_items(
        estimate,
        _large(name),
        *_PREDICTED,
        draw=Predictions.draw,
        items=items,
        clusters=(0, 5, 10, 20, 50),
    )


_BOTH: tuple[Target, ...] = ("both",)
STATISTICS: dict[str, Statistic] = {
    "krippendorff_alpha": Statistic(_of_alpha, _alpha, (*_YES, *_LEVELS, "continuous"), warns=True),
    "fleiss_kappa": Statistic(
        _by(reliability.fleiss_kappa), _fleiss, (*_YES, "5 levels"), warns=True
    ),
    "gwet_ac": Statistic(_by(reliability.gwet_ac), _gwet, (*_YES, "5 levels"), warns=True),
    "brennan_prediger": Statistic(
        _by(reliability.brennan_prediger), _brennan, (*_YES, "5 levels"), warns=True
    ),
    "percent_agreement": Statistic(
        _by(reliability.percent_agreement, scaled=False), _percent, (*_YES, "5 levels"), warns=True
    ),
    "interrater_correlation": Statistic(
        _of_correlation,
        _large("interrater_correlation"),
        (*_LEVELS, "continuous"),
        _BOTH,
        warns=True,
    ),
    "concordance": Statistic(
        _of_concordance, _large("concordance"), (*_LEVELS, "continuous"), _BOTH
    ),
    "split_half": Statistic(_of_halves, _large("split_half"), (*_LEVELS, "continuous"), _BOTH),
    "ICC(2,1)": Statistic(_of_form("2,1"), _single, ("5 levels", "continuous"), _BOTH),
    "ICC(3,1)": Statistic(
        _of_form("3,1"), lambda _: 1 / (1 + _REST), ("continuous",), ("stimuli",)
    ),
    "ICC(2,k)": Statistic(_of_form("2,k"), _of_mean, ("5 levels", "continuous"), _BOTH),
    **{
        f"variance_of_{name}": Statistic(
            _of_factor(factor),
            lambda study, place=place: _variances(study.cell)[place],
            ("continuous",),
            _BOTH,
            items=ITEMS[:4],
            raters=RATERS[:4],
        )
        for place, (name, factor) in enumerate({"stimuli": "stimulus", "raters": "rater"}.items())
    },
    "mean_opinion_score": Statistic(
        _of_first_score("mean"), _opinion, ("5 levels", "continuous"), ("raters",)
    ),
    "subject_model_score": Statistic(_of_first_score("reml"), _score, ("continuous",), ("sample",)),
    "alignment": Statistic(
        _of_alignment, _large("alignment"), _LEVELS, _BOTH, 0.6, WithModel.draw, ITEMS[2:5]
    ),
    "mean_spearman": _of_items(
        _of_mean_spearman, _large("mean_spearman"), "5 levels", "continuous", draw=WithModel.draw
    ),
    "preference_share": Statistic(
        _of_choice,
        lambda study: float(_chances(study.cell)[0, 1]),
        ("choices",),
        _BOTH,
        draw=Choices.of_two,
    ),
    "preference_strength": Statistic(
        _of_strength, lambda study: _strength(study.cell), ("choices",), _BOTH, draw=Choices.draw
    ),
    **{
        name: _of_predictions(name, _of_metric(name))
        for name in (
            "accuracy",
            "macro_precision",
            "macro_recall",
            "macro_f1",
            "weighted_f1",
            "ecc",
            "emc",
            "mean_emotional_distance",
            "kappa",
            "weighted_kappa",
        )
    },
    **{
        f"difference in {name}": _of_predictions(f"difference in {name}", _of_difference(name))
        for name in ("accuracy", "macro_f1", "emc")
    },
    **{
        name: _of_items(
            _of_calibration(name),
            _gap,
            "calibrated",
            "too sure",
            draw=Confidences.draw,
            items=ITEMS[3:],
        )
        for name in ("ece", "ece_equal_mass")
    },
    **{
        name: _of_items(
            _of_shares(name), _large(name), "4 labels", draw=Shares.draw, raters=RATERS[:3]
        )
        for name in (
            "cross_entropy",
            "kullback_leibler",
            "jensen_shannon",
            "brier",
            "mean_absolute_difference",
        )
    },
    "quest": _of_items(
        lambda study: study.staircase.estimate(),
        lambda study: study.threshold,
        "2 alternatives",
        draw=Trials.draw,
        items=(20, 50, 100),
        targets=("sample",),
    ),
}
