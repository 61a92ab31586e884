"""The coverage atlas: how often nominal 95 % intervals hold, over the designs that studies have.

``python -m benchmarks.coverage [STATISTIC ...] [--runs 1000] [--cells 150] [--minutes 60]``
simulates studies, adds what it finds to ``coverage.json``, and writes the page of the documentation
and the cells of which a result warns. What is done is not done again: it goes on where it stopped,
on all cores, or with ``--ray`` on those of a Ray cluster (``pip install ray``).

What is simulated, and what is true, stands in :mod:`benchmarks._coverage_statistics`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from rich.console import Console
from scipy.stats import binom, norm

from affectlab.core.errors import InputError
from affectlab.core.words import joined
from benchmarks._coverage_statistics import (
    GAPS,
    ITEMS,
    RATER_SDS,
    RATERS,
    STATISTICS,
    Cell,
    Study,
)

__all__ = ["STATISTICS", "WORKLOADS", "Cell", "Study", "cells_of", "covers", "simulate"]

WORKLOADS = ()
Task: TypeAlias = tuple[str, Cell, int, int]
"""A statistic, a cell, the number of its first study, and how many studies."""

_HERE = Path(__file__).parent
_CONFIDENCE, _LEAST, _ERROR = 0.95, 0.93, 0.001
_WIDE = 0.985
"""Coverage above which the width of intervals is compared with the least that would do."""
_EDGE = 0.8
"""Where the picture ends: lower coverage is written beside a dot at the edge."""
_MOST_ANSWERS = 20_000
"""Answers of a study, so that a thousand of them are soon done."""
_FEWEST_PER_ITEM = 1.2


def covers(statistic: str, cell: Cell, seed: Sequence[int]) -> tuple[bool | None, float, float]:
    """Whether an interval holds the truth in one study; its width; and how far the value is off.

    Parameters
    ----------
    statistic
        A key of :data:`STATISTICS`.
    cell
        The design.
    seed
        Seed of the study.

    Returns
    -------
    None and ``nan`` where there is no interval.
    """
    made = STATISTICS[statistic]
    study = made.draw(cell, np.random.default_rng(list(seed)))
    try:
        found = made.estimate(study)
    except InputError:
        # Few answers may leave one rater, of whom nothing can be asked.
        return None, math.nan, math.nan
    if math.isnan(found.low):
        return None, math.nan, math.nan
    truth = made.truth(study)
    return bool(found.low <= truth <= found.high), found.high - found.low, found.value - truth


# Cells, and their runs.


def cells_of(statistic: str, most: int = 150) -> tuple[Cell, ...]:
    """Choose cells of all that there are, so that every level of a factor is met about as often.

    Examples
    --------
    >>> len(cells_of("krippendorff_alpha", 20))
    20
    """
    made = STATISTICS[statistic]
    grid = [
        Cell(*parts)
        for parts in itertools.product(
            made.targets, made.items, made.raters, GAPS, made.rater_sds, made.scales, made.clusters
        )
    ]
    grid = [cell for cell in grid if cell.gaps <= made.most_gaps and _is_feasible(cell)]
    rng = np.random.default_rng(1)
    met: dict[tuple[str, Any], int] = {}
    chosen: list[Cell] = []
    left = [grid[k] for k in rng.permutation(len(grid))]
    while left and len(chosen) < most:
        best = min(left, key=lambda cell: sum(met.get(part, 0) for part in asdict(cell).items()))
        left.remove(best)
        chosen.append(best)
        for part in asdict(best).items():
            met[part] = met.get(part, 0) + 1
    return tuple(chosen)


def _is_feasible(cell: Cell) -> bool:
    """Whether such studies exist: with answers to compare, and not too many to simulate."""
    per_item, clusters = cell.raters * (1 - cell.gaps), cell.clusters
    few = per_item < _FEWEST_PER_ITEM and cell.raters > 1
    return not few and cell.items * per_item <= _MOST_ANSWERS and 2 * clusters <= cell.items


def simulate(
    statistic: str, cell: Cell, first: int, runs: int, seconds: float = math.inf
) -> dict[str, Any]:
    """Count how often the interval holds in some studies.

    Parameters
    ----------
    statistic, cell
        What is simulated.
    first, runs
        Number of the first study, and how many.
    seconds
        Time after which no further study is begun.
    """
    hits, widths, errors, none, done = 0, [], [], 0, 0
    start = time.monotonic()
    for run in range(first, first + runs):
        held, width, error = covers(statistic, cell, (run, *_key(cell)))
        done += 1
        none += held is None
        hits += held is True
        if held is not None:
            widths.append(width)
            errors.append(error)
        if time.monotonic() - start > seconds:
            break
    return {
        "statistic": statistic,
        **asdict(cell),
        "runs": done,
        "none": none,
        "hits": hits,
        "width": float(np.median(widths)) if widths else math.nan,
        "measured": len(errors),
        "error": float(np.sum(errors)),
        "squares": float(np.sum(np.square(errors))),
    }


def _key(cell: Cell) -> tuple[int, ...]:
    """A seed for a cell: other cells have other studies."""
    return tuple(int.from_bytes(str(part).encode()[:8], "big") for part in asdict(cell).values())


# What was found.


def failing(row: Mapping[str, Any]) -> bool:
    """Whether coverage is below .93 by a one-sided binomial test at .001."""
    n = row["runs"] - row["none"]
    return bool(n and binom.cdf(row["hits"], n, _LEAST) < _ERROR)


_COUNTS = ("runs", "none", "hits", "measured", "error", "squares")


def _added(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    if old is None:
        return new
    return {**new, **{name: old.get(name, 0) + new[name] for name in _COUNTS}}


def _share(row: Mapping[str, Any]) -> float:
    """Coverage among the studies that have an interval."""
    n = row["runs"] - row["none"]
    return row["hits"] / n if n else math.nan


def _about(row: Mapping[str, Any]) -> str:
    """Say what an interval is about."""
    return {"both": "stimuli and raters", "sample": "answers"}.get(row["target"], row["target"])


def _ratio(row: Mapping[str, Any]) -> float:
    """Width of intervals over that of the value plus and minus 1.96 of its true errors."""
    n = row.get("measured", 0)
    if n < 2:
        return math.nan
    spread = math.sqrt(max(row["squares"] - row["error"] ** 2 / n, 0.0) / (n - 1))
    return row["width"] / (2 * norm.ppf((1 + _CONFIDENCE) / 2) * spread) if spread else math.nan


def _summary(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "| statistic | other … | designs | median | least | below .93 | above .985 |"
    yield "|---|---|---|---|---|---|---|"
    groups = itertools.groupby(rows, key=lambda row: (row["statistic"], _about(row)))
    for (statistic, about), of in groups:
        some = [row for row in of if row["runs"] > row["none"]]
        shares = [_share(row) for row in some]
        yield (
            f"| {_words(statistic)} | {about} | {len(some)} | {np.median(shares):.3f} | "
            f"{min(shares):.3f} | {sum(map(failing, some))} | "
            f"{sum(share > _WIDE for share in shares)} |"
        )


_NAMES = (
    "AC ACC2 AER AMD ANAD AWD Brennan Brier Cronbach ECC ECE EMC F1 Fleiss Gwet Jensen "
    "Krippendorff Kullback Leibler MASI McDonald Prediger QUEST Shannon Spearman"
)
_SPELLED = {name.lower(): name for name in _NAMES.split()}
"""How words of the names of statistics are written."""


def _words(statistic: str) -> str:
    return " ".join(_SPELLED.get(word, word) for word in statistic.replace("_", " ").split())


def _table(rows: Iterable[Mapping[str, Any]], *, wide: bool = False) -> Iterator[str]:
    """List designs with their coverage, and with the ratio of widths."""
    last = "of | width |" if wide else "of |"
    yield f"| statistic | other … | items | raters | gaps | raters' SD | answers | held | {last}"
    yield "|---|---|---|---|---|---|---|---|---|" + "---|" * wide
    for row in rows:
        of_raters = ["", "", ""]
        if row["raters"] > 1:
            of_raters = [str(row["raters"]), f"{100 * row['gaps']:g} %", f"{row['rater_sd']:g}"]
        clusters = f", {row['clusters']} clusters" if row["clusters"] else ""
        cells = [
            _words(row["statistic"]),
            _about(row),
            str(row["items"]),
            *of_raters,
            row["scale"] + clusters,
            f"{_share(row):.3f}",
            str(row["runs"] - row["none"]),
            *([f"{_ratio(row):.2f}"] if wide else []),
        ]
        yield f"| {' | '.join(cells)} |"


_PAGE = """# Do the intervals hold?

