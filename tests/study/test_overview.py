"""What the dashboard says about answers: agreement, flags of raters, times."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from affectlab import AffectlabError
from affectlab.study import reject_session, simulate_study
from affectlab.study.delivery.answers import Submission
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.statistics_process import StatisticsProcess
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import answers, participants, trials
from affectlab.study.watch.participants import answer_words
from affectlab.study.watch.statistics import _time_flags, statistics

from .conftest import FACES, TEXTS, VERIFY
from .desk import drawn, take_part

Maker = Callable[..., Store]

MANY = FACES.replace("faces = 6", "faces = 14").replace("trials = 3", "trials = 14")


def answer_all(store: Store, rate: Callable[[str, str], int | None], rt_ms: int = 2000) -> str:
    """Let somebody answer a session, with a rating for each stimulus and label; the pseudonym."""
    take_part(store, rate=rate, rt_ms=rt_ms)
    with store.database.read() as connection:
        who = connection.execute(select(participants.c.id).order_by(participants.c.id.desc()))
        return pseudonym(store, who.scalars().first() or 0)


class TestAgreement:
    def test_it_is_krippendorffs_alpha(self, make_study: Maker) -> None:
        krippendorff = pytest.importorskip("krippendorff")
        store = make_study(MANY.replace("raters = 2", "raters = 3"))
        for seed in range(3):
            answer_all(store, drawn(seed, 2))
        found = statistics(store)
        labels = store.study.protocol.labels()
        cells = np.full((len(labels), 3, 14), np.nan)
        with store.database.read() as connection:
            query = select(trials.c.participant_id, trials.c.stimulus_id, answers.c.value)
            for who, shown, value in connection.execute(query.join(answers)).all():
                for label, rating in json.loads(value)["ratings"].items():
                    cells[labels.index(label), who - 1, shown - 1] = rating
        expected = {
            label: krippendorff.alpha(
                reliability_data=cells[number],
                value_domain=range(8),
                level_of_measurement="ordinal",
            )
            for number, label in enumerate(labels)
        }
        assert found.level == "ordinal"
        assert {one.label: one.value for one in found.labels} == {
            label: pytest.approx(value, abs=1e-4) for label, value in expected.items()
        }
        assert found.overall.value == pytest.approx(np.mean(list(expected.values())), abs=1e-4)
        low, high = found.overall.low, found.overall.high
        assert low is not None
        assert high is not None
        assert low < found.overall.value < high
        # The interval that holds at any look is that of 97.5 %.
        assert found.overall.width is not None
        assert 1.05 < found.overall.width / (high - low) < 2
        assert all(one.width is None or one.width > one.high - one.low for one in found.labels)
        # An interval moves when answers come, not by itself.
        assert statistics(store) == found

    def test_it_says_when_there_is_too_little(self, make_study: Maker) -> None:
        store = make_study()
        assert statistics(store).overall.status == "no answer counts yet"
        take_part(store)
        one = statistics(store).overall
        assert one.value is None
        assert "undefined" in one.status
        for seed in range(3):
            answer_all(store, drawn(seed, 1))
        found = statistics(store).overall
        assert found.value is not None
        assert found.low is None
        assert found.status == (
            "too little for an interval: 6 stimuli with two ratings or more, 10 are needed"
        )

    def test_rejected_answers_do_not_count(self, make_study: Maker) -> None:
        store = make_study(MANY.replace("raters = 2", "raters = 3"))
        for seed in range(2):
            answer_all(store, drawn(seed, 0))
        assert statistics(store).overall.value == 1.0
        answer_all(store, lambda name, label: 7 - drawn(0, 0)(name, label))
        assert (statistics(store).overall.value or 0) < 0.5
        reject_session(store, 3, "the scale was turned round")
        assert statistics(store).overall.value == 1.0

    def test_of_yes_and_no(self, make_study: Maker) -> None:
        store = make_study(VERIFY)
        service, token = Service(store), enter(store, Visitor())
        state = service.advance(token, "instructions", {})
        trial = state["trial"]
        answer = {"ratings": {trial["labels"][0]["name"]: 1}}
        service.answer(token, Submission(int(trial["id"]), answer, "k" * 32, "buttons", 900))
        found = statistics(store)
        assert found.level == "nominal"
        assert found.overall.value is None

    def test_of_choices(self, make_study: Maker) -> None:
        store = make_study(TEXTS)
        for seed in range(3):
            service, token = Service(store), enter(store, Visitor())
            state = service.advance(token, "instructions", {})
            while state["stage"] == "trials":
                trial = int(state["trial"]["id"])
                chosen = {"chosen": ["joy" if trial % 2 else "anger"]}
                key = f"{seed}-{trial}".ljust(16, "k")
                state = service.answer(token, Submission(trial, chosen, key, "checkbox", 900))
        found = statistics(store)
        assert {one.label for one in found.labels} >= {"joy", "anger"}
        assert all(one.value is None for one in found.labels if one.label == "pride")


class TestFlags:
    @pytest.mark.long
    def test_planted_careless_people_are_found(self, tmp_path: Path, make_study: Maker) -> None:
        # Enough faces that the rule finds nearly everybody (decision 22).
        text = MANY.replace("faces = 14", "faces = 40").replace("trials = 14", "trials = 40")
        store = make_study(text.replace("raters = 2", "raters = 9"))
        store.close()
        simulate_study(store.study.path, people=9, careless=3, seed=5)
        found = statistics(store)
        planted = set()
        with store.database.read() as connection:
            for who, about in connection.execute(
                select(participants.c.id, participants.c.demographics)
            ):
                if json.loads(about)["careless"]:
                    planted.add(pseudonym(store, who))
        assert len(planted) == 3
        assert planted == {flag.rater for flag in found.flags}
        assert "names no policy" in found.screening
        assert not any(flag.against for flag in found.flags)
        assert all(flag.numbers and flag.sentence for flag in found.flags)

    def test_by_the_policy_of_the_study(self, make_study: Maker) -> None:
        store = make_study('policy = "correlation"\n' + MANY.replace("raters = 2", "raters = 4"))
        good = [answer_all(store, drawn(seed, 1)) for seed in range(3)]
        bad = answer_all(store, lambda name, label: 7 - drawn(0, 0)(name, label))
        found = statistics(store)
        flags = [flag for flag in found.flags if flag.rule == "correlation"]
        assert [flag.rater for flag in flags] == [bad]
        assert flags[0].against == ("use",)
        assert flags[0].numbers["measure"] < 0.2
        assert "below" in flags[0].sentence or "<" in flags[0].sentence
        assert not {flag.rater for flag in found.flags} & set(good)
        assert "'correlation' of the study file" in found.screening

    @pytest.mark.parametrize("policy", ["", 'policy = "correlation"\n'])
    def test_a_copied_account_is_pointed_at(self, make_study: Maker, policy: str) -> None:
        """By the checks of a running study and beside any policy; nothing is refused for it."""
        store = make_study(policy + MANY.replace("raters = 2", "raters = 5"))
        honest = drawn(1, 2)
        given: dict[tuple[str, str], int] = {}

        def remembered(name: str, label: str) -> int:
            return given.setdefault((name, label), honest(name, label))

        people = (drawn(0, 2), remembered, drawn(2, 2), drawn(3, 2), remembered)
        raters = [answer_all(store, rate) for rate in people]
        flags = [flag for flag in statistics(store).flags if flag.rule == "duplicates"]
        assert {flag.rater for flag in flags} == {raters[1], raters[4]}
        (last,) = (flag for flag in flags if flag.rater == raters[4])
        assert f"answers like rater {raters[1]!r}: " in last.sentence
        assert last.against == ()
        assert last.numbers["measure"] == 0

    def test_a_policy_that_was_spoiled_meanwhile_is_told(
        self, make_study: Maker, tmp_path: Path
    ) -> None:
        policy = tmp_path / "mine.toml"
        rule = '[[rules]]\nname = "alike"\ncheck = "spread"\nbelow = 5\n'
        policy.write_text(f'name = "mine"\n{rule}[use]\nrules = ["alike"]\n', encoding="utf-8")
        store = make_study('policy = "mine.toml"\n' + FACES)
        rater = answer_all(store, lambda _name, _label: 3)
        (flag,) = statistics(store).flags
        assert (flag.rater, flag.rule, flag.against) == (rater, "alike", ("use",))
        policy.write_text('name = "mine"\n', encoding="utf-8")
        found = statistics(store)
        assert found.flags == ()
        assert found.notes[0].startswith("The policy 'mine.toml' cannot be used:")

    def test_golden_trials(self, make_study: Maker, tmp_path: Path) -> None:
        probe = make_study()
        names = [content["name"] for content in probe.content.values()]
        probe.close()
        rows = "".join(f"{name},awe,7\n" for name in names[:3])
        (tmp_path / "golden.csv").write_text("stimulus,label,value\n" + rows, encoding="utf-8")
        for kept in probe.study.state.rglob("*"):
            if kept.is_file():
                kept.unlink()
        store = make_study(
            replace={
                "faces = 6": 'faces = 6\ngolden = "golden.csv"',
                "group_by = [] }": "group_by = [] }, checks = { golden = 3 }",
            }
        )
        rater = answer_all(store, lambda _name, _label: 0)
        found = statistics(store)
        flag = next(one for one in found.flags if one.rule == "golden trials")
        assert flag.rater == rater
        assert flag.sentence.startswith("golden trials: ")
        assert flag.numbers == {"measure": 3, "answers": 3}
        assert flag.against == ()


class TestTimes:
    def test_quartiles_and_counts(self, make_study: Maker) -> None:
        store = make_study(MANY)
        answer_all(store, drawn(0, 1), rt_ms=1000)
        answer_all(store, drawn(1, 1), rt_ms=3000)
        found = statistics(store)
        assert (found.times.n, found.times.median) == (28, 2.0)
        assert (found.times.low, found.times.high) == (1.0, 3.0)
        assert sum(found.times.counts) == 28
        assert sorted(found.medians.values()) == [1.0, 3.0]

    def test_people_far_from_the_others(self) -> None:
        by_rater = {f"r{k}": [5.0 + k / 10] * 8 for k in range(8)}
        assert _time_flags(by_rater) == ()
        by_rater |= {"hasty": [0.4] * 8, "slow": [60.0] * 8, "few": [0.1] * 4}
        flags = {flag.rater: flag for flag in _time_flags(by_rater)}
        assert {rater: flag.rule for rater, flag in flags.items()} == {
            "hasty": "fast",
            "slow": "slow",
        }
        # 5.3 s are the middle; alike as the others are, a factor of two is what counts.
        assert flags["hasty"].sentence == (
            "median 0.4 s over 8 trials, below 2.7 s; the middle person takes 5.3 s"
        )
        assert flags["hasty"].numbers["median_s"] == 0.4

    def test_of_few_people_nobody_stands_out(self) -> None:
        assert _time_flags({"a": [1.0] * 9, "b": [100.0] * 9, "c": [1.0] * 9}) == ()

    def test_a_factor_on_all_times_changes_nothing(self) -> None:
        rng = np.random.default_rng(3)
        by_rater = {f"r{k}": (rng.lognormal(1.5, 0.6, 9)).tolist() for k in range(30)}
        by_rater["hasty"] = [0.1] * 9
        scaled = {rater: [8 * one for one in times] for rater, times in by_rater.items()}
        assert [flag.rater for flag in _time_flags(by_rater)] == [
            flag.rater for flag in _time_flags(scaled)
        ]
        assert "hasty" in {flag.rater for flag in _time_flags(by_rater)}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"ratings": {"awe": 5, "fear": 0, "joy": None}}, "awe 5, fear 0; 1 not rated"),
        ({"ratings": {}}, ""),
        ({"chosen": []}, "none"),
        ({"chosen": ["joy"], "suggestion": "zest"}, "joy; suggests 'zest'"),
        ({"value": 42}, "42"),
        ({"value": "left"}, "left"),
        ({"entries": [{"emotion": "joy", "reason": "sun"}]}, "joy – sun"),
        ({"trials": [1, 2]}, '{"trials": [1, 2]}'),
    ],
)
def test_answers_in_words(answer: dict[str, Any], words: str) -> None:
    assert answer_words(answer) == words


class TestProcess:
    def test_it_says_what_would_be_said_here(self, make_study: Maker, database: str | None) -> None:
        store = make_study(MANY.replace("raters = 2", "raters = 3"), database=database)
        for seed in range(2):
            answer_all(store, drawn(seed, 1))
        process = StatisticsProcess(store)
        try:
            # As JSON, which knows no tuples.
            assert process.ask() == json.loads(json.dumps(asdict(statistics(store))))
            answer_all(store, drawn(2, 1))
            assert process.ask() == json.loads(json.dumps(asdict(statistics(store))))
        finally:
            process.close()
        with pytest.raises(AffectlabError, match="stopping"):
            process.ask()

    def test_it_ends_with_whoever_started_it(self, make_study: Maker) -> None:
        """Also when that one is killed, and cannot end anything itself."""
        store = make_study()
        program = (
            "import sys, time\n"
            "from affectlab.study import load_study, open_store\n"
            "from affectlab.study.statistics_process import StatisticsProcess\n"
            "process = StatisticsProcess(open_store(load_study(sys.argv[1])))\n"
            "process.ask()\n"
            "print(process._child.pid, flush=True)\n"
            "time.sleep(60)\n"
        )
        command = [sys.executable, "-c", program, str(store.study.path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
            assert parent.stdout is not None
            child = int(parent.stdout.readline())
            assert _runs(child)
            parent.kill()
        end = time.monotonic() + 20
        while _runs(child):
            assert time.monotonic() < end, "the process stayed behind"
            time.sleep(0.05)


def _runs(number: int) -> bool:
    """Whether a process runs; one that nobody has collected yet does not."""
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except FileNotFoundError:
        return False
    return state[0] != "Z"
