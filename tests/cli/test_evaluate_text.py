"""``affectlab evaluate text``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.command import Done, run_here

from affectlab.models.text_metrics import BartScore, ClipScore

from ..models.text.tiny import one_thread  # noqa: TID252
from ..models.tiny_text_models import (  # noqa: TID252
    SENTENCES,
    pictures,
    save_bart,
    save_bert,
    save_clip,
)

__all__ = ["one_thread"]


def run(*arguments: str | Path, code: int = 0) -> Done:
    return run_here("evaluate", "text", *arguments, code=code)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("models")
    return {
        "bart": save_bart(root / "bart"),
        "clip": save_clip(root / "clip", seed=3),
        "bert": save_bert(root / "bert"),
    }


@pytest.fixture
def table(tmp_path: Path) -> Path:
    for k, image in enumerate(pictures(3)):
        image.save(tmp_path / f"p{k}.png")
    rows = [
        {
            "item": f"i{k}",
            "candidate": SENTENCES[k % 6],
            "reference": SENTENCES[(k + 1) % 6],
            "reference_2": SENTENCES[(k + 3) % 6] if k % 2 else None,
            "image": f"p{k % 3}.png",
            "emotion": "sad",
            "caption": "a dog",
            "preferred": ("machine", "human", "both", "human")[k % 4],
        }
        for k in range(12)
    ]
    file = tmp_path / "texts.csv"
    pl.DataFrame(rows, infer_schema_length=None).write_csv(file)
    return file


@pytest.mark.long
def test_scores_and_means(places: dict[str, str], table: Path, tmp_path: Path) -> None:
    to = tmp_path / "scores.csv"
    metrics = (
        *("--metric", f"bart:{places['bart']},direction=recall"),
        *("--metric", f"clip:{places['clip']},sentence=socratis"),
        *("--metric", f"bert:{places['bert']},layer=2"),
        *("--metric", f"sentence:{places['bert']}"),
        *("--metric", f"refclip:{places['clip']}"),
    )
    done = run(table, *metrics, "--by", "preferred", "--out", to, "--json")
    found: dict[str, Any] = json.loads(done.stdout)["result"]
    scores = pl.read_csv(to)
    assert scores.columns[:3] == ["item", "metric", "score"]
    assert scores.height == 60
    own = BartScore(places["bart"], direction="recall", device="cpu")
    frame = pl.read_csv(table)
    references = [
        [text for text in row if text]
        for row in frame.select("reference", "reference_2").iter_rows()
    ]
    expected = own.score(frame["candidate"].to_list(), references)
    given = scores.filter(pl.col("metric") == own.name)
    np.testing.assert_allclose(given["score"], expected.scores, atol=1e-6)
    assert given["item"].to_list() == frame["item"].to_list()
    means = {(row["metric"], row["group"]): row for row in found["means"]}
    by_hand = given.filter(pl.col("preferred") == "human")["score"].mean()
    assert means[own.name, "human"]["value"] == pytest.approx(by_hand)
    assert means[own.name, "human"]["n_items"] == 6
    assert means[own.name, "human"]["low"] < by_hand < means[own.name, "human"]["high"]
    told = {row["metric"].split()[0]: row for row in found["settings"]["metrics"]}
    assert told["BARTScore"]["direction"] == "candidate -> reference"
    assert told["CLIPScore"]["settings"]["sentence"] == "socratis"
    assert told["BARTScore"]["weights"] == own.fingerprint()
    text = run(table, *metrics[:4], "--by", "preferred").stdout
    assert "Scores of 12 texts" in text
    assert "CLIPScore" in text


def test_parts_and_parquet(places: dict[str, str], table: Path, tmp_path: Path) -> None:
    to = tmp_path / "scores.parquet"
    run(
        table,
        "--metric",
        f"bart:{places['bart']}",
        "--config",
        "parts=true",
        "--out",
        to,
        "--quiet",
    )
    names = pl.read_parquet(to)["metric"].unique().to_list()
    assert sorted(name.split()[1] for name in names) == ["f", "precision", "recall"]


def test_long_texts_are_warned_of(places: dict[str, str], tmp_path: Path) -> None:
    file, to = tmp_path / "long.csv", tmp_path / "scores.csv"
    long = " ".join(SENTENCES)
    pl.DataFrame({"candidate": [long, "Yes."], "reference": ["No.", "No."]}).write_csv(file)
    done = run(file, "--metric", f"bart:{places['bart']}", "--quiet", "--out", to)
    said = " ".join(done.stderr.split())
    assert "1 of 2 items with a text longer than the 64 tokens that the model reads" in said
    scores = pl.read_csv(to)
    assert scores["truncated"].to_list() == [True, False]
    assert scores["n_tokens"][0] > 64
    found = json.loads(run(file, "--metric", f"bart:{places['bart']}", "--json").stdout)
    assert found["result"]["settings"]["metrics"][0]["n_truncated"] == 1


def test_set_aside(places: dict[str, str], table: Path) -> None:
    (table.parent / "p1.png").write_bytes(b"broken")
    frame = pl.read_csv(table).with_columns(
        candidate=pl.when(pl.col("item") == "i0").then(pl.lit(" ")).otherwise("candidate")
    )
    frame.write_csv(table)
    clip = ("--metric", f"clip:{places['clip']}")
    done = run(table, *clip, code=2)
    assert "row 1: the candidate is empty" in " ".join(done.stderr.split())
    found = json.loads(run(table, *clip, "--config", "set_aside=true", "--json").stdout)["result"]
    found = found["settings"]
    assert (found["n_items"], found["n_set_aside"]) == (7, 5)
    assert any("p1.png cannot be read" in sentence for sentence in found["set_aside"])
    kept = pl.read_csv(table).filter(~pl.col("item").is_in(["i0", "i1", "i4", "i7", "i10"]))
    own = ClipScore(places["clip"], device="cpu").score(
        kept["candidate"].to_list(), [table.parent / name for name in kept["image"]]
    )
    assert found["metrics"][0]["mean"] == pytest.approx(own.mean)


def test_reactions_of_a_model(places: dict[str, str], tmp_path: Path) -> None:
    rows = ["stimulus,rater,emotion,text"]
    for k in range(6):
        rows += [f'p{k},ann,proud,"{SENTENCES[k]}"', f'p{k},bob,Proud,"{SENTENCES[(k + 1) % 6]}"']
        rows += [f'p{k},blip,proud,"{SENTENCES[(k + 2) % 6]}"']
    file = tmp_path / "reactions.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    kinds = tmp_path / "raters.csv"
    kinds.write_text("rater,rater_kind\nann,human\nbob,human\nblip,model\n", encoding="utf-8")
    asked = (
        file,
        "--reactions",
        "--config",
        f"raters={kinds}",
        "--metric",
        f"bart:{places['bart']}",
    )
    found = json.loads(run(*asked, "--by", "rater", "--json").stdout)["result"]
    own = BartScore(places["bart"], device="cpu").score(
        [SENTENCES[(k + 2) % 6] for k in range(6)],
        [[SENTENCES[k], SENTENCES[(k + 1) % 6]] for k in range(6)],
    )
    assert found["means"][1]["group"] == "blip"
    assert found["means"][1]["value"] == pytest.approx(own.mean)


def test_sentences_without_an_emotion_are_set_aside(places: dict[str, str], table: Path) -> None:
    frame = pl.read_csv(table).with_columns(
        emotion=pl.when(pl.col("item") == "i2").then(None).otherwise("emotion")
    )
    frame.write_csv(table)
    asked = (table, "--metric", f"clip:{places['clip']},sentence=socratis")
    assert "row 3: the emotion is empty" in " ".join(run(*asked, code=2).stderr.split())
    found = json.loads(run(*asked, "--config", "set_aside=true", "--json").stdout)["result"][
        "settings"
    ]
    assert (found["n_items"], found["n_set_aside"]) == (11, 1)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--metric", "brat:x"), "unknown text metric 'brat'"),
        (("--metric", "bart:/nowhere/at/all"), "no such folder"),
        (("--metric", "bart:BART", "--by", "colour"), "unknown column 'colour'"),
        (("--metric", "bart:BART", "--rater", "x"), "--rater is for reactions"),
        (("--metric", "clip:BERT"), "takes no images"),
        (("--metric", "bart:BART", "--out", "nowhere/scores.csv"), "folder nowhere does not exist"),
        (("--metric", "bart:BART", "--metric", "bart:BART"), "stands twice; expected once"),
    ],
)
def test_errors_are_one_sentence(
    places: dict[str, str], table: Path, more: tuple[str, ...], said: str
) -> None:
    given = [one.replace("BART", places["bart"]).replace("BERT", places["bert"]) for one in more]
    done = run(table, *given, code=2)
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_images_and_marks_of_tables_that_others_made(places: dict[str, str], table: Path) -> None:
    frame = pl.read_csv(table)
    bert = ("--metric", f"bert:{places['bert']},direction=precision")
    plain = json.loads(run(table, *bert, "--json").stdout)["result"]["means"][0]["value"]
    # A sheet would compute what begins like this, so tables for sheets have a mark before it.
    means = []
    for mark in ("- ", "'- "):
        told = frame.with_columns(candidate=pl.lit(mark) + pl.col("candidate"))
        told.write_csv(table)
        found = json.loads(run(table, *bert, "--json").stdout)["result"]
        means.append(found["means"][0]["value"])
    assert means[0] == pytest.approx(means[1], abs=1e-12)
    assert means[0] != pytest.approx(plain, abs=1e-9)
    frame.with_columns(image=pl.lit("../p0.png")).write_csv(table)
    done = run(table, "--metric", f"clip:{places['clip']}", code=2)
    assert "row 1: image '../p0.png' lies outside" in " ".join(done.stderr.split())
