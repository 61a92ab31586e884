"""The scale of one answer, as a short text that readers, pages and prompts all understand."""

from __future__ import annotations

import math
import re
from numbers import Real
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, model_validator

_NUMBER = r"([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_RANGE = re.compile(
    rf"{_NUMBER}\s*(?:-|to|\.\.)\s*{_NUMBER}(?:\s*,?\s*step\s+{_NUMBER})?(?:\s+(ordinal|interval))?"
)
_EXPECTED = (
    "expected 'binary', 'text', 'nominal:a,b,c', or a range such as '0-7' or '0-100 interval'"
)


class ScaleSpec(BaseModel):
    """Values that an answer may take.

    Written as a text: ``"binary"``, ``"0-7"`` (ordinal, step 1), ``"0-3 step 0.5"``,
    ``"0-100 interval"`` (any number between), ``"nominal:left,right"``, ``"text"``.

    Examples
    --------
    >>> scale = ScaleSpec.model_validate("0-7")
    >>> scale.allows(3), scale.allows(7.5), str(scale)
    (True, False, 'a whole number from 0 to 7')
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    kind: Literal["binary", "nominal", "ordinal", "interval", "text"]
    low: float | None = None
    high: float | None = None
    step: float | None = None
    categories: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any) -> Any:
        return _parsed(data) if isinstance(data, str) else data

    @model_validator(mode="after")
    def _fits(self) -> ScaleSpec:
        if self.kind in ("ordinal", "interval"):
            if self.low is None or self.high is None or not self.low < self.high:
                raise ValueError(f"a {self.kind} scale needs a low end below its high end")
            if self.kind == "ordinal" and self.step is None:
                raise ValueError("an ordinal scale needs a step")
            if self.step is not None:
                steps = (self.high - self.low) / self.step if self.step > 0 else math.nan
                if not abs(steps - round(steps)) < 1e-9:
                    raise ValueError(f"step {self.step:g} does not divide the scale evenly")
        elif self.kind == "nominal":
            if len(self.categories) < 2 or len(set(self.categories)) < len(self.categories):
                raise ValueError("a nominal scale needs two or more different categories")
            if any(not name or name != name.strip() or "," in name for name in self.categories):
                raise ValueError("a category is empty, holds a comma or has spaces at its ends")
        return self

    @property
    def spec(self) -> str:
        """The scale as the text it can be read from again."""
        if self.kind == "nominal":
            return "nominal:" + ",".join(self.categories)
        if self.kind in ("binary", "text"):
            return self.kind
        step = "" if self.step in (None, 1) and self.kind == "ordinal" else self.step
        ending = f" step {step:.15g}" if step else ""
        kind = " interval" if self.kind == "interval" else ""
        return f"{self.low:.15g}-{self.high:.15g}{ending}{kind}"

    def allows(self, value: object) -> bool:
        """Whether `value` is on the scale; a category or a text must be a string."""
        if self.kind == "text":
            return isinstance(value, str)
        if self.kind == "nominal":
            return isinstance(value, str) and value in self.categories
        if self.kind == "binary":
            return isinstance(value, Real | np.bool_) and value in (0, 1)
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        low, high = float(self.low or 0), float(self.high or 0)
        if not low <= number <= high:
            return False
        if self.step is None:
            return True
        steps = (number - low) / self.step
        return abs(steps - round(steps)) < 1e-9

    def __str__(self) -> str:
        if self.kind == "binary":
            return "0 or 1"
        if self.kind == "nominal":
            return "one of: " + ", ".join(self.categories)
        if self.kind == "text":
            return "text"
        kind = (
            "a whole number" if self.step == 1 and float(self.low or 0).is_integer() else "a number"
        )
        step = f" in steps of {self.step:g}" if self.step not in (None, 1) else ""
        return f"{kind} from {self.low:g} to {self.high:g}{step}"


def _parsed(text: str) -> dict[str, Any]:
    plain = text.strip()
    if plain in ("binary", "text"):
        return {"kind": plain}
    if plain.startswith("nominal:"):
        categories = plain.removeprefix("nominal:").split(",")
        return {"kind": "nominal", "categories": tuple(name.strip() for name in categories)}
    match = _RANGE.fullmatch(plain)
    if match is None:
        raise ValueError(_EXPECTED)
    low, high, step, kind = match.groups()
    if kind is None:
        # A range between fractions has no natural step of 1.
        whole = float(low).is_integer() and float(high).is_integer()
        kind = "ordinal" if whole or step is not None else "interval"
    default = None if kind == "interval" else 1.0
    return {
        "kind": kind,
        "low": float(low),
        "high": float(high),
        "step": default if step is None else float(step),
    }
