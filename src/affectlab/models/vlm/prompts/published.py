"""Prompts as their authors wrote them: read from a file that the user has, and never executed."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import string
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import joined, shown

__all__ = ["Pieces", "Place", "PublishedPrompt", "read_prompt_file"]

_PLACES = (
    *("label", "definition", "words", "labels", "question", "scale"),
    *("image", "audio", "text", "caption", "file_name"),
)
"""What is put into a prompt; ``file_name`` is the same for all, since names may tell the label."""
_ALSO = {
    **dict.fromkeys(("emotion", "category"), "label"),
    **dict.fromkeys(("emotions", "categories", "label_list", "list"), "labels"),
    **dict.fromkeys(("picture", "photo", "img"), "image"),
    **dict.fromkeys(("sound", "voice", "speech"), "audio"),
    **dict.fromkeys(("sentence", "comment", "utterance"), "text"),
    **dict.fromkeys(("filename", "image_name"), "file_name"),
}
"""Other names of the same places."""
_KINDS = (".ipynb", ".py", ".txt", ".md")
_DOUBLE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_SINGLE = re.compile(r"\{([A-Za-z_]\w*)\}")
_PICTURE_LINK = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LARGEST = 32 * 2**20
"""Bytes of a file that is read; notebooks hold pictures."""
_LONGEST = 1_000_000
"""Characters of one text: a few lines that double each other would fill any memory."""
_MOST = 100_000
"""Entries of a list, with those of the lists in it."""


@dataclass(frozen=True)
class Place:
    """Where something of the question is put in."""

    name: str


Pieces = tuple[str | Place, ...]


@dataclass(frozen=True)
class PublishedPrompt:
    """A prompt in the words of its authors; made by :func:`read_prompt_file`."""

    name: str
    """Name of the file, with that of the text in it."""
    sha256: str
    """Of the bytes of the file."""
    pieces: Pieces = field(repr=False)
    again: Pieces = field(default=(), repr=False)
    """What follows it from the second asking on."""

    @property
    def places(self) -> frozenset[str]:
        """Names of what is put in."""
        return frozenset(one.name for one in self.pieces if isinstance(one, Place))

    @property
    def sentence(self) -> str:
        """Say what was taken from which file."""
        put = f", with {joined(sorted(self.places))} put in" if self.places else ""
        return (
            f"prompt as published: {self.name}, {_length(self.pieces):,} characters{put} "
            f"(SHA-256 {self.sha256})"
        )


def read_prompt_file(place: str | Path) -> PublishedPrompt:
    """Read a prompt as it was published.

    Parameters
    ----------
    place
        A notebook (``.ipynb``), a Python file (``.py``) or a text (``.txt``, ``.md``), with
        ``#NAME`` behind it for a variable or a cell of text (``#cell-3``); without, the longest
        text of the file. ``#NAME+OTHER`` names what follows the prompt when the question is asked
        again. Code is parsed, never executed: texts, lists and dicts that are joined and put into
        each other are followed, and nothing else is.

    Returns
    -------
    PublishedPrompt
        With places such as ``{label}``, ``{labels}``, ``{image}`` and ``{text}``. Other names in
        braces are looked up among the variables of the file.

    Raises
    ------
    InputError
        When the file cannot be read, holds no such text, or has an unknown place.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ask.py")
    ...     _ = path.write_text('TASK = "Rate it"\\nPROMPT = f"{TASK}: how much {label}?"')
    ...     prompt = read_prompt_file(f"{path}#PROMPT")
    >>> prompt.pieces, prompt.name
    (('Rate it: how much ', Place(name='label'), '?'), 'ask.py#PROMPT')
    """
    path, name = _split(str(place))
    content = _read(path)
    text = _decoded(content, path)
    plain: dict[str, Any] = {"": text}
    variables: dict[str, Any] = {}
    if path.suffix.lower() == ".py":
        plain, variables = {}, _variables([text], path)
    elif path.suffix.lower() == ".ipynb":
        code, plain = _cells(text, path)
        variables = _variables(code, path)
    coded = {key: one for key, one in variables.items() if isinstance(one, str | tuple)}
    texts = {key: _filled(one, variables) for key, one in {**plain, **coded}.items()}
    if not texts:
        raise InputError(f"prompt {shown(path)} holds no text; expected a variable with one")
    # What is written in code is sent; what stands beside it mostly explains.
    among = coded or plain
    names = name.split("+") if name else [max(among, key=lambda one: _length(texts[one]))]
    if len(names) > 2:
        raise InputError(f"prompt {name!r}: expected one name, or two with a + between them")
    unknown = [one for one in names if one not in texts]
    if unknown:
        known = joined(sorted(filter(None, texts))[:12], "or") or "no name, since it is one text"
        raise InputError(f"{shown(path)} holds no text {unknown[0]!r}; expected {known}")
    said = "+".join(names)
    whole = f"{path.name}#{said}" if said else path.name
    parts = [_checked(texts[one], whole) for one in names]
    return PublishedPrompt(whole, hashlib.sha256(content).hexdigest(), *parts)


def _split(place: str) -> tuple[Path, str]:
    """Tell the file from the name behind it; a # may be part of the path."""
    path, mark, name = place.rpartition("#")
    return (Path(path), name) if mark and not Path(place).exists() else (Path(place), "")


