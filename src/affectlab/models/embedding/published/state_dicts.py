"""Weights by name from files that may come from anyone: nothing in them is executed."""

from __future__ import annotations

import pickle
import re
import warnings
import zipfile
from argparse import Namespace
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from affectlab.core.errors import InputError

__all__ = ["read_state_dict"]

_KEYS = ("state_dict", "model")
"""Where in a file the weights may be; the file itself may also be the weights."""
_FAILS = (
    RuntimeError, EOFError, KeyError, OSError, TypeError, ValueError, AttributeError, IndexError,
    SafetensorError, zipfile.BadZipFile,
)  # fmt: skip


def read_state_dict(file: Path) -> dict[str, Tensor]:
    """Read the weights of a file by name, without ``module.`` in front.

    Parameters
    ----------
    file
        What ``torch.save`` or safetensors wrote, or a TorchScript archive, whose code is not run.

    Raises
    ------
    InputError
        When it cannot be read, or holds more than tensors and plain values.
    """
    if not file.is_file():
        raise InputError(f"{file}: there is no such file")
    try:
        content: Any = _read(file)
    except UnpicklingError:
        raise InputError(
            f"{file} holds more than plain tensors, and such pickles can run code; expected a file "
            "of weights alone, as torch.save(model.state_dict(), file) writes"
        ) from None
    except _FAILS:
        raise InputError(
            f"{file} cannot be read; expected weights as torch.save or safetensors write them"
        ) from None
    if not isinstance(content, Mapping):
        raise InputError(f"{file} holds {type(content).__name__}; expected a dictionary of tensors")
    content = next((content[k] for k in _KEYS if isinstance(content.get(k), Mapping)), content)
    # Training on several GPUs at once puts a name in front of all others.
    named = {str(name).removeprefix("module."): part for name, part in content.items()}
    if not named or not all(isinstance(part, Tensor) for part in named.values()):
        raise InputError(
            f"{file} holds no weights by name; expected a dictionary of tensors, or one under the "
            f"key {' or '.join(map(repr, _KEYS))}"
        )
    return named


def _read(file: Path) -> Any:
    if file.suffix == ".safetensors":
        return load_file(file)
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            # What torch.save writes has no constants.
            if any(name.endswith("/constants.pkl") for name in archive.namelist()):
                return dict(_flat(_Script(archive).load()))
    # Settings of the training run, a plain collection of values, are often beside weights.
    with torch.serialization.safe_globals([Namespace]), warnings.catch_warnings():
        # Remarks on how a file was pickled; what cannot be read is raised.
        warnings.simplefilter("ignore")
        return torch.load(file, map_location="cpu", weights_only=True)


_NUMBERS = {
    "HalfStorage": torch.float16, "BFloat16Storage": torch.bfloat16, "BoolStorage": torch.bool,
    "FloatStorage": torch.float32, "DoubleStorage": torch.float64, "IntStorage": torch.int32,
    "LongStorage": torch.int64,
}  # fmt: skip


class _Module:
    """Stands for a class whose code is in the archive: what it holds becomes attributes."""


class _Script(pickle.Unpickler):
    """Reads the tensors of a TorchScript archive: the pickle beside its code, and nothing else."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        name = next(one for one in archive.namelist() if re.fullmatch(r"[^/]+/data\.pkl", one))
        super().__init__(archive.open(name))
        self.archive, self.root = archive, name.removesuffix(".pkl")

    def find_class(self, module: str, name: str) -> Any:
        """Give what rebuilds tensors and lists, stand-ins for classes, and refuse all else."""
        if module.partition(".")[0] == "__torch__":
            return _Module
        if module == "torch" and name in _NUMBERS:
            return _NUMBERS[name]
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuilt
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch.jit._pickle" and re.fullmatch(r"build_\w+list", name):
            return list
        raise UnpicklingError(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> Tensor:
        """Read the numbers that a tensor is cut from."""
        _, kind, key, _, size = pid
        data = self.archive.read(f"{self.root}/{key}")
        return torch.frombuffer(bytearray(data), dtype=kind)[:size] if data else torch.empty(0)


def _rebuilt(
    numbers: Tensor, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any
) -> Tensor:
    return numbers.as_strided(size, stride, offset)


def _flat(module: Any, before: str = "") -> Iterator[tuple[str, Tensor]]:
    for name, part in vars(module).items():
        if isinstance(part, Tensor):
            yield f"{before}{name}", part
        elif isinstance(part, _Module):
            yield from _flat(part, f"{before}{name}.")
