"""Making result files: from tables of estimates, of people, and what tells data sets apart."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from affectlab.errors import InputError, unknown_name
from affectlab.estimates import Estimate, Estimates
from affectlab.evaluation._result_file import DataSet, ResultFile
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import answers_of

__all__ = ["data_set", "human_results", "rows_of"]

Given: TypeAlias = Estimate | Estimates | Sequence[Estimate | Estimates]
_RATER_KEYS = ("rater", "model")
_PICKED = "chosen after the fact, metric by metric; the interval is that of one person"


def data_set(people: Ratings, name: str, *, link: str | None = None) -> DataSet:
    """Describe the answers of people that models are judged by.

    Parameters
    ----------
    people
        Ratings; of those that hold models, only people count.
    name
        Name of the data set.
    link
        Where it can be had.

    Returns
    -------
    A description with a fingerprint: SHA-256 over who gave which answer to which stimulus and
    label. The order of rows does not matter; attributes, the scale, and repeated or golden trials
    do not enter.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> one = Ratings({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [1, 2]}, scale="0-7")
    >>> two = Ratings({"stimulus": ["b", "a"], "rater": ["r", "r"], "value": [2, 1]}, scale="0-7")
    >>> data_set(one, "demo") == data_set(two, "demo")
    True
    """
    people = people.humans()
    answers = answers_of(people)
    digest = hashlib.sha256()
    codes = []
    for names, code in (
        (answers.labels, answers.label),
        (answers.units, answers.unit),
        (answers.raters, answers.rater),
    ):
        order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        for k in order.tolist():
            digest.update(f"{names[k]}\0".encode("utf-8", "surrogatepass"))
        digest.update(b"\1")
        place = np.empty(len(names), dtype="<i8")
        place[order] = np.arange(len(names))
        codes.append(place[code])
    rows = np.lexsort(codes[::-1])
    for column in (*codes, answers.value + 0.0):
        digest.update(column[rows].astype(column.dtype.newbyteorder("<")).tobytes())
    return DataSet(
        name=name,
        fingerprint=f"sha256:{digest.hexdigest()}",
        n_stimuli=len(answers.units),
        n_raters=len(answers.raters),
        n_labels=len(answers.labels),
        scale=str(people.scale),
        simulated="simulated" in people.rater_kinds,
        link=link,
    )


def rows_of(
    metrics: Mapping[str, Given] | Estimates, rater: str
) -> list[tuple[str, str | None, Estimate]]:
    """Give (metric, label, estimate) of one rater.

    Raises
    ------
    InputError
        When a table does not hold the rater, or one table has no key that names the metric.
    """
    if isinstance(metrics, Estimates):
        if "metric" not in metrics.keys:
            raise InputError(
                f"a table keyed by {', '.join(metrics.keys)} names no metric; expected a key "
                "'metric', or a mapping from names of metrics to tables"
            )
        return _rows_of_table("", metrics, rater)
    rows: list[tuple[str, str | None, Estimate]] = []
    for name, given in metrics.items():
        for found in [given] if isinstance(given, Estimate | Estimates) else given:
            if isinstance(found, Estimate):
                rows.append((name, None, found))
            else:
                rows += _rows_of_table(name, found, rater)
    return rows


def _rows_of_table(
    metric: str, table: Estimates, rater: str
) -> list[tuple[str, str | None, Estimate]]:
    who = next((key for key in _RATER_KEYS if key in table.keys), None)
    rows = []
    for names, estimate in table:
        key = dict(zip(table.keys, names, strict=True))
        if who is not None and key.pop(who) != rater:
            continue
        label = key.pop("label", None)
        rows.append((" ".join([metric, *key.values()]).strip(), label, estimate))
    if not rows and who is not None:
        known = dict.fromkeys(names[table.keys.index(who)] for names, _ in table)
        raise unknown_name(who, rater, known, f"metric {metric!r}" if metric else "")
    return rows


def human_results(
    metrics: Mapping[str, Estimates],
    *,
    data: DataSet,
    ceiling: Mapping[str, Estimate] | None = None,
    lower_is_better: Collection[str] = (),
) -> list[ResultFile]:
    """Put people into rows of a leaderboard: the best, the median and the worst, and the ceiling.

    Parameters
    ----------
    metrics
        Name of a metric to its estimates, keyed by ``rater``: each person compared with the other
        people, as a model is compared with people.
    data
        What they were judged by.
    ceiling
        Name of a metric to the best that any rater could reach, where it is known.
    lower_is_better
        Metrics of which a lower number is the better one.

    Returns
    -------
    Three result files, or four; the best person by one metric need not be the best by another.

    Raises
    ------
    InputError
        When a table is not keyed by rater, or holds nobody for whom the metric is defined.

    Examples
    --------
    >>> data = DataSet(name="demo", fingerprint="sha256:" + 64 * "0", n_stimuli=9, n_raters=3)
    >>> people = Estimates.build({"rater": ["ann", "ben", "cleo"]}, value=[0.5, 0.7, 0.6])
    >>> for row in human_results({"kappa": people}, data=data):
    ...     print(row.name, row.metrics[0].value)
    best person 0.7
    median person 0.6
    worst person 0.5
    """
    ranked = {
        name: _ranked(name, table, lower=name in lower_is_better) for name, table in metrics.items()
    }
    roles: Sequence[Literal["best", "median", "worst"]] = ("best", "median", "worst")
    made = []
    for role in roles:
        chosen = {
            name: people[{"best": 0, "median": (len(people) - 1) // 2, "worst": -1}[role]]
            for name, people in ranked.items()
        }
        made.append(
            ResultFile.from_estimates(
                f"{role} person",
                chosen,
                data=data,
                lower_is_better=[name for name in lower_is_better if name in chosen],
                kind="human",
                role=role,
                notes=[_PICKED],
            )
        )
    if ceiling:
        made.append(
            ResultFile.from_estimates(
                "ceiling",
                ceiling,
                data=data,
                lower_is_better=[name for name in lower_is_better if name in ceiling],
                kind="human",
                role="ceiling",
            )
        )
    return made


def _ranked(metric: str, table: Estimates, *, lower: bool) -> list[Estimate]:
    """Estimates of people for whom the metric is defined, the best first."""
    if table.keys != ("rater",):
        raise InputError(
            f"metric {metric!r}: keyed by {', '.join(table.keys)}; expected one estimate per rater"
        )
    found = [estimate for _, estimate in table if estimate.ok]
    if not found:
        raise InputError(f"metric {metric!r} is defined for nobody; expected at least one person")
    return sorted(found, key=lambda estimate: estimate.value if lower else -estimate.value)
