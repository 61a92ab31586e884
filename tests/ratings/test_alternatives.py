"""Readings that the shape of a table suggests are tried, and given as commands to be pasted."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.ratings import GuessedColumnsWarning, describe_ratings, read_ratings
from affectlab.ratings.formats.table import Evidence, meant, odd_words

CROSSED = [(f"a{k}", f"b{n}", 1 + (3 * k + 2 * n) % 7) for k, n in product(range(4), range(5))]


def crossed(folder: Path, first: str, second: str) -> Path:
    """Write a table of two columns of names that cross, and one of numbers."""
    file = folder / "r.csv"
    rows = (f"{one},{other},{value}\n" for one, other, value in CROSSED)
    file.write_text(f"{first},{second},points\n" + "".join(rows))
    return file


def refusal(source: object, **options: object) -> InputError:
    with pytest.raises(InputError) as refused:
        read_ratings(source, **options)  # type: ignore[arg-type]
    return refused.value


def test_both_are_given_where_nothing_decides_who_rated(tmp_path: Path) -> None:
    head, *lines = refusal(crossed(tmp_path, "k1", "k2")).ways
    assert "nothing in the file decides" in head
    assert lines[::2] == [
        "  5 stimuli x 4 raters, answers 1 to 7:",
        "  4 stimuli x 5 raters, answers 1 to 7:",
    ]
    assert "columns={'stimulus': 'k2', 'rater': 'k1', 'value': 'points'}" in lines[1]


@pytest.mark.parametrize(
    ("first", "second", "rater"),
    [
        ("VPN", "Bild", "VPN"),
        ("woord", "ppn", "ppn"),
        ("code", "film", "code"),
        ("图片", "被试", "被试"),
    ],
)
def test_one_known_name_in_any_language_decides(
    tmp_path: Path, first: str, second: str, rater: str
) -> None:
    with pytest.warns(GuessedColumnsWarning, match=f"rater': '{rater}'"):
        ratings = read_ratings(crossed(tmp_path, first, second))
    assert set(ratings.rater_names) == {one[first != rater] for one in CROSSED}


def test_the_command_stands_on_a_line_of_its_own_and_runs(tmp_path: Path) -> None:
    file = crossed(tmp_path, "k1", "k2")
    said = run_here("reliability", "agreement", file, code=2).stderr.splitlines()
    command = f"affectlab report {file} --columns stimulus=k2,rater=k1,value=points"
    assert said[2:4] == ["  5 stimuli x 4 raters, answers 1 to 7:", f"    {command}"]
    assert command in run_here("ratings", "describe", file, code=2, width=40).stdout
    assert "20 answers" in run_here("ratings", "describe", file, *command.split()[3:]).stdout


def test_what_the_user_says_is_kept_and_not_contradicted(tmp_path: Path) -> None:
    file = crossed(tmp_path, "k1", "k2")
    ways = refusal(file, columns={"rater": "k2"}, scale="1-7").ways
    assert len(ways) == 3
    assert "scale='1-7', columns={'rater': 'k2', 'stimulus': 'k1', 'value': 'points'}" in ways[2]
    assert not refusal(file, raters=pl.DataFrame({"rater": ["a0"], "age": [30]})).ways


def test_of_a_table_in_memory_the_options_are_given() -> None:
    frame = pl.DataFrame(CROSSED, schema=["k1", "k2", "points"], orient="row")
    ways = refusal(frame).ways
    assert ways[2].strip() == "columns={'stimulus': 'k2', 'rater': 'k1', 'value': 'points'}"


def test_a_description_ends_with_the_command_to_go_on_with(tmp_path: Path) -> None:
    file = crossed(tmp_path, "rater", "image")
    file.write_text(file.read_text().replace("points", "rating"))
    described = describe_ratings(file)
    assert described.commands == ("To go on:", f"  read_ratings({str(file)!r})")
    assert not described.to_frame("readings").height


def test_scores_of_one_model_are_those_of_one_rater(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    rows = [f"n{k},{k % 5},{(2 * k) % 7},{(3 * k) % 5},{(k * k) % 7}\n" for k in range(12)]
    file.write_text("file,anger,fear,joy,sadness\n" + "".join(rows))
    head, _, command = refusal(file).ways
    assert head == "This reads the file:"
    assert "rater='one'" in command


def test_evidence_of_columns() -> None:
    columns = {
        "who": pl.Series([*"aabbcc"]),
        "age": pl.Series([20, 20, 31, 31, 45, 45]),
        "what": pl.Series(["x.png", "y.png"] * 3),
        "n": pl.Series(range(6)),
        "joy": pl.Series(["1", "2", "NA", "2", "3", "1"]),
    }
    evidence = Evidence(columns)
    assert evidence.keys == ("who", "what")
    assert evidence.names_rows("who", "what")
    assert evidence.coverage("who", "what") == 1
    assert evidence.twins("who", "age")
    assert evidence.determines("n", "who")
    assert not evidence.determines("who", "n")
    assert evidence.answers_in_numbers("who", "what") == ["joy"]
    assert evidence.column("what").kind == "files"
    assert evidence.column("n").runs
    assert evidence.column("joy").filled == 5


def test_words_in_names_and_cells() -> None:
    assert meant("ASSIGNMENT:worker_id") == {"rater"}
    assert meant("参与者编号") == {"rater"}
    assert odd_words(pl.Series(["1", "k.A.", "2", "3", "5"])) == ["k.A."]
    assert not odd_words(pl.Series(["1", "3-4", "2", "3", "5"]))
