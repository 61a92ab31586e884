"""Files of LPIPS weights: what torchvision and the lpips package publish, read as plain tensors."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor

from affectlab.errors import InputError

__all__ = ["linear_weights", "read_tensors", "trunk_weights"]

_SLICED = re.compile(r"^net\.slice\d+\.")
"""What the lpips package puts before the names of a trunk's layers."""


def read_tensors(file: Path) -> dict[str, Tensor]:
    """Read a file of tensors by name; nothing in it is executed.

    Raises
    ------
    InputError
        When there is no such file, or it holds anything else.
    """
    if not file.is_file():
        raise InputError(f"{file}: there is no such file")
    try:
        content = _loaded(file)
    except UnpicklingError:
        raise InputError(
            f"{file} holds more than plain tensors, and such pickles can run code; expected a file "
            "of weights alone, as torch.save(model.state_dict(), file) writes"
        ) from None
    except (RuntimeError, EOFError, LookupError, OSError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"{file} cannot be read; expected weights as torch.save or safetensors write them"
        ) from None
    inner = content.get("state_dict") if isinstance(content, Mapping) else None
    weights = inner if isinstance(inner, Mapping) else content
    if (
        not isinstance(weights, Mapping)
        or not weights
        or not all(isinstance(part, Tensor) for part in weights.values())
    ):
        raise InputError(f"{file} holds no weights by name; expected a dictionary of tensors")
    return {str(name).removeprefix("module."): part for name, part in weights.items()}


def _loaded(file: Path) -> Any:
    if file.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return load_file(file)
        except SafetensorError as error:
            raise ValueError(str(error)) from None
    with warnings.catch_warnings():
        # Remarks on how a file was pickled; what cannot be read is raised.
        warnings.simplefilter("ignore")
        return torch.load(file, map_location="cpu", weights_only=True)


def trunk_weights(
    held: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], file: Path, trunk: str
) -> dict[str, Tensor]:
    """Take the weights of a trunk out of a file; the classifier behind it is left out.

    Parameters
    ----------
    held
        What is in the file: ``features.0.weight`` and so on, as torchvision names it, or
        ``net.slice1.0.weight``, as it is named in a whole model of the lpips package.
    shapes
        Names and shapes that the trunk has, without what stands before them.
    trunk
        What the trunk is called, for errors.

    Raises
    ------
    InputError
        When one is missing, has another shape, or is not finite.
    """
    named: dict[str, Tensor] = {}
    for name, part in held.items():
        plain = _SLICED.sub("", name)
        named[plain.removeprefix("features.")] = part
    found = {}
    for name, shape in shapes.items():
        if name not in named:
            raise InputError(
                f"{file} lacks features.{name}; expected the weights of {trunk}, as torchvision "
                "names them"
            )
        found[name] = _fitting(named[name], shape, file, f"features.{name}", trunk)
    return found


def linear_weights(
    held: Mapping[str, Tensor], widths: Sequence[int], file: Path, trunk: str
) -> list[Tensor]:
    """Take the weights of the linear layers out of a file; shape (width,) for each layer.

    Raises
    ------
    InputError
        When one is missing, has another shape, or is not finite.
    """
    found = []
    for layer, width in enumerate(widths):
        # The second place is behind a layer that drops out, the first where there is none.
        names = [f"lin{layer}.model.{place}.weight" for place in (1, 0)]
        name = next((one for one in names if one in held), None)
        if name is None:
            raise InputError(
                f"{file} lacks {names[0]}; expected the linear weights of {trunk}, as the lpips "
                "package names them"
            )
        found.append(_fitting(held[name], (1, width, 1, 1), file, name, trunk).reshape(width))
    return found


def _fitting(part: Tensor, shape: tuple[int, ...], file: Path, name: str, trunk: str) -> Tensor:
    if tuple(part.shape) != shape:
        raise InputError(
            f"{file}: {name} has shape {tuple(part.shape)}; expected {shape}, as {trunk} has"
        )
    plain = part.detach().float()
    if not bool(torch.isfinite(plain).all()):
        raise InputError(f"{file}: {name} is not finite; expected numbers")
    return plain
