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
from tests.cli.heads_data import CARD, LABELS, OTHER, write_embeddings, write_ratings
from tests.models.embedding.network import nothing_is_reached

from affectlab.models.embedding import Embeddings
from affectlab.models.heads import HeadBank, head_agreement, targets_from
from affectlab.models.heads.notes import learning_notes
from affectlab.ratings import read_ratings

FAST = (
    "--scale",
    "0-7",
    "--epochs",
    "25",
    "--config",
    "learning_rate=0.003",
    "--config",
    "batch=32",
)

__all__ = ["nothing_is_reached"]


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
    done = train("--held-out", "identity", "--config", "neutral=calm.csv", "--json")
    found = result(done)
    assert set(found["labels"]) == set(LABELS)
    assert found["mean_spearman"] > 0.85
    assert len(found["held_out"]) == 2
    assert all(name.startswith("person ") for name in found["held_out"])
    assert found["stages"][0]["n_rows"] == 320
    # Nothing of the people kept aside was learned from: three heads, 320 pictures of 8 people.
    assert found["stages"][0]["n_rated"] == [320] * 3
    bank = HeadBank.load("heads")
    assert bank.name == "heads"
    assert bank.neutral is not None
    # Nor were neutral faces of theirs calibrated on.
    calm = Embeddings.load("emb").subset(
        name
        for name in pl.read_csv("calm.csv")["stimulus"]
        if f"person {int(name[-4:]) % 10}" not in found["held_out"]
    )
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
        "Spearman",
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
            *("--big", "machine.csv", "--config", "big_embeddings=big", "--config", "big_epochs=3"),
            *(
                "--config",
                "labels=fear,joy",
                "--json",
                "--config",
                "name=both",
                "--config",
                "cap=0",
            ),
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


@pytest.mark.parametrize("said", ["yes or no", "fractions"])
def test_people_and_a_machine_may_answer_on_scales_of_their_own(place: Path, said: str) -> None:
    """People say yes or no and a machine how much; or people whole numbers, a machine fractions."""
    if said == "yes or no":
        table = pl.read_csv("people.csv").with_columns((pl.col("value") > 0).cast(pl.Int64))
        table.write_csv("answers.csv")
        machine, more = "machine.csv", ["--config", "binarised=true"]
    else:
        table = pl.read_csv("machine.csv").with_columns(0.93 * pl.col("value"))
        table.write_csv("fine.csv")
        pl.read_csv("people.csv").write_csv("answers.csv")
        machine, more = "fine.csv", ["--scale", "0-7"]
    base = ("train", "heads", "answers.csv", "--embeddings", "emb", "--out", "heads", "--json")
    both = (
        "--big",
        machine,
        "--config",
        "big_embeddings=big",
        "--config",
        "big_epochs=1",
        "--epochs",
        "1",
    )
    found = result(run_here(*base, *both, *more))
    assert [stage["n_rated"] for stage in found["stages"]] == [[600] * 3, [400] * 3]
    assert [stage["source"] for stage in found["stages"]] == [machine, "answers.csv"]


def test_binarised_heads_of_another_shape(place: Path) -> None:
    found = result(
        train(
            "--config",
            "binarised=true",
            "--config",
            "shape=big",
            "--epochs",
            "1",
            "--held-out",
            "identity",
            "--json",
        )
    )
    assert found["shape"] == [1024, 512, 256]
    assert found["binarised"]
    assert found["scale"] == "times 7"
    assert HeadBank.load("heads").binarised


def test_the_same_seed_gives_the_same_folder(place: Path) -> None:
    for out, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        train("--epochs", "2", "--seed", seed, "--config", "name=same", "--quiet", out=out)
    weights = [(place / out / "weights.safetensors").read_bytes() for out in "abc"]
    assert weights[0] == weights[1] != weights[2]


