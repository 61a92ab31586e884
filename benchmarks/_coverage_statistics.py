"""Studies whose truth is known, and the intervals of the package that are held to it.

Studies of ratings have stimuli and raters drawn from normal populations,

    answer = stimulus + rater + rest,

with variances 1, that of raters, and 1; answers are cut into levels where the scale has some, and a
share of them is missing at random. Other statistics have studies of their own kind: choices between
systems, predicted classes, confidences, and the trials of a staircase. True values are integrals
over the populations where these are drawn anew, sums over those of the study where an interval is
about these, and means over very large studies where there is no formula.

Answers of this field are not like that: most of a scale from 0 are 0, few say yes, raters use the
scale differently, some do not look, faces are of the same actors, and each stimulus is shown to
three of a crowd. :data:`FIELD` has designs of that kind.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, softmax
from scipy.stats import spearmanr

from affectlab import evaluation, reliability
from affectlab.analysis import jnd
from affectlab.core.arrays import ratio
from affectlab.evaluation.human_alignment import AlignmentResult
from affectlab.evaluation.human_alignment.kappa import shares_little
from affectlab.evaluation.human_alignment.panel import panel_of
from affectlab.evaluation.soft_labels import LabelDistributions, calibration, soft_label_metrics
from affectlab.ratings import Ratings
from affectlab.reliability.components import variance_components
from affectlab.reliability.stimulus_scores import stimulus_scores
from affectlab.reliability.subject_models import subject_model
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
_ABOVE_ZERO = np.arange(7) * 0.25
"""Cuts above the first of a scale from 0 to 7 whose answers are mostly 0, in the same unit."""
_SLOPE_SD = 0.4
"""Standard deviation of the logarithm of raters' slopes, where these differ."""
_CARELESS = 0.15
"""Share of raters who answer at random, where there are such."""
_OF_ACTORS = 0.5
"""Share of the variance of stimuli that is between clusters of them."""
_EACH = 3
"""Raters from a crowd who answer to each stimulus."""
_SPREAD = 1.5
"""Standard deviation of stimuli in logits."""
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
    def in_table(
        cls, frame: pl.DataFrame, names: Sequence[str] = ("value", "low", "high"), **keys: str
    ) -> _Found:
        """Take the row of these keys; no interval where there is none."""
        rows = frame.filter(**keys).select(names).rows()
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
    """``continuous``, ``5 levels``, ``8 levels``, ``yes/no, 20 %`` with the share of yes, or
    ``8 levels, 75 % zeros``; behind a comma ``slopes``, ``careless`` or ``crowd``; what else a
    statistic says of what it simulates."""
    clusters: int = 0
    """Clusters of items, 0 where each is by itself."""

    @property
    def cuts(self) -> Floats | None:
        """Where answers are cut, None where they are not."""
        spread = math.sqrt(self._of_stimuli + self.rater_sd**2 + _REST)
        levels, *more = self.scale.split(", ")
        share = next((float(part.partition(" %")[0]) / 100 for part in more if "%" in part), 0.0)
        if levels == "yes/no":
            return np.array([ndtri(1 - share) * spread])
        if share:
            return np.asarray((ndtri(share) + _ABOVE_ZERO) * spread)
        return np.array(_CUTS[levels]) * spread if levels in _CUTS else None

    def has(self, trait: str) -> bool:
        """Whether raters have ``slopes``, some are ``careless``, or they are a ``crowd``."""
        return trait in self.scale.split(", ")

    @property
    def _of_stimuli(self) -> float:
        """Variance of what stimuli do to answers: slopes of raters add to it."""
        return math.exp(2 * _SLOPE_SD**2) if self.has("slopes") else 1.0

    @property
    def declared(self) -> str:
        """The scale in words that affectlab reads."""
        cuts = self.cuts
        return "interval" if cuts is None else f"0-{cuts.size}"

    def answer(self, felt: Floats) -> Floats:
        """Cut what is felt into the levels of the scale, where it has some."""
        cuts = self.cuts
        return felt if cuts is None else np.searchsorted(cuts, felt).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Study:
    """The answers of one simulated study, and the populations behind them."""

    cell: Cell
    answers: Floats
    """Shape (raters, items), ``nan`` where there is none."""
    stimulus: Floats
    rater: Floats

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator, effect: Floats | float = 0.0) -> Study:
        """Draw stimuli, raters and answers; `effect` is added to what stimuli are."""
        stimulus, rater = rng.normal(size=cell.items), rng.normal(0, cell.rater_sd, cell.raters)
        if cell.clusters:
            of_actors = rng.normal(size=cell.clusters)[np.arange(cell.items) % cell.clusters]
            stimulus = math.sqrt(_OF_ACTORS) * of_actors + math.sqrt(1 - _OF_ACTORS) * stimulus
        stimulus = stimulus + effect
        answers = rng.normal(0, math.sqrt(_REST), (cell.raters, cell.items))
        if cell.has("slopes"):
            slope = np.exp(rng.normal(0, _SLOPE_SD, cell.raters))
            answers += slope[:, None] * stimulus + rater[:, None]
        else:
            answers += stimulus + rater[:, None]
        answers = cell.answer(answers)
        if cell.has("careless"):
            assert cell.cuts is not None
            careless = rng.random(cell.raters) < _CARELESS
            random = rng.integers(0, cell.cuts.size + 1, answers.shape)
            answers = np.where(careless[:, None], random, answers)
        if cell.has("crowd"):
            answers[rng.random(answers.shape).argsort(axis=0).argsort(axis=0) >= _EACH] = np.nan
        else:
            answers[rng.random(answers.shape) < cell.gaps] = np.nan
        return cls(cell, answers, stimulus, rater)

    @classmethod
    def nested(cls, cell: Cell, rng: np.random.Generator) -> Study:
        """Draw answers of raters who answer one stimulus each."""
        study = cls.draw(replace(cell, rater_sd=0.0), rng)
        own = rng.normal(0, cell.rater_sd, study.answers.shape)
        return replace(study, cell=cell, answers=study.answers + own)

    def once_more(self, rng: np.random.Generator, level: float = 0.0) -> Floats:
        """Draw an answer to each stimulus by somebody whose level is known, shape (items,)."""
        noise = rng.normal(0, math.sqrt(_REST), self.cell.items)
        return self.cell.answer(self.stimulus + level + noise)

    @property
    def given(self) -> Ratings | Floats:
        """What is analysed: an array, or a table where stimuli have actors, which verbs find."""
        return self.ratings() if self.cell.clusters else self.answers

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
            stimuli=None
            if not self.cell.clusters
            else {"stimulus": every, "actor": [f"a{k % self.cell.clusters}" for k in every]},
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


def _chance(cell: Cell, stimulus: Floats) -> Floats:
    """Probabilities of levels of somebody's answer to some stimuli, shape (stimuli, levels)."""
    variance = cell.rater_sd**2 + _REST
    chance = _levels(cell, stimulus, variance)
    if cell.has("slopes"):
        node, weight = _nodes()
        slopes = np.exp(_SLOPE_SD * node)
        each = np.stack([_levels(cell, slope * stimulus, variance) for slope in slopes])
        chance = np.tensordot(weight, each, 1)
    if cell.has("careless"):
        chance = (1 - _CARELESS) * chance + _CARELESS / chance.shape[1]
    return chance


