"""Answer the review of the tutorial as two people would who know how the scenes were made.

Both look for the emotion of a scene in what it was drawn from. Where even the likeliest emotion has
a chance of less than one half, Ana finds the scene ambiguous; Ben is a little stricter.
"""

import polars as pl

from affectlab.simulate import simulate_scenes

LABELS = ("fine", "no emotion", "ambiguous", "illegible", "harmful", "other")
STRICT = {"Ana": 0.5, "Ben": 0.55}

scenes = simulate_scenes(640, seed=2)
chance = {f"test-{at:03d}": row.max() for at, row in enumerate(scenes.chances)}
asked = pl.read_csv("drawn-errors.csv")["stimulus"].to_list()
rows = [
    {"stimulus": name, "rater": rater, "label": label, "value": int(label == said)}
    for rater, least in STRICT.items()
    for name in asked
    for said in ["fine" if chance[name] >= least else "ambiguous"]
    for label in LABELS
]
pl.DataFrame(rows).write_csv("answers.csv")
print(f"answers.csv: {len(STRICT)} people about {len(asked)} scenes")
