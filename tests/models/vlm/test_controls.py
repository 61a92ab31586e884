"""Control runs: another picture, none, a wrong hint, the same again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.evaluation import control_checks, outcome_table
from affectlab.models.images import find_images
from affectlab.models.images.files import ImageFile
from affectlab.models.vlm import AskSettings, Retrying, VlmAnnotator, VlmRater, rate_vlm
from affectlab.models.vlm.prompts import image_part
from affectlab.models.vlm.questions import check_controls, decoy_hints, derangement

from .fake_server import Answer, Call, FakeServer, chat, error, in_turn, values


class _File(ImageFile):
    """A picture whose content is a name."""

    @property
    def sha256(self) -> str:
        return str(self.path)


@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=20).filter(
        lambda contents: len(set(contents)) > 1
    ),
    st.integers(0, 1000),
)
def test_nobody_is_shown_the_own_content(contents: list[str], seed: int) -> None:
    files = [_File(f"s{k}", Path(content)) for k, content in enumerate(contents)]
    shown = derangement(files, seed)
    assert set(shown) == {file.stimulus for file in files}
    assert all(shown[file.stimulus].sha256 != file.sha256 for file in files)
    # Every content is shown, and equal contents are shown the same.
    assert {file.sha256 for file in shown.values()} == set(contents)
    assert {k: v.sha256 for k, v in derangement(files[::-1], seed).items()} == {
        k: v.sha256 for k, v in shown.items()
    }


def test_seeds_draw_different_pictures() -> None:
    files = [_File(f"s{k}", Path(f"c{k}")) for k in range(12)]
    drawn = {tuple(derangement(files, seed)[f.stimulus].sha256 for f in files) for seed in range(9)}
    assert len(drawn) > 5
    with pytest.raises(InputError, match="two different images"):
        derangement([_File("a", Path("x")), _File("b", Path("x"))], 0)


@given(st.integers(0, 500), st.sampled_from(["Joy", "Fear", "Anger"]))
def test_decoys_are_never_the_target(seed: int, target: str) -> None:
    labels = ["Joy", "Fear", "Anger"]
    drawn = decoy_hints(["a", "b"], labels, {"a": target.upper()}, seed)
    assert drawn["a"] in set(labels) - {target}
    assert drawn["b"] in labels
    assert decoy_hints(["a"], labels, {"a": target}, seed)["a"] == drawn["a"]


def test_decoys_need_another_label() -> None:
    with pytest.raises(InputError, match="two labels"):
        decoy_hints(["a"], ["Joy"], None, 0)
    assert check_controls(["no_image", "no_image"]) == ("no_image",)


def test_control_runs_are_what_evaluation_reads(faces: Path, tmp_path: Path) -> None:
    """A model that looks, but follows every hint."""
    files = find_images(faces)
    sent = {image_part(file.path).data: file.stimulus for file in files}

    def script(call: Call) -> Answer:
        rated = {"Amusement": 1}
        if call.images:
            name = sent[call.images[-1]]
            rated = (
                {"Amusement": 6} if name == "amusement" else {"Anger": 5 if name == "anger" else 0}
            )
            rated |= {"Amusement": rated.get("Amusement", 0)}
        if "Hint: " in call.text:
            hinted = call.text.split("might show ")[1].split(".")[0]
            rated[hinted] = 4
        return values(**rated)

    targets = {"amusement": "Amusement", "anger": "Anger"}
    with FakeServer(script) as server:
        run = rate_vlm(
            files,
            "openai-api/fake/m",
            ledger=tmp_path,
            settings=AskSettings(base_url=server.url),
            control=("no_image", "wrong_image", "decoy_hint"),
            targets=targets,
            seed=3,
        )
        assert len(server.calls) == 24
    main = "openai-api/fake/m zero-shot"
    assert run.ratings.rater_names == (
        main,
        f"{main} no_image",
        f"{main} wrong_image",
        f"{main} decoy_hint",
    )
    assert run.ratings.raters["control"].to_list() == [
        None,
        *("no_image", "wrong_image"),
        "decoy_hint",
    ]
    assert run.ratings.raters["of"].to_list() == [None, main, main, main]
    frame = run.to_frame()
    decoys = dict(frame.filter(control="decoy_hint").select("stimulus", "hint").iter_rows())
    assert all(decoys[name] != target for name, target in targets.items())
    assert frame.filter(control="none")["hint"].null_count() == 6
    blind = [call for call in server.calls if not call.images]
    assert len(blind) == 6
    checks = control_checks(run.ratings, n_boot=0)
    accepted = checks.hints[main, f"{main} decoy_hint", "accepted"]
    assert (accepted.value, accepted.n_items) == (1.0, 6)
    assert checks.runs[main, f"{main} wrong_image", "answers", "same"].n_items == 6
    # Another face was shown than the one the answer is filed under.
    wrong = {
        entry.question.stimulus: entry.question
        for entry in run.entries
        if entry.question.control == "wrong_image"
    }
    assert all(q.file is not None and q.file.files[0].stimulus != name for name, q in wrong.items())
    read = _again(run.ratings, tmp_path)
    assert control_checks(read, n_boot=0).sentences == checks.sentences


def _again(ratings, folder: Path):
    from affectlab.ratings import read_ratings

    path = folder / "r.parquet"
    ratings.write(path)
    return read_ratings(path)


@pytest.mark.long
def test_models_that_were_retried_and_hinted_go_into_one_table(faces: Path, tmp_path: Path) -> None:
    """What belongs to an answer is no attribute of its stimulus, of which two would disagree."""
    tables = []
    everything = dict.fromkeys(("Awe", "Fear", "Anger"), 1)
    for name, failures in (("a", 1), ("b", 2)):
        script = in_turn(*[error(500)] * failures, values(**everything))
        with FakeServer(script) as server:
            run = rate_vlm(
                faces,
                f"openai-api/fake/{name}",
                ledger=tmp_path / name,
                settings=AskSettings(base_url=server.url),
                retrying=Retrying(first_wait=0.01),
                hints=dict.fromkeys(("awe", "fear"), "Anger" if name == "a" else "Fear"),
            )
        tables.append(run.ratings)
    both = tables[0].merge(tables[1])
    assert both.n_raters == 2
    retries = outcome_table(_again(both, tmp_path)).usable.to_frame()["retries"].to_list()
    assert retries == [6, 12]


@pytest.mark.long
def test_repeats_are_trials_of_their_own(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: values(Amusement=call.number % 3)) as server:
        run = rate_vlm(
            faces,
            "openai-api/fake/m",
            ledger=tmp_path,
            settings=AskSettings(base_url=server.url),
            control="repeat",
        )
        assert len(server.calls) == 12
    frame = run.ratings.frame
    assert frame["trial_kind"].to_list().count("repeat") == 6
    assert run.ratings.answers().n_ratings == 6


@pytest.mark.long
def test_the_order_of_labels_is_drawn_for_each_picture(faces: Path, tmp_path: Path) -> None:
    def orders(folder: Path, **options) -> dict[bytes, str]:
        with FakeServer(lambda call: values(Amusement=1)) as server:
            rate_vlm(
                faces,
                "openai-api/fake/m",
                ledger=folder,
                settings=AskSettings(base_url=server.url),
                **options,
            )
            return {call.images[0]: call.text for call in server.calls}

    plain = orders(tmp_path / "plain", shuffle=None)
    assert len(set(orders(tmp_path / "default").values())) == 6
    first = orders(tmp_path / "first", shuffle=1)
    assert len(set(plain.values())) == 1
    assert len(set(first.values())) == 6
    # The number of the question, and who asks, change nothing.
    assert orders(tmp_path / "again", shuffle=1, concurrency=1) == first
    assert orders(tmp_path / "other", shuffle=2) != first


def test_an_annotator_answers_with_values_or_outcomes(faces: Path, tmp_path: Path) -> None:
    def script(call: Call) -> Answer:
        if "might show Fear" in call.text:
            return values(Fear=4, Awe=0)
        return chat(None, refusal="no") if "might show Awe" in call.text else values(Awe=1)

    files = find_images(faces)[:3]
    with FakeServer(script) as server:
        rater = VlmRater(
            "openai-api/fake/m", ledger=tmp_path, settings=AskSettings(base_url=server.url)
        )
        annotator = VlmAnnotator(rater)
        answers = annotator(files, ["Fear", "Awe", ""])
        assert annotator([], []) == []
        # The same picture with another hint is another question.
        twice = annotator([files[0], files[0]], ["Awe", "Fear"])
    assert answers == [{"Awe": 0.0, "Fear": 4.0}, "refused", {"Awe": 1.0}]
    assert twice == ["refused", {"Awe": 0.0, "Fear": 4.0}]
    assert annotator.version == rater.plan(files).prompt.design
    with pytest.raises(InputError, match="1 hints for 3 images"):
        annotator(files, ["Fear"])


@pytest.mark.long
def test_the_hinted_loop_asks_a_model(tmp_path: Path) -> None:
    from affectlab.models.hinted import HintedPlan, annotate_until

    def script(call: Call) -> Answer:
        hinted = "might show Fear" in call.text
        return values(Fear=3) if hinted else values(Awe=2)

    plan = HintedPlan(labels=["Awe", "Fear"], target=4, initial=4, decoys=0)
    with FakeServer(script) as server:
        rater = VlmRater(
            "openai-api/fake/m",
            ledger=tmp_path / "ledger",
            at_most=5,
            settings=AskSettings(base_url=server.url),
        )
        run = annotate_until(
            plan, "drawn", VlmAnnotator(rater), tmp_path / "loop", settings={"size": 64}
        )
    rows = run.to_frame().select("label", "n", "n_hinted", "status").rows()
    assert rows == [("Awe", 4, 0, "met"), ("Fear", 8, 8, "met")]
    assert len(server.calls) == 12


def test_a_question_about_each_label(faces: Path, tmp_path: Path) -> None:
    """A protocol that asks about one label at a time asks one question for each."""
    from affectlab.protocols import load_protocol

    protocol = load_protocol("verification").revise(asks={"taxonomy": "ekman"})

    def script(call: Call) -> Answer:
        return chat('{"answer": "yes"}' if "annoyance" in call.text else '{"answer": "no"}')

    with FakeServer(script) as server:
        run = rate_vlm(
            [faces / "anger.png"],
            "openai-api/fake/m",
            protocol,
            ledger=tmp_path,
            settings=AskSettings(base_url=server.url),
        )
        assert len(server.calls) == len(protocol.labels())
    ratings = run.ratings
    assert set(ratings.label_names) == set(protocol.labels())
    assert ratings.select(labels="anger").value.tolist() == [1.0]
    assert ratings.select(labels="fear").value.tolist() == [0.0]


def test_examples_are_not_rated(faces: Path, tmp_path: Path) -> None:
    from affectlab.models.vlm.prompts import Example, Stimulus

    shown = Example({"Awe": 5}, Stimulus(images=(image_part(faces / "awe.png"),)))
    with FakeServer(lambda call: values(Amusement=1)) as server:
        options = {
            "ledger": tmp_path,
            "settings": AskSettings(base_url=server.url),
            "style": "multi-shot",
            "examples": (shown,),
        }
        run = rate_vlm(faces, "openai-api/fake/m", **options)
        assert len(server.calls) == 5
        assert all(len(call.images) == 2 for call in server.calls)
        with pytest.raises(InputError, match="one of the examples"):
            rate_vlm(faces / "awe.png", "openai-api/fake/m", **options)
    assert "awe" not in run.ratings.stimulus_names
    assert any("shown as an example" in one for one in run.sentences)
    assert run.rater == "openai-api/fake/m multi-shot"


def test_a_broken_picture(faces: Path, tmp_path: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    for file in faces.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    with FakeServer(lambda call: values(Amusement=1)) as server:
        options = {"ledger": tmp_path / "l", "settings": AskSettings(base_url=server.url)}
        with pytest.raises(InputError, match=r"broken\.png"):
            rate_vlm(folder, "openai-api/fake/m", **options)
        run = rate_vlm(folder, "openai-api/fake/m", on_bad="set_aside", **options)
        assert len(server.calls) == 6
    assert (run.n_usable, run.n_left) == (6, 1)
    assert any("1 question with a broken image" in one for one in run.sentences)


def test_a_plan_asks_nobody(faces: Path, tmp_path: Path) -> None:
    rater = VlmRater("openai-api/fake/m", ledger=tmp_path / "l", price_in=1.0, price_out=2.0)
    plan = rater.plan(faces, control="no_image")
    assert plan.n_questions == 12
    assert plan.stimulus == "amusement"
    assert len(plan.prompt.images) == 1
    assert plan.cost is not None
    assert plan.most_cost is not None
    assert 0 < plan.cost < plan.most_cost
    assert not (tmp_path / "l").exists()
