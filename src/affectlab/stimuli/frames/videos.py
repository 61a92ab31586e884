"""Frames of a video file, exact by number and by time (PyAV)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import MissingDependencyError
from affectlab.stimuli.frames.pictures import UnusableError, stamp

if TYPE_CHECKING:
    from av import VideoFrame
    from av.video.stream import VideoStream

__all__ = ["VIDEOS", "VideoFile", "require_av"]

VIDEOS = frozenset({".mp4", ".mov", ".m4v", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".wmv"})
"""Suffixes of files that are taken for videos."""

_MOST = 20_000
"""Frames in a file from which it is no transition any more: eleven minutes at 30 a second."""

_MOST_PIXELS = 8192 * 4320
"""Of one frame, that of 8K film: decoders keep up to 17 frames, and a file that is all of one
colour can be small whatever the size of its frames."""

_MARGIN = 1 << 20
"""Pixels around a small frame that decoders may add."""

_TIMED = frozenset({"mov", "mp4", "matroska", "webm", "avi"})
"""Formats that state how long they are; others are guessed from the size of the file."""
_LATE = Fraction(7, 4)
"""Longest steps between frames by which the end may be behind the last frame."""

# How a display matrix moves the axes (a, b, c, d), by the signs: x' = ax + cy, y' = bx + dy.
_TURNS: dict[tuple[int, ...], Image.Transpose] = {
    (-1, 0, 0, 1): Image.Transpose.FLIP_LEFT_RIGHT,
    (-1, 0, 0, -1): Image.Transpose.ROTATE_180,
    (1, 0, 0, -1): Image.Transpose.FLIP_TOP_BOTTOM,
    (0, -1, 1, 0): Image.Transpose.ROTATE_90,
    (0, 1, -1, 0): Image.Transpose.ROTATE_270,
    (0, 1, 1, 0): Image.Transpose.TRANSPOSE,
    (0, -1, -1, 0): Image.Transpose.TRANSVERSE,
}


def require_av() -> Any:
    """Import PyAV.

    Raises
    ------
    MissingDependencyError
        When it is not installed.
    """
    try:
        import av
    except ImportError:
        raise MissingDependencyError(
            f"videos need the library av (PyAV): {install_line('vision')}"
        ) from None
    return av


@dataclass(frozen=True)
class VideoFile:
    """Frames of a video, numbered in the order in which they are shown.

    All frames are decoded from the first on, so that a number means the same frame in every file;
    jumping to a time does not promise that. Times are those of the file, also where the frame rate
    varies.

    Raises
    ------
    UnusableError
        On use, when the file cannot be read as a whole: it is damaged, cut off, no video, or its
        frames are larger than those of 8K film.
    """

    path: Path
    name: str = ""
    """Name of the file in tables."""

    def __len__(self) -> int:
        return len(self.times_ms)

    @property
    def fps(self) -> float | None:
        """Frames per second, on average over the file."""
        times = self.times_ms
        if len(times) < 2:
            return None
        return 1000 * (len(times) - 1) / (times[-1] - times[0])

    @cached_property
    def times_ms(self) -> tuple[float, ...]:
        """Time of each frame after the first one, in milliseconds."""
        times: list[Fraction | None] = []
        rate: Fraction | None = None
        for stream, frame in self._decoded():
            rate = stream.average_rate
            base = frame.time_base
            times.append(None if frame.pts is None or base is None else frame.pts * Fraction(base))
        if None in times:
            # Bare streams have no clock: frames then follow one another at the stated rate.
            if not rate:
                raise UnusableError(f"{self.path.name} says neither times of frames nor a rate")
            times = [Fraction(k) / Fraction(rate) for k in range(len(times))]
        known = [1000 * float(time - times[0]) for time in times]  # type: ignore[operator]
        late = next((k for k in range(1, len(known)) if known[k] <= known[k - 1]), None)
        if late is not None:
            raise UnusableError(
                f"{self.path.name}: the time of frame {late} is not after that of the frame before"
            )
        return tuple(known)

    def images(self, indices: Sequence[int]) -> Iterator[Image.Image]:
        """Open frames, upright, in RGB, with square pixels."""
        wanted = iter(indices)
        index = next(wanted, None)
        if index is None:
            return
        for place, (stream, frame) in enumerate(self._decoded()):
            if place != index:
                continue
            yield _seen(stream, frame)
            index = next(wanted, None)
            if index is None:
                return
        raise UnusableError(f"{self.path.name} has no frame {index}")

    def copyable(self, index: int) -> Path | None:  # noqa: ARG002
        """Give None: frames of a video have no files."""
        return None

    def origin(self, index: int) -> tuple[str, int]:
        """Name the video, and the number of the frame in it."""
        return self.name or self.path.name, index

    def fingerprint(self) -> str:
        """Digest of name, size and time of the file."""
        return stamp([self.path])

    def _decoded(self) -> Iterator[tuple[VideoStream, VideoFrame]]:
        """Decode all frames in the order in which they are shown."""
        av = require_av()
        name, count = self.path.name, 0
        try:
            # Playlists may name addresses elsewhere; only files are opened.
            options = {"protocol_whitelist": "file"}
            with av.open(str(self.path), options=options, metadata_errors="replace") as container:
                stream = _stream_of(container, name)
                times: list[Fraction] = []
                for frame in container.decode(stream):
                    if frame.is_corrupt:
                        raise UnusableError(f"{name}: frame {count} is damaged")
                    _check_size(frame, stream, name)
                    count += 1
                    if count > _MOST:
                        raise UnusableError(
                            f"{name} has more than {_MOST:,} frames; expected one transition"
                        )
                    if frame.pts is not None and frame.time_base is not None:
                        times.append(Fraction(frame.pts) * Fraction(frame.time_base))
                    yield stream, frame
                if not count:
                    raise UnusableError(f"{name} has no frames")
                _check_whole(container, stream, times, name)
        except UnusableError:
            raise
        except (av.FFmpegError, OSError, ValueError) as problem:
            where = f": frame {count} cannot be read" if count else " cannot be read as a video"
            said = getattr(problem, "strerror", None) or problem
            raise UnusableError(f"{name}{where} ({said})") from None


def _stream_of(container: Any, name: str) -> VideoStream:
    stream: VideoStream | None = container.streams.best("video")
    if stream is None:
        raise UnusableError(f"{name} holds no video")
    context = stream.codec_context
    # Without its parameters, which a cut file may lack, decoding can end the whole process.
    if context is None or not context.width or not context.height:
        raise UnusableError(f"{name} cannot be read as a video: its beginning is damaged")
    _check_size(context, stream, name)
    # Where the size grows within the file, the decoder refuses it before it takes the memory. It
    # counts margins of its own, which a limit without slack would not leave to the last size.
    context.options = {**context.options, "max_pixels": str(2 * _most_pixels() + _MARGIN)}
    context.thread_count = 1
    return stream


def _most_pixels() -> int:
    return min(_MOST_PIXELS, Image.MAX_IMAGE_PIXELS or _MOST_PIXELS)


def _check_size(sized: Any, stream: VideoStream, name: str) -> None:
    """Refuse frames that would exhaust the memory, as stored or as shown."""
    width, height = _shown_width(sized.width, stream), sized.height
    if max(width, sized.width) * height > _most_pixels():
        raise UnusableError(
            f"{name} has frames of {width} x {height} pixels; expected at most "
            f"{_most_pixels():,} pixels in a frame"
        )


def _shown_width(width: int, stream: VideoStream) -> int:
    """Give the width that a frame has once its pixels are square."""
    ratio = stream.sample_aspect_ratio
    if not ratio or not ratio.numerator or not ratio.denominator:
        return width
    return max(1, round(width * ratio.numerator / ratio.denominator))


def _check_whole(container: Any, stream: VideoStream, times: list[Fraction], name: str) -> None:
    """Refuse a video that ends before it says, where its format does say.

    Frames are not counted alone: files that were trimmed hold frames that are not shown.
    """
    if len(times) < 2 or not _TIMED.intersection(container.format.name.split(",")):
        return
    declared = stream.frames
    if stream.duration is not None and stream.time_base is not None:
        base = Fraction(stream.time_base)
        start, duration = (stream.start_time or 0) * base, stream.duration * base
    elif container.duration is not None and len(container.streams) == 1:
        start = Fraction(container.start_time or 0, 1_000_000)
        duration = Fraction(container.duration, 1_000_000)
    else:
        return
    shown = times[-1] - start
    longest = max(after - before for before, after in pairwise(times))
    # The last frame is shown for a while, too; how long that is, only few formats say.
    if (not declared or declared > len(times)) and duration - shown > _LATE * longest:
        raise UnusableError(
            f"{name} is cut off: it ends after {float(shown):.2f} of {float(duration):.2f} seconds"
        )


def _seen(stream: VideoStream, frame: Any) -> Image.Image:
    """Give a frame as players show it."""
    image: Image.Image = frame.to_image()
    width = _shown_width(image.width, stream)
    if width != image.width:
        image = image.resize((width, image.height), Image.Resampling.LANCZOS)
    turn = _turn(frame)
    return image if turn is None else image.transpose(turn)


def _turn(frame: Any) -> Image.Transpose | None:
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return None
    a, b, _, c, d = np.frombuffer(bytes(matrix), dtype=np.int32)[:5]
    largest = max(abs(int(value)) for value in (a, b, c, d))
    # Cameras turn by quarters; anything between has no upright picture without cutting.
    signs = tuple(
        int(np.sign(value)) if abs(int(value)) > largest / 2 else 0 for value in (a, b, c, d)
    )
    return _TURNS.get(signs)
