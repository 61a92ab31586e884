"""The whole chain of EmoNet-Face, simulated: faces, experts, heads, models, and the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.core.words import in_brackets, number, percent
from affectlab.recipes.emonet_face.agreement import (
    LARGE,
    STAND_INS,
    Compared,
    compare,
    hq_findings,
    inconsistencies,
    paper_name,
)
from affectlab.recipes.emonet_face.consensus import binary_alpha, binary_consensus
from affectlab.recipes.emonet_face.data import with_reasons
from affectlab.recipes.emonet_face.figures import binary_figures, hq_figures
from affectlab.recipes.emonet_face.heads import HEADS_MISSING, HeadSize, has_torch, train_heads
from affectlab.recipes.emonet_face.human_level import human_level, level_notes
from affectlab.recipes.emonet_face.people import NOISE, Faces, ask_experts, ask_models, faces
from affectlab.recipes.recipe import SETTING, Finding, Parts, RecipeRun

if TYPE_CHECKING:
    from affectlab.ratings import Ratings


__all__ = [
    "FULL",
    "QUICK",
    "Size",
    "architecture",
    "play",
    "prefer",
]

# The blind study of appendix B.3: do people prefer people's five emotions or the model's?


_NOISE = 1.5
"""Errors of judges, in points of the scale summed over five emotions."""


def prefer(
    shown: Faces, people: Ratings, models: Ratings, model: str, *, most: int, seed: int
) -> tuple[dict[str, Finding], str]:
    """Let two judges say of each image, blindly, which set of five emotions fits better.

    They see what faces show, which is planted, with errors; each judges half of the images.
    """
    from affectlab.evaluation import preference_pairs, preferences
    from affectlab.ratings import Ratings

    rng = np.random.default_rng([8_020, seed])
    items = preference_pairs(people, models.select(raters=model), k=5, seed=seed)
    items = items.filter(~pl.col("same"))
    items = items[np.sort(rng.permutation(items.height)[:most])]
    labels = {name: k for k, name in enumerate(shown.truth.labels)}
    faces = {name: k for k, name in enumerate(shown.truth.stimuli)}
    rows = []
    for place, row in enumerate(items.iter_rows(named=True)):
        value = shown.truth.value[faces[row["shown"]]]
        fits = [
            sum(value[labels[name]] for name in row[f"labels_{side}"].split("; ")) for side in "AB"
        ]
        first = fits[0] - fits[1] + rng.normal(0, _NOISE) > 0
        rows.append((row["stimulus"], f"judge-{1 + place % 2}", "A" if first else "B"))
    table = pl.DataFrame(rows, schema=["stimulus", "rater", "value"], orient="row")
    found = preferences(
        Ratings(table, scale="nominal:A,B", stimuli=items, source="simulated judges")
    )
    counts = dict(zip(found.choices, found.votes.sum(axis=0).tolist(), strict=False))
    share = found["decided votes", "human"]
    return {
        "preference.images": Finding(float(items.height)),
        "preference.judges": Finding(2.0, doubt=SETTING),
        "preference.human": Finding(float(counts["human"])),
        "preference.model": Finding(float(counts[model])),
        "preference.share": Finding(share.value, share.low, share.high),
    }, (
        f"Of {items.height:,} images on which the two sets differ, judges prefer people's on "
        f"{percent(share.value)}{in_brackets(share.low, share.high, 0, write=percent)}. "
        "Of the printed counts 707 of 999 is 70.8 % [67.8, 73.6]."
    )


@dataclass(frozen=True)
class Size:
    """How large a simulation is."""

    binary: int
    """Images of the sequential protocol."""
    images: int
    """Images that experts rate from 0 to 7."""
    judged: int
    """Images of the preference study, at most."""
    n_boot: int
    heads: HeadSize | None
    """None: heads are left out."""


FULL = Size(
    binary=19999,
    images=2500,
    judged=999,
    n_boot=1000,
    heads=HeadSize(width=256, big=12000, binary=6000, neutral=1700, epochs=8, paper_shapes=True),
)
QUICK = Size(
    binary=1000,
    images=200,
    judged=100,
    n_boot=100,
    heads=HeadSize(width=48, big=1200, binary=800, neutral=100, epochs=10, paper_shapes=False),
)


def architecture() -> dict[str, Finding]:
    """Count what follows from the printed layers alone, whatever the data."""
    from affectlab.models.heads import BIG, SMALL

    width = 1152
    return {
        "heads.width": Finding(why="taken from the paper, to count parameters from"),
        "heads.small.parameters": Finding(float(SMALL.n_parameters(width)), doubt=SETTING),
        "heads.big.parameters": Finding(float(BIG.n_parameters(width)), doubt=SETTING),
    }


def play(size: Size, seed: int, done: Callable[[str], None]) -> RecipeRun:
    """Play the chain, and find all figures."""
    from affectlab.simulate import simulate_verification

    parts = Parts(done)
    with parts("binary consensus", "binary."):
        votes = simulate_verification(n_stimuli=size.binary, seed=seed)
        parts.add(
            binary_consensus(votes)
            | binary_alpha(votes, n_boot=size.n_boot, seed=seed, published=False)[0],
            figures=binary_figures(votes),
        )

    shown = faces(size.images, seed)
    people = ask_experts(shown, seed)
    models = ask_models(shown, people, seed)
    parts.notes += [
        "The answers are simulated: faces are invented, experts and models err by as much as was "
        "planted. A name with ~ is a stand-in, and says nothing about the model it stands for.",
        "Set after the paper, so that likeness in them is no finding: the numbers of people, "
        "judges and answers for each image (without --quick those of images, too), who errs more "
        "than whom (Table 6), and which emotions faces show best and worst (section 3).",
    ]
    done("experts and models")
    parts.add(architecture() | _of_taxonomy(people))
    if size.heads is not None and has_torch():
        with parts("heads and preference", "heads.neutral", "preference."):
            heads = train_heads(shown, size.heads, seed)
            models = heads.answers.merge(models)
            parts.add({"heads.neutral": Finding(float(heads.n_neutral))}, [heads.note])
            judged, told = prefer(
                shown, people, models, STAND_INS[LARGE], most=size.judged, seed=seed
            )
            parts.add(judged, [told])
    else:
        parts.notes.append(
            f"Heads, and the preference study about them, are left out; {HEADS_MISSING}."
        )
    compared: Compared | None = None
    with parts("tables", "hq.", "table3.", "table6.", "test."):
        compared = compare(people, models, n_boot=size.n_boot, seed=seed)
        parts.add(hq_findings(compared))
    if compared is not None:
        with parts("human level"):
            level = human_level(compared, seed=seed)
            parts.notes += [*level_notes(compared, level), *_recovered(shown, people, compared)]
            parts.figures += hq_figures(compared, level)
    parts.add(with_reasons(parts.findings, why="not played in this simulation"), inconsistencies())
    return parts.to_run()


def _of_taxonomy(people: Ratings) -> dict[str, Finding]:
    return {"taxonomy.emotions": Finding(float(people.n_labels))}


def _recovered(shown: Faces, people: Ratings, found: Compared) -> list[str]:
    """Say how well what was planted came out again."""
    from scipy.stats import spearmanr

    from affectlab.reliability import self_consistency

    lines = []
    if found.tables.raters is not None:
        mean = dict(found.tables.raters.select("rater", "mean").iter_rows())
        named = [name for name in mean if paper_name(name) in NOISE]
        rank = spearmanr(
            [NOISE[paper_name(name)] for name in named], [mean[name] for name in named]
        )
        lines.append(
            f"Planted: errors of {len(named)} raters and their mean kappa have a rank correlation "
            f"of {number(float(rank.statistic))}"
        )
    alpha = found.tables.alpha.frame.filter(pl.col("side") == "human").drop_nans("value")
    clear = [shown.clarity[name] for name in alpha["label"]]
    rank = spearmanr(clear, alpha["value"].to_numpy())
    lines.append(
        f"how clearly faces show an emotion and its alpha one of {number(float(rank.statistic))}."
    )
    again = self_consistency(people).frame.filter(pl.col("measure") == "absolute difference")
    value = again["value"].to_numpy()
    return [
        ", ".join(lines),
        f"Experts who rate an image again are {np.nanmin(value):.2f} to {np.nanmax(value):.2f} "
        "points off their first answer. The paper gives an internal agreement in per cent, and "
        "not how it is counted.",
    ]
