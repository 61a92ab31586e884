"""What goes wrong, said in one sentence.

Every error that affectlab raises on purpose is an :class:`AffectlabError`. Its text is one
sentence that names the place (file, line or key), the value found there and what was expected, so
that the command line can print it as it is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, Self

__all__ = ["AffectlabError", "InputError", "MissingDependencyError"]


class AffectlabError(Exception):
    """Base of all errors raised on purpose by affectlab."""

    __module__ = "affectlab"  # the name under which tracebacks show it and users catch it
    ways: tuple[str, ...] = ()
    """Lines that say what else can be done, with commands or calls that do it."""

    @classmethod
    def with_ways(cls, sentence: str, ways: tuple[str, ...]) -> Self:
        """Say what cannot be used, and what else can be done, each on a line of its own."""
        made = cls(sentence)
        made.ways = ways
        return made

    @property
    def sentence(self) -> str:
        """What is wrong, without what else can be done."""
        return super().__str__()

    def __str__(self) -> str:
        return "\n".join((self.sentence, *self.ways))


class InputError(AffectlabError, ValueError):
    """Input that cannot be used: a file, a table, an option or an argument.

    Examples
    --------
    >>> raise InputError("ratings.csv, line 7: value '9' is off the scale 0..7")
    Traceback (most recent call last):
    affectlab.InputError: ratings.csv, line 7: value '9' is off the scale 0..7
    """

    __module__ = "affectlab"
    is_placed = False
    """Whether the sentence begins with the file or the table that it is about."""

    @classmethod
    def placed(cls, sentence: str) -> Self:
        """Say what cannot be used in a sentence that begins with where it stands."""
        made = cls(sentence)
        made.is_placed = True
        return made


class MissingDependencyError(AffectlabError, ImportError):
    """A library that an optional part needs is not installed."""


def unknown_name(kind: str, name: str, known: Iterable[str], where: str = "") -> InputError:
    """Build the error for a name that is not known, with the closest known ones.

    Parameters
    ----------
    kind
        What was looked up, in the singular: ``"label"``, ``"taxonomy"``.
    name
        The name that was asked for.
    known
        All names that would have been accepted.
    where
        Where the name was looked up, put before the sentence.

    Examples
    --------
    >>> str(unknown_name("label", "angre", ["anger", "fear"]))
    "unknown label 'angre'; did you mean 'anger'?"
    """
    names = list(known)
    prefix = f"{where}: " if where else ""
    hint = name_hint(name, names) if names else f"there is no {kind} here"
    return InputError(f"{prefix}unknown {kind} {name!r}; {hint}")


def check_choice(kind: str, given: object, known: Collection[str], where: str = "") -> None:
    """Refuse what is none of the known names; see :func:`unknown_name`.

    Examples
    --------
    >>> check_choice("rule", "plurality", ("majority", "plurality"))
    >>> check_choice("rule", "most", ("majority", "plurality"))
    Traceback (most recent call last):
    affectlab.InputError: unknown rule 'most'; expected one of: majority, plurality
    """
    if given not in known:
        raise unknown_name(kind, str(given), known, where)


def check_choices(
    kind: str, given: Iterable[object], known: Collection[str], where: str = ""
) -> None:
    """Refuse the first that is none of the known names; see :func:`check_choice`.

    Examples
    --------
    >>> check_choices("label", ["joy", "aw"], ("joy", "awe"))
    Traceback (most recent call last):
    affectlab.InputError: unknown label 'aw'; did you mean 'awe'?
    """
    for one in given:
        check_choice(kind, one, known, where)


def name_hint(name: str, known: Iterable[str]) -> str:
    """Say which of the known names was meant, or else what they are.

    Examples
    --------
    >>> name_hint("angre", ["anger", "fear"])
    "did you mean 'anger'?"
    >>> name_hint("x", ["anger", "fear"])
    'expected one of: anger, fear'
    """
    names = list(known)
    folded = {known_name.casefold(): known_name for known_name in names}
    close = [folded[match] for match in get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)]
    if close:
        return "did you mean " + " or ".join(repr(match) for match in close) + "?"
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return f"expected one of: {shown}"


def check_number(
    name: str,
    value: Any,
    least: float = -math.inf,
    most: float = math.inf,
    *,
    above: bool = False,
    below: bool = False,
    whole: bool = False,
) -> None:
    """Refuse what is no finite number, or lies outside a range.

    Parameters
    ----------
    name, value
        What the number is called, and what was given.
    least, most
        Ends of the range, which belong to it.
    above, below
        Whether the least value itself, and the largest, is excluded.
    whole
        Whether the number has to be a whole one.

    Examples
    --------
    >>> check_number("share", 0.5, 0, 1)
    >>> check_number("share", 2, 0, 1)
    Traceback (most recent call last):
    affectlab.InputError: share = 2: expected a number from 0 to 1
    >>> check_number("share", 1, 0, 1, above=True, below=True)
    Traceback (most recent call last):
    affectlab.InputError: share = 1: expected a number between 0 and 1
    """
    is_number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    number = float(value) if is_number else math.nan
    inside = (least < number if above else least <= number) and (
        number < most if below else number <= most
    )
    if inside and math.isfinite(number):
        return
    said = "a whole number" if whole else "a finite number" if math.isinf(number) else "a number"
    if above and below:
        said += f" between {least:g} and {most:g}"
    elif above:
        said += f" above {least:g}" + (f", {most:g} at most" if most < math.inf else "")
    elif most < math.inf:
        said += f" from {least:g} to {'below ' if below else ''}{most:g}"
    elif least > -math.inf:
        said += f" from {least:g} on"
    raise InputError(f"{name} = {value!r}: expected {said}")


def check_once(kind: str, names: Iterable[object], where: str = "") -> None:
    """Refuse names of which one stands twice.

    Examples
    --------
    >>> check_once("label", ["joy", "awe", "joy"], "labels")
    Traceback (most recent call last):
    affectlab.InputError: labels: label 'joy' stands twice; expected once
    """
    seen: set[object] = set()
    for name in names:
        if name in seen:
            prefix = f"{where}: " if where else ""
            raise InputError(f"{prefix}{kind} {name!r} stands twice; expected once")
        seen.add(name)
