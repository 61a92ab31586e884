"""Is a model as good for one group as for another, and do groups of people rate alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.inference import by_name, check_confidence, check_n_boot
from affectlab.core.statistic import FEWEST_CLUSTERS
from affectlab.evaluation.classes import Truth, read_truth
from affectlab.evaluation.group_fairness import wording
from affectlab.evaluation.group_fairness.gaps import Correction, judge_groups
from affectlab.evaluation.group_fairness.groups import Edges, grouping_of
from affectlab.evaluation.group_fairness.metrics import AnswerMetric, MetricLike, load_metric
from affectlab.evaluation.group_fairness.plans import Plan
from affectlab.evaluation.group_fairness.result import Fairness, Settings, fairness_result
from affectlab.evaluation.group_fairness.units import Options, sides_of
from affectlab.evaluation.label_facts import CostsLike, TaxonomyLike
from affectlab.evaluation.people_and_models import (
    Rounding,
    answer_steps,
    judged_runs,
    of_training,
    on_people,
    side_by_side,
    sides,
)
from affectlab.ratings import HUMAN_KINDS, MODEL_KINDS, ModelRatings, Ratings, canonical

_LEAST_PERMUTATIONS = 1999
_MOST_PERMUTATIONS = 19999


def fairness(
    ratings: Ratings,
    models: ModelRatings | None = None,
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

    Gaps are of error or agreement. Whether one group is rated higher, such as women's faces, is a
    question of level: :func:`~affectlab.reliability.mixed_model` (``affectlab reliability
    mixed-model``) takes stimuli and raters as samples.

    Parameters
    ----------
    ratings
        People, or people and models.
    models
        Models in a table of their own. Runs that control another
        (``main_runs``) are not judged. Errors and agreement are those on
        the people's scale (``on_scale``); correlations those of the
        models' own values.
    by
        Attribute that makes the groups: ``stimulus.gender``, ``rater.age``, or crossed:
        ``rater.gender x rater.age``.

        Also the bare name where only one table has it, or a list. Groups of stimuli say whether a
        model is worse on some of them. Groups of people say whether it agrees with some people more
        than with others; each person's own value counts once, whatever the number of their answers.
    metric
        mae, bias, spearman, concordance, quadratic_kappa, mean, alpha; for classes accuracy, acc2,
        ecc, emc, macro_f1, …; of people a coefficient of agreement, such as gwet_ac; or one that an
        installed package adds.

        In Python also an :class:`~affectlab.evaluation.AnswerMetric`, or a function of the truth
        and the answers; :func:`~affectlab.evaluation.list_metrics` has the names.

        - ``mae``, ``bias`` (answer less truth), ``spearman``, ``concordance`` (Lin's): answers
          beside the mean of people, for people the mean of the *other* people. In ``bias`` by
          attributes of people each person is part of the panel, so that a gap is the difference of
          two groups' ratings.
        - ``quadratic_kappa``: models beside each person.
        - ``mean``: the mean rating. ``alpha``: agreement of the people among themselves (interval
          distance, nominal where answers have no order).
        - metrics of classes: ``accuracy``, ``acc2``, ``ecc``, ``emc``, ``macro_f1``, …

        Where there are several labels, ``spearman``, ``concordance``, ``quadratic_kappa`` and
        ``alpha`` are means over labels, the others means over all answers.
    against
        What a group is compared with: ``rest``, all others; a group by name; or ``largest`` for the
        two groups furthest apart, tested as such.
    edges
        Where to cut attributes that are numbers: ``age=30,50`` makes under 30, 30 to under 50, and
        50 and over.

        In Python ``{"age": [30, 50]}``, too.
    by_label
        Judge each label by itself, which makes more tests.
    cluster
        Attribute within which answers depend on each other, such as ``stimulus.actor``.

        It belongs to the same carrier as the groups. Clusters are then left out and permuted
        whole; without it, gaps between the few actors of a group pass for gaps between the groups.
        Fewer than five of them give no interval, of a gap fewer than three on one side.
    truth
        For classes: ``people``; ``attribute:NAME`` of the stimuli; ``rater:NAME``; or a file (see
        :func:`~affectlab.evaluation.read_truth`).
    taxonomy
        For classes, as in :func:`~affectlab.evaluation.classes_of`.
    costs
        What mistakes between classes cost: ``ring``, ``groups``, ``reference`` (of the taxonomy),
        or a file with a matrix (see :func:`~affectlab.evaluation.read_costs`); by default what the
        taxonomy has.
    n_boot
        0 gives no interval; Student's intervals, from leaving out one unit after the other within
        each group, need no replicates.
    seed
        For permutations and ties of classes.
    min_gap
        Smallest gap that matters, in units of the metric: smaller estimates are never flagged.

    Returns
    -------
    The tables ``groups`` and ``gaps``, which are properties, too; ``flagged()`` gives the gaps that
    are shown. A gap is ``flagged`` where its corrected p value is at most `alpha` and the estimate
    is no smaller than `min_gap`. ``detectable`` is
    :math:`(z_{1 - \alpha/2m} + z_{0.8})\,\mathrm{se}` for m tests (1 without correction): a true
    gap of that size is shown in four of five studies like this one.

    A p value is the larger one of two. The permutation test asks whether groups could trade places,
    and is exact where they could; groups that differ in spread, or in how many mistakes a ratio
    rests on, cannot, although their values may be equal. So each gap must also be large beside its
    jackknife standard error, in which each side has its own spread, as in the intervals (a t test
    as Welch's; Games and Howell's for ``"largest"``). EMC has no interval and no test with fewer
    than 10 mistakes.

    That a gap reaches `min_gap` is said of the estimate; the test is about a gap of 0.

    Other Parameters
    ----------------
    people
        Judge people too; by default where there is no model.
    min_items
        Stimuli, or people, that a group needs to be tested.

        Smaller ones are shown, and belong to the rest.
    alpha
        Error rate over all gaps of this call.
    correction
        Correction for many tests: ``holm`` (chance of any false flag), ``bh`` (expected share of
        false flags; Benjamini-Hochberg) or ``none``.
    n_permutations
        Permutations of a test; 0 gives none.

        By default 1,999, or more where the correction needs smaller p values, at most 19,999.
    confidence
        Coverage of the intervals, each by itself.
    labels
        Labels to use; all when not given.

    Raises
    ------
    InputError
        When an attribute, metric or group is not known, numbers come without edges, or models
        cannot be put on the people's scale (see ``on_scale``).

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
    check_number("alpha", alpha, 0, 1, above=True, below=True)
    check_number("min_gap", min_gap, 0)
    check_number("min_items", min_items, 1, whole=True)
    check_choice("correction", correction, ("holm", "bh", "none"))
    check_n_boot(n_boot)
    check_number("n_permutations", n_permutations or 0, 0, whole=True)
    asked, judged, notes = _compared(ratings, models, chosen, truth)
    has_people = bool(set(asked.rater_kinds) & set(HUMAN_KINDS))
    with_people = judged is None if people is None else people
    with_people = with_people and has_people and chosen.needs != "pairs"
    if chosen.needs == "pairs" and judged is None:
        raise InputError(
            f"metric {chosen.name!r} compares models with people; there is no model here, and "
            "'alpha' compares people with each other"
        )
    grouping = grouping_of(by, asked, judged, edges, cluster)
    of_raters = grouping.carrier == "rater"
    if of_raters and not has_people:
        raise InputError(f"by {grouping.name!r}: no rater is human; expected groups of people")
    if chosen.with_self and not of_raters and with_people:
        # The differences of people from the other people of a stimulus add up to 0.
        if judged is None:
            raise InputError(
                f"metric {chosen.name!r} of people by {grouping.name!r} is 0 whatever they answer; "
                "expected models, another metric, or groups of people"
            )
        with_people = False
        notes = (*notes, wording.people_not_judged(chosen.title))
    if chosen.needs == "answers" and of_raters:
        # How high a person rates has nothing to do with models.
        judged, with_people = None, True
    rng = np.random.default_rng(seed)
    options = Options(truth, taxonomy, costs, int(rng.integers(2**31)))
    compared = sides_of(
        asked,
        judged,
        chosen,
        grouping,
        options,
        labels=labels,
        by_label=by_label,
        with_people=with_people,
    )
    plans = [Plan(side, against, min_items) for side in compared]
    if n_permutations is None:
        n_tests = sum(len(plan.contrasts(np.zeros(len(grouping.groups)))) for plan in plans)
        needed = math.ceil(10 * (n_tests if correction != "none" else 1) / alpha)
        n_permutations = min(max(_LEAST_PERMUTATIONS, needed - 1), _MOST_PERMUTATIONS)
    found = {
        k: judge_groups(
            plans[k].side.evaluate,
            plans[k].side.codes,
            len(grouping.groups),
            plans[k].contrasts,
            rng,
            bounds=chosen.bounds,
            units=grouping.things if cluster is None else "clusters",
            fewest=0 if cluster is None else FEWEST_CLUSTERS,
            n_permutations=n_permutations,
        )
        for k in by_name(f"{plan.side.rater}\0{plan.side.label}" for plan in plans)
    }
    settings = Settings(
        metric=chosen,
        by_label=by_label,
        cluster=cluster,
        alpha=alpha,
        min_gap=min_gap,
        min_items=min_items,
        against=against,
        correction=correction,
        n_boot=n_boot,
        n_permutations=n_permutations,
        confidence=confidence,
    )
    notes = (*notes, *grouping.notes, *_small(plans, min_items), *_few(plans, cluster, n_boot))
    return fairness_result(grouping, plans, [found[k] for k in range(len(plans))], settings, notes)


def _small(plans: Sequence[Plan], min_items: int) -> tuple[str, ...]:
    """Name the groups that are shown and not tested."""
    found: dict[str, str] = {}
    for plan in plans:
        for at in np.flatnonzero(plan.present & ~plan.tested).tolist():
            found.setdefault(plan.groups[at], f"{plan.groups[at]} ({plan.size[at]})")
    if not found:
        return ()
    things = plans[0].side.grouping.things
    return (wording.small_groups(min_items, things, list(found.values())),)


def _few(plans: Sequence[Plan], cluster: str | None, n_boot: int) -> tuple[str, ...]:
    """Say where a group that is tested consists of too few clusters for an interval."""
    if cluster is None or not n_boot:
        return ()
    sizes = [
        int((plan.side.codes == at).sum())
        for plan in plans
        for at in np.flatnonzero(plan.tested).tolist()
    ]
    least = min(sizes, default=FEWEST_CLUSTERS)
    if least >= FEWEST_CLUSTERS:
        return ()
    return (wording.few_clusters(least, cluster, FEWEST_CLUSTERS),)


def _compared(
    ratings: Ratings, models: ModelRatings | None, metric: AnswerMetric, truth: Truth
) -> tuple[Ratings, Ratings | None, tuple[str, ...]]:
    """People, models where there are any, and what a reader should know of both.

    Models stand alone where something else is the truth.
    """
    kinds = set(ratings.rater_kinds)
    told = metric.needs == "classes" and not (isinstance(truth, str) and truth == "people")
    if told and models is None and not kinds & set(HUMAN_KINDS):
        (alone,), left_out = judged_runs([ratings])
        return alone, None, left_out
    if metric.needs == "people" or (models is None and not kinds & set(MODEL_KINDS)):
        return ratings.humans(), None, ()
    both = sides(ratings, models)
    tables, left_out = judged_runs(both.tables)
    kinds = {table.scale.kind for table in (both.people, *tables)}
    if (
        not {"nominal", "text"} & kinds
        and metric.needs in ("scores", "pairs")
        and not metric.any_scale
    ):
        how: Rounding = "round" if metric.needs == "pairs" else "none"
        mapped = on_people(replace(both, tables=tables), how)
        if mapped.missing:
            raise InputError(
                f"metric {metric.name!r} needs models and people on one scale: {mapped.why()}; "
                "'spearman' needs none"
            )
        judged = mapped.all()
    else:
        judged = side_by_side(tables)
    steps = answer_steps(both.people, judged)
    said = (f"{step[:1].upper()}{step[1:]}." for step in steps)
    trained = of_training(tables, both.people.stimulus_names)
    return both.people, judged, (*trained, *left_out, *said)
