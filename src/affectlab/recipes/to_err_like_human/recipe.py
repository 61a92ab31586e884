"""To Err Like Human (Zhao et al., 2024): measures that know which mistakes are worse.

Table 1 learns from few labels, Table 2 compares losses on three networks, Table 3 the ranks that a
loss may follow, and the user study asks people which of two mistakes they find nearer. The
simulation plays all of it on drawn scenes whose likeness follows Mikels' wheel, with heads of three
sizes in place of the networks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.core.words import joined
from affectlab.recipes.needs import DataNeed
from affectlab.recipes.published_figures import load_published
from affectlab.recipes.recipe import Finding, Parts, Recipe, RecipeRun
from affectlab.recipes.threads import one_thread

if TYPE_CHECKING:
    from affectlab.recipes.to_err_like_human.data import Effort, Source

__all__ = ["RECIPE", "run_simulation"]

_NEEDS = (
    DataNeed(
        file="FI/",
        what="a folder for each emotion, 23,308 images",
        published="by the authors of FI (You et al., 2016), on request",
        licence="for research",
    ),
    DataNeed(
        file="EmoSet/",
        what="train.json, val.json, test.json, image/ and annotation/ of EmoSet-118K; one of "
        "the two data sets is enough",
        published="the project page of EmoSet (Yang et al., 2023)",
        licence="for research",
    ),
    DataNeed(
        file="resnet-18/, resnet-50/, resnet-101/",
        what="the networks as checkpoints of transformers; without them, heads stand in",
        published="the repositories microsoft/resnet-18, resnet-50 and resnet-101",
        licence="Apache-2.0",
    ),
)


_QUICK = {"epochs": 40, "steps": 4, "learning_rate": 0.01}
"""Few steps in which pseudo-labels become confident, the threshold moves and the loss is switched;
the switch looks at epochs, so that these are short and many. With 10 % of the labels none of this
would happen in as few steps."""
_OUR_SETTINGS = "networks learn with our settings, which are not the paper's"


def _efforts(seed: int, quick: bool, real: bool) -> Effort:
    from affectlab.recipes.to_err_like_human.data import SHARES, Effort

    if real:
        seeds = (seed,) if quick else (seed, seed + 1, seed + 2)
        return Effort(seeds, 3 if quick else 30, {"epochs": 3 if quick else 50})
    if quick:
        return Effort((seed,), epochs=10, few_labels=_QUICK, shares=SHARES[:2])
    return Effort(tuple(range(seed, seed + 5)), epochs=20, few_labels={"epochs": 25})


def run_simulation(
    seed: int,
    quick: bool,
    done: Callable[[str], None] = lambda _: None,
    *,
    pool: int | None = None,
) -> RecipeRun:
    """Find all figures on drawn scenes; `done` is told the name of each part that is done."""
    from affectlab.recipes.to_err_like_human.data import PAPER, drawn_source

    effort = _efforts(seed, quick, real=False)
    n = pool or (1600 if quick else 4000)
    runs = [[drawn_source(name, n, 3000, one) for name in PAPER] for one in effort.seeds]
    labels = joined(f"{round(share * n):,} ({100 * share:g} %)" for share in effort.shares)
    notes = (
        f"Scenes are drawn, {n:,} to learn from in place of each data set, and "
        f"{'one seed draws' if quick else f'{len(effort.seeds)} seeds draw'} them. Heads with "
        "16, 64 and 256 units on features of scenes stand in for ResNet-18, 50 and 101. "
        f"Of Table 1, rows are named by the paper's numbers of labels; ours are {labels}. "
        "Utilisation is the mean weight of all pseudo-labels over epochs.",
        "No image of FI or EmoSet was seen, so that only the order of rows can be compared with "
        "the paper, and no difference to a published figure means anything by itself.",
    )
    with one_thread():
        return _found(runs, effort, done, notes)


def _run(folder: Path, quick: bool) -> RecipeRun:
    from affectlab.recipes.to_err_like_human.data import real_sources

    effort = _efforts(0, quick, real=True)
    sources, told = real_sources(folder, effort.seeds[0])
    run = _found(
        [sources] * len(effort.seeds), effort, lambda _: None, tuple(f"{line}." for line in told)
    )
    return replace(run, inputs=_lists(folder), doubt=doubt_of(sources, quick))


def doubt_of(sources: Iterable[Source], quick: bool) -> str:
    """Say why there is no verdict, even on the paper's own images and networks."""
    doubts = sorted({source.doubt for source in sources if source.doubt})
    return "; ".join([*doubts, "a quick run learns for 3 epochs" if quick else _OUR_SETTINGS])


