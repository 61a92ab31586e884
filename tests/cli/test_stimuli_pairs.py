"""``affectlab stimuli pairs``: from frames to the table of a study that can be served."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from affectlab.cli import main
from affectlab.simulate import draw_face
from affectlab.stimuli import FIVE_FRAMES

STUDY = """
[study]
name = "pairs"
title = "How different are these faces?"
[protocol]
name = "difference"
[stimuli]
table = "pairs.csv"
[sessions]
trials = 10
raters = 2
"""


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(one) for one in arguments])
    return int(left.value.code or 0)


@pytest.fixture
def frames(tmp_path: Path) -> Path:
    """Draw the transitions of two people and two expressions."""
    rows = []
    for actor in (1, 2):
        for expression in ("joy", "fear"):
            for place, role in enumerate(FIVE_FRAMES, start=1):
                file = f"{actor}-{expression}-{role}.png"
                draw_face(expression, 1 - (place - 1) / 4, actor, size=64).save(tmp_path / file)
                rows.append(
                    {"actor": f"a{actor}", "expression": expression, "place": place, "file": file}
                )
    table = tmp_path / "frames.csv"
    pl.DataFrame(rows).write_csv(table)
    return table


def test_pairs_feed_a_study(
    frames: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sqlalchemy")
    out = tmp_path / "pairs.csv"
    assert run("stimuli", "pairs", frames, "--out", out, "--copies", 2, "--per-batch", 30) == 0
    said = capsys.readouterr().out
    assert "intra-expression pairs                 40" in said
    assert "inter-expression pairs                 18" in said
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    assert run("study", "check", tmp_path / "study.toml") == 0
    assert "stimuli          58" in capsys.readouterr().out


def test_json(frames: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("stimuli", "pairs", frames, "--out", tmp_path / "pairs.csv", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "affectlab/stimuli-pairs/1"
    assert found["result"]["n_pairs"] == 49
    assert found["result"]["expression_pairs_per_actor"] in ({"a1": 1, "a2": 0}, {"a1": 0, "a2": 1})


def test_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "frames.csv").write_text("actor,expression\nann,joy\n", encoding="utf-8")
    assert run("stimuli", "pairs", tmp_path / "frames.csv", "--out", tmp_path / "p.csv") == 2
    said = capsys.readouterr().err
    assert "frames.csv: column 'place' is missing; expected actor, expression, place" in said
    assert not (tmp_path / "p.csv").exists()


def test_whole_batches_and_known_pairs_feed_a_study(
    frames: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sqlalchemy")
    known = ["stimulus,file_a,file_b,value"]
    known += [
        f"known-{k},1-joy-peak.png,1-joy-{role}.png,{20 * k}" for k, role in enumerate(FIVE_FRAMES)
    ]
    (tmp_path / "known.csv").write_text("\n".join(known), encoding="utf-8")
    out = tmp_path / "pairs.csv"
    options = ("--known", tmp_path / "known.csv", "--out", out, "--per-batch", 25)
    assert run("stimuli", "pairs", frames, *options) == 0
    assert "pairs with a known difference          5, in no batch" in capsys.readouterr().out
    text = STUDY.replace("trials = 10", 'batch = "batch"').replace(
        '"pairs.csv"', '"pairs.csv"\ngolden = "known.csv"'
    )
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    assert run("study", "check", tmp_path / "study.toml", "--json") == 0
    found = json.loads(capsys.readouterr().out)["result"]
    assert (found["stimuli"], found["batches"], found["sessions"]) == (49, 2, 4)
    assert found["batch_sizes"] == [20, 29]
    assert run("stimuli", "pairs", frames, "--known", tmp_path / "none.csv", "--out", out) == 2
    assert "there is no such file" in capsys.readouterr().err