def _mean_of_raters(cell: Cell) -> tuple[Floats, Floats]:
    """Mean answers of some raters over all stimuli, and how frequent such raters are."""
    (node, weight), levels = _nodes(), np.arange(cell.cuts.size + 1.0)  # type: ignore[union-attr]
    if not cell.has("slopes"):
        mean = _levels(cell, cell.rater_sd * node, 1 + _REST) @ levels
    else:
        slopes, of_slope = np.exp(_SLOPE_SD * node), weight
        each = [_levels(cell, cell.rater_sd * node, one**2 + _REST) @ levels for one in slopes]
        mean, weight = np.concatenate(each), np.outer(of_slope, weight).ravel()
    if cell.has("careless"):
        mean = np.append(mean, levels.mean())
        weight = np.append((1 - _CARELESS) * weight, _CARELESS)
    return mean, weight


@cache
def _of_populations(cell: Cell) -> _Truth:
    node, weight = _nodes()
    chance = _chance(cell, node)
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


_BY_CHANCE: dict[str, Callable[[Floats, Floats], float]] = {
    "fleiss_kappa": lambda share, weight: float(share @ weight @ share),
    "gwet_ac": lambda share, weight: float(
        weight.sum() * (share @ (1 - share)) / (share.size * (share.size - 1))
    ),
    "brennan_prediger": lambda _, weight: float(weight.mean()),
    "percent_agreement": lambda _share, _weight: 0.0,
}
"""What two raters agree in by chance, from shares of levels and weights of agreement."""


def _agreement_weights(n_levels: int, weights: str) -> Floats:
    """Give 1 where two levels agree, 0 where they differ most."""
    apart = np.abs(np.subtract.outer(np.arange(n_levels), np.arange(n_levels)))
    if weights == "nominal":
        return (apart == 0).astype(np.float64)
    return np.asarray(1 - (apart / (n_levels - 1)) ** 2)


def _beyond_chance(name: str, weights: str = "nominal") -> Callable[[Study], float]:
    def truth(study: Study) -> float:
        known = _Truth.of(study)
        weight = _agreement_weights(known.shares.size, weights)
        by_chance = _BY_CHANCE[name](known.shares, weight)
        return (float((known.pairs * weight).sum()) - by_chance) / (1 - by_chance)

    return truth


def _joint(study: Study, first: int, second: int) -> Floats:
    """Probability of the levels of two answers to a stimulus, of these raters; shape (q, q)."""
    node, weight = _nodes()
    one, other = (_levels(study.cell, node + study.rater[at], _REST) for at in (first, second))
    return np.asarray(np.einsum("n,nk,nl->kl", weight, one, other))


def _kappa_of_two(study: Study) -> float:
    """Quadratic kappa of the first two raters."""
    joint = _joint(study, 0, 1)
    apart = 1 - _agreement_weights(len(joint), "quadratic")
    return float(1 - (joint * apart).sum() / (joint.sum(1) @ apart @ joint.sum(0)))


def _distance_of_repeats(study: Study) -> float:
    """Mean distance of two answers of the first rater to one stimulus."""
    if study.cell.cuts is None:
        return 2 * math.sqrt(_REST / math.pi)
    joint, level = _joint(study, 0, 0), np.arange(study.cell.cuts.size + 1)
    return float((joint * np.abs(np.subtract.outer(level, level))).sum())


def _correlation_of_repeats(study: Study) -> float:
    """Spearman's correlation of two answers of the first rater to one stimulus."""
    if study.cell.cuts is None:
        return 6 / math.pi * math.asin(1 / (1 + _REST) / 2)
    joint = _joint(study, 0, 0)
    share = joint.sum(axis=0)
    rank = np.cumsum(share) - share / 2 - 0.5
    return float(rank @ joint @ rank / (share @ rank**2))


@cache
def _variances(cell: Cell) -> tuple[float, float, float]:
    """Variances of stimuli and of raters, and of all answers."""
    if cell.cuts is None:
        return 1.0, cell.rater_sd**2, 1 + cell.rater_sd**2 + _REST
    truth, level = _of_populations(cell), np.arange(cell.cuts.size + 1.0)
    mean = float(truth.shares @ level)
    of_raters, weight = _mean_of_raters(cell)
    return (
        float(level @ truth.pairs @ level) - mean**2,
        float(weight @ of_raters**2) - mean**2,
        float(truth.shares @ level**2) - mean**2,
    )


def _single(study: Study) -> float:
    of_stimuli, _, whole = _variances(study.cell)
    return of_stimuli / whole


def _consistent(_: Study) -> float:
    """Share of the variance of stimuli where levels of raters do not count."""
    return 1 / (1 + _REST)


def _of_mean(single: Callable[[Study], float]) -> Callable[[Study], float]:
    """Reliability of a mean of as many ratings as a stimulus has, harmonic mean."""

    def truth(study: Study) -> float:
        one, count = single(study), (~np.isnan(study.answers)).sum(axis=0)
        k = 1 / (1 / count[count > 0]).mean()
        return float(k * one / (1 + (k - 1) * one))

    return truth


def _opinion(study: Study) -> float:
    """Mean answer of all raters there are to the first stimulus."""
    cell, first = study.cell, study.stimulus[:1]
    if cell.cuts is None:
        return float(first[0])
    return float(_chance(cell, first)[0] @ np.arange(cell.cuts.size + 1))


def _bias(study: Study) -> float:
    """How much higher the first rater answers than the mean of these raters."""
    return float(study.rater[0] - study.rater.mean())


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


def _of_all_raters(name: str) -> Callable[[Any], float]:
    """Give what very large studies of very many raters show."""
    return lambda study: _of_large_studies(
        name, replace(study.cell, items=300, raters=100, gaps=0.0)
    )


# Intervals of ratings.


def _by(name: str, **more: Any) -> Callable[[Study], Interval]:
    """Call a coefficient as people do."""
    function = getattr(reliability, name)
    scaled = name != "percent_agreement"

    def estimate(study: Study) -> Interval:
        options: dict[str, Any] = {"scale": study.cell.declared} if scaled else {}
        if study.cell.clusters:
            return _only(function(study.ratings(), target=study.cell.target, **more))
        found: Interval = function(study.answers, target=study.cell.target, **options, **more)
        return found

    return estimate


def _only(found: Any) -> Interval:
    """Take the only row of a table."""
    return _Found.in_table(found.to_frame())


def _of_alpha(study: Study) -> Interval:
    scale = study.cell.scale
    level = "interval" if scale == "continuous" else "ordinal"
    found = reliability.krippendorff_alpha(
        study.given,
        level="nominal" if scale.startswith("yes") else level,
        target=study.cell.target,
    )
    return _only(found) if study.cell.clusters else found


def _of_correlation(study: Study) -> Interval:
    found = reliability.interrater_correlation(study.given, target=study.cell.target)
    return found["rating"]


def _of_concordance(study: Study) -> Interval:
    found = reliability.concordance(study.answers, target=study.cell.target)
    return _Found.in_table(found.to_frame(), label="rating")


