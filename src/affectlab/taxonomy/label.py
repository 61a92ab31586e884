"""One label of a taxonomy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from affectlab.core.errors import InputError

Polarity = Literal["positive", "negative", "ambiguous", "neutral"]
POLARITIES: tuple[str, ...] = get_args(Polarity)
"""The polarities a label may have; a label may also have none."""


@dataclass(frozen=True)
class Label:
    """One label: its name, what it means, and what is known of it.

    Raises
    ------
    InputError
        When the name is empty, the polarity is not known, or the range is not two rising numbers.

    Examples
    --------
    >>> Label("joy", polarity="positive", aliases=("happiness",)).aliases
    ('happiness',)
    """

    name: str
    definition: str = ""
    """What the label means, shown to raters and put in prompts."""
    polarity: Polarity | None = None
    aliases: tuple[str, ...] = ()
    """Other names that mean the same label when data are read."""
    emoji: str = ""
    words: tuple[str, ...] = ()
    """Descriptor words: finer shades, or intensities from weak to strong."""
    opposite: str | None = None
    """The label on the other side of the wheel."""
    groups: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The group this label belongs to, per level of the taxonomy."""
    ends: tuple[str, str] | None = None
    """For a dimension: the words at its low and its high end."""
    limits: tuple[float, float] | None = None
    """For a dimension: its lowest and its highest value."""

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip():
            raise InputError(
                f"label {self.name!r}: expected a name without spaces at its ends, not empty"
            )
        if self.polarity is not None and self.polarity not in POLARITIES:
            raise InputError(
                f"label {self.name!r}: polarity {self.polarity!r} is not known; "
                f"expected one of: {', '.join(POLARITIES)}, or no polarity at all"
            )
        for kind, texts in (("alias", self.aliases), ("word", self.words)):
            for text in texts:
                if not text.strip():
                    raise InputError(f"label {self.name!r}: an {kind} is empty; expected text")
        if self.limits is not None and not -math.inf < self.limits[0] < self.limits[1] < math.inf:
            raise InputError(
                f"label {self.name!r}: limits {list(self.limits)} must be finite and rise "
                "from low to high"
            )
