"""Weights of networks as safetensors: numbers by name, and nothing that could be executed."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from affectlab.errors import InputError, MissingDependencyError

__all__ = ["load_weights", "save_weights"]


def save_weights(network: nn.Module, path: Path) -> None:
    """Write all weights of a network."""
    from safetensors.torch import save_file

    state = {name: part.detach().cpu().contiguous() for name, part in network.state_dict().items()}
    save_file(state, path)


def load_weights(network: nn.Module, path: Path) -> None:
    """Read weights into a network of the same shape.

    Raises
    ------
    InputError
        When the file is missing, is no such file, or does not fit.
    """
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
    except ImportError as missing:
        raise MissingDependencyError(
            "weights need safetensors; install affectlab[models]"
        ) from missing
    if not path.is_file():
        raise InputError(f"{path}: no such file; the model folder is not complete")
    try:
        network.load_state_dict(load_file(path))
    except (SafetensorError, RuntimeError):
        raise InputError(
            f"{path} does not fit the settings beside it; the model folder is not complete"
        ) from None
