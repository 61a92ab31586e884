"""Everything that is found by name: a name of ours, an entry point, ``module:name``, or an object.

Each kind of thing has one :class:`Registry`. It says what is listed, finds what a name means, and
words what goes wrong. Nothing is registered by changing a list: ours is a table beside the kind,
and another package adds to a kind by an entry point in its group. A name of ours always means ours,
whatever a package calls its own.
"""

from __future__ import annotations

import re
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from inspect import Parameter, signature
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, ClassVar, Generic, TypeVar, cast, get_type_hints

from affectlab.core.errors import AffectlabError, InputError, unknown_name
from affectlab.core.words import shown


class BrokenPlugWarning(UserWarning):
    """What another package adds cannot be used, and is left out where it was not asked for."""


@dataclass(frozen=True)
class Plug:
    """What a name leads to."""

    name: str
    found: Any
    where: str
    """How errors name it: for an entry point its name, its place and its group."""
    ours: bool = False


def find_plug(group: str, name: str) -> Plug | None:
    """Load the entry point of that name; None where there is none.

    Raises
    ------
    InputError
        When it cannot be loaded.

    Examples
    --------
    >>> find_plug("affectlab.nobody_adds_these", "x") is None
    True
    """
    return next((_loaded(point) for point in entry_points(group=group) if point.name == name), None)


def find_sound_plugs(group: str) -> Iterator[Plug]:
    """Load what can be loaded of a group, where nothing of it was asked for by name.

    Warns
    -----
    BrokenPlugWarning
        Of each entry point that cannot be loaded.

    Examples
    --------
    >>> list(find_sound_plugs("affectlab.nobody_adds_these"))
    []
    """
    for point in entry_points(group=group):
        try:
            yield _loaded(point)
        except InputError as problem:
            warn_of_plug(problem)


def warn_of_plug(problem: InputError) -> None:
    """Warn that an entry point is left out, and why.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     warn_of_plug(InputError("entry point 'x' cannot be loaded: no y"))
    >>> str(said[0].message)
    "entry point 'x' cannot be loaded: no y; it is left out"
    """
    warnings.warn(f"{problem}; it is left out", BrokenPlugWarning, stacklevel=3)


@contextmanager
def _working_folder() -> Iterator[None]:
    """Find modules of the working folder as well, behind all that are installed."""
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _loaded(point: EntryPoint) -> Plug:
    where = f"entry point {point.name!r} ({point.value}) of group {point.group!r}"
    return Plug(point.name, _called(point.load, where), where)


def _called(function: Callable[..., Any], where: str, *given: Any, **settings: Any) -> Any:
    """Call what belongs to another package; what goes wrong in it is told with its place."""
    try:
        return function(*given, **settings)
    # What another package raises is up to that package; a missing extra keeps its kind of error.
    except Exception as error:
        if isinstance(error, AffectlabError) and not isinstance(error, InputError):
            raise
        raise InputError(f"{where} cannot be loaded: {error}") from error


Item = TypeVar("Item")
_MODULE_AND_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)*:[A-Za-z_]\w*(\.\w+)*")


