"""What is known of a rater: the model, how it was asked, and which run controls which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from affectlab.models.vlm._controls import MAIN

if TYPE_CHECKING:
    from affectlab.models.vlm._question import Question
    from affectlab.models.vlm._rater import VlmRater
    from affectlab.models.vlm._run import Entry

__all__ = ["rater_rows"]


def rater_rows(
    rater: VlmRater, questions: Sequence[Question], entries: Sequence[Entry]
) -> list[dict[str, Any]]:
    """Attributes of the main run and of each control."""
    settings = rater.settings
    first = {question.control: question for question in reversed(questions)}
    left_out = {name for entry in entries for name in entry.record.not_sent}
    served = sorted({entry.record.served for entry in entries if entry.record.served})
    told = {
        "model": rater.model,
        "protocol": questions[0].design.protocol.name,
        "style": rater.style,
        "n_examples": len(rater.examples) or None,
        "at_most": rater.at_most,
        "reasons": rater.reasons,
        "structured": rater.structured,
        "label_order": "protocol" if rater.shuffle is None else f"shuffled, seed {rater.shuffle}",
        "temperature": None if "temperature" in left_out else settings.temperature,
        "top_p": None if "top_p" in left_out else settings.top_p,
        "max_tokens": settings.max_tokens,
        "sampling_seed": None if "seed" in left_out else settings.seed,
        "reasoning_effort": settings.reasoning_effort,
        "served": ", ".join(served) or None,
    }
    rows = []
    for control in dict.fromkeys(question.control for question in questions):
        main, version = control == MAIN, first[control].name
        rows.append(
            {
                "rater": rater.name if main else f"{rater.name} {control}",
                "rater_kind": "model",
                "prompt": f"{rater.style} {version[:8]}",
                "prompt_version": version,
                **told,
                "control": control,
                "of": None if main else rater.name,
            }
        )
    return rows
