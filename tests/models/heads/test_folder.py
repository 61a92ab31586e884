"""Head banks in folders: what comes back, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from affectlab.core.errors import InputError
from affectlab.models.embedding import Embeddings
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.heads import HeadBank, HeadShape, Stage
from affectlab.models.text import TextClassifier

CARD = EncoderCard("made up", "image", 8, "0ab1", {"size": 64})
LABELS = ["joy", "fear"]


def data(n: int, seed: int) -> tuple[Embeddings, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8)).astype(np.float16)
    Y = np.clip(np.rint(2 + 2 * X[:, :2].astype(float) + rng.normal(0, 0.3, (n, 2))), 0, 7)
    names = tuple(f"face {seed} {row}" for row in range(n))
    return Embeddings(X, names, ("0" * 64,) * n, CARD), Y


@pytest.fixture(scope="module")
def bank() -> HeadBank:
    torch.set_num_threads(1)
    made = HeadBank.make(LABELS, shape=HeadShape((6,), dropout=0.1), binarised=True, name="faces 1")
    made.fit_two_stage(
        data(200, 0),
        data(150, 1),
        big_stage=Stage(epochs=5, learning_rate=1e-4, batch=16),
        human_stage=Stage(epochs=20, learning_rate=0.02, batch=16),
        sources=("machine.parquet", "people.csv"),
    )
    X, Y = data(120, 2)
    made.calibrate_scale(X, Y, source="more.csv").calibrate_neutral(data(30, 3)[0], source="calm")
    return made.calibrate_intervals(*data(150, 4), confidence=0.8, source="other.csv")


@pytest.fixture
def folder(bank: HeadBank, tmp_path: Path) -> Path:
    return bank.save(tmp_path / "model")


def test_everything_comes_back(bank: HeadBank, folder: Path) -> None:
    found = HeadBank.load(folder)
    X, _ = data(40, 9)
    assert np.array_equal(found.scores(X), bank.scores(X))
    assert np.array_equal(found.predict(X), bank.predict(X))
    for mine, theirs in zip(found.predict_intervals(X), bank.predict_intervals(X), strict=True):
        assert np.array_equal(mine, theirs)
    for name in ("labels", "name", "seed", "binarised", "shape", "stages", "encoder", "said"):
        assert getattr(found, name) == getattr(bank, name), name
    assert np.array_equal(found.seen, bank.seen)
    assert found.scale_map == bank.scale_map
    assert found.neutral == bank.neutral
    assert found.intervals == bank.intervals
    assert found.taxonomy == bank.taxonomy
    again = found.save(folder.with_name("again"))
    for file in folder.iterdir():
        if file.suffix != ".npz" and file.name != "README.md":
            assert (again / file.name).read_bytes() == file.read_bytes(), file.name


def test_the_weights_are_plain_safetensors(bank: HeadBank, folder: Path) -> None:
    state = load_file(folder / "weights.safetensors")
    assert {name: tuple(part.shape) for name, part in state.items()} == {
        "layers.0.weight": (2, 8, 6),
        "layers.0.bias": (2, 6),
        "layers.1.weight": (2, 6, 1),
        "layers.1.bias": (2, 1),
    }
    x = data(5, 9)[0].rows()
    hidden = np.maximum(
        x @ state["layers.0.weight"][1].numpy() + state["layers.0.bias"][1].numpy(), 0
    )
    score = hidden @ state["layers.1.weight"][1].numpy() + state["layers.1.bias"][1].numpy()
    assert np.allclose(score[:, 0], bank.scores(x)[:, 1], atol=1e-5)


def test_the_card_says_what_was_done(folder: Path) -> None:
    card = (folder / "README.md").read_text("utf-8")
    for said in (
        "# faces 1",
        "2 heads of 61 parameters each (8-6-1, dropout 0.1) on embeddings of 'made up'",
        "whether an emotion is there (0/1",
        "| big | machine.parquet | 200 |",
        "| human | people.csv | 150 |",
        "by rising maps fitted to more.csv",
        "less the mean of each head over 30 neutral stimuli of calm",
        "80 % intervals, split conformal",
        "affectlab rate model IMAGES",
    ):
        assert said in card, said


def test_saving_again_replaces_a_model_and_nothing_else(bank: HeadBank, folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    bank.save(folder)
    assert (folder / "notes.txt").read_text() == "mine"
    other = folder.with_name("other")
    other.mkdir()
    (other / "thesis.tex").write_text("years")
    with pytest.raises(InputError, match="holds other files"):
        bank.save(other)
    with pytest.raises(InputError, match="not trained yet"):
        HeadBank.make(LABELS).save(folder.with_name("third"))
    assert not folder.with_name("third").exists()


# -- damage --------------------------------------------------------------------------------------


def edited(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    meta = json.loads((folder / "model.json").read_text("utf-8"))
    change(meta)
    (folder / "model.json").write_text(json.dumps(meta), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m.pop("neutral"), "key 'neutral' is missing"),
        (lambda m: m.update(schema="affectlab/text-model/1"), "schema 'affectlab/text-model/1'"),
        (lambda m: m.update(labels=["joy"]), "scale_map is of 2 heads; expected 1"),
        (lambda m: m.update(labels=["joy", "rage"]), "unknown label 'rage'"),
        (lambda m: m.update(labels=7), "expected what save wrote"),
        (lambda m: m.update(taxonomy="not toml ["), "taxonomy"),
        (lambda m: m.update(width=9), "width 9; that of the encoder is 8"),
        (lambda m: m.update(width="8"), "width is '8'"),
        (lambda m: m["shape"].update(hidden=[7]), "expected 2 with layers 8-7-1"),
        (lambda m: m["shape"].update(dropout="x"), "expected what save wrote"),
        (lambda m: m["encoder"].pop("fingerprint"), "fingerprint is None"),
        (lambda m: m["scale_map"]["knots"][0][1].reverse(), "knots of head 1: expected rising"),
        (lambda m: m["scale_map"].pop("factor"), "key 'factor' is missing"),
        (lambda m: m["neutral"]["offsets"].append(1.0), "neutral is of 3 heads; expected 2"),
        (lambda m: m["neutral"].update(offsets=["x", 1]), "expected what save wrote"),
        (lambda m: m["intervals"]["half"][0].pop(), "intervals: expected rising edges"),
        (lambda m: m["intervals"].update(level=2), "confidence 2"),
        (lambda m: m.update(stages=[1]), "stages: expected what save wrote"),
        (lambda m: m.update(seed=-1), "seed = -1"),
        (lambda m: m["weights"].update(blake2b="0"), "changed or damaged"),
        (lambda m: m.update(weights=None), "changed or damaged"),
    ],
)
def test_descriptions_that_do_not_fit(
    folder: Path, change: Callable[[dict[str, Any]], Any], said: str
) -> None:
    edited(folder, change)
    with pytest.raises(InputError, match=said) as error:
        HeadBank.load(folder)
    assert "\n" not in str(error.value)
    assert str(folder) in str(error.value)


def cut(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(bytes(content))


def pickled(path: Path) -> None:
    torch.save({"layers.0.weight": torch.zeros(2, 8, 6)}, path)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda p: p.unlink(), "no such file"),
        (lambda p: cut(p, 0.5), "cannot be read"),
        (lambda p: p.write_bytes(b""), "cannot be read"),
        (pickled, "cannot be read"),
        (flipped, "changed or damaged"),
        (lambda p: save_file({"w": torch.zeros(2)}, p), "expected weight and bias"),
        (
            lambda p: save_file({k: v[:1].clone() for k, v in load_file(p).items()}, p),
            "holds 1 heads with layers 8-6-1; expected 2",
        ),
        (
            lambda p: save_file({k: v * torch.nan for k, v in load_file(p).items()}, p),
            "expected finite numbers",
        ),
    ],
)
def test_weights_that_do_not_fit(folder: Path, damage: Callable[[Path], Any], said: str) -> None:
    damage(folder / "weights.safetensors")
    with pytest.raises(InputError, match=said):
        HeadBank.load(folder)


def test_folders_of_something_else(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        HeadBank.load(tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        InputError, match=r"holds no model.json; expected the folder of a head bank"
    ):
        HeadBank.load(tmp_path / "empty")
    text = TextClassifier.make("linear", taxonomy="ekman")
    text.fit(["so happy", "so scared"], ["joy", "fear"]).save(tmp_path / "text")
    with pytest.raises(InputError, match="schema 'affectlab/text-model/1'"):
        HeadBank.load(tmp_path / "text")
    (folder / "model.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match=r"brackets in brackets|not valid JSON"):
        HeadBank.load(folder)
    (folder / "model.json").write_text('{"schema": "affectlab/head-bank/1", "seed": NaN}')
    with pytest.raises(InputError, match="no finite number"):
        HeadBank.load(folder)


def test_damaged_fingerprints(folder: Path) -> None:
    np.savez(folder / "seen.npz", fingerprints=np.array([1.5]))
    with pytest.raises(InputError, match="expected the fingerprints"):
        HeadBank.load(folder)
    np.savez(folder / "seen.npz", fingerprints=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="cannot be read"):
        HeadBank.load(folder)
