"""The verbs that decide, pay and release, run as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.command import Done, run_here

from affectlab.study.store import Store

from .prolific import TOKEN, Prolific, running
from .prolific_study import STUDY, Begin, take_part

Maker = Callable[..., Store]


@pytest.fixture
def platform() -> Iterator[Prolific]:
    with running(Prolific()) as state:
        yield state


@pytest.fixture(autouse=True)
def without_token(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PROLIFIC_TOKEN", "PROLIFIC_URL"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: object, code: int = 0, **environment: str) -> Done:
    """Run ``affectlab study``; it never says the token."""
    done = run_here("study", *arguments, code=code, **environment)
    assert TOKEN not in done.stdout + done.stderr
    return done


def asking(platform: Prolific) -> dict[str, str]:
    return {"PROLIFIC_TOKEN": TOKEN, "PROLIFIC_URL": platform.url}


def test_decide_and_pay(make_study: Maker, begin: Begin, platform: Prolific) -> None:
    store = make_study(STUDY)
    first, second, third = (take_part(store, begin, platform, name) for name in "abc")
    file = store.study.path
    assert "1 session approved." in run("approve", file, first).stdout
    said = run(
        "reject", file, second, "--reason", "every face got the same number", "--category",
        "LOW_EFFORT",
    ).stdout  # fmt: skip
    assert "1 session rejected, not paid; the tasks are asked again." in said

    dry = run("pay", file, "--dry-run", **asking(platform)).stdout
    assert "3 sessions: 2 would be sent, 1 not decided." in dry
    assert "Nothing was sent: this was a dry run." in dry
    assert set(platform.status.values()) == {"AWAITING REVIEW"}

    done = run("pay", file, "--json", **asking(platform))
    found = json.loads(done.stdout)
    assert found["schema"] == "affectlab/study-pay/1"
    assert found["result"]["counts"] == {"done": 2, "undecided": 1}
    assert platform.status == {"sa": "APPROVED", "sb": "REJECTED", "sc": "AWAITING REVIEW"}
    assert "1 session approved." in run("approve", file, "--all").stdout
    platform.status["sc"] = "RETURNED"
    # What was refused is said in the exit code, so that a script notices.
    failed = run("pay", file, code=1, **asking(platform)).stdout
    assert "at Prolific it is returned" in failed
    assert third


def test_a_bonus_of_ones_own(make_study: Maker, begin: Begin, platform: Prolific) -> None:
    store = make_study(STUDY)
    session = take_part(store, begin, platform, "a")
    given = ("--session", session, "--amount", "0.25", "--name", "thanks")
    for _ in range(2):
        said = run("pay", store.study.path, "--bonus", *given, **asking(platform)).stdout
    assert "1 session: 1 done before." in said
    assert "0.00 USD paid now" in said
    assert platform.paid == {"sa": [25]}


def test_a_study_without_bonuses(make_study: Maker, begin: Begin, platform: Prolific) -> None:
    store = make_study(STUDY)
    take_part(store, begin, platform, "a")
    said = run("pay", store.study.path, "--bonus", **asking(platform)).stdout
    assert "There is nothing to send." in said
    assert platform.asked == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("approve",), "no session is named; expected numbers of sessions, or --all"),
        (("approve", "99"), "There is no session 99."),
        (("reject", "1", "--reason", "bad"), "participants read it"),
        (("pay",), "PROLIFIC_TOKEN"),
        (("pay", "--session", "1"), "--bonus, --session, --amount and --name belong together"),
        (("golden",), "the pilot has no answers yet"),
    ],
)
def test_what_is_wrong(make_study: Maker, arguments: tuple[str, ...], said: str) -> None:
    verb, *rest = arguments
    done = run(verb, make_study(STUDY).study.path, *rest, code=2)
    assert said in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


def test_a_table_to_pay_by_hand(
    make_study: Maker, begin: Begin, platform: Prolific, tmp_path: Path
) -> None:
    store = make_study(STUDY)
    take_part(store, begin, platform, "a")
    run("pay", store.study.path, "--out", tmp_path / "pay.csv")
    table = pl.read_csv(tmp_path / "pay.csv")
    assert table.select("participant", "submission", "decision").row(0) == ("pa", "sa", "undecided")


def test_check_says_what_to_set_on_the_platform(make_study: Maker, platform: Prolific) -> None:
    text = f'{STUDY}[eligibility]\napproval_rate = 0.9\ncountries = ["US"]\n'
    file = make_study(text).study.path
    said = run("check", file).stdout
    assert "Approval rate: 90 to 100" in said
    assert "Current country of residence: United States" in said
    found: dict[str, Any] = json.loads(
        run("check", file, "--ask-prolific", "--json", **asking(platform)).stdout
    )
    assert [one["request"] for one in found["result"]["filters"]][1] == {
        "filter_id": "current-country-of-residence",
        "selected_values": ["1"],
    }


def test_a_data_set_to_publish(
    make_study: Maker, begin: Begin, platform: Prolific, tmp_path: Path
) -> None:
    store = make_study(STUDY)
    take_part(store, begin, platform, "a")
    done = run("export", store.study.path, "--dataset", "--out", tmp_path / "set")
    assert "Read README.md before you publish" in done.stdout
    assert "release.licence is not set" in done.stderr
    assert (tmp_path / "set" / "croissant.json").exists()
    again = run("export", store.study.path, "--dataset", "--out", tmp_path / "set", code=2)
    assert "expected an empty folder" in again.stderr.replace("\n", " ")
