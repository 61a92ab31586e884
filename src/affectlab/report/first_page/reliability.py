"""How reliable the ratings are: the mean of as many raters as there are, and a single one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.statistic import FEWEST_CLUSTERS
from affectlab.core.words import count, joined, number, percent, plural, shown, some
from affectlab.report.first_page.words import ends_in_words, named_rows
from affectlab.report.page import Block, Paragraph, Picture, Section
from affectlab.report.statistics import (
    ENOUGH_ITEMS,
    STEPS,
    WANTED,
    Study,
    rater_called,
    reasons_of_rows,
)

_MOST_ROWS = 8
_MOST_NAMED = 4
_MOST_RATERS = 1000
_RARE, _FEW_RATERS = 0.25, 5
"""Share of answers other than the most frequent below which they are rare; raters below which these
are few."""
_MOSTLY = 0.5
"""Share of the variance behind an interval from which on it is mostly due to raters."""
_TITLE = "How reliable are these ratings?"
_FOR_WHAT = (
    f"From {number(STEPS[0])} on scores serve a first look, from {number(STEPS[1])} comparisons of "
    f"groups and correlations, from {number(STEPS[2])} decisions about single stimuli."
)


def reliability_question(study: Study) -> Section:
    """Answer in words, with a line for each label."""
    return Section("reliability", _TITLE, tuple(_blocks(study)))


def _blocks(study: Study) -> list[Block]:
    why = _nothing_to_say(study)
    if why:
        return [Paragraph(f"{why[0].upper()}{why[1:]}.")]
    frame = study.reliability
    known = frame.filter(pl.col("value").is_not_nan()).sort(
        "value", descending=True, maintain_order=True
    )
    if known.is_empty():
        reasons = joined(reasons_of_rows(frame))
        return [Paragraph(f"Reliability is not defined ({reasons}).")]
    texts = [_without_careless(study), _of_means(study, known), _of_one(known), _more_raters(known)]
    if known.height < frame.height:
        missing = frame.filter(pl.col("value").is_nan())
        texts.append(
            f"It is not defined for {study.things(missing.height)} "
            f"({joined(reasons_of_rows(missing))})."
        )
    return [*(Paragraph(text) for text in texts if text), _picture(study, known, " ".join(texts))]


def _without_careless(study: Study) -> str:
    """Say what leaving careless people out changes."""
    if study.without_careless is None:
        return ""
    what, before, after = study.without_careless
    if number(before) == number(after):
        return ""
    named = some([rater_called(name, 60) for name in study.careless_names], 5)
    return (
        f"Without {named}, who {'is' if len(study.careless_names) == 1 else 'are'} taken to be "
        f"careless, {what} would be {number(after)}, not {number(before)}."
    )


def _nothing_to_say(study: Study) -> str:
    """Say why there is no reliability."""
    if study.numeric is None:
        return "the answers are texts, so this report counts and describes them"
    if study.flow is not None:
        known = [batch for batch in study.flow.batches if batch.reason is None]
        parts = joined(
            f"{percent(batch.agreement)} of the {count(batch.items)} items in batch "
            f"{batch.batch}" + (" (as absent)" if batch.kind == "contrastive" else "")
            for batch in known
        )
        what = "" if study.flow.recorded else "what looks like "
        said = f"raters confirmed {parts}" if known else "no round can be judged"
        return f"in {what}a yes/no protocol of rounds, {said}"
    if study.reliability.is_empty():
        if study.aggregated:
            return (
                "how far the people behind these aggregated answers agree cannot be seen from them"
            )
        return "one rater alone cannot show how reliable ratings are"
    return ""


def _of_means(study: Study, known: pl.DataFrame) -> str:
    """Say what the means of all raters are worth."""
    best, worst = known.row(0, named=True), known.row(-1, named=True)
    n_items = int(np.median(known["n_items"].to_numpy()))
    graded = n_items >= ENOUGH_ITEMS and not known["low"].is_nan().all()
    mean = _mean_of(known)
    if known.height == 1:
        value = f"{number(best['value'])}{ends_in_words(best)}"
        if not graded:
            return f"{mean} has a reliability of {value}{_ungraded(study, n_items)}."
        grade = _grade(best)
        if grade == "open":
            return (
                f"{mean} has a reliability of {value}, with {_lacking(study, [best])} to say more."
            )
        enough = f", enough for {_ENOUGH[grade]}" if grade in _ENOUGH else ""
        return f"{mean} is {_IS[grade]}{enough}: {value} for {study.drawn}."
    span = (
        f"{number(worst['value'])}{ends_in_words(worst)} for {shown(worst['label'])} to "
        f"{number(best['value'])}{ends_in_words(best, called=False)} for {shown(best['label'])}"
    )
    if not graded:
        return f"{mean} has a reliability from {span}{_ungraded(study, n_items)}."
    groups: dict[str, list[str]] = {}
    for row in known.iter_rows(named=True):
        groups.setdefault(_grade(row), []).append(shown(row["label"]))
    parts = [
        f"{words} ({_named(study, groups[grade], known.height)})"
        for grade, words in _IS.items()
        if grade in groups
    ]
    if "open" in groups:
        untold = [row for row in known.iter_rows(named=True) if _grade(row) == "open"]
        parts[-1] += f", with {_lacking(study, untold)} to say more"
    worst_grade = _grade(worst)
    enough = f" Enough for {_ENOUGH[worst_grade]}." if worst_grade in _ENOUGH else ""
    return f"{mean} is {joined(parts)}.{enough} The reliability runs from {span}."


def _mean_of(known: pl.DataFrame) -> str:
    """Name what is used: "The mean of 12 raters per stimulus"."""
    k = known["k"].to_numpy()
    raters = " to ".join(dict.fromkeys(f"{end:.0f}" for end in (k.min(), k.max())))
    about = "" if np.allclose(k, np.rint(k)) else "about "
    nominal = known["coefficient"].str.contains("shares").all()
    what = "The share of answers" if nominal else "The mean"
    return f"{what} of {about}{raters} rater{'' if raters == '1' else 's'} per stimulus"


def _named(study: Study, names: list[str], n: int) -> str:
    if len(names) == n:
        return f"all {study.things(n)}" if n > 2 else f"both {study.thing}s"
    if len(names) <= _MOST_NAMED:
        return joined(names)
    return f"{len(names)} of {study.things(n)}"


_ENOUGH = {
    "high": "decisions about single stimuli",
    "good": "comparisons of groups of stimuli and for correlations",
}
"""What a mean is enough for."""
_IS = {
    "high": "highly reliable",
    "good": "reliable",
    "fair": "reliable enough for a first look",
    "probably good": "probably reliable",
    "probably fair": "probably good for a first look, and not for more",
    "probably poor": "probably not reliable enough",
    "poor": "not reliable enough",
    "open": "not to be judged",
}
"""What is said of a mean; without "probably" praise goes by the lower end of the interval, and
blame by the upper one."""


def _grade(row: dict[str, Any]) -> str:
    value, low, high = row["value"], row["low"], row["high"]
    if low <= 0 and high >= STEPS[0]:
        return "open"
    for grade, step in (("high", STEPS[2]), ("good", STEPS[1]), ("fair", STEPS[0])):
        if low >= step:
            return grade
    if high < STEPS[0]:
        return "poor"
    if not low > 0 or value < STEPS[0]:
        return "probably poor"
    return "probably good" if value >= STEPS[1] else "probably fair"


def _lacking(study: Study, rows: Sequence[dict[str, Any]]) -> str:
    """Say what there is too little of: raters, answers other than the most frequent, or stimuli."""
    what = []
    if min(row["k"] for row in rows) < _FEW_RATERS:
        what.append(f"raters per stimulus ({number(min(row['k'] for row in rows), 0)})")
    rare = min(row["rare"] for row in rows)
    if rare < _RARE:
        what.append(f"answers other than the most frequent ({percent(rare)})")
    if not what and min(row["of_raters"] for row in rows) >= _MOSTLY:
        return "raters who differ too much from one another"
    return f"too few {joined(what or [study.clusters.units])}"


def _ungraded(study: Study, n_items: int) -> str:
    """Say why nothing is concluded."""
    if n_items < ENOUGH_ITEMS:
        verb = "is" if n_items == 1 else "are"
        stimuli = plural(n_items, "stimulus", "stimuli")
        return f"; {stimuli} with two or more answers {verb} too few to conclude from"
    if not study.n_boot:
        return "; intervals were not asked for, so it is not graded"
    if study.n_clusters is not None and study.n_clusters < FEWEST_CLUSTERS:
        few = f"{study.n_clusters} {study.clusters.units}"
        return f"; {few} tell too little of others for an interval, so it is not graded"
    return "; the answers leave it without an interval, so it is not graded"


def _of_one(known: pl.DataFrame) -> str:
    """Say what one rater alone is worth, beside the mean."""
    low, high = float(known["single"].min()), float(known["single"].max())  # type: ignore[arg-type]
    if known.height == 1:
        (row,) = known.iter_rows(named=True)
        ends = ends_in_words({"low": row["single_low"], "high": row["single_high"]})
        return f"A single rater alone reaches {number(low)}{ends}."
    span = number(low) if number(low) == number(high) else f"{number(low)} to {number(high)}"
    return f"A single rater alone reaches {span}."


def _more_raters(known: pl.DataFrame) -> str:
    """Say how many raters reach 0.80 for the worst label; nothing where few stimuli tell."""
    worst = known.row(-1, named=True)
    if worst["n_items"] < ENOUGH_ITEMS:
        return ""
    wanted, k = worst["raters_wanted"], worst["k"]
    of = f" for {shown(worst['label'])}, the least reliable" if known.height > 1 else ""
    low, high = worst["raters_wanted_low"], worst["raters_wanted_high"]
    if low == low and not high <= _MOST_RATERS:
        if not low <= _MOST_RATERS:
            return f"No number of raters that can be had would reach {number(WANTED)}{of}."
        about = f"about {count(wanted)}, and " if wanted <= _MOST_RATERS else ""
        more = "raters per stimulus"
        if worst["rare"] < _RARE:
            more += ", or stimuli with the rarer answers,"
        elif worst["k"] >= _FEW_RATERS and not worst["of_raters"] >= _MOSTLY:
            more += ", or stimuli,"
        return (
            f"To reach {number(WANTED)}{of}, ask {about}at least {plural(low, 'rater')} per "
            f"stimulus; more {more} would tell how many."
        )
    if not wanted <= _MOST_RATERS:
        return f"No number of raters that can be had would reach {number(WANTED)}{of}."
    ends = ""
    if low == low and (low, high) != (wanted, wanted):
        ends = f" (95\u00a0% interval {count(low)} to {count(high)})"
    if wanted <= k:
        return f"{plural(wanted, 'rater')} per stimulus would do for {number(WANTED)}{of}{ends}."
    return f"To reach {number(WANTED)}{of}, ask {count(wanted)} raters per stimulus{ends}."


def _picture(study: Study, known: pl.DataFrame, words: str) -> Picture:
    drawn, rule = known, ""
    if known.height > _MOST_ROWS:
        half = _MOST_ROWS // 2
        drawn = pl.concat([known.head(half), known.tail(half)])
        rule = f" Of {study.things(known.height)} the {half} best and the {half} worst are shown."
    return Picture.make(
        "raters_needed",
        drawn.with_columns(label=named_rows(study, drawn["label"])),
        name="reliability",
        title="Reliability of the mean by number of raters",
        caption=f"Colours: what the mean of so many raters reaches. {_FOR_WHAT} Beside: the "
        f"reliability of the mean of those who answered{_interval(study)}.{rule}",
        description=words,
        options={"steps": STEPS},
    )


def _interval(study: Study) -> str:
    return f", with its 95\u00a0% interval for {study.drawn}" if study.n_boot else ""
