"""``affectlab stimuli captions``: from pairs and two models' ratings to the table of a study."""

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve pairs of two sources; the picture is said to be joyful, every third caption sad."""
    names = [f"p{k:02d}" for k in range(12)]
    pl.DataFrame(
        {
            "stimulus": names,
            "file": [f"{name}.jpg" for name in names],
            "text": [f"Caption {name}" for name in names],
            "source": ["one", "two"] * 6,
        }
    ).write_csv(tmp_path / "pairs.csv")
    for file, label in (
        ("image.csv", lambda k: "joy"),
        ("text.csv", lambda k: ("sadness", "joy")[k % 3 > 0]),
    ):
        rows = [
            (name, "model", one, float(one == label(k)))
            for k, name in enumerate(names)
            for one in ("joy", "sadness")
        ]
        pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row").write_csv(
            tmp_path / file
        )
    return tmp_path


def test_two_strata(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "captions.csv"
    models = ("--image-emotions", folder / "image.csv", "--text-emotions", folder / "text.csv")
    options = ("--random", 4, "--conflict", 2, "--out", out, *models, "--polarity-of", "ekman")
    assert run("stimuli", "captions", folder / "pairs.csv", *options, "--json") == 0
    found = json.loads(capsys.readouterr().out)["result"]
    assert found["n_pairs"] == 6
    assert found["counts"] == [
        {"stratum": "random", "source": "one", "n_available": 5, "n": 2},
        {"stratum": "random", "source": "two", "n_available": 5, "n": 2},
        {"stratum": "conflict", "source": "one", "n_available": 2, "n": 1},
        {"stratum": "conflict", "source": "two", "n_available": 2, "n": 1},
    ]
    written = pl.read_csv(out)
    assert written.columns[:5] == ["stimulus", "file", "text", "source", "stratum"]
    conflict = written.filter(stratum="conflict")
    assert set(conflict["stimulus"]) <= {"p00", "p03", "p06", "p09"}
    assert conflict["text_emotion"].to_list() == ["sadness"] * 2


def test_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("stimuli", "captions", folder / "none.csv") == 2
    assert "none.csv: there is no such file" in capsys.readouterr().err
    assert run("stimuli", "captions", folder / "pairs.csv", "--random", 2) == 2
    assert "needs predictions for pictures and for captions" in capsys.readouterr().err
    options = ("--random", 2, "--conflict", 0, "--random-from", "three")
    assert run("stimuli", "captions", folder / "pairs.csv", *options) == 2
    assert "random stratum: unknown source 'three'" in capsys.readouterr().err
