"""Draw transitions of invented people, to try affectlab stimuli frames out without films of faces.

Run it in an empty folder: python draw.py
It makes transitions/, with a folder of frames for each of two people and two expressions, from
the peak to rest; and, where PyAV is installed (pip install "affectlab[vision]"), cleo_fear.mp4, in
which a face comes up from rest, holds the expression, and goes back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from PIL import Image

from affectlab.simulate import Identity, draw_face

PEOPLE = {"ann": 1, "ben": 4}
EXPRESSIONS = ("joy", "surprise")
FRAMES, SIZE = 31, 128


def fading(frames: int, speed: float = 1.0) -> Iterator[float]:
    """Give intensities from the peak to rest: held, then fast, then held again, as faces do."""
    for frame in range(frames):
        time = frame / (frames - 1)
        yield 1 / (1 + math.exp(12 * speed * (time - 0.45)))


def draw_folders(folder: Path) -> None:
    """Draw a folder of numbered frames for each person and expression."""
    for person, seed in PEOPLE.items():
        for place, expression in enumerate(EXPRESSIONS):
            inside = folder / f"{person}_{expression}"
            inside.mkdir(parents=True, exist_ok=True)
            identity = Identity.from_seed(seed)
            for number, intensity in enumerate(fading(FRAMES, 0.8 + 0.2 * place)):
                draw_face(expression, intensity, identity, size=SIZE).save(inside / f"{number}.png")


def draw_film(file: Path, rate: int = 25) -> None:
    """Draw a film: rest, peak, rest."""
    import av

    down = list(fading(FRAMES))
    with av.open(str(file), "w") as film:
        stream = film.add_stream("mpeg4", rate=rate)
        stream.width = stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        stream.bit_rate = 2_000_000
        for intensity in [*reversed(down[::2]), *down]:
            picture: Image.Image = draw_face("fear", intensity, Identity.from_seed(7), size=SIZE)
            film.mux(stream.encode(av.VideoFrame.from_image(picture)))
        film.mux(stream.encode())


if __name__ == "__main__":
    draw_folders(Path("transitions"))
    print(f"transitions/: {len(PEOPLE) * len(EXPRESSIONS)} transitions of {FRAMES} frames")
    if find_spec("av") is not None:
        draw_film(Path("cleo_fear.mp4"))
        print("cleo_fear.mp4: a film from rest to fear and back")
    else:
        print('no film: it needs PyAV, pip install "affectlab[vision]"')
