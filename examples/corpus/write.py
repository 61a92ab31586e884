"""Write the raw answers of the example: invented comments, and what three raters said of each.

Run it in this folder: python write.py
"""

from __future__ import annotations

import csv
import random
from pathlib import Path

LABELS = ("joy", "sadness", "anger", "neutral")
RATERS = [f"r{number}" for number in range(1, 7)]
PER_TEXT = 3
SURE = 0.86
"""How often a rater sees what was meant."""
PLACES = ("library", "bakery", "swimming pool", "bus line", "market hall", "rose garden", "ferry")
MEANT = {
    "joy": (
        "So happy that the {place} is open again!",
        "The {place} made my whole week, thank you all.",
        "What a lovely morning at the {place}, we laughed so much.",
        "Best news in years: the {place} stays!",
        "I love the {place}, and the kids are delighted.",
        "Wonderful, the {place} has never looked better.",
        "Great fun at the {place} yesterday, I am still smiling.",
    ),
    "sadness": (
        "I miss the old {place} more than I can say.",
        "Heartbroken that the {place} is gone.",
        "The {place} feels so empty since she died.",
        "It is a sad day for everyone who grew up with the {place}.",
        "We said goodbye to the {place} and cried all the way home.",
        "Lonely without the {place}, these are long evenings.",
        "Sorry to hear of the loss at the {place}.",
    ),
    "anger": (
        "Who on earth decided to ruin the {place}? Outrageous.",
        "I am furious about what they did to the {place}.",
        "Stop lying to us about the {place}!",
        "The people who run the {place} should be ashamed.",
        "Another broken promise about the {place}, I am sick of it.",
        "How dare they close the {place} without a word.",
        "This is a disgrace, the {place} belongs to us.",
    ),
    "neutral": (
        "The {place} is open from nine to five.",
        "Is there parking near the {place}?",
        "Take the second street on the left, the {place} is at the end.",
        "The meeting about the {place} was moved to Thursday.",
        "There are two entrances to the {place}.",
        "The form for the {place} is on their page.",
        "The {place} was built in 1974.",
    ),
}
ENDS = {
    "joy": ("Made my day.", "What a gift!", "Thank you, thank you.", "We will be back soon."),
    "sadness": (
        "It hurts.",
        "I wish she could see it.",
        "Nothing is as it was.",
        "Poor old place.",
    ),
    "anger": ("Unbelievable.", "Somebody should pay for this.", "Enough is enough!", "Shame."),
    "neutral": ("Bring a ticket.", "More on Friday.", "See the map.", "That was in spring."),
}
ANY = (
    "",
    "",
    "Written on the way home.",
    "My sister says the same.",
    "Has anyone else been there?",
)
"""What may follow anything."""
BOTH = (
    ("So glad for the new {place}, and so sad for those who lost theirs.", ("joy", "sadness")),
    ("I cried when I saw the {place}, and I want those responsible gone.", ("sadness", "anger")),
)
PER_LABEL, PER_BOTH = 90, 20


def add(
    texts: dict[str, tuple[str, ...]],
    n: int,
    meant: tuple[str, ...],
    words: tuple[str, ...],
    ends: tuple[str, ...],
    drawn: random.Random,
) -> None:
    """Put so many different comments together that mean the same."""
    wanted = len(texts) + n
    while len(texts) < wanted:
        said = drawn.choice(words).format(place=drawn.choice(PLACES))
        texts[f"{said} {drawn.choice(ends)}".strip()] = meant


def main() -> None:
    """Write the table: a row per comment and rater, a column per label."""
    drawn = random.Random(7)
    texts: dict[str, tuple[str, ...]] = {}
    for label, words in MEANT.items():
        add(texts, PER_LABEL, (label,), words, (*ENDS[label], *ANY), drawn)
    for words, meant in BOTH:
        add(texts, PER_BOTH, meant, (words,), ANY, drawn)
    order = drawn.sample(sorted(texts), len(texts))
    rows = []
    for number, text in enumerate(order, start=1):
        meant = texts[text]
        for rater in sorted(drawn.sample(RATERS, PER_TEXT)):
            seen = {one for one in meant if drawn.random() < SURE}
            if not seen:
                seen = {drawn.choice([one for one in LABELS if one not in meant])}
            ticks = {label: int(label in seen) for label in LABELS}
            rows.append({"stimulus": f"c{number:03d}", "text": text, "rater": rater, **ticks})
    path = Path(__file__).parent / "raw.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
