"""Who answered: how much, how high, how widely, and how much like the others."""

from __future__ import annotations

import numpy as np
import polars as pl

from affectlab.core.arrays import pearson
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason, fact_column, reason_type
from affectlab.core.files.columns import require_columns
from affectlab.core.inference import summarise_one
from affectlab.core.tables import (
    Column,
    Count,
    Interval,
    Key,
    Number,
    Share,
    Table,
    Text,
    YesNo,
)
from affectlab.core.words import sentence_case, shown, some
from affectlab.ratings import Ratings
from affectlab.reliability import self_consistency
from affectlab.reliability.screening import Screening
from affectlab.report import wording
from affectlab.report.page import Block, Paragraph, Picture, Section, Skipped
from affectlab.report.statistics import FEWEST_ITEMS, Study, is_person

# What raters answer when they see the same stimulus again.


_MOST_SHOWN = 40


def consistency_section(study: Study) -> Section | Skipped:
    """Mean absolute difference and correlation of repeats, per rater."""
    title = "Self-consistency"
    if study.numeric is None:
        return Skipped(title, wording.NO_NUMBERS)
    if not study.summary.trial_kinds.get("repeat"):
        return Skipped(title, wording.NO_REPEATS)
    if not study.ordered:
        return Skipped(title, wording.NO_DISTANCES)
    frame = self_consistency(study.ratings).frame
    frame = frame.with_columns(constant=pl.col("rater").is_in(list(study.constant)))
    difference = frame.filter(pl.col("measure") == "absolute difference")
    known = difference.filter(pl.col("value").is_not_nan()).sort("value", maintain_order=True)
    if known.height == 0:
        return Skipped(title, wording.NO_MAIN_OF_REPEATS)
    telling = known.filter(~pl.col("constant"))
    constant = known.filter(pl.col("constant"))["rater"].to_list()
    words = wording.repeats(int(known["n_items"].sum()), known.height, telling, constant)
    blocks: list[Block] = [Paragraph(words)]
    if telling.height:
        blocks.append(_picture(telling, words))
    shown = ("rater", "value", "low", "high", "n_items", "status", "reason", "constant")
    wide = difference.select(shown).join(
        frame.filter(pl.col("measure") == "correlation").select("rater", correlation="value"),
        on="rater",
        maintain_order="left",
    )
    wide = wide.with_columns(
        status=pl.when("constant").then(pl.lit(wording.SAME_ANSWER)).otherwise("status"),
        low=pl.when(~pl.col("constant")).then("low"),
        high=pl.when(~pl.col("constant")).then("high"),
    ).drop("constant")
    columns = (
        Key("rater"),
        Number("value", "mean difference"),
        Interval(),
        Number("correlation"),
        Count("n_items", "repeats"),
        Text("status", "note"),
    )
    caption = wording.repeats_table(labelled=study.summary.n_labels > 1)
    table = Table("self_consistency", caption, wide, columns)
    return Section("self-consistency", title, (*blocks, table))


def _picture(telling: pl.DataFrame, words: str) -> Picture:
    return Picture.make(
        "intervals",
        Table("self_consistency", "", telling.tail(_MOST_SHOWN), (Key("rater"),)),
        name="self_consistency",
        title="Self-consistency",
        caption=wording.repeats_caption(telling.height, _MOST_SHOWN),
        description=words,
        options={"value_name": "mean absolute difference", "largest_first": False},
    )


# How well a report recovers what was planted in the answers of simulated people.


_PLANTED = ("planted", "careless", "planted_bias", "planted_inconsistency")
"""Attributes of simulated people that say how they were made."""
_COLUMNS = ("stimulus", "label", "value")


def planted_columns(ratings: Ratings) -> tuple[str, ...]:
    """Name the attributes that say how simulated people were made, and describe nobody."""
    names = ratings.raters.columns
    return tuple(name for name in _PLANTED if name in names) if "planted" in names else ()


