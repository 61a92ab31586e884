"""Costs of mistakes, as verbs take them: a kind that the taxonomy makes, or a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.taxonomy import CostMatrix

__all__ = ["TaxonomyCostsOption", "taxonomy_costs"]

_KINDS = ("ring", "groups", "reference")

TaxonomyCostsOption = Annotated[
    str | None,
    Option(
        "--costs",
        help="What mistakes cost: ring, groups, reference (of the taxonomy), or a CSV file with a "
        "matrix. By default what the taxonomy has.",
        metavar="ring|groups|reference|FILE",
        show_default=False,
    ),
]


def taxonomy_costs(text: str | None) -> CostMatrix | str | None:
    """Read a matrix of costs from a file, unless the text is a kind of costs.

    Raises
    ------
    InputError
        When there is no such file.
    """
    if text is None or text in _KINDS:
        return text
    from affectlab.core.errors import InputError
    from affectlab.evaluation import read_costs

    if not Path(text).is_file():
        raise InputError(f"--costs {text!r}: no such file; expected {', '.join(_KINDS)} or a file")
    return read_costs(text)
