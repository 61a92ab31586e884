"""What heads see in faces that show nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from affectlab._words import plural
from affectlab.errors import InputError

__all__ = ["Neutral"]


@dataclass(frozen=True)
class Neutral:
    """What is subtracted from each head.

    Raises
    ------
    InputError
        When a number is not finite.
    """

    offsets: tuple[float, ...]
    """Mean over neutral stimuli of each head, in points of the scale 0 to 7."""
    n: int
    """Number of neutral stimuli."""
    source: str = ""

    def __post_init__(self) -> None:
        if not np.isfinite(self.offsets).all() or self.n < 1:
            raise InputError("neutral: expected finite offsets, and one stimulus or more")

    @property
    def said(self) -> str:
        """What is done, in words."""
        where = f" of {self.source}" if self.source else ""
        stimuli = plural(self.n, "neutral stimulus", "neutral stimuli")
        return f"less the mean of each head over {stimuli}{where}"

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return {"offsets": list(self.offsets), "n": self.n, "source": self.source}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Neutral:
        """Read what :meth:`to_dict` gives."""
        offsets = tuple(map(float, given["offsets"]))
        return cls(offsets, int(given["n"]), str(given["source"]))
