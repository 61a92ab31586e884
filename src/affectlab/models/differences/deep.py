"""Differences of what an encoder makes of two pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.models.differences.distances import DISTANCES, TITLES, check_distance
from affectlab.models.differences.metric import FeatureMetric, Missing, PairPicture, Progress

if TYPE_CHECKING:
    from PIL import Image

    from affectlab.models.embedding import Encoder

__all__ = ["DeepDifference", "deep", "embedded_features", "encoded_features"]

_HALF = float(np.finfo(np.float16).max)


class DeepDifference(FeatureMetric):
    """Distance of embeddings; made by :func:`deep`."""

    def __init__(self, encoder: Encoder, distance: str) -> None:
        if encoder.kind != "image":
            raise InputError(f"encoder {encoder.name!r} takes texts; expected one of images")
        self.encoder = encoder
        self._distance = check_distance(distance, "deep")
        self.name = f"deep:{encoder.name} {TITLES[distance]}"
        self.version = encoder.fingerprint
        self.settings = {
            "encoder": encoder.name,
            "distance": distance,
            **dict(encoder.settings),
        }

    def prepare(self, pictures: Sequence[Image.Image]) -> list[Floats]:
        """Give the embedding of each picture."""
        return encoded_features(self.encoder, pictures)

    def features_of(
        self, pictures: Sequence[PairPicture], cache: Path | None, progress: Progress
    ) -> dict[str, Any]:
        """Embed pictures, with the cache that :func:`affectlab.models.embedding.embed` uses."""
        return embedded_features(self.encoder, pictures, cache, progress)

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Give the distance of each pair; shape (n,)."""
        return DISTANCES[self._distance](np.stack(first), np.stack(second))


def encoded_features(encoder: Encoder, pictures: Sequence[Image.Image]) -> list[Floats]:
    """Encode pictures in memory, in the half precision in which embeddings are kept.

    Raises
    ------
    InputError
        When the encoder fails, or gives numbers beyond half precision.
    """
    from affectlab.models.embedding import encode_batch

    rows = encode_batch(encoder, list(pictures))
    if rows.size and np.abs(rows).max() > _HALF:
        raise InputError(
            f"encoder {encoder.name!r} gave {float(np.abs(rows).max()):.3g}; embeddings are kept "
            f"in half precision, up to {_HALF:,.0f}"
        )
    return list(rows.astype(np.float16).astype(np.float64))


def embedded_features(
    encoder: Encoder, pictures: Sequence[PairPicture], cache: Path | None, progress: Progress
) -> dict[str, Any]:
    """Embed picture files, each once; by their hashes, :class:`Missing` where one is of no use."""
    from affectlab.models.embedding import embed

    found: dict[str, Any] = {}
    # One that cannot be read has no hash to be named by, and is known already.
    files = [(one.sha256, str(one.path)) for one in pictures]
    embeddings = embed(
        files, encoder, cache=cache, on_bad="set_aside", progress=_named(progress, encoder.name)
    )
    rows = embeddings.rows().astype(np.float64)
    found.update(zip(embeddings.stimuli, rows, strict=True))
    aside = () if embeddings.run is None else embeddings.run.set_aside
    found.update((entry.stimulus, Missing(entry.reason)) for entry in aside)
    return found


def _named(progress: Progress, name: str) -> Callable[[str, int, int], None]:
    return lambda text, done, total: progress(f"{name}: {text}", done, total)


def deep(place: str = "faces", distance: str = "l1", **settings: Any) -> DeepDifference:
    """Distance of what an encoder makes of two pictures.

    FaceExpressions-70k (section 4, Table 3) compares ResNet-50, MoCo-v2, CLIP, MAE-Face, FMAE-IAT
    and FaRL in this way; the L1 distance was mostly the better one. Their files of weights are
    encoders as they are published.

    Parameters
    ----------
    place
        An encoder as :func:`affectlab.models.embedding.load_encoder` takes it.
    distance
        ``"l1"``, the sum of absolute differences, or ``"cosine"``, 1 minus the cosine.
    **settings
        Of the encoder.

    Raises
    ------
    InputError
        When the encoder is not known, takes texts, or a setting cannot be used.
    MissingDependencyError
        When the encoder needs a library that is not installed.

    Examples
    --------
    >>> from affectlab.simulate import draw_face
    >>> faces = [draw_face("joy", intensity, size=64) for intensity in (0, 0.3, 1)]
    >>> same, little, much = deep("faces").differences([faces[0]] * 3, faces)
    >>> float(same), bool(0 < little < much)
    (0.0, True)
    """
    from affectlab.models.embedding import load_encoder

    check_distance(distance, "deep")
    return DeepDifference(load_encoder(place, **settings), distance)
