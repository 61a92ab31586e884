"""Encoders that tests can look into: what they were given, and when their memory ends."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

WIDTH = 12


def row_of(content: Any) -> NDArray[np.float32]:
    """Give numbers that depend on every pixel or character."""
    data = content.encode() if isinstance(content, str) else content.tobytes()
    found = np.frombuffer(hashlib.sha256(data).digest(), np.uint8)[:WIDTH]
    return found.astype(np.float32) / 8 - 10


@dataclass
class Watched:
    """An encoder that remembers its batches."""

    kind: Literal["image", "text"] = "image"
    fingerprint: str = "watched-1"
    name: str = "watched"
    width: int = WIDTH
    batch: int = 4
    settings: Mapping[str, Any] = field(default_factory=dict)
    room: int = 10**9
    """Inputs that fit into memory."""
    error: type[BaseException] = MemoryError
    """What is raised where they do not."""
    pause: float = 0.0
    given: list[int] = field(default_factory=list)
    """Sizes of the batches that were encoded."""

    def encode(self, batch: Sequence[Any]) -> NDArray[np.float32]:
        if len(batch) > self.room:
            raise self.error(f"tried {len(batch)}")
        time.sleep(self.pause)
        self.given.append(len(batch))
        return np.stack([row_of(content) for content in batch])


def draw(folder: Path, n: int, *, start: int = 0) -> list[Path]:
    """Write pictures of different sizes and contents, whose names are not in the order of them."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number in range(start, start + n):
        rng = np.random.default_rng(number)
        side = int(rng.integers(4, 40))
        pixels = rng.integers(0, 256, (side, side + 3, 3), dtype=np.uint8)
        file = folder / f"{(number * 7919) % 10007:05d}.png"
        Image.fromarray(pixels).save(file)
        files.append(file)
    return sorted(files)


def half(contents: Sequence[Any]) -> NDArray[np.float16]:
    """What embeddings of these contents must be."""
    return np.stack([row_of(content) for content in contents]).astype(np.float16)


def pictures(files: Sequence[Path]) -> list[Image.Image]:
    """Open pictures that are plain RGB."""
    return [Image.open(file).convert("RGB") for file in files]


@dataclass
class Dying(Watched):
    """An encoder that takes its process with it so many times, each time leaving a mark."""

    fingerprint: str = "dying-1"
    marks: Path = Path()
    times: int = 1

    def encode(self, batch: Sequence[Any]) -> NDArray[np.float32]:
        self.marks.mkdir(exist_ok=True)
        n = len(list(self.marks.iterdir()))
        if n < self.times:
            (self.marks / str(n)).touch()
            os._exit(1)
        return super().encode(batch)
