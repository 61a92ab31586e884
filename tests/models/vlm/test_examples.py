"""Solved examples: they keep to the protocol, and apart from what is rated."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.models.images.files import ImageFile
from affectlab.models.vlm.prompts.examples import Example, read_examples
from affectlab.models.vlm.prompts.images import ImagePart, image_part
from affectlab.models.vlm.prompts.prompt import build_prompt
from affectlab.models.vlm.prompts.reading import read_answer
from affectlab.models.vlm.prompts.stimulus import Option, Stimulus
from affectlab.protocols import load_protocol

INTENSITY = load_protocol("intensity")


def picture(seed: int) -> Image.Image:
    values = np.random.default_rng(seed).integers(0, 256, (20, 16, 3), dtype=np.uint8)
    return Image.fromarray(values)


def part(seed: int) -> ImagePart:
    return image_part(picture(seed))


def written(folder: Path, text: str) -> Path:
    for number in range(3):
        picture(number).save(folder / f"{number}.png")
    path = folder / "examples.toml"
    path.write_text(text, encoding="utf-8")
    return path


def shot(protocol, example, **settings):
    return build_prompt(protocol, None, style="multi-shot", examples=[example], **settings)


def answer_in(prompt, number=1):
    """The answer of an example as it stands in a prompt."""
    line = next(
        line
        for line in prompt.text.splitlines()
        if line.startswith(f"Answer to example {number}: ")
    )
    return line.partition(": ")[2]


def test_examples_are_read_from_a_folder(tmp_path):
    written(
        tmp_path,
        """
        protocol = "intensity"

        [[examples]]
        image = "0.png"
        answer = { amusement = 6, "jealousy and envy" = 0 }
        reasons = { Amusement = "A wide, open smile." }

        [[examples]]
        described = "Tears run down the cheeks."
        answer = { Sadness = 7 }
        reasons = { Sadness = "Tears." }
        """,
    )
    first, second = read_examples(tmp_path, INTENSITY)
    assert first.stimulus.images[0].sha256 == ImageFile("0", tmp_path / "0.png").sha256
    assert second.described == "Tears run down the cheeks."
    prompt = build_prompt(
        INTENSITY,
        part(9),
        style="multi-shot",
        examples=[first, second],
        reasons=True,
        order_seed=4,
    )
    assert json.loads(answer_in(prompt)) == {
        "Amusement": {"reason": "A wide, open smile.", "value": 6},
        "Jealousy & Envy": {"reason": "", "value": 0},
    }
    assert json.loads(answer_in(prompt, 2)) == {"Sadness": {"reason": "Tears.", "value": 7}}
    assert str(tmp_path) not in prompt.text
    assert "0.png" not in prompt.text
    # Without reasons asked for, they stay away.
    bare = build_prompt(INTENSITY, part(9), style="multi-shot", examples=[first])
    assert json.loads(answer_in(bare)) == {"Amusement": 6, "Jealousy & Envy": 0}


CASES = [
    ("intensity", {}, Example({"Awe": 3, "Fear": None}, described="x")),
    ("intensity", {"structured": True}, Example({"Awe": 3, "Hope": 1}, described="x")),
    ("intensity", {"left_out": "zero", "at_most": 2}, Example({"Awe": 3}, described="x")),
    (
        "intensity",
        {"left_out": "zero", "structured": True, "reasons": True},
        Example({"Awe": 3}, described="x", reasons={"awe": "Wide eyes."}),
    ),
    ("verification", {"label": "Fear"}, Example({"awe": 1}, described="x", label="Awe")),
    (
        "verification",
        {"label": "Fear", "reasons": True},
        Example({"Awe": 1}, described="x", label="awe", reasons={"": "Wide eyes."}),
    ),
    ("review", {}, Example(["artefacts", "harmful"], described="x")),
    (
        "review",
        {"reasons": True},
        Example(
            {"chosen": ["other"], "suggestion": "upside down"},
            described="x",
            reasons={"other": "Seen from below."},
        ),
    ),
    ("difference", {}, Example(40, described="x")),
    ("difference", {"reasons": True}, Example(12.5, described="x", reasons={"": "Brows."})),
]


@pytest.mark.parametrize(("name", "settings", "example"), CASES)
def test_an_example_reads_as_an_answer(name, settings, example):
    protocol = load_protocol(name)
    prompt = shot(protocol, example, order_seed=3, **settings)
    # About the example's own label, where the protocol asks about one.
    own = {**settings, "label": example.label} if example.label else settings
    asked = build_prompt(protocol, None, order_seed=3, **own)
    read = read_answer(asked, protocol, answer_in(prompt))
    assert read.usable, (read.problem, read.schema_errors, read.rule_errors)
    assert read.repairs == ()
    assert protocol.check(read.answer) == []
    if name == "intensity":
        taxonomy = protocol.taxonomy()
        for label, value in example.answer.items():
            assert read.values[taxonomy.name_of(label)] == value
    elif name == "verification":
        assert read.values == {"Awe": 1.0}
        assert "awe, awestruck, wonder" in prompt.text
    elif name == "review":
        given = example.answer if isinstance(example.answer, list) else example.answer["chosen"]
        assert {label for label, value in read.values.items() if value} == set(given)
    else:
        assert read.values == {"": example.answer}


def test_entries_and_options_as_examples():
    reaction = load_protocol("reaction")
    entries = [{"emotion": "awe", "reason": "The waves are as tall as houses."}]
    shown = Stimulus((part(1),), ("a storm",))
    prompt = build_prompt(
        reaction,
        Stimulus((part(2),), ("a beach",)),
        style="multi-shot",
        examples=[Example(entries, shown)],
    )
    assert json.loads(answer_in(prompt)) == {"entries": entries}
    assert 'Text: "a storm"' in prompt.text
    preference = load_protocol("preference")
    example = Example("A", Stimulus(options=(Option("good"), Option("bad"))))
    for seed in range(8):
        prompt = build_prompt(
            preference,
            Stimulus(options=(Option("one"), Option("two"))),
            style="multi-shot",
            examples=[example],
            order_seed=seed,
        )
        letter = json.loads(answer_in(prompt))["answer"]
        assert letter == ("B" if prompt.swapped else "A")
        assert f'Option {letter}: "good"' in prompt.text


@pytest.mark.parametrize(
    ("name", "settings", "example", "match"),
    [
        ("intensity", {}, Example({"Awe": 8}, described="x"), "8 is off the scale"),
        ("intensity", {}, Example({"Aw": 1}, described="x"), "unknown label 'Aw'"),
        ("intensity", {}, Example({}, described="x"), "0 labels are rated; expected at least 1"),
        ("intensity", {}, Example({"Awe": 1}), "shows nothing"),
        (
            "intensity",
            {"at_most": 1},
            Example({"Awe": 1, "Fear": 2}, described="x"),
            "2 labels are above 0; expected at most 1",
        ),
        (
            "intensity",
            {"reasons": True},
            Example({"Awe": 1}, described="x"),
            "label 'Awe': the reason is empty",
        ),
        (
            "intensity",
            {"reasons": True},
            Example({"Awe": 1}, described="x", reasons={"Owe": "why"}),
            "reasons: .*unknown label 'Owe'",
        ),
        ("intensity", {}, Example({"Awe": 1}, described="x", label="Awe"), "expected none"),
        ("verification", {"label": "Awe"}, Example({"Awe": 1}, described="x"), "is missing"),
        (
            "verification",
            {"label": "Awe"},
            Example({"Fear": 1}, described="x", label="Awe"),
            "about another label than 'Awe'",
        ),
        ("intensity", {}, Example({"Awe": 1}, Stimulus(texts=("x",))), "shows image"),
        ("difference", {}, Example(101, described="x"), "101 is off the scale"),
        ("review", {}, Example(["fine", "other"], described="x"), "no other choice"),
        ("intensity", {}, Example([1], described="x"), "expected a value for each label"),
    ],
)
def test_examples_that_break_the_protocol_are_refused(name, settings, example, match):
    with pytest.raises(InputError, match=match):
        shot(load_protocol(name), example, **settings)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "key 'examples' is missing"),
        ("examples = []", "examples"),
        ('[[examples]]\nimage = "0.png"', "answer' is missing"),
        ('[[examples]]\nimage = "7.png"\nanswer = {Awe = 1}', "'7.png': no such file"),
        ('[[examples]]\nimage = "0.png"\nanswer = {Awe = 9}', "example 1: .*off the scale"),
        ('[[examples]]\nanswer = {Awe = nan}\ndescribed = "x"', "off the scale"),
        ('[[examples]]\nimage = "examples.toml"\nanswer = {Awe = 1}', "examples.toml"),
        ('[[examples]]\nimage = "0.png"\nimages = ["1.png"]\nanswer = {Awe = 1}', "the same"),
        ('[[examples]]\nfile = "0.png"\nanswer = {Awe = 1}', "'examples.0.file' is not known"),
        ('protocol = "review"\n[[examples]]\nanswer = ["fine"]', "not 'intensity'"),
        ("[[examples]\n", "not valid TOML"),
    ],
)
def test_files_that_cannot_be_used_are_refused(tmp_path, text, match):
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=match) as error:
        read_examples(path, INTENSITY)
    assert str(path) in str(error.value)


def test_a_folder_without_examples_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"examples\.toml: no such file"):
        read_examples(tmp_path, INTENSITY)


def test_pairs_texts_and_options_are_read(tmp_path):
    path = written(
        tmp_path,
        '[[examples]]\nimages = ["0.png", "1.png"]\nanswer = 30\nreason = "Mouths differ."',
    )
    (pair,) = read_examples(path, load_protocol("difference"))
    assert len(pair.stimulus.images) == 2
    assert pair.reasons == {"": "Mouths differ."}
    path.write_text('[[examples]]\ntext = "What a day!"\nanswer = ["joy"]')
    (text,) = read_examples(path, load_protocol("multilabel"))
    assert text.stimulus.texts == ("What a day!",)
    path.write_text(
        '[[examples]]\nanswer = "both"\noptions = [{text = "a"}, {image = "2.png", labels = ["x"]}]'
    )
    (two,) = read_examples(path, load_protocol("preference"))
    assert two.stimulus.options[1].image == image_part(tmp_path / "2.png")


# Apart from what is rated.


def test_a_stimulus_is_no_example_of_itself(tmp_path):
    shown = tmp_path / "a.png"
    picture(1).save(shown)
    again = tmp_path / "b.bmp"
    picture(1).save(again)
    examples = [Example({"Awe": 1}, described="x"), Example({"Awe": 1}, Stimulus((part(2),)))]
    leak = Example({"Awe": 1}, Stimulus((image_part(again),)))
    build_prompt(INTENSITY, image_part(shown), style="multi-shot", examples=examples)
    # The same pixels in another file.
    with pytest.raises(InputError, match="example 3 shows the stimulus itself"):
        build_prompt(INTENSITY, image_part(shown), style="multi-shot", examples=[*examples, leak])
    multilabel = load_protocol("multilabel")
    text = Example(["joy"], Stimulus(texts=("What a  day!",)))
    with pytest.raises(InputError, match="example 1 shows the stimulus itself"):
        build_prompt(
            multilabel,
            Stimulus(texts=("what a day!",)),
            style="multi-shot",
            examples=[text],
        )
