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
from affectlab.core.words import count, joined, number, plural, shown, some
from affectlab.ratings import Ratings
from affectlab.reliability import self_consistency
from affectlab.reliability.screening import Screening
from affectlab.report.page import Block, Paragraph, Picture, Section, Skipped
from affectlab.report.statistics import FEWEST_ITEMS, NO_RATERS, Study, is_person, rater_called

# What raters answer when they see the same stimulus again.


_MOST_SHOWN = 40
_MOST_NAMED = 5
_SAME = "always gives the same answer"


def consistency_section(study: Study) -> Section | Skipped:
    """Mean absolute difference and correlation of repeats, per rater."""
    title = "Self-consistency"
    if study.numeric is None:
        return Skipped(title, "there are no numeric answers.")
    if not study.summary.trial_kinds.get("repeat"):
        return Skipped(title, "no trial is marked as a repeat.")
    if not study.ordered:
        return Skipped(title, "the answers are categories, between which there is no distance.")
    frame = self_consistency(study.ratings).frame
    frame = frame.with_columns(constant=pl.col("rater").is_in(list(study.constant)))
    difference = frame.filter(pl.col("measure") == "absolute difference")
    known = difference.filter(pl.col("value").is_not_nan()).sort("value", maintain_order=True)
    if known.height == 0:
        return Skipped(title, "no repeat has a main answer of the same rater to compare with.")
    telling = known.filter(~pl.col("constant"))
    words = _repeats_in_words(known, telling)
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
        status=pl.when("constant").then(pl.lit(_SAME)).otherwise("status"),
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
    caption = "Repeated answers against the first ones."
    if study.summary.n_labels > 1:
        caption += (
            " The correlation is Spearman's over the repeats of all labels together, so "
            "differences between labels raise it."
        )
    table = Table("self_consistency", caption, wide, columns)
    return Section("self-consistency", title, (*blocks, table))


def _repeats_in_words(known: pl.DataFrame, telling: pl.DataFrame) -> str:
    """Say how large differences are; who always answers the same is left out of that."""
    n_repeats = int(known["n_items"].sum())
    text = f"{plural(n_repeats, 'repeat')} of {plural(known.height, 'rater')}"
    if telling.height:
        best, worst = telling.row(0, named=True), telling.row(-1, named=True)
        text += (
            ": the mean absolute difference from the first answer runs from "
            f"{number(best['value'])} ({rater_called(best['rater'])}) to {number(worst['value'])} "
            f"({rater_called(worst['rater'])}) points of the scale, median "
            f"{number(telling['value'].median())}"  # type: ignore[arg-type]
        )
    constant = known.filter(pl.col("constant"))["rater"].to_list()
    if not constant:
        return text + "."
    names = some([rater_called(name, 60) for name in constant], _MOST_NAMED)
    verb = "is" if len(constant) == 1 else "are"
    return (
        f"{text}. {names} {verb} not among them: one and the same answer throughout says "
        "nothing about consistency."
    )


