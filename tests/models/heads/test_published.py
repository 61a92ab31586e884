"""Heads in the layout of EmoNet-Face: as torch computes them, with their encoder."""

from __future__ import annotations

import os
import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from affectlab import InputError
from affectlab.models import rate
from affectlab.models.heads import HeadBank, is_published
from affectlab.simulate import face_specs, save_faces
from affectlab.taxonomy import load_taxonomy

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WIDTH = 1152
LABELS = load_taxonomy("emonet_face").labels
SMALL, LARGE = (128, 32), (1024, 512, 256)


def network(hidden: tuple[int, ...], dropout: bool) -> Any:
    """A head as published: with dropout, layers stand at 0, 3 and 6; without, at 0, 2, 4 and 6."""
    sizes, layers = (WIDTH, *hidden), []
    for wide, narrow in pairwise(sizes):
        layers += [torch.nn.Linear(wide, narrow), torch.nn.ReLU()]
        layers += [torch.nn.Dropout(0.1)] if dropout else []
    head = torch.nn.Module()
    head.layers = torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], 1))
    return head


def name_of(label: str, joint: str) -> str:
    """A file name as published, with ``&`` or ``_and_``."""
    words = label.lower().replace("/", "_").replace(" & ", joint)
    return f"model_{words.replace(' ', '_')}_best.pth"


def save(
    folder: Path, hidden: tuple[int, ...] = SMALL, *, dropout: bool = True, joint: str = "_&_"
) -> dict[str, Any]:
    """Save a head of each emotion, and those of other dimensions; give the networks."""
    torch.manual_seed(0)
    folder.mkdir()
    heads = {label: network(hidden, dropout) for label in LABELS}
    for label, head in heads.items():
        torch.save(head.state_dict(), folder / name_of(label, joint))
    for extra in ("arousal", "dominance"):
        torch.save(network(hidden, dropout).state_dict(), folder / f"model_{extra}_best.pth")
    return heads


def features(n: int = 9) -> Any:
    return np.random.default_rng(0).normal(size=(n, WIDTH)).astype(np.float32)


@pytest.mark.parametrize(
    ("hidden", "dropout", "joint"),
    [(SMALL, True, "_&_"), (SMALL, True, "_and_"), (LARGE, True, "_&_"), (LARGE, False, "_&_")],
)
def test_scores_are_those_of_torch(
    tmp_path: Path, hidden: tuple[int, ...], dropout: bool, joint: str
) -> None:
    heads = save(tmp_path / "heads", hidden, dropout=dropout, joint=joint)
    assert is_published(tmp_path / "heads")
    bank = HeadBank.load(tmp_path / "heads")
    assert tuple(bank.labels) == tuple(LABELS)
    given = features()
    with torch.no_grad():
        said = [heads[label].eval().layers(torch.tensor(given))[:, 0] for label in bank.labels]
    np.testing.assert_array_equal(bank.scores(given), torch.stack(said, dim=1).numpy())


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("published") / "Empathic"
    save(place)
    return place


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("skimage")
    place = tmp_path_factory.mktemp("faces")
    save_faces(place, face_specs(2, ["joy", "anger"]), size=64)
    return place


def encoder(place: Path, patch: int) -> str:
    """A tiny SigLIP as wide as the published one."""
    config = transformers.SiglipVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=16,
        image_size=384,
        patch_size=patch,
    )
    transformers.SiglipVisionModel(config).save_pretrained(place)
    kind = getattr(transformers, "SiglipImageProcessorPil", transformers.SiglipImageProcessor)
    kind(size={"height": 384, "width": 384}).save_pretrained(place)
    return f"transformers:{place}"


def test_pictures_are_rated_with_the_encoder_of_the_heads(
    heads: Path, faces: Path, tmp_path: Path
) -> None:
    with pytest.warns(UserWarning, match="not calibrated on neutral stimuli"):
        found = rate(str(heads), faces, encoder=encoder(tmp_path / "encoder", 16))
    assert found.rater_names == ("Empathic",)
    assert found.taxonomy is not None
    assert set(found.label_names) == set(LABELS)
    assert (found.scale.low, found.scale.high) == (0.0, 7.0)


def test_another_encoder_of_the_same_width_is_refused(
    heads: Path, faces: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refused:
        rate(str(heads), faces, encoder=encoder(tmp_path / "encoder", 14))
    said = str(refused.value)
    assert all(word in said for word in ("patch_size", "14", "16", "image_size", "384"))


def test_a_saved_bank_is_that_of_the_published_heads(heads: Path, tmp_path: Path) -> None:
    bank = HeadBank.load(heads)
    bank.save(tmp_path / "ours")
    again = HeadBank.load(tmp_path / "ours")
    np.testing.assert_array_equal(again.scores(features()), bank.scores(features()))
    assert again.encoder == bank.encoder


class Attack:
    """A pickle that makes a file when it is read."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("executed",)


def _broken(place: Path) -> None:
    (place / "model_awe_best.pth").write_bytes(b"no weights")


def _code(place: Path) -> None:
    (place / "model_awe_best.pth").write_bytes(pickle.dumps(Attack(), protocol=2))


def _other_layout(place: Path) -> None:
    torch.save({"fc.weight": torch.zeros(1, WIDTH)}, place / "model_awe_best.pth")


def _other_shape(place: Path) -> None:
    torch.save(network(LARGE, True).state_dict(), place / "model_awe_best.pth")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_broken, "model_awe_best.pth cannot be read as weights alone"),
        (_code, "model_awe_best.pth cannot be read as weights alone"),
        (_other_layout, "expected layers.0.weight"),
        (_other_shape, "holds heads of 2 shapes"),
    ],
)
def test_files_that_are_no_heads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "heads")
    change(tmp_path / "heads")
    with pytest.raises(InputError) as refused:
        HeadBank.load(tmp_path / "heads")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "executed").exists()


def test_a_label_that_two_files_name(tmp_path: Path) -> None:
    save(tmp_path / "heads")
    joint = next(label for label in LABELS if " & " in label)
    first = tmp_path / "heads" / name_of(joint, "_&_")
    (tmp_path / "heads" / name_of(joint, "_and_")).write_bytes(first.read_bytes())
    with pytest.raises(InputError, match="are both of"):
        HeadBank.load(tmp_path / "heads")
