"""Simulated studies of differences: panels of people on pairs whose true difference is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_number
from affectlab.core.files.columns import require_columns, require_distinct, require_filled
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Ratings, Scale
from affectlab.simulate.differences.people import (
    DifferencePeople,
    Noise,
    difference_answers,
    difference_people,
)
from affectlab.simulate.differences.trials import (
    KINDS,
    Batches,
    Chance,
    deal_sessions,
    difference_trials,
)

# What is given to a simulation of differences, checked.


def checked_pairs(pairs: pl.DataFrame, truth: ArrayLike) -> Floats:
    """Give the true differences, one for each pair."""
    require_columns(pairs, ["stimulus"], "pairs: ")
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
    require_filled(pairs, ["stimulus"], "pairs: ")
    require_distinct(pairs, ["stimulus"], "pairs: ")
    return values


def known_pairs(golden: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Give golden pairs: ``stimulus, value, truth``."""
    require_columns(golden, ["stimulus", "value"], "golden: ")
    truth = "truth" if "truth" in golden.columns else "value"
    known = golden.select(
        pl.col("stimulus").cast(pl.String),
        pl.col("value").cast(pl.Float64),
        pl.col(truth).cast(pl.Float64).alias("truth"),
    )
    require_filled(known, ["stimulus"], "golden: ")
    require_distinct(known, ["stimulus"], "golden: ")
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
    require_columns(sessions, ["rater", "batch"], "sessions: ")
    for column, names in (("rater", people.names), ("batch", batches.names)):
        place = {name: number for number, name in enumerate(names)}
        given = sessions[column].cast(pl.String).to_list()
        for name in given:
            if name not in place:
                raise InputError(f"sessions: there is no {column} {name!r}")
        codes.append(np.array([place[name] for name in given], dtype=np.int64))
    if not sessions.height:
        raise InputError("sessions: expected at least one")
    require_distinct(sessions, ["rater", "batch"], "sessions: ")
    return codes[0], codes[1]


