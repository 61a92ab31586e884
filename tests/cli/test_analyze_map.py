"""``affectlab analyze map``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.cli.command import Done, run_here

pytest.importorskip("plotly")


def run(*arguments: str | Path, code: int = 0) -> Done:
    return run_here("analyze", "map", *arguments, code=code)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = ["stimulus,rater,label,value,text"]
    for k in range(30):
        for label, own in (("joy", k % 3 == 0), ("fear", k % 3 == 1), ("awe", k % 2 == 0)):
            rows.append(f"s{k},r,{label},{int(own)},text number {k}")
    file = tmp_path_factory.mktemp("texts") / "texts.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def test_json_and_files(file: Path, tmp_path: Path) -> None:
    page, to, figures = tmp_path / "map.html", tmp_path / "places.csv", tmp_path / "figures"
    options = ("--scale", "binary", "--page", page, "--out", to, "--figures", figures, "--json")
    found = json.loads(run(file, *options).stdout)["result"]
    assert len(found["map"]) == 30
    assert "30 stimuli, 3 labels" in found["sentences"][0]
    assert "t-SNE" in found["sentences"][0]
    text = page.read_text(encoding="utf-8")
    assert "text number 29" in text
    assert len(to.read_text().splitlines()) == 1 + 30
    assert {path.suffix for path in figures.iterdir()} == {".png", ".svg"}


def test_features_pictures_and_a_draw(file: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "features.npy", np.random.default_rng(0).random((30, 5)))
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for k in range(30):
        Image.new("RGB", (60, 40), (8 * k, 90, 90)).save(pictures / f"s{k}.png")
    options = ("--scale", "binary", "--method", "pca", "--most", "10")
    options += ("--features", tmp_path / "features.npy", "--images", pictures)
    done = run(file, *options, "--page", tmp_path / "map.html")
    assert "10 stimuli, 3 labels, principal components" in done.stdout
    assert "random sample of 10 of 30 stimuli" in done.stdout.replace("\n", " ")
    assert (tmp_path / "map.html").read_text(encoding="utf-8").count("data:image/jpeg") == 10


def test_bad_options(file: Path, tmp_path: Path) -> None:
    options = ("--scale", "binary", "--method", "pca")
    assert "ends in .html" in run(file, *options, "--page", tmp_path / "m.txt", code=2).stderr
    np.save(tmp_path / "few.npy", np.eye(3))
    few = run(file, *options, "--features", tmp_path / "few.npy", code=2).stderr
    assert "features: expected shape (30, d), got (3, 3)" in few
    bad = run(file, *options, "--features", file, code=2).stderr
    assert "not an array of numbers in a .npy file" in bad
    assert bad.count("\n") == 1
