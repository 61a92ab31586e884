"""BT.500 and P.913 beside the package ``sureal``: ``bt500_upstream`` has its denominator and SD."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from affectlab.ratings import Ratings
from affectlab.reliability import screen


class _Reader:
    def __init__(self, ratings: np.ndarray) -> None:
        self.opinion_score_3darray = ratings


def upstream(matrix: np.ndarray, *, bias: bool) -> list[bool]:
    """Rejected raters; ``matrix`` has the shape (raters, stimuli)."""
    model = pytest.importorskip("sureal.subjective_model").SubjectiveModel
    with np.errstate(all="ignore"):
        found = model._get_opinion_score_3darray_with_preprocessing(
            _Reader(matrix.T[:, :, None]), bias_offset=bias, subject_rejection=True
        )
    return list(found["observer_rejected"])


def table(matrix: np.ndarray) -> Ratings:
    rater, stimulus = np.nonzero(~np.isnan(matrix))
    return Ratings(
        {
            "stimulus": [f"s{code:03d}" for code in stimulus],
            "rater": [f"r{code:02d}" for code in rater],
            "value": matrix[rater, stimulus],
        },
        scale="interval",
    )


def refused(matrix: np.ndarray, policy: str) -> list[bool]:
    frame = screen(table(matrix), policy=policy).to_frame().sort("rater")
    return (~frame["use"]).to_list()


@pytest.mark.parametrize(("policy", "bias"), [("bt500_upstream", False), ("p913_upstream", True)])
@pytest.mark.parametrize("name", ["netflix_public", "netflix_public_4_outliers"])
@pytest.mark.filterwarnings("ignore:Precision loss occurred:RuntimeWarning")
def test_public_ratings(shared_data: Path, name: str, policy: str, bias: bool) -> None:
    content = json.loads((shared_data / "subjective_quality" / f"{name}.json").read_text())
    matrix = np.array([video["os"] for video in content["dis_videos"]], dtype=float).T
    expected = upstream(matrix, bias=bias)
    assert refused(matrix, policy) == expected
    if name.endswith("outliers"):
        assert sum(expected) >= 3


@pytest.mark.parametrize(
    ("name", "refused_by_upstream", "refused_as_printed"),
    [
        ("netflix_public", [2], []),
        ("netflix_public_4_outliers", [26, 28, 29], [26, 29]),
    ],
)
def test_the_sd_that_itu_prints_decides_about_real_raters(
    shared_data: Path, name: str, refused_by_upstream: list[int], refused_as_printed: list[int]
) -> None:
    """N - 1 in the SD, as ITU-R BT.500 has it, spares raters whom ``sureal`` (N) refuses."""
    content = json.loads((shared_data / "subjective_quality" / f"{name}.json").read_text())
    matrix = np.array([video["os"] for video in content["dis_videos"]], dtype=float).T
    assert np.flatnonzero(refused(matrix, "bt500_upstream")).tolist() == refused_by_upstream
    assert np.flatnonzero(refused(matrix, "bt500")).tolist() == refused_as_printed


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore:Precision loss occurred:RuntimeWarning")
def test_simulated_ratings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sd = rng.choice([4.0, 30.0], 16, p=[0.8, 0.2])[:, None]
    matrix = np.round(rng.uniform(10, 90, 120) + sd * rng.standard_t(4, (16, 120)))
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    for policy, bias in (("bt500_upstream", False), ("p913_upstream", True)):
        assert refused(matrix, policy) == upstream(matrix, bias=bias)


def test_upstream_never_rejects_a_rater_of_few_stimuli() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.uniform(10, 90, 400) + 4 * rng.standard_normal((40, 400))
    matrix[0] += 60 * rng.choice([-1, 1], 400)
    matrix[0, 15:] = np.nan
    assert not upstream(matrix, bias=False)[0]
    assert not refused(matrix, "bt500_upstream")[0]
    assert refused(matrix, "bt500")[0]
