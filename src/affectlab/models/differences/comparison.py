"""Comparing pairs of picture files: each picture is worked on once, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Image
from affectlab.models.differences.metric import (
    AsGiven,
    DifferenceMetric,
    FeatureMetric,
    Missing,
    PairPicture,
    PreparedMetric,
    Progress,
    checked_values,
    prepared_by,
)
from affectlab.models.differences.registry import load_difference_metric

__all__ = [
    "Work",
    "difference",
    "judged_by",
]

MEMORY = 1 << 30
"""Bytes of what is made of pictures that are kept at a time."""
_PAIRS = 1024
"""Pairs of rows of numbers that are compared at a time."""
_WEIGHT = 3 * (1 << 26)
"""Bytes of pictures that are open at a time, and of what is made of those of a few pairs."""
_MOST_PAIRS = 64
"""Pairs of pictures that are compared at a time."""


Refusal = Callable[[DifferenceMetric, int, Missing], None]
"""Takes a metric, the place of a pair, and why it has no value; may raise."""


@dataclass(frozen=True, eq=False)
class Work:
    """Pairs of pictures."""

    pictures: tuple[PairPicture, ...]
    """Each content once."""
    first: NDArray[np.int64]
    """Place of the first picture of each pair, shape (n,)."""
    second: NDArray[np.int64]
    """Place of the second."""
    cache: Path | None
    progress: Progress
    refuse: Refusal | None = None
    """Is called with each value that is :class:`Missing` as soon as it is known."""

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.first)


def judged_by(metrics: Sequence[DifferenceMetric], work: Work) -> list[list[float | Missing]]:
    """Compare all pairs by all metrics; a list for each metric, in the order of the pairs."""
    ready = [one if isinstance(one, PreparedMetric) else AsGiven(one) for one in metrics]
    sources = [source for one in ready if (source := _source(one))]
    if work.cache is None and len(set(sources)) < len(sources):
        # Two metrics of the same embeddings, or readings of faces, make them once.
        with TemporaryDirectory(prefix="affectlab-") as folder:
            return _judged(ready, replace(work, cache=Path(folder)))
    return _judged(ready, work)


def _source(metric: PreparedMetric) -> str:
    """Name what makes the numbers of pictures that a metric compares, where others may share it."""
    encoder = getattr(metric, "encoder", None)
    if hasattr(metric, "image_encoder"):
        encoder = metric.image_encoder()
    maker = encoder if encoder is not None else getattr(metric, "_landmarker", None)
    return str(getattr(maker, "fingerprint", ""))


def _judged(ready: Sequence[PreparedMetric], work: Work) -> list[list[float | Missing]]:
    found: list[list[float | Missing]] = [[] for _ in ready]
    together: list[int] = []
    for place, metric in enumerate(ready):
        rows = _rows(metric, work)
        if rows is None:
            together.append(place)
        else:
            found[place] = _of_rows(metric, rows, work)
    if together:
        values = _of_pictures([ready[place] for place in together], work)
        for place, column in zip(together, values, strict=True):
            found[place] = column
    return found


def _rows(metric: PreparedMetric, work: Work) -> list[Any] | None:
    """Make the numbers of all pictures, for metrics that make few of each."""
    if isinstance(metric, FeatureMetric):
        made = metric.features_of(work.pictures, work.cache, work.progress)
    elif hasattr(metric, "image_encoder"):
        from affectlab.models.differences.deep import embedded_features

        made = embedded_features(metric.image_encoder(), work.pictures, work.cache, work.progress)
    else:
        return None
    return [made[picture.sha256] for picture in work.pictures]


def _of_rows(metric: PreparedMetric, rows: list[Any], work: Work) -> list[float | Missing]:
    found: list[float | Missing] = []
    for start in range(0, len(work), _PAIRS):
        first, second = (
            [rows[place] for place in side[start : start + _PAIRS].tolist()]
            for side in (work.first, work.second)
        )
        values = metric.of_prepared(first, second)
        _tell(work, metric, range(start, start + len(values)), values)
        found += values
        work.progress(f"pairs by {metric.name}", len(found), len(work))
    return found


def _tell(
    work: Work, metric: PreparedMetric, pairs: Iterable[int], values: Sequence[float | Missing]
) -> None:
    if work.refuse is not None:
        for pair, value in zip(pairs, values, strict=True):
            if isinstance(value, Missing):
                work.refuse(metric, pair, value)


def _of_pictures(metrics: Sequence[PreparedMetric], work: Work) -> list[list[float | Missing]]:
    """Compare pairs by metrics that make much of a picture, each picture opened for all of them."""
    kept = _Recent(work.pictures, metrics)
    found: list[list[float | Missing]] = [[Missing("")] * len(work) for _ in metrics]
    order = _in_order(work, kept)
    done = 0
    while done < len(order):
        some = order[done : done + _MOST_PAIRS]
        sides_of = list(zip(work.first[some].tolist(), work.second[some].tolist(), strict=True))
        made, n = kept.take(sides_of)
        pairs = some[:n].tolist()
        for place, metric in enumerate(metrics):
            sides = ([made[pair[side]][place] for pair in sides_of[:n]] for side in (0, 1))
            values = metric.of_prepared(*sides)
            _tell(work, metric, pairs, values)
            for pair, value in zip(pairs, values, strict=True):
                found[place][pair] = value
        done += n
        work.progress(f"pairs by {', '.join(one.name for one in metrics)}", done, len(work))
    return found


class _Recent:
    """What metrics made of the pictures that were needed last."""

    def __init__(self, pictures: Sequence[PairPicture], metrics: Sequence[PreparedMetric]) -> None:
        self._pictures = pictures
        self._metrics = metrics
        self._held: OrderedDict[int, tuple[list[Any], int]] = OrderedDict()
        self._bytes = 0
        self.largest = 1
        """Bytes that one picture has taken at most, open or in what was made of it."""
        self._growth = 1.0
        """Bytes that were made of a picture at most, over those of the picture."""

    def take(self, pairs: Sequence[tuple[int, int]]) -> tuple[dict[int, list[Any]], int]:
        """Give what was made of the pictures of the first pairs, and of how many pairs.

        At least of one; of no more than fit into the memory for a few pairs.
        """
        found: dict[int, list[Any]] = {}
        waiting: dict[int, Any] = {}
        spent, waits, n = 0, 0, 0
        for pair in pairs:
            if n and spent + waits > _WEIGHT:
                break
            for place in pair:
                held = self._held.get(place)
                if place in found or place in waiting:
                    continue
                if held is not None:
                    self._held.move_to_end(place)
                    found[place] = held[0]
                    spent += held[1]
                    continue
                waiting[place] = self._pictures[place].open()
                waits += self._weighed(waiting[place])
                if waits > _WEIGHT:
                    spent += self._make(waiting, found)
                    waiting, waits = {}, 0
            n += 1
        self._make(waiting, found)
        while self._bytes > MEMORY and len(self._held) > 1:
            _, (_, size) = self._held.popitem(last=False)
            self._bytes -= size
        return found, n

    def _weighed(self, content: Any) -> int:
        """Bytes of an open picture, or what the metrics may make of it where that is more."""
        if isinstance(content, Missing):
            return 64
        size = _size(content)
        self.largest = max(self.largest, size)
        return max(size, int(size * self._growth))

    def _make(self, contents: dict[int, Any], found: dict[int, list[Any]]) -> int:
        """Let the metrics work on open pictures; give the bytes of what they made."""
        whole = {str(at): one for at, one in contents.items() if not isinstance(one, Missing)}
        parts = [prepared_by(metric, whole) for metric in self._metrics]
        total = 0
        for at, content in contents.items():
            key = str(at)
            made = [part.get(key, content) if key in whole else content for part in parts]
            size = sum(map(_size, made))
            if key in whole:
                self._growth = max(self._growth, size / max(_size(content), 1))
            found[at] = made
            self._held[at] = (made, size)
            self._bytes += size
            self.largest = max(self.largest, size)
            total += size
        return total


def _in_order(work: Work, kept: _Recent) -> NDArray[np.int64]:
    """Give pairs in an order in which pictures are seldom made anew.

    Pictures are counted in the order of the pairs. Where what is made of all of them does not fit
    into the memory, they are cut into tiles of half of it; all pairs of two tiles come together.
    How much is made of a picture is seen on those of the first pair.
    """
    if not len(work):
        return np.empty(0, dtype=np.int64)
    kept.take([(int(work.first[0]), int(work.second[0]))])
    tile = max(1, MEMORY // (2 * kept.largest))
    low, high = np.minimum(work.first, work.second), np.maximum(work.first, work.second)
    return np.lexsort((np.arange(len(work)), high // tile, low // tile))


def _size(made: Any) -> int:
    """Bytes of what was made of a picture, or of the picture."""
    held = getattr(made, "nbytes", None)
    if isinstance(held, int):
        return held
    size = getattr(made, "size", None)
    return 3 * size[0] * size[1] if isinstance(size, tuple) else 64


# How different two pictures are.


def difference(
    image_a: str | Path | bytes | Image.Image,
    image_b: str | Path | bytes | Image.Image,
    metric: str | DifferenceMetric | Callable[[Any, Any], Any] = "ssim",
    **settings: Any,
) -> float:
    """Say how different two pictures are.

    Parameters
    ----------
    image_a, image_b
        Files, their bytes, or pictures of Pillow.
    metric, **settings
        As for :func:`load_difference_metric`. For many pairs, load the metric once and call its
        ``differences``, or use :func:`rate_differences`.

    Returns
    -------
    float
        In the unit of the metric; 0 for the same picture, and higher for a larger difference,
        unless the metric says otherwise (``higher_is_more_different``). A learned linear metric
        gives two identical faces its offset, not 0.

    Raises
    ------
    InputError
        When a picture cannot be read, the metric cannot be loaded, or it can say nothing about the
        two.

    Examples
    --------
    >>> from affectlab.simulate import draw_face
    >>> calm, happy = (draw_face("joy", intensity, size=64) for intensity in (0, 1))
    >>> difference(calm, calm), difference(calm, happy) > 0
    (0.0, True)
    """
    from affectlab.models.images import load_image

    loaded = load_difference_metric(metric, **settings)
    first, second = load_image(image_a), load_image(image_b)
    if isinstance(loaded, PreparedMetric):
        (found,) = loaded.judge([first], [second])
        if isinstance(found, Missing):
            raise InputError(f"metric {loaded.name!r} says nothing of the two: {found.reason}")
        return found
    value = float(checked_values(loaded.differences([first], [second]), 1, loaded.name)[0])
    if value != value:
        raise InputError(f"metric {loaded.name!r} says nothing of the two pictures")
    return value
