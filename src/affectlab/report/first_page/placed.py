"""Questions whose answer is a result, as its verb prints it: its sentences, figure and tables."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from affectlab.core.tables import Count, Interval, Key, Number, Share, Table
from affectlab.report import wording
from affectlab.report.first_page.scores import scores_file
from affectlab.report.page import Block, Paragraph, Section, placed, said, table_of
from affectlab.report.sections import use_of_labels, use_picture
from affectlab.report.statistics import Kind, Study

_MOST_MISSED, _MOST_JUDGES, _MOST_PAIRS = 5, 5, 6


def reliability_question(study: Study) -> Section:
    """How reliable means are, and one rater alone; of dimensions also the concordance."""
    blocks: tuple[Block, ...]
    if study.numeric is None:
        blocks = (Paragraph(wording.TEXTS_ONLY),)
    elif study.reliability is None:
        blocks = (Paragraph(wording.AGGREGATED_ONLY if study.aggregated else wording.ONE_RATER),)
    else:
        blocks = placed(study.reliability, figures={"reliability": "reliability"}, tables={})
    if study.kind is Kind.DIMENSIONS and study.concordance is not None:
        table = table_of(study.concordance, "concordance", "concordance")
        # Models stand under their own question.
        blocks = (*blocks, *said(study.concordance)[:1], table)
    return Section("reliability", "How reliable are these ratings?", blocks)


def traces_question(study: Study) -> Section | None:
    """Agreement over time after lags, segments without agreement, and raters."""
    found = study.traces
    if found is None:
        return None
    blocks = placed(
        found,
        figures={figure.name: figure.name for figure in found.figures[:2]},
        tables={"raters": "trace_raters", "segments": "segments", "gold": "gold"},
    )
    mean = Paragraph(wording.MEANS_OF_TRACES)
    return Section("traces", "How far do raters agree over time?", (*blocks, mean))


def preference_question(study: Study) -> Section | None:
    """Who wins, and which systems were never compared."""
    if study.preferred is None:
        return None
    *without, found = study.preferred
    blocks: list[Block] = [block for one in without for block in said(one)]
    names = {table.name: f"preference_{table.name}" for table in found.tables}
    blocks += placed(found, figures={found.figures[0].name: found.figures[0].name}, tables=names)
    return Section("preference", "Which system is preferred?", tuple(blocks))


def sides_question(study: Study) -> Section | None:
    """Ties, and the side on which a system stood."""
    found = study.sides
    if found is None:
        return None
    effects = table_of(found, "effects", "preference_effects")
    sentences = found.sentences[-effects.frame.height :]
    blocks = tuple(map(Paragraph, sentences))
    return Section("sides", "Do ties and sides matter?", (*blocks, effects))


def judges_question(study: Study) -> Section | None:
    """Judges who disagree with all others."""
    if study.pairs is None or study.agreement is None:
        return None
    frame = study.pairs.with_people().sort("with_people", "rater")
    if frame.height < 3:
        return None
    blocks: list[Block] = [Paragraph(f"{study.agreement.words}.")]
    text = wording.judges(frame.row(0, named=True), float(frame["with_people"].median()))  # type: ignore[arg-type]
    head = f"mean {study.pairs.measure} with the others"
    table = Table(
        "judges",
        wording.JUDGES,
        frame,
        (Key("rater", "judge"), Number("with_people", head)),
        limit=_MOST_JUDGES,
    )
    return Section("judges", "Do judges agree?", (*blocks, Paragraph(text), table))


def recognition_question(study: Study) -> Section | None:
    """Hit rates and what is confused with what, and the stimuli that are recognised least."""
    found = study.recognised
    if found is None:
        return None
    stimuli = table_of(found, "stimuli", "recognition_stimuli", limit=_MOST_MISSED, folded=False)
    blocks = placed(
        found,
        figures={"confusion": "recognition"},
        tables={"recognition": "recognition", "confusion": "confusion", "raters": "hit_rates"},
    )
    title = "Is the intended emotion recognised?"
    return Section("recognition", title, (*blocks, stimuli))


def labels_question(study: Study) -> Section | None:
    """Which labels can be trusted: alpha of each label and of whole sets, beside its use."""
    numeric, alpha, found = study.numeric, study.alpha, study.agreement
    if numeric is None or alpha is None or found is None:
        return None
    own = alpha.to_frame().select("label", "value", "low", "high", "n_items", "n_raters")
    used = use_of_labels(numeric)[0].select("label", "share_used")
    frame = own.join(used, on="label", how="left", maintain_order="left").sort(
        pl.col("value").fill_nan(None), descending=True, nulls_last=True, maintain_order=True
    )
    texts = [wording.trusted_labels(frame, found)]
    if study.label_sets is not None:
        texts.append(wording.label_sets(study.label_sets.to_frame()))
    columns = (
        Key("label"),
        Number("value", "alpha"),
        Interval(),
        Share("share_used", "share of answers that are yes", decimals=1),
        Count("n_items", "stimuli"),
        Count("n_raters"),
    )
    table = Table("label_agreement", wording.LABEL_AGREEMENT, frame, columns)
    picture = use_picture(study, frame, shade="value", shade_name="Krippendorff's alpha")
    blocks: list[Block] = [*map(Paragraph, texts), picture, table]
    return Section("trusted", "Which labels can be trusted?", tuple(blocks))


def together_question(study: Study) -> Section | None:
    """How often each label is used, and which go together."""
    found, numeric = study.together, study.numeric
    if found is None or numeric is None:
        return None
    use = Paragraph(wording.use(use_of_labels(numeric)[0]))
    order = found.to_frame("strongest").sort(pl.col("value").abs(), descending=True)
    strongest = table_of(found, "strongest", "labels_together", caption=wording.LABELS_TOGETHER)
    strongest = replace(strongest, frame=order, limit=_MOST_PAIRS, folded=False)
    pairs = Paragraph(wording.labels_together(order))
    blocks: tuple[Block, ...] = (use, pairs, scores_file(study), strongest)
    return Section("together", "How often is each label used, and which go together?", blocks)


def plane_question(study: Study) -> Section | None:
    """The plane of valence and arousal, with its ellipses."""
    found = study.plane
    if found is None:
        return None
    blocks = placed(
        found, figures={"circumplex": "circumplex"}, tables={"points": "plane"}, folded=True
    )
    title = wording.plane_title(found.settings["x"], found.settings["y"])
    return Section("plane", title, (*blocks, scores_file(study)))


def rounds_question(study: Study) -> Section | None:
    """How many items were asked about and confirmed in each round."""
    flow = study.flow
    if flow is None:
        return None
    texts = (wording.confirmed(flow.batches), wording.rounds(recorded=flow.recorded))
    blocks: list[Block] = [*map(Paragraph, texts)]
    blocks += placed(
        flow,
        figures={"consensus_flow": "consensus_flow"},
        tables={flow.tables[0].name: "consensus_flow"},
    )
    return Section("consensus-flow", "How many items are confirmed?", tuple(blocks))
