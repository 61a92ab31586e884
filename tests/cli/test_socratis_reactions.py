"""``affectlab socratis reactions``: tiny checkpoints, and a server on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.command import run_here
from tests.models.reactions.tiny import save_blip2, save_pairs, save_t5
from tests.models.vlm.conftest import only_here  # noqa: F401
from tests.models.vlm.fake_server import FakeServer, chat

from affectlab.models.reactions import ReactionGenerator
from affectlab.models.reactions.items import ReactionItem
from affectlab.models.reactions.prompt import reaction_prompt
from affectlab.ratings import read_ratings

pytestmark = pytest.mark.usefixtures("only_here")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BLIP-2, a T5, five pairs with their images, and what people said of them."""
    folder = tmp_path_factory.mktemp("reactions")
    save_blip2(folder / "tiny-blip2")
    save_t5(folder / "tiny-t5")
    items = save_pairs(folder / "images")
    rows = [
        f'{one.stimulus},images/{one.image.name},"{one.caption}",{one.emotion}'
        for one in items
        if one.image is not None
    ]
    (folder / "pairs.csv").write_text("\n".join(["stimulus,image,caption,emotion", *rows, ""]))
    said = [
        f'{one.stimulus},person {k},human,{one.emotion},"People feel it because of {k}."'
        for k, one in enumerate(items)
    ]
    (folder / "people.csv").write_text(
        "\n".join(["stimulus,rater,rater_kind,emotion,reaction", *said, ""])
    )
    return folder


@pytest.fixture(scope="module")
def items(place: Path) -> list[ReactionItem]:
    """The pairs as the table has them."""
    return save_pairs(place / "images")


def rate(place: Path, *more: object, code: int = 0):
    return run_here("socratis", "reactions", place / "pairs.csv", *more, code=code)


def test_reactions_become_ratings(place: Path, items: list[ReactionItem], tmp_path: Path) -> None:
    to = tmp_path / "machine.csv"
    done = rate(place, "--model", place / "tiny-blip2", "--out", to)
    assert "tiny-blip2 greedy wrote 9 reactions to 5 pairs" in done.stdout
    assert "cut at 19 tokens" in done.stderr.replace("\n", " ")
    ratings = read_ratings(to)
    assert ratings.rater_kinds == ("model",)
    known = ReactionGenerator(str(place / "tiny-blip2")).rate(items)
    assert ratings.to_frame()["text"].to_list() == known.to_frame()["text"].to_list()
    # As the table of pairs names them, so that both can stand beside the same folder.
    assert ratings.stimuli["image"].str.starts_with("images/pair").all()
    ledger = to.with_name("machine.ledger.jsonl")
    before = ledger.read_bytes()
    told = json.loads(rate(place, "--model", place / "tiny-blip2", "--out", to, "--json").stdout)
    assert ledger.read_bytes() == before
    assert told["schema"] == "affectlab/socratis-reactions/1"
    assert told["result"]["n_reactions"] == 9
    assert told["result"]["n_cut"] == int((~ratings.to_frame()["ended"]).sum())


def test_sampling_text_only_and_examples(place: Path, tmp_path: Path) -> None:
    to = tmp_path / "sampled.parquet"
    done = rate(
        place,
        *(
            "--model",
            place / "tiny-t5",
            "--text-only",
            "--temperature",
            0.9,
            "--config",
            "top_p=0.8",
        ),
        *("--config", "n=2", "--seed", 4, "--config", "max_tokens=7", "--out", to),
        *("--examples", place / "people.csv", "--config", "shots=2", "--limit", 3),
    )
    assert "wrote 6 reactions to 2 pairs" in done.stdout
    ratings = read_ratings(to)
    told = ratings.raters.row(0, named=True)
    assert told["decoding"] == "sampled, temperature 0.9, top_p 0.8, n 2, seed 4"
    assert told["examples"].startswith("2 of 9 reactions of people to other pairs, seed 4")
    assert told["reads"] == "text"
    assert ratings.to_frame()["n_tokens"].max() == 7


def test_likelihoods_of_people_and_of_machines(
    place: Path, items: list[ReactionItem], tmp_path: Path
) -> None:
    model = ("--model", place / "tiny-blip2")
    to = tmp_path / "people.csv"
    done = rate(place, *model, "--likelihood", place / "people.csv", "--out", to)
    assert "likelihoods of 9 reactions" in done.stdout
    found = pl.read_csv(to)
    texts = [f"People feel it because of {k}." for k in range(9)]
    known = ReactionGenerator(str(place / "tiny-blip2")).log_likelihood(items, texts)
    np.testing.assert_allclose(found["log_likelihood"], known.total, atol=1e-3)
    np.testing.assert_allclose(found["mean_log_likelihood"], known.mean, atol=1e-3)
    assert found["rater"].to_list() == [f"person {k}" for k in range(9)]
    machine = tmp_path / "machine.csv"
    rate(place, *model, "--out", machine)
    rate(place, *model, "--likelihood", machine, "--out", tmp_path / "likely.csv")
    both = pl.read_csv(tmp_path / "likely.csv")
    assert set(both["rater"]) == {"tiny-blip2 greedy"}
    assert both["model_hash"].to_list() == found["model_hash"].to_list()[: len(both)]


