"""From prompts to pictures: image generators as plugs, and the manifest of what they made.

:func:`generate_images` asks a generator for a picture of every prompt and keeps a manifest, which
is the stimulus table of a study. A generator is named (:func:`load_generator`), or is any function
from :class:`ImagePrompt` to pictures.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.stimuli.generation.generate import generate_images
from affectlab.stimuli.generation.generator import (
    ImageGenerator,
    ImagePrompt,
    MakesImages as MakesImages,
    Picture,
)
from affectlab.stimuli.generation.load import list_generators, load_generator
from affectlab.stimuli.generation.manifest import read_failed as read_failed, read_manifest
from affectlab.stimuli.generation.prompt_table import read_prompts

if TYPE_CHECKING:
    from affectlab.stimuli.generation.fill import fill_manifest as fill_manifest


__all__ = [
    "ImageGenerator",
    "ImagePrompt",
    "Picture",
    "generate_images",
    "list_generators",
    "load_generator",
    "read_manifest",
    "read_prompts",
]


if not TYPE_CHECKING:
    # Load what other rooms use when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
