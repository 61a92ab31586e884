"""Coefficients of one number for each label, found by name wherever agreement is measured.

A coefficient is a function of :class:`~affectlab.ratings.arrays.Answers` that gives a
:class:`~affectlab.core.statistic.Statistic`. :func:`coefficient` makes of it what people call, and
puts it into the registry from which the command line, fairness and the report take coefficients.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps
from inspect import cleandoc
from typing import Any, Literal, Protocol, TypeVar, cast, overload

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Interval, Target, infer
from affectlab.core.interface.spelling import check_parameters
from affectlab.core.registry import Registry, modules_of
from affectlab.core.statistic import Statistic
from affectlab.core.tables import Figure
from affectlab.core.types import Floats, Ints
from affectlab.core.words import plural
from affectlab.ratings import (
    Answers,
    ClusterLike,
    Ratings,
    Scale,
    answers_of,
    in_label_order,
    labels_on,
    raters_are_known,
    require_known_raters,
    stimulus_clusters,
)
from affectlab.reliability.agreement.coverage import with_coverage
from affectlab.reliability.agreement.label_sets import said_of_empty_sets

_PACKAGE = "affectlab.reliability.agreement"
_FEWEST_STIMULI = 3
"""Stimuli from which on leaving one out shows how far agreement on others may differ: of two, the
rest is agreement on a single one."""
VOTES = "raters of counted votes are not known: no interval is about other raters"
Found = TypeVar("Found", bound=Estimates)


def has_levels(scale: Scale) -> bool:
    """Whether a scale has a number of levels."""
    return scale.numeric and scale.step is not None and scale.low is not None


def is_graded(scale: Scale) -> bool:
    """Whether a scale has more than two levels, in an order."""
    return scale.kind in ("ordinal", "interval")


def least_agreement(n_items: Sequence[int], n_ratings: Sequence[int]) -> Floats:
    """Give -1/(k - 1), the least agreement beyond chance of k answers to an item, k their mean."""
    per_item = np.asarray(n_ratings) / np.maximum(n_items, 1)
    return -1 / np.maximum(per_item - 1, 1e-3)


def interval_reasons(cells: Iterable[tuple[Ints, Floats]]) -> list[Reason | None]:
    """Say why rows have no interval by leaving out: of two answers, nobody shares the rarer one.

    How often two raters share it is what an agreement beyond chance depends on most. Leaving out
    cannot tell where it never happened: intervals would be narrow, and hold next to never, while
    those of labels on which it happened once do (``tests/reliability/test_rare_answers.py``).

    Parameters
    ----------
    cells
        Of each row the cell of every answer, and its value.

    Returns
    -------
    Reasons, ``None`` where there is an interval.
    """
    why: list[Reason | None] = []
    for cell, value in cells:
        low, high = (value.min(), value.max()) if value.size else (0.0, 0.0)
        is_low, is_high = value == low, value == high
        rarer = is_low if 2 * is_low.sum() < value.size else is_high
        apart = low < high and bool(np.all(is_low | is_high)) and np.bincount(cell[rarer]).max() < 2
        why.append(Reason(Cause.RARER_NEVER_SHARED) if apart else None)
    return why


@dataclass(frozen=True, eq=False)
class Coefficient:
    """A coefficient of agreement, and where it can be used.

    Examples
    --------
    >>> gwet = load_coefficient("gwet_ac")
    >>> gwet.title
    "Gwet's AC"
    >>> gwet([[1, 2, 2], [1, 2, 1]], scale="1-2").n_items
    3
    """

    name: str
    title: str
    """What it is called in a sentence."""
    statistic: Callable[..., Statistic]
    """From answers and options to the statistic."""
    graded: Mapping[str, Any] = field(default_factory=dict)
    """Options that are usual on ordinal and interval scales."""
    suits: Callable[[Scale], bool] = has_levels
    """Whether it is defined for answers on a scale."""
    interval: Interval = "jackknife"
    """How its interval usually comes about."""
    keys: tuple[str, ...] = ("label",)
    """What its table has a row for."""
    lines: Sequence[float] = ()
    """Values that a figure marks."""
    of_raters: bool = False
    """Whether it depends on who gave which answer, so that counts of votes have none."""

    @cached_property
    def function(self) -> CoefficientFunction:
        """What people call: from ratings, or an array, to estimates."""
        return _function(self)

    @property
    def figure(self) -> Figure:
        """Its values by label, with their intervals."""
        title = f"{self.title[0].upper()}{self.title[1:]}"
        options = {"value_name": title, "lines": tuple((at, f"{at:.2f}") for at in self.lines)}
        return Figure(self.name, "intervals", "estimates", f"{title} per label", options=options)

    def __call__(self, ratings: Ratings | ArrayLike, **options: Any) -> Estimate | Estimates:
        """Compute it, as the function does."""
        return self.function(ratings, **options)

    def usual(self, scale: Scale | None) -> dict[str, Any]:
        """Options that are usual for answers on a scale."""
        return dict(self.graded) if scale is not None and is_graded(scale) else {}

    def estimates(self, ratings: Ratings, **options: Any) -> Estimates | None:
        """Compute it with its usual options for each label that it suits; None for no label.

        Where raters are not known, what depends on them is None, too.
        """
        if self.of_raters and not ratings.raters_known:
            return None
        parts = list[Estimates]()
        for usual in [{}, dict(self.graded)] if self.graded else [{}]:
            own = labels_on(ratings, partial(self._suits_with, usual))
            if own is not None:
                parts.append(self.function(own, **usual, **options))
        return concatenate_estimates(parts, ratings.label_names) if parts else None

    def _suits_with(self, usual: Mapping[str, Any], scale: Scale) -> bool:
        return self.suits(scale) and self.usual(scale) == usual


class CoefficientFunction(Protocol):
    """A coefficient as type checkers see it."""

    __name__: str

    @overload
    def __call__(
        self, ratings: Ratings, /, *, by_label: Literal[False], **options: Any
    ) -> Estimate: ...
    @overload
    def __call__(self, ratings: Ratings, /, **options: Any) -> Estimates: ...
    @overload
    def __call__(self, ratings: ArrayLike, /, **options: Any) -> Estimate: ...


_OURS: dict[str, Coefficient] = {}


def _by_statistic(function: Callable[..., Statistic], name: str = "") -> Coefficient:
    called = name or function.__name__
    return Coefficient(called, called.replace("_", " "), function)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Coefficients(Registry[Coefficient]):
    """Coefficients register themselves when their modules are imported."""

    def own_names(self) -> tuple[str, ...]:
        """Import every module of the package, and name what has registered itself."""
        modules_of(_PACKAGE)
        return tuple(sorted(self.ours))


def _coefficient_of(thing: Any, _: str) -> Coefficient | None:
    made = getattr(thing, "coefficient", thing)
    return made if isinstance(made, Coefficient) else None


_COEFFICIENTS = _Coefficients(
    kind="coefficient",
    group="affectlab.coefficients",
    accept=_coefficient_of,
    expected="a function that @coefficient was put on",
    ours=_OURS,
    of_function=_by_statistic,
    any_spelling=True,
)


def list_coefficients() -> tuple[str, ...]:
    """Names of the coefficients there are: built in, and those of installed packages.

    A package adds coefficients through entry points of the group ``affectlab.coefficients``: each
    names a function that :func:`coefficient` was put on.

    Examples
    --------
    >>> "gwet_ac" in list_coefficients()
    True
    """
    return _COEFFICIENTS.names()


def load_coefficient(name: str | Coefficient) -> Coefficient:
    """Find a coefficient by name.

    Raises
    ------
    InputError
        When nothing has that name, or an entry point cannot be used.
    """
    return _COEFFICIENTS.load(name)


def load_coefficients() -> tuple[Coefficient, ...]:
    """Give all coefficients; of what installed packages add, those that can be used.

    Warns
    -----
    BrokenPlugWarning
        Of each entry point that cannot be used.
    """
    return tuple(_COEFFICIENTS.load_all(skip_broken=True).values())


def coefficient(
    *,
    title: str,
    graded: Mapping[str, Any] | None = None,
    suits: Callable[[Scale], bool] = has_levels,
    interval: Interval = "jackknife",
    keys: tuple[str, ...] = ("label",),
    lines: Sequence[float] = (),
    of_raters: bool = False,
) -> Callable[[Callable[..., Statistic]], CoefficientFunction]:
    """Make of a statistic of answers the function that people call, and register it.

    The function takes ratings or an array, the options of the statistic, and those of the interval,
    which it hands to :func:`~affectlab.core.inference.infer`. Its docstring gains their
    description. It gives a table for ratings; for an array, which has no labels, one estimate where
    the statistic has one for each label. A statistic that has to know what is resampled takes
    `n_boot` or `target`, too.

    Parameters
    ----------
    title
        What the coefficient is called in a sentence.
    graded
        Options that are usual on ordinal and interval scales, such as ``{"weights": "quadratic"}``.
    suits
        Whether it is defined for answers on a scale; by default on those with a number of levels.
    interval
        How its interval usually comes about.
    keys
        What its table has a row for.
    lines
        Values that a figure marks.
    of_raters
        Whether it depends on who gave which answer, so that counts of votes have none.
    """

    def register(statistic: Callable[..., Statistic]) -> CoefficientFunction:
        name = statistic.__name__
        made = Coefficient(
            name, title, statistic, graded or {}, suits, interval, keys, lines, of_raters
        )
        if statistic.__module__.startswith(f"{_PACKAGE}."):
            _OURS[name] = made
        return made.function

    return register


_UNCERTAINTY = tuple(
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=type_)
    for name, default, type_ in (
        ("interval", "jackknife", Interval),
        ("target", "both", Target),
        ("n_boot", 1000, int),
        ("joint", True, bool),
        ("confidence", 0.95, float),
        ("cluster", None, ClusterLike),
        ("seed", 0, int | np.random.Generator | None),
    )
)
"""What every coefficient takes beside its own options."""
_RATINGS = """\
ratings
    Ratings (main trials with a valid answer; the first answer where a rater repeats), or an array
    of shape (raters, units) with ``nan`` where there is no rating. Every other number is a
    value, -1 too."""
_SAID = """\
interval
    ``"jackknife"``: Student's interval from leaving out one stimulus, one rater, or either at a
    time. ``"percentile"`` or ``"bca"``: from bootstrap replicates; the latter (bias-corrected
    and accelerated, Efron 1987) follows their skewness. ``"analytic"``: by a formula for other
    stimuli.
