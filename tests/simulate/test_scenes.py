"""Drawn scenes: alike as their labels are near, and the same again from the same seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.models.images import read_labelled_images
from affectlab.simulate import simulate_scenes
from affectlab.simulate.scenes import PARAMETERS, SceneOrder, label_places
from affectlab.taxonomy import Taxonomy, load_taxonomy

MIKELS = load_taxonomy("mikels")


def between(points: np.ndarray) -> np.ndarray:
    apart: np.ndarray = np.linalg.norm(points[:, None] - points[None], axis=2)
    return apart


def means(values: np.ndarray, labels: tuple[str, ...], names: tuple[str, ...]) -> np.ndarray:
    given = np.array(labels)
    return np.stack([values[given == name].mean(axis=0) for name in names])


def test_places_follow_the_costs_strictly() -> None:
    places = label_places(MIKELS, "wheel", 0)
    apart = between(np.stack(list(places.values())))
    costs = MIKELS.cost_matrix().reorder(tuple(places)).matrix
    for one, row in enumerate(apart):
        order = np.argsort(costs[one], kind="stable")
        # Distances rise with costs, and labels of the same cost are equally far.
        assert np.all(np.diff(row[order]) > -1e-9)
        assert np.array_equal(np.diff(row[order]) > 1e-9, np.diff(costs[one][order]) > 0)


def test_places_of_controls() -> None:
    apart = between(np.stack(list(label_places(MIKELS, "even", 0).values())))
    assert np.ptp(apart[~np.eye(8, dtype=bool)]) < 1e-9
    wheel, other = (label_places(MIKELS, "random", seed) for seed in (0, 1))
    assert any(not np.array_equal(wheel[name], other[name]) for name in wheel)
    assert sorted(map(tuple, np.stack(list(wheel.values())).round(9).tolist())) == sorted(
        map(tuple, np.stack(list(other.values())).round(9).tolist())
    )


@pytest.mark.long
@pytest.mark.parametrize("what", ["parameters", "features", "pixels"])
def test_what_is_seen_follows_the_wheel(what: str) -> None:
    scenes = simulate_scenes(400 if what == "pixels" else 4000, seed=7)
    if what == "parameters":
        seen = scenes.parameters
    elif what == "features":
        seen = scenes.features(64)
    else:
        seen = np.stack([np.asarray(scenes.draw(at, 16)).ravel() / 255.0 for at in range(400)])
    middle = means(seen, scenes.labels, scenes.names)
    costs = MIKELS.cost_matrix().reorder(scenes.names).matrix
    off = ~np.eye(8, dtype=bool)
    found = np.corrcoef(between(middle)[off], costs[off])[0, 1]
    # Pixels tell light from dark before anything else.
    assert found > {"parameters": 0.95, "features": 0.9, "pixels": 0.5}[what]
    if what == "parameters":
        even = simulate_scenes(4000, order="even", seed=7)
        middle = means(even.parameters, even.labels, even.names)
        assert abs(np.corrcoef(between(middle)[off], costs[off])[0, 1]) < 0.5


@pytest.mark.parametrize("order", ["wheel", "random", "even"])
def test_chances_are_calibrated_and_controls_as_hard(order: SceneOrder) -> None:
    scenes = simulate_scenes(40_000, order=order, seed=2)
    assert np.allclose(scenes.chances.sum(axis=1), 1)
    truth = np.array([scenes.names.index(label) for label in scenes.labels])
    hit = scenes.chances.argmax(axis=1) == truth
    # What is certain to 70 % is right in 70 % of all cases.
    assert hit.mean() == pytest.approx(scenes.chances.max(axis=1).mean(), abs=0.01)
    assert hit.mean() == pytest.approx(0.695, abs=0.01)
    assert np.bincount(truth).tolist() == [5000] * 8
    scenes = simulate_scenes(40_000, order=order, stray=0.3, seed=2)
    truth = np.array([scenes.names.index(label) for label in scenes.labels])
    hit = scenes.chances.argmax(axis=1) == truth
    assert hit.mean() == pytest.approx(scenes.chances.max(axis=1).mean(), abs=0.01)
    assert hit.mean() == pytest.approx(0.7 * 0.695 + 0.3 / 8, abs=0.01)


def test_the_same_seed_draws_the_same() -> None:
    one, again, other = (simulate_scenes(12, seed=seed) for seed in (3, 3, 4))
    assert one.labels == again.labels
    assert np.array_equal(one.features(8), again.features(8))
    assert not np.array_equal(one.features(8), one.features(8, encoder=1))
    assert one.draw(5, 32).tobytes() == again.draw(5, 32).tobytes()
    assert one.draw(5, 32).tobytes() != other.draw(5, 32).tobytes()
    assert one.draw(5, 32).tobytes() != one.draw(6, 32).tobytes()
    plain = simulate_scenes(12, seed=3, spread=0.0, noise=0.0)
    assert np.array_equal(
        plain.chances.argmax(axis=1), [plain.names.index(n) for n in plain.labels]
    )
    assert len(np.unique(plain.parameters.round(9), axis=0)) == 8


def test_saved_scenes_are_a_data_set(tmp_path: Path) -> None:
    scenes = simulate_scenes(16, seed=1)
    table = scenes.save(tmp_path, size=16)
    assert table.columns == ["stimulus", "file", "label", *PARAMETERS]
    found = read_labelled_images(tmp_path, MIKELS)
    assert sorted(found.labels) == sorted(scenes.labels)
    by_table = read_labelled_images(tmp_path / "scenes.csv", MIKELS)
    assert by_table.labels == scenes.labels
    assert pl.read_csv(tmp_path / "scenes.csv").height == 16


def test_hostile_input(tmp_path: Path) -> None:
    for settings, said in (
        ({"n": 0}, "n = 0"),
        ({"n": 2.5}, "n = 2.5"),
        ({"n": 8, "spread": -1}, "spread = -1"),
        ({"n": 8, "noise": float("nan")}, "noise = nan"),
        ({"n": 8, "stray": 1.5}, "stray = 1.5"),
        ({"n": 8, "seed": -1}, "seed = -1"),
        ({"n": 8, "order": "wheels"}, "order 'wheels'"),
        ({"n": 8, "taxonomy": "ekman"}, "has no wheel"),
        (
            {"n": 8, "taxonomy": Taxonomy.from_labels(["a", "b"], name="two")},
            "has no wheel",
        ),
    ):
        with pytest.raises(InputError, match=said):
            simulate_scenes(**settings)
    scenes = simulate_scenes(8)
    for size in (0, 15, 5000, 20.5):
        with pytest.raises(InputError, match="expected a whole number from 16 to 1024"):
            scenes.draw(0, size)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="scene = 8: expected a whole number from 0 to 7"):
        scenes.draw(8)
    with pytest.raises(InputError, match="width = 0"):
        scenes.features(0)
    with pytest.raises(InputError, match="noise = -1"):
        scenes.features(4, noise=-1)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        scenes.save(tmp_path / "file")
