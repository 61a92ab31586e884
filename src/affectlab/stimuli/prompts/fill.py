"""Prompts for what accepted pictures still lack."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError, check_choice
from affectlab.core.files.columns import require_columns
from affectlab.stimuli.prompts.coverage import accepted_images, awaiting_review
from affectlab.stimuli.prompts.faces import (
    NEUTRAL,
    FacePrompts,
    crossed,
    people_of,
    prompt_rows,
    worded,
)
from affectlab.stimuli.prompts.plan import PromptPlan, load_prompt_plan
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["Undecided", "fill_prompts"]

Undecided = Literal["coming", "lacking"]
"""What becomes of pictures that a review has not settled: they count, or they do not."""

_NUMBER = re.compile(r"^face-(\d+)$")


def fill_prompts(
    images: pl.DataFrame,
    per_label: int,
    *,
    decisions: pl.DataFrame | None = None,
    undecided: Undecided = "coming",
    labels: Sequence[str] | None = None,
    taxonomy: str | Path | Taxonomy = "emonet_face",
    plan: PromptPlan | None = None,
    words: int | None = None,
    taken: Iterable[str] = (),
    seed: int = 0,
) -> FacePrompts:
    """Make prompts for labels of which there are fewer pictures than wanted.

    Each label gets as many prompts as it lacks. Within a label, genders, ages and ethnicities of
    which its accepted pictures have less than their share of `per_label` are asked for, each as far
    as it lacks. Where rounding leaves a choice, the value that all labels together lack most is
    taken. So labels come to their shares, were all new pictures accepted, as near as the pictures
    that are there already allow.

    Parameters
    ----------
    images
        Manifest of the pictures that there are: ``stimulus``, ``label``, ``gender``, ``age``,
        ``ethnicity``. Names of new prompts go on from theirs. Labels are understood as the
        taxonomy does, and faces without emotion are passed over.
    per_label
        Accepted pictures that each label is to have.
    decisions
        Which pictures a review kept; see :func:`accepted_images`. What it left out is lacking.
    undecided
        Pictures that are undecided or that nobody reviewed: ``"coming"`` counts them as though they
        were kept, so that they are not asked for twice, ``"lacking"`` as though they were not
        there.
    labels
        Labels to look at. None: all of the taxonomy.
    taken
        Names that are taken beside those of the pictures, such as of prompts without one.
    taxonomy, plan, words, seed
        As for :func:`face_prompts`.

    Raises
    ------
    InputError
        When `per_label` is below 1, a column is missing, a label is not known, be it one of the
        pictures', or nothing is lacking.

    Examples
    --------
    >>> from affectlab.stimuli import face_prompts
    >>> there = face_prompts(40, weights={"Awe": 3, "Fear": 1}).to_frame()
    >>> more = fill_prompts(there, 30, labels=["Awe", "Fear"])
    >>> more.to_frame()["label"].value_counts().rows(), more.to_frame()["stimulus"][0]
    ([('Fear', 20)], 'face-00041')
    """
    if per_label < 1 or (words is not None and words < 1):
        raise InputError(f"per_label = {per_label}, words = {words}: expected at least 1")
    known = load_taxonomy(taxonomy)
    chosen = plan or load_prompt_plan()
    wanted = known.labels if labels is None else tuple(known.name_of(one) for one in labels)
    people = people_of(chosen, len(chosen.templates))
    check_choice("way with undecided pictures", undecided, get_args(Undecided))
    named = _named(_checked(images), known)
    kept = accepted_images(named, decisions)
    if undecided == "coming":
        kept = pl.concat([kept, awaiting_review(named, decisions)])
    rng = np.random.default_rng(seed)
    there = {label: kept.filter(pl.col("label") == label) for label in wanted}
    owed = {
        name: per_label * len(wanted) * _shares(shares)
        - sum(_have(name, shares, mine) for mine in there.values())
        for name, shares in people.items()
    }
    codes: list[NDArray[np.int64]] = []
    for place, label in enumerate(wanted):
        mine = there[label]
        n = per_label - mine.height
        if n < 1:
            continue
        values: dict[str, dict[str | int, float]] = {}
        for name, shares in people.items():
            lacking = np.maximum(per_label * _shares(shares) - _have(name, shares, mine), 0.0)
            counts = _rounded(lacking, n, owed[name], rng)
            owed[name] -= counts
            values[name] = dict(zip(shares, counts.astype(float).tolist(), strict=True))
        _, drawn = crossed(values, n, rng)
        codes.append(np.insert(drawn, 0, place, axis=1))
    if not codes:
        raise InputError(f"nothing is lacking: every label has at least {per_label:,} pictures")
    dealt = rng.permutation(np.concatenate(codes))
    texts = worded(dealt, list(wanted), known, words, rng)
    table = prompt_rows(
        dealt,
        list(wanted),
        texts,
        chosen,
        chosen.templates,
        rng,
        first=_next([*images["stimulus"], *taken]),
    )
    return FacePrompts(table, _quotas(dealt, list(wanted), people), seed)


def _checked(images: pl.DataFrame) -> pl.DataFrame:
    needed = ("stimulus", "label", "gender", "age", "ethnicity")
    require_columns(images, needed, "the table of pictures: ")
    return images


def _named(images: pl.DataFrame, known: Taxonomy) -> pl.DataFrame:
    """Give every picture the name of its label that the taxonomy has."""
    names = {}
    for label in images["label"].cast(pl.String).unique().sort():
        try:
            names[label] = known.name_of(label or "")
        except InputError as problem:
            if label != NEUTRAL:
                raise InputError(f"the pictures: {problem}") from None
            names[label] = NEUTRAL
    label = pl.col("label").cast(pl.String)
    return images.with_columns(label.replace_strict(names, return_dtype=pl.String))


def _shares(shares: Mapping[Any, float]) -> NDArray[np.float64]:
    given = np.array(list(shares.values()), dtype=np.float64)
    parts: NDArray[np.float64] = given / given.sum()
    return parts


def _have(attribute: str, shares: Mapping[Any, float], mine: pl.DataFrame) -> NDArray[np.float64]:
    """Count the values of an attribute; what sentence a picture was made with does not matter."""
    if attribute == "template":
        return np.zeros(len(shares))
    count = dict(mine[attribute].cast(pl.String).value_counts().iter_rows())
    return np.array([float(count.get(str(value), 0)) for value in shares])


def _rounded(
    lacking: NDArray[np.float64],
    n: int,
    owed: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Share out n prompts as `lacking` says; of equal remainders to what all labels are owed."""
    exact = lacking / lacking.sum() * n
    counts: NDArray[np.int64] = np.floor(exact + 1e-9).astype(np.int64)
    rest = np.round(exact - counts, 9)
    order = np.lexsort((rng.random(len(rest)), -(owed - counts), -rest))
    counts[order[: n - int(counts.sum())]] += 1
    return counts


def _next(names: Iterable[object]) -> int:
    """Number of the first new prompt."""
    found = (_NUMBER.match(str(name)) for name in names)
    return max((int(match[1]) for match in found if match), default=0) + 1


def _quotas(
    codes: NDArray[np.int64], labels: list[str], people: Mapping[str, Mapping[Any, float]]
) -> dict[str, dict[str | int, int]]:
    """Count what was dealt; labels that lack nothing are left out."""
    names = {"label": labels, **{name: list(shares) for name, shares in people.items()}}
    quotas: dict[str, dict[str | int, int]] = {}
    for column, (attribute, values) in enumerate(names.items()):
        counts = np.bincount(codes[:, column], minlength=len(values)).tolist()
        counted = zip(values, counts, strict=True)
        quotas[attribute] = {value: n for value, n in counted if n or attribute != "label"}
    return quotas
