"""``affectlab train semi``, run as a user runs it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image
from tests.cli.command import run_here

from affectlab.models.embedding import embed
from affectlab.models.images import find_images
from affectlab.models.vision import VisionClassifier

LABELS = ("awe", "excitement", "fear", "anger")
FAST = (
    "--backbone",
    "embedding:hog",
    "--epochs",
    "3",
    "--config",
    "batch=8",
    "--config",
    "ratio=2",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("semi")
    random = np.random.default_rng(0)
    rows = []
    for at in range(64):
        label = LABELS[at % 4]
        pixels = random.normal(140, 30, (32, 36, 3))
        # Stripes whose width tells the label, for encoders that see no colour.
        pixels[:, :: 2 + at % 4] *= 0.2
        file = folder / "photos" / label / f"p{at:02d}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(file)
        split = "test" if at >= 56 else "val" if at >= 48 else "train"
        shown = label.upper() if at < 16 or at >= 48 else ""
        row = {"stimulus": f"p{at:02d}", "file": f"photos/{label}/p{at:02d}.png"}
        rows.append({**row, "felt": shown, "split": split})
    pl.DataFrame(rows).write_csv(folder / "table.csv")
    return folder


@pytest.fixture
def place(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def result(done: Any) -> dict[str, Any]:
    found = json.loads(done.stdout)
    assert found["schema"] == "affectlab/train-semi/1"
    answer: dict[str, Any] = found["result"]
    return answer


def test_a_table_with_gaps(place: Path) -> None:
    asked = ("train", "semi", "table.csv", "--config", "label_column=felt", *FAST)
    found = result(
        run_here(
            *(*asked, "--out", "model", "--json", "--strategy", "fixmatch", "--set", "tau=0.3"),
            *(
                "--loss",
                "rank",
                "--config",
                "lam=0.5",
                "--config",
                "switch=2",
                "--config",
                "select=ecc",
            ),
            *("--config", "figures=drawn"),
        )
    )
    counts = [found[name] for name in ("n_labelled", "n_unlabelled", "n_dev", "n_test")]
    assert counts == [16, 32, 8, 8]
    assert found["labelled"] == dict.fromkeys(sorted(LABELS), 4)
    assert found["switched_at"] == 2
    assert found["loss"]["strategy tau"] == 0.3
    assert (found["loss"]["lam"], found["loss"]["switch"]) == (0.5, 2)
    assert set(found["test"]) == {"acc", "acc2", "ecc", "emc", "loss"}
    assert [Path(file).name for file in found["figures"]] == ["threshold.png", "utilisation.png"]
    assert all((place / file).is_file() for file in found["figures"])
    with (place / "model" / "history.csv").open() as held:
        rows = list(csv.DictReader(held))
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert float(rows[1]["loss"]) == pytest.approx(found["history"][1]["loss"])
    assert float(rows[2]["dev_acc"]) == found["history"][2]["dev acc"]
    model = VisionClassifier.load(place / "model")
    table = pl.read_csv(place / "table.csv").filter(pl.col("split") == "test")
    said = model.predict([place / file for file in table["file"]])
    right = [name.lower() == given for name, given in zip(table["felt"], said, strict=True)]
    assert found["test"]["acc"] == np.mean(right)
    assert not (place / "model.training").exists()


@pytest.mark.long
def test_labels_are_hidden(place: Path) -> None:
    asked = ("train", "semi", "photos", *FAST, "--strategy", "emc", "--labelled-fraction", "0.5")
    done = run_here(*asked, "--out", "model", "--config", "figures=drawn")
    for said in ("ACC", "ECC", "EMC", "pseudo-labels", "32 unlabelled", "too good", "threshold"):
        assert said in done.stdout + done.stderr
    assert (place / "drawn" / "quality.svg").is_file()
    first = result(run_here(*asked, "--out", "again", "--json"))
    # Half of 64 keep a label, and a fifth of those is for dev.
    counts = [first[name] for name in ("n_labelled", "n_unlabelled", "n_dev", "n_test")]
    assert counts == [24, 32, 8, 0]
    assert "pseudo_accuracy" in first["history"][0]
    assert first["test"] is None
    # Embedded before, it is the same; and without dev the last epoch is kept.
    embed(find_images("photos"), "hog", path="emb")
    rows = result(run_here(*asked, "--embeddings", "emb", "--out", "rows", "--json"))
    assert rows["history"] == first["history"]
    last = result(run_here(*asked, "--config", "dev_share=0", "--out", "last", "--json"))
    assert (last["n_labelled"], last["n_dev"], last["best_epoch"], last["dev"]) == (32, 0, 3, {})


def test_more_images_without_labels(place: Path) -> None:
    (place / "more").mkdir()
    for at in range(6):
        Image.new("RGB", (32, 36), (30 * at, 90, 120)).save(place / "more" / f"{at}.png")
    asked = ("train", "semi", "photos", *FAST, "--unlabelled", "more")
    found = result(run_here(*asked, "--out", "model", "--json"))
    assert (found["n_labelled"], found["n_unlabelled"]) == (52, 6)
    assert "pseudo_accuracy" not in found["history"][0]
    both = run_here(*asked, "--labelled-fraction", "0.5", "--out", "x", code=2)
    assert "expected one or the other" in both.stderr


def test_what_is_doubtful_is_said(place: Path) -> None:
    # A copy of another name, in the pool and in dev.
    for name, rows in (("dev", range(8, 24)), ("more", range(12))):
        for at in rows:
            source = place / "photos" / LABELS[at % 4] / f"p{at:02d}.png"
            target = place / name / LABELS[at % 4] / f"{name}{at}.png"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    table = pl.read_csv(place / "table.csv").rename({"felt": "label"})
    table.filter(pl.col("split") == "train")[:8].drop("split").write_csv(place / "few.csv")
    asked = ("train", "semi", "few.csv", *FAST, "--unlabelled", "more")
    shared = run_here(*asked, "--config", "dev=dev", "--out", "one").stderr
    assert "4 images of dev are learned from as well" in " ".join(shared.split())
    assert "little more than chance" not in shared
    late = (
        "--loss",
        "rank",
        "--config",
        "switch=9",
        "--strategy",
        "softmatch",
        "--set",
        "align=False",
    )
    said = " ".join(run_here(*asked, *late, "--out", "two").stderr.split())
    assert "dev has 4 images, of 4 of 4 labels" in said
    assert "switch 9: the loss never changed" in said
    assert "strategy softmatch: its threshold never rose" in said
    assert "a lower momentum" in said
    model = json.loads((place / "two" / "model.json").read_text())
    assert model["loss"]["strategy align"] is False
    # A loss that changes after the epoch that is kept.
    kept = ("--loss", "rank", "--config", "switch=3", "--set", "tau=1", "--config", "patience=9")
    found = result(run_here(*asked, *kept, "--config", "dev=dev", "--out", "three", "--json"))
    said = " ".join(run_here(*asked, *kept, "--config", "dev=dev", "--out", "four").stderr.split())
    assert (found["best_epoch"] < 3) == ("was learned with cross-entropy alone" in said)
    # A fixed threshold is none that failed to rise.
    assert "its threshold" not in shared + said


def test_a_name_of_two_images_finds_no_embedding(place: Path) -> None:
    embed(find_images("photos"), "hog", path="emb")
    for label, source in (("awe", "fear/p02"), ("fear", "fear/p02")):
        (place / "more" / label).mkdir(parents=True, exist_ok=True)
        target = place / "more" / label / f"p0{0 if label == 'awe' else 2}.png"
        target.write_bytes((place / "photos" / f"{source}.png").read_bytes())
    asked = ("train", "semi", "photos", *FAST, "--unlabelled", "more", "--embeddings", "emb")
    said = " ".join(run_here(*asked, "--out", "model", code=2).stderr.split())
    assert "'awe/p00' names two images" in said
    # A copy is the same image.
    (place / "more" / "awe" / "p00.png").unlink()
    run_here(*asked, "--out", "model")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("photos",), "every image has a label"),
        (("photos", "--labelled-fraction", "0.01"), "fewer than the 4 labels"),
        (("photos", "--labelled-fraction", "0"), "expected a share above 0"),
        (("photos", "--labelled-fraction", "0.5", "--strategy", "fixmach"), "did you mean"),
        (("photos", "--labelled-fraction", "0.5", "--set", "tau"), "expected NAME=VALUE"),
        (("photos", "--labelled-fraction", "0.5", "--set", "tao=1"), "tao"),
        (("photos", "--labelled-fraction", "0.5", "--config", "lam=2"), "are for --loss rank"),
        (
            ("photos", "--labelled-fraction", "0.5", "--config", "switch=never"),
            "--loss rank or soft",
        ),
        (
            ("photos", "--labelled-fraction", "0.5", "--loss", "rank", "--config", "switch=soon"),
            "soon",
        ),
        (("none.csv",), "none.csv"),
        (("gaps.csv",), "no image has a label"),
        (("held.csv",), "a label outside of train"),
        (("wrong.csv",), "stimulus 'p00'"),
    ],
)
def test_trouble_is_one_sentence(place: Path, arguments: tuple[str, ...], said: str) -> None:
    table = pl.read_csv(place / "table.csv").rename({"felt": "label"})
    empty = table.drop("split").with_columns(label=pl.lit(None, pl.String))
    empty.write_csv(place / "gaps.csv")
    table.with_columns(split=pl.lit("test")).write_csv(place / "held.csv")
    table.with_columns(
        label=pl.when(pl.col("stimulus") == "p00").then(pl.lit("joyy")).otherwise("label")
    ).write_csv(place / "wrong.csv")
    done = run_here("train", "semi", *arguments, *FAST, "--out", "model", code=2)
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (place / "model").exists()


def test_help_says_what_is_there() -> None:
    said = " ".join(run_here("train", "semi", "--help", width=120).stdout.split())
    for part in (
        "--strategy",
        "--labelled-fraction",
        "--config",
        "switch",
        "freematch",
        "history.csv",
    ):
        assert part in said
