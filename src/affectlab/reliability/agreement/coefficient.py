"""Coefficients of one number for each label: a table for ratings, one estimate for an array."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, overload

from numpy.typing import ArrayLike

from affectlab.core.estimates import Estimate, Estimates
from affectlab.ratings import Ratings

__all__ = ["Coefficient", "coefficient"]

_P = ParamSpec("_P")


class Coefficient(Protocol[_P]):
    """A coefficient as type checkers see it."""

    @overload
    def __call__(self, ratings: Ratings, /, *args: _P.args, **options: _P.kwargs) -> Estimates: ...
    @overload
    def __call__(self, ratings: ArrayLike, /, *args: _P.args, **options: _P.kwargs) -> Estimate: ...


def coefficient(
    function: Callable[Concatenate[Ratings | ArrayLike, _P], Estimate | Estimates],
) -> Coefficient[_P]:
    """Let a coefficient give one estimate for an array, which has no labels.

    Parameters
    ----------
    function
        Gives estimates by ``label``, which are a single row for an array.
    """

    @wraps(function)
    def of(
        ratings: Ratings | ArrayLike, *args: _P.args, **options: _P.kwargs
    ) -> Estimate | Estimates:
        table = function(ratings, *args, **options)
        if isinstance(ratings, Ratings) or isinstance(table, Estimate):
            return table
        ((_, only),) = table
        return only

    return of  # type: ignore[return-value]
