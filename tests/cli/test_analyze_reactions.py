"""``affectlab analyze reactions``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import Done, run_here

from affectlab.ratings import read_ratings


def run(*arguments: object, code: int = 0) -> Done:
    return run_here("analyze", "reactions", *arguments, code=code)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file in the published form: two pairs, three people each."""

    def entry(pair: str, emotions: list[str], reasons: list[str]) -> list[object]:
        return [f"{pair}.jpg", f"Storm hits coast {pair}", emotions, reasons, {"age": "30-40"}]

    lost = "Many homes are lost in the storm tonight"
    content = {
        "1": [
            entry("1", ["sad", "hopeful"], [lost, "They will help each other out"]),
            entry("1", ["Saddness"], ["They lost homes in the storm"]),
            entry("1", ["excitied"], ["Mail me at jane@example.org about the waves"]),
        ],
        "2": [
            entry("2", ["inspired"], ["The firemen were so very brave"]),
            entry("2", ["inspiring", "sad"], ["Brave firemen helped", lost]),
            entry("2", ["a bit zorpy"], ["As an AI, I cannot view it"]),
        ],
    }
    path = tmp_path_factory.mktemp("reactions") / "reactions.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_what_is_printed(file: Path) -> None:
    said = " ".join(run(file).stdout.split())
    assert "8 reactions of 6 people to 2 pairs of image and caption" in said
    assert "Most frequent without a label: zorpy." in said
    assert "more alike than two unrelated ones in 100 % of comparisons" in said
    assert "2 of 7 reasons of 5 words or more nearly equal another" in said
    assert "1 reason with a phrase typical of machines" in said


def test_json_and_tables(file: Path, tmp_path: Path) -> None:
    to = tmp_path / "tables"
    content = json.loads(run(file, "--json", "--scrub", "--out", to, "--labels", "ekman").stdout)
    assert content["schema"] == "affectlab/analyze-reactions/1"
    found = content["result"]
    assert "8 reactions of 6 people to 2 pairs" in found["sentences"][0]
    assert len(found["emotions"]) == 5
    assert "have a label in ekman." in found["sentences"][2]
    assert {row["raw"]: row["word"] for row in found["corrections"]}["excitied"] == "excited"
    assert {row["kind"] for row in found["removed"] if row["n_found"]} == {"e-mail"}
    names = {path.name for path in to.iterdir()}
    assert {"words.csv", "pairs.csv", "bonus.csv", "removed.csv", "reactions.parquet"} <= names
    clean = read_ratings(to / "reactions.parquet").frame["text"].to_list()
    assert "Mail me at [EMAIL] about the waves" in clean
    assert clean.count("[EMAIL]") == 0
    assert len(clean) == 8


def test_clear_errors(file: Path, tmp_path: Path) -> None:
    table = tmp_path / "numbers.csv"
    table.write_text("stimulus,rater,value\na,r,1\na,s,0\n", encoding="utf-8")
    assert "no emotion words" in run(table, code=2).stderr
    assert "is a file; expected a folder" in run(file, "--out", table, code=2).stderr


def _reasons(file: Path) -> tuple[list[str], list[str]]:
    rows = read_ratings(file)
    return rows.frame["emotion"].to_list(), rows.frame["text"].to_list()


@pytest.mark.parametrize("level", ["sentiment", None])
def test_sentiment_of_a_model(file: Path, tmp_path: Path, level: str | None) -> None:
    """The shares are those counted by hand from what the model says, text by text."""
    from affectlab.models.text import TextClassifier

    texts = ["a very sad loss, homes are lost", "the sad storm", "Saddness, they lost homes"]
    texts += ["so inspired by brave men", "inspiring and brave, they help", "hopeful, excited"]
    labels = ["sadness"] * 3 + ["admiration", "admiration", "optimism"]
    if level is not None:
        labels = ["negative"] * 3 + ["positive"] * 3
    model = TextClassifier.make("linear", level=level, cost=5.0)
    model.fit(texts, [[label] for label in labels]).save(tmp_path / "model")
    found = json.loads(run(file, "--sentiment", tmp_path / "model", "--json").stdout)["result"]
    names = model.labels_at(None if level else "sentiment")

    def ask(text: str) -> str:
        return names[model.predict_proba([text], level=None if level else "sentiment").argmax()]

    # The words that the verb asks about are those after correcting the spelling.
    written = {"Saddness": "sad", "excitied": "excited", "inspiring": "inspired"}
    written["a bit zorpy"] = "zorpy"
    said = [
        (ask(written.get(emotion, emotion)), ask(text))
        for emotion, text in zip(*_reasons(file), strict=True)
    ]
    assert {"positive", "negative"} == {one for pair in said for one in pair}
    match = found["sentiment"][0]
    assert match["value"] == pytest.approx(sum(a == b for a, b in said) / len(said))
    assert 0 <= match["low"] <= match["value"] <= match["high"] <= 1
    counts = {
        (row["emotion_sentiment"], row["text_sentiment"]): row["n"] for row in found["sentiments"]
    }
    assert counts == {pair: said.count(pair) for pair in set(said)}
    printed = " ".join(run(file, "--sentiment", tmp_path / "model").stdout.split())
    assert "of the reasons have the sentiment of their emotion" in printed
    if level is None:
        told = run(file, "--sentiment", tmp_path / "model", "--level", "mood", code=2).stderr
        assert "mood" in told
        assert "Traceback" not in told


@pytest.mark.long
def test_scorer_is_bart(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from tests.models.tiny_text_models import save_bart

    from affectlab.models.text_metrics import BartScore

    folder = save_bart(tmp_path / "bart")
    found = json.loads(run(file, "--scorer", folder, "--json").stdout)["result"]["agreement"][0]
    assert "BARTScore" in found["method"]
    # Two pairs of reasons are about the same: each against the unrelated ones that were drawn.
    from affectlab.analysis.reactions import agreement_of_reactions, normalise_emotions

    rows = read_ratings(file).frame
    emotions, texts = _reasons(file)
    own = agreement_of_reactions(
        rows["stimulus"].cast(str).to_list(),
        rows["rater"].cast(str).to_list(),
        normalise_emotions(emotions).of(emotions),
        texts,
        lambda one, two: BartScore(folder).score(one, two).scores,
    )
    assert len(own.same) == 2
    assert found["value"] == pytest.approx(own.higher.value)
    assert len(set(own.same) | set(own.random)) > 10
    missing = run(file, "--scorer", tmp_path / "absent", code=2).stderr
    assert "absent" in missing
    assert "Traceback" not in missing


def test_figures(file: Path, tmp_path: Path) -> None:
    said = run(file, "--figures", tmp_path / "figures").stdout
    assert "figures:" in said
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {
        f"{name}.{kind}" for name in ("emotion_words", "pair_emotions") for kind in ("png", "svg")
    }
