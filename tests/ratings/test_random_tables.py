"""Tables of a known truth in every layout are read rightly, refused, or a guess names the other.

``AFFECTLAB_TABLES=20000`` tries more of them than CI does.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.ratings.layouts import Answer
from tests.ratings.random_tables import LAYOUTS, RandomTable, random_table
from tests.ratings.test_strangers import answers_of

from affectlab.core.errors import InputError
from affectlab.core.words import command_line
from affectlab.ratings import describe_ratings, read_ratings

N_TABLES = int(os.environ.get("AFFECTLAB_TABLES", "300"))
_COMMAND = re.compile(r"affectlab report \S+ ([^)]*)")


def outcome(table: RandomTable, file: Path) -> str:
    """Read a table as its owner would: right, refused, told or silent."""
    file.write_text(table.text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as noted, command_line():
        warnings.simplefilter("always")
        try:
            ratings = read_ratings(file)
        except InputError:
            return "refused"
    if _alike(answers_of(ratings)) == _alike(table.right):
        return "right"
    said = " ".join(str(one.message) for one in noted)
    return "told" if any(_names(table, match[1]) for match in _COMMAND.finditer(said)) else "silent"


def _names(table: RandomTable, options: str) -> bool:
    """Whether a command gives the columns of who and what their roles."""
    said = shlex.split(options)
    return all(any(f"{role}={name}" in one for one in said) for role, name in table.roles.items())


def _alike(answers: Sequence[Answer]) -> list[tuple[str, str, str, float | str]]:
    one_label = len({one.label for one in answers}) <= 1
    return sorted(
        ((one.stimulus, one.rater, "" if one_label else one.label, one.value) for one in answers),
        key=str,
    )


@settings(
    max_examples=N_TABLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.randoms(use_true_random=True))
def test_no_table_is_misread_in_silence(tmp_path: Path, draw: random.Random) -> None:
    table = random_table(draw)
    assert outcome(table, tmp_path / "ratings.csv") != "silent", table.text


def test_most_tables_are_read_at_once(tmp_path: Path) -> None:
    """With a name that is known for the rater or the stimulus nine in ten, with none a half."""
    found = Counter[tuple[bool, str]]()
    for seed in range(300):
        table = random_table(random.Random(seed))
        found[bool(table.known & {"s", "r"}), outcome(table, tmp_path / "ratings.csv")] += 1
    for known, least in ((True, 0.9), (False, 0.5)):
        of = {what: n for (one, what), n in found.items() if one is known}
        assert of["right"] >= least * sum(of.values()), of


def test_what_is_described_reads_the_same(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    for seed in range(1000, 1060):
        file.write_text(random_table(random.Random(seed)).text, encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            described = describe_ratings(file)
            if described.problem is not None:
                continue
            again = read_ratings(file, mapping=described.save(tmp_path / "said.toml"))
            assert _alike(answers_of(again)) == _alike(answers_of(read_ratings(file)))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_is_drawn_and_read(layout: str, tmp_path: Path) -> None:
    tables = (random_table(random.Random(seed)) for seed in range(400))
    some = [one for one in tables if one.layout == layout and {"s", "r"} <= one.known][:8]
    assert "right" in [outcome(one, tmp_path / "ratings.csv") for one in some]
