"""Tables of a known truth in every layout, under names and with columns drawn by chance."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tests.ratings.layouts import (
    ANSWERS,
    Answer,
    Answers,
    Cell,
    Row,
    Value,
    as_text,
    chosen,
    table,
    world,
)

KNOWN = {
    "s": ("image", "stimulus", "clip", "Video", "face_id", "word", "Bild", "item_id", "foto"),
    "r": ("rater", "participant", "worker_id", "subj", "VPN", "Coder", "annotator", "sujeto"),
    "l": ("label", "emotion", "dimension", "question", "Emotion", "attribute"),
    "v": ("value", "rating", "response", "score", "Bewertung", "answer"),
}
UNKNOWN = {
    "s": ("k1", "ref", "was", "code_b", "B"),
    "r": ("k2", "wer", "code_a", "A", "nr"),
    "l": ("k3", "what", "C"),
    "v": ("y", "k4", "D", "resultaat"),
}
"""Names that say nothing."""
STIMULI = ("img{:02d}.png", "clip{}", "s{:03d}", "{}", "It was the day no {} of all", "F{}_AN")
RATERS = ("p{:02d}", "{}", "R_{}xk", "ann{}@lab.example", "AX{}9Q")
LABELS = (
    ("joy", "anger", "fear"),
    ("valence", "arousal"),
    ("happy", "sad", "surprised", "disgusted"),
    ("warmth", "trust"),
    ("Freude", "Angst"),
)
CATEGORIES = (("joy", "anger", "fear"), ("positive", "negative", "neutral"), ("A", "D", "F", "N"))
LEVELS: tuple[Sequence[Value], ...] = (
    range(1, 6),
    range(1, 8),
    range(4),
    (0, 10, 25, 50, 75, 100),
    (1.5, 2.25, 3.75, 4.5),
    range(-3, 4),
)
LAYOUTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "long": ("rs", {"r": "{r}", "s": "{s}", "v": "{v}"}),
    "long with labels": ("rsl", {"r": "{r}", "s": "{s}", "l": "{l}", "v": "{v}"}),
    "a column for each label": ("rs", {"r": "{r}", "s": "{s}", "{l}": ""}),
    "a column for each rater": ("s", {"s": "{s}", "{r}": ""}),
    "rows of labels, a column for each rater": ("sl", {"s": "{s}", "l": "{l}", "{r}": ""}),
    "a column for each stimulus": ("r", {"r": "{r}", "{s}": ""}),
    "stimuli and labels cross": ("r", {"r": "{r}", "{s}_{l}": ""}),
    "labels and stimuli cross": ("r", {"r": "{r}", "{l}.{s}": ""}),
    "raters and labels cross": ("s", {"s": "{s}", "{r}_{l}": ""}),
    "sets of raters": ("s", {"s": "{s}", "{r}": "sets"}),
    "sets in rows": ("rs", {"r": "{r}", "s": "{s}", "v": "sets"}),
}
IN_NAMES = {
    "s": ("img{}", "clip{:02d}", "face{}", "F{}"),
    "r": ("rater{}", "Annotator{}", "coder_{}", "R{}", "ann{}"),
}
"""How stimuli and raters are called where they stand in names of columns."""


class Extra(NamedTuple):
    """A column that holds no answers."""

    name: str
    cell: Cell


def _age(row: Row) -> int:
    return (23, 41, 35, 58, 19, 67, 30)[row.r_n % 7]


def _noise(row: Row) -> int:
    return 400 + (row.n * 7919) % 2311


EXTRAS: Mapping[str, Sequence[Extra]] = {
    "r": (
        Extra("age", _age),
        Extra("Alter", _age),
        Extra("gender", lambda row: "fm"[row.r_n % 2]),
        Extra("country", lambda row: ("DE", "FR", "IT")[row.r_n % 3]),
    ),
    "s": (
        Extra("remarks", lambda row: f"what is seen in picture number {row.s_n // 2}"),
        Extra("luminance", lambda row: (row.s_n * 37) % 101 / 10),
        Extra("actor", lambda row: f"actor{row.s_n % 3}"),
    ),
    "n": (
        Extra("", "{n}"),
        Extra("trial", "{n}"),
        Extra("rt", _noise),
        Extra("date", lambda row: f"2024-03-{1 + row.n % 29:02d}"),
        Extra("comments", ""),
        Extra("version", "2"),
    ),
}


@dataclass(frozen=True)
class RandomTable:
    """A table, and what must be read of it."""

    layout: str
    right: tuple[Answer, ...]
    text: str
    known: frozenset[str]
    """Roles whose names are known."""
    roles: Mapping[str, str]
    """Columns of stimulus, rater and label, where there is one."""


def random_table(draw: random.Random) -> RandomTable:
    """Draw a table."""
    layout = draw.choice(list(LAYOUTS))
    rows, template = LAYOUTS[layout]
    labelled = any("{l}" in part for part in (*template, *template.values()))
    sets = "sets" in template.values()
    labels = draw.choice(LABELS) if labelled or sets else ("",)
    words = not labelled and draw.random() < 0.3
    levels: Sequence[Value] = draw.choice(CATEGORIES if words else LEVELS)
    n_raters, n_stimuli = draw.randint(3, 6), draw.randint(5, 10)
    patterns = {
        letter: draw.choice(
            IN_NAMES[letter] if any(f"{{{letter}}}" in name for name in template) else given
        )
        for letter, given in (("s", STIMULI), ("r", RATERS))
    }
    raters = [patterns["r"].format(k + 1) for k in range(n_raters)]
    stimuli = [patterns["s"].format(k + 1) for k in range(n_stimuli)]
    gaps = draw.choice((0, 0, 4, 7)) if "s" in rows and "r" in rows and not sets else 0
    right = world(
        raters, stimuli, labels, (0, 1) if sets else levels, gaps=gaps, seed=str(draw.random())
    )
    if sets:
        # Who ticked nothing said nothing.
        ticked = {(one.stimulus, one.rater) for one in right if one.value == 1.0}
        right = tuple(one for one in right if (one.stimulus, one.rater) in ticked)
    known = frozenset(letter for letter in "srlv" if draw.random() < 0.7)
    called = {
        letter: draw.choice((KNOWN if letter in known else UNKNOWN)[letter]) for letter in "srlv"
    }
    separator = draw.choice((",", ";", "\t"))
    mark = draw.choice(tuple(one for one in (";", "|", ", ") if one.strip() != separator))
    columns: list[tuple[str, Cell]] = []
    for name, cell in template.items():
        spread = "{" in name
        held = chosen(mark) if cell == "sets" else None
        if spread:
            columns.append((name, Answers(held) if held else ANSWERS))
        elif held:
            columns.append((called[name], Answers(held)))
        else:
            columns.append((called[name], ANSWERS if name == "v" else cell))
    used = {name.casefold() for name, _ in columns}
    groups = [letter for letter in "rsn" if letter == "n" or letter in rows]
    for _ in range(draw.choice((0, 0, 1, 2, 3))):
        extra = draw.choice(EXTRAS[draw.choice(groups)])
        if extra.name.casefold() not in used:
            used.add(extra.name.casefold())
            columns.insert(0 if not extra.name else draw.randint(0, len(columns)), extra)
    columns.sort(key=lambda one: one[0] != "")
    header, *body = table(right, rows, dict(columns))
    if draw.random() < 0.4:
        draw.shuffle(body)
    named = {"stimulus": "s", "rater": "r", "label": "l"}
    roles = {role: called[letter] for role, letter in named.items() if letter in template}
    return RandomTable(layout, right, as_text([header, *body], separator), known, roles)
