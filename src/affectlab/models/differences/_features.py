"""Metrics that make a few numbers of each picture, which are kept for all pairs that it is in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.errors import InputError
from affectlab.models.differences._metric import Missing
from affectlab.models.differences._prepared import PreparedMetric

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["FeatureMetric", "PairPicture", "Progress", "opened"]

Progress = Callable[[str, int, int], None]
"""Takes a text, how much is done and the total."""


@dataclass(frozen=True)
class PairPicture:
    """A picture that is in pairs."""

    path: Path
    names: tuple[str, ...]
    """What the pairs call it; several where files have the same content."""

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes of the file."""
        from affectlab.models.images import ImageFile

        return ImageFile(self.names[0], self.path).sha256

    def open(self) -> Image.Image | Missing:
        """Open the picture; :class:`Missing` where it cannot be read."""
        from affectlab.models.images import load_image

        try:
            return load_image(self.path)
        except InputError as problem:
            return Missing(str(problem))


class FeatureMetric(PreparedMetric):
    """A metric that compares rows of numbers, few enough to stay in memory for all pictures."""

    @abstractmethod
    def features_of(
        self, pictures: Sequence[PairPicture], cache: Path | None, progress: Progress
    ) -> dict[str, Any]:
        """Make the numbers of pictures, each once.

        Parameters
        ----------
        pictures
            Each content once.
        cache
            Folder that keeps what was made from run to run; None: nothing is kept.

        Returns
        -------
        dict
            By the hash of a picture, what :meth:`prepare` makes, or :class:`Missing`.
        """


def opened(pictures: Sequence[PairPicture], n: int) -> Iterator[list[tuple[PairPicture, Any]]]:
    """Open `n` pictures at a time, each with what came of it."""
    for start in range(0, len(pictures), n):
        yield [(one, one.open()) for one in pictures[start : start + n]]