@dataclass(frozen=True, eq=False, kw_only=True)
class Registry(Generic[Item]):
    """Where things of one kind are found: what a name leads to is the thing itself."""

    all: ClassVar[dict[str, Registry[Any]]] = {}
    """The registries of all modules that are loaded, by group."""
    _or: ClassVar[str] = ""

    kind: str
    """What is looked up, in the singular, for errors: ``"taxonomy"``."""
    group: str
    """Group of entry points through which other packages add to it."""
    accept: type[Item] | Callable[[Any, str], Item | None]
    """The class of what is looked up; or a function of a thing and of how errors name it, which
    gives None where it is nothing of the kind, and raises where a part of it is wrong."""
    expected: str
    """What is accepted, in words, for errors."""
    ours: Mapping[str, Any] = field(default_factory=dict)
    """What belongs to affectlab: things by name, or where they lie as ``module:name``, which is
    imported when it is asked for."""
    of_function: Callable[..., Item] | None = None
    """Turns a function, and settings by name with ``name`` among them, into an item."""
    any_spelling: bool = False
    """Whether names of ours may be written in capitals, and with blanks or hyphens."""
    from_modules: bool = True
    """Whether ``module:name`` is looked up: not where names may come from files of others."""
    otherwise: str = ""
    """What may be given beside a name, put behind the error for a name that is not known."""

    def __post_init__(self) -> None:
        self.all[self.group] = self

    def own_names(self) -> tuple[str, ...]:
        """Names of what belongs to affectlab."""
        return tuple(self.ours)

    def names(self) -> tuple[str, ...]:
        """Names of ours, and sorted those that installed packages add; nothing is imported."""
        own = self.own_names()
        added = {point.name for point in entry_points(group=self.group)}
        return (*own, *sorted(added.difference(own)))

    def check_name(self, name: str) -> None:
        """Refuse what is neither a name nor begins with one and a colon; nothing is imported."""
        if name not in self.names() and name.partition(":")[0] not in self.names():
            raise self._unknown(name)

    def load(self, given: Any) -> Item:
        """Find one by its name, or check what was given ready.

        Raises
        ------
        InputError
            When nothing has that name, it cannot be loaded, or is of another kind.
        """
        return self._load(given, {})

    def load_all(self, *, skip_broken: bool = False) -> dict[str, Item]:
        """Load all there are, by name; `skip_broken`: warn of what cannot be used, and go on."""
        found = {}
        for name in self.names():
            try:
                found[name] = self.load(name)
            except InputError as problem:
                if not skip_broken:
                    raise
                warn_of_plug(problem)
        return found

    def _load(self, given: Any, settings: Mapping[str, Any]) -> Item:
        if not isinstance(given, str):
            return self._ready(given, settings)
        plug = self.find(given)
        if plug is not None:
            return self._item(plug, plug.name)
        return self._imported(given, given, settings)

    def _own(self, name: str) -> Any:
        """Give what a name of ours leads to."""
        found = self.ours[name]
        if not isinstance(found, str):
            return found
        module, _, attribute = found.partition(":")
        return getattr(import_module(module), attribute)

    def find(self, name: str) -> Plug | None:
        """Look a name up, first among ours; give what it leads to, or None."""
        plain = name
        if self.any_spelling:
            plain = name.strip().casefold().replace("-", "_").replace(" ", "_")
        if plain in self.own_names():
            return Plug(plain, self._own(plain), f"{self.kind} {plain!r}", ours=True)
        return find_plug(self.group, name)

    def _imported(self, text: str, name: str, settings: Mapping[str, Any]) -> Item:
        """Take ``module:name`` for what is given; `name` is what was looked up before."""
        unknown = self._unknown(name)
        if not self.from_modules or not _MODULE_AND_NAME.fullmatch(text):
            raise unknown
        module, _, attribute = text.partition(":")
        where = f"{self.kind} {shown(text, 120)!r}"
        try:
            with _working_folder():
                found: Any = import_module(module)
        except ModuleNotFoundError as missing:
            if missing.name not in (module, module.partition(".")[0]):
                raise InputError(
                    f"{where}: module {module} needs {missing.name!r}, which is not installed"
                ) from None
            raise InputError(
                f"{unknown}; no module {missing.name!r} can be imported for a function as "
                "module:name (PYTHONPATH adds folders)"
            ) from None
        # What a module's import raises is up to the module.
        except Exception as error:
            raise InputError(f"{where}: importing {module} fails: {error}") from error
        for part in attribute.split("."):
            if not hasattr(found, part):
                raise InputError(f"{where}: module {module} has no {attribute!r}")
            found = getattr(found, part)
        return self._ready(found, settings)

    def _unknown(self, name: str) -> InputError:
        known, said = self.names(), shown(name, 80)
        if known:
            error = unknown_name(self.kind, said, known)
        else:
            error = InputError(
                f"unknown {self.kind} {said!r}; no package that is installed adds one (entry "
                f"points {self.group})"
            )
        return InputError(f"{error}; {self.otherwise}") if self.otherwise else error

    def _ready(self, given: Any, settings: Mapping[str, Any]) -> Item:
        """Check what is given in place of a name; a function may become an item."""
        item = self._accepted(given, f"the {self.kind} given")
        if item is not None:
            if settings:
                named = getattr(given, "name", type(given).__name__)
                raise InputError(
                    f"{self.kind} {named!r} is given ready; expected no settings beside it, not "
                    f"{', '.join(sorted(settings))}: settings are for what is given by name"
                )
            return item
        if self.of_function is None or not callable(given):
            comma = "," if " or " in self.expected else " or"
            raise InputError(
                f"{self.kind}: expected a name{comma} {self.expected}, not {type(given).__name__}"
            )
        settings = {**settings, "name": str(settings.get("name") or function_name(given))}
        where = f"{self.kind} {shown(settings['name'], 80)!r} is given ready"
        _check_settings(partial(self.of_function, given), settings, where)
        return self.of_function(given, **settings)

    def _item(self, plug: Plug, name: str) -> Item:
        """Check what a name has led to; `name` is for a function that has none itself."""
        item = self._accepted(plug.found, plug.where)
        if item is None and self.of_function is not None and callable(plug.found):
            item = self.of_function(plug.found, name=getattr(plug.found, "name", "") or name)
        if item is None:
            raise InputError(
                f"{plug.where} gives {type(plug.found).__name__}; expected {self.expected}"
                f"{self._or}"
            )
        return item

    def _accepted(self, thing: Any, where: str) -> Item | None:
        if not isinstance(self.accept, type):
            return self.accept(thing, where)
        return cast("Item", thing) if isinstance(thing, self.accept) else None


