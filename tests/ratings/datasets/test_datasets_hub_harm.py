"""Servers and repositories that mean harm, and copies that were damaged."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from tests.ratings.datasets import hub_rows as rows
from tests.ratings.datasets.hub_cases import GO, add_goemotions, add_hq, fails
from tests.ratings.datasets.hub_server import Hub, serving

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.ratings import load_dataset
from affectlab.ratings.datasets.tables import Wanted

pytest.importorskip("datasets")


# -- servers and repositories that mean harm ---------------------------------------------------

CSV = b"stimulus,rater,value\na,r,1\n"


def files_under(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def lie(hub: Hub, name: str, sha: str) -> None:
    """Let a server name another commit than the one that it has."""
    made = hub.repositories[name]
    hub.repositories[name] = type("Lying", (type(made),), {"sha": sha})(made.files)


@pytest.mark.parametrize("sha", ["../../../outside", "main", "", "A" * 40])
def test_only_a_commit_names_a_folder(hub, tmp_path, sha):
    hub.add("anna/ratings", {"train.csv": CSV})
    lie(hub, "anna/ratings", sha)
    before = files_under(tmp_path)
    assert "names no commit of 'main'" in fails("anna/ratings", cache=tmp_path / "a/b/copies")
    assert files_under(tmp_path) == before


def test_another_commit_than_the_one_named_is_refused(hub):
    hub.add("anna/ratings", {"train.csv": CSV})
    wanted = hub.repositories["anna/ratings"].sha
    lie(hub, "anna/ratings", "b" * 40)
    hub.older[f"anna/ratings@{wanted}"] = hub.repositories["anna/ratings"]
    assert f"commit {'b' * 40}; expected {wanted}" in fails("anna/ratings", revision=wanted)


@pytest.mark.parametrize("name", ["..", ".", "../../out"])
def test_names_of_parts_lead_to_no_other_folder(hub, tmp_path, name):
    configuration = {"config_name": name, "data_files": [{"split": "train", "path": "train.csv"}]}
    card = f"---\n{json.dumps({'configs': [configuration]})}\n---\n"
    hub.add("eve/ratings", {"README.md": card.encode(), "train.csv": CSV})
    cache = tmp_path / "copies"
    try:
        load_dataset("eve/ratings", configuration=name, cache=cache)
    except InputError:
        # The library takes no slashes.
        assert "/" in name
        return
    commit = hub.repositories["eve/ratings"].sha
    (copy,) = cache.rglob("train.csv")
    assert copy.parent.parent == cache / "datasets--eve--ratings" / commit
    assert copy.parent.name == name.replace(".", "%2E")


def test_files_elsewhere_are_not_taken(hub, tmp_path):
    (tmp_path / "secret.csv").write_bytes(CSV.replace(b"a,", b"secret,"))
    hub.add("bob/own", {"train.csv": CSV})
    places = [str(tmp_path / "secret.csv"), (tmp_path / "secret.csv").as_uri()]
    places += ["../../bob/own/train.csv", "hf://datasets/bob/own@main/train.csv"]
    places += [f"{hub.endpoint}/datasets/bob/own/resolve/main/train.csv"]
    places += ["zip://x.csv::hf://datasets/bob/own@main/train.csv"]
    for number, place in enumerate(places):
        card = f"---\nconfigs:\n- config_name: x\n  data_files: {json.dumps(place)}\n---\n"
        hub.add(f"eve/set{number}", {"README.md": card.encode(), "train.csv": CSV})
        assert f"eve/set{number}" in fails(f"eve/set{number}")


@pytest.mark.parametrize("address", ["/etc/x.csv", "hf://datasets/bob/own@main/x.csv"])
def test_addresses_outside_of_the_repository_are_refused(address):
    from affectlab.ratings.datasets.files import _inside

    wanted = Wanted("eve/ratings", revision="c" * 40)
    root = f"hf://datasets/eve/ratings@{'c' * 40}/"
    assert _inside(wanted, f"{root}data/x.csv") == "data/x.csv"
    for wrong in (address, f"{root}../x.csv"):
        with pytest.raises(InputError, match="expected files of its own"):
            _inside(wanted, wrong)


def test_the_token_goes_to_the_hub_only(hub, monkeypatch):
    """Where the hub sends elsewhere for a file, as it does for large ones."""
    monkeypatch.setenv("HF_TOKEN", "hf_right")
    table = rows.parquet(pl.DataFrame({"stimulus": ["a"], "rater": ["r"], "value": [1]}))
    hub.add("anna/text", {"train.csv": CSV})
    hub.add("anna/table", {"train.parquet": table})
    with serving() as other:
        for name, repository in hub.repositories.items():
            other.add(name, repository.files)
            repository.elsewhere = other.endpoint
        assert load_dataset("anna/text").stimulus_names == ("a",)
        assert load_dataset("anna/table").stimulus_names == ("a",)
    assert {said for said in hub.tokens if said} == {"Bearer hf_right"}
    assert other.sent > 0
    assert set(other.tokens) == {""}


@pytest.mark.parametrize("file", ["train.csv", "train.parquet"])
def test_half_a_file_is_never_kept(hub, tmp_path, file):
    table = pl.DataFrame({"stimulus": ["a"] * 9, "rater": ["r"] * 9, "value": [1] * 9})
    content = CSV if file.endswith("csv") else rows.parquet(table)
    hub.add("anna/cut", {file: content}, lost=5)
    assert "anna/cut" in fails("anna/cut", cache=tmp_path / "copies")
    assert files_under(tmp_path / "copies") == set()


def test_cards_that_are_wrong_are_one_sentence(hub):
    cards = ["configs: x", "configs:\n- a: 1", "dataset_info:\n  features: 7"]
    for number, card in enumerate(cards):
        files = {"README.md": f"---\n{card}\n---\n".encode(), "train.csv": CSV}
        hub.add(f"anna/card{number}", files)
        assert f"anna/card{number}: " in fails(f"anna/card{number}")
    hub.add("anna/plain", {"README.md": b"---\n- 1\n---\n", "train.csv": CSV})
    assert "anna/plain: " in fails("anna/plain")


def test_a_licence_is_one_plain_line(hub):
    def licence(card: str) -> str:
        hub.add("anna/set", {"README.md": f"---\n{card}\n---\n".encode(), "train.csv": CSV})
        return str(load_dataset("anna/set").history[-1]["licence"])

    assert licence('license: "a\\nb\\e[31mred"') == "a b [31mred"
    assert licence("license: [mit, apache-2.0]") == "mit, apache-2.0"
    assert licence("license: other\nlicense_name: ours") == "other (ours)"
    assert licence("license: {a: 1}") == ""
    assert licence("license: " + "x" * 5000) == "x" * 100


def test_tokens_and_passwords_are_not_repeated(hub, monkeypatch):
    from affectlab.ratings.datasets.files import explained, why_unreachable

    told = (
        "for https://me:pass@host/x?X-Signature=abc and Bearer hf_secretsecret and hf_othersecret"
    )
    for said in (
        str(explained(ValueError(told), "anna/set", "main")),
        str(why_unreachable(ConnectionError(told))),
    ):
        assert "https://***@host/x and" in said
        for secret in ("pass", "abc", "secret"):
            assert secret not in said


# -- copies that were damaged ------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["cut", "gone", "described", "half described"])
def test_a_damaged_copy_is_made_again(hub, tmp_path, damage):
    add_goemotions(hub)
    first = load_dataset("goemotions-raw", cache=tmp_path)
    (copy,) = tmp_path.rglob("train.parquet")
    (described,) = tmp_path.rglob("*.copy")
    if damage == "cut":
        copy.write_bytes(copy.read_bytes()[:-1])
    elif damage == "gone":
        copy.unlink()
    else:
        text = described.read_text()
        described.write_text("" if damage == "described" else text[: len(text) // 2])
    commit = hub.repositories[GO].sha
    assert load_dataset("goemotions-raw", cache=tmp_path, revision=commit).equals(first)


def test_a_damaged_note_of_the_commit_is_no_commit(hub, tmp_path):
    hub.add("anna/ratings", {"train.csv": CSV})
    load_dataset("anna/ratings", cache=tmp_path)
    (noted,) = tmp_path.rglob("refs/main")
    noted.write_text("../..")
    hub.down = True
    assert "holds no copy" in fails("anna/ratings", cache=tmp_path)


def test_copies_go_where_they_are_wanted_only(hub, tmp_path):
    hub.add("anna/ratings", {"train.csv": CSV})
    load_dataset("anna/ratings", cache=tmp_path / "copies")
    assert not [path for path in files_under(tmp_path / "home") if path.suffix == ".csv"]
    assert {path.name for path in files_under(tmp_path / "copies")} == {
        "train.csv",
        "train.copy",
        "main",
    }


def test_many_at_once_read_the_same(hub, tmp_path):
    add_goemotions(hub)
    same = load_dataset("goemotions-raw", cache=tmp_path / "alone")
    with ThreadPoolExecutor(4) as pool:
        made = [
            pool.submit(load_dataset, "goemotions-raw", cache=tmp_path / "shared") for _ in range(8)
        ]
        assert all(one.result().equals(same) for one in made)
    assert len(files_under(tmp_path / "shared")) == 3


def test_a_set_without_configurations_has_one_by_default(hub):
    add_hq(hub)
    found = load_dataset("emonet-face-hq", configuration="default")
    assert found.equals(load_dataset("emonet-face-hq"))
    assert "expected" in fails("emonet-face-hq", configuration="raw")


def test_options_are_looked_at_before_anything_is_fetched(hub):
    add_goemotions(hub)
    for wrong in ({"scale": "x-y"}, {"wide": "sideways"}, {"on_bad": "no"}, {"taxonomy": "nil"}):
        fails("goemotions-raw", **wrong)
    assert hub.asked == []


def test_a_folder_named_like_the_library_is_not_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", ModuleType("datasets"))
    with pytest.raises(MissingDependencyError, match=r"\[datasets\]"):
        load_dataset("goemotions-raw")
