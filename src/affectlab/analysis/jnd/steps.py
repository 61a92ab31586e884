"""How many just noticeable differences lie between the peak of an expression and rest."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from affectlab.analysis.frames import between
from affectlab.analysis.jnd.score import (
    Resample,
    bootstrapped,
    check_options,
    clusters_of,
    jnd_score,
    one_jnd_apart,
)
from affectlab.analysis.jnd.times import given_jnd
from affectlab.analysis.jnd.wording import PEAK_TO_NEUTRAL, WAYS, additivity_text, steps_text
from affectlab.analysis.pairs import PairScores, PairSource, pair_scores
from affectlab.core.arrays import weighted_quantile
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import draw_weights
from affectlab.core.result import Result
from affectlab.core.tables import Count, Interval, Key, Number, Table, Value
from affectlab.core.types import Floats

_N = 5


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
        return _median(self.sequences["additivity"])

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

    Returns
    -------
    JndSteps
        ``steps["steps"]`` and ``steps["ends"]`` are the two medians, ``sequences`` a table
        of the JNDs of each sequence, ``additivity`` the median of their ratio, ``jnd`` 1
        JND in score units.

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
    replicates = _replicates(sums, apart, one, resample, n_boot, rng) if n_boot else {}
    missing = Reason(Cause.NONE, of="sequence with all the pairs")
    estimates = []
    for way, words in WAYS.items():
        value = _median(sums[way]) / one.value
        more: dict[str, Any] = {"options": (words,), "n_items": sums[way].count()}
        if not math.isfinite(value):
            more["reason"] = missing
        drawn = replicates.get(way)
        estimates.append(
            bootstrapped(value, drawn, confidence, PEAK_TO_NEUTRAL, resample, sums, **more)
        )
    found, sequences = Estimates.collect({"way": list(WAYS)}, estimates), _in_jnds(sums, one)
    return JndSteps(
        (
            Table("sequences", "JNDs of sequences.", sequences, _SEQUENCES, limit=0),
            replace(found.tables[0], caption=f"{PEAK_TO_NEUTRAL}.", columns=_WAY),
        ),
        _sentences(found, sequences),
        notes=pairs.notes,
        settings={"jnd": one, "additivity": _median(sequences["additivity"])},
        estimates=found,
        jnd=one,
    )


def _sentences(found: Estimates, sequences: pl.DataFrame) -> tuple[str, ...]:
    """Say how many JNDs there are each way, and how far scores add up."""
    jnds = {way: estimate.value for (way,), estimate in found}
    first = steps_text(jnds, sequences.height)
    ratio = _median(sequences["additivity"])
    if math.isnan(ratio):
        return (first,)
    return first, additivity_text(ratio)


def _sums(pairs: PairScores) -> pl.DataFrame:
    """Give the sum of the four steps and the score of both ends, with errors, by sequence."""
    compared = between(pairs.intra().frame).with_columns(variance=pl.col("se").pow(2))
    keys = ["actor", "expression"]
    step, whole = pl.col("to") == pl.col("from") + 1, pl.col("to") == pl.col("from") + _N - 1
    complete = (step.sum() == _N - 1) & (pl.col("from").filter(step).n_unique() == _N - 1)
    sums = (
        compared.group_by(keys)
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


def _replicates(
    sums: pl.DataFrame,
    apart: pl.DataFrame | None,
    jnd: Estimate,
    resample: str,
    n_boot: int,
    rng: np.random.Generator,
) -> dict[str, Floats]:
    """Draw the errors of scores again, or sequences or actors, and with these what 1 JND is."""
    known = {way: sums[way].is_not_null().to_numpy() for way in WAYS}
    value = {way: sums[way].to_numpy()[known[way]] for way in WAYS}
    found: dict[str, list[Floats]] = {way: [] for way in WAYS}
    if resample == "scores":
        one = jnd.value + _error(jnd) * rng.standard_normal(n_boot)
        for way, own in value.items():
            if own.size:
                se = sums[f"{way}_se"].to_numpy()[known[way]]
                drawn = own + se * rng.standard_normal((n_boot, own.size))
                found[way].append(np.median(drawn, axis=1) / one)
    else:
        tables = [sums] if apart is None else [sums, apart]
        named = pl.concat(table.select("actor", "expression") for table in tables)
        cluster = clusters_of(named, resample)
        for weights in draw_weights(rng, 1 + int(cluster.max()), n_boot):
            if apart is None:
                one = jnd.value + _error(jnd) * rng.standard_normal(len(weights))
            else:
                of_pairs = weights[:, cluster[sums.height :]]
                one = weighted_quantile(apart["value"].to_numpy(), of_pairs, 0.5)
            for way, own in value.items():
                if own.size:
                    drawn = weights[:, cluster[: sums.height][known[way]]]
                    found[way].append(weighted_quantile(own, drawn, 0.5) / one)
    unknown = np.full(n_boot, np.nan)
    return {way: np.concatenate(blocks) if blocks else unknown for way, blocks in found.items()}


def _error(jnd: Estimate) -> float:
    return jnd.se if math.isfinite(jnd.se) else 0.0


def _in_jnds(sums: pl.DataFrame, jnd: Estimate) -> pl.DataFrame:
    """Give sums in JNDs, with the errors of both."""
    apart = (_error(jnd) / jnd.value) ** 2
    columns = []
    for way in WAYS:
        value = pl.col(way) / jnd.value
        columns += [
            value.alias(way),
            ((pl.col(f"{way}_se") / jnd.value).pow(2) + value.pow(2) * apart)
            .sqrt()
            .alias(f"{way}_se"),
        ]
    ratio = pl.when(pl.col("steps") > 0).then(pl.col("ends") / pl.col("steps"))
    return sums.select("actor", "expression", *columns, ratio.alias("additivity"))
