"""Spearman correlation with the median of people, one person left out, in every replicate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.arrays import distinct, mean_of_defined
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.human_alignment.kappa import Agreements
from affectlab.evaluation.human_alignment.panel import Copies, LabelPanel

_MOST_LEVELS = 256
"""Levels above which answers are compared as numbers."""
_LATTICE = 1e-9
"""How far, in steps, a value may lie from a regular grid."""
_ROWS = 64
"""Replicates that one task computes."""


def spearman_of_label(part: LabelPanel, draws: Copies) -> Agreements:
    """Correlate models, and people, with the median of all people but one, on one label.

    A person meets the median of the others; a model meets the same medians on the same stimuli,
    those of each person in turn. The value of the model is the mean over the people left out, and
    so is that of people. All copies of a person are left out together; ranks and medians are found
    anew in every replicate.
    """
    own, models = _correlations(part, draws)
    _, of_model = part.sets
    weight = draws.raters.astype(np.float64)[:, :, None]
    # A person without a correlation of their own (one answer throughout) is no comparison.
    paired = np.isnan(own[:, :, of_model]) | np.isnan(models)
    theirs = np.where(paired, np.nan, own[:, :, of_model])
    judged = np.where(paired, np.nan, models)
    return Agreements(
        models=mean_of_defined(judged, 1, weight).T,
        among=mean_of_defined(theirs, 1, weight).T,
        people=mean_of_defined(own[:, :, 0], 1, weight[:, :, 0]),
        persons=np.ascontiguousarray(own[:, :, 0].T),
        beside=np.ascontiguousarray(own[0][:, of_model].T),
    )


def _correlations(part: LabelPanel, draws: Copies) -> tuple[Floats, Floats]:
    """Correlations of each person, by set of stimuli, and of each model with each panel."""
    from affectlab.core.compiled import in_threads
    from affectlab.evaluation.human_alignment.spearman_kernels import (
        MOST_DRAWN,
        correlate_lists,
        medians_of_others,
    )

    sets, of_model = part.sets
    start, item, value = part.by_person
    own = np.full((draws.n_rows, part.n_people, len(sets)), np.nan)
    models = np.full((draws.n_rows, part.n_people, of_model.size), np.nan)
    level, n_levels, regular = _levels(value)
    largest = np.bincount(part.item).max(initial=0) * int(draws.raters.max(initial=1))
    largest = min(largest, int(draws.raters.sum(axis=1).max(initial=1)))
    if part.whole and regular and n_levels <= _MOST_LEVELS and largest <= MOST_DRAWN:
        code = level.reshape(part.n_people, -1)
        for g, answered in enumerate(sets):
            judged = np.flatnonzero(of_model == g)
            _correlate_set(part, draws, answered, judged, code, n_levels, own[:, :, g], models)
        return own, models
    numbers = level.astype(np.float64) if regular else value
    by_value, cell = part.by_value
    person = np.repeat(np.arange(part.n_people, dtype=np.int32), np.diff(start))
    answers = [np.unique(one, return_inverse=True) for one in part.models]
    answer = np.empty(part.models.shape, dtype=np.int32)
    for codes, (_, code_of) in zip(answer, answers, strict=True):
        codes[:] = code_of
    n_answers = np.array([known.size for known, _ in answers], dtype=np.int64)
    kind, weights = draws.kinds

    def some_rows(rows: Ints) -> None:
        alone, found = own[rows], models[rows]
        median, met = np.empty(value.size), np.zeros(value.size, dtype=np.bool_)
        copies = draws.raters[rows[0]]
        medians_of_others(cell, by_value, person, numbers, copies, median, met)
        middle = _numbered(median, met, start, n_levels if regular else None)
        correlate_lists(
            *(start, item, level, n_levels, *middle, met, of_model, sets, answer, n_answers),
            *(kind, weights[rows], _changes(weights[rows]), alone, found),
        )
        own[rows], models[rows] = alone, found

    in_threads(some_rows, _of_same_people(draws))
    return own, models


def _numbered(
    median: Floats, met: Bools, start: Ints, n_levels: int | None
) -> tuple[NDArray[np.int32], Ints]:
    """Number twice the medians of the others in their order, person by person.

    Where medians are of levels on a grid they are numbers of levels, and so are sums of two.
    """
    n_people = start.size - 1
    if n_levels is not None:
        return np.where(met, median, 0).astype(np.int32), np.full(n_people, 2 * n_levels - 1)
    middle, n_middles = np.zeros(median.size, dtype=np.int32), np.ones(n_people, dtype=np.int64)
    for i in range(n_people):
        rows = slice(start[i], start[i + 1])
        known, middle[rows][met[rows]] = np.unique(median[rows][met[rows]], return_inverse=True)
        n_middles[i] = max(known.size, 1)
    return middle, n_middles


def _correlate_set(
    part: LabelPanel,
    draws: Copies,
    answered: Bools,
    judged: Ints,
    code: NDArray[np.int32],
    n_levels: int,
    own: Floats,
    models: Floats,
) -> None:
    """Fill in people, and the models of one set of stimuli, where people answered everything."""
    from affectlab.core.compiled import in_threads
    from affectlab.evaluation.human_alignment.spearman_kernels import correlate_whole

    kept = np.flatnonzero(answered)
    here = answered[part.rated]
    level = np.ascontiguousarray(code[:, here])
    steps = np.arange(n_levels - 1, dtype=code.dtype)
    reached = (level[:, None] <= steps[:, None]).astype(np.uint8)
    order, last = _order(part.models[np.ix_(judged, kept)])
    kind, weights = draws.kinds
    kind = kind[kept]

    def some_rows(rows: Ints) -> None:
        alone = np.full((rows.size, part.n_people), np.nan)
        found = np.full((rows.size, part.n_people, judged.size), np.nan)
        copies = draws.raters[rows[0]]
        met = np.flatnonzero((copies > 0) & (copies < copies.sum()))
        drawn = kind, weights[rows], _changes(weights[rows]), copies, met
        correlate_whole(reached, level, order, last, *drawn, alone, found)
        own[rows] = alone
        models[np.ix_(rows, np.arange(part.n_people), judged)] = found

    in_threads(some_rows, _of_same_people(draws))


def _changes(weights: NDArray[np.uint8]) -> int:
    """Count the places that are not 1."""
    return int(np.count_nonzero(weights != 1))


def _of_same_people(draws: Copies) -> list[Ints]:
    """Replicates with the same people, who have the same medians, as many as one task computes."""
    _, people = np.unique(draws.raters, axis=0, return_inverse=True)
    people = people.reshape(-1)
    order = np.argsort(people, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(people))[:-1])
    return [some[k : k + _ROWS] for some in rows for k in range(0, some.size, _ROWS)]


def _levels(value: Floats) -> tuple[NDArray[np.int32], int, bool]:
    """Number the values from 0 in their order, with gaps where they lie on a regular grid.

    Returns
    -------
    Levels, how many there are, and whether they lie on a grid, so that the middle of two levels is
    the level between them.
    """
    known, place = distinct(value)
    if known.size < 2:
        return np.zeros(value.size, dtype=np.int32), 1, True
    step = float(np.diff(known).min())
    grid = (known - known[0]) / step
    if grid[-1] < _MOST_LEVELS and np.abs(grid - np.rint(grid)).max() < _LATTICE * grid[-1]:
        return np.rint(grid).astype(np.int32)[place], round(float(grid[-1])) + 1, True
    return place.astype(np.int32), known.size, False


def _order(values: Floats) -> tuple[NDArray[np.int32], Bools]:
    """Sort every row: places by rising value, and whether the next value is larger."""
    order = np.argsort(values, axis=1).astype(np.int32)
    ordered = np.take_along_axis(values, order.astype(np.int64), axis=1)
    last = np.ones(values.shape, dtype=np.bool_)
    last[:, :-1] = ordered[:, 1:] > ordered[:, :-1]
    return order, last