def _lists(folder: Path) -> tuple[Path, ...]:
    """Files that say what was learned from, for provenance; images are too many."""
    names = ("train.json", "val.json", "test.json", "train.txt", "val.txt", "test.txt")
    places = (folder, folder / "FI", folder / "EmoSet")
    return tuple(place / name for place in places for name in names if (place / name).is_file())


def _found(
    runs: list[list[Source]],
    effort: Effort,
    done: Callable[[str], None],
    notes: tuple[str, ...],
) -> RecipeRun:
    from affectlab.recipes.to_err_like_human.data import BACKBONES
    from affectlab.recipes.to_err_like_human.figures import figures_of
    from affectlab.recipes.to_err_like_human.study import user_study
    from affectlab.recipes.to_err_like_human.tables import (
        Kept,
        findings_of,
        key_of,
        remark_of,
        table_1,
        table_2,
        table_3,
        too_few,
    )

    kept, parts = Kept(), Parts(done)
    values: list[dict[str, float]] = []
    for seed, sources in zip(effort.seeds, runs, strict=True):
        value: dict[str, float] = {}
        values.append(value)
        for source in sources:
            for share in effort.shares if source.name in effort.semi else ():
                name = f"Table 1, {source.title}, {100 * share:g} % labelled"
                if too_few(source, share) or parts.failed(name):
                    continue
                with parts(name, key_of(source, share)):
                    value |= table_1(source, share, seed, effort, kept)
            if not parts.failed(name := f"Table 2, {source.title}"):
                keys = [f"table2.{source.name}."]
                keys += [f"table3.{one}.true." for one in BACKBONES if source.name == "fi"]
                with parts(name, *keys):
                    value |= table_2(source, seed, effort, kept)
            if source.name == "fi" and not parts.failed("Table 3"):
                orders = ("reversed", "random")
                keys = [f"table3.{one}.{order}." for one in BACKBONES for order in orders]
                with parts("Table 3", *keys):
                    value |= table_3(source, seed, effort)
    remarks = {key: remark_of(few) for key, few in kept.few.items()}
    parts.add(findings_of(values, remarks) | _left_out(runs[0], effort), notes)
    fi = next((source for source in runs[0] if source.name == "fi"), None)
    if fi is not None:
        with parts("user study", "study."):
            votes, sentence = user_study(fi, effort.seeds[0], effort, kept)
            parts.add(votes, [sentence])
    for source in runs[0]:
        if parts.failed(f"Table 2, {source.title}"):
            # What it counted is of some seeds only.
            for loss in ("ce", "rank"):
                kept.confusions.pop((source.name, loss), None)
    run = parts.to_run(seeds=effort.seeds)
    return replace(
        run,
        notes=(*run.notes, *_marks(run.findings), _AHEAD),
        figures=figures_of(run.findings, kept, runs[0]),
    )


def _left_out(sources: list[Source], effort: Effort) -> dict[str, Finding]:
    """Say why rows of Table 1 have no value."""
    from affectlab.recipes.to_err_like_human.data import SHARES
    from affectlab.recipes.to_err_like_human.tables import ROWS, key_of, too_few

    quick = "left out of a quick run"
    return {
        f"{key_of(source, share)}{row}": Finding(why=why)
        for source in sources
        if source.name in effort.semi
        for share in SHARES
        if (why := too_few(source, share) if share in effort.shares else quick)
        for row in ROWS
    }


def _marks(found: Mapping[str, Finding]) -> tuple[str, ...]:
    """Say which printed cells cannot be right, and why; and whether ours agree among themselves."""
    from affectlab.evaluation.classification import figures_possible

    lines = [
        f"† {figure.name}: {figure.inconsistent}"
        for figure in load_published("to_err_like_human").figure
        if figure.inconsistent
    ]
    columns = {key.rsplit(".", 1)[0] for key in found if key.startswith("table2.")}
    checked = 0
    for column in sorted(columns):
        acc, acc2, ecc, emc = (
            found[f"{column}.{name}"].value for name in ("acc", "acc2", "ecc", "emc")
        )
        if acc is not None:
            told = figures_possible(acc=acc, acc2=acc2, ecc=ecc, emc=emc, decimals=6)
            checked += told.possible
            if not told.possible:
                lines.append(f"Ours in {column}: {told.reason}")
    lines.append(f"{checked} of {len(columns)} columns of our Table 2 are possible at once.")
    return tuple(lines)


_AHEAD = (
    "The text says that 4.2.1 is over 1 % better than FixMatch and FlexMatch: by Table 1 that is "
    "so in 3 of 6 columns. It says that 4.2.2 is 1 % better than S2-VER: that is so in 5 of 6."
)

RECIPE = Recipe(
    name="to-err-like-human",
    published=lambda: load_published("to_err_like_human"),
    needs=_NEEDS,
    run=_run,
    simulate=run_simulation,
)
