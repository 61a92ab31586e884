"""``affectlab rate text``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from affectlab.cli.rate._chosen import times_chosen

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.models.text.explanations import Contributions
    from affectlab.ratings import Ratings

__all__ = ["text"]


def text(
    out: Output,
    file: Path,
    *,
    model: Path,
    to: Path,
    level: str | None = None,
    coherent: bool = False,
    rater: str | None = None,
    explain: Annotated[int, Ge(0)] = 0,
    figures: Path | None = None,
    set_aside: bool = False,
) -> None:
    """Let a text model rate texts: the probability of every label, and the labels it chooses.

    Parameters
    ----------
    file
        Texts: GoEmotions, ratings of texts, a table with a column text (and stimulus), or a .txt
        file with one per line.
    model
        Folder that train text wrote.
    to
        Ratings: .parquet, .csv or .jsonl.
    level
        Answer the groups of this level, such as ekman.
    coherent
        With --level: choose the groups of the labels that are chosen without it.
    rater
        Name of the rater; by default that of the model.
    explain
        Show which words moved the first texts, this many.
    figures
        Folder for figures of the words (PNG, SVG); with --explain.
    set_aside
        Leave out empty texts, and count them.
    """
    from affectlab.core.errors import InputError
    from affectlab.models.text import TextClassifier, read_texts
    from affectlab.ratings import check_ratings_path

    if coherent and level is None:
        raise InputError("--coherent chooses groups of a level; expected --level as well")
    check_ratings_path(to)
    with out.progress(f"reading {file}") as progress:
        classifier = TextClassifier.load(model)
        texts, stimuli, notes = read_texts(file, on_bad="set_aside" if set_aside else "raise")
        ratings = classifier.rate(
            texts, stimuli, rater, level=level, coherent=coherent, progress=progress
        )
        ratings.write(to)
        told = [classifier.explain(one, level) for one in texts[:explain]]
    _show(out, ratings)
    for found in told:
        out.show("", f"“{found.text}”", found)
    if told:
        out.show(f"Parts of logits; {told[0].method}.")
    if figures is not None and told:
        _draw(told, figures)
        out.show(f"figures: {figures}")
    out.show(f"ratings: {to}")
    out.finish(
        {
            "ratings": to,
            "model": model,
            "rater": ratings.rater_names[0],
            "level": level,
            "n_texts": len(texts),
            "labels": ratings.label_names,
            "chosen": times_chosen(ratings),
            "answers": ratings.raters["answers"][0],
            "explained": [
                {"text": found.text, "parts": found.to_frame(), "start": found.bias}
                for found in told
            ],
            "notes": notes,
        },
        notes,
    )


def _show(out: Output, ratings: Ratings) -> None:
    from affectlab.core.words import percent, plural

    chosen = times_chosen(ratings)
    n = ratings.n_stimuli
    most = sorted(chosen.items(), key=lambda entry: -entry[1])[:5]
    out.head(
        f"{ratings.rater_names[0]} rated {plural(n, 'text')} on {plural(len(chosen), 'label')}"
    )
    told = ", ".join(f"{label} {percent(times / n)}" for label, times in most if times)
    out.show(f"chosen most often: {told}" if told else "no label was chosen")


def _draw(told: list[Contributions], folder: Path) -> None:
    from affectlab.report import draw_figure, save_figure

    for number, found in enumerate(told, 1):
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
            f"words-{number}",
            title="Which words moved the prediction",
            description="; ".join(
                f"{label}: {', '.join(f'{word} {value:+.2f}' for word, value in found.top(label))}"
                for label in labels
            ),
        )
