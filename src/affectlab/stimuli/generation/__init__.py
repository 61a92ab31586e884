"""From prompts to pictures: image generators as plugs, and the manifest of what they made.

:func:`generate_images` asks a generator for a picture of every prompt and keeps a manifest, which
is the stimulus table of a study. A generator is named (:func:`load_generator`), or is any function
from :class:`ImagePrompt` to pictures.
"""

from affectlab.stimuli.generation.generate import generate_images
from affectlab.stimuli.generation.generator import ImageGenerator, ImagePrompt, Picture
from affectlab.stimuli.generation.load import list_generators, load_generator
from affectlab.stimuli.generation.manifest import read_manifest
from affectlab.stimuli.generation.prompt_table import read_prompts

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
