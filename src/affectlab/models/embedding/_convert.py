"""Weights of face models under other names, made into checkpoints of transformers.

Two families of published face encoders come as a file of weights without a checkpoint around it:

``farl``
    FaRL and its kin: a CLIP ViT whose weights are named as OpenAI names them (``visual.conv1``,
    ``visual.transformer.resblocks.0.attn.in_proj_weight``), under the key ``state_dict`` of a
    ``.pth`` file. It becomes a ``CLIPVisionModelWithProjection``. What belongs to its text tower is
    left out.
``mae``
    MAE-Face and its kin: a ViT whose weights are named as the masked autoencoder's code and timm
    name them (``patch_embed.proj``, ``blocks.0.attn.qkv``), under the key ``model``. It becomes a
    ``ViTModel`` without a pooling layer. What belongs to the decoder is left out.

Both were tested on weights that were made up under these names, and on no published file. Sizes are
read from the shapes of the weights. Files are read as plain tensors: nothing in them is
executed.
"""

from __future__ import annotations

import json
import shutil
import warnings
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Literal, TypeAlias, get_args

import torch
from torch import Tensor

from affectlab.errors import InputError, unknown_name
from affectlab.models._torch import quiet_transformers

__all__ = ["WeightsKind", "convert_weights"]

WeightsKind: TypeAlias = Literal["farl", "mae"]

_RECORD = "conversion.json"
_KEYS = {"farl": ("state_dict", "model"), "mae": ("model", "state_dict")}
"""Where in a file the weights may be; the file itself may also be the weights."""


def convert_weights(
    source: str | Path, kind: WeightsKind, path: str | Path, *, heads: int | None = None
) -> Path:
    """Make a checkpoint of transformers from a file of weights under other names.

    Parameters
    ----------
    source
        A ``.pth`` or ``.pt`` file, or ``.safetensors``.
    kind
        ``"farl"`` or ``"mae"``; see :mod:`affectlab.models.embedding._convert`.
    path
        A new folder, or an empty one. It then holds the weights, how images are prepared, and
        ``conversion.json``, which says what was converted; ``transformers:OUT`` is its encoder.
    heads
        Attention heads, which no weight tells; by default one per 64 numbers, as in all published
        sizes.

    Returns
    -------
    pathlib.Path
        The folder.

    Raises
    ------
    InputError
        When the file cannot be read as plain tensors, a weight is missing, not known or of a shape
        that does not fit, or the folder is in use.

    Examples
    --------
    >>> convert_weights("nowhere.pth", "farl", "out")
    Traceback (most recent call last):
    affectlab.errors.InputError: nowhere.pth: there is no such file
    """
    from affectlab.models.embedding._convert_names import clip_parts, vit_parts

    if kind not in get_args(WeightsKind):
        raise unknown_name("kind of weights", kind, get_args(WeightsKind))
    file, folder = Path(source), Path(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is in use; expected a new folder, or an empty one")
    weights = _weights(file, kind)
    parts = (clip_parts if kind == "farl" else vit_parts)(weights, str(file), heads)
    network = _network(parts.network, parts.config, parts.weights, str(file))
    beside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        with quiet_transformers():
            network.save_pretrained(beside)
            parts.processor.save_pretrained(beside)
        (beside / _RECORD).write_text(
            json.dumps(
                {
                    "kind": kind,
                    "source": file.name,
                    "sha256": _sha256(file),
                    "weights": len(weights),
                    "left_out": sorted(parts.left_out),
                },
                indent=2,
            )
            + "\n",
            encoding="utf-8",
        )
        if folder.exists():
            folder.rmdir()
        beside.replace(folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def _weights(file: Path, kind: str) -> dict[str, Tensor]:
    content = _read(file)
    for key in _KEYS[kind]:
        inner = content.get(key)
        if isinstance(inner, Mapping):
            content = inner
            break
    # Training on several GPUs at once puts a name in front of all others.
    named = {str(name).removeprefix("module."): part for name, part in content.items()}
    if not named or not all(isinstance(part, Tensor) for part in named.values()):
        raise InputError(
            f"{file} holds no weights by name; expected a dictionary of tensors, or one under the "
            f"key {' or '.join(map(repr, _KEYS[kind]))}"
        )
    return named


def _read(file: Path) -> Mapping[str, Any]:
    if not file.is_file():
        raise InputError(f"{file}: there is no such file")
    try:
        if file.suffix == ".safetensors":
            from safetensors import SafetensorError
            from safetensors.torch import load_file

            try:
                content: Any = load_file(file)
            except SafetensorError as error:
                raise ValueError(str(error)) from None
        else:
            # Settings of the training run, a plain collection of values, are often beside weights.
            with torch.serialization.safe_globals([Namespace]), warnings.catch_warnings():
                # Remarks on how a file was pickled; what cannot be read is raised.
                warnings.simplefilter("ignore")
                content = torch.load(file, map_location="cpu", weights_only=True)
    except UnpicklingError:
        raise InputError(
            f"{file} holds more than plain tensors, and such pickles can run code; expected a file "
            "of weights alone, as torch.save(model.state_dict(), file) writes"
        ) from None
    except (RuntimeError, EOFError, KeyError, OSError, TypeError, ValueError):
        raise InputError(
            f"{file} cannot be read; expected weights as torch.save or safetensors write them"
        ) from None
    if not isinstance(content, Mapping):
        raise InputError(f"{file} holds {type(content).__name__}; expected a dictionary of tensors")
    return content


def _network(kind: Any, config: Any, weights: dict[str, Tensor], file: str) -> Any:
    try:
        # Without memory for weights that are replaced at once.
        with torch.device("meta"):
            network = kind(config)
    except (ValueError, TypeError) as error:
        first = " ".join(str(error).split())[:160]
        raise InputError(f"{file}: sizes that no encoder has ({first})") from None
    own = network.state_dict()
    for name, part in own.items():
        given = weights.get(name)
        if given is None:
            raise InputError(
                f"{file} lacks what becomes {name}; expected all weights of an encoder"
            )
        if given.shape != part.shape:
            raise InputError(
                f"{file}: what becomes {name} has shape {tuple(given.shape)}; expected "
                f"{tuple(part.shape)}"
            )
    made = kind(config)
    made.load_state_dict({name: part.float() for name, part in weights.items()}, strict=True)
    return made.eval()


def _sha256(file: Path) -> str:
    import hashlib

    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
