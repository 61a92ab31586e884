"""What is known of a rater: the model, how it was asked, and which run controls which."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from affectlab.models.vlm._controls import MAIN
from affectlab.models.vlm._record import Record
from affectlab.models.vlm._reply import STRUCTURED
from affectlab.models.vlm._served import other_models, rater_of

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
    rater: VlmRater,
    questions: Sequence[Question],
    entries: Sequence[Entry],
    known: Iterable[Record] = (),
) -> list[dict[str, Any]]:
    """Attributes of the main run and of each control, of each model that answered.

    Where another model answered than the one that was asked, it is another rater, whose row names
    it as ``other``.

    Parameters
    ----------
    known
        What the ledger holds of the model, in which the version is seen that answered first.
    """
    first = {question.control: question for question in reversed(questions)}
    not_sent = {name for entry in entries for name in entry.record.not_sent}
    told = how_asked(rater, not_sent)
    others = set(other_models(rater.model, (entry.record for entry in entries), known))
    answered: dict[str, set[str]] = {}
    for entry in entries:
        answered.setdefault(entry.question.control, set()).add(entry.record.served)
    rows = []
    for control in dict.fromkeys(question.control for question in questions):
        main, version = control == MAIN, first[control].name
        came = answered.get(control, {""})
        own = came - others
        for other in (*([None] if own else []), *sorted(came & others)):
            of = rater.name if other is None else rater_of(rater.name, other)
            name = rater.name if main else f"{rater.name} {control}"
            rows.append(
                {
                    "rater": name if other is None else rater_of(name, other),
                    "rater_kind": "model",
                    "prompt": f"{rater.style} {version[:8]}",
                    **told,
                    "prompt_version": version,
                    "served": other or next(iter(sorted(own - {""})), None),
                    "other": other,
                    "control": control,
                    "of": None if main else of,
                }
            )
    return rows
