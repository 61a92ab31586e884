"""State as plain data for JSON, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, ClassVar

from affectlab.analysis.jnd.psychometric import number_of
from affectlab.core.errors import InputError
from affectlab.core.facts import Reason


class PlainState:
    """A data class whose fields can be written for JSON."""

    _schema: ClassVar[str] = ""
    """What kind of state this is; empty for what is not read back."""

    def to_dict(self) -> dict[str, Any]:
        """Give all fields as plain data for JSON, with ``None`` for infinity and ``nan``."""
        names = (one.name for one in fields(self))  # type: ignore[arg-type]
        values = {name: _plain(getattr(self, name)) for name in names}
        return {"schema": self._schema, **values} if self._schema else values


def _plain(value: Any) -> Any:
    if isinstance(value, PlainState):
        return value.to_dict()
    if isinstance(value, Reason):
        return asdict(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
