"""Signatures of public functions with what their documentation says, read from the source.

A list of options needs neither the function nor the libraries that it computes with: modules are
parsed, not imported.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

_PACKAGE = "affectlab"
_PLAIN: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "Path": Path}
_LISTS = {"Sequence", "Collection", "Iterable", "list", "tuple", "set", "frozenset"}
_MAPPINGS = {"Mapping", "dict"}
_ROLE = re.compile(r":\w+(?::\w+)?:`~?(?:[\w.]*\.)?([^`]+)`")
_NUMPYDOC = re.compile(r"^(?P<head>\w[\w ]*)\n-{3,}$", re.MULTILINE)


@dataclass(frozen=True)
class OptionsOf:
    """Says of which function a parameter takes options: ``Annotated[Options, OptionsOf("…:…")]``.

    What the function can be given by name, and the other does not have itself, become parameters of
    the other; it gets what was given as a mapping by name. What it says of them comes first.
    """

    place: str
    """``module:function``, the module without the name of the package, or a data class."""
    only: tuple[str, ...] = ()
    """Those that it takes; all where none is named."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function."""

    name: str
    kinds: tuple[Any, ...]
    """What a text can be read as: ``str``, ``int``, ``float``, ``bool``, ``Path``, ``Literal`` of
    some values, ``list`` of one of these, ``dict`` of texts to one of these."""
    default: Any
    """As written; None also where the source computes it."""
    is_required: bool
    help: str
    """First paragraph of its documentation, in plain words."""
    annotation: str = ""
    """As written."""
    by_name: bool = False
    """Whether it has to be given by name."""
    least: float | None = None
    most: float | None = None
    """Bounds, of an annotation such as ``Annotated[int, Ge(1)]``."""
    part_of: tuple[str, str] | None = None
    """The parameter that takes an object of settings, and the class (``module:name``) of which this
    is a field; "" where it takes options of another function (:class:`OptionsOf`)."""


@dataclass(frozen=True)
class Signature:
    """A function as its source declares it."""

    summary: str
    """First sentence of the documentation."""
    description: str
    """First paragraph behind it, where that is not about a formula."""
    text: str
    """All paragraphs behind it, up to the first section."""
    parameters: tuple[Parameter, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(parameter.name for parameter in self.parameters)


@cache
def read_signature(place: str) -> Signature:
    """Read the signature of a function of this package, and what its documentation says.

    Parameters
    ----------
    place
        ``module:function``, the module without the name of the package.

    Raises
    ------
    LookupError
        When there is no such function.

    Examples
    --------
    >>> found = read_signature("reliability.agreement.split_half:split_half")
    >>> found.summary
    "Compute the inter-subject correlation from random halves of each stimulus's ratings."
    >>> found.names[:3]
    ('ratings', 'scorer', 'n_splits')
    """
    module, _, _ = place.partition(":")
    function = _function(place)
    text = ast.get_docstring(function) or ""
    before, sections = _sections(text)
    summary, _, description = before.partition("\n\n")
    told = dict(_told(sections.get("Parameters", "")))
    by_name = {argument.arg for argument in function.args.kwonlyargs}
    own = {argument.arg for argument, _ in _arguments(function.args)}
    parameters: list[Parameter] = []
    for argument, default in _arguments(function.args):
        settings = argument.arg in by_name and _settings(argument.annotation, module)
        if settings:
            found, place = settings
            of = (argument.arg, f"{place}:{found.name}")
            parameters += (replace(one, part_of=of) for one in _fields(*settings) if one.help)
            continue
        if other := _other(argument.annotation):
            parameters += (
                replace(one, part_of=(argument.arg, ""), help=told.get(one.name) or one.help)
                for one in _by_name(other.place)
                if one.kinds and one.part_of is None and one.name not in own
                if one.name in (other.only or (one.name,))
            )
            continue
        parameters.append(
            _parameter(
                argument.arg,
                argument.annotation,
                default,
                module,
                help=told.get(argument.arg, ""),
                by_name=argument.arg in by_name,
            )
        )
    first, _, following = description.partition("\n\n")
    # A paragraph about a formula says nothing without it.
    shown = "" if ":math:" in first or following.startswith(".. math::") else first
    return Signature(_plain(summary), _plain(shown), _plain(description), tuple(parameters))


def _parameter(
    name: str, annotation: ast.expr | None, default: ast.expr | None, module: str, **more: Any
) -> Parameter:
    bounds: dict[str, Any] = dict(_bounds(annotation, module))
    return Parameter(
        name,
        tuple(dict.fromkeys(_kinds(annotation, module))),
        None if default is None else _value(default, module),
        default is None,
        annotation="" if annotation is None else ast.unparse(annotation),
        **bounds,
        **more,
    )


def _other(annotation: ast.expr | None) -> OptionsOf | None:
    """Find the function, or the class, of which a parameter takes options."""
    for node in ast.walk(annotation) if annotation is not None else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func) == OptionsOf.__name__:
            return OptionsOf(*map(ast.literal_eval, node.args))
    return None


