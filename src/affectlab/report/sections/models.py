"""Whether machine raters are inside the range of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import joined, number, plural, shown
from affectlab.report.figures import (
    fig_agreement_bars,
    fig_discrepancy,
    fig_equivalence,
    fig_groups_compared,
    fig_people_range,
)
from affectlab.report.page import (
    Block,
    Bullets,
    Column,
    Paragraph,
    Picture,
    Section,
    Skipped,
    Table,
)
from affectlab.report.sections.pairs import dots_and_boxes
from affectlab.report.statistics import MOST_PEOPLE, Beside, Study

if TYPE_CHECKING:
    from affectlab.core.estimates import Estimates
    from affectlab.evaluation import AlignmentResult
    from affectlab.report.statistics import PairAgreement


__all__ = [
    "models_section",
    "published_section",
]

_MOST_NAMED = 10
_MOST_MODELS = 40
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
    people, models = found.people_frame(), found.models_frame().head(_MOST_MODELS)
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
    part = frame.head(_MOST_MODELS)
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


# Models and people as the EmoNet-Face study reports them.


_MOST_SHOWN = 40
_MOST_HEADS = 10
_MOST_LABELS = 20
_KINDS = ("human-human", "human-model", "model-model")
_CAUTION = (
    "These are the numbers of the EmoNet-Face study (Schuhmann et al. 2025), to be laid beside "
    "published ones. Its tests take every pair and label as independent, though all share stimuli "
    "and people: p-values are too small, intervals too narrow, and what differs “not "
    "significantly” is not shown to be equal. What is recommended stands under Models beside "
    "people."
)


_TITLE = "Models and people, as published"


def published_section(study: Study) -> Section | Skipped:
    """Kinds of pairs, correlation with the median, means, and the table of raters."""
    reason = Skipped(_TITLE, "this needs models beside people.")
    pairs = study.pairs
    if study.incomparable is not None or pairs is None:
        return reason
    if study.unmapped:
        return Skipped(_TITLE, "models and people have no common scale; see Models beside people.")
    # The comparison may still be under way, so its outcome is asked for last.
    try:
        made = _section(study, pairs)
    except InputError:
        if study.beside.alignment is not None:
            raise
        return reason
    return reason if study.beside.alignment is None else made


def _section(study: Study, pairs: PairAgreement) -> Section | Skipped:
    from affectlab.evaluation import group_comparison

    known = pairs.frame.filter(pl.col("value").is_not_nan())
    if not known.filter(pl.col("pair_kind") == "human-model").height:
        return Skipped(_TITLE, f"no person and model have a defined {pairs.measure}.")
    sides = group_comparison(
        study.ratings, pairs=pairs.result, n_boot=study.n_boot, seed=study.seed
    )
    kinds = group_comparison(study.ratings, pairs=pairs.result, groups="kinds", n_boot=0)
    blocks: list[Block] = [
        Paragraph(_CAUTION),
        Paragraph(_words(sides, pairs)),
        _boxes(known, kinds.to_frame(), pairs),
    ]
    if study.ordered:
        blocks.append(_bars(study))
        if study.ratings.has_labels:
            blocks += _means(study)
    blocks += [_comparisons(sides, kinds, pairs), _raters(study, pairs)]
    return Section("published", _TITLE, tuple(blocks))


def _words(sides: Estimates, pairs: PairAgreement) -> str:
    row = sides.to_frame().row(0, named=True)
    interval = ""
    if row["low"] == row["low"]:
        interval = f", 95\u00a0% interval {number(row['low'])} to {number(row['high'])}"
    return (
        f"The mean {pairs.measure} with people is {number(row['mean_a'])} for people and "
        f"{number(row['mean_b'])} for models: a difference of {number(row['value'])}{interval} "
        f"(Mann-Whitney U, {_p(row['p'])})."
    )


def _p(value: float) -> str:
    if value != value:
        return "p not defined"
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def _boxes(known: pl.DataFrame, kinds: pl.DataFrame, pairs: PairAgreement) -> Picture:
    values = {
        kind: part["value"].to_numpy()
        for kind in _KINDS
        if (part := known.filter(pl.col("pair_kind") == kind)).height
    }
    medians = joined(
        f"{number(float(np.median(value)))} of {kind} pairs" for kind, value in values.items()
    )
    return Picture(
        "pairs_by_kind",
        "Agreement by kind of pair",
        dots_and_boxes(values, labelled=pairs.frame["label"].n_unique() > 1)
        + " Beside it: Mann-Whitney tests as published.",
        f"Median {pairs.measure}: {medians}.",
        fig_groups_compared(
            values,
            [
                (row["group_a"], row["group_b"], _p(row["p"]))
                for row in kinds.iter_rows(named=True)
                if row["group_a"] in values and row["group_b"] in values
            ],
            value_name=pairs.measure,
        ),
    )


def _bars(study: Study) -> Picture:
    from affectlab.evaluation import spearman_with_people

    ratings, models = study.sources
    frame = spearman_with_people(ratings, models, n_boot=study.n_boot, seed=study.seed).to_frame()
    part = frame.head(_MOST_SHOWN)
    listed = joined(
        f"{shown(row['rater'], 40)} {number(row['value'])}"
        for row in part.head(_MOST_HEADS).iter_rows(named=True)
    )
    return Picture(
        "spearman_with_people",
        "Correlation of models with the median of people",
        "Spearman's correlation with the median answer of all people"
        + (", mean over labels" if study.ratings.n_labels > 1 else "")
        + (
            "; lines: 95 % intervals over stimuli, with ranks computed anew in every replicate."
            if study.n_boot
            else "."
        )
        + " The median of all is less noisy than that of all but one, which a person meets.",
        f"Correlation with the median of people: {listed}.",
        fig_agreement_bars(
            part["rater"].to_list(),
            part["value"],
            part["low"],
            part["high"],
            value_name="Spearman's correlation",
            families=_families(study, part["rater"].to_list()),
        ),
    )


def _families(study: Study, names: list[str]) -> list[str] | None:
    """Families of models, where the table of raters has them."""
    table = study.ratings.raters
    if "family" not in table.columns:
        return None
    family = dict(table.select("rater", pl.col("family").cast(pl.String)).rows())
    found = [family.get(name) for name in names]
    return None if None in found else [str(name) for name in found]


def _means(study: Study) -> list[Block]:
    """By how much people rate each label higher than the models do."""
    from affectlab.evaluation import discrepancy

    ratings, models = study.sources
    frame = discrepancy(ratings, models, n_boot=0).to_frame()
    known = frame.filter(pl.col("value").is_not_nan())
    if known.height == 0:
        return []
    names = frame["rater"].unique(maintain_order=True).to_list()
    labels = frame["label"].unique(maintain_order=True).to_list()
    if len(labels) < 2:
        return []
    values = frame["value"].to_numpy().reshape(len(names), len(labels))[:_MOST_SHOWN]
    size = np.abs(np.nan_to_num(values)).max(axis=0)
    shown_labels = np.sort(np.argsort(-size, kind="stable")[:_MOST_LABELS])
    rule = (
        f" Of {len(labels)} labels the {_MOST_LABELS} with the largest differences."
        if len(labels) > _MOST_LABELS
        else ""
    )
    ordered = known.sort(pl.col("value").abs(), descending=True, maintain_order=True)
    row = ordered.row(0, named=True)
    more = "more" if row["value"] > 0 else "less"
    words = (
        f"The largest difference of means: people see {number(abs(row['value']))} points {more} "
        f"{row['label']} than {shown(row['rater'], 40)} does."
    )
    return [
        Picture(
            "discrepancy",
            "Means of people less those of models",
            "Mean answer of people less that of each model on the same stimuli, in points of the "
            "scale: above 0 people see more of the label. Equal means do not make equal answers."
            + rule,
            words,
            fig_discrepancy(
                [labels[k] for k in shown_labels], names[:_MOST_SHOWN], values[:, shown_labels]
            ),
        ),
        Table(
            "discrepancy", "Mean of people less that of each model, per label.", frame, (), limit=0
        ),
    ]


def _comparisons(sides: Estimates, kinds: Estimates, pairs: PairAgreement) -> Table:
    frame = pl.concat([sides.to_frame(), kinds.to_frame()], how="diagonal_relaxed")
    columns = (
        Column("group_a", "Group", "name"),
        Column("group_b", "Other group"),
        Column("mean_a", "Mean", "number"),
        Column("mean_b", "Other mean", "number"),
        Column("value", "Difference", "number"),
        Column("interval", "95 % interval", "interval"),
        Column("u", "U", "count"),
        Column("p", "p", "p_value"),
        Column("n_a", "Values", "count"),
        Column("n_b", "Other values", "count"),
    )
    return Table(
        "groups_compared",
        f"Groups compared as published: {pairs.measure} by rater and label (people, models) and by "
        "pair and label (kinds of pairs). Values are not independent of each other.",
        frame,
        columns,
        folded=True,
    )


def _raters(study: Study, pairs: PairAgreement) -> Table:
    from affectlab.evaluation import rater_table

    frame = rater_table(study.ratings, pairs=pairs.result)
    columns = [
        Column("rater", "Rater", "name"),
        Column("rater_kind", "Kind"),
        Column("mean", "Mean", "number"),
        Column("sd", "SD", "number"),
        Column("median", "Median", "number"),
        *(
            [Column("best_label", "Best label"), Column("best", "There", "number")]
            if study.ratings.has_labels
            else []
        ),
        Column("n_people", "People met", "count"),
        Column("n_items", "Stimuli", "count"),
        Column("coverage", "Coverage", "share"),
    ]
    many = plural(frame.height, "rater")
    return Table(
        "rater_table",
        f"{pairs.measure[0].upper()}{pairs.measure[1:]} with people of {many}, the best first. "
        "People meet all other people, models all people; SD and median run over labels.",
        frame,
        tuple(columns),
        folded=True,
    )
