"""Vision models of ours in ``affectlab rate``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image
from tests.cli.command import run_here
from tests.models.embedding.checkpoints import save_checkpoint

from affectlab.models.embedding import embed
from affectlab.models.vision import VisionClassifier
from affectlab.ratings import read_ratings
from affectlab.taxonomy import load_taxonomy

COLOURS = {"awe": (30, 60, 230), "excitement": (220, 200, 40), "anger": (230, 30, 20)}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("skimage")
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("rate-vision")
    random = np.random.default_rng(0)
    rows = []
    for at in range(18):
        label = list(COLOURS)[at % 3]
        file = folder / "photos" / label / f"p{at:02d}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        pixels = random.normal(COLOURS[label], 60, (32, 32, 3))
        pixels[:, :: 2 + at % 3] *= 0.3
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(file)
        rows.append({"stimulus": f"{label}/p{at:02d}", "label": label})
    pl.DataFrame(rows).write_csv(folder / "truth.csv")
    X = embed(folder / "photos", "hog", path=folder / "emb")
    embed(folder / "photos", "lbp", path=folder / "other")
    labels = {row["stimulus"]: row["label"] for row in rows}
    head = VisionClassifier("mikels", backbone="embedding:hog", name="my head")
    head.fit(X, labels, epochs=4).save(folder / "head")
    save_checkpoint("vit", folder / "vit")
    net = VisionClassifier("mikels", backbone=folder / "vit", name="my net")
    net.fit(folder / "photos", labels, epochs=1).save(folder / "net")
    return folder


@pytest.fixture
def place(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


@pytest.mark.parametrize("model", ["head", "net"])
def test_ratings_are_those_of_the_model(place: Path, model: str) -> None:
    done = run_here(*("rate", model, "photos", "--out", "said.parquet", "--json"))
    answer = json.loads(done.stdout)
    assert answer["schema"] == "affectlab/rate/1"
    found = answer["result"]
    assert found["n_stimuli"] == 18
    assert sum(row["share chosen"] for row in found["per_label"]) == pytest.approx(1)
    said = read_ratings("said.parquet")
    assert said.taxonomy is not None
    assert (said.taxonomy.name, said.rater_names) == ("mikels", (f"my {model}",))
    classifier = VisionClassifier.load(model)
    expected = classifier.rate("photos")
    keys = ["stimulus", "label"]
    both = said.to_frame().join(expected.to_frame(), on=keys)
    assert both.height == 18 * 3
    assert np.allclose(both["value"], both["value_right"])
    total = said.to_frame().group_by("stimulus").agg(pl.col("value").sum())
    assert np.allclose(total["value"], 1)
    truth = dict(pl.read_csv("truth.csv").iter_rows())
    chosen = said.to_frame().filter(pl.col("chosen") == 1)
    assert set(chosen["stimulus"]) == set(truth)
    for row in found["per_label"]:
        n = chosen.filter(pl.col("label") == row["label"]).height
        assert row["share chosen"] == pytest.approx(n / 18)


def test_embeddings_are_rated_as_their_images_are(place: Path) -> None:
    for given in ("photos", "emb"):
        run_here("rate", "head", given, "--out", f"{given}.parquet")
    one, other = (read_ratings(f"{given}.parquet").to_frame() for given in ("photos", "emb"))
    both = one.join(other, on=["stimulus", "label"])
    assert both.height == one.height == 54
    assert np.allclose(both["value"], both["value_right"], atol=1e-6)


def test_deciding_by_cost(place: Path) -> None:
    arguments = ("rate", "head", "emb", "--out", "cost.parquet")
    done = run_here(*arguments, "--set", "decide=cost", "--config", "rater=careful", "--json")
    found = json.loads(done.stdout)["result"]
    frame = read_ratings("cost.parquet").to_frame()
    assert frame["rater"].unique().to_list() == ["careful"]
    labels = found["labels"]
    costs = load_taxonomy("mikels").cost_matrix()
    wide = frame.pivot("label", index="stimulus", values="value")
    chosen = dict(frame.filter(pl.col("chosen") == 1).select("stimulus", "label").iter_rows())
    differ = 0
    for row in wide.to_dicts():
        expected = {
            mine: sum(row[true] * costs.cost(true, mine) for true in labels) for mine in labels
        }
        assert expected[chosen[row["stimulus"]]] == pytest.approx(min(expected.values()))
        differ += row[chosen[row["stimulus"]]] < max(row[label] for label in labels)
    said = run_here(*arguments, "--set", "decide=cost").stdout
    assert f"decided by expected cost; {differ} picture" in said


def test_a_single_image_and_a_table(place: Path) -> None:
    run_here(
        *("rate", "head", "photos/awe/p00.png", "--out", "one.csv"),
    )
    assert read_ratings("one.csv").stimulus_names == ("p00",)
    Path("table.csv").write_text("stimulus,file\na,photos/awe/p00.png\nb,photos/anger/p02.png\n")
    done = run_here("rate", "head", "table.csv", "--out", "two.parquet")
    assert "my head rated 2 stimuli on 3 labels" in done.stdout
    assert read_ratings("two.parquet").stimulus_names == ("a", "b")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("head", "nowhere"), "nowhere: there is no such file or folder"),
        (("photos", "photos"), "photos"),
        (("head", "other"), "the model was trained on those of"),
        (("net", "emb"), "emb holds embeddings, and 'my net' looks at images"),
        (("net", "broken"), "bad.png"),
        (("head", "empty"), "empty"),
    ],
)
def test_what_cannot_be_rated(place: Path, arguments: tuple[str, ...], said: str) -> None:
    Path("broken").mkdir()
    Path("broken/bad.png").write_bytes(b"\x89PNG\r\n\x1a\n nothing more")
    Path("empty").mkdir()
    done = run_here("rate", *arguments, "--out", "said.parquet", code=2)
    assert said in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
    assert not Path("said.parquet").exists()


def test_a_place_that_is_no_table_is_refused_first(place: Path) -> None:
    done = run_here("rate", "head", "photos", "--out", "said.txt", code=2)
    assert "said.txt" in done.stderr
