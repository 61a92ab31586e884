"""Protocols: what the built-in ones hold, the wordings, and files of users."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from affectlab.core.errors import InputError
from affectlab.protocols import Protocol, ScaleSpec, list_protocols, load_protocol
from affectlab.protocols.parts import Routing
from affectlab.ratings import Scale
from affectlab.taxonomy import Taxonomy, load_taxonomy

BUILTIN = (
    "difference",
    "intensity",
    "jspsych",
    "multilabel",
    "preference",
    "preference_errors",
    "reaction",
    "review",
    "review_comments",
    "review_emotions",
    "staircase",
    "verification",
)
ONE = 'name = "one"\nstimulus = "text"\nquestion = "Good?"\nanswer = "value"\nscale = "1-5"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", BUILTIN)
def test_each_is_complete(name: str) -> None:
    protocol = load_protocol(name)
    assert name in list_protocols()
    assert protocol.name == name
    assert protocol.title
    assert protocol.source
    assert len(protocol.instructions) > 100
    assert all("{" not in question.text for question in protocol.questions())
    assert load_protocol(name) is protocol
    assert load_protocol(protocol) is protocol
    copy = pickle.loads(pickle.dumps(protocol))
    assert copy == protocol
    assert copy.questions() == protocol.questions()


def test_intensity_asks_forty_labels_in_display_groups() -> None:
    protocol = load_protocol("intensity")
    assert protocol.labels() == load_taxonomy("emonet_face").labels
    questions = protocol.questions()
    assert questions[0].text == "How strongly does this face show Amusement?"
    assert questions[0].groups == ("Positive High-Energy Emotions",)
    assert questions[0].definition
    assert (protocol.scale.low, protocol.scale.high, protocol.scale.step) == (0, 7, 1)
    assert protocol.not_rated
    assert protocol.input.widget == "radio"
    assert protocol.input.alternatives == ("slider",)


def test_verification_shows_words_only() -> None:
    protocol = load_protocol("verification")
    questions = {question.label: question.text for question in protocol.questions()}
    assert questions["Awe"] == "Does this face show any of these: awe, awestruck, wonder?"
    assert protocol.asks.show == ("words",)
    assert protocol.routing.confirmations == 3
    assert protocol.routing.contrastive


def test_multilabel_table_has_two_ways() -> None:
    questions = {question.label: question for question in load_protocol("multilabel").questions()}
    assert len(questions) == 28
    assert questions["disapproval"].groups == ("negative", "towards something")
    assert questions["joy"].groups == ("positive", "intrinsic")
    assert questions["joy"].emoji


def test_difference_and_staircase_hold_the_published_numbers() -> None:
    difference = load_protocol("difference")
    assert difference.routing.raters == 32
    assert (difference.checks.golden, difference.checks.repeats) == (5, 5)
    assert (difference.checks.reject_golden, difference.checks.reject_total) == (3, 4)
    assert difference.checks.repeat_tolerance == 25
    assert difference.input.must_touch
    assert difference.input.start == 0
    assert difference.anchors is not None
    assert difference.anchors[0] == "Identical"
    staircase = load_protocol("staircase").staircase
    assert staircase is not None
    assert (staircase.trials, staircase.threshold) == (50, 0.75)
    assert staircase.anchors == ("peak", "neutral")


def test_other_taxonomies_and_levels() -> None:
    protocol = load_protocol("intensity")
    assert protocol.questions("ekman")[3].text.endswith("show joy?")
    assert protocol.questions("ekman")[3].groups == ()
    own = Taxonomy.from_labels(["calm", "tense"])
    assert protocol.labels(own) == ("calm", "tense")
    sentiment = load_protocol("multilabel").revise(
        asks={"level": "sentiment", "group_by": []}, rules={"exclusive": ["unclear", "neutral"]}
    )
    assert sentiment.labels() == ("positive", "negative", "ambiguous", "neutral")
    assert sentiment.check(["positive", "neutral"]) == [
        "'neutral' allows no other choice beside it"
    ]
    assert sentiment.rules.options == ("unclear",)
    few = protocol.revise(asks={"labels": ["hope", "Awe"]})
    assert few.labels() == ("Hope/Enthusiasm/Optimism", "Awe")


def test_revision_that_does_not_hold_together() -> None:
    protocol = load_protocol("preference")
    assert protocol.revise(scale="nominal:A,B,indistinct").check("indistinct") == []
    with pytest.raises(InputError, match=r"preference, revised: scale: .*expected 'binary'"):
        protocol.revise(scale="0 bis 7")
    with pytest.raises(InputError, match="unknown taxonomy 'ekmann'"):
        load_protocol("intensity").revise(asks={"taxonomy": "ekmann"})
    with pytest.raises(InputError, match="unknown level 'display'"):
        load_protocol("intensity").revise(asks={"taxonomy": "ekman"})


def test_user_file(tmp_path: Path) -> None:
    protocol = load_protocol(write(tmp_path, ONE))
    assert protocol.check(3) == []
    assert len(protocol.questions()) == 1


def test_user_file_with_own_labels(tmp_path: Path) -> None:
    text = ONE.replace('"value"', '"ratings"').replace("Good?", "Is it {label}, this {stimulus}?")
    protocol = load_protocol(write(tmp_path, text + '[asks]\nlabels = ["odd", "even"]\n'))
    assert [question.text for question in protocol.questions()] == [
        "Is it odd, this text?",
        "Is it even, this text?",
    ]
    assert protocol.check({"Odd": 1, "even": 5}) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ONE.replace("1-5", "5-1"), "scale = '5-1': .*low end below its high end"),
        (ONE.replace("1-5", "1-5 step 3"), "does not divide the scale evenly"),
        (ONE.replace("1-5", "many"), "scale = 'many': expected 'binary'"),
        (ONE.replace("1-5", "nominal:yes"), "two or more different categories"),
        (ONE.replace("1-5", "nominal:yes,"), "a category is empty, holds a comma"),
        (ONE.replace("1-5", "text"), "need a scale of values, not text"),
        (ONE.replace("Good?", "{lable}?"), "place {lable} is not known; expected one of: {label}"),
        (ONE.replace("Good?", "{label.__class__}"), "place {label.__class__} is not known"),
        (ONE.replace("Good?", "{label!r}"), "place {label} is not known"),
        (ONE.replace("Good?", "half {"), "not a wording"),
        (ONE.replace('"value"', '"ratings"'), "need labels"),
        (ONE.replace('"value"', '"entries"'), "fields belong to answers of kind 'entries'"),
        (ONE.replace('"text"', '"smell"'), "stimulus = 'smell'"),
        (ONE.replace('"one"', '"a b"'), "name = 'a b'"),
        (ONE + "colour = 1\n", "key 'colour' is not known"),
        (ONE + "not_rated = true\n", "not_rated belongs to answers of kind 'ratings'"),
        (ONE + "[input]\nstart = 9\n", "input.start 9 is off the scale"),
        (ONE + '[asks]\nlevel = "x"\n', "level and group_by need a taxonomy"),
        (ONE + '[asks]\ntaxonomy = "ekmann"\n', "asks: unknown taxonomy 'ekmann'; did you mean"),
        (ONE + '[asks]\ntaxonomy = "ekman"\nlevel = "x"\n', "asks: .*unknown level 'x'"),
        (ONE + '[asks]\ntaxonomy = "ekman"\nlabels = ["joi"]\n', "unknown label 'joi'"),
        (ONE + "[rules]\nmin_labels = 3\nmax_labels = 2\n", "max_labels 2 is below min_labels 3"),
        (ONE + '[rules]\nexclusive = ["none"]\n', "rules.exclusive: 'none' is neither"),
        (ONE + "[checks]\ngolden = 2\nreject_golden = 3\n", "can never be reached"),
        (ONE + "[routing]\nconfirmations = 3\nraters = 3\n", "does not go with raters"),
        (ONE + "[staircase]\ntrials = 5\nthreshold = 75\nanchors = ['a']\n", "threshold = 75"),
    ],
)
def test_mistakes_in_a_file_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load_protocol(write(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path / "own.toml"))


def test_unknown_protocol() -> None:
    with pytest.raises(InputError, match="unknown protocol 'intensty'; did you mean 'intensity'"):
        load_protocol("intensty")


def test_a_protocol_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load_protocol("intensity").name = "x"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "spec", "words"),
    [
        ("0-7", "0-7", "a whole number from 0 to 7"),
        ("0 to 100 interval", "0-100 interval", "a number from 0 to 100"),
        ("-1--0.5 interval", "-1--0.5 interval", "a number from -1 to -0.5"),
        ("1..3 step 0.5", "1-3 step 0.5", "a number from 1 to 3 in steps of 0.5"),
        ("0-10 step 2 interval", "0-10 step 2 interval", "a number from 0 to 10 in steps of 2"),
        ("0-0.5", "0-0.5 interval", "a number from 0 to 0.5"),
        ("binary", "binary", "0 or 1"),
        ("nominal: left , right", "nominal:left,right", "one of: left, right"),
        ("text", "text", "text"),
    ],
)
def test_scale_texts(text: str, spec: str, words: str) -> None:
    scale = ScaleSpec.model_validate(text)
    assert scale.spec == spec
    assert str(scale) == words
    assert ScaleSpec.model_validate(scale.spec) == scale


@pytest.mark.parametrize(
    "text",
    [
        "binary",
        "text",
        "nominal:a,b",
        "0-7",
        "1-5",
        "0-100 interval",
        "-3..3",
        "0-1 step 0.1",
        "0-0.5",
        "0-10 step 2 interval",
        "-2.5 to -1.5 interval",
    ],
)
def test_the_ratings_table_reads_scale_texts_alike(text: str) -> None:
    ours = ScaleSpec.model_validate(text)
    theirs = Scale.parse(ours.spec)
    assert theirs == Scale.parse(text)
    assert theirs.kind == ours.kind
    if ours.kind in ("ordinal", "interval"):
        assert (theirs.low, theirs.high, theirs.step) == (ours.low, ours.high, ours.step)


@given(
    st.integers(-1000, 1000),
    st.integers(1, 50),
    st.sampled_from([0.25, 0.5, 1.0, 2.0, None]),
    st.floats(allow_nan=True),
)
def test_a_range_allows_its_steps_and_nothing_else(
    low: int, steps: int, step: float | None, other: float
) -> None:
    high = low + steps * (step or 1)
    kind = "interval" if step is None else "ordinal"
    scale = ScaleSpec(kind=kind, low=low, high=high, step=step)

    def near_step(value: float) -> bool:
        distance = (value - low) % (step or 1)
        return min(distance, (step or 1) - distance) < 1e-9 * (step or 1)

    assert ScaleSpec.model_validate(scale.spec) == scale
    for count in range(steps + 1):
        assert scale.allows(low + count * (step or 1))
    assert not scale.allows(high + (step or 1))
    assert not scale.allows(low - (step or 1))
    assert not scale.allows(str(low))
    assert not scale.allows(True)
    if step is not None:
        assert not scale.allows(low + 0.4 * step)
        assert not scale.allows(low + 10**400)
    inside = low <= other <= high
    assert scale.allows(other) == (inside if step is None else inside and near_step(other))
    assert scale.allows(float("nan")) is False


def test_routing_of_a_chain() -> None:
    chain = load_protocol("verification").routing
    yes, no = {"Awe"}, set[str]()
    assert chain.wanted([]) == 1
    assert chain.wanted([no]) == 1
    assert chain.wanted([yes]) == 2
    assert chain.wanted([yes, no]) == 2
    assert chain.wanted([yes, yes]) == 3
    assert chain.wanted([yes, yes, yes]) == 3


def test_routing_of_extra_raters() -> None:
    routing = load_protocol("multilabel").routing
    assert routing.wanted([]) == 3
    assert routing.wanted([{"joy"}, {"fear"}]) == 3
    assert routing.wanted([{"joy"}, {"fear"}, {"joy", "love"}]) == 3
    assert routing.wanted([{"joy"}, {"fear"}, {"love"}]) == 5
    assert routing.wanted([{"joy"}, {"fear"}, {"love"}, {"joy"}]) == 5
    assert routing.wanted([set(), set(), set()]) == 5
    assert Routing(raters=32).wanted([set()] * 40) == 32


def test_protocol_is_made_from_python_too() -> None:
    protocol = Protocol(
        name="mood",
        stimulus="image",
        question="How {label}?",
        answer="ratings",
        scale="1-5",  # type: ignore[arg-type]
        asks={"labels": ["calm"]},  # type: ignore[arg-type]
    )
    assert protocol.questions()[0].text == "How calm?"
