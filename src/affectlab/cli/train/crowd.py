"""``affectlab train crowd``: learning from who answered what."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from affectlab.cli._output import Output, caught_warnings
from affectlab.core.types import Count
from affectlab.models.crowd import CrowdModel, HeldOut
from affectlab.models.embedding import Embeddings
from affectlab.ratings import Ratings, check_ratings_path


def crowd(
    ratings: Ratings,
    out: Output,
    *,
    embeddings: Path,
    how: Literal["majority", "soft", "crowd_layer", "rater_embedding", "per_rater"] | None = None,
    held_out: HeldOut = "stimuli",
    cluster: str | None = None,
    n_splits: Count = 5,
    hidden: int = 0,
    confidence: float = 0.95,
    name: str | None = None,
    predictions: Path | None = None,
    to: Path,
    seed: int = 0,
) -> None:
    """Learn what each rater answers, and say whether that gains anything over all of them together.

    Ways of learning from raters are compared with majority and soft labels on answers that are kept
    aside; a gain is reported where its interval is above 0. The model of the folder has learned
    from all answers.

    Parameters
    ----------
    embeddings
        Embeddings of the rated stimuli, a folder that affectlab embed wrote.
    how
        How to learn: by default the best way that is shown to gain, else soft.
    held_out
        stimuli: raters are known from other answers; raters: they are new, too.
    cluster
        What stimuli belong to, and are kept aside with: a column of the stimulus table, or none.
    n_splits
        Parts of which each is kept aside once.
    name
        Name of the model as a rater; by default that of the folder.
    predictions
        Write what is predicted of each answer that was kept aside, as ratings.
    to
        Folder for the model.

    Other Parameters
    ----------------
    hidden
        Units of a hidden layer; 0: linear.
    confidence
        Coverage of the intervals.
    """
    CrowdModel.check_folder(to)
    if predictions is not None:
        check_ratings_path(predictions)
    with out.progress("learning") as progress, caught_warnings() as warned:
        model, found = CrowdModel.train(
            ratings,
            Embeddings.load(embeddings),
            how=how,
            name=name or to.resolve().name,
            held_out=held_out,
            cluster=cluster,
            n_splits=n_splits,
            hidden=hidden,
            confidence=confidence,
            seed=seed,
            progress=progress,
        )
        model.save(to)
        if predictions is not None:
            found.predictions.write(predictions)
    out.head(model.said)
    out.show(found)
    out.show("", f"model: {to}; its card: {to / 'README.md'}")
    if predictions is not None:
        out.show(f"predictions: {predictions}")
        out.show_line(
            f"next: affectlab evaluate soft-labels RATINGS --show lewidi --models {predictions}"
        )
    out.finish(
        {
            "model": to,
            "name": model.name,
            "how": model.classifier.how,
            "raters": model.raters,
            "labels": model.labels,
            "encoder": model.encoder.to_dict(),
            "comparison": found.to_dict(),
        },
        found.notes,
        noted=True,
        doubts=warned,
    )
