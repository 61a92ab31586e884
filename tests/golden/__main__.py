"""Freeze the values of the cases anew, and say what changes: ``python -m tests.golden``."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatchcase

from tests.golden.frozen import FILE, Cases, cases, compute, differences, now, read, told, write


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden")
    parser.add_argument("cases", nargs="*", help="cases by name, such as 'agreement.*'; else all")
    parser.add_argument("--check", action="store_true", help="say what differs, and write nothing")
    parser.add_argument(
        "--since",
        metavar="COMMIT",
        help="compute nothing: say what the file holds that it did not at a commit",
    )
    parser.add_argument("--rows", type=int, default=3, help="rows shown of a column (default 3)")
    given = parser.parse_args()
    wanted = given.cases or ["*"]

    def asked(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in wanted)

    if given.since:
        return _say(read(given.since), read(), asked, given.rows)
    was = read() if FILE.is_file() else {}
    found = {name: now(name, compute(name)) for name in cases() if asked(name)}
    if not found:
        parser.error(f"no case is called {' or '.join(wanted)}; there are {', '.join(cases())}")
    after = {name: found.get(name) or was[name] for name in cases() if name in found or name in was}
    differ = _say(was, after, lambda _: True, given.rows)
    if not given.check:
        write(after)
    return differ if given.check else 0


def _say(was: Cases, after: Cases, asked: Callable[[str], bool], rows: int) -> int:
    was, after = ({name: of[name] for name in of if asked(name)} for of in (was, after))
    found = differences(was, after)
    if found:
        print(told(found, rows))
    counts = Counter(one.kind for one in found)
    said = ", ".join(f"{count:,} {kind}" for kind, count in counts.items()) or "no differences"
    print(f"{len(after)} cases, {sum(map(len, after.values())):,} values: {said}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
