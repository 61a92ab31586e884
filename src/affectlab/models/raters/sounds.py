"""Sounds: decoded to one channel of samples."""

from __future__ import annotations

import io
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError, MissingDependencyError

__all__ = ["MOST_SECONDS", "Sound", "load_sound"]

MOST_SECONDS = 3_600
"""Length of a sound that is decoded; a small file can claim any length."""


@dataclass(frozen=True, eq=False)
class Sound:
    """One channel of sound.

    Examples
    --------
    >>> half = Sound(np.zeros(8_000, dtype=np.float32), 16_000)
    >>> half.seconds, half.at(8_000).shape
    (0.5, (4000,))
    """

    samples: NDArray[np.float32]
    """Shape (n,), in [-1, 1]."""
    rate: int
    """Samples per second."""

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.samples) / self.rate

    def at(self, rate: int) -> NDArray[np.float32]:
        """Give the samples at another rate, by a polyphase filter."""
        if rate == self.rate:
            return self.samples
        from scipy.signal import resample_poly

        shared = gcd(rate, self.rate)
        found = resample_poly(self.samples, rate // shared, self.rate // shared)
        return np.asarray(found, dtype=np.float32)


def load_sound(content: bytes, name: str) -> Sound:
    """Decode a file of sound (WAV, FLAC, MP3, OGG, M4A); channels are averaged.

    Raises
    ------
    InputError
        When it holds no sound, cannot be decoded, or lasts longer than an hour.
    MissingDependencyError
        When PyAV is not installed.
    """
    try:
        import av
    except ImportError:
        raise MissingDependencyError(
            "sounds are decoded by PyAV; install affectlab[vision]"
        ) from None
    parts: list[NDArray[np.float32]] = []
    n_samples = 0
    try:
        with av.open(io.BytesIO(content), mode="r") as film:
            if not film.streams.audio:
                raise InputError(f"{name} holds no sound; expected WAV, FLAC, MP3, OGG or M4A")
            stream = film.streams.audio[0]
            rate = int(stream.rate)
            planes = av.AudioResampler(format="fltp")
            for frame in film.decode(stream):
                more = [part.to_ndarray().mean(axis=0) for part in planes.resample(frame)]
                parts += more
                n_samples += sum(map(len, more))
                if n_samples > MOST_SECONDS * rate:
                    raise InputError(f"{name} lasts longer than an hour; expected a shorter sound")
    except (av.FFmpegError, ValueError) as error:
        raise InputError(
            f"{name} cannot be decoded ({error}); expected WAV, FLAC, MP3, OGG or M4A"
        ) from None
    if not parts:
        raise InputError(f"{name} holds no samples; expected a sound")
    return Sound(np.concatenate(parts).astype(np.float32), rate)
