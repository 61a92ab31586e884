"""Plans: the paper's numbers, files of users, and what is wrong with them in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from affectlab.core.errors import InputError
from affectlab.stimuli.curation import CurationPlan, load_curation_plan
from affectlab.stimuli.curation.plan import STEPS


def test_defaults_are_the_papers() -> None:
    plan = load_curation_plan()
    assert plan.steps == STEPS
    assert len(STEPS) == 13
    assert plan.big_groups.least == 10_000
    assert plan.adult_groups.share == 0.10
    assert (plan.length.least, plan.length.most) == (3, 30)
    assert plan.sentiment.model_dump() == {
        "neutral_most": 0.30,
        "positive_least": 0.20,
        "negative_least": 0.20,
        "ambiguous_least": 0.20,
    }
    caps = (plan.length_balance, plan.emotion_balance, plan.group_balance)
    assert {one.cap for one in caps} == {"median"}
    assert plan.mask
    assert plan.texts.languages == ("en",)


def test_file_of_a_user(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        'sources = ["a.csv", "s3://bucket/b.zst"]\nsteps = ["length", "sample"]\n'
        '[columns]\ntext = "said"\n[length]\nmost = 12\n[group_balance]\ncap = 5\n'
        '[texts]\nlanguage = "none"\n'
    )
    plan = load_curation_plan(path)
    assert plan.sources == (str(tmp_path / "a.csv"), "s3://bucket/b.zst")
    assert plan.steps == ("length", "sample")
    assert (plan.length.least, plan.length.most) == (3, 12)
    assert plan.group_balance.cap == 5
    assert plan.columns.columns().text == "said"
    assert type(plan) is CurationPlan


def test_word_lists_beside_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plans" / "lists").mkdir(parents=True)
    (tmp_path / "plans" / "lists" / "offensive.txt").write_text("splork\n")
    (tmp_path / "plans" / "plan.toml").write_text('[texts]\nwords = "lists"\n')
    monkeypatch.chdir(tmp_path)
    plan = load_curation_plan("plans/plan.toml")
    assert plan.texts.words.offensive == ("splork",)
    assert plan.texts.words.vulgar == CurationPlan().texts.words.vulgar
    (tmp_path / "plans" / "other.toml").write_text('[texts]\nwords = "none"\n')
    with pytest.raises(InputError, match=r"other\.toml: texts\.words"):
        load_curation_plan("plans/other.toml")


def test_taxonomy_and_models_beside_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plans" / "english").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    def placed(names: str, taxonomy: str = "t.toml") -> tuple[str, object]:
        text = f'taxonomy = "{taxonomy}"\n[texts]\nnames = "{names}"\n'
        (tmp_path / "plans" / "plan.toml").write_text(text)
        plan = load_curation_plan("plans/plan.toml")
        return plan.taxonomy, plan.texts.names

    assert placed("transformers:ner") == ("plans/t.toml", "transformers:plans/ner")
    assert placed("spacy:english") == ("plans/t.toml", "spacy:plans/english")
    assert placed("transformers:/ner", "own/t") == ("plans/own/t", "transformers:/ner")
    # Names are no paths.
    assert placed("spacy:en_core_web_sm", "ekman") == ("ekman", "spacy:en_core_web_sm")
    assert placed("gazetteer", "/t.toml") == ("/t.toml", "gazetteer")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[length]\nleast = 9\nmost = 4", "most = 4 is below least = 9"),
        ("[lenght]\nleast = 9", "key 'lenght' is not known here"),
        ("[big_groups]\nleast = 0", "big_groups.least = 0"),
        ("[group_balance]\ncap = 'mean'", "group_balance.cap"),
        ("[sentiment]\nneutral_most = 30", "sentiment.neutral_most = 30"),
        ("steps = ['length', 'length']", "'length' stands twice"),
        ("steps = []", "steps = "),
        ("[sample]\nsize = 0", "sample.size"),
        ("seed = 'x'", "seed = 'x'"),
    ],
)
def test_what_is_wrong_in_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_curation_plan(path)
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_plans_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        CurationPlan().seed = 3  # type: ignore[misc]
