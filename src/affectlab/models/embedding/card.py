"""What a folder of embeddings, and a model made of them, remember of their encoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np

from affectlab.core.errors import InputError
from affectlab.models.embedding.encoder import Encoder, Kind

__all__ = ["EncoderCard"]

PROBE = "probe"
"""Setting that holds some of what a function gave for fixed inputs."""
_FIELDS = {"name": str, "kind": str, "width": int, "fingerprint": str, "settings": dict}


@dataclass(frozen=True)
class EncoderCard:
    """An encoder by name, size and fingerprint, without its weights.

    Examples
    --------
    >>> card = EncoderCard("faces", "image", 512, "0ab1")
    >>> card == EncoderCard.from_dict(card.to_dict())
    True
    """

    name: str
    """What it is called, such as ``faces``."""
    kind: Kind
    """What it takes: ``"image"`` or ``"text"``."""
    width: int
    """Numbers per input."""
    fingerprint: str
    """Hash of all that decides on the numbers."""
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What was chosen, as JSON gives it back."""

    @classmethod
    def of(cls, encoder: Encoder | EncoderCard) -> EncoderCard:
        """Describe an encoder; a card stays as it is."""
        if isinstance(encoder, EncoderCard):
            return encoder
        return cls(
            encoder.name,
            encoder.kind,
            encoder.width,
            encoder.fingerprint,
            _plain(encoder.settings),
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, which :meth:`from_dict` reads."""
        return {**vars(self), "settings": dict(self.settings)}

    @classmethod
    def from_dict(cls, values: Any, where: str = "encoder card") -> EncoderCard:
        """Read what :meth:`to_dict` gave; `where` names its place in errors.

        Raises
        ------
        InputError
            When something is missing or is of another type.
        """
        for name, kind in _FIELDS.items():
            held = values.get(name) if isinstance(values, dict) else None
            if not isinstance(held, kind) or isinstance(held, bool):
                raise InputError(f"{where}: {name} is {held!r}; expected what affectlab wrote")
        if values["kind"] not in get_args(Kind) or values["width"] < 1:
            raise InputError(
                f"{where}: kind {values['kind']!r} of width {values['width']}; expected 'image' or "
                "'text', and a width from 1 on"
            )
        return cls(**{name: values[name] for name in _FIELDS})

    def same(self, other: Encoder | EncoderCard) -> bool:
        """Tell whether another encoder gives the same numbers.

        A card without a fingerprint, of an encoder that nobody has hashed, goes by its settings.
        Those of a function without a version are the same when they are near: the last digits
        differ from machine to machine, and with them the fingerprint.
        """
        mine = (self.kind, self.width, self.fingerprint)
        if mine == (other.kind, other.width, other.fingerprint):
            return True
        if not self.fingerprint and mine[:2] == (other.kind, other.width):
            return all(other.settings.get(key) == value for key, value in self.settings.items())
        near = _near(self.settings.get(PROBE), other.settings.get(PROBE))
        return near and (self.name, *mine[:2]) == (other.name, other.kind, other.width)

    def __str__(self) -> str:
        """Name the encoder for people."""
        return f"{self.name!r} ({self.kind}, width {self.width}, {self.fingerprint[:12]})"


def _near(mine: Any, other: Any) -> bool:
    """Compare what two functions gave for the same inputs."""
    if not isinstance(mine, list) or not isinstance(other, list) or len(mine) != len(other):
        return False
    try:
        a, b = np.array(mine, dtype=np.float64), np.array(other, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return bool((np.abs(a - b) <= 1e-3 * max(np.abs(a).max(initial=0), 1e-30)).all())


def _plain(value: Any) -> Any:
    """Bring settings into what JSON gives back unchanged."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value) if isinstance(value, Path) else repr(value)
