"""``affectlab rate text``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from affectlab.models.text import Contributions
    from affectlab.ratings import Ratings

__all__ = ["text"]


def text(
    file: Annotated[
        Path,
        Argument(
            help="Texts: GoEmotions, ratings of texts, a table with a column text (and stimulus), "
            "or a .txt file with one per line.",
            metavar="FILE",
        ),
    ],
    model: Annotated[Path, Option(help="Folder that train text wrote.", show_default=False)],
    to: Annotated[
        Path,
        Option("--out", "-o", help="Ratings: .parquet, .csv or .jsonl.", show_default=False),
    ],
    level: Annotated[
        str | None,
        Option(help="Answer the groups of this level, such as ekman.", show_default=False),
    ] = None,
    coherent: Annotated[
        bool,
        Option(
            "--coherent",
            help="With --level: choose the groups of the labels that are chosen without it.",
        ),
    ] = False,
    rater: Annotated[
        str | None,
        Option(help="Name of the rater; by default that of the model.", show_default=False),
    ] = None,
    explain: Annotated[
        int, Option(help="Show which words moved the first texts, this many.", min=0)
    ] = 0,
    figures: Annotated[
        Path | None,
        Option(
            help="Folder for figures of the words (PNG, SVG); with --explain.", show_default=False
        ),
    ] = None,
    set_aside: Annotated[
        bool, Option("--set-aside", help="Leave out empty texts, and count them.")
    ] = False,
    seed: Annotated[int, Option("--seed", help="Nothing is random here: changes nothing.")] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Let a text model rate texts: the probability of every label, and the labels it chooses.

    Example: affectlab rate text dev.tsv --model model/ --out ratings.parquet
    """
    from affectlab.core.errors import InputError
    from affectlab.models.text import TextClassifier, read_texts
    from affectlab.ratings import check_ratings_path

    if coherent and level is None:
        raise InputError("--coherent chooses groups of a level; expected --level as well")
    check_ratings_path(to)
    out = Output("rate text", as_json=as_json, quiet=quiet)
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
            "chosen": _chosen(ratings),
            "answers": ratings.raters["answers"][0],
            "explained": [
                {"text": found.text, "parts": found.to_frame(), "start": found.bias}
                for found in told
            ],
            "notes": notes,
        },
        notes,
    )


def _chosen(ratings: Ratings) -> dict[str, int]:
    """How many texts got each label."""
    import polars as pl

    frame = ratings.to_frame()
    for key, known in (("stimulus", ratings.stimuli), ("rater", ratings.raters)):
        if "chosen" not in frame.columns and "chosen" in known.columns:
            # The same of all labels of every text, which makes it an attribute.
            frame = frame.join(known.select(key, "chosen"), on=key, how="left")
    frame = frame.group_by("label", maintain_order=True).agg(pl.col("chosen").sum())
    return {str(label): int(n) for label, n in frame.iter_rows()}


def _show(out: Output, ratings: Ratings) -> None:
    from affectlab.core.words import percent, plural

    chosen = _chosen(ratings)
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
