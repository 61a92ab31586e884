"""Options that many verbs share, and reading ratings as those options say."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option, listed

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = [
    "BESIDE_RATINGS",
    "AllOption",
    "JsonOption",
    "QuietOption",
    "SeedOption",
    "prints",
    "read_roles",
    "reads_ratings",
]

JsonOption = Annotated[bool, Option("--json", help="Print one JSON object.")]
QuietOption = Annotated[bool, Option("--quiet", "-q", help="No progress, no notes.")]
AllOption = Annotated[
    bool,
    Option("--all", help="Take models in, too; without it only people where there are any."),
]
SeedOption = Annotated[int, Option("--seed", help="Seed: the same seed, the same result.")]
_SeedOfAll = Annotated[
    int, Option("--seed", help="Nothing is random here: changes nothing.", hidden=True)
]
"""Of verbs that need none: a script can pass it to all."""

_READING = "Reading"
BESIDE_RATINGS = ("file", "stimuli", "absent")
"""Options of reading that a verb can ask for, beside the ratings that they gave."""


def _reading(
    file: Annotated[
        Path,
        Argument(
            help="Ratings: CSV, TSV, Parquet, JSON Lines, or a published data set.", metavar="FILE"
        ),
    ],
    scale: Annotated[
        str | None,
        Option(
            help="Scale of the answers: 0-7, '0-100 interval', binary, nominal:a,b,c; or by "
            "label: '1-7, category=nominal:a,b, comment=text'.",
            group=_READING,
        ),
    ] = None,
    format: Annotated[
        str | None,
        Option(
            help="Published format by name; 'table' for none. Recognised when not given.",
            group=_READING,
        ),
    ] = None,
    wide: Annotated[
        str | None,
        Option(
            help="One column per 'raters', 'labels' or 'stimuli'; alone: told by the header.",
            group=_READING,
            metavar="raters|labels|stimuli",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        Option(
            help="Which column is what: stimulus=clip,rater=coder,value=points.",
            group=_READING,
        ),
    ] = None,
    taxonomy: Annotated[
        str | None,
        Option(
            help="Taxonomy that holds the labels: a name or a TOML file.",
            group=_READING,
            offers="taxonomy:list_taxonomies",
        ),
    ] = None,
    raters: Annotated[
        Path | None,
        Option(help="Table of raters, models too (rater, rater_kind, …).", group=_READING),
    ] = None,
    stimuli: Annotated[
        Path | None,
        Option(help="Table of stimuli (stimulus, …).", group=_READING),
    ] = None,
    attributes: Annotated[
        str | None,
        Option(
            help="Columns of a wide file that describe and are no ratings: age,gender.",
            group=_READING,
        ),
    ] = None,
    keep_labels: Annotated[
        str | None,
        Option(
            help="Labels to keep: joy,fear. Needed where a verb takes labels on one scale only.",
            group=_READING,
        ),
    ] = None,
    absent: Annotated[
        Literal["zero", "missing"] | None,
        Option(
            "--absent",
            help="A label that a rater of a stimulus left out: a rating of 0, or nothing known. As "
            "published when not given, else missing.",
            group=_READING,
            show_default=False,
        ),
    ] = None,
    set_aside: Annotated[
        bool,
        Option(
            "--set-aside",
            help="Leave out rows that cannot be used, and count them, instead of stopping.",
            group=_READING,
        ),
    ] = False,
    encoding: Annotated[
        str | None,
        Option(help="Encoding of a text file, e.g. latin-1.", group=_READING),
    ] = None,
    delimiter: Annotated[
        str | None,
        Option(help="Delimiter of a text table.", group=_READING),
    ] = None,
) -> Ratings:
    """Read the ratings that a verb works on; its parameters become options of the verb."""
    from affectlab.ratings import read_ratings

    found = read_ratings(
        file,
        scale=scale,
        format=format,
        wide=wide,  # type: ignore[arg-type]
        columns=read_roles(columns),
        taxonomy=taxonomy,
        raters=raters,
        stimuli=stimuli,
        attributes=None if attributes is None else listed(attributes),
        absent=absent,
        on_bad="set_aside" if set_aside else "raise",
        encoding=encoding,
        delimiter=delimiter,
    )
    return found if keep_labels is None else found.select(labels=listed(keep_labels))


def _read_models(
    files: list[Path], like: Ratings, scale: str | None, options: dict[str, Any]
) -> Ratings | None:
    """Read the files of models; the table of raters, and what was said of texts, hold as well."""
    if not files:
        return None
    from affectlab.ratings import read_models

    found = read_models(
        files,
        like,
        scale=scale,
        taxonomy=options["taxonomy"],
        raters=options["raters"],
        encoding=options["encoding"],
        delimiter=options["delimiter"],
        absent=options["absent"],
        on_bad="set_aside" if options["set_aside"] else "raise",
    )
    chosen = [name for name in found.label_names if name in like.label_names]
    return found if options["keep_labels"] is None or not chosen else found.select(labels=chosen)


def read_roles(text: str | None) -> dict[str, str] | None:
    """Read which column is what, as in ``stimulus=clip,rater=coder``."""
    if text is None:
        return None
    from affectlab.core.errors import InputError

    roles: dict[str, str] = {}
    for part in listed(text):
        role, equals, column = part.partition("=")
        if not equals or not role.strip() or not column.strip():
            raise InputError(f"--columns: {part!r} is not understood; expected role=column")
        roles[role.strip()] = column.strip()
    return roles


_MODEL_OPTIONS = {
    "models": Annotated[
        list[Path] | None,
        Option(
            "--models",
            help="Answers of a model, for people's answers in FILE; may be given again.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    "models_scale": Annotated[
        str | None,
        Option(
            help="Scale of the models' answers, such as '0-1 interval'; if not given, that of "
            "people where all answers lie within it, and otherwise only ranks are compared.",
            group=_READING,
        ),
    ],
}


def reads_ratings(
    verb: str,
    *,
    models: bool = False,
    models_scale: str | None = None,
    instead: Callable[[Mapping[str, Any]], Any] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function of ``(ratings, out, …)`` a verb that reads FILE.

    The verb gets the reading options, and --json, --quiet and --seed, which every verb has so that
    a script can pass them to all; where nothing is random, the seed changes nothing.

    Parameters
    ----------
    verb
        Name of the verb with its group, for its JSON output.
    models
        Make it a function of ``(ratings, models, out, …)``, with the answers of the files given
        with --models, or None.
    models_scale
        Scale of these where nothing is said.
    instead
        Given the reading options by name, reads FILE where it holds something else that the verb
        takes in place of ratings; None from it says that FILE holds ratings.
    """
    given_first = 3 if models else 2

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        reading = list(inspect.signature(_reading, eval_str=False).parameters.values())
        own = list(inspect.signature(function).parameters.values())[given_first:]
        names = {parameter.name for parameter in reading}
        # A verb that looks for something beside FILE asks for its path by that name; so does one
        # that reads more of the table of stimuli than the rated ones, or more files.
        taken = [parameter.name for parameter in own if parameter.name in BESIDE_RATINGS]
        own = [parameter for parameter in own if parameter.name not in taken]

        @wraps(function)
        def run(**given: Any) -> None:
            out = Output(verb, as_json=given.pop("as_json"), quiet=given.pop("quiet"))
            options = {name: given.pop(name) for name in names}
            if not takes_seed:
                given.pop("seed")
            files, scale = given.pop("models", None) or [], given.pop("models_scale", None)
            with out.progress(f"reading {options['file']}"):
                told = None if instead is None else instead(options)
                ratings = _reading(**options) if told is None else told
                judged = None
                if models:
                    judged = _read_models(files, ratings, scale or models_scale, options)
            sources = (ratings, judged) if models else (ratings,)
            given |= {name: options[name] for name in taken}
            function(*sources, out, **given)

        takes_seed = any(parameter.name == "seed" for parameter in own)
        common = [_parameter("as_json", JsonOption, False), _parameter("quiet", QuietOption, False)]
        if not takes_seed:
            common.append(_parameter("seed", _SeedOfAll, 0))
        told = _MODEL_OPTIONS if models else {}
        of_models = [_parameter(name, kind, None) for name, kind in told.items()]
        # The argument and the verb's own options come first, then what all verbs share.
        parameters = [reading[0], *of_models[:1], *own, *common, *reading[1:], *of_models[1:]]
        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters
        ]
        hints = {**_hints(_reading), **_hints(function)}
        hints |= {name: _hints(_reading)[name] for name in taken} | told
        hints = {"as_json": JsonOption, "quiet": QuietOption, "seed": _SeedOfAll, **hints}
        parameters = [
            parameter.replace(annotation=hints[parameter.name]) for parameter in parameters
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: hints[parameter.name] for parameter in parameters}
        return run

    return decorate


def prints(verb: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function of ``(out, …)`` a verb, with --json, --quiet and --seed as every verb has.

    Parameters
    ----------
    verb
        Name of the verb with its group, for its JSON output.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(function, include_extras=True)
        own = list(inspect.signature(function).parameters.values())[1:]
        common: dict[str, tuple[Any, Any]] = {
            "as_json": (JsonOption, False),
            "quiet": (QuietOption, False),
        }
        if "seed" not in hints:
            common["seed"] = (_SeedOfAll, 0)
        parameters = [one.replace(annotation=hints[one.name]) for one in own]
        parameters += [_parameter(name, *said) for name, said in common.items()]

        @wraps(function)
        def run(**given: Any) -> None:
            out = Output(verb, as_json=given.pop("as_json"), quiet=given.pop("quiet"))
            if "seed" in common:
                given.pop("seed")
            function(out, **given)

        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
        )
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


@cache
def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Evaluate the annotations that become options, and no others."""
    hints: dict[str, Any] = {}
    for name, annotation in function.__annotations__.items():
        if not isinstance(annotation, str):
            hints[name] = annotation
        elif "Annotated" in annotation or "Option" in annotation:
            hints[name] = eval(annotation, function.__globals__)
    return hints
