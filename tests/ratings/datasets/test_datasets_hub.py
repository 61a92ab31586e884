"""Published data sets by name, from a hub on this machine."""

from __future__ import annotations

import importlib
import io
import json
import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here
from tests.ratings.datasets import hub_rows as rows
from tests.ratings.datasets.hub_cases import GO, add_goemotions, add_hq, fails
from tests.ratings.datasets.hub_server import Hub, serving
from tests.ratings.told import facts, kinds

from affectlab.core.errors import MissingDependencyError
from affectlab.ratings import Ratings, StepKind, load_dataset, read_ratings
from affectlab.ratings.datasets.tables import Wanted, read_tables
from affectlab.ratings.files.parquet import read_frame
from affectlab.ratings.files.peek import Peek

pytest.importorskip("datasets")


# -- the same as from files --------------------------------------------------------------------


def test_raw_answers_are_those_of_the_file(hub, tmp_path):
    add_goemotions(hub)
    found = load_dataset("goemotions-raw")
    same = read_ratings(rows.raw_csv(tmp_path / "raw.csv"))
    assert found.equals(same)
    assert found.rater_names == ("1", "37", "2")
    assert found.frame["outcome"].to_list().count("refused") == 28


def test_labels_agreed_on_are_those_of_the_file(hub, tmp_path):
    add_goemotions(hub)
    same = read_ratings(rows.simplified_tsv(tmp_path / "dev.tsv"))
    for name in ("goemotions-simplified", GO):
        configuration = None if "/" not in name else "simplified"
        found = load_dataset(name, configuration=configuration, split="validation")
        assert found.equals(same)


def test_binary_answers_are_those_of_the_file(hub, tmp_path):
    frame, features = rows.binary_table()
    content = rows.parquet(frame, features)
    hub.add("laion/emonet-face-binary", {"README.md": rows.CARD, "data/train-0.parquet": content})
    found = load_dataset("laion/emonet-face-binary")
    assert found.equals(read_ratings(rows.binary_csv(tmp_path / "binary.csv")))


def test_a_set_that_the_library_wrote_is_read(hub, tmp_path):
    import datasets
    from PIL import Image

    table, features = rows.binary_table()
    picture = io.BytesIO()
    Image.new("RGB", (8, 8)).save(picture, "PNG")
    columns = table.to_dict(as_series=False)
    for entry in columns["path"]:
        entry["bytes"] = picture.getvalue()
    named = {
        "path": datasets.Image(),
        "annotator": datasets.Value("string"),
        "value": datasets.Value("bool"),
        "emotion": datasets.ClassLabel(names=features["emotion"]["names"]),
    }
    made = io.BytesIO()
    datasets.Dataset.from_dict(columns, features=datasets.Features(named)).to_parquet(made)
    hub.add("laion/emonet-face-binary", {"data/train-0.parquet": made.getvalue()})
    same = read_ratings(rows.binary_csv(tmp_path / "binary.csv"))
    assert load_dataset("emonet-face-binary").equals(same)
    # Downloaded by hand, the same file is recognised.
    (tmp_path / "train-0.parquet").write_bytes(made.getvalue())
    assert read_ratings(tmp_path / "train-0.parquet").equals(same)


def test_intensities_are_those_of_the_file_and_pictures_stay(hub, tmp_path):
    content = rows.parquet(rows.hq_table(size=3_000_000))
    hub.add("laion/emonet-face-hq", {"README.md": rows.CARD, "data/train-0.parquet": content})
    found = load_dataset("emonet-face-hq")
    assert found.equals(read_ratings(rows.hq_csv(tmp_path / "hq.csv")))
    assert set(found.rater_kinds) == {"human"}


def test_pictures_are_not_sent(hub):
    frame = rows.hq_table()
    noise = [{"bytes": random.randbytes(1_000_000), "path": name} for name in rows.HQ]
    frame = frame.with_columns(path=pl.Series(noise))
    content = rows.parquet(frame)
    hub.add("laion/emonet-face-hq", {"README.md": rows.CARD, "data/train-0.parquet": content})
    assert len(content) > 2_000_000
    assert load_dataset("emonet-face-hq").stimulus_names == ("a.png", "b.png")
    assert hub.sent < 200_000


