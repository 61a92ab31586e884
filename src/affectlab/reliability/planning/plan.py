"""How many raters a study needs, by simulation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.inference import check_confidence, wilson_interval
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table, YesNo
from affectlab.core.types import Floats, Ints
from affectlab.core.words import option
from affectlab.ratings import (
    Answers,
    ClusterLike,
    Ratings,
    StimulusClusters,
    answers_of,
    canonical,
    of_known_raters,
    stimulus_clusters,
)
from affectlab.reliability.one_label import one_label
from affectlab.reliability.planning.model import PlanModel, fit_plan_model, replicate
from affectlab.reliability.planning.simulation import (
    StudyDesign,
    alpha_widths,
    coefficients_of_means,
    detections,
    group_detections,
    interval_widths,
    split_half_correlations,
)
from affectlab.reliability.planning.wording import (
    FIGURE,
    MEAN_AGREEMENT,
    MEAN_RELIABILITY,
    PLAN,
    RECOMMENDATION,
    alpha_width_text,
    goal_text,
    group_power,
    open_text,
    pair_power,
    plan_figure_title,
    recommended_text,
    unreached_text,
    width_text,
    workload_text,
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Plan(Result):
    """How many raters per stimulus reach a goal, and what each number of raters gives.

    The table has a row per candidate: ``raters`` (per stimulus), ``value`` and its Monte Carlo
    interval ``low`` and ``high`` (95 %), ``reached`` (the less favourable end of it reaches the
    goal), for split halves ``corrected`` (Spearman-Brown), and ``ratings``, ``people`` and ``cost``
    of the whole study, null where the number of stimuli or the price is not said. ``settings`` has
    what was asked for, and ``n_sim``, the simulated studies (pairs of stimuli for power).
    """

    measure: str
    """What was simulated, in words."""
    recommended: int | None
    """Smallest number of raters per stimulus that reaches the goal, Monte Carlo error included,
    and from which on all larger ones do; ``None`` where no candidate does."""
    recommended_range: tuple[int, int | None] | None
    """What other pilots of the same size would have recommended: 10 % and 90 % quantile; ``None``
    without a pilot. Its upper end is ``None`` where it lies beyond four times the recommended
    number."""
    model: PlanModel
    """The study that was simulated."""


_SHOWN = 14
_COLUMNS = (
    Key("raters"),
    Count("stimuli"),
    Number("value", decimals=3),
    Interval(decimals=3),
    YesNo("reached"),
    Number("corrected", "corrected (Spearman-Brown)", decimals=3),
    Count("ratings"),
    Count("people"),
    Number("cost"),
)


def _tables(frame: pl.DataFrame, recommended: int | None) -> tuple[Table, Table]:
    """Give all candidates, and some of them: evenly spread on a log scale, and the recommended."""
    last = frame.height - 1
    rows = set(np.geomspace(1, last + 1, min(_SHOWN, last + 1)).round().astype(int) - 1)
    if recommended is not None:
        rows.add(frame["raters"].to_list().index(recommended))
    columns = tuple(
        column
        for column in _COLUMNS
        if all(name in frame.columns and not frame[name].null_count() for name in column.sources)
    )
    return (
        Table("plan", PLAN, frame, columns, limit=0),
        Table("candidates", "Some candidates.", frame[sorted(int(row) for row in rows)], columns),
    )


def _recommendation(number: Mapping[str, Sequence[int | None]]) -> Table:
    """Give the number of raters, and those of other pilots; null where not known."""
    return Table(
        "recommendation",
        RECOMMENDATION,
        pl.DataFrame(number, schema=dict.fromkeys(number, pl.Int64)),
        tuple(Count(name) for name in number),
        limit=0,
    )


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """What a study is to reach, and what it is to hold."""

    quantity: str
    goal: float
    difference: float | None
    assurance: float | None
    confidence: float
    n_stimuli: int | None
    stimuli_per_rater: int | None
    paired: bool | None
    price: float | None
    stimulus_price: float
    budget: float | None
    correlation: float

    def __post_init__(self) -> None:
        check_choice("quantity", self.quantity, _QUANTITIES)
        check_confidence(self.confidence)
        if not 0 < self.goal < (math.inf if self.at_most else 1.0):
            expected = "a width above 0" if self.at_most else "a number between 0 and 1"
            raise InputError(f"goal {self.goal!r} for {self.quantity}: expected {expected}")
        if self.is_power and not (self.difference and math.isfinite(self.difference)):
            raise InputError(
                f"difference {self.difference!r}: quantity {self.quantity} needs a difference "
                "(--difference) "
                "in points of the scale, other than 0"
            )
        if not self.is_power and self.difference is not None:
            raise InputError(
                f"difference {self.difference!r}: only power has one, not {self.quantity}"
            )
        if not 0 <= self.correlation < 1 or (self.correlation and self.quantity != "groups"):
            raise InputError(f"correlation {self.correlation!r}: expected 0 to below 1, for groups")
        if self.assurance is not None and not (
            self.quantity == "interval" and 0 < self.assurance < 1
        ):
            raise InputError(
                f"assurance {self.assurance!r}: expected a share of stimuli, for the interval"
            )
        _check_least(1, n_stimuli=self.n_stimuli, stimuli_per_rater=self.stimuli_per_rater)
        if self.price is not None:
            check_number("price", self.price, 0)
        if self.budget is not None and not (self.budget > 0 and self.price):
            raise InputError(
                f"budget {self.budget!r}: expected a number above 0, with the price of a rating"
            )
        if self.price is not None and self.n_stimuli is None and self.budget is None:
            raise InputError(
                "price without n_stimuli: expected both, to tell the cost of the study"
            )
        if self.stimulus_price < 0 or (self.stimulus_price and self.price is None):
            raise InputError(
                f"stimulus_price {self.stimulus_price!r}: expected 0 or more, beside price"
            )
        least = self.least_stimuli
        if self.by_stimuli and self.budget is None and (self.n_stimuli or 0) < least:
            raise InputError(
                f"n_stimuli {self.n_stimuli!r}: quantity {self.quantity} needs {least} stimuli or "
                "more, or a budget"
            )

    @property
    def at_most(self) -> bool:
        """Whether less is better."""
        return self.quantity in ("interval", "alpha")

    @property
    def is_power(self) -> bool:
        """Whether what is wanted is the power of a test."""
        return self.quantity in ("power", "groups")

    @property
    def by_stimuli(self) -> bool:
        """Whether the number of stimuli decides, too."""
        return self.quantity in ("alpha", "groups")

    @property
    def delta(self) -> float:
        """Difference of two stimuli; 0 where none is to be seen."""
        return abs(float(self.difference or 0))

    @property
    def together(self) -> bool:
        """Whether the same raters rate both stimuli of a pair."""
        return self.stimuli_per_rater is None if self.paired is None else self.paired

    @property
    def measure(self) -> str:
        """What is simulated, in words."""
        if self.quantity == "interval":
            return width_text(self.confidence, self.assurance)
        if self.quantity == "split_half":
            return "split-half correlation"
        if self.quantity == "icc":
            return MEAN_AGREEMENT
        if self.quantity == "reliability":
            return MEAN_RELIABILITY
        if self.quantity == "alpha":
            return alpha_width_text(self.confidence)
        if self.quantity == "groups":
            return group_power(self.delta, models=bool(self.correlation))
        return pair_power(self.delta, same_raters=self.together)

    def is_reached(self, values: Floats) -> NDArray[np.bool_]:
        """Whether values reach the goal."""
        return values <= self.goal if self.at_most else values >= self.goal

    def simulate(
        self, model: PlanModel, counts: Ints, size: int, rng: np.random.Generator
    ) -> Floats:
        """Draw what each number of raters gives in studies, shape (size, candidates)."""
        if self.quantity == "power":
            return detections(model, self.delta, self.together, counts, self.confidence, size, rng)
        if self.quantity == "split_half":
            return split_half_correlations(model, self.design, counts, size, rng)
        if self.quantity in ("icc", "reliability"):
            absolute = self.quantity == "icc"
            return coefficients_of_means(model, self.design, counts, absolute, size, rng)
        if self.quantity == "alpha":
            return alpha_widths(model, self.design, counts, self.confidence, size, rng)
        if self.quantity == "groups":
            return group_detections(
                model,
                self.design,
                self.delta,
                self.correlation,
                counts,
                self.confidence,
                size,
                rng,
            )
        return interval_widths(
            model, self.design, counts, self.confidence, self.assurance, size, rng
        )

    @property
    def least_stimuli(self) -> int:
        """Number of stimuli without which there is nothing to estimate."""
        return {"alpha": 2, "groups": 4}.get(self.quantity, 1)

    def size(self, most_raters: int) -> int:
        """Number of studies that are simulated by default."""
        per_study = 2 if self.quantity == "power" else self.design.n_stimuli
        most = {"power": _MOST_PAIRS, "groups": _MOST_GROUPS}.get(self.quantity, _MOST_STUDIES)
        return int(np.clip(_ANSWERS / (per_study * most_raters), _LEAST_STUDIES, most))

    def stimuli(self, raters: int) -> int:
        """Number of stimuli that a budget pays for, not more than there are."""
        each = float(self.price or 0) * raters + self.stimulus_price
        paid = int(float(self.budget or 0) / each)
        return paid if self.n_stimuli is None else min(paid, self.n_stimuli)

    @property
    def design(self) -> StudyDesign:
        """Who rates what in a simulated study."""
        least, most = 3, (self.n_stimuli or _STIMULI) if self.by_stimuli else _STIMULI
        simulated = max(min(self.n_stimuli or _STIMULI, most), least)
        return StudyDesign(simulated, min(self.stimuli_per_rater or simulated, simulated))

    def sentences(
        self,
        frame: pl.DataFrame,
        recommended: int | None,
        open_range: tuple[int, int | None] | None,
    ) -> Iterator[str]:
        """Recommend, and say how sure that is and what it costs."""
        goal = goal_text(self.goal, at_most=self.at_most)
        if recommended is None:
            best = frame["value"].min() if self.at_most else frame["value"].max()
            raters = frame["raters"].to_list()
            yield unreached_text(raters[0], raters[-1], self.measure, goal, _number(best))
            return
        row = frame.row(by_predicate=pl.col("raters") == recommended, named=True)
        n_stimuli: int | None = row.get("stimuli", self.n_stimuli)
        of_budget = None if self.budget is None else n_stimuli
        value, ends = _number(row["value"]), (_number(row["low"]), _number(row["high"]))
        yield recommended_text(recommended, of_budget, self.measure, value, ends, goal)
        if open_range is not None:
            yield open_text(*open_range, 4 * recommended)
        if n_stimuli is not None:
            each = self.stimuli_per_rater or n_stimuli
            cost = None if self.price is None else row["cost"]
            yield workload_text(row["ratings"], n_stimuli, row["people"], each, cost)


def _check_least(least: int, **given: int | None) -> None:
    for name, value in given.items():
        if value is not None:
            check_number(name, value, least, whole=True)


def _number(value: Any) -> str:
    return "undefined" if value is None or math.isnan(value) else f"{value:.3g}"


Quantity: TypeAlias = Literal[
    "interval", "split_half", "power", "icc", "reliability", "alpha", "groups"
]

_QUANTITIES = get_args(Quantity)
_STIMULI = 200
"""Stimuli of a simulated study, at most: more change the averages little."""
_ANSWERS = 20_000_000
"""Answers that are simulated, about."""
_LEAST_STUDIES, _MOST_STUDIES, _MOST_PAIRS, _MOST_GROUPS = 40, 400, 8000, 1500
_STAGES = ((64, 4), (256, 16), (1024, 64))
"""Largest number of raters, and the step that follows."""
_FEWER = 16
"""A pilot that is drawn anew is planned from with this part of the studies."""
_CANDIDATES = 32
_RATERS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
"""Numbers of raters that share a budget."""
_NORMAL = 1.959963984540054


@of_known_raters
def plan(
    pilot: PlanModel | Ratings | ArrayLike,
    *,
    goal: float,
    quantity: Quantity = "interval",
    difference: float | None = None,
    n_raters: Iterable[int] | None = None,
    n_stimuli: int | None = None,
    stimuli_per_rater: int | None = None,
    paired: bool | None = None,
    confidence: float = 0.95,
    assurance: float | None = None,
    price: float | None = None,
    stimulus_price: float = 0.0,
    budget: float | None = None,
    correlation: float = 0.0,
    label: str | None = None,
    cluster: ClusterLike = None,
    n_sim: int | None = None,
    n_pilots: int = 40,
    seed: int | np.random.Generator | None = 0,
) -> Plan:
    """Say how many raters per stimulus a study needs, from a pilot.

    Studies are simulated from a model of the pilot, with rounding, the ends of the scale and gaps.

    The model is fitted to the pilot (:func:`plan_model`), or holds numbers of your own
    (:class:`PlanModel`).

    Parameters
    ----------
    pilot
        A pilot (ratings, or an array of shape (raters, stimuli)), or a model.
    goal
        Value that is wanted: at most for the interval and alpha, at least for the others.
    quantity
        Width of the intervals of scores in points, correlation of halves, power, agreement or
        reliability of mean scores, width of the interval of alpha, or power between groups.

        ``"interval"``: width, end to end and in points, of Student's interval of a stimulus' mean
        score; the pooled ones of :func:`mean_opinion_scores` are narrower where raters are few.
        ``"split_half"``: Spearman between the mean scores of two halves of the ratings of each
        stimulus, not corrected for length: what :func:`split_half` with the scorer ``"mean"`` will
        give.
        ``"power"``: probability that a t-test of size 1 - ``confidence`` tells apart two stimuli
        that differ by ``difference``. ``"icc"`` and ``"reliability"``: ICC(2,k) and ICC(3,k) of
        :func:`intraclass_correlation`, of mean scores with those of as many other raters, whose
        level counts as error or does not. ``"alpha"``: width, end to end, of an interval of
        Krippendorff's interval alpha about other stimuli and raters. ``"groups"``: probability that
        a t-test over stimuli tells apart two halves of them, whose mean qualities differ.
    difference
        For power and groups: difference of the true quality of two stimuli, or of the means of two
        groups, in points.

        The pair lies where stimuli lie, moved inside the ends of the scale.
    n_raters
        Numbers of raters per stimulus to try. By default 2 to 64, and up to 1,024 in larger steps
        where these do not reach the goal.
    n_stimuli
        Stimuli of the planned study, for the number of ratings and people in all.

        It is also the number that is simulated (at most 200).
    stimuli_per_rater
        Stimuli that one person rates. By default everyone rates everything.

        Stimuli are dealt into batches of that size, each with raters of its own.
    paired
        For power: whether the same raters rate both stimuli. By default if everyone rates all.
    price
        Price of one rating, for the cost of the study; needs ``n_stimuli`` or ``budget``.
    budget
        What the study may cost: each number of raters has as many stimuli as that pays for.

        At most ``n_stimuli`` where that is given. For alpha and groups the recommended number of
        raters is that with the narrowest interval, or the highest power.
    label
        Which label of the pilot, where it has several.
    cluster
        What stimuli of the pilot belong to: a column of the stimulus table, or a mapping from
        stimulus to cluster; by default a column like ``actor``, ``identity``, ``speaker``, ``film``
        or ``author`` that several stimuli share.

        Studies are simulated with stimuli drawn one by one. For alpha and groups, which are about
        other stimuli, a pilot with several of an actor is refused; ``"none"`` plans a study with
        one stimulus of each.
    seed
        Seed or generator; the same seed gives the same plan.

    Returns
    -------
    Recommendation in words, and a table with Monte Carlo intervals; the number of raters is
    ``recommended``, what the pilot leaves open ``recommended_range``.

    Other Parameters
    ----------------
    confidence
        Coverage of the interval, and 1 minus the size of the test.
    assurance
        For the interval: share of stimuli whose interval is to be narrow enough. By default the
        mean width counts.
    stimulus_price
        Price of one stimulus, beside its ratings.
    correlation
        For groups: correlation of the qualities of pairs of stimuli, such as what two models make
        of the same item; pairs are tested. 0 for groups of other stimuli.
    n_sim
        Simulated studies, or pairs of stimuli for power; by default as many as a few seconds allow.
    n_pilots
        Pilots of the same size that are simulated and planned from, to say what range of
        recommendations the pilot leaves open; 0 for none. Not for models.

    Raises
    ------
    InputError
        If quantity, goal or another option cannot be used.

    Notes
    -----
    The Monte Carlo interval says what more simulation could change. What a larger pilot could
    change is ``recommended_range``: with 25 raters the spread of biases is known to within about
    15 %. A plan is for one look at the end; who looks before, and stops when an interval is narrow
    enough, needs :func:`enough_ratings`, and some 1.3 times the ratings.

    Examples
    --------
    >>> model = PlanModel(stimulus_sd=20, rater_bias_sd=6, inconsistency=12, scale="0-100 interval")
    >>> wanted = plan(model, quantity="interval", goal=10, n_stimuli=500, stimuli_per_rater=100,
    ...               price=0.05)
    >>> wanted.recommended
    28
    >>> plan(model, quantity="power", goal=0.8, difference=10, paired=True).recommended
    26
    >>> print(plan(model, quantity="split_half", goal=0.9, n_raters=[8, 16, 32]).finding)
    16 raters per stimulus: split-half correlation 0.94 ...; goal at least 0.9.
    """
    pilot = canonical(pilot)
    wanted = _Wanted(
        quantity=quantity,
        goal=goal,
        difference=difference,
        assurance=assurance,
        confidence=confidence,
        n_stimuli=n_stimuli,
        stimuli_per_rater=stimuli_per_rater,
        paired=paired,
        price=price,
        stimulus_price=stimulus_price,
        budget=budget,
        correlation=correlation,
    )
    _check_least(2, n_sim=n_sim)
    _check_least(0, n_pilots=n_pilots)
    answers = None if isinstance(pilot, PlanModel) else one_label(answers_of(pilot), label, "pilot")
    if wanted.by_stimuli and not isinstance(pilot, PlanModel):
        _check_clusters(quantity, stimulus_clusters(pilot, cluster))
    model = pilot if isinstance(pilot, PlanModel) else fit_plan_model(cast("Answers", answers))
    low, high = model.ends
    if wanted.delta > high - low:
        raise InputError(f"difference {wanted.delta:g}: the scale is only {high - low:g} wide")
    rng = np.random.default_rng(seed)
    if budget is not None:
        frame, size = _within_budget(model, wanted, n_raters, n_sim, rng)
        recommended = _best(frame, wanted) if wanted.by_stimuli else _recommended(frame, wanted)
    else:
        for counts in _stages(n_raters, quantity):
            size = n_sim or wanted.size(int(counts[-1]))
            frame = _table(wanted.simulate(model, counts, size, rng), counts, wanted)
            recommended = _recommended(frame, wanted)
            if recommended is not None:
                break
    open_range = None
    if answers is not None and recommended is not None and n_pilots and budget is None:
        counts = _around(frame["raters"].to_numpy(), recommended)
        few = max(2, min(size, wanted.size(2) // _FEWER))
        pilots = (fit_plan_model(replicate(model, answers, rng)) for _ in range(n_pilots))
        values = [wanted.simulate(other, counts, few, rng).mean(axis=0) for other in pilots]
        open_range = _open_range(np.array(values), counts, wanted)
    frame = _with_cost(frame, wanted)
    fewest, largest = open_range or (None, None)
    number = {"raters": [recommended], "least": [fewest], "most": [largest]}
    measure = wanted.measure
    figure = Figure(
        "plan",
        "plan",
        "plan",
        plan_figure_title(measure),
        FIGURE,
        options={"goal": float(goal), "recommended": recommended, "value_name": measure},
    )
    return Plan(
        (*_tables(frame, recommended), _recommendation(number)),
        tuple(wanted.sentences(frame, recommended, open_range)),
        (figure,),
        notes=(f"simulated: {model}",),
        settings={
            "quantity": quantity,
            "goal": float(goal),
            "n_stimuli": n_stimuli,
            "stimuli_per_rater": stimuli_per_rater,
            "price": price,
            "n_sim": size,
            **({"stimulus_price": stimulus_price, "budget": budget} if budget else {}),
        },
        measure=measure,
        recommended=recommended,
        recommended_range=open_range,
        model=model,
    )


def _check_clusters(quantity: str, found: StimulusClusters) -> None:
    """Refuse to plan what is about other stimuli from a pilot with several of one cluster."""
    if found.of is not None:
        raise InputError(
            f"quantity {quantity!r}: stimuli of the pilot share their {found.units}, and studies "
            "are simulated with stimuli drawn one by one, of which fewer would do; expected "
            f"{option('cluster', 'none')}, which plans a study with one stimulus of each "
            f"{found.name}"
        )


def _within_budget(
    model: PlanModel,
    wanted: _Wanted,
    n_raters: Iterable[int] | None,
    n_sim: int | None,
    rng: np.random.Generator,
) -> tuple[pl.DataFrame, int]:
    """Simulate each number of raters with the stimuli that the budget pays for, where it does."""
    least = wanted.least_stimuli
    (counts,) = _stages(_RATERS if n_raters is None else n_raters, wanted.quantity)
    stimuli = {int(one): wanted.stimuli(int(one)) for one in counts}
    paid = {one: n for one, n in stimuli.items() if n >= least}
    if not paid:
        raise InputError(
            f"budget {wanted.budget:g}: pays for fewer than {least} stimuli with {counts[0]} raters"
        )
    frames, size = [], n_sim or 0
    for one, n in paid.items():
        own = replace(wanted, n_stimuli=n)
        size = n_sim or own.size(one)
        known = np.array([one], dtype=np.int64)
        frames.append(_table(own.simulate(model, known, size, rng), known, own))
    return pl.concat(frames).insert_column(1, pl.Series("stimuli", list(paid.values()))), size


def _best(frame: pl.DataFrame, wanted: _Wanted) -> int:
    return int(frame.sort("value", descending=not wanted.at_most, nulls_last=True)["raters"][0])


def _around(counts: Ints, recommended: int) -> Ints:
    """Candidates on both sides of the recommended one, no more than are needed."""
    step = max(1, recommended // _CANDIDATES)
    beyond = np.arange(recommended, 4 * recommended + 1, max(step, 2))
    below = counts[counts <= recommended]
    return np.unique(np.concatenate([below[:: max(1, below.size // _CANDIDATES)], beyond]))


def _open_range(values: Floats, counts: Ints, wanted: _Wanted) -> tuple[int, int | None]:
    """The 10 % and 90 % quantiles of the first candidate that reaches the goal."""
    good = wanted.is_reached(values)
    first = np.where(good.any(axis=1), good.argmax(axis=1), counts.size)
    low, high = np.quantile(first, [0.1, 0.9], method="closest_observation").astype(int)
    return int(counts[min(low, counts.size - 1)]), int(counts[high]) if high < counts.size else None


def _stages(n_raters: Iterable[int] | None, quantity: str) -> Iterator[Ints]:
    """Give the candidates to try, and larger sets to try where these do not reach the goal."""
    least = 2
    if n_raters is not None:
        counts = np.unique(np.array([_whole(count) for count in n_raters], dtype=np.int64))
        if counts.size == 0 or counts[0] < least:
            shown = "none" if counts.size == 0 else str(counts[0])
            raise InputError(f"n_raters {shown}: expected candidates of {least} or more")
        yield counts
        return
    known = np.empty(0, dtype=np.int64)
    start, step = least, 2 if quantity == "split_half" else 1
    for end, next_step in _STAGES:
        known = np.concatenate([known, np.arange(start, end + 1, step)])
        yield known
        start, step = end + next_step, next_step


def _whole(count: int) -> int:
    if isinstance(count, bool) or count != int(count):
        raise InputError(f"n_raters {count!r}: expected whole numbers")
    return int(count)


def _table(values: Floats, counts: Ints, wanted: _Wanted) -> pl.DataFrame:
    """Means over replicates with a Monte Carlo interval: Wilson's for shares."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=0)
    known = np.maximum(n, 1)
    total = np.where(defined, values, 0).sum(axis=0)
    mean = np.where(n > 0, total / known, np.nan)
    if wanted.is_power:
        low, high = map(np.asarray, wilson_interval(total, n))
    else:
        squares = np.where(defined, (values - mean) ** 2, 0).sum(axis=0)
        half = np.where(n > 1, _NORMAL * np.sqrt(squares / np.maximum(n - 1, 1) / known), np.nan)
        low, high = mean - half, mean + half
    columns = {"raters": counts, "value": mean, "low": low, "high": high}
    columns["reached"] = wanted.is_reached(high if wanted.at_most else low)
    if wanted.quantity == "split_half":
        columns["corrected"] = 2 * mean / (1 + mean)
    return pl.DataFrame(columns)


def _recommended(frame: pl.DataFrame, wanted: _Wanted) -> int | None:
    good = wanted.is_reached(frame["value"].to_numpy())
    from_here = np.logical_and.accumulate(good[::-1])[::-1]
    found = np.flatnonzero(from_here & frame["reached"].to_numpy())
    return int(frame["raters"][int(found[0])]) if found.size else None


def _with_cost(frame: pl.DataFrame, wanted: _Wanted) -> pl.DataFrame:
    stimuli = pl.col("stimuli") if wanted.budget else pl.lit(wanted.n_stimuli, dtype=pl.Int64)
    each = pl.lit(wanted.stimuli_per_rater, dtype=pl.Int64).fill_null(stimuli)
    raters = pl.col("raters")
    return frame.with_columns(
        ratings=raters * stimuli,
        people=raters * ((stimuli + each - 1) // each),
        cost=raters * stimuli * pl.lit(wanted.price, dtype=pl.Float64)
        + stimuli * wanted.stimulus_price,
    )
