"""Pipelines of the diffusers library as image generators."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.core.files.toml import check_settings
from affectlab.core.words import shown
from affectlab.stimuli.generation.generator import (
    ImageGenerator,
    ImagePrompt,
    RefusedPictureError,
)

__all__ = [
    "diffusers_generator",
    "refuse_own_code",
]

# Checkpoints that bring code along are refused before any library looks at them.


_INDEX = "model_index.json"


def refuse_own_code(folder: Path, name: str) -> None:
    """Refuse a checkpoint that has code, or names code, of its own.

    Libraries have run such code even where they were told not to, so that none of them is asked.

    Parameters
    ----------
    folder
        The checkpoint.
    name
        Generator that it is for; the sentence names it.

    Raises
    ------
    InputError
        When there is a ``.py`` file in the folder, or its ``model_index.json`` cannot be read,
        names a pipeline by a list, or takes a component from a library that is in the folder.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "pipeline.py").write_text("print('run')")
    >>> refuse_own_code(folder, "diffusers:mine")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    affectlab.InputError: image generator 'diffusers:mine': the checkpoint brings code ...
    """
    where = f"image generator {name!r}"
    for found in _own_code(folder):
        raise InputError(
            f"{where}: the checkpoint brings code of its own, {found}, which is never run; "
            "expected one whose parts are all in diffusers or transformers"
        )
    for component, told in _index(folder, where).items():
        if component.startswith("_") or not isinstance(told, list):
            continue
        library = told[0] if told else None
        # A library of the folder would be imported from there.
        if isinstance(library, str) and library and (folder / library).is_file():
            raise InputError(
                f"{where}: its part {component!r} is code of the checkpoint, {library}, which is "
                "never run; expected a part of diffusers or transformers"
            )


def _own_code(folder: Path) -> Iterator[str]:
    for place, _, files in os.walk(folder):
        for file in sorted(files):
            if file.lower().endswith((".py", ".pyc", ".pyw")):
                yield (Path(place) / file).relative_to(folder).as_posix()


def _index(folder: Path, where: str) -> dict[str, Any]:
    """Read what the parts of a checkpoint are; a folder without it is refused by its library."""
    file = folder / _INDEX
    if not file.is_file():
        return {}
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as problem:
        raise InputError(f"{where}: its {_INDEX} cannot be read ({problem})") from None
    if not isinstance(told, dict):
        raise InputError(f"{where}: its {_INDEX} is no table of parts; expected one of a pipeline")
    kind = told.get("_class_name")
    if not isinstance(kind, str):
        raise InputError(
            f"{where}: its {_INDEX} names no pipeline of diffusers but {kind!r}, and code of a "
            "checkpoint is never run; expected the name of a pipeline"
        )
    return told


def _needs(name: str) -> MissingDependencyError:
    return MissingDependencyError(
        f"image generator 'diffusers' needs {name}; install it with: {install_line('images')}"
    )


_SMALL = 1 << 20
"""Files of a checkpoint up to this size count with their content, others with their size."""


class _DiffusersSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    guidance: Annotated[float, Field(ge=0)] | None = None
    width: Annotated[int, Field(ge=8, le=8192)] | None = None
    height: Annotated[int, Field(ge=8, le=8192)] | None = None
    negative: str = ""
    device: str = "auto"
    dtype: Literal["auto", "fp32", "fp16", "bf16"] = "auto"
    batch: Annotated[int, Field(ge=1, le=1024)] = 1


_ARGUMENTS = {
    "steps": "num_inference_steps",
    "guidance": "guidance_scale",
    "width": "width",
    "height": "height",
    "negative": "negative_prompt",
}
"""Settings, and what pipelines call them."""


def diffusers_generator(place: str = "", **settings: Any) -> ImageGenerator:
    """Load a pipeline; see :func:`load_generator` for its settings.

    Nothing that a checkpoint brings along is executed: one with code of its own is refused, and
    weights are read from safetensors alone. The noise of each picture comes from a
    ``torch.Generator`` of its own on the CPU, so that a picture depends on its seed and neither on
    the device nor on those that were made beside it, but for the rounding of the device.

    Raises
    ------
    InputError
        When there is no such pipeline, it brings code along, it cannot be loaded, a setting cannot
        be used, or diffusers itself cannot be imported.
    MissingDependencyError
        When diffusers or torch is not installed.
    """
    if not place:
        raise InputError(
            "image generator 'diffusers': expected a folder or a name behind a colon, such as "
            "diffusers:my-checkpoint"
        )
    name = f"diffusers:{place}"
    chosen = check_settings(_DiffusersSettings, settings, f"image generator {name!r}")
    if not Path(place).is_dir() and (place.startswith((".", "/", "~")) or place.count("/") > 1):
        raise InputError(f"image generator {name!r}: there is no folder {place}")
    try:
        import torch
    except ImportError as missing:
        raise _needs("torch") from missing
    try:
        with _quiet():
            import diffusers

            # It imports its parts when they are asked for, and says with a RuntimeError that it
            # cannot.
            pipelines = diffusers.DiffusionPipeline
    except ImportError as missing:
        raise _needs("diffusers") from missing
    except RuntimeError as error:
        raise InputError(
            f"image generator {name!r}: diffusers cannot be imported: {_one_line(error)}; expected "
            f"a version that fits the other libraries: {install_line('images')}"
        ) from None
    device = _device(torch, chosen.device)
    dtype = chosen.dtype if chosen.dtype != "auto" else _best_dtype(torch, device)
    pipeline, folder = _loaded(pipelines, torch, place, dtype)
    taken = inspect.signature(type(pipeline).__call__).parameters
    # What was not given is up to the pipeline, whose own defaults fit its checkpoint.
    given = chosen.model_dump(include=set(_ARGUMENTS), exclude_defaults=True)
    for setting in given:
        if _ARGUMENTS[setting] not in taken:
            raise InputError(
                f"image generator {name!r}: {type(pipeline).__name__} has no {setting}; leave it "
                "out"
            )
    for needed in ("prompt", "generator"):
        if needed not in taken:
            raise InputError(
                f"image generator {name!r}: {type(pipeline).__name__} takes no {needed}; expected "
                "a pipeline that makes pictures from text"
            )
    pipeline.to(device)
    options = {_ARGUMENTS[setting]: value for setting, value in given.items()}

    def make(batch: Sequence[ImagePrompt]) -> list[Any]:
        return _run(torch, pipeline, batch, options)

    return ImageGenerator(
        name,
        make,
        version=f"{type(pipeline).__name__} {_fingerprint(folder)}, "
        f"diffusers {diffusers.__version__}",
        # How many are made at once, and where, is no part of what a picture is made from.
        settings=given | {"dtype": dtype},
        batch=chosen.batch,
    )


def _run(
    torch: Any, pipeline: Any, batch: Sequence[ImagePrompt], options: Mapping[str, Any]
) -> list[Any]:
    """Make pictures; one that the pipeline's safety check held back is an exception."""
    own = dict(options)
    if "negative_prompt" in own:
        own["negative_prompt"] = [own["negative_prompt"]] * len(batch)
    noise = [torch.Generator("cpu").manual_seed(prompt.seed) for prompt in batch]
    with _quiet(), torch.inference_mode():
        found = pipeline(prompt=[one.prompt for one in batch], generator=noise, **own)
    flagged = getattr(found, "nsfw_content_detected", None) or [False] * len(batch)
    return [
        RefusedPictureError("the pipeline's safety check held it back") if held else image
        for image, held in zip(found.images, flagged, strict=True)
    ]


