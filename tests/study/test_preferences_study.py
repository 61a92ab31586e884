"""Two options, blind: how they are read and shown, what is stored, and what an evaluation finds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import select, update

from affectlab import InputError
from affectlab.evaluation import preference_pairs, preferences
from affectlab.ratings import Ratings, read_ratings
from affectlab.study import load_study, simulate_study, workload, write_template
from affectlab.study.dataset.ratings import collect, export
from affectlab.study.errors import StudyError
from affectlab.study.service import Service
from affectlab.study.store import Store, open_store
from affectlab.study.tables import answers, events, trials

from .words import PAIRS, PREFERENCE, Begin, Maker, files, name_of, submit, table

SYSTEMS = {"q0": ("human", "net"), "q1": ("net", "human"), "q2": ("human", "net")}
SYSTEMS["q3"] = ("net", "human")
TEXTS = {
    row["stimulus"]: (row["option_a"], row["option_b"])
    for row in pl.read_csv(PAIRS.encode()).to_dicts()
}


@pytest.fixture
def store(make_study: Maker, tmp_path: Path, database: str | None) -> Store:
    files(tmp_path)
    return make_study(PREFERENCE, database=database)


def swapped(store: Store, state: Mapping[str, Any]) -> bool:
    with store.database.read() as connection:
        layout = connection.execute(
            select(trials.c.layout).where(trials.c.id == int(state["trial"]["id"]))
        ).scalar_one()
    return bool(json.loads(layout)["swapped"])


def sided(
    begin: Begin, store: Store, *, first: bool = False
) -> tuple[Service, str, dict[str, Any]]:
    """Begin a session whose trials have their options in turn as they are and the other way round.

    The server draws this by chance, and a test must not hang on it.
    """
    service, token, _ = begin(store)
    with store.database.write() as connection:
        for parity in (0, 1):
            layout = json.dumps({"swapped": first != bool(parity)})
            connection.execute(
                update(trials)
                .where(trials.c.state == "open", trials.c.position % 2 == parity)
                .values(layout=layout)
            )
    return service, token, service.state(token)


class TestReading:
    @pytest.mark.parametrize(
        ("rows", "sentence"),
        [
            ("stimulus,text\nq0,Why?\n", "'q0': nothing is shown as option a; expected a value in"),
            ("stimulus,option_a\nq0,x\n", "'q0': nothing is shown as option b"),
            (
                "stimulus,option_a,option_b,system_a\nq0,x,y,net\n",
                "'q0': one option names its system; expected both to, or neither",
            ),
            (
                "stimulus,option_a,option_b,system_a,system_b\nq0,x,y,net,net\n",
                "'q0': both options are of 'net'; expected two systems",
            ),
            (
                "stimulus,option_a_file,option_b\nq0,../pairs.csv,y\n",
                "file '../pairs.csv' lies outside",
            ),
            ("stimulus,option_a_file,option_b\nq0,none.png,y\n", "file 'none.png' is not in"),
            ("stimulus,shown,option_a,option_b\nq0,face9,x,y\n", "names 'face9', which is no pic"),
            ("stimulus,option_a,option_b\nq0,x,y\nq0,x,y\n", "stimulus 'q0' stands twice"),
        ],
    )
    def test_a_table_that_cannot_be_used(
        self, make_study: Maker, tmp_path: Path, rows: str, sentence: str
    ) -> None:
        files(tmp_path, **{"pairs.csv": rows})
        with pytest.raises(InputError, match=sentence):
            make_study(PREFERENCE)

    def test_a_folder_alone_says_nothing_about_options(
        self, make_study: Maker, tmp_path: Path
    ) -> None:
        files(tmp_path)
        with pytest.raises(InputError, match=r"expected stimuli\.table with the columns"):
            make_study(PREFERENCE, replace={'table = "pairs.csv"\n': ""})

    def test_the_scale_must_have_two_choices_for_the_options(
        self, make_study: Maker, tmp_path: Path
    ) -> None:
        files(tmp_path)
        change = 'name = "preference"\nchange = { scale = "0-7" }'
        with pytest.raises(InputError, match="nominal scale whose first two choices"):
            make_study(PREFERENCE, replace={'name = "preference"': change})

    def test_equal_options_are_noticed(self, make_study: Maker, tmp_path: Path) -> None:
        rows = "stimulus,labels_a,labels_b\nq0,joy;awe,joy; awe\nq1,joy,awe\n"
        files(tmp_path, **{"pairs.csv": rows})
        said = workload(make_study(PREFERENCE).study).warnings
        assert any("1 stimulus with two equal options: q0" in one for one in said)

    def test_label_sets_of_people_and_a_model(
        self, make_study: Maker, begin: Begin, tmp_path: Path
    ) -> None:
        cells = [
            {"stimulus": shown, "rater": rater, "label": label, "value": value}
            for shown in ("p0", "p1")
            for rater, values in (("x", (6, 5, 0)), ("y", (6, 4, 0)), ("net", (0, 3, 7)))
            for label, value in zip(("joy", "awe", "fear"), values, strict=True)
        ]
        kinds = {"rater": ["net"], "rater_kind": ["model"]}
        made = preference_pairs(Ratings(pl.DataFrame(cells), scale="0-7", raters=kinds), k=2)
        files(tmp_path)
        made.write_csv(tmp_path / "pairs.csv")
        store = make_study(PREFERENCE)
        _, _, state = begin(store)
        trial = state["trial"]
        assert len(trial["stimulus"]["images"]) == 1
        sets = [tuple(option["labels"]) for option in trial["stimulus"]["options"]]
        assert sorted(sets) == [("fear", "awe"), ("joy", "awe")]
        row = made.filter(pl.col("stimulus") == name_of(store, state)).to_dicts()[0]
        left = "B" if swapped(store, state) else "A"
        assert "; ".join(sets[0]) == row[f"labels_{left}"]
        service, token, state = begin(store)
        while state["stage"] == "trials":
            of_people = [
                option["labels"][0] == "joy" for option in state["trial"]["stimulus"]["options"]
            ]
            side = ("left", "right")[of_people.index(True)]
            state = service.answer(token, submit(state, {"value": side}))
        ratings = collect(store)
        assert ratings is not None
        assert preferences(ratings)["votes", "human"].value == 1.0


class TestBlind:
    def test_the_page_learns_nothing_of_whose_an_option_is(
        self, store: Store, begin: Begin
    ) -> None:
        _, _, state = begin(store)
        told = json.dumps(state)
        for secret in ("human", "net", "p0.png", "q0", "q1", "system"):
            assert secret not in told
        assert [choice["value"] for choice in state["trial"]["choices"]] == [
            "left",
            "right",
            "both",
            "neither",
        ]

    def test_what_is_stored_is_the_option_and_not_the_side(
        self, store: Store, begin: Begin
    ) -> None:
        seen = set()
        for side in ("left", "right", "left"):
            service, token, state = sided(begin, store)
            while state["stage"] == "trials":
                name, turned = name_of(store, state), swapped(store, state)
                shown = [option["text"] for option in state["trial"]["stimulus"]["options"]]
                assert shown == list(TEXTS[name][::-1] if turned else TEXTS[name])
                chosen = shown[0] if side == "left" else shown[1]
                trial = int(state["trial"]["id"])
                state = service.answer(token, submit(state, {"value": side}))
                ((value,),) = [
                    row[1:]
                    for row in table(store, answers.c.trial_id, answers.c.value)
                    if row[0] == trial
                ]
                assert TEXTS[name]["AB".index(json.loads(value)["value"])] == chosen
                seen.add((side, turned))
        assert len(seen) == 4
        logged = [
            json.loads(body)["answer"]["value"]
            for kind, body in table(store, events.c.kind, events.c.body)
            if kind == "answered"
        ]
        assert set(logged) <= {"A", "B"}

    @pytest.mark.parametrize("value", ["A", "B", "human", "", "LEFT", None, 0, ["left"], {}])
    def test_the_name_of_an_option_is_no_answer(
        self, make_study: Maker, begin: Begin, tmp_path: Path, value: object
    ) -> None:
        files(tmp_path)
        store = make_study(PREFERENCE)
        service, token, state = begin(store)
        with pytest.raises(StudyError, match="expected one of: left, right, both, neither"):
            service.answer(token, submit(state, {"value": value}))
        assert not table(store, answers.c.trial_id)

    @pytest.mark.parametrize("side", ["left", "right", "both"])
    def test_a_replay_is_stored_once(self, store: Store, begin: Begin, side: str) -> None:
        service, token, state = begin(store)
        given = submit(state, {"value": side})
        first = service.answer(token, given)
        assert service.answer(token, given)["trial"] == first["trial"]
        other = submit(state, {"value": "neither"}, given.key)
        with pytest.raises(StudyError, match="under this key"):
            service.answer(token, other)
        assert len(table(store, answers.c.trial_id)) == 1

    def test_pictures_of_options_come_in_the_order_of_the_page(
        self, make_study: Maker, begin: Begin, tmp_path: Path
    ) -> None:
        rows = "stimulus,file,option_a_file,option_b_file,option_b\n" + "".join(
            f"q{k},p0.png,p{1 + k % 3}.png,p{1 + (k + 1) % 3}.png,words\n" for k in range(8)
        )
        files(tmp_path, **{"pairs.csv": rows})
        store = make_study(PREFERENCE, replace={"trials = 4": "trials = 8"})
        service, token, state = sided(begin, store)
        turned = set()
        while state["stage"] == "trials":
            stimulus = state["trial"]["stimulus"]
            content = next(
                one for one in store.content.values() if one["name"] == name_of(store, state)
            )
            given = [service.picture(token, one.rpartition("/")[2]) for one in stimulus["images"]]
            shown = [file.name for file in given if file is not None]
            first, second = (Path(one["file"]).name for one in content["options"])
            assert [option["image"] for option in stimulus["options"]] == [1, 2]
            flipped = swapped(store, state)
            assert shown == ["p0.png", *((second, first) if flipped else (first, second))]
            texts = [option["text"] for option in stimulus["options"]]
            assert texts == (["words", ""] if flipped else ["", "words"])
            turned.add(flipped)
            state = service.answer(token, submit(state, {"value": "both"}))
        assert turned == {True, False}

    def test_feedback_names_the_options_as_the_page_did(
        self, make_study: Maker, begin: Begin, tmp_path: Path
    ) -> None:
        (tmp_path / "known.csv").write_text("stimulus,value\nq0,A\n", encoding="utf-8")
        files(tmp_path)
        training = 'folder = "pictures"\ngolden = "known.csv"\ntraining = ["q0"]'
        store = make_study(PREFERENCE, replace={'folder = "pictures"': training})
        seen = set()
        for first in (False, True):
            service, token, state = sided(begin, store, first=first)
            turned = swapped(store, state)
            state = service.answer(token, submit(state, {"value": "left"}))
            (line,) = state["feedback"]["lines"]
            assert line["given"] == "A"
            assert line["expected"] == ("B" if turned else "A")
            assert line["right"] is not turned
            seen.add(turned)
        assert seen == {True, False}


class TestExport:
    def choose(self, store: Store, begin: Begin, who: dict[str, str]) -> None:
        """Take part: choose the named system's option, or answer as it says."""
        service, token, state = sided(begin, store)
        while state["stage"] == "trials":
            name = name_of(store, state)
            value = who[name]
            if value in SYSTEMS[name]:
                first = SYSTEMS[name].index(value) == 0
                value = "left" if first != swapped(store, state) else "right"
            state = service.answer(token, submit(state, {"value": value}))

    @pytest.mark.long
    def test_an_evaluation_reads_it(self, store: Store, begin: Begin, tmp_path: Path) -> None:
        votes = (
            {"q0": "human", "q1": "human", "q2": "net", "q3": "human"},
            {"q0": "human", "q1": "both", "q2": "net", "q3": "human"},
            {"q0": "net", "q1": "human", "q2": "neither", "q3": "human"},
        )
        for one in votes:
            self.choose(store, begin, one)
        export(store, tmp_path / "out")
        for name, scale in (("ratings.parquet", None), ("ratings.csv", "nominal:A,B,both,neither")):
            ratings = read_ratings(tmp_path / "out" / name, scale=scale)
            found = preferences(ratings)
            counts = {choice: found["votes", choice].value * 12 for choice in found.choices}
            assert counts == pytest.approx({"human": 7, "net": 3, "both": 1, "neither": 1})
            assert found.table().frame.filter(pl.col("about") == "side")["of"].to_list() == [10]
        verb = ["evaluate", "preference", str(tmp_path / "out" / "ratings.parquet"), "--json"]
        run = [sys.executable, "-c", "from affectlab.cli import main; main()", *verb]
        done = subprocess.run(run, check=True, capture_output=True, text=True)
        shares = json.loads(done.stdout)["result"]["shares"]
        counted = {row["choice"]: row["count"] for row in shares if row["about"] == "votes"}
        assert counted == {"human": 7, "net": 3, "both": 1, "neither": 1}

    def test_the_left_is_the_option_that_stood_there(self, store: Store, begin: Begin) -> None:
        service, token, state = sided(begin, store)
        expected = {}
        while state["stage"] == "trials":
            expected[name_of(store, state)] = "B" if swapped(store, state) else "A"
            state = service.answer(token, submit(state, {"value": "left"}))
        ratings = collect(store)
        assert ratings is not None
        frame = ratings.to_frame()
        joined = frame.select("stimulus").with_columns(
            left=pl.Series(_column(ratings, "left")), said=pl.Series(_said(ratings))
        )
        assert dict(joined.select("stimulus", "left").rows()) == expected
        # Whoever always takes the left one chose what stood there.
        assert joined["left"].to_list() == joined["said"].to_list()

    def test_other_choices_and_no_systems(
        self, make_study: Maker, begin: Begin, tmp_path: Path
    ) -> None:
        rows = "stimulus,option_a,option_b\nq0,old,new\nq1,old,new\n"
        files(tmp_path, **{"pairs.csv": rows})
        change = 'name = "preference"\nchange = { scale = "nominal:first,second,indistinct" }'
        store = make_study(PREFERENCE, replace={'name = "preference"': change})
        for choice in ("old", "old", "indistinct"):
            service, token, state = begin(store)
            while state["stage"] == "trials":
                shown = [option["text"] for option in state["trial"]["stimulus"]["options"]]
                value = choice
                if choice in shown:
                    value = ("left", "right")[shown.index(choice)]
                state = service.answer(token, submit(state, {"value": value}))
        ratings = collect(store)
        assert ratings is not None
        found = preferences(ratings)
        assert found.choices[:2] == ("first", "second")
        counts = {choice: found["votes", choice].value * 6 for choice in found.choices}
        assert counts == pytest.approx({"first": 4, "second": 0, "indistinct": 2})


