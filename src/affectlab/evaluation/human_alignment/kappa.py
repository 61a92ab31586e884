"""Kappa of pairs of people, and of people and models, in every replicate.

Quadratic kappa of two raters follows from sums of their answers, squares and products,

    kappa = (2 n Sxy - 2 Sx Sy) / (n (Sxx + Syy) - 2 Sx Sy),

so that all replicates are one product of two matrices: answers by stimuli, and stimuli by
replicates. On a scale without steps the same formula is Lin's concordance correlation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affectlab.core.inference import CrossedDraws
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.human_alignment.panel import LabelPanel, Panel

__all__ = [
    "LEAST_SHARED",
    "Agreements",
    "kappa_of_label",
    "kappas",
    "pooled_kappas",
    "shares_little",
]

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


@dataclass(frozen=True)
class _Raters:
    """People, then models, on some of the stimuli; places of stimuli count from 0."""

    start: Ints
    item: NDArray[np.int32]
    value: Floats
    n_items: int

    @property
    def n_raters(self) -> int:
        return self.start.size - 1

    def dense(self) -> Floats:
        """Answers by rater and stimulus, ``nan`` where there is none."""
        table = np.full((self.n_raters, self.n_items), np.nan)
        rater = np.repeat(np.arange(self.n_raters), np.diff(self.start))
        table[rater, self.item] = self.value
        return table


def kappas(panel: Panel, draws: CrossedDraws) -> list[Agreements]:
    """Compute kappa on every label."""
    draws.prepare()
    return panel.of_each_label(lambda part: kappa_of_label(panel, part, draws))


def kappa_of_label(panel: Panel, part: LabelPanel, draws: CrossedDraws) -> Agreements:
    """Compute the agreement of models with people and of people with people on one label.

    A pair of people counts with the product of their numbers of copies, and a person never meets
    a copy of theirs: two copies of one person always agree, which says nothing about people.
    """
    from affectlab.evaluation.human_alignment.kappa_kernels import mean_of_pairs, mean_over_people

    sets, of_model = part.sets
    n_models, rows = of_model.size, draws.n_rows
    models, among = np.full((n_models, rows), np.nan), np.full((n_models, rows), np.nan)
    people, persons = np.full(rows, np.nan), np.full((part.n_people, rows), np.nan)
    beside = np.full((n_models, part.n_people), np.nan)
    copies = np.ascontiguousarray(draws.raters.T, dtype=np.float64)
    first, second = np.triu_indices(part.n_people, 1)
    for g, answered in enumerate(sets):
        judged = np.flatnonzero(of_model == g)
        raters = _raters(panel, part, answered, judged)
        pairs = _Pairs(raters, part.n_people, first, second)
        keep = np.flatnonzero(answered)
        n_levels = 0 if panel.ordered else panel.scale.levels().size
        for where, weights in draws.blocks(max(16, _MOST_CELLS // max(pairs.n, 1))):
            block = weights if keep.size == answered.size else weights[keep]
            kappa = pairs.kappas(block, n_levels)
            of_people, of_models = kappa[: pairs.n_people], kappa[pairs.n_people :]
            v = np.ascontiguousarray(copies[:, where])
            mean, single = np.empty(kappa.shape[1]), np.empty((part.n_people, kappa.shape[1]))
            mean_of_pairs(of_people, pairs.first, pairs.second, v, mean, single)
            among[judged, where] = mean
            by_model = of_models.reshape(judged.size, part.n_people, kappa.shape[1])
            of_judged = np.empty((judged.size, kappa.shape[1]))
            mean_over_people(by_model, v, of_judged)
            models[judged, where] = of_judged
            if g == 0:
                people[where] = mean
                persons[:, where] = single
            if where.start == 0:
                beside[judged] = single[:, 0]
    return Agreements(models, among, people, persons, beside)


def _raters(panel: Panel, part: LabelPanel, answered: Bools, judged: Ints) -> _Raters:
    """List people and models of one set of stimuli, as levels from 0 where there are any."""
    start, item, value = part.by_person
    place = np.cumsum(answered) - 1
    kept = answered[item]
    counts = np.add.reduceat(np.append(kept, False), start[:-1]) if kept.size else 0 * start[:-1]
    counts = np.where(np.diff(start) > 0, counts, 0)
    n_items = int(answered.sum())
    start = np.concatenate([[0], np.cumsum(np.append(counts, [n_items] * judged.size))])
    items = [place[item[kept]], np.tile(np.arange(n_items), judged.size)]
    values = np.concatenate([value[kept], part.steps[np.ix_(judged, answered)].ravel()])
    if panel.has_steps:
        low, step = float(panel.scale.low or 0.0), float(panel.scale.step or 1.0)
        values = np.rint((values - low) / step)
    elif values.size:
        # Centred, so that large numbers with small differences keep their digits.
        values = values - values.mean()
    return _Raters(start.astype(np.int64), np.concatenate(items).astype(np.int32), values, n_items)


class _Pairs:
    """Pairs of people, then each model with every person."""

    def __init__(self, raters: _Raters, n_people: int, first: Ints, second: Ints) -> None:
        from affectlab.evaluation.human_alignment.kappa_kernels import count_shared

        n_models = raters.n_raters - n_people
        model = np.repeat(np.arange(n_people, raters.n_raters), n_people)
        person = np.tile(np.arange(n_people), n_models)
        a = np.concatenate([first, person]).astype(np.int32)
        b = np.concatenate([second, model]).astype(np.int32)
        self.raters = raters
        whole = bool((np.diff(raters.start) == raters.n_items).all())
        shared = np.full(a.size, raters.n_items, dtype=np.int64)
        if not whole:
            count_shared(raters.start, raters.item, a, b, shared)
        # People who never meet take no part; models meet everybody, if only to be undefined.
        met = shared[: first.size] > 0
        kept = np.concatenate([met, np.ones(person.size, dtype=np.bool_)])
        self.a, self.b = a[kept], b[kept]
        self.n_people = int(met.sum())
        self.first, self.second = self.a[: self.n_people], self.b[: self.n_people]
        self.n = self.a.size
        self.whole = whole
        self.shared = shared[kept]

    def kappas(self, weights: NDArray[np.float32], n_levels: int) -> Floats:
        """Compute all kappas in some replicates, shape (pairs, replicates)."""
        few = self.shared.sum() < _FEW_SHARED * self.n * self.raters.n_items
        if n_levels or few:
            return self._from_lists(weights, n_levels)
        return self._from_products(weights)

    def _from_lists(self, weights: NDArray[np.float32], n_levels: int) -> Floats:
        from affectlab.core.compiled import LANES, in_threads
        from affectlab.evaluation.human_alignment.kappa_kernels import (
            list_shared,
            nominal_lanes,
            quadratic_lanes,
        )

        where = np.concatenate([[0], np.cumsum(self.shared)]).astype(np.int64)
        item = np.empty(where[-1], dtype=np.int32)
        x, y = np.empty(where[-1]), np.empty(where[-1])
        raters = self.raters
        list_shared(raters.start, raters.item, raters.value, self.a, self.b, where, item, x, y)
        out = np.empty((self.n, weights.shape[1]))

        def lanes(first: int) -> None:
            block = np.ascontiguousarray(weights[:, first : first + LANES], dtype=np.float64)
            kappa = np.empty((self.n, block.shape[1]))
            if n_levels:
                nominal_lanes(where, item, x, y, n_levels, block, kappa)
            else:
                quadratic_lanes(where, item, x, y, block, kappa)
            out[:, first : first + LANES] = kappa

        in_threads(lanes, range(0, weights.shape[1], LANES))
        return out

    def _from_products(self, weights: NDArray[np.float32]) -> Floats:
        x = self.raters.dense()
        present = ~np.isnan(x)
        x = np.where(present, x, 0.0)
        largest = float(np.abs(x).max(initial=0.0))
        whole = bool((x == np.rint(x)).all())
        heaviest = float(weights.sum(axis=0).max(initial=0.0))
        exact = whole and heaviest * max(largest, 1.0) ** 2 < _EXACT
        w = weights if exact else weights.astype(np.float64)
        x = x.astype(w.dtype)
        a, b = self.a, self.b
        products = (x[a] * x[b]) @ w
        moments = _Moments(x, present, w)
        if moments.whole:
            from affectlab.evaluation.human_alignment.kappa_kernels import quadratic_of_sums

            found = np.empty(products.shape)
            quadratic_of_sums(products, moments.total, moments.sums, moments.squares, a, b, found)
            return found
        products = products.astype(np.float64)
        n, of_a, squares_a = moments.on_items_of(a, b)
        _, of_b, squares_b = moments.on_items_of(b, a)
        cross = 2.0 * of_a * of_b
        squares = n * (squares_a + squares_b)
        spread = squares - cross
        products *= 2.0 * n
        products -= cross
        defined = spread > 1e-12 * squares
        kappa: Floats = np.divide(
            products, spread, out=np.full(products.shape, np.nan), where=defined
        )
        return kappa


class _Moments:
    """Weighted sums of the answers of a rater over the stimuli that another rater answered."""

    def __init__(self, x: NDArray[np.floating], present: Bools, w: NDArray[np.floating]) -> None:
        self.whole = bool(present.all())
        n_raters = len(x)
        if self.whole:
            total = w.sum(axis=0, dtype=np.float64)
            both = np.concatenate([x, x * x]) @ w
            self.total = total
            self.sums = both[:n_raters].astype(np.float64)
            self.squares = both[n_raters:].astype(np.float64)
            return
        stacked = np.concatenate([present.astype(x.dtype), x, x * x])
        everything = (stacked @ w).astype(np.float64)
        # Sums over the stimuli of rater b, or over those missing, whichever are fewer.
        shape = (n_raters, 3, n_raters, w.shape[1])
        self.on_b = np.empty(shape)
        for b, here in enumerate(present):
            fewer = here if 2 * here.sum() <= here.size else ~here
            part = (stacked[:, fewer] @ w[fewer]).astype(np.float64)
            part = part if fewer is here else everything - part
            self.on_b[b] = part.reshape(shape[1:])

    def on_items_of(self, a: Ints, b: Ints) -> tuple[Floats, Floats, Floats]:
        """Number, sum and sum of squares of the answers of `a` on the stimuli of `b`.

        Where all answered everything, they do not depend on `b`: see ``total`` and so on.
        """
        return self.on_b[b, 0, a], self.on_b[b, 1, a], self.on_b[b, 2, a]


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


def pooled_kappas(panel: Panel, draws: CrossedDraws) -> list[Agreements]:
    """Compute pooled kappa on every label."""
    return [_of_label(panel, part, draws) for part in panel.parts]


def _of_label(panel: Panel, part: LabelPanel, draws: CrossedDraws) -> Agreements:
    sets, of_model = part.sets
    rows, n_models = draws.n_rows, of_model.size
    models, among = np.full((n_models, rows), np.nan), np.full((n_models, rows), np.nan)
    people, persons = np.full(rows, np.nan), np.full((part.n_people, rows), np.nan)
    beside = np.full((n_models, part.n_people), np.nan)
    met = np.bincount(part.item, minlength=part.n_items) > 1
    for g, answered in enumerate(sets):
        judged = np.flatnonzero(of_model == g)
        used = answered & met
        if used.sum() < LEAST_SHARED:
            continue
        for_models = part.steps[np.ix_(judged, used)]
        of_pairs, of_persons, of_models = _disagreement(panel, part, draws, used, for_models)
        found = _kappa(of_pairs)
        single = _kappa(of_persons).T
        among[judged] = found
        models[judged] = _kappa(of_models).T
        beside[judged] = single[:, 0]
        if g == 0:
            people, persons = found, np.ascontiguousarray(single)
    return Agreements(models, among, people, persons, beside)


def _disagreement(
    panel: Panel, part: LabelPanel, draws: CrossedDraws, used: np.ndarray, judged: Floats
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
