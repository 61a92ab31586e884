"""Protocols, prompts and answers of tests that read what a model said."""

from __future__ import annotations

from typing import Any

from affectlab.evaluation.outcomes import Response, classify_outcome
from affectlab.models.vlm.prompts.prompt import Prompt, build_prompt
from affectlab.models.vlm.prompts.reading import Read, read_answer
from affectlab.models.vlm.prompts.stimulus import Option, Stimulus
from affectlab.protocols import Protocol, load_protocol

INTENSITY = load_protocol("intensity")
SMALL = INTENSITY.revise(
    asks={"taxonomy": None, "group_by": (), "labels": ("joy", "fear", "calm mood")},
)
FREE = build_prompt(SMALL, None)
CAPTION = Stimulus(texts=("a caption",))
TWO = Stimulus(options=(Option("one"), Option("two")))


def ask(name: str, **how: Any) -> tuple[Protocol, Prompt]:
    protocol = load_protocol(name)
    shown = {"text": CAPTION, "image and caption": CAPTION, "two options": TWO}
    return protocol, build_prompt(protocol, shown.get(protocol.stimulus), **how)


def small(text: str | None, **how: Any) -> Read:
    return read_answer(build_prompt(SMALL, None, **how) if how else FREE, SMALL, text)


def outcome(read: Read, text: str) -> str:
    return classify_outcome(
        Response(
            text=text,
            parsed=read.parsed,
            schema_errors=read.schema_errors,
            rule_errors=read.rule_errors,
        )
    )
