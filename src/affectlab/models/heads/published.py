"""Heads as EmoNet-Face has published them: a file of weights for each emotion."""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from affectlab.core.errors import InputError
from affectlab.core.words import joined, plural, shown
from affectlab.models.embedding import EncoderCard
from affectlab.models.heads.heads import Heads
from affectlab.models.heads.shape import HeadShape
from affectlab.models.heads.weights import StackedWeights
from affectlab.taxonomy import load_taxonomy

__all__ = ["ENCODER", "is_published", "load_published"]

Bank = TypeVar("Bank", bound=Heads)
_FILE = re.compile(r"model_(?P<name>.+)_best\.pth")
_LAYER = re.compile(r"layers\.(?P<place>\d+)\.(?P<part>weight|bias)")
_DROPOUT = {128: 0.1}
"""By the width of the first layer; of no account once heads are trained."""
ENCODER = EncoderCard(
    "transformers:google/siglip2-so400m-patch16-384",
    "image",
    1152,
    # Nobody has published a hash of what the encoder gives; its sizes tell it from its kin.
    "",
    {"patch_size": 16, "image_size": 384, "pooling": "pooler"},
)
"""The encoder that heads of this width were trained on (Schuhmann et al., 2025, section 4)."""


def is_published(folder: Path) -> bool:
    """Whether a folder holds heads in the layout of EmoNet-Face.

    Examples
    --------
    >>> is_published(Path("no-such-folder"))
    False
    """
    return any(_FILE.fullmatch(path.name) for path in folder.glob("model_*_best.pth"))


def load_published(cls: type[Bank], folder: Path) -> Bank:
    """Read the heads of ``model_EMOTION_best.pth`` files; nothing in them is executed.

    Labels of the taxonomy ``emonet_face`` are found by the names of the files. Heads of other
    dimensions (arousal, dominance, emotional vulnerability) stay out where any emotion is there,
    and make up the bank where none is.

    Raises
    ------
    InputError
        When a file cannot be read, is of another layout, or heads differ in shape.
    """
    taxonomy = load_taxonomy("emonet_face")
    by_key = {_key(label): label for label in taxonomy.labels}
    found: dict[str, Path] = {}
    for path in sorted(folder.glob("model_*_best.pth")):
        match = _FILE.fullmatch(path.name)
        if match is not None:
            label = by_key.get(_key(match["name"]))
            if label is not None and label in found:
                raise InputError(
                    f"{shown(folder)}: {found[label].name} and {path.name} are both of {label}; "
                    "expected one of them"
                )
            found[label or match["name"]] = path
    labels = [label for label in taxonomy.labels if label in found]
    if not labels:
        raise InputError(
            f"{shown(folder)}: no file is of an emotion of emonet_face "
            f"({joined(sorted(found)[:4])}); expected names such as model_elation_best.pth"
        )
    states = [_state(found[label]) for label in labels]
    sizes = {tuple(part.shape for part in state.values()) for state in states}
    if len(sizes) > 1:
        raise InputError(
            f"{shown(folder)} holds heads of {plural(len(sizes), 'shape')}; expected the heads of "
            "one release"
        )
    stacked = {name: torch.stack([_turned(state[name]) for state in states]) for name in states[0]}
    weights = StackedWeights.from_state(stacked, str(folder))
    hidden = weights.sizes[1:-1]
    bank = cls(
        taxonomy,
        labels,
        encoder=ENCODER if weights.width == ENCODER.width else None,
        shape=HeadShape(hidden, dropout=_DROPOUT.get(hidden[0], 0.0)),
        name=folder.resolve().name,
    )
    bank.weights = weights
    return bank


def _key(name: str) -> str:
    """What spellings of a label have in common: its words, without *and*."""
    words = re.split(r"[^a-z0-9]+", name.casefold())
    return " ".join(word for word in words if word and word != "and")


def _turned(part: Tensor) -> Tensor:
    return part.T.contiguous() if part.ndim == 2 else part


def _state(path: Path) -> dict[str, Tensor]:
    """Read the layers of one head, numbered anew: dropout and activation have no weights."""
    try:
        held: Any = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, pickle.UnpicklingError, EOFError, ValueError) as error:
        said = " ".join(str(error).split())[:100]
        raise InputError(
            f"{shown(path)} cannot be read as weights alone ({said}); nothing else in it is run"
        ) from None
    if isinstance(held, Mapping) and isinstance(held.get("state_dict"), Mapping):
        held = held["state_dict"]
    parts: dict[int, dict[str, Tensor]] = {}
    for name, part in held.items() if isinstance(held, Mapping) else ():
        match = _LAYER.fullmatch(str(name))
        if match is None or not isinstance(part, Tensor):
            raise InputError(f"{shown(path)}: {name!r}; expected layers.0.weight and so on")
        parts.setdefault(int(match["place"]), {})[match["part"]] = part.float()
    if not parts or any(set(one) != {"weight", "bias"} for one in parts.values()):
        raise InputError(f"{shown(path)}: expected weight and bias of each layer")
    return {
        f"layers.{k}.{part}": parts[place][part]
        for k, place in enumerate(sorted(parts))
        for part in ("weight", "bias")
    }
