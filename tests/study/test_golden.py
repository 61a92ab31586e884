"""Stimuli with known answers: naming them puts them in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import run_here

from affectlab import InputError
from affectlab.protocols import load_protocol
from affectlab.study import load_study, workload
from affectlab.study.design.stimuli import planned_faces
from affectlab.study.store import open_store
from affectlab.study.tables import stimuli, trials

from .answering import Begin, Maker, complete, table
from .conftest import FACES, TEXTS, VERIFY

NAMED = {"faces = 6": 'faces = 6\ngolden = "golden.csv"'}
KNOWN = ("person-000_amusement_100", "person-000_fear_100")


def _known(folder: Path, *names: str, label: str = "awe", value: int = 7) -> None:
    rows = "".join(f"{name},{label},{value}\n" for name in names)
    (folder / "golden.csv").write_text(f"stimulus,label,value\n{rows}", encoding="utf-8")


def _shown(store: Any) -> list[tuple[str, str]]:
    """Kind and stimulus of every trial that was laid out."""
    names = dict(table(store, stimuli.c.id, stimuli.c.name))
    return [(kind, names[one]) for kind, one in table(store, trials.c.kind, trials.c.stimulus_id)]


def test_every_session_is_asked_all_that_are_named(
    make_study: Maker, begin: Begin, tmp_path: Path
) -> None:
    _known(tmp_path, *KNOWN)
    store = make_study(replace=NAMED)
    for person in (1, 2):
        service, token, state = begin(store)
        assert complete(service, token, state)["stage"] == "complete"
        shown = _shown(store)
        assert [kind for kind, _ in shown].count("main") == 3 * person
        for name in KNOWN:
            assert shown.count(("golden", name)) == person


def test_each_known_answer_is_a_trial_where_one_label_is_asked(
    make_study: Maker, begin: Begin, tmp_path: Path
) -> None:
    (tmp_path / "golden.csv").write_text(
        f"stimulus,label,value\n{KNOWN[0]},amusement,1\n{KNOWN[0]},fear,0\n", encoding="utf-8"
    )
    store = make_study(VERIFY, replace=NAMED)
    begin(store)
    assert [kind for kind, _ in _shown(store)].count("golden") == 2


def test_a_count_says_how_many_are_drawn(make_study: Maker, begin: Begin, tmp_path: Path) -> None:
    _known(tmp_path, *KNOWN)
    store = make_study(replace=NAMED | {"group_by = [] }": "group_by = [] }, checks.golden = 1"})
    begin(store)
    assert [kind for kind, _ in _shown(store)].count("golden") == 1


@pytest.mark.parametrize("count", [0, 3])
def test_a_count_that_contradicts_is_an_error(count: int, tmp_path: Path) -> None:
    _known(tmp_path, *KNOWN)
    text = FACES.replace("faces = 6", NAMED["faces = 6"])
    text = text.replace("group_by = [] }", f"group_by = [] }}, checks.golden = {count}")
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    said = " ".join(run_here("study", "check", path, code=2).stderr.split())
    assert f"checks.golden = {count}" in said
    assert "stimuli.golden names 2 golden trials" in said
    assert ("nobody would be shown" in said) == (count == 0)
    assert "expected 1 to 2" in said


def test_check_counts_them_and_knows_their_names(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(FACES.replace("faces = 6", NAMED["faces = 6"]), encoding="utf-8")
    _known(tmp_path, *KNOWN)
    found = workload(load_study(path))
    assert found.stimuli == 4
    assert not any("golden" in text for text in found.warnings)
    _known(tmp_path, "somebody")
    with pytest.raises(InputError, match="'somebody' has a known answer but is not there"):
        workload(load_study(path))


def test_limits_without_golden_items_are_told(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    limits = "checks = { golden_tolerance = 2, reject_golden = 2 }"
    path.write_text(FACES.replace("group_by = [] }", f"group_by = [] }}, {limits}"), "utf-8")
    (said,) = [text for text in workload(load_study(path)).warnings if "golden" in text]
    assert said.startswith("the protocol wants 2 golden trials, and there are 0 golden stimuli")
    # And what can never be reached is an error, now that their number is known.
    path.write_text(path.read_text().replace("faces = 6", NAMED["faces = 6"]), "utf-8")
    _known(tmp_path, KNOWN[0])
    said = (
        r"study\.toml: stimuli\.golden names 1 golden trial: .*reject_golden 2 can never be reached"
    )
    with pytest.raises(InputError, match=said):
        load_study(path)


def test_nothing_but_golden_stimuli_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(FACES.replace("faces = 6", NAMED["faces = 6"]), "utf-8")
    _known(tmp_path, KNOWN[0])
    _known(tmp_path, *(one.name for one in planned_faces(load_study(path), 6)))
    for look in (workload, open_store):
        with pytest.raises(InputError, match="every stimulus is golden or for training"):
            look(load_study(path))


def test_no_built_in_protocol_hides_them() -> None:
    assert load_protocol("intensity").checks.golden is None
    assert load_protocol("difference").checks.golden == 5


def test_training_alone_is_no_golden_trial(make_study: Maker, begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "golden.csv").write_text("stimulus,label,value\nt0,joy,1\n", encoding="utf-8")
    store = make_study(TEXTS, replace={'.csv"': '.csv"\ngolden = "golden.csv"\ntraining = ["t0"]'})
    begin(store)
    assert sorted(kind for kind, _ in _shown(store)) == ["main"] * 3 + ["training"]
