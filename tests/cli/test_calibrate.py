"""``affectlab calibrate``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.cli.command import run_here
from tests.cli.heads_data import LABELS, OTHER, write_embeddings, write_ratings
from tests.models.embedding.network import nothing_is_reached

from affectlab.models.embedding import Embeddings
from affectlab.models.heads import HeadBank, HeadShape, Stage, targets_from
from affectlab.ratings import read_ratings

__all__ = ["nothing_is_reached"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("calibrate")
    strength = write_embeddings(folder / "train", 500, 1)
    bank = HeadBank.make(list(LABELS), shape=HeadShape((12,)), binarised=True, name="my heads")
    stage = Stage(epochs=30, learning_rate=5e-3, batch=32)
    bank.fit(Embeddings.load(folder / "train"), np.rint(strength), stage=stage).save(folder / "m")
    rated = write_embeddings(folder / "emb", 900, 2)
    names = write_ratings(folder / "all.csv", rated, 2)
    table = read_ratings(names, scale="0-7")
    for file, part in (("scale.csv", slice(0, 400)), ("rest.csv", slice(400, 900))):
        table.select(stimuli=list(table.stimulus_names[part])).write(folder / file)
    calm = np.flatnonzero(write_embeddings(folder / "more", 400, 5).max(axis=1) < 0.5)
    embedded = Embeddings.load(folder / "more")
    embedded.subset([embedded.stimuli[row] for row in calm]).save(folder / "calm")
    write_embeddings(folder / "other", 5, 3, OTHER)
    return folder


@pytest.fixture
def place(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def calibrate(*more: str, code: int = 0) -> Any:
    return run_here("calibrate", "m", "--out", "c", *more, code=code)


def test_all_three_steps(place: Path) -> None:
    done = calibrate(
        *("--intervals", "rest.csv", "--confidence", "0.8", "--neutral", "calm", "--json"),
        *("--scale", "scale.csv", "--embeddings", "emb"),
    )
    answer = json.loads(done.stdout)
    assert answer["schema"] == "affectlab/calibrate/1"
    # The ten people of these pictures are few.
    (few,) = answer["warnings"]
    assert "500 stimuli of 10 identities: for new ones they may hold less often" in few
    found = answer["result"]
    assert found["done"] == ["scale", "neutral", "intervals"]
    before, after = HeadBank.load("m"), HeadBank.load("c")
    calm = Embeddings.load("calm")
    assert np.abs(after.predict(calm, clip=False).mean(axis=0)).max() < 1e-6
    assert after.scale_map.source == "scale.csv"
    assert after.neutral is not None
    assert after.neutral.source == "calm"
    assert after.intervals is not None
    assert after.intervals.level == 0.8
    assert found["neutral"]["offsets"] == list(after.neutral.offsets)
    X, table = Embeddings.load("emb"), read_ratings("rest.csv")
    part = X.subset(table.stimulus_names)
    truth = targets_from(table, part.stimuli, after.labels)
    far, near = (np.abs(one.predict(part) - truth).mean() for one in (before, after))
    assert near < 0.75 * far
    assert np.array_equal(before.scores(part), after.scores(part))
    assert before.neutral is None


def test_what_people_read_and_the_model_itself_is_replaced(place: Path) -> None:
    HeadBank.load("m").save("own")
    done = run_here("calibrate", "own", "--neutral", "calm")
    assert "my heads: scores times 7; less the mean of each head over" in done.stdout
    assert "Neutral mean" in done.stdout
    assert "model: own" in done.stdout
    assert HeadBank.load("own").neutral is not None
    # Calibrating a step anew drops those behind it, and says so, also when quiet.
    more = ("--scale", "scale.csv", "--embeddings", "emb", "--quiet")
    again = run_here("calibrate", "own", *more)
    assert "the neutral mean hung on it" in " ".join(again.stderr.split())
    assert HeadBank.load("own").neutral is None
    wide = run_here(
        *("calibrate", "own", "--intervals", "rest.csv", "--embeddings", "emb"), width=160
    )
    assert "± 0.5 to 2.5" in wide.stdout
    assert "90 % intervals, split conformal by label and bin of scores" in " ".join(
        wide.stdout.split()
    )


def test_the_same_stimuli_for_both_warn(place: Path) -> None:
    done = calibrate(*("--scale", "all.csv", "--intervals", "all.csv", "--embeddings", "emb"))
    assert "of which 900 were used in training or in an earlier calibration" in " ".join(
        done.stderr.split()
    )


def test_too_few_ratings_for_an_interval_are_said(place: Path) -> None:
    table = read_ratings("rest.csv")
    table.select(stimuli=list(table.stimulus_names[:30])).write("few.csv")
    done = calibrate(*("--intervals", "few.csv", "--embeddings", "emb", "--confidence", "0.95"))
    assert "12 of 12 bins of labels and scores have too few ratings for 0.95" in " ".join(
        done.stderr.split()
    )
    assert HeadBank.load("c").intervals is not None


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "nothing to calibrate"),
        (("--scale", "scale.csv"), "expected --embeddings as well"),
        (("--neutral", "other"), "the neutral stimuli come from encoder"),
        (("--neutral", "nowhere"), "nowhere"),
        (("--intervals", "rest.csv", "--embeddings", "emb", "--confidence", "1"), "confidence 1"),
        (("--scale", "scale.csv", "--embeddings", "other"), "come from encoder"),
        (("--neutral", "calm", "--out", "emb"), "holds other files"),
    ],
)
def test_one_sentence_for_what_does_not_fit(place: Path, more: tuple[str, ...], said: str) -> None:
    done = calibrate(*more, code=2)
    assert said in " ".join(done.stderr.split())
    assert done.stderr.count("affectlab: ") == 1
    assert not (place / "c").exists()


def test_another_folder_is_another_rater(place: Path) -> None:
    calibrate("--neutral", "calm")
    assert HeadBank.load("c").name == "c"
    run_here("calibrate", "m", "--neutral", "calm", "--out", "d", "--name", "mine, calm")
    assert HeadBank.load("d").name == "mine, calm"
    assert HeadBank.load("m").name == "my heads"


def test_what_the_map_did_is_said(place: Path) -> None:
    done = calibrate("--scale", "scale.csv", "--embeddings", "emb", "--json")
    rows = json.loads(done.stdout)["result"]["mapped"]
    assert [row["n"] for row in rows] == [400] * 3
    assert all(row["mae_after"] < row["mae_before"] for row in rows)
    assert all(abs(row["bias_after"]) < 0.05 for row in rows)
    said = " ".join(
        calibrate("--scale", "scale.csv", "--embeddings", "emb", "--neutral", "calm").stdout.split()
    )
    assert "After the map" in said
    assert "the mean rating of neutral stimuli stays a little above it" in said
    assert "all ratings are lower than theirs" in said


def test_machines_are_left_out_in_words_that_hold_here(place: Path) -> None:
    import polars as pl

    table = pl.read_csv("all.csv")
    machine = table.filter(pl.col("rater") == "human 0").with_columns(
        rater=pl.lit("machine"), rater_kind=pl.lit("model"), value=7 - pl.col("value")
    )
    pl.concat([table, machine]).write_csv("mixed.csv")
    done = calibrate("--scale", "mixed.csv", "--embeddings", "emb")
    assert "mixed.csv: 2 people count; 1 model is left out" in " ".join(done.stderr.split())
    assert "--all" not in done.stderr
