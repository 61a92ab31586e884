"""Whatever users could do is there still, has a new place, or was dropped for a reason."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import pytest
from tests.golden.inventory import FROZEN, TEXTS, Inventory, frozen, live, public_lines
from tests.golden.moved import Move, account, missing_lines, read_moves

_BASE = "b4209e1f0ad7c9e76b6670601efbf04ebee11968e92a7cf48bde8fff9d462f51"
_SHOWN = 20


@pytest.mark.long
def test_everything_is_there_or_has_a_place_or_was_dropped() -> None:
    accounts = account(frozen(), live(), read_moves())
    said = [f"no place for {line}" for line in accounts.lost]
    said += [f"leads nowhere, or is not needed: {move}" for move in accounts.unused]
    if said:
        more = len(said) - _SHOWN
        end = [f"and {more} more"] if more > 0 else []
        how = "`python -m tests.golden.moved` prints lines for tests/golden/moved.toml"
        pytest.fail("\n".join([*said[:_SHOWN], *end, how]), pytrace=False)


def test_the_inventory_is_that_of_the_base() -> None:
    # Written anew it would agree with whatever was lost.
    assert hashlib.sha256(FROZEN.read_bytes()).hexdigest() == _BASE


def test_the_inventory_holds_every_kind() -> None:
    kinds = Counter(line.partition(": ")[0] for line in frozen() if ": " in line)
    named = {"dataset", "difference metric", "encoder", "entry points", "face rater", "format"}
    named |= {"generator", "key", "metric", "policy", "protocol", "recipe", "schema", "strategy"}
    assert {*TEXTS, *named, "backend", "taxonomy", "template", "text metric"} <= kinds.keys()
    known = {
        "affectlab analyze correlations",
        "affectlab analyze correlations FILE",
        "affectlab analyze correlations --method = pearson",
        "affectlab analyze correlations --method spearman",
        "affectlab analyze correlations -q",
        "affectlab.Ratings",
        "affectlab.estimates.Estimate.status = 'ok'",
        "affectlab.ratings.read_ratings(path)",
        "affectlab.reliability.krippendorff_alpha(level=None)",
        "key: Consent.version = '1'",
        "metric: ecc",
        "note: There is one stimulus: most measures of agreement are not defined.",
        "status: undefined: no unit with two ratings",
        "warning: AnimatedImageWarning",
    }
    assert known - set(frozen()) == set()


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(r"affectlab( [a-z-]+)+", id="verb"),
        pytest.param(r"affectlab .* --\S+ = .*", id="option"),
        pytest.param(r"affectlab .* --\S+ [^=]+", id="choice"),
        pytest.param(r"affectlab(\.\w+)+", id="name"),
        pytest.param(r"affectlab(\.\w+)+\(\w+=.*\)", id="parameter"),
        pytest.param(r"key: .*", id="key"),
        pytest.param(r"format: .*", id="format"),
        pytest.param(r"status: .*", id="status"),
        pytest.param(r"note: .*", id="note"),
        pytest.param(r"warning: \w+Warning", id="warning"),
    ],
)
def test_a_planted_loss_is_seen(kind: str) -> None:
    there = [line for line in frozen() if line in live()]
    lost = [line for line in there if re.fullmatch(kind, line)][-1]
    without = {lost, lost.partition(": ")[2]}
    now = Inventory(live().lines - without, live().strings - without)
    assert lost in account(there, now, []).lost
    drop = Move(lost, "dropped, because a test took it away")
    accounts = account(there, now, [drop])
    assert (accounts.lost, accounts.unused) == ([], [])


def _now(*lines: str, strings: tuple[str, ...] = ()) -> Inventory:
    return Inventory(frozenset(lines), frozenset(strings))


@pytest.mark.parametrize(
    ("before", "moves"),
    [
        pytest.param("affectlab b --new = 1", {}, id="still there"),
        pytest.param(
            "affectlab b --old = 1", {"affectlab b --old": "affectlab b --new"}, id="name"
        ),
        pytest.param("affectlab b --old = 1", {"* --old": "* --new"}, id="family"),
        pytest.param("affectlab a --new = 1", {"affectlab a": "affectlab b"}, id="inside"),
        pytest.param(
            "affectlab a --old = 2",
            {"* --old": "* --new", "affectlab a": "affectlab b", "* --new = 2": "* --new = 1"},
            id="several steps",
        ),
        pytest.param("affectlab.x.A.f(n=1)", {"affectlab.*.A": "affectlab.R"}, id="to one place"),
        pytest.param("note: One {}*.", {"note: One *": "note: one-stimulus"}, id="text"),
        pytest.param("metric: gone", {"metric: gone": "dropped, because it was wrong"}, id="drop"),
        pytest.param(
            "affectlab a --gone",
            {"affectlab a": "affectlab b", "affectlab b --gone": "dropped, because it was wrong"},
            id="moved, then dropped",
        ),
    ],
)
def test_moves_lead_to_what_is_there(before: str, moves: dict[str, str]) -> None:
    now = _now("affectlab b --new = 1", "affectlab.R.f(n=1)", strings=("one-stimulus",))
    accounts = account([before], now, [Move(*pair) for pair in moves.items()])
    assert (accounts.lost, accounts.unused) == ([], [])


@pytest.mark.parametrize(
    ("before", "moves"),
    [
        pytest.param("affectlab b --news = 1", {}, id="another option"),
        pytest.param("affectlab b --new = 2", {}, id="another default"),
        pytest.param("affectlab b --new = 2", {"affectlab b": "affectlab c"}, id="no such place"),
        pytest.param("affectlab bc", {"affectlab b": "affectlab d"}, id="longer name"),
        pytest.param("note: one thing. two", {"note: one thing": "note: new"}, id="longer text"),
        pytest.param("note: new text", {}, id="another text"),
        pytest.param("affectlab a", {"affectlab a": "affectlab a a"}, id="without end"),
    ],
)
def test_what_has_no_place_is_lost(before: str, moves: dict[str, str]) -> None:
    now = _now("affectlab b --new = 1", "affectlab d", strings=("new",))
    accounts = account([before], now, [Move(*pair) for pair in moves.items()])
    assert accounts.lost == [before]
    assert [move.old for move in accounts.unused] == list(moves)


@pytest.mark.parametrize(
    "moves",
    [
        pytest.param({"affectlab b": "affectlab c"}, id="what is still there"),
        pytest.param({"affectlab z": "affectlab b"}, id="what never was"),
        pytest.param({"affectlab b": "dropped, because it was wrong"}, id="drop of what is there"),
        pytest.param(
            {"affectlab a": "affectlab b", "* a": "dropped, because it was wrong"},
            id="drop of what has a place",
        ),
    ],
)
def test_a_line_that_is_not_needed_is_named(moves: dict[str, str]) -> None:
    before, lines = ["affectlab a", "affectlab b"], [Move(*pair) for pair in moves.items()]
    unused = account(before, _now("affectlab b"), lines).unused
    assert unused == lines[-1:]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"affectlab a" = ""', "blank"),
        ('"" = "affectlab a"', "blank"),
        ('"affectlab a" = "dropped"', "and a reason"),
        ('"affectlab a" = "dropped, because …"', "and a reason"),
        ('"affectlab a" = "dropped, because no"', "and a reason"),
        ('"affectlab a" = "dropped because it was wrong"', "and a reason"),
        ('"*" = "dropped, because it was wrong"', "drops everything"),
        ('"* a *" = "* b"', "as many"),
        ('affectlab.a = "affectlab b"', "quotation marks"),
        ('"affectlab a" = "affectlab b"\n"affectlab a" = "affectlab c"', "overwrite"),
    ],
)
def test_a_line_says_where_or_why(text: str, said: str, tmp_path) -> None:
    path = tmp_path / "moved.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=said):
        read_moves(path)


def test_lines_to_complete_suggest_what_is_new() -> None:
    before = [
        "affectlab a --boot = 1",
        "affectlab a --out",
        "note: There is one stimulus.",
        "zz: q",
    ]
    now = _now(
        "affectlab a --n-boot = 1", "affectlab a --out", strings=("There is only one stimulus.",)
    )
    lost = account(before, now, []).lost
    assert list(missing_lines(lost, now, before)) == [
        '"affectlab a --boot = 1" = "affectlab a --n-boot = 1"',
        '"note: There is one stimulus." = "note: There is only one stimulus."',
        '"zz: q" = ""',
    ]


def test_each_promise_becomes_lines() -> None:
    lists = {
        "commands": {
            "affectlab a": "group of verbs",
            "affectlab a b": "verb FILE [OUT]",
            "affectlab a b --how/-h": "one of x, y, several times = x",
            "affectlab a b --off": "switch",
        },
        "keys": {"K.n": "field = 1"},
        "names": {"policy p913": "built-in", "affectlab/x/1": "format of a file"},
        "affectlab.m": {
            "f": "(a, /, b=None, *rest, c=(1, 2), **more)",
            "C": "class; dataclass(frozen=True)",
            "C.n": "field = 1",
            "C.to": "class method (x)",
            "C.ok": "property",
        },
    }
    assert list(public_lines(lists)) == [
        "affectlab a",
        *("affectlab a b", "affectlab a b FILE", "affectlab a b [OUT]"),
        *(
            "affectlab a b --how, several times = x",
            "affectlab a b --how x",
            "affectlab a b --how y",
        ),
        *("affectlab a b -h, several times = x", "affectlab a b -h x", "affectlab a b -h y"),
        "affectlab a b --off",
        "key: K.n = 1",
        *("policy: p913", "schema: affectlab/x/1"),
        *("affectlab.m.f", "affectlab.m.f(a)", "affectlab.m.f(b=None)", "affectlab.m.f(c=(1, 2))"),
        *("affectlab.m.f(*rest)", "affectlab.m.f(**more)"),
        *("affectlab.m.C", "affectlab.m.C.n = 1"),
        *("affectlab.m.C.to", "affectlab.m.C.to(x)", "affectlab.m.C.ok"),
    ]
