"""Files of weights as they are published: told by their names, and fed as their authors do."""

from __future__ import annotations

import json
import pickle
import warnings
import zipfile
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.models.differences.learned.loss import PixelEncoder
from affectlab.models.embedding import Embeddings, convert_weights, embed, load_encoder
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.embedding.published.architectures import NETWORKS, _Shapes
from affectlab.models.embedding.published.layouts import LAYOUTS
from affectlab.models.embedding.registry import encoder_of

from ..text.tiny import one_thread  # noqa: TID252
from . import twins
from .checkpoints import pictures
from .network import nothing_is_reached

__all__ = ["nothing_is_reached", "one_thread"]

CLIP = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@dataclass(frozen=True)
class Published:
    """A small file as its authors would publish it, and what their code makes of a picture."""

    weights: twins.Weights
    others: twins.Weights
    row: object
    side: int
    norm: tuple
    shorter: int | None
    """Pixels of the shorter side before the middle is cut out."""
    how: Image.Resampling
    key: str = "state_dict"
    before: str = ""
    more: dict = field(default_factory=dict)


BICUBIC, BILINEAR = Image.Resampling.BICUBIC, Image.Resampling.BILINEAR
ENCODER_Q = "encoder_q."
FILES = {
    "clip-vit": Published(
        twins.clip_vit(), twins.clip_texts() | twins.openai_sizes(), twins.clip_vit_row,
        48, CLIP, 48, BICUBIC,
    ),
    "farl": Published(
        twins.clip_vit(),
        twins.clip_texts() | {"visual.lm_head.bias": torch.ones(3)},
        twins.clip_vit_row, 48, CLIP, 48, BICUBIC, more={"epoch": 16},
    ),
    "laion-clip": Published(
        twins.clip_vit(), twins.clip_texts(),
        lambda w, x: twins.clip_vit_row(w, x, quick=False), 48, CLIP, 48, BICUBIC, before="module.",
    ),
    "clip-resnet": Published(
        twins.clip_resnet(), twins.clip_texts(), twins.clip_resnet_row, 64, CLIP, 64, BICUBIC
    ),
    "moco-v2": Published(
        twins.resnet(ENCODER_Q), twins.moco_others(),
        lambda w, x: twins.resnet_row(w, x, ENCODER_Q), 224, IMAGENET, 256, BILINEAR,
        before="module.", more={"epoch": 200, "arch": "resnet50"},
    ),
    "resnet50": Published(
        twins.resnet(), {"fc.weight": torch.ones(9, 256), "fc.bias": torch.ones(9)},
        twins.resnet_row, 224, IMAGENET, 256, BILINEAR, "",
    ),
    "resnet50-v2": Published(
        twins.resnet(), {"fc.weight": torch.ones(9, 256)}, twins.resnet_row, 224, IMAGENET, 232,
        BILINEAR, "",
    ),
    "mae": Published(
        twins.vit(), twins.mae_decoder(), twins.vit_row, 48, IMAGENET, 55, BICUBIC, "model",
        more={"args": Namespace(lr=1e-3, model="vit_base_patch16")},
    ),
    "mae-finetuned": Published(
        twins.vit("fc_norm"), twins.heads_of("head"), twins.vit_row, 48, IMAGENET, 55, BICUBIC,
        "model",
    ),
    "fmae-iat": Published(
        twins.vit("fc_norm"), twins.heads_of("AU_head", "ID_head", "ID_head2"), twins.vit_row, 48,
        IMAGENET, None, BILINEAR, "model", more={"optimizer": {"state": {}}, "scaler": {}},
    ),
}  # fmt: skip


def write(name, folder, file="weights.pth"):
    """Write a file as it is published, with all that is in it."""
    one = FILES[name]
    held = {one.before + key: part for key, part in (one.weights | one.others).items()}
    torch.save({one.key: held, **one.more} if one.key else held, folder / file)
    return folder / file


