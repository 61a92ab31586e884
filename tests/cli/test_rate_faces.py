"""Heads of ours in ``affectlab rate``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from tests.cli.command import run_here
from tests.cli.heads_data import OTHER, write_embeddings
from tests.models.embedding.network import nothing_is_reached

from affectlab.models.embedding import Embeddings, embed
from affectlab.models.heads import HeadBank, HeadShape, Stage
from affectlab.ratings import read_ratings
from affectlab.simulate import face_specs, save_faces

LABELS = ["joy", "fear"]

pytestmark = pytest.mark.filterwarnings(
    "ignore::affectlab.models.text.warnings.SeenInTrainingWarning"
)

__all__ = ["nothing_is_reached"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("skimage")
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("faces")
    specs = face_specs(4, ["joy", "fear", "neutral"], [0.5, 1.0])
    table = save_faces(folder / "images", specs, size=64)
    table.write_csv(folder / "images" / "faces.csv")
    X = embed(folder / "images" / "faces.csv", "faces", path=folder / "emb")
    Y = np.array([[7.0 * ("joy" in s), 7.0 * ("fear" in s)] for s in X.stimuli])
    bank = HeadBank.make(LABELS, shape=HeadShape((8,)), name="my heads")
    bank.fit(X, Y, stage=Stage(epochs=40, learning_rate=5e-3, batch=8), cap=None, validation=0.2)
    bank.calibrate_neutral(X.subset([s for s in X.stimuli if "neutral" in s]), source="calm")
    bank.save(folder / "bare")
    bank.calibrate_intervals(X, np.full((len(X), 2), 2.0), 0.5, by="label").save(folder / "heads")
    write_embeddings(folder / "other", 5, 3, OTHER)
    return folder


@pytest.fixture
def place(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def test_images_and_embeddings_are_rated_alike(place: Path) -> None:
    found = {}
    for given in ("images", "emb"):
        done = run_here(*("rate", "heads", given, "--out", f"{given}.parquet", "--json"))
        answer = json.loads(done.stdout)
        assert answer["schema"] == "affectlab/rate/1"
        found[given] = answer["result"]
        assert found[given]["n_stimuli"] == 24
        assert found[given]["rater"] == "my heads"
        said = found[given]["about"]["answers"]
        assert "less the mean of each head over 8 neutral stimuli of calm" in said
    images, emb = (read_ratings(f"{given}.parquet") for given in found)
    assert sorted(images.stimulus_names) == sorted(emb.stimulus_names)
    both = images.to_frame().join(emb.to_frame(), on=["stimulus", "label"])
    assert both.height == 48
    assert np.allclose(both["value"], both["value_right"])
    assert set(images.rater_kinds) == {"model"}
    joy = images.to_frame().filter(pl.col("label") == "joy")
    shown = joy.filter(pl.col("stimulus").str.contains("joy"))["value"].mean()
    other = joy.filter(~pl.col("stimulus").str.contains("joy"))["value"].mean()
    assert shown > other + 1  # type: ignore[operator]


def test_what_people_read(place: Path) -> None:
    done = run_here(*("rate", "bare", "emb", "-o", "r.csv", "--config", "rater=me"))
    assert "me rated 24 stimuli on 2 labels, interval 0 to 7" in done.stdout
    assert "ratings: r.csv" in done.stdout
    assert read_ratings("r.csv").rater_names == ("me",)


def test_intervals_come_as_columns(place: Path) -> None:
    run_here(*("rate", "heads", "emb", "--out", "r.parquet", "--set", "intervals=true", "-q"))
    frame = read_ratings("r.parquet").to_frame()
    bank = HeadBank.load("heads")
    low, high = bank.predict_intervals(Embeddings.load("emb"))
    assert np.allclose(frame["low"], low.ravel())
    assert np.allclose(frame["high"], high.ravel())


def test_broken_images_are_left_out_where_asked(place: Path) -> None:
    folder = place / "some"
    save_faces(folder, face_specs(1, ["joy"]), size=64)
    (folder / "broken.png").write_bytes(b"none")
    asked = ("rate", "heads", "some", "--out", "r.parquet")
    assert "broken.png" in run_here(*asked, code=2).stderr
    assert not (place / "r.parquet").exists()
    done = run_here(*asked, "--config", "set_aside=true", "--set", "cache=cache", "--json")
    found = json.loads(done.stdout)["result"]
    assert found["n_stimuli"] == 1
    assert "1 image left out, for example 'broken'" in done.stdout
    assert any((place / "cache").iterdir())


@pytest.mark.parametrize(
    ("model", "given", "more", "said"),
    [
        ("heads", "nowhere", (), "nowhere"),
        ("heads", "other", (), "come from encoder 'made up'"),
        ("images", "emb", (), "holds no model"),
        ("bare", "emb", ("--set", "intervals=true"), "no intervals yet"),
        ("heads", "emb", ("--out", "r.txt"), "suffix '.txt'"),
        ("heads", "images", ("--set", "encoder=lbp"), "is not the one that the heads were trained"),
        ("heads", "images", ("--set", "encoder=fases"), "unknown encoder 'fases'"),
    ],
)
def test_one_sentence_for_what_does_not_fit(
    place: Path, model: str, given: str, more: tuple[str, ...], said: str
) -> None:
    done = run_here(*("rate", model, given, "--out", "r.parquet", *more), code=2)
    assert said in " ".join(done.stderr.split())
    assert done.stderr.count("affectlab: ") == 1
    assert not (place / "r.parquet").exists()


def test_scores_before_calibration_are_kept_where_asked(place: Path) -> None:
    run_here("rate", "heads", "emb", "--out", "r.parquet", "--set", "scores=true")
    frame = read_ratings("r.parquet").to_frame()
    bank = HeadBank.load("heads")
    X = Embeddings.load("emb")
    given = bank.scores(X)
    found = frame.filter(pl.col("label") == "joy").sort("stimulus")["score"].to_numpy()
    order = np.argsort(X.stimuli)
    assert np.allclose(found, given[order, bank.labels.index("joy")], atol=1e-6)
    run_here("rate", "heads", "emb", "--out", "s.parquet")
    assert "score" not in read_ratings("s.parquet").to_frame().columns


def test_intervals_are_asked_for_before_images_are_embedded(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("images were embedded")

    monkeypatch.setattr(HeadBank, "embed", never)
    done = run_here(
        *("rate", "bare", "images", "--out", "r.csv", "--set", "intervals=true"), code=2
    )
    assert "no intervals yet" in done.stderr


def test_the_device_is_told_to_the_encoder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    before = HeadBank.embed

    def embed_there(self: HeadBank, images: object, **given: object) -> object:
        told.append(str(given["device"]))
        return before(self, images, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(HeadBank, "embed", embed_there)
    run_here(*("rate", "heads", "images", "--out", "r.csv", "--set", "device=cpu"))
    assert told[0] == "cpu"


def test_warnings_of_images_are_sentences(place: Path) -> None:
    from PIL import Image

    (place / "moving").mkdir()
    frames = [Image.new("RGB", (64, 64), (k, 120, 90)) for k in (10, 200)]
    frames[0].save(place / "moving" / "two.gif", save_all=True, append_images=frames[1:])
    done = run_here("rate", "heads", "moving", "--out", "r.csv")
    said = " ".join(done.stderr.split())
    assert "warning: " in said
    assert ".py:" not in said
    assert "Warning:" not in said
