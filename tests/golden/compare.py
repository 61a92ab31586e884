"""Compare the working tree with the base: ``python -m tests.golden.compare``.

How it is used, and what it compares, stands in :mod:`tests.golden`.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

from packaging.requirements import Requirement
from tests.golden.tree import Leaf, Leaves

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CASES = HERE / "cases"
CACHE = ROOT / "build" / "golden"
SPELLING = "# spelled for the base"
"""The line of a file of cases that runs as it is on both sides."""
BESIDE_RESULTS = {
    "Half",  # what a scorer of one's own is given; a case has one
    "SceneOrder",  # the words that simulate_scenes takes
    "SimulatedObserver",  # holds a generator; its answers are compared
    "Standing",  # a cell of a leaderboard, in its columns
    "acc",  # called by name
}

Kind = Literal["missing", "new", "number", "text", "failure"]
Sort = Literal["renamed", "reworded", "restated", "added", "changed"]
_NUMBER = re.compile(r"[-−+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
_PLACE = re.compile(r"\b(?:Table|Figure) \d+")


class Unavailable(Exception):
    """The base cannot be had here, or cannot run; the message says why."""


@dataclass(frozen=True)
class Difference:
    """One leaf that is not what it was."""

    kind: Kind
    path: str
    base: Leaf = None
    now: Leaf = None

    def __str__(self) -> str:
        if self.kind == "failure":
            return f"{self.path}: failed\n{self.now}"
        if self.kind in ("missing", "new"):
            return (
                f"{self.path}: {self.kind} ({self.base if self.kind == 'missing' else self.now!r})"
            )
        return f"{self.path}: {self.base!r} -> {self.now!r}"


@dataclass
class Change:
    """A line of ``changes.toml``, and how often it was needed."""

    sort: Sort
    path: str
    why: str
    to: str = ""
    within: float | None = None
    used: int = field(default=0, compare=False)

    def rename(self, path: str) -> str:
        renamed, count = re.subn(self.path, self.to, path)
        self.used += count > 0
        return renamed

    def names(self, difference: Difference) -> bool:
        return difference.kind != "failure" and fnmatchcase(difference.path, self.path)

    def restates(self, found: list[Difference]) -> list[Difference]:
        """Leave out lists of texts that state all the numbers which those of the base stated."""
        texts: dict[str, list[Difference]] = {}
        for one in found:
            if self.names(one) and {type(one.base), type(one.now)} <= {str, type(None)}:
                texts.setdefault(one.path.rpartition("/")[0], []).append(one)
        whole = {
            of
            for of, parts in texts.items()
            if not _lost((one.base for one in parts), (one.now for one in parts))
        }
        self.used += len(whole)
        gone = {one.path for of in whole for one in texts[of]}
        return [one for one in found if one.path not in gone]

    def allows(self, difference: Difference) -> bool:
        if not self.names(difference):
            return False
        base, now = difference.base, difference.now
        if self.sort == "added":
            fits = difference.kind == "new"
        elif self.sort == "reworded":
            fits = difference.kind == "text" and _stated(base) == _stated(now)
        elif self.within is None:
            fits = True
        else:
            fits = _is_number(base) and _is_number(now) and abs(base - now) <= self.within
        self.used += fits
        return fits


def read_changes(text: str) -> list[Change]:
    """Read ``changes.toml``; every line needs a path and a reason."""
    given = tomllib.loads(text)
    changes = []
    for sort, lines in given.items():
        if sort not in get_args(Sort):
            raise ValueError(f"changes.toml: {sort}: expected {', '.join(get_args(Sort))}")
        for line in lines:
            known = {"path", "why", *({"renamed": ["to"], "changed": ["within"]}.get(sort, []))}
            if not line.get("why", "").strip() or not line.get("path") or not line.keys() <= known:
                raise ValueError(f"changes.toml: [[{sort}]] {line}: expected {', '.join(known)}")
            changes.append(Change(sort=sort, **line))
    return changes


def differences(
    base: dict[str, Any], now: dict[str, Any], changes: Sequence[Change] = ()
) -> list[Difference]:
    """List what differs between the cases of two sides and no line of the changes allows."""
    found: list[Difference] = []
    for name in sorted(base.keys() | now.keys()):
        if name not in base or name not in now:
            where, kind = (base, "missing") if name in base else (now, "new")
            found.append(Difference(kind, name, f"case of {len(where[name]['leaves'])} leaves"))
            continue
        crashes = [
            f"on the {side} side: {of[name]['crash']}"
            for side, of in (("base's", base), ("new", now))
            if of[name]["crash"]
        ]
        found += [Difference("failure", name, now=crash) for crash in crashes]
        if not crashes:
            found += _of_case(
                _renamed(
                    {f"{name}/{path}": leaf for path, leaf in base[name]["leaves"].items()}, changes
                ),
                {f"{name}/{path}": leaf for path, leaf in now[name]["leaves"].items()},
                now[name]["tolerance"],
            )
    lines = [change for change in changes if change.sort not in ("renamed", "restated")]
    found = [one for one in found if not any(line.allows(one) for line in lines)]
    for change in changes:
        if change.sort == "restated":
            found = change.restates(found)
    return found


def unneeded(changes: Iterable[Change]) -> list[Change]:
    """List the lines that no difference needed; they are mistakes, or were mended since."""
    return [change for change in changes if not change.used]


def _renamed(leaves: Leaves, changes: Iterable[Change]) -> Leaves:
    for change in changes:
        if change.sort == "renamed":
            renamed = {change.rename(path): leaf for path, leaf in leaves.items()}
            if len(renamed) != len(leaves):
                raise ValueError(f"changes.toml: {change.path!r} makes two paths into one")
            leaves = renamed
    return leaves


def _of_case(base: Leaves, now: Leaves, tolerance: float) -> Iterable[Difference]:
    for path in [*base, *(path for path in now if path not in base)]:
        if path not in now:
            yield Difference("missing", path, base=base[path])
        elif path not in base:
            yield Difference("new", path, now=now[path])
        elif _is_number(base[path]) and _is_number(now[path]):
            first, second = float(base[path]), float(now[path])
            if abs(first - second) > tolerance * max(1.0, abs(first)):
                yield Difference("number", path, base[path], now[path])
        elif base[path] != now[path]:
            yield Difference("text", path, base[path], now[path])


def _is_number(leaf: Leaf) -> bool:
    return isinstance(leaf, int | float)


def _stated(leaf: Leaf) -> Counter[str]:
    return Counter(_NUMBER.findall(leaf)) if isinstance(leaf, str) else Counter()


def _lost(base: Iterable[Leaf], now: Iterable[Leaf]) -> Counter[str]:
    """Count the numbers that texts stated and no longer state, as they were or to more digits.

    The numbers of the tables and figures themselves are left aside.
    """
    stated, restated = (
        _stated(_PLACE.sub("", "\n".join(text for text in texts if isinstance(text, str))))
        for texts in (base, now)
    )
    lost, surplus = stated - restated, restated - stated
    for number in [*lost.elements()]:
        if closer := [other for other in surplus if _rounds_to(other, number)]:
            lost -= Counter([number])
            surplus -= Counter([min(closer, key=lambda other: _apart(other, number))])
    return lost


def _rounds_to(number: str, other: str) -> bool:
    """Whether a number is another with more decimals; halves may be rounded either way."""
    digits, fewer = (len(text.partition(".")[2]) for text in (number, other))
    if digits <= fewer or {"e", ","} & {*number, *other}:
        return False
    return _apart(number, other) <= 0.5 * 10**-fewer + 1e-9


def _apart(number: str, other: str) -> float:
    first, second = (float(text.replace("−", "-")) for text in (number, other))
    return abs(first - second)


def base_commit() -> str:
    """Give the hash of the base."""
    return (HERE / "base.txt").read_text("utf-8").split()[0]


def checkout(commit: str) -> Path:
    """Unpack a commit beside the build; later comparisons find it there."""
    folder = CACHE / commit[:12]
    if not folder.is_dir():
        partly = folder.with_suffix(f".{os.getpid()}")
        archive = _git(
            "archive",
            "--format=tar",
            commit,
            "src",
            "examples",
            "pyproject.toml",
            "constraints.txt",
            "README.md",
            "LICENSE",
        )
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            packed.extractall(partly, filter="data")
        try:
            partly.rename(folder)
        except OSError:  # another comparison was faster
            shutil.rmtree(partly)
    return folder


def base_cases(commit: str, into: Path) -> Path:
    """Write the cases as the base spells them: see :mod:`tests.golden`."""
    into.mkdir(parents=True)
    for file in sorted(CASES.glob("*.py")):
        text = file.read_text("utf-8")
        if SPELLING not in text.splitlines():
            text = _last_spelled(file, commit)
        (into / file.name).write_text(text, "utf-8")
    return into


def _last_spelled(file: Path, commit: str) -> str:
    path = file.relative_to(ROOT).as_posix()
    for version in _git("log", "--format=%H", "--", path).decode().split():
        text = _git("show", f"{version}:{path}").decode()
        if SPELLING in text.splitlines():
            return text
    raise Unavailable(
        f"no committed version of {path} holds the line {SPELLING!r}: commit the cases as the base "
        f"({commit[:12]}) spells them before you edit them"
    )


def _git(*words: str) -> bytes:
    try:
        return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout
    except FileNotFoundError:
        raise Unavailable("git is not installed") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode().strip().splitlines()[-1:]
        raise Unavailable(f"git {words[0]} failed: {' '.join(said)}") from None


def lacking(lines: Iterable[str]) -> list[str]:
    """Name the requirements that this interpreter does not meet."""
    found = []
    for line in lines:
        need = Requirement(line)
        if need.marker is not None and not need.marker.evaluate({"extra": ""}):
            continue
        try:
            fits = need.specifier.contains(importlib.metadata.version(need.name), prereleases=True)
        except importlib.metadata.PackageNotFoundError:
            fits = False
        if not fits:
            found.append(line)
    return found


def own_environment(base: Path, project: dict[str, Any]) -> str:
    """Install the base into an environment of its own, with the extras that are installed here."""
    folder = base.with_name(f"{base.name}-venv")
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = folder / ".done"
    if not done.exists():
        extras = [
            extra
            for extra, lines in project["optional-dependencies"].items()
            if extra not in ("dev", "docs") and not lacking(lines)
        ]
        pip = [python, "-m", "pip", "install", "--quiet", "-c", base / "constraints.txt"]
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        named = f"[{','.join(extras)}]" if extras else ""
        subprocess.run([*pip, f"{base}{named}"], check=True)
        done.touch()
    return str(python)


def start(
    python: str, source: Path, cases: Path, out: Path, patterns: Sequence[str]
) -> subprocess.Popen[str]:
    """Start one side: the package under `source`, before whatever is installed."""
    settled = {
        "PYTHONPATH": os.pathsep.join((str(source), str(ROOT))),
        "GOLDEN_ROOT": str(source.parent),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "MPLBACKEND": "Agg",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    return subprocess.Popen(
        [python, "-m", "tests.golden.worker", str(cases), str(out), str(source), *patterns],
        cwd=ROOT,
        env=os.environ | settled,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def both_sides(
    patterns: Sequence[str] = (), *, commit: str | None = None, venv: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run base and working tree side by side; no patterns mean the small set."""
    commit = _git("rev-parse", "--verify", f"{commit or base_commit()}^{{commit}}").decode().strip()
    base = checkout(commit)
    project = tomllib.loads((base / "pyproject.toml").read_text("utf-8"))["project"]
    if not venv and (left := lacking(project["dependencies"])):
        raise Unavailable(f"the base needs {', '.join(left)}; --venv installs it on its own")
    python = own_environment(base, project) if venv else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        spelled = base_cases(commit, Path(folder) / "cases")
        sides = [
            start(python, base / "src", spelled, Path(folder) / "base.json", patterns),
            start(sys.executable, ROOT / "src", CASES, Path(folder) / "now.json", patterns),
        ]
        for side, process in zip(("base", "working tree"), sides, strict=True):
            _, said = process.communicate()
            if process.returncode:
                raise RuntimeError(f"the {side} did not run:\n{said}")
        names = ("base.json", "now.json")
        first, second = (json.loads((Path(folder) / name).read_text("utf-8")) for name in names)
        first["names"] = sorted(_names_in(spelled))
    return first, second