def test_a_dev_set_is_taken_out_of_training(place: Path) -> None:
    table = read_ratings("people.csv", scale="0-7")
    table.select(stimuli=list(table.stimulus_names[:100])).write("dev.csv")
    found = result(train("--dev", "dev.csv", "--json"))
    assert found["stages"][0]["n_rated"] == [300] * 3
    assert [row["n"] for row in found["dev"]] == [100] * 3


def test_an_interrupted_run_is_resumed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from affectlab.models.heads import fit as _fit

    whole = result(train("--json", out="whole", code=0))
    before = _fit.train_stage

    def interrupted(*given: Any, **settings: Any) -> Any:
        def stop(_: str, done: int, __: int) -> None:
            if done >= 30:
                raise KeyboardInterrupt

        return before(*given, **(settings | {"progress": stop}))

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
    all_ = result(run_here(*base, "--out", "all", "--absent", "zero"))
    assert max(few["stages"][0]["n_rated"]) < 300
    assert min(all_["stages"][0]["n_rated"]) > 340


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--report", "r"), "expected --held-out or --dev as well"),
        (("--held-out", "identity", "--dev", "people.csv"), "expected one of the two"),
        (("--config", "big_embeddings=big"), "big_embeddings is for --big"),
        (("--held-out", "identiti"), "did you mean 'identity'"),
        (("--held-out", "nothing"), "unknown attribute of stimuli 'nothing'"),
        (("--config", "labels=joi"), "did you mean 'joy'"),
        (("--config", "labels=,"), "names no label"),
        (("--config", "neutral=people.json"), "people.json"),
        (("--embeddings", "other"), "no rated stimulus is among the 50"),
        (("--embeddings", "nowhere"), "nowhere"),
        (("--big", "machine.csv", "--config", "big_embeddings=other"), "come from encoder"),
        (("--big", "machine.csv"), "no rated stimulus is among"),
        (("--scale", "0-100"), "heads learn from 0 to 7"),
        (("--config", "learning_rate=0"), "learning_rate"),
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
    dev = ("--dev", "yes_no.csv", "--config", "dev_embeddings=more")
    done = train(*dev, "--report", "report", code=2)
    assert "--report compares ratings from 0 to 7" in done.stderr
    assert not (place / "heads").exists()
    found = result(train(*dev, "--json"))
    assert found["mean_spearman"] > 0.5


# -- what is kept aside stays out of everything ---------------------------------------------------


def made_up(place: Path) -> None:
    """300 pictures of ten persons: people rated the first 150, a machine all of them."""
    strength = write_embeddings(place / "faces", 300, 7)
    everyone = pl.read_csv(write_ratings(place / "m.csv", strength, 7, kind="model"))
    people = pl.read_csv(write_ratings(place / "p.csv", strength, 7))
    first = pl.col("stimulus").str.slice(-4).cast(int) < 150
    people.filter(first).write_csv(place / "p.csv")
    everyone.drop("identity").write_csv(place / "unknown.csv")
    people.filter(first, pl.col("stimulus").str.slice(-4).cast(int) >= 100).write_csv(
        place / "last.csv"
    )
    embedded = Embeddings.load(place / "faces")
    renamed = tuple(f"copy of {name}" for name in embedded.stimuli)
    Embeddings(np.asarray(embedded.values), renamed, embedded.hashes, CARD).save(place / "copy")
    everyone.with_columns(stimulus=pl.lit("copy of ") + pl.col("stimulus")).write_csv(
        place / "copy.csv"
    )


def trained_on(place: Path, *more: str) -> dict[str, Any]:
    made_up(place)
    base = ("train", "heads", "p.csv", "--embeddings", "faces", "--out", "h", *FAST)
    return result(run_here(*base, "--epochs", "1", "--config", "big_epochs=1", "--json", *more))


@pytest.mark.parametrize(
    "big",
    [
        ("--big", "m.csv"),
        ("--big", "m.csv", "--config", "big_embeddings=faces"),
        ("--big", "copy.csv", "--config", "big_embeddings=copy"),
    ],
)
def test_who_is_held_out_is_held_out_of_the_first_stage(place: Path, big: tuple[str, ...]) -> None:
    found = trained_on(place, *big, "--held-out", "identity")
    # Eight of ten persons, those too whom only the machine rated.
    assert [stage["n_rated"] for stage in found["stages"]] == [[240] * 3, [120] * 3]