def test_where_it_comes_from_is_kept(hub, tmp_path):
    add_goemotions(hub)
    found = load_dataset("goemotions-raw")
    commit = hub.repositories[GO].sha
    assert found.source == f"hf://datasets/{GO}@{commit}/raw/train"
    assert facts(found, StepKind.FROM_HUB)["licence"] == "apache-2.0"
    assert facts(found, StepKind.FROM_HUB)["commit"] == commit
    assert StepKind.NOTE in kinds(found)
    again = read_ratings(found.write(tmp_path / "kept.parquet"))
    assert (again.source, again.history) == (found.source, found.history)


def test_parts_of_a_split_are_put_together(hub):
    half = rows.raw_table()
    parts = {f"raw/train-0000{at}-of-00002.parquet": rows.parquet(half[at::2]) for at in (0, 1)}
    hub.add(GO, {"README.md": rows.GOEMOTIONS_CARD, **parts})
    found = load_dataset("goemotions-raw")
    assert found.n_rows == 4 * 28
    whole = half[[0, 2, 1, 3]]
    assert found.stimulus_names == tuple(whole["id"].unique(maintain_order=True))


# -- copies --------------------------------------------------------------------------------------


def test_second_load_asks_only_for_the_commit(hub):
    add_goemotions(hub)
    first = load_dataset("goemotions-raw")
    hub.asked.clear()
    assert load_dataset("goemotions-raw").equals(first)
    assert [line.split("?")[0] for line in hub.asked] == [f"GET /api/datasets/{GO}/revision/main"]
    hub.asked.clear()
    load_dataset("goemotions-raw", revision=hub.repositories[GO].sha)
    assert hub.asked == []


@pytest.mark.parametrize("trouble", ["down", "503", "offline"])
def test_without_the_hub_the_copy_is_taken_and_named(hub, trouble, monkeypatch):
    add_goemotions(hub)
    first = load_dataset("goemotions-raw")
    break_(hub, trouble, monkeypatch)
    again = load_dataset("goemotions-raw")
    assert again.equals(first)
    assert StepKind.HUB_NOT_ASKED in kinds(again)
    assert StepKind.HUB_NOT_ASKED not in kinds(first)


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [("down", "no connection"), ("503", "it answered 503"), ("offline", "HF_HUB_OFFLINE is set")],
)
def test_without_hub_and_copy_it_says_what_to_do(hub, trouble, reason, monkeypatch, tmp_path):
    add_goemotions(hub)
    load_dataset("goemotions-raw")
    break_(hub, trouble, monkeypatch)
    said = fails("emonet-face-binary")
    assert reason in said
    assert "github.com/LAION-AI/emonet-face" in said
    assert "affectlab.read_ratings(FILE)" in said
    # A copy elsewhere, or of another part, is none.
    assert reason in fails("goemotions-raw", cache=tmp_path / "other")
    assert reason in fails("goemotions-simplified", split="train")


