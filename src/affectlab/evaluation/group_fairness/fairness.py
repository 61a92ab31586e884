"""Is a model as good for one group as for another, and do groups of people rate alike."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice
from affectlab.core.estimates import Estimates
from affectlab.core.inference import by_name, check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, PValue, Table, Text
from affectlab.core.words import joined, number, p_value, plural
from affectlab.evaluation.classes import Truth, read_truth
from affectlab.evaluation.group_fairness.gaps import Correction, judge_groups
from affectlab.evaluation.group_fairness.groups import Edges, clusters_of, grouping_of
from affectlab.evaluation.group_fairness.metrics import AnswerMetric, MetricLike, load_metric
from affectlab.evaluation.group_fairness.tables import Plan, Settings, gap_table, group_table
from affectlab.evaluation.group_fairness.units import Options, counted, sides_of, units_of
from affectlab.evaluation.label_facts import CostsLike, TaxonomyLike
from affectlab.evaluation.people_and_models import (
    Rounding,
    answer_steps,
    check_models,
    judged_runs,
    moved,
    scale_map,
    sides,
)
from affectlab.ratings import HUMAN_KINDS, MODEL_KINDS, Ratings
from affectlab.ratings.order import canonical

__all__ = [
    "Fairness",
    "fairness",
]

# What fairness found: values by group, gaps, and what they say in sentences.


_WORDS = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Fairness(Result):
    """A metric by group, and the gaps between groups; made by :func:`fairness`.

    Its table has groups and gaps, told apart by the column ``part``.
    """

    metric: AnswerMetric
    by: str
    """The attributes that make the groups."""
    alpha: float
    min_gap: float
    correction: str
    n_tests: int
    """Gaps that were tested, for which p values are corrected."""
    things: str
    """What groups consist of: people or stimuli."""

    @property
    def groups(self) -> Estimates:
        """By rater, label (where asked for) and group; ``flagged`` where a gap of it is shown."""
        return Estimates((self.table("groups"),))

    @property
    def gaps(self) -> Estimates:
        """By rater, label (where asked for), group and against.

        The value of the group less that of what it is held against. Extra columns ``p``,
        ``p_corrected``, ``flagged`` and ``detectable``, the gap that would be shown four times in
        five.
        """
        return Estimates((self.table("gaps"),))

    def flagged(self) -> pl.DataFrame:
        """Give the gaps that are shown and no smaller than wanted, largest first."""
        return self.gaps.frame.filter(pl.col("flagged")).sort(
            pl.col("value").abs(), descending=True, maintain_order=True
        )


_BETTER = {
    "higher": ", higher is better",
    "lower": ", lower is better",
    "zero": ", 0 is best",
    "neither": "",
}


def _tables(groups: Estimates, gaps: Estimates, heading: str, things: str) -> tuple[Table, ...]:
    """Give groups and gaps in one table, and each in one of its own."""
    keys = [key for key in gaps.keys if key in ("rater", "label")]
    shown_gaps = gaps.frame.filter(pl.col("flagged"))
    sides = [shown_gaps.select(*keys, group=name) for name in ("group", "against")]
    # Where a group stands out from another, both are stressed; the rest is no group.
    loud = pl.concat(sides).unique(maintain_order=True).with_columns(flagged=pl.lit(True))
    short = pl.col("status").str.split(":").list.first()
    of_groups = groups.frame.join(
        loud, on=[*keys, "group"], how="left", maintain_order="left"
    ).with_columns(
        pl.col("flagged").fill_null(False),
        remark=pl.when(pl.col("status") == "ok").then(pl.lit("")).otherwise(short),
    )
    of_gaps = gaps.frame.with_columns(
        said=pl.when("flagged")
        .then(pl.lit("shown"))
        .when(pl.col("status") != "ok")
        .then(short)
        .when(pl.col("p").is_nan())
        .then(pl.lit("not tested"))
        .otherwise(pl.lit("not shown"))
    )
    whole = pl.concat(
        [
            groups.frame.with_columns(part=pl.lit("group")),
            gaps.frame.with_columns(part=pl.lit("gap")),
        ],
        how="diagonal",
    )
    first = ["part", *gaps.keys]
    whole = whole.select(*first, *(name for name in whole.columns if name not in first))
    named = tuple(Key(key) for key in keys)
    interval = (Interval(),) if whole["low"].is_not_nan().any() else ()
    size = Count("n_raters" if things == "people" else "n_items", things)
    remark = (Text("remark"),) if (of_groups["remark"] != "").any() else ()
    columns = (*named, Key("group"), size, Number("value", decimals=3), *interval, *remark)
    of_gap = (
        *named,
        Key("group"),
        Key("against"),
        Number("value", "gap", decimals=3),
        *interval,
        PValue("p", spare=True),
        PValue("p_corrected", "corrected p"),
        Text("said", "gap is"),
    )
    return (
        Table("fairness", "Groups and gaps.", whole, (Key("part"), *columns[:-1]), limit=0),
        Table("groups", heading, of_groups, columns),
        Table("gaps", "Gaps: each group less what it is held against.", of_gaps, of_gap),
    )


def _figures(
    tables: tuple[Table, ...], found: Fairness, sentences: Sequence[str]
) -> Iterator[Figure]:
    """Declare the values of groups, and the gaps where there are any."""
    of_gaps = tables[2]
    title = f"{found.metric.title} by {found.by}"
    section = [key for key in of_gaps.keys if key in ("rater", "label")]
    said = " ".join(sentences)
    options: dict[str, Any] = {
        "row": ("group",),
        "section": section,
        "value_name": title,
        "size": "n_raters" if found.things == "people" else "n_items",
        "line": 0.0 if found.metric.better == "zero" else None,
    }
    caption = f"Number of {found.things} beside the name of a group; lines: intervals."
    yield Figure("fairness", "fairness", "groups", title, caption, said, options)
    if of_gaps.frame["value"].is_not_nan().any():
        options = {
            "row": ("group", "against"),
            "section": section,
            "value_name": f"gap in {title}",
            "line": 0.0,
            "band": found.min_gap,
        }
        yield Figure("fairness_gaps", "fairness", "gaps", f"Gaps in {title}", "", said, options)


def _sentences(found: Fairness) -> tuple[str, ...]:
    """One sentence for each gap that is shown, or for each rater that none is."""
    said = [_flag(found, row) for row in found.flagged().iter_rows(named=True)]
    quiet = (_none(found, rater) for rater in found.gaps.frame["rater"].unique(maintain_order=True))
    return (*said, *filter(None, quiet))


def _flag(found: Fairness, row: dict[str, Any]) -> str:
    value, low, high = row["value"], row["low"], row["high"]
    about = f" of {row['label']}" if row.get("label") else ""
    side = "higher" if value > 0 else "lower"
    interval = "" if low != low else f" (interval {number(low, 3)} to {number(high, 3)})"
    how = _WORDS.get(found.correction)
    after = f" after {how}'s correction for {found.n_tests} tests" if how else ", not corrected"
    after = after if found.n_tests > 1 else ""
    shown = p_value(row["p_corrected"])
    return (
        f"{row['rater']}: {found.metric.title}{about} is {number(abs(value), 3)} {side} for "
        f"{row['group']} than for {_against(row['against'])}{interval}, p {shown}{after}"
        f"{_judgement(found, value)}."
    )


def _judgement(found: Fairness, gap: float) -> str:
    if found.metric.better not in ("higher", "lower"):
        return ""
    worse = (gap < 0) == (found.metric.better == "higher")
    return "; that is worse for the former" if worse else "; that is better for the former"


def _none(found: Fairness, rater: str) -> str:
    """One sentence on the gaps of a rater that are not flagged, empty where all are."""
    mine = found.gaps.frame.filter(pl.col("rater") == rater)
    tested = mine.filter(pl.col("p").is_not_nan())
    if tested.height == 0:
        why = joined(dict.fromkeys(mine["status"].to_list())) if mine.height else "no groups"
        return f"{rater}: no gap by {found.by} could be tested ({why})."
    if mine["flagged"].any():
        return ""
    hopeless = tested.filter(pl.col("status").str.starts_with("cannot be shown"))
    if hopeless.height == tested.height:
        why = hopeless["status"][0].partition(": ")[2]
        return f"{rater}: no gap in {found.metric.title} by {found.by} could be shown: {why}."
    sizes = _sizes(found, rater)
    small = tested.filter(pl.col("p_corrected") <= found.alpha)
    if small.height:
        largest = float(small["value"].abs().max())  # type: ignore[arg-type]
        return (
            f"{rater}: gaps in {found.metric.title} by {found.by} are shown, but none reaches "
            f"{number(found.min_gap, 3)}; the largest is {number(largest, 3)} ({sizes})."
        )
    missed = _missed(sorted(tested["detectable"].drop_nans().to_list()))
    return f"{rater}: no gap in {found.metric.title} by {found.by} is shown; {sizes}, {missed}."


def _missed(could: Sequence[float]) -> str:
    if not could:
        return "without intervals it is not known how large a gap could have been missed"
    least, most = number(could[0], 3), number(could[-1], 3)
    if least == most:
        return f"a gap below {most} could have been missed"
    return f"a gap below {least} to {most}, as groups go, could have been missed"


def _sizes(found: Fairness, rater: str) -> str:
    column = "n_raters" if found.things == "people" else "n_items"
    mine = found.groups.frame.filter(pl.col("rater") == rater)[column]
    low, high = int(mine.min()), int(mine.max())  # type: ignore[arg-type]
    if low == high:
        return f"with {counted(low, found.things)} in a group"
    return f"with {low:,} to {high:,} {found.things} in a group"


def _against(name: object) -> str:
    return "the rest" if name == "rest" else str(name)


_LEAST_PERMUTATIONS = 1999
_MOST_PERMUTATIONS = 19999
_FEW_CLUSTERS = 10
"""Clusters in a group below which the bootstrap is rough."""


def fairness(
    ratings: Ratings,
    models: Ratings | None = None,
    *,
    by: str | Sequence[str],
    metric: MetricLike = "mae",
    against: str = "rest",
    edges: Edges | None = None,
    labels: Sequence[str] | None = None,
    by_label: bool = False,
    cluster: str | None = None,
    truth: Truth = "people",
    taxonomy: TaxonomyLike | None = None,
    costs: CostsLike | None = None,
    people: bool | None = None,
    min_items: int = 5,
    min_gap: float = 0.0,
    alpha: float = 0.05,
    correction: Correction = "holm",
    n_boot: int = 1000,
    n_permutations: int | None = None,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Fairness:
    r"""Compute a metric by group of stimuli or of people, and test the gaps between groups.

    Parameters
    ----------
    ratings
        People, or people and models.
    models
        Models in a table of their own. Runs that control another
        (:func:`~affectlab.evaluation.main_runs`) are not judged. Errors and agreement are those on
        the people's scale (:func:`~affectlab.evaluation.on_scale`); correlations those of the
        models' own values.
    by
        Attribute that makes the groups: ``stimulus.gender``, ``rater.age``, or crossed:
        ``rater.gender x rater.age``.

        Also the bare name where only one table has it, or a list. Groups of stimuli say whether a
        model is worse on some of them. Groups of people say whether it agrees with some people more
        than with others; each person's own value counts once, whatever the number of their answers.
    metric
        mae, bias, spearman, quadratic_kappa, mean, alpha; for classes accuracy, acc2, ecc, emc,
        macro_f1, …; of people a coefficient of agreement, such as gwet_ac; or one that an installed
        package adds.

        In Python also an :class:`~affectlab.evaluation.AnswerMetric`, or a function of the truth
        and the answers; :func:`~affectlab.evaluation.list_metrics` has the names.

        - ``mae``, ``bias`` (answer less truth), ``spearman``: answers beside the mean of people,
          for people the mean of the *other* people. In ``bias`` by attributes of people each person
          is part of the panel, so that a gap is the difference of two groups' ratings.
        - ``quadratic_kappa``: models beside each person.
        - ``mean``: the mean rating. ``alpha``: agreement of the people among themselves (interval
          distance, nominal where answers have no order).
        - metrics of classes: ``accuracy``, ``acc2``, ``ecc``, ``emc``, ``macro_f1``, …

        Where there are several labels, ``spearman``, ``quadratic_kappa`` and ``alpha`` are means
        over labels, the others means over all answers.
    against
        What a group is compared with: ``rest``, all others; a group by name; or ``largest`` for the
        two groups furthest apart, tested as such.
    edges
        Where to cut attributes that are numbers: ``age=30,50`` makes under 30, 30 to under 50, and
        50 and over.

        In Python ``{"age": [30, 50]}``, too.
    labels
        Labels to use; all when not given.
    by_label
        Judge each label by itself, which makes more tests.
    cluster
        Attribute within which answers depend on each other, such as ``stimulus.actor``.

        It belongs to the same carrier as the groups. Clusters are then resampled and permuted
        whole; without it, gaps between the few actors of a group pass for gaps between the groups.
    truth
        For classes: ``people``; ``attribute:NAME`` of the stimuli; ``rater:NAME``; or a file (see
        :func:`~affectlab.evaluation.read_truth`).
    taxonomy
        For classes, as in :func:`~affectlab.evaluation.classes_of`.
    costs
        What mistakes between classes cost: ``ring``, ``groups``, ``reference`` (of the taxonomy),
        or a file with a matrix (see :func:`~affectlab.evaluation.read_costs`); by default what the
        taxonomy has.
    people
        Judge people too; by default where there is no model.
    min_items
        Stimuli, or people, that a group needs to be tested.

        Smaller ones are shown, and belong to the rest.
    min_gap
        Smallest gap that matters, in units of the metric: smaller estimates are never flagged.
    alpha
        Error rate over all gaps of this call.
    correction
        Correction for many tests: ``holm`` (chance of any false flag), ``bh`` (expected share of
        false flags; Benjamini-Hochberg) or ``none``.
    n_boot
        Bootstrap replicates of the units within each group; 0 gives no interval.
    n_permutations
        Permutations of a test; 0 gives none.

        By default 1,999, or more where the correction needs smaller p values, at most 19,999.
    confidence
        Coverage of the percentile intervals, each by itself.
    seed
        For replicates, permutations and ties of classes.

    Returns
    -------
    :class:`Fairness`. A gap is ``flagged`` where its corrected p value is at most `alpha` and the
    estimate is no smaller than `min_gap`. ``detectable`` is
    :math:`(z_{1 - \alpha/2m} + z_{0.8})\,\mathrm{se}` for m tests (1 without correction): a true
    gap of that size is shown in four of five studies like this one.

    A p value is the larger one of two. The permutation test asks whether groups could trade places,
    and is exact where they could; groups that differ in spread, or in how many mistakes a ratio
    rests on, cannot, although their values may be equal. So each gap must also be large beside its
    jackknife standard error, in which each side has its own spread (a t test as Welch's; Games and
    Howell's for ``"largest"``). EMC has no interval and no test with fewer than 10 mistakes.

    That a gap reaches `min_gap` is said of the estimate; the test is about a gap of 0.

    Raises
    ------
    InputError
        When an attribute, metric or group is not known, numbers come without edges, or models
        cannot be put on the people's scale (see :func:`~affectlab.evaluation.on_scale`).

    References
    ----------
    Phipson and Smyth (2010) for permutation p values; Welch (1947), Janssen (1997) and, for the
    largest gap, Games and Howell (1976), for groups of unequal spread; Holm (1979); Benjamini and
    Hochberg (1995).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> stimuli = [f"s{k}" for k in range(40)]
    >>> gender = ["man", "woman"] * 20
    >>> level = rng.integers(1, 6, 40)
    >>> people = Ratings({"stimulus": stimuli * 2, "rater": ["ann"] * 40 + ["ben"] * 40,
    ...                   "value": [*level, *level]}, scale="0-7",
    ...                  stimuli={"stimulus": stimuli, "gender": gender})
    >>> model = Ratings({"stimulus": stimuli, "rater": ["net"] * 40,
    ...                  "value": level + np.tile([0, 1], 20)}, scale="0-7")
    >>> found = fairness(people, model, by="stimulus.gender", n_permutations=999, seed=1)
    >>> found.groups["net", "woman"].value, found.gaps["net", "woman", "man"].value
    (1.0, 1.0)
    >>> found.flagged().height
    1
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    check_confidence(confidence)
    chosen = load_metric(metric)
    if isinstance(truth, str) and Path(truth).is_file():
        truth = read_truth(truth)
    _check_options(alpha, min_gap, min_items, correction, n_boot, n_permutations)
    asked, judged, left_out = _compared(ratings, models, chosen, truth)
    has_people = bool(set(asked.rater_kinds) & set(HUMAN_KINDS))
    with_people = judged is None if people is None else people
    with_people = with_people and has_people and chosen.needs != "pairs"
    if chosen.needs == "pairs" and judged is None:
        raise InputError(
            f"metric {chosen.name!r} compares models with people; there is no model here, and "
            "'alpha' compares people with each other"
        )
    grouping = grouping_of(by, asked, judged, edges)
    if grouping.carrier == "rater" and not has_people:
        raise InputError(f"by {grouping.name!r}: no rater is human; expected groups of people")
    if chosen.with_self and grouping.carrier == "stimulus" and with_people:
        # The differences of people from the other people of a stimulus add up to 0.
        if judged is None:
            raise InputError(
                f"metric {chosen.name!r} of people by {grouping.name!r} is 0 whatever they answer; "
                "expected models, another metric, or groups of people"
            )
        with_people = False
        left_out = (*left_out, f"People are not judged: their {chosen.title} is 0 on any stimuli.")
    units = units_of(
        grouping, None if cluster is None else clusters_of(cluster, grouping, asked, judged)
    )
    if chosen.needs == "answers" and grouping.carrier == "rater":
        # How high a person rates has nothing to do with models.
        judged, with_people = None, True
    rng = np.random.default_rng(seed)
    options = Options(grouping.carrier == "rater", truth, taxonomy, costs, int(rng.integers(2**31)))
    found = list(
        sides_of(
            asked,
            judged,
            chosen,
            units,
            options,
            labels=labels,
            by_label=by_label,
            with_people=with_people,
        )
    )
    plans = [Plan(side, units, grouping.groups, against, min_items) for side in found]
    n_tests = sum(len(plan.contrasts(np.zeros(len(grouping.groups)))) for plan in plans)
    if n_permutations is None:
        needed = math.ceil(10 * (n_tests if correction != "none" else 1) / alpha)
        n_permutations = min(max(_LEAST_PERMUTATIONS, needed - 1), _MOST_PERMUTATIONS)
    judged_plans = {
        k: judge_groups(
            plans[k].side.evaluate,
            plans[k].codes,
            len(grouping.groups),
            plans[k].contrasts,
            rng,
            n_boot=n_boot,
            n_permutations=n_permutations,
        )
        for k in by_name(f"{plan.side.rater}\0{plan.side.label}" for plan in plans)
    }
    results = [judged_plans[k] for k in range(len(plans))]
    settings = Settings(
        metric=chosen,
        by_label=by_label,
        cluster=cluster,
        alpha=alpha,
        min_gap=min_gap,
        correction=correction,
        n_boot=n_boot,
        n_permutations=n_permutations,
        confidence=confidence,
    )
    gaps, n_tests = gap_table(plans, results, settings)
    title = f"{chosen.title[0].upper()}{chosen.title[1:]}"
    heading = f"{title} by {grouping.name}{_BETTER[chosen.better]}."
    made = _tables(group_table(plans, results, settings), gaps, heading, units.things)
    result = Fairness(
        made,
        notes=(
            *left_out,
            *grouping.notes,
            *_too_small(plans),
            *_few_clusters(plans, cluster, n_boot),
        ),
        settings={
            "metric": chosen.name,
            "title": chosen.title,
            "by": grouping.name,
            "against": against,
            "correction": correction,
            "alpha": alpha,
            "min_gap": min_gap,
            "min_items": min_items,
            "n_boot": n_boot,
            "n_permutations": n_permutations,
            "confidence": confidence,
            "n_tests": n_tests,
        },
        metric=chosen,
        by=grouping.name,
        alpha=alpha,
        min_gap=min_gap,
        correction=correction,
        n_tests=n_tests,
        things=units.things,
    )
    sentences = _sentences(result)
    figures = tuple(_figures(made, result, sentences))
    return replace(result, sentences=sentences, figures=figures)


def _check_options(
    alpha: float,
    min_gap: float,
    min_items: int,
    correction: str,
    n_boot: int,
    n_permutations: int | None,
) -> None:
    if not 0 < alpha < 1:
        raise InputError(f"alpha {alpha!r}: expected a share between 0 and 1, like 0.05")
    if not min_gap >= 0:
        raise InputError(f"min_gap {min_gap!r}: expected a size of 0 or more")
    if min_items < 1:
        raise InputError(f"min_items {min_items!r}: expected 1 or more")
    check_choice("correction", correction, ("holm", "bh", "none"))
    if n_boot < 0 or (n_permutations is not None and n_permutations < 0):
        raise InputError("n_boot and n_permutations: expected 0 or more")


def _too_small(plans: Sequence[Plan]) -> tuple[str, ...]:
    """Name the groups that are shown and not tested."""
    found: dict[str, str] = {}
    for plan in plans:
        for at in np.flatnonzero(plan.present & ~plan.tested).tolist():
            found.setdefault(plan.groups[at], f"{plan.groups[at]} ({plan.size[at]})")
    if not found:
        return ()
    plan = plans[0]
    named = joined(found.values())
    return (f"Not tested, with fewer than {plan.min_items} {plan.things}: {named}.",)


def _few_clusters(plans: Sequence[Plan], cluster: str | None, n_boot: int) -> tuple[str, ...]:
    """Warn where a group that is tested consists of few clusters."""
    if cluster is None or not n_boot:
        return ()
    sizes = [
        int((plan.codes == at).sum())
        for plan in plans
        for at in np.flatnonzero(plan.tested).tolist()
    ]
    if not sizes or min(sizes) >= _FEW_CLUSTERS:
        return ()
    return (
        f"A group has {plural(min(sizes), 'cluster')} ({cluster}): few to resample, so intervals, "
        "and the gap that could have been missed, are too small rather than too large; the test "
        "does not resample.",
    )


def _compared(
    ratings: Ratings, models: Ratings | None, metric: AnswerMetric, truth: Truth
) -> tuple[Ratings, Ratings | None, tuple[str, ...]]:
    """People, models where there are any, and what a reader should know of both.

    Models stand alone where something else is the truth.
    """
    check_models(models)
    kinds = set(ratings.rater_kinds)
    told = metric.needs == "classes" and not (isinstance(truth, str) and truth == "people")
    if told and models is None and not kinds & set(HUMAN_KINDS):
        alone, left_out = judged_runs(ratings)
        return alone, None, left_out
    if metric.needs == "people" or (models is None and not kinds & set(MODEL_KINDS)):
        return ratings.humans(), None, ()
    both = sides(ratings, models)
    judged, left_out = judged_runs(both.models)
    ordered = not {"nominal", "text"} & {both.people.scale.kind, judged.scale.kind}
    if ordered and metric.needs in ("scores", "pairs") and not metric.any_scale:
        why = scale_map(judged, both.people.scale, together=models is None).missing
        if why:
            raise InputError(
                f"metric {metric.name!r} needs models and people on one scale: {why}; 'spearman' "
                "needs none"
            )
        how: Rounding = "round" if metric.needs == "pairs" else "none"
        judged = moved(judged, both.people.scale, how, together=models is None)
    steps = answer_steps(both.people, judged)
    return both.people, judged, (*left_out, *(f"{step[:1].upper()}{step[1:]}." for step in steps))
