"""The figures of FaceExpressions-70k from a design, ratings, scores and times of frames."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.render.notes import row_status_text
from affectlab.core.wording import undefined_text
from affectlab.core.words import in_brackets, number
from affectlab.recipes.face_expressions.figures import in_paper, score_pictures
from affectlab.recipes.recipe import Finding, RecipeFigure

if TYPE_CHECKING:
    from affectlab.analysis import PairScores
    from affectlab.analysis.expressions import AsymmetryTests
    from affectlab.ratings import Ratings
    from affectlab.recipes.recipe import Parts

__all__ = [
    "OF_ANALYSIS",
    "OF_METRICS",
    "Figures",
    "analysis_figures",
    "design_figures",
    "half_figures",
    "score_figures",
    "scored",
    "study_figures",
]


OF_ANALYSIS = ("structure.", "asymmetry.", "jnd.", "quest.steps")
OF_METRICS = ("metrics.", "learned.")
_DRAWS = 200
"""Replicates for the intervals of a picture."""
_SEVENTH = re.compile(r"(?:actor|person|subject)?[\s_-]*0*7", re.IGNORECASE)


@dataclass(frozen=True)
class Figures:
    """Findings by the key of their published figure, and what a reader should know."""

    findings: Mapping[str, Finding] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    drawn: tuple[RecipeFigure, ...] = ()

    def add_to(self, parts: Parts) -> None:
        """Add them to what the parts of a run found."""
        parts.add(self.findings, self.notes, self.drawn)

    def __or__(self, other: Figures) -> Figures:
        return Figures(
            {**self.findings, **other.findings},
            (*self.notes, *other.notes),
            (*self.drawn, *other.drawn),
        )


def design_figures(pairs: pl.DataFrame) -> Figures:
    """Count what section 3 counts in a table of pairs."""
    intra, inter = pairs.filter(kind="intra"), pairs.filter(kind="inter")
    films = intra.select("actor", "expression_a").unique()
    per_actor = films.group_by("actor").len()["len"]
    # A release may show either face on either side.
    either = pl.struct(
        pl.min_horizontal("expression_a", "expression_b").alias("one"),
        pl.max_horizontal("expression_a", "expression_b").alias("other"),
    ).alias("expressions")
    two = inter.select("actor", either).unique()
    asked = two.group_by("actor").len()["len"]
    shared = films.group_by("expression_a").len().filter(pl.col("len") == len(per_actor))
    found: dict[str, float] = {
        "design.actors": films["actor"].n_unique(),
        "design.expressions": films["expression_a"].n_unique(),
        "design.sequences": films.height,
        "design.common": shared.height,
        "design.intra": intra.height,
        "design.inter": inter.height,
        "design.pairs": intra.height + inter.height,
        "design.expression_pairs": two["expressions"].n_unique(),
    }
    if len(per_actor):
        found["design.sequences_fewest"] = float(per_actor.to_numpy().min())
        found["design.sequences_most"] = float(per_actor.to_numpy().max())
    if len(asked):
        found["design.expression_pairs_per_actor"] = float(asked.to_numpy().mean())
    if "batch" in pairs.columns and pairs["batch"].null_count() < pairs.height:
        held = pairs.drop_nulls("batch")
        n_batches = held["batch"].n_unique()
        blocks = held.select("batch", "actor", either).n_unique()
        found["design.batches"] = n_batches
        found["design.blocks_per_batch"] = blocks / n_batches
        found["design.pairs_per_batch"] = held.height / n_batches
    return Figures({key: Finding(float(value)) for key, value in found.items()})


def study_figures(ratings: Ratings) -> Figures:
    """Count ratings, raters and ratings per pair."""
    answers = ratings.answers()
    per_pair = np.bincount(answers.stimulus_code)
    return Figures(
        {
            "study.ratings": Finding(float(answers.n_ratings)),
            "study.per_pair": Finding(float(np.median(per_pair))),
            "study.raters": Finding(float(answers.n_raters)),
        }
    )


def scored(ratings: Ratings) -> tuple[PairScores, Figures]:
    """Score pairs by the subject model; give the scores, and the figures of section 3.4.7."""
    from affectlab.analysis import pair_scores
    from affectlab.reliability import subject_model

    model = subject_model(ratings, target="sample")
    # The published quartiles lie farther apart than those of errors that all raters share: they
    # are spreads of the ratings of each pair.
    table = model.to_frame().select("stimulus", "value", "se", "se_stimulus")
    scores = pair_scores(table, pairs=ratings.answers().stimuli)
    # Of pairs on which all ratings agree an error is not known.
    spread = table["se_stimulus"].drop_nulls().drop_nans().to_numpy()
    value = scores.frame["value"].to_numpy()
    lower, middle, upper = np.quantile(spread, [0.25, 0.5, 0.75]).tolist()
    found = {
        "scores.low": value.min(),
        "scores.high": value.max(),
        "scores.se": spread.mean(),
        "scores.se_lower": lower,
        "scores.se_median": middle,
        "scores.se_upper": upper,
    }
    note = (
        "Standard errors are those of each pair's own ratings, as published quartiles suggest; the "
        f"model's own are {scores.frame['se'].to_numpy().mean():.2f} on average."
    )
    return scores, Figures({key: Finding(float(one)) for key, one in found.items()}, (note,))


def score_figures(scores: PairScores) -> Figures:
    """Give the figures of section 3.4.7 from scores alone."""
    value = scores.frame["value"].to_numpy()
    found = {"scores.low": Finding(float(value.min())), "scores.high": Finding(float(value.max()))}
    # As for judgements: the errors of each pair's own ratings, where there are any.
    own = scores.frame["se_stimulus"].to_numpy()
    spread = own if np.isfinite(own).any() else scores.frame["se"].to_numpy()
    keys = ("scores.se", "scores.se_lower", "scores.se_median", "scores.se_upper")
    if not np.isfinite(spread).any():
        why = Finding(why="the file has no standard errors of its scores")
        return Figures(found | dict.fromkeys(keys, why))
    quartiles = np.nanquantile(spread, [0.25, 0.5, 0.75]).tolist()
    errors = zip(keys, (float(np.nanmean(spread)), *quartiles), strict=True)
    return Figures(found | {key: Finding(one) for key, one in errors})


def half_figures(ratings: Ratings, n_splits: int, seed: int, key: str) -> Figures:
    """Correlate halves of the ratings (section 3.4.8)."""
    from affectlab.reliability import split_half

    found = split_half(ratings, n_splits=n_splits, seed=seed).frame.row(0, named=True)
    if found["status"] != "ok":
        return Figures({key: Finding(why=row_status_text(found))})
    return Figures({key: Finding(found["value"])})


def analysis_figures(scores: PairScores, frames: pl.DataFrame | None, seed: int) -> Figures:
    """Find clusters, asymmetries, 1 JND and the sampling interval (sections 3.5 and 5.2)."""
    tests, asymmetry = _asymmetry(scores)
    drawn = Figures(drawn=score_pictures(scores, frames))
    return drawn | _structure(scores, tests, seed) | asymmetry | _jnd(scores, frames, seed)


def _structure(scores: PairScores, tests: AsymmetryTests | None, seed: int) -> Figures:
    from affectlab.analysis import expression_differences

    key = "structure.clusters"
    try:
        found = expression_differences(scores, n_boot=_DRAWS, seed=seed)
    except InputError as problem:
        return Figures({key: Finding(why=str(problem))})
    n = len(found.clusters.members())
    notes = (f"Expressions: {note}." for note in found.notes if "show no groups" in note)
    drawn = in_paper(found, *(() if tests is None else (tests,)))
    return Figures({key: Finding(float(n))}, tuple(notes), drawn)


def _asymmetry(scores: PairScores) -> tuple[AsymmetryTests | None, Figures]:
    from affectlab.analysis import asymmetry_tests

    try:
        tests = asymmetry_tests(scores)
    except InputError as problem:
        keys = [f"asymmetry.{kind}.{what}" for kind in ("intra", "inter") for what in "tp"]
        return None, Figures(dict.fromkeys(keys, Finding(why=str(problem))))
    found = {}
    for row in tests.table().frame.filter(test="two samples").iter_rows(named=True):
        for what in ("t", "p"):
            value = row[what]
            known = value is not None and np.isfinite(value)
            found[f"asymmetry.{row['kind']}.{what}"] = (
                Finding(float(value)) if known else Finding(why=row_status_text(row))
            )
    return tests, Figures(found)


def _jnd(scores: PairScores, frames: pl.DataFrame | None, seed: int) -> Figures:
    from affectlab.analysis import jnd_steps, jnd_times, sampling_interval
    from affectlab.analysis.jnd import jnd_score

    timed = ("jnd.interval_ms", "jnd.rate_hz", "jnd.actor_7_ms")
    try:
        jnd = jnd_score(scores, seed=seed)
        steps = jnd_steps(scores, seed=seed)["steps"]
    except InputError as problem:
        return Figures(
            dict.fromkeys(("jnd.score", "quest.steps", *timed), Finding(why=str(problem)))
        )
    found = {"jnd.score": Finding(jnd.value), "quest.steps": Finding(steps.value)}
    notes = [f"1 JND is {number(jnd.value)}{in_brackets(jnd.low, jnd.high)} points."]
    if frames is None:
        why = "no frames.csv, which says when each frame was filmed"
        return Figures({**found, **dict.fromkeys(timed, Finding(why=why))}, tuple(notes))
    times = jnd_times(scores, frames, jnd=jnd)
    interval = sampling_interval(times)
    overall = interval.overall
    if not overall.ok:
        return Figures(
            {**found, **dict.fromkeys(timed, Finding(why=undefined_text(overall.reason)))},
            tuple(notes),
        )
    found |= {
        "jnd.interval_ms": Finding(overall.value),
        "jnd.rate_hz": Finding(interval.rate_hz),
    }
    seventh = [name for name in scores.actors if _SEVENTH.fullmatch(name)]
    found["jnd.actor_7_ms"] = (
        Finding(interval.actors[seventh[0]].value)
        if len(seventh) == 1
        else Finding(why="no actor is named 7, or actor 7, as in the paper")
    )
    notes.append(
        f"The sampling interval is {number(overall.value, 1)}"
        f"{in_brackets(overall.low, overall.high, 1)} ms "
        "where faces move evenly between frames; the paper gives a point."
    )
    notes += [f"Of the sampling interval: {note}." for note in interval.notes]
    drawn = in_paper(interval)
    return Figures(found, tuple(notes), drawn)
