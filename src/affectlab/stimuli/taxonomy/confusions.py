"""Labels that raters put in place of one another: correlations of labels, freed of noise."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from affectlab.core.inference import draw_weights
from affectlab.core.types import Floats, Ints
from affectlab.core.words import in_brackets, number
from affectlab.stimuli.taxonomy.pilot import Pilot
from affectlab.stimuli.taxonomy.policy import RevisionPolicy
from affectlab.stimuli.taxonomy.verdicts import Verdict
from affectlab.taxonomy import Taxonomy

__all__ = [
    "LabelPair",
    "judge_pairs",
    "label_correlations",
    "pair_interval",
]

_MOST_UNDEFINED = 0.1


@dataclass(frozen=True)
class LabelPair:
    """Two labels and how far they are one."""

    first: int
    second: int
    value: float
    low: float
    high: float


def label_correlations(pilot: Pilot) -> Floats:
    r"""Correlate labels over stimuli, as different raters choose them; shape (labels, labels).

    With :math:`x_{rja}` the answer of rater r about stimulus j and label a, and the mean taken over
    all ordered pairs of different raters of one stimulus,

    .. math::

        c_{ab} = \operatorname{mean}_{j, r \ne s} x_{rja} x_{sjb} - \bar x_a \bar x_b, \qquad
        \rho_{ab} = c_{ab} / \sqrt{c_{aa} c_{bb}} .

    No rater is compared with themselves, so that noise of single answers cancels: rho is 1 when two
    labels differ by nothing but chance, however badly raters agree about either. It is ``nan``
    where raters agree about a label no better than chance.
    """
    values, asked = pilot.values, pilot.asked.astype(np.float64)
    total, number = pilot.per_stimulus(values), pilot.per_stimulus(asked)
    pairs = number.T @ number - asked.T @ asked
    products = total.T @ total - values.T @ values
    # Sum of the first answer over all pairs of answers about a and b.
    sums = total.T @ number - values.T @ asked
    return _correlations(products, sums, sums.T, pairs)


def _correlations(products: Floats, first: Floats, second: Floats, pairs: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = products / pairs - first * second / pairs**2
        own = np.diag(covariance)
        own = np.where(own > 1e-12, own, np.nan)
        matrix: Floats = covariance / np.sqrt(own[:, None] * own)
    return matrix


def pair_interval(
    pilot: Pilot,
    first: int,
    second: int,
    *,
    n_boot: int,
    confidence: float,
    rng: np.random.Generator,
) -> LabelPair:
    """Give the correlation of two labels with a percentile interval over stimuli."""
    parts = _parts(pilot, first, second)
    value = float(_value(parts.sum(axis=0)[None, :])[0])
    drawn = [_value(weights @ parts) for weights in draw_weights(rng, len(parts), n_boot)]
    replicates = np.concatenate(drawn)
    defined = replicates[np.isfinite(replicates)]
    low = high = float("nan")
    if len(defined) >= (1 - _MOST_UNDEFINED) * n_boot:
        tail = (1 - confidence) / 2
        low, high = (float(end) for end in np.quantile(defined, [tail, 1 - tail]))
    return LabelPair(first, second, value, low, high)


def _parts(pilot: Pilot, first: int, second: int) -> Floats:
    """Sums by stimulus from which the correlation is made; shape (stimuli, 12)."""
    columns = [first, second]
    values, asked = pilot.values[:, columns], pilot.asked[:, columns].astype(np.float64)

    def summed(rows: Floats) -> Floats:
        sums = np.bincount(pilot.stimulus, weights=rows, minlength=pilot.n_stimuli)
        return sums.astype(np.float64)

    total = [summed(values[:, k]) for k in (0, 1)]
    number = [summed(asked[:, k]) for k in (0, 1)]
    made = []
    for a, b in ((0, 1), (0, 0), (1, 1)):
        made += [
            total[a] * total[b] - summed(values[:, a] * values[:, b]),
            total[a] * number[b] - summed(values[:, a] * asked[:, b]),
            number[a] * total[b] - summed(asked[:, a] * values[:, b]),
            number[a] * number[b] - summed(asked[:, a] * asked[:, b]),
        ]
    return np.stack(made, axis=1)


def _value(sums: Floats) -> Floats:
    """Correlations from rows of sums, shape (n, 12)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        both, one, other = (
            sums[:, k] / sums[:, k + 3] - sums[:, k + 1] * sums[:, k + 2] / sums[:, k + 3] ** 2
            for k in (0, 4, 8)
        )
        scale = np.where((one > 1e-12) & (other > 1e-12), one * other, np.nan)
        value: Floats = both / np.sqrt(scale)
    return value


# Which label goes into which: pairs that raters put in place of one another.


def judge_pairs(
    pilot: Pilot,
    correlations: Floats,
    leaving: Collection[str],
    taxonomy: Taxonomy,
    limits: RevisionPolicy,
    *,
    seed: int,
) -> dict[str, tuple[str, Verdict]]:
    """Say which label goes into which, or may do so in a larger pilot.

    Pairs are taken most alike first. The label that is chosen less goes into the other, unless the
    other is about to leave; no label goes into one that goes elsewhere itself.
    """
    rng = np.random.default_rng(seed)
    labels, chosen = taxonomy.labels, pilot.n_chosen()
    verdicts: dict[str, tuple[str, Verdict]] = {}
    gone: set[str] = set()
    held: set[str] = set()
    for a, b in _alike(correlations, pilot.n_shared, taxonomy, limits):
        small, large = (a, b) if (chosen[a], -a) < (chosen[b], -b) else (b, a)
        if labels[large] in leaving and labels[small] not in leaving:
            small, large = large, small
        first, second = labels[small], labels[large]
        if second in leaving or second in gone or first in gone | held:
            continue
        pair = pair_interval(
            pilot, a, b, n_boot=limits.confused.n_boot, confidence=limits.confidence, rng=rng
        )
        verdict = _verdict(pair, second, limits)
        if verdict.said == "yes":
            gone.add(first)
            held.add(second)
            verdicts[first] = (second, verdict)
        else:
            verdicts.setdefault(first, (second, verdict))
    return verdicts


def _alike(
    correlations: Floats, shared: Ints, taxonomy: Taxonomy, limits: RevisionPolicy
) -> Iterator[tuple[int, int]]:
    """Give pairs of labels above the limit by value, most alike first."""
    rule = limits.confused
    used = [
        k
        for k, label in enumerate(taxonomy.labels)
        if shared[k] >= rule.needs and label != taxonomy.neutral
    ]
    pairs = [
        (float(correlations[a, b]), a, b)
        for place, a in enumerate(used)
        for b in used[place + 1 :]
        if correlations[a, b] >= rule.above
    ]
    for _, a, b in sorted(pairs, key=lambda pair: (-pair[0], pair[1:])):
        yield a, b


def _verdict(pair: LabelPair, other: str, limits: RevisionPolicy) -> Verdict:
    rule = limits.confused
    evidence: dict[str, float | int | str] = {
        "confused_with": other,
        "confusion": pair.value,
        "confused_above": rule.above,
    }
    if pair.low == pair.low:
        evidence |= {"confusion_low": pair.low, "confusion_high": pair.high}
    told = (
        f"correlates {number(pair.value)}{in_brackets(pair.low, pair.high)} with {other} across "
        "raters, corrected for noise"
    )
    limit = f"the limit of {number(rule.above)}"
    if rule.bound == "value" or pair.low >= rule.above:
        return Verdict("yes", f"{told}, above {limit}", evidence)
    return Verdict("undecided", f"{told}, around {limit}", evidence)
