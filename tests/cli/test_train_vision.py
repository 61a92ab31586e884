"""``affectlab train vision``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image
from tests.cli.command import run_here
from tests.models.embedding.checkpoints import save_checkpoint

from affectlab.evaluation import accuracy
from affectlab.models.embedding import embed
from affectlab.models.images import find_images
from affectlab.models.vision import VisionClassifier

COLOURS = {
    "awe": (30, 60, 230),
    "excitement": (220, 200, 40),
    "fear": (40, 220, 30),
    "anger": (230, 30, 20),
}
FAST = ("--backbone", "embedding:hog", "--epochs", "3")


def drawn(label: str, random: np.random.Generator) -> Image.Image:
    pixels = random.normal(COLOURS[label], 40, (32, 36, 3))
    # Stripes whose width tells the label, for encoders that see no colour.
    pixels[:, :: 2 + list(COLOURS).index(label)] *= 0.2
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("vision")
    random = np.random.default_rng(0)
    rows = []
    for at in range(40):
        label = list(COLOURS)[at % 4]
        file = folder / "photos" / label / f"p{at:02d}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        drawn(label, random).save(file)
        split = "test" if at >= 32 else "val" if at >= 24 else "train"
        row = {"stimulus": f"p{at:02d}", "file": f"photos/{label}/p{at:02d}.png"}
        rows.append({**row, "felt": label.upper(), "split": split})
    pl.DataFrame(rows).write_csv(folder / "table.csv")
    save_checkpoint("vit", folder / "vit")
    return folder


@pytest.fixture
def place(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def result(done: Any) -> dict[str, Any]:
    found = json.loads(done.stdout)
    assert found["schema"] == "affectlab/train-vision/1"
    answer: dict[str, Any] = found["result"]
    return answer


def test_a_table_with_splits(place: Path) -> None:
    found = result(
        run_here(
            *("train", "vision", "table.csv", "--config", "label_column=felt", "--backbone", "vit"),
            *("--loss", "rank", "--config", "lam=0.5", "--config", "select=emc", "--out", "model"),
            *("--epochs", "4", "--config", "learning_rate=0.003", "--config", "batch=8", "--json"),
        )
    )
    assert (found["n_train"], found["n_dev"], found["n_test"]) == (24, 8, 8)
    assert found["train_labels"] == dict.fromkeys(sorted(COLOURS), 6)
    assert found["loss"] == {"loss": "rank", "lam": 0.5, "order": "true", "ties": "random"}
    assert set(found["dev"]) == set(found["test"]) == {"acc", "acc2", "ecc", "emc", "loss"}
    kept = found["history"][found["best_epoch"] - 1]
    assert kept["dev acc"] == found["dev"]["acc"]
    model = VisionClassifier.load(place / "model")
    table = pl.read_csv(place / "table.csv").filter(pl.col("split") == "test")
    truth = [name.lower() for name in table["felt"]]
    said = model.predict([place / file for file in table["file"]])
    assert found["test"]["acc"] == accuracy(truth, said)
    assert not (place / "model.training").exists()


def test_folders_named_by_labels(place: Path) -> None:
    base = ("train", "vision", "photos", *FAST)
    done = run_here(*base, "--out", "model")
    for said in ("ACC", "ACC2", "ECC", "EMC", "32 images to learn from", "too good"):
        assert said in done.stdout + done.stderr
    first = result(run_here(*base, "--out", "again", "--json"))
    assert (first["n_train"], first["n_dev"], first["test"]) == (32, 8, None)
    other = result(run_here(*base, "--out", "other", "--seed", "3", "--json"))
    assert first["history"] != other["history"]
    # Embedded before, it is the same.
    embed(find_images("photos"), "hog", path="emb")
    rows = result(run_here(*base, "--embeddings", "emb", "--out", "rows", "--json"))
    assert rows["history"] == first["history"]


def test_folders_of_splits(place: Path) -> None:
    for label in COLOURS:
        files = sorted((place / "photos" / label).iterdir())
        for split, part in (("train", files[:6]), ("valid", files[6:8]), ("test", files[8:])):
            target = place / "splits" / split / label
            target.mkdir(parents=True)
            for file in part:
                (target / file.name).write_bytes(file.read_bytes())
    found = result(run_here("train", "vision", "splits", *FAST, "--out", "model", "--json"))
    assert (found["n_train"], found["n_dev"], found["n_test"]) == (24, 8, 8)
    (place / "splits" / "awe").mkdir()
    file = place / "splits" / "awe" / "x.png"
    file.write_bytes(next((place / "photos" / "awe").iterdir()).read_bytes())
    done = run_here("train", "vision", "splits", *FAST, "--out", "more", code=2)
    assert "none of the folders train, dev and test" in " ".join(done.stderr.split())


def test_images_beside_training(place: Path) -> None:
    done = run_here(
        *("train", "vision", "photos", *FAST, "--config", "dev=photos", "--out", "model", "--json"),
        *("--loss", "soft", "--config", "temperature=0.5"),
    )
    found = result(done)
    assert "40 images of dev are learned from as well" in json.loads(done.stdout)["warnings"][0]
    assert (found["n_train"], found["n_dev"]) == (40, 40)
    assert found["loss"] == {"loss": "soft", "temperature": 0.5}


def test_a_run_that_was_stopped(place: Path) -> None:
    states = place / "model.training"
    states.mkdir()
    (states / "training.pt").write_bytes(b"")
    base = ("train", "vision", "photos", *FAST, "--out", "model")
    done = run_here(*base, code=2)
    assert "--resume" in done.stderr
    done = run_here(*base, "--resume", code=2)
    assert "cannot be read" in " ".join(done.stderr.split())
    (states / "training.pt").unlink()
    run_here(*base, "--resume")
    assert not states.exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("table.csv",), "expected one of labels"),
        (("photos", "--config", "label_column=felt"), "is for a table"),
        (("photos", "--taxonomy", "ekman"), "'awe'"),
        (("photos", "--config", "lam=2"), "for --loss rank"),
        (("photos", "--config", "temperature=2"), "for --loss soft"),
        (("photos/awe",), "lies in no folder named by a label"),
        (("photos", "--config", "augment=weak"), "cannot be changed"),
        (("nowhere",), "no such file or folder"),
        (("photos", "--out", "photos"), "holds other files"),
    ],
)
def test_bad_input(place: Path, more: tuple[str, ...], said: str) -> None:
    done = run_here("train", "vision", "--out", "model", *FAST, *more, code=2)
    assert said in " ".join(done.stderr.split())
    assert not (place / "model").exists()
    assert not (place / "model.training").exists()
