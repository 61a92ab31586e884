"""The audit before a release: licences, the bill, and what it says without a network."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name
from release import audit
from release._libraries import Missing, users_install
from release._licences import is_binding, licence_of, refused


class Library(Distribution):
    """A library with these lines of metadata."""

    def __init__(self, folder: Path, text: str) -> None:
        self._folder, self._text = folder, text

    def read_text(self, filename: Any) -> str | None:
        place = self._folder / str(filename)
        if filename == "METADATA":
            return f"Metadata-Version: 2.4\nName: it\nVersion: 2.13.0+cpu\n{self._text}"
        return place.read_text("utf-8") if place.exists() else None

    def locate_file(self, path: Any) -> Path:
        return self._folder / str(path)


def _library(folder: Path, text: str, licence: str = "") -> Library:
    if licence:
        (folder / "LICENSE").write_text(licence, encoding="utf-8")
        (folder / "RECORD").write_text("LICENSE,,\n", encoding="utf-8")
    return Library(folder, text)


@pytest.mark.parametrize(
    ("expression", "binds"),
    [
        ("MIT", False),
        ("GPL-2.0-only", True),
        ("AGPL-3.0-or-later", True),
        ("LGPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", False),
        ("GPL-2.0-only OR AGPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", True),
        ("MIT AND (BSD-3-Clause OR GPL-3.0-only)", False),
        ("(MIT AND GPL-3.0-only) OR GPL-2.0-only", True),
        ("BSD-3-Clause AND GPL-3.0-or-later WITH GCC-exception-3.1", False),
        ("GPL-3.0-or-later WITH Autoconf-exception-3.0", True),
        ("", False),
        ("MIT ) GPL-3.0-only", True),
    ],
)
def test_expressions_leave_a_choice_or_none(expression: str, binds: bool) -> None:
    assert is_binding(expression) is binds


GPL = "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"
LGPL = "License :: OSI Approved :: GNU Lesser General Public License v3 (LGPLv3)"


@pytest.mark.parametrize(
    ("text", "licence", "binds", "source"),
    [
        ("License-Expression: GPL-3.0-only\nClassifier: License :: MIT\n", "", True, "expression"),
        (f"Classifier: {GPL}\n", "", True, "classifiers"),
        (f"Classifier: {LGPL}\n", "", False, "classifiers"),
        ("License: GPL\n", "", True, "field"),
        ("License: MIT OR GPL-2.0\n", "", False, "field"),
        ("License: GNU LGPL\n", "", False, "field"),
        ("License: Copyright X\n        GNU GENERAL PUBLIC LICENSE v3\n", "", True, "field"),
        (
            "License: GPL-3.0\nClassifier: License :: OSI Approved :: MIT License\n",
            "",
            True,
            "classifiers and field",
        ),
        (f"License: MIT\nClassifier: {LGPL}\n", "", False, "classifiers"),
        ("", "\n   GNU AFFERO GENERAL PUBLIC LICENSE\n Version 3\n", True, "file LICENSE"),
        ("", "GNU LESSER GENERAL PUBLIC LICENSE\n Version 3\n", False, "file LICENSE"),
        ("License: UNKNOWN\n", "MIT License\n\nPermission", False, "file LICENSE"),
        ("", "", False, "nowhere"),
    ],
)
def test_a_licence_is_read_where_it_stands(
    tmp_path: Path, text: str, licence: str, binds: bool, source: str
) -> None:
    found = licence_of(_library(tmp_path, text, licence))
    assert (found.binds, found.source) == (binds, source)


def test_what_binds_or_says_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    libraries = {
        "fine": _library(tmp_path, "License-Expression: MIT\n"),
        "strong": _library(tmp_path, "License-Expression: AGPL-3.0-only\n"),
        "silent": _library(tmp_path, ""),
    }
    assert refused({name: licence_of(one) for name, one in libraries.items()}) == [
        "strong is under AGPL-3.0-only (expression)",
        "silent does not say its licence",
    ]
    assert audit.check_licences(libraries) == audit.FOUND
    assert audit.check_licences({"fine": libraries["fine"]}) == 0
    assert "1 libraries, none under the GPL" in capsys.readouterr().out


def _users_install() -> dict[str, Distribution]:
    try:
        return users_install()
    except Missing as missing:
        pytest.skip(str(missing))


def test_what_users_install_is_free_of_the_gpl_and_of_oracles() -> None:
    libraries = _users_install()
    assert {"numpy", "polars", "jinja2", "torch", "fastapi", "starlette"} <= set(libraries)
    assert not {"affectlab", "pytest", "krippendorff", "pingouin", "sureal"} & set(libraries)
    assert refused({name: licence_of(one) for name, one in libraries.items()}) == []
    # The check sees the GPL where it is: an oracle of the tests is under it.
    assert licence_of(distribution("pingouin")).binds


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = distribution("scikit-learn")
    monkeypatch.setattr(
        type(asked), "requires", property(lambda self: ["no-such-library>=1"]), raising=True
    )
    with pytest.raises(Missing, match="asks for no-such-library, which is not installed"):
        users_install("scikit-learn")


def test_the_bill_keeps_what_users_install_and_who_needs_whom() -> None:
    bill: dict[str, Any] = {
        "metadata": {"component": {"bom-ref": "root"}},
        "components": [
            {"name": "Jinja2", "bom-ref": "j"},
            {"name": "MarkupSafe", "bom-ref": "m"},
            {"name": "pytest", "bom-ref": "p"},
        ],
        "dependencies": [
            {"ref": "root", "dependsOn": ["j", "p"]},
            {"ref": "j", "dependsOn": ["m"]},
            {"ref": "m"},
            {"ref": "p", "dependsOn": ["j"]},
        ],
    }
    kept = audit.only(bill, {"jinja2", "markupsafe"})
    assert [one["name"] for one in kept["components"]] == ["Jinja2", "MarkupSafe"]
    assert kept["dependencies"] == [
        {"ref": "root", "dependsOn": ["j"]},
        {"ref": "j", "dependsOn": ["m"]},
        {"ref": "m", "dependsOn": []},
    ]


def _tool(folder: Path, name: str, source: str) -> None:
    """Put in a program in the place of a tool; what it is asked is kept beside it."""
    program = folder / name
    program.write_text(
        f"#!{sys.executable}\nimport json, pathlib, sys\ngiven = sys.argv[1:]\n"
        "asked = dict(zip(given, given[1:]))\n"
        f"{source}\n",
        encoding="utf-8",
    )
    program.chmod(0o755)


ANSWER = """
lines = pathlib.Path(asked["--requirement"]).read_text().split()
answers = [dict(zip(("name", "version"), line.split("==")), vulns=[]) for line in lines]
CHANGE
pathlib.Path(asked["--output"]).write_text(json.dumps({"dependencies": answers}))
sys.exit(CODE)
"""


@pytest.mark.parametrize(
    ("change", "exits", "code", "said"),
    [
        ("", 0, 0, "weaknesses: none known of 2 libraries (OSV)"),
        (
            "answers[0]['vulns'] = [{'id': 'X-1', 'fix_versions': ['9']}]",
            *(1, audit.FOUND, "weaknesses: it 2.13.0: X-1, mended in 9"),
        ),
        (
            "answers[0]['vulns'] = [{'id': 'X-1', 'fix_versions': []}]",
            *(1, audit.FOUND, "X-1, mended in no version yet"),
        ),
        ("answers.pop()", 0, audit.NOT_DONE, "weaknesses: NOT CHECKED for other"),
        (
            "answers[1] = {'name': 'other', 'skip_reason': 'not there'}",
            *(0, audit.NOT_DONE, "weaknesses: NOT CHECKED for other"),
        ),
    ],
)
def test_known_weaknesses_are_told_and_nothing_is_passed_over(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: str,
    exits: int,
    code: int,
    said: str,
) -> None:
    _tool(tmp_path, "pip-audit", ANSWER.replace("CHANGE", change).replace("CODE", str(exits)))
    libraries = {"it": _library(tmp_path, ""), "other": _library(tmp_path, "")}
    assert audit.find_weaknesses(libraries, tmp_path) == code
    printed = capsys.readouterr()
    assert said in printed.out + printed.err


def test_without_a_network_it_says_that_nothing_was_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _tool(tmp_path, "pip-audit", "sys.exit('Traceback …\\nConnectionError: no way there')")
    assert audit.find_weaknesses({"it": _library(tmp_path, "")}, tmp_path) == audit.NOT_DONE
    said = capsys.readouterr().err
    assert said.startswith("weaknesses: NOT CHECKED: api.osv.dev did not answer")
    assert "ConnectionError: no way there" in said
    assert len(said.splitlines()) == 1


def test_a_bill_that_lacks_something_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bill = {"metadata": {"component": {"bom-ref": "root"}}, "components": [], "dependencies": []}
    _tool(tmp_path, "cyclonedx-py", f"print({json.dumps(json.dumps(bill))})")
    out = tmp_path / "sbom.json"
    assert audit.write_bill({"it": _library(tmp_path, "")}, tmp_path, out) == audit.NOT_DONE
    assert not out.exists()
    assert "did not list it" in capsys.readouterr().err
    bill["components"] = [{"name": "It", "bom-ref": "it"}]
    _tool(tmp_path, "cyclonedx-py", f"print({json.dumps(json.dumps(bill))})")
    assert audit.write_bill({"it": _library(tmp_path, "")}, tmp_path, out) == 0
    written = json.loads(out.read_text("utf-8"))
    assert [canonicalize_name(one["name"]) for one in written["components"]] == ["it"]
    assert written["metadata"]["component"]["version"]


def test_it_is_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "release.audit", "--help"],
        check=False,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0
    assert "--tools" in done.stdout
