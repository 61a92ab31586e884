"""Prompts for pictures of faces, and what accepted pictures still lack."""

from affectlab.stimuli.prompts.coverage import (
    ATTRIBUTES as ATTRIBUTES,
    WHOLE as WHOLE,
    CoverageMap as CoverageMap,
    accepted_images as accepted_images,
    awaiting_review as awaiting_review,
    coverage_map as coverage_map,
)
from affectlab.stimuli.prompts.faces import (
    NEUTRAL as NEUTRAL,
    FacePrompts as FacePrompts,
    face_prompts as face_prompts,
    neutral_prompts as neutral_prompts,
)
from affectlab.stimuli.prompts.fill import Undecided as Undecided, fill_prompts as fill_prompts
from affectlab.stimuli.prompts.plan import (
    PromptPlan as PromptPlan,
    load_prompt_plan as load_prompt_plan,
)
