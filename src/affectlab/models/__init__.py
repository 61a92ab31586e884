"""Asking machines: models are raters, and what they answer are ratings.

Texts are in :mod:`affectlab.models.text`; pictures become numbers in
:mod:`affectlab.models.embedding`, heads on these numbers are in :mod:`affectlab.models.heads`,
classifiers of pictures in :mod:`affectlab.models.vision`, learning from few labels in
:mod:`affectlab.models.semi`, learning from who answered what in
:mod:`affectlab.models.crowd`, losses that know emotions in :mod:`affectlab.models.losses`,
vision-language models in :mod:`affectlab.models.vlm`, any other model in
:mod:`affectlab.models.raters`, the loop of hinted annotation in :mod:`affectlab.models.hinted`, how
different two faces look in :mod:`affectlab.models.differences`, machines that write reactions in
:mod:`affectlab.models.reactions`, metrics of what was written in
:mod:`affectlab.models.text_metrics`, and those learned from preferences in
:mod:`affectlab.models.preference_metric`. What is used most is handed out here as well.
What needs torch or another library beyond the core install says so, and names the extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily

if TYPE_CHECKING:
    from affectlab.models import (
        augment,
        crowd,
        differences,
        embedding,
        heads,
        hinted,
        images,
        losses,
        metrics,
        preference_metric,
        raters,
        reactions,
        semi,
        text,
        text_metrics,
        vision,
        vlm,
    )
    from affectlab.models.answers import (
        count_improbable as count_improbable,
        label_overview as label_overview,
        times_chosen as times_chosen,
    )
    from affectlab.models.devices import (
        private_seed as private_seed,
        quiet_transformers as quiet_transformers,
    )
    from affectlab.models.differences import ExpressionMetric, difference, rate_differences
    from affectlab.models.embedding import Embeddings, embed
    from affectlab.models.heads import HeadBank
    from affectlab.models.hinted import annotate_until
    from affectlab.models.losses import EmotionRankLoss
    from affectlab.models.processes import (
        is_main_process as is_main_process,
        one_process as one_process,
    )
    from affectlab.models.raters import rate
    from affectlab.models.reactions import ReactionGenerator
    from affectlab.models.semi import train_semi
    from affectlab.models.text import TextClassifier
    from affectlab.models.vision import VisionClassifier
    from affectlab.models.vlm import rate_vlm

__all__ = [
    "Embeddings",
    "EmotionRankLoss",
    "ExpressionMetric",
    "HeadBank",
    "ReactionGenerator",
    "TextClassifier",
    "VisionClassifier",
    "annotate_until",
    "augment",
    "crowd",
    "difference",
    "differences",
    "embed",
    "embedding",
    "heads",
    "hinted",
    "images",
    "losses",
    "metrics",
    "preference_metric",
    "rate",
    "rate_differences",
    "rate_vlm",
    "raters",
    "reactions",
    "semi",
    "text",
    "text_metrics",
    "train_semi",
    "vision",
    "vlm",
]

if not TYPE_CHECKING:
    # Load a part when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