def prepared(one, images):
    """Prepare pictures by Pillow and numpy as the authors' code says."""
    found = []
    for image in images:
        if one.shorter is None:
            small = image.resize((one.side, one.side), one.how)
        else:
            short, long = sorted(image.size)
            size = (one.shorter, int(one.shorter * long / short))
            small = image.resize(size if image.width <= image.height else size[::-1], one.how)
            left, top = ((edge - one.side) // 2 for edge in small.size)
            small = small.crop((left, top, left + one.side, top + one.side))
        mean, std = one.norm
        found.append((np.asarray(small, dtype=np.float64) / 255 - mean) / std)
    return torch.from_numpy(np.stack(found)).permute(0, 3, 1, 2).float()


def encoder(place, **settings):
    return load_encoder(str(place), device="cpu", **settings)


def test_all_layouts_are_tried():
    assert set(FILES) == {one.name for one in LAYOUTS}
    assert {one.network for one in LAYOUTS} == set(NETWORKS)
    assert all(one.files and all(file.licence for file in one.files) for one in LAYOUTS)


@pytest.mark.parametrize("name", FILES)
def test_rows_are_those_of_the_authors(tmp_path, name):
    """From the pixels on, against code that shares nothing with ours."""
    one, images = FILES[name], pictures(3, side=60)
    made = encoder(f"{name}:{write(name, tmp_path)}")
    pixels = prepared(one, images)
    given = made.tower.prepare(images)["pixel_values"]
    # Pillow may round a pixel of the resized picture to the other side.
    assert float((given - pixels).abs().max()) <= 1.01 / 255 / min(one.norm[1])
    assert float((given - pixels).abs().mean()) < 1e-3
    expected = one.row(one.weights, given).numpy()
    found = made.encode(images)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-5 * np.abs(expected).max())
    assert np.abs(found[0] - found[1]).max() > 1e-3
    assert made.width == expected.shape[1]
    assert made.name.startswith(f"{name}:")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("clip-vit", ["clip-vit"]),
        ("farl", ["farl"]),
        ("laion-clip", ["clip-vit", "farl", "laion-clip"]),
        ("clip-resnet", ["clip-resnet"]),
        ("moco-v2", ["moco-v2"]),
        ("resnet50", ["resnet50", "resnet50-v2"]),
        ("mae", ["mae"]),
        ("mae-finetuned", ["mae-finetuned", "fmae-iat"]),
        ("fmae-iat", ["fmae-iat"]),
    ],
)
def test_layouts_are_told_or_asked_for(tmp_path, name, found):
    file = write(name, tmp_path)
    if len(found) == 1:
        assert encoder(file).name == f"{name}:{file}"
        assert encoder(file).fingerprint == encoder(f"{name}:{file}").fingerprint
        return
    with pytest.raises(InputError) as error:
        encoder(file)
    assert all(f"{one}" in str(error.value) for one in found)
    assert f"{found[0]}:{file}" in str(error.value)


def test_what_no_layout_has(tmp_path):
    file = tmp_path / "w.pth"
    torch.save({"layers.0.weight": torch.ones(2, 2)}, file)
    with pytest.raises(InputError) as error:
        encoder(file)
    assert all(one.name in str(error.value) for one in LAYOUTS)
    with pytest.raises(InputError, match="layout of moco-v2, not of mae"):
        encoder(f"moco-v2:{write('mae', tmp_path)}")
    # A vision transformer with a layer for labels may have learned from other pixels.
    torch.save(FILES["mae"].weights | twins.heads_of("head"), file)
    with pytest.raises(InputError, match=r"weight 'head\.bias' is not known|'head\.weight'"):
        encoder(file)
    with pytest.raises(InputError, match="behind a colon"):
        encoder("farl")


@pytest.mark.parametrize("wrap", ["bare", "module.", "args", "safetensors"])
def test_files_as_they_are_saved(tmp_path, wrap):
    held, file = FILES["mae"].weights, tmp_path / "w.pth"
    if wrap == "bare":
        torch.save(held, file)
    elif wrap == "module.":
        torch.save({"state_dict": {f"module.{k}": v for k, v in held.items()}}, file)
    elif wrap == "args":
        torch.save({"model": held, "epoch": 3, "args": Namespace(lr=1e-3, data="x")}, file)
    else:
        from safetensors.torch import save_file

        file = tmp_path / "w.safetensors"
        save_file(held, file)
    plain = write("mae", tmp_path, "plain.pth")
    assert encoder(file).fingerprint == encoder(plain).fingerprint


class Nested(torch.nn.Module):
    """Weights under nested names, as OpenAI's archive has them."""

    def __init__(self, weights):
        super().__init__()
        for name, part in weights.items():
            inner, names = self, name.split(".")
            for step in names[:-1]:
                if not hasattr(inner, step):
                    inner.add_module(step, Nested({}))
                inner = getattr(inner, step)
            inner.register_buffer(names[-1], part.half() if part.is_floating_point() else part)

    def forward(self, x):
        return x


def archive(weights, file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.trace(Nested(weights), torch.zeros(1)), str(file))
    return file


@pytest.mark.parametrize("name", ["clip-vit", "clip-resnet"])
def test_archives_of_torchscript_are_read_without_their_code(tmp_path, name):
    one = FILES[name]
    file = archive(one.weights | one.others, tmp_path / "RN50.pt")
    half = {key: part.half() for key, part in one.weights.items()}
    torch.save(half | one.others, tmp_path / "plain.pt")
    assert encoder(file).fingerprint == encoder(tmp_path / "plain.pt").fingerprint


