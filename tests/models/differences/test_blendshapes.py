"""Blendshapes, by a fake of mediapipe and by a landmarker of one's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from tests.models.differences.fake_mediapipe import MODEL, Seen, installed

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.models.differences import difference, load_difference_metric, rate_differences
from affectlab.models.differences.faces import FaceReading
from affectlab.models.differences.rate import UnratedPairWarning

COLOURS = {"a": (200, 10, 30), "b": (60, 90, 30), "c": (0, 0, 0), "d": (60, 90, 30)}


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    return installed(monkeypatch)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "face_landmarker.task"
    file.write_bytes(MODEL)
    return file


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "faces"
    folder.mkdir()
    for name, colour in COLOURS.items():
        Image.new("RGB", (12, 10), colour).save(folder / f"{name}.png")
    return folder


def plain(colour: str) -> Image.Image:
    return Image.new("RGB", (12, 10), COLOURS[colour])


def pairs(*names: str) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "stimulus": list(names),
            "file_a": [f"{name[0]}.png" for name in names],
            "file_b": [f"{name[1]}.png" for name in names],
        }
    )


def test_distances_of_the_coefficients(seen: Seen, model: Path) -> None:
    metric = load_difference_metric("blendshapes", model=model, confidence=0.25)
    assert metric.name == "blendshapes L1"
    assert metric.higher_is_more_different
    found = metric.differences([plain("a"), plain("b")], [plain("b"), plain("b")])
    assert found == pytest.approx([(140 + 80 + 0) / 255, 0], abs=3e-6)
    assert found[1] == 0
    a, b = (np.array(COLOURS[name]) / 255 for name in "ab")
    cosine = difference(plain("b"), plain("a"), "blendshapes", model=model, distance="cosine")
    expected = 1 - a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    assert cosine == pytest.approx(expected, abs=1e-4)
    (options, _) = seen.options
    assert options.output_face_blendshapes
    assert options.num_faces == 1
    assert options.min_face_detection_confidence == 0.25


def test_a_picture_without_a_face(seen: Seen, model: Path) -> None:
    metric = load_difference_metric("blendshapes", model=model)
    found = metric.differences([plain("a"), plain("a")], [plain("c"), plain("b")])
    assert np.isnan(found).tolist() == [True, False]
    with pytest.raises(InputError, match="says nothing of the two: no face was found"):
        difference(plain("a"), plain("c"), metric)


def test_each_picture_is_read_once_for_two_metrics_and_all_pairs(
    seen: Seen, model: Path, images: Path, tmp_path: Path
) -> None:
    wanted = [
        f"blendshapes,model={model}",
        f"blendshapes,model={model},distance=cosine",
        f"landmarks,model={model}",
    ]
    table = pairs("ab", "ba", "ac", "bd", "ad")
    with pytest.warns(UnratedPairWarning, match="1 pair without a value"):
        found = rate_differences(table, wanted, images=images, cache=tmp_path / "cache")
    # Two pictures have the same content, and the three metrics share what was read.
    assert seen.reads == 3
    frame = found.to_frame()
    empty = frame.filter(pl.col("outcome") == "empty")
    assert set(empty["stimulus"]) == {"ac"}
    # What is said of all metrics alike belongs to the pair.
    said = dict(found.stimuli.select("stimulus", "problem").iter_rows())
    assert said == dict.fromkeys(["ab", "ba", "bd", "ad"]) | {"ac": "no face was found"}
    assert empty["value"].to_list() == [None] * 3
    l1 = frame.filter(rater="blendshapes L1")["value"].to_list()
    assert l1[0] == l1[1] == l1[4] > 0
    assert l1[3] == 0
    with pytest.warns(UnratedPairWarning):
        again = rate_differences(table, wanted, images=images, cache=tmp_path / "cache")
    assert seen.reads == 3
    assert again.to_frame().equals(frame)
    # Without a folder nothing is kept, and a line that was cut off is read anew.
    (kept,) = (tmp_path / "cache").glob("faces-*.jsonl")
    lines = kept.read_text().splitlines()
    kept.write_text("\n".join([lines[0], '{"key": "x", "face": 3}', lines[1][:40]]) + "\n")
    with pytest.warns(UnratedPairWarning):
        once_more = rate_differences(table, wanted, images=images, cache=tmp_path / "cache")
    assert once_more.to_frame().equals(frame)
    assert seen.reads == 5


def test_records_that_are_not_ours(seen: Seen, model: Path, images: Path, tmp_path: Path) -> None:
    metric = load_difference_metric("blendshapes", model=model)
    first = rate_differences(pairs("ab"), metric, images=images, cache=tmp_path / "cache")
    (kept,) = (tmp_path / "cache").glob("faces-*.jsonl")
    kept.write_text(
        kept.read_text().replace('"blendshapes": {', '"blendshapes": [{').replace("}}}", "}]}}")
    )
    again = rate_differences(pairs("ab"), metric, images=images, cache=tmp_path / "cache")
    assert again.value.tolist() == first.value.tolist()


def test_another_model_is_another_cache(seen: Seen, model: Path) -> None:
    first = load_difference_metric("blendshapes", model=model)
    other = load_difference_metric("blendshapes", model=model, confidence=0.6)
    assert first.version != other.version


class Own:
    """A landmarker of one's own: points without blendshapes for dark pictures."""

    name, fingerprint = "own", "f0"

    def read(self, image: Image.Image) -> FaceReading | None:
        red, green, _ = image.getpixel((0, 0))
        shapes = {"jawOpen": red / 255, "puff": green / 255} if green else {"jawOpen": red / 255}
        return FaceReading(np.zeros((3, 2)), shapes if red else {})


