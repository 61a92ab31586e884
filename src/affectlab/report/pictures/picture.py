"""A picture that is drawn when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from affectlab.core.result import Result
from affectlab.report.drawing import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Picture", "pictures_of"]


@dataclass(frozen=True)
class Picture:
    """What is drawn of a result."""

    name: str
    """Of its files, without suffix."""
    title: str
    description: str
    """For people who cannot see it."""
    draw: Callable[[], Figure]


def pictures_of(result: Result) -> tuple[Picture, ...]:
    """Give the figures that a result declares, drawn when they are asked for."""
    return tuple(
        Picture(
            one.name,
            one.title,
            one.description or " ".join(result.sentences),
            partial(figure_of, one, result.table(one.of)),
        )
        for one in result.figures
    )
