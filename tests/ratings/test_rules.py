"""Each rule sees what it is for, and nothing else, in small tables."""

from __future__ import annotations

from itertools import product
from typing import Any

import polars as pl
import pytest

from affectlab.ratings.formats.table import Evidence
from affectlab.ratings.reading.rules import RULES, suggested


def _long(**more: list[Any]) -> dict[str, list[Any]]:
    pairs = list(product([f"p{k}" for k in range(4)], [f"clip{k}" for k in range(5)]))
    rows = {"VPN": [one for one, _ in pairs], "film": [other for _, other in pairs]}
    return rows | {"y": [1 + (k * k + k // 5) % 5 for k in range(20)]} | more


ROWS = range(6)
TABLES: dict[str, tuple[dict[str, list[Any]], dict[str, Any]]] = {
    "row per answer": (
        _long(),
        {"columns": {"stimulus": "film", "rater": "VPN", "value": "y"}},
    ),
    "rows of nobody": (
        {"text": ["a b c", "a b c", "d e f", "d e f"], "joy": [1, 2, 3, 1], "fear": [4, 1, 2, 3]},
        {"rater": "each-row", "columns": {"stimulus": "text"}, "wide": "labels"},
    ),
    "one rater": (
        {
            "image": [f"b{k}.png" for k in ROWS],
            "emotion": ["joy", "fear", "joy", "anger", "fear", "joy"],
        },
        {"rater": "one", "columns": {"stimulus": "image", "value": "emotion"}},
    ),
    "column per rater": (
        {
            "bild": [f"b{k}" for k in ROWS],
            "coder_a": [1, 3, 2, 5, 4, 1],
            "coder_b": [2, 3, 1, 5, 4, 2],
            "mean": [1.5, 3, 1.5, 5, 4, 1.5],
        },
        {"wide": "raters", "columns": {"stimulus": "bild"}, "attributes": ["mean"]},
    ),
    "column per stimulus": (
        {
            "VPN": [f"p{k}" for k in ROWS],
            **{f"film{k}": [1 + (k * n) % 5 for n in ROWS] for k in range(1, 5)},
        },
        {"wide": "stimuli", "columns": {"rater": "VPN"}},
    ),
    "names that cross": (
        {
            "VPN": [f"p{k}" for k in ROWS],
            **{
                f"img{k}_{label}": [1 + (k * n) % 5 for n in ROWS]
                for k, label in product((1, 2, 3), ("joy", "fear"))
            },
        },
        {"wide": "stimuli,labels", "columns": {"rater": "VPN"}},
    ),
    "counts of votes": (
        {
            "clip": [f"c{k}" for k in ROWS],
            "happy": [3, 1, 0, 4, 2, 5],
            "sad": [2, 4, 5, 1, 3, 0],
            "votes": [5] * 6,
        },
        {"wide": "votes", "columns": {"stimulus": "clip"}, "attributes": ["votes"]},
    ),
}


def evidence(columns: dict[str, list[Any]]) -> Evidence:
    return Evidence({name: pl.Series(name, cells) for name, cells in columns.items()})


def test_each_rule_has_a_table() -> None:
    assert [rule.name for rule in RULES] == list(TABLES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_suggests_what_its_table_holds(rule: Any) -> None:
    columns, options = TABLES[rule.name]
    best = suggested(evidence(columns))[0]
    assert (best.rule, best.options) == (rule.name, options)


def test_what_a_rater_has_once_describes_the_rater() -> None:
    ages = [20 + 9 * k for k in range(4) for _ in range(5)]
    best = suggested(evidence(_long(Alter=ages)))[0]
    assert best.options == {"columns": {"stimulus": "film", "rater": "VPN", "value": "y"}}


def test_occasions_in_names_are_no_labels() -> None:
    columns = _long()
    del columns["y"]
    answers = {
        f"{when}_{label}": [1 + (k * n) % 5 for k in range(20)]
        for n, (when, label) in enumerate(product(("pre", "post"), ("joy", "fear")), start=1)
    }
    best = suggested(evidence(columns | answers))[0]
    assert best.options == {
        "wide": "sessions,labels",
        "columns": {"stimulus": "film", "rater": "VPN"},
    }


def test_an_empty_corner_decides_nothing() -> None:
    columns = {"": [f"b{k}" for k in ROWS]} | {
        str(n): [1 + (k * n) % 5 for k in ROWS] for n in range(1, 5)
    }
    first, second, *_ = suggested(evidence(columns))
    assert {first.options["wide"], second.options["wide"]} == {"raters", "stimuli"}
    assert first.fit == second.fit


def test_nothing_decides_between_two_columns_without_a_name() -> None:
    columns = dict(zip(("k1", "k2", "y"), _long().values(), strict=True))
    first, second, *_ = suggested(evidence(columns))
    assert first.fit == second.fit
    assert first.options["columns"]["rater"] == second.options["columns"]["stimulus"]
