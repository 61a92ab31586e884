"""Encoders of transformers, fine-tuned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints
from affectlab.models.devices import quiet_transformers
from affectlab.models.text.encoders.pretrained import (
    context_of,
    encode,
    fingerprint_of_tokenizer,
    load_classifier,
    load_tokenizer,
)
from affectlab.models.text.explanations import Contributions
from affectlab.models.text.features import MASKS
from affectlab.models.text.labels import check_texts
from affectlab.models.text.model import Report
from affectlab.models.text.networks import NetworkTextClassifier, Problem, output_layer
from affectlab.models.text.settings import Training

__all__ = [
    "TransformerTextClassifier",
    "collate",
    "explain_gradients",
]

_FOLDER = "encoder"


class TransformerTextClassifier(NetworkTextClassifier):
    """A pretrained encoder with a dense layer on top, all of it trained.

    ``[NAME]`` and ``[RELIGION]``, which hide people in GoEmotions, are added as tokens. The model
    folder holds a checkpoint that transformers can load by itself (``encoder/``).

    Parameters
    ----------
    encoder
        Name of a checkpoint, or its folder: BERT, RoBERTa, ModernBERT, or any other that
        transformers knows for the classification of sequences.
    max_tokens
        Tokens of a text that are read; by default as many as the encoder can.
    settings
        Of :class:`NetworkTextClassifier`. By default as the paper has them: batches of 16,
        learning rate 5e-5, 4 epochs, and early stopping where there is a dev split.

    References
    ----------
    Demszky et al. (2020), GoEmotions, section 5.
    """

    backend: ClassVar[str] = "transformer"
    defaults: ClassVar[Training] = Training()

    def __init__(
        self,
        *,
        encoder: str | Path = "bert-base-cased",
        max_tokens: int | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.encoder, self.max_tokens = str(encoder), max_tokens
        self.tokenizer: Any = None
        self.limit = 0
        """Tokens that are read, once trained."""
        self._made_from: Callable[[], Any] | None = None

    def _own_settings(self) -> dict[str, Any]:
        return {"encoder": self.encoder, "max_tokens": self.max_tokens}

    def _prepare(self, texts: Sequence[str]) -> None:  # noqa: ARG002
        self.tokenizer = load_tokenizer(self.encoder, masks=True)
        self._made_from = None

    def _adopt(self, source: TransformerTextClassifier) -> None:
        self.tokenizer, self.encoder = source.tokenizer, source.encoder
        config = source._ready().network.config
        self._made_from = lambda: _of_config(config, self.plan.outputs)

    def _build(self) -> Problem:
        if self._made_from is not None:
            network = self._made_from()
        else:
            network = load_classifier(self.encoder, self.plan.outputs, self.tokenizer)
        return self._problem(network)

    def _problem(self, network: Any) -> Problem:
        output = output_layer(network, len(self.plan.outputs))
        if output is None:
            raise InputError(
                f"checkpoint {self.encoder!r} ({type(network).__name__}) has no dense layer on "
                "top; expected an encoder such as BERT, RoBERTa or ModernBERT"
            )
        self.limit = context_of(network, self.tokenizer, self.max_tokens)
        padding = self.tokenizer.pad_token_id
        return Problem(network, lambda encoded: collate(encoded, padding), _forward, output)

    def _encode(self, texts: Sequence[str], progress: Report | None = None) -> Sequence[Ints]:
        if progress is not None:
            progress("cutting texts into tokens", 0, 0)
        return encode(self.tokenizer, texts, self.limit)

    def explain(self, text: str, level: str | None = None) -> Contributions:
        """Say which words moved the logit of each label, to first order.

        The part of a word is the gradient of the logit at its vectors times these vectors
        (gradient x input). What the parts leave of the logit, with the part of the marks for start
        and end, is what a label starts from.

        Parameters
        ----------
        level
            Explain the level's own outputs.

        Raises
        ------
        InputError
            When the text is empty, or the level has no outputs of its own.

        References
        ----------
        Shrikumar, Greenside and Kundaje (2017), Learning important features through propagating
        activation differences, section 2.
        """

        problem = self._ready()
        (given,) = check_texts([text])
        part = self.plan.part(level)
        if part is None:
            raise InputError(
                f"level {level!r} has no outputs of its own; expected one of: "
                f"{', '.join(self.plan.levels) or 'none'}, or no level"
            )
        return explain_gradients(
            given,
            problem.network,
            self.tokenizer,
            self.limit,
            part,
            self.labels_at(level),
            self.predict_proba([given], level)[0],
        )

    def _reads(self) -> str:
        return fingerprint_of_tokenizer(self.tokenizer)

    def _save_network(self, folder: Path) -> None:
        network: Any = self._ready().network
        with quiet_transformers():
            network.save_pretrained(folder / _FOLDER)
            self.tokenizer.save_pretrained(folder / _FOLDER)

    def _load_network(self, folder: Path) -> None:
        place = folder / _FOLDER
        if not place.is_dir():
            raise InputError(f"{place}: no such folder; the model folder is not complete")
        self.tokenizer = load_tokenizer(str(place))
        network = load_classifier(str(place), self.plan.outputs, self.tokenizer, complete=True)
        network.eval()
        self.problem = self._problem(network)


def collate(encoded: Sequence[Ints], padding: int) -> dict[str, Tensor]:
    """Make a batch as long as its longest text."""
    longest = max(len(part) for part in encoded)
    ids = torch.full((len(encoded), longest), padding)
    mask = torch.zeros((len(encoded), longest), dtype=torch.long)
    for row, part in enumerate(encoded):
        ids[row, : len(part)] = torch.from_numpy(part)
        mask[row, : len(part)] = 1
    return {"input_ids": ids, "attention_mask": mask}


def _forward(network: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
    found: Tensor = network(**inputs).logits
    return found


def _of_config(config: Any, outputs: Sequence[str]) -> Any:
    """Make an untrained network of the same shape with other outputs."""
    from copy import deepcopy

    from transformers import AutoModelForSequenceClassification

    make: Any = AutoModelForSequenceClassification
    own = deepcopy(config)
    own.num_labels = len(outputs)
    own.id2label = dict(enumerate(outputs))
    own.label2id = {name: number for number, name in enumerate(outputs)}
    return make.from_config(own, trust_remote_code=False)


# Gradient x input: which words moved a prediction of a transformer.


def explain_gradients(
    text: str,
    network: Any,
    tokenizer: Any,
    limit: int,
    part: slice,
    labels: tuple[str, ...],
    probabilities: Floats,
) -> Contributions:
    """Share the gradient times the input among the words of a text."""
    device = next(network.parameters()).device
    (ids,) = encode(tokenizer, [text], limit)
    given = torch.from_numpy(ids).to(device)[None]
    k = len(labels)
    places = range(*part.indices(network.config.num_labels))
    network.eval()
    # One copy of the text per label, so that one pass back finds the gradients of all logits.
    vectors = network.get_input_embeddings()(given).detach().repeat(k, 1, 1).requires_grad_(True)
    mask = torch.ones(vectors.shape[:2], dtype=torch.long, device=device)
    with torch.enable_grad():
        logits = network(inputs_embeds=vectors, attention_mask=mask).logits
        own = logits[torch.arange(k), torch.tensor(list(places))]
        (gradient,) = torch.autograd.grad(own.sum(), vectors)
    moved = (gradient * vectors).sum(dim=-1).double().detach().cpu().numpy()
    tokens, owner = _words(text, ids, tokenizer, limit)
    parts = np.zeros((len(tokens), k))
    inside = owner >= 0
    np.add.at(parts, owner[inside], moved.T[inside])
    reached = own.double().detach().cpu().numpy()
    return Contributions(
        text,
        tuple(tokens),
        labels,
        parts,
        reached - parts.sum(axis=0),
        probabilities,
        "gradient x input: parts are a first-order guess, start is what they leave of the logit "
        "before calibration",
    )


def _words(text: str, ids: Any, tokenizer: Any, limit: int) -> tuple[list[str], Any]:
    """Words of a text, and the word that each of its tokens belongs to (-1: none)."""
    if not tokenizer.is_fast:
        # Without offsets into the text, every piece stands for itself.
        pieces = tokenizer.convert_ids_to_tokens(ids.tolist())
        special = set(tokenizer.all_special_tokens) - set(MASKS)
        kept = [row for row, piece in enumerate(pieces) if piece not in special]
        owner = np.full(len(ids), -1)
        owner[kept] = np.arange(len(kept))
        return [pieces[row] for row in kept], owner
    read = tokenizer(text, truncation=True, max_length=limit, return_offsets_mapping=True)
    owner = np.full(len(ids), -1)
    spans: list[list[int]] = []
    for row, (start, end) in enumerate(read["offset_mapping"]):
        while start < end and text[start].isspace():
            start += 1
        if start >= end:
            continue
        # Pieces that touch belong together, unless one is a mark.
        joined = bool(spans) and spans[-1][1] >= start and _is_word(text[spans[-1][0] : end])
        if joined:
            spans[-1][1] = max(end, spans[-1][1])
        else:
            spans.append([start, end])
        owner[row] = len(spans) - 1
    return [text[start:end] for start, end in spans], owner


def _is_word(text: str) -> bool:
    return all(sign.isalnum() or sign in "'’_" for sign in text)