def stimulus_table(pairs: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Give attributes of all stimuli; where pairs have kinds, golden ones are "known"."""
    own = pairs.with_columns(pl.col("stimulus").cast(pl.String))
    told = known.select("stimulus")
    if "kind" in pairs.columns:
        told = told.with_columns(pl.lit("known").alias("kind"))
    return pl.concat([own, told], how="diagonal")


_SCALE = Scale("interval", 0.0, 100.0, 1.0)
_EXTREMES = (4.0, 86.0, 8.0, 82.0, 12.0, 78.0)


@dataclass(frozen=True, eq=False)
class DifferenceSimulation:
    """Answers of a simulated study of differences, with the truth they came from."""

    ratings: Ratings
    """Main, golden and repeated trials, with ``session``, ``trial``, ``movement`` and ``rt_ms``."""
    truth: pl.DataFrame
    """True difference of every pair: ``stimulus, value``."""
    people: DifferencePeople
    sessions: pl.DataFrame
    """One row per session: ``session, rater, batch, careless`` (the kind, empty for who looks)."""
    golden: pl.DataFrame
    """Known answers of the golden pairs: ``stimulus, value``."""

    def __repr__(self) -> str:
        return f"DifferenceSimulation({self.ratings!r})"


def simulate_differences(
    pairs: pl.DataFrame,
    truth: ArrayLike,
    n_raters: int = 32,
    *,
    people: int | DifferencePeople | None = None,
    sessions: pl.DataFrame | None = None,
    most_sessions: int | None = None,
    bias_sd: float | None = None,
    inconsistency: float | None = None,
    item_sd: float = 8.0,
    trial_sd: float = 8.0,
    ambiguity: float = 0.0,
    careless: float | None = None,
    kinds: Sequence[str] | None = None,
    golden: int | pl.DataFrame = 5,
    repeats: int = 5,
    seed: int = 0,
) -> DifferenceSimulation:
    r"""Let people say how different the faces of pairs are, on a slider from 0 to 100.

    Rater :math:`i` says of pair :math:`j` with the true difference :math:`D_j` in trial :math:`t`

    .. math:: x_{ijt} = D_j + b_i + f_i a_j (\sigma_s u_{ij} + \sigma_t \varepsilon_{ijt})

    rounded to a whole number and kept between 0 and 100. The bias :math:`b_i` and the inconsistency
    :math:`f_i` are the rater's; :math:`u_{ij}` and :math:`\varepsilon_{ijt}` are standard normal.
    :math:`\sigma_s` is `item_sd`: what this rater always sees otherwise than the others in this
    pair. It stays the same when the pair comes back, so that repeats do not show it.
    :math:`\sigma_t` is `trial_sd`: what changes from one look to the next. To a subject model the
    two are one,
    :math:`v_i = f_i \sqrt{\sigma_s^2 + \sigma_t^2}`. :math:`a_j` makes very small and very large
    differences easier: 1 in the middle of the scale and 1 - `ambiguity` at its ends.

    What a person says of a pair in a batch depends on `seed`, person, pair and batch alone. So the
    same sessions get the same answers whatever others are simulated with them.

    Parameters
    ----------
    pairs
        One row per pair: ``stimulus``; ``batch``, where there are batches that sessions keep whole;
        all other columns become attributes of the stimuli.
    truth
        True difference of each pair, 0 to 100, shape (n_pairs,).
    n_raters
        Sessions of each batch, by as many different people.
    people
        How many people there are, or who they are (:func:`difference_people`, whose arguments
        `bias_sd`, `inconsistency`, `careless` and `kinds` are then not given here); None for
        `n_raters`, who all rate every batch.
    sessions
        Who rates which batch, ``rater, batch``, by name and each at most once; instead of
        `n_raters` and `most_sessions`, which deal batches so that all have nearly equally many.
    most_sessions
        Most batches of one person; None for any number.
    bias_sd, inconsistency, careless, kinds
        See :func:`difference_people`; by default 5 points, 0.3, none and all kinds.
    item_sd, trial_sd
        Standard deviations of the stable part and of trial noise, in points.
    ambiguity
        0 to 1, see above.
    golden
        Pairs of known difference that every session shows: how many, of the extremes
        (:func:`golden_differences`), or a table of ``stimulus`` and ``value``, and ``truth`` where
        the known answer is not the truth.
    repeats
        Pairs of the batch that each session shows once more.
    seed
        Same seed, same answers.

    Returns
    -------
    DifferenceSimulation
        Ratings of simulated raters with trials of the kinds main, golden and repeat.

        ``ratings``, ``truth``, ``people``, ``sessions`` and ``golden``.

    Raises
    ------
    InputError
        When a column is missing, a number is out of range, there are too few people or pairs, or
        `sessions` names somebody or a batch that there is not, or one session twice.

    References
    ----------
    FaceExpressions-70k (2025), sections 3.4.1, 3.4.3 and 3.4.7.

    Examples
    --------
    >>> pairs = pl.DataFrame({"stimulus": ["a", "b", "c"], "batch": [1, 1, 2]})
    >>> found = simulate_differences(pairs, [5.0, 50.0, 80.0], 4, golden=2, repeats=1, seed=1)
    >>> found
    DifferenceSimulation(Ratings(36 answers, 5 stimuli, 4 raters, interval 0 to 100, step 1))
    >>> found.ratings.frame["trial_kind"].value_counts(sort=True).rows()
    [('golden', 16), ('main', 12), ('repeat', 8)]
    """
    values = checked_pairs(pairs, truth)
    noise = Noise(item_sd, trial_sd, ambiguity)
    check_number("repeats", repeats, 0, whole=True)
    known = golden_differences(golden) if isinstance(golden, int) else known_pairs(golden, pairs)
    given = {
        "bias_sd": bias_sd,
        "inconsistency": inconsistency,
        "careless": careless,
        "kinds": kinds,
    }
    crowd = given_people(people, n_raters, {k: v for k, v in given.items() if v is not None}, seed)
    batches = Batches.of(pairs)
    if sessions is None:
        dealing = np.random.default_rng([8_129, seed])
        rater, batch = deal_sessions(
            len(batches.names), len(crowd), n_raters, most_sessions, dealing
        )
    else:
        rater, batch = given_sessions(sessions, crowd, batches)
    chance = Chance(seed)
    trials = difference_trials(rater, batch, batches, known.height, repeats, chance)
    everything = np.concatenate([values, known["truth"].to_numpy()])
    value, movement, rt_ms = difference_answers(
        trials, rater, batch, everything, crowd, noise, chance
    )

    names = pl.concat([pairs["stimulus"].cast(pl.String), known["stimulus"]])
    batch_names = pl.Series(batches.names).gather(batch)
    table = pl.DataFrame(
        {
            "rater": pl.Series(crowd.names).gather(rater),
            "batch": batch_names,
            "careless": pl.Series(crowd.careless).gather(rater),
        }
    ).select(pl.format("{}-{}", "rater", "batch").alias("session"), pl.all())

    def named(codes: Ints, known: pl.Series) -> pl.Series:
        return known.cast(pl.Enum(known)).gather(codes)

    ratings = Ratings(
        pl.DataFrame(
            {
                "stimulus": named(trials.pair, names),
                "rater": named(rater[trials.session], pl.Series(crowd.names)),
                "value": value,
                "session": named(trials.session, table["session"]),
                "trial": trials.number,
                "trial_kind": named(trials.kind, pl.Series(KINDS)),
                "rt_ms": rt_ms,
                "movement": movement,
            }
        ),
        scale=_SCALE,
        raters=pl.DataFrame({"rater": crowd.names, "rater_kind": "simulated"}).filter(
            pl.Series(np.bincount(rater, minlength=len(crowd)) > 0)
        ),
        stimuli=stimulus_table(pairs, known),
        source="simulated differences",
    )
    return DifferenceSimulation(
        ratings,
        pl.DataFrame({"stimulus": names, "value": everything}),
        crowd,
        table,
        known.select("stimulus", "value"),
    )


def golden_differences(n: int = 5) -> pl.DataFrame:
    """Invent golden pairs from both extremes of the scale, from very alike to very different.

    Returns
    -------
    ``stimulus``, ``value`` (the known answer) and ``truth``, which is the same.

    Examples
    --------
    >>> golden_differences(3)["value"].to_list()
    [4.0, 86.0, 8.0]
    """
    check_number("golden", n, 0, whole=True)
    values = [_EXTREMES[place % len(_EXTREMES)] for place in range(n)]
    return pl.DataFrame(
        {"stimulus": [f"golden-{place + 1}" for place in range(n)], "value": values},
        schema={"stimulus": pl.String, "value": pl.Float64},
    ).with_columns(pl.col("value").alias("truth"))
