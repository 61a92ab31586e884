"""Weights of networks as safetensors: numbers by name, and nothing that could be executed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from affectlab.core.errors import InputError, MissingDependencyError

__all__ = ["check_finite", "check_shapes", "load_weights", "misfit", "save_weights"]


def save_weights(network: nn.Module, path: Path) -> None:
    """Write all weights of a network."""
    from safetensors.torch import save_file

    state = {name: part.detach().cpu().contiguous() for name, part in network.state_dict().items()}
    save_file(state, path)


def check_shapes(network: nn.Module, path: Path) -> None:
    """Compare the weights of a network with a file by name and shape, without reading them.

    Parameters
    ----------
    network
        May be on the device ``meta``, which takes no memory.

    Raises
    ------
    InputError
        As :func:`load_weights`.
    """
    with _opened(path) as held:
        found = {name: tuple(held.get_slice(name).get_shape()) for name in held.keys()}  # noqa: SIM118
    if found != {name: tuple(part.shape) for name, part in network.state_dict().items()}:
        raise misfit(path)


def check_finite(network: nn.Module, folder: Path) -> None:
    """Refuse weights that are not numbers, which would make every answer none.

    Raises
    ------
    InputError
        Naming the first tensor that has one.
    """
    for name, part in network.state_dict().items():
        if not torch.isfinite(part).all():
            raise InputError(f"{folder}: weights {name!r} are not all finite; expected numbers")


def misfit(path: Path) -> InputError:
    """Say that a file of weights does not fit."""
    return InputError(
        f"{path} does not fit the settings beside it; the model folder is not complete"
    )


def load_weights(network: nn.Module, path: Path) -> None:
    """Read weights into a network of the same shape.

    Raises
    ------
    InputError
        When the file is missing, is no such file, or does not fit.
    """
    with _opened(path) as held:
        weights = {name: held.get_tensor(name) for name in held.keys()}  # noqa: SIM118
    try:
        network.load_state_dict(weights)
    except RuntimeError:
        raise misfit(path) from None


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as missing:
        raise MissingDependencyError(
            "weights need safetensors; install affectlab[models]"
        ) from missing
    if not path.is_file():
        raise InputError(f"{path}: no such file; the model folder is not complete")
    try:
        with safe_open(path, framework="pt") as held:
            yield held
    except SafetensorError:
        raise misfit(path) from None