target
    What the interval is about: other ``"stimuli"``, other ``"raters"`` or ``"both"``, which
    are left out or drawn anew; a rater drawn twice is not paired with itself. Two raters tell
    nothing of others: an interval for both is then about these two, and says so. ``"sample"``:
    these raters and stimuli, without an interval.
n_boot
    Bootstrap replicates, where the interval comes from these; 0 for no interval.
joint
    One resample shared by all labels, so that the replicates of labels belong together.
confidence
    Coverage of the interval, in (0, 1).
cluster
    What stimuli belong to, and are drawn and left out with: a column of the stimulus table, a
    mapping from stimulus to cluster, or of an array the cluster of each unit. By default a column
    like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that several stimuli share;
    ``"none"`` takes stimuli as drawn one by one.
seed
    Seed or generator of the replicates; the same seed gives the same bytes.
"""


def _function(made: Coefficient) -> CoefficientFunction:
    """Make the function that people call."""
    _, *taken = inspect.signature(made.statistic).parameters.values()
    of_interval = {
        part.name: part.replace(default=made.interval) if part.name == "interval" else part
        for part in _UNCERTAINTY
    }
    own = [part for part in taken if part.name not in of_interval]
    first = inspect.Parameter(
        "ratings", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Ratings | ArrayLike
    )
    signature = inspect.Signature(
        [first, *own, *of_interval.values()], return_annotation=Estimate | Estimates
    )

    @wraps(made.statistic)
    def function(ratings: Ratings | ArrayLike, /, **options: Any) -> Any:
        check_parameters(function.__name__, options, signature)
        bound = signature.bind(ratings, **options)
        said = "target" in bound.arguments
        bound.apply_defaults()
        given = bound.kwargs
        if made.of_raters:
            require_known_raters(ratings, made.title)
        if not raters_are_known(ratings) and given["target"] in ("raters", "both"):
            if said:
                require_known_raters(ratings, f"target {given['target']!r}")
            given["target"] = "stimuli"
        answers = answers_of(ratings, by_names=given.get("interval") in ("percentile", "bca"))
        statistic = made.statistic(answers, **{part.name: given[part.name] for part in taken})
        if not said and statistic.targets and given.get("target") not in statistic.targets:
            given["target"] = statistic.targets[0]
        if not said and given.get("interval") == "analytic":
            # What a formula is about, it says itself.
            given["target"] = "both" if "both" in statistic.over else "stimuli"
        of_infer = {name: given[name] for name in of_interval if name != "cluster"}
        statistic = replace(statistic, fewest=max(statistic.fewest, _FEWEST_STIMULI))
        found = stimulus_clusters(ratings, given["cluster"])
        clusters = found.on(answers.units)
        table = infer(statistic, **{"interval": made.interval, **of_infer}, clusters=clusters)
        counted = () if raters_are_known(ratings) else (VOTES,)
        empty = said_of_empty_sets(ratings, answers, table.frame)
        alone = _alone(answers, table)
        notes = (*counted, *empty, *alone, *found.notes_for(table.frame["target"]))
        table = replace(table, notes=notes)
        if of_infer.get("interval") == "jackknife":
            table = with_coverage(table, made.name, given["target"], answers, clusters)
        if table.keys == ("label",) and not given.get("by_label", True):
            return scalar_if_array(table, ())
        table = replace(table, figures=(made.figure,))
        return scalar_if_array(table, ratings) if table.keys == ("label",) else table

    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {
        **{part.name: part.annotation for part in signature.parameters.values()},
        "return": signature.return_annotation,
    }
    function.__doc__ = _documented(made)
    function.coefficient = made  # type: ignore[attr-defined]
    return cast("CoefficientFunction", function)


def _alone(answers: Answers, table: Estimates) -> Iterator[str]:
    """Say how many ratings do not count, since nobody else rated the same."""
    every, counted = answers.value.size, int(table.frame["n_ratings"].sum())
    if table.keys != ("label",) or not {*table.frame["label"]} <= {*answers.labels, "pooled"}:
        return
    if counted < every:
        left, of = every - counted, "stimulus and label" if len(answers.labels) > 1 else "stimulus"
        only = f"is the only one of its {of}" if left == 1 else f"are the only ones of their {of}"
        yield f"{left:,} of {plural(every, 'rating')} {only}: agreement rests on the others."


def _documented(made: Coefficient) -> str:
    """Describe ratings in place of answers, and the options of the interval behind the others."""
    text = cleandoc(made.statistic.__doc__ or "")
    text = re.sub(r"(?m)^answers$(\n    .*)*", _RATINGS, text, count=1)
    return re.sub(r"(?m)^\n(?=Returns\n)", f"{_SAID}\n", text, count=1)


def concatenate_estimates(parts: Sequence[Found], labels: tuple[str, ...]) -> Found:
    """Make one table of those of labels on different scales, in the order of the labels."""
    first, *others = parts
    if not others:
        return first
    return first.with_frame(in_label_order(pl.concat([part.frame for part in parts]), labels))


def scalar_if_array(table: Estimates, ratings: Ratings | ArrayLike) -> Estimate | Estimates:
    """Give the only estimate of an array, which has no labels."""
    if isinstance(ratings, Ratings):
        return table
    ((_, only),) = table
    return only