class Evil:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return (Path.write_text, (self.mark, "run"))


@pytest.mark.parametrize("kind", ["torch", "pickle", "script"])
def test_pickles_are_not_run(tmp_path, kind):
    mark, file = tmp_path / "ran", tmp_path / "evil.pth"
    if kind == "torch":
        torch.save({"model": FILES["mae"].weights, "more": Evil(mark)}, file)
    elif kind == "pickle":
        file.write_bytes(pickle.dumps({"model": {}, "more": Evil(mark)}))
    else:
        whole = archive({"a.b": torch.ones(2)}, tmp_path / "whole.pt")
        with zipfile.ZipFile(whole) as given, zipfile.ZipFile(file, "w") as made:
            for one in given.namelist():
                evil = pickle.dumps(Evil(mark), protocol=2) if one.endswith("/data.pkl") else None
                made.writestr(one, evil or given.read(one))
    with pytest.raises(InputError, match="pickles can run code") as error:
        encoder(file)
    assert "\n" not in str(error.value)
    assert not mark.exists()


def refused(folder, held, name, said):
    file = folder / "w.pth"
    torch.save(held, file)
    with pytest.raises(InputError, match=said) as error:
        encoder(f"{name}:{file}")
    assert "\n" not in str(error.value)
    assert "w.pth" in str(error.value)


