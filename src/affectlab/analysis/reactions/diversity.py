"""How many different things people feel about the same image with its caption."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.analysis.reactions import wording
from affectlab.analysis.reactions.means import ratio_estimates
from affectlab.analysis.reactions.wording import MEASURES
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.result import Result
from affectlab.core.tables import Count, Interval, Key, Number, Table, Value
from affectlab.core.types import Floats

# How varied a few answers are, and how varied more of them would be.


def plain_entropy(counts: ArrayLike) -> float:
    r"""Give the entropy of counted answers in bits, :math:`-\sum_k p_k \log_2 p_k`.

    Examples
    --------
    >>> plain_entropy([2, 2]), plain_entropy([4])
    (1.0, 0.0)
    """
    found = _checked(counts)
    if not found.size:
        return float("nan")
    p = found / found.sum()
    return max(float(-(p * np.log2(p)).sum()), 0.0) + 0.0


def chao_shen_entropy(counts: ArrayLike) -> float:
    r"""Estimate the entropy of what was answered, in bits, allowing for what nobody named yet.

    The plain entropy of a few answers is too low. With coverage :math:`C = 1 - f_1 / n`, where
    :math:`f_1` of the n answers were named once only,

    .. math:: H = -\sum_k \frac{C p_k \log_2 (C p_k)}{1 - (1 - C p_k)^n}

    Where all answers were named once, :math:`f_1 = n - 1` is taken, as is usual.

    Parameters
    ----------
    counts
        How often each emotion was named, shape (k,); zeros are left out.

    Returns
    -------
    float
        ``nan`` for fewer than two answers.

    References
    ----------
    A. Chao and T.-J. Shen (2003), Nonparametric estimation of Shannon's index of diversity when
    there are unseen species in sample, Environmental and Ecological Statistics 10, equation 7.

    Examples
    --------
    >>> round(chao_shen_entropy([2, 2]), 3)
    1.067
    """
    found = _checked(counts)
    n = float(found.sum())
    if n < 2:
        return float("nan")
    single = float((found == 1).sum())
    coverage = 1 - min(single, n - 1) / n
    p = coverage * found / n
    seen = 1 - (1 - p) ** n
    return max(float(-(p * np.log2(p) / seen).sum()), 0.0) + 0.0


def _checked(counts: ArrayLike) -> Floats:
    found = np.asarray(counts, dtype=np.float64).ravel()
    if not np.isfinite(found).all() or (found < 0).any():
        raise InputError("counts: expected numbers of answers, none below 0")
    return found[found > 0]


_POLES = {"positive": 1, "negative": -1}
_SHARES = {"difference", "conflict", "both_poles", "own_conflict"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EmotionDiversity(Result):
    """Diversity per pair and in the mean over pairs; made by :func:`emotion_diversity`."""

    means: Estimates
    """The mean of each measure over the pairs in which it is defined, with an interval."""
    n_pairs: int
    n_raters: int
    n_reactions: int
    n_emotions: int


_MEANS = (Key("measure"), Value(head="mean"), Interval(), Count("n_items", "pairs"))
_PAIRS = (
    Key("stimulus", "pair"),
    *(Count(name) for name in ("n_raters", "n_reactions", "n_emotions")),
    *(Number(name) for name in ("entropy", "difference", "conflict")),
)


def emotion_diversity(
    stimuli: Sequence[str],
    raters: Sequence[str],
    emotions: Sequence[str],
    *,
    polarities: Sequence[str | None] | None = None,
    confidence: float = 0.95,
) -> EmotionDiversity:
    r"""Measure how diverse the emotions are that people name for the same pair.

    Per pair: people, reactions, distinct emotions, and the entropy of the emotions in bits, plain
    and corrected for few answers. ``difference`` is the chance that reactions drawn from two
    different people name different emotions, and ``conflict`` the chance that, where both have a
    pole, one is positive and the other negative: with :math:`a_{re}` the reactions of person r that
    name e,

    .. math:: d = 1 - \frac{\sum_{r \ne s} \sum_e a_{re} a_{se}}{\sum_{r \ne s} n_r n_s}

    which, unlike the entropy, does not depend on how many people were asked. ``both_poles`` says
    whether both poles were named at all (it grows with the number of people), ``own_conflict``
    which share of people named both themselves.

    Parameters
    ----------
    stimuli, raters, emotions
        Pair, person and emotion of each reaction, shape (n,).
    polarities
        ``positive``, ``negative``, anything else or None, shape (n,).
    confidence
        Coverage of the intervals of the means, which are about other pairs.

    Returns
    -------
    EmotionDiversity
        ``means[measure]`` is the mean of a measure over pairs, the table ``pairs`` has all
        measures of each pair; ``n_pairs``, ``n_raters``, ``n_reactions``, ``n_emotions``.

    Raises
    ------
    InputError
        When there is no reaction or the lengths differ.

    Notes
    -----
    Source: Socratis (2023), section 2: 18,378 reactions, 980 emotions, 2,075 pairs, 8 people per
    pair in the mean. The measures are ours.

    Examples
    --------
    >>> found = emotion_diversity(
    ...     ["a", "a", "a", "b"], ["r", "r", "s", "r"], ["sad", "awe", "sad", "sad"])
    >>> found.to_frame("pairs").select("n_emotions", "entropy", "difference").row(0)
    (2, 0.9182958340544896, 0.5)
    >>> found.means["n_reactions"].value
    2.0
    """
    n = len(stimuli)
    signs = [None] * n if polarities is None else list(polarities)
    if not n == len(raters) == len(emotions) == len(signs):
        raise InputError(
            f"{n} stimuli, {len(raters)} raters, {len(emotions)} emotions and {len(signs)} "
            "polarities; expected one of each per reaction"
        )
    if n == 0:
        raise InputError("there is no reaction to measure")
    of_pair: dict[str, list[tuple[str, str, str | None]]] = defaultdict(list)
    for stimulus, *rest in zip(stimuli, raters, emotions, signs, strict=True):
        of_pair[stimulus].append((rest[0] or "", rest[1] or "", rest[2]))
    rows = [{"stimulus": name, **_measure(found)} for name, found in of_pair.items()]
    whole = {"n_raters": pl.Int64, "n_reactions": pl.Int64, "n_emotions": pl.Int64}
    schema: dict[str, Any] = {
        "stimulus": pl.String,
        **{name: whole.get(name, pl.Float64) for name in MEASURES},
        "both_poles": pl.Boolean,
    }
    pairs = pl.DataFrame(rows, schema=schema).with_columns(pl.col(pl.Float64).fill_nan(None))
    values = pairs.select(*MEASURES).cast(pl.Float64).to_numpy()
    known = ~np.isnan(values)
    n_raters, n_emotions = len(set(raters)), len(set(emotions))
    means = ratio_estimates(
        {"measure": list(MEASURES)},
        np.where(known, values, 0.0),
        known.astype(np.float64),
        np.arange(len(values)),
        method=[wording.diversity_method(measure) for measure in MEASURES],
        confidence=confidence,
        n_items=known.sum(axis=0),
        n_raters=n_raters,
        bounds=(0.0, np.array([1.0 if name in _SHARES else np.inf for name in MEASURES])),
    )
    in_words = means.frame.with_columns(pl.Series("measure", list(MEASURES.values())))
    return EmotionDiversity(
        (
            Table("diversity", "Diversity, mean over pairs.", in_words, _MEANS),
            Table("pairs", "Diversity of each pair.", pairs, _PAIRS, limit=0),
        ),
        (wording.diversity_text(n, n_raters, pairs.height, n_emotions),),
        means=means,
        n_pairs=pairs.height,
        n_raters=n_raters,
        n_reactions=n,
        n_emotions=n_emotions,
    )


def _measure(found: list[tuple[str, str, str | None]]) -> dict[str, Any]:
    counts = Counter(emotion for _, emotion, _ in found)
    by_rater: dict[str, Counter[str]] = defaultdict(Counter)
    poles: dict[str, Counter[str]] = defaultdict(Counter)
    for rater, emotion, sign in found:
        by_rater[rater][emotion] += 1
        if sign in _POLES:
            poles[rater][sign] += 1
    signs = {sign for own in poles.values() for sign in own}
    return {
        "n_raters": len(by_rater),
        "n_reactions": len(found),
        "n_emotions": len(counts),
        "entropy": plain_entropy(list(counts.values())),
        "entropy_corrected": chao_shen_entropy(list(counts.values())),
        "difference": _difference(list(by_rater.values())),
        "conflict": _difference(list(poles.values())),
        "both_poles": len(signs) == 2 if poles else None,
        "own_conflict": sum(len(own) == 2 for own in poles.values()) / len(poles)
        if poles
        else math.nan,
    }


def _difference(people: list[Counter[str]]) -> float:
    """The chance that answers of two different people differ; ``nan`` for fewer than two."""
    total: Counter[str] = Counter()
    for own in people:
        total.update(own)
    n = sum(total.values())
    same = sum(v * v for v in total.values()) - sum(v * v for own in people for v in own.values())
    every = n * n - sum(sum(own.values()) ** 2 for own in people)
    return 1 - same / every if every else math.nan
