"""``affectlab analyze reactions``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import Done, run_here

from affectlab.ratings import read_ratings


def run(*arguments: object, code: int = 0) -> Done:
    return run_here("analyze", "reactions", *arguments, code=code)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file in the published form: two pairs, three people each."""

    def entry(pair: str, emotions: list[str], reasons: list[str]) -> list[object]:
        return [f"{pair}.jpg", f"Storm hits coast {pair}", emotions, reasons, {"age": "30-40"}]

    lost = "Many homes are lost in the storm tonight"
    content = {
        "1": [
            entry("1", ["sad", "hopeful"], [lost, "They will help each other out"]),
            entry("1", ["Saddness"], ["They lost homes in the storm"]),
            entry("1", ["excitied"], ["Mail me at jane@example.org about the waves"]),
        ],
        "2": [
            entry("2", ["inspired"], ["The firemen were so very brave"]),
            entry("2", ["inspiring", "sad"], ["Brave firemen helped", lost]),
            entry("2", ["a bit zorpy"], ["As an AI, I cannot view it"]),
        ],
    }
    path = tmp_path_factory.mktemp("reactions") / "reactions.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_what_is_printed(file: Path) -> None:
    said = " ".join(run(file).stdout.split())
    assert "8 reactions of 6 people to 2 pairs of image and caption" in said
    assert "Without a label, most frequent first: zorpy." in said
    assert "more alike than two unrelated ones in 100 % of comparisons" in said
    assert "2 of 7 reasons of five words and more are nearly the same" in said
    assert "1 reasons hold a phrase that is typical of machines" in said


def test_json_and_tables(file: Path, tmp_path: Path) -> None:
    to = tmp_path / "tables"
    content = json.loads(run(file, "--json", "--scrub", "--to", to, "--labels", "ekman").stdout)
    assert content["schema"] == "affectlab/analyze-reactions/1"
    found = content["result"]
    counts = [found[key] for key in ("n_reactions", "n_pairs", "n_raters", "n_emotions")]
    assert counts == [8, 2, 6, 5]
    assert found["taxonomy"] == "ekman"
    assert {row["raw"]: row["word"] for row in found["corrections"]}["excitied"] == "excited"
    assert {row["kind"] for row in found["removed"] if row["n_found"]} == {"e-mail"}
    names = {path.name for path in to.iterdir()}
    assert {"words.csv", "pairs.csv", "bonus.csv", "removed.csv", "reactions.parquet"} <= names
    clean = read_ratings(to / "reactions.parquet").frame["text"].to_list()
    assert "Mail me at [EMAIL] about the waves" in clean
    assert clean.count("[EMAIL]") == 0
    assert len(clean) == 8


def test_clear_errors(file: Path, tmp_path: Path) -> None:
    table = tmp_path / "numbers.csv"
    table.write_text("stimulus,rater,value\na,r,1\na,s,0\n", encoding="utf-8")
    assert "no emotion words" in run(table, code=2).stderr
    assert "is a file; expected a folder" in run(file, "--to", table, code=2).stderr
