"""Encoders by name, of other packages, and made of functions."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from PIL import Image

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.models.embedding.encoder import (
    Encoder,
    batch_of,
    check_encoder,
    digest,
    encode_batch,
)
from affectlab.models.embedding.offline_texts import fit_text_encoder
from affectlab.models.embedding.registry import list_encoders, load_encoder

from .checkpoints import pictures, save_checkpoint
from .network import nothing_is_reached

__all__ = ["nothing_is_reached"]


class Mean:
    """The mean colour of an image."""

    name, kind, width, fingerprint = "mean", "image", 3, "mean-1"
    settings: dict[str, object] = {}  # noqa: RUF012

    def encode(self, batch):
        return np.array([np.asarray(image).mean(axis=(0, 1)) for image in batch])


def lengths(texts):
    return [[len(text), text.count(" ")] for text in texts]


def test_names():
    names = list_encoders()
    assert names[:4] == ("faces", "hog", "lbp", "texts")
    assert {"siglip2", "clip", "dinov2", "transformers"} <= set(names)
    for name in ("faces", "hog", "lbp", "texts"):
        assert isinstance(load_encoder(name), Encoder)
    for wrong, said in (
        ("siglip", "did you mean 'siglip2'"),
        ("", "unknown encoder ''"),
        ("faces:x", "takes nothing behind a colon"),
        ("transformers:", "behind a colon"),
    ):
        with pytest.raises(InputError, match=said):
            load_encoder(wrong)
    with pytest.raises(InputError, match="not int"):
        load_encoder(3)


def test_a_folder_is_taken_for_what_it_holds(tmp_path):
    """By itself it is the encoder that its longer name is."""
    with pytest.raises(InputError, match=r"holds neither config\.json nor model\.json"):
        load_encoder(str(tmp_path))
    place = save_checkpoint("vit", tmp_path / "vit")
    whole = load_encoder(f"transformers:{place}", device="cpu")
    assert load_encoder(str(place), device="cpu").fingerprint == whole.fingerprint
    fit_text_encoder(["so happy", "so sad", "sad"], tmp_path / "words", width=2, min_texts=1)
    named = load_encoder(f"texts:{tmp_path / 'words'}")
    assert load_encoder(str(tmp_path / "words")).fingerprint == named.fingerprint


def test_encoders_that_are_ready():
    mean = Mean()
    assert load_encoder(mean) is mean
    assert batch_of(mean) == 32
    found = encode_batch(mean, pictures(3))
    assert (found.shape, found.dtype) == ((3, 3), np.float32)
    assert load_encoder(mean, device="auto", precision="auto") is mean


@pytest.mark.parametrize(
    ("attribute", "value", "said"),
    [
        ("kind", "sound", "kind 'sound'"),
        ("width", 0, "width 0"),
        ("width", 2.0, "width 2.0"),
        ("width", True, "width True"),
        ("name", "", "name ''"),
        ("fingerprint", None, "fingerprint None"),
        ("settings", 3, "settings are of type int"),
        ("encode", 3, "encode cannot be called"),
    ],
)
def test_what_is_no_encoder(attribute, value, said):
    odd = Mean()
    setattr(odd, attribute, value)
    with pytest.raises(InputError, match=said):
        load_encoder(odd)


def test_what_encoders_give_is_checked():
    mean = Mean()
    for given, said in (
        (np.zeros((2, 3)), r"of shape \(2, 3\) for 1 images"),
        (np.zeros(3), r"of shape \(3,\)"),
        (np.array([["a", "b", "c"]]), "expected numbers of shape"),
        (np.array([[0, np.nan, 1]]), "not finite for input 0"),
    ):
        mean.encode = lambda batch, given=given: given
        with pytest.raises(InputError, match=said):
            encode_batch(mean, pictures(1))
    for batch, said in (
        (["a"], "takes images; input 0 is of type str"),
        ([Image.new("L", (2, 2))], "image 0 has mode 'L'; expected 'RGB'"),
        ("abc", "expected a list of images"),
    ):
        with pytest.raises(InputError, match=said):
            encode_batch(Mean(), batch)
    mean.batch = 0
    with pytest.raises(InputError, match="batch 0"):
        batch_of(mean)


def test_functions():
    encoder = load_encoder(lengths, kind="text")
    assert check_encoder(encoder, "lengths") is encoder
    assert (encoder.name, encoder.kind, encoder.width) == ("lengths", "text", 2)
    assert encode_batch(encoder, ["so happy", ""]).tolist() == [[8, 1], [0, 0]]
    # The same function is the same encoder; another one, or another version of it, is not.
    assert load_encoder(lengths, kind="text").fingerprint == encoder.fingerprint
    others = (
        load_encoder(lengths, kind="text", version="2"),
        load_encoder(lengths, kind="text", name="other"),
        load_encoder(lambda texts: [[0, 0] for _ in texts], kind="text", name="lengths"),
    )
    assert encoder.fingerprint not in {other.fingerprint for other in others}
    mean = load_encoder(Mean().encode, name="mean", batch=4)
    assert (mean.kind, mean.width, mean.batch) == ("image", 3, 4)


@pytest.mark.parametrize(
    ("function", "settings", "said"),
    [
        (lambda batch: [1.0] * len(batch), {}, r"shape \(3,\) for 3 inputs"),
        (lambda batch: np.zeros((3, 0)), {}, r"shape \(3, 0\)"),
        (lambda batch: np.zeros((1, 4)), {}, r"shape \(1, 4\)"),
        (lambda batch: 1 / 0, {}, "fails on 3 inputs .ZeroDivisionError"),
        (lambda batch: [["a"]] * 3, {}, "fails on 3 inputs .ValueError"),
        (lengths, {"kind": "sound"}, "kind 'sound'"),
        (lengths, {"kind": "text", "batch": -1}, "batch -1"),
        (lengths, {"width": 3}, "unknown setting 'width'; expected one of: name, kind, v"),
    ],
)
def test_functions_that_cannot_be_used(function, settings, said):
    with pytest.raises(InputError, match=said):
        load_encoder(function, **settings)


def test_what_is_not_installed_is_named(monkeypatch):
    for name in ("skimage", "skimage.feature"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("faces", "hog", "lbp"):
        with pytest.raises(MissingDependencyError, match=r'pip install .*\[vision\]"'):
            load_encoder(name)


def test_digests_keep_parts_apart():
    assert digest("ab", "c") != digest("a", "bc")
    assert digest(1) != digest("1")
    assert digest(b"a") != digest("a")
    assert len(digest()) == 32


def noisy(noise: float, scale: float = 1.0) -> object:
    """A function of images whose last digits depend on the machine."""
    projection = np.random.default_rng(0).normal(size=(24 * 24, 300)) / 24
    shake = np.random.default_rng(1)

    def encode(images: list[object]) -> object:
        small = [np.asarray(one.resize((24, 24)).convert("L")) for one in images]  # type: ignore[attr-defined]
        rows = np.stack([one.ravel() / 255 for one in small]) @ projection * scale
        return rows * (1 + noise * shake.standard_normal(rows.shape))

    return encode


@pytest.mark.parametrize("version", ["", "1"])
def test_a_function_is_the_same_on_another_machine(version: str) -> None:
    from affectlab.models.embedding.card import EncoderCard

    here = load_encoder(noisy(0), name="mine", kind="image", version=version)  # type: ignore[arg-type]
    card = EncoderCard.from_dict(EncoderCard.of(here).to_dict())
    assert card.same(here)
    for noise in (1e-7, 1e-6, 1e-5):
        there = load_encoder(noisy(noise), name="mine", kind="image", version=version)  # type: ignore[arg-type]
        assert card.same(there)
        assert card.same(EncoderCard.of(there))
    other = load_encoder(noisy(0, 1.1), name="mine", kind="image", version=version and "2")  # type: ignore[arg-type]
    assert not card.same(other)
    renamed = load_encoder(noisy(1e-6), name="yours", kind="image", version=version)  # type: ignore[arg-type]
    assert not card.same(renamed)
