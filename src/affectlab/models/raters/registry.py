"""Raters by name: packages, services, checkpoints and files of others, functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.files.toml import call_with
from affectlab.core.registry import Factories
from affectlab.core.words import shown
from affectlab.models.raters.published.estimator import PICKLES
from affectlab.models.raters.rater import Rater, Rates

__all__ = ["list_raters", "load_rater"]

_OF_CHECKPOINTS = ("config.json", "adapter_config.json", "*.gguf")
"""Files of checkpoints; without the first, what has to be done first is said."""


def list_raters() -> tuple[str, ...]:
    """Names that :func:`load_rater` knows, affectlab's own first.

    Another package adds one by an entry point in the group ``affectlab.raters`` that leads to a
    function: it is given the settings by name, and gives a :class:`Rater` or a function from
    stimuli to scores.

    Examples
    --------
    >>> list_raters()[:4]
    ('pyfeat', 'hsemotion', 'deepface', 'hume')
    """
    return _RATERS.names()


def load_rater(
    model: str | Rater | Rates, looks_for: Sequence[str] = (), /, **settings: Any
) -> Rater:
    """Find a rater.

    Parameters
    ----------
    model
        ``"pyfeat"``, ``"hsemotion"`` or ``"deepface"``: models of these packages, where they are
        installed. ``"hume"``: the expression measurement of Hume, which needs a key;
        ``"hume-batch"``: a server that speaks its earlier interface of jobs. The name of an entry
        point of another package. The folder of a checkpoint of transformers, or its name on the
        hub (``"hub:NAME"`` where a provider has the same name). A folder of heads as EmoNet-Face
        has published them. A file of skops. ``"module:name"``: a function of settings that gives a
        rater, a rater, or a function from stimuli to scores. Or such a rater or function itself,
        which may have the attributes ``labels``, ``takes``, ``name``, ``version``, ``scale``,
        ``settings`` and ``batch``.
    looks_for
        Labels that a checkpoint without labels of its own looks for, unless its settings say.
    **settings
        Of a rater by name; see the functions of the modules of this package.

    Raises
    ------
    InputError
        When the name or a setting is not known, or the rater cannot be loaded.
    MissingDependencyError
        When its package is not installed; the sentence says what to install.

    Examples
    --------
    >>> def smiles(pictures):
    ...     return [{"smile": 1.0} for _ in pictures]
    >>> load_rater(smiles).name
    'smiles'
    """
    made = _of_place(model, settings, looks_for) if isinstance(model, str) else None
    return _RATERS.make(model, settings) if made is None else made


def _of_place(model: str, settings: Mapping[str, Any], looks_for: Sequence[str]) -> Rater | None:
    """Make the rater of a folder, a file or a name on the hub; None for other names."""
    path = Path(model)
    if path.is_dir():
        return _of_folder(path, settings, looks_for)
    if path.suffix == ".gguf" and path.is_file():
        return _of_checkpoint(model, settings, looks_for)
    if path.suffix in (".skops", *PICKLES):
        if not path.is_file():
            raise InputError(f"{shown(path)}: there is no such file")
        from affectlab.models.raters.published.estimator import estimator_rater

        return call_with(estimator_rater, {**settings, "place": model}, f"file {model!r}")
    if model.startswith("hub:") or ("/" in model and ":" not in model):
        return _of_checkpoint(model.removeprefix("hub:"), settings, looks_for)
    return None


def _of_folder(folder: Path, settings: Mapping[str, Any], looks_for: Sequence[str]) -> Rater:
    if (folder / "config_setfit.json").is_file():
        from affectlab.models.raters.published.sentences import sentence_rater

        return call_with(sentence_rater, {**settings, "place": str(folder)}, f"folder {folder}")
    if any(next(folder.glob(name), None) for name in _OF_CHECKPOINTS):
        return _of_checkpoint(str(folder), settings, looks_for)
    raise InputError(
        f"{shown(folder)} holds no model; expected a config.json of transformers, weights of heads "
        "(*.pth), or the folder that affectlab train has written"
    )


def _of_checkpoint(place: str, settings: Mapping[str, Any], looks_for: Sequence[str]) -> Rater:
    from affectlab.models.raters.published.checkpoint import checkpoint_rater

    given = {"looks_for": looks_for, **settings, "place": place}
    return call_with(checkpoint_rater, given, f"checkpoint {place!r}")


def _of_function(function: Any, *, name: str, takes: Any = None, **settings: Any) -> Rater:
    """Make a rater of a function of stimuli; a function of settings is called with them."""
    if not hasattr(function, "labels") and not _needs_stimuli(function):
        made = call_with(function, settings, f"rater {name!r}")
        if isinstance(made, Rater):
            return made
        if not callable(made):
            raise InputError(
                f"rater {name!r} gives {type(made).__name__}; expected a Rater or a function from "
                "stimuli to scores"
            )
        return _of_function(made, name=name, takes=takes)
    if settings:
        raise InputError(
            f"rater {name!r} rates stimuli and takes no settings; expected none, not "
            f"{', '.join(sorted(settings))}"
        )
    labels = tuple(getattr(function, "labels", ()))
    return Rater(
        str(getattr(function, "name", name)),
        function,
        labels,
        takes=takes or getattr(function, "takes", _of_first_parameter(function)),
        version=str(getattr(function, "version", "")),
        scale=str(getattr(function, "scale", "0-1 interval")),
        settings=dict(getattr(function, "settings", {})),
        batch=int(getattr(function, "batch", 1)),
        complete=bool(getattr(function, "complete", bool(labels))),
        others=not labels,
    )


def _positional(function: Callable[..., Any]) -> list[Parameter]:
    try:
        known = signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [one for one in known if one.kind in kinds]


def _needs_stimuli(function: Callable[..., Any]) -> bool:
    """Whether a function cannot be called with settings alone: it is one of stimuli."""
    return any(one.default is Parameter.empty for one in _positional(function))


def _of_first_parameter(function: Callable[..., Any]) -> str:
    """What a function rates, by the name of its first parameter; else pictures."""
    first = next((one.name for one in _positional(function)), "")
    by_name = {"text": "text", "sentence": "text", "sound": "sound", "audio": "sound"}
    return next((kind for word, kind in by_name.items() if first.startswith(word)), "image")


_RATERS = Factories(
    kind="rater",
    group="affectlab.raters",
    accept=Rater,
    expected="a Rater or a function",
    of_function=_of_function,
    otherwise="or a folder of a checkpoint, hub:NAME, or module:function",
    ours={
        "pyfeat": "affectlab.models.raters.pyfeat:pyfeat_rater",
        "hsemotion": "affectlab.models.raters.hsemotion:hsemotion_rater",
        "deepface": "affectlab.models.raters.deepface:deepface_rater",
        "hume": "affectlab.models.raters.hume:hume_rater",
        "hume-batch": "affectlab.models.raters.hume:hume_batch_rater",
    },
)