def _by_name(place: str) -> Iterator[Parameter]:
    """Give what can be given by name to a function, or to a data class: its fields."""
    module, _, name = place.partition(":")
    found = _definitions(module).get(name)
    if not isinstance(found, ast.ClassDef):
        yield from (one for one in read_signature(place).parameters if one.by_name)
    else:
        yield from _fields(found, module)


def _settings(annotation: ast.expr | None, module: str) -> tuple[ast.ClassDef, str] | None:
    """Find the data class that a parameter takes, and its module."""
    if not isinstance(annotation, ast.Name):
        return None
    found, place = _resolve(annotation.id, module)
    if not isinstance(found, ast.ClassDef):
        return None
    is_data = any("dataclass" in ast.unparse(decorator) for decorator in found.decorator_list)
    return (found, place) if is_data else None


def _fields(settings: ast.ClassDef, module: str) -> Iterator[Parameter]:
    """Give the fields of a class of settings, with the text that follows them."""
    for field, following in zip_longest(settings.body, settings.body[1:]):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            text = ""
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                text = inspect.cleandoc(str(following.value.value))
            yield _parameter(
                field.target.id,
                field.annotation,
                field.value,
                module,
                help=_plain(_paragraph(text.splitlines())),
                by_name=True,
            )


def _bounds(annotation: ast.expr | None, module: str) -> Iterator[tuple[str, float]]:
    """Give what a number may be at least and at most."""
    for node in ast.walk(annotation) if annotation is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            bound = {"Ge": "least", "Le": "most"}.get(node.func.id)
            if bound:
                yield bound, ast.literal_eval(node.args[0])
        elif isinstance(node, ast.Name):
            found, place = _resolve(node.id, module)
            if isinstance(found, ast.Subscript):
                yield from _bounds(found, place)


def read_summary(place: str) -> str:
    """Read the first paragraph of what the documentation of a function says, and no more.

    Parameters
    ----------
    place
        As for :func:`read_signature`.

    Examples
    --------
    >>> read_summary("reliability.correlation.ppca:ppca")
    'Find the dimensions of judgement that are preserved between raters.'
    """
    return _plain((ast.get_docstring(_function(place)) or "").partition("\n\n")[0])


def _function(place: str) -> ast.FunctionDef:
    module, _, name = place.partition(":")
    function = _definitions(module).get(name)
    if not isinstance(function, ast.FunctionDef):
        raise LookupError(f"{_PACKAGE}.{module} defines no function {name}")
    return function


