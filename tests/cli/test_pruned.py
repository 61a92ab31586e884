"""The pruned tree of verbs answers as the whole one does, and makes less."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import pytest
import typer
from tests.cli.command import run_here

from affectlab.cli._app import app
from affectlab.cli._pruned import pruned

WHOLE: Any = typer.main.get_command(app)


def _places(group: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield before
    for name, one in getattr(group, "commands", {}).items():
        yield from _places(one, (*before, name))


PLACES = list(_places(WHOLE))


def _said(tree: Any, words: tuple[str, ...]) -> tuple[object, str]:
    """Answer words; give the exit code and what was printed."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed), pytest.raises(SystemExit) as ended:
        tree.main(list(words), prog_name="affectlab")
    return ended.value.code, printed.getvalue()


def _of_both(words: tuple[str, ...]) -> tuple[tuple[object, str], tuple[object, str]]:
    return _said(typer.main.get_command(pruned(app, words)), words), _said(WHOLE, words)


@pytest.fixture(autouse=True)
def _same_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.parametrize("place", PLACES, ids=" ".join)
def test_help_is_that_of_the_whole_tree(place: tuple[str, ...]) -> None:
    found, whole = _of_both((*place, "--help"))
    assert found == whole
    assert f"Usage: {' '.join(('affectlab', *place))}" in found[1]


@pytest.mark.parametrize(
    "words",
    [
        ("dmeo",),
        ("rate", "txt"),
        ("stimuli", "taxonomy", "aply"),
        ("rate",),
        (),
        ("--no-such-option", "demo"),
        ("taxonomy", "show", "--no-such-option"),
        ("--", "taxonomy", "list"),
        ("taxonomy", "list", "--json"),
    ],
    ids=" ".join,
)
def test_everything_else_is_said_as_by_the_whole_tree(words: tuple[str, ...]) -> None:
    found, whole = _of_both(words)
    assert found == whole
    assert found[1]


def test_only_the_verb_that_is_asked_for_has_options() -> None:
    tree: Any = typer.main.get_command(pruned(app, ["rate", "text", "x", "--model", "rate"]))
    assert set(tree.commands) == set(WHOLE.commands)
    assert set(tree.commands["rate"].commands) == set(WHOLE.commands["rate"].commands)
    assert tree.commands["study"].commands == {}
    with_options = {
        name for name, verb in tree.commands["rate"].commands.items() if len(verb.params) > 1
    }
    assert with_options == {"text"}
    assert len(tree.commands["demo"].params) <= 1


def test_the_whole_tree_stays_as_it_is() -> None:
    before = [(verb.name, verb.callback) for verb in app.registered_commands]
    pruned(app, ["demo"])
    assert [(verb.name, verb.callback) for verb in app.registered_commands] == before


def test_completion_sees_the_whole_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AFFECTLAB_COMPLETE", "complete_bash")
    assert pruned(app, ["rate"]) is app


def test_a_shell_completes_names_of_verbs_in_groups() -> None:
    done = run_here(
        _AFFECTLAB_COMPLETE="complete_bash",
        COMP_WORDS="affectlab rate te",
        COMP_CWORD="2",
        _TYPER_COMPLETE_TESTING="1",
    )
    assert done.stdout.split() == ["text"]
