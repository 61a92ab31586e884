"""``affectlab analyze``: the verbs that take or give more than ratings and a result."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from affectlab.analysis import label_map as place
from affectlab.analysis.reactions import summarise_reactions
from affectlab.cli._output import Output, check_folder
from affectlab.cli.operations import check_outputs, show_result
from affectlab.core.types import Count
from affectlab.models.text import TextClassifier
from affectlab.ratings import Ratings
from affectlab.report import write_label_map


def label_map(
    ratings: Ratings,
    out: Output,
    *,
    page: Path = Path("map.html"),
    method: Literal["tsne", "umap", "pca"] = "tsne",
    images: Path | None = None,
    most: Count = 5000,
    features: Path | None = None,
    exclude_neutral: bool = True,
    text: str = "text",
    title: str = "Map of stimuli",
    to: Path | None = None,
    figures: Path | None = None,
    seed: int = 0,
) -> None:
    """Draw an interactive map of the stimuli, coloured by the labels that people chose.

    Parameters
    ----------
    page
        The page to write, ending in .html.
    method
        How stimuli are placed in the plane.
    images
        Folder with a picture of each stimulus, named like it.
    most
        With more stimuli, so many are drawn at random.
    features
        Place stimuli by these numbers, such as embeddings, and not by their labels: a .npy file
        with one row per stimulus, in order of first use.
    exclude_neutral
        Leave out the label that stands for no emotion.
    text
        Column of the stimuli that holds texts.
    title
        Heading of the page.
    to
        Write places to this file (.csv, .parquet) or folder.
    figures
        Folder for figures (PNG, SVG).
    """
    check_outputs(to, figures)
    with out.progress(f"{method} of the stimuli"):
        result = place(
            out.panel(ratings, hint=""),
            features=features,
            method=method,
            exclude_neutral=exclude_neutral,
            most=most,
            text=text,
            seed=seed,
        )
        written = write_label_map(result, page, images=images, title=title)
    out.show(f"map: {written} ({written.stat().st_size / 1e6:.1f} MB, opens in any browser)")
    show_result(result, out, to=to, figures=figures, warnings=ratings.warnings)


def reactions(
    ratings: Ratings,
    out: Output,
    *,
    labels: str = "goemotions",
    sentiment: Path | None = None,
    level: str = "sentiment",
    scorer: str | None = None,
    most: Count | None = None,
    n_random: Count = 1000,
    spelling: bool = True,
    language: str = "en",
    scrub: bool = False,
    to: Path | None = None,
    figures: Path | None = None,
    seed: int = 0,
) -> None:
    """Sum up reactions: emotion words, how diverse they are, and how far they can be relied on.

    Parameters
    ----------
    labels
        Taxonomy that free words are mapped to: a name or a TOML file.
    sentiment
        Folder of a text model (train text): does a reason have the sentiment of its emotion?
    level
        Level of the model's taxonomy that is the sentiment.
    scorer
        Measure of how alike two reasons are: a local BART folder for BARTScore; shared words when
        not given.
    most
        Compare so many pairs of reasons at most.
    n_random
        Unrelated pairs of reasons.
    spelling
        Correct misspelt emotion words.
    language
        Language of the emotion words.
    scrub
        Take personal data out of the reasons first; with --out, write them so.
    to
        Folder for all tables.
    figures
        Folder for figures (PNG, SVG).
    """
    for option, folder in (("--out", to), ("--figures", figures)):
        check_folder(folder, option)
    with out.progress("reactions"):
        result = summarise_reactions(
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
        result.ratings.write(to / "reactions.parquet")
    show_result(
        result,
        out,
        to=to,
        figures=figures,
        warnings=ratings.warnings,
        missing=ratings.missing if ratings.scale.numeric else "",
    )


def _asking(folder: Path, level: str) -> Any:
    """Give a function that asks a text model for the sentiments of texts."""
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
