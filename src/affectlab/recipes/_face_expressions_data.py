"""FaceExpressions-70k from files: ratings in the layout that we read, times of frames, pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from affectlab.errors import InputError
from affectlab.recipes._face_expressions_findings import (
    Figures,
    analysis_figures,
    design_figures,
    half_figures,
    scored,
    study_figures,
)
from affectlab.recipes._recipe import DataNeed, Finding, RecipeRun, find_input

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["NEEDS", "run_on_files"]

_RATINGS = DataNeed(
    file="ratings.csv",
    what="2.2 million judgements of 70,500 pairs: pair, worker, score, actor, expression_a, "
    "expression_b, frame_a, frame_b, kind, batch, golden, repeat",
    published="the repository avinabsaha/face-expressions-70k",
    licence="that of the release",
)
NEEDS = (_RATINGS,)
_NAMES = ("ratings.csv", "ratings.parquet", "scores.csv", "face_expressions/ratings.csv")
_FIVE = ("peak", "near_peak", "middle", "near_neutral", "neutral")


def run_on_files(folder: Path, quick: bool) -> RecipeRun:
    """Run on ``ratings.csv``, and on ``frames.csv`` and ``images/`` where they are there."""
    file = find_input(folder, "face-expressions", _NAMES, _RATINGS)
    ratings = _read(file)
    inputs, frames = [file], None
    times = file.with_name("frames.csv")
    if times.is_file():
        from affectlab.ratings import read_table

        inputs.append(times)
        frames = read_table(times, names=("actor", "expression", "role"))
    answers = ratings.answers()
    figures = _not_in_files() | design_figures(answers.stimuli) | study_figures(ratings)
    scores, told = scored(ratings)
    figures |= told
    figures |= half_figures(ratings, 5 if quick else 50, 0, "reliability.split_half")
    figures |= analysis_figures(scores, frames, 0)
    figures |= _metrics(answers, scores.frame, file.parent / "images", quick=quick)
    return RecipeRun(
        figures.findings,
        tuple(inputs),
        (*_screened(ratings), *figures.notes),
        figures=figures.drawn,
        seeds=(0,),
    )


def _read(file: Path) -> Ratings:
    from affectlab.ratings import read_ratings

    if file.suffix == ".csv":
        with file.open(encoding="utf-8-sig") as lines:
            columns = {name.strip().strip('"') for name in lines.readline().split(",")}
        if {"pair", "worker", "score"} <= columns:
            ratings = read_ratings(file, format="face-expressions")
        else:
            ratings = read_ratings(file)
    else:
        ratings = read_ratings(file)
    stimuli = ratings.stimuli
    for side in "ab":
        if f"role_{side}" not in stimuli.columns and f"frame_{side}" in stimuli.columns:
            stimuli = stimuli.with_columns(_role(stimuli[f"frame_{side}"]).alias(f"role_{side}"))
    for name in ("kind", "actor", "expression_a", "role_a", "expression_b", "role_b"):
        if name not in stimuli.columns:
            other = name.replace("role", "frame")
            hint = f" or {other!r}" if other != name else ""
            raise InputError(
                f"{file}: no column {name!r}{hint}; expected what the two faces of each pair are"
            )
    return ratings.with_stimuli(stimuli)


def _role(frames: pl.Series) -> pl.Series:
    """Give the five frames their names; numbers count from 1, the peak."""
    text = frames.cast(pl.String)
    numbers = {str(place): name for place, name in enumerate(_FIVE, start=1)}
    return text.replace(numbers)


def _screened(ratings: Ratings) -> tuple[str, ...]:
    """Say what the published policy makes of the sessions; nothing is left out."""
    if "session" not in ratings.frame.columns:
        return ()
    from affectlab.reliability import screen

    judged = screen(ratings, "faceexpressions")
    refused = int((~judged.to_frame()["use"]).sum())
    return (
        f"The published policy rejects {refused:,} of {len(judged):,} sessions of this file; they "
        "were not left out, as a release holds what was found valid.",
        *judged.notes,
    )


def _not_in_files() -> Figures:
    from affectlab.recipes._face_expressions_metrics import needs_weights

    why = {
        "quest.trials": "ratings do not hold the staircases",
        "study.hours": "ratings do not hold the time of sessions",
        "pilot.correlation": "ratings do not hold the pilot",
    }
    return needs_weights() | Figures({key: Finding(why=text) for key, text in why.items()})


def _metrics(ratings: Ratings, scores: pl.DataFrame, images: Path, *, quick: bool) -> Figures:
    stimuli = ratings.stimuli
    if not images.is_dir() or not {"file_a", "file_b"} <= set(stimuli.columns):
        missing = Finding(why="no folder images, or no columns file_a and file_b")
        names = ("mse", "mae", "ssim")
        keys = [f"metrics.{name}.{what}" for name in names for what in ("srocc", "plcc")]
        keys += ["learned.splits", "learned.srocc", "learned.plcc"]
        return Figures(dict.fromkeys(keys, missing))
    from affectlab.recipes._face_expressions_metrics import metric_figures

    pairs = stimuli.join(scores.select("stimulus", "value"), on="stimulus")
    return metric_figures(pairs, images, learner=not quick)
