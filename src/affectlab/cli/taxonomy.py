"""``affectlab taxonomy``: which emotions there are, and how far apart they lie."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli.operations import show_result
from affectlab.taxonomy import load_taxonomy, taxonomy_overview

if TYPE_CHECKING:
    from affectlab.cli._output import Output


def list_all(out: Output) -> None:
    """List the taxonomies that can be used by name."""
    show_result(taxonomy_overview(), out)


def show(out: Output, taxonomy: str, *, to: Path | None = None) -> None:
    """Show the labels of a taxonomy, with groups, polarity and definitions.

    Parameters
    ----------
    taxonomy
        Name of a taxonomy, or a TOML file.
    to
        Write the first table to this file (.csv, .parquet), or all of the result to this folder.
    """
    show_result(load_taxonomy(taxonomy).to_result(), out, to=to)


def costs(out: Output, taxonomy: str, *, to: Path | None = None) -> None:
    """Show what it costs to take one label for another: the emotional distance matrix.

    Parameters
    ----------
    taxonomy
        Name of a taxonomy, or a TOML file.
    to
        Write the first table to this file (.csv, .parquet), or all of the result to this folder.
    """
    show_result(load_taxonomy(taxonomy).cost_matrix().to_result(), out, to=to)


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