def _names_in(folder: Path) -> set[str]:
    """Give the names that cases use of other things."""
    return {
        node.attr
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
    }


def unreached(base: dict[str, Any]) -> list[str]:
    """Name what is public in the base, and that no case calls, gets or names."""
    reached = {*base["names"], *base["classes"], *BESIDE_RESULTS}
    return [
        f"{room}.{name}"
        for room, names in base["public"].items()
        for name in names
        if name not in reached
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden.compare")
    parser.add_argument("--all", action="store_true", help="every case, not the small set alone")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help="cases by name, such as 'agreement.*'",
    )
    parser.add_argument("--base", metavar="COMMIT", help="another commit than base.txt names")
    parser.add_argument("--venv", action="store_true", help="install the base on its own")
    parser.add_argument(
        "--slowest", type=int, default=0, metavar="N", help="name the slowest cases"
    )
    given = parser.parse_args()
    changes = read_changes((HERE / "changes.toml").read_text("utf-8"))
    try:
        base, now = both_sides(
            ["*"] if given.all else given.only, commit=given.base, venv=given.venv
        )
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 2
    found = differences(base["cases"], now["cases"], changes)
    for one in found:
        print(one)
    slow = sorted(now["cases"].items(), key=lambda item: -item[1]["seconds"])
    for name, case in slow[: given.slowest]:
        print(f"{case['seconds']:6.1f} s  {name}")
    unused = unneeded(changes) if given.all else []
    for change in unused:
        print(f"changes.toml: nothing needs [[{change.sort}]] {change.path!r}")
    left = unreached(base) if given.all else []
    for name in left:
        print(f"no case reaches {name}")
    leaves = sum(len(case["leaves"]) for case in now["cases"].values())
    print(f"{len(now['cases'])} cases, {leaves:,} leaves: {len(found)} differences")
    return 1 if found or unused or left or not now["cases"] else 0


if __name__ == "__main__":
    sys.exit(main())
