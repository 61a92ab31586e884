"""Verbs made from functions: their options, help and defaults are those of the function."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._output import check_file, check_folder, write_table
from affectlab.cli.manifest import Parameter, Signature, read_signature, read_summary
from affectlab.cli.parameters import (
    Option,
    arguments_of,
    as_switch,
    asked_of,
    assembled,
    brief,
    flag_of,
    option_of,
)
from affectlab.cli.reading import (
    COUNTS,
    EXTRA_OPTIONS,
    PAIRS,
    Reading,
    ScoreOption,
    make_verb,
    named,
    pairs_of,
    read_counts,
    read_pairs,
)
from affectlab.core.errors import InputError

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.core.result import Result
    from affectlab.ratings import Caution, Ratings

_OTHERWISE = {"taxonomy": "classes"}
"""What the command line calls a parameter whose name is that of an option of reading FILE."""
_BUDGET = {name: f"budget_{name}" for name in ("usd", "tokens", "requests")}
"""What it calls the limits of a budget."""
_SWITCHES = {"on_bad": "set_aside"}
"""What it calls a choice of two that it has as a switch."""
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
MethodsOption = Annotated[
    bool,
    Option(
        "--methods",
        help="Also print how it was computed, as a paragraph for a paper; affectlab cite gives the "
        "works.",
    ),
]
AllOption = Annotated[
    bool,
    Option("--all", help="Take models in, too; without it only people where there are any."),
]
ConfigOption = Annotated[
    list[str] | None,
    Option(
        "--config",
        help="TOML file with options by name, or one of them as name=value; may be given again. "
        "Those of the command line come first.",
        metavar="FILE",
    ),
]


class Shown(ABC):
    """What the help and the parser show of a verb."""

    has_places = False
    """Whether what comes by place is an argument."""

    @property
    @abstractmethod
    def options(self) -> dict[str, Parameter]:
        """Parameters that become options or can stand in a file, by name of the option."""

    @property
    def rarely(self) -> list[str]:
        """Options that only ``--config`` gives."""
        return [name for name, parameter in self.options.items() if parameter.is_rare]

    @property
    def epilogue(self) -> str:
        """What the help says at its end: the options that only ``--config`` gives."""
        lines = [f"- **{name}** {brief(self.options[name].help)}" for name in self.rarely]
        return "\n".join(["With `--config NAME=VALUE`, too:", "", *lines]) if lines else ""

    def shown(self) -> list[inspect.Parameter]:
        """Make the options of the command line."""
        return [
            option_of(
                name,
                parameter,
                by_place=self.has_places and not parameter.by_name,
            )
            for name, parameter in self.options.items()
            if not parameter.is_rare
        ]


@dataclass(frozen=True, kw_only=True)
class Declared(Shown):
    """A verb of which a function declares the options, by signature and documentation."""

    place: str = field(kw_only=False)
    """``module:function``, the module without the name of the package."""
    example: str = field(kw_only=False)
    """What stands behind the verb in the example of its help."""
    hidden: Sequence[str] = ()
    """Parameters that only Python has."""

    @property
    def signature(self) -> Signature:
        """The signature of the function."""
        return read_signature(self.place)

    @property
    def takes_models(self) -> bool:
        """Whether answers of models come second."""
        return self.signature.names[1:2] == ("models",)

    @property
    def summary(self) -> str:
        """What a list says of it."""
        return read_summary(self.place)

    @property
    def examples(self) -> list[str]:
        """What stands behind the verb in the examples of its help."""
        return [self.example]

    @property
    def options(self) -> dict[str, Parameter]:
        """Parameters that become options or can stand in a file, by name of the option."""
        otherwise = _BUDGET | _SWITCHES | (_OTHERWISE if self.reads else {})
        return {
            otherwise.get(parameter.name, parameter.name): as_switch(parameter)
            for parameter in self.own
            if parameter.kinds and parameter.name not in self.hidden
        }

    @property
    def reads(self) -> bool:
        """Whether FILE holds ratings."""
        return "ratings" in self.signature.names[:1]

    @property
    def own(self) -> Sequence[Parameter]:
        """Parameters that the command line does not give by itself."""
        return self.signature.parameters

    def function(self) -> Callable[..., Any]:
        """Load the function."""
        module, _, name = self.place.partition(":")
        function: Callable[..., Any] = getattr(import_module(f"affectlab.{module}"), name)
        return function


@dataclass(frozen=True, kw_only=True)
class Command(Declared):
    """A verb whose function prints what it does: ``function(out, …)``.

    Where the first parameter of the function is ``ratings``, these are read from FILE, and
    ``models`` behind it from the files of ``--models``; then comes ``out``. What follows by place
    are arguments, what can only be given by name are options.
    """

    has_places = True

    alone: bool = False
    """Whether processes that were started together must not run it."""
    shows_result: bool = False
    """Whether it shows a result with estimates, and so has ``--methods``."""

    @property
    def own(self) -> Sequence[Parameter]:
        """Parameters behind ``out``."""
        return self.signature.parameters[self.signature.names.index("out") + 1 :]


@dataclass(frozen=True, kw_only=True)
class Operation(Declared):
    """A verb that reads ratings, calls a public function and shows its result."""

    people: bool = False
    """Whether models are left out where there are people too, unless ``--all`` asks for them."""
    only_people: bool = False
    """Whether the function leaves models out where there are people too, which the verb says."""
    applied: str = ""
    """Option, with its help behind a colon, that writes the ratings to which the result has been
    applied (its ``apply``)."""
    models_scale: str | None = None
    """Scale of the answers of models where nothing is said, in place of that of people."""
    beside: Sequence[str] = ()
    """What warnings of reading FILE are about that say nothing of the result."""

    @property
    def own(self) -> Sequence[Parameter]:
        """Parameters behind the ratings and the answers of models, which the verb reads."""
        return self.signature.parameters[2 if self.takes_models else 1 :]

    @property
    def extras(self) -> list[str]:
        """Options beside those of the function, by name."""
        has = {"everyone": self.people, "score": self.takes_pairs, "applied": bool(self.applied)}
        return [name for name, is_there in has.items() if is_there]

    @property
    def takes_counts(self) -> bool:
        """Whether FILE can be counts by choice in place of ratings."""
        return dict[str, int] in self.signature.parameters[0].kinds

    @property
    def takes_pairs(self) -> bool:
        """Whether FILE can hold scores of pairs in place of ratings."""
        return "PairScores" in self.signature.parameters[0].classes


@dataclass(frozen=True, kw_only=True)
class Choice(Shown):
    """A verb whose job several public functions do; an option says which.

    It has the options of all. What one of them does not take is refused where that is chosen.
    """

    summary: str = field(kw_only=False)
    option: str = field(kw_only=False)
    """The option that chooses; a function that has a parameter of this name is given it."""
    choices: Mapping[str, Operation] = field(kw_only=False)
    """By value of the option; the first where nothing is said."""
    rare: Sequence[str] = ()
    """Further options that only ``--config`` gives."""

    @property
    def default(self) -> str:
        """What is done where nothing is said."""
        return next(iter(self.choices))

    @property
    def flag(self) -> str:
        """The option that chooses, as it is written."""
        return flag_of(self.option)

    @property
    def operations(self) -> dict[Operation, list[str]]:
        """The operations, each with the choices that are done by it."""
        found: dict[Operation, list[str]] = {}
        for name, one in self.choices.items():
            found.setdefault(one, []).append(name)
        return found

    @property
    def example(self) -> str:
        """What stands behind the verb in an example."""
        return self.examples[0]

    @property
    def examples(self) -> list[str]:
        """What stands behind the verb in the examples of its help, one for each operation."""
        return [
            one.example if self.default in names else f"{one.example} {self.flag} {names[0]}"
            for one, names in self.operations.items()
        ]

    @property
    def options(self) -> dict[str, Parameter]:
        """Parameters of all operations, by name of the option; first the one that chooses."""
        chooses = Parameter(
            name=self.option,
            kinds=(Literal[tuple(self.choices)],),
            default=self.default,
            help="What is computed; see above.",
            by_name=True,
        )
        of: dict[str, list[Parameter]] = {}
        for operation in self.operations:
            for option, parameter in operation.options.items():
                if option != self.option:
                    of.setdefault(option, []).append(parameter)
        return {self.option: chooses} | {
            option: self._shared(option, parts) for option, parts in of.items()
        }

    def _shared(self, option: str, parts: Sequence[Parameter]) -> Parameter:
        """Give one parameter for those of several operations."""
        first, names = parts[0], self.having(option)
        same = all(one.default == first.default for one in parts)
        everywhere = len(names) == len(self.choices)
        return replace(
            first,
            kinds=tuple(dict.fromkeys(kind for one in parts for kind in one.kinds)),
            default=first.default if same else None,
            is_required=False,
            is_rare=option in self.rare or any(one.is_rare for one in parts),
            help=first.help if everywhere else f"[{', '.join(names)}] {first.help}",
        )

    def having(self, option: str) -> list[str]:
        """Give the choices that have an option."""
        return [
            name
            for name, one in self.choices.items()
            if option in one.options
            or option in one.extras
            or (option == "models" and one.takes_models)
        ]

    def check(self, given: Mapping[str, Any]) -> None:
        """Refuse options that are not for what is chosen, and ask for those that it needs.

        Raises
        ------
        InputError
            When an option belongs to another choice, or a needed one is not given.
        """
        options = self.options
        own = {name: given[name] for name in options if name in given}
        asked = asked_of(own, options, given.get("config"))
        name = asked.get(self.option, self.default)
        more = [one for one in (*self.extras, "models") if given.get(one)]
        for one in (*asked, *more):
            # Some options are of reading FILE as well.
            if one != self.option and one not in EXTRA_OPTIONS and name not in self.having(one):
                having = " or ".join(self.having(one))
                raise InputError(
                    f"{flag_of(one)} is for {self.flag} {having}, not {self.flag} {name}"
                )
        for one, parameter in self.choices[name].options.items():
            if parameter.is_required and one not in asked:
                raise InputError(f"{self.flag} {name}: expected {flag_of(one)}, too")

    @property
    def extras(self) -> list[str]:
        """Options beside those of the functions, by name."""
        names = dict.fromkeys(name for one in self.operations for name in one.extras)
        return [name for name in names if name not in self.options]

    @property
    def applied(self) -> str:
        """The option that writes the ratings to which a result has been applied."""
        return next((one.applied for one in self.operations if one.applied), "")

    @property
    def takes_models(self) -> bool:
        """Whether answers of models come second for one of them."""
        return any(one.takes_models for one in self.operations)

    @property
    def takes_counts(self) -> bool:
        """Whether FILE can be counts by choice for one of them."""
        return any(one.takes_counts for one in self.operations)

    @property
    def takes_pairs(self) -> bool:
        """Whether FILE can hold scores of pairs."""
        return any(one.takes_pairs for one in self.operations)


def verb_of(words: str, verb: Command | Operation | Choice) -> Callable[..., None]:
    """Make a verb.

    Parameters
    ----------
    words
        Name of the verb with its group, such as ``"evaluate fairness"``.
    verb
        How it is declared.
    """
    if isinstance(verb, Command):
        return _of_command(words, verb)
    return _of_choice(words, verb) if isinstance(verb, Choice) else _of_operation(words, verb)


def _of_command(words: str, command: Command) -> Callable[..., None]:
    options = command.options
    # What reading FILE takes as well is declared there.
    beside = EXTRA_OPTIONS if command.reads else ()
    passed = [one.name for one in command.own if one.name in beside]

    def run(*sources: Any, **given: Any) -> None:
        config = given.pop("config", None)
        sources[-1].methods = given.pop("methods", False)
        more = {name: given.pop(name) for name in passed}
        command.function()(*sources, **more, **arguments_of(given, options, config))

    own = [named(name, None, None) for name in passed]
    own += [one for one in command.shown() if one.name not in passed]
    if command.shows_result:
        own.append(named("methods", MethodsOption, False))
    if any(one.by_name for one in options.values()):
        own.append(named("config", ConfigOption, None))
    verb = _declare(run, words, command, own)
    if not command.alone:
        return verb

    @wraps(verb)
    def alone(**given: Any) -> None:
        from affectlab.models import one_process

        one_process(f"affectlab {words}")
        verb(**given)

    return alone


def _of_operation(words: str, operation: Operation) -> Callable[..., None]:
    options = operation.options

    def run(*sources: Any, **given: Any) -> None:
        more = {name: given.pop(name, None) for name in _OF_ALL}
        extras = {name: given.pop(name) for name in operation.extras}
        config = given.pop("config")
        check_outputs(more["to"], more["figures"])
        asked = arguments_of(given, options, config)
        _run(words, operation, sources, asked, extras, **more)

    return _declare(run, words, operation, [*operation.shown(), *_extras(operation)])


def _of_choice(words: str, choice: Choice) -> Callable[..., None]:
    options = choice.options

    def run(*sources: Any, **given: Any) -> None:
        more = {name: given.pop(name, None) for name in _OF_ALL}
        extras = {name: given.pop(name) for name in choice.extras}
        check_outputs(more["to"], more["figures"])
        asked = asked_of(given, options, given.pop("config"))
        name = asked.get(choice.option, choice.default)
        operation = choice.choices[name]
        *read, out = sources
        if isinstance(read[0], dict) and not operation.takes_counts:
            raise InputError(f"{choice.flag} {name} needs ratings; counts alone are not enough")
        if choice.default not in choice.operations[operation]:
            out.verb = f"{words} {name}"
        extras |= {one: asked[one] for one in operation.extras if one in asked}
        arguments = assembled(
            {one: value for one, value in asked.items() if one in operation.options},
            operation.options,
        )
        read = read if operation.takes_models else read[:1]
        _run(words, operation, [*read, out], arguments, extras, **more)

    verb = _declare(run, words, choice, [*choice.shown(), *_extras(choice)])

    @wraps(verb)
    def checked(**given: Any) -> None:
        # Before FILE is read, which can take long.
        choice.check(given)
        verb(**given)

    return checked


_OF_ALL = ("to", "figures", "methods")
"""Options of every verb that shows a result."""


def _extras(verb: Operation | Choice) -> list[inspect.Parameter]:
    """Make the options that a verb has beside those of its function."""
    flag, _, text = verb.applied.partition(": ")
    extras = {
        "everyone": (AllOption, False),
        "score": (ScoreOption, None),
        "applied": (Annotated[Path | None, Option(flag, help=text)], None),
    }
    return [
        *(named(name, *extras[name]) for name in verb.extras),
        named("to", OutOption, None),
        named("figures", FiguresOption, None),
        named("methods", MethodsOption, False),
        named("config", ConfigOption, None),
    ]


def _run(
    words: str,
    operation: Operation,
    sources: Sequence[Any],
    asked: dict[str, Any],
    extras: Mapping[str, Any],
    *,
    to: Path | None,
    figures: Path | None,
    methods: bool,
) -> None:
    """Call the function of an operation with what was read and asked for; show the result."""
    *read, out = sources
    out.methods = methods
    everything = read[0]
    # Counts have nobody behind them, and nothing to be said of their reading.
    counts = isinstance(everything, dict)
    warnings = [
        text
        for text in (() if operation.takes_pairs or counts else _warnings(read))
        if text.about not in operation.beside
    ]
    if operation.takes_pairs:
        read[0] = pairs_of(read[0], out, extras.get("score") or "subject-model")
    elif operation.only_people:
        read[0] = out.panel(everything, hint="")
    elif operation.people and not extras.get("everyone") and not counts:
        read[0] = out.panel(everything)
    with out.progress(words) as bar:
        if "progress" in operation.signature.names:
            asked["progress"] = bar
        result: Any = operation.function()(*read, **asked)
    applied = extras.get("applied")
    written = None if applied is None else result.apply(everything).write(applied)
    missing = _missing([everything if operation.takes_pairs else read[0], *read[1:]])
    show_result(result, out, to=to, figures=figures, warnings=warnings, missing=missing)
    if written is not None:
        out.show(f"ratings written to {written}")


def _declare(
    run: Callable[..., None],
    words: str,
    verb: Command | Operation | Choice,
    own: Sequence[inspect.Parameter],
) -> Callable[..., None]:
    """Give a verb its options and its help, and the ratings that it reads."""
    reading = None
    if not isinstance(verb, Command):
        instead = read_pairs if verb.takes_pairs else read_counts if verb.takes_counts else None
        scale = verb.models_scale if isinstance(verb, Operation) else None
        reading = Reading(verb.takes_models, scale, instead)
    elif verb.reads:
        reading = Reading(verb.takes_models)
    made = make_verb(run, words, own, reading)
    made.__doc__ = _help(words, verb)
    return made


def check_outputs(to: Path | None, figures: Path | None = None) -> None:
    """Refuse, before anything is computed, what a result cannot be written to."""
    check_folder(figures, "--figures")
    if to is not None and to.suffix.lower() in _FILES:
        check_file(to)
    else:
        check_folder(to, "--out")


def show_result(
    result: Result,
    out: Output,
    *,
    to: Path | None = None,
    figures: Path | None = None,
    warnings: Sequence[str] = (),
    doubts: Sequence[str] = (),
    missing: str = "",
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
    missing
        What was done with missing ratings, for the paragraph of methods.
    """
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        _write(result, to)
    if figures is not None:
        from affectlab.report import save_figures

        save_figures(result, figures)
    out.show(result)
    if out.methods:
        out.head("\nMethods")
        out.show(result.methods(missing=missing))
    if to is not None:
        out.show(f"written to {to}")
    if figures is not None:
        out.show(f"figures: {figures}")
    told = {"panel": out.who} if out.who else {}
    if out.methods:
        told["methods"] = result.methods(missing=missing)
    out.finish({**told, **result.to_dict()} if out.as_json else None, warnings, doubts=doubts)


