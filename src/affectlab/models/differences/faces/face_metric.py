"""Metrics of what a landmarker finds, which reads each picture once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.remote.services import Ledger
from affectlab.models.differences.faces.landmarker import FaceReading, Landmarker
from affectlab.models.differences.metric import (
    FeatureMetric,
    Missing,
    PairPicture,
    Progress,
    opened,
)

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["NO_FACE", "FaceMetric"]

NO_FACE = Missing("no face was found", "empty")


class FaceMetric(FeatureMetric):
    """A metric of what is found in a face."""

    batch = 1
    _landmarker: Landmarker

    @abstractmethod
    def taken(self, reading: FaceReading) -> Any:
        """Take what is compared out of what was found; :class:`Missing` where it is not there."""

    def prepare(self, pictures: Sequence[Image.Image]) -> list[Any]:
        """Read the face in each picture."""
        return [self._taken(self._landmarker.read(picture)) for picture in pictures]

    def features_of(
        self, pictures: Sequence[PairPicture], cache: Path | None, progress: Progress
    ) -> dict[str, Any]:
        """Read the face in each picture; the same readings serve blendshapes and landmarks."""
        kept = _Readings(cache, self._landmarker)
        found: dict[str, Any] = {}
        for ((picture, content),) in opened(pictures, 1):
            key = picture.sha256
            if isinstance(content, Missing):
                found[key] = content
            else:
                found[key] = self._taken(kept.reading(key, content))
            progress(f"faces by {self._landmarker.name}", len(found), len(pictures))
        return found

    def _taken(self, reading: FaceReading | None) -> Any:
        return NO_FACE if reading is None else self.taken(reading)


class _Readings:
    """What was found in pictures, by their hashes; in a file where there is a folder for it."""

    def __init__(self, folder: Path | None, landmarker: Landmarker) -> None:
        place = None
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(
                    f"cache: {folder} cannot be made: {error.strerror or error}"
                ) from None
            place = folder / f"faces-{landmarker.fingerprint[:16]}.jsonl"
        self._ledger = Ledger(place)
        self._landmarker = landmarker

    def reading(self, key: str, picture: Image.Image) -> FaceReading | None:
        """Give what is in a picture, from the file where it was read before."""
        held = self._ledger.get(key)
        if held is None or not _usable(held):
            found = self._landmarker.read(picture)
            held = {"face": None}
            if found is not None:
                held["face"] = {
                    "landmarks": np.asarray(found.landmarks, dtype=np.float64).tolist(),
                    "blendshapes": dict(found.blendshapes),
                }
            self._ledger.put(key, held)
        return _of_record(held)


def _of_record(held: dict[str, Any]) -> FaceReading | None:
    face = held["face"]
    if face is None:
        return None
    shapes = {str(name): float(value) for name, value in face["blendshapes"].items()}
    return FaceReading(np.array(face["landmarks"], dtype=np.float64), shapes)


def _usable(held: dict[str, Any] | None) -> bool:
    """Whether a record is one of ours; anything else in the file is read anew."""
    try:
        if held is not None:
            _of_record(held)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return held is not None
