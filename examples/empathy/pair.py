"""Put people's reasons beside the machine's for a blind study, and make texts for metrics.

blind.csv has the items of the study. Its column `nearer` says whose reason fits, which only
the simulated judges are told; fit.csv holds the same as the scores of a metric that nobody has.
texts.csv has the machine's reasons as candidates. Run it in this folder: python pair.py
"""

from __future__ import annotations

import json

import polars as pl
from make import FELT, HERE, THINGS

from affectlab.evaluation import reaction_pairs
from affectlab.ratings import read_ratings


def fit(text: str, thing: str, word: str) -> int:
    """Count 2 for a reason of the emotion, 1 for what the news is about; another's take away."""
    marks = {
        name: [max(one.split("{thing}"), key=len).strip() for one in FELT[name]] for name in FELT
    }
    named = [name for name in marks if any(one in text.lower() for one in marks[name])]
    others = [one for one in THINGS.split("|") if one != thing and one in text.lower()]
    return (
        2 * (word in named)
        - 2 * any(name != word for name in named)
        + ((thing in text.lower()) - bool(others))
    )


def main() -> None:
    """Write the three tables."""
    about = json.loads((HERE / "about.json").read_text(encoding="utf-8"))
    items = reaction_pairs(
        read_ratings(HERE / "reactions.json"),
        read_ratings(HERE / "machine.csv", scale="text"),
        seed=1,
    )
    rows = []
    for row in items.to_dicts():
        option = {row["system_a"]: row["option_a"], row["system_b"]: row["option_b"]}
        fits = {who: fit(option[who], about[row["pair"]], row["emotion"]) for who in option}
        gap = fits["machine"] - fits["human"]
        nearer = "neither" if not gap else "machine" if gap > 0 else "human"
        rows.append(option | {"item": row["stimulus"], "nearer": nearer, "fit": fits["machine"]})
    known = pl.DataFrame(rows)
    items.drop("file").with_columns(known["nearer"]).write_csv(HERE / "blind.csv")
    pl.DataFrame(
        {
            "item": known["item"],
            "candidate": known["machine"],
            "reference": known["human"],
            "pair": items["pair"],
            "emotion": items["emotion"],
        }
    ).write_csv(HERE / "texts.csv")
    known.select("item", pl.lit("fit").alias("metric"), pl.col("fit").alias("score")).write_csv(
        HERE / "fit.csv"
    )
    counts = dict(known["nearer"].value_counts(sort=True).iter_rows())
    told = ", ".join(f"{who} {n}" for who, n in sorted(counts.items()))
    print(f"{items.height} items; whose reason fits better: {told}")


if __name__ == "__main__":
    main()
