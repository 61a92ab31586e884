"""Coefficients of one number for each label, found by name wherever agreement is measured.

A :class:`Coefficient` holds a function of :class:`~affectlab.ratings.Answers` that gives a
:class:`~affectlab.core.statistic.Statistic`, and what is known of it. The function that people call
is written out beside it; :func:`coefficient` puts it into the registry from which the command line,
fairness and the report take coefficients.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Interval, Target, infer
from affectlab.core.interface.spelling import check_parameters, spelled
from affectlab.core.registry import Registry, modules_of
from affectlab.core.statistic import Statistic
from affectlab.core.tables import Figure
from affectlab.core.types import Floats, Ints
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
from affectlab.reliability.agreement.wording import EXTENSION, VOTES, unpaired_text

_PACKAGE = "affectlab.reliability.agreement"
_FEWEST_STIMULI = 3
"""Stimuli from which on leaving one out shows how far agreement on others may differ: of two, the
rest is agreement on a single one."""
Found = TypeVar("Found", bound=Estimates)
Options = ParamSpec("Options")
OfArray = TypeVar("OfArray", covariant=True)


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
    keys: tuple[str, ...] = ("label",)
    """What its table has a row for."""
    lines: Sequence[float] = ()
    """Values that a figure marks."""
    of_raters: bool = False
    """Whether it depends on who gave which answer, so that counts of votes have none."""

    @property
    def figure(self) -> Figure:
        """Its values by label, with their intervals."""
        title = f"{self.title[0].upper()}{self.title[1:]}"
        options = {"value_name": title, "lines": tuple((at, f"{at:.2f}") for at in self.lines)}
        return Figure(self.name, "intervals", "estimates", f"{title} per label", options=options)

    def __call__(self, ratings: Ratings | ArrayLike, **options: Any) -> Estimate | Estimates:
        """Compute it: a table of ratings; of an array, which has no labels, one estimate."""
        table = self.table(ratings, **options)
        return scalar_if_array(table, ratings) if table.keys == ("label",) else table

    def table(
        self,
        ratings: Ratings | ArrayLike,
        *,
        interval: Interval = "jackknife",
        target: Target | None = None,
        n_boot: int = 1000,
        joint: bool = True,
        confidence: float = 0.95,
        cluster: ClusterLike = None,
        seed: int | np.random.Generator | None = 0,
        **own: Any,
    ) -> Estimates:
        """Compute a table of it, of an array too.

        Parameters
        ----------
        ratings, interval, target, n_boot, joint, confidence, cluster, seed
            As for :func:`krippendorff_alpha`.
        own
            Options of the statistic.

        Raises
        ------
        TypeError
            When the statistic has no such option; the nearest one is named.
        """
        if self.of_raters:
            require_known_raters(ratings, self.title)
        asked, target = target, target or "both"
        if not raters_are_known(ratings) and target in ("raters", "both"):
            if asked is not None:
                require_known_raters(ratings, f"target {asked!r}")
            target = "stimuli"
        settings = {"interval": interval, "target": target, "n_boot": n_boot}
        check_parameters(self.name, own, self._signature)
        for name in self._signature.parameters.keys() & settings.keys():
            own[name] = settings[name]
        answers = answers_of(ratings, by_names=interval in ("percentile", "bca"))
        statistic = self.statistic(answers, **own)
        if asked is None and statistic.targets and target not in statistic.targets:
            target = cast("Target", statistic.targets[0])
        if asked is None and interval == "analytic":
            # What a formula is about, it says itself.
            target = "both" if "both" in statistic.over else "stimuli"
        statistic = replace(statistic, fewest=max(statistic.fewest, _FEWEST_STIMULI))
        found = stimulus_clusters(ratings, cluster)
        clusters = found.on(answers.units)
        table = infer(
            statistic,
            interval=interval,
            target=target,
            n_boot=n_boot,
            joint=joint,
            confidence=confidence,
            seed=seed,
            clusters=clusters,
        )
        counted = () if raters_are_known(ratings) else (VOTES,)
        empty = said_of_empty_sets(ratings, answers, table.frame)
        alone = _alone(answers, table)
        notes = (*counted, *empty, *alone, *found.notes_for(table.frame["target"]))
        table = replace(table, notes=notes)
        if interval == "jackknife":
            table = with_coverage(table, self.name, target, answers, clusters)
        return replace(table, figures=(self.figure,))

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.statistic)

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
                parts.append(self.table(own, **usual, **options))
        return concatenate_estimates(parts, ratings.label_names) if parts else None

    def _suits_with(self, usual: Mapping[str, Any], scale: Scale) -> bool:
        return self.suits(scale) and self.usual(scale) == usual


class CoefficientFunction(Protocol[Options, OfArray]):
    """The public function of a coefficient, as type checkers see it."""

    __name__: str
    coefficient: Coefficient

    @overload
    def __call__(
        self, ratings: Ratings, *args: Options.args, **options: Options.kwargs
    ) -> Estimates: ...
    @overload
    def __call__(
        self, ratings: ArrayLike, *args: Options.args, **options: Options.kwargs
    ) -> OfArray: ...


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
    expected=EXTENSION,
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


class _Register(Protocol):
    """Keeps the options of a function as they are written, and says what it gives for which data.

    Where the table has more keys than the label, it is a table of an array, too.
    """

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, face: Callable[Concatenate[Ratings | ArrayLike, Options], Estimates]
    ) -> CoefficientFunction[Options, Estimates]: ...
    @overload
    def __call__(
        self, face: Callable[Concatenate[Ratings | ArrayLike, Options], Estimate | Estimates]
    ) -> CoefficientFunction[Options, Estimate]: ...


def coefficient(
    statistic: Callable[..., Statistic],
    *,
    title: str,
    graded: Mapping[str, Any] | None = None,
    suits: Callable[[Scale], bool] = has_levels,
    keys: tuple[str, ...] = ("label",),
    lines: Sequence[float] = (),
    of_raters: bool = False,
) -> _Register:
    """Register the public function of a coefficient, under its name.

    The function takes ratings or an array, the options of the statistic, and those of the interval,
    and hands all to the :class:`Coefficient` that it has as ``coefficient``. A statistic that has
    to know what is resampled takes `interval`, `n_boot` or `target`, too.

    Parameters
    ----------
    statistic
        From :class:`~affectlab.ratings.Answers` and options to the statistic.
    title
        What the coefficient is called in a sentence.
    graded
        Options that are usual on ordinal and interval scales, such as ``{"weights": "quadratic"}``.
    suits
        Whether it is defined for answers on a scale; by default on those with a number of levels.
    keys
        What its table has a row for.
    lines
        Values that a figure marks.
    of_raters
        Whether it depends on who gave which answer, so that counts of votes have none.
    """

    def register(face: Any) -> Any:
        name = face.__name__
        made = Coefficient(name, title, statistic, graded or {}, suits, keys, lines, of_raters)
        if face.__module__.startswith(f"{_PACKAGE}."):
            _OURS[name] = made
        public = spelled(face)
        public.coefficient = made  # type: ignore[attr-defined]
        return public

    return register


def _alone(answers: Answers, table: Estimates) -> Iterator[str]:
    """Say how many ratings do not count, since nobody else rated the same."""
    every, counted = answers.value.size, int(table.frame["n_ratings"].sum())
    if table.keys != ("label",) or not {*table.frame["label"]} <= {*answers.labels, "pooled"}:
        return
    if counted < every:
        yield unpaired_text(every - counted, every, by_label=len(answers.labels) > 1)


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
