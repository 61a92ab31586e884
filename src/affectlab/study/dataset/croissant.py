"""Croissant metadata of a data set: what stands in which file, for machines.

The vocabulary is that of MLCommons' Croissant format, version 1.1:
https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html
"""

from __future__ import annotations

import hashlib
import json
import mimetypes
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab._version import __version__
from affectlab.study.dataset.codebook import about_column
from affectlab.study.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TableFile", "write_croissant"]

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}

_KEYS = {"raters": "rater", "stimuli": "stimulus"}


@dataclass(frozen=True)
class TableFile:
    """A table of the data set, and the file that holds it."""

    name: str
    path: Path
    table: pl.DataFrame


def write_croissant(
    store: Store, path: Path, tables: list[TableFile], *, others: list[Path], pictures: list[Path]
) -> Path:
    """Write the metadata; give their path.

    Parameters
    ----------
    tables
        Each becomes a file and a set of records with its fields.
    others
        Files that hold the same in another format.
    pictures
        Files of pictures, which become one set.
    """
    said, head = store.study.design.release, store.study.design.study
    files = [_file(one.path, one.path.name) for one in tables]
    files += [_file(one, one.name) for one in others]
    if pictures:
        files.append(
            {
                "@type": "cr:FileSet",
                "@id": "pictures",
                "name": "pictures",
                "description": "The pictures that were judged.",
                "includes": "pictures/*",
                "encodingFormat": _type(pictures[0]),
            }
        )
    content: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": said.title or head.title,
        "description": said.purpose or f"Answers of people in the study “{head.title}”.",
        "version": said.version,
        "datePublished": datetime.now(UTC).date().isoformat(),
        "isLiveDataset": False,
        "inLanguage": list(head.languages),
        "sdVersion": f"affectlab {__version__}",
        "rai:dataCollection": f"Web study, protocol {store.study.protocol.name!r}.",
        "rai:dataAnnotationProtocol": store.study.protocol.prompt or store.study.protocol.title,
        "rai:personalSensitiveInformation": (
            "People appear under pseudonyms; answers to questions about them, each of which could "
            "be declined, stand in the table of raters."
        ),
        "distribution": files,
        "recordSet": [_records(store, one, tables) for one in tables],
    }
    if said.licence:
        content["license"] = _licence(said.licence)
    if said.creators:
        content["creator"] = [{"@type": "sc:Person", "name": name} for name in said.creators]
    if said.citation:
        content["citeAs"] = said.citation
    if said.url:
        content["url"] = said.url
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _licence(name: str) -> str:
    """Give the address of a licence of Creative Commons or SPDX, or the words as they are."""
    if name.startswith(("https://", "http://")) or " " in name:
        return name
    return f"https://spdx.org/licenses/{name}.html"


def _file(path: Path, address: str) -> dict[str, Any]:
    content = path.read_bytes()
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": address,
        "contentSize": f"{len(content)} B",
        "encodingFormat": _type(path),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _type(path: Path) -> str:
    if path.suffix == ".parquet":
        return "application/vnd.apache.parquet"
    return mimetypes.guess_type(path.name)[0] or "application/octet-stream"


def _records(store: Store, one: TableFile, tables: list[TableFile]) -> dict[str, Any]:
    there = {table.name for table in tables}
    fields = []
    for column, dtype in one.table.schema.items():
        field: dict[str, Any] = {
            "@type": "cr:Field",
            "@id": f"{one.name}/{column}",
            "name": column,
            "description": _sentence(about_column(store, one.name, column)),
            "dataType": "sc:Date" if column == "day" else _data_type(dtype),
            "source": {"fileObject": {"@id": one.path.name}, "extract": {"column": column}},
        }
        target = next((name for name, key in _KEYS.items() if key == column), None)
        if target in there and target != one.name:
            field["references"] = {"field": {"@id": f"{target}/{column}"}}
        fields.append(field)
    found: dict[str, Any] = {
        "@type": "cr:RecordSet",
        "@id": one.name,
        "name": one.name,
        "description": f"The table {one.path.name}.",
    }
    if one.name in _KEYS:
        found["key"] = {"@id": f"{one.name}/{_KEYS[one.name]}"}
    return {**found, "field": fields}


def _sentence(phrase: str) -> str:
    return f"{phrase[:1].upper()}{phrase[1:]}."


def _data_type(dtype: Any) -> str:
    import polars as pl

    if dtype == pl.Boolean:
        return "sc:Boolean"
    if dtype.is_integer():
        return "sc:Integer"
    return "sc:Float" if dtype.is_float() else "sc:Text"
