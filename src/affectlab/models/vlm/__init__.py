"""Vision-language models as raters: prompts from protocols, asked through inspect-ai.

:func:`build_prompt` puts a protocol's question to a model in the words that people read, and
:func:`read_answer` reads what comes back. :func:`rate_vlm` asks a model about many images, keeps
every answer in a ledger, and gives ratings with the outcome of each question. Asking needs the
extra ``vlm``, which is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.models.vlm._ask_settings import AskSettings, Retrying
from affectlab.models.vlm._budget import Budget
from affectlab.models.vlm._cost import Prices, Usage
from affectlab.models.vlm._examples import Example
from affectlab.models.vlm._examples_read import read_examples
from affectlab.models.vlm._prompt import Prompt, build_prompt
from affectlab.models.vlm._prompt_image import ImageLimits, ImagePart, image_part
from affectlab.models.vlm._prompt_stimulus import Option, Stimulus
from affectlab.models.vlm._read import Read, read_answer
from affectlab.models.vlm._schema import answer_schema, strict_schema
from affectlab.models.vlm._served import OtherModelWarning

if TYPE_CHECKING:
    from affectlab.models.vlm._annotator import VlmAnnotator
    from affectlab.models.vlm._plan import Plan
    from affectlab.models.vlm._rate import rate_vlm
    from affectlab.models.vlm._rater import VlmRater
    from affectlab.models.vlm._run import VlmRun

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
    "Plan": "_plan",
    "VlmAnnotator": "_annotator",
    "VlmRater": "_rater",
    "VlmRun": "_run",
    "rate_vlm": "_rate",
}


def __getattr__(name: str) -> Any:
    """Load what asks when it is first used."""
    if name in _ASKING:
        return getattr(import_module(f"{__name__}.{_ASKING[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
