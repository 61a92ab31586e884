"""``affectlab doctor`` in environments that lack things, hold broken ones, or have a GPU."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from tests.cli.command import run_here
from tests.cli.hidden import Environment

from affectlab.cli._extras import EXTRAS, FOR_DEVELOPERS, extra_of, missing_library
from affectlab.cli.tree import verbs
from affectlab.core.environment import libraries
from affectlab.core.environment.installing import install_line
from affectlab.core.environment.libraries import import_problem, module_of, required

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
OPTIONAL = {
    one.name for extra, some in required()[1].items() if extra not in FOR_DEVELOPERS for one in some
}
EXTRAS_HERE = set(required()[1]) - set(FOR_DEVELOPERS)
CORE = {one.name for one in required()[0]}
LINE = {"cyclopts", "rich", "packaging"}
"""What the command line itself is made of."""


VERBS = {" ".join(words[:length]) for words in verbs() for length in range(1, len(words) + 1)}


def test_the_table_of_extras_is_that_of_the_package() -> None:
    declared = set(PROJECT["project"]["optional-dependencies"])
    assert set(EXTRAS) == declared - set(FOR_DEVELOPERS)


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_table_of_extras_names_verbs_that_there_are(extra: str) -> None:
    use = EXTRAS[extra]
    assert {*use.verbs, *use.partly} <= VERBS
    assert not set(use.verbs) & set(use.partly)
    assert use.verbs or use.partly


def test_extras_that_are_made_of_others_bring_what_these_bring() -> None:
    core, extras = required()
    declared = {Requirement(one).name for one in PROJECT["project"]["dependencies"]}
    assert {one.name for one in core} <= declared
    images, models = ({one.name for one in extras[name]} for name in ("images", "models"))
    assert images == models | {"diffusers"}
    assert "affectlab" not in images


@pytest.mark.parametrize("library", sorted(CORE | OPTIONAL))
def test_libraries_are_looked_for_under_the_name_of_their_module(library: str) -> None:
    if required()[0] and not _is_installed(library):
        pytest.skip(f"{library} is not installed")
    assert find_spec(module_of(library)) is not None


def _is_installed(library: str) -> bool:
    from importlib.metadata import version

    try:
        return bool(version(library))
    except PackageNotFoundError:
        return False


def test_run_from_its_source_it_says_that_it_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(libraries, "requires", _not_found)
    found = run_here("doctor", code=1)
    assert "affectlab itself is not installed" in found.stdout
    assert "Needed" not in found.stdout


def _not_found(name: str) -> list[str]:
    raise PackageNotFoundError(name)


def test_here_everything_that_is_needed_is_here(tmp_path: Path) -> None:
    found = Environment(tmp_path).doctor()
    assert found["missing"] == []
    assert (found["old"], found["broken"]) == ({}, {})
    assert set(found["libraries"]) == CORE
    assert found["libraries"]["polars"] == __import__("polars").__version__
    assert found["python"] == sys.version.split()[0]
    assert set(found["extras"]) == EXTRAS_HERE
    assert found["processors"] >= 1


def test_what_is_missing_is_said_with_the_verbs_that_wait_for_it(tmp_path: Path) -> None:
    bare = Environment(tmp_path / "bare", hidden=OPTIONAL - CORE)
    done = bare.run("doctor")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    text = " ".join(done.stdout.split())
    for extra, use in ((extra, EXTRAS[extra]) for extra in EXTRAS_HERE):
        assert f'[{extra}]"' in text
        assert f"{extra} missing" in text
        assert all(verb in text for verb in (*use.verbs, *use.partly))
    assert "Everything that affectlab needs is here." in text
    found = bare.doctor()
    assert not any(extra["complete"] for extra in found["extras"].values())
    assert found["extras"]["explore"]["missing"] == ["plotly", "umap-learn"]


def test_a_single_missing_library_is_named(tmp_path: Path) -> None:
    done = Environment(tmp_path / "less", hidden=["plotly", "umap-learn", "fastapi"]).run("doctor")
    text = " ".join(done.stdout.split())
    assert re.search(r"study missing ([\w, -]+ and )?fastapi", text)
    assert "explore missing" in text


def test_without_the_core_it_says_so_and_fails(tmp_path: Path) -> None:
    bare = Environment(tmp_path / "bare", hidden=(CORE | OPTIONAL) - LINE)
    found = bare.doctor(code=1)
    assert set(found["missing"]) == CORE - LINE
    done = bare.run("doctor", "--full")
    assert done.returncode == 1
    assert "Install affectlab again: pip install" in " ".join(done.stdout.split())
    assert "Traceback" not in done.stderr


def test_without_one_library_of_the_core_its_table_says_it(tmp_path: Path) -> None:
    done = Environment(tmp_path / "bare", hidden=["pydantic"]).run("doctor")
    assert done.returncode == 1
    assert done.stderr == ""
    assert "pydantic is needed. Install affectlab again: pip install" in " ".join(
        done.stdout.split()
    )


@pytest.mark.parametrize("library", sorted(LINE - {"packaging"}))
def test_without_what_the_command_line_is_made_of_one_sentence_says_it(
    library: str, tmp_path: Path
) -> None:
    done = Environment(tmp_path / "bare", hidden=[library]).run("doctor")
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"affectlab: this needs {library}, which is not installed; install it with: pip install "
    )
    assert done.stderr.count("\n") == 1


def test_broken_libraries_are_told_apart_and_end_nothing(tmp_path: Path) -> None:
    broken = Environment(tmp_path / "broken", hidden=(OPTIONAL | CORE) - LINE - {"torch", "polars"})
    broken.hidden = set(broken.hidden) - {"numba", "scipy", "threadpoolctl", "daft", "plotly"}
    broken.put("torch", "raise OSError('libcudart.so.12: cannot open\\nmore')\n")
    broken.put("polars", "print('> rich')\nraise ImportError('built for another machine')\n")
    broken.put("numba", "import os\nos._exit(0)\n")
    broken.put("scipy", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    broken.put("threadpoolctl", "print('fine')\n", version="0.0.1")
    broken.put("daft", "import sys\nsys.exit('no thanks')\n")
    broken.put("plotly", "import no_such_part\n")
    found = broken.doctor("--full", code=1)
    assert found["broken"] == {
        "numba": "importing it ended the process",
        "polars": "ImportError: built for another machine",
        "scipy": "importing it ended the process by SIGSEGV",
    }
    assert found["old"] == {"threadpoolctl": "0.0.1, not >=3.1"}
    assert found["extras"]["models"]["broken"] == {"torch": "OSError: libcudart.so.12: cannot open"}
    assert found["extras"]["scale"]["broken"] == {"daft": "SystemExit: no thanks"}
    assert found["extras"]["explore"]["broken"] == {
        "plotly": "ModuleNotFoundError: No module named 'no_such_part'"
    }
    assert found["accelerator"]["problem"] == "OSError: libcudart.so.12: cannot open"
    text = " ".join(broken.run("doctor", "--full").stdout.split())
    assert "torch: broken: 99.0 is installed, importing it says: OSError: libcudart.so.12" in text
    assert "threadpoolctl too old: 0.0.1; expected >=3.1" in text


def test_an_import_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sleepy.py").write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
    (tmp_path / "awake.py").write_text("raise ValueError()\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    stopped = "importing it took more than 1.5 s and was stopped"
    said = {name: import_problem(name, 1.5) for name in ("sleepy", "awake", "json")}
    assert said == {"sleepy": stopped, "awake": "ValueError", "json": ""}


GPU = """
__version__ = "3.0"
class version:
    cuda, hip = CUDA, None
