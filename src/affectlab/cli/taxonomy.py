"""``affectlab taxonomy``: which emotions there are, and how far apart they lie."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output, write_csv
from affectlab.cli.parameters import Argument, Option

__all__ = ["check", "costs", "list_all", "show"]

Name = Annotated[
    str,
    Argument(
        metavar="NAME",
        help="Name of a taxonomy, or a TOML file.",
        offers="taxonomy:list_taxonomies",
    ),
]


def list_all(as_json: JsonOption = False, quiet: QuietOption = False, seed: SeedOption = 0) -> None:
    """List the taxonomies that can be used by name.

    Example: affectlab taxonomy list
    """
    from affectlab.core.errors import InputError
    from affectlab.core.terminal import Table
    from affectlab.taxonomy import list_taxonomies, load_taxonomy

    out = Output("taxonomy list", as_json=as_json, quiet=quiet)
    known, broken = [], []
    for name in list_taxonomies():
        try:
            known.append((name, load_taxonomy(name)))
        # What one package adds must not hide the rest.
        except InputError as problem:
            broken.append(str(problem))
    table = Table(box=None, header_style="bold")
    for column in ("name", "labels", "title"):
        table.add_column(column, justify="right" if column == "labels" else "left")
    for name, entry in known:
        table.add_row(name, str(len(entry.labels)), entry.title)
    out.show(table)
    out.finish(
        [{"name": name, "n_labels": len(entry), "title": entry.title} for name, entry in known],
        doubts=broken,
    )


def show(
    name: Name, as_json: JsonOption = False, quiet: QuietOption = False, seed: SeedOption = 0
) -> None:
    """Show the labels of a taxonomy, with groups, polarity and definitions.

    Example: affectlab taxonomy show goemotions
    """
    from dataclasses import asdict

    from affectlab.taxonomy import load_taxonomy

    out = Output("taxonomy show", as_json=as_json, quiet=quiet)
    taxonomy = load_taxonomy(name)
    out.show(taxonomy)
    out.finish(
        {
            "name": taxonomy.name,
            "title": taxonomy.title,
            "version": taxonomy.version,
            "source": taxonomy.source,
            "ring": taxonomy.ring,
            "labels": [asdict(entry) for entry in taxonomy.entries],
        }
    )


def costs(
    name: Name,
    to: Annotated[
        Path | None,
        Option("--out", help="Write the matrix to this CSV file.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Show what it costs to take one label for another: the emotional distance matrix.

    Example: affectlab taxonomy costs mikels
    """
    from affectlab.core.terminal import Table
    from affectlab.taxonomy import load_taxonomy

    out = Output("taxonomy costs", as_json=as_json, quiet=quiet)
    matrix = load_taxonomy(name).cost_matrix()
    table = Table(box=None, header_style="bold")
    table.add_column("true \\ answered")
    for label in matrix.labels:
        table.add_column(label, justify="right")
    for label, row in zip(matrix.labels, matrix.matrix, strict=True):
        table.add_row(label, *(f"{cost:g}" for cost in row))
    if to is None:
        out.show(table)
    else:
        write_csv(matrix.to_frame(), to)
        out.show(f"written to {to}")
    out.finish({"labels": matrix.labels, "matrix": matrix.matrix})


def check(
    file: Annotated[Path, Argument(metavar="FILE", help="TOML file of a taxonomy.")],
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Check a taxonomy file; exit code 2 and one sentence when something is wrong.

    Example: affectlab taxonomy check my-emotions.toml
    """
    from affectlab.taxonomy import load_taxonomy

    out = Output("taxonomy check", as_json=as_json, quiet=quiet)
    taxonomy = load_taxonomy(file)
    out.show(f"{file}: {len(taxonomy)} labels, version {taxonomy.version}; nothing is wrong.")
    out.finish({"name": taxonomy.name, "n_labels": len(taxonomy), "version": taxonomy.version})