An interval that aims at 95 % should hold the true value in 95 of 100 studies. Whether it does is
seen by simulating studies whose truth is known. In studies of ratings stimuli, raters and what is
left are drawn from normal populations, answers are cut into levels, and some are missing.
`python -m benchmarks.coverage` does so over the designs that studies have: {items} items,
{raters} raters, {gaps} gaps, levels of raters that differ by {sds} standard deviations of stimuli,
and yes/no answers (5, 20, 50 % yes), 5 or 8 levels, or numbers. Choices have judges and items
that differ in what appeals to them. Predicted classes are eight emotions, as frequent or not,
of single items or of 5 to 50 clusters that differ in accuracy; sets of labels have five, of which
some are rare or none. A model that is set beside people answers as one of them does. Of all
combinations some are chosen so that every level of a factor is met about as often.

So far {runs:,} studies have been simulated in {cells} designs. A design *fails* where coverage is
below .93 by a one-sided binomial test at .001. An interval is about other stimuli, other raters,
or both, and is held to what it is about; or about other answers to these stimuli by these raters.

```{{image}} ../_static/coverage.svg
:alt: Coverage of 95 % intervals, a dot for each design, by statistic.
```

Designs in which fewer than 80 % held stand at the left edge, with their coverage beside them.

{summary}

