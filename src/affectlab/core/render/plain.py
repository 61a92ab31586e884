"""Results as plain values, as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """Bring a result into what JSON knows; ``nan`` and infinities become null."""
    from dataclasses import fields, is_dataclass

    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, list | tuple | set):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str | int | bool | type(None)):
        return value
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "to_dicts"):
        return plain(value.to_dicts())
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)