def recovery_section(study: Study, truth: pl.DataFrame) -> Section:
    """Say how close scores come to the truth, and which planted careless people were noticed.

    Parameters
    ----------
    study
        The ratings of the report.
    truth
        What simulated people answered from: ``stimulus, label, value``.

    Raises
    ------
    InputError
        When a column is missing, or nothing of it was rated.
    """
    require_columns(truth, _COLUMNS, "truth: ")
    blocks: list[Block] = [*_scores(study, truth)]
    if planted_columns(study.ratings):
        blocks += _people(study)
    return Section("planted-truth", "Planted truth", tuple(blocks))


def _scores(study: Study, truth: pl.DataFrame) -> list[Block]:
    people = study.people
    if people is None or not people.has_labels or people.scale.kind in ("nominal", "text"):
        raise InputError("truth: there are no numeric answers of people by label to compare with")
    found = (
        people.to_frame()
        .filter(pl.col("value").is_not_null())
        .with_columns(pl.col("stimulus", "label").cast(pl.String))
        .group_by("stimulus", "label")
        .agg(score=pl.col("value").cast(pl.Float64).mean())
        .join(
            truth.select(
                pl.col("stimulus", "label").cast(pl.String), pl.col("value").cast(pl.Float64)
            ),
            on=["stimulus", "label"],
        )
        .sort("label", "stimulus")
    )
    if found.height == 0:
        raise InputError("truth: no stimulus and label of it was rated")
    rng = np.random.default_rng(study.seed)
    rows = []
    for (label,), one in found.group_by("label", maintain_order=True):
        pairs = one.select("score", "value").to_numpy()
        value = pearson(*pairs.T)
        draws = rng.integers(0, len(pairs), (study.n_boot, len(pairs)))
        drawn = np.array([pearson(*pairs[rows_].T) for rows_ in draws])
        low = high = np.nan
        if study.n_boot and not np.isnan(value):
            spread = summarise_one(value, drawn, 0.95).single
            low, high = spread["low"], spread["high"]
        status = "undefined" if np.isnan(value) else "ok"
        rows.append((str(label), value, low, high, len(pairs), status))
    frame = pl.DataFrame(
        rows, schema=["label", "value", "low", "high", "n_items", "status"], orient="row"
    )
    few = Reason(Cause.FEW_OR_CONSTANT)
    reasons = [None if status == "ok" else few for status in frame["status"]]
    frame = frame.with_columns(fact_column("reason", reasons, reason_type()))
    words = wording.recovered(frame["value"].drop_nans().to_numpy())
    columns = (
        Key("label"),
        Number("value", "correlation"),
        Interval(),
        Count("n_items", "stimuli"),
        Text("status", "note"),
    )
    notes = (wording.PLANTED_TRUTH_NOTE,)
    table = Table("planted_truth", wording.PLANTED_TRUTH, frame, columns, notes=notes)
    return [Paragraph(words), table]


def _people(study: Study) -> list[Block]:
    flagged = set(study.careless_names)
    screened = study.careless
    told = {} if screened is None else _careless_evidence(screened)
    table = study.ratings.raters.with_columns(pl.col("rater").cast(pl.String))
    rows = []
    for one in table.filter(pl.col("planted").is_not_null()).iter_rows(named=True):
        rater, careless = one["rater"], str(one.get("careless")).lower() == "true"
        value, why = told.get(rater, (None, wording.NOBODY_SCREENED))
        missed = why if careless and rater not in flagged else ""
        rows.append((rater, one["planted"], careless, rater in flagged, value, missed))
    schema = {
        "rater": pl.String, "planted": pl.String, "careless": pl.Boolean,
        "flagged": pl.Boolean, "probability": pl.Float64, "missed": pl.String,
    }  # fmt: skip
    frame = pl.DataFrame(rows, schema=schema, orient="row").sort(
        "careless", "rater", descending=[True, False]
    )
    planted = frame.filter("careless")
    caught, wrongly = (
        planted.filter("flagged"),
        frame.filter(~pl.col("careless") & pl.col("flagged")),
    )
    unseen = planted.filter(~pl.col("flagged")).select("rater", "planted", "missed").rows()
    words = wording.planted(planted.height, caught.height, unseen, wrongly["rater"].to_list())
    columns = (
        Key("rater"),
        Text("planted", "planted as"),
        YesNo("careless"),
        YesNo("flagged", "pointed out"),
        Number("probability", "careless with probability"),
        *([Text("missed", "why missed")] if caught.height < planted.height else []),
    )
    return [Paragraph(words), Table("planted_people", "Planted people.", frame, columns)]


