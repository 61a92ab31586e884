"""Figures of models and of what they are trained on, as files in a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from affectlab.core.render.figure import draw_figure, save_figure
from affectlab.core.words import file_part, number, percent
from affectlab.ratings import Ratings
from affectlab.report.ratings_report import write_report
from affectlab.stimuli.prompts import WHOLE, CoverageMap

if TYPE_CHECKING:
    from affectlab.models.embedding import Embeddings
    from affectlab.models.heads import HeadBank
    from affectlab.models.text import Contributions, LabelledTexts, TextClassifier


def draw_predictions(
    bank: HeadBank,
    embedded: Embeddings,
    ratings: Ratings,
    how: Literal["median", "mean"],
    folder: Path,
) -> None:
    """Draw ratings against predictions, a panel per label."""
    from affectlab.models.heads import head_agreement, rated_part, targets_from

    part = rated_part(embedded, ratings)
    predicted = bank.predict(part)
    targets = targets_from(ratings, part.stimuli, bank.labels, how)
    agreement = head_agreement(predicted, targets, bank.labels)
    columns = {
        "label": np.repeat(bank.labels, len(targets)),
        "prediction": predicted.T.ravel(),
        "rating": targets.T.ravel(),
    }
    panels = [
        {
            "x": "prediction",
            "title": label,
            "rows": {"label": label},
            "note": f"Spearman {number(spearman)}",
        }
        for column, (label, spearman) in enumerate(
            agreement.select("label", "spearman").iter_rows()
        )
        if not np.isnan(targets[:, column]).all()
    ]
    save_figure(
        draw_figure("scatter", columns, y="rating", panels=panels, y_name="rating", share_x=True),
        folder,
        "predictions",
        title="Ratings against predictions",
        description="; ".join(f"{panel['title']}: {panel['note']}" for panel in panels),
    )


def report_on_heads(
    bank: HeadBank,
    embedded: Embeddings,
    ratings: Ratings,
    folder: Path,
    seed: int,
    progress: Callable[[str, int, int], None],
) -> Path:
    """Compare the heads with people on what was kept aside, as any model is."""
    from affectlab.models.heads import rated_part

    part = rated_part(embedded, ratings)
    return write_report(
        ratings.select(stimuli=part.stimuli),
        folder,
        models=bank.rate(part),
        title=f"Heads of {bank.name} and people",
        seed=seed,
        progress=progress,
    ).html


def draw_reliability(model: TextClassifier, aside: LabelledTexts, folder: Path) -> None:
    for level in model.tuning:
        found = model.reliability(aside.texts, aside.targets, level or None, n_boot=0)
        name = level or "labels"
        file = f"reliability-{file_part(name)}"
        ece = found["ece"].value
        save_figure(
            draw_figure(
                "reliability",
                found.bins,
                ece=ece,
                outcome_name="share that has the label",
                title=name,
            ),
            folder,
            file,
            title=f"Reliability of probabilities, {name}",
            description=f"Share of texts with a label by its probability, over all labels of "
            f"{name}; pooled expected calibration error {ece:.3f}. Fitted to the same texts.",
        )


def draw_contributions(told: list[Contributions], folder: Path) -> None:
    for place, found in enumerate(told, 1):
        labels = found.strongest()
        save_figure(
            draw_figure(
                "contributions",
                {
                    "token": found.tokens,
                    **{label: [part for _, part in found.of(label)] for label in labels},
                },
                labels=labels,
                probabilities={
                    label: float(found.probabilities[found.labels.index(label)]) for label in labels
                },
            ),
            folder,
            f"words-{place}",
            title="Which words moved the prediction",
            description="; ".join(
                f"{label}: {', '.join(f'{word} {value:+.2f}' for word, value in found.top(label))}"
                for label in labels
            ),
        )


def draw_history(strategy: str, history: list[dict[str, float]], folder: Path) -> list[Path]:
    """Draw what the history holds, and give the pictures."""
    figures = {
        "threshold": ("Threshold", {"threshold": "threshold (mean over classes)"}),
        "utilisation": (
            "Use of unlabelled images",
            {"utilisation": "share of unlabelled examples that count"},
        ),
        "quality": (
            "Quality of pseudo-labels",
            {"pseudo_accuracy": "ACC", "pseudo_ecc": "ECC", "pseudo_emc": "EMC"},
        ),
    }
    rows = pl.DataFrame([{"run": strategy, **entry} for entry in history], infer_schema_length=None)
    drawn = []
    for file, (title, values) in figures.items():
        column = next(iter(values))
        if column in rows.columns:
            last = number(history[-1].get(column, float("nan")))
            png, _ = save_figure(
                draw_figure("epochs", rows, values=values),
                folder,
                file,
                title=title,
                description=f"In the last epoch, {strategy}: {last}.",
            )
            drawn.append(png)
    return drawn


def draw_coverage(found: CoverageMap, count: str, folder: Path) -> tuple[Path, Path]:
    """Draw one count against all attributes."""
    cells = found.counts.filter(found.counts["attribute"] != WHOLE)
    accepted = count == "n_accepted"
    what = "accepted pictures" if accepted else "prompts"
    figure = draw_figure(
        "coverage",
        cells,
        counted=count,
        count_name=what,
        short="under_covered" if accepted else None,
        short_name=f"fewer than {percent(found.least)} of what is due",
    )
    n_short = found.under_covered().height
    return save_figure(
        figure,
        folder,
        what.replace(" ", "-"),
        title=f"Labels by {', '.join(cells['attribute'].unique(maintain_order=True))}: {what}",
        description=f"Counts of {what} for {cells['label'].n_unique()} labels"
        + (f"; {n_short} cells have too few." if accepted else "."),
    )
