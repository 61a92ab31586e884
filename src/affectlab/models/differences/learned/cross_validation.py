"""Cross-validation by actor: how well a learned metric does on people it was not learned from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from threading import Lock
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns, require_distinct
from affectlab.core.inference import check_confidence
from affectlab.core.types import Bools, Floats, Ints
from affectlab.models.differences.learned.report import (
    CrossValidation,
    Ranked,
    check_draws,
    report_of,
    zero_shot,
)
from affectlab.models.differences.learned.samples import PairSamples, samples_of
from affectlab.models.differences.learned.settings import LearnerSettings, learner_settings
from affectlab.models.differences.learned.splits import ActorSplit, actor_splits, check_seed
from affectlab.models.differences.learned.trainers.trainer import trainer_of, unfinished
from affectlab.models.differences.learned.warnings import UnfinishedLearningWarning

__all__ = [
    "Progress",
    "checked_baselines",
    "cross_validate",
    "cross_validated",
    "values_by_rater",
]

Progress = Callable[[str, int, int], None]
"""Is told what is done, how many splits are, and how many there are."""


def cross_validate(
    pairs: Any,
    scores: Any = None,
    embeddings: Any = None,
    learner: str = "ridge",
    *,
    n_test: int = 2,
    n_splits: int | None = None,
    baselines: Any = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> CrossValidation:
    r"""Learn from some actors and predict the others, for every split of the actors.

    A learner sees the absolute difference of the embeddings of two frames, so that a pair and its
    reverse get the same prediction. What it chooses for itself, such as how much it is held back,
    it chooses on actors left out among those it learns from.

    Parameters
    ----------
    pairs, scores, embeddings
        See :func:`samples_of`: a table with ``file_a``, ``file_b`` and ``actor``, scores from 0 to
        100, and the embeddings of the frames.
    learner
        ``"svr"``, support vector regression with a linear kernel, as in the paper; ``"ridge"``,
        least squares in closed form; ``"siamese"``, a projection for both faces and a weighted
        distance, which needs the extra ``models``. Its settings were chosen on the test splits of
        one set of drawn people; on two other sets of eight it came within .01 of ridge in SROCC,
        below it, and .035 to .06 above it in PLCC.
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
        Of what is random: drawn splits, a network's first weights, draws of actors.
    progress
        Is told of each split that is done.
    **settings
        Of the learner. ``svr``: `strength`, `epsilon`, `tolerance`. ``ridge``: `strength`,
        `non_negative`. ``siamese``: `width`, `epochs`, `batch`, `learning_rate`, `weight_decay`.

    Returns
    -------
    CrossValidation
        A row per split, method and kind of pairs; medians over splits; and how much better the
        learned metric is than each other one, with intervals over actors; and what it predicts
        for each pair whose actor was kept aside.

    Raises
    ------
    InputError
        When pairs, scores or embeddings cannot be used, or an option is out of range.

    Warns
    -----
    UnfinishedLearningWarning
        When learning stopped before it had converged, in some split.

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
    >>> len(found.splits), round(found.median("ridge", "srocc"), 2)
    (10, 1.0)
    """
    chosen = learner_settings(learner, settings)
    data = samples_of(pairs, scores, embeddings)
    others = checked_baselines(baselines, data)
    return cross_validated(
        data,
        chosen,
        n_test=n_test,
        n_splits=n_splits,
        baselines=others,
        n_boot=n_boot,
        confidence=confidence,
        seed=seed,
        progress=progress,
    )


def cross_validated(
    data: PairSamples,
    settings: LearnerSettings,
    *,
    n_test: int,
    n_splits: int | None,
    baselines: Mapping[str, Floats],
    n_boot: int,
    confidence: float,
    seed: int,
    progress: Progress | None,
) -> CrossValidation:
    """Do what :func:`cross_validate` says, with samples that were read."""
    check_confidence(confidence)
    check_seed(seed)
    splits = actor_splits(data.actors, n_test, n_splits=n_splits, seed=seed)
    check_draws(n_boot, len(splits))
    trainer = trainer_of(data, settings, seed)
    place = {name: k for k, name in enumerate(data.actors)}
    predictions = {**zero_shot(data), **baselines}
    done, counting = 0, Lock()

    def one(number: int) -> None:
        nonlocal done
        split = splits[number]
        learned = trainer.fit([place[name] for name in split.train])
        rows = data.rows_of([place[name] for name in split.test])
        guess = learned.predict(data.values[data.first[rows]], data.values[data.second[rows]])
        guesses[number] = rows, guess
        found[number] = _measured(data, split, number, rows, settings.learner, guess, predictions)
        details[number] = {"split": number + 1, "test": str(split), **learned.details}
        with counting:
            done += 1
            if progress is not None:
                progress(f"split {done} of {len(splits)}", done, len(splits))

    found: dict[int, list[dict[str, Any]]] = {}
    details: dict[int, dict[str, Any]] = {}
    guesses: dict[int, tuple[Ints, Floats]] = {}
    _run(one, len(splits), settings.learner)
    rows = [row for number in range(len(splits)) for row in found[number]]
    doubt = unfinished([details[number] for number in range(len(splits))], settings.learner)
    if doubt:
        warnings.warn(doubt, UnfinishedLearningWarning, stacklevel=3)
    return report_of(
        rows,
        splits,
        settings,
        n_boot=n_boot,
        confidence=confidence,
        seed=seed,
        details=tuple(details[number] for number in range(len(splits))),
        n_pairs=len(data),
        notes=(*data.notes, *([doubt] if doubt else [])),
        data=data.mark,
        predictions=_kept_aside(data, [guesses[number] for number in range(len(splits))]),
    )


def _kept_aside(data: PairSamples, guesses: Sequence[tuple[Ints, Floats]]) -> pl.DataFrame:
    """Give the mean of what the splits that test a pair's actor say of it."""
    total, n = np.zeros(len(data)), np.zeros(len(data), dtype=np.int64)
    for rows, guess in guesses:
        total[rows] += guess
        n[rows] += 1
    frame = pl.DataFrame(
        {
            "stimulus": list(data.stimuli),
            "actor": [data.actors[place] for place in data.actor],
            "value": total / np.maximum(n, 1),
            "n_splits": n,
        }
    )
    return frame.filter(pl.col("n_splits") > 0)


