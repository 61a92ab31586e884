"""State as plain data for JSON, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from affectlab.analysis.jnd.psychometric import number_of
from affectlab.core.errors import InputError


def plain(value: float) -> float | None:
    """Write infinity and ``nan``, which JSON does not have, as nothing."""
    return float(value) if math.isfinite(value) else None


def plain_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """Write the fields of a result for JSON, with lists for tuples."""
    return {
        name: plain(value)
        if isinstance(value, float)
        else list(value)
        if isinstance(value, tuple)
        else value
        for name, value in values.items()
    }


def opened(data: object, schema: str, names: Iterable[str]) -> Mapping[str, Any]:
    """Check that stored data are of one kind and hold exactly these fields."""
    if not isinstance(data, Mapping) or data.get("schema") != schema:
        found = data.get("schema") if isinstance(data, Mapping) else data
        raise InputError(f"stored state has schema {found!r}; expected {schema!r}")
    expected = {"schema", *names}
    wrong = sorted(expected.symmetric_difference(data))
    if wrong:
        problem = "lacks" if wrong[0] in expected else "holds unknown"
        raise InputError(f"stored state {problem} {wrong[0]!r}; expected what to_dict gave")
    return data


def floats_of(name: str, given: object, missing: float) -> tuple[float, ...]:
    """Read a list of finite numbers; ``None`` stands for `missing`."""
    return tuple(
        missing if value is None else number_of(f"stored {name}: value {place}", value)
        for place, value in enumerate(_list(name, given), start=1)
    )


def flags_of(name: str, given: object) -> tuple[bool, ...]:
    """Read a list of true and false."""
    for value in _list(name, given):
        if not isinstance(value, bool):
            raise InputError(f"stored {name} hold {value!r}; expected true and false")
    return tuple(_list(name, given))


def _list(name: str, given: object) -> Sequence[Any]:
    if not isinstance(given, (list, tuple)):
        raise InputError(f"stored {name} is {given!r}; expected a list")
    return given
