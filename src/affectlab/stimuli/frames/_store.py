"""A folder of frames that can be filled in several runs, and is not written over by accident."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab._words import file_part
from affectlab.errors import InputError
from affectlab.stimuli.frames._pictures import UnusableError

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["FrameFolder", "parts_of"]

_RECORDS = ".frames"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)


def parts_of(names: Iterable[str]) -> dict[str, str]:
    """Give each name a part of a path that is its own on every file system.

    Plain names stay as they are; others, and those that differ from another in case only, are made
    plain and get a few digits of a digest.

    Examples
    --------
    >>> parts_of(["ann", "../x"])["ann"], ".." in parts_of(["ann", "../x"])["../x"]
    ('ann', False)
    """
    wanted = sorted(set(names))
    folded = [name.casefold() for name in wanted]
    return {
        name: name
        if _PLAIN.fullmatch(name) and not name.endswith(".") and folded.count(low) == 1
        else file_part(name)
        for name, low in zip(wanted, folded, strict=True)
    }


class FrameFolder:
    """Pictures of sequences, with a record of each sequence once all of it is there.

    Parameters
    ----------
    folder
        Made where it is not there; must be empty, or have been made with the same settings.
    settings
        What all pictures depend on.
    overwrite
        Remove what an earlier run made, and begin anew. Other files are not touched.

    Raises
    ------
    InputError
        When the folder holds something else, or was made with other settings.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], *, overwrite: bool) -> None:
        self.folder = folder
        self._records = folder / _RECORDS
        self._added: list[Path] = []
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file; expected a folder for the frames")
        known = self._records / "settings.json"
        plain = json.loads(json.dumps(settings))
        if known.is_file():
            if overwrite:
                self._clear()
            elif (found := _read(known)) != plain and len(list(self._records.glob("*.json"))) > 1:
                differs = next(
                    name for name in {**found, **plain} if found.get(name) != plain.get(name)
                )
                raise InputError(
                    f"{folder} was made with {differs} = {found.get(differs)}, not "
                    f"{plain.get(differs)}; give another folder, or --overwrite to make it anew"
                )
        elif folder.is_dir() and any(folder.iterdir()):
            raise InputError(
                f"{folder} is not empty, and not a folder of frames; give another folder"
            )
        self._records.mkdir(parents=True, exist_ok=True)
        _write(known, plain)

    def kept(self, name: str, stamp: str) -> list[dict[str, Any]] | None:
        """Give the rows of a sequence that is there already; None where it has to be made.

        Raises
        ------
        InputError
            When it was made from other frames.
        """
        record = self._record(name)
        if not record.is_file():
            return None
        found = _read(record)
        if found["stamp"] != stamp:
            raise InputError(
                f"{self.folder}: {name!r} was made from other frames, or other staircases, than "
                "there are now; give another folder, or --overwrite to make it anew"
            )
        rows: list[dict[str, Any]] = found["rows"]
        return rows if all((self.folder / row["file"]).is_file() for row in rows) else None

    def keep(self, name: str, stamp: str, rows: list[dict[str, Any]]) -> None:
        """Record that all pictures of a sequence are there."""
        _write(self._record(name), {"name": name, "stamp": stamp, "rows": rows})

    def check_others(self, names: Iterable[str]) -> None:
        """Refuse a folder that holds sequences of another source.

        Raises
        ------
        InputError
            When it does.
        """
        known = {self._record(name).name for name in names}
        for record in sorted(self._records.glob("*.json")):
            if record.name not in known and record.name != "settings.json":
                raise InputError(
                    f"{self.folder} holds {_read(record)['name']!r}, which the source does not; "
                    "give another folder, or --overwrite to make it anew"
                )

    @contextmanager
    def whole_or_nothing(self) -> Iterator[None]:
        """Take back the pictures of a sequence that turns out to be of no use."""
        self._added.clear()
        try:
            yield
        except UnusableError:
            for path in self._added:
                path.unlink(missing_ok=True)
            raise

    def add(self, file: str, image: Image.Image, original: Path | None) -> None:
        """Write a picture: a copy of its file where there is one, otherwise PNG."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        # A run that is broken off leaves no half of a picture under its name.
        part = path.with_name(f".{path.name}.part")
        if original is None:
            # As small as the default, and three times as fast.
            image.save(part, format="PNG", compress_level=4)
        else:
            shutil.copyfile(original, part)
        part.replace(path)
        self._added.append(path)

    def _record(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
        return self._records / f"{digest[:32]}.json"

    def _clear(self) -> None:
        """Remove the pictures that records name, then the records."""
        inside = self.folder.resolve()
        for record in sorted(self._records.glob("*.json")):
            if record.name == "settings.json":
                continue
            for row in _read(record)["rows"]:
                file = (self.folder / row["file"]).resolve()
                if file.is_relative_to(inside):
                    file.unlink(missing_ok=True)
            record.unlink()


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InputError(f"{path} is damaged ({problem}); give another folder") from None
    return found


def _write(path: Path, content: Mapping[str, Any]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(content), encoding="utf-8")
    part.replace(path)
