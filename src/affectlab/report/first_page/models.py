"""Whether models are as good as people."""

from __future__ import annotations

from typing import Any

import polars as pl

from affectlab.core.render.drawing import NARROW
from affectlab.core.words import in_brackets, joined, number, percent, plural, shown
from affectlab.evaluation.classification import ClassificationResult
from affectlab.evaluation.human_alignment import AlignmentResult
from affectlab.report.first_page.words import ends_in_words
from affectlab.report.page import Block, Bullets, Paragraph, Picture, Section
from affectlab.report.statistics import ENOUGH_ITEMS, Study, reason_of_row

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
    if found is None:
        return Section(
            "verdict", title, (Paragraph(f"This cannot be said: {study.beside.reason}"),)
        )
    rows = found.table().frame.sort(
        pl.col("agreement").fill_nan(None), descending=True, nulls_last=True, maintain_order=True
    )
    n_stimuli = study.summary.n_stimuli
    if n_stimuli < ENOUGH_ITEMS:
        few = f"{plural(n_stimuli, 'stimulus', 'stimuli')} are too few to say."
        return Section("verdict", title, (Paragraph(few), _picture(found, rows)))
    blocks: list[Block] = [Paragraph(" ".join(found.trained))] if found.trained else []
    if found.without:
        blocks.append(Paragraph(found.sentences[len(found.trained)]))
    if rows.height > 1:
        blocks.append(Paragraph(_counts(rows, found)))
    said = [_sentence(study, row, found) for row in rows.head(_MOST_NAMED).iter_rows(named=True)]
    if rows.height > _MOST_NAMED:
        said.append(f"The other {rows.height - _MOST_NAMED} models are under Models beside people.")
    blocks.append(Bullets(tuple(said)) if len(said) > 1 else Paragraph(said[0]))
    if study.elsewhere is not None:
        about = joined(map(shown, study.ratings.label_names))
        blocks.append(Paragraph(f"This is about {about}; other scales need a report of their own."))
    return Section("verdict", title, (*blocks, _picture(found, rows)))


def _counts(rows: pl.DataFrame, found: AlignmentResult) -> str:
    """Say in one sentence how many models stand where."""
    standing: dict[str, list[str]] = {}
    for row in rows.iter_rows(named=True):
        standing.setdefault(_place(row), []).append(shown(row["rater"], 60))
    parts = []
    for place, (one, several) in _PLACES.items():
        names = standing.get(place, [])
        if len(names) == 1:
            parts.append(f"{names[0]} {one}")
        elif names:
            every = "both" if len(names) == 2 else "all"
            parts.append(f"{every if len(names) == rows.height else len(names)} {several}")
    margin = f"within a margin of {number(found.margin)} of {found.measure_words}"
    return f"Of {rows.height} models {'; '.join(parts)} ({margin})."


_PLACES = {
    "above": (
        "agrees with people better than they do with one another",
        "agree with people better than they do with one another",
    ),
    "inside": ("is as good as people", "are as good as people"),
    "at least": (
        "is not worse than people, and may be better",
        "are not worse than people, and may be better",
    ),
    "not shown": ("may or may not be as good as people",) * 2,
    "below": ("is not as good as people", "are not as good as people"),
    "undefined": ("cannot be placed",) * 2,
}
"""What is said of one model with a verdict, and of several."""


def _place(row: dict[str, Any]) -> str:
    """Give the verdict, and of what is not shown to be inside what is at least not worse."""
    return "at least" if row["verdict"] == "not shown" and row["at_least"] else str(row["verdict"])


def _sentence(study: Study, row: dict[str, Any], found: AlignmentResult) -> str:
    """Say where a model stands, by how much, and how often it is right."""
    start = f"{shown(row['rater'], 60)} {_PLACES[_place(row)][0]}"
    if row["verdict"] == "undefined":
        return f"{start}: {reason_of_row(row['reason'])}."
    judged = study.classified
    right = "" if isinstance(judged, str) else _right(judged, row["rater"])
    measure = found.measure_words
    if row["measure"] != found.primary:
        # Its scale and that of people have no map: only the order of stimuli is compared.
        measure = "Spearman correlation"
    return (
        f"{start}: {right}its {measure} with people is {number(row['agreement'])}, "
        f"theirs with one another {number(row['people'])}; difference "
        f"{_signed(row['difference'])}{ends_in_words(row)}, margin {number(row['margin'])}."
    )


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{number(value)}"


def _right(found: ClassificationResult, model: str) -> str:
    """Say how good a classifier is, beside people who are each judged by the others."""
    metrics = found.table("metrics").frame
    parts = []
    metrics_in_words = (("accuracy", "accuracy", percent, 0), ("macro_f1", "macro F1", number, 2))
    for metric, words, write, digits in metrics_in_words:
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
    chosen = rows["rater"].head(_MOST_DRAWN).to_list()
    people = table.frame.filter(rater_kind="person")
    models = table.frame.filter(pl.col("rater_kind") != "person")
    drawn = pl.concat(
        [models.filter(pl.col("rater").is_in(chosen)).sort(found.primary, descending=True), people]
    )
    titles = {column.key: column.head for column in table.columns if column.kind == "number"}
    known = people[found.primary].drop_nulls().drop_nans()
    words = ", ".join(
        f"{shown(row['rater'], 40)} {number(row['agreement'])}"
        for row in rows.head(_MOST_DRAWN).iter_rows(named=True)
    )
    span = f"People from {number(known.min())} to {number(known.max())}; " if len(known) else ""  # type: ignore[arg-type]
    rule = (
        f" Of {rows.height} models the best {_MOST_DRAWN} are shown."
        if rows.height > _MOST_DRAWN
        else ""
    )
    return Picture.make(
        "people_range",
        drawn,
        name="models_first",
        title="Models on the range of people",
        caption="Dots: each person against the other people; band: their range; line: their "
        f"median. Diamonds: each model against people.{rule}",
        description=f"{span}{words}.",
        options={
            "value": found.primary,
            "value_name": titles[found.primary],
            "width": NARROW,
        },
    )
