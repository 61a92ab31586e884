"""Write comments.csv: invented comments of five invented groups, to try curation on.

Run it in this folder:  python make_comments.py
"""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

OPENINGS = ["", "", "Honestly, ", "Well, ", "Ha, ", "To be fair, ", "After all this time, "]
ENDINGS = ["", "", "!", ".", " …", ", at least for me.", " and I told everyone at home about it."]
SAID = {
    "joy": ["we spent the whole day at the lake", "my sister finally got the job"],
    "admiration": ["you built that shelf better than any shop", "her garden is a work of art"],
    "gratitude": ["thank you for the long answer", "the neighbours saved our evening, thanks"],
    "anger": ["they cancelled the last bus again", "nobody answers the damn phone there"],
    "sadness": ["our old dog did not make it", "the bakery on the corner has closed"],
    "annoyance": ["the printer ate my form again", "people keep parking on the cycle path"],
    "curiosity": ["how do you keep the soil that moist", "what happens when the tide comes in"],
    "surprise": ["I did not expect snow in May", "the tiny box held four whole chairs"],
    "confusion": [
        "I have no idea which door you mean",
        "the map says left and the sign right",
    ],
    "neutral": ["the shop opens at nine", "the second bridge is two miles further"],
}
ADDED = [
    "",
    " with my brother",
    " just like last year",
    " near the old station",
    " for the third time this week",
    " even though it rained from early morning until late at night",
]
OTHERS = [
    ("Das habe ich wirklich nicht erwartet, aber es freut mich sehr.", "joy"),
    ("Je ne comprends pas du tout pourquoi le train est encore en retard.", "confusion"),
    ("Muchas gracias por la respuesta, me ha ayudado muchísimo.", "gratitude"),
    ("[deleted]", ""),
    ("[removed]", ""),
    ("", ""),
    ("Nice.", "joy"),
    ("My friend Anna from the mosque choir baked bread for all of us.", "joy"),
    ("As a deaf woman I was glad that somebody had thought of subtitles.", "gratitude"),
    ("The gay couple next door invited the whole street to dinner.", "joy"),
]
GROUPS = {"gardens": 150, "cycling": 120, "repairs": 90, "stations": 60, "quietcorner": 12}


def main() -> None:
    """Write the file."""
    rng = Random(7)
    rows = []
    for group, n in GROUPS.items():
        for _ in range(n):
            if rng.random() < 0.12:
                text, emotions = rng.choice(OTHERS)
            else:
                label = rng.choice(list(SAID))
                text = rng.choice(OPENINGS) + rng.choice(SAID[label]) + rng.choice(ADDED)
                text = text[:1].upper() + text[1:] + rng.choice(ENDINGS)
                second = rng.random() < 0.15 and label != "neutral"
                emotions = f"{label};{rng.choice(['surprise', 'approval'])}" if second else label
            rows.append((f"c{len(rows):04d}", group, text, emotions))
    rng.shuffle(rows)
    with Path("comments.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("id", "subreddit", "body", "predicted"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