def _careless_evidence(screened: Screening) -> dict[str, tuple[float | None, str]]:
    """Give the probability that each person is careless, and the evidence."""
    rows = screened.evidence.filter(pl.col("check") == "careless")
    return {row["rater"]: (row["measure"], row["evidence"]) for row in rows.to_dicts()}


_MOST_ATTRIBUTES = 4
_MOST_NOTES = 3
_TAKEN = " (attribute)"


def raters_section(study: Study) -> Section | Skipped:
    """A table with a row per rater."""
    if not study.ratings.raters_known:
        return Skipped("Raters", wording.NO_RATERS)
    notes: tuple[str, ...] = ()
    if study.numeric is None:
        frame = _counts(study.ratings)
    else:
        frame, notes = _frame(study, study.numeric)
    computed = frame.columns
    frame = _with_attributes(study.ratings, frame)
    attributes = [
        name
        for name in frame.columns
        if name not in computed and name != "rater_kind" and frame[name].null_count() < frame.height
    ]
    panel = "other people" if study.panel is study.people else "others"
    columns = [
        Key("rater"),
        Text("rater_kind", "kind"),
        Count("n_ratings", "answers"),
        Count("n_stimuli", spare=True),
        Number("mean"),
        Number("sd", "SD", spare=True),
        Share("share_of_scale", "scale used", spare=True),
        Number("with_people"),
        Number("correlation", f"with the {panel}"),
        Number("bias"),
        Number("inconsistency"),
    ]
    columns = [column for column in columns if column.key in ("rater_kind", *computed)]
    if study.aggregated_only:
        hidden = ("rater_kind", "share_of_scale")
        columns = [Key("rater", "source")] + [
            column for column in columns[1:] if column.key not in hidden
        ]
        computed = [name for name in computed if name != "share_of_scale"]
        attributes = [name for name in attributes if name != "aggregated"]
    columns += [
        Column(name, shown(name, 24), "name", verbatim=True)
        for name in attributes[:_MOST_ATTRIBUTES]
    ]
    if "status" in computed:
        columns.append(Text("status", "note"))
    remarks = _remarks(study, frame, computed, n_more=len(attributes) - _MOST_ATTRIBUTES)
    people = [is_person(kind) for kind in frame["rater_kind"]]
    title = "Aggregated answers" if study.aggregated_only else "Raters"
    mixed = any(people) and not all(people)
    caption = "Raters, people first." if mixed else f"{title}."
    remarks += [f"{sentence_case(note)}." for note in notes[:_MOST_NOTES]]
    table = Table("raters", caption, frame, tuple(columns), notes=tuple(remarks))
    return Section("raters", title, (Paragraph(_words(study, frame)), table))


def _words(study: Study, frame: pl.DataFrame) -> str:
    """Say how much raters answered, and who stands at the ends."""
    answers, filled = frame["n_ratings"].to_numpy(), study.n_filled > 0
    texts = [
        wording.answers_of_raters(
            frame.height, answers, aggregated=study.aggregated_only, filled=filled
        )
        + study.filled_note
    ]
    for name in ("mean", "inconsistency"):
        if name not in frame.columns:
            continue
        known = frame.filter(pl.col(name).is_not_nan(), pl.col(name).is_not_null())
        if known.height > 1:
            low, high = np.quantile(known[name].to_numpy(), [0, 1]).tolist()
            holders = (_holders(known, name, end) for end in (low, high))
            texts.append(wording.spread_of_raters(name, low, high, *holders))
    return " ".join(texts)


def _holders(known: pl.DataFrame, name: str, value: float) -> str:
    """Name who stands at an end, and how many others stand there, too."""
    return some(list(map(wording.rater_called, known.filter(pl.col(name) == value)["rater"])), 1)


