"""``affectlab embed``: what it says and writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.command import run_here

from affectlab.models.embedding import Embeddings, embed
from affectlab.simulate import face_specs, save_faces


@pytest.fixture
def faces(tmp_path: Path) -> Path:
    save_faces(tmp_path / "faces", face_specs(3, ["joy", "anger"]), size=48)
    return tmp_path / "faces"


def result(*arguments: object) -> dict[str, Any]:
    content = json.loads(run_here("embed", *arguments, "--json").stdout)
    assert content["schema"] == "affectlab/embed/1"
    return {**content["result"], "warnings": content["warnings"]}


def test_images_and_again(faces: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = run_here("embed", faces, "--out", out, "--encoder", "lbp").stdout
    assert "6 images by lbp, width " in said
    assert "6 encoded (" in said
    assert f"embeddings: {out}" in said
    found = Embeddings.load(out)
    assert found.values.tobytes() == embed(faces, "lbp").values.tobytes()
    again = run_here("embed", faces, "--out", out, "--encoder", "lbp").stdout
    assert "6 were there" in again
    assert "encoded" not in again


def test_the_default_for_images_is_faces(faces: Path, tmp_path: Path) -> None:
    (one, *_) = sorted(faces.glob("*.png"))
    told = result(one, "--out", tmp_path / "out", "--batch", 2)
    assert (told["encoder"]["name"], told["encoder"]["kind"]) == ("faces", "image")
    assert (told["n_rows"], told["width"]) == (1, np.load(tmp_path / "out/embeddings.npy").shape[1])


def test_a_cache(faces: Path, tmp_path: Path) -> None:
    common = ("--encoder", "hog", "--set", "size=64", "--cache", tmp_path / "cache")
    first = result(faces, *common, "--out", tmp_path / "one")
    assert (first["n_items"], first["n_encoded"], first["n_reused"]) == (6, 6, 0)
    assert first["per_second"] > 0
    second = result(faces, *common, "--out", tmp_path / "two", "--partitions", 2)
    assert (second["n_encoded"], second["n_reused"], second["per_second"]) == (0, 6, None)
    assert first["encoder"] == second["encoder"]
    assert first["encoder"]["settings"]["size"] == 64


def test_texts(tmp_path: Path) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("so happy\nso sad\nso happy\n", encoding="utf-8")
    said = run_here("embed", file, "--texts", "--set", "width=32", "--out", tmp_path / "out").stdout
    assert "3 texts by texts, width 32" in said
    assert "1 copy of another" in said
    found = Embeddings.load(tmp_path / "out")
    assert found.stimuli == ("line 1", "line 2", "line 3")
    # Without --texts, an encoder of texts is enough.
    told = result(file, "--encoder", "texts", "--set", "width=32", "--out", tmp_path / "out")
    assert told["n_reused"] == 2


def test_what_cannot_be_read(faces: Path, tmp_path: Path) -> None:
    (first, *_) = sorted(faces.glob("*.png"))
    first.write_bytes(b"no picture")
    common = ("embed", faces, "--out", tmp_path / "out", "--encoder", "lbp")
    stopped = run_here(*common, code=2).stderr
    assert first.name in stopped
    assert stopped.count("\n") == 1
    done = run_here(*common, "--set-aside", "--quiet", width=400)
    assert "5 images by lbp" in done.stdout
    assert f"warning: set aside: 1 stimulus, {first.stem} first:" in done.stderr
    listed = pl.read_csv(tmp_path / "out" / "set_aside.csv")
    assert listed["stimulus"].to_list() == [first.stem]
    told = result(*common[1:], "--set-aside")
    assert (told["n_set_aside"], told["set_aside"][0]["stimulus"]) == (1, first.stem)
    assert any("set aside" in warning for warning in told["warnings"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--encoder", "facez"), "unknown encoder 'facez'; did you mean 'faces'?"),
        (("--encoder", "lbp", "--texts"), "--texts: encoder 'lbp' takes images"),
        (("--set", "width"), "--set: 'width' is not understood"),
        (("--set", "device=cpu"), "--set: 'device' has an option of its own"),
        (("--set", "widht=3"), "widht"),
        (("--runner", "spark"), "runner 'spark' is not known"),
        (("--device", "cuda"), "cuda"),
    ],
)
def test_what_cannot_be_asked_for(
    faces: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = run_here("embed", faces, "--out", tmp_path / "out", *arguments, code=2)
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_place_that_is_not_there(tmp_path: Path) -> None:
    done = run_here("embed", tmp_path / "nowhere", "--out", tmp_path / "out", code=2)
    assert "nowhere: there is no such file or folder" in done.stderr


def test_a_folder_is_no_file_of_texts(faces: Path, tmp_path: Path) -> None:
    done = run_here("embed", faces, "--out", tmp_path / "out", "--texts", code=2)
    said = " ".join(done.stderr.split())
    assert "faces: expected a file of texts" in said
    assert "file of ratings" not in said
