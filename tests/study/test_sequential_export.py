"""A sequential study keeps what its server knew, so that its consensus flow is exact."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here

from affectlab import read_ratings
from affectlab.reliability import consensus_flow
from affectlab.study.dataset.ratings import export
from affectlab.study.tables import answers, stimuli, tasks, trials
from affectlab.study.verdicts import reject_session

from .answering import Begin, Maker, submission, table
from .conftest import VERIFY

Flow = dict[tuple[str, int], Counter[bool]]


def _served(store, begin: Begin, people: int) -> None:
    """Let people say yes or no at random, so that chains of every length come about."""
    drawn = random.Random(5)
    for _ in range(people):
        service, token, state = begin(store)
        while state["stage"] == "trials":
            trial = state["trial"]
            label = trial["labels"][0]["name"]
            yes = drawn.random() < 0.55
            answer = {"ratings": {label: int(yes)}}
            state = service.answer(token, submission(state, answer))


def _truth(store) -> Flow:
    """Count the rounds from the database itself: tasks, and their answers one after the other."""
    found: Flow = {}
    chains: dict[int, list[bool]] = {}
    kinds = dict(table(store, tasks.c.id, tasks.c.batch))
    rows = []
    with store.database.read() as connection:
        for row in connection.execute(
            answers.join(trials).select().where(answers.c.valid.is_(True))
        ).mappings():
            value = '": 1' in row["value"]
            rows.append((row["submitted_at"], row["trial_id"], row["task_id"], value))
    for _, _, task, value in sorted(rows):
        chains.setdefault(task, []).append(value)
    for task, votes in chains.items():
        for step, vote in enumerate(votes, start=1):
            key = ("contrastive", 1) if kinds[task] == "contrast" else ("affirmative", step)
            found.setdefault(key, Counter())[vote] += 1
    return found


def _same(flow, truth: Flow) -> None:
    rounds = {}
    for batch in flow.batches:
        contrast = batch.kind == "contrastive"
        rounds[batch.kind, 1 if contrast else batch.batch] = (batch.items, batch.confirmed)
        assert not batch.inferred
        assert batch.reason is None
        assert batch.agreement_low == batch.agreement_high == batch.confirmed / batch.items
    assert rounds == {
        (kind, step): (votes.total(), votes[kind == "affirmative"])
        for (kind, step), votes in truth.items()
    }
    assert flow.recorded


@pytest.mark.long
def test_the_consensus_of_our_own_export_is_exact(
    make_study: Maker, begin: Begin, tmp_path: Path
) -> None:
    store = make_study(VERIFY, replace={"faces = 6": "faces = 16"})
    _served(store, begin, 30)
    export(store, tmp_path / "out")
    truth = _truth(store)
    # There is something to get wrong: three rounds and the contrastive one, each of both answers.
    assert set(truth) == {*(("affirmative", k) for k in (1, 2, 3)), ("contrastive", 1)}
    assert all(votes[False] for votes in truth.values())
    for name in ("ratings.csv", "ratings.parquet"):
        _same(consensus_flow(read_ratings(tmp_path / "out" / name)), truth)
    said = run_here("emonet-face", "consensus", tmp_path / "out" / "ratings.parquet").stdout
    assert "inferred" not in said
    assert "contrastive" in said
    # An answer that is rejected leaves its round, and those after it move up.
    reject_session(store, 1, "careless")
    export(store, tmp_path / "out")
    _same(consensus_flow(read_ratings(tmp_path / "out" / "ratings.csv")), _truth(store))
    rejected = pl.read_csv(tmp_path / "out" / "rejected.csv")
    assert "step" not in rejected.columns


def test_what_each_answer_was_about(make_study: Maker, begin: Begin, tmp_path: Path) -> None:
    store = make_study(VERIFY)
    _served(store, begin, 8)
    export(store, tmp_path / "out")
    ratings = read_ratings(tmp_path / "out" / "ratings.csv")
    shown = dict(zip(ratings.stimuli["stimulus"], ratings.stimuli["intended"], strict=True))
    assert shown == dict(
        zip(ratings.stimuli["stimulus"], ratings.stimuli["expression"], strict=True)
    )
    frame = ratings.to_frame()
    names = dict(table(store, stimuli.c.id, stimuli.c.name))
    batches = {
        (names[stimulus], label): batch
        for stimulus, label, batch in table(
            store, tasks.c.stimulus_id, tasks.c.label, tasks.c.batch
        )
    }
    for row in frame.iter_rows(named=True):
        meant = shown[row["stimulus"]] == row["label"]
        assert row["batch_kind"] == ("affirmative" if meant else "contrastive")
        expected = "main" if meant else "contrast"
        assert batches[row["stimulus"], row["label"]] == expected


def test_other_studies_have_no_such_columns(
    make_study: Maker, begin: Begin, tmp_path: Path
) -> None:
    store = make_study()
    service, token, state = begin(store)
    while state["stage"] == "trials":
        state = service.answer(token, submission(state))
    export(store, tmp_path / "out")
    ratings = read_ratings(tmp_path / "out" / "ratings.csv")
    everything = {*ratings.to_frame().columns, *ratings.stimuli.columns, *ratings.raters.columns}
    assert not everything & {"step", "batch_kind", "intended"}


def test_a_pilot_is_no_chain(make_study: Maker, begin: Begin, tmp_path: Path) -> None:
    from affectlab.study.pilot import prepare_pilot
    from affectlab.study.recruit.eligibility import Visitor

    store = make_study(VERIFY + "[pilot]\nraters = 2\n")
    prepare_pilot(store)
    for _ in range(2):
        service, token, state = begin(store, Visitor(batch="pilot"))
        while state["stage"] == "trials":
            label = state["trial"]["labels"][0]["name"]
            state = service.answer(token, submission(state, {"ratings": {label: 1}}))
    export(store, tmp_path / "out")
    pilot = read_ratings(tmp_path / "out" / "pilot.csv")
    assert "step" not in pilot.to_frame().columns
    assert set(pilot.to_frame()["batch_kind"]) == {"affirmative", "contrastive"}
