"""``affectlab analyze reactions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import check_folder
from affectlab.cli.operations import FiguresOption, show_result
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["reactions"]


@reads_ratings("analyze reactions")
def reactions(
    ratings: Ratings,
    out: Output,
    labels: Annotated[
        str,
        Option("--labels", help="Taxonomy that free words are mapped to: a name or a TOML file."),
    ] = "goemotions",
    sentiment: Annotated[
        Path | None,
        Option(
            help="Folder of a text model (train text): does a reason have the sentiment of its "
            "emotion?",
        ),
    ] = None,
    level: Annotated[
        str, Option("--level", help="Level of the model's taxonomy that is the sentiment.")
    ] = "sentiment",
    scorer: Annotated[
        str | None,
        Option(
            "--scorer",
            help="Measure of how alike two reasons are: a local BART folder for BARTScore; shared "
            "words when not given.",
            metavar="FOLDER",
        ),
    ] = None,
    most: Annotated[
        int | None, Option("--most", help="Compare so many pairs of reasons at most.", min=1)
    ] = None,
    n_random: Annotated[int, Option(help="Unrelated pairs of reasons.", min=1)] = 1000,
    spelling: Annotated[
        bool, Option("--spelling/--no-spelling", help="Correct misspelt emotion words.")
    ] = True,
    language: Annotated[str, Option("--language", help="Language of the emotion words.")] = "en",
    scrub: Annotated[
        bool,
        Option(
            "--scrub",
            help="Take personal data out of the reasons first; with --out, write them so.",
        ),
    ] = False,
    to: Annotated[Path | None, Option("--out", help="Folder for all tables.")] = None,
    figures: FiguresOption = None,
    seed: SeedOption = 0,
) -> None:
    """Sum up reactions: emotion words, how diverse they are, and how far they can be relied on.

    Example: affectlab analyze reactions reactions.json --out tables/
    """
    from affectlab.analysis.reactions import summarise_reactions

    for option, folder in (("--out", to), ("--figures", figures)):
        check_folder(folder, option)
    with out.progress("reactions"):
        found = summarise_reactions(
            out.panel(ratings, hint=""),
            labels=labels,
            sentiment=None if sentiment is None else _asking(sentiment, level),
            scorer=None if scorer is None else _scoring(scorer),
            most=most,
            n_random=n_random,
            spelling=spelling,
            language=language,
            scrub=scrub,
            seed=seed,
        )
    if to is not None and scrub:
        to.mkdir(parents=True, exist_ok=True)
        found.ratings.write(to / "reactions.parquet")
    show_result(found, out, to=to, figures=figures, warnings=ratings.warnings)


def _asking(folder: Path, level: str) -> Any:
    """Give a function that asks a text model for the sentiments of texts."""
    from affectlab.models.text import TextClassifier

    model = TextClassifier.load(folder)
    at = None if set(model.labels) <= {"positive", "negative", "neutral", "ambiguous"} else level
    names = model.labels_at(at)
    return lambda texts: [names[k] for k in model.predict_proba(texts, level=at).argmax(axis=1)]


def _scoring(folder: str) -> Any:
    """Give BARTScore of texts, under its name."""
    from affectlab.models.text_metrics import BartScore

    model = BartScore(folder)

    def measure(texts: list[str], others: list[str]) -> Any:
        return model.score(texts, others).scores

    measure.name = f"BARTScore ({folder})"  # type: ignore[attr-defined]
    return measure
