"""Encoders from files of weights as their authors publish them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

from affectlab.core.errors import InputError
from affectlab.models.devices import quiet_transformers
from affectlab.models.embedding.checkpoints import Checkpoint, Tower
from affectlab.models.embedding.published.architectures import build_network
from affectlab.models.embedding.published.layouts import Preparation, find_layout
from affectlab.models.embedding.published.state_dicts import read_state_dict
from affectlab.models.embedding.settings import PublishedSettings
from affectlab.models.embedding.towers import TowerEncoder, tower_encoder, tower_of_images
from affectlab.models.pretrained import Loaded
from affectlab.models.runs import replacing

__all__ = ["convert_weights", "published_encoder"]

_OURS = ("clip_resnet", "vit_fc_norm")
"""Networks that transformers has not."""


def published_encoder(file: Path, called: str, chosen: PublishedSettings) -> TowerEncoder:
    """Load a file of weights as its authors publish it.

    Parameters
    ----------
    called
        Name of its layout; "": by the names of the weights.

    Raises
    ------
    InputError
        When the file cannot be read as plain tensors, its layout is not known or not certain, a
        weight is missing or does not fit, or there is no such pooling.
    """
    weights = read_state_dict(file)
    layout = find_layout(weights, str(file), called)
    network = build_network(layout.network, weights, str(file), chosen.heads)
    told = {} if chosen.heads is None else {"heads": chosen.heads}

    def make(dtype: torch.dtype) -> Tower:
        of_vit = network.config.model_type == "vit"
        # With a norm for means, the mean is what was trained, and not the class token.
        kind = layout.network if of_vit else network.config.model_type
        checkpoint = Checkpoint(str(file), "image", network.config, kind)
        processor = processor_of(layout.preparation, network.config)
        return tower_of_images(
            checkpoint, Loaded(network.to(dtype)), processor, chosen.pooling, told
        )

    return tower_encoder(f"{layout.name}:{file}", make, chosen)


def processor_of(preparation: Preparation, config: Any) -> Any:
    """Make what prepares pictures for a network with these settings."""
    # Residual networks take any size; their authors' code has 224.
    side: int = getattr(config, "image_size", 224)
    whole = {"height": side, "width": side}
    cut = preparation.shorter is not None
    return CLIPImageProcessorPil(
        size={"shortest_edge": round(side * (preparation.shorter or 1))} if cut else whole,
        do_center_crop=cut,
        crop_size=whole,
        resample=3 if preparation.bicubic else 2,
        image_mean=list(preparation.mean),
        image_std=list(preparation.std),
    )


def convert_weights(source: str | Path, path: str | Path, layout: str = "") -> Path:
    """Make a checkpoint of transformers of a file of weights as its authors publish it.

    Such a folder can be trained further, as any checkpoint; as an encoder the file itself does.

    Parameters
    ----------
    source
        The file.
    path
        A new folder, or an empty one.
    layout
        Name of its layout; "": by the names of the weights.

    Returns
    -------
    pathlib.Path
        The folder.

    Raises
    ------
    InputError
        When the file cannot be used, transformers has no such network, or the folder is in use.

    Examples
    --------
    >>> convert_weights("nowhere.pth", "out")
    Traceback (most recent call last):
    affectlab.InputError: nowhere.pth: there is no such file
    """
    folder = Path(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is in use; expected a new folder, or an empty one")
    weights = read_state_dict(Path(source))
    chosen = find_layout(weights, str(source), layout)
    if chosen.network in _OURS:
        raise InputError(
            f"{source}: transformers has no network for {chosen.name!r}; expected it as an encoder"
        )
    network = build_network(chosen.network, weights, str(source))
    try:
        with replacing(folder) as place, quiet_transformers():
            network.save_pretrained(place)
            processor_of(chosen.preparation, network.config).save_pretrained(place)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return folder
