"""``affectlab face-expressions jnd`` and ``timing``, from files to figures."""

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


def run(  # type: ignore[no-untyped-def]
    folder: Path,
    *more: object,
    verb: str = "timing",
    file: str = "scores.csv",
    code: int = 0,
):
    frames = () if verb in ("jnd", "jnd --show steps") else ("--frames", folder / "frames.csv")
    given = ("face-expressions", *verb.split(), folder / file, *frames, "--n-boot", 100)
    return run_here(*given, *more, code=code, width=140)


def test_from_scores(folder: Path) -> None:
    out = run(folder, "--out", folder / "tables").stdout
    assert "Sample every 41.0 ms [" in out
    assert "], 24 Hz" in out
    assert "1 JND is 20.50 in units of the score, median of 6 pairs." in out
    assert "Chance that a further expression is faster: 1 in 4" in out
    assert pl.read_csv(folder / "tables" / "segments.csv").height == 6
    found = pl.read_csv(folder / "tables" / "sequences.csv")["time_ms"].sort().to_list()
    assert found == pytest.approx([41, 51.25, 2050 / 29], abs=1e-6)
    interval = pl.read_csv(folder / "tables" / "groups.csv")
    assert interval["group"].to_list() == ["all", "ann", "ben"]
    one = run(folder, verb="jnd").stdout
    assert "1 JND is 20.50 in units of the score" in one
    assert "no interval: 3 sequences, expected 5 or more" in one
    assert "neutral" in one
    assert "Additivity" not in run(folder, verb="jnd --show steps").stdout
    assert "shortest 41.0 ms" in run(folder, verb="jnd --show times").stdout


def test_what_happens_within_a_delay(folder: Path) -> None:
    """41, 51 and 71 ms: of three expressions one changes by less than 1 JND in 60 ms."""
    out = run(folder, "--latency-ms", "20,60", verb="timing --show latency").stdout
    assert "100\u00a0% within 20 ms, 33\u00a0% within 60 ms" in out
    assert "Fewest for ben: 0\u00a0% within 60 ms." in out


def test_a_promise_is_made_only_where_the_straight_line_holds(folder: Path) -> None:
    """A segment of 2.4 JNDs: the true time may be shorter than the interval says."""
    done = run(folder, "--quiet")
    assert "doubtful here (see notes)" in done.stdout
    assert "confidence" not in done.stdout
    assert "the shortest time comes from a segment of 2.4 JNDs" in done.stdout
    slow = {name: [18 + k, 30, 30, 21 + k] for k, name in enumerate(STEPS)}
    scores_of(slow, ends=ENDS).write_csv(folder / "slow.csv")
    done = run(folder, file="slow.csv")
    said = " ".join(done.stdout.split())
    assert "If faces move evenly between rated frames" in said
    assert "is short enough with 97.5 % confidence; next common rate" in said
    # Between frames 100 ms apart even that is read off a line.
    frames = pl.read_csv(folder / "frames.csv").with_columns(fps=pl.lit(10.0))
    frames.write_csv(folder / "frames.csv")
    done = run(folder, file="slow.csv")
    assert "confidence" not in done.stdout
    assert "below the frame interval of the film" in done.stdout
    frames.drop("fps").write_csv(folder / "frames.csv")
    assert "frame rate unknown" in run(folder, file="slow.csv").stdout


def test_pairs_at_equal_steps_are_told(folder: Path) -> None:
    scores = pl.read_csv(folder / "scores.csv").with_columns(
        pl.col("role_a", "role_b").replace("near_peak", "step_2")
    )
    scores.write_csv(folder / "scores.csv")
    for verb in ("timing", "jnd"):
        notes = json.loads(run(folder, "--json", verb=verb).stdout)["result"]["notes"]
        assert any(one.startswith("3 pairs not used") for one in notes)


def test_a_given_jnd(folder: Path) -> None:
    done = run(folder, "--json", "--jnd", 25)
    result = json.loads(done.stdout)["result"]
    assert "1 JND is 25.00 in units of the score, as given." in result["sentences"]
    assert result["groups"][0]["time_ms"] == pytest.approx(50)
    assert done.stderr == ""
    latency = run(folder, "--latency-ms", 20, "--jnd", 25, "--json", verb="timing --show latency")
    assert json.loads(latency.stdout)["result"]["latency"][0]["below"] == 1
    steps = json.loads(run(folder, "--jnd", 25, "--json", verb="jnd --show steps").stdout)["result"]
    assert [row["way"] for row in steps["estimates"]] == ["steps", "ends"]


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
    to = ("--figures", folder / "f", "--json")
    done = run(folder, "--films", folder / "candidates.csv", *to, verb="jnd --show strips")
    strips = pl.DataFrame(json.loads(done.stdout)["result"]["strips"])
    # At 30 frames a second two steps take 67 ms: awe is the first that is not too soon.
    names = strips.select("actor", "expression").unique(maintain_order=True).rows()
    assert names == [("ann", "awe"), ("ann", "joy")]
    joy = strips.filter(expression="joy")
    assert joy["since_ms"].to_list() == [0, 20, 40, 60, 80, 100]
    assert joy["is_first"].arg_max() == 3
    run(folder, *to)
    run(folder, "--latency-ms", 20, *to, verb="timing --show latency")
    assert {file.name for file in (folder / "f").iterdir()} == {
        f"jnd_{one}.{kind}" for one in ("times", "latency", "strip") for kind in ("png", "svg")
    }


@pytest.mark.parametrize(
    ("verb", "more", "said"),
    [
        ("timing", ("--jnd", "0"), "1 JND is 0 score units"),
        ("timing --show latency", ("--latency-ms=-5",), "latency_ms -5"),
        ("timing", ("--share", "2"), "share = 2.0"),
        ("jnd --show strips", ("--films", "nowhere"), "there is no such file or folder"),
        ("timing", ("--figures", __file__), "is a file; expected a folder"),
        ("timing", ("--stimuli", "none.csv"), "none.csv"),
    ],
)
def test_hostile_options(folder: Path, verb: str, more: tuple[str, ...], said: str) -> None:
    done = run(folder, *more, verb=verb, code=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_hostile_files(folder: Path) -> None:
    scores = folder / "scores.csv"
    bare = run_here("face-expressions", "timing", scores, code=2, width=140).stderr
    assert "--frames frames.csv" in bare
    frames = pl.read_csv(folder / "frames.csv")
    frames.drop("time_ms").write_csv(folder / "frames.csv")
    assert "column 'time_ms' is missing" in run(folder, code=2).stderr
    frames.with_columns(pl.lit(None).alias("time_ms")).write_csv(folder / "frames.csv")
    assert "give --config fps= to affectlab stimuli frames" in run(folder, code=2).stderr
    frames.write_csv(folder / "frames.csv")
    lacking = pl.read_csv(scores).filter(pl.col("role_a") != "peak")
    lacking.write_csv(scores)
    assert (
        "no sequence has a score for peak and neutral"
        in run(folder, verb="jnd --show steps", code=2).stderr
    )
    assert "Sample every" in run(folder).stdout
