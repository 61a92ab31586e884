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
import re
import shutil
import warnings
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Literal, TypeAlias, get_args

import torch
from torch import Tensor

from affectlab.core.errors import InputError, check_choice
from affectlab.models.devices import quiet_transformers

__all__ = [
    "Parts",
    "WeightsKind",
    "clip_parts",
    "convert_weights",
    "vit_parts",
]

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
        ``"farl"`` or ``"mae"``; see :mod:`affectlab.models.embedding.conversion`.
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
    affectlab.InputError: nowhere.pth: there is no such file
    """

    check_choice("kind of weights", kind, get_args(WeightsKind))
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


# Names and shapes of weights elsewhere, and what they become.


_PER_HEAD = 64
"""Numbers per attention head in all published sizes."""
_CLIP_TEXT = re.compile(
    r"(?:positional_embedding|text_projection|logit_scale|input_resolution|context_length|"
    r"vocab_size|transformer\..+|token_embedding\..+|ln_final\..+)"
)
_MAE_REST = re.compile(r"(?:decoder_.+|mask_token|head\..+)")


@dataclass(frozen=True)
class Parts:
    """What a checkpoint is made of."""

    network: Any
    """Class of the network."""
    config: Any
    processor: Any
    weights: dict[str, Tensor]
    """Under the names of transformers."""
    left_out: tuple[str, ...]
    """Names of weights that belong to other parts."""


class _Source:
    """Weights by their foreign names, each taken once."""

    def __init__(self, weights: Mapping[str, Tensor], file: str, what: str) -> None:
        self.left = dict(weights)
        self.file, self.what = file, what

    def take(self, name: str, ndim: int) -> Tensor:
        """Give a weight with so many axes, and count it as used."""
        found = self.left.pop(name, None)
        if found is None:
            raise InputError(f"{self.file} has no weight {name!r}; expected {self.what}")
        if found.ndim != ndim or found.numel() == 0:
            raise InputError(
                f"{self.file}: weight {name!r} has shape {tuple(found.shape)}; expected {self.what}"
            )
        return found

    def layer(self, name: str, into: str, ndim: int = 2) -> Iterator[tuple[str, Tensor]]:
        """Give weight and bias of a layer under its new name; `ndim` is that of its weight."""
        yield f"{into}.weight", self.take(f"{name}.weight", ndim)
        yield f"{into}.bias", self.take(f"{name}.bias", 1)

    def depth(self, pattern: str) -> int:
        """Count the blocks whose names begin so, and refuse gaps."""
        numbers = {int(m[1]) for name in self.left if (m := re.match(pattern, name))}
        if not numbers or numbers != set(range(len(numbers))):
            raise InputError(f"{self.file}: blocks {sorted(numbers)[:5]}; expected {self.what}")
        return len(numbers)

    def rest(self, known: re.Pattern[str]) -> tuple[str, ...]:
        """Give what is left and belongs to other parts; refuse all else."""
        for name in sorted(self.left):
            if not known.fullmatch(name):
                raise InputError(f"{self.file}: weight {name!r} is not known; expected {self.what}")
        return tuple(self.left)


def clip_parts(weights: Mapping[str, Tensor], file: str, heads: int | None) -> Parts:
    """Read the visual tower of CLIP under OpenAI's names."""
    import transformers
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    source = _Source(weights, file, "a CLIP ViT under OpenAI's names, such as FaRL's")
    kernel = source.take("visual.conv1.weight", 4)
    position = source.take("visual.positional_embedding", 2)
    projection = source.take("visual.proj", 2)
    width, patch = int(kernel.shape[0]), int(kernel.shape[-1])
    depth = source.depth(r"visual\.transformer\.resblocks\.(\d+)\.")
    made = {
        "vision_model.embeddings.class_embedding": source.take("visual.class_embedding", 1),
        "vision_model.embeddings.patch_embedding.weight": kernel,
        "vision_model.embeddings.position_embedding.weight": position,
        "visual_projection.weight": projection.T.contiguous(),
        **dict(source.layer("visual.ln_pre", "vision_model.pre_layrnorm", 1)),
        **dict(source.layer("visual.ln_post", "vision_model.post_layernorm", 1)),
    }
    for block in range(depth):
        old = f"visual.transformer.resblocks.{block}"
        new = f"vision_model.encoder.layers.{block}"
        made |= _attention(
            source.take(f"{old}.attn.in_proj_weight", 2),
            source.take(f"{old}.attn.in_proj_bias", 1),
            new + ".self_attn",
        )
        for name, into, ndim in (
            ("attn.out_proj", "self_attn.out_proj", 2),
            ("ln_1", "layer_norm1", 1),
            ("ln_2", "layer_norm2", 1),
            ("mlp.c_fc", "mlp.fc1", 2),
            ("mlp.c_proj", "mlp.fc2", 2),
        ):
            made |= dict(source.layer(f"{old}.{name}", f"{new}.{into}", ndim))
    side = _side(int(position.shape[0]) - 1, patch, file)
    config = transformers.CLIPVisionConfig(
        hidden_size=width,
        intermediate_size=int(made["vision_model.encoder.layers.0.mlp.fc1.weight"].shape[0]),
        projection_dim=int(projection.shape[1]),
        num_hidden_layers=depth,
        num_attention_heads=_heads(width, heads, file),
        image_size=side,
        patch_size=patch,
        hidden_act="quick_gelu",
    )
    processor = CLIPImageProcessorPil(
        size={"shortest_edge": side}, crop_size={"height": side, "width": side}
    )
    return Parts(
        transformers.CLIPVisionModelWithProjection,
        config,
        processor,
        made,
        source.rest(_CLIP_TEXT),
    )


