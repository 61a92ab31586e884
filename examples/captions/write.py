"""Write what two models say of the pictures and of the captions of the example.

They are invented: a model of pictures sees a storm as fear whatever stands below it, and one of
texts reads the caption alone. Run it in this folder: python write.py
"""

from __future__ import annotations

import csv
from pathlib import Path

HERE = Path(__file__).parent
LABELS = ("joy", "surprise", "sadness", "anger", "fear")
PICTURES = {"lighthouse": "fear", "swing": "sadness", "cake": "joy", "balloon": "joy"}
CAPTIONS = {
    "lighthouse": ("sadness", "joy", "joy", "anger"),
    "swing": ("sadness", "joy", "fear", "surprise"),
    "cake": ("joy", "sadness", "joy", "anger"),
    "balloon": ("surprise", "anger", "sadness", "joy"),
}


def rows(said: dict[str, str], rater: str) -> list[dict[str, object]]:
    """Give the probability of every label; the rest is shared by those that were not named."""
    sure = {name: 0.6 + 0.03 * (len(name) % 7) for name in said}
    return [
        {
            "stimulus": name,
            "rater": rater,
            "rater_kind": "model",
            "label": label,
            "value": round(
                sure[name] if label == named else (1 - sure[name]) / (len(LABELS) - 1), 3
            ),
        }
        for name, named in said.items()
        for label in LABELS
    ]


def main() -> None:
    """Write both tables."""
    of_pictures = {f"{p}-{k}": PICTURES[p] for p in CAPTIONS for k in range(1, 5)}
    of_captions = {f"{p}-{k}": CAPTIONS[p][k - 1] for p in CAPTIONS for k in range(1, 5)}
    for name, said, rater in (
        ("picture-emotions.csv", of_pictures, "pictures-1"),
        ("caption-emotions.csv", of_captions, "words-1"),
    ):
        with (HERE / name).open("w", newline="", encoding="utf-8") as file:
            made = rows(said, rater)
            table = csv.DictWriter(file, list(made[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(made)


if __name__ == "__main__":
    main()