def _remarks(study: Study, frame: pl.DataFrame, computed: list[str], *, n_more: int) -> list[str]:
    """Say what the columns of the table mean."""
    parts = [study.filled_note.strip()] if study.n_filled else []
    parts += [text for name, text in wording.RATER_COLUMNS.items() if name in computed]
    if "correlation" in computed:
        rare = frame.filter(pl.col("correlation_items") < FEWEST_ITEMS)
        few = rare.sort("correlation_items", maintain_order=True)
        if few.height:
            rows = few.select("rater", "correlation_items").rows()
            labelled = study.ratings.n_labels > 1
            parts.append(wording.few_common(rows, FEWEST_ITEMS, labelled=labelled))
    if study.pairs is not None and "with_people" in computed and study.pairs.n_left_out:
        parts.append(wording.no_pair_entries(study.pairs.n_left_out))
    if {"correlation", "bias"} & set(computed) and study.panel is not study.numeric:
        parts.append(wording.PEOPLE_AMONG_THEMSELVES)
    return [*parts, wording.more_attributes(n_more)] if n_more > 0 else parts


def _frame(study: Study, numeric: Ratings) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Compute what is known of each rater, and what is to be said of the model."""
    frame = _counts(numeric)
    if not study.ordered:
        frame = frame.drop("mean", "sd")
    notes: tuple[str, ...] = ()
    if study.pairs is not None:
        means = study.pairs.with_people()
        if means.filter(pl.col("rater").is_in(frame["rater"].implode())).height:
            frame = frame.join(means, on="rater", how="left", maintain_order="left")
    if study.panel is not None and study.ordered:
        found = _correlations(study)
        if found.height:
            frame = frame.join(found, on="rater", how="left", maintain_order="left")
    if study.rater_model is not None:
        notes = study.rater_model.notes
        model = study.rater_model.table("raters").frame
        model = model.select("rater", "bias", "inconsistency", "status", "reason")
        frame = frame.join(model, on="rater", how="left", maintain_order="left")
        if (frame["status"].fill_null("ok") == "ok").all():
            frame = frame.drop("status", "reason")
    return frame, notes


def _counts(ratings: Ratings) -> pl.DataFrame:
    """How much, and of numbers how high and how widely, each rater answers."""
    value, numeric = pl.col("value"), ratings.scale.numeric
    columns = {"rater": ratings.rater_code, "stimulus": ratings.stimulus_code}
    frame = pl.DataFrame(columns | ({"value": ratings.value} if numeric else {}))
    spread = {
        "mean": value.mean(),
        "sd": value.std(),
        "distinct": value.n_unique(),
        "width": value.max() - value.min(),
    }
    found = (
        frame.group_by("rater", maintain_order=True)
        .agg(
            n_ratings=pl.len().cast(pl.Int64),
            n_stimuli=pl.col("stimulus").n_unique().cast(pl.Int64),
            **(spread if numeric else {}),
        )
        .sort("rater")
    )
    scale = ratings.scale
    if numeric and scale.low is not None and scale.high is not None:
        share = pl.col("width") / (scale.high - scale.low)
        if scale.step is not None:
            share = pl.col("distinct") / scale.levels().size
        found = found.with_columns(share_of_scale=share)
    names = [ratings.rater_names[code] for code in found["rater"]]
    return found.with_columns(rater=pl.Series(names, dtype=pl.String)).drop(
        "distinct", "width", strict=False
    )


def _correlations(study: Study) -> pl.DataFrame:
    """Mean correlation of each rater over the labels on which it is defined."""
    assert study.correlations is not None
    return (
        study.correlations.filter(pl.col("value").is_not_nan())
        .group_by("rater", maintain_order=True)
        .agg(
            pl.col("value").mean().alias("correlation"),
            pl.col("n_items").max().alias("correlation_items"),
        )
    )


def _with_attributes(ratings: Ratings, frame: pl.DataFrame) -> pl.DataFrame:
    """Put kind and attributes to each rater that answered, people first."""
    known = ratings.raters.drop(*planted_columns(ratings)).with_columns(
        pl.col(pl.Boolean).replace_strict({True: "yes", False: "no"}, return_dtype=pl.String)
    )
    every = frame.join(known, on="rater", how="left", maintain_order="left", suffix=_TAKEN)
    rest = [name for name in every.columns if name not in ("rater", "rater_kind")]
    person = pl.Series([is_person(kind) for kind in every["rater_kind"]], dtype=pl.Boolean)
    return every.select("rater", "rater_kind", *rest).sort(~person, maintain_order=True)
