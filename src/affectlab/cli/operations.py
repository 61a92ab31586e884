"""Verbs made from public functions: their options, help and defaults are those of the function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional, Union, get_args, get_origin

from affectlab.cli._options import AllOption, reads_ratings
from affectlab.cli._output import check_folder
from affectlab.cli._pairs import COUNTS, PAIRS, ScoreOption, pairs_of, read_counts, read_pairs
from affectlab.cli.parameters import Option
from affectlab.core.signatures import Parameter, Signature, read_signature

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.core.result import Result
    from affectlab.ratings import Ratings

__all__ = ["Operation", "OutOption", "function_of", "options_of", "show_result", "verb_of"]

_LONG = 160
"""Letters of help above which only the first sentence is shown."""
_OFFERS = {
    "metric": "evaluation:list_metrics",
    "policy": "reliability:list_policies",
    "taxonomy": "taxonomy:list_taxonomies",
}
"""What a shell that completes words offers for a parameter of this name."""
_SEED = "Seed: the same seed, the same result."
_OTHERWISE = {"taxonomy": "classes"}
"""What the command line calls a parameter whose name is that of an option of reading FILE."""
_FILES = frozenset({".csv", ".parquet"})

OutOption = Annotated[
    Path | None,
    Option(
        "--out",
        help="Write the first table to this file (.csv, .parquet), or all of the result to this "
        "folder.",
    ),
]
FiguresOption = Annotated[Path | None, Option("--figures", help="Folder for figures (PNG, SVG).")]
ConfigOption = Annotated[
    Path | None,
    Option(
        "--config", help="TOML file with options by name; those of the command line come first."
    ),
]


@dataclass(frozen=True)
class Operation:
    """A verb that reads ratings, calls a public function and shows its result."""

    place: str
    """``module:function``, the module without the name of the package."""
    example: str
    """What stands behind the verb in the example of its help."""
    people: bool = False
    """Whether models are left out where there are people too, unless ``--all`` asks for them."""
    only_people: bool = False
    """Whether the function leaves models out where there are people too, which the verb says."""
    rare: Sequence[str] = ()
    """Parameters that a file gives (``--config``) and the command line does not."""
    hidden: Sequence[str] = ()
    """Parameters that only Python has."""
    applied: str = ""
    """Option, with its help behind a colon, that writes the ratings to which the result has been
    applied (its ``apply``)."""
    models_scale: str | None = None
    """Scale of the answers of models where nothing is said, in place of that of people."""
    beside: Sequence[str] = ()
    """How warnings of reading FILE begin that say nothing about the result."""

    @property
    def signature(self) -> Signature:
        """The signature of the function, read from its source."""
        return read_signature(self.place)

    @property
    def takes_models(self) -> bool:
        """Whether answers of models come second."""
        return self.signature.names[1:2] == ("models",)

    @property
    def takes_counts(self) -> bool:
        """Whether FILE can be counts by choice in place of ratings."""
        return "Mapping[str, int]" in self.signature.parameters[0].annotation

    @property
    def takes_pairs(self) -> bool:
        """Whether FILE can hold scores of pairs in place of ratings."""
        return "PairSource" in self.signature.parameters[0].annotation


def function_of(operation: Operation) -> Callable[..., Result]:
    """Load the function of an operation."""
    module, _, name = operation.place.partition(":")
    function: Callable[..., Result] = getattr(import_module(f"affectlab.{module}"), name)
    return function


def options_of(operation: Operation) -> dict[str, Parameter]:
    """Give the parameters that become options or can stand in a file, by name of the option."""
    # The first are the ratings and the answers of models, which the verb reads.
    own = operation.signature.parameters[2 if operation.takes_models else 1 :]
    return {
        _OTHERWISE.get(parameter.name, parameter.name): parameter
        for parameter in own
        if parameter.kinds and parameter.name not in operation.hidden
    }


def verb_of(words: str, operation: Operation) -> Callable[..., None]:
    """Make the verb of an operation.

    Parameters
    ----------
    words
        Name of the verb with its group, such as ``"evaluate fairness"``.
    operation
        What it does.
    """
    options = options_of(operation)
    progress = "progress" in operation.signature.names

    def run(*sources: Any, **given: Any) -> None:
        *read, out = sources
        to, figures, config, applied, score = (
            given.pop(name, None) for name in ("to", "figures", "config", "applied", "score")
        )
        check_folder(figures, "--figures")
        if to is not None and to.suffix.lower() not in _FILES:
            check_folder(to, "--out")
        everyone = given.pop("everyone", False)
        asked = {
            options[name].name: _as_python(value, options[name])
            for name, value in given.items()
            if value is not None
        }
        if config is not None:
            asked = {**_read_config(config, options), **asked}
        everything = read[0]
        # Counts have nobody behind them, and nothing to be said of their reading.
        counts = isinstance(everything, dict)
        warnings = [
            text
            for text in (() if operation.takes_pairs or counts else _warnings(read))
            if not text.startswith(tuple(operation.beside))
        ]
        if operation.takes_pairs:
            read[0] = pairs_of(read[0], out, score or "subject-model")
        elif operation.only_people:
            read[0] = out.panel(everything, hint="")
        elif operation.people and not everyone and not counts:
            read[0] = out.panel(everything)
        with out.progress(words) as bar:
            if progress:
                asked["progress"] = bar
            result: Any = function_of(operation)(*read, **asked)
        written = None if applied is None else result.apply(everything).write(applied)
        show_result(result, out, to=to, figures=figures, warnings=warnings)
        if written is not None:
            out.show(f"ratings written to {written}")

    shown = {name: one for name, one in options.items() if name not in operation.rare}
    own = [_option(name, parameter) for name, parameter in shown.items()]
    if operation.people:
        own.append(_shared("everyone", AllOption, False))
    if operation.takes_pairs:
        own.append(_shared("score", ScoreOption, None))
    if operation.applied:
        flag, _, text = operation.applied.partition(": ")
        own.append(_shared("applied", Annotated[Path | None, Option(flag, help=text)], None))
    own += [
        _shared("to", OutOption, None),
        _shared("figures", FiguresOption, None),
        _shared("config", ConfigOption, None),
    ]
    given_first = ["ratings", *(["models"] if operation.takes_models else []), "out"]
    first = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in given_first
    ]
    run.__signature__ = inspect.Signature([*first, *own])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in own}
    run.__name__ = words.rpartition(" ")[2].replace("-", "_")
    run.__doc__ = _help(words, operation)
    instead = read_pairs if operation.takes_pairs else None
    if operation.takes_counts:
        instead = read_counts
    models, scale = operation.takes_models, operation.models_scale
    return reads_ratings(words, models=models, models_scale=scale, instead=instead)(run)


def show_result(
    result: Result,
    out: Output,
    *,
    to: Path | None = None,
    figures: Path | None = None,
    warnings: Sequence[str] = (),
    doubts: Sequence[str] = (),
) -> None:
    """Write, draw and print a result.

    Parameters
    ----------
    result, out
        What was computed, and what prints it.
    to, figures
        Where to write it, and its figures.
    warnings
        What reading the ratings had to say.
    doubts
        Warnings that make the result doubtful.
    """
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        _write(result, to)
    if figures is not None:
        from affectlab.report import save_figures

        save_figures(result, figures)
    out.show(result)
    if to is not None:
        out.show(f"written to {to}")
    if figures is not None:
        out.show(f"figures: {figures}")
    panel = {"panel": out.who} if out.who else {}
    out.finish({**panel, **result.to_dict()} if out.as_json else None, warnings, doubts=doubts)


def _warnings(read: Sequence[Ratings | None]) -> tuple[str, ...]:
    """Collect what reading had to say, each sentence once."""
    first, *others = (table for table in read if table is not None)
    # That a table of models holds no people is as it should be; notes speak of its scale.
    known = ("No rater is human", "The scale ")
    of_models = (text for table in others for text in table.warnings if not text.startswith(known))
    return tuple(dict.fromkeys((*first.warnings, *of_models)))


def _help(words: str, operation: Operation) -> str:
    signature = operation.signature
    parts = [signature.summary, signature.description]
    if operation.takes_pairs:
        parts.append(PAIRS)
    if operation.takes_counts:
        parts.append(COUNTS)
    if operation.rare:
        parts.append(f"In a file given with --config also: {', '.join(operation.rare)}.")
    parts.append(f"Example: affectlab {words} {operation.example}")
    return "\n\n".join(filter(None, parts))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _shared(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _option(name: str, parameter: Parameter) -> inspect.Parameter:
    """Make an option of a parameter; what is not given is left to the function."""
    kinds = parameter.kinds
    flag = _flag(name)
    names = (flag,)
    if bool in kinds:
        kind: Any = bool
        # A switch that is on can be turned off.
        names = (f"{flag}/--no-{flag[2:]}",) if parameter.default is not False else (flag,)
    elif any(get_origin(one) in (list, dict) for one in kinds):
        kind = list[str]
    elif str in kinds:
        # What takes any text understands numbers in it, too.
        kind = str
    else:
        kind = Union[tuple(sorted(kinds, key=_narrow_first))]  # noqa: UP007
    default = inspect.Parameter.empty if parameter.is_required else None
    text = _brief(_SEED if parameter.name == "seed" else parameter.help)
    if str not in kinds and any(get_origin(one) is dict for one in kinds):
        text = f"{text} As NAME=VALUE."
    annotation = kind if parameter.is_required else kind | None
    declared = Option(
        *names,
        help=text,
        metavar=_metavar(kinds),
        # What is not given is left to the function, so that a file can give it.
        show_default=_written(parameter.default),
        offers=_OFFERS.get(parameter.name),
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[annotation, declared],
    )


def _written(default: Any) -> str | None:
    """Write a default; nothing where there is none, or where a switch is off."""
    if default is True:
        return "yes"
    if isinstance(default, list | tuple):
        return ",".join(map(str, default)) or None
    return None if default is None or default is False else str(default)


def _narrow_first(kind: Any) -> int:
    """Order what a text can be: numbers before choices before paths."""
    return {int: 0, float: 1, Path: 3}.get(kind, 2)


def _metavar(kinds: Sequence[Any]) -> str | None:
    if str not in kinds and any(get_origin(kind) is dict for kind in kinds):
        return "NAME=VALUE"
    if list[float] in kinds or list[int] in kinds:
        return "NUMBER"
    return "PATH" if Path in kinds and str not in kinds else None


def _brief(text: str) -> str:
    text = re.sub(r" \(see [^()]*\)", "", text)
    if len(text) <= _LONG:
        return text
    return text.partition(". ")[0].rstrip(".") + "."


def _as_python(value: Any, parameter: Parameter) -> Any:
    """Give the function what it takes: lists and mappings from texts with commas."""
    if not isinstance(value, list):
        return value
    from affectlab.cli._options import listed

    mapping = next((kind for kind in parameter.kinds if get_origin(kind) is dict), None)
    sequence = next((kind for kind in parameter.kinds if get_origin(kind) is list), None)
    flag = _flag(parameter.name)
    if mapping is not None and all("=" in part for part in value):
        return _mapping(value, get_args(mapping)[1], flag)
    if sequence is None:
        if len(value) == 1 and str in parameter.kinds:
            return value[0]
        from affectlab.core.errors import InputError

        raise InputError(f"{flag}: {' '.join(value)!r} is not understood; expected NAME=VALUE")
    parts = [part for text in value for part in listed(text)]
    if str in parameter.kinds and len(parts) == 1:
        return parts[0]
    (kind,) = get_args(sequence)
    return [_one(part, kind, flag) for part in parts]


def _mapping(given: Sequence[str], kind: Any, flag: str) -> dict[str, Any]:
    from affectlab.cli._options import listed

    pairs: dict[str, Any] = {}
    for text in given:
        name, _, value = text.partition("=")
        if get_origin(kind) is list:
            (inner,) = get_args(kind)
            pairs[name.strip()] = [_one(part, inner, flag) for part in listed(value)]
        else:
            pairs[name.strip()] = _one(value.strip(), kind, flag)
    return pairs


def _one(text: str, kind: Any, flag: str) -> Any:
    from affectlab.core.errors import InputError

    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise InputError(f"{flag}: {text!r}; expected one of {', '.join(get_args(kind))}")
        return text
    try:
        return kind(text)
    except ValueError:
        name = {int: "a whole number", float: "a number"}[kind]
        raise InputError(f"{flag}: {text!r} is not understood; expected {name}") from None


def _read_config(path: Path, options: Mapping[str, Parameter]) -> dict[str, Any]:
    """Read options from a TOML file, and check each against what the function takes."""
    from pydantic import ConfigDict, create_model

    from affectlab.core.toml import read_toml

    fields: dict[str, Any] = {
        name: (Optional[Union[one.kinds]], None)  # noqa: UP007, UP045
        for name, one in options.items()
    }
    model = create_model("Options", __config__=ConfigDict(extra="forbid"), **fields)
    given = read_toml(path, model).model_dump(exclude_unset=True)
    return {options[name].name: value for name, value in given.items()}


def _write(result: Result, path: Path) -> None:
    from affectlab.cli._output import write_csv

    frame = result.to_frame()
    if path.suffix.lower() == ".csv":
        write_csv(frame, path)
    elif path.suffix.lower() == ".parquet":
        frame.write_parquet(path)
    else:
        result.write(path)
