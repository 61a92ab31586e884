"""Principal preserved components: dimensions of judgement on which separate raters agree."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, check_number
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.result import Result
from affectlab.core.tables import Figure, Key, Number, PValue, Table, Text, Value, YesNo
from affectlab.core.types import Floats, Ints
from affectlab.ratings import (
    Ratings,
    ballots_of,
    canonical,
    numeric_part,
    of_known_raters,
    one_scale,
)
from affectlab.reliability.correlation.interrater import used_labels
from affectlab.reliability.wording import (
    DEFINED_RATER,
    DIMENSIONS_FIGURE,
    DIMENSIONS_TITLE,
    LEFT_OUT_RATER,
    OTHERS_CORRELATION,
    SIGNED_RANKS,
    preserved_text,
)

# Judgements of several raters on the same examples, split at random into halves.


@dataclass(frozen=True)
class Judgements:
    """One row per example and rater, sorted by example; examples and raters numbered anew."""

    example: Ints
    rater: Ints
    values: Floats
    """Shape (rows, labels)."""
    labels: tuple[str, ...]
    raters: tuple[str, ...]
    dropped: dict[str, int]
    """Rows left out, by reason, in the order in which the reasons were applied."""

    @property
    def starts(self) -> Ints:
        """First row of every example, and the number of rows."""
        n = int(self.example[-1]) + 1
        return np.searchsorted(self.example, np.arange(n + 1))


def judgements_of(ratings: Ratings, exclude: Collection[str], min_raters: int) -> Judgements:
    """Arrange ratings as one row of labels per example and rater, and drop rows.

    Dropped are, in this order, rows without an answer to every label, rows in which an excluded
    label is above zero, rows that are zero throughout, and examples with fewer than ``min_raters``
    rows left.

    Raises
    ------
    InputError
        If an excluded label is unknown, fewer than two labels remain, or no row is left.
    """
    answers = numeric_part(ratings).answers()
    one_scale(answers.scales)
    labels = answers.label_names
    out = ~used_labels(labels, exclude)
    if len(labels) - out.sum() < 2:
        raise InputError(f"{len(labels) - out.sum()} label: expected two or more for components")
    ballots = ballots_of(answers)
    rows, values = np.arange(len(ballots.value)), ballots.value
    dropped = {}

    def keep(kept: Any, reason: str) -> None:
        nonlocal rows, values
        dropped[reason] = int((~kept).sum())
        if dropped[reason]:
            rows, values = rows[kept], values[kept]

    keep(~np.any(np.isnan(values), axis=1), "incomplete")
    keep(~np.any(values[:, out] > 0, axis=1), "excluded label")
    values = np.ascontiguousarray(values[:, ~out])
    keep(np.any(values != 0, axis=1), "empty")
    example = ballots.unit[rows]
    keep(np.bincount(example, minlength=1)[example] >= min_raters, "few raters")
    if not rows.size:
        reasons = ", ".join(f"{name} {count:,}" for name, count in dropped.items())
        raise InputError(
            f"no example has {min_raters} complete judgements (rows dropped: {reasons}); where "
            "only the chosen labels are listed, expected ratings.fill_absent(0)"
        )
    _, example = np.unique(ballots.unit[rows], return_inverse=True)
    known, rater = np.unique(ballots.rater[rows], return_inverse=True)
    return Judgements(
        example,
        rater,
        values,
        tuple(name for name, gone in zip(labels, out, strict=True) if not gone),
        tuple(answers.rater_names[k] for k in known),
        dropped,
    )


@dataclass(frozen=True)
class Split:
    """The rows of every example in a random order, and what halves of it need.

    With m rows in the order of an example, and one of them left out, the first
    h = (m - 1) // 2 of the others are one half.
    """

    data: Judgements
    position: Ints
    """Place of every row in the order of its example, shape (rows,)."""
    total: Floats
    """Sum over the rows of every example, shape (examples, labels)."""
    leading: Floats
    """Sum over the first h rows, shape (examples, labels)."""
    border: Floats
    """Row h, shape (examples, labels)."""
    m: Ints
    """Rows of every example."""

    def without(self, rows: Ints) -> tuple[Floats, Floats, Floats]:
        """Halves X and Y, and mean M, of the others on the examples of rows that are left out."""
        example = self.data.example[rows]
        own = self.data.values[rows]
        m = self.m[example][:, None]
        h = (m - 1) // 2
        rest = self.total[example] - own
        early = (self.position[rows][:, None] < h).astype(np.float64)
        first = self.leading[example] + early * (self.border[example] - own)
        return first / h, (rest - first) / (m - 1 - h), rest / (m - 1)

    def halves(self) -> tuple[Floats, Floats]:
        """Halves of all rows of every example, none left out."""
        m = self.m[:, None]
        h = m // 2
        # With an even number of rows the half is one row longer than with one left out.
        first = self.leading + np.where(h > (m - 1) // 2, self.border, 0.0)
        return first / h, (self.total - first) / (m - h)


def split_raters(data: Judgements, rng: np.random.Generator) -> Split:
    """Draw one random order of the rows of every example.

    The order is that of ``rng.random(rows)``. Whoever is left out, the others keep their order, so
    that one draw serves all raters.
    """
    order = np.lexsort((rng.random(data.example.size), data.example))
    starts = data.starts
    m = np.diff(starts)
    position = np.empty(order.size, dtype=np.int64)
    position[order] = np.arange(order.size) - starts[data.example]
    h = (m - 1) // 2
    ordered = data.values[order]
    total = np.add.reduceat(ordered, starts[:-1], axis=0)
    leading = np.zeros_like(total)
    for k in range(int(h.max())):
        inside = np.flatnonzero(k < h)
        leading[inside] += ordered[starts[inside] + k]
    return Split(data, position, total, leading, ordered[starts[:-1] + h], m)


_DECIMALS = 9
"""Decimals of scores that are ranked, on a scale whose largest value has one digit."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PPCA(Result):
    """Principal preserved components, their loadings, and which of them are preserved."""

    components: Estimates
    """By ``component`` (``"1"``, ``"2"``, …): mean (partial) correlation over raters with its
    standard error; then the columns ``p`` (Wilcoxon), ``p_bonferroni``, ``significant`` and
    ``eigenvalue``."""
    by_rater: Floats
    """Correlation by rater and component, mean over splits; ``nan`` where not defined."""
    raters: tuple[str, ...]
    """The raters, in the order of ``by_rater``."""
    n_examples: int
    """Examples that were used."""
    n_splits: int
    """Random splits that were averaged."""
    alpha: float
    """Level of the tests."""
    dropped: dict[str, int]
    """Judgements (one example by one rater) left out, by reason."""

    @property
    def loadings(self) -> pl.DataFrame:
        """A column ``label``, then one per component: unit vectors, the largest entry positive."""
        return self.to_frame("loadings")

    @property
    def n_significant(self) -> int:
        """Number of preserved components."""
        return int(self.components.frame["significant"].sum())


