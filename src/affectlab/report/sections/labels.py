"""How often each label is used, and how well raters agree on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
from affectlab.core.tables import Column, Count, Interval, Key, Number, Share, Table, Text
from affectlab.core.words import joined, plural
from affectlab.ratings import Ratings
from affectlab.reliability.agreement import reasons_in_stimuli
from affectlab.report import wording
from affectlab.report.page import Block, Paragraph, Picture, Section, Skipped, table_of
from affectlab.report.statistics import Kind, Study


def label_groups(ratings: Ratings, names: list[str]) -> tuple[str, ...] | None:
    """Find the sentiment of each label; None when the taxonomy does not say."""
    return None if ratings.taxonomy is None else ratings.taxonomy.sentiments(names)


def use_of_labels(numeric: Ratings) -> tuple[pl.DataFrame, str]:
    """Count the stimuli on which at least one rater uses each label, and say what using means."""
    used = numeric.value > 0
    rule = "a yes" if numeric.scale.kind == "binary" else "an answer above 0"
    coded = pl.DataFrame(
        {"label": numeric.label_code, "stimulus": numeric.stimulus_code, "used": used}
    )
    cells = coded.group_by("label", "stimulus").agg(
        pl.col("used").any().alias("any"),
        pl.col("used").sum().alias("n_used"),
        pl.len().alias("n"),
    )
    frame = cells.group_by("label").agg(
        pl.len().cast(pl.Int64).alias("n_stimuli"),
        pl.col("any").sum().cast(pl.Int64).alias("n_stimuli_used"),
        pl.col("n").sum().cast(pl.Int64).alias("n_ratings"),
        pl.col("n_used").sum().cast(pl.Int64).alias("n_ratings_used"),
    )
    every = pl.DataFrame({"label": np.arange(numeric.n_labels, dtype=np.int32)})
    frame = every.join(frame, on="label", how="left", maintain_order="left").fill_null(0)
    names = pl.Series("label", list(numeric.label_names))
    share = pl.col("n_ratings_used") / pl.col("n_ratings")
    return frame.with_columns(names, share_used=share), rule


def use_picture(study: Study, frame: pl.DataFrame, shade: str, shade_name: str) -> Picture:
    """Draw how often each label is used, coloured by a column of the frame.

    Parameters
    ----------
    frame
        Holds ``label`` and the column `shade`, a row for each label.
    """
    numeric = study.numeric
    assert numeric is not None
    used, rule = use_of_labels(numeric)
    known = frame.select("label", shade) if shade else frame.select("label")
    used = used.join(known, on="label", how="left", maintain_order="left")
    groups = label_groups(study.ratings, used["label"].to_list())
    if groups is not None:
        used = used.with_columns(pl.Series("sentiment", groups))
    # On a graded scale nearly every stimulus has some rater above the bottom for every label.
    graded = numeric.scale.kind != "binary"
    what = wording.what_counts_as_use(rule, graded=graded, aggregated=study.aggregated_only)
    return Picture.make(
        "frequencies",
        used,
        name="label_frequencies",
        title="Use of labels",
        caption=wording.use_caption(what, shade_name, grouped=groups is not None),
        description=wording.use(used, graded=graded),
        options={
            "count": "n_ratings_used" if graded else "n_stimuli_used",
            "count_name": what,
            "shade": shade or None,
            "shade_name": shade_name,
            "groups": None if groups is None else "sentiment",
        },
    )


def frequency_section(study: Study) -> Section | Skipped:
    """Bars of how often each label is used."""
    title = "How often each label is used"
    numeric = study.numeric
    if numeric is None:
        return Skipped(title, wording.NO_NUMBERS)
    if not numeric.has_labels:
        return Skipped(title, wording.NO_LABELS)
    if numeric.scale.kind == "nominal":
        return Skipped(title, wording.NOMINAL_UNDER_ANSWERS)
    if not _zero_is_absence(study, numeric):
        return _means_of_labels(numeric, study.filled_note)
    frame, rule = use_of_labels(numeric)
    shade = ""
    # Of votes that were asked for after a yes only, the correlation says nothing about agreement.
    if study.correlation is not None and study.flow is None:
        known = study.correlation.to_frame().select("label", correlation="value")
        if known["correlation"].is_not_nan().any():
            frame = frame.join(known, on="label", how="left", maintain_order="left")
            shade = "correlation"
    groups = label_groups(study.ratings, frame["label"].to_list())
    if groups is not None:
        frame = frame.with_columns(pl.Series("sentiment", groups))
    graded = numeric.scale.kind != "binary"
    by = "n_ratings_used" if graded else "n_stimuli_used"
    columns = (
        Key("label"),
        Count("n_stimuli_used", "stimuli"),
        Count("n_ratings_used", "answers"),
        Share("share_used", "share of answers"),
        *([Number("correlation", "interrater correlation")] if shade else []),
    )
    caption = wording.use_table(rule, study.filled_note)
    ordered = frame.sort(by, descending=True, maintain_order=True)
    blocks: list[Block] = [Table("label_frequencies", caption, ordered, columns)]
    if study.kind is not Kind.LABEL_SETS:
        name = wording.CORRELATION_SHADE if shade else ""
        words = Paragraph(wording.use(frame, graded=graded))
        blocks = [words, use_picture(study, frame, shade, name), *blocks]
    return Section("labels", title, tuple(blocks))


def _zero_is_absence(study: Study, numeric: Ratings) -> bool:
    """Whether an answer of 0 says that the label does not apply: yes or no, or how much of it.

    On a scale of valence, or from 1 to 5, no answer says so.
    """
    scale = numeric.scale
    graded = scale.low == 0 and scale.step is not None and study.ratings.taxonomy is not None
    return scale.kind == "binary" or graded


def _means_of_labels(numeric: Ratings, note: str) -> Section:
    """Mean and spread of the answers on each label."""
    coded = pl.DataFrame({"label": numeric.label_code, "value": numeric.value})
    frame = (
        coded.group_by("label")
        .agg(n=pl.len().cast(pl.Int64), mean=pl.col("value").mean(), sd=pl.col("value").std())
        .sort("label")
    )
    names = [numeric.label_names[code] for code in frame["label"]]
    frame = frame.with_columns(pl.Series("label", names)).sort(
        "mean", descending=True, maintain_order=True
    )
    words = wording.label_means(frame.row(0, named=True), frame.row(-1, named=True))
    columns = (Key("label"), Count("n", "answers"), Number("mean"), Number("sd", "SD"))
    table = Table("label_means", f"Answers on each label.{note}", frame, columns)
    return Section("labels", "Answers on each label", (Paragraph(words), table))


def agreement_section(study: Study) -> Section | Skipped:
    """Alpha of each label with its interval, other coefficients, and reliability of means."""
    title = "Agreement"
    alpha, numeric = study.alpha, study.panel
    if numeric is None or alpha is None:
        return Skipped(title, _no_panel(study))
    if not alpha.to_frame()["n_items"].sum():
        return Skipped(title, wording.NO_COMMON_STIMULI)
    frame = _agreement_frame(study, alpha)
    blocks: list[Block] = [Paragraph(wording.SEQUENTIAL)] if study.flow is not None else []
    blocks.append(Paragraph(_words(study, frame)))
    if study.reliability is not None and study.ordered:
        blocks.append(Paragraph(wording.ALPHA_AND_ICC))
    if alpha.to_frame()["value"].is_not_nan().any():
        blocks.append(_alpha_picture(study, alpha, frame))
    label = [Key("label")] if numeric.has_labels else []
    columns = (
        *label,
        Number("value", "alpha"),
        Interval(),
        *([] if study.correlation is None else [Number("correlation", "interrater correlation")]),
        Share("percent_agreement", "same answer"),
        Count("n_items", "stimuli"),
        Count("n_raters", spare=True),
        Count("n_ratings", "answers", spare=True),
        Text("status", "note"),
    )
    caption = wording.agreement_caption(study.panel_name, frame["method"].mode().sort()[0])
    blocks.append(Table("agreement", caption, frame, columns))
    if study.label_sets is not None:
        sets = table_of(study.label_sets, study.label_sets.tables[0].name, "label_sets")
        blocks.append(replace(sets, caption=wording.LABEL_SETS))
    blocks += _coefficients(study, frame, label)
    if study.reliability is not None:
        # Page one says what follows from it.
        blocks.append(table_of(study.reliability, "means", "reliability"))
    return Section("agreement", title, tuple(blocks))


def _coefficients(study: Study, frame: pl.DataFrame, label: list[Column]) -> list[Block]:
    """Give the other coefficients, which correct for chance in other ways than alpha."""
    shown = [(one, of) for one, of in study.coefficients if one.name != "percent_agreement"]
    if not shown:
        return []
    columns = [Number(one.name, one.title) for one, _ in shown]
    caption = wording.OTHER_COEFFICIENTS
    if any(of.frame["n_ratings"].sum() > frame["n_ratings"].sum() for _, of in shown):
        caption += wording.SINGLE_ANSWERS_COUNT
    own = frame.select("label", *(one.name for one, _ in shown))
    return [Table("coefficients", caption, own, (*label, *columns))]


def _no_panel(study: Study) -> str:
    if study.numeric is None:
        return wording.NO_NUMBERS
    return wording.AGGREGATED_PANEL if study.aggregated else wording.ONE_OF_PANEL


def _agreement_frame(study: Study, alpha: Estimates) -> pl.DataFrame:
    frame = alpha.frame
    others = {one.name: table for one, table in study.coefficients}
    if study.correlation is not None:
        others["correlation"] = study.correlation
    for name, other in others.items():
        values = other.to_frame().select("label", pl.col("value").alias(name))
        frame = frame.join(values, on="label", how="left", maintain_order="left")
    return frame.sort(
        pl.col("value").fill_nan(None), descending=True, nulls_last=True, maintain_order=True
    )


def _words(study: Study, frame: pl.DataFrame) -> str:
    known = frame.filter(pl.col("value").is_not_nan())
    found = study.agreement
    if known.height == 0 or found is None:
        return wording.undefined_alpha("", joined(reasons_in_stimuli(frame["reason"])))
    text = f"{found.words}."
    if frame.height > 1:
        best, worst = known.row(0, named=True), known.row(-1, named=True)
        graded = study.flow is None and not found.ungraded
        text = wording.agreement_by_label(found, best, worst, graded=graded)
    missing = frame.height - known.height
    if missing:
        lacking = frame.filter(pl.col("value").is_nan())
        reasons = joined(reasons_in_stimuli(lacking["reason"]))
        text += f" {wording.undefined_alpha(plural(missing, 'label'), reasons)}"
    return text


def _whose(study: Study) -> str:
    """Whose agreement intervals are about: two raters cannot be generalised to others."""
    panel = study.panel
    if panel is not None and not panel.raters_known:
        return wording.OTHER_VOTES
    return wording.THESE_TWO if panel is not None and panel.n_raters < 3 else wording.OTHER_RATERS


def _alpha_picture(study: Study, alpha: Estimates, frame: pl.DataFrame) -> Picture:
    interval = ""
    if frame["low"].is_not_nan().any():
        interval = wording.alpha_interval(study.clusters.units, _whose(study))
    names = frame["label"].to_list()
    groups = label_groups(study.ratings, names) if study.ratings.has_labels else None
    drawn = frame if groups is None else frame.with_columns(sentiment=pl.Series(groups))
    return Picture.make(
        "intervals",
        replace(alpha.table(), frame=drawn),
        name="agreement",
        title="Agreement per label" if study.ratings.has_labels else "Agreement",
        caption=wording.alpha_caption(study.panel_name, interval, grouped=groups is not None),
        description=_words(study, frame),
        options={
            **alpha.figures[0].options,
            "limits": (None, 1.0),
            "groups": "sentiment" if groups else None,
            "most": frame.height,
        },
    )
