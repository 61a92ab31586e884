"""Kappa of pairs of people, and of people and models, in every replicate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affectlab.core.arrays import mean_of_defined, ratio
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.human_alignment.panel import AlignmentPanel, Copies, LabelPanel
from affectlab.reliability.agreement import RaterPairs


@dataclass(frozen=True)
class Agreements:
    """Agreement on one label in every row of the draws; ``nan`` where not defined."""

    models: Floats
    """Of each model with people, mean over people, shape (models, rows)."""
    among: Floats
    """Of people with other people on the stimuli of each model, shape (models, rows)."""
    people: Floats
    """Of people with other people on all stimuli, shape (rows,)."""
    persons: Floats
    """Of each person with the other people on all stimuli, shape (people, rows)."""
    beside: Floats
    """The same on the stimuli of each model, as the data are, shape (models, people)."""

    @classmethod
    def unknown(cls, part: LabelPanel, n_rows: int) -> Agreements:
        """Make room, nothing being defined yet."""
        n_models, n_people = len(part.models), part.n_people
        shapes = ((n_models, n_rows),) * 2, ((n_rows,), (n_people, n_rows), (n_models, n_people))
        return cls(*(np.full(shape, np.nan) for group in shapes for shape in group))


def kappas(panel: AlignmentPanel, draws: Copies) -> list[Agreements]:
    """Compute kappa on every label."""
    return panel.of_each_label(lambda part: kappa_of_label(panel, part, draws))


def kappa_of_label(panel: AlignmentPanel, part: LabelPanel, draws: Copies) -> Agreements:
    """Compute the agreement of models with people and of people with people on one label.

    A pair of people counts with the product of their numbers of copies, and a person never meets
    a copy of theirs: two copies of one person always agree, which says nothing about people.
    """
    sets, of_model = part.sets
    found = Agreements.unknown(part, draws.n_rows)
    copies = np.ascontiguousarray(draws.raters.T, dtype=np.float64)
    kind, weights = draws.kinds
    n_levels = 0 if panel.ordered else panel.scale.levels().size
    for g, answered in enumerate(sets):
        judged = np.flatnonzero(of_model == g)
        pairs = RaterPairs.of(_table(panel, part, answered, judged), part.n_people)
        n_pairs = pairs.first.size - judged.size * part.n_people
        first, second = pairs.first[:n_pairs], pairs.second[:n_pairs]
        for first_row in range(0, draws.n_rows, pairs.rows_at_once):
            where = slice(first_row, min(first_row + pairs.rows_at_once, draws.n_rows))
            # Kappas do not depend on how often people count.
            alike, row = np.unique(weights[where], axis=0, return_inverse=True)
            kappa = pairs.kappas(kind[answered], alike, n_levels)[:, row.reshape(-1)]
            of_people, of_models = np.split(kappa, [n_pairs])
            v = np.ascontiguousarray(copies[:, where])
            mean, single = _means_of_pairs(of_people, first, second, v)
            found.among[judged, where] = mean
            by_model = of_models.reshape(judged.size, part.n_people, kappa.shape[1])
            found.models[judged, where] = mean_of_defined(by_model, 1, v)
            if g == 0:
                found.people[where] = mean
                found.persons[:, where] = single
            if where.start == 0:
                found.beside[judged] = single[:, 0]
    return found


def _means_of_pairs(
    kappa: Floats, first: NDArray[np.int32], second: NDArray[np.int32], copies: Floats
) -> tuple[Floats, Floats]:
    """Average the defined values of pairs of people, over all pairs and over those of each person.

    Parameters
    ----------
    kappa
        Shape (pairs, replicates).
    first, second
        The people of each pair, shape (pairs,).
    copies
        How often each person was drawn, shape (people, replicates).

    Returns
    -------
    Shape (replicates,): a pair counts with the product of its copies; and (people, replicates):
    another person counts with their copies, whether or not the person was drawn.
    """
    known = ~np.isnan(kappa)
    kappa = np.where(known, kappa, 0.0)
    of_first, of_second = copies[first] * known, copies[second] * known
    both = of_first * of_second
    is_first, is_second = (
        np.equal.outer(np.arange(len(copies)), side).astype(np.float64) for side in (first, second)
    )
    summed = is_first @ (of_second * kappa) + is_second @ (of_first * kappa)
    return (
        ratio((both * kappa).sum(axis=0), both.sum(axis=0)),
        ratio(summed, is_first @ of_second + is_second @ of_first),
    )


def _table(panel: AlignmentPanel, part: LabelPanel, answered: Bools, judged: Ints) -> Floats:
    """Answers of people, then models, to one set of stimuli; levels from 0 where there are any."""
    place = np.cumsum(answered) - 1
    kept = answered[part.item]
    table = np.full((part.n_people + judged.size, int(answered.sum())), np.nan)
    table[part.person[kept], place[part.item[kept]]] = part.value[kept]
    table[part.n_people :] = part.steps[np.ix_(judged, answered)]
    if panel.has_steps:
        low, step = float(panel.scale.low or 0.0), float(panel.scale.step or 1.0)
        return np.rint((table - low) / step)
    # Centred, so that large numbers with small differences keep their digits.
    return table - np.nanmean(table) if table.size else table


# Kappa from disagreement pooled over pairs, where pairs of people share few stimuli.
#
# The kappa of one pair is a ratio, and on few stimuli it is biased towards 0: its chance term
# holds the disagreement on the very same stimuli, which is a share 1/n of all. A model shares all
# stimuli of a person, another person only some, so a mean over pairs would put the model above
# people for no other reason. Pooled over pairs before dividing,
#
# .. math:: \kappa = 1 - \frac{\overline{(x_{ij} - x_{ik})^2}}{\overline{(x_{ij} - x_{i'k})^2}},
#
# with the mean over stimuli :math:`i \ne i'` and raters :math:`j \ne k`, each mean is unbiased on
# its own, whoever shares what with whom. A model takes the place of rater j on the same stimuli,
# with the same weights: those with two or more people, each counted with its answers.


LEAST_SHARED = 10
"""Stimuli with answers of two people that a label needs."""
_MOST_APART = 0.005
"""Difference of 1/n up to which means over pairs are compared: some 0.0025 of kappa."""
_ROWS = 32
"""Replicates that one task computes."""


def shares_little(panel: AlignmentPanel) -> bool:
    """Whether pairs of people share so much less than a person and a model that it would matter.

    The bias of a kappa on n stimuli is some -1/(2n), as simulations of people who agree by 0.6
    show. What is compared is the mean of 1/n over the pairs who meet, and over people with a model
    that answered everything.
    """
    if panel.n_people < 2:
        return False
    gaps = [_gap(part) for part in panel.parts]
    known = [gap for gap in gaps if gap is not None]
    return bool(known) and float(np.mean(known)) > _MOST_APART


def _gap(part: LabelPanel) -> float | None:
    if part.whole:
        return 0.0
    from scipy.sparse import csr_array, triu

    start, item, _ = part.by_person
    size = np.diff(start)
    table = csr_array(
        (np.ones(item.size, dtype=np.int64), item.astype(np.int64), start),
        shape=(part.n_people, part.n_items),
    )
    shared = triu(table @ table.T, k=1).data
    shared = shared[shared > 0]
    if not shared.size:
        return None
    return float((1 / shared).mean() - (1 / size[size > 0]).mean())


def pooled_kappas(panel: AlignmentPanel, draws: Copies) -> list[Agreements]:
    """Compute pooled kappa on every label."""
    return [_of_label(panel, part, draws) for part in panel.parts]


def _of_label(panel: AlignmentPanel, part: LabelPanel, draws: Copies) -> Agreements:
    sets, of_model = part.sets
    found = Agreements.unknown(part, draws.n_rows)
    met = np.bincount(part.item, minlength=part.n_items) > 1
    for g, answered in enumerate(sets):
        judged = np.flatnonzero(of_model == g)
        used = answered & met
        if used.sum() < LEAST_SHARED:
            continue
        for_models = part.steps[np.ix_(judged, used)]
        of_pairs, of_persons, of_models = _disagreement(panel, part, draws, used, for_models)
        single = _kappa(of_persons).T
        found.among[judged] = among = _kappa(of_pairs)
        found.models[judged] = _kappa(of_models).T
        found.beside[judged] = single[:, 0]
        if g == 0:
            found.people[:], found.persons[:] = among, single
    return found


def _disagreement(
    panel: AlignmentPanel, part: LabelPanel, draws: Copies, used: np.ndarray, judged: Floats
) -> tuple[Floats, Floats, Floats]:
    """Mean disagreement, observed and by chance: shapes (2, rows), (2, rows, k) and (2, rows, k).

    Two names are 0 or 1 apart, which is half the squared distance of their indicators: the levels
    of a nominal scale are indicators, one after the other.
    """
    from affectlab.core.compiled import in_threads
    from affectlab.evaluation.human_alignment.pooled_kappa_kernels import pooled_disagreement

    keep = used[part.item]
    person, value = part.person[keep], part.value[keep]
    size = np.bincount(part.item, minlength=part.n_items)[used]
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    if panel.ordered:
        # Centred, so that large numbers with small differences keep their digits.
        middle = value.mean()
        sides = [(value - middle, judged - middle)]
    else:
        levels = np.union1d(value, judged)
        sides = [((value == k).astype(np.float64), (judged == k) * 1.0) for k in levels]
    weights = np.ascontiguousarray(draws.stimuli[:, used])
    rows = draws.n_rows
    shapes = (2, rows), (2, rows, part.n_people), (2, rows, len(judged))
    totals = tuple(np.zeros(shape) for shape in shapes)

    def some_rows(first: int) -> None:
        where = slice(first, min(first + _ROWS, rows))
        for own, theirs in sides:
            found = [np.empty((2, where.stop - where.start, *shape[2:])) for shape in shapes]
            pooled_disagreement(
                start, person, own, theirs, weights[where], draws.raters[where], *found
            )
            for total, one in zip(totals, found, strict=True):
                total[:, where] += one

    in_threads(some_rows, range(0, rows, _ROWS))
    return totals[0], totals[1], totals[2]


def _kappa(disagreement: Floats) -> Floats:
    observed, chance = disagreement
    # What is left of differences of large sums is not disagreement.
    largest = np.nan_to_num(chance).max(initial=0.0)
    defined = chance > 1e-12 * largest
    kappa = np.divide(observed, chance, out=np.full(chance.shape, np.nan), where=defined)
    one_less: Floats = np.maximum(1.0 - kappa, -1.0)
    return one_less
