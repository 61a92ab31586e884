"""To Err Like Human (Zhao et al., 2024): measures that know which mistakes are worse.

Table 1 learns from few labels, Table 2 compares losses on three networks, Table 3 the ranks that a
loss may follow, and the user study asks people which of two mistakes they find nearer. The
simulation plays all of it on drawn scenes whose likeness follows Mikels' wheel, with heads of three
sizes in place of the networks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab._words import joined
from affectlab.recipes._published import load_published
from affectlab.recipes._recipe import DataNeed, Finding, Recipe, RecipeRun
from affectlab.recipes._threads import one_thread

if TYPE_CHECKING:
    from affectlab.recipes._to_err_source import Effort, Source

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


def _efforts(seed: int, quick: bool, real: bool) -> Effort:
    from affectlab.recipes._to_err_source import Effort

    if real:
        seeds = (seed,) if quick else (seed, seed + 1, seed + 2)
        return Effort(seeds, 3 if quick else 30, 3 if quick else 50)
    if quick:
        return Effort((seed,), epochs=10, semi_epochs=6)
    return Effort(tuple(range(seed, seed + 5)), epochs=20, semi_epochs=25)


def run_simulation(
    seed: int,
    quick: bool,
    done: Callable[[str], None] = lambda _: None,
    *,
    pool: int | None = None,
) -> RecipeRun:
    """Find all figures on drawn scenes; `done` is told the name of each part that is done."""
    from affectlab.recipes._to_err_source import PAPER, drawn_source

    effort = _efforts(seed, quick, real=False)
    n = pool or (1600 if quick else 4000)
    runs = [[drawn_source(name, n, 3000, one) for name in PAPER] for one in effort.seeds]
    labels = joined(f"{round(share * n):,} ({100 * share:g} %)" for share in effort.shares)
    notes = (
        f"Scenes are drawn, {n:,} to learn from in place of each data set, and "
        f"{'one seed draws' if quick else f'{len(effort.seeds)} seeds draw'} them. Heads with "
        "16, 64 and 256 units on features of scenes stand in for ResNet-18, 50 and 101. "
        f"Of Table 1, rows are named by the paper's numbers of labels; ours are {labels}.",
        "No image of FI or EmoSet was seen, so that only the order of rows can be compared with "
        "the paper, and no difference to a published figure means anything by itself.",
    )
    with one_thread():
        return _found(runs, effort, done, notes)


def _run(folder: Path, quick: bool) -> RecipeRun:
    from affectlab.recipes._to_err_source import real_sources

    effort = _efforts(0, quick, real=True)
    sources, told = real_sources(folder, effort.seeds[0])
    doubts = sorted({source.doubt for source in sources if source.doubt})
    if quick and not doubts:
        doubts = ["a quick run learns for 3 epochs"]
    run = _found(
        [sources] * len(effort.seeds), effort, lambda _: None, tuple(f"{line}." for line in told)
    )
    return replace(run, inputs=_lists(folder), doubt="; ".join(doubts))


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
    from affectlab.recipes._to_err_figures import figures_of
    from affectlab.recipes._to_err_study import user_study
    from affectlab.recipes._to_err_tables import Kept, findings_of, table_1, tables_2_and_3

    kept = Kept()
    values = [
        table_1(sources, seed, effort, done, kept)
        | tables_2_and_3(sources, seed, effort, done, kept)
        for seed, sources in zip(effort.seeds, runs, strict=True)
    ]
    found = findings_of(values) | _left_out(runs[0], effort)
    fi = next((source for source in runs[0] if source.name == "fi"), None)
    if fi is not None:
        votes, sentence = user_study(fi, effort.seeds[0], effort, done, kept)
        found |= votes
        notes = (*notes, sentence)
    return RecipeRun(
        found,
        notes=(*notes, *_marks(found), _AHEAD),
        figures=figures_of(found, kept, runs[0]),
        seeds=effort.seeds,
    )


def _left_out(sources: list[Source], effort: Effort) -> dict[str, Finding]:
    """Say why rows of Table 1 have no value."""
    from affectlab.recipes._to_err_source import LABELS, SHARES
    from affectlab.recipes._to_err_tables import ROWS, too_few

    return {
        f"table1.{source.name}.{number}.{row}": Finding(why=why)
        for source in sources
        if source.name in effort.semi
        for share, number in zip(SHARES, LABELS[source.name], strict=True)
        if share in effort.shares and (why := too_few(source, share))
        for row in ROWS
    }


def _marks(found: dict[str, Finding]) -> tuple[str, ...]:
    """Say which printed cells cannot be right, and why; and whether ours agree among themselves."""
    from affectlab.evaluation import figures_possible

    lines = [
        f"† {figure.name}: {figure.note}"
        for figure in load_published("to_err_like_human").figure
        if figure.note.startswith("inconsistent:")
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
