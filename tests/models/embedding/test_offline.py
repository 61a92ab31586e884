"""Encoders of images without weights: what they are made of, and what heads find in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageEnhance
from scipy.stats import spearmanr

from affectlab.core.errors import InputError
from affectlab.models.embedding.encoder import batch_of, check_encoder, encode_batch
from affectlab.models.embedding.offline_images import FACE_WIDTH, cells, edges, grey
from affectlab.models.embedding.projections import projection
from affectlab.models.embedding.registry import load_encoder
from affectlab.simulate import EXPRESSIONS, Identity, draw_face

from .checkpoints import pictures
from .network import nothing_is_reached

__all__ = ["nothing_is_reached"]

NAMES = ("faces", "hog", "lbp")


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_the_same_however_images_are_portioned(name):
    encoder, images = load_encoder(name), pictures(6, side=60)
    check_encoder(encoder, name)
    together = encode_batch(encoder, images)
    assert together.dtype == np.float32
    assert together.shape == (6, encoder.width)
    single = np.concatenate([encode_batch(encoder, [image]) for image in images])
    # A product of matrices may add in another order where it has other rows.
    np.testing.assert_allclose(single, together, rtol=1e-4, atol=1e-5)
    turned = encode_batch(load_encoder(name), images[::-1])[::-1]
    np.testing.assert_allclose(turned, together, rtol=1e-4, atol=1e-5)
    assert encode_batch(encoder, []).shape == (0, encoder.width)
    assert batch_of(encoder) >= 1
    # They fit float16 with room, and no number stands out by its size alone.
    assert np.abs(together).max() < 50
    assert 0.1 < together.std() < 10


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("image", ["even", "one pixel", "line"])
def test_images_with_nothing_in_them(name, image):
    given = {
        "even": Image.new("RGB", (300, 200), (90, 90, 90)),
        "one pixel": Image.new("RGB", (1, 1)),
        "line": Image.new("RGB", (1, 5000), "white"),
    }[image]
    assert np.isfinite(encode_batch(load_encoder(name), [given])).all()


def plain_edges(values, cell, orientations):
    """Histograms of gradients, one pixel and one cell after the other."""
    values = values.astype(float)
    n = len(values) // cell
    found = np.zeros((n, n, orientations))
    for row in range(len(values)):
        for column in range(len(values)):
            down = right = 0.0
            if 0 < row < len(values) - 1:
                down = values[row + 1, column] - values[row - 1, column]
            if 0 < column < len(values) - 1:
                right = values[row, column + 1] - values[row, column - 1]
            angle = np.rad2deg(np.arctan2(down, right)) % 180
            bin_ = int(angle // (180 / orientations)) % orientations
            found[row // cell, column // cell, bin_] += np.hypot(down, right)
    energy = (found**2).sum(axis=-1)
    whole = energy.mean()
    out = np.zeros_like(found)
    for i in range(n):
        for j in range(n):
            near = [
                energy[min(max(i + a, 0), n - 1), min(max(j + b, 0), n - 1)]
                for a in (-1, 0, 1)
                for b in (-1, 0, 1)
            ]
            out[i, j] = np.sqrt(found[i, j] / np.sqrt(np.mean(near) + 0.1 * whole))
    return out


def test_edges_are_those_counted_pixel_by_pixel():
    rng = np.random.default_rng(0)
    for size, cell, orientations in ((32, 8, 8), (24, 4, 6)):
        values = rng.integers(0, 256, (size, size))
        np.testing.assert_allclose(
            edges(values, cell, orientations),
            plain_edges(values, cell, orientations),
            rtol=1e-3,
            atol=1e-3,
        )


@pytest.mark.parametrize("name", ["faces", "hog"])
def test_light_and_contrast_change_little(name):
    face, other = draw_face("joy", 0.8, 5), draw_face("anger", 0.8, 5)
    # Half the light: all gradients are half as strong, up to rounding of pixels.
    dark = Image.fromarray((np.asarray(face) // 2).astype(np.uint8))
    faint = ImageEnhance.Contrast(face).enhance(0.6)
    a, b, c, d = load_encoder(name).encode([face, dark, faint, other])
    assert np.linalg.norm(a - b) < 0.5 * np.linalg.norm(a - d)
    assert np.linalg.norm(a - c) < 0.4 * np.linalg.norm(a - d)


def test_patterns_are_those_of_signs_alone():
    """Light that is four times as strong everywhere keeps the patterns."""
    values = np.random.default_rng(2).integers(0, 64, (128, 128)).astype(np.uint8)
    images = [Image.fromarray(part).convert("RGB") for part in (values, 4 * values)]
    a, b = load_encoder("lbp").encode(images)
    np.testing.assert_array_equal(a, b)
    # Shares of a region sum to one, whatever the radius.
    shares = (a.reshape(-1, 10) * np.sqrt(0.1) + np.sqrt(0.1)) ** 2
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-4)


def test_only_the_middle_of_an_image_counts_for_faces():
    face = draw_face("fear", 1.0, 2)
    encoder = load_encoder("faces")
    first = encoder.encode([face])[0]
    edge = face.copy()
    edge.paste((255, 0, 255), (0, 0, 256, 50))
    edge.paste((0, 0, 0), (0, 215, 256, 256))
    np.testing.assert_array_equal(encoder.encode([edge])[0], first)
    # Wide and tall images are cut to the square in the middle.
    wide = Image.new("RGB", (400, 256), "green")
    wide.paste(face, (72, 0))
    again, other = encoder.encode([wide, draw_face("joy", 1.0, 2)])
    # Up to where pixels are rounded.
    assert np.linalg.norm(again - first) < 0.1 * np.linalg.norm(other - first)


def test_expression_moves_a_face_farther_than_skin_hair_or_glasses():
    """Median distances over people, with all else the same."""
    encoder = load_encoder("faces")
    people = [
        replace(Identity.from_seed(seed), skin_tone=3, hair="crop", glasses=False)
        for seed in range(4)
    ]

    def rows(group, expression="neutral"):
        return encoder.encode([draw_face(expression, 1.0, who, size=128) for who in group])

    rest = rows(people)

    def moved(found):
        return float(np.median(np.linalg.norm(found - rest, axis=1)))

    expressions = ("joy", "anger", "surprise", "sadness", "fear", "disgust")
    usual = np.median([moved(rows(people, name)) for name in expressions])
    shares = {
        f"{name} {value}": moved(rows([replace(person, **{name: value}) for person in people]))
        / usual
        for name, value in CHANGES
    }
    assert max(share for name, share in shares.items() if "glasses" not in name) < 0.75, shares
    # Frames run through the eyes, where expressions are.
    assert max(shares.values()) < 1.1, shares


CHANGES = (
    *(("skin_tone", 7), ("hair", "bob"), ("hair", "afro"), ("hair_colour", "blond")),
    ("glasses", True),
)


@pytest.fixture(scope="module")
def drawn():
    """Drawn faces of many people, encoded: rows, expression, intensity and person."""
    rng = np.random.default_rng(8)
    n = 240
    kinds = ("joy", "anger", "fear", "surprise", "sadness", "disgust", "awe", "contentment")
    which, strength = rng.integers(len(kinds), size=n), rng.random(n)
    person = rng.integers(60, size=n)
    faces = [
        draw_face(kinds[k], float(s), int(p), size=100)
        for k, s, p in zip(which, strength, person, strict=True)
    ]
    return load_encoder("faces").encode(faces), which, strength, person, kinds


@pytest.mark.long
def test_intensity_is_found_in_people_who_were_not_seen(drawn):
    """Ridge regression on few drawn faces; with thousands it is found far more closely."""
    rows, which, strength, person, kinds = drawn
    test = person >= 42
    truth = np.zeros((len(rows), len(kinds)))
    truth[np.arange(len(rows)), which] = strength
    middle = rows[~test].mean(axis=0)
    seen, new = rows[~test] - middle, rows[test] - middle
    inner = seen @ seen.T
    inner[np.diag_indices_from(inner)] += 0.3 * np.trace(inner) / len(inner)
    expected = truth[~test].mean(axis=0)
    found = new @ seen.T @ np.linalg.solve(inner, truth[~test] - expected) + expected
    agreed = [
        spearmanr(found[which[test] == k, k], strength[test & (which == k)]).statistic
        for k in range(len(kinds))
    ]
    assert np.mean(agreed) > 0.85, dict(zip(kinds, np.round(agreed, 2), strict=True))
    assert len(set(kinds) & set(EXPRESSIONS)) == 8


def test_numbers_stay_as_they_are():
    """Whoever changes them raises the version, and with it the fingerprint."""
    face = [draw_face("joy", 1.0, 1, size=64)]
    for name, (fingerprint, numbers) in KNOWN.items():
        encoder = load_encoder(name)
        assert encoder.fingerprint == fingerprint
        row = encoder.encode(face)[0]
        start = 0 if name != "lbp" else len(row) // 2 + 5
        np.testing.assert_allclose(row[start : start + 100 : 20], numbers, atol=2e-3)


KNOWN = {
    "faces": ("8c0edcb9cc4f842f7b9ed90818762cde", [-1.1743, 0.5994, 0.0632, 0.1219, 0.5591]),
    "hog": ("f39247d43d1025ab8083e6deeb3a8ac8", [-0.6154, 0.1407, -0.0715, 0.1132, -0.0802]),
    "lbp": ("538d3a9f08b1c8b9a74034513acd5e5d", [0.9162, 0.1524, 0.118, 0.6536, 0.4524]),
}


def test_settings_decide_on_width_and_fingerprint():
    a, b = load_encoder("hog"), load_encoder("hog", cell=16, size=96)
    assert (a.width, b.width) == (2048, 288)
    assert len({a.fingerprint, b.fingerprint, load_encoder("lbp").fingerprint}) == 3
    assert load_encoder("lbp", radii=[1], grid=4).width == 160
    assert load_encoder("faces").width == FACE_WIDTH == 1152
    for name, settings, said in (
        ("hog", {"cell": 7}, "size = 128 is no multiple of cell = 7"),
        ("lbp", {"grid": 7}, "size = 128 is no multiple of grid = 7"),
        ("lbp", {"radii": []}, "radii"),
        ("lbp", {"radii": 3}, "radii = 3"),
        ("hog", {"size": 8}, "size = 8"),
        ("faces", {"size": 64}, "'size'; it has none"),
        ("hog", {"device": "cuda"}, "computes on the CPU in fp32"),
        ("lbp", {"precision": "bf16"}, "computes on the CPU in fp32"),
    ):
        with pytest.raises(InputError, match=said):
            load_encoder(name, **settings)
    assert load_encoder("hog", device="cpu", precision="auto").fingerprint == a.fingerprint


def test_projections_keep_distances():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(30, 3200)) * rng.random(3200)
    kept = (projection(3200, 1152) @ points.T).T
    a, b = np.triu_indices(30, 1)
    ratio = np.linalg.norm(kept[a] - kept[b], axis=1) / np.linalg.norm(
        points[a] - points[b], axis=1
    )
    scale = np.sqrt(1152 / 3200)
    assert np.abs(ratio / scale - 1).max() < 0.15
    assert (projection(50, 20, seed=1) != projection(50, 20)).nnz


def test_regions_and_pixels():
    assert np.bincount(cells(128, 8).ravel()).tolist() == [256] * 64
    ramp = Image.fromarray(np.tile(np.arange(256, dtype=np.uint8), (256, 1))).convert("RGB")
    found = grey(ramp, 64, (0.5, 0.0, 1.0, 0.5))
    assert found.shape == (64, 64)
    assert abs(int(found[0, 0]) - 128) <= 1
    assert abs(int(found[-1, -1]) - 255) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_published_faces_pass_through(shared_data, name):
    from affectlab.models.images import find_images, load_image

    folder = shared_data / "emonet_face" / "images"
    if not folder.is_dir():
        pytest.skip(f"no images at {folder}")
    images = [load_image(file.path) for file in find_images(folder)]
    found = encode_batch(load_encoder(name), images)
    assert len({row.tobytes() for row in found}) == len(images) == 4
