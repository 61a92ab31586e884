"""Mean squared and mean absolute error, and structural similarity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image
from skimage.metrics import mean_squared_error, structural_similarity
from tests.models.differences.pictures import noise

from affectlab.core.errors import InputError
from affectlab.models.differences import difference, load_difference_metric
from affectlab.simulate import draw_face

NAMES = ("mse", "mae", "ssim")


def plain_ssim(first: np.ndarray, second: np.ndarray) -> float:
    """Structural similarity of grey pictures, window by window, as Wang et al. (2004) write it."""
    place = np.arange(-5, 6)
    window = np.exp(-(place[:, None] ** 2 + place**2) / (2 * 1.5**2))
    window /= window.sum()
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    found = []
    for row in range(first.shape[0] - 10):
        for column in range(first.shape[1] - 10):
            x, y = (
                one[row : row + 11, column : column + 11].astype(float) for one in (first, second)
            )
            mx, my = (window * x).sum(), (window * y).sum()
            vx, vy = (window * (x - mx) ** 2).sum(), (window * (y - my) ** 2).sum()
            both = (window * (x - mx) * (y - my)).sum()
            top = (2 * mx * my + c1) * (2 * both + c2)
            found.append(top / ((mx**2 + my**2 + c1) * (vx + vy + c2)))
    return float(np.mean(found))


def test_errors_are_those_of_other_code() -> None:
    first, second = noise(1), noise(2)
    a, b = (np.asarray(one) / 255 for one in (first, second))
    assert difference(first, second, "mse") == pytest.approx(mean_squared_error(a, b), rel=1e-12)
    assert difference(first, second, "mae") == pytest.approx(np.abs(a - b).mean(), rel=1e-12)
    grey = [np.asarray(one.convert("L")) / 255 for one in (first, second)]
    found = difference(first, second, "mse", grey=True)
    assert found == pytest.approx(mean_squared_error(*grey), rel=1e-12)


def test_similarity_is_that_of_the_paper_and_turned_round() -> None:
    first = draw_face("joy", 1, size=32)
    second = draw_face("joy", 0, size=32)
    grey = [np.asarray(one.convert("L")) for one in (first, second)]
    assert difference(first, second, "ssim") == pytest.approx(1 - plain_ssim(*grey), abs=1e-10)
    colours = [
        structural_similarity(
            *(np.asarray(one)[..., band] for one in (first, second)),
            gaussian_weights=True,
            use_sample_covariance=False,
            data_range=255,
        )
        for band in range(3)
    ]
    found = difference(first, second, "ssim", grey=False)
    assert found == pytest.approx(1 - np.mean(colours), abs=1e-12)


def test_known_answers() -> None:
    black, white = Image.new("RGB", (20, 20)), Image.new("RGB", (20, 20), "white")
    half = white.copy()
    half.paste((0, 0, 0), (0, 0, 10, 20))
    assert [difference(black, one, "mse") for one in (black, half, white)] == [0, 0.5, 1]
    assert difference(black, Image.new("RGB", (20, 20), (51, 0, 0)), "mae") == pytest.approx(1 / 15)
    # Luminance 0 against 255: the first factor is c1 / (255^2 + c1), the second is 1.
    c1 = (0.01 * 255) ** 2
    assert difference(black, white, "ssim") == pytest.approx(1 - c1 / (255**2 + c1), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(seeds=st.lists(st.integers(0, 9), min_size=2, max_size=6), grey=st.booleans())
def test_symmetric_zero_for_the_same_and_whatever_the_batch(
    name: str, seeds: list[int], grey: bool
) -> None:
    metric = load_difference_metric(name, grey=grey)
    first, second = [noise(seed) for seed in seeds], [noise(seed) for seed in reversed(seeds)]
    found = metric.differences(first, second)
    assert found.shape == (len(seeds),)
    assert found.tolist() == metric.differences(second, first).tolist()
    alone = [metric.differences([a], [b])[0] for a, b in zip(first, second, strict=True)]
    assert found.tolist() == alone
    same = [one == other for one, other in zip(seeds, reversed(seeds), strict=True)]
    assert (found == 0).tolist() == same


@pytest.mark.parametrize("name", NAMES)
def test_more_of_an_expression_is_more_different(name: str) -> None:
    calm = draw_face("joy", 0, size=64)
    faces = [draw_face("joy", intensity, size=64) for intensity in (0, 0.25, 0.5, 1)]
    metric = load_difference_metric(name)
    assert metric.higher_is_more_different
    found = metric.differences([calm] * 4, faces)
    assert found[0] == 0
    assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_grey_and_see_through_pictures_are_shown_on_white(name: str) -> None:
    face = draw_face("joy", 1, size=32)
    grey = face.convert("L")
    assert difference(grey, grey.convert("RGB"), name) == 0
    metric = load_difference_metric(name, grey=False)
    other = draw_face("joy", 0, size=32)
    found = metric.differences([grey, grey], [grey.convert("RGB"), other])
    assert found.tolist() == [0, metric.differences([grey.convert("RGB")], [other])[0]]
    nothing = Image.new("RGBA", (32, 32), (10, 200, 30, 0))
    assert difference(nothing, Image.new("RGB", (32, 32), "white"), name) == 0
    assert difference(nothing, face, name) > 0


@pytest.mark.parametrize("name", NAMES)
def test_sizes_that_differ(name: str) -> None:
    with pytest.raises(InputError, match=r"have 40 x 36 and 41 x 36 pixels; expected one size"):
        difference(noise(1), noise(1, 41), name)
    with pytest.raises(InputError, match=r"pair 1: the pictures have"):
        load_difference_metric(name).differences([noise(1)] * 2, [noise(2), noise(2, 44)])


def test_smaller_pictures_are_compared_where_a_size_is_wished() -> None:
    large, small = draw_face("joy", 1, size=128), draw_face("joy", 0, size=64)
    shrunk = large.resize((64, 64), Image.Resampling.LANCZOS)
    for name in NAMES:
        assert difference(large, small, name, size=64) == difference(shrunk, small, name)
    # Larger ones are made smaller, smaller ones stay.
    assert difference(noise(1), noise(2), "mse", size=500) == difference(noise(1), noise(2), "mse")


@pytest.mark.parametrize(
    ("name", "given_settings", "said"),
    [
        ("mse", {"size": 4}, "size = 4: expected a whole number of pixels from 16 on"),
        ("ssim", {"size": True}, "size = True"),
        ("mae", {"grey": "yes"}, "grey = 'yes': expected true or false"),
        ("ssim", {"gray": True}, "unknown setting 'gray'; did you mean 'grey'"),
    ],
)
def test_settings_that_cannot_be_used(
    name: str, given_settings: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        load_difference_metric(name, **given_settings)


def test_what_cannot_be_compared() -> None:
    with pytest.raises(InputError, match=r"10 x 36 pixels is smaller than the window of SSIM"):
        difference(noise(1, 10), noise(2, 10), "ssim")
    metric = load_difference_metric("mse")
    with pytest.raises(InputError, match=r"2 pictures and 1; expected as many of both"):
        metric.differences([noise(1)] * 2, [noise(1)])
    with pytest.raises(InputError, match=r"expected two lists of pictures, got str"):
        metric.differences("a", "b")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"expected a file, its bytes or an image, not int"):
        metric.differences([3], [noise(1)])  # type: ignore[list-item]
    assert metric.differences([], []).shape == (0,)
