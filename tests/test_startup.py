"""What starting costs: which libraries are loaded, not how many seconds it takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    *("torch", "transformers", "polars", "pyarrow", "numba", "numpy", "scipy", "matplotlib"),
    *("sklearn", "PIL", "sqlalchemy", "fastapi", "httpx", "ray", "daft", "plotly", "inspect_ai"),
}


def _loaded(code: str) -> set[str]:
    report = "import sys; print(*{name.partition('.')[0] for name in sys.modules}, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    assert not _loaded("import affectlab") & HEAVY


@pytest.mark.parametrize(
    "arguments", [["--help"], ["ratings", "describe", "--help"], ["--version"]]
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "from affectlab.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit as stop:\n    assert not stop.code"
    )
    assert not _loaded(code) & HEAVY


@pytest.mark.long
def test_help_of_every_verb_loads_nothing_heavy() -> None:
    code = (
        "from contextlib import redirect_stdout\n"
        "from io import StringIO\n"
        "from affectlab.cli import main\n"
        "from affectlab.cli.tree import verbs\n"
        "for words in verbs():\n"
        "    try:\n"
        "        with redirect_stdout(StringIO()):\n"
        "            main([*words, '--help'])\n"
        "    except SystemExit as stop:\n"
        "        assert not stop.code"
    )
    assert not _loaded(code) & HEAVY


def test_names_at_top_level() -> None:
    import affectlab as al

    for name in al.__all__:
        assert getattr(al, name) is not None
    assert set(al.__all__) <= set(dir(al))
    with pytest.raises(AttributeError, match="no attribute 'krippendorf'"):
        _ = al.krippendorf
