"""Figures of To Err Like Human: who is taken for whom, losses, votes and thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from affectlab.core.types import Ints
from affectlab.core.words import joined, plural
from affectlab.evaluation.classification import Confusion
from affectlab.recipes.recipe import Finding, RecipeFigure
from affectlab.recipes.to_err_like_human.data import BACKBONES, Source
from affectlab.recipes.to_err_like_human.tables import Kept
from affectlab.taxonomy import load_taxonomy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figures_of"]

_LOSSES = {"ce": "cross-entropy", "rank": "cross-entropy and ListMLE"}
_RANKS = {"true": "our rank", "random": "random rank", "reversed": "reversed rank"}
_NETWORKS = dict(zip(BACKBONES, ("ResNet-18", "ResNet-50", "ResNet-101"), strict=True))
_MEASURES = {"acc": "ACC", "ecc": "ECC", "emc": "EMC"}
_STRATEGIES = {
    "fixmatch": "FixMatch",
    "flexmatch": "FlexMatch",
    "ours421": "EMC (4.2.1)",
    "freematch": "FreeMatch",
    "softmatch": "SoftMatch",
}
"""Rows of Table 1 whose threshold, or mean confidence, is drawn."""


def figures_of(
    found: Mapping[str, Finding], kept: Kept, sources: Iterable[Source]
) -> tuple[RecipeFigure, ...]:
    """Say what can be drawn of the runs; a part that was not run has no figure."""
    places = {source.name: _place(source) for source in sources}
    figures = [
        _confusion(
            seen,
            f"confusion-{name}-{loss}",
            f"{places[name]}: answers learned with {_LOSSES[loss]}",
            "Counts of answers to each true emotion, of ResNet-50 or the head in its place, all "
            f"seeds together. ACC {seen.accuracy:.3f}, ECC {seen.ecc:.3f}, "
            f"EMC {seen.emc:.3f}.",
        )
        for (name, loss), seen in kept.confusions.items()
    ]
    for name, place in places.items():
        keys = {loss: f"table2.{name}.{{}}.{loss}" for loss in _LOSSES}
        figures += _compared(found, keys, _LOSSES, f"losses-{name}", f"{place}: losses")
    if "fi" in places:
        keys = {rank: f"table3.{{}}.{rank}" for rank in _RANKS}
        title = f"{places['fi']}: ranks that ListMLE follows"
        figures += _compared(found, keys, _RANKS, "ranks-fi", title)
    if kept.votes is not None:
        figures.append(_votes(kept.votes))
    for name, place in places.items():
        histories = {
            said: kept.histories[name, row]
            for row, said in _STRATEGIES.items()
            if any("threshold" in entry for entry in kept.histories.get((name, row), ()))
        }
        if histories:
            figures.append(
                RecipeFigure(
                    f"thresholds-{name}",
                    f"{place}: thresholds of confidence, {kept.histories_of}",
                    f"Threshold over epochs of {', '.join(histories)}.",
                    partial(_thresholds, histories),
                )
            )
    return tuple(figures)


def _place(source: Source) -> str:
    """Say what was learned from, and what learned."""
    told = [] if source.chances is None else ["drawn scenes in its place"]
    if "hidden" in source.backbones[BACKBONES[0]]:
        told.append("heads in place of networks")
    return f"{source.title} ({joined(told)})" if told else source.title


def _confusion(seen: Confusion, name: str, title: str, description: str) -> RecipeFigure:
    taxonomy = load_taxonomy("mikels")
    # In the order of the wheel, mild mistakes stand beside the diagonal.
    names = [name for name in taxonomy.labels if name in seen.labels]
    options = {"labels": names, "groups": [taxonomy.polarity[name] or "" for name in names]}
    figure = replace(seen.figures[0], name=name, options=options)
    return RecipeFigure.of(figure, seen.table(figure.of), title=title, description=description)


def _compared(
    found: Mapping[str, Finding],
    keys: Mapping[str, str],
    titles: Mapping[str, str],
    name: str,
    title: str,
) -> list[RecipeFigure]:
    cells = {
        measure: [
            [found.get(f"{key.format(network)}.{measure}", Finding()) for key in keys.values()]
            for network in BACKBONES
        ]
        for measure in _MEASURES
    }
    if all(one.value is None for rows in cells.values() for row in rows for one in row):
        return []
    bare = all(one.low is None for rows in cells.values() for row in rows for one in row)
    said = "of one seed" if bare else "means over seeds with 95 % of Student's t"
    return [
        RecipeFigure(
            name,
            title,
            f"ACC, ECC and EMC of {', '.join(titles.values())}; {said}.",
            partial(_measures, cells, list(titles.values())),
        )
    ]


def _measures(cells: Mapping[str, list[list[Finding]]], groups: list[str]) -> Figure:
    from affectlab.core.render.figure import draw_figure

    rows = [
        (_MEASURES[measure], name, group, one.value, one.low, one.high)
        for measure, networks in cells.items()
        for name, row in zip(_NETWORKS.values(), networks, strict=True)
        for group, one in zip(groups, row, strict=True)
    ]
    names = ("measure", "name", "group", "value", "low", "high")
    return draw_figure("measures", dict(zip(names, zip(*rows, strict=True), strict=True)))


def _votes(votes: Ints) -> RecipeFigure:
    from affectlab.core.render.figure import draw_figure

    choices = {name: name for name in ("ListMLE", "cross-entropy", "indistinct")}
    columns = {"scene": range(len(votes)), **dict(zip(choices, votes[:, [1, 0, 2]].T, strict=True))}
    ahead = int((votes[:, 1] > votes[:, 0]).sum())
    return RecipeFigure(
        "user-study",
        "Votes of simulated people on each scene (Figure 3b)",
        f"{plural(len(votes), 'scene')}; on {ahead} of them ListMLE has more votes than "
        "cross-entropy.",
        partial(draw_figure, "item_votes", columns, choices=choices),
    )


def _thresholds(histories: Mapping[str, list[dict[str, float]]]) -> Figure:
    from affectlab.core.render.figure import draw_figure

    rows = [{"run": run, **entry} for run, entries in histories.items() for entry in entries]
    title = "threshold (mean over classes)"
    return draw_figure(
        "epochs", pl.DataFrame(rows, infer_schema_length=None), values={"threshold": title}
    )