class cuda:
    device_count = staticmethod(lambda: FOUND)
    get_device_properties = staticmethod(
        lambda k: type("P", (), {"name": f"Card {k}", "total_memory": 2**34})
    )
class backends:
    class mps:
        is_available = staticmethod(lambda: False)
"""


@pytest.mark.parametrize(("cuda", "n"), [("'12.8'", 2), ("None", 0)])
def test_devices_of_torch_are_named(tmp_path: Path, cuda: str, n: int) -> None:
    environment = Environment(tmp_path, hidden=(OPTIONAL | CORE) - LINE - {"torch"})
    environment.put("torch", GPU.replace("CUDA", cuda).replace("FOUND", str(n)))
    assert environment.doctor("--full", code=1)["accelerator"] == {
        "torch": "3.0",
        "built_for": "12.8" if n else "CPU",
        "devices": [f"cuda:{k}: Card {k}, 16.0 GiB" for k in range(n)],
    }


def test_threads_are_found(tmp_path: Path) -> None:
    found = Environment(tmp_path).doctor(OMP_NUM_THREADS="2")
    assert found["threads"]["OMP_NUM_THREADS"] == "2"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://me:secret@127.0.0.1:1/x", r"127\.0\.0\.1.*port 1 .*refused"),
        ("mysql://me:secret@host/x", r"mysql is not supported; expected sqlite or postgresql"),
        ("no address", r"the address is not understood"),
        ("postgresql://me:p@ssecret@127.0.0.1:1/x", "more than one @; expected %40"),
        ("postgresql://me:my secret@127.0.0.1:1/x", "."),
        ("me:secret@127.0.0.1/x", r"the address is not understood"),
        ("postgresql://me:secret@127.0.0.1:port/x", r"not understood|invalid literal"),
        ("sqlite:////nonexistent/study.sqlite", r"there is no file /nonexistent/study\.sqlite"),
    ],
)
def test_a_database_that_cannot_be_reached_is_said_without_its_password(
    url: str, said: str
) -> None:
    pytest.importorskip("sqlalchemy")
    from affectlab.study import try_address

    found = try_address(url)
    assert re.search(said, found["problem"])
    assert "secret" not in str(found)


def test_an_address_is_shown_without_its_password(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    url = "postgresql://me:secret@127.0.0.1:1/x"
    done = run_here("doctor", "--database", url)
    said = " ".join(done.stdout.split())
    assert "database postgresql://me:***@127.0.0.1:1/x not reached" in said
    assert "secret" not in said


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    pytest.importorskip("sqlalchemy")
    from benchmarks._servers import Missing, Postgres

    try:
        cluster = Postgres()
    except Missing as missing:
        pytest.skip(str(missing))
    with cluster:
        yield cluster


@pytest.mark.long
def test_a_real_postgresql_says_its_version_and_what_it_holds(server: Any) -> None:
    from affectlab.study import try_address
    from affectlab.study.database import Database

    url = server.make_database("empty")
    found = try_address(url)
    assert found["problem"] == ""
    assert not found["has_study"]
    assert re.match(r"\d+", found["version"])
    tables = Database(url)
    tables.upgrade()
    tables.close()
    assert try_address(url)["has_study"]
    assert try_address(url.replace("/empty", "/none"))["problem"]


def test_forgotten_libraries_are_one_sentence() -> None:
    missing = ModuleNotFoundError("No module named 'torch'", name="torch")
    assert missing_library(missing) == (
        f"this needs torch, which is not installed; install it with: {install_line('models')}"
    )
    broken = ImportError("cannot import name 'x' from 'sklearn'\nmore", name="sklearn.metrics")
    assert missing_library(broken) == (
        "this needs sklearn, which cannot be imported (cannot import name 'x' from 'sklearn'); "
        f"install it with: {install_line()}"
    )
    unknown = ModuleNotFoundError("No module named 'deepface'", name="deepface")
    assert missing_library(unknown) == (
        "this needs deepface, which is not installed; affectlab doctor says what is missing"
    )
    assert missing_library(ModuleNotFoundError(name="affectlab.gone")) is None
    assert missing_library(ImportError("anything")) is None


def test_the_extra_of_its_own_is_named() -> None:
    assert extra_of("torch") == "models"
    assert extra_of("diffusers") == "images"
    assert extra_of("numpy") == ""
    assert extra_of("no_such_library") is None


def test_it_answers_quietly_in_this_process() -> None:
    assert "Needed" in run_here("doctor", "--quiet", width=80).stdout
