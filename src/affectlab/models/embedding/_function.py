"""Functions as encoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import InputError
from affectlab.models.embedding._card import PROBE
from affectlab.models.embedding._encoder import DEFAULT_BATCH, Kind, digest

__all__ = ["FunctionEncoder", "of_function"]

_TEXTS = ("so happy for you", "this is not what we agreed on", "…")
_SIDE = 96
_PROBED = 16
"""Numbers of a row that are remembered."""


@dataclass(frozen=True)
class FunctionEncoder:
    """An encoder made of a function; see :func:`load_encoder`."""

    name: str
    kind: Kind
    width: int
    fingerprint: str
    function: Callable[[Any], Any] = field(repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict)
    batch: int = DEFAULT_BATCH

    def encode(self, batch: Sequence[Any]) -> NDArray[np.float32]:
        """Give one row per input, shape (n, width)."""
        return np.asarray(self.function(batch), dtype=np.float32)


def of_function(function: Callable[[Any], Any], given: Mapping[str, Any]) -> FunctionEncoder:
    """Make an encoder of a function from a list of images, or texts, to rows of numbers.

    Its width is seen from what it gives for fixed inputs; so is whether it is still the same, where
    no version says so.

    Parameters
    ----------
    given
        `name`, `kind`, `version`, `batch`; each by default the attribute of the function.

    Raises
    ------
    InputError
        When it fails on these inputs, or gives no rows of numbers.
    """
    name = str(given.get("name") or getattr(function, "name", "") or _name_of(function))
    where = f"encoder {name!r}"
    for key in given:
        if key not in ("name", "kind", "version", "batch"):
            raise InputError(
                f"{where}: setting {key!r}; a function takes 'name', 'kind', 'version' and 'batch'"
            )
    kind = given.get("kind") or getattr(function, "kind", "image")
    if kind not in ("image", "text"):
        raise InputError(f"{where}: kind {kind!r}; expected 'image' or 'text'")
    version = str(given.get("version") or getattr(function, "version", ""))
    batch = given.get("batch") or getattr(function, "batch", DEFAULT_BATCH)
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise InputError(f"{where}: batch {batch!r}; expected a whole number from 1 on")
    probes: Any = list(_TEXTS) if kind == "text" else _pictures()
    rows = _tried(function, probes, where)
    settings: dict[str, Any]
    if version:
        # Who gives a version says by it what the numbers are; their last digits do not matter.
        seen, settings = b"", {"version": version}
    else:
        seen = (np.round(rows.astype(np.float64), 4) + 0.0).tobytes()
        settings = {PROBE: _probe(rows)}
    return FunctionEncoder(
        name,
        kind,
        int(rows.shape[1]),
        digest("function", name, kind, version, str(rows.shape[1]), seen),
        function,
        settings,
        batch,
    )


def _tried(function: Callable[[Any], Any], probes: Sequence[Any], where: str) -> NDArray[Any]:
    try:
        rows = np.asarray(function(probes), dtype=np.float32)
    # The function is anybody's code.
    except Exception as error:
        raise InputError(
            f"{where} fails on {len(probes)} inputs ({type(error).__name__}: {error})"
        ) from error
    if rows.ndim != 2 or len(rows) != len(probes) or rows.shape[1] < 1:
        raise InputError(
            f"{where} gave an array of shape {rows.shape} for {len(probes)} inputs; expected "
            f"({len(probes)}, width)"
        )
    return rows


def _probe(rows: NDArray[np.float32]) -> list[float]:
    """Choose some numbers of each row, with six digits."""
    columns = np.unique(np.linspace(0, rows.shape[1] - 1, _PROBED).astype(int))
    return [float(f"{value:.6g}") for value in rows[:, columns].ravel()]


def _name_of(function: object) -> str:
    own = getattr(function, "__qualname__", None)
    return str(own or type(function).__qualname__)


def _pictures() -> list[Any]:
    """Three pictures that are always the same: slopes of colour, rings, and grey."""
    from PIL import Image

    row, column = np.mgrid[0:_SIDE, 0:_SIDE]
    slopes = np.stack([row * 2, column * 2, 255 - row - column], axis=-1)
    rings = ((row - 48) ** 2 + (column - 40) ** 2) // 20 % 256
    found = [slopes, np.stack([rings, rings // 2, 255 - rings], axis=-1)]
    return [
        *(Image.fromarray(part.astype(np.uint8)) for part in found),
        Image.new("RGB", (_SIDE, _SIDE), (128, 128, 128)),
    ]
