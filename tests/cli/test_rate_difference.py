"""Metrics of pairs in ``affectlab rate``: what it says, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.command import run_here
from tests.models.differences.pictures import drawn, noise

from affectlab.models.differences import difference
from affectlab.ratings import read_ratings

ALL = "mse+mae+ssim+deep:faces"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs beside their pictures, and what five people said of them."""
    folder = tmp_path_factory.mktemp("study")
    pairs = drawn(folder)
    pairs.write_csv(folder / "pairs.csv")
    rng = np.random.default_rng(0)
    truth = [
        difference(folder / row["file_a"], folder / row["file_b"])
        for row in pairs.iter_rows(named=True)
    ]
    told = np.array(truth) / max(truth) * 80
    pl.concat(
        pairs.with_columns(
            rater=pl.lit(f"w{one}"),
            value=pl.Series(np.clip(told + rng.normal(0, 8, len(told)), 0, 100).round()),
        )
        for one in range(5)
    ).write_csv(folder / "people.csv")
    return folder


def test_from_pairs_to_metrics_beside_people(study: Path, tmp_path: Path) -> None:
    to = tmp_path / "metrics.parquet"
    done = run_here("rate", ALL, study / "pairs.csv", "--out", to)
    assert "4 metrics compared the two pictures of 10 pairs" in done.stdout
    assert "Median intra  Median inter" in done.stdout
    assert "next: affectlab evaluate difference RATINGS --models" in done.stdout
    assert max(map(len, done.stdout.splitlines()[:6])) <= 100
    assert done.stderr == ""
    found = read_ratings(to)
    assert found.rater_names == ("mse", "mae", "ssim", "deep:faces L1")
    assert found.stimuli["actor"].to_list() == ["p0"] * 5 + ["p1"] * 5
    beside = run_here(
        *("evaluate", "difference", study / "people.csv", "--models", to, "--by", "kind,actor"),
        *("--scale", "0-100 interval", "--n-boot", "50", "--json"),
    )
    result = json.loads(beside.stdout)["result"]
    assert result["settings"]["groups"] == [
        "all",
        "kind=inter",
        "kind=intra",
        "actor=p0",
        "actor=p1",
    ]
    rows = {(row["rater"], row["group"], row["metric"]): row for row in result["metrics"]}
    assert rows["ssim", "all", "srocc"]["value"] > 0.8
    one = rows["deep:faces L1", "all", "plcc"]
    assert one["low"] <= one["value"] <= one["high"]


def test_ratings_of_people_name_the_pairs(study: Path, tmp_path: Path) -> None:
    to = tmp_path / "metrics.csv"
    done = run_here(
        *("rate", "deep:hog,distance=cosine+mse,size=32,name=small", study / "people.csv"),
        *("--out", to, "--config", f"images={study}", "--config", f"cache={tmp_path / 'cache'}"),
    )
    assert "2 metrics" in done.stdout
    assert f"next: affectlab evaluate difference {study / 'people.csv'}" in done.stdout
    assert "--by kind,actor" in done.stdout
    assert set(read_ratings(to).rater_names) == {"deep:hog cosine", "small"}
    assert any((tmp_path / "cache").iterdir())


def test_json(study: Path, tmp_path: Path) -> None:
    to = tmp_path / "metrics.jsonl"
    arguments = ("rate", "ssim", study / "pairs.csv", "--out", to, "--json")
    done = run_here(*arguments)
    assert run_here(*arguments, "--seed", "3").stdout.count("ssim") == done.stdout.count("ssim")
    told = json.loads(done.stdout)
    assert told["schema"] == "affectlab/rate/1"
    result = told["result"]
    assert result["n_pairs"] == 10
    (metric,) = result["metrics"]
    assert metric["metric"] == "ssim"
    assert metric["direction"] == "higher is more different"
    assert (metric["n_pairs"], metric["n_without"]) == (10, 0)
    assert 0 < metric["lowest"] <= metric["median"] <= metric["highest"] < 2
    kinds = {row["kind"]: row["median"] for row in result["medians_by_kind"]}
    assert set(kinds) == {"intra", "inter"}


def test_pairs_that_cannot_be_compared(tmp_path: Path) -> None:
    noise(1).save(tmp_path / "a.png")
    noise(2).save(tmp_path / "b.png")
    noise(3, 60).save(tmp_path / "large.png")
    (tmp_path / "pairs.csv").write_text(
        "stimulus,file_a,file_b\nsame,a.png,a.png\nfar,a.png,b.png\nodd,a.png,large.png\n"
    )
    arguments = ("rate", "mse", tmp_path / "pairs.csv", "--out", tmp_path / "m.csv")
    refused = run_here(*arguments, code=2)
    assert "stimulus 'odd': the pictures have 40 x 36 and 60 x 36" in refused.stderr.replace(
        "\n", " "
    )
    assert not (tmp_path / "m.csv").exists()
    done = run_here(*arguments, "--config", "set_aside=true", "--quiet")
    assert "Without" in done.stdout
    assert "mse: 1 pair without a value" in done.stderr.replace("\n", " ")
    assert "Median intra" not in done.stdout
    frame = read_ratings(tmp_path / "m.csv").to_frame()
    assert dict(frame.select("stimulus", "value").iter_rows())["odd"] is None


def test_a_similarity_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise(1).save(tmp_path / "a.png")
    noise(2).save(tmp_path / "b.png")
    (tmp_path / "pairs.csv").write_text("stimulus,file_a,file_b\nfar,a.png,b.png\n")
    (tmp_path / "alike_metric.py").write_text(
        "def alike(a, b):\n    return 1.0\nalike.higher_is_more_different = False\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    done = run_here(
        *("rate", "mse+alike_metric:alike", tmp_path / "pairs.csv", "--out", tmp_path / "m.csv"),
    )
    assert "higher is more alike: alike" in done.stdout


@pytest.mark.parametrize(
    ("model", "more", "said"),
    [
        ("mse+sim", (), "unknown difference metric 'sim'; did you mean 'ssim'?"),
        ("lpips", (), "metric 'lpips' needs its weights: expected trunk=FILE"),
        ("blendshapes", (), "needs model=FILE: expected the .task file"),
        ("mse,size=3", (), "size = 3: expected a whole number of pixels from 16 on"),
        ("mse+mse", (), "two metrics are called 'mse'"),
        ("mse", ("--config", "images=nowhere"), "nowhere: there is no such folder"),
        ("mse", ("--set", "size=32"), "--set size: expected no such setting of a metric"),
        ("mse", ("--out", "metrics.txt"), "metrics.txt"),
    ],
)
def test_what_is_refused(
    study: Path, tmp_path: Path, model: str, more: tuple[str, ...], said: str
) -> None:
    arguments = ("rate", model, study / "pairs.csv", "--out", tmp_path / "m.csv")
    done = run_here(*arguments, *more, code=2)
    # Lines end where the terminal does, also within a path.
    assert said.replace(" ", "") in done.stderr.replace("\n", "").replace(" ", "")
    assert "Traceback" not in done.stderr
