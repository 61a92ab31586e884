"""``affectlab stimuli curate`` with a pilot and a review: asked, answered, and gone on with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.command import run_here

from affectlab.models.text import TextClassifier
from affectlab.protocols import load_protocol
from affectlab.ratings import Ratings, read_ratings
from affectlab.taxonomy import load_taxonomy

EXAMPLE = Path(__file__).parents[2] / "examples" / "curate"
PLAN = EXAMPLE / "pilot.toml"
ANSWERS = EXAMPLE / "answers.csv"


def curated(*arguments: object, code: int = 0) -> Any:
    """Curate, and give what the JSON says."""
    done = run_here("stimuli", "curate", *arguments, "--json", code=code)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A curation of the example that stopped for a pilot of 200."""
    out = tmp_path_factory.mktemp("drawn") / "out"
    told = curated(PLAN, "--out", out, "--pilot", 200)["result"]
    assert told["pilot"] == {"drawn": 200, "study": str(out / "pilot" / "pilot.toml")}
    assert told["stopped_after"] == "length_balance"
    return out


@pytest.fixture(scope="module")
def learned(drawn: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A curation that learned from the answers of the example."""
    out = tmp_path_factory.mktemp("learned") / "out"
    shutil.copytree(drawn, out)
    curated(PLAN, "--out", out, "--pilot-answers", ANSWERS)
    return out


def copy(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    return target


def test_it_stops_and_says_how_people_are_asked(drawn: Path) -> None:
    assert not (drawn / "corpus").exists()
    done = run_here("stimuli", "curate", PLAN, "--out", drawn, "--pilot", 200, width=40)
    study = drawn / "pilot" / "pilot.toml"
    lines = done.stdout.splitlines()
    # A line that is copied is one line, however narrow the terminal is.
    assert f"  ask people:  affectlab study serve {study}" in lines
    assert (
        f"  then:        affectlab study export {study} --out {study.parent / 'answers'}" in lines
    )
    assert f"  ask people:  affectlab study serve {drawn / 'review' / 'review.toml'}" in lines


def test_the_studies_are_in_order(drawn: Path) -> None:
    pytest.importorskip("sqlalchemy")
    told = run_here("study", "check", drawn / "pilot" / "pilot.toml").stdout
    assert "600 or more" in told
    table = pl.read_csv(drawn / "pilot" / "pilot-texts.csv", infer_schema=False)
    assert table.columns == ["stimulus", "text"]
    assert table.height == table["stimulus"].n_unique() == 200
    assert "14 or more" in run_here("study", "check", drawn / "review" / "review.toml").stdout


def test_the_answers_of_the_example_are_about_its_pilot(drawn: Path) -> None:
    asked = pl.read_csv(drawn / "pilot" / "pilot-texts.csv", infer_schema=False)
    given = pl.read_csv(ANSWERS, infer_schema=False).select("stimulus", "text").unique()
    assert sorted(given.rows()) == sorted(asked.rows())


def test_another_pilot_does_not_take_the_place_of_one(drawn: Path) -> None:
    done = run_here("stimuli", "curate", PLAN, "--out", drawn, "--pilot", 90, code=2)
    assert "asks about other comments than those drawn now" in " ".join(done.stderr.split())


def test_a_taxonomy_of_ones_own_is_asked_about(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    known = load_taxonomy("ekman")
    own = tmp_path / "own.toml"
    own.write_text(known.to_toml().replace('name = "ekman"', 'name = "own"', 1))
    plan = tmp_path / "plan.toml"
    source = json.dumps(str(EXAMPLE / "comments.csv"))
    plan.write_text(
        f'sources = [{source}]\ntaxonomy = {json.dumps(str(own))}\nsteps = ["length", "sentiment"]'
    )
    out = tmp_path / "out"
    done = run_here("stimuli", "curate", plan, "--out", out, "--pilot", 20)
    assert "a pilot of 20 is too small" in " ".join(done.stderr.split())
    told = run_here("study", "check", out / "pilot" / "pilot.toml").stdout
    assert f"labels           {len(known)}" in told


def test_answers_are_learned_from_and_the_corpus_is_written(learned: Path) -> None:
    done = run_here("stimuli", "curate", PLAN, "--out", learned, "--pilot-answers", ANSWERS)
    lines = done.stdout.splitlines()
    assert f"pilot model: {learned / 'pilot' / 'model'} (trained before)" in lines
    assert "  from 192 of 200 answered comments, with a label that 2 raters chose" in lines
    corpus = pl.read_parquet(learned / "corpus" / "*.parquet")
    assert corpus.height == 60
    assert corpus["emotions"].list.len().min() == 1
    labels = set(corpus["emotions"].explode().to_list())
    assert labels <= set(load_taxonomy("goemotions").labels)


def test_the_whole_command_can_be_repeated(learned: Path) -> None:
    """As the terminal says: the command that drew the pilot, and the answers."""
    told = curated(PLAN, "--out", learned, "--pilot", 200, "--pilot-answers", ANSWERS)
    assert told["result"]["pilot"]["trained_now"] is False
    assert not [note for note in told["warnings"] if "done again" in note]


def test_changed_answers_are_learned_from_anew(learned: Path, tmp_path: Path) -> None:
    out = copy(learned, tmp_path / "out")
    first = pl.read_csv(ANSWERS, infer_schema=False)
    stimuli = first["stimulus"].unique(maintain_order=True)[:150].to_list()
    first.filter(pl.col("stimulus").is_in(stimuli)).write_csv(tmp_path / "changed.csv")
    done = run_here(
        "stimuli", "curate", PLAN, "--out", out, "--pilot-answers", tmp_path / "changed.csv"
    )
    assert "trained anew: answers or settings are others than before" in done.stdout
    assert "of 150 answered comments" in done.stdout
    said = " ".join(done.stderr.split())
    assert "predictions and what follows is done again" in said
    assert "length_balance and what follows" not in said


def test_restart_starts_once_and_trains_again(learned: Path, tmp_path: Path) -> None:
    out = copy(learned, tmp_path / "out")
    mark = out / "work" / "07-identity" / "left.txt"
    mark.parent.mkdir(exist_ok=True)
    mark.touch()
    told = curated(PLAN, "--out", out, "--pilot-answers", ANSWERS, "--config", "restart=true")[
        "result"
    ]
    assert told["pilot"]["trained_now"] is True
    assert not mark.exists()
    before = pl.read_parquet(learned / "corpus" / "*.parquet")
    assert pl.read_parquet(out / "corpus" / "*.parquet").equals(before)


def test_the_number_of_raters_who_agree(learned: Path, tmp_path: Path) -> None:
    out = copy(learned, tmp_path / "out")
    options = ("--pilot-answers", ANSWERS, "--pilot-agree", 3)
    told = curated(PLAN, "--out", out, *options)["result"]["pilot"]
    assert told["agree"] == 3
    assert told["n_agreed"] < 150


def test_answers_of_an_export(drawn: Path, tmp_path: Path) -> None:
    out, folder = copy(drawn, tmp_path / "out"), tmp_path / "answers"
    folder.mkdir()
    (folder / "readme.txt").write_text("nothing yet")
    done = run_here("stimuli", "curate", PLAN, "--out", out, "--pilot-answers", folder, code=2)
    assert "there is no ratings.parquet" in " ".join(done.stderr.split())
    given = read_ratings(ANSWERS)
    people = given.raters.with_columns(rater_kind=pl.lit("simulated"))
    Ratings(given.frame, scale="binary", raters=people, stimuli=given.stimuli).write(
        folder / "ratings.parquet"
    )
    done = run_here("stimuli", "curate", PLAN, "--out", out, "--pilot-answers", folder)
    assert "192 of 200 answered comments" in done.stdout
    assert "answers of simulated people" in " ".join(done.stderr.split())


def test_answers_about_other_comments_are_taken_with_a_warning(drawn: Path, tmp_path: Path) -> None:
    other = pl.read_csv(ANSWERS, infer_schema=False).with_columns(
        ("x" + pl.col("stimulus")).alias("stimulus")
    )
    other.write_csv(tmp_path / "other.csv")
    out = copy(drawn, tmp_path / "out")
    told = curated(PLAN, "--out", out, "--pilot-answers", tmp_path / "other.csv")
    assert told["result"]["n_kept"] == 60
    assert any("none of its answers is about a comment of the pilot" in w for w in told["warnings"])


def test_a_model_that_is_there(learned: Path, drawn: Path, tmp_path: Path) -> None:
    out = copy(drawn, tmp_path / "out")
    model = learned / "pilot" / "model"
    told = curated(PLAN, "--out", out, "--pilot-model", model)["result"]
    assert told["pilot"] == {"model": str(model)}
    same = pl.read_parquet(learned / "corpus" / "*.parquet")
    assert pl.read_parquet(out / "corpus" / "*.parquet").equals(same)


def test_a_model_of_other_labels(drawn: Path, tmp_path: Path) -> None:
    own = load_taxonomy("ekman").from_labels(["joy", "schadenfreude"], name="own")
    model = TextClassifier.make("linear", taxonomy=own)
    model.fit(["so happy", "it serves them right"] * 5, ["joy", "schadenfreude"] * 5)
    model.save(tmp_path / "model")
    options = ("--out", copy(drawn, tmp_path / "out"), "--pilot-model", tmp_path / "model")
    done = run_here("stimuli", "curate", PLAN, *options, code=2)
    assert "label 'schadenfreude' is not in the taxonomy goemotions" in " ".join(
        done.stderr.split()
    )


@pytest.mark.long
def test_an_annotator_answers_once(learned: Path, drawn: Path, tmp_path: Path) -> None:
    out = copy(drawn, tmp_path / "out")
    model = copy(learned / "pilot" / "model", tmp_path / "annotator")
    options = ("--out", out, "--pilot-annotator", model, "--pilot", 150)
    told = curated(PLAN, *options)["result"]
    assert (told["pilot"]["agree"], told["pilot"]["n_answered"]) == (1, 150)
    assert told["corpus"] == str(out / "corpus")
    answers = out / "pilot" / "answers.parquet"
    assert read_ratings(answers).rater_kinds == ("model",)
    written = answers.stat().st_mtime_ns
    assert curated(PLAN, *options)["result"]["pilot"]["trained_now"] is False
    assert answers.stat().st_mtime_ns == written
    # Other comments are answered anew.
    assert curated(PLAN, *options, "--seed", 4)["result"]["pilot"]["trained_now"] is True
    assert answers.stat().st_mtime_ns != written


def reviewed(rows: list[tuple[str, str, str]]) -> Ratings:
    """Answers of a review: stimulus, reviewer, and the label that was chosen."""
    labels = load_protocol("review_comments").labels()
    table = [(s, r, label, int(label == told)) for s, r, told in rows for label in labels]
    return Ratings(
        pl.DataFrame(table, schema=["stimulus", "rater", "label", "value"], orient="row"),
        scale="binary",
    )


def test_reviewers_readmit_comments(learned: Path, tmp_path: Path) -> None:
    out, folder = copy(learned, tmp_path / "out"), tmp_path / "answers"
    waiting = pl.read_csv(out / "review" / "comments.csv")["id"].to_list()
    assert len(waiting) == 7
    other = next(one for one in load_protocol("review_comments").labels() if one != "fine")
    rows = [(name, rater, "fine") for name in waiting[:3] for rater in ("a", "b")]
    # One objects, one has not come yet; the others nobody has seen.
    rows += [(waiting[3], "a", "fine"), (waiting[3], "b", other), (waiting[4], "a", "fine")]
    folder.mkdir()
    reviewed(rows).write(folder / "ratings.parquet")
    for given in (folder, folder / "ratings.parquet"):
        options = ("--pilot-answers", ANSWERS, "--review", given)
        told = curated(PLAN, "--out", out, *options)["result"]
        identity = [row for row in told["ledger"] if row["step"] == "identity"]
        assert identity[0]["found"] == "4 decisions of reviewers, 3 to keep"
        assert [row["n"] for row in identity] == [3, 1]
        assert told["n_review"] == 3
    reasons = dict(pl.read_parquet(out / "reasons").select("id", "reason").iter_rows())
    assert not {*waiting[:3]} & {name for name, why in reasons.items() if why == "identity"}
    study = out / "review" / "review.toml"
    study.write_text(study.read_text().replace("raters = 2", "raters = 1"))
    told = curated(PLAN, "--out", out, "--pilot-answers", ANSWERS, "--review", folder)["result"]
    assert told["n_review"] == 2


def test_answers_to_another_study_are_no_decisions(drawn: Path) -> None:
    done = run_here("stimuli", "curate", PLAN, "--out", drawn, "--review", ANSWERS, code=2)
    said = " ".join(done.stderr.split())
    assert "answers.csv" in said
    assert "expected the answers of a review" in said


def test_a_review_that_cannot_be_written_anew(drawn: Path, tmp_path: Path) -> None:
    out = copy(drawn, tmp_path / "out")
    listed = out / "review" / "review.csv"
    table = pl.read_csv(listed, infer_schema=False)
    table.head(5).write_csv(listed)
    done = run_here("stimuli", "curate", PLAN, "--out", out, "--pilot", 200, width=200)
    assert "2 comments that await review are not in" in done.stdout
    listed.unlink()
    done = run_here("stimuli", "curate", PLAN, "--out", out, "--pilot", 200, width=200)
    assert "its table review.csv is not there" in done.stdout


def test_without_predictions_the_sentence_names_the_ways(drawn: Path) -> None:
    done = run_here("stimuli", "curate", PLAN, "--out", drawn, code=2)
    said = " ".join(done.stderr.split())
    for words in ("step sentiment needs predicted emotions", "[columns]", "--pilot", "leave"):
        assert words in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--pilot-answers", "a", "--pilot-model", "b"], "--pilot-answers and --pilot-model"),
        (["--pilot-model", "b", "--pilot-annotator", "c"], "expected one of them"),
        (["--pilot", 9, "--pilot-model", "b"], "a model needs no pilot"),
        (["--pilot", 9, "--config", "until=length"], "until and a pilot"),
        (["--pilot", 9, "--pilot-agree", 2], "--pilot-agree: expected it with"),
        (["--pilot-agree", 2], "--pilot-agree: expected it with"),
        (["--pilot-annotator", "nobody"], "unknown annotator 'nobody'"),
        (["--pilot-answers", "nowhere.csv"], "nowhere.csv"),
        (["--pilot-model", "nowhere"], "nowhere: no such folder"),
        (["--review", "nowhere.csv"], "nowhere.csv: there is no such file"),
    ],
)
def test_options_that_contradict_each_other(
    arguments: list[object], sentence: str, drawn: Path
) -> None:
    done = run_here("stimuli", "curate", PLAN, "--out", drawn, *arguments, code=2)
    assert sentence in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[columns]\nemotions = "predicted"', "predictions stand in the column 'predicted'"),
        ('steps = ["length", "sample"]', "none of its steps needs the predictions"),
        ('steps = ["sentiment", "sample"]', "sentiment is its first step"),
    ],
)
def test_plans_that_a_pilot_does_not_fit(text: str, sentence: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(f"{text}\n")
    arguments = (EXAMPLE / "comments.csv", "--plan", plan, "--out", tmp_path / "out")
    done = run_here("stimuli", "curate", *arguments, "--pilot", 50, code=2)
    assert sentence in " ".join(done.stderr.split())


def test_nothing_is_left_to_draw_from(tmp_path: Path) -> None:
    """The paper's thresholds, and few comments."""
    done = run_here(
        "stimuli", "curate", EXAMPLE / "comments.csv", "--out", tmp_path / "out", "--pilot", 50
    )
    assert "nothing is left after big_groups" in " ".join(done.stderr.split())
    assert not (tmp_path / "out" / "pilot").exists()


@pytest.mark.data
def test_real_comments_in_one_command(shared_data: Path, tmp_path: Path) -> None:
    """GoEmotions' raw rows are the comments, and what raters said of them is the pilot."""
    raw = shared_data / "goemotions" / "raw_partial.csv"
    if not raw.exists():
        pytest.skip("no raw GoEmotions")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        """
[big_groups]
least = 20
[adult_groups]
share = 0.3
[sentiment]
neutral_most = 0.5
positive_least = 0.1
negative_least = 0.1
ambiguous_least = 0.05
[sample]
size = 500
"""
    )
    out = tmp_path / "out"
    options = ("--plan", plan, "--out", out, "--pilot-answers", raw, "--pilot-agree", 2)
    told = curated(raw, *options)["result"]
    assert told["pilot"]["n_agreed"] == 488
    assert 0.1 < told["pilot"]["micro_f1"] < 0.5
    assert told["n_kept"] == 500
    # Every row is in the corpus, or in the ledger and among the reasons once.
    ledger = pl.DataFrame(told["ledger"], infer_schema_length=None)
    assert told["n_read"] == pl.read_csv(raw, infer_schema=False).height
    assert ledger["n"].sum() == told["n_read"] - 500
    reasons = pl.read_parquet(out / "reasons" / "*.parquet")
    counted = reasons.group_by("step", "reason").len("n").sort("step", "reason")
    expected = ledger.filter(pl.col("n") > 0).select("step", "reason", "n")
    assert counted.cast({"n": pl.Int64}).rows() == expected.sort("step", "reason").rows()
    assert ledger["threshold"].str.len_chars().min() > 0
    # Thresholds for the best F1 would call two thirds of these comments neutral.
    shown = pl.DataFrame(told["distributions"], infer_schema_length=None)
    neutral = shown.filter(step="sentiment", when="before", distribution="sentiment")
    assert neutral.filter(value="neutral")["mean"].item() < 0.45
