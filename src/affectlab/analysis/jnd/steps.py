"""How many just noticeable differences lie between the peak of an expression and rest."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from affectlab.analysis.frames import PLACES
from affectlab.analysis.jnd.score import (
    Resample,
    check_options,
    clusters_of,
    expanded,
    jnd_score,
    one_jnd_apart,
    weighted_quantile,
)
from affectlab.analysis.jnd.times import given_jnd
from affectlab.analysis.pairs import PairScores, PairSource, pair_scores
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.inference import Uncertainty, draw_weights, summarise
from affectlab.core.result import Result
from affectlab.core.tables import Count, Interval, Key, Number, Table, Value
from affectlab.core.types import Floats
from affectlab.core.words import number, plural

__all__ = ["JndSteps", "jnd_steps"]

_N = 5
_WAYS = {
    "steps": "JNDs from peak to neutral, sum of the steps between five frames",
    "ends": "JNDs from peak to neutral, peak compared with neutral",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JndSteps(Result):
    """JNDs from peak to neutral, counted in two ways; see :func:`jnd_steps`."""

    estimates: Estimates
    """By ``way`` (steps, ends): the median over sequences."""
    jnd: Estimate
    """1 JND in score units."""

    @property
    def sequences(self) -> pl.DataFrame:
        """One row per sequence.

        ``actor``, ``expression``, ``steps`` and ``ends`` (JNDs) with ``steps_se`` and ``ends_se``,
        and ``additivity``, the second over the first; null where a pair is missing.
        """
        return self.to_frame()

    def __getitem__(self, way: str) -> Estimate:
        """Look the median of one way up: ``"steps"`` or ``"ends"``."""
        return self.estimates[way]

    @property
    def additivity(self) -> float:
        """Median of the score of both ends over the sum of the steps; ``nan`` where not known."""
        found = self.sequences["additivity"].drop_nulls().median()
        return math.nan if found is None else float(found)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self.sequences.height


_WAY = (
    Key("way"),
    Value(head="JNDs", decimals=1),
    Interval(decimals=1),
    Count("n_items", "sequences"),
)
_SEQUENCES = (
    Key("actor"),
    Key("expression"),
    *(Number(name) for name in ("steps", "ends", "additivity")),
)


def jnd_steps(
    scores: PairSource,
    *,
    jnd: Estimate | float | None = None,
    resample: Resample = "sequences",
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> JndSteps:
    r"""Count the JNDs from peak to neutral, from scores.

    With :math:`d_{kl}` the score of frames :math:`k` and :math:`l` of five, and 1 JND of :math:`J`:

    ``steps``
        :math:`(d_{12} + d_{23} + d_{34} + d_{45}) / J`, how many JNDs one passes on the way. Small
        differences are what a JND is about, so this is the number to compare with the 5-6 that the
        paper saw with staircases. Scores are never below 0, so steps without any change add a
        little.
    ``ends``
        :math:`d_{15} / J`, how different the ends are. It is smaller than the first: the scale ends
        at 100, people use its upper part less and less, and a way that is not straight is longer
        than the distance of its ends.

    Their ratio, ``additivity``, says how far scores add up; where it is well below 1 a score of
    3 JNDs does not mean three steps.

    Parameters
    ----------
    scores
        Ratings of the protocol ``difference``, or scores; see :func:`pair_scores`.
    jnd
        1 JND in score units, taken to be exact; that of the pairs 1 JND apart when not given.

        Where it is not given that of :func:`jnd_score`, found anew in every bootstrap replicate, as
        both come from the same sequences.
    resample
        What intervals are about: other sequences, other actors too, or these scores.
    n_boot
        Bootstrap replicates for intervals, 0 for none.
    confidence
        Coverage of the intervals.
    seed
        Same seed, same result.

    Raises
    ------
    InputError
        When no sequence has the pairs, or an option is out of range.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 3.2 ("approximately 5-6 JNDs").

    Examples
    --------
    >>> roles = ["peak", "near_peak", "middle", "near_neutral", "neutral"]
    >>> scores = pl.DataFrame({
    ...     "actor": "ann", "expression_a": "joy", "expression_b": "joy",
    ...     "role_a": [*roles[:4], "peak"], "role_b": [*roles[1:], "neutral"],
    ...     "value": [20.0, 30.0, 35.0, 20.0, 80.0],
    ... })
    >>> steps = jnd_steps(scores, n_boot=0)
    >>> steps["steps"].value, steps["ends"].value
    (5.25, 4.0)
    """
    pairs = pair_scores(scores)
    check_options(resample, n_boot, confidence)
    rng = np.random.default_rng(seed)
    sums = _sums(pairs)
    apart = one_jnd_apart(pairs) if jnd is None else None
    one = (
        jnd_score(pairs, resample=resample, n_boot=n_boot, confidence=confidence, seed=rng)
        if jnd is None
        else given_jnd(jnd)
    )
    medians = {way: _median(sums[way]) for way in _WAYS}
    drawn = dict.fromkeys(_WAYS, Uncertainty.none(1))
    if n_boot:
        draw = _scores_again if resample == "scores" else _sequences_again
        replicates = draw(sums, apart, one, resample, n_boot, rng)
        level = expanded(confidence, sums, resample)
        drawn = {
            way: summarise(np.array([medians[way] / one.value]), found[:, None], level)
            for way, found in replicates.items()
        }
    found, sequences = _table(sums, medians, drawn, one, resample, n_boot), _in_jnds(sums, one)
    return JndSteps(
        (
            Table("sequences", "JNDs of sequences.", sequences, _SEQUENCES, limit=0),
            replace(found.tables[0], caption="JNDs from peak to neutral.", columns=_WAY),
        ),
        _sentences(found, sequences),
        notes=pairs.notes,
        estimates=found,
        jnd=one,
    )


def _sentences(found: Estimates, sequences: pl.DataFrame) -> tuple[str, ...]:
    """Say how many JNDs there are each way, and how far scores add up."""
    said = ", ".join(f"{way} {number(estimate.value, 1)}" for (way,), estimate in found)
    first = f"{said} JNDs; {plural(sequences.height, 'sequence')}."
    ratio = sequences["additivity"].drop_nulls().median()
    if ratio is None:
        return (first,)
    apart = number(float(ratio))  # type: ignore[arg-type]
    return (
        first,
        f"Beside each other the ends differ by {apart} of what the steps add up to.",
    )


def _sums(pairs: PairScores) -> pl.DataFrame:
    """Give the sum of the four steps and the score of both ends, with errors, by sequence."""
    intra = pairs.intra().frame
    places = [
        pl.col(f"role_{side}").replace_strict(PLACES, default=None, return_dtype=pl.Int64)
        for side in "ab"
    ]
    placed = intra.select(
        "actor",
        pl.col("expression_a").alias("expression"),
        pl.min_horizontal(places).alias("from"),
        pl.max_horizontal(places).alias("to"),
        "value",
        pl.col("se").pow(2).alias("variance"),
    )
    keys = ["actor", "expression"]
    step, whole = pl.col("to") == pl.col("from") + 1, pl.col("to") == pl.col("from") + _N - 1
    complete = (step.sum() == _N - 1) & (pl.col("from").filter(step).n_unique() == _N - 1)
    sums = (
        placed.group_by(keys)
        .agg(
            pl.when(complete).then(pl.col("value").filter(step).sum()).alias("steps"),
            pl.when(complete).then(pl.col("variance").filter(step).sum().sqrt()).alias("steps_se"),
            pl.when(whole.sum() == 1).then(pl.col("value").filter(whole).sum()).alias("ends"),
            pl.when(whole.sum() == 1)
            .then(pl.col("variance").filter(whole).sum().sqrt())
            .alias("ends_se"),
        )
        .sort(keys)
    )
    if sums["steps"].is_null().all() and sums["ends"].is_null().all():
        raise InputError(
            "no sequence has a score for peak and neutral, or for all steps between its five "
            "frames; expected the pairs within each transition, as affectlab stimuli pairs makes "
            "them"
        )
    return sums


def _median(values: pl.Series) -> float:
    found = values.drop_nulls().median()
    return math.nan if found is None else float(found)  # type: ignore[arg-type]


_Replicates = dict[str, Floats]


def _sequences_again(
    sums: pl.DataFrame,
    apart: pl.DataFrame | None,
    jnd: Estimate,
    resample: str,
    n_boot: int,
    rng: np.random.Generator,
) -> _Replicates:
    """Draw sequences, or actors, again: their sums, and what 1 JND is, both from the same draw."""
    keys = ["actor", "expression"]
    names = sums.select(keys) if apart is None else pl.concat([sums, apart], how="diagonal")
    names = names.select(keys).unique(maintain_order=True)
    names = names.with_columns(pl.Series("cluster", clusters_of(names, resample)))
    of_sums = sums.join(names, on=keys, how="left", maintain_order="left")
    of_pairs = None if apart is None else apart.join(names, on=keys, how="left")
    found: dict[str, list[Floats]] = {way: [] for way in _WAYS}
    for weights in draw_weights(rng, 1 + int(names["cluster"].max()), n_boot):  # type: ignore[arg-type]
        if of_pairs is None:
            one = jnd.value + _error(jnd) * rng.standard_normal(len(weights))
        else:
            cluster = of_pairs["cluster"].to_numpy()
            one = weighted_quantile(of_pairs["value"].to_numpy(), weights[:, cluster], 0.5)
        for way in _WAYS:
            held = of_sums.filter(pl.col(way).is_not_null())
            if not held.height:
                found[way].append(np.full(len(weights), np.nan))
                continue
            drawn = weights[:, held["cluster"].to_numpy()]
            found[way].append(weighted_quantile(held[way].to_numpy(), drawn, 0.5) / one)
    return {way: np.concatenate(blocks) for way, blocks in found.items()}


def _scores_again(
    sums: pl.DataFrame,
    _apart: pl.DataFrame | None,
    jnd: Estimate,
    _resample: str,
    n_boot: int,
    rng: np.random.Generator,
) -> _Replicates:
    """Draw the errors of the scores again, and leave the sequences as they are."""
    one = jnd.value + _error(jnd) * rng.standard_normal(n_boot)
    found = {}
    for way in _WAYS:
        held = sums.filter(pl.col(way).is_not_null())
        value, se = held[way].to_numpy(), held[f"{way}_se"].to_numpy()
        if not value.size:
            found[way] = np.full(n_boot, np.nan)
            continue
        found[way] = np.median(value + se * rng.standard_normal((n_boot, value.size)), axis=1) / one
    return found


def _error(jnd: Estimate) -> float:
    return jnd.se if math.isfinite(jnd.se) else 0.0


def _table(
    sums: pl.DataFrame,
    medians: dict[str, float],
    drawn: dict[str, Uncertainty],
    jnd: Estimate,
    resample: str,
    n_boot: int,
) -> Estimates:
    boot = f"; expanded percentile bootstrap, {plural(n_boot, 'replicate')}" if n_boot else ""
    said = [
        words + boot + (f"; {drawn[way].missing[0]}" if drawn[way].missing[0] else "")
        for way, words in _WAYS.items()
    ]
    value = np.array([medians[way] / jnd.value for way in _WAYS])
    missing = "undefined: no sequence has all the pairs"
    return Estimates.build(
        {"way": list(_WAYS)},
        value=value,
        se=[float(drawn[way].se[0]) for way in _WAYS],
        low=[float(drawn[way].low[0]) for way in _WAYS],
        high=[float(drawn[way].high[0]) for way in _WAYS],
        method=said,
        resampled=resample if n_boot else "none",
        n_items=[sums[way].count() for way in _WAYS],
        status=["ok" if math.isfinite(one) else missing for one in value],
    )


def _in_jnds(sums: pl.DataFrame, jnd: Estimate) -> pl.DataFrame:
    """Give sums in JNDs, with the errors of both."""
    apart = (_error(jnd) / jnd.value) ** 2
    columns = []
    for way in _WAYS:
        value = pl.col(way) / jnd.value
        columns += [
            value.alias(way),
            ((pl.col(f"{way}_se") / jnd.value).pow(2) + value.pow(2) * apart)
            .sqrt()
            .alias(f"{way}_se"),
        ]
    ratio = pl.when(pl.col("steps") > 0).then(pl.col("ends") / pl.col("steps"))
    return sums.select("actor", "expression", *columns, ratio.alias("additivity"))