def vit_parts(weights: Mapping[str, Tensor], file: str, heads: int | None) -> Parts:
    """Read the encoder of a masked autoencoder under timm's names."""
    import transformers
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

    source = _Source(weights, file, "the encoder of a masked autoencoder, such as MAE-Face's")
    kernel = source.take("patch_embed.proj.weight", 4)
    position = source.take("pos_embed", 3)
    width, patch = int(kernel.shape[0]), int(kernel.shape[-1])
    depth = source.depth(r"blocks\.(\d+)\.")
    made = {
        "embeddings.cls_token": source.take("cls_token", 3),
        "embeddings.position_embeddings": position,
        "embeddings.patch_embeddings.projection.weight": kernel,
        "embeddings.patch_embeddings.projection.bias": source.take("patch_embed.proj.bias", 1),
        **dict(source.layer("norm", "layernorm", 1)),
    }
    for block in range(depth):
        old, new = f"blocks.{block}", f"layers.{block}"
        made |= _attention(
            source.take(f"{old}.attn.qkv.weight", 2),
            source.take(f"{old}.attn.qkv.bias", 1),
            new + ".attention",
        )
        for name, into, ndim in (
            ("attn.proj", "attention.o_proj", 2),
            ("norm1", "layernorm_before", 1),
            ("norm2", "layernorm_after", 1),
            ("mlp.fc1", "mlp.fc1", 2),
            ("mlp.fc2", "mlp.fc2", 2),
        ):
            made |= dict(source.layer(f"{old}.{name}", f"{new}.{into}", ndim))
    side = _side(int(position.shape[1]) - 1, patch, file)
    config = transformers.ViTConfig(
        hidden_size=width,
        intermediate_size=int(made["layers.0.mlp.fc1.weight"].shape[0]),
        num_hidden_layers=depth,
        num_attention_heads=_heads(width, heads, file),
        image_size=side,
        patch_size=patch,
        layer_norm_eps=1e-6,
    )
    # As in training: ImageNet's mean and deviation, and bicubic scaling.
    processor = ViTImageProcessorPil(
        size={"height": side, "width": side},
        resample=3,
        image_mean=[0.485, 0.456, 0.406],
        image_std=[0.229, 0.224, 0.225],
    )
    return Parts(_plain_vit, config, processor, made, source.rest(_MAE_REST))


def _plain_vit(config: Any) -> Any:
    import transformers

    return transformers.ViTModel(config, add_pooling_layer=False)


def _attention(weight: Tensor, bias: Tensor, into: str) -> dict[str, Tensor]:
    """Cut queries, keys and values, which are one weight elsewhere, into three."""
    found = {}
    for name, part, shift in zip("qkv", weight.chunk(3), bias.chunk(3), strict=False):
        found[f"{into}.{name}_proj.weight"] = part.contiguous()
        found[f"{into}.{name}_proj.bias"] = shift.contiguous()
    return found


def _side(n_patches: int, patch: int, file: str) -> int:
    across = isqrt(max(n_patches, 0))
    if across < 1 or across * across != n_patches:
        raise InputError(
            f"{file}: positions of {n_patches} patches; expected a square, with one for the class"
        )
    return across * patch


def _heads(width: int, heads: int | None, file: str) -> int:
    found = max(width // _PER_HEAD, 1) if heads is None else heads
    if found < 1 or width % found:
        raise InputError(
            f"{file}: width {width} and {found} heads; expected a divisor of the width"
        )
    return found