def _of_halves(scorer: str) -> Callable[[Study], Interval]:
    return lambda study: reliability.split_half(
        study.answers,
        scorer=scorer,
        # Of large studies the mean is asked for, which does not depend on how many splits it has.
        n_splits=2 if study.cell.target == "sample" else 50,
        target=study.cell.target,
    )["rating"]


def _of_two_raters(study: Study) -> Interval:
    return reliability.weighted_kappa(*study.answers[:2], scale=study.cell.declared)


def _of_form(form: str, interval: str = "jackknife") -> Callable[[Study], Interval]:
    def estimate(study: Study) -> Interval:
        # Raters of form 3 are these where its interval is by a formula, which says so itself.
        about = {"target": study.cell.target} if interval == "jackknife" else {}
        return reliability.intraclass_correlation(
            study.given, forms=[form], interval=interval, **about
        )["rating", form]

    return estimate


def _of_factor(factor: str, interval: str) -> Callable[[Study], Interval]:
    def estimate(study: Study) -> Interval:
        found = variance_components(study.ratings(), interval=interval)  # type: ignore[arg-type]
        return _Found.in_table(found.to_frame(), factor=factor)

    return estimate


def _of_share(study: Study) -> Interval:
    """Share of stimuli in the variance of one answer."""
    frame = variance_components(study.ratings()).to_frame()
    return _Found.in_table(frame, ("share", "share_low", "share_high"), factor="stimulus")


def _of_page_one(study: Study) -> Interval:
    """Reliability of the mean of all raters, as the first page of a report has it."""
    return _Found.in_table(reliability.reliability_of_means(study.ratings()).to_frame())


_EFFECT = 0.5
"""What a condition adds to what is felt, in standard deviations of stimuli."""


@dataclass(frozen=True, eq=False)
class Conditions(Study):
    """Stimuli of two conditions, of which the second is felt more."""

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> Conditions:
        """Draw stimuli, of which every other one is in the second condition."""
        study = Study.draw(cell, rng, _EFFECT * (np.arange(cell.items) % 2))
        return cls(cell, study.answers, study.stimulus, study.rater)


def _of_condition(study: Conditions) -> Interval:
    ratings = study.ratings()
    condition = {f"{k}": "ab"[k % 2] for k in range(study.cell.items)}
    frame = ratings.stimuli.with_columns(
        condition=pl.col("stimulus").replace_strict(condition, return_dtype=pl.String)
    )
    found = reliability.mixed_model(ratings.with_stimuli(frame), fixed=["condition"])
    one = found.to_frame("contrasts").row(0, named=True)
    ends = [one[name] for name in ("value", "low", "high")]
    turned = [-end for end in (ends[0], ends[2], ends[1])] if one["a"] == "a" else ends
    return _Found(*(math.nan if end is None else end for end in turned))


@cache
def _difference(cell: Cell) -> float:
    """Mean answer of the second condition less that of the first."""
    if cell.cuts is None:
        return _EFFECT
    (node, weight), level = _nodes(), np.arange(cell.cuts.size + 1.0)
    first, second = (weight @ _chance(cell, node + shift) @ level for shift in (0.0, _EFFECT))
    return float(second - first)


def _of_first_score(method: str) -> Callable[[Study], Interval]:
    def estimate(study: Study) -> Interval:
        scores = (
            stimulus_scores(study.answers)
            if method == "mean"
            else subject_model(study.answers, method=method, target="sample")  # type: ignore[arg-type]
        )
        return _Found.in_table(scores.to_frame("scores"), stimulus="0")

    return estimate


def _of_first_rater(parameter: str, method: str) -> Callable[[Study], Interval]:
    def estimate(study: Study) -> Interval:
        raters = subject_model(study.answers, method=method).raters_frame()  # type: ignore[arg-type]
        names = [parameter, f"{parameter}_low", f"{parameter}_high"]
        return _Found.in_table(raters, names, rater="0")

    return estimate


@dataclass(frozen=True, eq=False)
class RaschStudy(Study):
    """Answers of the many-facet Rasch model, in logits; `rater_sd` is that of severities."""

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> RaschStudy:
        """Draw stimuli, severities and answers; thresholds are those of all raters."""
        stimulus = rng.normal(0, _SPREAD, cell.items)
        severity = rng.normal(0, cell.rater_sd, cell.raters)
        thresholds = np.linspace(-1.5, 1.5, 4) if cell.scale.startswith("5") else np.zeros(1)
        apart = (stimulus - severity[:, None])[..., None] - thresholds
        weight = np.pad(apart.cumsum(axis=-1), ((0, 0), (0, 0), (1, 0)))
        below = softmax(weight, axis=-1).cumsum(axis=-1)
        answers = (rng.random((*below.shape[:2], 1)) > below).sum(axis=-1).astype(np.float64)
        answers[rng.random(answers.shape) < cell.gaps] = np.nan
        return cls(cell, answers, stimulus, severity)

    @property
    def table(self) -> Ratings:
        """Answers, with a column that halves the stimuli."""
        rater, stimulus = np.nonzero(~np.isnan(self.answers))
        columns = {
            "stimulus": stimulus,
            "rater": [f"r{k}" for k in rater],
            "value": self.answers[rater, stimulus],
            "half": stimulus % 2,
        }
        return Ratings(columns, scale="0-4" if self.cell.scale.startswith("5") else "binary")


def _of_severity(name: str, **options: Any) -> Callable[[RaschStudy], Interval]:
    def estimate(study: RaschStudy) -> Interval:
        found = reliability.rater_severity(study.table, **options)
        severities = found.to_frame("severities")
        # The mean over fewer raters is another one.
        if severities.height < study.cell.raters or (severities["status"] != "ok").any():
            return _Found(math.nan, math.nan, math.nan)
        keys = {"rater": "r0"} | ({"group": "0"} if name == "differences" else {})
        return _Found.in_table(found.to_frame(name), **keys)

    return estimate


def _severity(study: Study) -> float:
    return float(study.rater[0] - study.rater.mean())


@dataclass(frozen=True, eq=False)
class Repeats(Study):
    """The answers of one rater, who answered everything twice."""

    again: Floats
    """Shape (items,)."""

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> Repeats:
        """Draw stimuli, a rater, and two answers to each."""
        study = Study.draw(cell, rng)
        again = study.once_more(rng, float(study.rater[0]))
        return cls(cell, study.answers, study.stimulus, study.rater, again)


def _of_repeats(measure: str) -> Callable[[Repeats], Interval]:
    def estimate(study: Repeats) -> Interval:
        n = study.cell.items
        ratings = Ratings(
            {
                "stimulus": np.tile(np.arange(n), 2),
                "rater": ["r"] * (2 * n),
                "value": np.concatenate([study.answers[0], study.again]),
                "trial_kind": ["main"] * n + ["repeat"] * n,
            },
            scale=study.cell.declared,
        )
        return reliability.self_consistency(ratings)["r", measure]

    return estimate


_QUESTIONS = 4
_OF_QUESTIONNAIRE = 0.5
"""Variance of what one rater says of one stimulus in all answers of a questionnaire."""


