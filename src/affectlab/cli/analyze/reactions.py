"""``affectlab analyze reactions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from affectlab.cli._options import reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.analysis.reactions import ReactionAgreement, SentimentMatch
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
            show_default=False,
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
            show_default=False,
        ),
    ] = None,
    most: Annotated[
        int | None,
        Option(
            "--most", help="Compare so many pairs of reasons at most.", min=1, show_default=False
        ),
    ] = None,
    n_random: Annotated[
        int, Option("--random-pairs", help="Unrelated pairs of reasons.", min=1)
    ] = 1000,
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
    to: Annotated[
        Path | None,
        Option(
            "--out",
            help="Folder for tables: words, pairs, copies, signs, bonus, and with --scrub the "
            "reactions.",
            show_default=False,
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for figures (PNG, SVG): words and pairs.", show_default=False),
    ] = None,
    seed: Annotated[int, Option("--seed", help="Seed: the same seed, the same result.")] = 0,
) -> None:
    """Sum up reactions: emotion words, how diverse they are, and how far they can be relied on.

    Example: affectlab analyze reactions reactions.json --out tables/
    """
    from affectlab.analysis import reactions as room
    from affectlab.cli.analyze._pairs import check_folder
    from affectlab.cli.analyze._reactions_show import show_quality, show_words, told

    for option, folder in (("--out", to), ("--figures", figures)):
        check_folder(folder, option)
    panel = out.panel(ratings)
    removed = None
    if scrub:
        from affectlab.stimuli.privacy import scrub_ratings

        with out.progress("personal data"):
            panel, found = scrub_ratings(panel)
        removed = found["text"]
    table = room.reaction_table(panel)
    stimuli, raters = table["stimulus"].to_list(), table["rater"].to_list()
    texts, raw = table["text"].to_list(), table["emotion"].to_list()
    with out.progress("emotion words"):
        words = room.normalise_emotions(raw, spelling=spelling, language=language)
        emotions = words.of(raw)
        mapped = room.map_emotions(words, labels)
        poles = [mapped.polarity(one) for one in emotions]
        diversity = room.emotion_diversity(stimuli, raters, emotions, polarities=poles, seed=seed)
    with out.progress("reasons"):
        match = _match(sentiment, level, emotions, texts, stimuli, raters, seed)
        agreement, why = _agreement(
            scorer, most, n_random, seed, (stimuli, raters, emotions, texts)
        )
        copies = room.near_copies(texts, raters, stimuli, captions=table["caption"].to_list())
        signs = room.machine_signs(texts, raters, seed=seed)
        popular = room.popular_emotions(stimuli, raters, words.of(raw))
    tables = {
        "words": words.to_frame(),
        "emotions": mapped.to_frame(),
        "pairs": diversity.pairs,
        "copies": copies.rows,
        "signs": signs.reactions,
        "sign_raters": signs.raters,
        "bonus": popular.answers,
    }
    if removed is not None:
        tables["removed"] = removed.counts
    if to is not None:
        to.mkdir(parents=True, exist_ok=True)
        for name, frame in tables.items():
            write_csv(frame, to / f"{name}.csv")
        if scrub:
            panel.write(to / "reactions.parquet")
    if figures is not None:
        with out.progress("figures"):
            from affectlab.report.pictures import pictures_of_reactions, save_pictures

            save_pictures(pictures_of_reactions(mapped, diversity), figures)
    show_words(out, words, mapped, diversity)
    show_quality(out, match, agreement, why)
    out.head("\nWorth a look")
    people = len(set(raters))
    out.show(
        f"{copies.rows.height:,} of {copies.n_texts:,} reasons of five words and more are nearly "
        f"the same as another; {copies.captions.height:,} are taken from their caption.",
        f"{signs.reactions['row'].n_unique():,} reasons hold a phrase that is typical of machines; "
        f"{signs.raters['rater'].n_unique():,} of {signs.n_judged:,} people with "
        f"{signs.min_reactions} reasons or more write suspiciously evenly ({people:,} people in "
        "all). These are signs, no verdicts.",
        f"{int(popular.answers['earned'].sum()):,} of {popular.answers.height:,} answers name what "
        "most others named, and would earn a bonus.",
    )
    if removed is not None:
        masked = removed.counts.filter(removed.counts["n_found"] > 0)
        out.show(
            "Personal data that was masked:" if masked.height else "No personal data was found."
        )
        if masked.height:
            out.show_frame(masked, ("kind", "n_found", "n_texts"))
    if to is not None:
        out.show(f"tables: {to}")
    if figures is not None:
        out.show(f"figures: {figures}")
    out.finish(
        {
            "panel": out.who,
            "n_reactions": diversity.n_reactions,
            "n_pairs": diversity.n_pairs,
            "n_raters": diversity.n_raters,
            "n_words_as_written": len(words.raw),
            "n_emotions": diversity.n_emotions,
            "taxonomy": mapped.taxonomy.name,
            "unmapped_words": mapped.unmapped_words,
            "unmapped_answers": mapped.unmapped_answers,
            "routes": mapped.routes(),
            "diversity": diversity.means.to_frame(),
            "emotions": mapped.to_frame(),
            "corrections": words.corrections(),
            "sentiment": None if match is None else told(match),
            "agreement": None if agreement is None else agreement.higher,
            "agreement_missing": why,
            "n_near_copies": copies.rows.height,
            "n_from_captions": copies.captions.height,
            "signs": signs.reactions,
            "sign_raters": signs.raters,
            "n_earned": int(popular.answers["earned"].sum()),
            "removed": None if removed is None else removed.counts,
        },
        ratings.warnings,
    )


def _match(
    folder: Path | None,
    level: str,
    emotions: list[str],
    texts: list[str],
    stimuli: list[str],
    raters: list[str],
    seed: int,
) -> SentimentMatch | None:
    """Ask a text model for the sentiment of words and reasons."""
    if folder is None:
        return None
    from affectlab.analysis.reactions import sentiment_match, sentiments_of
    from affectlab.models.text import TextClassifier

    model = TextClassifier.load(folder)
    at = None if set(model.labels) <= {"positive", "negative", "neutral", "ambiguous"} else level
    names = model.labels_at(at)

    def ask(given: list[str]) -> list[str | None]:
        return [names[k] for k in model.predict_proba(given, level=at).argmax(axis=1)]

    return sentiment_match(
        emotions,
        sentiments_of(emotions, ask),
        sentiments_of(texts, ask),
        stimuli=stimuli,
        raters=raters,
        seed=seed,
    )


def _agreement(
    folder: str | None,
    most: int | None,
    n_random: int,
    seed: int,
    columns: tuple[list[str], list[str], list[str], list[str]],
) -> tuple[ReactionAgreement | None, str]:
    """Compare reasons; without two for the same emotion of a pair say so."""
    from affectlab.analysis.reactions import agreement_of_reactions
    from affectlab.core.errors import InputError

    measure: Any = None
    if folder is not None:
        from affectlab.models.text_metrics import BartScore

        model = BartScore(folder)

        def measure(texts: list[str], others: list[str]) -> Any:
            return model.score(texts, others).scores

        measure.name = f"BARTScore ({folder})"
    try:
        found = agreement_of_reactions(*columns, measure, n_random=n_random, most=most, seed=seed)
    except InputError as error:
        if folder is not None:
            raise
        return None, str(error)
    return found, ""
