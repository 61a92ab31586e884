"""Checkpoints of transformers that may come from anyone: nothing in them is executed.

Code that a checkpoint brings is not run, and weights are read from safetensors alone, since pickles
can hold code.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.models.devices import quiet_transformers

try:
    import transformers
    from safetensors import SafetensorError
except ImportError as missing:
    raise MissingDependencyError(
        "models with an encoder need transformers; install affectlab[models]"
    ) from missing

__all__ = [
    "DATA_ONLY",
    "LOADING_FAILS",
    "WEIGHTS_ONLY",
    "check_place",
    "first_sentence",
    "load_image_processor",
    "own_code",
    "unusable",
]

DATA_ONLY: dict[str, Any] = {"trust_remote_code": False}
"""Options under which transformers loads settings and tokenizers."""
WEIGHTS_ONLY: dict[str, Any] = {**DATA_ONLY, "use_safetensors": True}
"""Options under which transformers loads weights."""
LOADING_FAILS = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RuntimeError,
    ImportError,
    SafetensorError,
)
"""What transformers raises for checkpoints that cannot be loaded."""


def check_place(place: str) -> None:
    """A path that is no folder is said to be none, before anyone asks the network for it."""
    folder = Path(place)
    looks_like_path = folder.is_absolute() or place.startswith((".", "~")) or place.count("/") > 1
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise InputError(f"{place} holds no config.json; expected the folder of a checkpoint")
    elif looks_like_path:
        raise InputError(f"{place}: no such folder; expected a checkpoint of transformers")
    else:
        try:
            with quiet_transformers():
                transformers.AutoConfig.from_pretrained(place, **DATA_ONLY)
        except LOADING_FAILS as error:
            raise own_code(place, error) or _unknown(place, error) from None


def load_image_processor(place: str) -> Any:
    """Load how images are prepared; by Pillow, whose pixels are the same everywhere.

    Raises
    ------
    InputError
        When the checkpoint does not say.
    """
    try:
        with quiet_transformers():
            make: Any = transformers.AutoImageProcessor
            return make.from_pretrained(place, backend="pil", **DATA_ONLY)
    except LOADING_FAILS as error:
        raise own_code(place, error) or InputError(
            f"checkpoint {place!r} does not say how images are prepared ({first_sentence(error)}); "
            "expected preprocessor_config.json beside its weights"
        ) from None


def _unknown(place: str, error: Exception) -> InputError:
    return InputError(
        f"checkpoint {place!r} is no folder here, and could not be fetched by name "
        f"({first_sentence(error)})"
    )


def own_code(place: str, error: Exception) -> InputError | None:
    """Say that a checkpoint brings code, where that is what transformers complains of."""
    if "trust_remote_code" not in str(error):
        return None
    return InputError(
        f"checkpoint {place!r} needs code of its own, which is not run; expected a model that "
        "transformers knows by itself, such as BERT, ModernBERT, CLIP or SigLIP"
    )


def _pickled(place: str, error: Exception) -> InputError | None:
    """Say that a checkpoint has no weights but pickled ones."""
    files = sorted(Path(place).glob("pytorch_model*.bin")) if Path(place).is_dir() else []
    if not files and "use_safetensors" not in str(error):
        return None
    said = f"only pickled weights ({files[0].name})" if files else "no weights as safetensors"
    return InputError(
        f"checkpoint {place!r} has {said}, and pickles can run code; expected model.safetensors: "
        "where you trust it, AutoModel.from_pretrained(it).save_pretrained(folder) of transformers "
        "converts it (copy its tokenizer files, too)"
    )


def unusable(place: str, error: Exception, expected: str) -> InputError:
    """Say why a checkpoint cannot be used, and what was expected."""
    known = own_code(place, error) or _pickled(place, error)
    if known is not None:
        return known
    return InputError(
        f"checkpoint {place!r} cannot be used ({first_sentence(error)}); expected {expected} "
        "with its weights"
    )


def first_sentence(error: Exception) -> str:
    """Cut what transformers says, often at length, to its first sentence."""
    text = " ".join(str(error).split())
    return re.split(r"(?<=[a-z0-9])[.!?:] ", text, maxsplit=1)[0][:160]
