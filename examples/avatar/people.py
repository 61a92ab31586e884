"""Invent the people of both studies: they know how different the drawn faces truly are.

python people.py staircases   answers the staircases over candidates/, and writes staircases.csv
python people.py ratings      rates the pairs of five/pairs.csv, and writes ratings.csv
python people.py truth        says what the right answer would have been

With real people, the first file comes from a staircase study and the second from a study of
differences; see the tutorials "From films of faces to pairs that people compare" and "Pairs to a
study".
"""

from __future__ import annotations

import math
import sys

import numpy as np
import polars as pl
from draw import EXPRESSIONS, PEOPLE, SEED, TRANSITIONS

from affectlab.analysis import FrameStaircase, simulate_observer
from affectlab.simulate import draw_transitions, simulate_differences

JND = 20.0
"""Points of difference that these people notice in three of four comparisons."""
RATERS = 32


def answer_staircases() -> None:
    """Make two runs over the candidates of each film, one from each end."""
    candidates = pl.read_csv("candidates/candidates.csv")
    rows = []
    for number, ((name,), film) in enumerate(
        candidates.group_by(["stimulus"], maintain_order=True)
    ):
        actor, expression = film.row(0, named=True)["actor"], film.row(0, named=True)["expression"]
        frames = film["source_frame"].to_numpy()
        for end, run in FrameStaircase.runs(film.height).items():
            from_end = frames if end == "peak" else frames[::-1]
            apart = TRANSITIONS.of(actor, expression).differences(int(from_end[0]))[from_end]
            # The distance, in frames, at which the difference from the end reaches 1 JND.
            needed = float(np.interp(JND, np.maximum.accumulate(apart), np.arange(apart.size)))
            person = simulate_observer(math.log10(needed), guess_rate=0.1, seed=number)
            result = run.simulate(person).result()
            rows.append(
                {
                    "stimulus": name,
                    "anchor": end,
                    "n_frames": film.height,
                    "distance": result.distance,
                    "status": result.status,
                }
            )
    pl.DataFrame(rows).write_csv("staircases.csv")
    print(f"staircases.csv: {len(rows)} runs of 50 comparisons")


def rate_pairs() -> None:
    """Let 32 people move the slider on every pair."""
    pairs = pl.read_csv("five/pairs.csv")
    frames = pl.read_csv("five/frames.csv").select(
        "actor", "expression", "role", pl.col("source_frame").alias("frame")
    )
    truth = TRANSITIONS.truth(pairs, frames)
    study = simulate_differences(pairs, truth, RATERS, item_sd=10, trial_sd=10, golden=0, repeats=0)
    study.ratings.write("ratings.csv")
    print(f"ratings.csv: {study.ratings.frame.height:,} ratings of {pairs.height} pairs")


def tell_truth() -> None:
    """Find the shortest time in which any drawn face changes by 1 JND, at any moment."""
    fine = draw_transitions(PEOPLE, EXPRESSIONS, fps=120, seed=SEED)
    shortest = []
    for one in fine.transitions:
        for start in range(one.n_frames):
            apart = one.differences(start)[start:]
            if apart.max() >= JND:
                time = np.interp(JND, np.maximum.accumulate(apart), one.times_ms[: apart.size])
                shortest.append((float(time), f"{one.actor} {one.expression}"))
    time, name = min(shortest)
    print(f"the fastest moment of all is in {name}: 1 JND within {time:.1f} ms")


if __name__ == "__main__":
    {"staircases": answer_staircases, "ratings": rate_pairs, "truth": tell_truth}[sys.argv[1]]()
