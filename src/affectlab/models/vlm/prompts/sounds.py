"""Sounds as they are sent to a model: one channel, within a limit, with nothing but samples."""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.errors import InputError

if TYPE_CHECKING:
    from affectlab.models.raters import Sound

__all__ = ["SoundPart", "sound_part"]

_RATES = (16_000, 8_000)
"""Samples per second, tried until a sound is small enough; voices lie below half of the last."""


@dataclass(frozen=True)
class SoundPart:
    """One sound of a prompt. It knows neither the name nor the place of its file."""

    data: bytes = field(repr=False)
    """A WAV file of 16 bits and one channel, without metadata."""
    seconds: float
    sha256: str
    """Of the bytes of the file that it was made from; of the samples where there was no file."""
    encoding: str
    """How it was encoded."""
    media_type: str = "audio/wav"


def sound_part(source: str | Path | Sound, *, most_bytes: int = 3_500_000) -> SoundPart:
    """Make a sound ready to be sent: one channel, 16 kHz, without metadata.

    Parameters
    ----------
    source
        A file, or a sound that is decoded already.
    most_bytes
        A longer sound is sent with 8 kHz; the default holds 109 and 218 seconds.

    Raises
    ------
    InputError
        When the file holds no sound, or one that does not fit.

    Examples
    --------
    >>> from affectlab.models.raters import Sound
    >>> part = sound_part(Sound(np.zeros(32_000, dtype=np.float32), 32_000))
    >>> part.seconds, len(part.data), part.encoding
    (1.0, 32044, 'wav, 16 bits, 16000 Hz, at most 3500000 bytes')
    """
    from affectlab.models.images import content_hash, read_bytes
    from affectlab.models.raters import load_sound

    if not isinstance(source, str | Path):
        sound, sha256 = source, content_hash(source.samples.tobytes())
    else:
        content = read_bytes(Path(source))
        sound, sha256 = load_sound(content, str(source)), content_hash(content)
    for rate in _RATES:
        data = _written(sound, rate)
        if len(data) <= most_bytes:
            # The same for all sounds of a run: it is part of what names a question.
            how = f"wav, 16 bits, {_RATES[0]} Hz, at most {most_bytes} bytes"
            return SoundPart(data, sound.seconds, sha256, how)
    named = source if isinstance(source, str | Path) else "sound"
    raise InputError(
        f"{named}: {sound.seconds:,.0f} seconds do not fit {most_bytes:,} bytes at {_RATES[-1]:,} "
        f"Hz; expected at most {most_bytes // (2 * _RATES[-1]):,} seconds"
    )


def _written(sound: Sound, rate: int) -> bytes:
    samples = np.clip(np.rint(sound.at(rate) * 32_767), -32_768, 32_767).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples.tobytes())
    return file.getvalue()