def _picture(telling: pl.DataFrame, words: str) -> Picture:
    rule = (
        f" Of {telling.height} raters the {_MOST_SHOWN} least consistent are shown."
        if telling.height > _MOST_SHOWN
        else ""
    )
    return Picture.make(
        "intervals",
        Table("self_consistency", "", telling.tail(_MOST_SHOWN), (Key("rater"),)),
        name="self_consistency",
        title="Self-consistency",
        caption="Mean absolute difference between the repeated and the first answer, with 95 % "
        f"intervals; 0 is best.{rule}",
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
    known = frame["value"].drop_nans()
    words = "For no label can the correlation of scores with the truth be computed."
    if known.len():
        ends = f"{number(known.min())} to {number(known.max())}"  # type: ignore[arg-type]
        words = (
            "These answers are simulated, from a truth that is known. The mean of the answers "
            f"correlates with it {number(known.median())} "  # type: ignore[arg-type]
            f"in the median of {plural(known.len(), 'label')} ({ends})."
        )
    columns = (
        Key("label"),
        Number("value", "correlation"),
        Interval(),
        Count("n_items", "stimuli"),
        Text("status", "note"),
    )
    caption = "Scores (means over people) against the planted truth, over stimuli."
    note = "Pearson's correlation; bootstrap over stimuli."
    return [Paragraph(words), Table("planted_truth", caption, frame, columns, notes=(note,))]


def _people(study: Study) -> list[Block]:
    flagged = set(study.careless_names)
    screened = study.careless
    told = {} if screened is None else _careless_evidence(screened)
    table = study.ratings.raters.with_columns(pl.col("rater").cast(pl.String))
    rows = []
    for one in table.filter(pl.col("planted").is_not_null()).iter_rows(named=True):
        rater, careless = one["rater"], str(one.get("careless")).lower() == "true"
        value, why = told.get(rater, (None, "nobody was screened"))
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
    words = (
        f"Of {plural(planted.height, 'person', 'people')} planted as careless, "
        f"{count(caught.height)} {'stands' if caught.height == 1 else 'stand'} out by what this "
        "report looks at."
    )
    for row in planted.filter(~pl.col("flagged")).iter_rows(named=True):
        words += f" {shown(row['rater'], 40)} ({row['planted']}) was missed: {row['missed']}."
    words += (
        f" Pointed out though planted as careful: {joined(wrongly['rater'].to_list())}."
        if wrongly.height
        else " Nobody who was planted as careful was pointed out."
    )
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
        return Skipped("Raters", NO_RATERS)
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
        Count("n_stimuli"),
        Number("mean"),
        Number("sd", "SD"),
        Share("share_of_scale", "scale used"),
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
    remarks = _remarks(study, frame, computed, panel, n_more=len(attributes) - _MOST_ATTRIBUTES)
    people = [is_person(kind) for kind in frame["rater_kind"]]
    title = "Aggregated answers" if study.aggregated_only else "Raters"
    mixed = any(people) and not all(people)
    caption = "Raters, people first." if mixed else f"{title}."
    remarks += [f"The model of raters says: {note}." for note in notes[:_MOST_NOTES]]
    table = Table("raters", caption, frame, tuple(columns), notes=tuple(remarks))
    return Section("raters", title, (Paragraph(_words(study, frame)), table))


def _words(study: Study, frame: pl.DataFrame) -> str:
    """Say how much raters answered, and who stands at the ends."""
    answers = frame["n_ratings"].to_numpy()
    verb = "gave" if not study.filled else "has" if frame.height == 1 else "have"
    text = f"{plural(frame.height, 'rater')} {verb} "
    if study.aggregated_only:
        text = f"Aggregated answers of {plural(frame.height, 'source')}: "
    if answers.min() == answers.max():
        each = " each" if frame.height > 1 else ""
        text += f"{plural(int(answers[0]), 'answer')}{each}."
    else:
        text += (
            f"{count(answers.min())} to {count(answers.max())} answers "
            f"(median {count(float(np.median(answers)))})."
        )
    text += study.filled_note
    ends = (
        ("mean", "The mean answer runs from"),
        ("inconsistency", "The inconsistency, in points of the scale, runs from"),
    )
    for name, start in ends:
        known = frame.filter(pl.col(name).is_not_nan()) if name in frame.columns else frame.head(0)
        known = known.filter(pl.col(name).is_not_null()) if known.height else known
        if known.height > 1 and known[name].max() == known[name].min():
            text += f" {start.removesuffix(' runs from')} is {number(known[name][0])} for all."
        elif known.height > 1:
            low, high = np.quantile(known[name].to_numpy(), [0, 1]).tolist()
            text += (
                f" {start} {number(low)} ({_holders(known, name, low)}) to "
                f"{number(high)} ({_holders(known, name, high)})."
            )
    return text


def _holders(known: pl.DataFrame, name: str, value: float) -> str:
    """Name who stands at an end, and how many others stand there, too."""
    return some(list(map(rater_called, known.filter(pl.col(name) == value)["rater"])), 1)


def _few_stimuli(frame: pl.DataFrame, *, labels: bool) -> list[str]:
    """Name the raters whose correlation rests on so few stimuli that it says little."""
    few = frame.filter(pl.col("correlation_items") < FEWEST_ITEMS).sort(
        "correlation_items", maintain_order=True
    )
    if few.height == 0:
        return []
    at_most = "at most " if labels else ""
    listed = [
        f"{rater_called(rater)} ({at_most}{n})"
        for rater, n in few.select("rater", "correlation_items").iter_rows()
    ]
    on_each = " on every label" if labels else ""
    return [
        f"It rests on fewer than {FEWEST_ITEMS} common stimuli{on_each}, and says little, for "
        f"{plural(few.height, 'rater')}: {some(listed, _MOST_NAMED)}."
    ]


def _remarks(
    study: Study, frame: pl.DataFrame, computed: list[str], panel: str, *, n_more: int
) -> list[str]:
    """Say what the columns of the table mean."""
    parts = []
    labels = study.ratings.n_labels > 1
    who = "source" if study.aggregated_only else "rater"
    if study.filled:
        parts.append(f"{study.filled_note[1:-1]}, as if the {who} had chosen 0.")
    if "mean" in computed:
        over = ", over all labels" if labels else ""
        parts.append(f"Mean and SD: of all answers of a {who}{over}.")
    if "share_of_scale" in computed:
        parts.append(
            "Scale used: the share of the points of the scale that the rater chose at least once."
            if study.ratings.scale.step is not None
            else "Scale used: the share of the length of the scale between the lowest and the "
            "highest answer of the rater."
        )
    if study.pairs is not None and "with_people" in computed:
        over = "pairs with another person" + (" and all labels" if labels else "")
        parts.append(
            f"With people: the mean {study.pairs.measure} over all {over} for which it is defined."
        )
        if study.pairs.n_left_out:
            parts.append(
                f"{count(study.pairs.n_left_out)} raters with few answers have no entry there, "
                "because there are too many pairs."
            )
    if "correlation" in computed:
        over = ", averaged over the labels for which it is defined" if labels else ""
        parts.append(f"With the {panel}: Spearman's correlation with their mean{over}.")
        parts += _few_stimuli(frame, labels=labels)
    if "bias" in computed:
        parts.append(
            "Bias and inconsistency: from a model in which an answer is the score of the "
            "stimulus, plus the bias of the rater, plus an error whose size is the inconsistency "
            "of the rater. Both are in points of the scale; biases average to zero"
            + (", and one of each serves all labels." if labels else ".")
        )
    if {"correlation", "bias"} & set(computed) and study.panel is not study.numeric:
        parts.append("Where models have no entry, people are compared among themselves.")
    if n_more > 0:
        parts.append(f"The file of the table also holds {n_more} more attributes.")
    return parts


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
