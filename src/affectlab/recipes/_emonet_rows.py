"""Who is compared in EmoNet-Face: the rows of Table 6, their groups, and the figures they have."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = [
    "GROUPS",
    "LARGE",
    "MODELS",
    "OWN",
    "PEOPLE",
    "RANDOM",
    "SMALL",
    "STAND_INS",
    "VLM_NAMES",
    "families_of",
    "key_of",
    "paper_name",
]

PEOPLE = tuple(f"human-{k}" for k in range(1, 9))
SMALL, LARGE = "Empathic Insight Face Small", "Empathic Insight Face Large"
RANDOM = "Random Baseline"
OWN = "EmpathicInsight-Face"

MODELS = {
    LARGE: OWN,
    SMALL: OWN,
    "Hume Face*": "proprietary",
    "Gemini 2.5 Flash MS": "VLM, multi-shot",
    "Gemini 2.0 Flash MS": "VLM, multi-shot",
    "Claude 3.7 MS": "VLM, multi-shot",
    "Gemini 2.5 Pro 03-25 ZS": "VLM, zero-shot",
    "Gemini 2.0 Flash ZS": "VLM, zero-shot",
    "Gemini 2.5 Flash ZS": "VLM, zero-shot",
    "Qwen Plus ZS": "VLM, zero-shot",
    "Pixtral Large ZS": "VLM, zero-shot",
    "GPT-4o ZS": "VLM, zero-shot",
    "Nova Pro ZS": "VLM, zero-shot",
    RANDOM: "random baseline",
}
"""Models as the published file names them, and the group that each belongs to in Figure 3."""

GROUPS = {
    "proprietary": "proprietary",
    "multi-shot": "VLM, multi-shot",
    "zero-shot": "VLM, zero-shot",
    "random": RANDOM.lower(),
}
"""Key of a published test, and the group that the paper's own models are compared with."""

STAND_INS = {
    name: "~" + name.replace("Empathic Insight Face", "EIF").replace(" 03-25", "").replace("*", "")
    for name in MODELS
}
"""Model to the name of what stands in for it in a simulation: nobody should take that for it."""
_STOOD_FOR = {short: name for name, short in STAND_INS.items()}

VLM_NAMES = (
    "Gemini 2.5 Pro", "Gemini 2.5 Flash", "Gemini 2.0 Flash", "Claude 3.7", "GPT-4o", "Nova Pro",
    "Pixtral Large", "Qwen Plus",
)  # fmt: skip
"""Vision-language models of Table 3."""


def paper_name(name: str) -> str:
    """Give the name that a model has in the paper; of a stand-in, that of the model it stands for.

    Examples
    --------
    >>> paper_name("~Hume Face")
    'Hume Face*'
    """
    return _STOOD_FOR.get(name, name)


def key_of(name: str) -> str:
    """Give the part of a key that stands for a rater.

    Examples
    --------
    >>> key_of("~Gemini 2.5 Pro ZS")
    'gemini-2-5-pro-03-25-zs'
    """
    return re.sub(r"[^a-z0-9]+", "-", paper_name(name).lower()).strip("-")


def families_of(names: Iterable[str]) -> dict[str, str]:
    """Give the group of each model; one that the paper does not have is a group of its own."""
    return {name: MODELS.get(paper_name(name), name) for name in names}
