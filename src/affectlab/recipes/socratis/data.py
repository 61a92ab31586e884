"""Socratis from its published file: what can be found without the images and the judgements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError
from affectlab.core.words import count, in_brackets, percent
from affectlab.recipes.needs import DataNeed, find_input
from affectlab.recipes.published_figures import load_published
from affectlab.recipes.recipe import SETTING, Finding, Parts, RecipeRun
from affectlab.recipes.socratis.figures import reaction_pictures
from affectlab.recipes.socratis.findings import (
    N_RANDOM,
    agreement_finding,
    cleaned,
    data_findings,
    diversity_note,
    published_notes,
    sentiment_finding,
    words_note,
)

if TYPE_CHECKING:
    from affectlab.analysis.reactions import PairScorer, Sentiment

__all__ = ["NEEDS", "run_on_file"]

_RELEASED = "imCaptionEmotionExplanation_formatted.json"
"""As the README of the release names it."""
_REACTIONS = DataNeed(
    file=_RELEASED,
    what="18,378 reactions to 2,075 image-caption pairs, as unique_id: list of [image, caption, "
    "emotions, explanations, demographics]",
    published="the project page kdeng55.github.io/socratis-website",
    licence="that of the release; images belong to Visual News and Conceptual Captions",
)
NEEDS = (_REACTIONS,)
_NAMES = tuple(
    f"{folder}{name}"
    for folder in ("", "socratis/", "data/")
    for name in (_RELEASED, "socratis.json", "data.json")
)
_MODEL = "which weights the paper used is not named"
_WHY = {
    "study.": "the judgements of the human study are not in the file of reactions; needs 500 "
    "items, three judges each",
    "table2.": "needs what BLIP-2 wrote and how people judged it, neither of which is in the file "
    "of reactions; then the images, a CLIP and a BART",
    "table3.": "needs what BLIP-2 and FLAN-T5 wrote, which is not in the file of reactions, and "
    "the images and a CLIP; no judgements",
}
"""Beginning of a key, and why the published file has no value for it."""
_PAIRS, _NEAR = 2075, 0.01
"""Pairs of the paper; a file is the paper's where it has as many, within this share."""
_MOST = 2000
"""Pairs of reactions that are compared in a quick run."""


def run_on_file(folder: Path, quick: bool) -> RecipeRun:
    """Run on the published reactions, with models where they lie beside them.

    ``models/bart`` (a BART) gives the agreement of reactions, ``models/sentiment`` (a model of
    ``affectlab train text``) the match of sentiments.
    """
    from affectlab.ratings import read_ratings

    file = find_input(folder, "socratis", _NAMES, _REACTIONS)
    ratings = read_ratings(file, format="socratis", on_bad="set_aside")
    table, words = cleaned(ratings)
    most = _MOST if quick else None
    part = "" if most is None else f", on at most {most:,} pairs of reactions"
    models = file.parent / "models"
    parts = Parts()
    with parts("reactions", "data."):
        counted = data_findings(ratings, table)
        pairs = counted["data.pairs"].value or 0.0
        if abs(pairs / _PAIRS - 1) > _NEAR:
            other = f"{count(pairs)} pairs are not the {count(_PAIRS)} of the paper"
            counted = {key: one.doubted(other) for key, one in counted.items()}
        parts.add(
            counted,
            [words_note(table, words), diversity_note(table, words)],
            reaction_pictures(table, words),
        )
    with parts("agreement", "quality.agreement", "quality.random_pairs"):
        plain = agreement_finding(table, words, None, most=most)
        parts.notes.append(_told_agreement(plain))
        if (bart := _bart(models / "bart")) is None:
            why = Finding(why="no folder models/bart beside the file")
            parts.add({"quality.agreement": why})
        else:
            found = agreement_finding(table, words, bart, most=most)
            agreement = found.doubted(f"by the BART in models/bart{part}; {_MODEL}")
            setting = Finding(float(N_RANDOM), doubt=SETTING)
            parts.add({"quality.agreement": agreement, "quality.random_pairs": setting})
    with parts("sentiment", "quality.sentiment_match"):
        if (sentiment := _sentiment(models / "sentiment")) is None:
            match = Finding(why="no folder models/sentiment beside the file")
        else:
            found = sentiment_finding(table, words, sentiment)
            match = found.doubted(f"by the model in models/sentiment; {_MODEL}")
        parts.add({"quality.sentiment_match": match})
    keys = [figure.key for figure in load_published("socratis").figure]
    reasons = {
        key: Finding(why=why)
        for key in keys
        for start, why in _WHY.items()
        if key.startswith(start)
    }
    parts.add(reasons, [*published_notes(), *ratings.warnings, *_missing(file, ratings)])
    return parts.to_run(inputs=(file,), seeds=(0,))


def _bart(folder: Path) -> PairScorer | None:
    """Load a measure of two texts, where it is there."""
    if not folder.is_dir():
        return None
    from affectlab.models.text_metrics import BartScore

    metric = BartScore(folder)

    def bart(texts: list[str], others: list[str]) -> Any:
        return metric.score(texts, others).scores

    bart.name = metric.name  # type: ignore[attr-defined]
    return bart


def _sentiment(folder: Path) -> Sentiment | None:
    """Load a function of sentiments, where it is there."""
    if not folder.is_dir():
        return None
    from affectlab.models.text import TextClassifier

    model = TextClassifier.load(folder)
    polarity = model.taxonomy.polarity
    if not {"positive", "negative"} <= set(polarity.values()):
        raise InputError(
            f"{folder}: the labels of the model have no polarity; expected positive and negative "
            "ones"
        )

    def sentiment(texts: list[str]) -> list[str | None]:
        best = model.predict_proba(texts).argmax(axis=1)
        return [polarity.get(model.labels[k]) for k in best]

    return sentiment


def _told_agreement(found: Finding) -> str:
    if found.value is None:
        return f"Agreement of reactions by shared words: {found.why}."
    return (
        f"By shared words in place of BARTScore, reactions to the same score above random pairs in "
        f"{percent(found.value, 1)}{in_brackets(found.low, found.high or 0.0, 1, write=percent)}."
    )


def _missing(file: Path, ratings: Any) -> tuple[str, ...]:
    """Say which images are missing, and what else the tables need."""
    stimuli = ratings.stimuli
    if "image" not in stimuli.columns:
        return ("The file names no images.",)
    names = [name for name in stimuli["image"].to_list() if name]
    folder = file.parent / "images"
    lost = [name for name in names if not (folder / name).is_file()]
    said = []
    if lost:
        said.append(
            f"{len(lost):,} of {len(names):,} images are missing in images/, the first is "
            f"{lost[0]}; they are published at the project page "
            "kdeng55.github.io/socratis-website, or with Visual News and Conceptual Captions. "
            "Nothing above needs them."
        )
        said.append(
            "Without images there are affectlab socratis reactions --text-only, and BARTScore "
            "by affectlab evaluate text; Tables 2 and 3 need CLIP, BLIP-2 and the images."
        )
    else:
        said.append(
            "All images are there: affectlab socratis reactions writes what BLIP-2 says, "
            "affectlab evaluate text scores it (Table 3), and affectlab study asks people "
            "(Table 1)."
        )
    return tuple(said)
