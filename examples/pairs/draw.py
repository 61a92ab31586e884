"""Draw the transitions of the example, and write the tables that name them.

Run it in this folder: python draw.py
"""

from __future__ import annotations

import csv
from pathlib import Path

from affectlab.simulate import Identity
from affectlab.simulate.faces import expression_sequence

HERE = Path(__file__).parent
FRAMES = 5
EXPRESSIONS = ("joy", "fear", "anger")
ACTORS = {"ada": 11, "bo": 24}
TEACHER = ("cleo", 35, "surprise")
"""Somebody who is in none of the pairs that count: with her, raters learn, and are checked."""
PER_STEP = 20
"""Known difference of two frames of the teacher's transition that follow each other."""
TRAINING = ((5, 5), (4, 5), (2, 4), (2, 5), (1, 3))
GOLDEN = ((1, 1), (3, 3), (1, 4), (1, 5), (4, 3))


def draw(actor: str, seed: int, expression: str) -> list[str]:
    """Draw a transition from the peak to neutral; give its files."""
    person = Identity.from_seed(seed)
    pictures = reversed(list(expression_sequence(expression, person, FRAMES, size=128)))
    files = []
    for place, picture in enumerate(pictures, start=1):
        file = f"faces/{actor}-{expression}-{place}.png"
        picture.convert("RGB").quantize(48).save(HERE / file, optimize=True)
        files.append(file)
    return files


def write(name: str, rows: list[dict[str, object]]) -> None:
    """Write a table."""
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main() -> None:
    """Draw everything."""
    (HERE / "faces").mkdir(exist_ok=True)
    frames: list[dict[str, object]] = []
    for actor, seed in ACTORS.items():
        for expression in EXPRESSIONS:
            files = draw(actor, seed, expression)
            frames += [
                {"actor": actor, "expression": expression, "place": place, "file": file}
                for place, file in enumerate(files, start=1)
            ]
    write("frames.csv", frames)
    files = draw(*TEACHER)
    known: list[dict[str, object]] = [
        {
            "stimulus": f"{what}-{number}",
            "file_a": files[a - 1],
            "file_b": files[b - 1],
            "value": PER_STEP * abs(a - b),
        }
        for what, chosen in (("training", TRAINING), ("golden", GOLDEN))
        for number, (a, b) in enumerate(chosen, start=1)
    ]
    write("known.csv", known)


if __name__ == "__main__":
    main()
