"""The blind study with judges who prefer what fits, and what metrics say of its items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.core.types import Floats
from affectlab.models.text_metrics import (
    BartScore,
    ClipScore,
    RefClipScore,
    TextItem,
    TextScores,
    score_means,
)

if TYPE_CHECKING:
    from affectlab.core.estimates import Estimate
    from affectlab.evaluation.preference import Preferences

__all__ = ["JUDGES", "PLANTED", "Metrics", "judge", "scores_of_items", "text_items_of"]

JUDGES = 3
PLANTED = "planted fit"
"""What the judges look at; no metric can know more."""
BLIND = "random numbers"
_N_JUDGES = 24
_GAIN = 1.5
"""Logits of preference for each point of fit."""
_HUMAN = 0.1
"""Logits by which reasons of people are liked more at the same fit."""
_OF_ITEM = 0.4
_BOTH, _NEITHER = 0.2, 0.35
"""Weights of the other choices where both fit as well as can be, or neither does at all."""

Fit = Callable[[str, str, str], float]
"""How well a text fits, given the pair and the emotion word."""


@dataclass(frozen=True)
class Metrics:
    """The metrics of section 4, with tiny networks."""

    bart: BartScore
    clip: ClipScore
    refclip: RefClipScore

    @classmethod
    def of(cls, bart: str | Path, clip: str | Path) -> Metrics:
        """Make them; CLIP sees the sentence of the paper, references unscaled images."""
        return cls(
            BartScore(bart, device="cpu"),
            ClipScore(clip, sentence="socratis", device="cpu"),
            RefClipScore(clip, sentence="socratis", reference_scale="unscaled", device="cpu"),
        )

    @property
    def names(self) -> dict[str, str]:
        """Their full names by short ones."""
        return {"bart": self.bart.name, "clip": self.clip.name, "refclip": self.refclip.name}

    def score(self, items: tuple[TextItem, ...]) -> list[TextScores]:
        """Score items by all of them."""
        return [metric.score_items(items) for metric in (self.bart, self.clip, self.refclip)]

    def means(self, items: tuple[TextItem, ...], pairs: list[str]) -> dict[str, Estimate]:
        """Give the means of Table 3; pairs are drawn for intervals."""
        scores = [metric.score_items(items) for metric in (self.clip, self.refclip)]
        found = score_means(scores, clusters=pairs)
        return {short: found[self.names[short], "all", "all"] for short in ("clip", "refclip")}


def judge(items: pl.DataFrame, fit: Fit, seed: int) -> Preferences:
    """Let three judges say of each item which reason fits better, both, or neither.

    Parameters
    ----------
    items
        Of :func:`affectlab.evaluation.reaction_pairs`.
    """
    from affectlab.evaluation import preferences
    from affectlab.ratings import Ratings

    rng = np.random.default_rng([7_004, seed])
    rows = []
    for row in items.iter_rows(named=True):
        fits = {
            row[f"system_{side}"]: fit(row[f"option_{side}"], row["pair"], row["emotion"])
            for side in "ab"
        }
        weights = _weights(fits["human"], fits["machine"], float(rng.normal(0, _OF_ITEM)))
        for one in rng.choice(_N_JUDGES, JUDGES, replace=False):
            said = ("human", "machine", "both", "neither")[int(rng.choice(4, p=weights))]
            # Judges see sides, which are turned anew for each of them.
            turned = bool(rng.random() < 0.5)
            first = row["system_a"] == said
            value = said if said in ("both", "neither") else "A" if first else "B"
            left = row["system_b"] if turned else row["system_a"]
            rows.append(
                {
                    "stimulus": row["stimulus"],
                    "rater": f"judge{int(one):02d}",
                    "value": value,
                    "left": left,
                }
            )
    stimuli = items.select(
        "stimulus", pl.col("system_a").alias("A"), pl.col("system_b").alias("B"), "pair"
    )
    ratings = Ratings(
        pl.DataFrame(rows), scale="nominal:A,B,both,neither", stimuli=stimuli, source="judgements"
    )
    return preferences(ratings)


def _weights(human: float, machine: float, item: float) -> Floats:
    gap = _GAIN * (human - machine) + _HUMAN + item
    both = _BOTH * np.exp(min(human, machine))
    neither = _NEITHER * np.exp(-max(human, machine))
    weights = np.array([np.exp(gap / 2), np.exp(-gap / 2), both, neither])
    found: Floats = weights / weights.sum()
    return found


def text_items_of(items: pl.DataFrame, images: Mapping[str, Path]) -> tuple[TextItem, ...]:
    """Give the machine's reason of each item, with the person's as reference."""
    found = []
    for row in items.iter_rows(named=True):
        option = {row[f"system_{side}"]: row[f"option_{side}"] for side in "ab"}
        found.append(
            TextItem(
                candidate=option["machine"],
                references=(option["human"],),
                image=images[row["pair"]],
                item=row["stimulus"],
                emotion=row["emotion"],
                caption=row["caption"],
            )
        )
    return tuple(found)


def scores_of_items(
    metrics: Metrics, items: pl.DataFrame, texts: tuple[TextItem, ...], fit: Fit, seed: int
) -> pl.DataFrame:
    """Score the machine's reasons by all metrics, by what the judges look at, and at random."""
    rng = np.random.default_rng([7_005, seed])
    planted = [
        fit(text.candidate, pair, text.emotion)
        for text, pair in zip(texts, items["pair"], strict=True)
    ]
    names = [text.item for text in texts]
    own = [
        pl.DataFrame({"item": names, "metric": [name] * len(names), "score": values})
        for name, values in ((PLANTED, planted), (BLIND, rng.random(len(names))))
    ]
    scored = [one.to_frame().select("item", "metric", "score") for one in metrics.score(texts)]
    return pl.concat([*scored, *own])
