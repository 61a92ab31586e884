"""Freeze what is read of the inputs anew, and say what changes: ``python -m tests.readings``."""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatchcase

import pytest
from tests.readings.frozen import FILE, Reading, differences, now, read, told, write
from tests.readings.inputs import inputs


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.readings")
    parser.add_argument("inputs", nargs="*", help="inputs by name, such as 'year/*'; else all")
    parser.add_argument("--check", action="store_true", help="say what differs, and write nothing")
    parser.add_argument(
        "--since",
        metavar="COMMIT",
        help="read nothing: say what the file holds that it did not at a commit",
    )
    parser.add_argument("--parts", type=int, default=3, help="parts shown of an input (default 3)")
    given = parser.parse_args()
    wanted = [
        name
        for name in inputs()
        if any(fnmatchcase(name, pattern) for pattern in given.inputs or ["*"])
    ]
    if not wanted:
        parser.error(f"no input is called {' or '.join(given.inputs)}")
    if given.since:
        return _say(read(given.since), read(), given.parts)
    was = read() if FILE.is_file() else {}
    kept = {name: was[name] for name in inputs() if name in was and name not in wanted}
    after = kept | {name: _now(name) for name in wanted}
    before = was if len(wanted) == len(inputs()) else {n: was[n] for n in wanted if n in was}
    differ = _say(before, {name: after[name] for name in wanted}, given.parts)
    if not given.check:
        write(after)
    return 1 if given.check and differ else 0


def _now(name: str) -> Reading:
    try:
        return now(name)
    except pytest.skip.Exception as missing:
        raise SystemExit(f"{name}: {missing}; nothing was frozen") from None


def _say(was: dict[str, Reading], after: dict[str, Reading], parts: int) -> int:
    names = sorted(was.keys() | after.keys())
    compared = {name: differences(was.get(name, []), after.get(name, [])) for name in names}
    found = {name: differ for name, differ in compared.items() if differ}
    if found:
        print(told(found, parts))
    refused = sum(reading[0].what == "refused" for reading in after.values())
    print(f"{len(after)} inputs, {refused} of them refused: {len(found)} differ")
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
