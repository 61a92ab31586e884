"""How answers spread over the scale, and answers in words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from affectlab.core.arrays import distinct
from affectlab.core.tables import Count, Key, Share, Table, Text
from affectlab.core.words import plural, shown
from affectlab.ratings import Ratings, Scale
from affectlab.report import wording
from affectlab.report.page import Block, Paragraph, Picture, Section, Skipped
from affectlab.report.statistics import Study

_BINS = 20
_TEXT_LIMIT = 240


def answers_section(study: Study) -> Section | Skipped:
    """Histogram of the answers, and shares of the levels per label."""
    title = "Answers"
    numeric = study.numeric
    if numeric is None:
        return Skipped(title, wording.NO_NUMBERS)
    frame = _histogram(study, numeric)
    groups = frame.partition_by("group", as_dict=True, maintain_order=True)
    bins = next(iter(groups.values()))["answer"].to_list()
    few = _few_levels(numeric.scale)
    words = (_words(study, frame) if few else _means(study)) + study.filled_note
    range_ = "range of the answers" if numeric.scale.low is None else "scale"
    parts = "point of the scale" if few else f"of {plural(len(bins), 'equal part')} of the {range_}"
    wide, columns = pl.DataFrame({"answer": bins}), [Key("answer")]
    for (group,), part in groups.items():
        wide = wide.with_columns(
            part["count"].alias(f"{group}_count"), part["share"].alias(f"{group}_share")
        )
        name = _called(study, str(group))
        head = name if study.aggregated and group == study.people_name else f"{name}, answers"
        columns += [Count(f"{group}_count", head), Share(f"{group}_share", "share", decimals=1)]
    caption = f"Answers {'by' if few else 'in each'} {parts}.{study.filled_note}"
    picture = Picture.make(
        "answers",
        frame,
        name="answers",
        title="Distribution of answers",
        caption=wording.answers_caption(parts, few=few, labelled=numeric.n_labels > 1),
        description=words,
    )
    blocks: list[Block] = [
        Paragraph(words),
        picture,
        Table("answers", caption, wide, tuple(columns)),
    ]
    if few and study.ordered and numeric.n_labels > 1 and len(bins) > 2:
        blocks.append(_by_label(numeric, bins))
    return Section("answers", title, tuple(blocks))


def _models(study: Study) -> Ratings | None:
    """Give the models; answers on a scale without a map to that of people stand on no point."""
    return None if study.ranks_only else study.models


def _histogram(study: Study, numeric: Ratings) -> pl.DataFrame:
    groups = {study.people_name: study.people, "models": _models(study)}
    edges = _edges(numeric)
    parts = []
    for group, ratings in groups.items():
        if ratings is None:
            continue
        counts = _counts(ratings.value, numeric.scale, edges)
        parts.append(
            pl.DataFrame(
                {
                    "group": [group] * counts.size,
                    "answer": _bin_names(numeric.scale, edges),
                    "count": counts,
                    "share": counts / counts.sum(),
                }
            )
        )
    return pl.concat(parts)


def _edges(numeric: Ratings) -> np.ndarray:
    """Levels of the scale where there are few, otherwise ends of equal bins."""
    scale = numeric.scale
    low = float(numeric.value.min()) if scale.low is None else scale.low
    high = float(numeric.value.max()) if scale.high is None else scale.high
    if _few_levels(scale):
        return scale.levels()
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    return np.linspace(low, high, _BINS + 1)


def _few_levels(scale: Scale) -> bool:
    if scale.kind == "nominal":
        return True
    if scale.low is None or scale.high is None or scale.step is None:
        return False
    return scale.levels().size <= _BINS + 1


def _counts(value: np.ndarray, scale: Scale, edges: np.ndarray) -> np.ndarray:
    if _few_levels(scale):
        return np.bincount(_nearest(value, edges), minlength=edges.size)
    return np.histogram(value, bins=edges)[0]


def _nearest(value: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Give the position of the nearest level: steps such as 0.1 are not met exactly."""
    known, code = distinct(value)
    return np.searchsorted((levels[1:] + levels[:-1]) / 2, known, side="right")[code]


