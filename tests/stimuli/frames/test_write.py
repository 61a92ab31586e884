"""The folder of frames: filled in several runs, never written over by accident, always the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.stimuli.frames.films import mouth, transition, write_folder

from affectlab import InputError
from affectlab.stimuli import FIVE_FRAMES, pair_design, read_sequences
from affectlab.stimuli.frames import (
    Candidates,
    FiveFrameSampling,
    View,
    find_transitions,
    write as writing,
    write_frames,
)
from affectlab.stimuli.frames.jnds import SequenceJnd
from affectlab.stimuli.frames.write import WrittenFrames, parts_of

FIVE = FiveFrameSampling(difference="rmse")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for actor in ("ann", "bob"):
        for expression in ("joy", "fear"):
            transition(tmp_path / "in" / f"{actor}_{expression}", 12)
    return tmp_path / "in"


def take(source: Path, out: Path, **options: object) -> WrittenFrames:
    return write_frames(find_transitions(source, fps=25), out, FIVE, **options)  # type: ignore[arg-type]


def digests(folder: Path) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_what_is_written(source: Path, tmp_path: Path) -> None:
    made = take(source, tmp_path / "out")
    assert made.n_transitions == 4
    assert made.frames.columns == [
        *("stimulus", "actor", "expression", "place", "role", "file", "frame", "n_frames"),
        *("source", "source_frame", "time_ms", "fps", "note"),
    ]
    assert made.frames["role"].to_list() == list(FIVE_FRAMES) * 4
    for row in made.frames.iter_rows(named=True):
        assert (tmp_path / "out" / row["file"]).is_file()
        assert row["time_ms"] == 40 * row["source_frame"]
        assert row["source"] == f"{row['source_frame']}.png"
    read = pl.read_csv(made.table)
    assert read["frame"].to_list() == made.frames["frame"].to_list()
    assert repr(read_sequences(made.table)) == (
        "ExpressionSequences(4 sequences, 2 actors, 2 expressions, 20 frames)"
    )
    assert [sheet.name for sheet in made.sheets] == ["ann.png", "bob.png"]
    assert not (tmp_path / "out/left_out.csv").exists()


def test_the_same_again(source: Path, tmp_path: Path) -> None:
    take(source, tmp_path / "one")
    take(source, tmp_path / "two")
    first, second = digests(tmp_path / "one"), digests(tmp_path / "two")
    assert first == second


def test_a_second_run_changes_nothing(source: Path, tmp_path: Path) -> None:
    take(source, tmp_path / "out")
    before = digests(tmp_path / "out")
    again = take(source, tmp_path / "out")
    assert again.n_kept == 4
    assert digests(tmp_path / "out") == before


def test_broken_off_and_gone_on(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    plain = writing._take

    def failing(one, *others):  # type: ignore[no-untyped-def]
        if one.name == "bob_fear" and "bob_fear" not in taken:
            taken.append(one.name)
            raise KeyboardInterrupt
        taken.append(one.name)
        return plain(one, *others)

    monkeypatch.setattr(writing, "_take", failing)
    with pytest.raises(KeyboardInterrupt):
        take(source, tmp_path / "out")
    assert not (tmp_path / "out/frames.csv").exists()
    made = take(source, tmp_path / "out")
    assert made.n_kept == 2
    assert taken == ["ann_fear", "ann_joy", "bob_fear", "bob_fear", "bob_joy"]
    take(source, tmp_path / "whole")
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


def test_a_picture_that_is_gone_is_made_again(source: Path, tmp_path: Path) -> None:
    made = take(source, tmp_path / "out")
    before = digests(tmp_path / "out")
    (tmp_path / "out" / made.frames["file"][7]).unlink()
    assert take(source, tmp_path / "out").n_kept == 3
    assert digests(tmp_path / "out") == before


class TestNotWrittenOver:
    def test_other_settings(self, source: Path, tmp_path: Path) -> None:
        take(source, tmp_path / "out")
        before = digests(tmp_path / "out")
        with pytest.raises(InputError, match=r"was made with size = None, not 32; .*--overwrite"):
            take(source, tmp_path / "out", view=View(size=32))
        with pytest.raises(InputError, match="was made with frames = five, not candidates"):
            write_frames(find_transitions(source), tmp_path / "out", Candidates(9))
        assert digests(tmp_path / "out") == before

    def test_other_frames(self, source: Path, tmp_path: Path) -> None:
        take(source, tmp_path / "out")
        mouth(0.4).save(source / "ann_joy/3.png")
        os.utime(source / "ann_joy/3.png", ns=(1, 1))
        with pytest.raises(InputError, match="'ann_joy' was made from other frames"):
            take(source, tmp_path / "out")

    def test_another_source(self, source: Path, tmp_path: Path) -> None:
        take(source, tmp_path / "out")
        transition(tmp_path / "other/cleo_joy", 9)
        with pytest.raises(InputError, match=r"holds '.*', which the source does not"):
            take(tmp_path / "other", tmp_path / "out")

    def test_somebody_elses_folder(self, source: Path, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out/thesis.tex").write_text("x", encoding="utf-8")
        for overwrite in (False, True):
            with pytest.raises(InputError, match="is not empty, and not a folder of frames"):
                take(source, tmp_path / "out", overwrite=overwrite)
        assert (tmp_path / "out/thesis.tex").read_text("utf-8") == "x"
        with pytest.raises(InputError, match=r"thesis\.tex is a file; expected a folder"):
            take(source, tmp_path / "out/thesis.tex")

    def test_anew_on_purpose(self, source: Path, tmp_path: Path) -> None:
        take(source, tmp_path / "out")
        (tmp_path / "out/notes.txt").write_text("mine", encoding="utf-8")
        transition(tmp_path / "other/cleo_joy", 9)
        made = take(tmp_path / "other", tmp_path / "out", overwrite=True, view=View(size=32))
        assert made.n_kept == 0
        assert sorted(
            file.name for file in (tmp_path / "out/pictures").rglob("*") if file.is_file()
        ) == sorted(f"{role}.png" for role in FIVE_FRAMES)
        assert (tmp_path / "out/notes.txt").read_text("utf-8") == "mine"

    def test_a_damaged_record(self, source: Path, tmp_path: Path) -> None:
        take(source, tmp_path / "out")
        for record in (tmp_path / "out/.frames").glob("*.json"):
            record.write_text("{", encoding="utf-8")
        with pytest.raises(InputError, match="is damaged"):
            take(source, tmp_path / "out")

    def test_staircases_that_come_later(self, source: Path, tmp_path: Path) -> None:
        """What was judged first stays; a study that goes on adds to it, and a change is told."""
        found = find_transitions(source)
        known = {"ann_joy": SequenceJnd(12, 3, 3, 2)}
        out = tmp_path / "out"
        first = write_frames(found, out, FiveFrameSampling(staircases=known))
        assert (first.n_transitions, len(first.left_out)) == (1, 3)
        known["bob_joy"] = SequenceJnd(12, 4, 4, 2)
        second = write_frames(found, out, FiveFrameSampling(staircases=known))
        assert (second.n_transitions, second.n_kept) == (2, 1)
        known["ann_joy"] = SequenceJnd(12, 5, 3, 4)
        with pytest.raises(InputError, match="other frames, or other staircases"):
            write_frames(found, out, FiveFrameSampling(staircases=known))


class TestLeftOut:
    def test_named_and_the_others_made(self, source: Path, tmp_path: Path) -> None:
        transition(source / "cleo_joy", 4)
        write_folder(source / "cleo_fear", [mouth(0.5)] * 9)
        made = take(source, tmp_path / "out")
        assert made.n_transitions == 4
        assert [(one.name, one.reason) for one in made.left_out] == [
            ("cleo_fear", "all frames are alike; expected a face that moves"),
            ("cleo_joy", "too short: 4 frames; expected at least 5"),
        ]
        listed = pl.read_csv(tmp_path / "out/left_out.csv")
        assert listed.columns == ["stimulus", "actor", "expression", "reason"]
        assert listed["stimulus"].to_list() == ["cleo_fear", "cleo_joy"]

    def test_nothing_is_left_behind(self, source: Path, tmp_path: Path) -> None:
        """A frame that proves broken when others of its film are written takes them with it."""
        (source / "bob_joy/7.png").write_bytes(b"")
        made = write_frames(find_transitions(source), tmp_path / "out", Candidates(12))
        assert [one.name for one in made.left_out] == ["bob_joy"]
        written = {
            file.relative_to(tmp_path / "out").as_posix()
            for file in (tmp_path / "out/pictures").rglob("*")
            if file.is_file()
        }
        assert written == set(made.frames["file"])

    def test_stop_when_strict(self, source: Path, tmp_path: Path) -> None:
        transition(source / "cleo_joy", 4)
        with pytest.raises(InputError, match="cleo_joy: too short: 4 frames"):
            take(source, tmp_path / "out", strict=True)

    def test_none_left(self, tmp_path: Path) -> None:
        transition(tmp_path / "in/cleo_joy", 4)
        with pytest.raises(InputError, match="none of 1 transition can be used; the first, cleo"):
            take(tmp_path / "in", tmp_path / "out")

    def test_a_box_beyond_some_pictures(self, source: Path, tmp_path: Path) -> None:
        write_folder(source / "cleo_joy", [mouth(k / 8, (40, 40)) for k in range(9)])
        made = take(source, tmp_path / "out", view=View(crop=(10, 8, 44, 36)))
        assert [one.name for one in made.left_out] == ["cleo_joy"]
        with Image.open(tmp_path / "out" / made.frames["file"][0]) as image:
            assert image.size == (44, 36)


def test_a_first_try_that_made_nothing_binds_nobody(tmp_path: Path) -> None:
    """Settings under which no transition could be used may be changed without more ado."""
    write_folder(tmp_path / "in/ann_joy", [mouth(k / 11) for k in range(12)])
    found = find_transitions(tmp_path / "in")
    with pytest.raises(InputError, match="none of 1 transition can be used"):
        write_frames(found, tmp_path / "out", FiveFrameSampling(direction="neutral-peak-neutral"))
    made = write_frames(found, tmp_path / "out", FiveFrameSampling(direction="neutral-peak"))
    assert made.n_transitions == 1


def test_names_that_are_no_paths(tmp_path: Path) -> None:
    """Names come from others' files: nothing is written outside the folder, nothing is lost."""
    table = tmp_path / "in/all.csv"
    rows = []
    for number, actor in enumerate(("../../evil", "Ann", "ann", "a/b", "con.", "frames.csv", "ü")):
        for k, file in enumerate(transition(tmp_path / f"in/{number}", 6)):
            rows.append(
                {
                    "actor": actor,
                    "expression": "..",
                    "frame": k,
                    "file": file.relative_to(tmp_path / "in").as_posix(),
                }
            )
    pl.DataFrame(rows).write_csv(table)
    made = write_frames(find_transitions(table), tmp_path / "out", FIVE)
    assert made.n_transitions == 7
    inside = {file.resolve() for file in (tmp_path / "out").rglob("*")}
    files = [(tmp_path / "out" / file).resolve() for file in made.frames["file"]]
    assert set(files) <= inside
    assert len({str(file).casefold() for file in files}) == 35
    assert {place.name for place in tmp_path.iterdir()} == {"in", "out"}
    assert min(made.frames["actor"].to_list()) == "../../evil"


