"""What embedding stimuli did: how much was new, and what could not be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["EmbedRun", "SetAside", "set_aside_frame"]


@dataclass(frozen=True)
class SetAside:
    """A stimulus that has no row."""

    stimulus: str
    file: str
    reason: str


@dataclass(frozen=True)
class EmbedRun:
    """What :func:`embed` did."""

    n_items: int
    """Stimuli that were given."""
    n_encoded: int
    """Contents that the encoder was given."""
    n_reused: int
    """Contents whose rows were in the cache, or in the folder itself."""
    n_repeated: int
    """Stimuli with the content of an earlier one, whose row they share."""
    seconds: float
    """Time that encoding took, reading of files included."""
    batch: int | None
    """Inputs at a time in the end, at most all there were; None where nothing was encoded."""
    set_aside: tuple[SetAside, ...] = ()
    """Stimuli that could not be used, in their order."""
    notes: tuple[str, ...] = ()
    """What else is worth knowing."""

    @property
    def per_second(self) -> float:
        """Contents encoded per second; nan where there were none."""
        return self.n_encoded / self.seconds if self.n_encoded and self.seconds else float("nan")


def set_aside_frame(entries: Sequence[SetAside]) -> pl.DataFrame:
    """Give stimuli without a row as a table: ``stimulus``, ``file``, ``reason``."""
    import polars as pl

    return pl.DataFrame(
        {
            name: [getattr(entry, name) for entry in entries]
            for name in ("stimulus", "file", "reason")
        },
        schema=dict.fromkeys(("stimulus", "file", "reason"), pl.String),
    )
