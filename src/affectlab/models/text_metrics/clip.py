"""CLIPScore: how near a text is to an image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import shown
from affectlab.models.text_metrics.clip_formulas import clip_score, ref_clip_score
from affectlab.models.text_metrics.items import TextItem, check_items, name_of, text_items
from affectlab.models.text_metrics.networks import CutTexts, model_name
from affectlab.models.text_metrics.rows import ImageRows, TextRows
from affectlab.models.text_metrics.scores import TextScores, names_of, warn_of_cut_items
from affectlab.models.text_metrics.sentences import SENTENCES, candidate_sentence, check_template

__all__ = [
    "ClipScore",
    "RefClipScore",
    "ReferenceScale",
]


class ClipScore:
    """How near the candidate is to the image: w max(cos(image, candidate), 0).

    Parameters
    ----------
    model
        Folder or name of a checkpoint with a tower for images and one for texts.
    scale
        w.
    prefix
        Put before texts with a space, such as ``"A photo depicts"``; empty: nothing.
    sentence
        Template of the sentence that is built from the emotion and caption of an item and a text
        (``"socratis"``, ``"plain"``, or one of your own); None: texts are taken as they are.
        References are put into it, too.
    batch_size
        Texts, or images, at a time; it does not change a score.
    max_tokens
        Tokens of a text that are read; by default as many as the model can, 77 for CLIP.
    device, precision
        As for :class:`BartScore`.
    cache
        Folder that keeps encoded texts and images from run to run, by weights and content.

    Raises
    ------
    InputError
        When a setting is not known, or the checkpoint cannot be used.

    References
    ----------
    Hessel et al. (2021), CLIPScore, section 3. Deng et al. (2023), Socratis, section 4.

    Examples
    --------
    ::

        metric = ClipScore("openai/clip-vit-base-patch32", prefix="A photo depicts")
        metric.score(["a dog in the sea"], ["dog.jpg"]).mean
    """

    _title = "CLIPScore"
    _direction = "image and candidate"
    reads_references = False
    """Whether it looks at references, too."""

    def __init__(
        self,
        model: str | Path = "openai/clip-vit-base-patch32",
        *,
        scale: float = 2.5,
        prefix: str = "",
        sentence: str | None = None,
        batch_size: int = 64,
        max_tokens: int | None = None,
        device: str = "auto",
        precision: str = "fp32",
        cache: str | Path | None = None,
    ) -> None:
        if isinstance(scale, bool) or not isinstance(scale, int | float) or not scale > 0:
            raise InputError(f"scale {scale!r}; expected a number above 0, such as 2.5")
        if not math.isfinite(scale):
            raise InputError(f"scale {scale!r}; expected a number above 0, such as 2.5")
        if not isinstance(prefix, str):
            raise InputError(f"prefix {prefix!r}; expected a text")
        self.model, self.scale, self.prefix = str(model), float(scale), prefix.strip()
        self.sentence = None if sentence is None else str(sentence)
        if self.sentence is not None:
            check_template(self.sentence)
        where: dict[str, Any] = {
            "batch_size": batch_size,
            "device": device,
            "precision": precision,
            "cache": cache,
        }
        self.texts = TextRows(self.model, max_tokens=max_tokens, **where)
        self.images = ImageRows(self.model, **where)
        self.name = self._named(self._title, self._said())

    def _said(self) -> list[str]:
        """Give the settings that the name says."""
        said = [f"w {self.scale:g}"]
        if self.prefix:
            said.append(f"prefix '{shown(self.prefix, 40)}'")
        if self.sentence is not None:
            known = self.sentence in SENTENCES
            said.append(f"sentence {self.sentence if known else repr(shown(self.sentence, 60))}")
        return said

    def _named(self, title: str, said: Sequence[str]) -> str:
        half = [] if self.texts.precision == "fp32" else [self.texts.precision]
        return f"{title} [{', '.join([model_name(self.model), *said, *half])}]"

    @property
    def settings(self) -> dict[str, Any]:
        """What was chosen, fit for JSON."""
        return {
            "model": model_name(self.model),
            "scale": self.scale,
            "prefix": self.prefix,
            "sentence": self.sentence,
            "max_tokens": self.texts.limit,
            "precision": self.texts.precision,
        }

    def fingerprint(self) -> str:
        """Hash what decides on the rows of texts and of images."""
        return f"{self.texts.fingerprint()}-{self.images.fingerprint()}"

    def score(
        self, candidates: Sequence[str] | Sequence[TextItem], images: Sequence[Any] | None = None
    ) -> TextScores:
        """Score n candidates against their images.

        Parameters
        ----------
        candidates
            n texts, or n items that have their images.
        images
            n files, or n images of Pillow.

        Returns
        -------
        TextScores
            From 0 to w; `mean` is the score of the corpus.

        Raises
        ------
        InputError
            When a text is empty, or an image is missing or damaged.

        Warns
        -----
        TruncatedTextWarning
            When texts are longer than the model reads.
        """
        return self.score_items(text_items(candidates, None, images))

    def score_items(self, items: Sequence[TextItem]) -> TextScores:
        """Score items; see :meth:`score`."""
        check_items(items, self._title, references=self.reads_references, image=True)
        own = [self.sentence_of(item, place) for place, item in enumerate(items)]
        others = [
            [self._text(item, place, text) for text in item.references]
            if self.reads_references
            else []
            for place, item in enumerate(items)
        ]
        cut = self.texts.cut([*own, *(text for several in others for text in several)])
        candidate = self.texts.rows(own, cut)
        image = self.images.rows(
            [item.image for item in items],
            [name_of(item, place) for place, item in enumerate(items)],
        )
        cosine = np.einsum("ij,ij->i", image, candidate) if len(items) else np.zeros(0)
        scores, parts = self._scored(cosine, candidate, others, cut)
        at = cut.rows(own)
        n_others, truncated = _longest(others, cut)
        truncated |= cut.too_long(at)
        warn_of_cut_items(self.name, truncated, cut.limit, int(cut.n_tokens.max(initial=0)))
        return TextScores(
            metric=self.name,
            scores=scores,
            items=names_of(items),
            n_tokens=cut.n_tokens[at],
            n_reference_tokens=n_others,
            truncated=truncated,
            limit=cut.limit,
            model=self.model,
            direction=self._direction,
            settings=self.settings,
            parts=parts,
        )

    def _scored(
        self, cosine: Floats, candidate: Floats, others: list[list[str]], cut: CutTexts
    ) -> tuple[Floats, dict[str, Floats]]:
        """Give scores, and what they are made of."""
        del candidate, others, cut
        return clip_score(cosine, self.scale), {}

    def sentence_of(self, item: TextItem, index: int) -> str:
        """Give what is compared with the image: the candidate, its sentence, the prefix.

        Parameters
        ----------
        index
            Its number, for errors about items without a name.

        Raises
        ------
        InputError
            When the sentence has a field that is empty in the item.
        """
        return self._text(item, index, item.candidate)

    def _text(self, item: TextItem, place: int, text: str) -> str:
        if self.sentence is not None:
            try:
                text = candidate_sentence(
                    text, emotion=item.emotion, caption=item.caption, template=self.sentence
                )
            except InputError as error:
                raise InputError(f"{name_of(item, place)}: {error}") from None
        return f"{self.prefix} {text}" if self.prefix else text


def _longest(others: list[list[str]], cut: CutTexts) -> tuple[Ints, Bools]:
    """Give the most tokens of a reference of each item, and whether one is not read to the end."""
    n, long = np.zeros(len(others), dtype=np.int64), np.zeros(len(others), dtype=bool)
    for place, several in enumerate(others):
        if several:
            rows = cut.rows(several)
            n[place], long[place] = cut.n_tokens[rows].max(), cut.too_long(rows).any()
    return n, long


# RefCLIPScore: how near a text is to an image and to what people wrote.


ReferenceScale: TypeAlias = Literal["scaled", "unscaled"]


class RefClipScore(ClipScore):
    """The harmonic mean of CLIPScore and of how near the candidate is to the nearest reference.

    RefCLIP-S = H(CLIP-S(v, c), max(max_k cos(c, r_k), 0)).

    Parameters
    ----------
    reference_scale
        ``"scaled"``: CLIP-S with its w is in the harmonic mean, as published. ``"unscaled"``: the
        cosine of image and candidate without w is, which is the reading that the .42 of Socratis
        fits.
    scale, prefix, sentence, batch_size, max_tokens, device, precision, cache
        As for :class:`ClipScore`.
    """

    _title = "RefCLIPScore"
    _direction = "image and references, and candidate"
    reads_references = True

    def __init__(
        self,
        model: str | Path = "openai/clip-vit-base-patch32",
        *,
        reference_scale: ReferenceScale = "scaled",
        scale: float = 2.5,
        prefix: str = "",
        sentence: str | None = None,
        batch_size: int = 64,
        max_tokens: int | None = None,
        device: str = "auto",
        precision: str = "fp32",
        cache: str | Path | None = None,
    ) -> None:
        check_choice("reference_scale", reference_scale, get_args(ReferenceScale))
        self.reference_scale = reference_scale
        super().__init__(
            model,
            scale=scale,
            prefix=prefix,
            sentence=sentence,
            batch_size=batch_size,
            max_tokens=max_tokens,
            device=device,
            precision=precision,
            cache=cache,
        )

    def _said(self) -> list[str]:
        scaled = self.reference_scale == "scaled"
        return [*super()._said(), "scaled image" if scaled else "unscaled image"]

    @property
    def settings(self) -> dict[str, Any]:
        """What was chosen, fit for JSON."""
        return {**super().settings, "reference_scale": self.reference_scale}

    def score(
        self,
        candidates: Sequence[str] | Sequence[TextItem],
        images: Sequence[Any] | None = None,
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    ) -> TextScores:
        """Score n candidates against their images and references.

        Parameters
        ----------
        candidates
            n texts, or n items that have both.
        images
            n files, or n images of Pillow.
        references
            n texts, or n lists of texts.

        Returns
        -------
        TextScores
            `parts` has what the image and what the references say.

        Raises
        ------
        InputError
            When a text is empty, an item has no reference, or an image is missing or damaged.
        """
        return self.score_items(text_items(candidates, references, images))

    def _scored(
        self, cosine: Floats, candidate: Floats, others: list[list[str]], cut: CutTexts
    ) -> tuple[Floats, dict[str, Floats]]:
        flat = [text for several in others for text in several]
        sizes = np.array([len(several) for several in others], dtype=np.int64)
        nearest = np.zeros(0)
        if len(sizes):
            repeated = candidate[np.repeat(np.arange(len(sizes)), sizes)]
            each = np.einsum("ij,ij->i", repeated, self.texts.rows(flat, cut))
            start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            nearest = np.maximum.reduceat(each, start)
        of_references = np.maximum(nearest, 0.0)
        of_image = clip_score(cosine, self.scale if self.reference_scale == "scaled" else 1.0)
        parts = {
            self._named("CLIPScore", super()._said()): clip_score(cosine, self.scale),
            self._named("nearest reference", super()._said()[1:]): of_references,
        }
        return ref_clip_score(of_image, of_references), parts
