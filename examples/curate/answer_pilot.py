"""Write answers.csv: what invented people say of the comments of a pilot.

Run it in this folder, with the table that `affectlab stimuli curate pilot.toml --out curated
--pilot 200` has written:  python answer_pilot.py curated/pilot/pilot-texts.csv
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from random import Random

PEOPLE = ["p1", "p2", "p3", "p4", "p5", "p6"]
EACH = 3
"""People who answer each comment."""
NOTICED = 0.85
"""How often a person sees an emotion that is there."""


def main() -> None:
    """Write the file."""
    rng = Random(11)
    with Path("comments.csv").open(encoding="utf-8", newline="") as file:
        meant = {row["id"]: {*row["predicted"].split(";")} for row in csv.DictReader(file)}
    labels = sorted({label for each in meant.values() for label in each} - {""})
    with Path(sys.argv[1]).open(encoding="utf-8", newline="") as file:
        asked = list(csv.DictReader(file))
    with Path("answers.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("stimulus", "text", "rater", "label", "value"))
        for row in asked:
            for person in sorted(rng.sample(PEOPLE, EACH)):
                seen = [each for each in sorted(meant[row["stimulus"]]) if rng.random() < NOTICED]
                for label in seen or [rng.choice(labels)]:
                    writer.writerow((row["stimulus"], row["text"], person, label, 1))


if __name__ == "__main__":
    main()
