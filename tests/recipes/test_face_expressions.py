"""FaceExpressions-70k as a recipe: simulated whole, and on files in the layout that is read."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks.screening_noise import BLIND, measure
from PIL import Image
from scipy import stats
from tests.cli.command import run_here

from affectlab.analysis import jnd_times, pair_scores, sampling_interval
from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.recipes import load_published, reproduce
from affectlab.recipes.face_expressions import metrics
from affectlab.recipes.face_expressions.crowd import live_study
from affectlab.recipes.face_expressions.data import _scores, _table
from affectlab.recipes.face_expressions.films import QUICK, Films, Size, make_films
from affectlab.recipes.face_expressions.findings import analysis_figures, design_figures
from affectlab.recipes.face_expressions.recipe import NOISE, run_simulation
from affectlab.recipes.reproduction import Reproduction
from affectlab.reliability import load_policy, split_half, subject_model
from affectlab.simulate import difference_people, simulate_differences
from affectlab.simulate.faces.transitions import apart, seen

pytestmark = pytest.mark.long

PUBLISHED = load_published("face_expressions")


def test_published_figures_agree_with_each_other() -> None:
    value = {one.key: one.value for one in PUBLISHED.figure}
    assert value["design.intra"] == 10 * value["design.sequences"]
    pairs = value["design.expressions"] * (value["design.expressions"] - 1) / 2
    assert value["design.expression_pairs"] == pairs
    assert value["design.inter"] == 9 * 8 * value["design.expression_pairs_per_actor"]
    assert 8 * value["design.expression_pairs_per_actor"] == 4 * pairs
    assert value["design.pairs"] == value["design.intra"] + value["design.inter"]
    blocks = (value["design.sequences"] + value["design.inter"] / 9) / value["design.batches"]
    assert round(blocks) == value["design.blocks_per_batch"]
    assert len([key for key in value if key.startswith("metrics.")]) == 8 + 32 + 8
    assert all(one.where for one in PUBLISHED.figure)
    assert all(one.value.is_integer() for one in PUBLISHED.figure if one.unit == "count")


def test_what_is_known_to_be_inconsistent_is_said() -> None:
    note = {one.key: one for one in PUBLISHED.figure}
    # The t that is printed has a larger one-sided p than the one that is printed.
    p = stats.norm.sf(note["asymmetry.intra.t"].value)
    assert p - note["asymmetry.intra.p"].value > note["asymmetry.intra.p"].tolerance
    assert "0.239" in note["asymmetry.intra.p"].note
    p = stats.norm.sf(note["asymmetry.inter.t"].value)
    assert p == pytest.approx(note["asymmetry.inter.p"].value, abs=0.005)
    assert "Table 3" in note["learned.srocc"].note


@pytest.fixture(scope="module")
def quick() -> Reproduction:
    return reproduce("face-expressions", simulate=True, quick=True, seed=1)


def test_a_simulated_run_finds_what_it_planted(quick: Reproduction) -> None:
    assert not quick.failures
    found = {row.figure.key: row.finding for row in quick.rows}
    assert found["design.pairs"].value == 804
    assert found["study.per_pair"].value == 32
    assert found["study.ratings"].value == 32 * 804
    assert found["jnd.score"].value == pytest.approx(20.0, rel=0.2)
    assert 3 < (found["quest.steps"].value or 0) < 8
    # Pairs of a small study are mostly intra, and easier than all: a little below 2.8.
    assert 2.4 < (found["scores.se"].value or 0) < 3.0
    assert 0.85 < (found["pilot.correlation"].value or 0) < 0.99
    assert 0.91 < (found["reliability.split_half"].value or 0) < 0.98
    assert 3 < (found["jnd.interval_ms"].value or 0) < 100
    assert found["jnd.rate_hz"].value == pytest.approx(1000 / (found["jnd.interval_ms"].value or 1))
    best = max(found[f"metrics.{name}.srocc"].value or 0 for name in ("mse", "mae"))
    assert (found["learned.srocc"].value or 0) > best
    assert found["learned.splits"].value == 6
    told = re.search(
        r"of 5 metrics without learning: median SROCC (0\.\d+), "
        r"the learned one ahead by (-?\d\.\d+) \[-?\d\.\d+, -?\d\.\d+\]",
        " ".join(quick.notes),
    )
    assert told is not None
    assert 0.5 < float(told[1]) < 1
    learned = found["learned.srocc"].value
    assert learned is not None
    assert abs(learned - float(told[1]) - float(told[2])) < 0.1
    assert found["metrics.farl.l1.srocc"].value is None
    assert "weights" in found["metrics.farl.l1.srocc"].why
    assert all(row.verdict == "no verdict: simulated data" for row in quick.rows)
    assert any("sessions were needed" in note for note in quick.notes)
    # The truth is known: what the interval misses is said beside it.
    said = " ".join(quick.notes)
    assert re.search(
        r"In truth the fastest change by 20 points, actor-\d [a-z-]+, takes \d+ ms", said
    )
    assert "Of the sampling interval: the shortest time is" in said
    # Four actors, none of whom is the paper's seventh.
    assert "no actor is named 7" in found["jnd.actor_7_ms"].why


def test_a_simulated_run_draws_the_papers_figures(quick: Reproduction, tmp_path: Path) -> None:
    drawn = {one.name: one for one in quick.figures}
    assert set(drawn) == {
        "asymmetry_inter",
        "asymmetry_intra",
        "errors",
        "expression_differences",
        "expression_elbow",
        "jnd_strip",
        "jnd_times",
        "metrics_by_actor",
        "metrics_scatter",
        "rendering_priority",
        "scores",
        "scores_by_actor",
        "scores_by_error",
        "transition_curves_by_actor",
        "transition_curves_by_expression",
        "transition_ranges",
    }
    assert all(
        "figure" in one.title or "asymmetry" in name or "elbow" in name
        for name, one in drawn.items()
    )
    found = {row.figure.key: row.finding.value for row in quick.rows}
    interval = found["jnd.interval_ms"]
    assert f"Shortest of all {interval:.1f} ms" in drawn["jnd_times"].description
    # Metrics in the figure are those of the table.
    notes = {
        axes.get_title(loc="left"): axes.get_title(loc="right")
        for axes in drawn["metrics_scatter"].draw().axes
    }
    for title, name in (("MSE", "mse"), ("MAE", "mae")):
        assert notes[title] == f"SROCC {found[f'metrics.{name}.srocc']:.2f}"
    (axes,) = drawn["metrics_by_actor"].draw().axes
    assert len(axes.get_yticklabels()) == len([title for title in notes if title])
    files = quick.save_figures(tmp_path)
    assert len(files) == 2 * len(drawn)
    assert all(file.stat().st_size > 1000 for file in files)
    # A title stands in the picture itself, and not only in what the file says of it.
    said = (tmp_path / "scores.svg").read_text(encoding="utf-8")
    assert said.count("How different pairs of faces look") >= 2
    assert "simulated data" in said


def test_the_command_prints_the_papers_figures_beside_ours() -> None:
    done = run_here("reproduce", "face-expressions", "--simulate", "--quick", width=160)
    rows = {
        name: re.search(rf"{name} .*?{published}\s+(\S+)", done.stdout)
        for name, published in (
            ("1 JND in points of the scale", r"20\.39\d*"),
            ("Inter-subject correlation, halves of 32", r"0\.914\d*"),
            ("Valid ratings per pair", "32"),
        )
    }
    assert all(rows.values()), done.stdout
    ours = [float(found[1]) for found in rows.values() if found is not None]
    assert ours[0] == pytest.approx(20, rel=0.2)
    assert 0.9 < ours[1] < 1
    assert ours[2] == 32


def test_the_command_asks_for_data() -> None:
    done = run_here("reproduce", "face-expressions", code=2)
    assert "avinabsaha/face-expressions-70k" in " ".join(done.stderr.split())
    helped = run_here("reproduce", "--help")
    assert "face-expressions" in helped.stdout


@pytest.mark.parametrize(
    ("names", "is_seventh"),
    [("actor-{}", True), ("{}", True), ("Actor 0{}", True), ("m--2018{}", False)],
)
def test_only_an_actor_named_7_is_compared_with_the_papers(
    films: Films, names: str, is_seventh: bool
) -> None:
    actor = {f"actor-{k}": names.format(k + 5) for k in range(1, 5)}
    pairs = films.design.pairs.with_columns(
        pl.Series("value", films.truth), pl.col("actor").replace(actor), pl.lit(2.0).alias("se")
    )
    frames = films.frames.with_columns(pl.col("actor").replace(actor))
    found = analysis_figures(pair_scores(pairs), frames, 0).findings
    assert (found["jnd.actor_7_ms"].value is not None) == is_seventh
    if is_seventh:
        own = sampling_interval(jnd_times(pair_scores(pairs), frames)).actors[names.format(7)]
        assert found["jnd.actor_7_ms"].value == own.value


# -- the design and the sessions ----------------------------------------------------------------


@pytest.fixture(scope="module")
def films() -> Films:
    return make_films(QUICK, 0)


def test_sides_do_not_matter_to_counts(films: Films) -> None:
    pairs = films.design.pairs
    turned = pairs.rename(
        {f"{what}_{a}": f"{what}_{b}" for what in ("expression", "role") for a, b in ("ab", "ba")}
    ).select(pl.exclude("file_a", "file_b"))
    mixed = pl.concat([pairs[::2].select(turned.columns), turned[1::2]])
    assert design_figures(mixed).findings == design_figures(pairs).findings
    assert design_figures(pairs).findings["design.expression_pairs"].value == 28


def test_the_fastest_true_change_is_that_of_a_loop(films: Films) -> None:
    shortest, name = films.fastest()
    actor, _, expression = name.partition(" ")
    one = films.transitions.of(actor, expression)
    looks = seen(one.rows(np.arange(0.0, one.times_ms[-1] + 1)))
    times = [
        np.flatnonzero(apart(looks[k:], looks[k]) >= 20)[0]
        for k in range(len(looks))
        if (apart(looks[k:], looks[k]) >= 20).any()
    ]
    assert min(times) == shortest == one.fastest(20.0)
    assert one.fastest(20.0, most_ms=shortest - 1) == one.fastest(99.0) == np.inf
    assert all(other.fastest(20.0) >= shortest for other in films.transitions.transitions)


def test_frames_are_one_jnd_from_their_ends(films: Films) -> None:
    pairs = films.design.pairs
    near = pairs.with_columns(pl.Series("truth", films.truth)).filter(
        ((pl.col("role_a") == "peak") & (pl.col("role_b") == "near_peak"))
        | ((pl.col("role_a") == "near_neutral") & (pl.col("role_b") == "neutral"))
    )
    assert near.height > 40
    # Staircases of one person each, and films whose frames are coarse where a face moves fast.
    assert float(np.median(near["truth"].to_numpy())) == pytest.approx(20.0, abs=8.0)
    assert films.frames.group_by("actor", "expression").len()["len"].unique().to_list() == [5]


def test_batches_are_filled_and_the_careless_blocked(films: Films) -> None:
    people = difference_people(60, careless=0.1, kinds=("still", "random"), seed=2)
    live = live_study(
        films.design.pairs, films.truth, people, raters=12, most_sessions=4, seed=2,
        item_sd=8.0, trial_sd=6.0,
    )  # fmt: skip
    judged = live.screening.to_frame().join(
        live.simulation.sessions.select("session", "batch", "careless"), on="session"
    )
    used = judged.filter("use")
    assert set(used["batch"].value_counts()["count"]) == {12}
    assert live.valid.answers().n_ratings == 12 * films.design.pairs.height
    assert judged.group_by("rater").len()["len"].to_numpy().max() <= 4
    assert set(judged.filter(careless="still")["use"]) == {False}
    # Who never moves the slider is stopped after the first session.
    still = judged.filter(careless="still").group_by("rater").len()["len"].to_list()
    assert still == [1, 1, 1]
    assert judged.filter(~pl.col("use") & (pl.col("careless") == "")).height <= 3


def test_too_few_people_are_an_error(films: Films) -> None:
    people = difference_people(10, seed=0)
    with pytest.raises(InputError, match="nobody is left to rate them; expected more people"):
        live_study(films.design.pairs, films.truth, people, raters=8, most_sessions=2, seed=0)
    assert load_policy("faceexpressions").block.rejected_sessions == 5


# -- noise ----------------------------------------------------------------------------------------


def test_the_noise_is_that_of_the_paper() -> None:
    # 32 ratings and a mean standard error of 2.8 are a standard deviation of 15.8 a rating.
    total = np.hypot(NOISE["item_sd"], NOISE["trial_sd"])
    assert 2.8 * np.sqrt(32) == pytest.approx(15.84, abs=0.01)
    assert 15.84 < total < 1.2 * 15.84  # in the middle of the scale; the ends are easier


def test_scores_and_halves_at_the_noise_of_the_paper() -> None:
    # Two actors with all expressions: pairs as different as those of the full design.
    films = make_films(Size(61, 61, (61, 61), batches=80, people=80, trials=12), 0)
    found = simulate_differences(films.design.pairs, films.truth, 32, people=80, seed=5, **NOISE)
    scores = (
        subject_model(found.ratings, se="stimulus")
        .to_frame()
        .join(found.truth.rename({"value": "truth"}), on="stimulus")
    )
    assert scores["se"].to_numpy().mean() == pytest.approx(2.8, abs=0.1)
    assert stats.spearmanr(scores["value"], scores["truth"]).statistic >= 0.97
    halves = split_half(found.ratings, n_splits=5, seed=0).frame["value"][0]
    assert 0.91 <= halves <= 0.945


@pytest.mark.parametrize("trial_sd", [4.0, 8.0])
def test_screening_at_little_noise(trial_sd: float) -> None:
    found = measure(trial_sd, 8.0, n=400)
    assert found.recall >= 0.95  # all five kinds
    assert found.blind >= 0.98
    assert found.false <= 0.02
    assert set(BLIND) | {"hasty"} == set(found.by_kind)
    assert 0.7 < found.by_kind["hasty"] < found.blind


def test_screening_at_much_noise_refuses_the_careful() -> None:
    assert measure(20.0, 8.0, n=200).false > 0.1


# -- files ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, films: Films) -> Path:
    """A small study in the layout of the release, beside the times of its frames."""
    folder = tmp_path_factory.mktemp("release")
    people = difference_people(14, seed=3)
    live = live_study(
        films.design.pairs, films.truth, people, raters=8, most_sessions=20, seed=3, trial_sd=6.0
    )
    rows = live.valid.to_frame().with_columns(
        pl.col("stimulus", "rater", "session", "trial_kind").cast(pl.String)
    )
    told = films.design.pairs.rename({"role_a": "frame_a", "role_b": "frame_b"})
    rows.select(
        pl.col("stimulus").alias("pair"),
        pl.col("rater").alias("worker"),
        pl.col("value").alias("score"),
        "session",
        "trial",
        (pl.col("trial_kind") == "golden").cast(pl.Int8).alias("golden"),
        (pl.col("trial_kind") == "repeat").cast(pl.Int8).alias("repeat"),
    ).join(told, left_on="pair", right_on="stimulus", how="left", maintain_order="left").filter(
        pl.col("golden") == 0
    ).drop("file_a", "file_b", "block").write_csv(folder / "ratings.csv")
    films.frames.select("actor", "expression", "role", "time_ms").write_csv(folder / "frames.csv")
    return folder


def test_files_in_the_layout_of_the_release(release: Path) -> None:
    result = reproduce("face-expressions", data=release, quick=True)
    found = {row.figure.key: row for row in result.rows}
    assert found["design.pairs"].finding.value == 804
    # No judgement of the paper was published, so that these are of another study.
    assert found["design.pairs"].verdict == (
        "no verdict: the judgements of the paper were not published, and these are others"
    )
    assert found["design.batches"].finding.value == 8
    assert found["study.per_pair"].finding.value == 8
    assert found["jnd.score"].finding.value == pytest.approx(20.0, rel=0.25)
    assert found["jnd.interval_ms"].finding.value is not None
    assert found["pilot.correlation"].finding.why == "the file does not hold the pilot"
    assert "images" in found["metrics.mse.srocc"].finding.why
    assert not result.failures
    assert found["learned.srocc"].finding.value is None
    names = [one["file"] for one in result.provenance["inputs"]]
    assert names == ["ratings.csv", "frames.csv"]
    assert any("rejects" in note for note in result.notes)
    drawn = {one.name for one in result.figures if one.draw().axes}
    assert {"jnd_times", "scores", "expression_differences", "transition_ranges"} <= drawn
    assert not {"jnd_strip", "metrics_scatter"} & drawn
    assert (result.provenance["data"], result.provenance["seeds"]) == ("given", [0])


def test_without_times_there_is_no_interval(release: Path, tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_bytes((release / "ratings.csv").read_bytes())
    result = reproduce("face-expressions", data=tmp_path, quick=True)
    found = {row.figure.key: row for row in result.rows}
    assert "no frames.csv" in found["jnd.interval_ms"].finding.why
    assert found["jnd.score"].finding.value is not None
    assert "jnd_times" not in {one.name for one in result.figures}


def test_scores_of_pairs_are_read_as_the_release_has_them(release: Path, tmp_path: Path) -> None:
    """The published table has a score for each pair, and no judgement."""
    judged = reproduce("face-expressions", data=release, quick=True)
    ratings = pl.read_csv(release / "ratings.csv").filter(pl.col("repeat") == 0)
    names = ["pair", "kind", "actor", "expression_a", "frame_a", "expression_b", "frame_b"]
    scores = ratings.group_by(names).agg(value=pl.col("score").mean()).sort("pair")
    scores.rename({"pair": "stimulus"}).write_csv(tmp_path / "metadata.csv")
    (tmp_path / "frames.csv").write_bytes((release / "frames.csv").read_bytes())
    result = reproduce("face-expressions", data=tmp_path, quick=True)
    assert not result.failures
    ours = {row.figure.key: row.finding for row in result.rows}
    others = {row.figure.key: row.finding for row in judged.rows}
    counts = ("actors", "expressions", "sequences", "intra", "inter", "pairs", "expression_pairs")
    for count in counts:
        assert ours[f"design.{count}"].value == others[f"design.{count}"].value
    assert ours["scores.low"].value == scores["value"].min()
    assert ours["scores.se"].why == "the file has no standard errors of its scores"
    assert ours["jnd.score"].value == pytest.approx(others["jnd.score"].value, rel=0.1)
    assert ours["jnd.interval_ms"].value is not None
    assert ours["study.raters"].why == "the file has one score for each pair, and no judgements"
    verdicts = {row.verdict for row in result.rows if row.finding.value is not None}
    assert verdicts == {"no verdict: 804 pairs are not the 70,500 of the paper"}
    assert [one["file"] for one in result.provenance["inputs"]] == ["metadata.csv", "frames.csv"]
    scores.drop("value").write_csv(tmp_path / "metadata.csv")
    with pytest.raises(InputError, match=r"metadata\.csv: column 'value' is missing"):
        reproduce("face-expressions", data=tmp_path, quick=True)


@pytest.mark.parametrize(("name", "key"), [("pair", "stimulus"), ("number", "actor")])
def test_judgements_are_not_read_as_scores(
    release: Path, tmp_path: Path, name: str, key: str
) -> None:
    table = pl.read_csv(release / "ratings.csv").filter(pl.col("repeat") == 0)
    judged = table.rename({"pair": name, "worker": "participant", "score": "value"})
    judged.write_csv(tmp_path / "metadata.csv")
    said = rf"metadata\.csv: the pair of {key} '.* has several scores; .* a column worker or rater"
    with pytest.raises(InputError, match=said):
        reproduce("face-expressions", data=tmp_path, quick=True)


def test_pairs_keep_their_names(release: Path, tmp_path: Path) -> None:
    own = ["pair", "kind", "actor", "expression_a", "frame_a", "expression_b", "frame_b"]
    ratings = pl.read_csv(release / "ratings.csv").filter(pl.col("repeat") == 0)
    given = ratings.group_by(own).agg(value=pl.col("score").mean()).sort("pair")
    file = tmp_path / "metadata.csv"
    given.write_csv(file)
    table = _table(file)
    assert table is not None
    scores, pairs = _scores(file, table)
    assert scores.frame["stimulus"].to_list() == given["pair"].cast(pl.String).to_list()
    assert pairs["stimulus"].equals(scores.frame["stimulus"])


def test_files_that_do_not_say_what_was_compared(release: Path, tmp_path: Path) -> None:
    table = pl.read_csv(release / "ratings.csv")
    table.drop("frame_a").write_csv(tmp_path / "ratings.csv")
    with pytest.raises(InputError, match="no column 'role_a' or 'frame_a'"):
        reproduce("face-expressions", data=tmp_path, quick=True)
    with pytest.raises(InputError, match=r"metadata\.csv .*were not published.*avinabsaha"):
        reproduce("face-expressions", data=tmp_path / "..", quick=True)


def test_ratings_of_our_own_studies_are_read_too(films: Films, tmp_path: Path) -> None:
    people = difference_people(8, seed=4)
    live = live_study(
        films.design.pairs, films.truth, people, raters=6, most_sessions=20, seed=4, trial_sd=6.0
    )
    assert isinstance(live.valid, Ratings)
    live.valid.write(tmp_path / "ratings.parquet")
    result = reproduce("face-expressions", data=tmp_path, quick=True)
    found = {row.figure.key: row.finding for row in result.rows}
    assert found["design.sequences"].value == 30
    assert found["structure.clusters"].value is not None


def test_without_scikit_image_some_metrics_are_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(metrics, "find_spec", lambda _: None)
    shades = {"dark": 20, "grey": 90, "light": 240}
    for name, shade in shades.items():
        Image.new("L", (24, 24), shade).save(tmp_path / f"{name}.png")
    sides = [("dark", "grey"), ("dark", "light"), ("grey", "light")]
    pairs = pl.DataFrame(
        {
            "stimulus": [f"{a}-{b}" for a, b in sides],
            "actor": ["anna"] * 3,
            "kind": ["intra"] * 3,
            "file_a": [f"{a}.png" for a, _ in sides],
            "file_b": [f"{b}.png" for _, b in sides],
            "value": [10.0, 90.0, 50.0],
        }
    )
    found = metrics.metric_figures(pairs, tmp_path).findings
    assert found["metrics.mse.srocc"].value == pytest.approx(1.0)
    for key in ("metrics.ssim.srocc", "metrics.ssim.plcc", "learned.srocc", "learned.splits"):
        assert found[key].value is None
        assert "[vision]" in found[key].why


def test_parts_are_told_as_they_are_done() -> None:
    told: list[str] = []
    with pytest.raises(InputError):
        run_simulation(
            Size(("joy", "squint"), 2, (2, 2), batches=2, people=4, trials=8, raters=3,
                        most_sessions=1),
            0,
            told.append,
        )  # fmt: skip
    assert told == ["staircases and design", "pilot"]
