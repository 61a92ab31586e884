"""Weights under foreign names: converted, they give the same numbers; odd ones are refused."""

from __future__ import annotations

import json
import pickle
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
import torch

from affectlab.core.errors import InputError
from affectlab.models.embedding.conversion import convert_weights
from affectlab.models.embedding.registry import load_encoder

from ..text.tiny import one_thread  # noqa: TID252
from .checkpoints import pictures
from .exporters import as_openai, as_timm, decoder, plain_forward, text_tower, tiny_clip, tiny_vit
from .network import nothing_is_reached

__all__ = ["nothing_is_reached", "one_thread"]

MAKERS = {"farl": (tiny_clip, as_openai, text_tower), "mae": (tiny_vit, as_timm, decoder)}


@pytest.fixture(scope="module")
def weights():
    return {kind: export(make()) for kind, (make, export, _) in MAKERS.items()}


def encoder_of(folder):
    return load_encoder(f"transformers:{folder}", device="cpu")


@pytest.mark.parametrize("kind", MAKERS)
def test_converted_weights_give_the_same_rows(tmp_path, weights, kind):
    make, _, others = MAKERS[kind]
    key = {"farl": "state_dict", "mae": "model"}[kind]
    file = tmp_path / "published.pth"
    torch.save({key: weights[kind] | others()}, file)
    folder = convert_weights(file, kind, tmp_path / "made")
    encoder, images = encoder_of(folder), pictures(4)
    pixels = encoder.tower.prepare(images)["pixel_values"]
    with torch.no_grad():
        given = make()(pixel_values=pixels)
    expected = given.image_embeds if kind == "farl" else given.last_hidden_state[:, 0]
    np.testing.assert_allclose(encoder.encode(images), expected.numpy(), rtol=1e-5, atol=1e-5)
    assert expected.std() > 0.01
    told = json.loads((folder / "conversion.json").read_text())
    assert told["kind"] == kind
    assert told["source"] == "published.pth"
    assert told["left_out"] == sorted(others())
    assert (folder / "model.safetensors").is_file()
    assert not list(tmp_path.glob(".*"))


def test_openai_names_mean_what_openai_computes(tmp_path, weights):
    """Against the network written out from the foreign names, without transformers."""
    file = tmp_path / "published.pth"
    torch.save({"state_dict": weights["farl"]}, file)
    encoder, images = encoder_of(convert_weights(file, "farl", tmp_path / "made")), pictures(3)
    pixels = encoder.tower.prepare(images)["pixel_values"]
    expected = plain_forward(weights["farl"], pixels, heads=2).numpy()
    np.testing.assert_allclose(encoder.encode(images), expected, rtol=1e-4, atol=1e-5)
    # Another number of heads is another network: the default is not by chance right.
    other = plain_forward(weights["farl"], pixels, heads=4).numpy()
    assert np.abs(other - expected).max() > 1e-3


def test_images_are_prepared_as_in_training(tmp_path, weights):
    means = {"farl": 0.48145466, "mae": 0.485}
    for kind in MAKERS:
        file = tmp_path / f"{kind}.pth"
        torch.save(weights[kind], file)
        folder = convert_weights(file, kind, tmp_path / kind)
        told = json.loads((folder / "preprocessor_config.json").read_text())
        assert told["image_mean"][0] == pytest.approx(means[kind])
        assert told["resample"] == 3
        assert encoder_of(folder).tower.prepare(pictures(2))["pixel_values"].shape == (2, 3, 48, 48)


@pytest.mark.parametrize("wrap", ["bare", "module.", "args", "safetensors"])
def test_files_as_they_are_published(tmp_path, weights, wrap):
    held, file = weights["mae"], tmp_path / "w.pth"
    if wrap == "bare":
        torch.save(held, file)
    elif wrap == "module.":
        torch.save({"state_dict": {f"module.{k}": v for k, v in held.items()}}, file)
    elif wrap == "args":
        # Training scripts put their settings beside the weights.
        torch.save({"model": held, "epoch": 3, "args": Namespace(lr=1e-3, data="x")}, file)
    else:
        from safetensors.torch import save_file

        file = tmp_path / "w.safetensors"
        save_file(held, file)
    (tmp_path / "made").mkdir()
    folder = convert_weights(file, "mae", tmp_path / "made")
    plain = tmp_path / "plain.pth"
    torch.save(held, plain)
    other = convert_weights(plain, "mae", tmp_path / "other")
    assert encoder_of(folder).fingerprint == encoder_of(other).fingerprint


