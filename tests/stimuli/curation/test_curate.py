"""Curation from files to files: results, ledger, empty ends, pilots, reviews, and errors."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import polars as pl
import pytest
from tests.stimuli.curation.pools import comments, loose, plain_draw

from affectlab.core.errors import InputError
from affectlab.stimuli.curation import CurationPlan, Step, curate, load_curation_plan
from affectlab.stimuli.curation.curate import _with_near_duplicates
from affectlab.stimuli.curation.plan import STEPS
from affectlab.stimuli.curation.result import Curation
from affectlab.taxonomy import load_taxonomy

EXAMPLE = Path(__file__).parents[3] / "examples" / "curate" / "plan.toml"


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Curation:
    return curate(None, tmp_path_factory.mktemp("example") / "out", plan=EXAMPLE, part_rows=100)


def test_ledger_explains_every_row(example: Curation) -> None:
    ledger = example.ledger
    steps = ledger.unique("step", maintain_order=True)
    assert steps["rows_in"][0] == example.n_read == 432
    assert steps["kept"][:-1].to_list() == steps["rows_in"][1:].to_list()
    assert steps["kept"][-1] == example.n_kept == example.to_frame().height == 60
    assert (steps["rows_in"] - steps["kept"]).to_list() == steps["dropped"].to_list()
    told = dict(ledger.group_by("step").agg(pl.col("n").sum()).iter_rows())
    assert told == dict(steps.select("step", "dropped").iter_rows())
    reasons = example.reasons()
    counted = reasons.group_by("step", "reason").len().sort("step", "reason")
    expected = ledger.filter(pl.col("n") > 0).select("step", "reason", "n").sort("step", "reason")
    assert counted.rows() == expected.rows()
    read = pl.read_csv(EXAMPLE.parent / "comments.csv")["id"]
    assert sorted([*reasons["id"], *example.to_frame()["id"]]) == sorted(read)


def test_what_is_written(example: Curation) -> None:
    out = example.out
    assert pl.read_csv(out / "ledger.csv").height == example.ledger.height
    told = json.loads((out / "ledger.json").read_text())
    assert told["n_kept"] == 60
    assert [step["step"] for step in told["steps"]][:3] == ["reading", "repeated", "big_groups"]
    assert told["plan"]["group_balance"] == {"cap": "median"}
    corpus = example.to_frame()
    assert corpus.columns == ["id", "text", "masked", "group", "tokens", "emotions"]
    stimuli = pl.read_csv(out / "stimuli.csv")
    assert stimuli["stimulus"].to_list() == corpus["id"].to_list()
    assert stimuli["text"].to_list() == corpus["text"].to_list()
    assert corpus["tokens"].is_between(3, 30).all()
    review = pl.read_csv(out / "review" / "comments.csv")
    assert review.height == example.n_review == 7
    assert review["text"].str.contains("gay|deaf").all()
    groups = example.groups
    assert groups["n_read"].sum() == 432
    assert groups["n_kept"].sum() == 60
    assert groups.filter(group="quietcorner").rows() == [
        ("quietcorner", 12, 0, "big_groups", "small_group")
    ]


def test_corpus_is_in_the_order_read(example: Curation) -> None:
    read = pl.read_csv(EXAMPLE.parent / "comments.csv")["id"].to_list()
    kept = example.to_frame()["id"].to_list()
    assert kept == sorted(kept, key=read.index)
    gone = example.reasons()["id"].to_list()
    assert gone == sorted(gone, key=read.index)


def test_distributions_as_in_appendix_d(example: Curation) -> None:
    """Mean and SD over groups of the shares of sentiments, counted here from the corpus."""
    polarity = load_taxonomy("goemotions").polarity
    corpus = example.to_frame().with_columns(
        pl.col("emotions")
        .map_elements(
            lambda one: {polarity[label] for label in one} == {"neutral"}, return_dtype=pl.Boolean
        )
        .alias("neutral")
    )
    shares = corpus.group_by("group").agg(pl.col("neutral").mean())["neutral"]
    told = example.distributions.filter(step="end", distribution="sentiment", value="neutral")
    row = told.row(0, named=True)
    assert row["groups"] == len(shares)
    assert row["mean"] == pytest.approx(shares.mean())
    assert row["sd"] == pytest.approx(shares.std())
    assert row["n"] == corpus["neutral"].sum()
    emotions = example.distributions.filter(step="emotion_balance", distribution="emotion")
    cap = int(emotions.filter(when="after")["n"].max())
    before = dict(emotions.filter(when="before").select("value", "n").iter_rows())
    after = dict(emotions.filter(when="after").select("value", "n").iter_rows())
    assert after == {label: min(n, cap) for label, n in before.items()}
    assert cap == sorted(before.values())[(len(before) - 1) // 2]


def test_default_thresholds_end_in_an_explained_empty_result(tmp_path: Path) -> None:
    done = curate(comments(tmp_path / "c.csv"), tmp_path / "out", plan=None)
    assert done.n_kept == 0
    assert done.to_frame().is_empty()
    assert done.explained == (
        "nothing is left after big_groups, which dropped all 60 comments as small_group: group "
        "with fewer than 10,000 comments (0 of 2 groups kept; the largest is walks with 40 "
        "comments)"
    )
    assert done.ledger.filter(step="sample")["rows_in"].to_list() == [0]
    assert done.reasons()["reason"].unique().to_list() == ["small_group"]


def test_an_empty_file_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text("not JSON\n")
    done = curate(tmp_path / "c.jsonl", tmp_path / "out")
    assert (done.n_read, done.n_kept) == (1, 0)
    assert done.counts == {"broken_line": 1}
    assert done.explained == "nothing is left: no comment was read"


def test_predictions_are_needed_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        curate(comments(tmp_path / "c.csv"), tmp_path / "out", plan=loose())
    for way in ("as emotions in [columns]", "the argument predict", "leave the steps out"):
        assert way in str(caught.value)


def test_groups_are_needed_by_name(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"body": "One two three four."}\n')
    with pytest.raises(InputError, match="has no groups, which big_groups, adult_groups"):
        curate(tmp_path / "c.jsonl", tmp_path / "out")
    done = curate(tmp_path / "c.jsonl", tmp_path / "out", steps=["deleted", "length"])
    assert done.to_frame()["id"].to_list() == ["c.jsonl:1"]


def even_or_odd(texts: list[str]) -> list[list[str]]:
    """Predict from the number in the text."""
    return [["joy"] if int(text.split()[2]) % 2 else ["anger", "surprise"] for text in texts]


def test_pilot_then_the_rest(tmp_path: Path) -> None:
    source, out, plan = comments(tmp_path / "c.csv"), tmp_path / "out", loose()
    first = curate(source, out, plan=plan, until="length_balance", part_rows=25)
    assert first.stopped_after == "length_balance"
    assert first.corpus is None
    with pytest.raises(InputError, match="no corpus yet"):
        first.to_frame()
    pilot = first.draw(12)
    assert pilot.columns == ["id", "text", "group"]
    assert pilot["id"].n_unique() == 12
    assert pilot.equals(first.draw(12))
    assert not pilot.equals(first.draw(12, seed=1))
    assert first.draw(5)["id"].to_list() == pilot["id"].to_list()[:5]
    assert first.draw(99).height == first.n_kept
    stamp = (out / "work" / "09-length_balance" / "done.json").stat().st_mtime_ns
    done = curate(source, out, plan=plan, predict=even_or_odd, part_rows=25)
    assert (out / "work" / "09-length_balance" / "done.json").stat().st_mtime_ns == stamp
    assert done.notes == ()
    corpus = done.to_frame()
    told = [
        ["joy"] if int(text.split()[2]) % 2 else ["anger", "surprise"] for text in corpus["text"]
    ]
    assert corpus["emotions"].to_list() == told
    shares = done.distributions.filter(step="sentiment", when="before")
    assert dict(shares.select("value", "share").iter_rows()) == {
        "neutral": 0,
        "positive": 0.5,
        "negative": 0.5,
        "ambiguous": 0.5,
    }


def test_a_model_is_asked_by_one_thread_at_a_time(tmp_path: Path) -> None:
    asking = Lock()

    def predict(texts: list[str]) -> list[list[str]]:
        assert asking.acquire(blocking=False)
        time.sleep(0.02)
        asking.release()
        return [["joy"]] * len(texts)

    source = comments(tmp_path / "c.csv")
    steps = ["emotion_balance"]
    done = curate(
        source, tmp_path / "out", plan=loose(), steps=steps, predict=predict, part_rows=10
    )
    assert done.n_kept == 60


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (["joy"], "expected labels for 60 texts, got 1"),
        (["joy"] * 60, "expected a list of labels for each text, got 'joy'"),
        ([["jolly"]] * 60, "unknown label 'jolly'"),
        (7, "expected a list of labels for each text, got int"),
    ],
)
def test_predictions_that_cannot_be_used(answer: object, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        curate(
            comments(tmp_path / "c.csv"),
            tmp_path / "out",
            plan=loose(steps=["sentiment"]),
            predict=lambda texts: answer,  # type: ignore[arg-type, return-value]
        )


def test_reviewed_comments_come_back(tmp_path: Path) -> None:
    texts = ["The gay couple next door is kind.", "A deaf woman sang for us.", "We saw a deaf man."]
    table = pl.DataFrame({"id": ["a", "b", "c"], "body": texts, "subreddit": ["x"] * 3})
    table.write_csv(tmp_path / "c.csv")
    steps = ["deleted", "identity", "length"]
    first = curate(tmp_path / "c.csv", tmp_path / "out", plan=loose(), steps=steps)
    assert first.review is not None
    assert pl.read_csv(first.review)["id"].to_list() == ["a", "b", "c"]
    assert "identity" in first.explained
    decided = pl.DataFrame({"stimulus": ["a", "b"], "keep": [True, False]})
    done = curate(tmp_path / "c.csv", tmp_path / "out", plan=loose(), steps=steps, review=decided)
    assert done.to_frame()["id"].to_list() == ["a"]
    assert done.n_review == 1
    assert done.notes == ("identity and what follows is done again: other decisions than before",)


@pytest.mark.long
def test_near_duplicates_are_dropped(tmp_path: Path) -> None:
    texts = ["The heron stood in the reeds all morning long."] * 2
    texts += [
        "The heron stood in the reeds all morning long!",
        "Nobody knows why the lamp is green.",
    ]
    table = {"id": ["z", "y", "x", "w"], "body": texts, "subreddit": ["a"] * 4}
    pl.DataFrame(table).write_csv(tmp_path / "c.csv")
    done = curate(
        tmp_path / "c.csv",
        tmp_path / "out",
        plan=loose(),
        steps=["repeated", "length"],
        near_duplicates=True,
    )
    drawn = min("xyz", key=lambda one: plain_draw("near_duplicates", 0, one))
    assert done.to_frame()["id"].to_list() == [drawn, "w"]
    assert done.ledger.filter(pl.col("step") != "reading")["step"].to_list() == [
        *("repeated", "length", "length", "near_duplicates")
    ]
    assert done.ledger["found"][-1] == "1 text comes in several versions"


def test_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    """Not even where one of several like texts stays, of which each is like its neighbours only."""
    texts = [f"the {'very ' * (k % 8)}old heron stood still" for k in range(120)]
    texts += ["abcdefghijklmnop"[: 9 + k % 6] + " qrs tuv" for k in range(60)]
    table = pl.DataFrame(
        {
            "id": [f"c{k}" for k in range(180)],
            "body": texts,
            "subreddit": ["abc"[k % 3] for k in range(180)],
        }
    )
    plan = loose(near_duplicates={"threshold": 0.6, "ngram": 3}, sample={"size": 5})
    steps = ["repeated", "length", "near_duplicates", "length_balance", "group_balance", "sample"]
    kept = []
    for seed in (None, 1, 2):
        rows = table if seed is None else table.sample(fraction=1, shuffle=True, seed=seed)
        rows.write_csv(tmp_path / "c.csv")
        done = curate(
            tmp_path / "c.csv", tmp_path / f"{seed}", plan=plan, steps=steps, part_rows=50
        )
        kept.append((done.to_frame().sort("id"), done.reasons().sort("id")))
    assert kept[0][0].height > 1
    assert kept[0][1].filter(step="near_duplicates").height > 100
    for frame, reasons in kept[1:]:
        assert frame.equals(kept[0][0])
        assert reasons.equals(kept[0][1])


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (STEPS, "length near_duplicates length_balance"),
        (["repeated", "deleted", "group_balance"], "deleted near_duplicates group_balance"),
        (["repeated", "length", "deleted"], "length deleted near_duplicates"),
        (["near_duplicates", "length", "sample"], "near_duplicates length sample"),
    ],
)
def test_near_duplicates_come_before_what_balances(steps: Sequence[str], expected: str) -> None:
    assert f" {expected} " in f" {' '.join(map(str, _with_near_duplicates(steps, True)))} "


def test_a_fault_of_a_step_is_not_taken_for_damage(tmp_path: Path) -> None:
    with pytest.raises(pl.exceptions.PolarsError, match="no_such_column"):
        curate(comments(tmp_path / "c.csv"), tmp_path / "out", plan=loose(), steps=[Faulty()])


class Faulty(Step):
    """A step of a user, with a mistake."""

    name = "faulty"

    def reason(self) -> pl.Expr:
        return pl.col("no_such_column")


class Short(Step):
    """A step of a user."""

    name = "short"
    reasons = {"long": "more than 8 tokens"}  # noqa: RUF012

    def reason(self) -> pl.Expr:
        return pl.when(pl.col("tokens") > 8).then(pl.lit("long"))


def test_own_step_in_a_run(tmp_path: Path) -> None:
    done = curate(
        comments(tmp_path / "c.csv", n=3),
        tmp_path / "out",
        plan=loose(),
        steps=["deleted", Short()],
    )
    assert "which dropped all 3 comments as long: more than 8 tokens" in done.explained


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"until": "size"}, "until: unknown step 'size'"),
        ({"partitions": 0}, "partitions = 0"),
        ({"runner": "spark"}, "runner 'spark' is not known"),
        (
            {"steps": ["length"], "review": pl.DataFrame({"id": ["a"], "keep": [True]})},
            "no step ide",
        ),
        ({"plan": "none.toml"}, "none.toml: no such file"),
    ],
)
def test_what_cannot_be_done(given: dict[str, object], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        curate(comments(tmp_path / "c.csv"), tmp_path / "out", **given)  # type: ignore[arg-type]


def test_no_sources(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="plan goemotions: there are no sources"):
        curate(None, tmp_path / "out")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file: cannot be used as a folder"):
        curate(comments(tmp_path / "c.csv"), tmp_path / "file")


@pytest.mark.long
def test_size_of_parts_does_not_matter(tmp_path: Path) -> None:
    told = []
    for rows in (7, 100_000):
        done = curate(None, tmp_path / str(rows), plan=EXAMPLE, part_rows=rows)
        told.append((done.to_frame(), done.reasons(), done.distributions, done.groups))
    for one, other in zip(*told, strict=True):
        assert one.equals(other, null_equal=True)


@pytest.mark.data
def test_real_comments(shared_data: Path, tmp_path: Path) -> None:
    """GoEmotions' raw rows: one comment per id, with all labels that its raters chose."""
    source = shared_data / "goemotions" / "raw_partial.csv"
    if not source.exists():
        pytest.skip("no raw GoEmotions")
    raw = pl.read_csv(source, infer_schema=False)
    labels = [name for name in load_taxonomy("goemotions").labels if name in raw.columns]
    chosen = pl.concat_list(
        pl.when(pl.col(name) == "1").then(pl.lit(name)) for name in labels
    ).list.drop_nulls()
    table = (
        raw.with_columns(emotions=chosen)
        .group_by("id", maintain_order=True)
        .agg(
            pl.col("text", "subreddit").first(), pl.col("emotions").explode().drop_nulls().unique()
        )
        .with_columns(pl.col("emotions").list.sort())
    )
    table.write_parquet(tmp_path / "c.parquet")
    columns = {"emotions": "emotions"}
    named = CurationPlan.model_validate({"columns": columns})
    plan = load_curation_plan(EXAMPLE).model_copy(update={"columns": named.columns})
    done = curate(tmp_path / "c.parquet", tmp_path / "out", plan=plan)
    assert done.n_kept == 60
    assert done.n_read == table.height
    assert not done.ledger.filter(pl.col("n") > 0)["threshold"].is_null().any()
    fates = [*done.reasons()["id"], *done.to_frame()["id"]]
    assert sorted(fates) == sorted(table["id"])
    default = CurationPlan.model_validate({"columns": columns, "texts": {"language": "none"}})
    empty = curate(tmp_path / "c.parquet", tmp_path / "default", plan=default)
    assert empty.n_kept == 0
    assert "after big_groups" in empty.explained
    # Read as it is, with a row for each rater, every id is taken once.
    rows = curate(source, tmp_path / "rows", plan=loose(), steps=["repeated", "length"])
    assert rows.n_read == raw.height
    assert rows.ledger["kept"][:2].to_list() == [raw.height, table.height]


