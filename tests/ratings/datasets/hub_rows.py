"""Small data sets as their authors publish them in files, and as the hub holds them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.taxonomy import load_taxonomy

LABELS = load_taxonomy("goemotions").labels
EMOTIONS = load_taxonomy("emonet_face").labels
GOEMOTIONS_CARD = b"""---
license:
- apache-2.0
configs:
- config_name: raw
  data_files:
  - split: train
    path: raw/train-*
- config_name: simplified
  data_files:
  - split: train
    path: simplified/train-*
  - split: validation
    path: simplified/validation-*
  - split: test
    path: simplified/test-*
default_config_name: simplified
---
# GoEmotions
"""
CARD = b"---\nlicense: cc-by-4.0\n---\n# Faces\n"
RAW = [
    # Text, comment, rater, unclear, labels.
    ('He said "no"\nand left', "eew5j0j", 1, False, {"sadness"}),
    ('He said "no"\nand left', "eew5j0j", 37, False, {"anger", "sadness"}),
    ("hm", "eemcysk", 37, True, set()),
    ("007, again", "eemcysl", 2, False, {"neutral"}),
]
SIMPLIFIED = [('He said "wow"', [0, 26], "eebbqej"), ("a,b\u2028c", [27], "ed00q6i")]
BINARY = [("00000.jpg", "human-1", True, "Anger"), ("00000.jpg", "human-2", False, "Anger")]
BINARY += [("00001.jpg", "human-1", True, "Doubt")]
HQ = {
    "a.png": {"human-1": {"Sad|Sadness": 3, "Hot|Anger": 0}, "human-2": {"Sad|Sadness": 5}},
    "b.png": {"human-2": {"Hot|Anger": 7}},
}


def parquet(frame: pl.DataFrame, features: dict[str, Any] | None = None) -> bytes:
    """Write a frame as the hub's libraries do."""
    made = io.BytesIO()
    written = (
        {} if features is None else {"huggingface": json.dumps({"info": {"features": features}})}
    )
    frame.write_parquet(made, metadata=written)
    return made.getvalue()


def pictures(names: list[str | None], size: int = 2000) -> pl.Series:
    """Make a column of pictures, as the hub stores them."""
    return pl.Series(
        [{"bytes": bytes([at % 251]) * size, "path": name} for at, name in enumerate(names)],
        dtype=pl.Struct({"bytes": pl.Binary, "path": pl.String}),
    )


def raw_table(rows: list[Any] = RAW) -> pl.DataFrame:
    """GoEmotions' raw configuration: the types are those of its card."""
    columns: dict[str, Any] = {
        "text": [row[0] for row in rows],
        "id": [row[1] for row in rows],
        "author": ["someone"] * len(rows),
        "subreddit": ["nrl"] * len(rows),
        "link_id": [f"t3_{row[1]}" for row in rows],
        "parent_id": [f"t1_{row[1]}" for row in rows],
        "created_utc": pl.Series([1548381056.0] * len(rows), dtype=pl.Float32),
        "rater_id": pl.Series([row[2] for row in rows], dtype=pl.Int32),
        "example_very_unclear": [row[3] for row in rows],
    }
    for label in LABELS:
        columns[label] = pl.Series([int(label in row[4]) for row in rows], dtype=pl.Int32)
    return pl.DataFrame(columns)


def raw_csv(path: Path, rows: list[Any] = RAW) -> Path:
    """The same as the authors' CSV."""
    table = raw_table(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table.columns)
        writer.writerows(table.rows())
    return path


def simplified_table(rows: list[Any] = SIMPLIFIED) -> pl.DataFrame:
    """GoEmotions' simplified configuration."""
    return pl.DataFrame(
        {
            "text": [row[0] for row in rows],
            "labels": pl.Series([row[1] for row in rows], dtype=pl.List(pl.Int64)),
            "id": [row[2] for row in rows],
        }
    )


def simplified_tsv(path: Path, rows: list[Any] = SIMPLIFIED) -> Path:
    """The same as the authors' TSV."""
    lines = [f"{text}\t{','.join(map(str, labels))}\t{name}\n" for text, labels, name in rows]
    path.write_bytes("".join(lines).encode())
    return path


def goemotions_files() -> dict[str, bytes]:
    """GoEmotions as it lies on the hub."""
    files = {"README.md": GOEMOTIONS_CARD, "raw/train-00000-of-00001.parquet": parquet(raw_table())}
    for split in ("train", "validation", "test"):
        files[f"simplified/{split}-00000-of-00001.parquet"] = parquet(simplified_table())
    return files


def binary_table() -> tuple[pl.DataFrame, dict[str, Any]]:
    """EmoNet-Face Binary with pictures, and emotions as numbers of classes."""
    frame = pl.DataFrame(
        {
            "path": pictures([row[0] for row in BINARY]),
            "annotator": [row[1] for row in BINARY],
            "value": [row[2] for row in BINARY],
            "emotion": [EMOTIONS.index(row[3]) for row in BINARY],
        }
    )
    features = {
        "path": {"_type": "Image"},
        "annotator": {"dtype": "string", "_type": "Value"},
        "value": {"dtype": "bool", "_type": "Value"},
        "emotion": {"names": list(EMOTIONS), "_type": "ClassLabel"},
    }
    return frame, features


def binary_csv(path: Path) -> Path:
    """The same as the authors' CSV."""
    lines = ["path,annotator,value,emotion", *(",".join(map(str, row)) for row in BINARY)]
    path.write_text("\n".join(lines) + "\n")
    return path


def hq_table(size: int = 2000) -> pl.DataFrame:
    """EmoNet-Face HQ: a row for each picture."""
    listed = [str([{name: given} for name, given in answers.items()]) for answers in HQ.values()]
    return pl.DataFrame({"path": pictures(list(HQ), size), "label": listed})


def hq_csv(path: Path) -> Path:
    """The people's answers as the authors' CSV."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["image", "annotator", "human", "annotations"])
        for image, answers in HQ.items():
            writer.writerows([image, name, True, str(given)] for name, given in answers.items())
    return path
