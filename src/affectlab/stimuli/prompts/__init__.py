"""Prompts for pictures of faces, and what accepted pictures still lack."""

from affectlab.stimuli.prompts.coverage import (
    ATTRIBUTES,
    WHOLE,
    CoverageMap,
    accepted_images,
    awaiting_review,
    coverage_map,
)
from affectlab.stimuli.prompts.faces import NEUTRAL, FacePrompts, face_prompts, neutral_prompts
from affectlab.stimuli.prompts.fill import Undecided, fill_prompts
from affectlab.stimuli.prompts.plan import PromptPlan, load_prompt_plan

__all__ = [
    "ATTRIBUTES",
    "NEUTRAL",
    "WHOLE",
    "CoverageMap",
    "FacePrompts",
    "PromptPlan",
    "Undecided",
    "accepted_images",
    "awaiting_review",
    "coverage_map",
    "face_prompts",
    "fill_prompts",
    "load_prompt_plan",
    "neutral_prompts",
]