Where leaving a stimulus or a rater out makes a statistic undefined there is no interval, and the
result says why; such studies are left out here.

## Where they do not hold

{worst}

Coefficients of agreement fail where there are few *events*: of 100 items with two answers each and
5 % yes, about ten answers carry all that is known of agreement on yes, and in many studies too few
to show how far the next ten may differ. Others have ten items, which is few to know how items
differ. What helps is more items, of the rare answer above all, and fewer gaps. Agreement with three
people whose levels are far apart rests on three values of a skewed distribution, and internal
consistency over five of them on five: more people help. Where 15 % of all raters are careless, one
panel of ten in five has none of them, and cannot show that there are any: its intervals are about
raters like its own, and screening says of the other panels who is careless.

Of a coefficient of agreement, the interrater correlation, internal consistency, or the agreement
of models with people, a result says so where its data are like a design that failed: within a
factor of two in items, raters and share of yes, within 20 points in gaps, and alike in how raters
differ.

The published subject models (p910 and mle) take the weights of raters as known: their results say
that intervals of scores hold too rarely, whatever the data are. Kappa of two raters, a macro
average over rare labels, the share of votes for a side, and the mean emotional distance of a few
mistakes in ten clusters had intervals that failed here, and have others since.

Not simulated here are intervals by bootstrap or by formula where leaving out is usual, for other
stimuli or other raters alone where those for both are simulated, of differences by label in
alignment, whose means over labels are steadier, of models that do not answer as people do, of
scores by subject models on a scale with levels, and of the p values that stand beside
intervals.{no_study}

## Where they are wider than they need be

Where more than 98.5 % hold, the last column has the width of intervals over that of the narrowest
that would do: 1.96 standard deviations, over simulated studies, of the value about the truth, on
either side. Intervals for both are too wide where raters hardly differ, since what is particular to
single answers counts twice. Those of calibration errors hold whatever the errors of bins are, and
those of ratios in a handful of clusters have few degrees of freedom.

