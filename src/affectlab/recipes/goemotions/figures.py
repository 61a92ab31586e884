"""Figures of GoEmotions: frequencies, correlations, words, labels per example, models."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from unicodedata import name

import numpy as np
import polars as pl

from affectlab.core.words import plural
from affectlab.recipes.goemotions.agreement import Agreement, Structure, printed_agreement
from affectlab.recipes.goemotions.counts import LabelNumbers, Votes
from affectlab.recipes.goemotions.data import Corpus
from affectlab.recipes.goemotions.models import Judged
from affectlab.recipes.goemotions.words import Words
from affectlab.recipes.recipe import RecipeFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from affectlab.recipes.goemotions.transfer import Transfer

__all__ = [
    "agreement_figure",
    "confusion_figure",
    "frequency_figure",
    "numbers_figure",
    "structure_figure",
    "transfer_figure",
    "words_figure",
]


def frequency_figure(
    corpus: Corpus, votes: Votes | None, agreement: Agreement | None, of: str
) -> RecipeFigure:
    """Draw Figure 1: how many comments at least one rater gives each emotion."""
    from affectlab.core.render.figure import draw_figure

    taxonomy = corpus.train.taxonomy
    names = [label for label in taxonomy.labels if label != taxonomy.neutral]
    if votes is None or agreement is None:
        targets = np.concatenate([part.targets for part in corpus.kept]) > 0
        counts = [int(targets[:, taxonomy.index(label)].sum()) for label in names]
        shade, who = None, "two raters or more"
    else:
        used = (votes.votes > 0).sum(axis=0)
        counts = [int(used[votes.labels.index(label)]) for label in names]
        given = dict(zip(agreement.labels, agreement.correlation, strict=True))
        shade, who = [given[label] for label in names], "at least one rater"
    groups = [taxonomy.polarity[label] or "" for label in names]
    order = np.argsort(counts)
    first, last = names[order[-1]], names[order[0]]
    return RecipeFigure(
        "frequencies",
        f"{of}: comments in which {who} saw an emotion (Figure 1)",
        f"Bars of {len(names)} emotions, {first} the longest and {last} the shortest"
        + ("; the colour is the interrater correlation." if shade else "."),
        partial(
            draw_figure,
            "frequencies",
            {"label": names, "count": counts, "sentiment": groups, "shade": shade},
            shade="shade" if shade else None,
            groups="sentiment",
            count_name="comments",
        ),
    )


def structure_figure(structure: Structure, of: str) -> RecipeFigure:
    """Draw Figure 2: correlations of emotions, in the order of their tree."""
    return RecipeFigure(
        "correlations",
        f"{of}: correlation of emotions over comments, and their tree (Figure 2)",
        f"{plural(structure.clusters.k, 'cluster')}: "
        + "; ".join(", ".join(names) for names in structure.clusters.members().values()),
        partial(_structure, structure),
    )


def _structure(structure: Structure) -> Figure:
    from affectlab.core.render.figure import draw_figure

    clusters, whole = structure.clusters, structure.correlations
    drawn = clusters.ok
    return draw_figure(
        "label_heatmap",
        whole.to_frame(),
        names=clusters.labels,
        linkage=clusters.linkage if drawn else None,
        cluster=clusters.cluster.tolist() if drawn else None,
        groups=clusters.groups,
    )


def numbers_figure(numbers: LabelNumbers, of: str, of_raw: str) -> RecipeFigure:
    """Draw Figure 5: labels per example before and after those of one rater are left out."""
    from affectlab.core.render.figure import draw_figure

    every = "labels of any rater" + ("" if of == of_raw else " (a part of the examples)")
    shares = {} if numbers.before is None else {every: numbers.before}
    shares["labels of two raters or more"] = numbers.after
    one = numbers.names.index("1")
    said = ", ".join(f"{which} {100 * share[one]:.0f} %" for which, share in shares.items())
    return RecipeFigure(
        "labels-per-example",
        f"{of}: labels per example (Figure 5)",
        f"Share of examples with one label: {said}.",
        partial(
            draw_figure,
            "answers",
            {
                "group": [which for which in shares for _ in numbers.names],
                "answer": [*numbers.names] * len(shares),
                "share": np.concatenate([*shares.values()]),
            },
            value_name="labels",
            share_name="share of examples",
        ),
    )


def words_figure(words: Words, of: str) -> RecipeFigure:
    """Draw Table 3 as bars."""
    return RecipeFigure(
        "words",
        f"{of}: first words of each emotion, z of log odds (Table 3)",
        "; ".join(
            f"{label}: {', '.join(word for word, _ in found) or 'none'}"
            for label, found in words.first.items()
        ),
        partial(_words, words),
    )


def _words(words: Words) -> Figure:
    from affectlab.core.render.figure import draw_figure

    rows = [
        {"label": label, "word": _in_letters(word), "z": z}
        for label, found in words.first.items()
        for word, z in found
    ]
    labels, n = list(words.first), len(rows)
    schema = {"label": pl.String, "word": pl.String, "z": pl.Float64}
    data = pl.DataFrame(rows, schema=schema)
    return draw_figure("first_words", data, labels=labels, n=n, groups=words.groups)


def _in_letters(word: str) -> str:
    """Name emoji, which the font of figures lacks."""
    return "".join(name(sign, sign).lower() if sign > "\uffff" else sign for sign in word)


def agreement_figure(ours: Agreement | None, of: str) -> RecipeFigure:
    """Draw Table 7: kappa against interrater correlation, printed and ours."""
    printed = printed_agreement()
    panels = {"Table 7, printed": printed} | ({} if ours is None else {of: ours})
    return RecipeFigure(
        "agreement",
        "Cohen's kappa and interrater correlation of each emotion (Table 7)",
        "; ".join(f"{which}: Pearson {one.pearson:.2f}" for which, one in panels.items()),
        partial(_agreement, panels),
    )


def _agreement(panels: dict[str, Agreement]) -> Figure:
    from affectlab.core.render.figure import draw_figure
    from affectlab.taxonomy import load_taxonomy

    polarity = load_taxonomy("goemotions").polarity
    data = pl.concat(
        pl.DataFrame(
            {
                "which": which,
                "correlation": one.correlation,
                "kappa": one.kappa,
                "sentiment": [polarity[label] or "" for label in one.labels],
            }
        )
        for which, one in panels.items()
    )
    return draw_figure(
        "scatter",
        data,
        y="kappa",
        panels=[
            {
                "x": "correlation",
                "title": which,
                "rows": {"which": which},
                "note": f"r {one.pearson:.2f}",
            }
            for which, one in panels.items()
        ],
        groups="sentiment",
        x_name="interrater correlation",
        y_name="Cohen's kappa",
        share_x=True,
    )


def confusion_figure(judged: Judged, who: str, of: str) -> RecipeFigure:
    """Draw Figure 6: what a model takes each emotion for."""
    return RecipeFigure(
        "confusion",
        f"{of}: true emotions and what {who} chooses (Figure 6)",
        "Confusion matrix by rows, in the order of the tree of its rows.",
        partial(_confusion, judged),
    )


def _confusion(judged: Judged) -> Figure:
    from affectlab.analysis import cluster_confusion
    from affectlab.core.render.figure import figure_of
    from affectlab.taxonomy import load_taxonomy

    polarity = load_taxonomy("goemotions").polarity
    found = cluster_confusion(judged.confusion, judged.labels)
    figure = found.figures[0]
    groups = [polarity[label] or "" for label in found.labels]
    drawn = replace(figure, options={**figure.options, "groups": groups})
    return figure_of(drawn, found.table(figure.of))


def transfer_figure(found: Transfer) -> RecipeFigure:
    """Draw Figure 3: macro F1 of each setup by the number of training texts."""
    from affectlab.core.render.figure import draw_figure

    return RecipeFigure(
        "transfer",
        f"From comments to {found.target} (Figure 3)",
        "Macro F1 of a BiLSTM as baseline, freeze and nofreeze by the number of training texts, "
        "with 95 % t intervals over splits.",
        partial(draw_figure, "transfer", found.estimates().frame),
    )
