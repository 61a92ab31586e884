"""Prompts made of protocols, and reading the answers to them."""

from affectlab.models.vlm.prompts.examples import Example, ShownBeforeError, read_examples
from affectlab.models.vlm.prompts.images import ImageLimits, ImagePart, image_part
from affectlab.models.vlm.prompts.json_objects import LONGEST
from affectlab.models.vlm.prompts.prompt import Prompt, Style, build_prompt
from affectlab.models.vlm.prompts.reading import Read, read_answer
from affectlab.models.vlm.prompts.schema import answer_schema, strict_schema
from affectlab.models.vlm.prompts.stimulus import Option, Stimulus

__all__ = [
    "LONGEST",
    "Example",
    "ImageLimits",
    "ImagePart",
    "Option",
    "Prompt",
    "Read",
    "ShownBeforeError",
    "Stimulus",
    "Style",
    "answer_schema",
    "build_prompt",
    "image_part",
    "read_answer",
    "read_examples",
    "strict_schema",
]
