"""Coefficients of one number for each label, found by name wherever agreement is measured.

A coefficient is a function of :class:`~affectlab.ratings.arrays.Answers` that gives a
:class:`~affectlab.core.statistic.Statistic`. :func:`coefficient` makes of it what people call, and
puts it into the registry from which the command line, fairness and the report take coefficients.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, wraps
from importlib import import_module
from inspect import cleandoc
from pkgutil import iter_modules
from typing import Any, Protocol, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.inference import Interval, Resample, infer
from affectlab.core.registry import Registry
from affectlab.core.statistic import Statistic
from affectlab.ratings import Ratings, Scale
from affectlab.ratings.arrays import answers_of
from affectlab.ratings.order import canonical
from affectlab.ratings.select import labels_on

__all__ = [
    "Coefficient",
    "CoefficientFunction",
    "coefficient",
    "list_coefficients",
    "load_coefficient",
    "load_coefficients",
    "one_for_an_array",
]

_PACKAGE = "affectlab.reliability.agreement"


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
    function: CoefficientFunction
    """What people call: from ratings, or an array, to estimates."""
    graded: Mapping[str, Any] = field(default_factory=dict)
    """Options that are usual on ordinal and interval scales."""
    needs_levels: bool = True
    """Whether the scale has to have a number of levels."""

    def __call__(self, ratings: Ratings | ArrayLike, **options: Any) -> Estimate | Estimates:
        """Compute it, as the function does."""
        return self.function(ratings, **options)

    def suits(self, scale: Scale) -> bool:
        """Whether it is defined for answers on a scale."""
        levels = scale.numeric and scale.step is not None and scale.low is not None
        return scale.numeric and (levels or not self.needs_levels)

    def usual(self, scale: Scale | None) -> dict[str, Any]:
        """Options that are usual for answers on a scale."""
        graded = scale is not None and scale.kind in ("ordinal", "interval")
        return dict(self.graded) if graded else {}

    def tables(self, ratings: Ratings) -> list[Estimates]:
        """Compute it with its usual options: for labels without an order, then for graded ones."""
        parts = []
        for options in [{}, dict(self.graded)] if self.graded else [{}]:
            own = labels_on(ratings, partial(self._suits_with, options))
            if own is not None:
                parts.append(self.function(own, **options))
        return parts

    def _suits_with(self, options: Mapping[str, Any], scale: Scale) -> bool:
        return self.suits(scale) and self.usual(scale) == options


class CoefficientFunction(Protocol):
    """A coefficient as type checkers see it."""

    __name__: str

    @overload
    def __call__(self, ratings: Ratings, /, **options: Any) -> Estimates: ...
    @overload
    def __call__(self, ratings: ArrayLike, /, **options: Any) -> Estimate: ...


_OURS: dict[str, Coefficient] = {}


def _by_statistic(function: Callable[..., Statistic], name: str = "") -> Coefficient:
    called = name or function.__name__
    return _made(function, called, called.replace("_", " "), {}, True)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Coefficients(Registry[Coefficient]):
    """Coefficients register themselves when their modules are imported."""

    def own_names(self) -> tuple[str, ...]:
        """Import every module of the package, and name what has registered itself."""
        package = import_module(_PACKAGE)
        for module in iter_modules(package.__path__):
            if not module.name.endswith("_kernels"):
                import_module(f"{_PACKAGE}.{module.name}")
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
    needs_levels: bool = True,
) -> Callable[[Callable[..., Statistic]], CoefficientFunction]:
    """Make of a statistic of answers the function that people call, and register it.

    The function takes ratings or an array, the options of the statistic, and those of the interval,
    which it hands to :func:`~affectlab.core.inference.infer`. Its docstring gains their
    description. It gives a table for ratings, and one estimate for an array, which has no labels.

    Parameters
    ----------
    title
        What the coefficient is called in a sentence.
    graded
        Options that are usual on ordinal and interval scales, such as ``{"weights": "quadratic"}``.
    needs_levels
        Whether the scale has to have a number of levels.
    """

    def register(statistic: Callable[..., Statistic]) -> CoefficientFunction:
        made = _made(statistic, statistic.__name__, title, graded or {}, needs_levels)
        if statistic.__module__.startswith(f"{_PACKAGE}."):
            _OURS[made.name] = made
        return made.function

    return register


_UNCERTAINTY = tuple(
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=type_)
    for name, default, type_ in (
        ("interval", "analytic", Interval),
        ("resample", "units", Resample),
        ("n_boot", 1000, int),
        ("confidence", 0.95, float),
        ("seed", 0, int | np.random.Generator | None),
    )
)
"""What every coefficient takes beside its own options."""
_RATINGS = """\
ratings
    Ratings (main trials with a valid answer; the first answer where a rater repeats), or an array
    of shape (raters, units) with ``nan`` where there is no rating."""
_SAID = """\
interval
    ``"analytic"``: Student's interval, by the formula for stimuli drawn at random.
    ``"jackknife"``: the same, from leaving out one stimulus at a time. ``"percentile"`` or
    ``"bca"``: from bootstrap replicates.
resample
    What replicates draw: ``"units"`` (stimuli), ``"raters"`` or ``"both"``. A rater drawn twice
    is not paired with itself.
n_boot
    Bootstrap replicates, where the interval comes from these.
confidence
    Coverage of the interval, in (0, 1).
seed
    Seed or generator of the replicates; the same seed gives the same bytes.
"""


def _made(
    statistic: Callable[..., Statistic],
    name: str,
    title: str,
    graded: Mapping[str, Any],
    needs_levels: bool,
) -> Coefficient:
    """Make the function that people call, and what the registry holds."""
    _, *own = inspect.signature(statistic).parameters.values()
    first = inspect.Parameter(
        "ratings", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Ratings | ArrayLike
    )
    signature = inspect.Signature(
        [first, *own, *_UNCERTAINTY], return_annotation=Estimate | Estimates
    )

    @wraps(statistic)
    def function(ratings: Ratings | ArrayLike, /, **options: Any) -> Any:
        given = signature.bind(ratings, **options)
        given.apply_defaults()
        of_infer = {part.name: given.kwargs[part.name] for part in _UNCERTAINTY}
        if of_infer["interval"] in ("percentile", "bca"):
            ratings = canonical(ratings)
        of_statistic = {part.name: given.kwargs[part.name] for part in own}
        table = infer(statistic(answers_of(ratings), **of_statistic), **of_infer)
        return one_for_an_array(table, ratings)

    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {
        **{part.name: part.annotation for part in signature.parameters.values()},
        "return": signature.return_annotation,
    }
    function.__doc__ = _documented(statistic.__doc__ or "")
    made = Coefficient(
        name, title, statistic, cast("CoefficientFunction", function), graded, needs_levels
    )
    function.coefficient = made  # type: ignore[attr-defined]
    return made


def _documented(text: str) -> str:
    """Describe ratings in place of answers, and the options of the interval behind the others."""
    text = cleandoc(text)
    text = re.sub(r"(?m)^answers$(\n    .*)*", _RATINGS, text, count=1)
    return re.sub(r"(?m)^\n(?=Returns\n)", f"{_SAID}\n", text, count=1)


def one_for_an_array(table: Estimates, ratings: Ratings | ArrayLike) -> Estimate | Estimates:
    """Give the only estimate of an array, which has no labels."""
    if isinstance(ratings, Ratings):
        return table
    ((_, only),) = table
    return only
