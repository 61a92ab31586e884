from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import ImageOps

from affectlab.core.errors import InputError
from affectlab.simulate import EXPRESSIONS, Identity, draw_face
from affectlab.simulate.faces import FaceParameters, expression_sequence
from affectlab.simulate.faces.identity import (
    AGE_GROUPS,
    EYE_SHAPES,
    FACE_SHAPES,
    FACIAL_HAIR,
    HAIR_STYLES,
    PRESENTATIONS,
)

Pixels = NDArray[np.float64]


def pixels(
    expression: str | FaceParameters,
    intensity: float = 1.0,
    identity: int | Identity = 0,
    size: int = 64,
) -> Pixels:
    return np.asarray(draw_face(expression, intensity, identity, size=size), dtype=np.float64)


def distance(one: Pixels, other: Pixels) -> float:
    return float(np.abs(one - other).mean())


@pytest.mark.parametrize("size", [32, 63, 256, 512])
def test_size_and_mode(size: int) -> None:
    face = draw_face("joy", size=size)
    assert face.size == (size, size)
    assert face.mode == "RGB"


def test_same_arguments_same_bytes_and_other_person_other_bytes() -> None:
    def digest(identity: int) -> str:
        return hashlib.sha256(draw_face("fear", 0.7, identity).tobytes()).hexdigest()

    assert digest(5) == digest(5)
    assert digest(5) != digest(6)


def test_every_pair_of_expressions_differs_visibly() -> None:
    faces = {name: pixels(name, identity=3, size=128) for name in EXPRESSIONS}
    for one, other in combinations(EXPRESSIONS, 2):
        assert distance(faces[one], faces[other]) > 0.8, (one, other)


@pytest.mark.parametrize("expression", [name for name in EXPRESSIONS if name != "neutral"])
def test_faces_move_away_from_neutral_with_intensity(expression: str) -> None:
    neutral = pixels("neutral", identity=3)
    away = [
        distance(pixels(expression, step, identity=3), neutral) for step in np.linspace(0, 1, 6)
    ]
    assert away[0] == 0.0
    assert np.all(np.diff(away) > 0.0)


@pytest.fixture(scope="module")
def gallery() -> Pixels:
    """Standardised eye and mouth region, shape (people, expressions, pixels)."""
    region = np.stack(
        [
            [
                np.asarray(draw_face(name, 1.0, seed, size=64).convert("L"), dtype=float)
                for name in EXPRESSIONS
            ]
            for seed in range(20)
        ]
    )[:, :, 24:56, 16:48].reshape(20, len(EXPRESSIONS), -1)
    spread = region.std(axis=2, keepdims=True)
    standardised: Pixels = (region - region.mean(axis=2, keepdims=True)) / spread
    return standardised


@pytest.mark.long
def test_expressions_are_recognised_in_people_never_seen(gallery: Pixels) -> None:
    right = []
    for fold in range(4):
        unseen = np.arange(20) % 4 == fold
        centroids = gallery[~unseen].mean(axis=0)
        gaps = ((gallery[unseen][:, :, None] - centroids) ** 2).sum(axis=3)
        right.append(gaps.argmin(axis=2) == np.arange(len(EXPRESSIONS)))
    by_expression = np.concatenate(right).mean(axis=0)
    assert by_expression.mean() > 0.8  # chance is 1 in 11
    assert by_expression.min() > 0.5, dict(zip(EXPRESSIONS, by_expression, strict=True))


def test_left_is_the_persons_left() -> None:
    rest = pixels("neutral")
    winking = np.abs(pixels(FaceParameters(wink_left=1.0)) - rest).sum(axis=(0, 2))
    assert winking[32:].sum() > 20.0 * winking[:32].sum()


