"""``affectlab train difference``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from tests.cli.command import run_here

from affectlab.models.differences import ExpressionMetric, cross_validate
from affectlab.models.embedding import Embeddings
from affectlab.models.embedding.card import EncoderCard
from affectlab.ratings import Ratings, read_ratings
from affectlab.simulate import draw_face

from ..models.differences.drawn_pairs import planted  # noqa: TID252


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("difference")
    pairs, scores, frames = planted(noise=4.0)
    pairs.write_csv(folder / "pairs.csv")
    pairs.with_columns(pl.Series("value", scores)).write_csv(folder / "scores.csv")
    pl.DataFrame({"stimulus": pairs["stimulus"], "value": scores}).write_csv(folder / "bare.csv")
    values = np.stack(list(frames.values())).astype(np.float16)
    card = EncoderCard("made up", "image", 6, "0ab1")
    names = tuple(name.removesuffix(".png") for name in frames)
    hashes = tuple(f"{k:064x}" for k in range(len(names)))
    Embeddings(values, names, hashes, card).save(folder / "emb")
    rng = np.random.default_rng(0)
    answers = pl.concat(
        pl.DataFrame(
            {
                "stimulus": pairs["stimulus"],
                "rater": [f"r{k}"] * pairs.height,
                "value": np.clip(scores + rng.normal(0, 5, pairs.height), 0, 100),
            }
        )
        for k in range(5)
    )
    Ratings(answers, scale="0-100 interval", stimuli=pairs).write(folder / "ratings.csv")
    return folder


@pytest.fixture
def place(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def train(*more: str, file: str = "scores.csv", code: int = 0) -> Any:
    base = (
        "train",
        "difference",
        file,
        "--embeddings",
        "emb",
        "--out",
        "metric",
        "--config",
        "n_boot=200",
    )
    return run_here(*base, *more, code=code)


def result(done: Any) -> dict[str, Any]:
    found = json.loads(done.stdout)
    assert found["schema"] == "affectlab/train-difference/1"
    answer: dict[str, Any] = found["result"]
    return answer


def test_what_is_printed_is_what_the_library_says(place: Path) -> None:
    found = result(train("--json", "--config", "splits_out=splits.csv"))
    table = pl.read_csv("scores.csv")
    report = cross_validate(table, None, Embeddings.load("emb"), n_boot=200)
    assert found["validation"]["sentences"] == list(report.sentences)
    rows = {row["method"]: row for row in found["validation"]["methods"] if row["group"] == "all"}
    assert rows["ridge"]["srocc"] == pytest.approx(report.median())
    assert set(rows) == {"ridge", "L1", "cosine"}
    assert all(rows[name]["srocc_ahead_low"] > 0 for name in ("L1", "cosine"))
    written = pl.read_csv("splits.csv")
    assert written.height == 10 * 3 * 3
    splits = report.to_frame("splits")
    assert written["srocc"].to_list() == pytest.approx(splits["srocc"].to_list())
    metric = ExpressionMetric.load("metric")
    assert metric.name == "metric"
    assert metric.version == found["version"]
    assert metric.validation["sentences"] == list(report.sentences)


def test_what_people_read(place: Path) -> None:
    done = train()
    for said in (
        "metric: ridge on 225 pairs",
        "6 numbers per face",
        "metric/README.md",
        "affectlab rate metric PAIRS --out",
    ):
        assert said in " ".join(done.stdout.split()), said


@pytest.mark.parametrize("learner", ["svr", "siamese"])
def test_other_learners(place: Path, learner: str) -> None:
    more = ("--set", "epochs=2") if learner == "siamese" else ("--set", "strength=0.1")
    found = result(
        train("--learner", learner, *more, "--config", "splits=2", "--json", "--name", "x")
    )
    assert found["learner"] == learner
    assert found["name"] == "x"
    assert len({row["split"] for row in found["validation"]["splits"]}) == 2
    assert found["settings"][more[1].split("=")[0]] in (2, 0.1)
    assert ExpressionMetric.load("metric").settings["learner"] == learner


def test_ratings_and_bare_scores(place: Path) -> None:
    rated = result(train("--json", file="ratings.csv"))
    assert rated["scores"] == "subject model of 5 raters"
    assert rated["n_pairs"] == 225
    config = ("--config", "score=mean", "--config", "n_boot=0")
    run_here(
        *("train", "difference", "ratings.csv", "--embeddings", "emb", "--out", "m2"),
        *config,
        "--quiet",
    )
    bare = result(train("--json", "--pairs", "pairs.csv", file="bare.csv"))
    full = result(train("--json"))
    assert bare["version"] == full["version"] != rated["version"]
    done = train(file="bare.csv", code=2)
    assert "column 'actor' is missing" in done.stderr
    assert "--pairs pairs.csv" in " ".join(done.stderr.split())


def test_pictures_are_embedded_when_they_are_not_yet(place: Path) -> None:
    rows = []
    for person in range(3):
        for expression in ("joy", "anger", "fear", "neutral"):
            name = Path("frames") / f"p{person}" / f"{expression}.png"
            name.parent.mkdir(parents=True, exist_ok=True)
            draw_face(expression, 1.0, person, size=48).save(name)
        rows += [
            {"actor": f"p{person}", "file_a": f"p{person}/{a}.png", "file_b": f"p{person}/{b}.png",
             "value": value}
            for (a, b), value in {
                ("joy", "neutral"): 60, ("anger", "neutral"): 50, ("joy", "anger"): 80,
                ("joy", "fear"): 75,
            }.items()
        ]  # fmt: skip
    pl.DataFrame(rows).write_csv("drawn.csv")
    common = ("train", "difference", "drawn.csv", "--out", "metric", "--test-actors", "1")
    found = result(
        run_here(
            *common, "--encoder", "faces", "--images", "frames", "--config", "cache=kept", "--json"
        )
    )
    assert found["encoder"]["name"] == "faces"
    assert len({row["split"] for row in found["validation"]["splits"]}) == 3
    faces = [draw_face(name, 1.0, 1, size=48) for name in ("joy", "neutral")]
    assert np.isfinite(ExpressionMetric.load("metric").differences(*([face] for face in faces)))
    (Path("frames") / "p1" / "joy.png").unlink()
    done = run_here(*common, "--encoder", "faces", "--images", "frames", code=2)
    said = " ".join(done.stderr.split())
    assert "file 'p1/joy.png' is not in frames" in said
    assert "(1 of 12 pictures)" in said


def test_predictions_for_actors_kept_aside_beside_other_metrics(place: Path) -> None:
    """The whole way: other metrics on the same splits, and predictions for ``evaluate``."""
    scores = pl.read_csv("scores.csv")
    rows = {"stimulus": scores["stimulus"], "rater": ["half"] * scores.height}
    noise = np.random.default_rng(1).normal(0, 30, scores.height)
    raters = pl.DataFrame(
        {"rater": ["half"], "rater_kind": ["model"], "direction": ["higher is more alike"]}
    )
    half = pl.DataFrame({**rows, "value": -(scores["value"].to_numpy() + noise)})
    Ratings(half, scale="interval", raters=raters, stimuli=scores.drop("value")).write("half.csv")
    more = ("--baseline", "half.csv", "--predictions", "aside.csv")
    done = train(*more)
    said = " ".join(done.stdout.split())
    assert "next: affectlab evaluate difference RATINGS --models aside.csv" in said
    told = read_ratings("aside.csv")
    values = dict(told.to_frame().select("stimulus", "value").iter_rows())
    direct = cross_validate(scores, None, Embeddings.load("emb"), n_boot=0)
    for row in direct.predictions.iter_rows(named=True):
        assert values[row["stimulus"]] == pytest.approx(row["value"])
    assert {"kind", "actor", "file_a", "file_b"} <= set(told.stimuli.columns)
    judged = run_here("evaluate", "difference", "ratings.csv", "--models", "aside.csv", "--json")
    assert judged.stdout
    again = train("--baseline", "ratings.csv", code=2)
    assert "holds answers of people" in " ".join(again.stderr.split())


def test_ratings_on_another_scale(place: Path) -> None:
    done = train("--config", "scale=0-120 interval", file="ratings.csv", code=2)
    said = " ".join(done.stderr.split())
    assert "on a scale from 0 to 120; expected 0 to 100" in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--seed", "-1"), "seed = -1: expected a whole number from 0 on"),
        (("--config", "n_boot=1"), "n_boot = 1: expected 0 (no intervals), or 2 to"),
        (("--set", "non_negativ=true"), "unknown setting 'non_negativ'; did you mean"),
        (("--set", "learner=svr"), "'learner' has an option of its own"),
        (("--encoder", "faces"), "--encoder is for pictures that are not embedded yet"),
        (("--test-actors", "5"), "expected at least 6"),
    ],
)
def test_what_is_refused(place: Path, more: tuple[str, ...], said: str) -> None:
    done = train(*more, code=2)
    assert said in " ".join(done.stderr.split())
    assert not (place / "metric").exists()


def test_files_that_cannot_be_used(place: Path) -> None:
    pl.DataFrame({"stimulus": ["a"], "actor": ["x"]}).write_csv("nothing.csv")
    assert "no column 'rater' and none 'value'" in train(file="nothing.csv", code=2).stderr
    done = run_here("train", "difference", "scores.csv", "--out", "metric", code=2)
    assert "expected --embeddings DIR, or --encoder NAME" in " ".join(done.stderr.split())
    (place / "full").mkdir()
    (place / "full" / "mine.txt").write_text("x")
    done = run_here("train", "difference", "scores.csv", "--embeddings", "emb", "--out", "full",
                    code=2)  # fmt: skip
    assert "holds other files" in " ".join(done.stderr.split())
