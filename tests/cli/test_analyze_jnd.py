"""``affectlab analyze jnd``: from ratings or scores to a number, files, figures and sentences."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.analysis.jnd_tables import frames_of, scores_of
from tests.cli.command import run_here

from affectlab.simulate import draw_face

STEPS = {
    ("ann", "joy"): [20, 40, 50, 24],
    ("ann", "awe"): [18, 29, 10, 22],
    ("ben", "joy"): [21, 25, 40, 19],
}
TIMES = {name: [0, 100, 200, 300, 400] for name in STEPS}
ENDS = dict.fromkeys(STEPS, 70.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scores_of(STEPS, ends=ENDS).write_csv(tmp_path / "scores.csv")
    frames_of(TIMES).write_csv(tmp_path / "frames.csv")
    return tmp_path


def run(folder: Path, *more: object, file: str = "scores.csv", code: int = 0):  # type: ignore[no-untyped-def]
    given = ("analyze", "jnd", folder / file, "--frames", folder / "frames.csv", "--n-boot", 100)
    return run_here(*given, *more, code=code, width=140)


def test_from_scores(folder: Path) -> None:
    out = run(folder, "--latency", 20, "--latency", 60, "--out", folder / "tables").stdout
    assert "20.50 [" in out
    assert "], median of 6 pairs" in out
    assert "Sample every 41.0 ms (24 Hz) [" in out
    assert "faster than all 3 sequences with a chance of 1 in 4" in out
    assert "What if a movement is seen 60 ms late?" in out
    # 41, 51 and 71 ms: of three expressions one changes by less than 1 JND in 60 ms.
    assert "33\u00a0% of the expressions" in out
    table = pl.read_csv(folder / "tables" / "jnd_segments.csv")
    assert table.height == 6
    counts = table.filter("counts")
    found = counts["time_ms"].sort().to_list()
    assert found == pytest.approx([41, 51.25, 2050 / 29], abs=1e-6)
    assert {file.stem for file in (folder / "tables").iterdir()} == {
        *("jnd_segments", "jnd_sequences", "jnd_typical", "jnd_scores", "jnd_steps"),
        *("sampling_interval", "jnd_latency"),
    }
    interval = pl.read_csv(folder / "tables" / "sampling_interval.csv")
    assert interval["group"].to_list() == ["all", "ann", "ben"]


def test_a_promise_is_made_only_where_the_straight_line_holds(folder: Path) -> None:
    """A segment of 2.4 JNDs: the true time may be shorter than the interval says."""
    done = run(folder, "--quiet")
    assert "cannot be relied on here" in done.stdout
    assert "sure" not in done.stdout
    assert "warning: the shortest time is read off a segment of 2.4 JNDs" in done.stderr
    slow = {name: [18 + k, 30, 30, 21 + k] for k, name in enumerate(STEPS)}
    scores_of(slow, ends=ENDS).write_csv(folder / "slow.csv")
    done = run(folder, file="slow.csv")
    said = " ".join(done.stdout.split())
    assert "If faces move evenly between the frames that were rated" in said
    assert "is short enough for all of these, 97.5 % sure; the next common rate is" in said
    assert "warning" not in done.stderr
    # Between frames 100 ms apart even that is read off a line.
    frames = pl.read_csv(folder / "frames.csv").with_columns(fps=pl.lit(10.0))
    frames.write_csv(folder / "frames.csv")
    done = run(folder, file="slow.csv")
    assert "sure" not in done.stdout
    assert "below that between two frames of the film" in done.stderr
    frames.drop("fps").write_csv(folder / "frames.csv")
    assert "the frame rate is not known" in run(folder, file="slow.csv").stderr


def test_pairs_at_equal_steps_are_told(folder: Path) -> None:
    scores = pl.read_csv(folder / "scores.csv").with_columns(
        pl.col("role_a", "role_b").replace("near_peak", "step_2")
    )
    scores.write_csv(folder / "scores.csv")
    done = run(folder, "--json")
    warnings = json.loads(done.stdout)["warnings"]
    assert any(one.startswith("3 pairs next to the ends") for one in warnings)


def test_json(folder: Path) -> None:
    done = run(folder, "--json", "--latency", 20, "--jnd", 25)
    result = json.loads(done.stdout)["result"]
    assert result["jnd"]["value"] == 25
    assert result["jnd_by_end"] is None
    assert result["sampling"][0]["time_ms"] == pytest.approx(50)
    assert result["latency"][0]["below"] == 1
    assert {row["group"] for row in result["sampling"]} == {"all", "ann", "ben"}
    assert [row["way"] for row in result["steps"]] == ["steps", "ends"]
    assert done.stderr == ""


def test_from_ratings(folder: Path) -> None:
    scores = pl.read_csv(folder / "scores.csv").with_columns(pl.lit("intra").alias("kind"))
    raters = pl.DataFrame({"rater": [f"r{k}" for k in range(6)], "bias": [-2, -1, -1, 1, 1, 2]})
    ratings = scores.drop("se").join(raters, how="cross")
    ratings = ratings.with_columns(
        pl.col("value") + pl.col("bias"),
        pl.concat_str("actor", "expression_a", "role_a", "role_b", separator="_").alias("stimulus"),
    ).drop("bias")
    ratings.write_csv(folder / "ratings.csv")
    out = run(folder, "--scale", "0-100 interval", file="ratings.csv").stdout
    assert "Sample every 41.0 ms" in out


def test_figures_and_strips(folder: Path) -> None:
    """Films are looked up by actor and expression, and frames by their times."""
    films = []
    for actor, expression in STEPS:
        for number in range(21):
            file = folder / f"{actor}_{expression}_{number}.png"
            draw_face("joy", 1 - number / 20, size=40).save(file)
            films.append((f"{actor}_{expression}", actor, expression, number, file.name, 20.0 * number))  # noqa: E501 # fmt: skip
    columns = ["stimulus", "actor", "expression", "frame", "file", "time_ms"]
    pl.DataFrame(films, schema=columns, orient="row").write_csv(folder / "candidates.csv")
    done = run(
        folder, "--films", folder / "candidates.csv", "--figures", folder / "f", "--json"
    )  # fmt: skip
    strips = json.loads(done.stdout)["result"]["strips"]
    # At 30 frames a second two steps take 67 ms: awe is the first that is not too soon.
    assert list(strips) == ["ann, awe", "ann, joy"]
    assert strips["ann, joy"]["frame_ms"] == [0, 20, 40, 60, 80, 100]
    assert strips["ann, joy"]["marked"] == 3
    names = {file.name for file in (folder / "f").iterdir()}
    assert names == {
        f"jnd_{one}.{kind}" for one in ("times", "latency", "strip") for kind in ("png", "svg")
    }


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--jnd", "0"), "1 JND is 0 score units"),
        (("--latency", "-5"), "latency_ms -5"),
        (("--share", "2"), "share 2.0"),
        (("--films", "films"), "--films draws strips; expected --figures"),
        (("--out", __file__), "is a file; expected a folder"),
        (("--stimuli", "none.csv"), "none.csv"),
    ],
)
def test_hostile_options(folder: Path, more: tuple[str, ...], said: str) -> None:
    done = run(folder, *more, code=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_hostile_files(folder: Path) -> None:
    frames = pl.read_csv(folder / "frames.csv")
    frames.drop("time_ms").write_csv(folder / "frames.csv")
    assert "column 'time_ms' is missing" in run(folder, code=2).stderr
    frames.with_columns(pl.lit(None).alias("time_ms")).write_csv(folder / "frames.csv")
    assert "give --fps to affectlab stimuli frames" in run(folder, code=2).stderr
    frames.write_csv(folder / "frames.csv")
    lacking = pl.read_csv(folder / "scores.csv").filter(pl.col("role_a") != "peak")
    lacking.write_csv(folder / "scores.csv")
    done = run(folder)
    assert "JNDs from peak to neutral are not counted" in done.stderr
    assert "Sample every" in done.stdout
    missing = run(folder, "--films", folder / "nowhere", "--figures", folder / "f", code=2)
    assert "there is no such file or folder" in missing.stderr
    assert not (folder / "f").exists()
