"""The working tree beside the base, and whether the comparison finds what it is there to find."""

from __future__ import annotations

import copy
import math
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.golden import compare
from tests.golden.case import CLOSED, ITERATED
from tests.golden.compare import Unavailable, differences, read_changes, unneeded
from tests.golden.tree import leaves, rows

from affectlab.core.estimates import Estimates
from affectlab.reliability import krippendorff_alpha

pytestmark = pytest.mark.long


def test_small_set_equals_the_base() -> None:
    try:
        base, now = compare.both_sides()
    except Unavailable as reason:
        pytest.skip(f"no base to compare with: {reason}")
    changes = read_changes((compare.HERE / "changes.toml").read_text("utf-8"))
    assert len(now["cases"]) > 100
    found = differences(base["cases"], now["cases"], changes)
    assert not found, "\n".join(map(str, found[:30]))


def side(tolerance: float = CLOSED, **beside: Any) -> dict[str, Any]:
    """Give one case as a worker reports it: a table of two estimates, a note and a warning."""
    table = Estimates.build(
        {"label": ["joy", "fear"]},
        value=[0.5, math.nan],
        n_items=[12, 12],
        method="alpha, 12 items",
        status=["ok", "undefined: one category"],
    )
    value = {"found": table, "notes": ["2 answers left out"], "warnings": ["UserWarning: few"]}
    told = leaves(value | beside, public={"Estimates"})
    return {"file.case": {"leaves": told, "tolerance": tolerance, "crash": ""}}


def planted(change: Callable[[dict[str, Any]], Any], tolerance: float = CLOSED) -> list[str]:
    base, now = side(tolerance), side(tolerance)
    change(now["file.case"]["leaves"])
    return [f"{one.kind} {one.path}" for one in differences(base, now)]


def test_equal_sides_have_no_differences() -> None:
    assert planted(lambda told: None) == []


def test_a_number_is_compared_to_the_tolerance_of_its_case() -> None:
    path = "found/table/joy/value"
    assert planted(lambda told: told.update({path: 0.5 + 1e-8})) == [f"number file.case/{path}"]
    assert planted(lambda told: told.update({path: 0.5 + 1e-10})) == []
    assert planted(lambda told: told.update({path: 0.5 + 1e-8}), ITERATED) == []
    assert planted(lambda told: told.update({path: 0.5 + 1e-5}), ITERATED) != []
    assert planted(lambda told: told.update({path: "nan"})) == [f"text file.case/{path}"]


@pytest.mark.parametrize("path", ["found/table/fear/status", "found/table/joy/method", "notes/0"])
def test_a_changed_text_is_found(path: str) -> None:
    assert planted(lambda told: told.update({path: "another"})) == [f"text file.case/{path}"]


def test_a_missing_row_is_found_and_leaves_the_others_alone() -> None:
    def without_joy(told: dict[str, Any]) -> None:
        for path in [path for path in told if path.startswith("found/table/joy")]:
            del told[path]

    found = planted(without_joy)
    assert len(found) == 10
    assert all(one.startswith("missing file.case/found/table/joy/") for one in found)


def test_a_new_warning_and_a_new_column_are_found() -> None:
    assert planted(lambda told: told.update({"warnings/1": "UserWarning: more"})) == [
        "new file.case/warnings/1"
    ]
    assert planted(lambda told: told.update({"found/table/joy/extra": 1})) == [
        "new file.case/found/table/joy/extra"
    ]


def test_a_case_that_is_gone_or_fails_is_found() -> None:
    base = side()
    assert [one.kind for one in differences(base, {})] == ["missing"]
    assert [one.kind for one in differences({}, base)] == ["new"]
    broken = copy.deepcopy(base)
    broken["file.case"]["crash"] = "AttributeError: no such name"
    assert [one.kind for one in differences(broken, broken)] == ["failure", "failure"]
    allow_all = read_changes('[[changed]]\npath = "*"\nwhy = "none"')
    assert len(differences(broken, base, allow_all)) == 1


def test_changes_allow_what_they_name_and_no_more() -> None:
    changes = read_changes(
        """
        [[renamed]]
        path = "/n_items$"
        to = "/n_stimuli"
        why = "items are stimuli"
        [[reworded]]
        path = "*/method"
        why = "plainer words"
        [[changed]]
        path = "file.case/found/*/value"
        within = 0.1
        why = "other draws"
        """
    )
    base, now = side(), side()
    told = now["file.case"]["leaves"]
    for row in ("joy", "fear"):
        told[f"found/table/{row}/n_stimuli"] = told.pop(f"found/table/{row}/n_items")
        told[f"found/table/{row}/method"] = "Krippendorff's alpha over 12 stimuli"
    told["found/table/joy/value"] = 0.55
    assert differences(base, now, changes) == []
    assert unneeded(changes) == []
    told["found/table/joy/method"] = "Krippendorff's alpha over 11 stimuli"
    told["found/table/joy/value"] = 0.65
    assert [one.path.rsplit("/")[-1] for one in differences(base, now, changes)] == [
        "value",
        "method",
    ]


def test_an_added_line_allows_what_is_new_alone() -> None:
    changes = read_changes('[[added]]\npath = "*/joy/*"\nwhy = "a new column"')
    base, now = side(), side()
    told = now["file.case"]["leaves"]
    told["found/table/joy/p"] = 0.04
    assert differences(base, now, changes) == []
    told["found/table/joy/value"] = 0.6
    del told["found/table/joy/se"]
    assert [one.kind for one in differences(base, now, changes)] == ["number", "missing"]


