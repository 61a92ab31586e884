"""Vision classifiers on tiny networks with random weights, and heads on embeddings."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from tests.models.embedding.checkpoints import save_checkpoint

from affectlab.core.errors import InputError
from affectlab.evaluation import acc2, accuracy, ecc, emc
from affectlab.models.embedding import Embeddings
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.losses import EmotionRankLoss, expected_cost_labels
from affectlab.models.vision import VisionClassifier, VisionTraining

LABELS = ("awe", "fear", "anger")
COLOURS = {"awe": (30, 60, 230), "fear": (40, 220, 30), "anger": (230, 30, 20)}
CARD = EncoderCard("mine", "image", 12, "0ab1")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_checkpoint("vit", tmp_path_factory.mktemp("vit"))


def coloured(n: int, seed: int) -> tuple[list[Image.Image], list[str]]:
    """Noisy pictures whose colour tells the label."""
    rng = np.random.default_rng(seed)
    labels = [LABELS[at % 3] for at in range(n)]
    pixels = [
        np.clip(rng.normal(COLOURS[name], 40, (36, 40, 3)), 0, 255).astype(np.uint8)
        for name in labels
    ]
    return [Image.fromarray(one) for one in pixels], labels


def clouds(n: int, seed: int, noise: float = 1.0) -> tuple[Embeddings, list[str]]:
    """Embeddings around a centre for each label of the wheel."""
    wheel = ("amusement", "contentment", "awe", "excitement", "fear", "sadness", "disgust", "anger")
    centres = np.random.default_rng(99).standard_normal((8, 12))
    rng = np.random.default_rng(seed)
    labels = [wheel[at % 8] for at in range(n)]
    rows = centres[np.arange(n) % 8] + noise * rng.standard_normal((n, 12))
    names = tuple(f"s{seed}-{at}" for at in range(n))
    return Embeddings(
        rows.astype(np.float16), names, tuple(f"{at:064d}" for at in range(n)), CARD
    ), labels


def head(**settings: Any) -> VisionClassifier:
    return VisionClassifier("mikels", backbone="embedding:mine", **settings)


def weights(model: VisionClassifier) -> dict[str, torch.Tensor]:
    return {name: part.clone() for name, part in model.network.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_a_network_learns_what_pictures_show(vit: Path, tmp_path: Path) -> None:
    images, labels = coloured(24, 0)
    other, truth = coloured(9, 1)
    model = VisionClassifier("mikels", backbone=vit, seed=1)
    model.fit(
        images,
        labels,
        dev=(other, truth),
        loss="rank",
        epochs=8,
        batch_size=8,
        learning_rate=3e-3,
        select="ecc",
        workers=2,
    )
    # In the order of the taxonomy, and not of the data.
    assert set(model.labels) == set(LABELS)
    assert list(model.labels) == [name for name in model.taxonomy.labels if name in LABELS]
    assert model.predict(other) == truth
    proba = model.predict_proba(other)
    assert np.allclose(proba.sum(axis=1), 1)
    kept = model.history[model.best_epoch - 1]
    assert kept["dev ecc"] == max(entry["dev ecc"] for entry in model.history)
    again = VisionClassifier.load(model.save(tmp_path / "model"))
    assert np.allclose(again.predict_proba(other), proba, atol=1e-6)
    assert again.labels == model.labels
    # The folder is a checkpoint of transformers, which says the same.
    ask = transformers.pipeline(
        "image-classification", str(tmp_path / "model"), image_processor=model.processor
    )
    for image, row in zip(other, proba, strict=True):
        said = {one["label"]: one["score"] for one in ask(image, top_k=len(model.labels))}
        assert [said[label] for label in model.labels] == pytest.approx(row, abs=1e-6)
    for one, held in zip(again.history, model.history, strict=True):
        assert one == pytest.approx(held, nan_ok=True)
    ratings = again.rate({"one": other[0], "two": other[1]})
    chosen = ratings.frame.filter(ratings.frame["chosen"] == 1)
    assert chosen["label"].to_list() == truth[:2]
    assert list(ratings.stimulus_names) == ["one", "two"]


def test_a_head_learns_and_is_judged_as_evaluation_judges(tmp_path: Path) -> None:
    train, labels = clouds(320, 1)
    dev, truth = clouds(160, 2)
    model = head(hidden=16).fit(
        train, labels, dev=(dev, truth), loss="soft", epochs=15, learning_rate=0.02
    )
    found = model.predict(dev)
    scores = model.evaluate(dev, truth)
    assert scores["acc"] == accuracy(truth, found) > 0.6
    assert scores["acc2"] == pytest.approx(acc2(truth, found, "mikels"))
    assert scores["ecc"] == pytest.approx(ecc(truth, found, "mikels"))
    assert scores["emc"] == pytest.approx(emc(truth, found, "mikels"))
    kept = model.history[model.best_epoch - 1]
    assert kept["dev acc"] == pytest.approx(scores["acc"])
    assert kept["dev loss"] == pytest.approx(scores["loss"], rel=1e-5)
    proba = model.predict_proba(dev)
    assert model.predict(dev, decide="cost") == expected_cost_labels(proba, "mikels", model.labels)
    by_name = dict(zip(dev.stimuli, truth, strict=True))
    assert model.evaluate(dev, by_name) == scores
    again = VisionClassifier.load(model.save(tmp_path / "head"))
    assert np.array_equal(again.predict_proba(dev), proba)
    assert again.loss == {"loss": "soft", "temperature": 1.0}


def test_the_true_order_makes_milder_mistakes_than_the_reversed_one() -> None:
    train, labels = clouds(240, 1, 2.5)
    dev, truth = clouds(800, 2, 2.5)
    reached = {
        order: head(seed=1)
        .fit(train, labels, loss="rank", lam=3.0, order=order, epochs=15)
        .evaluate(dev, truth)
        for order in ("true", "reversed")
    }
    assert reached["true"]["emc"] > reached["reversed"]["emc"] + 0.02
    assert reached["true"]["ecc"] > reached["reversed"]["ecc"]


def test_lam_0_learns_the_weights_of_cross_entropy() -> None:
    train, labels = clouds(64, 1)
    alone = head().fit(train, labels, epochs=3)
    nothing = head().fit(train, labels, loss="rank", lam=0, epochs=3)
    ranked = head().fit(train, labels, loss="rank", lam=1, epochs=3)
    assert same(weights(alone), weights(nothing))
    assert not same(weights(alone), weights(ranked))


def test_a_module_may_be_the_loss() -> None:
    train, labels = clouds(64, 1)
    named = head().fit(train, labels, loss="rank", lam=0.5, epochs=2)
    own = EmotionRankLoss("mikels", named.labels, lam=0.5)
    assert same(weights(head().fit(train, labels, loss=own, epochs=2)), weights(named))


class _Stops(Exception):
    """Stops a run, as whoever is at the keyboard does."""


@pytest.mark.parametrize("at", [3, 7, 11])
def test_an_interrupted_run_goes_on_as_if_nothing_had_been(tmp_path: Path, at: int) -> None:
    train, labels = clouds(96, 1)
    dev, truth = clouds(80, 2)
    settings: dict[str, Any] = {
        "dev": (dev, truth), "loss": "rank", "epochs": 4, "batch_size": 25, "select": "emc",
    }  # fmt: skip
    whole = head(dropout=0.3).fit(train, labels, **settings)

    def stop(_: str, step: int, __: int) -> None:
        if step == at:
            raise _Stops

    kept: dict[str, Any] = {"checkpoints": tmp_path / "states", "checkpoint_steps": 2}
    with pytest.raises(_Stops):
        head(dropout=0.3).fit(train, labels, progress=stop, **settings, **kept)
    again = head(dropout=0.3).fit(train, labels, **settings, **kept)
    assert same(weights(again), weights(whole))
    assert again.best_epoch == whole.best_epoch
    with pytest.raises(InputError, match="another run"):
        head(dropout=0.3, seed=5).fit(train, labels, **settings, **kept)
    other = EmotionRankLoss("mikels", whole.labels, lam=0.5)
    with pytest.raises(InputError, match="another run"):
        head(dropout=0.3).fit(train, labels, **{**settings, "loss": other}, **kept)


def test_interrupted_pictures_are_changed_as_they_would_have_been(
    vit: Path, tmp_path: Path
) -> None:
    images, labels = coloured(12, 0)
    settings: dict[str, Any] = {"epochs": 2, "batch_size": 4, "workers": 3}
    whole = VisionClassifier("mikels", backbone=vit).fit(images, labels, **settings)

    def stop(_: str, step: int, __: int) -> None:
        if step == 4:
            raise _Stops

    kept: dict[str, Any] = {"checkpoints": tmp_path / "states", "checkpoint_steps": 1}
    model = VisionClassifier("mikels", backbone=vit)
    with pytest.raises(_Stops):
        model.fit(images, labels, progress=stop, **settings, **kept)
    with pytest.raises(InputError, match="not trained"):
        model.predict(images)
    settings["workers"] = 1
    model.fit(images, labels, **settings, **kept)
    assert same(weights(model), weights(whole))
    still = VisionClassifier("mikels", backbone=vit)
    still.fit(images, labels, augment="none", **settings)
    assert not same(weights(still), weights(whole))


def test_patience_stops_and_the_best_epoch_is_kept() -> None:
    train, labels = clouds(48, 1, 3.0)
    dev, truth = clouds(40, 2, 3.0)
    model = head(hidden=32).fit(
        train, labels, dev=(dev, truth), epochs=60, learning_rate=0.05, patience=3, select="emc"
    )
    assert len(model.history) == model.best_epoch + 3 < 60
    kept = model.history[model.best_epoch - 1]["dev emc"]
    assert model.evaluate(dev, truth)["emc"] == pytest.approx(kept)
    assert all(kept >= entry["dev emc"] for entry in model.history)


def test_micro_batches_change_nothing_but_rounding() -> None:
    train, labels = clouds(40, 1)
    common: dict[str, Any] = {"loss": "rank", "ties": "averaged", "epochs": 2, "batch_size": 20}
    whole = head(dropout=0).fit(train, labels, **common)
    parts = head(dropout=0).fit(train, labels, micro_batch=7, **common)
    for name, part in weights(whole).items():
        assert torch.allclose(part, weights(parts)[name], atol=1e-5)


def test_half_precision_learns() -> None:
    train, labels = clouds(320, 1)
    model = head().fit(train, labels, loss="rank", epochs=15, learning_rate=0.02, precision="bf16")
    assert all(part.dtype == torch.float32 for part in weights(model).values())
    assert model.evaluate(*clouds(160, 2))["acc"] > 0.6


def test_a_frozen_network_keeps_all_but_its_last_layer(vit: Path) -> None:
    images, labels = coloured(9, 0)
    options: dict[str, Any] = {"epochs": 1, "batch_size": 9, "warmup": 0}
    model = VisionClassifier("mikels", backbone=vit, frozen=True)
    model.fit(images, labels, learning_rate=1e-9, **options)
    start = weights(model)
    found = weights(model.fit(images, labels, learning_rate=0.01, **options))
    changed = {
        name.partition(".")[0] for name in found if not torch.equal(found[name], start[name])
    }
    assert changed == {"classifier"}


@pytest.mark.parametrize("name", ["resnet", "clip", "dinov2"])
def test_other_architectures(name: str, tmp_path: Path) -> None:
    images, labels = coloured(7, 0)
    place = save_checkpoint(name, tmp_path / name)
    model = VisionClassifier("mikels", backbone=place)
    # A batch of one row would stop norms over batches.
    model.fit(images, labels, epochs=1, batch_size=6)
    again = VisionClassifier.load(model.save(tmp_path / "model"))
    assert np.allclose(again.predict_proba(images), model.predict_proba(images), atol=1e-6)


@pytest.mark.parametrize("name", ["hog", "folder"])
def test_a_loaded_head_embeds_images_as_it_learned_to(name: str, vit: Path, tmp_path: Path) -> None:
    images, labels = coloured(9, 0)
    model = VisionClassifier("mikels", backbone=f"embedding:{vit if name == 'folder' else name}")
    model.fit(images, labels, epochs=2)
    found = model.predict_proba(images)
    again = VisionClassifier.load(model.save(tmp_path / "model"))
    assert np.allclose(again.predict_proba(images), found, atol=1e-6)
    given = Embeddings(clouds(9, 1)[0].values, clouds(9, 1)[0].stimuli, ("0" * 64,) * 9, CARD)
    with pytest.raises(InputError, match="trained on those of"):
        again.predict(given)
    assert model.fit(given, labels, epochs=1).backbone == "embedding:mine"


def test_files_are_found_and_labels_by_name(vit: Path, tmp_path: Path) -> None:
    images, labels = coloured(6, 0)
    for at, image in enumerate(images):
        image.save(tmp_path / f"{at}.png")
    by_name = {str(at): name for at, name in enumerate(labels)}
    one = VisionClassifier("mikels", backbone=vit).fit(tmp_path, by_name, epochs=1)
    two = VisionClassifier("mikels", backbone=vit).fit(images, labels, epochs=1)
    assert same(weights(one), weights(two))
    with pytest.raises(InputError, match="1 stimulus without a label, such as '5'"):
        VisionClassifier("mikels", backbone=vit).fit(
            tmp_path, {name: by_name[name] for name in "01234"}, epochs=1
        )


def test_bad_input(vit: Path, tmp_path: Path) -> None:
    train, labels = clouds(16, 1)
    images, shown = coloured(3, 0)
    cases: list[tuple[Any, str]] = [
        (lambda: head().fit(train, labels[:-1]), "15 labels for 16 images"),
        (lambda: head().fit(train, ["hunger", *labels[1:]]), "'hunger'"),
        (lambda: head().fit(train, [3, *labels[1:]]), "row 0: 3 is no label"),  # type: ignore[list-item]
        (lambda: head().fit(train, ["awe"] * 16), "two labels at least"),
        (lambda: head(labels=["awe", "fear"]).fit(train, labels), "unknown label 'amusement'"),
        (lambda: head().fit(train, labels, loss="rang"), "unknown loss 'rang'"),  # type: ignore[arg-type]
        (lambda: head().fit(train, labels, epoch=3), "did you mean 'epochs'"),
        (lambda: head().fit(train, labels, epochs=0), "epochs = 0"),
        (lambda: head().fit(train, labels, select="f1"), "unknown select 'f1'"),
        (lambda: head().fit(train, labels, augment="weak"), "cannot be changed"),
        (lambda: head().fit(train, labels, augment="strang"), "unknown augmentation"),
        (lambda: head().fit(train, labels, learning_rate=0), "learning_rate = 0"),
        (lambda: head().fit(train, labels, learning_rate=1e30, clip=0, epochs=4), "diverged"),
        (lambda: head().fit(train, labels, dev=train), "a pair of images"),  # type: ignore[arg-type]
        (lambda: head().fit(train, labels, lam=-1, loss="rank"), "lam = -1"),
        (lambda: head().predict(train), "not trained"),
        (lambda: head().save(tmp_path / "x"), "not trained"),
        (lambda: head(dropout=1), "dropout = 1"),
        (lambda: head(hidden=-1), "hidden = -1"),
        (lambda: VisionClassifier("mikels", backbone=vit).fit(train, labels), "no embeddings"),
        (lambda: VisionClassifier("mikels", backbone=vit).fit([images[0], "a"], shown[:2]), "str"),
        (lambda: VisionClassifier("mikels", backbone=tmp_path).fit(images, shown), "config.json"),
    ]
    for run, said in cases:
        with pytest.raises(InputError, match=said):
            run()
    model = head().fit(train, labels, epochs=1)
    other = EncoderCard("other", "image", 12, "ffff")
    with pytest.raises(InputError, match="trained on those of"):
        model.predict(Embeddings(train.values, train.stimuli, train.hashes, other))


def test_a_taxonomy_without_costs_knows_accuracy_alone() -> None:
    from affectlab.taxonomy import Taxonomy

    train, labels = clouds(40, 1)
    plain = Taxonomy.from_labels(sorted(set(labels)), name="plain")
    model = VisionClassifier(plain, backbone="embedding:mine")
    model.fit(train, labels, dev=(train, labels), epochs=2)
    assert set(model.evaluate(train, labels)) == {"acc", "loss"}
    for wanted in ({"select": "emc"}, {"loss": "rank"}):
        with pytest.raises(InputError):
            VisionClassifier(plain, backbone="embedding:mine").fit(
                train,
                labels,
                dev=(train, labels),
                epochs=2,
                **wanted,  # type: ignore[arg-type]
            )


def test_folders_that_were_tampered_with(tmp_path: Path) -> None:
    train, labels = clouds(16, 1)
    place = head().fit(train, labels, epochs=1).save(tmp_path / "model")

    def changed(name: str, **changes: Any) -> Path:
        copy = tmp_path / name
        shutil.copytree(place, copy)
        meta = json.loads((copy / "model.json").read_text())
        (copy / "model.json").write_text(json.dumps(meta | changes))
        return copy

    training = json.loads((place / "model.json").read_text())["training"]
    cases = [
        (changed("a", best_epoch=9), "best_epoch"),
        (changed("b", labels=["awe", "fear"]), "does not fit"),
        (changed("c", training=training | {"checkpoints": "/x"}), "none that save writes"),
        (changed("d", schema="affectlab/vision-model/9"), "schema"),
        (changed("e", encoder=None), "encoder"),
        (tmp_path / "nowhere", "no such folder"),
    ]
    (changed("f") / "head.safetensors").unlink()
    cases.append((tmp_path / "f", "no such file"))
    for folder, said in cases:
        with pytest.raises(InputError, match=said):
            VisionClassifier.load(folder)


def test_settings_of_rates() -> None:
    plan = VisionTraining(epochs=10, learning_rate=1.0, warmup=0.1)
    rates = [plan.rate(step, 10) for step in range(100)]
    assert rates[9] == rates[10] == 1.0
    assert rates[0] == pytest.approx(0.1)
    assert rates[55] == pytest.approx(0.5)
    assert all(a > b for a, b in pairwise(rates[10:]))


WORKER = """
import sys
import torch
import transformers
torch.set_num_threads(1)
sys.path.insert(0, sys.argv[2])
from test_classifier import clouds, head
model = head(dropout=0).fit(
    *clouds(61, 1), dev=clouds(40, 2), loss="rank", ties="averaged", epochs=2, batch_size=15,
    device="cpu",
)
assert torch.distributed.get_world_size() == 2
model.save(sys.argv[1])
"""


@pytest.mark.long
def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    # 61 rows in batches of at most 15: shares are odd.
    alone = head(dropout=0).fit(
        *clouds(61, 1), dev=clouds(40, 2), loss="rank", ties="averaged", epochs=2, batch_size=15
    )
    script = tmp_path / "worker.py"
    script.write_text(WORKER, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2"]
    command += ["--master_addr=127.0.0.1", f"--master_port={port}", str(script)]
    command += [str(tmp_path / "model"), str(Path(__file__).parent)]
    paths = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])
    env = {
        **os.environ,
        "ACCELERATE_USE_CPU": "true",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": paths,
    }
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=env, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    together = VisionClassifier.load(tmp_path / "model")
    assert together.best_epoch == alone.best_epoch
    for name, part in weights(alone).items():
        assert torch.allclose(weights(together)[name], part, atol=1e-5), name
