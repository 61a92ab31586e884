"""Draw five folders of faces, and write what a machine and people say of three of them.

    python draw.py

Faces and answers are made up: the expression drawn, and how strong it is, are the truth, and raters
with noise, bias and confusions of their own answer about it. Every folder has people of its own.
"""

from pathlib import Path

import numpy as np
import polars as pl

from affectlab.simulate import (
    EXPRESSIONS,
    face_specs,
    panel,
    save_faces,
    simulate_raters,
    simulate_truth,
)
from affectlab.simulate.faces import FaceSpec
from affectlab.simulate.raters import RaterProfile

EMOTIONS = EXPRESSIONS[:8]
TWO, FEW, MORE = (0.5, 1.0), (0.3, 0.6, 1.0), (0.3, 0.5, 0.75, 1.0)
"""Strengths in which an emotion is drawn."""
MACHINE = RaterProfile(
    "annotator",
    kind="model",
    bias=0.5,
    inconsistency=1.0,
    confusions={"fear": ("awe", 0.5), "contentment": ("amusement", 0.4)},
)
"""Sees too much of everything, and takes half of fear for awe; but it never gets tired."""


def drawn(name: str, people: range, strengths: tuple[float, ...]) -> pl.DataFrame:
    """Draw people of these numbers into a folder, with each emotion in each strength."""
    table = save_faces(Path("faces", name), face_specs(people, EMOTIONS, strengths), size=96)
    print(f"faces/{name}: {table.height} pictures", flush=True)
    return table.with_columns(pl.format("{}/{}", pl.lit(name), "file").alias("file"))


def asked(table: pl.DataFrame, raters: tuple[RaterProfile, ...], to: str, seed: int) -> None:
    """Let raters answer about faces, and write what they say."""
    truth = simulate_truth(
        table.height,
        "mikels",
        "0-7",
        seed=seed,
        expressions=table["expression"].to_list(),
        intensities=table["intensity"].to_list(),
        stimuli=table["stimulus"].to_list(),
    )
    simulate_raters(truth, raters, seed=seed, stimuli=table).ratings.write(to)


def main() -> None:
    """Draw everything."""
    print("drawing, for about half a minute ...", flush=True)
    many = drawn("many", range(24), FEW)
    rated = drawn("rated", range(24, 26), MORE)
    calibrate = drawn("calibrate", range(26, 32), MORE)
    # Eight people: what models are worth beside people is to hold for the faces of others, too.
    unseen = drawn("unseen", range(32, 40), TWO)
    neutral = [FaceSpec("neutral", 1.0, person) for person in range(40, 52)]
    save_faces(Path("faces", "neutral"), neutral, size=96)
    print(f"faces/neutral: {len(neutral)} pictures", flush=True)

    people = panel(3, seed=1, careless=0)
    asked(many, (MACHINE,), "machine.csv", 2)
    asked(rated, people, "people-train.csv", 3)
    # Half of these faces are for the scale, the other half for intervals.
    half = np.random.default_rng(4).permutation(calibrate.height) % 2 == 0
    asked(calibrate.filter(half), people, "people-scale.csv", 5)
    asked(calibrate.filter(~half), people, "people-intervals.csv", 6)

    training = pl.concat([many, rated, calibrate])
    training.write_csv(Path("faces", "training.csv"))
    unseen.write_csv(Path("faces", "unseen.csv"))


if __name__ == "__main__":
    main()
