"""``affectlab taxonomy``: which emotions there are, and how far apart they lie."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli.operations import show_result
from affectlab.core.errors import InputError
from affectlab.taxonomy import load_taxonomy, taxonomy_overview

if TYPE_CHECKING:
    from affectlab.cli._output import Output


def show(
    out: Output, taxonomy: str | None = None, *, costs: bool = False, to: Path | None = None
) -> None:
    """Show the labels of a taxonomy, with groups, polarity and definitions; or all taxonomies.

    Parameters
    ----------
    taxonomy
        Name of a taxonomy, or a TOML file; without it, the taxonomies that have a name.
    costs
        Show what it costs to take one label for another: the matrix of emotional distances.
    to
        Write the first table to this file (.csv, .parquet), or all of the result to this folder.
    """
    if taxonomy is None:
        if costs:
            raise InputError("--costs: expected the name of a taxonomy, or a file, too")
        result = taxonomy_overview()
    else:
        asked = load_taxonomy(taxonomy)
        result = asked.cost_matrix().to_result() if costs else asked.to_result()
    show_result(result, out, to=to)


def check(out: Output, file: Path) -> None:
    """Check a taxonomy file; exit code 2 and one sentence when something is wrong.

    Parameters
    ----------
    file
        TOML file of a taxonomy.
    """
    taxonomy = load_taxonomy(file)
    out.show(f"{file}: {len(taxonomy)} labels, version {taxonomy.version}; nothing is wrong.")
    out.finish({"name": taxonomy.name, "n_labels": len(taxonomy), "version": taxonomy.version})
