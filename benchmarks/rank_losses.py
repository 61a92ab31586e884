"""Losses that know which mistakes are worse, on drawn scenes that follow the wheel, or do not.

``python -m benchmarks.rank_losses [--seeds 10] [--scenes 800]`` trains heads on features of drawn
scenes (:func:`affectlab.simulate.simulate_scenes`), with the same scenes, weights to start from and
epochs for each loss, and prints ACC, ACC2, ECC and EMC on other scenes: means over seeds, and
paired differences, both with 95 % of Student's t. It writes them to ``RANK_LOSSES.md``
(``--dry``: it does not), with sentences that follow from the intervals.

Three kinds of scenes: as alike as their labels are near on Mikels' wheel; on a wheel with the
labels in another order, a new one for each seed; and all labels equally far. Metrics take Mikels'
distances everywhere. Sizes and epochs were chosen on seed 1001, which is not reported.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Workload
from benchmarks._seed_tables import MEASURES, Interval, Page, means_table, paired_table

Floats = NDArray[np.float64]

WORKLOADS: tuple[Workload, ...] = ()
"""None: what is found is looked at, and not how long it takes."""

_HERE = Path(__file__).resolve().parent
_SCENES: dict[str, Any] = {"spread": 0.4, "stray": 0.2}
_NOISE = 0.5
_HIDDEN, _EPOCHS, _TEST = 64, 20, 4000

CE, COST, SOFT = "cross-entropy", "cross-entropy, cheapest label", "soft labels"
TRUE, RANDOM, REVERSED = "ListMLE, true rank", "ListMLE, random rank", "ListMLE, reversed rank"
LIGHT, DRAWN = "ListMLE, true rank, λ = .2", "ListMLE, rank as drawn"
BEST = "best possible"

WORLDS = {
    "wheel": "Scenes that follow the wheel",
    "random": "Control: another order around the wheel",
    "even": "Control: all labels equally far",
}


def losses(world: str, names: Sequence[str], seed: int) -> dict[str, dict[str, Any]]:
    """Arguments of ``fit`` for each loss."""
    found: dict[str, dict[str, Any]] = {
        CE: {},
        TRUE: {"loss": "rank"},
        RANDOM: {"loss": "rank", "order": "random"},
        REVERSED: {"loss": "rank", "order": "reversed"},
        LIGHT: {"loss": "rank", "lam": 0.2},
        SOFT: {"loss": "soft"},
    }
    if world == "random":
        from affectlab.models.losses import EmotionRankLoss

        found[DRAWN] = {"loss": EmotionRankLoss(drawn_costs(names, seed), names)}
    return found


def drawn_costs(names: Sequence[str], seed: int) -> Any:
    """Costs by the order in which the labels of a control lie around the wheel."""
    from affectlab.simulate.scenes import label_places
    from affectlab.taxonomy import CostMatrix, load_taxonomy

    taxonomy = load_taxonomy("mikels")
    true, placed = (label_places(taxonomy, order, seed) for order in ("wheel", "random"))
    owner = {
        name: next(other for other in true if np.allclose(true[other], placed[name]))
        for name in names
    }
    costs = taxonomy.cost_matrix()
    matrix = [[costs.cost(owner[a], owner[b]) for b in names] for a in names]
    return CostMatrix(tuple(names), np.array(matrix, dtype=float))


def one_seed(world: str, seed: int, n_scenes: int) -> dict[str, dict[str, float]]:
    """Train with each loss; give the measures of each on other scenes."""
    from affectlab.evaluation import confusion
    from affectlab.models.vision import VisionClassifier
    from affectlab.recipes.to_err_like_human.data import scene_embeddings
    from affectlab.simulate import simulate_scenes

    learned, test = (
        simulate_scenes(n, order=world, order_seed=seed, seed=2 * seed + at, **_SCENES)  # type: ignore[arg-type]
        for at, n in enumerate((n_scenes, _TEST))
    )
    rows, other = (
        scene_embeddings(scenes, noise=_NOISE, encoder=seed) for scenes in (learned, test)
    )
    names = learned.names

    def judged(said: Sequence[str]) -> dict[str, float]:
        seen = confusion(test.labels, said, labels=names, taxonomy="mikels")
        return {
            measure: seen.metric("accuracy" if measure == "acc" else measure)
            for measure in MEASURES
        }

    found = {}
    for name, settings in losses(world, names, seed).items():
        model = VisionClassifier("mikels", names, hidden=_HIDDEN, seed=seed)
        model.fit(rows, learned.labels, epochs=_EPOCHS, device="cpu", **settings)
        proba = model.predict_proba(other)
        found[name] = judged(model.decide(proba))
        if name == CE:
            found[COST] = judged(model.decide(proba, "cost"))
    found[BEST] = judged([names[at] for at in test.chances.argmax(axis=1)])
    return found


def gathered(runs: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, Floats]]:
    """Give values over seeds by method and measure."""
    return {
        name: {measure: np.array([run[name][measure] for run in runs]) for measure in values}
        for name, values in runs[0].items()
    }


def says(told: Mapping[tuple[str, str], Mapping[str, Interval]]) -> list[str]:
    """Write what the intervals support, and no more."""
    lines = []
    for (one, other), measures in told.items():
        up = [name.upper() for name, found in measures.items() if found.low > 0]
        down = [name.upper() for name, found in measures.items() if found.high < 0]
        parts = []
        if up:
            parts.append(f"higher {', '.join(up)}")
        if down:
            parts.append(f"lower {', '.join(down)}")
        said = " and ".join(parts) if parts else "no difference that the seeds support"
        lines.append(f"- {one} against {other}: {said}.")
    return lines


def pairs_of(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Methods that are set against each other."""
    pairs = [(name, CE) for name in found if name not in (CE, BEST)]
    pairs += [(TRUE, RANDOM), (TRUE, REVERSED), (RANDOM, REVERSED), (TRUE, COST)]
    if DRAWN in found:
        pairs.append((DRAWN, TRUE))
    return pairs


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description="Losses that know which mistakes are worse.")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--scenes", type=int, default=800, help="that are learned from")
    parser.add_argument("--dry", action="store_true", help="keep RANK_LOSSES.md as it is")
    given = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    page = Page("Losses that know which mistakes are worse", _HERE / "RANK_LOSSES.md")
    page.say(
        f"Written by `python -m benchmarks.rank_losses --seeds {given.seeds} --scenes "
        f"{given.scenes}` on {datetime.now(UTC).date().isoformat()}, affectlab "
        f"{version('affectlab')}. Heads with {_HIDDEN} units learn from features of {given.scenes} "
        f"drawn scenes for {_EPOCHS} epochs, and are judged on {_TEST:,} others; "
        f"{given.seeds} seeds draw scenes, encoder and weights. One scene in five lies about the "
        "place of any label. In percent, with 95 % of Student's t over seeds; differences are of "
        "the same seeds, in bold where 0 is outside. Intervals are not corrected for their number: "
        "of twenty bold ones, one may be chance. λ is 1 where it is not said."
    )
    started = perf_counter()
    for world, title in WORLDS.items():
        runs = [one_seed(world, seed, given.scenes) for seed in range(given.seeds)]
        found = gathered(runs)
        page.head(title)
        means_table(page, found, "loss")
        told = paired_table(page, found, pairs_of(found))
        page.say("What the intervals support:\n\n" + "\n".join(says(told)))
    page.head("What this shows")
    for text in _EXPLAINED:
        page.say(text)
    page.console.print(f"{perf_counter() - started:.0f} s")
    if not given.dry:
        page.write()


