from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.ratings import Scale
from affectlab.simulate import simulate_truth
from affectlab.simulate.raters import Truth
from affectlab.taxonomy import load_taxonomy


def test_without_noise_the_truth_follows_the_costs() -> None:
    taxonomy = load_taxonomy("mikels")
    costs = taxonomy.cost_matrix().matrix
    truth = simulate_truth(
        8, "mikels", "0-7", seed=0, spread=0.0, tau=2.0,
        expressions=taxonomy.labels, intensities=np.ones(8),
    )  # fmt: skip
    np.testing.assert_allclose(truth.value, 7.0 * np.exp(-(costs - 1.0) / 2.0))


def test_related_emotions_correlate_more_than_opposed_ones() -> None:
    truth = simulate_truth(800, "mikels", "0-100 interval", seed=1)
    r = np.corrcoef(truth.value, rowvar=False)
    at = truth.labels.index
    assert r[at("disgust"), at("anger")] > 0.2 > 0.0 > r[at("amusement"), at("fear")]


def test_intensity_scales_and_neutral_is_zero() -> None:
    truth = simulate_truth(
        3, ["joy", "fear"], "0-10", seed=0, spread=0.0,
        expressions=["joy", "joy", "neutral"], intensities=[0.2, 0.8, 1.0],
    )  # fmt: skip
    assert truth.value[0, 0] == pytest.approx(2.0)
    assert truth.value[1, 0] == pytest.approx(8.0)
    assert truth.value[2].tolist() == [0.0, 0.0]


def test_labels_that_no_taxonomy_holds_are_unrelated() -> None:
    truth = simulate_truth(2, ["zork", "blip"], "1-5", seed=0, spread=0.0, intensities=[1, 1],
                           expressions=["zork", "blip"])  # fmt: skip
    assert truth.value.tolist() == [[5.0, 1.0], [1.0, 5.0]]


def test_same_seed_same_bytes_and_a_generator_is_taken() -> None:
    one = simulate_truth(50, seed=3).value.tobytes()
    assert one == simulate_truth(50, seed=3).value.tobytes()
    assert one == simulate_truth(50, seed=np.random.default_rng(3)).value.tobytes()
    assert one != simulate_truth(50, seed=4).value.tobytes()


def test_expressions_are_drawn_evenly() -> None:
    truth = simulate_truth(80, "mikels", seed=0, spread=0.0, intensities=np.ones(80))
    assert np.bincount(truth.value.argmax(axis=1)).tolist() == [10] * 8


@given(
    st.integers(1, 40),
    st.sampled_from(["0-7", "1..5", "-3..3", "0-100 interval", "binary"]),
    st.floats(0.0, 2.0),
    st.integers(0, 2**32),
)
def test_truth_stays_on_its_scale(n: int, scale: str, spread: float, seed: int) -> None:
    truth = simulate_truth(n, "mikels", scale, seed=seed, spread=spread)
    parsed = Scale.parse(scale)
    assert truth.value.shape == (n, 8)
    interval = Scale("interval", parsed.low, parsed.high)
    assert interval.contains(truth.value.ravel()).all()


def test_frame_lines_up_with_the_array() -> None:
    truth = simulate_truth(4, "mikels", seed=0)
    frame = truth.to_frame()
    assert frame["value"].to_list() == truth.value.ravel().tolist()
    assert frame.row(8)[:2] == ("s0002", "amusement")


def test_truth_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        simulate_truth(4, seed=0).value[0, 0] = 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_stimuli": 0}, "n_stimuli = 0"),
        ({"tau": 0.0}, "tau = 0.0"),
        ({"tau": float("nan")}, "tau = nan"),
        ({"spread": -1.0}, "spread = -1.0"),
        ({"labels": []}, "no label"),
        ({"labels": "mikel"}, "did you mean 'mikels'"),
        ({"scale": "nominal:a,b"}, "cannot be simulated"),
        ({"scale": "text"}, "cannot be simulated"),
        ({"expressions": ["fear"]}, "1 given for 3 stimuli"),
        ({"expressions": ["fear", "awe", "angre"]}, "did you mean 'anger'"),
        ({"intensities": [0.1, 0.2]}, "2 given for 3 stimuli"),
        ({"intensities": [0.1, 0.2, 1.2]}, "out of range"),
        ({"intensities": [0.1, 0.2, float("nan")]}, "missing"),
        ({"stimuli": ["a", "b", "b"]}, "none twice"),
    ],
)
def test_hostile_input(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulate_truth(**({"n_stimuli": 3, "seed": 0} | arguments))  # type: ignore[arg-type]


def test_truth_of_the_wrong_shape_or_off_the_scale() -> None:
    with pytest.raises(InputError, match="expected \\(2, 1\\)"):
        Truth(np.zeros((2, 2)), ("a", "b"), ("joy",), Scale.parse("0-7"))
    with pytest.raises(InputError, match="off the scale"):
        Truth(np.array([[9.0]]), ("a",), ("joy",), Scale.parse("0-7"))