class Nothing(Step):
    """Drops nothing, and stands before the groups, so that all texts are looked at."""

    name = "nothing"

    def reason(self) -> pl.Expr:
        return pl.lit(None, pl.String)


def test_texts_of_small_groups_need_no_look(tmp_path: Path) -> None:
    """Skipping them changes nothing but the work."""
    found = []
    for before in ([], [Nothing()]):
        out = tmp_path / str(len(before))
        steps = [*before, "repeated", "big_groups", "deleted", "length", "length_balance"]
        columns = {"subreddit": ["walks" if k % 5 else f"path{k % 3}" for k in range(60)]}
        source = comments(tmp_path / "c.csv", **columns)
        plan = loose(big_groups={"least": 10})
        found.append(curate(source, out, plan=plan, steps=steps, part_rows=25))
        looked = pl.read_parquet(out / "work" / "features" / "*.parquet")
        assert looked["tokens"].null_count() == (0 if before else 12)
    first, second = found
    assert first.n_kept == 48
    assert first.to_frame().equals(second.to_frame())
    assert first.reasons().equals(second.reasons())
    assert second.ledger["step"][:2].to_list() == ["reading", "nothing"]
    assert second.ledger["n"][:2].to_list() == [0, 0]


def test_languages_are_looked_at_where_a_step_asks(tmp_path: Path) -> None:
    asked: list[int] = []

    def detector(texts: list[str]) -> list[str]:
        asked.append(len(texts))
        return ["de"] * len(texts)

    plan = loose(texts={"language": detector})
    source = comments(tmp_path / "c.csv", body=["Das ist mir aber wirklich neu."] * 60)
    curate(source, tmp_path / "out", plan=plan, steps=["deleted"])
    assert not asked
    done = curate(source, tmp_path / "out", plan=plan, steps=["deleted", "language"])
    assert sum(asked)
    assert done.explained.startswith("nothing is left after language, which dropped all 60")
