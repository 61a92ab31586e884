"""Psych-DS: a folder for archives of behavioural data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from affectlab._version import __version__
from affectlab.core.files.csv import write_data_csv
from affectlab.ratings.derived import RatingsBase
from affectlab.ratings.exports.export import Export, ratings_export, write_json
from affectlab.ratings.exports.variables import (
    Variable,
    counts_of,
    name_of,
    steps_of,
    tables_of,
    variables_of,
)
from affectlab.ratings.storage import explained


@ratings_export("psych-ds", "Psych-DS folder: described CSV files, for an archive")
class PsychDs(Export):
    """A data set as Psych-DS has it.

    ``dataset_description.json`` names and describes every column with its scale; the files under
    ``data`` hold answers, raters and stimuli; ``README.md`` says the same to people. Who made the
    data, and under what licence, is yours to add.

    Parameters
    ----------
    study
        Name of the data set; by default that of the source.

    Notes
    -----
    Source: the rules and conventions of the Psych-DS documentation, version 1.
    """

    study: str = ""

    def write(self, ratings: RatingsBase, path: Path) -> None:
        name = self.study or name_of(ratings)
        study = re.sub(r"[^A-Za-z0-9]", "", name) or "ratings"
        (path / "data").mkdir()
        described: dict[str, dict[str, Any]] = {}
        files = []
        tables = tables_of(ratings)
        tables["ratings"] = explained(tables["ratings"], ratings)
        for part, table in tables.items():
            file = f"data/study-{study}_description-{part}_data.csv"
            write_data_csv(table, path / file)
            files.append((file, table.height))
            for variable in variables_of(ratings, part, table):
                described.setdefault(variable.name, _property(variable))
        about = f"Ratings of stimuli: {counts_of(ratings)}"
        content = {
            "@context": "https://schema.org/",
            "@type": "Dataset",
            "name": name,
            "description": about,
            "creditText": f"Written by affectlab {__version__}",
            "variableMeasured": list(described.values()),
        }
        write_json(path / "dataset_description.json", content)
        lines = [f"# {name}", "", about, ""]
        lines += [f"- `{file}`: {rows:,} rows" for file, rows in files]
        lines += ["", *steps_of(ratings)]
        (path / "README.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _property(variable: Variable) -> dict[str, Any]:
    found: dict[str, Any] = {
        "@type": "PropertyValue",
        "name": variable.name,
        "description": variable.about,
    }
    scale = variable.scale
    if variable.categories:
        found["valueReference"] = [
            {"@type": "DefinedTerm", "name": name} for name in variable.categories
        ]
    elif scale is not None and scale.low is not None and scale.high is not None:
        found |= {"minValue": scale.low, "maxValue": scale.high}
    if variable.name == "rt_ms":
        found["unitText"] = "ms"
    return found
