"""How a sentence points at an option: as a parameter in Python, else as the command line has it."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

# What most others named for the same thing.


_FEWEST = 2
"""Others who must have named something before it counts as popular."""


def popular_without(counts: Counter[str], own: frozenset[str]) -> set[str]:
    """Give what was named most often by others than the one who named `own`.

    Parameters
    ----------
    counts
        How many people named each, the one in question among them.

    Examples
    --------
    >>> popular_without(Counter({"hope": 3, "fear": 3}), frozenset({"hope"}))
    {'fear'}
    >>> popular_without(Counter({"hope": 2, "fear": 1}), frozenset({"hope"}))
    set()
    """
    others = {key: n - (key in own) for key, n in counts.items()}
    most = max(others.values(), default=0)
    return {key for key, n in others.items() if n == most} if most >= _FEWEST else set()


# Names, numbers and counts as people read them: no control characters, true signs, units.


_HIDDEN = {"Cc", "Cs", "Co", "Cn"}
_TURNING = frozenset(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))


def shown(name: object, limit: int = 0) -> str:
    """Make a name fit to be printed.

    Control characters become spaces, marks that turn the direction of all text behind them are
    left out, and what is longer than `limit` (0: any length) is cut.

    Examples
    --------
    >>> shown("a\\tvery long name", 8)
    'a very …'
    """
    text = "".join(
        " " if unicodedata.category(c) in _HIDDEN else c for c in str(name) if c not in _TURNING
    )
    return text if not limit or len(text) <= limit else text[: limit - 1] + "…"


_ABBREVIATIONS = {"auc", "ece", "icc", "id", "jnd", "mae", "mse", "rmse", "sd", "se"}
"""Those that papers write in capitals."""


def sentence_case(text: str) -> str:
    """Begin a head or a title with a capital; a symbol such as ``p`` stays as it is.

    Examples
    --------
    >>> [sentence_case(text) for text in ("same answer", "p, corrected", "sd of repeats")]
    ['Same answer', 'p, corrected', 'SD of repeats']
    """
    word = re.match(r"\w+", text)
    if word is None or len(word[0]) == 1:
        return text
    first = word[0].upper() if word[0] in _ABBREVIATIONS else word[0][0].upper() + word[0][1:]
    return first + text[word.end() :]


def file_part(name: str) -> str:
    """Make a name fit to be part of a file name: lower case letters, digits, ``-`` and ``_``.

    A name that is changed by it gets a hash, so that two names stay two files.

    Examples
    --------
    >>> file_part("ekman"), file_part("Joy/Fear")
    ('ekman', 'joy_fear-2908bf')
    """
    plain = re.sub(r"[^a-z0-9_-]+", "_", name.lower())[:60]
    if plain == name:
        return plain
    return f"{plain}-{blake2b(name.encode(errors='replace'), digest_size=3).hexdigest()}"


def number(value: float | None, digits: int = 2) -> str:
    """Write a number with fixed digits and a true minus; an en dash where there is none."""
    if value is None or value != value:
        return "–"
    text = f"{value:,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def with_ends(row: Mapping[str, Any], confidence: float) -> str:
    """Write the value of a row with its interval, and without where there is none.

    Examples
    --------
    >>> row = {"value": 0.835, "low": 0.77, "high": 0.89}
    >>> with_ends(row, 0.95), with_ends(row | {"low": float("nan")}, 0.95)
    ('0.83 (95 % interval 0.77 to 0.89)', '0.83')
    """
    name = f"{100 * confidence:g} % interval"
    return number(row["value"]) + in_brackets(row["low"], row["high"], name=name)


def count(value: float) -> str:
    """Write a whole number with thousands separated."""
    return f"{value:,.0f}"


def p_value(p: float) -> str:
    """Write a p value with its sign.

    Examples
    --------
    >>> p_value(0.0312), p_value(1e-9)
    ('= 0.031', '< 0.001')
    """
    if p != p:
        return "not known"
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def percent(share: float, digits: int = 0) -> str:
    """Write a share as a percentage, its sign kept on the line of the number.

    Only none is written as 0 and only all as 100.

    Examples
    --------
    >>> [percent(share).replace("\\u00a0", " ") for share in (0.0, 0.002, 0.25, 0.999, 1.0)]
    ['0 %', '< 1 %', '25 %', '> 99 %', '100 %']
    """
    if share != share:
        return "–"
    least = 10.0**-digits
    if 0 < 100 * share < least / 2:
        return f"<\u00a0{least:.{digits}f}\u00a0%"
    if 0 < 100 * (1 - share) < least / 2:
        return f">\u00a0{100 - least:.{digits}f}\u00a0%"
    return f"{100 * share:.{digits}f}\u00a0%"


def in_brackets(
    low: float | None,
    high: float,
    digits: int = 2,
    *,
    write: Callable[[float, int], str] = number,
    name: str = "",
) -> str:
    """Write an interval in brackets behind its value, and nothing where there is none.

    Parameters
    ----------
    low, high
        The ends; the lower one is None or ``nan`` where there is no interval.
    digits
        Digits after the point.
    write
        How an end is written: :func:`number` or :func:`percent`.
    name
        What the interval is called.

    Examples
    --------
    >>> in_brackets(0.77, 0.89), in_brackets(0.77, 0.89, 3, name="interval")
    (' (0.77 to 0.89)', ' (interval 0.770 to 0.890)')
    """
    if low is None or low != low:
        return ""
    called = f"{name} " if name else ""
    return f" ({called}{write(low, digits)} to {write(high, digits)})"


def plural(n: float, one: str, many: str = "") -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "person", "people"), plural(12, "label")
    ('1 person', '12 labels')
    """
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def many(one: str) -> str:
    """Give the plural of an English noun; of what may be none, ``clusters`` with its name.

    Examples
    --------
    >>> [many(one) for one in ("actor", "identity", "child", "FilmID")]
    ['actors', 'identities', 'children', 'clusters (FilmID)']
    """
    if one == "child":
        return "children"
    if re.fullmatch(r"[a-z]+( [a-z]+)*", one) is None:
        return f"clusters ({shown(one, 40)})"
    if re.search(r"[^aeiou]y$", one):
        return f"{one[:-1]}ies"
    return one if one.endswith("s") else f"{one}s"


