"""How reliable the ratings are: the mean of as many raters as there are, and a single one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.statistic import FEWEST_CLUSTERS
from affectlab.core.words import joined, shown
from affectlab.report import wording
from affectlab.report.page import Block, Paragraph, Picture, Section, said, table_of
from affectlab.report.statistics import ENOUGH_ITEMS, STEPS, WANTED, Kind, Study, reasons_of_rows

_MOST_ROWS, _MOST_NAMED = 8, 4
_RARE, _FEW_RATERS = 0.25, 5
"""Share of answers other than the most frequent below which they are rare; raters below which these
are few."""
_MOSTLY = 0.5
"""Share of the variance behind an interval from which on it is mostly due to raters."""


def reliability_question(study: Study) -> Section:
    """Answer in words, with a line for each label; of dimensions also the concordance."""
    blocks = _blocks(study)
    if study.kind is Kind.DIMENSIONS and study.concordance is not None:
        table = table_of(study.concordance, "concordance", "concordance")
        # Models stand under their own question.
        first = tuple(block for block in said(study.concordance)[:1])
        blocks = [*blocks, *first, table]
    return Section("reliability", "How reliable are these ratings?", tuple(blocks))


def _blocks(study: Study) -> list[Block]:
    if study.numeric is None:
        return [Paragraph(wording.TEXTS_ONLY)]
    frame = study.reliability
    if frame.is_empty():
        return [Paragraph(wording.AGGREGATED_ONLY if study.aggregated else wording.ONE_RATER)]
    known = frame.filter(pl.col("value").is_not_nan()).sort(
        "value", descending=True, maintain_order=True
    )
    if known.is_empty():
        return [Paragraph(wording.undefined_reliability("", reasons_of_rows(frame)))]
    texts = [_of_means(study, known), _of_one(known), _more_raters(known)]
    if known.height < frame.height:
        missing = frame.filter(pl.col("value").is_nan())
        things = study.things(missing.height)
        texts.append(wording.undefined_reliability(things, reasons_of_rows(missing)))
    return [*(Paragraph(text) for text in texts if text), _picture(study, known, " ".join(texts))]


def _of_means(study: Study, known: pl.DataFrame) -> str:
    """Say what the means of all raters are worth."""
    rows = known.rows(named=True)
    n_items = int(np.median(known["n_items"].to_numpy()))
    graded = n_items >= ENOUGH_ITEMS and not known["low"].is_nan().all()
    shares = bool(known["of_shares"].all())
    mean = wording.mean_of(known["k"].to_numpy(), shares=shares)
    grades = [grade_of(row) for row in rows] if graded else []
    unclear = [row for row, grade in zip(rows, grades, strict=False) if grade == "open"]
    lacking = _lacking(study, unclear) if graded and unclear else ""
    if not graded:
        few = study.n_clusters is not None and study.n_clusters < FEWEST_CLUSTERS
        n_clusters = study.n_clusters if few else None
        units = study.clusters.units
        asked = study.n_boot > 0
        lacking = wording.ungraded(n_items, ENOUGH_ITEMS, n_clusters, units, asked=asked)
    if len(rows) == 1:
        grade = grades[0] if graded else ""
        return wording.reliability_of_one(mean, rows[0], grade, study.drawn, lacking)
    groups: dict[str, list[str]] = {}
    for row, grade in zip(rows, grades, strict=False):
        groups.setdefault(grade, []).append(shown(row["label"]))
    named = {
        grade: _named(study, groups[grade], len(rows))
        for grade in wording.GRADES
        if grade in groups
    }
    return wording.reliability_of_several(mean, rows[0], rows[-1], named, lacking)


def _named(study: Study, names: list[str], n: int) -> str:
    if len(names) == n:
        return f"all {study.things(n)}" if n > 2 else f"both {study.thing}s"
    if len(names) <= _MOST_NAMED:
        return joined(names)
    return f"{len(names)} of {study.things(n)}"


def grade_of(row: dict[str, Any]) -> str:
    """Grade a reliability by its interval; see :data:`~affectlab.report.wording.GRADES`."""
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
    k, rare = min(row["k"] for row in rows), min(row["rare"] for row in rows)
    return wording.too_few_to_judge(
        k if k < _FEW_RATERS else None,
        rare if rare < _RARE else None,
        study.clusters.units,
        raters_differ=min(row["of_raters"] for row in rows) >= _MOSTLY,
    )


def _of_one(known: pl.DataFrame) -> str:
    """Say what one rater alone is worth, beside the mean."""
    rows = known.sort("single", maintain_order=True).rows(named=True)
    return wording.single_rater(rows[0], rows[-1])


def _more_raters(known: pl.DataFrame) -> str:
    """Say how many raters reach 0.80 for the worst label; nothing where few stimuli tell."""
    worst = known.row(-1, named=True)
    if worst["n_items"] < ENOUGH_ITEMS:
        return ""
    few = worst["k"] >= _FEW_RATERS and not worst["of_raters"] >= _MOSTLY
    more = wording.what_would_tell(rare=worst["rare"] < _RARE, few_stimuli=few)
    label = shown(worst["label"]) if known.height > 1 else ""
    return wording.raters_wanted(worst, WANTED, label=label, more=more)


def _picture(study: Study, known: pl.DataFrame, words: str) -> Picture:
    drawn, rule = known, ""
    if known.height > _MOST_ROWS:
        half = _MOST_ROWS // 2
        drawn = pl.concat([known.head(half), known.tail(half)])
        rule = wording.ends_shown(study.things(known.height), half)
    return Picture.make(
        "raters_needed",
        drawn.with_columns(label=study.named_rows(drawn["label"])),
        name="reliability",
        title="Reliability of the mean by number of raters",
        caption=wording.needed_caption(rule, study.drawn if study.n_boot else ""),
        description=words,
        options={"steps": STEPS},
    )
