"""Text classifiers that choose one label: their probabilities sum to 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from affectlab.core.errors import InputError
from affectlab.models.text.decisions import DecisionRule
from affectlab.models.text.encoders.embedding import EmbeddingTextClassifier
from affectlab.models.text.encoders.transformer import TransformerTextClassifier
from affectlab.models.text.networks import NetworkTextClassifier, Problem

__all__ = ["ChoiceEmbeddingTextClassifier", "ChoiceTextClassifier", "log_odds"]


def log_odds(logits: Tensor) -> Tensor:
    r"""Give the log-odds of the softmax probabilities of logits, shape (n, C).

    .. math:: z_k - \log \sum_{j \ne k} e^{z_j}

    Their sigmoids are the probabilities that softmax gives, and so sum to 1.

    Examples
    --------
    >>> given = torch.tensor([[0.5, 2.0, -1.0]])
    >>> bool(torch.allclose(torch.sigmoid(log_odds(given)), torch.softmax(given, dim=1)))
    True
    """
    own = torch.eye(logits.shape[1], dtype=torch.bool, device=logits.device)
    others = logits[:, None, :].masked_fill(own, -torch.inf).logsumexp(dim=2)
    return logits - others


class _Choosing(NetworkTextClassifier):
    """What both back ends change: outputs are log-odds, and one label is answered."""

    def __init__(self, **settings: Any) -> None:
        if settings.get("levels"):
            raise InputError(
                f"back end {self.backend!r}: levels = {settings['levels']!r}; expected none: one "
                "label of all is chosen, and groups follow from it"
            )
        super().__init__(**{**settings, "levels": ()})
        self.plain_forward: Callable[[nn.Module, dict[str, Tensor]], Tensor] | None = None
        """Gives logits before they are made log-odds."""

    def _choosing(self, problem: Problem) -> Problem:
        plain = self.plain_forward = problem.forward
        return replace(problem, forward=lambda network, inputs: log_odds(plain(network, inputs)))

    def decision(self, level: str | None = None) -> DecisionRule:
        """Give the rule of a level; before tuning, the most probable label."""
        return replace(super().decision(level), at_least_one=True)


class ChoiceTextClassifier(_Choosing, TransformerTextClassifier):
    """A fine-tuned encoder that chooses one label for a text.

    As :class:`TransformerTextClassifier`, but outputs are log-odds of a softmax: probabilities
    exclude each other, and the most probable label is answered.
    :func:`affectlab.models.semi.train_semi` trains it on few labelled texts.

    Parameters
    ----------
    settings
        Of :class:`TransformerTextClassifier`, without `levels`.
    """

    backend: ClassVar[str] = "choice"
    problem_type: ClassVar[str] = "single_label_classification"

    def _problem(self, network: Any) -> Problem:
        return self._choosing(super()._problem(network))


class ChoiceEmbeddingTextClassifier(_Choosing, EmbeddingTextClassifier):
    """A frozen sentence encoder with a head that chooses one label for a text.

    As :class:`EmbeddingTextClassifier`, but outputs are log-odds of a softmax; see
    :class:`ChoiceTextClassifier`.

    Parameters
    ----------
    settings
        Of :class:`EmbeddingTextClassifier`, without `levels`.
    """

    backend: ClassVar[str] = "choice-embedding"

    def _build(self) -> Problem:
        return self._choosing(super()._build())