def break_(hub: Hub, trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if trouble == "down":
        hub.down = True
    elif trouble == "503":
        hub.broken = 503
    else:
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        # The client of the hub looks at this when it is made.
        __import__("huggingface_hub").close_session()


def test_a_new_commit_is_seen_and_the_old_one_stays(hub, tmp_path):
    add_hq(hub)
    first = load_dataset("emonet-face-hq", cache=tmp_path / "copies")
    old = hub.repositories["laion/emonet-face-hq"].sha
    table = rows.hq_table()[:1]
    add_hq(hub, **{"data/train-00000-of-00001.parquet": rows.parquet(table)})
    newest = load_dataset("emonet-face-hq", cache=tmp_path / "copies")
    assert (first.n_stimuli, newest.n_stimuli) == (2, 1)
    assert old not in newest.source
    assert load_dataset("emonet-face-hq", revision=old, cache=tmp_path / "copies").equals(first)


def test_an_older_commit_is_fetched_by_its_name(hub, tmp_path):
    add_hq(hub)
    old = hub.repositories["laion/emonet-face-hq"].sha
    add_hq(hub, **{"data/train-00000-of-00001.parquet": rows.parquet(rows.hq_table()[:1])})
    assert load_dataset("emonet-face-hq").n_stimuli == 1
    found = load_dataset("emonet-face-hq", revision=old)
    assert found.n_stimuli == 2
    assert f"@{old}/" in found.source


def test_a_description_never_stands_without_its_copy(hub, tmp_path, monkeypatch):
    add_goemotions(hub)
    moved = Path.replace

    def stopping(file: Path, to: Path) -> Path:
        if file.suffix == ".parquet":
            raise OSError(5, "input/output error")
        return moved(file, to)

    monkeypatch.setattr(Path, "replace", stopping)
    assert "input/output error" in fails("goemotions-raw", cache=tmp_path / "copies")
    assert [path for path in (tmp_path / "copies").rglob("*") if path.is_file()] == []


def test_a_copy_that_breaks_off_leaves_nothing(hub, tmp_path, monkeypatch):
    add_goemotions(hub)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", breaking)
    said = fails("goemotions-raw", cache=tmp_path / "copies")
    assert "no space" in said
    monkeypatch.undo()
    kept = [path for path in (tmp_path / "copies").rglob("*") if path.is_file()]
    assert kept == []


def breaking(frame: pl.DataFrame, path: Path) -> None:
    path.write_bytes(b"PAR1 half")
    raise OSError(28, "no space left on device")


def test_copies_of_another_version_are_made_again(hub, tmp_path):
    add_goemotions(hub)
    first = load_dataset("goemotions-raw", cache=tmp_path)
    (told,) = tmp_path.rglob("*.copy")
    told.write_text(json.dumps({"split": "train", "made_by": "another version"}))
    assert load_dataset("goemotions-raw", cache=tmp_path).equals(first)
    assert "licence" in told.read_text()


def test_copies_into_a_file_are_refused(hub, tmp_path):
    add_goemotions(hub)
    (tmp_path / "file").write_text("")
    said = fails("goemotions-raw", cache=tmp_path / "file")
    assert str(tmp_path / "file") in said
    assert "name another folder" in said


# -- what can be wrong ---------------------------------------------------------------------------


def test_gated_sets_want_a_token(hub, monkeypatch):
    add_hq(hub)
    hub.repositories["laion/emonet-face-hq"].gated = True
    said = fails("emonet-face-hq")
    assert "gated" in said
    assert "hf auth login" in said
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert "gated" in fails("emonet-face-hq")
    monkeypatch.setenv("HF_TOKEN", "hf_right")
    assert load_dataset("emonet-face-hq").n_stimuli == 2


def test_unknown_names_get_the_nearest(hub):
    assert "did you mean 'goemotions-raw'" in fails("goemotions-row")
    assert "did you mean 'laion/emonet-face-hq'" in fails("laion/emonet-face-hk")
    assert "OWNER/NAME" in fails("a/b/c")
    said = fails(GO)
    assert "'goemotions-raw'" in said
    assert "'goemotions-simplified'" in said
    assert "did you mean 'raw'" in fails(GO, configuration="rau")
    assert hub.asked == [line for line in hub.asked if "emonet-face-hk" in line]


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("socratis", "affectlab.read_ratings"),
        ("face-expressions-70k", "affectlab.analysis.pair_scores"),
        ("EmoSet", "affectlab.models.images.read_labelled_images"),
        ("fi", "affectlab.models.images.read_labelled_images"),
        ("emotic", "affectlab.models.images.read_labelled_images"),
    ],
)
def test_sets_that_are_not_on_the_hub_say_where_they_are(name, reader):
    said = fails(name)
    assert "not on the hub" in said
    assert "published at" in said
    assert said.removesuffix("(FILE)").endswith(f"read it with {reader}")
    module, function = reader.rsplit(".", 1)
    assert callable(getattr(importlib.import_module(module), function))


def test_unknown_parts_are_named(hub):
    add_goemotions(hub)
    assert "no revision 'v9'" in fails("goemotions-raw", revision="v9")
    several = fails("goemotions-simplified")
    assert "train, validation, test" in several
    assert "no split 'dev'" in fails("goemotions-simplified", split="dev")
    load_dataset("goemotions-simplified", split="test")
    # The copy knows the other splits as well.
    assert fails("goemotions-simplified") == several


def test_other_columns_are_said_before_anything_is_read(hub, tmp_path):
    frame = rows.hq_table().rename({"label": "annotations"})
    add_hq(hub, **{"data/train-00000-of-00001.parquet": rows.parquet(frame)})
    said = fails("emonet-face-hq", cache=tmp_path / "copies")
    assert "column 'label' is missing; expected path and label, found path and annotations" in said
    assert "older revision" in said
    assert "as hq.csv" in said
    assert not list((tmp_path / "copies").rglob("*.parquet"))


def test_a_class_without_a_name_is_wrong(hub):
    frame, features = rows.binary_table()
    features["emotion"]["names"] = features["emotion"]["names"][:2]
    content = rows.parquet(frame, features)
    hub.add("laion/emonet-face-binary", {"data/train-0.parquet": content})
    said = fails("emonet-face-binary")
    assert "column 'emotion' holds class" in said
    assert "expected 0 to 1" in said


