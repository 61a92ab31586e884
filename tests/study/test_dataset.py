"""A released data set: what it holds, what it must not hold, and what machines read of it."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import select

from affectlab import InputError
from affectlab.ratings import Ratings
from affectlab.reliability import krippendorff_alpha
from affectlab.study import load_study
from affectlab.study.dataset.ratings import collect
from affectlab.study.dataset.release import release
from affectlab.study.people.entry import enter
from affectlab.study.pilot import prepare_pilot
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store, open_store
from affectlab.study.tables import participants, sessions, trials
from affectlab.study.verdicts import reject_session

from .answering import submission, table
from .conftest import FACES, TEXTS

FULL = f"""{FACES.replace("raters = 2", "raters = 3")}
[recruitment]
platform = "prolific"
study_id = "study1"
pay = 1.5
[eligibility]
approval_rate = 0.98
countries = ["US", "GB"]
[consent]
text = '''
Please take part.

You can stop at any time.
'''
version = "7"
[[demographics.questions]]
name = "age"
question = "How old are you?"
kind = "number"
[[demographics.questions]]
name = "town"
question = "Where were you born?"
kind = "text"
[release]
title = "Faces: judged"
purpose = "To learn what drawn faces show."
licence = "CC-BY-4.0"
creators = ["A. Researcher", "B. Researcher"]
citation = "@misc{{faces, title={{Faces}}}}"
url = "https://data.example.org/faces"
limits = ["Only drawn faces."]
pictures = true
"""
PERSON = "5f9d9e7c1b"
WORK = "60d9aadeb8"

Maker = Callable[..., Store]


def shown_in(store: Store, trial: int) -> int:
    """Look up the stimulus of a trial: addresses of pictures say nothing of it."""
    with store.database.read() as connection:
        asked = select(trials.c.stimulus_id).where(trials.c.id == trial)
        return int(connection.execute(asked).scalar_one())


def take_part(store: Store, number: int) -> int:
    """Go through a whole session of the full study with answers that differ by label."""
    service = Service(store)
    visitor = Visitor("prolific", f"{PERSON}{number}", f"{WORK}{number}", study_id="study1")
    token = enter(store, visitor)
    service.advance(token, "consent", {"agreed": True})
    told = {"age": 20 + number, "town": f"Smalltown {number}"}
    service.advance(token, "demographics", {"answers": told})
    state = service.advance(token, "instructions", {})
    while state["stage"] == "trials":
        labels = [label["name"] for label in state["trial"]["labels"]]
        shown = shown_in(store, int(state["trial"]["id"]))
        values = {
            name: (2 * shown + 3 * k + number * shown % 3) % 8 for k, name in enumerate(labels)
        }
        state = service.answer(token, submission(state, {"ratings": values}))
    assert state["stage"] == "complete"
    return table(store, sessions.c.id)[-1][0]


@pytest.fixture
def filled(make_study: Maker) -> Store:
    store = make_study(FULL)
    for number in range(6):
        take_part(store, number)
    return store


def test_what_is_written(filled: Store, tmp_path: Path) -> None:
    found = release(filled, tmp_path / "out")
    names = {file.relative_to(tmp_path / "out").as_posix() for file in found.files}
    pictures = {name for name in names if name.startswith("pictures/")}
    assert len(pictures) == 6
    assert names - pictures == {
        "ratings.csv",
        "ratings.parquet",
        "raters.csv",
        "stimuli.csv",
        "codebook.csv",
        "README.md",
        "croissant.json",
    }
    assert found.warnings == ()
    assert (found.n_raters, found.n_stimuli) == (6, 6)
    frame = pl.read_csv(tmp_path / "out" / "ratings.csv", schema_overrides={"session": pl.String})
    assert frame.height == found.n_ratings == 18 * 8
    same = pl.read_parquet(tmp_path / "out" / "ratings.parquet")
    assert same.select("stimulus", "rater", "label", "value").equals(
        frame.select("stimulus", "rater", "label", "value")
    )
    # It is ratings again, with the same agreement.
    ratings = collect(filled)
    assert ratings is not None
    again = Ratings(frame.select("stimulus", "rater", "label", "value"), scale="0-7")
    for key, estimate in krippendorff_alpha(again):
        assert estimate.value == pytest.approx(krippendorff_alpha(ratings)[key].value, abs=1e-12)


def test_nothing_says_who_someone_is(filled: Store, tmp_path: Path) -> None:
    found = release(filled, tmp_path / "out")
    content = b"".join(file.read_bytes() for file in found.files)
    for number in range(6):
        for secret in (f"{PERSON}{number}", f"{WORK}{number}", f"Smalltown {number}"):
            assert secret.encode() not in content
    assert str(tmp_path).encode() not in content
    for hidden in ("external_id", "completion", "invitation"):
        assert hidden.encode() not in content
    # The day of an answer, not its time.
    days = pl.read_csv(tmp_path / "out" / "ratings.csv")["day"].to_list()
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", day) for day in days)
    raters = pl.read_csv(tmp_path / "out" / "raters.csv")
    assert sorted(raters["age"].to_list()) == [20, 21, 22, 23, 24, 25]
    assert all(re.fullmatch(r"r[0-9a-f]{12}", name) for name in raters["rater"])


def test_free_texts_about_people_only_when_named(
    filled: Store, tmp_path: Path, make_study: Maker
) -> None:
    filled.close()
    store = make_study(FULL.replace("pictures = true", 'demographics = ["town"]'))
    release(store, tmp_path / "out")
    raters = pl.read_csv(tmp_path / "out" / "raters.csv")
    assert "town" in raters.columns
    assert "age" not in raters.columns
    store.close()
    store = make_study(FULL.replace("pictures = true", 'demographics = ["income"]'))
    with pytest.raises(InputError, match="there is no question 'income'; expected some of: age"):
        release(store, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_the_card(filled: Store, tmp_path: Path) -> None:
    reject_session(filled, 6, "careless")
    release(filled, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert card.startswith("# Faces: judged\n")
    for sentence in (
        "120 ratings of 6 stimuli by 5 people.",
        "To learn what drawn faces show.",
        "CC-BY-4.0",
        "By A. Researcher, B. Researcher",
        "Protocol `intensity`, version",
        "- approval rate: 0.98 or more (left to the platform's filter for 5)",
        "- countries: US, GB (left to the platform's filter for 5)",
        "0 visitors turned away by these rules.",
        "Paid 1.50 USD for a session.",
        "- `age` (“How old are you?”): median 22, 20 to 24",
        "- Answers left out because their session was rejected: 3",
        "- Raters per stimulus: median",
        "Agreed to: version 7 by 5.",
        "> You can stop at any time.",
        "- Only drawn faces.",
        "- The study was still open when this was written.",
        "3 stimuli have fewer than three raters.",
    ):
        assert sentence in card, sentence
    for question in filled.study.questions:
        assert question.text in card
    # The table of agreement is that of the reliability room.
    ratings = collect(filled)
    assert ratings is not None
    expected = krippendorff_alpha(ratings)
    rows = re.findall(
        r"^\| (\w+) \| (-?[\d.]+) \| (-?[\d.]+) to (-?[\d.]+) \| 6 \| 5 \|",
        card.replace("−", "-"),
        re.MULTILINE,
    )
    assert len(rows) == 8
    for label, value, low, high in rows:
        estimate = expected[label]
        assert float(value) == pytest.approx(estimate.value, abs=0.0051)
        assert float(low) == pytest.approx(estimate.low, abs=0.0051)
        assert float(high) == pytest.approx(estimate.high, abs=0.0051)


def test_what_is_left_open_is_said(make_study: Maker, tmp_path: Path) -> None:
    store = make_study(FULL[: FULL.index("[release]")])
    take_part(store, 0)
    found = release(store, tmp_path / "out")
    assert [text.partition(" ")[0] for text in found.warnings] == [
        "release.licence",
        "release.purpose",
        "release.creators",
        "release.url",
    ]
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert card.count("*Not set.*") == 4
    assert "license" not in json.loads((tmp_path / "out" / "croissant.json").read_text("utf-8"))


def test_sums_and_fields(filled: Store, tmp_path: Path) -> None:
    release(filled, tmp_path / "out")
    said = json.loads((tmp_path / "out" / "croissant.json").read_text("utf-8"))
    files = [one for one in said["distribution"] if one["@type"] == "cr:FileObject"]
    assert {one["contentUrl"] for one in files} == {
        "ratings.csv",
        "ratings.parquet",
        "raters.csv",
        "stimuli.csv",
        "codebook.csv",
    }
    for one in files:
        content = (tmp_path / "out" / one["contentUrl"]).read_bytes()
        assert one["sha256"] == hashlib.sha256(content).hexdigest()
        assert one["contentSize"] == f"{len(content)} B"
    for records in said["recordSet"]:
        with (tmp_path / "out" / f"{records['name']}.csv").open(encoding="utf-8") as file:
            header = next(csv.reader(file))
        assert [field["name"] for field in records["field"]] == header
    assert said["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_croissants_own_library_reads_it(
    filled: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mlc = pytest.importorskip("mlcroissant")
    release(filled, tmp_path / "out")
    dataset = mlc.Dataset(jsonld=tmp_path / "out" / "croissant.json")
    issues = dataset.metadata.ctx.issues
    assert (list(issues.errors), list(issues.warnings)) == ([], [])
    assert str(dataset.metadata.ctx.conforms_to.value).endswith("/1.1")
    with (tmp_path / "out" / "ratings.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    records = list(dataset.records("ratings"))
    assert len(records) == len(rows)
    for record, row in zip(records[:20], rows[:20], strict=True):
        assert record["ratings/value"] == float(row["value"])
        assert record["ratings/label"].decode() == row["label"]
        assert record["ratings/stimulus"].decode() == row["stimulus"]
    assert len(list(dataset.records("raters"))) == 6
    assert len(list(dataset.records("stimuli"))) == 6


def test_the_pilot_is_not_published(make_study: Maker, begin: Any, tmp_path: Path) -> None:
    store = make_study(f"{FACES}[pilot]\nstimuli = 3\nraters = 2\n")
    prepare_pilot(store)
    service, token, state = begin(store, Visitor(batch="pilot"))
    while state["stage"] == "trials":
        state = service.answer(token, submission(state))
    with pytest.raises(InputError, match="no answer to publish yet"):
        release(store, tmp_path / "out")


def test_texts(make_study: Maker, begin: Any, tmp_path: Path) -> None:
    """Labels that are chosen, beside texts; nothing is known of the people."""
    store = make_study(TEXTS)
    service, token, state = begin(store)
    while state["stage"] == "trials":
        state = service.answer(token, submission(state, {"chosen": ["joy"]}))
    found = release(store, tmp_path / "out")
    stimuli = pl.read_csv(tmp_path / "out" / "stimuli.csv")
    assert sorted(stimuli["text"]) == [f"Text number {k}." for k in range(4)]
    assert found.n_ratings == 4 * len(store.study.protocol.labels())
    assert "The study showed no consent text." in (tmp_path / "out" / "README.md").read_text()


def test_old_files_are_not_published_with_it(filled: Store, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.csv").write_text("x")
    with pytest.raises(InputError, match="expected an empty folder"):
        release(filled, tmp_path / "out")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["secret.csv"]


def test_simulated_people_are_called_so(make_study: Maker, tmp_path: Path, begin: Any) -> None:
    store = make_study()
    service, token, state = begin(store)
    while state["stage"] == "trials":
        state = service.answer(token, submission(state))
    with store.database.write() as connection:
        connection.execute(participants.update().values(kind="simulated"))
    release(store, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "by 1 simulated rater." in card
    assert "this is a rehearsal, and says nothing about people" in card


def test_names_of_a_data_set(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    for text, said in (('version = "2"', "release.version"), ('url = "x"', "starts with https")):
        path.write_text(f"{FACES}[release]\n{text}\n", encoding="utf-8")
        with pytest.raises(InputError, match=said):
            load_study(path)


def test_it_is_the_same_after_a_restart(filled: Store, tmp_path: Path) -> None:
    release(filled, tmp_path / "a")
    path = filled.study.path
    filled.close()
    with open_store(load_study(path)) as store:
        release(store, tmp_path / "b")
    for name in ("ratings.csv", "raters.csv", "stimuli.csv", "README.md"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