def test_a_landmarker_of_ones_own() -> None:
    metric = load_difference_metric("blendshapes", landmarker=Own())
    assert metric.settings["landmarker"] == "own"
    assert metric.differences([plain("a")], [plain("b")])[0] == pytest.approx(220 / 255)
    with pytest.raises(InputError, match="the faces have other coefficients"):
        metric.differences([plain("a")], [Image.new("RGB", (9, 9), (9, 0, 0))])
    with pytest.raises(InputError, match="own gives no blendshapes"):
        metric.differences([plain("a")], [plain("c")])
    with pytest.raises(InputError, match="landmarker: int; expected an object with name"):
        load_difference_metric("blendshapes", landmarker=3)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "needs model=FILE: expected the .task file"),
        ({"model": "nowhere.task"}, "nowhere.task: there is no such file; expected a file such as"),
        ({"model": "HERE", "confidence": 0}, "confidence = 0: expected a share above 0, up to 1"),
        ({"model": "HERE", "distance": "l3"}, "unknown distance 'l3'"),
        ({"model": "TEXT"}, r"mediapipe cannot use it \(Unable to open zip archive. trace\)"),
    ],
)
def test_what_is_refused(
    seen: Seen, model: Path, tmp_path: Path, settings: dict[str, object], said: str
) -> None:
    (tmp_path / "text.task").write_text("no model")
    files = {"HERE": model, "TEXT": tmp_path / "text.task"}
    told = {name: files.get(str(value), value) for name, value in settings.items()}
    with pytest.raises(InputError, match=said):
        load_difference_metric("blendshapes", **told)


def test_mediapipe_may_fail_on_a_picture_or_be_absent(
    seen: Seen, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = load_difference_metric("blendshapes", model=model)
    with pytest.raises(InputError, match=r"mediapipe fails on a picture \(Graph has errors\)"):
        metric.differences([plain("a")], [Image.new("RGB", (9, 9), "white")])
    monkeypatch.setitem(__import__("sys").modules, "mediapipe", None)
    with pytest.raises(MissingDependencyError, match="pip install mediapipe"):
        load_difference_metric("blendshapes", model=model)