def _bin_names(scale: Scale, edges: np.ndarray) -> list[str]:
    if scale.categories:
        return list(scale.categories)
    if scale.kind == "binary":
        return ["no", "yes"]
    if _few_levels(scale):
        return [f"{edge:g}".replace("-", "−") for edge in edges]
    return [f"{a:.3g} to {b:.3g}".replace("-", "−") for a, b in pairwise(edges)]


def _called(study: Study, group: str) -> str:
    models = study.models
    alone = group == "models" and models is not None and models.n_raters == 1
    return "Model" if alone else group.capitalize()


def _words(study: Study, frame: pl.DataFrame) -> str:
    """Say which answer is the most frequent one of each group."""
    parts = []
    for (group,), part in frame.group_by(["group"], maintain_order=True):
        top = part.row(int(part["share"].arg_max() or 0), named=True)
        who, n = _called(study, str(group)), int(part["count"].sum())
        parts.append(wording.most_frequent(who, n, top["answer"], top["share"]))
    return " ".join(parts)


def _means(study: Study) -> str:
    """Say where answers on a scale of many points lie: hardly two of them are the same."""
    groups = ((study.people_name, study.people), ("models", _models(study)))
    return " ".join(
        wording.spread(_called(study, group), ratings.value)
        for group, ratings in groups
        if ratings is not None
    )


def _by_label(numeric: Ratings, levels: list[str]) -> Picture:
    edges = _edges(numeric)
    key = numeric.label_code.astype(np.int64) * edges.size + _nearest(numeric.value, edges)
    counts = np.bincount(key, minlength=numeric.n_labels * edges.size).reshape(-1, edges.size)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = numeric.label_names
    mean = shares @ np.arange(edges.size)
    high, low = names[int(mean.argmax())], names[int(mean.argmin())]
    words = wording.levels_by_label(high, low, shares[:, 0])
    frame = pl.DataFrame(
        {
            "label": np.repeat(names, len(levels)),
            "answer": levels * len(names),
            "share": shares.ravel(),
        }
    )
    return Picture.make(
        "levels_by_label",
        frame,
        name="answers_by_label",
        title="Answers per label",
        caption=wording.LEVELS_BY_LABEL,
        description=words,
    )


def texts_section(study: Study) -> Section | Skipped:
    """Answers in words: how many, how long, and a few of them."""
    title = "Answers in words"
    # Labels answered in words beside labels of numbers are on another scale.
    tables = [
        part
        for part in (study.ratings, study.elsewhere)
        if part is not None and "text" in part.coded_frame.columns
    ]
    if not tables:
        return Skipped(title, wording.NO_TEXTS)
    frame = pl.concat([part.frame for part in tables], how="diagonal_relaxed")
    frame = frame.filter(pl.col("text").is_not_null())
    if frame.height == 0:
        return Skipped(title, wording.NO_TEXTS)
    frame = frame.with_columns(n_words=pl.col("text").str.split(" ").list.len().cast(pl.Int64))
    length = frame["n_words"].to_numpy()
    words = wording.texts(frame.height, frame["stimulus"].n_unique(), length)
    few = frame.filter(
        pl.col("stimulus").is_in(frame["stimulus"].unique(maintain_order=True)[:4].implode())
    )
    keys = [name for name in ("stimulus", "label", "rater") if name in few.columns]
    sample = few.select(
        *[pl.col(name).cast(pl.String) for name in keys],
        pl.col("text").map_elements(lambda text: shown(text, _TEXT_LIMIT), return_dtype=pl.String),
    )
    table = Table(
        "texts",
        "The answers to the first stimuli.",
        sample.head(12),
        (*map(Key, keys), Text("text")),
        limit=12,
    )
    return Section("texts", title, (Paragraph(words), table))
