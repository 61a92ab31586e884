"""Captioned images for reactions: a random stratum, and one whose picture and words disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
from annotated_types import Ge

from affectlab.core.errors import InputError, check_choice
from affectlab.core.files.columns import require_columns, require_distinct, require_filled
from affectlab.core.files.csv import read_table
from affectlab.ratings import Ratings
from affectlab.taxonomy import Taxonomy

__all__ = ["CaptionedPairs", "captioned_pairs", "read_captions", "top_labels"]

_COLUMNS = ("stimulus", "file", "text", "source")


@dataclass(frozen=True, eq=False)
class CaptionedPairs:
    """Image-caption pairs that were chosen, and from how many; see :func:`captioned_pairs`."""

    pairs: pl.DataFrame
    """``stimulus``, ``file``, ``text``, ``source``, ``stratum`` (random, conflict), and for the
    second ``image_emotion`` and ``text_emotion``."""
    counts: pl.DataFrame
    """One row per stratum and source: ``stratum``, ``source``, ``n_available``, ``n``."""

    def __len__(self) -> int:
        return self.pairs.height


def captioned_pairs(
    pairs: pl.DataFrame,
    *,
    random: Annotated[int, Ge(0)] = 1800,
    conflict: Annotated[int, Ge(0)] = 500,
    random_from: Sequence[str] | None = None,
    conflict_from: Sequence[str] | None = None,
    image_emotions: Ratings | None = None,
    text_emotions: Ratings | None = None,
    by: Taxonomy | None = None,
    seed: int = 0,
) -> CaptionedPairs:
    """Choose image-caption pairs as Socratis does (section 2.1): two strata, balanced by source.

    The *random* stratum is drawn from all pairs of its sources. The *conflict* stratum is drawn
    from those whose picture is predicted to express another emotion than its caption: they are the
    ones on which people are likely to differ. Within a stratum each source gives the same number;
    what a small source lacks the others give.

    Parameters
    ----------
    pairs
        ``stimulus``, ``file``, ``text`` and ``source``; other columns are kept.
    random, conflict
        Pairs in each stratum; 0 for none.
    random_from, conflict_from
        Sources of each stratum; None for all. A pair is never in both strata.
    image_emotions, text_emotions
        What a model says of the pictures and of the captions, by the names of the pairs: the label
        with the highest mean value is the prediction. Needed when `conflict` is above 0. Any rater
        will do, such as :class:`affectlab.models.text.TextClassifier`.
    by
        Taxonomy whose polarity decides: a conflict is then only one between positive and negative.
        None: any two different labels.
    seed
        Draws the pairs; the order of rows means nothing.

    Raises
    ------
    InputError
        When a column is missing or a pair stands twice, a source is not known, a prediction is
        missing or the two raters share no label, or there are fewer pairs than wanted.

    Examples
    --------
    >>> news = pl.DataFrame({
    ...     "stimulus": ["a", "b", "c", "d"], "file": ["a.jpg", "b.jpg", "c.jpg", "d.jpg"],
    ...     "text": ["A", "B", "C", "D"], "source": ["one", "one", "two", "two"],
    ... })
    >>> captioned_pairs(news, random=2, conflict=0).counts.rows()
    [('random', 'one', 2, 1), ('random', 'two', 2, 1)]
    """
    table = _checked(pairs)
    for name, number in {"random": random, "conflict": conflict}.items():
        if number < 0:
            raise InputError(f"{name} = {number}: expected 0 or more")
    rng = np.random.default_rng(seed)
    # The conflict stratum is chosen first: its pairs are the rarer ones.
    chosen, counts = [], []
    if conflict:
        told = _told(table, image_emotions, text_emotions, by)
        drawn, count = _draw(told, conflict, conflict_from, "conflict", rng)
        chosen.append(drawn)
        counts.append(count)
        table = table.join(drawn, on="stimulus", how="anti")
    if random:
        drawn, count = _draw(table, random, random_from, "random", rng)
        chosen.append(drawn)
        counts.append(count)
    if not chosen:
        raise InputError("random = 0 and conflict = 0: expected at least one pair to choose")
    first = ["stimulus", "file", "text", "source", "stratum"]
    found = pl.concat(chosen[::-1], how="diagonal")
    return CaptionedPairs(found.select(*first, pl.exclude(first)), pl.concat(counts[::-1]))


def read_captions(path: str | Path) -> pl.DataFrame:
    """Read a table of image-caption pairs: CSV or Parquet.

    Raises
    ------
    InputError
        When the file is missing, is no table, or lacks a column or a value.
    """
    table = read_table(path, "pairs")
    try:
        return _checked(table)
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None


def top_labels(ratings: Ratings) -> pl.DataFrame:
    """Label with the highest mean value for each stimulus: ``stimulus``, ``label``.

    Of equal ones the first in the order of the ratings' labels is taken.

    Examples
    --------
    >>> said = {"stimulus": ["a", "a"], "rater": ["m", "m"], "label": ["joy", "awe"]}
    >>> top_labels(Ratings({**said, "value": [0.2, 0.7]}, scale="0-1 interval")).rows()
    [('a', 'awe')]
    """
    order = {label: place for place, label in enumerate(ratings.label_names)}
    return (
        ratings.frame.select("stimulus", "label", "value")
        .drop_nulls("value")
        .group_by("stimulus", "label")
        .agg(pl.col("value").mean())
        .with_columns(pl.col("label").replace_strict(order).alias("place"))
        .sort("stimulus", "value", "place", descending=[False, True, False])
        .group_by("stimulus", maintain_order=True)
        .agg(pl.col("label").first())
    )


def _checked(pairs: pl.DataFrame) -> pl.DataFrame:
    where = "the table of pairs: "
    require_columns(pairs, _COLUMNS, where)
    table = pairs.with_columns(pl.col(_COLUMNS).cast(pl.String).str.strip_chars())
    require_filled(table, _COLUMNS, where)
    require_distinct(table, ["stimulus"], where, "each pair once")
    return table.sort("stimulus")


def _told(
    table: pl.DataFrame,
    image_emotions: Ratings | None,
    text_emotions: Ratings | None,
    by: Taxonomy | None,
) -> pl.DataFrame:
    """Pairs whose picture and caption are predicted to differ, with both predictions."""
    if image_emotions is None or text_emotions is None:
        raise InputError(
            "a conflict stratum needs predictions for pictures and for captions; give both "
            "(--image-emotions, --text-emotions), or conflict = 0 (--conflict 0)"
        )
    if by is None:
        shared = set(image_emotions.label_names) & set(text_emotions.label_names)
        if not shared:
            raise InputError(
                "the raters of pictures and of captions share no label: "
                f"{', '.join(image_emotions.label_names[:4])}, … and "
                f"{', '.join(text_emotions.label_names[:4])}, …; map one of them, or compare "
                "polarities"
            )
    for name, ratings in (("image_emotion", image_emotions), ("text_emotion", text_emotions)):
        said = top_labels(ratings).rename({"label": name})
        table = table.join(said, on="stimulus", how="left")
        silent = table.filter(pl.col(name).is_null())
        if silent.height:
            raise InputError(
                f"{silent.height:,} pairs have no {name.replace('_', ' ')}, the first is "
                f"{silent['stimulus'][0]!r}; expected a prediction for each pair"
            )
    if by is None:
        return table.filter(pl.col("image_emotion") != pl.col("text_emotion"))
    sign = {"positive": 1, "negative": -1}
    known = {label: sign.get(by.polarity[label] or "", 0) for label in by.labels}
    signs = [
        pl.Series([known[by.name_of(label)] for label in table[name]], dtype=pl.Int8)
        for name in ("image_emotion", "text_emotion")
    ]
    return table.filter(signs[0] * signs[1] < 0)


def _draw(
    table: pl.DataFrame,
    number: int,
    sources: Sequence[str] | None,
    stratum: str,
    rng: np.random.Generator,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Draw a stratum, the same number from each source as far as it goes."""
    known = sorted(table["source"].unique().to_list())
    for source in sources or ():
        check_choice("source", source, known, where=f"{stratum} stratum")
    wanted = known if sources is None else sorted(set(sources))
    available = [table.filter(source=source).height for source in wanted]
    if sum(available) < number:
        raise InputError(
            f"{stratum} stratum: {number:,} pairs are wanted and {sum(available):,} there are; "
            "give more pairs, or want fewer"
        )
    parts = []
    counts = _fill(available, number)
    for source, count in zip(wanted, counts, strict=True):
        own = table.filter(source=source)
        parts.append(own[np.sort(rng.permutation(own.height)[:count]).tolist()])
    drawn = pl.concat(parts).with_columns(pl.lit(stratum).alias("stratum"))
    told = {"stratum": stratum, "source": wanted, "n_available": available, "n": counts}
    return drawn, pl.DataFrame(told).select("stratum", "source", "n_available", "n")


def _fill(available: list[int], number: int) -> list[int]:
    """Equal numbers from all, more from the others where one has too few."""
    level = max(
        one for one in range(number + 1) if sum(min(one, most) for most in available) <= number
    )
    counts = [min(level, most) for most in available]
    more = [place for place, most in enumerate(available) if most > level]
    for place in more[: number - sum(counts)]:
        counts[place] += 1
    return counts
