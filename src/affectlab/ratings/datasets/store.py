"""Copies of data sets of the hub on this machine: what is read of them, by commit."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from affectlab.core.errors import InputError

_DESCRIBED = ".copy"
"""Suffix of what is said of a copy; the copy itself may be a file of JSON."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


@dataclass(frozen=True)
class HubCopy:
    """One split of a data set as it stood at a commit."""

    path: Path
    repository: str
    configuration: str | None
    split: str
    splits: tuple[str, ...]
    """All splits of the set."""
    commit: str
    licence: str | None
    """Licence by the card of the set."""
    left_out: tuple[str, ...] = ()
    """Columns that were not copied."""

    @property
    def source(self) -> str:
        """Where it comes from, as the hub names places."""
        parts = (self.configuration, self.split)
        inside = "/".join(part for part in parts if part is not None)
        return f"hf://datasets/{self.repository}@{self.commit}/{inside}"


_TOLD = {field.name for field in fields(HubCopy)} | {"size"}


def is_commit(text: str) -> bool:
    """Whether a text is the name of a commit, which never changes what it means.

    Examples
    --------
    >>> is_commit("a" * 40), is_commit("main"), is_commit("../" + "a" * 37)
    (True, False, False)
    """
    return re.fullmatch(r"[0-9a-f]{40}", text) is not None


class HubStore:
    """A folder with copies of one data set.

    Parameters
    ----------
    folder
        Holds the copies of all data sets.
    repository
        Name of the data set on the hub.
    """

    def __init__(self, folder: Path, repository: str) -> None:
        self._root = folder / f"datasets--{repository.replace('/', '--')}"
        self._repository = repository

    def commit_of(self, revision: str) -> str | None:
        """Commit that a branch or tag meant when the hub was last asked."""
        place = self._ref(revision)
        commit = place.read_text(encoding="utf-8").strip() if place.is_file() else ""
        return commit if is_commit(commit) else None

    def remember(self, revision: str, commit: str) -> None:
        """Keep the commit that a branch or tag means now."""
        place = self._ref(revision)
        if self.commit_of(revision) != commit:
            with self._writing(place.parent) as folder:
                (folder / place.name).write_text(commit, encoding="utf-8")

    def find(self, commit: str, configuration: str | None, split: str | None) -> HubCopy | None:
        """Find the copy of a split; None when there is none.

        Raises
        ------
        InputError
            When no split is named and the set has several, or there is no such split.
        """
        folder = self._place(commit, configuration)
        for described in sorted(folder.glob(f"*{_DESCRIBED}")):
            told = _told(described)
            if told is None or told["configuration"] != configuration:
                continue
            where = self._repository
            wanted = chosen_split(split, told["splits"], where)
            if told["split"] != wanted:
                continue
            size = told.pop("size")
            told["path"] = described.parent / Path(told["path"]).name
            told["splits"] = tuple(told["splits"])
            told["left_out"] = tuple(told["left_out"])
            # A copy that was cut afterwards is made again.
            if told["path"].is_file() and told["path"].stat().st_size == size:
                return HubCopy(**told)
        return None

    @contextmanager
    def adding(self, commit: str, configuration: str | None) -> Iterator[Path]:
        """Give an empty folder; what lies in it afterwards is kept, all of it or nothing."""
        with self._writing(self._place(commit, configuration)) as folder:
            yield folder

    @staticmethod
    def describe(folder: Path, copy: HubCopy) -> None:
        """Write what a copy is beside it."""
        told = asdict(copy) | {"path": copy.path.name, "size": copy.path.stat().st_size}
        text = json.dumps(told, ensure_ascii=False, indent=1)
        (folder / f"{as_file_name(copy.split)}{_DESCRIBED}").write_text(text, encoding="utf-8")

    def _ref(self, revision: str) -> Path:
        return self._root / "refs" / as_file_name(revision)

    def _place(self, commit: str, configuration: str | None) -> Path:
        # No name of a configuration is written with a plus sign.
        inside = "+default" if configuration is None else as_file_name(configuration)
        return self._root / commit / inside

    @contextmanager
    def _writing(self, place: Path) -> Iterator[Path]:
        try:
            place.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=place, prefix=".new-") as made:
                folder = Path(made)
                yield folder
                # What a file is comes last, so that nothing half written is ever found.
                for file in sorted(folder.iterdir(), key=lambda file: file.suffix == _DESCRIBED):
                    _stored(file)
                    file.replace(place / file.name)
        except OSError as error:
            ours = str(error.filename or "").startswith(str(place))
            if not ours and error.errno not in _NO_ROOM:
                raise
            raise InputError(
                f"{place} cannot be written: {error.strerror}; name another folder for the copies"
            ) from None


def as_file_name(name: str) -> str:
    """Write a name of the hub so that it can be no way to another folder.

    Examples
    --------
    >>> as_file_name("../refs/pr.1")
    '%2E%2E%2Frefs%2Fpr%2E1'
    """
    return quote(name, safe="").replace(".", "%2E")


def _stored(file: Path) -> None:
    """Wait until a file is on the disk, so that its name never leads to half of it."""
    with file.open("rb+") as opened:
        os.fsync(opened.fileno())


def _told(described: Path) -> dict[str, Any] | None:
    """What is said of a copy; None when it is damaged, or of another version of affectlab."""
    try:
        told = json.loads(described.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return told if isinstance(told, dict) and set(told) == _TOLD else None


def chosen_split(split: str | None, splits: list[str] | tuple[str, ...], where: str) -> str:
    """The split that was asked for, or the only one.

    Raises
    ------
    InputError
        When there are several and none was named, or there is none of that name.
    """
    shown = ", ".join(splits)
    if split is None:
        if len(splits) > 1:
            raise InputError(f"{where} has the splits {shown}; expected the name of one")
        return splits[0]
    if split not in splits:
        raise InputError(f"{where} has no split {split!r}; expected one of: {shown}")
    return split
