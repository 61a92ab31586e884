"""What is true for everything that is found by name, whatever its kind."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import affectlab
from affectlab import InputError
from affectlab.core.errors import MissingDependencyError
from affectlab.core.registry import BrokenPlugWarning, Factories, Registry


def registries() -> dict[str, Registry[Any]]:
    """All registries of the package, found by the modules that make one."""
    source = Path(affectlab.__file__).parent
    for path in source.rglob("*.py"):
        if re.search(r"= (Registry|Factories|Definitions)\b", path.read_text("utf-8")):
            parts = path.relative_to(source.parent).with_suffix("").parts
            try:
                import_module(".".join(parts))
            except ImportError as error:
                if error.name != "torch":
                    raise
    return dict(Registry.all)


ALL = registries()
OWN = [(group, name) for group, one in ALL.items() for name in one.own_names()]
every = pytest.mark.parametrize("group", ALL)


class Anything:
    """An object with the parts that any kind asks for."""

    name, kind, version, fingerprint = "anything", "image", "1", "f"
    width, batch, higher_is_more_different = 1, 1, True

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}

    def __call__(self, *given: Any) -> Any:
        return given

    encode = differences = score_items = __call__


def an_item(registry: Registry[Any]) -> Any:
    """Something of the kind, made without the libraries that the kind needs."""
    if isinstance(registry.accept, type):
        # Of a kind whose methods are abstract, a class that has them.
        methods = dict.fromkeys(getattr(registry.accept, "__abstractmethods__", ()), rows)
        return object.__new__(type("Some", (registry.accept,), methods))
    item = Anything()
    # Where classes are found by name, one of ours is a class.
    return item if registry.accept(item, "it") is item else registry.load(registry.own_names()[0])


def rows(*given: Any) -> Any:
    """A function that may become an item."""
    return [[1.0, 2.0] for _ in given[0]]


rows.labels = ("joy",)  # type: ignore[attr-defined]
Added = tuple[Any, list[tuple[Any, ...]]]


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Added]:
    """Install a package that adds to one kind: good, broken and odd parts, and our own names.

    Gives the good part, and what its function has been called with.
    """

    def install(group: str) -> Added:
        registry, module = ALL[group], ModuleType("added_parts")
        item, seen = an_item(registry), list[tuple[Any, ...]]()

        def make(*place: str, level: float = 0.0) -> Any:
            seen.append((*place, level))
            return item

        def fails() -> Any:
            raise RuntimeError("no weights")

        makes = isinstance(registry, Factories)
        parts = {
            "item": item,
            "good": make if makes else item,
            "number": 7,
            "odd": (lambda: 7) if makes else 7,
            "function": (lambda: rows) if makes else rows,
            "fails": fails,
        }
        for name, part in parts.items():
            setattr(module, name, part)
        monkeypatch.setitem(sys.modules, "added_parts", module)
        names = {f"added-{name}": name for name in (*parts, "absent")}
        names |= dict.fromkeys(registry.own_names(), "absent")
        points = [EntryPoint(name, f"added_parts:{part}", group) for name, part in names.items()]
        monkeypatch.setattr(
            "affectlab.core.registry.entry_points",
            lambda group: [point for point in points if point.group == group],
        )
        return item, seen

    return install


@pytest.mark.parametrize(("group", "name"), OWN)
def test_names_of_ours_lead_to_what_they_say(
    group: str, name: str, added: Callable[[str], Added]
) -> None:
    registry = ALL[group]
    # What a package offers under our names is not even loaded.
    added(group)
    assert registry.names().count(name) == 1
    try:
        plug = registry.find(name)
    except MissingDependencyError as error:
        said = str(error)
        assert "pip install" in said
        return
    assert plug is not None
    assert plug.ours
    assert callable(plug.found) or not isinstance(registry, Factories)
    # Whatever says its name is found by it.
    said = getattr(plug.found, "name", name)
    assert not isinstance(said, str) or said == name
    if not isinstance(registry, Factories):
        assert registry.load(name) is plug.found


@every
def test_what_is_given_ready_passes_through(group: str) -> None:
    registry = ALL[group]
    item = an_item(registry)
    assert registry.load(item) is item
    with pytest.raises(InputError, match=rf"^(the )?{registry.kind}.* expected "):
        registry.load(3)
    if isinstance(registry, Factories):
        with pytest.raises(InputError, match=r"is given ready; expected no settings .* not level"):
            registry.make(item, {"level": 1})


@every
def test_a_package_adds_to_it(group: str, added: Callable[[str], Added]) -> None:
    registry = ALL[group]
    item, seen = added(group)
    assert [name for name in registry.names() if name.startswith("added-")] == sorted(
        f"added-{name}" for name in ("absent", "fails", "function", "good", "item", "number", "odd")
    )
    assert registry.load("added-good") is item
    if isinstance(registry, Factories):
        assert registry.make("added-good", {"level": 0.5}) is item
        place = ("here",) if registry.place else ()
        assert registry.load("added-good:here" if place else "added-good") is item
        assert seen == [(0.0,), (0.5,), (*place, 0.0)]
        with pytest.raises(InputError, match="unknown setting 'levle'; did you mean 'level'"):
            registry.make("added-good", {"levle": 0.5})
    if registry.of_function is not None:
        assert registry.load("added-function").name == "added-function"
        assert registry.load(rows).name == "rows"


@every
def test_what_a_package_adds_and_cannot_be_used(group: str, added: Callable[[str], Added]) -> None:
    registry = ALL[group]
    added(group)
    where = r"entry point 'added-{0}' \(added_parts:{0}\) of group '" + group + "' "
    wrong = "gives int; expected|has no name; expected"
    with pytest.raises(InputError, match=f"^{where.format('absent')}cannot be loaded: .*absent"):
        registry.load("added-absent")
    for name in ("number", "odd"):
        with pytest.raises(InputError, match=f"^{where.format(name)}({wrong})"):
            registry.load(f"added-{name}")
    if isinstance(registry, Factories):
        with pytest.raises(InputError, match=f"^{where.format('fails')}cannot be loaded: no we"):
            registry.load("added-fails")


@every
def test_a_name_that_is_not_known_is_told_with_the_closest(
    group: str, added: Callable[[str], Added], monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = ALL[group]
    added(group)
    closest = f"^unknown {registry.kind} 'added-goood'; did you mean 'added-good'"
    with pytest.raises(InputError, match=closest):
        registry.load("added-goood")
    monkeypatch.setattr("affectlab.core.registry.entry_points", lambda group: [])
    none = f"no package that is installed adds one .entry points {group}"
    with pytest.raises(InputError, match="expected one of: " if registry.own_names() else none):
        registry.load("qqqq")


@every
def test_what_modules_hold(group: str, added: Callable[[str], Added]) -> None:
    registry = ALL[group]
    item, _ = added(group)
    if not registry.from_modules:
        with pytest.raises(InputError, match=f"unknown {registry.kind} 'added_parts:item'"):
            registry.load("added_parts:item")
        return
    assert registry.load("added_parts:item") is item
    for name, said in (
        ("added_parts:nothing", "module added_parts has no 'nothing'"),
        ("no_such_module:x", "no module 'no_such_module' can be imported"),
    ):
        with pytest.raises(InputError, match=said):
            registry.load(name)


@pytest.fixture
def hail(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry[int]]:
    registry = Registry(
        kind="hail", group="affectlab.hails", accept=int, expected="a number", ours={"one": 1}
    )
    points = [EntryPoint("lost", "no_such_module:x", registry.group)]
    monkeypatch.setattr("affectlab.core.registry.entry_points", lambda group: points)
    yield registry
    del Registry.all[registry.group]


def test_all_at_once(hail: Registry[int]) -> None:
    with pytest.raises(InputError, match=r"'lost' .*cannot be loaded"):
        hail.load_all()
    with pytest.warns(BrokenPlugWarning, match=r"'lost' .*'affectlab.hails'.*; it is left out$"):
        assert hail.load_all(skip_broken=True) == {"one": 1}