def test_programs_are_never_run(hub, tmp_path):
    mark = tmp_path / "ran"
    program = f"open({str(mark)!r}, 'w')\n".encode()
    hub.add("anna/ratings", {"README.md": b"", "ratings.py": program})
    assert "never run" in fails("anna/ratings")
    assert not mark.exists()


def test_sets_without_tables_are_refused(hub):
    hub.add("anna/empty", {"README.md": rows.CARD})
    assert "no data files" in fails("anna/empty")
    hub.add("anna/faces", {"a/1.png": b"1", "b/2.png": b"2"})
    assert "2 files of kind .png" in fails("anna/faces")
    hub.add("anna/parts", {"data/train-0.csv": b"a\n1\n", "data/train-1.csv": b"a\n1\n"})
    assert "2 files of kind .csv" in fails("anna/parts")
    assert "must be one of ['default']" in fails("anna/parts", configuration="raw")


def test_parts_with_other_columns_are_refused(hub):
    other = rows.raw_table().drop("author")
    parts = {"raw/train-0.parquet": rows.parquet(rows.raw_table())}
    parts["raw/train-1.parquet"] = rows.parquet(other)
    hub.add(GO, {"README.md": rows.GOEMOTIONS_CARD, **parts})
    assert "raw/train-1.parquet has other columns" in fails("goemotions-raw")


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingDependencyError, match=r"\[datasets\]"):
        load_dataset("goemotions-raw")


# -- types of columns --------------------------------------------------------------------------


def test_columns_are_those_of_the_file(hub, tmp_path):
    at = datetime(2024, 2, 29, 12, tzinfo=UTC)
    frame = pl.DataFrame(
        {
            "stimulus": pl.Series(["a", None, "007"], dtype=pl.Categorical),
            "big": pl.Series([2**63 - 1, None, -(2**63)], dtype=pl.Int64),
            "bigger": pl.Series([2**64 - 1, None, 0], dtype=pl.UInt64),
            "at": pl.Series([at, None, at], dtype=pl.Datetime("us", "UTC")),
            "day": [at.date(), None, at.date()],
            "share": pl.Series([0.1, float("nan"), None], dtype=pl.Float32),
            "exact": pl.Series(["1.10", None, "2.00"]).cast(pl.Decimal(10, 2)),
            "told": [True, None, False],
            "empty": pl.Series([None] * 3, dtype=pl.String),
            "level": pl.Series(["lo", "hi", None], dtype=pl.Enum(["lo", "hi"])),
            "kind": pl.Series([1, None, 0], dtype=pl.UInt8),
        }
    )
    features = {"kind": {"_type": "ClassLabel", "names": ["calm", "tense"]}}
    content = rows.parquet(frame, features)
    hub.add("anna/types", {"train.parquet": content})
    (tmp_path / "same.parquet").write_bytes(content)
    read, left_out = read_tables(Wanted("anna/types"), ["train.parquet"])
    same = read_frame(Peek.open(tmp_path / "same.parquet"))
    assert left_out == ()
    assert read.schema == same.schema
    assert read.equals(same, null_equal=True)
    assert read["kind"].to_list() == ["tense", None, "calm"]


def test_what_others_wrote_beside_a_schema_is_harmless(hub):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"stimulus": ["a"], "rater": ["r"], "value": [1]})
    for number, written in enumerate([b"no", b"[]", b'{"info": null}', b"\xed\xa0\x80"]):
        made = io.BytesIO()
        pq.write_table(table.replace_schema_metadata({b"huggingface": written}), made)
        hub.add(f"anna/set{number}", {"train.parquet": made.getvalue()})
        assert load_dataset(f"anna/set{number}").value.tolist() == [1.0]


# -- sets that are not listed --------------------------------------------------------------------


def test_any_table_of_the_hub_is_read_as_files_are(hub, tmp_path):
    content = b"clip,coder,points\n007,NA,1\n007,1e5,7\n"
    hub.add("anna/ratings", {"README.md": rows.CARD, "train.csv": content})
    roles = {"stimulus": "clip", "rater": "coder", "value": "points"}
    found = load_dataset("anna/ratings", columns=roles, scale="0-7")
    (tmp_path / "same.csv").write_bytes(content)
    assert found.equals(read_ratings(tmp_path / "same.csv", columns=roles, scale="0-7"))
    assert found.rater_names == ("NA", "1e5")
    assert found.history[-1]["licence"] == "cc-by-4.0"


