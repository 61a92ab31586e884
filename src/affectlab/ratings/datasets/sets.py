"""The published data sets: where each stands, under which licence, and what reads it."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.result import Result
from affectlab.core.tables import Key, Table, Text, YesNo


@dataclass(frozen=True, kw_only=True)
class PublishedSet:
    """A published data set, and how it is read."""

    name: str
    """Short name, for :func:`affectlab.ratings.load_dataset`."""
    what: str
    """What it holds, in a few words."""
    hub: str | None = None
    """Its name on the Hugging Face hub; None: its authors have not put it there."""
    configuration: str | None = None
    """Which of the configurations that the hub has under this name."""
    reader: str
    """Format of :func:`affectlab.ratings.list_formats`, or function, that reads it."""
    columns: tuple[str, ...] = ()
    """Columns that the reader needs of the hub's copy."""
    licence: str
    """Licence, as far as its authors say."""
    citation: str
    """What to cite."""
    elsewhere: str
    """Where its files are published beside the hub, or instead."""
    splits: tuple[str, ...] = ("train",)
    """Its splits, by the names that the hub has."""
    note: str = ""
    """What a reader of the hub's copy should know."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names by which it is found."""
        return (self.name,) if self.hub is None else (self.name, self.hub)


@cache
def list_datasets() -> tuple[PublishedSet, ...]:
    """Give the published data sets that affectlab knows, on the Hugging Face hub and elsewhere.

    Examples
    --------
    >>> found = {entry.name: entry for entry in list_datasets()}
    >>> found["goemotions-raw"].hub, found["goemotions-raw"].configuration
    ('google-research-datasets/go_emotions', 'raw')
    >>> [entry.name for entry in list_datasets() if entry.hub is None][:2]
    ['socratis', 'face-expressions-70k']
    """
    content = (files(__package__) / "sets.toml").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(content)["sets"]
    for entry in entries:
        entry |= {name: tuple(entry[name]) for name in ("columns", "splits") if name in entry}
    return tuple(PublishedSet(**entry) for entry in entries)


def published_sets() -> Result:
    """List the published data sets: what they hold, where they are, and their licences.

    Returns
    -------
    A row for each set, with the fields of :class:`PublishedSet`, and ``on_hub``.

    Examples
    --------
    >>> published_sets().to_frame()["name"].to_list()[:2]
    ['goemotions-raw', 'goemotions-simplified']
    """
    frame = pl.DataFrame([asdict(entry) for entry in list_datasets()])
    frame = frame.with_columns(
        pl.col("columns", "splits").list.join(", "), on_hub=pl.col("hub").is_not_null()
    )
    columns = (
        Key("name"),
        Text("what"),
        YesNo("on_hub", "on the hub"),
        Text("hub", "its name there", spare=True),
        Text("splits", spare=True),
        Text("elsewhere", "published at", spare=True),
        Text("licence"),
    )
    return Result(
        (Table("sets", "Published data sets.", frame, columns),),
        (
            f"{frame['on_hub'].sum()} of {frame.height} sets are on the Hugging Face hub, and can "
            "be fetched: affectlab ratings fetch NAME --out FILE, with --split where there are "
            "several.",
        ),
    )


def find_dataset(name: str, configuration: str | None = None) -> PublishedSet | None:
    """Find a published data set by its short name, or by its name on the hub.

    Parameters
    ----------
    name
        Of :func:`list_datasets`, or of the hub; case does not matter.
    configuration
        Which one, where the hub has several sets under one name.

    Returns
    -------
    PublishedSet or None
        None when it is a name on the hub that is not listed.

    Raises
    ------
    InputError
        When a short name is not known, or a name on the hub has several configurations.

    Examples
    --------
    >>> find_dataset("laion/emonet-face-hq").name
    'emonet-face-hq'
    >>> find_dataset("anna/my-ratings") is None
    True
    """
    wanted = name.casefold()
    found = [entry for entry in list_datasets() if wanted in map(str.casefold, entry.names)]
    if not found:
        if "/" in name:
            return None
        raise unknown_name("data set", name, [entry.name for entry in list_datasets()])
    if configuration is not None:
        fitting = [entry for entry in found if (entry.configuration or "default") == configuration]
        known = [entry.configuration or "default" for entry in found]
        if not fitting:
            raise unknown_name("configuration", configuration, known, name)
        return fitting[0]
    if len(found) > 1:
        choices = " or ".join(f"'{entry.name}' ({entry.what})" for entry in found)
        raise InputError(f"{name} holds several sets; expected one of them: {choices}")
    return found[0]
