"""The layers whose states make the best BERTScore, as its authors found."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

__all__ = ["recommended_layer"]

_LAYERS = MappingProxyType(
    {
        "bert-base-uncased": 9,
        "bert-large-uncased": 18,
        "bert-base-multilingual-cased": 9,
        "roberta-base": 10,
        "roberta-large": 17,
        "roberta-large-mnli": 19,
        "xlm-roberta-base": 9,
        "xlm-roberta-large": 17,
        "distilbert-base-uncased": 5,
        "distilroberta-base": 5,
        "microsoft/deberta-large-mnli": 18,
        "microsoft/deberta-xlarge-mnli": 40,
        "microsoft/mpnet-base": 8,
    }
)
"""By the name of the checkpoint, from the table of bert-score 0.3.13."""
_ORGANISATIONS = ("google-bert/", "FacebookAI/", "distilbert/")
"""Under which the same checkpoints stand today."""


def recommended_layer(model: str, last: int) -> int:
    """Give the layer that the authors of BERTScore recommend for a checkpoint, or the last one.

    Parameters
    ----------
    model
        Name of a checkpoint, or a folder, whose own name is looked up.
    last
        Number of the last layer.

    Examples
    --------
    >>> recommended_layer("FacebookAI/roberta-large", 24), recommended_layer("mine/encoder", 6)
    (17, 6)
    """
    name = Path(model).resolve().name if Path(model).is_dir() else model
    for start in _ORGANISATIONS:
        name = name.removeprefix(start)
    layer = next(
        (layer for known, layer in _LAYERS.items() if name in (known, known.split("/")[-1])), last
    )
    # A folder may have the name of a checkpoint, and hold a smaller network.
    return min(layer, last)