@dataclass(frozen=True, eq=False, kw_only=True)
class Factories(Registry[Item]):
    """Where a name leads to a function that makes the thing of settings.

    Of what another package adds, the function is given what stands behind the colon of the name, if
    anything does, and the settings by name.
    """

    place: str = ""
    """Parameter of our functions that takes what stands behind the colon of ``name:place``; "" for
    a kind whose names have no colon."""
    spec: bool = False
    """Whether settings may stand in the name, see :func:`parse_spec`."""
    shared: tuple[str, ...] = ()
    """Settings that are given to all, whether they have them or not."""
    of_path: Callable[..., Item] | None = None
    """What is called with a folder or a file that is given in place of a name, and the settings."""
    rename: Callable[[Item, Any], Item] | None = None
    """Gives what was made the name of the setting ``name``, which all have then."""

    def make(self, given: Any, settings: Mapping[str, Any]) -> Item:
        """Make one by its name and settings, or check what was given ready.

        Raises
        ------
        InputError
            When the name or a setting is not known, or it cannot be made.
        """
        return self._load(given, settings)

    def _load(self, given: Any, settings: Mapping[str, Any]) -> Item:
        if not isinstance(given, str):
            return self._ready(given, settings)
        text, of_name = given, dict[str, Any]()
        # The name of a folder may have commas in it.
        if self.spec and not (self.of_path and Path(given).exists()):
            text, of_name = parse_spec(given, self.kind)
        name, place = text, ""
        if self.place:
            name, _, place = text.partition(":")
        for key in of_name:
            if key in settings and key not in self.shared:
                raise InputError(
                    f"{self.kind} {shown(given, 120)!r}: {key!r} is given twice; expected once"
                )
        shared = {k: v for k, v in settings.items() if k in self.shared}
        own = {k: v for k, v in settings.items() if k not in self.shared} | of_name
        plug = self.find(name)
        if plug is None and self.of_path and text and Path(text).exists():
            plug = Plug(text, partial(self.of_path, Path(text)), f"{self.kind} {text!r}", ours=True)
            return self._made(plug, "", own, shared)
        if plug is None:
            return self._imported(text, name, own)
        return self._made(plug, place, own, shared)

    def _made(self, plug: Plug, place: str, own: dict[str, Any], shared: Mapping[str, Any]) -> Item:
        make, ours = plug.found, plug.ours
        if not callable(make):
            raise InputError(
                f"{plug.where} gives {type(make).__name__}; expected a function that makes "
                f"{self.expected}"
            )
        called = own.pop("name", None) if self.rename else None
        known, where = _parameters(make)[0], f"{self.kind} {shown(plug.name, 80)!r}"
        if place and ours and self.place not in known:
            raise InputError(
                f"{self.kind} '{plug.name}:{shown(place, 60)}': {plug.name!r} takes nothing behind "
                "a colon"
            )
        _check_settings(make, own, where, ("name",) if self.rename else ())
        own = {key: value for key, value in shared.items() if key in known} | own
        if ours:
            item: Item = make(**({self.place: place} if place else {}) | own)
        else:
            made = _called(make, plug.where, *([place] if place else []), **own)
            spec = f"{plug.name}:{place}" if place else plug.name
            item = self._item(Plug(plug.name, made, plug.where), spec)
        return item if called is None or self.rename is None else self.rename(item, called)


