"""From the labels of one taxonomy to those of another, with nothing guessed."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.core.files.toml import parse_toml, read_toml
from affectlab.taxonomy.files import MappingFile
from affectlab.taxonomy.taxonomy import LabelMapping, Taxonomy, load_taxonomy


def map_labels(
    source: str | Taxonomy, target: str | Taxonomy, *, path: str | Path | None = None
) -> LabelMapping:
    """Mapping between the labels of two taxonomies.

    Parameters
    ----------
    source, target
        The taxonomies, or what :func:`load_taxonomy` finds them by.
    path
        A TOML file with the mapping; a built-in mapping when not given.

    Returns
    -------
    LabelMapping
        ``mapping[label]`` is the target of a label, ``sources(target)`` the labels of a
        target, ``unmapped`` those without one, ``matrix()`` and ``to_frame()`` the whole.

    Raises
    ------
    InputError
        When there is no built-in mapping between the two, or the file does not fit them.

    Examples
    --------
    >>> map_labels("goemotions", "ekman").unmapped
    ('neutral',)
    """
    one, other = load_taxonomy(source), load_taxonomy(target)
    if path is not None:
        return _from_file(one, other, read_toml(path, MappingFile), str(path))
    if one == other:
        return LabelMapping(
            one, one, {label: label for label in one.labels}, provenance="the same taxonomy"
        )
    folder = files("affectlab.taxonomy") / "data" / "mappings"
    known = sorted(
        entry.name.removesuffix(".toml")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    )
    name = f"{one.name}--{other.name}"
    if name not in known:
        shown = ", ".join(entry.replace("--", " to ") for entry in known)
        raise InputError(
            f"no built-in mapping from {one.name!r} to {other.name!r}; there are: {shown}; "
            "give a file of your own with path="
        )
    text = (folder / f"{name}.toml").read_text(encoding="utf-8")
    where = f"built-in mapping {name}"
    return _from_file(one, other, parse_toml(text, MappingFile, where=where), where)


def _from_file(source: Taxonomy, target: Taxonomy, file: MappingFile, where: str) -> LabelMapping:
    for key, said, taxonomy in (("source", file.source, source), ("target", file.target, target)):
        if said != taxonomy.name:
            raise InputError(f"{where}: {key} = {said!r}; expected {taxonomy.name!r}")
    try:
        return LabelMapping(source, target, file.labels, file.unmapped, file.provenance)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
