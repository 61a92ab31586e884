"""One filmed transition, wherever its frames come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PIL import Image

from affectlab.core.errors import InputError, check_once
from affectlab.stimuli.frames.pictures import UnusableError, View

__all__ = ["Found", "FrameSource", "LeaveOneOut", "Transition", "kept_at_once"]

_MOST_KEPT = 200_000_000
"""Pixels of pictures that are in memory at one time, four bytes each: 0.8 GB."""


class FrameSource(Protocol):
    """Where the frames of a transition come from: picture files, or a video."""

    def __len__(self) -> int:
        """Count the frames, as filmed."""
        ...

    @property
    def fps(self) -> float | None:
        """Frames per second, on average; None where nobody said."""
        ...

    @property
    def times_ms(self) -> Sequence[float | None]:
        """Time of each frame after the first one, in milliseconds."""
        ...

    def images(self, indices: Sequence[int]) -> Iterator[Image.Image]:
        """Open frames: upright, RGB; `indices` count from 0 and ascend."""
        ...

    def copyable(self, index: int) -> Path | None:
        """File that can be handed on as it is; None where the frame has to be written anew."""
        ...

    def origin(self, index: int) -> tuple[str, int]:
        """Name the file that a frame comes from, and its number there, counted from 0."""
        ...

    def fingerprint(self) -> str:
        """Tell whether the files are still the same, without reading all of them."""
        ...


@dataclass(frozen=True)
class Transition:
    """A filmed transition between the peak of an expression and neutral, either way round.

    Frames keep the order in which they were filmed; which of them are used, and from which end,
    is for the sampling to say.
    """

    name: str
    """Name of the sequence: of its folder below the source, or of its video."""
    actor: str
    expression: str
    frames: FrameSource

    def images(self, indices: Sequence[int], view: View) -> Iterator[Image.Image]:
        """Open frames, cut out and made smaller as `view` says.

        Parameters
        ----------
        indices
            Numbers of frames as filmed, from 0, in any order.

        Raises
        ------
        UnusableError
            When a frame cannot be read, or frames differ in size.
        """
        wanted = sorted(set(indices))
        if list(indices) != wanted:
            opened = dict(zip(wanted, kept_at_once(self.images(wanted, view)), strict=True))
            yield from (opened[index] for index in indices)
            return
        size = None
        for index, image in zip(wanted, self.frames.images(wanted), strict=True):
            if size is not None and image.size != size:
                raise UnusableError(
                    f"frame {index} has {image.width} x {image.height} pixels, frames before it "
                    f"{size[0]} x {size[1]}; expected one size"
                )
            size = image.size
            yield view.of(image)


def kept_at_once(images: Iterable[Image.Image]) -> Iterator[Image.Image]:
    """Pass on pictures that stay in memory together.

    Raises
    ------
    UnusableError
        When they are too large for that.
    """
    pixels = 0
    for image in images:
        pixels += image.width * image.height
        if pixels > _MOST_KEPT:
            raise UnusableError(
                f"pictures of {image.width} x {image.height} pixels are too large to keep several "
                f"in memory; expected at most {_MOST_KEPT:,} pixels together, so make them smaller"
            )
        yield image


@dataclass(frozen=True)
class LeaveOneOut:
    """A transition that is not used, and why."""

    name: str
    actor: str
    expression: str
    reason: str


@dataclass(frozen=True)
class Found:
    """Transitions of a source, and those that were seen to be of no use."""

    transitions: tuple[Transition, ...]
    left_out: tuple[LeaveOneOut, ...] = ()

    def __post_init__(self) -> None:
        first: dict[tuple[str, str], str] = {}
        for one in self.transitions:
            other = first.setdefault((one.actor, one.expression), one.name)
            if other != one.name:
                raise InputError(
                    f"{other!r} and {one.name!r} are both actor {one.actor!r}, expression "
                    f"{one.expression!r}; expected one transition of each expression of an actor"
                )
        check_once("transition", (one.name for one in self.transitions))

    def __len__(self) -> int:
        return len(self.transitions)
