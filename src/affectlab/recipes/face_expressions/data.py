"""FaceExpressions-70k from files: ratings in the layout that we read, times of frames, pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from affectlab.core.errors import InputError
from affectlab.recipes.face_expressions.findings import (
    OF_ANALYSIS,
    OF_METRICS,
    Figures,
    analysis_figures,
    design_figures,
    half_figures,
    score_figures,
    scored,
    study_figures,
)
from affectlab.recipes.needs import DataNeed, find_input
from affectlab.recipes.recipe import Finding, Parts, RecipeRun

if TYPE_CHECKING:
    from affectlab.analysis import PairScores
    from affectlab.ratings import Ratings

__all__ = ["NEEDS", "run_on_files"]

_PAIRS = 70_500
"""Pairs that the paper scores."""
_SCORES = DataNeed(
    file="metadata.csv",
    what="a score for each of 70,500 pairs, the only table that was published: columns actor, "
    "expression_a, role_a (or frame_a), expression_b, role_b (or frame_b) and value, perhaps "
    "stimulus (or pair), kind, se, file_a and file_b; rename those that are called otherwise. The "
    "judgements behind the scores were not published; ratings.csv with judgements of your own "
    "(pair, worker, score and the same columns) is read in its place",
    published="the repository avinabsaha/face-expressions-70k, whose README says where the "
    "pictures are",
    licence="none is stated there",
)
NEEDS = (_SCORES,)
_FILES = ("ratings.csv", "ratings.parquet", "metadata.csv", "scores.csv", "scores.parquet")
_NAMES = tuple(f"{folder}{file}" for folder in ("", "face_expressions/") for file in _FILES)
_FIVE = ("peak", "near_peak", "middle", "near_neutral", "neutral")
_PAIR = ("actor", "expression_a", "role_a", "expression_b", "role_b")
"""What a pair is of, apart from its name."""
_OTHERS = "the judgements of the paper were not published, and these are others"


def run_on_files(folder: Path, quick: bool) -> RecipeRun:
    """Run on scores or judgements, and on ``frames.csv`` and ``images/`` where they are there."""
    file = find_input(folder, "face-expressions", _NAMES, _SCORES)
    table = _table(file)
    inputs, frames = [file], None
    times = file.with_name("frames.csv")
    if times.is_file():
        from affectlab.ratings import read_table

        inputs.append(times)
        frames = read_table(times, names=("actor", "expression", "role"))
    parts = Parts()
    scores: PairScores | None = None
    if table is not None:
        # Without its pairs there is nothing to do; what is wrong with the table is said at once.
        scores, pairs = _scores(file, table)
        found = len(scores)
        doubt = "" if found == _PAIRS else f"{found:,} pairs are not the {_PAIRS:,} of the paper"
        with parts("counts of the study", "design.", "study."):
            (design_figures(pairs) | _not_in_scores()).add_to(parts)
        with parts("scores", "scores."):
            score_figures(scores).add_to(parts)
    else:
        ratings, doubt = _read(file), _OTHERS
        pairs = ratings.answers().stimuli
        with parts("counts of the study", "design.", "study."):
            (design_figures(pairs) | study_figures(ratings)).add_to(parts)
        with parts("screening"):
            parts.notes += _screened(ratings)
        with parts("subject model", "scores."):
            scores, told = scored(ratings)
            told.add_to(parts)
        with parts("split halves", "reliability."):
            half_figures(ratings, 5 if quick else 50, 0, "reliability.split_half").add_to(parts)
    _not_in_files().add_to(parts)
    if scores is not None:
        with parts("analysis and JND", *OF_ANALYSIS):
            analysis_figures(scores, frames, 0).add_to(parts)
        with parts("metrics", *OF_METRICS):
            _metrics(pairs, scores.frame, file.parent / "images", quick=quick).add_to(parts)
    return parts.to_run(inputs=tuple(inputs), doubt=doubt, seeds=(0,))


def _table(file: Path) -> pl.DataFrame | None:
    """Read a table of scores; None where the file holds judgements of single people."""
    from affectlab.core.files.csv import read_table

    table = read_table(file, "scores of pairs")
    if {"worker", "rater"} & set(table.columns):
        return None
    return (
        table if "stimulus" in table.columns else table.rename({"pair": "stimulus"}, strict=False)
    )


def _scores(file: Path, table: pl.DataFrame) -> tuple[PairScores, pl.DataFrame]:
    """Give scores as ``face-expressions expressions`` reads them, and the pairs with all else."""
    from affectlab.analysis import pair_scores

    table = _with_roles(table)
    if "stimulus" not in table.columns:
        rows = pl.int_range(1, pl.len() + 1)
        table = table.with_columns(pl.format("pair {}", rows).alias("stimulus"))
    _refuse_twice(file, table, ("stimulus",))
    try:
        scores = pair_scores(table)
    except InputError as problem:
        raise InputError(f"{file}: {problem}") from None
    _refuse_twice(file, scores.frame, _PAIR)
    other = [name for name in table.columns if name not in scores.frame.columns]
    more = table.select(pl.col("stimulus").cast(pl.String), *other)
    return scores, scores.frame.join(more, on="stimulus", how="left", maintain_order="left")


def _refuse_twice(file: Path, table: pl.DataFrame, names: tuple[str, ...]) -> None:
    """Refuse several scores of one pair, which are judgements, or another table altogether."""
    twice = table.select(names).filter(pl.struct(names).is_duplicated())
    if twice.height:
        pair = ", ".join(f"{name} {cell!r}" for name, cell in twice.row(0, named=True).items())
        raise InputError(
            f"{file}: the pair of {pair} has several scores; expected one for each pair, or a "
            "column worker or rater where the rows are judgements of single people"
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
    stimuli = _with_roles(ratings.stimuli)
    for name in ("kind", "actor", "expression_a", "role_a", "expression_b", "role_b"):
        if name not in stimuli.columns:
            other = name.replace("role", "frame")
            hint = f" or {other!r}" if other != name else ""
            raise InputError(
                f"{file}: no column {name!r}{hint}; expected what the two faces of each pair are"
            )
    return ratings.with_stimuli(stimuli)


def _with_roles(pairs: pl.DataFrame) -> pl.DataFrame:
    """Name the roles of frames that are numbered."""
    return pairs.with_columns(
        _role(pairs[f"frame_{side}"]).alias(f"role_{side}")
        for side in "ab"
        if f"role_{side}" not in pairs.columns and f"frame_{side}" in pairs.columns
    )


def _role(frames: pl.Series) -> pl.Series:
    """Give the five frames their names; numbers count from 1, the peak."""
    text = frames.cast(pl.String)
    numbers = {str(place): name for place, name in enumerate(_FIVE, start=1)}
    return text.replace(numbers)


def _screened(ratings: Ratings) -> tuple[str, ...]:
    """Say what the published policy makes of the sessions; nothing is left out."""
    if "session" not in ratings.coded_frame.columns:
        return ()
    from affectlab.reliability import screen

    judged = screen(ratings, policy="faceexpressions")
    refused = int((~judged.to_frame()["use"]).sum())
    return (
        f"The published policy rejects {refused:,} of {len(judged):,} sessions of this file; they "
        "were not left out.",
        *judged.notes,
    )


def _not_in_files() -> Figures:
    from affectlab.recipes.face_expressions.metrics import needs_weights

    why = {
        "quest.trials": "the file does not hold the staircases",
        "study.hours": "the file does not hold the time of sessions",
        "pilot.correlation": "the file does not hold the pilot",
    }
    return needs_weights() | Figures({key: Finding(why=text) for key, text in why.items()})


def _not_in_scores() -> Figures:
    why = Finding(why="the file has one score for each pair, and no judgements")
    keys = ("study.ratings", "study.per_pair", "study.raters", "reliability.split_half")
    return Figures(dict.fromkeys(keys, why))


def _metrics(pairs: pl.DataFrame, scores: pl.DataFrame, images: Path, *, quick: bool) -> Figures:
    if not images.is_dir() or not {"file_a", "file_b"} <= set(pairs.columns):
        missing = Finding(why="no folder images, or no columns file_a and file_b")
        names = ("mse", "mae", "ssim")
        keys = [f"metrics.{name}.{what}" for name in names for what in ("srocc", "plcc")]
        keys += ["learned.splits", "learned.srocc", "learned.plcc"]
        return Figures(dict.fromkeys(keys, missing))
    from affectlab.recipes.face_expressions.metrics import metric_figures

    scored_pairs = pairs.select(pl.exclude("value")).join(
        scores.select("stimulus", "value"), on="stimulus"
    )
    return metric_figures(scored_pairs, images, learner=not quick)