@pytest.mark.parametrize("field", ["wink", "brow", "corner"])
def test_mirrored_parameters_change_the_mirrored_side(field: str) -> None:
    face = FaceParameters(**{f"{field}_left": 1.0})
    rest = pixels("neutral", size=128)
    left = np.abs(pixels(face, size=128) - rest).sum(axis=2)
    right = np.abs(pixels(face.mirrored(), size=128) - rest).sum(axis=2)
    centre = [
        float((change.sum(axis=0) * np.arange(128)).sum() / change.sum())
        for change in (left, right)
    ]
    assert centre[0] > 66.0 > 62.0 > centre[1]
    assert sum(centre) == pytest.approx(127.0, abs=4.0)


def test_asymmetric_smile_differs_from_its_mirror_image() -> None:
    smirk = draw_face(FaceParameters(lip_corner=0.3, corner_left=0.7), size=64)
    flipped = np.asarray(ImageOps.mirror(smirk), dtype=float)
    assert distance(np.asarray(smirk, dtype=float), flipped) > 0.3


def every_trait() -> Iterator[Identity]:
    for field, values in (
        ("hair", HAIR_STYLES),
        ("age_group", AGE_GROUPS),
        ("presentation", PRESENTATIONS),
        ("face_shape", FACE_SHAPES),
        ("eye_shape", EYE_SHAPES),
        ("facial_hair", FACIAL_HAIR),
    ):
        for value in values:
            yield Identity(**{field: value})  # type: ignore[arg-type]
    for tone in range(1, 9):
        yield Identity(skin_tone=tone)
    yield Identity(glasses=True, freckles=True, earrings=True, hair="bun")


def test_every_trait_is_drawn_and_changes_the_face() -> None:
    default = Identity()
    reference = pixels("contentment", identity=default)
    for person in every_trait():
        changed = distance(pixels("contentment", identity=person), reference)
        assert (changed > 0.0) == (person != default), person


def test_seeds_give_a_varied_cast() -> None:
    cast = [Identity.from_seed(seed) for seed in range(48)]
    assert len(set(cast)) == 48
    assert {person.skin_tone for person in cast[:8]} == set(range(1, 9))
    assert {person.hair for person in cast} == set(HAIR_STYLES)
    assert {person.age_group for person in cast} == set(AGE_GROUPS)
    tones = np.array([person.skin_tone for person in cast], dtype=float)
    ages = np.array([person.age for person in cast], dtype=float)
    feminine = np.array([person.presentation == "feminine" for person in cast], dtype=float)
    assert feminine.mean() == 0.5
    for one, other in ((tones, ages), (tones, feminine), (ages, feminine)):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.35


def test_sequence_is_lazy_and_ends_at_the_peak() -> None:
    frames = expression_sequence("anger", 4, frames=10_000, size=64)
    first = np.asarray(next(frames), dtype=float)
    assert distance(first, pixels("neutral", identity=4)) == 0.0
    *_, last = expression_sequence("anger", 4, frames=3, size=64)
    assert distance(np.asarray(last, dtype=float), pixels("anger", identity=4)) == 0.0


def test_hostile_input() -> None:
    with pytest.raises(InputError, match="did you mean 'excitement'"):
        draw_face("exitement")
    with pytest.raises(InputError, match="size = 8"):
        draw_face("joy", size=8)
    with pytest.raises(InputError, match="seed = -1"):
        draw_face("joy", identity=-1)
    with pytest.raises(InputError, match="frames = 1: expected a whole number from 2 on"):
        expression_sequence("joy", frames=1)
    with pytest.raises(InputError, match="unknown expression"):
        expression_sequence("hapy", frames=5)
    with pytest.raises(InputError, match="did you mean 'headscarf'"):
        Identity(hair="headscar")
    with pytest.raises(InputError, match=r"skin_tone = 9: expected a number from 1 to 8"):
        Identity(skin_tone=9)


def test_ages_come_in_all_skin_tones() -> None:
    cast = [Identity.from_seed(seed) for seed in range(128)]
    for group in {one.age_group for one in cast}:
        tones = [one.skin_tone for one in cast if one.age_group == group]
        assert {tones.count(tone) for tone in range(1, 9)} == {len(tones) // 8}
