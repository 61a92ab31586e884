"""Statistics of raters, and answers of which nobody knows who gave them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from affectlab.core.errors import InputError
from affectlab.ratings.table import Ratings

Given = ParamSpec("Given")
Found = TypeVar("Found")


def raters_are_known(ratings: Any) -> bool:
    """Whether it is known who gave each answer; of an array it is."""
    return not isinstance(ratings, Ratings) or ratings.raters_known


def require_known_raters(ratings: Any, what: str) -> None:
    """Refuse answers of nobody named, such as counts of votes, where a statistic is about raters.

    Raises
    ------
    InputError
        If the raters are not known.
    """
    if not raters_are_known(ratings):
        raise InputError(
            f"{what}: raters are not known, since nothing says who gave which answer; expected "
            "answers of named raters (Fleiss' kappa, alpha and shares of answers need none)"
        )


def of_known_raters(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Let a statistic of raters refuse ratings whose raters are not known.

    Examples
    --------
    >>> @of_known_raters
    ... def rater_bias(ratings):
    ...     return "biased"
    >>> raters = {"rater": ["vote 1", "vote 2"], "rater_known": [False, False]}
    >>> votes = Ratings({"stimulus": ["a", "b"], "rater": raters["rater"], "value": [1, 2]},
    ...                 raters=raters)
    >>> rater_bias(votes)
    Traceback (most recent call last):
    affectlab.InputError: rater bias: raters are not known, since nothing says who gave ...
    """
    what = getattr(function, "__name__", "this").replace("_", " ")

    @wraps(function)
    def called(*args: Given.args, **given: Given.kwargs) -> Found:
        require_known_raters(next(iter([*args, *given.values()]), None), what)
        return function(*args, **given)

    return called
