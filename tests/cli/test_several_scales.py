"""A questionnaire on several scales goes through the commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here
from tests.ratings.test_scales import SCALES, TEXT, long, survey

from affectlab.ratings import read_ratings
from affectlab.reliability import pairwise_kappa


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "long.csv"
    long(survey(12, 20)).write_csv(path)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.csv"
    survey(1, 20).drop("rater", "comment").write_csv(path)
    return path


def test_long_and_wide_files_are_read_alike(file: Path, tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    survey(12, 20).write_csv(wide)
    shown = []
    for arguments in ([file], [wide, "--wide", "labels"]):
        found = run_here("ratings", "describe", *arguments, "--scale", TEXT, "--json")
        shown.append(json.loads(found.stdout)["result"]["summary"])
    assert list(shown[0]["scales"]) == list(SCALES)
    assert shown[0]["scales"] == shown[1]["scales"]
    assert shown[0]["n_ratings"] == shown[1]["n_ratings"]
    table = run_here("ratings", "describe", file, "--scale", TEXT).stdout
    assert re.search(r"scale +ordinal 1 to 9, step 1 \(arousal\)", table)


def test_agreement_goes_label_by_label(file: Path) -> None:
    found = run_here(
        "reliability", "agreement", file, "--scale", TEXT, "--n-boot", "20", "--more", "--json"
    )
    content = json.loads(found.stdout)
    levels = {row["label"]: row["method"] for row in content["result"]["krippendorff_alpha"]}
    assert list(levels) == ["plausibility", "category", "arousal"]
    assert ["nominal" in method for method in levels.values()] == [False, True, False]
    fleiss = {row["label"] for row in content["result"]["fleiss_kappa"]}
    assert fleiss == {"plausibility", "category", "arousal"}
    assert "texts are left out: comment" in content["result"]["notes"]


def test_kappas_with_and_without_weights_have_no_common_mean(file: Path) -> None:
    arguments = ("reliability", "agreement", file, "--scale", TEXT, "--n-boot", "20")
    rows = json.loads(run_here(*arguments, "--json").stdout)["result"]["kappa"]
    assert [row["weights"] for row in rows] == ["quadratic weights", "unweighted"]
    ratings = read_ratings(file, scale=TEXT)
    for row, labels in zip(rows, (["plausibility", "arousal"], ["category"]), strict=True):
        kappas = pairwise_kappa(ratings.select(labels=labels)).to_frame()["value"].drop_nans()
        assert row["mean"] == pytest.approx(kappas.mean())
    printed = run_here(*arguments).stdout.split("Kappa by kind of pair")[1]
    assert re.search(r"human-human +unweighted +\S", printed)
    assert not re.search(r" -\d", printed)


def test_pooling_asks_for_labels_on_one_scale(file: Path, model: Path) -> None:
    arguments = ("evaluate", "alignment", file, "--scale", TEXT, "--models", model)
    found = run_here(*arguments, code=2)
    assert "the labels are on different scales (plausibility:" in found.stderr
    assert "--keep-labels" in found.stderr
    chosen = run_here(*arguments, "--keep-labels", "arousal", "--json")
    assert json.loads(chosen.stdout)["result"]


def test_a_report_says_which_labels_it_is_about(file: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    run_here("report", file, "--scale", TEXT, "--models", model, "--out", out, "--n-boot", "20")
    page = (out / "report.html").read_text(encoding="utf-8")
    said = re.search(
        r"on plausibility \(ordinal 1 to 7, step 1\), and (\d+) more on category, arousal and", page
    )
    assert said is not None
    others = read_ratings(file, scale=TEXT).select(labels=["category", "arousal", "comment"])
    assert int(said[1]) == others.n_ratings
    assert "Page one is about all but texts." in page
    assert "The sections below it compare labels on one scale and are about plausibility" in page
    assert "no answer has a text" not in page
    others = pl.read_csv(out / "tables" / "other_scales.csv")
    assert others["label"].to_list() == ["category", "arousal", "comment"]
    assert others["alpha"].is_not_null().to_list() == [True, True, False]
