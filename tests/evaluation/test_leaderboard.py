"""Leaderboards: ranks, people, data sets apart, and what is said about them."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate, Estimates
from affectlab.evaluation import ResultFile, human_results, leaderboard, write_result
from affectlab.evaluation.rankings import Coverage, DataSet, against_people, possible_ranks

DATA = DataSet(name="demo", fingerprint="sha256:" + 64 * "0", n_stimuli=10, n_raters=4)
OTHER = DATA.model_copy(update={"fingerprint": "sha256:" + 64 * "1"})


def put(folder, name, value, half=0.05, data=DATA, metric="kappa", file=None, **fields):
    found = Estimate(value, "kappa", low=value - half, high=value + half, n_items=10)
    result = ResultFile.from_estimates(name, {metric: found}, data=data, **fields)
    return write_result(result, folder / file if file else folder)


@pytest.fixture
def folder(tmp_path):
    for name, value in (("a", 0.8), ("b", 0.6), ("c", 0.58), ("d", 0.2)):
        put(tmp_path, name, value)
    people = Estimates.build({"rater": list("xyz")}, value=[0.7, 0.6, 0.5], statistic="kappa")
    for row in human_results({"kappa": people}, data=DATA, ceiling={"kappa": Estimate(0.9)}):
        write_result(row, tmp_path)
    return tmp_path


# -- ranks --------------------------------------------------------------------------------------


def plain_ranks(low, high):
    """Compare every pair."""
    best = [1 + sum(low[j] > high[i] for j in range(len(low))) for i in range(len(low))]
    worst = [len(low) - sum(low[i] > high[j] for j in range(len(low))) for i in range(len(low))]
    return best, worst


intervals = st.lists(
    st.tuples(st.floats(-10, 10), st.floats(0, 3), st.floats(0, 3)), min_size=1, max_size=12
)


@given(intervals, st.booleans())
def test_ranks_equal_comparing_every_pair(parts, higher):
    value = np.array([part[0] for part in parts])
    low, high = value - [part[1] for part in parts], value + [part[2] for part in parts]
    best, worst = possible_ranks(value, low, high, higher_is_better=higher)
    expected = plain_ranks(low, high) if higher else plain_ranks(-high, -low)
    assert (best.tolist(), worst.tolist()) == expected
    order = np.argsort(np.argsort(-value if higher else value, kind="stable"), kind="stable") + 1
    assert (best <= order).all()
    assert (order <= worst).all()


def test_ranks_without_intervals_and_without_values():
    nothing = [np.nan] * 4
    best, worst = possible_ranks([3, 1, 3, np.nan], nothing, nothing)
    assert best.tolist() == [1, 3, 1, 0]
    assert worst.tolist() == [2, 3, 2, 0]


@pytest.mark.parametrize(
    ("value", "low", "high", "higher", "said"),
    [
        (0.5, 0.45, 0.55, True, "within"),
        (0.7, 0.65, 0.75, True, "above"),
        (0.2, 0.1, 0.3, True, "below"),
        (0.6, 0.5, 0.7, True, "upper edge"),
        (0.4, 0.3, 0.5, True, "lower edge"),
        (0.5, 0.3, 0.7, True, "wider"),
        (0.2, 0.1, 0.3, False, "above"),
        (0.7, 0.65, 0.75, False, "below"),
        (0.6, np.nan, np.nan, True, "within"),
        (np.nan, np.nan, np.nan, True, ""),
    ],
)
def test_against_people(value, low, high, higher, said):
    assert against_people(value, low, high, [0.4, 0.6, np.nan], higher_is_better=higher) == said


def test_against_nobody():
    assert against_people(0.5, 0.4, 0.6, []) == ""


# -- tables -------------------------------------------------------------------------------------


def test_rows_ranks_and_people(folder):
    (board,) = leaderboard(folder).boards
    column = board.columns["kappa"]
    rows = [
        (entry.result.name, cell.rank_text, cell.against)
        for entry, cell in zip(board.entries, column, strict=True)
    ]
    assert rows == [
        ("ceiling", "", ""),
        ("a", "1", "above"),
        ("best person", "", ""),
        ("b", "2–3", "within"),
        ("median person", "", ""),
        ("c", "2–3", "within"),
        ("worst person", "", ""),
        ("d", "4", "below"),
    ]
    assert board.human_range("kappa") == (0.5, 0.7)
    assert board.people("kappa") == {"ceiling": 0.9, "best": 0.7, "median": 0.6, "worst": 0.5}


def test_lower_is_better(tmp_path):
    for name, value in (("a", 2.0), ("b", 1.0)):
        put(tmp_path, name, value, metric="error", lower_is_better=["error"])
    (board,) = leaderboard(tmp_path).boards
    assert [entry.result.name for entry in board.entries] == ["b", "a"]
    assert [cell.rank_text for cell in board.columns["error"]] == ["1", "2"]


def test_frame_and_dictionary(folder):
    found = leaderboard(folder)
    frame = found.to_frame()
    assert frame.height == 8
    assert frame.filter(name="b").row(0, named=True)["rank_worst"] == 3
    assert frame.filter(name="best person").row(0, named=True)["rank_best"] is None
    content = found.to_dict()
    json.dumps(content)
    assert content["settings"]["boards"][0]["sort"] == "kappa"
    assert [row["name"] for row in content["board_1"]][:2] == ["ceiling", "a"]
    assert repr(found) == f"Leaderboard({found.sentences[0]})"


def test_data_sets_stay_apart(folder):
    put(folder, "e", 0.9, data=OTHER)
    found = leaderboard(folder)
    assert len(found.boards) == 2
    assert "2 data sets, which cannot be compared" in found.notes[0]
    assert "data sets of one name differ" in found.notes[1]
    assert any("no row of people" in said for said in found.notes)


def test_a_model_that_stands_twice_is_named(folder):
    put(folder, "a", 0.4, file="again.json")
    found = leaderboard(folder)
    assert "data set 'demo': 'a' stands 2 times, in a.json and again.json" in found.notes
    put(folder, "a", 0.4, prompt="few-shot")
    assert sum("stands" in said for said in leaderboard(folder).notes) == 1


def test_what_makes_rows_hard_to_compare_is_said(folder):
    part = Coverage(n_answered=4, n_stimuli=10)
    put(folder, "e", 0.3, coverage=part)
    other = Estimate(0.3, "another kappa", low=0.2, high=0.4)
    result = ResultFile.from_estimates("f", {"kappa": other}, data=DATA, confidence=0.9)
    write_result(result, folder)
    said = leaderboard(folder).notes
    assert any("'e' answered only part" in text for text in said)
    assert any("'kappa' was computed in different ways" in text for text in said)
    assert any("different confidence: 90 % and 95 %" in text for text in said)


def test_a_model_that_was_trained_on_the_data_is_named_first(tmp_path):
    data = DataSet(name="demo", fingerprint="sha256:" + 64 * "0", n_stimuli=9, n_raters=3)
    for name, n_seen in (("net", 4), ("vlm", 0), ("bot", None)):
        found = {"kappa": Estimate(0.5)}
        write_result(ResultFile.from_estimates(name, found, data=data, n_seen=n_seen), tmp_path)
    (first, *rest) = leaderboard(tmp_path).notes
    assert "'net' was trained on stimuli of this data set" in first
    assert not any("trained on" in note for note in rest)


def test_one_data_set_described_in_two_ways(folder):
    put(folder, "e", 0.3, data=DATA.model_copy(update={"name": "trial", "n_raters": 5}))
    found = leaderboard(folder)
    assert len(found.boards) == 1
    assert any("describe them differently" in said and "'trial'" in said for said in found.notes)


def test_sort_and_label(tmp_path):
    per_label = Estimates.build({"label": ["joy"]}, value=[0.9])
    both = {"kappa": [Estimate(0.1), per_label], "acc": Estimate(0.8)}
    write_result(ResultFile.from_estimates("a", both, data=DATA), tmp_path)
    put(tmp_path, "b", 0.5)
    assert [e.result.name for e in leaderboard(tmp_path).boards[0].entries] == ["b", "a"]
    by_acc = leaderboard(tmp_path, sort="acc").boards[0]
    assert [e.result.name for e in by_acc.entries] == ["a", "b"]
    assert np.isnan(by_acc.columns["acc"][1].value)
    joy = leaderboard(tmp_path, label="joy")
    assert [e.result.name for e in joy.boards[0].entries] == ["a"]
    assert any("1 file has no result on label 'joy'" in said for said in joy.notes)
    with pytest.raises(InputError, match="unknown label 'joi'; did you mean 'joy'"):
        leaderboard(tmp_path, label="joi")
    with pytest.raises(InputError, match="unknown metric 'kapa'; did you mean 'kappa'"):
        leaderboard(tmp_path, sort="kapa")


def test_files_that_cannot_be_used(folder):
    (folder / "broken.json").write_text("{", encoding="utf-8")
    (folder / "notes.txt").write_text("not looked at", encoding="utf-8")
    (folder / "inner.d").mkdir()
    with pytest.raises(InputError, match=r"broken\.json, line 1: not valid JSON"):
        leaderboard(folder)
    found = leaderboard(folder, on_bad="set_aside")
    assert len(found.boards[0].entries) == 8
    assert any("left out: " in said and "broken.json" in said for said in found.notes)
    with pytest.raises(InputError, match="on_bad"):
        leaderboard(folder, on_bad="skip")  # type: ignore[arg-type]


def test_folders_without_results(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        leaderboard(tmp_path / "none")
    with pytest.raises(InputError, match="holds no result file"):
        leaderboard(tmp_path)
    (tmp_path / "x.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="is a file"):
        leaderboard(tmp_path / "x.json")
    with pytest.raises(InputError, match="that can be used"):
        leaderboard(tmp_path, on_bad="set_aside")


def test_two_files_disagree_on_what_is_better(folder):
    put(folder, "e", 0.3, lower_is_better=["kappa"])
    with pytest.raises(InputError, match=r"higher is better in .*json and worse in e\.json"):
        leaderboard(folder)


def test_shown_for_people(folder):
    from rich.console import Console

    put(folder, "\x1b[31mred\u202e" + "long " * 30, 0.3, prompt="zero-shot")
    console = Console(width=100, file=io.StringIO())
    console.print(leaderboard(folder))
    text = console.file.getvalue()
    assert "2–3" in text
    assert "\u202e" not in text
    assert "\x1b[31mred" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 100
