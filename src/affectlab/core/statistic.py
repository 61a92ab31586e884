"""What a statistic says about itself, so that one procedure finds the uncertainty of all.

A :class:`Statistic` names its rows, says of which units each row is made (:class:`Design`), and has
one function of :class:`Draws`: rows of weights for which it gives values. The point, the data
without one unit, and bootstrap replicates are all rows of weights, so that nothing else has to be
said for :func:`affectlab.core.inference.infer`.

Most coefficients follow from sums over stimuli; :class:`Sums` holds such sums, and gives values and
a standard error for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError
from affectlab.core.facts import Formula, IntervalFact, Reason, ReasonLike, What
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import many, option

MAX_JACKKNIFE_GROUPS = 100
"""Raters, and stimuli where a statistic asks for groups of them, up to which each is left out by
itself; groups of them beyond."""
MANY_ANSWERS = 1_000_000
"""Answers behind a row of a statistic from which on fewer groups are left out: each costs much, and
the error of so many stimuli is small beside that of raters."""
LEFT_OUT_OF_MANY = 40
"""Groups of stimuli, where a statistic asks for groups and there are so many answers. They tell the
standard error to within 11 %, as their degrees of freedom say."""
MOST_CLUSTERS = 1000
"""Clusters of stimuli up to which each is left out by itself; groups of them beyond."""
FEWEST_CLUSTERS = 5
"""Clusters from which on they tell of others."""
_BLOCK = 1 << 22
"""Weights of stimuli that are held at once."""
STIMULI_AND_RATERS = ("stimuli", "raters", "both")
"""Targets of a statistic that takes weights of stimuli and of raters."""
_STEP = 1e-30
"""Imaginary step of derivatives, which are exact where its square is nothing."""

Ends: TypeAlias = tuple[Floats, Floats, Floats]
"""Standard errors, lower and upper ends, shape (rows,) each."""


@dataclass(frozen=True, eq=False)
class Design:
    """The units that can be drawn or left out, and which of them each row rests on."""

    stimulus: Bools
    """Shape (rows, stimuli): whether a row has answers about it. Stimuli that are drawn together,
    as a cluster, count as one here."""
    rater: Bools
    """Shape (rows, raters)."""

    @classmethod
    def of(
        cls, stimuli: Sequence[Ints], n_stimuli: int, raters: Sequence[Ints], n_raters: int
    ) -> Design:
        """Make a design of the codes of stimuli and of raters that occur in each row."""
        marks = []
        for codes, n in ((stimuli, n_stimuli), (raters, n_raters)):
            mark = np.zeros((len(codes), n), dtype=np.bool_)
            for row, code in zip(mark, codes, strict=True):
                row[code] = True
            marks.append(mark)
        return cls(*marks)

    @property
    def n_stimuli(self) -> int:
        """Stimuli, or clusters of them, of all rows."""
        return int(self.stimulus.shape[1])

    @property
    def n_raters(self) -> int:
        """Raters of all rows."""
        return int(self.rater.shape[1])


@dataclass(frozen=True, eq=False)
class Clusters:
    """Stimuli that are drawn together, as the faces of one actor are.

    Examples
    --------
    >>> clusters = Clusters.of("actor", ["Jo", "Al", "Jo"])
    >>> clusters.code.tolist(), clusters.n, clusters.units
    ([1, 0, 1], 2, 'actors')
    """

    code: Ints
    """Cluster of each stimulus that there are answers about, shape (stimuli,)."""
    n: int
    """Number of clusters."""
    name: str = "cluster"
    """What one of them is."""

    @classmethod
    def of(cls, name: str, keys: Sequence[Any]) -> Clusters:
        """Number clusters in the order of their names, in which they are drawn.

        Parameters
        ----------
        name
            What one of them is.
        keys
            What the cluster of each stimulus is called; what can be sorted.
        """
        number = {key: k for k, key in enumerate(sorted(set(keys)))}
        return cls(np.array([number[key] for key in keys], dtype=np.int64), len(number), name)

    @property
    def units(self) -> str:
        """What several of them are."""
        return many(self.name)


def clusters_of(given: ArrayLike | Clusters | None, n: int) -> Clusters | None:
    """Cluster of each item, numbered from 0 in order of first use, or nothing.

    Raises
    ------
    InputError
        When the length is wrong or an item has no cluster.
    """
    if given is None:
        return None
    name = "cluster"
    if isinstance(given, Clusters):
        name, given = given.name, given.code.tolist()
    values = given if isinstance(given, list) else list(np.asarray(given, dtype=object).ravel())
    if len(values) != n:
        raise InputError(f"clusters: {len(values)} names; expected one per item, {n}")
    codes: dict[Any, int] = {}
    found = np.empty(n, dtype=np.int64)
    for item, value in enumerate(values):
        if value is None or value != value:
            raise InputError(f"clusters, item {item}: it belongs to no cluster; expected a name")
        found[item] = codes.setdefault(value, len(codes))
    return Clusters(found, len(codes), name)


@dataclass(frozen=True, eq=False)
class Draws:
    """Weights of stimuli and of raters in some rows: the point, parts left out, or replicates.

    Examples
    --------
    Two stimuli in three rows: both, without the second, and the first drawn twice.

    >>> sums = np.array([[1.0, 10.0], [2.0, 20.0]])
    >>> Draws(1).totals(sums).tolist()
    [[3.0, 30.0]]
    >>> Draws(1, without=np.array([1])).totals(sums).tolist()
    [[1.0, 10.0]]
    >>> Draws(1, stimulus=np.array([[2.0, 0.0]])).totals(sums).tolist()
    [[2.0, 20.0]]
    """

    n_rows: int
    stimulus: Floats | None = None
    """How often each stimulus counts, shape (rows, stimuli); ``None`` where each counts once, but
    for those in ``without``."""
    rater: Floats | None = None
    """How often each rater counts, shape (rows, raters); ``None`` where each counts once."""
    without: Ints | None = None
    """The stimulus that each row leaves out, shape (rows,)."""
    columns: Ints | None = None
    """Rows of the statistic that are asked for; ``None`` for all."""

    @property
    def is_point(self) -> bool:
        """Whether everything counts once in every row."""
        return self.stimulus is None and self.without is None and self.rater is None

    def totals(self, sums: Any, unit: Ints | None = None, n_units: int = 0) -> Floats:
        """Sum over stimuli, each as often as it counts.

        Parameters
        ----------
        sums
            What each stimulus adds, shape (stimuli, k); may be sparse.
        unit
            Code of the stimulus, or cluster, of each row of ``sums``; by default its place.
        n_units
            How many stimuli, or clusters, there are, where ``unit`` is given.

        Returns
        -------
        Shape (rows, k).
        """
        if self.stimulus is None and self.without is None:
            total = np.asarray(sums.sum(axis=0), dtype=np.float64).reshape(1, -1)
            return np.repeat(total, self.n_rows, axis=0)
        if unit is not None:
            sums = _by_unit(sums, unit, n_units)
        if self.without is not None:
            left_out = sums[self.without]
            if not isinstance(left_out, np.ndarray):
                left_out = left_out.toarray()
            without: Floats = np.asarray(sums.sum(axis=0)).reshape(1, -1) - left_out
            return without
        assert self.stimulus is not None
        if isinstance(sums, np.ndarray):
            return self.stimulus @ sums
        return np.asarray((sums.T @ self.stimulus.T).T)

    def weights(self, n_stimuli: int) -> Floats:
        """Give the weights of stimuli as an array, shape (rows, stimuli)."""
        if self.stimulus is not None:
            return self.stimulus
        weights = np.ones((self.n_rows, n_stimuli))
        if self.without is not None:
            weights[np.arange(self.n_rows), self.without] = 0
        return weights

    def blocks(self, n_rows: int) -> Iterator[tuple[slice, Draws]]:
        """Give at most ``n_rows`` rows at a time, and where they stand."""
        for start in range(0, self.n_rows, n_rows):
            rows = slice(start, min(start + n_rows, self.n_rows))
            stimulus, rater = (
                None if part is None else part[rows] for part in (self.stimulus, self.rater)
            )
            without = None if self.without is None else self.without[rows]
            n = rows.stop - start
            yield (
                rows,
                replace(self, n_rows=n, stimulus=stimulus, rater=rater, without=without),
            )


def _by_unit(sums: Floats, unit: Ints, n_units: int) -> Floats:
    """Sum rows that belong to the same unit; shape (n_units, k)."""
    table = np.zeros((n_units, sums.shape[1]))
    if (np.diff(unit) > 0).all():
        table[unit] = sums
        return table
    for column in range(sums.shape[1]):
        table[:, column] = np.bincount(unit, sums[:, column], n_units)
    return table


@dataclass(frozen=True, eq=False, kw_only=True)
class Statistic:
    """Numbers by their keys, and how they follow from weights of stimuli and of raters."""

    keys: Mapping[str, Sequence[str]]
    """Key columns of the table of results, such as ``{"label": labels}``."""
    design: Design
    evaluate: Callable[[Draws], Floats]
    """From rows of weights to values, shape (rows, keys); ``nan`` where not defined. Compiled code
    may stand behind it. It gives ``draws.columns`` alone where these are said."""
    method: Sequence[What]
    """What each number is: its name, or that and its options."""
    n_items: Sequence[int] | Ints
    n_raters: Sequence[int] | Ints
    n_ratings: Sequence[int] | Ints
    undefined: ReasonLike | Sequence[ReasonLike | None]
    """Why a value is ``nan``, where it is: one reason, or one for each row."""
    closed: Callable[[Floats, float], Ends] | None = None
    """From values and a confidence level to standard errors and ends, by a formula."""
    influence: Callable[[], Floats] | None = None
    """What each stimulus adds to each value, to first order, shape (stimuli, rows): from it the
    formula follows for clusters of them."""
    formula: Formula | IntervalFact | Sequence[Formula | IntervalFact | None] | None = None
    """How ``closed`` makes intervals: one way, or one for each row."""
    over: str | Sequence[str] = "stimuli"
    """What intervals that ``closed`` gives are about, as ``target`` calls it."""
    bounds: tuple[float | Floats, float | Floats] = (-1.0, 1.0)
    """Least and largest value, to which intervals around a value are cut."""
    no_interval: Sequence[ReasonLike | None] = ()
    """Why each row has no interval, whatever a formula or leaving out gives."""
    caution: Sequence[Reason | None] = ()
    """Why intervals of a row by formula may hold too rarely."""
    targets: tuple[str, ...] = ("stimuli",)
    """What ``evaluate`` takes weights of: :data:`STIMULI_AND_RATERS` where raters have weights,
    too; without ``"stimuli"`` it gives the point alone."""
    log_odds_from: Floats | None = None
    """Per row, the value from which on an interval from leaving out is symmetric on a scale of log
    odds, where it is not the least value: -1/(k - 1) for agreement of k answers beyond chance,
    whose log odds are those of a ratio of variances (Fisher's z of intraclass correlations)."""
    transform: Callable[[Floats], Floats] | None = None
    """From values, shape (..., rows), to those that are reported, rising: what is left out or drawn
    is judged before it, so that the interval of a mean of k ratings is that of one rating, put on
    its scale."""
    n_groups: int | None = None
    """Stimuli, and raters, up to which each is left out by itself; more are left out in so many
    groups, stimuli in 40 where a row rests on a million answers. By default every stimulus, and
    raters in at most 100 groups."""
    corrects_raters: bool = True
    """Whether a jackknife over raters takes their number for a source of bias, which it is not
    where the number describes a panel of that size."""
    answers_once: Bools | bool = False
    """Rows of which a jackknife over stimuli and raters takes off once what is particular to single
    answers, which either counts: it leaves out stimuli and raters together, too."""
    effective: Bools | bool = False
    """Rows to which a jackknife grants no more degrees of freedom than stimuli carry the error."""
    by_kurtosis: Bools | bool = False
    """Rows to which it grants as many as the variance over stimuli has by their kurtosis."""
    n_rows: int | None = None
    """Rows of replicates that ``evaluate`` is given at once, where not as many as memory takes."""
    times: Ints | None = None
    """How many alike stimuli each one stands for, where they are told apart by kind."""
    units: str = "stimuli"
    """What ``target`` calls what is drawn in place of stimuli."""
    fewest: int = 0
    """Units from which on a row has an interval."""
    redrawn: str = ""
    """What else is done anew in every replicate, in words."""
    draw: Callable[[np.random.Generator, int], Iterator[Draws]] | None = None
    """Replicates, of which a number is asked for, where alike stimuli are drawn by how many they
    are; by default each stimulus is drawn by itself."""
    places: Ints | None = None
    """Place of each stimulus among all that there are answers about, where only some are in the
    design; clusters are of all."""
    columns: Sequence[Any] = field(default=())
    """Columns that are particular, as polars series."""

    @property
    def title(self) -> str:
        """Name of the first number."""
        first = self.method[0]
        return first if isinstance(first, str) else first[0]

    @property
    def names(self) -> list[str]:
        """One name for each row, from its keys."""
        return [" / ".join(parts) for parts in zip(*self.keys.values(), strict=True)]

    @property
    def has_many_answers(self) -> bool:
        """Whether a row rests on so many answers that few groups of stimuli tell its error."""
        return max(self.n_ratings, default=0) >= MANY_ANSWERS

    def of_clusters(self, clusters: Clusters) -> Statistic:
        """Make the same statistic of clusters of stimuli, which are its units in their place.

        Raises
        ------
        InputError
            When alike stimuli are counted together, so that they have no cluster of their own.
        """
        if self.times is not None or self.draw is not None:
            raise InputError(
                f"cluster {clusters.name!r}: not possible for "
                f"{self.title}; expected {option('cluster', 'none')}"
            )
        code = clusters.code if self.places is None else clusters.code[self.places]
        # Of some clusters no stimulus may be in the design.
        code = np.unique(code, return_inverse=True)[1].astype(np.int64)
        n = int(code.max(initial=-1)) + 1
        present = np.zeros((len(self.design.stimulus), n), dtype=np.bool_)
        row, stimulus = np.nonzero(self.design.stimulus)
        present[row, code[stimulus]] = True

        def evaluate(draws: Draws) -> Floats:
            if draws.stimulus is None and draws.without is None:
                return self.evaluate(draws)
            return np.concatenate(
                [
                    self.evaluate(replace(part, stimulus=part.weights(n)[:, code], without=None))
                    for _, part in draws.blocks(max(1, _BLOCK // max(code.size, 1)))
                ]
            )

        def closed(value: Floats, confidence: float) -> Ends:
            assert self.influence is not None
            pull = _by_unit(self.influence(), code, n)
            count = present.sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                se = np.sqrt(count / (count - 1) * (pull**2).sum(axis=0))
            return student(value, se, np.maximum(count - 1, 1), confidence, self.bounds)

        return replace(
            self,
            design=Design(present, self.design.rater),
            evaluate=evaluate,
            closed=None if self.influence is None else closed,
            formula=IntervalFact("analytic", (clusters.units,), formula=Formula.LINEARISED),
            over=clusters.units,
            units=clusters.units,
            n_groups=self.n_groups or (MOST_CLUSTERS if n > MOST_CLUSTERS else None),
            fewest=FEWEST_CLUSTERS,
            places=None,
        )


def student(
    value: Floats,
    se: Floats,
    freedom: Floats | Ints,
    confidence: float,
    bounds: tuple[float | Floats, float | Floats] = (-np.inf, np.inf),
) -> Ends:
    """Put Student's interval around values, cut to the bounds; the normal one for ``inf``."""
    from scipy.special import stdtrit

    half = stdtrit(freedom, (1 + confidence) / 2) * se
    return se, np.maximum(value - half, bounds[0]), np.minimum(value + half, bounds[1])


@dataclass(frozen=True, eq=False)
class Sums:
    r"""A number that is a function of sums over stimuli, as most coefficients are.

    Its standard error for stimuli drawn at random is that of the linearised statistic: with
    :math:`t_u` what stimulus u adds to the sums T, and :math:`\theta = f(T)`,

    .. math:: s^2 = \frac{n}{n - 1} \sum_u (\nabla f(T) \cdot t_u)^2,

    with derivatives by imaginary steps, which are exact.

    Examples
    --------
    A mean, and its usual standard error:

    >>> x = np.array([1.0, 2.0, 6.0])
    >>> mean = Sums(np.column_stack([x, np.ones(3)]), lambda t: t[:, 0] / t[:, 1], np.arange(3))
    >>> bool(np.isclose(mean.error(), x.std(ddof=1) / np.sqrt(3)))
    True
    """

    sums: Floats
    """Shape (stimuli, k); columns are best contiguous."""
    value: Callable[[Any], Any]
    """From totals of the columns, shape (rows, k), to values, shape (rows,): plain arithmetic that
    complex numbers pass through, and ``nan`` or infinite where not defined."""
    unit: Ints
    """Stimulus, or cluster, of each row of ``sums``."""

    @cached_property
    def total(self) -> Floats:
        """Sums over all stimuli, shape (k,)."""
        total: Floats = self.sums.sum(axis=0)
        return total

    def of(self, draws: Draws, design: Design) -> Floats:
        """Compute the values in all rows of draws."""
        if draws.is_point:
            return self.of_totals(self.total[None, :])
        if draws.rater is not None:
            return self.of_totals(self.rater_totals(draws))
        return self.of_totals(draws.totals(self.sums, self.unit, design.n_stimuli))

    def rater_totals(self, draws: Draws) -> Floats:
        """Sum over stimuli where raters have weights, shape (rows, k).

        Sums over stimuli do not know who answered: a subclass that does gives them.

        Raises
        ------
        InputError
            Of sums that do not know.
        """
        raise InputError(
            f"{draws.n_rows} rows with weights of raters: sums over stimuli cannot be drawn over "
            "raters; expected target 'stimuli', or a subclass of Sums with rater_totals"
        )

    def of_totals(self, totals: Floats) -> Floats:
        """Compute values from totals; ``nan`` where they are not defined."""
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.asarray(self.value(totals), dtype=np.float64)
        value[~np.isfinite(value)] = np.nan
        return value

    def influence(self) -> Floats:
        """What each stimulus adds to the value, to first order; they sum to 0. Shape (stimuli,)."""
        steps = self.total + 1j * _STEP * np.eye(self.total.size)
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = np.imag(self.value(steps)) / _STEP
        pull: Floats = self.sums @ slope
        return pull

    def error(self) -> float:
        """Standard error of the linearised value; ``nan`` for fewer than two stimuli."""
        n = len(self.sums)
        if n < 2:
            return float("nan")
        return float(np.sqrt(n / (n - 1) * (self.influence() ** 2).sum()))


def from_sums(
    parts: Sequence[Sums | None],
    design: Design,
    *,
    bounds: tuple[float, float] = (-1.0, 1.0),
    **more: Any,
) -> Statistic:
    """Make a statistic of one number from sums for each row, ``None`` where there is nothing.

    Parameters
    ----------
    parts, design, bounds
        See :class:`Sums` and :class:`Statistic`. Raters are drawn where all parts say what follows
        from their weights (:meth:`Sums.rater_totals`); else intervals are about stimuli.
    more
        The other fields of :class:`Statistic`.
    """
    known = [part for part in parts if part is not None]
    if all(type(part).rater_totals is not Sums.rater_totals for part in known):
        more = {"targets": STIMULI_AND_RATERS} | more

    def evaluate(draws: Draws) -> Floats:
        columns = range(len(parts)) if draws.columns is None else draws.columns.tolist()
        values = np.full((draws.n_rows, len(columns)), np.nan)
        for place, column in enumerate(columns):
            part = parts[column]
            if part is not None:
                values[:, place] = part.of(draws, design)
        return values

    def closed(value: Floats, confidence: float) -> Ends:
        se = np.array([np.nan if part is None else part.error() for part in parts])
        freedom = np.array([1 if part is None else max(len(part.sums) - 1, 1) for part in parts])
        return student(value, se, freedom, confidence, bounds)

    def influence() -> Floats:
        pulls = np.zeros((design.n_stimuli, len(parts)))
        for pull, part in zip(pulls.T, parts, strict=True):
            if part is not None:
                np.add.at(pull, part.unit, part.influence())
        return pulls

    return Statistic(
        design=design,
        evaluate=evaluate,
        closed=closed,
        influence=influence,
        bounds=bounds,
        **more,
    )


def from_weights(
    keys: Mapping[str, Sequence[str]],
    n_units: int,
    evaluate: Callable[[Floats], Floats],
    *,
    method: Sequence[What],
    undefined: ReasonLike | Sequence[ReasonLike | None],
    n_items: Any,
    n_raters: Any,
    n_ratings: Any,
    times: Ints | None = None,
    left_out: Callable[[], Floats] | None = None,
    **more: Any,
) -> Statistic:
    """Make a statistic whose rows all rest on the same units.

    Parameters
    ----------
    keys, method, undefined, more
        Fields of :class:`Statistic`.
    n_units
        Units that are drawn.
    evaluate
        From weights of units, shape (b, units), to values, shape (b, rows).
    n_items, n_raters, n_ratings
        What enters each row; one number where it is the same.
    times
        How many alike units each one stands for, where they are drawn together.
    left_out
        Gives the values without each unit in turn, shape (units, rows), where that takes less than
        their weights.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 6.0])
    >>> mean = from_weights({"of": ["x"]}, 3, lambda w: (w @ x / w.sum(axis=1))[:, None],
    ...                     method=["mean"], undefined="", n_items=3, n_raters=1, n_ratings=3)
    >>> mean.evaluate(Draws(1, without=np.array([2]))).tolist()
    [[1.5]]
    """
    rows = len(method)

    def of_draws(draws: Draws) -> Floats:
        if draws.without is not None and left_out is not None:
            return left_out()[draws.without]
        weights = draws.weights(n_units)
        if times is not None and draws.stimulus is None:
            weights += times - 1
        return evaluate(weights)

    return Statistic(
        keys=keys,
        design=Design(np.ones((rows, n_units), np.bool_), np.ones((rows, 0), np.bool_)),
        evaluate=of_draws,
        method=method,
        undefined=undefined,
        n_items=np.broadcast_to(n_items, rows),
        n_raters=np.broadcast_to(n_raters, rows),
        n_ratings=np.broadcast_to(n_ratings, rows),
        times=times,
        **more,
    )


def by_formula(
    value: Floats, closed: Callable[[Floats, float], Ends], *, keys: Mapping[str, Any], **more: Any
) -> Statistic:
    """Make a statistic of values that are known, whose intervals follow from a formula alone.

    Parameters
    ----------
    value
        Shape (rows,), ``nan`` where not defined.
    closed, keys, more
        Fields of :class:`Statistic`.
    """
    units = np.zeros((value.size, 0), dtype=np.bool_)
    return Statistic(
        keys=keys,
        design=Design(units, units),
        evaluate=lambda _: value[None, :],
        closed=closed,
        targets=(),
        **more,
    )
