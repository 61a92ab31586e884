"""Phone numbers, by the ways in which they are written and the numbering plans of the countries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError

__all__ = ["COUNTRIES", "find_phones"]

_MORE = r"(?: ?(?:x|ext\.?) ?\d{1,6})?"
_US = r"(?:\([2-9]\d\d\)[ .-]?|[2-9]\d\d[ .-]?)[2-9]\d\d[ .-]?\d{4}"
_WRITTEN = re.compile(
    r"(?<![\w.,/-])(?:"
    # With the code of a country.
    rf"(?:\+|00(?=[1-9]))\d{{1,3}}(?:[ .-]?\(0\))?(?:[ .-]?\(?\d{{1,5}}\)?){{2,6}}{_MORE}|"
    # North America, as in (212) 555-0142, also with a 1 before it.
    rf"\(?(?:(?:\+|00)?1[ .-]?)?{_US}{_MORE}|"
    rf"(?:\(\d{{3}}\) ?|\d{{3}}-)\d{{3}}-\d{{4}}{_MORE}|\d{{3}}\.\d{{3}}\.\d{{4}}{_MORE}|"
    # With the 0 of most other countries before the code of a place.
    r"\(?0\d{2,5}\)?[ -]?\d{3,8}(?:[ -]\d{2,6}){0,2}"
    r")(?![\w-]|[.,/]\d)"
)
_RUN = re.compile(r"(?<![\w.,/-])\d{2,7}(?:[ .-]\d{2,7}){1,3}(?![\w-]|[.,/]\d)")
"""Digits in groups, about which the numbering plans are asked."""
_FEWEST, _MOST = 9, 16
_PLAN = 10
"""Digits of the shortest number about which the plans are asked: lists of numbers are as long."""
_SIGNS = re.compile(r"\D")
_AFTER = re.compile(r" ?(?:x|ext\.?) ?\d+$")

COUNTRIES = ("US", "GB")
"""Countries whose numbers are known when they are written without the code of the country."""


def find_phones(text: str, countries: tuple[str, ...] = COUNTRIES) -> Iterator[tuple[int, int]]:
    """Give where phone numbers start and end in a text.

    What is written as a phone number of 9 to 16 digits is found, whether or not it is in use: with
    the code of a country, in the forms of North America, and with the 0 before the code of a place.
    Digits in other groups are found when they are a valid number of one of the countries.

    Raises
    ------
    InputError
        When the library of numbering plans is absent.

    Examples
    --------
    >>> text = "Call +44 20 7946 0958 or (212) 555-0142, not 1234567."
    >>> [text[start:end] for start, end in find_phones(text)]
    ['+44 20 7946 0958', '(212) 555-0142']
    """
    found = [
        match.span()
        for match in _WRITTEN.finditer(text)
        if _FEWEST <= len(_SIGNS.sub("", _AFTER.sub("", match.group()))) <= _MOST
    ]
    written = iter(found)
    start, end = next(written, (len(text), len(text)))
    for run in _RUN.finditer(text):
        # Both go from left to right: what ends before a run cannot hold it or a later one.
        while end <= run.start() and start < len(text):
            start, end = next(written, (len(text), len(text)))
        digits = _SIGNS.sub("", run.group())
        outside = run.end() <= start
        if outside and _PLAN <= len(digits) <= _MOST and _is_valid(digits, countries):
            yield run.span()
    yield from found


@lru_cache(maxsize=10_000)
def _is_valid(digits: str, countries: tuple[str, ...]) -> bool:
    library = _library()
    for country in countries:
        try:
            number = library.parse(digits, country)
        except library.NumberParseException:
            continue
        if library.is_valid_number_for_region(number, country):
            return True
    return False


def _library() -> Any:
    try:
        return import_module("phonenumbers")
    except ImportError as error:
        raise InputError(
            "finding phone numbers needs phonenumbers; install it with: "
            f"{install_line('reactions')}"
        ) from error