_FIGURE = Figure(
    "components",
    "intervals",
    "components",
    DIMENSIONS_TITLE,
    DIMENSIONS_FIGURE,
    options={
        "low": None,
        "high": None,
        "value_name": OTHERS_CORRELATION,
    },
)
_COLUMNS = (
    Key("component"),
    Value(head="correlation"),
    Number("se"),
    PValue("p_bonferroni", "p"),
    YesNo("significant", "preserved"),
    Text("largest_loadings"),
)


def _tables(components: pl.DataFrame, loadings: pl.DataFrame) -> tuple[Table, Table]:
    largest = []
    for component in components["component"]:
        loading = loadings[component].to_numpy()
        top = np.argsort(-np.abs(loading))[:3]
        largest.append(", ".join(f"{loadings['label'][int(k)]} {loading[k]:+.2f}" for k in top))
    frame = components.with_columns(pl.Series("largest_loadings", largest, dtype=pl.String))
    columns = (Key("label"), *(Number(name) for name in loadings.columns[1:]))
    return (
        Table("components", "Components.", frame, _COLUMNS, notes=(SIGNED_RANKS,)),
        Table("loadings", "Loadings.", loadings, columns, limit=0),
    )


@of_known_raters
def ppca(
    ratings: Ratings,
    *,
    exclude: Collection[str] = ("neutral",),
    min_raters: int = 3,
    min_items: int | None = None,
    n_splits: int = 10,
    alpha: float = 0.05,
    seed: int | np.random.Generator | None = 0,
) -> PPCA:
    r"""Find the dimensions of judgement that are preserved between raters.

    Rater r is left out. On the examples of r, the ratings of the *others* are split at random into
    halves and averaged: :math:`X, Y` (examples, labels), columns demeaned. The components are the
    eigenvectors of :math:`X^\top Y + Y^\top X` by descending eigenvalue. The ratings of r and the
    mean of the others are projected on them and correlated (Spearman): component 1 as it is, from
    component i the scores of the others on components 1 to i - 1 are first partialled out of both
    sides. Per component, a two-sided Wilcoxon signed-rank test over raters, with Bonferroni's
    correction for the number of components.

    Parameters
    ----------
    ratings
        Ratings with labels, in which a rater answers every label of an example.
    exclude
        Labels that are no dimension; a judgement in which one of them is above zero is dropped.
    min_raters
        Judgements that an example must have left; at least 3.
    min_items
        Examples that a rater must have left to be left out in turn; by default two more than there
        are labels.
    n_splits
        Random splits over which the correlations of a rater are averaged.
    alpha
        Level of the tests, after the correction.
    seed
        Seed or generator of the splits; the same seed gives the same bytes.

    Returns
    -------
    ``components``, ``loadings`` and the correlations ``by_rater``. A component is *significant*,
    that is preserved, when its corrected p-value is below ``alpha`` and its mean correlation is
    positive. Loadings and eigenvalues (the covariance between halves along the component) come from
    all raters, the matrices averaged over splits.
    A component is ``nan`` with a status where no rater has a defined correlation.

    Raises
    ------
    InputError
        If no example has enough complete judgements, or an option cannot be used.

    Notes
    -----
    Scores and residuals are rounded to 9 decimals (on scales up to 9; to fewer on wider scales)
    before they are ranked, because equal judgements would otherwise be ordered by rounding noise. A
    constant side leaves a rater out of that component only.

    References
    ----------
    Demszky et al. (2020), GoEmotions, section 4.3 and algorithm 1. Cowen et al. (2019), Nature
    Human Behaviour 3.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> rng = np.random.default_rng(0)
    >>> joy = rng.normal(size=(60, 1)) + rng.normal(size=(60, 8))
    >>> values = np.stack([joy, -joy + rng.normal(size=joy.shape), rng.normal(size=joy.shape)], 2)
    >>> item, rater, label = (place.ravel() for place in np.indices(values.shape))
    >>> frame = pl.DataFrame({"stimulus": item.astype(str), "rater": rater.astype(str),
    ...                       "label": np.array(["joy", "sadness", "noise"])[label],
    ...                       "value": values.ravel()})
    >>> ppca(Ratings(frame), seed=1)
    PPCA(1 of 3 components preserved; 60 examples, 8 raters, 10 splits)
    """
    # One rater is left out, of two others each makes a half.
    check_number("min_raters", min_raters, 3, whole=True)
    check_number("n_splits", n_splits, 1, whole=True)
    if not 0 < alpha < 1:
        raise InputError(f"alpha {alpha!r}: expected a level between 0 and 1, like 0.05")
    data = judgements_of(canonical(ratings), exclude, min_raters)
    n_labels = len(data.labels)
    least = n_labels + 2 if min_items is None else min_items
    rng = np.random.default_rng(seed)
    total = np.zeros((len(data.raters), n_labels))
    defined = np.zeros_like(total)
    cross = np.zeros((n_labels, n_labels))
    for _ in range(n_splits):
        split = split_raters(data, rng)
        rho = _left_out(split, least)
        defined += ~np.isnan(rho)
        total += np.nan_to_num(rho)
        cross += _cross(*split.halves())
    by_rater = ratio(total, defined)
    place = {name: k for k, name in enumerate(ratings.rater_names)}
    listed = sorted(range(len(data.raters)), key=lambda k: place[data.raters[k]])
    n_examples = int(data.example[-1]) + 1
    values, vectors = _components(cross / (2 * n_splits * max(n_examples - 1, 1)))
    components = _tested(data, by_rater, values, alpha, n_splits)
    loadings = {str(k + 1): vector for k, vector in enumerate(vectors.T)}
    n_kept = int(components.frame["significant"].sum())
    return PPCA(
        _tables(components.frame, pl.DataFrame({"label": list(data.labels), **loadings})),
        (preserved_text(n_kept, len(components), n_examples, len(listed), n_splits),),
        (_FIGURE,),
        components=components,
        by_rater=by_rater[listed],
        raters=tuple(data.raters[k] for k in listed),
        n_examples=n_examples,
        n_splits=n_splits,
        alpha=alpha,
        dropped=data.dropped,
    )


