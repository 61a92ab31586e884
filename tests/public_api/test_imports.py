"""Modules take from another package what its ``__init__`` hands out, not from its inside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from tests.public_api.source import all_modules, is_package, module_tree


def _inside(module: str, place: str) -> bool:
    """Say whether a module imports from a module that is inside a package of others."""
    package, own = (
        place.rpartition(".")[0],
        module if is_package(module) else module.rpartition(".")[0],
    )
    shared = package == "affectlab" or f"{package}.".startswith("affectlab.core.")
    within = f"{module}.".startswith(f"{package}.") or package.startswith(f"{own}.")
    return not (shared or within or is_package(place))


def _taken(module: str) -> Iterator[str]:
    for node in ast.walk(module_tree(module)):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_no_module_takes_from_the_inside_of_another_package() -> None:
    known = set(all_modules())
    crossing = [
        f"{module} takes from {place}"
        for module in all_modules()
        for place in sorted({*_taken(module)} & known)
        if _inside(module, place)
    ]
    if crossing:
        pytest.fail("\n".join(crossing), pytrace=False)


@pytest.mark.parametrize(
    ("module", "place", "crosses"),
    [
        ("affectlab.cli.agreement", "affectlab.reliability.agreement.alpha", True),
        ("affectlab.cli.agreement", "affectlab.reliability.agreement", False),
        (
            "affectlab.reliability.agreement.chance_corrected.kappa",
            "affectlab.reliability.agreement.alpha",
            False,
        ),
        ("affectlab.reliability.plan", "affectlab.reliability.agreement.alpha", False),
        ("affectlab.cli.agreement", "affectlab.core.errors", False),
    ],
)
def test_what_crosses(module: str, place: str, crosses: bool) -> None:
    assert _inside(module, place) is crosses