@dataclass(frozen=True, eq=False)
class Questionnaires(Study):
    """Several answers of each rater about each stimulus, to questions that ask the same."""

    every: Floats
    """Shape (questions, raters, items), ``nan`` where there is no questionnaire."""

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> Questionnaires:
        """Draw stimuli, raters, and questionnaires, of which some are missing."""
        study = Study.draw(replace(cell, scale="continuous"), rng)
        shape = study.answers.shape
        common = study.stimulus + study.rater[:, None]
        common = common + rng.normal(0, math.sqrt(_OF_QUESTIONNAIRE), shape)
        every = common + rng.normal(0, math.sqrt(_REST), (_QUESTIONS, *shape))
        every[:, np.isnan(study.answers)] = np.nan
        return cls(cell, study.answers, study.stimulus, study.rater, every)

    def table(self) -> Ratings:
        """All answers, a label for each question."""
        question, rater, stimulus = np.nonzero(~np.isnan(self.every))
        columns = {
            "stimulus": stimulus,
            "rater": [f"r{k}" for k in rater],
            "label": [f"q{k}" for k in question],
            "value": self.every[question, rater, stimulus],
        }
        return Ratings(columns, scale="interval")


def _of_questionnaires(coefficient: str) -> Callable[[Questionnaires], Interval]:
    def estimate(study: Questionnaires) -> Interval:
        found = reliability.internal_consistency(study.table(), target=study.cell.target)
        return _Found.in_table(found.to_frame("reliability"), coefficient=coefficient)

    return estimate


def _consistency_of_sums(study: Questionnaires) -> float:
    common = 1 + study.cell.rater_sd**2 + _OF_QUESTIONNAIRE
    return _QUESTIONS * common / (_QUESTIONS * common + _REST)


_MOST_RIGHT, _LEAST_RIGHT = 0.95, 0.55


@dataclass(frozen=True, eq=False)
class Categories:
    """Raters of some accuracy, each the same in all classes, name what is true of stimuli."""

    cell: Cell
    answers: Floats
    """Shape (raters, items), ``nan`` where there is none."""
    right: Floats
    """Chance of a right answer of each rater, shape (raters,)."""

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> Categories:
        """Draw classes, raters and answers; who is careless answers at random."""
        share = _OF_CLASSES[cell.scale.partition(", ")[0]]
        right = rng.uniform(_LEAST_RIGHT, _MOST_RIGHT, cell.raters)
        if cell.has("careless"):
            right[rng.random(cell.raters) < _CARELESS] = 1 / share.size
        truth = rng.choice(share.size, cell.items, p=share)
        shape = cell.raters, cell.items
        wrong = (truth + rng.integers(1, share.size, shape)) % share.size
        answers = np.where(rng.random(shape) < right[:, None], truth, wrong).astype(np.float64)
        if cell.has("crowd"):
            answers[rng.random(shape).argsort(axis=0).argsort(axis=0) >= _EACH] = np.nan
        else:
            answers[rng.random(shape) < cell.gaps] = np.nan
        return cls(cell, answers, right)


_OF_CLASSES = {
    "2 classes": np.array([0.9, 0.1]),
    "4 classes": np.full(4, 0.25),
    "6 classes": np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04]),
}
"""Shares of the classes of stimuli."""


def _of_accuracy(study: Categories) -> Interval:
    """Share of right answers of the first rater, by the model of Dawid and Skene."""
    found = reliability.dawid_skene(study.answers, n_draws=_N_BOOT)
    return _Found.in_table(found.to_frame("raters"), rater="0")


@dataclass(frozen=True, eq=False)
class WithModel(Study):
    """A study that a model took part in, which answers as a person does."""

    model: Floats
    """Shape (items,)."""

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> WithModel:
        """Draw stimuli, raters, answers, and those of the model, whose errors are a person's."""
        study = Study.draw(cell, rng)
        return cls(cell, study.answers, study.stimulus, study.rater, study.once_more(rng))

    @classmethod
    def as_person(cls, cell: Cell, rng: np.random.Generator) -> WithModel:
        """Draw the same, and let the first person answer what the model does."""
        study = cls.draw(cell, rng)
        answers = np.concatenate([study.model[None], study.answers[1:]])
        return replace(study, answers=answers)


def _n_boot(study: Simulated) -> int:
    return 0 if study.cell.target == "sample" else _N_BOOT


def _aligned(study: WithModel) -> AlignmentResult:
    return evaluation.alignment(study.ratings(model=study.model), target=study.cell.target)


def _of_alignment(table: str, measure: str, **keys: str) -> Callable[[WithModel], Interval]:
    return lambda study: _Found.in_table(_aligned(study).to_frame(table), measure=measure, **keys)


def _alike(study: WithModel, level: Floats, weight: Floats) -> float:
    """Mean kappa, or concordance, of raters of some levels with people."""
    cell, (node, of_node) = study.cell, _nodes()

    def moments(level: Floats) -> tuple[Floats, Floats]:
        """Means for every stimulus, and mean squares, of each rater."""
        if cell.cuts is None:
            mean = level[:, None] + node
            return mean, (mean**2 + _REST) @ of_node
        chance = np.stack([_levels(cell, node + one, _REST) for one in level])
        levels = np.arange(cell.cuts.size + 1.0)
        return chance @ levels, chance @ levels**2 @ of_node

    (mean, square), (of_people, their_square) = moments(level), moments(cell.rater_sd * node)
    both = square[:, None] + their_square
    observed = both - 2 * (mean * of_node) @ of_people.T
    by_chance = both - 2 * np.outer(mean @ of_node, of_people @ of_node)
    if shares_little(panel_of(study.ratings(model=study.model))):
        return float(1 - (weight @ observed @ of_node) / (weight @ by_chance @ of_node))
    # Of raters who are so far out that they have one answer for all there is no kappa.
    return float(1 - weight @ ratio(observed, by_chance, 1.0) @ of_node)


@cache
def _ranked_alike(cell: Cell) -> tuple[float, float]:
    """Mean Spearman correlations of the model and of people over very large studies."""
    wide = replace(cell, items=int(20_000 / (cell.raters * (1 - cell.gaps))))
    values = []
    for run in range(_LARGE_STUDIES):
        study = WithModel.draw(wide, np.random.default_rng([run, 9]))
        known = study.answers[:, (~np.isnan(study.answers)).sum(axis=0) > 1]
        of_model = study.model[(~np.isnan(study.answers)).sum(axis=0) > 1]
        for person, own in enumerate(known):
            # Two or more answered each of these stimuli, so that somebody is left.
            others = np.nanmedian(np.delete(known, person, axis=0), axis=0)
            met = ~np.isnan(own)
            values.append([spearmanr(one[met], others[met]).statistic for one in (of_model, own)])
    of_model, of_people = np.mean(values, axis=0)
    return float(of_model), float(of_people)


def _of_whom(who: str, measure: str) -> Callable[[WithModel], float]:
    """Give the agreement of the model, that of people, or the difference of both."""

    def truth(study: WithModel) -> float:
        if measure == "spearman":
            of_model, of_people = _ranked_alike(study.cell)
        else:
            node, weight = _nodes()
            of_model = _alike(study, np.zeros(1), np.ones(1))
            of_people = _alike(study, study.cell.rater_sd * node, weight)
        return {"model": of_model, "people": of_people}.get(who, of_model - of_people)

    return truth


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


