"""Pictures of Socratis: words, pairs, examples, verdicts, and what metrics say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.words import joined
from affectlab.recipes.recipe import Finding, RecipeFigure

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from affectlab.analysis.reactions import EmotionWords
    from affectlab.evaluation import MetricPreferences, Preferences

__all__ = ["metric_pictures", "reaction_pictures", "study_pictures"]

_SHORT = {"bart": "BARTScore", "clip": "CLIPScore", "refclip": "RefCLIPScore"}
_VERDICTS = {"machine": "machine better", "human": "human better", "both": "both good"}
_CHOICES = _VERDICTS | {"neither": "both bad"}
_WRITERS = {"multimodal": "image and text", "text": "text alone"}


def reaction_pictures(table: pl.DataFrame, words: EmotionWords) -> tuple[RecipeFigure, ...]:
    """Draw the commonest emotion words, and how much people differ over a pair (section 2)."""
    from affectlab.analysis.reactions import emotion_diversity, figures_of_reactions, map_emotions
    from affectlab.report.drawing import figure_of

    mapped = map_emotions(words, "goemotions")
    diversity = emotion_diversity(
        table["stimulus"].to_list(),
        table["rater"].to_list(),
        table["word"].to_list(),
        polarities=[mapped.polarity(word) for word in table["word"]],
        # Intervals are not drawn; so few draws cost nothing.
        n_boot=2,
    )
    titles = {"emotion_words": "Emotions that people name most (section 2)"}
    tables = {"emotions": mapped.tables[0], "pairs": diversity.table("pairs")}
    return tuple(
        RecipeFigure(
            one.name,
            titles.get(one.name, one.title),
            one.description,
            partial(figure_of, one, tables[one.of]),
        )
        for one in figures_of_reactions(mapped, diversity)
    )


def study_pictures(
    found: Preferences, items: pl.DataFrame, images: Mapping[str, Path]
) -> tuple[RecipeFigure, ...]:
    """Draw the verdicts of Table 1, the votes that they come from, and examples (figure 2).

    Parameters
    ----------
    found
        What judges said.
    items
        Of :func:`affectlab.evaluation.reaction_pairs`.
    images
        Picture of each pair.
    """
    from affectlab.evaluation import preference_verdicts
    from affectlab.report import fig_preferences
    from affectlab.report.pictures import pictures_of

    rows = preference_verdicts(found).frame.filter(statistic="verdict")
    counts = dict(zip(rows["of_what"].to_list(), rows["count"].to_list(), strict=True))
    verdicts = RecipeFigure(
        "verdicts",
        "Whose reactions judges prefer: verdicts of items (Table 1)",
        "; ".join(f"{name} {n:,}" for name, n in counts.items()) + ".",
        partial(
            fig_preferences,
            [_CHOICES.get(str(name), str(name)) for name in counts],
            *(rows[name].to_numpy() for name in ("value", "low", "high", "count")),
            value_name="share of items with a majority",
        ),
    )
    votes = [one for one in pictures_of(found) if one.name == "preference_by_item"]
    return (*_examples(found, items, images), verdicts, *map(RecipeFigure.of, votes))


def _examples(
    found: Preferences, items: pl.DataFrame, images: Mapping[str, Path]
) -> list[RecipeFigure]:
    """Take the item of each verdict that judges agree on most; none where there is no verdict."""
    from affectlab.models.images import load_image
    from affectlab.report import ReactionExample, fig_reaction_examples

    rows = {row["stimulus"]: row for row in items.iter_rows(named=True)}
    best: dict[str, tuple[int, int, str]] = {}
    for row in found.verdicts().iter_rows(named=True):
        name, verdict = row["item"], row["verdict"]
        if verdict in _VERDICTS and row[verdict] > best.get(verdict, (0,))[0]:
            best[verdict] = (row[verdict], row["n_votes"], name)
    examples = []
    for verdict, (*votes, name) in sorted(best.items()):
        row = rows[name]
        text = {row[f"system_{side}"]: row[f"option_{side}"] for side in "ab"}
        examples.append(
            ReactionExample(
                f"{_VERDICTS[verdict]}, by {votes[0]} of {votes[1]} judges",
                # The folder of pictures is gone when the figure is drawn.
                load_image(images[row["pair"]]),
                row["caption"],
                row["emotion"],
                [(who, text[who]) for who in ("human", "machine")],
            )
        )
    if not examples:
        return []
    said = " ".join(
        f"{one.title}: {one.caption} ({one.emotion}). "
        + " ".join(f"{who}: {text}" for who, text in one.reactions)
        for one in examples
    )
    draw = partial(fig_reaction_examples, examples)
    title = "What judges saw: examples of each verdict (figure 2)"
    return [RecipeFigure("examples", title, said, draw)]


def metric_pictures(
    seen: MetricPreferences, found: Mapping[str, Finding], names: Mapping[str, str]
) -> tuple[RecipeFigure, ...]:
    """Draw means by verdict (Table 2), with and without images (Table 3), and areas.

    `names` has the full names of metrics by short ones.
    """
    from affectlab.report.pictures import pictures_of

    short = {full: _SHORT[key] for key, full in names.items()}
    drawn = [
        RecipeFigure(
            "metrics_by_verdict",
            "Metrics of the machine's reactions, by verdict (Table 2)",
            f"Means of {joined(_SHORT.values())} with 95 % intervals. A metric that sees what "
            "judges prefer is lowest where the human's reaction was better.",
            partial(_means, found, "table2.{metric}.{row}", _VERDICTS, tuple(_SHORT)),
        ),
        RecipeFigure(
            "metrics_by_writer",
            "Metrics of reactions written with and without the image (Table 3)",
            "Means of CLIPScore and RefCLIPScore with 95 % intervals.",
            partial(_means, found, "table3.{row}.{metric}", _WRITERS, ("clip", "refclip")),
        ),
    ]
    areas = [replace(one, options={**one.options, "names": short}) for one in seen.figures]
    return (*drawn, *map(RecipeFigure.of, pictures_of(replace(seen, figures=tuple(areas)))))


def _means(
    found: Mapping[str, Finding], key: str, rows: Mapping[str, str], metrics: Sequence[str]
) -> Figure:
    from affectlab.report import fig_measures

    def values(metric: str, part: str) -> list[list[float]]:
        given = [
            getattr(found.get(key.format(metric=metric, row=row), Finding()), part) for row in rows
        ]
        return [[np.nan if one is None else float(one)] for one in given]

    measures = {
        _SHORT[metric]: (values(metric, "value"), values(metric, "low"), values(metric, "high"))
        for metric in metrics
    }
    return fig_measures(list(rows.values()), ["mean with its 95 % interval"], measures)