{wide}
"""


def _without_study(rows: Sequence[Mapping[str, Any]]) -> str:
    """Name the statistics of which no study has been simulated so far."""
    known = {row["statistic"] for row in rows}
    left = [_words(name) for name in STATISTICS if name not in known]
    return f" Yet to be simulated are {joined(left)}." if left else ""


def _write(rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the page of the documentation, its picture, and what results warn of."""
    docs = _HERE.parent / "docs"
    failed = sorted(filter(failing, rows), key=_share)
    wide = [row for row in rows if _share(row) > _WIDE and not math.isnan(_ratio(row))]
    text = _PAGE.format(
        items=", ".join(map(str, ITEMS)),
        raters=", ".join(map(str, RATERS)),
        gaps=", ".join(f"{100 * share:g}" for share in GAPS) + " %",
        sds=", ".join(f"{sd:g}" for sd in RATER_SDS),
        runs=sum(row["runs"] for row in rows),
        cells=len({tuple(row[name] for name in Cell.__dataclass_fields__) for row in rows}),
        summary="\n".join(_summary(rows)),
        worst="\n".join(_table(failed)),
        wide="\n".join(_table(sorted(wide, key=_ratio, reverse=True), wide=True)),
        no_study=_without_study(rows),
    )
    (docs / "howto" / "coverage.md").write_text(text, encoding="utf-8")
    weak: dict[str, list[dict[str, Any]]] = {}
    for row in failed:
        # Who is careless is for screening to say: a result cannot tell it from its design.
        if STATISTICS[row["statistic"]].warns and "careless" not in row["scale"]:
            names = ("target", "items", "raters", "gaps", "rater_sd")
            yes = row["scale"].startswith("yes")
            share = (
                float(row["scale"].rpartition(", ")[2].removesuffix(" %")) / 100 if yes else None
            )
            weak.setdefault(row["statistic"], []).append(
                {
                    **{name: row[name] for name in names},
                    "share": share,
                    "coverage": round(_share(row), 2),
                }
            )
    package = _HERE.parent / "src" / "affectlab" / "reliability" / "agreement"
    lines = json.dumps(weak, indent=1) + "\n"
    (package / "weak_designs.json").write_text(lines, encoding="utf-8")
    _draw(rows, docs / "_static" / "coverage.svg")


