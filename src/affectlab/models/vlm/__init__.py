"""Vision-language models as raters: prompts from protocols, asked through inspect-ai.

:func:`build_prompt` puts a protocol's question to a model in the words that people read, and
:func:`read_answer` reads what comes back. :func:`rate_vlm` asks a model about many images, keeps
every answer in a ledger, and gives ratings with the outcome of each question. Asking needs the
extra ``vlm``, which is imported when it is first used.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.vlm.asking import AskSettings, Budget, Prices, Retrying
from affectlab.models.vlm.asking.settings import is_provider as is_provider
from affectlab.models.vlm.prompts import build_prompt, read_answer, read_examples

if TYPE_CHECKING:
    from affectlab.models.vlm.annotator import VlmAnnotator
    from affectlab.models.vlm.material import find_material as find_material
    from affectlab.models.vlm.rater import (
        VlmRater,
        ask_questions as ask_questions,
        rate_vlm,
        split as split,
    )
    from affectlab.models.vlm.ratings_folder import (
        check_ratings_of as check_ratings_of,
        image_targets as image_targets,
    )
    from affectlab.models.vlm.run import VlmRun as VlmRun

__all__ = [
    "AskSettings",
    "Budget",
    "Prices",
    "Retrying",
    "VlmAnnotator",
    "VlmRater",
    "build_prompt",
    "rate_vlm",
    "read_answer",
    "read_examples",
]

if not TYPE_CHECKING:
    # Load what asks when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
