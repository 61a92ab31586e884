"""Inter-subject correlation: do two random halves of the ratings score stimuli alike?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.arrays import mean_of_defined
from affectlab.core.errors import InputError, check_choice, check_number, unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Target, by_name, check_confidence, infer
from affectlab.core.jackknife import Jackknife, LeaveOneOut
from affectlab.core.statistic import FEWEST_CLUSTERS, Clusters, Ends, by_formula
from affectlab.core.tables import Number
from affectlab.core.types import Floats, Ints
from affectlab.ratings import (
    ClusterLike,
    Ratings,
    canonical,
    of_known_raters,
    require_order,
    stimulus_clusters,
)
from affectlab.reliability.agreement.moments import spearman_brown
from affectlab.reliability.agreement.wording import (
    CORRELATION_OF_HALVES,
    HALF_SCORES,
    IN_BOTH_HALVES,
    SPEARMAN_BROWN,
    collapsed_halves,
    halves_text,
    splits,
)
from affectlab.reliability.subject_models import (
    FITS,
    Fitted,
    Grouped,
    SubjectPanel,
    only_present,
    panels_of,
    sweeping,
)


@dataclass(frozen=True, eq=False)
class Half:
    """One half of the ratings, as a scorer gets it; the arrays have one entry per rating."""

    stimulus: Ints
    """Codes from 0 to ``n_stimuli`` - 1."""
    rater: NDArray[np.int32]
    """Codes from 0 to ``n_raters`` - 1."""
    value: Floats
    n_stimuli: int
    n_raters: int


Scorer: TypeAlias = Callable[[Half], ArrayLike]
"""Gives a score for each stimulus, shape (n_stimuli,), ``nan`` where it has none."""

_MOST_LEFT_OUT = 40
"""Stimuli, and raters, up to which each is left out by itself, and groups of them beyond."""
_FEWEST_RATERS = 3
_DEALT_AGAIN = 6
"""Raters up to which halves are dealt anew without one of them."""
_SPLITS_WITHOUT = 10
"""Splits that are scored anew without each rater."""
_METHODS = ("reml", "p910", "mle", "mean")
_TOO_FEW = Reason(Cause.FEWER, least=2, of=IN_BOTH_HALVES)
_CONSTANT = Reason(Cause.CONSTANT, of=HALF_SCORES)


@of_known_raters
def split_half(
    ratings: Ratings | ArrayLike,
    *,
    scorer: str | Scorer = "reml",
    n_splits: int = 50,
    seed: int | np.random.Generator | None = 0,
    by_label: bool = True,
    target: Target = "both",
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    max_iter: int = 1000,
    tol: float = 1e-8,
) -> Estimates:
    r"""Compute the inter-subject correlation from random halves of each stimulus's ratings.

    Every stimulus's ratings are dealt at random into two equal halves; each half is scored on its
    own; the scores of the halves are correlated (Spearman) over stimuli. The value is the mean over
    splits, :math:`\bar\rho`.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; of a rater's answers to the same stimulus the
        first counts), or an array of shape (raters, units) with ``nan`` where there is no rating.
    scorer
        How halves are scored: ``reml``, ``p910``, ``mle`` or ``mean``.

        The first three are those of :func:`subject_model`, which needs two ratings of a stimulus: a
        half with one of each is scored by these. A function from a half (with ``stimulus``,
        ``rater``, ``value``, ``n_stimuli`` and ``n_raters``) to scores is taken, too.
    n_splits
        Number of random splits.
    seed
        Seed or generator; the same seed gives the same bytes, however many threads there are.
    by_label
        One correlation per label, or one over all stimuli and labels.
    target
        What the interval is about: other ``"stimuli"``, other ``"raters"`` of as large a panel, or
        ``"both"``; ``"sample"`` for none.
    confidence
        Coverage of the interval.
    cluster
        What stimuli belong to, and are drawn and left out with: a column of the stimulus table, or
        a mapping from stimulus to cluster; ``"none"`` for stimuli drawn one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.
    max_iter, tol
        See :func:`subject_model`.

    Returns
    -------
    Estimates by ``label``; values in [-1, 1], with intervals from leaving out stimuli, raters or
    either, each by itself or in 40 groups. Of an odd number of ratings a random one is left out in
    each split; a stimulus with one rating takes no part, and ``n_items`` counts the others.

    ``corrected`` is the Spearman-Brown value :math:`2 \bar\rho / (1 + \bar\rho)`, an estimate for
    all raters where the halves speak for half of them. ``sd_splits`` is the standard deviation over
    splits, which tells how much the halves matter, not how much other raters or stimuli would
    change. ``n_splits`` counts the splits with a correlation; ``collapsed`` the halves in which one
    rater outweighs the others (also said in ``method``), and ``not_converged`` those whose fit was
    stopped.

    Raises
    ------
    InputError
        If a name is unknown, a number out of range, or a scorer gives another shape.

    References
    ----------
    FaceExpressions-70k (2025), section 3.4.8, with SUREAL scores: ``scorer="p910"``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ratings = rng.uniform(0, 100, 200) + rng.normal(0, 15, (8, 200))
    >>> found = split_half(ratings, n_splits=20, seed=0)
    >>> round(found["rating"].value, 2), found.to_frame()["corrected"].round(2).to_list()
    (0.94, [0.97])
    """
    ratings = canonical(ratings)
    check_confidence(confidence)
    require_order(ratings, CORRELATION_OF_HALVES)
    check_choice("target", target, get_args(Target))
    if isinstance(scorer, str) and scorer not in _METHODS:
        raise unknown_name("scorer", scorer, _METHODS)
    check_number("n_splits", n_splits, 1, whole=True)
    name = scorer if isinstance(scorer, str) else getattr(scorer, "__name__", "own scorer")
    score = _scoring(scorer, max_iter, tol)
    panels = panels_of(ratings, by_label=by_label)
    labels = panels[0].labels if by_label or len(panels[0].labels) == 1 else ("all",)
    seeds = np.empty((len(panels), n_splits), dtype=np.int64)
    seeds[by_name(labels)] = np.random.default_rng(seed).integers(0, 2**63, seeds.shape)
    found = stimulus_clusters(ratings, cluster)
    parts = [
        _splits(
            panel, score, bits, target, found.on(panel.stimuli), threads=isinstance(scorer, str)
        )
        for panel, bits in zip(panels, seeds, strict=True)
    ]
    left_out = [part.jackknife for part in parts]
    rhos = [part.rho[~np.isnan(part.rho)] for part in parts]
    value = np.concatenate([one.value for one in left_out])

    def closed(_: Floats, share: float) -> Ends:
        se, low, high = np.concatenate([one.ends(share) for one in left_out], axis=1)
        return se, low, high

    counts = {
        "n_splits": [rho.size for rho in rhos],
        "collapsed": [part.collapsed for part in parts],
        "not_converged": [part.not_converged for part in parts],
    }
    statistic = by_formula(
        value,
        closed,
        keys={"label": list(labels)},
        formula=[one.intervals()[0] for one in left_out],
        over=[one.targets()[0] for one in left_out],
        no_interval=[one.missing[0] if one.parts else None for one in left_out],
        method=[_method(name, part, n_splits) for part in parts],
        n_items=[part.n_items for part in parts],
        n_raters=[panel.data.n_raters for panel in panels],
        n_ratings=[part.n_ratings for part in parts],
        undefined=[_TOO_FEW if part.n_items < 2 else _CONSTANT for part in parts],
        columns=[
            pl.Series("corrected", spearman_brown(value, 2), dtype=pl.Float64),
            pl.Series("sd_splits", [rho.std(ddof=1) if rho.size > 1 else np.nan for rho in rhos]),
            *(pl.Series(name, column, dtype=pl.Int64) for name, column in counts.items()),
        ],
    )
    table = infer(
        statistic,
        interval="analytic",
        target="sample" if target == "sample" else "stimuli",
        confidence=confidence,
    )
    (first,) = table.tables
    columns = (*first.columns, Number("corrected"))
    first = replace(first, name="split_half", columns=columns, notes=(SPEARMAN_BROWN,))
    return replace(
        table,
        tables=(first,),
        sentences=tuple(_sentences(first.frame)),
        notes=found.notes_for(first.frame["target"]),
    )


def _sentences(frame: pl.DataFrame) -> Iterator[str]:
    known = frame.filter(pl.col("value").is_not_nan()).sort("value")
    if not known.height:
        return
    least, most = known.row(0, named=True), known.row(-1, named=True)
    values, corrected = (
        f"{least[name]:.2f}" + (f" to {most[name]:.2f}" if known.height > 1 else "")
        for name in ("value", "corrected")
    )
    where = (least["label"], most["label"]) if known.height > 1 else None
    yield halves_text(values, where, corrected)


class _Scored(NamedTuple):
    """Scores of a half; ``nan`` where there is none."""

    score: Floats
    collapsed: bool = False
    converged: bool = True


@dataclass(frozen=True, eq=False)
class _Splits:
    """What the splits of one label give."""

    rho: Floats
    """Correlation of each split; ``nan`` where not defined."""
    jackknife: Jackknife
    """The mean correlation, and what becomes of it without stimuli or raters."""
    n_items: int
    n_ratings: int
    collapsed: int
    not_converged: int


def _scoring(scorer: str | Scorer, max_iter: int, tol: float) -> Callable[[Grouped], _Scored]:
    if not isinstance(scorer, str):
        return lambda half: _Scored(_own_scores(scorer, half))
    if scorer == "mean":
        return lambda half: _Scored(_means(half))
    fit = FITS[scorer]

    def model(half: Grouped) -> _Scored:
        if np.diff(half.start).max(initial=0) < 2:
            # One rating of each stimulus does not tell raters' errors apart from what is rated.
            return _Scored(_means(half))
        half, _ = only_present(half)
        names = SubjectPanel(half, (), np.empty(0, int), (), np.empty(0, int), ())
        fitted = Fitted(
            names, fit(half, max_iter=max_iter, tol=tol, parallel=False), None, scorer == "reml"
        )
        return _Scored(fitted.score, bool(fitted.collapsed.any()), fitted.fit.converged)

    return model


def _means(half: Grouped) -> Floats:
    score = np.full(half.n_stimuli, np.nan)
    state = np.zeros((half.n_raters, 2))
    state[:, 0] = 1
    with sweeping(half, parallel=False) as sweep:
        sweep(state, score)
    return score


def _own_scores(scorer: Scorer, half: Grouped) -> Floats:
    given = scorer(Half(half.stimulus, half.rater, half.value, half.n_stimuli, half.n_raters))
    score = np.asarray(given, dtype=np.float64)
    if score.shape != (half.n_stimuli,):
        raise InputError(
            f"the scorer gave an array of shape {score.shape}; expected ({half.n_stimuli},), one "
            "score per stimulus"
        )
    return score


def _splits(
    panel: SubjectPanel,
    score: Callable[[Grouped], _Scored],
    seeds: Ints,
    target: Target,
    clusters: Clusters | None,
    *,
    threads: bool,
) -> _Splits:
    """Score all splits of one label, on all cores."""
    from affectlab.core.compiled import in_threads
    from affectlab.reliability.agreement.split_half_kernels import (
        correlation_without,
        first_answers,
    )
    from affectlab.reliability.rank_correlation_kernels import rank_correlation

    n_raters = panel.data.n_raters
    answers = Grouped(
        *first_answers(panel.data.start, panel.data.rater, panel.data.value, n_raters), n_raters
    )
    size = np.diff(answers.start) // 2
    rho = np.full(seeds.size, np.nan)
    troubles = np.zeros((2, seeds.size), dtype=np.int64)
    own = threading.local()
    # Stimuli of one cluster are left out together.
    unit = np.arange(size.size) if clusters is None else clusters.code[panel.stimulus]
    rated = np.unique(unit[size > 0])
    of_stimulus = np.where(size > 0, _groups(rated, int(unit.max(initial=-1)) + 1)[unit], -1)
    present = np.unique(answers.rater[np.repeat(size > 0, np.diff(answers.start))])
    of_rater = _groups(present, n_raters)
    n_units, n_groups = int(of_stimulus.max(initial=-1)) + 1, int(of_rater.max(initial=-1)) + 1
    if target in ("sample", "raters"):
        n_units = 0
    if target in ("sample", "stimuli") or n_groups < _FEWEST_RATERS:
        n_groups = 0
    # Few raters are dealt anew without one of them, whose answers would leave halves empty.
    again = n_groups <= _DEALT_AGAIN
    n_again = seeds.size if again else min(seeds.size, _SPLITS_WITHOUT)
    without_units = np.full((seeds.size, n_units), np.nan)
    without_raters = np.full((n_again, n_groups), np.nan)

    def correlated(pair: Sequence[Grouped]) -> tuple[float, Sequence[_Scored], Any]:
        first, second = (score(half) for half in pair)
        both = ~np.isnan(first.score) & ~np.isnan(second.score)
        both &= np.diff(pair[0].start) > 0
        both &= np.diff(pair[1].start) > 0
        x, y = first.score[both], second.score[both]
        orders = np.argsort(x), np.argsort(y)
        return rank_correlation(x, y, *orders), (first, second), (x, y, *orders, both)

    def one(split: int) -> None:
        # Each thread deals into the same memory again and again.
        if not hasattr(own, "memory"):
            own.memory = _memory(int(size.sum()))
        pair = _dealt(answers, seeds[split], own.memory)
        rho[split], scored, (x, y, order_x, order_y, both) = correlated(pair)
        troubles[0, split] = sum(half.collapsed for half in scored)
        troubles[1, split] = sum(not half.converged for half in scored)
        if n_units:
            group = of_stimulus[both]
            without_units[split] = correlation_without(x, y, order_x, order_y, group, n_units)
        for one_out in range(n_groups if split < n_again else 0):
            if again:
                rest = _dealt(_less(answers, of_rater == one_out), seeds[split])
            else:
                rest = [_less(half, of_rater == one_out) for half in pair]
            without_raters[split, one_out] = correlated(rest)[0]

    n_items = int((size > 0).sum())
    splits = range(seeds.size if n_items > 1 else 0)
    if threads:
        in_threads(one, splits)
    else:
        for split in splits:
            one(split)
    known = rho[~np.isnan(rho)]
    value = np.array([known.mean() if known.size else np.nan])
    kinds: tuple[tuple[Literal["stimuli", "raters"], Floats], ...]
    kinds = ("stimuli", without_units), ("raters", without_raters)
    parts = [
        LeaveOneOut(
            what,
            (value + mean_of_defined(without - rho[: len(without), None]))[:, None],
            np.ones((without.shape[1], 1), dtype=np.bool_),
        )
        for what, without in kinds
        if target == "both" or what == target
    ]
    jackknife = Jackknife(
        value,
        tuple(parts),
        corrects_raters=False,
        units="stimuli" if clusters is None else clusters.units,
        fewest=0 if clusters is None else FEWEST_CLUSTERS,
    )
    n_ratings = int(np.diff(answers.start)[size > 0].sum())
    return _Splits(rho, jackknife, n_items, n_ratings, *troubles.sum(axis=1).tolist())


def _groups(members: NDArray[np.integer[Any]], n: int) -> Ints:
    """Number members at random in at most so many groups as are left out; -1 for all others."""
    group = np.full(n, -1)
    group[np.random.default_rng(0).permutation(members)] = np.arange(members.size) % _MOST_LEFT_OUT
    return group


def _less(data: Grouped, without: NDArray[np.bool_]) -> Grouped:
    """Leave out the ratings of some raters."""
    kept = ~without[data.rater]
    start = np.concatenate([[0], np.cumsum(kept)])[data.start]
    return Grouped(start, data.rater[kept], data.value[kept], data.n_raters)


def _memory(n: int) -> tuple[NDArray[np.int32], Floats]:
    """Hold raters and values of two halves of n ratings."""
    return np.empty((2, n), dtype=np.int32), np.empty((2, n))


def _dealt(
    data: Grouped, seed: int, memory: tuple[NDArray[np.int32], Floats] | None = None
) -> list[Grouped]:
    """Deal ratings into halves, in memory that is given or new."""
    from affectlab.reliability.agreement.split_half_kernels import halve

    halves = np.concatenate([[0], np.cumsum(np.diff(data.start) // 2)])
    raters, values = _memory(int(halves[-1])) if memory is None else memory
    halve(data.start, data.rater, data.value, seed, halves, raters, values)
    return [Grouped(halves, *half, data.n_raters) for half in zip(raters, values, strict=True)]


def _method(name: str, part: _Splits, n_splits: int) -> tuple[str, ...]:
    collapsed = collapsed_halves(part.collapsed, 2 * n_splits)
    return "split-half Spearman", name, splits(n_splits), *([collapsed] if part.collapsed else [])
