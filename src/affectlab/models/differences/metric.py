"""What a difference metric is, and checks of what one gives."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Image

__all__ = [
    "AsGiven",
    "DifferenceMetric",
    "FeatureMetric",
    "Missing",
    "PairPicture",
    "PreparedMetric",
    "Progress",
    "check_file",
    "check_metric",
    "checked_values",
    "direction_of",
    "opened",
    "prepared_by",
]

_PARTS = "name, version, settings, higher_is_more_different and differences"


@runtime_checkable
class DifferenceMetric(Protocol):
    """Says how different the expressions in two pictures are."""

    @property
    def name(self) -> str:
        """What it is called, such as ``ssim`` or ``deep:faces L1``."""
        ...

    @property
    def version(self) -> str:
        """What decides on its numbers: a version, or the hash of its weights."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was chosen, fit for JSON."""
        ...

    @property
    def higher_is_more_different(self) -> bool:
        """Whether its numbers rise with the difference; those of a similarity fall."""
        ...

    def differences(self, first: Sequence[Image.Image], second: Sequence[Image.Image]) -> Floats:
        """Compare each picture with the one at the same place; shape (n,).

        ``nan`` where it can say nothing, as about a picture in which it finds no face.
        """
        ...


@dataclass(frozen=True)
class Missing:
    """Stands where nothing can be said about a picture, or about a pair."""

    reason: str
    outcome: str = "rejected"
    """``empty`` where nothing is to be compared, such as no face; ``rejected`` where a picture is
    of no use."""


def check_file(given: Any, setting: str, metric: str) -> Path:
    """Check a setting that names a file.

    Raises
    ------
    InputError
        When it is no text.

    Examples
    --------
    >>> check_file(5, "trunk", "lpips")
    Traceback (most recent call last):
    affectlab.InputError: metric 'lpips': trunk = 5: expected the path of a file
    """
    if not isinstance(given, str | os.PathLike) or isinstance(os.fspath(given), bytes):
        raise InputError(f"metric {metric!r}: {setting} = {given!r}: expected the path of a file")
    return Path(given)


def check_metric(found: Any, where: str) -> DifferenceMetric:
    """Check that something is a difference metric; `where` names it in errors.

    Raises
    ------
    InputError
        When an attribute is missing or is of another kind.

    Examples
    --------
    >>> check_metric(3, "mine")
    Traceback (most recent call last):
    affectlab.InputError: mine has no name; expected a metric with name, version, settings,
    higher_is_more_different and differences
    """
    for name in ("name", "version", "settings", "higher_is_more_different", "differences"):
        if not hasattr(found, name):
            raise InputError(f"{where} has no {name}; expected a metric with {_PARTS}")
    if not isinstance(found.name, str) or not found.name:
        raise InputError(f"{where}: name {found.name!r}; expected a text")
    if not isinstance(found.version, str):
        raise InputError(f"{where}: version {found.version!r}; expected a text")
    if not isinstance(found.settings, Mapping):
        raise InputError(
            f"{where}: settings are of type {type(found.settings).__name__}; expected a mapping"
        )
    if not isinstance(found.higher_is_more_different, bool):
        raise InputError(
            f"{where}: higher_is_more_different is {found.higher_is_more_different!r}; expected "
            "True or False"
        )
    if not callable(found.differences):
        raise InputError(f"{where}: differences cannot be called; expected a method")
    known: DifferenceMetric = found
    return known


def checked_values(given: Any, n: int, name: str) -> Floats:
    """Check what a metric gave for `n` pairs.

    Raises
    ------
    InputError
        When it is of another shape, no numbers, or infinite.

    Examples
    --------
    >>> checked_values([1, 2.5], 2, "mine").tolist()
    [1.0, 2.5]
    """
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"metric {name!r} gave no numbers for {n} pairs; expected one number for each"
        ) from None
    if found.shape != (n,):
        raise InputError(
            f"metric {name!r} gave an array of shape {found.shape} for {n} pairs; expected ({n},)"
        )
    if np.isinf(found).any():
        raise InputError(f"metric {name!r} gave an infinite number; expected finite ones")
    return found


def direction_of(metric: DifferenceMetric) -> str:
    """Say which way the numbers of a metric go."""
    kind = "different" if metric.higher_is_more_different else "alike"
    return f"higher is more {kind}"


# Metrics that make something of each picture once, and compare what they made.


_UNDEFINED = Missing("the difference is not defined for these two", "empty")


