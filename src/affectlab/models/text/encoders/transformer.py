"""Encoders of transformers, fine-tuned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints
from affectlab.models.devices import private_seed, quiet_transformers
from affectlab.models.pretrained import label_names
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
from affectlab.models.text.networks import (
    NetworkTextClassifier,
    Problem,
    load_weights,
    output_layer,
    save_weights,
)
from affectlab.models.text.settings import Training, check_values

__all__ = [
    "TransformerTextClassifier",
    "collate",
    "explain_gradients",
]

_GROUPS = "groups.safetensors"
"""Weights of the outputs for groups, which users of the checkpoint know nothing of."""


class TransformerTextClassifier(NetworkTextClassifier):
    """A pretrained encoder with a dense layer on top, all of it trained.

    ``[NAME]`` and ``[RELIGION]``, which hide people in GoEmotions, are added as tokens. The model
    folder is a checkpoint that transformers can load by itself, whose outputs are the labels; those
    for groups lie beside it (``groups.safetensors``).

    Parameters
    ----------
    encoder
        Name of a checkpoint, or its folder: BERT, RoBERTa, ModernBERT, or any other that
        transformers knows for the classification of sequences.
    max_tokens
        Tokens of a text that are read; by default as many as the encoder can.
    lora
        Rank of low-rank updates that are learned in place of the encoder's weights, with alpha
        twice the rank; None: all weights are learned. peft's layers of the architecture are
        updated, usually those of queries and values, and where it names none all dense ones. What
        lies above the encoder is learned as a whole. After training updates are part of the
        weights.
    settings
        Of :class:`NetworkTextClassifier`. By default as the paper has them: batches of 16,
        learning rate 5e-5, 4 epochs, and early stopping where there is a dev split.

    References
    ----------
    Demszky et al. (2020), GoEmotions, section 5. Hu et al. (2022), LoRA, section 4.
    """

    backend: ClassVar[str] = "transformer"
    library: ClassVar[str] = "transformers"
    problem_type: ClassVar[str] = "multi_label_classification"
    """What a checkpoint says that its outputs are."""
    defaults: ClassVar[Training] = Training()

    def __init__(
        self,
        *,
        encoder: str | Path = "bert-base-cased",
        max_tokens: int | None = None,
        lora: int | None = None,
        **settings: Any,
    ) -> None:
        check_values({"lora": lora}, "transformer")
        super().__init__(**settings)
        self.encoder, self.max_tokens, self.lora = str(encoder), max_tokens, lora
        self.tokenizer: Any = None
        self.limit = 0
        """Tokens that are read, once trained."""
        self._made_from: Callable[[], Any] | None = None

    def _own_settings(self) -> dict[str, Any]:
        return {"encoder": self.encoder, "max_tokens": self.max_tokens, "lora": self.lora}

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
            network = load_classifier(
                self.encoder, self.plan.outputs, self.tokenizer, problem_type=self.problem_type
            )
        return self._problem(network)

    @contextmanager
    def _adapted(self, network: Any) -> Iterator[None]:
        if self.lora is None:
            yield
            return
        if self._start is not None and self._start[1]:
            raise InputError(
                f"lora = {self.lora}: with freeze the last layer alone is trained; expected one of "
                "them"
            )
        try:
            from peft import LoraConfig, LoraModel
            from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as KNOWN
        except ModuleNotFoundError:
            raise InputError(
                f"lora = {self.lora} needs the library peft; install it with: "
                f"{install_line('models')}"
            ) from None
        encoder = network.base_model
        config = LoraConfig(r=self.lora, lora_alpha=2 * self.lora)
        if encoder.config.model_type not in KNOWN:
            config.target_modules = "all-linear"
        with private_seed(self.seed):
            adapters = LoraModel(encoder, config, "default")
        # BERT's pooler counts as part of the encoder, and many checkpoints lack its weights.
        if getattr(encoder, "pooler", None) is not None:
            encoder.pooler.requires_grad_(True)
        yield
        adapters.merge_and_unload()

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
        """Write a checkpoint whose outputs are the labels, and those for groups beside it."""
        problem = self._ready()
        network: Any = problem.network
        k = len(self.labels)
        last = next(name for name, part in network.named_modules() if part is problem.output)
        state = network.state_dict()
        rows = {name: state[name] for name in state if name.rpartition(".")[0] == last}
        labels_alone = {**state, **{name: part[:k].clone() for name, part in rows.items()}}
        with quiet_transformers():
            network.save_pretrained(folder, state_dict=labels_alone)
            config = deepcopy(network.config)
            config.update(label_names(self.labels))
            config.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        if k < problem.output.out_features:
            groups = _like(problem.output, problem.output.out_features - k)
            groups.load_state_dict({name.rpartition(".")[2]: p[k:] for name, p in rows.items()})
            save_weights(groups, folder / _GROUPS)

    def _load_network(self, folder: Path) -> None:
        place = str(folder.resolve())
        self.tokenizer = load_tokenizer(place)
        network = load_classifier(
            place, self.labels, self.tokenizer, problem_type=self.problem_type, complete=True
        )
        n_groups = len(self.plan.outputs) - len(self.labels)
        labels = output_layer(network, len(self.labels))
        if n_groups and labels is not None:
            groups = _like(labels, n_groups)
            load_weights(groups, folder / _GROUPS)
            both = _like(labels, len(self.plan.outputs))
            own, beside = labels.state_dict(), groups.state_dict()
            both.load_state_dict({name: torch.cat([own[name], beside[name]]) for name in own})
            _put(network, labels, both)
        network.eval()
        self.problem = self._problem(network)


def _like(layer: nn.Linear, n_outputs: int) -> nn.Linear:
    """Make a dense layer on the same inputs, with other outputs."""
    return nn.Linear(layer.in_features, n_outputs, bias=layer.bias is not None)


def _put(network: nn.Module, old: nn.Module, new: nn.Module) -> None:
    """Put a layer in the place of another."""
    name = next(name for name, part in network.named_modules() if part is old)
    parent, _, own = name.rpartition(".")
    setattr(network.get_submodule(parent), own, new)


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
    from transformers import AutoModelForSequenceClassification

    make: Any = AutoModelForSequenceClassification
    own = deepcopy(config)
    own.update(label_names(outputs))
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
    network.eval()
    # One copy of the text per label, so that one pass back finds the gradients of all logits.
    vectors = network.get_input_embeddings()(given).detach().repeat(k, 1, 1).requires_grad_(True)
    mask = torch.ones(vectors.shape[:2], dtype=torch.long, device=device)
    with torch.enable_grad():
        logits = network(inputs_embeds=vectors, attention_mask=mask).logits
        own = logits[torch.arange(k), torch.arange(part.start, part.stop)]
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