def test_a_machine_that_names_nobody(place: Path) -> None:
    made_up(place)
    table = pl.DataFrame(
        {
            "stimulus": [f"face 7-{row:04d}" for row in range(300)],
            "identity": [f"person {row % 10}" for row in range(300)],
        }
    )
    table.write_csv(place / "stimuli.csv")
    big = ("--big", "unknown.csv", "--held-out", "identity")
    known = trained_on(place, *big, "--stimuli", "stimuli.csv")
    assert known["stages"][0]["n_rated"] == [240] * 3
    (place / "h").rename(place / "before")
    base = ("train", "heads", "p.csv", "--embeddings", "faces", "--out", "h", *FAST, *big)
    done = run_here(*base, "--epochs", "1", "--json")
    assert result(done)["stages"][0]["n_rated"] == [270] * 3
    said = " ".join(json.loads(done.stdout)["warnings"])
    assert "150 stimuli of --big without identity" in said


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--config", "dev_embeddings=faces"),
        ("--config", "dev_embeddings=faces", "--big", "m.csv"),
    ],
)
def test_a_dev_set_is_taken_out_by_content(place: Path, more: tuple[str, ...]) -> None:
    found = trained_on(place, "--dev", "last.csv", *more)
    assert found["stages"][-1]["n_rated"] == [100] * 3
    if "--big" in more:
        assert found["stages"][0]["n_rated"] == [250] * 3


def test_neutral_stimuli_of_who_is_held_out_are_left_out(place: Path) -> None:
    made_up(place)
    names = [f"face 7-{row:04d}" for row in range(20)]
    pl.DataFrame({"stimulus": names}).write_csv(place / "calm2.csv")
    done = run_here(
        *("train", "heads", "p.csv", "--embeddings", "faces", "--out", "h", *FAST, "--json"),
        *("--epochs", "1", "--held-out", "identity", "--config", "neutral=calm2.csv"),
    )
    found = result(done)
    assert found["neutral"]["n"] == 16
    assert any("4 neutral stimuli are kept aside" in note for note in found["notes"])
    # Those that are left were learned from.
    assert any("of which 16 were used" in said for said in json.loads(done.stdout)["warnings"])


def test_machines_among_the_people_do_not_judge(place: Path) -> None:
    made_up(place)
    people = pl.read_csv(place / "last.csv")
    against = people.filter(pl.col("rater") == "human 0").with_columns(
        value=7 - pl.col("value"), rater=pl.lit("contrary"), rater_kind=pl.lit("model")
    )
    pl.concat([people, against]).write_csv(place / "both.csv")
    base = ("train", "heads", "p.csv", "--embeddings", "faces", *FAST, "--json")
    alone = result(run_here(*base, "--out", "a", "--dev", "last.csv"))
    both = result(run_here(*base, "--out", "b", "--dev", "both.csv"))
    assert both["dev"] == alone["dev"]
    assert "both.csv: 2 people count; 1 model is left out" in both["notes"]


def test_labels_without_a_rank_correlation_are_counted(place: Path) -> None:
    made_up(place)
    flat = pl.read_csv(place / "last.csv").with_columns(
        value=pl.when(pl.col("label") == "awe").then(3).otherwise("value")
    )
    flat.write_csv(place / "flat.csv")
    base = ("train", "heads", "p.csv", "--embeddings", "faces", *FAST, "--dev", "flat.csv")
    found = result(run_here(*base, "--out", "a", "--json"))
    assert found["n_defined"] == 2
    assert any("no rank correlation for awe" in note for note in found["notes"])
    said = run_here(*base, "--out", "b", width=160).stdout
    assert "over 2 of 3 labels" in said
    assert "constant ratings" in said


# -- what is said ---------------------------------------------------------------------------------


