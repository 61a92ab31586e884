"""The chain of FaceExpressions-70k over HTTP: films, staircases, frames, pairs, people, scores."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from scipy import stats
from tests.cli.command import run_here

from affectlab.analysis import jnd_times, pair_scores, transition_ranges
from affectlab.analysis.jnd import jnd_score
from affectlab.ratings import read_ratings
from affectlab.reliability import screen, split_half, subject_model
from affectlab.simulate import draw_face, draw_transitions, true_difference
from affectlab.simulate.faces import DrawnTransitions, FaceParameters, expression_parameters
from affectlab.stimuli.frames import read_jnds

for library in ("sqlalchemy", "fastapi", "httpx"):
    pytest.importorskip(library)

pytestmark = pytest.mark.long

FPS = 20
RATERS, CARELESS = 8, 2
SEE = """
[study]
name = "see"
title = "Can you see a difference?"
[protocol]
name = "staircase"
change = { staircase = { trials = 16, catch = 1 } }
[stimuli]
table = "candidates/candidates.csv"
[sessions]
trials = 34
raters = 1
[consent]
text = "Taking part is voluntary."
"""
COMPARE = f"""
[study]
name = "compare"
title = "How different are these two faces?"
[protocol]
name = "difference"
[stimuli]
table = "pairs.csv"
golden = "known.csv"
[sessions]
batch = "batch"
raters = {RATERS - CARELESS}
[consent]
text = "Taking part is voluntary."
"""


def _golden(folder: Path) -> None:
    """Pairs of a third person whose difference is known, from both ends of the scale."""
    rows = []
    for number, (first, second) in enumerate(
        [(0.0, 0.0), (0.0, 1.0), (0.5, 0.5), (1.0, 0.0), (1.0, 1.0)], start=1
    ):
        files = [f"golden-{number}-{side}.png" for side in "ab"]
        faces = [expression_parameters("anger", one) for one in (first, second)]
        for file, face in zip(files, faces, strict=True):
            draw_face(face, 1.0, 9, size=48).save(folder / file)
        rows.append((f"golden-{number}", *files, true_difference(*faces)))
    schema = ["stimulus", "file_a", "file_b", "value"]
    pl.DataFrame(rows, schema=schema, orient="row").write_csv(folder / "known.csv")


def _with_truth(folder: Path, drawn: DrawnTransitions) -> pl.DataFrame:
    """Write the true difference of each pair into the table, as what simulated people see."""
    frames = pl.read_csv(folder / "five/frames.csv").with_columns(
        pl.col("source_frame").alias("frame")
    )
    pairs = pl.read_csv(folder / "five/pairs.csv")
    own = pairs["kind"] != "known"
    assert pairs.filter(~own).height == 5
    truth = pl.Series(drawn.truth(pairs.filter(own), frames))
    table = pairs.filter(own).with_columns(truth.alias("difference"))
    files = pl.format("five/{}", pl.col("file_a")), pl.format("five/{}", pl.col("file_b"))
    table = table.with_columns(files[0].alias("file_a"), files[1].alias("file_b"))
    known = pairs.filter(~own)
    pl.concat([table, known], how="diagonal").write_csv(folder / "pairs.csv")
    return table


def test_from_films_to_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    drawn = draw_transitions(["ann", "ben"], ["joy", "squint"], fps=FPS, seed=3)
    filmed = drawn.save("transitions", size=48)

    # Frames for staircases, the staircases, and the five frames that they lead to.
    run_here(
        "stimuli", "frames", "transitions", "--config", f"fps={FPS}",
        "--candidates", 60, "--out", "candidates",
    )  # fmt: skip
    Path("see.toml").write_text(SEE, encoding="utf-8")
    run_here("study", "simulate", "see.toml", "--people", 4, "--careless", 0)
    run_here("study", "export", "see.toml", "--out", "see-data")
    jnds = read_jnds("see-data/staircases.csv")
    assert len(jnds) == len(drawn) == 4
    assert all(one.n_runs == 2 for one in jnds.values())
    run_here(
        "stimuli", "frames", "candidates/candidates.csv",
        "--staircases", "see-data/staircases.csv", "--out", "five",
    )  # fmt: skip
    frames = pl.read_csv("five/frames.csv")
    assert frames.height == 20
    clock = frames.join(filmed, left_on=["actor", "expression", "source_frame"],
                        right_on=["actor", "expression", "frame"])  # fmt: skip
    apart = clock["time_ms_right"] - clock["time_ms"]
    assert apart.n_unique() <= 4  # each film's first frame is its own zero

    # Pairs, with golden ones beside them, in batches that people are given whole.
    _golden(tmp_path)
    run_here(
        "stimuli", "pairs", "five/frames.csv", "--known", "known.csv", "--copies", 2,
        "--per-batch", 29, "--out", "five/pairs.csv",
    )  # fmt: skip
    pairs = _with_truth(tmp_path, drawn)
    assert pairs["kind"].value_counts(sort=True).rows() == [("intra", 40), ("inter", 18)]

    # People, who come over HTTP.
    Path("compare.toml").write_text(COMPARE, encoding="utf-8")
    run_here(
        "study", "simulate", "compare.toml", "--people", 2 * RATERS, "--careless", CARELESS,
        "--seed", 1,
    )  # fmt: skip
    run_here("study", "export", "compare.toml", "--out", "data")
    ratings = read_ratings("data/ratings.parquet")
    kinds = set(ratings.frame["trial_kind"].cast(pl.String))
    assert kinds == {"main", "golden", "repeat"}
    assert ratings.n_ratings > 58 * (RATERS - CARELESS)

    # Screening, scores, halves, and what the scores say.
    judged = screen(ratings, policy="faceexpressions")
    assert judged.per == "session"
    valid = judged.apply(ratings)
    per_pair = valid.answers().frame["stimulus"].cast(pl.String).value_counts()
    assert set(pairs["stimulus"]) == set(per_pair["stimulus"])
    model = subject_model(valid)
    both = model.to_frame().join(pairs, on="stimulus")
    assert both.height == 58
    assert stats.pearsonr(both["value"], both["difference"]).statistic > 0.95
    assert stats.spearmanr(both["value"], both["difference"]).statistic > 0.85
    assert split_half(valid, n_splits=10, seed=0).frame["value"][0] > 0.85
    scores = pair_scores(valid)
    assert len(scores) == 58
    ranges = transition_ranges(scores)
    for actor, expression, value in ranges.points.select("actor", "expression", "value").rows():
        one = drawn.of(actor, expression)
        assert value == pytest.approx(true_difference(one.peak, FaceParameters()), abs=12)
    jnd = jnd_score(scores, n_boot=200)
    # What people would have said without noise says what 1 JND and the times should be.
    known = pair_scores(pairs.with_columns(pl.col("difference").alias("value")))
    true_jnd = jnd_score(known, n_boot=0).value
    assert jnd.value == pytest.approx(true_jnd, abs=6)
    assert "4 sequences, expected 5 or more" in str(jnd)
    # Staircases of a handful of comparisons leave pairs that hardly differ; 20 points are known.
    times, true_times = (jnd_times(one, "five/frames.csv", jnd=20.0) for one in (scores, known))
    shortest, true_shortest = (one.sequences["time_ms"].min() for one in (times, true_times))
    assert shortest == pytest.approx(true_shortest, rel=0.35)
