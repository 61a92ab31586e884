"""Public functions of coefficients and metrics are written out, for type checkers and for help."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from tests.coefficient_faces import FACES

from affectlab import evaluation, reliability
from affectlab.evaluation.classification import CLASSIFICATION_METRICS
from affectlab.evaluation.classification.metrics import ClassificationMetric, accuracy
from affectlab.reliability.agreement import Coefficient, load_coefficients

COEFFICIENTS = {one.name: one for one in load_coefficients()}
METRICS = [name for name in CLASSIFICATION_METRICS if hasattr(evaluation, name)]
GENERIC = {
    name: part
    for name, part in inspect.signature(Coefficient.table).parameters.items()
    if part.kind is part.KEYWORD_ONLY
}
PROGRAM = """\
from affectlab.evaluation import ecc
from affectlab.ratings import Ratings
from affectlab.reliability import gwet_ac, intraclass_correlation, krippendorff_alpha

x = [[1.0, 2.0], [1.0, 2.0]]


def right(ratings: Ratings) -> None:
    one: float = krippendorff_alpha(ratings=x, level="nominal", target="stimuli").value
    two: float = krippendorff_alpha(ratings, by_label=False)["pooled"].value
    n: int = len(intraclass_correlation(x))
    three: float = ecc(["awe"], ["fear"], "mikels", sample_weight=[1])


def wrong(ratings: Ratings) -> None:
    krippendorff_alpha(x, lvel="nominal")
    krippendorff_alpha(x, level="nomial")
    gwet_ac(ratings, confidence="high")
    gwet_ac(ratings).value
    ecc(["awe"], ["fear"], "mikels", zero_devision=1)
    ecc(["awe"], ["fear"], "mikels", zero_division=1)
"""


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_a_coefficient_has_its_own_options_and_those_of_intervals(name: str) -> None:
    one = COEFFICIENTS[name]
    face = FACES[name]
    assert face.coefficient is one
    first, *rest = inspect.signature(face).parameters.values()
    _, *own = inspect.signature(one.statistic).parameters.values()
    assert first.name == "ratings"
    assert first.default is first.empty
    shared = list(GENERIC.values())
    expected = [part for part in own if part.name not in GENERIC] + shared
    assert [(part.name, part.default) for part in rest] == [
        (part.name, part.default) for part in expected
    ]
    assert [str(part.annotation) for part in rest[-len(shared) :]] == [
        str(part.annotation) for part in shared
    ]


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_has_the_options_that_change_it(name: str) -> None:
    face = getattr(evaluation, name)
    metric = CLASSIFICATION_METRICS[name]
    assert face.metric is metric
    options = inspect.signature(face).parameters
    every = inspect.signature(ClassificationMetric.__call__).parameters
    assert options.items() <= every.items()
    assert ("costs" in options) == (metric.needs == "costs")
    assert ("groups" in options) == (metric.needs == "polarity")


@pytest.mark.parametrize("name", [*COEFFICIENTS, *METRICS])
def test_every_option_is_documented_in_its_order(name: str) -> None:
    face = FACES.get(name) or getattr(evaluation, name)
    text = inspect.getdoc(face)
    assert text is not None
    section = text.partition("\nParameters\n----------\n")[2].partition("\nReturns\n")[0]
    heads = [line for line in section.splitlines() if line and not line.startswith(" ")]
    names = [part for head in heads for part in head.split(", ")]
    assert names == list(inspect.signature(face).parameters)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: reliability.krippendorff_alpha([[1, 2], [1, 2]], lvel="nominal"),
            r"krippendorff_alpha\(\) got an unexpected keyword argument 'lvel'; .*'level'",
        ),
        (
            lambda: accuracy(["a"], ["b"], sample_weigth=[1]),
            r"accuracy\(\) got an unexpected keyword argument 'sample_weigth'; .*'sample_weight'",
        ),
        (
            lambda: COEFFICIENTS["gwet_ac"]([[1, 2], [1, 2]], wights="linear"),
            r"gwet_ac\(\) got an unexpected keyword argument 'wights'; .*'weights'",
        ),
    ],
)
def test_a_wrong_option_names_the_function_and_the_nearest_option(call, message) -> None:
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.long
def test_a_type_checker_refuses_wrong_options(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    source = Path(inspect.getfile(reliability)).parents[1]
    root = source.parents[1]
    config, cache = root / "pyproject.toml", root / ".mypy_cache"
    shown, _, _ = api.run([str(program), f"--config-file={config}", f"--cache-dir={cache}"])
    found = {int(line.split(":")[1]) for line in shown.splitlines() if ": error:" in line}
    begin = PROGRAM.splitlines().index("def wrong(ratings: Ratings) -> None:") + 2
    assert found == set(range(begin, begin + 6)), shown
