"""Reactions of machines beside those of people, as items for text metrics."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from affectlab._words import shown
from affectlab.errors import InputError, unknown_name
from affectlab.models.text_metrics._item import TextItem
from affectlab.models.text_metrics._table import TextTable, image_of
from affectlab.ratings import Ratings

__all__ = ["items_of_ratings"]

_MACHINES = ("model", "baseline")
_PEOPLE = ("human", "simulated")


def items_of_ratings(
    ratings: Ratings, *, rater: str | None = None, images: str | Path | None = None
) -> TextTable:
    """Put each reaction of a machine beside those of people to the same pair and emotion.

    Emotions are compared without regard to case and to spaces around them. A reaction of a machine
    to which no person has one is left out, and told.

    Parameters
    ----------
    ratings
        Of the protocol ``reaction``: a column ``text``, and the emotion as the label or in a
        column ``emotion``; stimuli may have ``image`` and ``caption``.
    rater
        The machine; None: all of them.
    images
        Folder of the images; None: paths are taken as they are.

    Returns
    -------
    TextTable
        Its frame has stimulus, rater, emotion, and the attributes of stimuli.

    Raises
    ------
    InputError
        When there are no texts, no such machine, no reaction of a machine has a reference, or an
        image lies outside the folder.

    References
    ----------
    Deng et al. (2023), Socratis, section 4.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.ratings import read_ratings
    >>> rows = "p,ann,Proud,They won.\\np,bob,proud,A win.\\np,blip,proud,It is gold.\\n"
    >>> kinds = pl.DataFrame({"rater": ["blip"], "rater_kind": ["model"]})
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "reactions.csv"
    ...     _ = file.write_text("stimulus,rater,emotion,text\\n" + rows)
    ...     found = items_of_ratings(read_ratings(file, scale="text", raters=kinds))
    >>> found.items[0].candidate, found.items[0].references
    ('It is gold.', ('They won.', 'A win.'))
    """
    frame = ratings.to_frame()
    emotion = next((name for name in ("emotion", "label") if name in frame.columns), None)
    if "text" not in frame.columns or emotion is None:
        raise InputError(
            f"{ratings.source}: columns {', '.join(frame.columns)}; expected reactions, with the "
            "columns 'text' and 'emotion'"
        )
    kinds = dict(zip(ratings.rater_names, ratings.rater_kinds, strict=True))
    rows = frame.select(
        pl.col("stimulus").cast(pl.String),
        pl.col("rater").cast(pl.String),
        pl.col(emotion).cast(pl.String).fill_null("").alias("emotion"),
        pl.col("text").cast(pl.String).fill_null(""),
    ).filter(pl.col("text").str.strip_chars() != "")
    rows = rows.with_columns(
        pl.col("emotion").str.strip_chars().str.to_lowercase().alias("key"),
        pl.col("rater").replace_strict(kinds, default="human").alias("kind"),
    )
    machines = [name for name, kind in kinds.items() if kind in _MACHINES]
    if rater is not None and rater not in kinds:
        raise unknown_name("rater", rater, machines or list(kinds), str(ratings.source))
    chosen = machines if rater is None else [rater]
    if not chosen:
        raise InputError(
            f"{ratings.source}: all raters are people; expected reactions of a model, and people "
            "(the table of raters says who is which)"
        )
    people = rows.filter(pl.col("kind").is_in(_PEOPLE) & ~pl.col("rater").is_in(chosen))
    references: dict[tuple[str, str], list[str]] = {}
    for stimulus, key, text in people.select("stimulus", "key", "text").iter_rows():
        references.setdefault((stimulus, key), []).append(text)
    stimuli = ratings.stimuli
    known = {row["stimulus"]: row for row in stimuli.iter_rows(named=True)}
    items, kept, without = [], [], 0
    seen: dict[str, int] = {}
    candidates = rows.filter(pl.col("rater").is_in(chosen))
    for row in candidates.iter_rows(named=True):
        own = references.get((row["stimulus"], row["key"]), [])
        if not own:
            without += 1
            continue
        about = known.get(row["stimulus"], {})
        name = f"{row['stimulus']}/{row['emotion'].strip()}/{row['rater']}"
        seen[name] = seen.get(name, 0) + 1
        where = (
            f"{shown(ratings.source)}, reaction of {shown(row['rater'], 40)!r} to "
            f"{shown(row['stimulus'], 40)!r}"
        )
        items.append(
            TextItem(
                candidate=row["text"],
                references=tuple(own),
                image=image_of(
                    about.get("image") or about.get("file"),
                    None if images is None else Path(images),
                    where,
                ),
                item=name if seen[name] == 1 else f"{name}/{seen[name]}",
                emotion=row["emotion"].strip(),
                caption=str(about.get("caption") or ""),
                where=where,
            )
        )
        kept.append({**about, **{key: row[key] for key in ("stimulus", "rater", "emotion")}})
    if not items:
        raise InputError(
            f"{ratings.source}: no reaction of {', '.join(map(repr, chosen[:3]))} is to a pair and "
            "an emotion that a person has reacted to, too; expected some"
        )
    said = (
        [
            f"{without:,} of {candidates.height:,} reactions of machines are left out: nobody has "
            "reacted to the same pair and emotion"
        ]
        if without
        else []
    )
    return TextTable(tuple(items), pl.DataFrame(kept, infer_schema_length=None), tuple(said))
