"""How pairs of picture files are gone through: memory, order, and what is shared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image
from tests.models.differences.pictures import noise
from tests.models.differences.test_deep import Colours

from affectlab.core.errors import InputError
from affectlab.models.differences import (
    comparison as _engine,
    load_difference_metric,
    rate_differences,
)
from affectlab.models.differences.metric import PreparedMetric


class Sides(PreparedMetric):
    """The width of pictures, which it holds whole; and how many are held at a time at most."""

    name, version = "sides", "1"
    settings: dict[str, Any] = {}  # noqa: RUF012
    batch = 3

    def __init__(self) -> None:
        self.largest = 0

    def prepare(self, pictures: Sequence[Image.Image]) -> list[np.ndarray]:
        return [np.asarray(one) for one in pictures]

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> np.ndarray:
        held = {id(one): one.nbytes for one in (*first, *second)}
        self.largest = max(self.largest, sum(held.values()))
        return np.array([float(one.shape[1]) for one in first])


def table(*pairs: tuple[str, str]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "stimulus": [f"pair {place}" for place in range(len(pairs))],
            "file_a": [f"{one}.png" for one, _ in pairs],
            "file_b": [f"{other}.png" for _, other in pairs],
        }
    )


def test_a_small_first_picture_does_not_decide_on_the_memory(tmp_path: Path) -> None:
    """One pair of 8 x 8, then 30 of 100 x 100: no more than a few of these at a time."""
    for place in range(2):
        noise(place, 8, 8).save(tmp_path / f"small{place}.png")
    for place in range(60):
        noise(place, 100, 100).save(tmp_path / f"large{place}.png")
    large = [(f"large{place}", f"large{place + 1}") for place in range(0, 60, 2)]
    metric = Sides()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_engine, "_WEIGHT", 6 * 30_000)
        found = rate_differences(table(("small0", "small1"), *large), metric, images=tmp_path)
    assert found.value.tolist() == [8.0] + [100.0] * 30
    assert metric.largest <= 8 * 30_000


def test_a_function_that_changes_its_pictures_changes_no_others(tmp_path: Path) -> None:
    for place in range(3):
        noise(place, 64, 64).save(tmp_path / f"{place}.png")

    def shrinks(first: Image.Image, second: Image.Image) -> float:
        width = first.width
        first.thumbnail((8, 8))
        second.paste((0, 0, 0), (0, 0, 64, 64))
        return float(width)

    class Shrinks:
        name, version, settings, higher_is_more_different = "class", "1", {}, True

        def differences(self, first: Any, second: Any) -> np.ndarray:
            return np.array([shrinks(a, b) for a, b in zip(first, second, strict=True)])

    pairs = table(("0", "1"), ("0", "2"), ("1", "0"))
    alone = rate_differences(pairs, "mse", images=tmp_path).value
    found = rate_differences(pairs, [shrinks, Shrinks(), "mse"], images=tmp_path)
    frame = found.to_frame()
    for name in ("shrinks", "class"):
        assert frame.filter(rater=name)["value"].to_list() == [64.0] * 3
    assert frame.filter(rater="mse")["value"].to_list() == alone.tolist()


def test_the_first_pair_that_cannot_be_compared_ends_it(tmp_path: Path) -> None:
    for place in range(2):
        noise(place).save(tmp_path / f"{place}.png")
    noise(2, 80).save(tmp_path / "odd.png")
    (tmp_path / "junk.png").write_bytes(b"no picture")
    calls = []

    def counts(first: Image.Image, second: Image.Image) -> float:
        calls.append(1)
        return 1.0

    for bad, said in (("odd", "one size"), ("junk", "cannot be read as an image")):
        calls.clear()
        pairs = table(("0", bad), *[("0", "1")] * 500)
        with pytest.raises(InputError, match=f"metric 'mse', stimulus 'pair 0'.*{said}"):
            rate_differences(pairs, ["mse", counts], images=tmp_path)
        assert len(calls) < 100


def test_one_encoder_of_several_metrics_works_once(tmp_path: Path) -> None:
    for place in range(4):
        noise(place, 48, 48).save(tmp_path / f"{place}.png")

    class Once(Colours):
        seen = 0

        def encode(self, batch: Any) -> np.ndarray:
            Once.seen += len(batch)
            return super().encode(batch)

    pairs = table(("0", "1"), ("2", "3"))
    metrics = [
        load_difference_metric("deep", place=Once(), distance=distance)
        for distance in ("l1", "cosine")
    ]
    together = rate_differences(pairs, metrics, images=tmp_path)
    assert Once.seen == 4
    for metric in metrics:
        alone = rate_differences(pairs, metric, images=tmp_path)
        part = together.to_frame().filter(rater=metric.name)
        assert part["value"].to_list() == alone.value.tolist()


def test_up_behind_a_link_stays_in_the_folder(tmp_path: Path) -> None:
    """``link/..`` is the folder itself by names, and for the system where the link leads."""
    pictures, other = tmp_path / "pictures", tmp_path / "other"
    (other / "deep").mkdir(parents=True)
    pictures.mkdir()
    noise(0).save(pictures / "0.png")
    noise(1).save(other / "secret.png")
    (pictures / "link").symlink_to(other / "deep")
    pairs = pl.DataFrame({"stimulus": ["p"], "file_a": ["0.png"], "file_b": ["link/../secret.png"]})
    with pytest.raises(InputError, match="is not in"):
        rate_differences(pairs, "mse", images=pictures)
    inside = pairs.with_columns(pl.lit("link/../0.png").alias("file_b"))
    assert rate_differences(inside, "mse", images=pictures).value.tolist() == [0.0]