_EXPLAINED: tuple[str, ...] = (
    "**Where scenes follow the wheel, the pattern is the paper's, and smaller.** The true rank "
    "errs more mildly than cross-entropy and names fewer labels right; ECC, which weighs both, "
    "shows no difference, and with λ = .2 there is less of both. Cross-entropy errs mildly by "
    "itself here: scenes of neighbours look alike, and are taken for each other. What is left "
    "are scenes that lie elsewhere, which no loss can tell; the best possible decision is no "
    "milder. A random or a reversed rank loses in all four measures, most by far the reversed "
    "one, whose order is against what scenes look like.",
    "**The cheapest label needs no other loss.** Choosing the label of least expected cost, "
    "from the probabilities of a network that learned with cross-entropy, is better than its "
    "most probable label in all four measures where scenes follow the wheel, presumably because "
    "it lets the probabilities of neighbours count as well. Against it the true rank is milder "
    "still, and lower in ACC, ACC2 and ECC. In the controls the cheapest label costs ACC and "
    "ECC.",
    "**A higher EMC alone does not show that a rank is how things look.** In both controls "
    "Mikels' rank raises EMC too, more than where scenes follow it: EMC takes the very "
    "distances that the loss learns. What differs is the price. It costs about half a point of "
    "ACC where scenes follow the rank, and about seven where they do not, and there ECC falls "
    "as well. The rank that scenes were drawn by costs no ACC that the seeds would show, and "
    "gains no EMC, since EMC does not measure by it. So that the true rank is best in EMC "
    "(Table 3 of the paper) does not by itself speak for the rank; that it is best in ACC among "
    "ranks, and costs little against cross-entropy, does.",
    "**Random ranks are no neutral control.** They are drawn for each label on their own, and "
    "fit no wheel. Where labels are equally far no order is right, and yet Mikels' rank keeps "
    "more ACC than a random one.",
    "What heads on features of drawn scenes do is not what fine-tuned networks do on "
    "photographs: here a rank against the likeness of scenes costs far more ACC than the paper "
    "prints. How a random or reversed rank compares with the true one is to be read from the "
    "controls as well, and not from the first table alone.",
)


if __name__ == "__main__":
    main()
