"""The source distribution and the wheel: what is in them, and whether they run without extras."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from email import message_from_string
from email.message import Message
from pathlib import Path, PurePosixPath

import pytest
from packaging.requirements import Requirement

from affectlab import __version__

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SITE = "https://affectlab.readthedocs.io/en/latest/"
WITHIN = {"src", "tests", "examples", "benchmarks", "docs", "release", ".ci"}
ALONE = {
    *("conftest.py", "constraints.txt", "pyproject.toml", "Makefile", "LICENSE", "PKG-INFO"),
    *("README.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md", ".gitignore"),
}
MADE = re.compile(
    r"__pycache__|\.pyc$|\.venv|egg-info|/_build/|/generated/|\.affectlab/|\.(hypothesis|mypy_cache)"
)
"""What is made while working, and never belongs into a package."""


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    _build("sdist", ROOT, folder)
    return folder / f"affectlab-{__version__}.tar.gz"


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from what the source distribution holds, as installers do."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    _build("wheel", folder / f"affectlab-{__version__}", folder)
    return folder / f"affectlab-{__version__}-py3-none-any.whl"


def _build(what: str, source: Path, to: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", what, "-d", str(to)],
        check=False,
        capture_output=True,
        text=True,
        cwd=source,
    )
    assert done.returncode == 0, done.stderr


def _in_sdist(sdist: Path) -> set[str]:
    with tarfile.open(sdist) as packed:
        return {one.name.partition("/")[2] for one in packed.getmembers() if one.isfile()}


def _metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as packed:
        text = packed.read(f"affectlab-{__version__}.dist-info/METADATA").decode("utf-8")
    return message_from_string(text)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    info = {name for name in names if name.startswith(f"affectlab-{__version__}.dist-info/")}
    source = ROOT / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / "affectlab").rglob("*")
        if path.is_file() and not MADE.search(path.as_posix())
    }
    assert names - info == expected
    assert {PurePosixPath(name).name for name in info} == {
        *("METADATA", "WHEEL", "RECORD", "LICENSE", "entry_points.txt")
    }


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "taxonomy/data/mikels.toml",
        "recipes/published/socratis.toml",
        "report/templates/report.css",
        "study/pages/js/main.js",
        "study/pages/texts/de.json",
        "study/migrations/env.py",
        "study/migrations/script.py.mako",
        "study/migrations/versions/0002_erasures.py",
        "study/design/templates/pictures/cake.png",
    ],
)
def test_the_wheel_holds_what_is_not_code(wheel: Path, name: str) -> None:
    with zipfile.ZipFile(wheel) as packed:
        assert packed.read(f"affectlab/{name}") == (ROOT / "src/affectlab" / name).read_bytes()


def test_the_source_distribution_holds_what_tests_need_and_no_stray_files(sdist: Path) -> None:
    names = _in_sdist(sdist)
    top = {PurePosixPath(name).parts[0] for name in names}
    assert top == WITHIN | ALONE
    assert not [name for name in names if MADE.search(name)]
    assert not [name for name in names if name.startswith("demo/")]


def test_the_source_distribution_holds_every_file_of_the_repository(sdist: Path) -> None:
    done = subprocess.run(
        ["git", "ls-files", "--", *sorted(WITHIN | ALONE)],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    if done.returncode or not done.stdout:
        pytest.skip("not in a repository")
    tracked = {name for name in done.stdout.splitlines() if (ROOT / name).is_file()}
    assert tracked - _in_sdist(sdist) == set()


def test_metadata_say_what_the_project_says(wheel: Path) -> None:
    found = _metadata(wheel)
    assert (found["Name"], found["Version"]) == ("affectlab", __version__)
    assert found["Requires-Python"] == PROJECT["requires-python"]
    assert found["License-Expression"] == PROJECT["license"]
    assert set(found.get_all("Provides-Extra") or []) == set(PROJECT["optional-dependencies"])
    always = {Requirement(line) for line in found.get_all("Requires-Dist") or []}
    core = {one.name for one in always if one.marker is None}
    assert core == {Requirement(line).name for line in PROJECT["dependencies"]}
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {__version__}" in cited.splitlines()


def test_the_page_on_the_index_has_no_link_into_the_repository(wheel: Path) -> None:
    found = _metadata(wheel)
    assert found["Description-Content-Type"] == "text/markdown"
    text = found.get_payload()
    assert isinstance(text, str)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert all(link.startswith(("https://", "#")) for link in links)
    assert f"{SITE}_static/idea.svg" in links
    for link in links:
        page = link.removeprefix(SITE).partition("#")[0]
        if link.startswith(SITE):
            assert (ROOT / "docs" / re.sub(r"\.html$", ".md", page)).is_file()


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel where nothing is but what it asks for itself, and what that asks for.

    Libraries are linked from the environment of the tests, each with its own files only.
    """
    folder = tmp_path_factory.mktemp("empty") / "environment"
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for library in _asked_for(_metadata(wheel).get_all("Requires-Dist") or []):
        _link(library, site)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install"),
            *("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", str(wheel)),
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def _asked_for(lines: list[str]) -> Iterator[importlib.metadata.Distribution]:
    """Give the libraries that lines of metadata ask for without any extra, and theirs in turn."""
    seen: set[str] = set()
    waiting = [(Requirement(line), "") for line in lines]
    while waiting:
        one, extra = waiting.pop()
        if one.marker is not None and not one.marker.evaluate({"extra": extra}):
            continue
        asked = {(one.name, part) for part in ("", *one.extras)}
        library = importlib.metadata.distribution(one.name)
        for name, inner in asked:
            if f"{name}[{inner}]" not in seen:
                seen.add(f"{name}[{inner}]")
                waiting += [(Requirement(line), inner) for line in library.requires or []]
        if one.name not in seen:
            seen.add(one.name)
            yield library