_CHOSEN = {1.0: "A", 0.0: "B", 0.5: "tie"}
_TIE = 0.4
"""How near two systems appeal where a judge calls it a tie, where ties are allowed."""


def _tie(cell: Cell) -> float:
    return _TIE if cell.scale.endswith("ties") else 0.0


@dataclass(frozen=True, eq=False)
class Choices:
    """Judges choose between two of three systems, which differ in appeal by item and by judge."""

    cell: Cell
    pair: Ints
    """Systems compared on each item, shape (items, 2)."""
    chosen: Floats
    """1 for the first of the pair, 0 for the second, 0.5 for a tie, ``nan`` for no answer; shape
    (judges, items)."""
    of_judge: Floats
    """What each system is to each judge, shape (judges, 3)."""
    turned: NDArray[np.bool_]
    """Whether the second of the pair is option A, shape (items,)."""

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator, systems: int = 3) -> Choices:
        """Draw what appeals to judges, and the choices."""
        pair = np.array([(0, 1), (0, 2), (1, 2)])[: 1 if systems == 2 else 3]
        pair = pair[np.arange(cell.items) % len(pair)]
        of_item = rng.normal(0, _ITEM_SD, (cell.items, 3)) + _STRENGTHS
        of_judge = rng.normal(0, cell.rater_sd, (cell.raters, 3))
        appeal = of_item + of_judge[:, None]
        one, other = (appeal[:, np.arange(cell.items), pair[:, side]] for side in (0, 1))
        ahead = one - other + rng.normal(size=one.shape)
        chosen = (ahead > 0).astype(np.float64)
        chosen[np.abs(ahead) < _tie(cell)] = 0.5
        chosen[rng.random(chosen.shape) < cell.gaps] = np.nan
        return cls(cell, pair, chosen, of_judge, rng.random(cell.items) < 0.5)

    @classmethod
    def of_two(cls, cell: Cell, rng: np.random.Generator) -> Choices:
        """Draw choices between the first and the second."""
        return cls.draw(cell, rng, 2)

    @property
    def ratings(self) -> Ratings:
        """The choices in long form."""
        judge, item = np.nonzero(~np.isnan(self.chosen))
        names = [f"i{k}" for k in range(self.cell.items)]
        placed = np.where(self.turned[:, None], self.pair[:, ::-1], self.pair)
        chosen = np.where(self.turned, 1 - self.chosen, self.chosen)[judge, item]
        return Ratings(
            {
                "stimulus": [names[k] for k in item],
                "rater": [f"j{k}" for k in judge],
                "value": [_CHOSEN[one] for one in chosen],
            },
            scale="nominal:A,B,tie" if self.cell.scale.endswith("ties") else "nominal:A,B",
            stimuli={
                "stimulus": names,
                **{
                    name: [_SYSTEMS[k] for k in placed[:, side]]
                    for side, name in enumerate(("A", "B"))
                },
            },
        )


def _chances(cell: Cell) -> Floats:
    """Share of all choices of each system over each other."""
    spread = math.sqrt(1 + 2 * cell.rater_sd**2 + 2 * _ITEM_SD**2)
    return np.asarray(ndtr((np.subtract.outer(_STRENGTHS, _STRENGTHS) - _tie(cell)) / spread))


def _share_of_decided(study: Choices) -> float:
    chance = _chances(study.cell)
    return float(chance[0, 1] / (chance[0, 1] + chance[1, 0]))


def _share_of_ties(study: Choices) -> float:
    chance = _chances(study.cell)
    return float(1 - chance[0, 1] - chance[1, 0])


def _of_items_with(rule: str, *, decided: bool) -> Callable[[Choices], float]:
    """Share of items on which the first is ahead, or has more than half of the votes."""

    def truth(study: Choices) -> float:
        cell, (node, weight) = study.cell, _nodes()
        of_item = _STRENGTHS[0] - _STRENGTHS[1] + math.sqrt(2) * _ITEM_SD * node
        ahead = of_item + (study.of_judge[:, 0] - study.of_judge[:, 1])[:, None]
        # Of each judge and item: a vote for the first, for the second, or for neither.
        first, second = (1 - cell.gaps) * ndtr(np.stack([ahead, -ahead]) - _tie(cell))
        neither = np.zeros(first.shape) if rule == "items" else 1 - cell.gaps - first - second
        won = float(weight @ _chance_to_lead(first, second + neither))
        lost = float(weight @ _chance_to_lead(second, first + neither))
        return won / (won + lost if decided else 1 - cell.gaps**cell.raters)

    return truth


def _chance_to_lead(up: Floats, down: Floats) -> Floats:
    """Probability that steps of judges, each up, down or none, end above 0; shape (items,).

    Parameters
    ----------
    up, down
        Probabilities of a step, shape (judges, items).
    """
    n = len(up)
    chance = np.zeros((2 * n + 1, up.shape[1]))
    chance[n] = 1.0
    for one, other in zip(up, down, strict=True):
        chance = (
            chance * (1 - one - other)
            + one * np.roll(chance, 1, axis=0)
            + other * np.roll(chance, -1, axis=0)
        )
    return np.asarray(chance[n + 1 :].sum(axis=0))


@cache
def _strength(cell: Cell) -> float:
    """Strength that the chances of all have, were as many choices made as can be counted."""
    wins = np.rint(1e4 * _chances(cell))
    np.fill_diagonal(wins, 0)
    return evaluation.preference_scale(wins, systems=_SYSTEMS, target="sample")["first"].value


def _of_choice(about: str, choice: str = "first") -> Callable[[Choices], Interval]:
    return lambda study: evaluation.preferences(study.ratings, target=study.cell.target)[
        about, choice
    ]


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


_RARE = str(_CLASSES[-1])
"""The class that is the rarest where classes are not equally frequent."""


def _of_class(metric: str) -> Callable[[Predictions], Interval]:
    return lambda study: evaluation.precision_recall_f1(
        study.true, study.predicted[0], "mikels", n_boot=_n_boot(study)
    ).per_label[_RARE, metric]


@dataclass(frozen=True, eq=False)
class LabelSets:
    """Sets of labels of items, and what a model predicts; items are harder or easier."""

    cell: Cell
    true: NDArray[np.bool_]
    """Shape (items, labels)."""
    predicted: NDArray[np.bool_]

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> LabelSets:
        """Draw labels, of which some are rare or none, and predictions that go with them."""
        share = np.array([0.4, 0.2, 0.1, 0.05, 0.02] if cell.scale == "rare labels" else [0.3] * 5)
        common, own, of_model, error = rng.normal(size=(4, cell.items, share.size))
        latent = math.sqrt(0.3) * common[:, :1] + math.sqrt(0.7) * own
        error = math.sqrt(0.3) * of_model[:, :1] + math.sqrt(0.7) * error
        seen = 0.8 * latent + 0.6 * error
        return cls(cell, latent > ndtri(1 - share), seen > ndtri(1 - share))


