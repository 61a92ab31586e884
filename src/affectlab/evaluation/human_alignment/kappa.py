"""Kappa of pairs of people, and of people and models, in every replicate.

Quadratic kappa of two raters follows from sums of their answers, squares and products,

    kappa = (2 n Sxy - 2 Sx Sy) / (n (Sxx + Syy) - 2 Sx Sy),

so that it is enough to sum products of answers over the stimuli that count alike in all replicates,
once, and to add up these sums in each. On a scale without steps the same formula is Lin's
concordance correlation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.arrays import mean_of_defined, ratio
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.human_alignment.panel import Copies, LabelPanel, Panel

_EXACT = 1 << 24
"""Whole numbers up to here are exact in single precision."""
_FEW_SHARED = 1 / 8
"""Share of the stimuli that pairs share, below which lists of them are faster than matrices."""
_MOST_CELLS = 1 << 22
"""Pairs by replicates that are held at once."""


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


def kappas(panel: Panel, draws: Copies) -> list[Agreements]:
    """Compute kappa on every label."""
    return panel.of_each_label(lambda part: kappa_of_label(panel, part, draws))


def kappa_of_label(panel: Panel, part: LabelPanel, draws: Copies) -> Agreements:
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
        pairs = _Pairs(_table(panel, part, answered, judged), part.n_people)
        size = max(16, _MOST_CELLS // max(pairs.a.size, 1))
        for first_row in range(0, draws.n_rows, size):
            where = slice(first_row, min(first_row + size, draws.n_rows))
            # Kappas do not depend on how often people count.
            alike, row = np.unique(weights[where], axis=0, return_inverse=True)
            kappa = pairs.kappas(kind[answered], alike, n_levels)[:, row.reshape(-1)]
            of_people, of_models = np.split(kappa, [pairs.n_people])
            v = np.ascontiguousarray(copies[:, where])
            first, second = pairs.a[: pairs.n_people], pairs.b[: pairs.n_people]
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
    kappa: Floats, first: Ints, second: Ints, copies: Floats
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


def _table(panel: Panel, part: LabelPanel, answered: Bools, judged: Ints) -> Floats:
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


class _Pairs:
    """Pairs of people, then each model with every person."""

    def __init__(self, table: Floats, n_people: int) -> None:
        model = np.repeat(np.arange(n_people, len(table)), n_people)
        person = np.tile(np.arange(n_people), len(table) - n_people)
        first, second = np.triu_indices(n_people, 1)
        a, b = np.concatenate([first, person]), np.concatenate([second, model])
        self.table, self.present = table, ~np.isnan(table)
        together = self.present.astype(np.float32)
        shared = (together @ together.T)[a, b].astype(np.int64)
        # People who never meet take no part; models meet everybody, if only to be undefined.
        kept = (shared > 0) | (np.arange(a.size) >= first.size)
        self.a, self.b = a[kept].astype(np.int32), b[kept].astype(np.int32)
        self.shared = shared[kept]
        self.n_people = int(kept[: first.size].sum())

    def kappas(self, kind: Ints, weights: NDArray[np.uint8], n_levels: int) -> Floats:
        """Compute all kappas in some replicates, shape (pairs, replicates).

        Parameters
        ----------
        kind, weights
            The kind of each stimulus, and how often each kind counts, shape (replicates, kinds).
        n_levels
            How many names there are; 0 where answers have an order.
        """
        few = self.shared.sum() < _FEW_SHARED * self.a.size * self.table.shape[1]
        if n_levels or few:
            return self._from_lists(weights[:, kind].T, n_levels)
        return self._from_products(kind, weights)

    def _from_lists(self, weights: NDArray[np.uint8], n_levels: int) -> Floats:
        from affectlab.core.compiled import LANES, in_threads
        from affectlab.evaluation.human_alignment.kappa_kernels import (
            list_shared,
            nominal_lanes,
            quadratic_lanes,
        )

        where = np.concatenate([[0], np.cumsum(self.shared)]).astype(np.int64)
        item = np.empty(where[-1], dtype=np.int32)
        x, y = np.empty(where[-1]), np.empty(where[-1])
        start = np.concatenate([[0], np.cumsum(self.present.sum(axis=1))])
        answered = np.nonzero(self.present)[1].astype(np.int32)
        answers = start, answered, self.table[self.present]
        list_shared(*answers, self.a, self.b, where, item, x, y)
        out = np.empty((self.a.size, weights.shape[1]))

        def lanes(first: int) -> None:
            block = np.ascontiguousarray(weights[:, first : first + LANES], dtype=np.float64)
            kappa = np.empty((self.a.size, block.shape[1]))
            if n_levels:
                nominal_lanes(where, item, x, y, n_levels, block, kappa)
            else:
                quadratic_lanes(where, item, x, y, block, kappa)
            out[:, first : first + LANES] = kappa

        in_threads(lanes, range(0, weights.shape[1], LANES))
        return out

    def _from_products(self, kind: Ints, weights: NDArray[np.uint8]) -> Floats:
        x = np.where(self.present, self.table, 0.0)
        whole = bool((x == np.rint(x)).all())
        exact = whole and x.shape[1] * max(float(np.abs(x).max(initial=0.0)), 1.0) ** 2 < _EXACT
        sides: NDArray[np.floating[Any]] = np.stack([x, self.present, x**2]).astype(
            np.float32 if exact else np.float64
        )
        n_kinds = weights.shape[1]
        ends = np.cumsum(np.bincount(kind, minlength=n_kinds))
        of_kind = np.split(np.argsort(kind, kind="stable"), ends[:-1])
        sums = np.empty((n_kinds, 6, self.a.size))
        for k, stimuli in enumerate(of_kind):
            part = sides[:, :, stimuli].reshape(3 * len(x), -1)
            # Of x, whether there is an answer, and the square of x, each with each.
            by = (part @ part.T).reshape(3, len(x), 3, len(x))
            for out, one, other in zip(
                sums[k], (0, 1, 0, 1, 2, 1), (0, 1, 1, 0, 1, 2), strict=True
            ):
                out[:] = by[one, self.a, other, self.b]
        shape = 6, self.a.size, len(weights)
        totals = (sums.reshape(n_kinds, -1).T @ weights.T.astype(np.float64)).reshape(shape)
        products, n, of_a, of_b, squares_a, squares_b = totals
        cross = 2.0 * of_a * of_b
        both = n * (squares_a + squares_b)
        spread = both - cross
        products = products * (2.0 * n) - cross
        unknown = np.full(products.shape, np.nan)
        kappa: Floats = np.divide(products, spread, out=unknown, where=spread > 1e-12 * both)
        return kappa


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


def shares_little(panel: Panel) -> bool:
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


def pooled_kappas(panel: Panel, draws: Copies) -> list[Agreements]:
    """Compute pooled kappa on every label."""
    return [_of_label(panel, part, draws) for part in panel.parts]


def _of_label(panel: Panel, part: LabelPanel, draws: Copies) -> Agreements:
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
    panel: Panel, part: LabelPanel, draws: Copies, used: np.ndarray, judged: Floats
) -> tuple[Floats, Floats, Floats]:
    """Mean disagreement, observed and by chance: shapes (2, rows), (2, rows, k) and (2, rows, k).

    Two names are 0 or 1 apart, which is half the squared distance of their indicators: the levels
    of a nominal scale are indicators, one after the other.
    """
    from affectlab.core.compiled import in_threads
    from affectlab.evaluation.human_alignment.kappa_kernels import pooled_disagreement

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