def test_heads_may_be_said(tmp_path):
    make = tiny_clip(width=96)
    file = tmp_path / "w.pth"
    torch.save(as_openai(make), file)
    folder = convert_weights(file, "farl", tmp_path / "made", heads=3)
    assert json.loads((folder / "config.json").read_text())["num_attention_heads"] == 3
    with pytest.raises(InputError, match="width 96 and 5 heads"):
        convert_weights(file, "farl", tmp_path / "other", heads=5)


class Evil:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return (Path.write_text, (self.mark, "run"))


@pytest.mark.parametrize("protocol", ["torch", "pickle"])
def test_pickles_are_not_run(tmp_path, weights, protocol):
    mark, file = tmp_path / "ran", tmp_path / "evil.pth"
    content = {"model": weights["mae"], "more": Evil(mark)}
    if protocol == "torch":
        torch.save(content, file)
    else:
        file.write_bytes(pickle.dumps({"model": {}, "more": Evil(mark)}))
    with pytest.raises(InputError, match="pickles can run code") as error:
        convert_weights(file, "mae", tmp_path / "made")
    assert "\n" not in str(error.value)
    assert not mark.exists()
    assert not (tmp_path / "made").exists()


def refused(tmp_path, held, kind, said):
    file = tmp_path / "w.pth"
    torch.save(held, file)
    with pytest.raises(InputError, match=said) as error:
        convert_weights(file, kind, tmp_path / "made")
    text = str(error.value)
    assert "\n" not in text
    assert "w.pth" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.pth"]


@pytest.mark.parametrize("kind", MAKERS)
def test_any_missing_weight_is_refused(tmp_path, weights, kind):
    for name in weights[kind]:
        held = {key: value for key, value in weights[kind].items() if key != name}
        refused(tmp_path, held, kind, r"has no weight|expected")


@pytest.mark.parametrize("kind", MAKERS)
def test_weights_that_are_not_known_are_refused(tmp_path, weights, kind):
    unknown = {
        "farl": ("visual.attnpool.k_proj.weight", "logit_bias", "visual.conv1.bias"),
        "mae": ("fc_norm.weight", "blocks.0.ls1.gamma", "blocks.0.attn.q_norm.weight"),
    }
    for name in unknown[kind]:
        held = {**weights[kind], name: torch.ones(3)}
        refused(tmp_path, held, kind, f"weight '{name}' is not known")


def test_shapes_that_do_not_fit_are_refused(tmp_path, weights):
    held = weights["farl"]
    for name, value in (
        ("visual.ln_post.bias", torch.zeros(5)),
        ("visual.positional_embedding", torch.zeros(9, 128)),
        ("visual.conv1.weight", torch.zeros(128, 3)),
        ("visual.transformer.resblocks.1.mlp.c_fc.weight", torch.zeros(7, 128)),
        ("visual.transformer.resblocks.0.attn.in_proj_weight", torch.zeros(383, 128)),
        ("visual.proj", torch.zeros(0, 0)),
    ):
        refused(tmp_path, {**held, name: value}, "farl", "expected")
    gap = {name.replace("resblocks.1.", "resblocks.7."): value for name, value in held.items()}
    refused(tmp_path, gap, "farl", r"blocks \[0, 2, 7\]")
    refused(tmp_path, held, "mae", r"has no weight 'patch_embed\.proj\.weight'.*masked autoencoder")


def test_files_that_hold_no_weights(tmp_path):
    refused(tmp_path, [1, 2], "farl", "holds list")
    refused(tmp_path, {"epoch": 3}, "farl", "holds no weights by name")
    refused(tmp_path, {"state_dict": {"a": 3}}, "farl", "holds no weights by name")
    file = tmp_path / "w.pth"
    for content in (b"", b"no weights", b"PK\x03\x04" + b"\0" * 40):
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"cannot be read|more than plain tensors"):
            convert_weights(file, "mae", tmp_path / "made")
    other = tmp_path / "w.safetensors"
    other.write_bytes(b"\xff" * 32)
    with pytest.raises(InputError, match="cannot be read"):
        convert_weights(other, "mae", tmp_path / "made")
    with pytest.raises(InputError, match="unknown kind of weights 'clip'"):
        convert_weights(file, "clip", tmp_path / "made")
    with pytest.raises(InputError, match="there is no such file"):
        convert_weights(tmp_path, "mae", tmp_path / "made")


def test_folders_in_use_are_left_alone(tmp_path, weights):
    file, folder = tmp_path / "w.pth", tmp_path / "made"
    torch.save(weights["mae"], file)
    folder.mkdir()
    (folder / "mine.txt").write_text("kept")
    with pytest.raises(InputError, match="is in use"):
        convert_weights(file, "mae", folder)
    assert (folder / "mine.txt").read_text() == "kept"
