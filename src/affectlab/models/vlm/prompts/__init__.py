"""Prompts made of protocols, and reading the answers to them."""

from affectlab.models.vlm.prompts.examples import (
    Example as Example,
    ShownBeforeError as ShownBeforeError,
    read_examples as read_examples,
)
from affectlab.models.vlm.prompts.form import Style as Style, Wording as Wording
from affectlab.models.vlm.prompts.images import (
    ImageLimits as ImageLimits,
    ImagePart as ImagePart,
    image_part as image_part,
)
from affectlab.models.vlm.prompts.json_objects import LONGEST as LONGEST
from affectlab.models.vlm.prompts.prompt import (
    Prompt as Prompt,
    build_prompt as build_prompt,
)
from affectlab.models.vlm.prompts.published import (
    PublishedPrompt as PublishedPrompt,
    read_prompt_file as read_prompt_file,
)
from affectlab.models.vlm.prompts.reading import (
    Read as Read,
    read_answer as read_answer,
    read_sign as read_sign,
)
from affectlab.models.vlm.prompts.readout import Readout as Readout, one_at_a_time as one_at_a_time
from affectlab.models.vlm.prompts.schema import (
    answer_schema as answer_schema,
    strict_schema as strict_schema,
)
from affectlab.models.vlm.prompts.sounds import SoundPart as SoundPart, sound_part as sound_part
from affectlab.models.vlm.prompts.stimulus import (
    Option as Option,
    Stimulus as Stimulus,
    shown_counts as shown_counts,
)
