"""Whether models are as good as people, which mistakes they make, and what became of answers."""

from __future__ import annotations

from typing import Any

import polars as pl

from affectlab.core.render.drawing import NARROW
from affectlab.core.words import in_brackets, number, percent
from affectlab.evaluation.classification import ClassificationResult
from affectlab.evaluation.human_alignment import AlignmentResult
from affectlab.reliability.agreement import reason_in_stimuli
from affectlab.report import wording
from affectlab.report.page import Block, Bullets, Paragraph, Picture, Section
from affectlab.report.statistics import ENOUGH_ITEMS, Kind, Study

_MOST_NAMED = 4
_MOST_DRAWN = 8


def models_question(study: Study) -> Section | None:
    """Answer for each model, with all of them on the range of people; None without models."""
    if study.models is None:
        return None
    found = study.beside.alignment
    n_models = study.models.n_raters if found is None else found.to_frame().height
    several = n_models > 1
    title = "Are the models as good as people?" if several else "Is the model as good as people?"
    return Section("verdict", title, tuple(_blocks(study, found)))


def _blocks(study: Study, found: AlignmentResult | None) -> list[Block]:
    if found is None:
        return [Paragraph(wording.cannot_say(study.beside.reason))]
    rows = found.table().frame.sort(
        pl.col("agreement").fill_nan(None), descending=True, nulls_last=True, maintain_order=True
    )
    n_stimuli = study.summary.n_stimuli
    if n_stimuli < ENOUGH_ITEMS:
        return [Paragraph(wording.too_few_stimuli(n_stimuli)), _picture(found, rows)]
    blocks: list[Block] = [Paragraph(" ".join(found.trained))] if found.trained else []
    if rows.height > 1:
        standing: dict[str, list[str]] = {}
        for row in rows.iter_rows(named=True):
            standing.setdefault(_place(row), []).append(row["rater"])
        blocks.append(Paragraph(wording.verdicts(standing, found.margin, found.measure_words)))
    texts = [_sentence(study, row, found) for row in rows.head(_MOST_NAMED).iter_rows(named=True)]
    if rows.height > _MOST_NAMED:
        texts.append(wording.more_models(rows.height - _MOST_NAMED))
    blocks.append(Bullets(tuple(texts)) if len(texts) > 1 else Paragraph(texts[0]))
    if found.without:
        blocks.append(Paragraph(found.sentences[len(found.trained)]))
    blocks += map(Paragraph, _mistakes(study))
    if study.elsewhere is not None:
        blocks.append(Paragraph(wording.other_scales_of_models(study.ratings.label_names)))
    return [*blocks, _picture(found, rows)]


def _mistakes(study: Study) -> list[str]:
    """Give the sentences of results that say how models err, and what became of questions."""
    texts: list[str] = []
    if study.kind is Kind.DIMENSIONS and study.concordance is not None:
        # The first is about people, and stands above.
        texts += study.concordance.sentences[2:]
    if study.bias is not None:
        texts.append(study.bias.finding)
    if study.outcomes is not None and not study.outcomes.usable:
        texts.append(study.outcomes.finding)
    return texts


def _place(row: dict[str, Any]) -> str:
    """Give the verdict, and of what is not shown to be inside what is at least not worse."""
    return "at least" if row["verdict"] == "not shown" and row["at_least"] else str(row["verdict"])


def _sentence(study: Study, row: dict[str, Any], found: AlignmentResult) -> str:
    """Say where a model stands, by how much, and how often it is right."""
    if row["verdict"] == "undefined":
        return wording.no_verdict(row["rater"], reason_in_stimuli(row["reason"]))
    judged = study.classified
    right = "" if isinstance(judged, str) else _right(judged, row["rater"])
    measure = found.measure_words
    if row["measure"] != found.primary:
        # Its scale and that of people have no map: only the order of stimuli is compared.
        measure = "Spearman correlation"
    return wording.verdict(row, _place(row), measure, right)


_RIGHT = (("accuracy", "accuracy", percent, 0), ("macro_f1", "macro F1", number, 2))
_SETS_RIGHT = (
    ("exact_match", "exactly right", percent, 0),
    ("macro_f1", "macro F1", number, 2),
    ("micro_f1", "micro F1", number, 2),
)
"""How often a classifier is right: metric, what it is called, and how it is written."""


def _right(found: ClassificationResult, model: str) -> str:
    """Say how good a classifier is, beside people who are each judged by the others."""
    metrics = found.table("metrics").frame
    parts = []
    several = (metrics["metric"] == "exact_match").any()
    for metric, words, write, digits in _SETS_RIGHT if several else _RIGHT:
        own = metrics.filter(rater=model, metric=metric)
        if own.is_empty() or own["value"].is_nan().all():
            continue
        row = own.row(0, named=True)
        people = metrics.filter(role="people", metric=metric)["value"]
        between = in_brackets(row["low"], row["high"], digits, write=write)
        beside = f", of people {write(people[0])}" if len(people) else ""
        parts.append(f"{words} {write(row['value'])}{between}{beside}")
    return f"{'; '.join(parts)}; " if parts else ""


def _picture(found: AlignmentResult, rows: pl.DataFrame) -> Picture:
    table = found.table("models_and_people")
    best = rows.head(_MOST_DRAWN).select("rater", "agreement").rows()
    chosen = [name for name, _ in best]
    people = table.frame.filter(rater_kind="person")
    models = table.frame.filter(pl.col("rater_kind") != "person", pl.col("rater").is_in(chosen))
    drawn = pl.concat([models.sort(found.primary, descending=True), people])
    titles = {column.key: column.head for column in table.columns if column.kind == "number"}
    known = people[found.primary].drop_nulls().drop_nans().sort().to_list()
    rule = wording.best_shown(rows.height, _MOST_DRAWN) if rows.height > _MOST_DRAWN else ""
    return Picture.make(
        "people_range",
        drawn,
        name="models_first",
        title="Models on the range of people",
        caption=wording.range_caption(rule),
        description=wording.people_range(known, best),
        options={
            "value": found.primary,
            "value_name": titles[found.primary],
            "width": NARROW,
        },
    )