def test_restated_texts_may_change_places_but_lose_no_number() -> None:
    changes = read_changes('[[restated]]\npath = "*/lines/*"\nwhy = "another layout"')
    base = side(lines=["Table 3. Agreement", "joy 0.50", "0.31 – 0.69, 12 items"])
    now = side(lines=["joy", "0.50 (0.31 to 0.69)", "12 items", "Table 1. Agreement of 2 labels"])
    assert differences(base, now, changes) == []
    assert unneeded(changes) == []
    now = side(lines=["joy", "0.50 (0.31 to 0.68)", "12 items", "Table 1. Agreement of 2 labels"])
    assert [one.kind for one in differences(base, now, changes)] == ["text", "text", "text", "new"]
    now = side(lines=["joy 0.496 (0.31 to 0.69)", "12 items"])
    assert differences(base, now, changes) == []
    now = side(lines=["joy 0.51 (0.31 to 0.69)", "12 items, 0.4"])
    assert len(differences(base, now, changes)) == 3
    now = side(lines=["joy", 0.5, "0.31 to 0.69", "12 items"])
    assert "text file.case/lines/1" in [
        f"{one.kind} {one.path}" for one in differences(base, now, changes)
    ]


def test_a_line_that_nothing_needs_is_found() -> None:
    changes = read_changes('[[changed]]\npath = "other.*"\nwhy = "it was so once"')
    assert differences(side(), side(), changes) == []
    assert [change.path for change in unneeded(changes)] == ["other.*"]


@pytest.mark.parametrize(
    "text",
    [
        '[[changed]]\npath = "a"',
        '[[changed]]\npath = "a"\nwhy = " "',
        '[[reworded]]\npath = "a"\nwhy = "b"\nwithin = 0.1',
        '[[other]]\npath = "a"\nwhy = "b"',
    ],
)
def test_changes_without_a_reason_or_with_another_key_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"changes\.toml"):
        read_changes(text)


def test_rows_are_named_by_the_columns_that_tell_them_apart() -> None:
    frame = pl.DataFrame({"label": ["joy", "joy", "awe"], "rater": ["a", "b", "a"], "x": [1, 2, 3]})
    assert leaves(frame)["joy | b/x"] == 2
    assert leaves(frame)["#rows"] == 3
    # In another order, and without one of them, the others are where they were.
    assert leaves(frame.reverse())["joy | b/x"] == 2
    assert rows(frame, "rater", "label")["b | joy"] == {"x": 2}
    assert leaves(frame.to_dicts()) == {k: v for k, v in leaves(frame).items() if k != "#rows"}


def test_long_tables_and_arrays_are_summed_up() -> None:
    numbers = np.arange(1000.0)
    exchanged = numbers.copy()
    exchanged[[3, 7]] = exchanged[[7, 3]]
    told, other = leaves(numbers), leaves(exchanged)
    assert len(told) < 10
    assert abs(told["#weighted"] - other["#weighted"]) > CLOSED  # type: ignore[operator]
    names = pl.DataFrame({"name": [f"s{k}" for k in range(1000)], "value": numbers})
    assert leaves(names) != leaves(names.with_columns(name=pl.col("name").reverse()))


def test_what_a_result_says_is_taken_from_its_public_parts() -> None:
    told = leaves(krippendorff_alpha([[1, 2, 3], [1, 2, 2]], level="nominal"))
    assert told["status"] == "ok"
    assert told["n_raters"] == 2

    @dataclass
    class Inside:
        x: int

    @dataclass
    class Found:
        inside: Inside
        share: float

        def sentences(self) -> list[str]:
            return ["It is so."]

    assert leaves(Found(Inside(1), math.nan)) == {"share": "nan", "sentences/0": "It is so."}
    assert "inside/x" in leaves(Found(Inside(1), 0.5), public={"Inside"})
    with pytest.raises(TypeError, match="nothing public is known"):
        leaves(object())


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """An empty repository with a file of cases, and a function that commits a version of it."""

    def git(*words: str) -> None:
        settled = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", *settled, *words], cwd=tmp_path, check=True, capture_output=True)

    def commit(text: str) -> None:
        (tmp_path / "cases" / "one.py").write_text(text)
        git("add", ".")
        git("commit", "-m", "a version")

    try:
        git("init")
    except FileNotFoundError:
        pytest.skip("git is not installed")
    (tmp_path / "cases").mkdir()
    monkeypatch.setattr(compare, "ROOT", tmp_path)
    monkeypatch.setattr(compare, "CASES", tmp_path / "cases")
    return commit


def test_the_base_runs_the_last_version_that_was_spelled_for_it(
    repository: Callable[[str], None], tmp_path: Path
) -> None:
    def spelled(name: str) -> str:
        return (compare.base_cases("0" * 40, tmp_path / name) / "one.py").read_text()

    repository(f"{compare.SPELLING}\nfirst = 1\n")
    repository(f"{compare.SPELLING}\nmended = 1\n")
    (tmp_path / "cases" / "one.py").write_text(f"{compare.SPELLING}\nnot_committed = 1\n")
    assert "not_committed" in spelled("a")
    repository("respelled = 1\n")
    repository("respelled = 2\n")
    assert "mended" in spelled("b")


def test_cases_that_were_never_spelled_for_the_base_are_refused(
    repository: Callable[[str], None], tmp_path: Path
) -> None:
    repository("respelled = 1\n")
    with pytest.raises(Unavailable, match=r"no committed version of cases/one\.py"):
        compare.base_cases("0" * 40, tmp_path / "out")
