"""Interrater correlation: how well each rater goes along with the mean of the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Formula, Reason
from affectlab.core.inference import Target, check_confidence, infer
from affectlab.core.statistic import STIMULI_AND_RATERS, Design, Draws, Statistic, by_formula
from affectlab.core.types import Bools, Floats, Ints
from affectlab.ratings import (
    Answers,
    ClusterLike,
    Ratings,
    answers_of,
    numeric_part,
    of_known_raters,
    require_order,
    stimulus_clusters,
)
from affectlab.reliability.agreement import interval_reasons, with_coverage
from affectlab.reliability.rank_correlation import (
    fisher_interval,
    grouped_means,
    grouped_spearman,
    rounding_digits,
    spearman_of_counts,
)
from affectlab.reliability.wording import DEFINED_RATER, INTERRATER

# Interrater correlation of many ratings with few distinct values, without sorting.


_FEW_ANSWERS = 1 << 15
"""Below this, loading compiled code takes longer than the work."""
_MOST_WORDS = 1 << 24
_MOST_CODES = 1024
_MOST_CELLS = 1 << 23


@dataclass(frozen=True)
class Correlations:
    """Correlations of raters with the others; arrays have shape (labels x raters,)."""

    labels: tuple[str, ...]
    raters: tuple[str, ...]
    value: Floats
    """``nan`` where a side is constant."""
    n: Ints
    """Examples that the rater shares with others."""
    rated: Ints
    """Ratings of the rater, shared or not."""
    items: Ints
    """Examples with two ratings or more, shape (labels,)."""


@dataclass(frozen=True, eq=False)
class Counting:
    """Coded answers, of which pairs of an answer and the mean of the others are counted."""

    answers: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
    """Codes of label, unit and rater of each answer, in any order."""
    code: NDArray[np.int16]
    """Codes of the values, -1 of answers that do not count."""
    total: Ints
    """Sum of the codes, by unit and label."""
    size: NDArray[np.int32]
    """Number of the answers, by unit and label."""
    place: NDArray[np.int32]
    """Place of each mean of others, by number of answers and sum of the others."""
    rated: Ints
    """Answers that count, shape (labels, raters)."""
    n_codes: int
    n_means: int

    @classmethod
    def of(
        cls,
        answers: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
        value: Floats,
        names: tuple[Sequence[str], Sequence[str]],
        n_units: int,
        used: NDArray[np.bool_],
    ) -> Counting | None:
        """Code answers.

        Parameters
        ----------
        answers
            Codes of label, unit and rater of each answer, in any order.
        value
            The answers.
        names
            Names of labels and of raters.
        n_units
            Number of units.
        used
            Which labels count.

        Returns
        -------
        ``None`` where there are few ratings, or values that are no multiples of a quarter point or
        lie too far apart, or a panel so sparse that one bit per label, unit and rater is too much.
        """
        n_labels, n_raters = (len(of) for of in names)
        n_words = n_labels * n_units * (n_raters // 64 + 1)
        if value.size < _FEW_ANSWERS or n_words > _MOST_WORDS:
            return None
        low, per_point = float(value.min()), _per_point(value[:_MOST_CODES])
        n_codes = int((value.max() - low) * per_point) + 1
        if n_codes > _MOST_CODES:
            return None
        from affectlab.core.compiled import in_threads, n_threads
        from affectlab.reliability.correlation.interrater_kernels import code_first

        total = np.zeros(n_labels * n_units, dtype=np.int64)
        size = np.zeros(n_labels * n_units, dtype=np.int32)
        code = np.empty(value.size, dtype=np.int16)
        seen = np.zeros((n_labels * n_units, n_raters // 64 + 1), dtype=np.uint64)
        n_shares = n_threads()
        rated = np.zeros((n_shares, n_labels, n_raters), dtype=np.int64)
        whole = [False] * n_shares

        def code_units(k: int) -> None:
            whole[k] = code_first(
                *answers,
                value,
                used,
                low,
                per_point,
                k * n_units // n_shares,
                (k + 1) * n_units // n_shares,
                seen,
                total,
                size,
                rated[k],
                code,
            )

        in_threads(code_units, range(n_shares))
        if not all(whole):
            return None
        place, n_means = _places_of_means(total, size, n_codes)
        if n_labels * n_raters * n_codes * n_means > _MOST_CELLS:
            return None
        return cls(answers, code, total, size, place, rated.sum(axis=0), n_codes, n_means)

    @cached_property
    def tables(self) -> NDArray[np.int32]:
        """Counts of all answers by code and mean of the others, shape (labels x raters, …)."""
        from affectlab.core.compiled import in_threads, n_threads

        n_shares = n_threads()
        tables: list[Any] = [None] * n_shares
        ends = np.linspace(0, self.code.size, n_shares + 1).astype(np.int64)

        def count(k: int) -> None:
            tables[k] = self.counted(slice(ends[k], ends[k + 1]))

        in_threads(count, range(n_shares))
        return reduce(np.add, tables)

    def counted(self, rows: slice | Ints) -> NDArray[np.int32]:
        """Counts of some answers; the means are those of all."""
        from affectlab.reliability.correlation.interrater_kernels import count_codes

        table = np.zeros((*self.rated.shape, self.n_codes, self.n_means), dtype=np.int32)
        label, unit, rater = (part[rows] for part in self.answers)
        count_codes(label, unit, rater, self.code[rows], self.total, self.size, self.place, table)
        return table.reshape(-1, self.n_codes, self.n_means)

    def correlations(self, names: tuple[Sequence[str], Sequence[str]]) -> Correlations:
        """Correlations from all answers."""
        rho, n = spearman_of_counts(self.tables.transpose(1, 2, 0))
        items = (self.size.reshape(-1, len(self.rated)) >= 2).sum(axis=0).astype(np.int64)
        labels, raters = map(tuple, names)
        return Correlations(labels, raters, rho, n.astype(np.int64), self.rated.ravel(), items)


def _per_point(value: Floats) -> float:
    """Whole numbers within one point of the values: 1, or 2 or 4 where they come in halves."""
    away = value - value[0]
    return next((by for by in (1.0, 2.0) if (away * by == np.rint(away * by)).all()), 4.0)


def _places_of_means(
    total: Ints, size: NDArray[np.int32], n_codes: int
) -> tuple[NDArray[np.int32], int]:
    """Place of each mean of others among all of them, by number of answers and sum of the others.

    Equal means are quotients of whole numbers, and so tie exactly.
    """
    known = np.zeros((int(size.max(initial=0)) + 1, int(total.max(initial=0)) + 1), dtype=np.bool_)
    known[size, total] = True
    number, sums = np.nonzero(known)
    rest = sums[:, None] - np.arange(n_codes)
    some = (number[:, None] > 1) & (rest >= 0)
    number, rest = np.broadcast_to(number[:, None], rest.shape)[some], rest[some]
    means, which = np.unique(rest / (number - 1), return_inverse=True)
    place = np.zeros(known.shape, dtype=np.int32)
    place[number, rest] = which
    return place, max(means.size, 1)


_MOST_LEFT_OUT = 40
"""Stimuli and raters up to which each is left out by itself."""


@of_known_raters
def interrater_correlation(
    ratings: Ratings | ArrayLike,
    *,
    exclude: Collection[str] = ("neutral",),
    by_rater: bool = False,
    min_items: int = 2,
    target: Target = "both",
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    r"""Compute the interrater correlation of each label.

    For label e and rater r, with :math:`J_r` the examples that r and somebody else rated,

    .. math::

        \rho_{er} = \mathrm{Spearman}_{j \in J_r}
            \Bigl(x_{rje},\; \tfrac{1}{n_{je} - 1} \sum_{s \ne r} x_{sje}\Bigr),

    and the value is the mean of :math:`\rho_{er}` over the raters for whom it is defined.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating.
    exclude
        Labels that are left out; ``neutral`` by default, as in the paper.
    by_rater
        Give the correlation of every rater instead of the means.
    min_items
        Examples that a rater must share with others for a correlation.
    target
        What the intervals of labels are about: other ``"stimuli"``, other ``"raters"`` of as large
        a panel, or ``"both"``; ``"sample"`` for none.
    confidence
        Coverage of the intervals.
    cluster
        What stimuli belong to, and are drawn and left out with: a column of the stimulus table, or
        a mapping from stimulus to cluster; ``"none"`` for stimuli drawn one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.
    seed
        Seed of the groups in which more than 40 stimuli, or raters, are left out.

    Returns
    -------
    Estimates in [-1, 1]. By ``label``: ``n_raters`` counts the raters with a defined correlation
    and the extra column ``n_undefined`` the others who rated; intervals come from leaving out
    stimuli, raters or either (see :func:`~affectlab.core.inference.infer`). Two raters tell nothing
    of others: an interval for both is then about these two. By ``label`` and ``rater``: one row per
    rater who rated the label, with Fisher's interval (Bonett and Wright 2000).

    References
    ----------
    Demszky et al. (2020), GoEmotions, section 4.1.

    Examples
    --------
    >>> table = interrater_correlation([[1, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 5]])
    >>> round(table["rating"].value, 4)
    0.755
    >>> interrater_correlation([[1, 2, 3, 4], [1, 1, 1, 1]])["rating"].status
    <Status.UNDEFINED: 'undefined'>
    """
    check_confidence(confidence)
    found, value = _correlations(ratings, exclude, min_items)
    if by_rater:
        return _rater_table(found, value, confidence)
    used = used_labels(found.labels, exclude)
    return _Means(ratings, used, min_items).estimates(
        found, value, target=target, cluster=cluster, confidence=confidence, seed=seed
    )


def of_labels_and_raters(ratings: Ratings) -> tuple[Estimates, Estimates]:
    """Correlate raters once for both tables of :func:`interrater_correlation`, on all labels.

    That of labels has no intervals.
    """
    found, value = _correlations(ratings, (), 2)
    means = _Means(ratings, used_labels(found.labels, ()), 2)
    of_labels = means.estimates(found, value, target="sample", cluster=None)
    return of_labels, _rater_table(found, value, 0.95)


def _correlations(
    data: Ratings | ArrayLike, exclude: Collection[str], min_items: int
) -> tuple[Correlations, Floats]:
    """Correlate every rater; the second part leaves out those who share few examples."""
    require_order(data, "interrater correlation")
    found = _found(data, exclude)
    return found, np.where(found.n >= max(min_items, 2), found.value, np.nan)


def _found(data: Ratings | ArrayLike, exclude: Collection[str]) -> Correlations:
    """Correlate by counting where that is possible, otherwise by ranking sorted answers."""
    if isinstance(data, Ratings):
        data = numeric_part(data).answers()
        names = data.label_names, data.rater_names
        counting = Counting.of(
            (data.label_code, data.stimulus_code, data.rater_code),
            np.asarray(data.value, dtype=np.float64),
            names,
            data.n_stimuli,
            used_labels(data.label_names, exclude),
        )
        if counting is not None:
            return counting.correlations(names)
    answers = answers_of(data)
    used = used_labels(answers.labels, exclude)
    return _by_rater(answers.take(used[answers.label]))


def used_labels(labels: Sequence[str], exclude: Collection[str]) -> NDArray[np.bool_]:
    """Say which labels are not excluded; ``neutral`` need not be there."""
    for name in exclude:
        if name not in labels and name != "neutral":
            raise unknown_name("label", name, labels, "exclude")
    return np.array([name not in exclude for name in labels], dtype=np.bool_)


def _by_rater(answers: Answers) -> Correlations:
    n_raters = len(answers.raters)
    n_groups = len(answers.labels) * n_raters
    rated = np.bincount(answers.label * n_raters + answers.rater, minlength=n_groups)
    kept = answers.take(answers.cell_sizes() >= 2)
    others = _mean_of_others(kept)
    group = kept.label * n_raters + kept.rater
    value, n = grouped_spearman(kept.value, others, group, n_groups)
    items = np.array([(np.bincount(part.unit) >= 2).sum() for part in answers.by_label()])
    return Correlations(answers.labels, answers.raters, value, n, rated, items)


def _mean_of_others(answers: Answers) -> Floats:
    """Mean of the other ratings of the same unit and label, for every rating, rounded."""
    cell = answers.cell
    total = np.bincount(cell, weights=answers.value)[cell]
    mean = (total - answers.value) / (np.bincount(cell)[cell] - 1)
    return np.round(mean, rounding_digits(float(np.abs(answers.value).max(initial=0.0))))


@dataclass(frozen=True, eq=False)
class _Means:
    """Mean correlations of labels, of all answers or of some."""

    ratings: Ratings | ArrayLike
    used: NDArray[np.bool_]
    """Which labels count."""
    min_items: int

    @cached_property
    def answers(self) -> Answers:
        """The answers in order, which the point does not need."""
        whole = isinstance(self.ratings, Ratings)
        return answers_of(numeric_part(self.ratings) if whole else self.ratings)  # type: ignore[arg-type]

    def estimates(
        self,
        found: Correlations,
        value: Floats,
        *,
        target: Target,
        cluster: ClusterLike,
        **options: Any,
    ) -> Estimates:
        """Give the means with intervals; what is found of all answers is not computed again."""
        names, used = found.labels, self.used
        known = ~np.isnan(value).reshape(len(names), -1)[used]
        n, rated = (part.reshape(len(names), -1)[used] for part in (found.n, found.rated))
        whole = self._means(value)

        def evaluate(draws: Draws) -> Floats:
            if draws.is_point:
                return whole[None, :]
            return np.stack([self._without(draws, row) for row in range(draws.n_rows)])

        statistic = Statistic(
            keys={"label": [name for name, one in zip(names, used, strict=True) if one]},
            # Ordering all answers takes longer than the point, which leaves nobody out.
            design=Design.of([], 0, [], 0) if target == "sample" else self._design,
            evaluate=evaluate,
            method=[(INTERRATER, "mean over raters")] * whole.size,
            n_items=found.items[used],
            n_raters=known.sum(axis=1),
            n_ratings=np.where(known, n, 0).sum(axis=1),
            undefined=Reason(Cause.NONE, of=DEFINED_RATER),
            targets=STIMULI_AND_RATERS,
            n_groups=_MOST_LEFT_OUT,
            corrects_raters=False,
            no_interval=() if target == "sample" else self._why_no_interval,
            columns=(pl.Series("n_undefined", ((rated > 0) & ~known).sum(axis=1), dtype=pl.Int64),),
        )
        options["target"] = target
        if target == "sample":
            return infer(statistic, interval="jackknife", **options)
        of = stimulus_clusters(self.ratings, cluster)
        clusters = of.on(self.answers.units)
        table = infer(statistic, interval="jackknife", clusters=clusters, **options)
        table = replace(table, notes=of.notes_for(table.frame["target"]))
        return with_coverage(table, "interrater_correlation", target, self.answers, clusters)

    @cached_property
    def _codes(self) -> list[NDArray[np.int32]]:
        """Codes of label, unit and rater of each answer, as counting takes them."""
        answers = self.answers
        return [part.astype(np.int32) for part in (answers.label, answers.unit, answers.rater)]

    @cached_property
    def _parts(self) -> list[Answers]:
        """The answers of each label that is used."""
        return [part for part, one in zip(self.answers.by_label(), self.used, strict=True) if one]

    @property
    def _design(self) -> Design:
        return Design.of(
            [np.unique(part.unit) for part in self._parts],
            len(self.answers.units),
            [np.unique(part.rater) for part in self._parts],
            len(self.answers.raters),
        )

    @property
    def _why_no_interval(self) -> list[Reason | None]:
        return interval_reasons((part.unit, part.value) for part in self._parts)

    def _means(self, value: Floats) -> Floats:
        """Mean over raters of each label that is used."""
        value = value.reshape(self.used.size, -1)[self.used]
        known = ~np.isnan(value)
        k, mean, _ = grouped_means(value[known], np.nonzero(known)[0], len(value))
        return np.where(k > 0, mean, np.nan)

    def _counting(self, rows: Bools | slice) -> Counting | None:
        """Code the answers in some rows, where counting does."""
        answers = self.answers
        label, unit, rater = (part[rows] for part in self._codes)
        names = answers.labels, answers.raters
        return Counting.of(
            (label, unit, rater), answers.value[rows], names, len(answers.units), self.used
        )

    @cached_property
    def _whole(self) -> Counting | None:
        return self._counting(slice(None))

    @cached_property
    def _rows_of_units(self) -> tuple[Ints, Ints]:
        """Rows of the answers by unit, and where those of each unit begin."""
        unit = self.answers.unit
        ends = np.arange(len(self.answers.units) + 1)
        order = np.argsort(unit, kind="stable")
        return order, np.searchsorted(unit[order], ends)

    def _without(self, draws: Draws, row: int) -> Floats:
        """Compute the means of the stimuli and raters that count in a row."""
        answers, least = self.answers, max(self.min_items, 2)
        if draws.stimulus is not None:
            out = draws.stimulus[row] == 0
            if self._whole is not None:
                # What answers of other stimuli say does not change: the counts of these go.
                order, start = self._rows_of_units
                gone = [order[start[k] : start[k + 1]] for k in np.flatnonzero(out)]
                left = self._whole.tables - self._whole.counted(np.concatenate(gone))
                value, n = spearman_of_counts(left.transpose(1, 2, 0))
                return self._means(np.where(n >= least, value, np.nan))
            kept = ~out[answers.unit]
        else:
            assert draws.rater is not None
            kept = draws.rater[row][answers.rater] > 0
        counting = self._counting(kept)
        found = (
            _by_rater(answers.take(kept))
            if counting is None
            else counting.correlations((answers.labels, answers.raters))
        )
        return self._means(np.where(found.n >= least, found.value, np.nan))


def _rater_table(found: Correlations, value: Floats, confidence: float) -> Estimates:
    rows = np.flatnonzero(found.rated > 0)
    label, rater = np.divmod(rows, len(found.raters))
    value, n = value[rows], found.n[rows]
    few, constant = (
        Reason(Cause.FEWER, least=2, of="shared examples"),
        Reason(Cause.CONSTANT, of="ratings"),
    )
    statistic = by_formula(
        value,
        lambda _, level: fisher_interval(value, n, level),
        keys={
            "label": [found.labels[k] for k in label],
            "rater": [found.raters[k] for k in rater],
        },
        method=[INTERRATER] * n.size,
        formula=Formula.FISHER_Z,
        n_items=n,
        n_raters=[1] * n.size,
        n_ratings=n,
        undefined=[few if shared < 2 else constant for shared in n.tolist()],
    )
    return infer(statistic, interval="analytic", confidence=confidence)
