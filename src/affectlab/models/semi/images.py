"""Images and their embeddings, for a :class:`VisionClassifier`."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from torch import nn

from affectlab.core.errors import InputError
from affectlab.models.augment import AugmentationKind, load_augmentation
from affectlab.models.devices import pick_device
from affectlab.models.semi.material import Material, MemoryRows, checked
from affectlab.models.semi.settings import SemiTraining
from affectlab.models.text.networks import output_layer
from affectlab.models.vision import (
    Feed,
    Head,
    Pictures,
    Report,
    Rows,
    VisionClassifier,
    codes_of,
    names_of_labels,
)

__all__ = ["of_images"]


def of_images(
    model: VisionClassifier,
    labelled: tuple[Any, Any],
    unlabelled: Any,
    dev: tuple[Any, Any] | None,
    truth: Any,
    training: SemiTraining,
    progress: Report | None,
) -> Material:
    """Find images or embeddings, and make the network; see :func:`train_semi`."""
    model.best_epoch = 0
    # Embeddings are changed here, and not as images are.
    plain = training.base(augment="none")
    first = model._found(labelled[0], plain, progress, learning=True)
    names = names_of_labels(labelled[1], first.names, model.taxonomy, "labelled")
    model.labels = model.asked or tuple(n for n in model.taxonomy.labels if n in set(names))
    if len(model.labels) < 2:
        raise InputError(
            f"labelled: all images are {model.labels[0]!r}; expected two labels at least"
        )
    targets = codes_of(names, model.labels, "labelled")
    pool = model._found(unlabelled, plain, progress)
    true = None
    if truth is not None:
        known = names_of_labels(truth, pool.names, model.taxonomy, "truth of unlabelled")
        true = codes_of(known, model.labels, "truth of unlabelled")
    beside = None
    if dev is not None:
        feed = model._found(dev[0], plain, progress)
        held = names_of_labels(dev[1], feed.names, model.taxonomy, "dev")
        beside = (feed, codes_of(held, model.labels, "dev"))
    given = [first] if beside is None else [first, beside[0]]
    model._build(first)
    feeds, beside_feed = _views(model, first, pool, None if beside is None else beside[0], training)
    output = output_layer(model.network, len(model.labels))
    if output is None:
        raise InputError(
            f"backbone {model.backbone!r} ({type(model.network).__name__}) has no dense layer on "
            "top; expected a network that classifies images by one"
        )
    return Material(
        network=cast("nn.Module", model.network),
        forward=model._forward,
        output=output,
        labels=model.labels,
        taxonomy=model.taxonomy,
        costs=model.costs,
        seen=np.unique(np.concatenate([feed.marks() for feed in given])),
        labelled=feeds[0],
        targets=targets,
        weak=feeds[1],
        strong=feeds[2],
        truth=true,
        dev=None if beside is None or beside_feed is None else (beside_feed, beside[1]),
    )


def _views(
    model: VisionClassifier,
    first: Pictures | Rows,
    pool: Pictures | Rows,
    dev: Pictures | Rows | None,
    training: SemiTraining,
) -> tuple[tuple[Feed, Feed, Feed], Feed | None]:
    """Give the labelled ones, both views of the unlabelled ones, and dev, as they are fed."""
    kind: AugmentationKind = "embedding" if isinstance(first, Rows) else "image"
    weak = None if training.augment == "none" else load_augmentation(training.augment, kind)
    strong = load_augmentation(training.strong, kind)
    if isinstance(first, Pictures) and isinstance(pool, Pictures):
        views = (first.changed_by(weak), pool.changed_by(weak), pool.changed_by(strong))
        return views, dev
    assert isinstance(first, Rows)
    assert isinstance(pool, Rows)
    device = pick_device(training.device)
    own = checked(first.embeddings.rows(), first.names, "labelled")
    rows = checked(pool.embeddings.rows(), pool.names, "unlabelled")
    # A few labelled rows would say little about how much each number varies.
    cast("Head", model.network).standardise(torch.cat([own, rows]))
    scale = model.network.mean, model.network.spread
    own, rows = own.to(device), rows.to(device)

    def fed(feed: Feed, values: torch.Tensor, change: Any) -> Feed:
        return MemoryRows(feed.names, values, change, scale, "embedding")

    beside: Feed | None = None
    if dev is not None:
        assert isinstance(dev, Rows)
        held = checked(dev.embeddings.rows(), dev.names, "dev")
        beside = fed(dev, held.to(device), None)
    return (fed(first, own, weak), fed(pool, rows, weak), fed(pool, rows, strong)), beside
