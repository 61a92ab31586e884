"""Checkpoints of transformers as encoders: tiny ones of many architectures, at random."""

from __future__ import annotations

import builtins
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.models.embedding.encoder import encode_batch
from affectlab.models.embedding.registry import load_encoder

from ..text.tiny import one_thread  # noqa: TID252
from .checkpoints import MAKERS, TWO_TOWERS, pictures, save_checkpoint
from .network import nothing_is_reached

__all__ = ["nothing_is_reached", "one_thread"]

POOLINGS = {
    "clip": "image_features",
    "siglip": "pooler",
    "siglip2": "pooler",
    "vit": "cls",
    "dinov2": "cls",
    "vit_mae": "cls",
    "resnet": "pooler",
    "convnext": "pooler",
}
TEXTS = ["so happy", "i am so sad the train late", "late"]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    root = tmp_path_factory.mktemp("checkpoints")
    return {name: save_checkpoint(name, root / name) for name in (*MAKERS, "bert")}


def load(place, **settings):
    return load_encoder(f"transformers:{place}", device="cpu", **settings)


def pixels(place, images):
    made = transformers.AutoImageProcessor.from_pretrained(place, backend="pil")
    return made(images=images, return_tensors="pt")


@pytest.mark.parametrize("name", MAKERS)
def test_rows_are_those_of_the_network(places, name):
    """Against the whole model, called as its documentation says."""
    encoder, images = load(places[name]), pictures(4)
    found = encode_batch(encoder, images)
    assert encoder.settings["pooling"] == POOLINGS[name]
    assert encoder.width == found.shape[1]
    whole = transformers.AutoModel.from_pretrained(places[name]).eval()
    inputs = pixels(places[name], images)
    with torch.no_grad():
        if name in TWO_TOWERS:
            expected = whole.get_image_features(**inputs).pooler_output
        elif name == "vit_mae":
            whole.config.mask_ratio = 0.0
            expected = whole(**inputs).last_hidden_state[:, 0]
        elif POOLINGS[name] == "cls":
            expected = whole(**inputs).last_hidden_state[:, 0]
        else:
            expected = whole(**inputs).pooler_output.flatten(1)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-5)
    assert found.std(axis=0).max() > 1e-4


@pytest.mark.parametrize("name", MAKERS)
def test_size_and_order_of_batches_change_nothing(places, name):
    encoder, images = load(places[name]), pictures(5)
    together = encode_batch(encoder, images)
    np.testing.assert_array_equal(together, encode_batch(encoder, images))
    single = np.concatenate([encode_batch(encoder, [image]) for image in images])
    np.testing.assert_allclose(single, together, rtol=1e-4, atol=1e-5)
    turned = encode_batch(encoder, images[::-1])[::-1]
    np.testing.assert_allclose(turned, together, rtol=1e-4, atol=1e-5)
    assert encode_batch(encoder, []).shape == (0, encoder.width)


def test_other_poolings(places):
    images = pictures(3)
    vit = transformers.AutoModel.from_pretrained(places["vit"]).eval()
    inputs = pixels(places["vit"], images)
    with torch.no_grad():
        given = vit(**inputs)
    for pooling, expected in (
        ("mean", given.last_hidden_state[:, 1:].mean(dim=1)),
        ("pooler", given.pooler_output),
    ):
        encoder = load(places["vit"], pooling=pooling)
        np.testing.assert_allclose(encoder.encode(images), expected.numpy(), rtol=1e-4, atol=1e-5)
    clip = transformers.CLIPModel.from_pretrained(places["clip"]).eval()
    with torch.no_grad():
        expected = clip.vision_model(**pixels(places["clip"], images)).pooler_output
    found = load(places["clip"], pooling="pooler").encode(images)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-5)


