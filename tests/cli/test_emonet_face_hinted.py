"""``affectlab emonet-face hinted``: what it says, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here
from tests.here import only_here as only_here
from tests.models.vlm.fake_server import Answer, Call, FakeServer, chat, error, values

from affectlab.evaluation import control_checks
from affectlab.ratings import read_ratings

PLAN = """
labels = ["Awe", "Fear", "Shame"]
target = 6
initial = 6
decoys = 0.5
per_round = 6
floor = 0.2
batch = 4
"""
# Sees awe everywhere, follows hints at fear, and never those at shame.
ANNOTATOR = """
def mine(images, hints):
    return [{"Awe": 3} | ({hint: 2} if hint in ("Fear", "Pain", "Pride") else {}) for hint in hints]
mine.name, mine.version = "mine", "1"
"""


MODEL = "openai-api/fake/model"


@pytest.fixture(autouse=True)
def _guarded(only_here: list[str]) -> None:
    """Guard every test."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "added_mine.py").write_text(ANNOTATOR)
    place = tmp_path / "added_mine-1.dist-info"
    place.mkdir()
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: added-mine\nVersion: 1\n")
    (place / "entry_points.txt").write_text(
        "[affectlab.image_annotators]\nmine = added_mine:mine\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def rate(folder: Path, *more: object, code: int = 0) -> str:
    done = run_here(
        *("emonet-face", "hinted", folder / "plan.toml", "--out", folder / "big"),
        *("--annotator", "mine", "--set", "size=32", *more),
        code=code,
    )
    return done.stdout if code == 0 else done.stderr


def test_a_whole_loop(folder: Path) -> None:
    said = run_here(
        *("emonet-face", "hinted", folder / "plan.toml", "--out", folder / "big"),
        *("--annotator", "mine", "--set", "size=32"),
    )
    assert "2 of 3 labels covered after" in said.stdout
    assert "1 label given up" in said.stdout.replace("\n", " ")
    assert "hints followed:" in said.stdout
    assert "given up, since hints were rarely followed: Shame" in said.stdout
    last = pl.read_csv(folder / "big" / "coverage.csv")
    assert dict(last.select("label", "status").iter_rows()) == {
        "Awe": "met",
        "Fear": "met",
        "Shame": "given up",
    }
    ratings = read_ratings(folder / "big" / "ratings.parquet")
    assert ratings.raters["control"].to_list() == [None, "decoy_hint"]
    hints = control_checks(ratings, n_boot=0).hints.to_frame()
    assert hints["run"].unique().to_list() == ["mine (decoy hints)"]
    manifest = pl.read_csv(folder / "big" / "pictures" / "manifest.csv")
    assert set(manifest["width"]) == {32}


def test_again_and_further(folder: Path) -> None:
    first = json.loads(rate(folder, "--rounds", 1, "--json"))
    assert first["schema"] == "affectlab/emonet-face-hinted/1"
    assert first["result"]["settings"]["n_rounds"] == 1
    ledger = folder / "big" / "ledger.jsonl"
    before = ledger.read_bytes()
    again = json.loads(rate(folder, "--rounds", 1, "--json"))
    assert again["result"] == first["result"]
    assert ledger.read_bytes() == before
    more = json.loads(rate(folder, "--rounds", 2, "--json"))
    assert more["result"]["settings"]["n_rounds"] == 2
    assert ledger.read_bytes().startswith(before)


def test_the_budget_of_the_command_line(folder: Path) -> None:
    told = json.loads(rate(folder, "--budget", 9, "--json"))
    assert told["result"]["settings"]["n_made"] == 9


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--model", "openai/x"), "expected either --model or --annotator"),
        (("--generator", "drawnn"), "unknown image generator 'drawnn'"),
        (("--set", "colour=1"), "unknown setting 'colour'"),
        (("--budget", "2"), "initial = 6 is above the budget of 2"),
    ],
)
def test_what_is_refused(more: tuple[str, ...], said: str, folder: Path) -> None:
    refused = rate(folder, *more, code=2)
    assert said in refused.replace("\n", " ")
    assert "Traceback" not in refused


def test_files_that_are_not_there(folder: Path) -> None:
    (folder / "plan.toml").write_text('images = "faces"\n')
    assert "there is no such file or folder" in rate(folder, code=2)
    (folder / "plan.toml").unlink()
    assert "no such file" in rate(folder, code=2)


