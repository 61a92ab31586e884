"""LPIPS beside a slow computation of its own, with weights drawn at random.

Trunks are small copies of nothing: all layers have their full widths, as the files that are
published have, and pictures are small.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from tests.models.differences.pictures import noise
from torch import Tensor

from affectlab.core.errors import InputError
from affectlab.models.differences import DifferenceMetric, difference, load_difference_metric

Weights = dict[str, Tensor]
Array = NDArray[np.float64]

WIDTHS = {
    "alex": (64, 192, 384, 256, 256),
    "vgg": (64, 128, 256, 512, 512),
    "squeeze": (64, 128, 256, 384, 384, 512, 512),
}
ALEX = {0: (64, 3, 11), 3: (192, 64, 5), 6: (384, 192, 3), 8: (256, 384, 3), 10: (256, 256, 3)}
VGG = {
    0: (64, 3, 3),
    2: (64, 64, 3),
    5: (128, 64, 3),
    7: (128, 128, 3),
    10: (256, 128, 3),
    12: (256, 256, 3),
    14: (256, 256, 3),
    17: (512, 256, 3),
    19: (512, 512, 3),
    21: (512, 512, 3),
    24: (512, 512, 3),
    26: (512, 512, 3),
    28: (512, 512, 3),
}
FIRES = {
    3: (64, 16, 64),
    4: (128, 16, 64),
    6: (128, 32, 128),
    7: (256, 32, 128),
    9: (256, 48, 192),
    10: (384, 48, 192),
    11: (384, 64, 256),
    12: (512, 64, 256),
}


def filled(shapes: dict[str, tuple[int, ...]], seed: int) -> Weights:
    """Weights at random, so large that signals neither die out nor grow."""
    draw = torch.Generator().manual_seed(seed)
    found = {}
    for name, shape in shapes.items():
        spread = (2 / np.prod(shape[1:])) ** 0.5 if len(shape) > 1 else 0.05
        found[name] = torch.randn(shape, generator=draw) * float(spread)
    return found


def trunk_of(net: str, seed: int = 0) -> Weights:
    """Weights of a trunk as torchvision names them, with those of a classifier behind it."""
    shapes: dict[str, tuple[int, ...]] = {"classifier.1.weight": (5, 4)}
    if net == "squeeze":
        shapes |= {"features.0.weight": (64, 3, 3, 3), "features.0.bias": (64,)}
        for place, (inputs, squeezed, expanded) in FIRES.items():
            parts = {
                "squeeze": (squeezed, inputs, 1, 1),
                "expand1x1": (expanded, squeezed, 1, 1),
                "expand3x3": (expanded, squeezed, 3, 3),
            }
            for part, shape in parts.items():
                shapes[f"features.{place}.{part}.weight"] = shape
                shapes[f"features.{place}.{part}.bias"] = shape[:1]
    else:
        for place, (width, inputs, side) in (ALEX if net == "alex" else VGG).items():
            shapes[f"features.{place}.weight"] = (width, inputs, side, side)
            shapes[f"features.{place}.bias"] = (width,)
    return filled(shapes, seed)


def linear_of(net: str, seed: int = 1, place: int = 1) -> Weights:
    draw = torch.Generator().manual_seed(seed)
    return {
        f"lin{layer}.model.{place}.weight": torch.rand((1, width, 1, 1), generator=draw)
        for layer, width in enumerate(WIDTHS[net])
    }


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("weights")
    found = {}
    for net in WIDTHS:
        trunk, linear = folder / f"{net}-trunk.pth", folder / f"{net}.pth"
        torch.save(trunk_of(net), trunk)
        torch.save(linear_of(net), linear)
        found[net] = trunk, linear
    return found


@pytest.fixture(scope="module")
def alex(files: dict[str, tuple[Path, Path]]) -> DifferenceMetric:
    trunk, linear = files["alex"]
    return load_difference_metric("lpips", trunk=trunk, linear=linear, device="cpu")


# ---- the slow computation: loops over windows, in double precision -----------------------------


def convolved(x: Array, weight: Tensor, bias: Tensor, stride: int, padding: int) -> Array:
    w, b = weight.double().numpy(), bias.double().numpy()
    side = w.shape[2]
    x = np.pad(x, ((0, 0), (padding, padding), (padding, padding)))
    rows, columns = ((size - side) // stride + 1 for size in x.shape[1:])
    found = np.empty((len(w), rows, columns))
    for row in range(rows):
        for column in range(columns):
            top, left = row * stride, column * stride
            part = x[:, top : top + side, left : left + side]
            found[:, row, column] = np.tensordot(w, part, axes=3) + b
    return found


def pooled(x: Array, side: int, ceil: bool) -> Array:
    sizes = [(size - side) / 2 + 1 for size in x.shape[1:]]
    rows, columns = (int(np.ceil(size) if ceil else np.floor(size)) for size in sizes)
    return np.array(
        [
            [
                x[:, 2 * row : 2 * row + side, 2 * column : 2 * column + side].max(axis=(1, 2))
                for column in range(columns)
            ]
            for row in range(rows)
        ]
    ).transpose(2, 0, 1)


def rectified(x: Array) -> Array:
    return np.maximum(x, 0)


def layers_of(net: str, weights: Weights, x: Array) -> list[Array]:
    """What is looked at: all layers that come after a rectifier and are the last before a pool."""

    def layer(name: str, x: Array, stride: int = 1, padding: int = 1) -> Array:
        weight, bias = weights[f"features.{name}.weight"], weights[f"features.{name}.bias"]
        return rectified(convolved(x, weight, bias, stride, padding))

    def fire(place: int, x: Array) -> Array:
        x = layer(f"{place}.squeeze", x, padding=0)
        both = layer(f"{place}.expand1x1", x, padding=0), layer(f"{place}.expand3x3", x)
        return np.concatenate(both)

    if net == "alex":
        one = layer("0", x, stride=4, padding=2)
        two = layer("3", pooled(one, 3, ceil=False), padding=2)
        three = layer("6", pooled(two, 3, ceil=False))
        four = layer("8", three)
        return [one, two, three, four, layer("10", four)]
    if net == "vgg":
        found = []
        for block in ((0, 2), (5, 7), (10, 12, 14), (17, 19, 21), (24, 26, 28)):
            x = pooled(found[-1], 2, ceil=False) if found else x
            for place in block:
                x = layer(str(place), x)
            found.append(x)
        return found
    one = layer("0", x, stride=2, padding=0)
    two = fire(4, fire(3, pooled(one, 3, ceil=True)))
    three = fire(7, fire(6, pooled(two, 3, ceil=True)))
    four = fire(9, pooled(three, 3, ceil=True))
    five = fire(10, four)
    six = fire(11, five)
    return [one, two, three, four, five, six, fire(12, six)]


def slow_lpips(net: str, first: Array, second: Array) -> float:
    trunk, linear = trunk_of(net), linear_of(net)
    shift, scale = np.array([-0.030, -0.088, -0.188]), np.array([0.458, 0.448, 0.450])
    sides = []
    for pixels in (first, second):
        x = (pixels / 127.5 - 1 - shift) / scale
        sides.append(layers_of(net, trunk, x.transpose(2, 0, 1)))
    total = 0.0
    for layer, (a, b) in enumerate(zip(*sides, strict=True)):
        w = linear[f"lin{layer}.model.1.weight"].double().numpy().ravel()
        means = []
        for row in range(a.shape[1]):
            for column in range(a.shape[2]):
                x, y = a[:, row, column], b[:, row, column]
                x, y = x / (np.linalg.norm(x) + 1e-10), y / (np.linalg.norm(y) + 1e-10)
                means.append(float((w * (x - y) ** 2).sum()))
        total += float(np.mean(means))
    return total


@pytest.mark.parametrize(("net", "size"), [("alex", 47), ("vgg", 17), ("squeeze", 34)])
def test_it_is_what_the_slow_computation_gives(
    net: str, size: int, files: dict[str, tuple[Path, Path]]
) -> None:
    trunk, linear = files[net]
    metric = load_difference_metric("lpips", net=net, trunk=trunk, linear=linear, device="cpu")
    first, second = noise(1, size, size + 2), noise(2, size, size + 2)
    expected = slow_lpips(net, *(np.asarray(one, dtype=np.float64) for one in (first, second)))
    (found,) = metric.differences([first], [second])
    assert found == pytest.approx(expected, rel=1e-4)
    assert expected > 0.01


def test_symmetric_zero_for_the_same_and_whatever_the_batch(alex: DifferenceMetric) -> None:
    pictures = [noise(seed) for seed in (1, 2, 3, 1, 4)]
    others = pictures[::-1]
    found = alex.differences(pictures, others)
    assert found.tolist() == alex.differences(others, pictures).tolist()
    alone = [alex.differences([a], [b])[0] for a, b in zip(pictures, others, strict=True)]
    assert found.tolist() == alone
    # The first meets the fourth only in the middle of the list, where each meets itself.
    assert (found == 0).tolist() == [False, False, True, False, False]
    assert alex.differences([noise(1)], [noise(1)]).tolist() == [0.0]
    assert alex.name == "lpips alex"
    assert alex.higher_is_more_different


def test_grey_and_see_through_pictures(alex: DifferenceMetric) -> None:
    grey = noise(1).convert("L")
    assert alex.differences([grey], [grey.convert("RGB")])[0] == 0
    whole = noise(1).convert("RGBA")
    assert alex.differences([whole], [noise(1)])[0] == 0


def test_layouts_of_files(
    alex: DifferenceMetric, files: dict[str, tuple[Path, Path]], tmp_path: Path
) -> None:
    trunk, linear = files["alex"]
    expected = alex.differences([noise(1)], [noise(2)])

    def made(**settings: object) -> DifferenceMetric:
        return load_difference_metric("lpips", device="cpu", **settings)

    plain = tmp_path / "plain.safetensors"
    save_file(trunk_of("alex"), plain)
    # Without a layer that drops out, its place is the first.
    short = tmp_path / "short.pth"
    torch.save(linear_of("alex", place=0), short)
    whole = tmp_path / "whole.pth"
    slices = {0: 1, 3: 2, 6: 3, 8: 4, 10: 5}
    named = {
        f"net.slice{slices[int(name.split('.')[1])]}.{name.removeprefix('features.')}": part
        for name, part in trunk_of("alex").items()
        if name.startswith("features.")
    }
    torch.save({"state_dict": named | linear_of("alex")}, whole)
    for metric in (
        made(trunk=plain, linear=short),
        made(trunk=whole),
        made(trunk=trunk, linear=linear),
    ):
        assert metric.differences([noise(1)], [noise(2)]).tolist() == expected.tolist()
        assert metric.version == alex.version
    other = tmp_path / "other.pth"
    torch.save(linear_of("alex", seed=7), other)
    assert made(trunk=trunk, linear=other).version != alex.version


def _nothing(folder: Path) -> dict[str, object]:
    return {}


def _no_linear(folder: Path) -> dict[str, object]:
    torch.save(trunk_of("alex"), folder / "t.pth")
    return {"trunk": folder / "t.pth"}


def _other_net(folder: Path) -> dict[str, object]:
    torch.save(trunk_of("squeeze"), folder / "t.pth")
    return {"trunk": folder / "t.pth", "linear": folder / "t.pth"}


def _other_linear(folder: Path) -> dict[str, object]:
    torch.save(trunk_of("alex"), folder / "t.pth")
    torch.save(linear_of("vgg"), folder / "l.pth")
    return {"trunk": folder / "t.pth", "linear": folder / "l.pth"}


def _not_finite(folder: Path) -> dict[str, object]:
    held = trunk_of("alex")
    held["features.3.bias"][4] = float("nan")
    torch.save(held, folder / "t.pth")
    return {"trunk": folder / "t.pth"}


def _code(folder: Path) -> dict[str, object]:
    # A pickle that would start a program.
    (folder / "t.pth").write_bytes(pickle.dumps(_Evil(), protocol=2))
    return {"trunk": folder / "t.pth"}


def _text(folder: Path) -> dict[str, object]:
    (folder / "t.pth").write_text("weights")
    return {"trunk": folder / "t.pth"}


def _list(folder: Path) -> dict[str, object]:
    torch.save([torch.zeros(3)], folder / "t.pth")
    return {"trunk": folder / "t.pth"}


def _no_file(folder: Path) -> dict[str, object]:
    return {"trunk": folder / "t.pth"}


def _no_net(folder: Path) -> dict[str, object]:
    return {"trunk": folder / "t.pth", "net": "alexx"}


class _Evil:
    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, ...]]:
        return exec, ("raise SystemExit('it ran')",)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_nothing, r"needs its weights: expected trunk=FILE"),
        (_no_file, r"t\.pth: there is no such file"),
        (
            _no_linear,
            r"t\.pth lacks lin0\.model\.1\.weight; expected the linear weights of AlexNet",
        ),
        (_other_net, r"features\.0\.weight has shape \(64, 3, 3, 3\); expected \(64, 3, 11, 11\)"),
        (_other_linear, r"lin1\.model\.1\.weight has shape \(1, 128, 1, 1\)"),
        (_not_finite, r"features\.3\.bias is not finite"),
        (_code, r"holds more than plain tensors|cannot be read"),
        (_text, r"cannot be read|holds more than plain tensors"),
        (_list, r"holds no weights by name"),
        (_no_net, r"unknown net 'alexx'; did you mean 'alex'"),
    ],
)
def test_files_that_cannot_be_used(
    make: Callable[[Path], dict[str, object]], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        load_difference_metric("lpips", **make(tmp_path))


def test_sizes(alex: DifferenceMetric) -> None:
    with pytest.raises(InputError, match="have 40 x 36 and 41 x 36 pixels; expected one size"):
        alex.differences([noise(1)], [noise(2, 41)])
    with pytest.raises(InputError, match="30 x 36 pixels is too small for AlexNet; expected 31"):
        alex.differences([noise(1, 30)], [noise(2, 30)])


@pytest.mark.parametrize(("net", "size"), [("alex", 31), ("vgg", 16), ("squeeze", 17)])
def test_the_smallest_pictures(net: str, size: int, files: dict[str, tuple[Path, Path]]) -> None:
    trunk, linear = files[net]
    settings = {"net": net, "trunk": trunk, "linear": linear}
    found = difference(noise(1, size, size), noise(2, size, size), "lpips", **settings)
    assert 0 < found < 100
    with pytest.raises(InputError, match="is too small for"):
        difference(noise(1, size - 1, size), noise(2, size - 1, size), "lpips", **settings)
