"""Learning from few labels, on drawn scenes: thresholds and other strategies, over seeds.

``python -m benchmarks.semi_supervised [--seeds 5] [--pool 3200]`` trains heads on features of drawn
scenes (:func:`affectlab.simulate.simulate_scenes`) of which .5 %, 5 % and 10 % have labels, and
prints two tables for each share, written to ``SEMI_SUPERVISED.md`` (``--dry``: they are not):

1. **Thresholds.** FixMatch, FlexMatch, and FixMatch with a threshold that EMC moves (equation 5
   of the ECC paper); and what labels alone give.
2. **Others.** FreeMatch, SoftMatch, CoMatch, SimMatch, S2-VER, and S2-VER with ListMLE added to the
   loss on labels: once convergence begins (section 4.2.2), and from the start.

Means over seeds, and paired differences on the same seeds, with 95 % of Student's t. Sizes, epochs,
and the constant e were chosen on seed 1001, which is not reported: e is the EMC between views that
was typical there, at which the threshold is the starting one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks._harness import Workload
from benchmarks._seed_tables import MEASURES, Interval, Page, means_table, paired_table
from benchmarks.rank_losses import gathered, says

WORKLOADS: tuple[Workload, ...] = ()
"""None: what is found is looked at, and not how long it takes."""

_HERE = Path(__file__).resolve().parent
SHARES = (0.005, 0.05, 0.10)
_SCENES: dict[str, Any] = {"spread": 0.4}
_NOISE, _HIDDEN, _EPOCHS, _TEST = 0.5, 64, 25, 3000
_BATCH = 64
_TYPICAL = 0.8
"""EMC between the views of the pool, as it was on the seed that is not reported."""

ALONE, FIX, FLEX = "labels alone", "FixMatch", "FlexMatch"
EMC = "EMC threshold (4.2.1)"
S2, LATER, START = "S2-VER", "S2-VER, ListMLE later (4.2.2)", "S2-VER, ListMLE at once"
THRESHOLDS: dict[str, dict[str, Any]] = {
    ALONE: {"strategy": "supervised"},
    FIX: {"strategy": "fixmatch"},
    FLEX: {"strategy": "flexmatch"},
    EMC: {"strategy": "emc", "strategy_settings": {"e": _TYPICAL}},
}
OTHERS: dict[str, dict[str, Any]] = {
    "FreeMatch": {"strategy": "freematch"},
    "SoftMatch": {"strategy": "softmatch"},
    "CoMatch": {"strategy": "comatch"},
    "SimMatch": {"strategy": "simmatch"},
    S2: {"strategy": "s2ver"},
    LATER: {"strategy": "s2ver", "loss": "rank", "switch": "converging"},
    START: {"strategy": "s2ver", "loss": "rank", "switch": "start"},
}
PAIRS = (
    (EMC, FIX),
    (EMC, FLEX),
    (FLEX, FIX),
    *((name, ALONE) for name in (FIX, FLEX, EMC)),
)
OTHER_PAIRS = (
    *((name, FIX) for name in OTHERS if name not in (LATER, START)),
    (LATER, S2),
    (START, S2),
    (LATER, START),
)


def one_run(share: float, seed: int, pool: int, settings: dict[str, Any]) -> dict[str, float]:
    """Train on a share of labels and the whole pool; give the measures on other scenes."""
    from affectlab.evaluation import confusion
    from affectlab.models.images import label_fraction
    from affectlab.models.semi import train_semi
    from affectlab.models.vision import VisionClassifier
    from affectlab.recipes.to_err_like_human.data import scene_embeddings
    from affectlab.simulate import simulate_scenes

    learned, test = (
        simulate_scenes(n, seed=2 * seed + at, **_SCENES) for at, n in enumerate((pool, _TEST))
    )
    rows, other = (
        scene_embeddings(scenes, noise=_NOISE, encoder=seed) for scenes in (learned, test)
    )
    chosen = label_fraction(learned.labels, share, seed=seed)
    names = [name for name, kept in zip(learned.stimuli, chosen, strict=True) if kept]
    labels = [label for label, kept in zip(learned.labels, chosen, strict=True) if kept]
    model = VisionClassifier("mikels", learned.names, hidden=_HIDDEN, seed=seed)
    run = train_semi(
        model,
        rows.subset(names),
        labels,
        rows,
        truth=learned.labels,
        epochs=_EPOCHS,
        batch_size=_BATCH,
        device="cpu",
        **settings,
    )
    seen = confusion(test.labels, model.predict(other), labels=learned.names, taxonomy="mikels")
    found = {
        measure: seen.metric("accuracy" if measure == "acc" else measure) for measure in MEASURES
    }
    last = run.history[-1]
    told = ("threshold", "utilisation", "pseudo_accuracy", "pseudo_emc")
    found |= {name: float(last[name]) for name in told if name in last}
    if "emc" in last:
        found["views_emc"] = float(last["emc"])
    found["switched_at"] = float(run.switched_at or np.nan)
    return found


def pseudo_table(page: Page, runs: dict[str, list[dict[str, float]]]) -> None:
    """Add what pseudo-labels were like at the end: shares in percent, and the threshold."""
    columns = ("threshold", "utilisation", "pseudo_accuracy", "pseudo_emc", "views_emc")
    rows = []
    for name, found in runs.items():
        cells = []
        for column in columns:
            values = np.array([one.get(column, np.nan) for one in found])
            cells.append("–" if np.isnan(values).any() else Interval.of(values).value())
        rows.append((name, *cells))
    page.add(("in the last epoch", *(name.replace("_", " ") for name in columns)), rows)


def switches(page: Page, found: Sequence[dict[str, float]]) -> None:
    """Say from which epochs on ListMLE was learned with."""
    epochs = [one["switched_at"] for one in found]
    known = sorted(int(epoch) for epoch in epochs if not np.isnan(epoch))
    when = f", from epochs {', '.join(map(str, known))} of {_EPOCHS} on" if known else ""
    page.say(f"{LATER}: the loss changed with {len(known)} of {len(epochs)} seeds{when}.")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description="Learning from few labels, on drawn scenes.")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--pool", type=int, default=3200, help="scenes, labelled or not")
    parser.add_argument("--only", choices=("thresholds", "others"), help="one of the tables")
    parser.add_argument("--keep", type=Path, help="JSON lines that keep runs, and are gone on with")
    parser.add_argument(
        "--kept-only", action="store_true", help="run nothing; leave out what is not kept"
    )
    parser.add_argument("--dry", action="store_true", help="keep SEMI_SUPERVISED.md as it is")
    given = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    kept = _kept(given.keep)
    page = Page("Learning from few labels", _HERE / "SEMI_SUPERVISED.md")
    page.say(
        f"Written by `python -m benchmarks.semi_supervised --seeds {given.seeds} --pool "
        f"{given.pool}` on {datetime.now(UTC).date().isoformat()}, affectlab "
        f"{version('affectlab')}. Heads with {_HIDDEN} units learn from features of {given.pool:,} "
        f"drawn scenes, of which a share has labels, for {_EPOCHS} epochs of "
        f"{-(-given.pool // (_BATCH * 7))} steps, and are judged on "
        f"{_TEST:,} others; {given.seeds} seeds draw scenes, encoder, labelled share and weights. "
        "In percent, with 95 % of Student's t over seeds; differences are of the same seeds, in "
        "bold where 0 is outside. Intervals are not corrected for their number: of twenty bold "
        "ones, one may be chance. The last epoch counts; no dev set chooses."
    )
    started = perf_counter()
    seeds = range(given.first, given.first + given.seeds)
    tables: list[tuple[str, dict[str, dict[str, Any]], Sequence[tuple[str, str]]]] = []
    if given.only != "others":
        tables.append(("thresholds", THRESHOLDS, PAIRS))
    if given.only != "thresholds":
        tables.append(("others", {FIX: THRESHOLDS[FIX], **OTHERS}, OTHER_PAIRS))
    for title, methods, pairs in tables:
        for share in SHARES:
            number = round(share * given.pool)
            page.head(f"{100 * share:g} % labelled, {number} of {given.pool:,}: {title}")
            runs = {
                name: [
                    _run(kept, given.keep, name, share, seed, given.pool, settings)
                    for seed in seeds
                ]
                for name, settings in methods.items()
                if not given.kept_only
                or all(_key(name, share, seed, given.pool, settings) in kept for seed in seeds)
            }
            left = [name for name in methods if name not in runs]
            if left:
                page.say(f"Not run here: {', '.join(left)}.")
            table = gathered(
                [
                    {name: {m: found[at][m] for m in MEASURES} for name, found in runs.items()}
                    for at in range(len(seeds))
                ]
            )
            means_table(page, table, "strategy")
            told = paired_table(
                page, table, [(one, other) for one, other in pairs if {one, other} <= {*runs}]
            )
            page.say("What the intervals support:\n\n" + "\n".join(says(told)))
            pseudo_table(page, runs)
            if LATER in runs:
                switches(page, runs[LATER])
    page.head("What this shows")
    for text in _EXPLAINED:
        page.say(text)
    page.console.print(f"{perf_counter() - started:.0f} s")
    if not given.dry:
        page.write()


def _kept(path: Path | None) -> dict[tuple[Any, ...], dict[str, float]]:
    if path is None or not path.is_file():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {tuple(row["key"]): row["found"] for row in rows}


def _key(
    name: str, share: float, seed: int, pool: int, settings: dict[str, Any]
) -> tuple[Any, ...]:
    return name, share, seed, pool, _EPOCHS, json.dumps(settings, sort_keys=True)


def _run(
    kept: dict[tuple[Any, ...], dict[str, float]],
    path: Path | None,
    name: str,
    share: float,
    seed: int,
    pool: int,
    settings: dict[str, Any],
) -> dict[str, float]:
    key = _key(name, share, seed, pool, settings)
    if key not in kept:
        kept[key] = one_run(share, seed, pool, settings)
        if path is not None:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "found": kept[key]}) + "\n")
    return kept[key]


_EXPLAINED: tuple[str, ...] = (
    "**The EMC threshold against its peers.** With two labels of each emotion (.5 %) it is "
    "better in ACC than FixMatch and than FlexMatch, by 3 and 5 points, and better than "
    "FixMatch in ECC and EMC. But so are labels alone: pseudo-labels are more often wrong than "
    "right there, FixMatch and FlexMatch learn them, and lose against using none. The views "
    "disagree less mildly there, which puts the EMC threshold at its upper bound of .98, so "
    "that few pseudo-labels count. It does less harm; that it does good, the seeds do not "
    "support. With 5 % and 10 % labelled it lowers the threshold to .86 to .89 and lets two to "
    "three times as many pseudo-labels count as FixMatch; the seeds show no difference in ACC, "
    "ECC or EMC, and one of .1 to .2 points in ACC2. FlexMatch is better than both there, in all "
    "four measures. The paper finds 4.2.1 ahead of both in all columns.",
    "**The constant e** is .8 here, the EMC between views on the seed that is not reported; the "
    "paper has .5 for FI and .4 for EmoSet. With .5 the threshold is at its lower bound of .70 "
    "wherever EMC is above .68, as it is here with 5 % and 10 % labelled. One constant serves all "
    "three shares, as one serves a data set in the paper; the EMC between views rises with the "
    "share, from .69 over .85 to .89.",
    "**ListMLE on S2-VER.** Added once convergence begins (4.2.2), it is better than S2-VER in "
    "ACC and ECC with .5 % labelled and in EMC with 10 %; with 5 % the seeds support no "
    "difference. Added from the start it is better in ACC and ECC with .5 % and 5 %, and in EMC "
    "with 10 %, and it is better than the later switch in ACC and ECC with .5 % and 5 %. So the "
    "loss helps, as the paper says, and waiting with it does not here. Our rule for where "
    "convergence begins (see `Switch`) leaves it 2 to 12 of the 25 epochs. S2-VER itself is "
    "better than FixMatch in all four measures with .5 % labelled, and in ACC2 and EMC with 5 % "
    "and 10 %.",
    "**What this cannot say.** Heads on features of drawn scenes learn for 200 steps, where the "
    "methods were made for networks on pictures, and for hundreds of thousands. Strategies that "
    "set their thresholds by moving averages are still moving after so few steps. Scenes follow "
    "the wheel, so that even wrong pseudo-labels are mostly near: EMC is high for all.",
)


if __name__ == "__main__":
    main()
