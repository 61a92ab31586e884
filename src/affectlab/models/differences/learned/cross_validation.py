"""Cross-validation by actor: how well a learned metric does on people it was not learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.stats import rankdata, t as student_t
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupShuffleSplit,
    LeavePGroupsOut,
    cross_validate as splits_of_sklearn,
)

from affectlab.core.arrays import pearson, weighted_quantile
from affectlab.core.errors import InputError, check_choice
from affectlab.core.facts import Cause, Reason, reason_type
from affectlab.core.files.columns import require_columns, require_distinct
from affectlab.core.inference import check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Count, Interval, Key, Number, Share, Table
from affectlab.core.types import Floats, Ints, by_name
from affectlab.core.words import count, in_brackets, joined, number, plural
from affectlab.models.differences.distances import cosine
from affectlab.models.differences.learned.distances import (
    LEARNERS,
    SiameseDistance,
    learner_name,
    make_learner,
)
from affectlab.models.differences.learned.samples import PairSamples, pair_samples

if TYPE_CHECKING:
    from affectlab.ratings import Ratings
else:
    Ratings = by_name("affectlab.ratings", "Ratings")

__all__ = [
    "CrossValidation",
    "Progress",
    "actor_intervals",
    "actor_splits",
    "cross_validate",
    "cross_validated",
    "fitted_on",
    "split_weights",
    "values_by_rater",
    "zero_shot",
]

Progress = Callable[[str, int, int], None]
"""Is told what is done, how many splits are, and how many there are."""

MEASURES = ("srocc", "plcc")
"""Spearman's rank correlation, and Pearson's."""
FEWEST_ACTORS = 4
"""Actors from which on there is an interval."""
_MOST_SPLITS = 1000
_MOST_DRAWS = 1 << 24
"""Draws times splits: what is held of them takes half a gigabyte."""
_MOST_AT_ONCE = 4
"""Splits learned side by side: each holds a copy of the differences in double precision."""
_EQUAL = 1e-9


def cross_validate(
    pairs: Any,
    scores: Any = None,
    embeddings: Any = None,
    learner: Any = "ridge",
    *,
    n_test: int = 2,
    n_splits: int | None = None,
    baselines: Any = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> CrossValidation:
    r"""Learn from some actors and predict the others, for every split of the actors.

    A learner sees the difference of the embeddings of two frames. What it chooses for itself, such
    as how much it is held back, it chooses on actors left out among those it learns from.

    Parameters
    ----------
    pairs, scores, embeddings
        See :func:`pair_samples`: a table with ``file_a``, ``file_b`` and ``actor``, scores from 0
        to 100, and the embeddings of the frames.
    learner
        ``"svr"``, support vector regression with a linear kernel, as in the paper; ``"ridge"``,
        least squares; ``"siamese"``, a projection for both faces and a weighted distance, which
        needs the extra ``models``; the first two choose their strength. Or a regressor of
        scikit-learn that takes differences, such as ``SvrDistance(strength=0.1)``.
    n_test
        Actors that each split tests.
    n_splits
        Draw so many splits; None: all, 28 for 8 actors of which 2 are tested.
    baselines
        What other metrics say of the pairs: ratings of these, as :func:`rate_differences` gives
        them, which say of a similarity that it is one; or by name, in the order of the pairs,
        arrays of shape (n,), or tables with ``stimulus`` and ``value``, that rise with the
        difference. Mean absolute difference (``L1``) and one less the ``cosine`` of the same
        embeddings are always there.
    n_boot
        Draws of actors for the intervals, 2 or more; 0: none.
    confidence
        Coverage of the intervals.
    seed
        Of drawn splits and of draws of actors.
    progress
        Is told of each split that is done.

    Returns
    -------
    CrossValidation
        A row per split, method and kind of pairs; medians over splits, with how far the learned
        metric is ahead of each other one, and intervals over actors; and what it predicts for each
        pair whose actor was kept aside.

    Raises
    ------
    InputError
        When pairs, scores or embeddings cannot be used, or an option is out of range.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 5.1.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> frames = {f"{actor}{k}": rng.normal(size=6) for actor in "abcde" for k in range(8)}
    >>> pairs = pl.DataFrame([
    ...     {"actor": actor, "file_a": f"{actor}{j}", "file_b": f"{actor}{k}"}
    ...     for actor in "abcde" for j in range(8) for k in range(j)
    ... ])
    >>> counts = np.array([9.0, 3.0, 0.0, 0.0, 0.0, 0.0])
    >>> scores = [
    ...     float(np.abs(frames[a] - frames[b]) @ counts)
    ...     for a, b in pairs.select("file_a", "file_b").rows()
    ... ]
    >>> found = cross_validate(pairs, scores, frames)
    >>> found.n_splits, round(found.median("ridge", "srocc"), 2)
    (10, 1.0)
    """
    return cross_validated(
        pair_samples(pairs, scores, embeddings),
        make_learner(learner),
        n_test=n_test,
        n_splits=n_splits,
        baselines=baselines,
        n_boot=n_boot,
        confidence=confidence,
        seed=seed,
        progress=progress,
    )


def cross_validated(
    data: PairSamples,
    learner: Any,
    *,
    n_test: int = 2,
    n_splits: int | None = None,
    baselines: Any = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> CrossValidation:
    """Do what :func:`cross_validate` says, with samples that were read."""
    name = learner_name(learner)
    methods = {**zero_shot(data), **_checked_baselines(baselines, data)}
    check_confidence(confidence)
    splits = actor_splits(data.actor, n_test, n_splits=n_splits, seed=seed)
    _check_draws(n_boot, len(splits))
    done = 0

    def score(fitted: Any, x: Any, y: Any) -> float:
        nonlocal done
        done += 1
        if progress is not None:
            progress(f"split {done} of {len(splits)}", done, len(splits))
        return float(fitted.score(x, y)) if len(y) > 1 else float("nan")

    with _side_by_side(learner):
        x = data.differences()
        chosen, more = _with_groups(learner, data.actor, len(data.actors) - n_test)
        fitted = splits_of_sklearn(
            chosen, x, data.scores, cv=splits, scoring=score, params=more, return_estimator=True,
            error_score="raise",
        )["estimator"]  # fmt: skip
    rows: list[dict[str, Any]] = []
    total, n = np.zeros(len(data)), np.zeros(len(data), dtype=np.int64)
    for k, ((train, test), one) in enumerate(zip(splits, fitted, strict=True)):
        guess = np.full(len(data), np.nan)
        guess[test] = one.predict(x[test])
        total[test] += guess[test]
        n[test] += 1
        about = {"split": k + 1, "test": joined_actors(data, test), "n_train": train.size}
        for group, mask in data.groups():
            inside = test[mask[test]]
            for method, values in {name: guess, **methods}.items():
                found = _measured(values[inside], data.scores[inside], learned=method == name)
                rows.append({**about, "method": method, "group": group, **found})
    known = n > 0
    predictions = pl.DataFrame(
        {
            "stimulus": list(data.stimuli),
            "actor": [data.actors[place] for place in data.actor],
            "value": total / np.maximum(n, 1),
            "n_splits": n,
        }
    ).filter(known)
    tests = [np.unique(data.actor[test]).tolist() for _, test in splits]
    found_rows = pl.DataFrame(rows, schema_overrides={"reason": reason_type()})
    weights = split_weights(
        tests, len(data.actors), n_boot, np.random.default_rng([seed, len(splits)])
    )
    tested = len({actor for actors in tests for actor in actors})
    summary = _summary(found_rows, name, weights, tested, confidence)
    return CrossValidation(
        tables=(
            Table("methods", f"{name} beside other metrics.", summary, _columns(summary),
                  notes=(f"medians over {plural(len(splits), 'split')} by actor",)),
            Table("splits", "Splits by actor.", found_rows, _SPLITS, limit=0),
        ),
        sentences=_sentences(summary, name, len(splits), len(data.actors), tested),
        notes=data.notes,
        settings={"learner": name, "n_boot": n_boot, "confidence": confidence, "seed": seed},
        learner=name,
        n_splits=len(splits),
        n_pairs=len(data),
        data=data.mark,
        chosen=tuple(getattr(one, "best_params_", {}) for one in fitted),
        predictions=predictions,
    )  # fmt: skip


def joined_actors(data: PairSamples, rows: Ints) -> str:
    """Name the actors of some pairs."""
    return ", ".join(data.actors[place] for place in np.unique(data.actor[rows]))


def fitted_on(learner: Any, data: PairSamples) -> Any:
    """Fit a learner to all pairs; what is given is not changed."""
    with _side_by_side(learner):
        chosen, more = _with_groups(learner, data.actor, len(data.actors))
        return clone(chosen).fit(data.differences(), data.scores, **more)


def _with_groups(learner: Any, actor: Ints, n_actors: int) -> tuple[Any, dict[str, Any]]:
    """Give a search its groups; of one actor nothing can be left out to choose by."""
    if not isinstance(learner, GridSearchCV):
        return learner, {}
    return (learner, {"groups": actor}) if n_actors > 1 else (learner.estimator, {})


@contextmanager
def _side_by_side(learner: Any) -> Iterator[None]:
    """Learn in threads where that pays: a network uses all cores for one."""
    from joblib import parallel_config
    from threadpoolctl import threadpool_limits

    from affectlab.core.compiled import n_threads

    jobs = 1 if isinstance(learner, SiameseDistance) else min(n_threads(), _MOST_AT_ONCE)
    # Threads within each would wait for one another, on a busy machine for minutes.
    with parallel_config("threading", n_jobs=jobs), threadpool_limits(1 if jobs > 1 else None):
        yield


def actor_splits(
    actors: Any, n_test: int = 2, *, n_splits: int | None = None, seed: int = 0
) -> list[tuple[Ints, Ints]]:
    """Give every way to test on some of the actors and learn from all others.

    Parameters
    ----------
    actors
        The actor of each pair, shape (n,).
    n_test
        Actors that each split tests, 1 or more.
    n_splits
        Draw so many different splits; None: all of them, as in the paper (28 for 8 actors).
    seed
        Draws the splits where not all are taken.

    Returns
    -------
    list of (train, test)
        Rows, as scikit-learn takes them for ``cv``.

    Raises
    ------
    InputError
        When nobody would be left to learn from, or there are more than 1,000 splits.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 5.1.

    Examples
    --------
    >>> splits = actor_splits(np.arange(8))
    >>> len(splits), splits[0][1].tolist(), len(splits[0][0])
    (28, [0, 1], 6)
    """
    actors = np.asarray(actors)
    n = np.unique(actors).size
    if not _is_whole(n_test) or n_test < 1:
        raise InputError(f"n_test = {n_test!r}: expected 1 or more actors for the test")
    if n <= n_test:
        raise InputError(
            f"{plural(n, 'actor')}, of which {n_test} would be tested: expected at least "
            f"{n_test + 1}, so that one is left to learn from"
        )
    if n_splits is not None and (not _is_whole(n_splits) or not 1 <= n_splits <= _MOST_SPLITS):
        raise InputError(
            f"n_splits = {n_splits!r}: expected 1 or more, up to {count(_MOST_SPLITS)}, or "
            "None for all"
        )
    if not _is_whole(seed) or seed < 0:
        raise InputError(f"seed = {seed!r}: expected a whole number from 0 on")
    total = comb(n, n_test)
    if total > _MOST_SPLITS:
        if n_splits is None:
            raise InputError(
                f"{n} actors have {count(total)} splits with {n_test} for the test; "
                "expected n_splits to say how many of them to draw"
            )
        drawn = GroupShuffleSplit(n_splits, test_size=n_test, random_state=seed)
        return list(drawn.split(actors, groups=actors))
    every = list(LeavePGroupsOut(n_test).split(actors, groups=actors))
    if n_splits is None or n_splits >= total:
        return every
    chosen = np.random.default_rng(seed).choice(total, n_splits, replace=False)
    return [every[k] for k in np.sort(chosen)]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _check_draws(n_boot: Any, n_splits: int) -> None:
    most = _MOST_DRAWS // n_splits
    if not _is_whole(n_boot) or n_boot < 0 or n_boot == 1 or n_boot > most:
        raise InputError(f"n_boot = {n_boot}: expected 0 (no intervals), or 2 to {most:,} draws")


def _measured(predicted: Floats, scores: Floats, *, learned: bool) -> dict[str, Any]:
    """Give correlations of predictions with scores, and why they are not defined."""
    why = _lack(predicted, scores)
    srocc = plcc = rmse = float("nan")
    if why is None:
        srocc = pearson(rankdata(predicted), rankdata(scores))
        plcc = pearson(predicted, scores)
        if learned:
            rmse = float(np.sqrt(np.mean((predicted - scores) ** 2)))
    return {
        "n_test": scores.size,
        "srocc": srocc,
        "plcc": plcc,
        "rmse": rmse,
        "status": "ok" if why is None else "undefined",
        "reason": why,
    }


def _lack(predicted: Floats, scores: Floats) -> dict[str, Any] | None:
    if scores.size < 3:
        return asdict(Reason(Cause.FEWER, least=3, of="pairs"))
    for what, values in (("scores", scores), ("predictions", predicted)):
        if not np.isfinite(values).all():
            return asdict(Reason(Cause.NOT_FINITE, of=what))
        if np.ptp(values) <= _EQUAL * max(float(np.abs(values).max()), 1e-300):
            return asdict(Reason(Cause.CONSTANT, of=what))
    return None


def zero_shot(data: PairSamples) -> dict[str, Floats]:
    """Give what embeddings say by themselves: mean absolute difference, and 1 less the cosine.

    Examples
    --------
    >>> pairs = {"actor": ["a"], "file_a": ["x"], "file_b": ["y"], "value": [50.0]}
    >>> found = zero_shot(pair_samples(pairs, None, {"x": [1.0, 0.0], "y": [0.0, 1.0]}))
    >>> {name: values.tolist() for name, values in found.items()}
    {'L1': [1.0], 'cosine': [1.0]}
    """
    apart = np.empty(len(data))
    for part in np.array_split(np.arange(len(data)), len(data) // 4096 + 1):
        one, other = (data.values[side[part]] for side in (data.first, data.second))
        apart[part] = cosine(one.astype(np.float64), other.astype(np.float64))
    # No direction on one side: as far as can be told, neither alike nor opposite.
    apart[np.isnan(apart)] = 1.0
    return {"L1": np.abs(data.differences()).mean(axis=1, dtype=np.float64), "cosine": apart}


def split_weights(
    tests: Sequence[Sequence[int]], n_actors: int, n_boot: int, rng: np.random.Generator
) -> Floats:
    """Draw actors with replacement, and give how often each split is among those drawn.

    A split counts as often as its actors can be taken together: the product of how often each was
    drawn. The same draws serve all methods, so that their differences have intervals, too.

    Returns
    -------
    Shape (n_boot, splits).

    Examples
    --------
    >>> found = split_weights([(0, 1), (0, 2), (1, 2)], 3, 100, np.random.default_rng(0))
    >>> found.shape, bool((found.sum(axis=1) <= 3).all())
    ((100, 3), True)
    """
    drawn = rng.multinomial(n_actors, np.full(n_actors, 1 / n_actors), size=n_boot)
    return np.stack([drawn[:, list(actors)].prod(axis=1) for actors in tests], 1).astype(float)


def actor_intervals(
    values: Floats, weights: Floats, n_actors: int, confidence: float
) -> tuple[float, float, float]:
    """Give the median over splits with its interval.

    The standard error is that of the bootstrap over actors, with the factor that few actors need,
    :math:`\\sqrt{n / (n - 1)}`; the interval is by Student's t with n - 1 degrees of freedom. With
    8 actors percentiles of the bootstrap would be a quarter too narrow. Where actors differ in what
    decides on their scores, and learning is repeated, intervals of 95 % around the median of one
    method still hold the truth in about 89 % of simulated studies with 8 actors; those around the
    difference of two methods in 95 %.

    Parameters
    ----------
    values
        One per split, ``nan`` where not defined.
    weights
        As :func:`split_weights` gives them.
    n_actors
        Actors that are tested in some split.

    Returns
    -------
    Median, low and high; ``nan`` for what is not known.
    """
    known = np.isfinite(values)
    nan = float("nan")
    if not known.any():
        return nan, nan, nan
    median = float(np.median(values[known]))
    if n_actors < FEWEST_ACTORS or not len(weights):
        return median, nan, nan
    drawn = weighted_quantile(values[known], weights[:, known], 0.5)
    drawn = drawn[np.isfinite(drawn)]
    if drawn.size < len(weights) / 2:
        return median, nan, nan
    se = float(np.std(drawn, ddof=1) * np.sqrt(n_actors / (n_actors - 1)))
    reach = float(student_t.ppf((1 + confidence) / 2, n_actors - 1)) * se
    return median, median - reach, median + reach


def _summary(
    frame: pl.DataFrame, learner: str, weights: Floats, n_actors: int, confidence: float
) -> pl.DataFrame:
    """Give medians, and how far the learner is ahead, a row for each group of pairs and method."""
    rows = []
    for (group,), part in frame.group_by("group", maintain_order=True):
        of = {str(key[0]): held for key, held in part.group_by("method", maintain_order=True)}
        for method, held in of.items():
            row: dict[str, Any] = {"method": method, "group": group}
            for measure in MEASURES:
                found = held[measure].to_numpy()
                apart = of[learner][measure].to_numpy() - found
                sure = apart[np.isfinite(apart)]
                own = method == learner
                wins = float((sure > 0).mean()) if sure.size and not own else float("nan")
                for name, values in ((measure, found), (f"{measure}_ahead", apart)):
                    ends = actor_intervals(values, weights, n_actors, confidence)
                    if own and values is apart:
                        ends = (float("nan"),) * 3
                    row |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
                row[f"{measure}_wins"] = wins
            rows.append(row)
    return pl.DataFrame(rows)


_SPLITS = (
    Key("split"),
    Key("method"),
    Key("group", "pairs"),
    *(Count(name) for name in ("n_train", "n_test")),
    *(Number(name, name.upper(), decimals=3) for name in MEASURES),
)


def _columns(summary: pl.DataFrame) -> tuple[Any, ...]:
    shown: list[Any] = [Key("method")]
    if summary["group"].n_unique() > 1:
        shown.append(Key("group", "pairs"))
    for name in MEASURES:
        shown += [Number(name, name.upper(), decimals=3), Interval(name, "interval", decimals=3)]
    ahead = "srocc_ahead"
    return (
        *shown,
        Number(ahead, "SROCC ahead", decimals=3),
        Interval(ahead, "interval", decimals=3),
        Share("srocc_wins", "wins"),
    )


def _sentences(
    summary: pl.DataFrame, learner: str, n_splits: int, n_actors: int, tested: int
) -> tuple[str, ...]:
    """Say what the splits show, and what the intervals mean, a sentence each."""
    rows = summary.filter(pl.col("group") == "all").to_dicts()
    own = next(row for row in rows if row["method"] == learner)
    reached = joined(f"{name.upper()} of {number(own[name], 3)}" for name in MEASURES)
    said = [
        f"{learner} reaches a median {reached} over {plural(n_splits, 'split')} of "
        f"{plural(n_actors, 'actor')}."
    ]
    for row in rows:
        if row is own:
            continue
        low, high = row["srocc_ahead_low"], row["srocc_ahead_high"]
        how = "is set against"
        if np.isfinite(low):
            how = f"ranks {'better' if low > 0 else 'not clearly better'} than"
        said.append(
            f"It {how} {row['method']} on the same actors: SROCC ahead by "
            f"{number(row['srocc_ahead'], 3)}{in_brackets(low, high, 3)}, and in "
            f"{row['srocc_wins']:.0%} of the splits."
        )
    said.append(
        f"Splits share actors, so {n_splits} of them are no {n_splits} independent results; "
        "intervals draw actors, not pairs or splits, and hold for others like them."
    )
    if not any(np.isfinite(row["srocc_ahead_low"]) for row in rows):
        said.append(
            f"There are no intervals: none were asked for, {plural(tested, 'actor')} are too few, "
            "or each split tests so many that few draws of actors have a split."
        )
    elif tested < 20:
        said.append(
            f"{plural(tested, 'actor')} are few: intervals are rough, those of the medians "
            "themselves a little too narrow, and what another choice of actors to learn from "
            "would change is in them only in part."
        )
    return tuple(said)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class CrossValidation(Result):
    """How well a learned metric does on actors it was not learned from, beside other metrics.

    The table ``methods`` has a row per method and group of pairs (all, intra, inter): ``srocc`` and
    ``plcc``, medians over the splits; ``srocc_ahead``, the median over the splits of the learned
    metric less this one, and ``srocc_wins``, the share of the splits in which it is ahead; with
    ends of intervals over actors, ``_low`` and ``_high``. Those of the medians themselves are a
    little too narrow with 8 actors: those of 95 % hold the truth in about 89 % of studies. The
    table ``splits`` has a row per split, method and group.
    """

    learner: str
    """Name of the learner, as in the tables."""
    n_splits: int
    n_pairs: int
    data: str
    """Hash of the pairs, scores and embeddings."""
    chosen: tuple[Mapping[str, Any], ...]
    """What the learner chose in each split."""
    predictions: pl.DataFrame
    """What the learned metric says of each pair where its actor was kept aside, the mean over
    these splits: ``stimulus``, ``actor``, ``value``, ``n_splits``."""

    def ratings(self, name: str, version: str = "", stimuli: pl.DataFrame | None = None) -> Ratings:
        """Give :attr:`predictions` as ratings of a model.

        Parameters
        ----------
        name, version
            Of the metric, as a rater.
        stimuli
            What more is known of the pairs, with a column ``stimulus``.
        """
        from affectlab.ratings import Ratings

        known = self.predictions.select("stimulus", "actor")
        if stimuli is not None:
            known = known.select("stimulus").join(
                stimuli, on="stimulus", how="left", maintain_order="left"
            )
        raters = {
            "rater": [name],
            "rater_kind": ["model"],
            "version": [version],
            "direction": ["higher is more different"],
            "learned": [f"each pair by {self.n_splits} splits that keep its actor aside"],
        }
        return Ratings(
            self.predictions.select("stimulus", pl.lit(name).alias("rater"), "value"),
            scale="interval",
            raters=pl.DataFrame(raters),
            stimuli=known,
            source="cross-validation",
        )

    @property
    def doubts(self) -> tuple[str, ...]:
        """Which methods the learned one is not clearly better than, on actors kept aside."""
        methods = self.to_frame().filter(pl.col("group") == "all", pl.col("method") != self.learner)
        behind = methods.filter(~(pl.col("srocc_ahead_low").fill_nan(-1.0) > 0))["method"].to_list()
        if not behind or not self.settings["n_boot"]:
            return ()
        return (f"on actors kept aside the metric is not clearly better than {joined(behind)}",)

    def row(self, method: str | None = None, group: str = "all") -> dict[str, Any]:
        """Give the row of a method, by default that of the learned metric.

        Raises
        ------
        InputError
            When there is no such method or group.
        """
        frame, wanted = self.to_frame(), {"method": method or self.learner, "group": group}
        for name, value in wanted.items():
            check_choice(name, value, frame[name].unique(maintain_order=True).to_list())
        return frame.filter(**wanted).row(0, named=True)

    def median(
        self, method: str | None = None, measure: str = "srocc", group: str = "all"
    ) -> float:
        """Give the median over splits, by default that of the learned metric."""
        check_choice("measure", measure, MEASURES)
        return float(self.row(method, group)[measure])


def _checked_baselines(baselines: Any, data: PairSamples) -> dict[str, Floats]:
    """Bring what other metrics say into the order of the pairs that are learned from."""
    from affectlab.ratings import Ratings

    if isinstance(baselines, Ratings):
        baselines = values_by_rater(baselines)
    elif baselines is not None and not isinstance(baselines, Mapping):
        raise InputError(
            "baselines: expected ratings of metrics, or numbers by name, not "
            f"{type(baselines).__name__}"
        )
    found = {}
    for name, given in (baselines or {}).items():
        where = f"baseline {name!r}"
        if name in ("L1", "cosine", *LEARNERS):
            raise InputError(f"{where} has the name of what is there already")
        if isinstance(given, pl.DataFrame):
            require_columns(given, ("stimulus", "value"), f"{where}: ")
            require_distinct(given, ["stimulus"], f"{where}: ", "one number for each pair")
            held = dict(given.select(pl.col("stimulus").cast(pl.String), "value").iter_rows())
            given = [held.get(one) for one in data.stimuli]
        values = np.asarray(given, dtype=np.float64)
        if values.shape != (len(data),):
            raise InputError(
                f"{where} has shape {values.shape}; expected ({len(data)},), one number for each "
                "pair (a table with stimulus and value where pairs are left out)"
            )
        lacking = int((~np.isfinite(values)).sum())
        if lacking:
            raise InputError(
                f"{where} says nothing about {lacking:,} of {len(data):,} pairs; expected a number "
                "for each"
            )
        found[str(name)] = values
    return found


def values_by_rater(ratings: Any) -> dict[str, pl.DataFrame]:
    """Give what each rater says, turned round where it says that higher is more alike."""
    frame = ratings.to_frame().with_columns(pl.col("rater", "stimulus").cast(pl.String))
    alike: set[str] = set()
    if "direction" in ratings.raters.columns:
        told = ratings.raters.filter(pl.col("direction") == "higher is more alike")
        alike = set(told["rater"].cast(pl.String).to_list())
    return {
        name: frame.filter(pl.col("rater") == name).select(
            "stimulus", -pl.col("value") if name in alike else pl.col("value")
        )
        for name in ratings.rater_names
    }