@dataclass(frozen=True, eq=False, kw_only=True)
class Definitions(Registry[Item]):
    """Where definitions lie that users write: ours, and their own, are TOML files."""

    _or: ClassVar[str] = ", or a function that returns one"
    package: str
    """Package whose folder ``data`` holds ours."""
    parse: Callable[[str, str], Item]
    """Turns TOML text, and the name of its place, into a definition."""
    any_spelling: bool = True
    from_modules: bool = False
    _parsed: dict[str, Item] = field(default_factory=dict, repr=False)

    def own_names(self) -> tuple[str, ...]:
        """Names of our files, sorted."""
        folder = files(self.package) / "data"
        names = (entry.name for entry in folder.iterdir())
        return tuple(sorted(name[: -len(".toml")] for name in names if name.endswith(".toml")))

    def names(self) -> tuple[str, ...]:
        """Names of ours and of those that installed packages add, sorted."""
        return tuple(sorted(super().names()))

    def builtin(self, name: str) -> Item:
        """Load one of ours; the file is read once."""
        if name not in self._parsed:
            text = (files(self.package) / "data" / f"{name}.toml").read_text(encoding="utf-8")
            self._parsed[name] = self.parse(text, f"built-in {self.kind} {name}")
        return self._parsed[name]

    def _own(self, name: str) -> Item:
        return self.builtin(name)

    def _load(self, given: Any, settings: Mapping[str, Any]) -> Item:
        """Load by name or from a file: text that ends in ``.toml`` or holds a separator."""
        if isinstance(given, Path) or (
            isinstance(given, str) and (given.endswith(".toml") or re.search(r"[/\\]", given))
        ):
            return self._read(Path(given))
        return super()._load(given, settings)

    def _read(self, path: Path) -> Item:
        from affectlab.core.files.toml import read_text

        return self.parse(read_text(path), str(path))

    def _unknown(self, name: str) -> InputError:
        error = super()._unknown(name)
        return InputError(f"{error}; the path of a file ends in .toml") if "." in name else error

    def _item(self, plug: Plug, name: str) -> Item:
        found = plug.found
        if callable(found) and self._accepted(found, plug.where) is None:
            found = _called(found, plug.where)
        if isinstance(found, str | Path):
            return self._read(Path(found))
        return super()._item(Plug(plug.name, found, plug.where), name)


@cache
def modules_of(package: str) -> tuple[ModuleType, ...]:
    """Import all modules within a package, so that what stands in a new file is found.

    Compiled loops, in modules that end in ``_kernels``, define nothing that has a name, and are
    left alone.

    Examples
    --------
    >>> [module.__name__.rpartition(".")[2] for module in modules_of("affectlab.core.compiled")]
    ['bits', 'correlation', 'groups', 'tally']
    """
    found = walk_packages(import_module(package).__path__, f"{package}.")
    return tuple(
        import_module(module.name) for module in found if not module.name.endswith("_kernels")
    )


