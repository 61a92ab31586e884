"""``affectlab taxonomy``: which emotions there are, and how far apart they lie."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from affectlab.cli._options import prints
from affectlab.cli._output import Output
from affectlab.cli.operations import OutOption, show_result
from affectlab.cli.parameters import Argument

__all__ = ["check", "costs", "list_all", "show"]

Name = Annotated[
    str,
    Argument(
        metavar="NAME",
        help="Name of a taxonomy, or a TOML file.",
        offers="taxonomy:list_taxonomies",
    ),
]


@prints("taxonomy list")
def list_all(out: Output) -> None:
    """List the taxonomies that can be used by name.

    Example: affectlab taxonomy list
    """
    from affectlab.taxonomy import taxonomy_overview

    show_result(taxonomy_overview(), out)


@prints("taxonomy show")
def show(out: Output, name: Name, to: OutOption = None) -> None:
    """Show the labels of a taxonomy, with groups, polarity and definitions.

    Example: affectlab taxonomy show goemotions
    """
    from affectlab.taxonomy import load_taxonomy

    show_result(load_taxonomy(name).to_result(), out, to=to)


@prints("taxonomy costs")
def costs(out: Output, name: Name, to: OutOption = None) -> None:
    """Show what it costs to take one label for another: the emotional distance matrix.

    Example: affectlab taxonomy costs mikels
    """
    from affectlab.taxonomy import load_taxonomy

    show_result(load_taxonomy(name).cost_matrix().to_result(), out, to=to)


@prints("taxonomy check")
def check(
    out: Output, file: Annotated[Path, Argument(metavar="FILE", help="TOML file of a taxonomy.")]
) -> None:
    """Check a taxonomy file; exit code 2 and one sentence when something is wrong.

    Example: affectlab taxonomy check my-emotions.toml
    """
    from affectlab.taxonomy import load_taxonomy

    taxonomy = load_taxonomy(file)
    out.show(f"{file}: {len(taxonomy)} labels, version {taxonomy.version}; nothing is wrong.")
    out.finish({"name": taxonomy.name, "n_labels": len(taxonomy), "version": taxonomy.version})
