"""Torch and the libraries around it, for the models that need them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args

from affectlab.core.errors import InputError, MissingDependencyError, check_choice
from affectlab.core.types import Device, Precision

try:
    import torch
except ImportError as missing:
    raise MissingDependencyError(
        "models other than linear ones need torch, transformers, accelerate and safetensors; "
        "install affectlab[models]"
    ) from missing

__all__ = [
    "autocast",
    "check_device",
    "pick_device",
    "pick_precision",
    "private_seed",
    "quiet_transformers",
]


def check_device(name: str) -> None:
    """Check that a device is known and is there.

    Raises
    ------
    InputError
        When it is not.
    """
    check_choice("device", name, get_args(Device))
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there.get(name, True):
        raise InputError(f"device {name!r} is not there; expected 'auto' or 'cpu'")


def pick_device(name: str) -> torch.device:
    """Give a device; ``auto`` is the fastest that is there."""
    check_device(name)
    if name != "auto":
        return torch.device(name)
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def pick_precision(name: str, device: torch.device) -> str:
    """Give what matrices are multiplied in; ``auto`` is half precision where it is fast.

    Raises
    ------
    InputError
        When the name is not known, or the device cannot.
    """
    check_choice("precision", name, get_args(Precision))
    if name == "auto":
        if device.type != "cuda":
            return "fp32"
        # Older GPUs emulate bf16, several times slower than what they can.
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp16"
    if name == "fp16" and device.type != "cuda":
        raise InputError(f"precision 'fp16' needs a GPU, not {device.type}; expected bf16 or fp32")
    return name


def autocast(precision: str, device: torch.device) -> torch.autocast:
    """Multiply matrices in half precision inside this context; weights stay as they are."""
    return torch.autocast(
        device.type,
        dtype=torch.float16 if precision == "fp16" else torch.bfloat16,
        enabled=precision != "fp32",
    )


@contextmanager
def private_seed(seed: int, *device: torch.device) -> Iterator[None]:
    """Seed torch inside this context, and leave the caller's random numbers as they were."""
    with torch.random.fork_rng([part for part in device if part.type == "cuda"]):
        torch.manual_seed(seed)
        yield


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keep transformers from drawing bars, and from advice on weights that are new on purpose."""
    from logging import ERROR, getLogger

    from transformers.utils import logging as transformers_logging

    logging: Any = transformers_logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    hub = getLogger("huggingface_hub")
    said = hub.level
    # Every try to reach the hub without a network is a warning of its own.
    hub.setLevel(ERROR)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        hub.setLevel(said)
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
