"""Hugging Face: Parquet files, and the card from which the hub and ``datasets`` load them."""

from __future__ import annotations

import json
from pathlib import Path

from affectlab._version import __version__
from affectlab.ratings.derived import RatingsBase
from affectlab.ratings.exports.export import Export, ratings_export
from affectlab.ratings.exports.variables import (
    counts_of,
    name_of,
    steps_of,
    tables_of,
    variables_of,
)
from affectlab.ratings.storage import write_ratings


@ratings_export("hugging-face", "Hugging Face data set: Parquet files with a card")
class HuggingFace(Export):
    """A data set that ``datasets.load_dataset(folder, "ratings")`` reads, and the hub shows.

    The configurations are ``ratings``, ``raters`` and ``stimuli``; the first is also read by
    :func:`~affectlab.ratings.read_ratings`, with its scales. Licence and language are yours to add
    to the card.

    Notes
    -----
    Source: the hub's documentation of dataset cards and of manual configuration.
    """

    def write(self, ratings: RatingsBase, path: Path) -> None:
        name = name_of(ratings)
        (path / "data").mkdir()
        head = ["---", f"pretty_name: {json.dumps(name, ensure_ascii=False)}", "configs:"]
        body = [f"# {name}", "", counts_of(ratings), "", *steps_of(ratings)]
        for part, table in tables_of(ratings).items():
            file = f"data/{part}.parquet"
            if part == "ratings":
                write_ratings(ratings, path / file)
            else:
                table.write_parquet(path / file)
            head += [f"- config_name: {part}", "  data_files:"]
            head += ["  - split: train", f"    path: {file}"]
            head += ["  default: true"] if part == "ratings" else []
            body += ["", f"## {part}", "", "| column | type | |", "|---|---|---|"]
            body += [
                f"| `{one.name}` | {one.type} | {one.about.replace('|', chr(92) + '|')} |"
                for one in variables_of(ratings, part, table)
            ]
        tail = [
            "",
            f"Written by affectlab {__version__}; `affectlab.read_ratings` reads",
            "`data/ratings.parquet`.",
        ]
        text = "\n".join([*head, "tags:", "- affectlab", "---", "", *body, *tail]) + "\n"
        (path / "README.md").write_text(text, encoding="utf-8", newline="\n")
