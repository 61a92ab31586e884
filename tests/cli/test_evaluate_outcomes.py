"""``affectlab evaluate outcomes``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.command import Done, run_here

from affectlab.ratings import Ratings


def run(*arguments: str | Path, code: int = 0) -> Done:
    return run_here("evaluate", "outcomes", *arguments, code=code)


def check(*arguments: str | Path) -> str:
    """Run the checks of controls, and give what is printed in one line."""
    done = run_here("evaluate", "controls", *arguments)
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "No rater is human" not in done.stderr
    return " ".join(done.stdout.replace("\xa0", " ").split())


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three people, a model under two prompts, and its run without the image."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 8, (60, 2)).astype(float)
    names = ["anna", "ben", "cleo", "net-zs", "net-ms", "net-blind"]
    parts = []
    for name in names:
        outcome = np.array(["ok"] * 60, dtype=object)
        values = np.clip(truth + rng.integers(-1, 2, truth.shape), 0, 7)
        if name == "net-zs":
            outcome[:12] = "refused"
            outcome[12:15] = "truncated"
        if name == "net-blind":
            values[:] = [3, 4]
        values[outcome != "ok"] = np.nan
        parts.append(
            pl.DataFrame(
                {
                    "stimulus": np.repeat([f"s{k:02d}" for k in range(60)], 2),
                    "rater": [name] * 120,
                    "label": ["joy", "fear"] * 60,
                    "value": values.ravel(),
                    "outcome": np.repeat(outcome, 2).tolist(),
                }
            )
        )
    raters = {
        "rater": names,
        "rater_kind": ["human"] * 3 + ["model"] * 3,
        "model": [None] * 3 + ["net"] * 3,
        "prompt": [None] * 3 + ["zero-shot", "multi-shot", "zero-shot"],
        "control": [None] * 5 + ["no_image"],
        "of": [None] * 5 + ["net-zs"],
    }
    table = pl.concat(parts).with_columns(pl.col("value").fill_nan(None))
    path = tmp_path_factory.mktemp("data") / "answers.csv"
    return Ratings(table, scale="0-7", raters=raters).write(path)


def test_tables_and_sentences(file: Path) -> None:
    assert "net-zs     zero-shot      60   75.0" in run(file).stdout
    flat = check(file, "--n-boot", "100")
    assert "net-zs gave the same answer vector to" in flat
    assert "without the image it keeps" in flat


def test_json(file: Path) -> None:
    content: dict[str, Any] = json.loads(run(file, "--by", "model,prompt", "--json").stdout)
    assert content["schema"] == "affectlab/evaluate-outcomes/1"
    found = content["result"]
    assert found["settings"]["by"] == ["model", "prompt"]
    refused = [
        row["count"]
        for row in found["outcomes"]
        if row["outcome"] == "refused" and row["prompt"] == "zero-shot"
    ]
    assert refused == [12]
    done = run_here("evaluate", "controls", file, "--n-boot", "50", "--json")
    repeated = json.loads(done.stdout)["result"]["duplicates"]
    assert {row["rater"] for row in repeated} == {"net-zs", "net-ms"}


def test_figure_and_csv(file: Path, tmp_path: Path) -> None:
    table = tmp_path / "outcomes.csv"
    run(file, "--figures", tmp_path / "figures", "--out", table)
    assert (tmp_path / "figures" / "outcomes.png").read_bytes().startswith(b"\x89PNG")
    assert "net-zs, zero-shot: 75.0\u00a0% usable" in (
        tmp_path / "figures" / "outcomes.svg"
    ).read_text(encoding="utf-8")
    assert pl.read_csv(table)["count"].sum() == 180


def test_people_alone(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("stimulus,rater,value\na,r,1\nb,r,2\n", encoding="utf-8")
    done = run(file, "--scale", "0-7")
    assert "no column 'outcome'" in done.stdout


def test_models_in_files_of_their_own(tmp_path: Path) -> None:
    def write(name: str, header: str, row: str) -> Path:
        path = tmp_path / f"{name}.csv"
        rows = [row.format(k=k, v=k % 8) for k in range(20)]
        path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
        return path

    people = write("people", "stimulus,rater,value", "s{k},anna,{v}")
    net = write("net", "stimulus,value,outcome", "s{k},{v},ok")
    blind = write(
        "blind", "stimulus,value,outcome,rater_control,rater_of", "s{k},3,ok,no_image,net"
    )
    given = (people, "--scale", "0-7", "--models", net, "--models", blind)
    flat = " ".join(run(*given).stdout.replace("\xa0", " ").split())
    assert "net 20 100.0 %" in flat
    flat = check(*given, "--n-boot", "50")
    assert "without the image it keeps 0 % of its agreement with people" in flat


def test_nothing_but_failures(tmp_path: Path) -> None:
    file = tmp_path / "failed.csv"
    file.write_text(
        "stimulus,rater,value,outcome,rater_kind\na,m,,refused,model\nb,m,,empty,model\n",
        encoding="utf-8",
    )
    done = run(file, "--scale", "0-7")
    assert "0.0" in done.stdout
    assert "refused" in done.stdout


def test_unknown_column(file: Path) -> None:
    assert (
        "by: unknown column 'promt'; did you mean 'prompt'?"
        in run(file, "--by", "promt", code=2).stderr
    )
