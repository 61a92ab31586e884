"""Figures of EmoNet-Face: the consensus, agreement of people, and models beside them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.core.words import joined, number
from affectlab.recipes.emonet_face.agreement import MODELS, RANDOM, Compared, key_of, simulated
from affectlab.recipes.emonet_face.consensus import votes_by_label
from affectlab.recipes.recipe import RecipeFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from affectlab.core.estimates import Estimates
    from affectlab.evaluation.human_alignment import AlignmentResult
    from affectlab.ratings import Ratings
    from affectlab.reliability.agreement import KappaResult

__all__ = ["binary_figures", "hq_figures"]


def binary_figures(ratings: Ratings) -> tuple[RecipeFigure, ...]:
    """Draw the batches of Table 2, and the votes by emotion of Figure 8."""
    from affectlab.reliability import consensus_flow

    flow = consensus_flow(ratings)
    votes = votes_by_label(ratings)
    said = simulated(ratings)
    worst, best = votes["label"][0], votes["label"][-1]
    return (
        RecipeFigure.of(
            replace(
                flow.figures[0],
                name="consensus-flow",
                options={"items_name": f"items (an image with an emotion){said}"},
            ),
            flow.table(),
            title="Binary: items of each batch, and those confirmed (Table 2)",
            description="; ".join(
                f"batch {batch.batch}: {batch.items:,} items" for batch in flow.batches
            )
            + ".",
        ),
        RecipeFigure(
            "binary-votes",
            "Binary: votes on cells that were asked about again (Figure 8)",
            f"A bar for each of {votes.height} emotions, divided into cells with three yes of "
            f"three, two of three, and one of two. The first are fewest for {worst} and most for "
            f"{best}.",
            partial(_votes, votes, said),
        ),
    )


def hq_figures(found: Compared, level: AlignmentResult) -> tuple[RecipeFigure, ...]:
    """Draw what the paper draws of people and models, and the test of equivalence beside it."""
    from affectlab.core.render.figure import draw_figure

    tables = found.tables
    made = [
        RecipeFigure(
            "ratings",
            "HQ: how often each rating was given",
            "Share of the answers of people and of models at each step from 0 to 7.",
            partial(_ratings, found),
        )
    ]
    kappa, by_label, with_median, discrepancy = (
        tables.kappa,
        tables.kinds_by_label,
        tables.with_median,
        tables.discrepancy,
    )
    if kappa is not None and by_label is not None:
        made += [
            RecipeFigure(
                "agreement-groups",
                "Agreement with people by group (Figure 3)",
                "Quadratic kappa of raters by emotions. As published: p-values take them as "
                "independent of each other.",
                partial(_groups, found),
            ),
            RecipeFigure(
                "agreement-pairs",
                "Agreement of every pair of raters, mean of emotions (Figure 6)",
                f"{len(kappa.raters)} raters, people first.",
                partial(_pairs, kappa, found.said),
            ),
            RecipeFigure(
                "agreement-by-emotion",
                "Agreement by emotion and kind of pair (appendix A.4)",
                "Mean quadratic kappa of pairs of people, of people and models, and of models.",
                partial(
                    draw_figure,
                    "kinds_by_label",
                    by_label,
                    value_name=f"mean quadratic kappa{found.said}",
                ),
            ),
        ]
    made.append(
        RecipeFigure(
            "alpha-by-emotion",
            "HQ: Krippendorff's alpha of people (Figure 9)",
            _alpha_words(found),
            partial(_alpha, found),
        )
    )
    if with_median is not None:
        made.append(
            RecipeFigure(
                "spearman",
                "Spearman's correlation of models with the median of people (Figure 4)",
                "Means of emotions with 95 % intervals over images: "
                + joined(
                    f"{row['rater']} {number(row['value'])}"
                    for row in with_median.to_frame()
                    .drop_nans("value")
                    .sort("value", descending=True)
                    .head(5)
                    .to_dicts()
                )
                + " lead.",
                partial(_spearman, with_median, found),
            )
        )
    if discrepancy is not None:
        made.append(
            RecipeFigure(
                "discrepancy",
                "By how much people rate higher than models (Figure 10)",
                "Mean of people less that of each model but the random baseline, by emotion.",
                partial(_discrepancy, discrepancy, found.said),
            )
        )
    made.append(
        RecipeFigure(
            "human-level",
            "Models - people, on the margin of equivalence",
            "; ".join(f"{name}: {verdict}" for name, verdict in level.verdicts.items()) + ".",
            partial(_level, level, found.said),
        )
    )
    return tuple(made)


def _votes(votes: pl.DataFrame, said: str) -> Figure:
    from affectlab.core.render.figure import draw_figure

    levels = [name for name in votes.columns if name != "label"]
    shares = votes.unpivot(levels, index="label", variable_name="answer", value_name="share")
    place = pl.col("label").replace_strict(votes["label"], range(votes.height))
    shares = shares.with_columns(pl.col("share") / pl.col("share").sum().over("label"))
    share_name = f"share of cells with two or more answers{said}"
    shares = shares.sort(place, maintain_order=True)
    return draw_figure("levels_by_label", shares, share_name=share_name)


def _ratings(found: Compared) -> Figure:
    from affectlab.core.render.figure import draw_figure

    steps = 8
    parts = []
    for name, side in (("people", found.people), ("models", found.models)):
        value = side.value[~np.isnan(side.value)]
        counts = np.bincount(np.clip(np.rint(value), 0, 7).astype(int), minlength=steps)
        columns = {"answer": [str(step) for step in range(steps)], "share": counts / counts.sum()}
        parts.append(pl.DataFrame(columns).with_columns(group=pl.lit(name)))
    return draw_figure("answers", pl.concat(parts), value_name=f"rating{found.said}")


def _groups(found: Compared) -> Figure:
    from affectlab.core.render.figure import draw_figure
    from affectlab.evaluation.rater_comparison import group_values

    values = group_values(
        found.people,
        found.models,
        groups=found.families,
        truncate=True,
        pairs=found.tables.kappa,
    )
    order = ["people", *dict.fromkeys(MODELS.values())]
    names = [name for name in (*order, *sorted(set(values) - set(order))) if name in values]
    parts = [
        pl.DataFrame({"value": values[name]}).with_columns(group=pl.lit(name)) for name in names
    ]
    texts = []
    if found.tables.groups is not None:
        for row in found.tables.groups.frame.to_dicts():
            if row["group_a"] == "people" and row["p"] == row["p"]:
                p = "p < 0.001" if row["p"] < 0.001 else f"p = {number(row['p'], 3)}"
                texts.append((row["group_a"], row["group_b"], f"Δ {number(row['value'], 3)}, {p}"))
    return draw_figure(
        "groups_compared",
        pl.concat(parts),
        groups=names,
        comparisons=texts,
        value_name=f"quadratic kappa with people{found.said}",
    )


def _pairs(kappa: KappaResult, said: str) -> Figure:
    from affectlab.core.render.figure import draw_figure

    return draw_figure(
        "pair_heatmap",
        kappa.frame,
        keys=kappa.keys,
        raters=kappa.raters,
        rater_kinds=kappa.rater_kinds,
        value_name=f"quadratic kappa{said}",
    )


def _alpha_frame(found: Compared) -> pl.DataFrame:
    return found.tables.alpha.to_frame().filter(pl.col("side") == "human")


def _alpha_words(found: Compared) -> str:
    known = _alpha_frame(found).drop_nans("value").sort("value", descending=True)
    if not known.height:
        return "Alpha is not defined for any emotion."
    first, last = known.row(0, named=True), known.row(-1, named=True)
    return (
        f"{known.height} emotions with 95 % intervals over images, from {first['label']} "
        f"({number(first['value'])}) down to {last['label']} ({number(last['value'])})."
    )


def _alpha(found: Compared) -> Figure:
    from affectlab.core.render.figure import draw_figure

    frame = _alpha_frame(found)
    options = found.tables.alpha.figures[0].options if found.tables.alpha.figures else {}
    name = f"Krippendorff's alpha{found.said}"
    shown = {"value_name": name, "limits": (None, 1.0), "most": frame.height}
    return draw_figure("intervals", frame, keys=["label"], **{**options, **shown})


def _spearman(with_median: Estimates, found: Compared) -> Figure:
    from affectlab.core.render.figure import draw_figure

    frame = with_median.to_frame()
    return draw_figure(
        "agreement_bars",
        frame,
        value_name=f"Spearman's correlation, mean of emotions{found.said}",
        families=[found.families[name] for name in frame["rater"]],
    )


def _discrepancy(discrepancy: Estimates, said: str) -> Figure:
    from affectlab.core.render.figure import draw_figure

    # The random baseline is 3 points too high everywhere, which would make all others pale.
    frame = discrepancy.to_frame().filter(
        ~pl.col("rater").map_elements(key_of, return_dtype=pl.String).eq(key_of(RANDOM))
    )
    return draw_figure("discrepancies", frame, value_name=f"people less model{said}")


def _level(level: AlignmentResult, said: str) -> Figure:
    from affectlab.core.render.figure import draw_figure

    return draw_figure(
        "equivalence",
        level.to_frame(),
        margin=level.margin,
        inner_name="90 % interval, which decides",
        value_name=f"{level.measure_words}: model with people less people{said}",
    )
