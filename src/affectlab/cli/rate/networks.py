"""``affectlab rate text``, ``faces`` and ``vision``: models of our own answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge

from affectlab.cli._output import Output, caught_warnings
from affectlab.core.errors import InputError
from affectlab.core.types import Device
from affectlab.core.words import percent, plural
from affectlab.models import count_improbable, label_overview, times_chosen
from affectlab.models.embedding import Embeddings
from affectlab.models.text import TextClassifier, read_texts
from affectlab.ratings import Ratings, check_ratings_path

if TYPE_CHECKING:
    import polars as pl

    from affectlab.models.heads import HeadBank


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
    chosen = times_chosen(ratings)
    _show_text(out, ratings, chosen)
    for found in told:
        out.show("", f"“{found.text}”", found)
    if told:
        out.show(f"Parts of logits; {told[0].method}.")
    if figures is not None and told:
        from affectlab.report import draw_contributions

        draw_contributions(told, figures)
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
            "chosen": chosen,
            "answers": ratings.raters["answers"][0],
            "explained": [
                {"text": found.text, "parts": found.to_frame(), "start": found.bias}
                for found in told
            ],
            "notes": notes,
        },
        notes,
    )


def _show_text(out: Output, ratings: Ratings, chosen: dict[str, int]) -> None:
    n = ratings.n_stimuli
    most = sorted(chosen.items(), key=lambda entry: -entry[1])[:5]
    out.head(
        f"{ratings.rater_names[0]} rated {plural(n, 'text')} on {plural(len(chosen), 'label')}"
    )
    told = ", ".join(f"{label} {percent(times / n)}" for label, times in most if times)
    out.show(f"chosen most often: {told}" if told else "no label was chosen")


def faces(
    out: Output,
    images: Path,
    *,
    model: Path,
    to: Path,
    intervals: bool = False,
    scores: bool = False,
    encoder: str | None = None,
    rater: str | None = None,
    cache: Path | None = None,
    device: Device = "auto",
    set_aside: bool = False,
) -> None:
    """Let heads rate images: how much of each emotion a face shows, from 0 to 7.

    Parameters
    ----------
    images
        Images: a folder, a table with columns stimulus and file, or one image. Or the folder of
        embeddings that affectlab embed wrote.
    model
        Folder that train heads wrote.
    to
        Ratings: .parquet, .csv or .jsonl.
    intervals
        Add columns low and high, once they are calibrated.
    scores
        Add a column score: what the head gave, not calibrated.
    encoder
        Where the encoder lies, or its name; by default the name that the model holds.
    rater
        Name of the rater; by default that of the model.
    cache
        Folder that keeps embeddings from run to run.
    device
        Where encoder and heads compute.
    set_aside
        Leave out images that are broken, and count them.
    """
    from affectlab.models.heads import HeadBank, embeddings_of

    check_ratings_path(to)
    with out.progress(f"reading {images}") as progress, caught_warnings() as warned:
        bank = HeadBank.load(model)
        if intervals:
            bank.check_intervals()
        embedded, notes = embeddings_of(
            bank,
            images,
            encoder=encoder,
            cache=cache,
            set_aside=set_aside,
            device=device,
            progress=progress,
        )
        ratings = bank.rate(
            embedded,
            rater=rater,
            intervals=intervals,
            scores=scores,
            device=device,
            progress=progress,
        )
        ratings.write(to)
    if bank.neutral is None:
        notes.append("the heads are not calibrated on neutral stimuli; affectlab calibrate does it")
    table = label_overview(ratings)
    _show_faces(out, bank, ratings, table)
    out.show(f"ratings: {to}")
    out.finish(
        {
            "ratings": to,
            "model": model,
            "rater": ratings.rater_names[0],
            "encoder": None if bank.encoder is None else bank.encoder.to_dict(),
            "n_images": len(embedded),
            "labels": bank.labels,
            "per_label": table,
            "level": None if not intervals or bank.intervals is None else bank.intervals.level,
            "answers": ratings.raters["answers"][0],
            "steps": [one.to_dict() for one in ratings.history],
            "notes": notes,
        },
        notes,
        doubts=warned,
    )


def _show_faces(out: Output, bank: HeadBank, ratings: Ratings, table: pl.DataFrame) -> None:
    out.head(
        f"{ratings.rater_names[0]} rated {plural(ratings.n_stimuli, 'image')} on "
        f"{plural(len(bank.labels), 'label')}, from 0 to 7"
    )
    shown = table.sort("mean", descending=True).rename({"share_from_half": "share from .5 on"})
    out.show_frame(shown, shown.columns, most=12, more="the file holds all of them")


def vision(
    out: Output,
    images: Path,
    *,
    model: Path,
    to: Path,
    decide: Literal["probable", "cost"] = "probable",
    rater: str | None = None,
    device: Device = "auto",
) -> None:
    """Let a vision model name the emotion of images: a probability for each label, and one chosen.

    Parameters
    ----------
    images
        Images: a folder, a table with columns stimulus and file, or one image. Or, for a model on
        embeddings, the folder that affectlab embed wrote.
    model
        Folder that train vision wrote.
    to
        Ratings: .parquet, .csv or .jsonl.
    decide
        Which label is chosen: the most probable one, or the one whose expected cost is lowest.
    rater
        Name of the rater; by default that of the model.
    device
        Where the model computes.
    """
    from affectlab.models.vision import VisionClassifier

    check_ratings_path(to)
    with out.progress(f"reading {images}") as progress, caught_warnings() as warned:
        classifier = VisionClassifier.load(model)
        classifier.training = replace(classifier.training, device=device)
        ratings = classifier.rate(
            _given(images, classifier), rater=rater, decide=decide, progress=progress
        )
        ratings.write(to)
    counts = times_chosen(ratings)
    chosen = dict(sorted(counts.items(), key=lambda entry: -entry[1]))
    differ = count_improbable(ratings)
    _show_vision(out, ratings, chosen, decide, differ)
    out.show(f"ratings: {to}")
    out.finish(
        {
            "ratings": to,
            "model": model,
            "rater": ratings.rater_names[0],
            "backbone": classifier.backbone,
            "decide": decide,
            "n_images": ratings.n_stimuli,
            "labels": classifier.labels,
            "chosen": chosen,
            "n_not_the_most_probable": differ,
            "answers": ratings.raters["answers"][0],
        },
        doubts=warned,
    )


def _given(images: Path, classifier: Any) -> Any:
    """Give embeddings where the folder holds them, and the place of images otherwise."""
    from affectlab.models.heads import is_embeddings

    if not images.exists():
        raise InputError(f"{images}: there is no such file or folder")
    if not is_embeddings(images):
        return images
    if not classifier.on_embeddings:
        raise InputError(
            f"{images} holds embeddings, and {classifier.name!r} looks at images; expected images"
        )
    return Embeddings.load(images)


def _show_vision(
    out: Output, ratings: Ratings, chosen: dict[str, int], decide: str, differ: int
) -> None:
    n = ratings.n_stimuli
    out.head(
        f"{ratings.rater_names[0]} rated {plural(n, 'image')} on {plural(len(chosen), 'label')}"
    )
    told = ", ".join(f"{label} {percent(times / n)}" for label, times in chosen.items() if times)
    out.show(f"chosen: {told}")
    if decide == "cost":
        out.show(
            f"decided by expected cost; {plural(differ, 'image')} got another label than the most "
            "probable one"
        )
