"""Whether machine raters are inside the range of people."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.render.drawing import columns_of
from affectlab.core.tables import Table
from affectlab.core.words import joined, number, plural, shown
from affectlab.evaluation import discrepancy, spearman_with_people
from affectlab.evaluation.human_alignment import AlignmentResult
from affectlab.evaluation.people_and_models import judged_sides
from affectlab.evaluation.rater_comparison import (
    group_comparison,
    merged,
    put_on_steps,
    rater_table,
)
from affectlab.report.page import Block, Bullets, Paragraph, Picture, Section, Skipped
from affectlab.report.sections.pairs import dots_and_boxes
from affectlab.report.statistics import MOST_PEOPLE, Beside, PairAgreement, Study, pair_agreement

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

_MOST_NAMED = 10
_MOST_MODELS = 40


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
    blocks += _tables(study, beside, found)
    return Section("models", title, tuple(blocks))


def _sentences(found: AlignmentResult) -> Block:
    if len(found.sentences) == 1:
        return Paragraph(found.sentences[0])
    more = len(found.sentences) - _MOST_NAMED
    rest = (f"The other {more} models are in the table.",) if more > 0 else ()
    return Bullets(found.sentences[:_MOST_NAMED] + rest)


def _range(found: AlignmentResult, frame: pl.DataFrame) -> Picture:
    table = found.table("models_and_people")
    titles = {column.key: column.head for column in table.columns if column.kind == "number"}
    people = table.frame.filter(pl.col("rater_kind") == "person")
    (known,) = columns_of(people, found.primary)
    known = known[np.isfinite(known)]
    words = "No person can be compared with the others."
    if known.size:
        words = (
            f"People reach a {titles[found.primary]} from {number(known.min())} to "
            f"{number(known.max())} (median {number(float(np.median(known)))}); models "
            + ", ".join(
                f"{row['rater']} {number(row['agreement'])}"
                for row in frame.head(_MOST_NAMED).iter_rows(named=True)
            )
            + "."
        )
    return Picture.make(
        "people_range",
        table,
        name="models_and_people",
        title="Models on the range of people",
        caption="Dots: each person against the other people; band: their range; line: their "
        "median. Diamonds: each model against the people"
        + (
            ". For the correlation everybody meets the median of all people but one."
            if "spearman" in titles
            else "."
        ),
        description=words,
        options={"value": titles},
    )


def _differences(found: AlignmentResult, frame: pl.DataFrame) -> Picture:
    known = frame.head(_MOST_MODELS).filter(pl.col("difference").is_not_nan())
    words = "; ".join(
        f"{row['rater']} {number(row['difference'])} ({number(row['low'])} to "
        f"{number(row['high'])})"
        for row in known.head(_MOST_NAMED).iter_rows(named=True)
    )
    return Picture.of(found, "equivalence", description=f"{words}.")


def _tables(study: Study, beside: Beside, found: AlignmentResult) -> list[Block]:
    models = found.table("models")
    notes = [*models.notes, *found.notes]
    if beside.n_left_out:
        notes.append(
            f"Of {plural(beside.n_left_out + MOST_PEOPLE, 'person', 'people')} the {MOST_PEOPLE} "
            "with the most answers are compared."
        )
    everybody = replace(found.table("models_and_people"), limit=60, folded=True)
    by_label = replace(
        found.table("by_label"),
        name="models_by_label",
        caption="Models - people on every label.",
    )
    tables: list[Block] = [replace(models, notes=tuple(notes)), everybody]
    return [*tables, by_label] if study.ratings.has_labels else tables


# Models and people as the EmoNet-Face study reports them.


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
    if study.ranks_only:
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

    known = pairs.frame.filter(pl.col("value").is_not_nan())
    if not known.filter(pl.col("pair_kind") == "human-model").height:
        return Skipped(_TITLE, f"no person and model have a defined {pairs.measure}.")
    table, pairs, dropped = _on_steps(study, pairs)
    sides = group_comparison(table, pairs=pairs.result, n_boot=study.n_boot, seed=study.seed)
    kinds = group_comparison(table, pairs=pairs.result, groups="kinds", n_boot=0)
    blocks: list[Block] = [
        Paragraph(_CAUTION),
        Bullets((*sides.sentences, *dropped)),
        _boxes(kinds, pairs),
    ]
    if study.ordered:
        blocks.append(_bars(study))
        if study.ratings.n_labels > 1:
            blocks += _means(study)
    raters = rater_table(table, pairs=pairs.result).table()
    blocks += [_comparisons(sides, kinds, pairs), replace(raters, name="rater_table", folded=True)]
    return Section("published", _TITLE, tuple(blocks))


def _on_steps(study: Study, pairs: PairAgreement) -> tuple[Ratings, PairAgreement, tuple[str, ...]]:
    """Give the table and its pairs with fractions of models dropped, as the study drops them."""
    sources = study.sources
    dropped = [] if pairs.of_ranks else put_on_steps(judged_sides(*sources), truncate=True)
    if not dropped:
        return study.ratings, pairs, ()
    table = merged(*sources, truncate=True, partly=True)
    said = tuple(f"For kappa, {one}, as in that study." for one in dropped)
    return table, pair_agreement(table) or pairs, said


def _boxes(kinds: Estimates, pairs: PairAgreement) -> Picture:
    return Picture.of(
        kinds,
        "groups",
        options={"value_name": pairs.measure},
        name="pairs_by_kind",
        title="Agreement by kind of pair",
        caption=dots_and_boxes(
            kinds.to_frame("values")["group"], labelled=pairs.frame["label"].n_unique() > 1
        )
        + " Beside it: Mann-Whitney tests as published.",
    )


def _bars(study: Study) -> Picture:

    ratings, models = study.sources
    found = spearman_with_people(
        ratings, models, cluster=study.cluster, n_boot=study.n_boot, seed=study.seed
    )
    listed = joined(
        f"{shown(row['rater'], 40)} {number(row['value'])}"
        for row in found.frame.head(_MOST_NAMED).iter_rows(named=True)
    )
    return Picture.of(
        found,
        "spearman",
        options={"families": _families(study, found.frame["rater"].to_list())},
        name="spearman_with_people",
        caption="Spearman's correlation with the median answer of all people"
        + (", mean over labels" if study.ratings.n_labels > 1 else "")
        + (
            f"; lines: 95 % intervals over {study.clusters.units}, with ranks computed anew "
            "without each."
            if study.n_boot
            else "."
        )
        + " The median of all is less noisy than that of all but one, which a person meets.",
        description=f"Correlation with the median of people: {listed}.",
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
    ratings, models = study.sources
    found = discrepancy(ratings, models, target="sample")
    if not found.sentences:
        return []
    return [
        Picture.of(
            found,
            "discrepancy",
            caption="Mean answer of people less that of each model on the same stimuli, in points "
            "of the scale: above 0 people see more of the label. Equal means do not make equal "
            "answers.",
            description=found.sentences[0],
        ),
        replace(found.table(), limit=0),
    ]


def _comparisons(sides: Estimates, kinds: Estimates, pairs: PairAgreement) -> Table:
    frame = pl.concat([sides.frame, kinds.frame], how="diagonal_relaxed")
    return Table(
        "groups_compared",
        f"Groups compared as published: {pairs.measure} by rater and label (people, models) and by "
        "pair and label (kinds of pairs). Values are not independent of each other.",
        frame,
        sides.table().columns,
        folded=True,
    )
