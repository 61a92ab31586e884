"""``affectlab taxonomy``: from texts to a taxonomy, and from a pilot to the next one."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.command import Done, run_here
from tests.stimuli.taxonomy.pilots import Plan, simulate
from tests.stimuli.taxonomy.servers import completion, emotions, passage, serving

from affectlab.taxonomy import Taxonomy, load_taxonomy

TEXTS = ["Joy and delight, and no fear.", "Afraid, then joyful.", "Fear; delight; hygge."]


def run(verb: str, *arguments: object, code: int = 0, **environment: str) -> Done:
    words = ("show", "--history") if verb == "history" else (verb,)
    return run_here("taxonomy", *words, *arguments, code=code, **environment)


def result(verb: str, *arguments: object, **environment: str) -> dict[str, Any]:
    content = json.loads(run(verb, *arguments, "--json", **environment).stdout)
    named = "show" if verb == "history" else verb
    assert content["schema"] == f"affectlab/taxonomy-{named}/1"
    return content


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    pl.DataFrame({"text": TEXTS}).write_csv(tmp_path / "texts.csv")
    return tmp_path / "texts.csv"


def test_from_texts_to_a_taxonomy(texts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    told = result("build", texts, "--out", folder)["result"]
    assert told["n_texts"] == told["n_blocks"] == 3
    assert told["n_terms"] == 3
    assert told["labels"] == {"fear": ["fear"], "delight": ["delight", "joy"]}
    assert told["decisions"] == {"keep": 2, "add": 0, "merge": 1, "drop": 0}
    assert {path.name for path in folder.iterdir()} == {
        "blocks.csv",
        "review.csv",
        "review.source.txt",
        "terms.csv",
    }
    assert pl.read_csv(folder / "terms.csv").select("term", "n_blocks").rows()[0] == ("fear", 3)
    out = tmp_path / "mine.toml"
    made = run("apply", folder / "review.csv", "--out", out, "--neutral", "neutral").stdout
    assert "version 1 of mine: 2 kept, 1 merged" in made
    assert "3 labels: fear, delight, neutral" in made
    taxonomy = load_taxonomy(out)
    assert taxonomy.words["delight"] == ("delight", "joy")
    assert (
        taxonomy.source
        == "3 texts in 3 blocks of 500 words; emotion terms by the lexicon affectlab"
    )
    history = result("history", out)["result"]["history"]
    assert history[0]["changes"][2]["into"] == "delight"
    assert run_here("taxonomy", "show", out)


def test_options_of_build(texts: Path, tmp_path: Path) -> None:
    lexicon = tmp_path / "mine.toml"
    lexicon.write_text(
        'name = "mine"\n[[families]]\nname = "f"\nwords = [{ noun = "hygge" }]\n', "utf-8"
    )
    options = (
        "--words",
        2,
        "--lexicon",
        lexicon,
        "--config",
        "min_blocks=1",
        "--out",
        tmp_path / "a",
    )
    told = result("build", texts, *options)["result"]
    assert told["labels"] == {"hygge": ["hygge"]}
    assert told["n_blocks"] == 3 + 2 + 2
    packed = result(
        "build", texts, "--config", "pack=true", "--config", "min_blocks=1", "--out", tmp_path / "b"
    )["result"]
    assert packed["n_blocks"] == 1
    few = result("build", texts, "--labels", 1, "--out", tmp_path / "c")["result"]
    assert len(few["labels"]) == 1


def test_a_language_model(texts: Path, tmp_path: Path) -> None:
    pytest.importorskip("httpx")

    def reply(question: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        if "hygge" in passage(question):
            return 200, {}, completion("Sure! Here are the emotions: hygge")
        return 200, {}, emotions("joyful", "fear")

    folder = tmp_path / "mine"
    with serving(reply) as server:
        options = ("--model", "small", "--url", server.url, "--key-env", "MY_KEY", "--out", folder)
        told = result("build", texts, *options, MY_KEY="k3y")
        assert told["result"]["failed"] == {"malformed": 1}
        assert "1 of 3 blocks could not be searched: malformed" in told["warnings"][0]
        assert told["result"]["labels"] == {"fear": ["fear"], "joy": ["joy"]}
        assert set(server.keys) == {"Bearer k3y"}
        n_asked = len(server.asked)
        done = run("build", texts, *options)
        assert len(server.asked) == n_asked == 3
    assert "warning: 1 of 3 blocks could not be searched: malformed" in done.stderr
    assert "k3y" not in (folder / "answers.jsonl").read_text("utf-8")
    blocks = pl.read_csv(folder / "blocks.csv")
    assert blocks["outcome"].to_list() == ["ok", "ok", "malformed"]
    assert "Invalid JSON" in blocks["detail"][2]
    source = (folder / "review.source.txt").read_text("utf-8")
    assert source.endswith("emotion terms by the language model small\n")
    with serving(lambda question: (401, {}, b"who are you?")) as server:
        said = run("build", texts, "--model", "x", "--url", server.url, "--out", folder, code=2)
    assert "answers 401 to 'x': who are you?" in said.stderr
    assert "Traceback" not in said.stderr


def test_a_key_goes_where_it_belongs(texts: Path, tmp_path: Path) -> None:
    """The key of OpenAI is not sent to another server only since it lies in the environment."""
    pytest.importorskip("httpx")
    keys = {"OPENAI_API_KEY": "sk-of-openai", "MY_KEY": "k-of-mine"}
    with serving(lambda question: (200, {}, emotions("joy", "fear"))) as server:
        for number, (given, sent) in enumerate(
            [
                ((), None),
                (("--key-env", "MY_KEY"), "Bearer k-of-mine"),
                (("--key-env", "OPENAI_API_KEY"), "Bearer sk-of-openai"),
            ]
        ):
            server.keys.clear()
            options = ("--model", "small", "--url", server.url, "--out", tmp_path / f"{number}")
            run("build", texts, *options, *given, **keys)
            assert set(server.keys) == {sent}


def test_secrets_are_not_shown(texts: Path, tmp_path: Path) -> None:
    pytest.importorskip("httpx")
    folder = tmp_path / "mine"
    ask = ("build", texts, "--model", "small", "--out", folder)
    key = "sk-Secret-0123456789"
    with serving(lambda question: (400, {}, f"no: Bearer {key}".encode())) as server:
        own = ("--url", server.url, "--key-env", "MY_KEY")
        said = run(*ask, *own, code=2, MY_KEY=key)
        assert "sk-" not in said.stdout + said.stderr
        assert "Traceback" not in said.stderr
        answers = (folder / "answers.jsonl").read_text("utf-8")
        assert "sk-" not in answers
        assert "Bearer [key]" in answers
    said = run(*ask, "--url", "http://me:hunter2@localhost:1/v1", code=2)
    assert "url holds a name or a password" in " ".join(said.stderr.split())
    assert "hunter2" not in said.stdout + said.stderr


def test_the_command_that_build_names_runs(texts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my texts"
    folder.mkdir()
    shown = run_here("taxonomy", "build", texts, "--out", folder, width=500).stdout.splitlines()
    (line,) = [one for one in shown if "taxonomy apply" in one]
    words = shlex.split(line)
    assert words[0] == "affectlab"
    run_here(*words[1:])
    assert load_taxonomy(folder / "taxonomy.toml").labels == ("fear", "delight")


PLAN = Plan(
    shares={"joy": 0.2, "fear": 0.15, "ennui": 0.0002},
    guessed={"doubt": 0.05},
    missed={"pride": 0.1},
    slip=0.0005,
)


@pytest.fixture
def pilot(tmp_path: Path) -> Path:
    ratings, suggestions = simulate(PLAN, stimuli=1500, raters=6)
    wide = ratings.frame.pivot("label", index=["stimulus", "rater"], values="value")
    wide.write_csv(tmp_path / "pilot.csv")
    suggestions.write_csv(tmp_path / "suggestions.csv")
    Taxonomy.from_labels(PLAN.labels, name="mine", neutral="neutral").save(tmp_path / "mine.toml")
    return tmp_path


def test_from_a_pilot_to_the_next_version(pilot: Path) -> None:
    reading = ("--wide", "labels", "--scale", "binary", "--taxonomy", pilot / "mine.toml")
    review = pilot / "revision.csv"
    files = ("--suggestions", pilot / "suggestions.csv", "--out", review)
    told = result("revise", pilot / "pilot.csv", *reading, *files)
    decided = {row["label"]: row for row in told["result"]["review"]}
    assert {label: row["decision"] for label, row in decided.items()} == {
        "doubt": "drop",
        "ennui": "drop",
        "fear": "keep",
        "joy": "keep",
        "neutral": "keep",
        "pride": "add",
    }
    assert decided["ennui"]["evidence"]["share_high"] < 0.01
    assert decided["doubt"]["evidence"]["agreement_high"] < 0.1
    assert told["warnings"] == []
    shown = run("revise", pilot / "pilot.csv", *reading, *files).stdout
    assert "1,500 stimuli, 6 raters, 5 labels" in shown
    assert "keep: fear, joy, neutral" in shown
    out = pilot / "mine-2.toml"
    parent = ("--taxonomy", pilot / "mine.toml", "--out", out)
    assert "version 2 of mine: 3 kept, 1 added, 2 dropped" in run("apply", review, *parent).stdout
    assert load_taxonomy(out).labels == ("fear", "joy", "pride", "neutral")
    history = run("history", out).stdout
    assert "version 2, after 1" in history
    assert (
        "from: pilot pilot.csv: 1,500 stimuli, 6 raters, suggestions in suggestions.csv" in history
    )
    assert "drop    ennui: chosen for" in history
    assert "keep    fear, joy, neutral" in history
    assert "keep    fear: chosen for" in run("history", out, "--all").stdout


def test_suggestions_of_others_are_named_and_left_out(pilot: Path) -> None:
    some = pl.read_csv(pilot / "pilot.csv").filter(pl.col("rater") != "r00")
    some.write_csv(pilot / "some.csv")
    reading = ("--wide", "labels", "--scale", "binary", "--taxonomy", pilot / "mine.toml")
    suggestions = pl.read_csv(pilot / "suggestions.csv")
    files = ("--suggestions", pilot / "suggestions.csv", "--out", pilot / "r.csv")
    told = result("revise", pilot / "some.csv", *reading, *files)
    n = suggestions.filter(rater="r00").height
    assert n > 0
    assert told["warnings"] == [
        f"{n} suggestions left out: the pilot has no answer of that rater to that stimulus"
    ]
    (row,) = [one for one in told["result"]["review"] if one["label"] == "pride"]
    counted = suggestions.filter(pl.col("rater") != "r00")
    assert row["evidence"]["suggested"] == counted["stimulus"].n_unique()
    assert row["evidence"]["stimuli"] == told["result"]["n_stimuli"]


def test_a_person_has_the_last_word(pilot: Path) -> None:
    reading = ("--wide", "labels", "--scale", "binary", "--taxonomy", pilot / "mine.toml")
    review = pilot / "revision.csv"
    run("revise", pilot / "pilot.csv", *reading, "--out", review)
    with review.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["term"] == "ennui":
            row |= {"decision": "keep", "label": "boredom", "reason": "rare, and what we study"}
    with review.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    out = pilot / "mine-2.toml"
    run("apply", review, "--taxonomy", pilot / "mine.toml", "--out", out, "--version", "1.1")
    made = load_taxonomy(out)
    assert made.version == "1.1"
    assert made.labels == ("boredom", "fear", "joy", "neutral")
    change = next(one for one in made.history[-1].changes if one.label == "ennui")
    assert (change.action, change.into, change.reason) == (
        "rename",
        "boredom",
        "rare, and what we study",
    )
    assert change.evidence["chosen"] < 15


def test_a_pilot_that_is_too_small(pilot: Path) -> None:
    few = pl.read_csv(pilot / "pilot.csv").head(60)
    few.write_csv(pilot / "few.csv")
    reading = ("--wide", "labels", "--scale", "binary", "--taxonomy", pilot / "mine.toml")
    done = run("revise", pilot / "few.csv", *reading, "--out", pilot / "r.csv", "--quiet")
    assert "warning: a pilot of 20 stimuli and 6 raters is too small: it leaves" in done.stderr
    assert "too small a pilot to decide: chosen for" in done.stdout


def test_limits_of_ones_own(pilot: Path) -> None:
    policy = pilot / "policy.toml"
    policy.write_text(
        'name = "mild"\n[scarce]\nbelow = 0\n[agreement]\nbelow = -1\n'
        "[confused]\nabove = 2\n[suggested]\nabove = 0.5\n",
        "utf-8",
    )
    options = ("--policy", policy, "--wide", "labels", "--scale", "binary")
    files = ("--taxonomy", pilot / "mine.toml", "--suggestions", pilot / "suggestions.csv")
    told = result("revise", pilot / "pilot.csv", *options, *files, "--out", pilot / "r.csv")
    assert {row["decision"] for row in told["result"]["review"] if row["label"] != "pride"} == {
        "keep"
    }
    assert told["result"]["review"][-1]["decision"] == "drop"


def test_an_edited_review_is_not_overwritten(texts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    review = folder / "review.csv"
    run("build", texts, "--out", folder)
    # The same again is the same file.
    run("build", texts, "--out", folder)
    edited = review.read_text("utf-8").replace("keep", "drop", 1)
    review.write_text(edited, "utf-8")
    done = run("build", texts, "--out", folder, code=2)
    assert "differs, perhaps since it was edited" in " ".join(done.stderr.split())
    assert review.read_text("utf-8") == edited
    assert not list(folder.glob(".*"))


def test_one_sentence(pilot: Path, texts: Path) -> None:
    taxonomy = pilot / "mine.toml"
    before = taxonomy.read_bytes()
    known = (pilot / "pilot.csv", "--wide", "labels", "--scale", "binary", "--taxonomy", taxonomy)
    review = pilot / "review.csv"
    review.write_text("term,decision,reason\njoy,keep,x\n", "utf-8")
    for arguments, said in (
        (("build", pilot / "none.txt"), "there is no such file"),
        (("build", texts, "--column", "body"), "unknown column 'body'"),
        (
            ("build", texts, "--config", "min_blocks=9", "--out", pilot / "x"),
            "no term is named in 9 blocks",
        ),
        (("build", texts, "--out", texts), "cannot be a folder"),
        (("build", texts, "--model", "m", "--url", "nowhere", "--out", pilot / "x"), "an address"),
        (("apply", review, "--out", taxonomy), "no version is overwritten"),
        (("apply", review, "--out", pilot / "b.toml", "--taxonomy", taxonomy), "is missing"),
        (("apply", review, "--out", pilot / "b.toml", "--version", "2"), "give --taxonomy"),
        (("apply", review, "--out", pilot / "a b.toml"), "name = 'a b'"),
        (("apply", review, "--out", pilot / "no" / "b.toml"), "does not exist"),
        (
            ("apply", review, "--out", pilot / "b.toml", "--taxonomy", taxonomy, "--name", "x"),
            "are for a new taxonomy",
        ),
        (("history", pilot / "none.toml"), "no such file"),
        (("revise", pilot / "pilot.csv", "--wide", "labels"), "give it with --taxonomy"),
        (("revise", *known, "--out", pilot), "cannot be written"),
        (("revise", *known, "--out", pilot / "no" / "r.csv"), "cannot be written"),
        (("revise", *known, "--suggestions", pilot / "none.csv"), "there is no such file"),
        (("revise", *known, "--policy", pilot / "none.toml"), "no such file"),
    ):
        done = run(*arguments, code=2)
        assert said in " ".join(done.stderr.split()), arguments
        assert "Traceback" not in done.stderr
    assert taxonomy.read_bytes() == before


def test_a_taxonomy_without_history() -> None:
    assert "The file records no decisions." in run("history", "ekman").stdout