def _arguments(given: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    by_place = [*given.posonlyargs, *given.args]
    without = len(by_place) - len(given.defaults)
    yield from zip(by_place, [None] * without + list(given.defaults), strict=True)
    yield from zip(given.kwonlyargs, given.kw_defaults, strict=True)


@cache
def _definitions(module: str) -> dict[str, ast.AST]:
    """Give what the top level of a module names: functions, classes, values, imports."""
    root = Path(__file__).resolve().parents[2].joinpath(*filter(None, module.split(".")))
    file = root.with_suffix(".py")
    file = file if file.exists() else root / "__init__.py"
    found: dict[str, ast.AST] = {}
    for statement in _flat(ast.parse(file.read_bytes())):
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            found[statement.name] = statement
        elif isinstance(statement, ast.ImportFrom):
            found |= {alias.asname or alias.name: statement for alias in statement.names}
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if statement.value is not None:
                found[statement.target.id] = statement.value
        elif isinstance(statement, ast.Assign):
            found |= {
                target.id: statement.value
                for target in statement.targets
                if isinstance(target, ast.Name)
            }
    return found


def _flat(tree: ast.Module) -> Iterator[ast.stmt]:
    """Walk the top level, and what is imported there for annotations alone."""
    for statement in tree.body:
        yield from statement.body if isinstance(statement, ast.If) else [statement]


def _resolve(name: str, module: str) -> tuple[ast.AST | None, str]:
    """Look a name up where it is defined; give that and its module."""
    found = _definitions(module).get(name)
    if isinstance(found, ast.ImportFrom):
        place = found.module or ""
        if found.level or place.partition(".")[0] != _PACKAGE:
            return None, module
        original = next(a.name for a in found.names if (a.asname or a.name) == name)
        return _resolve(original, place.removeprefix(_PACKAGE).lstrip("."))
    return found, module


def _kinds(node: ast.AST | None, module: str) -> Iterator[Any]:
    """Give what a text can be read as for an annotation; nothing for what only Python can give."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _kinds(ast.parse(node.value, mode="eval").body, module)
    elif isinstance(node, ast.BinOp):
        yield from _kinds(node.left, module)
        yield from _kinds(node.right, module)
    elif isinstance(node, ast.Subscript):
        yield from _kinds_of_generic(node, module)
    elif isinstance(node, ast.Name):
        if node.id in _PLAIN:
            yield _PLAIN[node.id]
            return
        found, place = _resolve(node.id, module)
        if found is not None and not isinstance(found, ast.ClassDef | ast.FunctionDef):
            yield from _kinds(found, place)


def _kinds_of_generic(node: ast.Subscript, module: str) -> Iterator[Any]:
    head = node.value.id if isinstance(node.value, ast.Name) else ""
    inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if head == "Literal":
        yield Literal[tuple(ast.literal_eval(value) for value in inner)]
    elif head == "Annotated":
        yield from _kinds(inner[0], module)
    elif head in ("Optional", "Union"):
        for part in inner:
            yield from _kinds(part, module)
    elif head in _LISTS:
        for kind in list(_kinds(inner[0], module))[:1]:
            yield list[kind]  # type: ignore[valid-type]
    elif head in _MAPPINGS:
        for kind in list(_kinds(inner[1], module))[:1]:
            yield dict[str, kind]  # type: ignore[valid-type]


def _value(node: ast.expr, module: str) -> Any:
    if isinstance(node, ast.Name):
        found, place = _resolve(node.id, module)
        return _value(found, place) if isinstance(found, ast.expr) else None
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "Path":
        (node,) = node.args
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """Split a docstring at the headings of numpydoc."""
    before, *rest = _NUMPYDOC.split(text)
    return before.strip(), dict(zip(rest[::2], rest[1::2], strict=True))


def _told(section: str) -> Iterator[tuple[str, str]]:
    """Give what a section says of each name; several names can share a text."""
    names: list[str] = []
    lines: list[str] = []
    for line in [*section.strip("\n").splitlines(), "end"]:
        if line and not line.startswith(" "):
            yield from ((name, _plain(_paragraph(lines))) for name in names)
            names = [name.strip() for name in line.partition(":")[0].split(",")]
            lines = []
        else:
            lines.append(line.strip())


def _paragraph(lines: list[str]) -> str:
    return "\n".join(lines).strip().partition("\n\n")[0]


def _plain(text: str) -> str:
    """Write documentation in plain words: without roles and marks, paragraphs in one line each."""
    text = _ROLE.sub(r"\1", text).replace("``", "")
    text = re.sub(r"\*(\w[^*\n]*)\*|`([^`\n]+)`", r"\1\2", text)
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
