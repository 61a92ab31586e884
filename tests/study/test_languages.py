"""Pages in the language of those who come: the protocol's texts go with the buttons."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from affectlab.protocols import load_protocol
from affectlab.study import workload
from affectlab.study.delivery.answers import Submission
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store

from .conftest import FACES, TEXTS

Maker = Callable[..., Store]

TITLE = "\n[protocol]"


def spoken(text: str, languages: str) -> str:
    return text.replace(TITLE, f"\nlanguages = {languages}{TITLE}", 1)


@pytest.mark.parametrize("language", ["de", "es"])
def test_everyone_reads_the_protocol_in_their_language(make_study: Maker, language: str) -> None:
    store = make_study(spoken(FACES, f'["en", "{language}"]'))
    service = Service(store)
    read = {}
    for wanted in ("en", language):
        token = enter(store, Visitor(language=wanted))
        state = service.state(token)
        first = state["instructions"]["paragraphs"][0]
        trial = service.advance(token, "instructions", {})["trial"]
        read[wanted] = (first, trial["question"], trial["anchors"])
        # Labels keep the names by which answers are stored.
        assert [one["name"] for one in trial["labels"]] == list(store.study.protocol.labels())
        answer = {"ratings": {trial["labels"][0]["name"]: 3}}
        service.answer(token, Submission(int(trial["id"]), answer, wanted * 16, "radio", 900))
    own, other = load_protocol("intensity"), load_protocol("intensity").in_language(language)
    assert read["en"][1:] == (own.prompt, list(own.anchors or ()))
    assert read[language][1:] == (other.prompt, list(other.anchors or ()))
    assert own.instructions.strip().startswith(read["en"][0])
    assert other.instructions.strip().startswith(read[language][0])


def test_instructions_of_the_study_stand_in_every_language(make_study: Maker) -> None:
    text = spoken('instructions = "Look closely."\n' + FACES, '["de"]')
    store = make_study(text)
    state = Service(store).state(enter(store, Visitor(language="de")))
    assert state["instructions"]["paragraphs"] == ["Look closely."]


@pytest.mark.parametrize(
    ("text", "languages", "said"),
    [
        (FACES, '["de"]', "pages come in de, and the names of the labels in"),
        (FACES, '["en", "es"]', "the names of the labels and the texts of this file in"),
        (TEXTS, '["es"]', "pages come in es, and the names of the labels in"),
    ],
)
def test_what_check_says_of_languages(
    make_study: Maker, text: str, languages: str, said: str
) -> None:
    found = workload(make_study(spoken(text, languages)).study).warnings
    assert any(said in one for one in found)


def test_a_protocol_without_labels_is_translated_throughout(make_study: Maker) -> None:
    text = FACES.replace('name = "intensity"', 'name = "difference"')
    lines = [line for line in text.splitlines() if not line.startswith("change")]
    store = make_study(spoken("\n".join(lines) + "\n", '["de"]'))
    assert not any("study.languages" in one for one in workload(store.study).warnings)
    token = enter(store, Visitor(language="de"))
    trial = Service(store).advance(token, "instructions", {})["trial"]
    assert trial["question"] == load_protocol("difference").in_language("de").question
