"""Small weights that packages of others bring: rated in one line, judged and reported."""

from __future__ import annotations

import base64
import importlib.util
import json
import math
import os
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here

from affectlab.ratings import read_ratings
from affectlab.simulate import face_specs, save_faces

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/raters"
FACE_API = Path(os.environ.get("FACE_API", "node_modules/@vladmandic/face-api"))
"""Where npm has put the package."""


@pytest.fixture(autouse=True)
def in_the_folder_of_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.syspath_prepend(EXAMPLES)


def needs(*packages: str) -> None:
    for name in packages:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")


def values(path: Path) -> dict[tuple[str, str], float]:
    rows = read_ratings(path).to_frame().select("stimulus", "label", "value").iter_rows()
    return {(stimulus, label): value for stimulus, label, value in rows}


def judge(people: Path, scale: str, model: Path, folder: Path) -> dict[str, float]:
    """Judge a model by the command line, and report on it."""
    given = (people, "--scale", scale, "--models", model)
    run_here("report", *given, "--out", folder)
    assert model.stem.encode() in (folder / "report.html").read_bytes()
    found = json.loads(run_here("evaluate", "alignment", *given, "--json").stdout)["result"]
    return found["models"][0]


def test_vader(tmp_path: Path) -> None:
    needs("vaderSentiment")
    package = importlib.util.find_spec("vaderSentiment")
    assert package is not None
    assert package.submodule_search_locations is not None
    lexicon = Path(package.submodule_search_locations[0]) / "vader_lexicon.txt"
    # Ten people have rated each word from -4 to 4.
    lines = (line.split("\t") for line in lexicon.read_text("utf-8").splitlines())
    words = [(word, json.loads(rated)) for word, _, _, rated in lines if word.isalpha()][::40]
    texts = pl.DataFrame({"stimulus": [word for word, _ in words]})
    texts.with_columns(text="stimulus").write_csv(tmp_path / "words.csv")
    rows = [
        (word, f"person {place}", "valence", value)
        for word, rated in words
        for place, value in enumerate(rated)
    ]
    people = tmp_path / "people.csv"
    pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row").write_csv(
        people
    )
    out = tmp_path / "vader.parquet"
    run_here("rate", "published_raters:vader", tmp_path / "words.csv", "--out", out)
    # Hutto and Gilbert's rule for a word alone: the mean of its ratings, brought between -1 and 1.
    means = {word: sum(rated) / len(rated) for word, rated in words}
    expected = {(word, "valence"): m / math.sqrt(m * m + 15) for word, m in means.items()}
    assert values(out) == pytest.approx(expected, abs=1e-4)
    found = judge(people, "-4-4 interval", out, tmp_path / "report")
    assert found["verdict"] == "above"
    assert found["agreement"] > found["people"] > 0.6
    # A sentence of the package's page, with what stands there.
    (tmp_path / "one.txt").write_text("VADER is smart, handsome, and funny.\n")
    run_here("rate", "published_raters:vader", tmp_path / "one.txt", "--out", tmp_path / "one.csv")
    assert list(values(tmp_path / "one.csv").values()) == [0.8316]


@pytest.fixture
def faces(tmp_path: Path) -> tuple[Path, Path]:
    """Drawn faces, and what two people say of them."""
    folder = tmp_path / "faces"
    specs = face_specs(2, ["joy", "anger", "fear"])
    save_faces(folder, specs, size=112)
    labels = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
    rows = [
        (path.stem, f"person {place}", label, 6 - place if label in path.stem else place)
        for path in sorted(folder.glob("*.png"))
        for place in range(2)
        for label in labels
    ]
    people = tmp_path / "people.csv"
    pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row").write_csv(
        people
    )
    return folder, people


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_fer(tmp_path: Path, faces: tuple[Path, Path]) -> None:
    needs("keras", "h5py", "fer")
    folder, people = faces
    out = tmp_path / "fer.parquet"
    run_here("rate", "published_raters:fer", folder, "--taxonomy", "ekman", "--out", out)
    rated = read_ratings(out)
    assert rated.label_names == ("anger", "disgust", "fear", "joy", "sadness", "surprise")
    assert 0 <= judge(people, "0-7", out, tmp_path / "report")["people"] <= 1
    # What is left out of a whole is neutral.
    totals = rated.to_frame().group_by("stimulus").agg(pl.col("value").sum())["value"]
    assert totals.min() > 0.05
    assert totals.max() <= 1 + 1e-6


def test_face_api(tmp_path: Path, faces: tuple[Path, Path]) -> None:
    if shutil.which("node") is None or not FACE_API.is_dir():
        pytest.skip("npm's @vladmandic/face-api is not installed (FACE_API=FOLDER)")
    from PIL import Image

    folder, people = faces
    given = []
    for path in sorted(folder.glob("*.png")):
        picture = Image.open(path).convert("RGB")
        rgb = base64.b64encode(picture.tobytes()).decode()
        given.append({"name": path.name, "width": 112, "height": 112, "rgb": rgb})
    (tmp_path / "faces.json").write_text(json.dumps(given))
    command = ["node", "face_api.mjs", str(FACE_API.resolve()), str(tmp_path / "faces.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    results = tmp_path / "results.json"
    results.write_text(done.stdout)
    out = tmp_path / "face-api.parquet"
    run_here("rate", results, folder, "--out", out)
    said = {
        (one["image"], label): score
        for one in json.loads(done.stdout)
        for label, score in one["expressions"].items()
    }
    assert values(out) == pytest.approx(said)
    assert 0 <= judge(people, "0-7", out, tmp_path / "report")["people"] <= 1