def test_json_of_the_hub_is_read_twice(hub):
    row = {"stimulus": "a", "rater": "r", "value": 3}
    hub.add("anna/json", {"train.json": json.dumps([row]).encode()})
    first = load_dataset("anna/json", scale="0-7")
    assert first.value.tolist() == [3.0]
    assert load_dataset("anna/json", scale="0-7").equals(first)


def test_our_own_tables_keep_scale_and_raters(hub, tmp_path):
    made = Ratings(
        {"stimulus": ["a", "b"], "rater": ["r", "m"], "value": [3, 4]},
        scale="0-7",
        raters={"rater": ["r", "m"], "rater_kind": ["human", "model"]},
    )
    file = made.write(tmp_path / "ratings.parquet")
    hub.add("anna/ours", {"data/train-0.parquet": file.read_bytes()})
    found = load_dataset("anna/ours")
    assert found.equals(made)
    assert found.source.startswith("hf://datasets/anna/ours@")


def test_what_no_table_holds_is_left_out_and_said(hub):
    frame = pl.DataFrame(
        {
            "stimulus": rows.pictures(["a.png", "b.png"]),
            "rater": ["r", "r"],
            "value": [0, 1],
            "boxes": [[1, 2], [3]],
            "sound": [b"1", b"2"],
        }
    )
    features = {"value": {"_type": "ClassLabel", "names": ["calm", "tense"]}}
    hub.add("anna/pictures", {"data/train-0.parquet": rows.parquet(frame, features)})
    found = load_dataset("anna/pictures")
    assert found.stimulus_names == ("a.png", "b.png")
    assert found.scale.categories == ("calm", "tense")
    assert facts(found, StepKind.COLUMNS_NOT_HELD)["columns"][-2:] == ("boxes", "sound")


def test_a_folder_of_the_same_name_here_is_not_taken(hub, tmp_path, monkeypatch):
    (tmp_path / "anna/ratings").mkdir(parents=True)
    (tmp_path / "anna/ratings/train.csv").write_text("stimulus,rater,value\nlocal,r,1\n")
    monkeypatch.chdir(tmp_path)
    hub.add("anna/ratings", {"train.csv": b"stimulus,rater,value\nremote,r,1\n"})
    assert load_dataset("anna/ratings").stimulus_names == ("remote",)


# -- the command line ----------------------------------------------------------------------------


def test_fetch_writes_a_table_and_shows_licence_and_citation(hub, tmp_path):
    add_goemotions(hub)
    to = tmp_path / "train.parquet"
    done = run_here("ratings", "fetch", "goemotions-simplified", "--split", "train", "--out", to)
    assert "licence: Apache-2.0" in done.stdout
    assert "please cite: D. Demszky" in done.stdout
    assert hub.repositories[GO].sha in done.stdout
    same = read_ratings(rows.simplified_tsv(tmp_path / "same.tsv"))
    assert read_ratings(to).equals(same)
    done = run_here("ratings", "fetch", GO, "--configuration", "raw", "--out", to, "--json")
    told = json.loads(done.stdout)["result"]
    assert told["source"].endswith("/raw/train")
    assert told["citation"].startswith("D. Demszky")
    assert told["n_rows"] == read_ratings(to).n_rows


def test_fetch_looks_at_the_target_first(hub, tmp_path):
    done = run_here("ratings", "fetch", "goemotions-raw", "--out", tmp_path / "x.xlsx", code=2)
    assert "suffix '.xlsx'" in done.stderr
    assert hub.asked == []


def test_published_lists_all_sets():
    done = run_here("ratings", "fetch", width=600)
    assert "4 of 9 sets are on the Hugging Face hub" in done.stdout
    assert "train, validation, test" in done.stdout
    told = json.loads(run_here("ratings", "fetch", "--json").stdout)["result"]["sets"]
    assert {entry["name"] for entry in told} >= {"goemotions-raw", "emonet-face-hq", "socratis"}


@pytest.mark.long
def test_the_environment_names_the_hub(tmp_path):
    with serving() as hub:
        hub.add("anna/ratings", {"train.csv": b"stimulus,rater,value\na,r,1\n"})
        command = ["ratings", "fetch", "anna/ratings", "--quiet", "--out", str(tmp_path / "a.csv")]
        environment = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "home")}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "affectlab", *command],
            env={"PATH": "", "HOME": str(tmp_path), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert read_ratings(tmp_path / "a.csv").stimulus_names == ("a",)
    assert (tmp_path / "home/affectlab").is_dir()
