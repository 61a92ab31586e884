"""FaceExpressions-70k (Saha et al., 2025): how different two facial expressions look.

Transitions from the peak of an expression to neutral become five frames each by staircases, the
frames become pairs, a crowd rates them in batches and is screened as it goes, a subject model
scores them, and the scores say what 1 JND is and how often an avatar must be sampled. The
simulation plays this on drawn faces, whose true differences are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab.recipes.face_expressions.data import NEEDS, run_on_files
from affectlab.recipes.face_expressions.figures import strip_picture
from affectlab.recipes.face_expressions.findings import (
    OF_ANALYSIS,
    OF_METRICS,
    Figures,
    analysis_figures,
    design_figures,
    half_figures,
    scored,
    study_figures,
)
from affectlab.recipes.published_figures import load_published
from affectlab.recipes.recipe import Finding, Parts, Recipe, RecipeRun

if TYPE_CHECKING:
    from affectlab.analysis import PairScores
    from affectlab.recipes.face_expressions.crowd import LiveStudy
    from affectlab.recipes.face_expressions.films import Films, Size

__all__ = ["NOISE", "RECIPE", "SimulatedStudy", "run_simulation", "simulate_study"]

NOISE: dict[str, Any] = {"item_sd": 13.0, "trial_sd": 13.0, "ambiguity": 0.3}
"""Noise with which the mean standard error of scores from 32 valid ratings is 2.8 points, as in the
paper. How it divides into what is stable for a rater and a pair, and what is not, was not
published: halves are assumed."""
_PEOPLE: dict[str, Any] = {"bias_sd": 5.0, "inconsistency": 0.3}
_CARELESS = 0.05
_PILOT_RATERS, _PILOT_PAIRS = 25, 400


@dataclass(frozen=True, eq=False)
class SimulatedStudy:
    """A simulated FaceExpressions-70k, whose truth is known."""

    films: Films
    golden: pl.DataFrame
    """Golden pairs from the pilot: ``stimulus, value`` (the pilot's mean), ``truth``."""
    pilot_correlation: Figures
    live: LiveStudy


def simulate_study(
    size: Size, seed: int, done: Callable[[str], None] = lambda _: None
) -> SimulatedStudy:
    """Play the study: films, staircases, design, pilot, and sessions until all batches are full."""
    from affectlab.recipes.face_expressions.crowd import live_study
    from affectlab.recipes.face_expressions.films import make_films
    from affectlab.simulate import difference_people

    films = make_films(size, seed)
    done("staircases and design")
    golden, correlation = _pilot(seed)
    done("pilot")
    people = difference_people(size.people, careless=_CARELESS, seed=seed, **_PEOPLE)
    live = live_study(
        films.design.pairs,
        films.truth,
        people,
        raters=size.raters,
        most_sessions=size.most_sessions,
        golden=golden,
        seed=seed,
        **NOISE,
    )
    done("sessions and screening")
    return SimulatedStudy(films, golden, correlation, live)


def _pilot(seed: int) -> tuple[pl.DataFrame, Figures]:
    """Let 25 reliable people rate two batches of two other actors; choose golden pairs of them."""
    from affectlab.recipes.face_expressions.films import Size, make_films
    from affectlab.reliability import choose_golden
    from affectlab.simulate import simulate_differences
    from affectlab.simulate.faces import TRANSITION_EXPRESSIONS

    shown = TRANSITION_EXPRESSIONS[::5]
    size = Size(shown, len(shown), (len(shown),) * 2, batches=2, people=_PILOT_RATERS)
    films = make_films(size, seed + 1)
    chosen = np.random.default_rng([9_031, seed]).permutation(len(films.truth))[:_PILOT_PAIRS]
    pairs = films.design.pairs[chosen].with_columns(
        pl.format("pilot-{}", "stimulus").alias("stimulus")
    )
    truth = films.truth[chosen]
    found = simulate_differences(
        pairs.drop("batch"),
        truth,
        _PILOT_RATERS,
        golden=0,
        repeats=0,
        seed=seed + 1,
        **NOISE,
        **_PEOPLE,
    )
    items = choose_golden(found.ratings, 5, seed=seed).to_frame().select("stimulus", "value")
    known = items.join(found.truth.rename({"value": "truth"}), on="stimulus", how="left")
    return known, half_figures(found.ratings, 50, seed, "pilot.correlation")


def _simulate(seed: int, quick: bool) -> RecipeRun:
    from affectlab.recipes.face_expressions.films import FULL, QUICK

    return run_simulation(QUICK if quick else FULL, seed)[1]


def run_simulation(
    size: Size, seed: int, done: Callable[[str], None] = lambda _: None
) -> tuple[SimulatedStudy, RecipeRun]:
    """Play the study and find all figures; `done` is told the name of each part that is done."""
    from affectlab.recipes.face_expressions.metrics import drawn_metrics

    study = simulate_study(size, seed, done)
    valid, films = study.live.valid, study.films
    small = len(films.truth) < 10_000
    parts = Parts(done)
    parts.notes += ["Faces are drawn, people simulated.", *_study_notes(study)]
    with parts("counts of the study", "design.", "quest.trials", "study.", "pilot."):
        Figures({"quest.trials": Finding(float(size.trials)), "study.hours": _hours(study)}).add_to(
            parts
        )
        design_figures(films.design.pairs).add_to(parts)
        study_figures(valid).add_to(parts)
        study.pilot_correlation.add_to(parts)
    with parts("split halves", "reliability."):
        half_figures(valid, 10 if small else 50, seed, "reliability.split_half").add_to(parts)
    scores: PairScores | None = None
    with parts("subject model", "scores."):
        scores, told = scored(valid)
        told.add_to(parts)
        parts.notes.append(_truth_note(study, scores.frame))
    if scores is not None:
        with parts("analysis and JND", *OF_ANALYSIS):
            analysis = analysis_figures(scores, films.frames, seed)
            analysis.add_to(parts)
            parts.notes.append(_fastest_note(films, analysis.findings.get("jnd.interval_ms")))
            if any(one.name == "jnd_times" for one in analysis.drawn):
                parts.figures.append(strip_picture(scores, films, seed))
        with parts("metrics on drawn faces", *OF_METRICS):
            drawn_metrics(films, scores, 4 if small else 6, seed).add_to(parts)
    return study, parts.to_run()


def _hours(study: SimulatedStudy) -> Finding:
    times = study.live.simulation.ratings.coded_frame["rt_ms"]
    return Finding(float(times.sum()) / 3.6e6)


def _study_notes(study: SimulatedStudy) -> tuple[str, ...]:
    live = study.live
    planted = live.simulation.sessions.select("session", "careless")
    judged = live.screening.to_frame().join(planted, on="session")
    careful, careless = judged.filter(careless=""), judged.filter(pl.col("careless") != "")
    refused = [int((~part["use"]).sum()) for part in (careful, careless)]
    blocked = careful.filter("block")["rater"].n_unique()
    return (
        f"{len(live.screening):,} sessions were needed, in {live.rounds} rounds, for "
        f"{int(judged['use'].sum()):,} valid ones: {refused[1]:,} of {careless.height:,} careless "
        f"and {refused[0]:,} of {careful.height:,} careful ones were rejected; "
        f"{len(live.screening.blocked()):,} people were blocked, {blocked:,} of them careful.",
        "Movements of one side are drawn smaller than symmetric ones, so their test must differ "
        "from the paper's.",
        f"{study.films.crossed:,} transitions hold less than about 2 JNDs; their frames are at "
        "equal steps.",
    )


def _fastest_note(films: Films, interval: Finding | None) -> str:
    from affectlab.recipes.face_expressions.films import JND

    time, name = films.fastest()
    if not time < float("inf"):
        return f"No drawn face changes by {JND:g} points."
    note = f"In truth the fastest change by {JND:g} points, {name}, takes {time:.0f} ms"
    found = None if interval is None else interval.value
    if found is None:
        return f"{note}."
    if found > time:
        return (
            f"{note}: the sampling interval is too long, since faces are not even between frames "
            f"{1000 / films.transitions.fps:.0f} ms apart; its interval does not cover that."
        )
    return f"{note}: the sampling interval is on the safe side."


def _truth_note(study: SimulatedStudy, scores: pl.DataFrame) -> str:
    from affectlab.evaluation import difference_metrics

    both = scores.join(
        study.live.simulation.truth.rename({"value": "truth"}), on="stimulus", how="inner"
    )
    found = difference_metrics(
        both["truth"].to_numpy(),
        both["value"].to_numpy(),
        names=["scores"],
        metrics=["srocc"],
        n_boot=0,
    )
    value = found["scores", "all", "srocc"].value
    return f"Scores rank pairs as their true differences do, with an SROCC of {value:.4f}."


RECIPE = Recipe(
    name="face-expressions",
    published=lambda: load_published("face_expressions"),
    needs=NEEDS,
    run=run_on_files,
    simulate=_simulate,
)
