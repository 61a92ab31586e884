"""How often each label is used, how well raters agree on it, and how consensus is reached."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
from affectlab.core.facts import IntervalFact, Reason
from affectlab.core.tables import Count, Interval, Key, Number, Share, Table, Text
from affectlab.core.wording import method_text
from affectlab.core.words import count, joined, number, percent, plural
from affectlab.ratings import Ratings
from affectlab.reliability import ConsensusFlow
from affectlab.report.page import Block, Bullets, Paragraph, Picture, Section, Skipped
from affectlab.report.statistics import WANTED, Study, reasons_of_rows


def sequential(flow: ConsensusFlow) -> Paragraph:
    """Say what coefficients are worth where votes decided which items were asked about again."""
    were = "were" if flow.recorded else "look as if they were"
    return Paragraph(
        f"These votes {were} collected in rounds, so that whether an item was asked about again "
        "depended on the votes before. The coefficients below are given for completeness; such a "
        "choice of items makes alpha, the kappa of pairs and correlations too low, and others too "
        "low or too high, so none should be quoted as the agreement of the raters."
    )


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


def frequency_section(study: Study) -> Section | Skipped:
    """Bars of how often each label is used."""
    title = "How often each label is used"
    numeric = study.numeric
    if numeric is None:
        return Skipped(title, "there are no numeric answers.")
    if not numeric.has_labels:
        return Skipped(title, "the answers are on one scale without labels.")
    if numeric.scale.kind == "nominal":
        return Skipped(title, "the categories of a nominal scale are shown under Answers.")
    if not _zero_is_absence(study, numeric):
        return _means_of_labels(numeric, study.filled_note)
    frame, rule = use_of_labels(numeric)
    names = frame["label"].to_list()
    groups = label_groups(study.ratings, names)
    if groups is not None:
        frame = frame.with_columns(pl.Series("sentiment", groups))
    shaded = False
    # Of votes that were asked for after a yes only, the correlation says nothing about agreement.
    if study.correlation is not None and study.flow is None:
        known = study.correlation.to_frame().select("label", correlation="value")
        if known["correlation"].is_not_nan().any():
            frame = frame.join(known, on="label", how="left", maintain_order="left")
            shaded = True
    # On a graded scale nearly every stimulus has some rater above the bottom for every label.
    graded = numeric.scale.kind != "binary"
    by = "n_ratings_used" if graded else "n_stimuli_used"
    unit = "answers" if graded else "stimuli"
    what = (
        f"answers {rule.removeprefix('an answer ')}"
        if graded
        else "stimuli with an aggregated answer of yes"
        if study.aggregated_only
        else "stimuli on which at least one rater says yes"
    )
    drawn, frame = frame, frame.sort(by, descending=True, maintain_order=True)
    words = _use_in_words(frame["label"].to_list(), frame[by].to_list(), unit)
    coloured = (
        f" The colour is the interrater correlation among {study.panel_name}: Spearman's "
        "correlation of each rater with the mean of the others, averaged over raters."
        if shaded
        else ""
    )
    dots = ""
    if groups is not None:
        dots = " Dots give the sentiment." if shaded else " Colours give the sentiment."
    columns = [
        Key("label"),
        Count("n_stimuli_used", "stimuli"),
        Count("n_ratings_used", "answers"),
        Share("share_used", "share of answers"),
    ]
    if shaded:
        columns.append(Number("correlation", "interrater correlation"))
    table = Table(
        "label_frequencies",
        f"Use of labels; {rule} counts as use. Stimuli: those with such an answer; answers: those "
        f"that count as use, and their share of all answers to the label.{study.filled_note}",
        frame,
        tuple(columns),
    )
    picture = Picture.make(
        "frequencies",
        drawn,
        name="label_frequencies",
        title="Use of labels",
        caption=f"{what[0].upper()}{what[1:]}, per label." + coloured + dots,
        description=words,
        options={
            "count": by,
            "count_name": what,
            "shade": "correlation" if shaded else None,
            "groups": None if groups is None else "sentiment",
        },
    )
    return Section("labels", title, (Paragraph(words), picture, table))


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
    first, last = frame.row(0, named=True), frame.row(-1, named=True)
    words = (
        f"The mean answer is highest for {first['label']} ({number(first['mean'])}) and lowest for "
        f"{last['label']} ({number(last['mean'])})."
        if frame.height > 1
        else f"The mean answer is {number(first['mean'])}."
    )
    columns = (Key("label"), Count("n", "answers"), Number("mean"), Number("sd", "SD"))
    table = Table("label_means", f"Answers on each label.{note}", frame, columns)
    return Section("labels", "Answers on each label", (Paragraph(words), table))


def _use_in_words(names: list[str], counts: list[int], unit: str) -> str:
    if len(names) == 1:
        return f"{names[0]} is used in {count(counts[0])} {unit}."
    if counts[0] == counts[-1]:
        return f"All {len(names)} labels are used alike, in {count(counts[0])} {unit} each."
    return (
        f"Of {plural(len(names), 'label')}, {names[0]} is used most ({count(counts[0])} {unit}) "
        f"and {names[-1]} least ({count(counts[-1])})."
    )


def agreement_section(study: Study) -> Section | Skipped:
    """Alpha of each label with its interval."""
    title = "Agreement"
    alpha, numeric = study.alpha, study.panel
    if numeric is None or alpha is None:
        return Skipped(title, _no_panel(study))
    if not alpha.to_frame()["n_items"].sum():
        return Skipped(title, "no stimulus has answers of two raters to the same label.")
    frame = _agreement_frame(study, alpha)
    blocks: list[Block] = [Paragraph(_words(study, frame))]
    if study.flow is not None:
        blocks.insert(0, sequential(study.flow))
    if alpha.to_frame()["value"].is_not_nan().any():
        blocks.append(_alpha_picture(study, alpha, frame))
    columns = [
        *([Key("label")] if numeric.has_labels else []),
        Number("value", "alpha"),
        Interval(),
        *([] if study.correlation is None else [Number("correlation", "interrater correlation")]),
        Share("percent_agreement", "same answer"),
        Count("n_items", "stimuli"),
        Count("n_raters"),
        Count("n_ratings", "answers"),
        Text("status", "note"),
    ]
    method = frame["method"].mode().sort()[0]
    caption = (
        f"Agreement among {study.panel_name}: {method}. Stimuli with at least two answers enter."
    )
    blocks.append(Table("agreement", caption, frame, tuple(columns)))
    blocks += [*_label_sets(study), *_coefficients(study, frame), *_reliability(study)]
    return Section("agreement", title, tuple(blocks))


def _label_sets(study: Study) -> list[Block]:
    """Give alpha of whole sets, where people chose several labels of a stimulus."""
    found = study.label_sets
    if found is None:
        return []
    caption = (
        f"Krippendorff's alpha among {study.panel_name} of whole sets of labels: sets that share "
        "some labels agree in part."
    )
    columns = (
        Key("distance"),
        Number("value", "alpha"),
        Interval(),
        Count("n_items", "stimuli"),
        Count("n_raters"),
        Count("n_ratings", "sets"),
    )
    return [Table("label_sets", caption, found.frame, columns)]


def _reliability(study: Study) -> list[Block]:
    """Give what the first page says of means, label by label."""
    frame = study.reliability
    if frame.is_empty():
        return []
    columns = (
        *([Key("label")] if study.ratings.has_labels else []),
        Number("single", "one rater"),
        Interval("single", "95\u00a0% interval"),
        Number("k", "raters per stimulus", decimals=1),
        Number("value", "their mean"),
        Interval(),
        Count("raters_wanted", f"raters for {number(WANTED)}"),
        Count("n_items", "stimuli"),
    )
    methods = joined(dict.fromkeys(frame["coefficient"]))
    caption = f"Reliability of one rater and of the mean of those who answered: {methods}."
    return [Table("reliability", caption, frame, columns)]


def _coefficients(study: Study, frame: pl.DataFrame) -> list[Block]:
    """Give the other coefficients, which correct for chance in other ways than alpha."""
    shown = [(one, of) for one, of in study.coefficients if one.name != "percent_agreement"]
    if not shown:
        return []
    label = [Key("label")] if study.ratings.has_labels else []
    columns = [Number(one.name, one.title) for one, _ in shown]
    methods: dict[str, list[str]] = {}
    for _, of in shown:
        method = of.frame["method"].mode().sort()[0]
        row = of.frame.filter(method=method).row(0, named=True)
        interval, why = IntervalFact.of_row(row["interval"]), Reason.of_row(row["reason"])
        how = method_text(row["options"], interval, why if row["status"] == "ok" else None)
        methods.setdefault(how, []).append(row["statistic"])
    listed = [
        ": ".join(part for part in (joined(names), how) if part) for how, names in methods.items()
    ]
    caption = f"Other coefficients. {'; '.join(listed)}."
    if any(of.frame["n_ratings"].sum() > frame["n_ratings"].sum() for _, of in shown):
        caption += (
            " Where agreement by chance follows from how often each answer is given, answers to "
            "stimuli with one answer count for that, too, which they do not for alpha."
        )
    own = frame.select("label", *(one.name for one, _ in shown))
    return [Table("coefficients", caption, own, (*label, *columns))]


def _no_panel(study: Study) -> str:
    if study.numeric is None:
        return "there are no numeric answers."
    if study.aggregated:
        return "answers aggregated from those of several people do not show how far they agree."
    return "one rater alone cannot agree or disagree."


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
        return f"Alpha is not defined: {joined(reasons_of_rows(frame))}."
    text = f"{found.words[0].upper()}{found.words[1:]}"
    if frame.height > 1:
        if study.flow is None and not found.ungraded:
            text += f"; {found.reached}"
        text += (
            f". It is highest for {known['label'][0]} ({number(known['value'][0])}) and lowest for "
            f"{known['label'][-1]} ({number(known['value'][-1])})."
        )
    else:
        text += "."
    missing = frame.height - known.height
    if missing:
        undefined = frame.filter(pl.col("value").is_nan())
        reasons = joined(reasons_of_rows(undefined))
        text += f" It is not defined for {plural(missing, 'label')} ({reasons})."
    return text


def _whose(study: Study) -> str:
    """Whose agreement intervals are about: two raters cannot be generalised to others."""
    if study.panel is not None and not study.panel.raters_known:
        return "the same number of votes"
    pair = study.panel is not None and study.panel.n_raters < 3
    return "these two raters" if pair else "other raters"


def _alpha_picture(study: Study, alpha: Estimates, frame: pl.DataFrame) -> Picture:
    names = frame["label"].to_list()
    interval = (
        f" Lines are 95 % intervals for other {study.clusters.units} and {_whose(study)}."
        if frame["low"].is_not_nan().any()
        else ""
    )
    groups = label_groups(study.ratings, names) if study.ratings.has_labels else None
    drawn = frame if groups is None else frame.with_columns(sentiment=pl.Series(groups))
    return Picture.make(
        "intervals",
        replace(alpha.table(), frame=drawn),
        name="agreement",
        title="Agreement per label" if study.ratings.has_labels else "Agreement",
        caption=f"Krippendorff's alpha among {study.panel_name}; 1 is full agreement, 0 what "
        f"chance gives.{interval} Dashed lines at 0.67 and 0.80 mark what is usually asked for "
        "tentative and for firm conclusions." + (" Colours give the sentiment." if groups else ""),
        description=_words(study, frame),
        options={
            **alpha.figures[0].options,
            "limits": (None, 1.0),
            "groups": "sentiment" if groups else None,
            "most": frame.height,
        },
    )


# Rounds of a sequential yes/no protocol.


def flow_section(study: Study) -> Section | Skipped:
    """How many items were asked about and confirmed in each round."""
    title = "Consensus flow"
    flow = study.flow
    if flow is None:
        return Skipped(
            title,
            "the answers do not look like a sequential yes/no protocol, in which an item is voted "
            "on again after a yes and never after a no.",
        )
    frame = flow.to_frame()
    words = joined(_batch_in_words(row) for row in frame.iter_rows(named=True))
    words = words[0].upper() + words[1:] + "."
    picture = Picture.of(flow, "consensus_flow", description=words)
    table = replace(flow.table(), name="consensus_flow")
    how = Paragraph(
        "The answers say to which batch each of them belongs."
        if flow.recorded
        else "The votes look as if an item was voted on again only after a yes: how many votes it "
        "has differs, and those with fewer votes mostly end in a no. If they were collected "
        "otherwise, leave this part out."
    )
    blocks = (how, Paragraph(words), picture, table, Bullets(flow.notes))
    return Section("consensus-flow", title, blocks)


def _batch_in_words(row: dict[str, Any]) -> str:
    what = "of absence " if row["kind"] == "contrastive" else ""
    asked = f"batch {row['batch']} asked about {count(row['items'])} items"
    text = f"{asked} and found confirmation {what}"
    if row["agreement"] == row["agreement"]:
        return f"{text}for {percent(row['agreement'], 2)}"
    low, high = row["agreement_low"], row["agreement_high"]
    return f"{text}for {100 * low:.1f} to {percent(high, 1)} (the votes do not say more)"
