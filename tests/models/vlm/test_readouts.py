"""Answers of one sign: a letter, or the probabilities of the first token."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from affectlab import InputError
from affectlab.models.vlm import AskSettings, VlmRater
from affectlab.models.vlm.material import find_material
from affectlab.protocols import load_protocol
from affectlab.simulate import draw_face

from .fake_server import Answer, Call, FakeServer, chat


@pytest.fixture
def faces(tmp_path: Path) -> Path:
    folder = tmp_path / "faces"
    folder.mkdir()
    for name in ("a", "b"):
        draw_face("joy", 0.5 if name == "a" else 1.0, size=64).save(folder / f"{name}.png")
    return folder


def rater(server: FakeServer, folder: Path, **options: object) -> VlmRater:
    settings = AskSettings(base_url=server.url)
    return VlmRater("openai-api/local/tiny", ledger=folder, settings=settings, **options)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "k")


def one_label(name: str, labels: tuple[str, ...] = ("Awe", "Fear")) -> object:
    found = load_protocol(name)
    asks = found.asks.model_copy(update={"labels": labels})
    return found.model_copy(update={"asks": asks})


def test_the_share_of_yes(faces: Path, tmp_path: Path) -> None:
    def script(call: Call) -> Answer:
        assert call.body["logprobs"] is True
        assert call.body["top_logprobs"] == 20
        assert "yes or no" in call.text
        assert "JSON" not in call.text
        return chat("Yes", first={"Yes": 0.6, " yes": 0.1, "No": 0.2, "The": 0.1})

    with FakeServer(script) as server:
        asked = rater(
            server, tmp_path / "run", protocol=one_label("verification"), readout="logprob"
        )
        run = asked.rate(faces)
        again = asked.rate(faces)
        n_calls = len(server.calls)
    assert n_calls == 4
    for one in (run, again):
        frame = one.ratings.to_frame()
        assert frame["value"].to_list() == pytest.approx([0.7 / 0.9] * 4)
        assert frame["answer_mass"].to_list() == pytest.approx([0.9] * 4)
        assert str(one.ratings.scale) == "interval 0 to 1"
    assert run.rater.endswith("logprob")
    assert run.ratings.raters["readout"].to_list() == ["logprob"]


def test_the_mean_of_the_numbers(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: chat("3", first={"3": 0.5, "5": 0.25, "x": 0.25})) as server:
        asked = rater(server, tmp_path / "run", protocol=one_label("intensity"), readout="logprob")
        ratings = asked.rate(faces).ratings
    assert ratings.to_frame()["value"].to_list() == pytest.approx([(1.5 + 1.25) / 0.75] * 4)
    assert str(ratings.scale) == "interval 0 to 7"


def test_little_mass_is_no_answer(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: chat("I", first={"I": 0.7, "Yes": 0.2, "No": 0.1})) as server:
        asked = rater(
            server, tmp_path / "run", protocol=one_label("verification"), readout="logprob"
        )
        frame = asked.rate(faces).to_frame()
    assert set(frame["outcome"]) == {"unparseable"}
    assert "30" in frame["problem"][0]


def test_without_probabilities_it_stops(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: chat("Yes")) as server:
        asked = rater(
            server,
            tmp_path / "run",
            protocol=one_label("verification"),
            readout="logprob",
            concurrency=1,
        )
        run = asked.rate(faces)
        assert len(server.calls) == 1
    assert run.halt is not None
    assert "readout=choice" in run.sentences[0]


def test_a_letter(faces: Path, tmp_path: Path) -> None:
    def script(call: Call) -> Answer:
        assert "logprobs" not in call.body
        assert "A: 0" in call.text
        assert "H: 7" in call.text
        return chat("C." if "Awe" in call.text.split("Question:")[1].splitlines()[0] else "(a)")

    with FakeServer(script) as server:
        asked = rater(server, tmp_path / "run", protocol=one_label("intensity"), readout="choice")
        frame = asked.rate(faces).ratings.to_frame()
    by_label = dict(frame.select("label", "value").unique().iter_rows())
    assert by_label == {"Awe": 2.0, "Fear": 0.0}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"protocol": "multilabel", "readout": "logprob"}, "asks for choices"),
        ({"protocol": "intensity", "readout": "logprob", "reasons": True}, "one sign"),
    ],
)
def test_refusals(faces: Path, tmp_path: Path, options: dict[str, object], words: str) -> None:
    with FakeServer(lambda call: chat("Yes")) as server, pytest.raises(InputError, match=words):
        rater(server, tmp_path / "run", **options).rate(faces)
    assert not server.calls


def test_texts_are_asked_about(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_text("stimulus,text\na,so happy\nb,oh no\n", encoding="utf-8")

    def script(call: Call) -> Answer:
        assert not call.images
        label = "joy" if "so happy" in call.text else "fear"
        return chat(f'{{"chosen": ["{label}"]}}')

    with FakeServer(script) as server:
        run = rater(server, tmp_path / "run", protocol="multilabel").rate(file)
        with pytest.raises(InputError, match="shows none"):
            rater(server, tmp_path / "run", protocol="multilabel").rate(file, control="no_image")
    frame = run.ratings.to_frame().filter(pl.col("value") == 1)
    assert frame.select("stimulus", "label").rows() == [("a", "joy"), ("b", "fear")]


def test_pictures_with_captions_and_pairs(faces: Path, tmp_path: Path) -> None:
    table = faces / "captions.csv"
    table.write_text("stimulus,file,caption\nx,a.png,A cat\ny,b.png,A dog\n", encoding="utf-8")
    found = find_material(table, load_protocol("reaction"))
    assert [(one.stimulus, one.texts) for one in found] == [("x", ("A cat",)), ("y", ("A dog",))]
    pairs = faces / "pairs.csv"
    pairs.write_text("stimulus,file_a,file_b\np,a.png,b.png\n", encoding="utf-8")
    (pair,) = find_material(pairs, load_protocol("difference"))
    assert [file.path.name for file in pair.files] == ["a.png", "b.png"]
    with pytest.raises(InputError, match="column 'file' is missing"):
        find_material(pairs, load_protocol("reaction"))
