"""What is given to a simulation of differences, checked."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab._types import Floats, Ints
from affectlab.errors import InputError
from affectlab.simulate._differences_answers import Noise
from affectlab.simulate._differences_people import DifferencePeople, difference_people
from affectlab.simulate._differences_trials import Batches

__all__ = [
    "checked_noise",
    "checked_pairs",
    "given_people",
    "given_sessions",
    "known_pairs",
    "stimulus_table",
]


def checked_pairs(pairs: pl.DataFrame, truth: ArrayLike) -> Floats:
    """Give the true differences, one for each pair."""
    if "stimulus" not in pairs.columns:
        raise InputError(f"pairs: no column 'stimulus'; found: {', '.join(pairs.columns)}")
    values = np.asarray(truth, dtype=np.float64)
    if values.shape != (pairs.height,) or not pairs.height:
        raise InputError(
            f"truth of shape {values.shape} for {pairs.height:,} pairs; expected one true "
            "difference for each, and at least one"
        )
    wrong = ~((values >= 0.0) & (values <= 100.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"truth of pair {row + 1}: {values[row]:g}; expected 0 to 100")
    twice = pairs.filter(pl.col("stimulus").is_duplicated())
    if twice.height or pairs["stimulus"].null_count():
        name = twice["stimulus"][0] if twice.height else None
        raise InputError(f"pairs: stimulus {name!r}; expected a name for each, none twice")
    return values


def checked_noise(item_sd: float, trial_sd: float, ambiguity: float) -> Noise:
    """Check what noise is made of."""
    for name, value, most in (
        ("item_sd", item_sd, math.inf),
        ("trial_sd", trial_sd, math.inf),
        ("ambiguity", ambiguity, 1.0),
    ):
        if not 0 <= value <= most or not math.isfinite(value):
            raise InputError(f"{name} = {value!r}: expected a number from 0 to {most:g}")
    return Noise(float(item_sd), float(trial_sd), float(ambiguity))


def known_pairs(golden: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Give golden pairs: ``stimulus, value, truth``."""
    for name in ("stimulus", "value"):
        if name not in golden.columns:
            raise InputError(f"golden: no column {name!r}; found: {', '.join(golden.columns)}")
    truth = "truth" if "truth" in golden.columns else "value"
    known = golden.select(
        pl.col("stimulus").cast(pl.String),
        pl.col("value").cast(pl.Float64),
        pl.col(truth).cast(pl.Float64).alias("truth"),
    )
    if known["stimulus"].is_duplicated().any() or known["stimulus"].null_count():
        raise InputError("golden: expected a name for each pair, none twice")
    off = known.filter(~pl.col("truth").is_between(0, 100).fill_null(False))
    if off.height:
        raise InputError(f"golden pair {off['stimulus'][0]!r}: expected a truth from 0 to 100")
    both = known.filter(pl.col("stimulus").is_in(pairs["stimulus"].cast(pl.String).implode()))
    if both.height:
        raise InputError(f"golden pair {both['stimulus'][0]!r} is also one of the pairs")
    return known


def given_people(
    people: int | DifferencePeople | None, n_raters: int, given: dict[str, object], seed: int
) -> DifferencePeople:
    """Give the people, or draw them."""
    if not isinstance(people, DifferencePeople):
        count = n_raters if people is None else people
        return difference_people(count, seed=seed, **given)  # type: ignore[arg-type]
    if given:
        raise InputError(f"{next(iter(given))} is given twice, as people are known already")
    return people


def given_sessions(
    sessions: pl.DataFrame, people: DifferencePeople, batches: Batches
) -> tuple[Ints, Ints]:
    """Give person and batch of each session."""
    codes = []
    for column, names in (("rater", people.names), ("batch", batches.names)):
        if column not in sessions.columns:
            raise InputError(f"sessions: no column {column!r}; expected rater and batch")
        place = {name: number for number, name in enumerate(names)}
        given = sessions[column].cast(pl.String).to_list()
        for name in given:
            if name not in place:
                raise InputError(f"sessions: there is no {column} {name!r}")
        codes.append(np.array([place[name] for name in given], dtype=np.int64))
    if not sessions.height or sessions.select("rater", "batch").is_duplicated().any():
        raise InputError("sessions: expected at least one, and none twice")
    return codes[0], codes[1]


def stimulus_table(pairs: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Give attributes of all stimuli; where pairs have kinds, golden ones are "known"."""
    own = pairs.with_columns(pl.col("stimulus").cast(pl.String))
    told = known.select("stimulus")
    if "kind" in pairs.columns:
        told = told.with_columns(pl.lit("known").alias("kind"))
    return pl.concat([own, told], how="diagonal")
