"""Maps of stimuli: places, colours, and what is left out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from affectlab.analysis import label_map
from affectlab.analysis.labels import wording
from affectlab.analysis.labels.maps import GREY, label_colours, mixed_colours, to_oklab, to_rgb
from affectlab.core.errors import InputError
from affectlab.ratings import Ratings


def blobs(n: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    return 0.8 * np.eye(3)[group] + 0.15 * rng.random((n, 3)), group


@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_groups_stand_apart(method: str) -> None:
    values, group = blobs()
    found = label_map(values, labels=["joy", "fear", "awe"], method=method)
    centres = np.array([found.places[group == k].mean(axis=0) for k in range(3)])
    nearest = np.linalg.norm(found.places[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == group).mean() > 0.95
    assert len(found) == 90
    assert np.isfinite(found.places).all()


@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_same_seed_same_bytes(method: str) -> None:
    values, _ = blobs(60)
    one, two = (label_map(values, method=method, seed=3, most=40) for _ in range(2))
    assert one.places.tobytes() == two.places.tobytes()
    assert one.stimuli == two.stimuli


def test_equal_answers_fill_a_disc() -> None:
    found = label_map(np.repeat(np.eye(4), [100, 10, 10, 1], axis=0), method="pca")
    ends = np.cumsum([100, 10, 10, 1])
    parts = np.split(found.places, ends[:-1])
    radius = [np.linalg.norm(part - part.mean(axis=0), axis=1).max() for part in parts]
    assert radius[0] == pytest.approx(np.sqrt(10) * radius[1], rel=0.15)
    assert radius[3] == 0
    # No two stand on one place, and the discs do not overlap.
    assert len(np.unique(found.places.round(9), axis=0)) == 121
    centres = [part.mean(axis=0) for part in parts]
    for a in range(4):
        for b in range(a):
            assert np.linalg.norm(centres[a] - centres[b]) > 0.9 * (radius[a] + radius[b])
    assert found.method == wording.spread_text(label_map(np.eye(4), method="pca").method)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_few_stimuli(method: str, n: int) -> None:
    found = label_map(np.eye(5)[:n], method=method)
    assert found.places.shape == (n, 2)
    assert np.isfinite(found.places).all()


def test_one_label_and_stimuli_that_are_all_the_same() -> None:
    found = label_map(np.ones((20, 1)), labels=["joy"])
    assert wording.ONE_PLACE in found.method
    assert wording.only_label("joy") in found.notes
    assert set(found.colours) == set(found.label_colours)
    assert np.isfinite(found.places).all()


def test_colour_is_the_mean_over_labels_chosen_by_half() -> None:
    chosen = {"r1": ("joy", "fear"), "r2": ("joy",), "r3": ("joy", "fear"), "r4": ("awe",)}
    rows = [
        ("s", rater, label, int(label in own))
        for rater, own in chosen.items()
        for label in ("joy", "fear", "awe", "anger")
    ]
    rows += [("t", "r1", label, 0) for label in ("joy", "fear", "awe", "anger")]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    found = label_map(Ratings(frame, scale="binary"), method="pca", exclude_neutral=False)
    colours = dict(zip(found.labels, found.label_colours, strict=True))
    # Joy by three of four, fear by two; awe by one of four does not count.
    expected = mixed_colours(np.array([[0.75, 0.5]]), [colours["joy"], colours["fear"]])[0]
    assert found.colours == (expected, GREY)
    assert found.to_frame()["labels"].to_list() in (["joy, fear", ""], ["fear, joy", ""])


def test_half_of_those_who_were_asked_is_enough() -> None:
    """Of four people two were asked about fear, and one of the two chose it."""
    rows = [("s", rater, "joy", 1) for rater in "abcd"]
    rows += [("s", "a", "fear", 1), ("s", "b", "fear", 0)]
    rows += [("t", rater, label, 0) for rater in "abcd" for label in ("joy", "fear")]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    found = label_map(Ratings(frame, scale="binary"), method="pca")
    assert set(found.to_frame()["labels"][0].split(", ")) == {"joy", "fear"}
    fear = found.labels.index("fear")
    assert found.shares[0, fear] == 0.5


def test_neutral_is_left_out_and_said() -> None:
    rows = [
        (f"s{k}", "r", label, int((label == "neutral") == (k < 2)))
        for k in range(6)
        for label in ("joy", "fear", "neutral")
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    ratings = Ratings(frame, scale="binary", taxonomy="goemotions")
    found = label_map(ratings, method="pca")
    assert len(found) == 4
    assert "neutral" not in found.labels
    assert found.notes == (wording.only_neutral(2, "neutral"),)
    whole = label_map(ratings, method="pca", exclude_neutral=False)
    assert len(whole) == 6
    assert whole.label_colours[whole.labels.index("neutral")] == GREY


def test_missing_labels_and_draws_are_said() -> None:
    values = np.array([[1, np.nan], [0, 1], [1, 1], [0, 0]] * 5, dtype=float)
    found = label_map(values, method="pca", most=12)
    assert found.notes == (wording.sampled(12, 20), wording.NOT_ASKED)
    assert len(found) == 12


def test_places_from_features() -> None:
    values, group = blobs(60)
    rng = np.random.default_rng(1)
    features = 10 * np.eye(3)[(group + 1) % 3] + rng.random((60, 3))
    found = label_map(values, features=features, method="pca")
    plain = label_map(features, method="pca")
    np.testing.assert_allclose(found.places, plain.places, atol=1e-9)
    assert len(set(found.colours)) > 1


def test_an_array_holds_shares_or_numbers() -> None:
    shares = label_map([[0.6, 0.4], [0.5, 0.5], [0.1, 0.2]], labels=["joy", "fear"], method="pca")
    assert shares.to_frame()["labels"].to_list() == ["joy", "fear, joy", ""]
    numbers = label_map([[6, 0], [-1, 2], [0, 0]], labels=["joy", "fear"], method="pca")
    assert numbers.to_frame()["labels"].to_list() == ["joy", "fear", ""]


def test_texts_of_stimuli() -> None:
    frame = {"stimulus": ["a", "b"], "rater": ["r"] * 2, "label": ["x", "y"], "value": [1, 1]}
    stimuli = {"stimulus": ["a", "b"], "text": ["<b>", None]}
    found = label_map(Ratings(frame, scale="binary", stimuli=stimuli), method="pca")
    assert found.texts == ("<b>", None)
    assert found.to_frame().columns == ["stimulus", "x", "y", "colour", "labels", "text"]
    assert label_map([[1, 0]], texts=["one"], method="pca").texts == ("one",)


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=1, max_size=5))
def test_oklab_and_back(colours) -> None:
    rgb = np.array(colours)
    np.testing.assert_allclose(to_rgb(to_oklab(rgb)), rgb, atol=2e-3)


def test_oklab_of_known_colours() -> None:
    """White, red and blue as printed by Ottosson (2020) for sRGB."""
    found = to_oklab(np.array([[1.0, 1, 1], [1, 0, 0], [0, 0, 1]]))
    expected = [[1, 0, 0], [0.6279, 0.2249, 0.1258], [0.4520, -0.0325, -0.3115]]
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_mixes_keep_their_lightness() -> None:
    colours = label_colours(12)
    rgb = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in colours])
    light = to_oklab(rgb)[:, 0]
    for a in range(12):
        for b in range(a):
            weights = np.zeros((1, 12))
            weights[0, [a, b]] = 1
            mixed = mixed_colours(weights, colours)[0]
            own = to_oklab(np.array([[int(mixed[k : k + 2], 16) / 255 for k in (1, 3, 5)]]))[0, 0]
            assert own == pytest.approx((light[a] + light[b]) / 2, abs=0.01)
    assert len(set(label_colours(40))) == 40
    assert mixed_colours(np.zeros((1, 12)), colours) == [GREY]


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (np.eye(3), {"method": "mds"}, "method"),
        (np.eye(3), {"most": 0}, "most"),
        (np.eye(3), {"neighbours": 0}, "neighbours"),
        (np.eye(3), {"features": np.eye(2)}, "features"),
        (np.eye(3), {"features": [[np.nan]] * 3}, "not finite"),
        (np.eye(3), {"texts": ["a"]}, "texts"),
        (np.empty((0, 2)), {}, "shape"),
    ],
)
def test_bad_input(data, options, words: str) -> None:
    with pytest.raises(InputError, match=words):
        label_map(data, **options)


def test_only_neutral_leaves_nothing() -> None:
    frame = {"stimulus": ["a"], "rater": ["r"], "label": ["neutral"], "value": [1]}
    with pytest.raises(InputError, match="no label is left"):
        label_map(Ratings(frame, scale="binary"))
