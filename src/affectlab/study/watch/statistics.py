"""What takes longer to compute about a running study: agreement, flags of raters, times."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select

from affectlab.core.errors import InputError
from affectlab.core.render.notes import row_status_text
from affectlab.core.wording import undefined_text
from affectlab.core.words import number, plural
from affectlab.study.dataset import collect
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import answers, trials
from affectlab.study.watch.overview import last_event

if TYPE_CHECKING:
    from affectlab.core.estimates import Estimate
    from affectlab.ratings import Ratings
    from affectlab.reliability.screening import Policy, Screening

__all__ = ["Agreement", "Flag", "Statistics", "Times", "statistics"]

_FEWEST_UNITS = 10
"""Stimuli with two ratings below which a bootstrap interval says little."""
_FEWEST_ANSWERS = 5
_FEWEST_PEOPLE = 5
_DUPLICATES = "duplicates"
_FAR = 3.5
"""Modified z-score above which a person's time is an outlier (Iglewicz and Hoaglin 1993)."""
_TIMES = 0.25 * 2 ** np.arange(0, 10.5, 0.5)
"""Edges of the parts in which times are counted, in seconds: a quarter of one to four minutes."""


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha of the answers that count."""

    label: str
    value: float | None
    low: float | None
    """Ends of the 95 % interval; None where there are too few stimuli for one."""
    high: float | None
    n_items: int
    """Stimuli with two ratings or more."""
    n_raters: int
    status: str
    """``ok``, or why there is no value or no interval."""
    width: float | None = None
    """Width of the interval that holds however often one looks; None without one."""


@dataclass(frozen=True)
class Flag:
    """One thing about a rater that somebody should look at."""

    rater: str
    session: str | None
    """Where sessions are judged, the one that is meant."""
    rule: str
    sentence: str
    numbers: dict[str, float]
    against: tuple[str, ...]
    """What the policy refuses for it: ``pay``, ``use``, ``block``; none where it only points."""


@dataclass(frozen=True)
class Times:
    """Time per trial, in seconds."""

    n: int
    median: float | None
    low: float | None
    """First quartile."""
    high: float | None
    """Third quartile."""
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    """Answers between two edges; those beyond an end are counted at it."""


@dataclass(frozen=True)
class Statistics:
    """What the answers of a study say, as far as they go."""

    event: int
    """Number of the last event that it knows of."""
    level: str
    """Level of measurement of alpha, empty where alpha is not defined."""
    overall: Agreement
    """The mean over labels, or the one coefficient where there are none."""
    labels: tuple[Agreement, ...]
    screening: str
    """What the flags rest on, in words."""
    flags: tuple[Flag, ...]
    notes: tuple[str, ...]
    """What could not be judged, in sentences."""
    times: Times
    medians: dict[str, float]
    """Median time of every rater, in seconds."""


def statistics(store: Store) -> Statistics:
    """Compute agreement, flags and times from the answers that count."""
    with store.database.read() as connection:
        event = last_event(connection)
    by_rater = _times_by_rater(store)
    times = _times(by_rater)
    medians = {rater: round(float(np.median(one)), 2) for rater, one in by_rater.items()}
    slow = _time_flags(by_rater)
    ratings, why = _ratings(store)
    if ratings is None:
        return Statistics(event, "", _nothing(why), (), "", slow, (), times, medians)
    notes = (why,) if why else ()
    try:
        level, overall, labels = _agreement(ratings)
    except InputError as error:
        level, overall, labels = "", _nothing(str(error)), ()
    screening, flags, unjudged = _flags(store, ratings)
    if not any(flag.rule == _DUPLICATES for flag in flags):
        flags += _duplicate_flags(ratings)
    return Statistics(
        event,
        level,
        overall,
        labels,
        screening,
        (*flags, *slow),
        (*notes, *unjudged),
        times,
        medians,
    )


def _ratings(store: Store) -> tuple[Ratings | None, str]:
    """Give the answers that statistics are about, or why there are none."""
    protocol = store.study.protocol
    if protocol.answer in ("trials", "entries"):
        return None, "answers of this kind are texts, for which there is no coefficient"
    if protocol.staircase is not None:
        return None, "a staircase asks everyone about other frames, so that nobody can agree"
    found = collect(store)
    if found is not None:
        return found, ""
    pilot = collect(store, batch="pilot")
    if pilot is None:
        return None, "no answer counts yet"
    return pilot, "All of this is about the pilot: the main study has no answer yet."


def _agreement(ratings: Ratings) -> tuple[str, Agreement, tuple[Agreement, ...]]:
    from affectlab.reliability import confidence_at_any_look, krippendorff_alpha, over_labels

    kind = ratings.scale.kind
    level = "nominal" if kind == "binary" else kind
    found = krippendorff_alpha(ratings)
    once = confidence_at_any_look(0.95)
    rows = found.frame.to_dicts()
    if found.jackknife is not None:
        _, low, high = found.jackknife.ends(once)
        for row, width in zip(rows, (high - low).tolist(), strict=True):
            row["width"] = width
    labels = tuple(
        _told(row["label"], row, row_status_text(row) or "ok")
        for row in sorted(rows, key=lambda row: row["label"])
    )
    every = over_labels(found, confidence=once)
    overall = _of_estimate(over_labels(found), every.high - every.low)
    if len(labels) == 1:
        return level, labels[0], ()
    return level, overall, labels


def _of_estimate(one: Estimate, width: float) -> Agreement:
    row = {
        "width": width,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "n_items": one.n_items,
        "n_raters": one.n_raters,
    }
    return _told("", row, "ok" if one.ok else undefined_text(one.reason))


def _told(label: str, row: dict[str, Any], status: str) -> Agreement:
    """Bring an estimate into the form of the dashboard, without intervals that say little."""
    low, high = _finite(row["low"]), _finite(row["high"])
    n = int(row["n_items"])
    if status == "ok" and (n < _FEWEST_UNITS or low is None):
        low = high = None
        status = (
            f"too little for an interval: {plural(n, 'stimulus', 'stimuli')} with two ratings "
            f"or more, {_FEWEST_UNITS} are needed"
        )
    width = None if low is None else _finite(row.get("width"))
    value = _finite(row["value"])
    return Agreement(label or "", value, low, high, n, int(row["n_raters"]), status, width)


def _nothing(status: str) -> Agreement:
    return Agreement("", None, None, None, 0, 0, status)


def _flags(store: Store, ratings: Ratings) -> tuple[str, list[Flag], tuple[str, ...]]:
    """Judge raters by the policy of the study; without one, by checks that only point."""
    from affectlab.reliability import screen

    named = store.study.design.policy
    golden = _golden(store)
    try:
        policy = store.study.policy_place if named else _checks(store, bool(golden))
        found = screen(ratings, policy=policy, golden=_golden_table(golden))
    except InputError as error:
        what = f"The policy {named!r}" if named else "The checks of a running study"
        return "", [], (f"{what} cannot be used: {error}.",)
    screening = (
        f"the policy {found.policy.name!r} of the study file"
        if named
        else "the checks of a running study, as the study file names no policy"
    )
    return screening, _policy_flags(found), found.notes


def _checks(store: Store, has_golden: bool) -> Policy:
    """Give the checks that a study without a policy gets; they refuse nobody.

    Who is careless is the list of the policy ``panel``. The limits of golden trials and repeats are
    those of FaceExpressions-70k (section 3.4.5), as shares of the scale.
    """
    from affectlab.reliability.screening import Policy, load_policy

    panel = load_policy("panel")
    rules: list[Any] = [rule for rule in panel.rules if rule.name in panel.use.rules]
    counted = {"tolerance": 25, "at_least": 3, "of": 5}
    if has_golden:
        rules.append({"name": "golden trials", "check": "golden", **counted})
    if store.study.protocol.checks.repeats:
        rules.append({"name": "repeats", "check": "repeats", **counted})
    return Policy.model_validate({"name": "checks of a running study", "rules": rules})


def _policy_flags(found: Screening) -> list[Flag]:
    return [
        Flag(
            rater=row["rater"],
            session=row.get("session") or None,
            rule=row["rule"],
            sentence=f"{row['rule']}: {row['evidence']}",
            numbers=_numbers({"measure": row["measure"], "answers": row["n"]}),
            against=tuple(part for part in row["verdicts"].split(", ") if part),
        )
        for row in found.evidence_frame().to_dicts()
        if row["violated"]
    ]


def _duplicate_flags(ratings: Ratings) -> list[Flag]:
    """Point at raters who answer alike, whatever the policy of the study looks at."""
    from affectlab.reliability import duplicate_raters

    if ratings.scale.kind == "text":
        return []
    alike = duplicate_raters(ratings)
    return [
        Flag(
            rater,
            None,
            _DUPLICATES,
            f"{_DUPLICATES}: {words}",
            _numbers({"measure": alike.closest[rater][2], "answers": alike.closest[rater][1]}),
            (),
        )
        for rater, words in alike.by_rater().items()
    ]


def _golden(store: Store) -> dict[tuple[str, str], float]:
    """Known answers of golden trials, by stimulus and label."""
    return {
        (content["name"], label): float(value)
        for content in store.content.values()
        if content["kind"] == "golden"
        for label, value in (content["expected"] or {}).items()
        if isinstance(value, int | float)
    }


def _golden_table(golden: dict[tuple[str, str], float]) -> Any:
    import polars as pl

    if not golden:
        return None
    rows = [{"stimulus": s, "label": label, "value": v} for (s, label), v in golden.items()]
    frame = pl.DataFrame(rows)
    return frame if (frame["label"] != "").any() else frame.drop("label")


def _times_by_rater(store: Store) -> dict[str, list[float]]:
    with store.database.read() as connection:
        rows = connection.execute(
            select(trials.c.participant_id, answers.c.rt_ms)
            .join(answers, answers.c.trial_id == trials.c.id)
            .where(answers.c.valid.is_(True), answers.c.rt_ms.is_not(None))
            .order_by(trials.c.participant_id, trials.c.id)
        ).all()
    by_person: dict[int, list[float]] = {}
    for person, ms in rows:
        by_person.setdefault(person, []).append(ms / 1000)
    return {pseudonym(store, person): one for person, one in by_person.items()}


def _times(by_rater: dict[str, list[float]]) -> Times:
    edges = tuple(round(float(edge), 3) for edge in _TIMES)
    every = np.array([second for one in by_rater.values() for second in one])
    if not every.size:
        return Times(0, None, None, None, edges, (0,) * (len(edges) - 1))
    low, median, high = (round(float(q), 2) for q in np.percentile(every, (25, 50, 75)))
    inside = np.clip(every, _TIMES[0], np.nextafter(_TIMES[-1], 0))
    counts = np.histogram(inside, _TIMES)[0]
    return Times(int(every.size), median, low, high, edges, tuple(int(n) for n in counts))


def _time_flags(by_rater: dict[str, list[float]]) -> tuple[Flag, ...]:
    """Point at people whose median time is far from the others', on a logarithmic scale."""
    enough = {rater: one for rater, one in by_rater.items() if len(one) >= _FEWEST_ANSWERS}
    if len(enough) < _FEWEST_PEOPLE:
        return ()
    medians = np.array([max(float(np.median(one)), 0.001) for one in enough.values()])
    logs = np.log(medians)
    middle = float(np.median(logs))
    spread = float(np.median(np.abs(logs - middle))) / 0.6745
    # At least a factor of two, where the others are so alike that any difference is far.
    reach = max(_FAR * spread, math.log(2))
    low, high = math.exp(middle - reach), math.exp(middle + reach)
    flags = []
    for (rater, one), median in zip(enough.items(), medians.tolist(), strict=True):
        if low <= median <= high:
            continue
        fast = median < low
        sentence = (
            f"median {number(median, 1)} s over {plural(len(one), 'trial')}, "
            f"{'below' if fast else 'above'} {number(low if fast else high, 1)} s; the middle "
            f"person takes {number(math.exp(middle), 1)} s"
        )
        numbers = _numbers({"median_s": median, "low_s": low, "high_s": high, "trials": len(one)})
        flags.append(Flag(rater, None, "fast" if fast else "slow", sentence, numbers, ()))
    return tuple(flags)


def _numbers(values: dict[str, Any]) -> dict[str, float]:
    found = {name: _finite(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None}


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(float(value), 4)
