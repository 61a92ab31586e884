"""Preference studies: which of two do people choose, when they do not know which is whose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, check_choice, check_choices
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Formula, IntervalFact, Reason
from affectlab.core.inference import (
    Target,
    check_confidence,
    check_n_boot,
    crossing_p,
    expanded,
    infer,
    wilson_interval,
)
from affectlab.core.tables import (
    Column,
    Count,
    Figure,
    Interval,
    Key,
    PValue,
    Share,
    Table,
    Text,
    Value,
)
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.wording import no_interval_text
from affectlab.core.words import joined, plural
from affectlab.evaluation.paired_tests import sign_test
from affectlab.evaluation.preference import wording
from affectlab.evaluation.preference.choices import (
    Comparisons,
    comparisons_of,
    is_system,
    two_systems,
)
from affectlab.evaluation.preference.clusters import CLUSTERS, about_target, vote_clusters
from affectlab.evaluation.preference.tally import (
    Rule,
    Tally,
    clustered_spread,
    exact_interval,
    no_verdict,
    statistic_of,
    target_of,
)
from affectlab.ratings import Ratings, Scale, canonical, raters_are_known

_MANY_CLUSTERS = 20
"""Clusters of one way from which on percentiles of draws cover as they should."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Preferences(Estimates):
    """Verdicts of blind comparisons: shares by ``about`` and ``choice``.

    Made by :func:`preferences`.

    Examples
    --------
    >>> preferences({"human": 707, "model": 292}).finding.replace("\\u00a0", " ")
    'human is preferred to model: 707 of 999 decided votes (70.8 %, 95 % interval 67.8 % to
    73.6 %).'
    """

    tally: Tally
    rule: Rule
    """What makes the verdict of an item."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The two systems, then the other choices."""
        return self.tally.choices

    @property
    def votes(self) -> Floats:
        """Votes of shape (items, choices)."""
        return self.tally.counts


