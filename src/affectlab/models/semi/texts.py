"""Texts, for a text classifier that chooses one label."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from affectlab.core.errors import InputError
from affectlab.core.types import Ints
from affectlab.core.words import joined
from affectlab.models.augment import StrongWords, WeakWords, load_augmentation
from affectlab.models.devices import pick_device, private_seed
from affectlab.models.semi.material import Material, MemoryRows, checked
from affectlab.models.semi.settings import SemiTraining
from affectlab.models.text import TruncatedTextWarning, check_texts, fingerprints
from affectlab.models.text.encoders import ChoiceEmbeddingTextClassifier, ChoiceTextClassifier
from affectlab.models.text.networks import EarlyStopping
from affectlab.models.vision import Feed, Report, codes_of, names_of_labels

__all__ = ["Words", "defaults", "finish", "of_texts"]

_Model = ChoiceTextClassifier | ChoiceEmbeddingTextClassifier
_FINE_TUNED = SemiTraining(epochs=10, batch_size=16, learning_rate=5e-5)
_HEAD = SemiTraining(epochs=50, batch_size=16, learning_rate=3e-3, patience=10)


class Words:
    """Texts as a feed: words are changed, and what comes out is cut into tokens anew."""

    def __init__(
        self,
        texts: Sequence[str],
        encode: Callable[[Sequence[str]], Sequence[Ints]],
        collate: Callable[[Sequence[Any]], dict[str, Tensor]],
        change: WeakWords | StrongWords | None,
    ) -> None:
        self.texts, self.encode, self.collate, self.change = tuple(texts), encode, collate, change
        self.names = tuple(f"text {at + 1}" for at in range(len(self.texts)))
        self._held: Sequence[Ints] | None = None

    def batch(self, rows: Ints, draw: Sequence[int] | None = None) -> dict[str, Tensor]:
        """Make a batch; where `draw` is given, each text is changed by a seed of its own."""
        if draw is None or self.change is None:
            if self._held is None:
                self._held = self.encode(self.texts)
            return self.collate([self._held[row] for row in rows.tolist()])
        changed = [
            self.change(self.texts[row], np.random.default_rng([*draw, row]))
            for row in rows.tolist()
        ]
        with warnings.catch_warnings():
            # Said once for all texts, before anything is learned.
            warnings.simplefilter("ignore", TruncatedTextWarning)
            return self.collate(self.encode(changed))

    def told(self) -> list[Any]:
        """Give the texts."""
        return [self.texts]


def defaults(model: Any) -> SemiTraining:
    """Give the settings that a model starts from.

    Raises
    ------
    InputError
        When it is none that can be trained here.
    """
    if isinstance(model, ChoiceEmbeddingTextClassifier):
        return _HEAD
    if isinstance(model, ChoiceTextClassifier):
        return _FINE_TUNED
    raise InputError(
        f"{type(model).__name__} cannot learn from unlabelled stimuli; expected a "
        "VisionClassifier, or a text classifier of back end 'choice' or 'choice-embedding'"
    )


def of_texts(
    model: _Model,
    labelled: tuple[Any, Any],
    unlabelled: Any,
    dev: tuple[Any, Any] | None,
    truth: Any,
    training: SemiTraining,
    progress: Report | None,
) -> Material:
    """Read texts, and make the network; see :func:`train_semi`.

    Words are changed where an encoder is trained with its head. Where the encoder is frozen, each
    text is embedded once, and its embedding is changed.
    """
    if model.settings().get("lora") is not None:
        raise InputError(
            "lora: learning from few labels trains all weights; expected a model without"
        )
    own = check_texts(labelled[0], "labelled")
    pool = check_texts(unlabelled, "unlabelled")
    labels = model.labels

    def codes(given: Any, texts: Sequence[str], what: str) -> Ints:
        names = tuple(f"text {at + 1}" for at in range(len(texts)))
        return codes_of(names_of_labels(given, names, model.taxonomy, what), labels, what)

    targets = codes(labelled[1], own, "labelled")
    missing = [name for at, name in enumerate(labels) if at not in set(targets.tolist())]
    if missing:
        raise InputError(
            f"no labelled text of {joined(missing[:5])}; expected one at least of each label of "
            f"taxonomy {model.taxonomy.name!r}: a text classifier has them all"
        )
    true = None if truth is None else codes(truth, pool, "truth of unlabelled")
    beside: tuple[tuple[str, ...], Ints] | None = None
    if dev is not None:
        given = check_texts(dev[0], "dev")
        beside = (given, codes(dev[1], given, "dev"))
    model.fitted = False
    # A vocabulary or the scale of features comes from all texts, labelled or not.
    model._prepare((*own, *pool))
    with private_seed(model.seed):
        model.problem = problem = model._build()
    frozen = isinstance(model, ChoiceEmbeddingTextClassifier)
    fed = _vectors if frozen else _tokens
    feeds = fed(model, own, pool, None if beside is None else beside[0], training, progress)
    assert model.plain_forward is not None
    return Material(
        network=problem.network,
        forward=model.plain_forward,
        output=problem.output,
        labels=labels,
        taxonomy=model.taxonomy,
        costs=None,
        seen=fingerprints(own),
        labelled=feeds[0],
        targets=targets,
        weak=feeds[1],
        strong=feeds[2],
        truth=true,
        dev=None if beside is None else (feeds[3], beside[1]),
    )


def _tokens(
    model: Any,
    own: Sequence[str],
    pool: Sequence[str],
    dev: Sequence[str] | None,
    training: SemiTraining,
    progress: Report | None,
) -> tuple[Feed, Feed, Feed, Feed]:
    """Texts whose words are changed."""
    weak = None if training.augment == "none" else load_augmentation(training.augment, "text")
    strong = load_augmentation(training.strong, "text")
    collate = model.problem.collate

    def fed(texts: Sequence[str], change: Any) -> Feed:
        return Words(texts, model._encode, collate, change)

    if progress is not None:
        progress("cutting texts into tokens", 0, 0)
    # Tells of texts that are too long, once.
    model._encode((*own, *pool))
    return fed(own, weak), fed(pool, weak), fed(pool, strong), fed(dev or own, None)


def _vectors(
    model: Any,
    own: Sequence[str],
    pool: Sequence[str],
    dev: Sequence[str] | None,
    training: SemiTraining,
    progress: Report | None,
) -> tuple[Feed, Feed, Feed, Feed]:
    """Texts that are embedded once, and whose embeddings are changed."""
    weak = None if training.augment == "none" else load_augmentation(training.augment, "embedding")
    strong = load_augmentation(training.strong, "embedding")
    device = pick_device(training.device)
    scale = model.problem.network.mean, model.problem.network.spread

    def rows(texts: Sequence[str], what: str) -> Tensor:
        names = [f"text {at + 1}" for at in range(len(texts))]
        found = np.asarray(model._encode(texts, progress), dtype=np.float32)
        return checked(found, names, what).to(device)

    def fed(values: Tensor, change: Any) -> Feed:
        names = [f"text {at + 1}" for at in range(len(values))]
        return MemoryRows(names, values, change, scale, "features")

    first, second = rows(own, "labelled"), rows(pool, "unlabelled")
    third = first if dev is None else rows(dev, "dev")
    return fed(first, weak), fed(second, weak), fed(second, strong), fed(third, None)


def finish(
    model: Any,
    material: Material,
    dev: tuple[Any, Any] | None,
    select: str,
    history: list[dict[str, float]],
    best: int,
    strategy: str,
) -> None:
    """Note in a model what it was trained on."""
    model.seen = material.seen
    model.decisions, model.scalings, model.tuning = {}, {}, {}
    # A file of JSON knows no nan.
    model.history = [{k: v for k, v in entry.items() if v == v} for entry in history]
    model.stopped_on = None
    if dev is not None:
        given = check_texts(dev[0], "dev")
        model.stopped_on = EarlyStopping.at(best, len(history), select, given)
    counts = np.bincount(material.targets, minlength=len(material.labels))
    model.fitted = True
    model.training = {
        "source": f"semi-supervised, {strategy}, {len(material.weak.names)} unlabelled",
        "n_texts": len(material.targets),
        "soft": False,
        "texts_per_label": {name: int(n) for name, n in zip(material.labels, counts, strict=True)},
    }
