"""What is public is what the lists say; and the lists say what Python sees."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from importlib import import_module
from types import FunctionType

import pytest
from tests.public_api.entries import Function, module_entries, parameters
from tests.public_api.lists import FOLDER, current, difference, read_list, write_lists
from tests.public_api.manifest import manifest_text
from tests.public_api.names import entry_point_groups
from tests.public_api.source import REPOSITORY, listed_in_all, public_modules

from affectlab.cli.manifest import MANIFEST


def test_nothing_public_has_changed_unnoticed() -> None:
    now = current()
    known = {path.stem for path in FOLDER.glob("*.txt")}
    said = [
        f"{name} ({said})"
        for name in sorted({*now, *known})
        if (said := difference(read_list(FOLDER / f"{name}.txt"), now.get(name, {})))
    ]
    if said:
        sentence = (
            "what is public differs from tests/public_api/listed; where docs/reference/stability.md"
            f" allows the change, `make api` writes the lists anew: {'; '.join(said)}"
        )
        pytest.fail(sentence, pytrace=False)


def test_the_manifest_of_the_command_line_is_what_functions_say() -> None:
    assert MANIFEST.read_text("utf-8") == manifest_text(), "`make api` writes it anew"


def test_lists_are_read_as_they_were_written(tmp_path) -> None:
    (tmp_path / "affectlab.gone.txt").write_text("nothing")
    assert "affectlab.gone.txt" in write_lists(tmp_path)
    assert not (tmp_path / "affectlab.gone.txt").exists()
    assert write_lists(tmp_path) == []
    for name, entries in current().items():
        assert difference(read_list(tmp_path / f"{name}.txt"), entries) == "", name


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"a": "(x)", "b": "field"}, ""),
        ({"a": "(x)", "b": "field", "c": "()"}, "added: c"),
        ({"b": "field"}, "removed: a"),
        ({"a": "(x, y)", "b": "field"}, "changed: a, which was '(x)' and is '(x, y)'"),
        ({"b": "field", "a": "(x)"}, "another order, from a on"),
    ],
)
def test_the_sentence_names_what_changed(now: dict[str, str], said: str) -> None:
    assert difference({"a": "(x)", "b": "field"}, now) == said


@pytest.mark.parametrize(
    "text",
    [
        "()",
        "(a, b=1)",
        "(a, /, b, *, c)",
        "(a=1, /, b=2)",
        "(*, a, b='x')",
        "(*rest, a=None)",
        "(a, *rest, b=(1, 2), **options)",
    ],
)
def test_parameters_are_told_with_kind_and_default(text: str) -> None:
    node = ast.parse(f"def f{text}: pass").body[0]
    assert isinstance(node, Function)
    assert parameters(node, "affectlab") == text


def test_a_default_is_told_by_its_value() -> None:
    # The name of a private constant would hide that the default is another one.
    for text in read_list(FOLDER / "affectlab.reliability.txt").values():
        assert not re.search(r"=_[A-Z]", text)


# Models are left out here, because loading torch takes longer than all of this.
@pytest.mark.parametrize("module", [name for name in public_modules() if ".models" not in name])
def test_lists_say_what_python_sees(module: str) -> None:
    there = import_module(module)
    entries = module_entries(module)
    # The reference and completion show what a module says that it holds.
    assert set(listed_in_all(module)) <= set(dir(there))
    for name in listed_in_all(module):
        value = getattr(there, name)
        if isinstance(value, FunctionType) and entries[name].startswith("("):
            assert _bare(inspect.signature(value)) == _told(entries[name]), name
        if inspect.isclass(value) and dataclasses.is_dataclass(value):
            public = [f.name for f in dataclasses.fields(value) if not f.name.startswith("_")]
            prefix = f"{name}."
            told = [key.removeprefix(prefix) for key in entries if key.startswith(prefix)]
            if told:
                assert [field for field in told if field in public] == public, name


def test_groups_of_entry_points_are_documented() -> None:
    guide = (REPOSITORY / "docs" / "howto" / "plugins.md").read_text("utf-8")
    assert set(re.findall(r"(?m)^\| `(affectlab\.\w+)` \|", guide)) == entry_point_groups()


def test_the_first_page_of_the_reference_names_what_is_public() -> None:
    page = (REPOSITORY / "docs" / "reference" / "index.md").read_text("utf-8")
    names = re.findall(r"\{py:\w+\}`~(affectlab[\w.]*)\.(\w+)`", page)
    assert [name for module, name in names if name not in listed_in_all(module)] == []
    # A first page, not a list of all.
    assert 40 <= len(set(names)) <= 70


def _bare(signature: inspect.Signature) -> list[tuple[str, str, bool]]:
    return [
        (part.name, part.kind.name, part.default is not part.empty)
        for part in signature.parameters.values()
    ]


def _told(text: str) -> list[tuple[str, str, bool]]:
    node = ast.parse(f"def f{text}: pass").body[0]
    assert isinstance(node, Function)
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    n_required = len(plain) - len(given.defaults)
    kinds = ["POSITIONAL_ONLY"] * len(given.posonlyargs)
    kinds += ["POSITIONAL_OR_KEYWORD"] * len(given.args)
    told = [
        (part.arg, kind, place >= n_required)
        for place, (part, kind) in enumerate(zip(plain, kinds, strict=True))
    ]
    if given.vararg:
        told.append((given.vararg.arg, "VAR_POSITIONAL", False))
    told += [
        (part.arg, "KEYWORD_ONLY", default is not None)
        for part, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg:
        told.append((given.kwarg.arg, "VAR_KEYWORD", False))
    return told
