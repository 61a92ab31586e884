"""The tree of verbs: each is found and explained, and only what is asked for is loaded."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import run_here

from affectlab.cli.manifest import Parameter, read_signature
from affectlab.cli.operations import Choice, Command
from affectlab.cli.parameters import arguments_of
from affectlab.cli.tree import TREE, Branch, Verb, find_verb, make_parser, verbs
from affectlab.core.errors import InputError


def _branches(branch: Branch, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield before
    for name, one in branch.verbs.items():
        if isinstance(one, Branch):
            yield from _branches(one, (*before, name))


BRANCHES, VERBS = list(_branches(TREE)), list(verbs())


def _help(*words: str) -> str:
    return " ".join(run_here(*words, "--help", width=80).stdout.split())


@pytest.mark.parametrize("place", VERBS, ids=" ".join)
def test_help_of_a_verb(place: tuple[str, ...]) -> None:
    text = _help(*place)
    assert text.startswith(f"Usage: {' '.join(('affectlab', *place))} ")
    assert f"Example: affectlab {' '.join(place)} " in f"{text} " or "Examples:" in text
    assert "default: None" not in text
    assert "--json" in text
    assert "--quiet" in text


@pytest.mark.parametrize("place", VERBS, ids=" ".join)
def test_every_verb_takes_a_seed(place: tuple[str, ...]) -> None:
    verb = make_parser(place)
    for word in place:
        verb = verb[word]
    assert any("--seed" in option.names for option in verb.assemble_argument_collection())


@pytest.mark.parametrize("place", BRANCHES, ids=" ".join)
def test_help_of_a_group_names_its_verbs(place: tuple[str, ...]) -> None:
    branch = TREE
    for name in place:
        inner = branch.verbs[name]
        assert isinstance(inner, Branch)
        branch = inner
    done = run_here(*place, "--help", width=80)
    lines = [line.removeprefix("│ ") for line in done.stdout.splitlines() if "│" in line]
    shown = [line.split(" ")[0] for line in lines if not line.startswith(" ")]
    assert [name for name in shown if name in branch.verbs] == list(branch.verbs)
    assert run_here(*place, width=80).stdout == done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_every_verb_and_option_of_old_leads_somewhere() -> None:
    """The table says where each verb and option of the second edition is found now."""
    with Path(__file__).with_name("verbs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 1000
    lost = []
    for row in rows:
        words = row["place"].split()
        last = words[-1]
        verb = find_verb(words)
        if verb is None:
            lost.append(row)
        elif row["option"]:
            name = last.removeprefix("--").replace("-", "_").lower()
            found = verb.options.get(name)
            if found is None or found.is_rare != ("--config" in words):
                lost.append(row)
            elif isinstance(verb, Choice) and verb.flag in words[:-1]:
                chosen = words[words.index(verb.flag) + 1]
                if chosen not in verb.having(name):
                    lost.append(row)
    assert lost == []


@pytest.mark.parametrize("place", VERBS, ids=" ".join)
def test_a_verb_has_at_most_twelve_options_of_its_own(place: tuple[str, ...]) -> None:
    """What is rarely needed is in a file of --config; options of reading are those of all verbs."""
    verb = find_verb(place)
    assert verb is not None
    reading = set(read_signature("cli.reading:read_file").names)
    own = [name for name, one in verb.options.items() if not one.is_rare and _by_name(verb, one)]
    if place == ("ratings", "describe"):
        own = [name for name in own if name not in reading]
    assert len(own) <= 12, own


def _by_name(verb: Verb, parameter: Parameter) -> bool:
    return parameter.by_name or not isinstance(verb, Command)


CHOICES = [place for place in VERBS if isinstance(find_verb(place), Choice)]


@pytest.mark.parametrize("place", CHOICES, ids=" ".join)
def test_an_option_means_the_same_whatever_is_chosen(place: tuple[str, ...]) -> None:
    verb = find_verb(place)
    assert isinstance(verb, Choice)
    for name in verb.options:
        parts = [one.options[name] for one in verb.operations if name in one.options]
        assert len({one.kinds[0] for one in parts}) <= 1, name
        text = _help(*place)
    assert all(f"{verb.flag} {names[0]}" in text for names in verb.operations.values())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("jnd", "--films", "x"), "--films is for --show strips, not --show scores"),
        (("jnd", "--show", "times"), "--show times: expected --frames, too"),
        (("jnd", "--config", "rate_hz=5"), "--rate-hz is for --show strips, not --show scores"),
    ],
)
def test_an_option_that_is_for_another_choice_is_refused(
    words: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("stimulus,value,kind,actor,expression_a,role_a,expression_b,role_b\n")
    verb, *given = words
    assert sentence in run_here("face-expressions", verb, file, *given, code=2).stderr


def test_models_counts_and_all_belong_to_some_choices(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("stimulus,rater,value\na,x,1\na,y,2\nb,x,1\nb,y,1\n", encoding="utf-8")
    said = run_here("reliability", "agreement", file, "--models", file, code=2).stderr
    assert "--models is for --method concordance, not --method coefficients" in said
    said = run_here("analyze", "labels", file, "--all", code=2).stderr
    assert "--all is for --show dimensions, not --show correlations" in said
    said = run_here("evaluate", "preference", "a=1,b=2", "--show", "scale", code=2).stderr
    assert "--show scale needs ratings" in said


def test_an_option_that_is_rarely_needed_is_set_with_config(tmp_path: Path) -> None:
    start = ("evaluate", "fairness", "x.csv", "--by", "a")
    assert "--config min_items=VALUE" in run_here(*start, "--min-items", 3, code=2).stderr
    (tmp_path / "x.toml").write_text("min_items = 3\n", encoding="utf-8")
    known = {"min_items": find_verb(start[:2]).options["min_items"]}  # type: ignore[union-attr]
    for given in (["min_items=3"], ["min-items=3"], [str(tmp_path / "x.toml")]):
        assert arguments_of({}, known, given) == {"min_items": 3}
    assert arguments_of({"min_items": 5}, known, ["min_items=3"]) == {"min_items": 5}
    assert arguments_of({}, known, [str(tmp_path / "x.toml"), "min_items=4"]) == {"min_items": 4}
    with pytest.raises(InputError, match="did you mean 'min_items'"):
        arguments_of({}, known, ["min_item=3"])
    with pytest.raises(InputError, match="min_items"):
        arguments_of({}, known, ["min_items=few"])


def test_a_heading_begins_at_a_verb_and_the_first_at_the_first() -> None:
    for place in BRANCHES:
        branch = TREE
        for name in place:
            branch = branch.verbs[name]  # type: ignore[assignment]
        assert set(branch.headings) <= set(branch.verbs)
        assert [*branch.headings][:1] in ([], [*branch.verbs][:1])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("dmeo",), 'Unknown command "dmeo". Did you mean "demo"?'),
        (("evaluate", "txt"), 'Unknown command "txt". Did you mean "text"?'),
        (("taxonomy", "show", "mikels", "--jsno"), "Unknown option: --jsno. Did you mean --json?"),
        (("taxonomy", "build"), "affectlab taxonomy build --help"),
        (("study", "init", "x.toml", "--sample", "-3"), "--sample"),
        (("analyze", "words", "x.csv", "--criterion", "hlm"), '"holm"'),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line(words: tuple[str, ...], sentence: str) -> None:
    done = run_here(*words, code=2)
    assert sentence in done.stderr
    assert done.stderr.startswith("affectlab: ")
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_only_the_verb_that_is_asked_for_has_options() -> None:
    app = make_parser(["train", "text", "x"])
    assert app["train"]["text"].default_command is not None
    assert app["train"]["vision"].default_command is None
    assert app["demo"].default_command is None
    assert "add" not in app["study"]


def test_modules_of_other_verbs_are_not_loaded() -> None:
    code = (
        "import sys\nfrom affectlab.cli import main\n"
        "try:\n    main(['taxonomy', 'show'])\nexcept SystemExit:\n"
        "    print(*sorted(name for name in sys.modules if name.startswith('affectlab.cli.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()[-1]
    assert "affectlab.cli.taxonomy" in done
    assert "evaluate" not in done


def test_an_argument_comes_by_its_place_and_an_option_by_its_name() -> None:
    assert "mikels" in run_here("taxonomy", "show", "--json", "mikels").stdout
    assert "mikels" in run_here("taxonomy", "show", "--", "mikels").stdout
    run_here("taxonomy", "show", "mikels", "True", code=2)
    run_here("taxonomy", "show", "--name", "mikels", code=2)


def test_of_an_option_given_twice_the_last_counts(tmp_path: Path) -> None:
    run_here("taxonomy", "show", "mikels", "--out", tmp_path / "a", "--out", tmp_path / "b")
    assert [file.name for file in tmp_path.iterdir()] == ["b"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("taxonomy", "show"), "goemotions"),
        (("evaluate", "alignment", "x.csv", "--taxonomy"), "mikels"),
        (("study", "init", "x.toml", "--protocol"), "intensity"),
        (("reproduce",), "socratis"),
    ],
)
def test_a_shell_completes_names_of_what_is_registered(
    words: tuple[str, ...], offered: str
) -> None:
    assert offered in run_here("__complete", *words, "").stdout.split()


def test_completion_is_installed_for_all_verbs(tmp_path: Path) -> None:
    run_here("--install-completion", HOME=str(tmp_path), SHELL="/bin/bash")
    (script,) = tmp_path.rglob("completions/affectlab")
    text = script.read_text()
    assert all(verb[-1] in text for verb in VERBS)
    assert "--models-scale" in text


@pytest.mark.parametrize(
    ("words", "other"),
    [
        (("analyze",), "affectlab reliability mixed-model"),
        (("evaluate", "fairness"), "affectlab reliability mixed-model"),
        (("reliability", "mixed-model"), "affectlab evaluate fairness"),
    ],
)
def test_level_and_error_name_each_other(words: tuple[str, ...], other: str) -> None:
    assert other in " ".join(run_here(*words, "--help", width=400).stdout.split())
