"""Encoders of timm and open_clip, whose place a small module takes: neither is installed here."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from PIL import Image

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.embedding.registry import encoder_of, load_encoder

from ..text.tiny import one_thread  # noqa: TID252
from .checkpoints import pictures, seeded
from .network import nothing_is_reached

__all__ = ["nothing_is_reached", "one_thread"]


def transform(image):
    """Prepare one picture, as a transform of torchvision does."""
    small = image.resize((8, 8), Image.Resampling.BICUBIC)
    return torch.from_numpy(np.array(small)).permute(2, 0, 1) / 255 - 0.5


class Pooled(torch.nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = torch.nn.Conv2d(3, 6, 4)
        self.head = torch.nn.Linear(6, classes) if classes else torch.nn.Identity()

    def forward(self, pixels):
        return self.head(self.body(pixels).mean(dim=(2, 3)))


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.visual, self.words = Pooled(0), torch.nn.Embedding(20, 5)

    def encode_image(self, pixels):
        return self.visual(pixels)

    def encode_text(self, tokens):
        return self.words(tokens).mean(dim=1)


@pytest.fixture
def libraries(monkeypatch):
    """The calls that the libraries' own guides make, and no others."""
    timm, data, clip = ModuleType("timm"), ModuleType("timm.data"), ModuleType("open_clip")
    config = {"input_size": (3, 8, 8), "interpolation": "bicubic", "crop_pct": 0.9}

    def create_model(name, pretrained=False, num_classes=1000):
        if name != "tiny.a1_in1k":
            raise RuntimeError(f"Unknown model ({name})")
        assert pretrained
        with seeded():
            return Pooled(num_classes)

    def create_model_and_transforms(name, pretrained=None):
        if (name, pretrained) not in {("RN50", "openai"), ("hf-hub:lab/clip", None)}:
            raise RuntimeError(f"Pretrained weights ({pretrained}) not found for model {name}.")
        with seeded():
            return Pair().train(), None, transform

    def tokens(texts):
        return torch.tensor([[len(text) % 20, text.count("a")] for text in texts])

    timm.create_model, timm.data = create_model, data
    data.resolve_model_data_config = lambda model: config
    data.create_transform = lambda is_training, **given: transform if given == config else None
    clip.create_model_and_transforms = create_model_and_transforms
    clip.get_tokenizer = lambda name: tokens
    for module in (timm, data, clip):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return timm, clip


def test_timm(libraries):
    timm, _ = libraries
    encoder, images = load_encoder("timm:tiny.a1_in1k", device="cpu"), pictures(3)
    whole = timm.create_model("tiny.a1_in1k", pretrained=True, num_classes=0)
    with torch.no_grad():
        expected = whole(torch.stack([transform(one) for one in images])).numpy()
    np.testing.assert_allclose(encoder.encode(images), expected, atol=1e-6)
    assert (encoder.kind, encoder.width, encoder.name) == ("image", 6, "timm:tiny.a1_in1k")
    card = EncoderCard.of(load_encoder("timm:tiny.a1_in1k", device="cpu", precision="bf16"))
    assert encoder_of(card).fingerprint == card.fingerprint != encoder.fingerprint
    with pytest.raises(InputError, match=r"timm:resnet51.*Unknown model \(resnet51\)"):
        load_encoder("timm:resnet51")
    with pytest.raises(InputError, match="unknown setting 'pooling'"):
        load_encoder("timm:tiny.a1_in1k", pooling="mean")


@pytest.mark.parametrize("place", ["RN50/openai", "hf-hub:lab/clip"])
def test_open_clip(libraries, place):
    _, clip = libraries
    name, _, weights = (place, "", None) if ":" in place else place.partition("/")
    images, texts = pictures(2), ["a train", "so happy"]
    whole = clip.create_model_and_transforms(name, pretrained=weights)[0].eval()
    with torch.no_grad():
        rows = whole.encode_image(torch.stack([transform(one) for one in images])).numpy()
        words = whole.encode_text(clip.get_tokenizer(name)(texts)).numpy()
    seen, read = (
        load_encoder(f"open_clip:{place}", device="cpu", kind=k) for k in ("auto", "text")
    )
    np.testing.assert_allclose(seen.encode(images), rows, atol=1e-6)
    np.testing.assert_allclose(read.encode(texts), words, atol=1e-6)
    assert (seen.kind, read.kind) == ("image", "text")
    assert encoder_of(EncoderCard.of(read)).fingerprint == read.fingerprint


def test_what_open_clip_has_not(libraries):
    with pytest.raises(InputError, match="such as open_clip:RN50/openai"):
        load_encoder("open_clip:RN50")
    with pytest.raises(InputError, match=r"weights \(laion\) not found"):
        load_encoder("open_clip:RN50/laion")


@pytest.mark.parametrize(
    ("place", "package"), [("timm:resnet50", "timm"), ("open_clip:RN50/openai", "open_clip_torch")]
)
def test_a_library_that_is_not_installed(monkeypatch, place, package):
    for name in ("timm", "open_clip"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match=f"pip install {package}"):
        load_encoder(place)
