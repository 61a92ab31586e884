"""Phone numbers, by the numbering plans of the countries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from affectlab.errors import InputError

__all__ = ["COUNTRIES", "find_phones"]

_RUN = re.compile(
    r"(?<![\w.,])[+(]?\d(?:[ ().\-/+]{0,3}\d){6,19}(?: ?(?:x|ext\.?) ?\d{1,5})?(?!\w)"
)
"""Digits as they stand in phone numbers; only these are looked at closely, which takes time."""
_WRITTEN = re.compile(
    r"(?<!\d)(?:\+?1[-. ]?)?(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}(?:x\d{1,5})?(?!\d)"
)

COUNTRIES = ("US", "GB")
"""Countries whose numbers are known when they are written without the code of the country."""


def find_phones(text: str, countries: tuple[str, ...] = COUNTRIES) -> Iterator[tuple[int, int]]:
    """Give where phone numbers start and end in a text.

    Numbers that are valid in one of the countries are found, those of all countries that are
    written with their code, and what is written in the usual form of the United States.

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
    library = _library()
    for run in _RUN.finditer(text):
        found: set[tuple[int, int]] = set()
        for country in countries:
            told = library.PhoneNumberMatcher(run.group(), country, library.Leniency.VALID)
            found.update((match.start, match.end) for match in told)
        # What is written as a number of this form is one, whether or not it is in use.
        found.update(match.span() for match in _WRITTEN.finditer(run.group()))
        for start, end in sorted(found):
            yield run.start() + start, run.start() + end


def _library() -> Any:
    try:
        return import_module("phonenumbers")
    except ImportError as error:
        raise InputError(
            "finding phone numbers needs phonenumbers; install it with: "
            'pip install "affectlab[reactions]"'
        ) from error
