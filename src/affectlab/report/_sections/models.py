"""Whether machine raters are inside the range of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab._words import number, plural
from affectlab.report._content import (
    Block,
    Bullets,
    Column,
    Paragraph,
    Picture,
    Section,
    Skipped,
    Table,
)
from affectlab.report._figures import fig_people_range
from affectlab.report._figures.alignment import fig_equivalence
from affectlab.report._people import MOST_PEOPLE, Beside
from affectlab.report._study import Study

if TYPE_CHECKING:
    from affectlab.evaluation import AlignmentResult

__all__ = ["models_section"]

_MOST_NAMED = 10
_MOST_SHOWN = 40
_MEASURES = {
    "kappa": "mean kappa with people",
    "concordance": "mean concordance with people",
    "spearman": "Spearman with the median",
}


def models_section(study: Study) -> Section | Skipped:
    """Verdict, range of people, differences with their intervals, and the tests behind them."""
    title = "Models beside people"
    beside = study.beside
    found = beside.alignment
    if found is None:
        return Skipped(title, beside.reason)
    frame = found.to_frame()
    blocks: list[Block] = [_sentences(found)]
    blocks.append(_range(found, frame))
    if frame["low"].is_not_nan().any():
        blocks.append(_differences(found, frame))
    blocks += _tables(study, beside, found, frame)
    return Section("models", title, tuple(blocks))


def _sentences(found: AlignmentResult) -> Block:
    if len(found.sentences) == 1:
        return Paragraph(found.sentences[0])
    more = len(found.sentences) - _MOST_NAMED
    rest = (f"The other {more} models are in the table.",) if more > 0 else ()
    return Bullets(found.sentences[:_MOST_NAMED] + rest)


def _range(found: AlignmentResult, frame: pl.DataFrame) -> Picture:
    people, models = found.people_frame(), found.models_frame().head(_MOST_SHOWN)
    names = {name: title for name, title in _titles(found).items() if name in people.columns}
    known = np.array(people[found.primary].to_list(), dtype=np.float64)
    known = known[np.isfinite(known)]
    words = "No person can be compared with the others."
    if known.size:
        words = (
            f"People reach a {_titles(found)[found.primary]} from {number(known.min())} to "
            f"{number(known.max())} (median {number(float(np.median(known)))}); models "
            + ", ".join(
                f"{row['rater']} {number(row['agreement'])}"
                for row in frame.head(_MOST_NAMED).iter_rows(named=True)
            )
            + "."
        )
    return Picture(
        "models_and_people",
        "Models on the range of people",
        "Dots: each person against the other people; band: their range; line: their median. "
        "Diamonds: each model against the people"
        + (
            ". For the correlation everybody meets the median of all people but one."
            if "spearman" in names
            else "."
        ),
        words,
        fig_people_range(
            {title: _floats(people[name]) for name, title in names.items()},
            {title: _floats(models[name]) for name, title in names.items()},
            models["rater"].to_list(),
        ),
    )


def _titles(found: AlignmentResult) -> dict[str, str]:
    """Name the measures; one from pooled disagreement is no mean over pairs."""
    if not found.pooled:
        return _MEASURES
    return {**_MEASURES, found.primary: f"pooled {found.primary} with people"}


def _floats(column: pl.Series) -> np.ndarray:
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy()


def _differences(found: AlignmentResult, frame: pl.DataFrame) -> Picture:
    margin = found.margin
    part = frame.head(_MOST_SHOWN)
    known = part.filter(pl.col("difference").is_not_nan())
    words = "; ".join(
        f"{row['rater']} {number(row['difference'])} ({number(row['low'])} to "
        f"{number(row['high'])})"
        for row in known.head(_MOST_NAMED).iter_rows(named=True)
    )
    return Picture(
        "model_differences",
        "Models less people",
        f"Agreement of each model with people less that of people with one another "
        f"({found.measure_words}), with 95 % intervals over stimuli and people. 0: as people; "
        f"band: the margin of {number(margin)}, within which a difference is taken not to matter.",
        f"{words}.",
        fig_equivalence(
            part["rater"].to_list(),
            part["difference"],
            part["low"],
            part["high"],
            part["verdict"].to_list(),
            margin=margin,
            value_name=f"difference of {found.measure_words}",
        ),
    )


def _tables(
    study: Study, beside: Beside, found: AlignmentResult, frame: pl.DataFrame
) -> list[Block]:
    measure = found.primary.capitalize()
    spearman = frame["spearman"].is_not_null().any() and found.primary != "spearman"
    partial = (frame["coverage"] < 1).any()
    interval = study.n_boot > 0
    columns = [
        Column("rater", "Model", "name"),
        Column("verdict", "Human range"),
        Column("agreement", measure, "number"),
        Column("people", "Of people", "number"),
        Column("difference", "Difference", "number"),
        *([Column("interval", "95 % interval", "interval")] if interval else []),
        *([Column("spearman", "Spearman", "number")] if spearman else []),
        Column("people_below", "People below", "count"),
        Column("winning_rate", "Alt-test", "share"),
        Column("coverage", "Coverage", "share")
        if partial
        else Column("n_items", "Stimuli", "count"),
    ]
    notes = [
        "Human range: inside when two one-sided tests show that the difference is smaller than "
        f"{number(found.margin)} either way; below or above when it is shown to be beyond; "
        "otherwise not shown.",
        f"People below: of {int(frame['n_people'][0])} people those who agree less with the others "
        "than the model does.",
        "Alt-test: the share of people whom the model beats at agreeing with the rest, at a "
        f"discount of {number(float(frame['epsilon'][0]))} for being cheaper (Calderon et al. "
        "2025); from one half on it may stand in for a person.",
        *(note[0].upper() + note[1:] + ("" if note.endswith(".") else ".") for note in found.notes),
    ]
    if beside.n_left_out:
        notes.append(
            f"Of {plural(beside.n_left_out + MOST_PEOPLE, 'person', 'people')} the {MOST_PEOPLE} "
            "with the most answers are compared."
        )
    models = Table(
        "models",
        "Models less people: what is recommended. Intervals come from drawing stimuli and people "
        "again.",
        frame,
        tuple(columns),
        notes=tuple(notes),
    )
    both = beside.table()
    titles = _titles(found)
    known = [name for name in titles if name in both.columns]
    everybody = Table(
        "models_and_people",
        "Agreement with people: models first, then each person against the other people.",
        both,
        (
            Column("rater", "Rater", "name"),
            Column("rater_kind", "Kind"),
            *(Column(name, titles[name][0].upper() + titles[name][1:], "number") for name in known),
        ),
        folded=True,
    )
    by_label = Table(
        "models_by_label",
        "Models less people on every label.",
        found.by_label.to_frame(),
        (),
        limit=0,
    )
    return [models, everybody, by_label] if study.ratings.has_labels else [models, everybody]
