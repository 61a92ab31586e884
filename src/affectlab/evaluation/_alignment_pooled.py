r"""Kappa from disagreement pooled over pairs, where pairs of people share few stimuli.

The kappa of one pair is a ratio, and on few stimuli it is biased towards 0: its chance term holds
the disagreement on the very same stimuli, which is a share 1/n of all. A model shares all stimuli
of a person, another person only some, so a mean over pairs would put the model above people for no
other reason. Pooled over pairs before dividing,

.. math:: \kappa = 1 - \frac{\overline{(x_{ij} - x_{ik})^2}}{\overline{(x_{ij} - x_{i'k})^2}},

with the mean over stimuli :math:`i \ne i'` and raters :math:`j \ne k`, each mean is unbiased on its
own, whoever shares what with whom. A model takes the place of rater j on the same stimuli, with the
same weights: those with two or more people, each counted with its answers.
"""

from __future__ import annotations

import numpy as np

from affectlab._types import Floats
from affectlab.evaluation._alignment_draws import Draws
from affectlab.evaluation._alignment_kappa import Agreements
from affectlab.evaluation._alignment_panel import LabelPanel, Panel

__all__ = ["LEAST_SHARED", "pooled_kappas", "shares_little"]

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


def pooled_kappas(panel: Panel, draws: Draws) -> list[Agreements]:
    """Compute pooled kappa on every label."""
    return [_of_label(panel, part, draws) for part in panel.parts]


def _of_label(panel: Panel, part: LabelPanel, draws: Draws) -> Agreements:
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
    panel: Panel, part: LabelPanel, draws: Draws, used: np.ndarray, judged: Floats
) -> tuple[Floats, Floats, Floats]:
    """Mean disagreement, observed and by chance: shapes (2, rows), (2, rows, k) and (2, rows, k).

    Two names are 0 or 1 apart, which is half the squared distance of their indicators: the levels
    of a nominal scale are indicators, one after the other.
    """
    from affectlab._compiled import in_threads
    from affectlab.evaluation._kernels._align_pooled import pooled_disagreement

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
    weights = np.ascontiguousarray(draws.items[:, used])
    rows = draws.n_rows
    shapes = (2, rows), (2, rows, part.n_people), (2, rows, len(judged))
    totals = tuple(np.zeros(shape) for shape in shapes)

    def some_rows(first: int) -> None:
        where = slice(first, min(first + _ROWS, rows))
        for own, theirs in sides:
            found = [np.empty((2, where.stop - where.start, *shape[2:])) for shape in shapes]
            pooled_disagreement(
                start, person, own, theirs, weights[where], draws.people[where], *found
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