def _draw(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw a dot for each design."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "coverage"
    names = sorted({row["statistic"] for row in rows}, key=str.casefold, reverse=True)
    known = {(row["statistic"], row["target"]) for row in rows}
    figure = Figure(figsize=(8, 0.24 * len(names) + 1.2), layout="constrained")
    axes = figure.subplots()
    axes.axvspan(_LEAST, 1, color="#e8f1ea", zorder=0)
    axes.axvline(_CONFIDENCE, color="#555555", linewidth=1)
    colours = {"stimuli": "#3b6fb6", "raters": "#c8782a", "both": "#2f7d4f", "sample": "#7a5195"}
    of = {name: [t for t in colours if (name, t) in known] for name in names}
    for target, colour in colours.items():
        some = [row for row in rows if row["target"] == target and row["runs"] > row["none"]]
        height = []
        for row in some:
            beside = of[row["statistic"]]
            shift = (len(beside) - 1) / 2 - beside.index(target)
            height.append(names.index(row["statistic"]) + 0.22 * shift)
        label = _about({"target": target})
        share = np.array([_share(row) for row in some])
        axes.scatter(np.maximum(share, _EDGE), height, s=14, color=colour, label=label)
        low = sorted(
            (at, one) for at, one in zip(height, share.tolist(), strict=True) if one < _EDGE
        )
        for at, group in itertools.groupby(low, key=lambda pair: pair[0]):
            said = ", ".join(f"{one:.2f}" for _, one in group)
            beside = {"xytext": (5, -2.5), "textcoords": "offset points"}
            axes.annotate(said, (_EDGE, at), **beside, fontsize=7, color=colour)
    axes.set_yticks(range(len(names)), list(map(_words, names)))
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.set_xlim(_EDGE - 0.01, 1.005)
    axes.tick_params(axis="x", labeltop=True)
    axes.set_xlabel("share of studies in which the 95 % interval held the true value")
    axes.legend(title="about other", loc="lower left", frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


class _Atlas:
    """What is known, by statistic and cell, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        rows = json.loads(path.read_text()) if path.exists() else []
        self.rows: dict[tuple[str, Cell], dict[str, Any]] = {}
        for row in rows:
            names = Cell.__dataclass_fields__
            self.rows[row["statistic"], Cell(**{name: row[name] for name in names})] = row

    def add(self, row: dict[str, Any]) -> None:
        """Add the runs of a cell, and keep them."""
        cell = Cell(**{name: row[name] for name in Cell.__dataclass_fields__})
        key = row["statistic"], cell
        self.rows[key] = _added(self.rows.get(key), row)
        ordered = [self.rows[key] for key in sorted(self.rows)]
        text = "[\n" + ",\n".join(json.dumps(one) for one in ordered) + "\n]\n"
        self.path.write_text(text, encoding="utf-8")

    def wanted(self, names: Sequence[str], cells: int, runs: int) -> Iterator[Task]:
        """Give the cells that lack runs.

        First those in which too few intervals seem to hold, then the next one of every statistic in
        turn.
        """
        weak = [key for key, row in self.rows.items() if key[0] in names and _share(row) < _LEAST]
        weak.sort(key=lambda key: _share(self.rows[key]))
        chosen = [(*STATISTICS[name].field, *cells_of(name, cells)) for name in names]
        in_turn = [
            (name, cell)
            for cells_in_turn in itertools.zip_longest(*chosen)
            for name, cell in zip(names, cells_in_turn, strict=True)
            if cell is not None
        ]
        for name, cell in dict.fromkeys([*weak, *in_turn]):
            done = self.rows.get((name, cell), {"runs": 0})["runs"]
            if done < runs:
                yield name, cell, done, runs - done


def _in_turn(
    tasks: Sequence[Task],
    until: float,
    places: int,
    start: Callable[..., Any],
    first: Callable[[set[Any]], Any],
) -> Iterator[Any]:
    """Start as many tasks as there are places, another where one is done; none after `until`."""
    waiting, running = list(tasks)[::-1], set[Any]()
    while True:
        while waiting and len(running) < places and time.monotonic() < until:
            running.add(start(*waiting.pop(), seconds=until - time.monotonic()))
        if not running:
            return
        done = first(running)
        running.remove(done)
        yield done


def _on_all_cores(tasks: Sequence[Task], until: float) -> Iterator[dict[str, Any]]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with ProcessPoolExecutor(cores) as pool:
        start = partial(pool.submit, simulate)
        for done in _in_turn(tasks, until, cores or 1, start, lambda run: next(as_completed(run))):
            yield done.result()


def _on_ray(tasks: Sequence[Task], until: float) -> Iterator[dict[str, Any]]:
    import ray

    ray.init(ignore_reinit_error=True)
    places, start = int(ray.cluster_resources()["CPU"]), ray.remote(simulate).remote
    for done in _in_turn(tasks, until, places, start, lambda run: ray.wait(list(run))[0][0]):
        yield ray.get(done)


def main() -> None:
    """Simulate what is missing, and write what is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("statistics", nargs="*", metavar="STATISTIC")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--cells", type=int, default=150)
    parser.add_argument("--minutes", type=float, default=24 * 60)
    parser.add_argument("--ray", action="store_true")
    given = parser.parse_args()
    atlas = _Atlas(_HERE / "coverage.json")
    tasks = list(atlas.wanted(given.statistics or list(STATISTICS), given.cells, given.runs))
    until = time.monotonic() + 60 * given.minutes
    console = Console()
    for row in (_on_ray if given.ray else _on_all_cores)(tasks, until):
        atlas.add(row)
        known = row["runs"] - row["none"]
        share = f"{row['hits'] / known:.3f}" if known else "none"
        named = ", ".join(str(row[name]) for name in Cell.__dataclass_fields__)
        console.print(f"{row['statistic']}: {named}: {share} of {known}", highlight=False)
    _write([atlas.rows[key] for key in sorted(atlas.rows)])


if __name__ == "__main__":
    main()
