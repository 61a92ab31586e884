"""Metrics that make something of each picture once, and compare what they made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from affectlab._types import Floats, Image
from affectlab.errors import InputError
from affectlab.models.differences._metric import DifferenceMetric, Missing, checked_values

__all__ = ["AsGiven", "PreparedMetric", "prepared_by"]

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
        from affectlab.models.embedding._items import picture_hash
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
