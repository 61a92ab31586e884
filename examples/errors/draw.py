"""Draw the scenes of the tutorial "Choosing a model by how it errs".

Scenes are the more alike the nearer their emotions are on Mikels' wheel. That people feel so on
seeing them is not claimed. With the name of a table, draws the test scenes in it again, larger.
"""

import sys
from pathlib import Path

import polars as pl

from affectlab.simulate import simulate_scenes

FOLDER = Path("scenes")
SIDES = {"train": (240, 1), "test": (640, 2)}
SMALL, LARGE = 48, 320


def draw_all() -> None:
    for name, (n, seed) in SIDES.items():
        scenes = simulate_scenes(n, seed=seed)
        table = pl.DataFrame(
            {
                "stimulus": [f"{name}-{at:03d}" for at in range(n)],
                "file": [f"{name}/{at:03d}.png" for at in range(n)],
                "label": scenes.labels,
            }
        )
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
        for at, file in enumerate(table["file"]):
            scenes.draw(at, SMALL).save(FOLDER / file)
        table.write_csv(FOLDER / f"{name}.csv")
        print(f"{FOLDER / name}: {n} scenes of {len(scenes.names)} emotions")
    table.select("stimulus", truth="label").write_csv("truth.csv")
    best = scenes.chances.max(axis=1).mean()
    print(f"right at best: {best:.0%} of test scenes, by anyone who knew how they were made")


def draw_larger(table: str) -> None:
    n, seed = SIDES["test"]
    scenes = simulate_scenes(n, seed=seed)
    places = [int(name.removeprefix("test-")) for name in pl.read_csv(table)["stimulus"]]
    for at in places:
        scenes.draw(at, LARGE).save(FOLDER / f"test/{at:03d}.png")
    print(f"{len(places)} scenes drawn again, {LARGE} pixels wide")


if len(sys.argv) > 1:
    draw_larger(sys.argv[1])
else:
    draw_all()
