"""How well metrics predict scores, such as how different two expressions look."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.arrays import places_in
from affectlab.core.errors import InputError, check_choice, check_choices
from affectlab.core.estimates import Estimates, side_by_side
from affectlab.core.inference import infer
from affectlab.core.render.notes import row_status_text
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table
from affectlab.core.wording import undefined_text
from affectlab.core.words import file_part, in_brackets, joined, number, plural
from affectlab.evaluation.differences.comparison import compared
from affectlab.evaluation.differences.logistic import LogisticFit
from affectlab.evaluation.differences.measures import ERRORS, METRICS, Measures
from affectlab.evaluation.differences.pairs import (
    ALL,
    SCORES,
    Attributes,
    Group,
    Pairs,
    Score,
    pairs_of,
)
from affectlab.ratings import ModelRatings, Ratings, canonical

# What difference metrics were found, and how far metrics or groups are apart.


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Differences(Estimates):
    """Difference metrics by ``rater``, ``group`` (``all``, ``actor=3``) and ``metric``.

    Made by :func:`difference_metrics`.
    """

    ceiling: Estimates | None = None
    """How well people predict people, by ``group``: Spearman's correlation of two halves, with
    ``corrected`` (Spearman-Brown, for all people) and ``ceiling``, its square root: what a
    prediction without errors would reach."""
    fits: Mapping[tuple[str, str], LogisticFit]
    """The fitted curve of every (rater, group)."""
    measures: Measures
    draws: int
    """Seed of the replicates."""

    @property
    def pairs(self) -> Pairs:
        """Scores and predictions, with the groups of stimuli."""
        return self.measures.pairs

    def compare(
        self, over: Literal["rater", "group"] = "rater", *, absolute: bool = False
    ) -> Estimates:
        """Subtract metrics from one another (or groups), with intervals from shared draws.

        Two raters are compared on the stimuli that both predict.

        Parameters
        ----------
        over
            ``"rater"``: every two raters in every group; ``"group"``: every two groups of one
            attribute, such as intra and inter, for every rater.
        absolute
            Compare the sizes of correlations, for metrics of which some rise and some fall as the
            scores rise.

        Returns
        -------
        Estimates of the first minus the second, by ``rater``, ``other``, ``group`` and ``metric``
        (or ``rater``, ``group``, ``other``, ``metric``), with extra columns ``p`` (two-sided, from
        the replicates; at least 2 / (replicates + 1)), ``p_holm`` (over the pairs of one metric;
        for raters within a group) and ``better`` (which of the two, empty where the interval
        holds 0, or one correlation is above and one below 0 and sizes are not compared).

        Raises
        ------
        InputError
            If there are no replicates, or nothing to compare.

        Examples
        --------
        >>> import numpy as np
        >>> from affectlab.evaluation import difference_metrics
        >>> rng = np.random.default_rng(0)
        >>> scores = rng.normal(size=300)
        >>> predictions = scores + rng.normal(0, [[0.5], [1.0]], (2, 300))
        >>> found = difference_metrics(scores, predictions, names=["L1", "SSIM"], n_boot=200,
        ...                            metrics=["srocc"], seed=0)
        >>> found.compare().to_frame()["better"].to_list()
        ['L1']
        """
        check_choice("over", over, ("rater", "group"))
        return compared(
            self.measures,
            self,
            over,
            absolute=absolute,
            confidence=self.settings["confidence"],
            seed=self.draws,
        )


_FEW_CLUSTERS = 20
_MOST_STIMULI = 1 << 23
"""Up to so many twice a rank is exact in single precision."""


def difference_metrics(
    scores: Ratings | ArrayLike,
    models: ModelRatings | ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    by: Attributes = (),
    cluster: str | ArrayLike | None = None,
    score: Score = "mean",
    label: str | None = None,
    metrics: Collection[str] = METRICS,
    comparison: bool = True,
    ceiling: bool = False,
    n_splits: int = 50,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Differences:
    r"""Compare what metrics predict with the scores of people: correlations and errors.

    Metrics are raters that are models, or the columns of a table of their own. PLCC fit and RMSE
    fit come after a monotone logistic curve.

    ``srocc`` is Spearman's rank correlation, ``plcc`` Pearson's, ``kendall`` Kendall's
    :math:`\tau_b`; ``rmse`` and ``mae`` are errors in the unit of the scores, which say something
    where the metric predicts on their scale. ``plcc_fit`` and ``rmse_fit`` come after the monotone
    curve of :func:`logistic_fit`, fitted on the same pairs, so they flatter a metric a little; they
    stand beside the others and never in their place. A metric that falls as the scores rise, as
    similarities do, has negative correlations, ``plcc_fit`` too: it has the sign of the curve.

    Parameters
    ----------
    scores
        Ratings of people, such as how different two faces look, or of people and metrics; or
        scores of shape (n,).
    models
        Ratings of which each rater is a metric (or each label, where the scores have no labels), or
        an array of shape (n,) or (metrics, n), ``nan`` where a metric says nothing. Metrics are
        judged on the stimuli that they predict; ``coverage`` says on how many. Runs that control
        another (``main_runs``) are left out.
    names
        Names of the metrics, with arrays.
    by
        Stimulus attributes whose values make groups beside ``all``, such as kind, actor.

        With arrays a mapping from names to n values.
    cluster
        Stimulus attribute whose stimuli are drawn together, such as actor: intervals are then about
        others of its kind.

        With arrays n values.
    score
        How ratings become scores: their mean, or a subject model (see
        :func:`~affectlab.reliability.subject_model`).
    label
        Label that is scored, where there are several.
    metrics
        Which of the seven to compute.
    comparison
        Compare every two metrics by the sizes of their correlations; needs replicates.

        As ``Differences.compare`` does.
    ceiling
        Also how well two halves of the people agree, on each group.
    n_splits
        Random halves for the ceiling.
    n_boot
        Bootstrap replicates; 0 for no interval.
    confidence
        Coverage of the intervals, in (0, 1).
    seed
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    Differences by ``rater``, ``group`` and ``metric``, with extra columns ``attribute`` and
    ``level`` (of the group) and ``coverage`` (share of the group's stimuli that the rater
    predicts).

    Raises
    ------
    InputError
        If scores and metrics do not fit each other, or an option cannot be used.

    Notes
    -----
    Stimuli are drawn once for all metrics and groups. In each replicate ranks are recomputed, from
    cumulative weights along an order that is sorted once; tau-b is computed in full, by a Fenwick
    tree over the scores in n log n steps; and the curve is fitted anew, to at most 256 bins of
    neighbouring predictions, from the curve of all pairs.

    References
    ----------
    FaceExpressions-70k (2025), section 4 and appendix A.6.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.uniform(0, 100, 200)
    >>> found = difference_metrics(scores, scores / 100 + rng.normal(0, 0.1, 200), names=["L1"],
    ...                            metrics=["srocc", "plcc"], n_boot=200, seed=0)
    >>> found["L1", "all", "srocc"]
    Estimate(0.942 [0.923, 0.953], Spearman's rank correlation with the scores given; ...)
    """
    scores, models = canonical(scores), canonical(models, listed="raters")
    chosen = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    check_choices("metric", chosen, METRICS)
    if not chosen:
        raise InputError(f"metrics is empty; expected some of: {', '.join(METRICS)}")
    check_choice("score", score, SCORES)
    pairs, people = pairs_of(
        scores, models, names=names, by=by, cluster=cluster, score=score, label=label
    )
    if pairs.scores.size > _MOST_STIMULI:
        raise InputError(f"{pairs.scores.size:,} stimuli; expected at most {_MOST_STIMULI:,}")
    rng = np.random.default_rng(seed)
    halves, draws = (int(part) for part in rng.integers(0, 2**63, size=2))
    measures = Measures(pairs, tuple(name for name in METRICS if name in chosen))
    estimates = infer(measures.statistic, n_boot=n_boot, confidence=confidence, seed=draws)
    made = Differences(
        tables=_with_groups(estimates, measures).tables,
        notes=(*pairs.notes, *_notes(measures, n_boot)),
        settings={
            "score": pairs.score_name,
            "n_stimuli": int(pairs.scores.size),
            "raters": pairs.raters,
            "groups": tuple(group.name for group in pairs.groups),
            "confidence": confidence,
        },
        replicates=estimates.replicates,
        fits={
            (pairs.raters[rater], pairs.groups[group].name): fit
            for (rater, group), fit in measures.fits.items()
        },
        measures=measures,
        draws=draws,
    )
    if ceiling:
        if people is None:
            raise InputError("the ceiling needs the ratings of people, not their scores")
        found = _ceiling(people, pairs, score, n_splits, halves, confidence)
        made = replace(made, ceiling=found)
    apart = None
    if comparison and n_boot and len(pairs.raters) > 1:
        apart = made.compare(absolute=True)
    return replace(
        made,
        tables=_tables(made, apart),
        sentences=_sentences(made, apart),
        figures=_figures(made),
    )


def _with_groups(found: Estimates, measures: Measures) -> Estimates:
    """Say of each row what its group is, and how much of it the rater predicts."""
    groups, (n_raters, _, n_names) = measures.pairs.groups, measures.shape
    sizes = np.array([max(group.items.size, 1) for group in groups])

    def each(values: Sequence[str]) -> list[str]:
        return [value for value in values for _ in range(n_names)] * n_raters

    coverage = np.repeat(measures.n_items / sizes, n_names)
    return found.with_columns(
        [
            pl.Series("attribute", each([group.attribute for group in groups]), dtype=pl.String),
            pl.Series("level", each([group.level for group in groups]), dtype=pl.String),
            pl.Series("coverage", coverage),
        ]
    )


_HEADS = {
    "srocc": "SROCC",
    "plcc": "PLCC",
    "plcc_fit": "PLCC fit",
    "kendall": "Kendall",
    "rmse": "RMSE",
    "rmse_fit": "RMSE fit",
    "mae": "MAE",
}
_MOST_SAID = 6
_MOST_PANELS = 9


def _tables(found: Differences, apart: Estimates | None) -> tuple[Table, ...]:
    """Lay out the figures of merit, a row per metric and group, and what else was computed."""
    index = ["rater", "group"]
    names = found.measures.names
    n = found.frame.group_by(index).agg(pl.col("n_items").first())
    wide = side_by_side(found.frame, index, names).join(n, on=index, maintain_order="left")
    columns = [Key("rater", "metric")]
    if len(found.pairs.groups) > 1:
        columns.append(Key("group"))
    columns.append(Count("n_items", "n"))
    for name in names:
        columns.append(Number(name, _HEADS[name], decimals=2 if name in ERRORS else 3))
        if found.replicates.size and name == names[0]:
            columns.append(Interval(name, "interval"))
    long = replace(found.tables[0], name="metrics", limit=0)
    n_stimuli = found.pairs.scores.size
    said = f"How well {found.pairs.score_name} of {n_stimuli:,} stimuli is predicted."
    tables = [long, Table("merit", said, wide, tuple(columns))]
    if apart is not None:
        tables.append(replace(apart.tables[0], name="comparisons", limit=0))
    if found.ceiling is not None:
        tables.append(replace(found.ceiling.tables[0], name="ceiling", limit=0))
    curves = [
        {
            "rater": rater,
            "group": group,
            **asdict(fit),
            "reason": fit.reason and fit.reason.cause.value,
        }
        for (rater, group), fit in found.fits.items()
    ]
    if curves:
        frame = pl.DataFrame(curves, schema_overrides={"reason": pl.String})
        of = (Key("rater"), Key("group"), Number("r"), Number("rmse"))
        tables.append(Table("curves", "Fitted logistic curves.", frame, of, limit=0))
    return (*tables, _predictions(found))


def _columns_of(found: Differences) -> dict[str, str]:
    """Columns that hold the predictions, by rater."""
    return {rater: f"prediction of {rater}" for rater in found.pairs.raters}


def _predictions(found: Differences) -> Table:
    """Scores and predictions of the stimuli, with the groups that they belong to."""
    columns = _columns_of(found)
    frame = pl.DataFrame(
        {
            "stimulus": pl.Series(found.pairs.stimuli, dtype=pl.String),
            "score": found.pairs.scores,
            **dict(zip(columns.values(), found.pairs.predictions, strict=True)),
        }
    )
    for group in found.pairs.groups[1:]:
        inside = np.zeros(frame.height, dtype=bool)
        inside[group.items] = True
        frame = frame.with_columns(pl.Series(group.name, inside))
    declared = (
        Key("stimulus"),
        Number("score"),
        *(Number(column, rater, verbatim=True) for rater, column in columns.items()),
    )
    return Table("predictions", "Scores and predictions.", frame, declared, limit=0)


def _sentences(found: Differences, apart: Estimates | None) -> tuple[str, ...]:
    """Say which metric ranks best and by how much, and what people reach."""
    lead = "srocc" if "srocc" in found.measures.names else found.measures.names[0]
    size = {rater: abs(found[rater, "all", lead].value) for rater in found.pairs.raters}
    ranked = sorted(
        (rater for rater in size if size[rater] == size[rater]),
        key=lambda rater: size[rater] if lead in ERRORS else -size[rater],
    )
    if not ranked:
        why = undefined_text(found[found.pairs.raters[0], "all", lead].reason)
        return (f"{_HEADS[lead]} is {why}.",)
    best, *others = ranked
    one = found[best, "all", lead]
    who = f"{best}, the best of {len(ranked)} metrics," if others else best
    said = [
        f"{who} predicts {found.pairs.score_name} of {plural(one.n_items, 'stimulus', 'stimuli')} "
        f"with {_HEADS[lead]} {number(one.value, 3)}{in_brackets(one.low, one.high, 3)}."
    ]
    if apart is not None and lead == "srocc":
        keys = set(apart.frame.select(apart.keys).rows())
        for other in others[:_MOST_SAID]:
            pair = (best, other) if (best, other, "all", lead) in keys else (other, best)
            if (*pair, "all", lead) not in keys:
                continue
            one = apart[*pair, "all", lead]
            sign = 1 if pair[0] == best else -1
            low, high = sorted((sign * one.low, sign * one.high))
            said.append(
                f"{best} ranks {'better' if low > 0 else 'not clearly better'} than {other}: SROCC "
                f"apart by {number(sign * one.value, 3)} ({number(low, 3)} to {number(high, 3)})."
            )
        if len(others) > _MOST_SAID:
            more = plural(len(others) - _MOST_SAID, "more comparison")
            said.append(f"{more}: see the table of comparisons.")
    if found.ceiling is not None:
        said.append(_about_ceiling(found.ceiling))
    return tuple(said)


def _about_ceiling(ceiling: Estimates) -> str:
    first, *rest = ceiling.frame.to_dicts()
    if first["status"] != "ok":
        return f"Ceiling: {row_status_text(first)}."
    groups = [
        f"{row['group']} {row_status_text(row) or number(row['value'], 3)}"
        for row in rest[:_MOST_SAID]
    ]
    inside = f" ({', '.join(groups)}{', …' if len(rest) > _MOST_SAID else ''})" if groups else ""
    return (
        f"Ceiling: two halves of the people agree with a SROCC of {number(first['value'], 3)}"
        f"{inside}; a prediction without errors would reach about {number(first['ceiling'], 3)}."
    )


def _figures(found: Differences) -> tuple[Figure, ...]:
    """Scatter plots with the fitted curve for each metric, and SROCC beside the ceiling."""
    ranked = "srocc" in found.measures.names
    raters = found.pairs.raters[:_MOST_PANELS]
    drawn = [
        _scatter("scatter", "Scores beside predictions", [_panel(found, one) for one in raters])
    ]
    for attribute in dict.fromkeys(group.attribute for group in found.pairs.groups[1:]):
        groups = [group for group in found.pairs.groups if group.attribute == attribute]
        drawn += [
            _scatter(
                f"scatter_{file_part(rater)}_by_{file_part(attribute)}",
                f"Scores beside predictions of {rater} by {attribute}",
                [_panel(found, rater, group) for group in groups[:_MOST_PANELS]],
                x_name=rater,
                share_x=True,
            )
            for rater in raters
        ]
    if ranked:
        ceiling = float("nan") if found.ceiling is None else found.ceiling["all"].value
        told = (f"{rater} {number(found[rater, 'all', 'srocc'].value, 3)}" for rater in raters)
        options = {
            "value": "srocc",
            "low": "srocc_low",
            "high": "srocc_high",
            "value_name": "SROCC",
            "rows": {"group": [ALL]},
            "lines": [(ceiling, "two halves of people")] if ceiling == ceiling else [],
        }
        title = "Rank correlation with the scores"
        said = "; ".join(told)
        drawn.append(Figure("srocc", "intervals", "merit", title, "", said, options))
    return tuple(drawn)


def _scatter(name: str, title: str, panels: list[dict[str, Any]], **options: Any) -> Figure:
    said = "; ".join(f"{panel['title']}: {panel['note']}" for panel in panels if panel["note"])
    given = {"y": "score", "panels": panels, **options}
    return Figure(name, "scatter", "predictions", title, "", said, given)


def _panel(found: Differences, rater: str, group: Group | None = None) -> dict[str, Any]:
    name = ALL if group is None else group.name
    x = found.pairs.predictions[found.pairs.raters.index(rater)]
    x = x if group is None else x[group.items]
    fit = found.fits.get((rater, name))
    curve = None
    if fit is not None and fit.ok:
        at = np.linspace(np.nanmin(x), np.nanmax(x), _CURVE)
        curve = at.tolist(), fit.predict(at).tolist()
    ranked = "srocc" in found.measures.names
    return {
        "x": _columns_of(found)[rater],
        "title": rater if group is None else group.level,
        "note": f"SROCC {number(found[rater, name, 'srocc'].value)}" if ranked else "",
        "curve": curve,
        "rows": {} if group is None else {group.name: True},
    }


_CURVE = 100
"""Points of a drawn curve."""


def _ceiling(
    people: Ratings, pairs: Pairs, score: Score, n_splits: int, seed: int, confidence: float
) -> Estimates:

    from affectlab.reliability import split_half

    at = places_in(pairs.stimuli, people.stimulus_names)[people.stimulus_code]
    tables = []
    for group in pairs.groups:
        inside = np.zeros(len(pairs.stimuli) + 1, dtype=bool)
        inside[group.items] = True
        half = split_half(
            people.where(inside[at]),
            scorer=score,
            n_splits=n_splits,
            seed=seed,
            confidence=confidence,
        )
        tables.append(half.table().frame.with_columns(pl.lit(group.name).alias("label")))
    frame = pl.concat(tables).rename({"label": "group"})
    # A score of reliability r correlates at most sqrt(r) with anything that lacks its errors.
    corrected = pl.col("corrected").clip(lower_bound=0).sqrt()
    return Estimates.of(frame.with_columns(corrected.alias("ceiling")), ("group",))


def _notes(measures: Measures, n_boot: int) -> list[str]:
    pairs, n_items = measures.pairs, measures.n_items[:, 0]
    notes = [
        f"{pairs.raters[rater]} predicts {n_items[rater]:,} of {pairs.scores.size:,} "
        "stimuli and is judged on these"
        for rater in np.flatnonzero(n_items < pairs.scores.size).tolist()
    ]
    if n_boot and pairs.clusters is not None and pairs.clusters.n < _FEW_CLUSTERS:
        notes.append(
            f"{plural(pairs.clusters.n, 'cluster')} ({pairs.clusters.name}) are few to resample: "
            "intervals are rough, and too narrow rather than too wide"
        )
    if (
        n_boot
        and pairs.clusters is not None
        and any(group.attribute == pairs.clusters.name for group in pairs.groups)
    ):
        notes.append(
            f"a group of one {pairs.clusters.name} is one cluster, so that it has no interval"
        )
    bent = [
        pairs.raters[rater]
        for (rater, group), fit in measures.fits.items()
        if not group and fit.at_bound
    ]
    if bent:
        shown = joined([*bent[:5], f"{len(bent) - 5} more"] if len(bent) > 6 else bent)
        notes.append(
            f"{shown}: the fitted curve has no full S shape; predictions meet the scores as a "
            "straight line, a step or one bend"
        )
    return notes