def ask_model(folder: Path, url: str, *more: object, code: int = 0) -> str:
    done = run_here(
        *("emonet-face", "hinted", folder / "plan.toml", "--out", folder / "big", "--model", MODEL),
        *("--base-url", url, "--set", "size=32", *more),
        code=code,
        FAKE_API_KEY="fake-secret-key-0123456789",
    )
    return done.stdout if code == 0 else done.stderr.replace("\n", " ")


class TestModels:
    @pytest.mark.long
    @pytest.mark.parametrize("at_most", [0, 5])
    def test_zeros_are_what_the_prompt_says(self, at_most: int, folder: Path) -> None:
        (folder / "plan.toml").write_text(f"{PLAN}at_most = {at_most}\n")

        def script(call: Call) -> Answer:
            return values(Awe=3, **{label: 2 for label in ("Fear", "Shame") if hinted(call, label)})

        with FakeServer(script) as server:
            ask_model(folder, server.url)
        said = server.calls[0].text
        assert "a label that you leave out counts as 0" in said
        frame = read_ratings(folder / "big" / "ratings.parquet").to_frame()
        plain = frame.filter(pl.col("hint").is_null() & (pl.col("rater") == f"{MODEL} zero-shot"))
        assert dict(plain.group_by("label").agg(pl.col("value").max()).iter_rows())["Fear"] == 0

    @pytest.mark.long
    def test_a_budget_in_dollars(self, folder: Path) -> None:
        with FakeServer(lambda _: values(Awe=3)) as server:
            refused = ask_model(folder, server.url, "--budget-usd", 5, code=2)
            assert "price_in= and price_out=" in refused
            # Said before any picture is made.
            assert not (folder / "big").exists()
            assert server.calls == []
            priced = ("--config", "price_in=1000", "--config", "price_out=1000")
            stopped = ask_model(folder, server.url, "--budget-usd", 9, *priced, code=2)
            assert "without an answer" in stopped
            assert 0 < len(server.calls) < 6
            done = ask_model(folder, server.url, "--rounds", 0)
            assert "covered after 0 rounds" in done
            assert len(server.calls) == 6

    def test_a_budget_in_tokens_and_settings(self, folder: Path) -> None:
        with FakeServer(lambda _: values(Awe=3)) as server:
            more = (
                "--config",
                f"budget_tokens={9_000}",
                "--config",
                "max_tokens=333",
                "--config",
                "temperature=default",
            )
            assert "without an answer" in ask_model(folder, server.url, *more, code=2)
            assert server.calls[0].body["max_tokens"] == 333
            assert "temperature" not in server.calls[0].body

    def test_a_server_that_refuses_hints(self, folder: Path) -> None:
        state = {"ill": True}

        def script(call: Call) -> Answer:
            if state["ill"] and any(hinted(call, label) for label in ("Fear", "Shame")):
                return chat("I'm sorry, but I can't help with that.")
            return values(Awe=3, Fear=3, Shame=3)

        (folder / "plan.toml").write_text(
            PLAN.replace("initial = 6", "initial = 3").replace("decoys = 0.5", "decoys = 0.0")
        )
        with FakeServer(script) as server:
            state["ill"] = False
            ask_model(folder, server.url, "--rounds", 0)
            before = len(server.calls)
            assert before == 3
            state["ill"] = True
            stopped = ask_model(folder, server.url, code=2)
            assert "in round 1 that cannot be used" in stopped
            assert "given up" not in stopped
            assert "--config again=refused" in stopped
            asked = len(server.calls)
            assert ask_model(folder, server.url, code=2) == stopped
            assert len(server.calls) == asked
            state["ill"] = False
            done = ask_model(folder, server.url, "--config", "again=refused")
        assert "every label has its target" in done
        assert "given up" not in done

    def test_a_server_that_rejects(self, folder: Path) -> None:
        state = {"status": 403}

        def script(_: Call) -> Answer:
            if state["status"]:
                return error(state["status"], "not allowed")
            return values(Awe=3, Fear=3, Shame=3)

        with FakeServer(script) as server:
            for status in (403, 400):
                state["status"] = status
                stopped = ask_model(folder, server.url, code=2)
                assert "another run asks" in stopped or "without an answer" in stopped
            state["status"] = 0
            done = ask_model(folder, server.url)
        assert "every label has its target" in done


def hinted(call: Call, label: str) -> bool:
    """Whether a question hints at a label."""
    lines = [line for line in call.text.splitlines() if "hint" in line.casefold()]
    return any(label.casefold() in line.casefold() for line in lines)
