"""BERTScore: how well the tokens of two texts match in the states of an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from affectlab._types import Bools
from affectlab.errors import InputError, unknown_name
from affectlab.models._checkpoints import fingerprint_of, fingerprint_of_weights
from affectlab.models._pretrained import check_place
from affectlab.models._torch import pick_device
from affectlab.models.embedding._transformers_checkpoint import load_network, read_checkpoint
from affectlab.models.text._pretrained import (
    context_of,
    fingerprint_of_tokenizer,
    load_tokenizer,
)
from affectlab.models.text_metrics._item import TextItem, check_items, name_of, text_items
from affectlab.models.text_metrics._layers import recommended_layer
from affectlab.models.text_metrics._load_network import model_name, pick_dtype
from affectlab.models.text_metrics._matching import Matcher, begins_with_a_space
from affectlab.models.text_metrics._scores import (
    OverReferences,
    TextScores,
    check_over,
    names_of,
    over_references,
    warn_of_cut_items,
)
from affectlab.models.text_metrics._tokens import CutTexts, cut_texts

__all__ = ["BertScore"]

_Direction: TypeAlias = Literal["precision", "recall", "f"]
_WAYS = {
    "precision": "candidate tokens in references",
    "recall": "reference tokens in candidates",
    "f": "harmonic mean of precision and recall",
}


class BertScore:
    """How well each token of a text matches the nearest token of another one.

    With states x_i of the candidate and y_j of the reference, of length 1:
    P = mean_i max_j x_i·y_j, R = mean_j max_i x_i·y_j, F = 2 P R / (P + R). Marks of start and end
    are not among the tokens whose mean is taken, but a token may match one, as in the package of
    the authors (bert-score 0.3.13). Neither weights by rarity nor baselines are applied.

    Parameters
    ----------
    model
        Folder or name of a checkpoint of an encoder.
    layer
        Whose states are compared; 0 are word vectors. None: the one that the authors recommend
        for a checkpoint or a folder of that name, or the last one. The name of the metric says
        which.
    direction
        ``"precision"``, ``"recall"`` or ``"f"``.
    references
        What becomes of several references: the ``"max"`` of their scores, as published, or the
        ``"mean"``.
    match_marks
        Whether tokens may match marks of start and end; torchmetrics leaves these out.
    batch_size, max_tokens, device, precision
        As for :class:`BartScore`.

    Raises
    ------
    InputError
        When a setting is not known, or the checkpoint cannot be used.

    Notes
    -----
    A tokenizer of pairs of bytes (RoBERTa, BART) is given a space before each text, as in that
    package: the first word is cut as it would be elsewhere in a sentence. One thing is not as
    there: where all cosines of a token are below 0, padding of a batch counts as 0 there.

    References
    ----------
    Zhang et al. (2020), BERTScore, section 3.

    Examples
    --------
    ::

        BertScore("roberta-large").score(["They won."], ["The team has won."]).scores
    """

    def __init__(
        self,
        model: str | Path = "roberta-large",
        *,
        layer: int | None = None,
        direction: _Direction = "f",
        references: OverReferences = "max",
        match_marks: bool = True,
        batch_size: int = 64,
        max_tokens: int | None = None,
        device: str = "auto",
        precision: str = "fp32",
    ) -> None:
        if direction not in get_args(_Direction):
            raise unknown_name("direction", direction, get_args(_Direction))
        check_over(references)
        if not isinstance(match_marks, bool):
            raise InputError(f"match_marks {match_marks!r}; expected true or false")
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise InputError(f"batch_size {batch_size!r}; expected a whole number from 1 on")
        self.model, self.direction, self.references = str(model), direction, references
        self.device, self.batch_size = pick_device(device), batch_size
        self.precision, dtype = pick_dtype(precision, self.device)
        check_place(self.model)
        checkpoint = read_checkpoint(self.model, "text")
        self.tokenizer = load_tokenizer(self.model)
        loaded = load_network(checkpoint, dtype)
        lacking = [name for name in loaded.lacking if "pooler" not in name]
        if lacking:
            raise InputError(
                f"checkpoint {self.model!r} lacks weights ({lacking[0]}, {len(lacking)} in all); "
                "expected an encoder of texts with its weights"
            )
        whole = loaded.network
        if getattr(checkpoint.config, "is_encoder_decoder", False):
            whole = whole.get_encoder()
        whole = getattr(whole, "text_model", whole)
        self.network: Any = whole.eval().requires_grad_(False).to(self.device)
        self.limit = context_of(self.network, self.tokenizer, max_tokens)
        self.layer = self._layer(layer)
        marks = ("cls", "sep", "bos", "eos", "pad")
        numbers = {getattr(self.tokenizer, f"{mark}_token_id", None) for mark in marks}
        self._marks = np.array(sorted(number for number in numbers if number is not None))
        self.match_marks, self._spaced = match_marks, begins_with_a_space(self.tokenizer)
        self._matcher = Matcher(
            self.network,
            self.layer,
            self.tokenizer.pad_token_id,
            self.device,
            batch_size,
            match_marks,
        )
        self.name = self._named(direction)

    def _layer(self, layer: int | None) -> int:
        last = int(self.network.config.num_hidden_layers)
        if layer is None:
            return recommended_layer(self.model, last)
        if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer <= last:
            raise InputError(
                f"layer {layer!r}; expected a whole number from 0 (word vectors) to {last}"
            )
        return layer

    def _named(self, direction: str) -> str:
        half = "" if self.precision == "fp32" else f", {self.precision}"
        half += "" if self.match_marks else ", no marks"
        return (
            f"BERTScore {direction} [{model_name(self.model)}, layer {self.layer}, "
            f"{self.references} of references{half}]"
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What was chosen, fit for JSON."""
        return {
            "model": model_name(self.model),
            "layer": self.layer,
            "direction": self.direction,
            "references": self.references,
            "match_marks": self.match_marks,
            "max_tokens": self.limit,
            "precision": self.precision,
        }

    def fingerprint(self) -> str:
        """Hash weights, tokenizer, layer, length and precision."""
        return fingerprint_of(
            fingerprint_of_weights(self.network),
            fingerprint_of_tokenizer(self.tokenizer),
            self.layer,
            self.limit,
            self.precision,
        )

    def score(
        self,
        candidates: Sequence[str] | Sequence[TextItem],
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    ) -> TextScores:
        """Score n candidates against their references.

        Parameters
        ----------
        candidates
            n texts, or n items that have their references.
        references
            n texts, or n lists of texts.

        Returns
        -------
        TextScores
            From -1 to 1; `parts` has precision, recall and F but for the score itself.

        Raises
        ------
        InputError
            When a text is empty or has no token, or an item has no reference.

        Warns
        -----
        TruncatedTextWarning
            When texts are longer than the model reads.
        """
        return self.score_items(text_items(candidates, references))

    def score_items(self, items: Sequence[TextItem]) -> TextScores:
        """Score items; see :meth:`score`."""
        check_items(items, "BERTScore", references=True)
        sizes = np.array([len(item.references) for item in items], dtype=np.int64)
        texts = [self._read(text) for item in items for text in (item.candidate, *item.references)]
        cut = cut_texts(self.tokenizer, texts, self.limit)
        own = cut.rows(self._read(item.candidate) for item in items)
        others = cut.rows(self._read(text) for item in items for text in item.references)
        counted = self._counted(cut)
        for place, item in enumerate(items):
            for text in (item.candidate, *item.references):
                if not counted[cut.place[self._read(text)]].any():
                    raise InputError(
                        f"{name_of(item, place)}: a text has no token that BERTScore could match; "
                        "expected words"
                    )
        found = self._matcher.matched(cut, counted, np.repeat(own, sizes), others)
        held = {
            way: over_references(values, sizes, self.references) for way, values in found.items()
        }
        longest, truncated = cut.of_items(own, others, sizes)
        warn_of_cut_items(self.name, truncated, cut.limit, int(cut.n_tokens.max(initial=0)))
        return TextScores(
            metric=self.name,
            scores=held.pop(self.direction),
            items=names_of(items),
            n_tokens=cut.n_tokens[own],
            n_reference_tokens=longest,
            truncated=truncated,
            limit=cut.limit,
            model=self.model,
            direction=_WAYS[self.direction],
            settings=self.settings,
            parts={self._named(way): values for way, values in held.items()},
        )

    def _read(self, text: str) -> str:
        """Give a text as it is cut into tokens."""
        return f" {text.strip()}" if self._spaced else text.strip()

    def _counted(self, cut: CutTexts) -> list[Bools]:
        return [~np.isin(ids, self._marks) for ids in cut.ids]