@pytest.mark.parametrize("name", ["clip-vit", "clip-resnet", "resnet50", "mae", "fmae-iat"])
def test_weights_that_are_missing_or_more(tmp_path, name):
    held = FILES[name].weights
    batches = [key for key in held if key.endswith("num_batches_tracked")]
    for key in list(held)[:: max(1, len(held) // 30)]:
        if key not in batches:
            refused(tmp_path, {k: v for k, v in held.items() if k != key}, name, r"expected")
    for more in ("logit_bias", "visual.ln_3.weight", "blocks.0.ls1.gamma", "layer1.0.se.weight"):
        refused(tmp_path, {**held, more: torch.ones(3)}, name, "not known")
    # Files of before 2018 do not count batches.
    torch.save({k: v for k, v in held.items() if k not in batches}, tmp_path / "w.pth")
    assert encoder(f"{name}:{tmp_path / 'w.pth'}").width > 1


def test_shapes_that_do_not_fit(tmp_path):
    held = FILES["farl"].weights
    block = "visual.transformer.resblocks"
    for name, value in (
        ("visual.ln_post.bias", torch.zeros(5)),
        ("visual.positional_embedding", torch.zeros(9, 128)),
        ("visual.conv1.weight", torch.zeros(128, 3)),
        (f"{block}.1.mlp.c_fc.weight", torch.zeros(7, 128)),
        (f"{block}.0.attn.in_proj_weight", torch.zeros(383, 128)),
        (f"{block}.0.attn.in_proj_bias", torch.zeros(())),
        ("visual.proj", torch.zeros(0, 0)),
    ):
        refused(tmp_path, {**held, name: value}, "farl", "expected")
    gap = {name.replace("resblocks.1.", "resblocks.7."): value for name, value in held.items()}
    refused(tmp_path, gap, "farl", r"blocks \[0, 7\]")
    wide = FILES["clip-resnet"].weights
    refused(
        tmp_path,
        {**wide, "visual.conv3.weight": torch.zeros(0, 8, 3, 3)},
        "clip-resnet",
        "expected",
    )


def test_files_that_hold_no_weights(tmp_path):
    refused(tmp_path, [1, 2], "farl", "holds list")
    refused(tmp_path, {"epoch": 3}, "farl", "holds no weights by name")
    refused(tmp_path, {"state_dict": {"a": 3}}, "farl", "holds no weights by name")
    for name, content in (
        ("a.pth", b""), ("b.pth", b"no weights"), ("c.pth", b"PK\x03\x04" + b"\0" * 40),
        ("d.safetensors", b"\xff" * 32),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=r"cannot be read|more than plain tensors"):
            encoder(tmp_path / name)
    cut = tmp_path / "cut.pt"
    cut.write_bytes(archive({"a.b": torch.ones(2)}, tmp_path / "whole.pt").read_bytes()[:-200])
    with pytest.raises(InputError, match=r"cannot be read|more than plain tensors"):
        encoder(cut)
    with pytest.raises(InputError, match="there is no such file"):
        encoder(f"mae:{tmp_path}")


def test_attention_heads(tmp_path):
    """Heads are 64 wide, in ViT-H, -g and -G 80, 88 and 104; or as many as are said."""
    known = {384: 6, 768: 12, 1024: 16, 1280: 16, 1408: 16, 1664: 16}
    assert {width: _Shapes({}, "w").heads(width, None) for width in known} == known
    one, file, images = FILES["farl"], write("farl", tmp_path), pictures(2)
    two, four = encoder(file), encoder(file, heads=4)
    pixels = two.tower.prepare(images)["pixel_values"]
    expected = twins.clip_vit_row(one.weights, pixels, 4).numpy()
    np.testing.assert_allclose(four.encode(images), expected, rtol=1e-4, atol=1e-4)
    assert np.abs(two.encode(images) - expected).max() > 1e-3
    card = EncoderCard.of(four)
    assert encoder_of(card, file).fingerprint == four.fingerprint
    with pytest.raises(InputError, match="width 128 and 5 heads"):
        encoder(file, heads=5)
    for name in ("clip-resnet", "resnet50"):
        with pytest.raises(InputError, match="expected no heads"):
            encoder(f"{name}:{write(name, tmp_path, 'r.pth')}", heads=2)


def test_poolings_and_precision(tmp_path):
    file, images = write("fmae-iat", tmp_path), pictures(2)
    rows = {name: encoder(file, pooling=name).encode(images) for name in ("pooler", "cls", "mean")}
    np.testing.assert_array_equal(rows["pooler"], encoder(file).encode(images))
    assert len({part.tobytes() for part in rows.values()}) == 3
    for name in ("clip-resnet", "fmae-iat", "moco-v2"):
        place = f"{name}:{write(name, tmp_path, f'{name}.pth')}"
        full, half = encoder(place), encoder(place, precision="bf16")
        a, b = full.encode(images), half.encode(images)
        cosine = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
        assert cosine.min() > 0.99
        assert full.fingerprint != half.fingerprint


@pytest.mark.parametrize("name", ["farl", "clip-resnet", "moco-v2", "fmae-iat"])
def test_gradients_reach_pixels(tmp_path, name):
    """What prepares pictures is followed in torch, for a metric that is a loss."""
    made = encoder(f"{name}:{write(name, tmp_path)}")
    (image,) = pictures(1, side=72)
    pixels = torch.from_numpy(np.asarray(image, dtype=np.float32) / 255).permute(2, 0, 1)[None]
    pixels.requires_grad_()
    rows = PixelEncoder(made)(pixels)
    rows.square().sum().backward()
    expected = made.encode([image])
    assert float(np.abs(rows.detach().numpy() - expected).mean() / np.abs(expected).mean()) < 0.1
    assert float(pixels.grad.abs().max()) > 0


def test_embedded_and_found_again_by_the_card(tmp_path):
    file = write("moco-v2", tmp_path)
    (tmp_path / "faces").mkdir()
    for number, image in enumerate(pictures(3)):
        image.save(tmp_path / "faces" / f"{number}.png")
    embed(tmp_path / "faces", str(file), path=tmp_path / "rows", device="cpu", batch=3)
    held = Embeddings.load(tmp_path / "rows")
    assert held.encoder.name == f"moco-v2:{file}"
    moved = file.rename(tmp_path / "elsewhere.pth.tar")
    assert encoder_of(held.encoder, moved).fingerprint == held.encoder.fingerprint
    with pytest.raises(InputError, match="is not the one"):
        encoder_of(held.encoder, f"resnet50-v2:{write('resnet50', tmp_path)}")


@pytest.mark.parametrize("name", [one.name for one in LAYOUTS])
def test_checkpoints_are_made_of_what_transformers_knows(tmp_path, name):
    file, folder = write(name, tmp_path), tmp_path / "made"
    if name in ("clip-resnet", "mae-finetuned", "fmae-iat"):
        with pytest.raises(InputError, match="transformers has no network"):
            convert_weights(file, folder, name)
        assert not folder.exists()
        return
    made, images = convert_weights(file, folder, name), pictures(2)
    assert (made / "model.safetensors").is_file()
    same = encoder(f"transformers:{made}").encode(images)
    np.testing.assert_array_equal(same, encoder(f"{name}:{file}").encode(images))
    np.testing.assert_array_equal(same, encoder(made).encode(images))
    told = json.loads((made / "preprocessor_config.json").read_text())
    assert told["image_mean"] == list(FILES[name].norm[0])


def test_folders_in_use_are_left_alone(tmp_path):
    file, folder = write("mae", tmp_path), tmp_path / "made"
    folder.mkdir()
    (folder / "model.json").write_text("kept")
    with pytest.raises(InputError, match="is in use"):
        convert_weights(file, folder)
    assert (folder / "model.json").read_text() == "kept"
