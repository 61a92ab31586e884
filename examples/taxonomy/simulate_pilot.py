"""Simulate the pilot of the tutorial: what raters see, choose and suggest is known.

Writes ``pilot.csv`` (one row per rater and text, one column per label) and ``suggestions.csv`` (as
``affectlab study export`` writes it). Run it with: python simulate_pilot.py mine.toml
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

from affectlab.taxonomy import load_taxonomy

TEXTS, RATERS, EACH = 1200, 8, 4
HIT, SLIP = 0.75, 0.0005
GUESSED = {"boredom": 0.04}
"""Chosen at random: nobody can tell from these texts."""
SCARCE = {"envy": 0.0005}
INSTEAD = {"nervousness": "anxiety"}
"""Chosen by the toss of a coin in place of another label."""
MISSED = {"excitement": 0.05, "longing": 0.03, "zest": 0.0005}
"""Not offered, and suggested by every second rater who sees them."""


def main(taxonomy: str, folder: Path, seed: int = 7) -> None:
    """Write the two files into `folder`."""
    rng = np.random.default_rng(seed)
    found = load_taxonomy(taxonomy)
    special = {*GUESSED, *SCARCE, *INSTEAD, found.neutral}
    plain = [label for label in found.labels if label not in special]
    unknown = {*GUESSED, *SCARCE, *INSTEAD, *INSTEAD.values()} - set(found.labels)
    if unknown:
        sys.exit(f"{taxonomy} has no label {min(unknown)!r}, which this pilot is about")
    shares = dict(zip(plain, np.geomspace(0.15, 0.05, len(plain)), strict=True)) | SCARCE
    text = np.repeat(np.arange(TEXTS), EACH)
    rater = np.argsort(rng.random((TEXTS, RATERS)), axis=1)[:, :EACH].ravel()
    chosen = {}
    for label, share in shares.items():
        there = rng.random(TEXTS) < share
        chosen[label] = rng.random(text.size) < np.where(there[text], HIT, SLIP)
    for label, rate in GUESSED.items():
        chosen[label] = rng.random(text.size) < rate
    for label, other in INSTEAD.items():
        coin = rng.random(text.size) < 0.4
        chosen[label], chosen[other] = chosen[other] & coin, chosen[other] & ~coin
    if found.neutral is not None:
        chosen[found.neutral] = ~np.any(list(chosen.values()), axis=0)
    names = {"stimulus": [f"text-{k:04d}" for k in text], "rater": [f"r{k}" for k in rater]}
    answers = {label: chosen[label].astype(int) for label in found.labels}
    pl.DataFrame(names | answers).write_csv(folder / "pilot.csv")
    rows = []
    for label, share in MISSED.items():
        there = rng.random(TEXTS) < share
        for row in np.flatnonzero(there[text] & (rng.random(text.size) < 0.5)):
            spelled = (label, label.upper(), f"{label}!")[int(rng.integers(3))]
            rows.append((names["stimulus"][row], names["rater"][row], spelled))
    columns = ["stimulus", "rater", "suggestion"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(folder / "suggestions.csv")
    print(f"pilot.csv: {text.size:,} answers of {RATERS} raters to {TEXTS:,} texts")
    print(f"suggestions.csv: {len(rows):,} suggestions")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "mine.toml", Path())