@dataclass(frozen=True)
class Described:
    """What has a name and says what it is; fields of subclasses are settings.

    Subclasses stand under :func:`described`. Users write settings behind the name, as in
    ``"emoint,cut=0.5"``, and get them as their type says.
    """

    kind: ClassVar[str] = ""
    """What such a thing is, in the singular, for errors."""
    name: ClassVar[str] = ""
    """Short name by which it is found."""
    title: ClassVar[str] = ""
    """What it is, in a few words."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for one in fields(self):
            object.__setattr__(self, one.name, self._typed(one.name, hints[one.name]))

    def _typed(self, name: str, kind: Any) -> Any:
        """Give the value of a setting as its type; names may be written as numbers."""
        from pydantic import ConfigDict, TypeAdapter, ValidationError

        value = getattr(self, name)
        adapter: TypeAdapter[Any] = TypeAdapter(kind, config=ConfigDict(coerce_numbers_to_str=True))
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            said = error.errors()[0]["msg"]
            raise InputError(
                f"{self.kind} {self.name!r}: {name} = {value!r} is not understood ({said})"
            ) from None


AnyDescribed = TypeVar("AnyDescribed", bound=Described)


def described(**said: Any) -> Callable[[type[AnyDescribed]], type[AnyDescribed]]:
    """Make a decorator of subclasses of :class:`Described`: what is said of the class, by name.

    Examples
    --------
    >>> @described(kind="animal", name="cat")
    ... class Cat(Described):
    ...     lives: int = 9
    >>> Cat(lives="7")
    Cat(lives=7)
    """

    def make(cls: type[AnyDescribed]) -> type[AnyDescribed]:
        made = dataclass(frozen=True, kw_only=True)(cls)
        for name, value in said.items():
            setattr(made, name, value)
        return made

    return make


@dataclass(frozen=True, eq=False, kw_only=True)
class Classes(Factories[AnyDescribed]):
    """What is described by classes: ours are those with a name in the modules of a package."""

    package: str

    @cached_property
    def _classes(self) -> dict[str, type[AnyDescribed]]:
        kind = cast("type[AnyDescribed]", self.accept)
        named = {
            str(vars(thing).get("name") or ""): thing
            for module in modules_of(self.package)
            for thing in vars(module).values()
            if isinstance(thing, type) and issubclass(thing, kind)
        }
        named.pop("", None)
        return dict(sorted(named.items()))

    def own_names(self) -> tuple[str, ...]:
        """Names of the classes of ours."""
        return tuple(self._classes)

    def _own(self, name: str) -> type[AnyDescribed]:
        return self._classes[name]


def callables(thing: Any, where: str) -> Any:  # noqa: ARG001
    """Accept what can be called, for a :class:`Registry` of functions.

    Examples
    --------
    >>> callables(len, "mine") is len, callables(3, "mine")
    (True, None)
    """
    return thing if callable(thing) else None


def function_name(function: object) -> str:
    """Name a function or an object that can be called, by its ``name`` or what it is called.

    Examples
    --------
    >>> function_name(str.split), function_name(lambda: 0)
    ('split', 'lambda')
    """
    own = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(getattr(function, "name", "") or str(own).rsplit(".", 1)[-1].strip("<>"))


def _parameters(make: Callable[..., Any]) -> tuple[list[str], bool]:
    """Give the settings that a function has parameters for, and whether it takes any other."""
    try:
        found = signature(make).parameters.values()
    except (TypeError, ValueError):
        # Some of what is compiled does not say.
        return [], True
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return (
        [one.name for one in found if one.kind in named],
        any(one.kind == Parameter.VAR_KEYWORD for one in found),
    )


def _check_settings(
    make: Callable[..., Any], settings: Mapping[str, Any], where: str, also: tuple[str, ...] = ()
) -> None:
    known, any_other = _parameters(make)
    for name in settings:
        if name not in known and not any_other:
            raise unknown_name("setting", name, [*known, *also], where)


def parse_spec(text: str, kind: str = "metric") -> tuple[str, dict[str, Any]]:
    """Split ``NAME,KEY=VALUE,…`` into the name and the settings.

    Values are read as TOML, what is none is text; brackets and quotes keep commas together.

    Raises
    ------
    InputError
        When a setting has no ``=``, or is given twice.

    Examples
    --------
    >>> parse_spec("deep:faces,distance=cosine")
    ('deep:faces', {'distance': 'cosine'})
    >>> parse_spec("landmarks,file=points.npz,points=[0,16]")
    ('landmarks', {'file': 'points.npz', 'points': [0, 16]})
    >>> parse_spec("lpips,trunk='a,b.pth',net=vgg")
    ('lpips', {'trunk': 'a,b.pth', 'net': 'vgg'})
    >>> parse_spec("qualtrics,questions=[Q5, Q6 again]")
    ('qualtrics', {'questions': ['Q5', 'Q6 again']})
    """
    name, *parts = _split(text)
    settings: dict[str, Any] = {}
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key or not value:
            raise InputError(
                f"{kind} {shown(text, 120)!r}: {shown(part, 60)!r} is not understood; expected "
                "NAME,SETTING=VALUE"
            )
        if key in settings:
            raise InputError(f"{kind} {shown(text, 120)!r}: {key!r} is given twice; expected once")
        settings[key] = _value(value)
    return name.strip(), settings


def _split(text: str) -> list[str]:
    parts, depth, quote = [""], 0, ""
    for place, character in enumerate(text):
        before = parts[-1].rstrip()[-1:]
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and (before == "=" or (depth > 0 and before in "[,")):
            # One that is never closed is a letter, as in the name of a person.
            quote = character if character in text[place + 1 :] else ""
        else:
            depth += (character == "[") - (character == "]")
            if character == "," and depth <= 0:
                parts.append("")
                continue
        parts[-1] += character
    return parts


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        if text.startswith("[") and text.endswith("]") and text[1:-1].strip():
            return [_value(part.strip()) for part in _split(text[1:-1])]
        return text