def _run(one: Callable[[int], None], n: int, learner: str) -> None:
    """Learn splits side by side where that pays: a network uses all cores for one."""
    if learner != "siamese":
        from threadpoolctl import threadpool_limits

        from affectlab.core.compiled import in_threads

        # Threads within each would wait for one another, on a busy machine for minutes.
        with threadpool_limits(limits=1, user_api="blas"):
            in_threads(one, range(n))
        return
    for number in range(n):
        one(number)


def _measured(
    data: PairSamples,
    split: ActorSplit,
    number: int,
    rows: Ints,
    learner: str,
    guess: Floats,
    predictions: Mapping[str, Floats],
) -> list[dict[str, Any]]:
    """Measure all methods on the pairs of the actors tested."""
    found = []
    n_train = int(len(data) - rows.size)
    for group, mask in data.groups():
        inside: Bools = mask[rows]
        ranked = Ranked(data.scores[rows[inside]])
        tested = {learner: guess[inside]}
        tested |= {name: values[rows[inside]] for name, values in predictions.items()}
        for method, predicted in tested.items():
            srocc, plcc, rmse, why = ranked.measure(predicted)
            found.append(
                {
                    "split": number + 1,
                    "test": str(split),
                    "method": method,
                    "group": group,
                    "n_train": n_train,
                    "n_test": int(inside.sum()),
                    "srocc": srocc,
                    "plcc": plcc,
                    "rmse": rmse if method == learner else float("nan"),
                    "status": "ok" if why is None else "undefined",
                    "reason": None if why is None else asdict(why),
                }
            )
    return found


def checked_baselines(baselines: Any, data: PairSamples) -> dict[str, Floats]:
    """Bring what other metrics say into the order of the pairs that are learned from."""
    if baselines is None:
        return {}
    from affectlab.ratings import Ratings

    if isinstance(baselines, Ratings):
        baselines = values_by_rater(baselines)
    elif not isinstance(baselines, Mapping):
        raise InputError(
            "baselines: expected ratings of metrics, or numbers by name, not "
            f"{type(baselines).__name__}"
        )
    found = {}
    for name, given in baselines.items():
        if name in ("L1", "cosine", "svr", "ridge", "siamese"):
            raise InputError(f"baseline {name!r} has the name of what is there already")
        if isinstance(given, pl.DataFrame):
            where = f"baseline {name!r}: "
            require_columns(given, ("stimulus", "value"), where)
            require_distinct(given, ["stimulus"], where, "one number for each pair")
            named = given.select(pl.col("stimulus").cast(pl.String), "value")
            held = dict(named.iter_rows())
            values = np.array([held.get(one, np.nan) for one in data.stimuli], dtype=np.float64)
        else:
            values = _in_order(name, given, data)
        if not np.isfinite(values).all():
            lacking = int((~np.isfinite(values)).sum())
            raise InputError(
                f"baseline {name!r} says nothing about {lacking:,} of {len(data):,} pairs; "
                "expected a number for each"
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


def _in_order(name: str, given: Any, data: PairSamples) -> Floats:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"baseline {name!r}: expected one number for each pair") from None
    if values.shape != (len(data),):
        raise InputError(
            f"baseline {name!r} has shape {values.shape}; expected ({len(data)},), one number for "
            "each pair (a table with stimulus and value where pairs are left out)"
        )
    return values
