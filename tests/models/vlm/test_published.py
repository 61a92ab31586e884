"""Prompts of authors, read from their files, sent as they are, and the answers to them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from tests.models.vlm.reading import outcome

from affectlab import InputError
from affectlab.evaluation import protocol_effects
from affectlab.models.vlm import AskSettings, VlmRater, build_prompt
from affectlab.models.vlm.asking.ledger import LEDGER
from affectlab.models.vlm.prompts import PublishedPrompt, Stimulus, read_prompt_file
from affectlab.models.vlm.prompts.published import Place
from affectlab.models.vlm.prompts.reading import read_answer
from affectlab.protocols import Protocol, load_protocol
from affectlab.ratings import Ratings

from .fake_server import Answer, Call, FakeServer, chat

INTENSITY = load_protocol("intensity")
SMALL = INTENSITY.revise(
    asks={"taxonomy": None, "group_by": (), "labels": ("joy", "fear", "calm mood")}
)
CODE = r'''
"""What this notebook does is told in a text that is longer than any of the prompts in it, or so."""
import json, requests
WORDS = {"joy": "glad", "fear": "afraid"}
GUIDE = """Look at the face."""
LISTING = "\n".join([f"- {name}: {word}" for name, word in WORDS.items()])
TASK = """Please {{ "guide": "{guide}", "words": {words} }} and answer {{"joy": 3}}.
The file is {file_name}."""
ADVICE = "No, " + "again: " + "JSON."
def ask(row, sample):
    question = f"How much {row['label']} is in {sample.text}? " + GUIDE
    question += " Answer with JSON."
    computed = requests.get("http://models.example").text
'''


def notebook(folder: Path, *cells: tuple[str, str]) -> Path:
    told = [{"cell_type": kind, "source": text.splitlines(keepends=True)} for kind, text in cells]
    path = folder / "asking.ipynb"
    path.write_text(json.dumps({"cells": told, "nbformat": 4, "metadata": {}}))
    return path


def text_of(prompt: PublishedPrompt) -> str:
    return "".join(one if isinstance(one, str) else f"<{one.name}>" for one in prompt.pieces)


def test_code_is_followed_and_not_executed(tmp_path: Path) -> None:
    picture = "![](data:image/png;base64," + "A" * 5_000 + ")"
    cells = [("markdown", f"# A title\n{picture}"), ("code", "!zip -r x\n%cd y\n" + CODE)]
    path = notebook(tmp_path, *cells)
    found = read_prompt_file(path)
    assert found.name == "asking.ipynb#TASK"
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert text_of(found) == (
        'Please { "guide": "Look at the face.", "words": {"joy": "glad", "fear": "afraid"} } and '
        'answer {"joy": 3}.\nThe file is <file_name>.'
    )
    one = read_prompt_file(f"{path}#question+ADVICE")
    expected = "How much <label> is in <text>? Look at the face. Answer with JSON."
    assert text_of(one) == expected
    assert one.again == ("No, again: JSON.",)
    assert text_of(read_prompt_file(f"{path}#LISTING")) == "- joy: glad\n- fear: afraid"
    assert text_of(read_prompt_file(f"{path}#cell-1")).strip() == "# A title"
    script = tmp_path / "ask.py"
    script.write_text(f"{CODE}\nraise SystemExit('executed')\n")
    assert read_prompt_file(script).name == "ask.py#TASK"
    for name in ("computed", "nothing"):
        with pytest.raises(InputError, match="ADVICE, GUIDE"):
            read_prompt_file(f"{path}#{name}")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ('Rate {image} as {"joy": 3}', ("Rate ", Place("image"), ' as {"joy": 3}')),
        ("{emotion}? {{no}}", (Place("label"), "? {no}")),
        ('{{ labels }} in {"a": 1}', (Place("labels"), ' in {"a": 1}')),
        ("a { b } {1} {}", ("a { b } {1} {}",)),
    ],
)
def test_places_among_braces(text: str, pieces: tuple, tmp_path: Path) -> None:
    path = tmp_path / "prompt#1.txt"
    path.write_text(f"\ufeff{text}", encoding="utf-8")
    found = read_prompt_file(path)
    assert found.pieces == pieces
    assert found.name == "prompt#1.txt"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.txt", b"Rate {mood}", r"\{mood\}"),
        ("a.txt", b" \n", "empty"),
        ("a.txt", b"\xff\xfe\x00", "UTF-8"),
        ("a.docx", b"Rate", "expected protocol, described"),
        ("a.ipynb", b"[1]", "no notebook"),
        ("a.ipynb", b'{"cells": [{"cell_type": "code", "source": [1]}]}', "no notebook"),
        ("a.py", b"x = (", "no Python"),
        ("a.py", b"x = 3\n", "no text"),
        ("a.py", b'P = f"{3:>4} {x!r} {y}"', r"\{3\}"),
        ("a.md", None, "cannot be read"),
    ],
)
def test_what_cannot_be_read(name: str, content: bytes | None, words: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_prompt_file(tmp_path / name)


def test_texts_that_would_fill_the_memory(tmp_path: Path) -> None:
    lines = ["a = ['xxxxxxxxxx']", "b = 'xx'", "c = ['x']", "P = 'Rate it.' + 'Now.'"]
    lines += ["a = [a, a]", "b = b + b", "c = c + c"] * 30
    lines += ["Q = f'{a}'", "R = f'{b}{b}'", "S = ''.join(a)", "T = '{a}'"]
    path = tmp_path / "bomb.py"
    path.write_text("\n".join(lines))
    assert text_of(read_prompt_file(f"{path}#P")) == "Rate it.Now."
    with pytest.raises(InputError, match=r"\{a\}"):
        read_prompt_file(f"{path}#T")


def prompt_of(tmp_path: Path, text: str) -> PublishedPrompt:
    path = tmp_path / "prompt.txt"
    path.write_text(text)
    return read_prompt_file(path)


@pytest.mark.parametrize(
    ("text", "values", "repairs"),
    [
        ('{"joy": 3, "fear": 0, "calm mood": 1}', (3, 0, 1), ()),
        ('{"key": ["a"], "value": {"Good|Joy": 3}}', (3, None, None), ("nested", "spelling")),
        (
            '{"emotions": {"joy": {"rating": 3, "reasoning": "eyes"}, "fear": {"rating": 0, '
            '"reasoning": ""}}, "extra": {"valence": {"rating": 2}}}',
            (3, 0, None),
            ("nested", "other_keys"),
        ),
        (
            '{"joy": {"level": 3, "note": "x"}, "other": {"note": "y"}}',
            (3, None, None),
            ("other_keys",),
        ),
        ('{"list": [{"emotion": "fear", "score": 2}]}', (None, 2, None), ("nested",)),
        ("Joy: 3\n- **Fear**: 2\nand more", (3, 2, None), ("lines", "spelling")),
        ("1. joy = 4", (4, None, None), ("lines", "number_as_text")),
    ],
)
def test_answers_with_names_of_labels(
    text: str, values: tuple, repairs: tuple, tmp_path: Path
) -> None:
    prompt = build_prompt(SMALL, None, prompt=prompt_of(tmp_path, "Rate {labels}."))
    read = read_answer(prompt, SMALL, text)
    assert read.usable
    assert tuple(read.values.values()) == values
    assert set(repairs) <= set(read.repairs)
    assert ("other_keys" in read.repairs) == ("other_keys" in repairs)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("hm", "unparseable"),
        ('{"anger": 3}', "unparseable"),
        ('{"joy": 9}', "schema_invalid"),
        ('{"joy": "much"}', "schema_invalid"),
        ('{"a": {"joy": 3}, "b": {"joy": 4}}', "schema_invalid"),
        ("joy: 3\njoy: 4", "schema_invalid"),
        ("", "empty"),
        ("joy: 3 " * 200_000, "unparseable"),
    ],
)
def test_answers_that_say_nothing(text: str, result: str, tmp_path: Path) -> None:
    prompt = build_prompt(SMALL, None, prompt=prompt_of(tmp_path, "Rate {labels}."))
    assert outcome(read_answer(prompt, SMALL, text), text) == result


@pytest.mark.parametrize(
    "text",
    [
        "5",
        " 5.",
        '{"result": {"Rating": 5, "why": "x"}}',
        '{"rating": 5}',
        "joy: 5",
        '{"Joy": 5, "why": "x"}',
    ],
)
def test_one_label_at_a_time(text: str, tmp_path: Path) -> None:
    asks = SMALL.asks.model_copy(update={"per_trial": "one"})
    protocol = SMALL.model_copy(update={"asks": asks, "not_rated": False})
    published = prompt_of(tmp_path, "How much {label}, {scale}?")
    prompt = build_prompt(protocol, None, label="joy", prompt=published)
    assert "How much joy, a whole number from 0 to 7" in prompt.text
    assert dict(read_answer(prompt, protocol, text).values) == {"joy": 5.0}


@pytest.mark.parametrize(
    "text", ['{"emotions": ["joy", "Fear"]}', "joy, fear", '{"joy": 1, "fear": "yes", "anger": 0}']
)
def test_labels_that_were_chosen(text: str, tmp_path: Path) -> None:
    protocol = load_protocol("multilabel")
    prompt = build_prompt(
        protocol, Stimulus(texts=("Oh!",)), prompt=prompt_of(tmp_path, "Which of {labels}: {text}")
    )
    assert prompt.text.endswith(": Oh!")
    read = read_answer(prompt, protocol, text)
    assert {label for label, value in read.values.items() if value} == {"joy", "fear"}


def rater(server: FakeServer, folder: Path, protocol: Protocol, **options: object) -> VlmRater:
    settings = AskSettings(base_url=server.url)
    return VlmRater("openai-api/fake/m", protocol, folder, settings=settings, **options)


def test_it_is_sent_as_it_is_and_its_hash_is_kept(faces: Path, tmp_path: Path) -> None:
    path = tmp_path / "prompt.md"
    path.write_text("Look at {image} and rate {labels}.")

    def script(call: Call) -> Answer:
        (message,) = call.body["messages"]
        kinds = [part["type"] for part in message["content"]]
        assert kinds == ["text", "image_url", "text"]
        assert call.text == "Look at \n and rate joy, fear, calm mood."
        return chat("joy: 3\nfear: 0")

    with FakeServer(script) as server:
        options = {"prompt": str(path)}
        run = rater(server, tmp_path / "run", SMALL, **options).rate(faces)
        assert len(server.calls) == 6
        about = run.ratings.raters.row(0, named=True)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        assert about["prompt_sha256"] == sha256
        assert about["wording"] == "as published: prompt.md"
        assert sha256[:8] in about["rater"]
        lines = (tmp_path / "run" / LEDGER).read_text().splitlines()
        asked = [json.loads(line)["asked"] for line in lines if '"outcome"' in line]
        assert {one["prompt_sha256"] for one in asked} == {sha256}
        # The same words in another file are another prompt.
        server.script = lambda call: chat("joy: 3\nfear: 0")
        path.write_text(path.read_text() + "\n")
        rater(server, tmp_path / "run", SMALL, **options).rate(faces)
        assert len(server.calls) == 12


def test_a_prompt_about_one_label_asks_about_each(faces: Path, tmp_path: Path) -> None:
    path = tmp_path / "ask.py"
    path.write_text('P = "How much {label}? A number."\nMORE = " Just a number!"\n')
    seen: list[str] = []

    def script(call: Call) -> Answer:
        seen.append(call.text)
        return chat("4" if call.text.endswith("!") or "joy" in call.text else "hm")

    with FakeServer(script) as server:
        asked = rater(server, tmp_path / "run", SMALL, prompt=f"{path}#P+MORE")
        run = asked.rate(sorted(faces.glob("*.png"))[:1])
    assert run.asks == {1: 1, 2: 2}
    assert sorted(set(seen))[:2] == [
        "How much calm mood? A number.",
        "How much calm mood? A number. Just a number!",
    ]
    frame = run.ratings.to_frame()
    assert dict(frame.select("label", "value").iter_rows()) == dict.fromkeys(SMALL.labels(), 4)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("Rate {labels}", {"reasons": True}, "as it was published"),
        ("Rate {labels}", {"hint": "joy"}, "as it was published"),
        ("Rate {labels}", {"readout": "choice"}, "as it was published"),
        ("Rate {label}", {}, "one label at a time"),
        ("Rate {text}", {}, r"\{text\}"),
    ],
)
def test_what_others_words_cannot_say(text: str, options: dict, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        build_prompt(SMALL, None, prompt=prompt_of(tmp_path, text), **options)


def test_runs_are_compared_by_prompt(faces: Path, tmp_path: Path) -> None:
    """The ways of asking are told apart by whose words ask, and by the hash of a file."""
    path = tmp_path / "prompt.txt"
    path.write_text("Rate {labels}.")

    def script(call: Call) -> Answer:
        size = sum(map(ord, call.body["model"] + call.text[:15])) + sum(call.images[0][600:800])
        told = {label: (size * k) % 7 + 1 for k, label in enumerate(INTENSITY.labels(), 1)}
        return chat(json.dumps(dict(list(told.items())[:25])))

    tables = []
    with FakeServer(script) as server:
        for model in ("m1", "m2"):
            for prompt in ("protocol", "described", str(path)):
                asked = VlmRater(
                    f"openai-api/fake/{model}",
                    ledger=tmp_path / "run",
                    settings=AskSettings(base_url=server.url),
                    prompt=prompt,
                    shuffle=None,
                )
                tables.append(asked.rate(faces).ratings)
    stimuli = tables[0].stimulus_names
    rows = [(one, f"p{p}", "Awe", (7 * k + p) % 8) for p in (1, 2) for k, one in enumerate(stimuli)]
    names = ("stimulus", "rater", "label", "value")
    people = Ratings(
        dict(zip(names, zip(*rows, strict=True), strict=True)), scale="0-7", taxonomy="emonet_face"
    )
    found = protocol_effects(people, tables, n_boot=0)
    ways = found.scores["way"].unique().to_list()
    assert len(ways) == found.rankings.height == 3
    for sign in ("described", hashlib.sha256(path.read_bytes()).hexdigest()):
        assert sum(sign in way for way in ways) == 1
