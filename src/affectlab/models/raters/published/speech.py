"""Classifiers of speech whose head transformers has no class for: pooled states and two layers."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput

from affectlab.core.errors import check_choice

__all__ = ["RENAMED", "has_speech_head", "speech_classifier"]

RENAMED = {r"classifier\.output\.": "classifier.out_proj."}
"""Another name of the last layer in published weights, and ours."""
_POOLED: dict[str, Any] = {"mean": torch.mean, "sum": torch.sum, "max": torch.amax}


class _Head(nn.Module):
    def __init__(self, config: Any) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.out_proj = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, pooled: Tensor) -> Tensor:
        found: Tensor = self.out_proj(torch.tanh(self.dense(pooled)))
        return found


def has_speech_head(names: tuple[str, ...]) -> bool:
    """Whether weights of these names are those of such a head."""
    return "classifier.dense.weight" in names


def speech_classifier(config: Any) -> type:
    r"""Make the class of an encoder of sound with the head that most published ones have.

    .. math:: W_2 \tanh(W_1 \bar h + b_1) + b_2

    where :math:`\bar h` pools the states of the last layer over time as ``pooling_mode`` says
    (mean, sum or max; the mean where it says nothing). So were trained the checkpoints of the class
    ``Wav2Vec2ForSpeechClassification`` that circulates outside transformers, and audEERING's
    regression of arousal, dominance and valence.

    Raises
    ------
    InputError
        When states are pooled in another way.

    References
    ----------
    Wagner et al. (2023), Dawn of the transformer era in speech emotion recognition, section 3.
    """
    encoder: Any = transformers.MODEL_MAPPING[type(config)]
    mode = getattr(config, "pooling_mode", None) or "mean"
    check_choice("pooling_mode", mode, tuple(_POOLED))

    class SpeechClassifier(encoder.__mro__[1]):  # type: ignore[misc]
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            setattr(self, self.base_model_prefix, encoder(config))
            self.classifier = _Head(config)
            self.post_init()

        def forward(self, **inputs: Tensor) -> SequenceClassifierOutput:
            states = getattr(self, self.base_model_prefix)(**inputs).last_hidden_state
            return SequenceClassifierOutput(logits=self.classifier(_POOLED[mode](states, dim=1)))

    return SpeechClassifier