def _column(ratings: Ratings, name: str) -> list[str]:
    """A column of the answers, or of the stimuli where it has one value for each."""
    if name in ratings.frame.columns:
        return [str(one) for one in ratings.frame[name]]
    known = dict(ratings.stimuli.select("stimulus", name).rows())
    return [str(known[one]) for one in ratings.to_frame()["stimulus"]]


def _said(ratings: Ratings) -> list[str]:
    return [ratings.scale.categories[int(one)] for one in ratings.value]


@pytest.mark.long
def test_a_rehearsal_finds_the_planted_winner(tmp_path: Path) -> None:
    path, *beside = write_template(tmp_path / "p.toml", "preference")
    assert len(beside) == 5
    text = path.read_text(encoding="utf-8").replace("raters = 7", "raters = 24")
    path.write_text(text, encoding="utf-8")
    found = simulate_study(path, people=24, careless=4, seed=2)
    # There is work for all of them, so that chance decides nothing about who takes part.
    assert found.answers == 192
    truth = pl.read_csv(found.truth).sort("strength", descending=True)
    winner, loser = truth["system"]
    gap = truth["strength"][0] - truth["strength"][1]
    with open_store(load_study(path)) as store:
        ratings = collect(store)
    assert ratings is not None
    result = preferences(ratings)
    decided = result["decided votes", winner]
    assert decided.low is not None
    assert decided.low > 0.5
    assert result["votes", loser].value < result["votes", winner].value
    # Without those who do not look, the share is that of the planted strengths.
    careful_ones = ratings.raters.filter(~pl.col("careless"))["rater"].to_list()
    assert len(careful_ones) < ratings.n_raters
    careful = preferences(ratings.select(raters=careful_ones))["decided votes", winner]
    assert careful.low is not None
    assert careful.high is not None
    assert careful.low < 1 / (1 + 2.718281828**-gap) < careful.high
