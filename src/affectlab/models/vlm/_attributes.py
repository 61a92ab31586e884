"""What is known of a rater: the model, how it was asked, and which run controls which."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from affectlab.models.vlm._controls import MAIN
from affectlab.models.vlm._reply import STRUCTURED

if TYPE_CHECKING:
    from affectlab.models.vlm._question import Question
    from affectlab.models.vlm._rater import VlmRater
    from affectlab.models.vlm._run import Entry

__all__ = ["how_asked", "rater_rows"]


def how_asked(rater: VlmRater, not_sent: Collection[str] = ()) -> dict[str, Any]:
    """Attributes that say how a rater asks; a setting that is not sent is None.

    Parameters
    ----------
    not_sent
        Settings that the model does not take.
    """
    settings, design = rater.settings, rater.design()
    prompt = design.blank()
    return {
        "model": rater.model,
        "protocol": design.protocol.name,
        "prompt_version": prompt.design,
        "style": rater.style,
        "n_examples": len(rater.examples) or None,
        "at_most": rater.at_most,
        "left_out": prompt.left_out if prompt.labels else None,
        "reasons": rater.reasons,
        "structured": rater.structured and STRUCTURED not in not_sent,
        "label_order": "protocol" if rater.shuffle is None else f"shuffled, seed {rater.shuffle}",
        "temperature": None if "temperature" in not_sent else settings.temperature,
        "top_p": None if "top_p" in not_sent else settings.top_p,
        "max_tokens": settings.max_tokens,
        "sampling_seed": None if "seed" in not_sent else settings.seed,
        "reasoning_effort": settings.reasoning_effort,
    }


def rater_rows(
    rater: VlmRater, questions: Sequence[Question], entries: Sequence[Entry]
) -> list[dict[str, Any]]:
    """Attributes of the main run and of each control."""
    first = {question.control: question for question in reversed(questions)}
    not_sent = {name for entry in entries for name in entry.record.not_sent}
    served = sorted({entry.record.served for entry in entries if entry.record.served})
    told = how_asked(rater, not_sent)
    rows = []
    for control in dict.fromkeys(question.control for question in questions):
        main, version = control == MAIN, first[control].name
        rows.append(
            {
                "rater": rater.name if main else f"{rater.name} {control}",
                "rater_kind": "model",
                "prompt": f"{rater.style} {version[:8]}",
                **told,
                "prompt_version": version,
                "served": ", ".join(served) or None,
                "control": control,
                "of": None if main else rater.name,
            }
        )
    return rows
