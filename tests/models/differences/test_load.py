"""Difference metrics by name, from packages, from modules, and as functions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.models.differences.pictures import noise

from affectlab.core.errors import InputError
from affectlab.core.registry import parse_spec
from affectlab.models.differences import (
    DifferenceMetric,
    difference,
    list_difference_metrics,
    load_difference_metric,
)
from affectlab.simulate import draw_face
from affectlab.stimuli.frames.differences import DIFFERENCES


def red(first: Image.Image, second: Image.Image) -> float:
    """How far two pictures lie apart in red."""
    return abs(first.getpixel((0, 0))[0] - second.getpixel((0, 0))[0])


class Alike:
    """A similarity, as somebody else may write it."""

    name, version, higher_is_more_different = "alike", "3", False
    settings: dict[str, Any] = {"a": 1}  # noqa: RUF012

    def differences(
        self, first: Sequence[Image.Image], second: Sequence[Image.Image]
    ) -> list[float]:
        return [1 - red(a, b) / 255 for a, b in zip(first, second, strict=True)]


def plain(value: int) -> Image.Image:
    return Image.new("RGB", (4, 4), (value, 0, 0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mse", ("mse", {})),
        (" ssim , size = 64 ", ("ssim", {"size": 64})),
        ("deep:transformers:a/b,pooling=mean", ("deep:transformers:a/b", {"pooling": "mean"})),
        ("x,a=[1, 2],b=true,c=0.5", ("x", {"a": [1, 2], "b": True, "c": 0.5})),
        ("x,file=C:\\p.npz", ("x", {"file": "C:\\p.npz"})),
        ("x,a=[1", ("x", {"a": "[1"})),
        ("x,file='a,b.npz',c=1", ("x", {"file": "a,b.npz", "c": 1})),
        ('x,file="a,[b.npz",c=["d,e", "f"]', ("x", {"file": "a,[b.npz", "c": ["d,e", "f"]})),
        ("x,file=o'brien.npz,name=d'or", ("x", {"file": "o'brien.npz", "name": "d'or"})),
        ("x,file='half,c=1", ("x", {"file": "'half", "c": 1})),
    ],
)
def test_settings_behind_a_name(text: str, expected: tuple[str, dict[str, Any]]) -> None:
    assert parse_spec(text) == expected


@pytest.mark.parametrize("text", ["mse,size", "mse,=3", "mse,size=", "mse,size=3,size=4", "mse,"])
def test_settings_that_are_not_understood(text: str) -> None:
    with pytest.raises(InputError, match=r"not understood|given twice"):
        load_difference_metric(text)


def test_names() -> None:
    names = list_difference_metrics()
    assert names[:7] == ("mse", "mae", "ssim", "lpips", "deep", "blendshapes", "landmarks")
    for name in ("mse", "mae", "ssim", "deep:faces"):
        metric = load_difference_metric(name)
        assert isinstance(metric, DifferenceMetric)
        assert metric.higher_is_more_different
        assert metric.version
    assert load_difference_metric("mse", name="errors").name == "errors"
    assert load_difference_metric("mse,name=errors").name == "errors"


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("sim", {}, "unknown difference metric 'sim'; did you mean 'ssim'"),
        ("", {}, "unknown difference metric ''"),
        ("mse:x", {}, "'mse:x': 'mse' takes nothing behind a colon"),
        ("mse", {"name": " "}, "name = ' ': expected a text"),
        ("mse,size=64", {"size": 32}, "'size' is given twice"),
        ("json:__name__", {}, "expected a name|unknown difference metric"),
        ("lpips,trunk=5", {}, "metric 'lpips': trunk = 5: expected the path of a file"),
        ("lpips,trunk=a,linear=3", {}, "linear = 3: expected the path of a file"),
        ("lpips,trunk=a,net=[1]", {}, r"unknown net '\[1\]'"),
        ("lpips,trunk=a,device=3", {}, "device = 3: expected a name"),
        ("landmarks,file=7", {}, "file = 7: expected the path of a file"),
        ("landmarks,model=7", {}, "model = 7: expected the path of a file"),
        ("blendshapes,model=true", {}, "model = True: expected the path of a file"),
        ("deep:faces,distance=[1]", {}, r"unknown distance '\[1\]'"),
        ("deep,place=5", {}, "expected a name, an encoder or a function, not int"),
        (red, {"colour": 1}, "'red' is given ready: unknown setting 'colour'"),
        (red, {"higher_is_more_different": 1}, "higher_is_more_different is 1"),
    ],
)
def test_what_is_refused(name: Any, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_difference_metric(name, **settings)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("name", "", "name ''; expected a text"),
        ("version", 3, "version 3; expected a text"),
        ("settings", [], "settings are of type list"),
        ("higher_is_more_different", "yes", "higher_is_more_different is 'yes'"),
        ("differences", 3, "differences cannot be called"),
    ],
)
def test_metrics_that_are_none(part: str, value: Any, said: str) -> None:
    made = type("Made", (Alike,), {part: value})()
    with pytest.raises(InputError, match=said):
        load_difference_metric(made)


def test_functions() -> None:
    metric = load_difference_metric(red)
    assert metric.name == "red"
    assert metric.higher_is_more_different
    assert metric.differences([plain(3), plain(9)], [plain(5), plain(9)]).tolist() == [2, 0]
    named = load_difference_metric(red, name="r", version="2", higher_is_more_different=False)
    assert (named.name, named.version, named.higher_is_more_different) == ("r", "2", False)
    # What finds frames of transitions is a function of two pictures, too.
    rmse = load_difference_metric(DIFFERENCES["rmse"])
    assert rmse.name == "rmse"
    faces = [draw_face("joy", intensity, size=64) for intensity in (0, 1)]
    assert rmse.differences(faces[:1], faces[1:])[0] == DIFFERENCES["rmse"](*faces)


def test_a_similarity_says_which_way_it_goes() -> None:
    metric = load_difference_metric(Alike())
    assert not metric.higher_is_more_different
    assert difference(plain(0), plain(51), metric) == 0.8
    assert difference(plain(7), plain(7), metric) == 1


def _no_number(first: object, second: object) -> str:
    return "far"


def _fails(first: object, second: object) -> float:
    raise ZeroDivisionError("division\nby zero")


def _infinite(first: object, second: object) -> float:
    return float("inf")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_no_number, "metric '_no_number' gave str for two pictures; expected one number"),
        (_fails, r"metric '_fails' fails on two pictures \(ZeroDivisionError: division by zero\)"),
        (_infinite, "metric '_infinite' gave an infinite number"),
        (lambda a, b: float("nan"), "metric 'lambda' says nothing of the two"),
    ],
)
def test_functions_that_fail(function: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        difference(noise(1), noise(2), function)


def test_a_function_that_can_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_differences.py").write_text(
        "class Metrics:\n    @staticmethod\n    def zero(a, b):\n        return 0\n"
    )
    (tmp_path / "broken_differences.py").write_text("raise RuntimeError('no licence')\n")
    monkeypatch.syspath_prepend(tmp_path)
    metric = load_difference_metric("mine_differences:Metrics.zero,version=7")
    assert (metric.name, metric.version) == ("zero", "7")
    assert difference(noise(1), noise(2), metric) == 0
    with pytest.raises(InputError, match="importing broken_differences fails: no licence"):
        load_difference_metric("broken_differences:f")
    sys.modules.pop("mine_differences", None)


def _package(place: str = "", strength: float = 1.0) -> Any:
    return red if place == "function" else Alike()


def test_packages_add_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", f"{__name__}:_package", "affectlab.difference_metrics")
    monkeypatch.setattr("affectlab.core.registry.entry_points", lambda group: [point])
    assert load_difference_metric("theirs,strength=2.0").name == "alike"
    assert load_difference_metric("theirs:function").name == "theirs:function"
    assert load_difference_metric("theirs:function,name=r").name == "r"


def test_pictures_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    file.write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"a\.png cannot be read as an image"):
        difference(file, noise(1))
    with pytest.raises(InputError, match=r"b\.png: there is no such file"):
        difference(noise(1), tmp_path / "b.png")
    face = draw_face("joy", 1, size=64)
    face.save(file)
    assert difference(file, file.read_bytes(), "mse") == 0
    assert difference(face, file) == 0
    assert isinstance(difference(face, noise(1, 64, 64)), float)
    assert np.isfinite(difference(face, noise(1, 64, 64)))
