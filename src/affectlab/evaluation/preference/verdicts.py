"""The verdicts of a preference study: shares, how often one is preferred to the other, how many
machine texts are good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Formula, IntervalFact, Reason
from affectlab.core.inference import (
    check_confidence,
    check_n_boot,
    left_out_uncertainty,
    wilson_interval,
)
from affectlab.core.tables import Count, Figure, Interval, Value
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.preference import wording
from affectlab.evaluation.preference.areas import without_clusters
from affectlab.evaluation.preference.choices import is_both
from affectlab.evaluation.preference.clusters import (
    cluster_codes,
    cluster_column,
    column_of,
    item_columns,
)
from affectlab.evaluation.preference.judged_items import machine_of
from affectlab.evaluation.preference.preferences import Preferences, study_of
from affectlab.evaluation.preference.tally import Rule, exact_interval, no_verdict
from affectlab.ratings import Ratings

_NAN = float("nan")


def preference_verdicts(
    ratings: Preferences | Ratings | Mapping[str, int] | ArrayLike,
    *,
    systems: Sequence[str] | None = None,
    rule: Rule = "majority",
    system: str | None = None,
    sampled: int | None = None,
    cluster: str | Mapping[str, str] | None = "auto",
    n_boot: int | None = None,
    confidence: float = 0.95,
) -> Estimates:
    r"""Count the verdicts of items: how often is each system preferred, or good, or neither.

    Parameters
    ----------
    ratings
        As for :func:`preferences`, or its result; of counts alone, such as published ones, each
        count is taken as verdicts of items.
    systems
        The two systems, where others are compared, too.
    rule
        What makes the verdict of an item with several votes: more than half of them, or more than
        any other choice.
    system
        The system whose texts are good or poor; by default the one called model or machine.

        Where none is, the rows about good texts are left out.
    sampled
        Items that were judged, where only those with a verdict are known.
    cluster
        Stimulus column that says which items belong together, such as their image-caption pair; by
        default pair, where there is one.

        Or what each item belongs to; None: each item to itself.
    n_boot
        More than 0: Student's intervals on log odds, from leaving out items, or clusters, as by
        default where items belong together; they need no replicates. Fewer than five clusters give
        none.

        0: Wilson and exact intervals, which take each verdict as one of its own.
    confidence
        Coverage of the intervals, in (0, 1).

    Returns
    -------
    Estimates by ``measure`` and ``of_what``, with extra columns ``count``, ``of``, ``all_low``
    and ``all_high``:

    - ``verdict``: the share of each choice among items with a verdict; ``all_low`` and
      ``all_high`` hold for all choices at once (Goodman's intervals of multinomial shares; from
      leaving out, Student's at the same coverage);
    - ``ratio``: how many times as often the more preferred system is preferred; with
      :math:`\pi` its share of the two and an interval of Clopper and Pearson,
      :math:`\pi/(1-\pi)`;
    - ``good``: the share of verdicts for the judged system or both;
    - ``decided``: the share of the sampled items that has a verdict;
    - ``good, at least`` and ``good, at most``: the share of the sampled items were all without a
      verdict poor, or good. These are bounds and no estimates.

    Raises
    ------
    InputError
        If there is no verdict, or fewer items were sampled than have one.

    References
    ----------
    Socratis (2023), Table 1; Goodman (1965), "On simultaneous confidence intervals for multinomial
    proportions", Technometrics 7.

    Examples
    --------
    >>> from affectlab.evaluation import preferences
    >>> counts = {"machine": 91, "human": 233, "both good": 47, "both bad": 11}
    >>> table = preference_verdicts(preferences(counts), sampled=500)
    >>> table.finding
    'human is preferred 2.56 times as often as machine (233 to 91; interval 2.00 to 3.30).'
    >>> table["ratio", "human to machine"]
    Estimate(2.560 [2.001, 3.299], ...)
    """
    check_confidence(confidence)
    study = study_of(ratings, systems, rule)
    of_item = cluster
    if isinstance(of_item, str):
        columns = item_columns(ratings if isinstance(ratings, Ratings) else None)
        together = cluster_column(columns, of_item)
        of_item = None if together is None else column_of(columns, together)
    check_n_boot(n_boot or 0)
    of_clusters = of_item is not None if n_boot is None else n_boot > 0
    tally, n_choices = study.tally, len(study.choices)
    code, counts = np.zeros(0, dtype=np.int64), tally.counts[0]
    if tally.items:
        code = tally.verdicts(study.rule)
        counts = np.bincount(code, minlength=n_choices + 1).astype(np.float64)
    elif of_clusters:
        code = np.repeat(np.arange(n_choices), counts.astype(np.int64))
    k, total = counts[:n_choices], int(counts.sum())
    if not k.any():
        raise InputError("no item has a verdict; expected at least one")
    if sampled is not None and sampled < total:
        raise InputError(f"sampled {sampled}: there are {total} items; expected more")
    total = total if sampled is None else sampled
    rows = _rows(study, k, total, system, confidence)
    if of_clusters:
        groups = of_item if tally.items else None
        own = np.arange(code.size) if groups is None else cluster_codes(tally.items, groups)
        chosen = np.eye(n_choices + 1)[code][:, :-1]
        _leave_out(rows, chosen, own, "items" if groups is None else "clusters", confidence)
    return _table(rows, total, study.rule)


def _rows(
    found: Preferences, k: Floats, total: int, system: str | None, confidence: float
) -> list[dict[str, Any]]:
    """Give shares and the ratio with the intervals of verdicts that are each their own."""
    choices, decided = found.choices, float(k.sum())
    each = 1 - (1 - confidence) / len(choices)

    def share(measure: str, name: str, count: float, of: float, **more: Any) -> None:
        low, high = wilson_interval(count, of, confidence)
        what = {"statistic": f"share of {int(of)} items", "interval": _WILSON}
        row = {"value": count / of, "low": float(low), "high": float(high), **what}
        key = {"measure": measure, "of_what": name, "count": int(count), "of": int(of)}
        rows.append(_ROW | key | row | more)

    rows: list[dict[str, Any]] = []
    for at, name in enumerate(choices):
        low, high = wilson_interval(k[at], decided, each)
        ends = {"all_low": float(low), "all_high": float(high)}
        share("verdict", name, k[at], decided, columns=[at], **ends)
    rows.append(_ratio(choices, k, confidence))
    judged = _judged(found, system)
    good = [at for at, name in enumerate(choices) if name == judged or is_both(name)]
    n_good = float(k[good].sum())
    if judged:
        share("good", judged, n_good, decided, columns=good)
    share("decided", "items", decided, float(total))
    if judged:
        bound = {"low": _NAN, "high": _NAN, "statistic": "bound, not an estimate"}
        share("good, at least", judged, n_good, float(total), **bound)
        share("good, at most", judged, n_good + total - decided, float(total), **bound)
    return rows


def _judged(found: Preferences, system: str | None) -> str:
    """Name the system whose texts are good or poor; empty where that is not told."""
    try:
        return machine_of(found.choices[:2], system)
    except InputError:
        if system is not None:
            raise
        return ""


_ROW = {"all_low": _NAN, "all_high": _NAN, "target": "none", "reason": None, "columns": None}
_WILSON = IntervalFact("analytic", formula=Formula.WILSON)
_EXACT = IntervalFact("analytic", formula=Formula.CLOPPER_PEARSON)


def _ratio(choices: Sequence[str], k: Floats, confidence: float) -> dict[str, Any]:
    """Say how many times as often the more preferred system is preferred."""
    more, less = (0, 1) if k[0] >= k[1] else (1, 0)
    a, b = float(k[more]), float(k[less])
    low, high = map(float, exact_interval(np.array(a), np.array(a + b), confidence))
    return _ROW | {
        "measure": "ratio",
        "of_what": f"{choices[more]} to {choices[less]}",
        "more": choices[more],
        "less": choices[less],
        "value": a / b if b else _NAN,
        "low": low / (1 - low) if low < 1 else _NAN,
        "high": high / (1 - high) if high < 1 else float("inf"),
        "count": int(a),
        "of": int(b),
        "statistic": "ratio of verdicts",
        "interval": _EXACT,
        "reason": None if b else Reason(Cause.NEVER_PREFERRED, of=choices[less]),
        "columns": [more, less],
    }


def _leave_out(
    rows: list[dict[str, Any]], chosen: Floats, clusters: Ints, what: str, confidence: float
) -> None:
    """Replace intervals of shares and the ratio by those about other items, or clusters of them.

    Parameters
    ----------
    chosen
        1 for the verdict of each item, shape (items, choices); items without one have none.
    """
    rows = [row for row in rows if row["columns"] is not None and row["reason"] is None]
    top, bottom = np.zeros((2, len(chosen), len(rows)))
    for k, row in enumerate(rows):
        of_two = row["measure"] == "ratio"
        top[:, k] = chosen[:, row["columns"][: 1 if of_two else None]].sum(axis=1)
        bottom[:, k] = (chosen[:, row["columns"]] if of_two else chosen).sum(axis=1)
    left_out = without_clusters(
        lambda weights: ratio(weights @ top, weights @ bottom), clusters, rows=bottom > 0
    )
    for prefix, level in (("", confidence), ("all_", 1 - (1 - confidence) / chosen.shape[1])):
        told = left_out_uncertainty(left_out, level)
        for k, row in enumerate(rows):
            ends, why = np.array([told.low[k], told.high[k]]), told.missing[k]
            constant = why is not None and why.cause is Cause.NO_VARIATION
            if row[f"{prefix}low"] != row[f"{prefix}low"] or constant:
                # Nothing that could vary is no certainty: the interval stays as it is.
                continue
            if row["measure"] == "ratio":
                ends = ratio(ends, 1 - ends, np.inf)
            row[f"{prefix}low"], row[f"{prefix}high"] = ends.tolist()
            row["target"] = "none" if why else "stimuli"
            row["reason"] = why
            row["interval"] = None if why else IntervalFact("jackknife", (what,))


def _table(rows: list[dict[str, Any]], total: int, rule: Rule) -> Estimates:
    import polars as pl

    extra = {"count": pl.Int64, "of": pl.Int64, "all_low": pl.Float64, "all_high": pl.Float64}
    made = Estimates.of_rows(rows, ("measure", "of_what"), extra, n_items=total)
    by_name = {row["measure"]: row for row in rows}
    drawn = by_name["ratio"]["interval"]
    resampled = str(drawn) if drawn is not None and drawn.kind == "jackknife" else ""
    how = wording.intervals_of_verdicts(resampled)
    shown = made.with_layout(
        *_SHOWN, name="verdict_shares", caption="Verdicts of the items.", notes=(how,)
    )
    said = _sentences(by_name, rule)
    figure = Figure(
        "verdicts",
        "shares",
        "verdict_shares",
        "Verdicts of the items",
        description=" ".join(said),
        options={
            "choice": "of_what",
            "rows": {"measure": "verdict"},
            "value_name": "share of the items with a verdict",
        },
    )
    return replace(shown, sentences=said, figures=(figure,))


_SHOWN = (
    Count("count"),
    Count("of"),
    Value(),
    Interval(),
    Interval("all", "all at once"),
)


def _sentences(rows: Mapping[str, Mapping[str, Any]], rule: Rule) -> tuple[str, ...]:
    """Say what the verdicts are in plain words."""
    ratio, decided = rows["ratio"], rows["decided"]
    sentences = []
    if ratio["value"] == ratio["value"]:
        sentences.append(wording.ratio(ratio, ratio["more"], ratio["less"]))
    bounds = None
    if "good" in rows:
        sentences.append(wording.good_items(rows["good"]))
        bounds = rows["good, at least"]["value"], rows["good, at most"]["value"]
    if decided["of"] > decided["count"]:
        sentences.append(wording.items_without_verdict(decided, no_verdict(rule), bounds))
    return tuple(sentences)
