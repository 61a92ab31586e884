"""Asking machines: models are raters, and what they answer are ratings.

Texts are in :mod:`affectlab.models.text`; pictures become numbers in
:mod:`affectlab.models.embedding`, heads on these numbers are in :mod:`affectlab.models.heads`,
vision-language models in :mod:`affectlab.models.vlm`, other raters of faces in
:mod:`affectlab.models.raters`, and the loop of hinted annotation in :mod:`affectlab.models.hinted`.
What needs torch or another library beyond the core install says so, and names the extra.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from affectlab.models import embedding, heads, hinted, images, raters, text, vlm
    from affectlab.models.embedding import Embeddings, embed, load_encoder
    from affectlab.models.heads import HeadBank
    from affectlab.models.hinted import annotate_until
    from affectlab.models.raters import rate_faces
    from affectlab.models.text import TextClassifier
    from affectlab.models.vlm import rate_vlm

__all__ = [
    "Embeddings",
    "HeadBank",
    "TextClassifier",
    "annotate_until",
    "embed",
    "embedding",
    "heads",
    "hinted",
    "images",
    "load_encoder",
    "rate_faces",
    "rate_vlm",
    "raters",
    "text",
    "vlm",
]

_NAMES = {
    "Embeddings": "embedding",
    "HeadBank": "heads",
    "TextClassifier": "text",
    "annotate_until": "hinted",
    "embed": "embedding",
    "load_encoder": "embedding",
    "rate_faces": "raters",
    "rate_vlm": "vlm",
}


def __getattr__(name: str) -> Any:
    """Load a part when it is first used."""
    if name in _NAMES:
        return getattr(import_module(f"affectlab.models.{_NAMES[name]}"), name)
    if name in __all__:
        return import_module(f"affectlab.models.{name}")
    raise AttributeError(f"module 'affectlab.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
