"""A scale of systems from choices between two of them at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.arrays import as_floats, names_of
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, IntervalFact, Reason
from affectlab.core.inference import Target, check_confidence
from affectlab.core.jackknife import Jackknife
from affectlab.core.statistic import Ends, student
from affectlab.core.tables import Count, Figure, Interval, Number, PValue, Share, Value
from affectlab.core.types import Floats, Ints
from affectlab.core.wording import method_text, undefined_text
from affectlab.core.words import joined, plural
from affectlab.evaluation.paired_tests import t_test
from affectlab.evaluation.preference import wording
from affectlab.evaluation.preference.choice_models import (
    ChoiceFit,
    ChoiceModel,
    Model,
    Ties,
    Votes,
    compared_groups,
    fit_choices,
    why_undefined,
    without_clusters,
)
from affectlab.evaluation.preference.choices import comparisons_of
from affectlab.evaluation.preference.clusters import (
    CLUSTERS,
    about_target,
    vote_clusters,
    without_each,
)
from affectlab.evaluation.preference.tally import target_of
from affectlab.ratings import Ratings, canonical

_NAMES = {"bradley-terry": "Bradley-Terry", "thurstone": "Thurstone"}
_MODELLED = {
    ("bradley-terry", "davidson"): "Davidson",
    ("bradley-terry", "threshold"): "Rao-Kupper",
    ("thurstone", "threshold"): "Glenn-David",
}
_DRAWS = 10_000
"""Draws of all strengths, for the chance that a system is the strongest."""
_NOT_DETERMINED = Reason(Cause.UNDEFINED_WITHOUT_ONE, of="clusters")
_UNLINKED = Reason(Cause.NEVER_COMPARED)
_ONE_CLUSTER = Reason(Cause.SINGLE_UNIT, of="clusters")


@dataclass(frozen=True, eq=False)
class _Study:
    """Choices of a study, and what belongs together."""

    votes: Votes
    kind: Ints
    """Kind of each vote, a row of ``votes``."""
    item: Ints
    judge: Ints
    """What the item and the judge of each vote belong to."""
    systems: tuple[str, ...]
    n_items: int
    n_judges: int = 0
    """0 where they are not known."""
    n_judge_clusters: int = 0
    tied: Floats | float = 0.0
    """Ties of each system, shape (systems,), also those that are dropped."""

    @cached_property
    def group(self) -> Ints:
        """Group of each system, between which there is no comparison, shape (systems,)."""
        return compared_groups(self.wins(0.5))

    def wins(self, ties: float) -> Floats:
        """Wins of the row over the column; a tie counts as `ties` for both."""
        return self.votes.wins(len(self.systems), ties)


def preference_scale(
    ratings: Ratings | ArrayLike,
    *,
    systems: Sequence[str] | None = None,
    model: Model = "bradley-terry",
    ties: Ties = "half",
    position: bool = False,
    prior: float = 0.0,
    target: Target | None = None,
    cluster: str | None = "auto",
    judge_cluster: str | None = None,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    r"""Put systems on one scale, from choices between two of them at a time.

    With strengths :math:`s`, system i is chosen over j with the chance

    .. math:: P(i \succ j) = \frac{1}{1 + e^{-u}} \;\text{(Bradley-Terry)}, \qquad
        P(i \succ j) = \Phi(u) \;\text{(Thurstone, case V)}, \qquad u = s_i - s_j \pm \delta,

    where :math:`\delta` is the effect of `position`, with a plus where i stood on the left.

    Parameters
    ----------
    ratings
        Ratings on a nominal scale whose stimuli say in columns named like two choices (``A`` and
        ``B``) which systems stood there, as for :func:`preferences`; or wins of shape (k, k), how
        often the row was chosen over the column, with `systems`.
    systems
        Names of the rows of an array.
    model
        Scale of strengths: Bradley-Terry, or Thurstone, case V.
    ties
        Answers for neither side: half a win for both, or left out; or with a parameter of their
        own, after Davidson (Bradley-Terry only), or by a threshold.

        ``"davidson"``: the chances of i, j and a tie are as :math:`e^{u/2}`, :math:`e^{-u/2}` and
        :math:`e^\tau`. ``"threshold"``: with :math:`F` the chance of a win above, i has
        :math:`F(u - \tau)`, and j :math:`F(-u - \tau)` (Rao and Kupper; Glenn and David).
    position
        Estimate how far standing on the left makes a choice likelier.
    prior
        Wins that every system is given over every other beforehand; 0.5 makes the scale finite
        where one never lost.

        With 0 a system that never lost is infinitely strong, and there is no scale; any prior draws
        all strengths together. It also links systems that were never compared, not even through
        others: nothing is told of such pairs, nor of which system is the first.
    target
        What intervals are about: other items, other judges, both, or this sample of both, which
        leaves nothing to be uncertain of; by default both with five or more judges, and items
        otherwise.

        Each win of an array is taken as an item of its own.
    cluster
        Stimulus column that says which items belong together; by default pair, where there is one.
    judge_cluster
        Rater column that says which judges belong together, such as their class or site.
    confidence
        Coverage of the intervals, in (0, 1).
    seed
        Seed or generator of the draws for ``first``.

    Returns
    -------
    Strengths by ``system``, strongest first, with mean 0 and extra columns ``wins``, ``losses``,
    ``ties``, ``rank``, and ``first``: the chance that the system is the strongest, from draws of
    all strengths with their covariance. Where there is no scale, because systems were never
    compared or one never lost, values are ``nan`` and the status says which.

    The table ``pairs`` compares every two systems, by ``system`` and ``other``: the chance that the
    first is chosen where one is, as the scale has it, in [0, 1]; ``difference`` of strengths;
    ``observed``, the share of their comparisons that the first won (ties counting half); and ``p``
    for no difference. The table ``effects``, with `position` or a parameter of ties, has the chance
    that of two equal systems the one on the ``left`` is chosen where one is, and that they ``tie``,
    each with its ``parameter``.

    Raises
    ------
    InputError
        If the answers do not compare systems, or an option cannot be used.

    Notes
    -----
    Intervals are Student's, with standard errors from leaving out one cluster of items, of judges,
    or either (in one Newton step), and as many degrees of freedom as the clusters allow. In
    simulations of 4 to 20 judges or items that differ, those at 95 % cover 93 to 98 %.

    References
    ----------
    Bradley and Terry (1952); Thurstone (1927); Ford (1957) for when there is a scale; Davidson
    (1970) and Davidson and Beaver (1977) for ties and position; Rao and Kupper (1967), Glenn and
    David (1960) for thresholds; MacKinnon, Nielsen and Webb (2024), "Jackknife inference with
    two-way clustering".

    Examples
    --------
    >>> wins = [[0, 12, 18], [8, 0, 13], [2, 7, 0]]
    >>> scale = preference_scale(wins, systems=["human", "large", "small"])
    >>> [round(value, 2) for value in scale.to_frame()["value"]]
    [0.77, 0.08, -0.85]
    >>> round(scale.to_frame("pairs")["value"][0], 2)
    0.67
    """
    ratings = canonical(ratings)
    check_confidence(confidence)
    check_choice("model", model, get_args(Model))
    check_choice("ties", ties, get_args(Ties))
    if model == "thurstone" and ties == "davidson":
        raise InputError("ties 'davidson' goes with model='bradley-terry'; expected 'threshold'")
    check_number("prior", prior, 0)
    notes: tuple[str, ...] = ()
    if isinstance(ratings, Ratings):
        if systems is not None:
            raise InputError("systems goes with an array; ratings name their systems themselves")
        study = _from_comparisons(ratings, ties, cluster, judge_cluster)
        judges = study.n_judge_clusters if ratings.raters_known else 0
        over = target_of(target, judges)
        if over is None:
            few = plural(judges, "judge") if judges else "judges unknown"
            notes = (f"{few}: intervals are about other items, not about other judges",)
    else:
        if judge_cluster is not None or cluster not in (None, "auto"):
            raise InputError("cluster and judge_cluster are columns; an array has none")
        study = _from_matrix(ratings, systems)
        over = target_of(target, 0)
    over = over or "stimuli"
    choice = ChoiceModel(model, ties, position)
    if choice.with_ties and not study.votes.tie.any():
        raise InputError(f"ties {ties!r}: no answer is a tie; expected 'half'")
    if position and not study.votes.left.any():
        raise InputError(
            "position: it is not known which of two stood on the left; expected a column left"
        )
    fit, undefined = _fitted(study, choice, prior)
    jackknife = without_each(
        "sample" if undefined else over,
        study.item,
        study.judge,
        fit.parameters,
        lambda code: without_clusters(fit, study.kind, code),
    )
    name = _MODELLED.get((model, ties), _NAMES[model])
    what = (f"{name} strength", *([f"{prior:g} wins beforehand"] if prior else []))
    made, why = _interval(jackknife, over) if jackknife.parts else (None, None)
    shared = {
        "target": "none" if over == "sample" else over,
        "n_items": study.n_items,
        "n_raters": study.n_judges,
        "statistic": what,
        "interval": made,
        "reason": undefined or why,
        "status": "ok" if undefined is None else "undefined",
    }
    table = _strengths(study, fit, jackknife, over, confidence, shared, seed)
    result = replace(
        table,
        notes=notes,
        settings={
            "model": model,
            "ties": ties,
            "position": position,
            "prior": prior,
            "target": over,
            "cluster": cluster,
            "judge_cluster": judge_cluster,
            "confidence": confidence,
        },
    )
    if undefined is not None:
        return replace(result, sentences=(wording.no_scale(undefined_text(undefined)),))
    if study.group.max() > 0:
        groups = [
            np.array(study.systems, dtype=object)[study.group == k].tolist()
            for k in range(int(study.group.max()) + 1)
        ]
        result = replace(result, sentences=(wording.unlinked(groups),))
    strongest = table.frame.row(0, named=True)
    strength = wording.strongest(strongest["system"], strongest["first"])
    said = list(result.sentences) or [strength]
    figure = Figure(
        "preference_scale",
        "intervals",
        "scale",
        "Strength in pairwise choices",
        description=said[0],
        options={"value_name": "strength", "lines": [(0.0, "mean")]},
    )
    shared["statistic"] = ("chance of being chosen", *what)
    pairs = _pairs(study, fit, jackknife, confidence, shared)
    tables = [*result.tables, *pairs.tables]
    never = pairs.frame.filter(pl.col("observed").is_nan()).select("system", "other").rows()
    if never:
        said.append(wording.never_compared(never))
    if position or choice.with_ties:
        effects = _effects(
            study,
            fit,
            jackknife,
            confidence,
            shared | {"statistic": ("chance between equals", *what)},
        )
        tables += effects.tables
        said += [wording.effect(row) for row in effects.frame.to_dicts()]
    return replace(result, tables=tuple(tables), sentences=tuple(said), figures=(figure,))


def _from_comparisons(
    ratings: Ratings, ties: Ties, cluster: str | None, judge_cluster: str | None
) -> _Study:
    found = comparisons_of(ratings)
    item, judge = vote_clusters(ratings, found, cluster, judge_cluster)
    tie, k = found.choice > 1, len(found.systems)
    sides = np.concatenate([found.first[tie], found.second[tie]])
    rows = ~tie if ties == "drop" else np.ones(tie.size, dtype=bool)
    if not rows.any():
        raise InputError("no answer is for a system; expected at least one, or other ties")
    lost = found.choice == 1
    left = np.where(found.first_left < 0, 0.0, 2.0 * found.first_left - 1)
    votes, kind = Votes.count(
        np.where(lost, found.second, found.first)[rows],
        np.where(lost, found.first, found.second)[rows],
        np.where(lost, -left, left)[rows],
        tie[rows],
    )
    return _Study(
        votes=votes,
        kind=kind,
        item=_codes(item[rows]),
        judge=_codes(judge[rows]),
        systems=found.systems,
        n_items=int(np.count_nonzero(np.bincount(found.item))),
        n_judges=int(np.count_nonzero(np.bincount(found.judge))),
        n_judge_clusters=int(np.count_nonzero(np.bincount(judge))),
        tied=np.bincount(sides, minlength=k).astype(np.float64),
    )


def _codes(cluster: Ints) -> Ints:
    """Number the codes that occur, in their order."""
    return np.cumsum(np.bincount(cluster) > 0)[cluster] - 1


def _from_matrix(data: ArrayLike, systems: Sequence[str] | None) -> _Study:
    wins = as_floats(data, "expected wins as an array of numbers of shape (k, k)")
    if wins.ndim != 2 or wins.shape[0] != wins.shape[1] or wins.shape[0] < 2:
        raise InputError(f"expected wins of shape (k, k) for k systems, got shape {wins.shape}")
    if not ((wins >= 0) & (wins == np.rint(wins))).all() or np.diag(wins).any():
        raise InputError("wins: expected whole numbers from 0, and 0 on the diagonal")
    if not wins.any():
        raise InputError("there is no win; expected at least one")
    k = wins.shape[0]
    names = names_of("systems", systems, k)
    first, second = (np.repeat(at, wins[wins > 0].astype(np.int64)) for at in np.nonzero(wins))
    n = first.size
    votes, kind = Votes.count(first, second, np.zeros(n), np.zeros(n, dtype=bool))
    return _Study(votes, kind, np.arange(n), np.zeros(n, dtype=np.int64), names, n)


def _fitted(study: _Study, model: ChoiceModel, prior: float) -> tuple[ChoiceFit, Reason | None]:
    """Estimate the parameters; and give the reason why there are none, if there are none."""
    k, votes = len(study.systems), study.votes
    if prior:
        first, second = np.nonzero(~np.eye(k, dtype=bool))
        more = Votes(first, second, np.zeros(first.size), first < 0, np.full(first.size, prior))
        votes = votes.joined(more)
    reason = None if prior else why_undefined(study.wins(0.5), study.systems)
    if reason is not None:
        return ChoiceFit.undefined(model, votes, k), reason
    fit = fit_choices(votes, k, model)
    if np.isnan(fit.parameters).any():
        parts = ["strengths"] + ["position"] * model.position + ["ties"] * model.with_ties
        return fit, Reason(Cause.CHOICES_LEAVE_OPEN, of=joined(parts))
    return fit, None


def _interval(jackknife: Jackknife, over: Target) -> tuple[IntervalFact | None, Reason | None]:
    """How intervals are made, or why there are none."""
    if any(part.scarce.any() for part in jackknife.parts):
        one = any((part.count < 2).any() for part in jackknife.parts[:2])
        return None, _ONE_CLUSTER if one else _NOT_DETERMINED
    return IntervalFact("jackknife", CLUSTERS[over]), None


def _ends(
    jackknife: Jackknife, point: Floats, contrasts: Floats, confidence: float
) -> tuple[Ends, Floats]:
    """Standard errors and ends of combinations of parameters; and p values for zero."""
    se, freedom = jackknife.spread(contrasts)
    p = 2 * t_test(np.abs(point), se, freedom)
    return student(point, np.where(se > 0, se, np.nan), freedom, confidence), p


def _strengths(
    study: _Study,
    fit: ChoiceFit,
    jackknife: Jackknife,
    over: Target,
    confidence: float,
    shared: dict[str, Any],
    seed: int | np.random.Generator | None,
) -> Estimates:
    """Lay out the strengths, the strongest first."""
    strength, k = fit.strength, len(study.systems)
    order = np.argsort(-strength, kind="stable")
    wins, counted = study.wins(0.0), study.wins(0.5)
    contrasts = np.eye(fit.parameters.size)[:, order]
    (se, low, high), _ = _ends(jackknife, strength[order], contrasts, confidence)
    rank = np.where(np.isnan(strength[order]), 0, np.arange(1, k + 1))
    table = Estimates.build(
        {"system": [study.systems[s] for s in order.tolist()]},
        value=strength[order],
        se=se,
        low=low,
        high=high,
        n_ratings=np.rint((counted + counted.T).sum(axis=1)[order]).astype(np.int64),
        **shared,
        extra={
            "wins": wins.sum(axis=1)[order].astype(np.int64),
            "losses": wins.sum(axis=0)[order].astype(np.int64),
            "ties": np.broadcast_to(study.tied, k)[order].astype(np.int64),
            "rank": rank,
            "first": _first(study, fit, jackknife, seed)[order],
        },
    )
    return table.with_layout(
        Value(head="strength"),
        Interval(),
        *(Count(name) for name in ("wins", "losses", "ties")),
        Share("first", decimals=1),
        name="scale",
        caption=f"{method_text(shared['statistic'], shared['interval'], shared['reason'])}.",
        notes=about_target(over) if jackknife.parts else (),
    )


def _first(
    study: _Study, fit: ChoiceFit, jackknife: Jackknife, seed: int | np.random.Generator | None
) -> Floats:
    """Chance that each system is the strongest, from a multivariate t distribution."""
    k = fit.n_systems
    freedom = jackknife.spread()[1][:k]
    if study.group.max() > 0 or not np.isfinite(freedom).all():
        return np.full(k, np.nan)
    rng = np.random.default_rng(seed)
    drawn = rng.multivariate_normal(
        np.zeros(k), jackknife.covariance(jackknife.value.size)[0, :k, :k], _DRAWS, method="eigh"
    )
    scale = rng.chisquare(freedom.min(), (_DRAWS, 1)) / freedom.min()
    strongest = (fit.strength + drawn / np.sqrt(scale)).argmax(axis=1)
    return np.bincount(strongest, minlength=k) / _DRAWS


def _pairs(
    study: _Study, fit: ChoiceFit, jackknife: Jackknife, confidence: float, shared: dict[str, Any]
) -> Estimates:
    """Compare every two systems, the stronger one with the weaker."""
    a, b = np.array(list(combinations(np.argsort(-fit.strength, kind="stable"), 2))).T
    apart, wins = fit.strength[a] - fit.strength[b], study.wins(0.5)
    n = wins[a, b] + wins[b, a]
    with np.errstate(invalid="ignore"):
        observed = wins[a, b] / n
    each = np.eye(fit.parameters.size)
    (se, *ends), p = _ends(jackknife, apart, each[:, a] - each[:, b], confidence)
    chance = fit.model.chances(apart, fit.tau)[0]
    low, high = (fit.model.chances(end, fit.tau)[0] for end in ends)
    names = np.array(study.systems, dtype=object)
    linked = study.group[a] == study.group[b]
    # The error of a chance, from that of the difference.
    told = (chance, se * _slope(fit, apart), low, high)
    chance, se, low, high = (np.where(linked, column, np.nan) for column in told)
    more = {"difference": apart, "observed": observed, "p": p}
    more = {name: np.where(linked, column, np.nan) for name, column in more.items()}
    table = Estimates.build(
        {"system": names[a].tolist(), "other": names[b].tolist()},
        value=chance,
        se=se,
        low=low,
        high=high,
        n_ratings=np.rint(n).astype(np.int64),
        **shared
        | {
            "status": [shared["status"] if one else "undefined" for one in linked.tolist()],
            "reason": [shared["reason"] if one else _UNLINKED for one in linked.tolist()],
        },
        extra=more,
    )
    return table.with_layout(
        Value(head="chance"),
        Interval(),
        Number("observed"),
        PValue("p", "p"),
        name="pairs",
        caption="Chance that the first is chosen over the other.",
    )


_STEP = 1e-5


def _slope(fit: ChoiceFit, at: Floats) -> Floats:
    """How fast the chance of being chosen rises with the difference of strengths."""
    above, below = (fit.model.chances(at + step, fit.tau)[0] for step in (_STEP, -_STEP))
    rise: Floats = (above - below) / (2 * _STEP)
    return rise


def _effects(
    study: _Study, fit: ChoiceFit, jackknife: Jackknife, confidence: float, shared: dict[str, Any]
) -> Estimates:
    """Give the chances for two equal systems that the left one is chosen, and of a tie."""
    k, model, zero = fit.n_systems, fit.model, np.zeros(1)
    names = ["left"] * model.position + ["tie"] * model.with_ties
    parameters = fit.parameters[k:]
    contrasts = np.eye(fit.parameters.size)[:, k:]
    (se, *ends), p = _ends(jackknife, parameters, contrasts, confidence)

    def chance(name: str, parameter: float) -> float:
        if name == "left":
            return float(model.chances(zero + parameter, fit.tau)[0][0])
        # No threshold is below zero.
        at = max(parameter, 1e-12) if model.ties == "threshold" else parameter
        return float(model.chances(zero, at)[1][0]) if at == at else np.nan

    value, low, high, above = (
        np.array([chance(name, one) for name, one in zip(names, each, strict=True)])
        for each in (parameters, *ends, parameters + _STEP)
    )
    table = Estimates.build(
        {"effect": names},
        value=value,
        se=se * (above - value) / _STEP,
        low=low,
        high=high,
        n_ratings=study.kind.size,
        **shared,
        # That nobody ever ties is no hypothesis.
        extra={"parameter": parameters, "p": np.where(np.array(names) == "left", p, np.nan)},
    )
    return table.with_layout(
        Value(head="chance"),
        Interval(),
        Number("parameter"),
        PValue("p", "p"),
        name="effects",
        caption="Two systems of the same strength: the left one is chosen, and there is a tie.",
    )