def one_of(several: str) -> str:
    """Give the singular of what :func:`many` gives, and of stimuli.

    Examples
    --------
    >>> [one_of(name) for name in ("stimuli", "actors", "identities", "clusters (FilmID)")]
    ['stimulus', 'actor', 'identity', 'cluster (FilmID)']
    """
    irregular = {"stimuli": "stimulus", "children": "child", "movies": "movie", "series": "series"}
    noun, _, name = several.partition(" (")
    one = irregular.get(noun) or re.sub(r"(ies|(?<!s)s)$", lambda m: "y" * (m[0] == "ies"), noun)
    return f"{one} ({name}" if name else one


def joined(parts: Iterable[str], last_word: str = "and") -> str:
    """Join phrases as a sentence does.

    Examples
    --------
    >>> joined(["a", "b", "c"])
    'a, b and c'
    >>> joined(["a", "b"], "or")
    'a or b'
    """
    *most, last = list(parts)
    return f"{', '.join(most)} {last_word} {last}" if most else last


def listing(parts: Sequence[str], most: int, mark: str = ", ") -> str:
    """List the first phrases, and count the others.

    Examples
    --------
    >>> listing(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    rest = len(parts) - most
    return mark.join(parts[:most]) + (f" and {count(rest)} more" if rest > 0 else "")


def quoted(names: Iterable[str], most: int = 8) -> str:
    """List the first names in quotation marks, and count the others.

    Examples
    --------
    >>> quoted(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    return listing([f"'{name}'" for name in names], most)


def some(parts: Sequence[str], most: int, last: str = "more") -> str:
    """Join the first phrases as a sentence does, and count the others.

    Examples
    --------
    >>> some(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    rest = len(parts) - most
    return joined([*parts[:most], *([f"{count(rest)} {last}"] if rest > 0 else [])])


def natural(name: str) -> tuple[int, float, str]:
    """Give a key that sorts whole numbers by size and before words.

    Examples
    --------
    >>> sorted(["10", "b", "9"], key=natural)
    ['9', '10', 'b']
    """
    return (0, float(name), name) if name.isdecimal() else (1, 0.0, name)


class _Reader:
    """Who reads the sentences of this process; threads of the command line are the command line."""

    on_command_line = False
    in_config: Collection[str] = ()
    """Options that the verb takes by ``--config`` alone."""


@contextmanager
def command_line(in_config: Collection[str] = ()) -> Iterator[None]:
    """Let sentences name options of the command line instead of parameters.

    Parameters
    ----------
    in_config
        Options that the verb takes by ``--config`` alone.
    """
    before = _Reader.on_command_line, _Reader.in_config
    _Reader.on_command_line, _Reader.in_config = True, in_config
    try:
        yield
    finally:
        _Reader.on_command_line, _Reader.in_config = before


def on_command_line() -> bool:
    """Whether sentences are for somebody at the command line."""
    return _Reader.on_command_line


def option(name: str, *values: object, cli: str = "") -> str:
    """Name an option and what to give it, as whoever reads the sentence has to write it.

    Parameters
    ----------
    name
        Name of the parameter in Python.
    values
        What to give it; several are a choice, and none names the option alone.
    cli
        How the command line says it, where it does not have an option of that name.

    Examples
    --------
    >>> option("columns", {"rater": "coder"})
    "columns={'rater': 'coder'}"
    >>> option("wide", "labels", "stimuli")
    "wide='labels' or 'stimuli'"
    >>> with command_line():
    ...     print(option("columns", {"rater": "coder"}), option("wide", "labels", "stimuli"))
    --columns rater=coder --wide labels or stimuli
    >>> with command_line(in_config=["restart"]):
    ...     print(option("restart", True))
    --config restart=true
    """
    if _Reader.on_command_line and not cli and name in _Reader.in_config:
        given = [str(one).lower() if isinstance(one, bool) else _written(one) for one in values]
        return f"--config {name}={joined(map(shlex.quote, given), 'or') if given else 'VALUE'}"
    if _Reader.on_command_line:
        name = cli or f"--{name.replace('_', '-')}"
        given = [] if cli else [shlex.quote(_written(value)) for value in values]
    else:
        given = [repr(value) for value in values]
    between = " " if _Reader.on_command_line else "="
    return f"{name}{between}{joined(given, 'or')}" if given else name


def _written(value: object) -> str:
    if isinstance(value, Mapping):
        value = [f"{key}={entry}" for key, entry in value.items()]
    if not isinstance(value, list):
        return str(value)
    return ",".join(f'"{entry}"' if "," in str(entry) else str(entry) for entry in value)