def _read(path: Path) -> bytes:
    if path.suffix.lower() not in _KINDS:
        raise InputError(
            f"prompt {shown(path)}: expected protocol, described, or a file ({', '.join(_KINDS)})"
        )
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"prompt {shown(path)} cannot be read ({why}); expected a file") from None
    if len(content) > _LARGEST:
        raise InputError(f"prompt {shown(path)} has more than 32 MB; expected a smaller file")
    return content


def _decoded(content: bytes, path: Path) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"prompt {shown(path)} is not in UTF-8 ({error.reason})") from None
    if not text.strip():
        raise InputError(f"prompt {shown(path)} is empty; expected the words of a prompt")
    return text


def _cells(text: str, path: Path) -> tuple[list[str], dict[str, Any]]:
    """Give the code of a notebook, and its cells of text by their number."""
    try:
        cells = [(one["cell_type"], "".join(one["source"])) for one in json.loads(text)["cells"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"prompt {shown(path)} is no notebook; expected cells in JSON") from None
    code = [
        # Commands of the notebook are no Python.
        "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("!", "%")))
        for kind, source in cells
        if kind == "code"
    ]
    plain = {
        f"cell-{number}": _PICTURE_LINK.sub("", source)
        for number, (kind, source) in enumerate(cells, 1)
        if kind != "code" and source.strip()
    }
    return code, plain


# What variables hold, as far as it can be said without running anything.


class _UnknownError(Exception):
    """What this is cannot be said without running it."""


def _variables(sources: Sequence[str], path: Path) -> dict[str, Any]:
    """Give texts, lists and dicts by the name of their variable; the last assignment holds."""
    known: dict[str, Any] = {}
    unread = ""
    for source in sources:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            unread = str(error)
            continue
        kinds = (ast.Assign, ast.AnnAssign, ast.AugAssign)
        assigned = [node for node in ast.walk(tree) if isinstance(node, kinds)]
        for node in sorted(assigned, key=lambda one: one.lineno):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if node.value is None or not isinstance(targets[0], ast.Name):
                continue
            name = targets[0].id
            try:
                value = _value(node.value, known)
                if isinstance(node, ast.AugAssign):
                    value = _together(_pieces(known[name]) + _pieces(value))
            # Code may hold anything, such as a sum of a text and a number.
            except (_UnknownError, KeyError, RecursionError, TypeError, ValueError):
                continue
            known[name] = value
    if unread and not known:
        raise InputError(f"prompt {shown(path)} is no Python that can be parsed ({unread})")
    return known


def _value(node: ast.AST, known: Mapping[str, Any]) -> Any:
    """Say what an expression is: constants, names, and what joins texts."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name() if node.id in known:
            return known[node.id]
        case ast.JoinedStr():
            return _together(piece for one in node.values for piece in _part(one, known))
        case ast.BinOp(op=ast.Add()):
            return _sum(node, known)
        case ast.List() | ast.Tuple() | ast.Set():
            return [_value(one, known) for one in node.elts]
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return {_key(key, known): _value(value, known) for key, value in pairs}
        case ast.ListComp() | ast.GeneratorExp():
            return _each(node, known)
        case ast.Call():
            return _called(node, known)
    raise _UnknownError


def _sum(node: ast.BinOp, known: Mapping[str, Any]) -> Any:
    """Join two texts, of which one may be unknown, or two lists."""
    sides = []
    for one in (node.left, node.right):
        try:
            sides.append(_value(one, known))
        except _UnknownError:
            sides.append(_part(one, known))
    if all(isinstance(one, list) for one in sides):
        return _bounded(sides[0]) + _bounded(sides[1])
    if not all(isinstance(one, str | tuple) for one in sides) or not any(
        isinstance(piece, str) for one in sides for piece in _pieces(one)
    ):
        raise _UnknownError
    return _together(piece for one in sides for piece in _pieces(one))


def _key(node: ast.AST | None, known: Mapping[str, Any]) -> Any:
    found = None if node is None else _value(node, known)
    if not isinstance(found, str | int | float):
        raise _UnknownError
    return found


def _part(node: ast.AST, known: Mapping[str, Any]) -> Pieces:
    """Give a part of a text; what is not known is a place with the name that code gives it."""
    inner = node.value if isinstance(node, ast.FormattedValue) else node
    try:
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            raise _UnknownError
        return _pieces(_value(inner, known))
    except _UnknownError:
        named = {ast.Name: "id", ast.Attribute: "attr"}.get(type(inner))
        if named is None and isinstance(inner, ast.Subscript):
            inner, named = inner.slice, "value"
        return (Place(str(getattr(inner, named or "", None) or ast.unparse(inner))),)


def _each(node: ast.ListComp | ast.GeneratorExp, known: Mapping[str, Any]) -> list[Any]:
    """Go through a list or a dict."""
    if len(node.generators) != 1 or node.generators[0].ifs:
        raise _UnknownError
    loop = node.generators[0]
    names = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
    found, size, through = [], 0, _value(loop.iter, known)
    if not isinstance(through, list | dict):
        raise _UnknownError
    for one in through:
        values = one if isinstance(loop.target, ast.Tuple) else [one]
        if len(names) != len(values) or not all(isinstance(name, ast.Name) for name in names):
            raise _UnknownError
        bound = {name.id: value for name, value in zip(names, values, strict=True)}  # type: ignore[attr-defined]
        found.append(_value(node.elt, {**known, **bound}))
        size += _length(_pieces(found[-1]))
        if size > _LONGEST:
            raise _UnknownError
    return found


def _called(node: ast.Call, known: Mapping[str, Any]) -> Any:
    """Say what the few functions that put prompts together give."""
    if not isinstance(node.func, ast.Attribute):
        raise _UnknownError
    name = node.func.attr
    options = {one.arg: one.value for one in node.keywords if one.arg}
    if name in ("dumps", "dedent") and len(node.args) == 1:
        value = _value(node.args[0], known)
        if name == "dumps":
            indent = _value(options["indent"], known) if "indent" in options else None
            return json.dumps(_bounded(value), indent=indent)
        return textwrap.dedent(_plain(value))
    of = _value(node.func.value, known)
    if name in ("items", "keys", "values") and isinstance(of, dict) and not node.args:
        return [list(one) if name == "items" else one for one in getattr(of, name)()]
    if name == "join" and len(node.args) == 1:
        parts = [_pieces(one) for one in _value(node.args[0], known)]
        between = [(_plain(of),)] * len(parts)
        woven = [
            piece for pair in zip(between, parts, strict=True) for one in pair for piece in one
        ]
        return _together(woven[1:])
    if name == "strip" and not node.args:
        return _plain(of).strip()
    if name == "format" and not node.args:
        given = dict(known)
        for key, one in options.items():
            given.pop(key, None)
            try:
                given[key] = _value(one, known)
            except _UnknownError:
                continue
        return _together(_filled(_plain(of), given))
    raise _UnknownError


def _plain(value: Any) -> str:
    if not isinstance(value, str):
        raise _UnknownError
    return value


def _pieces(value: Any) -> Pieces:
    if isinstance(value, tuple):
        return value
    return (value if isinstance(value, str) else str(_bounded(value)),)


def _bounded(value: Any) -> Any:
    """Refuse lists that hold each other so often that no memory could hold their text."""
    n, size, todo = 0, 0, [value]
    while todo:
        one = todo.pop()
        n += 1
        size += len(one) if isinstance(one, str) else 0
        if max(n, len(todo)) > _MOST or size > _LONGEST or isinstance(one, tuple):
            raise _UnknownError
        todo += one if isinstance(one, list) else one.values() if isinstance(one, dict) else ()
    return value


def _together(pieces: Iterable[str | Place]) -> str | Pieces:
    """Join texts that follow each other; a text alone stays one."""
    found: list[str | Place] = []
    for one in pieces:
        last = found[-1] if found else None
        if isinstance(one, str) and isinstance(last, str):
            found[-1] = last + one
        else:
            found.append(one)
    if _length(tuple(found)) > _LONGEST:
        raise _UnknownError
    return found[0] if len(found) == 1 and isinstance(found[0], str) else tuple(found)


def _length(pieces: str | Pieces) -> int:
    return sum(len(one) for one in pieces if isinstance(one, str))


# Places in a text: of Python's format, or names in single or double braces among other braces.


def _filled(value: str | Pieces, known: Mapping[str, Any]) -> Pieces:
    """Tell places from text, and put in what the file itself says of them."""
    if isinstance(value, tuple):
        return value
    found: list[str | Place] = []
    for text, name in _fields(value):
        found.append(text)
        if name:
            found += _looked_up(name, known)
    joined_up = _together([one for one in found if one != ""] or [""])
    return joined_up if isinstance(joined_up, tuple) else (joined_up,)


def _looked_up(name: str, known: Mapping[str, Any]) -> Pieces:
    own = next((one for one in known if one == name), None) or next(
        (one for one in known if one.casefold() == name.casefold()), None
    )
    if own is None:
        return (Place(name),)
    value = known[own]
    try:
        return _pieces(value if isinstance(value, str | tuple) else json.dumps(_bounded(value)))
    except (_UnknownError, TypeError):
        return (Place(name),)


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Give the parts of a text, each with the place behind it, or ""."""
    doubled = any(_canonical(one) for one in _DOUBLE.findall(text))
    if not doubled:
        try:
            parts = list(string.Formatter().parse(text))
        except ValueError:
            parts = []
        named = [name for _, name, _, _ in parts if name is not None]
        plain = all(not spec and not conversion for _, _, spec, conversion in parts)
        if named and plain and all(name.isidentifier() for name in named):
            yield from ((part, name or "") for part, name, _, _ in parts)
            return
    at = 0
    for match in (_DOUBLE if doubled else _SINGLE).finditer(text):
        yield text[at : match.start()], match[1]
        at = match.end()
    yield text[at:], ""


def _canonical(name: str) -> str | None:
    name = name.casefold()
    return name if name in _PLACES else _ALSO.get(name)


def _checked(pieces: Pieces, where: str) -> Pieces:
    """Give places their names, and refuse those that nothing is known of."""
    found: list[str | Place] = []
    for one in pieces:
        name = one if isinstance(one, str) else _canonical(one.name)
        if name is None:
            raise InputError(
                f"prompt {where} has the place {{{shown(one.name, 60)}}}, of which the file says "  # type: ignore[union-attr]
                f"no text; expected {joined(_PLACES, 'or')}"
            )
        found.append(name if isinstance(one, str) else Place(name))
    return tuple(found)
