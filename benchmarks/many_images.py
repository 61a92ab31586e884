"""``python -m benchmarks.many_images``: whether embedding and rating stay linear, and lanes.

Writes tiny pictures as shards (150 MB for each 100,000), embeds and rates 100,000 and then all of
them, each in a process of its own, and prints time per picture and the most memory that it took.
``--lanes`` compares one native process with two lanes of Ray, for an encoder of one thread.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORKLOADS = ()
"""None with a peer."""

_SHARD = 10_000
_SIDE = 16
_PART = 100_000


@dataclass(frozen=True)
class Means:
    """An encoder that costs next to nothing, or as much processor time as one is given."""

    name: str = "means"
    kind: str = "image"
    fingerprint: str = "means-1"
    width: int = 16
    batch: int = 64
    spent: float = 0.0
    """Seconds of processor time for each picture, in one thread."""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def encode(self, batch: Sequence[Any]) -> NDArray[np.float32]:
        """Give rows of a picture as its numbers."""
        end = time.process_time() + self.spent * len(batch)
        while time.process_time() < end:
            sum(range(1000))
        rows = np.stack([np.asarray(one).mean((1, 2)) for one in batch])
        return (rows / 255).astype(np.float32)


def colours(pictures: Sequence[Any]) -> list[dict[str, float]]:
    """Rate pictures by their colours."""
    means = [np.asarray(one, dtype=np.float64).mean((0, 1)) / 255 for one in pictures]
    return [dict(zip(("anger", "joy", "sadness"), one.tolist(), strict=True)) for one in means]


def write_shards(folder: Path, n: int) -> None:
    """Write so many pictures of noise."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for start in range(0, n, _SHARD):
        pixels = rng.integers(0, 256, (min(_SHARD, n - start), _SIDE, _SIDE, 3), dtype=np.uint8)
        with tarfile.open(folder / f"shard-{start // _SHARD:04d}.tar", "w") as file:
            for number, one in enumerate(pixels, start):
                held = io.BytesIO()
                Image.fromarray(one).save(held, "PNG", compress_level=0)
                info = tarfile.TarInfo(f"{number:07d}.png")
                info.size = held.tell()
                held.seek(0)
                file.addfile(info, held)


def one(what: str, shards: Path, out: Path, runner: str, spent: float) -> dict[str, Any]:
    """Embed or rate in this process, and say what it took."""
    began = time.perf_counter()
    if what == "embed":
        from affectlab.models.embedding import embed

        n = len(embed(shards, Means(spent=spent), path=out, runner=runner))
    else:
        from affectlab.models import rate

        n = rate(colours, shards, takes="image", path=out, batch=64).n_stimuli
    seconds = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"n": n, "us": round(1e6 * seconds / n), "mb": round(memory), "s": round(seconds, 1)}


def measured(*arguments: object) -> dict[str, Any]:
    """Run :func:`one` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.many_images", "--one", *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main() -> None:
    """Print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=1_000_000)
    parser.add_argument("--lanes", action="store_true")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        what, shards, out, runner, spent = given.one
        print(json.dumps(one(what, Path(shards), Path(out), runner, float(spent))))
        return
    with tempfile.TemporaryDirectory(prefix="affectlab-bench-") as place:
        folder = Path(place)
        if given.lanes:
            (folder / "some").mkdir()
            write_shards(folder / "some", 4000)
            for turn in range(3):
                for runner in ("native", "ray"):
                    told = measured(
                        "embed", folder / "some", folder / f"{runner}-{turn}", runner, 0.01
                    )
                    print(f"{runner:>7}: {told['s']:6.1f} s for {told['n']:,} pictures", flush=True)
            return
        for n in sorted({min(_PART, given.images), given.images}):
            shards = folder / f"shards-{n}"
            shards.mkdir()
            write_shards(shards, n)
            size = sum(file.stat().st_size for file in shards.iterdir()) / 2**20
            print(f"{n:,} pictures, {size:,.0f} MB", flush=True)
            for what in ("embed", "rate"):
                told = measured(what, shards, folder / f"{what}-{n}", "native", 0)
                print(
                    f"  {what:>5}: {told['us']:5} us each, {told['mb']:5} MB, {told['s']:7.1f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
