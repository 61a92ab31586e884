"""What goes wrong, said in one sentence.

Every error that affectlab raises on purpose is an :class:`AffectlabError`. Its text is one
sentence that names the place (file, line or key), the value found there and what was expected, so
that the command line can print it as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

__all__ = [
    "AffectlabError",
    "InputError",
    "MissingDependencyError",
    "check_choice",
    "name_hint",
    "unknown_name",
]


class AffectlabError(Exception):
    """Base of all errors raised on purpose by affectlab."""

    __module__ = "affectlab"  # the name under which tracebacks show it and users catch it


class InputError(AffectlabError, ValueError):
    """Input that cannot be used: a file, a table, an option or an argument.

    Examples
    --------
    >>> raise InputError("ratings.csv, line 7: value '9' is off the scale 0..7")
    Traceback (most recent call last):
    affectlab.InputError: ratings.csv, line 7: value '9' is off the scale 0..7
    """

    __module__ = "affectlab"


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


def check_choice(kind: str, given: object, known: Collection[str]) -> None:
    """Refuse what is none of the known names.

    Examples
    --------
    >>> check_choice("rule", "plurality", ("majority", "plurality"))
    >>> check_choice("rule", "most", ("majority", "plurality"))
    Traceback (most recent call last):
    affectlab.InputError: unknown rule 'most'; expected one of: majority, plurality
    """
    if given not in known:
        raise unknown_name(kind, str(given), known)


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
