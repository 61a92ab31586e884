"""What the scores of stimuli are: their ends, the most disputed, and differences of groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from affectlab.core.tables import Count, Interval, Key, Number, Share, Table, Text
from affectlab.core.words import in_brackets, number, percent, plural, shown
from affectlab.ratings import Scale
from affectlab.report import wording
from affectlab.report.images import thumbnail
from affectlab.report.page import Block, Card, Cards, Files, Paragraph, Picture, Section
from affectlab.report.sections import drawn_at_random
from affectlab.report.statistics import Study

_MOST_CARDS, _MOST_ROWS, _MOST_SPANS, _MOST_DISPUTED = 4, 8, 3, 5
_SHOWN_OF_TEXT = 140
_SIDE, _MOST_DOTS = 144, 1200
_SURE = 0.05


@dataclass(frozen=True)
class _Scored:
    """Scores of one label."""

    label: str
    scale: Scale
    frame: pl.DataFrame
    """A row per stimulus, the lowest score first."""
    disputed: dict[str, Any]

    @property
    def highest(self) -> dict[str, Any]:
        """The stimulus with the highest score."""
        return self.frame.row(-1, named=True)

    @property
    def lowest(self) -> dict[str, Any]:
        """The stimulus with the lowest score."""
        return self.frame.row(0, named=True)

    @property
    def is_share(self) -> bool:
        """Whether scores are shares of raters."""
        return self.scale.kind in ("nominal", "binary")

    @property
    def is_repeated(self) -> bool:
        """Whether any stimulus has several answers."""
        return bool((self.frame["n_ratings"] > 1).any())

    @property
    def n_apart(self) -> int:
        """Stimuli whose interval does not hold the middle."""
        apart = (pl.col("low") > pl.col("middle")) | (pl.col("high") < pl.col("middle"))
        return self.frame.filter(pl.col("low").is_not_nan(), apart).height

    def written(self, row: dict[str, Any], *, with_ends: bool = True) -> str:
        """Write a score, with its interval."""
        if self.is_share:
            text = percent(row["value"])
            if with_ends:
                text += in_brackets(row["low"], row["high"], 0, write=percent)
            return f"{shown(row['answer'], 40)}, {text}" if row["answer"] else text
        digits = _digits(self.scale)
        return number(row["value"], digits) + (
            wording.ends(row, digits, called=False) if with_ends else ""
        )


def _digits(scale: Scale) -> int:
    """Digits of a score: as many as its scale makes worth while."""
    if scale.low is None or scale.high is None:
        return 2
    return 0 if scale.high - scale.low > 50 else 1


def scores_question(study: Study) -> Section | None:
    """Answer in words, with all scores on a line, and a few stimuli."""
    scored = _scored(study)
    if not scored:
        return None
    texts = [_spans(study, scored), _apart(study, scored), _groups(study)]
    picture = _picture(study, scored, " ".join(texts))
    blocks: list[Block] = [*(Paragraph(text) for text in texts if text)]
    blocks += [scores_file(study), picture]
    if all(one.scale.kind == "nominal" for one in scored):
        title = "What do most raters answer, and how sure is it?"
        return Section("scores", title, (*blocks, _disputed_table(scored)))
    blocks.append(_cards(study, scored))
    return Section("scores", "What are the scores?", tuple(blocks))


def _has_intervals(study: Study) -> bool:
    """Whether the interval of any score is known."""
    return bool(study.scores["low"].is_not_nan().any())


def _scored(study: Study) -> list[_Scored]:
    """Give the labels with scores, the most reliable first."""
    if not study.scored:
        return []
    order = {}
    if study.reliability is not None:
        value = pl.col("value").fill_nan(None)
        known = study.reliability.to_frame().sort(
            value, descending=True, nulls_last=True, maintain_order=True
        )
        order = {label: place for place, label in enumerate(known["label"])}
    scales = {
        label: part.scale
        for part in study.scored
        for label in (part.label_names if part.has_labels else ("rating",))
    }
    found = []
    for (label,), frame in study.scores.group_by(["label"], maintain_order=True):
        own = frame.sort(["value", "stimulus"])
        found.append(_Scored(str(label), scales[str(label)], own, _disputed(own)))
    return sorted(found, key=lambda one: order.get(one.label, len(order)))


def _disputed(frame: pl.DataFrame) -> dict[str, Any]:
    """The stimulus on which raters differ most; of shares, that whose share is least clear."""
    enough = pl.col("n_ratings") >= pl.min_horizontal(3, pl.col("n_ratings").max())
    by = pl.col("sd").fill_nan(None).fill_null(-(pl.col("value") - 0.5).abs())
    if frame["answer"].null_count() == 0:
        by = -pl.col("value")
    order = frame.filter(enough).sort([by, pl.col("stimulus")], descending=[True, False])
    return order.row(0, named=True)


def _spans(study: Study, scored: list[_Scored]) -> str:
    """Say from where to where scores run; of a few labels, which stimuli stand at the ends."""
    if len(scored) > 1 and all(one.scale.kind == "binary" for one in scored):
        means = {shown(one.label): float(one.frame["value"].to_numpy().mean()) for one in scored}
        return wording.shares_of_labels(means, repeated=any(one.is_repeated for one in scored))
    named = len(scored) < _MOST_SPANS
    parts = [_span(study, one, named=named) for one in scored[:_MOST_SPANS]]
    rest = plural(len(scored) - _MOST_SPANS, "label") if len(scored) > _MOST_SPANS else ""
    return wording.spans(parts, rest)


def _span(study: Study, one: _Scored, *, named: bool) -> str:
    label = shown(one.label) if study.ratings.has_labels else ""
    if one.scale.kind == "nominal":
        counts = one.frame["answer"].value_counts(name="n")
        counts = counts.sort(["n", "answer"], descending=[True, False])
        return wording.choices(label, counts.rows(), one.frame.height, one.disputed)
    low, high = (
        one.written(row, with_ends=False) + (f" ({shown(row['stimulus'], 40)})" if named else "")
        for row in (one.lowest, one.highest)
    )
    constant = one.scale.kind != "binary" and one.highest["value"] == one.lowest["value"]
    if constant:
        low = one.written(one.lowest, with_ends=False)
    return wording.span(label, low, high, binary=one.scale.kind == "binary", constant=constant)


def _apart(study: Study, scored: list[_Scored]) -> str:
    """Say how many stimuli differ from the middle beyond their intervals."""
    if not _has_intervals(study):
        return ""
    texts = []
    for is_share in (True, False):
        part = [one for one in scored if one.is_share is is_share]
        if not part or (is_share and not any(one.is_repeated for one in part)):
            continue
        counts, n = [one.n_apart for one in part], max(one.frame.height for one in part)
        if is_share:
            each = " of each label" if len(part) > 1 else ""
            texts.append(wording.sure_majorities(counts, n, each))
            continue
        which = "of each label"
        if len(part) == 1:
            middle = {"value": part[0].frame["middle"][0], "answer": None}
            which = f"({part[0].written(middle, with_ends=False)})"
        texts.append(wording.apart_from_middle(counts, n, which))
    return " ".join(texts)


def _groups(study: Study) -> str:
    """Say how groups of stimuli, and of raters, differ."""
    texts, without = [], []
    for frame in study.differences:
        flag = set(frame["a"]) | set(frame["b"]) == {"true", "false"}
        of_raters = frame["of"][0] == "raters"
        called = wording.attribute_called(frame["attribute"][0], of_raters=of_raters, is_flag=flag)
        known = frame.filter(pl.col("p_holm") <= _SURE)
        if known.is_empty():
            without.append(called)
            continue
        size = (pl.col("value") / pl.col("se")).abs()
        first = known.sort(size, descending=True, maintain_order=True).row(0, named=True)
        what = shown(first["label"]) if study.ratings.has_labels else "the score"
        texts.append(wording.group_difference(called, what, first, known.height, frame.height))
    if without:
        texts.append(wording.no_difference(without))
    return " ".join([*texts, wording.random_factors(drawn_at_random(study))]) if texts else ""


def scores_file(study: Study) -> Files:
    """Link the table of all scores."""
    columns = (
        *([Key("label")] if study.ratings.has_labels else []),
        Key("stimulus"),
        Number("value", "score"),
        Interval(),
        Number("sd", "SD"),
        Text("answer"),
        Count("n_ratings", "answers"),
    )
    return Files(
        Table("scores", "All scores, with their intervals", study.scores, columns, limit=0)
    )


def _disputed_table(scored: list[_Scored]) -> Table:
    """The stimuli whose most frequent answer has the smallest share."""
    frame = pl.concat([one.frame for one in scored]).sort("value", "stimulus")
    enough = pl.col("n_ratings") >= pl.min_horizontal(3, pl.col("n_ratings").max())
    columns = (
        Key("stimulus"),
        *([Key("label")] if len(scored) > 1 else []),
        Text("answer", "most frequent answer"),
        Share("value", "share"),
        Interval(),
        Text("answers", "all answers"),
    )
    return Table(
        "disputed",
        wording.DISPUTED,
        frame.filter(enough),
        columns,
        limit=_MOST_DISPUTED,
        folded=False,
    )


def _picture(study: Study, scored: list[_Scored], words: str) -> Picture:
    drawn, rule = scored, ""
    if len(scored) > _MOST_ROWS:
        drawn = scored[:_MOST_ROWS]
        rule = wording.most_reliable(_MOST_ROWS, plural(len(scored), "label"), drawn=True)
    panels: dict[str, dict[str, Any]] = {}
    for one in drawn:
        scale = one.scale
        limits = (0.0, 1.0) if one.is_share else None
        if not one.is_share and scale.low is not None and scale.high is not None:
            limits = (scale.low, scale.high)
        named = wording.SCORE_AXES.get(scale.kind, "mean answer")
        panel = panels.setdefault(str(scale), {"labels": [], "value_name": named, "limits": limits})
        panel["labels"].append(study.named_rows(pl.Series([one.label]))[0])
    frame = pl.concat([one.frame for one in drawn])
    kinds = {one.is_share: "one half" if one.is_share else "the mean of all" for one in scored}
    thinned, intervals = frame.height > _MOST_DOTS, _has_intervals(study)
    return Picture.make(
        "score_strips",
        frame.with_columns(label=study.named_rows(frame["label"])),
        name="scores",
        title="Scores of all stimuli",
        caption=wording.strips_caption(
            [*kinds.values()], rule, thinned=thinned, intervals=intervals
        ),
        description=words,
        options={"panels": list(panels.values()), "most": _MOST_DOTS},
    )


def _cards(study: Study, scored: list[_Scored]) -> Cards:
    chosen = scored[:_MOST_CARDS]
    rows = []
    for one in chosen:
        cards = tuple(_card(study, one, row) for row in (one.highest, one.lowest, one.disputed))
        rows.append((shown(one.label, 40) if study.ratings.has_labels else "", cards))
    rest = wording.most_reliable(len(chosen), "label") if len(chosen) < len(scored) else ""
    caption = wording.cards_caption(rest, intervals=_has_intervals(study))
    return Cards(caption, ("Highest", "Lowest", "Most disputed"), tuple(rows))


def _card(study: Study, one: _Scored, row: dict[str, Any]) -> Card:
    name = row["stimulus"]
    path = study.picture_of(name)
    picture = None if path is None else thumbnail(path, _SIDE)
    text = "" if picture else study.text_of(name)
    return Card(
        shown(name, 60),
        one.written(row),
        shown(row["answers"], 60),
        text=shown(text, _SHOWN_OF_TEXT),
        picture=picture,
    )