def _link(library: importlib.metadata.Distribution, site: Path) -> None:
    for top in {file.parts[0] for file in library.files or []} - {"..", "__pycache__"}:
        place = Path(str(library.locate_file(top)))
        if place.exists() and not (site / top).exists():
            (site / top).symlink_to(place)


def _run(empty: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the installed command in an empty folder, with no environment to speak of."""
    folder = empty.parent / "folder"
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [str(empty / "bin/affectlab"), *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            "PATH": os.defpath,
            "HOME": str(empty.parent),
            "COLUMNS": "80",
            "PYTHONIOENCODING": "utf-8",
            # Compiled code of libraries is kept where the tests keep it.
            "NUMBA_CACHE_DIR": str(empty.parent / "numba"),
        },
    )
    assert done.returncode == code, done.stderr
    return done


def test_without_extras_it_starts_and_knows_what_it_lacks(empty: Path) -> None:
    assert _run(empty, "--version").stdout == f"affectlab {__version__}\n"
    found = json.loads(_run(empty, "doctor", "--json").stdout)["result"]
    assert (found["missing"], found["old"], found["broken"]) == ([], {}, {})
    extras = found["extras"]
    assert set(extras) == set(PROJECT["optional-dependencies"]) - {"dev", "docs"}
    assert not any(one["complete"] for one in extras.values())
    assert extras["models"]["missing"] == [
        *("accelerate", "peft", "safetensors", "skops", "torch", "torchmetrics", "transformers")
    ]


def test_without_extras_ratings_are_read_and_judged(empty: Path) -> None:
    rows = "".join(
        f"s{stimulus},r{rater},joy,{(stimulus + rater % 2) % 5}\n"
        for stimulus in range(20)
        for rater in range(4)
    )
    folder = empty.parent / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "ratings.csv").write_text(f"stimulus,rater,label,value\n{rows}", encoding="utf-8")
    arguments = ("ratings.csv", "--scale", "0-4", "--json")
    found = json.loads(_run(empty, "reliability", "agreement", *arguments).stdout)
    assert found["result"]
    assert (
        json.loads(_run(empty, "ratings", "describe", *arguments).stdout)["result"]["summary"][
            "n_raters"
        ]
        == 4
    )


def test_without_extras_what_needs_one_says_which(empty: Path) -> None:
    done = _run(empty, "reproduce", "to-err-like-human", "--simulate", "--quick", code=2)
    assert len(done.stderr.splitlines()) == 1
    assert "affectlab[models]" in done.stderr
    done = _run(empty, "study", "init", "study.toml", code=2)
    assert len(done.stderr.splitlines()) == 1
    assert "affectlab[study]" in done.stderr
