"""``affectlab stimuli prompts``: what it prints is what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from affectlab.cli import main


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(one) for one in arguments])
    return int(left.value.code or 0)


def test_prompts_and_coverage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, coverage = tmp_path / "prompts.csv", tmp_path / "coverage.csv"
    assert run("stimuli", "prompts", 560, "--out", out, "--coverage", coverage, "--words", 2) == 0
    said = capsys.readouterr().out
    assert "label       40, 14 each" in said
    assert "gender      man 252, woman 252, non-binary person 56" in said
    assert "age         7, 80 each" in said
    table = pl.read_csv(out)
    assert table.height == 560
    assert table.filter(gender="man").height == 252
    crossed = pl.read_csv(coverage)
    assert crossed.shape == (40, 15)
    assert crossed.drop("label").to_numpy().tolist() == [[1] * 14] * 40


def test_neutral_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "neutral.csv"
    assert run("stimuli", "prompts", 100, "--neutral", "--out", out, "--json") == 0
    found = json.loads(capsys.readouterr().out)["result"]
    assert found["n_prompts"] == 100
    assert found["balance"][0] == {
        "attribute": "label",
        "value": "neutral",
        "n": 100,
        "share": 1.0,
        "wanted": 100,
    }


def test_weights_and_bad_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "prompts.csv"
    assert run("stimuli", "prompts", 30, "--labels", "Shame=2,Awe", "--out", out) == 0
    assert pl.read_csv(out).group_by("label").len().sort("label").rows() == [
        ("Awe", 10),
        ("Shame", 20),
    ]
    capsys.readouterr()
    assert run("stimuli", "prompts", 3, "--labels", "Shame=x", "--out", out) == 2
    assert "'x' is no weight of Shame" in capsys.readouterr().err
    assert run("stimuli", "prompts", 3, "--neutral", "--words", 2, "--out", out) == 2
    assert "leave out --labels and --words" in capsys.readouterr().err
    assert run("stimuli", "prompts", 3, "--plan", tmp_path / "none.toml", "--out", out) == 2
    assert "none.toml: no such file" in capsys.readouterr().err