def _of_label_sets(average: str, metric: str) -> Callable[[LabelSets], Interval]:
    def estimate(study: LabelSets) -> Interval:
        found = evaluation.precision_recall_f1(
            study.true,
            study.predicted,
            labels=[f"label {k}" for k in range(study.true.shape[1])],
            n_boot=_n_boot(study),
        )
        return found.averages[average, metric] if average else found.exact_match

    return estimate


@dataclass(frozen=True, eq=False)
class ChosenSets:
    """Sets of labels that raters choose of items."""

    cell: Cell
    chosen: NDArray[np.bool_]
    """Shape (raters, items, labels)."""
    missing: NDArray[np.bool_]

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> ChosenSets:
        """Draw what is seen in items; raters differ in how readily they choose."""
        share = np.array([0.4, 0.2, 0.1, 0.05, 0.02] if cell.scale == "rare labels" else [0.3] * 5)
        shape = (cell.raters, cell.items, share.size)
        ready = rng.normal(0, cell.rater_sd, (cell.raters, 1, 1))
        felt = rng.normal(size=shape[1:]) + ready + rng.normal(0, math.sqrt(_REST), shape)
        cut = ndtri(1 - share) * math.sqrt(1 + cell.rater_sd**2 + _REST)
        return cls(cell, felt > cut, rng.random(shape[:2]) < cell.gaps)


def _of_chosen_sets(level: str) -> Callable[[ChosenSets], Interval]:
    def estimate(study: ChosenSets) -> Interval:
        rater, item = np.nonzero(~study.missing)
        chosen = study.chosen[rater, item]
        n, k = chosen.shape
        ratings = Ratings(
            {
                "stimulus": np.repeat(item, k),
                "rater": np.repeat(rater, k),
                "label": [f"label {code}" for code in range(k)] * n,
                "value": chosen.ravel().astype(np.float64),
            },
            scale="binary",
        )
        found = reliability.krippendorff_alpha(ratings, level=level, target=study.cell.target)
        return _only(found)

    return estimate


@dataclass(frozen=True, eq=False)
class NamedClasses:
    """Classes that people name for items; each is judged by the others."""

    cell: Cell
    named: NDArray[np.str_]
    """Shape (people, items)."""
    missing: NDArray[np.bool_]

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> NamedClasses:
        """Draw classes of items, and what people, who differ in accuracy, call them."""
        shape, k = (cell.raters, cell.items), _CLASSES.size
        true = rng.integers(k, size=cell.items)
        skill = np.clip(rng.normal(0.7, 0.1 * cell.rater_sd, (cell.raters, 1)), 0, 1)
        wrong = np.where(rng.random(shape) < _NEAR, (true + 1) % k, rng.integers(k, size=shape))
        named = _CLASSES[np.where(rng.random(shape) < skill, true, wrong)]
        return cls(cell, named, rng.random(shape) < cell.gaps)


def _of_people(rater: str, metric: str) -> Callable[[NamedClasses], Interval]:
    def estimate(study: NamedClasses) -> Interval:
        person, item = np.nonzero(~study.missing)
        ratings = Ratings(
            {
                "stimulus": item,
                "rater": [f"p{k}" for k in person],
                "value": study.named[person, item],
            },
            taxonomy="mikels",
        )
        found = evaluation.evaluate_classification(
            ratings, metrics=[metric], soft_labels=False, n_boot=_n_boot(study)
        )
        return found.estimates[rater, metric]

    return estimate


_POSED = ("anger", "fear", "joy", "sadness", "none of these")
_EASE = np.array([0.5, 0.0, 2.5, 1.0])
"""How easily each emotion is recognised."""
_MISTAKEN = np.array([0.1, 0.4, 0.05, 0.15, 0.3])
"""How often each answer is given in place of others."""


@dataclass(frozen=True, eq=False)
class Posed:
    """Emotions that people recognise in posed faces."""

    cell: Cell
    answered: Ints
    """Shape (people, items)."""
    missing: NDArray[np.bool_]

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> Posed:
        """Draw faces and people, who are harder or easier, better or worse."""
        shape, true = (cell.raters, cell.items), np.arange(cell.items) % _EASE.size
        seen = _EASE[true] + rng.normal(size=cell.items) + rng.normal(size=shape)
        hit = seen + rng.normal(0, cell.rater_sd, (cell.raters, 1)) > 0
        share = np.where(np.eye(_EASE.size, _MISTAKEN.size, dtype=bool)[true], 0.0, _MISTAKEN)
        reached = np.cumsum(share / share.sum(axis=1, keepdims=True), axis=1)
        wrong = (rng.random(shape)[:, :, None] > reached).sum(axis=2)
        return cls(cell, np.where(hit, true, wrong), rng.random(shape) < cell.gaps)


def _of_posed(measure: str, emotion: str) -> Callable[[Posed], Interval]:
    def estimate(study: Posed) -> Interval:
        person, item = np.nonzero(~study.missing)
        ratings = Ratings(
            {
                "stimulus": item,
                "rater": person,
                "value": [_POSED[code] for code in study.answered[person, item]],
            },
            scale=f"nominal:{','.join(_POSED)}",
            stimuli={
                "stimulus": np.arange(study.cell.items),
                "intended": [_POSED[k % _EASE.size] for k in range(study.cell.items)],
            },
        )
        found = evaluation.recognition(ratings, target=study.cell.target).to_frame("estimates")
        return _Found.in_table(found, intended=emotion, measure=measure)

    return estimate


def _rate_of_posed(measure: str, emotion: str) -> Callable[[Posed], float]:
    """Integrate over people the rates of everybody in very many faces."""

    def truth(study: Posed) -> float:
        node, weight = _nodes()
        hit = ndtr((_EASE + study.cell.rater_sd * node[:, None]) / math.sqrt(1 + _REST))
        k = _EASE.size
        share = np.where(np.eye(k, dtype=bool), 0.0, _MISTAKEN[:k])
        share /= share.sum(axis=1, keepdims=True) + _MISTAKEN[k]
        # Of all faces of each emotion, how often each is answered, shape (nodes, k, k).
        answered = (1 - hit)[:, :, None] * share + hit[:, :, None] * np.eye(k)
        rate = hit if measure == "hit_rate" else hit**2 / answered.sum(axis=1)
        each = weight @ rate
        return float(each.mean() if emotion == "mean" else each[_POSED.index(emotion)])

    return truth


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


@dataclass(frozen=True, eq=False)
class AsPeople:
    """Answers of people in four categories or levels, and of a model that answers as each."""

    cell: Cell
    people: Ints
    """Shape (people, items)."""
    model: Ints
    missing: NDArray[np.bool_]

    @classmethod
    def draw(cls, cell: Cell, rng: np.random.Generator) -> AsPeople:
        """Draw what is frequent in each item, and a model that is right about some people."""
        reached = np.cumsum(rng.dirichlet(np.ones(4), cell.items), axis=1)
        shape = (cell.raters, cell.items)
        people, other = ((rng.random((*shape, 1)) > reached).sum(axis=2) for _ in range(2))
        model = np.where(rng.random(shape) < 0.5, people, other)
        return cls(cell, people, model, rng.random(shape) < cell.gaps)


