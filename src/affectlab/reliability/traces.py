"""Continuous traces: the lag of each rater, agreement, and gold standards over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.arrays import mean_of_defined, ratio
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.estimates import Estimates
from affectlab.core.inference import Resampled, Target, infer
from affectlab.core.result import Result
from affectlab.core.statistic import Draws
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table, Value, YesNo
from affectlab.core.types import Floats, Ints
from affectlab.core.words import option
from affectlab.ratings import (
    ClusterLike,
    Ratings,
    numeric_part,
    of_known_raters,
    require_order,
    stimulus_clusters,
)
from affectlab.reliability.agreement import (
    AnswerMatrix,
    Beside,
    beside_concordance,
    beside_statistic,
    concordance_of_moments,
    pooled_statistic,
)
from affectlab.reliability.wording import (
    AVERAGE_OF_TRACES,
    GOLD,
    LAGS,
    TRACE_AGREEMENT,
    TRACE_OTHERS,
    TRACE_PAIRS,
    TRACE_RATERS,
    gold_figure,
    gold_title,
    lags_at_limit,
    segments_apart,
    single_traces,
    trace_text,
)

Between: TypeAlias = Literal["linear", "last"]

_MOST_CELLS = 1 << 27
"""Points of the grid, times raters, that are held at once."""
_MOST_ROUNDS = 20
"""Times that the lags of all raters are estimated anew."""
_LEAST_OVERLAP = 0.2
"""Share of a rater's points that a shifted trace must share with the others."""
_SEGMENTS = 10
"""Parts of equal length that each stimulus is cut into."""


@dataclass(frozen=True, eq=False)
class _Traces:
    """The traces of one label on one grid; stimuli stand behind each other with gaps between."""

    value: Floats
    """Shape (raters, points), ``nan`` where there is none; less the mean of all."""
    level: float
    """The mean of all."""
    stimulus: Ints
    """Code of the stimulus of each point, -1 in gaps."""
    at: Floats
    """Seconds of each point."""
    n_stimuli: int

    def shifted(self, lags: Ints) -> _Traces:
        """Move each trace to an earlier time, by so many points."""
        moved = [np.roll(one, -lag) for one, lag in zip(self.value, lags.tolist(), strict=True)]
        value = np.array(moved)
        # What moves into a gap is before the beginning of a stimulus, or behind its end.
        value[:, self.stimulus < 0] = np.nan
        return replace(self, value=value)

    @cached_property
    def panel(self) -> AnswerMatrix:
        """Points as answers; stimuli are the units."""
        inside = self.stimulus >= 0
        return AnswerMatrix(self.value[:, inside], self.stimulus[inside], self.n_stimuli)

    def mean(self) -> Floats:
        """Mean of the raters at each point, ``nan`` where there is nobody."""
        return mean_of_defined(self.value)

    def weights(self) -> Floats:
        """Weights of the evaluator-weighted estimator: correlations with the mean, not below 0."""
        mean = self.mean()
        both = ~np.isnan(self.value) & ~np.isnan(mean)
        x, y = np.where(both, self.value, 0.0), np.where(both, mean, 0.0)
        sums = [both.sum(axis=1), *(one.sum(axis=1) for one in (x, y, x * x, y * y, x * y))]
        r = beside_concordance(np.stack(sums, axis=1).astype(np.float64))[0]
        weights: Floats = np.maximum(np.nan_to_num(r), 0.0)
        return weights


