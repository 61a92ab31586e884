"""The scale that answers are given on."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal, get_args
from unicodedata import normalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError

ScaleKind = Literal["binary", "nominal", "ordinal", "interval", "text"]

_MAX_ORDINAL_LEVELS = 11
_MAX_STEPS = 2.0**53
"""Beyond this, a float no longer tells a whole number from the next."""
_BLOCK = 1 << 15
_TOLERANCE = 1e-6
"""How far, in steps, a value may lie from a level and still count as that level."""
_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_RANGE = re.compile(
    rf"^\s*(?:(?P<first>ordinal|interval)\s+)?"
    rf"(?P<low>{_NUMBER})\s*(?:-|\.\.|–|to)\s*(?P<high>{_NUMBER})"
    rf"(?:\s*[,;]?\s*step\s*(?P<step>{_NUMBER}))?(?:\s*[,;]?\s*(?P<kind>ordinal|interval))?\s*$"
)
_EXPECTED = (
    "expected for example '0-7', '1..5', '0-100 interval', '0-1 step 0.1', 'binary', "
    "'nominal:yes,no', 'ordinal:never,sometimes,often', 'interval' or 'text'"
)


@dataclass(frozen=True)
class Scale:
    """What values an answer can take.

    Examples
    --------
    >>> Scale.parse("0-7")
    Scale('ordinal 0 to 7, step 1')
    >>> Scale.parse("0-7").contains([0, 3.5, 8]).tolist()
    [True, False, False]
    >>> Scale.parse("nominal:yes,no").categories
    ('yes', 'no')
    >>> often = Scale.parse("ordinal:never,sometimes,often")
    >>> often.levels().tolist(), often.name_of(3)
    ([1.0, 2.0, 3.0], "'often'")
    """

    kind: ScaleKind
    low: float | None = None
    """Lowest value, or None when there is no bound."""
    high: float | None = None
    """Highest value, or None when there is no bound."""
    step: float | None = None
    """Distance of neighbouring values, or None when every value between the bounds is allowed."""
    categories: tuple[str, ...] = ()
    """Names of the values: on a nominal scale of 0, 1, …, on an ordinal one of 1, 2, …"""
    declared: bool = True
    """False when the scale was inferred from the answers that happened to occur."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(ScaleKind):
            known = ", ".join(get_args(ScaleKind))
            raise InputError(f"scale kind {self.kind!r} is not known; expected one of: {known}")
        self._check_categories()
        for name in ("low", "high", "step"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise InputError(f"scale: {name} is {number}; expected a finite number")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise InputError(f"scale: low {self.low:g} is not below high {self.high:g}")
        if self.step is not None and not self.step > 0:
            raise InputError(f"scale: step {self.step:g} is not above 0")
        if self.low is not None and self.high is not None and self.step is not None:
            steps = (self.high - self.low) / self.step
            if not steps < _MAX_STEPS:
                raise InputError(f"scale: {steps:g} steps of {self.step:g} are too many to count")
            if abs(steps - round(steps)) > _TOLERANCE:
                raise InputError(
                    f"scale: steps of {self.step:g} from {self.low:g} do not reach {self.high:g}"
                )

    def _check_categories(self) -> None:
        names = self.categories
        if self.kind == "nominal" and not names:
            raise InputError("scale: a nominal scale needs its categories, as in 'nominal:yes,no'")
        if not names:
            return
        if self.kind not in ("nominal", "ordinal"):
            raise InputError(f"scale: {self.kind} with categories; expected nominal or ordinal")
        for name in names:
            if not isinstance(name, str) or not name.strip():
                raise InputError(f"scale: category {name!r}; expected a name")
        if len({name.strip() for name in names}) != len(names):
            raise InputError("scale: a category is named twice; expected different names")
        if self.kind == "ordinal":
            if len({folded(name) for name in names}) != len(names):
                raise InputError("scale: two categories differ in case or spaces only")
            if len(names) < 2:
                raise InputError("scale: one category makes no order; expected two or more")
            if (self.low, self.high, self.step) != (1.0, float(len(names)), 1.0):
                raise InputError(
                    f"scale: {len(names)} named levels go from 1 to {len(names)} in steps of 1; "
                    "expected these bounds"
                )

    @classmethod
    def parse(cls, text: str | Scale) -> Scale:
        """Read a scale from its short form.

        Parameters
        ----------
        text
            ``"0-7"`` (ordinal, step 1), ``"0-100 interval"``, ``"0-1 step 0.1"``, ``"-3..3"``,
            ``"binary"``, ``"nominal:a,b,c"`` (no order; values 0, 1, …),
            ``"ordinal:disagree,neutral,agree"`` (from low to high; values 1, 2, …),
            ``"interval"`` (no bounds) or ``"text"``. ``"0-1"`` is binary. What ``str`` gives of a
            scale is understood too.

        Raises
        ------
        InputError
            When the text is none of these.
        """
        if isinstance(text, Scale):
            return text
        if not isinstance(text, str):
            raise InputError(f"scale is a {type(text).__name__}; {_EXPECTED}")
        name, _, rest = text.strip().partition(":")
        if name in ("nominal", "ordinal") and rest.strip(" ,"):
            names = tuple(part.strip() for part in rest.split(",") if part.strip())
            if names[-1] in ("…", "..."):
                raise InputError(
                    f"scale {text!r}: {names[-1]!r} is no category; write all categories out"
                )
            return cls.nominal(names) if name == "nominal" else cls.ordinal(names)
        if text.strip() in ("binary", str(cls.binary())):
            return cls.binary()
        if text.strip() == "interval":
            return cls("interval")
        if text.strip() == "text":
            return cls("text")
        found = _RANGE.match(text)
        if not found:
            raise InputError(f"scale {text!r} is not understood; {_EXPECTED}")
        low, high = float(found["low"]), float(found["high"])
        step = float(found["step"]) if found["step"] else None
        whole = low.is_integer() and high.is_integer()
        kind = found["kind"] or found["first"]
        if kind == "interval" or (kind is None and step is None and not whole):
            return cls("interval", low, high, step)
        if kind is None and (low, high, step or 1.0) == (0.0, 1.0, 1.0):
            return cls.binary()
        return cls("ordinal", low, high, 1.0 if step is None else step)

    @classmethod
    def binary(cls) -> Scale:
        """Give the scale of yes/no answers: 0 and 1."""
        return cls("binary", 0.0, 1.0, 1.0)

    @classmethod
    def nominal(cls, categories: tuple[str, ...]) -> Scale:
        """Give the scale of unordered categories; a value is the index of its category."""
        return cls("nominal", 0.0, float(max(len(categories) - 1, 1)), 1.0, categories)

    @classmethod
    def ordinal(cls, categories: tuple[str, ...]) -> Scale:
        """Give the scale of named levels, from low to high; their values are 1, 2, ….

        Examples
        --------
        >>> str(Scale.ordinal(("never", "sometimes", "often")))
        'ordinal: never, sometimes, often'
        """
        return cls("ordinal", 1.0, float(len(categories)), 1.0, categories)

    @classmethod
    def infer(cls, values: ArrayLike) -> Scale:
        """Guess a scale from the values that occur; ``declared`` is then False.

        Only 0 and 1: binary. One value: interval without bounds. Whole numbers whose range is at
        most 10: ordinal. Otherwise interval, with the lowest and highest value as bounds, and step
        1 for whole numbers. The end points of the question may never have been chosen, so a scale
        that is known should be declared. Words never get here: their order cannot be guessed.
        """
        given = np.asarray(values, dtype=np.float64)
        given = given[np.isfinite(given)]
        if given.size == 0:
            return cls("interval", declared=False)
        # Nothing has a sign where it was rounded from below.
        low, high = float(given.min()) + 0.0, float(given.max()) + 0.0
        whole = bool((given == np.rint(given)).all()) and high - low < _MAX_STEPS
        if whole and low >= 0.0 and high <= 1.0:
            return cls("binary", 0.0, 1.0, 1.0, declared=False)
        if low == high:
            return cls("interval", declared=False)
        if whole and high - low < _MAX_ORDINAL_LEVELS:
            return cls("ordinal", low, high, 1.0, declared=False)
        return cls("interval", low, high, 1.0 if whole else None, declared=False)

    @property
    def numeric(self) -> bool:
        """Whether answers are numbers (all kinds but text)."""
        return self.kind != "text"

    def levels(self) -> NDArray[np.float64]:
        """Give all values of the scale in rising order, shape (n_levels,).

        Raises
        ------
        InputError
            When the scale has no bounds or no step.
        """
        if self.low is None or self.high is None or self.step is None:
            raise InputError(f"scale {self} has no fixed levels; declare one such as '0-7'")
        if self.kind == "nominal":
            return np.arange(len(self.categories), dtype=np.float64)
        steps = np.arange(round((self.high - self.low) / self.step) + 1, dtype=np.float64)
        return self.low + np.float64(self.step) * steps

    def contains(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Say for each value whether it is on the scale; ``nan`` is not."""
        given = np.asarray(values, dtype=np.float64)
        inside = np.empty(given.shape, dtype=np.bool_)
        flat, result = given.reshape(-1), inside.reshape(-1)
        # Blocks that stay in the cache cost half the time of the whole at once, and no memory.
        for start in range(0, len(flat), _BLOCK):
            result[start : start + _BLOCK] = self._block_contains(flat[start : start + _BLOCK])
        return inside

    def _block_contains(self, given: NDArray[np.float64]) -> NDArray[np.bool_]:
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        if self.kind == "nominal":
            high = len(self.categories) - 1.0
        # A comparison with nan is false, so only infinite values need a test of their own.
        inside: NDArray[np.bool_] = (given >= low) & (given <= high)
        if self.low is None or self.high is None:
            inside &= np.isfinite(given)
        if self.step is not None:
            with np.errstate(invalid="ignore"):
                off = (given - (self.low or 0.0)) / self.step
                off -= np.rint(off)
            inside &= np.abs(off, out=off) < _TOLERANCE
        return inside

    def name_of(self, value: float) -> str:
        """Give a value as text: the name of its category, or the number."""
        if self.categories and self.contains([value])[0]:
            return repr(self.categories[round(value - (self.low or 0.0))])
        return f"{value:g}"

    def to_dict(self) -> dict[str, Any]:
        """Give the scale as a plain dictionary (for JSON)."""
        return {
            "kind": self.kind,
            "low": self.low,
            "high": self.high,
            "step": self.step,
            "categories": list(self.categories),
            "declared": self.declared,
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Scale:
        """Make a scale from what :meth:`to_dict` gave."""
        return cls(**{**given, "categories": tuple(given.get("categories", ()))})

    def __str__(self) -> str:
        if self.kind == "binary":
            text = "binary, 0 or 1"
        elif self.categories:
            text = f"{self.kind}: {', '.join(self.categories)}"
        elif self.low is None or self.high is None:
            text = self.kind
        else:
            step = "" if self.step is None else f", step {self.step:g}"
            text = f"{self.kind} {self.low:g} to {self.high:g}{step}"
        return text if self.declared else text + " (inferred)"

    def __repr__(self) -> str:
        return f"Scale({str(self)!r})"


def fits_scale(values: ArrayLike, scale: Scale) -> bool:
    """Say whether answers on an unknown scale can be taken to be on this one.

    All must lie within its bounds. Answers that all lie between 0 and 1 may be shares, and are not
    taken to be on a longer scale.
    """
    given = np.asarray(values, dtype=np.float64)
    given = given[~np.isnan(given)]
    if scale.low is None or scale.high is None or not given.size:
        return False
    low, high = float(given.min()) + 0.0, float(given.max()) + 0.0
    shares = low >= 0.0 and high <= 1.0 < scale.high - scale.low
    return scale.low <= low and high <= scale.high and not shares


_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\ufe0f\ufeff"))
"""Signs that are not seen: a soft hyphen, spaces of no width, the mark of emoji in colour."""


def folded(word: str) -> str:
    """Give what is the same for spellings that differ in case and spaces only.

    So are letters that are put together of two signs, and emoji that ask to be shown in colour.

    Examples
    --------
    >>> folded(" Very  SAD"), folded("\u2764\ufe0f") == folded("\u2764")
    ('very sad', True)
    """
    return " ".join(normalize("NFC", word).translate(_UNSEEN).casefold().split())


def difference(one: str, other: str) -> str:
    """Say in what two spellings differ that :func:`folded` takes as one.

    Examples
    --------
    >>> difference("Joy", "joy "), difference("\u00c4rger", "A\u0308rger")
    ('case or spaces', 'how accents are encoded')
    """
    one, other = normalize("NFC", one), normalize("NFC", other)
    if one == other:
        return "how accents are encoded"
    unseen = one.translate(_UNSEEN) == other.translate(_UNSEEN)
    return "signs that are not seen" if unseen else "case or spaces"
