"""Reading and writing result files, strictly."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.errors import InputError
from affectlab.evaluation._result_file import SCHEMA, ResultFile

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = ["parse_result", "problem_of", "read_result", "write_result"]

_LARGEST = 16 * 2**20
"""Bytes of a file above which it is no result file."""
_SHOWN = 60
_EXPECTED = {
    "bool_type": "expected true or false",
    "dict_type": "expected an object",
    "float_type": "expected a number",
    "int_type": "expected a whole number",
    "list_type": "expected a list",
    "model_type": "expected an object",
    "string_type": "expected text",
    "string_unicode": "expected text that is valid Unicode",
    "finite_number": "expected a finite number, or null with a status",
}
_UNSAFE = re.compile(r"[^a-z0-9]+")


class _Refused(ValueError):
    """Text that is JSON for Python only, or says two things under one key."""


def read_result(path: str | Path) -> ResultFile:
    """Read a result file.

    Raises
    ------
    InputError
        One sentence that names the file, the key, the value and what was expected.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > _LARGEST:
            raise InputError(
                f"{path}: {size / 2**20:,.0f} MiB; expected a result file of at most "
                f"{_LARGEST // 2**20} MiB"
            )
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; expected a result file") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8; expected JSON") from None
    return parse_result(text, where=str(path))


def parse_result(text: str, *, where: str) -> ResultFile:
    """Parse the text of a result file; `where` names it in errors.

    Examples
    --------
    >>> parse_result('{"schema": "affectlab/result/1", "name": 7}', where="net.json")
    Traceback (most recent call last):
    affectlab.errors.InputError: net.json: name = 7: expected text (and 2 more problems)
    """
    from pydantic import ValidationError

    try:
        content = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except _Refused as error:
        raise InputError(f"{where}: {error}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{where}, line {error.lineno}: not valid JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{where}: lists inside lists go too deep") from None
    except ValueError as error:
        # A number with more digits than Python converts.
        raise InputError(f"{where}: not valid JSON: {error}") from None
    _check_version(content, where)
    try:
        return ResultFile.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{where}: {problem_of(error)}") from None


def write_result(result: ResultFile, path: str | Path) -> Path:
    """Write a result file.

    Parameters
    ----------
    result
        What to write.
    path
        The file, ending in ``.json``; or a folder, made when absent, in which the file is named
        after the model, its version and prompt.

    Returns
    -------
    The file.

    Raises
    ------
    InputError
        When the folder holds results of another model under that name, or the file is no ``.json``.
    """
    path = Path(path)
    if path.suffix.lower() != ".json" or path.is_dir():
        if path.suffix and not path.is_dir():
            raise InputError(f"{path}: expected a file that ends in .json, or a folder")
        path.mkdir(parents=True, exist_ok=True)
        path = path / f"{_slug(result)}.json"
        if path.exists() and _identity(read_result(path)) != _identity(result):
            raise InputError(
                f"{path} holds results of {read_result(path).name!r}; give {result.name!r} a file "
                "name of its own"
            )
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    content = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    for metric, full in zip(content["metrics"], result.metrics, strict=True):
        # A value that is not defined is said to be so.
        if full.value is None:
            metric["value"] = None
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def _identity(result: ResultFile) -> tuple[str | None, ...]:
    return (result.name, result.version, result.prompt, result.role)


def _slug(result: ResultFile) -> str:
    """Make a file name of what tells a model apart: letters and digits only, never a path."""
    parts = [part for part in (result.name, result.version, result.prompt) if part]
    folded = unicodedata.normalize("NFKD", "-".join(parts)).encode("ascii", "ignore").decode()
    return _UNSAFE.sub("-", folded.lower()).strip("-")[:80] or "result"


def _check_version(content: Any, where: str) -> None:
    if not isinstance(content, dict):
        raise InputError(f"{where}: holds {_value(content)}; expected an object")
    given = content.get("schema")
    if given == SCHEMA:
        return
    if given is None:
        raise InputError(f"{where}: key 'schema' is missing; expected {SCHEMA!r}")
    hint = ""
    if isinstance(given, str) and given.startswith("affectlab/result/"):
        hint = "; a newer affectlab may read it"
    raise InputError(f"{where}: schema = {_value(given)}: expected {SCHEMA!r}{hint}")


def problem_of(error: ValidationError) -> str:
    """Put the first problem, and the number of others, into words."""
    problems = error.errors(include_url=False)
    # A key that is not known says more than the missing one it was meant to be.
    first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    key = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if first["type"] == "missing":
        text = f"key {key!r} is missing"
    elif first["type"] == "extra_forbidden":
        text = f"key {key!r} is not known; expected {_known(first['loc'])}"
    elif first["type"] == "literal_error":
        text = f"{key} = {_value(first['input'])}: expected {first['ctx']['expected']}"
    elif isinstance(first["input"], dict) and first["type"] == "value_error":
        text = f"{key or 'the file'}: {message}"
    else:
        expected = _EXPECTED.get(first["type"], message.replace("input should", "should"))
        text = f"{key} = {_value(first['input'])}: {expected}"
    others = len(problems) - 1
    return text + (f" (and {others} more problem{'s' if others > 1 else ''})" if others else "")


def _known(place: tuple[int | str, ...]) -> str:
    """Name the keys that an object may have."""
    part: Any = ResultFile.model_json_schema()
    definitions = part.get("$defs", {})
    for step in place[:-1]:
        if isinstance(step, int):
            part = part.get("items", {})
        else:
            part = part.get("properties", {}).get(step, {})
            choices = [part, *part.get("anyOf", [])]
            part = next((c for c in choices if "$ref" in c or "items" in c), part)
        if "$ref" in part:
            part = definitions[part["$ref"].rsplit("/", 1)[-1]]
    names = list(part.get("properties", {}))
    return ", ".join(names) if names else "no other key"


def _value(value: Any) -> str:
    said = {True: "true", False: "false", None: "null"}.get(value) if _is_word(value) else None
    shown = said or (repr(value) if not isinstance(value, dict) else "an object")
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"


def _is_word(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for position, name in enumerate(names) if name in names[:position])
        raise _Refused(f"key {twice!r} stands twice in one object; expected once")
    return found


def _no_constant(word: str) -> Any:
    raise _Refused(f"{word} is no JSON number; expected null with a status")