def test_mean_over_patches_leaves_out_the_padding(places):
    """NaFlex images have as many patches as their shape allows, and nothing behind them."""
    images = [Image.new("RGB", (48, 16), (200, 10, 10)), pictures(1)[0]]
    encoder = load(places["siglip2"], pooling="mean")
    together = encoder.encode(images)
    inputs = pixels(places["siglip2"], images)
    assert int(inputs["pixel_attention_mask"][0].sum()) < inputs["pixel_attention_mask"].shape[1]
    network = transformers.Siglip2VisionModel.from_pretrained(places["siglip2"]).eval()
    with torch.no_grad():
        states = network(**inputs).last_hidden_state
    for row in range(2):
        kept = inputs["pixel_attention_mask"][row].bool()
        expected = states[row][kept].mean(dim=0).numpy()
        np.testing.assert_allclose(together[row], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", TWO_TOWERS)
def test_towers_for_texts(places, name):
    encoder = load(places[name], kind="text")
    assert encoder.kind == "text"
    assert encoder.settings["pooling"] == "text_features"
    found = encode_batch(encoder, TEXTS)
    tokenizer = transformers.AutoTokenizer.from_pretrained(places[name])
    whole = transformers.AutoModel.from_pretrained(places[name]).eval()
    length = {"padding": "max_length", "max_length": 16} if name != "clip" else {"padding": True}
    given = tokenizer(TEXTS, return_tensors="pt", **length)
    if name == "siglip2":
        assert tokenizer.padding_side == "left"
    more = {} if name != "clip" else {"attention_mask": given["attention_mask"]}
    with torch.no_grad():
        expected = whole.get_text_features(given["input_ids"], **more).pooler_output
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-5)
    single = np.concatenate([encode_batch(encoder, [text]) for text in TEXTS])
    np.testing.assert_allclose(single, found, rtol=1e-4, atol=1e-5)


def test_encoders_of_texts_are_pooled_over_tokens(places):
    encoder = load(places["bert"])
    assert (encoder.kind, encoder.settings["pooling"]) == ("text", "mean")
    texts = ["so happy", "the day was so sad and they went home"]
    network = transformers.AutoModel.from_pretrained(places["bert"]).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(places["bert"])
    for row, text in enumerate(texts):
        with torch.no_grad():
            states = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        for pooling, expected in (("mean", states.mean(dim=0)), ("cls", states[0])):
            found = load(places["bert"], pooling=pooling).encode(texts)[row]
            np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-5)


