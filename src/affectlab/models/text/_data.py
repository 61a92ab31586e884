"""Texts with labels, from ratings of texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from affectlab._types import Floats
from affectlab._words import count, plural
from affectlab.errors import InputError
from affectlab.models.text._labels import check_texts
from affectlab.ratings import Ratings
from affectlab.taxonomy import Taxonomy, match_taxonomy

__all__ = ["LabelledTexts", "OnBad", "labelled_texts", "split_of"]

_NAMED = re.compile(r"[^a-z]+")
OnBad = Literal["raise", "set_aside"]


@dataclass(frozen=True, eq=False, repr=False)
class LabelledTexts:
    """Texts with what they are known to express."""

    texts: tuple[str, ...]
    targets: Floats
    """Shape (n, labels): 0/1, or the share of raters who chose the label."""
    stimuli: tuple[str, ...]
    taxonomy: Taxonomy
    source: str
    """Name of the file."""
    split: str
    """train, dev or test, where the name of the file says so."""
    notes: tuple[str, ...]
    """How labels were made, and what was left out."""

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return (
            f"LabelledTexts({count(len(self))} texts, {len(self.taxonomy)} labels, {self.source})"
        )


def labelled_texts(
    ratings: Ratings,
    *,
    soft: bool = False,
    agree: float | None = None,
    on_bad: OnBad = "raise",
    source: str = "",
) -> LabelledTexts:
    """Make texts with labels of ratings whose stimuli have the attribute ``text``.

    Parameters
    ----------
    ratings
        Yes or no to labels, or one named label per answer. A label that a rater was not asked of a
        text counts as not chosen.
    soft, agree, on_bad
        As for :func:`read_labelled_texts`.
    source
        Name of the data, by default that of the ratings.

    Raises
    ------
    InputError
        As :func:`read_labelled_texts`, and when the answers are scores.
    """
    said = source or ratings.source or "the ratings"
    if "text" not in ratings.stimuli.columns:
        raise InputError(f"{said}: the stimuli have no attribute 'text'; expected their texts")
    shares, raters, labels = _chosen(ratings, said)
    taxonomy = ratings.taxonomy or match_taxonomy(labels) or Taxonomy.from_labels(labels)
    table = dict(ratings.stimuli.select("stimulus", "text").iter_rows())
    stimuli = tuple(ratings.answers().stimulus_names)
    texts = [table[name] or "" for name in stimuli]
    place = [taxonomy.index(label) for label in labels]
    whole = np.zeros((len(stimuli), len(taxonomy)))
    whole[:, place] = shares
    notes = [f"set aside: {part}" for part in ratings.set_aside]
    if soft:
        targets = whole
        notes.append(f"targets: shares of {_several(raters)} per text")
    else:
        least = (2 if np.median(raters) > 1 else 1) if agree is None else agree
        targets, words = _agreed(whole, raters, least)
        if raters.max(initial=1) > 1:
            notes.append(words)
    kept = np.ones(len(stimuli), dtype=bool) if soft else targets.any(axis=1)
    if not kept.all():
        notes.append(f"left out: {plural(int((~kept).sum()), 'text')} without a label")
    if on_bad == "set_aside":
        good = np.array([isinstance(text, str) and bool(text.strip()) for text in texts])
        if not good.all():
            notes.append(f"set aside: {plural(int((~good).sum()), 'empty text')}")
        kept &= good
    rows = np.flatnonzero(kept)
    if not rows.size:
        raise InputError(f"{said}: no text has a label; expected at least one")
    return LabelledTexts(
        check_texts([texts[row] for row in rows], said),
        targets[rows],
        tuple(stimuli[row] for row in rows),
        taxonomy,
        said,
        split_of(said),
        tuple(notes),
    )


def _chosen(ratings: Ratings, said: str) -> tuple[Floats, np.ndarray, tuple[str, ...]]:
    """Share of raters who chose each label of each text, and their number, (n, labels) and (n,)."""
    from affectlab.ratings.arrays import answers_of

    scale = ratings.scale
    answers = answers_of(ratings)
    n = len(answers.units)
    raters = np.zeros(n, dtype=np.int64)
    pairs = np.unique(answers.unit * len(answers.raters) + answers.rater)
    np.add.at(raters, pairs // len(answers.raters), 1)
    if scale.kind == "nominal":
        labels, label, yes = scale.categories, answers.value.astype(np.int64), answers.value >= 0
    elif scale.kind == "binary" and ratings.has_labels:
        labels, label, yes = answers.labels, answers.label, answers.value > 0
    else:
        raise InputError(
            f"{said}: the answers are on the scale {scale}; expected yes or no to each label, or "
            "named labels"
        )
    votes = np.zeros((n, len(labels)))
    np.add.at(votes, (answers.unit[yes], label[yes]), 1.0)
    shares: Floats = votes / np.maximum(raters, 1)[:, None]
    return shares, raters, tuple(labels)


def _agreed(shares: Floats, raters: np.ndarray, least: float) -> tuple[Floats, str]:
    if isinstance(least, int) and not isinstance(least, bool):
        if least < 1:
            raise InputError(f"agree = {least}: expected 1 person or more, or a share such as 0.5")
        votes = np.rint(shares * raters[:, None])
        return (votes >= least).astype(np.float64), f"a label is true when {least} chose it"
    if not 0 < least <= 1:
        raise InputError(f"agree = {least}: expected a share above 0 and up to 1, or a number")
    true = (shares >= least - 1e-9).astype(np.float64)
    return true, f"a label is true when {100 * least:g} % chose it"


def _several(raters: np.ndarray) -> str:
    low, high = int(raters.min()), int(raters.max())
    return plural(low, "rater") if low == high else f"{low} to {high} raters"


def split_of(name: str) -> str:
    """Split that the name of a file speaks of: train, dev, test, or none."""
    words = set(_NAMED.split(Path(name).stem.lower()))
    for split, names in (
        ("test", {"test"}),
        ("dev", {"dev", "val", "valid", "validation"}),
        ("train", {"train", "training"}),
    ):
        if words & names:
            return split
    return ""
