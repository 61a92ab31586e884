"""``affectlab rate others``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._settings import read_settings
from affectlab.cli._warned import collected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from affectlab.cli._output import Output
    from affectlab.core.types import Count
    from affectlab.ratings import Ratings

__all__ = ["others"]


def others(
    out: Output,
    images: Path,
    *,
    rater: str,
    to: Path,
    taxonomy: str | None = None,
    mapping: Path | None = None,
    settings: Sequence[str] = (),
    patience: Count = 5,
    again: Sequence[str] = (),
    set_aside: bool = False,
) -> None:
    """Let a model that is installed, or a service, rate faces, to put it beside others.

    Keys of services are taken from the environment, such as HUME_API_KEY, and written nowhere.
    A picture without a face, or without a usable answer, is recorded as such, never as 0. A run
    that was stopped goes on with the same command; a picture that a service had when the run was
    killed is named and sent again, since its answer never came. The exit code is 2 when it stopped,
    or no answer can be used.

    Parameters
    ----------
    images
        A folder of images, a table with columns stimulus and file, or one image.
    rater
        pyfeat, hsemotion, deepface, hume, or a rater that a package adds.
    to
        Folder for ratings.parquet, answers.csv and the ledger, from which a run goes on.
    taxonomy
        Bring the rater's labels to those of this taxonomy: a name or a TOML file.
    mapping
        TOML file: what the rater's labels become. Without it, what affectlab knows.
    settings
        Setting of the rater, such as detector=v1; may be given again.
    patience
        Pictures in a row without a usable answer after which to stop.
    again
        Outcomes to ask about again although they are in the folder, such as schema_invalid.
    set_aside
        Leave out broken images, and count them.
    """
    from affectlab.core.errors import InputError
    from affectlab.evaluation import outcome_table
    from affectlab.evaluation.outcomes import OUTCOMES
    from affectlab.models.raters import rate_faces

    with collected(out, "pictures", to) as (progress, doubts):
        ratings = rate_faces(
            images,
            rater,
            taxonomy,
            mapping,
            to,
            on_bad="set_aside" if set_aside else "raise",
            patience=patience,
            again=again,
            progress=progress,
            **read_settings(settings),
        )
    counts = outcome_table(ratings).to_frame("usable").row(0, named=True)
    outcomes = {name: counts[name] for name in OUTCOMES if counts[name]}
    if not set(outcomes) & {"ok", "empty"}:
        many = ", ".join(f"{n:,} {name}" for name, n in outcomes.items())
        raise InputError(
            f"{ratings.rater_names[0]} has no usable answer: {many}; {to / 'answers.csv'} says why"
        )
    _show(out, ratings, outcomes, counts["n_ratings"])
    about = ratings.raters.row(0, named=True)
    if about["left_out"]:
        out.note(f"labels left out: {about['left_out']}")
    out.show(f"ratings: {to / 'ratings.parquet'}")
    out.finish(
        {
            "ratings": to / "ratings.parquet",
            "answers": to / "answers.csv",
            "rater": ratings.rater_names[0],
            "version": about["version"],
            "n_images": ratings.n_stimuli,
            "labels": ratings.label_names,
            "outcomes": outcomes,
            "several_faces": _several(ratings),
            "left_out": about["left_out"],
        },
        doubts=doubts,
    )


def _several(ratings: Ratings) -> int:
    """Pictures with more faces than one."""
    import polars as pl

    table = ratings.stimuli if "faces" in ratings.stimuli.columns else ratings.to_frame()
    return table.filter(pl.col("faces") > 1)["stimulus"].n_unique()


def _show(out: Output, ratings: Ratings, outcomes: dict[str, int], n: int) -> None:
    from affectlab.core.words import count, plural

    out.head(
        f"{ratings.rater_names[0]} rated {plural(outcomes.get('ok', 0), 'picture')} of {count(n)} "
        f"on {plural(len(ratings.label_names), 'label')}"
    )
    said = {"empty": "no face found"}
    for name, times in outcomes.items():
        if name != "ok":
            out.show(f"{plural(times, 'picture')}: {said.get(name, name.replace('_', ' '))}")
    several = _several(ratings)
    if several:
        out.show(f"{plural(several, 'picture')} with several faces: the largest was rated")
