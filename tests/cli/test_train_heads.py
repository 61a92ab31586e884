"""``affectlab train heads``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from tests.cli.command import run_here
from tests.cli.heads_data import LABELS, OTHER, write_embeddings, write_ratings

from affectlab.models.embedding import Embeddings
from affectlab.models.heads import HeadBank, head_agreement, targets_from
from affectlab.ratings import read_ratings

FAST = ("--scale", "0-7", "--epochs", "25", "--learning-rate", "0.003", "--batch", "32")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("heads")
    strength = write_embeddings(folder / "emb", 400, 1)
    write_ratings(folder / "people.csv", strength, 1)
    calm = strength.max(axis=1) < 0.5
    names = [f"face 1-{row:04d}" for row in np.flatnonzero(calm)]
    pl.DataFrame({"stimulus": names}).write_csv(folder / "calm.csv")
    machine = write_embeddings(folder / "big", 600, 2)
    write_ratings(folder / "machine.csv", machine, 2, kind="model", noise=2.0)
    write_embeddings(folder / "other", 50, 3, OTHER)
    return folder


@pytest.fixture
def place(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def train(*more: str, out: str = "heads", code: int = 0) -> Any:
    base = ("train", "heads", "people.csv", "--embeddings", "emb", "--out", out, *FAST)
    return run_here(*base, *more, code=code)


def result(done: Any) -> dict[str, Any]:
    found = json.loads(done.stdout)
    assert found["schema"] == "affectlab/train-heads/1"
    answer: dict[str, Any] = found["result"]
    return answer


def test_heads_are_trained_and_judged_on_people_kept_aside(place: Path) -> None:
    done = train("--held-out", "identity", "--neutral", "calm.csv", "--json")
    found = result(done)
    assert set(found["labels"]) == set(LABELS)
    assert found["mean_spearman"] > 0.85
    assert len(found["held_out"]) == 2
    assert all(name.startswith("person ") for name in found["held_out"])
    assert found["stages"][0]["n_rows"] == 400
    # Nothing of the people kept aside was learned from: three heads, 320 pictures of 8 people.
    assert found["stages"][0]["n_rated"] == [320] * 3
    bank = HeadBank.load("heads")
    assert bank.name == "heads"
    assert bank.neutral is not None
    calm = Embeddings.load("emb").subset(pl.read_csv("calm.csv")["stimulus"].to_list())
    assert np.abs(bank.predict(calm, clip=False).mean(axis=0)).max() < 1e-6
    assert found["neutral"]["n"] == len(calm)
    assert not list(place.glob("*.training"))
    # What is printed is what the saved heads do.
    table = read_ratings("people.csv", scale="0-7")
    aside = table.where(pl.col("identity").is_in(found["held_out"]))
    embedded = Embeddings.load("emb").subset(sorted(aside.stimulus_names))
    truth = targets_from(aside, embedded.stimuli, bank.labels)
    again = head_agreement(bank.predict(embedded), truth, bank.labels)
    assert [row["spearman"] for row in found["dev"]] == pytest.approx(again["spearman"].to_list())


def test_what_people_read(place: Path) -> None:
    done = train("--held-out", "identity", "--figures", "figures", "--report", "report")
    for said in (
        "heads: 3 heads on 10 numbers of made up, trained in 1 stage",
        "Judged by 2 values of identity that were kept aside: mean Spearman 0.",
        "spearman",
        "model: heads; its card: heads/README.md",
    ):
        assert said in done.stdout, said
    assert "not calibrated on neutral stimuli" in done.stderr
    assert (place / "figures" / "predictions.svg").stat().st_size > 1000
    page = (place / "report" / "report.html").read_text("utf-8")
    assert "heads" in page
    assert (place / "heads" / "weights.safetensors").is_file()


def test_two_stages(place: Path) -> None:
    found = result(
        train(
            *("--big", "machine.csv", "--big-embeddings", "big", "--big-epochs", "3"),
            *("--labels", "fear,joy", "--json", "--name", "both", "--cap", "0"),
        )
    )
    assert found["labels"] == ["fear", "joy"]
    assert [stage["name"] for stage in found["stages"]] == ["big", "human"]
    assert [stage["source"] for stage in found["stages"]] == ["machine.csv", "people.csv"]
    assert [stage["epochs"] for stage in found["stages"]] == [3, 25]
    assert [stage["cap"] for stage in found["stages"]] == [None, None]
    assert found["stages"][0]["n_rated"] == [600, 600]
    assert found["name"] == "both"
    assert found["dev"] is None
    assert any("nothing says how good" in note for note in found["notes"])


def test_binarised_heads_of_another_shape(place: Path) -> None:
    found = result(
        train("--binarised", "--shape", "big", "--epochs", "1", "--held-out", "identity", "--json")
    )
    assert found["shape"] == [1024, 512, 256]
    assert found["binarised"]
    assert found["scale"] == "times 7"
    assert HeadBank.load("heads").binarised


def test_the_same_seed_gives_the_same_folder(place: Path) -> None:
    for out, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        train("--epochs", "2", "--seed", seed, "--name", "same", "--quiet", out=out)
    weights = [(place / out / "weights.safetensors").read_bytes() for out in "abc"]
    assert weights[0] == weights[1] != weights[2]


def test_a_dev_set_is_taken_out_of_training(place: Path) -> None:
    table = read_ratings("people.csv", scale="0-7")
    table.select(stimuli=list(table.stimulus_names[:100])).write("dev.csv")
    found = result(train("--dev", "dev.csv", "--json"))
    assert found["stages"][0]["n_rated"] == [300] * 3
    assert [row["n"] for row in found["dev"]] == [100] * 3


def test_an_interrupted_run_is_resumed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from affectlab.models.heads import _fit

    whole = result(train("--json", out="whole", code=0))
    before = _fit.train_stage

    def interrupted(*given: Any, **settings: Any) -> Any:
        def stop(_: str, done: int, __: int) -> None:
            if done >= 30:
                raise KeyboardInterrupt

        return before(*given, **(settings | {"report": stop}))

    with monkeypatch.context() as patch:
        patch.setattr(_fit, "train_stage", interrupted)
        train(out="cut", code=130)
    assert not (place / "cut").exists()
    assert (place / "cut.training").is_dir()
    done = train(out="cut", code=2)
    assert "expected --resume to go on with it" in done.stderr
    resumed = result(train("--resume", "--json", out="cut"))
    assert not (place / "cut.training").exists()
    assert resumed["stages"][0]["best_loss"] == whole["stages"][0]["best_loss"]
    assert (place / "cut" / "weights.safetensors").read_bytes() == (
        place / "whole" / "weights.safetensors"
    ).read_bytes()


def test_labels_left_out_are_0_where_asked(place: Path) -> None:
    pl.read_csv("people.csv").filter(pl.col("value") > 0).write_csv("top.csv")
    base = ("train", "heads", "top.csv", "--embeddings", "emb", *FAST, "--epochs", "1", "--json")
    few = result(run_here(*base, "--out", "few"))
    all_ = result(run_here(*base, "--out", "all", "--fill-absent", "ratings"))
    assert max(few["stages"][0]["n_rated"]) < 300
    assert min(all_["stages"][0]["n_rated"]) > 340


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--report", "r"), "expected --held-out or --dev as well"),
        (("--held-out", "identity", "--dev", "people.csv"), "expected one of the two"),
        (("--big-embeddings", "big"), "--big-embeddings is for --big"),
        (("--held-out", "identiti"), "did you mean 'identity'"),
        (("--held-out", "nothing"), "unknown attribute of stimuli 'nothing'"),
        (("--labels", "joi"), "did you mean 'joy'"),
        (("--labels", ","), "names no label"),
        (("--neutral", "people.json"), "people.json"),
        (("--embeddings", "other"), "no rated stimulus is among the 50"),
        (("--embeddings", "nowhere"), "nowhere"),
        (("--big", "machine.csv", "--big-embeddings", "other"), "come from encoder"),
        (("--big", "machine.csv"), "no rated stimulus is among"),
        (("--scale", "0-100"), "heads learn from 0 to 7"),
        (("--learning-rate", "0"), "learning_rate"),
        (("--out", "people.csv"), "is a file"),
        (("--out", "emb"), "holds other files"),
    ],
)
def test_one_sentence_for_what_does_not_fit(place: Path, more: tuple[str, ...], said: str) -> None:
    done = train(*more, code=2)
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stderr.count("affectlab: ") == 1
    assert not (place / "heads").exists()
    assert not list(place.glob("*.training"))


def test_a_report_needs_ratings_to_compare_with(place: Path) -> None:
    strength = write_embeddings(place / "more", 100, 4)
    write_ratings(place / "yes_no.csv", (strength > 2).astype(float), 4, noise=0)
    dev = ("--dev", "yes_no.csv", "--dev-embeddings", "more")
    done = train(*dev, "--report", "report", code=2)
    assert "--report compares ratings from 0 to 7" in done.stderr
    assert not (place / "heads").exists()
    found = result(train(*dev, "--json"))
    assert found["mean_spearman"] > 0.5
