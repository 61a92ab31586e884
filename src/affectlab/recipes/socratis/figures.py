"""Pictures of Socratis: words, pairs, examples, verdicts, and what metrics say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from affectlab.core.words import joined
from affectlab.recipes.recipe import Finding, RecipeFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from affectlab.analysis.reactions import EmotionWords
    from affectlab.core.result import Result
    from affectlab.evaluation.preference import Preferences

__all__ = ["metric_pictures", "reaction_pictures", "study_pictures"]

_SHORT = {"bart": "BARTScore", "clip": "CLIPScore", "refclip": "RefCLIPScore"}
_VERDICTS = {"machine": "machine better", "human": "human better", "both": "both good"}
_CHOICES = _VERDICTS | {"neither": "both bad"}
_WRITERS = {"multimodal": "image and text", "text": "text alone"}


def reaction_pictures(table: pl.DataFrame, words: EmotionWords) -> tuple[RecipeFigure, ...]:
    """Draw the commonest emotion words, and how much people differ over a pair (section 2)."""
    from affectlab.analysis.reactions import emotion_diversity, figures_of_reactions, map_emotions

    mapped = map_emotions(words, "goemotions")
    diversity = emotion_diversity(
        table["stimulus"].to_list(),
        table["rater"].to_list(),
        table["word"].to_list(),
        polarities=[mapped.polarity(word) for word in table["word"]],
    )
    titles = {"emotion_words": "Emotions that people name most (section 2)"}
    tables = {"emotions": mapped.tables[0], "pairs": diversity.table("pairs")}
    return tuple(
        RecipeFigure.of(one, tables[one.of], title=titles.get(one.name, ""))
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
    from affectlab.core.render.figure import draw_figure
    from affectlab.evaluation import preference_verdicts

    rows = preference_verdicts(found).frame.filter(measure="verdict")
    counts = dict(rows.select("of_what", "count").iter_rows())
    choice = [_CHOICES.get(str(name), str(name)) for name in counts]
    verdicts = RecipeFigure(
        "verdicts",
        "Whose reactions judges prefer: verdicts of items (Table 1)",
        "; ".join(f"{name} {n:,}" for name, n in counts.items()) + ".",
        partial(
            draw_figure,
            "shares",
            {"choice": choice, **rows.select("value", "low", "high", "count").to_dict()},
            value_name="share of items with a majority",
        ),
    )
    votes = (one for one in RecipeFigure.all_of(found) if one.name == "preference_by_item")
    return (*_examples(found, items, images), verdicts, *votes)


def _examples(
    found: Preferences, items: pl.DataFrame, images: Mapping[str, Path]
) -> list[RecipeFigure]:
    """Take the item of each verdict that judges agree on most; none where there is no verdict."""
    from affectlab.core.render.figure import draw_figure
    from affectlab.models.images import load_image

    rows = {row["stimulus"]: row for row in items.iter_rows(named=True)}
    best: dict[str, tuple[int, int, str]] = {}
    for row in found.to_frame("verdicts").iter_rows(named=True):
        name, verdict = row["item"], row["verdict"]
        if verdict in _VERDICTS and row[verdict] > best.get(verdict, (0,))[0]:
            best[verdict] = (row[verdict], row["n_votes"], name)
    examples, pictures = [], []
    for verdict, (*votes, name) in sorted(best.items()):
        row = rows[name]
        text = {row[f"system_{side}"]: row[f"option_{side}"] for side in "ab"}
        # The folder of pictures is gone when the figure is drawn.
        pictures.append(load_image(images[row["pair"]]))
        examples.append(
            {
                "title": f"{_VERDICTS[verdict]}, by {votes[0]} of {votes[1]} judges",
                "caption": row["caption"],
                "emotion": row["emotion"],
                **{who: text[who] for who in ("human", "machine")},
            }
        )
    if not examples:
        return []
    said = " ".join(
        f"{one['title']}: {one['caption']} ({one['emotion']}). human: {one['human']} "
        f"machine: {one['machine']}"
        for one in examples
    )
    draw = partial(draw_figure, "reaction_examples", pl.DataFrame(examples), images=pictures)
    title = "What judges saw: examples of each verdict (figure 2)"
    return [RecipeFigure("examples", title, said, draw)]


def metric_pictures(
    seen: Result, found: Mapping[str, Finding], names: Mapping[str, str]
) -> tuple[RecipeFigure, ...]:
    """Draw means by verdict (Table 2), with and without images (Table 3), and areas.

    `names` has the full names of metrics by short ones.
    """
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
    return (*drawn, *RecipeFigure.all_of(replace(seen, figures=tuple(areas))))


def _means(
    found: Mapping[str, Finding], key: str, rows: Mapping[str, str], metrics: Sequence[str]
) -> Figure:
    from affectlab.core.render.figure import draw_figure

    cells = [
        (_SHORT[metric], title, found.get(key.format(metric=metric, row=row), Finding()))
        for metric in metrics
        for row, title in rows.items()
    ]
    data = {
        "measure": [measure for measure, _, _ in cells],
        "name": [title for _, title, _ in cells],
        "group": ["mean with its 95 % interval"] * len(cells),
        **{part: [getattr(one, part) for *_, one in cells] for part in ("value", "low", "high")},
    }
    return draw_figure("measures", data)