def _loaded(pipelines: Any, torch: Any, place: str, dtype: str) -> tuple[Any, Path]:
    """Load a pipeline from a folder, from the local copies of the hub, or from the hub."""
    kinds = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    folder = Path(place)
    try:
        with _quiet():
            if not folder.is_dir():
                folder = Path(_copy_of(pipelines, place))
            refuse_own_code(folder, f"diffusers:{place}")
            loaded = pipelines.from_pretrained(
                str(folder),
                torch_dtype=kinds[dtype],
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
            )
    except InputError:
        raise
    # Checkpoints fail in as many ways as they have parts; each has its own kind of exception.
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise InputError(
            f"image generator 'diffusers:{place}' cannot be loaded: {_one_line(error)}; expected a "
            "folder with a model_index.json, or the name of such a checkpoint"
        ) from None
    loaded.set_progress_bar_config(disable=True)
    return loaded, folder


def _one_line(error: Exception) -> str:
    return shown(" ".join(str(error).split()).rstrip("."), 160)


def _copy_of(pipeline: Any, place: str) -> str:
    """Give the folder of a checkpoint's local copy, after fetching it where there is none."""
    options = {"use_safetensors": True, "trust_remote_code": False}
    try:
        return str(pipeline.download(place, local_files_only=True, **options))
    except (OSError, ValueError):
        return str(pipeline.download(place, **options))


def _fingerprint(folder: Path) -> str:
    """Tell checkpoints apart by their files: names, sizes, and what the small ones say."""
    told = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        if not file.is_file() or any(part.startswith(".") for part in inside.parts):
            continue
        size = file.stat().st_size
        told.update(f"{inside.as_posix()}\0{size}\0".encode())
        if size <= _SMALL:
            told.update(file.read_bytes())
    return told.hexdigest()[:12]


def _device(torch: Any, name: str) -> str:
    if name == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        kind = torch.device(name).type
    except RuntimeError:
        raise InputError(
            f"device {name!r} is not known; expected 'auto', 'cpu' or 'cuda'"
        ) from None
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there.get(kind, True):
        raise InputError(f"device {name!r} is not there; expected 'auto' or 'cpu'")
    return name


def _best_dtype(torch: Any, device: str) -> str:
    """Half precision where it is fast."""
    if not device.startswith("cuda"):
        return "fp32"
    return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp16"


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep bars, and advice to programmers, of diffusers and transformers from a user's screen."""
    named = ("transformers.utils.logging", "diffusers.utils.logging")
    logs = [import_module(name) for name in named if find_spec(name.partition(".")[0])]
    before = [(log, log.get_verbosity(), log.is_progress_bar_enabled()) for log in logs]
    for log in logs:
        log.set_verbosity_error()
        log.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for log, level, bars in before:
            log.set_verbosity(level)
            if bars:
                log.enable_progress_bar()
