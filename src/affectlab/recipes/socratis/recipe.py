"""Socratis (Deng, Ray, Tan et al., 2023): why people feel what they feel about captioned images.

People name emotions about image-caption pairs and say why; machines are asked the same; judges say
blindly whose reason fits better; and metrics are asked whether they see what judges prefer. The
simulation plays this on drawn pictures with invented captions, with tiny networks that are trained
on the spot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from affectlab.recipes.published_figures import load_published
from affectlab.recipes.recipe import SETTING, Finding, Parts, Recipe, RecipeRun
from affectlab.recipes.socratis.data import NEEDS, run_on_file
from affectlab.recipes.socratis.figures import metric_pictures, reaction_pictures, study_pictures
from affectlab.recipes.socratis.findings import (
    N_RANDOM,
    agreement_finding,
    data_findings,
    diversity_note,
    published_notes,
    sentiment_finding,
    study_findings,
    table2_findings,
    table3_findings,
    words_note,
)
from affectlab.recipes.socratis.grammar import fit_of
from affectlab.recipes.socratis.machines import Machines, train_machines
from affectlab.recipes.socratis.pairs import Pairs, make_pairs
from affectlab.recipes.socratis.people import Checked, ask_people, checked_reactions
from affectlab.recipes.socratis.preference_study import (
    JUDGES,
    judge,
    scores_of_items,
    text_items_of,
)
from affectlab.recipes.threads import one_thread

if TYPE_CHECKING:
    from affectlab.core.estimates import Estimate
    from affectlab.core.result import Result
    from affectlab.evaluation.preference import Preferences


__all__ = [
    "FULL",
    "QUICK",
    "RECIPE",
    "Size",
    "play",
    "run_simulation",
]


@dataclass(frozen=True)
class Size:
    """How large a simulation is."""

    pairs: int
    """Half of them train networks, the other half is judged."""
    items: int
    """Items of the blind study."""
    steps: tuple[int, int, int]
    """Batches that the writer, BART and CLIP learn from, 20 or more each."""


FULL = Size(pairs=480, items=500, steps=(420, 500, 400))
QUICK = Size(pairs=160, items=240, steps=(450, 200, 150))
"""The writer stops early, so that it errs and judges have something to choose."""


def run_simulation(
    size: Size, seed: int, done: Callable[[str], None] = lambda _: None
) -> RecipeRun:
    """Play the whole chain; `done` is told the name of each part that is done."""

    with TemporaryDirectory() as folder, one_thread():
        return play(size, Path(folder), seed, done)


def _simulate(seed: int, quick: bool) -> RecipeRun:
    return run_simulation(QUICK if quick else FULL, seed)


RECIPE = Recipe(
    name="socratis",
    published=lambda: load_published("socratis"),
    needs=NEEDS,
    run=run_on_file,
    simulate=_simulate,
)

# The whole chain of Socratis, simulated: people, machines, judges, metrics.


_MOST = 3000
"""Pairs of reactions to the same that BARTScore compares."""


@dataclass(frozen=True)
class _Fits:
    """How well a text fits a pair and an emotion word: the truth that is planted."""

    pairs: Pairs
    meant: dict[str, str]

    def __call__(self, text: str, pair: str, word: str) -> float:
        one = next(one for one in self.pairs.pairs if one.name == pair)
        return fit_of(text, self.meant[word], one.thing, one.scene)


def play(size: Size, folder: Path, seed: int, done: Callable[[str], None]) -> RecipeRun:
    """Play the chain in a folder, and find all figures."""
    pictures = folder / "pictures"
    pictures.mkdir()
    pairs = make_pairs(size.pairs, pictures, seed)
    people = ask_people(pairs, seed)
    done("pairs and people")
    checked = checked_reactions(people)
    parts = Parts(done)
    parts.notes += ["Pictures are drawn; captions, people and judges are simulated."]
    with parts("quality and privacy", "data."):
        parts.add(
            data_findings(checked.ratings, checked.table),
            [
                *checked.notes,
                words_note(checked.table, checked.words),
                diversity_note(checked.table, checked.words),
            ],
            reaction_pictures(checked.table, checked.words),
        )
    machines: Machines | None = None
    with parts("networks", "quality.", "study.", "table2.", "table3."):
        machines = train_machines(pairs, checked, folder, size.steps, seed, done)
    if machines is not None:
        _judge_machines(size, pairs, checked, machines, seed, parts)
    parts.notes += published_notes()
    return parts.to_run()


def _judge_machines(
    size: Size, pairs: Pairs, checked: Checked, machines: Machines, seed: int, parts: Parts
) -> None:
    """Find what needs the trained networks: agreement, the blind study, and metrics."""
    from affectlab.evaluation import evaluate_preference_metrics, reaction_pairs

    with parts("agreement and sentiment", "quality."):
        judged = checked.table.filter(pl.col("stimulus").is_in(list(machines.judged)))
        agreement = agreement_finding(
            judged, checked.words, machines.pair_scorer(), most=_MOST, seed=seed
        )
        match = sentiment_finding(judged, checked.words, machines.sentiment)
        parts.add(
            {
                "quality.agreement": agreement,
                "quality.random_pairs": Finding(float(N_RANDOM), doubt=SETTING),
                "quality.sentiment_match": match,
            }
        )
    images = {one.name: one.image for one in pairs.pairs}
    fit = _Fits(pairs, checked.meant)
    verdicts: Preferences | None = None
    with parts("blind study", "study."):
        human = checked.reactions(machines.judged)
        items = reaction_pairs(human, machines.multimodal, n=size.items, seed=seed)
        verdicts = judge(items, fit, seed)
        parts.add(study_findings(verdicts, JUDGES), figures=study_pictures(verdicts, items, images))
    means: dict[str, Finding] = {}
    with parts("means of metrics", "table3."):
        means = table3_findings(_means(machines, images))
        parts.add(means, machines.notes)
    if verdicts is None:
        return
    with parts("metrics", "table2."):
        texts = text_items_of(items, images)
        scores = scores_of_items(machines.metrics, items, texts, fit, seed)
        seen = evaluate_preference_metrics(
            verdicts,
            scores,
            items=items.rename({"stimulus": "item"}),
            cluster="pair",
            seed=seed,
        )
        found = table2_findings(seen, machines.metrics.names)
        parts.add(
            found, _seen_notes(seen), metric_pictures(seen, found | means, machines.metrics.names)
        )


def _means(machines: Machines, images: dict[str, Path]) -> dict[tuple[str, str], Estimate]:
    """Give the means of Table 3: all reasons about the judged pairs, with and without images."""
    made = {}
    for who in ("multimodal", "text"):
        items, pairs = machines.items(who, images)
        for metric, mean in machines.metrics.means(items, pairs).items():
            made[who, metric] = mean
    return made


def _seen_notes(seen: Result) -> list[str]:
    """Say of every metric whether it sees what judges prefer."""
    return [f"Metrics: {sentence}" for sentence in seen.sentences if "AUC of" not in sentence]
