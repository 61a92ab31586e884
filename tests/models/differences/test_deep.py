"""Distances of what encoders make of pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from scipy.spatial.distance import cityblock, cosine as scipy_cosine
from tests.models.differences.pictures import drawn, noise

from affectlab.core.errors import InputError
from affectlab.models.differences import difference, load_difference_metric, rate_differences
from affectlab.models.differences.distances import cosine, l1
from affectlab.models.embedding import Embeddings, embed, load_encoder
from affectlab.simulate import draw_face


class Colours:
    """An encoder of six numbers that counts what it is given."""

    name, kind, width, fingerprint = "colours", "image", 6, "c0"
    settings: dict[str, object] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.given: list[int] = []

    def encode(self, batch: list[Image.Image]) -> np.ndarray:
        self.given.append(len(batch))
        pixels = [np.asarray(one, dtype=np.float32).reshape(-1, 3) for one in batch]
        return np.stack([np.concatenate([p.mean(axis=0), p.std(axis=0)]) for p in pixels])


rows = arrays(np.float64, (3, 5), elements=st.floats(-9, 9, width=16))


@given(rows, rows)
def test_distances_are_those_of_scipy(first: np.ndarray, second: np.ndarray) -> None:
    found = l1(first, second), cosine(first, second)
    for place in range(3):
        a, b = first[place], second[place]
        assert found[0][place] == pytest.approx(cityblock(a, b))
        if (a == b).all():
            assert found[1][place] == 0
        elif not a.any() or not b.any():
            assert np.isnan(found[1][place])
        else:
            assert found[1][place] == pytest.approx(scipy_cosine(a, b), abs=1e-9)
    assert found[0].tolist() == l1(second, first).tolist()
    np.testing.assert_array_equal(found[1], cosine(second, first))


@pytest.mark.parametrize("distance", ["l1", "cosine"])
def test_of_an_encoder_by_name(distance: str) -> None:
    metric = load_difference_metric("deep:faces", distance=distance)
    faces = [draw_face("joy", intensity, size=64) for intensity in (0, 0.25, 0.5, 1)]
    found = metric.differences(faces[:1] * 4, faces)
    assert found[0] == 0
    assert (np.diff(found) > 0).all()
    held = load_encoder("faces").encode(faces).astype(np.float16).astype(np.float64)
    expected = {"l1": l1, "cosine": cosine}[distance](held[:1].repeat(4, axis=0), held)
    assert found == pytest.approx(expected)
    assert metric.name == f"deep:faces {'L1' if distance == 'l1' else 'cosine'}"
    assert metric.version == load_encoder("faces").fingerprint
    assert metric.settings["distance"] == distance


def test_of_encoders_with_settings_and_ready_ones() -> None:
    small = load_difference_metric("deep:hog", size=64, cell=16)
    assert small.settings["size"] == 64
    ready = load_difference_metric("deep", place=Colours())
    assert ready.name == "deep:colours L1"
    red, blue = (Image.new("RGB", (20, 20), colour) for colour in ("red", "blue"))
    assert ready.differences([red], [blue]).tolist() == [510]
    # Sizes do not matter to an encoder.
    assert ready.differences([red], [red.resize((31, 22))]).tolist() == [0]


def test_the_same_picture_is_encoded_once_and_gets_zero() -> None:
    encoder = Colours()
    metric = load_difference_metric("deep", place=encoder)
    found = metric.differences([noise(1), noise(2), noise(1)], [noise(2), noise(1), noise(1)])
    assert encoder.given == [2]
    assert found[0] == found[1] > 0
    assert found[2] == 0


def test_a_picture_without_a_direction() -> None:
    class Above(Colours):
        def encode(self, batch: list[Image.Image]) -> np.ndarray:
            return np.maximum(super().encode(batch) - 40, 0)

    metric = load_difference_metric("deep", place=Above(), distance="cosine")
    black, grey = (Image.new("RGB", (20, 20), colour) for colour in ("black", "grey"))
    found = metric.differences([black, black, grey], [black, grey, grey])
    assert np.isnan(found).tolist() == [False, True, False]
    assert found[[0, 2]].tolist() == [0, 0]
    with pytest.raises(InputError, match="the difference is not defined for these two"):
        difference(black, grey, metric)


def test_many_pairs_share_one_embedding_per_picture_and_a_cache(tmp_path: Path) -> None:
    pairs = drawn(tmp_path / "faces", actors=2)
    encoder = Colours()
    metric = load_difference_metric("deep", place=encoder)
    cache = tmp_path / "cache"
    found = rate_differences(pairs, metric, images=tmp_path / "faces", cache=cache)
    n_pictures = len({*pairs["file_a"], *pairs["file_b"]})
    assert sum(encoder.given) == n_pictures == 8
    again = rate_differences(pairs, metric, images=tmp_path / "faces", cache=cache)
    assert sum(encoder.given) == n_pictures
    assert again.value.tolist() == found.value.tolist()
    # The cache is that of affectlab embed, and the numbers are those of pictures in memory.
    held = embed(tmp_path / "faces", encoder, cache=cache)
    assert isinstance(held, Embeddings)
    assert held.run is not None
    assert held.run.n_encoded + held.run.n_repeated == 12 - n_pictures
    for row in pairs.iter_rows(named=True):
        files = [tmp_path / "faces" / row[side] for side in ("file_a", "file_b")]
        value = found.to_frame().filter(stimulus=row["stimulus"])["value"][0]
        assert value == difference(*files, metric)


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("deep:texts", {}, "encoder 'texts' takes texts; expected one of images"),
        ("deep:facess", {}, "unknown encoder 'facess'"),
        ("deep:faces", {"distance": "l2"}, "metric 'deep': unknown distance 'l2'"),
        ("deep:hog", {"sizes": 3}, "unknown setting 'sizes'"),
    ],
)
def test_what_is_refused(name: str, settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_difference_metric(name, **settings)


def test_numbers_beyond_half_precision() -> None:
    class Huge(Colours):
        def encode(self, batch: list[Image.Image]) -> np.ndarray:
            return super().encode(batch) * 1e6

    with pytest.raises(InputError, match="half precision, up to 65,504"):
        difference(noise(1), noise(2), load_difference_metric("deep", place=Huge()))
