"""Where results are written: damaged work, links, folders of others, folders of any name."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stimuli.curation.pools import comments, loose

from affectlab.core.errors import InputError
from affectlab.stimuli.curation import curate


def test_a_damaged_file_of_an_earlier_run(tmp_path: Path) -> None:
    source, out, steps = comments(tmp_path / "c.csv"), tmp_path / "out", ["length", "sample"]
    for name, then in [
        ("features/part-00000.parquet", ["length_balance"]),
        ("01-length/kept/part-00000.parquet", ["length", "length_balance"]),
        ("staged/*.parquet", steps),
    ]:
        curate(source, out, plan=loose(), steps=steps)
        (file,) = (out / "work").glob(name)
        file.write_bytes(file.read_bytes()[:-40])
        with pytest.raises(
            InputError, match=r"cut short or changed .* Begin anew with .*restart=true"
        ):
            curate(source, out, plan=loose(), steps=then)
        done = curate(source, out, plan=loose(), steps=then, resume=False)
        assert done.n_kept == 60


@pytest.mark.parametrize("name", ["corpus", "reasons", "work"])
def test_links_are_not_written_through(name: str, tmp_path: Path) -> None:
    source, out = comments(tmp_path / "c.csv"), tmp_path / "out"
    curate(source, out, plan=loose(), steps=["length"])
    (out / name).rename(tmp_path / "elsewhere")
    (out / name).symlink_to(tmp_path / "elsewhere")
    before = sorted((tmp_path / "elsewhere").rglob("*"))
    with pytest.raises(InputError, match=f"{name}: expected a folder .*, found a link"):
        curate(source, out, plan=loose(), steps=["length"], resume=False)
    assert sorted((tmp_path / "elsewhere").rglob("*")) == before
    (out / name).unlink()
    (out / name).touch()
    with pytest.raises(InputError, match=f"{name}: expected a folder .*, found a file"):
        curate(source, out, plan=loose(), steps=["length"])


def test_results_are_not_written_where_is_read(tmp_path: Path) -> None:
    comments(tmp_path / "c.csv")
    for out in (tmp_path, tmp_path / "deep" / "out"):
        with pytest.raises(InputError, match="all of which is read; expected a folder beside it"):
            curate(tmp_path, out, plan=loose(), steps=["length"])


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out" / "corpus").mkdir(parents=True)
    (tmp_path / "out" / "corpus" / "mine.txt").touch()
    with pytest.raises(InputError, match="expected a new folder or one of an earlier curation"):
        curate(comments(tmp_path / "c.csv"), tmp_path / "out", plan=loose(), steps=["length"])
    assert (tmp_path / "out" / "corpus" / "mine.txt").exists()


def test_a_stopped_run_leaves_no_older_corpus(tmp_path: Path) -> None:
    source, out, steps = comments(tmp_path / "c.csv"), tmp_path / "out", ["deleted", "length"]
    curate(source, out, plan=loose(), steps=steps)
    assert (out / "stimuli.csv").exists()
    told = "corpus and stimuli.csv of an earlier run removed: this run stops after deleted"
    for notes in ((told,), ()):
        assert curate(source, out, plan=loose(), steps=steps, until="deleted").notes == notes
    assert not (out / "corpus").exists()
    assert not (out / "stimuli.csv").exists()


@pytest.mark.parametrize("name", ["sp ace %20 ü", "we[ir]d", "br{a,b}ce", "st*r"])
def test_folders_of_any_name(name: str, tmp_path: Path) -> None:
    source = comments(tmp_path / "c.csv")
    steps = ["repeated", "big_groups", "length", "length_balance", "sample"]
    plan = loose(big_groups={"least": 2}, sample={"size": 7})
    done = curate(source, tmp_path / name / "out", plan=plan, steps=steps)
    assert done.to_frame().height == 7
    assert done.reasons().height == 53
    assert done.draw(3).height == 3
