"""Vision-language models as raters: prompts from protocols, asked through inspect-ai.

:func:`build_prompt` puts a protocol's question to a model in the words that people read, and
:func:`read_answer` reads what comes back. :func:`rate_vlm` asks a model about many images, keeps
every answer in a ledger, and gives ratings with the outcome of each question. Asking needs the
extra ``vlm``, which is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.models.vlm.asking import (
    AskSettings,
    Budget,
    OtherModelWarning,
    Prices,
    Retrying,
    Usage,
)
from affectlab.models.vlm.prompts import (
    Example,
    ImageLimits,
    ImagePart,
    Option,
    Prompt,
    Read,
    Stimulus,
    answer_schema,
    build_prompt,
    image_part,
    read_answer,
    read_examples,
    strict_schema,
)

if TYPE_CHECKING:
    from affectlab.models.vlm.annotator import VlmAnnotator
    from affectlab.models.vlm.asking import Plan
    from affectlab.models.vlm.rater import VlmRater, rate_vlm
    from affectlab.models.vlm.run import VlmRun

__all__ = [
    "AskSettings",
    "Budget",
    "Example",
    "ImageLimits",
    "ImagePart",
    "Option",
    "OtherModelWarning",
    "Plan",
    "Prices",
    "Prompt",
    "Read",
    "Retrying",
    "Stimulus",
    "Usage",
    "VlmAnnotator",
    "VlmRater",
    "VlmRun",
    "answer_schema",
    "build_prompt",
    "image_part",
    "rate_vlm",
    "read_answer",
    "read_examples",
    "strict_schema",
]

_ASKING = {
    "Plan": "asking.plan",
    "VlmAnnotator": "annotator",
    "VlmRater": "rater",
    "VlmRun": "run",
    "rate_vlm": "rater",
}


def __getattr__(name: str) -> Any:
    """Load what asks when it is first used."""
    if name in _ASKING:
        return getattr(import_module(f"{__name__}.{_ASKING[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
