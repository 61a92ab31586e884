"""Texts of protocols in other languages."""

from __future__ import annotations

from pathlib import Path
from string import Formatter

import pytest

from affectlab.core.errors import InputError
from affectlab.protocols import Protocol, list_protocols, load_protocol

LANGUAGES = ("de", "es")
ONE = (
    'name = "one"\nstimulus = "text"\nquestion = "Good?"\nanswer = "value"\nscale = "1-5"\n'
    'anchors = ["bad", "good"]\n'
)


def places(text: str) -> set[str | None]:
    return {place for _, place, _, _ in Formatter().parse(text)} - {None}


@pytest.mark.parametrize("name", list_protocols())
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_built_in_ones_are_translated_throughout(name: str, language: str) -> None:
    protocol = load_protocol(name)
    found = protocol.in_language(language)
    assert protocol.untranslated(language) == ()
    assert found.question != protocol.question
    assert places(found.question) == places(protocol.question)
    assert found.instructions != protocol.instructions
    assert found.instructions.count("\n\n") == protocol.instructions.count("\n\n")
    # What is stored, and what decides about an answer, is the same.
    assert found.labels() == protocol.labels()
    assert [field.name for field in found.fields] == [field.name for field in protocol.fields]
    untouched = {"question", "prompt", "instructions", "anchors", "legend", "note", "fields"}
    assert found.model_dump(exclude=untouched) == protocol.model_dump(exclude=untouched)


def test_texts_without_a_translation_stay() -> None:
    protocol = Protocol.model_validate(
        {
            "name": "one",
            "stimulus": "text",
            "question": "Good?",
            "answer": "value",
            "scale": "1-5",
            "anchors": ["bad", "good"],
            "instructions": "Read it.",
            "translations": {"de": {"question": "Gut?"}},
        }
    )
    found = protocol.in_language("de")
    assert (found.question, found.anchors) == ("Gut?", ("bad", "good"))
    assert protocol.untranslated("de") == ("instructions", "anchors")
    assert protocol.in_language("fr") is protocol


def test_another_wording_loses_the_translations_of_the_old_one() -> None:
    protocol = load_protocol("difference")
    revised = protocol.revise(question="Who is older?")
    assert revised.in_language("de").question == "Who is older?"
    assert revised.in_language("de").anchors == protocol.in_language("de").anchors
    assert revised.untranslated("de") == ("question",)
    both = protocol.revise(
        question="Who is older?", translations={"de": {"question": "Wer ist älter?"}}
    )
    assert both.in_language("de").question == "Wer ist älter?"
    assert both.in_language("de").anchors == protocol.in_language("de").anchors
    assert both.in_language("es").question == "Who is older?"
    routed = protocol.revise(routing={"raters": 5})
    assert routed.untranslated("de") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[translations.german]\nquestion = "Gut?"\n', "two-letter code"),
        ('[translations.de]\nquestion = "Gut {name}?"\n', "place {name} is not known"),
        ('[translations.de]\nwhy = "?"\n', "why"),
        ('[translations.de]\nfields = { why = "Warum?" }\n', "no field is named 'why'"),
    ],
)
def test_bad_translations_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(ONE + text, encoding="utf-8")
    with pytest.raises(InputError, match=said.replace("{", r"\{").replace("}", r"\}")):
        load_protocol(path)


def test_anchors_of_a_protocol_without_any(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    text = ONE.replace('anchors = ["bad", "good"]\n', "")
    path.write_text(text + '[translations.de]\nanchors = ["a", "b"]\n', encoding="utf-8")
    with pytest.raises(InputError, match="the protocol has no anchors"):
        load_protocol(path)