def test_a_vision_language_model(place: Path, items: list[ReactionItem], tmp_path: Path) -> None:
    to = tmp_path / "vlm.csv"
    with FakeServer(lambda call: chat("Because of it.")) as server:
        options = ("--vlm", "openai-api/fake/m", "--base-url", server.url, "--out", to)
        planned = rate(
            place, *options, "--config", "price_in=2", "--config", "price_out=8", "--dry-run"
        )
        assert not server.calls
        assert not to.exists()
        assert "9 questions to openai-api/fake/m" in planned.stdout
        assert "cost: about $" in planned.stdout
        assert "Why does a person feel sad after seeing this image" in planned.stdout
        stopped = rate(
            place, *options, "--config", "budget_requests=4", "--config", "concurrency=1", code=1
        )
        assert "stopped" in stopped.stderr
        told = json.loads(rate(place, *options, "--dry-run", "--json").stdout)["result"]
        assert (told["n_questions"], told["n_kept"], told["cost"]) == (9, 4, None)
        done = rate(place, *options, "--config", "price_in=2", "--config", "price_out=8")
        assert len(server.calls) == 9
        assert {call.text for call in server.calls} == {reaction_prompt(one) for one in items}
        assert {call.body["max_tokens"] for call in server.calls} == {100}
    assert "9 ok" in done.stdout
    assert "cost: $0.0252" in done.stdout
    frame = read_ratings(to).to_frame()
    assert frame["text"].to_list() == ["Because of it."] * 9


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "expected either --model or --vlm"),
        (("--model", "a", "--vlm", "b/c"), "expected either --model or --vlm"),
        (("--vlm", "b/c", "--likelihood", "x.csv"), "--likelihood needs the probabilities"),
        (("--model", "T5", "--dry-run"), "expected --vlm beside it"),
        (("--model", "./none"), "no such folder"),
        (("--model", "T5", "--text-only", "--config", "emotion=feeling"), "'feeling'"),
        (("--model", "T5", "--text-only", "--config", "n=2"), "n 2 with temperature 0"),
        (("--model", "T5"), "reads no images; expected BLIP-2"),
        (("--model", "T5", "--text-only", "--config", "device=abacus"), "'abacus'"),
        (("--model", "T5", "--text-only", "--examples", "none.csv"), "there is no such file"),
        (
            ("--model", "T5", "--text-only", "--examples", "PEOPLE", "--config", "shots=5"),
            "there are reactions to 4 other pairs",
        ),
    ],
)
def test_bad_options(place: Path, tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    names = {"T5": place / "tiny-t5", "PEOPLE": place / "people.csv"}
    given = [names.get(one, one) for one in options]
    done = rate(place, *given, "--out", tmp_path / "x.csv", code=2)
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.csv").exists()


def test_bad_files(place: Path, tmp_path: Path) -> None:
    model = ("--model", place / "tiny-blip2")
    table = tmp_path / "pairs.csv"
    for image, content, said in (
        ("gone.png", b"", "stimulus 'a': "),
        ("bad.png", b"no image", "cannot be read as an image"),
    ):
        if content:
            (tmp_path / image).write_bytes(content)
        table.write_text(f"stimulus,image,caption,emotion\na,{image},Storm,sad\n")
        done = run_here("socratis", "reactions", table, *model, "--out", tmp_path / "x.csv", code=2)
        assert said in " ".join(done.stderr.split())
        assert image in done.stderr
    table.write_text("stimulus,image,caption,emotion\na,../secret.png,Storm,sad\n")
    for asked in (model, ("--vlm", "openai/gpt-4o-mini")):
        done = run_here("socratis", "reactions", table, *asked, "--out", tmp_path / "x.csv", code=2)
        assert "row 1: image '../secret.png' lies outside" in " ".join(done.stderr.split())
    likely = tmp_path / "said.csv"
    likely.write_text("stimulus,emotion,reaction\nother,sad,why\n")
    done = rate(place, *model, "--likelihood", likely, "--out", tmp_path / "y.csv", code=2)
    assert "'other' is not among the pairs" in " ".join(done.stderr.split())
    done = rate(place, *model, "--out", tmp_path / "y.txt", code=2)
    assert "y.txt" in done.stderr
