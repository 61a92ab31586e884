"""Places on two dimensions: means and ellipses by plain formulas, groups, figures of all sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.command import run_here

from affectlab.analysis import circumplex
from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.report import draw_figure


def answers(seed: int = 0, n: int = 6, raters: int = 10, sd: float = 1.0) -> np.ndarray:
    """Valence and arousal of each rater and stimulus, shape (raters, stimuli, 2)."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.uniform(-2, 2, (1, n, 2)) + rng.normal(0, sd, (raters, n, 2)))


def table(value: np.ndarray, **options: object) -> Ratings:
    rater, stimulus, label = (part.ravel() for part in np.indices(value.shape))
    return Ratings(
        {
            "stimulus": [f"s{k:03}" for k in stimulus],
            "rater": [f"r{k}" for k in rater],
            "label": np.array(["valence", "arousal"])[label],
            "value": value.ravel(),
        },
        scale="-9-9 interval",
        **options,  # type: ignore[arg-type]
    )


def test_means_intervals_and_ellipses_by_hand() -> None:
    """Of complete data, Student's interval and Hotelling's ellipse of a mean over raters."""
    from scipy.stats import f, t

    value = answers()
    points = circumplex(table(value)).to_frame()
    n = len(value)
    assert points["x"].to_numpy() == pytest.approx(value[..., 0].mean(axis=0))
    half = t.ppf(0.975, n - 1) * value[..., 1].std(axis=0, ddof=1) / np.sqrt(n)
    assert points["y_high"].to_numpy() == pytest.approx(value[..., 1].mean(axis=0) + half)
    for k, row in enumerate(points.to_dicts()):
        covariance = np.cov(value[:, k].T) / n
        size = np.linalg.eigvalsh(covariance)
        radius = np.sqrt(2 * (n - 1) / (n - 2) * f.ppf(0.95, 2, n - 2))
        assert (row["minor"], row["major"]) == pytest.approx(np.sqrt(size) * radius)
        direction = np.radians(row["angle"])
        axis = np.array([np.cos(direction), np.sin(direction)])
        assert axis @ covariance @ axis == pytest.approx(size[1])
    assert set(points["target"]) == {"raters"}


@pytest.mark.long
def test_ellipses_cover() -> None:
    """About 95 of 100 ellipses hold the truth."""
    rng = np.random.default_rng(1)
    truth = np.array([0.5, -0.2])
    held = 0
    for _ in range(60):
        noise = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], (8, 5))
        points = circumplex(table(truth + noise)).to_frame()
        for row in points.to_dicts():
            turn = np.radians(row["angle"])
            dx, dy = truth - (row["x"], row["y"])
            along = dx * np.cos(turn) + dy * np.sin(turn)
            across = dy * np.cos(turn) - dx * np.sin(turn)
            held += (along / row["major"]) ** 2 + (across / row["minor"]) ** 2 <= 1
    assert 0.92 <= held / 300 <= 0.98


def test_groups_of_stimuli_are_about_other_stimuli_too() -> None:
    kinds = pl.DataFrame({"stimulus": [f"s{k:03}" for k in range(6)], "kind": ["a", "b"] * 3})
    value = answers()
    result = circumplex(table(value, stimuli=kinds), by="kind")
    points = result.to_frame()
    assert points["kind"].to_list() == ["a", "b"]
    assert points["x"][0] == pytest.approx(value[:, ::2, 0].mean())
    assert (points["n_stimuli"][0], points["target"][0]) == (3, "both")


def test_categories_that_were_chosen() -> None:
    """A place for each emotion: of the answers of those who chose it."""
    rows = {
        "stimulus": ["a"] * 6 + ["b"] * 6,
        "rater": ["r", "r", "r", "q", "q", "q"] * 2,
        "label": ["valence", "arousal", "emotion"] * 4,
        "value": ["8", "2", "joy", "6", "4", "calm", "2", "8", "fear", "9", "3", "joy"],
    }
    scale = {"valence": "1-9", "arousal": "1-9", "emotion": "nominal:joy,calm,fear"}
    points = circumplex(Ratings(rows, scale=scale), by="emotion").to_frame()
    assert points.select("emotion", "x", "y").rows() == [
        ("calm", 6.0, 4.0),
        ("fear", 2.0, 8.0),
        ("joy", 8.5, 2.5),
    ]


def test_few_raters_have_no_ellipse() -> None:
    points = circumplex(table(answers(raters=2))).to_frame()
    assert points["x"].is_finite().all()
    assert points["major"].is_nan().all()


def test_bad_input() -> None:
    with pytest.raises(InputError, match="unknown label 'dominance'"):
        circumplex(table(answers()), y="dominance")
    with pytest.raises(InputError, match="unknown attribute 'actor'"):
        circumplex(table(answers()), by="actor")
    with pytest.raises(InputError, match="expected two labels"):
        circumplex(table(answers()), y="valence")
    apart = table(answers()).where((pl.col("rater") == "r0") == (pl.col("label") == "valence"))
    with pytest.raises(InputError, match="nobody answered 'valence' and 'arousal'"):
        circumplex(apart)


@pytest.mark.parametrize("n", [1, 3, 300])
def test_names_fit_at_every_size(n: int) -> None:
    """No name covers another, or a dot of another place, and the axis counts the names."""
    points = circumplex(table(answers(n=n, raters=4))).to_frame()
    page = draw_figure("circumplex", points, name="stimulus", x_limits=(-3, 3), y_limits=(-3, 3))
    page.canvas.draw()
    (axes,) = page.axes
    boxes = [text.get_window_extent() for text in axes.texts]
    frame = axes.get_window_extent()
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[k + 1 :])
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1 + 1
    assert len(boxes) == n if n < 10 else 10 <= len(boxes) <= 40
    assert ("named" in axes.get_xlabel()) == (len(boxes) < n)


def test_the_verb(tmp_path: Path) -> None:
    table(answers()).write(tmp_path / "people.csv")
    figures = ("--figures", tmp_path / "figures")
    done = run_here(
        "analyze", "circumplex", tmp_path / "people.csv", "--scale=-9-9 interval", *figures
    )
    assert "−0.690 to 1.329" in done.stdout
    assert (tmp_path / "figures" / "circumplex.svg").exists()
