"""Checkpoints of transformers that may come from anyone: nothing in them is executed.

Code that a checkpoint brings is not run, and weights are read from safetensors alone, since pickles
can hold code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.models.devices import quiet_transformers

try:
    import transformers
    from safetensors import SafetensorError
    from transformers.utils.peft_utils import find_adapter_config_file
except ImportError as missing:
    raise MissingDependencyError(
        "models with an encoder need transformers; install affectlab[models]"
    ) from missing

__all__ = [
    "DATA_ONLY",
    "LOADING_FAILS",
    "WEIGHTS_ONLY",
    "Loaded",
    "check_place",
    "first_sentence",
    "label_names",
    "lacks_weights",
    "load_config",
    "load_image_processor",
    "load_pretrained",
    "own_code",
    "unusable",
]

DATA_ONLY: dict[str, Any] = {"trust_remote_code": False}
"""Options under which transformers loads settings and tokenizers."""
WEIGHTS_ONLY: dict[str, Any] = {**DATA_ONLY, "use_safetensors": True}
"""Options under which transformers loads weights."""
_GGUF = ".gguf"
_LACKS_FILE = re.compile("does not appear to have a file|no file named")
"""What transformers says of a place that was reached and has no such file."""
LOADING_FAILS = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RuntimeError,
    ImportError,
    SafetensorError,
    UnpicklingError,
)
"""What transformers raises for checkpoints that cannot be loaded."""


def check_place(place: str) -> None:
    """A path that is no folder is said to be none, before anyone asks the network for it."""
    if not _is_folder(place):
        load_config(place)


def load_config(place: str, expected: str = "a checkpoint") -> Any:
    """Load the settings of a checkpoint: a folder, or its name on the hub.

    Raises
    ------
    InputError
        When there is none, or it needs code of its own.
    """
    local = _is_folder(place)
    try:
        with quiet_transformers():
            return transformers.AutoConfig.from_pretrained(place, **DATA_ONLY)
    except LOADING_FAILS as error:
        raise (
            unusable(place, error, expected)
            if local
            else own_code(place, error) or _other_kind(place, error) or _unknown(place, error)
        ) from None


def _is_folder(place: str) -> bool:
    """Whether a checkpoint is a folder, or else has a name; raises for other paths."""
    folder = Path(place)
    if folder.suffix == _GGUF and folder.is_file():
        raise _quantised(place, place)
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise _other_weights(place) or InputError(
                f"{place} holds no config.json; expected the folder of a checkpoint"
            )
        return True
    if folder.is_absolute() or place.startswith((".", "~")) or place.count("/") > 1:
        raise InputError(f"{place}: no such folder; expected a checkpoint of transformers")
    return False


class Loaded(NamedTuple):
    """A network of a checkpoint."""

    network: Any
    lacking: tuple[str, ...] = ()
    """Names of weights that are random, since the checkpoint has none of that shape."""
    unused: tuple[str, ...] = ()
    """Names of weights that the network has no place for."""


def load_pretrained(
    kind: Any,
    place: str,
    expected: str,
    *,
    may_lack: Callable[[str], object] = lambda name: False,  # noqa: ARG005
    **options: Any,
) -> Loaded:
    """Load a network with its weights; a layer that the checkpoint lacks would answer at random.

    Parameters
    ----------
    kind
        Class of transformers that loads it.
    expected
        What the checkpoint is to be, for errors.
    may_lack
        Says of the name of a weight whether it may be missing, or of another shape.
    **options
        Of ``from_pretrained``, by default those of `WEIGHTS_ONLY`.

    Raises
    ------
    InputError
        When it cannot be loaded, or lacks weights that it may not lack.
    """
    try:
        with quiet_transformers():
            network, found = kind.from_pretrained(
                place,
                output_loading_info=True,
                ignore_mismatched_sizes=True,
                **{**WEIGHTS_ONLY, **options},
            )
    except LOADING_FAILS as error:
        raise unusable(place, error, expected) from None
    lacking = {*found["missing_keys"], *(entry[0] for entry in found["mismatched_keys"])}
    needed = [name for name in lacking if not may_lack(name)]
    if needed:
        raise lacks_weights(place, needed, expected)
    return Loaded(network, tuple(sorted(lacking)), tuple(sorted(found["unexpected_keys"])))


def label_names(labels: Sequence[str]) -> dict[str, Any]:
    """Give the settings of a checkpoint that name its outputs."""
    names = dict(enumerate(labels))
    return {
        "num_labels": len(names),
        "id2label": names,
        "label2id": {name: number for number, name in names.items()},
    }


def lacks_weights(place: str, names: Iterable[str], expected: str) -> InputError:
    """Say that weights of a checkpoint are missing, or are of another shape."""
    ordered = sorted(names)
    return InputError(
        f"checkpoint {place!r} lacks weights ({ordered[0]}, {len(ordered)} in all, missing or of "
        f"another shape than its settings say), and would answer at random; expected {expected} "
        "with its weights"
    )


def load_image_processor(place: str) -> Any:
    """Load how images are prepared; by Pillow, whose pixels are the same everywhere.

    Raises
    ------
    InputError
        When there is no such checkpoint, or it does not say.
    """
    check_place(place)
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


def _other_weights(place: str) -> InputError | None:
    """Say what else a folder, or what has a name on the hub, holds than a whole network."""
    files = sorted(Path(place).glob(f"*{_GGUF}"))
    if files:
        return _quantised(place, str(files[0]))
    file = find_adapter_config_file(place)
    if file is None:
        return None
    settings = json.loads(Path(file).read_text(encoding="utf-8"))
    labels = settings.get("task_type") == "SEQ_CLS"
    kind, more = ("SequenceClassification", ", num_labels=N") if labels else ("CausalLM", "")
    return InputError(
        f"{place} is an adapter of {settings.get('base_model_name_or_path')}, no whole network; "
        f"expected it merged: python -c 'from peft import AutoPeftModelFor{kind} as A; "
        f'A.from_pretrained("{place}"{more}).merge_and_unload().save_pretrained("merged")\', and '
        "the tokenizer of that model in the same folder"
    )


def _quantised(place: str, file: str) -> InputError:
    return InputError(
        f"{place} holds weights for llama.cpp, which is asked as a server: llama-server -m {file} "
        "--port 8080, and: affectlab rate openai-api/llama/NAME STIMULI --out FILE --base-url "
        "http://localhost:8080/v1 (or ollama create NAME, and: affectlab rate ollama/NAME)"
    )


def _other_kind(place: str, error: Exception) -> InputError | None:
    """Say what is no checkpoint of transformers, where that is what it complains of."""
    said = str(error)
    if "timm" in said.casefold():
        return InputError(
            f"checkpoint {place!r} is a network of timm, which affectlab does not bring; expected "
            "a function of yours that calls it: affectlab rate module:function STIMULI --out FILE"
        )
    return _other_weights(place) if _LACKS_FILE.search(said) else None


def _pickled(place: str, error: Exception) -> InputError | None:
    """Say that a checkpoint has no weights but pickled ones."""
    files = sorted(Path(place).glob("pytorch_model*.bin")) if Path(place).is_dir() else []
    files = files if isinstance(error, OSError | UnpicklingError) else []
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
    known = own_code(place, error) or _pickled(place, error) or _other_kind(place, error)
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
