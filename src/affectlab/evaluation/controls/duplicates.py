"""How often a model gives the same answer, label by label, to different stimuli."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import by_name, streams, wilson_interval
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.people_and_models import ControlledRuns, present

_SHUFFLES = 20
"""Times the labels are shuffled to see what chance does."""
_KEYS = 1928_3746
"""Seed of the random keys that stand for answers; any will do."""
_MOST_LABELS = 4


def duplicates(panel: ControlledRuns, confidence: float, rng: np.random.Generator) -> Estimates:
    """Compute the share of stimuli whose answer vector another stimulus got, too."""
    rows = []
    own = streams(rng, panel.main)
    # Keys of answers are drawn label by label.
    labels = by_name(panel.labels)
    for run in panel.main:
        values = panel.matrix(run)
        answered = values[present(values)]
        most, found = _repeats(_keys(answered[:, labels]))
        same, people = _on_people(panel, values)
        rows.append(
            {
                **found,
                "n_ratings": int((~np.isnan(answered)).sum()),
                "most_repeated": _in_words(panel, answered[most]) if found["n"] else "",
                "chance": _chance(answered[:, labels], own[run]),
                "people": people,
                "same_stimuli": same,
            }
        )
    frame = pl.DataFrame(rows)
    share, se, n = (frame[name].to_numpy() for name in ("share", "se", "n"))
    low, high = _interval(share, se, n, confidence)
    table = Estimates.build(
        {"rater": panel.main},
        value=share,
        se=se,
        low=low,
        high=high,
        statistic="share of stimuli whose answers another stimulus got, too",
        target="stimuli",
        n_items=n,
        n_raters=1,
        n_ratings=frame["n_ratings"],
        reason=[None if count > 1 else Reason(Cause.FEWER, least=2, of="stimuli") for count in n],
    )
    extra = ("n_vectors", "most_repeated", "n_most_repeated", "chance", "people", "same_stimuli")
    return table.with_columns(frame.select(extra))


def _cell_keys(values: Floats) -> NDArray[np.uint64]:
    """Give a random 64-bit number to each value of each column, a gap being a value of its own."""
    random = np.random.default_rng(_KEYS)
    keys = np.empty(values.shape, dtype=np.uint64)
    for k, column in enumerate(values.T):
        distinct, code = np.unique(column, return_inverse=True)
        keys[:, k] = random.integers(0, 2**64 - 1, distinct.size, dtype=np.uint64)[code]
    return keys


def _keys(values: Floats) -> NDArray[np.uint64]:
    """Give equal numbers to equal rows, and different ones to all others."""
    return np.asarray(np.add.reduce(_cell_keys(values), axis=1))


def _repeats(keys: NDArray[np.uint64]) -> tuple[int, dict[str, Any]]:
    """Count answers that are given more than once; and the row of the most frequent one."""
    n = keys.size
    if n < 2:
        nothing = {"share": np.nan, "se": np.nan, "n": n, "n_vectors": n, "n_most_repeated": n}
        return 0, nothing
    _, first, code, size = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    times = size[code]
    repeated = int((times > 1).sum())
    # Without one of a pair, two fewer are repeated; without one of more, one fewer.
    without = (repeated - np.where(times == 2, 2, times > 2)) / (n - 1)
    se = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    top = int(np.argmax(size))
    found = {
        "share": repeated / n,
        "se": se,
        "n": n,
        "n_vectors": size.size,
        "n_most_repeated": int(size[top]),
    }
    return int(first[top]), found


def _interval(
    share: Floats, se: Floats, n: Ints, confidence: float
) -> tuple[np.float64 | Floats, np.float64 | Floats]:
    """Give the Wilson interval at the number of independent stimuli that the jackknife implies.

    A bootstrap would make duplicates by drawing a stimulus twice.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        # Where all stimuli or none are repeated, a standard error is rounding noise.
        varied = (share > 0) & (share < 1) & (se > 0)
        effective = np.where(varied, np.minimum(share * (1 - share) / se**2, n), n)
    effective = np.where(np.isfinite(share), effective, 0.0)
    return wilson_interval(np.nan_to_num(share) * effective, effective, confidence)


def _chance(values: Floats, rng: np.random.Generator) -> float:
    """Compute the share when the answers to each label are shuffled among the stimuli."""
    if len(values) < 2:
        return np.nan
    cells = _cell_keys(values)
    shuffled = (rng.permuted(cells, axis=0).sum(axis=1, dtype=np.uint64) for _ in range(_SHUFFLES))
    return float(np.mean([_repeats(keys)[1]["share"] for keys in shuffled]))


def _on_people(panel: ControlledRuns, values: Floats) -> tuple[float, float]:
    """Compare with each person on the stimuli both answered: mean share of the model, of people.

    The share grows with the number of stimuli, so it is compared on the same ones.
    """
    if panel.people is None:
        return np.nan, np.nan
    pairs = []
    asked = present(values)
    ballots = panel.people.ballots()
    for person in range(len(panel.people.raters)):
        rows = ballots.rater == person
        stimuli, theirs = ballots.unit[rows], ballots.value[rows]
        both = asked[stimuli]
        if both.sum() > 1:
            ours = _repeats(_keys(values[stimuli[both]]))[1]["share"]
            pairs.append((ours, _repeats(_keys(theirs[both]))[1]["share"]))
    if not pairs:
        return np.nan, np.nan
    model, people = np.mean(pairs, axis=0)
    return float(model), float(people)


def _in_words(panel: ControlledRuns, vector: Floats) -> str:
    """Say what an answer vector holds: labels above the lowest value first, then the rest."""
    scale, labels = panel.scale, panel.labels
    if len(labels) == 1:
        return scale.name_of(float(vector[0]))
    ground = np.nanmin(vector) if scale.low is None else scale.low
    order = np.argsort(-np.nan_to_num(vector, nan=-np.inf), kind="stable")
    raised = [k for k in order.tolist() if vector[k] > ground]
    parts = [f"{labels[k]} {scale.name_of(float(vector[k]))}" for k in raised[:_MOST_LABELS]]
    if len(raised) > _MOST_LABELS:
        parts.append(f"{len(raised) - _MOST_LABELS} more above {scale.name_of(float(ground))}")
    rest = int((vector == ground).sum())
    if rest:
        which = f"all {rest} labels" if not raised and rest == len(labels) else f"{rest} labels"
        parts.append(f"{scale.name_of(float(ground))} on {which}")
    gaps = int(np.isnan(vector).sum())
    if gaps:
        parts.append(f"{gaps} labels without an answer")
    return ", ".join(parts)