def _missing(read: Sequence[Any]) -> str:
    """Say what was done with missing ratings, of people and models apart where that differs."""
    from affectlab.ratings import Ratings

    # Scores of pairs and counts have no answers behind them that could be missing.
    said = [
        (table.missing, who)
        for who, part in zip(("people", "models"), read, strict=False)
        for table in (part if isinstance(part, tuple) else (part,))
        if isinstance(table, Ratings)
    ]
    if len({text for text, _ in said}) < 2:
        return said[0][0] if said else ""
    return " ".join(
        text.replace("ratings", f"ratings of {who}", 1) for text, who in dict.fromkeys(said)
    )


def _warnings(read: Sequence[Ratings | None]) -> tuple[Caution, ...]:
    """Collect what reading had to say, each sentence once."""
    from affectlab.ratings import model_tables

    first, *rest = (one for one in read if one is not None)
    others = [table for one in rest for table in model_tables(one)]
    # That a table of models holds no people is as it should be; notes speak of its scale.
    usual = ("no people", "scale")
    of_models = (one for table in others for one in table.warnings if one.about not in usual)
    return tuple(dict.fromkeys((*first.warnings, *of_models)))


def _help(words: str, verb: Command | Operation | Choice) -> str:
    if isinstance(verb, Choice):
        about = "\n".join(
            f"- **{verb.flag} {', '.join(names)}** {one.summary}"
            for one, names in verb.operations.items()
        )
    else:
        signature = verb.signature
        about = signature.text if isinstance(verb, Command) else signature.description
    parts = [
        verb.summary,
        about,
        PAIRS if not isinstance(verb, Command) and verb.takes_pairs else "",
        COUNTS if not isinstance(verb, Command) and verb.takes_counts else "",
        *(f"Example: affectlab {words} {example}".rstrip() for example in verb.examples),
    ]
    return "\n\n".join(filter(None, parts))


def _write(result: Result, path: Path) -> None:
    if path.suffix.lower() in _FILES:
        write_table(result.to_frame(), path)
    else:
        result.write(path)
