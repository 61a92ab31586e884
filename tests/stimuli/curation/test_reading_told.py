"""What reading found is told in the ledger, and what is finished fits what was read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest
from tests.stimuli.curation.files import lines_of, write

from affectlab.core.errors import InputError
from affectlab.stimuli.curation import CurationPlan, curate
from affectlab.stimuli.curation.emotions import prediction_columns
from affectlab.stimuli.curation.input.staging import stage

STEPS = ["deleted", "offensive", "length"]


def replaced(path: Path, old: str, new: str) -> None:
    """Change a file in place, to another time but the same size."""
    content = path.read_text()
    assert len(old) == len(new)
    assert old in content
    path.write_text(content.replace(old, new))
    stamp = path.stat().st_mtime_ns + 1_000_000
    os.utime(path, ns=(stamp, stamp))


def table(folder: Path) -> Path:
    rows = {
        "id": [f"c{k:03d}" for k in range(60)],
        "body": [f"What a lovely day number {k:03d} this is today!" for k in range(60)],
        "e": ["joy", "fear"] * 30,
    }
    pl.DataFrame(rows).write_csv(folder / "c.csv")
    return folder / "c.csv"


def test_a_text_of_equal_length_is_looked_at_anew(tmp_path: Path) -> None:
    path, out = table(tmp_path), tmp_path / "out"
    assert curate(path, out, steps=STEPS).n_kept == 60
    replaced(path, "lovely day number 031", "lovely day bimbos 031")
    again = curate(path, out, steps=STEPS)
    assert again.n_kept == 59
    assert again.reasons()["id"].to_list() == ["c031"]


def test_swapped_labels_are_looked_at_anew(tmp_path: Path) -> None:
    plan = CurationPlan.model_validate({"columns": {"emotions": "e"}, "steps": ["deleted"]})
    path, out = table(tmp_path), tmp_path / "out"
    for swap in (("joy\n", "JOY\n"), ("fear\nc004", "joy\nc004 "), ("joy\nc003", "fear\nc03")):
        if path.read_text().count(swap[0]):
            replaced(path, *swap)
        curate(path, out, plan=plan)
        staged = pl.concat(
            pl.read_parquet(part) for part in sorted((out / "work" / "staged").glob("part-*"))
        )
        features = pl.read_parquet(sorted((out / "work" / "features").glob("*.parquet")))
        assert features["emotion"].to_list() == [
            labels[0].lower() for labels in staged["emotions"].to_list()
        ]


def test_a_file_that_was_only_touched_redoes_nothing(tmp_path: Path) -> None:
    path, out = table(tmp_path), tmp_path / "out"
    curate(path, out, steps=STEPS)
    before = (out / "work" / "features" / "done.json").stat().st_mtime_ns
    os.utime(path, ns=(1, 1))
    assert curate(path, out, steps=STEPS).notes == ()
    assert (out / "work" / "features" / "done.json").stat().st_mtime_ns == before


def test_the_digest_is_that_of_the_content(tmp_path: Path) -> None:
    rows = [{"id": f"c{k}", "body": f"text {k}"} for k in range(50)]
    path = write(tmp_path / "a.jsonl", lines_of(*rows))
    one = stage(path, tmp_path / "1", part_rows=20).digest
    assert stage(path, tmp_path / "1", part_rows=20).digest == one
    assert stage(path, tmp_path / "2", part_rows=20).digest == one
    assert stage(path, tmp_path / "3").digest != one
    write(path, lines_of(*rows[:-1], {"id": "c49", "body": "text 94"}))
    assert stage(path, tmp_path / "2", part_rows=20).digest != one


def test_the_ledger_begins_with_what_was_read(tmp_path: Path) -> None:
    lines = lines_of(*[{"id": f"c{k}", "body": "We saw it again."} for k in range(20)])
    write(tmp_path / "a.jsonl", lines + b"broken\n[1]\n{}\n\n")
    write(tmp_path / "b.csv", b'id,body\n1,We saw it.\n2,"a" b\n3,x,y\n4,We saw it.\n')
    write(tmp_path / "c.csv", b'"id" x,body\n')
    done = curate(sorted(tmp_path.glob("?.*")), tmp_path / "out", steps=["deleted", "length"])
    reading = done.ledger.filter(step="reading")
    assert done.ledger["step"][0] == "reading"
    assert reading["rows_in"].unique().to_list() == [done.n_read] == [28]
    assert reading.select("reason", "n").rows() == [("broken_line", 4), ("not_an_object", 1)]
    assert reading["n"].sum() == done.n_read - reading["kept"][0]
    assert reading["threshold"][0] == "a line that cannot be read"
    steps = done.ledger.unique("step", maintain_order=True)
    assert steps["kept"][:-1].to_list() == steps["rows_in"][1:].to_list()
    assert steps["rows_in"][0] - done.ledger["n"].sum() == done.n_kept
    told = json.loads((tmp_path / "out" / "ledger.json").read_text())
    assert told["steps"][0]["step"] == "reading"
    assert told["steps"][0]["dropped"] == 5


def test_the_ledger_says_nothing_of_passwords(tmp_path: Path) -> None:
    sources = ["s3://name:word@bucket/x.jsonl?secret_key=word", "raw/*.csv"]
    plan = CurationPlan.model_validate({"sources": sources, "steps": ["deleted"]})
    curate(table(tmp_path), tmp_path / "out", plan=plan)
    text = (tmp_path / "out" / "ledger.json").read_text()
    assert json.loads(text)["plan"]["sources"] == ["s3://bucket/x.jsonl", "raw/*.csv"]
    assert "name:" not in text
    assert "secret" not in text


def labelled(folder: Path) -> Path:
    labels = ["joy", "joyy", "", "fear;joyy;nothing", "Fear"]
    rows = [{"id": f"c{k}", "body": "We saw it.", "e": label} for k, label in enumerate(labels)]
    return write(folder / "a.jsonl", lines_of(*rows))


def test_labels_that_the_taxonomy_lacks_count_as_none(tmp_path: Path) -> None:
    plan = CurationPlan.model_validate({"columns": {"emotions": "e"}, "steps": ["deleted"]})
    done = curate(labelled(tmp_path), tmp_path / "out", plan=plan)
    assert done.counts == {"unknown_label": 2}
    assert done.problems.select("file", "line").rows() == [("a.jsonl", 2), ("a.jsonl", 4)]
    assert "'joyy'" in done.problems["detail"][0]
    corpus = done.to_frame()
    assert corpus["id"].to_list() == [f"c{k}" for k in range(5)]
    # What was read stays in the corpus.
    assert corpus["emotions"].to_list()[1] == ["joyy"]
    features = pl.read_parquet(sorted((tmp_path / "out/work/features").glob("*.parquet")))
    assert features["emotion"].to_list() == ["joy", "", "", "fear", "fear"]
    with pytest.raises(InputError, match=r"^a\.jsonl:2: unknown label: .*'joyy'"):
        curate(tmp_path / "a.jsonl", tmp_path / "strict", plan=plan, strict=True)
    # A function's labels are another matter.
    with pytest.raises(InputError, match="'joyy'"):
        prediction_columns(pl.Series([["joyy"]]), "goemotions")


def test_labels_are_counted_anew_for_an_edited_taxonomy(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    text = 'name = "t"\n[[labels]]\nname = "joy"\n[[labels]]\nname = "fear"\n'
    path.write_text(text)
    plan = CurationPlan.model_validate(
        {"columns": {"emotions": "e"}, "steps": ["deleted"], "taxonomy": str(path)}
    )
    given, out = labelled(tmp_path), tmp_path / "out"
    assert curate(given, out, plan=plan).counts == {"unknown_label": 2}
    path.write_text(text + '[[labels]]\nname = "joyy"\n')
    assert curate(given, out, plan=plan).counts == {"unknown_label": 1}