def lags_of(value: Floats, most: int) -> Ints:
    """Estimate by how many points each trace lies behind the others.

    Each trace in turn is moved to where its concordance with the mean of the others, as they have
    been moved so far, is largest, until none moves. Traces alone tell lags beside each other only:
    their mean is 0.

    Parameters
    ----------
    value
        Shape (raters, points), ``nan`` where there is no value; ``most`` points or more without
        any stand between stimuli, and at the end.
    most
        Points that a trace may be moved, either way.

    Returns
    -------
    Lags in points, shape (raters,).
    """
    lags = np.zeros(len(value), dtype=np.int64)
    if most < 1 or len(value) < 2:
        return lags
    known = ~np.isnan(value)
    filled = np.where(known, value, 0.0)
    spectra = [
        np.fft.rfft(part, axis=1) for part in (known.astype(np.float64), filled, filled * filled)
    ]
    n = value.shape[1]
    # Shifts from -most to most, and those nearest to none first: of equals the first counts.
    shifts = np.array(sorted(range(-most, most + 1), key=lambda shift: (abs(shift), shift)))
    for _ in range(_MOST_ROUNDS):
        before = lags.copy()
        # Sums over all traces as they are moved, from which those of the others follow.
        sum_of_all, all_known = np.zeros(n), np.zeros(n)
        for rater in range(len(value)):
            sum_of_all += np.roll(filled[rater], -lags[rater])
            all_known += np.roll(known[rater], -lags[rater])
        for rater in range(len(value)):
            total = sum_of_all - np.roll(filled[rater], -lags[rater])
            count = all_known - np.roll(known[rater], -lags[rater])
            has = count > 0
            mean = np.divide(total, count, out=np.zeros(n), where=has)
            of_mean = [np.fft.rfft(part) for part in (has.astype(np.float64), mean, mean * mean)]
            # Sums of products of moments of the trace and of the mean, at each shift.
            products = [
                np.fft.irfft(spectra[own][rater] * np.conj(of_mean[other]), n)[shifts]
                for own, other in ((0, 0), (1, 0), (0, 1), (2, 0), (0, 2), (1, 1))
            ]
            sums = np.stack([np.rint(products[0]), *products[1:]], axis=1)
            agreement = concordance_of_moments(sums)
            agreement[sums[:, 0] < _LEAST_OVERLAP * known[rater].sum()] = np.nan
            if not np.isnan(agreement).all():
                lags[rater] = shifts[np.nanargmax(agreement)]
            sum_of_all = total + np.roll(filled[rater], -lags[rater])
            all_known = count + np.roll(known[rater], -lags[rater])
        lags -= int(np.rint(lags.mean()))
        if (lags == before).all():
            break
    return np.clip(lags, -most, most)