def save_modules(place, pooling, *more, tokens=None):
    """Write what sentence-transformers writes beside a checkpoint."""
    kinds = {"Transformer": "", "Pooling": "1_Pooling", **{one: f"2_{one}" for one in more}}
    modules = [
        {"idx": at, "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, path) in enumerate(kinds.items())
    ]
    (place / "modules.json").write_text(json.dumps(modules))
    (place / "1_Pooling").mkdir(exist_ok=True)
    modes = {
        f"pooling_mode_{name}": name == pooling for name in ("cls_token", "mean_tokens", "max")
    }
    (place / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding": 8, **modes}))
    if tokens:
        told = {"max_seq_length": tokens, "do_lower_case": False}
        (place / "sentence_bert_config.json").write_text(json.dumps(told))


def test_modules_of_sentence_encoders_are_followed(places, tmp_path):
    texts = ["so happy", "the day was so sad and they went home"]
    plain = {
        pooling: load(places["bert"], pooling=pooling).encode(texts) for pooling in ("cls", "mean")
    }
    place = shutil.copytree(places["bert"], tmp_path / "sentences")
    for pooling, name in (("cls_token", "cls"), ("mean_tokens", "mean")):
        save_modules(place, pooling)
        encoder = load(place)
        np.testing.assert_allclose(encoder.encode(texts), plain[name], atol=1e-6)
        assert encoder.settings["pooling"] == name
    save_modules(place, "mean_tokens", "Normalize", tokens=5)
    encoder = load(place)
    with pytest.warns(UserWarning, match="1 of 2 texts are longer than 5 tokens"):
        found = encoder.encode(texts)
    length = np.linalg.norm(plain["mean"][0])
    np.testing.assert_allclose(found[0], plain["mean"][0] / length, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert (encoder.settings["unit_length"], encoder.settings["max_tokens"]) == (True, 5)
    # Whoever chooses a pooling reads the network alone; what is not known is not passed over.
    np.testing.assert_allclose(load(place, pooling="mean").encode(texts), plain["mean"], atol=1e-6)
    for pooling, more, said in (
        ("mean_tokens", ["Dense"], "module 'Dense' is not known"),
        ("max", [], "pooling pooling_mode_max; expected"),
        ("none", [], "pooling of no kind"),
    ):
        save_modules(place, pooling, *more)
        with pytest.raises(InputError, match=said):
            load(place)
    assert load(place, pooling="cls").settings["pooling"] == "cls"


def test_long_texts_are_cut_and_said(places):
    encoder = load(places["bert"], max_tokens=5)
    with pytest.warns(UserWarning, match="1 of 2 texts are longer than 5 tokens"):
        found = encoder.encode(["so", "so happy the day was sad"])
    np.testing.assert_allclose(found[1], encoder.encode(["so happy the"])[0], atol=1e-5)
    assert encoder.settings["max_tokens"] == 5
    assert encoder.fingerprint != load(places["bert"]).fingerprint


def test_half_precision_is_close_and_another_encoder(places):
    full, half = load(places["dinov2"]), load(places["dinov2"], precision="bf16")
    images = pictures(4)
    a, b = full.encode(images), half.encode(images)
    cosine = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert cosine.min() > 0.99
    assert not np.array_equal(a, b)
    assert full.fingerprint != half.fingerprint


def test_fingerprints_follow_the_numbers(places, tmp_path):
    first = load(places["vit"]).fingerprint
    assert first == load(places["vit"]).fingerprint
    # The same in another folder, and where images are taken in other portions.
    copy = shutil.copytree(places["vit"], tmp_path / "copy")
    assert load(copy, batch=3).fingerprint == first
    assert load(copy, pooling="mean").fingerprint != first
    file = copy / "preprocessor_config.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps(told | {"image_mean": [0.1, 0.5, 0.5]}))
    assert load(copy).fingerprint != first
    shutil.rmtree(copy)
    shutil.copytree(places["vit"], copy)
    network = transformers.AutoModel.from_pretrained(copy)
    with torch.no_grad():
        network.layernorm.bias[0] += 1e-3
    network.save_pretrained(copy)
    assert load(copy).fingerprint != first


def test_a_pooler_that_was_never_trained_is_not_used(places, tmp_path):
    """Checkpoints for labels have none: its weights would be random at every start."""
    config = transformers.ViTConfig.from_pretrained(places["vit"], num_labels=3)
    transformers.ViTForImageClassification(config).save_pretrained(tmp_path)
    shutil.copy(places["vit"] / "preprocessor_config.json", tmp_path)
    encoders = [load(tmp_path) for _ in range(2)]
    assert encoders[0].fingerprint == encoders[1].fingerprint
    assert encoders[0].settings["pooling"] == "cls"
    assert all(name.startswith("pooler") for name in encoders[0].tower.unused)
    with pytest.raises(InputError, match=r"has no pooling 'pooler'.* expected one of: cls, mean"):
        load(tmp_path, pooling="pooler")


def test_weights_that_are_missing_are_not_made_up(places, tmp_path):
    from safetensors.torch import load_file, save_file

    place = shutil.copytree(places["dinov2"], tmp_path / "cut")
    file = place / "model.safetensors"
    held = load_file(file)
    name = next(key for key in held if key.startswith("encoder.layer.1"))
    save_file({k: v for k, v in held.items() if k != name}, file, metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lacks weights .*1 in all"):
        load(place)
    wrong = {**held, name: torch.zeros(3, *held[name].shape)}
    save_file(wrong, file, metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"cut") as error:
        load(place)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kind": "text"}, "takes no texts; expected kind 'image'"),
        ({"pooling": "image_features"}, "has no pooling 'image_features'.*one of: .*cls, mean"),
        ({"pooling": "best"}, "pooling = 'best'"),
        ({"batch": 0}, "batch = 0"),
        ({"max_tokens": 7}, "max_tokens is for texts"),
        ({"layers": 3}, "unknown setting 'layers'"),
        ({"device": "tpu"}, "device = 'tpu'"),
    ],
)
def test_settings_that_cannot_be_used(places, settings, said):
    with pytest.raises(InputError, match=said):
        load_encoder(f"transformers:{places['dinov2']}", **{"device": "cpu", **settings})


def test_places_that_cannot_be_used(places, tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        load(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"holds no config\.json"):
        load(tmp_path)
    with pytest.raises(InputError, match="behind a colon"):
        load_encoder("transformers")
    bare = shutil.copytree(places["vit"], tmp_path / "bare")
    (bare / "preprocessor_config.json").unlink()
    with pytest.raises(InputError, match="does not say how images are prepared") as error:
        load(bare)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="takes texts; input 0 is of type Image"):
        encode_batch(load(places["bert"]), pictures(1))
    with pytest.raises(InputError, match="takes images; input 1 is of type str"):
        encode_batch(load(places["vit"]), [pictures(1)[0], "a"])


EVIL = """
from pathlib import Path
from transformers import ViTConfig, ViTModel, ViTImageProcessor
Path({mark!r}).write_text("run")
class EvilConfig(ViTConfig):
    model_type = "evil"
class EvilModel(ViTModel):
    config_class = EvilConfig
class EvilProcessor(ViTImageProcessor):
    pass
"""


@pytest.fixture
def asked(monkeypatch):
    """Say yes to whatever is asked, as someone who reads no prompt would."""
    prompts = []
    monkeypatch.setattr(builtins, "input", lambda prompt="": prompts.append(prompt) or "y")
    return prompts


@pytest.mark.parametrize("part", ["model", "processor"])
def test_code_of_a_checkpoint_is_not_run(places, tmp_path, asked, part):
    place, mark = shutil.copytree(places["vit"], tmp_path / "evil"), tmp_path / "ran"
    (place / "evil.py").write_text(EVIL.format(mark=str(mark)), encoding="utf-8")
    if part == "model":
        file, change = "config.json", {
            "model_type": "evil",
            "auto_map": {"AutoConfig": "evil.EvilConfig", "AutoModel": "evil.EvilModel"},
        }  # fmt: skip
    else:
        file, change = "preprocessor_config.json", {
            "image_processor_type": "EvilProcessor",
            "auto_map": {"AutoImageProcessor": "evil.EvilProcessor"},
        }  # fmt: skip
    told = json.loads((place / file).read_text())
    (place / file).write_text(json.dumps(told | change))
    with pytest.raises(InputError, match="needs code of its own, which is not run"):
        load(place)
    assert not asked
    assert not mark.exists()


def test_pickled_weights_are_not_opened(places, tmp_path):
    place = shutil.copytree(places["vit"], tmp_path / "pickled")
    network = transformers.AutoModel.from_pretrained(place)
    torch.save(network.state_dict(), place / "pytorch_model.bin")
    (place / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"has only pickled weights \(pytorch_model\.bin\)"):
        load(place)


OFFLINE = """
import socket, sys
def refuse(*args, **more):
    print("REACHED", args[1:])
    raise OSError("refused")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
from affectlab.core.errors import InputError
from affectlab.models.embedding.registry import load_encoder
try:
    load_encoder("siglip2")
except InputError as error:
    print(error)
print(load_encoder("siglip2:" + sys.argv[1]).width)
"""


@pytest.mark.long
def test_offline_names_say_what_is_missing_and_folders_work(places, tmp_path):
    import os

    own = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, str(places["siglip2"])],
        capture_output=True,
        text=True,
        env={**os.environ, **own},
        check=False,
    )
    lines = done.stdout.strip().splitlines()
    assert done.returncode == 0, done.stderr
    assert len(lines) == 2, done.stdout
    assert lines[0].startswith("checkpoint 'google/siglip2-so400m-patch14-384' is no folder here")
    assert lines[1] == "32"


def test_published_faces_pass_through(places, shared_data):
    from affectlab.models.images import find_images, load_image

    folder = shared_data / "emonet_face" / "images"
    if not folder.is_dir():
        pytest.skip(f"no images at {folder}")
    images = [load_image(file.path) for file in find_images(folder)]
    for name in ("siglip", "siglip2", "dinov2"):
        found = encode_batch(load(places[name]), images)
        assert found.shape[0] == len(images) == 4
        assert len({row.tobytes() for row in found}) == 4