def _of_disagreement(measure: str) -> Callable[[AsPeople], Interval]:
    def estimate(study: AsPeople) -> Interval:
        person, item = np.nonzero(~study.missing)
        scale = "nominal:0,1,2,3" if study.cell.scale == "4 categories" else "0-3"
        names = [f"p{k}" for k in person]

        def given(answers: Ints) -> list[Any]:
            found = answers[person, item].tolist()
            return list(map(str, found)) if scale.startswith("nominal") else found

        people = Ratings(
            {"stimulus": item, "rater": names, "value": given(study.people)}, scale=scale
        )
        model = Ratings(
            {
                "stimulus": item,
                "rater": ["model"] * item.size,
                "answers_as": names,
                "value": given(study.model),
            },
            scale=scale,
            raters={"rater": ["model"], "rater_kind": ["model"]},
        )
        found = evaluation.disagreement_metrics(people, model).to_frame()
        return _Found.in_table(found, measure=measure)

    return estimate


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
    field: tuple[Cell, ...] = ()
    """Designs of the field's own kind, beside those of the grid."""


def _of_items(
    estimate: Callable[[Any], Interval], truth: Callable[[Any], float], *scales: str, **more: Any
) -> Statistic:
    """Describe a statistic of items, which no raters but one stand behind."""
    given = {"raters": (1,), "rater_sds": (0.0,), "most_gaps": 0.0, "targets": ("stimuli",)}
    return Statistic(estimate, truth, scales, **given | more)


