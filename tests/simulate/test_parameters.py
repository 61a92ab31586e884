from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.simulate import EXPRESSIONS
from affectlab.simulate.faces import FaceParameters, expression_parameters
from affectlab.simulate.faces.expressions import peaks_of

NAMES = [field.name for field in dataclasses.fields(FaceParameters)]


def test_every_named_expression_is_in_the_table_and_no_other() -> None:
    assert set(peaks_of("expressions.toml")) == set(EXPRESSIONS)


def test_neutral_is_the_face_at_rest() -> None:
    assert expression_parameters("neutral") == FaceParameters()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_intensity_zero_is_rest_and_intensity_is_linear(expression: str) -> None:
    assert expression_parameters(expression, 0.0) == FaceParameters()
    peak, half = expression_parameters(expression), expression_parameters(expression, 0.5)
    for name in NAMES:
        assert getattr(half, name) == pytest.approx(0.5 * getattr(peak, name))


def test_action_units_of_prototypical_expressions() -> None:
    # Ekman, Friesen and Hager (2002): joy 6+12, sadness 1+15, surprise 1+2+5+26, fear 1+4+5+20,
    # anger 4+5+7, disgust 9.
    peaks = peaks_of("expressions.toml")
    assert min(peaks["joy"].cheek_raise, peaks["joy"].lip_corner) > 0.5
    assert peaks["sadness"].lip_corner < 0 < peaks["sadness"].brow_inner
    assert min(peaks["surprise"].brow_raise, peaks["surprise"].jaw_drop) > 0.9
    assert min(peaks["fear"].brow_inner, peaks["fear"].brow_pinch, peaks["fear"].lip_stretch) > 0.4
    assert peaks["anger"].brow_raise < 0 < peaks["anger"].eye_squint
    assert peaks["disgust"].nose_wrinkle == max(peak.nose_wrinkle for peak in peaks.values())


@given(st.sampled_from(EXPRESSIONS), st.sampled_from(EXPRESSIONS), st.floats(0, 1))
def test_blends_stay_in_range_and_start_and_end_right(one: str, other: str, share: float) -> None:
    a, b = expression_parameters(one), expression_parameters(other)
    assert a.blended(b, 0.0) == a
    assert a.blended(b, 1.0) == b
    a.blended(b, share)  # raises when a parameter leaves its range


@given(st.floats(-1, 1), st.floats(0, 1))
def test_mirroring_twice_changes_nothing(signed: float, share: float) -> None:
    face = FaceParameters(
        gaze_x=signed, head_tilt=signed, corner_left=signed, wink_right=share, brow_right=signed
    )
    assert face.mirrored().mirrored() == face
    assert face.mirrored().wink_left == share


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.01, "a number"),
        (-0.01, "a number"),
        (math.nan, "a number"),
        (math.inf, "a finite number"),
    ],
)
def test_parameter_out_of_range_is_named(value: float, said: str) -> None:
    with pytest.raises(InputError, match=f"jaw_drop = .*: expected {said} from 0 to 1"):
        FaceParameters(jaw_drop=value)


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(InputError, match="did you mean 'sadness'"):
        expression_parameters("sadnes")
    with pytest.raises(InputError, match="did you mean 'brow_raise'"):
        FaceParameters.from_mapping({"brow_rais": 1.0})


@pytest.mark.parametrize("intensity", [-0.1, 1.1, math.nan])
def test_intensity_out_of_range(intensity: float) -> None:
    with pytest.raises(InputError, match=r"intensity .*expected a number from 0 to 1"):
        expression_parameters("joy", intensity)
