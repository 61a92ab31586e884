"""EmoNet-Face's way of asking: 25 pairs, asked again until they can be read; four dimensions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from affectlab import InputError
from affectlab.models.vlm import (
    AskSettings,
    Budget,
    Retrying,
    VlmRater,
    build_prompt,
    read_examples,
)
from affectlab.models.vlm.asking.ledger import LEDGER, Ledger
from affectlab.models.vlm.prompts.examples import Example
from affectlab.models.vlm.prompts.reading import read_answer
from affectlab.protocols import load_protocol

from .fake_server import Answer, Call, FakeServer, chat, error

PROTOCOL = load_protocol("intensity")
GROUP = {one.label: one.groups[0] for one in PROTOCOL.questions()}
LABELS = list(PROTOCOL.labels())
DIMENSIONS = {"arousal": 5, "valence": -2, "dominance": 3, "emotional_vulnerability": 0}


def pairs(n: int = 25, value: int = 3) -> str:
    return json.dumps({f"{GROUP[label]}|{label}": value for label in LABELS[:n]})


def rater(server: FakeServer, folder: Path, **options: object) -> VlmRater:
    return VlmRater(
        "openai-api/fake/m",
        PROTOCOL,
        folder,
        prompt="described",
        **({"settings": AskSettings(base_url=server.url, max_tokens=900)} | options),
    )


def test_the_question_and_what_answers_it() -> None:
    prompt = build_prompt(PROTOCOL, None, prompt="described")
    example = next(line for line in prompt.text.splitlines() if line.startswith("{"))
    assert example.count("|") == example.count(": score") == 25
    assert (prompt.schema["minProperties"], prompt.schema["maxProperties"]) == (25, 25)
    plain = build_prompt(PROTOCOL, None)
    assert prompt.version != plain.version
    assert prompt.asked_again().parts != prompt.parts
    read = read_answer(prompt, PROTOCOL, pairs())
    assert read.usable
    assert not read.repairs
    assert [read.values[label] for label in LABELS] == [3.0] * 25 + [0.0] * 15
    shuffled = build_prompt(PROTOCOL, None, prompt="described", order_seed=3)
    assert read_answer(shuffled, PROTOCOL, pairs()).values == read.values
    # The group is of no account; the number of pairs, and a 0 among them, are.
    bare = json.dumps(dict.fromkeys(LABELS[15:40], 1))
    assert read_answer(prompt, PROTOCOL, bare).usable
    for text in (pairs(24), pairs(26), pairs(value=0)):
        wrong = read_answer(prompt, PROTOCOL, text)
        assert wrong.rule_errors
        assert not wrong.schema_errors
    assert read_answer(prompt, PROTOCOL, pairs(value=8)).schema_errors


def test_asked_again_until_it_can_be_read(faces: Path, tmp_path: Path) -> None:
    seen: dict[bytes, list[str]] = {}

    def script(call: Call) -> Answer:
        asked = seen.setdefault(call.images[0], [])
        asked.append(call.text)
        first = len(seen) == 1 or call.images[0] == next(iter(seen))
        return chat(pairs(25 if len(asked) == (4 if first else 1) else 24))

    with FakeServer(script) as server:
        more = {"concurrency": 1, "price_in": 1.0, "price_out": 1.0}
        run = rater(server, tmp_path, **more).rate(faces)
        assert len(server.calls) == 9
        again = rater(server, tmp_path, **more).rate(faces)
        assert len(server.calls) == 9
    asked = next(iter(seen.values()))
    assert asked[1] == asked[2] == asked[3]
    assert asked[1].startswith(asked[0])
    assert asked[1] != asked[0]
    for one in (run, again):
        assert one.asks == {1: 5, 4: 1}
        assert one.n_usable == 6
        # Each of the nine answers is paid for.
        assert (one.usage.input, one.usage.output) == (9_000, 900)
        assert one.cost == pytest.approx(9 * 1_100 / 1e6)
        frame = one.to_frame()
        assert sorted(frame["asks"].to_list()) == [1, 1, 1, 1, 1, 4]
        assert max(frame["input_tokens"].to_list()) == 4_000
        about = one.ratings.raters.row(0, named=True)
        assert (about["wording"], about["most_asks"]) == ("described", 20)
        assert set(one.ratings.to_frame().filter(label="Awe")["asks"]) == {1, 4}
    lines = [json.loads(line) for line in (tmp_path / LEDGER).read_text().splitlines()]
    outcomes = [line["outcome"] for line in lines if "outcome" in line]
    assert outcomes.count("rule_violation") == 3
    with Ledger(tmp_path) as ledger:
        assert ledger.spent(None).requests == 9


def test_the_purse_is_asked_at_each_try_and_the_next_run_goes_on(
    faces: Path, tmp_path: Path
) -> None:
    face = sorted(faces.glob("*.png"))[:1]
    with FakeServer(lambda call: chat("no idea")) as server:
        one = {"concurrency": 1, "budget": Budget(requests=3)}
        halted = rater(server, tmp_path, **one).rate(face)
        assert len(server.calls) == 3
        assert (halted.n_answered, halted.n_left) == (0, 1)
        assert halted.halt is not None
        assert halted.halt.kind == "budget"
        run = rater(server, tmp_path, most_asks=5, concurrency=1).rate(face)
        assert len(server.calls) == 5
        assert run.asks == {5: 1}
        assert run.to_frame()["outcome"].to_list() == ["unparseable"]
        assert run.usage.input == 5_000
        # An asking that got no answer is none of them.
        server.script = lambda call: error(500)
        more = {"most_asks": 7, "retrying": Retrying(tries=1)}
        lost = rater(server, tmp_path, **more).rate(face)
        assert lost.to_frame()["outcome"].to_list() == ["transport"]
        before = len(server.calls)
        server.script = lambda call: chat("no idea")
        assert rater(server, tmp_path, most_asks=7).rate(face).asks == {7: 1}
        assert len(server.calls) == before + 2


def test_a_question_of_other_prompts_is_asked_once(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: chat("no idea")) as server:
        settings = AskSettings(base_url=server.url)
        plain = VlmRater("openai-api/fake/m", PROTOCOL, tmp_path, settings=settings)
        assert plain.rate(sorted(faces.glob("*.png"))[:1]).asks == {1: 1}
        twice = VlmRater(
            "openai-api/fake/m", PROTOCOL, tmp_path, settings=settings, most_asks=2
        ).rate(sorted(faces.glob("*.png"))[:1])
        assert twice.asks == {2: 1}
        assert len(server.calls) == 2


def example(**changes: object) -> Example:
    told: dict = {
        "answer": {"Awe": 6, "Interest": 2},
        "described": "Eyes and mouth wide open.",
        "reasons": {"Awe": "wide eyes", "Interest": "looks up"}
        | {name: f"because of {name}" for name in DIMENSIONS},
        "dimensions": DIMENSIONS,
    }
    return Example(**(told | changes))


def test_dimensions_beside_five_labels(tmp_path: Path) -> None:
    how = {"style": "multi-shot", "prompt": "described"}
    prompt = build_prompt(PROTOCOL, None, examples=[example()], **how)
    assert (prompt.at_most, prompt.reasons, prompt.left_out) == (5, True, "zero")
    assert set(DIMENSIONS) < set(prompt.schema["properties"])
    assert prompt.schema["required"] == list(DIMENSIONS)
    answer = {
        "Awe": {"reason": "wide eyes", "value": 6},
        **{name: {"reason": "seen", "value": value} for name, value in DIMENSIONS.items()},
    }
    read = read_answer(prompt, PROTOCOL, json.dumps(answer))
    assert read.usable
    row = next(row for row in read.rows if row["label"] == "Awe")
    assert {name: row[name] for name in DIMENSIONS} == DIMENSIONS
    assert read.reasons["valence"] == "seen"
    assert sum(read.values.values()) == 6
    six = answer | {label: {"reason": "x", "value": 1} for label in LABELS[:6]}
    assert read_answer(prompt, PROTOCOL, json.dumps(six)).rule_errors
    off = answer | {"valence": {"reason": "x", "value": 4}}
    assert "-3 to 3" in read_answer(prompt, PROTOCOL, json.dumps(off)).schema_errors[0]
    lacking = {key: one for key, one in answer.items() if key != "arousal"}
    assert "arousal" in read_answer(prompt, PROTOCOL, json.dumps(lacking)).schema_errors[0]
    for wrong in (example(dimensions={}), example(dimensions=DIMENSIONS | {"height": 1})):
        with pytest.raises(InputError, match="dimensions"):
            build_prompt(PROTOCOL, None, examples=[wrong], **how)
    file = tmp_path / "examples.toml"
    file.write_text(
        '[[examples]]\nanswer = {Awe = 6}\ndescribed = "Wide eyes."\nreasons = {Awe = "wide"}\n'
        "[examples.dimensions]\narousal = 5\nvalence = 1\ndominance = 0\n"
        "emotional_vulnerability = 4\n"
    )
    read_examples(file, PROTOCOL)
    built = build_prompt(PROTOCOL, None, examples=read_examples(file, PROTOCOL), **how)
    assert '"emotional_vulnerability": {"reason": "", "value": 4}' in built.text


def test_dimensions_stand_beside_the_ratings(faces: Path, tmp_path: Path) -> None:
    answer = {"Awe": {"reason": "eyes", "value": 6}} | {
        name: {"reason": "seen", "value": value} for name, value in DIMENSIONS.items()
    }
    with FakeServer(lambda call: chat(json.dumps(answer))) as server:
        asked = rater(server, tmp_path, style="multi-shot", examples=(example(),))
        ratings = asked.rate(faces).ratings
    frame = ratings.to_frame()
    assert {name: set(frame[name]) for name in DIMENSIONS} == {
        name: {float(value)} for name, value in DIMENSIONS.items()
    }
    assert set(ratings.label_names) == set(LABELS)
    assert "most_asks" not in ratings.raters.columns


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("verification", {"label": "Awe"}),
        ("multilabel", {}),
        ("intensity", {"at_most": 5}),
        ("intensity", {"structured": True}),
        ("intensity", {"left_out": "not rated"}),
        ("intensity", {"readout": "choice"}),
    ],
)
def test_what_does_not_fit_is_refused(name: str, options: dict) -> None:
    with pytest.raises(InputError, match="described"):
        build_prompt(load_protocol(name), None, prompt="described", **options)