def _cross(x: Floats, y: Floats) -> Floats:
    """X'Y + Y'X of demeaned columns."""
    from affectlab.reliability.correlation.ppca_kernels import cross_products

    product = np.empty((x.shape[1], x.shape[1]))
    cross_products(x, y, product)
    return product


def _components(cross: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, descending, and eigenvectors in columns, the largest entry positive."""
    values, vectors = np.linalg.eigh(cross)
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(values.size)])
    return values, vectors * signs


def _left_out(split: Split, min_items: int) -> Floats:
    """Correlations of every rater with the others, shape (raters, components)."""
    from affectlab.core.compiled import in_threads
    from affectlab.reliability.correlation.ppca_kernels import project

    data = split.data
    by_rater = np.argsort(data.rater, kind="stable")
    ends = np.searchsorted(data.rater[by_rater], np.arange(len(data.raters) + 1))
    rho = np.full((len(data.raters), len(data.labels)), np.nan)
    largest = float(np.abs(data.values).max())
    decimals = _DECIMALS - int(np.floor(np.log10(largest)))

    def one_rater(r: int) -> None:
        rows = by_rater[ends[r] : ends[r + 1]]
        if rows.size < max(min_items, 2):
            return
        x, y, others = split.without(rows)
        vectors = np.ascontiguousarray(_components(_cross(x, y))[1])
        left_out, in_sample = (np.empty((len(data.labels), rows.size)) for _ in range(2))
        project(data.values[rows], vectors, left_out)
        project(others, vectors, in_sample)
        rho[r] = _partial_spearman(left_out, in_sample, decimals)

    in_threads(one_rater, range(len(data.raters)))
    return rho


def _partial_spearman(left_out: Floats, in_sample: Floats, decimals: int) -> Floats:
    """Spearman of each component's scores, the in-sample scores of those before partialled out.

    Parameters
    ----------
    left_out, in_sample
        Demeaned scores, shape (components, examples); overwritten by the residuals.
    decimals
        Decimals of the residuals that are ranked.
    """
    from affectlab.reliability.correlation.ppca_kernels import partial_out
    from affectlab.reliability.rank_correlation_kernels import rank_correlation

    partial_out(left_out, in_sample)
    np.round(left_out, decimals, out=left_out)
    np.round(in_sample, decimals, out=in_sample)
    sides = left_out, in_sample, np.argsort(left_out, axis=1), np.argsort(in_sample, axis=1)
    return np.array([rank_correlation(*row) for row in zip(*sides, strict=True)])


def _tested(
    data: Judgements, by_rater: Floats, eigenvalues: Floats, alpha: float, n_splits: int
) -> Estimates:
    from scipy.stats import wilcoxon

    known = ~np.isnan(by_rater)
    n = known.sum(axis=0)
    value, se, p = (np.full(n.size, np.nan) for _ in range(3))
    for k in np.flatnonzero(n > 0):
        rho = by_rater[known[:, k], k]
        # Correlations that are all zero tell of none.
        value[k], p[k] = rho.mean(), wilcoxon(rho).pvalue if rho.any() else 1.0
        se[k] = rho.std(ddof=1) / np.sqrt(rho.size) if rho.size > 1 else np.nan
    corrected = np.minimum(p * n.size, 1.0)
    table = Estimates.build(
        {"component": [str(k + 1) for k in range(n.size)]},
        value=value,
        se=se,
        statistic=(
            "PPCA",
            LEFT_OUT_RATER,
            "partial Spearman",
            "mean over raters",
            f"{n_splits} random splits",
            "spread over raters",
        ),
        n_items=int(data.example[-1]) + 1,
        n_raters=n,
        n_ratings=data.values.size,
        reason=[None if one else Reason(Cause.NONE, of=DEFINED_RATER) for one in n.tolist()],
    )
    significant: NDArray[np.bool_] = (corrected < alpha) & (value > 0)
    return Estimates.of(
        table.frame.with_columns(
            pl.Series("p", p),
            pl.Series("p_bonferroni", corrected),
            pl.Series("significant", significant),
            pl.Series("eigenvalue", eigenvalues),
        ),
        table.keys,
    )