def _of_models(measure: str, table: str, who: str, **keys: str) -> Statistic:
    """Describe a measure of a model, or of people, in a table of alignment."""
    steps = {"kappa": _LEVELS, "concordance": ("continuous",)}
    return Statistic(
        _of_alignment(table, measure, **keys),
        _of_whom(who, measure),
        steps.get(measure, ("5 levels", "continuous")),
        _BOTH,
        0.6,
        WithModel.as_person if table == "people" else WithModel.draw,
        ITEMS[2:5],
        # A person beside two others has an interval about these two.
        RATERS[1:] if table == "people" else RATERS,
        warns=True,
        field=_OF_PEOPLE if measure == "kappa" and table == "difference" else (),
    )


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
FIELD = (
    *(Cell("both", 100, 4, 0.0, 0.5, f"8 levels, {share} % zeros") for share in (50, 75, 90)),
    *(
        Cell("both", *size, 0.0, 0.5, "8 levels, 75 % zeros, slopes")
        for size in ((100, 4), (60, 12))
    ),
    Cell("both", 300, 3, 0.0, 0.5, "yes/no, 5 %"),
    Cell("both", 100, 5, 0.0, 0.5, "yes/no, 20 %"),
    Cell("both", 100, 4, 0.0, 0.5, "8 levels, slopes"),
    *(Cell("both", 60, n, 0.0, 0.5, "8 levels, careless") for n in (10, 40)),
    Cell("both", 120, 6, 0.0, 0.5, "8 levels", 12),
    Cell("both", 500, 82, 1 - _EACH / 82, 0.5, "yes/no, 5 %, crowd"),
)
"""Most answers 0, few yes, raters whose slopes differ or who do not look, 12 actors, a crowd."""
_ORDERED = tuple(cell for cell in FIELD if not cell.scale.startswith("yes"))
_OF_PEOPLE = tuple(cell for cell in FIELD if not (cell.has("slopes") or cell.has("careless")))
"""Designs in which agreement with a model has a formula."""
STATISTICS: dict[str, Statistic] = {
    "krippendorff_alpha": Statistic(
        _of_alpha, _alpha, (*_YES, *_LEVELS, "continuous"), warns=True, field=FIELD
    ),
    **{
        f"{level}_alpha_of_sets": Statistic(
            _of_chosen_sets(level),
            _of_all_raters(f"{level}_alpha_of_sets"),
            ("equal labels", "rare labels"),
            _BOTH,
            0.6,
            ChosenSets.draw,
            ITEMS[2:5],
            RATERS[:3],
            RATER_SDS[:2],
        )
        for level in ("masi", "jaccard")
    },
    **{
        name: Statistic(
            _by(name), _beyond_chance(name), (*_YES, "5 levels"), warns=True, field=FIELD
        )
        for name in _BY_CHANCE
    },
    **{
        f"quadratic_{name}": Statistic(
            _by(name, weights="quadratic"),
            _beyond_chance(name, "quadratic"),
            _LEVELS,
            warns=True,
            field=_ORDERED,
        )
        for name in list(_BY_CHANCE)[:3]
    },
    "kappa_of_two_raters": Statistic(
        _of_two_raters,
        _kappa_of_two,
        (*_YES, *_LEVELS),
        ("stimuli",),
        0.3,
        raters=(2,),
    ),
    **{
        f"{name}_of_repeats": _of_items(
            _of_repeats(measure),
            truth,
            "5 levels",
            "continuous",
            draw=Repeats.draw,
            items=ITEMS[:4],
        )
        for name, measure, truth in (
            ("distance", "absolute difference", _distance_of_repeats),
            ("correlation", "correlation", _correlation_of_repeats),
        )
    },
    **{
        name: Statistic(
            _of_questionnaires(statistic),
            _consistency_of_sums,
            ("questionnaires",),
            _BOTH,
            draw=Questionnaires.draw,
            items=ITEMS[:5],
            raters=RATERS[:4],
            warns=True,
        )
        for name, statistic in (("cronbach_alpha", "alpha"), ("mcdonald_omega", "omega"))
    },
    "interrater_correlation": Statistic(
        _of_correlation,
        _large("interrater_correlation"),
        (*_LEVELS, "continuous"),
        _BOTH,
        warns=True,
        field=_ORDERED,
    ),
    "concordance": Statistic(
        _of_concordance, _large("concordance"), (*_LEVELS, "continuous"), _BOTH
    ),
    "split_half": Statistic(
        _of_halves("mean"), _large("split_half"), (*_LEVELS, "continuous"), _BOTH
    ),
    "split_half_of_subject_model": Statistic(
        _of_halves("reml"),
        _large("split_half_of_subject_model"),
        ("5 levels", "continuous"),
        _BOTH,
        items=ITEMS[:5],
        raters=RATERS[1:4],
    ),
    "reliability_on_page_one": Statistic(
        _of_page_one, _of_mean(_single), ("5 levels", "continuous"), _BOTH, field=FIELD
    ),
    "share_of_stimuli": Statistic(
        _of_share, _single, ("5 levels", "continuous"), _BOTH, items=ITEMS[:4], field=FIELD
    ),
    "difference_of_conditions": Statistic(
        _of_condition,
        lambda study: _difference(study.cell),
        ("5 levels", "continuous"),
        _BOTH,
        draw=Conditions.draw,
        items=ITEMS[1:5],
        field=FIELD,
    ),
    "accuracy_by_Dawid_and_Skene": Statistic(
        _of_accuracy,
        lambda study: float(study.right[0]),
        tuple(_OF_CLASSES),
        ("stimuli",),
        draw=Categories.draw,
        items=ITEMS[2:5],
        rater_sds=(0.0,),
        field=(
            Cell("stimuli", 60, 10, 0.0, 0.0, "6 classes, careless"),
            Cell("stimuli", 500, 82, 1 - _EACH / 82, 0.0, "2 classes, crowd"),
        ),
    ),
    **{
        f"ICC({form}){name}": Statistic(
            _of_form(form, interval),
            truth,
            scales,
            targets,
            draw=draw,
            field=FIELD if form.startswith("2") and not name else (),
        )
        for interval, name in (("jackknife", ""), ("analytic", "_by_formula"))
        for form, truth, scales, targets, draw in (
            ("2,1", _single, ("5 levels", "continuous"), _BOTH, Study.draw),
            ("3,1", _consistent, ("continuous",), ("stimuli",), Study.draw),
            ("3,k", _of_mean(_consistent), ("continuous",), ("stimuli",), Study.draw),
            ("2,k", _of_mean(_single), ("5 levels", "continuous"), _BOTH, Study.draw),
            ("1,1", _single, ("continuous",), _BOTH, Study.nested),
            ("1,k", _of_mean(_single), ("continuous",), _BOTH, Study.nested),
        )
    },
    **{
        f"variance_of_{name}{how}": Statistic(
            _of_factor(factor, interval),
            lambda study, place=place: _variances(study.cell)[place],
            ("continuous",),
            _BOTH,
            items=ITEMS[:4],
            raters=RATERS[:4],
        )
        for interval, how in (("jackknife", ""), ("likelihood", "_by_likelihood"))
        for place, (name, factor) in enumerate({"stimuli": "stimulus", "raters": "rater"}.items())
    },
    "mean_opinion_score": Statistic(
        _of_first_score("mean"),
        _opinion,
        ("5 levels", "continuous"),
        ("raters",),
        field=tuple(replace(cell, target="raters") for cell in FIELD),
    ),
    "subject_model_score": Statistic(_of_first_score("reml"), _score, ("continuous",), ("sample",)),
    **{
        f"{method}_score": Statistic(_of_first_score(method), _score, ("continuous",), ("sample",))
        for method in ("p910", "mle")
    },
    **{
        f"{parameter}_of_a_rater" + ("" if method == "reml" else f"_by_{method}"): Statistic(
            _of_first_rater(parameter, method), truth, ("continuous",), ("sample",)
        )
        for parameter, truth in (("bias", _bias), ("inconsistency", lambda _: math.sqrt(_REST)))
        for method in ("reml", "p910", "mle")
    },
    **{
        f"severity_of_a_rater{by}": Statistic(
            _of_severity(name, **options),
            truth,
            scales,
            ("stimuli",),
            draw=RaschStudy.draw,
            # Thresholds of each rater need more answers.
            items=(100, 300) if "thresholds" in options else (30, 100, 300),
            raters=(3, 5, 10, 30),
        )
        for by, name, truth, scales, options in (
            ("", "severities", _severity, ("2 levels", "5 levels"), {}),
            ("_with_own_thresholds", "severities", _severity, ("5 levels",), {"thresholds": "own"}),
            ("_with_a_group", "differences", lambda _: 0.0, ("5 levels",), {"group": "half"}),
        )
    },
    **{
        f"{what}{by}": _of_models(measure, table, who, **keys)
        for what, table, who, keys in (
            ("alignment", "difference", "difference", {"rater": "model"}),
            ("agreement_of_a_model", "agreement", "model", {"rater": "model"}),
            ("agreement_of_people", "ceiling", "people", {}),
            ("agreement_of_a_person", "people", "model", {"rater": "r0"}),
        )
        for measure, by in (
            ("kappa", ""),
            ("concordance", "_by_concordance"),
            ("spearman", "_by_spearman"),
        )
    },
    "mean_spearman": _of_items(
        _of_mean_spearman, _large("mean_spearman"), "5 levels", "continuous", draw=WithModel.draw
    ),
    **{
        name: Statistic(
            _of_choice(about, choice), truth, (scale,), targets, 0.9, draw=Choices.of_two
        )
        for name, about, choice, truth, scale, targets in (
            (
                "preference_share",
                "votes",
                "first",
                lambda study: float(_chances(study.cell)[0, 1]),
                "choices",
                _BOTH,
            ),
            (
                "share_of_decided_votes",
                "decided votes",
                "first",
                _share_of_decided,
                "choices, ties",
                _BOTH,
            ),
            ("share_of_ties", "votes", "tie", _share_of_ties, "choices, ties", _BOTH),
            ("share_of_a_side", "side", "A", lambda _: 0.5, "choices", _BOTH),
            *(
                (
                    f"share_of_{about.replace(' ', '_')}",
                    about,
                    "first",
                    _of_items_with(about.rpartition(" ")[2], decided=about.startswith("decided")),
                    "choices, ties",
                    ("stimuli",),
                )
                for about in ("items", "decided items", "verdicts", "decided verdicts")
            ),
        )
    },
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
            "acc2",
            "kappa",
            "weighted_kappa",
        )
    },
    **{
        f"{metric}_of_a_class": _of_items(
            _of_class(metric),
            _large(f"{metric}_of_a_class"),
            *_PREDICTED,
            draw=Predictions.draw,
            items=ITEMS[3:],
        )
        for metric in ("precision", "recall", "f1")
    },
    **{
        name: _of_items(
            _of_label_sets(average, metric),
            _large(name),
            "equal labels",
            "rare labels",
            draw=LabelSets.draw,
            items=ITEMS[3:],
        )
        for average, metric in (
            ("", "exact_match"),
            *itertools.product(("macro", "micro", "weighted"), ("precision", "recall", "f1")),
        )
        for name in (f"{average}_{metric}_of_sets".removeprefix("_"),)
    },
    **{
        name: Statistic(
            _of_people(rater, metric),
            # One of several alike people is as accurate as all of them.
            _large(name.replace("a_person", "people")),
            ("classes",),
            ("stimuli",),
            0.6,
            NamedClasses.draw,
            ITEMS[2:5],
            RATERS[:4],
            RATER_SDS[:1],
        )
        for name, rater, metric in (
            ("accuracy_of_people", "people", "accuracy"),
            ("macro_f1_of_people", "people", "macro_f1"),
            ("accuracy_of_a_person", "p0", "accuracy"),
        )
    },
    **{
        f"{measure}_of_{emotion}": Statistic(
            _of_posed(measure, emotion),
            _rate_of_posed(measure, emotion),
            ("recognition",),
            _BOTH,
            0.6,
            Posed.draw,
            ITEMS[1:5],
            RATERS[1:4],
            RATER_SDS[:2],
        )
        for measure, emotion in (
            ("hit_rate", "fear"),
            ("unbiased_hit_rate", "joy"),
            ("unbiased_hit_rate", "fear"),
            ("unbiased_hit_rate", "mean"),
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
    **{
        measure: Statistic(
            _of_disagreement(measure),
            _large(measure),
            (scale,),
            ("stimuli",),
            0.3,
            AsPeople.draw,
            ITEMS[1:5],
            RATERS[:3],
            RATER_SDS[:1],
        )
        for measure, scale in (
            ("AMD", "4 categories"),
            ("AER", "4 categories"),
            ("AWD", "4 levels"),
            ("ANAD", "4 levels"),
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
