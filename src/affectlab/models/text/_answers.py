"""What a model says of texts at a level: probabilities, and what is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from affectlab._types import Bools, Floats
from affectlab.errors import unknown_name
from affectlab.models.text._labels import check_texts
from affectlab.models.text._levels import level_logits, membership

if TYPE_CHECKING:
    from affectlab.models.text._base import TextClassifier

__all__ = ["answers"]


def answers(
    model: TextClassifier,
    texts: Iterable[str],
    level: str | None,
    coherent: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[Floats, Bools]:
    """Give probabilities at a level and the groups that are chosen there, shape (n, groups).

    Chosen are those whose probability reaches the threshold of the level; or, `coherent`, those of
    the labels that are chosen without a level.

    Raises
    ------
    InputError
        When the model is not trained, a text is empty or no string, or there is no such level.
    """
    model._require_fitted()
    if level is not None and level not in model.taxonomy.levels:
        raise unknown_name("level", level, model.taxonomy.levels, model.taxonomy.name)
    outputs = model._logits(check_texts(texts), progress)

    def said(level: str | None) -> Floats:
        logits = level_logits(model.plan, outputs, level, model.group_scores)
        return model._scaling(level).apply(logits)

    probabilities = said(level)
    if level is None or not coherent:
        return probabilities, model.decision(level).decide(probabilities)
    chosen: Bools = model.decision().decide(said(None)) @ membership(model.taxonomy, level)
    return probabilities, chosen
