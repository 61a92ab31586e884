"""Ordinary tables are read as their usual names say, whatever else rules could make of them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest
import xlsxwriter

from affectlab.core.errors import InputError
from affectlab.ratings import read_ratings

RATERS = [f"a{k}" for k in range(4)]
STIMULI = [f"img{k}.png" for k in range(6)]
Cell = Callable[[int], Any]


def number(levels: int, step: int = 3) -> Cell:
    return lambda k: 1 + (k * k * step + k // 2) % levels


def one_of(*words: str) -> Cell:
    return lambda k: words[(k * k + k // 3) % len(words)]


def long(
    header: str, *cells: Cell, raters: Sequence[str] = RATERS, stimuli: Sequence[str] = STIMULI
) -> list[list[Any]]:
    """Write a row for each stimulus and rater, whose names stand in the first two columns."""
    pairs = product(raters, stimuli)
    rows = [
        [stimulus, rater, *(cell(k) for cell in cells)] for k, (rater, stimulus) in enumerate(pairs)
    ]
    return [header.split(","), *rows]


def wide(header: str, *cells: Cell, first: str = "img{}.png") -> list[list[Any]]:
    return [
        header.split(","),
        *([first.format(k), *(cell(k) for cell in cells)] for k in range(12)),
    ]


SENTENCES = [f"some text number {k}" for k in range(6)]
ORDINARY: dict[str, tuple[list[list[Any]], int, tuple[str, ...]]] = {
    "objects that describe": (
        long("stimulus,rater,value,meta", number(7), lambda k: json.dumps({"label": "xy"[k % 2]})),
        4,
        ("rating",),
    ),
    "objects that vary": (
        long(
            "image,rater,joy,fear,meta",
            *(number(7), number(5), lambda k: json.dumps({"width": 100 + k})),
        ),
        4,
        ("joy", "fear"),
    ),
    "boxes in pictures": (
        long("image,subj,happy,sad,box", number(7), number(5), lambda _: "[1, 1, 20, 20]"),
        4,
        ("happy", "sad"),
    ),
    "boxes beside columns of raters": (
        wide("stimulus,r1,r2,r3,box", *(number(5, s) for s in (1, 2, 3)), lambda _: "[1, 1, 9, 9]"),
        3,
        ("rating",),
    ),
    "a rater called Max": (wide("image,Anna,Max,Tom", *map(number, (5, 6, 7))), 3, ("rating",)),
    "pos and neg": (
        long("text,annotator,pos,neg", number(5), number(6), stimuli=SENTENCES),
        4,
        ("pos", "neg"),
    ),
    "attention is rated": (
        long("clip,viewer,attention,engagement,boredom", *map(number, (5, 6, 7))),
        4,
        ("attention", "engagement", "boredom"),
    ),
    "a flag beside a mood": (
        long("img,who,mood,seen", number(7), one_of("TRUE", "FALSE")),
        4,
        ("rating",),
    ),
    "people called after models": (
        long("stimulus,rater,value", number(7), raters=("Claude 1", "bert01", "Gemini")),
        3,
        ("rating",),
    ),
    "codes": (long("segment,coder,code", number(4)), 4, ("rating",)),
    "a column called race": (
        long("image,annotator_id,race", one_of("a", "b", "c")),
        4,
        ("rating",),
    ),
    "a long name above texts": (
        wide(
            "The text of the tweet,rater_1,rater_2,rater_3",
            *map(number, (5, 6, 7)),
            first="this is the text of tweet {}",
        ),
        3,
        ("rating",),
    ),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_it_is_read_as_its_names_say(name: str, tmp_path: Any) -> None:
    import csv

    rows, n_raters, labels = ORDINARY[name]
    with (tmp_path / "ratings.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = read_ratings(tmp_path / "ratings.csv")
    assert (read.n_raters, read.label_names) == (n_raters, labels)
    assert set(read.rater_kinds) == {"human"}
    assert read.raters_known


@pytest.mark.parametrize(
    "lookup", [["code", "meaning"], ["image", "mean", "sd"]], ids=["codes", "means"]
)
def test_sheets_of_codes_and_means_are_no_data(lookup: list[str], tmp_path: Any) -> None:
    file = tmp_path / "study.xlsx"
    book = xlsxwriter.Workbook(file)
    of_codes = [lookup, *([k, *range(1, len(lookup))] for k in range(9))]
    sheets = {"Data": long("image,rater,rating", number(7)), "Codes": of_codes, "More": of_codes}
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for at, row in enumerate(rows):
            sheet.write_row(at, 0, row)
    book.close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read_ratings(file).n_ratings == 24


def test_words_of_a_text_are_answers_of_nobody(tmp_path: Any) -> None:
    file = tmp_path / "texts.json"
    words = ["the", "the", "cat"]
    rows = [{"text": f"t {k}", "tokens": words, "emotion": "joy"} for k in range(9)]
    file.write_text(json.dumps(rows))
    with pytest.raises(InputError, match="no column for the rater"):
        read_ratings(file)
