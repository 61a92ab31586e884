"""Who answered: a version of the model that was asked, or another one, which is another rater."""

from __future__ import annotations

from pathlib import Path

import pytest

from affectlab.core.errors import InputError
from affectlab.evaluation import outcome_table
from affectlab.models.images import find_images
from affectlab.models.vlm import AskSettings, Retrying, VlmAnnotator, VlmRater
from affectlab.models.vlm.asking import OtherModelWarning
from affectlab.models.vlm.asking.ledger import Record
from affectlab.models.vlm.asking.model_identity import is_version_of, other_models, unclear_said
from affectlab.models.vlm.run import VlmRun
from affectlab.ratings import read_ratings

from .fake_server import Answer, Call, FakeServer, chat, error

MODEL = "openai-api/fake/gpt-x"
NAME = f"{MODEL} zero-shot"


@pytest.mark.parametrize(
    ("model", "served"),
    [
        ("openai/gpt-4o-mini", "gpt-4o-mini"),
        ("openai/gpt-4o-mini", "GPT-4o-mini-2024-07-18"),
        ("openai/gpt-4", "gpt-4-0613"),
        ("openai/gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("anthropic/claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
        ("anthropic/vertex/claude-sonnet-4", "claude-sonnet-4@20250514"),
        ("google/gemini-1.5-pro", "gemini-1.5-pro-002"),
        ("google/gemini-1.5-pro", "models/gemini-1.5-pro-002"),
        ("google/gemini-2.5-flash-preview", "gemini-2.5-flash-preview-09-2025"),
        ("mistral/pixtral-large-latest", "pixtral-large-2411"),
        ("ollama/llava", "llava:latest"),
        ("openrouter/anthropic/claude-3.5-sonnet", "anthropic/claude-3.5-sonnet"),
        ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen2.5-VL-7B-Instruct"),
        ("openai-api/my-own/gpt-x", "gpt-x-2026-08-01"),
        ("anthropic/claude-sonnet-4-0", "claude-sonnet-4-20250514"),
        ("anthropic/vertex/claude-opus-4-0", "claude-opus-4@20250514"),
        ("google/gemini-flash-latest", "gemini-2.5-flash-preview-09-2025"),
        ("google/gemini-flash-lite-latest", "models/gemini-2.5-flash-lite"),
        ("openrouter/qwen/qwen2.5-vl-72b-instruct:free", "qwen/qwen2.5-vl-72b-instruct"),
        ("openrouter/openai/gpt-4o:nitro", "openai/gpt-4o-2024-08-06"),
    ],
)
def test_a_version_of_the_model_that_was_asked(model: str, served: str) -> None:
    assert is_version_of(served, model)


@pytest.mark.parametrize(
    ("model", "served"),
    [
        ("openai/gpt-4o", "gpt-4o-mini"),
        ("openai/gpt-4o", "gpt-4o-mini-2024-07-18"),
        ("openai/gpt-4o-mini", "gpt-4o"),
        ("openai/gpt-4", "gpt-4-32k"),
        ("openai/gpt-4", "gpt-4-turbo-2024-04-09"),
        ("openai/gpt-4", "gpt-4.1-2025-04-14"),
        ("openai/gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
        ("openai/gpt-4o-2024-05-13", "gpt-4o"),
        ("anthropic/claude-sonnet-4", "claude-sonnet-4-5-20250929"),
        ("anthropic/claude-sonnet-4", "claude-sonnet-4-5"),
        ("google/gemini-2.5-flash", "gemini-2.5-flash-lite"),
        ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", "acme/Qwen2.5-VL-7B-Instruct"),
        ("openai/azure/my-deployment", "gpt-4o-2024-08-06"),
        ("openai-api/fake/gpt-x", "fake/gpt-y"),
        ("anthropic/claude-sonnet-4-0", "claude-sonnet-4-5-20250929"),
        ("anthropic/claude-sonnet-4-0", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4-latest", "claude-sonnet-4-5-20250929"),
        ("google/gemini-flash-latest", "gemini-2.5-flash-lite-preview-09-2025"),
        ("google/gemini-flash-latest", "gemini-2.5-pro"),
        ("ollama/llava:latest", "llava:34b"),
        ("openrouter/openai/gpt-4o:free", "openai/gpt-4o-mini"),
        ("openai-api/fake/gpt-x:free", "gpt-x"),
    ],
)
def test_another_model_than_the_one_that_was_asked(model: str, served: str) -> None:
    assert not is_version_of(served, model)


def test_of_several_versions_the_first_is_the_rater_that_was_asked() -> None:
    def record(served: str, at: str) -> Record:
        return Record(served + at, "ok", served=served, at=at)

    old, new = record("gpt-x-2026-05-01", "2026-06"), record("gpt-x-2026-08-01", "2026-09")
    silent = record("", "2026-01")
    stranger = record("gpt-y", "2026-01")
    assert other_models(MODEL, [new, silent]) == ()
    assert other_models(MODEL, [new, silent, old]) == ("gpt-x-2026-08-01",)
    assert other_models(MODEL, [stranger, new, old]) == ("gpt-x-2026-08-01", "gpt-y")
    assert other_models(MODEL, [stranger]) == ("gpt-y",)


def test_whose_version_the_ledger_saw_first_is_not_seen_in_one_batch() -> None:
    old = Record("a", "ok", served="gpt-x-2026-05-01", at="2026-06")
    new = Record("b", "ok", served="gpt-x-2026-08-01", at="2026-09")
    assert other_models(MODEL, [new], [old, new]) == ("gpt-x-2026-08-01",)
    assert other_models(MODEL, [old], [old, new]) == ()


def test_of_a_deployment_it_cannot_be_told_which_model_it_is() -> None:
    model = "openai/azure/my-deployment"
    first = Record("a", "ok", served="gpt-4o-2024-08-06", at="2026-06")
    later = Record("b", "ok", served="gpt-4o-mini", at="2026-07")
    assert other_models(model, [first]) == ()
    assert unclear_said(model, [first, first]) == [
        "openai/azure/my-deployment is the name of a deployment, from which it cannot be told "
        "which model it is; gpt-4o-2024-08-06 answered, as 'served' says of each rater"
    ]
    # One that changes under its name is another model all the same.
    assert other_models(model, [later], [first, later]) == ("gpt-4o-mini",)
    assert unclear_said("openai/azure/gpt-4o", [first]) == []
    assert unclear_said("openai/gpt-4o", [later]) == []


def rater(server: FakeServer, ledger: Path, **more: object) -> VlmRater:
    settings = AskSettings(base_url=server.url, timeout=60)
    options = {"concurrency": 1, "retrying": Retrying(tries=1), **more}
    return VlmRater(MODEL, ledger=ledger, settings=settings, **options)  # type: ignore[arg-type]


def switched(call: Call) -> Answer:
    """Two answers of the model, one that names nobody, and a smaller model from then on."""
    if call.number == 2:
        return error(400, "a moderated picture")
    if call.number < 2:
        return chat('{"Awe": 1}', model="gpt-x-2026-08-01")
    return chat('{"Awe": 7}', model="gpt-x-mini")


def values(run: VlmRun) -> dict[str, list[float]]:
    frame = run.ratings.to_frame().drop_nulls("value")
    return {name: frame.filter(rater=name)["value"].to_list() for name in run.ratings.rater_names}


def test_answers_of_another_model_belong_to_another_rater(faces: Path, tmp_path: Path) -> None:
    other = f"{NAME} (answered by gpt-x-mini)"
    with FakeServer(switched) as server:
        with pytest.warns(OtherModelWarning) as said:
            run = rater(server, tmp_path).rate(faces, control="no_image")
        assert len(said) == 1
        with pytest.warns(OtherModelWarning):
            kept = rater(server, tmp_path).rate(faces, control="no_image")
        assert len(server.calls) == 12
    assert str(said[0].message) == (
        f"{MODEL} was asked, and 9 answers came from gpt-x-mini: they belong to another rater, "
        f"'{other}'"
    )
    assert str(said[0].message) in run.sentences
    assert kept.ratings.equals(run.ratings)
    assert values(run)[NAME] == [1.0, 1.0]
    assert values(run)[other] == [7.0] * 3
    about = {row["rater"]: row for row in run.ratings.raters.to_dicts()}
    assert about[NAME]["served"] == "gpt-x-2026-08-01"
    assert (about[other]["served"], about[other]["model"]) == ("gpt-x-mini", MODEL)
    # A run without the picture controls the rater that gave its answers.
    control = f"{NAME} no_image (answered by gpt-x-mini)"
    assert (about[control]["control"], about[control]["of"]) == ("no_image", other)
    counts = outcome_table(run.ratings).to_frame("usable")
    rows = {row["rater"]: (row["ok"], row["rejected"]) for row in counts.iter_rows(named=True)}
    assert rows == {NAME: (2, 1), other: (3, 0), control: (6, 0)}
    assert set(run.to_frame()["rater"]) == set(rows)


def test_an_alias_that_is_resolved_is_the_model_until_it_changes(
    faces: Path, tmp_path: Path
) -> None:
    dated = ["gpt-x-2026-05-01"]
    with FakeServer(lambda call: chat('{"Awe": 3}', model=dated[0])) as server:
        few = find_images(faces)[:4]
        first = rater(server, tmp_path).rate(few)
        assert first.ratings.rater_names == (NAME,)
        assert first.ratings.raters["served"].to_list() == dated
        dated[0] = "gpt-x-2026-08-01"
        with pytest.warns(OtherModelWarning, match="2 answers came from another version"):
            run = rater(server, tmp_path).rate(faces)
        # Nor is it the model in a run that is about the later pictures alone.
        with pytest.warns(OtherModelWarning, match="2 answers came from another version"):
            later = rater(server, tmp_path).rate(find_images(faces)[4:])
        assert len(server.calls) == 6
    other = f"{NAME} (answered by gpt-x-2026-08-01)"
    counted = {name: len(many) for name, many in values(run).items()}
    assert counted == {NAME: 4, other: 2}
    assert later.ratings.rater_names == (other,)


def test_a_folder_that_another_model_has_filled_goes_on(faces: Path, tmp_path: Path) -> None:
    from tests.cli.command import run_here

    with FakeServer(lambda call: chat('{"Awe": 3}', model="gpt-y")) as server:
        asked = ("rate", MODEL, faces, "--base-url", server.url)
        for _ in range(2):
            done = run_here(*asked, "--out", tmp_path / "ratings.parquet")
            assert " ".join(done.stderr.split()).count("6 answers came from gpt-y") == 1
        other = ("--out", tmp_path / "ratings.parquet", "--config", "rater=mine")
        refused = run_here(*asked, *other, code=2)
    assert len(server.calls) == 6
    assert "expected another folder for 'mine'" in " ".join(refused.stderr.split())
    found = read_ratings(tmp_path / "ratings.parquet")
    assert found.rater_names == (f"{NAME} (answered by gpt-y)",)


def test_an_annotator_stays_one_model(faces: Path, tmp_path: Path) -> None:
    with FakeServer(switched) as server:
        annotator = VlmAnnotator(rater(server, tmp_path))
        with (
            pytest.warns(OtherModelWarning),
            pytest.raises(InputError, match=r"gpt-x-mini: .*expected one model for all rounds"),
        ):
            annotator(find_images(faces), [""] * 6)
        assert len(server.calls) == 6


def test_an_annotator_stays_one_version_from_batch_to_batch(faces: Path, tmp_path: Path) -> None:
    def script(call: Call) -> Answer:
        dated = "2026-05-01" if call.number < 3 else "2026-08-01"
        return chat('{"Awe": 1}', model=f"gpt-x-{dated}")

    files = find_images(faces)
    with FakeServer(script) as server:
        annotator = VlmAnnotator(rater(server, tmp_path))
        assert annotator(files[:3], [""] * 3) == [{"Awe": 1.0}] * 3
        with (
            pytest.warns(OtherModelWarning),
            pytest.raises(InputError, match=r"gpt-x-2026-08-01: .*one model for all rounds"),
        ):
            annotator(files[3:], [""] * 3)


def test_reactions_of_another_model_belong_to_another_rater(tmp_path: Path) -> None:
    from affectlab.models.reactions import rate_reactions_vlm
    from affectlab.models.reactions.items import ReactionItem

    items = [ReactionItem(f"p{k}", f"Storm {k}", "awe") for k in range(4)]
    with (
        FakeServer(
            lambda call: chat("It is loud.", model="gpt-y" if call.number else None)
        ) as server,
        pytest.warns(OtherModelWarning, match="3 answers came from gpt-y"),
    ):
        run = rate_reactions_vlm(
            items,
            MODEL,
            ledger=tmp_path,
            text_only=True,
            concurrency=1,
            settings=AskSettings(base_url=server.url),
        )
    counts = dict(run.ratings.to_frame()["rater"].value_counts().iter_rows())
    name = f"{MODEL} text-only"
    assert counts == {name: 1, f"{name} (answered by gpt-y)": 3}
    assert dict(run.ratings.raters.select("rater", "served").iter_rows()) == {
        name: "gpt-x",
        f"{name} (answered by gpt-y)": "gpt-y",
    }
