"""Which images are learned from, which choose the epoch, and which judge at the end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.models.embedding import embed
from affectlab.models.images import find_images, read_labelled_images, split_images
from affectlab.models.images.labelled import LabelledImages
from affectlab.taxonomy import load_taxonomy

MIKELS = load_taxonomy("mikels")
LABELS = ("awe", "fear")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Twenty images, of which the last four are for dev and test."""
    random = np.random.default_rng(0)
    rows = []
    for at in range(20):
        file = tmp_path / LABELS[at % 2] / f"{at:02d}.png"
        file.parent.mkdir(exist_ok=True)
        Image.fromarray(random.integers(0, 255, (16, 16, 3), dtype=np.uint8)).save(file)
        split = "test" if at >= 18 else "dev" if at >= 16 else "train"
        row = {"stimulus": f"{at:02d}", "file": str(file.relative_to(tmp_path))}
        rows.append({**row, "label": LABELS[at % 2], "split": split})
    pl.DataFrame(rows).write_csv(tmp_path / "table.csv")
    return tmp_path


def read(place: Path, gaps: int = 0) -> LabelledImages:
    table = pl.read_csv(place / "table.csv", infer_schema=False).with_row_index()
    gap = pl.when(pl.col("index") < gaps).then(None).otherwise("label")
    table.with_columns(label=gap).drop("index").write_csv(place / "gaps.csv")
    return read_labelled_images(place / "gaps.csv", MIKELS, gaps=True)


def test_splits_of_a_table_hold_beside_other_images_for_dev(place: Path) -> None:
    split = split_images(read(place))
    assert [len(side) for side in (split.train, split.dev, split.test)] == [16, 2, 2]
    assert split.train.counts == {"awe": 8, "fear": 8}
    folders = place / "other"
    for label in LABELS:
        (folders / label).mkdir(parents=True)
        for at in range(3):
            colour = (40 * at, 90, 10 if label == "awe" else 200)
            Image.new("RGB", (16, 16), colour).save(folders / label / f"{at}.png")
    other = split_images(read(place), dev=read_labelled_images(folders, MIKELS))
    assert [len(side) for side in (other.train, other.dev, other.test)] == [16, 6, 2]
    assert other.notes == ()


def test_images_without_a_label(place: Path) -> None:
    split = split_images(read(place, gaps=6))
    assert [file.stimulus for file in split.unlabelled] == [f"{at:02d}" for at in range(6)]
    assert len(split.train) == 10
    assert split.truth is None
    with pytest.raises(InputError, match="one or the other"):
        split_images(read(place, gaps=6), labelled_fraction=0.5)
    with pytest.raises(InputError, match="row 1: label is None"):
        read_labelled_images(place / "gaps.csv", MIKELS)


def test_labels_that_are_hidden_are_the_truth(place: Path) -> None:
    images = read(place)
    split = split_images(images, labelled_fraction=0.25, seed=1)
    known = dict(zip((file.stimulus for file in images.files), images.labels, strict=True))
    assert (len(split.train), len(split.unlabelled)) == (4, 12)
    assert split.truth == tuple(known[file.stimulus] for file in split.unlabelled)


def test_what_is_doubtful_is_noted(place: Path) -> None:
    copied = place / "copied"
    for label, at in (("awe", "00"), ("fear", "01")):
        (copied / label).mkdir(parents=True)
        (copied / label / "x.png").write_bytes((place / label / f"{at}.png").read_bytes())
    split = split_images(read(place), dev=read_labelled_images(copied, MIKELS))
    learned, few = split.notes
    assert "2 images of dev are learned from as well" in learned
    assert "dev has 2 images, of 2 of 2 labels" in few


def test_a_name_of_two_images_finds_no_embedding(place: Path) -> None:
    images = read_labelled_images(place / "table.csv", MIKELS)
    rows = embed(list(images.files), "hog")
    split = split_images(images, embeddings=rows)
    inputs, labels = split.inputs("dev")
    assert inputs.stimuli == tuple(file.stimulus for file in split.dev.files)
    assert labels == ("awe", "fear")
    (place / "more").mkdir()
    Image.new("RGB", (16, 16), "red").save(place / "more" / "03.png")
    with pytest.raises(InputError, match="'03' names two images"):
        split_images(images, embeddings=rows, unlabelled=find_images(place / "more"))