def test_parts_of_paths() -> None:
    found = parts_of(["joy", "E001_Neutral_Eyes_Open", "Joy", "a b", ".x", "x" * 300])
    assert found["E001_Neutral_Eyes_Open"] == "E001_Neutral_Eyes_Open"
    assert len({part.casefold() for part in found.values()}) == 6
    assert all(0 < len(part) < 90 and part[0] not in ".-" for part in found.values())


def test_progress(source: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    take(source, tmp_path / "out", progress=lambda *one: told.append(one))
    assert told == [
        (name, k, 4) for k, name in enumerate(["ann_fear", "ann_joy", "bob_fear", "bob_joy"])
    ]


def test_a_sheet_shows_every_frame(source: Path, tmp_path: Path) -> None:
    made = take(source, tmp_path / "out")
    with Image.open(made.sheets[0]) as sheet:
        width, height = sheet.size
        colours = sheet.convert("RGB").getcolors(1 << 24)
    skin = sum(n for n, colour in colours or () if colour == (214, 176, 150))
    assert width > 5 * 112
    assert height > 2 * 112
    # Ten small faces of 112 pixels' height, most of each being skin.
    assert skin > 10 * 0.6 * 112 * 149


def test_pairs_say_which_frames_are_no_jnd_apart(source: Path, tmp_path: Path) -> None:
    """A table of pairs has no notes: what is 1 JND apart has to be told by the roles."""
    even = FiveFrameSampling(difference="rmse", jnd=9)
    made = write_frames(find_transitions(source), tmp_path / "out", even)
    assert all(note.startswith("crossed") for note in made.notes.values())
    pairs = pair_design(read_sequences(made.table), copies=1, per_batch=200).pairs
    assert set(pairs["role_a"]) | set(pairs["role_b"]) == {
        *("peak", "step_2", "step_3", "step_4", "neutral")
    }
    assert pairs.filter(pl.col("stimulus").str.contains("near_")).is_empty()
    assert (tmp_path / "out/pictures/ann/joy/step_2.png").is_file()