def test_how_good_they_are_stays_in_the_folder(place: Path) -> None:
    found = result(train("--held-out", "identity", "--json"))
    judged = HeadBank.load("heads").judged
    assert judged is not None
    assert judged["by"] == "2 values of identity that were kept aside"
    assert judged["labels"] == found["dev"]
    card = (place / "heads" / "README.md").read_text("utf-8")
    assert "Judged by 2 values of identity that were kept aside; scores as they are" in card


def test_heads_that_saw_little_or_were_not_done_are_told(place: Path) -> None:
    slow = ("--epochs", "4", "--config", "learning_rate=1e-4", "--config", "cap=0.05")
    notes = result(train(*slow, "--json"))["notes"]
    assert any("3 of 3 heads learned from fewer than 100 rows" in note for note in notes)
    assert any("balancing left less than a quarter" in note for note in notes)
    assert any("got better up to the end of 4 epochs" in note for note in notes)
    quick = result(train("--epochs", "120", "--config", "cap=0", "--json", out="quick"))["notes"]
    assert not any("heads" in note and "of 3" in note for note in quick)


def test_nobody_is_told_to_take_all_rows_who_has_taken_them() -> None:
    stage = {
        "rows_per_head": [60],
        "validation_rows_per_head": [4],
        "n_rated": [64],
        "best_epoch": [1],
        "epochs": 60,
        "binarised": False,
    }
    few = "1 of 1 head learned from fewer than 100 rows, awe from 60: rate more stimuli"
    assert learning_notes(stage | {"cap": None}, ("awe",)) == [few]
    (capped,) = learning_notes(stage | {"cap": 0.5}, ("awe",))
    assert capped == f"{few}, or take more of them with --config cap=0"


def test_a_run_that_diverged_at_once_leaves_nothing_behind(place: Path) -> None:
    done = train("--config", "learning_rate=1e30", code=2)
    said = " ".join(done.stderr.split())
    assert "training diverged in epoch 1" in said
    assert "lower learning rate (--config learning_rate=)" in said
    assert any(f"'{label}'" in said for label in LABELS)
    assert not list(place.glob("*.training"))
    train("--epochs", "1")


def test_all_labels_that_cannot_be_learned_are_named(place: Path) -> None:
    flat = pl.read_csv("people.csv").with_columns(
        value=pl.when(pl.col("label") == "joy").then("value").otherwise(0)
    )
    flat.write_csv("flat.csv")
    base = ("train", "heads", "flat.csv", "--embeddings", "emb", "--out", "h", *FAST)
    said = " ".join(run_here(*base, code=2).stderr.split())
    assert "all 400 ratings are alike" in said
    assert "leave them out (--labels joy)" in said
    assert "'fear'" in said
    assert "'awe'" in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--config", "neutral=other"), "neutral other come from encoder"),
        (
            ("--dev", "dev.csv", "--config", "dev_embeddings=other"),
            "dev_embeddings other come from",
        ),
    ],
)
def test_encoders_are_compared_before_training(
    place: Path, more: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_ratings("people.csv", scale="0-7").write("dev.csv")

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("training began")

    monkeypatch.setattr(HeadBank, "fit", never)
    assert said in " ".join(train(*more, code=2).stderr.split())
    assert not list(place.glob("*.training"))


def test_neutral_stimuli_are_looked_up_once(tmp_path: Path) -> None:
    from affectlab.models.heads.sources import neutral_of

    class Counted(tuple[str, ...]):
        reads = 0

        def __iter__(self) -> Any:
            Counted.reads += 1
            return super().__iter__()

    names = Counted(f"face {row}" for row in range(2000))
    embedded = Embeddings(
        np.zeros((2000, 10), dtype=np.float16), names, tuple(f"{r:064d}" for r in range(2000)), CARD
    )
    pl.DataFrame({"stimulus": names[:500]}).write_csv(tmp_path / "calm.csv")
    Counted.reads = 0
    assert len(neutral_of(tmp_path / "calm.csv", embedded)) == 500
    assert Counted.reads < 10
