"""Prompts for pictures of labels that are not covered, and which of them get a wrong hint."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from affectlab.models.hinted._coverage import Tally
from affectlab.models.hinted._plan import HintedPlan
from affectlab.stimuli import face_prompts, fill_prompts, largest_remainder

__all__ = ["first_prompts", "round_prompts"]

_FIRST, _TARGETED, _DECOYS = 1, 2, 3
"""What random numbers are drawn for."""
_NOBODY = {
    "stimulus": pl.String,
    "label": pl.String,
    "gender": pl.String,
    "age": pl.Int64,
    "ethnicity": pl.String,
}


def first_prompts(plan: HintedPlan, taken: Sequence[str]) -> pl.DataFrame:
    """Make the prompts of the first round: all labels equally often."""
    made = face_prompts(
        plan.initial,
        taxonomy=plan.known(),
        plan=plan.prompt_plan(),
        weights=dict.fromkeys(plan.wanted(), 1.0),
        words=plan.words,
        seed=_seed(plan, _FIRST, 0, 0),
    ).to_frame()
    used = set(taken)
    if used & set(made["stimulus"]):
        # Pictures that were there already may be called as prompts are.
        made = made.with_columns(("made-" + pl.col("stimulus")).alias("stimulus"))
    return made.with_columns(decoy=pl.lit(""))


def round_prompts(
    plan: HintedPlan,
    tally: Tally,
    round: int,
    before: Sequence[pl.DataFrame],
    taken: Iterable[str],
) -> pl.DataFrame:
    """Make the prompts of a round: as many for each label as it needs and the budget has left.

    Within a label, people of whom its earlier prompts had too few are asked for; see
    :func:`affectlab.stimuli.fill_prompts`.
    """
    orders = _within_budget(tally.orders(), plan.budget, tally.n_made)
    known, sentences = plan.known(), plan.prompt_plan()
    there = [table.select(list(_NOBODY)) for table in before]
    names = {*taken, *(name for table in before for name in table["stimulus"])}
    made: list[pl.DataFrame] = []
    for label, n in orders.items():
        held = pl.concat([pl.DataFrame(schema=_NOBODY), *there])
        have = held.filter(pl.col("label") == label).height
        new = fill_prompts(
            held,
            have + n,
            labels=[label],
            taxonomy=known,
            plan=sentences,
            words=plan.words,
            taken=names,
            seed=_seed(plan, _TARGETED, round, known.index(label)),
        ).to_frame()
        made.append(new)
        there.append(new.select(list(_NOBODY)))
    table = pl.concat(made)
    return table.with_columns(decoy=pl.Series(_decoys(plan, round, table["label"].to_list())))


def _within_budget(orders: Mapping[str, int], budget: int | None, used: int) -> dict[str, int]:
    """Share out what the budget has left as the orders ask for."""
    total = sum(orders.values())
    if budget is None or total <= budget - used:
        return dict(orders)
    shares = largest_remainder(list(orders.values()), budget - used)
    counts = zip(orders, shares.tolist(), strict=True)
    return {label: n for label, n in counts if n}


def _decoys(plan: HintedPlan, round: int, targets: Sequence[str]) -> list[str]:
    """Draw the pictures that are asked about again, and a wrong label for each."""
    rng = np.random.default_rng(_seed(plan, _DECOYS, round, 0))
    n = math.floor(plan.decoys * len(targets) + rng.random())
    chosen = rng.permutation(len(targets))[:n]
    labels = plan.known().labels
    decoys = [""] * len(targets)
    for row in chosen.tolist():
        others = [label for label in labels if label != targets[row]]
        if others:
            decoys[row] = others[int(rng.integers(len(others)))]
    return decoys


def _seed(plan: HintedPlan, purpose: int, round: int, label: int) -> int:
    drawn = np.random.SeedSequence([plan.seed, purpose, round, label])
    return int(drawn.generate_state(1)[0])
