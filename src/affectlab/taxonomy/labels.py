"""Labels of a taxonomy, and costs between labels, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Key, Number, Table, Text
from affectlab.core.words import plural

if TYPE_CHECKING:
    from affectlab.taxonomy.cost_matrix import CostMatrix
    from affectlab.taxonomy.taxonomy import Taxonomy

__all__ = ["costs_of", "labels_of", "taxonomy_overview"]

_WORDS = {
    "label": pl.String,
    "emoji": pl.String,
    "polarity": pl.String,
    "opposite": pl.String,
    "definition": pl.String,
    "aliases": pl.List(pl.String),
    "words": pl.List(pl.String),
}
_ENDS = {
    "low_end": pl.String,
    "high_end": pl.String,
    "lowest": pl.Float64,
    "highest": pl.Float64,
}


def taxonomy_overview() -> Result:
    """List the taxonomies that can be used by name, with what each is.

    Returns
    -------
    A row for each: ``name``, ``n_labels`` and ``title``. Notes say which of an installed package
    cannot be used.

    Examples
    --------
    >>> "ekman" in taxonomy_overview().to_frame()["name"]
    True
    """
    from affectlab.taxonomy.taxonomy import list_taxonomies, load_taxonomy

    known, broken = [], []
    for name in list_taxonomies():
        try:
            known.append((name, load_taxonomy(name)))
        # What one package adds must not hide the rest.
        except InputError as problem:
            broken.append(str(problem))
    frame = pl.DataFrame(
        [(name, len(one), one.title) for name, one in known],
        schema={"name": pl.String, "n_labels": pl.Int64, "title": pl.String},
        orient="row",
    )
    columns = (Key("name"), Count("n_labels"), Text("title"))
    table = Table("taxonomies", "Taxonomies by name.", frame, columns)
    return Result((table,), notes=tuple(broken))


def labels_of(taxonomy: Taxonomy) -> Result:
    """Give the labels of a taxonomy with all that is known of them."""
    rows: list[dict[str, Any]] = []
    for entry in taxonomy.entries:
        low, high = entry.ends or (None, None)
        lowest, highest = entry.limits or (None, None)
        rows.append(
            {name: getattr(entry, name, entry.name) for name in _WORDS}
            | {f"group_{level}": entry.groups[level] for level in taxonomy.levels}
            | {"low_end": low, "high_end": high, "lowest": lowest, "highest": highest}
        )
    groups = {f"group_{level}": pl.String for level in taxonomy.levels}
    schema: dict[str, Any] = {**_WORDS, **groups, **_ENDS}
    frame = pl.DataFrame(rows, schema=schema)
    columns = [Key("label"), Text("emoji", spare=True), Text("polarity")]
    columns += [Text(name, name.removeprefix("group_")) for name in groups]
    columns += [Text("low_end", "from"), Text("high_end", "to"), Text("definition")]
    known = [column for column in columns if (frame[column.key].fill_null("") != "").any()]
    title = taxonomy.title or taxonomy.name
    return Result(
        (Table("labels", f"Labels of {title}.", frame, tuple(known)),),
        (
            f"{title} (taxonomy {taxonomy.name}, version {taxonomy.version}): "
            f"{plural(len(taxonomy), 'label')}",
        ),
        settings={
            "name": taxonomy.name,
            "title": taxonomy.title,
            "version": taxonomy.version,
            "source": taxonomy.source,
            "ring": taxonomy.ring,
        },
    )


def costs_of(costs: CostMatrix) -> Result:
    """Give the costs of every pair of labels, and the same as a matrix."""
    whole = bool((costs.matrix == costs.matrix.round()).all())
    frame = pl.DataFrame({"true": costs.labels}).with_columns(
        pl.Series(f"as_{label}", costs.matrix[:, place]) for place, label in enumerate(costs.labels)
    )
    columns: list[Column] = [
        Count(f"as_{label}", label) if whole else Number(f"as_{label}", label, decimals=1)
        for label in costs.labels
    ]
    pairs = (Key("label"), Key("other"), Number("cost"))
    return Result(
        (
            Table("costs", "Costs of pairs of labels.", costs.to_frame(), pairs, limit=0),
            Table("matrix", "True label by answer.", frame, (Key("true"), *columns)),
        ),
        (
            f"Costs of taking one of {plural(len(costs.labels), 'label')} for another, "
            f"{costs.kind}: 1 for the right label, at most {costs.matrix.max():g}.",
        ),
    )