class PreparedMetric(ABC):
    """A metric in two steps: something is made of each picture, and two of these are compared.

    A picture that is in many pairs is then worked on once; and two pictures with the same pixels
    become the same, whatever else was worked on together with either of them.
    """

    name: str
    version: str
    settings: Mapping[str, Any]
    higher_is_more_different: bool = True
    batch: int = 16
    """Pictures that are best worked on together."""

    @abstractmethod
    def prepare(self, pictures: Sequence[Image.Image]) -> Sequence[Any]:
        """Make something of each picture in RGB, :class:`Missing` where that cannot be."""

    @abstractmethod
    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Compare what was made of pictures, none of which is :class:`Missing`; shape (n,)."""

    def apart(self, first: Any, second: Any) -> str:  # noqa: ARG002
        """Say why two cannot be compared; empty where they can."""
        return ""

    def differences(self, first: Sequence[Image.Image], second: Sequence[Image.Image]) -> Floats:
        """Compare each picture with the one at the same place.

        Parameters
        ----------
        first, second
            As many pictures of Pillow in any mode; :func:`affectlab.models.images.load_image` shows
            what becomes of grey ones and of what can be seen through.

        Returns
        -------
        ndarray
            Shape (n,); ``nan`` where nothing can be said about one of the two.

        Raises
        ------
        InputError
            When there are not as many of both, or two cannot be compared.
        """
        judged = self.judge(first, second)
        refused = [
            (place, one)
            for place, one in enumerate(judged)
            if isinstance(one, Missing) and one.outcome == "rejected"
        ]
        if refused:
            place, why = refused[0]
            raise InputError(f"metric {self.name!r}, pair {place}: {why.reason}")
        return np.array([np.nan if isinstance(one, Missing) else one for one in judged])

    def judge(
        self, first: Sequence[Image.Image], second: Sequence[Image.Image]
    ) -> list[float | Missing]:
        """Compare pictures as :meth:`differences`, and say why where nothing can be said."""
        from affectlab.models.embedding.jobs import picture_hash
        from affectlab.models.images import load_image

        for side in (first, second):
            if not isinstance(side, Sequence) or isinstance(side, str | bytes):
                raise InputError(
                    f"metric {self.name!r}: expected two lists of pictures, got "
                    f"{type(side).__name__}"
                )
        if len(first) != len(second):
            raise InputError(
                f"metric {self.name!r}: {len(first)} pictures and {len(second)}; expected as many "
                "of both"
            )
        pictures: dict[str, Image.Image] = {}
        keys: list[str] = []
        for picture in (*first, *second):
            plain = load_image(picture)
            key = picture_hash(plain)
            pictures.setdefault(key, plain)
            keys.append(key)
        made = prepared_by(self, pictures)
        n = len(first)
        return self.of_prepared([made[key] for key in keys[:n]], [made[key] for key in keys[n:]])

    def of_prepared(self, first: Sequence[Any], second: Sequence[Any]) -> list[float | Missing]:
        """Compare what was made of pictures; what cannot be compared is :class:`Missing`."""
        found: list[float | Missing] = [0.0] * len(first)
        known: list[int] = []
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            lacking = next((side for side in (one, other) if isinstance(side, Missing)), None)
            if lacking is None:
                reason = self.apart(one, other)
                lacking = Missing(reason) if reason else None
            if lacking is not None:
                found[place] = lacking
            else:
                known.append(place)
        if not known:
            return found
        values = checked_values(
            self.compare([first[place] for place in known], [second[place] for place in known]),
            len(known),
            self.name,
        )
        for place, value in zip(known, values.tolist(), strict=True):
            found[place] = _UNDEFINED if value != value else value
        return found


class AsGiven(PreparedMetric):
    """Any metric, whose pictures stay as they are until two are compared."""

    batch = 1

    def __init__(self, metric: DifferenceMetric) -> None:
        self.name = metric.name
        self.version = metric.version
        self.settings = metric.settings
        self.higher_is_more_different = metric.higher_is_more_different
        self._metric = metric

    def prepare(self, pictures: Sequence[Image.Image]) -> Sequence[Any]:
        """Give the pictures back."""
        return pictures

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Let the metric compare pictures; shape (n,).

        Raises
        ------
        InputError
            When it fails.
        """
        try:
            # Copies: a picture is in many pairs, and the metric may change it.
            found = self._metric.differences(
                [one.copy() for one in first], [one.copy() for one in second]
            )
        except InputError:
            raise
        # The metric is anybody's code.
        except Exception as error:
            raise InputError(
                f"metric {self.name!r} fails on {len(first)} pairs ({type(error).__name__}: "
                f"{' '.join(str(error).split())[:160]})"
            ) from error
        return checked_values(found, len(first), self.name)


def prepared_by(metric: PreparedMetric, pictures: Mapping[str, Image.Image]) -> dict[str, Any]:
    """Make something of each picture, so many at a time as the metric wants.

    Raises
    ------
    InputError
        When the metric gives more or fewer than it was given.
    """
    keys = list(pictures)
    found: dict[str, Any] = {}
    for start in range(0, len(keys), metric.batch):
        part = keys[start : start + metric.batch]
        # Copies: other metrics get the same pictures.
        made = metric.prepare([pictures[key].copy() for key in part])
        if len(made) != len(part):
            raise InputError(
                f"metric {metric.name!r} made {len(made)} of {len(part)} pictures; expected one "
                "for each"
            )
        found.update(zip(part, made, strict=True))
    return found


# Metrics that make a few numbers of each picture, which are kept for all pairs that it is in.


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