def preferences(
    ratings: Ratings | Mapping[str, int] | ArrayLike,
    *,
    choices: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    rule: Rule = "majority",
    target: Target | None = None,
    cluster: str | None = "auto",
    judge_cluster: str | None = None,
    n_boot: int = 0,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Preferences:
    """Say which of two systems people prefer in blind comparisons, and how surely.

    Stimuli are items, and raters are judges. Stimulus columns A and B name what stood there, or the
    choices themselves do; a column left names the option on the left.

    Parameters
    ----------
    ratings
        One of

        - ratings on a nominal scale, such as those of the protocol ``preference``
          (``A, B, both, neither``): raters are judges and stimuli are items. Stimulus columns
          ``A`` and ``B`` name the systems that stood there; without them the choices are the
          systems. A column ``left`` (of answers or stimuli) names the option on the left;
        - counts by choice, ``{"human": 707, "model": 292}``;
        - votes of shape (items, choices), with `choices`.
    choices
        Names of the columns of an array.
    systems
        The two systems, where others are compared, too, or choices have unusual names.

        Choices called both, neither, indistinct, tie and the like are none.
    rule
        What makes the verdict of an item with several votes: more than half of them, or more than
        any other choice.

        Items without one are counted.
    target
        What intervals of shares of votes are about: other items, other judges, both, or this sample
        of both, which leaves nothing to be uncertain of; by default both where there are at least
        five judges, and items otherwise.
    cluster
        Stimulus column that says which items belong together; by default pair, where there is one.
    judge_cluster
        Rater column that says which judges belong together, such as their class or site.
    n_boot
        Bootstrap replicates; 0 for intervals that know which votes go together.

        0: votes on an item, and votes of a judge, are taken as going together by a jackknife over
        both, in a Wilson interval with a quantile of Student's t. Above: replicates draw items,
        judges or both.
    confidence
        Coverage of the intervals, in (0, 1).
    seed
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    Preferences by ``about`` and ``choice``: shares of the ``votes``, of the ``decided votes``
    (those for a system) and, where items have several votes, of the ``items`` (that more judges
    prefer a system on, or ``tied``), the ``decided items``, the ``verdicts`` and the
    ``decided verdicts``, with extra columns ``count``, ``of`` and ``p``; the last row is about the
    side (``about`` is ``side``) where sides are known.

    Where votes are of their own (counts, or one vote per item), shares among several choices have
    Wilson intervals, each choice by itself, and shares of two the exact interval of Clopper and
    Pearson. Shares of items and verdicts have these, too: they are about other items judged by
    these judges. ``p`` tests a decided share against one half: binomial, or normal from the
    clustered variance, or from the replicates; over items it is the sign test.

    Raises
    ------
    InputError
        If the two systems cannot be told, a count is not a whole number from 0, or an option does
        not fit the data.

    Notes
    -----
    In simulations with 4 to 20 items or judges that differ, the clustered intervals cover 93 to
    98 % at a nominal 95 %; those that take votes as independent 53 to 93 %; and the bootstrap of
    items and judges at once 97 % and more, since it draws the chance of single votes up to three
    times. Its percentiles lie further out where clusters are few (Hesterberg 2015), which of
    fewer than 20 of one way is not enough: a note says so.

    References
    ----------
    EmoNet-Face (2025), B.3; To Err Like Human (2024), user study; Socratis (2023), section 4;
    Cameron, Gelbach, Miller (2011), "Robust inference with multiway clustering"; MacKinnon, Nielsen
    and Webb (2024), "Jackknife inference with two-way clustering"; Owen (2007), "The pigeonhole
    bootstrap".

    Examples
    --------
    >>> found = preferences({"human": 707, "model": 292})
    >>> found["decided votes", "human"]
    Estimate(0.708 [0.678, 0.736], share of decided votes; exact interval; 999 items, ...)
    """
    ratings = canonical(ratings)
    check_confidence(confidence)
    check_choice("rule", rule, ("majority", "plurality"))
    check_n_boot(n_boot)
    tally = _tally(ratings, choices, systems, cluster, judge_cluster)
    judges = tally.n_clusters[1] if raters_are_known(ratings) else 0
    over, notes = target_of(target, judges), []
    if over is None and tally.items:
        notes.append(wording.too_few_judges(judges))
        over = None if tally.apart else "stimuli"
    if n_boot and not tally.items:
        raise InputError("counts alone cannot be resampled; expected n_boot=0 or the votes")
    if n_boot and over in ("stimuli", "raters") and _fewest(tally, over) < _MANY_CLUSTERS:
        what = plural(_fewest(tally, over), CLUSTERS[over][0][:-1])
        notes.append(wording.few_clusters_drawn(what))
    rng = np.random.default_rng(seed)
    shares = _shares(tally, rule, over, n_boot, confidence, rng)
    frames = [shares.frame]
    agreement = _agreement(tally, n_boot, confidence, rng) if tally.repeated else None
    if tally.votes is not None and tally.votes.side:
        frames.append(_side(tally, tally.votes, over, n_boot, confidence, rng).frame)
    frame = pl.concat(frames)
    first, second = tally.choices[:2]
    shown = Estimates.of(frame, ("about", "choice")).with_layout(
        Count("count"),
        Count("of"),
        Share("value", "share", decimals=1),
        Column("interval", "interval", "share_interval", decimals=1),
        PValue("p", "p"),
        name="shares",
        caption=f"{first} or {second}?",
        notes=(*_how(frame), *about_target(over or "stimuli")),
    )
    said = _sentences(frame, tally.choices, rule, agreement, confidence)
    items, columns = _verdict_table(tally, rule)
    described = {"description": " ".join(said)}
    options = {"rows": {"about": "votes"}}
    figures = [
        Figure(
            "preference", "shares", "shares", f"{first} or {second}", **described, options=options
        )
    ]
    if tally.repeated:
        name, title = "preference_by_item", "Votes on every item"
        by_item = {"choices": columns}
        figures.append(Figure(name, "item_votes", "verdicts", title, **described, options=by_item))
    tables = [*shown.tables, items]
    if agreement is not None:
        alpha = pl.DataFrame([{"of": "judges", **asdict(agreement)}])
        columns_of = (Key("of"), Value(head="alpha"), Interval())
        tables.append(Table("agreement", "Agreement of the judges.", alpha, columns_of, limit=0))
    return Preferences(
        tables=tuple(tables),
        sentences=said,
        figures=tuple(figures),
        notes=tuple(notes),
        settings={
            "rule": rule,
            "target": over or "stimuli",
            "cluster": cluster,
            "judge_cluster": judge_cluster,
            "confidence": confidence,
        },
        tally=tally,
        rule=rule,
    )


def study_of(
    ratings: Preferences | Ratings | Mapping[str, int] | ArrayLike,
    systems: Sequence[str] | None,
    rule: Rule,
) -> Preferences:
    """Give the result of :func:`preferences`, where it is not given."""
    if isinstance(ratings, Preferences):
        return ratings
    return preferences(ratings, systems=systems, rule=rule)


# Votes by item, from ratings, counts or an array.


def _tally(
    data: Ratings | Mapping[str, int] | ArrayLike,
    choices: Sequence[str] | None,
    systems: Sequence[str] | None,
    cluster: str | None,
    judge_cluster: str | None,
) -> Tally:
    if choices is not None and isinstance(data, Ratings | Mapping):
        what = "the scale of ratings names them"
        what = what if isinstance(data, Ratings) else "counts have names already"
        raise InputError(f"choices goes with an array; {what}")
    if isinstance(data, Ratings):
        found = comparisons_of(data, systems)
        pair = two_systems(found, systems)
        votes = found.between(pair)
        if not votes.items:
            raise InputError(
                f"no item compares {pair[0]!r} with {pair[1]!r}; expected at least one"
            )
        return Tally.of(votes, vote_clusters(data, votes, cluster, judge_cluster))
    if judge_cluster is not None or cluster not in (None, "auto"):
        raise InputError("cluster and judge_cluster are columns of ratings; counts have none")
    items: tuple[str, ...] = ()
    if isinstance(data, Mapping):
        names, given = tuple(map(str, data)), np.array([list(data.values())], dtype=object)
    else:
        given = np.atleast_2d(np.asarray(data))
        names = tuple(map(str, choices or ()))
        if given.ndim != 2 or given.shape[1] != len(names) or len(set(names)) != len(names):
            raise InputError(
                f"votes of shape {given.shape} with choices {list(names)!r}: expected one "
                "different name for each column"
            )
        items = tuple(map(str, range(given.shape[0])))
    counts, order = _counts(given), _systems_first(names, systems)
    return Tally(counts[:, order], tuple(names[k] for k in order), items)


def _counts(votes: NDArray[Any]) -> Floats:
    try:
        counts = votes.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("votes are not numbers; expected whole numbers from 0") from None
    wrong = ~(np.isfinite(counts) & (counts >= 0) & (counts == np.rint(counts)))
    if wrong.any():
        raise InputError(f"a count is {counts[wrong][0]:g}; expected whole numbers from 0")
    if not counts.any():
        raise InputError("there is no vote; expected at least one")
    return counts


def _systems_first(names: tuple[str, ...], systems: Sequence[str] | None) -> list[int]:
    pair = [name for name in names if is_system(name)] if systems is None else list(systems)
    check_choices("system", pair, names)
    if len(pair) != 2 or pair[0] == pair[1]:
        raise InputError(
            f"the choices are {', '.join(map(repr, names))}; expected two systems among them, "
            "named by systems"
        )
    first = [names.index(name) for name in pair]
    return first + [k for k in range(len(names)) if k not in first]


# Shares, with intervals that know which votes go together.

_EXACT = IntervalFact("analytic", formula=Formula.CLOPPER_PEARSON)
_WILSON = IntervalFact("analytic", formula=Formula.WILSON)
_SAMPLE = (None, Reason(Cause.ONLY_THIS_SAMPLE))


def _shares(
    tally: Tally,
    rule: Rule,
    over: Target | None,
    n_boot: int,
    confidence: float,
    rng: np.random.Generator,
) -> Estimates:
    """Count, and give every share its interval and test."""
    parts = tally.parts(rule)
    about = [name for name, (names, _) in parts.items() for _ in names]
    k = np.concatenate([counts for _, counts in parts.values()])
    n = np.concatenate([np.full(counts.size, counts.sum()) for _, counts in parts.values()])
    value = ratio(k, n)
    two = np.array([name.startswith("decided") for name in about])
    exact, wilson = exact_interval(k, n, confidence), wilson_interval(k, n, confidence)
    low, high = (np.where(two, *ends) for ends in zip(exact, wilson, strict=True))
    with np.errstate(invalid="ignore"):
        se = np.sqrt(value * (1 - value) / n)
    p = sign_test(k, n)
    how: list[_Made] = [(_EXACT if one else _WILSON, None) for one in two]
    target = np.full(k.size, "none", dtype=object)
    if over == "sample":
        se, low, high, p = np.full((4, k.size), np.nan)
        how = [_SAMPLE] * k.size
    elif over is not None:
        # The first rows are about votes, which may belong together.
        votes = slice(0, len(tally.choices) + 2)
        ends, how[votes] = (
            _drawn(tally, over, n_boot, confidence, rng)
            if n_boot
            else _clustered(tally, over, value[votes], n[votes], confidence)
        )
        for column, part in zip((se, low, high, p), ends, strict=True):
            column[votes] = part
        target[votes] = over
    n_votes = int(tally.counts.sum())
    return Estimates.build(
        {"about": about, "choice": [name for names, _ in parts.values() for name in names]},
        value=value,
        se=se,
        low=low,
        high=high,
        statistic=[f"share of {name}" for name in about],
        target=target.tolist(),
        n_items=len(tally.items) or n_votes,
        n_raters=tally.n_judges,
        n_ratings=n_votes,
        interval=[made for made, _ in how],
        reason=[
            why if votes > 0 else Reason(Cause.NONE, of="decided votes")
            for (_, why), votes in zip(how, n, strict=True)
        ],
        extra={
            "count": k.astype(np.int64),
            "of": n.astype(np.int64),
            "p": np.where(two, p, np.nan),
        },
    )


_Made: TypeAlias = tuple[IntervalFact | None, Reason | None]
_Ends: TypeAlias = tuple[tuple[Any, Any, Any, Any], list[_Made]]
"""Standard errors, lower and upper ends and p values; and how they were made."""


def _clustered(tally: Tally, over: Target, value: Floats, n: Floats, confidence: float) -> _Ends:
    """Wilson intervals and tests with as many votes as their clustered variance is worth."""
    from scipy.special import ndtri, stdtr, stdtrit

    se, freedom = clustered_spread(tally, over)
    # Of a share that does not vary among the clusters, each of them is worth a vote.
    fewest = _fewest(tally, over)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = np.where(se > 0, value * (1 - value) / se**2, fewest)
        worth = np.where(n > 0, np.minimum(worth, n), 0.0)
    # Wilson's interval knows its quantile and the number of votes by their ratio alone.
    freedom = np.where(np.isfinite(freedom), freedom, max(fewest - 1, 1))
    quantiles = (ndtri((1 + confidence) / 2) / stdtrit(freedom, (1 + confidence) / 2)) ** 2
    share = np.nan_to_num(value)
    low, high = wilson_interval(share * worth * quantiles, worth * quantiles, confidence)
    p = 2 * stdtr(freedom, -np.abs(value - 0.5) / np.sqrt(0.25 / np.maximum(worth, 1e-300)))
    made = IntervalFact("analytic", CLUSTERS[over], formula=Formula.CLUSTERED_WILSON)
    return (se, low, high, p), [(made, None)] * value.size


def _fewest(tally: Tally, over: Target) -> int:
    """Clusters of items, or of judges; of both the fewer."""
    clusters = dict(zip(("stimuli", "raters"), tally.n_clusters, strict=True))
    return min(clusters.values()) if over == "both" else clusters[over]


def _drawn(
    tally: Tally,
    over: Target,
    n_boot: int,
    confidence: float,
    rng: np.random.Generator,
) -> _Ends:
    """Percentile intervals and tests from replicates."""
    found = infer(
        statistic_of(tally, joined(CLUSTERS[over])),
        target=over,
        n_boot=n_boot,
        confidence=expanded(confidence, _fewest(tally, over)),
        seed=rng,
    )
    se, low, high = (found.frame[name].to_numpy() for name in ("se", "low", "high"))
    p = np.where(np.isnan(low), np.nan, crossing_p(found.replicates, 0.5))
    rows = found.frame.select("interval", "reason").rows()
    how = [(IntervalFact.of_row(made), Reason.of_row(why)) for made, why in rows]
    return (se, low, high, p), how


def _side(
    tally: Tally,
    votes: Comparisons,
    over: Target | None,
    n_boot: int,
    confidence: float,
    rng: np.random.Generator,
) -> Estimates:
    """Give the share of decided votes for one side, and a test that does not mind the design.

    Where one system stood on the left more often, the better one draws votes to the left without
    any bias. So the test asks whether a system is chosen more often on one side than on the other.
    Votes on an item go together here, too: an item on which nearly all prefer one system draws them
    to the side where it stood.
    """
    rows = (votes.first_left >= 0) & (votes.choice < 2)
    first_left, chose_first = votes.first_left[rows] == 1, votes.choice[rows] == 0
    k, n = int((first_left == chose_first).sum()), int(rows.sum())
    value = k / n if n else np.nan
    clusters = None
    if over is not None and tally.clusters is not None:
        clusters = tally.clusters[0][rows], tally.clusters[1][rows]
    p, test = _side_test(first_left, chose_first, None if clusters is None else clusters[0])
    low, high = exact_interval(np.array([k]), np.array([n]), confidence)
    se = np.array([np.sqrt(value * (1 - value) / n) if n else np.nan])
    how: _Made = (_EXACT, None)
    if over == "sample":
        low, high, se, how = np.array([np.nan]), np.array([np.nan]), se * np.nan, _SAMPLE
        p = np.nan
    elif over is not None and n and clusters is not None:
        of_sides = Tally(
            np.array([[k, n - k]], dtype=np.float64),
            (votes.side, "the other"),
            votes.items,
            replace(
                votes,
                item=votes.item[rows],
                judge=votes.judge[rows],
                choice=np.where(first_left == chose_first, 0, 1),
            ),
            clusters,
        )
        share, of = np.full(4, value), np.full(4, float(n))
        share[1::2] = 1 - value
        ends, text = (
            _drawn(of_sides, over, n_boot, confidence, rng)
            if n_boot
            else _clustered(of_sides, over, share, of, confidence)
        )
        (se, low, high), how = (part[:1] for part in ends[:3]), text[0]
    return Estimates.build(
        {"about": ["side"], "choice": [votes.side]},
        value=value,
        se=se,
        low=low,
        high=high,
        statistic=("share of decided votes for the side", f"p from {test}"),
        target="none" if over in (None, "sample") else over,
        n_items=np.unique(votes.item[rows]).size,
        n_raters=np.unique(votes.judge[rows]).size,
        n_ratings=n,
        interval=how[0],
        reason=how[1] if n else Reason(Cause.NONE, of="decided votes"),
        extra={"count": [k], "of": [n], "p": [p]},
    )


def _side_test(first_left: Bools, chose_first: Bools, items: Ints | None) -> tuple[float, str]:
    """Test whether the first is chosen more often on one side; ``nan`` where it had one side only.

    Votes on an item go together: the score of side by choice, with the variance of its sums over
    items. Without items, or with one, Fisher's exact test.
    """
    from scipy.special import stdtr
    from scipy.stats import fisher_exact

    one_side = not first_left.any() or first_left.all()
    item = np.zeros(0) if items is None else np.unique(items, return_inverse=True)[1]
    if not item.any():
        sides = (first_left, ~first_left)
        table = [[(chose_first & side).sum(), (~chose_first & side).sum()] for side in sides]
        p = np.nan if one_side else float(fisher_exact(table).pvalue)
        return p, "Fisher's test of side by choice, votes as independent"
    pull = (first_left - first_left.mean()) * (chose_first - chose_first.mean())
    of_item = np.bincount(item, pull)
    spread = float(np.sqrt(of_item @ of_item))
    t = -abs(of_item.sum()) / spread if spread > 0 else 0.0
    p = np.nan if one_side else float(2 * stdtr(of_item.size - 1, t))
    return p, "a score test of side by choice, votes clustered by items"


def _agreement(
    tally: Tally, n_boot: int, confidence: float, rng: np.random.Generator
) -> Estimate | None:
    """Krippendorff's alpha of the judges, each choice being a category."""
    from affectlab.reliability import krippendorff_alpha

    if tally.votes is None:
        return None
    votes = Ratings(
        {
            "stimulus": tally.votes.item.astype(str),
            "rater": tally.votes.judge.astype(str),
            "value": tally.votes.choice,
        },
        scale=Scale.nominal(tally.choices),
    )
    found = krippendorff_alpha(
        votes,
        level="nominal",
        by_label=False,
        target="both" if n_boot else "sample",
        confidence=confidence,
        seed=rng,
    )
    return found["pooled"] if isinstance(found, Estimates) else found


def _verdict_table(tally: Tally, rule: Rule) -> tuple[Table, dict[str, str]]:
    """Give the verdict of every item, and the column that holds the votes for each choice."""
    names = np.array([*tally.choices, no_verdict(rule)], dtype=object)
    lead = np.sign(tally.counts[:, 0] - tally.counts[:, 1]).astype(int)
    sides = np.array([tally.choices[1], "tied", tally.choices[0]], dtype=object)
    n = tally.counts.sum(axis=1).astype(np.int64)
    kept = np.flatnonzero(n) if tally.items else np.zeros(0, dtype=np.int64)
    columns = {
        "item": [tally.items[k] for k in kept.tolist()],
        "verdict": names[tally.verdicts(rule)[kept]].tolist(),
        "preferred": sides[lead[kept] + 1].tolist(),
        "n_votes": n[kept],
    }
    schema = {"item": pl.String, "verdict": pl.String, "preferred": pl.String}
    votes = {
        choice: f"votes for {choice}" if choice in columns else choice for choice in tally.choices
    }
    frame = pl.DataFrame(columns, schema_overrides=schema).with_columns(
        pl.Series(name, tally.counts[kept, k]).cast(pl.Int64)
        for k, name in enumerate(votes.values())
    )
    declared = (
        Key("item"),
        Text("verdict"),
        Text("preferred"),
        Count("n_votes"),
        *(Count(name, choice, verbatim=True) for choice, name in votes.items()),
    )
    return Table("verdicts", "Verdicts of the items.", frame, declared, limit=0), votes


_MADE = ("about", "interval", "reason")


def _made_text(made: Mapping[str, Any] | None, why: Mapping[str, Any] | None) -> str:
    interval, reason = IntervalFact.of_row(made), Reason.of_row(why)
    if interval is None:
        return "" if reason is None else no_interval_text(reason)
    return str(interval)


def _how(frame: pl.DataFrame) -> tuple[str, ...]:
    """Say how the intervals of shares were made."""
    how = {about: _made_text(*made) for about, *made in frame.select(_MADE).iter_rows()}
    return wording.intervals_of_shares(how["votes"], how["decided votes"], "items" in how)


# A preference study in plain sentences.


def _sentences(
    frame: pl.DataFrame,
    choices: tuple[str, ...],
    rule: Rule,
    agreement: Estimate | None,
    confidence: float,
) -> tuple[str, ...]:
    """Say who is preferred, on how many items, how far judges agree, and whether a side was."""
    rows = {(row["about"], row["choice"]): row for row in frame.to_dicts()}
    pair = [rows["decided votes", system] for system in choices[:2]]
    better, worse = sorted(pair, key=lambda row: -row["count"])
    sentences = [wording.preferred(better, worse, confidence)]
    undecided = {name: rows["votes", name]["count"] for name in choices[2:]}
    undecided = {name: n for name, n in undecided.items() if n}
    if undecided:
        sentences.append(wording.undecided_votes(undecided, rows["votes", choices[0]]["of"]))
    if ("items", "tied") in rows:
        first, second, tied = (rows["items", name] for name in (*choices[:2], "tied"))
        decided = rows["decided items", choices[0]]
        p = decided["p"] if decided["of"] else np.nan
        sentences.append(wording.items_by_majority(first, second, tied, p))
        counts = {name: rows["verdicts", name]["count"] for name in choices}
        none = no_verdict(rule)
        sentences.append(wording.verdicts(rule, counts, none, rows["verdicts", none]["count"]))
    if agreement is not None:
        sentences.append(wording.agreement(agreement))
    side = next((row for (about, _), row in rows.items() if about == "side"), None)
    if side is not None and side["of"]:
        sentences.append(wording.side(side))
    return tuple(sentences)