@of_known_raters
def traces(
    ratings: Ratings,
    *,
    step: float | None = None,
    between: Between = "linear",
    max_lag: float = 6.0,
    reaction: float = 0.0,
    interval: Resampled = "jackknife",
    target: Target = "both",
    n_boot: int = 1000,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Result:
    r"""Align continuous traces, measure how far raters agree, and give gold standards over time.

    A trace is what a rater said of one stimulus and label again and again, such as valence during
    a film. All traces are put on one grid of times. Raters react with different delays: each trace
    is moved to where its concordance with the mean of the others is largest. Of the moved traces
    :math:`x_k`, the gold standards are their mean :math:`\bar x` and the evaluator-weighted
    estimator

    .. math:: x_\text{EWE}(t) = \frac{\sum_k r_k x_k(t)}{\sum_k r_k},
        \quad r_k = \max(0, \mathrm{corr}(x_k, \bar x)).

    Parameters
    ----------
    ratings
        Ratings with a column ``at``: seconds since the stimulus began.
    step
        Seconds between points of the grid; by default the median time between answers.
    between
        What holds between two answers: a straight line (linear), or the last answer (last).

        The latter suits traces of which only changes were recorded; it holds to the end.
    max_lag
        Seconds that a trace may be moved either way; 0 for none.
    reaction
        Seconds by which all raters together lag behind the stimulus.

        Traces cannot tell this: their own lags are beside each other, with a mean of 0. The gold
        standards are moved by so much to earlier times.
    interval
        How intervals come about: ``"jackknife"`` (leaving out one stimulus, one rater, or either
        at a time), or bootstrap replicates and their ``"percentile"`` or ``"bca"`` ends.
    target
        What intervals are about: other ``stimuli``, other ``raters``, or ``both``; ``sample`` for
        none. Of one stimulus it is other raters.
    n_boot
        Bootstrap replicates, where intervals come from these; 0 for none.
    confidence
        Coverage of the intervals, in (0, 1).
    cluster
        What stimuli belong to, and are drawn and left out with: a column of the stimulus table, or
        a mapping from stimulus to cluster; ``"none"`` for stimuli drawn one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.
    seed
        Seed or generator of replicates, and of groups that are left out.

    Returns
    -------
    Result
        ``agreement``: Lin's concordance of all raters over all points, by label, once traces are
        moved; ``as_recorded`` before. ``raters``: by label and rater ``lag`` in seconds, the
        concordance with the mean of the others, the same ``as_recorded``, and the ``weight``.
        ``gold``: by label, stimulus and time ``mean``, ``ewe``, ``sd`` and ``n_raters``.
        ``segments``: by label and tenth of a stimulus the mean SD of raters, and whether it is
        larger than the SD of the mean trace over the whole stimulus: then raters differ more from
        one another than what they rate changes. Intervals take lags as they are.

    Raises
    ------
    InputError
        If there are no times in seconds, no two raters share a stimulus, or a number is out of
        range.

    References
    ----------
    Lin (1989), Biometrics 45, for concordance. Grimm and Kroschel (2005), ASRU, for the estimator.
    Mariooryad and Busso (2015), IEEE Transactions on Affective Computing 6, for reaction lags.

    Examples
    --------
    Three raters follow a film, the second a second later than the others:

    >>> rater, at = (part.ravel() for part in np.indices((3, 300)))
    >>> value = np.sin((at * 0.1 - (rater == 1)) / 3)
    >>> ratings = Ratings({"stimulus": ["film"] * 900, "rater": rater, "at": at * 0.1,
    ...                    "value": value}, scale="-2-2 interval")
    >>> result = traces(ratings)
    >>> result.to_frame("raters")["lag"].round(1).to_list()
    [-0.3, 0.7, -0.3]
    """
    check_number("max_lag", max_lag, 0)
    if step is not None:
        check_number("step", step, 0, above=True)
    check_choice("between", between, ("linear", "last"))
    used = numeric_part(ratings).answers(every=True)
    require_order(used, AVERAGE_OF_TRACES)
    at, step = _seconds(used, step)
    most = int(max_lag / step + 1e-9)
    recorded, n_single = _on_grid(used, at, step, between, most)
    n_raters, labels = used.n_raters, used.label_names
    lags = [lags_of(part.value, most) for part in recorded]
    aligned = [part.shifted(lag) for part, lag in zip(recorded, lags, strict=True)]
    single = used.n_stimuli == 1
    about: Target = "raters" if target == "both" and single else target
    found = stimulus_clusters(used, cluster)
    options: dict[str, Any] = {
        "interval": interval,
        "target": about,
        "n_boot": n_boot,
        "confidence": confidence,
        "seed": seed,
        "clusters": found.on(used.stimulus_names),
    }
    everyone = np.arange(n_raters)
    among = infer(
        pooled_statistic(
            [part.panel for part in aligned],
            everyone,
            labels,
            TRACE_PAIRS,
            n_raters,
        ),
        **options,
    )
    if not (among.frame["n_raters"] > 1).any():
        raise InputError("no two raters have traces of the same stimulus at the same time")
    beside = infer(
        beside_statistic(
            [Beside(part.panel.value, part.panel, everyone) for part in aligned],
            labels,
            used.rater_names,
            [TRACE_OTHERS] * n_raters,
            everyone,
            n_raters,
        ),
        **options,
    )
    weights = [part.weights() for part in aligned]
    gold = _gold(used, aligned, weights, reaction)
    tables = (
        _agreement(among, recorded),
        _of_raters(beside, recorded, lags, weights, step),
        gold,
        _segments(gold.frame),
    )
    return Result(
        tables,
        (
            *_sentences(tables[0].frame, tables[1].frame, most),
            *_apart_in_words(tables[3].frame),
        ),
        tuple(_figures(tables[2].frame)),
        (
            *_notes(tables[1].frame, n_single, max_lag, step, most),
            *found.notes_for(among.frame["target"]),
        ),
        {
            "step": step,
            "between": between,
            "max_lag": max_lag,
            "reaction": reaction,
            "interval": interval,
            "target": about,
            "n_boot": n_boot,
            "confidence": confidence,
        },
    )


def _seconds(used: Ratings, step: float | None) -> tuple[Floats, float]:
    """Give the time of each answer, and the step of the grid."""
    expected = "expected a column 'at' with the seconds since the stimulus began"
    if "at" not in used.frame.columns:
        raise InputError(f"traces have times: {expected}")
    at = used.frame["at"].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    if not np.isfinite(at).all():
        row = int(np.flatnonzero(~np.isfinite(at))[0])
        raise InputError(f"time {used.frame['at'][row]!r} is no number; {expected}")
    if step is not None:
        return at, step
    order = np.lexsort((at, *_codes(used)))
    same = np.all([code[order][1:] == code[order][:-1] for code in _codes(used)], axis=0)
    gaps = np.diff(at[order])[same]
    gaps = gaps[gaps > 0]
    if not gaps.size:
        raise InputError(
            "no rater answered a question at two times; traces need many answers, each with its "
            "time in the column 'at'"
        )
    return at, float(np.median(gaps))


def _codes(used: Ratings) -> tuple[Ints, ...]:
    label = used.label_code if used.has_labels else np.zeros(used.n_rows, dtype=np.int64)
    return tuple(
        np.asarray(code, dtype=np.int64) for code in (used.rater_code, used.stimulus_code, label)
    )


def _on_grid(
    used: Ratings, at: Floats, step: float, between: Between, most: int
) -> tuple[list[_Traces], int]:
    """Put the traces of each label on a grid; traces of one answer are left out, and counted."""
    rater, stimulus, label = _codes(used)
    value = np.asarray(used.value, dtype=np.float64)
    order = np.lexsort((at, rater, stimulus, label))
    rater, stimulus, label = (part[order] for part in (rater, stimulus, label))
    at, value = at[order], value[order]
    key = (label * used.n_stimuli + stimulus) * used.n_raters + rater
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    ends = np.append(starts[1:], key.size)
    first, last = np.floor(at.min() / step + 1e-9), np.ceil(at.max() / step - 1e-9)
    if (last - first + most) * used.n_stimuli * used.n_raters > _MOST_CELLS:
        raise InputError(
            f"a grid of {last - first:,.0f} points for each stimulus and rater is too large; "
            f"expected a longer step ({option('step', round(10 * step, 6))})"
        )
    parts, n_single = list[_Traces](), 0
    for code in range(used.n_labels):
        blocks, places, times = list[Floats](), list[Ints](), list[Floats]()
        for one in range(used.n_stimuli):
            rows = [
                slice(start, end)
                for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
                if label[start] == code and stimulus[start] == one
            ]
            if not rows:
                continue
            low = min(at[part][0] for part in rows)
            high = max(at[part][-1] for part in rows)
            first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
            # Adding 0 makes 0 of -0.
            grid = np.arange(first, last + 1) * step + 0.0
            # Points without a value keep stimuli apart while traces are moved.
            block = np.full((used.n_raters, grid.size + most), np.nan)
            for part in rows:
                if part.stop - part.start < 2:
                    n_single += 1
                    continue
                block[rater[part.start], : grid.size] = _between(
                    grid, at[part], value[part], between, step
                )
            blocks.append(block)
            places.append(np.append(np.full(grid.size, one), np.full(most, -1)))
            times.append(np.append(grid, np.full(most, np.nan)))
        if not blocks:
            blocks, places = [np.full((used.n_raters, 0), np.nan)], [np.zeros(0, dtype=np.int64)]
            times = [np.zeros(0)]
        whole = np.concatenate(blocks, axis=1)
        level = float(np.nanmean(whole)) if not np.isnan(whole).all() else 0.0
        place = np.concatenate(places).astype(np.int64)
        parts.append(_Traces(whole - level, level, place, np.concatenate(times), used.n_stimuli))
    return parts, n_single


def _between(grid: Floats, at: Floats, value: Floats, between: Between, step: float) -> Floats:
    """Values of a trace at the points of a grid."""
    slack = 1e-9 * step
    if between == "last":
        place = np.searchsorted(at, grid + slack, side="right") - 1
        return np.where(place >= 0, value[np.maximum(place, 0)], np.nan)
    inside = (grid >= at[0] - slack) & (grid <= at[-1] + slack)
    return np.where(inside, np.interp(grid, at, value), np.nan)


def _agreement(among: Estimates, recorded: Sequence[_Traces]) -> Table:
    before = [part.panel.pooled(Draws(1))[0] for part in recorded]
    frame = among.frame.with_columns(as_recorded=pl.Series(before, dtype=pl.Float64))
    columns = (
        Key("label"),
        Value(head="concordance"),
        Interval(),
        Number("as_recorded", "as recorded"),
        Count("n_items", "stimuli"),
        Count("n_raters", "raters"),
    )
    return Table("agreement", TRACE_AGREEMENT, frame, columns)


def _of_raters(
    beside: Estimates,
    recorded: Sequence[_Traces],
    lags: Sequence[Ints],
    weights: Sequence[Floats],
    step: float,
) -> Table:
    before = []
    for part in recorded:
        own = Beside(part.panel.value, part.panel, np.arange(len(part.value)))
        before.append(own.values(Draws(1))[0])
    shares = [one / one.sum() if one.sum() > 0 else one for one in weights]
    frame = beside.frame.with_columns(
        lag=pl.Series(np.concatenate(lags) * step),
        as_recorded=pl.Series(np.concatenate(before)),
        weight=pl.Series(np.concatenate(shares)),
    )
    traced = np.concatenate([(~np.isnan(part.value)).any(axis=1) for part in recorded])
    columns = (
        Key("label"),
        Key("rater"),
        Number("lag", unit="s"),
        Value(head="concordance"),
        Interval(),
        Number("as_recorded", "as recorded"),
        Number("weight"),
        Count("n_items", "stimuli", spare=True),
    )
    caption = TRACE_RATERS
    return Table("raters", caption, frame.filter(pl.Series(traced)), columns, notes=(LAGS,))


def _gold(
    used: Ratings, aligned: Sequence[_Traces], weights: Sequence[Floats], reaction: float
) -> Table:
    frames = []
    for label, part, weight in zip(used.label_names, aligned, weights, strict=True):
        known = ~np.isnan(part.value)
        n = known.sum(axis=0)
        mean = part.mean()
        filled = np.where(known, part.value, 0.0)
        own = weight @ known
        ewe = ratio(weight @ filled, own)
        squares = np.where(known, (part.value - mean) ** 2, 0.0).sum(axis=0)
        sd = np.sqrt(ratio(squares, n - 1))
        rows = (part.stimulus >= 0) & (n > 0)
        names = np.array(used.stimulus_names, dtype=object)[part.stimulus[rows]]
        frames.append(
            pl.DataFrame(
                {
                    "label": [label] * int(rows.sum()),
                    "stimulus": names.tolist(),
                    "at": part.at[rows] - reaction,
                    "mean": mean[rows] + part.level,
                    "ewe": ewe[rows] + part.level,
                    "sd": sd[rows],
                    "n_raters": n[rows],
                },
                schema_overrides={"label": pl.String, "stimulus": pl.String},
            )
        )
    columns = (
        Key("label"),
        Key("stimulus"),
        Key("at"),
        Number("mean"),
        Number("ewe", "EWE"),
        Number("sd", "SD of raters"),
        Count("n_raters", "raters"),
    )
    caption = GOLD
    return Table("gold", caption, pl.concat(frames), columns, limit=0)


def _segments(gold: pl.DataFrame) -> Table:
    """Compare how raters differ in each part of a stimulus with how their mean changes in all."""
    about = ["label", "stimulus"]
    start, end = pl.col("at").min().over(about), pl.col("at").max().over(about)
    part = ((pl.col("at") - start) * _SEGMENTS / (end - start)).floor()
    frame = (
        gold.filter(pl.col("n_raters") > 1)
        .with_columns(
            part=part.fill_nan(0).clip(0, _SEGMENTS - 1).cast(pl.Int64),
            change=pl.col("mean").std().over(about),
        )
        .group_by(*about, "part", maintain_order=True)
        .agg(
            start=pl.col("at").min(),
            end=pl.col("at").max(),
            sd=pl.col("sd").pow(2).mean().sqrt(),
            change=pl.col("change").first(),
        )
        .with_columns(apart=pl.col("sd") > pl.col("change"))
    )
    columns = (
        Key("label"),
        Key("stimulus"),
        Key("part"),
        Number("start", unit="s"),
        Number("end", unit="s"),
        Number("sd", "SD of raters"),
        Number("change", "SD of the mean over time"),
        YesNo("apart", "without agreement"),
    )
    caption = "How far raters differ in each tenth of a stimulus."
    return Table("segments", caption, frame, columns, limit=0)


def _apart_in_words(segments: pl.DataFrame) -> Iterator[str]:
    """Name the segments without agreement, those in which raters differ most first."""
    apart = segments.filter("apart").sort("sd", descending=True, maintain_order=True)
    if apart.is_empty():
        return
    several = segments["label"].n_unique() > 1
    places = [
        (row["stimulus"], row["label"] if several else "", row["start"], row["end"])
        for row in apart.iter_rows(named=True)
    ]
    yield segments_apart(places, segments.height)


def _sentences(among: pl.DataFrame, raters: pl.DataFrame, most: int) -> Iterator[str]:
    for row in among.drop_nans("value").iter_rows(named=True):
        lags = raters.filter(label=row["label"])["lag"].to_numpy()
        label = row["label"] if among.height > 1 else ""
        ends = (float(lags.min()), float(lags.max())) if most else None
        yield trace_text(row["n_raters"], label, row["value"], row["as_recorded"], ends)


def _figures(gold: pl.DataFrame) -> Iterator[Figure]:
    for label in gold["label"].unique(maintain_order=True):
        yield Figure(
            "traces" if gold["label"].n_unique() < 2 else f"traces_{label}",
            "traces",
            "gold",
            gold_title(label),
            description=gold_figure(gold.filter(label=label)["stimulus"].n_unique()),
            options={"label": label},
        )


def _notes(
    raters: pl.DataFrame, n_single: int, max_lag: float, step: float, most: int
) -> Iterator[str]:
    if n_single:
        yield single_traces(n_single)
    ends = raters.filter(pl.col("lag").abs() > (most - 0.5) * step)["rater"].n_unique()
    if most and ends:
        yield lags_at_limit(ends, option("max_lag", max_lag))
