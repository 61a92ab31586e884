"""Emotions and reasons: what is refused, stored, exported, and what earns a bonus."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from affectlab import InputError
from affectlab.core.words import popular_without
from affectlab.ratings import read_ratings
from affectlab.study import load_study, simulate_study, workload, write_template
from affectlab.study.dataset.bonus import bonus_table, bonuses
from affectlab.study.dataset.ratings import collect, export
from affectlab.study.errors import StudyError
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.server import create_app
from affectlab.study.service import Service
from affectlab.study.store import Store, open_store
from affectlab.study.tables import answers, participants
from affectlab.study.verdicts import reject_session
from affectlab.taxonomy.emotion_words import emotion_key

from .words import CAPTIONS, REACTION, Begin, Maker, entry, files, name_of, submit, table

DIFFERENT = """
happy sad angry afraid hope hopeless content contempt care careless awe awful
fear disgust surprise pride shame guilt joy relief worry boredom calm curious
love hatred wonder wonderful interest excitement amusement amazement thank
think empathy
"""
MARKUP = "<img src=x onerror=alert(1)> & <b>so</b> — “it” 'is' 🙂"


@pytest.fixture
def store(make_study: Maker, tmp_path: Path, database: str | None) -> Store:
    files(tmp_path)
    return make_study(REACTION, database=database)


class TestPage:
    def test_a_trial_shows_picture_caption_and_fields(self, store: Store, begin: Begin) -> None:
        _, _, state = begin(store)
        trial = state["trial"]
        captions = {row.split(",")[0]: row.split(",")[2] for row in CAPTIONS.splitlines()[1:]}
        assert trial["stimulus"]["texts"] == [captions[name_of(store, state)]]
        assert len(trial["stimulus"]["images"]) == 1
        assert [(one["name"], one["lines"]) for one in trial["fields"]] == [
            ("emotion", 1),
            ("reason", 3),
        ]
        assert trial["fields"][1]["min_length"] == 10
        assert trial["rules"]["max_labels"] == 3
        assert trial["rules"]["distinct"] == "emotion"

    @pytest.mark.parametrize(
        ("table_", "sentence"),
        [
            ("stimulus,file\np0,p0.png\n", "'p0' has no text; protocol 'reaction' shows a text"),
            ("stimulus,text\np0,Words.\n", "'p0' has no file; protocol 'reaction' shows a picture"),
        ],
    )
    def test_a_stimulus_needs_both(
        self, make_study: Maker, tmp_path: Path, table_: str, sentence: str
    ) -> None:
        files(tmp_path, **{"captions.csv": table_})
        with pytest.raises(InputError, match=sentence):
            make_study(REACTION)


class TestAnswers:
    def test_entries_are_stored_as_they_were_written(self, store: Store, begin: Begin) -> None:
        service, token, state = begin(store)
        given = [entry("Hope", MARKUP), entry("fear", "It  could\ngo wrong.")]
        service.answer(token, submit(state, {"entries": given}))
        ((value,),) = table(store, answers.c.value)
        assert json.loads(value) == {"entries": given}

    @pytest.mark.parametrize(
        ("entries", "sentence"),
        [
            ([], "0 entries are given; expected at least 1"),
            (
                [entry(x) for x in ["joy", "fear", "awe", "rage"]],
                "4 entries are given; expected at m",
            ),
            ([entry("joy", "Too short")], "entry 1: reason has 9 characters; expected at least 10"),
            ([entry("joy"), entry("x")], "entry 2: emotion has 1 characters; expected at least 2"),
            ([entry("j" * 41)], "entry 1: emotion has 41 characters; expected at most 40"),
            ([entry("joy", "x" * 601)], "reason has 601 characters; expected at most 600"),
            ([entry("joy", " " * 30)], "entry 1: reason is empty"),
            ([entry("Joy"), entry(" joy ")], "entry 2: 'joy' is given twice"),
            ([{"emotion": "joy"}], "entry 1: reason is empty"),
            ([{**entry("joy"), "more": "x"}], "unknown field 'more'"),
            ([{"emotion": 3, "reason": "x" * 20}], "entry 1: emotion is of type int"),
            (["joy"], "entry 1 is of type str"),
            ("joy", "answer is of type str"),
            (None, "answer is missing"),
        ],
    )
    def test_what_does_not_keep_to_the_rules_is_refused(
        self, make_study: Maker, begin: Begin, tmp_path: Path, entries: Any, sentence: str
    ) -> None:
        files(tmp_path)
        store = make_study(REACTION)
        service, token, state = begin(store)
        with pytest.raises(StudyError, match=sentence) as refused:
            service.answer(token, submit(state, {"entries": entries}))
        assert refused.value.status == 422
        assert service.state(token)["trial"] == state["trial"]
        assert not table(store, answers.c.trial_id)

    @pytest.mark.parametrize("bad", ["half a \ud83d character", "no \0 text at all"])
    def test_text_that_cannot_be_stored_is_refused(self, store: Store, bad: str) -> None:
        with TestClient(create_app(store), base_url="http://127.0.0.1") as client:
            state = client.post("/api/enter", json={}).json()
            csrf = {"X-CSRF": state["csrf"], "content-type": "application/json"}
            state = client.post("/api/advance", json={"stage": "instructions"}, headers=csrf).json()
            message = {
                "trial": state["trial"]["id"],
                "answer": {"entries": [entry("joy", bad)]},
                "key": "k" * 20,
                "widget": "text",
            }
            reply = client.post("/api/answers", content=json.dumps(message), headers=csrf)
        assert reply.status_code == 422
        assert "character" in reply.json()["error"]["sentence"]


def answer_all(store: Store, words: dict[str, list[str]], visitor: Visitor | None = None) -> int:
    """Take part once, naming `words` of each stimulus; give the session."""
    service = Service(store)
    from affectlab.study.people.entry import enter

    token = enter(store, visitor or Visitor())
    state = service.advance(token, "instructions", {})
    while state["stage"] == "trials":
        named = words[name_of(store, state)]
        state = service.answer(token, submit(state, {"entries": [entry(one) for one in named]}))
    with store.database.read() as connection:
        from affectlab.study.delivery.session import find_session

        return int(find_session(connection, store, token)["id"])


def everywhere(word: str) -> dict[str, list[str]]:
    return {shown: [word] for shown in ("p0", "p1", "p2")}


class TestExport:
    def test_one_row_per_entry_with_its_reason(
        self, store: Store, begin: Begin, tmp_path: Path
    ) -> None:
        service, token, state = begin(store)
        shown = name_of(store, state)
        given = [entry(" Great  Hope ", MARKUP), entry("fear", MARKUP)]
        service.answer(token, submit(state, {"entries": given}))
        exported = export(store, tmp_path / "out")
        assert exported.n_ratings == 2
        for name in ("ratings.parquet", "ratings.csv"):
            found = read_ratings(tmp_path / "out" / name)
            assert found.scale.kind == "text"
            frame = found.to_frame()
            assert frame["stimulus"].to_list() == [shown] * 2
            assert frame["label"].to_list() == ["great hope", "fear"]
            assert frame["emotion"].to_list() == [" Great  Hope ", "fear"]
            assert frame["text"].to_list() == [MARKUP, MARKUP]
            assert frame["entry"].to_list() == [1, 2]
        known = found.stimuli.filter(pl.col("stimulus") == shown).to_dicts()[0]
        assert known["text"] in CAPTIONS
        assert known["file"] == f"{shown}.png"


class TestWords:
    @pytest.mark.parametrize(
        "forms",
        [
            "happy Happiness happily",
            "sad sadness sadly SAD!",
            "anger angry angrily",
            "excited excitement exciting",
            "hope hopeful hoping hopes",
            "joy joyful joyous",
            "curious curiosity",
            "inspired inspiring inspiration inspire",
            "frustrated frustration frustrating",
            "amused amusement amusing",
            "disappointed disappointment",
            "worried worry worrying worries",
            "surprise surprised surprising",
            "relief relieved relieving",
            "pride proud proudly",
            "anxiety anxious anxiously",
            "bored boredom boring",
            "scared scary scaring",
            "jealous jealousy",
            "annoyed annoyance annoying",
            "confused confusion confusing",
            "nostalgic Nostalgic",
            "nervous nervousness",
            "guilt guilty",
            "upset upsetting",
            "content contentment contented",
            "love loving loved",
            "thankful thanks thankfulness",
        ],
    )
    def test_forms_of_a_word_are_one(self, forms: str) -> None:
        assert len({emotion_key(one) for one in forms.split()}) == 1

    def test_what_is_said_beside_the_word_does_not_count(self) -> None:
        forms = ["sad", "very sad", "feeling sad", " A bit  SAD. ", "so sad…"]
        assert {emotion_key(one) for one in forms} == {emotion_key("sadness")}

    def test_different_words_stay_apart(self) -> None:
        words = DIFFERENT.split()
        assert len({emotion_key(one) for one in words}) == len(words)

    @pytest.mark.parametrize("word", ["", "  ", "!?", "é", "喜び", "Sehnsucht", "s", "ed", "very"])
    def test_every_text_has_a_key(self, word: str) -> None:
        assert bool(emotion_key(word)) == bool(word.strip())
        assert emotion_key(word) == emotion_key(f" {word.upper()} ")


def plain_bonuses(named: list[tuple[str, str, list[str]]], amount: float) -> dict[str, float]:
    """The rule as one would do it by hand: (person, stimulus, words) to what each person earns."""
    earned: dict[str, float] = {}
    for person, stimulus, words in named:
        others: Counter[str] = Counter()
        for other, shown, theirs in named:
            if other != person and shown == stimulus:
                others.update(set(theirs))
        most = max(others.values(), default=0)
        if most >= 2 and any(others[word] == most for word in words):
            earned[person] = earned.get(person, 0.0) + amount
    return earned


class TestBonus:
    def test_nobody_is_their_own_majority(self) -> None:
        counts = Counter({"hope": 2, "fear": 2, "awe": 1})
        assert popular_without(counts, frozenset()) == {"hope", "fear"}
        assert popular_without(counts, frozenset({"hope"})) == {"fear"}
        assert popular_without(Counter({"hope": 2}), frozenset({"hope"})) == set()
        assert popular_without(Counter(), frozenset()) == set()

    def test_as_counted_by_hand(self, store: Store) -> None:
        rng = np.random.default_rng(3)
        pool = np.array(["hope", "fear", "anger", "joy", "awe"])
        named, sessions = [], {}
        for number in range(6):
            words = {
                shown: list(rng.choice(pool, rng.integers(1, 4), replace=False, p=shares))
                for shown, shares in (
                    ("p0", [0.5, 0.2, 0.1, 0.1, 0.1]),
                    ("p1", [0.2] * 5),
                    ("p2", [0.1, 0.1, 0.1, 0.1, 0.6]),
                )
            }
            sessions[answer_all(store, words)] = str(number)
            named += [(str(number), shown, theirs) for shown, theirs in words.items()]
        expected = plain_bonuses(named, 0.1)
        found = {sessions[one.session]: one.amount for one in bonuses(store)}
        assert found == pytest.approx(expected)
        assert len(expected) > 0
        assert len(set(expected.values())) > 1

    def test_forms_of_one_word_go_together(self, store: Store) -> None:
        for form in ("Happy", "happiness", "very happy"):
            answer_all(store, everywhere(form))
        assert [one.amount for one in bonuses(store)] == pytest.approx([0.3] * 3)
        assert bonuses(store)[0].reason.endswith("for 3 stimuli.")

    def test_rejected_answers_do_not_count(self, store: Store) -> None:
        made = [answer_all(store, everywhere("hope")) for _ in range(3)]
        reject_session(store, made[2], "careless")
        # Two are left, and each has one other who agrees: too few.
        assert bonuses(store) == []

    def test_a_session_that_is_not_complete_counts_but_earns_nothing(
        self, store: Store, begin: Begin
    ) -> None:
        service, token, state = begin(store)
        while state["progress"]["done"] < 2:
            state = service.answer(token, submit(state, {"entries": [entry("hope")]}))
        shown = name_of(store, state)
        others = [answer_all(store, everywhere("hope")) for _ in range(2)]
        found = {one.session: one.amount for one in bonuses(store)}
        # Of the stimulus that the first one has not answered, each has only one other.
        assert found == pytest.approx(dict.fromkeys(others, 0.2)), shown

    def test_simulated_people_and_people_are_not_compared(self, store: Store) -> None:
        for _ in range(3):
            answer_all(store, everywhere("hope"))
        with store.database.write() as connection:
            connection.execute(
                update(participants).where(participants.c.id == 1).values(kind="simulated")
            )
        assert bonuses(store) == []

    def test_no_amount_no_bonus(self, make_study: Maker, tmp_path: Path) -> None:
        files(tmp_path)
        store = make_study(REACTION, replace={"bonus = 0.1": ""})
        for _ in range(3):
            answer_all(store, everywhere("hope"))
        assert bonuses(store) == []
        assert bonus_table(store) is None
        said = " ".join(workload(store.study).warnings)
        assert "promises a bonus" in said

    def test_the_export_names_nobody(self, make_study: Maker, tmp_path: Path) -> None:
        files(tmp_path)
        prolific = 'bonus = 0.1\nplatform = "prolific"\ncurrency = "GBP"'
        store = make_study(REACTION, replace={"bonus = 0.1": prolific})
        for number in range(3):
            visitor = Visitor("prolific", external_id=f"worker{number}", external_session="s")
            answer_all(store, everywhere("hope"), visitor)
        exported = export(store, tmp_path / "out")
        text = (tmp_path / "out" / "bonuses.csv").read_text(encoding="utf-8")
        assert tmp_path / "out" / "bonuses.csv" in exported.files
        assert "worker" not in text
        frame = pl.read_csv(tmp_path / "out" / "bonuses.csv")
        ratings = collect(store)
        assert ratings is not None
        assert set(frame["rater"]) == set(ratings.rater_names)
        assert frame["currency"].to_list() == ["GBP"] * 3
        assert workload(store.study).bonuses == pytest.approx(1.8)


@pytest.mark.long
def test_a_rehearsal_finds_the_planted_emotions(tmp_path: Path) -> None:
    path, *beside = write_template(tmp_path / "r.toml", "reaction")
    assert len(beside) == 5
    text = path.read_text(encoding="utf-8").replace("raters = 10", "raters = 26")
    path.write_text(text, encoding="utf-8")
    found = simulate_study(path, people=26, careless=4, seed=5)
    # There is work for all of them, so that chance decides nothing about who takes part.
    assert found.completed == 26
    assert found.answers == 104
    truth = pl.read_csv(found.truth)
    with open_store(load_study(path)) as store:
        ratings = collect(store)
        earned = bonuses(store)
        rows = bonus_table(store)
    assert ratings is not None
    assert found.bonuses == pytest.approx(sum(one.amount for one in earned))
    careless = set(ratings.raters.filter(pl.col("careless"))["rater"])
    assert careless
    frame = ratings.to_frame().with_columns(
        pl.col("label").map_elements(emotion_key, return_dtype=pl.String).alias("key")
    )
    first = frame.filter(~pl.col("rater").is_in(careless), pl.col("entry") == 1)
    for (shown,), group in first.group_by("stimulus"):
        planted = truth.filter(pl.col("stimulus") == shown)
        keys = [emotion_key(one) for one in planted["emotion"]]
        share = [float((group["key"] == key).mean() or 0) for key in keys]
        assert np.corrcoef(share, planted["share"])[0, 1] > 0.75
    # Who writes one empty word for everything names with others what nobody feels.
    assert rows is not None
    paid = dict(zip(rows["rater"], rows["amount"], strict=True))
    careful = [paid.get(name, 0.0) for name in ratings.rater_names if name not in careless]
    assert np.mean(careful) > 2 * np.mean([paid.get(name, 0.0) for name in careless])
