"""The offline generator: which faces stand for which prompts, and what the manifest admits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.simulate import EXPRESSIONS, draw_face
from affectlab.stimuli import face_prompts, neutral_prompts
from affectlab.stimuli.generation import ImagePrompt, generate_images, load_generator
from affectlab.stimuli.generation.drawn_faces import drawn_expression, drawn_identity
from affectlab.taxonomy import load_taxonomy, map_labels


@pytest.mark.parametrize(
    ("label", "expression", "by"),
    [
        ("Awe", "awe", ""),
        ("Contentment", "contentment", ""),
        ("neutral", "neutral", ""),
        ("Elation", "excitement", "mapping to mikels"),
        ("Disappointment", "sadness", "mapping to mikels"),
        ("Astonishment/Surprise", "surprise", "mapping to ekman"),
        ("Longing", "neutral", "a face at rest stands in"),
        ("no label", "neutral", "a face at rest stands in"),
    ],
)
def test_known_labels(label: str, expression: str, by: str) -> None:
    found, said = drawn_expression(label)
    assert found == expression
    assert by in said
    assert bool(said) == bool(by)


def test_every_label_of_the_taxonomy_has_a_face_and_none_is_guessed() -> None:
    mappings = [map_labels("emonet_face", name) for name in ("mikels", "ekman")]
    for label in load_taxonomy("emonet_face").labels:
        found, said = drawn_expression(label)
        assert found in EXPRESSIONS
        if label.lower() == found:
            assert said == ""
        else:
            assert found in ("neutral", *(mapping[label] for mapping in mappings))
            assert repr(label) in said


def test_labels_of_another_taxonomy() -> None:
    assert drawn_expression("grief", "goemotions")[0] == "sadness"
    assert drawn_expression("grief")[0] == "neutral"
    assert drawn_expression("anticipation", "plutchik")[0] == "neutral"


@given(
    st.integers(0, 2**31 - 1),
    st.sampled_from([None, 18, 20, 29, 30, 44, 45, 64, 65, 120]),
    st.sampled_from(["", "man", "woman", "non-binary person"]),
)
def test_people_have_the_age_and_gender_asked_for(seed: int, age: int | None, gender: str) -> None:
    prompt = ImagePrompt("a", "…", "Awe", seed=seed, age=age, gender=gender, ethnicity="any")
    person, left = drawn_identity(prompt)
    groups = {None: None, 18: 0, 20: 0, 29: 0, 30: 1, 44: 1, 45: 2, 64: 2, 65: 3, 120: 3}
    if age is not None:
        assert person.age == groups[age]
    known = {"man": "masculine", "woman": "feminine"}
    assert person.presentation == known.get(gender, person.presentation)
    assert ("gender 'non-binary person'" in left) == (gender == "non-binary person")
    assert "ethnicity 'any'" in left
    assert drawn_identity(prompt) == (person, left)


def test_skin_goes_with_neither_age_nor_gender() -> None:
    """Of 80 people of each kind, every tone has about its eighth."""
    for age in (20, 80):
        for gender in ("man", "woman"):
            prompts = [
                ImagePrompt("a", "…", "Awe", seed=seed, age=age, gender=gender)
                for seed in range(80)
            ]
            people = [drawn_identity(prompt)[0] for prompt in prompts]
            tones = np.bincount([one.skin_tone for one in people], minlength=9)[1:]
            # Chi-square with 7 degrees of freedom: 24.3 is its 99.9th percentile.
            assert (np.square(tones - 10) / 10).sum() < 24.3
            assert len({one.hair for one in people if one.skin_tone == 3}) > 2


def test_skin_does_not_follow_the_name_of_an_ethnicity() -> None:
    people = {
        drawn_identity(ImagePrompt("a", "…", "Awe", seed=5, ethnicity=name))[0]
        for name in ("East Asian", "Caribbean", "White or European")
    }
    assert len(people) == 1


def test_pictures_are_the_drawn_faces(tmp_path: Path) -> None:
    wanted = face_prompts(4, weights={"Fear": 1, "Longing": 1}, seed=1)
    made = generate_images(wanted, tmp_path, settings={"size": 48, "intensity": 0.5})
    for row in made.images.iter_rows(named=True):
        prompt = ImagePrompt(
            row["stimulus"],
            row["prompt"],
            row["label"],
            row["seed"],
            gender=row["gender"],
            age=row["age"],
        )
        longing = row["label"] == "Longing"
        assert row["drawn"] == ("neutral" if longing else "")
        assert ("'Longing' is not drawn, a face at rest stands in" in row["note"]) == longing
        assert f"ethnicity {row['ethnicity']!r} not drawn" in row["note"]
        face = draw_face(row["drawn"] or "fear", 0.5, drawn_identity(prompt)[0], size=48)
        from PIL import Image

        with Image.open(tmp_path / row["file"]) as image:
            assert image.tobytes() == face.tobytes()


def test_neutral_faces_are_no_stand_ins(tmp_path: Path) -> None:
    made = generate_images(neutral_prompts(2), tmp_path, settings={"size": 32})
    assert made.images["drawn"].to_list() == ["", ""]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"size": 8}, "image generator 'drawn': size = 8: input should be greater than or equal"),
        ({"sizes": 64}, "image generator 'drawn': unknown setting 'sizes'; did you mean 'size'?"),
        ({"intensity": float("nan")}, "intensity = nan"),
        ({"taxonomy": "ekmann"}, "unknown taxonomy 'ekmann'"),
    ],
)
def test_bad_settings(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as refused:
        load_generator("drawn", **settings)
    assert said in str(refused.value)


def test_nothing_behind_the_colon() -> None:
    with pytest.raises(InputError, match="'drawn' takes nothing behind a colon"):
        load_generator("drawn:faces")
