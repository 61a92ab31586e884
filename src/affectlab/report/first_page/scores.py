"""What the scores of stimuli are: their ends, the most disputed, and differences of groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import polars as pl

from affectlab.core.tables import Count, Interval, Key, Number, PValue, Table, Text
from affectlab.core.words import (
    count,
    in_brackets,
    joined,
    number,
    percent,
    plural,
    sentence_case,
    shown,
    some,
)
from affectlab.ratings import Scale
from affectlab.report.first_page.words import ends_in_words, named_rows
from affectlab.report.images import thumbnail
from affectlab.report.page import Block, Card, Cards, Files, Paragraph, Picture, Section, Skipped
from affectlab.report.statistics import Study

_TITLE = "What are the scores?"
_MOST_CARDS, _MOST_ROWS, _MOST_SAID, _MOST_ANSWERS = 4, 8, 3, 4
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

    def said(self, row: dict[str, Any], *, with_ends: bool = True) -> str:
        """Write a score, with its interval."""
        if self.is_share:
            text = percent(row["value"])
            if with_ends:
                text += in_brackets(row["low"], row["high"], 0, write=percent)
            return f"{shown(row['answer'], 40)}, {text}" if row["answer"] else text
        digits = _digits(self.scale)
        return number(row["value"], digits) + (
            ends_in_words(row, digits, called=False) if with_ends else ""
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
    blocks += [_file(study), picture, _cards(study, scored)]
    return Section("scores", _TITLE, tuple(blocks))


def _has_intervals(study: Study) -> bool:
    """Whether the interval of any score is known."""
    return bool(study.scores["low"].is_not_nan().any())


_KNOWN: WeakKeyDictionary[Study, list[_Scored]] = WeakKeyDictionary()
"""What the first page and the tables share."""


def _scored(study: Study) -> list[_Scored]:
    """Give the labels with scores, the most reliable first."""
    if study not in _KNOWN:
        _KNOWN[study] = _scores_by_label(study) if study.scored else []
    return _KNOWN[study]


def _scores_by_label(study: Study) -> list[_Scored]:
    order = {}
    if not study.reliability.is_empty():
        value = pl.col("value").fill_nan(None)
        known = study.reliability.sort(value, descending=True, nulls_last=True, maintain_order=True)
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
        return _shares(scored)
    named = len(scored) < _MOST_SAID
    said = [_span(study, one, named=named) for one in scored[:_MOST_SAID]]
    text = sentence_case("; ".join(said))
    if len(scored) > _MOST_SAID:
        rest = study.things(len(scored) - _MOST_SAID)
        text += f"; {rest} more as the figure shows"
    return f"{text}."


def _span(study: Study, one: _Scored, *, named: bool) -> str:
    label = shown(one.label) if study.ratings.has_labels else ""
    if one.scale.kind == "nominal":
        return _choices(one, f" of {label}" if label else "")
    low, high = (
        one.said(row, with_ends=False) + (f" ({shown(row['stimulus'], 40)})" if named else "")
        for row in (one.lowest, one.highest)
    )
    if one.scale.kind == "binary":
        return f"the share of raters who say {label or 'yes'} runs from {low} to {high}"
    if one.highest["value"] == one.lowest["value"]:
        return f"{label or 'the score'} is {one.said(one.lowest, with_ends=False)} throughout"
    return f"{label or 'the score'} runs from {low} to {high}"


def _shares(scored: list[_Scored]) -> str:
    """Say to what labels raters say yes most and least."""
    means = {shown(one.label): float(one.frame["value"].to_numpy().mean()) for one in scored}
    order = sorted(means, key=lambda name: (-means[name], name))
    first, last = order[0], order[-1]
    if means[first] == means[last]:
        share = means[first]
        if share in (0.0, 1.0):
            return f"All answers to {len(scored)} labels are {'yes' if share else 'no'}."
        return f"Each of {len(scored)} labels is chosen equally often ({percent(share)})."
    if not any(one.is_repeated for one in scored):
        return (
            f"Of {len(scored)} labels, {first} is said most (of {percent(means[first])} of "
            f"stimuli) and {last} least ({percent(means[last])})."
        )
    return (
        f"Of {len(scored)} labels, raters say {first} most ({percent(means[first])} of them, on "
        f"average over stimuli) and {last} least ({percent(means[last])})."
    )


def _choices(one: _Scored, name: str) -> str:
    """Say what most raters chose, and for how many stimuli."""
    counts = one.frame["answer"].value_counts(name="n")
    counts = counts.sort(["n", "answer"], descending=[True, False])
    listed = some(
        [f"{shown(answer, 40)} for {count(n)}" for answer, n in counts.iter_rows()],
        _MOST_ANSWERS,
        "more answer" if counts.height == _MOST_ANSWERS + 1 else "more answers",
    )
    least = one.disputed
    return (
        f"the most frequent answer{name} is {listed} of {count(one.frame.height)} stimuli; least "
        f"clear is {shown(least['stimulus'], 40)} ({shown(least['answers'], 60)})"
    )


def _apart(study: Study, scored: list[_Scored]) -> str:
    """Say how many stimuli differ from the middle beyond their intervals."""
    if not _has_intervals(study):
        return ""
    texts = []
    for is_share in (True, False):
        part = [one for one in scored if one.is_share is is_share]
        if not part:
            continue
        counts = sorted(one.n_apart for one in part)
        span = " to ".join(dict.fromkeys(map(count, (counts[0], counts[-1]))))
        of = f"{span} of {plural(max(one.frame.height for one in part), 'stimulus', 'stimuli')}"
        if is_share:
            if not any(one.is_repeated for one in part):
                continue
            each = f" of each {study.thing}" if len(part) > 1 else ""
            texts.append(
                f"For {of}{each} a majority is sure: the 95\u00a0% interval of its share lies on "
                "one side of one half."
            )
            continue
        middle = {"value": part[0].frame["middle"][0], "answer": None}
        which = f"of each {study.thing}"
        if len(part) == 1:
            which = f"({part[0].said(middle, with_ends=False)})"
        texts.append(f"{of} differ from the middle {which} beyond their 95\u00a0% intervals.")
    return " ".join(texts)


def _groups(study: Study) -> str:
    """Say how groups of stimuli, and of raters, differ."""
    texts, without = [], []
    for frame in study.differences:
        of_raters = frame["of"][0] == "raters"
        called = shown(frame["attribute"][0].replace("_", " "), 40)
        if set(frame["a"]) | set(frame["b"]) == {"true", "false"}:
            called = f"'{called}'"
        called = f"raters' {called}" if of_raters else called
        known = frame.filter(pl.col("p_holm") <= _SURE)
        if known.is_empty():
            without.append(called)
            continue
        size = (pl.col("value") / pl.col("se")).abs()
        first = known.sort(size, descending=True, maintain_order=True).row(0, named=True)
        more, less = (first["a"], first["b"]) if first["value"] > 0 else (first["b"], first["a"])
        low, high = sorted((abs(first["low"]), abs(first["high"])))
        where = "in group" if of_raters else "for"
        what = shown(first["label"]) if study.ratings.has_labels else "the score"
        pairs = (
            f"; {count(known.height)} of {count(frame.height)} pairs of groups differ"
            if frame.height > 1
            else ""
        )
        texts.append(
            f"By {called}, {what} is {number(abs(first['value']))} higher {where} "
            f"{shown(more, 40)} than {where} {shown(less, 40)}"
            f"{ends_in_words({'low': low, 'high': high})}{pairs}."
        )
    if without:
        texts.append(f"No difference by {joined(without, 'or')} could be shown.")
    if not texts:
        return ""
    drawn = _drawn(study)
    return " ".join([*texts, f"{drawn[0].upper()}{drawn[1:]} count as random."])


def _drawn(study: Study) -> str:
    """What comparisons of groups take as drawn at random."""
    drawn = study.clusters
    compared = {(frame["of"][0], frame["attribute"][0]) for frame in study.differences}
    # Actors that are compared with each other are no sample of actors.
    random = any(of == "stimuli" and name != drawn.column for of, name in compared)
    return f"{drawn.units}, stimuli and raters" if drawn.column and random else "stimuli and raters"


def _file(study: Study) -> Files:
    columns = (
        *([Key("label")] if study.ratings.has_labels else []),
        Key("stimulus"),
        Number("value", "score"),
        Interval(),
        Number("sd", "SD"),
        Text("answer"),
        Count("n_ratings", "answers"),
    )
    table = Table("scores", "All scores, with their intervals", study.scores, columns, limit=0)
    return Files(table)


def _picture(study: Study, scored: list[_Scored], words: str) -> Picture:
    drawn, rule = scored, ""
    if len(scored) > _MOST_ROWS:
        drawn = scored[:_MOST_ROWS]
        rule = f" Of {study.things(len(scored))} the {_MOST_ROWS} most reliable are shown."
    panels: dict[str, dict[str, Any]] = {}
    for one in drawn:
        scale = one.scale
        limits = (0.0, 1.0) if one.is_share else None
        if not one.is_share and scale.low is not None and scale.high is not None:
            limits = (scale.low, scale.high)
        named = {
            "nominal": "share of raters who chose the answer of most",
            "binary": "share of raters who say yes",
        }.get(scale.kind, "mean answer")
        panel = panels.setdefault(str(scale), {"labels": [], "value_name": named, "limits": limits})
        panel["labels"].append(named_rows(study, pl.Series([one.label]))[0])
    frame = pl.concat([one.frame for one in drawn])
    kinds = {one.is_share: "one half" if one.is_share else "the mean of all" for one in scored}
    middle = joined(kinds.values(), "or")
    lines = ", and lines at the ends are 95\u00a0% intervals" if _has_intervals(study) else ""
    thinned = ", evenly spaced ones of many" if frame.height > _MOST_DOTS else ""
    return Picture.make(
        "score_strips",
        frame.with_columns(label=named_rows(study, frame["label"])),
        name="scores",
        title="Scores of all stimuli",
        caption=f"Each dot is a stimulus{thinned}; the middle is {middle}{lines}.{rule}",
        description=words,
        options={"panels": list(panels.values()), "most": _MOST_DOTS},
    )


def _cards(study: Study, scored: list[_Scored]) -> Cards:
    chosen = scored[:_MOST_CARDS]
    heads: tuple[str, ...] = ("Highest", "Lowest", "Most disputed")
    if all(one.scale.kind == "nominal" for one in chosen):
        # The lowest share is the most disputed.
        heads = ("Clearest", "Least clear")
    rows = []
    for one in chosen:
        cards = (_card(study, one, row) for row in (one.highest, one.lowest, one.disputed))
        name = shown(one.label, 40) if study.ratings.has_labels else ""
        rows.append((name, tuple(cards)[: len(heads)]))
    rest = (
        f" of the {len(chosen)} most reliable {study.thing}s" if len(chosen) < len(scored) else ""
    )
    ends = " 95\u00a0% intervals and" if _has_intervals(study) else ""
    caption = f"The ends of the scores{rest}, with{ends} all answers."
    return Cards(caption, heads, tuple(rows))


def _card(study: Study, one: _Scored, row: dict[str, Any]) -> Card:
    name = row["stimulus"]
    path = study.picture_of(name)
    picture = None if path is None else thumbnail(path, _SIDE)
    text = "" if picture else study.text_of(name)
    return Card(
        shown(name, 60),
        one.said(row),
        shown(row["answers"], 60),
        text=shown(text, _SHOWN_OF_TEXT),
        picture=picture,
    )


def score_tables(study: Study) -> Section | Skipped:
    """Give the ends of every label, and the tests of differences between groups."""
    title = "Scores and groups of stimuli and raters"
    scored = _scored(study)
    if not scored:
        return Skipped(title, "there are no numeric answers.")
    rows = [
        {
            "label": one.label,
            "highest": one.highest["stimulus"],
            "highest_score": one.said(one.highest),
            "lowest": one.lowest["stimulus"],
            "lowest_score": one.said(one.lowest),
            "disputed": one.disputed["stimulus"],
            "disputed_answers": one.disputed["answers"],
            "n_apart": one.n_apart,
            "n_stimuli": one.frame.height,
        }
        for one in scored
    ]
    columns = (
        *([Key("label")] if study.ratings.has_labels else []),
        Text("highest"),
        Text("highest_score", "score"),
        Text("lowest"),
        Text("lowest_score", "score"),
        Text("disputed", "most disputed"),
        Text("disputed_answers", "its answers"),
        Count("n_apart", "apart from the middle"),
        Count("n_stimuli", "stimuli"),
    )
    caption = "Highest, lowest and most disputed stimuli."
    ends = Table("score_ends", caption, pl.DataFrame(rows), columns)
    return Section("score-tables", title, (ends, *_tests(study)))


def _tests(study: Study) -> Iterator[Block]:
    if not study.differences:
        yield Paragraph(
            "No attribute of the stimuli or the raters is known of all of them and makes groups to "
            "compare."
        )
        return
    every = pl.concat(study.differences)
    order = every.sort(pl.col("p").fill_nan(None), nulls_last=True, maintain_order=True)
    columns = (
        Key("attribute"),
        Text("of"),
        *([Key("label")] if study.ratings.has_labels else []),
        Key("a", "group"),
        Key("b", "less"),
        Number("value", "difference"),
        Interval(),
        PValue("p"),
        PValue("p_holm", "p (Holm)"),
    )
    yield Table(
        "group_differences",
        "Differences of mean answers between groups of stimuli, or of raters, by mixed models with "
        f"{_drawn(study)} as random; Holm's correction is over all pairs of an attribute.",
        order,
        columns,
        limit=40,
    )
