"""One thing has one name, one place and one default in every public function and command."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType, SimpleNamespace

import numpy as np
import pytest
from tests.coefficient_faces import FACES
from tests.public_api.commands import command_entries
from tests.public_api.entries import Function, module_entries
from tests.public_api.source import all_modules, listed_in_all, module_tree, public_modules

from affectlab import reliability
from affectlab.core.estimates import Estimate, Estimates
from affectlab.ratings import Ratings

DEFAULTS = {"n_boot": 1000, "n_permutations": 9999, "confidence": 0.95, "seed": 0}
OTHER_DEFAULTS = {
    # The interval follows from a formula; replicates are for dependent votes.
    ("affectlab.evaluation.preferences", "n_boot"): 0,
    ("affectlab.evaluation.preference_verdicts", "n_boot"): None,
    # By default as many as the correction for all tests needs.
    ("affectlab.evaluation.fairness", "n_permutations"): None,
    # By default that of the times it is given.
    ("affectlab.analysis.sampling_interval", "confidence"): None,
    # How many new ratings an interval holds, which is no interval of an estimate.
    ("affectlab.models.heads.HeadBank.calibrate_intervals", "confidence"): 0.9,
    # How sure a detected face has to be, which is no interval.
    ("affectlab.models.differences.MediaPipeLandmarker.__init__", "confidence"): 0.5,
}
STATISTICS = [
    name
    for name in public_modules()
    if name.split(".")[1:2] in (["reliability"], ["evaluation"], ["analysis"])
]
ROLES = {"pilot", "people", "models", "reference", "scores", "values", "texts"}
"""First arguments that are ratings in a role of their own."""
NAMES_OF_OTHERS = {
    "boot": "n_boot",
    "permutations": "n_permutations",
    "to": "path",
    "out": "path",
    "folder": "path",
    "directory": "path",
    "place": "path",
    "report": "progress",
}
RANDOM = np.random.default_rng(0).integers(1, 4, (3, 8))


def _public_parameters() -> Iterator[tuple[str, str, object]]:
    """Every parameter of every public function and method: where, its name, its default."""
    for module in public_modules():
        for name, promise in module_entries(module).items():
            if promise.startswith("("):
                (node,) = ast.parse(f"def f{promise}: pass").body
                assert isinstance(node, Function)
                for part, default in _with_defaults(node.args):
                    yield f"{module}.{name}", part, default


def _with_defaults(given: ast.arguments) -> Iterator[tuple[str, object]]:
    plain = [*given.posonlyargs, *given.args]
    missing = [None] * (len(plain) - len(given.defaults))
    pairs = [
        *zip(plain, [*missing, *given.defaults], strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    for part, default in pairs:
        yield part.arg, inspect.Parameter.empty if default is None else ast.unparse(default)


def _functions(module: str) -> Iterator[tuple[str, FunctionType]]:
    there = import_module(module)
    for name in listed_in_all(module):
        if isinstance(function := getattr(there, name), FunctionType):
            yield name, function


def test_one_default_for_one_parameter() -> None:
    others = {}
    for where, name, default in _public_parameters():
        known = default is not inspect.Parameter.empty
        if known and name in DEFAULTS and default != repr(DEFAULTS[name]):
            others[where, name] = default
    assert others == {key: repr(value) for key, value in OTHER_DEFAULTS.items()}


def test_one_name_for_one_parameter() -> None:
    assert [
        f"{where}({name}): {NAMES_OF_OTHERS[name]} is expected"
        for where, name, _ in _public_parameters()
        if name in NAMES_OF_OTHERS
    ] == []


@pytest.mark.parametrize("module", STATISTICS)
def test_ratings_come_first_then_models_and_the_rest_by_name(module: str) -> None:
    for name, function in _functions(module):
        parameters = [*inspect.signature(function).parameters.values()]
        if not parameters:
            continue
        first, *rest = parameters
        if "Ratings" in str(first.annotation).split():
            assert first.name == "ratings" or first.name in ROLES, name
        if first.name != "ratings":
            continue
        for place, part in enumerate(rest):
            optional = part.default is not part.empty and part.kind is not part.KEYWORD_ONLY
            assert not optional or (place == 0 and part.name == "models"), f"{name}({part.name})"


def test_sentences_are_a_tuple_on_every_result() -> None:
    kinds = {}
    # Results are given by public functions, and most of them are public in no package.
    classes = [
        node
        for module in all_modules()
        for node in module_tree(module).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    for node in classes:
        for part in node.body:
            if isinstance(part, Function) and part.name == "sentences":
                is_property = ast.unparse(part.decorator_list[0]).endswith("property")
                kinds[node.name] = (is_property, part.returns)
            elif isinstance(part, ast.AnnAssign) and ast.unparse(part.target) == "sentences":
                kinds[node.name] = (True, part.annotation)
    assert {"Result", "VlmRun"} <= set(kinds)
    for name, (attribute, annotation) in kinds.items():
        assert attribute, name
        assert ast.unparse(annotation) == "tuple[str, ...]", name


COEFFICIENTS = {
    name: SimpleNamespace(
        **({"scale": "1-3"} if "scale" in inspect.signature(face).parameters else {})
    )
    for name, face in FACES.items()
    if face.coefficient.keys == ("label",)
} | {
    "krippendorff_alpha": SimpleNamespace(level="ordinal", n_boot=0),
    "random_pair_kappa": SimpleNamespace(scale="1-3"),
}


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_a_coefficient_gives_an_estimate_for_an_array_and_a_table_for_ratings(name: str) -> None:
    coefficient = FACES.get(name) or getattr(reliability, name)
    options = vars(COEFFICIENTS[name])
    one = coefficient(RANDOM, **options)
    rows = [(f"s{u}", f"r{r}", RANDOM[r, u]) for r in range(3) for u in range(8)]
    columns = zip(("stimulus", "rater", "value"), zip(*rows, strict=True), strict=True)
    table = coefficient(Ratings({key: list(of) for key, of in columns}, scale="1-3"), **options)
    assert isinstance(one, Estimate)
    assert isinstance(table, Estimates)
    assert table.keys == ("label",)
    assert table["rating"].value == pytest.approx(one.value, abs=1e-12, nan_ok=True)


def test_options_are_named_like_parameters() -> None:
    options = [entry.split()[-1] for entry in command_entries() if " --" in entry]
    names = {part for option in options for part in option.split("/") if part.startswith("--")}
    # Those that only a file of settings takes are written as in Python.
    names |= {f"--{name.replace('_', '-')}" for name in options if not name.startswith("-")}
    assert {"--out", "--n-boot", "--n-permutations"} <= names
    odd = [name for name in names if re.search(r"^--(boot|permutations|path|to)$|-to$", name)]
    assert odd == []
    defaults = {
        value
        for entry, value in command_entries().items()
        if entry.endswith(" --n-boot") and "=" in value
    }
    assert defaults == {"value = 1000"}
